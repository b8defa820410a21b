package shelf

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/run/probe"
	"nero/run/store"
	"nero/symmetry/group"
)

// asked is a prober that answers with what it was asked.
type asked struct {
	models int
	// models that cannot be asked, and why
	off     map[int]string
	closed  *int
	metrics int
}

func (a *asked) Status() probe.Status {
	s := probe.Status{Inputs: probe.Level{On: true}, Engine: "test 1"}
	for m := range a.models {
		s.Models = append(s.Models, probe.Level{On: a.off[m] == "", Reason: a.off[m]})
	}
	return s
}

func (a *asked) Input(_ context.Context, index int, g group.Element) (*probe.Input, error) {
	return &probe.Input{Index: index, Sample: fmt.Sprint("sample ", index), G: g}, nil
}

func (a *asked) At(_ context.Context, index int, g group.Element, models []int) (*probe.Point, error) {
	p := &probe.Point{Input: probe.Input{Index: index, Sample: fmt.Sprint("sample ", index), G: g}}
	if models == nil {
		for m := range a.models {
			if a.off[m] == "" {
				models = append(models, m)
			}
		}
	}
	for _, m := range models {
		if a.off[m] != "" {
			return nil, fmt.Errorf("%w: %s", probe.ErrUnavailable, a.off[m])
		}
		r := probe.Result{Model: m}
		for k := range a.metrics {
			r.Values = append(r.Values, float64(100*index+10*m+k))
		}
		p.Results = append(p.Results, r)
	}
	return p, nil
}

func (a *asked) Close() error { *a.closed++; return nil }

// Probes open in the background, once; until then, and if they cannot be opened, everything else works.
func TestLive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	small().write(t, dir)
	gate, opens, closed := make(chan struct{}), 0, 0
	s, err := Open(t.Context(), []string{dir}, Options{Probe: func(_ context.Context, r *store.Run) (Prober, error) {
		opens++
		<-gate
		return &asked{
			models: len(r.Job().Models), metrics: 4,
			off: map[int]string{1: "model B: /secret place/of models/b.onnx is not there"}, closed: &closed,
		}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, s, "run")
	if d := r.Document(); d.Live.Models || d.Live.Reason != "the models are being opened" || d.Samples != 57 {
		t.Errorf("%+v", d.Live)
	}
	tag := r.ETag()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Input(ctx, 3, group.Element{7}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(gate)
	in, err := r.Input(t.Context(), 3, group.Element{7})
	if err != nil || in.Index != 3 || in.Sample != "sample 3" || in.G[0] != 7 {
		t.Fatalf("%+v, %v", in, err)
	}
	d := r.Document()
	if !d.Live.Inputs || !d.Live.Models || d.Live.Engine != "test 1" || !d.ModelList[0].Live || d.ModelList[1].Live ||
		d.Live.Reason != "it's <b>B</b>: model B: b.onnx is not there" || r.ETag() == tag {
		t.Errorf("%+v", d.Live)
	}
	p, err := r.Probe(t.Context(), 3, group.Element{7}, nil)
	if err != nil || len(p.Results) != 1 || p.Results[0].Model != 0 ||
		!slices.Equal(p.Results[0].Values, []float64{300, 301, 302, 303}) {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := r.Probe(t.Context(), 3, group.Element{7}, []int{0, 1}); !errors.Is(err, probe.ErrUnavailable) ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if _, err := r.Probe(t.Context(), 3, group.Element{7}, []int{0, 0}); err == nil {
		t.Error("a model is asked twice")
	}
	if err := s.Close(); err != nil || opens != 1 || closed != 1 {
		t.Errorf("opened %d times, closed %d: %v", opens, closed, err)
	}
}

func TestNotLive(t *testing.T) {
	top := t.TempDir()
	small().write(t, filepath.Join(top, "run"))
	s := opened(t, Options{Probe: func(context.Context, *store.Run) (Prober, error) {
		return nil, fmt.Errorf("no engine in %s", filepath.Join(top, "run", "x"))
	}}, top)
	r := run(t, s, "run")
	if _, err := r.Probe(t.Context(), 0, group.Element{0}, nil); err == nil || strings.Contains(err.Error(), top) {
		t.Errorf("%v", err)
	}
	if d := r.Document(); d.Live.Inputs || !strings.Contains(d.Live.Reason, "no engine") ||
		strings.Contains(d.Live.Reason, top) {
		t.Errorf("%+v", d.Live)
	}
	if _, err := one(t, small()).Input(t.Context(), 0, nil); !errors.Is(err, probe.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// Of two runs side by side every model is asked about its own sample and answers with the metrics that both have.
func TestLiveTogether(t *testing.T) {
	top := t.TempDir()
	a, b := small(), small()
	b.first, b.seed, b.metrics, b.models = 20, 2, []string{"margin", "confidence"}, []string{"other"}
	a.write(t, filepath.Join(top, "a"))
	b.write(t, filepath.Join(top, "b"))
	closed := 0
	s := opened(t, Options{Probe: func(_ context.Context, r *store.Run) (Prober, error) {
		return &asked{models: len(r.Job().Models), metrics: len(r.Job().Metrics), closed: &closed}, nil
	}}, top)
	r := run(t, s, "a+b")
	p, err := r.Probe(t.Context(), 5, group.Element{1}, []int{2, 0})
	if err != nil || len(p.Results) != 2 || p.Index != 5 {
		t.Fatalf("%+v, %v", p, err)
	}
	// Sample 5 of both is 25 of the first and 5 of the second; confidence and margin are 0 and 3 of the first, 1 and 0
	// of the second.
	if q := p.Results[0]; q.Model != 2 || !slices.Equal(q.Values, []float64{501, 500}) {
		t.Errorf("%+v", q)
	}
	if q := p.Results[1]; q.Model != 0 || !slices.Equal(q.Values, []float64{2500, 2503}) {
		t.Errorf("%+v", q)
	}
	if all, err := r.Probe(t.Context(), 5, group.Element{1}, nil); err != nil || len(all.Results) != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	if in, err := r.Input(t.Context(), 5, group.Element{1}); err != nil || in.Index != 5 || in.Sample != "sample 25" {
		t.Errorf("%+v, %v", in, err)
	}
}
