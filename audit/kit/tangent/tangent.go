// Package tangent is the arithmetic of derivatives in an audit: changes of values are values of the same form, which
// move by the linear part of an action.
package tangent

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
	"nero/model/decode"
	"nero/model/onnx/jvp"
	"nero/model/onnx/vjp"
)

// With is a value that looks like another and has other numbers, which it keeps. Scores become the model's own numbers,
// not probabilities. Types are kept; see [space.Bare] for changes. The error is for values without numbers that could
// change a little, such as masks.
func With(like space.Value, x []float64) (space.Value, error) {
	if _, err := numbers(like); err != nil {
		return nil, err
	}
	v, err := like.With(x)
	if s, ok := v.(*space.Scores); ok {
		s.Probabilities = false
	}
	return v, err
}

// Combine is a·x + b·y. With a + b = 0 it is a change: of two values of a type whose numbers are not the only ones,
// such as headings, it is the smallest that leads from one to the other, see [space.Nearest], and has no type itself.
func Combine(a float64, x space.Value, b float64, y space.Value) (space.Value, error) {
	if a+b == 0 {
		x = space.Nearest(x, y)
		x, y = space.Bare(x), space.Bare(y)
	}
	u, err := numbers(x)
	if err != nil {
		return nil, err
	}
	v, err := numbers(y)
	if err != nil {
		return nil, err
	}
	if len(u) != len(v) || x.Kind() != y.Kind() {
		return nil, fmt.Errorf("%w: %s and %s", scale.ErrForm, x.Form(), y.Form())
	}
	z := make([]float64, len(u))
	for i := range z {
		z[i] = float64(a*u[i]) + float64(b*v[i])
	}
	return With(x, z)
}

// Dot is the sum of the products of all numbers of two values; NaN if their numbers are not as many.
func Dot(x, y space.Value) float64 {
	u, err := numbers(x)
	if err != nil {
		return math.NaN()
	}
	v, err := numbers(y)
	if err != nil || len(u) != len(v) {
		return math.NaN()
	}
	var s float64
	for i := range u {
		s += float64(u[i] * v[i])
	}
	return s
}

// Norm is the Euclidean norm of all numbers of a value.
func Norm(x space.Value) float64 { return math.Sqrt(Dot(x, x)) }

// Apart is the Euclidean norm of x - y; NaN if their forms differ. What a border filled in when a signal was moved is
// no part of it, see [space.Common].
func Apart(x, y space.Value) float64 {
	x, y = space.Common(x, y)
	d, err := Combine(1, x, -1, y)
	if err != nil {
		return math.NaN()
	}
	return Norm(d)
}

// Dithered is v plus normal noise of the given size relative to the root mean square of its numbers (1 if all are
// zero). A point like that lies on no kink: where a blank background makes all values of a pooling window equal, the
// derivative is a matter of convention, and conventions have no symmetry.
//
// Fields of a record are disturbed by the root mean square of their own, and those of whole numbers, see
// [decode.Whole], not at all.
func Dithered(v space.Value, size float64, r *rand.Rand, whole ...string) (space.Value, error) {
	if names, _ := space.Fields(v); names != nil {
		return fields(v, whole, func(f space.Value, whole bool) (space.Value, error) {
			if whole {
				return f, nil
			}
			return Dithered(f, size, r)
		})
	}
	x, err := numbers(v)
	if err != nil || size == 0 || slices.Contains(whole, "") {
		return v, err
	}
	rms := Norm(v) / math.Sqrt(float64(max(1, len(x))))
	if rms == 0 {
		rms = 1
	}
	z := make([]float64, len(x))
	for i := range z {
		z[i] = x[i] + float64(size*rms*elementary.Normal(r))
	}
	return With(v, z)
}

// fields is a record with every field that holds numbers replaced; the others, such as edges, stay.
func fields(v space.Value, whole []string, f func(v space.Value, whole bool) (space.Value, error)) (space.Value,
	error,
) {
	names, values := space.Fields(v)
	out := &space.Record{Names: names, Values: slices.Clone(values)}
	for i, x := range values {
		if x.Kind() == space.KindLinks {
			continue
		}
		y, err := f(x, slices.Contains(whole, names[i]))
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", names[i], err)
		}
		out.Values[i] = y
	}
	return out, nil
}

// Whole are the fields of the samples of a subject that hold whole numbers; none where the model is not at hand.
func Whole(s *audit.Subject) []string {
	if s.Interior == nil {
		return nil
	}
	return decode.Whole(s.Interior.Codec())
}

// Normal has independent normal numbers in the form of a value: a change of it. Fields of whole numbers do not change.
func Normal(like space.Value, r *rand.Rand, whole ...string) (space.Value, error) {
	if names, _ := space.Fields(like); names != nil {
		return fields(like, whole, func(f space.Value, whole bool) (space.Value, error) {
			if whole {
				return Normal(f, r, "")
			}
			return Normal(f, r)
		})
	}
	x, err := numbers(like)
	if err != nil {
		return nil, err
	}
	z := make([]float64, len(x))
	if slices.Contains(whole, "") {
		return With(like, z)
	}
	for i := range z {
		z[i] = elementary.Normal(r)
	}
	return With(like, z)
}

// Change is how a change of a value moves: by the linear part of the action, ρ(g)v - ρ(g)0, since shifts move positions
// and leave their differences alone.
//
// Headings turn round: of them a change is moved that is so many halves smaller that it is less than half a turn, and
// then made as large again.
func Change(m *audit.Mover, v space.Value) (space.Value, error) {
	v = space.Bare(v)
	x, err := numbers(v)
	if err != nil {
		return nil, err
	}
	zero, err := With(v, make([]float64, len(x)))
	if err != nil {
		return nil, err
	}
	if zero, err = m.Move(zero); err != nil {
		return nil, err
	}
	halves := 1.0
	if space.Aliased(zero) {
		for _, a := range x {
			for math.Abs(a)/halves > 1 && !math.IsInf(a, 0) {
				halves *= 2
			}
		}
	}
	if halves > 1 {
		small := make([]float64, len(x))
		for i, a := range x {
			small[i] = a / halves
		}
		if v, err = With(v, small); err != nil {
			return nil, err
		}
	}
	gv, err := m.Move(v)
	if err != nil {
		return nil, err
	}
	if !(Norm(zero) > 0) && halves == 1 {
		return space.Bare(gv), nil
	}
	return Combine(halves, gv, -halves, zero)
}

// Unit carries derivatives between the numbers that a model returns and the unit in which an audit compares outputs:
// the softmax in between, if there is one. The zero Unit changes nothing.
type Unit struct{ softmax bool }

// UnitOf is the unit of a subject whose codec makes such predictions.
func UnitOf(s *audit.Subject, prediction space.Value) Unit {
	v, ok := prediction.(*space.Scores)
	return Unit{ok && s.OutputUnit == audit.Probabilities && (v.Raw != nil || !v.Probabilities)}
}

// Needed reports whether Forward and Back need predictions.
func (u Unit) Needed() bool { return u.softmax }

// Forward is the change of the compared numbers that a change of the model's own makes, at a prediction.
func (u Unit) Forward(prediction, change space.Value) (space.Value, error) {
	return u.apply(prediction, change)
}

// Back is the transpose of Forward, which is the same since the matrix diag(p) - p·pᵀ of a softmax is symmetric.
func (u Unit) Back(prediction, cotangent space.Value) (space.Value, error) {
	return u.apply(prediction, cotangent)
}

func (u Unit) apply(prediction, change space.Value) (space.Value, error) {
	s, ok := prediction.(*space.Scores)
	if !u.softmax || !ok {
		return change, nil
	}
	p := slices.Clone(s.Output())
	decode.Softmax(p)
	c, err := numbers(change)
	if err != nil {
		return nil, err
	}
	if len(c) != len(p) {
		return nil, fmt.Errorf("%w: %s and %s", scale.ErrForm, change.Form(), prediction.Form())
	}
	var mean float64
	for k := range p {
		mean += float64(p[k] * c[k])
	}
	z := make([]float64, len(p))
	for k := range p {
		z[k] = p[k] * (c[k] - mean)
	}
	return With(change, z)
}

// Untested turns an error of an opened model into the reason why a check did not run: an output without derivative
// makes the question void, an operator or a body that cannot do it leaves it open.
func Untested(err error) error {
	var v *vjp.UnsupportedError
	var j *jvp.UnsupportedError
	switch {
	case errors.Is(err, decode.ErrNotLinear):
		return fmt.Errorf("%w: %w", audit.ErrNotApplicable, err)
	case errors.Is(err, vjp.ErrNoPath):
		return fmt.Errorf("%w: the output has no derivative by the input: %w", audit.ErrNotApplicable, err)
	case errors.As(err, &v), errors.As(err, &j):
		return fmt.Errorf("%w: %w", audit.ErrUntested, err)
	}
	return fmt.Errorf("%w: derivatives could not be computed: %w", audit.ErrUntested, err)
}

// numbers are those of a value whose differences are values of the same form.
func numbers(v space.Value) ([]float64, error) {
	if names, _ := space.Fields(v); names == nil {
		if _, ok := v.(space.Linear); !ok {
			return nil, fmt.Errorf("%s: %w", v.Form(), decode.ErrNotLinear)
		}
	}
	return v.Numbers(), nil
}
