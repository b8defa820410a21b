// Package features is the check of embeddings: how far features go when inputs move, in units of how far two inputs are
// apart, and whether the features hold enough for that to say anything.
package features

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/data/split"
	"nero/measure/embedding"
	"nero/symmetry/group"

	"gonum.org/v1/gonum/mat"
)

// Check is the check of embeddings. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "features",
	Title: "Features beside those of other inputs",
	Doc: `Features says of an output that is declared to be an embedding how far elements take features as they are, in units of how far two inputs are
apart: their mean distance from the unmoved ones over that of two inputs, and the probability that an input is nearer to itself moved than two
inputs are to each other (AUC), with intervals over inputs. 0 and 1: the features stay; about 1 and 0.5: nothing is left of the input.

Features that hold hardly more than one direction (effective rank below 1.5, e to the entropy of the shares of variance), or that are no further apart than rounding
and repeats take them, have collapsed: that they stay says nothing, and the check asks for attention.

Where the claim moves the features, it asks how much of where they go linear maps explain: one for each element, fitted to half of the
inputs, its penalty chosen on a quarter, and held against the last quarter, along the directions that hold 99.9 % of the variance (R²).
A claim of invariance leaves no map to be learned.`,
	Params: []audit.Param{
		{
			Name: "samples", Doc: "Inputs, spread over the data.", Default: 128, Min: embedding.LeastObjects,
			Max: 10000, Least: 32,
		},
		{Name: "elements", Doc: "Elements, per set.", Default: 8, Min: 1, Max: 1000, Least: 4},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Views:    true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		if !p.Subject.OutSpec.Features {
			return 0
		}
		return min(int(p.Param("samples")), p.Subject.N) * (1 + len(p.PickElements(int(p.Param("elements")))))
	},
}

// Result is how far features go.
type Result struct {
	// Rank is the effective rank of the features of unmoved inputs, Apart how far two inputs are apart, in the unit of
	// the features.
	Rank  audit.Interval
	Apart float64
	// Collapsed says that features hold too little for their staying to say anything.
	Collapsed bool
	// Moves says that the claim moves the features.
	Moves bool
	By    []Element
	// Mapped says on how many inputs maps were fitted and confirmed, NoMaps why none were; "" where they were.
	Mapped, NoMaps string
}

// Element is what an element does to features.
type Element struct {
	Label string
	// Ratio is how far they go over how far two inputs are apart, AUC the probability that a moved input is nearer.
	Ratio, AUC audit.Interval
	// Cosine is the mean cosine before and after, less the mean of all features.
	Cosine audit.Interval
	// Resampling is the ratio of inputs that were moved there and back; NaN where nothing is resampled.
	Resampling float64
	// R2 is how much of where features go a map explains, of inputs that it was not fitted to; NaN without maps.
	R2 audit.Interval
}

// mostNumbers bounds the numbers of features that are held at once.
const mostNumbers = 1 << 25

func run(ctx context.Context, p *audit.Pass) (any, error) {
	if !p.Subject.OutSpec.Features {
		return nil, fmt.Errorf("%w: the output is not declared to be an embedding", audit.ErrNotApplicable)
	}
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	a := &asker{p: p, use: p.PickElements(int(p.Param("elements")))}
	if j := furthest(sw, len(p.Elements)); !slices.Contains(a.use, j) {
		a.use = append(a.use, j)
	}
	if err := a.ask(ctx, sw); err != nil {
		return nil, err
	}
	r := &Result{Moves: a.moves}
	floor := max(c.Facts.ScaleFloor, sw.Scale*max(c.Floors.Repeat, c.Floors.Batch, 0))
	if err := a.invariance(r, sw, floor); err != nil || r.Collapsed && len(r.By) == 0 {
		return r, err
	}
	if err := a.maps(r); err != nil {
		return nil, err
	}
	a.show(r)
	return r, nil
}

// furthest is the element with the largest mean error.
func furthest(sw *sweep.Result, elements int) int {
	at, most := 0, 0.0
	for j := range elements {
		sum := 0.0
		for i := range sw.IDs {
			if e := sw.Err[i*elements+j]; !math.IsNaN(e) {
				sum += e
			}
		}
		if sum > most {
			at, most = j, sum
		}
	}
	return at
}

// asker holds the features of an audit.
type asker struct {
	p *audit.Pass
	// elements, by their numbers in the pass
	use []int
	ids []string
	// features, at the identity first
	at []*mat.Dense
	// the claim moves features
	moves bool
}

// options of what is resampled.
func (a *asker) options() embedding.Options {
	return embedding.Options{Seed: a.p.Subject.Seed, Confidence: a.p.Policy.Confidence}
}

// ask sends inputs through the model, unmoved and at each element.
func (a *asker) ask(ctx context.Context, sw *sweep.Result) error {
	p := a.p
	width := 0
	if sw.Channels != nil {
		width = sw.Channels.N
	}
	n := min(int(p.Param("samples")), mostNumbers/max(1, width*(1+len(a.use))))
	pick := p.Pick(max(n, embedding.LeastObjects))
	if len(pick) < embedding.LeastObjects {
		return fmt.Errorf("%w: %d inputs, want at least %d: of fewer it cannot be said how far inputs are apart",
			audit.ErrUntested, len(pick), embedding.LeastObjects)
	}
	a.ids = make([]string, len(pick))
	out := audit.Movers(p.Subject.Plan.Out, p.Elements, func(g group.Element) group.Element { return g })
	err := p.Predict(ctx, a.requests(pick), func(q audit.Request, y space.Value) error {
		x := y.Numbers()
		if a.at == nil {
			for range 1 + len(a.use) {
				a.at = append(a.at, mat.NewDense(len(pick), len(x), nil))
			}
		}
		if _, d := a.at[0].Dims(); len(x) != d {
			return fmt.Errorf("%w: sample %s has features of %d numbers, and others of %d", audit.ErrUntested,
				a.ids[q.Sample], len(x), d)
		}
		if !space.Finite(y) {
			return fmt.Errorf("%w: the features of sample %s are not finite", audit.ErrUntested, a.ids[q.Sample])
		}
		a.at[q.Role].SetRow(q.Sample, x)
		if q.Role > 0 || q.Sample > 0 {
			return nil
		}
		for _, j := range a.use {
			z, err := out[j].Move(y)
			if err != nil {
				return fmt.Errorf("sample %s at %s: output: %w", a.ids[0], p.Elements[j].Label, err)
			}
			a.moves = a.moves || !slices.Equal(z.Numbers(), x)
		}
		return nil
	})
	return err
}

// requests streams the picked inputs, unmoved and at each element.
func (a *asker) requests(pick []int) iter.Seq2[audit.Request, error] {
	p := a.p
	identity := audit.NewMover(p.Subject.Plan.In, p.Subject.Plan.Group.Identity())
	there := audit.Movers(p.Subject.Plan.In, p.Elements, func(g group.Element) group.Element { return g })
	return func(yield func(audit.Request, error) bool) {
		for k, i := range pick {
			s, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			a.ids[k] = s.ID
			for role := range 1 + len(a.use) {
				m, label := identity, "the identity"
				if role > 0 {
					m, label = there[a.use[role-1]], p.Elements[a.use[role-1]].Label
				}
				x, err := m.Move(s.Value)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s at %s: %w", s.ID, label, err))
					return
				}
				if !yield(audit.Request{Sample: k, Element: role - 1, Role: role, Input: x}, nil) {
					return
				}
			}
		}
	}
}

// orbits are the features of some inputs.
func (a *asker) orbits(rows []int) *embedding.Orbits {
	o := &embedding.Orbits{Object: rows}
	_, d := a.at[0].Dims()
	for _, at := range a.at {
		some := mat.NewDense(len(rows), d, nil)
		for k, i := range rows {
			some.SetRow(k, at.RawRowView(i))
		}
		o.At = append(o.At, some)
	}
	return o
}

// interval is an estimate as audits write it: of an interval that is everything nothing is known.
func interval(e embedding.Estimate) audit.Interval {
	out := audit.Interval{Value: e.Value, Lo: e.Interval.Low, Hi: e.Interval.High, N: e.Interval.N}
	if math.IsInf(out.Lo, -1) && math.IsInf(out.Hi, 1) {
		out.Lo, out.Hi = math.NaN(), math.NaN()
	}
	return out
}

// ends is an interval in words.
func ends(i audit.Interval) string {
	if math.IsNaN(i.Lo) || math.IsNaN(i.Hi) {
		return "the interval is not known"
	}
	return audit.Figures(i.Lo) + " to " + audit.Figures(i.Hi)
}

// none is an estimate of nothing.
func none() audit.Interval { return audit.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()} }

// invariance says how far features go, and whether they hold enough. Floor is how far apart rounding and repeats take
// answers.
func (a *asker) invariance(r *Result, sw *sweep.Result, floor float64) error {
	p := a.p
	all := make([]int, len(a.ids))
	for i := range all {
		all[i] = i
	}
	o := a.orbits(all)
	got, err := o.Invariance(a.options())
	switch {
	case errors.Is(err, embedding.ErrConstant):
		r.Rank, r.Collapsed = none(), true
		a.collapsed("its features are the same for every input",
			audit.Number("distance of two inputs", 0, "output"))
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", audit.ErrUntested, err)
	}
	r.Rank, r.Apart = interval(got.Rank), got.Apart
	rank := audit.Measured("effective rank", r.Rank, "").Against(embedding.LeastRank)
	apart := audit.Number("distance of two inputs", r.Apart, "output").Against(floor)
	p.Measure(rank, apart,
		audit.Number("numbers that never change", float64(got.Dead), fmt.Sprintf("of %d", o.Width())))
	switch {
	case !(r.Apart > floor):
		r.Collapsed = true
		a.collapsed(fmt.Sprintf("two inputs are %s apart, and rounding and repeats alone take features %s",
			audit.Figures(r.Apart), audit.Figures(floor)), apart)
		return nil // all that could be said of elements would be noise
	case got.Why != "" && r.Rank.Value >= embedding.LeastRank:
		r.Collapsed = true
		a.collapsed(got.Why, apart)
	case got.Why != "":
		r.Collapsed = true
		a.collapsed(fmt.Sprintf("its features have the effective rank %s, and below %g that they stay says nothing",
			audit.Figures(r.Rank.Value), embedding.LeastRank), rank)
	default:
		p.Clue(audit.Clue{
			Name: audit.ClueCollapsed, Strength: 1, Location: "output", Evidence: []audit.Evidence{rank},
			Text: "the effective rank of the features is " + audit.Figures(r.Rank.Value),
		})
	}
	for k, j := range a.use {
		e := Element{Label: p.Elements[j].Label, Resampling: math.NaN(), R2: none()}
		e.Ratio, e.Cosine = interval(got.By[k+1].Ratio), interval(got.By[k+1].Cosine)
		near, err := o.Nearer(k+1, a.options())
		if err != nil {
			return fmt.Errorf("%w: %w", audit.ErrUntested, err)
		}
		e.AUC = interval(near.AUC)
		if sw.FloorN[j] > 0 {
			e.Resampling = sw.FloorAt[j] / float64(sw.FloorN[j]) / r.Apart
		}
		r.By = append(r.By, e)
	}
	worst := r.worst()
	p.Measure(audit.Measured("way to another input at "+worst.Label, worst.Ratio, ""),
		audit.Measured("nearer than another input at "+worst.Label, worst.AUC, "share"))
	if !r.Collapsed {
		p.Say(fmt.Sprintf("Where features go furthest, at %s, they go %s of the way to another input (%s), and a "+
			"moved input is nearer than another one with probability %s (%s).", worst.Label,
			audit.Figures(worst.Ratio.Value), ends(worst.Ratio), audit.Figures(worst.AUC.Value), ends(worst.AUC)))
	}
	return nil
}

// worst is the element that takes features furthest; the first of equals.
func (r *Result) worst() Element {
	at := 0
	for k, e := range r.By {
		if most := r.By[at].Ratio.Value; !(e.Ratio.Value <= most) && !math.IsNaN(most) {
			at = k
		}
	}
	return r.By[at]
}

// collapsed reports features that hold too little.
func (a *asker) collapsed(why string, e audit.Evidence) {
	message := "the embedding has collapsed: " + why
	a.p.Clue(audit.Clue{
		Name: audit.ClueCollapsed, Holds: true, Strength: 1, Location: "output", Text: message,
		Evidence: []audit.Evidence{e},
	})
	a.p.Report(audit.Finding{
		Category: audit.Vacuous, Location: "output", Worst: audit.Nowhere, Message: message,
		Evidence: []audit.Evidence{e},
		Remedies: []string{
			"look at how it was trained: a loss that only draws views together has this optimum; add negatives, a " +
				"term for variance and covariance, or a stopped gradient",
			"check that this output is the embedding: --output-name names another",
		},
	})
	a.p.Say("The embedding has collapsed: " + why + ".")
}

// maps learns a map for each element where the claim moves features.
func (a *asker) maps(r *Result) error {
	switch {
	case !r.Moves:
		r.NoMaps = "invariance is claimed: a feature that stays needs no map"
		return nil
	case r.Collapsed:
		r.NoMaps = "the features have collapsed"
		return nil
	}
	sets := split.Preset().Divide(a.p.Subject.Seed, a.ids)
	for _, side := range split.Sides() {
		if len(sets[side]) < embedding.LeastObjects {
			r.NoMaps = fmt.Sprintf("too few inputs: %s, and each side needs %d", sets, embedding.LeastObjects)
			return nil
		}
	}
	fit, choose, confirm := a.orbits(sets[split.Fit]), a.orbits(sets[split.Choose]), a.orbits(sets[split.Confirm])
	basis, err := embedding.Leading(fit, a.p.Subject.Seed)
	if errors.Is(err, embedding.ErrConstant) {
		r.NoMaps = "the features of the inputs to fit are all the same"
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", audit.ErrUntested, err)
	}
	r.Mapped = sets.String()
	fit, choose, confirm = fit.On(basis), choose.On(basis), confirm.On(basis)
	for k := range r.By {
		m, err := embedding.Either(fit.Pairs(k+1), choose.Pairs(k+1))
		if err != nil {
			return fmt.Errorf("%w: %w", audit.ErrUntested, err)
		}
		q := confirm.Pairs(k + 1)
		r.By[k].R2 = interval(embedding.Explain(m.Of(q.Before), q.After, q.Object, a.options()).Overall)
	}
	least := r.By[0]
	for _, e := range r.By {
		if !(e.R2.Value >= least.R2.Value) && !math.IsNaN(least.R2.Value) { // what is not known is the least
			least = e
		}
	}
	a.p.Measure(audit.Measured("R² of a linear map at "+least.Label, least.R2, ""))
	a.p.Say(fmt.Sprintf("A linear map explains R² = %s (%s) of where features go at %s, the least of %d elements, of "+
		"inputs that it was not fitted to.", audit.Figures(least.R2.Value), ends(least.R2), least.Label, len(r.By)))
	return nil
}

// show makes the table.
func (a *asker) show(r *Result) {
	t := &audit.Table{Columns: []audit.Column{
		{Name: "element"},
		{Name: "way to another input", Doc: "mean distance of features from the unmoved ones, over that of two inputs"},
		{Name: "from"},
		{Name: "to"},
		{Name: "resampling", Doc: "the same of inputs that are moved there and back"},
		{Name: "nearer than others", Doc: "probability that a moved input is nearer to itself than two inputs are"},
		{Name: "cosine", Doc: "before and after, less the mean of all features"},
	}}
	if r.Mapped != "" {
		t.Columns = append(t.Columns, audit.Column{
			Name: "R² of a map", Doc: "linear, of inputs that it was not fitted to",
		})
	}
	for _, e := range r.By {
		row := []audit.Cell{
			audit.Word(e.Label), audit.Num(e.Ratio.Value), audit.Num(e.Ratio.Lo), audit.Num(e.Ratio.Hi),
			audit.Num(e.Resampling), audit.Num(e.AUC.Value), audit.Num(e.Cosine.Value),
		}
		if r.Mapped != "" {
			row = append(row, audit.Num(e.R2.Value))
		}
		t.Rows = append(t.Rows, row)
	}
	note := []string{fmt.Sprintf("Of %d inputs, features as the model gives them; 0 stays, 1 is as far as another "+
		"input.", len(a.ids))}
	if r.Mapped != "" {
		note = append(note, "Maps: "+r.Mapped+" inputs.")
	} else {
		note = append(note, "Maps were not tested: "+r.NoMaps+".")
	}
	a.p.Show(audit.Exhibit{
		Name: "features", Title: "How far features go", Note: strings.Join(note, " "), Table: t,
	})
}
