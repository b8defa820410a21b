// Package ports is the check of models with several inputs: which of them carries the error, and which does the model
// not look at?
package ports

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/audit/kit/trial"
	"nero/data/space"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the check of single input ports. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "ports",
	Title: "Inputs moved one by one",
	Doc: `Ports moves the inputs of a model that has several one by one, on a few inputs and elements of the plan. A claim moves all of them together;
each is left as it was while the others move, and each moves while the others stay.

Where the claim fails and holds with one input left as it was, that input is declared to move and the model takes it as something that does not:
the finding names it and nothing is switched. Where an input that moves by itself changes no answer beyond rounding, the model looks at nothing of it
that the group changes, such as lengths alone, and the report says so: how that input lies beside the others does not count.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs, spread over the data.", Default: 12, Min: 3, Max: 1000},
		{Name: "elements", Doc: "Elements of the plan.", Default: 6, Min: 1, Max: 1000},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
}

// Result says what each moved input does by itself.
type Result struct {
	Ports []Port
}

// Port is one input that the claim moves. Numbers are relative to the scale of the outputs, means over samples of the
// largest over elements.
type Port struct {
	Name string
	// Without is the error when all but this one move.
	Without audit.Interval
	// Alone is how far the answer moves when this one moves and the others stay; the output is not carried back.
	Alone audit.Interval
}

// mixed moves the fields of a record that are listed and leaves the others as they are.
type mixed struct {
	declared action.Action
	moves    func(field int) bool
}

func (m *mixed) Group() group.Group { return m.declared.Group() }

func (m *mixed) Apply(g group.Element, v space.Value) (space.Value, error) {
	moved, err := m.declared.Apply(g, v)
	if err != nil {
		return nil, err
	}
	names, after := space.Fields(moved)
	_, before := space.Fields(v)
	if len(before) != len(after) {
		return nil, fmt.Errorf("%w: the inputs are no records of the same fields", scale.ErrForm)
	}
	r := &space.Record{Names: names, Values: slices.Clone(after)}
	for k := range after {
		if !m.moves(k) {
			r.Values[k] = before[k]
		}
	}
	return r, nil
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	pick := p.Pick(int(p.Param("samples")))
	var elements []group.Element
	for _, j := range p.PickElements(int(p.Param("elements"))) {
		elements = append(elements, p.Elements[j].G)
	}
	names, moving, err := moved(p, pick, elements)
	if err != nil {
		return nil, err
	}
	if len(moving) < 2 {
		return nil, fmt.Errorf("%w: the claim moves fewer than two inputs", audit.ErrNotApplicable)
	}
	plan := p.Subject.Plan
	together := &trial.Trial{In: plan.In, Out: plan.Out, Elements: elements}
	trials := []*trial.Trial{together}
	for _, k := range moving {
		trials = append(trials,
			&trial.Trial{
				In:  &mixed{plan.In, func(f int) bool { return f != k }},
				Out: plan.Out, Elements: elements,
			},
			&trial.Trial{
				In:  &mixed{plan.In, func(f int) bool { return f == k }},
				Out: action.Trivial{G: plan.Group}, Elements: elements,
			})
	}
	errs, err := trial.Measure(ctx, p, pick, sw.Scale, trials)
	if errors.Is(err, scale.ErrForm) {
		return nil, fmt.Errorf("%w: inputs that move apart give answers of another form: %w", audit.ErrNotApplicable,
			err)
	} else if err != nil {
		return nil, err
	}
	r := &Result{}
	all := errs[0].Interval(p, "all inputs")
	for i, k := range moving {
		r.Ports = append(r.Ports, Port{
			Name:    names[k],
			Without: errs[1+2*i].Interval(p, "all but "+names[k]),
			Alone:   errs[2+2*i].Interval(p, names[k]+" alone"),
		})
	}
	report(p, r, all, max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0)),
		p.Policy.RoundingFactor*max(c.Floors.Rounding, c.Floors.Repeat, 0))
	return r, nil
}

// moved lists the fields of the inputs and which of them the elements change in any of the samples.
func moved(p *audit.Pass, pick []int, elements []group.Element) (names []string, moving []int, err error) {
	seen := map[int]bool{}
	for _, i := range pick {
		s, err := p.Sample(i)
		if err != nil {
			return nil, nil, err
		}
		home, err := p.Subject.Plan.In.Apply(p.Subject.Plan.Group.Identity(), s.Value)
		if err != nil {
			return nil, nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		var before []space.Value
		if names, before = space.Fields(home); names == nil {
			return nil, nil, fmt.Errorf("%w: the model has one input", audit.ErrNotApplicable)
		}
		for _, g := range elements {
			x, err := p.Subject.Plan.In.Apply(g, s.Value)
			if err != nil {
				return nil, nil, fmt.Errorf("sample %s: %w", s.ID, err)
			}
			_, after := space.Fields(x)
			for k := range min(len(before), len(after)) {
				if !slices.Equal(before[k].Numbers(), after[k].Numbers()) {
					seen[k] = true
				}
			}
		}
	}
	for k := range names {
		if seen[k] {
			moving = append(moving, k)
		}
	}
	return names, moving, nil
}

func report(p *audit.Pass, r *Result, all audit.Interval, limit, floor float64) {
	t := &audit.Table{Columns: []audit.Column{
		{Name: "input"},
		{Name: "error without", Doc: "error when all inputs but this one move"},
		{Name: "moves the answer", Doc: "change of the answer when this one moves and the others stay"},
		{Name: "answer"},
	}}
	t.Rows = append(t.Rows, []audit.Cell{
		audit.Word("all together"), audit.Num(all.Value), audit.Num(math.NaN()), audit.Word(""),
	})
	fails := all.Lo > limit
	var stays []Port
	for _, x := range r.Ports {
		answer := "counts"
		switch {
		case fails && x.Without.N > 1 && x.Without.Hi <= limit:
			answer = "does not move"
			stays = append(stays, x)
		case x.Alone.Hi <= floor:
			answer = "moves alone"
			p.Report(audit.Finding{
				Category: audit.Explanation, Location: "input " + x.Name, Worst: audit.Nowhere,
				Message: fmt.Sprintf(
					"How the input %s lies beside the others does not count: moved alone it changes the "+
						"answer by %s. The model looks at nothing of it that the group changes.", x.Name,
					audit.Figures(x.Alone.Value)),
				Evidence: []audit.Evidence{
					audit.Measured("change of the answer with "+x.Name+" alone", x.Alone, "").Against(floor),
				},
			})
		}
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(x.Name), audit.Num(x.Without.Value), audit.Num(x.Alone.Value), audit.Word(answer),
		})
	}
	p.Show(audit.Exhibit{
		Name: "ports", Title: "Inputs one by one", Table: t,
		Note: "Each input is left as it was while the others move, and moves while the others stay. Relative to the " +
			"scale of the outputs, mean over inputs of the largest.",
	})
	p.Measure(audit.Number("inputs moved one by one", float64(len(r.Ports)), ""))
	// Two inputs that each would mend it alone do not tell which is meant.
	if len(stays) != 1 {
		return
	}
	x := stays[0]
	ev := []audit.Evidence{
		audit.Measured("error with "+x.Name+" left as it was", x.Without, "").Against(limit),
		audit.Measured("error with all inputs moved", all, ""),
	}
	text := fmt.Sprintf("with the input %s left as it was the error is %s, with all inputs moved %s", x.Name,
		audit.Figures(x.Without.Value), audit.Figures(all.Value))
	p.Clue(audit.Clue{
		Name: audit.ClueConvention, Holds: true, Strength: 1, Location: "input " + x.Name, Text: text, Evidence: ev,
	})
	p.Report(audit.Finding{
		Category: audit.Convention, Location: "input " + x.Name, Worst: audit.Nowhere, Evidence: ev,
		Message: "The claim holds if the input " + x.Name + " does not move: " + text + ".",
		Remedies: []string{
			"declare " + x.Name + " as unchanged, if that is what the model means; nothing was switched",
			"or look at where the model uses " + x.Name + ": it must enter as what it is declared to be",
		},
	})
}
