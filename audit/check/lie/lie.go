// Package lie is the check of derivatives along the group: how fast a prediction, carried back, moves away from the
// identity.
package lie

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/audit/kit/tangent"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the check of local equivariance errors. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "lie",
	Title: "Very small motions",
	Doc: `Lie measures how an error begins: the derivative of the pulled-back prediction along every generator of the group, at the identity.
L_X f(x) = d/dt ρ_out(e^{tX})⁻¹ f(ρ_in(e^{tX})x) at t = 0 for a generator X, and the local equivariance error is LEE = E‖L_X f(x)‖², here
divided by s², in 1/rad², 1/px² or per log-factor squared (Gruver, Finzi, Goldblum and Wilson 2022). It depends on no choice of elements, and splits
among layers.

Two estimates stand beside each other. Forward mode: the derivative of the moved input, pushed through the model, plus the derivative of
the action on the output; exact up to rounding. Central differences [z(h) - z(-h)]/2h with the model itself, over steps h from 0.25 down to 1e-4 in
halves: the error of a step is O(h²) above the plateau and O(u/h) below it; where neighbouring steps agree best, (4·L(h/2) - L(h))/3 is taken, and
their distance reported.

Pictures are moved with cubic splines whatever the plan says, because bilinear resampling has a kink at the identity, and are
continued by reflection at the border (around it for groups that roll), and get a little noise first. How far another kernel (bicubic) disagrees is the
floor: what is below it is a property of the sampling and not of the model.

Of a product of groups the generators are those of its continuous factors, while the others rest: E(3) x S(24) has the three rotations and
three shifts of E(3).

Generators with different units have no sum as they are. For pictures they are made comparable by the mean product of their
displacements over the pixels, <X,Y> = mean X(p)·Y(p) in px²; the total over an orthonormal basis for that product does not
depend on the basis. Elsewhere a total is given if all units are equal, the generators being taken as orthonormal.

An error is reported where its lower bound for a step of 1 degree, 1 px or 1 % exceeds the threshold to first order, and it is more than
the floor.`,
	Params: []audit.Param{
		{
			Name: "samples", Doc: "Inputs at which derivatives are taken, spread over the data.", Default: 32, Min: 2,
			Max: 10000,
		},
		{Name: "sweep", Doc: "Inputs at which all steps are tried.", Default: 6, Min: 2, Max: 1000},
		{
			Name: "dither", Doc: "Size of the noise on pictures, relative to their root mean square: it takes blank " +
				"regions off the kinks of pooling and rectifiers, where there is no derivative.", Default: 1e-3, Min: 0,
			Max: 0.1,
		},
	},
	Requires: []*audit.Check{sweep.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		g, ok := group.Continuous(p.Subject.Plan.Group)
		if !ok {
			return 0
		}
		k := len(g.Generators())
		return min(int(p.Param("sweep")), p.Subject.N)*2*steps*k + min(int(p.Param("samples")), p.Subject.N)*(1+2*k)
	},
}

// Steps of the central difference: first, first/2, ... in the unit of the generator.
const (
	first = 0.25
	steps = 12
)

// Result is the local error of every generator.
type Result struct {
	Generators []Generator
	// Total is LEE/s² over an orthonormal basis for the inner product that Product names; NaN if there is none.
	Total   audit.Interval
	Product string
	// of Total
	Unit string
}

// Generator is the local error along one generator.
type Generator struct {
	group.Generator
	// E‖L f‖²/s², in 1/unit²
	LEE audit.Interval
	// its root, in 1/unit: how many s the output moves per unit
	Rate audit.Interval
	// rate at which two kernels disagree; NaN where nothing is resampled
	Floor float64
	// rate over floor
	Ratio audit.Interval
	// rate by forward mode, over the inputs of the sweep; NaN if it cannot be had
	Forward float64
	// rate by central differences, over the same inputs
	Central float64
	// at which they were taken
	Step float64
	// distance between neighbouring steps there, relative
	Spread float64
	// distance of the two estimates, relative
	Apart float64
	// "forward mode" or "central differences": which one LEE is from
	Estimate string
	Found    bool
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	g, ok := group.Continuous(p.Subject.Plan.Group)
	if !ok {
		return nil, fmt.Errorf("%w: %s has no one-parameter subgroups", audit.ErrNotApplicable,
			p.Subject.Plan.Group.Name())
	}
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	switch {
	case sw.Mask:
		return nil, fmt.Errorf("%w: %s, which have no derivative", audit.ErrNotApplicable, sw.Countless())
	case !(sw.Scale > 0):
		return nil, fmt.Errorf("%w: the outputs do not vary, so there is no scale to measure against",
			audit.ErrUntested)
	}
	if o, ok := action.OptionsOf(p.Subject.Plan.In); ok && o.Region != action.Whole {
		return nil, fmt.Errorf("%w: under the mask %s pictures and answers end at an edge, which has no derivative; "+
			"leave group.mask out to ask for derivatives", audit.ErrNotApplicable, o.Region)
	}

	s := &study{p: p, g: g, gens: g.Generators(), scale: sw.Scale, forward: p.Subject.Interior != nil}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if err := s.sweep(ctx); err != nil {
		return nil, err
	}
	if err := s.measure(ctx); err != nil {
		return nil, err
	}
	return s.result()
}

// sides are the actions on both sides with one kernel.
type sides struct{ in, out action.Action }

// study is the measurement.
type study struct {
	p *audit.Pass
	// the one-parameter subgroups of the claim
	g     group.Lie
	gens  []group.Generator
	scale float64
	// forward mode is at hand
	forward bool
	// why not
	why    string
	smooth sides
	// with the other kernel; the same where nothing is resampled
	rough  sides
	floors bool
	// of a picture as the model sees it; nil for other inputs
	shape []int
	unit  tangent.Unit

	// step of each generator, index of the wider one
	best   []int
	spread []float64
	// rate per generator and step
	curve   [][]float64
	central []float64
	pushed  []float64
	apart   []float64

	ids []string
	// per input: <L_i, L_j>/s²
	gram [][][]float64
	// per input, per generator: norm of the disagreement over s
	floor [][]float64
}

// prepare finds smooth actions.
func (s *study) prepare(ctx context.Context) error {
	p := s.p
	plan := p.Subject.Plan
	smp, err := p.Sample(p.Pick(1)[0])
	if err != nil {
		return err
	}
	x, err := plan.In.Apply(s.g.Identity(), smp.Value)
	if err != nil {
		return fmt.Errorf("sample %s: %w", smp.ID, err)
	}
	y, err := p.PredictBatch(ctx, 0, []space.Value{x})
	if err != nil {
		return err
	}
	s.smooth, s.rough = sides{plan.In, plan.Out}, sides{plan.In, plan.Out}
	if _, ok := plan.In.(*action.Image); ok {
		s.shape = x.Dims()
		var window []int
		if x.Form() != smp.Value.Form() {
			window = s.shape[1:]
		}
		if s.smooth.in, s.rough.in, err = s.kernels(smp.Value.Dims(), window); err != nil {
			return err
		}
		s.floors = true
	}
	if _, ok := plan.Out.(*action.Image); ok {
		if s.smooth.out, s.rough.out, err = s.kernels(y[0].Dims(), nil); err != nil {
			return err
		}
		s.floors = true
	}
	if !s.forward {
		s.why = "the model is not at hand as a graph"
		return nil
	}
	raw, err := p.Subject.Interior.Predict(ctx, []space.Value{x})
	if err != nil {
		return err
	}
	s.unit = tangent.UnitOf(p.Subject, raw[0])
	if _, err := p.Subject.Interior.Tangent(ctx, []space.Value{x}, []space.Value{x}); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.forward, s.why = false, tangent.Untested(err).Error()
	}
	return nil
}

// kernels are the actions on pictures by splines and by the kernel that is compared with them.
func (s *study) kernels(shape, window []int) (smooth, rough action.Action, err error) {
	o := action.Options{Kernel: action.Spline, Border: action.Reflect, Window: window}
	whole := s.p.Subject.Plan.Group
	if _, ok := whole.(group.Torus); ok {
		o.Border = action.Circular
	}
	spec := space.Spec{Kind: space.KindImage, Shape: shape}
	if smooth, err = action.NewImage(whole, spec, o); err != nil {
		return nil, nil, fmt.Errorf("%w: no smooth action on pictures: %w", audit.ErrUntested, err)
	}
	o.Kernel = action.Bicubic
	if rough, err = action.NewImage(whole, spec, o); err != nil {
		return nil, nil, fmt.Errorf("%w: no smooth action on pictures: %w", audit.ErrUntested, err)
	}
	return smooth, rough, nil
}

// point is one input: as it is in the file, as the model sees it, and what the model answers.
type point struct {
	id        string
	index     int
	raw, x, y space.Value
}

func (s *study) point(ctx context.Context, i int) (*point, error) {
	smp, err := s.p.Sample(i)
	if err != nil {
		return nil, err
	}
	o := &point{id: smp.ID, index: i, raw: smp.Value}
	if s.shape != nil {
		if o.raw, err = tangent.Dithered(smp.Value, s.p.Param("dither"), s.p.Rand("lie", smp.ID),
			tangent.Whole(s.p.Subject)...); err != nil {
			return nil, s.at(o, err)
		}
	}
	if o.x, err = s.smooth.in.Apply(s.g.Identity(), o.raw); err != nil {
		return nil, s.at(o, err)
	}
	y, err := s.p.PredictBatch(ctx, 0, []space.Value{o.x})
	if err != nil {
		return nil, err
	}
	o.y = y[0]
	return o, nil
}

// at says at which input an error came up.
func (*study) at(o *point, err error) error { return fmt.Errorf("sample %s: %w", o.id, err) }

// exp is e^{tX} for generator k.
func (s *study) exp(k int, t float64) group.Element {
	c := make([]float64, len(s.gens))
	c[k] = t
	return s.g.Exp(c)
}

// tiny is the step at which actions are differentiated in float64. A cubic spline has third derivatives, so the error
// is of the order 1e-8.
const tiny = 1e-4

// along is d/dt a(e^{tX})v at 0.
func (s *study) along(a action.Action, k int, v space.Value) (space.Value, error) {
	up, err := a.Apply(s.exp(k, tiny), v)
	if err != nil {
		return nil, err
	}
	down, err := a.Apply(s.exp(k, -tiny), v)
	if err != nil {
		return nil, err
	}
	return tangent.Combine(0.5/tiny, up, -0.5/tiny, down)
}

// derivatives are L f(x) of all generators by forward mode, with one kernel.
func (s *study) derivatives(ctx context.Context, a sides, raw, x, y space.Value) ([]space.Value, error) {
	m := s.p.Subject.Interior
	values, changes := make([]space.Value, len(s.gens)), make([]space.Value, len(s.gens))
	for k := range s.gens {
		v, err := s.along(a.in, k, raw)
		if err != nil {
			return nil, err
		}
		values[k], changes[k] = x, v
	}
	out, err := m.Tangent(ctx, values, changes)
	if err != nil {
		return nil, err
	}
	if s.unit.Needed() {
		own, err := m.Predict(ctx, []space.Value{x})
		if err != nil {
			return nil, err
		}
		for k := range out {
			if out[k], err = s.unit.Forward(own[0], out[k]); err != nil {
				return nil, err
			}
		}
	}
	s.p.Progress(len(values))
	for k := range out {
		if _, ok := a.out.(action.Trivial); ok {
			continue
		}
		d, err := s.along(a.out, k, y)
		if err != nil {
			return nil, err
		}
		if out[k], err = tangent.Combine(1, out[k], -1, d); err != nil { // the inverse acts: d/dt ρ(e^{-tX})y
			return nil, err
		}
	}
	return out, nil
}

// differences are [z(h) - z(-h)]/2h of one generator for a list of steps.
//
// Predictions are written as near to that at the identity as they can be: with its negative at one side, a quaternion
// would lead from one to the other.
func (s *study) differences(ctx context.Context, a sides, k int, o *point, hs []float64) ([]space.Value, error) {
	raw := o.raw
	values := make([]space.Value, 0, 2*len(hs))
	for _, h := range hs {
		for _, t := range []float64{h, -h} {
			v, err := a.in.Apply(s.exp(k, t), raw)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
	}
	z, err := s.p.PredictBatch(ctx, 0, values)
	if err != nil {
		return nil, err
	}
	out := make([]space.Value, len(hs))
	for j, h := range hs {
		up, err := a.out.Apply(s.exp(k, -h), z[2*j])
		if err != nil {
			return nil, err
		}
		down, err := a.out.Apply(s.exp(k, h), z[2*j+1])
		if err != nil {
			return nil, err
		}
		up, down = space.Nearest(up, o.y), space.Nearest(down, o.y)
		if out[j], err = tangent.Combine(0.5/h, up, -0.5/h, down); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sweep tries all steps on a few inputs and picks one for each generator.
func (s *study) sweep(ctx context.Context) error {
	p := s.p
	hs := make([]float64, steps)
	for j := range hs {
		hs[j] = math.Ldexp(first, -j)
	}
	n := len(s.gens)
	pick := p.Pick(int(p.Param("sweep")))
	squares, moves := zeros(n, steps), zeros(n, steps-1)
	richardson, pushed, apart := zeros(n, steps-1), make([]float64, n), zeros(n, steps-1)
	for _, i := range pick {
		o, err := s.point(ctx, i)
		if err != nil {
			return err
		}
		var exact []space.Value
		if s.forward {
			if exact, err = s.derivatives(ctx, s.smooth, o.raw, o.x, o.y); err != nil {
				return s.at(o, err)
			}
		}
		for k := range s.gens {
			d, err := s.differences(ctx, s.smooth, k, o, hs)
			if err != nil {
				return s.at(o, err)
			}
			if exact != nil {
				pushed[k] += tangent.Dot(exact[k], exact[k])
			}
			for j := range d {
				squares[k][j] += tangent.Dot(d[j], d[j])
				if j == steps-1 {
					break
				}
				e := tangent.Apart(d[j], d[j+1])
				moves[k][j] += float64(e * e)
				r, err := tangent.Combine(4.0/3, d[j+1], -1.0/3, d[j])
				if err != nil {
					return err
				}
				richardson[k][j] += tangent.Dot(r, r)
				if exact != nil {
					e := tangent.Apart(r, exact[k])
					apart[k][j] += float64(e * e)
				}
			}
		}
	}
	rate := func(sum float64) float64 { return math.Sqrt(sum/float64(len(pick))) / s.scale }
	for k := range s.gens {
		best := 0
		for j := range moves[k] {
			if moves[k][j] < moves[k][best] || math.IsNaN(moves[k][best]) {
				best = j
			}
		}
		curve := make([]float64, steps)
		for j := range curve {
			curve[j] = rate(squares[k][j])
		}
		s.best = append(s.best, best)
		s.curve = append(s.curve, curve)
		s.central = append(s.central, rate(richardson[k][best]))
		s.spread = append(s.spread, math.Sqrt(moves[k][best]/squares[k][best]))
		if !s.forward {
			s.pushed, s.apart = append(s.pushed, math.NaN()), append(s.apart, math.NaN())
			continue
		}
		s.pushed = append(s.pushed, rate(pushed[k]))
		s.apart = append(s.apart, math.Sqrt(apart[k][best]/pushed[k]))
	}
	return nil
}
