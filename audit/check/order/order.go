// Package order is the check of claims under which the parts of an input change places: does it take more than one
// exchange to break them?
package order

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/data/space"
)

// Check is the check of exchanges.
var Check = &audit.Check{
	Name:  "order",
	Title: "The order of rows",
	Doc: `Order asks of a model of sets whether one exchange of two items suffices to change its answer. It applies where the group's exact elements
do nothing to an input but give its items other places. Two items of an input are exchanged, drawn by the seed, which is a probe and not
part of the claim: a cyclic group has no exchanges. If one suffices, a pooling or a weight goes by the place in the list.

Where the group permutes rows, nodes and edges, S(n) or a product with it, neighboring rows and rows that are half a list apart are exchanged, and
the exchange of the nearest rows that breaks the claim is named: an answer that depends on neighbors alone is that of a convolution or a running state along
the rows, one that depends on all exchanges alike that of a position.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs, spread over the data.", Default: 12, Min: 1, Max: 10000},
		{Name: "exchanges", Doc: "Exchanges of two items per input.", Default: 4, Min: 1, Max: 1000},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		return min(int(p.Param("samples")), p.Subject.N) * (1 + int(p.Param("exchanges")))
	},
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	if done, err := transpositions(ctx, p, sw, c); done || err != nil {
		return nil, err
	}
	s, err := p.Sample(0)
	if err != nil {
		return nil, err
	}
	items, size, err := parts(p, s.Value)
	if err != nil {
		return nil, err
	}
	if items == 0 {
		return nil, fmt.Errorf("%w: the group does not exchange items of a list", audit.ErrNotApplicable)
	}
	var worst []float64
	at := audit.Nowhere
	most := 0.0
	for _, i := range p.Pick(int(p.Param("samples"))) {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		x, ok := listOf(s.Value)
		if !ok {
			return nil, fmt.Errorf("%w: the inputs are not all lists of numbers", audit.ErrNotApplicable)
		}
		r := p.Rand("exchange", s.ID)
		values := []space.Value{x}
		for range int(p.Param("exchanges")) {
			a := r.IntN(items)
			b := (a + 1 + r.IntN(items-1)) % items
			values = append(values, exchanged(x, a, b, size))
		}
		ys, err := p.PredictBatch(ctx, 0, values)
		if err != nil {
			return nil, err
		}
		top := 0.0
		for _, y := range ys[1:] {
			d, err := p.Compare(y, ys[0])
			if err != nil {
				return nil, fmt.Errorf("%w: outputs of different form cannot be compared: %w", audit.ErrUntested, err)
			}
			if e := d.Norm / sw.Scale; !(e <= top) {
				top = e
			}
		}
		worst = append(worst, top)
		if top > most {
			most, at = top, audit.Where{Sample: s.ID, Index: i}
		}
	}
	iv := audit.MeanInterval(worst, p.Policy.Confidence).NotNegative()
	limit := math.Max(p.Policy.Threshold, p.Policy.RoundingFactor*math.Max(c.Floors.Rounding, 0))
	ev := audit.Measured("largest change by one exchange, mean over inputs", iv, "").Against(limit)
	p.Measure(ev)
	clue := audit.Clue{
		Name: audit.ClueOrder, Holds: iv.Value > limit, Strength: 1, Evidence: []audit.Evidence{ev},
		Text: fmt.Sprintf("exchanging two of %d items changes the answer by %.2g of its scale", items, iv.Value),
	}
	if !clue.Holds {
		clue.Text = fmt.Sprintf("exchanging two of %d items changes nothing beyond %.2g", items, limit)
	} else if at.Index >= 0 {
		clue.Text += ", most for " + at.String()
	}
	p.Clue(clue)
	return nil, nil //nolint:nilnil // nobody asks for a result
}

// parts is into how many items of how many numbers the exact elements cut an input; 0 if they do anything but give
// items other places.
func parts(p *audit.Pass, v space.Value) (items, size int, err error) {
	x, ok := listOf(v)
	if !ok || len(x.Val) < 2 {
		return 0, 0, nil
	}
	index := &space.Tensor{Shape: x.Shape, Val: make([]float64, len(x.Val))}
	for i := range index.Val {
		index.Val[i] = float64(i)
	}
	var moves [][]int
	for _, e := range p.Elements {
		if !e.Exact {
			return 0, 0, nil
		}
		y, err := p.Subject.Plan.In.Apply(e.G, index)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", e.Label, err)
		}
		to, ok := permutation(y, len(x.Val))
		if !ok {
			return 0, 0, nil
		}
		moves = append(moves, to)
	}
	for size = len(x.Val) / 2; size >= 1; size-- {
		if len(x.Val)%size == 0 && whole(moves, size) {
			return len(x.Val) / size, size, nil
		}
	}
	return 0, 0, nil
}

// permutation reads a permuted index; ok is false if it is none.
func permutation(v space.Value, n int) (to []int, ok bool) {
	y, ok := listOf(v)
	if !ok || len(y.Val) != n {
		return nil, false
	}
	seen := make([]bool, n)
	to = make([]int, n)
	for i, a := range y.Val {
		k := int(a)
		if float64(k) != a || k < 0 || k >= n || seen[k] {
			return nil, false
		}
		seen[k], to[i] = true, k
	}
	return to, true
}

// whole reports whether every permutation keeps blocks of the given size together and in order.
func whole(moves [][]int, size int) bool {
	for _, to := range moves {
		for i, k := range to {
			if i%size != k%size || i%size > 0 && k != to[i-1]+1 {
				return false
			}
		}
	}
	return true
}

// exchanged is x with items a and b in each other's place.
func exchanged(x *space.Tensor, a, b, size int) *space.Tensor {
	y := &space.Tensor{Shape: x.Shape, Val: append([]float64{}, x.Val...)}
	copy(y.Val[a*size:(a+1)*size], x.Val[b*size:(b+1)*size])
	copy(y.Val[b*size:(b+1)*size], x.Val[a*size:(a+1)*size])
	return y
}

// listOf is a value as a list of numbers.
func listOf(v space.Value) (*space.Tensor, bool) {
	x, ok := v.(*space.Tensor)
	return x, ok
}
