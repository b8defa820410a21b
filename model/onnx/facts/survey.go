package facts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
)

// follow moves places through the node. No input is opaque.
func (v *surveyor) follow(top state) field {
	x := v.in(0)
	op := v.node.GetOpType()
	if several := pointwise[op] || op == "Concat" || op == "Gemm" || op == "MatMul"; x.state == fixed && !several {
		return v.lose("the picture enters through another input than the first")
	}
	switch op {
	case "Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool":
		return v.windowed(x)
	case "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool":
		if x.state == grid && (x.at != [2]int{2, 3} && x.at != [2]int{3, 2}) {
			return v.lose("pools over other axes than the picture's")
		}
		return pool0(x)
	case "Pad":
		return v.padded(x)
	case "Slice":
		return v.sliced(x)
	case "Resize", "Upsample":
		return v.resized(x)
	case "DepthToSpace", "SpaceToDepth":
		return v.shuffled(x)
	case "Transpose":
		return v.transposed(x)
	case "Flatten", "Reshape", "Squeeze", "Unsqueeze":
		return v.reshaped(x)
	case "Concat":
		return v.joined()
	case "Split":
		a, err := Axis(onnx.Int(v.node, "axis", 0), len(v.shape(v.node.GetInput()[0])))
		if err != nil || x.state == grid && slices.Contains(x.at[:], a) || x.state == tokens && a == x.at[0] {
			return v.lose("cuts the picture apart")
		}
		return x
	case "Gather":
		return v.gathered(x)
	case "Gemm", "MatMul":
		return v.product()
	case "Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "CumSum":
		if x.state == grid || x.state == tokens {
			def := int64(-1)
			if v.f.model.Opset() < 13 {
				def = 1
			}
			a, err := Axis(onnx.Int(v.node, "axis", def), len(v.shape(v.node.GetInput()[0])))
			if err != nil || op == "CumSum" {
				return v.lose("runs along an axis that is not followed")
			}
			if x.state == grid && slices.Contains(x.at[:], a) {
				return v.lose("normalizes along one axis of the picture")
			}
		}
		return x
	case "LayerNormalization":
		for i := 1; i < len(v.node.GetInput()); i++ {
			v.table(x, v.node.GetInput()[i])
		}
		return x
	case "BatchNormalization", "InstanceNormalization", "GroupNormalization":
		return x // their stored tensors run along the channels
	case "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
		"ReduceLogSum", "ReduceLogSumExp", "ArgMax", "ArgMin":
		return v.reduced(x)
	case "Expand", "Tile":
		if top == pooled || top == mixed {
			return x
		}
		if x.state == grid && v.sameExtent(x) {
			return x
		}
		return v.lose("repeats places")
	default:
		if !pointwise[op] {
			return v.lose("how it moves places is not known here")
		}
		return v.merged()
	}
}

// pointwise lists operators that treat every place alike and broadcast their inputs.
var pointwise = func() map[string]bool {
	m := map[string]bool{}
	for op := range strings.FieldsSeq(
		`Relu LeakyRelu Elu Selu Celu Sigmoid Tanh Softplus Softsign HardSigmoid HardSwish Exp Log Sqrt Erf
		Reciprocal Ceil Round Sign Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Clip LRN MeanVarianceNormalization
		ThresholdedRelu Gelu Mish Shrink Swish Identity Abs Neg Floor Not IsNaN IsInf Cast CastLike Dropout QuantizeLinear
		DequantizeLinear Add Sub Mul Div Pow Mod Min Max Sum Mean PRelu And Or Xor Equal Greater Less GreaterOrEqual LessOrEqual Where
		RandomNormalLike RandomUniformLike Bernoulli`) {
		m[op] = true
	}
	return m
}()

// pool0 forgets the places of a field.
func pool0(x field) field {
	if x.state == grid || x.state == tokens {
		return field{state: pooled}
	}
	return x
}

// sameExtent tells whether the output has the input's lengths along the picture's axes.
func (v *surveyor) sameExtent(x field) bool {
	in, out := v.shape(v.node.GetInput()[0]), v.rec.Out[0]
	if len(in) != len(out) {
		return false
	}
	return in[x.at[0]] == out[x.at[0]] && in[x.at[1]] == out[x.at[1]]
}

// windowed follows convolutions and poolings.
func (v *surveyor) windowed(x field) field {
	w := v.rec.win
	switch {
	case x.state == pooled || x.state == mixed:
		return x
	case x.state == tokens:
		return v.lose("a window over a map whose two axes are folded into one")
	case w == nil || len(w.In) != 2 || x.at != [2]int{2, 3} && x.at != [2]int{3, 2}:
		return v.lose("slides along other axes than the picture's")
	}
	out := field{state: grid, at: x.at}
	var off [2]rat
	v.strided(w, x)
	for i := range 2 {
		k := x.at[i] - 2
		out.line[i], off[i] = slideLine(x.line[i], w, k)
		v.period(i, out.line[i].step)
		v.rolls(x.line[i], w, k)
	}
	switch down, across := w.Extent(x.at[0]-2), w.Extent(x.at[1]-2); {
	case down > across && v.tall == "":
		v.tall = v.rec.Name
	case down < across && v.wide == "":
		v.wide = v.rec.Name
	}
	v.judge(off, w.same() && (!v.square || w.Out[0] == w.Out[1]),
		func(axis int) string { return explain(w, x.at[axis]-2) }, "")
	return out
}

// same tells whether a window is the same along both axes, up to where it begins and ends.
func (w *Window) same() bool {
	return w.Kernel[0] == w.Kernel[1] && w.Stride[0] == w.Stride[1] && w.Dilation[0] == w.Dilation[1]
}

// slideLine is the sampling after a window, and how far off centre it is: twice the distance, in pixels.
func slideLine(l line, w *Window, k int) (line, rat) {
	ext, s, b := int64(w.Extent(k)), int64(w.Stride[k]), int64(w.Begin[k])
	o := line{n: w.Out[k], pend: whole(0)}
	if w.Transposed {
		// Output j is the middle of the kernel put down at input (j + b - (ext-1)/2) / s.
		o.start = l.start.add(l.step.mul(frac(2*b-ext+1, 2*s)))
		o.step = l.step.mul(frac(1, s))
	} else {
		// Window j starts at input s*j - b; its middle is (ext-1)/2 further.
		o.start = l.start.add(l.step.mul(frac(ext-1-2*b, 2)))
		o.step = l.step.mul(whole(int(s)))
	}
	return o, o.off(l).add(l.pend)
}

// explain says why the sampling is off centre.
func explain(w *Window, k int) string {
	if w.Transposed {
		return fmt.Sprintf("kernel %d, stride %d and pads (%d, %d) put %d places off the middle of %d", w.Kernel[k],
			w.Stride[k], w.Begin[k], w.End[k], w.Out[k], w.In[k])
	}
	if w.Begin[k] != w.End[k] {
		return fmt.Sprintf("pads are %d before and %d after %d places (kernel %d, stride %d)", w.Begin[k], w.End[k],
			w.In[k], w.Kernel[k], w.Stride[k])
	}
	left := (w.Out[k]-1)*w.Stride[k] + w.Extent(k) - w.In[k] - 2*w.Begin[k]
	if left > 0 {
		return fmt.Sprintf("kernel %d and stride %d reach %d beyond the end of %d places with padding %d, and not "+
			"beyond the beginning", w.Kernel[k], w.Stride[k], left, w.In[k], w.Begin[k])
	}
	return fmt.Sprintf("kernel %d and stride %d leave %d of %d places with padding %d unread at the end, and none at "+
		"the beginning",
		w.Kernel[k], w.Stride[k], -left, w.In[k], w.Begin[k])
}

// judge narrows the group by where a sampling went off centre (twice the distance along y and x, in pixels) and whether
// both axes are treated alike.
func (v *surveyor) judge(off [2]rat, alike bool, why func(axis int) string, remedy string) {
	mask := dAll
	var whys []string
	for i, name := range []string{"down", "across"} {
		if off[i].zero() {
			continue
		}
		// Mirroring this axis needs its sampling centred; so does everything that mirrors it and swaps the axes, except
		// that opposite distances make up for each other.
		mask &^= []int{dMY, dMX}[i] | dR1 | dR2 | dR3
		whys = append(whys, fmt.Sprintf("%s, %s: the sampling sits %s off the middle", name, why(i),
			pixels(off[i].half())))
	}
	if !alike || off[0] != off[1] {
		mask &^= dT
	}
	if !alike || !off[0].add(off[1]).zero() {
		mask &^= dA
	}
	if !alike {
		mask &^= dR1 | dR3
		if len(whys) == 0 {
			whys = append(whys, "it treats the two axes of the picture differently")
		}
	}
	if len(whys) == 2 && strings.TrimPrefix(whys[0], "down, ") == strings.TrimPrefix(whys[1], "across, ") {
		whys = []string{"down and across, " + strings.TrimPrefix(whys[0], "down, ")}
	}
	if mask == dAll {
		return
	}
	if remedy == "" && (!off[0].zero() || !off[1].zero()) {
		remedy = "choose size, kernel, stride and equal pads so that (size + 2*pad - kernel) is a multiple of the " +
			"stride"
	}
	v.narrow(mask, strings.Join(whys, "; "), remedy)
	// Which mirror is lost says less than where the sampling went: a turned copy loses the same mirror to the other
	// side. Where both axes are treated alike, the places alone decide, so that the two ways through a residual block
	// agree.
	if alike {
		v.here[len(v.here)-1] = fmt.Sprint("off ", off[0], off[1])
	}
}

// What the note on strides says before and after the length of the step.
const (
	stepOf  = "one step of its output is "
	stepWhy = " of the picture: shifts by other amounts are resampled"
)

// strided notes that shifts are exact by multiples only.
func (v *surveyor) strided(w *Window, x field) {
	if w.Transposed || w.Stride[0] == 1 && w.Stride[1] == 1 {
		return
	}
	var px [2]string
	for i := range 2 {
		px[i] = pixels(x.line[i].step.size().mul(whole(w.Stride[x.at[i]-2])))
	}
	by := px[0]
	if px[0] != px[1] {
		by = px[0] + " down and " + px[1] + " across"
	}
	why := stepOf + by + stepWhy
	v.note("stride", []string{BreaksShift}, why,
		"average before subsampling (anti-aliasing), or audit shifts by multiples only")
}

// pixels is a distance for people.
func pixels(d rat) string {
	if d == whole(1) {
		return "1 pixel"
	}
	return d.String() + " pixels"
}

// rolls notes windows that do not continue the picture cyclically.
func (v *surveyor) rolls(l line, w *Window, k int) {
	cyclic := false
	n := w.In[k] - l.wrap
	if w.Transposed {
		cyclic = w.Stride[k] >= w.Extent(k) && w.Begin[k] == 0 && w.End[k] == 0 && w.Out[k] == n*w.Stride[k]
	} else {
		inside := (w.Out[k]-1)*w.Stride[k]+w.Extent(k) <= w.In[k]
		cyclic = w.Begin[k] == 0 && w.End[k] == 0 && n%w.Stride[k] == 0 && w.Out[k]*w.Stride[k] == n && inside
	}
	if cyclic {
		return
	}
	v.s.Roll = false
	v.note("roll "+rollWhy(w, k), []string{BreaksRoll}, rollWhy(w, k),
		"pad cyclically (padding_mode=\"circular\"), or audit shifts away from the border")
}

func rollWhy(w *Window, k int) string {
	switch {
	case w.Begin[k] > 0 || w.End[k] > 0:
		return "reads padding beyond the border, not what comes in on the other side"
	case w.Extent(k) > w.Stride[k]:
		return "windows do not go around the border"
	}
	return "the stride does not divide the size: what is left over does not go around the border"
}

// padded follows explicit pads.
func (v *surveyor) padded(x field) field {
	if x.state != grid {
		if x.state == tokens {
			return v.lose("pads a map whose two axes are folded into one")
		}
		return x
	}
	c := v.call()
	p, err := c.padding()
	if err != nil {
		return v.lose(err.Error())
	}
	mode := onnx.String(v.node, "mode", "constant")
	out := x
	for i := range 2 {
		q := p[x.at[i]]
		if q == [2]int{} {
			continue
		}
		l := x.line[i]
		l.start = l.start.sub(l.step.mul(whole(q[0])))
		l.n += q[0] + q[1]
		l.pend = l.pend.add(l.off(x.line[i]))
		if mode == "wrap" {
			l.wrap += q[0] + q[1]
		} else {
			v.s.Roll = false
			v.note("pad "+mode, []string{BreaksRoll}, "pads the border with "+map[string]string{
				"constant": "a constant", "reflect": "its mirror image", "edge": "its last pixels",
			}[mode]+", not with what comes in on the other side",
				"pad cyclically, or audit shifts away from the border")
		}
		out.line[i] = l
	}
	return out
}

// call wraps the node for the readers of its attributes and inputs.
func (v *surveyor) call() *call {
	c := &call{NodeProto: v.node, w: &walker{f: v.f, opset: v.f.model.Opset()}, rec: v.rec}
	for _, name := range v.node.GetInput() {
		c.in = append(c.in, v.f.values[name])
	}
	return c
}

// sliced follows cuts.
func (v *surveyor) sliced(x field) field {
	if x.state == pooled || x.state == mixed {
		return x
	}
	cuts, err := v.call().cuts()
	if err != nil {
		return v.lose(err.Error())
	}
	out := x
	for _, k := range cuts {
		for i := range 2 {
			if k.axis != x.at[i] {
				continue
			}
			if x.state == tokens {
				if k.step == 1 && k.count == v.shape(v.node.GetInput()[0])[k.axis] {
					continue
				}
				return v.lose("picks some places out of a map whose two axes are folded into one")
			}
			l := out.line[i]
			l.start = l.start.add(l.step.mul(whole(k.start)))
			l.step = l.step.mul(whole(k.step))
			l.n = k.count
			l.pend = l.pend.add(l.off(out.line[i]))
			l.wrap = 0
			v.period(i, l.step)
			if k.count != v.shape(v.node.GetInput()[0])[k.axis] {
				v.s.Roll = false
			}
			out.line[i] = l
		}
	}
	return out
}

// settle notes what pads and cuts left off centre at a node that uses places without a window of its own.
func (v *surveyor) settle(x field) field {
	if x.state != grid {
		return x
	}
	v.judge([2]rat{x.line[0].pend, x.line[1].pend}, true, func(int) string { return "unequal pads or cuts before it" },
		"pad and cut both sides alike")
	for i := range 2 {
		x.line[i].pend = whole(0)
	}
	return x
}

// resized follows Resize and Upsample: the coordinates that outputs are read from are computed as the standard says and
// tested for being the same from both ends.
func (v *surveyor) resized(x field) field {
	if x.state != grid {
		if x.state == tokens {
			return v.lose("resizes a map whose two axes are folded into one")
		}
		return x
	}
	off := [2]rat{whole(0), whole(0)}
	mode := onnx.String(v.node, "mode", "nearest")
	coord := onnx.String(v.node, "coordinate_transformation_mode", "half_pixel")
	near := onnx.String(v.node, "nearest_mode", "round_prefer_floor")
	if v.node.GetOpType() == "Upsample" || v.f.model.Opset() < 11 {
		coord, near = "asymmetric", "floor"
	}
	out := x
	for i := range 2 {
		n, m := x.line[i].n, v.rec.Out[0][x.at[i]]
		l := line{n: m, pend: whole(0)}
		if n == 0 || m == 0 || n > 1<<16 || m > 1<<16 {
			return v.lose("an empty or huge map")
		}
		if n == m {
			out.line[i] = x.line[i]
			continue
		}
		ratio := frac(int64(n), int64(m))
		symmetric := true
		for j := range m {
			a, b := place(mode, coord, near, j, n, m), place(mode, coord, near, m-1-j, n, m)
			if math.Abs(a+b-float64(n-1)) > 1e-9*float64(n) {
				symmetric = false
				break
			}
		}
		l.step = x.line[i].step.mul(ratio)
		if coord == "align_corners" {
			l.step = x.line[i].step.mul(frac(int64(n-1), int64(max(m-1, 1))))
		}
		// A symmetric map keeps the middle where it was; the others start at the first pixel.
		l.start = x.line[i].start
		if symmetric {
			l.start = x.line[i].start.add(x.line[i].step.mul(frac(int64(n-1), 2))).sub(l.step.mul(frac(int64(m-1), 2)))
			off[i] = x.line[i].pend
		} else {
			off[i] = l.off(x.line[i]).add(x.line[i].pend)
			if off[i].zero() {
				off[i] = l.step
			}
		}
		if coord == "align_corners" || coord == "tf_crop_and_resize" {
			v.noShift(fmt.Sprintf(
				"resizes with %s: the grid of the result depends on the border, so that shifts are resampled", coord),
				"use half_pixel coordinates")
		} else {
			v.period(i, l.step)
		}
		if !around(mode, coord, near, n, m) {
			v.s.Roll = false
			v.note("resize roll", []string{BreaksRoll},
				"interpolates at the border without what comes in on the other side", "")
		}
		out.line[i] = l
	}
	alike := out.line[0].n == out.line[1].n
	if !v.square {
		alike = x.line[0].n*out.line[1].n == x.line[1].n*out.line[0].n
	}
	v.judge(off, alike, func(int) string {
		return fmt.Sprintf("resizes (%s, %s coordinates) not the same from both ends", mode, coord)
	},
		"use half_pixel coordinates")
	return out
}

// place is where output j is read from: a whole pixel for "nearest".
func place(mode, coord, near string, j, n, m int) float64 {
	p := coordinate(coord, j, n, m)
	if mode == "nearest" {
		p = min(max(nearest(near, p), 0), float64(n-1))
	}
	return p
}

// around tells whether a resize from n to m follows cyclic shifts up to the border.
func around(mode, coord, near string, n, m int) bool {
	if coord == "align_corners" || coord == "tf_crop_and_resize" {
		return false
	}
	g := int(gcd(int64(n), int64(m)))
	for j := range m {
		p := place(mode, coord, near, j, n, m)
		switch mode {
		case "nearest": // pixels are read in a pattern that repeats
			q := int(place(mode, coord, near, (j+m/g)%m, n, m))
			if q != (int(p)+n/g)%n {
				return false
			}
		case "linear": // two pixels, which must both exist
			if p < 0 || p > float64(n-1) {
				return false
			}
		default: // four pixels
			if p < 1 || p > float64(n-2) {
				return false
			}
		}
	}
	return true
}

// coordinate is the input place of output j, by the definition of the operator Resize.
func coordinate(mode string, j, n, m int) float64 {
	x, scale := float64(j), float64(m)/float64(n)
	switch mode {
	case "align_corners":
		if m == 1 {
			return 0
		}
		return x * float64(n-1) / float64(m-1)
	case "asymmetric":
		return x / scale
	case "pytorch_half_pixel":
		if m == 1 {
			return 0
		}
	}
	return (x+0.5)/scale - 0.5 // half_pixel, and half_pixel_symmetric where scale is m/n
}

// nearest rounds as the attribute nearest_mode says.
func nearest(mode string, p float64) float64 {
	switch mode {
	case "floor":
		return math.Floor(p)
	case "ceil":
		return math.Ceil(p)
	case "round_prefer_ceil":
		return math.Floor(p + 0.5)
	}
	return math.Ceil(p - 0.5)
}

// shuffled follows DepthToSpace and SpaceToDepth, which trade blocks of pixels for channels.
func (v *surveyor) shuffled(x field) field {
	if x.state != grid {
		return x
	}
	if x.at != [2]int{2, 3} {
		return v.lose("works along other axes than the picture's")
	}
	x = v.settle(x)
	b := onnx.Int(v.node, "blocksize", 1)
	out := x
	for i := range 2 {
		l := x.line[i]
		if v.node.GetOpType() == "DepthToSpace" {
			l.start = l.start.sub(l.step.mul(frac(b-1, 2*b)))
			l.step = l.step.mul(frac(1, b))
			l.n *= int(b)
		} else {
			l.start = l.start.add(l.step.mul(frac(b-1, 2)))
			l.step = l.step.mul(whole(int(b)))
			l.n /= int(b)
		}
		v.period(i, l.step)
		out.line[i] = l
	}
	return out
}

// transposed follows axes.
func (v *surveyor) transposed(x field) field {
	if x.state != grid && x.state != tokens {
		return x
	}
	p, err := perm(v.node, len(v.shape(v.node.GetInput()[0])))
	if err != nil {
		return v.lose(err.Error())
	}
	for i := range 2 {
		x.at[i] = slices.Index(p, x.at[i])
	}
	return x
}

// reshaped follows axes through a change of shape by pairing groups of axes with equal products.
func (v *surveyor) reshaped(x field) field {
	if x.state != grid && x.state != tokens {
		return x
	}
	in, out := v.shape(v.node.GetInput()[0]), v.rec.Out[0]
	from := regroup(in, out)
	if x.state == tokens {
		g := from[x.at[0]]
		switch {
		case len(g.in) == 1 && len(g.out) == 1:
			x.at = [2]int{g.out[0], g.out[0]}
			return x
		case len(g.in) == 1 && len(g.out) == 2 && out[g.out[0]] == x.line[0].n && out[g.out[1]] == x.line[1].n:
			x.state, x.at = grid, [2]int{g.out[0], g.out[1]}
			return x
		}
		return v.dense("mixes the places of the picture with its channels", x)
	}
	y, c := from[x.at[0]], from[x.at[1]]
	one := func(g group, a int) (int, bool) { // the axis keeps to itself, up to axes of length 1
		n := 0
		for _, i := range g.in {
			if in[i] != 1 {
				n++
			}
		}
		at, m := -1, 0
		for _, o := range g.out {
			if out[o] != 1 {
				at = o
				m++
			}
		}
		return at, n == 1 && m == 1 && in[a] != 1
	}
	if in[x.at[0]] == 1 && in[x.at[1]] == 1 {
		return field{state: pooled} // one place is left: nothing to keep apart
	}
	ay, oky := one(y, x.at[0])
	ax, okx := one(c, x.at[1])
	switch {
	case oky && okx:
		x.at = [2]int{ay, ax}
		return x
	case slices.Equal(y.in, c.in) && x.at[0] < x.at[1]:
		// Both axes in one group: folded into one, if nothing else is in it.
		var big []int
		for _, o := range y.out {
			if out[o] != 1 {
				big = append(big, o)
			}
		}
		extra := 1
		for _, i := range y.in {
			if i != x.at[0] && i != x.at[1] {
				extra *= in[i]
			}
		}
		if extra == 1 && len(big) == 1 {
			x = v.settle(x)
			x.state, x.at = tokens, [2]int{big[0], big[0]}
			return x
		}
		if len(big) == 1 {
			return v.dense("", x)
		}
	}
	return v.lose("cuts the picture into blocks")
}

// dense marks a map that was flattened together with its channels; the layer that reads it is what ends shifts.
func (v *surveyor) dense(why string, x field) field {
	if why != "" {
		return v.lose(why)
	}
	x = v.settle(x)
	x.state = mixed
	x.at = [2]int{-1, -1} // not read by a dense layer yet
	return x
}

// group pairs axes before and after a reshape.
type group struct{ in, out []int }

// regroup splits a reshape into the smallest groups of neighboring axes with equal products; the result is indexed by
// input axis. Axes of length 1 at the end of a group stay with it.
func regroup(in, out []int) []group {
	res := make([]group, len(in))
	for i, o := 0, 0; i < len(in); {
		g := group{}
		p, q := 1, 1
		take := func() { g.in, p, i = append(g.in, i), p*in[i], i+1 }
		give := func() { g.out, q, o = append(g.out, o), q*out[o], o+1 }
		take()
		if o < len(out) {
			give()
		}
		for p != q && (i < len(in) || o < len(out)) {
			switch {
			case p < q && i < len(in), o >= len(out):
				take()
			default:
				give()
			}
		}
		if i == len(in) { // what is left are ones
			for o < len(out) {
				give()
			}
		}
		for _, k := range g.in {
			res[k] = g
		}
	}
	return res
}

// joined follows Concat.
func (v *surveyor) joined() field {
	rank := len(v.rec.Out[0])
	a, err := Axis(onnx.Int(v.node, "axis", 0), rank)
	if err != nil {
		return v.lose(err.Error())
	}
	var out field
	count := 0
	var pend [2]rat
	for i := range v.node.GetInput() {
		x := v.in(i)
		if x.state == fixed {
			continue
		}
		if x.state == grid && slices.Contains(x.at[:], a) {
			return v.lose("puts pictures side by side")
		}
		if out.state == fixed {
			out, pend = x, [2]rat{whole(0), whole(0)}
		}
		if x.state != out.state || x.at != out.at {
			return v.lose("joins values of different layouts")
		}
		if x.state == grid {
			for k := range 2 {
				if x.line[k].step != out.line[k].step {
					v.unknown(fmt.Sprintf(
						"%s (%s) joins maps that are sampled differently (steps of %s and %s pixels); together they "+
							"can have what each of them lacks",
						v.rec.Name, v.rec.Op, out.line[k].step, x.line[k].step))
				}
				pend[k] = pend[k].add(x.line[k].off(out.line[k]))
				// Phases of one map, as space-to-depth by slices makes them, are centred together.
			}
		}
		count++
	}
	if out.state == grid && count > 0 {
		for k := range 2 {
			shift := pend[k].mul(frac(1, int64(2*count)))
			out.line[k].start = out.line[k].start.add(shift)
			out.line[k].pend = out.line[k].pend.add(shift).add(shift)
		}
	}
	return out
}

// gathered follows Gather: a choice of channels keeps places, a choice of places does not.
func (v *surveyor) gathered(x field) field {
	if x.state != grid && x.state != tokens {
		return x
	}
	shape := v.shape(v.node.GetInput()[0])
	a, err := Axis(onnx.Int(v.node, "axis", 0), len(shape))
	if err != nil {
		return v.lose(err.Error())
	}
	if slices.Contains(x.at[:], a) {
		return v.lose("picks out places")
	}
	grow := len(v.rec.Out[0]) - len(shape)
	for i := range 2 {
		if x.at[i] > a {
			x.at[i] += grow
		}
	}
	return x
}

// product follows Gemm and MatMul.
func (v *surveyor) product() field {
	a, b := v.in(0), v.in(1)
	if a.state != fixed && b.state != fixed {
		if a.state == pooled && b.state == pooled {
			return a
		}
		return v.lose("multiplies two values that depend on the picture")
	}
	first := a.state != fixed // which factor the picture comes in by
	x, name := a, v.node.GetInput()[0]
	if !first {
		x, name = b, v.node.GetInput()[1]
	}
	rank := len(v.shape(name))
	axisIn := rank - 1 // that is summed over
	if !first {
		axisIn = max(rank-2, 0)
	}
	if v.node.GetOpType() == "Gemm" &&
		(first && onnx.Int(v.node, "transA", 0) != 0 || !first && onnx.Int(v.node, "transB", 0) != 0) {
		axisIn = 1 - axisIn
	}
	switch {
	case x.state == mixed && x.at[0] == -1, x.state == tokens && x.at[0] == axisIn && rank == 2:
		v.noShift("a dense layer reads the flattened map: every place has weights of its own",
			"pool over places before the dense layer (global average), or accept that shifts, turns and mirrors are "+
				"only as good as the training")
		return field{state: mixed}
	case x.state == grid && slices.Contains(x.at[:], axisIn), x.state == tokens && x.at[0] == axisIn:
		v.noShift("a dense layer runs along an axis of the picture: every place has weights of its own", "")
		if x.state == grid {
			v.narrow(dRect, "it treats the two axes of the picture differently", "")
		}
		return field{state: mixed}
	}
	if x.state == grid || x.state == tokens {
		grow := len(v.rec.Out[0]) - rank
		x.at = [2]int{x.at[0] + grow, x.at[1] + grow}
	}
	return x
}

// reduced follows reductions.
func (v *surveyor) reduced(x field) field {
	if x.state != grid && x.state != tokens {
		return x
	}
	shape := v.shape(v.node.GetInput()[0])
	var as []int
	if strings.HasPrefix(v.node.GetOpType(), "Arg") {
		a, err := Axis(onnx.Int(v.node, "axis", 0), len(shape))
		if err != nil {
			return v.lose(err.Error())
		}
		as = []int{a}
	} else {
		var err error
		if as, err = v.call().reducedAxes(); err != nil {
			return v.lose(err.Error())
		}
	}
	y, c := slices.Contains(as, x.at[0]), slices.Contains(as, x.at[1])
	if y && c {
		return field{state: pooled}
	}
	if y || c {
		v.narrow(dRect, "reduces along one axis of the picture only", "reduce along both")
		return v.lose("reduces along one axis of the picture")
	}
	if len(v.rec.Out[0]) < len(shape) {
		for i := range 2 {
			below := 0
			for _, a := range as {
				if a < x.at[i] {
					below++
				}
			}
			x.at[i] -= below
		}
	}
	return x
}

// merged follows pointwise operators: fields are aligned as broadcasting does, stored tables are looked at.
func (v *surveyor) merged() field {
	var out field
	rank := len(v.rec.Out[0])
	var tables []string
	for i, name := range v.node.GetInput() {
		if name == "" {
			continue
		}
		x := v.in(i)
		if x.state == fixed {
			tables = append(tables, name)
			continue
		}
		if grow := rank - len(v.shape(name)); x.state == grid || x.state == tokens {
			x.at = [2]int{x.at[0] + grow, x.at[1] + grow}
		}
		switch {
		case out.state == fixed || out.state == pooled && x.state != mixed:
			out = x
		case x.state == pooled:
		case x.state == mixed || out.state == mixed:
			out = field{state: mixed, at: [2]int{min(x.at[0], out.at[0]), 0}}
		case x.state != out.state || x.at != out.at:
			return v.lose("brings together values of different layouts")
		case x.state == grid:
			for k := range 2 {
				if x.line[k].n == 1 || out.line[k].n == 1 {
					continue
				}
				if x.line[k].step != out.line[k].step || !x.line[k].off(out.line[k]).zero() {
					v.unknown(fmt.Sprintf(
						"%s (%s) brings together maps that are sampled differently along axis %d (from %s in steps "+
							"of %s pixels, from %s in steps of %s); together they can have what each of them lacks",
						v.rec.Name, v.rec.Op, out.at[k], out.line[k].start, out.line[k].step, x.line[k].start,
						x.line[k].step))
					break
				}
			}
		}
	}
	for _, t := range tables {
		v.table(out, t)
	}
	return out
}

// table looks at a stored tensor that is combined with a map: does it vary from place to place, and which turns and
// mirrors does it keep?
func (v *surveyor) table(x field, name string) {
	if x.state != grid && x.state != tokens {
		return
	}
	c := v.f.values[name]
	if c == nil || !c.known {
		return
	}
	rank := len(v.rec.Out[0])
	h, w := x.line[0].n, x.line[1].n
	sy, sx, skip := 0, 0, 0 // strides along the picture, and tokens before it
	axes := []int{x.at[0], x.at[1]}
	if x.state == tokens {
		axes = axes[:1]
	}
	varies := false
	for _, a := range axes {
		k := a - (rank - len(c.shape))
		varies = varies || k >= 0 && c.shape[k] > 1
	}
	if !varies {
		return
	}
	const most = 1 << 22
	if c.store == nil || tensor.Count(c.shape) > most {
		v.noShift("combines the map with a table that has a value for every place", "")
		return
	}
	val, err := floats(c.store)
	if err != nil {
		return
	}
	stride := make([]int, rank)
	for i, s := len(c.shape)-1, 1; i >= 0; i-- {
		if c.shape[i] > 1 {
			stride[i+rank-len(c.shape)] = s
		}
		s *= c.shape[i]
	}
	length := func(a int) int {
		if k := a - (rank - len(c.shape)); k >= 0 {
			return c.shape[k]
		}
		return 1
	}
	for i, a := range axes {
		if n := length(a); x.state == grid && n > 1 && n != x.line[i].n {
			return // not broadcast place by place, such as the slopes of an old PRelu
		}
	}
	if x.state == tokens {
		n := length(x.at[0])
		sx, sy = stride[x.at[0]], stride[x.at[0]]*w
		if skip = n - h*w; skip < 0 {
			return
		}
	} else {
		sy, sx = stride[x.at[0]], stride[x.at[1]]
	}
	mask, shiftY, shiftX := dAll, true, true
	if h != w {
		mask = dRect
	}
	all := mask
	same := func(at int) {
		get := func(y, x int) float64 { return val[at+y*sy+x*sx] }
		for y := range h {
			for x := range w {
				p := get(y, x)
				shiftY = shiftY && (y == 0 || get(y-1, x) == p)
				shiftX = shiftX && (x == 0 || get(y, x-1) == p)
				for bit, q := range d4Places(y, x, h, w) {
					if m := 1 << bit; mask&m != 0 && get(q[0], q[1]) != p {
						mask &^= m
					}
				}
			}
		}
	}
	var rest func(a, at int)
	rest = func(a, at int) {
		if a == rank {
			same(at)
			return
		}
		if slices.Contains(axes, a) {
			if x.state == tokens {
				at += skip * stride[a]
			}
			rest(a+1, at)
			return
		}
		for i := range length(a) {
			rest(a+1, at+i*stride[a])
		}
	}
	rest(0, 0)
	if shiftY && shiftX {
		return // a table of equal entries
	}
	v.noShift("combines the map with a table that has a value of its own for every place (position table)",
		"use relative positions, or crop and pad instead of learning places")
	if mask != all {
		v.narrow(mask|dAll&^all, "the table of places is not the same when it is turned or mirrored", "")
	}
}

// d4Places are where the elements of D4 take a pixel; on a picture that is not square those that exist.
func d4Places(y, x, h, w int) [8][2]int {
	id := [2]int{y, x}
	p := [8][2]int{id, id, {h - 1 - y, w - 1 - x}, id, {y, w - 1 - x}, {h - 1 - y, x}, id, id}
	if h == w {
		m := h - 1
		p[1], p[3], p[6], p[7] = [2]int{x, m - y}, [2]int{m - x, y}, [2]int{x, y}, [2]int{m - x, m - y}
	}
	return p
}
