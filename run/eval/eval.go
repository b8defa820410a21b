// Package eval is the one place where orbit, engine and metric meet: it moves samples along the orbit, runs the models
// and measures. The command line, the array job and the live probe all call it.
package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/consensus"
	"nero/measure/metric"
	"nero/model/decode"
	"nero/model/engine"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/orbit"
)

// Evaluation is everything that evaluating a shard needs, opened. Its methods are safe for concurrent use.
type Evaluation struct {
	Data dataset.Dataset
	// indexes into Data; nil for all
	Samples []int
	Plan    *orbit.Plan
	Models  []*Model
	Metrics []*metric.Metric
	// centred scale of each model's output, from [Evaluation.Calibrate]; of rows that of one row
	Scales []float64
	// FieldScales are those of the fields of outputs that are records.
	FieldScales []map[string]float64
	// Sizes are the root mean squares of the numbers that the centred scales are of, NaN where there is no scale: an
	// output that varies by no more than rounding does not vary.
	Sizes []float64
	// Centres are the means of each model's output, of rows those of a row, and FieldCentres those of its fields; nil
	// where no metric needs them.
	Centres      [][]float64
	FieldCentres []map[string][]float64
	// number of classes; metrics against labels refuse labels beyond it. 0 if the output has none
	Classes int
	// Target moves the targets of samples into the frame of the moved input; nil if there are none or no metric reads
	// them.
	Target action.Action
	// Pixels says that rows hold counts of pixels; [Evaluation.Prepare] finds it.
	Pixels bool
	// Averaging says how the model's own answers become the reference of metrics against the consensus.
	Averaging consensus.Options
	// LeaveOut compares the answer at each element with the consensus of the others.
	LeaveOut bool
	// KeepGoing makes a sample that cannot be read or moved a row with an error instead of the end of the run.
	KeepGoing bool
	// Places are the paths of the data. What a row says of an error names them without the folders above: it is the
	// same wherever the data lies and the program runs.
	Places []string

	// of the first elements, if the action prepares
	mover   []action.Mover
	prepare action.Preparer
	// the movers take values of any size
	ragged bool
	// answers at the elements of the plan back to the identity, answers and targets from there to the elements
	backs, forths, truths *carrier
	// pixels are scaled before they are moved, once for all elements; nil if that is not the same
	scaler *decode.Scaler
	// the models as the worker feeds them: without scaling if scaler is there
	fed []*Model
	// all of fed lay a batch out to the same bytes under the same name
	alike bool
	// of each element, where moved samples go straight into batches; else nil
	floats []func(to, from []float32)
	// of a moved value; its numbers are never read
	shape space.Value
	// shape of the samples that the movers are for
	from []int
	inv  []group.Element
	// the output action is trivial
	plain bool
	// a metric compares with labels
	labeled bool
	refs    references
	// index of the identity in the plan
	first int
	// in which the elements are evaluated: the identity, which the others are compared with, first
	order []int
	// moved values held at once
	chunk int
	// samples that are worth taking together where they are not moved
	most int
}

const (
	// chunkBytes bounds the moved inputs that one worker holds, as long as every model gets a whole micro-batch.
	chunkBytes = 12 << 20
	// chunkValues is how many moved values are worth waiting for.
	chunkValues = 64
	// moverBytes bounds what elements hold that are prepared once for all samples: some hundred bytes where whole
	// pixels move, up to 150 KiB elsewhere. Those beyond are prepared anew for each sample.
	moverBytes = 64 << 20
	// calibration is how many samples the centred scale is taken over.
	calibration = 256
	// calibrationSeed chooses them. It is not that of the study, whose choice of samples may be made with the same.
	calibrationSeed = 0x7363616c65
)

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
	if e.Samples != nil {
		i = e.Samples[i]
	}
	return e.Of(i)
}

// Of reads sample k of the data, which need not be one of the run, as [Evaluation.At] does.
func (e *Evaluation) Of(k int) (dataset.Sample, error) {
	s, err := e.Data.Sample(k)
	if err != nil {
		id := e.Data.IDs()[k]
		return dataset.Sample{ID: id, Label: -1}, &SampleError{id, err}
	}
	if e.labeled && e.Classes > 0 && s.Label >= e.Classes {
		return s, &SampleError{s.ID, fmt.Errorf("label %d, but the models have %d classes (0 to %d)", s.Label,
			e.Classes, e.Classes-1)}
	}
	if m, ok := s.Target.(space.Labelled); ok && e.Pixels && e.Classes > 0 {
		_, w, of := m.Labels()
		if i := slices.IndexFunc(of, func(v int32) bool { return v >= int32(e.Classes) }); i >= 0 {
			return s, &SampleError{s.ID, fmt.Errorf("the mask has the number %d at column %d, row %d, but the models "+
				"have %d classes (0 to %d): say which numbers of the files they are with data.masks.values, or that "+
				"it counts for nothing with data.masks.void", of[i], i%w, i/w, e.Classes, e.Classes-1)}
		}
	}
	return s, nil
}

// Prepare does the work that depends on the elements alone. It must be called before anything else.
func (e *Evaluation) Prepare() error {
	if e.Count() == 0 {
		return errors.New("no samples")
	}
	e.labeled = slices.ContainsFunc(e.Metrics, func(m *metric.Metric) bool { return m.Ref == metric.Target })
	e.refs = needs(e.Metrics)
	e.Pixels = slices.ContainsFunc(e.Metrics, func(m *metric.Metric) bool { return m.OfPixels }) &&
		e.Target != nil
	if e.first = e.Plan.Identity(); e.first < 0 {
		return errors.New("the orbit does not visit the identity")
	}
	s, err := e.First()
	if err != nil {
		return err
	}
	e.from = s.Value.Dims()
	if e.shape, err = e.Plan.In.Apply(e.Plan.Group.Identity(), s.Value); err != nil {
		return &SampleError{s.ID, err}
	}
	if err := e.movers(s.Value); err != nil {
		return err
	}
	if err := e.ahead(s.Value); err != nil {
		return err
	}
	e.compareInputs()
	e.straight()
	_, e.plain = e.Plan.Out.(action.Trivial)
	if _, torus := e.Plan.Group.(group.Torus); torus && !e.plain {
		// A box beyond a seam and the same box on this side are one: moved targets lie on this side.
		one := e.Plan.Group.Identity()
		for _, m := range e.Models {
			if m.Codec.Out().Kind == space.KindBoxes {
				m.after = func(y space.Value) (space.Value, error) {
					if broken(y) {
						return y, nil
					}
					return e.Plan.Out.Apply(one, y)
				}
			}
		}
	}
	e.inv = make([]group.Element, len(e.Plan.Elements))
	e.order = append(make([]int, 0, len(e.Plan.Elements)), e.first)
	for k, g := range e.Plan.Elements {
		e.inv[k] = e.Plan.Group.Inv(g)
		if k != e.first {
			e.order = append(e.order, k)
		}
	}
	e.backs, e.forths = newCarrier(e.Plan.Out, e.inv), newCarrier(e.Plan.Out, e.Plan.Elements)
	if e.Target != nil {
		e.truths = newCarrier(e.Target, e.Plan.Elements)
	}
	e.most = chunk(e.Models, 8*size(e.shape))
	if e.chunk = e.most; e.alike { // a batch is there for all models as long as no other is laid out
		e.chunk = e.fed[0].Batch
	}
	return nil
}

// movers prepares the elements, as many as there is room for.
func (e *Evaluation) movers(x space.Value) error {
	p, ok := e.Plan.In.(action.Preparer)
	if !ok {
		return nil
	}
	e.prepare = p
	held := 0
	for _, g := range e.Plan.Elements {
		m, err := p.Prepare(g, x)
		if err != nil {
			return fmt.Errorf("element %s: %w", group.Format(e.Plan.Group, g), err)
		}
		e.mover, e.ragged = append(e.mover, m), action.Ragged(m)
		if held += action.Bytes(m); held > moverBytes {
			break
		}
	}
	return nil
}

// ahead finds out whether pixels may be scaled before they are moved: if every element only moves them, filling nothing
// in, and all models scale alike.
func (e *Evaluation) ahead(x space.Value) error {
	e.scaler, e.fed, e.alike = nil, e.Models, false
	if o, ok := action.OptionsOf(e.Plan.In); ok && o.Region != action.Whole {
		return nil // zeros outside it are of pixels, not of what they are scaled to
	}
	if e.prepare == nil || slices.Contains(e.Plan.Exact(), false) {
		return nil
	}
	var scaler *decode.Scaler
	fed := make([]*Model, len(e.Models))
	for i, m := range e.Models {
		s, rest, ok := decode.Ahead(m.Codec)
		if !ok || scaler != nil && !scaler.Same(s) {
			return nil
		}
		bare := *m
		bare.Codec = rest
		scaler, fed[i] = s, &bare
	}
	for _, g := range e.Plan.Elements {
		leaves, err := action.Leaves(e.Plan.In, g, x)
		if err != nil || leaves {
			return err
		}
	}
	e.scaler, e.fed = scaler, fed
	return nil
}

// compareInputs finds out whether a batch that is laid out for one model will do for all.
func (e *Evaluation) compareInputs() {
	first := e.fed[0]
	e.alike = decode.Alike(first.Codec, first.Codec) && !slices.ContainsFunc(e.fed, func(m *Model) bool {
		return m.Batch != first.Batch || m.Fixed != first.Fixed || !decode.Alike(first.Codec, m.Codec)
	})
}

// First is the first sample that can be used: the first of all, unless the run keeps going without those that cannot.
func (e *Evaluation) First() (s dataset.Sample, err error) {
	for i := range e.Count() {
		if s, err = e.At(i); err == nil || !e.endures(err) {
			return s, err
		}
	}
	return s, fmt.Errorf("none of the %d samples can be used; the last: %w", e.Count(), err)
}

// chunk is how many moved values of so many bytes are collected before the models run: whole micro-batches of every
// model where chunkValues and chunkBytes leave room for that, else of the largest.
func chunk(models []*Model, bytes int) int {
	largest, all := 1, 1
	for _, m := range models {
		largest = max(largest, m.Batch)
		if all <= chunkValues { // beyond it does not matter, and products stay small
			all *= m.Batch / gcd(all, m.Batch)
		}
	}
	room := min(chunkBytes/max(1, bytes), chunkValues)
	return max(largest, room/all*all)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// move writes g_k·x into a value of the right shape, reusing to where it can. With a scaler the result is scaled; x is
// then what scaled made of it.
func (e *Evaluation) move(k int, x, to space.Value) (space.Value, error) {
	switch {
	case to == nil || !e.ragged && !slices.Equal(x.Dims(), e.from):
		y, err := e.Plan.In.Apply(e.Plan.Elements[k], x)
		if err == nil && e.scaler != nil {
			return e.scaler.Scale(y)
		}
		return y, err
	case e.floats != nil:
		c, of := to.(*cut), x.(*ready) //nolint:errcheck,forcetypeassert // as worker and scaled make them
		c.of, c.mover, c.move = of, e.mover[k], e.floats[k]
		return c, nil
	case k < len(e.mover):
		return to, e.mover[k].Move(to, x)
	}
	m, err := e.prepare.Prepare(e.Plan.Elements[k], x)
	if err != nil {
		return nil, err
	}
	return to, m.Move(to, x)
}

// scaled is a sample as move wants it: samples of another size than the first are scaled after they are moved, for they
// may be filled in.
func (e *Evaluation) scaled(x space.Value) (space.Value, error) {
	if e.scaler == nil || !slices.Equal(x.Dims(), e.from) {
		return x, nil
	}
	y, err := e.scaler.Scale(x)
	if err == nil && e.floats != nil {
		return readied(y), nil
	}
	return y, err
}

// pending is a sample whose orbit is being evaluated. Of its predictions it keeps those that later ones are compared
// with, and no others: an output may be as large as an image and an orbit long.
type pending struct {
	index  int
	sample dataset.Sample
	// of each model
	tracks []track
	// why it has no answers, where a model that it was given to crashed or did not end
	failed error
	// targets moved to each element, as far as they are known and small enough to be kept
	truths []space.Value
}

// track is a sample under one model.
type track struct {
	row job.Row
	// elements measured
	n int
	// at the identity
	want space.Value
	// at element 0
	begin space.Value
	// at the element before
	last space.Value
	// predictions in the frames of their elements, of each element, as long as something waits for them
	at []space.Value
	// of the predictions pulled back; nil if no metric is against the consensus
	mean *consensus.Accumulator
}

// Shard evaluates the samples of s and returns their rows, sample by sample and model by model within one. Batches span
// the elements and samples of the shard and are cut from the job alone. It calls progress, if not nil, with the number
// of model evaluations done since the last call.
func (e *Evaluation) Shard(ctx context.Context, s job.Shard, progress func(int)) ([]job.Row, error) {
	rows, _, err := engine.Watch(ctx, func(ctx context.Context) ([]job.Row, error) { return e.shard(ctx, s, progress) })
	return rows, err
}

func (e *Evaluation) shard(ctx context.Context, s job.Shard, progress func(int)) ([]job.Row, error) {
	w, done, err := e.worker(ctx, progress)
	if err != nil {
		return nil, err
	}
	defer done()
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

// worker makes the state of a shard's evaluation. The function gives its sessions back.
func (e *Evaluation) worker(ctx context.Context, progress func(int)) (*worker, func(), error) {
	w := &worker{
		e: e, progress: progress, slots: make([]space.Value, 0, e.chunk), store: make([]space.Value, e.chunk),
		scales: map[string]float64{},
	}
	done := func() {
		for k := range w.sessions {
			w.sessions[k].close()
		}
	}
	for _, m := range e.fed {
		s, err := m.Pool.Get(ctx)
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		w.sessions = append(w.sessions, predictor{m: m, s: s})
	}
	if e.prepare != nil {
		for i := range w.store {
			if e.floats != nil {
				w.store[i] = &cut{Value: e.shape}
				continue
			}
			w.store[i] = e.shape.Clone()
		}
	}
	return w, done, nil
}

// worker is the state of one shard's evaluation: batches span elements and samples.
type worker struct {
	e        *Evaluation
	sessions []predictor
	progress func(int)
	// reused moved values
	store []space.Value
	// moved values that wait for a batch
	slots []space.Value
	// of each slot
	owner []*pending
	// of the fields of one answer; used again and again
	scales map[string]float64
	// room for an answer at the identity that is moved along
	self space.Value
	// room for an answer that is pulled back, nil while somebody may look at what was there
	back space.Value
	// room for an answer that is held against the consensus, and for the consensus that is moved along
	got, common space.Value
	// samples in order whose rows are not complete yet
	open []*pending
	rows []job.Row
}

// sample moves sample i along the orbit, running the models whenever a chunk is full.
func (w *worker) sample(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	smp, err := w.e.At(i)
	p := w.begin(i, smp)
	var from space.Value
	if err == nil {
		if from, err = w.e.scaled(smp.Value); err != nil {
			err = &SampleError{smp.ID, err}
		}
	}
	if err == nil {
		w.open = append(w.open, p)
		for _, k := range w.e.order {
			if err := ctx.Err(); err != nil { // a large volume takes a second to move
				return err
			}
			var x space.Value
			if x, err = w.e.move(k, from, w.room(from)); err != nil {
				err = &SampleError{
					smp.ID,
					fmt.Errorf("element %s: %w", group.Format(w.e.Plan.Group, w.e.Plan.Elements[k]), err),
				}
				break
			}
			w.slots, w.owner = append(w.slots, x), append(w.owner, p)
			if len(w.slots) == w.e.chunk {
				if err := w.flush(ctx); err != nil {
					return err
				}
				if p.failed != nil {
					return nil //nolint:nilerr // its row is made
				}
			}
		}
	}
	if err == nil {
		return nil
	}
	if !w.e.endures(err) {
		return err
	}
	if err := w.flush(ctx); err != nil { // rows come in the order of the samples
		return err
	}
	w.fail(p, err)
	return nil
}

// room is where the next moved value goes: of a set or a graph it is made anew where the last one had another size.
func (w *worker) room(x space.Value) space.Value {
	to := &w.store[len(w.slots)]
	if w.e.ragged && !space.Alike(*to, x) {
		*to = x.Like()
	}
	return *to
}

// begin makes the empty rows of a sample.
func (w *worker) begin(index int, s dataset.Sample) *pending {
	p := &pending{index: index, sample: s, tracks: make([]track, len(w.e.Models))}
	for m := range p.tracks {
		r := job.Row{
			Model: m, Index: index, Sample: s.ID, Label: s.Label, Tags: s.Tags,
			Curves: make([][]float32, len(w.e.Metrics)),
		}
		for i := range r.Curves {
			r.Curves[i] = make([]float32, len(w.e.Plan.Elements))
		}
		p.tracks[m].row, p.tracks[m].at = r, make([]space.Value, len(w.e.Plan.Elements))
	}
	return p
}

// fail makes the rows of a sample that could not be evaluated.
func (w *worker) fail(p *pending, err error) {
	p.failed = err
	w.open = slices.DeleteFunc(w.open, func(o *pending) bool { return o == p })
	for m := range p.tracks {
		r := p.tracks[m].row
		for _, c := range r.Curves {
			for k := range c {
				c[k] = float32(math.NaN())
			}
		}
		r.Top, r.Boxes, r.Truths, r.Pixels, r.Err = nil, nil, nil, nil, w.e.placeless(err.Error())
		if w.e.refs.consensus {
			r.Support, r.Agreement = float32(math.NaN()), float32(math.NaN())
		}
		w.rows = append(w.rows, r)
	}
}

// endures reports whether the run goes on without a sample that cannot be read. One that was changed since the job was
// made is no such sample: its row would be one of another job.
func (e *Evaluation) endures(err error) bool {
	_, changed := errors.AsType[*dataset.ChangedError](err)
	return e.KeepGoing && !changed
}

// placeless is the text of an error without the folders above those of the data.
func (e *Evaluation) placeless(text string) string {
	for _, p := range e.Places {
		if p == "" {
			continue
		}
		base := filepath.Base(p)
		if at, err := filepath.Abs(p); err == nil {
			base = filepath.Base(at)
		}
		for _, behind := range []string{":", "/", string(filepath.Separator)} {
			text = strings.ReplaceAll(text, " "+p+behind, " "+base+behind)
		}
	}
	return text
}

// flush runs the models on the waiting values, measures, and gives out the rows of the samples that are complete.
func (w *worker) flush(ctx context.Context) error {
	for m := range w.sessions {
		if err := w.answer(ctx, m); err != nil {
			return err
		}
	}
	if w.progress != nil && len(w.slots) > 0 {
		w.progress(len(w.slots) * len(w.sessions))
	}
	clear(w.owner) // samples are let go as soon as they are complete
	w.slots, w.owner = w.slots[:0], w.owner[:0]
	for len(w.open) > 0 {
		if p := w.open[0]; p.failed != nil {
			w.fail(p, p.failed)
			continue
		}
		if w.open[0].tracks[0].n < len(w.e.order) {
			break
		}
		for _, t := range w.open[0].tracks {
			w.rows = append(w.rows, t.row)
		}
		w.open[0] = nil
		w.open = w.open[1:]
	}
	return nil
}

// answer runs a model on the waiting values and measures. A value that crashes its engine, or that it does not answer
// in time, ends the run with an error that names it, or, where the run keeps going, the row of its sample.
func (w *worker) answer(ctx context.Context, m int) error {
	s, e := &w.sessions[m], w.e
	var rest []int // what is not answered yet
	for i, p := range w.owner {
		if p.failed == nil {
			rest = append(rest, i)
		}
	}
	if m > 0 && e.alike && len(rest) == len(w.slots) && w.sessions[0].held == len(w.slots) {
		s.given = w.sessions[0].in
	}
	for len(rest) > 0 {
		values := w.slots
		if len(rest) < len(values) {
			values = make([]space.Value, len(rest))
			for i, k := range rest {
				values[i] = w.slots[k]
			}
		}
		at := 0
		err := s.run(ctx, values, func(y space.Value) error {
			at++
			return w.measure(ctx, w.owner[rest[at-1]], m, y)
		})
		switch {
		case err == nil:
			return nil
		case !Fatal(err):
			return fmt.Errorf("%w (samples %s to %s)", err, w.owner[0].sample.ID, w.owner[len(w.owner)-1].sample.ID)
		}
		k, err := s.culprit(ctx, values[at:], err)
		if k < 0 {
			return fmt.Errorf("%w (among samples %s to %s)", err, w.owner[rest[at]].sample.ID,
				w.owner[rest[len(rest)-1]].sample.ID)
		}
		p := w.owner[rest[at+k]]
		n := p.tracks[m].n // how far the sample has come, of which the values before are not measured yet
		for _, i := range rest[at : at+k] {
			if w.owner[i] == p {
				n++
			}
		}
		g := group.Format(e.Plan.Group, e.Plan.Elements[e.order[n]])
		err = &SampleError{p.sample.ID, fmt.Errorf("element %s: %w", g, err)}
		if !e.KeepGoing {
			return err
		}
		p.failed = err
		rest = slices.DeleteFunc(rest[at:], func(i int) bool { return w.owner[i] == p })
	}
	return nil
}

// Fatal tells errors after which an engine has to be started again, for which one value is to blame.
func Fatal(err error) bool {
	_, crashed := errors.AsType[*engine.CrashError](err)
	_, late := errors.AsType[*engine.TimeError](err)
	return crashed || late
}

// Failed tells errors of a model on its input from those of the program.
func Failed(err error) bool {
	_, refused := errors.AsType[*engine.RunError](err)
	return refused || Fatal(err)
}

// measure takes in the next prediction of model m for a sample; they come in the order of the evaluation.
func (w *worker) measure(ctx context.Context, p *pending, m int, at space.Value) error {
	e, t := w.e, &p.tracks[m]
	k, n := e.order[t.n], len(e.order)
	y, err := e.backAt(m, k, at, w.back)
	if err != nil {
		return err
	}
	if w.back == y {
		w.back = nil
	}
	if t.n == 0 && classified(at) {
		t.row.Top = make([]int32, n)
	}
	if t.row.Top != nil {
		t.row.Top[k] = Top(at)
	}
	if b, ok := at.(*space.Boxes); ok {
		if err := w.boxes(p, t, k, b); err != nil {
			return err
		}
	}
	if e.Pixels {
		if err := w.pixels(p, t, k, at); err != nil {
			return err
		}
	}
	if err := w.gather(p, t, k, at, y); err != nil {
		return fmt.Errorf("model %s: sample %s: %w", e.Models[m].Name, p.sample.ID, err)
	}
	t.at[k] = at
	if k == e.first {
		t.want = y
	}
	if k == 0 {
		t.begin = y
	}
	prev, old := t.last, t.last
	switch {
	case k == e.first:
		prev = nil // evaluated out of turn
	case k-1 == e.first || k == 0 && e.first == n-1:
		prev = t.want
	case k == 0:
		prev = nil // the last element comes last
	}
	t.last = y
	t.n++
	if prev != nil {
		if err := w.compare(ctx, p, m, k, metric.Case{Got: y, Want: t.want, Prev: prev}); err != nil {
			return err
		}
	}
	// The elements that came before their predecessors have waited for them.
	switch next := (k + 1) % n; {
	case next == e.first:
		err = w.compare(ctx, p, m, next, metric.Case{Got: t.want, Want: t.want, Prev: y})
	case next == 0 && t.begin != nil:
		err = w.compare(ctx, p, m, 0, metric.Case{Got: t.begin, Want: t.want, Prev: y})
	}
	if old != nil && old != t.want && old != t.begin && !e.plain && !broken(old) && !t.mean.Keeps(e.order[t.n-2]) {
		w.back = old // nobody looks at it any more
	}
	if err == nil && t.n == n {
		if err = w.settle(ctx, p, m); err == nil {
			e.round(t.row.Curves)
		}
	}
	return err
}

// round gives metrics of whole orbits their one value.
func (e *Evaluation) round(curves [][]float32) {
	for i, m := range e.Metrics {
		if !m.Round {
			continue
		}
		v := float32(m.Worst(curves[i]))
		for k := range curves[i] {
			curves[i][k] = v
		}
	}
}

// compare fills in the metrics of one element, all but those against the consensus, which is not known yet.
func (w *worker) compare(ctx context.Context, p *pending, m, k int, c metric.Case) error {
	e, t := w.e, &p.tracks[m]
	c.At, c.Element = t.at[k], e.Plan.Elements[k]
	if t.mean == nil {
		t.at[k] = nil
	}
	var r References
	var err error
	if r.Target, err = w.truth(p, k); err != nil {
		return err
	}
	if e.refs.self {
		if r.Self, err = e.forthAt(m, k, t.want, w.self); err != nil {
			return err
		}
		if r.Self != t.want {
			w.self = r.Self // nobody keeps it
		}
	}
	c.Label = p.sample.Label
	err = e.each(ctx, m, c, r, w.scales, func(m *metric.Metric) bool { return m.Ref != metric.Consensus },
		func(i int, v float64) { t.row.Curves[i][k] = float32(v) })
	if err != nil {
		return w.asked(p, k, err)
	}
	return nil
}

// asked says of which sample and element a metric could not be computed.
func (w *worker) asked(p *pending, k int, err error) error {
	return fmt.Errorf("sample %s at %s: %w", p.sample.ID, group.Format(w.e.Plan.Group, w.e.Plan.Elements[k]), err)
}

// each measures one comparison under a model by every metric that is wanted. The error is that of a metric that
// somebody else computes. Scales of fields go into a map that may be used again, nil for a new one.
func (e *Evaluation) each(ctx context.Context, model int, c metric.Case, r References, scales map[string]float64,
	wanted func(*metric.Metric) bool, give func(metric int, v float64),
) error {
	c.Scale, c.Scales, c.Centre, c.Centres = math.NaN(), nil, nil, nil
	if e.Centres != nil {
		c.Centre, c.Centres = e.Centres[model], e.FieldCentres[model]
	}
	if e.Scales != nil {
		c.Scale = scaleOf(e.Scales[model], c.Got)
	}
	if e.FieldScales != nil && e.FieldScales[model] != nil {
		if c.Scales = scales; scales == nil {
			c.Scales = make(map[string]float64, len(e.FieldScales[model]))
		}
		for f, s := range e.FieldScales[model] {
			c.Scales[f] = scaleOf(s, space.FieldOf(c.Got, f))
		}
	}
	whole := c.Got
	c.Got, c.Want = space.Common(c.Got, c.Want)
	if k := kept(whole, c.Got); k != 1 { // an error over part of the times is held against the scale of as many
		c.Scale *= k
	}
	for f := range c.Scales {
		c.Scales[f] *= kept(space.FieldOf(whole, f), space.FieldOf(c.Got, f))
	}
	label := c.Label
	for i, m := range e.Metrics {
		if !wanted(m) {
			continue
		}
		c.Label = label
		switch m.Ref {
		case metric.Target:
			c.Truth = r.Target
		case metric.Self:
			c.Truth = r.Self
		case metric.Consensus:
			c.Truth, c.Label = r.Consensus, r.Label
		}
		at := c
		at.At, at.Truth = space.Common(c.At, c.Truth)
		if e.Pixels && m.OfPixels {
			if c.Pixels == nil {
				c.Pixels = metric.PixelsOf(at) // once for all of them
			}
			at.Pixels = c.Pixels
		}
		if m.Ask == nil {
			give(i, m.Measure(at))
			continue
		}
		v, err := m.Ask(ctx, at)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("the metric %s: %w", m.Name, err)
		}
		give(i, v)
	}
	return nil
}

// backAt carries the prediction at element k to the frame of the identity.
//
// It lies in room where that fits, and is y itself where nothing moves.
func (e *Evaluation) backAt(model, k int, y, room space.Value) (space.Value, error) {
	if e.plain || broken(y) {
		return y, nil
	}
	z, err := e.backs.apply(k, y, room)
	return z, e.pulling(model, e.Plan.Elements[k], err)
}

// pulling says where an answer could not be pulled back.
func (e *Evaluation) pulling(model int, g group.Element, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("model %s: output: pulling back element %s: %w", e.Models[model].Name,
		group.Format(e.Plan.Group, g), err)
}

// Back is the prediction y of a model at any element g, on the plan or not, carried back to the frame of the identity:
// g⁻¹·y. It is y itself if the output is claimed to be invariant.
func (e *Evaluation) Back(model int, g group.Element, y space.Value) (space.Value, error) {
	if e.plain || broken(y) {
		return y, nil
	}
	z, err := e.Plan.Out.Apply(e.Plan.Group.Inv(g), y)
	return z, e.pulling(model, g, err)
}

// Compare is the value of every metric, in the order of Metrics, for one comparison under a model with references in
// the frame of the element. The scale of c is overwritten by that of the model, its truth by the references. Values of
// a row are these, rounded to float32; those against a consensus that is not given are NaN. The error is that of a
// metric that somebody else computes.
func (e *Evaluation) Compare(ctx context.Context, model int, c metric.Case, r References) ([]float64, error) {
	out := make([]float64, len(e.Metrics))
	if r.Consensus == nil {
		r.Label = -1
	}
	err := e.each(ctx, model, c, r, nil, func(*metric.Metric) bool { return true }, func(i int, v float64) {
		if out[i] = v; e.Metrics[i].Round {
			out[i] = math.NaN() // one element does not say what the worst is
		}
	})
	return out, err
}

// Measure is [Evaluation.Compare] where no other reference is known than c.Truth, taken as the target.
func (e *Evaluation) Measure(ctx context.Context, model int, c metric.Case) ([]float64, error) {
	return e.Compare(ctx, model, c, References{Target: c.Truth, Label: -1})
}
