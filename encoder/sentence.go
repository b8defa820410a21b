package encoder

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/measure/embedding"
	"nero/present/words"
)

// StaysBelow is how far features go, in distances between two objects, up to which they stay. From LostAbove on they
// are as far as another object, and the object is lost where no linear map explains half of where they are.
const (
	StaysBelow = 0.05
	LostAbove  = 0.95
	Explained  = 0.5
)

// furthest is the transformation that takes features furthest, of those that move samples; nil for none.
func (m *Model) furthest() *Transformation {
	var out *Transformation
	for i := range m.Transformations {
		if t := &m.Transformations[i]; !t.idle && (out == nil || t.Ratio.Value > out.Ratio.Value) {
			out = t
		}
	}
	return out
}

// conclude says in words what was found of a model.
func (m *Model) conclude() {
	far := m.furthest()
	switch {
	case m.State != "":
	case m.Given != nil:
		m.State = m.Given.state()
	case m.Sequences != nil:
		m.State = m.Sequences.state()
	case far == nil && len(m.Transformations) > 0:
		m.State, m.Why = Undecided, "no element moves any of the samples, so that features which stay say nothing; "+
			"give samples that are not symmetric themselves, or another group"
	case far == nil:
		m.State, m.Why = Undecided, "the identity is the only element"
	default:
		m.State = Stay
		for i := range m.Transformations {
			t := &m.Transformations[i]
			switch s := m.stateOf(t); {
			case t.idle:
			case s == Lost && m.State != Lost:
				m.State, far = s, t
			case s == Move && m.State != Lost, s == Undecided && m.State == Stay:
				m.State = s
			}
		}
	}
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s: ", m.Model)
	switch {
	case m.State == Collapsed, m.State == NotFinite:
	case m.Given != nil:
		m.Sentence = out.String() + m.Given.sentence(m.State)
		return
	case m.Sequences != nil:
		m.Sentence = out.String() + m.Sequences.sentence(m.State)
		return
	}
	switch m.State {
	case NotFinite:
		fmt.Fprintf(out, "not finite: %s.", m.Why)
	case Collapsed:
		fmt.Fprintf(out, "collapsed: %s", m.Why)
		if far != nil && float64(far.Ratio.Low) >= StaysBelow {
			fmt.Fprintf(out, ", and what is left does not stay: %s takes it %s of the way to another object (%s).",
				far.Element, words.Percent(float64(far.Ratio.Value)), far.Ratio.percent())
			break
		}
		out.WriteString(", so that how far they go says nothing.")
	case Stay:
		fmt.Fprintf(out, "the features stay: no element takes them further than %s of the distance to another object.",
			figure(float64(far.Ratio.High)))
	case Move:
		fmt.Fprintf(out, "the features move: %s takes them %s of the way to another object (%s)", far.Element,
			words.Percent(float64(far.Ratio.Value)), far.Ratio.percent())
		if x := m.mapOf(far.Element); x != nil {
			out.WriteString("; " + m.within() + x.explains())
		}
		out.WriteString(".")
	case Lost:
		fmt.Fprintf(out, "the features lose the object: %s takes them as far as another object, %s of the way (%s), "+
			"and %s%s.", far.Element, words.Percent(float64(far.Ratio.Value)), far.Ratio.percent(), m.within(),
			m.mapOf(far.Element).explains())
	case Undecided:
		if far == nil {
			fmt.Fprintf(out, "nothing can be told: %s.", m.Why)
			break
		}
		fmt.Fprintf(out, "how far the features move is not decided: %s takes them %s of the way to another object "+
			"(%s); give more samples.", far.Element, words.Percent(float64(far.Ratio.Value)), far.Ratio.percent())
	}
	if a := m.Against; a != nil {
		out.WriteString(" " + a.sentence())
	}
	m.Sentence = out.String()
}

// explains says how well a linear map tells where features are after an element. An R² that is not above zero is no
// share: the map is then no better than the mean.
func (m *MapOf) explains() string {
	if !(m.R2.Value > 0) {
		return fmt.Sprintf("no linear map was found that says better than their mean where they are then (R² %s, %s)",
			m.R2.text(), m.R2.interval())
	}
	return fmt.Sprintf("a linear map explains %s of where they are then (%s)", words.Percent(float64(m.R2.Value)),
		m.R2.percent())
}

// stays says that no element takes the features anywhere.
func (m *Model) stays() bool {
	far := m.furthest()
	return far != nil && m.stateOf(far) == Stay
}

// within says in which directions maps look, where these do not hold nearly all of the variance.
func (m *Model) within() string {
	const nearly = 0.99
	if m.Held == nil || float64(*m.Held) >= nearly {
		return ""
	}
	return fmt.Sprintf("in the %s that hold %s of the variance, ", words.Plural(m.Axes, "direction", "directions"),
		words.Percent(float64(*m.Held)))
}

// stateOf is what one element does.
func (m *Model) stateOf(t *Transformation) State {
	low, high := float64(t.Ratio.Low), float64(t.Ratio.High)
	x := m.mapOf(t.Element)
	switch {
	case high < StaysBelow:
		return Stay
	case low > LostAbove && x != nil && float64(x.R2.High) < Explained:
		return Lost
	case low >= StaysBelow && (high <= LostAbove || x != nil && float64(x.R2.Low) >= Explained):
		return Move
	}
	return Undecided
}

// mapOf is the map of an element; nil for none.
func (m *Model) mapOf(element string) *MapOf {
	if m.Maps == nil {
		return nil
	}
	for i := range m.Maps.By {
		if m.Maps.By[i].Element == element {
			return &m.Maps.By[i]
		}
	}
	return nil
}

// sentence says what two releases are to each other and to an index.
func (a *Against) sentence() string {
	what := map[string]string{
		string(embedding.SameSpace): "the same space, turned",
		string(embedding.Scaled):    "the same space, turned and scaled",
		string(embedding.Adapter):   "another space, which an affine adapter takes to the old one",
		string(embedding.Reembed):   "another space, which no affine adapter takes to the old one",
	}[a.Reading]
	out := fmt.Sprintf("%s is %s (R² %s by a turn, %s by an affine map)", a.Model, what, a.R2Isometry.text(),
		a.R2Affine.text())
	switch through := a.through(); {
	case len(a.Backward) == 0:
		return out + "; whether it can read the old index was not asked."
	case through == "none":
		return out + "; it can read the old index as it is."
	case through != "":
		return out + "; it can read the old index through an adapter (" + through + ")."
	case a.Index == embedding.Worse:
		return out + "; it finds less in the old index, also through an adapter: re-embed."
	}
	return out + "; whether it can read the old index is not decided: give more samples."
}

// Conclude says in one sentence what was found of all models.
func (r *Report) Conclude() {
	var all []string
	for _, m := range r.Models {
		all = append(all, m.Sentence)
	}
	r.Sentence = strings.Join(all, " ")
}

// text is a number for people.
func (e Estimate) text() string { return figure(float64(e.Value)) }

// interval is the interval for people.
func (e Estimate) interval() string {
	low, high := float64(e.Low), float64(e.High)
	if math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) && math.IsInf(high, 0) {
		return "any"
	}
	return figure(low) + " to " + figure(high)
}

// percent is the interval as shares of a hundred.
func (e Estimate) percent() string {
	low, high := float64(e.Low), float64(e.High)
	if math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return "any"
	}
	return words.Percent(low) + " to " + words.Percent(high)
}

// figure is a number for a table.
func figure(x float64) string {
	switch {
	case math.IsNaN(x):
		return "undefined"
	case math.IsInf(x, 0):
		return "any"
	case x != 0 && math.Abs(x) < 1e-3:
		return words.Figures(x)
	}
	return words.Minus(fmt.Sprintf("%.3f", x))
}

// largest are the n transformations that take features furthest, the furthest first.
func (m *Model) largest(n int) []Transformation {
	all := slices.Clone(m.Transformations)
	slices.SortStableFunc(all, func(a, b Transformation) int {
		switch {
		case a.Ratio.Value > b.Ratio.Value:
			return -1
		case a.Ratio.Value < b.Ratio.Value:
			return 1
		}
		return 0
	})
	return all[:min(n, len(all))]
}
