package layers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/measure/scale"
	"nero/model/decode"
	"nero/model/interior"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// fielded is an action on records.
type fielded interface {
	Field(name string) action.Action
}

// target chooses what is followed: the output, or of several fields the one with the largest error, the first of
// equals.
func (l *look) target() error {
	plan, c := l.p.Subject.Plan, l.m.Codec()
	l.output, l.moves, l.spec, l.codec = l.m.Output(), plan.Out, c.Out(), c
	if l.end.value != "" {
		l.output = l.end.value
		return nil
	}
	if len(l.spec.Fields) == 0 {
		return nil
	}
	best, worst := 0, math.Inf(-1)
	if sw, ok := audit.ResultIf[*sweep.Result](l.p, sweep.Check); ok {
		for k, name := range sw.Fields {
			most := 0.0
			for _, e := range sw.FieldErr[k] {
				most = max(most, e) // NaN is larger than any number
			}
			for i, f := range l.spec.Fields {
				if f.Name == name && !(most <= worst) {
					best, worst = i, most
				}
			}
		}
	}
	outputs := l.m.Outputs()
	if best >= len(l.spec.Fields) || best >= len(outputs) {
		return fmt.Errorf("%w: the answer has %d fields, the codec reads %d outputs", audit.ErrUntested,
			len(l.spec.Fields), len(outputs))
	}
	l.field, l.output, l.spec = l.spec.Fields[best].Name, outputs[best], l.spec.Fields[best]
	var err error
	if l.codec, err = decode.Select(c, l.field); err != nil {
		return fmt.Errorf("%w: %w", audit.ErrUntested, err)
	}
	if f, ok := plan.Out.(fielded); ok {
		if l.moves = f.Field(l.field); l.moves == nil {
			return fmt.Errorf("%w: nothing says how the field %s moves", audit.ErrUntested, l.field)
		}
	}
	return nil
}

// head acts on the first numbers of an array as an action does on a value, and leaves the others, which fill up a fixed
// number of rows.
type head struct {
	action.Action
	like space.Value
	n    int
}

// Apply moves a tensor.
func (h head) Apply(g group.Element, v space.Value) (space.Value, error) {
	x := v.Numbers()
	if len(x) < h.n {
		return nil, fmt.Errorf("%w: %d numbers for %s", scale.ErrForm, len(x), h.like.Form())
	}
	o, err := h.like.With(x[:h.n:h.n])
	if err != nil {
		return nil, err
	}
	if o, err = h.Action.Apply(g, o); err != nil {
		return nil, err
	}
	if o.Form() != h.like.Form() {
		return nil, fmt.Errorf("%w: the action makes %s of %s", scale.ErrForm, o.Form(), h.like.Form())
	}
	if err := known(o); err != nil {
		return nil, err
	}
	y := o.Numbers()
	return v.With(append(slices.Clip(y), x[h.n:]...))
}

// known refuses a signal of which the action filled in a part: layers are told apart by all numbers of the answer, and
// those are no part of it, see [space.Common].
func known(v space.Value) error {
	if x, ok := v.(interface{ Partial() bool }); ok && x.Partial() {
		return errors.New("of what comes in at an end of the answer nothing is known, so that its error cannot be " +
			"taken " +
			"apart number by number")
	}
	return nil
}

// Exact is that of the action.
func (h head) Exact(g group.Element) bool { return action.Exact(h.Action, g) }

// headed is the representation on an array whose first numbers are those of a value; nil if there are too few.
func (l *look) headed(shape []int, a action.Action, like space.Value) *feature.Rep {
	x := like.Numbers()
	if a == nil || len(x) == 0 || len(x) > size(shape) {
		return nil
	}
	return l.frame.Given(shape, head{a, like, len(x)},
		func(x []float64) space.Value { return &space.Tensor{Shape: shape, Val: x} },
		func(v space.Value) ([]float64, error) { return v.Numbers(), nil })
}

// fieldOf is the representation on the output array of a field; nil if the array does not begin with the numbers of the
// field.
func (l *look) fieldOf(ctx context.Context, shape []int) *feature.Rep {
	y, err := l.m.Predict(ctx, l.samples[:1])
	if err != nil {
		return nil
	}
	like := space.FieldOf(y[0], l.field)
	if like == nil {
		return nil
	}
	if s, ok := like.(*space.Scores); ok && s.Raw != nil {
		return nil
	}
	x := like.Numbers()
	if len(x) > len(l.outX[0][0].Val) ||
		!(distance(x, l.outX[0][0].Val) <= 1e-5*(1+distance(x, make([]float64, len(x))))) {
		return nil
	}
	return l.headed(shape, l.moves, like)
}

// part is the representation on the array k that the model reads of records: the action on the field that explains how
// the array moves; nil if none does.
func (l *look) part(c *cut, k int) *feature.Rep {
	names, values := space.Fields(l.samples[0])
	f, fits := l.p.Subject.Plan.In.(fielded)
	if !fits {
		return nil
	}
	for i, name := range names {
		rep := l.headed(c.x[0][k].Shape, f.Field(name), values[i])
		if rep != nil && l.begins(c.x, k, i) && l.agrees(rep, c.x, c.gx, k) {
			return rep
		}
	}
	return nil
}

// begins tells whether the array k of every sample begins with the numbers of the i-th field.
func (l *look) begins(x [][]interior.Array, k, i int) bool {
	for n, v := range l.samples {
		_, values := space.Fields(v)
		if i >= len(values) {
			return false
		}
		y := values[i].Numbers()
		if len(y) > len(x[n][k].Val) ||
			!(distance(y, x[n][k].Val) <= 1e-5*(1+distance(y, make([]float64, len(y))))) {
			return false
		}
	}
	return true
}
