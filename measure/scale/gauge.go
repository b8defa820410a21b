package scale

import (
	"math"
	"math/rand/v2"

	"nero/data/space"
)

// Gauge holds the scales that the fields of predictions are measured against, and what their numbers are. Energies and
// forces have units of their own, and one of them must not hide the other: the error of a record is the largest of the
// errors of its fields, each over the centred scale of that field. The nil Gauge compares as [Compare] does.
type Gauge struct {
	// Names are those of the fields; empty for predictions that are no records.
	Names []string
	// Scales are s of each field over the inputs of the audit, unmoved; the size of the field where it does not vary, 1
	// where it is zero.
	Scales []float64
	// Still are the fields that do not vary, so that nothing can be said of their errors.
	Still []string
}

// fieldGauge compares one field.
type fieldGauge struct{ scale float64 }

func (g *Gauge) field(i int) fieldGauge {
	f := fieldGauge{scale: 1}
	if g != nil && i < len(g.Scales) {
		f.scale = g.Scales[i]
	}
	return f
}

// Compare is [Compare] over the scale of the field.
func (f fieldGauge) Compare(a, b space.Value) (Difference, error) {
	d, err := Compare(a, b)
	d.Norm, d.Max = d.Norm/f.scale, d.Max/f.scale
	return d, err
}

// Compare measures a - b, two predictions of one form; see [Difference]. For records every field counts over its scale,
// so that the result is relative already and the scale of the whole is 1.
func (g *Gauge) Compare(a, b space.Value) (Difference, error) {
	if names, _ := space.Fields(a); names != nil {
		return compareRecords(a, b, g)
	}
	return Compare(a, b)
}

// Numbers are those of a prediction, each over the scale of its field.
func (g *Gauge) Numbers(v space.Value) []float64 {
	names, fields := space.Fields(v)
	if names == nil || g == nil {
		return v.Numbers()
	}
	var all []float64
	for i, f := range fields {
		s := g.field(i).scale
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
		return one(v, 1)
	}
	var all []float64
	for i, f := range fields {
		all = append(all, one(f, g.field(i).scale)...)
	}
	return all
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
