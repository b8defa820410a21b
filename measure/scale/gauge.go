package scale

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/data/space"
)

// Gauge holds the scales that predictions are measured against, part by part, and what their numbers are. Energies and
// forces have units of their own, and so may the channels of a tensor, and one of them must not hide the other: the
// error of a prediction is the largest of the errors of its parts, each over the centred scale of that part. The nil
// Gauge compares as [Compare] does.
type Gauge struct {
	// Names are those of the fields of records; empty for other predictions. Scales are s of each field as a whole; the
	// size of the field where it does not vary, 1 where it is zero.
	Names  []string
	Scales []float64
	// Parts are what is judged by itself. At least one, once it was measured.
	Parts []Part
	// Still are the indexes of the parts that do not vary, where there are several.
	Still []int
	// Scale is that of the whole, which [Difference].Norm is in units of: 1 for records and shares.
	Scale float64

	// Types say what the numbers of the fields are, by name, see [space.Spec].Type, and Whole what those of a
	// prediction are that is no record.
	Types map[string]string
	Whole string
	// Declared says that scores were declared to be those of classes, so that they have a unit in common.
	Declared bool
	// Features says that a prediction is one point, see [space.Spec].Features: one part, whatever its channels.
	Features bool
	// Centred says that what all numbers of a prediction have in common is taken off before they are measured.
	Centred bool
}

func (g *Gauge) field(i int) float64 {
	if g != nil && i < len(g.Scales) {
		return g.Scales[i]
	}
	return 1
}

// Compare measures a - b, two predictions of one form; see [Difference]. Norm is the largest of the parts, each over
// its scale, times the scale of the whole: divided by that it is the relative error, and for a prediction of one part
// it is the norm itself. For records every field counts over its scale, so that the result is relative already.
func (g *Gauge) Compare(a, b space.Value) (Difference, error) {
	if g == nil || len(g.Parts) == 0 {
		if names, _ := space.Fields(a); names != nil {
			return compareRecords(a, b)
		}
		return Compare(a, b)
	}
	names, _ := space.Fields(a)
	if other, _ := space.Fields(b); !slices.Equal(names, other) {
		return Difference{}, differ(a, b)
	}
	x, y := g.pieces(a), g.pieces(b)
	if len(x) != len(y) {
		return Difference{}, differ(a, b)
	}
	parts := 0
	for _, p := range x {
		parts += max(p.n, 1)
	}
	if names == nil && parts != len(g.Parts) { // no prediction, such as an input
		return Compare(a, b)
	}
	out := Difference{Parts: make([]float64, 0, len(g.Parts)), Part: -1}
	if names != nil {
		out.Fields = make([]Difference, len(names))
	}
	seen := make([]bool, len(names))
	for i, p := range x {
		ds, err := apart(p, y[i])
		if err != nil {
			if names != nil {
				err = fmt.Errorf("field %s: %w", names[p.field], err)
			}
			return Difference{}, err
		}
		if p.hidden {
			private(ds, p, y[i])
		}
		for _, d := range ds {
			k := len(out.Parts)
			if k == len(g.Parts) {
				return Difference{}, differ(a, b)
			}
			if g.Parts[k].off {
				out.Parts = append(out.Parts, 0)
				continue
			}
			s := g.Parts[k].Scale
			rel, top := d.Norm/s, d.Max/s
			out.Parts = append(out.Parts, rel)
			if names == nil {
				rel, top = g.up(rel, d.Norm), g.up(top, d.Max)
			}
			out.take(k, rel, top)
			if names != nil {
				out.field(p.field, rel, top, !seen[p.field])
				seen[p.field] = true
			}
		}
	}
	if len(out.Parts) < len(g.Parts) {
		return Difference{}, differ(a, b)
	}
	if names != nil {
		out.Field = g.Parts[max(out.Part, 0)].Field
	}
	return out, nil
}

// up brings a relative error of a part to the unit of the whole; where there is one part it is what it was.
func (g *Gauge) up(rel, own float64) float64 {
	if len(g.Parts) == 1 {
		return own
	}
	return rel * g.Scale
}

// take makes part k the largest if it is; NaN is larger than any number.
func (d *Difference) take(k int, norm, top float64) {
	if d.Part < 0 || !(norm <= d.Norm) && !math.IsNaN(d.Norm) {
		d.Norm, d.Part = norm, k
	}
	if !(top <= d.Max) && !math.IsNaN(d.Max) {
		d.Max = top
	}
}

// field is the same within a field.
func (d *Difference) field(i int, norm, top float64, first bool) {
	f := &d.Fields[i]
	if first || !(norm <= f.Norm) && !math.IsNaN(f.Norm) {
		f.Norm = norm
	}
	if first || !(top <= f.Max) && !math.IsNaN(f.Max) {
		f.Max = top
	}
}

// private leaves of the differences of classes what is not shared by all of them: the smaller of the difference and its
// distance from the median, for what all classes have in common is a part of its own.
func private(ds []Difference, a, b piece) {
	x, y := a.value.Numbers(), b.value.Numbers()
	all := make([]float64, len(ds))
	for i := range all {
		all[i] = x[i] - y[i]
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	middle := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	for i, d := range all {
		if rest := math.Abs(d - middle); rest < ds[i].Norm {
			ds[i] = Difference{Norm: rest, Max: rest}
		}
	}
}

// Numbers are those of a prediction, each over the scale of its field; those of scores without what all have in common.
func (g *Gauge) Numbers(v space.Value) []float64 {
	names, fields := space.Fields(v)
	if c, ok := v.(centred); ok && g != nil {
		if rest, _, ok := c.Centred(); ok {
			return rest.Numbers()
		}
	}
	if names == nil || g == nil {
		return v.Numbers()
	}
	var all []float64
	for i, f := range fields {
		s := g.field(i)
		for _, a := range f.Numbers() {
			all = append(all, a/s)
		}
	}
	return all
}

// Direction is [Direction] of length 1 as the gauge measures it, field by field in the unit of each. It singles out no
// axis and shares no symmetry with any group.
func (g *Gauge) Direction(v space.Value, r *rand.Rand) []float64 {
	one := func(v space.Value, scale float64) []float64 {
		d := Direction(v, r)
		if n := math.Sqrt(Count(v)) * scale; n != 1 {
			for i := range d {
				d[i] *= n
			}
		}
		return d
	}
	names, fields := space.Fields(v)
	if names == nil {
		return g.spread(v, one(v, 1))
	}
	var all []float64
	for i, f := range fields {
		all = append(all, one(f, g.field(i))...)
	}
	return all
}

// spread gives every channel of a direction the size that it has in the unit of the whole.
func (g *Gauge) spread(v space.Value, d []float64) []float64 {
	if g == nil || len(g.Parts) < 2 || !(g.Scale > 0) {
		return d
	}
	p := g.pieces(v)
	if p[0].n != len(g.Parts) || p[0].of == nil {
		return d
	}
	for i := range d {
		d[i] *= g.Parts[p[0].of(i)].Scale / g.Scale * math.Sqrt(float64(p[0].n))
	}
	return d
}

// Direction is a fixed unit vector with as many components as v has numbers: ±1/√d with seeded signs.
func Direction(v space.Value, r *rand.Rand) []float64 {
	d := make([]float64, len(v.Numbers()))
	for i := range d {
		d[i] = 1 / math.Sqrt(float64(len(d)))
		if r.Uint64()&1 == 0 {
			d[i] = -d[i]
		}
	}
	return d
}

// Name is the name of a field by its index; "" where there is none.
func (g *Gauge) Name(i int) string {
	if g == nil || i < 0 || i >= len(g.Names) {
		return ""
	}
	return g.Names[i]
}

// Judged reports whether part i is judged: a class of undeclared scores is only where the others would hide it.
func (g *Gauge) Judged(i int) bool { return !g.Parts[i].off }

// Roundoff is what one unit roundoff u of the size of each part comes to in the unit of the whole, the largest of the
// parts that are judged and vary; 0 for a prediction of one part.
func (g *Gauge) Roundoff(u float64) float64 {
	most := 0.0
	if g == nil || len(g.Parts) < 2 {
		return 0
	}
	for _, p := range g.Parts {
		if !p.off && !p.Still && p.Scale > 0 {
			most = max(most, u*p.Size/p.Scale*g.Scale)
		}
	}
	return most
}

// Shared reports whether part i is measured in shares, such as masks: its scale is 1 by definition.
func (g *Gauge) Shared(i int) bool { return g.Parts[i].shares }
