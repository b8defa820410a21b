// Package forces is the check of models that answer with an energy and with forces: whether the energy is invariant,
// the forces are equivariant, and the forces are minus the gradient of the energy. Each can hold without the others,
// and each that fails has another cause.
package forces

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/elementary"
)

// Check is the check of energies and forces. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "forces",
	Title: "Energy and forces",
	Doc: `Forces tells three questions apart for models that answer with an energy and with one force per atom. Is the energy invariant, are the forces
equivariant: the errors of the two fields, each over its own scale. And are the forces minus the gradient of the energy: along random directions v the
central difference [E(x+hv) - E(x-hv)]/2h is held against -F·v, h swept over decades and taken where neighbors agree best (the plateau), in float64 where
the model has such a form; the error is the root mean square over inputs and directions, relative to that of F·v. Independent of the energy, the work of the
forces around closed circles is held against the work along them: a field with a potential does none. Forces that are equivariant and not
conservative come from a head of their own; a constant factor between force and gradient is named, -1 is a sign, others are units.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs, spread over the data.", Default: 8, Min: 2, Max: 1000},
		{Name: "directions", Doc: "Random directions for each input.", Default: 6, Min: 1, Max: 1000},
		{Name: "points", Doc: "Points of each circle.", Default: 32, Min: 8, Max: 1000},
		{
			Name: "radius", Doc: "Radius of the circles, and largest step of the differences.", Unit: "length",
			Default: 0.05, Min: 1e-9, Max: 1e9,
		},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		if len(p.Subject.OutSpec.Fields) == 0 {
			return 0
		}
		return min(int(p.Param("samples")), p.Subject.N) * (1 + 2*len(steps())*int(p.Param("directions")) +
			int(p.Param("points")))
	},
}

// Result says what holds.
type Result struct {
	// errors of the fields, mean over inputs of the largest over all elements; relative to their scales
	Energy, Forces audit.Interval
	// Gradient is ‖∂E + F·v‖ over ‖F·v‖, root mean squares over inputs and directions; Plateau is how far neighboring
	// steps disagree, on the same scale; Step the step that was taken.
	Gradient audit.Interval
	Plateau  float64
	Step     float64
	// the differences were taken in float64
	Double bool
	// c of the best F = -c ∂E
	Factor float64
	// what c leaves of the difference, relative
	Left float64
	Work audit.Interval
	// of Gradient and Work, at most a hundredth where the policy does not let pass more
	Limit float64
	// NonFinite is the number of differences and forces that are not finite.
	NonFinite int
	// Undecided says that the differences are too rough to tell whether the forces are minus the gradient, which then
	// are not Conservative either.
	Undecided bool
	// Invariant, Equivariant and Conservative say what holds.
	Invariant, Equivariant, Conservative bool
}

// ports are the fields that the check needs.
type ports struct {
	// of the output
	energy, forces int
	// of the input, -1 if the input is the positions
	positions int
}

// find reads from the specs which fields are the energy, the forces and the positions.
func find(in, out space.Spec) (ports, error) {
	q := ports{energy: -1, forces: -1, positions: -1}
	none := func(what string) (ports, error) {
		return q, fmt.Errorf("%w: %s", audit.ErrNotApplicable, what)
	}
	if len(out.Fields) == 0 {
		return none("the output is no record of an energy and forces")
	}
	for i, f := range out.Fields {
		last := 0
		if len(f.Shape) > 0 {
			last = f.Shape[len(f.Shape)-1]
		}
		switch {
		case f.Type == space.TypeVectors && f.Per != space.PerSample &&
			(q.forces < 0 || strings.Contains(strings.ToLower(f.Name), "force")):
			q.forces = i
		case (f.Type == space.TypeUnchanged || f.Type == "") && last <= 1 &&
			(q.energy < 0 || strings.Contains(strings.ToLower(f.Name), "energy")):
			q.energy = i
		}
	}
	if q.energy < 0 || q.forces < 0 {
		return none("the output has no energy, one number that stays as it is, beside forces, one vector per atom")
	}
	if len(in.Fields) > 0 {
		for i, f := range in.Fields {
			if f.Type == space.TypePositions {
				q.positions = i
				return q, nil
			}
		}
		return none("the input has no positions")
	}
	if in.Type != space.TypePositions {
		return none("the inputs are not positions")
	}
	return q, nil
}

// steps are the steps of the central differences, in radii.
func steps() []float64 { return []float64{1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4} }

type tester struct {
	p   *audit.Pass
	q   ports
	in  space.Spec
	out space.Spec
	// energy, forces, positions
	names  [3]string
	double bool
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	q, err := find(p.Subject.InSpec, p.Subject.OutSpec)
	if err != nil {
		return nil, err
	}
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	t := &tester{p: p, q: q, in: p.Subject.InSpec, out: p.Subject.OutSpec}
	t.names = [3]string{t.out.Fields[q.energy].Name, t.out.Fields[q.forces].Name, "positions"}
	if q.positions >= 0 {
		t.names[2] = t.in.Fields[q.positions].Name
	}
	r := &Result{Energy: t.field(sw, t.names[0]), Forces: t.field(sw, t.names[1])}
	limit := max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0))
	r.Invariant, r.Equivariant = r.Energy.Value <= limit, r.Forces.Value <= limit
	if err := t.gradient(ctx, r); err != nil {
		return nil, err
	}
	t.conclude(r, limit)
	return r, nil
}

// field is the error of a field over all elements.
func (t *tester) field(sw *sweep.Result, name string) audit.Interval {
	n, m := len(sw.IDs), len(t.p.Elements)
	for k, f := range sw.Fields {
		if f != name {
			continue
		}
		worst := make([]float64, n)
		for i := range worst {
			for j := range m {
				if e := sw.FieldErr[k][i*m+j]; e > worst[i] || math.IsNaN(e) {
					worst[i] = e
				}
			}
		}
		return audit.ErrorInterval(worst, t.p.Policy.Confidence, t.p.Rand("interval of forces", name))
	}
	return audit.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
}

// predict answers in float64 where it can.
func (t *tester) predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	if t.double {
		y, err := t.p.Refer(ctx, values)
		if err == nil {
			return y, nil
		}
		t.double = false
	}
	return t.p.PredictBatch(ctx, 0, values)
}

// moved is a sample whose positions are moved by h·d.
func (t *tester) moved(v space.Value, d []float64, h float64) (space.Value, error) {
	o := v.Clone()
	rows := t.positions(o)
	if rows == nil || len(rows.Val) != len(d) {
		return nil, fmt.Errorf("%w: the positions are no rows", audit.ErrNotApplicable)
	}
	for i := range d {
		rows.Val[i] += float64(h * d[i])
	}
	return o, nil
}

func (t *tester) positions(v space.Value) *space.Rows {
	if f := space.FieldOf(v, t.names[2]); f != nil {
		v = f
	}
	return space.RowsOf(v)
}

// answer takes energy and forces out of a prediction. Forces of atoms that fill up a fixed number have no place among
// the positions and are left out.
func (t *tester) answer(v space.Value, atoms int) (e float64, f []float64, err error) {
	energy, forces := space.FieldOf(v, t.names[0]), space.FieldOf(v, t.names[1])
	if energy == nil || forces == nil {
		return 0, nil, fmt.Errorf("%w: the output is no record", audit.ErrNotApplicable)
	}
	x := energy.Numbers()
	if len(x) != 1 {
		return 0, nil, fmt.Errorf("%w: the energy is not one number", audit.ErrNotApplicable)
	}
	y := forces.Numbers()
	if len(y) < atoms {
		return 0, nil, fmt.Errorf("%w: the forces are not one vector per atom", audit.ErrNotApplicable)
	}
	return x[0], y[:atoms], nil
}

// gradient measures differences and works.
func (t *tester) gradient(ctx context.Context, r *Result) error {
	p := t.p
	t.double = p.Subject.Reference != nil
	k, radius := int(p.Param("directions")), p.Param("radius")
	hs := steps()
	// diff[step] are ∂E of all inputs and directions, want -F·v.
	diff := make([][]float64, len(hs))
	var want []float64
	var of []int // input of each
	var works []float64
	for row, i := range p.Pick(int(p.Param("samples"))) {
		s, err := p.Sample(i)
		if err != nil {
			return err
		}
		x, err := p.Subject.Plan.In.Apply(p.Subject.Plan.Group.Identity(), s.Value)
		if err != nil {
			return fmt.Errorf("sample %s: %w", s.ID, err)
		}
		at := t.positions(x)
		if at == nil || len(at.Val) == 0 {
			return fmt.Errorf("%w: sample %s has no positions", audit.ErrNotApplicable, s.ID)
		}
		rnd := p.Rand("directions", s.ID)
		ways := make([][]float64, k+1)
		for a := range ways {
			ways[a] = make([]float64, len(at.Val))
			var n float64
			for b := range ways[a] {
				ways[a][b] = elementary.Normal(rnd)
				n += float64(ways[a][b] * ways[a][b])
			}
			for b := range ways[a] {
				ways[a][b] /= math.Sqrt(n)
			}
		}
		values := []space.Value{x}
		for a := range k {
			for _, h := range hs {
				for _, sign := range []float64{1, -1} {
					v, err := t.moved(x, ways[a], sign*h*radius)
					if err != nil {
						return err
					}
					values = append(values, v)
				}
			}
		}
		y, err := t.predict(ctx, values)
		if err != nil {
			return err
		}
		_, f, err := t.answer(y[0], len(at.Val))
		if err != nil {
			return err
		}
		for a := range k {
			var dot float64
			for b, w := range ways[a] {
				dot -= float64(f[b] * w)
			}
			want, of = append(want, dot), append(of, row)
			for j, h := range hs {
				n := 1 + 2*(a*len(hs)+j)
				up, _, err := t.answer(y[n], len(at.Val))
				if err != nil {
					return err
				}
				down, _, err := t.answer(y[n+1], len(at.Val))
				if err != nil {
					return err
				}
				diff[j] = append(diff[j], (up-down)/(2*h*radius))
			}
		}
		w, err := t.work(ctx, s, x, ways[0], ways[1%len(ways)], radius)
		if err != nil {
			return err
		}
		works = append(works, w)
	}
	r.Double = t.double
	t.plateau(r, diff, want, of, radius)
	r.Work = audit.ErrorInterval(works, p.Policy.Confidence, p.Rand("interval of forces", "work around a loop"))
	t.show(r, diff, want, radius)
	return nil
}

// work is the work of the forces around a circle in the plane of two directions, over that along it: |Σ F·dx| / Σ
// |F·dx|.
func (t *tester) work(ctx context.Context, _ dataset.Sample, x space.Value, a, b []float64, radius float64) (float64,
	error,
) {
	n := int(t.p.Param("points"))
	// b made orthogonal to a.
	var dot, norm float64
	for i := range a {
		dot += float64(a[i] * b[i])
	}
	o := make([]float64, len(b))
	for i := range b {
		o[i] = b[i] - float64(dot*a[i])
		norm += float64(o[i] * o[i])
	}
	if !(norm > 0) {
		return math.NaN(), nil
	}
	values := make([]space.Value, n)
	d := make([]float64, len(a))
	for k := range values {
		c, s := elementary.Cos(2*math.Pi*float64(k)/float64(n)), elementary.Sin(2*math.Pi*float64(k)/float64(n))
		for i := range d {
			d[i] = float64(c*a[i]) + s*o[i]/math.Sqrt(norm)
		}
		var err error
		if values[k], err = t.moved(x, d, radius); err != nil {
			return 0, err
		}
	}
	y, err := t.predict(ctx, values)
	if err != nil {
		return 0, err
	}
	var sum, all float64
	for k := range y {
		_, f, err := t.answer(y[k], len(a))
		if err != nil {
			return 0, err
		}
		c, s := elementary.Cos(2*math.Pi*float64(k)/float64(n)), elementary.Sin(2*math.Pi*float64(k)/float64(n))
		var w float64
		for i := range a {
			w += float64(f[i] * (c*o[i]/math.Sqrt(norm) - float64(s*a[i]))) // along the tangent
		}
		sum, all = sum+w, all+math.Abs(w)
	}
	if all == 0 {
		return 0, nil
	}
	return math.Abs(sum) / all, nil
}

// plateau takes the step at which the differences agree best with those of the next one.
func (t *tester) plateau(r *Result, diff [][]float64, want []float64, of []int, radius float64) {
	size := rms(want)
	for _, list := range append(slices.Clip(diff), want) {
		for _, x := range list {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				r.NonFinite++
			}
		}
	}
	best, at := math.Inf(1), 0
	for j := 0; j+1 < len(diff); j++ {
		d := make([]float64, len(want))
		for i := range d {
			d[i] = diff[j][i] - diff[j+1][i]
		}
		if u := rms(d) / size; u < best {
			best, at = u, j+1
		}
	}
	r.Plateau, r.Step = best, steps()[at]*radius
	e := make([]float64, len(want))
	var dd, wd float64
	for i, w := range want {
		e[i] = diff[at][i] - w
		dd, wd = dd+float64(diff[at][i]*diff[at][i]), wd+float64(diff[at][i]*w)
	}
	per := map[int][2]float64{}
	for i := range e {
		s := per[of[i]]
		per[of[i]] = [2]float64{s[0] + float64(e[i]*e[i]), s[1] + float64(want[i]*want[i])}
	}
	var list []float64
	for k := range len(per) {
		if s := per[k]; s[1] > 0 {
			list = append(list, math.Sqrt(s[0]/s[1]))
		}
	}
	r.Gradient = audit.ErrorInterval(list, t.p.Policy.Confidence, t.p.Rand("interval of forces", "gradient"))
	r.Factor = wd / dd // F·v = -c ∂E in the mean square
	left := make([]float64, len(want))
	for i, w := range want {
		left[i] = float64(r.Factor*diff[at][i]) - w
	}
	r.Left = rms(left) / size
}

func rms(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += float64(v * v)
	}
	return math.Sqrt(s / float64(max(len(x), 1)))
}

func (t *tester) show(r *Result, diff [][]float64, want []float64, radius float64) {
	size := rms(want)
	s := audit.Series{Name: "‖∂E + F·v‖ / ‖F·v‖"}
	for j, h := range steps() {
		e := make([]float64, len(want))
		for i := range e {
			e[i] = diff[j][i] - want[i]
		}
		if x := rms(e) / size; x > 0 && !math.IsInf(x, 0) {
			s.X, s.Y = append(s.X, h*radius), append(s.Y, x)
		}
	}
	if len(s.X) == 0 {
		return
	}
	in := "float32"
	if r.Double {
		in = "float64"
	}
	t.p.Show(audit.Exhibit{
		Name: "steps", Title: "Forces against differences of the energy",
		Note: "Central differences in " + in +
			" against the step. Of a force that is minus the gradient the curve falls with the square of the step " +
			"until rounding takes over; else it stays.",
		Curve: &audit.Curve{
			X: audit.Scale{Name: "step", Unit: "length", Log: true}, Y: audit.Scale{Name: "error", Log: true},
			Limit: math.NaN(), Series: []audit.Series{s},
		},
	})
}

// share is the relative error above which forces are not those of the energy, whatever the plateau says: learned heads
// are off by tenths.
const share = 1e-3

// rough is the disagreement of differences beyond which they decide nothing, and the largest limit that their noise may
// ask for.
const rough = 1e-2

// decide says whether the forces are minus the gradient. Noise of the differences raises the limit, as far as a
// hundredth; an error above it counts where the differences are ten times as good, and where they are not nothing is
// decided. What is not finite is no noise but a failure.
func (r *Result) decide(limit float64) {
	r.Limit = max(share, limit)
	if r.Plateau <= rough {
		r.Limit = max(r.Limit, min(10*r.Plateau, rough))
	}
	switch {
	case r.NonFinite > 0:
	case !(r.Plateau <= rough):
		r.Undecided = true
	case r.Gradient.Value <= r.Limit:
		r.Conservative = true
	case !(10*r.Plateau <= r.Gradient.Value):
		r.Undecided = true
	}
}

// conclude says what holds, and why not.
func (t *tester) conclude(r *Result, limit float64) {
	p := t.p
	r.decide(limit)
	yes := func(ok bool) string {
		if ok {
			return "holds"
		}
		return "fails"
	}
	row := func(what string, i audit.Interval, limit float64, answer string) []audit.Cell {
		return []audit.Cell{
			audit.Word(what), audit.Num(i.Value), audit.Num(i.Lo), audit.Num(i.Hi), audit.Num(limit),
			audit.Word(answer),
		}
	}
	loop := map[bool]string{true: yes(r.closed()), false: "undecided"}[r.closed() || r.open()]
	p.Show(audit.Exhibit{
		Name: "forces", Title: "Energy and forces",
		Table: &audit.Table{
			Columns: []audit.Column{
				{Name: "question"},
				{Name: "error"},
				{Name: "at least"},
				{Name: "at most"},
				{Name: "limit"},
				{Name: "answer"},
			},
			Rows: [][]audit.Cell{
				row(t.names[0]+" is invariant", r.Energy, limit, yes(r.Invariant)),
				row(t.names[1]+" are equivariant", r.Forces, limit, yes(r.Equivariant)),
				row(t.names[1]+" are minus the gradient of "+t.names[0], r.Gradient, r.Limit,
					map[bool]string{true: "undecided", false: yes(r.Conservative)}[r.Undecided]),
				row(t.names[1]+" do no work around a loop", r.Work, r.Limit, loop),
			},
		},
		Note: "The first two are errors over the scales of the fields, over all elements; the third is relative to " +
			"the force along random directions; the fourth to the work along a circle.",
	})
	p.Measure(
		audit.Measured("error of "+t.names[0]+", largest per input", r.Energy, "").Against(limit),
		audit.Measured("error of "+t.names[1]+", largest per input", r.Forces, "").Against(limit),
		audit.Measured(t.names[1]+" against minus the gradient of "+t.names[0], r.Gradient, "").Against(r.Limit),
		audit.Measured("work around a loop over work along it", r.Work, "").Against(r.Limit),
		audit.Number("disagreement of differences on the plateau", r.Plateau, ""),
		audit.Number("factor between forces and minus the gradient", r.Factor, ""),
	)
	ev := []audit.Evidence{audit.Measured(t.names[1]+" against minus the gradient of "+t.names[0], r.Gradient,
		"").Against(r.Limit), audit.Measured("work around a loop over work along it", r.Work, "").Against(r.Limit)}
	p.Clue(audit.Clue{
		Name: audit.ClueEnergy, Holds: !r.Invariant, Strength: 1, Location: t.names[0],
		Text: fmt.Sprintf("%s errs by %s of its scale", t.names[0], audit.Figures(r.Energy.Value)),
	})
	p.Clue(audit.Clue{
		Name: audit.ClueForces, Holds: !r.Equivariant, Strength: 1, Location: t.names[1],
		Text: fmt.Sprintf("%s err by %s of their scale", t.names[1], audit.Figures(r.Forces.Value)),
	})
	if r.Undecided {
		p.Report(audit.Finding{
			Category: audit.Undecided, Location: t.names[1], Worst: audit.Nowhere,
			Evidence: []audit.Evidence{audit.Number("disagreement of differences on the plateau", r.Plateau,
				"").Against(min(rough, r.Gradient.Value/10))},
			Message: fmt.Sprintf(
				"whether %s are minus the gradient of %s is undecided: differences of %s disagree by %s from step to "+
					"step, and with the forces by %s",
				t.names[1], t.names[0], t.names[0], audit.Figures(r.Plateau), audit.Figures(r.Gradient.Value)),
			Remedies: []string{
				"audit the model where it can be evaluated in float64",
				"choose another radius of the differences: forces.radius",
			},
		})
		return
	}
	if r.NonFinite > 0 { // says nothing of where the forces come from
		p.Report(audit.Finding{
			Category: audit.Gradient, Location: t.names[1], Worst: audit.Nowhere,
			Evidence: []audit.Evidence{audit.Number("differences and forces that are not finite", float64(r.NonFinite),
				"numbers").Against(0)},
			Message: fmt.Sprintf("%d differences of %s, or %s along them, are not finite close to the inputs",
				r.NonFinite, t.names[0], t.names[1]),
			Remedies: []string{"look for roots, logarithms and quotients of distances that vanish, and for cut-offs"},
		})
		return
	}
	c := audit.Clue{
		Name: audit.ClueNotConservative, Holds: !r.Conservative, Strength: 1, Location: t.names[1], Evidence: ev,
		Text: fmt.Sprintf("%s differ from minus the gradient of %s by %s of their size", t.names[1], t.names[0],
			audit.Figures(r.Gradient.Value)),
	}
	p.Clue(c)
	f := audit.Clue{
		Name: audit.ClueForceFactor, Holds: r.scaled(), Strength: 1, Location: t.names[1],
		Text: "no factor brings forces and gradient together",
	}
	if f.Holds {
		f.Text = t.names[1] + ": " + t.why(r)
	}
	if r.Conservative {
		return
	}
	p.Clue(f)
	p.Report(audit.Finding{
		Category: audit.Gradient, Location: t.names[1], Worst: audit.Nowhere, Evidence: ev,
		Message: c.Text + ": " + t.why(r), Remedies: t.remedies(r),
	})
}

// closed and open say whether the forces do no work around a loop, or some. Work around the loops that were taken is
// work, whatever others do; that there is none around any loop takes an interval below the limit. Between the two it is
// undecided. NaN limits decide nothing.
func (r *Result) closed() bool { return r.Work.Hi <= r.Limit }
func (r *Result) open() bool   { return r.Work.Value > r.Limit }

// scaled reports whether a factor other than 1 brings forces and gradient together.
func (r *Result) scaled() bool { return !r.Conservative && r.Left <= r.Limit }

// why names the cause of forces that are not minus the gradient.
func (t *tester) why(r *Result) string {
	switch {
	case r.scaled() && math.Abs(r.Factor+1) <= r.Limit:
		return "they are the gradient itself: the sign is wrong"
	case r.scaled() && r.Factor < 0:
		return fmt.Sprintf("they are the gradient times %s: the sign is wrong, and the unit another",
			audit.Figures(-r.Factor))
	case r.scaled():
		return fmt.Sprintf("they are minus the gradient times %s: another unit", audit.Figures(r.Factor))
	case r.closed():
		return "they are the gradient of something else, for they do no work around a loop"
	case !r.open():
		return fmt.Sprintf("whether they are the gradient of something else is undecided: the work around a loop is "+
			"%s of that along it, in [%s, %s], limit %s",
			audit.Figures(r.Work.Value), audit.Figures(r.Work.Lo), audit.Figures(r.Work.Hi), audit.Figures(r.Limit))
	case r.Invariant && r.Equivariant:
		return "equivariant and not conservative, as those of a head of their own: a direct force head"
	case r.Equivariant:
		return "they do work around a loop, and the energy is not invariant"
	}
	return "they do work around a loop, and they are not equivariant either: nothing ties them to the energy"
}

func (t *tester) remedies(r *Result) []string {
	if r.scaled() {
		return []string{"multiply the forces by that factor, or bring both to one unit"}
	}
	return []string{
		"take the forces as minus the gradient of the energy",
		"do not use them for dynamics at constant energy: it drifts by the work around loops",
	}
}
