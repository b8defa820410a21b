package vjp

import (
	"errors"
	"fmt"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
)

// softmax: y·(d - Σ d·y); its logarithm: d - exp(y)·Σ d.
func softmax(c *call) error {
	ax, err := c.axisAttr(-1, len(c.so))
	if err != nil {
		return err
	}
	if y := c.out[0]; c.n.GetOpType() == "Softmax" {
		c.give(0, c.mul(y, c.sub(c.d, c.sum(c.mul(c.d, y), true, ax))))
	} else {
		c.give(0, c.sub(c.d, c.mul(c.op("Exp", y), c.sum(c.d, true, ax))))
	}
	return nil
}

// normal is (x - mean)/√(var + ε) over some axes, with what its derivative takes.
type normal struct {
	c    *call
	axes []int
	// of elements that are averaged
	count string
	// the normalised value, 1/√(var + ε)
	xh, inv string
}

// normalize computes it. The number of elements is taken from the shapes unless it depends on the batch.
func (c *call) normalize(x string, sh []int, eps float64, axes ...int) *normal {
	n := &normal{c: c, axes: axes}
	count := 1
	for _, a := range axes {
		count *= sh[a]
		if a == 0 {
			count = 0
			break
		}
	}
	if count > 0 {
		n.count = c.num(float64(count))
	} else {
		n.count = c.ratio(x, c.sum(x, true, axes...))
	}
	xc := c.sub(x, n.mean(x))
	n.inv = c.op("Reciprocal", c.op("Sqrt", c.add(n.mean(c.mul(xc, xc)), c.num(eps))))
	n.xh = c.mul(xc, n.inv)
	return n
}

func (n *normal) mean(v string) string { return n.c.div(n.c.sum(v, true, n.axes...), n.count) }

// back is the adjoint of x for the adjoint g of the normalised value: inv·(g - mean(g) - xh·mean(g·xh)).
func (n *normal) back(g string) string {
	c := n.c
	return c.mul(n.inv, c.sub(c.sub(g, n.mean(g)), c.mul(n.xh, n.mean(c.mul(g, n.xh)))))
}

func (c *call) epsilon() float64 { return float64(onnx.Float(c.n, "epsilon", 1e-5)) }

// stash refuses statistics in a type other than that of the value.
func (c *call) stash() error {
	if t := tensor.DType(onnx.Int(c.n, "stash_type", 1)); t != c.dt {
		return fmt.Errorf("its statistics are computed in %s (stash_type), its value in %s", t, c.dt)
	}
	return nil
}

func layerNorm(c *call) error {
	ax, err := c.axisAttr(-1, len(c.si))
	if err != nil {
		return err
	}
	if err := c.stash(); err != nil {
		return err
	}
	n := c.normalize(c.in[0], c.si, c.epsilon(), upTo(len(c.si))[ax:]...)
	c.giveTo(1, func() string { return c.mul(c.d, n.xh) })
	c.giveTo(2, func() string { return c.d })
	if c.wants(0) {
		c.give(0, n.back(c.mul(c.d, c.in[1])))
	}
	return nil
}

// rmsNorm: x/√(mean(x²) + ε)·scale.
func rmsNorm(c *call) error {
	ax, err := c.axisAttr(-1, len(c.si))
	if err != nil {
		return err
	}
	if err := c.stash(); err != nil {
		return err
	}
	axes, count := upTo(len(c.si))[ax:], 1
	for _, a := range axes {
		count *= c.si[a]
	}
	if ax == 0 {
		return errors.New("its rule does not know a normalization over the batch axis")
	}
	mean := func(v string) string { return c.scale(c.sum(v, true, axes...), 1/float64(count)) }
	x := c.in[0]
	inv := c.op("Reciprocal", c.op("Sqrt", c.add(mean(c.mul(x, x)), c.num(c.epsilon()))))
	xh := c.mul(x, inv)
	c.giveTo(1, func() string { return c.mul(c.d, xh) })
	if c.wants(0) {
		g := c.mul(c.d, c.in[1])
		c.give(0, c.mul(inv, c.sub(g, c.mul(xh, mean(c.mul(g, xh))))))
	}
	return nil
}

// channels brings a vector with one element per channel into the shape C×1×...×1 that broadcasts along axis 1.
func (c *call) channels(v string) string {
	return c.once(fmt.Sprint("channels ", len(c.si), " ", v), func() string {
		if len(c.si) <= 2 {
			return v
		}
		return c.reshape(v, c.list(append([]int{-1}, filled(len(c.si)-2, 1)...)...))
	})
}

// perChannel sums a value into a vector with one element per channel.
func (c *call) perChannel(v string) string { return c.sum(v, false, without(len(c.si), 1)...) }

func batchNorm(c *call) error {
	x, scale, mean, vari := c.in[0], c.in[1], c.in[3], c.in[4]
	if onnx.Int(c.n, "training_mode", 0) != 0 { // statistics of the batch, which couple the samples
		if err := c.only(0, 1, 2); err != nil {
			return err
		}
		n := c.normalize(x, c.si, c.epsilon(), without(len(c.si), 1)...)
		c.batchScale(n.xh)
		if c.wants(0) {
			c.give(0, n.back(c.mul(c.d, c.channels(scale))))
		}
		return nil
	}
	inv := c.once(fmt.Sprint("inv ", c.epsilon(), " ", vari), func() string {
		return c.op("Reciprocal", c.op("Sqrt", c.add(vari, c.num(c.epsilon()))))
	})
	f := c.mul(scale, inv)
	if c.wants(0) {
		c.give(0, c.mul(c.d, c.channels(f)))
	}
	if c.wants(1) || c.wants(4) {
		xc := c.sub(x, c.channels(mean))
		c.batchScale(c.mul(xc, c.channels(inv)))
		if c.wants(4) {
			c.give(4, c.scale(c.mul(c.perChannel(c.mul(c.d, xc)), c.mul(f, c.mul(inv, inv))), -.5))
		}
	} else {
		c.batchScale("")
	}
	if c.wants(3) {
		c.give(3, c.neg(c.mul(c.perChannel(c.d), f)))
	}
	return nil
}

// batchScale gives the adjoints of scale (input 1) and bias (input 2) of a normalisation with one of each per channel.
func (c *call) batchScale(xh string) {
	if c.wants(1) {
		c.give(1, c.perChannel(c.mul(c.d, xh)))
	}
	if c.wants(2) {
		c.give(2, c.perChannel(c.d))
	}
}

func instanceNorm(c *call) error {
	if len(c.si) < 3 {
		return fmt.Errorf("its input has %d axes, want at least 3", len(c.si))
	}
	n := c.normalize(c.in[0], c.si, c.epsilon(), upTo(len(c.si))[2:]...)
	c.batchScale(n.xh)
	if c.wants(0) {
		c.give(0, n.back(c.mul(c.d, c.channels(c.in[1]))))
	}
	return nil
}

// groupNorm: until operator set 20 scale and bias are per group, then per channel.
func groupNorm(c *call) error {
	g := int(onnx.Int(c.n, "num_groups", 0))
	if g <= 0 || len(c.si) < 3 || c.si[1]%g != 0 {
		return fmt.Errorf("an input of shape %v has no %d groups of channels", c.si, g)
	}
	if err := c.stash(); err != nil {
		return err
	}
	inGroups := c.list(0, g, -1) // N×G×rest
	count := tensor.Count(c.si[1:]) / g
	n := c.normalize(c.reshape(c.in[0], inGroups), []int{c.si[0], g, count}, c.epsilon(), 2)
	var gs string
	if c.opset < 21 {
		d := c.reshape(c.d, inGroups)
		if c.wants(1) {
			c.give(1, c.sum(c.mul(d, n.xh), false, 0, 2))
		}
		if c.wants(2) {
			c.give(2, c.sum(d, false, 0, 2))
		}
		gs = c.mul(d, c.reshape(c.in[1], c.list(g, 1)))
	} else {
		c.batchScale(c.like(n.xh, c.in[0]))
		gs = c.reshape(c.mul(c.d, c.channels(c.in[1])), inGroups)
	}
	if c.wants(0) {
		c.give(0, c.like(n.back(gs), c.in[0]))
	}
	return nil
}

// lpNorm: y = x/|x|; dx = (d - s·Σ d·y)/|x| with s the derivative of the norm: y for p = 2, sign(x) for p = 1.
func lpNorm(c *call) error {
	ax, err := c.axisAttr(-1, len(c.si))
	if err != nil {
		return err
	}
	x, y := c.in[0], c.out[0]
	var norm, s string
	switch p := onnx.Int(c.n, "p", 2); p {
	case 1:
		norm, s = c.sum(c.op("Abs", x), true, ax), c.op("Sign", x)
	case 2:
		norm, s = c.op("Sqrt", c.sum(c.mul(x, x), true, ax)), y
	default:
		return fmt.Errorf("its rule does not know p=%d", p)
	}
	c.give(0, c.div(c.sub(c.d, c.mul(s, c.sum(c.mul(c.d, y), true, ax))), norm))
	return nil
}

func meanVariance(c *call) error {
	axes := []int{0, 2, 3}
	if a := onnx.Attr(c.n, "axes"); a != nil {
		axes = nil
		for _, v := range a.GetInts() {
			k, err := facts.Axis(v, len(c.si))
			if err != nil {
				return err
			}
			axes = append(axes, k)
		}
	}
	// y = (x - mean)/(σ + 1e-9): the 1e-9 is below the rounding of float32
	c.give(0, c.normalize(c.in[0], c.si, 0, axes...).back(c.d))
	return nil
}

// lrn: y = x·s^-β with s = bias + α/size·Σ x² over a window of channels;
// dx = d·s^-β - 2·α·β/size·x·Σ d·y/s over the windows that hold x.
func lrn(c *call) error {
	size := int(onnx.Int(c.n, "size", 0))
	if size < 1 || len(c.si) < 3 {
		return fmt.Errorf("size=%d and an input of shape %v do not fit its rule", size, c.si)
	}
	a := float64(onnx.Float(c.n, "alpha", 1e-4)) / float64(size)
	beta := float64(onnx.Float(c.n, "beta", .75))
	// channel k reads channels k - ⌊(size-1)/2⌋ to k + ⌈(size-1)/2⌉
	ch := c.si[1]
	if ch > 1<<13 {
		return fmt.Errorf("its rule knows up to %d channels, not %d", 1<<13, ch)
	}
	band, turned := make([]float64, ch*ch), make([]float64, ch*ch)
	for k := range ch {
		for j := max(0, k-(size-1)/2); j <= min(ch-1, k+size/2); j++ {
			band[k*ch+j], turned[j*ch+k] = 1, 1
		}
	}
	x, y := c.in[0], c.out[0]
	window := func(m []float64, v string) string {
		flat := c.reshape(v, c.list(0, ch, -1))
		return c.like(c.op("MatMul", c.array(m, ch, ch), flat), x)
	}
	s := c.add(c.scale(window(band, c.mul(x, x)), a), c.num(float64(onnx.Float(c.n, "bias", 1))))
	direct := c.mul(c.d, c.op("Pow", s, c.num(-beta)))
	c.give(0, c.sub(direct, c.mul(c.scale(x, 2*a*beta), window(turned, c.div(c.mul(c.d, y), s)))))
	return nil
}
