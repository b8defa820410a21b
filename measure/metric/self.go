package metric

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
)

// Absolute is the Euclidean norm of the defect.
var Absolute = &Metric{
	Title: "absolute equivariance error",
	Name:  "absolute", Ref: Self, Better: Lower, Range: [2]float64{0, math.Inf(1)}, Unit: "output", OfOutput: "%",
	Spaces:  numeric,
	Doc:     "Euclidean norm of z(g,x) - f(x) over the model's own numbers, z the prediction pulled back",
	Measure: func(c Case) float64 { d, _ := defect(c); return d },
}

// MaxAbsolute is the largest component of the defect.
var MaxAbsolute = &Metric{
	Title: "largest equivariance error of a number",
	Name:  "max_absolute", Ref: Self, Better: Lower, Range: [2]float64{0, math.Inf(1)}, Unit: "output", OfOutput: "%",
	Spaces:  numeric,
	Doc:     "largest component of |z(g,x) - f(x)| over the model's own numbers",
	Measure: func(c Case) float64 { _, m := defect(c); return m },
}

// Relative is the Euclidean norm of the defect over the centred scale of the output.
var Relative = &Metric{
	Title: "relative equivariance error",
	Name:  "relative", Scaled: true, Ref: Self, Better: Lower, Range: [2]float64{0, math.Inf(1)}, Spaces: numeric,
	Doc: "absolute / s, s the RMS distance of f(x) from its mean over the samples: an offset of the output cannot " +
		"shrink it",
	Says: "changes its answers by %s times their spread",
	Measure: func(c Case) float64 {
		d, _ := defect(c)
		if !(c.Scale > 0) {
			return math.NaN() // 0/0 is undefined, never a perfect score
		}
		return d / c.Scale
	},
}

// Builtin lists every metric that a program knows by name, in the order in which they are documented. Any top-k is
// known beyond those listed, every [Metric.Movable] one against the other references, the worst along the orbit of
// those that are not pooled, those by class of one, and all of them of a field of a record.
func Builtin() []*Metric {
	return slices.Concat(classification(),
		[]*Metric{Absolute, MaxAbsolute, Relative, FeatureRatio, FeatureCosine, PixelAgreement, MeanIoU},
		segmentation(), detection(), velocimetry(), geometric(), displacements())
}

// List is metrics that a program knows, in the order in which they are listed.
type List []*Metric

// Find is [List.Find] of the metrics of this package.
func Find(name string) (*Metric, error) { return List(Builtin()).Find(name) }

// With is the list for a program that knows more kinds of values: metrics that read any list of numbers read those of
// the linear ones among them.
func (all List) With(kinds space.List) List {
	var more []space.Kind
	for _, i := range kinds {
		if i.Linear {
			more = append(more, i.Kind)
		}
	}
	if len(more) == 0 {
		return all
	}
	all = slices.Clone(all)
	for i, m := range all {
		if slices.Equal(m.Spaces, numeric) {
			wide := *m
			wide.Spaces = append(slices.Clone(numeric), more...)
			all[i] = &wide
		}
	}
	return all
}

// Find returns the metric called name, or, of a name such as iou@consensus, the metric against that reference, and of a
// name such as forces.rmse or forces.rmse@self that of a field of a record. The error lists what there is.
func (all List) Find(name string) (*Metric, error) {
	if m, ok := all.ofClass(name); ok {
		return m, nil
	}
	if of, ok := strings.CutPrefix(name, worst); ok {
		before, ref, against := strings.Cut(of, at)
		m, err := all.Find(before)
		if err != nil {
			return nil, err
		}
		if against && m.inner != nil { // of a field
			if m, err = Against(m, Reference(ref)); err != nil {
				return nil, err
			}
			against = false
		}
		if n := WorstOf(m); n != nil && against {
			return Against(n, Reference(ref))
		} else if n != nil {
			return n, nil
		}
		return nil, fmt.Errorf("metric %q: %s is computed of all samples together, so that no sample has a worst "+
			"value of "+
			"it; its worst along the orbit stands in every report", name, of)
	}
	if k := strings.LastIndex(name, dot); k >= 0 {
		field, rest := name[:k], name[k+len(dot):]
		if field == "" {
			return nil, fmt.Errorf("metric %q names no field: write field.metric, such as forces.rmse", name)
		}
		m, err := all.Find(rest)
		if err != nil {
			return nil, fmt.Errorf("of the field %s: %w", field, err)
		}
		if m.OfHits || m.OfPixels {
			return nil, fmt.Errorf("metric %s: %s is computed from the boxes or pixels of all samples, and only where "+
				"they are all that a model returns", name, rest)
		}
		return OfField(field, m), nil
	}
	if before, ref, ok := strings.Cut(name, at); ok {
		m, err := all.Find(before)
		if err != nil {
			return nil, err
		}
		return Against(m, Reference(ref))
	}
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	if m, ok := parseTopK(name); ok {
		return m, nil
	}
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return nil, fmt.Errorf(
		"unknown metric %q: want one of %s, or topK for any K from 1 to 1000; with @self or @consensus for another "+
			"reference, with worst: before for the worst along the orbit", name, strings.Join(names, ", "))
}

// Understands reports whether the metric can compare predictions of kind k.
func (m *Metric) Understands(k space.Kind) bool { return m.Any || slices.Contains(m.Spaces, k) }

// Numbers are the components of a prediction on which errors are measured, without copying but for frames; nil for a
// value that has none, and for records, whose fields are measured one by one.
func Numbers(v space.Value) []float64 {
	if l, ok := v.(space.Linear); ok {
		return l.Output()
	}
	return nil
}

// defect is the Euclidean and the largest norm of Got - Want; NaN if they cannot be compared or hold a NaN.
func defect(c Case) (norm, largest float64) {
	x, y := Numbers(written(c.Got, c.Want)), Numbers(c.Want)
	if len(x) == 0 || len(x) != len(y) {
		return math.NaN(), math.NaN()
	}
	y = y[:len(x)]
	for i, v := range x {
		d := math.Abs(v - y[i])
		if norm += float64(d * d); d > largest {
			largest = d
		}
	}
	if math.IsNaN(norm) {
		return norm, norm // a NaN is never small
	}
	return math.Sqrt(norm), largest
}

// written is [space.Nearest] of values that may be missing.
func written(a, b space.Value) space.Value {
	if a == nil || b == nil {
		return a
	}
	return space.Nearest(a, b)
}
