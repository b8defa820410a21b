// Package rewrite puts graphs together: copies of the body of a model, fed by values of the graph that they are put
// into. It knows nothing of groups.
package rewrite

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Shell is a model whose nodes were taken out, to be put back in copies between other nodes. Inputs, outputs, stored
// tensors, functions and versions are those of the model; inner values are declared no longer, since their shapes may
// not hold.
type Shell struct {
	*onnx.Builder

	nodes []*onnxpb.NodeProto
	// names that mean the same in every copy: stored tensors; of a model whose nodes stay, nil
	stored map[string]bool
	// stored tensors of the model itself
	had     map[string]bool
	inputs  []string
	outputs []string
	bodies  int
}

// New takes the nodes out of a copy of a model.
func New(m *onnx.Model) *Shell {
	s := &Shell{Builder: m.Edit(), stored: map[string]bool{}, had: had(m)}
	g := s.Graph()
	s.nodes, g.Node, g.ValueInfo, g.QuantizationAnnotation = g.GetNode(), nil, nil, nil
	for _, t := range g.GetInitializer() {
		s.stored[t.GetName()] = true
	}
	for _, t := range g.GetSparseInitializer() {
		s.stored[t.GetValues().GetName()] = true
	}
	sig := m.Signature()
	for _, p := range sig.Inputs {
		s.inputs = append(s.inputs, p.Name)
	}
	for _, p := range sig.Outputs {
		s.outputs = append(s.outputs, p.Name)
	}
	return s
}

// Keep starts from a copy of a model whose nodes stay where they are, for changes of what is stored. Inner values are
// declared no longer.
func Keep(m *onnx.Model) *Shell {
	s := &Shell{Builder: m.Edit(), had: had(m)}
	g := s.Graph()
	g.ValueInfo, g.QuantizationAnnotation = nil, nil
	return s
}

// Replace stores other numbers of the same type and shape in the place of a stored value, for some of the nodes that
// read it. Others are left with what was there.
func (s *Shell) Replace(name string, t tensor.Tensor, nodes ...int) {
	g := s.Graph()
	k := slices.IndexFunc(g.GetInitializer(), func(x *onnxpb.TensorProto) bool { return x.GetName() == name })
	alone := k >= 0
	for i, n := range g.GetNode() {
		alone = alone && !slices.Contains(onnx.Captured(n), name) &&
			(slices.Contains(nodes, i) || !slices.Contains(n.GetInput(), name))
	}
	if alone {
		g.Initializer[k] = onnx.Stored(name, t)
		return
	}
	to := s.Const(t)
	for _, i := range nodes {
		for k, in := range g.GetNode()[i].GetInput() {
			if in == name {
				g.GetNode()[i].Input[k] = to
			}
		}
	}
	s.tidy()
}

// With is a copy of a model with other numbers of the same types and shapes in the place of stored ones, by name, for
// all that reads them. The numbers are shared, and not to be changed any more.
func With(m *onnx.Model, numbers map[string]tensor.Tensor) (*onnx.Model, error) {
	b := m.Edit()
	g := b.Graph()
	for i, t := range g.GetInitializer() {
		if x, ok := numbers[t.GetName()]; ok {
			g.Initializer[i] = shared(t.GetName(), x)
		}
	}
	for _, n := range g.GetNode() {
		if n.GetOpType() != "Constant" || len(n.GetOutput()) != 1 {
			continue
		}
		if x, ok := numbers[n.GetOutput()[0]]; ok {
			if a := onnx.Attr(n, "value"); a.GetT() != nil {
				a.T = shared(a.GetT().GetName(), x)
			}
		}
	}
	return b.Model()
}

// shared is a stored tensor that keeps its numbers where they are.
func shared(name string, t tensor.Tensor) *onnxpb.TensorProto {
	raw := t.Raw
	t.Raw = nil
	out := onnx.Stored(name, t)
	out.RawData = raw
	return out
}

// Around walks over the nodes in order: put adds nodes that come before node i, and may change it.
func (s *Shell) Around(put func(i int, n *onnxpb.NodeProto)) {
	g := s.Graph()
	nodes := g.GetNode()
	g.Node = nil
	for i, n := range nodes {
		put(i, n)
		g.Node = append(g.Node, n)
	}
}

// Prune drops nodes of which nothing is read, and then what only they read.
func (s *Shell) Prune() {
	g := s.Graph()
	for before := -1; before != len(g.GetNode()); {
		before = len(g.GetNode())
		read := s.read()
		g.Node = slices.DeleteFunc(g.Node, func(n *onnxpb.NodeProto) bool {
			return !slices.ContainsFunc(n.GetOutput(), func(o string) bool { return read[o] })
		})
	}
	s.tidy()
}

// read are the values that nodes read or that the model answers, and its inputs.
func (s *Shell) read() map[string]bool {
	g := s.Graph()
	read := map[string]bool{}
	for _, n := range g.GetNode() {
		for _, in := range slices.Concat(n.GetInput(), onnx.Captured(n)) {
			read[in] = true
		}
	}
	for _, v := range slices.Concat(g.GetInput(), g.GetOutput()) {
		read[v.GetName()] = true
	}
	return read
}

// tidy drops stored tensors that nothing reads any more. Old files declare them as inputs, too: those stay.
func (s *Shell) tidy() {
	g, read := s.Graph(), s.read()
	g.Initializer = slices.DeleteFunc(g.Initializer, func(t *onnxpb.TensorProto) bool { return !read[t.GetName()] })
	g.Node = slices.DeleteFunc(g.Node, func(n *onnxpb.NodeProto) bool {
		return n.GetOpType() == "Constant" && !read[n.GetOutput()[0]]
	})
}

// had are the names of the stored tensors of a model.
func had(m *onnx.Model) map[string]bool {
	out := map[string]bool{}
	for _, t := range m.Proto().GetGraph().GetInitializer() {
		out[t.GetName()] = true
	}
	return out
}

// Model is what was put together, but for nodes and stored tensors between the copies that nothing reads: a body would
// compute them all the same, or warn of them. What the model itself does not read stays.
func (s *Shell) Model() (*onnx.Model, error) {
	g := s.Graph()
	read := map[string]bool{}
	for _, v := range g.GetOutput() {
		read[v.GetName()] = true
	}
	var nodes []*onnxpb.NodeProto
	for _, n := range slices.Backward(g.GetNode()) { // what reads a value comes behind it
		if ownNode.MatchString(n.GetName()) &&
			!slices.ContainsFunc(n.GetOutput(), func(o string) bool { return read[o] }) {
			continue
		}
		for _, in := range slices.Concat(n.GetInput(), onnx.Captured(n)) {
			read[in] = true
		}
		nodes = append(nodes, n)
	}
	slices.Reverse(nodes)
	g.Node = nodes
	g.Initializer = slices.DeleteFunc(g.Initializer, func(t *onnxpb.TensorProto) bool {
		return !s.had[t.GetName()] && !read[t.GetName()]
	})
	return s.Builder.Model()
}

// Body puts a copy of the nodes in. feed has a value of the graph for every input that is not to be fed by the graph's
// own input; the result has the value for every output. Stored tensors are shared between copies; all other names get
// a prefix of their own.
func (s *Shell) Body(feed map[string]string) (map[string]string, error) {
	for name := range feed {
		if !slices.Contains(s.inputs, name) {
			return nil, fmt.Errorf("the model has no input %q to feed; it reads %q", name, s.inputs)
		}
	}
	prefix := fmt.Sprintf("o%d/", s.bodies)
	s.bodies++
	known := maps.Clone(feed)
	if known == nil {
		known = map[string]string{}
	}
	for _, n := range s.inputs {
		if known[n] == "" {
			known[n] = n
		}
	}
	c := copier{prefix: prefix, known: known, stored: s.stored}
	g := s.Graph()
	for _, n := range s.nodes {
		g.Node = append(g.Node, c.node(n))
	}
	out := map[string]string{}
	for _, name := range s.outputs {
		out[name] = c.name(name)
	}
	return out, nil
}

// Fix declares the lengths of the axes of an input or an output behind the first that are free in the model, where what
// was put around it is for one size: a body then refuses another, in place of reading it in parts.
func (s *Shell) Fix(name string, lengths []int) {
	g := s.Graph()
	for _, v := range slices.Concat(g.GetInput(), g.GetOutput()) {
		axes := v.GetType().GetTensorType().GetShape().GetDim()
		if v.GetName() != name || len(axes) != len(lengths)+1 {
			continue
		}
		for i, n := range lengths {
			if _, fixed := axes[i+1].GetValue().(*onnxpb.TensorShapeProto_Dimension_DimValue); !fixed {
				axes[i+1].Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(n)}
			}
		}
	}
}

// Answer makes a value of the graph its output of that name.
func (s *Shell) Answer(output, value string) {
	s.Op("Identity", []string{value})
	nodes := s.Graph().GetNode()
	nodes[len(nodes)-1].Output = []string{output}
}

// copier renames what a copy makes.
type copier struct {
	prefix string
	known  map[string]string
	stored map[string]bool
}

// name is what a value of the model is called in the copy. Names are unique in a whole model, so that one rule serves
// for inner graphs, too, and for what they capture.
func (c copier) name(n string) string {
	switch to := c.known[n]; {
	case n == "":
		return ""
	case to != "":
		return to
	case c.stored[n]:
		return n
	}
	return c.prefix + n
}

func (c copier) names(all []string) []string {
	out := make([]string, len(all))
	for i, n := range all {
		out[i] = c.name(n)
	}
	return out
}

func (c copier) node(n *onnxpb.NodeProto) *onnxpb.NodeProto {
	out := proto.CloneOf(n)
	out.Name = new(c.prefix + onnx.NodeLabel(n))
	out.Input, out.Output = c.names(n.GetInput()), c.names(n.GetOutput())
	for _, a := range out.GetAttribute() {
		if a.GetG() != nil {
			c.inner(a.GetG())
		}
		for _, g := range a.GetGraphs() {
			c.inner(g)
		}
	}
	return out
}

// inner renames what the branches of If and the bodies of loops hold.
func (c copier) inner(g *onnxpb.GraphProto) {
	rename := func(p *string) {
		*p = c.name(*p)
	}
	g.ValueInfo = nil
	for _, v := range slices.Concat(g.GetInput(), g.GetOutput()) {
		if v.Name != nil {
			rename(v.Name)
		}
	}
	for _, t := range g.GetInitializer() {
		if t.Name != nil {
			rename(t.Name)
		}
	}
	for _, t := range g.GetSparseInitializer() {
		if v := t.GetValues(); v != nil && v.Name != nil {
			rename(v.Name)
		}
	}
	for i, n := range g.GetNode() {
		g.Node[i] = c.node(n)
	}
}
