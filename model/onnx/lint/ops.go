package lint

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// standIns says what stands for the weights.
type standIns struct {
	// tied gives kernels of the same size and cost the same stand-in, so that a pair such as 1x7 and 7x1 can treat both
	// axes alike.
	tied bool
	// free gives every entry of a kernel and every channel a number of its own: what holds then holds whatever the
	// weights are.
	free bool
}

// tracer carries the picture and its moved copies through the graph.
type tracer struct {
	f      *facts.Facts
	values map[string]*value
	standIns

	r *run
	// index of the node at hand
	i    int
	node *onnxpb.NodeProto
	rec  *facts.Node
}

// in is input i; nil if it is left out.
func (t *tracer) in(i int) *value {
	if i >= len(t.node.GetInput()) || t.node.GetInput()[i] == "" {
		return nil
	}
	return t.value(t.node.GetInput()[i])
}

// value is what is known of a value by name; constants are read when first used.
func (t *tracer) value(name string) *value {
	if v := t.values[name]; v != nil {
		return v
	}
	var v *value
	if c, ok := t.f.Stored(name); ok {
		v = stored(c)
	} else if ints, ok := t.f.Integers(name); ok {
		c := tensor.FromInt64(ints, len(ints))
		if s := t.f.Shapes[name]; tensor.Count(s) == len(ints) {
			c.Shape = slices.Clone(s)
		}
		v = stored(c)
	} else {
		v = opaque("%s is not known", name)
	}
	t.values[name] = v
	return v
}

// seed of the function that an operator with its attributes is.
func (t *tracer) seed() uint64 {
	var b strings.Builder
	b.WriteString(t.node.GetOpType())
	for _, a := range t.node.GetAttribute() {
		b.WriteString(a.String())
	}
	return seedOf(b.String())
}

// constantOp tells whether the node depends on no input of the graph.
func (t *tracer) constantOp() bool {
	return !slices.ContainsFunc(t.node.GetInput(), t.f.Depends)
}

// sizes tells whether all that the node gives is integers that are known without running it, such as sizes of a map
// that are read, divided and put together again before a reshape: no element of the group changes them.
func sizes(f *facts.Facts, n *onnxpb.NodeProto) bool {
	for _, name := range n.GetOutput() {
		if _, ok := f.Integers(name); name != "" && !ok {
			return false
		}
	}
	return len(n.GetOutput()) > 0
}

// step computes the outputs of one node.
func (t *tracer) step() []*value {
	outs := make([]*value, len(t.node.GetOutput()))
	fail := func(format string, a ...any) []*value {
		for i := range outs {
			outs[i] = opaque(format, a...)
		}
		return outs
	}
	op := t.node.GetOpType()
	if op == "Shape" || op == "Size" || sizes(t.f, t.node) {
		for i, name := range t.node.GetOutput() {
			outs[i] = t.constantOf(name)
		}
		return outs
	}
	if t.constantOp() {
		known := true
		for i, name := range t.node.GetOutput() {
			if name == "" {
				continue
			}
			outs[i] = t.constantOf(name)
			known = known && outs[i].opaque == ""
		}
		if known {
			return outs
		}
	}
	if len(t.rec.Out) == 0 || t.rec.Out[0] == nil {
		return fail("its shape is not known")
	}
	for _, name := range t.node.GetInput() { // stored tensors are read where they count, and weights never
		if t.f.Depends(name) && t.value(name).opaque != "" {
			return fail("%s", readsUnknown)
		}
	}
	if t.free && (op == "Split" || op == "Slice" || op == "Gather") {
		t.tellApart(t.node.GetInput()[0])
	}
	if op == "Split" {
		return t.split()
	}
	if d := t.node.GetDomain(); d != "" && d != "ai.onnx" {
		return fail("the operator %s is not known here", t.rec.Op)
	}
	out := t.follow()
	if out == nil {
		out = opaque("the operator %s is not followed", t.rec.Op)
	}
	for i := range outs {
		outs[i] = opaque("only the first output of %s is followed", t.rec.Op)
	}
	if out.opaque == "" && !slices.Equal(out.shape, t.rec.Out[0]) {
		out = opaque("%s came out with the shape %v, want %v", t.rec.Op, out.shape, t.rec.Out[0])
	}
	outs[0] = out
	return outs
}

// tellApart makes channels different that are held as one, before some of them are taken.
func (t *tracer) tellApart(name string) {
	v := t.values[name]
	if v == nil || v.opaque != "" || len(v.x) == 1 {
		return
	}
	for a, n := range v.shape {
		if n > 1 && v.held[a] == 1 &&
			!slices.ContainsFunc(v.atoms[a], func(f atom) bool { return f.role != roleOther }) {
			if v = distinct(v, a, seedOf(fmt.Sprint(name, a))); v.opaque != "" {
				break
			}
		}
	}
	t.values[name] = v
}

// constantOf is the value of a constant by name.
func (t *tracer) constantOf(name string) *value {
	delete(t.values, name)
	v := t.value(name)
	delete(t.values, name)
	return v
}

// first is input 0, which must be followed.
func (t *tracer) first() (*value, *value) {
	x := t.in(0)
	if x == nil {
		return nil, opaque("its first input is missing")
	}
	if x.opaque != "" {
		return nil, opaque("%s", x.opaque)
	}
	return x, nil
}

// follow computes the first output.
func (t *tracer) follow() *value {
	op := t.node.GetOpType()
	if op == "ConstantOfShape" {
		return t.constantOfShape()
	}
	if op == "Constant" || op == "Range" {
		return opaque("a constant that is computed while it runs")
	}
	x, bad := t.first()
	if bad != nil && op != "MatMul" {
		return bad
	}
	switch op {
	case "Conv", "ConvTranspose":
		return t.convolve(x)
	case "MaxPool", "AveragePool", "LpPool":
		return t.pool(x)
	case "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool":
		var axes []int
		for a := 2; a < len(x.shape); a++ {
			axes = append(axes, a)
		}
		return reduce(x, map[string]string{
			"GlobalAveragePool": "Mean", "GlobalMaxPool": "Max",
			"GlobalLpPool": "L2",
		}[op], axes, true)
	case "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
		"ReduceLogSum", "ReduceLogSumExp":
		axes, err := t.f.ReducedAxes(t.i)
		if err != nil {
			return opaque("%s", err)
		}
		return reduce(x, strings.TrimPrefix(op, "Reduce"), axes, onnx.Int(t.node, "keepdims", 1) != 0)
	case "ArgMax", "ArgMin", "Hardmax":
		return t.argument(x)
	case "Softmax", "LogSoftmax", "LpNormalization", "LayerNormalization", "RMSNormalization", "InstanceNormalization",
		"GroupNormalization", "MeanVarianceNormalization", "LRN":
		return t.normalized(x)
	case "BatchNormalization":
		if t.training() {
			axes := []int{0}
			for a := 2; a < len(x.shape); a++ {
				axes = append(axes, a)
			}
			return zip(x.shape, t.seed(), x, reduce(each(x, func(v uint64) uint64 { return mix(1, v) }), "Sum", axes,
				true))
		}
		if len(t.node.GetInput()) < 3 {
			return opaque("it lacks a scale or a bias")
		}
		s := mix(seedOf("scale"), seedOf(t.node.GetInput()[1]))
		b := mix(seedOf("bias"), seedOf(t.node.GetInput()[2]))
		return each(x, func(v uint64) uint64 { return plus(times(s, v), b) })
	case "Identity", "Dropout", "Cast", "CastLike":
		return x
	case "Neg":
		return each(x, func(v uint64) uint64 { return times(integer(-1), v) })
	case "QuantizeLinear", "DequantizeLinear", "Clip":
		s := t.seed()
		return each(x, func(v uint64) uint64 { return mix(s, v) })
	case "Slice", "Pad", "Transpose", "Concat", "Gather", "Expand", "Tile", "DepthToSpace", "SpaceToDepth", "Flatten",
		"Reshape", "Squeeze", "Unsqueeze", "Resize", "Upsample":
		return t.moved(x)
	case "Gemm", "MatMul":
		return t.product()
	case "CumSum":
		return t.cumulative(x)
	}
	if slices.Contains(unary, op) {
		s := t.seed()
		f := func(v uint64) uint64 { return mix(s, v) }
		if x.base != nil && t.rising() { // the maximum of a rising function is that function of the maximum
			out := &value{shape: x.shape, held: x.held, atoms: x.atoms}
			base := each(x.base, f)
			kind := x.base.opaque
			out.gatherSets(base, kind, slices.Clone(x.sets))
			return out
		}
		return each(x, f)
	}
	if slices.Contains(nary, op) {
		return t.combined()
	}
	return nil
}

// training tells whether a BatchNormalization takes its statistics from the batch.
func (t *tracer) training() bool {
	n := t.node
	return onnx.Int(n, "training_mode", 0) != 0 || t.f.Model().Opset() < 14 && len(n.GetOutput()) > 1 &&
		n.GetOutput()[1] != ""
}

// rising tells whether the function of the node never falls.
func (t *tracer) rising() bool {
	switch t.node.GetOpType() {
	case "Relu", "Sigmoid", "Tanh", "Softplus", "Softsign", "Exp", "Log", "Sqrt", "Erf", "Ceil", "Floor", "Round",
		"Sign", "Atan", "Sinh", "Asinh":
		return true
	case "LeakyRelu":
		return onnx.Float(t.node, "alpha", 0.01) >= 0
	case "Elu", "Celu":
		return onnx.Float(t.node, "alpha", 1) >= 0
	case "HardSigmoid":
		return onnx.Float(t.node, "alpha", 0.2) >= 0
	}
	return false
}

var unary = strings.Fields(
	`Relu LeakyRelu Elu Selu Celu Sigmoid Tanh Softplus Softsign HardSigmoid HardSwish Exp Log Sqrt Erf Reciprocal
	Ceil Round Sign Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh ThresholdedRelu Gelu Mish Shrink Swish Abs Floor Not IsNaN IsInf`)

// placewise are the operators beside unary that give every place of their first input a number of its own, or the same
// one.
var placewise = strings.Fields(`Identity Dropout Cast CastLike Neg Clip QuantizeLinear DequantizeLinear`)

var nary = strings.Fields(
	`Add Sub Mul Div Pow Mod Min Max Sum Mean PRelu And Or Xor Equal Greater Less GreaterOrEqual LessOrEqual Where BitShift`)

// each applies a function to every number.
func each(x *value, f func(uint64) uint64) *value {
	out := &value{shape: x.shape, held: x.held, atoms: x.atoms}
	for _, a := range x.x {
		b := make([]uint64, len(a))
		for i, v := range a {
			b[i] = f(v)
		}
		out.x = append(out.x, b)
	}
	return out
}

// align gives a value the rank of a shape that it is broadcast to.
func align(v *value, rank int) *value {
	grow := rank - len(v.shape)
	if grow <= 0 {
		return v
	}
	out := *v
	ones := slices.Repeat([]int{1}, grow)
	out.shape, out.held = append(slices.Clone(ones), v.shape...), append(slices.Clone(ones), v.held...)
	out.atoms = append(slices.Repeat([][]atom{plain(1)}, grow), v.atoms...)
	return &out
}

// together broadcasts values against each other: the axes that have to be held and the places in them.
func together(shape []int, vs []*value) (held []int, atoms [][]atom, from [][]int32, err error) {
	rank := len(shape)
	held, atoms = slices.Repeat([]int{1}, rank), make([][]atom, rank)
	for i := range vs {
		vs[i] = align(vs[i], rank)
	}
	for a := range rank {
		best := -1
		for _, v := range vs {
			if v.shape[a] != 1 && v.shape[a] != shape[a] {
				return nil, nil, nil, fmt.Errorf("a value of %v on one of %v", v.shape, shape)
			}
			held[a] = max(held[a], v.held[a])
			if v.shape[a] != shape[a] {
				continue
			}
			score := 1
			if len(v.x) > 1 {
				score = 2
			}
			for _, f := range v.atoms[a] {
				if f.role != roleOther {
					score += 2
					break
				}
			}
			if score > best {
				best, atoms[a] = score, v.atoms[a]
			}
		}
		if atoms[a] == nil {
			atoms[a] = plain(shape[a])
		}
		if shape[a] == 0 {
			held[a] = 0
		}
	}
	if err := tooMuch(held); err != nil {
		return nil, nil, nil, err
	}
	for _, v := range vs {
		st := v.strides()
		at := make([]int32, tensor.Count(held))
		walk(held, func(i int, ix []int) {
			p := 0
			for a, j := range ix {
				p += j * st[a]
			}
			at[i] = int32(p)
		})
		from = append(from, at)
	}
	return held, atoms, from, nil
}

// fuse computes a function of several values at every place.
func fuse(shape []int, vs []*value, f func(args []uint64) uint64) *value {
	vs = slices.Clone(vs)
	held, atoms, from, err := together(shape, vs)
	if err != nil {
		return opaque("%s", err)
	}
	out := &value{shape: slices.Clone(shape), held: held, atoms: atoms}
	args := make([]uint64, len(vs))
	for k := range copies(vs...) {
		dst := make([]uint64, tensor.Count(held))
		for i := range dst {
			for j, v := range vs {
				args[j] = v.at(k)[from[j][i]]
			}
			dst[i] = f(args)
		}
		out.x = append(out.x, dst)
	}
	return out
}

// zip is some function of two values at every place.
func zip(shape []int, seed uint64, a, b *value) *value {
	return fuse(shape, []*value{a, b}, func(v []uint64) uint64 { return mix(mix(seed, v[0]), v[1]) })
}

// table is what a stored table amounts to when it is combined with a map: what varies along channels alone could be
// anything and stands for itself; along places it is read. Channels are summed up, each with its own function, so that
// places differ if they differ in any channel.
func (t *tracer) table(c *value, shape []int, data []*value, name string) *value {
	if c = align(c, len(shape)); len(c.shape) > len(shape) ||
		slices.ContainsFunc(data, func(v *value) bool { return len(v.shape) > len(shape) }) {
		return opaque("values of %v on one of %v", c.shape, shape)
	}
	placed := make([]bool, len(shape))
	for _, v := range data {
		v = align(v, len(shape))
		for a := range shape {
			for _, f := range v.atoms[a] {
				placed[a] = placed[a] || f.role != roleOther && f.n > 1
			}
		}
	}
	held := slices.Clone(c.held)
	varies := false
	for a := range held {
		if placed[a] {
			varies = varies || held[a] > 1
		} else {
			held[a] = 1
		}
	}
	if tensor.Count(c.held) == 1 {
		return c // a number, such as the 2 of a power
	}
	out := &value{shape: c.shape, held: held, atoms: c.atoms}
	if !varies {
		out.x = [][]uint64{{mix(seedOf("table"), seedOf(name))}}
		return out
	}
	t.r.tabled[t.i] = true
	sum := make([]uint64, tensor.Count(held))
	st := out.strides()
	walk(c.held, func(i int, at []int) {
		p, rest := 0, uint64(0)
		for a, j := range at {
			if placed[a] {
				p += j * st[a]
			} else {
				rest = rest*uint64(c.held[a]) + uint64(j)
			}
		}
		sum[p] = plus(sum[p], mix(rest, c.x[0][i]))
	})
	out.x = [][]uint64{sum}
	return out
}

// tables replaces the constants among the inputs.
func (t *tracer) tables(shape []int) ([]*value, *value) {
	var vs, data []*value
	for i := range t.node.GetInput() {
		if v := t.in(i); v != nil && v.opaque == "" && len(v.x) > 1 {
			data = append(data, v)
		}
	}
	for i, name := range t.node.GetInput() {
		v := t.in(i)
		if v == nil {
			continue
		}
		if v.opaque != "" {
			return nil, opaque("%s", v.opaque)
		}
		if len(v.x) == 1 && len(data) > 0 {
			if v = t.table(v, shape, data, name); v.opaque != "" {
				return nil, v
			}
		}
		vs = append(vs, v)
	}
	return vs, nil
}

// combined follows operators that combine values place by place.
func (t *tracer) combined() *value {
	shape := t.rec.Out[0]
	vs, bad := t.tables(shape)
	if bad != nil {
		return bad
	}
	seed := t.seed()
	switch op := t.node.GetOpType(); op {
	case "Add", "Sum", "Mean":
		return fuse(shape, vs, func(a []uint64) uint64 {
			s := uint64(0)
			for _, v := range a {
				s = plus(s, v)
			}
			return s
		})
	case "Sub":
		// What is taken away could as well be scaled: differences of equal things are no zeros to rely on.
		c := mix(seed, 1)
		if len(vs) != 2 {
			return nil
		}
		return fuse(shape, vs, func(a []uint64) uint64 { return plus(a[0], times(c, a[1])) })
	case "Mul":
		return fuse(shape, vs, func(a []uint64) uint64 {
			p := uint64(1)
			for _, v := range a {
				p = times(p, v)
			}
			return p
		})
	case "Div":
		if len(vs) == 2 && len(vs[1].x) == 1 {
			return fuse(shape, vs, func(a []uint64) uint64 { return times(a[0], mix(seed, a[1])) })
		}
	case "Max", "Min", "And", "Or", "Xor", "Equal":
		return fuse(shape, vs, func(a []uint64) uint64 { return extremum(seed, a) })
	}
	return fuse(shape, vs, func(a []uint64) uint64 {
		h := seed % prime
		for _, v := range a {
			h = mix(h, v)
		}
		return h
	})
}

// extremum stands in for a function of a set: a single number is itself, order and repetition do not matter. It may
// reorder.
func extremum(seed uint64, a []uint64) uint64 {
	slices.Sort(a)
	a = slices.Compact(a)
	if len(a) == 1 {
		return a[0]
	}
	s := uint64(0)
	for _, v := range a {
		s = plus(s, mix(seed, v))
	}
	return mix(seed, s)
}

// groupBy runs over axes: fold gets the numbers that come together in one place, with how often each one occurs.
func groupBy(x *value, axes []int) (held []int, to []int32) {
	held = slices.Clone(x.held)
	for _, a := range axes {
		held[a] = min(held[a], 1)
	}
	o := &value{held: held}
	st := o.strides()
	to = make([]int32, tensor.Count(x.held))
	walk(x.held, func(i int, at []int) {
		p := 0
		for a, j := range at {
			p += j * st[a]
		}
		to[i] = int32(p)
	})
	return held, to
}

// reduce runs over axes. kind is that of the Reduce operators.
func reduce(x *value, kind string, axes []int, keep bool) *value {
	if x.opaque != "" {
		return x
	}
	held, to := groupBy(x, axes)
	times1, count := int64(1), int64(1) // how often each number stands, and how many places there are
	for _, a := range axes {
		if x.held[a] == 1 {
			times1 *= int64(x.shape[a])
		}
		count *= int64(x.shape[a])
	}
	n := tensor.Count(held)
	out := &value{shape: slices.Clone(x.shape), held: held, atoms: slices.Clone(x.atoms)}
	for _, a := range axes {
		out.shape[a], out.atoms[a] = 1, plain(1)
	}
	seed := seedOf("reduce " + kind)
	if kind == "Max" || kind == "Min" {
		out.gatherSets(x, kind, func() [][]int32 {
			sets := make([][]int32, n)
			for i, p := range to {
				sets[p] = append(sets[p], int32(i))
			}
			return sets
		}())
	} else {
		pre := func(v uint64) uint64 { return mix(seed, v) }
		post := pre
		switch kind {
		case "Sum", "Mean":
			pre = func(v uint64) uint64 { return v }
			post = pre
		case "LogSum":
			pre = func(v uint64) uint64 { return v }
		}
		factor := integer(times1)
		if kind == "Mean" && count > 0 {
			factor = times(factor, inverse(integer(count)))
		}
		for _, src := range x.x {
			dst := make([]uint64, n)
			for i, p := range to {
				dst[p] = plus(dst[p], pre(src[i]))
			}
			for i := range dst {
				dst[i] = post(times(dst[i], factor))
			}
			out.x = append(out.x, dst)
		}
	}
	if keep {
		return out
	}
	res := &value{x: out.x, shape: []int{}, held: []int{}, base: out.base, sets: out.sets}
	for a := range out.shape {
		if !slices.Contains(axes, a) {
			res.shape, res.held, res.atoms = append(res.shape, out.shape[a]), append(res.held, out.held[a]),
				append(res.atoms, out.atoms[a])
		}
	}
	return res
}

// gatherSets fills v with extrema over sets of elements of x, which are taken apart if they are extrema themselves.
func (v *value) gatherSets(x *value, kind string, sets [][]int32) {
	base := x
	const most = 1 << 24
	if x.base != nil && x.base.opaque == kind {
		total := 0
		for i, s := range sets {
			var u []int32
			for _, e := range s {
				u = append(u, x.sets[e]...)
			}
			slices.Sort(u)
			sets[i] = slices.Compact(u)
			total += len(sets[i])
		}
		if total > most {
			v.opaque = "too many numbers to follow"
			return
		}
		b := *x.base
		base = &b
	} else {
		b := *x
		b.opaque = kind // of the extremum
		base = &b
	}
	base.base, base.sets = nil, nil
	v.base, v.sets = base, sets
	seed := seedOf("extremum " + kind)
	var buf []uint64
	for _, src := range base.x {
		dst := make([]uint64, len(sets))
		for i, s := range sets {
			buf = buf[:0]
			for _, e := range s {
				buf = append(buf, src[e])
			}
			dst[i] = 0
			if len(buf) > 0 {
				dst[i] = extremum(seed, buf)
			}
		}
		v.x = append(v.x, dst)
	}
}

// window is the geometry on two axes, if that is what it is.
func (t *tracer) window(x *value) (*facts.Window, *value) {
	w, ok := t.rec.Window()
	if !ok || len(w.In) != 2 || len(x.shape) != 4 {
		return w, opaque("a window that does not run along two axes")
	}
	return w, nil
}

// convolve follows Conv and ConvTranspose. In place of the weights, which could be anything, stands a kernel that is as
// symmetric as its size permits and the same for all channels.
func (t *tracer) convolve(x *value) *value {
	w, bad := t.window(x)
	if bad != nil {
		return bad
	}
	if t.f.Depends(t.node.GetInput()[1]) {
		return opaque("a convolution with weights that depend on the picture")
	}
	groups := max(int(onnx.Int(t.node, "group", 1)), 1)
	outC := t.rec.Out[0][1]
	if x.shape[1]%groups != 0 || outC%groups != 0 {
		return opaque("%d channels in %d groups", x.shape[1], groups)
	}
	x = x.spread(2, 3)
	if x.opaque != "" {
		return x
	}
	if t.free && x.held[1] > 1 {
		x = distinct(x, 1, seedOf(t.node.GetInput()[1]))
	}
	if x.held[1] == 1 || groups == 1 {
		c := x.shape[1]
		x = reduce(x, "Sum", []int{1}, true)
		if groups > 1 { // all channels alike: the sum over a group
			f := times(integer(int64(c/groups)), inverse(integer(int64(c))))
			x = each(x, func(v uint64) uint64 { return times(f, v) })
		}
		groups = 1
	} else if x.shape[1] != groups {
		atoms := x.atoms
		y := *x
		y.shape = []int{x.shape[0], groups, x.shape[1] / groups, x.shape[2], x.shape[3]}
		y.held = []int{x.held[0], groups, x.shape[1] / groups, x.held[2], x.held[3]}
		y.atoms = [][]atom{atoms[0], plain(groups), plain(y.shape[2]), atoms[2], atoms[3]}
		x = reduce(&y, "Sum", []int{2}, false)
	}
	seed := seedOf(t.node.GetInput()[1])
	if t.tied {
		k := []int{w.Kernel[0], w.Kernel[1]}
		slices.Sort(k)
		seed = seedOf(fmt.Sprint(k, w.Dilation[0]*w.Dilation[1], w.Stride[0]*w.Stride[1], len(t.node.GetInput())))
	}
	kernel := make([]uint64, w.Kernel[0]*w.Kernel[1])
	for i := range kernel {
		a, b := abs(2*(i/w.Kernel[1])-w.Kernel[0]+1)*w.Dilation[0], abs(2*(i%w.Kernel[1])-w.Kernel[1]+1)*w.Dilation[1]
		kernel[i] = mix(seed, uint64(min(a, b))<<32|uint64(max(a, b)))
		if t.free {
			kernel[i] = mix(seed, uint64(i)<<40)
		}
	}
	bias := uint64(0)
	if len(t.node.GetInput()) > 2 && t.node.GetInput()[2] != "" {
		bias = mix(seedOf("bias"), seedOf(t.node.GetInput()[2]))
		if t.tied {
			bias = mix(seedOf("bias"), seed)
		}
	}
	in, out := x.held[2]*x.held[3], w.Out[0]*w.Out[1]
	planes := x.held[0] * x.held[1]
	if err := tooMuch([]int{planes, out}); err != nil {
		return opaque("%s", err)
	}
	// taps pairs inputs with outputs along an axis: for every tap, the outputs that it reaches and what they read.
	taps := func(a int) [][][2]int {
		l := make([][][2]int, w.Kernel[a])
		for k := range l {
			if w.Transposed {
				for i := range w.In[a] {
					if o := i*w.Stride[a] - w.Begin[a] + k*w.Dilation[a]; o >= 0 && o < w.Out[a] {
						l[k] = append(l[k], [2]int{o, i})
					}
				}
				continue
			}
			for o := range w.Out[a] {
				if i := o*w.Stride[a] - w.Begin[a] + k*w.Dilation[a]; i >= 0 && i < w.In[a] {
					l[k] = append(l[k], [2]int{o, i})
				}
			}
		}
		return l
	}
	ty, tx := taps(0), taps(1)
	res := &value{shape: slices.Clone(t.rec.Out[0])}
	res.held = []int{x.held[0], x.held[1], w.Out[0], w.Out[1]}
	res.atoms = [][]atom{x.atoms[0], plain(outC), renewed(x.atoms[2], w.Out[0]), renewed(x.atoms[3], w.Out[1])}
	for _, src := range x.x {
		dst := make([]uint64, planes*out)
		for p := range planes {
			s, d := src[p*in:(p+1)*in], dst[p*out:(p+1)*out]
			for ky, ys := range ty {
				for kx, xs := range tx {
					k := kernel[ky*w.Kernel[1]+kx]
					for _, y := range ys {
						for _, c := range xs {
							o := y[0]*w.Out[1] + c[0]
							d[o] = plus(d[o], times(k, s[y[1]*w.In[1]+c[1]]))
						}
					}
				}
			}
			if bias != 0 {
				for i := range d {
					d[i] = plus(d[i], bias)
				}
			}
		}
		res.x = append(res.x, dst)
	}
	if groups > 1 && outC != groups { // several outputs of a group
		list := make([]int, outC)
		for o := range list {
			list[o] = o / (outC / groups)
		}
		res.shape[1], res.atoms[1] = groups, plain(groups)
		res = res.remap([][]int{nil, list, nil, nil}, [][]atom{res.atoms[0], plain(outC), res.atoms[2], res.atoms[3]},
			0)
	}
	return res
}

// distinct gives every index along an axis a factor of its own.
func distinct(x *value, axis int, seed uint64) *value {
	x = x.spread(axis)
	if x.opaque != "" {
		return x
	}
	st, n := x.strides()[axis], x.held[axis]
	out := &value{shape: x.shape, held: x.held, atoms: x.atoms}
	for _, src := range x.x {
		dst := make([]uint64, len(src))
		for i, v := range src {
			j := 0
			if st > 0 {
				j = i / st % n
			}
			dst[i] = times(v, mix(seed, uint64(j)))
		}
		out.x = append(out.x, dst)
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// renewed is an axis of another length in the same role.
func renewed(as []atom, n int) []atom {
	role, cp := byte(roleOther), 0
	for _, a := range as {
		switch {
		case a.n == 1 && a.role == roleOther:
		case role == roleOther:
			role, cp = a.role, a.copy
		case role != a.role || cp != a.copy:
			role = roleLost
		}
	}
	return []atom{{role: role, copy: cp, n: n, step: 1}}
}

// pool follows MaxPool, AveragePool and LpPool.
func (t *tracer) pool(x *value) *value {
	if w, ok := t.rec.Window(); ok && len(w.In) == 1 && len(x.shape) == 3 {
		return t.pooled(x.lifted(), lift(w)).lowered(t.rec.Out[0])
	}
	w, bad := t.window(x)
	if bad != nil {
		return bad
	}
	return t.pooled(x, w)
}

// lift makes a window along one axis one along two, the first of which has length 1.
func lift(w *facts.Window) *facts.Window {
	before := func(x []int, v int) []int { return append([]int{v}, x...) }
	return &facts.Window{
		Kernel: before(w.Kernel, 1), Stride: before(w.Stride, 1), Dilation: before(w.Dilation, 1),
		Begin: before(w.Begin, 0), End: before(w.End, 0), In: before(w.In, 1), Out: before(w.Out, 1),
		Transposed: w.Transposed,
	}
}

// lifted is a value of three axes with an axis of length 1 before the last.
func (v *value) lifted() *value {
	if v.opaque != "" {
		return v
	}
	out := *v
	out.shape, out.held = slices.Insert(slices.Clone(v.shape), 2, 1), slices.Insert(slices.Clone(v.held), 2, 1)
	out.atoms = slices.Insert(slices.Clone(v.atoms), 2, plain(1))
	return &out
}

// lowered takes that axis away again.
func (v *value) lowered(shape []int) *value {
	if v.opaque != "" {
		return v
	}
	out := *v
	out.shape, out.held = slices.Clone(shape), slices.Delete(slices.Clone(v.held), 2, 3)
	out.atoms = slices.Delete(slices.Clone(v.atoms), 2, 3)
	return &out
}

// pooled pools along the last two of four axes.
func (t *tracer) pooled(x *value, w *facts.Window) *value {
	x = x.spread(2, 3)
	if x.opaque != "" {
		return x
	}
	planes, in, out := x.held[0]*x.held[1], x.held[2]*x.held[3], w.Out[0]*w.Out[1]
	if err := tooMuch([]int{planes, out}); err != nil {
		return opaque("%s", err)
	}
	op := t.node.GetOpType()
	include := onnx.Int(t.node, "count_include_pad", 0) != 0
	reads := func(a int) (at [][]int, count []int) {
		for o := range w.Out[a] {
			var l []int
			n := 0
			for k := range w.Kernel[a] {
				i := o*w.Stride[a] - w.Begin[a] + k*w.Dilation[a]
				if i >= 0 && i < w.In[a] {
					l = append(l, i)
				}
				if i < w.In[a]+w.End[a] {
					n++
				}
			}
			if !include {
				n = len(l)
			}
			at, count = append(at, l), append(count, n)
		}
		return at, count
	}
	ry, cy := reads(0)
	rx, cx := reads(1)
	res := &value{
		shape: []int{x.shape[0], x.shape[1], w.Out[0], w.Out[1]},
		held:  []int{x.held[0], x.held[1], w.Out[0], w.Out[1]},
	}
	res.atoms = [][]atom{x.atoms[0], x.atoms[1], renewed(x.atoms[2], w.Out[0]), renewed(x.atoms[3], w.Out[1])}
	visit := func(f func(o int, i int32), done func(o, n int)) {
		for p := range planes {
			for y, ys := range ry {
				for c, xs := range rx {
					o := p*out + y*w.Out[1] + c
					for _, iy := range ys {
						for _, ix := range xs {
							f(o, int32(p*in+iy*w.In[1]+ix))
						}
					}
					if done != nil {
						done(o, cy[y]*cx[c])
					}
				}
			}
		}
	}
	if w.Kernel[0] == 1 && w.Kernel[1] == 1 && op != "LpPool" && w.Begin[0]+w.Begin[1]+w.End[0]+w.End[1] == 0 {
		// Every window is a single place.
		lists := [][]int{nil, nil, {}, {}}
		for a := range 2 {
			for o := range w.Out[a] {
				lists[a+2] = append(lists[a+2], o*w.Stride[a])
			}
		}
		return x.remap(lists, res.atoms, 0)
	}
	if op == "MaxPool" {
		if err := tooMuch([]int{planes, out, w.Kernel[0], w.Kernel[1]}); err != nil {
			return opaque("%s", err)
		}
		sets := make([][]int32, planes*out)
		visit(func(o int, i int32) { sets[o] = append(sets[o], i) }, nil)
		res.gatherSets(x, "Max", sets)
		return res
	}
	seed := t.seed()
	inv := map[int]uint64{}
	for _, src := range x.x {
		dst := make([]uint64, planes*out)
		visit(func(o int, i int32) {
			v := src[i]
			if op == "LpPool" {
				v = mix(seed, v)
			}
			dst[o] = plus(dst[o], v)
		}, func(o, n int) {
			if op == "LpPool" {
				dst[o] = mix(seed, dst[o])
				return
			}
			if inv[n] == 0 {
				inv[n] = inverse(integer(int64(max(n, 1))))
			}
			dst[o] = times(dst[o], inv[n])
		})
		res.x = append(res.x, dst)
	}
	return res
}

// argument follows operators that answer with a place along an axis.
func (t *tracer) argument(x *value) *value {
	def := int64(0)
	hard := t.node.GetOpType() == "Hardmax"
	if hard {
		def = -1
	}
	a := onnx.Int(t.node, "axis", def)
	if a < 0 {
		a += int64(len(x.shape))
	}
	if a < 0 || a >= int64(len(x.shape)) || hard && t.f.Model().Opset() < 13 {
		return opaque("axis %d of a value with %d axes", a, len(x.shape))
	}
	seed := t.seed()
	if hard {
		s := reduce(each(x, func(v uint64) uint64 { return mix(1, v) }), "Sum", []int{int(a)}, true)
		return zip(x.shape, seed, x, s)
	}
	y := x.spread(int(a))
	if y.opaque != "" {
		return y
	}
	numbered := &value{shape: y.shape, held: y.held, atoms: y.atoms}
	st := y.strides()[a]
	for _, src := range y.x {
		dst := make([]uint64, len(src))
		for i, v := range src {
			j := 0
			if st > 0 {
				j = i / st % y.held[a]
			}
			dst[i] = mix(uint64(j)+1, v)
		}
		numbered.x = append(numbered.x, dst)
	}
	return each(reduce(numbered, "Sum", []int{int(a)}, onnx.Int(t.node, "keepdims", 1) != 0),
		func(v uint64) uint64 { return mix(seed, v) })
}

// normalized follows operators that divide by a statistic over some axes.
func (t *tracer) normalized(x *value) *value {
	op := t.node.GetOpType()
	rank := len(x.shape)
	var axes []int
	from := func(a int64) bool {
		if a < 0 {
			a += int64(rank)
		}
		if a < 0 || a >= int64(rank) {
			return false
		}
		axes = nil
		for i := int(a); i < rank; i++ {
			axes = append(axes, i)
		}
		return true
	}
	ok := true
	switch op {
	case "Softmax", "LogSoftmax", "LpNormalization":
		if op != "LpNormalization" && t.f.Model().Opset() < 13 {
			ok = from(onnx.Int(t.node, "axis", 1))
		} else if ok = from(onnx.Int(t.node, "axis", -1)); ok {
			axes = axes[:1]
		}
	case "LayerNormalization", "RMSNormalization":
		ok = from(onnx.Int(t.node, "axis", -1))
	case "InstanceNormalization":
		ok = from(2)
	case "GroupNormalization":
		// Groups of channels: that all of them are one group loses nothing for channels that are alike.
		ok = from(1)
	case "MeanVarianceNormalization":
		for _, a := range onnx.Ints(t.node, "axes", []int64{0, 2, 3}) {
			if a < 0 {
				a += int64(rank)
			}
			if a < 0 || a >= int64(rank) {
				return opaque("axis %d", a)
			}
			axes = append(axes, int(a))
		}
	case "LRN":
		axes = []int{1}
	}
	if !ok {
		return opaque("its axis is out of range")
	}
	seed := t.seed()
	out := zip(x.shape, seed, x, reduce(each(x, func(v uint64) uint64 { return mix(1, v) }), "Sum", axes, true))
	if op == "LayerNormalization" || op == "RMSNormalization" {
		for i := 1; i < len(t.node.GetInput()); i++ {
			c := t.in(i)
			if c == nil {
				continue
			}
			if c.opaque != "" || len(c.x) > 1 {
				return opaque("its scale or bias is not constant")
			}
			if c = t.table(c, x.shape, []*value{x}, t.node.GetInput()[i]); c.opaque != "" {
				return c
			}
			mul := i == 1
			out = fuse(x.shape, []*value{out, c}, func(a []uint64) uint64 {
				if mul {
					return times(a[0], a[1])
				}
				return plus(a[0], a[1])
			})
		}
	}
	return out
}

// blend computes sums along an axis: output j is the sum of coefficient times input over taps[j].
type tap struct {
	from int
	coef uint64
}

func blend(x *value, axis int, taps [][]tap, as []atom) *value {
	x = x.spread(axis)
	if x.opaque != "" {
		return x
	}
	out := &value{shape: slices.Clone(x.shape), held: slices.Clone(x.held), atoms: slices.Clone(x.atoms)}
	out.shape[axis], out.held[axis], out.atoms[axis] = len(taps), len(taps), as
	if err := tooMuch(out.held); err != nil {
		return opaque("%s", err)
	}
	inner := 1
	for _, n := range x.held[axis+1:] {
		inner *= n
	}
	outer := 1
	for _, n := range x.held[:axis] {
		outer *= n
	}
	for _, src := range x.x {
		dst := make([]uint64, outer*len(taps)*inner)
		for o := range outer {
			for j, ts := range taps {
				for i := range inner {
					s := uint64(0)
					for _, c := range ts {
						s = plus(s, times(c.coef, src[(o*x.held[axis]+c.from)*inner+i]))
					}
					dst[(o*len(taps)+j)*inner+i] = s
				}
			}
		}
		out.x = append(out.x, dst)
	}
	return out
}

// cumulative follows CumSum.
func (t *tracer) cumulative(x *value) *value {
	a, ok := t.f.Integers(t.node.GetInput()[1])
	if !ok || len(a) != 1 {
		return opaque("its axis is computed while it runs")
	}
	if a[0] < 0 {
		a[0] += int64(len(x.shape))
	}
	if a[0] < 0 || a[0] >= int64(len(x.shape)) {
		return opaque("its axis is out of range")
	}
	n := x.shape[a[0]]
	reverse, exclusive := onnx.Int(t.node, "reverse", 0) != 0, onnx.Int(t.node, "exclusive", 0) != 0
	taps := make([][]tap, n)
	for j := range taps {
		for i := range n {
			before := i < j || i == j && !exclusive
			if reverse {
				before = i > j || i == j && !exclusive
			}
			if before {
				taps[j] = append(taps[j], tap{i, 1})
			}
		}
	}
	return blend(x, int(a[0]), taps, x.atoms[a[0]])
}

// weightsOf are stand-ins for the weights with which a dense layer reads an axis: as symmetric as the places along it
// permit.
func weightsOf(as []atom, n int, seed uint64) []uint64 {
	out := make([]uint64, n)
	v := &value{atoms: [][]atom{as}}
	placed, lost := v.spatial()
	if !placed || lost {
		for i := range out {
			out[i] = 1
		}
		return out
	}
	var dims [8][2]int
	for c := range dims {
		dims[c][0], dims[c][1] = v.lengths(c)
	}
	for i := range out {
		ys, xs := places(as, i)
		h := seed
		for c := range dims {
			if dims[c] == [2]int{} {
				continue
			}
			hh, ww := max(dims[c][0], 1), max(dims[c][1], 1)
			best := int64(1) << 62
			for e := range Element(elements) {
				if e.swaps() && hh != ww {
					continue
				}
				y, x := e.place(ys[c], xs[c], hh, ww)
				best = min(best, int64(y)<<24|int64(x))
			}
			h = mix(h, uint64(best))
		}
		out[i] = h % prime
	}
	return out
}

// places takes an index along an axis apart: the row and the column of each copy.
func places(as []atom, i int) (ys, xs [8]int) {
	for _, a := range slices.Backward(as) {
		j := i % a.n
		i /= a.n
		switch a.role {
		case roleY:
			ys[a.copy&7] += j * a.step
		case roleX:
			xs[a.copy&7] += j * a.step
		}
	}
	return ys, xs
}

// contract sums a value over an axis with weights; for an order of places that is not followed it sums functions, so
// that nothing cancels.
func (t *tracer) contract(x *value, axis int, seed uint64) *value {
	lost := false
	for _, a := range x.atoms[axis] {
		if a.role != roleOther && a.n > 1 {
			t.r.dense[t.i] = true
		}
		lost = lost || a.role == roleLost && a.n > 1
	}
	if lost && !t.free {
		return reduce(each(x, func(v uint64) uint64 { return mix(seed, v) }), "Sum", []int{axis}, true)
	}
	ws := weightsOf(x.atoms[axis], x.shape[axis], seed)
	if t.free {
		for i := range ws {
			ws[i] = mix(seed, uint64(i))
		}
	}
	if x.held[axis] == 1 {
		s := uint64(0)
		for _, w := range ws {
			s = plus(s, w)
		}
		out := each(x, func(v uint64) uint64 { return times(s, v) })
		out.shape, out.atoms = slices.Clone(out.shape), slices.Clone(out.atoms)
		out.shape[axis], out.atoms[axis] = 1, plain(1)
		return out
	}
	ts := make([]tap, len(ws))
	for i, w := range ws {
		ts[i] = tap{i, w}
	}
	return blend(x, axis, [][]tap{ts}, plain(1))
}

// product follows Gemm and MatMul.
func (t *tracer) product() *value {
	gemm := t.node.GetOpType() == "Gemm"
	if len(t.node.GetInput()) < 2 {
		return opaque("an input is missing")
	}
	dataA, dataB := t.f.Depends(t.node.GetInput()[0]), t.f.Depends(t.node.GetInput()[1])
	var a, b *value // weights are not read
	if dataA {
		a = t.in(0)
	}
	if dataB {
		b = t.in(1)
	}
	turn := func(v *value) *value {
		out := &value{
			shape: []int{v.shape[1], v.shape[0]}, held: []int{v.held[1], v.held[0]},
			atoms: [][]atom{v.atoms[1], v.atoms[0]},
		}
		for _, s := range v.x {
			d := make([]uint64, len(s))
			for i := range s {
				d[i%v.held[1]*v.held[0]+i/v.held[1]] = s[i]
			}
			out.x = append(out.x, d)
		}
		return out
	}
	if gemm && onnx.Int(t.node, "transA", 0) != 0 && dataA {
		a = turn(a)
	}
	if gemm && onnx.Int(t.node, "transB", 0) != 0 && dataB {
		b = turn(b)
	}
	shape := t.rec.Out[0]
	var out *value
	switch {
	case dataA && dataB:
		out = multiply(a, b, shape)
	case dataA:
		seed := seedOf(t.node.GetInput()[1])
		if len(t.f.Shapes[t.node.GetInput()[1]]) < 2 || len(a.shape) < 2 {
			return opaque("a product with a vector")
		}
		out = t.contract(a, len(a.shape)-1, seed)
		if out.opaque == "" {
			out = widen(out, len(out.shape)-1, shape[len(shape)-1])
			out = align(out, len(shape))
		}
	case dataB:
		seed := seedOf(t.node.GetInput()[0])
		if len(t.f.Shapes[t.node.GetInput()[0]]) < 2 || len(b.shape) < 2 {
			return opaque("a product with a vector")
		}
		out = t.contract(b, len(b.shape)-2, seed)
		if out.opaque == "" {
			out = widen(out, len(out.shape)-2, shape[len(shape)-2])
			out = align(out, len(shape))
		}
	default:
		return opaque("a product of constants")
	}
	if out.opaque != "" || !gemm || len(t.node.GetInput()) < 3 || t.node.GetInput()[2] == "" {
		return out
	}
	c := t.in(2)
	if c.opaque != "" {
		return opaque("%s", c.opaque)
	}
	if len(c.x) == 1 {
		if c = t.table(c, shape, []*value{out}, t.node.GetInput()[2]); c.opaque != "" {
			return c
		}
	}
	return fuse(shape, []*value{out, c}, func(v []uint64) uint64 { return plus(v[0], v[1]) })
}

// widen gives an axis of length 1 another length along which all is alike.
func widen(v *value, axis, n int) *value {
	out := *v
	out.shape, out.atoms = slices.Clone(v.shape), slices.Clone(v.atoms)
	out.shape[axis], out.atoms[axis] = n, plain(n)
	out.base, out.sets = nil, nil
	return &out
}

// multiply is the matrix product of two values that depend on the picture.
func multiply(a, b *value, shape []int) *value {
	rank := len(shape)
	if len(a.shape) < 2 || len(b.shape) < 2 {
		return opaque("a product with a vector")
	}
	a, b = align(a, rank), align(b, rank)
	m, n, k := a.held[rank-2], b.held[rank-1], max(a.held[rank-1], b.held[rank-2])
	factor := uint64(1)
	if k == 1 {
		factor = integer(int64(a.shape[rank-1]))
	}
	held := make([]int, rank)
	atoms := make([][]atom, rank)
	for i := range rank - 2 {
		held[i], atoms[i] = max(a.held[i], b.held[i]), a.atoms[i]
		if a.shape[i] == 1 {
			atoms[i] = b.atoms[i]
		}
	}
	held[rank-2], held[rank-1] = m, n
	atoms[rank-2], atoms[rank-1] = a.atoms[rank-2], apart(b.atoms[rank-1], a.atoms[rank-2])
	work := append(slices.Clone(held), k)
	if _, err := tensor.CheckedCount(work, 1<<28); err != nil {
		return opaque("too many numbers to follow: %v", err)
	}
	if err := tooMuch(held); err != nil {
		return opaque("%s", err)
	}
	sa, sb := a.strides(), b.strides()
	out := &value{shape: slices.Clone(shape), held: held, atoms: atoms}
	for c := range copies(a, b) {
		x, y := a.at(c), b.at(c)
		dst := make([]uint64, tensor.Count(held))
		walk(held, func(i int, at []int) {
			p, q := at[rank-2]*sa[rank-2], at[rank-1]*sb[rank-1]
			for j := range rank - 2 {
				p, q = p+at[j]*sa[j], q+at[j]*sb[j]
			}
			s := uint64(0)
			for j := range k {
				s = plus(s, times(x[p+j*sa[rank-1]], y[q+j*sb[rank-2]]))
			}
			dst[i] = times(s, factor)
		})
		out.x = append(out.x, dst)
	}
	return out
}

// apart numbers the picture axes of the second factor anew where both have some.
func apart(b, a []atom) []atom {
	top := -1
	for _, x := range a {
		if x.role == roleY || x.role == roleX {
			top = max(top, x.copy)
		}
	}
	out := slices.Clone(b)
	for i := range out {
		if out[i].role == roleY || out[i].role == roleX {
			out[i].copy += top + 1
			if out[i].copy > 7 {
				out[i].role = roleLost
			}
		}
	}
	return out
}

// rational is a number p/q modulo the prime.
func rational(r *big.Rat) uint64 {
	m := big.NewInt(prime)
	n := new(big.Int).Mod(r.Num(), m).Uint64()
	d := new(big.Int).Mod(r.Denom(), m).Uint64()
	return times(n, inverse(d))
}
