// Package search is the check that looks for errors between the elements of a plan.
package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/internal/elementary"
	"nero/measure/aggregate"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the search check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "search",
	Title: "Worse places between the elements",
	Doc: `Search asks whether a larger error hides between the elements of a plan of continuous ones. A few inputs visit more elements, spread over the
gaps of the plan, and the worst pairs of input and element are refined: one coordinate at a time up and down by a radius that halves where neither
is worse. What is found was chosen for its size, so it is named as search and enters no set and no certificate. The bound largest error of the
plan + L·h/2, with h the largest gap and L the steepest slope seen, is a heuristic. A plan of n independent elements misses a defect of width w in
a period P with probability (1 - w/P)ⁿ, which is given for w = 5 degrees, beside the chance that the plan itself misses one that lies anywhere
on the circle alike.`,
	Params: []audit.Param{
		{
			Name: "samples", Doc: "Inputs that visit more elements, spread over the data.", Default: 4, Min: 1,
			Max: 10000,
		},
		{Name: "scan", Doc: "More elements that each of them visits.", Default: 72, Min: 0, Max: 10000},
		{Name: "starts", Doc: "Worst pairs of input and element that are refined.", Default: 4, Min: 1, Max: 1000},
		{Name: "steps", Doc: "Steps of each refinement.", Default: 12, Min: 1, Max: 1000},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
}

// Result is the largest errors that were found, the largest first.
type Result struct{ Found []Found }

// Found is one refined pair.
type Found struct {
	At audit.Where
	// relative to the scale of the outputs
	Error float64
	// of resampling there; NaN if it is not known
	Floor float64
	// the element where the refinement began
	From string
	// the error there
	FromErr float64
	// largest error of this input on the plan
	PlanMost float64
}

const (
	width = 5.0 // degrees, of the defect whose chance to be missed is given
	peak  = 2.0 // how many times the largest error of the plan makes a peak
	wide  = 6.0 // how many times the median gap of a plan is a part of the orbit that the plan leaves out
)

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if !slices.ContainsFunc(p.Elements, func(e audit.Element) bool { return !e.Exact }) {
		return nil, fmt.Errorf("%w: every element acts without resampling", audit.ErrNotApplicable)
	}
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	o := newOrbit(p)
	if len(o.free) == 0 {
		return nil, fmt.Errorf("%w: no coordinate of %s is continuous, so there is nothing between the elements",
			audit.ErrNotApplicable, p.Subject.Plan.Group.Name())
	}
	s := &seeker{p: p, sw: sw, o: o, samples: map[int]*sample{}}
	scanned, err := s.scan(ctx)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if r.Found, err = s.refine(ctx, s.starts(scanned)); err != nil {
		return nil, err
	}
	s.report(r, scanned)
	s.conclude(r, c)
	return r, nil
}

// orbit is where the plan lies in its chart.
type orbit struct {
	G     group.Group
	chart []group.Axis
	// axes that are continuous
	free []int
	// range of the plan on every axis, on its own scale
	lo, hi []float64
	// of every axis
	gaps [][]gap
	// largest gap on every axis, on its own scale; 0 where the axis is not free
	step []float64
}

// gap is where a plan has no coordinate, on the scale of the axis.
type gap struct{ from, to float64 }

func (g gap) size() float64 { return g.to - g.from }

// scale turns a coordinate into the scale on which steps are equal: the logarithm of a factor.
func (o *orbit) scale(axis int, x float64) float64 {
	if o.chart[axis].Form() == group.FormFactor {
		return elementary.Log(x)
	}
	return x
}

func (o *orbit) unscale(axis int, x float64) float64 {
	if o.chart[axis].Form() == group.FormFactor {
		return elementary.Exp(x)
	}
	return x
}

// period of an axis, 0 if it has none.
func (o *orbit) period(axis int) float64 {
	if a := o.chart[axis]; a.Periodic {
		return a.Max - a.Min
	}
	return 0
}

func newOrbit(p *audit.Pass) *orbit {
	o := &orbit{G: p.Subject.Plan.Group}
	o.chart = o.G.Chart()
	all := []group.Element{o.G.Identity()}
	for _, e := range p.Elements {
		all = append(all, e.G)
	}
	steps := group.Steps(o.G)
	n := len(o.chart)
	o.lo, o.hi, o.step, o.gaps = make([]float64, n), make([]float64, n), make([]float64, n), make([][]gap, n)
	for a := range o.chart {
		var x []float64
		for _, g := range all {
			x = append(x, o.scale(a, g[a]))
		}
		slices.Sort(x)
		x = slices.Compact(x)
		o.lo[a], o.hi[a] = x[0], x[len(x)-1]
		if steps[a] != 0 || len(x) < 2 {
			continue
		}
		o.free = append(o.free, a)
		o.axis(a, x)
	}
	return o
}

// axis finds the gaps among the sorted coordinates of the plan on one axis. Those that are far wider than the others
// are no gaps but parts of the orbit that the plan says nothing of.
func (o *orbit) axis(a int, x []float64) {
	gaps := make([]gap, 0, len(x))
	sizes := make([]float64, 0, len(x))
	for i := 1; i < len(x); i++ {
		gaps, sizes = append(gaps, gap{x[i-1], x[i]}), append(sizes, x[i]-x[i-1])
	}
	slices.Sort(sizes)
	limit := wide * sizes[(len(sizes)-1)/2]
	if p := o.period(a); p > 0 {
		last := gap{x[len(x)-1], x[0] + p}
		if gaps = append(gaps, last); last.size() <= limit {
			o.lo[a], o.hi[a] = o.chart[a].Min, o.chart[a].Max
		}
	}
	o.gaps[a] = slices.DeleteFunc(gaps, func(g gap) bool { return g.size() > limit })
	for _, g := range o.gaps[a] {
		o.step[a] = max(o.step[a], g.size())
	}
}

// inside reports whether a coordinate, on the scale of its axis, lies within what the plan visits.
func (o *orbit) inside(a int, x float64) bool {
	p := o.period(a)
	return slices.ContainsFunc(o.gaps[a], func(g gap) bool {
		return (g.from <= x && x <= g.to) || (p > 0 && g.from <= x+p && x+p <= g.to) ||
			(p > 0 && g.from <= x-p && x-p <= g.to)
	})
}

// between is about n more elements in the gaps of the plan: with one free axis where the gaps are widest, for every
// setting of the others that the plan has; else of low discrepancy in its range. spacing is the largest gap that is
// left on the one free axis; NaN with more.
func (o *orbit) between(n int, plan []audit.Element) (more []group.Element, spacing float64) {
	if len(o.free) != 1 {
		return o.spread(n), math.NaN()
	}
	a := o.free[0]
	gaps := o.gaps[a]
	if len(gaps) == 0 {
		return nil, 0
	}
	settings := o.settings(a, plan)
	parts := make([]int, len(gaps)) // that a gap is cut into
	for i := range parts {
		parts[i] = 1
	}
	size := func(i int) float64 { return gaps[i].size() / float64(parts[i]) }
	widest := func() int {
		at := 0
		for i := range parts {
			if size(i) > size(at) {
				at = i
			}
		}
		return at
	}
	for range n / len(settings) {
		parts[widest()]++
	}
	for _, e := range settings {
		for i, g := range gaps {
			for k := 1; k < parts[i]; k++ {
				h := slices.Clone(e)
				h[a] = o.unscale(a, g.from+float64(float64(k)*size(i)))
				more = append(more, o.canonical(h))
			}
		}
	}
	return more, size(widest())
}

// settings are the elements of the plan, the identity among them, that differ by more than the coordinate on axis a.
func (o *orbit) settings(a int, plan []audit.Element) []group.Element {
	out := []group.Element{o.G.Identity()}
	for _, e := range plan {
		g := slices.Clone(e.G)
		g[a] = out[0][a]
		if !slices.ContainsFunc(out, func(h group.Element) bool { return slices.Equal(g, h) }) {
			out = append(out, g)
		}
	}
	return out
}

// spread is up to n elements within the range of the plan.
func (o *orbit) spread(n int) []group.Element {
	window := make([][2]float64, len(o.chart))
	for a := range window {
		window[a] = [2]float64{o.unscale(a, o.lo[a]), o.unscale(a, o.hi[a])}
	}
	if n == 0 {
		return nil
	}
	more, err := group.LowDiscrepancy(o.G, n, window)
	if err != nil {
		return nil // a range that has no inside, such as that of a plan along one line of several axes
	}
	return slices.DeleteFunc(more, func(g group.Element) bool {
		return slices.ContainsFunc(o.free, func(a int) bool { return !o.inside(a, o.scale(a, g[a])) })
	})
}

func (o *orbit) canonical(e group.Element) group.Element { return o.G.Mul(e, o.G.Identity()) }

// moved is an element with one coordinate moved by d on its own scale; ok is false outside the range of the plan.
func (o *orbit) moved(g group.Element, axis int, d float64) (group.Element, bool) {
	x := o.scale(axis, g[axis]) + d
	if !o.inside(axis, x) {
		return nil, false
	}
	h := slices.Clone(g)
	h[axis] = o.unscale(axis, x)
	return o.canonical(h), true
}

// starts are the worst pairs of the sweep and of the scan, no two alike. A pair is alike another if it is of the same
// element, or of the same input and no farther from it than a step.
func (s *seeker) starts(scanned []probe) []probe {
	m := len(s.p.Elements)
	var all []probe
	for k, e := range s.sw.Err {
		if j := k % m; !s.p.Elements[j].Exact && !math.IsNaN(e) {
			all = append(all, probe{sample: k / m, g: s.p.Elements[j].G, err: e / s.sw.Scale})
		}
	}
	for _, q := range scanned {
		if !math.IsNaN(q.err) {
			all = append(all, q)
		}
	}
	slices.SortStableFunc(all, func(a, b probe) int { return cmp.Compare(b.err, a.err) })
	var out []probe
	for _, q := range all {
		if len(out) == int(s.p.Param("starts")) {
			break
		}
		if !slices.ContainsFunc(out, func(o probe) bool {
			return s.o.G.Dist(o.g, q.g) == 0 || (o.sample == q.sample && s.o.near(o.g, q.g))
		}) {
			out = append(out, q)
		}
	}
	return out
}

// near reports whether two elements are within a step of each other on every free axis and equal on the others.
func (o *orbit) near(g, h group.Element) bool {
	for a := range o.chart {
		d := math.Abs(o.scale(a, g[a]) - o.scale(a, h[a]))
		if p := o.period(a); p > 0 {
			d = min(d, p-d)
		}
		if d > o.step[a] {
			return false
		}
	}
	return true
}

// conclude says whether there is a peak between the elements. An error that resampling or rounding explains is none.
func (s *seeker) conclude(r *Result, c *controls.Result) {
	p := s.p
	top := s.top()
	floor := p.Policy.RoundingFactor * max(c.Floors.Rounding, c.Floors.Repeat, 0)
	large := func(f Found) bool {
		return f.Error > p.Policy.Threshold && f.Error > floor && !(f.Error <= peak*f.Floor)
	}
	var best *Found
	ratio := func(f *Found) float64 {
		if f.PlanMost > 0 {
			return f.Error / f.PlanMost
		}
		return math.Inf(1)
	}
	for i := range r.Found {
		if f := &r.Found[i]; large(*f) && (best == nil || ratio(f) > ratio(best)) {
			best = f
		}
	}
	clue := audit.Clue{
		Name: audit.ClueNarrowPeak, Set: sweep.Continuous, Strength: 0.7,
		Text: "a search between the elements found no larger error that is not rounding or resampling",
	}
	if best == nil {
		p.Clue(clue)
		return
	}
	q := ratio(best)
	clue.Holds, clue.Strength = q >= peak, sweep.Clarity(q, peak)
	clue.Text = fmt.Sprintf("a search found the error %.2g for %s; on the plan this input has %.2g at most", best.Error,
		best.At, best.PlanMost)
	clue.Evidence = []audit.Evidence{
		audit.Number("error found by search", best.Error, "").Against(p.Policy.Threshold),
		audit.Number("largest error of this input on the plan", best.PlanMost, ""),
	}
	if clue.Holds {
		clue.Location = best.At.Label
	}
	p.Clue(clue)
	hidden := !(top > p.Policy.Threshold)
	if !clue.Holds && !hidden {
		return
	}
	f := audit.Finding{
		Category: audit.Explanation, Set: sweep.Continuous, Location: "output", Worst: best.At, Evidence: clue.Evidence,
		Message: fmt.Sprintf(
			"search: error %.2g for %s, where the plan shows %.2g at most for this input; found by search and in no "+
				"certificate",
			best.Error, best.At, best.PlanMost),
		Remedies: []string{
			"look at the model's answer around that element",
			"visit more elements near it: a finer plan, or a second one around it",
		},
	}
	if hidden {
		f.Category = audit.Stress // the plan holds and the orbit does not
	}
	p.Report(f)
}

// top is the largest error of the whole plan. An output that is not finite has none, and max would take NaN.
func (s *seeker) top() float64 {
	top := 0.0
	for _, e := range s.sw.Err {
		if e /= s.sw.Scale; e > top {
			top = e
		}
	}
	return top
}

// report hands in what was found and how far it reaches.
func (s *seeker) report(r *Result, scanned []probe) {
	p, o := s.p, s.o
	top := s.top()
	if len(r.Found) > 0 {
		p.Measure(audit.Number("largest error found by search, in no certificate", r.Found[0].Error, ""))
	}
	p.Measure(audit.Number("largest error on the plan", top, ""),
		audit.Number("predictions of the search", float64(s.count), ""))
	if len(o.free) == 1 {
		s.bound(top, scanned)
	}
	t := &audit.Table{Columns: []audit.Column{
		{Name: "sample"},
		{Name: "element"},
		{Name: "error", Doc: "relative to the scale of the outputs; chosen for its size"},
		{Name: "resampling", Doc: "floor at that element"},
		{Name: "from"},
		{Name: "error there"},
		{Name: "on the plan", Doc: "largest error of this input"},
	}}
	for _, f := range r.Found {
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(f.At.Sample), audit.Word(f.At.Label), audit.Num(f.Error), audit.Num(f.Floor), audit.Word(f.From),
			audit.Num(f.FromErr), audit.Num(f.PlanMost),
		})
	}
	if len(r.Found) > 0 && r.Found[0].Error > p.Policy.Threshold {
		p.Show(audit.Exhibit{
			Name: "found", Title: "Found by search", Table: t,
			Note: "The worst pairs, refined between the elements of the plan. They were chosen for their size and " +
				"are no estimate of it.",
		})
	}
	if len(o.free) == 1 && top > 0 {
		p.Show(s.picture(r, scanned))
	}
}

// bound measures the gaps of a plan along one axis and what may hide in them.
func (s *seeker) bound(top float64, scanned []probe) {
	p, o := s.p, s.o
	a := o.free[0]
	unit, form := o.chart[a].Unit, o.chart[a].Form()
	if form == group.FormFactor {
		unit = "log-factor"
	}
	h := o.step[a]
	p.Measure(audit.Number("largest gap of the plan", h, unit))
	if len(scanned) > 0 {
		p.Measure(audit.Number(fmt.Sprintf("largest gap for the %d inputs that visited more elements", len(s.scanned)),
			s.spacing, unit))
	}
	l := s.slope(a, scanned)
	sup := aggregate.SupOrbit(top, l, h, false)
	p.Measure(audit.Number("steepest slope of the error seen", l, "per "+unit),
		audit.Number("bound of the largest error on the orbit, "+sup.Label(), sup.Bound, ""))
	if P := o.period(a); form == group.FormAngle && P > 0 {
		p.Measure(audit.Number(fmt.Sprintf("chance that this plan misses a defect of %g° that lies anywhere", width),
			o.missed(a, p.Elements, width), "share"))
		n := len(p.Elements) + 1
		p.Measure(audit.Number(fmt.Sprintf("chance that %d independent elements miss a defect of %g°", n, width),
			aggregate.MissProbability(width, P, n), "share"))
		if len(scanned) > 0 {
			n += len(scanned) / len(s.scanned)
			p.Measure(audit.Number(fmt.Sprintf("the same of %d, as visited by %d inputs", n, len(s.scanned)),
				aggregate.MissProbability(width, P, n), "share"))
		}
	}
}

// missed is the share of the period at which a defect of a width may begin without holding an element: what is left of
// each gap.
func (o *orbit) missed(a int, plan []audit.Element, width float64) float64 {
	x := []float64{o.scale(a, o.G.Identity()[a])}
	for _, e := range plan {
		x = append(x, o.scale(a, e.G[a]))
	}
	slices.Sort(x)
	period := o.period(a)
	left := max(0, x[0]+period-x[len(x)-1]-width)
	for i := 1; i < len(x); i++ {
		left += max(0, x[i]-x[i-1]-width)
	}
	return left / period
}

// slope is the largest difference of the errors of one input at neighbors by their distance.
func (s *seeker) slope(a int, scanned []probe) float64 {
	type point struct{ x, e float64 }
	o, m := s.o, len(s.p.Elements)
	by := map[int][]point{}
	for k, e := range s.sw.Err {
		if !math.IsNaN(e) {
			by[k/m] = append(by[k/m], point{o.scale(a, s.p.Elements[k%m].G[a]), e / s.sw.Scale})
		}
	}
	for _, q := range scanned {
		if !math.IsNaN(q.err) {
			by[q.sample] = append(by[q.sample], point{o.scale(a, q.g[a]), q.err})
		}
	}
	var steepest float64
	for _, list := range by {
		slices.SortFunc(list, func(x, y point) int { return cmp.Compare(x.x, y.x) })
		for i := 1; i < len(list); i++ {
			if d := list[i].x - list[i-1].x; d > 0 && d <= o.step[a] {
				steepest = max(steepest, math.Abs(list[i].e-list[i-1].e)/d)
			}
		}
	}
	return steepest
}

// picture draws what the plan, the scan and the refinements saw.
func (s *seeker) picture(r *Result, scanned []probe) audit.Exhibit {
	a := s.o.free[0]
	ax := s.o.chart[a]
	c := &audit.Curve{
		X: audit.Scale{Name: ax.Name, Unit: ax.Unit, Log: ax.Form() == group.FormFactor},
		Y: audit.Scale{Name: "error", Log: true}, Limit: s.p.Policy.Threshold,
	}
	if s.sw.Mask {
		c.Y = audit.Scale{Name: "error", Unit: s.sw.Unit()}
	}
	line := func(name string, at map[float64]float64) {
		series := audit.Series{Name: name}
		for x := range at {
			series.X = append(series.X, x)
		}
		slices.Sort(series.X)
		for _, x := range series.X {
			series.Y = append(series.Y, at[x])
		}
		if len(series.X) > 0 {
			c.Series = append(c.Series, series)
		}
	}
	m := len(s.p.Elements)
	plan, more := map[float64]float64{}, map[float64]float64{}
	for k, e := range s.sw.Err {
		if x := s.p.Elements[k%m].G[a]; !math.IsNaN(e) {
			plan[x] = max(plan[x], e/s.sw.Scale)
		}
	}
	for _, q := range scanned {
		if !math.IsNaN(q.err) {
			more[q.g[a]] = max(more[q.g[a]], q.err)
		}
	}
	line("plan, largest over inputs", plan)
	line(fmt.Sprintf("between, largest over %d inputs", len(s.scanned)), more)
	found := audit.Series{Name: "found", Marks: true}
	for _, f := range r.Found {
		found.X, found.Y, found.Labels = append(found.X, f.At.Element[a]), append(found.Y, f.Error),
			append(found.Labels, f.At.Label)
	}
	if len(found.X) > 0 {
		c.Series = append(c.Series, found)
	}
	return audit.Exhibit{
		Name: "between", Title: "Error between the elements of the plan", Curve: c,
		Note: "What search found is marked; it was chosen for its size.",
	}
}

// exact reports whether an element resamples nothing: the error there is none of what this check looks for.
func (s *seeker) exact(g group.Element) bool { return action.Exact(s.p.Subject.Plan.In, g) }
