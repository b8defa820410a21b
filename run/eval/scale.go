package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/metric"
	"nero/measure/scale"
	"nero/symmetry/group"
)

// spread accumulates the centred scale of an output, see [metric.Relative], by Welford's recurrence (Technometrics 4,
// 1962) summed over the components.
//
// Rows are taken one by one: molecules have different numbers of atoms, and the force on one atom is as much a force as
// that on another. The scale of an output of n rows is then sqrt(n) times that of a row, so that an error relative to
// it is the root mean square over the rows.
type spread struct {
	// numbers of a prediction, or of a row; 0 before the first
	size int
	seen scale.Moments
	// sum of the squares of all of them
	squares float64
}

// add takes one prediction in. It refuses outputs without numbers, and of another length than those before: there is no
// mean of them, so no distance from it.
func (s *spread) add(v space.Value) error {
	if rows := scale.Population(space.Flat(v)); rows != nil {
		for i := range rows.Count() {
			if err := s.take(rows.Row(i)); err != nil {
				return err
			}
		}
		return nil
	}
	x := metric.Numbers(v)
	if len(x) == 0 {
		return fmt.Errorf("the metric %s needs numbers, the output is %s", metric.Relative.Name, v.Kind())
	}
	return s.take(x)
}

func (s *spread) take(x []float64) error {
	if s.size == 0 {
		s.size = len(x)
	}
	if len(x) != s.size {
		return fmt.Errorf("the metric %s needs outputs of one size, and there are some of %d and of %d numbers; "+
			"choose %s, or data of one size", metric.Relative.Name, s.size, len(x), metric.Absolute.Name)
	}
	for _, f := range x {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil // reported where the prediction itself is used; a scale of the others is still a scale
		}
	}
	s.seen.Take(x)
	for _, f := range x {
		s.squares += float64(f * f)
	}
	return nil
}

// rms is sqrt(mean ‖f(x)‖²); NaN where the scale is.
func (s *spread) rms() float64 {
	if s.seen.N < 2 {
		return math.NaN()
	}
	return math.Sqrt(s.squares / float64(s.seen.N))
}

// scale is s = sqrt(mean ‖f(x) - mean f‖²), of rows that of one row; NaN if fewer than two predictions were seen.
func (s *spread) scale() float64 {
	if s.seen.N < 2 {
		return math.NaN()
	}
	return math.Sqrt(s.seen.Square / float64(s.seen.N))
}

// scaleOf is the scale for one prediction: of n rows sqrt(n) times that of a row.
func scaleOf(whole float64, v space.Value) float64 {
	if rows := scale.Population(v); rows != nil {
		return whole * math.Sqrt(float64(rows.Count()))
	}
	return whole
}

// kept is the root of the share of a value's numbers that are left of it: norms grow with the root of the number of
// moments.
func kept(whole, rest space.Value) float64 {
	a, b, ok := space.Both[space.Sequence](whole, rest)
	if !ok || a.Length() == b.Length() || a.Length() == 0 {
		return 1
	}
	return math.Sqrt(float64(b.Length()) / float64(a.Length()))
}

// ScaledFields are the fields of the output that metrics need the centred scale or the mean of, "" for all of it.
func ScaledFields(ms []*metric.Metric) []string {
	var fields []string
	for _, m := range ms {
		if (m.Scaled || m.Centred) && !slices.Contains(fields, m.Port) {
			fields = append(fields, m.Port)
		}
	}
	return fields
}

// Scaled reports whether a metric needs the centred scale of the outputs, or their mean.
func Scaled(ms []*metric.Metric) bool { return len(ScaledFields(ms)) > 0 }

// Centred reports whether a metric needs the mean of the outputs. It is written down nowhere: whoever needs it measures
// it anew, on the same samples, by [Evaluation.Calibrate].
func Centred(ms []*metric.Metric) bool {
	return slices.ContainsFunc(ms, func(m *metric.Metric) bool { return m.Centred })
}

// Calibrate measures the centred scale of every model's output at the identity, over samples drawn from the whole run:
// data are often sorted by class, and the first ones would then be too alike. It takes the same samples and batches
// whatever the workers, so that a resumed run and a worker of an array job get the same numbers. Of an output of
// several fields every field has its own. Scales are NaN if no metric needs them; an error says that an output has
// none.
func (e *Evaluation) Calibrate(ctx context.Context, workers int) error {
	e.Scales, e.FieldScales = make([]float64, len(e.Models)), make([]map[string]float64, len(e.Models))
	e.Sizes = make([]float64, len(e.Models))
	e.Centres, e.FieldCentres = nil, nil
	fields := ScaledFields(e.Metrics)
	for i := range e.Scales {
		e.Scales[i], e.Sizes[i] = math.NaN(), math.NaN()
	}
	if len(fields) == 0 {
		return nil
	}
	chosen, err := dataset.Select(nil, e.Count(), calibration, false, calibrationSeed)
	if err != nil {
		return err
	}
	sums := make([]map[string]*spread, len(e.Models))
	for k := range sums {
		sums[k] = map[string]*spread{}
		for _, f := range fields {
			sums[k][f] = &spread{}
		}
	}
	for part := range slices.Chunk(chosen, e.most) {
		xs, ids := make([]space.Value, 0, len(part)), make([]string, 0, len(part))
		for _, i := range part {
			s, err := e.At(i)
			if err == nil {
				var x space.Value
				if x, err = e.Plan.In.Apply(e.Plan.Group.Identity(), s.Value); err == nil {
					xs, ids = append(xs, x), append(ids, s.ID)
					continue
				}
				err = &SampleError{s.ID, err}
			}
			if !e.endures(err) {
				return err
			}
		}
		for k, m := range e.Models {
			ys, err := e.calibrated(ctx, m, xs, ids, workers)
			if err != nil {
				return err
			}
			for _, y := range ys {
				for f, sum := range sums[k] {
					v := y
					if f != "" {
						if v = space.FieldOf(y, f); v == nil {
							return fmt.Errorf("model %s: the output has no field %s", m.Name, f)
						}
					}
					if err := sum.add(v); err != nil {
						return fmt.Errorf("model %s: %w", m.Name, err)
					}
				}
			}
		}
	}
	if Centred(e.Metrics) {
		e.Centres, e.FieldCentres = make([][]float64, len(e.Models)), make([]map[string][]float64, len(e.Models))
	}
	for k := range sums {
		if e.Centres != nil {
			e.FieldCentres[k] = map[string][]float64{}
			for f, sum := range sums[k] {
				e.FieldCentres[k][f] = sum.seen.Mean
			}
			e.Centres[k] = e.FieldCentres[k][""]
		}
		for f, sum := range sums[k] {
			if f == "" {
				e.Scales[k], e.Sizes[k] = sum.scale(), sum.rms()
				continue
			}
			if e.FieldScales[k] == nil {
				e.FieldScales[k] = map[string]float64{}
			}
			e.FieldScales[k][f] = sum.scale()
		}
	}
	return nil
}

// calibrated are the answers to unmoved samples. One that crashes the engine, or is not answered in time, is named, and
// left out where the run keeps going, which then says so in its row.
func (e *Evaluation) calibrated(ctx context.Context, m *Model, xs []space.Value, ids []string, workers int,
) ([]space.Value, error) {
	ys, err := m.Predict(ctx, xs, workers)
	if err == nil || !Fatal(err) {
		return ys, err
	}
	ys = ys[:0]
	for i := range xs {
		y, alone := m.Predict(ctx, xs[i:i+1], 1)
		switch {
		case alone == nil:
			ys = append(ys, y...)
		case !Fatal(alone):
			return nil, alone
		case !e.KeepGoing:
			g := group.Format(e.Plan.Group, e.Plan.Group.Identity())
			return nil, &SampleError{ids[i], fmt.Errorf("element %s: %w", g, alone)}
		}
	}
	if len(ys) == 0 {
		return nil, err
	}
	return ys, nil
}

// size is about how many numbers a value holds.
func size(v space.Value) int {
	n := 0
	for _, f := range space.Leaves(v) {
		n += count(f.Dims())
	}
	return n
}
