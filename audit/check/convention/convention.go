// Package convention is the check that looks for a misunderstanding where the others see a broken symmetry: it tries
// other conventions of the actions and names the one under which the model passes.
package convention

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/lattice"
	"nero/audit/check/sweep"
	"nero/data/space"
)

// Check is the convention check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "convention",
	Title: "Other conventions of the motion",
	Doc: `Convention tries, where a set of elements fails, other conventions of the actions on a few inputs and elements, exact ones first, and names
one under which the error passes. It proposes and never switches anything.

On the output side it tries: no motion; the inverse element; the motion of the input; frames that are flipped, transposed or turned against the
declared one; mirror and turn, or turn and shift, in the other order; degrees taken for radians and the reverse; shifts counted in pixels of the output;
another centre, n/2 or a pixel aside; channels that do not move, move as a vector (with y up or down, or exchanged components), change their sign under
mirrors, or change places: which channel goes where is inferred from some inputs and tested on others. On the input side: other centres, units and orders;
points about their own mean, or about a centre that is fitted to some inputs and tested on others; matrices transposed; and whatever of the above does
not map the elements to each other. A change of frame that does is the same claim on either side, so it is tried on the output.

A variant passes if the interval of its error lies below the threshold, or if the error falls a hundredfold and to the floor. It must still move what
it is said to move, so that a test that became empty does not pass. Content near the border is blanked while other centres are tried, and the
declared centre must fail with the same inputs.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs on which a variant must pass.", Default: 12, Min: 3, Max: 1000, Least: 3},
		{Name: "elements", Doc: "Elements on which a variant must pass.", Default: 8, Min: 1, Max: 1000, Least: 3},
		{Name: "first", Doc: "Inputs on which variants are sorted out first.", Default: 1, Min: 1, Max: 100},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Uses:     []*audit.Check{lattice.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		return usual * min(int(p.Param("samples")), p.Subject.N) * (1 + len(p.PickElements(int(p.Param("elements")))))
	},
}

// usual is about how many variants are tried on all inputs and elements where the claim fails.
const usual = 3

// Result is what the search came to.
type Result struct {
	// the set of elements that fails
	Set string
	// its error as declared, mean over inputs of the largest
	Declared float64
	// in the order in which they were tried
	Tried []Tried
	// Passing are the names of those that pass, the simplest first.
	Passing []string
}

// Tried is one variant and its error.
type Tried struct {
	Name string
	// mean over inputs of the largest, relative; NaN if it was left out
	Error  float64
	Inputs int
	Passes bool
	// why it was left out
	Why string
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	c := audit.ResultOf[*controls.Result](p, controls.Check)
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary, so every convention would pass", audit.ErrNotApplicable)
	}
	s := newSearch(p, sw, c)
	if s == nil {
		return nil, fmt.Errorf("%w: no set of elements fails by more than rounding, noise and resampling explain",
			audit.ErrNotApplicable)
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if err := s.try(ctx); err != nil {
		return nil, err
	}
	s.conclude()
	return s.r, nil
}

// failing is the set to look at: the exact elements if they fail, else the others; nil if neither does or none could be
// judged.
func failing(p *audit.Pass, sw *sweep.Result, c *controls.Result) *audit.Set {
	noise := p.Policy.NoiseFactor * max(c.Floors.Repeat, c.Floors.Batch, 0)
	floor := max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0), noise)
	for _, exact := range []bool{true, false} {
		s := sw.Set(p, exact)
		if s == nil || s.NonFinite > 0 || !(s.Worst.Value > floor) {
			continue
		}
		// The floor of an action that is none means nothing, and an error a hundred times its floor is none of
		// resampling, whatever the interval.
		if !exact && s.Ratio.Lo <= 1 && s.Ratio.Value < 100 && c.Facts.ActionLaws == "" {
			continue
		}
		return s
	}
	return nil
}

// search is one search for a convention.
type search struct {
	p     *audit.Pass
	set   *audit.Set
	r     *Result
	scale float64
	// to which an error must fall if it is to pass above the threshold
	floor float64
	// elements
	use []int
	// samples
	pick []int
	// what the lattice check found
	known  string
	x0, y0 space.Value
	list   []*variant
	// variants that are the same as the declared one
	skipped int
	centres bool
	// compared says that channels were matched, inferred what came of it.
	compared bool
	inferred *variant
}

func newSearch(p *audit.Pass, sw *sweep.Result, c *controls.Result) *search {
	set := failing(p, sw, c)
	if set == nil {
		return nil
	}
	s := &search{p: p, set: set, scale: sw.Scale, pick: p.Pick(int(p.Param("samples")))}
	s.r = &Result{Set: set.Name, Declared: set.Worst.Value}
	s.floor = p.Policy.RoundingFactor * max(c.Floors.Rounding, 0)
	if !set.Exact {
		s.floor = max(s.floor, set.Resampling.Mean)
	}
	for _, j := range p.PickElements(int(p.Param("elements"))) {
		if p.Elements[j].Exact == set.Exact {
			s.use = append(s.use, j)
		}
	}
	if l, ok := audit.ResultIf[*audit.Set](p, lattice.Check); ok {
		for _, step := range l.Steps {
			if step.Named && l.Cause == audit.CauseSpecification {
				s.known = step.Text
			}
		}
	}
	return s
}

// prepare reads one input and its answer, and builds the variants.
func (s *search) prepare(ctx context.Context) error {
	one, err := s.p.Sample(s.pick[0])
	if err != nil {
		return err
	}
	s.x0 = one.Value
	x, err := s.p.Subject.Plan.In.Apply(s.p.Subject.Plan.Group.Identity(), one.Value)
	if err != nil {
		return fmt.Errorf("sample %s: %w", one.ID, err)
	}
	y, err := s.p.PredictBatch(ctx, 0, []space.Value{x})
	if err != nil {
		return err
	}
	s.y0 = y[0]
	b := &builder{s: s}
	b.outputs()
	b.inputs()
	b.centres()
	s.list = s.distinct(b.list)
	return nil
}

// survives says from the first inputs whether a variant is worth more of them: the error is a thirtieth, or near the
// threshold.
func (s *search) survives(e float64) bool {
	return e <= max(10*s.p.Policy.Threshold, s.floor, s.set.Worst.Value/30)
}

func (s *search) try(ctx context.Context) error {
	first := s.pick[:min(int(s.p.Param("first")), len(s.pick))]
	var live []*variant
	for _, v := range s.list {
		if v.why == "" {
			live = append(live, v)
		}
		s.centres = s.centres || v.centre
	}
	m, err := s.measure(ctx, live, first)
	if err != nil {
		return err
	}
	var left []*variant
	for k, v := range live {
		v.inputs = len(first)
		if v.error = mean(m.relative(k, s.scale)); s.survives(v.error) {
			left = append(left, v)
		}
	}
	inferred, err := s.infer(ctx)
	if err != nil {
		return err
	}
	if s.inferred = inferred; inferred != nil {
		s.list, left = append(s.list, inferred), append(left, inferred)
	}
	fitted, err := s.fit(ctx)
	if err != nil {
		return err
	}
	if fitted != nil {
		s.list, left = append(s.list, fitted), append(left, fitted)
	}
	if len(left) == 0 {
		return nil
	}
	// Other centres must fail as declared with the same blanked inputs.
	blanked := &variant{name: "declared, blanked", key: "blanked", frame: true}
	if m, err = s.measure(ctx, append(left, blanked), s.pick); err != nil {
		return err
	}
	declared := audit.MeanInterval(m.relative(len(left), m.scale(true)), s.p.Policy.Confidence).NotNegative()
	for k, v := range left {
		scale := s.scale
		if v.frame {
			if scale = m.scale(true); !(scale >= s.scale/10) {
				v.why = "blanking the border leaves too little"
				continue
			}
		}
		e := m.relative(k, scale)
		if v.learned {
			e = e[min(s.trained(), len(e)):] // the others taught it
		}
		iv := audit.MeanInterval(e, s.p.Policy.Confidence).NotNegative()
		v.error, v.inputs, v.interval = iv.Value, iv.N, iv
		from := s.set.Worst.Value
		if v.frame {
			from = declared.Value
		}
		below := iv.Hi < s.p.Policy.Threshold && from > s.p.Policy.Threshold
		falls := 100*iv.Value <= from && iv.Value <= s.floor
		v.passes = iv.N >= 2 && (below || falls)
	}
	return nil
}

func mean(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

// conclude reports the simplest variant that passes; among several the errors must be of one size.
func (s *search) conclude() {
	p := s.p
	best := math.Inf(1)
	for _, v := range s.list {
		if v.passes {
			best = min(best, v.error)
		}
	}
	table := &audit.Table{Columns: []audit.Column{
		{Name: "variant"},
		{Name: "error", Doc: "mean over inputs of the largest, relative to the scale of the outputs"},
		{Name: "inputs"},
		{Name: "answer"},
	}}
	table.Rows = append(table.Rows, []audit.Cell{
		audit.Word("as declared"), audit.Num(s.set.Worst.Value),
		audit.Num(float64(s.set.Inputs)), audit.Word("fails"),
	})
	var found []*variant
	tried := 0
	far := s.far()
	for _, v := range s.list {
		answer := "fails"
		switch {
		case v.why != "":
			answer, v.error = "left out: "+v.why, math.NaN()
		case v.passes:
			answer = "passes"
		}
		if v.why == "" {
			tried++
		}
		s.r.Tried = append(s.r.Tried, Tried{
			Name: v.name, Error: v.error, Inputs: v.inputs, Passes: v.passes,
			Why: v.why,
		})
		if v.passes || !far[v] {
			table.Rows = append(table.Rows,
				[]audit.Cell{
					audit.Word(v.title()), audit.Num(v.error), audit.Num(float64(v.inputs)),
					audit.Word(answer),
				})
		}
		if v.passes && v.error <= max(10*best, s.floor) {
			found = append(found, v)
			s.r.Passing = append(s.r.Passing, v.name)
		}
	}
	if s.compared && s.inferred == nil {
		tried++
		const name = "the channels of the output change places"
		s.r.Tried = append(s.r.Tried, Tried{Name: name, Error: math.NaN(), Inputs: s.trained()})
		table.Rows = append(table.Rows,
			[]audit.Cell{
				audit.Word(name), audit.Num(math.NaN()), audit.Num(float64(s.trained())),
				audit.Word("no permutation fits"),
			})
	}
	if len(far) > 0 {
		table.Rows = append(table.Rows, []audit.Cell{
			audit.Word(fmt.Sprintf("%d centres that are worse", len(far))),
			audit.Num(math.NaN()), audit.Num(math.NaN()), audit.Word("fail"),
		})
	}
	p.Show(audit.Exhibit{
		Name: "variants", Title: "Other conventions of the actions, tried on the " + s.set.Name, Table: table,
		Note: "Variants that no element tells apart share a line. Those that fail on the first inputs are not tried " +
			"on more.",
	})
	p.Measure(audit.Number("conventions tried", float64(tried), ""),
		audit.Number("conventions that pass", float64(len(found)), ""))
	if tried == 0 {
		return
	}
	convention := audit.Clue{
		Name: audit.ClueConvention, Set: s.set.Name, Strength: 1,
		Text: fmt.Sprintf("none of %d other conventions of the actions passes", tried),
	}
	centre := audit.Clue{
		Name: audit.ClueCentre, Set: s.set.Name, Strength: 1,
		Text: "no other centre of rotation passes",
	}
	if len(found) > 0 {
		v := found[0]
		ev := s.evidence(v)
		convention.Holds, convention.Location, convention.Evidence = true, v.name, ev
		convention.Text = fmt.Sprintf("the error falls from %.2g to %.2g if %s", s.set.Worst.Value, v.error, v.title())
		if i := slices.IndexFunc(found, func(v *variant) bool { return v.centre }); i >= 0 && found[0].centre {
			centre.Holds, centre.Location, centre.Evidence = true, found[i].name, ev
			centre.Text = convention.Text
		}
		s.report(v, found[1:], ev)
	}
	p.Clue(convention)
	if s.centres {
		p.Clue(centre)
	}
}

// shownCentres is how many of the centres that fail have a line of their own.
const shownCentres = 4

// far are the centres that fail by more than the nearest few.
func (s *search) far() map[*variant]bool {
	var centres []*variant
	for _, v := range s.list {
		if v.centre && !v.passes {
			centres = append(centres, v)
		}
	}
	slices.SortStableFunc(centres, func(a, b *variant) int { return cmp.Compare(a.error, b.error) })
	far := map[*variant]bool{}
	for _, v := range centres[min(shownCentres, len(centres)):] {
		far[v] = true
	}
	return far
}

func (s *search) evidence(v *variant) []audit.Evidence {
	return []audit.Evidence{
		audit.Measured("error as declared", s.set.Worst, s.set.Unit).Against(s.p.Policy.Threshold),
		audit.Measured("error with the variant", v.interval, s.set.Unit).Against(s.p.Policy.Threshold),
	}
}

// report names the variant, unless the lattice check has done so.
func (s *search) report(v *variant, others []*variant, ev []audit.Evidence) {
	if s.known != "" && strings.Contains(s.known, v.name) {
		return
	}
	side := "output action"
	if v.in != nil {
		side = "input action"
	}
	f := audit.Finding{
		Category: audit.Convention, Set: s.set.Name, Location: side, Worst: s.set.At, Evidence: ev,
		Message: fmt.Sprintf("%s: the error is %.2g as declared and %.2g if %s", s.set.Name, s.set.Worst.Value,
			v.error, v.title()),
		Remedies: []string{v.declare + "; nothing was switched"},
	}
	var also []string
	for _, o := range others {
		also = append(also, o.name)
	}
	if len(also) > 0 {
		f.Remedies = append(f.Remedies, "these pass as well, so more elements or inputs must tell them apart: "+
			strings.Join(also, "; "))
	}
	f.Remedies = append(f.Remedies,
		"if that is not what the model means, the model is at fault: look at its first and last layers")
	s.p.Report(f)
}
