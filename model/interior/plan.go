package interior

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/model/decode"
)

// plan says where the samples of a batch lie in a tensor.
type plan struct {
	// nowhere: the tensor of one sample is all that can be said
	whole bool
	axis  int
	// the axis has the length 1 per sample and is left out of the sample's shape
	drop bool
	// in all of it: every sample has the same
	shared bool
}

// shape is the shape of a batch of n arrays of a shape.
func (p plan) shape(one []int, n int) []int {
	switch {
	case p.whole, p.shared:
		return slices.Clone(one)
	case p.drop:
		return slices.Insert(slices.Clone(one), p.axis, n)
	}
	s := slices.Clone(one)
	s[p.axis] *= n
	return s
}

// split takes the first keep of n samples out of a tensor.
func (p plan) split(t tensor.Named, n, keep int) ([]Array, error) {
	v, err := t.Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("value %q: %w", t.Name, err)
	}
	if p.whole {
		if keep != 1 {
			return nil, fmt.Errorf("value %q cannot be taken apart into %d samples", t.Name, keep)
		}
		return []Array{{Shape: slices.Clone(t.Shape), Val: v}}, nil
	}
	if p.shared {
		return slices.Repeat([]Array{{Shape: slices.Clone(t.Shape), Val: v}}, keep), nil
	}
	if p.axis >= len(t.Shape) || t.Shape[p.axis]%n != 0 || p.drop && t.Shape[p.axis] != n {
		return nil, fmt.Errorf("value %q has the shape %v for a batch of %d; axis %d should count the samples", t.Name,
			t.Shape, n, p.axis)
	}
	one := slices.Clone(t.Shape)
	one[p.axis] /= n
	outer, inner := tensor.Count(t.Shape[:p.axis]), tensor.Count(one[p.axis:])
	if p.drop {
		one = slices.Delete(one, p.axis, p.axis+1)
	}
	out := make([]Array, keep)
	for i := range out {
		a := Array{Shape: slices.Clone(one), Val: make([]float64, 0, outer*inner)}
		for o := range outer {
			at := (o*n + i) * inner
			a.Val = append(a.Val, v[at:at+inner]...)
		}
		out[i] = a
	}
	return out, nil
}

// filling says what stands in the rows of a batch that no sample fills.
type filling int

const (
	withLast  filling = iota // copies of the last sample
	withZeros                // nothing: cotangents and tangents
)

// stack makes a batch of n out of at most n arrays.
func (p plan) stack(name string, arrays []Array, n int, fill filling, d tensor.DType) (tensor.Named, error) {
	if len(arrays) == 0 {
		return tensor.Named{}, fmt.Errorf("value %q: no samples", name)
	}
	first := arrays[0]
	for i, a := range arrays {
		if !slices.Equal(a.Shape, first.Shape) || tensor.Count(a.Shape) != len(a.Val) {
			return tensor.Named{},
				fmt.Errorf("value %q: sample %d has the shape %v and %d numbers, the first has the shape %v", name, i,
					a.Shape, len(a.Val), first.Shape)
		}
	}
	if p.whole || p.shared {
		if len(arrays) != 1 && !p.shared {
			return tensor.Named{}, fmt.Errorf("value %q cannot be put together of %d samples", name, len(arrays))
		}
		t, err := decode.Rounded(d, first.Val, first.Shape...)
		return tensor.Named{Name: name, Tensor: t}, err
	}
	if p.axis > len(first.Shape) || !p.drop && p.axis == len(first.Shape) {
		return tensor.Named{}, fmt.Errorf("value %q: a sample of shape %v has no axis %d", name, first.Shape, p.axis)
	}
	outer := tensor.Count(first.Shape[:p.axis])
	inner := tensor.Count(first.Shape[p.axis:])
	v := make([]float64, outer*n*inner)
	for o := range outer {
		for i := range n {
			switch {
			case i < len(arrays):
				copy(v[(o*n+i)*inner:], arrays[i].Val[o*inner:(o+1)*inner])
			case fill == withLast:
				copy(v[(o*n+i)*inner:], arrays[len(arrays)-1].Val[o*inner:(o+1)*inner])
			}
		}
	}
	t, err := decode.Rounded(d, v, p.shape(first.Shape, n)...)
	return tensor.Named{Name: name, Tensor: t}, err
}

// planOf is the plan of a value that is known already; the input's always is.
func (m *Model) planOf(name string) (plan, bool) {
	if slices.Contains(m.Inputs(), name) {
		if slices.Contains(m.shared, name) {
			return plan{shared: true}, true
		}
		return plan{whole: !decode.BatchAxis(m.codec), drop: true}, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.plans[name]
	return p, ok
}

// remember keeps a sample to find plans with.
func (m *Model) remember(in [][]Array) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sample == nil && len(in) > 0 {
		m.sample = in[0]
	}
}

// findPlans makes sure that the plans of the values are known, by running g, a graph that has the model's inputs and
// returns the values, on a sample and another made from it.
func (m *Model) findPlans(ctx context.Context, names []string) error {
	var missing []string
	for _, n := range names {
		if _, ok := m.planOf(n); !ok {
			missing = append(missing, n)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	m.mu.Lock()
	a := m.sample
	m.mu.Unlock()
	if a == nil {
		return fmt.Errorf("%s: nothing is known of the value %q yet; ask for values of samples first", m.onnx.Name(),
			missing[0])
	}
	if m.like != nil {
		m.like.remember([][]Array{a})
		if m.like.findPlans(ctx, missing) == nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, n := range missing {
				m.plans[n], _ = m.like.planOf(n)
			}
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	g, err := m.prefix(missing)
	if err != nil {
		return err
	}
	found := make([]plan, len(missing))
	constant := make([]bool, len(a))
	for i, p := range m.inputs[:min(len(a), len(m.inputs))] {
		constant[i] = slices.Contains(m.shared, p.Name)
	}
	if m.o.Fixed > 0 {
		err = m.findFixed(ctx, g, a, other(a, constant), found)
	} else {
		err = m.findFree(ctx, g, a, other(a, constant), found)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, n := range missing {
		m.plans[n] = found[i]
	}
	return nil
}

// other is a sample of the same form that a model tells from the given one: its numbers in reverse.
func other(a []Array, shared []bool) []Array {
	b := make([]Array, len(a))
	for i := range a {
		b[i] = Array{Shape: a[i].Shape, Val: slices.Clone(a[i].Val)}
		if !shared[i] {
			slices.Reverse(b[i].Val)
		}
	}
	return b
}

// findFree compares runs of one sample with a run of both.
func (m *Model) findFree(ctx context.Context, g *graph, a, b []Array, found []plan) error {
	run := func(rows ...[]Array) ([]tensor.Named, error) { return m.feed(ctx, g, rows, len(rows)) }
	ra, err := run(a)
	if err != nil {
		return err
	}
	rb, err := run(b)
	if err != nil {
		return err
	}
	both, err := run(a, b)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		for i := range found { // a free axis in name only
			found[i] = plan{whole: true}
		}
		return nil // the model runs, one sample at a time
	}
	for i := range found {
		found[i] = plan{whole: true}
		one, two := ra[i].Shape, both[i].Shape
		if !slices.Equal(one, rb[i].Shape) || len(one) != len(two) {
			continue
		}
		axis, differ := -1, 0
		for k := range one {
			if one[k] != two[k] {
				axis = k
				differ++
			}
		}
		if differ != 1 || two[axis] != 2*one[axis] {
			continue
		}
		p := plan{axis: axis, drop: one[axis] == 1}
		va, err := p.split(ra[i], 1, 1)
		if err != nil {
			return err
		}
		vb, err := p.split(rb[i], 1, 1)
		if err != nil {
			return err
		}
		vs, err := p.split(both[i], 2, 2)
		if err != nil {
			return err
		}
		if same(vs[0].Val, va[0].Val, vb[0].Val) && same(vs[1].Val, vb[0].Val, va[0].Val) {
			found[i] = p
		}
	}
	return nil
}

// findFixed compares two runs in which two samples change places.
func (m *Model) findFixed(ctx context.Context, g *graph, a, b []Array, found []plan) error {
	n := m.o.Fixed
	rows := make([][]Array, n)
	for i := range rows {
		rows[i] = b
	}
	rows[0] = a
	first, err := m.feed(ctx, g, rows, n)
	if err != nil {
		return err
	}
	if n == 1 {
		for i, t := range first {
			found[i] = plan{whole: len(t.Shape) == 0 || !decode.BatchAxis(m.codec), drop: len(t.Shape) > 0 &&
				t.Shape[0] == 1}
		}
		return nil
	}
	rows[0], rows[1] = b, a
	second, err := m.feed(ctx, g, rows, n)
	if err != nil {
		return err
	}
	for i, t := range first {
		found[i] = plan{whole: true}
		if !slices.Equal(t.Shape, second[i].Shape) {
			continue
		}
		for axis, length := range t.Shape {
			if length == 0 || length%n != 0 {
				continue
			}
			p := plan{axis: axis, drop: length == n}
			x, err := p.split(t, n, 2)
			if err != nil {
				return err
			}
			y, err := p.split(second[i], n, 2)
			if err != nil {
				return err
			}
			if same(x[0].Val, y[1].Val, y[0].Val) && same(x[1].Val, y[0].Val, y[1].Val) {
				found[i] = p
				break
			}
		}
	}
	return nil
}

// same says whether x is want, as far as rounding and the size of the batch let it be: much closer than it is to what
// stands for the other sample.
func same(x, want, other []float64) bool {
	var top, apart, off float64
	finite := func(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
	for i, w := range want {
		if !finite(w) {
			if x[i] != w && !(math.IsNaN(x[i]) && math.IsNaN(w)) {
				return false
			}
			continue
		}
		off, top = max(off, math.Abs(x[i]-w)), max(top, math.Abs(w))
		if finite(other[i]) {
			apart = max(apart, math.Abs(other[i]-w))
		}
	}
	return off <= float64(1e-4*top)+float64(1e-2*apart) // false for NaN
}
