package metric

import (
	"math"
	"slices"

	"nero/data/space"
)

// Thresholds is the number of IoU thresholds of a [Hit]: 0.50, 0.55, ..., 0.95.
const Thresholds = 10

// threshold is the k-th IoU threshold, to the last bit that of numpy.linspace(0.5, 0.95, 10), which COCO's evaluation
// compares with: the ninth is one unit in the last place below 0.9.
func threshold(k int) float64 {
	return [Thresholds]float64{0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0x1.cccccccccccccp-1, 0.95}[k]
}

// EvidenceOf matches the boxes of c.At with those of c.Truth, both in the frame of the element, for metrics that are
// pooled over a slice. The matching is that of COCO's evaluation: at each threshold the boxes of a class, by falling
// score, each take the free object of their class with the largest IoU, the later of equals, if that is at least the
// threshold. Objects without area are outside the window and are left out; objects that its edge cuts count with the
// part that is seen. A class below 0 (no class) counts as class 0.
//
// Hits stand in the order of the prediction. Truths has one number for each of the classes, more if a label asks for
// it. Without a reference it is nil, and there is nothing to pool: only the scores and labels of the hits mean
// something. So it is where c.At or c.Truth is no set of finite boxes.
func EvidenceOf(c Case, classes int) Evidence {
	pred, ok := finite(c.At)
	if !ok {
		return Evidence{}
	}
	hits := make([]Hit, len(pred))
	order := byScore(pred)
	for i, b := range pred {
		hits[i] = Hit{Score: float32(b.Score), Label: int32(max(b.Label, 0))}
	}
	truth, ok := finite(c.Truth)
	if !ok {
		return Evidence{Hits: hits}
	}
	truth = seen(truth)
	for _, b := range truth {
		classes = max(classes, b.Label+1, 1)
	}
	counts := make([]int32, classes)
	for _, b := range truth {
		counts[max(b.Label, 0)]++
	}
	m := newMatcher(pred, order, truth)
	for t := range Thresholds {
		for i, j := range m.match(threshold(t), nil) {
			if j >= 0 {
				hits[order[i]].Match |= 1 << t
			}
		}
	}
	return Evidence{Hits: hits, Truths: counts}
}

// finite returns the boxes of v; not ok if it is no set of boxes, or if a number in it is not finite.
func finite(v space.Value) ([]space.Box, bool) {
	s, ok := v.(*space.Boxes)
	if !ok || s == nil {
		return nil, false
	}
	for _, b := range s.Items {
		// The sum is not finite if one of them is not; finite coordinates of a picture do not overflow.
		if sum := b.X1 + b.Y1 + b.X2 + b.Y2 + b.Angle + b.Score; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil, false
		}
	}
	return s.Items, true
}

// seen are the boxes that have an area: the others have left the window.
func seen(boxes []space.Box) []space.Box {
	if !slices.ContainsFunc(boxes, func(b space.Box) bool { return b.Area() == 0 }) {
		return boxes
	}
	var in []space.Box
	for _, b := range boxes {
		if b.Area() > 0 {
			in = append(in, b)
		}
	}
	return in
}

// byScore are the indexes of boxes by falling score, of equal scores in their own order.
func byScore(boxes []space.Box) []int {
	order := make([]int, len(boxes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := boxes[i].Score, boxes[j].Score; {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	return order
}

// agree says whether two boxes may be of one class: a negative label stands for class 0.
func agree(a, b space.Box) bool { return max(a.Label, 0) == max(b.Label, 0) }

// matcher assigns predicted boxes, by falling score, to objects of their class.
type matcher struct {
	// prediction in the order of score × object; negative where the classes differ
	iou   [][]float64
	truth int
}

func newMatcher(pred []space.Box, order []int, truth []space.Box) *matcher {
	m := &matcher{truth: len(truth), iou: make([][]float64, len(order))}
	all := make([]float64, len(order)*len(truth))
	for i, k := range order {
		m.iou[i] = all[i*len(truth) : (i+1)*len(truth)]
		for j, b := range truth {
			if m.iou[i][j] = -1; agree(pred[k], b) {
				m.iou[i][j] = IoU(pred[k], b)
			}
		}
	}
	return m
}

// match gives for each prediction the object that it was matched with at a threshold, -1 if there is none. An object
// that is to be ignored is taken only where no other will do.
func (m *matcher) match(threshold float64, ignore []bool) []int {
	got, taken := make([]int, len(m.iou)), make([]bool, m.truth)
	for i, row := range m.iou {
		got[i] = -1
		for _, second := range []bool{false, true} {
			if second && (ignore == nil || got[i] >= 0) {
				break
			}
			best := threshold
			for j, v := range row {
				if !taken[j] && (ignore != nil && ignore[j]) == second && v >= best {
					best, got[i] = v, j
				}
			}
		}
		if got[i] >= 0 {
			taken[got[i]] = true
		}
	}
	return got
}
