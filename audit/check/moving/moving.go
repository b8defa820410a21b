// Package moving is the check of flows: a model of sequences may hold when every frame is moved alike and fail when the
// frames move on from one to the next.
package moving

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/audit/kit/trial"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the check of moving against static motions. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "moving",
	Title: "Moving sequences",
	Doc: `Moving compares, where the group is a flow, what a model does to sequences whose frames are all moved alike with what it does to sequences that move on
from frame to frame. Static motions are those that the flow reaches after 1, 2 and 3 frames at the velocities of the plan, applied to every frame. If
static motions hold and velocities do not, the state of the model stays where it is while the input moves (Keller 2025, Flow equivariant recurrent
neural networks); if neither holds, the frames themselves are not treated alike.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs, spread over the data.", Default: 8, Min: 2, Max: 1000},
		{Name: "velocities", Doc: "Velocities, spread over the plan.", Default: 6, Min: 1, Max: 1000},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		if flow, _ := flowing(p.Subject.Plan.Group); flow == nil {
			return 0
		}
		return min(int(p.Param("samples")), p.Subject.N) * 2 * (1 + 3*int(p.Param("velocities")))
	},
}

// Result says what holds.
type Result struct {
	// mean over inputs of the largest error
	Static, Moving audit.Interval
	Limit          float64
}

// flowing is the factor of a group that flows, and where its coordinates begin.
func flowing(G group.Group) (f group.Flowing, from int) {
	if f, ok := G.(group.Flowing); ok {
		return f, 0
	}
	x, ok := G.(group.Factored)
	if !ok {
		return nil, 0
	}
	for _, y := range x.Factors() {
		if f, ok := y.(group.Flowing); ok {
			return f, from
		}
		from += len(y.Chart())
	}
	return nil, 0
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	plan := p.Subject.Plan
	flow, from := flowing(plan.Group)
	if flow == nil {
		return nil, fmt.Errorf("%w: the group is no flow", audit.ErrNotApplicable)
	}
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	n := len(flow.Chart())
	var velocities []group.Element
	still := flow.Identity()
	for _, e := range p.Elements {
		v := slices.Clone(e.G[from : from+n])
		if flow.Dist(v, still) > 0 &&
			!slices.ContainsFunc(velocities, func(w group.Element) bool { return flow.Dist(v, w) == 0 }) {
			velocities = append(velocities, v)
		}
	}
	if len(velocities) == 0 {
		return nil, fmt.Errorf("%w: the plan holds no velocity but 0", audit.ErrNotApplicable)
	}
	if k := int(p.Param("velocities")); len(velocities) > k {
		var some []group.Element
		for i := range k {
			some = append(some, velocities[(2*i+1)*len(velocities)/(2*k)])
		}
		velocities = some
	}
	inner := flow.Inner()
	in, out, err := static(p, flow, from, velocities[0])
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("%w: static motions have no action: %w", audit.ErrUntested, err)
	} else if err != nil {
		return nil, err
	}
	alike := &trial.Trial{In: in, Out: out}
	moving := &trial.Trial{In: plan.In, Out: plan.Out}
	for _, v := range velocities {
		g := slices.Clone(plan.Group.Identity())
		copy(g[from:], v)
		moving.Elements = append(moving.Elements, g)
		for t := 1.0; t <= 3; t++ {
			h := flow.At(v, t)
			if inner.Dist(h, inner.Identity()) > 0 &&
				!slices.ContainsFunc(alike.Elements, func(x group.Element) bool { return inner.Dist(x, h) == 0 }) {
				alike.Elements = append(alike.Elements, h)
			}
		}
	}
	errs, err := trial.Measure(ctx, p, p.Pick(int(p.Param("samples"))), sw.Scale, []*trial.Trial{alike, moving})
	if err != nil {
		return nil, err
	}
	r := &Result{Static: errs[0].Interval(p, "static"), Moving: errs[1].Interval(p, "moving")}
	r.Limit = max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0),
		p.Policy.NoiseFactor*max(c.Floors.Repeat, c.Floors.Batch, 0))
	report(p, r, errs, velocities, flow)
	return r, nil
}

// static are the actions of the same motion of all frames, with the border at which the first two frames move as the
// flow moves them.
func static(p *audit.Pass, flow group.Flowing, from int, v group.Element) (in, out action.Action, err error) {
	plan, inner := p.Subject.Plan, flow.Inner()
	s, err := p.Sample(0)
	if err != nil {
		return nil, nil, err
	}
	g := slices.Clone(plan.Group.Identity())
	copy(g[from:], v)
	want, err := plan.In.Apply(g, s.Value)
	if err != nil {
		return nil, nil, fmt.Errorf("sample %s: %w", s.ID, err)
	}
	rules := p.Subject.Table()
	for _, b := range action.Borders() {
		if in, err = rules.For(inner, p.Subject.InSpec, action.Options{Border: b}); err != nil {
			continue
		}
		got, err := in.Apply(flow.At(v, 1), s.Value)
		if err != nil || !second(got, want) {
			continue
		}
		if out, err = rules.For(inner, p.Subject.OutSpec, action.Options{Border: b, Invariant: true}); err != nil {
			return nil, nil, fmt.Errorf("output: %w", err)
		}
		return in, out, nil
	}
	return p.Subject.Actions(inner, p.Subject.InSpec, p.Subject.OutSpec)
}

// second reports whether the second frames of two sequences are equal to rounding.
func second(a, b space.Value) bool {
	x, y, ok := space.Both[*space.Frames](a, b)
	if !ok || len(x.Images) < 2 || len(y.Images) < 2 {
		return false
	}
	var apart, size float64
	if x.Images[1].Form() != y.Images[1].Form() {
		return false
	}
	for i, v := range x.Images[1].Pix {
		w := y.Images[1].Pix[i]
		apart, size = apart+float64((v-w)*(v-w)), size+float64(w*w)
	}
	return apart <= 1e-18*size
}

func report(p *audit.Pass, r *Result, errs []*trial.Errors, velocities []group.Element, flow group.Flowing) {
	ev := []audit.Evidence{
		audit.Measured("error of static motions, largest per input", r.Static, "").Against(r.Limit),
		audit.Measured("error of moving ones, largest per input", r.Moving, "").Against(r.Limit),
	}
	p.Measure(ev...)
	c := audit.Clue{
		Name: audit.ClueMoving, Strength: 1, Evidence: ev, Location: "state",
		Holds: r.Static.Value <= r.Limit && !(r.Moving.Value <= r.Limit),
		Text: fmt.Sprintf("the same motion of all frames: error %s, motion from frame to frame: %s",
			audit.Figures(r.Static.Value), audit.Figures(r.Moving.Value)),
	}
	p.Clue(c)
	t := &audit.Table{Columns: []audit.Column{
		{Name: "velocity"},
		{Name: "error", Doc: "mean over inputs"},
		{Name: "largest"},
	}}
	for j, v := range velocities {
		var col []float64
		for _, row := range errs[1].Rel {
			col = append(col, row[j])
		}
		d := audit.Describe(col)
		t.Rows = append(t.Rows, []audit.Cell{audit.Word(audit.Label(flow, v)), audit.Num(d.Mean), audit.Num(d.Max)})
	}
	at, most, _ := errs[0].Worst(p)
	note := "At velocity 0 and under the same motion of every frame the largest error is " + audit.Figures(most) + "."
	if at.Index >= 0 && !(r.Static.Value <= r.Limit) {
		note += " It is that of " + at.String() + "."
	}
	p.Show(audit.Exhibit{Name: "velocities", Title: "Error by velocity", Table: t, Note: note})
	if !c.Holds {
		return
	}
	where, _, _ := errs[1].Worst(p)
	p.Report(audit.Finding{
		Category: audit.Explanation, Location: "state", Worst: where, Evidence: ev,
		Message: "static motions hold and moving ones do not: " + c.Text,
		Remedies: []string{
			"move the state along with the input, one copy of it for each velocity",
			"or claim the static group alone",
		},
	})
}
