// Package jvp adds forward-mode derivatives to ONNX models: nodes that push tangents through the graph beside the
// values (Jacobian-vector products). For a model f and a value x it computes d = J·v, where J is the Jacobian of f at x
// and v any perturbation of x: how the outputs begin to move when x moves along v. A. Griewank and A. Walther,
// Evaluating Derivatives, SIAM 2008, chapter 3.
//
// Tangents may be fed to inputs, to stored tensors and to inner values, where they are added to what arrives: that is
// how an error made by one layer is followed to the output. A run costs about two runs of the model. No shapes need to
// be known.
//
// An operator, or an attribute of it, that has no rule here is refused when a tangent passes through it, and never
// otherwise: a wrong derivative is worse than none. Where a derivative does not exist, the conventions are those of
// PyTorch: 0 for Relu at 0, 1 for Clip at its limits, equal shares for Min, Max, ReduceMin and ReduceMax of equal
// values, the first of equal values for pooling. Comparisons, roundings, ArgMax and their like have the derivative 0.
package jvp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// Versions of the standard operators that the rules are for.
const (
	MinOpset = 13 // older files are stamped anew as this one if they use no operator that changed since
	MaxOpset = 26
)

// Request says what to differentiate.
type Request struct {
	// Tangents are the values that are perturbed: inputs, inner values or stored tensors of the model, of a
	// floating-point type. All others stand still. At least one.
	Tangents []string
	// Outputs are the values whose tangents are wanted: any values of a floating-point type. The default is the model's
	// outputs of such types.
	Outputs []string
}

// Result is a model that computes tangents beside its own outputs.
type Result struct {
	// Model is the one that was built. Its inputs are those of the original, then Inputs; its outputs those of the
	// original, then Tangents.
	Model *onnx.Model
	// Inputs are the names of the inputs that take the tangents, in the order of Request.Tangents. Each has the type
	// and shape of its value; the first axis is free unless the value is a stored tensor.
	Inputs []string
	// Outputs are the values whose tangents are computed: those of the request, or the default.
	Outputs []string
	// Tangents are the names of the outputs that hold the tangents, in the order of Outputs, each of the shape of its
	// value. The tangent of a value that no perturbation reaches is zero.
	Tangents []string
	// Note says what was changed beyond the additions; empty if nothing was.
	Note string
}

// UnsupportedError names a node that tangents have to pass and for which there is no rule.
type UnsupportedError struct {
	// file
	Model string
	// its name, or that of its first output
	Node string
	// with the domain before it unless it is a standard one
	Op     string
	Reason string
}

// Error is all of it in one line.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: no derivative through %s %q: %s", e.Model, e.Op, e.Node, e.Reason)
}

// Supported are the standard operators that tangents pass, sorted. Those whose derivative is zero everywhere are not
// among them: they stop tangents and are always allowed.
func Supported() []string { return slices.Sorted(maps.Keys(rules())) }

// Build adds to a copy of the model the nodes that push the tangents of r.Tangents to r.Outputs. The error is an
// [UnsupportedError] if a node on the way has no rule; it wraps [onnx.ErrNoValue] if a value does not exist.
func Build(m *onnx.Model, r Request) (*Result, error) {
	s, err := start(m, r)
	if err != nil {
		return nil, err
	}
	if err := s.sweep(); err != nil {
		return nil, err
	}
	res := s.res
	for _, v := range res.Outputs {
		t := s.tangent[v]
		if t == "" && !isFloat(s.types[v]) {
			return nil, fmt.Errorf("%s: no tangent gets to %q, and its type is not known; leave it out", m.Name(), v)
		}
		if t == "" {
			t = s.zeros(v)
		}
		name := s.unused("jvp:" + v)
		s.b.Graph().Node = append(s.b.Graph().Node, &onnxpb.NodeProto{
			OpType: new("Identity"), Input: []string{t}, Output: []string{name}, Name: new(name),
		})
		s.b.Graph().Output = append(s.b.Graph().Output, &onnxpb.ValueInfoProto{Name: new(name)})
		res.Tangents = append(res.Tangents, name)
	}
	res.Model, err = s.b.Model()
	return &res, err
}

// state is a sweep over the graph.
type state struct {
	m     *onnx.Model
	b     *onnx.Builder
	opset int
	// of the copy, before any were added
	nodes  []*onnxpb.NodeProto
	types  map[string]tensor.DType
	stored map[string]*onnxpb.TensorProto
	// input that takes the tangent of a value
	fed map[string]string
	// value that holds the tangent of a value; absent if it is zero
	tangent map[string]string
	// zeros of the shape of a value
	zero map[string]string
	// value that holds the shape of a value
	shape   map[string]string
	scalars map[scalar]string
	names   map[string]bool
	// of all values, for two sizes of the batch, as far as they are known
	shapes [2]map[string][]int
	res    Result
}

type scalar struct {
	v float64
	d tensor.DType
}

// start checks the request and makes the copy with its new inputs.
func start(m *onnx.Model, r Request) (*state, error) {
	s := &state{
		m: m, b: m.Edit(), types: m.Types(), stored: map[string]*onnxpb.TensorProto{}, fed: map[string]string{},
		tangent: map[string]string{},
		zero:    map[string]string{}, shape: map[string]string{}, scalars: map[scalar]string{},
		names: map[string]bool{},
	}
	g := s.b.Graph()
	s.nodes = slices.Clone(g.GetNode())
	for _, t := range g.GetInitializer() {
		s.stored[t.GetName()] = t
	}
	for _, n := range s.nodes {
		if a := onnx.Attr(n, "value"); n.GetOpType() == "Constant" && a != nil {
			s.stored[n.GetOutput()[0]] = a.GetT()
		}
	}
	for v := range s.types {
		s.names[v] = true
	}
	for i, n := range []int{2, 3} {
		if in, err := facts.SampleShapes(m.Signature(), n, nil); err == nil {
			if f, err := facts.Infer(m, in, nil); err == nil {
				s.shapes[i] = f.Shapes
			}
		}
	}
	if err := s.stamp(); err != nil {
		return nil, err
	}
	if len(r.Tangents) == 0 {
		return nil, fmt.Errorf("%s: no values to perturb; name at least one, such as %q", m.Name(),
			append(onnx.Names(m.Signature().Inputs), "")[0])
	}
	for i, v := range r.Tangents {
		if err := s.check(v, r.Tangents[:i], true); err != nil {
			return nil, err
		}
		s.feed(v)
	}
	outs := r.Outputs
	if len(outs) == 0 {
		for _, p := range m.Signature().Outputs {
			if t, known := s.types[p.Name]; (!known || isFloat(t)) && !slices.Contains(outs, p.Name) {
				outs = append(outs, p.Name)
			}
		}
		if len(outs) == 0 {
			return nil, fmt.Errorf("%s: no output of the model is of a floating-point type; name inner values",
				m.Name())
		}
	}
	for i, v := range outs {
		if err := s.check(v, outs[:i], false); err != nil {
			return nil, err
		}
	}
	s.res.Outputs = slices.Clone(outs)
	return s, nil
}

// check says whether a value exists and can have a tangent.
func (s *state) check(v string, before []string, fed bool) error {
	p, ok := s.m.Port(v)
	switch {
	case !ok:
		// Extract knows how to say which names are near.
		_, err := s.m.Extract(nil, []string{v})
		return err
	case slices.Contains(before, v):
		return fmt.Errorf("%s: the value %q is listed twice", s.m.Name(), v)
	case p.Kind == "" && !fed && s.made(v):
		return nil // what makes it decides: it has a rule, or is refused
	case !isFloat(p.DType):
		return fmt.Errorf("%s: %s has no tangent: its elements are not known to be of a floating-point type",
			s.m.Name(), p)
	}
	return nil
}

func isFloat(d tensor.DType) bool {
	return d == tensor.Float32 || d == tensor.Float64 || d == tensor.Float16 || d == tensor.BFloat16
}

// made tells whether a node makes the value.
func (s *state) made(v string) bool {
	return slices.ContainsFunc(s.nodes, func(n *onnxpb.NodeProto) bool { return slices.Contains(n.GetOutput(), v) })
}

// unused is a name like the one given that nothing bears yet.
func (s *state) unused(name string) string {
	for s.names[name] {
		name += "_"
	}
	s.names[name] = true
	return name
}

// feed adds the input that takes the tangent of v.
func (s *state) feed(v string) {
	p, _ := s.m.Port(v)
	info := onnx.ValueInfo(s.unused("tangent:"+v), p.DType)
	if !p.Ranked {
		info.GetType().GetTensorType().Shape = nil
	} else {
		axes := make([]any, len(p.Shape))
		for i, d := range p.Shape {
			switch {
			case i == 0 && s.stored[v] == nil && !d.Free():
				axes[i] = ""
			case d.Free():
				axes[i] = d.Name
			default:
				axes[i] = d.Size
			}
		}
		info = onnx.ValueInfo(info.GetName(), p.DType, axes...)
	}
	s.b.Graph().Input = append(s.b.Graph().Input, info)
	s.fed[v] = info.GetName()
	s.res.Inputs = append(s.res.Inputs, info.GetName())
}

// sweep runs through the nodes once. Only nodes between a perturbed value and a wanted one are looked at.
func (s *state) sweep() error {
	active := map[string]bool{} // a tangent gets there
	for v := range s.fed {
		active[v] = true
	}
	moves := func(n *onnxpb.NodeProto) bool {
		is := func(v string) bool { return active[v] }
		return slices.ContainsFunc(n.GetInput(), is) || slices.ContainsFunc(onnx.Captured(n), is)
	}
	for _, n := range s.nodes {
		if flat[n.GetOpType()] && standardDomain(n) || !moves(n) {
			continue
		}
		for _, o := range n.GetOutput() {
			if t, known := s.types[o]; o != "" && (!known || isFloat(t)) {
				active[o] = true
			}
		}
	}
	wanted := map[string]bool{} // its tangent is needed
	for _, v := range s.res.Outputs {
		wanted[v] = true
	}
	on := make([]bool, len(s.nodes))
	for i, n := range slices.Backward(s.nodes) {
		if !slices.ContainsFunc(n.GetOutput(), func(o string) bool { return wanted[o] && active[o] }) {
			continue
		}
		if flat[n.GetOpType()] && standardDomain(n) || !moves(n) {
			continue // perturbed from outside only
		}
		on[i] = true
		for _, v := range append(slices.Clone(n.GetInput()), onnx.Captured(n)...) {
			wanted[v] = wanted[v] || active[v]
		}
	}
	maps.Copy(s.tangent, s.fed)
	all := rules()
	for i, n := range s.nodes {
		if !on[i] {
			continue
		}
		c := &call{state: s, n: n, in: n.GetInput(), wanted: func(o string) bool { return wanted[o] && active[o] }}
		if err := c.push(all); err != nil {
			return err
		}
	}
	return nil
}

func standardDomain(n *onnxpb.NodeProto) bool {
	return n.GetDomain() == "" || n.GetDomain() == "ai.onnx"
}

// call is one node that tangents pass.
type call struct {
	*state
	n  *onnxpb.NodeProto
	in []string
	// tangents of the inputs; "" if there is none
	t      []string
	dt     tensor.DType
	wanted func(output string) bool
}

// push applies the rule of the node and files the tangents of its outputs.
func (c *call) push(all map[string]rule) error {
	n := c.n
	if !standardDomain(n) {
		return c.refuse("only the standard operators have rules; inline functions or decompose the operator before " +
			"the export")
	}
	if len(onnx.Captured(n)) > 0 || onnx.Attr(n, "body") != nil || onnx.Attr(n, "then_branch") != nil {
		return c.refuse("tangents do not follow control flow; export the model with the branch or the loop fixed")
	}
	r, ok := all[n.GetOpType()]
	if !ok {
		return c.refuse("there is no rule for this operator")
	}
	for _, a := range n.GetAttribute() {
		if !slices.Contains(strings.Fields(r.attrs), a.GetName()) {
			return c.refuse(fmt.Sprintf("the attribute %q is not known", a.GetName()))
		}
	}
	if len(c.in) < r.least || slices.Contains(c.in[:max(1, r.least)], "") || n.GetOutput()[0] == "" {
		return c.refuse(fmt.Sprintf("it lacks inputs or its first output; a sound file has %d inputs at least",
			max(1, r.least)))
	}
	c.t = make([]string, len(c.in))
	for i, v := range c.in {
		c.t[i] = c.tangent[v]
		if c.t[i] != "" && r.inputs >= 0 && i >= r.inputs {
			return c.refuse(fmt.Sprintf("its derivative by input %d (%q) is not known", i, v))
		}
		if c.t[i] != "" && c.dt == 0 {
			c.dt = c.types[v]
		}
	}
	if !isFloat(c.dt) {
		return c.refuse("the type of its inputs is not known; store the types in the file (Python: " +
			"onnx.shape_inference.infer_shapes)")
	}
	outs, err := r.push(c)
	if err != nil {
		return err
	}
	for i, o := range n.GetOutput() {
		if o == "" || !c.wanted(o) {
			continue
		}
		if i >= len(outs) || outs[i] == "" {
			return c.refuse(fmt.Sprintf("the derivative of its output %d (%q) is not known", i, o))
		}
		t := outs[i]
		if f := c.fed[o]; f != "" {
			t = c.op("Add", t, f)
		}
		c.tangent[o] = t
	}
	return nil
}

// refuse is the error that names the node.
func (c *call) refuse(reason string) error {
	e := &UnsupportedError{Model: c.m.Name(), Node: c.n.GetName(), Op: c.n.GetOpType(), Reason: reason}
	if !standardDomain(c.n) {
		e.Op = c.n.GetDomain() + "." + e.Op
	}
	for _, o := range c.n.GetOutput() {
		if e.Node == "" {
			e.Node = o
		}
	}
	return e
}

// op adds a node.
func (s *state) op(op string, in ...string) string { return s.b.Op(op, in) }

// num stores a number of the type of the node's tangents.
func (c *call) num(v float64) string { return c.number(v, c.dt) }

func (s *state) number(v float64, d tensor.DType) string {
	k := scalar{v, d}
	if s.scalars[k] == "" {
		s.scalars[k] = s.b.Const(number(v, d))
	}
	return s.scalars[k]
}

// zeros are zeros of the type and shape of a value, which must be known.
func (s *state) zeros(v string) string { return s.zerosOf(v, s.types[v]) }

// zeros are those of a value of the type of the node's tangents, if the file does not say its type or says one that has
// no tangents.
func (c *call) zeros(v string) string {
	if d := c.types[v]; isFloat(d) {
		return c.zerosOf(v, d)
	}
	return c.zerosOf(v, c.dt)
}

func (s *state) zerosOf(v string, d tensor.DType) string {
	if s.zero[v] == "" {
		x := number(0, d)
		x.Shape = []int{1}
		s.zero[v] = s.b.Op("ConstantOfShape", []string{s.shapeOf(v)}, onnx.AttrTensor("value", onnx.Stored("", x)))
	}
	return s.zero[v]
}

// shapeOf is the shape of a value, as a value.
func (s *state) shapeOf(v string) string {
	if s.shape[v] == "" {
		s.shape[v] = s.op("Shape", v)
	}
	return s.shape[v]
}

// tan is the tangent of an input, zeros if there is none.
func (c *call) tan(i int) string {
	if c.t[i] != "" {
		return c.t[i]
	}
	return c.zeros(c.in[i])
}

// has tells whether there is an input i and it moves.
func (c *call) has(i int) bool { return i < len(c.t) && c.t[i] != "" }

// out is the name of the first output.
func (c *call) out() string { return c.n.GetOutput()[0] }

// spread brings t, which has the shape of value v, to the shape of the first output.
func (c *call) spread(t, v string) string {
	same := true
	for _, s := range c.shapes {
		a, b := s[v], s[c.out()]
		same = same && a != nil && b != nil && slices.Equal(a, b)
	}
	if same {
		return t
	}
	return c.op("Expand", t, c.shapeOf(c.out()))
}

// again adds the node once more with other inputs, and returns its outputs.
func (c *call) again(in ...string) []string {
	for len(in) > 0 && in[len(in)-1] == "" {
		in = in[:len(in)-1]
	}
	return c.b.Ops(c.n.GetOpType(), len(c.n.GetOutput()), in, c.n.GetAttribute()...)
}

// sum adds what is not "".
func (c *call) sum(ts ...string) string {
	total := ""
	for _, t := range ts {
		switch {
		case t == "":
		case total == "":
			total = t
		default:
			total = c.op("Add", total, t)
		}
	}
	return total
}

// where selects b or, elsewhere, c.
func (c *call) where(cond, a, b string) string { return c.op("Where", cond, a, b) }

// attr is a float attribute.
func (c *call) attr(name string, def float64) float64 {
	if onnx.Attr(c.n, name) == nil {
		return def
	}
	return float64(onnx.Float(c.n, name, 0))
}

// constant is a stored input; nil if the input is computed or absent.
func (c *call) constant(i int) *onnxpb.TensorProto {
	if i >= len(c.in) {
		return nil
	}
	return c.stored[c.in[i]]
}
