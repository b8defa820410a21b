package fold

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/run/job"
	"nero/symmetry/group"
)

// Format is the number of the summary's format.
const Format = 1

// Input is what a summary is made from.
type Input struct {
	Job     *job.Job
	Hash    string // of the job
	Group   group.Group
	Scales  []float64 // centred scale of each model's output; nil if not known
	Classes []string  // names of the classes; nil for numbers
	Rows    iter.Seq2[job.Row, error]
	// Confidence of the intervals, in (0,1); 0 means 0.95.
	Confidence float64
}

// cell gathers one (model, metric, slice).
type cell struct {
	elements []aggregate.Moments
	sketches []aggregate.Sketch
	orbit    aggregate.Moments // one number per sample: its weighted mean over the orbit
	worst    aggregate.Moments // one number per sample: its worst value along the orbit
	change   aggregate.Moments // one number per sample: its mean over the orbit less its value at the identity

	at       int // element of the single worst value
	sample   string
	value    float64
	badAt    int
	badFirst string
}

// Fold makes the summary. Rows are folded in the order in which they come, which is that of the samples, so that the same rows give the same bytes.
func Fold(in Input) (*Summary, error) {
	if in.Confidence == 0 {
		in.Confidence = 0.95
	}
	metrics := make([]*metric.Metric, len(in.Job.Metrics))
	for i, name := range in.Job.Metrics {
		m, err := metric.Find(name)
		if err != nil {
			return nil, err
		}
		metrics[i] = m
	}
	f := folder{in: in, metrics: metrics, slices: map[int][]*cell{}, count: map[int]int{}, identity: -1}
	for k, g := range in.Job.Elements {
		if in.Group.Dist(g, in.Group.Identity()) == 0 {
			f.identity = k
		}
	}
	f.slices[all] = f.cells()
	for row, err := range in.Rows {
		if err != nil {
			return nil, err
		}
		if err := f.add(row); err != nil {
			return nil, err
		}
	}
	return f.summary(), nil
}

// all is the label of the slice that holds every sample.
const all = -1

type folder struct {
	in      Input
	metrics []*metric.Metric
	slices  map[int][]*cell // by label; model-major
	count   map[int]int     // samples by label
	failed  int

	identity int // index among the elements, -1 if it is not there
}

func (f *folder) cells() []*cell {
	cells := make([]*cell, len(f.in.Job.Models)*len(f.metrics))
	for i := range cells {
		cells[i] = &cell{
			elements: make([]aggregate.Moments, len(f.in.Job.Elements)),
			sketches: make([]aggregate.Sketch, len(f.in.Job.Elements)),
			at:       -1, badAt: -1, value: math.NaN(),
		}
	}
	return cells
}

func (f *folder) add(r job.Row) error {
	if r.Model < 0 || r.Model >= len(f.in.Job.Models) || len(r.Curves) != len(f.metrics) {
		return fmt.Errorf("row of sample %s: model %d with %d metrics does not belong to this job", r.Sample, r.Model, len(r.Curves))
	}
	if r.Err != "" {
		if r.Model == 0 {
			f.failed++
		}
		return nil
	}
	labels := []int{all}
	if r.Label >= 0 {
		labels = append(labels, r.Label)
	}
	for _, l := range labels {
		cells, ok := f.slices[l]
		if !ok {
			cells = f.cells()
			f.slices[l] = cells
		}
		if r.Model == 0 {
			f.count[l]++
		}
		for i, m := range f.metrics {
			if len(r.Curves[i]) != len(f.in.Job.Elements) {
				return fmt.Errorf("row of sample %s: %d values for %d elements", r.Sample, len(r.Curves[i]), len(f.in.Job.Elements))
			}
			cells[r.Model*len(f.metrics)+i].add(r, i, m, f.in.Job.Weights, f.identity)
		}
	}
	return nil
}

// add takes one curve in.
func (c *cell) add(r job.Row, i int, m *metric.Metric, weights []float64, identity int) {
	sum, weight, worst := 0.0, 0.0, math.NaN()
	whole := true
	for k, v32 := range r.Curves[i] {
		v := float64(v32)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			whole = false
			c.elements[k].Add(math.NaN(), r.Index) // counted, in no mean: an infinity is as little a measurement as a NaN
			if c.badAt < 0 {
				c.badFirst, c.badAt = r.Sample, k
			}
			continue
		}
		c.elements[k].Add(v, r.Index)
		c.sketches[k].Add(v)
		w := 1.0
		if weights != nil {
			w = weights[k]
		}
		sum, weight = sum+w*v, weight+w
		if math.IsNaN(worst) || worse(m, v, worst) {
			worst = v
		}
		if math.IsNaN(c.value) || worse(m, v, c.value) {
			c.value, c.at, c.sample = v, k, r.Sample
		}
	}
	// A sample with a value that is not finite has no mean over its orbit: leaving the value out would flatter the model.
	if !whole {
		sum, worst = math.NaN(), math.NaN()
	}
	c.orbit.Add(sum/weight, r.Index)
	if identity >= 0 {
		c.change.Add(sum/weight-float64(r.Curves[i][identity]), r.Index)
	}
	c.worst.Add(worst, r.Index)
}

// worse reports whether a is worse than b.
func worse(m *metric.Metric, a, b float64) bool {
	if m.Better == metric.Higher {
		return a < b
	}
	return a > b
}

func (f *folder) summary() *Summary {
	j := f.in.Job
	s := &Summary{
		Format: Format, Job: f.in.Hash, Group: f.in.Group.Name(), Chart: f.in.Group.Chart(), Elements: j.Elements, Exact: j.Exact,
		Measure: j.Measure, Confidence: f.in.Confidence, Samples: j.Count, Failed: f.failed,
	}
	for i, m := range j.Models {
		s.Models = append(s.Models, m.Name)
		scale := Number(math.NaN())
		if f.in.Scales != nil {
			scale = Number(f.in.Scales[i])
		}
		s.Scales = append(s.Scales, scale)
	}
	for _, m := range f.metrics {
		s.Metrics = append(s.Metrics, Metric{
			Name: m.Name, Doc: m.Doc, Unit: m.Unit, Better: string(m.Better), Ref: string(m.Ref),
			Range: [2]Number{Number(m.Range[0]), Number(m.Range[1])},
		})
	}
	labels := make([]int, 0, len(f.slices))
	for l := range f.slices {
		labels = append(labels, l)
	}
	slices.Sort(labels) // all is -1, so it comes first
	for _, l := range labels {
		name := "all"
		if l >= 0 {
			name = strconv.Itoa(l)
			if l < len(f.in.Classes) {
				name = f.in.Classes[l]
			}
		}
		s.Slices = append(s.Slices, Slice{Name: name, Label: l, N: f.count[l]})
	}
	for m := range j.Models {
		for i := range f.metrics {
			for k, l := range labels {
				s.Curves = append(s.Curves, f.curve(f.slices[l][m*len(f.metrics)+i], m, i, k))
			}
		}
	}
	return s
}

func (f *folder) curve(c *cell, model, i, slice int) Curve {
	o := Curve{
		Model: model, Metric: i, Slice: slice, WorstElement: -1, WorstSample: c.sample, WorstAt: c.at, WorstValue: Number(c.value),
		FirstBad: c.badFirst, BadAt: c.badAt,
		Orbit: f.estimate(&c.orbit, f.metrics[i], false), Worst: f.estimate(&c.worst, f.metrics[i], f.metrics[i].Binary),
	}
	// A difference has its own range: twice the metric's, about zero.
	free := *f.metrics[i]
	free.Range = [2]float64{math.Inf(-1), math.Inf(1)}
	o.Change = f.estimate(&c.change, &free, false)
	for k := range c.elements {
		m, q := &c.elements[k], &c.sketches[k]
		e := f.estimate(m, f.metrics[i], f.metrics[i].Binary)
		o.N, o.Bad = append(o.N, e.N), append(o.Bad, m.NaN)
		o.Mean, o.SD, o.Lo, o.Hi = append(o.Mean, e.Mean), append(o.SD, e.SD), append(o.Lo, e.Lo), append(o.Hi, e.Hi)
		lo, hi := math.NaN(), math.NaN()
		if e.N > 0 {
			lo, hi = m.Min, m.Max
		}
		o.P10, o.P90 = append(o.P10, Number(q.Quantile(0.1))), append(o.P90, Number(q.Quantile(0.9)))
		o.Min, o.Max = append(o.Min, Number(lo)), append(o.Max, Number(hi))
		if e.N > 0 && (o.WorstElement < 0 || worse(f.metrics[i], float64(e.Mean), float64(o.Mean[o.WorstElement]))) {
			o.WorstElement = k
		}
	}
	return o
}

// estimate is a mean over samples with its interval: Clopper and Pearson's where every value is 0 or 1, else Student's t.
//
// Where all n values are the same, v, Student's interval has no width, which would claim certainty of a handful of samples. If the
// metric is bounded, [a, b], more can be said: a sample has the value v with a probability of at least q, the lower limit for n of
// n successes, and is at worst at either end of the range otherwise, so the mean lies in [qv + (1-q)a, qv + (1-q)b].
func (f *folder) estimate(m *aggregate.Moments, of *metric.Metric, binary bool) Estimate {
	e := Estimate{N: m.N, Mean: Number(math.NaN()), SD: Number(math.NaN()), Lo: Number(math.NaN()), Hi: Number(math.NaN())}
	if m.N == 0 {
		return e
	}
	e.Mean, e.SD = Number(m.Mean), Number(m.Std())
	i := aggregate.MeanInterval(*m, f.in.Confidence)
	a, b := of.Range[0], of.Range[1]
	switch {
	case binary:
		i = aggregate.ClopperPearson(int(math.Round(m.Mean*float64(m.N))), m.N, f.in.Confidence)
	case m.N > 1 && m.Min == m.Max && !math.IsInf(a, 0) && !math.IsInf(b, 0):
		q := aggregate.ClopperPearson(m.N, m.N, f.in.Confidence).Low
		i.Low, i.High = q*m.Mean+(1-q)*a, q*m.Mean+(1-q)*b
	}
	e.Lo, e.Hi = Number(max(i.Low, a)), Number(min(i.High, b))
	return e
}
