// Package gradient is the check of derivatives: those of a symmetric model move as its inputs do.
package gradient

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/audit/kit/tangent"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
	"nero/model/interior"
)

// Check is the gradient check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "gradient",
	Title: "Gradients",
	Doc: `Gradient asks whether derivatives keep the symmetry, as training, saliency maps and forces need it. With z(g,x) = ρ_out(g)⁻¹f(ρ_in(g)x)
and L = <w, z> for a seeded unit vector w, a symmetric model has ∇L(g,x) = ρ_in(g)ᵀ Jᵀ(gx) ρ_out(g)⁻ᵀ w = Jᵀ(x) w: both gradients by the same
x. That is what is compared where the transposes of the actions are those of the inverse elements (permutations, sign changes, rotations of
vectors). Where an action resamples it has no such transpose; there directional derivatives are compared instead, ρ_out(g)⁻¹J(gx)ρ_in(g)v with
J(x)v, along the difference v of two inputs, beside the same for the input moved there and back: the resampling floor.

Errors are relative to the root mean square of the gradient (or of J(x)v) over the inputs. Inputs get a little noise first, since
a blank background puts pooling and rectifiers exactly on their kinks, where the derivative is a convention. An error is reported if the
lower bound of the mean over inputs of the largest error, and the median over inputs, are above the threshold times a factor, and
neither rounding, nor resampling explain it. Rounding is what a change of the input by one ulp does to the derivative, and where the
model can be evaluated in float64 how far that is from the derivative there; the worst pairs are then repeated in float64 too.

Gradients by parameters are measured for outputs that are claimed invariant, and not judged: they agree only if the symmetry holds for all
values of the stored tensors, not if it lies in these values. Along the tensor itself, <∂L/∂θ, θ>, they must agree whenever the
symmetric values form a linear space. If a model also has an output of the shape of its input, and one number per sample, the former is held
against the gradient of the latter: a force that is not the gradient of its energy does not conserve it.`,
	Params: []audit.Param{
		{
			Name: "samples", Doc: "Inputs at which derivatives are taken, spread over the data.", Default: 16, Min: 2,
			Max: 10000, Least: 3,
		},
		{
			Name: "elements", Doc: "Elements of each set at which derivatives are taken, spread over it.", Default: 6,
			Min: 1, Max: 1000, Least: 2,
		},
		{
			Name: "factor", Doc: "Limit of the relative error of derivatives, as a multiple of the threshold. " +
				"Derivatives divide differences of the output by those of the input, so that small ones show.",
			Default: 10,
			Min:     1, Max: 1e6,
		},
		{
			Name: "dither", Doc: "Size of the noise on the inputs, relative to their root mean square.", Default: 1e-3,
			Min: 0, Max: 0.1,
		},
		{
			Name: "parameters", Doc: "Inputs at which gradients by the parameters are taken; 0 for none.", Default: 4,
			Min: 0, Max: 1000,
		},
	},
	Requires: []*audit.Check{sweep.Check},
	Optional: true,
	Run:      run,
	Work:     derivatives,
	Price:    func(p *audit.Pass) int { return audit.PriceDerivative * derivatives(p) },
}

// derivatives is how many are taken.
func derivatives(p *audit.Pass) int {
	if p.Subject.Interior == nil {
		return 0
	}
	n := 2
	for _, j := range p.PickElements(int(p.Param("elements"))) {
		n++
		if !p.Elements[j].Exact {
			n++
		}
	}
	return min(int(p.Param("samples")), p.Subject.N) * n
}

// Result is what the derivatives showed.
type Result struct {
	Sets []*Set
	// Force is the relative distance of a force from the gradient of its energy; NaN if the model has no such outputs.
	Force float64
}

// Set is what was measured on one set of elements. Errors are relative.
type Set struct {
	Name  string
	Exact bool
	// largest error over the elements, mean over inputs
	Worst audit.Interval
	// of the largest error, over inputs
	Median float64
	// mean error over the elements, mean over inputs
	Mean audit.Interval
	// pairs of input and element above the limit
	Exceed    int
	Pairs     int
	NonFinite int
	// error that one-ulp changes of the input make, mean over inputs
	Rounding float64
	// mean error over its resampling floor; NaN where nothing resamples
	Ratio audit.Interval
	// the error of the worst pairs in float64, mean; NaN if it is not known
	Double float64
	// the same pairs as the model computes
	Single float64
	At     audit.Where
	Limit  float64
	// a violation
	Found   bool
	Forward float64
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	m := p.Subject.Interior
	if m == nil {
		return nil, fmt.Errorf("%w: the model is not at hand as a graph", audit.ErrUntested)
	}
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	if sw.Mask {
		return nil, fmt.Errorf("%w: %s, which have no derivative", audit.ErrNotApplicable, sw.Countless())
	}
	s := &study{p: p, m: m, pick: p.Pick(int(p.Param("samples"))), use: p.PickElements(int(p.Param("elements")))}
	if err := s.stay(); err != nil {
		return nil, err
	}
	if err := s.measure(ctx); err != nil {
		return nil, err
	}
	r := &Result{Force: math.NaN()}
	for _, exact := range []bool{true, false} {
		set, err := s.set(ctx, sw, exact)
		if err != nil {
			return nil, err
		}
		if set != nil {
			r.Sets = append(r.Sets, set)
			s.report(set)
		}
	}
	if len(r.Sets) == 0 {
		return nil, fmt.Errorf("%w: the derivative of the output by the input is 0 at every input",
			audit.ErrNotApplicable)
	}
	s.show()
	if err := s.parameters(ctx); err != nil {
		return nil, err
	}
	var err error
	if r.Force, err = force(ctx, s); err != nil {
		return nil, err
	}
	return r, nil
}

// stay leaves out elements that move part of the frame out of it: a gradient lives on all of the frame, also where the
// input is empty, and what leaves does not come back.
func (s *study) stay() error {
	x, err := s.p.Sample(s.pick[0])
	if err != nil {
		return err
	}
	gone, err := sweep.Leaves(s.p, x.Value)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(s.use), func(j int) bool { return gone[j] })
	if len(left) == 0 && len(s.use) > 0 {
		return fmt.Errorf("%w: every element moves part of the frame out of it, where derivatives live as well",
			audit.ErrNotApplicable)
	}
	s.use = left
	return nil
}

// way is how derivatives are compared at an element.
type way struct {
	g audit.Element
	// in Pass.Elements
	index int
	// by gradients; else by directional derivatives
	pull    bool
	in, out *audit.Mover
	inBack  *audit.Mover
	outBack *audit.Mover
}

// study is the measurement.
type study struct {
	p    *audit.Pass
	m    *interior.Model
	pick []int
	use  []int
	ways []way

	ids []string
	// fields of the samples that hold whole numbers
	whole []string
	// of the first sample
	form string
	// w, in the form of its prediction
	cot  space.Value
	unit tangent.Unit
	// predictions have numbers that are not the only ones for what they mean, see [space.Aliased]
	aliased bool
	base    *audit.Mover
	// per input, per way; not yet relative
	err [][]float64
	// resampling, of ways that push; NaN where there is none
	floor [][]float64
	size  [2][]float64
	// change that one ulp of the input makes
	ulp [2][]float64
	// distance from the derivative in float64, of a few inputs
	apart [2][]float64
	worst map[bool]picture
	// RMS of size: pushed, pulled
	sizes [2]float64
	// derivatives at inputs as they are, in float64, by input: the evaluator is slow, and several pairs ask for them
	exact [2]map[int]space.Value
}

// picture is the difference of two gradients at the worst pair of a set.
type picture struct {
	value space.Value
	err   float64
	where audit.Where
}

// kind is the index of arrays by way of comparison.
func kind(pull bool) int {
	if pull {
		return 1
	}
	return 0
}

// point is one input, prepared.
type point struct {
	id string
	// before and after the action of the identity, with noise
	raw, x   space.Value
	jittered space.Value
	// unmoved
	direction space.Value
	// w, in the form of the prediction
	cot space.Value
}

// point prepares an input.
func (s *study) point(ctx context.Context, k int) (*point, error) {
	p := s.p
	smp, err := p.Sample(s.pick[k])
	if err != nil {
		return nil, err
	}
	at := func(err error) error { return fmt.Errorf("sample %s: %w", smp.ID, err) }
	r := p.Rand("gradient", smp.ID)
	o := &point{id: smp.ID}
	if o.raw, err = tangent.Dithered(smp.Value, p.Param("dither"), r, s.whole...); err != nil {
		return nil, at(err)
	}
	if o.x, err = s.base.Move(o.raw); err != nil {
		return nil, at(err)
	}
	if o.jittered, err = audit.Jittered(o.x, p.Subject.Input, 1, r); err != nil {
		return nil, at(err)
	}
	if o.cot = s.cot; smp.Value.Form() != s.form {
		y, err := s.m.Predict(ctx, []space.Value{o.x})
		if err != nil {
			return nil, err
		}
		if o.cot, err = weights(y[0], p.Rand("gradient probe", smp.ID)); err != nil {
			return nil, at(err)
		}
	}
	next, err := p.Sample(s.pick[(k+1)%len(s.pick)])
	if err != nil {
		return nil, err
	}
	if o.direction, err = tangent.Combine(1, next.Value, -1, smp.Value); err != nil ||
		!(tangent.Norm(o.direction) > 0) {
		if o.direction, err = tangent.Normal(smp.Value, r, s.whole...); err != nil {
			return nil, at(err)
		}
	}
	return o, nil
}

// prepare finds the form of outputs and the way of comparison of every element.
func (s *study) prepare(ctx context.Context) error {
	p := s.p
	G := p.Subject.Plan.Group
	s.base = audit.NewMover(p.Subject.Plan.In, G.Identity())
	smp, err := p.Sample(s.pick[0])
	if err != nil {
		return err
	}
	x, err := s.base.Move(smp.Value)
	if err != nil {
		return fmt.Errorf("sample %s: %w", smp.ID, err)
	}
	y, err := s.m.Predict(ctx, []space.Value{x})
	if err != nil {
		return err
	}
	s.unit, s.aliased = tangent.UnitOf(p.Subject, y[0]), space.Aliased(y[0])
	r := p.Rand("gradient probe", "")
	s.form, s.whole = smp.Value.Form(), tangent.Whole(p.Subject)
	if s.cot, err = weights(y[0], r); err != nil {
		return err
	}
	for _, j := range s.use {
		e := p.Elements[j]
		w := way{
			g: e, index: j,
			in: audit.NewMover(p.Subject.Plan.In, e.G), inBack: audit.NewMover(p.Subject.Plan.In, G.Inv(e.G)),
			out: audit.NewMover(p.Subject.Plan.Out, e.G), outBack: audit.NewMover(p.Subject.Plan.Out, G.Inv(e.G)),
		}
		draw := func() float64 { return elementary.Normal(r) }
		w.pull = x.Form() == smp.Value.Form() && adjoint(w.in, w.inBack, x, draw) &&
			adjoint(w.out, w.outBack, s.cot, draw)
		s.ways = append(s.ways, w)
	}
	return nil
}

// weights are a unit vector in the form of a prediction.
func weights(y space.Value, r *rand.Rand) (space.Value, error) {
	w := scale.Direction(y, r)
	// Weights of different size: signs alone cancel where a break adds the same to every component.
	var square float64
	for i := range w {
		w[i] = elementary.Normal(r)
		square += float64(w[i] * w[i])
	}
	for i := range w {
		w[i] /= math.Sqrt(square)
	}
	c, err := tangent.With(y, w)
	if err != nil {
		return nil, tangent.Untested(err)
	}
	return c, nil
}

// adjoint tells whether the inverse element acts on changes as the transpose: <ρ(g)u, v> = <u, ρ(g⁻¹)v> for random u
// and v.
func adjoint(there, back *audit.Mover, like space.Value, normal func() float64) bool {
	draw := func() space.Value {
		x := like.Numbers()
		z := make([]float64, len(x))
		for i := range z {
			z[i] = normal()
		}
		v, err := tangent.With(like, z)
		if err != nil {
			return nil
		}
		return v
	}
	u, v := draw(), draw()
	if u == nil || v == nil {
		return false
	}
	gu, err := tangent.Change(there, u)
	if err != nil {
		return false
	}
	hv, err := tangent.Change(back, v)
	if err != nil {
		return false
	}
	return math.Abs(tangent.Dot(gu, v)-tangent.Dot(u, hv)) <= 1e-9*tangent.Norm(u)*tangent.Norm(v) // false for NaN
}

// measure takes all derivatives.
func (s *study) measure(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	n := len(s.pick)
	s.ids, s.worst = make([]string, n), map[bool]picture{}
	s.exact = [2]map[int]space.Value{{}, {}}
	s.err, s.floor = make([][]float64, n), make([][]float64, n)
	for k := range 2 {
		s.size[k], s.ulp[k] = make([]float64, n), make([]float64, n)
	}
	pulls := slices.ContainsFunc(s.ways, func(w way) bool { return w.pull })
	pushes := slices.ContainsFunc(s.ways, func(w way) bool { return !w.pull })
	for i := range n {
		o, err := s.point(ctx, i)
		if err != nil {
			return err
		}
		s.ids[i] = o.id
		s.err[i], s.floor[i] = make([]float64, len(s.ways)), make([]float64, len(s.ways))
		if pulls {
			if err := s.pull(ctx, s.m, i, o); err != nil {
				return err
			}
		}
		if pushes {
			if err := s.push(ctx, i, o); err != nil {
				return err
			}
		}
	}
	for k := range 2 {
		var sum, count float64
		for _, v := range s.size[k] {
			if v <= math.MaxFloat64 { // false for NaN
				sum, count = sum+float64(v*v), count+1
			}
		}
		s.sizes[k] = math.Sqrt(sum / max(count, 1))
	}
	return nil
}

// pull compares gradients at one input.
func (s *study) pull(ctx context.Context, m *interior.Model, i int, o *point) (err error) {
	values, cots := []space.Value{o.x, o.jittered}, []space.Value{o.cot, o.cot}
	by := []*audit.Mover{nil, nil}
	for _, w := range s.ways {
		if !w.pull {
			continue
		}
		gx, err := w.in.Move(o.raw)
		if err != nil {
			return fmt.Errorf("sample %s at %s: %w", o.id, w.g.Label, err)
		}
		// ρ_out(g)⁻ᵀ is ρ_out(g), since the inverse acts as the transpose.
		c, err := tangent.Change(w.out, o.cot)
		if err != nil {
			return fmt.Errorf("output at %s: %w", w.g.Label, err)
		}
		values, cots, by = append(values, gx), append(cots, c), append(by, w.out)
	}
	if cots, err = s.written(ctx, m, values, by, cots); err != nil {
		return err
	}
	grads, err := s.gradients(ctx, m, values, cots)
	if err != nil {
		return err
	}
	s.p.Progress(len(values))
	s.size[1][i], s.ulp[1][i] = tangent.Norm(grads[0]), tangent.Apart(grads[0], grads[1])
	if s.refers(i) {
		if g, err := s.gradients(ctx, s.p.Subject.Reference, values[:1], cots[:1]); err == nil {
			s.exact[1][i] = g[0]
			s.apart[1] = append(s.apart[1], tangent.Apart(grads[0], g[0]))
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	at := 2
	for k, w := range s.ways {
		if !w.pull {
			continue
		}
		home, err := tangent.Change(w.inBack, grads[at])
		if err != nil {
			return fmt.Errorf("gradient of sample %s at %s: %w", o.id, w.g.Label, err)
		}
		at++
		d, err := tangent.Combine(1, home, -1, grads[0])
		if err != nil {
			return err
		}
		s.err[i][k], s.floor[i][k] = tangent.Norm(d), math.NaN()
		if e := s.err[i][k]; e > s.worst[w.g.Exact].err {
			s.worst[w.g.Exact] = picture{
				d, e,
				audit.Where{Sample: o.id, Index: s.pick[i], Element: w.g.G, Label: w.g.Label},
			}
		}
	}
	return nil
}

// refers reports whether the derivative at an input is taken in float64 too, to see what rounding inside the model does
// to it: a network of linear pieces has the same derivative one ulp further. Two inputs are enough for the size of it.
func (s *study) refers(i int) bool { return i < 2 && s.p.Subject.Reference != nil }

// gradients are those of <cotangent, output> in the unit in which outputs are compared.
func (s *study) gradients(ctx context.Context, m *interior.Model, values, cots []space.Value) ([]space.Value, error) {
	if s.unit.Needed() {
		y, err := m.Predict(ctx, values)
		if err != nil {
			return nil, err
		}
		cots = slices.Clone(cots)
		for i := range cots {
			if cots[i], err = s.unit.Back(y[i], cots[i]); err != nil {
				return nil, err
			}
		}
	}
	g, err := m.Gradient(ctx, values, cots)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, tangent.Untested(err)
	}
	return g, nil
}

// push compares directional derivatives at one input.
func (s *study) push(ctx context.Context, i int, o *point) error {
	v, err := tangent.Change(s.base, o.direction)
	if err != nil {
		return fmt.Errorf("sample %s: %w", o.id, err)
	}
	values, changes := []space.Value{o.x, o.jittered}, []space.Value{v, v}
	by := []*audit.Mover{nil, nil}
	floors := map[int]int{}
	for k, w := range s.ways {
		if w.pull {
			continue
		}
		gx, gv, err := both(w.in, o.raw, o.direction)
		if err != nil {
			return fmt.Errorf("sample %s at %s: %w", o.id, w.g.Label, err)
		}
		values, changes, by = append(values, gx), append(changes, gv), append(by, w.out)
		if gx.Form() != o.raw.Form() {
			continue // a window that cannot be moved back
		}
		hx, hv, err := both(w.inBack, gx, gv)
		if err != nil {
			return fmt.Errorf("sample %s at %s: %w", o.id, w.g.Label, err)
		}
		floors[k] = len(values)
		values, changes, by = append(values, hx), append(changes, hv), append(by, nil)
	}
	out, err := s.directional(ctx, s.m, values, changes)
	if err != nil {
		return err
	}
	if out, err = s.written(ctx, s.m, values, by, out); err != nil {
		return err
	}
	s.p.Progress(len(values))
	s.size[0][i], s.ulp[0][i] = tangent.Norm(out[0]), tangent.Apart(out[0], out[1])
	if s.refers(i) {
		if d, err := s.directional(ctx, s.p.Subject.Reference, values[:1], changes[:1]); err == nil {
			s.exact[0][i] = d[0]
			s.apart[0] = append(s.apart[0], tangent.Apart(out[0], d[0]))
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	at := 2
	for k, w := range s.ways {
		if w.pull {
			continue
		}
		home, err := tangent.Change(w.outBack, out[at])
		if err != nil {
			return fmt.Errorf("derivative of sample %s at %s: %w", o.id, w.g.Label, err)
		}
		if home, err = s.returned(ctx, w, o.x, home); err != nil {
			return fmt.Errorf("derivative of sample %s at %s: %w", o.id, w.g.Label, err)
		}
		s.err[i][k], s.floor[i][k] = tangent.Apart(home, out[0]), math.NaN()
		at++
		if f, ok := floors[k]; ok {
			s.floor[i][k] = tangent.Apart(out[f], out[0])
			at++
		}
	}
	return nil
}

func both(m *audit.Mover, x, v space.Value) (gx, gv space.Value, err error) {
	if gx, err = m.Move(x); err != nil {
		return nil, nil, err
	}
	gv, err = tangent.Change(m, v)
	return gx, gv, err
}

// written are changes of the predictions at values, in the numbers that are nearest to the first prediction moved
// along, by nil where it is not: a model may answer at one element with a quaternion and at another with its negative.
// It is its own transpose, so that it serves cotangents as well.
func (s *study) written(ctx context.Context, m *interior.Model, values []space.Value, by []*audit.Mover,
	changes []space.Value,
) ([]space.Value, error) {
	if !s.aliased {
		return changes, nil
	}
	y, err := m.Predict(ctx, values)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(changes)
	for i := range out {
		near := y[0]
		if by[i] != nil {
			if near, err = by[i].Move(near); err != nil {
				return nil, err
			}
		}
		out[i] = space.Carry(y[i], near, out[i])
	}
	return out, nil
}

// returned is a change of what comes back from an element as one of the prediction at x itself. Of numbers that compose
// up to a sign, as mirrored quaternions do, the negative comes back.
func (s *study) returned(ctx context.Context, w way, x, change space.Value) (space.Value, error) {
	if !s.aliased {
		return change, nil
	}
	y, err := s.m.Predict(ctx, []space.Value{x})
	if err != nil {
		return nil, err
	}
	there, err := w.out.Move(y[0])
	if err != nil {
		return nil, err
	}
	back, err := w.outBack.Move(there)
	if err != nil {
		return nil, err
	}
	return space.Carry(back, y[0], change), nil
}

// directional are the derivatives of outputs along changes, in the unit in which outputs are compared.
func (s *study) directional(ctx context.Context, m *interior.Model, values, changes []space.Value) ([]space.Value,
	error,
) {
	out, err := m.Tangent(ctx, values, changes)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, tangent.Untested(err)
	}
	if s.unit.Needed() {
		y, err := m.Predict(ctx, values)
		if err != nil {
			return nil, err
		}
		for i := range out {
			if out[i], err = s.unit.Forward(y[i], out[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
