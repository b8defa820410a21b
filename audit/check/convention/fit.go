package convention

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	mat64 "gonum.org/v1/gonum/mat"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/group"
)

const (
	mostRounds   = 8 // of the fit of a centre
	mostOutputs  = 4096
	mostElements = 4
)

// fit looks for the centre about which points turn: the vector c for which f(ρ(g)(x-c) + c) comes nearest to
// ρ_out(g)f(x), by Gauss and Newton with central differences and the damping of Levenberg and Marquardt, from a part of
// the inputs. The variant that it gives is tested on the others. Nil if the inputs are no points or no centre is better
// than the declared one.
func (s *search) fit(ctx context.Context) (*variant, error) {
	plan := s.p.Subject.Plan
	m := newLinear(plan.In, s.x0)
	y := s.y0.Numbers()
	if m == nil || m.d > 3 || len(y) > mostOutputs || len(s.pick) <= s.trained() {
		return nil, nil
	}
	s.centres = true
	size := norm(numbersOf(s.x0)) / math.Sqrt(float64(m.n*m.d))
	if !(size > 0) {
		return nil, nil
	}
	c, step := make([]float64, m.d), float64(0.01*size)
	damping := 1e-3
	r, err := s.residual(ctx, m, c)
	if err != nil || r == nil {
		return nil, err
	}
	began := norm(r)
	for range mostRounds {
		jacobian := mat64.NewDense(len(r), m.d, nil)
		for k := range m.d {
			var side [2][]float64
			for q, h := range []float64{step, -step} {
				at := slices.Clone(c)
				at[k] += h
				if side[q], err = s.residual(ctx, m, at); err != nil || side[q] == nil {
					return nil, err
				}
			}
			for i := range r {
				jacobian.Set(i, k, (side[0][i]-side[1][i])/(2*step))
			}
		}
		moved := slices.Clone(c)
		if !newton(jacobian, r, damping, moved) || norm(moved) > 100*size {
			break
		}
		next, err := s.residual(ctx, m, moved)
		if err != nil || next == nil {
			return nil, err
		}
		if !(norm(next) < norm(r)) {
			if damping *= 100; damping > 1e6 {
				break
			}
			continue
		}
		far := apart(moved, c)
		c, r, damping = moved, next, damping/10
		if far < 1e-6*size {
			break
		}
	}
	if !(norm(r) < began/2) {
		return nil, nil
	}
	words := make([]string, len(c))
	for i, v := range c {
		words[i] = fmt.Sprintf("%.4g", v)
	}
	name := "the points turn about (" + strings.Join(words, ", ") + ") in place of the origin"
	b := &builder{s: s}
	return &variant{
		name: name, declare: "move the points by minus that vector before the model, or declare that centre",
		centre: true, learned: true,
		key: "fit", in: m.around(b.at(same, false), c),
	}, nil
}

func numbersOf(v space.Value) []float64 {
	x := v.Numbers()
	return x
}

// newton takes one damped step; false if there is none.
func newton(jacobian *mat64.Dense, r []float64, damping float64, c []float64) bool {
	d := len(c)
	var normal mat64.Dense
	normal.Mul(jacobian.T(), jacobian)
	var gradient, step mat64.VecDense
	gradient.MulVec(jacobian.T(), mat64.NewVecDense(len(r), r))
	for k := range d {
		normal.Set(k, k, normal.At(k, k)*(1+damping))
	}
	if err := step.SolveVec(&normal, &gradient); err != nil {
		return false
	}
	for k := range d {
		if c[k] -= step.AtVec(k); math.IsNaN(c[k]) || math.IsInf(c[k], 0) {
			return false
		}
	}
	return true
}

// residual is what is left of the error with points turned about c, for the first inputs and a few elements; nil if a
// number is not finite.
func (s *search) residual(ctx context.Context, m *linear, c []float64) ([]float64, error) {
	p := s.p
	plan := p.Subject.Plan
	b := &builder{s: s}
	forth, back := m.around(b.at(same, false), c), moving(plan.Out, b.at(same, true))
	use := spreadOver(s.use, mostElements)
	stream := func(yield func(audit.Request, error) bool) {
		for _, i := range s.pick[:s.trained()] {
			one, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			x, err := plan.In.Apply(plan.Group.Identity(), one.Value)
			if err != nil {
				yield(audit.Request{}, fmt.Errorf("sample %s: %w", one.ID, err))
				return
			}
			if !yield(audit.Request{Sample: i, Element: -1, Input: x}, nil) {
				return
			}
			for _, j := range use {
				gx, err := forth(j, one.Value)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s at %s: %w", one.ID, p.Elements[j].Label, err))
					return
				}
				if !yield(audit.Request{Sample: i, Element: j, Input: gx}, nil) {
					return
				}
			}
		}
	}
	var out, base []float64
	finite := true
	err := p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
		if q.Element < 0 {
			base = numbersOf(y)
			return nil
		}
		z, err := back(q.Element, y)
		if err != nil {
			return fmt.Errorf("output at %s: %w", p.Elements[q.Element].Label, err)
		}
		x := numbersOf(z)
		if len(x) != len(base) {
			finite = false
			return nil
		}
		for i, v := range x {
			d := (v - base[i]) / s.scale
			finite = finite && !math.IsNaN(d) && !math.IsInf(d, 0)
			out = append(out, d)
		}
		return nil
	})
	if err != nil || !finite {
		return nil, err
	}
	return out, nil
}

// spreadOver is up to n of a list, spread evenly over it.
func spreadOver(list []int, n int) []int {
	n = min(n, len(list))
	out := make([]int, n)
	for i := range out {
		out[i] = list[(2*i+1)*len(list)/(2*n)]
	}
	return out
}

// around moves points about c.
func (m *linear) around(at func(j int) group.Element, c []float64) motion {
	return func(j int, v space.Value) (space.Value, error) {
		x := tensorOf(v, m.n*m.d)
		if x == nil {
			return nil, errForm
		}
		moved := func(sign float64, x *space.Tensor) *space.Tensor {
			y := &space.Tensor{Shape: slices.Clone(x.Shape), Val: slices.Clone(x.Val)}
			for i := range m.n {
				for k, c := range c {
					y.Val[m.at(i, k)] += float64(sign * c)
				}
			}
			return y
		}
		z, err := m.a.Apply(at(j), moved(-1, x))
		if err != nil {
			return nil, err
		}
		t := tensorOf(z, len(x.Val))
		if t == nil {
			return nil, errForm
		}
		return moved(1, t), nil
	}
}
