package jvp_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/onnx/jvp"
	"nero/model/oracle"
)

// exact evaluates a model in float64 and adds what it returns to v.
func exact(t rapid.TB, model []byte, v values) {
	t.Helper()
	m, err := onnx.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	g, err := oracle.Load(m)
	if _, ok := errors.AsType[*oracle.UnsupportedError](err); ok {
		t.Skip(err) // the engines have their turn
	}
	if err != nil {
		t.Fatal(err)
	}
	var in []tensor.Named
	for _, name := range g.Inputs() {
		in = append(in, tensor.Named{Name: name, Tensor: v[name]})
	}
	out, err := g.Run(context.Background(), in, oracle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		v[o.Name] = o.Tensor
	}
}

func encode(t rapid.TB, m *onnx.Model) []byte {
	t.Helper()
	b, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// float64s is a tensor of float64.
func float64s(x []float64, shape ...int) tensor.Tensor {
	out := tensor.New(tensor.Float64, shape...)
	for i, v := range x {
		binary.LittleEndian.PutUint64(out.Raw[8*i:], math.Float64bits(v))
	}
	return out
}

// mix is a·x + b·y.
func mix(t rapid.TB, a float64, x tensor.Tensor, b float64, y tensor.Tensor) tensor.Tensor {
	t.Helper()
	f, g := floats(t, x), floats(t, y)
	for i := range f {
		f[i] = a*f[i] + b*g[i]
	}
	return float64s(f, x.Shape...)
}

func noise(r *rand.Rand, shape ...int) tensor.Tensor {
	f := make([]float32, tensor.Count(shape))
	for i := range f {
		f[i] = float32(r.NormFloat64())
	}
	return tensor.FromFloat32(f, shape...)
}

// In float64 the cases agree with PyTorch to the nine digits that are stored.
func TestAgainstPyTorchExactly(t *testing.T) {
	worst, at := 0., ""
	tried, done := 0, 0
	for _, s := range samples(t) {
		t.Run(s.Name, func(t *testing.T) {
			tried++
			m := s.load(t)
			moving := s.moving(m)
			res := build(t, m, jvp.Request{Tangents: moving, Outputs: []string{s.Output}})
			v := s.feed(res, moving)
			exact(t, encoded(t, res.Model), v)
			d := distance(t, v[res.Tangents[0]], float64s(s.Tangent.Data, s.Tangent.Shape...), 1e-3)
			if !(d <= 2e-7) { // constants such as √(2/π) are float32 in a float32 model
				t.Errorf("off by %.2g", d)
			}
			if d > worst {
				worst, at = d, s.Name
			}
			done++
		})
	}
	t.Logf("%d cases, worst: %.2g at %s", done, worst, at)
	if tried-done > 12 {
		t.Errorf("only %d cases could be evaluated", done)
	}
}

// d(a·v + b·w) = a·d(v) + b·d(w) for every case.
func TestLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range samples(t) {
		t.Run(s.Name, func(t *testing.T) {
			m := s.load(t)
			moving := s.moving(m)
			res := build(t, m, jvp.Request{Tangents: moving, Outputs: []string{s.Output}})
			v, w, both := s.feed(res, moving), s.feed(res, moving), s.feed(res, moving)
			for _, name := range res.Inputs {
				w[name] = noise(r, v[name].Shape...)
				both[name] = mix(t, 1.5, v[name], -.25, w[name])
			}
			for _, x := range []values{v, w, both} {
				exact(t, encoded(t, res.Model), x)
			}
			d := res.Tangents[0]
			if e := distance(t, both[d], mix(t, 1.5, v[d], -.25, w[d]), 1); !(e <= 1e-12) {
				t.Errorf("off by %.2g", e)
			}
		})
	}
}

// smooth are functions of one number that stay moderate.
var smooth = []string{
	"Tanh", "Sigmoid", "Sin", "Cos", "Erf", "Softplus", "Softsign", "Atan", "Asinh", "Neg",
	"Identity", "Relu", "Abs", "Elu", "LeakyRelu", "HardSwish", "Selu",
}

// randomGraph draws a graph on values of the shape [N 4]. Its values named p… add the inputs of the same name, which
// are fed with zeros: a tangent at such an inner value is a perturbation of that input.
func randomGraph(t *rapid.T) (m *onnx.Model, inner []string) {
	b := onnx.NewBuilder(17)
	have := []string{b.Input("x", tensor.Float32, "N", 4), b.Input("y", tensor.Float32, "N", 4)}
	w := b.Const(tensor.FromFloat32(rapid.SliceOfN(rapid.Float32Range(-1, 1), 16, 16).Draw(t, "weights"), 4, 4))
	one := b.Const(tensor.FromFloat32([]float32{1}, 1))
	row := b.Const(tensor.FromFloat32(rapid.SliceOfN(rapid.Float32Range(-1, 1), 4, 4).Draw(t, "row"), 4))
	for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
		pick := func() string { return have[rapid.IntRange(0, len(have)-1).Draw(t, fmt.Sprintf("operand of %d", i))] }
		var v string
		switch rapid.IntRange(0, 15).Draw(t, fmt.Sprintf("node %d", i)) {
		case 0, 1, 2:
			v = b.Op(rapid.SampledFrom(smooth).Draw(t, "function"), []string{pick()})
		case 3:
			v = b.Op(rapid.SampledFrom([]string{"Add", "Sub", "Mul", "Max", "Min"}).Draw(t, "operator"),
				[]string{pick(), pick()})
		case 4:
			v = b.Op("MatMul", []string{pick(), w})
		case 5:
			v = b.Op("Softmax", []string{pick()}, onnx.AttrInt("axis", 1))
		case 6:
			v = b.Op("LayerNormalization", []string{pick(), row, row}, onnx.AttrFloat("epsilon", .1))
		case 7:
			s := b.Ops("Split", 2, []string{pick()}, onnx.AttrInt("axis", 1))
			v = b.Op("Concat", []string{s[1], s[0]}, onnx.AttrInt("axis", 1))
		case 8:
			v = b.Op("Where", []string{b.Op("Greater", []string{pick(), pick()}), pick(), row})
		case 9:
			// the first sample is added to all: broadcasting, and samples that depend on each other
			first := b.Op("Slice", []string{pick(), b.Ints(0), b.Ints(1), b.Ints(0)})
			v = b.Op(rapid.SampledFrom([]string{"Add", "Sub", "Mul", "Max"}).Draw(t, "operator"),
				[]string{pick(), first})
		case 10:
			v = b.Op("Add", []string{b.Op("ReduceLogSumExp", []string{pick()}, onnx.AttrInts("axes", 1)), pick()})
		case 11:
			v = b.Op("Div", []string{pick(), b.Op("Add", []string{b.Op("Softplus", []string{pick()}), one})})
		case 12:
			v = b.Op("Gemm", []string{pick(), w, row}, onnx.AttrFloat("alpha", .5))
		case 13:
			v = b.Op("Reshape", []string{
				b.Op("Reshape", []string{pick(), b.Ints(0, 2, 2)}),
				b.Op("Shape", []string{pick()}),
			})
		case 14:
			e := b.Op("Einsum", []string{pick(), pick()}, onnx.AttrString("equation", "ni,nj->nij"))
			v = b.Op("ReduceMean", []string{e}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0))
		case 15:
			v = b.Op("Tanh", []string{pick()})
			p := b.Input(fmt.Sprintf("p%d", i), tensor.Float32, "N", 4)
			v = b.Op("Add", []string{v, p})
			inner = append(inner, v)
		}
		have = append(have, v)
	}
	b.Output(b.Op("Tanh", []string{have[len(have)-1]}), tensor.Float32, "N", 4)
	b.Output(have[len(have)-1], tensor.Float32, "N", 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m, inner
}

// Random graphs against central differences in float64: (f(x + h·v) - f(x - h·v)) / 2h. Points at which these do not
// settle lie on a kink and are passed over.
func TestCentralDifferences(t *testing.T) {
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		m, inner := randomGraph(t)
		n := rapid.IntRange(1, 3).Draw(t, "batch")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		point, dir := values{}, values{}
		var moving []string
		for _, name := range onnx.Names(m.Signature().Inputs) {
			point[name], dir[name] = float64s(make([]float64, 4*n), n, 4), noise(r, n, 4)
			if name[0] != 'p' {
				point[name] = noise(r, n, 4)
				moving = append(moving, name)
			}
		}
		res := build(t, m, jvp.Request{Tangents: append(slices.Clone(moving), inner...)})
		got := maps.Clone(point)
		perturbed := moving
		for _, name := range onnx.Names(m.Signature().Inputs) {
			if name[0] == 'p' {
				perturbed = append(perturbed, name)
			}
		}
		for i, name := range perturbed { // the inputs p… in the order of the inner values that add them
			got[res.Inputs[i]] = dir[name]
		}
		exact(t, encoded(t, res.Model), got)
		whole := encode(t, m)
		at := func(h float64) values {
			v := values{}
			for k, x := range point {
				v[k] = mix(t, 1, x, h, dir[k])
			}
			exact(t, whole, v)
			return v
		}
		const h = 1e-5
		up, down, up2, down2 := at(h), at(-h), at(h/2), at(-h/2)
		for i, o := range res.Outputs {
			wide, narrow := mix(t, .5/h, up[o], -.5/h, down[o]), mix(t, 1/h, up2[o], -1/h, down2[o])
			right, left := mix(t, 1/h, up[o], -1/h, got[o]), mix(t, 1/h, got[o], -1/h, down[o])
			if !(distance(t, wide, narrow, 1) <= 1e-7) || !(distance(t, right, left, 1) <= 1e-2) {
				t.Skip("a kink")
			}
			if d := distance(t, got[res.Tangents[i]], narrow, 1); !(d <= 1e-6) {
				t.Fatalf("%s: off by %.2g\n got %v\nwant %v", o, d, floats(t, got[res.Tangents[i]]), floats(t, narrow))
			}
		}
		checked++
	})
	t.Logf("%d graphs", checked)
}

type network struct {
	path string
	// of a sample
	shape []int
}

// shipped are whole networks.
var shipped = []network{
	{"../testdata/cnn_raw.onnx", []int{1, 28, 28}},
	{"../testdata/residual.onnx", []int{3, 32, 32}},
	{"../testdata/unet.onnx", []int{1, 16, 16}},
	{"../testdata/attention.onnx", []int{3, 32, 32}},
	{"../testdata/points.onnx", []int{32, 3}},
	{"../../../studies/digits/models/digits-c4.onnx", []int{1, 28, 28}},
	{"../../../studies/digits/models/digits-original.onnx", []int{1, 28, 28}},
}

// sizes are those that the file states, else those of the table.
func (s network) sizes(m *onnx.Model) []int {
	shape := slices.Clone(s.shape)
	for i, d := range m.Signature().Inputs[0].Sizes()[1:] {
		if d > 0 {
			shape[i] = d
		}
	}
	return shape
}

// networks calls f with every shipped network.
func networks(t *testing.T, f func(t *testing.T, m *onnx.Model, x func(r *rand.Rand, n int) tensor.Tensor)) {
	t.Helper()
	for _, s := range shipped {
		t.Run(filepath.Base(s.path), func(t *testing.T) {
			m, err := onnx.Read(s.path)
			if err != nil {
				t.Fatal(err)
			}
			shape := s.sizes(m)
			f(t, m, func(r *rand.Rand, n int) tensor.Tensor { return noise(r, append([]int{n}, shape...)...) })
		})
	}
}

// Whole networks against central differences in float64.
func TestNetworks(t *testing.T) {
	networks(t, func(t *testing.T, m *onnx.Model, x func(*rand.Rand, int) tensor.Tensor) {
		t.Helper()
		r := rand.New(rand.NewPCG(3, 4))
		in := m.Signature().Inputs[0].Name
		res := build(t, m, jvp.Request{Tangents: []string{in}})
		v := values{in: x(r, 1), res.Inputs[0]: x(r, 1)}
		exact(t, encoded(t, res.Model), v)
		const h = 1e-7 // small: a network has thousands of kinks
		up, down := values{in: mix(t, 1, v[in], h, v[res.Inputs[0]])},
			values{in: mix(t, 1, v[in], -h, v[res.Inputs[0]])}
		whole := encode(t, m)
		exact(t, whole, up)
		exact(t, whole, down)
		o := res.Outputs[0]
		d := distance(t, v[res.Tangents[0]], mix(t, .5/h, up[o], -.5/h, down[o]), 1e-6)
		t.Logf("off by %.2g", d)
		if !(d <= 1e-6) {
			t.Errorf("off by %.2g", d)
		}
	})
}

// A perturbation of one sample moves no other, and its tangent is the one that it has alone.
func TestSamplesDoNotLeak(t *testing.T) {
	e := body(t, "auto")
	networks(t, func(t *testing.T, m *onnx.Model, x func(*rand.Rand, int) tensor.Tensor) {
		t.Helper()
		r := rand.New(rand.NewPCG(5, 6))
		in := m.Signature().Inputs[0].Name
		res := build(t, m, jvp.Request{Tangents: []string{in}})
		const n, k = 3, 1
		all := values{in: x(r, n), res.Inputs[0]: tensor.New(tensor.Float32, append([]int{n}, x(r, 1).Shape[1:]...)...)}
		size := len(all[in].Raw) / n
		v := x(r, 1)
		copy(all[res.Inputs[0]].Raw[k*size:], v.Raw)
		alone := values{in: {
			DType: tensor.Float32, Shape: v.Shape,
			Raw: slices.Clone(all[in].Raw[k*size : (k+1)*size]),
		}, res.Inputs[0]: v}
		run(t, e, encoded(t, res.Model), all)
		run(t, e, encoded(t, res.Model), alone)
		got := all[res.Tangents[0]]
		part := len(got.Raw) / n
		for i := range n {
			one := tensor.Tensor{
				DType: tensor.Float32, Shape: alone[res.Tangents[0]].Shape,
				Raw: got.Raw[i*part : (i+1)*part],
			}
			want := alone[res.Tangents[0]]
			if i != k {
				want = tensor.New(tensor.Float32, want.Shape...)
			}
			if d := distance(t, one, want, 1e-6); !(d <= 1e-5) {
				t.Errorf("sample %d: off by %.2g", i, d)
			}
		}
	})
}

// At every cut: the tangents of what is live there, pushed through the rest alone, arrive as those pushed through the
// whole. And a tangent injected at inner values of the whole arrives as it does through the rest.
func TestChain(t *testing.T) {
	e := oracle.Engine(oracle.Options{}) // ONNX Runtime 1.18 cannot hand out every inner value of an edited graph
	networks(t, func(t *testing.T, m *onnx.Model, x func(*rand.Rand, int) tensor.Tensor) {
		t.Helper()
		if m.Opset() < jvp.MinOpset {
			t.Skip("its parts do not know the shapes that show that the file can be stamped anew")
		}
		r := rand.New(rand.NewPCG(7, 8))
		in := m.Signature().Inputs[0].Name
		outs := onnx.Names(m.Signature().Outputs)
		whole := build(t, m, jvp.Request{Tangents: []string{in}})
		v := values{in: x(r, 2), whole.Inputs[0]: x(r, 2)}
		run(t, e, encoded(t, whole.Model), v)
		cuts := m.Cuts()
		for i := 0; i < len(cuts)-1; i += 1 + len(cuts)/9 {
			c := cuts[i]
			if len(c.Floats) == 0 {
				continue
			}
			first := build(t, m, jvp.Request{Tangents: []string{in}, Outputs: c.Floats})
			exposed, err := onnx.Load(encoded(t, first.Model))
			if err != nil {
				t.Fatal(err)
			}
			b, _, err := exposed.Expose(slices.DeleteFunc(slices.Clone(c.Live),
				func(v string) bool { return v == in })...)
			if err != nil {
				t.Fatal(err)
			}
			w := values{in: v[in], first.Inputs[0]: v[whole.Inputs[0]]}
			run(t, e, b, w)
			rest, err := m.Extract(c.Live, outs)
			if err != nil {
				t.Fatal(err)
			}
			second := build(t, rest, jvp.Request{Tangents: c.Floats})
			for k, name := range second.Inputs {
				w[name] = w[first.Tangents[k]]
			}
			run(t, e, encoded(t, second.Model), w)
			if d := distance(t, w[second.Tangents[0]], v[whole.Tangents[0]], 1e-6); !(d <= 2e-5) {
				t.Errorf("after %s: off by %.2g", c.Name, d)
			}

			// Injected into the whole model, on top of what comes from the input. Of several values one may depend on
			// another, which would then get its tangent twice.
			if len(c.Floats) != 1 || c.Floats[0] == in {
				continue
			}
			inject := build(t, m, jvp.Request{Tangents: []string{in, c.Floats[0]}})
			u := values{in: v[in], inject.Inputs[0]: v[whole.Inputs[0]], inject.Inputs[1]: w[first.Tangents[0]]}
			run(t, e, encoded(t, inject.Model), u)
			if d := distance(t, u[inject.Tangents[0]], mix(t, 2, v[whole.Tangents[0]], 0, v[whole.Tangents[0]]),
				1e-6); !(d <= 2e-5) {
				t.Errorf("injected after %s: off by %.2g", c.Name, d)
			}
		}
	})
}

// BenchmarkCost compares a run with tangents with a plain one, in batches of 16 on one thread.
func BenchmarkCost(b *testing.B) {
	for _, s := range shipped {
		m, err := onnx.Read(s.path)
		if err != nil {
			b.Fatal(err)
		}
		in := m.Signature().Inputs[0].Name
		res, err := jvp.Build(m, jvp.Request{Tangents: []string{in}})
		if err != nil {
			b.Fatal(err)
		}
		plain, err := m.Bytes()
		if err != nil {
			b.Fatal(err)
		}
		shape := s.sizes(m)
		x := noise(rand.New(rand.NewPCG(1, 1)), append([]int{16}, shape...)...)
		for _, c := range []struct {
			name  string
			model []byte
		}{{"plain", plain}, {"tangent", encoded(b, res.Model)}} {
			b.Run(filepath.Base(s.path)+"/"+c.name, func(b *testing.B) {
				e, err := bodies["auto"]()
				if err != nil {
					b.Fatal(err)
				}
				ses, err := e.Open(context.Background(), c.model, engine.Options{Threads: 1})
				if err != nil {
					b.Fatal(err)
				}
				feed := []tensor.Named{{Name: in, Tensor: x}}
				if c.name == "tangent" {
					feed = append(feed, tensor.Named{Name: res.Inputs[0], Tensor: x})
				}
				for b.Loop() {
					if _, err := ses.Run(context.Background(), feed); err != nil {
						b.Fatal(err)
					}
				}
				if err := ses.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
