package vjp_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sbinet/npyio/npz"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/onnx"
	"nero/model/onnx/vjp"
	"nero/model/oracle"
)

// runner runs a model once and returns its outputs by name, as float64.
type runner func(tb testing.TB, model []byte, in map[string]tensor.Tensor) map[string][]float64

// open is a kind of engine, opened once.
var open = map[string]func() (choose.Choice, error){
	choose.Native: sync.OnceValues(func() (choose.Choice, error) { return opened(choose.Native) }),
	choose.Wasm:   sync.OnceValues(func() (choose.Choice, error) { return opened(choose.Wasm) }),
}

func opened(kind string) (choose.Choice, error) {
	return choose.Open(context.Background(), choose.Request{Kind: kind}, choosetest.Host())
}

// anEngine is that kind of engine; the test is skipped where there is no native one.
func anEngine(tb testing.TB, kind string) engine.Engine {
	tb.Helper()
	e, err := open[kind]()
	if errors.Is(err, choose.ErrNoLibrary) {
		tb.Skip("no native engine on this machine")
	}
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// on runs models on an engine.
func on(e engine.Engine) runner {
	return func(tb testing.TB, model []byte, in map[string]tensor.Tensor) map[string][]float64 {
		tb.Helper()
		s, err := e.Open(context.Background(), model, engine.Options{Threads: 1})
		if err != nil {
			tb.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				tb.Error(err)
			}
		}()
		out, err := s.Run(context.Background(), feeds(tb, s.Inputs(), in))
		if err != nil {
			tb.Fatal(err)
		}
		return widened(tb, out)
	}
}

// exactly runs models in float64.
func exactly(tb testing.TB, model []byte, in map[string]tensor.Tensor) map[string][]float64 {
	tb.Helper()
	m, err := onnx.Load(model)
	if err != nil {
		tb.Fatal(err)
	}
	g, err := oracle.Load(m)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := g.Run(context.Background(), feeds(tb, g.Inputs(), in), oracle.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return widened(tb, out)
}

func feeds(tb testing.TB, names []string, in map[string]tensor.Tensor) (out []tensor.Named) {
	tb.Helper()
	for _, n := range names {
		v, ok := in[n]
		if !ok {
			tb.Fatalf("nothing to feed to %q", n)
		}
		out = append(out, tensor.Named{Name: n, Tensor: v})
	}
	return out
}

func widened(tb testing.TB, out []tensor.Named) map[string][]float64 {
	tb.Helper()
	m := map[string][]float64{}
	for _, o := range out {
		f, err := o.Float64s(nil)
		if err != nil {
			tb.Fatal(err)
		}
		m[o.Name] = f
	}
	return m
}

// fixture is a model with gradients that PyTorch found in float64; see testdata/README.md.
type fixture struct {
	group, name string
	model       []byte
	in, grad    map[string]tensor.Tensor
	out         map[string]tensor.Tensor
	v           tensor.Tensor
}

var groups = []string{
	"elementwise", "reductions", "norms", "shapes", "sampling", "products", "convs", "models",
	"recurrent",
}

// read are the groups that were read.
var read sync.Map

// fixtures are all cases of a group, in order of their names. They are not to be changed.
func fixtures(tb testing.TB, group string) []*fixture {
	tb.Helper()
	if fs, ok := read.Load(group); ok {
		return fs.([]*fixture) //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	r, err := npz.Open(filepath.Join("testdata", group+".npz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	}()
	all := map[string]*fixture{}
	var names []string
	for _, key := range r.Keys() {
		name, what, _ := strings.Cut(strings.TrimSuffix(key, ".npy"), "/")
		f := all[name]
		if f == nil {
			f = &fixture{
				group: group, name: name, in: map[string]tensor.Tensor{}, grad: map[string]tensor.Tensor{},
				out: map[string]tensor.Tensor{},
			}
			all[name] = f
			names = append(names, name)
		}
		x := array(tb, r, key)
		kind, value, _ := strings.Cut(what, "/")
		switch kind {
		case "model":
			f.model = x.Raw
		case "v":
			f.v = x
		case "in":
			f.in[value] = x
		case "out":
			f.out[value] = x
		case "grad":
			f.grad[value] = x
		default:
			tb.Fatalf("%s: what is %s?", group, key)
		}
	}
	slices.Sort(names)
	var out []*fixture
	for _, n := range names {
		out = append(out, all[n])
	}
	read.Store(group, out)
	return out
}

// array reads one array of an npz file.
func array(tb testing.TB, r *npz.Reader, key string) tensor.Tensor {
	tb.Helper()
	h := r.Header(key)
	shape := slices.Clone(h.Descr.Shape)
	must := func(err error) {
		if err != nil {
			tb.Fatalf("%s: %v", key, err)
		}
	}
	switch h.Descr.Type {
	case "<f4":
		var v []float32
		must(r.Read(key, &v))
		return tensor.FromFloat32(v, shape...)
	case "<f8":
		var v []float64
		must(r.Read(key, &v))
		return doubles(v, shape...)
	case "<i8":
		var v []int64
		must(r.Read(key, &v))
		return tensor.FromInt64(v, shape...)
	case "|u1":
		var v []uint8
		must(r.Read(key, &v))
		return tensor.Tensor{DType: tensor.Uint8, Shape: shape, Raw: v}
	}
	tb.Fatalf("%s: elements of type %s", key, h.Descr.Type)
	return tensor.Tensor{}
}

func doubles(v []float64, shape ...int) tensor.Tensor {
	t := tensor.New(tensor.Float64, shape...)
	for i, x := range v {
		b := math.Float64bits(x)
		for k := range 8 {
			t.Raw[8*i+k] = byte(b >> (8 * k))
		}
	}
	return t
}

// wrt are the values whose gradients are stored, sorted.
func (f *fixture) wrt() []string {
	var names []string
	for n := range f.grad {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// shapesOf finds the shapes of a model; an engine helps where inference does not get through.
func shapesOf(tb testing.TB, m *onnx.Model) map[string][]int {
	tb.Helper()
	s, err := vjp.Shapes(context.Background(), m, nil,
		func(ctx context.Context, model []byte, in []tensor.Named) ([]tensor.Named, error) {
			e, err := choose.Open(ctx, choose.Request{Kind: choose.Auto}, choosetest.Host())
			if err != nil {
				return nil, err
			}
			s, err := e.Open(ctx, model, engine.Options{Threads: 1})
			if err != nil {
				return nil, err
			}
			out, err := s.Run(ctx, in)
			return out, errors.Join(err, s.Close(), e.Close(ctx))
		})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// gradients builds the gradient graph of a fixture and runs it.
func (f *fixture) gradients(tb testing.TB, run runner) (*vjp.Result, map[string][]float64) {
	tb.Helper()
	m, err := onnx.Load(f.model)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := vjp.Build(m, shapesOf(tb, m), vjp.Request{Wrt: f.wrt()})
	if err != nil {
		tb.Fatal(err)
	}
	in := map[string]tensor.Tensor{r.Cotangent: f.v}
	maps.Copy(in, f.in)
	return r, run(tb, encoded(tb, r.Model), in)
}

// relative is the largest difference over the largest magnitude wanted.
func relative(tb testing.TB, got []float64, want tensor.Tensor) float64 {
	tb.Helper()
	w, err := want.Float64s(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return distance(tb, got, w)
}

func distance(tb testing.TB, got, want []float64) float64 {
	tb.Helper()
	if len(got) != len(want) {
		tb.Fatalf("%d numbers, want %d", len(got), len(want))
	}
	diff, scale := 0., 0.
	for i := range want {
		d := math.Abs(got[i] - want[i])
		if math.IsNaN(d) {
			return math.NaN()
		}
		diff, scale = max(diff, d), max(scale, math.Abs(want[i]))
	}
	if scale == 0 {
		return diff
	}
	return diff / scale
}

// compare checks all of a fixture and returns the worst relative error of a gradient by an input and of one by a
// parameter.
func (f *fixture) compare(tb testing.TB, run runner, tol float64) (input, parameter float64) {
	tb.Helper()
	r, got := f.gradients(tb, run)
	for name, want := range f.out {
		if e := relative(tb, got[name], want); !(e <= tol) {
			tb.Errorf("%s: output %s differs by %.1e", f.name, name, e)
		}
	}
	for i, name := range f.wrt() {
		e := relative(tb, got[r.Gradients[i]], f.grad[name])
		if !(e <= tol) {
			tb.Errorf("%s: the gradient by %s differs by %.1e", f.name, name, e)
		}
		if _, is := f.in[name]; is {
			input = max(input, e)
		} else {
			parameter = max(parameter, e)
		}
	}
	return input, parameter
}

// all compares every case of every group that keep lets through.
func all(t *testing.T, run runner, tol float64, keep func(*fixture) bool) {
	t.Helper()
	for _, g := range groups {
		t.Run(g, func(t *testing.T) {
			var in, par float64
			n := 0
			for _, f := range fixtures(t, g) {
				if keep != nil && !keep(f) {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					a, b := f.compare(t, run, tol)
					in, par = max(in, a), max(par, b)
				})
				n++
			}
			t.Logf("%d cases: worst relative error %.1e by inputs, %.1e by parameters", n, in, par)
		})
	}
}

// The gradients agree with those of PyTorch: in float64 to the rounding of what is stored, natively to that of float32.
func TestGradientsReference(t *testing.T) { all(t, exactly, 1e-6, nil) }

func TestGradientsNative(t *testing.T) { all(t, on(anEngine(t, choose.Native)), 1e-5, nil) }

// The embedded engine agrees as well: some cases of every kind here, all of them with the build tag slow.
func TestGradientsWasm(t *testing.T) {
	some := []string{
		"digits_max", "transformer", "maxpool_overlap", "conv_groups_stride", "convt_pad", "avgpool_uncounted",
		"resize_bilinear_up", "gridsample_border_0", "pad_reflect",
		"gather", "slice_batch", "batchnorm_training", "groupnorm_18", "gelu", "topk", "reduceprod_zeros",
		"einsum_attention", "cumsum_reverse", "layernorm", "lstm", "gru",
	}
	all(t, on(anEngine(t, choose.Wasm)), 1e-5, func(f *fixture) bool { return slices.Contains(some, f.name) })
}

// failing is a test of either kind.
type failing interface {
	Helper()
	Fatal(args ...any)
}

// encoded is what a body opens.
func encoded(tb failing, m *onnx.Model) []byte {
	tb.Helper()
	b, err := m.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
