package facts

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// rule infers the outputs of a node whose inputs are all known.
type rule func(*call) error

// rules by operator. Operators whose meaning changed with the operator set handle all of its versions from 7 on.
var rules map[string]rule = func() map[string]rule {
	r := map[string]rule{
		"MatMul": matmul, "MatMulInteger": matmul, "Gemm": gemm, "Conv": conv, "ConvTranspose": convTranspose,
		"MaxPool": pool, "AveragePool": pool, "LpPool": pool,
		"GlobalAveragePool": globalPool, "GlobalMaxPool": globalPool, "GlobalLpPool": globalPool,
		"Flatten": flatten, "Reshape": reshape, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Transpose": transpose,
		"Concat": concat, "Split": split, "Slice": slice, "Pad": pad, "Resize": resize, "Upsample": resize,
		"ArgMax": argReduce, "ArgMin": argReduce, "TopK": topK, "Gather": gather, "GatherElements": gatherElements,
		"GatherND": gatherND,
		"Expand":   expand, "Tile": tile, "Shape": shapeOf, "Size": sizeOf, "Constant": constantNode,
		"ConstantOfShape": constantOfShape,
		"Range":           rangeOf, "OneHot": oneHot, "DepthToSpace": depthToSpace, "SpaceToDepth": spaceToDepth,
		"GridSample": gridSample,
		"RNN":        recurrent, "GRU": recurrent, "LSTM": recurrent, "Cast": cast, "Where": where, "Dropout": dropout,
		"BatchNormalization": batchNorm, "LayerNormalization": layerNorm, "Einsum": einsum,
		"EyeLike":        like(tensor.Undefined),
		"QuantizeLinear": quantize, "DequantizeLinear": like(tensor.Float32), "DynamicQuantizeLinear": dynamicQuantize,
		"RandomNormalLike": like(tensor.Undefined), "RandomUniformLike": like(tensor.Undefined),
		"Not":   like(tensor.Bool),
		"IsNaN": like(tensor.Bool), "IsInf": like(tensor.Bool), "CastLike": castLike, "RoiAlign": roiAlign,
	}
	for _, op := range []string{
		"Relu", "LeakyRelu", "Elu", "Selu", "Celu", "Sigmoid", "Tanh", "Softplus", "Softsign", "HardSigmoid",
		"HardSwish", "Exp", "Log",
		"Sqrt", "Erf", "Reciprocal", "Ceil", "Round", "Sign", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh",
		"Cosh", "Asinh",
		"Acosh", "Atanh", "Clip", "Softmax", "LogSoftmax", "Hardmax", "InstanceNormalization", "GroupNormalization",
		"LRN", "LpNormalization", "MeanVarianceNormalization", "ThresholdedRelu", "Gelu", "Mish", "CumSum", "Trilu",
		"ScatterND",
		"ScatterElements", "Scatter", "PRelu", "ReverseSequence", "Shrink", "Bernoulli", "RMSNormalization", "Swish",
	} {
		r[op] = like(tensor.Undefined)
	}
	for _, op := range []string{"Identity", "Abs", "Neg", "Floor"} {
		r[op] = unaryInt
	}
	for _, op := range []string{"Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Sum", "Mean", "BitShift"} {
		r[op] = elementwise(tensor.Undefined)
	}
	for _, op := range []string{"And", "Or", "Xor", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"} {
		r[op] = elementwise(tensor.Bool)
	}
	for _, op := range []string{
		"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
		"ReduceLogSum", "ReduceLogSumExp",
	} {
		r[op] = reduce
	}
	return r
}()

// like gives the first output the shape of the first input.
func like(d tensor.DType) rule {
	return func(c *call) error {
		x, err := c.need(0)
		if err != nil {
			return err
		}
		c.ret(0, x.shape).dtype = d
		return nil
	}
}

func castLike(c *call) error {
	t, err := c.need(1)
	if err != nil {
		return err
	}
	return like(t.dtype)(c)
}

// unaryInt follows integer constants too.
func unaryInt(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	o := c.ret(0, x.shape)
	o.ints, o.store = slices.Clone(x.ints), x.store
	switch c.GetOpType() {
	case "Abs":
		o.store = nil
		for i, v := range o.ints {
			o.ints[i] = max(v, -v)
		}
	case "Neg":
		o.store = nil
		for i := range o.ints {
			o.ints[i] = -o.ints[i]
		}
	}
	return nil
}

func cast(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	o := c.ret(0, x.shape)
	o.dtype = tensor.DType(onnx.Int(c.NodeProto, "to", 0))
	switch o.dtype {
	case tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Uint16, tensor.Uint32,
		tensor.Uint64, tensor.Bool:
		o.ints = x.ints
	case tensor.Undefined, tensor.String, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
	}
	return nil
}

// elementwise broadcasts all inputs and folds integer constants.
func elementwise(d tensor.DType) rule {
	return func(c *call) error {
		if len(c.in) == 0 {
			return errors.New("no inputs")
		}
		first, err := c.need(0)
		if err != nil {
			return err
		}
		s := first.shape
		for i := 1; i < len(c.in); i++ {
			x, err := c.need(i)
			if err != nil {
				return err
			}
			if s, err = broadcast(s, x.shape); err != nil {
				return err
			}
		}
		o := c.ret(0, s)
		o.dtype = d
		if len(c.in) == 2 && c.in[0].ints != nil && c.in[1].ints != nil {
			o.ints = fold(c.GetOpType(), c.in[0], c.in[1], s)
		}
		return nil
	}
}

// fold computes integer arithmetic on shapes: vectors and scalars only. nil if it does not know how.
func fold(op string, a, b *val, s []int) []int64 {
	n := tensor.Count(s)
	if len(s) > 1 || n > maxInts {
		return nil
	}
	out := make([]int64, n)
	at := func(v *val, i int) int64 {
		if len(v.ints) == 1 {
			return v.ints[0]
		}
		return v.ints[i]
	}
	truth := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	for i := range out {
		x, y := at(a, i), at(b, i)
		switch op {
		case "Add":
			out[i] = x + y
		case "Sub":
			out[i] = x - y
		case "Mul":
			out[i] = x * y
		case "Div":
			if y == 0 {
				return nil
			}
			out[i] = x / y
		case "Mod":
			if y == 0 {
				return nil
			}
			if out[i] = x % y; out[i] != 0 && (out[i] < 0) != (y < 0) {
				out[i] += y // the sign of the divisor
			}
		case "Min":
			out[i] = min(x, y)
		case "Max":
			out[i] = max(x, y)
		case "Equal":
			out[i] = truth(x == y)
		case "Less":
			out[i] = truth(x < y)
		case "Greater":
			out[i] = truth(x > y)
		case "And":
			out[i] = truth(x != 0 && y != 0)
		case "Or":
			out[i] = truth(x != 0 || y != 0)
		default:
			return nil
		}
	}
	return out
}

func where(c *call) error {
	cond, err := c.need(0)
	if err != nil {
		return err
	}
	a, err := c.need(1)
	if err != nil {
		return err
	}
	b, err := c.need(2)
	if err != nil {
		return err
	}
	s, err := broadcast(a.shape, b.shape)
	if err != nil {
		return err
	}
	if s, err = broadcast(s, cond.shape); err != nil {
		return err
	}
	o := c.ret(0, s)
	o.dtype = a.dtype
	if n := tensor.Count(s); len(s) <= 1 && cond.ints != nil && a.ints != nil && b.ints != nil && n <= maxInts {
		o.ints = make([]int64, n)
		at := func(v *val, i int) int64 {
			if len(v.ints) == 1 {
				return v.ints[0]
			}
			return v.ints[i]
		}
		for i := range o.ints {
			if o.ints[i] = at(b, i); at(cond, i) != 0 {
				o.ints[i] = at(a, i)
			}
		}
	}
	return nil
}

func matmul(c *call) error {
	a, err := c.need(0)
	if err != nil {
		return err
	}
	b, err := c.need(1)
	if err != nil {
		return err
	}
	x, y := a.shape, b.shape
	if len(x) == 0 || len(y) == 0 {
		return errors.New("a matrix product of a scalar")
	}
	row, column := len(x) == 1, len(y) == 1
	if row {
		x = []int{1, x[0]}
	}
	if column {
		y = []int{y[0], 1}
	}
	if x[len(x)-1] != y[len(y)-2] {
		return fmt.Errorf("a matrix product of %v and %v", a.shape, b.shape)
	}
	s, err := broadcast(x[:len(x)-2], y[:len(y)-2])
	if err != nil {
		return err
	}
	if !row {
		s = append(s, x[len(x)-2])
	}
	if !column {
		s = append(s, y[len(y)-1])
	}
	o := c.ret(0, s)
	if c.GetOpType() == "MatMulInteger" {
		o.dtype = tensor.Int32
	}
	return nil
}

func gemm(c *call) error {
	a, err := c.need(0)
	if err != nil {
		return err
	}
	b, err := c.need(1)
	if err != nil {
		return err
	}
	if len(a.shape) != 2 || len(b.shape) != 2 {
		return fmt.Errorf("a product of %v and %v", a.shape, b.shape)
	}
	m, k, k2, n := a.shape[0], a.shape[1], b.shape[0], b.shape[1]
	if onnx.Int(c.NodeProto, "transA", 0) != 0 {
		m, k = k, m
	}
	if onnx.Int(c.NodeProto, "transB", 0) != 0 {
		k2, n = n, k2
	}
	if k != k2 {
		return fmt.Errorf("a product of %v and %v", a.shape, b.shape)
	}
	c.ret(0, []int{m, n})
	return nil
}

func conv(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	w, err := c.need(1)
	if err != nil {
		return err
	}
	if len(x.shape) < 3 || len(w.shape) != len(x.shape) {
		return fmt.Errorf("a convolution of %v with weights %v", x.shape, w.shape)
	}
	group := onnx.Int(c.NodeProto, "group", 1)
	if group < 1 || mul(int64(w.shape[1]), group) != int64(x.shape[1]) {
		return fmt.Errorf("%d channels and %d groups of %d", x.shape[1], group, w.shape[1])
	}
	g, err := ReadWindow(c.NodeProto, x.shape[2:], w.shape[2:])
	if err != nil {
		return err
	}
	if err := g.Slide(onnx.String(c.NodeProto, "auto_pad", "NOTSET"), false); err != nil {
		return err
	}
	c.rec.win = g
	c.ret(0, append([]int{x.shape[0], w.shape[0]}, g.Out...))
	return nil
}

func convTranspose(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	w, err := c.need(1)
	if err != nil {
		return err
	}
	if len(x.shape) < 3 || len(w.shape) != len(x.shape) || w.shape[0] != x.shape[1] {
		return fmt.Errorf("a convolution of %v with weights %v", x.shape, w.shape)
	}
	g, err := ReadWindow(c.NodeProto, x.shape[2:], w.shape[2:])
	if err != nil {
		return err
	}
	g.Transposed = true
	extra := onnx.Ints(c.NodeProto, "output_padding", make([]int64, len(g.In)))
	want := onnx.Ints(c.NodeProto, "output_shape", nil)
	auto := onnx.String(c.NodeProto, "auto_pad", "NOTSET")
	if len(extra) != len(g.In) || len(want) != 0 && len(want) != len(g.In) {
		return errors.New("output_padding or output_shape of another rank")
	}
	for i, n := range g.In {
		if extra[i] < 0 || extra[i] > 1<<20 {
			return fmt.Errorf("output_padding %d", extra[i])
		}
		full := g.Stride[i]*(n-1) + int(extra[i]) + g.Extent(i)
		o := full - g.Begin[i] - g.End[i]
		if same := auto == "SAME_UPPER" || auto == "SAME_LOWER"; len(want) > 0 || same {
			o = n * g.Stride[i]
			if len(want) > 0 {
				o = int(min(max(want[i], 0), 1<<31-1))
			}
			total := max(full-o, 0)
			g.Begin[i] = total - total/2
			if auto == "SAME_UPPER" {
				g.Begin[i] = total / 2
			}
			g.End[i] = total - g.Begin[i]
		}
		if o < 1 {
			return fmt.Errorf("an output of %d places", o)
		}
		g.Out = append(g.Out, o)
	}
	c.rec.win = g
	c.ret(0, append([]int{
		x.shape[0],
		int(min(mul(int64(w.shape[1]), max(onnx.Int(c.NodeProto, "group", 1), 1)), maxElements)),
	}, g.Out...))
	return nil
}

func pool(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	if len(x.shape) < 3 {
		return fmt.Errorf("a pooling of %v", x.shape)
	}
	var kernel []int
	for _, k := range onnx.Ints(c.NodeProto, "kernel_shape", nil) {
		kernel = append(kernel, int(min(max(k, 0), 1<<31)))
	}
	g, err := ReadWindow(c.NodeProto, x.shape[2:], kernel)
	if err != nil {
		return err
	}
	if err := g.Slide(onnx.String(c.NodeProto, "auto_pad", "NOTSET"),
		onnx.Int(c.NodeProto, "ceil_mode", 0) != 0); err != nil {
		return err
	}
	c.rec.win = g
	s := append([]int{x.shape[0], x.shape[1]}, g.Out...)
	c.ret(0, s)
	c.ret(1, s).dtype = tensor.Int64
	return nil
}

func globalPool(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	if len(x.shape) < 2 {
		return fmt.Errorf("a pooling of %v", x.shape)
	}
	s := slices.Clone(x.shape)
	for i := 2; i < len(s); i++ {
		s[i] = 1
	}
	c.ret(0, s)
	return nil
}

func flatten(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	a := onnx.Int(c.NodeProto, "axis", 1)
	if a < 0 {
		a += int64(len(x.shape))
	}
	if a < 0 || a > int64(len(x.shape)) {
		return fmt.Errorf("axis %d of a value with %d axes", a, len(x.shape))
	}
	c.ret(0, []int{tensor.Count(x.shape[:a]), tensor.Count(x.shape[a:])})
	return nil
}

func reshape(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	want, given, err := c.attrOrInput("shape", 1)
	if err != nil {
		return err
	}
	if !given {
		return errors.New("no shape")
	}
	s := make([]int, len(want))
	free, rest := -1, int64(1)
	for i, d := range want {
		switch {
		case d == 0 && onnx.Int(c.NodeProto, "allowzero", 0) == 0:
			if i >= len(x.shape) {
				return fmt.Errorf("a reshape of %v to %v", x.shape, want)
			}
			s[i] = x.shape[i]
		case d == -1 && free < 0:
			free = i
			continue
		case d < 0 || d > maxElements:
			return fmt.Errorf("a reshape to %v", want)
		default:
			s[i] = int(d)
		}
		rest = mul(rest, int64(s[i]))
	}
	n := int64(tensor.Count(x.shape))
	if free >= 0 {
		if rest == 0 || n%rest != 0 {
			return fmt.Errorf("a reshape of %v to %v", x.shape, want)
		}
		s[free] = int(n / rest)
	} else if rest != n {
		return fmt.Errorf("a reshape of %v to %v", x.shape, want)
	}
	o := c.ret(0, s)
	o.ints = x.ints
	return nil
}

func squeeze(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	as, given, err := c.attrOrInput("axes", 1)
	if err != nil {
		return err
	}
	drop, err := axisSet(as, len(x.shape))
	if err != nil {
		return err
	}
	s := []int{}
	for i, d := range x.shape {
		switch {
		case given && !slices.Contains(drop, i), !given && d != 1:
			s = append(s, d)
		case d != 1:
			return fmt.Errorf("axis %d of length %d cannot be dropped", i, d)
		}
	}
	o := c.ret(0, s)
	o.ints = x.ints
	return nil
}

func unsqueeze(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	as, _, err := c.attrOrInput("axes", 1)
	if err != nil {
		return err
	}
	add, err := axisSet(as, len(x.shape)+len(as))
	if err != nil {
		return err
	}
	s := slices.Clone(x.shape)
	for _, a := range add {
		s = slices.Insert(s, a, 1)
	}
	o := c.ret(0, s)
	o.ints = x.ints
	return nil
}

// perm is the permutation of a Transpose.
func perm(n *onnxpb.NodeProto, rank int) ([]int, error) {
	p := onnx.Ints(n, "perm", nil)
	out := make([]int, rank)
	seen := make([]bool, rank)
	if p != nil && len(p) != rank {
		return nil, fmt.Errorf("a permutation of %d axes on %d", len(p), rank)
	}
	for i := range out {
		out[i] = rank - 1 - i
		if p != nil {
			a, err := Axis(p[i], rank)
			if err != nil {
				return nil, err
			}
			out[i] = a
		}
		if seen[out[i]] {
			return nil, fmt.Errorf("the permutation %v", p)
		}
		seen[out[i]] = true
	}
	return out, nil
}

func transpose(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	p, err := perm(c.NodeProto, len(x.shape))
	if err != nil {
		return err
	}
	s := make([]int, len(p))
	for i, a := range p {
		s[i] = x.shape[a]
	}
	o := c.ret(0, s)
	o.ints = permuted(x.ints, x.shape, p)
	return nil
}

// permuted are whole numbers of a shape with their axes in another order; nil where they are not known.
func permuted(ints []int64, shape, p []int) []int64 {
	if ints == nil || len(ints) != tensor.Count(shape) {
		return nil
	}
	steps := make([]int, len(shape)) // from one place of an axis to the next
	for i, n := len(shape)-1, 1; i >= 0; i-- {
		steps[i], n = n, n*shape[i]
	}
	out := make([]int64, 0, len(ints))
	at := make([]int, len(p))
	for range ints {
		k := 0
		for i, a := range p {
			k += at[i] * steps[a]
		}
		out = append(out, ints[k])
		for i := len(p) - 1; i >= 0; i-- {
			if at[i]++; at[i] < shape[p[i]] {
				break
			}
			at[i] = 0
		}
	}
	return out
}

func concat(c *call) error {
	first, err := c.need(0)
	if err != nil {
		return err
	}
	a, err := Axis(onnx.Int(c.NodeProto, "axis", 0), len(first.shape))
	if err != nil {
		return err
	}
	s := slices.Clone(first.shape)
	ints, whole := slices.Clone(first.ints), first.ints != nil && len(s) == 1
	for i := 1; i < len(c.in); i++ {
		x, err := c.need(i)
		if err != nil {
			return err
		}
		if len(x.shape) != len(s) {
			return fmt.Errorf("shapes %v and %v side by side", s, x.shape)
		}
		for k := range s {
			if k != a && s[k] != x.shape[k] {
				return fmt.Errorf("shapes %v and %v side by side on axis %d", s, x.shape, a)
			}
		}
		s[a] += x.shape[a]
		whole = whole && x.ints != nil
		ints = append(ints, x.ints...)
	}
	o := c.ret(0, s)
	if whole && len(ints) <= maxInts {
		o.ints = ints
	}
	return nil
}

func split(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	a, err := Axis(onnx.Int(c.NodeProto, "axis", 0), len(x.shape))
	if err != nil {
		return err
	}
	parts, given, err := c.attrOrInput("split", 1)
	if err != nil {
		return err
	}
	n := len(c.out)
	if !given {
		each := (x.shape[a] + n - 1) / n
		left := x.shape[a]
		for range n {
			parts = append(parts, int64(min(each, left)))
			left -= min(each, left)
		}
	}
	if len(parts) != n {
		return fmt.Errorf("%d lengths for %d parts", len(parts), n)
	}
	var sum int64
	for _, p := range parts {
		if p < 0 || p > maxElements {
			return fmt.Errorf("a part of %d", p)
		}
		sum += p
	}
	if sum != int64(x.shape[a]) {
		return fmt.Errorf("parts %v of %d", parts, x.shape[a])
	}
	at := int64(0)
	for i, p := range parts {
		s := slices.Clone(x.shape)
		s[a] = int(p)
		o := c.ret(i, s)
		o.dtype = x.dtype
		if x.ints != nil && len(x.shape) == 1 {
			o.ints = x.ints[at : at+p]
		}
		at += p
	}
	return nil
}

// cutting is what a Slice does to one axis.
type cutting struct{ axis, start, step, count int }

// cuts reads the starts, ends, axes and steps of a Slice.
func (c *call) cuts() ([]cutting, error) {
	x, err := c.need(0)
	if err != nil {
		return nil, err
	}
	starts, _, err := c.attrOrInput("starts", 1)
	if err != nil {
		return nil, err
	}
	ends, _, err := c.attrOrInput("ends", 2)
	if err != nil {
		return nil, err
	}
	as, given, err := c.attrOrInput("axes", 3)
	if err != nil {
		return nil, err
	}
	if !given {
		for i := range starts {
			as = append(as, int64(i))
		}
	}
	steps, stepped, err := c.attrOrInput("steps", 4)
	if err != nil {
		return nil, err
	}
	if len(ends) != len(starts) || len(as) != len(starts) || stepped && len(steps) != len(starts) {
		return nil, errors.New("starts, ends, axes and steps of different lengths")
	}
	var out []cutting
	for i := range starts {
		a, err := Axis(as[i], len(x.shape))
		if err != nil {
			return nil, err
		}
		n, step := int64(x.shape[a]), int64(1)
		if stepped {
			step = steps[i]
		}
		if step == 0 {
			return nil, errors.New("a step of 0")
		}
		step = min(max(step, -n-1), n+1) // a longer one takes the same places
		within := func(v, lo, hi int64) int64 {
			if v < 0 {
				v = max(v, -(1<<62)) + n
			}
			return min(max(v, lo), hi)
		}
		var start, end, count int64
		if step > 0 {
			start, end = within(starts[i], 0, n), within(ends[i], 0, n)
			count = max(0, (end-start+step-1)/step)
		} else if n > 0 {
			start, end = within(starts[i], 0, n-1), within(ends[i], -1, n-1)
			count = max(0, (start-end-step-1)/-step)
		}
		out = append(out, cutting{a, int(start), int(step), int(count)})
	}
	return out, nil
}

func slice(c *call) error {
	cuts, err := c.cuts()
	if err != nil {
		return err
	}
	x := c.in[0]
	s := slices.Clone(x.shape)
	ints := x.ints
	for _, k := range cuts {
		if ints != nil && len(ints) == tensor.Count(s) {
			inner, part := tensor.Count(s[k.axis+1:]), []int64{}
			for outer := range tensor.Count(s[:k.axis]) {
				for j := range k.count {
					from := (outer*s[k.axis] + k.start + j*k.step) * inner
					part = append(part, ints[from:from+inner]...)
				}
			}
			ints = part
		} else {
			ints = nil
		}
		s[k.axis] = k.count
	}
	c.ret(0, s).ints = ints
	return nil
}

// padding reads the pads of a Pad as one pair (before, after) per axis.
func (c *call) padding() ([][2]int, error) {
	x, err := c.need(0)
	if err != nil {
		return nil, err
	}
	name := "pads"
	if onnx.Attr(c.NodeProto, "paddings") != nil {
		name = "paddings"
	}
	p, given, err := c.attrOrInput(name, 1)
	if err != nil {
		return nil, err
	}
	rank := len(x.shape)
	as := make([]int, rank)
	for i := range as {
		as[i] = i
	}
	if v := c.arg(3); v != nil {
		if v.ints == nil {
			return nil, errors.New("its axes are computed while it runs")
		}
		as = nil
		for _, a := range v.ints {
			k, err := Axis(a, rank)
			if err != nil {
				return nil, err
			}
			as = append(as, k)
		}
	}
	if !given || len(p) != 2*len(as) {
		return nil, fmt.Errorf("%d pads for %d axes", len(p), len(as))
	}
	out := make([][2]int, rank)
	for i, a := range as {
		for side := range 2 {
			v := p[i+side*len(as)]
			if v < -maxElements || v > maxElements {
				return nil, fmt.Errorf("a pad of %d", v)
			}
			out[a][side] = int(v)
		}
	}
	return out, nil
}

func pad(c *call) error {
	p, err := c.padding()
	if err != nil {
		return err
	}
	s := slices.Clone(c.in[0].shape)
	for i := range s {
		if s[i] += p[i][0] + p[i][1]; s[i] < 0 {
			return fmt.Errorf("pads of %v on axis %d of length %d", p[i], i, c.in[0].shape[i])
		}
	}
	c.ret(0, s)
	return nil
}

// resize serves Resize of every version and Upsample.
func resize(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	if onnx.Attr(c.NodeProto, "axes") != nil || onnx.String(c.NodeProto, "keep_aspect_ratio_policy",
		"stretch") != "stretch" {
		return errors.New("a resize of some axes or with a fixed aspect ratio")
	}
	at := 2 // of scales; sizes follow
	if c.GetOpType() == "Upsample" || c.w.opset < 11 {
		at = 1
	}
	if v := c.arg(at + 1); at == 2 && v != nil && !slices.Equal(v.shape, []int{0}) {
		if v.ints == nil {
			return errors.New("its sizes are computed while it runs")
		}
		if len(v.ints) != len(x.shape) {
			return fmt.Errorf("%d sizes for %d axes", len(v.ints), len(x.shape))
		}
		s := make([]int, len(x.shape))
		for i, n := range v.ints {
			if n < 0 || n > maxElements {
				return fmt.Errorf("a size of %d", n)
			}
			s[i] = int(n)
		}
		c.ret(0, s)
		return nil
	}
	var scales []float64
	if a := onnx.Attr(c.NodeProto, "scales"); a != nil {
		for _, f := range a.GetFloats() {
			scales = append(scales, float64(f))
		}
	} else if v := c.arg(at); v == nil || v.store == nil {
		return errors.New("its scales are computed while it runs")
	} else if scales, err = floats(v.store); err != nil {
		return err
	}
	if len(scales) != len(x.shape) {
		return fmt.Errorf("%d scales for %d axes", len(scales), len(x.shape))
	}
	s := make([]int, len(x.shape))
	for i, f := range scales {
		n := float64(x.shape[i]) * f
		if !(n >= 0 && n < maxElements) {
			return fmt.Errorf("a scale of %g", f)
		}
		s[i] = int(n)
	}
	c.ret(0, s)
	return nil
}

// floats are the elements of a stored tensor.
func floats(t *onnxpb.TensorProto) ([]float64, error) {
	v, err := onnx.Value(t)
	if err != nil {
		return nil, err
	}
	return v.Float64s(nil)
}

// reducedAxes are the axes that a Reduce operator sums over; all of them if it names none.
func (c *call) reducedAxes() ([]int, error) {
	x, err := c.need(0)
	if err != nil {
		return nil, err
	}
	as, given, err := c.attrOrInput("axes", 1)
	if err != nil {
		return nil, err
	}
	if given && len(as) > 0 {
		return axisSet(as, len(x.shape))
	}
	if onnx.Int(c.NodeProto, "noop_with_empty_axes", 0) != 0 {
		return nil, nil
	}
	all := make([]int, len(x.shape))
	for i := range all {
		all[i] = i
	}
	return all, nil
}

func reduce(c *call) error {
	as, err := c.reducedAxes()
	if err != nil {
		return err
	}
	x := c.in[0]
	s := []int{}
	keep := onnx.Int(c.NodeProto, "keepdims", 1) != 0
	for i, d := range x.shape {
		switch {
		case !slices.Contains(as, i):
			s = append(s, d)
		case keep:
			s = append(s, 1)
		}
	}
	o := c.ret(0, s)
	if c.GetOpType() == "ReduceProd" && x.ints != nil && len(x.shape) == 1 && len(as) == 1 {
		p := int64(1)
		for _, v := range x.ints {
			p *= v
		}
		o.ints = []int64{p}
	}
	return nil
}

func argReduce(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	a, err := Axis(onnx.Int(c.NodeProto, "axis", 0), len(x.shape))
	if err != nil {
		return err
	}
	s := slices.Clone(x.shape)
	if s[a] = 1; onnx.Int(c.NodeProto, "keepdims", 1) == 0 {
		s = slices.Delete(s, a, a+1)
	}
	c.ret(0, s).dtype = tensor.Int64
	return nil
}

func topK(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	a, err := Axis(onnx.Int(c.NodeProto, "axis", -1), len(x.shape))
	if err != nil {
		return err
	}
	k, given, err := c.attrOrInput("k", 1)
	if err != nil {
		return err
	}
	if !given || len(k) != 1 || k[0] < 0 || k[0] > int64(x.shape[a]) {
		return fmt.Errorf("the %v largest of %d", k, x.shape[a])
	}
	s := slices.Clone(x.shape)
	s[a] = int(k[0])
	c.ret(0, s)
	c.ret(1, s).dtype = tensor.Int64
	return nil
}

func gather(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	at, err := c.need(1)
	if err != nil {
		return err
	}
	a, err := Axis(onnx.Int(c.NodeProto, "axis", 0), len(x.shape))
	if err != nil {
		return err
	}
	s := slices.Concat(x.shape[:a], at.shape, x.shape[a+1:])
	o := c.ret(0, s)
	if x.ints != nil && at.ints != nil && len(x.shape) == 1 && len(at.shape) <= 1 {
		o.ints = []int64{}
		for _, i := range at.ints {
			k, err := Axis(i, len(x.ints))
			if err != nil {
				return err
			}
			o.ints = append(o.ints, x.ints[k])
		}
	}
	return nil
}

func gatherElements(c *call) error {
	at, err := c.need(1)
	if err != nil {
		return err
	}
	c.ret(0, at.shape)
	return nil
}

func gatherND(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	at, err := c.need(1)
	if err != nil {
		return err
	}
	b := int(onnx.Int(c.NodeProto, "batch_dims", 0))
	if len(at.shape) == 0 || b < 0 || b >= len(at.shape) {
		return fmt.Errorf("indices %v", at.shape)
	}
	k := at.shape[len(at.shape)-1]
	if b+k > len(x.shape) {
		return fmt.Errorf("indices %v into %v", at.shape, x.shape)
	}
	c.ret(0, slices.Concat(at.shape[:len(at.shape)-1], x.shape[b+k:]))
	return nil
}

func expand(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	want, given, err := c.attrOrInput("shape", 1)
	if err != nil {
		return err
	}
	if !given {
		return errors.New("no shape")
	}
	s := make([]int, len(want))
	for i, d := range want {
		if d < 0 || d > maxElements {
			return fmt.Errorf("an expansion to %v", want)
		}
		s[i] = int(d)
	}
	if s, err = broadcast(x.shape, s); err != nil {
		return err
	}
	o := c.ret(0, s)
	if n := tensor.Count(s); len(x.ints) == 1 && len(s) <= 1 && n <= maxInts {
		o.ints = slices.Repeat(x.ints, n)
	}
	return nil
}

func tile(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	by, given, err := c.attrOrInput("repeats", 1)
	if err != nil {
		return err
	}
	if !given || len(by) != len(x.shape) {
		return fmt.Errorf("%d repeats for %d axes", len(by), len(x.shape))
	}
	s := slices.Clone(x.shape)
	for i, r := range by {
		if r < 0 || r > maxElements {
			return fmt.Errorf("repeats of %d", r)
		}
		s[i] = int(min(mul(int64(s[i]), r), maxElements+1))
	}
	c.ret(0, s)
	return nil
}

func shapeOf(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	n := int64(len(x.shape))
	bound := func(v int64) int64 {
		if v < 0 {
			v += n
		}
		return min(max(v, 0), n)
	}
	lo, hi := bound(onnx.Int(c.NodeProto, "start", 0)), bound(onnx.Int(c.NodeProto, "end", n))
	o := c.ret(0, []int{int(max(hi-lo, 0))})
	o.dtype, o.ints = tensor.Int64, []int64{}
	for i := lo; i < hi; i++ {
		o.ints = append(o.ints, int64(x.shape[i]))
	}
	return nil
}

func sizeOf(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	o := c.ret(0, []int{})
	o.dtype, o.ints = tensor.Int64, []int64{int64(tensor.Count(x.shape))}
	return nil
}

func constantNode(c *call) error {
	if len(c.GetAttribute()) == 0 {
		return errors.New("a constant without a value")
	}
	a, o := c.GetAttribute()[0], c.ret(0, []int{})
	switch a.GetName() {
	case "value":
		*o = *constant(a.GetT())
		if !o.known {
			return errors.New("a constant that cannot be read")
		}
	case "value_int":
		o.dtype, o.ints = tensor.Int64, []int64{a.GetI()}
	case "value_ints":
		o.shape, o.dtype, o.ints = []int{len(a.GetInts())}, tensor.Int64, slices.Clone(a.GetInts())
		o.store = onnx.Stored("", tensor.FromInt64(slices.Clone(a.GetInts()), len(a.GetInts())))
	case "value_float":
		o.dtype, o.store = tensor.Float32, onnx.Stored("", tensor.FromFloat32([]float32{a.GetF()}))
	case "value_floats":
		o.shape, o.dtype = []int{len(a.GetFloats())}, tensor.Float32
		o.store = onnx.Stored("", tensor.FromFloat32(slices.Clone(a.GetFloats()), len(a.GetFloats())))
	default:
		return fmt.Errorf("a constant given as %s", a.GetName())
	}
	return nil
}

func constantOfShape(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	if x.ints == nil {
		return errors.New("its shape is computed while it runs")
	}
	s := make([]int, len(x.ints))
	for i, d := range x.ints {
		if d < 0 || d > maxElements {
			return fmt.Errorf("the shape %v", x.ints)
		}
		s[i] = int(d)
	}
	o := c.ret(0, s)
	o.dtype = tensor.Float32
	fill := []int64{0}
	if a := onnx.Attr(c.NodeProto, "value"); a.GetT() != nil {
		o.dtype = tensor.DType(a.GetT().GetDataType())
		if fill, err = onnx.Integers(a.GetT()); err != nil || len(fill) != 1 {
			return nil //nolint:nilerr // a fill that is no integer: the shape is known all the same
		}
	}
	if n, err := tensor.CheckedCount(s, maxInts); err == nil && len(s) <= 1 && o.dtype != tensor.Float32 {
		o.ints = slices.Repeat(fill, n)
	}
	return nil
}

func rangeOf(c *call) error {
	var v [3]int64
	for i := range v {
		x, err := c.need(i)
		if err != nil {
			return err
		}
		if len(x.ints) != 1 {
			return errors.New("its bounds are computed while it runs")
		}
		v[i] = x.ints[0]
	}
	if v[2] == 0 {
		return errors.New("a step of 0")
	}
	n := (v[1] - v[0]) / v[2]
	if (v[1]-v[0])%v[2] != 0 && (v[1] > v[0]) == (v[2] > 0) {
		n++
	}
	n = min(max(n, 0), maxElements)
	o := c.ret(0, []int{int(n)})
	if n <= maxInts {
		o.ints = make([]int64, n)
		for i := range o.ints {
			o.ints[i] = v[0] + int64(i)*v[2]
		}
	}
	return nil
}

func oneHot(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	depth, err := c.need(1)
	if err != nil {
		return err
	}
	values, err := c.need(2)
	if err != nil {
		return err
	}
	if len(depth.ints) != 1 || depth.ints[0] < 0 || depth.ints[0] > maxElements {
		return errors.New("its depth is computed while it runs")
	}
	a, err := Axis(onnx.Int(c.NodeProto, "axis", -1), len(x.shape)+1)
	if err != nil {
		return err
	}
	c.ret(0, slices.Insert(slices.Clone(x.shape), a, int(depth.ints[0]))).dtype = values.dtype
	return nil
}

// block is the block size of DepthToSpace and SpaceToDepth.
func (c *call) block() (int, []int, error) {
	x, err := c.need(0)
	if err != nil {
		return 0, nil, err
	}
	b := onnx.Int(c.NodeProto, "blocksize", 0)
	if len(x.shape) != 4 || b < 1 || b > 1<<15 {
		return 0, nil, fmt.Errorf("blocks of %d on %v", b, x.shape)
	}
	return int(b), x.shape, nil
}

func depthToSpace(c *call) error {
	b, s, err := c.block()
	if err != nil {
		return err
	}
	if s[1]%(b*b) != 0 {
		return fmt.Errorf("%d channels in blocks of %d", s[1], b)
	}
	c.ret(0, []int{s[0], s[1] / (b * b), s[2] * b, s[3] * b})
	return nil
}

func spaceToDepth(c *call) error {
	b, s, err := c.block()
	if err != nil {
		return err
	}
	if s[2]%b != 0 || s[3]%b != 0 {
		return fmt.Errorf("a map of %d x %d in blocks of %d", s[2], s[3], b)
	}
	c.ret(0, []int{s[0], s[1] * b * b, s[2] / b, s[3] / b})
	return nil
}

func gridSample(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	g, err := c.need(1)
	if err != nil {
		return err
	}
	if len(x.shape) < 3 || len(g.shape) != len(x.shape) {
		return fmt.Errorf("a grid %v on %v", g.shape, x.shape)
	}
	c.ret(0, slices.Concat(x.shape[:2], g.shape[1:len(g.shape)-1]))
	return nil
}

func roiAlign(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	r, err := c.need(1)
	if err != nil {
		return err
	}
	if len(x.shape) != 4 || len(r.shape) != 2 {
		return fmt.Errorf("regions %v of %v", r.shape, x.shape)
	}
	h, w := onnx.Int(c.NodeProto, "output_height", 1), onnx.Int(c.NodeProto, "output_width", 1)
	if h < 0 || w < 0 || h > 1<<20 || w > 1<<20 {
		return fmt.Errorf("regions of %d x %d", h, w)
	}
	c.ret(0, []int{r.shape[0], x.shape[1], int(h), int(w)})
	return nil
}

func recurrent(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	r, err := c.need(2)
	if err != nil {
		return err
	}
	if len(x.shape) != 3 || len(r.shape) != 3 {
		return fmt.Errorf("a sequence %v with weights %v", x.shape, r.shape)
	}
	t, n, d, h := x.shape[0], x.shape[1], r.shape[0], r.shape[2]
	y, last := []int{t, d, n, h}, []int{d, n, h}
	if onnx.Int(c.NodeProto, "layout", 0) != 0 {
		t, n = n, t
		y, last = []int{n, t, d, h}, []int{n, d, h}
	}
	c.ret(0, y).dtype = x.dtype
	c.ret(1, last).dtype = x.dtype
	c.ret(2, last).dtype = x.dtype
	return nil
}

func dropout(c *call) error {
	if err := like(tensor.Undefined)(c); err != nil {
		return err
	}
	c.ret(1, c.in[0].shape).dtype = tensor.Bool
	return nil
}

func batchNorm(c *call) error {
	if err := like(tensor.Undefined)(c); err != nil {
		return err
	}
	for i := 1; i < len(c.out); i++ {
		s, err := c.need(min(i+2, 4))
		if err != nil {
			return err
		}
		c.ret(i, s.shape)
	}
	return nil
}

func layerNorm(c *call) error {
	if err := like(tensor.Undefined)(c); err != nil {
		return err
	}
	x := c.in[0]
	a, err := Axis(onnx.Int(c.NodeProto, "axis", -1), len(x.shape))
	if err != nil {
		return err
	}
	s := slices.Clone(x.shape)
	for i := a; i < len(s); i++ {
		s[i] = 1
	}
	c.ret(1, s)
	c.ret(2, s)
	return nil
}

func quantize(c *call) error {
	d := tensor.Uint8
	if z := c.arg(2); z != nil {
		d = z.dtype
	}
	return like(d)(c)
}

func dynamicQuantize(c *call) error {
	if err := like(tensor.Uint8)(c); err != nil {
		return err
	}
	c.ret(1, []int{}).dtype = tensor.Float32
	c.ret(2, []int{}).dtype = tensor.Uint8
	return nil
}
