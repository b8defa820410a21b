package units

import (
	"fmt"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// step is one node with the axes of what it reads.
type step struct {
	*walker
	*onnxpb.NodeProto

	index int
}

// arg are the axes of input i; nil if it is left out or its shape is not known.
func (c *step) arg(i int) []Axis {
	if i >= len(c.GetInput()) {
		return nil
	}
	return c.of(c.GetInput()[i])
}

// shape of output 0.
func (c *step) shape() []int { return c.f.Shapes[c.GetOutput()[0]] }

// stay pins all that the node reads.
func (c *step) stay(why string) ([][]Axis, string) {
	for _, in := range slices.Concat(c.GetInput(), onnx.Captured(c.NodeProto)) {
		for _, a := range c.of(in) {
			c.pin(a, why)
		}
	}
	return nil, why
}

// follow are the axes of the outputs. The text says why the node was not looked into.
func (c *step) follow() ([][]Axis, string) {
	op := c.GetOpType()
	if !looked(c.NodeProto) {
		return c.stay(fmt.Sprintf("the operator %s is not looked into", onnx.OpLabel(c.NodeProto)))
	}
	f, ok := followers[op]
	if !ok {
		return c.stay(fmt.Sprintf("the operator %s is not looked into", onnx.OpLabel(c.NodeProto)))
	}
	if !enough(c.NodeProto) {
		return c.stay("it reads fewer values than its operator does")
	}
	known := true
	for _, name := range c.GetInput() {
		if _, ok := c.f.Shapes[name]; name != "" && !ok {
			known = false
		}
	}
	for _, name := range c.GetOutput() {
		if _, ok := c.f.Shapes[name]; name != "" && !ok {
			known = false
		}
	}
	if !known || len(c.GetOutput()) == 0 {
		return c.stay("shapes are not known")
	}
	return f(c)
}

// contributed are operators of another domain that are read as those of the standard.
var contributed = map[string]bool{
	"SimplifiedLayerNormalization": true, "Gelu": true, "FastGelu": true,
	"QuickGelu": true,
}

// looked tells whether a node is of the standard operators, or read as one.
func looked(n *onnxpb.NodeProto) bool {
	switch n.GetDomain() {
	case "", "ai.onnx":
		return true
	case "com.microsoft":
		return contributed[n.GetOpType()]
	}
	return false
}

// enough tells whether a node reads as many values as are looked at without asking. Files may leave any out.
func enough(n *onnxpb.NodeProto) bool {
	least := 1
	switch n.GetOpType() {
	case "Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Gather":
		least = 2
	case "Constant":
		least = 0
	}
	return len(n.GetInput()) >= least
}

type follower func(c *step) ([][]Axis, string)

// followers are the operators that are looked into.
var followers = follow()

func follow() map[string]follower {
	out := map[string]follower{
		"Conv": conv, "ConvTranspose": convTranspose, "Gemm": gemm, "MatMul": matMul,
		"BatchNormalization": channels, "InstanceNormalization": instances, "GroupNormalization": groups,
		"LayerNormalization": layers, "SimplifiedLayerNormalization": layers, "RMSNormalization": layers,
		"LpNormalization": alongAxis, "Softmax": alongAxis, "LogSoftmax": alongAxis, "Hardmax": alongAxis,
		"MaxPool": pool, "AveragePool": pool, "LpPool": pool, "GlobalAveragePool": pool, "GlobalMaxPool": pool,
		"GlobalLpPool": pool, "Resize": pool, "Upsample": pool,
		"Transpose": transpose, "Reshape": reshape, "Flatten": reshape, "Squeeze": reshape, "Unsqueeze": reshape,
		"Concat": concat, "Split": split, "Slice": slice, "Gather": gather, "Expand": expand, "Pad": pad,
		"Shape": fresh, "Size": fresh, "Constant": constant, "ConstantOfShape": constant, "Range": fresh,
	}
	for _, op := range []string{
		"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
		"ReduceProd", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
	} {
		out[op] = reduce
	}
	for _, op := range slices.Concat(elementwise, homogeneous, odd, linear, []string{
		"Add", "Sub", "Mul", "Div",
		"Abs", "Where", "PRelu", "Pow", "Max", "Min", "Sum", "Mean",
	}) {
		out[op] = pointwise
	}
	return out
}

// Operators on single numbers, by what they keep: nothing, the factor of a positive scale, the sign, all.
var (
	elementwise = []string{
		"Sigmoid", "Elu", "Selu", "Celu", "Exp", "Log", "Sqrt", "Reciprocal", "Softplus", "HardSigmoid", "HardSwish",
		"Swish", "Mish", "Gelu", "FastGelu", "QuickGelu", "Clip", "ThresholdedRelu", "Floor", "Ceil", "Round", "Cos",
		"Cosh", "Acos", "Acosh", "Not", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or",
		"Xor", "IsNaN", "IsInf", "Mod",
	}
	homogeneous = []string{"Relu", "LeakyRelu"}
	odd         = []string{
		"Tanh", "Erf", "Sin", "Tan", "Atan", "Asin", "Sinh", "Asinh", "Atanh", "Softsign", "Sign",
		"Shrink",
	}
	linear = []string{"Identity", "Neg", "Cast", "CastLike", "Dropout"}
)

// pointwise joins axes as broadcasting does.
func pointwise(c *step) ([][]Axis, string) {
	shape := c.shape()
	out := make([]Axis, len(shape))
	for i, n := range shape {
		if n == 1 {
			continue
		}
		for k := range c.GetInput() {
			if c.GetOpType() == "CastLike" && k > 0 {
				break
			}
			in := c.arg(k)
			j := i - len(shape) + len(in)
			if j < 0 || in[j].Len() != n {
				continue
			}
			if out[i] == nil {
				out[i] = in[j]
				continue
			}
			c.unify(out[i], in[j])
		}
	}
	all := [][]Axis{out}
	for range c.GetOutput()[1:] { // the mask of a dropout
		all = append(all, out)
	}
	return all, ""
}

// conv joins the channels of a picture with those of the weights.
func conv(c *step) ([][]Axis, string) {
	x, w := c.arg(0), c.arg(1)
	if len(x) < 2 || len(w) != len(x) {
		return c.stay(differ)
	}
	g := int(onnx.Int(c.NodeProto, "group", 1))
	if g < 1 || w[0].Len()%g != 0 || x[1].Len() != g*w[1].Len() {
		return c.stay(differ)
	}
	block := c.axis(g, "")
	c.unify(x[1], slices.Concat(block, w[1]))
	c.unify(w[0], slices.Concat(block, c.axis(w[0].Len()/g, "")))
	c.places(x[2:], w[2:])
	if b := c.arg(2); len(b) == 1 {
		c.unify(b[0], w[0])
	}
	return [][]Axis{c.open(x[0], w[0])}, ""
}

// convTranspose is conv with weights the other way round.
func convTranspose(c *step) ([][]Axis, string) {
	x, w := c.arg(0), c.arg(1)
	if len(x) < 2 || len(w) != len(x) {
		return c.stay(differ)
	}
	g := int(onnx.Int(c.NodeProto, "group", 1))
	if g < 1 || w[0].Len()%g != 0 || x[1].Len() != w[0].Len() {
		return c.stay(differ)
	}
	block := c.axis(g, "")
	c.unify(x[1], w[0])
	c.unify(w[0], slices.Concat(block, c.axis(w[0].Len()/g, "")))
	c.places(x[2:], w[2:])
	to := slices.Concat(block, w[1])
	if b := c.arg(2); len(b) == 1 {
		c.unify(b[0], to)
	}
	return [][]Axis{c.open(x[0], to)}, ""
}

// places pins axes that are no units.
func (c *step) places(lists ...[]Axis) {
	for _, l := range lists {
		for _, a := range l {
			c.pin(a, places)
		}
	}
}

// open are axes of the first output, the others places.
func (c *step) open(first ...Axis) []Axis {
	shape := c.shape()
	out := slices.Clone(first)
	for _, n := range shape[min(len(first), len(shape)):] {
		out = append(out, c.axis(n, places))
	}
	return out
}

func gemm(c *step) ([][]Axis, string) {
	a, b := c.arg(0), c.arg(1)
	if len(a) != 2 || len(b) != 2 {
		return c.stay(differ)
	}
	m, k := a[0], a[1]
	if onnx.Int(c.NodeProto, "transA", 0) != 0 {
		m, k = k, m
	}
	l, n := b[0], b[1]
	if onnx.Int(c.NodeProto, "transB", 0) != 0 {
		l, n = n, l
	}
	c.unify(k, l)
	out := []Axis{m, n}
	if bias := c.arg(2); bias != nil {
		for i, x := range bias {
			if j := i + 2 - len(bias); j >= 0 && x.Len() == out[j].Len() {
				c.unify(x, out[j])
			}
		}
	}
	return [][]Axis{out}, ""
}

func matMul(c *step) ([][]Axis, string) {
	a, b := c.arg(0), c.arg(1)
	if len(a) < 1 || len(b) < 1 {
		return c.stay(differ)
	}
	inner := b[max(len(b)-2, 0)]
	if a[len(a)-1].Len() != inner.Len() {
		return c.stay(differ)
	}
	c.unify(a[len(a)-1], inner)
	shape := c.shape()
	var tail []Axis
	if len(a) > 1 {
		tail = append(tail, a[len(a)-2])
	}
	if len(b) > 1 {
		tail = append(tail, b[len(b)-1])
	}
	out := make([]Axis, len(shape))
	lead := len(shape) - len(tail)
	if lead < 0 {
		return c.stay(differ)
	}
	copy(out[lead:], tail)
	for i := range lead {
		for _, x := range [][]Axis{a[:max(len(a)-2, 0)], b[:max(len(b)-2, 0)]} {
			j := i - lead + len(x)
			switch {
			case j < 0 || x[j].Len() != shape[i] || shape[i] == 1:
			case out[i] == nil:
				out[i] = x[j]
			default:
				c.unify(out[i], x[j])
			}
		}
	}
	return [][]Axis{out}, ""
}

// channels are one number for each channel, of several inputs.
func channels(c *step) ([][]Axis, string) {
	x := c.arg(0)
	if len(x) < 2 {
		return c.stay(differ)
	}
	for i := 1; i < len(c.GetInput()); i++ {
		if p := c.arg(i); len(p) == 1 {
			c.unify(p[0], x[1])
		}
	}
	out := [][]Axis{x}
	for range c.GetOutput()[1:] {
		out = append(out, []Axis{x[1]})
	}
	if onnx.Int(c.NodeProto, "training_mode", 0) != 0 {
		c.apart = append(c.apart, []Axis{x[1]})
	}
	return out, ""
}

func instances(c *step) ([][]Axis, string) {
	x := c.arg(0)
	if len(x) < 2 {
		return c.stay(differ)
	}
	for i := 1; i < 3; i++ {
		if p := c.arg(i); len(p) == 1 {
			c.unify(p[0], x[1])
		}
	}
	c.apart = append(c.apart, x[:2])
	return [][]Axis{x}, ""
}

func groups(c *step) ([][]Axis, string) {
	x := c.arg(0)
	g := int(onnx.Int(c.NodeProto, "num_groups", 0))
	if len(x) < 2 || g < 1 || x[1].Len()%g != 0 {
		return c.stay(differ)
	}
	block := c.axis(g, "")
	c.unify(x[1], slices.Concat(block, c.axis(x[1].Len()/g, "")))
	for i := 1; i < 3; i++ {
		switch p := c.arg(i); {
		case len(p) != 1:
		case p[0].Len() == x[1].Len():
			c.unify(p[0], x[1])
		case p[0].Len() == g:
			c.unify(p[0], block)
		}
	}
	c.apart = append(c.apart, []Axis{x[0], block})
	return [][]Axis{x}, ""
}

// axisOf is the attribute axis of the node, for a value of so many axes.
func (c *step) axisOf(def int64, rank int) (int, bool) {
	k, err := facts.Axis(onnx.Int(c.NodeProto, "axis", def), rank)
	return k, err == nil
}

func layers(c *step) ([][]Axis, string) {
	x := c.arg(0)
	k, ok := c.axisOf(-1, len(x))
	if !ok {
		return c.stay(differ)
	}
	for i := 1; i < 3; i++ {
		p := c.arg(i)
		for j := range p {
			if at := j + len(x) - len(p); at >= 0 && p[j].Len() == x[at].Len() {
				c.unify(p[j], x[at])
			}
		}
	}
	c.apart = append(c.apart, x[:k])
	out := [][]Axis{x}
	for range c.GetOutput()[1:] {
		out = append(out, slices.Concat(x[:k], make([]Axis, len(x)-k)))
	}
	return out, ""
}

// alongAxis looks at all places of an axis together, and at none before others.
func alongAxis(c *step) ([][]Axis, string) {
	x := c.arg(0)
	def := int64(-1)
	if c.opset < 13 && c.GetOpType() != "LpNormalization" {
		def = 1
	}
	k, ok := c.axisOf(def, len(x))
	if !ok {
		return c.stay(differ)
	}
	rest := slices.Clone(x)
	rest[k] = nil
	if c.opset < 13 && c.GetOpType() != "LpNormalization" { // all axes from there on
		rest = rest[:k]
	}
	c.apart = append(c.apart, rest)
	return [][]Axis{x}, ""
}

// pool keeps samples and channels, and mixes places.
func pool(c *step) ([][]Axis, string) {
	x := c.arg(0)
	if len(x) < 2 || len(c.shape()) != len(x) || c.shape()[1] != x[1].Len() {
		return c.stay(places)
	}
	c.places(x[2:])
	all := [][]Axis{c.open(x[0], x[1])}
	for range c.GetOutput()[1:] {
		all = append(all, all[0])
	}
	return all, ""
}

func transpose(c *step) ([][]Axis, string) {
	x := c.arg(0)
	perm := onnx.Ints(c.NodeProto, "perm", nil)
	out := make([]Axis, len(x))
	for i := range x {
		from := len(x) - 1 - i
		if perm != nil {
			if len(perm) != len(x) || perm[i] < 0 || perm[i] >= int64(len(x)) {
				return c.stay(differ)
			}
			from = int(perm[i])
		}
		out[i] = x[from]
	}
	return [][]Axis{out}, ""
}

func reshape(c *step) ([][]Axis, string) {
	return [][]Axis{c.reshape(c.arg(0), c.shape())}, ""
}

func concat(c *step) ([][]Axis, string) {
	x := c.arg(0)
	k, ok := c.axisOf(0, len(x))
	if !ok {
		return c.stay(differ)
	}
	out := slices.Clone(x)
	parts := []Axis{x[k]}
	for i := 1; i < len(c.GetInput()); i++ {
		p := c.arg(i)
		if len(p) != len(x) {
			return c.stay(differ)
		}
		for j := range p {
			if j == k {
				parts = append(parts, p[j])
				continue
			}
			c.unify(out[j], p[j])
		}
	}
	out[k] = c.sums(parts)
	return [][]Axis{out}, ""
}

func split(c *step) ([][]Axis, string) {
	x := c.arg(0)
	k, ok := c.axisOf(0, len(x))
	if !ok {
		return c.stay(differ)
	}
	var parts []Axis
	for _, o := range c.GetOutput() {
		s := c.f.Shapes[o]
		if o == "" || len(s) != len(x) || s[k] < 1 {
			return c.stay(differ)
		}
		parts = append(parts, c.axis(s[k], ""))
	}
	c.unify(x[k], c.sums(parts))
	var all [][]Axis
	for _, p := range parts {
		out := slices.Clone(x)
		out[k] = p
		all = append(all, out)
	}
	return all, ""
}

func slice(c *step) ([][]Axis, string) {
	x := c.arg(0)
	cuts, err := c.f.Cuts(c.index)
	if err != nil {
		return c.stay("what it cuts is not known")
	}
	out := slices.Clone(x)
	for _, cut := range cuts {
		if cut.Axis < 0 || cut.Axis >= len(x) || cut.Start == 0 && cut.Step == 1 && cut.Count == x[cut.Axis].Len() {
			continue
		}
		a := x[cut.Axis]
		if cut.Step != 1 || cut.Count < 1 || fixed(a) {
			c.pin(a, places)
			out[cut.Axis] = c.axis(cut.Count, places)
			continue
		}
		var parts []Axis
		taken := c.axis(cut.Count, "")
		if cut.Start > 0 {
			parts = append(parts, c.axis(cut.Start, ""))
		}
		parts = append(parts, taken)
		if n := a.Len() - cut.Start - cut.Count; n > 0 {
			parts = append(parts, c.axis(n, ""))
		}
		c.unify(a, c.sums(parts))
		out[cut.Axis] = taken
	}
	return [][]Axis{out}, ""
}

// fixed tells whether no place of an axis may change.
func fixed(a Axis) bool {
	return !slices.ContainsFunc(a.leaves(), func(l *Atom) bool { return l.pinned == "" })
}

func gather(c *step) ([][]Axis, string) {
	x, at := c.arg(0), c.arg(1)
	k, ok := c.axisOf(0, len(x))
	if !ok {
		return c.stay(differ)
	}
	c.pin(x[k], places)
	return [][]Axis{slices.Concat(x[:k], at, x[k+1:])}, ""
}

func expand(c *step) ([][]Axis, string) {
	x, shape := c.arg(0), c.shape()
	out := make([]Axis, len(shape))
	for i, n := range shape {
		if j := i - len(shape) + len(x); j >= 0 && x[j].Len() == n {
			out[i] = x[j]
			continue
		}
		out[i] = c.axis(n, "") // the same number everywhere
	}
	return [][]Axis{out}, ""
}

func pad(c *step) ([][]Axis, string) {
	x, shape := c.arg(0), c.shape()
	by, err := c.f.Padding(c.index)
	if err != nil || len(by) != len(x) || len(shape) != len(x) {
		return c.stay("what it adds is not known")
	}
	out := make([]Axis, len(x))
	for i := range x {
		if by[i] == [2]int{} {
			out[i] = x[i]
			continue
		}
		c.pin(x[i], places)
		out[i] = c.axis(shape[i], places)
	}
	return [][]Axis{out}, ""
}

func reduce(c *step) ([][]Axis, string) {
	x := c.arg(0)
	axes, err := c.f.ReducedAxes(c.index)
	if err != nil {
		return c.stay("which axes it reduces is not known")
	}
	keep := onnx.Int(c.NodeProto, "keepdims", 1) != 0
	var out []Axis
	for i := range x {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, x[i])
		case keep:
			out = append(out, nil)
		}
	}
	return [][]Axis{out}, ""
}

// fresh makes numbers that no unit goes into.
func fresh(*step) ([][]Axis, string) { return nil, "" }

// constant makes axes that may become those of units: stored numbers, or the same one everywhere.
func constant(c *step) ([][]Axis, string) {
	why := ""
	if c.GetOpType() == "Constant" && (!c.stored[c.GetOutput()[0]] || !floats(c.types[c.GetOutput()[0]])) {
		why = places
	}
	var out []Axis
	for _, n := range c.shape() {
		out = append(out, c.axis(n, why))
	}
	return [][]Axis{out}, ""
}
