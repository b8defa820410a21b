// Package extremes is the check of extreme inputs.
package extremes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the extremes check. Its result is a [*stress.Result].
var Check = &audit.Check{
	Name: "extremes",
	Doc: `Extremes asks whether extreme inputs keep what ordinary ones keep.

Blank, constant, single-pixel, saturated and tied inputs, and inputs a thousand and a million times as bright and a thousandth, are tried at exact elements.
An output that is not finite for such an input is a finding of its own and no failure: no model is made for it.`,
	Family:   stress.Family,
	Params:   []audit.Param{stress.Samples, stress.Elements},
	Requires: stress.Requires(),
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		return len(extremes) * min(2, p.Subject.N) * (1 + int(p.Param("elements")))
	},
}

// extent is the smallest and the largest of the numbers.
func extent(x []float64) (lo, hi float64) {
	if len(x) == 0 {
		return 0, 0
	}
	return slices.Min(x), slices.Max(x)
}

// single leaves one number, the largest, and 0 elsewhere.
func single(x []float64) []float64 {
	y := make([]float64, len(x))
	at := 0
	for i, v := range x {
		if math.Abs(v) > math.Abs(x[at]) {
			at = i
		}
	}
	if len(x) > 0 {
		y[at] = x[at]
	}
	return y
}

// saturated drives every number to one end of the range of the sample.
func saturated(x []float64) []float64 {
	lo, hi := extent(x)
	y := make([]float64, len(x))
	for i, v := range x {
		if y[i] = lo; v > (lo+hi)/2 {
			y[i] = hi
		}
	}
	return y
}

// tied rounds to four levels, so that maxima and orders have ties.
func tied(x []float64) []float64 {
	lo, hi := extent(x)
	y := slices.Clone(x)
	if !(hi > lo) {
		return y
	}
	for i, v := range x {
		y[i] = lo + math.Round(3*(v-lo)/(hi-lo))*(hi-lo)/3
	}
	return y
}

// extremes are the inputs that are tried.
var extremes = []struct {
	name string
	f    stress.Change
}{
	{"zero", stress.Times(0)},
	{"constant", stress.Constant},
	{"single pixel", single},
	{"saturated", saturated},
	{"tied", tied},
	{"a thousandth", stress.Times(1e-3)},
	{"a thousand times", stress.Times(1e3)},
	{"a million times", stress.Times(1e6)},
}

// run sends strange inputs through the model, unmoved and moved by exact elements.
func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	in, out, G := p.Subject.Plan.In, p.Subject.Plan.Out, p.Subject.Plan.Group
	set := t.Sweep.Set(p, true)
	// What ordinary inputs break, strange ones need not keep; only whether they are finite is then asked.
	limit := max(p.Policy.Threshold, t.Floor)
	ordinary := set != nil && set.NonFinite == 0 && set.Worst.Value <= limit
	table := &audit.Table{Columns: []audit.Column{
		{Name: "input"},
		{Name: "error", Doc: "relative to the scale of the outputs, or to the output where that is larger"},
		{Name: "outputs that are not finite"},
		{Name: "size of the output", Unit: "output"},
		{Name: "answer"},
	}}
	var over, infinite []string
	var most, bad stress.Worst
	for _, x := range extremes {
		var w stress.Worst
		wrong, big := 0, 0.0
		for i := range min(2, len(t.Raw)) {
			v, err := stress.Changed(t.Raw[i], x.f, t.Whole...)
			if errors.Is(err, errors.ErrUnsupported) {
				return nil, fmt.Errorf("%w: %w", audit.ErrNotApplicable, err)
			} else if err != nil {
				return nil, err
			}
			values, at := []space.Value{}, []int{}
			for _, j := range append([]int{-1}, t.Exact...) {
				g := G.Identity()
				if j >= 0 {
					g = p.Elements[j].G
					if gone, err := stress.Loses(in, g, v); err != nil || gone {
						if err != nil {
							return nil, fmt.Errorf("sample %s at %s: %w", t.IDs[i], t.Label(j), err)
						}
						continue // what leaves the picture is not the model's fault
					}
				}
				gv, err := in.Apply(g, v)
				if err != nil {
					return nil, fmt.Errorf("sample %s: %w", t.IDs[i], err)
				}
				values, at = append(values, gv), append(at, j)
			}
			y, err := t.Predict(ctx, values)
			if err != nil {
				return nil, err
			}
			for k, j := range at {
				ok := space.Finite(y[k])
				if !ok {
					wrong++
					bad.Add(math.NaN(), i, j, x.name)
					continue
				}
				if j < 0 {
					big = max(big, t.Size(y[k]))
					continue
				}
				e, err := back(t, out, p.Elements[j].G, y[k], y[0])
				if err != nil {
					return nil, err
				}
				if !t.Sweep.Mask {
					// A larger output rounds to larger numbers.
					e *= t.Scale / max(t.Scale, t.Size(y[0]))
				}
				if !math.IsNaN(e) {
					w.Add(e, i, j, x.name)
				}
			}
		}
		answer := string(stress.Holds)
		switch {
		case wrong > 0:
			answer = "not finite"
			infinite = append(infinite, x.name)
		case w.N == 0:
			w.E, answer = math.NaN(), "finite"
		case !ordinary:
			answer = "finite; ordinary inputs break as well"
		case !(w.E <= limit):
			answer = string(stress.Broken)
			over = append(over, x.name)
		}
		if ordinary && wrong == 0 && w.N > 0 {
			most.Add(w.E, w.Sample, w.Element, w.Text)
		}
		table.Rows = append(table.Rows, []audit.Cell{
			audit.Word(x.name), audit.Num(w.E), audit.Num(float64(wrong)),
			audit.Num(big), audit.Word(answer),
		})
	}
	p.Show(audit.Exhibit{
		Name: "extremes", Title: "Extreme inputs at exact elements", Table: table,
		Note: "An input that would lose content at the border is left out at that element.",
	})
	return conclude(t, over, infinite, most, bad, limit, ordinary), nil
}

// back is the error of y = f(ρ(g)x) against base = f(x).
func back(t *stress.Test, out action.Action, g group.Element, y, base space.Value) (float64, error) {
	z, err := out.Apply(t.Pass.Subject.Plan.Group.Inv(g), y)
	if err != nil {
		return 0, fmt.Errorf("output: %w", err)
	}
	return t.Apart(z, base), nil
}

// conclude reports the kinds of inputs that break what ordinary ones keep, and those that give no finite output.
func conclude(t *stress.Test, over, infinite []string, most, bad stress.Worst, limit float64,
	ordinary bool,
) *stress.Result {
	p := t.Pass
	q := stress.Result{
		Answer: stress.Holds, Error: math.NaN(), Limit: limit,
		Text: "blank, constant, single-pixel, saturated, tied, bright and dark inputs keep what ordinary ones keep",
	}
	if most.N > 0 {
		q.Error = most.E
		p.Measure(audit.Number("error of extreme inputs", most.E, "").Against(limit))
	}
	if !ordinary {
		q.Limit, q.Text = math.NaN(),
			"outputs are finite; errors are not held against ordinary inputs, which break as well"
		if len(t.Exact) == 0 {
			q.Text = "outputs are finite; there are no exact elements to measure an error at"
		}
	}
	clue := audit.Clue{Name: audit.ClueExtreme, Strength: 1, Text: q.Text}
	if len(infinite) > 0 || len(over) > 0 {
		q.Answer = stress.Broken
		at, ev := most, []audit.Evidence{audit.Number("error of extreme inputs", most.E, "").Against(limit)}
		var parts []string
		if len(infinite) > 0 {
			at, ev = bad, []audit.Evidence{audit.Number("outputs that are not finite", float64(bad.N), "").Against(0)}
			parts = append(parts, "the output is not finite for inputs of the kinds "+strings.Join(infinite, ", "))
		}
		if len(over) > 0 {
			parts = append(parts, fmt.Sprintf("the error is %.2g for inputs of the kinds %s, while ordinary ones hold",
				most.E, strings.Join(over, ", ")))
		}
		q.Text = strings.Join(parts, "; ")
		clue.Holds, clue.Text, clue.Location, clue.Evidence = true, q.Text,
			strings.Join(append(infinite, over...), ", "), ev
		p.Report(audit.Finding{
			Category: audit.Stress, Location: "input", Worst: t.Where(at.Sample, at.Element), Message: q.Text,
			Evidence: ev,
			Remedies: []string{
				"normalise the inputs, or guard the range they may have",
				"break ties in a way that does not depend on places",
			},
		})
	}
	if ordinary || clue.Holds {
		p.Clue(clue)
	}
	q.Show(p)
	return &q
}
