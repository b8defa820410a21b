package onnx

import (
	"fmt"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/internal/spell"
	"nero/model/onnx/onnxpb"

	"google.golang.org/protobuf/proto"
)

// Bytes encodes the model, as engines take it.
func (m *Model) Bytes() ([]byte, error) {
	if m.source != nil {
		return m.source, nil
	}
	return proto.Marshal(m.proto)
}

// Port is what is known of any value of the model's graph without running it: inputs, outputs, inner values, stored
// tensors. Type and shape are those that the file declares; a type that it leaves out follows from the operators where
// they decide it. The result is false if there is no such value.
func (m *Model) Port(name string) (Port, bool) {
	g := m.proto.GetGraph()
	v := declarations(g)[name]
	if v == nil && !slices.Contains(allValues(g), name) {
		return Port{}, false
	}
	p := Port{Name: name}
	if v != nil {
		p = port(v)
	}
	if p.Kind == "" {
		if t := elemTypes(g, nil)[name]; t != 0 {
			p.Kind, p.DType = "tensor", tensor.DType(t)
		}
	}
	return p, true
}

// Types are the element types of the values of the model's graph, as [Model.Port] tells them. Values whose type is not
// known, and those that are no tensors, are left out.
func (m *Model) Types() map[string]tensor.DType {
	types := map[string]tensor.DType{}
	for name, t := range elemTypes(m.proto.GetGraph(), nil) {
		if t > 0 {
			types[name] = tensor.DType(t)
		}
	}
	return types
}

// Captured are the outer values that the subgraphs of a node read (bodies of If, Loop and Scan), each once, in the
// order of their use.
func Captured(n *onnxpb.NodeProto) []string {
	var names []string
	for _, a := range n.GetAttribute() {
		if a.GetG() != nil {
			names = append(names, free(a.GetG())...)
		}
		for _, g := range a.GetGraphs() {
			names = append(names, free(g)...)
		}
	}
	return unique(names)
}

// free are the values that a subgraph reads and does not make.
func free(g *onnxpb.GraphProto) []string {
	own := initializers(g)
	for _, v := range g.GetInput() {
		own[v.GetName()] = true
	}
	var names []string
	use := func(vs []string) {
		for _, v := range vs {
			if v != "" && !own[v] {
				names = append(names, v)
			}
		}
	}
	for _, n := range g.GetNode() {
		use(n.GetInput())
		use(Captured(n))
		for _, o := range n.GetOutput() {
			own[o] = true
		}
	}
	for _, v := range g.GetOutput() {
		use([]string{v.GetName()})
	}
	return names
}

func unique(names []string) []string {
	seen := make(map[string]bool, len(names))
	return slices.DeleteFunc(names, func(n string) bool {
		was := seen[n]
		seen[n] = true
		return was
	})
}

// reads are the values that a node needs, those of its subgraphs included.
func reads(n *onnxpb.NodeProto) []string {
	r := slices.DeleteFunc(slices.Clone(n.GetInput()), func(s string) bool { return s == "" })
	return append(r, Captured(n)...)
}

// draws lists operators that make new values out of nothing.
var draws = map[string]bool{
	"RandomNormal": true, "RandomUniform": true, "RandomNormalLike": true, "RandomUniformLike": true, "Bernoulli": true,
	"Multinomial": true,
}

// Cut is the state of a model between two nodes.
type Cut struct {
	// index of the node that was run last, in the file's order
	Node int
	// of that node; the name is that of its first output if it has none
	Name, Op string
	// values that the node made
	Produced []string
	// Live are the values that are known at this point and still needed: read later, or outputs of the model. They come
	// in the order inputs, then inner values as they are made. What depends on constants alone is not among them.
	//
	// For cuts c and d in this order, Extract(c.Live, d.Live) is what happens in between, and Extract(c.Live, outputs)
	// is the rest.
	Live []string
	// Floats are the values of Live that hold floating-point numbers. The others are shapes, indices and masks, which
	// carry no perturbation and have to be fed as they are.
	Floats []string
}

// Cuts are the places between the nodes of the graph, one after each node in the file's order.
func (m *Model) Cuts() []Cut {
	g := m.proto.GetGraph()
	given, types := initializers(g), elemTypes(g, nil)
	last := map[string]int{} // index of the node that reads a value last
	for i, n := range g.GetNode() {
		for _, v := range reads(n) {
			last[v] = i
		}
	}
	for _, v := range g.GetOutput() {
		last[v.GetName()] = len(g.GetNode())
	}
	varies := map[string]bool{}
	var live []string
	for _, v := range g.GetInput() {
		if !given[v.GetName()] {
			varies[v.GetName()] = true
			live = append(live, v.GetName())
		}
	}
	cuts := make([]Cut, 0, len(g.GetNode()))
	for i, n := range g.GetNode() {
		c := Cut{Node: i, Op: n.GetOpType(), Name: n.GetName()}
		moves := draws[n.GetOpType()] || slices.ContainsFunc(reads(n), func(v string) bool { return varies[v] })
		for _, o := range n.GetOutput() {
			if o == "" {
				continue
			}
			c.Produced = append(c.Produced, o)
			varies[o] = moves
			if moves {
				live = append(live, o)
			}
		}
		if c.Name == "" && len(c.Produced) > 0 {
			c.Name = c.Produced[0]
		}
		live = slices.DeleteFunc(live, func(v string) bool { return last[v] <= i })
		c.Live = slices.Clone(live)
		for _, v := range live {
			if isFloat(types[v]) {
				c.Floats = append(c.Floats, v)
			}
		}
		cuts = append(cuts, c)
	}
	return cuts
}

// isFloat tells element types that hold floating-point numbers.
func isFloat(t int32) bool {
	switch tensor.DType(t) {
	case tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64:
		return true
	case tensor.Undefined, tensor.String, tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32,
		tensor.Int64,
		tensor.Bool, tensor.Uint32, tensor.Uint64:
	}
	return false
}

// Extract is the part of the model that computes the values out from the values in, as a model of its own. Its inputs
// are exactly in and its outputs exactly out, in those orders. Either may be inputs, inner values or stored tensors of
// the model; a value of in cuts the graph: what made it is left out, and a stored tensor becomes an input that must be
// fed. Values that are in both are handed through. Only what out needs is kept of nodes, stored tensors, functions and
// operator sets. Ports keep the type and shape that the file declares.
//
// An error wraps [ErrNoValue] if a name does not exist; it names the model's input and the way from there if something
// of out depends on more than in, and the value if nothing tells the type of one of in.
func (m *Model) Extract(in, out []string) (*Model, error) {
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no values to extract; name at least one", m.name)
	}
	g := m.proto.GetGraph()
	all := allValues(g)
	for _, list := range [][]string{in, out} {
		for i, name := range list {
			if !slices.Contains(all, name) {
				return nil, fmt.Errorf("%s: %w: %s%s", m.name, ErrNoValue, quote(name), nearest(name, all))
			}
			if slices.Contains(list[:i], name) {
				return nil, fmt.Errorf("%s: the value %s is listed twice", m.name, quote(name))
			}
		}
	}
	w := walk{
		g: g, given: initializers(g), maker: map[string]int{}, fed: map[string]bool{}, why: map[string]string{},
		keep: map[int]bool{},
	}
	for i, n := range g.GetNode() {
		for _, o := range n.GetOutput() {
			if o != "" {
				w.maker[o] = i
			}
		}
	}
	for _, v := range in {
		w.fed[v] = true
	}
	for _, v := range out {
		if missing := w.back(v); missing != "" {
			return nil, fmt.Errorf(
				"%s: %s also depends on the input %s, by way of %s: add the input, or one value on each such way",
				m.name, quote(v), quote(missing), w.path(missing, v))
		}
	}
	return m.part(&w, in, out)
}

// walk goes backwards from values to what they need.
type walk struct {
	g     *onnxpb.GraphProto
	given map[string]bool
	// index of the node that makes a value
	maker map[string]int
	fed   map[string]bool
	// for every value visited, the one that needed it first
	why map[string]string
	// nodes
	keep map[int]bool
}

// back marks what v needs. It returns an input that is needed and not fed, "" if there is none.
func (w *walk) back(v string) string {
	stack := []string{v}
	if _, seen := w.why[v]; !seen {
		w.why[v] = ""
	}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.fed[v] {
			continue
		}
		i, made := w.maker[v]
		switch {
		case !made && w.given[v]:
			continue
		case !made:
			return v
		case w.keep[i]:
			continue
		}
		w.keep[i] = true
		for _, r := range reads(w.g.GetNode()[i]) {
			if _, seen := w.why[r]; !seen {
				w.why[r] = v
				stack = append(stack, r)
			}
		}
	}
	return ""
}

// path describes the way from a value to the one that needed it, the inner values only.
func (w *walk) path(from, to string) string {
	var names []string
	for v := w.why[from]; v != "" && v != to; v = w.why[v] {
		names = append(names, quote(v))
	}
	const most = 6
	switch {
	case len(names) == 0:
		return "nothing else"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// part puts the nodes of a walk together.
func (m *Model) part(w *walk, in, out []string) (*Model, error) {
	declared, types := declarations(w.g), elemTypes(w.g, nil)
	p, g := shallow(m.proto), shallow(w.g)
	p.Graph, p.MetadataProps, p.TrainingInfo = g, nil, nil
	g.Input, g.Output, g.Node, g.Initializer, g.SparseInitializer, g.ValueInfo, g.QuantizationAnnotation = nil, nil,
		nil, nil, nil, nil, nil
	for _, v := range in {
		d := declared[v]
		if d.GetType() == nil {
			t := types[v]
			if t <= 0 {
				return nil, fmt.Errorf(
					"%s: the file does not state the type of %s, and the operators do not decide it; cut elsewhere, "+
						"or store the types "+
						"in the file (Python: onnx.save(onnx.shape_inference.infer_shapes(onnx.load(path)), path))",
					m.name,
					quote(v))
			}
			d = &onnxpb.ValueInfoProto{Name: new(v), Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
				TensorType: &onnxpb.TypeProto_Tensor{ElemType: new(t)},
			}}}
		}
		g.Input = append(g.Input, d)
	}
	for _, v := range out {
		d := declared[v]
		if d == nil {
			d = &onnxpb.ValueInfoProto{Name: new(v)}
		}
		g.Output = append(g.Output, d)
	}
	used := map[string]bool{}
	for _, v := range out {
		used[v] = true
	}
	taken := map[string]bool{}
	for _, v := range allValues(w.g) {
		taken[v] = true
	}
	for i, n := range w.g.GetNode() {
		if !w.keep[i] {
			continue
		}
		for _, v := range reads(n) {
			used[v] = true
		}
		g.Node = append(g.Node, renamed(n, w.fed, taken))
	}
	if len(g.GetNode()) == 0 { // everything is handed through, but a graph has at least one node
		g.Node = []*onnxpb.NodeProto{{OpType: new("Identity"), Input: out[:1], Output: []string{spare(out[0], taken)}}}
	}
	for _, t := range w.g.GetInitializer() {
		if used[t.GetName()] && !w.fed[t.GetName()] {
			g.Initializer = append(g.Initializer, t)
		}
	}
	for _, t := range w.g.GetSparseInitializer() {
		if name := t.GetValues().GetName(); used[name] && !w.fed[name] {
			g.SparseInitializer = append(g.SparseInitializer, t)
		}
	}
	for _, v := range w.g.GetValueInfo() {
		if name := v.GetName(); used[name] && !w.fed[name] && !slices.Contains(out, name) {
			g.ValueInfo = append(g.ValueInfo, v)
		}
	}
	for _, q := range w.g.GetQuantizationAnnotation() {
		if used[q.GetTensorName()] {
			g.QuantizationAnnotation = append(g.QuantizationAnnotation, q)
		}
	}
	needed(p)
	if err := validate(p); err != nil {
		return nil, fmt.Errorf("%s: the part from %v to %v: %w", m.name, in, out, err)
	}
	return &Model{name: m.name, size: proto.Size(p), proto: p, sig: signature(p)}, nil
}

// renamed is the node with other names for outputs that are fed from outside: a node with several outputs may still be
// needed for another one.
func renamed(n *onnxpb.NodeProto, fed, taken map[string]bool) *onnxpb.NodeProto {
	if !slices.ContainsFunc(n.GetOutput(), func(o string) bool { return fed[o] }) {
		return n
	}
	c := shallow(n)
	c.Output = slices.Clone(n.GetOutput())
	for i, o := range c.GetOutput() {
		if fed[o] {
			c.Output[i] = spare(o, taken)
		}
	}
	return c
}

// spare is a name like the one given that nothing bears yet.
func spare(name string, taken map[string]bool) string {
	for taken[name] || name == "" {
		name += "_"
	}
	taken[name] = true
	return name
}

// needed drops functions and operator sets that no node uses.
func needed(p *onnxpb.ModelProto) {
	type key struct{ domain, op string }
	called, domains := map[key]bool{}, map[string]bool{"": true}
	note := func(n *onnxpb.NodeProto) {
		called[key{standard(n.GetDomain()), n.GetOpType()}] = true
		domains[standard(n.GetDomain())] = true
	}
	visitGraph(p.GetGraph(), note, nil)
	all := p.GetFunctions()
	p.Functions = nil
	kept := make([]bool, len(all))
	for again := true; again; { // functions call functions
		again = false
		for i, f := range all {
			if !kept[i] && called[key{standard(f.GetDomain()), f.GetName()}] {
				kept[i], again = true, true
				for _, n := range f.GetNode() {
					visitNode(n, note, nil)
				}
			}
		}
	}
	for i, f := range all {
		if kept[i] {
			p.Functions = append(p.Functions, f)
		}
	}
	p.OpsetImport = slices.DeleteFunc(slices.Clone(p.GetOpsetImport()), func(o *onnxpb.OperatorSetIdProto) bool {
		return !domains[standard(o.GetDomain())]
	})
}

// allValues are the names of all values of a graph: inputs, stored tensors, then inner values as they are made.
func allValues(g *onnxpb.GraphProto) []string {
	var names []string
	for _, v := range g.GetInput() {
		names = append(names, v.GetName())
	}
	for _, t := range g.GetInitializer() {
		names = append(names, t.GetName())
	}
	for _, t := range g.GetSparseInitializer() {
		names = append(names, t.GetValues().GetName())
	}
	for _, n := range g.GetNode() {
		for _, o := range n.GetOutput() {
			if o != "" {
				names = append(names, o)
			}
		}
	}
	return unique(names)
}

// nearest suggests the name that was probably meant.
func nearest(name string, all []string) string {
	if near, ok := spell.Nearest(name, all); ok {
		return "; the nearest is " + quote(near)
	}
	return "; Values lists what there is"
}

// declarations are what the file says of its values; stored tensors say it themselves.
func declarations(g *onnxpb.GraphProto) map[string]*onnxpb.ValueInfoProto {
	d := map[string]*onnxpb.ValueInfoProto{}
	for _, list := range [][]*onnxpb.ValueInfoProto{g.GetInput(), g.GetOutput(), g.GetValueInfo()} {
		for _, v := range list {
			if old := d[v.GetName()]; old.GetType() == nil {
				d[v.GetName()] = v
			}
		}
	}
	for _, t := range g.GetInitializer() {
		axes := make([]any, len(t.GetDims()))
		for i, n := range t.GetDims() {
			axes[i] = int(n)
		}
		d[t.GetName()] = ValueInfo(t.GetName(), tensor.DType(t.GetDataType()), axes...)
	}
	return d
}
