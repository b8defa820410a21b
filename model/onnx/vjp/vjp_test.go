package vjp_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/vjp"
	"nero/model/oracle"
)

// Every operator with a rule has a fixture that it is on the path of.
func TestSupportedIsTested(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range groups {
		for _, f := range fixtures(t, g) {
			m, err := onnx.Load(f.model)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range m.Proto().GetGraph().GetNode() {
				seen[n.GetOpType()] = true
			}
		}
	}
	for _, op := range vjp.Supported() {
		if !seen[op] {
			t.Errorf("no fixture has %s", op)
		}
	}
}

// liberated is the model with its parameters as inputs, so that they can be varied.
func liberated(t rapid.TB, m *onnx.Model, names []string) *onnx.Model {
	b := m.Edit()
	g := b.Graph()
	g.Initializer = slices.DeleteFunc(g.GetInitializer(), func(p *onnxpb.TensorProto) bool {
		if !slices.Contains(names, p.GetName()) ||
			slices.ContainsFunc(g.GetInput(),
				func(v *onnxpb.ValueInfoProto) bool { return v.GetName() == p.GetName() }) {
			return false
		}
		var axes []any
		for _, d := range p.GetDims() {
			axes = append(axes, int(d))
		}
		g.Input = append(g.Input, onnx.ValueInfo(p.GetName(), tensor.DType(p.GetDataType()), axes...))
		return true
	})
	out, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// graph is a model run in float64.
type graph struct {
	*oracle.Graph
	t rapid.TB
}

func inFloat64(t rapid.TB, m *onnx.Model) graph {
	g, err := oracle.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	return graph{g, t}
}

func (g graph) run(in map[string]tensor.Tensor) map[string]tensor.Named {
	var feed []tensor.Named
	for _, n := range g.Inputs() {
		feed = append(feed, tensor.Named{Name: n, Tensor: in[n]})
	}
	out, err := g.Run(context.Background(), feed, oracle.Options{})
	if err != nil {
		g.t.Fatal(err)
	}
	m := map[string]tensor.Named{}
	for _, o := range out {
		m[o.Name] = o
	}
	return m
}

func floats(t rapid.TB, x tensor.Tensor) []float64 {
	v, err := x.Float64s(nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(v)
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// For every operator and model, at random points and along random directions d of all inputs and parameters at once:
// <gradient, d> is the central difference of Σ c·y, in float64.
func TestCentralDifferences(t *testing.T) {
	var cases []*fixture
	for _, g := range groups {
		for _, f := range fixtures(t, g) {
			// fixtures at kinks have no derivative to compare with
			if !strings.Contains(f.name, "kink") && !strings.Contains(f.name, "ties") &&
				!strings.Contains(f.name, "zero") || strings.HasPrefix(f.name, "gridsample") {
				cases = append(cases, f)
			}
		}
	}
	next := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 1 + len(cases)/100 { // in turn, so that every case is seen in rapid's hundred checks
			checkDirection(t, cases[next%len(cases)], rapid.Uint64().Draw(t, "seed"))
			next++
		}
	})
}

func checkDirection(t *rapid.T, f *fixture, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m, err := onnx.Load(f.model)
	if err != nil {
		t.Fatal(err)
	}
	wrt := f.wrt()
	m = liberated(t, m, wrt)
	shapes := map[string][]int{}
	for _, p := range m.Signature().Inputs {
		shapes[p.Name] = p.Sizes()
	}
	sh, err := vjp.Shapes(context.Background(), m, nil,
		func(_ context.Context, model []byte, in []tensor.Named) ([]tensor.Named, error) {
			m, err := onnx.Load(model)
			if err != nil {
				return nil, err
			}
			g, err := oracle.Load(m)
			if err != nil {
				return nil, err
			}
			return g.Run(context.Background(), in, oracle.Options{})
		})
	if err != nil {
		t.Fatal(f.name, err)
	}
	r, err := vjp.Build(m, sh, vjp.Request{Wrt: wrt})
	if err != nil {
		t.Fatal(f.name, err)
	}
	back, err := onnx.Load(encoded(t, r.Model))
	if err != nil {
		t.Fatal(f.name, err)
	}
	stored := map[string]tensor.Tensor{}
	orig, err := onnx.Load(f.model)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range orig.Proto().GetGraph().GetInitializer() {
		if slices.Contains(wrt, p.GetName()) {
			if stored[p.GetName()], err = onnx.Value(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	at := map[string]tensor.Tensor{r.Cotangent: f.v}
	dir := map[string][]float64{}
	maps.Copy(at, f.in)
	for _, name := range wrt {
		x, ok := at[name]
		if !ok {
			x = stored[name]
		}
		v, d := floats(t, x), make([]float64, x.Len())
		for i := range v {
			v[i] *= 1 + .01*rng.Float64() // elsewhere, yet not outside the domain
			d[i] = rng.NormFloat64()
		}
		at[name], dir[name] = doubles(v, x.Shape...), d
	}
	grads := inFloat64(t, back).run(at)
	var want, size float64
	for i, name := range wrt {
		if got, want := grads[r.Gradients[i]].Shape, at[name].Shape; !slices.Equal(got, want) {
			t.Fatalf("%s: the gradient by %s has the shape %v, want %v", f.name, name, got, want)
		}
		g := floats(t, grads[r.Gradients[i]].Tensor)
		want += dot(g, dir[name])
		size += math.Sqrt(dot(g, g) * dot(dir[name], dir[name]))
	}
	forward, out := inFloat64(t, m), m.Signature().Outputs[0].Name
	value := func(h float64) float64 {
		moved := map[string]tensor.Tensor{}
		for name, x := range at {
			v := floats(t, x)
			for i := range dir[name] {
				v[i] += h * dir[name][i]
			}
			if moved[name] = x; dir[name] != nil {
				moved[name] = doubles(v, x.Shape...)
			}
		}
		return dot(floats(t, forward.run(moved)[out].Tensor), floats(t, f.v))
	}
	var got float64
	for _, h := range []float64{1e-6, 1e-8} { // the longer step may cross a kink of a network
		if got = (value(h) - value(-h)) / (2 * h); math.Abs(got-want) <= 1e-6*size+1e-8 {
			return
		}
	}
	t.Fatalf("%s: along a direction the output grows by %g, the gradient says %g (its size is %g)", f.name, got, want,
		size)
}

func one(tb testing.TB, group, name string) *fixture {
	tb.Helper()
	for _, f := range fixtures(tb, group) {
		if f.name == name {
			return f
		}
	}
	tb.Fatalf("no fixture %s/%s", group, name)
	return nil
}

// rows picks rows of an array along its first axis.
func rows(x tensor.Tensor, pick []int) tensor.Tensor {
	w := len(x.Raw) / x.Shape[0]
	out := tensor.New(x.DType, append([]int{len(pick)}, x.Shape[1:]...)...)
	for i, k := range pick {
		copy(out.Raw[i*w:], x.Raw[k*w:(k+1)*w])
	}
	return out
}

// One file serves every batch size, and what a sample's gradient is does not depend on the others: gradients by the
// input of any selection of samples are the selection of the gradients. Parameters get the sum over the samples.
func TestBatches(t *testing.T) {
	for _, name := range []string{
		"digits_average", "digits_max", "resnet", "pointnet", "transformer", "transformer_17",
		"unet", "depthwise",
	} {
		t.Run(name, func(t *testing.T) {
			f := one(t, "models", name)
			m, err := onnx.Load(f.model)
			if err != nil {
				t.Fatal(err)
			}
			r, err := vjp.Build(m, shapesOf(t, m), vjp.Request{Wrt: f.wrt()})
			if err != nil {
				t.Fatal(err)
			}
			back, err := onnx.Load(encoded(t, r.Model))
			if err != nil {
				t.Fatal(err)
			}
			g := inFloat64(t, back)
			gradients := func(pick ...int) map[string][]float64 {
				got := g.run(map[string]tensor.Tensor{"x": rows(f.in["x"], pick), r.Cotangent: rows(f.v, pick)})
				out := map[string][]float64{}
				for i, w := range f.wrt() {
					out[w] = floats(t, got[r.Gradients[i]].Tensor)
				}
				return out
			}
			var single []map[string][]float64
			for k := range 3 {
				single = append(single, gradients(k))
			}
			pick := []int{2, 0, 1, 1, 0, 2, 2}
			seven := gradients(pick...)
			for _, w := range f.wrt() {
				var want []float64
				for _, k := range pick {
					if w == "x" {
						want = append(want, single[k][w]...)
						continue
					}
					for i, v := range single[k][w] {
						if len(want) <= i {
							want = append(want, 0)
						}
						want[i] += v
					}
				}
				if e := distance(t, seven[w], want); !(e <= 1e-12) {
					t.Errorf("the gradient by %s of seven samples differs from those of the samples by %.1e", w, e)
				}
			}
		})
	}
}

// chain builds a small model on an input x of shape N×2.
func chain(tb testing.TB, opset int, add func(b *onnx.Builder) (out string)) *onnx.Model {
	tb.Helper()
	b := onnx.NewBuilder(opset)
	b.Input("x", tensor.Float32, "N", 2)
	b.Output(add(b), tensor.Float32, "N", 2)
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// grad builds and runs the gradient of a chain at x, for a cotangent of ones.
func grad(tb testing.TB, m *onnx.Model, req vjp.Request, x ...float32) []float64 {
	tb.Helper()
	r, err := vjp.Build(m, shapesOf(tb, m), req)
	if err != nil {
		tb.Fatal(err)
	}
	ones := make([]float32, len(x))
	for i := range ones {
		ones[i] = 1
	}
	return exactly(tb, encoded(tb, r.Model), map[string]tensor.Tensor{
		"x":         tensor.FromFloat32(x, len(x)/2, 2),
		r.Cotangent: tensor.FromFloat32(ones, len(x)/2, 2),
	})[r.Gradients[0]]
}

// A value that is used several times gets all of it: y = x·x + x, and a shortcut around two layers.
func TestBranchesAddUp(t *testing.T) {
	m := chain(t, 16, func(b *onnx.Builder) string {
		return b.Op("Add", []string{b.Op("Mul", []string{"x", "x"}), "x"})
	})
	if got := grad(t, m, vjp.Request{Wrt: []string{"x"}}, 3, -2); !slices.Equal(got, []float64{7, -3}) {
		t.Errorf("got %v, want 2x+1", got)
	}
	m = chain(t, 16, func(b *onnx.Builder) string {
		two := b.Const(tensor.FromFloat32([]float32{2}, 1))
		h := b.Op("Mul", []string{b.Op("Exp", []string{"x"}), two})
		return b.Op("Sub", []string{b.Op("Add", []string{h, "x"}), b.Op("Mul", []string{h, two})})
	})
	got := grad(t, m, vjp.Request{Wrt: []string{"x"}}, 1, 0)
	if want := []float64{1 - 2*math.E, -1}; distance(t, got, want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Nodes without a rule do not matter off the path; on it all of them are named.
func TestRefusals(t *testing.T) {
	build := func(add func(b *onnx.Builder) string, wrt ...string) error {
		m := chain(t, 16, add)
		_, err := vjp.Build(m, shapesOf(t, m), vjp.Request{Wrt: wrt})
		return err
	}
	node := func(b *onnx.Builder, name, op string, in []string, at ...*onnxpb.AttributeProto) string {
		out := b.Op(op, in, at...)
		g := b.Graph()
		g.Node[len(g.GetNode())-1].Name = &name
		return out
	}
	// before x's path: the parameter's own branch is not differentiated
	err := build(func(b *onnx.Builder) string {
		w := node(b, "off", "Det", []string{b.Const(tensor.FromFloat32([]float32{1, 0, 0, 1}, 2, 2))})
		return b.Op("Mul", []string{"x", w})
	}, "x")
	if err != nil {
		t.Error(err)
	}
	// beside the path: a second output of the model
	m := chain(t, 16, func(b *onnx.Builder) string {
		b.Output(node(b, "beside", "Det", []string{"x"}), tensor.Float32)
		return b.Op("Exp", []string{"x"})
	})
	if _, err := vjp.Build(m, map[string][]int{"x": {4, 2}, m.Signature().Outputs[1].Name: {4, 2}},
		vjp.Request{Output: m.Signature().Outputs[1].Name, Wrt: []string{"x"}}); err != nil {
		t.Error(err)
	}
	var refused *vjp.UnsupportedError
	err = build(func(b *onnx.Builder) string {
		h := node(b, "first", "Mod", []string{"x", "x"}, onnx.AttrInt("fmod", 1))
		h = node(b, "fine", "Exp", []string{h})
		return node(b, "second", "BitShift", []string{h, h}, onnx.AttrString("direction", "LEFT"))
	}, "x")
	if !errors.As(err, &refused) || len(refused.All) != 2 || refused.Node != "first" || refused.Op != "Mod" ||
		refused.All[1].Node != "second" {
		t.Errorf("got %v, want both nodes named", err)
	}
	for _, c := range []struct {
		what string
		add  func(b *onnx.Builder) string
		want string
	}{
		{"an unknown attribute", func(b *onnx.Builder) string {
			return node(b, "n", "Relu", []string{"x"}, onnx.AttrInt("leak", 1))
		}, "leak"},
		{"dropout in training", func(b *onnx.Builder) string {
			return node(b, "n", "Dropout",
				[]string{"x", "", b.Const(tensor.Tensor{DType: tensor.Bool, Raw: []byte{1}})})
		}, "training"},
		{"half precision", func(b *onnx.Builder) string {
			return node(b, "n", "Cast", []string{node(b, "h", "Cast", []string{"x"}, onnx.AttrInt("to", 10))},
				onnx.AttrInt("to", 1))
		}, "float16"},
		{"a gradient by Clip's bound", func(b *onnx.Builder) string {
			return node(b, "n", "Clip", []string{b.Const(tensor.FromFloat32([]float32{1, 2}, 1, 2)), "x"})
		}, "input 1"},
		{"a second output", func(b *onnx.Builder) string {
			s := b.Const(tensor.FromFloat32([]float32{1, 1}, 2))
			out := b.Ops("LayerNormalization", 3, []string{"x", s})
			return b.Op("Add", []string{"x", out[1]})
		}, "output 1"},
		{"a foreign operator", func(b *onnx.Builder) string {
			out := node(b, "n", "Relu", []string{"x"})
			b.Graph().Node[0].Domain = new("com.example")
			return out
		}, "com.example"},
		{"a missing input", func(b *onnx.Builder) string { return node(b, "n", "Mul", []string{"x"}) }, "missing"},
		{"an ellipsis", func(b *onnx.Builder) string {
			return node(b, "n", "Einsum", []string{"x"}, onnx.AttrString("equation", "...i->...i"))
		}, "ellipsis"},
	} {
		m := chain(t, 17, c.add)
		shapes := map[string][]int{}
		for _, v := range m.Values() {
			shapes[v] = []int{4, 2}
		}
		for _, p := range append(m.Signature().Inputs, m.Signature().Outputs...) {
			shapes[p.Name] = []int{4, 2}
		}
		_, err := vjp.Build(m, shapes, vjp.Request{Wrt: []string{"x"}})
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a refusal that mentions %q", c.what, err, c.want)
		}
	}
}

// If reads outer values inside its branches: the path goes through it.
func TestSubgraphsAreOnThePath(t *testing.T) {
	m := chain(t, 16, func(b *onnx.Builder) string {
		branch := func(op string) *onnxpb.AttributeProto {
			name := map[string]string{"Exp": "then_branch", "Neg": "else_branch"}[op]
			g := &onnxpb.GraphProto{
				Name: new(op), Node: []*onnxpb.NodeProto{{
					OpType: new(op), Input: []string{"x"},
					Output: []string{op + "_out"},
				}},
				Output: []*onnxpb.ValueInfoProto{onnx.ValueInfo(op+"_out", tensor.Float32, "N", 2)},
			}
			return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_GRAPH.Enum(), G: g}
		}
		some := b.Op("ReduceMax", []string{"x"}, onnx.AttrInt("keepdims", 0))
		return b.Op("If", []string{b.Op("Greater", []string{some, b.Const(tensor.FromFloat32([]float32{0}))})},
			branch("Exp"), branch("Neg"))
	})
	var refused *vjp.UnsupportedError
	if _, err := vjp.Build(m, map[string][]int{"x": {4, 2}, m.Signature().Outputs[0].Name: {4, 2}},
		vjp.Request{Wrt: []string{"x"}}); !errors.As(err, &refused) || refused.Op != "If" {
		t.Errorf("got %v, want a refusal of If", err)
	}
}

func TestBadRequests(t *testing.T) {
	m := chain(t, 16, func(b *onnx.Builder) string {
		b.Const(tensor.FromFloat32([]float32{1}, 1)) // nero_const_1, unused
		return b.Op("Exp", []string{b.Op("Floor", []string{"x"})})
	})
	shapes := shapesOf(t, m)
	two := chain(t, 16, func(b *onnx.Builder) string {
		b.Output(b.Op("Neg", []string{"x"}), tensor.Float32, "N", 2)
		return b.Op("Exp", []string{"x"})
	})
	for _, c := range []struct {
		m      *onnx.Model
		shapes map[string][]int
		req    vjp.Request
		want   string
	}{
		{m, shapes, vjp.Request{Wrt: []string{"x"}}, "no gradient path"},
		{m, shapes, vjp.Request{Wrt: []string{"nero_const_1"}}, "no gradient path"},
		{m, shapes, vjp.Request{}, "nothing to differentiate by"},
		{m, shapes, vjp.Request{Wrt: []string{"z"}}, `no value "z"`},
		{m, shapes, vjp.Request{Wrt: []string{"x", "x"}}, "twice"},
		{m, shapes, vjp.Request{Output: "z", Wrt: []string{"x"}}, `no value "z"`},
		{m, map[string][]int{"x": {1, 2}}, vjp.Request{Wrt: []string{"x"}}, "at least 2"},
		{m, map[string][]int{"x": {4, 2}}, vjp.Request{Wrt: []string{"x"}}, "not known"},
		{two, shapesOf(t, two), vjp.Request{Wrt: []string{"x"}}, "2 outputs"},
	} {
		if _, err := vjp.Build(c.m, c.shapes, c.req); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.req, err, c.want)
		}
	}
	if _, err := vjp.Build(m, shapes, vjp.Request{Wrt: []string{"x"}}); !errors.Is(err, vjp.ErrNoPath) {
		t.Errorf("got %v, want ErrNoPath", err)
	}
}

// The rule of MaxPool does the work of a Relu before it. It must not where the value between is used otherwise.
func TestPoolAfterRelu(t *testing.T) {
	b := onnx.NewBuilder(16)
	b.Input("x", tensor.Float32, "N", 1, 4)
	r := b.Op("Relu", []string{"x"})
	p := b.Op("MaxPool", []string{r}, onnx.AttrInts("kernel_shape", 2), onnx.AttrInts("strides", 2))
	plain := b.Op("ReduceSum", []string{p, b.Ints(2)}, onnx.AttrInt("keepdims", 0))
	both := b.Op("Add", []string{plain, b.Op("ReduceSum", []string{b.Op("Exp", []string{r}), b.Ints(2)},
		onnx.AttrInt("keepdims", 0))})
	b.Output(plain, tensor.Float32, "N", 1)
	b.Output(both, tensor.Float32, "N", 1)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		output, by string
		want       []float64
	}{
		{plain, "x", []float64{0, 1, 0, 0}},
		{plain, r, []float64{0, 1, 1, 0}}, // the first of the two zeros
		{both, "x", []float64{math.E, 1 + math.Exp(2), 0, 0}},
		{both, r, []float64{math.E, 1 + math.Exp(2), 2, 1}},
	} {
		res, err := vjp.Build(m, shapesOf(t, m), vjp.Request{Output: c.output, Wrt: []string{c.by}})
		if err != nil {
			t.Fatal(err)
		}
		got := exactly(t, encoded(t, res.Model), map[string]tensor.Tensor{
			"x":           tensor.FromFloat32([]float32{1, 2, -1, -3}, 1, 1, 4),
			res.Cotangent: tensor.FromFloat32([]float32{1}, 1, 1),
		})
		if e := distance(t, got[res.Gradients[0]], c.want); !(e <= 1e-12) {
			t.Errorf("of %s by %s: got %v, want %v", c.output, c.by, got[res.Gradients[0]], c.want)
		}
	}
}

// The batch axis stays free whatever shape is given; other free axes are fixed to it, since the gradient is built for
// them.
func TestFreeAxes(t *testing.T) {
	b := onnx.NewBuilder(16)
	b.Input("x", tensor.Float32, "N", "L")
	b.Output(b.Op("Mul", []string{"x", b.Const(tensor.FromFloat32([]float32{2}, 1))}), tensor.Float32, "N", "L")
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vjp.Shapes(context.Background(), m, nil, nil); err == nil {
		t.Error("the length of L is needed and was not asked for")
	}
	for _, given := range [][]int{{1, 1}, {1}, {7, 3}} {
		shapes, err := vjp.Shapes(context.Background(), m, given, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := vjp.Build(m, shapes, vjp.Request{Wrt: []string{"x"}})
		if err != nil {
			t.Fatal(err)
		}
		back, err := onnx.Load(encoded(t, r.Model))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := back.Signature().Inputs[0].Sizes(), []int{-1, given[len(given)-1]}; !slices.Equal(got, want) {
			t.Errorf("shape %v given: the input became %v, want %v", given, got, want)
		}
	}
	b.Graph().GetInput()[0].GetType().GetTensorType().Shape = nil // a file that does not say
	if m, err = b.Model(); err != nil {
		t.Fatal(err)
	}
	r, err := vjp.Build(m, map[string][]int{"x": {4, 3}, m.Signature().Outputs[0].Name: {4, 3}},
		vjp.Request{Wrt: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = onnx.Load(encoded(t, r.Model)); err != nil {
		t.Fatal(err)
	}
	if got := m.Signature().Inputs[0].Sizes(); !slices.Equal(got, []int{-1, 3}) {
		t.Errorf("an input without a shape became %v, want a free axis and 3", got)
	}
}

// Inner values can be differentiated and differentiated by; names that are taken are avoided.
func TestInnerValues(t *testing.T) {
	b := onnx.NewBuilder(16)
	b.Input("x", tensor.Float32, "N", 2)
	g := b.Graph()
	for i, op := range []string{"Exp", "Sin", "Neg"} {
		in, out := []string{"x", "cotangent", "grad:cotangent"}[i], []string{"cotangent", "grad:cotangent", "y"}[i]
		g.Node = append(g.Node, &onnxpb.NodeProto{OpType: &op, Input: []string{in}, Output: []string{out}})
	}
	b.Output("y", tensor.Float32, "N", 2)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := grad(t, m, vjp.Request{Wrt: []string{"cotangent"}}, 0, 1),
		[]float64{-math.Cos(1), -math.Cos(math.E)}; distance(t, got, want) > 1e-12 {
		t.Errorf("by an inner value: got %v, want %v", got, want)
	}
	if got, want := grad(t, m, vjp.Request{Output: "cotangent", Wrt: []string{"x"}}, 0, 1),
		[]float64{1, math.E}; distance(t, got, want) > 1e-12 {
		t.Errorf("of an inner value: got %v, want %v", got, want)
	}
	if got := grad(t, m, vjp.Request{Wrt: []string{"y"}}, 0, 1); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("by the output itself: got %v, want the cotangent", got)
	}
}

// Models of operator sets before 16 are re-stamped where that changes nothing, and refused where it does.
func TestOldOperatorSets(t *testing.T) {
	exp := func(b *onnx.Builder) string { return b.Op("Exp", []string{"x"}) }
	for _, v := range []int{11, 12, 13, 15} {
		m := chain(t, v, exp)
		r, err := vjp.Build(m, shapesOf(t, m), vjp.Request{Wrt: []string{"x"}})
		if err != nil {
			t.Fatal(err)
		}
		back, err := onnx.Load(encoded(t, r.Model))
		if err != nil || back.Opset() != 16 || !strings.Contains(r.Note, strconv.Itoa(v)) {
			t.Errorf("operator set %d became %d (%q), %v", v, back.Opset(), r.Note, err)
		}
	}
	softmax := func(b *onnx.Builder) string { return b.Op("Softmax", []string{"x"}) }
	for v, c := range map[int]struct {
		add  func(b *onnx.Builder) string
		want string
	}{12: {softmax, "opset_version"}, 10: {exp, "opset_version"}, vjp.MaxOpset + 1: {exp, "opset_version"}} {
		m := chain(t, v, c.add)
		if _, err := vjp.Build(m, map[string][]int{"x": {4, 2}}, vjp.Request{Wrt: []string{"x"}}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("operator set %d: got %v, want a remedy", v, err)
		}
	}
	m := chain(t, 13, softmax)
	if _, err := vjp.Build(m, shapesOf(t, m), vjp.Request{Wrt: []string{"x"}}); err != nil {
		t.Error(err)
	}
}

// The model itself is not touched, and its own outputs stay first.
func TestModelStays(t *testing.T) {
	f := one(t, "models", "digits_max")
	m, err := onnx.Load(f.model)
	if err != nil {
		t.Fatal(err)
	}
	before := proto.CloneOf(m.Proto())
	r, err := vjp.Build(m, shapesOf(t, m), vjp.Request{Wrt: f.wrt()})
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(before, m.Proto()) {
		t.Error("the model was changed")
	}
	back, err := onnx.Load(encoded(t, r.Model))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := onnx.Names(back.Signature().Outputs),
		append(onnx.Names(m.Signature().Outputs), r.Gradients...); !slices.Equal(got, want) {
		t.Errorf("outputs %v, want %v", got, want)
	}
	if got, want := onnx.Names(back.Signature().Inputs),
		append(onnx.Names(m.Signature().Inputs), r.Cotangent); !slices.Equal(got, want) {
		t.Errorf("inputs %v, want %v", got, want)
	}
}

// Shapes that do not fit the nodes, and nodes that lack inputs or attributes, are refused or make a graph that no
// engine takes; they never panic.
func TestDamagedModels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, g := range groups {
		for _, f := range fixtures(t, g) {
			m, err := onnx.Load(f.model)
			if err != nil {
				t.Fatal(err)
			}
			shapes := shapesOf(t, m)
			names := slices.Sorted(maps.Keys(shapes))
			for range 4 {
				name := names[rng.IntN(len(names))]
				s := shapes[name]
				other := [][]int{nil, {}, {3}, append(slices.Clone(s), 3), s[:max(0, len(s)-1)], make([]int, len(s))}
				bad := maps.Clone(shapes)
				if bad[name] = other[rng.IntN(len(other))]; bad[name] == nil {
					delete(bad, name)
				}
				_, _ = vjp.Build(m, bad, vjp.Request{Wrt: f.wrt()})
			}
			for range 4 {
				b := m.Edit()
				n := b.Graph().GetNode()[rng.IntN(len(b.Graph().GetNode()))]
				switch k := rng.IntN(3); {
				case k == 0 && len(n.GetInput()) > 0:
					n.Input = n.GetInput()[:len(n.GetInput())-1]
				case k == 1 && len(n.GetInput()) > 0:
					n.Input[rng.IntN(len(n.GetInput()))] = ""
				case len(n.GetAttribute()) > 0:
					a := n.GetAttribute()[rng.IntN(len(n.GetAttribute()))]
					a.I, a.Ints, a.S, a.F, a.T = new(int64(rng.IntN(9)-4)), []int64{int64(rng.IntN(9) - 4)},
						[]byte("odd"), nil, nil
				}
				if d, err := b.Model(); err == nil {
					_, _ = vjp.Build(d, shapes, vjp.Request{Wrt: f.wrt()})
				}
			}
		}
	}
}

// The same request gives the same bytes.
func TestSameBytes(t *testing.T) {
	b := onnx.NewBuilder(16)
	b.Input("x", tensor.Float32, 3, "N", 2)
	number := func(shape ...int) string {
		x := make([]float32, tensor.Count(shape))
		for i := range x {
			x[i] = float32(i%7) / 7
		}
		return b.Const(tensor.FromFloat32(x, shape...))
	}
	w, r, bias := number(2, 8, 2), number(2, 8, 2), number(2, 16)
	y := b.Ops("LSTM", 1, []string{"x", w, r, bias}, onnx.AttrInt("hidden_size", 2),
		onnx.AttrString("direction", "bidirectional"))[0]
	b.Output(y, tensor.Float32, 3, 2, "N", 2)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	shapes, err := vjp.Shapes(t.Context(), m, []int{3, vjp.Samples, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for range 20 {
		g, err := vjp.Build(m, shapes, vjp.Request{Wrt: []string{w, r, bias}})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = encoded(t, g.Model)
		}
		if !bytes.Equal(first, encoded(t, g.Model)) {
			t.Fatal("another graph for the same request")
		}
	}
}
