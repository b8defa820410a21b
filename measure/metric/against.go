package metric

import (
	"fmt"
	"math"
)

// at divides a metric's name from that of the reference that is not its own.
const at = "@"

// Against is the metric with another reference: the same code, under the name "iou@consensus". Of scores, whose
// reference is a class, it is the most probable class of c.Truth, or of c.Want for [Self]; where c.Truth is nil,
// c.Label is the class of the consensus.
//
// It is refused where it would mean nothing: for a metric that has that reference already, that is defined by the
// model's own answer at the identity, or that is pooled from matches with the target.
func Against(m *Metric, ref Reference) (*Metric, error) {
	if m.inner != nil {
		n, err := Against(m.inner, ref)
		if err != nil {
			return nil, err
		}
		return OfField(m.Port, n), nil
	}
	switch {
	case ref != Target && ref != Self && ref != Consensus:
		return nil, fmt.Errorf("metric %s%s%s: unknown reference %q: want %s, %s or %s", m.Name, at, ref, ref, Target,
			Self, Consensus)
	case ref == m.Ref:
		return nil, fmt.Errorf("metric %s%s%s: %s compares with %s already; write %s", m.Name, at, ref, m.Name,
			words(ref), m.Name)
	case m.OfHits:
		return nil, fmt.Errorf(
			"metric %s%s%s: %s is computed from matches with the target alone; against another reference take f1%s%s "+
				"or set_iou", m.Name, at, ref, m.Name, at, ref)
	case m.OfPixels:
		return nil, fmt.Errorf(
			"metric %s%s%s: %s is computed from counts of pixels against the target alone; against the model's own "+
				"answer "+
				"take mean_iou or pixel_agreement", m.Name, at, ref, m.Name)
	case !m.Movable:
		return nil, fmt.Errorf("metric %s%s%s: %s is defined by %s and has no other reference; %s", m.Name, at, ref,
			m.Name, words(m.Ref), instead(m, ref))
	}
	n := *m
	n.Name, n.Ref = m.Name+at+string(ref), ref
	n.Title = m.Heading() + " against " + map[Reference]string{
		Target: "the target", Self: "its own answer", Consensus: "the consensus",
	}[ref]
	n.Doc = m.Doc + "; the reference is " + words(ref)
	switch {
	case m.Says == "" || ref != Self || m.Better == Higher && !m.Binary:
		n.Says = "" // the words are of another reference
	case m.Binary:
		n.Says = "answers as for the unmoved input on %s"
	default:
		n.Says = "differs from its own unmoved answer by %s"
	}
	switch {
	case m.against != nil:
		n.Measure = func(c Case) float64 { return m.against(c, ref) }
	case m.Understands(scores[0]):
		n.Measure = func(c Case) float64 {
			answer := c.Truth
			if ref == Self {
				answer = c.Want
			}
			if s, ok := scoresOf(answer); ok {
				c.Label = Top(s.Val)
			} else if ref == Self {
				return math.NaN()
			}
			return m.Measure(c)
		}
	}
	return &n, nil
}

// words says what a reference is.
func words(ref Reference) string {
	switch ref {
	case Self:
		return "the model's own answer at the identity"
	case Consensus:
		return "the consensus of the model's own answers over the orbit: agreement with itself, not correctness"
	case Target:
	}
	return "the target of the data"
}

// instead says what to ask for in place of a metric that has one reference.
func instead(m *Metric, ref Reference) string {
	switch {
	case m.Understands(boxes[0]):
		return "take set_iou" + at + string(ref)
	case m.Understands(masks[0]):
		return "masks have no other yet"
	case len(m.Spaces) == 1 && m.Understands(scores[0]):
		return "take accuracy" + at + string(ref) + " or confidence" + at + string(ref)
	}
	return "take accuracy" + at + string(ref) + " for scores, rmse" + at + string(ref) + " for fields, rows and signals"
}
