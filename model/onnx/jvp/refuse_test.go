package jvp_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/jvp"
	"nero/model/onnx/onnxpb"
)

// graph is a model around one node under test: x goes through it, beside a Tanh that always works.
func graph(t *testing.T, opset int, op string, more []string, attrs ...*onnxpb.AttributeProto) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(opset)
	x := b.Input("x", tensor.Float32, "N", 4)
	b.Graph().Initializer = append(b.Graph().Initializer, onnx.Stored("w", tensor.FromFloat32(make([]float32, 4), 4)),
		onnx.Stored("yes", tensor.Tensor{DType: tensor.Bool, Shape: []int{}, Raw: []byte{1}}),
		onnx.Stored("i", tensor.FromInt64([]int64{0}, 1)))
	y := b.Op(op, append([]string{x}, more...), attrs...)
	b.Graph().Node[0].Name = new("the node")
	b.Output(b.Op("Tanh", []string{x}), tensor.Float32, "N", 4)
	b.Output(y, tensor.Float32, "N", 4)
	b.Graph().Output[1].Type = nil
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What has no rule is refused by the name of its node, and only when a tangent has to pass.
func TestUnsupported(t *testing.T) {
	body := &onnxpb.GraphProto{
		Name: new("g"), Node: []*onnxpb.NodeProto{{
			OpType: new("Tanh"), Input: []string{"x"},
			Output: []string{"inside"},
		}},
		Output: []*onnxpb.ValueInfoProto{onnx.ValueInfo("inside", tensor.Float32)},
	}
	branch := func(name string) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: new(name), Type: onnxpb.AttributeProto_GRAPH.Enum(), G: body}
	}
	for _, c := range []struct {
		name string
		m    *onnx.Model
		want string
	}{
		{"an operator", graph(t, 17, "Det", nil), "no rule for this operator"},
		{"an attribute", graph(t, 17, "Relu", nil, onnx.AttrInt("future", 1)), `attribute "future" is not known`},
		{
			"a tangent into an index-like input", graph(t, 17, "GridSample", []string{"x"}),
			`derivative by input 1 ("x")`,
		},
		{"training", graph(t, 17, "Dropout", []string{"", "yes"}), "training mode"},
		{
			"a reduction", graph(t, 17, "ScatterElements", []string{"i", "w"}, onnx.AttrString("reduction", "mul")),
			"the reduction mul",
		},
		{"no axes", graph(t, 17, "ReduceMax", nil, onnx.AttrInt("noop_with_empty_axes", 1)), "noop_with_empty_axes"},
		{"a norm", graph(t, 17, "LpNormalization", nil, onnx.AttrInt("p", 3)), "a norm other than 1 and 2"},
		{"columns first", graph(t, 17, "MaxPool", nil, onnx.AttrInts("kernel_shape", 2),
			onnx.AttrInt("storage_order", 1)), "storage_order"},
		{
			"half precision inside", graph(t, 17, "LayerNormalization", []string{"w"}, onnx.AttrInt("stash_type", 16)),
			"stash_type",
		},
		{"control flow", graph(t, 17, "If", nil, branch("then_branch"), branch("else_branch")), "control flow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := jvp.Build(c.m, jvp.Request{Tangents: []string{"x"}})
			e, ok := errors.AsType[*jvp.UnsupportedError](err)
			if !ok || !strings.Contains(err.Error(), c.want) || e.Node != "the node" ||
				e.Op != c.m.Proto().GetGraph().GetNode()[0].GetOpType() {
				t.Fatalf("%v\nwant %q", err, c.want)
			}
			// The other output has nothing to do with the node.
			if _, err := jvp.Build(c.m,
				jvp.Request{Tangents: []string{"x"}, Outputs: []string{c.m.Signature().Outputs[0].Name}}); err != nil {
				t.Errorf("off the way: %v", err)
			}
			// Nor has a tangent that is injected behind it.
			if _, err := jvp.Build(c.m, jvp.Request{Tangents: []string{c.m.Signature().Outputs[1].Name}}); err != nil {
				t.Errorf("behind it: %v", err)
			}
		})
	}
}

func TestForeignOperator(t *testing.T) {
	m := graph(t, 17, "Relu", nil)
	p := proto.CloneOf(m.Proto())
	p.Graph.Node[0].Domain, p.Graph.Node[0].Name = new("org.example"), nil
	p.OpsetImport = append(p.OpsetImport,
		&onnxpb.OperatorSetIdProto{Domain: new("org.example"), Version: new(int64(1))})
	out := p.Graph.Node[0].Output[0]
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	m, err = onnx.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = jvp.Build(m, jvp.Request{Tangents: []string{"x"}})
	if e, ok := errors.AsType[*jvp.UnsupportedError](err); !ok || e.Op != "org.example.Relu" || e.Node != out {
		t.Errorf("%v", err)
	}
}

func TestBadRequests(t *testing.T) {
	m := graph(t, 17, "ArgMax", nil)
	out := m.Signature().Outputs
	for _, c := range []struct {
		name string
		m    *onnx.Model
		r    jvp.Request
		want string
	}{
		{"nothing moves", m, jvp.Request{}, `name at least one, such as "x"`},
		{"no such value", m, jvp.Request{Tangents: []string{"X"}}, `no such value: "X"; the nearest is "x"`},
		{
			"no such output", m,
			jvp.Request{Tangents: []string{"x"}, Outputs: []string{"nero_Tanh"}},
			`the nearest is "` + out[0].Name,
		},
		{"twice", m, jvp.Request{Tangents: []string{"x", "x"}}, "listed twice"},
		{"integers", m, jvp.Request{Tangents: []string{"i"}}, "i int64[1] has no tangent"},
		{"an index", m, jvp.Request{Tangents: []string{"x"}, Outputs: []string{out[1].Name}}, "has no tangent"},
		{
			"too old", graph(t, 6, "Relu", nil),
			jvp.Request{Tangents: []string{"x"}},
			"operator set 13, the file uses 6; convert",
		},
		{
			"changed", graph(t, 12, "Squeeze", nil),
			jvp.Request{Tangents: []string{"x"}},
			`Squeeze (node "the node") means something else since 13; convert`,
		},
		{
			"Softmax of old", graph(t, 12, "Softmax", nil, onnx.AttrInt("axis", 0)),
			jvp.Request{Tangents: []string{"x"}},
			"Softmax",
		},
		{"too new", graph(t, 27, "Relu", nil), jvp.Request{Tangents: []string{"x"}}, "up to operator set 26"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := jvp.Build(c.m, c.r); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %q", err, c.want)
			}
		})
	}
}

// Old files are stamped anew where that changes nothing, and say so.
func TestStamp(t *testing.T) {
	e := body(t, "auto")
	for _, c := range []struct {
		opset int
		op    string
		attrs []*onnxpb.AttributeProto
	}{
		{8, "Relu", nil},
		{11, "Softmax", nil},
		{12, "LogSoftmax", []*onnxpb.AttributeProto{onnx.AttrInt("axis", -1)}},
		{12, "Dropout", nil},
	} {
		old, fresh := graph(t, c.opset, c.op, nil, c.attrs...), graph(t, 13, c.op, nil, c.attrs...)
		p := proto.CloneOf(old.Proto())
		p.IrVersion = new(int64(4))
		b, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if old, err = onnx.Load(b); err != nil {
			t.Fatal(err)
		}
		r := jvp.Request{Tangents: []string{"x"}}
		was, is := build(t, old, r), build(t, fresh, r)
		if !strings.Contains(was.Note, "stamped as 13") || is.Note != "" {
			t.Errorf("notes %q and %q", was.Note, is.Note)
		}
		v := values{
			"x":         tensor.FromFloat32([]float32{1, -2, .5, 3}, 1, 4),
			"tangent:x": tensor.FromFloat32([]float32{.3, 1, -1, 2}, 1, 4),
		}
		w := values{"x": v["x"], "tangent:x": v["tangent:x"]}
		run(t, e, encoded(t, was.Model), v)
		run(t, e, encoded(t, is.Model), w)
		for i, name := range was.Tangents {
			if d := distance(t, v[name], w[is.Tangents[i]], 1e-3); !(d <= 1e-6) {
				t.Errorf("%s %d: off by %.2g", c.op, c.opset, d)
			}
		}
	}
}

// The ports: what was there stays in its place, the new ones follow, names that are taken are passed over, and the
// model that was given is not changed.
func TestPorts(t *testing.T) {
	b := onnx.NewBuilder(17)
	x, other := b.Input("x", tensor.Float32, 1, 4), b.Input("tangent:x", tensor.Float32, "N", 4)
	w := b.Const(tensor.FromFloat32([]float32{1, 2, 3, 4}, 1, 4))
	y := b.Op("Mul", []string{b.Op("Add", []string{x, other}), w})
	k := b.Op("ArgMax", []string{y})
	b.Output(y, tensor.Float32, "N", 4)
	b.Output(k, tensor.Int64, 1, 4)
	b.Output(x, tensor.Float32, 1, 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	before := proto.CloneOf(m.Proto())
	res := build(t, m, jvp.Request{Tangents: []string{"x", w}})
	if !proto.Equal(before, m.Proto()) {
		t.Error("the model changed")
	}
	d, err := onnx.Load(encoded(t, res.Model))
	if err != nil {
		t.Fatal(err)
	}
	s := d.Signature()
	if got, want := onnx.Names(s.Inputs), append([]string{"x", "tangent:x"}, res.Inputs...); !slices.Equal(got, want) ||
		res.Inputs[0] != "tangent:x_" {
		t.Errorf("inputs %v, want %v", got, want)
	}
	if got, want := onnx.Names(s.Outputs), append([]string{y, k, "x"}, res.Tangents...); !slices.Equal(got, want) {
		t.Errorf("outputs %v, want %v", got, want)
	}
	if !slices.Equal(res.Outputs, []string{y, "x"}) {
		t.Errorf("derivatives of %v: the index has none", res.Outputs)
	}
	if a, c := s.Inputs[2].ShapeString(), s.Inputs[3].ShapeString(); a != "[? 4]" || c != "[1 4]" {
		t.Errorf("shapes %s and %s: the first axis is free, but not that of stored tensors", a, c)
	}
	v := values{
		"x":           tensor.FromFloat32([]float32{1, 1, 1, 1}, 1, 4),
		"tangent:x":   tensor.FromFloat32([]float32{0, 1, 2, 3}, 1, 4),
		res.Inputs[0]: tensor.FromFloat32([]float32{1, 0, 2, 0}, 1, 4),
		res.Inputs[1]: tensor.FromFloat32([]float32{1, 1, 0, 0}, 1, 4),
	}
	run(t, body(t, "auto"), encoded(t, res.Model), v)
	if got, want := floats(t, v[res.Tangents[0]]), []float64{2, 2, 6, 0}; !slices.Equal(got, want) {
		t.Errorf("tangent %v, want dx·w + (x + other)·dw = %v", got, want)
	}
	if got := floats(t, v[res.Tangents[1]]); !slices.Equal(got, []float64{1, 0, 2, 0}) {
		t.Errorf("an output that is an input has the tangent %v", got)
	}
}

// What no perturbation reaches has a tangent of zeros, of the right shape.
func TestUnreached(t *testing.T) {
	m := graph(t, 17, "Floor", nil)
	res := build(t, m, jvp.Request{Tangents: []string{"x"}, Outputs: []string{m.Signature().Outputs[1].Name, "w", "x"}})
	one := tensor.FromFloat32([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4)
	v := values{"x": one, res.Inputs[0]: one}
	run(t, body(t, "auto"), encoded(t, res.Model), v)
	for i, want := range []tensor.Tensor{tensor.New(tensor.Float32, 2, 4), tensor.New(tensor.Float32, 4), one} {
		if d := distance(t, v[res.Tangents[i]], want, 1); d != 0 {
			t.Errorf("%s: off by %g", res.Outputs[i], d)
		}
	}
}

// The types of tangents are those of their values.
func TestTypes(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float64, "N", 4)
	y := b.Op("Mul", []string{b.Op("Relu", []string{x}), b.Op("Sigmoid", []string{x})})
	b.Output(b.Op("Softmax", []string{y}), tensor.Float64, "N", 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	res := build(t, m, jvp.Request{Tangents: []string{"x"}})
	v := values{"x": float64s([]float64{.1, -2, 1, .3}, 1, 4), res.Inputs[0]: float64s([]float64{1, 1, -1, 2}, 1, 4)}
	w := values{"x": v["x"], res.Inputs[0]: v[res.Inputs[0]]}
	run(t, body(t, "auto"), encoded(t, res.Model), v)
	exact(t, encoded(t, res.Model), w)
	if d := distance(t, v[res.Tangents[0]], w[res.Tangents[0]], 1e-3); v[res.Tangents[0]].DType != tensor.Float64 ||
		!(d <= 1e-13) {
		t.Errorf("%v, off by %.2g", v[res.Tangents[0]].DType, d)
	}
}

// A node without inputs, and a value whose type the file does not say, are refused or given the type of the tangents;
// neither is a panic.
func TestLacking(t *testing.T) {
	old := onnx.NewBuilder(11)
	old.Input("x", tensor.Float32, 2, 3)
	old.Output(old.Op("Softmax", nil), tensor.Float32, 2, 3)
	unknown := onnx.NewBuilder(17)
	unknown.Input("x", tensor.Float32, 2, 3)
	y := unknown.Op("Foreign", []string{unknown.Const(tensor.FromFloat32([]float32{1}, 1))})
	unknown.Output(unknown.Op("Max", []string{"x", y}), tensor.Float32, 2, 3)
	for name, b := range map[string]*onnx.Builder{"no inputs": old, "unknown type": unknown} {
		m, err := b.Model()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r, err := jvp.Build(m, jvp.Request{Tangents: []string{"x"}}); err == nil && r == nil {
			t.Errorf("%s: neither a graph nor an error", name)
		}
	}
}
