package shelf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"nero/run/probe"
	"nero/serve/api"
	"nero/symmetry/group"
)

// Prober answers for one sample at one element, now. A [probe.Service] is one. If it is an [io.Closer], it is closed
// with the shelf.
type Prober interface {
	// Status says what can be asked.
	Status() probe.Status
	// Input moves a sample of the run.
	Input(ctx context.Context, index int, g group.Element) (*probe.Input, error)
	// At moves a sample and asks models, by their index in the run.
	At(ctx context.Context, index int, g group.Element, models []int) (*probe.Point, error)
}

// Stage is a [Prober] that also shows samples before they are moved.
type Stage interface {
	// Scene is a sample as it was read, with the place of the crop window.
	Scene(ctx context.Context, index int) (*probe.Scene, error)
}

// live is what answers probes of a source. It is opened once somebody wants it, beside everything else.
type live struct {
	ctx context.Context //nolint:containedctx // of what runs in the background
	// nil if the server was started without
	open func(context.Context) (Prober, error)
	// called when it was opened, or could not be; news: what can be asked may be other than it was
	told func(news bool)
	now  func() time.Time
	// begins something in the background; false if all is over
	goes func(func()) bool

	mu sync.Mutex
	// nil until somebody wants it, and after it was closed
	at *session
	// nil until it was open once, or could not be opened
	known *ability
}

// session is a prober that is being opened or is open.
type session struct {
	// closed once it is open, or could not be opened
	done chan struct{}
	// set before done is closed; nil if err is not
	prober Prober
	err    error

	// guarded by the lock of live
	uses  int
	ended bool
	// when it was opened, or used last
	last time.Time
}

// ability is what can be asked, or why nothing can.
type ability struct {
	status probe.Status
	err    error
}

// errNoLive is why nothing can be asked of a server that was started without.
var errNoLive = fmt.Errorf("%w: this server shows what is stored and runs no model", probe.ErrUnavailable)

// start opens it in the background, if nobody has yet.
func (l *live) start() *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at != nil {
		return l.at
	}
	at := &session{done: make(chan struct{})}
	l.at = at
	switch {
	case l.open == nil:
		at.err = errNoLive
		l.known = &ability{err: at.err}
		close(at.done)
	case !l.goes(func() { l.begin(at) }):
		at.err = context.Canceled
		close(at.done)
	}
	return at
}

func (l *live) begin(at *session) {
	p, err := l.open(l.ctx)
	if err != nil {
		p = nil // it may hold a pointer to nothing
	}
	l.mu.Lock()
	at.prober, at.err, at.last = p, err, l.now()
	ended, first := at.ended, l.known == nil
	if !ended {
		l.known = at.ability()
	}
	close(at.done)
	l.mu.Unlock()
	switch {
	case ended:
		_ = at.close() // nobody has used it
	default:
		l.told(first || err != nil)
	}
}

func (at *session) ability() *ability {
	a := &ability{err: at.err}
	if at.prober != nil {
		a.status = at.prober.Status()
	}
	return a
}

func (at *session) close() error {
	if c, ok := at.prober.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// ability says what can be asked, nil while it is being opened for the first time. What is closed can be asked: it is
// opened again.
func (l *live) ability() *ability {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at != nil && l.known != nil {
		select {
		case <-l.at.done:
			return l.at.ability()
		default:
		}
	}
	return l.known
}

// ready reports whether it is known what can be asked.
func (l *live) ready() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known != nil
}

// use calls f with the prober once it is open, which stays open meanwhile.
func (l *live) use(ctx context.Context, f func(Prober) error) error {
	for {
		at := l.start()
		select {
		case <-at.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		l.mu.Lock()
		if at.ended { // meanwhile: there is another run in the folder
			l.mu.Unlock()
			continue
		}
		if at.err != nil {
			l.mu.Unlock()
			return at.err
		}
		at.uses++
		l.mu.Unlock()
		defer l.release(at)
		return f(at.prober)
	}
}

func (l *live) release(at *session) {
	l.mu.Lock()
	at.uses--
	at.last = l.now()
	last := at.ended && at.uses == 0
	l.mu.Unlock()
	if last {
		_ = at.close() // what it was to answer is answered
	}
}

// end takes the session away and returns it if it is to be closed now; else who uses or opens it closes it. The lock is
// held.
func (l *live) end() *session {
	at := l.at
	if at == nil {
		return nil
	}
	l.at, at.ended = nil, true
	select {
	case <-at.done:
		if at.uses == 0 && at.prober != nil {
			return at
		}
	default:
	}
	return nil
}

// renew closes what is open, for the folder holds another run, or none.
func (l *live) renew() {
	l.mu.Lock()
	at := l.end()
	l.known = nil
	l.mu.Unlock()
	if at != nil && !l.goes(func() { _ = at.close() }) {
		_ = at.close()
	}
}

// idle says since when what is open has not been used; false if nothing is open, or it is in use.
func (l *live) idle() (since time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil || l.at.uses > 0 {
		return since, false
	}
	select {
	case <-l.at.done:
		return l.at.last, l.at.prober != nil
	default:
		return since, false
	}
}

// rest closes what is open until somebody asks again, unless it was used after that time. What can be asked stays
// known.
func (l *live) rest(since time.Time) {
	l.mu.Lock()
	if l.at == nil || l.at.uses > 0 || l.at.last.After(since) {
		l.mu.Unlock()
		return
	}
	known := l.at.ability()
	at := l.end()
	if at != nil {
		l.known = known
	}
	l.mu.Unlock()
	if at != nil && !l.goes(func() { _ = at.close() }) {
		_ = at.close()
	}
}

// Models take memory: those of mostLive runs stay open, and no longer than mostIdle after they were asked.
const (
	mostLive = 4
	mostIdle = 5 * time.Minute
)

// restLives closes models that nobody has asked for long, or that are too many.
func (s *Shelf) restLives() {
	s.mu.Lock()
	sources := slices.Clone(s.sources)
	s.mu.Unlock()
	type open struct {
		l     *live
		since time.Time
	}
	var all []open
	now := s.o.Now()
	for _, src := range sources {
		if since, ok := src.live.idle(); ok {
			all = append(all, open{src.live, since})
		}
	}
	slices.SortStableFunc(all, func(a, b open) int { return b.since.Compare(a.since) }) // the one used last first
	for i, o := range all {
		if i >= mostLive || now.Sub(o.since) >= mostIdle {
			o.l.rest(o.since)
		}
	}
}

// close closes what is open. Nothing is opened afterwards.
func (l *live) close() error {
	l.mu.Lock()
	at := l.end()
	l.mu.Unlock()
	if at == nil {
		return nil
	}
	return at.close()
}

// liveStatus is what can be asked of a run.
type liveStatus struct {
	api.Live

	models []bool
}

func (r *Run) liveStatus() liveStatus {
	o := liveStatus{models: make([]bool, len(r.models))}
	for at, p := range r.parts {
		can := p.live.ability()
		if can == nil {
			p.live.start()
			can = p.live.ability() // at once where nothing is live
		}
		if can == nil {
			o.Reason = "the models are being opened"
			continue
		}
		if can.err != nil {
			o.Reason = p.clean(can.err).Error()
			continue
		}
		st := can.status
		if st.Inputs.On {
			o.Inputs = true
			o.Pictures = o.Pictures || st.Pictures
		} else if o.Reason == "" {
			o.Reason = p.scrub(st.Inputs.Reason)
		}
		if st.Engine != "" {
			o.Engine = st.Engine
		}
		for m, ref := range r.models {
			if ref.part != at || ref.index >= len(st.Models) {
				continue
			}
			if l := st.Models[ref.index]; l.On {
				o.models[m] = true
			} else if o.Reason == "" {
				o.Reason = ref.name + ": " + p.scrub(l.Reason)
			}
		}
	}
	o.Models = slices.Contains(o.models, true)
	return o
}

// Input moves sample i by an element; no model runs. The index in it is that of this run. Errors are those of
// [probe.Service.Input].
func (r *Run) Input(ctx context.Context, i int, g group.Element) (*probe.Input, error) {
	if err := r.checkSample(i); err != nil {
		return nil, err
	}
	var first error
	for _, p := range r.parts { // the data of one part may be there when that of the other is not
		var in *probe.Input
		err := p.live.use(ctx, func(l Prober) (err error) {
			in, err = l.Input(ctx, p.row(i), r.element(g))
			return err
		})
		if err == nil {
			moved := *in
			moved.Index, moved.G = i, r.named(in.G, in.Element)
			return &moved, nil
		}
		if first == nil {
			first = p.clean(err)
		}
		if !errors.Is(err, probe.ErrUnavailable) {
			return nil, p.clean(err)
		}
	}
	return nil, first
}

// Scene is sample i before it is moved; no model runs. The index in it is that of this run. Errors are those of
// [probe.Service.Scene].
func (r *Run) Scene(ctx context.Context, i int) (*probe.Scene, error) {
	if err := r.checkSample(i); err != nil {
		return nil, err
	}
	var first error
	for _, p := range r.parts { // as with inputs
		var sc *probe.Scene
		err := p.live.use(ctx, func(l Prober) (err error) {
			st, ok := l.(Stage)
			if !ok {
				return fmt.Errorf("%w: samples are shown as they are moved only", probe.ErrUnavailable)
			}
			sc, err = st.Scene(ctx, p.row(i))
			return err
		})
		if err == nil {
			out := *sc
			out.Index = i
			return &out, nil
		}
		if first == nil {
			first = p.clean(err)
		}
		if !errors.Is(err, probe.ErrUnavailable) {
			return nil, p.clean(err)
		}
	}
	return nil, first
}

// Probe moves sample i by an element and asks models, by their index in this run; nil asks all that can be asked. The
// results stand in the order of the models. Errors are those of [probe.Service.At].
func (r *Run) Probe(ctx context.Context, i int, g group.Element, models []int) (*probe.Point, error) {
	if err := r.checkSample(i); err != nil {
		return nil, err
	}
	for k, m := range models {
		if err := r.check(m, 0); err != nil {
			return nil, err
		}
		if slices.Contains(models[:k], m) {
			return nil, fmt.Errorf("%s: model %d is asked for twice", r.name, m)
		}
	}
	var out *probe.Point
	var first error
	h := r.element(g)
	for at, p := range r.parts {
		var ask []int
		for m, ref := range r.models {
			if ref.part == at && (models == nil || slices.Contains(models, m)) {
				ask = append(ask, ref.index)
			}
		}
		if len(ask) == 0 {
			continue
		}
		if models == nil {
			ask = nil
		}
		var point *probe.Point
		err := p.live.use(ctx, func(l Prober) (err error) {
			point, err = l.At(ctx, p.row(i), h, ask)
			return err
		})
		if err != nil {
			if models == nil && errors.Is(err, probe.ErrUnavailable) { // the other part may be there
				first = p.clean(err)
				continue
			}
			return nil, p.clean(err)
		}
		if out == nil {
			o := *point
			o.Results, o.Index, o.G = nil, i, r.named(point.G, point.Element)
			out = &o
		}
		for _, res := range point.Results {
			res.Values = r.values(p, res.Values)
			res.Model = slices.IndexFunc(r.models,
				func(m modelRef) bool { return m.part == at && m.index == res.Model })
			out.Results = append(out.Results, res)
		}
	}
	if out == nil {
		return nil, first
	}
	if models != nil {
		slices.SortStableFunc(out.Results, func(a, b probe.Result) int {
			return slices.Index(models, a.Model) - slices.Index(models, b.Model)
		})
	}
	return out, nil
}

// values are those of the metrics of this run.
func (r *Run) values(p part, all []float64) []float64 {
	out := make([]float64, 0, len(p.metrics))
	for _, k := range p.metrics {
		out = append(out, all[k])
	}
	return out
}

// opener is how a source is opened for probes.
func (s *Shelf) opener(src *source) func(context.Context) (Prober, error) {
	if s.o.Probe == nil {
		return nil
	}
	return func(ctx context.Context) (Prober, error) {
		return s.o.Probe(ctx, src.now().run)
	}
}
