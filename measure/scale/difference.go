// Package scale says how far two values are apart, and how large that is beside what a model answers to other samples:
// the difference of two values and the centred scale of many, whatever their kind.
//
// Kinds whose numbers mean nothing one by one say themselves which share of them differs, by a method Apart; boxes are
// compared by [metric.Between].
package scale

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/space"
	"nero/measure/metric"
)

// ErrForm marks values that cannot be compared because their forms differ.
var ErrForm = errors.New("values of different form")

// Difference is how far two values of one form are apart.
type Difference struct {
	// Norm is the Euclidean norm over all components; for rows, pairs and signals its root mean square over rows, pairs
	// or moments; for masks the share of differing pixels, for boxes [metric.Apart].Distance, both in [0, 1]; for
	// records the largest of the fields.
	Norm float64
	// largest component; for masks 1 if any pixel differs, for boxes the same as Norm
	Max float64
	// Fields are the differences of the fields of a record, in their order, and Field is the index of the one that is
	// largest; nil and 0 for other values.
	Fields []Difference
	Field  int
	// Parts are the relative errors of the parts that a [Gauge] tells apart, and Part is the index of the largest; nil
	// without a gauge.
	Parts []float64
	Part  int
}

// sharing is a value whose difference from another is the share of what differs: labels, edges.
type sharing interface {
	Apart(v space.Value) (share float64, ok bool)
}

// Count is how many rows, pairs of nodes or moments a value has, whose number differs from one sample to the next, at
// least 1; 1 for all other values. Their errors and scales are root mean squares over them, so that a large molecule
// counts as much as a small one.
func Count(v space.Value) float64 {
	if c, ok := v.(space.Counted); ok {
		return float64(max(c.Count(), 1))
	}
	return 1
}

func differ(a, b space.Value) error {
	return fmt.Errorf("%w: %s against %s", ErrForm, a.Form(), b.Form())
}

// Compare measures a - b. Numbers that are not finite give NaN, in both fields. The fields of records count in their
// own units, whatever these are; [Gauge.Compare] brings them to one scale. The error wraps [ErrForm].
func Compare(a, b space.Value) (Difference, error) {
	a, b = space.Common(a, b)
	if names, _ := space.Fields(a); names != nil {
		return compareRecords(a, b)
	}
	if p, ok := a.(sharing); ok {
		share, ok := p.Apart(b)
		if !ok {
			return Difference{}, differ(a, b)
		}
		d := Difference{Norm: share}
		if share > 0 {
			d.Max = 1
		}
		return d, nil
	}
	if p, q, ok := space.Both[*space.Boxes](a, b); ok {
		d := metric.Between(p, q).Distance
		return Difference{Norm: d, Max: d}, nil
	}
	x, y := space.Nearest(a, b).Numbers(), b.Numbers()
	if a.Kind() != b.Kind() || len(x) != len(y) {
		return Difference{}, differ(a, b)
	}
	var ss, top float64
	for i, v := range x {
		d := math.Abs(v - y[i])
		if !(d <= math.MaxFloat64) {
			return Difference{Norm: math.NaN(), Max: math.NaN()}, nil
		}
		ss += float64(d * d)
		top = max(top, d)
	}
	if math.IsInf(ss, 1) || (ss == 0 && top > 0) { // squares beyond the range of float64
		ss = 0
		for i, v := range x {
			d := (v - y[i]) / top
			ss += float64(d * d)
		}
		return Difference{Norm: top * math.Sqrt(ss/Count(a)), Max: top}, nil
	}
	return Difference{Norm: math.Sqrt(ss / Count(a)), Max: top}, nil
}

// compareRecords compares field by field.
func compareRecords(a, b space.Value) (Difference, error) {
	names, fields := space.Fields(a)
	others, of := space.Fields(b)
	if !slices.Equal(names, others) {
		return Difference{}, differ(a, b)
	}
	out := Difference{Fields: make([]Difference, len(fields))}
	for i, v := range fields {
		d, err := Compare(v, of[i])
		if err != nil {
			return Difference{}, fmt.Errorf("field %s: %w", names[i], err)
		}
		out.Fields[i] = d
		if i == 0 || !(d.Norm <= out.Norm) && !math.IsNaN(out.Norm) {
			out.Norm, out.Field = d.Norm, i
		}
		if i == 0 || !(d.Max <= out.Max) && !math.IsNaN(out.Max) {
			out.Max = d.Max
		}
	}
	return out, nil
}
