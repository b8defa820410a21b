package interior_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/slow"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/interior"
	"nero/model/onnx"
)

// anEngine is the engine that this machine has, opened once.
var anEngine = sync.OnceValues(func() (choose.Choice, error) {
	return choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
})

func opener(tb testing.TB) interior.Open {
	tb.Helper()
	e, err := anEngine()
	if err != nil {
		tb.Fatal(err)
	}
	return func(ctx context.Context, b []byte) (engine.Session, error) {
		return e.Open(ctx, b, engine.Options{Threads: 1})
	}
}

// tensorModel opens a model that reads and returns tensors.
func tensorModel(tb testing.TB, m *onnx.Model, o interior.Options) *interior.Model {
	tb.Helper()
	c, err := decode.NewTensors(m.Signature(), decode.OutputSpec{Space: space.KindTensor})
	if err != nil {
		tb.Fatal(err)
	}
	x, err := interior.New(m, c, opener(tb), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}

// noise are n tensors of the shape of a model's input; free axes have the length 8.
func noise(m *onnx.Model, n int, seed uint64) []space.Value {
	shape := m.Signature().Inputs[0].Sizes()[1:]
	for i := range shape {
		if shape[i] < 0 {
			shape[i] = 8
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]space.Value, n)
	for i := range out {
		v := make([]float64, tensor.Count(shape))
		for k := range v {
			v[k] = float64(float32(r.NormFloat64()))
		}
		out[i] = &space.Tensor{Shape: shape, Val: v}
	}
	return out
}

func read(tb testing.TB, path string) *onnx.Model {
	tb.Helper()
	m, err := onnx.Read(path)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// models are the files that the tests of the graph code are made with.
var models = []string{"attention", "cnn", "points", "residual", "turns", "unet"}

func file(name string) string { return filepath.Join("..", "onnx", "testdata", name+".onnx") }

func apart(tb testing.TB, a, b interior.Array) float64 {
	tb.Helper()
	if !slices.Equal(a.Shape, b.Shape) || len(a.Val) != len(b.Val) {
		tb.Fatalf("shapes %v and %v", a.Shape, b.Shape)
	}
	var d, s float64
	for i, x := range a.Val {
		d, s = d+(x-b.Val[i])*(x-b.Val[i]), s+x*x
	}
	return math.Sqrt(d) / math.Max(1e-30, math.Sqrt(s))
}

// everyLayer is small where opening a graph is cheap, and more on the embedded engine, which starts anew for each.
func everyLayer(tb testing.TB) int {
	tb.Helper()
	e, err := anEngine()
	if err != nil {
		tb.Fatal(err)
	}
	if e.Info().Name == choose.Wasm || testing.Short() {
		return 6
	}
	return 3
}

// Law: what a sample contributes to an inner value does not depend on the batch that it went through with, and running
// up to any layer and from there on is running all.
func TestLayers(t *testing.T) {
	for _, name := range models {
		t.Run(name, func(t *testing.T) {
			if name == "attention" {
				slow.Test(t)
			}
			if everyLayer(t) > 1 && name != "residual" && name != "attention" {
				t.Skip("takes long here")
			}
			m := read(t, file(name))
			one, many := tensorModel(t, m, interior.Options{Batch: 1}),
				tensorModel(t, m, interior.Options{Batch: 3, Workers: 2})
			in, err := many.Arrays(t.Context(), noise(m, 7, 1))
			if err != nil {
				t.Fatal(err)
			}
			want, err := one.Values(t.Context(), in, []string{one.Output()})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := one.Predict(t.Context(), noise(m, 7, 1)); err != nil {
				t.Fatal(err)
			} else if v, ok := got[6].(*space.Tensor); !ok || !slices.Equal(v.Val, want[6][0].Val) {
				t.Errorf("predicted %v, the value of the output is %v", got[6], want[6][0])
			}
			if len(many.Layers()) < 4 {
				t.Errorf("%d layers", len(many.Layers()))
			}
			for i, l := range many.Layers() {
				if i%everyLayer(t) != 0 {
					continue
				}
				a, err := one.Values(t.Context(), in, l.Live)
				if err != nil {
					t.Fatal(err)
				}
				b, err := many.Values(t.Context(), in, l.Live)
				if err != nil {
					t.Fatal(err)
				}
				for i := range in {
					for k := range l.Live {
						if d := apart(t, a[i][k], b[i][k]); !(d < 1e-5) {
							t.Errorf("layer %s, sample %d, value %s: %g apart from a batch of one", l.Name, i,
								l.Live[k], d)
						}
					}
				}
				p, err := many.Part(t.Context(), l.Live, []string{many.Output()})
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.Run(t.Context(), b)
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if d := apart(t, want[i][0], got[i][0]); !(d < 1e-5) {
						t.Errorf("layer %s, sample %d: the rest gives another output, %g apart", l.Name, i, d)
					}
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// crooked is a model with values that hide their samples: a batch axis in second place, one merged with rows in order,
// one merged the other way round, one that normalises over the batch, one that counts samples.
func crooked(tb testing.TB, batch any) *onnx.Model {
	tb.Helper()
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, batch, 3, 4)
	name := func(to string) {
		n := b.Graph().Node
		n[len(n)-1].Output[0] = to
	}
	b.Op("Transpose", []string{x}, onnx.AttrInts("perm", 1, 0, 2)) // [3 N 4]
	name("second")
	b.Op("Reshape", []string{x, b.Ints(-1, 4)}) // [3N 4]
	name("rows")
	b.Op("Reshape", []string{"second", b.Ints(-1, 4)}) // [3N 4], samples vary fastest
	name("mixed")
	b.Op("ReduceMean", []string{x}, onnx.AttrInts("axes", 0), onnx.AttrInt("keepdims", 1))
	name("mean")
	b.Op("Shape", []string{x})
	name("count")
	b.Op("Sub", []string{x, "mean"})
	name("centred")
	back := b.Op("Reshape", []string{"rows", "count"})
	out := b.Op("ReduceSum",
		[]string{b.Op("Add",
			[]string{back, b.Op("Mul", []string{"centred", b.Const(tensor.FromFloat32([]float32{0}))})}), b.Ints(2)},
		onnx.AttrInt("keepdims", 0))
	_ = b.Op("Identity", []string{"mixed"})
	b.Output(out, tensor.Float32, batch, 3)
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestWhereSamplesLie(t *testing.T) {
	for _, batch := range []any{"N", 1, 4} {
		m := crooked(t, batch)
		x := tensorModel(t, m, interior.Options{Batch: 3})
		values := noise(m, 5, 2)
		in, err := x.Arrays(t.Context(), values)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][]int{"second": {3, 4}, "rows": {3, 4}} {
			if batch == 1 && name == "second" {
				want = []int{3, 1, 4} // nothing tells which axis it is
			}
			got, err := x.Values(t.Context(), in, []string{name})
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if a := got[i][0]; !slices.Equal(a.Shape, want) || !slices.Equal(a.Val, in[i][0].Val) {
					t.Errorf("batch %v, %s of sample %d: %v\nwant shape %v of %v", batch, name, i, a, want,
						in[i][0].Val)
				}
			}
		}
		// Samples that cannot be told apart go alone, or as copies of themselves in a fixed batch.
		got, err := x.Values(t.Context(), in, []string{"mixed", "mean", "count", "centred", x.Output()})
		if err != nil {
			t.Fatal(err)
		}
		copies := 1
		if batch == 4 {
			copies = 4
		}
		for i := range got {
			v := in[i][0].Val
			mixed, mean, count, centred := got[i][0].Val, got[i][1].Val, got[i][2].Val, got[i][3].Val
			if len(mixed) != 12*copies || !slices.Equal(mixed[:4], v[:4]) ||
				!slices.Equal(mixed[len(mixed)-4:], v[8:]) {
				t.Errorf("batch %v: mixed %v of %v", batch, mixed, v)
			}
			if !slices.Equal(mean, v) || int(count[0]) != copies || slices.Max(centred) != 0 {
				t.Errorf("batch %v, sample %d alone: mean %v, count %v, centred %v", batch, i, mean, count, centred)
			}
			out := got[i][4].Val
			if d := math.Abs(out[0] - (v[0] + v[1] + v[2] + v[3])); !(d < 1e-6) {
				t.Errorf("batch %v, sample %d: output off by %g", batch, i, d)
			}
			if len(out) != 3*copies && len(out) != 3 {
				t.Errorf("output of %d numbers", len(out))
			}
		}
		p, err := x.Part(t.Context(), []string{"mixed", "x", "count"}, []string{x.Output(), "count"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}()
		feed := make([][]interior.Array, len(in))
		for i := range feed {
			feed[i] = []interior.Array{got[i][0], in[i][0], got[i][2]}
		}
		rest, err := p.Run(t.Context(), feed)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rest {
			if !slices.Equal(rest[i][1].Val, got[i][2].Val) {
				t.Errorf("a value that is handed through changed: %v", rest[i][1])
			}
			if d := math.Abs(rest[i][0].Val[0] - got[i][4].Val[0]); !(d < 1e-6) {
				t.Errorf("batch %v: part off by %g", batch, d)
			}
		}
	}
}

func TestUnknownLayer(t *testing.T) {
	m := read(t, file("residual"))
	x := tensorModel(t, m, interior.Options{})
	l := x.Layers()[2]
	for _, name := range []string{l.Name, l.Produced[0], "2"} {
		if got, err := x.Layer(name); err != nil || got.Index != 2 {
			t.Errorf("layer %q: %v, %v", name, got, err)
		}
	}
	if _, err := x.Layer(l.Name + "x"); !errors.Is(err, interior.ErrNoLayer) ||
		!strings.Contains(err.Error(), `the nearest is "`+l.Name+`"`) {
		t.Error(err)
	}
	if _, err := x.Layer("99"); !errors.Is(err, interior.ErrNoLayer) ||
		!strings.Contains(err.Error(), "0 (the input) to") {
		t.Error(err)
	}
	in, err := x.Arrays(t.Context(), noise(m, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Values(t.Context(), in, []string{"nonesuch"}); !errors.Is(err, onnx.ErrNoValue) {
		t.Error(err)
	}
	if _, err := x.Part(t.Context(), []string{l.Live[0] + "?"}, []string{x.Output()}); !errors.Is(err,
		onnx.ErrNoValue) {
		t.Error(err)
	}
}

// counted counts sessions.
type counted struct {
	mu           sync.Mutex
	open, most   int
	bytes, total int
}

type countedSession struct {
	engine.Session
	c    *counted
	size int
}

func (s countedSession) Close() error {
	s.c.mu.Lock()
	s.c.open--
	s.c.bytes -= s.size
	s.c.mu.Unlock()
	return s.Session.Close()
}

// However many layers are looked at, few sessions are open at once, and none after Close.
func TestSessionsAreBounded(t *testing.T) {
	m := read(t, file("unet"))
	c, err := decode.NewTensors(m.Signature(), decode.OutputSpec{Space: space.KindTensor})
	if err != nil {
		t.Fatal(err)
	}
	n, open := &counted{}, opener(t)
	x, err := interior.New(m, c, func(ctx context.Context, b []byte) (engine.Session, error) {
		s, err := open(ctx, b)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.open++
		n.total++
		n.most = max(n.most, n.open)
		return countedSession{s, n, len(b)}, err
	}, interior.Options{Workers: 2, Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	in, err := x.Arrays(t.Context(), noise(m, 4, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range x.Layers() {
		if i%everyLayer(t) != 0 {
			continue
		}
		if _, err := x.Values(t.Context(), in, l.Produced); err != nil {
			t.Fatal(err)
		}
		p, err := x.Part(t.Context(), l.Live, []string{x.Output()})
		if err != nil {
			t.Fatal(err)
		}
		v, err := x.Values(t.Context(), in, l.Live)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n.most > 16 || n.total < len(x.Layers())/everyLayer(t) {
		t.Errorf("%d sessions of %d were open at once", n.most, n.total)
	}
	if err := x.Close(); err != nil || n.open != 0 || n.bytes > 0 {
		t.Errorf("%d sessions are still open: %v", n.open, err)
	}
}

func TestCancel(t *testing.T) {
	m := read(t, file("cnn"))
	x := tensorModel(t, m, interior.Options{})
	in, err := x.Arrays(t.Context(), noise(m, 2, 1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := x.Values(ctx, in, []string{x.Output()}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
