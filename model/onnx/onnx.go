// Package onnx reads ONNX model files and edits them: signatures, checks against what an engine can take, exposing
// intermediate values. Everything happens on the file's own structure; no engine is needed and none is known here.
//
// A [Model] is never changed after [Load], and neither are the bytes that it was loaded from. Stored numbers are in
// memory once: parts and edited copies of a model share them.
package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx/onnxpb"
)

// Model is a decoded and checked ONNX file. It is safe for concurrent reading.
type Model struct {
	// for messages: the file's path, or "model"
	name  string
	size  int
	proto *onnxpb.ModelProto
	sig   Signature
	// what it was decoded from; nil for parts of a model
	source []byte
}

// Name is the path the model was read from; "model" if it came as bytes.
func (m *Model) Name() string { return m.name }

// Size is the length of the file in bytes.
func (m *Model) Size() int { return m.size }

// Proto is the decoded file, to read only: edits go through methods that copy.
func (m *Model) Proto() *onnxpb.ModelProto { return m.proto }

// Signature says what the model reads and returns.
func (m *Model) Signature() Signature { return m.sig }

// Opset is the version of the standard operators that the model uses.
func (m *Model) Opset() int { return m.sig.Opset("") }

// Dim is one axis of a port's shape.
type Dim struct {
	// -1 if the axis is free
	Size int `json:"size"`
	// symbolic name of a free axis; may be empty
	Name string `json:"name,omitempty"`
}

// Free tells whether the axis admits any length.
func (d Dim) Free() bool { return d.Size < 0 }

// String is the length, or the symbolic name, or "?".
func (d Dim) String() string {
	switch {
	case !d.Free():
		return strconv.Itoa(d.Size)
	case d.Name != "":
		return d.Name
	}
	return "?"
}

// Port is a graph input or output.
type Port struct {
	Name string `json:"name"`
	// Kind is "tensor", "sequence", "map", "optional", "sparse", or "" if the file does not say.
	Kind string `json:"kind"`
	// Undefined if the file does not say
	DType tensor.DType `json:"dtype"`
	// Shape is nil if the file does not say (Ranked is then false), empty for a scalar.
	Shape  []Dim `json:"shape"`
	Ranked bool  `json:"ranked"`
}

// ShapeString is the shape as in [N 1 28 28]; "of unknown shape" if the file does not say.
func (p Port) ShapeString() string {
	if !p.Ranked {
		return "of unknown shape"
	}
	s := make([]string, len(p.Shape))
	for i, d := range p.Shape {
		s[i] = d.String()
	}
	return "[" + strings.Join(s, " ") + "]"
}

// String is name, element type and shape: "input float32[N 1 28 28]".
func (p Port) String() string {
	t := typeName(int32(p.DType))
	if p.Kind != "tensor" && p.Kind != "" {
		t = p.Kind
	}
	if !p.Ranked {
		return p.Name + " " + t + " of unknown shape"
	}
	return p.Name + " " + t + p.ShapeString()
}

// Sizes are the lengths of the axes, -1 for free ones.
func (p Port) Sizes() []int {
	s := make([]int, len(p.Shape))
	for i, d := range p.Shape {
		s[i] = d.Size
	}
	return s
}

// Opset is a version of a set of operators.
type Opset struct {
	// "" for the standard operators
	Domain  string `json:"domain"`
	Version int    `json:"version"`
}

// Signature is what can be said of a model without running it.
type Signature struct {
	// Inputs are the values that must be fed. Files up to IR 3 list every weight as an input; those are in Defaults.
	Inputs  []Port `json:"inputs"`
	Outputs []Port `json:"outputs"`
	// inputs that have a value in the file and need not be fed
	Defaults []Port `json:"defaults,omitempty"`

	IR     int     `json:"ir"`
	Opsets []Opset `json:"opsets"`
	// of the operators in use, sorted; "" for the standard ones
	Domains         []string `json:"domains"`
	Producer        string   `json:"producer,omitempty"`
	ProducerVersion string   `json:"producer_version,omitempty"`
	// the model's own name space, a reversed DNS name
	Domain       string            `json:"domain,omitempty"`
	ModelVersion int64             `json:"model_version,omitempty"`
	Graph        string            `json:"graph,omitempty"`
	Doc          string            `json:"doc,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

// Opset is the version of the operators of a domain; 0 if the model does not import it.
func (s Signature) Opset(domain string) int {
	for _, o := range s.Opsets {
		if o.Domain == domain {
			return o.Version
		}
	}
	return 0
}

// Input is the input of that name.
func (s Signature) Input(name string) (Port, bool) { return find(s.Inputs, name) }

// Output is the output of that name.
func (s Signature) Output(name string) (Port, bool) { return find(s.Outputs, name) }

func find(ps []Port, name string) (Port, bool) {
	for _, p := range ps {
		if p.Name == name {
			return p, true
		}
	}
	return Port{}, false
}

// Names are the names of ports, in order.
func Names(ps []Port) []string {
	s := make([]string, len(ps))
	for i, p := range ps {
		s[i] = p.Name
	}
	return s
}

// Batch is the length of the first axis of the inputs: 0 if it is free in all of them, else the smallest fixed length.
// A model without inputs, or with a scalar input, has the batch 1.
func (s Signature) Batch() int {
	if len(s.Inputs) == 0 {
		return 1
	}
	batch := 0
	for _, p := range s.Inputs {
		switch {
		case !p.Ranked:
		case len(p.Shape) == 0:
			return 1
		case !p.Shape[0].Free() && (batch == 0 || p.Shape[0].Size < batch):
			batch = p.Shape[0].Size
		}
	}
	return batch
}

// standard maps the two spellings of the standard domain to "".
func standard(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

// signature reads the ports and the header.
func signature(p *onnxpb.ModelProto) Signature {
	g := p.GetGraph()
	s := Signature{
		IR: int(p.GetIrVersion()), Producer: p.GetProducerName(), ProducerVersion: p.GetProducerVersion(),
		Domain: p.GetDomain(), ModelVersion: p.GetModelVersion(), Graph: g.GetName(), Doc: p.GetDocString(),
		Inputs: []Port{}, Outputs: []Port{}, Opsets: []Opset{}, Domains: []string{},
	}
	for _, o := range p.GetOpsetImport() {
		s.Opsets = append(s.Opsets, Opset{standard(o.GetDomain()), int(o.GetVersion())})
	}
	slices.SortFunc(s.Opsets, func(a, b Opset) int { return strings.Compare(a.Domain, b.Domain) })
	given := initializers(g)
	for _, v := range g.GetInput() {
		if given[v.GetName()] {
			s.Defaults = append(s.Defaults, port(v))
		} else {
			s.Inputs = append(s.Inputs, port(v))
		}
	}
	for _, v := range g.GetOutput() {
		s.Outputs = append(s.Outputs, port(v))
	}
	domains := map[string]bool{}
	own := map[[2]string]bool{}
	for _, f := range p.GetFunctions() {
		own[[2]string{standard(f.GetDomain()), f.GetName()}] = true
	}
	visitModel(p, func(n *onnxpb.NodeProto) {
		if d := standard(n.GetDomain()); !own[[2]string{d, n.GetOpType()}] {
			domains[d] = true
		}
	}, nil)
	s.Domains = slices.Sorted(maps.Keys(domains))
	if len(p.GetMetadataProps()) > 0 {
		s.Metadata = map[string]string{}
		for _, e := range p.GetMetadataProps() {
			s.Metadata[e.GetKey()] = e.GetValue()
		}
	}
	return s
}

// initializers are the names of the values that the file holds.
func initializers(g *onnxpb.GraphProto) map[string]bool {
	have := make(map[string]bool, len(g.GetInitializer()))
	for _, t := range g.GetInitializer() {
		have[t.GetName()] = true
	}
	for _, t := range g.GetSparseInitializer() {
		have[t.GetValues().GetName()] = true
	}
	return have
}

// port reads one graph input or output.
func port(v *onnxpb.ValueInfoProto) Port {
	p := Port{Name: v.GetName()}
	switch t := v.GetType().GetValue().(type) {
	case *onnxpb.TypeProto_TensorType:
		p.Kind, p.DType = "tensor", tensor.DType(t.TensorType.GetElemType())
		if sh := t.TensorType.GetShape(); sh != nil {
			p.Ranked, p.Shape = true, dims(sh)
		}
	case *onnxpb.TypeProto_SparseTensorType:
		p.Kind, p.DType = "sparse", tensor.DType(t.SparseTensorType.GetElemType())
	case *onnxpb.TypeProto_SequenceType:
		p.Kind = "sequence"
	case *onnxpb.TypeProto_MapType:
		p.Kind = "map"
	case *onnxpb.TypeProto_OptionalType:
		p.Kind = "optional"
	}
	return p
}

// dims reads a shape. Exporters write a free axis as a name, as nothing, as -1 or as 0.
func dims(sh *onnxpb.TensorShapeProto) []Dim {
	out := make([]Dim, len(sh.GetDim()))
	for i, d := range sh.GetDim() {
		switch x := d.GetValue().(type) {
		case *onnxpb.TensorShapeProto_Dimension_DimValue:
			out[i].Size = -1
			if x.DimValue > 0 {
				out[i].Size = int(x.DimValue)
			}
		case *onnxpb.TensorShapeProto_Dimension_DimParam:
			out[i] = Dim{-1, x.DimParam}
		default:
			out[i].Size = -1
		}
	}
	return out
}

// typeName is the name of an ONNX element type, also of those that tensor.DType does not hold.
func typeName(t int32) string {
	d := tensor.DType(t)
	if d.Size() > 0 {
		return d.String()
	}
	if t == 0 {
		return "unknown type"
	}
	if s, ok := otherTypes[t]; ok {
		return s
	}
	return d.String()
}

// otherTypes are element types that are stored in files but not exchanged with engines.
var otherTypes = map[int32]string{
	8: "string", 14: "complex64", 15: "complex128", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2",
	20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
}

// visitModel calls node for every node and tens for every stored tensor of the model, in subgraphs and functions too.
// Either may be nil.
func visitModel(p *onnxpb.ModelProto, node func(*onnxpb.NodeProto), tens func(where string, t *onnxpb.TensorProto)) {
	visitGraph(p.GetGraph(), node, tens)
	for _, f := range p.GetFunctions() {
		for _, n := range f.GetNode() {
			visitNode(n, node, tens)
		}
	}
}

func visitGraph(g *onnxpb.GraphProto, node func(*onnxpb.NodeProto), tens func(string, *onnxpb.TensorProto)) {
	if tens != nil {
		for _, t := range g.GetInitializer() {
			tens("initializer "+quote(t.GetName()), t)
		}
		for _, t := range g.GetSparseInitializer() {
			tens("sparse initializer "+quote(t.GetValues().GetName()), t.GetValues())
			tens("indices of the sparse initializer "+quote(t.GetValues().GetName()), t.GetIndices())
		}
	}
	for _, n := range g.GetNode() {
		visitNode(n, node, tens)
	}
}

func visitNode(n *onnxpb.NodeProto, node func(*onnxpb.NodeProto), tens func(string, *onnxpb.TensorProto)) {
	if node != nil {
		node(n)
	}
	for _, a := range n.GetAttribute() {
		if tens != nil {
			where := "attribute " + quote(a.GetName()) + " of " + Describe(n)
			if a.GetT() != nil {
				tens(where, a.GetT())
			}
			for _, t := range a.GetTensors() {
				tens(where, t)
			}
		}
		if a.GetG() != nil {
			visitGraph(a.GetG(), node, tens)
		}
		for _, g := range a.GetGraphs() {
			visitGraph(g, node, tens)
		}
	}
}

// Describe names a node for messages: its operator, its name if it has one, else its first output.
func Describe(n *onnxpb.NodeProto) string {
	op := n.GetOpType()
	if d := standard(n.GetDomain()); d != "" {
		op = d + "." + op
	}
	if n.GetName() != "" {
		return op + " " + quote(n.GetName())
	}
	for _, o := range n.GetOutput() {
		if o != "" {
			return op + " that makes " + quote(o)
		}
	}
	return op
}

// quote prints names from files safely and short.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%.*q…", most, s)
	}
	return fmt.Sprintf("%q", s)
}
