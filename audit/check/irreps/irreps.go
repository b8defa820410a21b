// Package irreps is the check that looks for another type of the output where the declared one fails: an axial vector
// declared polar, a parity, the order of the components of irreps.
package irreps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/audit/kit/trial"
	"nero/data/space"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// Check is the check of output types. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "irreps",
	Title: "Other types of the output",
	Doc: `Irreps tries, where the outputs of declared types fail, other types for each of their fields, on a few inputs and elements of the plan: unchanged,
vectors, pseudovectors, pseudoscalars as their widths allow; of irreps the other parity, of all terms and of each; up to four terms in any other order; the components of
every degree in reverse order, or with the signs (-1)^m of Condon and Shortley; and another polar axis, x or z in place of y, of all terms and of each; of quaternions the order
x, y, z, w and those of the inverse rotation. Normalisations of irreps are not tried: a factor per degree
commutes with the group. A type passes if the interval of the field's error lies below the limit; it is proposed and nothing is switched.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs on which a type must pass.", Default: 8, Min: 3, Max: 1000},
		{Name: "elements", Doc: "Elements on which a type must pass, per set.", Default: 6, Min: 2, Max: 1000},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
}

// Result lists the types that were tried.
type Result struct {
	Tried []Tried
}

// Tried is one type of one field and its error.
type Tried struct {
	Field, Declared, Type string
	// of the field, mean over inputs of the largest
	Error  audit.Interval
	Passes bool
}

// patched is a declared action with one field moved by another.
type patched struct {
	declared, other action.Action
	// of a record; -1 for the value itself
	field     int
	conjugate func(g group.Element) group.Element
	// change of basis of a row; nil for none
	forth, back func(x []float64) []float64
	// Only are the columns, from one to before another, that move otherwise; all if both are 0.
	only [2]int
}

func (a *patched) Group() group.Group { return a.declared.Group() }

func (a *patched) Apply(g group.Element, v space.Value) (space.Value, error) {
	part := v
	_, fields := space.Fields(v)
	if a.field >= 0 {
		if a.field >= len(fields) {
			return nil, fmt.Errorf("%w: the output is no record", scale.ErrForm)
		}
		part = fields[a.field]
	}
	h := g
	if a.conjugate != nil {
		h = a.conjugate(g)
	}
	in := part
	if a.forth != nil {
		in = rowwise(part, a.forth)
	}
	w := in
	if a.field >= 0 {
		w = with(v, a.field, in)
	}
	moved, err := a.other.Apply(h, w)
	if err != nil {
		return nil, err
	}
	if a.field < 0 && a.only == [2]int{} {
		if a.back != nil {
			return rowwise(moved, a.back), nil
		}
		return moved, nil
	}
	all, err := a.declared.Apply(g, v)
	if err != nil {
		return nil, err
	}
	if a.field < 0 {
		return a.columns(all, moved), nil
	}
	_, fields = space.Fields(moved)
	if names, _ := space.Fields(all); names == nil || a.field >= len(fields) {
		return nil, fmt.Errorf("%w: the output is no record", scale.ErrForm)
	}
	out := fields[a.field]
	if a.back != nil {
		out = rowwise(out, a.back)
	}
	if a.only != [2]int{} {
		_, as := space.Fields(all)
		out = a.columns(as[a.field], out)
	}
	return with(all, a.field, out), nil
}

// columns are rows moved as declared, but for those columns that move otherwise.
func (a *patched) columns(declared, moved space.Value) space.Value {
	x, y := space.RowsOf(declared), space.RowsOf(moved)
	if x == nil || y == nil || x.N != y.N || x.W != y.W || a.only[1] > x.W {
		return moved
	}
	o := space.NewRows(x.N, x.W)
	for i := range x.N {
		copy(o.Row(i), x.Row(i))
		copy(o.Row(i)[a.only[0]:a.only[1]], y.Row(i)[a.only[0]:a.only[1]])
	}
	return o
}

// with is a record with another value in one field.
func with(r space.Value, k int, v space.Value) *space.Record {
	names, values := space.Fields(r)
	o := &space.Record{Names: names, Values: slices.Clone(values)}
	o.Values[k] = v
	return o
}

// rowwise changes every row.
func rowwise(v space.Value, f func(x []float64) []float64) space.Value {
	r := space.RowsOf(v)
	if r == nil {
		return v
	}
	o := space.NewRows(r.N, r.W)
	for i := range r.N {
		copy(o.Row(i), f(r.Row(i)))
	}
	return o
}

// variant is another type, or another basis of it.
type variant struct {
	name        string
	typ         string
	conjugate   func(g group.Element) group.Element
	forth, back func(x []float64) []float64
	// columns; see [patched]
	only [2]int
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary, so every type would pass", audit.ErrNotApplicable)
	}
	out := p.Subject.OutSpec
	fields := out.All()
	limit := max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0))
	r := &Result{}
	asked := false
	for k, f := range fields {
		if !f.Lined() || f.Type == "" {
			continue
		}
		at := k
		if out.Fields == nil {
			at = -1
		}
		before := failing(sw, at)
		if !(before > limit) {
			asked = true
			continue
		}
		asked = true
		// Where the declared type holds on the pairs that others are tried on, the field fails elsewhere, as by numbers
		// that are not finite, and no other type explains that.
		as, err := measure(ctx, p, sw.Scale, at, variant{name: f.Type}, p.Subject.Plan.Out)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, scale.ErrForm) {
			return nil, err
		}
		if err == nil && as.N > 1 && as.Hi <= limit {
			continue
		}
		for _, v := range variants(p, f) {
			spec := out
			if at >= 0 {
				spec.Fields = slices.Clone(out.Fields)
				spec.Fields[k].Type = v.typ
			} else {
				spec.Type = v.typ
			}
			_, other, err := p.Subject.Actions(p.Subject.Plan.Group, p.Subject.InSpec, spec)
			if err != nil {
				continue // a type that does not fit the width, or that the group does not know
			}
			t, err := measure(ctx, p, sw.Scale, at, v, other)
			if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, scale.ErrForm) {
				continue
			} else if err != nil {
				return nil, err
			}
			r.Tried = append(r.Tried, Tried{
				Field: f.Name, Declared: f.Type, Type: v.name, Error: t,
				Passes: t.Hi <= limit && t.N > 1,
			})
		}
	}
	if !asked {
		return nil, fmt.Errorf("%w: no output is rows of a declared type", audit.ErrNotApplicable)
	}
	if len(r.Tried) == 0 {
		return nil, fmt.Errorf("%w: the declared types hold", audit.ErrNotApplicable)
	}
	report(p, r, limit)
	return r, nil
}

// failing is the largest error of a field over all samples and elements, the whole output for -1; infinite where an
// error is not a number.
func failing(sw *sweep.Result, field int) float64 {
	list := sw.Err
	scale := sw.Scale
	if field >= 0 && field < len(sw.FieldErr) {
		list, scale = sw.FieldErr[field], 1
	}
	most := 0.0
	for _, e := range list {
		x := e / scale
		if math.IsNaN(x) {
			return math.Inf(1)
		}
		most = max(most, x)
	}
	return most
}

// variants are the types that may be meant, without the declared one.
func variants(p *audit.Pass, f space.Spec) []variant {
	w := 0
	if len(f.Shape) > 0 {
		w = f.Shape[len(f.Shape)-1]
	}
	var out []variant
	add := func(t string) {
		if t != f.Type {
			out = append(out, variant{name: t, typ: t})
		}
	}
	switch w {
	case 1:
		add(space.TypeUnchanged)
		add(space.TypePseudoscalars)
	case 3:
		add(space.TypeVectors)
		add(space.TypePseudovectors)
		add(space.TypeUnchanged)
	default:
		add(space.TypeUnchanged)
	}
	if f.Type == space.TypeQuaternions && w%4 == 0 {
		// The declared order is w, x, y, z.
		order := func(name string, forth, back [4]int) {
			by := func(at [4]int) func(x []float64) []float64 {
				return func(x []float64) []float64 {
					y := slices.Clone(x)
					for i := range y {
						y[i] = x[i-i%4+at[i%4]]
					}
					return y
				}
			}
			out = append(out, variant{name: f.Type + ", " + name, typ: f.Type, forth: by(forth), back: by(back)})
		}
		order("components in the order x, y, z, w", [4]int{3, 0, 1, 2}, [4]int{1, 2, 3, 0})
		conj := func(x []float64) []float64 {
			y := slices.Clone(x)
			for i := range y {
				if i%4 != 0 {
					y[i] = -y[i]
				}
			}
			return y
		}
		out = append(out, variant{name: f.Type + ", of the inverse rotation", typ: f.Type, forth: conj, back: conj})
		return out
	}
	parsed, err := irreps.Parse(f.Type)
	if err != nil {
		return out
	}
	for _, t := range parities(f.Type) {
		add(t)
	}
	for _, t := range orders(f.Type) {
		add(t)
	}
	widths := blocks(parsed)
	// Of all terms, and of each where there are several; a term of degree 0 has one component.
	type part struct {
		name string
		only [2]int
	}
	list := []part{{}}
	if at := 0; len(parsed) > 1 {
		for _, t := range parsed {
			n := t.Mul * (2*t.L + 1)
			if t.L > 0 {
				list = append(list, part{" in " + irreps.Irreps{t}.String(), [2]int{at, at + n}})
			}
			at += n
		}
	}
	for _, q := range list {
		same := func(name string, g func(d, k int) (int, float64)) {
			basis := func(x []float64) []float64 {
				y := perBlock(x, widths, g)
				if q.only != [2]int{} && q.only[1] <= len(x) {
					copy(y[:q.only[0]], x)
					copy(y[q.only[1]:], x[q.only[1]:])
				}
				return y
			}
			out = append(out, variant{name: f.Type + ", " + name + q.name, typ: f.Type, forth: basis, back: basis})
		}
		same("components in reverse order", func(d, k int) (int, float64) { return d - 1 - k, 1 })
		same("signs (-1)^m", func(d, k int) (int, float64) {
			if (k-(d-1)/2)%2 != 0 {
				return k, -1
			}
			return k, 1
		})
		for _, axis := range []struct {
			name string
			by   float64
		}{{"z in place of y as the polar axis", -1}, {"x in place of y as the polar axis", 1}} {
			if conj := turned(p.Subject.Plan.Group, axis.by); conj != nil {
				out = append(out, variant{
					name: f.Type + ", " + axis.name + q.name, typ: f.Type, conjugate: conj, only: q.only,
				})
			}
		}
	}
	return out
}

// mostTerms bounds the terms whose orders are tried: there are 23 others of four.
const mostTerms = 4

// orders are the irreps with their terms in other orders.
func orders(t string) []string {
	terms := strings.Split(strings.ReplaceAll(t, " ", ""), "+")
	if len(terms) > mostTerms {
		return nil
	}
	var out []string
	var place func(done, left []string)
	place = func(done, left []string) {
		if len(left) == 0 {
			if s := strings.Join(done, "+"); s != strings.Join(terms, "+") && !slices.Contains(out, s) {
				out = append(out, s)
			}
			return
		}
		for i := range left {
			place(append(slices.Clip(done), left[i]), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	place(nil, terms)
	return out
}

// parities are the irreps with all parities flipped, and with that of one term.
func parities(t string) []string {
	terms := strings.Split(strings.ReplaceAll(t, " ", ""), "+")
	flip := func(s string) string {
		switch {
		case strings.HasSuffix(s, "e"):
			return s[:len(s)-1] + "o"
		case strings.HasSuffix(s, "o"):
			return s[:len(s)-1] + "e"
		}
		return s
	}
	all := make([]string, len(terms))
	for i, s := range terms {
		all[i] = flip(s)
	}
	out := []string{strings.Join(all, "+")}
	if len(terms) > 1 {
		for i := range terms {
			one := slices.Clone(terms)
			one[i] = flip(one[i])
			out = append(out, strings.Join(one, "+"))
		}
	}
	return out
}

// perBlock moves the components within every irrep: component k of a block of d takes the number at place and sign.
func perBlock(x []float64, widths []int, f func(d, k int) (place int, sign float64)) []float64 {
	y := slices.Clone(x)
	from := 0
	for _, d := range widths {
		for k := range d {
			if from+d > len(x) {
				return y
			}
			at, sign := f(d, k)
			y[from+k] = sign * x[from+at]
		}
		from += d
	}
	return y
}

// turned conjugates elements by the rotation by ±120 degrees about (1, 1, 1), which carries the axes of coordinates
// into each other; nil for groups that do not hold it.
func turned(G group.Group, sign float64) func(g group.Element) group.Element {
	at := group.First(G.Chart(), group.KindVector)
	if at < 0 {
		return nil
	}
	if _, ok := G.(group.Finite); ok {
		return nil
	}
	const third = 69.28203230275508 // 120/√3
	c := slices.Clone(G.Identity())
	for k := range 3 {
		c[at+k] = sign * third
	}
	c = G.Mul(c, G.Identity())
	return func(g group.Element) group.Element { return G.Mul(c, G.Mul(g, G.Inv(c))) }
}

// measure is the error of one field under a variant.
func measure(ctx context.Context, p *audit.Pass, scale float64, field int, v variant,
	other action.Action,
) (audit.Interval, error) {
	plan := p.Subject.Plan
	t := &trial.Trial{In: plan.In, Out: &patched{
		declared: plan.Out, other: other, field: field, conjugate: v.conjugate,
		forth: v.forth, back: v.back, only: v.only,
	}}
	for _, j := range p.PickElements(int(p.Param("elements"))) {
		t.Elements = append(t.Elements, p.Elements[j].G)
	}
	t.Only, t.Single = field, field >= 0
	errs, err := trial.Measure(ctx, p, p.Pick(int(p.Param("samples"))), scale, []*trial.Trial{t})
	if err != nil {
		return audit.Interval{}, err
	}
	return errs[0].Interval(p, v.name), nil
}

func report(p *audit.Pass, r *Result, limit float64) {
	t := &audit.Table{Columns: []audit.Column{
		{Name: "field"},
		{Name: "declared"},
		{Name: "tried"},
		{Name: "error"},
		{Name: "answer"},
	}}
	var found []Tried
	for _, x := range r.Tried {
		answer := "fails"
		if x.Passes {
			answer = "passes"
			found = append(found, x)
		}
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(x.Field), audit.Word(x.Declared), audit.Word(x.Type),
			audit.Num(x.Error.Value), audit.Word(answer),
		})
	}
	p.Show(audit.Exhibit{
		Name: "types", Title: "Other types of the output", Table: t,
		Note: "Each field with one other type, the others as declared. A type passes at an error of at most " +
			audit.Figures(limit) + ".",
	})
	p.Measure(audit.Number("types tried", float64(len(r.Tried)), ""),
		audit.Number("types that pass", float64(len(found)), ""))
	c := audit.Clue{
		Name: audit.ClueIrreps, Strength: 1,
		Text: fmt.Sprintf("none of %d other types of the output passes", len(r.Tried)),
	}
	if len(found) > 0 {
		f := found[0]
		c.Holds, c.Location = true, strings.TrimSpace(f.Field+" as "+f.Type)
		c.Text = fmt.Sprintf("%s holds as %s, with an error of %s, and not as declared, %s", f.Field, f.Type,
			audit.Figures(f.Error.Value), f.Declared)
		c.Evidence = []audit.Evidence{audit.Measured("error as "+f.Type, f.Error, "").Against(limit)}
		p.Report(audit.Finding{
			Category: audit.Convention, Location: "output " + f.Field, Worst: audit.Nowhere, Message: c.Text,
			Evidence: c.Evidence,
			Remedies: []string{
				"declare " + f.Field + " as " + f.Type +
					", if that is what the model means; nothing was switched",
				"or mend the parity or the order of components in the layer before the output",
			},
		})
	}
	p.Clue(c)
}

// blocks are the lengths of the irreps one after another.
func blocks(all irreps.Irreps) []int {
	var out []int
	for _, t := range all {
		for range t.Mul {
			out = append(out, 2*t.L+1)
		}
	}
	return out
}
