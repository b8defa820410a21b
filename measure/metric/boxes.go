package metric

import (
	"math"

	"nero/data/space"
	"nero/internal/elementary"
)

// top is the most confident box of a set, the first of equals; not ok if there is none.
func top(set []space.Box) (space.Box, bool) {
	best := -1
	for i, b := range set {
		if best < 0 || b.Score > set[best].Score {
			best = i
		}
	}
	if best < 0 {
		return space.Box{}, false
	}
	return set[best], true
}

// scene is a comparison of sets of boxes.
type scene struct {
	// in the frame of the element; truth without objects that have left the window
	pred, truth []space.Box
	// the first object of the reference
	key space.Box
	// it is there and in the window
	keyed bool
	// predictions that are not wrong for being without a match; nil if all would be
	lenient []bool
	// objects that need not be found, nor missed; nil if there is none
	ignored []bool
}

// slack is by how many pixels a box may reach beyond the frame of the identity and still have been seen there: a box at
// the edge of a picture is often drawn a little too large.
const slack = 1

// newScene reads a case. A reference that is made of the model's own answers comes clipped to the frame, so the
// prediction is clipped too: at the identity it is then its own reference. Objects whose extent is not known, because
// an edge cuts them, are no objects to be judged by, and a box that an edge cuts, or that the frame of the identity did
// not hold, is not one too many.
func newScene(c Case, ref Reference) (scene, bool) {
	pred, ok := finite(c.At)
	truth, ok2 := finite(c.Truth)
	if !ok || !ok2 {
		return scene{}, false
	}
	s := scene{pred: pred, truth: seen(truth)}
	if len(truth) > 0 && truth[0].Area() > 0 {
		s.key, s.keyed = truth[0], true
	}
	if ref == Target {
		return s, true
	}
	frame, own, _ := space.Both[*space.Boxes](c.At, c.Truth)
	whole := space.Box{X2: frame.W, Y2: frame.H}
	saw := own.Seen // what the window of the identity saw, in this frame; nil if that was all there is
	cut := func(b space.Box) bool { return b.Cut || saw != nil && (!Within(b, whole) || !Within(b, *saw)) }
	s.ignored = make([]bool, len(s.truth))
	for i, b := range s.truth {
		s.ignored[i] = cut(b)
	}
	s.pred, s.lenient = make([]space.Box, len(pred)), make([]bool, len(pred))
	for i, b := range pred {
		s.lenient[i] = cut(b)
		if b.Angle == 0 {
			b.X1, b.X2 = min(max(b.X1, 0), frame.W), min(max(b.X2, 0), frame.W)
			b.Y1, b.Y2 = min(max(b.Y1, 0), frame.H), min(max(b.Y2, 0), frame.H)
		}
		s.pred[i] = b
	}
	// The same boxes, in the same order, in the frame of the identity.
	if _, back, ok := space.Both[*space.Boxes](c.At, c.Got); ok && len(back.Items) == len(pred) {
		for i, b := range back.Items {
			s.lenient[i] = s.lenient[i] || b.Cut || b.X1 < -slack || b.Y1 < -slack || b.X2 > back.W+slack ||
				b.Y2 > back.H+slack
		}
	}
	return s, true
}

// counts are the numbers of right boxes, boxes too many and objects missed: matched as [EvidenceOf] does at an IoU of
// 0.5.
func (s scene) counts() (right, extra, missed float64) {
	order := byScore(s.pred)
	return s.tally(order, newMatcher(s.pred, order, s.truth).match(0.5, s.ignored))
}

// tally counts a matching: for the predictions in the given order, the object of each, -1 for none.
func (s scene) tally(order, matched []int) (right, extra, missed float64) {
	for j := range s.truth {
		if s.ignored == nil || !s.ignored[j] {
			missed++
		}
	}
	for i, j := range matched {
		switch {
		case j >= 0 && (s.ignored == nil || !s.ignored[j]):
			right++
			missed--
		case j < 0 && (s.lenient == nil || !s.lenient[order[i]]):
			extra++
		}
	}
	return right, extra, missed
}

// ofBoxes makes a metric of a scene.
func ofBoxes(m Metric, f func(s scene) float64) *Metric {
	m.Spaces, m.Movable = boxes, true
	if m.Ref == "" {
		m.Ref = Target
	}
	m.against = func(c Case, ref Reference) float64 {
		s, ok := newScene(c, ref)
		if !ok {
			return math.NaN()
		}
		return f(s)
	}
	measure, ref := m.against, m.Ref
	m.Measure = func(c Case) float64 { return measure(c, ref) }
	return &m
}

// score makes an individual metric of a detector: a number from 0 to 1 of the most confident box and the key object; 0
// where there is no box, and, unless labels do not matter, where its class is not that of the object.
func score(name, doc string, anyLabel bool, f func(s scene, b space.Box) float64) *Metric {
	if anyLabel {
		name += "_any"
		doc += ", whatever its class"
	} else {
		doc += "; 0 if its class is wrong"
	}
	m := Metric{
		Name: name, Better: Higher, Range: [2]float64{0, 1},
		Doc: doc + "; 0 for a miss, undefined if the reference has no box",
	}
	return ofBoxes(m, func(s scene) float64 {
		if !s.keyed {
			return math.NaN()
		}
		b, ok := top(s.pred)
		if !ok || !anyLabel && !fits(b, s.key) {
			return 0
		}
		return f(s, b)
	})
}

// fits says whether a predicted box has the class of an object; an object without class fits all.
func fits(b, object space.Box) bool { return object.Label < 0 || agree(b, object) }

// titled gives a metric its [Metric.Title].
func titled(text string, m *Metric) *Metric {
	m.Title = text
	return m
}

// says gives a metric the words of [Metric.Says].
func says(text string, m *Metric) *Metric {
	m.Says = text
	return m
}

func confidence(_ scene, b space.Box) float64 { return min(max(b.Score, 0), 1) }

func overlap(s scene, b space.Box) float64 { return IoU(b, s.key) }

func both(s scene, b space.Box) float64 { return confidence(s, b) * overlap(s, b) }

func precise(s scene, b space.Box) float64 {
	right, extra, _ := s.counts()
	if right == 0 {
		return 0
	}
	return both(s, b) * right / (right + extra)
}

const (
	docConfidence = "score of the most confident box"
	docIoU        = "IoU of the most confident box with the key box, the first of the reference"
	docConfIoU    = "score x IoU with the key box, of the most confident box"
	docPrecise    = "conf_iou x precision"
)

// The individual metrics of a detector. Each value is that of the most confident of the boxes that the decoder has
// left, so the score limit is that of the study's output; see [EvidenceOf] for objects that the window cuts.
var (
	// BoxConfidence is the score of the most confident box.
	BoxConfidence = titled("confidence of the box", score("box_confidence", docConfidence, false, confidence))
	// BoxIoU is the intersection over union of the most confident box and the key box.
	BoxIoU = says("overlaps its object by %s (IoU)", titled("IoU", score("iou", docIoU, false, overlap)))
	// ConfIoU is the product of confidence and IoU, and what a study of a detector shows first.
	ConfIoU = titled("confidence × IoU", score("conf_iou", docConfIoU, false, both))
	// ConfIoUPrecision is the product of confidence, IoU and precision.
	ConfIoUPrecision = titled("confidence × IoU × precision",
		score("conf_iou_precision", docPrecise, false, precise))
	// BoxConfidenceAny is BoxConfidence for any class.
	BoxConfidenceAny = titled("confidence of the box, any class",
		score("box_confidence", docConfidence, true, confidence))
	// BoxIoUAny is BoxIoU for any class.
	BoxIoUAny = titled("IoU, any class", score("iou", docIoU, true, overlap))
	// ConfIoUAny is ConfIoU for any class.
	ConfIoUAny = titled("confidence × IoU, any class", score("conf_iou", docConfIoU, true, both))
	// ConfIoUPrecisionAny is ConfIoUPrecision for any class of the most confident box.
	ConfIoUPrecisionAny = titled("confidence × IoU × precision, any class",
		score("conf_iou_precision", docPrecise, true, precise))
)

// follow makes a metric of the box that covers the key object best, where windows hold several objects of a kind.
func follow(name, doc string, f func(s scene, b space.Box) float64) *Metric {
	m := Metric{
		Name: name, Better: Higher, Range: [2]float64{0, 1},
		Doc: doc + " of the box of its class that covers the key box best, for windows with several objects; 0 if " +
			"none touches it, undefined if the reference has no box",
	}
	return ofBoxes(m, func(s scene) float64 {
		if !s.keyed {
			return math.NaN()
		}
		best, most := space.Box{}, 0.0
		for _, b := range s.pred {
			if v := IoU(b, s.key); fits(b, s.key) && (v > most || v == most && v > 0 && b.Score > best.Score) {
				best, most = b, v
			}
		}
		if most == 0 {
			return 0
		}
		return f(s, best)
	})
}

var (
	// KeyConfidence is the score of the box that covers the key object best.
	KeyConfidence = titled("confidence at the key object", follow("key_confidence", "score", confidence))
	// KeyIoU is the IoU of the box that covers the key object best.
	KeyIoU = titled("IoU at the key object", follow("key_iou", "IoU", overlap))
	// KeyConfIoU is the product of both.
	KeyConfIoU = titled("confidence × IoU at the key object", follow("key_conf_iou", "score x IoU", both))
)

// Miss is 1 where a detector returns no box.
var Miss = ofBoxes(Metric{
	Title: "no box at all",
	Name:  "miss", Binary: true, Better: Lower, Range: [2]float64{0, 1},
	Doc: "1 if there is no box at all, else 0; undefined if the reference has no box either",
}, func(s scene) float64 {
	if !s.keyed && len(s.pred) == 0 {
		return math.NaN()
	}
	return truth(len(s.pred) == 0)
})

// WrongLabel is 1 where the most confident box has another class than the key object.
var WrongLabel = ofBoxes(Metric{
	Title: "wrong class",
	Name:  "wrong_label", Binary: true, Better: Lower, Range: [2]float64{0, 1},
	Doc: "1 if the class of the most confident box is not that of the key box, else 0; 0 for a miss, undefined if " +
		"the reference has no box",
}, func(s scene) float64 {
	if !s.keyed {
		return math.NaN()
	}
	b, ok := top(s.pred)
	return truth(ok && !fits(b, s.key))
})

// Precision is the share of the boxes that are right.
var Precision = ofBoxes(Metric{
	Name: "precision", Better: Higher, Range: [2]float64{0, 1},
	Doc: "TP / boxes, TP of the right class at IoU >= 0.5, each object matched once, best score first; 0 for a miss, " +
		"undefined without objects and boxes",
}, func(s scene) float64 {
	right, extra, missed := s.counts()
	if right == 0 && extra == 0 && missed > 0 {
		return 0
	}
	return right / (right + extra)
})

// Recall is the share of the objects that are found.
var Recall = ofBoxes(Metric{
	Name: "recall", Better: Higher, Range: [2]float64{0, 1},
	Doc: "TP / objects, TP of the right class at IoU >= 0.5, each object matched once, best score first; undefined " +
		"without objects",
	Says: "finds %s of the objects",
}, func(s scene) float64 {
	right, _, missed := s.counts()
	return right / (right + missed)
})

// F1 is the harmonic mean of precision and recall.
var F1 = ofBoxes(Metric{
	Title: "F1",
	Name:  "f1", Better: Higher, Range: [2]float64{0, 1},
	Doc: "2 TP / (boxes + objects), TP of the right class at IoU >= 0.5, each object matched once, best score first; " +
		"undefined without both",
}, func(s scene) float64 {
	right, extra, missed := s.counts()
	return 2 * right / (2*right + extra + missed)
})

// CenterError is how far the most confident box is from the key box.
var CenterError = ofBoxes(Metric{
	Title: "distance of the centres",
	Name:  "center_error", Better: Lower, Range: [2]float64{0, math.Inf(1)}, Unit: "px",
	Doc: "distance of the centre of the most confident box from that of the key box, whatever its class; undefined " +
		"for a miss, so read it beside miss",
}, func(s scene) float64 {
	b, ok := top(s.pred)
	if !ok || !s.keyed {
		return math.NaN()
	}
	x, y := b.Center()
	u, v := s.key.Center()
	return elementary.Hypot(x-u, y-v)
})

// SizeError is by which factor, as a logarithm, the most confident box is larger or smaller than the key box.
var SizeError = ofBoxes(Metric{
	Name: "size_error", Better: Lower, Range: [2]float64{0, math.Inf(1)},
	Doc: "half of |ln(area / area of the key box)| of the most confident box, whatever its class: 0.1 is about 10 % " +
		"in length; undefined for a miss",
}, func(s scene) float64 {
	b, ok := top(s.pred)
	if !ok || !s.keyed {
		return math.NaN()
	}
	return math.Abs(elementary.Log(b.Area()/s.key.Area())) / 2
})

// CountError is how many boxes there are too many or too few.
var CountError = ofBoxes(Metric{
	Name: "count_error", Better: Lower, Range: [2]float64{0, math.Inf(1)},
	Doc: "|boxes - objects|",
}, func(s scene) float64 {
	_, extra, missed := s.counts()
	return math.Abs(extra - missed)
})

// SetIoU compares all boxes at once.
var SetIoU = ofBoxes(Metric{
	Title: "IoU of all boxes with the unmoved answer",
	Name:  "set_iou", Ref: Self, Better: Higher, Range: [2]float64{0, 1},
	Doc: "sum of the IoU of matched boxes / number of objects in either set: matched within classes so that the sum " +
		"is largest; undefined if both are empty",
	Says: "overlaps its own unmoved boxes by %s (IoU)",
}, func(s scene) float64 {
	order := byScore(s.pred)
	m := newMatcher(s.pred, order, s.truth)
	matched := assign(m.iou)
	sum := 0.0
	for i, j := range matched {
		if j >= 0 && (s.ignored == nil || !s.ignored[j]) {
			sum += m.iou[i][j]
		}
	}
	right, extra, missed := s.tally(order, matched)
	return sum / (right + extra + missed)
})

// Extra is how many boxes have no object.
var Extra = ofBoxes(Metric{
	Title: "boxes too many",
	Name:  "extra", Ref: Self, Better: Lower, Range: [2]float64{0, math.Inf(1)},
	Doc: "number of boxes without a match of their class at IoU >= 0.5",
}, func(s scene) float64 {
	_, extra, _ := s.counts()
	return extra
})

// Missed is how many objects have no box.
var Missed = ofBoxes(Metric{
	Title: "objects missed",
	Name:  "missed", Ref: Self, Better: Lower, Range: [2]float64{0, math.Inf(1)},
	Doc: "number of objects of the reference without a match of their class at IoU >= 0.5",
}, func(s scene) float64 {
	_, _, missed := s.counts()
	return missed
})

// detection lists the metrics of boxes.
func detection() []*Metric {
	return []*Metric{
		ConfIoU, BoxConfidence, BoxIoU, ConfIoUPrecision, ConfIoUAny, BoxConfidenceAny, BoxIoUAny, ConfIoUPrecisionAny,
		KeyConfIoU, KeyConfidence, KeyIoU, Miss, WrongLabel, Precision, Recall, F1,
		AveragePrecision50, AveragePrecision75, AveragePrecision, CocoAP, CocoAP50, CocoAP75, CocoAR100,
		CenterError, SizeError, CountError, SetIoU, Extra, Missed,
	}
}
