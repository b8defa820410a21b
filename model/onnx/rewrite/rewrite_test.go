package rewrite_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
)

// Numbers that only the nodes in question read are replaced under their name; others that read them keep what was
// there,
// and what nobody reads any more goes, with the nodes that hold it.
func TestReplace(t *testing.T) {
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, 2)
	shared := b.Const(tensor.FromFloat32([]float32{1, 2}, 2))
	inline := b.Op("Constant", nil, onnx.AttrTensor("value", onnx.Stored("", tensor.FromFloat32([]float32{3, 4}, 2))))
	y := b.Op("Add", []string{x, shared})
	y = b.Op("Mul", []string{y, shared})
	b.Output(b.Op("Sub", []string{y, inline}), tensor.Float32, 2)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	other := tensor.FromFloat32([]float32{5, 6}, 2)
	for _, c := range []struct {
		name          string
		nodes         []int
		stored, nodeN int
	}{
		{shared, []int{1, 2}, 1, 4},
		{shared, []int{2}, 2, 4},
		{inline, []int{3}, 2, 3},
	} {
		s := rewrite.Keep(m)
		s.Replace(c.name, other, c.nodes...)
		made, err := s.Model()
		if err != nil {
			t.Fatal(err)
		}
		g := made.Proto().GetGraph()
		if len(g.GetInitializer()) != c.stored || len(g.GetNode()) != c.nodeN {
			t.Errorf("%s in %v: %d stored, %d nodes", c.name, c.nodes, len(g.GetInitializer()), len(g.GetNode()))
		}
		values := map[string][]float64{}
		for _, i := range g.GetInitializer() {
			v, err := onnx.Value(i)
			if err != nil {
				t.Fatal(err)
			}
			if values[i.GetName()], err = v.Float64s(nil); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string][]float64{"Add": {1, 2}, "Mul": {1, 2}, "Sub": {5, 6}}
		if c.name == shared {
			want["Mul"] = []float64{5, 6}
			if len(c.nodes) == 2 {
				want["Add"] = []float64{5, 6}
			}
			delete(want, "Sub")
		}
		for _, n := range g.GetNode() {
			if w := want[n.GetOpType()]; w != nil && !slices.Equal(values[n.GetInput()[1]], w) {
				t.Errorf("%s in %v: %s reads %v, want %v", c.name, c.nodes, n.GetOpType(), values[n.GetInput()[1]], w)
			}
		}
	}
}

// What nobody reads goes, and what only that read; what is answered, and what inner graphs read, stays.
func TestPrune(t *testing.T) {
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, 2)
	c := b.Const(tensor.FromFloat32([]float32{1, 2}, 2))
	dead := b.Op("Add", []string{x, c})
	b.Op("Neg", []string{dead})
	captured := b.Op("Abs", []string{x})
	branch := onnx.NewBuilder(13)
	branch.Output(branch.Op("Identity", []string{captured}), tensor.Float32, 2)
	yes := b.Op("Greater", []string{
		b.Op("ReduceSum", []string{x}, onnx.AttrInt("keepdims", 0)),
		b.Const(tensor.FromFloat32([]float32{0})),
	})
	body := func(name string) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_GRAPH.Enum(), G: branch.Graph()}
	}
	y := b.Op("If", []string{yes}, body("then_branch"), body("else_branch"))
	b.Output(y, tensor.Float32, 2)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	s := rewrite.Keep(m)
	s.Prune()
	var ops []string
	for _, n := range s.Graph().GetNode() {
		ops = append(ops, n.GetOpType())
	}
	if want := []string{"Abs", "ReduceSum", "Greater", "If"}; !slices.Equal(ops, want) {
		t.Errorf("%v are left, want %v", ops, want)
	}
	for _, i := range s.Graph().GetInitializer() {
		if i.GetName() == c {
			t.Errorf("%s is stored, and nobody reads it", c)
		}
	}
}

// Nodes of the shell's own and numbers stored for them that nothing reads are not written, one behind another; what the
// model itself does not read stays, as does what a branch reads from outside.
func TestUnread(t *testing.T) {
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, 2)
	b.Const(tensor.FromFloat32([]float32{9, 9}, 2))
	b.Op("Neg", []string{x})
	b.Output(b.Op("Abs", []string{x}), tensor.Float32, 2)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	output := m.Signature().Outputs[0].Name
	s := rewrite.New(m)
	s.Under("orbit")
	s.Const(tensor.FromFloat32([]float32{7, 7}, 2))
	y, err := s.Body(nil)
	if err != nil {
		t.Fatal(err)
	}
	two := s.Const(tensor.FromFloat32([]float32{2, 2}, 2))
	s.Op("Neg", []string{s.Op("Mul", []string{y[output], s.Const(tensor.FromFloat32([]float32{5, 5}, 2))})})
	inner := onnx.NewBuilder(13)
	inner.Output(inner.Op("Mul", []string{y[output], two}), tensor.Float32, 2)
	yes := s.Const(tensor.Tensor{DType: tensor.Bool, Shape: []int{}, Raw: []byte{1}})
	branch := func(name string) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{
			Name: &name, Type: onnxpb.AttributeProto_GRAPH.Enum(), G: proto.CloneOf(inner.Graph()),
		}
	}
	s.Answer(output, s.Op("If", []string{yes}, branch("then_branch"), branch("else_branch")))
	made, err := s.Model()
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, n := range made.Proto().GetGraph().GetNode() {
		ops = append(ops, n.GetOpType())
	}
	if want := []string{"Neg", "Abs", "If", "Identity"}; !slices.Equal(ops, want) {
		t.Errorf("nodes %v, want %v", ops, want)
	}
	if n := len(made.Proto().GetGraph().GetInitializer()); n != 3 {
		t.Errorf("%d stored tensors, want that of the model, the factor and the condition", n)
	}
}
