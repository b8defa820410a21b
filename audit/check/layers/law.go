package layers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// Operators by what they do to the representation of what they read.
var (
	// pointwise keep every number in its place and look at no other, or at all that a symmetric statistic holds.
	pointwise = set("Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "Sigmoid", "HardSigmoid",
		"HardSwish", "Tanh", "Softplus",
		"Softsign", "Mish", "Gelu", "Erf", "Exp", "Log", "Sqrt", "Reciprocal", "Abs", "Neg", "Sign", "Ceil", "Floor",
		"Round", "Clip", "Pow", "Sin", "Cos",
		"Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Shrink", "Swish", "Identity", "Cast",
		"CastLike", "Dropout",
		"Add", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Sum", "Where", "Mod",
		"BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization",
		"MeanVarianceNormalization", "RMSNormalization",
		"LpNormalization", "LRN", "Softmax", "LogSoftmax", "Hardmax", "QuantizeLinear", "DequantizeLinear")
	// odd functions, and linear ones, commute with changes of sign.
	odd = set("Identity", "Cast", "CastLike", "Dropout", "Neg", "Sign", "Tanh", "Erf", "Sin", "Tan", "Asin", "Atan",
		"Sinh", "Asinh", "Atanh", "Softsign", "Sum", "Mean")
	// linear hand values on, or bring several together without bending them.
	linear = set("Identity", "Cast", "CastLike", "Dropout", "Neg", "Add", "Sub", "Sum", "Mean", "Where")
	// local read a window around each place of a map.
	convolutions = set("Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "DeformConv")
	pools        = set("MaxPool", "AveragePool", "LpPool", "Resize", "Upsample", "Pad")
	globals      = set("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
	movements    = set("Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Concat", "Split", "Slice",
		"Gather", "Expand", "Tile", "DepthToSpace", "SpaceToDepth")
	normalisations = set("BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization",
		"MeanVarianceNormalization",
		"RMSNormalization", "LpNormalization", "LRN")
	products = set("Gemm", "MatMul", "Einsum", "MatMulInteger", "QLinearMatMul")
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// structure is what the graph says of how a value moves.
type structure struct {
	// nil if it says nothing
	rep *feature.Rep
	// the data need not be asked
	sure bool
	more []*feature.Rep
}

// represent finds the representations of what is live after a layer, nil for values that hold no floating-point
// numbers. The reason says why one of them cannot be told.
func (l *look) represent(ctx context.Context, cur, next *cut, moved [][]interior.Array) (why string, constant bool,
	err error,
) {
	next.reps = make([]*feature.Rep, len(next.live))
	constant = true
	for k, v := range next.live {
		if !slices.Contains(next.layer.Floats, v) {
			constant = false
			continue
		}
		if j := slices.Index(cur.live, v); j >= 0 {
			next.reps[k], constant = cur.reps[j], false
			continue
		}
		shape := next.x[0][k].Shape
		for i := range next.x {
			if !slices.Equal(next.x[i][k].Shape, shape) {
				return cur.miss(v, fmt.Sprintf("the shape of %s depends on the input", v)), false, nil
			}
		}
		pairs := l.pairs(next, k, moved)
		if v == l.output && l.out != nil {
			next.reps[k] = l.out
			if err := l.undeclared(cur, shape, pairs); err != nil {
				return "", false, err
			}
			if fit, err := l.frame.Fixed(shape).Score(pairs, 1e-3); err != nil || fit.Varying > 0 || len(pairs) == 0 {
				constant = false
			}
			continue
		}
		rep, still, err := l.law(ctx, cur, v, shape, pairs)
		if err != nil {
			return "", false, err
		}
		if rep == nil {
			return cur.miss(v, fmt.Sprintf(
				"no representation of %s %v is declared, follows from the graph, or explains the values", v,
				shape)), false, nil
		}
		next.reps[k] = rep
		constant = constant && still
	}
	return "", constant, nil
}

// undeclared looks for another representation of the output than the declared one, which the values show and that one
// does not.
func (l *look) undeclared(cur *cut, shape []int, pairs []feature.Pair) error {
	if l.end.value != "" {
		return nil // nobody declared how it moves
	}
	if p := l.points; p != nil {
		if e := evidenceOf(pairs); len(pairs) > 0 && !e.constant && !e.explained(l.out.Apply) {
			if m := p.explains(shape, nil, e); m != nil {
				l.other = l.rep(m)
			}
		}
		return nil
	}
	if fit, err := l.out.Score(pairs, 1e-3); err != nil || fit.Constant() || fit.Explained > 0.5 {
		return err
	}
	found, _, err := l.frame.Infer(pairs, l.frame.Candidates(shape, l.grids(cur, shape)), feature.Limits{Loose: 1e-3})
	if found != nil && !found.Equal(l.out) {
		l.other = found
	}
	return err
}

// pairs are the k-th live values of samples and what the layer makes of exactly moved inputs.
func (l *look) pairs(next *cut, k int, moved [][]interior.Array) []feature.Pair {
	var out []feature.Pair
	m := len(l.elements)
	for i := range next.x {
		for j, e := range l.elements {
			if (e.Exact || l.points != nil) && len(moved[i*m+j][k].Val) == len(next.x[i][k].Val) {
				out = append(out, feature.Pair{G: e.G, Object: i, X: next.x[i][k].Val, Y: moved[i*m+j][k].Val})
			}
		}
	}
	return out
}

// law is the representation of one value that a layer makes.
func (l *look) law(ctx context.Context, cur *cut, v string, shape []int, pairs []feature.Pair) (rep *feature.Rep,
	constant bool, err error,
) {
	if l.points != nil {
		rep, constant = l.pointLaw(ctx, cur, v, shape, pairs)
		return rep, constant, nil
	}
	s := l.structure(ctx, cur, v, shape)
	if s.rep != nil && s.sure {
		fit, err := s.rep.Score(pairs, 1e-3)
		return s.rep, err == nil && len(pairs) > 0 && fit.Constant(), err
	}
	var candidates []*feature.Rep
	if s.rep != nil {
		candidates = append(candidates, s.rep)
	}
	candidates = append(candidates, s.more...)
	if s.rep == nil {
		candidates = append(candidates, l.frame.Candidates(shape, l.grids(cur, shape))...)
	}
	n := l.maker(v)
	moves := n != nil && movements[n.GetOpType()]
	found, fit, err := l.frame.Infer(pairs, candidates, feature.Limits{})
	if err != nil {
		return nil, false, err
	}
	if moves && fit.Explained < 1 {
		found = nil // it bends no number, so that what explains a part of them is no way in which they move
	}
	still := len(pairs) > 0 && fit.Constant()
	switch {
	case found != nil && s.rep != nil && found.Equal(s.rep):
		return s.rep, false, nil
	case found != nil:
		return found, false, nil
	case s.rep != nil:
		return s.rep, still, nil
	}
	if len(shape) == 1 {
		if r, fit, err := l.frame.FitLinear(pairs, shape); err == nil && fit.R2 >= 0.99 && fit.Defect <= 0.1 {
			return r, false, nil
		}
	}
	// What moves numbers about breaks nothing of itself: it is measured with what comes after.
	if n == nil || moves {
		return nil, still, nil
	}
	wide := 0 // axes that are longer than 1
	for _, d := range shape {
		if d > 1 {
			wide++
		}
	}
	if wide > 1 {
		for _, c := range candidates {
			if c.Moves() && !slices.ContainsFunc(c.Grids(),
				func(g feature.Grid) bool { return g.H > l.h || g.W > l.w }) {
				return c.As(feature.ByDefault, "its shape is that of a map, and nothing explains the values"), still,
					nil
			}
		}
		return nil, still, nil
	}
	if l.invariant && !pointwise[n.GetOpType()] { // nor does what looks at one number at a time
		return candidates[0].As(feature.ByDefault, "nothing explains the values; taken to stay, as the output does"),
			still, nil
	}
	return nil, still, nil
}

// maker is the node that makes a value; nil for inputs and stored tensors.
func (l *look) maker(v string) *onnxpb.NodeProto {
	if i, ok := l.made[v]; ok {
		return l.m.ONNX().Proto().GetGraph().GetNode()[i]
	}
	return nil
}

// structure reads off the graph how a value moves.
func (l *look) structure(ctx context.Context, cur *cut, v string, shape []int) structure {
	n := l.maker(v)
	if n == nil || n.GetDomain() != "" && n.GetDomain() != "ai.onnx" {
		return structure{}
	}
	var names []string
	var ins []*feature.Rep
	for _, name := range n.GetInput() {
		if name == "" || slices.Contains(names, name) {
			continue
		}
		if j := slices.Index(cur.live, name); j >= 0 {
			if cur.reps[j] != nil {
				names, ins = append(names, name), append(ins, cur.reps[j])
			}
			continue
		}
		if l.varies[name] {
			return structure{} // made between the layers that are looked at
		}
	}
	if len(ins) == 0 {
		return structure{}
	}
	op := n.GetOpType()
	switch {
	case pointwise[op]:
		return l.pointwise(op, shape, ins)
	case convolutions[op] || pools[op]:
		return l.window(n, shape, ins[0])
	case globals[op]:
		if p, ok := ins[0].Field(); ok && len(p.Grids) == 1 && len(shape) == 3 && shape[0] == p.Channels {
			g := p.Grids[0]
			one := feature.Grid{H: 1, W: 1, Stride: [2]float64{g.Stride[0] * float64(g.W), g.Stride[1] * float64(g.H)}}
			if r, err := l.frame.Layout(shape, feature.Part{
				Channels: p.Channels, Grids: []feature.Grid{one},
				Mix: p.Mix,
			}); err == nil {
				return structure{rep: r.As(feature.ByStructure, "a statistic over all places"), sure: true}
			}
		}
	case movements[op]:
		if r := l.movement(ctx, cur, names, ins, v, shape); r != nil {
			return structure{rep: r, sure: true}
		}
		if steps := l.subsamples(n); steps != nil {
			return l.thinned(steps, shape, ins[0])
		}
	case len(op) > 6 && op[:6] == "Reduce":
		return l.reduced(shape, ins[0])
	}
	return structure{}
}

// pointwise is the representation of what has the numbers of its inputs in their places.
func (l *look) pointwise(op string, shape []int, ins []*feature.Rep) structure {
	var same []*feature.Rep
	for _, r := range ins {
		if slices.Equal(r.Shape(), shape) && !slices.ContainsFunc(same, r.Equal) {
			same = append(same, r)
		}
	}
	if len(same) == 0 {
		return structure{}
	}
	s := structure{rep: same[0].As(feature.ByStructure, "that of what it reads"), more: same[1:]}
	s.sure = len(same) == 1 && (!same[0].Signs() || odd[op])
	if !s.sure {
		for _, r := range same { // without signs, or in another order: what a function of signed values may be
			parts := slices.Clone(r.Parts())
			for i := range parts {
				parts[i].Mix = nil
			}
			if plain, err := l.frame.Layout(shape, parts...); err == nil && !slices.ContainsFunc(s.more, plain.Equal) {
				s.more = append(s.more, plain)
			}
		}
	}
	return s
}

// window is the representation of what reads a neighborhood of each place: the places of the result are a stride apart.
func (l *look) window(n *onnxpb.NodeProto, shape []int, in *feature.Rep) structure {
	p, ok := in.Field()
	if !ok || len(p.Grids) != 1 || len(shape) != 3 {
		return structure{more: l.frame.Candidates(shape, l.guess(shape))[1:]}
	}
	g := p.Grids[0]
	out := feature.Grid{H: shape[1], W: shape[2], Stride: g.Stride}
	switch op := n.GetOpType(); op {
	case "Pad":
	case "ConvTranspose", "Resize", "Upsample", "DeformConv":
		out.Stride = [2]float64{
			g.Stride[0] * float64(g.W) / float64(shape[2]),
			g.Stride[1] * float64(g.H) / float64(shape[1]),
		}
		if st := onnx.Ints(n, "strides", nil); len(st) == 2 && op == "ConvTranspose" && st[0] > 0 && st[1] > 0 {
			out.Stride = [2]float64{g.Stride[0] / float64(st[1]), g.Stride[1] / float64(st[0])}
		}
	default:
		if st := onnx.Ints(n, "strides", nil); len(st) == 2 {
			out.Stride = [2]float64{g.Stride[0] * float64(st[1]), g.Stride[1] * float64(st[0])}
		}
	}
	part := feature.Part{Channels: shape[0], Grids: []feature.Grid{out}}
	if pools[n.GetOpType()] && shape[0] == p.Channels {
		part.Mix = p.Mix
		if r, err := l.frame.Layout(shape, part); err == nil {
			return structure{
				rep:  r.As(feature.ByStructure, "channels stay what they were, on a grid of their own"),
				sure: p.Mix == nil || !in.Signs(),
			}
		}
		return structure{}
	}
	r, err := l.frame.Layout(shape, part)
	if err != nil {
		return structure{}
	}
	return structure{rep: r.As(feature.ByStructure,
		"a map moves with its grid; the values show no other order of the channels")}
}

// subsamples are the steps, down and across, of a Slice that leaves places of a map out; nil for other nodes. One of
// several that share the places of a map among them, as a layer that makes channels of places does, leaves none out.
func (l *look) subsamples(n *onnxpb.NodeProto) []int {
	in := n.GetInput()
	if n.GetOpType() != "Slice" || len(in) < 5 {
		return nil
	}
	for _, o := range l.m.ONNX().Proto().GetGraph().GetNode() {
		if o != n && o.GetOpType() == "Slice" && len(o.GetInput()) == len(in) && o.GetInput()[0] == in[0] &&
			slices.Equal(l.stored(o.GetInput()[3]), l.stored(in[3])) &&
			!slices.Equal(l.stored(o.GetInput()[1]), l.stored(in[1])) {
			return nil
		}
	}
	rank := len(l.shapes[in[0]])
	axes, by := l.stored(in[3]), l.stored(in[4])
	if rank != 4 || len(axes) != len(by) {
		return nil
	}
	steps, leaves := []int{1, 1}, false
	for i, a := range axes {
		if a < 0 {
			a += float64(rank)
		}
		if s := math.Abs(by[i]); a >= 2 && a < 4 && s > 1 {
			steps[int(a)-2], leaves = int(s), true
		}
	}
	if !leaves {
		return nil
	}
	return steps
}

// thinned is the representation of a map of which every so many rows and columns are left.
func (l *look) thinned(steps, shape []int, in *feature.Rep) structure {
	p, ok := in.Field()
	if !ok || len(p.Grids) != 1 || len(shape) != 3 || shape[0] != p.Channels {
		return structure{}
	}
	g := p.Grids[0]
	out := feature.Grid{H: shape[1], W: shape[2], Stride: [2]float64{
		g.Stride[0] * float64(steps[1]), g.Stride[1] * float64(steps[0]),
	}}
	r, err := l.frame.Layout(shape, feature.Part{Channels: shape[0], Grids: []feature.Grid{out}, Mix: p.Mix})
	if err != nil {
		return structure{}
	}
	return structure{rep: r.As(feature.ByStructure, "every so many places of a map"), sure: true}
}

// reduced is the representation after a reduction, if its form tells that it runs over the places.
func (l *look) reduced(shape []int, in *feature.Rep) structure {
	p, ok := in.Field()
	if !ok || len(p.Grids) != 1 {
		return structure{}
	}
	g := p.Grids[0]
	size := 1
	for _, d := range shape {
		size *= d
	}
	var s structure
	if size == p.Channels {
		if r, err := l.frame.Layout(shape, feature.Part{Channels: p.Channels, Mix: p.Mix}); err == nil {
			s.rep = r.As(feature.ByStructure, "a statistic over all places")
		}
	}
	if n := len(shape); n >= 2 && shape[n-2] == g.H && shape[n-1] == g.W {
		if r, err := l.frame.Layout(shape, feature.Part{Channels: size / (g.H * g.W), Grids: p.Grids}); err == nil {
			r = r.As(feature.ByStructure, "a statistic over channels")
			if s.rep == nil {
				s.rep = r
			} else {
				s.more = append(s.more, r)
			}
		}
	}
	return s
}

// grids are those that a value may live on: those of what it is made of, and those that its shape suggests.
func (l *look) grids(cur *cut, shape []int) []feature.Grid {
	var out []feature.Grid
	for _, r := range cur.reps {
		if r != nil {
			out = append(out, r.Grids()...)
		}
	}
	return append(out, l.guess(shape)...)
}

// guess is grids that a shape suggests, given the picture that the model reads.
func (l *look) guess(shape []int) []feature.Grid {
	if l.h == 0 {
		return nil
	}
	var out []feature.Grid
	add := func(h, w int) {
		if h > 1 && w > 1 && h <= 2*l.h && w <= 2*l.w {
			out = append(out, feature.Grid{
				H: h, W: w,
				Stride: [2]float64{
					math.Max(1, math.Round(float64(l.w)/float64(w))),
					math.Max(1, math.Round(float64(l.h)/float64(h))),
				},
			})
		}
	}
	for a := len(shape) - 2; a >= 0; a-- {
		if d := float64(shape[a]) / float64(shape[a+1]) * float64(l.w) / float64(l.h); 0.8 < d && d < 1.25 {
			add(shape[a], shape[a+1])
		}
	}
	for _, d := range shape {
		for extra := range 2 {
			h := int(math.Round(math.Sqrt(float64(d-extra) * float64(l.h) / float64(l.w))))
			if h > 1 && (d-extra)%h == 0 {
				add(h, (d-extra)/h)
			}
		}
	}
	return out
}

// exactElements are those that act on the input without resampling.
func (l *look) exactElements() []group.Element {
	var out []group.Element
	for _, e := range l.elements {
		if e.Exact {
			out = append(out, e.G)
		}
	}
	return out
}

// mostMoved is the largest number that float32 counts up to without a gap.
const mostMoved = 1 << 24

// movement follows every number through a node that moves data about, by running it on the numbers of their places. It
// is nil if the node does more than that.
func (l *look) movement(ctx context.Context, cur *cut, names []string, ins []*feature.Rep, v string,
	shape []int,
) *feature.Rep {
	var offsets []int
	total := 0
	for _, r := range ins {
		offsets = append(offsets, total)
		total += size(r.Shape())
	}
	if total >= mostMoved/2 {
		return nil
	}
	part, err := l.m.Part(ctx, cur.live, []string{v})
	if err != nil {
		return nil
	}
	defer func() { _ = part.Close() }() // nothing is lost
	run := func(times float64) []float64 {
		in := slices.Clone(cur.x[0])
		for k, name := range names {
			at := slices.Index(cur.live, name)
			a := interior.Array{Shape: in[at].Shape, Val: make([]float64, len(in[at].Val))}
			for i := range a.Val {
				a.Val[i] = times * float64(offsets[k]+i+1)
			}
			in[at] = a
		}
		out, err := part.Run(ctx, [][]interior.Array{in})
		if err != nil || !slices.Equal(out[0][0].Shape, shape) {
			return nil
		}
		return out[0][0].Val
	}
	once, twice := run(1), run(2)
	if once == nil || twice == nil {
		return nil
	}
	from := make([]feature.Place, len(once))
	for j, a := range once {
		switch b := twice[j]; {
		case a == b:
			from[j] = feature.Place{Value: -1}
		case b != 2*a || a != math.Trunc(a) || a < 1 || int(a) > total:
			return nil
		default:
			k := len(offsets) - 1
			for offsets[k] > int(a)-1 {
				k--
			}
			from[j] = feature.Place{Value: k, At: int(a) - 1 - offsets[k]}
		}
	}
	r, err := l.frame.Pushed(shape, ins, from, l.exactElements())
	if err != nil && l.points != nil {
		var all []group.Element
		for _, e := range l.elements {
			all = append(all, e.G)
		}
		r, err = l.frame.Carried(shape, ins, from, all)
	}
	if err != nil {
		return nil
	}
	return r.As(feature.ByStructure, "the numbers are moved about")
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
