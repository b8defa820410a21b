package onnx_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/internal/slow"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// anEngine is the engine that this machine has, opened once.
var anEngine = sync.OnceValues(func() (choose.Choice, error) {
	return choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
})

// runModel runs a model on values by name and adds what it returns to them.
func runModel(t rapid.TB, m *onnx.Model, values map[string]tensor.Tensor) {
	t.Helper()
	e, err := anEngine()
	if err != nil {
		t.Fatal(err)
	}
	runOn(t, e, m, values)
}

func runOn(t rapid.TB, e engine.Engine, m *onnx.Model, values map[string]tensor.Tensor) {
	t.Helper()
	b, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Open(context.Background(), b, engine.Options{Threads: 1, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	var in []tensor.Named
	for _, name := range s.Inputs() {
		v, ok := values[name]
		if !ok {
			t.Fatalf("no value %q", name)
		}
		in = append(in, tensor.Named{Name: name, Tensor: v})
	}
	out, err := s.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		values[o.Name] = o.Tensor
	}
}

// randomGraph draws a graph on values of the shape [N 4]: branches, nodes with several outputs, shapes taken from
// values, masks, constants that are computed, bodies of If that use outer values, and up to three outputs.
func randomGraph(t *rapid.T) *onnx.Model {
	b := onnx.NewBuilder(16)
	have := []string{b.Input("x", tensor.Float32, "N", 4), b.Input("y", tensor.Float32, "N", 4)}
	weights := rapid.SliceOfN(rapid.Float32Range(-1, 1), 16, 16).Draw(t, "weights")
	w := b.Op("Tanh", []string{b.Const(tensor.FromFloat32(weights, 4, 4))})
	for i := range rapid.IntRange(1, 14).Draw(t, "nodes") {
		pick := func() string { return have[rapid.IntRange(0, len(have)-1).Draw(t, fmt.Sprintf("operand of %d", i))] }
		switch rapid.IntRange(0, 8).Draw(t, fmt.Sprintf("node %d", i)) {
		case 0:
			have = append(have, b.Op("Tanh", []string{pick()}))
		case 1:
			have = append(have, b.Op("Add", []string{pick(), pick()}))
		case 2:
			have = append(have, b.Op("Mul", []string{pick(), pick()}))
		case 3:
			have = append(have, b.Op("MatMul", []string{pick(), w}))
		case 4: // two outputs, of which one may be cut and the other not
			s := b.Ops("Split", 2, []string{pick()}, onnx.AttrInt("axis", 1))
			have = append(have, b.Op("Concat", []string{s[1], s[0]}, onnx.AttrInt("axis", 1)))
		case 5: // integers between two values
			shape := b.Op("Shape", []string{pick()})
			have = append(have, b.Op("Reshape", []string{pick(), shape}))
		case 6: // a mask
			have = append(have, b.Op("Where", []string{b.Op("Greater", []string{pick(), pick()}), pick(), pick()}))
		case 7:
			have = append(have, b.Op("Softmax", []string{pick()}, onnx.AttrInt("axis", -1)))
		case 8:
			have = append(have, branch(b, pick(), pick()))
		}
	}
	outs := map[string]bool{have[len(have)-1]: true}
	for range rapid.IntRange(0, 2).Draw(t, "further outputs") {
		outs[have[rapid.IntRange(2, len(have)-1).Draw(t, "output")]] = true
	}
	for _, v := range have {
		if outs[v] {
			b.Output(v, tensor.Float32, "N", 4)
		}
	}
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// branch adds an If: v if its sum is positive, else the tanh of w. Both come from outside of the bodies.
func branch(b *onnx.Builder, v, w string) string {
	sum := b.Op("ReduceSum", []string{v}, onnx.AttrInt("keepdims", 0))
	cond := b.Op("Greater", []string{sum, b.Const(tensor.FromFloat32([]float32{0}))})
	out := b.Op("If", []string{cond})
	body := func(op, in string) *onnxpb.GraphProto {
		return &onnxpb.GraphProto{
			Name:   new(out + op),
			Node:   []*onnxpb.NodeProto{{OpType: new(op), Input: []string{in}, Output: []string{out + op}}},
			Output: []*onnxpb.ValueInfoProto{onnx.ValueInfo(out+op, tensor.Float32, "N", 4)},
		}
	}
	n := b.Graph().Node[len(b.Graph().Node)-1]
	n.Attribute = []*onnxpb.AttributeProto{
		{Name: new("then_branch"), Type: onnxpb.AttributeProto_GRAPH.Enum(), G: body("Identity", v)},
		{Name: new("else_branch"), Type: onnxpb.AttributeProto_GRAPH.Enum(), G: body("Tanh", w)},
	}
	return out
}

func drawValues(t *rapid.T) map[string]tensor.Tensor {
	values := map[string]tensor.Tensor{}
	n := rapid.IntRange(1, 3).Draw(t, "batch")
	for _, name := range []string{"x", "y"} {
		values[name] = tensor.FromFloat32(rapid.SliceOfN(rapid.Float32Range(-2, 2), 4*n, 4*n).Draw(t, name), n, 4)
	}
	return values
}

// At every cut, the part before and the part after give together what the whole gives, bit for bit: the engine
// optimizes nothing here.
func TestExtractComposes(t *testing.T) {
	slow.Test(t)
	rapid.Check(t, func(t *rapid.T) {
		m := randomGraph(t)
		whole := drawValues(t)
		runModel(t, m, whole)
		outs := onnx.Names(m.Signature().Outputs)
		cuts := m.Cuts()
		if len(cuts) != len(m.Proto().GetGraph().GetNode()) {
			t.Fatalf("%d cuts", len(cuts))
		}
		var before []string
		for k, c := range cuts {
			if k == 0 {
				before = onnx.Names(m.Signature().Inputs)
			} else {
				before = cuts[k-1].Live
			}
			if k == len(cuts)-1 || rapid.IntRange(0, 3).Draw(t, "look") == 0 {
				values := map[string]tensor.Tensor{"x": whole["x"], "y": whole["y"]}
				step := extract(t, m, onnx.Names(m.Signature().Inputs), c.Live)
				if step != nil {
					runModel(t, step, values)
				}
				rest := map[string]tensor.Tensor{}
				for _, v := range c.Live {
					rest[v] = values[v]
				}
				runModel(t, extract(t, m, c.Live, outs), rest)
				for _, o := range outs {
					if !slices.Equal(rest[o].Raw, whole[o].Raw) || !slices.Equal(rest[o].Shape, whole[o].Shape) {
						t.Fatalf("cut %d: %s differs", k, o)
					}
				}
			}
			extract(t, m, before, c.Live)
		}
	})
}

// extract cuts and checks the ports; nil if there is nothing to compute.
func extract(t rapid.TB, m *onnx.Model, in, out []string) *onnx.Model {
	t.Helper()
	if len(out) == 0 {
		return nil
	}
	p, err := m.Extract(in, out)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Signature(); !slices.Equal(onnx.Names(s.Inputs), in) || !slices.Equal(onnx.Names(s.Outputs), out) {
		t.Fatalf("ports %v %v, want %v %v", s.Inputs, s.Outputs, in, out)
	}
	b, err := p.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != p.Size() {
		t.Fatalf("%d bytes, Size says %d", len(b), p.Size())
	}
	again, err := onnx.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(again.Proto(), p.Proto()) {
		t.Fatal("the part is another one after writing and reading")
	}
	return p
}

// The live values of a real network are what is still needed: a residual block holds its input until the sum.
func TestCutsOfResidual(t *testing.T) {
	m := read(t, "residual.onnx")
	cuts := m.Cuts()
	if last := cuts[len(cuts)-1]; !slices.Equal(last.Live, onnx.Names(m.Signature().Outputs)) {
		t.Errorf("after the last node %v live", last.Live)
	}
	widest := 0
	for _, c := range cuts {
		widest = max(widest, len(c.Live))
		if !slices.Equal(c.Floats, c.Live) {
			t.Errorf("after %s: floats %v of %v", c.Name, c.Floats, c.Live)
		}
		for _, v := range c.Live {
			p, ok := m.Port(v)
			if !ok || p.DType != tensor.Float32 {
				t.Errorf("%s is %v", v, p)
			}
		}
	}
	if widest != 2 {
		t.Errorf("at most %d values live, want the block's input beside its own values", widest)
	}
}

// A model with shapes taken from values: what is no float is listed apart.
func TestCutsTellFloats(t *testing.T) {
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, "N", 4)
	s := b.Op("Shape", []string{x})
	r := b.Op("RandomNormal", nil, onnx.AttrInts("shape", 1, 4))
	k := b.Op("Exp", []string{b.Const(tensor.FromFloat32([]float32{1}))})
	y := b.Op("Relu", []string{x})
	z := b.Op("Reshape", []string{b.Op("Mul", []string{b.Op("Add", []string{y, r}), k}), s})
	b.Output(z, tensor.Float32)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	c := m.Cuts()[3]
	if !slices.Equal(c.Live, []string{s, r, y}) || !slices.Equal(c.Floats, []string{r, y}) {
		t.Errorf("live %v floats %v: shapes live, drawn numbers live, constants do not", c.Live, c.Floats)
	}
	if c.Op != "Relu" || !slices.Equal(c.Produced, []string{y}) {
		t.Errorf("%+v", c)
	}
}

func TestExtractRefuses(t *testing.T) {
	b := onnx.NewBuilder(16)
	x, y := b.Input("x", tensor.Float32, "N", 4), b.Input("other", tensor.Float32, "N", 4)
	a := b.Op("Tanh", []string{x})
	c := b.Op("Mul", []string{b.Op("Relu", []string{y}), a})
	d := b.Op("Exp", []string{c})
	b.Output(d, tensor.Float32, "N", 4)
	b.Graph().Node[1].Output[0] = "way"
	b.Graph().Node[2].Input[0] = "way"
	b.Graph().Node[0].Domain = new("org.example")
	b.Header().OpsetImport = append(b.Header().OpsetImport,
		&onnxpb.OperatorSetIdProto{Domain: new("org.example"), Version: new(int64(1))})
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		in, out []string
		want    string
		is      error
	}{
		{[]string{a}, []string{d}, `depends on the input "other", by way of "way", "` + c +
			`": add the input, or one value on each such way`, nil},
		{[]string{"x"}, []string{c}, `depends on the input "other"`, nil},
		{[]string{"x", "othre"}, []string{d}, `"othre"; the nearest is "other"`, onnx.ErrNoValue},
		{[]string{"x"}, []string{"Way"}, `the nearest is "way"`, onnx.ErrNoValue},
		{[]string{"x"}, []string{"entirely different"}, "Values lists", onnx.ErrNoValue},
		{[]string{"x", "x"}, []string{a}, "twice", nil},
		{[]string{"x"}, nil, "name at least one", nil},
		{[]string{a, "other"}, []string{d}, `the type of "` + a + `"`, nil},
	} {
		_, err := m.Extract(k.in, k.out)
		if err == nil || !strings.Contains(err.Error(), k.want) || (k.is != nil && !errors.Is(err, k.is)) {
			t.Errorf("%v to %v: %v\nwant %q", k.in, k.out, err, k.want)
		}
	}
}

// Values handed through, weights cut out, parts that need nothing, and nodes of which one output is fed: on both
// engines.
func TestExtractCorners(t *testing.T) {
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, "N", 4)
	w := b.Const(tensor.FromFloat32([]float32{1, 2, 3, 4}, 4))
	w2 := b.Op("Neg", []string{w})
	s := b.Ops("Split", 2, []string{b.Op("Mul", []string{x, w2})}, onnx.AttrInt("axis", 1))
	b.Output(b.Op("Sub", []string{s[0], s[1]}), tensor.Float32, "N", 2)
	b.Header().MetadataProps = []*onnxpb.StringStringEntryProto{{Key: new("k"), Value: new("v")}}
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	before := proto.CloneOf(m.Proto())
	out := onnx.Names(m.Signature().Outputs)[0]
	row := func(v ...float32) tensor.Tensor { return tensor.FromFloat32(v, 1, len(v)) }
	cases := []struct {
		name    string
		in, out []string
		feed    map[string]tensor.Tensor
		want    map[string][]float32
		nodes   int
	}{
		{
			"an input handed through alone",
			[]string{"x"},
			[]string{"x"},
			map[string]tensor.Tensor{"x": row(1, 2, 3, 4)},
			map[string][]float32{"x": {1, 2, 3, 4}},
			1,
		},
		{
			"an inner value handed through",
			[]string{s[0], s[1]},
			[]string{s[1], out},
			map[string]tensor.Tensor{s[0]: row(1, 2), s[1]: row(5, 7)},
			map[string][]float32{s[1]: {5, 7}, out: {-4, -5}},
			1,
		},
		{
			"one of two outputs fed",
			[]string{"x", s[0]},
			[]string{out},
			map[string]tensor.Tensor{"x": row(1, 1, 1, 1), s[0]: row(10, 20)},
			map[string][]float32{out: {13, 24}},
			4,
		},
		{
			"a weight fed",
			[]string{w, "x"},
			[]string{out},
			map[string]tensor.Tensor{"x": row(1, 1, 1, 1), w: tensor.FromFloat32([]float32{1, 1, 2, 2}, 4)},
			map[string][]float32{out: {1, 1}},
			4,
		},
		{"constants alone", nil, []string{w2}, nil, map[string][]float32{w2: {-1, -2, -3, -4}}, 1},
		{"a weight alone", nil, []string{w}, nil, map[string][]float32{w: {1, 2, 3, 4}}, 1},
		{
			"an input that is not needed",
			[]string{"x"},
			[]string{w2},
			map[string]tensor.Tensor{"x": row(0, 0, 0, 0)},
			map[string][]float32{w2: {-1, -2, -3, -4}},
			1,
		},
	}
	for _, kind := range []string{choose.Wasm, choose.Native} {
		e, err := choose.Open(t.Context(), choose.Request{Kind: kind}, choosetest.Host())
		if errors.Is(err, choose.ErrNoLibrary) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				p := extract(t, m, c.in, c.out)
				if n := len(p.Proto().GetGraph().GetNode()); n != c.nodes {
					t.Errorf("%d nodes, want %d", n, c.nodes)
				}
				values := map[string]tensor.Tensor{}
				maps.Copy(values, c.feed)
				runOn(t, e, p, values)
				for name, want := range c.want {
					got, err := values[name].Float32s()
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("%s: %v %v, want %v", name, got, err, want)
					}
				}
			})
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if !proto.Equal(before, m.Proto()) {
		t.Error("the original changed")
	}
	if p := extract(t, m, []string{"x"}, []string{out}); len(p.Signature().Metadata) != 0 {
		t.Error("the part bears metadata of the whole")
	}
}

// Functions and operator sets go along where they are called, and only there.
func TestExtractKeepsWhatIsCalled(t *testing.T) {
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, "N", 4)
	a := b.Op("Relu", []string{x})
	c := b.Op("Outer", []string{a})
	b.Output(c, tensor.Float32)
	b.Graph().Node[1].Domain = new("own")
	body := func(op, domain string) []*onnxpb.NodeProto {
		return []*onnxpb.NodeProto{{OpType: &op, Domain: &domain, Input: []string{"i"}, Output: []string{"o"}}}
	}
	h := b.Header()
	h.OpsetImport = append(h.OpsetImport, &onnxpb.OperatorSetIdProto{Domain: new("own"), Version: new(int64(1))},
		&onnxpb.OperatorSetIdProto{Domain: new("unused"), Version: new(int64(1))})
	h.Functions = []*onnxpb.FunctionProto{
		{Name: new("Inner"), Domain: new("own"), Input: []string{"i"}, Output: []string{"o"}, Node: body("Tanh", "")},
		{
			Name: new("Outer"), Domain: new("own"), Input: []string{"i"}, Output: []string{"o"},
			Node: body("Inner", "own"),
		},
		{Name: new("Never"), Domain: new("own"), Input: []string{"i"}, Output: []string{"o"}, Node: body("Tanh", "")},
	}
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	if p := extract(t, m, []string{a}, []string{c}).Proto(); len(p.GetFunctions()) != 2 ||
		len(p.GetOpsetImport()) != 2 {
		t.Errorf("%d functions and %d operator sets, want the two that are called and the two in use",
			len(p.GetFunctions()), len(p.GetOpsetImport()))
	}
	if p := extract(t, m, []string{"x"}, []string{a}).Proto(); len(p.GetFunctions()) != 0 ||
		len(p.GetOpsetImport()) != 1 {
		t.Errorf("%d functions and %d operator sets, want none and one", len(p.GetFunctions()), len(p.GetOpsetImport()))
	}
}

// Types follow from the operators as the engine sees them: every value of the shipped models is fed with the type told
// here.
func TestTypes(t *testing.T) {
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, "N", 4)
	want := map[string]tensor.DType{x: tensor.Float32}
	add := func(d tensor.DType, name string) string { want[name] = d; return name }
	half := add(tensor.Float16, b.Op("Cast", []string{x}, onnx.AttrInt("to", int64(tensor.Float16))))
	mask := add(tensor.Bool, b.Op("Greater", []string{x, x}))
	add(tensor.Float16, b.Op("Where", []string{mask, half, half}))
	shape := add(tensor.Int64, b.Op("Shape", []string{half}))
	add(tensor.Float32, b.Op("ConstantOfShape", []string{shape}))
	add(tensor.Float16, b.Op("CastLike", []string{x, half}))
	top := b.Ops("TopK", 2, []string{half, b.Ints(1)})
	add(tensor.Float16, top[0])
	add(tensor.Int64, top[1])
	add(tensor.Float64, b.Op("Constant", nil, onnx.AttrTensor("value", onnx.Stored("", tensor.New(tensor.Float64, 2)))))
	add(tensor.Int64, b.Op("Constant", nil, onnx.AttrInts("value_ints", 1, 2)))
	add(tensor.Uint8, b.Op("QuantizeLinear", []string{x, x}))
	b.Graph().Input[0].Type = onnx.ValueInfo("", tensor.Float32).GetType()
	b.Output(half, tensor.Float16)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	got := m.Types()
	for name, d := range want {
		if got[name] != d {
			t.Errorf("%s: %v, want %v", name, got[name], d)
		}
		if p, ok := m.Port(name); !ok || p.DType != d || p.Kind != "tensor" {
			t.Errorf("port %v, want %v", p, d)
		}
	}
	if _, ok := m.Port("nothing"); ok {
		t.Error("a value that is not there has a port")
	}
}
