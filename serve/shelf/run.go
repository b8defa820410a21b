package shelf

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nero/measure/metric"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/slice"
	"nero/run/store"
	"nero/serve/api"
	"nero/symmetry/group"
)

// ErrUnknown marks an id, a sample, a model or a metric that is not there.
var ErrUnknown = errors.New("unknown")

// ErrBad marks a question that makes no sense: a set with a mistake, models that are not to be compared.
var ErrBad = errors.New("not understood")

// ErrNotTogether marks two runs that cannot be laid over each other. It wraps [ErrBad].
var ErrNotTogether = fmt.Errorf("%w: the runs do not go together", ErrBad)

// Run is a run as it was when it was asked for, or two of them side by side. It is safe for concurrent use; a run that
// fills in is another Run each time.
type Run struct {
	shelf      *Shelf
	id, name   string
	generation int
	parts      []part
	models     []modelRef
	metrics    []*metric.Metric
	group      group.Group
	// of the first part: elements, weights
	job  *job.Job
	n, e int
	// index of the identity in the plan, -1 if it is not visited
	identity int

	mu       sync.Mutex
	document *api.Run
	etag     string
	// versions of what else is in the document
	shows   [2]int
	sampled *table
}

// part is a source with the samples and metrics that are shown of it.
type part struct {
	*source

	at snapshot
	// its sample behind every sample of the run; nil where they are the same
	rows []int32
	// the samples were picked from one run that is too large: nothing of the others is read
	picked bool
	// its metric behind every metric of the run
	metrics []int
}

type modelRef struct {
	part, index int
	name        string
}

func (s *Shelf) single(src *source) *Run {
	at := src.now()
	j := at.run.Job()
	p := part{source: src, at: at}
	r := &Run{
		shelf: s, id: src.id, name: src.title(), generation: at.generation, group: at.group, job: j,
		n: j.Count, e: len(j.Elements), identity: identityOf(at.group, j.Elements),
	}
	known, _ := j.Study.KnownMetrics(s.o.Metrics) // what is wrong with one leaves it out
	for k, name := range j.Metrics {
		r.metrics = append(r.metrics, metricOf(known, name))
		p.metrics = append(p.metrics, k)
	}
	for m := range j.Models {
		r.models = append(r.models, modelRef{0, m, j.Models[m].Name})
	}
	r.parts = []part{p}
	return r
}

func identityOf(g group.Group, elements []group.Element) int {
	return slices.IndexFunc(elements, func(e group.Element) bool { return g.Dist(e, g.Identity()) == 0 })
}

// metricOf is a metric by its name. Of one that this program does not know, nothing is assumed but that more is better.
func metricOf(known metric.List, name string) *metric.Metric {
	if known == nil {
		known = metric.Builtin()
	}
	if m, err := known.Find(name); err == nil {
		return m
	}
	return &metric.Metric{
		Name: name, Doc: "not known to this version of the program", Better: metric.Higher, Ref: metric.Target,
		Range: [2]float64{math.Inf(-1), math.Inf(1)},
	}
}

// join lays two runs over each other.
func (s *Shelf) join(a, b *source) (*Run, error) {
	x, y := s.single(a), s.single(b)
	p, q := x.parts[0], y.parts[0]
	apart := func(format string, v ...any) error {
		return mark(ErrNotTogether, "%s and %s do not go together: %s", a.name, b.name, fmt.Sprintf(format, v...))
	}
	if a == b {
		return nil, apart("they are the same run; name two")
	}
	j, k := x.job, y.job
	switch {
	case x.group.Name() != y.group.Name():
		return nil, apart("one is over %s, the other over %s; choose runs over the same group", x.group.Name(),
			y.group.Name())
	case x.e != y.e:
		return nil, apart("one visits %d elements of %s, the other %d; choose runs with the same orbit", x.e,
			x.group.Name(), y.e)
	}
	for i := range j.Elements {
		if !slices.Equal(j.Elements[i], k.Elements[i]) {
			return nil, apart("element %d of the orbit is %s in one and %s in the other; choose runs with the same "+
				"orbit",
				i, group.Format(x.group, j.Elements[i]), group.Format(x.group, k.Elements[i]))
		}
	}
	if !slices.Equal(j.Weights, k.Weights) {
		return nil, apart("the means over the orbit have other weights (%s; %s); choose runs with the same orbit",
			j.Measure, k.Measure)
	}
	r := &Run{
		shelf: s, id: a.id + "+" + b.id, name: a.name + " + " + b.name, generation: p.at.generation + q.at.generation,
		group: x.group, job: j,
		e: x.e, identity: x.identity,
	}
	p.metrics, q.metrics = nil, nil
	for i, name := range j.Metrics {
		if l := slices.Index(k.Metrics, name); l >= 0 {
			r.metrics = append(r.metrics, x.metrics[i])
			p.metrics, q.metrics = append(p.metrics, i), append(q.metrics, l)
		}
	}
	if len(r.metrics) == 0 {
		return nil, apart("no metric is in both (%s; %s)", strings.Join(j.Metrics, ", "), strings.Join(k.Metrics, ", "))
	}
	r.n = x.n
	if !sameSamples(j, k) {
		var err error
		if p.rows, q.rows, err = match(p, q); err != nil {
			return nil, err
		}
		if r.n = len(p.rows); r.n == 0 {
			return nil, apart("no sample has the same name and label in both; choose runs over the same data")
		}
	}
	for i, o := range []*Run{x, y} {
		for _, m := range o.models {
			m.part = i
			r.models = append(r.models, m)
		}
	}
	for i := range r.models { // rules and tables tell models by their names
		same := func(m modelRef) bool { return m.name == r.models[i].name }
		if first := slices.IndexFunc(r.models, same); first != i {
			src := []*source{a, b}
			r.models[first].name += " (" + src[r.models[first].part].id + ")"
			r.models[i].name += " (" + src[r.models[i].part].id + ")"
		}
	}
	r.parts = []part{p, q}
	return r, nil
}

// sameSamples reports whether two jobs are over the same samples in the same order, without reading any.
func sameSamples(a, b *job.Job) bool {
	return a.Names != "" && a.Names == b.Names && a.Count == b.Count && slices.Equal(a.Samples, b.Samples) &&
		slices.EqualFunc(a.Files, b.Files, func(x, y job.Ref) bool { return x.SHA256 == y.SHA256 })
}

// match pairs the samples of two runs by name and label, in the order of the first.
func match(a, b part) (x, y []int32, err error) {
	p, err := a.names(a.at)
	if err != nil {
		return nil, nil, err
	}
	q, err := b.names(b.at)
	if err != nil {
		return nil, nil, err
	}
	type named struct {
		id    string
		label int32
	}
	at := make(map[named]int32, len(q.ids))
	for i, id := range slices.Backward(q.ids) { // of equal names the first counts
		if q.present(b.at, i) {
			at[named{id, q.labels[i]}] = int32(i)
		}
	}
	for i, id := range p.ids {
		if !p.present(a.at, i) {
			continue
		}
		n := named{id, p.labels[i]}
		if k, ok := at[n]; ok {
			x, y = append(x, int32(i)), append(y, k)
			delete(at, n)
		}
	}
	return x, y, nil
}

// present reports whether a sample is in a shard that was read.
func (r *rows) present(at snapshot, i int) bool { return r.have == nil || r.have[i/at.run.Job().Shard] }

func (p *part) row(i int) int {
	if p.rows == nil {
		return i
	}
	return int(p.rows[i])
}

// ID is how the run is asked for.
func (r *Run) ID() string { return r.id }

// Len is the number of samples.
func (r *Run) Len() int { return r.n }

// Elements is the number of elements of the plan.
func (r *Run) Elements() int { return r.e }

// Models are the names of the models, distinct.
func (r *Run) Models() []string {
	names := make([]string, len(r.models))
	for i, m := range r.models {
		names[i] = m.name
	}
	return names
}

// Metrics are the metrics. Callers must not change them.
func (r *Run) Metrics() []*metric.Metric { return r.metrics }

// Plan is the plan of the orbit: the group, its elements and their weights in a mean, nil for equal ones. Callers must
// not change them.
func (r *Run) Plan() (group.Group, []group.Element, []float64) {
	return r.group, r.job.Elements, r.job.Weights
}

// Identity is the identity of the group, as clients name it.
func (r *Run) Identity() group.Element { return r.named(r.group.Identity(), r.identity) }

// Parts is how many runs it is made of: 1, or 2 for two side by side.
func (r *Run) Parts() int { return len(r.parts) }

// Folder is the folder of the run, the first of two. It is for programs on this machine that go on with the run: no
// client is told.
func (r *Run) Folder() string { return r.parts[0].dir }

// Job is the job of the run, of the first of two. Callers must not change it, and not pass paths in it on.
func (r *Run) Job() *job.Job { return r.job }

// Generation grows whenever more of the run is there: what was made of a run is as good as new while it stays.
func (r *Run) Generation() int { return r.generation }

// done is how many samples have their rows.
func (r *Run) done() int {
	if len(r.parts) == 1 && r.parts[0].rows == nil {
		return r.parts[0].at.samples()
	}
	s, err := r.info()
	if err != nil {
		return 0 // who asks for the samples is told
	}
	return s.Done
}

func (r *Run) complete() bool {
	return !slices.ContainsFunc(r.parts, func(p part) bool { return !p.at.complete() })
}

// Samples are the columns of the table of samples. They are shared: callers must not change them.
func (r *Run) Samples() (*api.Samples, error) {
	s, err := r.info()
	if err != nil {
		return nil, err
	}
	return &s.Samples, nil
}

// table is the samples of a run with what sets are made of.
type table struct {
	api.Samples

	labels []int32
	tags   map[int][]string
	// could not be evaluated
	failed slice.Bits
	// have rows, failed or not
	ready slice.Bits
}

func (r *Run) info() (*table, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sampled != nil {
		return r.sampled, nil
	}
	s := &table{labels: make([]int32, r.n), tags: map[int][]string{}, failed: slice.NewBits(r.n), ready: slice.All(r.n)}
	s.IDs, s.Labels, s.Errors = make([]string, r.n), make([]int, r.n), map[string]string{}
	for at, p := range r.parts {
		names, err := p.names(p.at)
		if err != nil {
			return nil, err
		}
		ready, said := slice.NewBits(r.n), p.heard()
		for i := range r.n {
			k := p.row(i)
			if !names.present(p.at, k) {
				continue
			}
			ready.Add(i)
			if s.IDs[i] == "" {
				s.IDs[i], s.labels[i], s.Labels[i] = names.ids[k], names.labels[k], int(names.labels[k])
				if t := with(names.tags[k], said.tags[s.IDs[i]]); len(t) > 0 {
					s.tags[i] = t
				}
			}
			if e := names.errs[k]; e != "" {
				s.failed.Add(i)
				if key := strconv.Itoa(i); s.Errors[key] == "" {
					s.Errors[key] = e
				}
			}
		}
		if at == 0 {
			for i := range r.n {
				if !ready.Has(i) {
					s.labels[i], s.Labels[i] = -1, -1
				}
			}
		}
		s.ready = s.ready.And(ready)
	}
	if len(s.tags) > 0 {
		s.Tags = make([][]string, r.n)
		for i := range s.Tags {
			if s.Tags[i] = s.tags[i]; s.Tags[i] == nil {
				s.Tags[i] = []string{}
			}
		}
	}
	s.Done = s.ready.Count()
	r.sampled = s
	return s, nil
}

// with is the tags of the data and those that people gave, each once.
func with(tags, more []string) []string {
	if len(more) == 0 {
		return tags
	}
	out := slices.Clone(tags)
	for _, t := range more {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func (r *Run) checkSample(i int) error {
	if i < 0 || i >= r.n {
		return fmt.Errorf("%s: %w sample %d; the run has %d, numbered from 0", r.name, ErrUnknown, i, r.n)
	}
	return nil
}

func (r *Run) check(model, metric int) error {
	if model < 0 || model >= len(r.models) {
		return fmt.Errorf("%s: %w model %d; the run has %d, numbered from 0", r.name, ErrUnknown, model, len(r.models))
	}
	if metric < 0 || metric >= len(r.metrics) {
		return fmt.Errorf("%s: %w metric %d; the run has %d, numbered from 0", r.name, ErrUnknown, metric,
			len(r.metrics))
	}
	return nil
}

// Sample is one orbit, exactly.
func (r *Run) Sample(i int) (*api.Sample, error) {
	if err := r.checkSample(i); err != nil {
		return nil, err
	}
	s, err := r.info()
	if err != nil {
		return nil, err
	}
	o := &api.Sample{
		Index: i, ID: s.IDs[i], Label: s.Labels[i], Tags: s.tags[i], Error: s.Errors[strconv.Itoa(i)],
		Done:   s.ready.Has(i),
		Curves: make([][][]fold.Number, len(r.models)),
	}
	if r.job.Classes > 0 {
		o.Top = make([][]int, len(r.models))
	}
	if slices.ContainsFunc(r.metrics, func(m *metric.Metric) bool { return m.Ref == metric.Consensus }) {
		none := []fold.Number{fold.Number(math.NaN())}
		o.Support, o.Agreement = slices.Repeat(none, len(r.models)), slices.Repeat(none, len(r.models))
	}
	for m := range r.models {
		o.Curves[m] = make([][]fold.Number, len(r.metrics))
		for k := range o.Curves[m] {
			o.Curves[m][k] = make([]fold.Number, r.e)
			for g := range o.Curves[m][k] {
				o.Curves[m][k][g] = fold.Number(math.NaN())
			}
		}
		if o.Top != nil {
			o.Top[m] = slices.Repeat([]int{-1}, r.e)
		}
	}
	for at, p := range r.parts {
		k := p.row(i)
		var want []string
		for _, m := range p.metrics {
			want = append(want, p.at.run.Job().Metrics[m])
		}
		for row, err := range p.at.run.Rows(store.Filter{Metrics: want, Lo: k, Hi: k + 1}) {
			if err != nil {
				return nil, p.clean(err)
			}
			m := slices.IndexFunc(r.models, func(m modelRef) bool { return m.part == at && m.index == row.Model })
			if o.Support != nil {
				o.Support[m], o.Agreement[m] = rested(row.Support), rested(row.Agreement)
			}
			for c := range want {
				for g, v := range row.Curves[c] {
					o.Curves[m][c][g] = fold.Number(v)
				}
			}
			if o.Top != nil {
				for g, v := range row.Top {
					o.Top[m][g] = int(v)
				}
			}
		}
	}
	if o.Done {
		o.Replay = replay(r.job, r.models[0].index, o.ID)
	}
	return o, nil
}

// Curves are the values of a metric under a model: one row of the elements for every sample, NaN where there is none.
// They are shared: callers must not change them.
func (r *Run) Curves(model, metric int) ([]float32, error) {
	if err := r.check(model, metric); err != nil {
		return nil, err
	}
	m := r.models[model]
	p := r.parts[m.part]
	k := p.metrics[metric]
	if p.picked {
		return cached(r, key{kind: kindJoin, model: model, metric: metric}, func() ([]float32, int64, error) {
			return r.pickedCurves(p, m.index, p.at.run.Job().Metrics[k])
		})
	}
	values, err := p.curves(p.at, m.index, p.at.run.Job().Metrics[k], k)
	if err != nil || p.rows == nil {
		return values, err
	}
	return cached(r, key{kind: kindJoin, model: model, metric: metric}, func() ([]float32, int64, error) {
		return gather(values, p.rows, r.e), int64(4 * len(p.rows) * r.e), nil
	})
}

// Top is the predicted class of a model for every sample at every element, -1 where there is none. It is nil if the
// output has no classes, and shared: callers must not change it.
func (r *Run) Top(model int) ([]int32, error) {
	if err := r.check(model, 0); err != nil {
		return nil, err
	}
	m := r.models[model]
	p := r.parts[m.part]
	if p.picked {
		return cached(r, key{kind: kindTop, model: model}, func() ([]int32, int64, error) {
			return r.pickedTop(p, m.index)
		})
	}
	top, err := p.top(p.at, m.index)
	if err != nil || top == nil || p.rows == nil {
		return top, err
	}
	return cached(r, key{kind: kindTop, model: model}, func() ([]int32, int64, error) {
		return gather(top, p.rows, r.e), int64(4 * len(p.rows) * r.e), nil
	})
}

func gather[T any](values []T, rows []int32, e int) []T {
	out := make([]T, 0, len(rows)*e)
	for _, i := range rows {
		out = append(out, values[int(i)*e:(int(i)+1)*e]...)
	}
	return out
}

// Stats sums up the curves of a metric under a model.
func (r *Run) Stats(model, metric int) (*Stats, error) {
	stream, err := r.Stream(model, metric)
	if err != nil {
		return nil, err
	}
	if stream != nil { // sums are a tenth of the curves and less
		return cached(r, key{kind: kindStats, model: model, metric: metric}, func() (*Stats, int64, error) {
			s, err := stream.stats(r.metrics[metric])
			if err != nil {
				return nil, 0, err
			}
			return s, s.bytes(), nil
		})
	}
	values, err := r.Curves(model, metric)
	if err != nil {
		return nil, err
	}
	return cached(r, key{kind: kindStats, model: model, metric: metric}, func() (*Stats, int64, error) {
		s := statsOf(values, r.n, r.e, r.job.Weights, r.identity, r.metrics[metric])
		return s, s.bytes(), nil
	})
}

// cached keeps what is made of this generation of the run.
func cached[T any](r *Run, k key, produce func() (T, int64, error)) (T, error) {
	k.id, k.generation = r.id, r.generation
	v, err := r.shelf.cache.get(k, nil, func(any) (any, int64, error) { return widen(produce()) })
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil //nolint:errcheck,forcetypeassert // what was put in under this key
}

func widen[T any](v T, size int64, err error) (any, int64, error) { return v, size, err }

// members are the samples of a set that have values: computed and not failed, ascending.
func (r *Run) members(set slice.Bits) ([]int32, *table, error) {
	s, err := r.info()
	if err != nil {
		return nil, nil, err
	}
	set = set.And(s.ready).And(s.failed.Not())
	return slices.AppendSeq(make([]int32, 0, set.Count()), narrow(set.All())), s, nil
}

func narrow(in iter.Seq[int]) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := range in {
			if !yield(int32(i)) {
				return
			}
		}
	}
}
