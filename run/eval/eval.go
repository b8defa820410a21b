// Package eval is the one place where orbit, engine and metric meet: it moves samples along the orbit, runs the models and
// measures. The command line, the array job and the live probe all call it.
package eval

import (
	"context"
	"errors"
	"fmt"
	"math"

	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/metric"
	"nero/model/engine"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/orbit"
)

// Evaluation is everything that evaluating a shard needs, opened. Its methods are safe for concurrent use.
type Evaluation struct {
	Data    dataset.Dataset
	Samples []int // indexes into Data; nil for all
	Plan    *orbit.Plan
	Models  []*Model
	Metrics []*metric.Metric
	Scales  []float64 // centred scale of each model's output, from [Evaluation.Calibrate]
	Classes int       // number of classes; labels beyond it are refused. 0 if the output has none
	// KeepGoing makes a sample that cannot be read or moved a row with an error instead of the end of the run.
	KeepGoing bool

	mover []action.Mover // of each element, if the action prepares
	shape space.Value    // of a moved value; its numbers are never read
	from  []int          // shape of the samples that the movers are for
	inv   []group.Element
	plain bool // the output action is trivial
	first int  // index of the identity in the plan
	chunk int  // moved values held at once
}

// chunkBytes bounds the moved inputs that one worker holds.
const chunkBytes = 48 << 20

// calibration is how many samples the centred scale is taken over.
const calibration = 256

// SampleError is an error of one sample of the data set, not of the program that reads it.
type SampleError struct {
	ID  string
	Err error
}

// Error names the sample.
func (e *SampleError) Error() string { return fmt.Sprintf("sample %s: %v", e.ID, e.Err) }

// Unwrap is the cause.
func (e *SampleError) Unwrap() error { return e.Err }

// Count is the number of samples.
func (e *Evaluation) Count() int {
	if e.Samples != nil {
		return len(e.Samples)
	}
	return e.Data.Len()
}

// At reads sample i of the run, 0 <= i < Count(), and checks it against what the models expect.
func (e *Evaluation) At(i int) (dataset.Sample, error) {
	k := i
	if e.Samples != nil {
		k = e.Samples[i]
	}
	s, err := e.Data.Sample(k)
	if err != nil {
		id := e.Data.IDs()[k]
		return dataset.Sample{ID: id, Label: -1}, &SampleError{id, err}
	}
	if e.Classes > 0 && s.Label >= e.Classes {
		return s, &SampleError{s.ID, fmt.Errorf("label %d, but the models have %d classes (0 to %d)", s.Label, e.Classes, e.Classes-1)}
	}
	return s, nil
}

// Prepare does the work that depends on the elements alone. It must be called before anything else.
func (e *Evaluation) Prepare() error {
	if e.Count() == 0 {
		return errors.New("no samples")
	}
	s, err := e.At(0)
	if err != nil {
		return err
	}
	if e.first = e.Plan.Identity(); e.first < 0 {
		return errors.New("the orbit does not visit the identity")
	}
	e.from = space.Shape(s.Value)
	if e.shape, err = e.Plan.In.Apply(e.Plan.Group.Identity(), s.Value); err != nil {
		return &SampleError{s.ID, err}
	}
	if p, ok := e.Plan.In.(action.Preparer); ok {
		e.mover = make([]action.Mover, len(e.Plan.Elements))
		for k, g := range e.Plan.Elements {
			if e.mover[k], err = p.Prepare(g, s.Value); err != nil {
				return fmt.Errorf("element %s: %w", group.Format(e.Plan.Group, g), err)
			}
		}
	}
	_, e.plain = e.Plan.Out.(action.Trivial)
	e.inv = make([]group.Element, len(e.Plan.Elements))
	for k, g := range e.Plan.Elements {
		e.inv[k] = e.Plan.Group.Inv(g)
	}
	e.chunk = 1
	for _, m := range e.Models {
		e.chunk = max(e.chunk, m.Batch)
	}
	// A multiple of every micro-batch would be best; they are powers of two or the same, so the largest is one.
	room := chunkBytes / max(1, 8*count(space.Shape(e.shape)))
	for e.chunk*2 <= min(room, 64) {
		e.chunk *= 2
	}
	return nil
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// move writes g_k·x into a value of the right shape, reusing to where it can.
func (e *Evaluation) move(k int, x, to space.Value) (space.Value, error) {
	if e.mover == nil || to == nil || !equal(space.Shape(x), e.from) {
		return e.Plan.In.Apply(e.Plan.Elements[k], x)
	}
	return to, e.mover[k].Move(to, x)
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Calibrate measures the centred scale of every model's output at the identity over the first samples of the run. It takes
// the same samples whatever the workers, so that a resumed run and a worker of an array job get the same numbers.
func (e *Evaluation) Calibrate(ctx context.Context, workers int) error {
	need := false
	for _, m := range e.Metrics {
		need = need || m == metric.Relative
	}
	e.Scales = make([]float64, len(e.Models))
	for i := range e.Scales {
		e.Scales[i] = math.NaN()
	}
	if !need {
		return nil
	}
	n := min(e.Count(), calibration)
	sums := make([]spread, len(e.Models))
	for lo := 0; lo < n; lo += e.chunk {
		var xs []space.Value
		for i := lo; i < min(lo+e.chunk, n); i++ {
			s, err := e.At(i)
			if err == nil {
				var x space.Value
				if x, err = e.Plan.In.Apply(e.Plan.Group.Identity(), s.Value); err == nil {
					xs = append(xs, x)
					continue
				}
			}
			if !e.KeepGoing {
				return err
			}
		}
		for k, m := range e.Models {
			ys, err := m.Predict(ctx, xs, workers)
			if err != nil {
				return err
			}
			for _, y := range ys {
				sums[k].add(y)
			}
		}
	}
	for k := range sums {
		e.Scales[k] = sums[k].scale()
	}
	return nil
}

// pending is a sample whose orbit is being evaluated.
type pending struct {
	index  int
	sample dataset.Sample
	got    [][]space.Value // model × element, appended in element order
}

// Shard evaluates the samples of s and returns their rows, sample by sample and model by model within one. It calls
// progress, if not nil, with the number of model evaluations done since the last call.
func (e *Evaluation) Shard(ctx context.Context, s job.Shard, progress func(int)) ([]job.Row, error) {
	sessions := make([]predictor, len(e.Models))
	for k, m := range e.Models {
		ses, err := m.Pool.Get(ctx)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		defer func(p *Pool, ses engine.Session) { p.Put(ses) }(m.Pool, ses)
		sessions[k] = predictor{m: m, s: ses}
	}
	w := worker{e: e, sessions: sessions, progress: progress, slots: make([]space.Value, 0, e.chunk), store: make([]space.Value, e.chunk)}
	if e.mover != nil {
		for i := range w.store {
			var err error
			if w.store[i], err = space.Clone(e.shape); err != nil {
				return nil, err
			}
		}
	}
	for i := s.Lo; i < s.Hi; i++ {
		if err := w.sample(ctx, i); err != nil {
			return nil, err
		}
	}
	if err := w.flush(ctx); err != nil {
		return nil, err
	}
	return w.rows, nil
}

// worker is the state of one shard's evaluation: batches span elements and samples.
type worker struct {
	e        *Evaluation
	sessions []predictor
	progress func(int)
	store    []space.Value // reused moved values
	slots    []space.Value // moved values that wait for a batch
	owner    []*pending    // of each slot
	open     []*pending    // samples in order whose rows are not made yet
	buf      []space.Value
	rows     []job.Row
}

// sample moves sample i along the orbit, running the models whenever a chunk is full.
func (w *worker) sample(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	smp, err := w.e.At(i)
	p := &pending{index: i, sample: smp, got: make([][]space.Value, len(w.e.Models))}
	if err == nil {
		var x space.Value
		for k := range w.e.Plan.Elements {
			if x, err = w.e.move(k, smp.Value, w.store[len(w.slots)]); err != nil {
				err = &SampleError{smp.ID, fmt.Errorf("element %s: %w", group.Format(w.e.Plan.Group, w.e.Plan.Elements[k]), err)}
				break
			}
			if k == 0 {
				w.open = append(w.open, p)
			}
			w.slots, w.owner = append(w.slots, x), append(w.owner, p)
			if len(w.slots) == w.e.chunk {
				if err := w.flush(ctx); err != nil {
					return err
				}
			}
		}
	}
	if err == nil {
		return nil
	}
	if !w.e.KeepGoing {
		return err
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	w.fail(p, err)
	return nil
}

// fail makes the rows of a sample that could not be evaluated.
func (w *worker) fail(p *pending, err error) {
	for i, o := range w.open {
		if o == p {
			w.open = append(w.open[:i], w.open[i+1:]...)
			break
		}
	}
	for m := range w.e.Models {
		r := w.row(p, m)
		for _, c := range r.Curves {
			for k := range c {
				c[k] = float32(math.NaN())
			}
		}
		r.Err = err.Error()
		w.rows = append(w.rows, r)
	}
}

// flush runs the models on the waiting values and makes the rows of the samples that are complete.
func (w *worker) flush(ctx context.Context) error {
	for m := range w.sessions {
		var err error
		if w.buf, err = w.sessions[m].run(ctx, w.slots, w.buf[:0]); err != nil {
			return fmt.Errorf("%w (samples %s to %s)", err, w.owner[0].sample.ID, w.owner[len(w.owner)-1].sample.ID)
		}
		for i, y := range w.buf {
			w.owner[i].got[m] = append(w.owner[i].got[m], y)
		}
	}
	if w.progress != nil && len(w.slots) > 0 {
		w.progress(len(w.slots) * len(w.sessions))
	}
	w.slots, w.owner = w.slots[:0], w.owner[:0]
	for len(w.open) > 0 {
		p := w.open[0]
		if len(p.got[0]) < len(w.e.Plan.Elements) {
			break
		}
		for m := range w.e.Models {
			r, err := w.measure(p, m)
			if err != nil {
				return err
			}
			w.rows = append(w.rows, r)
		}
		w.open = w.open[1:]
	}
	return nil
}

// row is an empty row of sample p under model m.
func (w *worker) row(p *pending, m int) job.Row {
	r := job.Row{Model: m, Index: p.index, Sample: p.sample.ID, Label: p.sample.Label, Tags: p.sample.Tags}
	r.Curves = make([][]float32, len(w.e.Metrics))
	for i := range r.Curves {
		r.Curves[i] = make([]float32, len(w.e.Plan.Elements))
	}
	return r
}

// measure makes the row of a sample from its predictions.
func (w *worker) measure(p *pending, m int) (job.Row, error) {
	r := w.row(p, m)
	got := p.got[m]
	if !w.e.plain {
		for k := range got {
			z, err := w.e.Plan.Out.Apply(w.e.inv[k], got[k])
			if err != nil {
				return r, fmt.Errorf("model %s: output: pulling back element %s: %w", w.e.Models[m].Name, group.Format(w.e.Plan.Group, w.e.Plan.Elements[k]), err)
			}
			got[k] = z
		}
	}
	c := metric.Case{Want: got[w.e.first], Label: p.sample.Label, Scale: math.NaN()}
	if w.e.Scales != nil {
		c.Scale = w.e.Scales[m]
	}
	for k := range got {
		c.Got, c.Prev = got[k], got[(k+len(got)-1)%len(got)]
		for i, mt := range w.e.Metrics {
			r.Curves[i][k] = float32(mt.Measure(c))
		}
		if s, ok := got[k].(*space.Scores); ok {
			r.Top = append(r.Top, int32(metric.Top(s.Val)))
		}
	}
	return r, nil
}
