package vjp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// sweep is one pass over the nodes from last to first.
type sweep struct {
	b      *onnx.Builder
	opset  int
	shapes map[string][]int
	types  map[string]tensor.DType
	maker  map[string]*onnxpb.NodeProto
	stored map[string]*onnxpb.TensorProto
	// in use
	names map[string]bool
	// values that depend, differentiably, on what is differentiated by
	need map[string]bool
	// value -> its adjoint so far
	adj map[string]string
	// constants and small values made once
	made map[string]string
	// values whose adjoints are returned
	asked map[string]bool
	// how many adjoints were added up for a value
	parts map[string]int
	// how many of them are 0 wherever the value is 0, see [maxPool]
	masked map[string]int
}

// newSweep copies the model, for an operator set that has all that gradients need.
func newSweep(m *onnx.Model, shapes map[string][]int) (*sweep, string, error) {
	s := &sweep{
		b: m.Edit(), opset: m.Opset(), shapes: map[string][]int{}, types: map[string]tensor.DType{},
		maker:  map[string]*onnxpb.NodeProto{},
		stored: map[string]*onnxpb.TensorProto{}, names: map[string]bool{}, need: map[string]bool{},
		adj: map[string]string{}, made: map[string]string{},
		asked: map[string]bool{}, parts: map[string]int{}, masked: map[string]int{},
	}
	note, err := s.restamp()
	if err != nil {
		return nil, "", err
	}
	maps.Copy(s.shapes, shapes)
	g := s.b.Graph()
	for _, v := range g.GetInput() {
		s.declare(v)
	}
	for _, v := range g.GetOutput() {
		s.declare(v)
	}
	for _, t := range g.GetInitializer() {
		sh, err := onnx.StoredShape(t)
		if err != nil {
			return nil, "", fmt.Errorf("stored tensor %q: %w", t.GetName(), err)
		}
		s.names[t.GetName()], s.stored[t.GetName()], s.shapes[t.GetName()], s.types[t.GetName()] = true, t, sh,
			tensor.DType(t.GetDataType())
	}
	for _, v := range g.GetInput() {
		delete(s.stored, v.GetName()) // a default, which may be fed otherwise
	}
	for _, n := range g.GetNode() {
		for i, o := range n.GetOutput() {
			s.maker[o], s.names[o] = n, true
			if s.types[o] == tensor.Undefined {
				s.types[o] = s.typeOf(n, i)
			}
		}
		if n.GetOpType() == "Constant" {
			if t := onnx.Attr(n, "value").GetT(); t != nil {
				s.stored[n.GetOutput()[0]] = t
				if sh, err := onnx.StoredShape(t); err == nil {
					s.shapes[n.GetOutput()[0]] = sh
				}
			}
		}
	}
	return s, note, nil
}

func (s *sweep) declare(v *onnxpb.ValueInfoProto) {
	s.names[v.GetName()] = true
	if t := v.GetType().GetTensorType(); t != nil {
		s.types[v.GetName()] = tensor.DType(t.GetElemType())
	}
}

// typeOf is the element type of output i of a node; Undefined if it is not known.
func (s *sweep) typeOf(n *onnxpb.NodeProto, i int) tensor.DType {
	in := func(k int) tensor.DType {
		if k < len(n.GetInput()) {
			return s.types[n.GetInput()[k]]
		}
		return tensor.Undefined
	}
	switch n.GetOpType() {
	case "Cast":
		return tensor.DType(onnx.Int(n, "to", 0))
	case "CastLike", "Where", "DequantizeLinear":
		return in(1)
	case "OneHot":
		return in(2)
	case "Shape", "Size", "ArgMax", "ArgMin", "NonZero", "NonMaxSuppression":
		return tensor.Int64
	case "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not", "IsNaN", "IsInf":
		return tensor.Bool
	case "MaxPool", "TopK", "Unique":
		if i > 0 {
			return tensor.Int64
		}
	case "Dropout":
		if i > 0 {
			return tensor.Bool
		}
	case "Constant":
		switch {
		case onnx.Attr(n, "value") != nil:
			return tensor.DType(onnx.Attr(n, "value").GetT().GetDataType())
		case onnx.Attr(n, "value_int") != nil, onnx.Attr(n, "value_ints") != nil:
			return tensor.Int64
		}
		return tensor.Float32
	case "ConstantOfShape":
		if t := onnx.Attr(n, "value").GetT(); t != nil {
			return tensor.DType(t.GetDataType())
		}
		return tensor.Float32
	case "RandomNormal", "RandomUniform":
		return tensor.DType(onnx.Int(n, "dtype", int64(tensor.Float32)))
	case "RandomNormalLike", "RandomUniformLike", "EyeLike", "Bernoulli":
		if d := onnx.Int(n, "dtype", 0); d != 0 {
			return tensor.DType(d)
		}
	case "QuantizeLinear", "DynamicQuantizeLinear":
		return tensor.Uint8
	case "MatMulInteger", "ConvInteger":
		return tensor.Int32
	case "If", "Loop", "Scan":
		return tensor.Undefined
	}
	return in(0)
}

// real tells whether a value can carry a derivative.
func (s *sweep) real(v string) bool {
	switch s.types[v] {
	case tensor.String, tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Int64,
		tensor.Bool, tensor.Uint32,
		tensor.Uint64:
		return false
	case tensor.Undefined, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
	}
	return s.types[v] != 8 // strings
}

// output finds the value that is differentiated.
func (s *sweep) output(m *onnx.Model, name string) (string, error) {
	outs := onnx.Names(m.Signature().Outputs)
	switch {
	case name == "" && len(outs) != 1:
		return "", fmt.Errorf("the model has %d outputs (%s): say which one is differentiated", len(outs),
			strings.Join(outs, ", "))
	case name == "":
		name = outs[0]
	case !s.names[name]:
		return "", fmt.Errorf("no value %q to differentiate; the outputs are %s", name, strings.Join(outs, ", "))
	}
	if !s.real(name) {
		return "", fmt.Errorf("output %q has elements of %s, which have no derivative", name, s.types[name])
	}
	return name, nil
}

// checkWrt says whether the values exist and can be varied.
func (s *sweep) checkWrt(wrt []string) error {
	if len(wrt) == 0 {
		return errors.New("nothing to differentiate by: name inputs, parameters or inner values")
	}
	for i, v := range wrt {
		switch {
		case v == "" || !s.names[v]:
			return fmt.Errorf("no value %q to differentiate by", v)
		case !s.real(v):
			return fmt.Errorf("value %q has elements of %s: nothing can be differentiated by it", v, s.types[v])
		case slices.Contains(wrt[:i], v):
			return fmt.Errorf("value %q is named twice", v)
		}
	}
	return nil
}

// spread finds the values that depend on wrt.
func (s *sweep) spread(fwd []*onnxpb.NodeProto, wrt []string) {
	for _, v := range wrt {
		s.need[v], s.asked[v] = true, true
	}
	for _, n := range fwd {
		if standard(n) && flat[n.GetOpType()] || !s.depends(n) {
			continue
		}
		for _, o := range n.GetOutput() {
			if o != "" && s.real(o) {
				s.need[o] = true
			}
		}
	}
}

// depends tells whether a node reads a value that is needed, itself or in a subgraph.
func (s *sweep) depends(n *onnxpb.NodeProto) bool {
	for _, i := range n.GetInput() {
		if s.need[i] {
			return true
		}
	}
	for _, a := range n.GetAttribute() {
		for _, g := range append(slices.Clone(a.GetGraphs()), a.GetG()) {
			if slices.ContainsFunc(g.GetNode(), s.depends) {
				return true
			}
			for _, o := range g.GetOutput() { // an outer value handed through
				if s.need[o.GetName()] {
					return true
				}
			}
		}
	}
	return false
}

// cotangent adds the input.
func (s *sweep) cotangent(y string, sig onnx.Signature) (string, error) {
	sh, ok := s.shapes[y]
	if !ok {
		return "", fmt.Errorf(
			"the shape of output %q is not known: measure shapes by running the model (vjp.Shapes with an engine)", y)
	}
	d, err := s.element(y)
	if err != nil {
		return "", fmt.Errorf("output %q: %w", y, err)
	}
	axes := anys(sh)
	name := s.free("cotangent")
	if len(axes) > 0 {
		axes[0] = name + "_batch"
	}
	if p, ok := sig.Output(y); ok && len(p.Shape) == len(axes) { // the batch axis may be another one
		for a, l := range p.Shape {
			if a > 0 && l.Free() {
				axes[a] = fmt.Sprintf("%s_axis_%d", name, a)
			}
		}
	}
	s.adj[y], s.parts[y] = s.b.Input(name, d, axes...), 1
	return name, nil
}

func anys(v []int) []any {
	out := make([]any, len(v))
	for i, l := range v {
		out[i] = l
	}
	return out
}

// fix gives free axes of the inputs, the first apart, the lengths that the gradient is built for.
func (s *sweep) fix() {
	for _, v := range s.b.Graph().GetInput() {
		sh := s.shapes[v.GetName()]
		if t := v.GetType().GetTensorType(); t != nil && t.GetShape() == nil && len(sh) > 0 &&
			s.stored[v.GetName()] == nil {
			t.Shape = onnx.ValueInfo("", 0,
				append([]any{v.GetName() + "_batch"}, anys(sh[1:])...)...).GetType().GetTensorType().GetShape()
		}
		for a, d := range v.GetType().GetTensorType().GetShape().GetDim() {
			if _, fixed := d.GetValue().(*onnxpb.TensorShapeProto_Dimension_DimValue); a > 0 && a < len(sh) && !fixed {
				d.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(sh[a])}
			}
		}
	}
}

// element is the type in which the gradient of a value is computed.
func (s *sweep) element(v string) (tensor.DType, error) {
	d := s.types[v]
	if d == tensor.Undefined {
		d = tensor.Float32
	}
	if d != tensor.Float32 && d != tensor.Float64 {
		return 0, fmt.Errorf("%q has elements of %s; gradients are built for float32 and float64", v, d)
	}
	return d, nil
}

// free makes a name that nothing bears.
func (s *sweep) free(name string) string {
	for s.names[name] {
		name += "_"
	}
	s.names[name] = true
	return name
}

// gradient makes the adjoint of a value an output.
func (s *sweep) gradient(v string) string {
	name, op := s.free("grad:"+v), "Identity"
	g := s.b.Graph()
	g.Node = append(g.Node, &onnxpb.NodeProto{
		OpType: &op, Name: new("node:" + name), Input: []string{s.adj[v]},
		Output: []string{name},
	})
	g.Output = append(g.Output, &onnxpb.ValueInfoProto{Name: &name})
	return name
}

func standard(n *onnxpb.NodeProto) bool { return n.GetDomain() == "" || n.GetDomain() == "ai.onnx" }

// back visits the nodes from last to first and returns those that it cannot pass, in the model's order. Behind such a
// node it goes on with adjoints that mean nothing, to find them all.
func (s *sweep) back(fwd []*onnxpb.NodeProto) (refused []Refusal) {
	for _, n := range slices.Backward(fwd) {
		if !s.depends(n) || !slices.ContainsFunc(n.GetOutput(),
			func(o string) bool { return s.need[o] && s.adj[o] != "" }) {
			continue
		}
		if standard(n) && flat[n.GetOpType()] {
			continue // reached when an output of it is differentiated by
		}
		c, err := s.call(n)
		if err == nil {
			err = c.rule.vjp(c)
		}
		if err == nil {
			continue
		}
		refused = append(refused, Refusal{Node: onnx.NodeLabel(n), Op: onnx.OpLabel(n), Reason: err.Error()})
		for _, i := range n.GetInput() {
			if s.need[i] && s.adj[i] == "" {
				s.adj[i] = "?"
			}
		}
	}
	slices.Reverse(refused)
	return refused
}

// rule is the derivative of an operator.
type rule struct {
	// that it knows; a node with another one is refused
	attrs []string
	// outputs into which a gradient may come; 0 means one
	outs int
	// inputs that there must be; 0 means one
	least int
	// axes that the first input must have at least
	rank int
	vjp  func(c *call) error
}

// call is one node on the path.
type call struct {
	*sweep
	n    *onnxpb.NodeProto
	rule rule
	in   []string
	out  []string
	// adjoint of the first output
	d string
	// of the adjoints
	dt tensor.DType
	// shape of the first input
	si []int
	// shape of the first output
	so []int
}

// call prepares a node: what every rule relies on is checked here.
func (s *sweep) call(n *onnxpb.NodeProto) (*call, error) {
	if !standard(n) {
		return nil, fmt.Errorf("operators of %s have no gradient rules here", n.GetDomain())
	}
	if n.GetOpType() == "If" {
		return nil, errors.New("its condition follows from data, not from stored tensors and shapes: which branch is " +
			"taken, and so the gradient, may differ from one input to the next")
	}
	r, ok := rules[n.GetOpType()]
	if !ok {
		return nil, errors.New("the operator has no gradient rule; those that have one are listed by vjp.Supported")
	}
	for _, a := range n.GetAttribute() {
		if !slices.Contains(r.attrs, a.GetName()) {
			return nil, fmt.Errorf("its rule does not know the attribute %s", a.GetName())
		}
	}
	for i := range max(r.least, 1) {
		if i >= len(n.GetInput()) || n.GetInput()[i] == "" {
			return nil, fmt.Errorf("its input %d is missing", i)
		}
	}
	c := &call{sweep: s, n: n, rule: r, in: n.GetInput(), out: n.GetOutput(), d: s.adj[n.GetOutput()[0]]}
	for i, o := range c.out {
		if i >= max(r.outs, 1) && s.need[o] && s.adj[o] != "" {
			return nil, fmt.Errorf("a gradient comes into its output %d (%q), for which there is no rule", i, o)
		}
		if o != "" && (i == 0 || s.adj[o] != "") {
			if _, known := s.shapes[o]; !known {
				return nil, fmt.Errorf(
					"the shape of its output %q is not known: measure shapes by running the model (vjp.Shapes with "+
						"an engine)", o)
			}
		}
		if s.need[o] && s.adj[o] != "" {
			d, err := s.element(o)
			if err != nil {
				return nil, err
			}
			c.dt = d
		}
	}
	for _, i := range c.in {
		if _, known := s.shapes[i]; i != "" && !known {
			return nil, fmt.Errorf(
				"the shape of its input %q is not known: measure shapes by running the model (vjp.Shapes with an "+
					"engine)", i)
		}
	}
	c.si, c.so = s.shapes[c.in[0]], s.shapes[c.out[0]]
	if len(c.si) < r.rank {
		return nil, fmt.Errorf("its input has the shape %v, want at least %d axes", c.si, r.rank)
	}
	return c, nil
}

// wants tells whether there is an input i that needs a gradient.
func (c *call) wants(i int) bool { return i < len(c.in) && c.need[c.in[i]] }

// has tells whether there is an input i.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i] != "" }

// only refuses gradients by inputs other than those listed.
func (c *call) only(can ...int) error {
	for i := range c.in {
		if c.wants(i) && !slices.Contains(can, i) {
			return fmt.Errorf("a gradient by its input %d (%q) is asked for, for which there is no rule", i, c.in[i])
		}
	}
	return nil
}

// give adds to the adjoint of input i, if that is needed.
func (c *call) give(i int, d string) {
	if !c.wants(i) {
		return
	}
	v := c.in[i]
	if have := c.adj[v]; have != "" {
		d = c.add(have, d)
	}
	c.adj[v] = d
	c.parts[v]++
}
