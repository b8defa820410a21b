package benchmark

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/metric"
	"nero/model/engine"
	"nero/run/eval"
	"nero/run/exec"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// world is a data set, an engine, a codec, a store and a clock in which an input costs a millisecond and keeping a
// shard two.
type world struct {
	n, edge int
	// every other sample is larger by so much
	odd int
	// nanoseconds
	spent atomic.Int64
	// that went through the engine
	inputs atomic.Int64
	// in so many calls
	calls atomic.Int64
	// sessions lent and not closed
	out     atomic.Int64
	kept    atomic.Int64
	removed atomic.Int64
	fail    error
	// the clock
	still bool
}

func (w *world) Len() int        { return w.n }
func (w *world) Labels() []int   { return nil }
func (w *world) Files() []string { return nil }
func (w *world) IDs() []string   { return make([]string, w.n) }
func (w *world) Sample(i int) (dataset.Sample, error) {
	side := w.edge + i%2*w.odd
	return dataset.Sample{ID: strconv.Itoa(i), Label: -1, Value: space.NewImage(1, side, side)}, nil
}

// samples are the world as a data set: an engine has an Info of its own.
type samples struct{ *world }

func (samples) Info() dataset.Info { return dataset.Info{} }

func (w *world) Info() engine.Info { return engine.Info{} }
func (w *world) Concurrent() bool  { return false }
func (w *world) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	w.out.Add(1)
	return session{w}, nil
}

type session struct{ w *world }

func (s session) Inputs() []string  { return []string{"x"} }
func (s session) Outputs() []string { return []string{"y"} }
func (s session) Close() error      { s.w.out.Add(-1); return nil }
func (s session) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) {
	if s.w.fail != nil {
		return nil, s.w.fail
	}
	n := in[0].Shape[0]
	s.w.inputs.Add(int64(n))
	s.w.calls.Add(1)
	if !s.w.still {
		s.w.spent.Add(int64(n) * int64(time.Millisecond))
	}
	return []tensor.Named{{Name: "y", Tensor: tensor.New(tensor.Float32, n)}}, nil
}

func (w *world) In() space.Spec  { return space.Spec{Kind: space.KindImage} }
func (w *world) Out() space.Spec { return space.Spec{Kind: space.KindScores} }
func (w *world) Encode(batch []space.Value, _ []tensor.Named) ([]tensor.Named, error) {
	return []tensor.Named{{Name: "x", Tensor: tensor.New(tensor.Float32, len(batch), w.edge, w.edge)}}, nil
}

func (w *world) Decode(_ []tensor.Named, n int) ([]space.Value, error) {
	vs := make([]space.Value, n)
	for i := range vs {
		vs[i] = &space.Scores{Val: []float64{1}}
	}
	return vs, nil
}

func (w *world) Done(job.Shard) bool { return false }
func (w *world) Commit(context.Context, job.Shard, []job.Row) error {
	w.kept.Add(1)
	if !w.still {
		w.spent.Add(int64(2 * time.Millisecond))
	}
	return nil
}

func (w *world) clock() Clock {
	return Clock{
		Now: func() time.Time { return time.Unix(0, w.spent.Load()) },
		CPU: func() time.Duration { return time.Duration(w.spent.Load()) },
	}
}

func (w *world) keep() (exec.Committer, func() error, error) {
	return w, func() error { w.removed.Add(1); return nil }, nil
}

func (w *world) evaluation(t *testing.T, batch int, fixed bool) (*eval.Evaluation, *job.Job) {
	t.Helper()
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	side := w.edge
	if w.odd > 0 {
		side = -1
	}
	in, err := action.Rules().For(g, space.Spec{Kind: space.KindImage, Shape: []int{1, side, side}},
		action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := orbit.NewPlan(g, orbit.Spec{All: true}, in, action.Trivial{G: g}, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := &eval.Evaluation{
		Data: samples{w}, Plan: p, Metrics: []*metric.Metric{metric.Absolute},
		Models: []*eval.Model{{
			Name: "m", Codec: w, Batch: batch, Fixed: fixed,
			Pool: eval.NewPool(w, nil, engine.Options{}),
		}},
	}
	if err := e.Prepare(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Models[0].Pool.Close(); err != nil || w.out.Load() != 0 {
			t.Errorf("%d sessions were not given back, %v", w.out.Load(), err)
		}
	})
	return e, &job.Job{Count: w.n, Shard: 1, Elements: p.Elements, Models: make([]job.ModelRef, 1)}
}

// 6 samples x 4 elements are 24 ms in the engine, and 2 shards take 4 ms to keep: 28/24. One clock counts for all
// workers, so nothing is faster with two.
func TestRatios(t *testing.T) {
	w := &world{n: 9, edge: 4}
	e, j := w.evaluation(t, 4, false)
	r, err := Run(t.Context(), e, j, 6, 2, 3, w.clock(), w.keep)
	if err != nil {
		t.Fatal(err)
	}
	if r.Samples != 6 || r.Elements != 4 || r.Models != 1 || r.Evaluations != 24 || r.Workers != 2 ||
		len(r.Rounds) != 3 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"overhead, one worker", r.OverheadOne, 28.0 / 24},
		{"overhead, all", r.OverheadAll, 28.0 / 24},
		{"scaling", r.Scaling, 1},
		{"of the engine", r.EngineScale, 1},
		{"per second", r.PerSecond, 24 / 0.028},
		{"per processor second", r.PerCPU, 24 / 0.028},
	} {
		if !(math.Abs(c.got-c.want) < 1e-9*c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if n := w.inputs.Load(); n != 24*(1+3*4) {
		t.Errorf("%d inputs went through the engine, want one pass to warm up and four in each round: %d", n, 24*13)
	}
	if w.kept.Load() != 3*2*2 || w.removed.Load() != 3*2 {
		t.Errorf("%d shards kept, %d stores removed", w.kept.Load(), w.removed.Load())
	}
	if j.Count != 9 || j.Shard != 1 {
		t.Errorf("the job was changed: %+v", j)
	}
}

// The engine alone runs as many batches as a run over one shard: whole ones, a shorter one at the end, or one that is
// filled up.
func TestEngineAlone(t *testing.T) {
	for _, c := range []struct {
		samples, batch int
		fixed          bool
		want           int64
	}{{6, 4, false, 24}, {6, 5, false, 24}, {6, 5, true, 25}, {2, 64, false, 8}, {2, 64, true, 64}, {1, 1, true, 4}} {
		for _, workers := range []int{1, 3} {
			w := &world{n: 9, edge: 4}
			e, _ := w.evaluation(t, c.batch, c.fixed)
			feeds, err := encode(e, c.samples)
			if err != nil {
				t.Fatal(err)
			}
			if err := engineAlone(t.Context(), e, feeds, workers); err != nil {
				t.Fatal(err)
			}
			alone := w.inputs.Swap(0)
			if _, err := e.Shard(t.Context(), job.Shard{Hi: c.samples}, nil); err != nil {
				t.Fatal(err)
			}
			if run := w.inputs.Load(); alone != c.want || run != c.want {
				t.Errorf("%+v: %d inputs alone, %d in a run, want %d", c, alone, run, c.want)
			}
		}
	}
}

// Samples of different sizes share no batch, neither in a run nor alone.
func TestEngineAloneOfSizes(t *testing.T) {
	w := &world{n: 9, edge: 4, odd: 1}
	e, _ := w.evaluation(t, 3, false)
	feeds, err := encode(e, 6)
	if err != nil {
		t.Fatal(err)
	}
	if err := engineAlone(t.Context(), e, feeds, 1); err != nil || w.inputs.Load() != 24 || w.calls.Swap(0) != 12 {
		t.Errorf("%d inputs alone, %v", w.inputs.Load(), err)
	}
	if _, err := e.Shard(t.Context(), job.Shard{Hi: 6}, nil); err != nil || w.calls.Load() != 12 {
		t.Errorf("%d calls in a run, %v", w.calls.Load(), err)
	}
}

func TestBatchesAreBounded(t *testing.T) {
	w := &world{n: 40, edge: 512} // 1 MiB each as float32
	e, _ := w.evaluation(t, 8, false)
	feeds, err := encode(e, 40)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(feeds[0].batches); n != 9 || feeds[0].count != 20 { // the ninth of 8 MiB passes 64 MiB
		t.Errorf("%d batches are held for %d of a pass", n, feeds[0].count)
	}
	if err := engineAlone(t.Context(), e, feeds, 2); err != nil || w.inputs.Load() != 160 {
		t.Errorf("%d inputs went through the engine, %v", w.inputs.Load(), err)
	}
}

func TestRefuses(t *testing.T) {
	w := &world{n: 4, edge: 4}
	e, j := w.evaluation(t, 4, false)
	for _, n := range [][3]int{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		if _, err := Run(t.Context(), e, j, n[0], n[1], n[2], w.clock(), w.keep); err == nil {
			t.Errorf("%v accepted", n)
		}
	}
	w.still = true
	if _, err := Run(t.Context(), e, j, 4, 1, 1, w.clock(), w.keep); err == nil ||
		!strings.Contains(err.Error(), "take more samples") {
		t.Errorf("a clock that stands still: %v", err)
	}
	w.fail = errors.New("broken")
	if _, err := Run(t.Context(), e, j, 4, 2, 1, w.clock(), w.keep); !errors.Is(err, w.fail) {
		t.Errorf("an engine that fails: %v", err)
	}
}
