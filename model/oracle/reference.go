package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Versions of the standard operators that are known. Where a file uses an older or a newer set it is refused.
const (
	MinOpset = 1
	MaxOpset = 23
)

// Elements is the default of [Options].Elements: 2 GiB of float64.
const Elements = 1 << 28

// UnsupportedError says that a graph cannot be evaluated, and names every node that stands in the way.
type UnsupportedError struct {
	// names, as in "Conv \"conv1\""; "" for the model as a whole
	Nodes []string
	// what is missing at each of Nodes: an operator, or an operator and what of it
	Ops []string
}

// Error lists all of it in one line.
func (e *UnsupportedError) Error() string {
	parts := make([]string, len(e.Nodes))
	for k, n := range e.Nodes {
		parts[k] = e.Ops[k]
		if n != "" {
			parts[k] += " at node " + n
		}
	}
	return "the float64 reference does not know " + strings.Join(parts, "; ")
}

// Options of a run.
type Options struct {
	// Values are the names of inner values to return after the outputs, in this order. Inputs and stored tensors may be
	// named too.
	Values []string
	// Round is the precision to simulate; the default Float64 rounds nothing.
	Round Precision
	// Elements bounds the tensor elements that a run holds at any one time; 8 bytes each. Default [Elements].
	Elements int
}

// Graph is a model that is ready to run. It is safe for concurrent use.
type Graph struct {
	inputs []port
	// inputs that have a value in the file
	defaults []port
	outputs  []port
	main     *body
	// every name of the main graph
	known map[string]bool
}

type port struct {
	name string
	typ  tensor.DType
	// -1 for free axes; nil if the file does not say
	shape []int
}

func portOf(p onnx.Port) port {
	out := port{name: p.Name, typ: p.DType}
	if p.Ranked {
		out.shape = append([]int{}, p.Sizes()...)
	}
	return out
}

// takes tells whether a shape fits.
func (p port) takes(shape []int) bool {
	return p.shape == nil || slices.EqualFunc(p.shape, shape, func(want, n int) bool { return want < 0 || want == n })
}

// kernel evaluates a node. Absent optional inputs are nil.
type kernel func(c *call) ([]*value, error)

// call is one evaluation of a node.
type call struct {
	*runner
	// where the values of the node's graph are
	scope *scope
	in    []*value
	outs  int
}

// step is a node of a graph.
type step struct {
	label, op string
	in, out   []string
	// values that its subgraphs read
	outer []string
	run   kernel
}

// body is a graph: the model's own, or that of an If, Loop or Scan.
type body struct {
	inputs  []port
	outputs []string
	steps   []step
	consts  map[string]*value
	// values of enclosing graphs that it reads
	outer   []string
	rounded [precisions]struct {
		sync.Once
		consts map[string]*value
	}
}

// constants are the stored tensors in a precision.
func (b *body) constants(p Precision) map[string]*value {
	p = p.stored()
	if p == Float64 {
		return b.consts
	}
	r := &b.rounded[p]
	r.Do(func() {
		r.consts = make(map[string]*value, len(b.consts))
		for name, v := range b.consts {
			if v.float() {
				v = &value{typ: v.typ, shape: v.shape, f: slices.Clone(v.f)}
				p.roundAll(v.f)
			}
			r.consts[name] = v
		}
	})
	return r.consts
}

// builder compiles graphs and gathers what is missing.
type builder struct {
	ops     map[string][]entry
	opset   int
	missing UnsupportedError
	depth   int
}

// maxDepth bounds graphs within graphs.
const maxDepth = 16

func (b *builder) miss(node, format string, args ...any) {
	b.missing.Nodes = append(b.missing.Nodes, node)
	b.missing.Ops = append(b.missing.Ops, fmt.Sprintf(format, args...))
}

// Load prepares a model. The error is an [*UnsupportedError] that names every node with an operator, a version, an
// attribute or a number of inputs that is not known here.
func Load(m *onnx.Model) (*Graph, error) {
	sig := m.Signature()
	b := &builder{ops: operators(), opset: m.Opset()}
	if b.opset != 0 && (b.opset < MinOpset || b.opset > MaxOpset) {
		b.miss("", "operator set %d (known are %d to %d; convert the model with onnx.version_converter or export it "+
			"again)", b.opset, MinOpset, MaxOpset)
		return nil, &b.missing
	}
	g := &Graph{known: map[string]bool{}}
	add := func(ps []onnx.Port, to *[]port) {
		for _, p := range ps {
			if p.Kind != "tensor" && p.Kind != "" || p.DType != tensor.Undefined && p.DType.Size() == 0 {
				b.miss("", "the input %q of kind %s and element type %s", p.Name, cmp.Or(p.Kind, "unknown"), p.DType)
			}
			*to = append(*to, portOf(p))
			g.known[p.Name] = true
		}
	}
	add(sig.Inputs, &g.inputs)
	add(sig.Defaults, &g.defaults)
	g.main = b.body(m.Proto().GetGraph(), true)
	if len(b.missing.Nodes) > 0 {
		return nil, &b.missing
	}
	for _, p := range sig.Outputs {
		g.outputs = append(g.outputs, portOf(p))
	}
	for name := range g.main.consts {
		g.known[name] = true
	}
	for _, s := range g.main.steps {
		for _, out := range s.out {
			g.known[out] = true
		}
	}
	for _, out := range g.outputs {
		if !g.known[out.name] {
			b.miss("", "the output %q, which nothing makes", out.name)
			return nil, &b.missing
		}
	}
	return g, nil
}

// body compiles a graph.
func (b *builder) body(p *onnxpb.GraphProto, main bool) *body {
	g := &body{consts: map[string]*value{}}
	if b.depth++; b.depth > maxDepth {
		b.miss("", "graphs nested more than %d deep", maxDepth)
		return g
	}
	defer func() { b.depth-- }()
	have := map[string]bool{}
	for _, t := range p.GetInitializer() {
		x, err := onnx.Value(t)
		if err != nil {
			b.miss("", "stored tensor %q: %v", t.GetName(), err)
			continue
		}
		v, err := decode(x)
		if err != nil {
			b.miss("", "stored tensor %q: %v", t.GetName(), err)
			continue
		}
		g.consts[t.GetName()] = v
		have[t.GetName()] = true
	}
	for _, t := range p.GetSparseInitializer() {
		b.miss("", "sparse stored tensor %q", t.GetValues().GetName())
	}
	for _, in := range p.GetInput() {
		g.inputs = append(g.inputs,
			port{name: in.GetName(), typ: tensor.DType(in.GetType().GetTensorType().GetElemType())})
		have[in.GetName()] = true
	}
	read := func(name string) {
		if !main && name != "" && !have[name] && !slices.Contains(g.outer, name) {
			g.outer = append(g.outer, name)
		}
	}
	for _, n := range p.GetNode() {
		s, ok := b.step(n)
		if !ok {
			s = step{in: n.GetInput(), out: n.GetOutput()}
		}
		for _, name := range slices.Concat(s.in, s.outer) {
			read(name)
		}
		for _, name := range s.out {
			have[name] = true
		}
		g.steps = append(g.steps, s)
	}
	for _, out := range p.GetOutput() {
		g.outputs = append(g.outputs, out.GetName())
		read(out.GetName())
	}
	return g
}

// step compiles a node; false if something is missing.
func (b *builder) step(n *onnxpb.NodeProto) (step, bool) {
	label, op := onnx.Describe(n), n.GetOpType()
	if d := n.GetDomain(); d != "" && d != "ai.onnx" {
		b.miss(label, "%s of the domain %q", op, d)
		return step{}, false
	}
	e, ok := find(b.ops[op], b.opset)
	if !ok {
		if len(b.ops[op]) > 0 {
			op += fmt.Sprintf(" (operator set %d)", b.opset)
		}
		b.miss(label, "%s", op)
		return step{}, false
	}
	in, out := n.GetInput(), n.GetOutput()
	for len(in) > 0 && in[len(in)-1] == "" {
		in = in[:len(in)-1]
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	if len(in) < e.least && (e.optional < e.least || len(n.GetInput()) < e.least) || e.most >= 0 && len(in) > e.most {
		b.miss(label, "%s with %d inputs", op, len(in))
		return step{}, false
	}
	for k := e.optional; k < e.least; k++ {
		if in[k] == "" {
			b.miss(label, "%s without input %d", op, k)
			return step{}, false
		}
	}
	if e.outs >= 0 && len(out) > e.outs {
		b.miss(label, "%s with %d outputs", op, len(out))
		return step{}, false
	}
	before := len(b.missing.Nodes)
	a := &attrs{n: n, opset: b.opset, outs: len(out), used: map[string]bool{}, build: b}
	run := e.build(a)
	if a.err == nil {
		if name := a.rest(); name != "" {
			a.fail("attribute %s", name)
		}
	}
	if a.err != nil {
		b.miss(label, "%s: %v", op, a.err)
	}
	s := step{label: label, op: op, in: in, out: out, run: run}
	for _, g := range a.bodies {
		s.outer = append(s.outer, g.outer...)
	}
	return s, len(b.missing.Nodes) == before
}

// runner is one Run.
type runner struct {
	budget
	// lives as long as the call of Run that it was given to
	ctx   context.Context
	round Precision
}

// scope holds the values of a graph while it runs.
type scope struct {
	values map[string]*value
	outer  *scope
}

func (s *scope) find(name string) *value {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v
		}
	}
	return nil
}

// Inputs are the names of the inputs that must be fed, in the model's order.
func (g *Graph) Inputs() []string { return names(g.inputs) }

// Outputs are the names of the model's outputs, in its order.
func (g *Graph) Outputs() []string { return names(g.outputs) }

func names(ps []port) []string {
	out := make([]string, len(ps))
	for k, p := range ps {
		out[k] = p.name
	}
	return out
}

// check says whether options fit the model.
func (g *Graph) check(o Options) error {
	if o.Round < 0 || o.Round >= precisions {
		return fmt.Errorf("unknown precision %d", o.Round)
	}
	for _, name := range o.Values {
		if !g.known[name] {
			return fmt.Errorf("the model has no value %q: %w", name, onnx.ErrNoValue)
		}
	}
	return nil
}

// Run evaluates the model on inputs given in any order: one for each of [Graph.Inputs], floating-point inputs of any
// floating-point type. It returns the outputs and then o.Values, floats as float64. The context is looked at between
// nodes. Errors name the node.
func (g *Graph) Run(ctx context.Context, in []tensor.Named, o Options) ([]tensor.Named, error) {
	if err := g.check(o); err != nil {
		return nil, err
	}
	r := &runner{budget: budget{limit: cmp.Or(max(o.Elements, 0), Elements)}, ctx: ctx, round: o.Round}
	top := &scope{values: map[string]*value{}}
	for _, x := range in {
		k := slices.IndexFunc(g.inputs, func(p port) bool { return p.name == x.Name })
		ports := g.inputs
		if k < 0 {
			k, ports = slices.IndexFunc(g.defaults, func(p port) bool { return p.name == x.Name }), g.defaults
		}
		if k < 0 {
			return nil, fmt.Errorf("the model has no input %q; its inputs are %q", x.Name, g.Inputs())
		}
		if top.values[x.Name] != nil {
			return nil, fmt.Errorf("input %q is given twice", x.Name)
		}
		want := ports[k].typ
		if want != tensor.Undefined && want != x.DType && (!isFloat(want) || !isFloat(x.DType)) {
			return nil, fmt.Errorf("input %q is %s, want %s", x.Name, x.DType, want)
		}
		if !ports[k].takes(x.Shape) {
			return nil, fmt.Errorf("input %q has the shape %v, want %v (-1: any length)", x.Name, x.Shape,
				ports[k].shape)
		}
		if _, err := r.take(x.Shape); err != nil {
			return nil, fmt.Errorf("input %q: %w", x.Name, err)
		}
		v, err := decode(x.Tensor)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", x.Name, err)
		}
		if want != tensor.Undefined {
			v.typ = want
		}
		r.round.stored().roundAll(v.f)
		top.values[x.Name] = v
	}
	for _, p := range g.inputs {
		if top.values[p.name] == nil {
			return nil, fmt.Errorf("input %q is missing; the model's inputs are %q", p.name, g.Inputs())
		}
	}
	r.local = 0 // eval counts the inputs
	want := slices.Concat(g.Outputs(), o.Values)
	got, err := r.eval(g.main, top, want)
	if err != nil {
		return nil, err
	}
	out := make([]tensor.Named, len(want))
	for k, v := range got {
		if k < len(g.outputs) {
			if d := g.outputs[k].typ; d != tensor.Undefined && d != v.typ && (!v.float() || !isFloat(d)) {
				return nil, fmt.Errorf("output %q is %s, the model declares %s", want[k], v, d)
			}
		}
		out[k] = tensor.Named{Name: want[k], Tensor: v.encode()}
	}
	return out, nil
}

// eval runs a graph whose inputs are in s and returns the named values.
func (r *runner) eval(b *body, s *scope, names []string) ([]*value, error) {
	held := r.live
	defer func() { r.live = held }()
	for _, v := range s.values {
		r.live += v.len()
	}
	for name, v := range b.constants(r.round) {
		if _, fed := s.values[name]; !fed { // a stored tensor may be the default of an input
			s.values[name] = v
		}
	}
	// Which steps are needed, and after which step each value is not.
	last, need := map[string]int{}, make([]bool, len(b.steps))
	for _, name := range names {
		last[name] = len(b.steps)
	}
	for k := len(b.steps) - 1; k >= 0; k-- {
		st := &b.steps[k]
		need[k] = slices.ContainsFunc(st.out, func(name string) bool { _, ok := last[name]; return ok && name != "" })
		if !need[k] {
			continue
		}
		for _, names := range [][]string{st.in, st.outer} {
			for _, name := range names {
				if _, ok := last[name]; !ok {
					last[name] = k
				}
			}
		}
	}
	for k := range b.steps {
		if !need[k] {
			continue
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		st := &b.steps[k]
		if err := r.one(st, s); err != nil {
			if errors.Is(err, r.ctx.Err()) {
				return nil, err
			}
			return nil, fmt.Errorf("%s: %w", st.label, err)
		}
		for _, names := range [][]string{st.in, st.outer} {
			for _, name := range names {
				if v, ok := s.values[name]; ok && last[name] <= k && b.consts[name] == nil {
					r.live -= v.len()
					delete(s.values, name)
				}
			}
		}
	}
	out := make([]*value, len(names))
	for k, name := range names {
		if out[k] = s.find(name); out[k] == nil {
			return nil, fmt.Errorf("nothing makes %q", name)
		}
	}
	return out, nil
}

// one runs a node.
func (r *runner) one(st *step, s *scope) error {
	c := &call{runner: r, scope: s, in: make([]*value, len(st.in)), outs: len(st.out)}
	for k, name := range st.in {
		if name == "" {
			continue
		}
		if c.in[k] = s.find(name); c.in[k] == nil {
			return fmt.Errorf("nothing makes its input %q", name)
		}
	}
	outer := r.local
	r.local = 0
	r.live += outer // what the node around this graph holds
	out, err := st.run(c)
	r.live -= outer
	r.local = outer
	if err != nil {
		return err
	}
	if len(out) < len(st.out) {
		return fmt.Errorf("output %d is not computed here", len(out))
	}
	for k, name := range st.out {
		if name == "" {
			continue
		}
		v := out[k]
		if v == nil {
			return fmt.Errorf("output %d is not computed here", k)
		}
		if v.float() && !v.shared {
			r.round.stored().roundAll(v.f)
		}
		r.live += v.len()
		s.values[name] = v
	}
	return nil
}
