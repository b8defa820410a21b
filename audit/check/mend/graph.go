package mend

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nero/audit"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
	"nero/symmetry/group"
)

// graph is the graph of a model as far as it matters for leaving nodes out.
type graph struct {
	model *onnx.Model
	nodes []*onnxpb.NodeProto
	// what was put around the model, of which no node is left out; nil for other models
	wrapper *rewrite.Wrapper
	shapes  map[string][]int
	// node that makes a value
	made map[string]int
	// values that depend on the input, inputs among them
	varies map[string]bool
	// that are asked for
	outputs []string
	stored  map[string]*onnxpb.TensorProto
	places  places
	// name of a node that is known to break; "" for none
	broken string
	// name of the first node that breaks if values move as they are taken to; "" for none
	first string
	// names of nodes whose values are known to move as they should
	sound map[string]bool
	// axes that count places of lists of rows, see [graph.line]; those that were asked for
	lines map[string]int
}

// gap is what is left out: the value to is taken to be the value from.
type gap struct {
	from, to string
	// Nodes are those on the way, the one that makes to last; left are all that nobody needs any more.
	nodes, left []int
}

// places says which axes of a value count places or moments that the group moves. Rows are none: what depends on their
// order is told by exchanging them.
type places struct {
	// the last two axes of a map are places of a picture, the last axis is moments
	picture, moments bool
}

// axes are those of a value of some shape, its batch axis included, that count places.
func (p places) axes(shape []int) []int {
	n := len(shape)
	switch {
	case p.picture && n >= 4:
		return []int{n - 2, n - 1}
	case p.moments && n >= 3:
		return []int{n - 1}
	}
	return nil
}

// placesOf finds out what the group moves in samples like v.
func placesOf(G group.Group, v space.Value) places {
	var p places
	var look func(f group.Group)
	look = func(f group.Group) {
		if f, ok := f.(group.Factored); ok {
			for _, x := range f.Factors() {
				look(x)
			}
			return
		}
		if f, ok := f.(group.Flowing); ok {
			look(f.Inner())
		}
		if _, ok := f.(group.Planar); ok {
			_, h, _ := space.Grid(v)
			p.picture = p.picture || h > 0 || space.Picture(v) != nil
		}
		if _, ok := f.(group.Shifting); ok {
			_, p.moments = v.(space.Sequence)
		}
	}
	look(G)
	p.moments = p.moments && !p.picture
	return p
}

// survey reads the graph, with the shapes that it has for the input x.
func survey(ctx context.Context, p *audit.Pass, m *interior.Model, x space.Value) (*graph, error) {
	arrays, err := m.Arrays(ctx, []space.Value{x})
	if err != nil {
		return nil, err
	}
	in := map[string][]int{}
	for i, port := range m.ONNX().Signature().Inputs {
		n, shape := 1, arrays[0][i].Shape
		if len(port.Shape) > 0 && !port.Shape[0].Free() {
			n = port.Shape[0].Size
		}
		if !port.Ranked || len(port.Shape) > len(shape) { // arrays have no batch axis
			shape = append([]int{n}, shape...)
		}
		in[port.Name] = shape
	}
	f, err := facts.Infer(m.ONNX(), in, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: the shapes inside the graph are not known: %w", audit.ErrUntested, err)
	}
	g := &graph{
		model: m.ONNX(), wrapper: rewrite.Wrapped(m.ONNX()), nodes: m.ONNX().Proto().GetGraph().GetNode(),
		shapes: f.Shapes, made: map[string]int{},
		varies: map[string]bool{}, stored: map[string]*onnxpb.TensorProto{}, outputs: m.Outputs(),
		places: placesOf(p.Subject.Plan.Group, x), lines: map[string]int{},
	}
	for _, name := range m.Inputs() {
		g.varies[name] = true
	}
	for _, t := range m.ONNX().Proto().GetGraph().GetInitializer() {
		g.stored[t.GetName()] = t
	}
	for i, n := range g.nodes {
		if n.GetOpType() == "Constant" {
			g.stored[n.GetOutput()[0]] = onnx.Attr(n, "value").GetT()
		}
		for _, o := range n.GetOutput() {
			if o != "" {
				g.made[o] = i
				g.varies[o] = !sizes[n.GetOpType()] &&
					slices.ContainsFunc(reads(n), func(v string) bool { return g.varies[v] })
			}
		}
	}
	return g, nil
}

// sizes are operators that read how large a value is and not what it holds: no element changes that. What is computed
// of sizes is a form, and a graph whose forms do not fit may end the engine, and with it the audit.
var sizes = set("Shape", "Size")

// reads are the values that a node needs.
func reads(n *onnxpb.NodeProto) []string {
	return append(slices.DeleteFunc(slices.Clone(n.GetInput()), func(v string) bool { return v == "" }),
		onnx.Captured(n)...)
}

func (g *graph) name(i int) string {
	if n := g.nodes[i].GetName(); n != "" {
		return n
	}
	return g.nodes[i].GetOutput()[0]
}

func (g *graph) op(name string) string {
	for i := range g.nodes {
		if g.name(i) == name {
			return g.nodes[i].GetOpType()
		}
	}
	return ""
}

// makes is the one value of a node; "" for nodes that make several.
func makes(n *onnxpb.NodeProto) string {
	list := slices.DeleteFunc(slices.Clone(n.GetOutput()), func(v string) bool { return v == "" })
	if len(list) != 1 {
		return ""
	}
	return list[0]
}

// needed are the nodes that lead to the outputs where the value to is taken to be the value from; "" for the graph as
// it is.
func (g *graph) needed(from, to string) map[int]bool {
	need, out := map[string]bool{}, map[int]bool{}
	for _, v := range g.outputs {
		need[v] = true
	}
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := g.nodes[i]
		if !slices.ContainsFunc(n.GetOutput(), func(v string) bool { return v != "" && need[v] }) {
			continue
		}
		if to != "" && makes(n) == to {
			need[from] = true
			continue
		}
		out[i] = true
		for _, v := range reads(n) {
			need[v] = true
		}
	}
	return out
}

// gapOf is the gap between two values with what it leaves out.
func (g *graph) gapOf(from, to string, on []int) *gap {
	before, after := g.needed("", ""), g.needed(from, to)
	a := &gap{from: from, to: to, nodes: on}
	for i := range g.nodes {
		if before[i] && !after[i] {
			a.left = append(a.left, i)
		}
	}
	return a
}

// alike tells whether a value can stand in the place of another.
func (g *graph) alike(from, to string) bool {
	a, ok := g.shapes[from]
	b, known := g.shapes[to]
	return ok && known && g.varies[from] && slices.Equal(a, b)
}

// forgives tells whether a gap makes values that are not broken, or comes after a node that is known to break and is
// not left out with it: a linear model, or one that looks at lengths alone, may hold whatever its weights are. What
// hands numbers to other places is not told by how they move there.
func (g *graph) forgives(a *gap) bool {
	last := a.nodes[len(a.nodes)-1]
	if g.sound[g.name(last)] && !moves[g.nodes[last].GetOpType()] {
		return true
	}
	if g.broken == "" {
		return false
	}
	from := map[string]bool{}
	for i, n := range g.nodes {
		if g.name(i) == g.broken {
			if slices.Contains(a.left, i) {
				return false
			}
			for _, o := range n.GetOutput() {
				from[o] = true
			}
			continue
		}
		if slices.ContainsFunc(reads(n), func(v string) bool { return from[v] }) {
			for _, o := range n.GetOutput() {
				from[o] = true
			}
		}
	}
	return from[a.from]
}

// weighty operators are told by their weights and not by leaving them out: what is left of a model without one is
// another model.
var weighty = set("Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "DeformConv", "Gemm", "MatMul", "Einsum",
	"MatMulInteger", "QLinearMatMul", "LSTM", "GRU", "RNN", "Attention", "If", "Loop", "Scan")

// idle operators hand on what they read.
var idle = set("Identity", "Dropout")

// single are the gaps of one node, in the order of the graph.
func (g *graph) single() []*gap {
	var out []*gap
	before := g.needed("", "")
	for i, n := range g.nodes {
		to := makes(n)
		if g.wrapper.Has(n.GetName()) || !before[i] || to == "" || !g.varies[to] || weighty[n.GetOpType()] ||
			idle[n.GetOpType()] {
			continue
		}
		var seen []string
		for _, from := range n.GetInput() {
			if from != "" && !slices.Contains(seen, from) && g.alike(from, to) {
				seen = append(seen, from)
				out = append(out, g.gapOf(from, to, []int{i}))
			}
		}
	}
	return out
}

// longest is of how many nodes a run is made at most.
const longest = 4

// runs are the gaps of two to four nodes in a row, short ones first.
func (g *graph) runs() []*gap {
	var out []*gap
	before := g.needed("", "")
	for length := 2; length <= longest; length++ {
		for i, n := range g.nodes {
			if to := makes(n); before[i] && to != "" && g.varies[to] {
				out = append(out, g.back(to, to, nil, length)...)
			}
		}
	}
	return out
}

// back goes from a value towards the inputs, over as many nodes as are left, and ends at values that can stand in the
// place of to.
func (g *graph) back(at, to string, on []int, left int) []*gap {
	i, ok := g.made[at]
	if !ok || g.wrapper.Has(g.nodes[i].GetName()) || weighty[g.nodes[i].GetOpType()] || makes(g.nodes[i]) == "" {
		return nil
	}
	on = append([]int{i}, on...)
	var out []*gap
	var seen []string
	for _, v := range g.nodes[i].GetInput() {
		if v == "" || !g.varies[v] || slices.Contains(seen, v) {
			continue
		}
		seen = append(seen, v)
		switch {
		case left > 1:
			out = append(out, g.back(v, to, on, left-1)...)
		case g.alike(v, to):
			out = append(out, g.gapOf(v, to, on))
		}
	}
	return out
}

// without is the model that lacks what the gap leaves out.
func (g *graph) without(a *gap) (*onnx.Model, error) {
	b := g.model.Edit()
	i := g.made[a.to]
	list := b.Graph().GetNode()
	op, name := "Identity", list[i].GetName()
	list[i] = &onnxpb.NodeProto{Name: &name, OpType: &op, Input: []string{a.from}, Output: []string{a.to}}
	var nodes []*onnxpb.NodeProto
	for k, n := range list {
		if k == i || !slices.Contains(a.left, k) {
			nodes = append(nodes, n)
		}
	}
	b.Graph().Node = nodes
	return b.Model()
}

// Deed is what a node does.
type Deed string

// The deeds.
const (
	// Positions: stored numbers that differ from place to place enter, or a dense layer over the places.
	Positions Deed = "positions"
	// Bends: a function of single numbers that is not linear.
	Bends Deed = "nonlinearity"
	// Coarsens: a window, or places that are left out.
	Coarsens Deed = "grid"
	// Rounds: numbers are cast or quantised.
	Rounds Deed = "rounding"
	// Reorders: numbers go to other places, and nothing is computed of them after that.
	Reorders Deed = "order"
	// Other is anything else: factors, constants, branches.
	Other Deed = "other"
)

// words say what a node does.
func (d Deed) words() string {
	switch d {
	case Positions:
		return "brings in numbers that differ from place to place"
	case Bends:
		return "bends single numbers"
	case Coarsens:
		return "makes a coarser grid"
	case Rounds:
		return "rounds"
	case Reorders:
		return "hands the numbers of the output to other places"
	case Other:
	}
	return "breaks what the rest of the model keeps"
}

// clue is the fact that speaks for a cause.
func (d Deed) clue() audit.ClueName {
	switch d {
	case Positions:
		return audit.CluePositions
	case Bends:
		return audit.ClueNonlinearity
	case Coarsens:
		return audit.CluePooling
	case Rounds:
		return audit.ClueReducedPrecision
	case Reorders:
		return audit.ClueOutputLayer
	case Other:
	}
	return audit.ClueOddLayer
}

var (
	bends = set("Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "Sigmoid", "HardSigmoid",
		"HardSwish", "Tanh", "Softplus", "Softsign", "Mish", "Gelu", "Erf", "Exp", "Log", "Sqrt", "Reciprocal", "Abs",
		"Sign", "Ceil", "Floor", "Round", "Clip", "Pow", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh",
		"Asinh", "Acosh", "Atanh", "Shrink", "Swish", "Max", "Min", "Mod")
	joins   = set("Add", "Sub", "Mul", "Div", "Sum", "Mean", "Where")
	windows = set("MaxPool", "AveragePool", "LpPool", "Resize", "Upsample", "SpaceToDepth", "DepthToSpace")
	rounds  = set("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear")
	moves   = set("Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Concat", "Split", "Slice", "Gather",
		"GatherElements", "GatherND", "Expand", "Tile", "ReverseSequence", "Pad")
	dense = set("Gemm", "MatMul", "Einsum", "MatMulInteger", "QLinearMatMul")
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// deed is what a gap leaves out, and the node that does it.
func (g *graph) deed(a *gap) (Deed, string) {
	for _, x := range []struct {
		d  Deed
		is func(i int) bool
	}{
		{Coarsens, func(i int) bool { return windows[g.nodes[i].GetOpType()] }},
		{Positions, g.table},
		{Bends, func(i int) bool { return bends[g.nodes[i].GetOpType()] }},
		{Rounds, func(i int) bool { return rounds[g.nodes[i].GetOpType()] }},
	} {
		for _, i := range a.nodes {
			if x.is(i) {
				return x.d, g.name(i)
			}
		}
	}
	for _, i := range a.left { // of a branch, what it brings in
		if !slices.Contains(a.nodes, i) && g.overPlaces(i) {
			return Positions, g.name(i)
		}
	}
	for _, i := range a.left { // a branch, where it begins to break
		if g.name(i) != g.first || slices.Contains(a.nodes, i) {
			continue
		}
		if bends[g.nodes[i].GetOpType()] {
			return Bends, g.first
		}
		return Other, g.first
	}
	last := a.nodes[len(a.nodes)-1]
	if !slices.ContainsFunc(a.nodes, func(i int) bool { return !moves[g.nodes[i].GetOpType()] }) && g.ends(last) &&
		!slices.ContainsFunc(a.nodes, func(i int) bool { return g.nodes[i].GetOpType() == "Pad" }) {
		return Reorders, g.name(last)
	}
	return Other, g.name(last)
}

// table tells whether a node joins a value with stored numbers that differ from place to place.
func (g *graph) table(i int) bool {
	n := g.nodes[i]
	if !joins[n.GetOpType()] {
		return false
	}
	shape := g.shapes[makes(n)]
	axes := g.places.axes(shape)
	if k := g.line(makes(n)); k >= 0 {
		axes = []int{k}
	}
	for _, v := range n.GetInput() {
		if v == "" || g.varies[v] {
			continue
		}
		s, ok := g.shapes[v]
		if !ok {
			continue
		}
		for _, a := range axes {
			if k := a - len(shape) + len(s); k >= 0 && s[k] > 1 && g.differs(v, s, k) {
				return true
			}
		}
	}
	return false
}

// line is the axis of a list of rows that counts the places of a picture: a map was put in one line, and nodes after
// that let its places be. -1 where there is none, or it cannot be told.
func (g *graph) line(v string) int {
	shape := g.shapes[v]
	i, ok := g.made[v]
	if !ok || !g.places.picture || len(shape) != 3 || !g.varies[v] {
		return -1
	}
	if k, ok := g.lines[v]; ok {
		return k
	}
	g.lines[v] = -1
	n := g.nodes[i]
	k := -1
	switch op := n.GetOpType(); {
	case op == "Transpose":
		if from := g.line(n.GetInput()[0]); from >= 0 {
			k = slices.Index(onnx.Ints(n, "perm", nil), int64(from))
		}
	case op == "Reshape" || op == "Flatten":
		switch from := g.shapes[n.GetInput()[0]]; {
		case len(from) == 4 && from[1] == shape[1] && from[2]*from[3] == shape[2]:
			k = 2
		case slices.Equal(from, shape):
			k = g.line(n.GetInput()[0])
		}
	case dense[op]:
		if g.line(n.GetInput()[0]) == 1 { // rows are multiplied one by one
			k = 1
		}
	case op == "Concat": // with rows of no place, such as one that stands for all
		for _, x := range n.GetInput() {
			k = max(k, g.line(x))
		}
	default:
		for _, x := range n.GetInput() {
			if x != "" && slices.Equal(g.shapes[x], shape) {
				k = max(k, g.line(x))
			}
		}
	}
	g.lines[v] = k
	return k
}

// differs tells whether stored numbers differ along an axis; what is not stored may.
func (g *graph) differs(name string, shape []int, axis int) bool {
	t := g.stored[name]
	if t == nil {
		return true
	}
	v, err := onnx.Value(t)
	if err != nil {
		return true
	}
	x, err := v.Float64s(nil)
	if err != nil || len(x) != tensor.Count(shape) {
		return true
	}
	inner := tensor.Count(shape[axis+1:])
	for k, y := range x {
		if k/inner%shape[axis] > 0 && y != x[k-inner] {
			return true
		}
	}
	return false
}

// overPlaces tells whether a node is a dense layer that sums over places: what it reads was a map, or a list of rows,
// before its numbers were put in one line.
func (g *graph) overPlaces(i int) bool {
	n := g.nodes[i]
	if !dense[n.GetOpType()] || len(n.GetInput()) < 2 {
		return false
	}
	v := n.GetInput()[0]
	w := g.shapes[n.GetInput()[1]]
	if !g.varies[v] || len(w) < 2 {
		return false
	}
	for {
		s := g.shapes[v]
		if axes := g.places.axes(s); len(axes) > 0 && len(s) > 2 {
			k := 1
			for _, a := range axes {
				k *= s[a]
			}
			read := g.shapes[n.GetInput()[0]]
			return k > 1 && len(read) > 0 && read[len(read)-1]%k == 0 && read[len(read)-1] >= k &&
				(len(read) < len(s) || v != n.GetInput()[0])
		}
		i, ok := g.made[v]
		if !ok || !moves[g.nodes[i].GetOpType()] || len(g.nodes[i].GetInput()) == 0 {
			return false
		}
		v = g.nodes[i].GetInput()[0]
	}
}

// ends tells whether nothing is computed after a node.
func (g *graph) ends(i int) bool {
	from := map[string]bool{makes(g.nodes[i]): true}
	for _, n := range g.nodes[i+1:] {
		if !slices.ContainsFunc(reads(n), func(v string) bool { return from[v] }) {
			continue
		}
		if op := n.GetOpType(); !moves[op] && !idle[op] && !strings.HasPrefix(op, "Cast") {
			return false
		}
		for _, o := range n.GetOutput() {
			from[o] = true
		}
	}
	return true
}
