package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

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

	// of the fields, or of the value itself
	types []string
	whole string
}

// fieldGauge compares one field.
type fieldGauge struct {
	scale float64
	typ   string
}

func (g *Gauge) field(i int) fieldGauge {
	f := fieldGauge{scale: 1}
	if g != nil && i < len(g.Scales) {
		f.scale = g.Scales[i]
	}
	if g != nil && i < len(g.types) {
		f.typ = g.types[i]
	}
	return f
}

// Compare is [Compare] over the scale of the field. Quaternions stand for one rotation with either sign.
func (f fieldGauge) Compare(a, b space.Value) (Difference, error) {
	if f.typ == space.TypeQuaternions {
		a = signed(a, b)
	}
	d, err := Compare(a, b)
	d.Norm, d.Max = d.Norm/f.scale, d.Max/f.scale
	return d, err
}

// signed is a with the sign of every row chosen so that it is nearer to that of b.
func signed(a, b space.Value) space.Value {
	x, ok := a.(*space.Rows)
	y, both := b.(*space.Rows)
	if !ok || !both || x.N != y.N || x.W != y.W {
		return a
	}
	o := &space.Rows{N: x.N, W: x.W, Val: slices.Clone(x.Val)}
	for i := range o.N {
		r, q := o.Row(i), y.Row(i)
		var dot float64
		for k := range r {
			dot += r[k] * q[k]
		}
		if dot < 0 {
			for k := range r {
				r[k] = -r[k]
			}
		}
	}
	return o
}

// Compare measures a - b, two predictions of one form; see [Difference]. For records every field counts over its scale,
// so that the result is relative already and the scale of the whole is 1.
func (g *Gauge) Compare(a, b space.Value) (Difference, error) {
	if r, ok := a.(*space.Record); ok {
		return compareRecords(r, b, g)
	}
	f := fieldGauge{scale: 1}
	if g != nil {
		f.typ = g.whole
	}
	return f.Compare(a, b)
}

// Numbers are those of a prediction, each over the scale of its field.
func (g *Gauge) Numbers(v space.Value) ([]float64, error) {
	r, ok := v.(*space.Record)
	if !ok || g == nil {
		return Numbers(v)
	}
	var all []float64
	for i, f := range r.Values {
		x, err := Numbers(f)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", r.Names[i], err)
		}
		s := g.field(i).scale
		for _, a := range x {
			all = append(all, a/s)
		}
	}
	return all, nil
}

// Direction is [Direction] of length 1 as the gauge measures it, field by field in the unit of each.
func (g *Gauge) Direction(v space.Value, r *rand.Rand) ([]float64, error) {
	one := func(v space.Value, scale float64) ([]float64, error) {
		d, err := Direction(v, r)
		if n := math.Sqrt(parts(v)) * scale; n != 1 {
			for i := range d {
				d[i] *= n
			}
		}
		return d, err
	}
	rec, ok := v.(*space.Record)
	if !ok {
		return one(v, 1)
	}
	var all []float64
	for i, f := range rec.Values {
		d, err := one(f, g.field(i).scale)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", rec.Names[i], err)
		}
		all = append(all, d...)
	}
	return all, nil
}

// Name is the name of a field by its index; "" where there is none.
func (g *Gauge) Name(i int) string {
	if g == nil || i < 0 || i >= len(g.Names) {
		return ""
	}
	return g.Names[i]
}

// stillness is how many unit roundoffs of its size a field must vary by to count as varying.
const stillness = 64

// gauge measures the scales of the fields once, when the first prediction turns out to be a record.
func (d *driver) measure(ctx context.Context, like space.Value) error {
	if d.gauge != nil {
		return nil
	}
	s := d.subject
	d.gauge = &Gauge{whole: s.OutSpec.Type}
	rec, ok := like.(*space.Record)
	if !ok {
		return nil
	}
	g := &Gauge{Names: slices.Clone(rec.Names)}
	for i := range rec.Names {
		g.types = append(g.types, "")
		for _, f := range s.OutSpec.Fields {
			if f.Name == rec.Names[i] {
				g.types[i] = f.Type
			}
		}
	}
	var spread Spread
	cut := s.Cutter()
	identity := NewMover(s.Plan.In, s.Plan.Group.Identity())
	var values []space.Value
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		out, err := s.Predictor.Predict(ctx, values)
		if err != nil {
			return fmt.Errorf("model %s: %w", s.Name, err)
		}
		values = values[:0]
		for _, y := range out {
			if y, err = d.unit(y); err != nil {
				return fmt.Errorf("model %s: %w", s.Name, err)
			}
			if ok, err := Finite(y); err != nil || !ok {
				if err != nil {
					return err
				}
				continue
			}
			if err := spread.Add(y); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range s.N {
		x, err := s.Sample(i)
		if err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
		v, err := identity.Move(x.Value)
		if err != nil {
			return fmt.Errorf("sample %s: %w", x.ID, err)
		}
		values = append(values, v)
		if cut.Add(Bytes(v)) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for i := range g.Names {
		scale, size := math.NaN(), math.NaN()
		if i < len(spread.fields) {
			scale, size = spread.fields[i].Scale(), spread.fields[i].RMS()
		}
		if !(scale > stillness*s.roundoff()*size) {
			g.Still = append(g.Still, g.Names[i])
			if scale = size; !(scale > 0) {
				scale = 1
			}
		}
		g.Scales = append(g.Scales, scale)
	}
	d.gauge = g
	return nil
}

// Gauge measures errors of predictions. It is nil before the first prediction.
func (p *Pass) Gauge() *Gauge { return p.driver.gauge }

// Compare is [Gauge.Compare] of the subject's predictions.
func (p *Pass) Compare(a, b space.Value) (Difference, error) { return p.driver.gauge.Compare(a, b) }

// Numbers is [Gauge.Numbers] of a prediction of the subject.
func (p *Pass) Numbers(v space.Value) ([]float64, error) { return p.driver.gauge.Numbers(v) }

// Direction is [Gauge.Direction] of a prediction of the subject.
func (p *Pass) Direction(v space.Value, r *rand.Rand) ([]float64, error) {
	return p.driver.gauge.Direction(v, r)
}
