package lint

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
)

// How an element of D4 acts on a value, as far as it is known.
type standing int

const (
	still0  standing = iota // not seen yet
	known                   // the value moves with the picture, its channels permuted
	broken                  // it does not
	guessed                 // not followed
)

// relation says that value(g x)[channel c, place p] = value(x)[channel perm[c], place g⁻¹ p].
type relation struct {
	standing standing
	// of all channels; nil for the identity
	perm []int
}

// inverse is the element that undoes e.
func (e Element) inverse() Element {
	switch e {
	case Turn90:
		return Turn270
	case Turn270:
		return Turn90
	case Identity, HalfTurn, MirrorX, MirrorY, Transpose, Antitranspose:
	}
	return e
}

// weights reads the stored weights: which elements do they keep with channels permuted consistently along the graph,
// and which ones hold whatever the weights are?
func (l *linter) weights(ctx context.Context) error {
	res := l.res
	if !res.StructureKnown {
		return nil
	}
	// With kernels that have no symmetry and channels that all differ, what still holds holds by construction.
	var ms []motion
	for _, e := range res.Structure.Elements() {
		ms = append(ms, motion{e: e})
	}
	r, err := trace(ctx, l.f, l.p, l.res.Output, ms, standIns{free: true})
	if err != nil {
		return err
	}
	if s := r.status[res.Output]; s.judged {
		res.Construction = r.group(res.Output)
	}
	w := &weigher{
		l: l, rel: map[string]*[elements]relation{}, tol: l.o.Tolerance, lost: map[int][]Element{},
		why: map[int][][2]string{}, untied: map[int][]Element{}, unwhy: map[int][][2]string{},
	}
	if w.tol == 0 {
		w.tol = DefaultTolerance
	}
	w.follow()
	res.Weights = Trivial | res.Construction
	rel := w.rel[res.Output]
	for _, e := range res.Structure.Elements() {
		switch x := rel[e]; {
		case res.Weights.Has(e):
		case x.standing == known && x.perm == nil:
			res.Weights |= 1 << e
		case x.standing == known:
			res.Permuted = append(res.Permuted, Permutation{Element: e, To: x.perm})
			if res.Map {
				continue
			}
			if i := w.maker(res.Output); i >= 0 {
				w.lose(i, e, "the output keeps its numbers up to a permutation of its channels",
					"pool over the group before the output (maximum or mean over the permuted channels)")
			}
		case x.standing == guessed:
			res.Undecided = append(res.Undecided, e)
		}
	}
	res.WeightsKnown = len(res.Undecided) == 0
	res.Losses = append(res.Losses, w.losses(w.lost, w.why, func(e Element) bool {
		return res.Structure.Has(e) && !res.Weights.Has(e)
	})...)
	res.Untied = w.losses(w.untied, w.unwhy, func(e Element) bool { return !res.Structure.Has(e) })
	if !res.WeightsKnown {
		res.Unknown = append(res.Unknown, w.gaps...)
	}
	return nil
}

// weigher follows relations through the graph.
type weigher struct {
	l   *linter
	rel map[string]*[elements]relation
	tol float64
	// by node
	lost map[int][]Element
	// reason and remedy, per element lost
	why map[int][][2]string
	// likewise, of elements that the structure of the node itself breaks
	untied map[int][]Element
	unwhy  map[int][][2]string
	gaps   []Unknown
	// why the node at hand is not followed
	gap string
	// that are found instead of compared; nil to compare
	ties *tying
}

// maker is the node that makes a value; -1 if it is an input.
func (w *weigher) maker(name string) int {
	return slices.IndexFunc(w.l.f.Model().Proto().GetGraph().GetNode(),
		func(n *nodeProto) bool { return slices.Contains(n.GetOutput(), name) })
}

func (w *weigher) lose(i int, e Element, reason, remedy string) {
	w.why[i] = append(w.why[i], [2]string{reason, remedy})
	w.lost[i] = append(w.lost[i], e)
}

// losses are the nodes whose weights break elements of those that are asked for.
func (w *weigher) losses(lost map[int][]Element, why map[int][][2]string, asked func(Element) bool) []Loss {
	var out []Loss
	for i, n := range w.l.f.Nodes {
		loss := Loss{Node: n.Name, Op: n.Op, Level: LevelWeights}
		for k, e := range lost[i] {
			if !asked(e) {
				continue
			}
			if loss.Elements = append(loss.Elements, e.String()); loss.Reason == "" {
				loss.Reason, loss.Remedy = why[i][k][0], why[i][k][1]
			}
		}
		if len(loss.Elements) > 0 {
			out = append(out, loss)
		}
	}
	return out
}

// follow visits the nodes in order.
func (w *weigher) follow() {
	l := w.l
	for _, in := range l.f.Model().Signature().Inputs {
		var r [elements]relation
		for e := range r {
			r[e].standing = known
		}
		w.rel[in.Name] = &r
	}
	for i, n := range l.f.Model().Proto().GetGraph().GetNode() {
		if !slices.ContainsFunc(n.GetInput(), l.f.Depends) {
			continue
		}
		w.gap = ""
		var r [elements]relation
		for settled := false; !settled; settled = w.ties == nil || w.ties.settled(i) {
			for e := range Element(elements) {
				if r[e].standing = broken; w.ties == nil || w.ties.wanted.Has(e) {
					r[e] = w.step(i, n, e)
				}
			}
		}
		if w.ties != nil && w.ties.err != nil {
			return
		}
		if w.gap != "" {
			w.gaps = append(w.gaps, Unknown{
				Node: l.f.Nodes[i].Name, Op: l.f.Nodes[i].Op, Level: LevelWeights,
				Reason: w.gap,
			})
		}
		for k, o := range n.GetOutput() {
			out := r
			if k > 0 && n.GetOpType() != "Split" {
				for e := range out {
					out[e].standing = guessed
				}
			}
			if k > 0 && n.GetOpType() == "Split" {
				for e := range Element(elements) {
					out[e] = w.cut(i, n, e, k)
				}
			}
			w.rel[o] = &out
		}
	}
}

// beside notes what the weights of a node break by themselves of what its structure breaks.
func (w *weigher) beside(i int, n *nodeProto, e Element, in []relation) {
	lost, why := w.lost, w.why
	w.lost, w.why = w.untied, w.unwhy
	w.node(i, n, e, in, func(string, ...any) relation { return relation{standing: guessed} })
	w.lost, w.why = lost, why
}

// step is the relation of the first output of a node.
func (w *weigher) step(i int, n *nodeProto, e Element) relation {
	if e == Identity || sizes(w.l.f, n) {
		return relation{standing: known}
	}
	guess := func(format string, a ...any) relation {
		if w.gap == "" {
			w.gap = fmt.Sprintf(format, a...)
		}
		return relation{standing: guessed}
	}
	s := w.l.run.status[n.GetOutput()[0]]
	k := slices.IndexFunc(w.l.run.motions, func(m motion) bool { return m.e == e })
	var in []relation
	worst := known
	for _, name := range n.GetInput() {
		r := relation{standing: known}
		if w.l.f.Depends(name) {
			if x := w.rel[name]; x != nil {
				r = x[e]
			} else {
				r.standing = guessed
			}
		}
		in = append(in, r)
		worst = max(worst, r.standing)
	}
	switch {
	case k < 0:
		return relation{standing: broken}
	case !s.judged:
		return guess("its places are not followed")
	case !s.kept[k]:
		if w.ties == nil && worst == known && (n.GetOpType() == "Conv" || n.GetOpType() == "ConvTranspose") {
			w.beside(i, n, e, in)
		}
		return relation{standing: broken} // by structure
	case worst == guessed:
		return relation{standing: guessed}
	case worst == broken:
		for j, name := range n.GetInput() {
			st, ok := w.l.run.status[name]
			if ok && w.l.f.Depends(name) && in[j].standing == broken && (!st.judged || !st.kept[k]) {
				return guess("restores what branches before it break")
			}
		}
		return relation{standing: broken} // by weights
	}
	return w.node(i, n, e, in, guess)
}

// data is the first input that depends on the picture.
func (w *weigher) data(n *nodeProto) int {
	return slices.IndexFunc(n.GetInput(), w.l.f.Depends)
}

// layout is how the axes of a value are made up.
func (w *weigher) layout(name string) ([]int, [][]atom, bool) {
	s, ok := w.l.run.status[name]
	return w.l.f.Shapes[name], s.atoms, ok && s.atoms != nil
}

// channels is the number of channels of a value: the product of all that has no place.
func channels(atoms [][]atom) int {
	n := 1
	for _, as := range atoms {
		for _, a := range as {
			if a.role == roleOther {
				n *= a.n
			}
		}
	}
	return n
}

// channelOf takes an index along an axis apart: what it adds to the number of the channel among those of the axis.
func channelOf(as []atom, i int) int {
	c, unit := 0, 1
	for _, a := range slices.Backward(as) {
		if a.role == roleOther {
			c += i % a.n * unit
			unit *= a.n
		}
		i /= a.n
	}
	return c
}

func (w *weigher) node(i int, n *nodeProto, e Element, in []relation, guess func(string, ...any) relation) relation {
	d := w.data(n)
	x := in[d]
	xShape, xAtoms, ok := w.layout(n.GetInput()[d])
	_, oAtoms, ok2 := w.layout(n.GetOutput()[0])
	if !ok || !ok2 {
		return guess("its places are not followed")
	}
	carry := func() relation {
		if channels(xAtoms) != channels(oAtoms) {
			return guess("its channels are not followed")
		}
		return x
	}
	op := n.GetOpType()
	if slices.Contains(unary, op) {
		return carry()
	}
	if r, ok := w.overChannels(i, n, e, x, xAtoms); ok {
		return r
	}
	switch op {
	case "Shape", "Size": // lengths, which no motion of the square's picture changes
		return relation{standing: known}
	case "Identity", "Dropout", "Cast", "CastLike", "Clip", "Neg", "MaxPool", "AveragePool", "LpPool",
		"GlobalAveragePool", "GlobalMaxPool",
		"GlobalLpPool", "Resize", "Upsample", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "MeanVarianceNormalization",
		"CumSum", "QuantizeLinear", "DequantizeLinear":
		return carry()
	case "Softmax", "LogSoftmax", "LRN", "LpNormalization", "GroupNormalization", "ArgMax", "ArgMin", "Hardmax",
		"Expand", "Tile":
		if x.perm != nil {
			if op == "Softmax" || op == "LogSoftmax" || op == "LpNormalization" {
				return carry() // it sums over channels, or over none
			}
			return guess("its channels are permuted, which is not followed through %s", op)
		}
		return relation{standing: known}
	case "DepthToSpace", "SpaceToDepth":
		return w.blocks(i, n, e, x, xShape, guess)
	case "Pad", "Slice", "Gather", "Split":
		return w.cut(i, n, e, 0)
	case "Transpose":
		return w.transposed(n, x, xShape, xAtoms, guess)
	case "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
		"ReduceLogSum", "ReduceLogSumExp":
		axes, err := w.l.f.ReducedAxes(i)
		if err != nil {
			return guess("%s", err)
		}
		return reduced(x, xShape, xAtoms, axes, func() relation {
			w.lose(i, e, "reduces over channels that are not permuted among themselves",
				"order the channels by groups that the motion permutes, and reduce over those")
			return relation{standing: broken}
		})
	case "Concat":
		return w.joined(n, in, oAtoms, guess)
	case "Conv", "ConvTranspose":
		return w.convolved(i, n, e, x, guess)
	case "Gemm", "MatMul":
		return w.multiplied(i, n, e, in, guess)
	case "BatchNormalization", "InstanceNormalization", "LayerNormalization", "RMSNormalization":
		r := carry()
		if r.standing != known {
			return r
		}
		at := 1 // axis of the tables
		if op == "LayerNormalization" || op == "RMSNormalization" {
			at = -1
		}
		for _, name := range n.GetInput()[1:] {
			if name == "" {
				continue
			}
			if r := w.tabled(i, name, e, r, xShape, xAtoms, at, guess); r.standing != known {
				return r
			}
		}
		return r
	}
	if slices.Contains(nary, op) {
		out := relation{standing: known}
		c := channels(oAtoms)
		set := false
		for k, name := range n.GetInput() {
			if name == "" || !w.l.f.Depends(name) {
				continue
			}
			_, as, ok := w.layout(name)
			if !ok {
				return guess("its places are not followed")
			}
			if channels(as) == 1 && c > 1 {
				continue // the same for all channels
			}
			if channels(as) != c {
				return guess("its channels are not followed")
			}
			if set && !slices.Equal(identity(out.perm, c), identity(in[k].perm, c)) {
				return guess("brings together values whose channels are permuted differently")
			}
			out, set = in[k], true
		}
		shape := w.l.f.Shapes[n.GetOutput()[0]]
		for _, name := range n.GetInput() {
			if name == "" || w.l.f.Depends(name) {
				continue
			}
			if r := w.tabled(i, name, e, out, shape, oAtoms, -1, guess); r.standing != known {
				return r
			}
		}
		return out
	}
	return guess("the operator %s is not followed", op)
}

// identity writes a permutation out.
func identity(p []int, n int) []int {
	if p != nil {
		return p
	}
	p = make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// short is nil for the identity.
func short(p []int) []int {
	for i, j := range p {
		if i != j {
			return p
		}
	}
	return nil
}

// tabled compares a stored table with itself, moved and with channels permuted. axis is the axis along which a vector
// runs; -1 if it is broadcast in the usual way.
func (w *weigher) tabled(i int, name string, e Element, r relation, shape []int, atoms [][]atom, axis int,
	guess func(string, ...any) relation,
) relation {
	t, ok := w.l.f.Stored(name)
	if !ok {
		if s, ok := w.l.f.Shapes[name]; ok && tensor.Count(s) == 1 {
			return r
		}
		return guess("the table %s is computed while it runs", name)
	}
	if t.Len() == 1 {
		return r
	}
	val, err := t.Float64s(nil)
	if err != nil {
		return guess("%s", err)
	}
	rank := len(shape)
	dims := slices.Repeat([]int{1}, rank)
	if axis >= 0 {
		if len(t.Shape) != 1 || t.Shape[0] != shape[axis] {
			return guess("a table of %v", t.Shape)
		}
		dims[axis] = t.Shape[0]
	} else {
		if len(t.Shape) > rank {
			return guess("a table of %v", t.Shape)
		}
		copy(dims[rank-len(t.Shape):], t.Shape)
	}
	full := slices.Clone(dims)
	flat := true // the same at every place
	for a, as := range atoms {
		for _, f := range as {
			flat = flat && (f.role == roleOther || dims[a] == 1)
		}
	}
	for a, as := range atoms {
		other := slices.ContainsFunc(as, func(f atom) bool { return f.role == roleOther && f.n > 1 })
		if !flat || other {
			full[a] = shape[a]
		}
	}
	if _, err := tensor.CheckedCount(full, maxHeld); err != nil {
		return guess("a table of %v on %v", t.Shape, shape)
	}
	st := make([]int, rank)
	unit := 1
	largest := 0.0
	for a := rank - 1; a >= 0; a-- {
		if dims[a] > 1 {
			st[a] = unit
		}
		unit *= dims[a]
	}
	for _, v := range val {
		largest = max(largest, math.Abs(v))
	}
	perm := identity(r.perm, channels(atoms))
	worst := 0.0
	var swap []int32
	if w.ties != nil && slices.Equal(full, dims) {
		swap = make([]int32, len(val))
	}
	walk(full, func(_ int, at []int) {
		to := carried(shape, atoms, at, perm, e)
		p, q := 0, 0
		for a := range at {
			p += at[a] * st[a]
			if full[a] > 1 {
				q += to[a] * st[a]
			}
		}
		if swap != nil {
			swap[p] = int32(q)
		}
		if d := math.Abs(val[p] - val[q]); !(d <= worst) {
			worst = d
		}
	})
	if swap != nil {
		w.ties.add(i, name, false, e, swap)
		return r
	}
	if !(worst <= w.tol*largest) {
		w.lose(i, e, fmt.Sprintf(
			"its stored table of %v is not the same after the motion: it differs by %.2g of its largest entry", t.Shape,
			worst/largest), "tie the entries that the motion exchanges")
		return relation{standing: broken}
	}
	return r
}

// carried is where the element and the permutation of channels take a place of a value.
func carried(shape []int, atoms [][]atom, at, perm []int, e Element) []int {
	v := &value{shape: shape, atoms: atoms}
	var ys, xs [8]int
	c := 0
	for a, j := range at {
		ay, ax := places(atoms[a], j)
		for k := range ys {
			ys[k], xs[k] = ys[k]+ay[k], xs[k]+ax[k]
		}
		c = c*channels(atoms[a:a+1]) + channelOf(atoms[a], j)
	}
	for k := range ys {
		if h, w := v.lengths(k); h > 0 || w > 0 {
			h, w = max(h, 1), max(w, 1)
			if e.swaps() && h != w {
				continue
			}
			ys[k], xs[k] = e.place(ys[k], xs[k], h, w)
		}
	}
	c = perm[c]
	to := make([]int, len(at))
	for a := len(at) - 1; a >= 0; a-- {
		n := channels(atoms[a : a+1])
		own := c % n
		c /= n
		unit := 1
		for _, f := range slices.Backward(atoms[a]) {
			d := 0
			switch f.role {
			case roleY:
				d = ys[f.copy&7] / f.step % f.n
			case roleX:
				d = xs[f.copy&7] / f.step % f.n
			default:
				d = own % f.n
				own /= f.n
			}
			to[a] += d * unit
			unit *= f.n
		}
	}
	return to
}

// cut follows operators that take some indices of an axis: output k of a Split, else the only one.
func (w *weigher) cut(i int, n *nodeProto, e Element, k int) relation {
	if e == Identity {
		return relation{standing: known}
	}
	name := n.GetInput()[0]
	var x relation
	if r := w.rel[name]; r != nil {
		x = r[e]
	}
	if x.standing != known || x.perm == nil {
		return x
	}
	shape, atoms, ok := w.layout(name)
	guess := relation{standing: guessed}
	if !ok {
		return guess
	}
	// Which channels are taken, in order: by sending the numbers of the channels themselves.
	var other []int
	for a, as := range atoms {
		if slices.ContainsFunc(as, func(f atom) bool { return f.role == roleOther && f.n > 1 }) {
			other = append(other, a)
		}
	}
	if len(other) != 1 || channels(atoms) != shape[other[0]] {
		w.gap = "cuts channels that are permuted"
		return guess
	}
	a := other[0]
	list := identity(nil, shape[a])
	switch n.GetOpType() {
	case "Pad":
		p, err := w.l.f.Padding(i)
		if err != nil || p[a] != [2]int{} {
			w.gap = "pads channels"
			return guess
		}
	case "Slice":
		cuts, err := w.l.f.Cuts(i)
		if err != nil {
			return guess
		}
		for _, c := range cuts {
			if c.Axis == a {
				list = list[:0]
				for j := range c.Count {
					list = append(list, c.Start+j*c.Step)
				}
			}
		}
	case "Gather":
		at := int(onnx.Int(n, "axis", 0))
		if at < 0 {
			at += len(shape)
		}
		if at == a {
			ix, ok := w.l.f.Integers(n.GetInput()[1])
			if !ok {
				return guess
			}
			list = list[:0]
			for _, j := range ix {
				if j < 0 {
					j += int64(shape[a])
				}
				list = append(list, int(j))
			}
		}
	case "Split":
		at := int(onnx.Int(n, "axis", 0))
		if at < 0 {
			at += len(shape)
		}
		if at == a {
			first := 0
			for j := range k {
				first += w.l.f.Nodes[i].Out[j][a]
			}
			list = list[first : first+w.l.f.Nodes[i].Out[k][a]]
		}
	}
	out := make([]int, len(list))
	for j, c := range list {
		if out[j] = slices.Index(list, x.perm[c]); out[j] < 0 {
			w.gap = "takes some of the channels that are permuted among each other"
			return guess
		}
	}
	return relation{standing: known, perm: short(out)}
}

// blocks follows DepthToSpace, whose channels must be permuted as the motion moves places within a block, and
// SpaceToDepth, which permutes them so.
func (w *weigher) blocks(i int, n *nodeProto, e Element, x relation, shape []int,
	guess func(string, ...any) relation,
) relation {
	b := int(onnx.Int(n, "blocksize", 1))
	if len(shape) != 4 || b < 1 || b > 1<<15 {
		return guess("blocks of %d", b)
	}
	number := func(c, y, x, channels int) int { return (y*b+x)*channels + c }
	if onnx.String(n, "mode", "DCR") == "CRD" && n.GetOpType() == "DepthToSpace" {
		number = func(c, y, x, _ int) int { return (c*b+y)*b + x }
	}
	channels, deep := shape[1]/(b*b), n.GetOpType() == "DepthToSpace"
	if !deep {
		channels = shape[1]
	}
	perm := identity(x.perm, shape[1])
	if len(perm) != shape[1] {
		return guess("its channels are not followed")
	}
	out := make([]int, channels*b*b)
	if deep {
		out = out[:channels]
	}
	for c := range channels {
		for k := range b * b {
			y, x := e.inverse().place(k/b, k%b, b, b)
			if !deep {
				out[number(c, k/b, k%b, channels)] = number(perm[c], y, x, channels)
				continue
			}
			to := perm[number(c, k/b, k%b, channels)]
			if k == 0 { // the channel that these places go to
				out[c] = slices.IndexFunc(identity(nil, channels),
					func(d int) bool { return number(d, y, x, channels) == to })
			}
			if out[c] < 0 || number(out[c], y, x, channels) != to {
				w.lose(i, e, "the channels that become the pixels of a block are not permuted as the motion moves "+
					"these pixels", "tie the weights of these channels, or resize instead")
				return relation{standing: broken}
			}
		}
	}
	return relation{standing: known, perm: short(out)}
}

// transposed follows a change of the order of axes.
func (w *weigher) transposed(n *nodeProto, x relation, shape []int, atoms [][]atom,
	guess func(string, ...any) relation,
) relation {
	if x.perm == nil {
		return x
	}
	wide := 0
	for _, as := range atoms {
		if channels([][]atom{as}) > 1 {
			wide++
		}
	}
	if wide > 1 {
		perm := make([]int, len(shape))
		for i := range perm {
			perm[i] = len(shape) - 1 - i
		}
		for i, a := range onnx.Ints(n, "perm", nil) {
			if i < len(perm) {
				perm[i] = int(a)
			}
		}
		// The number of a channel before and after.
		dims, turned := make([]int, len(shape)), make([]int, len(shape))
		for a := range dims {
			dims[a] = channels(atoms[a : a+1])
		}
		for i, a := range perm {
			if a < 0 || a >= len(dims) {
				return guess("an axis that is out of range")
			}
			turned[i] = dims[a]
		}
		after := make([]int, tensor.Count(dims))
		walk(dims, func(i int, at []int) {
			p := 0
			for k, a := range perm {
				p = p*turned[k] + at[a]
			}
			after[i] = p
		})
		if len(after) != len(x.perm) {
			return guess("another number of channels than its input has")
		}
		out := make([]int, len(after))
		for c, p := range after {
			out[p] = after[x.perm[c]]
		}
		return relation{standing: known, perm: short(out)}
	}
	return x
}

// reduced follows a reduction: channels that come together must be permuted to channels that come together.
func reduced(x relation, shape []int, atoms [][]atom, axes []int, lose func() relation) relation {
	if x.perm == nil {
		return x
	}
	dims := make([]int, len(shape))
	for a := range dims {
		dims[a] = channels(atoms[a : a+1])
	}
	to := make([]int, tensor.Count(dims))
	if len(to) != len(x.perm) {
		return lose()
	}
	n := 1
	walk(dims, func(i int, at []int) {
		p := 0
		for a, j := range at {
			if !slices.Contains(axes, a) {
				p = p*dims[a] + j
			}
		}
		to[i] = p
		n = max(n, p+1)
	})
	out := slices.Repeat([]int{-1}, n)
	for c, p := range to {
		q := to[x.perm[c]]
		if out[p] >= 0 && out[p] != q {
			return lose()
		}
		out[p] = q
	}
	return relation{standing: known, perm: short(out)}
}

// overChannels follows poolings whose windows lie side by side along an axis of channels, as steerable networks are
// exported: what a reduction over one of two axes of channels does. ok is false for other nodes.
func (w *weigher) overChannels(i int, n *nodeProto, e Element, x relation, atoms [][]atom) (r relation, ok bool) {
	if !slices.Contains([]string{"MaxPool", "AveragePool", "LpPool"}, n.GetOpType()) || len(atoms) != 3 ||
		channels(atoms[2:]) == 1 || channels(atoms) != channels(atoms[2:]) {
		return r, false
	}
	v, known1 := w.l.f.Nodes[i].Window()
	if !known1 || len(v.In) != 1 || v.Kernel[0] != v.Stride[0] || v.Dilation[0] != 1 || v.Begin[0] != 0 ||
		v.End[0] != 0 || v.In[0] != v.Out[0]*v.Kernel[0] || v.In[0] != channels(atoms) {
		return r, false
	}
	blocks := [][]atom{plain(v.Out[0]), plain(v.Kernel[0])}
	return reduced(x, []int{v.Out[0], v.Kernel[0]}, blocks, []int{1}, func() relation {
		w.lose(i, e, "pools over channels that are not permuted among themselves",
			"order the channels by groups that the motion permutes, and pool over those")
		return relation{standing: broken}
	}), true
}

// joined follows Concat.
func (w *weigher) joined(n *nodeProto, in []relation, out [][]atom, guess func(string, ...any) relation) relation {
	if !slices.ContainsFunc(in, func(r relation) bool { return r.perm != nil }) {
		// Stored tables that are joined to the map: the structure has looked at them.
		return relation{standing: known}
	}
	a := int(onnx.Int(n, "axis", 1))
	if a < 0 {
		a += len(out)
	}
	if a < 0 || a >= len(out) || channels(out[a:a+1]) != channels(out) {
		return guess("joins values whose channels are permuted")
	}
	var perm []int
	for k, name := range n.GetInput() {
		c := len(perm)
		for _, j := range identity(in[k].perm, w.l.f.Shapes[name][a]) {
			perm = append(perm, c+j)
		}
	}
	if len(perm) != channels(out) {
		return guess("joins values whose channels are permuted")
	}
	return relation{standing: known, perm: short(perm)}
}

// rows is a stack of kernels, one for each output channel, and how inputs move.
type rows struct {
	count, length int
	val           []float64
	// index is where entry j of row o stands among them
	index func(o, j int) int
	// place is where entry j of row o stands among all inputs, which number inputs; moved is where the motion takes an
	// input.
	place func(o, j int) int
	// the reverse of place; -1 if row o does not read it
	entry  func(o, input int) int
	moved  func(input int) int
	inputs int
	bias   []float64
	// names of the stored tensors
	weights, offsets string
}

func (r *rows) at(o, j int) float64 { return r.val[r.index(o, j)] }

// match finds the permutation p of rows with row[p[o]](moved(j)) = row[o](j). unmatched is a row without a partner, or
// -1; off is by how much the nearest row differs, relative to the largest weight.
func (r *rows) match(tol float64) (perm []int, unmatched int, off float64) {
	largest, most := 0.0, 0.0
	for o := range r.count {
		for j := range r.length {
			largest = max(largest, math.Abs(r.at(o, j)))
		}
	}
	for _, b := range r.bias {
		most = max(most, math.Abs(b))
	}
	if largest == 0 {
		largest = 1
	}
	rng := rand.New(rand.NewPCG(1, 2))
	probe := make([]float64, r.inputs+1)
	for i := range probe {
		probe[i] = rng.Float64() - 0.5
	}
	plain, turned := make([]float64, r.count), make([]float64, r.count)
	for o := range r.count {
		for j := range r.length {
			v, p := r.at(o, j), r.place(o, j)
			plain[o] += float64(v * probe[p])
			turned[o] += float64(v * probe[r.moved(p)])
		}
		if r.bias != nil {
			plain[o] += float64(r.bias[o] * probe[r.inputs])
			turned[o] += float64(r.bias[o] * probe[r.inputs])
		}
	}
	// the largest difference of row o, moved, from row q; no more than is above stop
	differ := func(o, q int, stop float64) float64 {
		d := 0.0
		for j := range r.length {
			k := r.entry(q, r.moved(r.place(o, j)))
			if k < 0 {
				return math.Inf(1)
			}
			if x := math.Abs(r.at(o, j)-r.at(q, k)) / largest; !(x <= d) {
				if d = x; !(d <= stop) {
					return d
				}
			}
		}
		if r.bias != nil && most > 0 {
			if x := math.Abs(r.bias[o]-r.bias[q]) / most; !(x <= d) {
				d = x
			}
		}
		return d
	}
	perm = slices.Repeat([]int{-1}, r.count)
	used := make([]bool, r.count)
	for o := range perm {
		if differ(o, o, tol) <= tol {
			perm[o], used[o] = o, true
		}
	}
	order := identity(nil, r.count)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(plain[a], plain[b]) })
	reach := float64(tol * (largest + most) * float64(r.length+1))
	for o := range perm {
		if perm[o] >= 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(order, turned[o]-reach,
			func(q int, v float64) int { return cmp.Compare(plain[q], v) })
		for ; k < len(order) && plain[order[k]] <= turned[o]+reach; k++ {
			if q := order[k]; !used[q] && differ(o, q, tol) <= tol {
				perm[o], used[q] = q, true
				break
			}
		}
		if perm[o] < 0 {
			off = math.Inf(1)
			for q := range r.count {
				off = min(off, differ(o, q, off))
			}
			return nil, o, off
		}
	}
	return perm, -1, 0
}

// judge turns a match into a relation.
func (w *weigher) judge(i int, e Element, r *rows, what string) relation {
	if w.ties != nil {
		return w.tie(i, e, r)
	}
	perm, unmatched, off := r.match(w.tol)
	if unmatched < 0 {
		return relation{standing: known, perm: short(perm)}
	}
	far := fmt.Sprintf("the nearest differs by %.2g of the largest weight", off)
	if math.IsInf(off, 1) {
		far = "none reads the same channels"
	} else if off <= w.tol {
		far = "another one has taken its only partner"
	}
	w.lose(i, e, fmt.Sprintf("%s of output channel %d has no partner under %s: %s", what, unmatched, e, far),
		"tie the weights that the motion exchanges (group convolution, or average the weights over the group and "+
			"fine-tune), or average the answers over the group")
	return relation{standing: broken}
}

// stored reads a constant as numbers.
func (w *weigher) stored(n *nodeProto, k int) (tensor.Tensor, []float64, bool) {
	if k >= len(n.GetInput()) || n.GetInput()[k] == "" {
		return tensor.Tensor{}, nil, false
	}
	t, ok := w.l.f.Stored(n.GetInput()[k])
	if !ok {
		return t, nil, false
	}
	v, err := t.Float64s(nil)
	return t, v, err == nil
}

// convolved matches the kernels of a convolution.
func (w *weigher) convolved(i int, n *nodeProto, e Element, x relation, guess func(string, ...any) relation) relation {
	t, val, ok := w.stored(n, 1)
	if !ok || len(t.Shape) != 4 {
		return guess("its weights are computed while it runs")
	}
	kh, kw := t.Shape[2], t.Shape[3]
	if e.swaps() && kh != kw {
		return guess("a kernel of %d x %d, which a quarter turn takes to another size", kh, kw)
	}
	groups := max(int(onnx.Int(n, "group", 1)), 1)
	transposed := n.GetOpType() == "ConvTranspose"
	taps := kh * kw
	inputs, outs, perGroupIn, perGroupOut := t.Shape[1]*groups, t.Shape[0], t.Shape[1], t.Shape[0]/groups
	if transposed {
		inputs, outs, perGroupIn, perGroupOut = t.Shape[0], t.Shape[1]*groups, t.Shape[0]/groups, t.Shape[1]
	}
	if perGroupOut < 1 || perGroupIn < 1 {
		return guess("its groups do not fit")
	}
	r := &rows{
		count: outs, length: perGroupIn * taps, inputs: inputs * taps, val: val, weights: n.GetInput()[1],
	}
	first := func(o int) int { return o / perGroupOut * perGroupIn }
	r.index = func(o, j int) int {
		if transposed {
			return ((first(o)+j/taps)*perGroupOut+o%perGroupOut)*taps + j%taps
		}
		return o*perGroupIn*taps + j
	}
	r.place = func(o, j int) int { return first(o)*taps + j }
	r.entry = func(o, p int) int {
		if j := p - first(o)*taps; j >= 0 && j < r.length {
			return j
		}
		return -1
	}
	perm := identity(x.perm, inputs)
	if len(perm) != inputs {
		return guess("its channels are not followed")
	}
	back := make([]int, taps)
	for k := range back {
		y, c := e.inverse().place(k/kw, k%kw, kh, kw)
		back[k] = y*kw + c
	}
	r.moved = func(p int) int { return perm[p/taps]*taps + back[p%taps] }
	if len(n.GetInput()) > 2 && n.GetInput()[2] != "" {
		if _, r.bias, ok = w.stored(n, 2); !ok || len(r.bias) != outs {
			return guess("its bias is computed while it runs")
		}
		r.offsets = n.GetInput()[2]
	}
	return w.judge(i, e, r, "the kernel")
}

// multiplied matches the weights of a dense layer.
func (w *weigher) multiplied(i int, n *nodeProto, e Element, in []relation,
	guess func(string, ...any) relation,
) relation {
	a, b := n.GetInput()[0], n.GetInput()[1]
	if w.l.f.Depends(a) && w.l.f.Depends(b) {
		if in[0].perm != nil || in[1].perm != nil {
			return guess("a product of values whose channels are permuted")
		}
		return relation{standing: known}
	}
	x, name, at := in[0], a, 1
	if !w.l.f.Depends(a) {
		return guess("a product with the picture on the right")
	}
	shape, atoms, ok := w.layout(name)
	t, val, stored := w.stored(n, at)
	if !ok || !stored || len(t.Shape) != 2 || len(shape) < 2 {
		return guess("its weights are computed while it runs")
	}
	gemm := n.GetOpType() == "Gemm"
	axis := len(shape) - 1
	if gemm && onnx.Int(n, "transA", 0) != 0 {
		return guess("a product with transposed values")
	}
	if channels(atoms) != channels(atoms[axis:]) {
		if x.perm != nil {
			return guess("its channels are permuted along several axes")
		}
	}
	turned := gemm && onnx.Int(n, "transB", 0) != 0
	k, m := t.Shape[0], t.Shape[1]
	if turned {
		k, m = m, k
	}
	if k != shape[axis] {
		return guess("weights of %v on %v", t.Shape, shape)
	}
	r := &rows{count: m, length: k, inputs: k, val: val, weights: n.GetInput()[at]}
	r.index = func(o, j int) int {
		if turned {
			return o*k + j
		}
		return j*m + o
	}
	r.place = func(_, j int) int { return j }
	r.entry = func(_, p int) int { return p }
	perm := identity(x.perm, channels(atoms[axis:]))
	if len(perm) != channels(atoms[axis:]) {
		perm = identity(nil, channels(atoms[axis:]))
	}
	moved := make([]int, k)
	for j := range moved {
		moved[j] = carried(shape[axis:], atoms[axis:], []int{j}, perm, e.inverse())[0]
	}
	r.moved = func(p int) int { return moved[p] }
	if gemm && len(n.GetInput()) > 2 && n.GetInput()[2] != "" {
		c, bias, ok := w.stored(n, 2)
		if !ok {
			return guess("its bias is computed while it runs")
		}
		if len(bias) == m && c.Shape[len(c.Shape)-1] == m {
			r.bias, r.offsets = bias, n.GetInput()[2]
		} else if len(bias) != 1 {
			return guess("a bias of %v", c.Shape)
		}
	}
	out := w.judge(i, e, r, "the row of weights")
	if out.perm != nil && channels(atoms) != channels(atoms[axis:]) {
		return guess("permutes channels along one of several axes")
	}
	return out
}
