package fold

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"nero/data/space"
	"nero/measure/aggregate"
	"nero/measure/consensus"
	"nero/measure/metric"
	"nero/run/job"
	"nero/symmetry/group"
)

// Format is the number of the summary's format.
const Format = 1

// Input is what a summary is made from.
type Input struct {
	Job *job.Job
	// of the job
	Hash  string
	Group group.Group
	// Metrics are those that the program knows; nil for [metric.Builtin].
	Metrics metric.List
	// centred scale of each model's output; nil if not known
	Scales []float64
	// FieldScales are those of the fields of outputs that are records; nil if there are none.
	FieldScales []map[string]float64
	// root mean square of each model's output where there is a scale; nil if not known
	Sizes []float64
	// names of the classes; nil for numbers
	Classes []string
	// Rows gives the rows of one model, in sample order, with the curve of one metric in each, by their indexes in the
	// job, and with boxes if the metric is of hits. It is called for several pairs at once: of each only the sketches
	// are in memory.
	Rows func(model, metric int) iter.Seq2[job.Row, error]
	// Confidence of the intervals, in (0,1); 0 means 0.95.
	Confidence float64

	// 0 means evidenceBudget
	budget int
}

// UnitOf is the unit of a metric. Where the models return rows or signals its numbers are in the unit that the study
// gives the field, and not in pixels.
func UnitOf(m *metric.Metric, out job.Output) string {
	// pictures and scores have no unit of their own
	if k := space.Kind(out.Space).Info(); k == nil || k.Planar || k.Kind == space.KindScores {
		return m.Unit
	}
	unit := ""
	for _, f := range out.Fields {
		if f.Name == m.Port || len(out.Fields) == 1 {
			unit = f.Unit
		}
	}
	switch {
	case m.Unit == "px" || m.Unit == "output" && unit != "":
		return unit
	case m.Unit == "px²" && unit != "":
		return unit + "²"
	case m.Unit == "px²":
		return ""
	}
	return m.Unit
}

// cell gathers one (model, metric, slice).
type cell struct {
	elements []aggregate.Moments
	sketches []aggregate.Sketch
	// one number per sample: its weighted mean over the orbit
	orbit aggregate.Moments
	// one number per sample: its worst value along the orbit
	worst aggregate.Moments
	// one number per sample: its mean over the orbit less its value at the identity
	change aggregate.Moments
	// one number per sample: its mean over the orbit but for the identity
	moved aggregate.Moments

	// element of the single worst value
	at       int
	sample   string
	value    float64
	badAt    int
	badFirst string
}

// Fold makes the summary. Rows are folded in the order in which they come, which is that of the samples, so that the
// same rows give the same bytes.
func Fold(in Input) (*Summary, error) {
	if in.Confidence == 0 {
		in.Confidence = 0.95
	}
	known, err := in.Job.Study.KnownMetrics(in.Metrics)
	if err != nil {
		return nil, err
	}
	metrics := make([]*metric.Metric, len(in.Job.Metrics))
	for i, name := range in.Job.Metrics {
		m, err := known.Find(name)
		if err != nil {
			return nil, err
		}
		metrics[i] = m
	}
	f := folder{in: in, metrics: metrics, identity: -1}
	for k, g := range in.Job.Elements {
		if in.Group.Dist(g, in.Group.Identity()) == 0 {
			f.identity = k
		}
	}
	if err := f.fold(); err != nil {
		return nil, err
	}
	s := f.summary()
	s.KnowMetrics(known)
	if _, err := s.Open(); err != nil {
		s.Know(in.Group) // no name leads to it
	}
	return s, nil
}

// fold makes the curves of all models and metrics, as many at once as there are processors: each from its own rows in
// their own order, so that nothing depends on which is ready first.
func (f *folder) fold() error {
	var all []*pair
	for m := range f.in.Job.Models {
		for i := range f.metrics {
			all = append(all, &pair{folder: f, model: m, metric: i})
		}
	}
	rests := slices.IndexFunc(f.metrics, func(m *metric.Metric) bool { return m.Ref == metric.Consensus })
	f.agreements = make([]Consensus, len(f.in.Job.Models))
	if rests < 0 {
		f.agreements = nil
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	var broken atomic.Bool
	for _, p := range all {
		g.Go(func() error {
			if broken.Load() {
				return nil
			}
			p.err = p.fold()
			if p.err == nil && p.metric == rests {
				f.agreements[p.model], p.err = f.consensus(p.model, p.metric)
			}
			if p.err != nil {
				broken.Store(true)
			}
			return nil
		})
	}
	_ = g.Wait() // each has its own error, and the first counts
	first := all[0]
	for _, p := range all {
		if p.err != nil {
			return p.err
		}
	}
	f.labels, f.count, f.failed = first.labels, first.count, first.failed
	for _, p := range all {
		if !maps.Equal(p.count, f.count) || p.failed != f.failed {
			return fmt.Errorf("model %d, metric %s: other samples than under the first model and metric", p.model,
				f.metrics[p.metric].Name)
		}
		f.curves = append(f.curves, p.curves...)
	}
	return nil
}

// Columns serves rows that are in memory as [Input].Rows wants them.
func Columns(rows func() iter.Seq2[job.Row, error]) func(model, metric int) iter.Seq2[job.Row, error] {
	return func(model, metric int) iter.Seq2[job.Row, error] {
		return func(yield func(job.Row, error) bool) {
			for r, err := range rows() {
				if err == nil && r.Model != model {
					continue
				}
				if err == nil && metric < len(r.Curves) {
					r.Curves = r.Curves[metric : metric+1]
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// weak is the share of contributing elements below which a consensus is weak, unless a study says otherwise.
const weak = consensus.Weak

// all is the label of the slice that holds every sample.
const all = -1

type folder struct {
	in      Input
	metrics []*metric.Metric
	// of the slices, all first
	labels []int
	count  map[int]int
	failed int
	curves []Curve
	// agreements say what the consensus of each model rests on.
	agreements []Consensus

	// index among the elements, -1 if it is not there
	identity int
	// held while a set of samples is in memory for one pair
	pooling sync.Mutex
}

// pair is one metric of one model.
type pair struct {
	*folder

	model, metric int

	// of the slices of its rows, all first
	labels []int
	count  map[int]int
	failed int
	curves []Curve
	err    error
}

func (f *folder) cell() *cell {
	return &cell{
		elements: make([]aggregate.Moments, len(f.in.Job.Elements)),
		sketches: make([]aggregate.Sketch, len(f.in.Job.Elements)),
		at:       -1, badAt: -1, value: math.NaN(),
	}
}

// fold makes the curves of the pair.
func (p *pair) fold() error {
	f, model, i := p.folder, p.model, p.metric
	cells := map[int]*cell{all: f.cell()}
	count, failed := map[int]int{}, 0
	for r, err := range f.in.Rows(model, i) {
		if err != nil {
			return err
		}
		if r.Model != model || len(r.Curves) != 1 || len(r.Curves[0]) != len(f.in.Job.Elements) {
			return fmt.Errorf("row of sample %s: model %d with %d curves does not belong to model %d of this job",
				r.Sample, r.Model, len(r.Curves), model)
		}
		if r.Err != "" {
			failed++
			continue
		}
		labels := []int{all}
		if r.Label >= 0 {
			labels = append(labels, r.Label)
		}
		for _, l := range labels {
			if cells[l] == nil {
				cells[l] = f.cell()
			}
			count[l]++
			// Sketches merge without loss, so that of all samples is made from those of the classes below.
			cells[l].add(r, f.metrics[i], f.in.Job.Weights, f.identity, l >= 0 || r.Label < 0)
		}
	}
	for l, c := range cells {
		if l == all {
			continue
		}
		for k := range c.sketches {
			cells[all].sketches[k].Merge(&c.sketches[k])
		}
	}
	p.labels = slices.Sorted(maps.Keys(cells)) // all is -1, so it comes first
	p.count, p.failed = count, failed
	for k, l := range p.labels {
		p.curves = append(p.curves, f.curve(cells[l], model, i, k))
	}
	if f.metrics[i].Pooled != nil {
		if err := p.pooled(); err != nil {
			return err
		}
	}
	for k := range p.curves {
		c := &p.curves[k]
		c.Widths = widths(f.in.Group.Chart(), f.in.Job.Elements, f.metrics[i], c.Mean)
	}
	return nil
}

// add takes one curve in, into the sketches only if asked to.
func (c *cell) add(r job.Row, m *metric.Metric, weights []float64, identity int, sketch bool) {
	sum, weight, worst := 0.0, 0.0, math.NaN()
	whole := true
	for k, v32 := range r.Curves[0] {
		v := float64(v32)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			whole = false
			// counted, in no mean: an infinity is as little a measurement as a NaN
			c.elements[k].Add(math.NaN(), r.Index)
			if c.badAt < 0 {
				c.badFirst, c.badAt = r.Sample, k
			}
			continue
		}
		c.elements[k].Add(v, r.Index)
		if sketch {
			c.sketches[k].Add(v)
		}
		w := 1.0
		if weights != nil {
			w = weights[k]
		}
		sum, weight = sum+float64(w*v), weight+w
		if math.IsNaN(worst) || worse(m, v, worst) {
			worst = v
		}
		if math.IsNaN(c.value) || worse(m, v, c.value) {
			c.value, c.at, c.sample = v, k, r.Sample
		}
	}
	// A sample with a value that is not finite has no mean over its orbit: leaving the value out would flatter the
	// model.
	if !whole {
		sum, worst = math.NaN(), math.NaN()
	}
	c.orbit.Add(sum/weight, r.Index)
	if identity >= 0 {
		still := float64(r.Curves[0][identity])
		c.change.Add(sum/weight-still, r.Index)
		if share := ShareOf(weights, len(r.Curves[0]), identity); share < 1 {
			c.moved.Add(Moved(sum/weight, still, share), r.Index)
		}
	}
	c.worst.Add(worst, r.Index)
}

// ShareOf is the share of the identity in the weights of an orbit of n elements; nil weights are alike.
func ShareOf(weights []float64, n, identity int) float64 {
	if weights == nil {
		return 1 / float64(n)
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	return weights[identity] / total
}

// Moved is the mean of a sample over its orbit but for the identity, of its mean over the whole orbit, its value at the
// identity and the share of the identity in that mean, which is less than 1.
func Moved(mean, still, share float64) float64 {
	return (mean - float64(share*still)) / (1 - share)
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
		Format: Format, Job: f.in.Hash, Group: f.in.Group.Name(), Definition: j.Study.Group.Definition,
		Chart: f.in.Group.Chart(), Elements: j.Elements, Exact: j.Exact,
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
	for i, fields := range f.in.FieldScales {
		for name, v := range fields {
			if s.FieldScales == nil {
				s.FieldScales = make([]map[string]Number, len(j.Models))
			}
			if s.FieldScales[i] == nil {
				s.FieldScales[i] = map[string]Number{}
			}
			s.FieldScales[i][name] = Number(v)
		}
	}
	for _, v := range f.in.Sizes {
		s.Sizes = append(s.Sizes, Number(v))
	}
	for _, m := range f.metrics {
		s.Metrics = append(s.Metrics, MetricOf(m, j.Study.Output))
	}
	for _, l := range f.labels {
		name := "all"
		if l >= 0 {
			name = strconv.Itoa(l)
			if l < len(f.in.Classes) {
				name = f.in.Classes[l]
			}
		}
		s.Slices = append(s.Slices, Slice{Name: name, Label: l, N: f.count[l]})
	}
	s.Curves, s.Consensus = f.curves, f.agreements
	return s
}

// MetricOf describes a metric of outputs of that kind.
func MetricOf(m *metric.Metric, out job.Output) Metric {
	return Metric{
		Name: m.Name, Doc: m.Doc, Unit: UnitOf(m, out), Better: string(m.Better), Ref: string(m.Ref),
		Range: [2]Number{Number(m.Range[0]), Number(m.Range[1])}, Pooled: m.Pooled != nil,
	}
}

func (f *folder) curve(c *cell, model, i, slice int) Curve {
	o := Curve{
		Model: model, Metric: i, Slice: slice, WorstElement: -1, WorstSample: c.sample, WorstAt: c.at,
		WorstValue: Number(c.value),
		FirstBad:   c.badFirst, BadAt: c.badAt,
		Orbit: f.estimate(&c.orbit, f.metrics[i], false),
		Moved: f.estimate(&c.moved, f.metrics[i], false),
		Worst: f.estimate(&c.worst, f.metrics[i], f.metrics[i].Binary),
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

func (f *folder) estimate(m *aggregate.Moments, of *metric.Metric, binary bool) Estimate {
	return EstimateOf(*m, of, binary, f.in.Confidence)
}
