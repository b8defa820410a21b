// Package extremes is the check of extreme inputs.
package extremes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the extremes check. Its result is a [*stress.Result].
var Check = &audit.Check{
	Name:  "extremes",
	Title: "Extreme inputs",
	Doc: `Extremes asks whether extreme inputs keep what ordinary ones keep.

Blank, constant, single-pixel, saturated, tied and shuffled inputs, and inputs a thousand and a million times as bright and a thousandth, are tried at exact elements.
A model may round much more there than at ordinary inputs: products of large numbers lose what tells them apart, and boxes or labels that are chosen among equals are no
answer. An error is therefore held against what rounding does at the extreme input itself, times the factor of the policy: the noise of the evaluation when all its
numbers move by a thousand ulps of float32, up or down, equal ones alike; of boxes and labels the change by that, and by one ulp of each number. An output that is not finite for such an input is a finding of its own and no failure: no model is made for it.`,
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

// shuffled has the same numbers in another order, so that there is something everywhere: what inputs with an empty
// margin never reach is asked as well.
func shuffled(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, k := range rand.New(rand.NewPCG(1, uint64(len(x)))).Perm(len(x)) {
		y[i] = x[k]
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
	{"shuffled", shuffled},
	{"a thousandth", stress.Times(1e-3)},
	{"a thousand times", stress.Times(1e3)},
	{"a million times", stress.Times(1e6)},
}

// trial is one kind of extreme input and what came of it.
type trial struct {
	name string
	f    stress.Change
	// of all pairs with a finite answer
	worst stress.Worst
	// of those that rounding does not explain
	real stress.Worst
	// what rounding does where it explains an error above the limit; 0 if it explains none
	rounding float64
	// outputs that are not finite
	wrong int
	bad   stress.Worst
	// largest output at the identity
	size float64
}

// run sends strange inputs through the model, unmoved and moved by exact elements.
func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	set := t.Sweep.Set(p, true)
	// What ordinary inputs break, strange ones need not keep; only whether they are finite is then asked.
	limit := max(p.Policy.Threshold, t.Floor)
	ordinary := set != nil && set.NonFinite == 0 && set.Worst.Value <= limit
	table := &audit.Table{Columns: []audit.Column{
		{Name: "input"},
		{Name: "error", Doc: "relative to the scale of the outputs, or to the output where that is larger"},
		{Name: "rounding", Doc: "what rounding does to this input, where it explains an error above the limit"},
		{Name: "outputs that are not finite"},
		{Name: "size of the output", Unit: "output"},
		{Name: "answer"},
	}}
	var over, infinite, rounded []string
	var most, bad stress.Worst
	for _, x := range extremes {
		one := trial{name: x.name, f: x.f}
		for i := range min(2, len(t.Raw)) {
			if err := one.try(ctx, t, i, ordinary, limit); err != nil {
				return nil, err
			}
		}
		answer := string(stress.Holds)
		switch {
		case one.wrong > 0:
			answer = "not finite"
			infinite = append(infinite, x.name)
			bad.Add(math.NaN(), one.bad.Sample, one.bad.Element, x.name)
			bad.N += one.wrong - 1
		case one.worst.N == 0:
			one.worst.E, answer = math.NaN(), "finite"
		case !ordinary:
			answer = "finite; ordinary inputs break as well"
		case one.real.N > 0 && !(one.real.E <= limit):
			answer = string(stress.Broken)
			over = append(over, x.name)
		case one.rounding > 0:
			answer = "not determined: rounding alone does as much"
			rounded = append(rounded, x.name)
		}
		if ordinary && one.wrong == 0 && one.real.N > 0 {
			most.Add(one.real.E, one.real.Sample, one.real.Element, one.real.Text)
		}
		floor := audit.Num(math.NaN())
		if one.rounding > 0 {
			floor = audit.Num(one.rounding)
		}
		table.Rows = append(table.Rows, []audit.Cell{
			audit.Word(x.name), audit.Num(one.worst.E), floor, audit.Num(float64(one.wrong)),
			audit.Num(one.size), audit.Word(answer),
		})
	}
	p.Show(audit.Exhibit{
		Name: "extremes", Title: "Extreme inputs at exact elements", Table: table,
		Note: "An input that would lose content at the border is left out at that element.",
	})
	return conclude(t, over, infinite, rounded, most, bad, limit, ordinary), nil
}

// try sends input i, changed, through the model. Errors above the limit are held against rounding if judge is set.
func (o *trial) try(ctx context.Context, t *stress.Test, i int, judge bool, limit float64) error {
	p := t.Pass
	in, out, G := p.Subject.Plan.In, p.Subject.Plan.Out, p.Subject.Plan.Group
	v, err := stress.Changed(t.Raw[i], o.f, t.Whole...)
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", audit.ErrNotApplicable, err)
	} else if err != nil {
		return err
	}
	values, at := []space.Value{}, []int{}
	for _, j := range append([]int{-1}, t.Exact...) {
		g := G.Identity()
		if j >= 0 {
			g = p.Elements[j].G
			if gone, err := stress.Loses(in, g, v); err != nil || gone {
				if err != nil {
					return fmt.Errorf("sample %s at %s: %w", t.IDs[i], t.Label(j), err)
				}
				continue // what leaves the picture is not the model's fault
			}
		}
		gv, err := in.Apply(g, v)
		if err != nil {
			return fmt.Errorf("sample %s: %w", t.IDs[i], err)
		}
		values, at = append(values, gv), append(at, j)
	}
	y, err := t.Predict(ctx, values)
	if err != nil {
		return err
	}
	floor := -1.0 // not asked for yet
	for k, j := range at {
		if !space.Finite(y[k]) {
			o.wrong++
			o.bad.Add(math.NaN(), i, j, o.name)
			continue
		}
		if j < 0 {
			o.size = max(o.size, t.Size(y[k]))
			continue
		}
		e, err := back(t, out, p.Elements[j].G, y[k], y[0])
		if err != nil {
			return err
		}
		if math.IsNaN(e) {
			continue
		}
		o.worst.Add(e, i, j, o.name)
		if judge && e > limit {
			if floor < 0 {
				if floor, err = rounding(ctx, t, i, v, y[0]); err != nil {
					return err
				}
			}
			if e <= p.Policy.RoundingFactor*floor {
				o.rounding = max(o.rounding, floor)
				continue
			}
		}
		o.real.Add(e, i, j, o.name)
	}
	return nil
}

// draws are how often rounding is drawn anew.
const draws = 4

// jitters are by how many ulps the numbers change, each by itself, of inputs whose answer is chosen.
var jitters = [...]float64{1, 1024}

// rounding is what rounding does at the changed input v, whose answer is base: the noise of the evaluation,
// ‖f(v+d) + f(v-d) - 2f(v)‖/√6, with d a thousand ulps of every number. Equal numbers change by the same, so that what
// is equal stays equal: a model that breaks ties by place is not excused by it.
//
// An answer that is chosen, boxes or labels, has no such difference, and nothing to choose by where candidates are
// equal. Of those it is the largest change by d, and by one ulp and a thousand of each number by itself, up or down:
// one ulp is lost in the sums of a layer, and a thousand leave no two candidates equal.
func rounding(ctx context.Context, t *stress.Test, i int, v, base space.Value) (float64, error) {
	p := t.Pass
	in, e := p.Subject.Plan.In, p.Subject.Plan.Group.Identity()
	r := p.Rand("rounding of an extreme input", t.IDs[i])
	var values []space.Value
	for range draws {
		// So far that every step of a sum over a thousand numbers rounds anew.
		by, seed := float64(1024+r.IntN(1024))*0x1p-23, r.Uint64()
		for _, c := range []float64{by, -by} {
			w, err := stress.Changed(v, shaken(c, seed), t.Whole...)
			if err != nil {
				return 0, err
			}
			if w, err = in.Apply(e, w); err != nil {
				return 0, fmt.Errorf("sample %s: %w", t.IDs[i], err)
			}
			values = append(values, w)
		}
		if !t.Sweep.Mask {
			continue
		}
		w, err := in.Apply(e, v)
		if err != nil {
			return 0, fmt.Errorf("sample %s: %w", t.IDs[i], err)
		}
		for _, ulps := range jitters {
			w, err := audit.Jittered(w, p.Subject.Input, ulps, r)
			if err != nil {
				return 0, fmt.Errorf("sample %s: %w", t.IDs[i], err)
			}
			values = append(values, w)
		}
	}
	y, err := t.Predict(ctx, values)
	if err != nil {
		return 0, err
	}
	most := 0.0
	for k, z := range y {
		var d float64
		switch {
		case t.Sweep.Mask:
			d = apart(t, z, base)
		case k%2 == 0:
			if d, err = controls.SecondDifference(p, z, base, y[k+1]); err != nil {
				return 0, err
			}
			d /= max(t.Scale, t.Size(base))
		}
		if d > most { // false for NaN
			most = d
		}
	}
	return most, nil
}

// shaken moves every number by the share c of itself, up or down as the number and the seed say.
func shaken(c float64, seed uint64) stress.Change {
	return func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			by := c
			if rand.NewPCG(seed, math.Float64bits(v)).Uint64()&1 == 0 {
				by = -c
			}
			y[i] = v * (1 + by)
		}
		return y
	}
}

// back is the error of y = f(ρ(g)x) against base = f(x).
func back(t *stress.Test, out action.Action, g group.Element, y, base space.Value) (float64, error) {
	z, err := out.Apply(t.Pass.Subject.Plan.Group.Inv(g), y)
	if err != nil {
		return 0, fmt.Errorf("output: %w", err)
	}
	return apart(t, z, base), nil
}

// apart is the distance from base relative to the scale, or to base where that is larger: a larger output rounds to
// larger numbers.
func apart(t *stress.Test, z, base space.Value) float64 {
	d := t.Apart(z, base)
	if !t.Sweep.Mask {
		d *= t.Scale / max(t.Scale, t.Size(base))
	}
	return d
}

// conclude reports the kinds of inputs that break what ordinary ones keep, and those that give no finite output.
func conclude(t *stress.Test, over, infinite, rounded []string, most, bad stress.Worst, limit float64,
	ordinary bool,
) *stress.Result {
	p := t.Pass
	q := stress.Result{
		Answer: stress.Holds, Error: math.NaN(), Limit: limit,
		Text: "blank, constant, single-pixel, saturated, tied, shuffled, bright and dark inputs keep what ordinary " +
			"ones keep",
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
	if ordinary && len(rounded) > 0 {
		q.Text += fmt.Sprintf("; of the kinds %s nothing can be said: rounding alone changes their answers as much",
			strings.Join(rounded, ", "))
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
