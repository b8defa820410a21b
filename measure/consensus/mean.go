package consensus

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"nero/data/space"
	"nero/measure/metric"
)

// mean averages arrays. Answers are added in the order of the plan, whatever the order in which they come: sums of
// floats depend on it.
type mean struct {
	shape shape
	// element that is to be added next
	next    int
	waiting map[int]Answer
	sum     running
	// into and from are what is averaged of an answer, and what the mean says; nil for the numbers themselves.
	into func(x []float64) []float64
	from func(mean []float64, spread float64) (x []float64, own float64)
}

// running is a weighted mean. The update by differences keeps equal answers equal to the last bit.
type running struct {
	mean   []float64
	weight float64
	// weighted sum of the squared distances from the mean (West, Communications of the ACM 22, 1979)
	square float64
}

func newMean() *mean { return &mean{waiting: map[int]Answer{}} }

func (r *running) add(x []float64, w float64) {
	if w == 0 {
		return
	}
	if r.weight += w; r.mean == nil {
		r.mean = slices.Clone(x)
		return
	}
	part := w / r.weight
	for i, v := range x {
		d := v - r.mean[i]
		r.mean[i] += float64(d * part)
		r.square += float64(w * float64(d*(v-r.mean[i])))
	}
}

// without takes an answer out of a copy of the mean.
func (r *running) without(x []float64, w float64) {
	if w == 0 {
		return
	}
	if r.weight -= w; !(r.weight > 1e-12*w) {
		r.mean = nil
		return
	}
	part := w / r.weight
	for i, v := range x {
		d := v - r.mean[i]
		r.mean[i] -= float64(d * part)
		r.square -= float64(w * float64(d*(v-r.mean[i])))
	}
}

// numbers are what is averaged of an answer.
func (m *mean) numbers(v space.Value) []float64 {
	x := numbers(v)
	if m.into != nil && len(x) > 0 {
		return m.into(x)
	}
	return x
}

func (m *mean) fits(v space.Value) error { return m.shape.fits(v) }

func (m *mean) add(x Answer, s []state) {
	m.waiting[x.Index] = x
	for ; m.next < len(s) && s[m.next].was != absent; m.next++ {
		if x, ok := m.waiting[m.next]; ok {
			m.sum.add(m.numbers(x.Value), x.Weight)
			delete(m.waiting, m.next)
		}
	}
}

// keeps is true of answers that wait for others; of the first only the shape is looked at later.
func (m *mean) keeps(index int) bool {
	_, waits := m.waiting[index]
	return waits
}

func (m *mean) result(s []state, _ []float64, without int, v space.Value, r *Result) {
	sum := running{slices.Clone(m.sum.mean), m.sum.weight, m.sum.square}
	for _, k := range slices.Sorted(maps.Keys(m.waiting)) {
		if k != without {
			sum.add(m.numbers(m.waiting[k].Value), m.waiting[k].Weight)
		}
	}
	if _, waits := m.waiting[without]; without >= 0 && !waits && s[without].was == good {
		x := m.numbers(v)
		if len(x) != len(sum.mean) {
			panic("consensus: a mean without one answer needs to be told that answer")
		}
		sum.without(x, s[without].weight)
	}
	if sum.mean == nil {
		return
	}
	x, spread := sum.mean, math.Sqrt(max(sum.square, 0)/sum.weight)
	if m.from != nil {
		if x, spread = m.from(x, spread); x == nil {
			return
		}
	}
	v, err := m.shape.like.With(x)
	if err != nil {
		return
	}
	r.Value, r.Spread = v, spread
	if v.Kind() == space.KindScores {
		r.Label = metric.Top(x)
	}
}

// shape is what all answers have in common.
type shape struct {
	like space.Value
	size []int
}

// fits holds an answer against the first one.
func (s *shape) fits(v space.Value) error {
	size := v.Dims()
	if x, ok := v.(interface{ Partial() bool }); ok && x.Partial() {
		return errors.New("an answer of which not all times are known has no part in a consensus")
	}
	if s.like == nil {
		if len(numbers(v)) == 0 {
			return errors.New("an answer without numbers")
		}
		s.like, s.size = v, slices.Clone(size)
		return nil
	}
	if !slices.Equal(size, s.size) || len(numbers(v)) != len(numbers(s.like)) {
		return fmt.Errorf("an answer of shape %d among those of shape %d", size, s.size)
	}
	a, b, ok := space.Both[*space.Scores](s.like, v)
	if ok && a.Probabilities != b.Probabilities {
		return errors.New("probabilities among scores that are none")
	}
	return nil
}
