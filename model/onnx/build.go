package onnx

import (
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx/onnxpb"
)

// Builder writes a graph node by node: whole small models, or nodes added to a copy of one. Names that it makes up do
// not clash with those that are there. A Builder is for one goroutine.
type Builder struct {
	proto *onnxpb.ModelProto
	used  map[string]bool
	count int
	// what the names of new nodes begin with
	under string
}

// NewBuilder starts an empty model that uses the given version of the standard operators, in file format IR 8.
func NewBuilder(opset int) *Builder {
	return &Builder{used: map[string]bool{}, proto: &onnxpb.ModelProto{
		IrVersion: new(int64(8)), ProducerName: new("nero"),
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Domain: new(""), Version: new(int64(opset))}},
		Graph:       &onnxpb.GraphProto{Name: new("graph")},
	}}
}

// Edit starts from a copy of the model, which shares the stored tensors with it: they are replaced, never changed.
// Nodes that are added come after its own.
func (m *Model) Edit() *Builder {
	b := &Builder{used: map[string]bool{}, proto: copied(m.proto)}
	g := b.proto.GetGraph()
	for _, v := range g.GetInput() {
		b.used[v.GetName()] = true
	}
	for name := range initializers(g) {
		b.used[name] = true
	}
	for _, n := range g.GetNode() {
		for _, o := range n.GetOutput() {
			b.used[o] = true
		}
		b.used[n.GetName()] = true
	}
	return b
}

// WithShapes is a copy of the model whose inputs have the lengths given, by name: free axes become fixed. An error says
// which input has other lengths in the file.
func (m *Model) WithShapes(shapes map[string][]int) (*Model, error) {
	b := m.Edit()
	for _, v := range b.proto.GetGraph().GetInput() {
		s, ok := shapes[v.GetName()]
		t := v.GetType().GetTensorType()
		if !ok || t == nil {
			continue
		}
		axes := make([]any, len(s))
		for i, n := range s {
			axes[i] = n
		}
		if p, ok := m.Port(v.GetName()); ok && p.Ranked {
			have := p.Sizes()
			if len(have) != len(s) {
				return nil, fmt.Errorf("%s: input %s does not have the shape %v", m.name, p, s)
			}
			for i, n := range have {
				if n >= 0 && n != s[i] {
					return nil, fmt.Errorf("%s: input %s does not have the shape %v", m.name, p, s)
				}
			}
		}
		t.Shape = ValueInfo("", 0, axes...).GetType().GetTensorType().GetShape()
	}
	out, err := b.Model()
	if err != nil {
		return nil, err
	}
	out.name = m.name
	return out, nil
}

// fresh is a name that nothing bears yet.
func (b *Builder) fresh(stem string) string {
	for {
		b.count++
		name := "nero_" + stem + "_" + strconv.Itoa(b.count)
		if !b.used[name] {
			b.used[name] = true
			return name
		}
	}
}

// Under begins the names of nodes that are added from now on with a word and a slash, so that whoever reads the file
// sees what they belong to.
func (b *Builder) Under(word string) { b.under = word + "/" }

// Graph is the graph that is being built.
func (b *Builder) Graph() *onnxpb.GraphProto { return b.proto.GetGraph() }

// Header is the file that is being built: versions, producer, metadata.
func (b *Builder) Header() *onnxpb.ModelProto { return b.proto }

// Input declares a graph input and returns its name. Axes are lengths (int) or symbolic names (string).
// It panics on anything else.
func (b *Builder) Input(name string, d tensor.DType, axes ...any) string {
	b.used[name] = true
	b.proto.Graph.Input = append(b.proto.Graph.Input, ValueInfo(name, d, axes...))
	return name
}

// Output declares a value as graph output. Axes are as for [Builder.Input].
func (b *Builder) Output(name string, d tensor.DType, axes ...any) {
	b.proto.Graph.Output = append(b.proto.Graph.Output, ValueInfo(name, d, axes...))
}

// Const stores a tensor and returns its name.
func (b *Builder) Const(t tensor.Tensor) string {
	name := b.fresh("const")
	b.proto.Graph.Initializer = append(b.proto.Graph.Initializer, Stored(name, t))
	return name
}

// Ints stores a vector of integers and returns its name.
func (b *Builder) Ints(v ...int64) string { return b.Const(tensor.FromInt64(v, len(v))) }

// Op adds a node with one output and returns the output's name.
func (b *Builder) Op(op string, in []string, attrs ...*onnxpb.AttributeProto) string {
	return b.Ops(op, 1, in, attrs...)[0]
}

// Ops adds a node with n outputs and returns their names.
func (b *Builder) Ops(op string, n int, in []string, attrs ...*onnxpb.AttributeProto) []string {
	outs := make([]string, n)
	for i := range outs {
		outs[i] = b.fresh(op)
	}
	b.proto.Graph.Node = append(b.proto.Graph.Node,
		&onnxpb.NodeProto{OpType: &op, Input: in, Output: outs, Attribute: attrs, Name: new(b.under + b.fresh("node"))})
	return outs
}

// Bytes encodes the model.
func (b *Builder) Bytes() ([]byte, error) { return proto.Marshal(b.proto) }

// Model is what was built so far, with all the checks of [Load].
func (b *Builder) Model() (*Model, error) {
	p := copied(b.proto)
	if err := validate(p); err != nil {
		return nil, err
	}
	return &Model{name: "model", size: proto.Size(p), proto: p, sig: signature(p)}, nil
}

// copied is a copy of all but the stored tensors, which are shared.
func copied(p *onnxpb.ModelProto) *onnxpb.ModelProto {
	bare, g := shallow(p), shallow(p.GetGraph())
	bare.Graph, g.Initializer = g, nil
	c := proto.CloneOf(bare)
	c.Graph.Initializer = slices.Clone(p.GetGraph().GetInitializer())
	return c
}

// ValueInfo declares a tensor value. Axes are lengths (int) or symbolic names (string).
// It panics on anything else.
func ValueInfo(name string, d tensor.DType, axes ...any) *onnxpb.ValueInfoProto {
	sh := &onnxpb.TensorShapeProto{}
	for _, a := range axes {
		x := &onnxpb.TensorShapeProto_Dimension{}
		switch a := a.(type) {
		case int:
			x.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(a)}
		case string:
			x.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: a}
		default:
			panic(fmt.Sprintf("onnx: axis of type %T", a))
		}
		sh.Dim = append(sh.Dim, x)
	}
	return &onnxpb.ValueInfoProto{Name: &name, Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: new(int32(d)), Shape: sh},
	}}}
}
