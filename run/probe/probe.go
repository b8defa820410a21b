// Package probe answers for one sample at one element of the group, now: what a person is shown while dragging an input
// around. It moves, predicts and measures with the code of package eval, so that an answer at an element of the plan is
// the stored one, and the elements between those of the plan are answered the same way.
//
// A batch of a probe holds one input, that of a run up to a micro-batch. Where an engine adds up in another order for
// another size of batch, a probe differs from its row by the rounding of the model; everything before and after the
// model is the same bit for bit.
package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/metric"
	"nero/run/eval"
	"nero/run/workload"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

var (
	// ErrBusy says that as many evaluations as permitted are under way and as many as permitted wait: ask again later.
	ErrBusy = errors.New("as many live evaluations as permitted are under way; ask again in a moment")
	// ErrUnavailable says that the inputs, or a model, cannot be opened; the error says why. See [Service.Status].
	ErrUnavailable = errors.New("not available")
	// ErrNotFound says that there is no such sample or no such model.
	ErrNotFound = errors.New("not found")
)

// Options bound what a service uses. The zero value takes the defaults.
type Options struct {
	// evaluations at once, at least 1; default 2
	Concurrent int
	// evaluations that may wait for their turn; default twice Concurrent, negative for none
	Queue int
	// bytes of decoded samples and of predictions at the identity that are kept; default 64 MiB, negative for none
	Cache int
	// Roots are folders in which files are looked for that are not where the run says; the folder of the run and those
	// above it are looked in too.
	Roots []string
}

const (
	defaultConcurrent = 2
	defaultCache      = 64 << 20
)

// Service answers probes of one run. It is safe for concurrent use.
type Service struct {
	// nil if not even inputs are there
	eval *eval.Evaluation
	// index in eval.Models of each model of the run, -1 if it is off
	at []int
	// of the models of the run
	names []string
	// of the coordinates
	bounds [][2]float64
	// a metric compares with the preceding element
	flip bool
	// a metric needs the scale of the outputs
	scaled bool
	// a model cannot be stopped on its way
	patient bool
	status  Status
	// pictured says once it is asked whether inputs have a portrait, for which a sample is read; nil without data
	pictured func() bool
	// closed with the service; nil if it is the caller's
	own *workload.Workload
	// height and width of the crop window; nil if there is none
	window []int

	// evaluations
	models *slots
	// inputs alone, which must not wait for models
	inputs *slots
	cache  *cache

	life context.Context //nolint:containedctx // of what runs in the background
	// a metric compares with the consensus
	averages bool

	calibrating sync.Mutex
	// closed when the orbit was visited whose consensus is being found; nil if none is
	visiting chan struct{}
	// of the scales of the outputs; nil if nobody has asked, or asking failed
	scales *flight
	stop   context.CancelFunc
	// of life
	end context.CancelFunc
	// nothing is calibrated any more
	ending     bool
	background sync.WaitGroup

	// held for reading while an answer is worked on
	open   sync.RWMutex
	closed bool
}

// Status says what a service can answer.
type Status struct {
	// moved inputs
	Inputs Level
	// Pictures says that an input can be seen small, as [space.Portrait] shows it.
	Pictures bool
	// one per model of the run
	Models []Level
	// that runs the models, such as "native 1.27.0"; "" if none does
	Engine string
	// Notes are sentences for a person about what differs from the run without standing in the way, such as another
	// engine.
	Notes []string
}

// Live reports whether any model can be asked.
func (s Status) Live() bool { return slices.ContainsFunc(s.Models, func(l Level) bool { return l.On }) }

// Level is whether something can be asked, and if not, why and what to do about it.
type Level struct {
	On bool
	// "" if On
	Reason string
}

// New answers probes of an open workload. Close the service before the workload.
func New(w *workload.Workload, o Options) *Service {
	s := newService(w, o)
	for i, m := range w.Eval.Models {
		s.at, s.names, s.status.Models = append(s.at, i), append(s.names, m.Name),
			append(s.status.Models, Level{On: true})
	}
	return s
}

// newService makes a service without models. w is nil if there is nothing to ask at all.
func newService(w *workload.Workload, o Options) *Service {
	if o.Concurrent < 1 {
		o.Concurrent = defaultConcurrent
	}
	switch {
	case o.Queue == 0:
		o.Queue = 2 * o.Concurrent
	case o.Queue < 0:
		o.Queue = 0
	}
	if o.Cache == 0 {
		o.Cache = defaultCache
	}
	s := &Service{
		// To move an input is quick, and a page asks for those of many rows at once.
		models: newSlots(o.Concurrent, o.Queue), inputs: newSlots(o.Concurrent, 8*o.Queue),
		cache: newCache(o.Cache), stop: func() {},
	}
	s.life, s.end = context.WithCancel(context.Background())
	if w == nil {
		return s
	}
	s.eval = w.Eval
	if w.Study != nil {
		s.window = w.Study.Group.Window
	}
	s.bounds = bounds(w.Group(), w.Eval.Plan.Elements)
	s.flip = slices.Contains(w.Eval.Metrics, metric.Flip)
	s.scaled = eval.Scaled(w.Eval.Metrics)
	s.averages = averages(w.Eval)
	s.status.Inputs.On = true
	s.pictured = sync.OnceValue(func() bool { return pictured(w.Eval) })
	if e := w.Engine(); e != nil {
		s.patient = !e.Concurrent()
		s.status.Engine = workload.Body(e)
	}
	return s
}

// pictured asks the first sample that can be read whether there is a portrait of it: the value knows, whatever its
// kind.
func pictured(e *eval.Evaluation) bool {
	for i := range min(e.Count(), 8) {
		if s, err := e.At(i); err == nil {
			m, _ := space.Portrait(s.Value)
			return m != nil
		}
	}
	return false
}

// Status says what can be asked.
func (s *Service) Status() Status {
	t := s.status
	t.Pictures = s.pictured != nil && s.pictured()
	t.Models, t.Notes = slices.Clone(t.Models), slices.Clone(t.Notes)
	return t
}

// Close waits for the answers under way and releases what [OpenRun] opened. Later calls of other methods return
// [ErrUnavailable].
func (s *Service) Close() error {
	s.calibrating.Lock()
	s.ending = true
	s.stop() // answers that wait for it end
	s.end()
	s.calibrating.Unlock()
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.background.Wait()
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}

// Input is a moved sample, as it is handed to the models before it is scaled, normalised and laid out for them.
type Input struct {
	// position in the samples of the run
	Index int
	// id
	Sample string
	// class, -1 if there is none
	Label int
	// G is the element in the canonical form of its chart, and where Element >= 0 exactly that of the plan.
	G group.Element
	// index of G in the plan, -1 between its elements
	Element int
	// moved without resampling
	Exact bool
	// g·x; callers must not change it
	Value space.Value
	// Target is what the data say the answer should be, in the frame of g: boxes, a field; nil if they say nothing of
	// the kind. Callers must not change it.
	Target space.Value
	// Range is what the numbers of Value are shown between. It is the same for every element: the range of the files
	// where their format has one, else that of the sample before it is moved. Some kernels go a little beyond.
	Range [2]float64
}

// Point is a sample at one element under some models.
type Point struct {
	Input
	// in the order of the models that were asked for
	Results []Result
}

// Result is one model's answer.
type Result struct {
	// index in the run
	Model int
	// Output is f(g·x) as the model's output is read: scores with the model's own numbers beside their softmax, an
	// image, a mask.
	Output space.Value
	// Back is Output carried back to the frame of the identity, g⁻¹·f(g·x), which is what metrics compare; it is Output
	// itself where the output is claimed to be invariant.
	Back space.Value
	// Self is f(x), the answer at the identity, and Moved is g·f(x): what Output is if the model keeps the symmetry.
	// They are the same where the output is claimed to be invariant.
	Self, Moved space.Value
	// Consensus is what the model's own answers over the orbit agree on, in the frame of g; nil if the run does not ask
	// for it. Support is the share of the elements that contributed, NaN without it.
	Consensus space.Value
	Support   float64
	// Values has one number per metric of the run, NaN where a comparison has no value: of a NaN of the model, and
	// between the elements of the plan for a metric that compares with the preceding element. Rows hold them rounded to
	// float32.
	Values []float64
	// class with the largest score, -1 if there is none
	Top int
}

// sample is what is kept of a sample.
type sample struct {
	dataset.Sample
	shown [2]float64
}

// answer is what is kept of a model at the identity.
type answer struct{ output, back space.Value }

// Element is the canonical form of coordinates and their index in the plan of the run, -1 between its elements.
// Periodic coordinates may be any finite number. The error is an [*ElementError].
func (s *Service) Element(g group.Element) (group.Element, int, error) {
	if s.eval == nil {
		return nil, -1, s.off(s.status.Inputs.Reason)
	}
	c, err := s.element(g)
	if err != nil {
		return nil, -1, err
	}
	k := s.stored(c)
	if k >= 0 {
		c = s.eval.Plan.Elements[k]
	}
	return slices.Clone(c), k, nil
}

func (s *Service) off(reason string) error { return fmt.Errorf("%w: %s", ErrUnavailable, reason) }

// begin is what every question starts with: it holds the service open until end is called.
func (s *Service) begin(index int) (end func(), err error) {
	s.open.RLock()
	switch {
	case s.closed:
		err = s.off("the run was closed")
	case s.eval == nil:
		err = s.off(s.status.Inputs.Reason)
	case index < 0 || index >= s.eval.Count():
		err = fmt.Errorf("sample %d: %w: the run has %d samples, numbered from 0", index, ErrNotFound, s.eval.Count())
	default:
		return s.open.RUnlock, nil
	}
	s.open.RUnlock()
	return nil, err
}

// Input moves sample number index of the run by g and runs no model. It does not wait for models either. Errors are
// [ErrUnavailable], [ErrNotFound], [ErrElement], [ErrBusy], that of ctx, or an [*eval.SampleError] of a sample that
// cannot be read or moved.
func (s *Service) Input(ctx context.Context, index int, g group.Element) (*Input, error) {
	end, err := s.begin(index)
	if err != nil {
		return nil, err
	}
	defer end()
	c, k, err := s.Element(g)
	if err != nil {
		return nil, err
	}
	release, err := s.inputs.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	smp, err := s.sample(ctx, index)
	if err != nil {
		return nil, err
	}
	return s.input(ctx, smp, index, c, k)
}

// sample reads a sample, or has it already.
func (s *Service) sample(ctx context.Context, index int) (*sample, error) {
	v, err := s.cache.get(ctx, key{decoded, index}, func() (any, int, error) {
		d, err := s.eval.At(index)
		if err != nil {
			return nil, 0, err
		}
		return &sample{Sample: d, shown: rangeOf(s.eval.Data, d.Value)}, bytesOf(d.Value) + bytesOf(d.Target), nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*sample), nil //nolint:errcheck // what was put in under this key
}

// move is g·x, by the same resampler as along the orbit.
func (s *Service) move(ctx context.Context, smp *sample, g group.Element) (space.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x, err := s.eval.Plan.In.Apply(g, smp.Value)
	if err != nil {
		return nil, &eval.SampleError{ID: smp.ID, Err: fmt.Errorf("element %s: %w", group.Format(s.eval.Plan.Group, g),
			err)}
	}
	return x, nil
}

func (s *Service) input(ctx context.Context, smp *sample, index int, g group.Element, k int) (*Input, error) {
	x, err := s.move(ctx, smp, g)
	if err != nil {
		return nil, err
	}
	truth, err := s.truth(g, smp)
	if err != nil {
		return nil, err
	}
	return &Input{
		Index: index, Sample: smp.ID, Label: smp.Label, G: g, Element: k, Exact: action.Exact(s.eval.Plan.In, g),
		Value: x, Target: truth, Range: smp.shown,
	}, nil
}

// chosen are the models to ask: all that are there for nil.
func (s *Service) chosen(models []int) ([]int, error) {
	if models == nil {
		for m, l := range s.status.Models {
			if l.On {
				models = append(models, m)
			}
		}
		if models == nil {
			reason := "the run has no models"
			if len(s.status.Models) > 0 {
				reason = s.status.Models[0].Reason
			}
			return nil, s.off(reason)
		}
		return models, nil
	}
	for i, m := range models {
		switch {
		case m < 0 || m >= len(s.at):
			return nil, fmt.Errorf("model %d: %w: the run has %d models, numbered from 0", m, ErrNotFound, len(s.at))
		case !s.status.Models[m].On:
			return nil, s.off(s.status.Models[m].Reason)
		case slices.Contains(models[:i], m):
			return nil, fmt.Errorf("model %d is asked for twice", m)
		}
	}
	return models, nil
}

// At moves sample number index of the run by g and asks models, given by their index in the run; nil asks all that are
// available. When ctx ends no further model is started, and one that is under way is stopped if its engine can do that.
// Errors are those of [Service.Input], or say which model failed.
func (s *Service) At(ctx context.Context, index int, g group.Element, models []int) (*Point, error) {
	end, err := s.begin(index)
	if err != nil {
		return nil, err
	}
	defer end()
	c, k, err := s.Element(g)
	if err != nil {
		return nil, err
	}
	if models, err = s.chosen(models); err != nil {
		return nil, err
	}
	release, err := s.models.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	smp, err := s.sample(ctx, index)
	if err != nil {
		return nil, err
	}
	in, err := s.input(ctx, smp, index, c, k)
	if err != nil {
		return nil, err
	}
	if err := s.calibrate(ctx); err != nil {
		return nil, err
	}
	p := &Point{Input: *in}
	for _, m := range models {
		r, err := s.ask(ctx, m, smp, in)
		if err != nil {
			return nil, err
		}
		p.Results = append(p.Results, *r)
	}
	return p, nil
}

// calibrate finds the scales of the outputs that the metrics need and that nobody has brought. It takes up to 256 runs
// of every model, so it goes on when the one who needed it first is gone, until the service is closed, and takes no
// slot.
func (s *Service) calibrate(ctx context.Context) error {
	if !s.scaled {
		return nil
	}
	s.calibrating.Lock()
	f := s.scales
	if f == nil && s.ending {
		s.calibrating.Unlock()
		return s.off("the run was closed")
	}
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.scales = f
		if s.eval.Scales != nil {
			close(f.done)
		} else {
			life, stop := context.WithCancel(context.WithoutCancel(ctx))
			s.stop = stop
			s.background.Go(func() {
				defer stop()
				s.measure(life, f)
			})
		}
	}
	s.calibrating.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// measure measures the scales.
func (s *Service) measure(ctx context.Context, f *flight) {
	if f.err = s.eval.Calibrate(ctx, 1); f.err != nil {
		if ctx.Err() != nil {
			f.err = s.off("the run was closed")
		}
		s.calibrating.Lock()
		s.eval.Scales, s.eval.FieldScales, s.scales = nil, nil, nil // the next one tries again
		s.eval.Centres, s.eval.FieldCentres = nil, nil
		s.calibrating.Unlock()
	}
	close(f.done)
}

// running is the context that models run in. An engine that cannot stop a model would only spoil its session when told
// to.
func (s *Service) running(ctx context.Context) context.Context {
	if s.patient {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// predict runs a model of the run on values, in its micro-batches.
func (s *Service) predict(ctx context.Context, m int, xs ...space.Value) ([]space.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ys, err := s.eval.Models[s.at[m]].Predict(s.running(ctx), xs, 1)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return ys, nil
}

// self is the answer of a model at the identity.
func (s *Service) self(ctx context.Context, m int, smp *sample, index int) (*answer, error) {
	v, err := s.cache.get(ctx, key{m, index}, func() (any, int, error) {
		one := s.eval.Plan.Group.Identity()
		x, err := s.move(ctx, smp, one)
		if err != nil {
			return nil, 0, err
		}
		ys, err := s.predict(ctx, m, x)
		if err != nil {
			return nil, 0, err
		}
		back, err := s.eval.Back(s.at[m], one, ys[0])
		if err != nil {
			return nil, 0, err
		}
		n := bytesOf(ys[0])
		if back != ys[0] {
			n += bytesOf(back)
		}
		return &answer{ys[0], back}, n, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*answer), nil //nolint:errcheck // what was put in under this key
}

// ask is the answer of model m.
func (s *Service) ask(ctx context.Context, m int, smp *sample, in *Input) (*Result, error) {
	p, first := s.eval.Plan, s.eval.Plan.Identity()
	self, err := s.self(ctx, m, smp, in.Index)
	if err != nil {
		return nil, err
	}
	r := &Result{Model: m, Output: self.output, Back: self.back, Self: self.back, Support: math.NaN()}
	if in.Element != first { // the stored answer at the identity is the one that the others are compared with
		ys, err := s.predict(ctx, m, in.Value)
		if err != nil {
			return nil, err
		}
		r.Output = ys[0]
		if r.Back, err = s.eval.Back(s.at[m], in.G, r.Output); err != nil {
			return nil, err
		}
	}
	refs, err := s.references(ctx, r, smp, in, self)
	if err != nil {
		return nil, err
	}
	r.Moved = refs.Self
	c := metric.Case{Got: r.Back, At: r.Output, Want: r.Self, Label: in.Label, Element: in.G}
	if n := len(p.Elements); s.flip && in.Element >= 0 {
		if c.Prev, err = s.back(ctx, m, smp, self, (in.Element+n-1)%n); err != nil {
			return nil, err
		}
	}
	r.Top = int(eval.Top(r.Output))
	if r.Values, err = s.eval.Compare(ctx, s.at[m], c, refs); err != nil {
		return nil, err
	}
	return r, nil
}

// back is the pulled-back answer at element k of the plan.
func (s *Service) back(ctx context.Context, m int, smp *sample, self *answer, k int) (space.Value, error) {
	p := s.eval.Plan
	if k == p.Identity() {
		return self.back, nil
	}
	x, err := s.move(ctx, smp, p.Elements[k])
	if err != nil {
		return nil, err
	}
	ys, err := s.predict(ctx, m, x)
	if err != nil {
		return nil, err
	}
	return s.eval.Back(s.at[m], p.Elements[k], ys[0])
}

// Class is a class and its score.
type Class struct {
	Class int
	// as [space.Scores] holds it: a probability if the output is read as probabilities
	Score float64
}

// Trace is one model along some elements.
type Trace struct {
	// index in the run
	Model int
	// element × metric, see [Result]
	Values [][]float64
	// predicted class per element, -1 for none
	Top []int
	// Best are the classes with the largest scores per element, the largest first, those that are NaN last; nil if the
	// output has no scores.
	Best [][]Class
}

// Orbit asks models along elements, nil for those of the plan, and keeps of every answer the values and the k best
// classes. Inputs go through the models in the micro-batches of the run. A metric that compares with the preceding
// element compares with that of the plan; it is NaN for other elements. Errors are those of [Service.At].
func (s *Service) Orbit(ctx context.Context, index int, models []int, elements []group.Element, k int) ([]Trace,
	error,
) {
	end, err := s.begin(index)
	if err != nil {
		return nil, err
	}
	defer end()
	if models, err = s.chosen(models); err != nil {
		return nil, err
	}
	p := s.eval.Plan
	stops := make([]stop, 0, max(len(elements), len(p.Elements)))
	if elements == nil {
		for i, g := range p.Elements {
			stops = append(stops, stop{g, i})
		}
	}
	for i, g := range elements {
		c, at, err := s.Element(g)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		stops = append(stops, stop{c, at})
	}
	release, err := s.models.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	smp, err := s.sample(ctx, index)
	if err != nil {
		return nil, err
	}
	if err := s.calibrate(ctx); err != nil {
		return nil, err
	}
	traces := make([]Trace, len(models))
	walks := make([]walk, len(models))
	step := 1
	for i, m := range models {
		self, err := s.self(ctx, m, smp, index)
		if err != nil {
			return nil, err
		}
		traces[i].Model = m
		walks[i] = walk{s: s, m: m, k: k, index: index, smp: smp, self: self, trace: &traces[i], last: -2}
		step = max(step, s.eval.Models[s.at[m]].Batch)
	}
	for part := range slices.Chunk(stops, step) {
		xs := make([]space.Value, len(part))
		for i, st := range part {
			if xs[i], err = s.move(ctx, smp, st.g); err != nil {
				return nil, err
			}
		}
		for i := range walks {
			if err := walks[i].take(ctx, part, xs); err != nil {
				return nil, err
			}
		}
	}
	return traces, nil
}

// stop is an element and its place in the plan, -1 for none.
type stop struct {
	g  group.Element
	at int
}

// walk is one model on its way along elements.
type walk struct {
	s     *Service
	m, k  int
	index int
	smp   *sample
	self  *answer
	trace *Trace
	// place in the plan of the element before
	last int
	// pulled-back answer there
	prev space.Value
}

// take asks the model for the next elements.
func (w *walk) take(ctx context.Context, part []stop, xs []space.Value) error {
	s := w.s
	ys, err := s.predict(ctx, w.m, xs...)
	if err != nil {
		return err
	}
	n, first := len(s.eval.Plan.Elements), s.eval.Plan.Identity()
	for i, st := range part {
		got, out := w.self.back, w.self.output
		if st.at != first {
			out = ys[i]
			if got, err = s.eval.Back(s.at[w.m], st.g, out); err != nil {
				return err
			}
		}
		truth, err := s.truth(st.g, w.smp)
		if err != nil {
			return err
		}
		refs, err := s.references(ctx, &Result{Model: w.m}, w.smp, &Input{Index: w.index, G: st.g, Target: truth},
			w.self)
		if err != nil {
			return err
		}
		c := metric.Case{Got: got, At: out, Want: w.self.back, Label: w.smp.Label, Element: st.g}
		if before := (st.at + n - 1) % n; s.flip && st.at >= 0 {
			if c.Prev = w.prev; before != w.last {
				if c.Prev, err = s.back(ctx, w.m, w.smp, w.self, before); err != nil {
					return err
				}
			}
		}
		w.last, w.prev = st.at, got
		t := w.trace
		values, err := s.eval.Compare(ctx, s.at[w.m], c, refs)
		if err != nil {
			return err
		}
		t.Values, t.Top = append(t.Values, values), append(t.Top, int(eval.Top(out)))
		if scores, ok := got.(*space.Scores); ok {
			t.Best = append(t.Best, best(scores.Val, w.k))
		}
	}
	return nil
}

// best are the k largest scores, of equal ones the lowest class first.
func best(scores []float64, k int) []Class {
	cs := make([]Class, len(scores))
	for i, v := range scores {
		cs[i] = Class{i, v}
	}
	slices.SortStableFunc(cs, func(a, b Class) int {
		switch {
		case a.Score > b.Score || math.IsNaN(b.Score) && !math.IsNaN(a.Score):
			return -1
		case b.Score > a.Score || math.IsNaN(a.Score) && !math.IsNaN(b.Score):
			return 1
		}
		return 0
	})
	return slices.Clone(cs[:min(max(k, 0), len(cs))])
}
