// Package tangent is the arithmetic of derivatives in an audit: changes of values are values of the same form, which actions move
// like the values themselves because actions are linear.
package tangent

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/audit"
	"nero/data/space"
	"nero/model/decode"
	"nero/model/onnx/jvp"
	"nero/model/onnx/vjp"
)

// With is a value that looks like another and has other numbers, which it keeps. Scores become the model's own numbers, not
// probabilities. The error is for values without numbers that could change a little, such as masks.
func With(like space.Value, x []float64) (space.Value, error) {
	switch v := like.(type) {
	case *space.Image:
		if len(x) == len(v.Pix) {
			return &space.Image{C: v.C, H: v.H, W: v.W, Pix: x}, nil
		}
	case *space.Tensor:
		if len(x) == len(v.Val) {
			return &space.Tensor{Shape: slices.Clone(v.Shape), Val: x}, nil
		}
	case *space.Scores:
		if len(x) == len(v.Val) {
			return &space.Scores{Val: x}, nil
		}
	case *space.Field:
		if len(x) == len(v.Val) {
			return &space.Field{H: v.H, W: v.W, Val: x}, nil
		}
	case *space.Frames, *space.Rows, *space.Pairs, *space.Signal, *space.Record:
		if have, err := audit.Numbers(v); err == nil && len(x) == len(have) {
			return audit.WithNumbers(v, x)
		}
	default:
		return nil, fmt.Errorf("%s: %w", audit.Form(like), decode.ErrNotLinear)
	}
	return nil, fmt.Errorf("%d numbers for %s", len(x), audit.Form(like))
}

// Combine is a·x + b·y.
func Combine(a float64, x space.Value, b float64, y space.Value) (space.Value, error) {
	u, err := numbers(x)
	if err != nil {
		return nil, err
	}
	v, err := numbers(y)
	if err != nil {
		return nil, err
	}
	if len(u) != len(v) || x.Kind() != y.Kind() {
		return nil, fmt.Errorf("%w: %s and %s", audit.ErrForm, audit.Form(x), audit.Form(y))
	}
	z := make([]float64, len(u))
	for i := range z {
		z[i] = a*u[i] + b*v[i]
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
		s += u[i] * v[i]
	}
	return s
}

// Norm is the Euclidean norm of all numbers of a value.
func Norm(x space.Value) float64 { return math.Sqrt(Dot(x, x)) }

// Apart is the Euclidean norm of x - y; NaN if their forms differ.
func Apart(x, y space.Value) float64 {
	d, err := Combine(1, x, -1, y)
	if err != nil {
		return math.NaN()
	}
	return Norm(d)
}

// Dithered is v plus normal noise of the given size relative to the root mean square of its numbers (1 if all are zero). A point
// like that lies on no kink: where a blank background makes all values of a pooling window equal, the derivative is a matter of
// convention, and conventions have no symmetry.
func Dithered(v space.Value, size float64, r *rand.Rand) (space.Value, error) {
	x, err := numbers(v)
	if err != nil || size == 0 {
		return v, err
	}
	rms := Norm(v) / math.Sqrt(float64(max(1, len(x))))
	if rms == 0 {
		rms = 1
	}
	z := make([]float64, len(x))
	for i := range z {
		z[i] = x[i] + size*rms*r.NormFloat64()
	}
	return With(v, z)
}

// Normal has independent normal numbers in the form of a value.
func Normal(like space.Value, r *rand.Rand) (space.Value, error) {
	x, err := numbers(like)
	if err != nil {
		return nil, err
	}
	z := make([]float64, len(x))
	for i := range z {
		z[i] = r.NormFloat64()
	}
	return With(like, z)
}

// Unit carries derivatives between the numbers that a model returns and the unit in which an audit compares outputs: the softmax
// in between, if there is one. The zero Unit changes nothing.
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
		return nil, fmt.Errorf("%w: %s and %s", audit.ErrForm, audit.Form(change), audit.Form(prediction))
	}
	var mean float64
	for k := range p {
		mean += p[k] * c[k]
	}
	z := make([]float64, len(p))
	for k := range p {
		z[k] = p[k] * (c[k] - mean)
	}
	return With(change, z)
}

// Untested turns an error of an opened model into the reason why a check did not run: an output without derivative makes the
// question void, an operator or a body that cannot do it leaves it open.
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

func numbers(v space.Value) ([]float64, error) {
	switch v := v.(type) {
	case *space.Image, *space.Tensor, *space.Field, *space.Frames, *space.Rows, *space.Pairs, *space.Signal, *space.Record:
		return audit.Numbers(v)
	case *space.Scores:
		return v.Val, nil
	}
	return nil, fmt.Errorf("%s: %w", audit.Form(v), decode.ErrNotLinear)
}
