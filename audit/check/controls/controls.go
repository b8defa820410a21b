// Package controls is the check that holds the audit itself against cases with a known answer: nothing must show where
// nothing is, and something must show where something was planted.
package controls

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"nero/audit"
	"nero/audit/check/preflight"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
	"nero/symmetry/group"
)

// Check is the control check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "controls",
	Title: "Is the test itself sound?",
	Doc: `Controls ask how small an error this audit can see. The error at the identity must sit at the floor of repeats, batches and rounding. The
rounding floor is the largest change of an output when every input number moves by one ulp of float32, or the noise of the evaluation itself if
that is larger: what a symmetric second difference leaves, |f(x+d) + f(x-d) - 2f(x)| over the root of 6, at d of 1024 ulps; and never less than
one roundoff of the largest output number. Outputs that vary no more than rounding make every test vacuous. The same model plus a known asymmetric term of relative size ε, over decades of ε, must be told from the model as it
is: the smallest ε from which on it always is, is the detectable size. Channels that do not vary, inputs that are blank as the model reads
them, outputs far from zero and a threshold below the rounding floor are named.`,
	Params: []audit.Param{
		{
			Name: "samples", Doc: "Inputs of the planted break and of the rounding floor, spread over the data.",
			Default: 24, Min: 2, Max: 10000,
		},
		{Name: "elements", Doc: "Elements of the planted break, per set.", Default: 8, Min: 1, Max: 1000},
		{Name: "draws", Doc: "Random one-ulp changes of each input.", Default: 4, Min: 1, Max: 1000},
	},
	Requires: []*audit.Check{preflight.Check, sweep.Check},
	Views:    true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		n := min(int(p.Param("samples")), p.Subject.N)
		return n*(3+int(p.Param("draws"))) + n*(1+len(p.PickElements(int(p.Param("elements")))))
	},
}

// Result is what the judgment of a set needs to know about the audit.
type Result struct {
	Floors audit.Floors
	Facts  audit.Facts
	// Detectable is the smallest detected break on the exact and on the other elements, relative to s: +Inf if none
	// was, NaN if no break could be planted.
	Detectable map[bool]float64
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	pre := audit.ResultOf[*preflight.Result](p, preflight.Check)
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	r := &Result{Detectable: map[bool]float64{true: math.NaN(), false: math.NaN()}}
	r.Facts.ActionLaws, r.Facts.Views = pre.Laws, group.IsLawless(p.Subject.Plan.Group)
	s, u := sw.Scale, roundoff(p)
	one, err := rounding(ctx, p, 1, !sw.Mask)
	if err != nil {
		return nil, err
	}
	round, at := max(one.jitter, one.noise), one.at
	if max(pre.Repeat, pre.Batch) > 0 {
		// The response to one ulp contains whatever else changes an output. That of many ulps contains it once as well,
		// and the response to the input many times; a model that rounds its last layer has no less than a few roundings
		// of its output.
		many, err := rounding(ctx, p, manyUlps, false)
		if err != nil {
			return nil, err
		}
		round = min(round, max(many.jitter/manyUlps, fewRoundings*u*sw.RMS))
	}
	if !sw.Mask {
		// a number of that size cannot be told from its neighbor
		round = max(round, u*one.size, p.Gauge().Roundoff(u))
	}
	rel := func(x float64) float64 {
		if !(s > 0) {
			return math.NaN()
		}
		return x / s
	}
	r.Floors = audit.Floors{Repeat: rel(pre.Repeat), Batch: rel(pre.Batch), Rounding: rel(round)}
	p.Measure(audit.Number("rounding floor", r.Floors.Rounding, ""), audit.Number("repeat floor", r.Floors.Repeat, ""),
		audit.Number("batch floor", r.Floors.Batch, ""))
	// An output of size RMS carries roundings of size u·RMS, whatever the input does, and many of them after a long
	// sum; what all scores have in common is added last.
	r.Facts.ScaleFloor = max(vacuous*u*sw.RMS, p.Policy.RoundingFactor*round)
	if p.Gauge().Centred {
		r.Facts.ScaleFloor = p.Policy.RoundingFactor * max(u*sw.RMS, round)
	}
	if err := inputScale(p); err != nil {
		return nil, err
	}
	r.Facts.Vacuous = !(s > r.Facts.ScaleFloor)
	if len(sw.IDs) > 1 {
		constant(p, sw, r.Facts.Vacuous)
		outlier(p, sw)
	}
	if r.Facts.Vacuous {
		f := audit.Finding{
			Category: audit.Vacuous, Location: "output", Worst: audit.Nowhere,
			Message: fmt.Sprintf("the outputs vary by %.2g over %d inputs, no more than rounding: no error can show",
				s, len(sw.IDs)),
			Evidence: []audit.Evidence{audit.Number("scale s of the outputs", s, "output").Against(r.Facts.ScaleFloor)},
			Remedies: []string{
				"use several different inputs, scaled as the model expects them",
				"look for a dead layer or a collapsed model: the output does not depend on the input",
			},
		}
		if len(sw.IDs) == 1 {
			f.Message = "one input has no spread to measure errors against"
			f.Remedies = []string{"give at least two"}
		}
		p.Report(f)
		return r, nil
	}
	still(p)
	noise(p, r.Floors, at)
	companions(p, pre, s, r.Floors)
	offset(p, sw)
	unreachable(p, sw, r.Floors)
	identity(p, sw, r.Floors)
	if err := planted(ctx, p, sw, r); err != nil {
		return nil, err
	}
	return r, nil
}

// still reports fields of the output that do not vary: no error can show in them.
func still(p *audit.Pass) {
	g := p.Gauge()
	if len(g.Names) == 0 {
		return // channels that do not vary are named with those that do
	}
	for _, i := range g.Still {
		f := g.Parts[i].Name
		p.Report(audit.Finding{
			Category: audit.Vacuous, Location: "output " + f, Worst: audit.Nowhere,
			Message: f + " does not vary over the inputs beyond rounding, so no error can show there",
			Evidence: []audit.Evidence{audit.Number("parts that do not vary", float64(len(g.Still)),
				fmt.Sprintf("of %d", len(g.Parts))).Against(0)},
			Remedies: []string{"use inputs that differ in it, or leave the field out of the output"},
		})
	}
}

const (
	manyUlps     = 1024
	fewRoundings = 16
)

// vacuous is how many unit roundoffs of its size an output must vary by to count as varying.
const vacuous = 64

func roundoff(p *audit.Pass) float64 {
	if p.Subject.Roundoff == 0 {
		return 1.0 / (1 << 24)
	}
	return p.Subject.Roundoff
}

// rounded is what rounding does to the outputs, in their unit.
type rounded struct {
	// largest ‖f(x + ulps) - f(x)‖
	jitter float64
	// the sample that shows it
	at audit.Where
	// largest noise of the evaluation, 0 if it was not asked for
	noise float64
	// largest |component| of f(x)
	size float64
}

// Roles of a request for rounding; random changes of the input come after them.
const (
	unmoved = iota
	above   // f(x + d)
	below   // f(x - d)
	jitters
)

// rounding measures what the rounding of the inputs does, and if second is set also what rounding inside the model
// does.
//
// Inputs that move by an ulp may cancel on the way to the output, as in a mean over many pixels, while a sum in another
// order does not come out the same. The noise of the evaluation is therefore measured as ‖f(x+d) + f(x-d) - 2f(x)‖/√6,
// with d of random sign and [manyUlps] ulps of every input number, about 2⁻¹⁴ of it. Both x+d and x-d are float32
// numbers. For smooth f the first order cancels and the curvature leaves a term of the order of 2⁻²⁸; what is left is
// rounding inside the model, three independent errors of it with the weights 1, 1 and -2, hence the root of 6.
func rounding(ctx context.Context, p *audit.Pass, ulps float64, second bool) (rounded, error) {
	identity := audit.NewMover(p.Subject.Plan.In, p.Subject.Plan.Group.Identity())
	pick := p.Pick(int(p.Param("samples")))
	ids := make([]string, p.Subject.N) // each written before its first prediction is asked for
	stream := func(yield func(audit.Request, error) bool) {
		for _, i := range pick {
			s, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			ids[i] = s.ID
			x, err := identity.Move(s.Value)
			if err != nil {
				yield(audit.Request{}, fmt.Errorf("sample %s: %w", s.ID, err))
				return
			}
			send := func(role int, ulps float64, r *rand.Rand) bool {
				y, err := audit.Jittered(x, p.Subject.Input, ulps, r)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s: %w", s.ID, err))
					return false
				}
				return yield(audit.Request{Sample: i, Role: role, Input: y}, nil)
			}
			if !yield(audit.Request{Sample: i, Role: unmoved, Input: x}, nil) {
				return
			}
			// Equal generators give equal signs, so the two lie opposite each other.
			if second && (!send(above, manyUlps, p.Rand("second", s.ID)) ||
				!send(below, -manyUlps, p.Rand("second", s.ID))) {
				return
			}
			r := p.Rand("jitter", s.ID)
			for d := range int(p.Param("draws")) {
				if !send(jitters+d, ulps, r) {
					return
				}
			}
		}
	}
	out := rounded{at: audit.Nowhere}
	var base, up space.Value
	err := p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
		switch q.Role {
		case unmoved:
			base = y
			numbers := p.Numbers(y)
			if p.Gauge().Centred { // what they have in common is rounded with them
				numbers = y.Numbers()
			}
			for _, v := range numbers {
				if v = math.Abs(v); v > out.size && !math.IsInf(v, 1) {
					out.size = v
				}
			}
			return nil
		case above:
			up = y
			return nil
		case below:
			n, err := SecondDifference(p, up, base, y)
			if n > out.noise {
				out.noise = n
			}
			return err
		}
		d, err := p.Compare(y, base)
		if d.Norm > out.jitter {
			out.jitter, out.at = d.Norm, audit.Where{Sample: ids[q.Sample], Index: q.Sample}
		}
		return err
	})
	return out, err
}

// SecondDifference is ‖up + down - 2·middle‖/√6, the noise of an evaluation that three answers show, see the doc of
// [Check]; NaN if a number is not finite.
func SecondDifference(p *audit.Pass, up, middle, down space.Value) (float64, error) {
	var x [3][]float64
	for i, v := range []space.Value{up, middle, down} {
		x[i] = space.Nearest(v, middle).Numbers()
	}
	if len(x[0]) != len(x[1]) || len(x[2]) != len(x[1]) {
		return 0, fmt.Errorf("%w: %s, %s and %s", scale.ErrForm, up.Form(), middle.Form(), down.Form())
	}
	odd := make([]float64, len(x[1]))
	for i, m := range x[1] {
		odd[i] = (x[0][i] - m) + (x[2][i] - m)
	}
	a, err := middle.With(odd)
	if err != nil {
		return 0, err
	}
	zero, err := middle.With(make([]float64, len(odd)))
	if err != nil {
		return 0, err
	}
	d, err := p.Compare(a, zero)
	return d.Norm / math.Sqrt(6), err
}

// noise reports a model that answers the same question differently.
func noise(p *audit.Pass, f audit.Floors, at audit.Where) {
	if !p.Policy.Noisy(f) {
		return
	}
	limit := p.Policy.RoundingFactor * f.Rounding
	if f.Repeat > limit {
		p.Report(audit.Finding{
			Category: audit.NonRepeatable, Location: "model", Worst: at,
			Message: fmt.Sprintf(
				"the same input gives outputs that differ by %.2g of their scale: the model is stochastic", f.Repeat),
			Evidence: []audit.Evidence{audit.Number("repeat floor", f.Repeat, "").Against(limit)},
			Remedies: []string{
				"export the model in evaluation mode, without dropout and sampling",
				"audit the mean of several repeats",
			},
		})
		return // with noise, batches differ for that reason alone
	}
	p.Report(audit.Finding{
		Category: audit.BatchDependent, Location: "model", Worst: at,
		Message: fmt.Sprintf(
			"an output changes by %.2g of its scale with its place in the batch or the size of the batch", f.Batch),
		Evidence: []audit.Evidence{audit.Number("batch floor", f.Batch, "").Against(limit)},
		Remedies: []string{
			"look for a reshape or a mean that mixes the batch axis",
			"export batch normalisation in evaluation form",
		},
	})
}

// identity holds the error at g = e against the floors.
func identity(p *audit.Pass, sw *sweep.Result, f audit.Floors) {
	most, at := 0.0, -1
	for i, e := range sw.Identity {
		if e/sw.Scale > most {
			most, at = e/sw.Scale, i
		}
	}
	limit := p.Policy.RoundingFactor * max(f.Repeat, f.Batch, f.Rounding)
	p.Measure(audit.Number("error at the identity", most, "").Against(limit))
	p.Clue(audit.Clue{
		Name: audit.ClueIdentityError, Holds: !(most <= limit), Strength: sweep.Clarity(most, limit),
		Location: "output action",
		Text: fmt.Sprintf("the error at the identity is %.2g, repeats, batches and rounding give up to %.2g", most,
			limit),
		Evidence: []audit.Evidence{audit.Number("error at the identity", most, "").Against(limit)},
	})
	if most <= limit {
		return
	}
	e := p.Subject.Plan.Group.Identity()
	p.Report(audit.Finding{
		Category: audit.IdentityControl, Location: "output action",
		Worst:    audit.Where{Sample: sw.IDs[at], Index: at, Element: e, Label: "the identity"},
		Message:  fmt.Sprintf("there is an error of %.2g at the identity, where nothing moves", most),
		Evidence: []audit.Evidence{audit.Number("error at the identity", most, "").Against(limit)},
		Remedies: []string{
			"check that the output action leaves the output alone at the identity: a kernel that blurs does not",
			"declare the representation that the output has",
		},
	})
}

// sizes are the planted breaks, relative to s, largest first.
func sizes() []float64 {
	var e []float64
	for k := 1; k >= -8; k-- {
		e = append(e, elementary.Pow(10, float64(k)))
	}
	return e
}

// plant is what the control of one set has seen of one sample: the largest error without and with each break.
type plant struct {
	plain []float64
	with  [][]float64
}

// planted adds ε·s·a(x)·v to every output, v a fixed unit vector and a(x) = w·x a fixed random projection of the moved
// input with unit spread over the inputs, and finds from which ε on the judged error rises above that of the model as
// it is.
func planted(ctx context.Context, p *audit.Pass, sw *sweep.Result, r *Result) error {
	pick := p.Pick(int(p.Param("samples")))
	use := p.PickElements(int(p.Param("elements")))
	proj, err := projection(p, pick)
	if err != nil {
		return err
	}
	eps := sizes()
	sets := map[bool]*plant{}
	for _, j := range use {
		if e := p.Elements[j].Exact; sets[e] == nil {
			sets[e] = &plant{with: make([][]float64, len(eps))}
		}
	}
	back := audit.Movers(p.Subject.Plan.Out, p.Elements, p.Subject.Plan.Group.Inv)
	// What is known of the sample at hand.
	var base space.Value
	var based []space.Value
	var dir []float64
	dirs := map[string][]float64{}
	begin := func() {
		for _, s := range sets {
			s.plain = append(s.plain, math.NaN())
			for k := range eps {
				s.with[k] = append(s.with[k], math.NaN())
			}
		}
	}
	raise := func(x []float64, e float64) {
		if i := len(x) - 1; !(x[i] >= e) && !math.IsNaN(e) {
			x[i] = e
		}
	}
	u := roundoff(p)
	each := func(q audit.Request, y space.Value) error {
		if q.Role == 0 {
			begin()
			base, based = y, based[:0]
			form := y.Form()
			if dirs[form] == nil {
				dirs[form] = p.Direction(y, p.Rand("direction", ""))
			}
			dir = dirs[form]
			for _, e := range eps {
				b, err := audit.Shifted(y, e*sw.Scale*q.Aux, dir, u)
				if err != nil {
					return err
				}
				based = append(based, b)
			}
			return nil
		}
		set := sets[p.Elements[q.Element].Exact]
		z, err := back[q.Element].Move(y)
		if err != nil {
			return err
		}
		d, err := p.Compare(z, base)
		if err != nil {
			return err
		}
		raise(set.plain, d.Norm/sw.Scale)
		for k, e := range eps {
			b, err := audit.Shifted(y, e*sw.Scale*q.Aux, dir, u)
			if err != nil {
				return err
			}
			if z, err = back[q.Element].Move(b); err != nil {
				return err
			}
			if d, err = p.Compare(z, based[k]); err != nil {
				return err
			}
			raise(set.with[k], d.Norm/sw.Scale)
		}
		return nil
	}
	if err := p.Predict(ctx, inputs(p, pick, use, proj), each); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			p.Report(audit.Finding{
				Category: audit.PositiveControl, Location: "audit", Worst: audit.Nowhere,
				Message: "no break can be planted into this kind of output, so the detectable size is not known: " +
					err.Error(),
				Evidence: []audit.Evidence{audit.Number("breaks planted", 0, "")},
			})
			return nil
		}
		return err
	}
	for _, exact := range []bool{true, false} {
		if s := sets[exact]; s != nil {
			r.Detectable[exact] = detectable(p, s, eps, p.Policy.RoundingFactor*max(r.Floors.Rounding, 0))
			judge(p, exact, r.Detectable[exact], s)
		}
	}
	return nil
}

// detectable is the smallest ε from which on every break is detected: the interval of the error with it lies above that
// without.
func detectable(p *audit.Pass, s *plant, eps []float64, floor float64) float64 {
	plain := audit.MeanInterval(s.plain, p.Policy.Confidence)
	size := math.Inf(1)
	for k, e := range eps {
		with := audit.MeanInterval(s.with[k], p.Policy.Confidence)
		if !(with.Lo > plain.Hi) || !(with.Lo > floor) {
			break
		}
		size = e
	}
	return size
}

// reach is how far above the threshold a break may have to be to be seen before the control counts as missed.
const reach = 10

func judge(p *audit.Pass, exact bool, size float64, s *plant) {
	name := sweep.Continuous
	if exact {
		name = sweep.Exact
	}
	p.Measure(audit.Number("detectable size on "+name, size, ""))
	limit := reach * p.Policy.Threshold * (1 + 1e-9)
	plain := audit.MeanInterval(s.plain, p.Policy.Confidence)
	if size <= limit || plain.Value > p.Policy.Threshold {
		return // seen, or hidden behind an error of the model that is itself above the threshold
	}
	message := fmt.Sprintf("%s: a planted break of %.0e was not detected", name, reach*p.Policy.Threshold)
	why := "no planted break was detected"
	if !math.IsInf(size, 1) {
		why = fmt.Sprintf("the smallest that was is %.0e", size)
	}
	p.Report(audit.Finding{
		Category: audit.PositiveControl, Set: name, Location: "audit", Worst: audit.Nowhere,
		Message: message + ": " + why,
		Evidence: []audit.Evidence{
			audit.Number("detectable size", size, "").Against(reach * p.Policy.Threshold),
			audit.Measured("error without a planted break", plain, ""),
		},
		Remedies: []string{
			"use inputs that change more under the group, or more of them",
			"judge the exact elements, where nothing hides a break",
		},
	})
}

// projection returns a(x): a fixed random projection of the numbers of x, divided by its spread over the picked inputs.
func projection(p *audit.Pass, pick []int) (func(space.Value) float64, error) {
	var w []float64
	random := p.Rand("projection", "")
	raw := func(v space.Value) float64 {
		x := v.Numbers()
		for len(w) < len(x) {
			w = append(w, 2*random.Float64()-1)
		}
		var a float64
		for i, v := range x {
			a += float64(w[i] * v)
		}
		return a
	}
	identity := audit.NewMover(p.Subject.Plan.In, p.Subject.Plan.Group.Identity())
	var n int
	var mean, m2, square float64
	for _, i := range pick {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		x, err := identity.Move(s.Value)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		a := raw(x)
		n++
		d := a - mean
		mean += d / float64(n)
		m2 += float64(d * (a - mean))
		square += float64(a * a)
	}
	spread := math.Sqrt(m2 / float64(n))
	if !(spread > 0) {
		spread = math.Sqrt(square / float64(n))
	}
	if !(spread > 0) {
		spread = 1
	}
	return func(v space.Value) float64 { return (raw(v) - mean) / spread }, nil
}

// inputs streams the picked samples, unmoved and at the chosen elements, each with its projection.
func inputs(p *audit.Pass, pick, use []int, proj func(space.Value) float64) func(func(audit.Request,
	error) bool) {
	G, in := p.Subject.Plan.Group, p.Subject.Plan.In
	identity := audit.NewMover(in, G.Identity())
	there := audit.Movers(in, p.Elements, func(g group.Element) group.Element { return g })
	return func(yield func(audit.Request, error) bool) {
		for _, i := range pick {
			s, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			send := func(j, role int, m *audit.Mover) bool {
				x, err := m.Move(s.Value)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s: %w", s.ID, err))
					return false
				}
				return yield(audit.Request{Sample: i, Element: j, Role: role, Aux: proj(x), Input: x}, nil)
			}
			if !send(-1, 0, identity) {
				return
			}
			for _, j := range use {
				if !send(j, 1, there[j]) {
					return
				}
			}
		}
	}
}
