package stress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// change makes a list of numbers into a strange one. It must not change its argument.
type change func(x []float64) []float64

// times multiplies every number.
func times(c float64) change {
	return func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = c * v
		}
		return y
	}
}

// constant puts the mean of the numbers everywhere.
func constant(x []float64) []float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return slices.Repeat([]float64{sum / float64(max(len(x), 1))}, len(x))
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
	f    change
}{
	{"zero", times(0)},
	{"constant", constant},
	{"single pixel", single},
	{"saturated", saturated},
	{"tied", tied},
	{"a thousandth", times(1e-3)},
	{"a thousand times", times(1e3)},
	{"a million times", times(1e6)},
}

// changed is v with its numbers changed, field by field of a record. The fields named as whole stay: half an atom is no
// strange input but none, and the model does not read it. The error wraps errors.ErrUnsupported for values without
// numbers, such as masks, and for records of nothing else than whole numbers.
func changed(v space.Value, f change, whole ...string) (space.Value, error) {
	switch v := v.(type) {
	case *space.Mask, *space.Boxes, *space.Links:
		return nil, fmt.Errorf("values of kind %s have no numbers to change: %w", v.Kind(), errors.ErrUnsupported)
	case *space.Record:
		o := &space.Record{Names: v.Names, Values: slices.Clone(v.Values)}
		some := false
		for i, x := range v.Values {
			if slices.Contains(whole, v.Names[i]) {
				continue
			}
			y, err := changed(x, f)
			if errors.Is(err, errors.ErrUnsupported) {
				continue
			} else if err != nil {
				return nil, fmt.Errorf("field %s: %w", v.Names[i], err)
			}
			o.Values[i], some = y, true
		}
		if !some {
			return nil, fmt.Errorf("no field of %s has numbers to change: %w", strings.Join(v.Names, ", "),
				errors.ErrUnsupported)
		}
		return o, nil
	}
	if slices.Contains(whole, "") {
		return nil, fmt.Errorf("the model reads whole numbers: %w", errors.ErrUnsupported)
	}
	x, err := audit.Numbers(v)
	if err != nil {
		return nil, err
	}
	return audit.WithNumbers(v, f(x))
}

// size is ‖v‖ of an output, as errors are measured.
func (t *tester) size(v space.Value) float64 {
	x, err := audit.Numbers(v)
	if err != nil {
		return math.NaN()
	}
	zero, err := audit.WithNumbers(v, make([]float64, len(x)))
	if err != nil {
		return math.NaN()
	}
	d, err := t.p.Compare(v, zero)
	if err != nil {
		return math.NaN()
	}
	return d.Norm
}

// askExtremes sends strange inputs through the model, unmoved and moved by exact elements.
func (t *tester) askExtremes(ctx context.Context) error {
	p := t.p
	in, out, G := p.Subject.Plan.In, p.Subject.Plan.Out, p.Subject.Plan.Group
	set := t.sw.Set(p, true)
	// What ordinary inputs break, strange ones need not keep; only whether they are finite is then asked.
	limit := max(p.Policy.Threshold, t.floor)
	ordinary := set != nil && set.NonFinite == 0 && set.Worst.Value <= limit
	table := &audit.Table{Columns: []audit.Column{
		{Name: "input"},
		{Name: "error", Doc: "relative to the scale of the outputs, or to the output where that is larger"},
		{Name: "outputs that are not finite"},
		{Name: "size of the output", Unit: "output"},
		{Name: "answer"},
	}}
	var over, infinite []string
	var most, bad worst
	for _, x := range extremes {
		var w worst
		wrong, big := 0, 0.0
		for i := range min(2, len(t.raw)) {
			v, err := changed(t.raw[i], x.f, t.whole...)
			if errors.Is(err, errors.ErrUnsupported) {
				t.skip(Extremes, err.Error())
				return nil
			} else if err != nil {
				return err
			}
			values, at := []space.Value{}, []int{}
			for _, j := range append([]int{-1}, t.exact...) {
				g := G.Identity()
				if j >= 0 {
					g = p.Elements[j].G
					if gone, err := loses(in, g, v); err != nil || gone {
						if err != nil {
							return fmt.Errorf("sample %s at %s: %w", t.ids[i], t.label(j), err)
						}
						continue // what leaves the picture is not the model's fault
					}
				}
				gv, err := in.Apply(g, v)
				if err != nil {
					return fmt.Errorf("sample %s: %w", t.ids[i], err)
				}
				values, at = append(values, gv), append(at, j)
			}
			y, err := t.predict(ctx, values)
			if err != nil {
				return err
			}
			for k, j := range at {
				ok, err := audit.Finite(y[k])
				if err != nil {
					return err
				}
				if !ok {
					wrong++
					bad.add(math.NaN(), i, j, x.name)
					continue
				}
				if j < 0 {
					big = max(big, t.size(y[k]))
					continue
				}
				e, err := t.back(out, p.Elements[j].G, y[k], y[0])
				if err != nil {
					return err
				}
				if !t.sw.Mask {
					// A larger output rounds to larger numbers.
					e *= t.scale / max(t.scale, t.size(y[0]))
				}
				if !math.IsNaN(e) {
					w.add(e, i, j, x.name)
				}
			}
		}
		answer := Holds
		switch {
		case wrong > 0:
			answer = "not finite"
			infinite = append(infinite, x.name)
		case w.n == 0:
			w.e, answer = math.NaN(), "finite"
		case !ordinary:
			answer = "finite; ordinary inputs break as well"
		case !(w.e <= limit):
			answer = Broken
			over = append(over, x.name)
		}
		if ordinary && wrong == 0 && w.n > 0 {
			most.add(w.e, w.sample, w.element, w.text)
		}
		table.Rows = append(table.Rows, []audit.Cell{
			audit.Word(x.name), audit.Num(w.e), audit.Num(float64(wrong)),
			audit.Num(big), audit.Word(answer),
		})
	}
	p.Show(audit.Exhibit{
		Name: "extremes", Title: "Extreme inputs at exact elements", Table: table,
		Note: "An input that would lose content at the border is left out at that element.",
	})
	t.concludeExtremes(over, infinite, most, bad, limit, ordinary)
	return nil
}

// back is the error of y = f(ρ(g)x) against base = f(x).
func (t *tester) back(out action.Action, g group.Element, y, base space.Value) (float64, error) {
	z, err := out.Apply(t.p.Subject.Plan.Group.Inv(g), y)
	if err != nil {
		return 0, fmt.Errorf("output: %w", err)
	}
	return t.apart(z, base), nil
}

func (t *tester) concludeExtremes(over, infinite []string, most, bad worst, limit float64, ordinary bool) {
	p := t.p
	q := Question{
		Name: Extremes, Answer: Holds, Error: math.NaN(), Limit: limit,
		Text: "blank, constant, single-pixel, saturated, tied, bright and dark inputs keep what ordinary ones keep",
	}
	if most.n > 0 {
		q.Error = most.e
		p.Measure(audit.Number("error of extreme inputs", most.e, "").Against(limit))
	}
	if !ordinary {
		q.Limit, q.Text = math.NaN(),
			"outputs are finite; errors are not held against ordinary inputs, which break as well"
		if len(t.exact) == 0 {
			q.Text = "outputs are finite; there are no exact elements to measure an error at"
		}
	}
	clue := audit.Clue{Name: audit.ClueExtreme, Strength: 1, Text: q.Text}
	if len(infinite) > 0 || len(over) > 0 {
		q.Answer = Broken
		at, ev := most, []audit.Evidence{audit.Number("error of extreme inputs", most.e, "").Against(limit)}
		var parts []string
		if len(infinite) > 0 {
			at, ev = bad, []audit.Evidence{audit.Number("outputs that are not finite", float64(bad.n), "").Against(0)}
			parts = append(parts, "the output is not finite for inputs of the kinds "+strings.Join(infinite, ", "))
		}
		if len(over) > 0 {
			parts = append(parts, fmt.Sprintf("the error is %.2g for inputs of the kinds %s, while ordinary ones hold",
				most.e, strings.Join(over, ", ")))
		}
		q.Text = strings.Join(parts, "; ")
		clue.Holds, clue.Text, clue.Location, clue.Evidence = true, q.Text,
			strings.Join(append(infinite, over...), ", "), ev
		p.Report(audit.Finding{
			Category: audit.Stress, Location: "input", Worst: t.where(at.sample, at.element), Message: q.Text,
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
	t.answer(q)
}
