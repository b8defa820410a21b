package feature

import (
	"fmt"
	"math"
	"math/rand/v2"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// Carried is what [Frame.Pushed] is for representations that do not say where their numbers are, such as actions that
// the user gave: numbers are put back where they come from, moved, and read again. Those that the result leaves out
// must not matter, which is tried on the elements.
//
// The error wraps [ErrLayout] if they do.
func (f *Frame) Carried(shape []int, ins []*Rep, from []Place, elements []group.Element) (*Rep, error) {
	n := count(shape)
	if len(from) != n {
		return nil, fmt.Errorf("%d places for a value of shape %v", len(from), shape)
	}
	move := func(g group.Element, x []float64, missing func() float64) ([]float64, error) {
		moved := make([][]float64, len(ins))
		for k, r := range ins {
			v := make([]float64, count(r.shape))
			for i := range v {
				v[i] = missing()
			}
			moved[k] = v
		}
		for i, p := range from {
			if p.Value >= 0 {
				moved[p.Value][p.At] = x[i]
			}
		}
		for k, r := range ins {
			var err error
			if moved[k], err = r.Apply(g, moved[k]); err != nil {
				return nil, err
			}
		}
		out := make([]float64, n)
		for i, p := range from {
			if p.Value < 0 {
				out[i] = x[i]
				continue
			}
			out[i] = moved[p.Value][p.At]
		}
		return out, nil
	}
	nothing := func() float64 { return 0 }
	r := rand.New(rand.NewPCG(1, uint64(n))) // of no consequence: any numbers show what is read
	x := make([]float64, n)
	for i := range x {
		x[i] = elementary.Normal(r)
	}
	for _, g := range elements {
		a, err := move(g, x, nothing)
		if err != nil {
			return nil, err
		}
		b, err := move(g, x, func() float64 { return elementary.Normal(r) })
		if err != nil {
			return nil, err
		}
		for i := range a {
			if !(math.Abs(a[i]-b[i]) <= 1e-9) {
				return nil, fmt.Errorf("%w: what is left out moves into what is left", ErrLayout)
			}
		}
	}
	return &Rep{
		Origin: ByStructure, frame: f, shape: append([]int(nil), shape...),
		given: func(g group.Element, x []float64) ([]float64, error) { return move(g, x, nothing) },
		exact: func(g group.Element) bool {
			for _, r := range ins {
				if !r.Exact(g) {
					return false
				}
			}
			return true
		},
	}, nil
}
