package vjp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
)

// window is how a convolution or pooling moves over its input.
type window struct {
	*facts.Window
	group, dimensions int
}

// windowOf reads the attributes. in and out are the full shapes of what the window slides over and of what it makes.
func (c *call) windowOf(in, out, kernel []int) (*window, error) {
	nd := len(in) - 2
	if nd < 1 || len(kernel) != nd || len(out) != nd+2 {
		return nil, fmt.Errorf("shapes %v and %v and a kernel of %v do not fit each other", in, out, kernel)
	}
	at, err := facts.ReadWindow(c.n, in[2:], kernel)
	if err != nil {
		return nil, err
	}
	at.Out = out[2:]
	if auto := onnx.String(c.n, "auto_pad", "NOTSET"); at.Pad(auto) != nil {
		return nil, fmt.Errorf("its rule does not know auto_pad=%q", auto)
	}
	w := &window{at, int(onnx.Int(c.n, "group", 1)), nd}
	if w.group < 1 || in[1]%w.group != 0 || out[1]%w.group != 0 {
		return nil, fmt.Errorf("%d and %d channels have no %d groups", in[1], out[1], w.group)
	}
	return w, nil
}

func (w *window) pads() []int64 { return wide(append(slices.Clone(w.Begin), w.End...)) }

// spread is the transposed convolution of d with kernel, back onto the grid that the window slides over.
func (c *call) spread(d, kernel string, w *window) string {
	after, extra := slices.Clone(w.End), make([]int, w.dimensions)
	for i := range extra {
		extra[i] = w.In[i] - ((w.Out[i]-1)*w.Stride[i] + w.Extent(i) - w.Begin[i] - w.End[i])
		if extra[i] < 0 { // the last windows run over the padded end
			after[i] -= extra[i]
			extra[i] = 0
		}
	}
	return c.with("ConvTranspose", []string{d, kernel}, onnx.AttrInts("strides", wide(w.Stride)...),
		onnx.AttrInts("dilations", wide(w.Dilation)...),
		onnx.AttrInts("pads", wide(append(slices.Clone(w.Begin), after...))...), onnx.AttrInt("group", int64(w.group)),
		onnx.AttrInts("output_padding", wide(extra)...))
}

// spatial are the axes after the first two.
func spatial(nd int) []int { return upTo(nd + 2)[2:] }

// mirrored is a kernel for the way back: input and output channels exchanged within each group, spatial axes reversed.
// Engines fold it into a constant.
func (c *call) mirrored(kernel string, w *window) string {
	sk := c.shapes[kernel]
	return c.once(fmt.Sprint("mirrored ", w.group, " ", kernel), func() string {
		v, nd := kernel, w.dimensions
		if w.group == 1 {
			v = c.transpose(v, append([]int{1, 0}, spatial(nd)...)...)
		} else {
			v = c.reshape(v, c.list(append([]int{w.group, sk[0] / w.group, sk[1]}, sk[2:]...)...))
			v = c.transpose(v, append([]int{0, 2, 1}, upTo(nd + 3)[3:]...)...)
			v = c.reshape(v, c.list(append([]int{w.group * sk[1], sk[0] / w.group}, sk[2:]...)...))
		}
		if tensor.Count(w.Kernel) == 1 {
			return v
		}
		minus := c.list(filled(nd, -1)...)
		return c.op("Slice", v, minus, c.list(filled(nd, math.MinInt32)...), c.list(spatial(nd)...), minus)
	})
}

// kernelAdjoint is the adjoint of a kernel: the correlation of what it slides over with what it makes. Batch and
// channels are exchanged, so that a convolution sums over the batch, with strides for dilations.
func (c *call) kernelAdjoint(over, made string, cOver int, w *window) string {
	g, nd := w.group, w.dimensions
	flip := append([]int{1, 0}, spatial(nd)...)
	a, b := over, made
	if g == 1 {
		a, b = c.transpose(a, flip...), c.transpose(b, flip...)
	} else {
		// a: channels of a group × (group, sample), b: (group, channels of a group) × sample
		tail := upTo(nd + 3)[3:]
		a = c.reshape(a, c.list(append([]int{-1, g, cOver / g}, w.In...)...))
		a = c.reshape(c.transpose(a, append([]int{2, 1, 0}, tail...)...),
			c.list(append([]int{cOver / g, -1}, w.In...)...))
		b = c.transpose(b, flip...)
	}
	k := c.with("Conv", []string{a, b}, onnx.AttrInts("strides", wide(w.Dilation)...),
		onnx.AttrInts("dilations", wide(w.Stride)...),
		onnx.AttrInts("pads", w.pads()...), onnx.AttrInt("group", int64(g)))
	// with strides the last pixels may not have been read
	k = c.op("Slice", k, c.list(filled(nd, 0)...), c.list(w.Kernel...), c.list(spatial(nd)...))
	return c.transpose(k, flip...)
}

// few output channels make a convolution slower than the transposed one: measured on the first layers of the digit
// models, 1.6 ms against 0.1 ms.
const few = 4

func conv(c *call) error {
	x, kernel := c.in[0], c.in[1]
	sk := c.shapes[kernel]
	if len(sk) != len(c.si) {
		return fmt.Errorf("a kernel of shape %v does not fit an input of shape %v", sk, c.si)
	}
	w, err := c.windowOf(c.si, c.so, sk[2:])
	if err != nil {
		return err
	}
	if c.wants(0) {
		unit := true
		for i := range w.Kernel {
			reach := w.Extent(i) - 1
			unit = unit && w.Stride[i] == 1 && reach >= w.Begin[i] && reach >= w.End[i]
		}
		if unit && (w.group > 1 || c.si[1] > few) { // an ordinary convolution is the faster way back
			var before, after []int
			for i := range w.Kernel {
				before, after = append(before, w.Extent(i)-1-w.Begin[i]), append(after, w.Extent(i)-1-w.End[i])
			}
			c.give(0, c.with("Conv", []string{c.d, c.mirrored(kernel, w)},
				onnx.AttrInts("pads", wide(append(before, after...))...),
				onnx.AttrInts("dilations", wide(w.Dilation)...), onnx.AttrInt("group", int64(w.group))))
		} else {
			c.give(0, c.spread(c.d, kernel, w))
		}
	}
	if c.wants(1) {
		c.give(1, c.kernelAdjoint(x, c.d, c.si[1], w))
	}
	if c.wants(2) {
		c.give(2, c.perChannel(c.d))
	}
	return nil
}

// convTranspose: the window slides over the output.
func convTranspose(c *call) error {
	if a := onnx.String(c.n, "auto_pad", "NOTSET"); a != "NOTSET" && a != "" {
		return fmt.Errorf("its rule does not know auto_pad=%q", a)
	}
	if onnx.Attr(c.n, "output_shape") != nil {
		return errors.New("its rule does not know output_shape")
	}
	x, kernel := c.in[0], c.in[1]
	sk := c.shapes[kernel]
	if len(sk) != len(c.si) {
		return fmt.Errorf("a kernel of shape %v does not fit an input of shape %v", sk, c.si)
	}
	w, err := c.windowOf(c.so, c.si, sk[2:])
	if err != nil {
		return err
	}
	if c.wants(0) {
		y := c.with("Conv", []string{c.d, kernel}, onnx.AttrInts("strides", wide(w.Stride)...),
			onnx.AttrInts("dilations", wide(w.Dilation)...),
			onnx.AttrInts("pads", w.pads()...), onnx.AttrInt("group", int64(w.group)))
		for i := range w.In { // output padding may be wide enough for one more step
			if (w.In[i]+w.Begin[i]+w.End[i]-w.Extent(i))/w.Stride[i]+1 != w.Out[i] {
				y = c.op("Slice", y, c.list(filled(w.dimensions, 0)...), c.list(w.Out...),
					c.list(spatial(w.dimensions)...))
				break
			}
		}
		c.give(0, y)
	}
	if c.wants(1) {
		c.give(1, c.kernelAdjoint(c.d, x, c.so[1], w))
	}
	if c.wants(2) {
		c.give(2, c.perChannel(c.d))
	}
	return nil
}

// counts are how many of its places each window counts: those in the picture, and the padded ones too if all is true.
// over says that a window runs over the padded end, as ceil_mode allows.
func (w *window) counts(all bool) (counts []float64, over bool) {
	counts = []float64{1}
	for i := range w.Kernel {
		line := make([]float64, w.Out[i])
		for o := range line {
			for k := range w.Kernel[i] {
				p := o*w.Stride[i] + k*w.Dilation[i] - w.Begin[i]
				if all || p >= 0 && p < w.In[i] {
					line[o]++
				}
				over = over || p >= w.In[i]+w.End[i]
			}
		}
		next := make([]float64, 0, len(counts)*len(line))
		for _, a := range counts {
			for _, b := range line {
				next = append(next, a*b)
			}
		}
		counts = next
	}
	return counts, over
}

// averagePool: every window spreads its share evenly.
func averagePool(c *call) error {
	w, err := c.windowOf(c.si, c.so, narrow(onnx.Ints(c.n, "kernel_shape", nil)))
	if err != nil {
		return err
	}
	if _, err := tensor.CheckedCount(append([]int{c.si[1]}, w.Kernel...), most); err != nil {
		return fmt.Errorf("its kernel: %w", err)
	}
	if _, err := tensor.CheckedCount(w.Out, most); err != nil {
		return err
	}
	counted := onnx.Int(c.n, "count_include_pad", 0) != 0
	counts, over := w.counts(counted)
	d := c.d
	full := float64(tensor.Count(w.Kernel))
	if over && counted {
		// Engines differ in whether they count what lies behind the padded end. The mean of ones, padded by zeros, is
		// the share of the window that lies in the picture, as this engine counts.
		inside := make([]float64, len(counts))
		valid, _ := w.counts(false)
		for i, n := range valid {
			if n > 0 {
				inside[i] = 1 / n
			}
		}
		ones := c.op("Expand", c.num(1), c.list(append([]int{1, 1}, w.In...)...))
		share := c.with("AveragePool", []string{ones}, c.n.GetAttribute()...)
		d, full = c.mul(d, c.mul(share, c.array(inside, w.Out...))), 1
	} else if slices.ContainsFunc(counts, func(n float64) bool { return n != full }) {
		inverse := make([]float64, len(counts))
		for i, n := range counts {
			inverse[i] = 1 / n
		}
		d, full = c.mul(d, c.array(inverse, w.Out...)), 1
	}
	if y, ok := c.blocks(d, w, 1/full); ok {
		c.give(0, y)
		return nil
	}
	ch := c.si[1]
	w.group = ch
	kernel := make([]float64, ch*tensor.Count(w.Kernel))
	for i := range kernel {
		kernel[i] = 1 / full
	}
	c.give(0, c.spread(d, c.array(kernel, append([]int{ch, 1}, w.Kernel...)...), w))
	return nil
}

// blocks repeats each element of d over its window, if windows neither overlap nor leave gaps; which is much faster
// than a transposed convolution.
func (c *call) blocks(d string, w *window, f float64) (string, bool) {
	split, shape, end := []int{0, 0}, []int{0, 0}, make([]int, 2*(w.dimensions+2))
	ones := []int{1, 1}
	rest := false
	for i := range w.Kernel {
		if w.Stride[i] != w.Kernel[i] || w.Dilation[i] != 1 || w.Begin[i] != 0 || w.End[i] != 0 ||
			w.Out[i]*w.Kernel[i] > w.In[i] {
			return "", false
		}
		split = append(split, w.Out[i], 1)
		ones = append(ones, 1, w.Kernel[i])
		shape = append(shape, w.Out[i]*w.Kernel[i])
		end[2+i+w.dimensions+2] = w.In[i] - w.Out[i]*w.Kernel[i]
		rest = rest || w.In[i] != w.Out[i]*w.Kernel[i]
	}
	d = c.reshape(c.scale(d, f), c.list(split...))
	d = c.reshape(c.op("Expand", d, c.list(ones...)), c.list(shape...))
	if rest {
		d = c.op("Pad", d, c.list(end...))
	}
	return d, true
}

// maxPool: the operator itself says where each maximum was; the first in row-major order if several are equal.
func maxPool(c *call) error {
	if onnx.Int(c.n, "storage_order", 0) != 0 {
		return errors.New("its rule does not know storage_order=1")
	}
	for len(c.n.GetOutput()) < 2 {
		c.n.Output = append(c.n.Output, "")
	}
	if c.n.Output[1] == "" {
		c.n.Output[1] = c.free("indices:" + c.out[0])
	}
	x, d := c.in[0], c.d
	if n := c.maker[x]; n != nil && standard(n) && n.GetOpType() == "Relu" && !c.asked[x] && c.wants(0) {
		// what the Relu before would take away is taken away here, where there are fewer elements
		d = c.where(c.positive(c.out[0]), d, c.num(0))
		c.masked[x]++
	}
	c.give(0, c.scatter(x, c.n.GetOutput()[1], d))
	return nil
}

func globalAverage(c *call) error {
	n := tensor.Count(c.si[2:])
	c.give(0, c.op("Expand", c.scale(c.d, 1/float64(n)), c.shapeOf(c.in[0])))
	return nil
}

// globalMax: the first of equal elements gets the adjoint.
func globalMax(c *call) error {
	flat := c.reshape(c.in[0], c.list(0, 0, -1))
	at := c.with("ArgMax", []string{flat}, onnx.AttrInt("axis", 2), onnx.AttrInt("keepdims", 1))
	z := c.with("ScatterElements", []string{c.zeros(flat), at, c.reshape(c.d, c.list(0, 0, 1))},
		onnx.AttrInt("axis", 2))
	c.give(0, c.like(z, c.in[0]))
	return nil
}
