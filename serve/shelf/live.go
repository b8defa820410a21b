package shelf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"nero/run/probe"
	"nero/serve/api"
	"nero/symmetry/group"
)

// Prober answers for one sample at one element, now. A [probe.Service] is one. If it is an [io.Closer], it is closed with the shelf.
type Prober interface {
	// Status says what can be asked.
	Status() probe.Status
	// Input moves a sample of the run.
	Input(ctx context.Context, index int, g group.Element) (*probe.Input, error)
	// At moves a sample and asks models, by their index in the run.
	At(ctx context.Context, index int, g group.Element, models []int) (*probe.Point, error)
}

// live is what answers probes of a source. It is opened once somebody wants it, beside everything else.
type live struct {
	open func(context.Context) (Prober, error) // nil if the server was started without
	once sync.Once
	done chan struct{} // closed once it is open, or could not be opened
	told func()        // called then

	prober Prober // set before done is closed; nil if err is not
	err    error
}

func newLive(open func(context.Context) (Prober, error), told func()) *live {
	return &live{open: open, done: make(chan struct{}), told: told}
}

// errNoLive is why nothing can be asked of a server that was started without.
var errNoLive = fmt.Errorf("%w: this server shows what is stored and runs no model", probe.ErrUnavailable)

// start opens it in the background, if nobody has yet.
func (l *live) start(ctx context.Context, wg *sync.WaitGroup) {
	l.once.Do(func() {
		if l.open == nil {
			l.err = errNoLive
			close(l.done)
			return
		}
		wg.Go(func() {
			l.prober, l.err = l.open(ctx)
			close(l.done)
			l.told()
		})
	})
}

// ready reports whether it is open, or could not be opened.
func (l *live) ready() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// wait is the prober once it is open.
func (l *live) wait(ctx context.Context) (Prober, error) {
	select {
	case <-l.done:
		return l.prober, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *live) close() error {
	if !l.ready() || l.prober == nil {
		return nil
	}
	if c, ok := l.prober.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// liveStatus is what can be asked of a run.
type liveStatus struct {
	api.Live

	models []bool
}

func (r *Run) liveStatus() liveStatus {
	o := liveStatus{models: make([]bool, len(r.models))}
	for at, p := range r.parts {
		p.live.start(r.shelf.ctx, &r.shelf.background)
		if !p.live.ready() {
			o.Reason = "the models are being opened"
			continue
		}
		if p.live.err != nil {
			o.Reason = p.clean(p.live.err).Error()
			continue
		}
		st := p.live.prober.Status()
		if st.Inputs.On {
			o.Inputs = true
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

// Input moves sample i by an element; no model runs. The index in it is that of this run. Errors are those of [probe.Service.Input].
func (r *Run) Input(ctx context.Context, i int, g group.Element) (*probe.Input, error) {
	if err := r.checkSample(i); err != nil {
		return nil, err
	}
	var first error
	for _, p := range r.parts { // the data of one part may be there when that of the other is not
		in, err := func() (*probe.Input, error) {
			p.live.start(r.shelf.ctx, &r.shelf.background)
			l, err := p.live.wait(ctx)
			if err != nil {
				return nil, err
			}
			return l.Input(ctx, p.row(i), g)
		}()
		if err == nil {
			moved := *in
			moved.Index = i
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

// Probe moves sample i by an element and asks models, by their index in this run; nil asks all that can be asked. The results stand in
// the order of the models. Errors are those of [probe.Service.At].
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
		point, err := func() (*probe.Point, error) {
			p.live.start(r.shelf.ctx, &r.shelf.background)
			l, err := p.live.wait(ctx)
			if err != nil {
				return nil, err
			}
			if models == nil {
				ask = nil
			}
			return l.At(ctx, p.row(i), g, ask)
		}()
		if err != nil {
			if models == nil && errors.Is(err, probe.ErrUnavailable) { // the other part may be there
				first = p.clean(err)
				continue
			}
			return nil, p.clean(err)
		}
		if out == nil {
			o := *point
			o.Results, o.Index = nil, i
			out = &o
		}
		for _, res := range point.Results {
			res.Values = r.values(p, res.Values)
			res.Model = slices.IndexFunc(r.models, func(m modelRef) bool { return m.part == at && m.index == res.Model })
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
