package oracle

import (
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/internal/elementary"
)

// lineFunc is what is done with one line of numbers: n of x and of y, step apart.
type lineFunc func(c *call, x, y []float64, n, step int)

// along does it with every line along an axis of input 0.
func along(at int, f lineFunc) kernel {
	return one(func(c *call) (*value, error) {
		x, err := c.floats(0)
		if err != nil {
			return nil, err
		}
		k, err := axis(at, x.rank())
		if err != nil {
			return nil, err
		}
		outer, n, inner := around(x.shape, k)
		return c.lines(x, outer, n, inner, f)
	})
}

// from does it with everything of input 0 from an axis on as one line.
func from(at int, f lineFunc) kernel {
	return one(func(c *call) (*value, error) {
		x, err := c.floats(0)
		if err != nil {
			return nil, err
		}
		k := at
		if k < 0 {
			k += x.rank()
		}
		if k < 0 || k > x.rank() {
			return nil, fmt.Errorf("axis %d of %s", at, x)
		}
		return c.lines(x, product(x.shape[:k]), product(x.shape[k:]), 1, f)
	})
}

// normOps are soft maxima and normalizations.
func normOps() map[string][]entry {
	ops := map[string][]entry{}
	for name, f := range map[string]lineFunc{"Softmax": softmax, "LogSoftmax": logSoftmax, "Hardmax": hardmax} {
		ops[name] = []entry{
			{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel { return from(a.int("axis", 1), f) }},
			{
				since: 13, least: 1, most: 1, outs: 1,
				build: func(a *attrs) kernel { return along(a.int("axis", -1), f) },
			},
		}
	}
	ops["BatchNormalization"] = []entry{{since: 6, least: 5, most: 5, outs: 5, build: batchNorm}}
	ops["InstanceNormalization"] = []entry{{since: 6, least: 3, most: 3, outs: 1, build: func(a *attrs) kernel {
		eps := a.float("epsilon", 1e-5)
		return one(func(c *call) (*value, error) { return c.groupNorm(0, eps, false) })
	}}}
	ops["GroupNormalization"] = []entry{{since: 18, least: 3, most: 3, outs: 1, build: func(a *attrs) kernel {
		eps, groups, perGroup := a.float("epsilon", 1e-5), a.int("num_groups", 0), a.opset < 21
		stash(a)
		if groups < 1 {
			a.fail("attribute num_groups is %d", groups)
		}
		return one(func(c *call) (*value, error) { return c.groupNorm(groups, eps, perGroup) })
	}}}
	ops["LayerNormalization"] = []entry{{since: 17, least: 2, most: 3, outs: 3, build: func(a *attrs) kernel {
		at, eps := a.int("axis", -1), a.float("epsilon", 1e-5)
		stash(a)
		return func(c *call) ([]*value, error) { return c.layerNorm(at, eps, true) }
	}}}
	ops["RMSNormalization"] = []entry{{since: 23, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
		at, eps := a.int("axis", -1), a.float("epsilon", 1e-5)
		stash(a)
		return func(c *call) ([]*value, error) { return c.layerNorm(at, eps, false) }
	}}}
	ops["LpNormalization"] = []entry{{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
		at, p := a.int("axis", -1), a.int("p", 2)
		if p != 1 && p != 2 {
			a.fail("attribute p is %d, want 1 or 2", p)
		}
		if p == 1 {
			return along(at, absolute)
		}
		return along(at, euclidean)
	}}}
	ops["LRN"] = []entry{{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
		alpha, beta, bias, n := a.float("alpha", 1e-4), a.float("beta", 0.75), a.float("bias", 1), a.int("size", 0)
		if n < 1 {
			a.fail("attribute size is %d", n)
		}
		return one(func(c *call) (*value, error) { return c.lrn(alpha, beta, bias, n) })
	}}}
	ops["MeanVarianceNormalization"] = []entry{{since: 9, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
		list := []int{0, 2, 3}
		if a.has("axes") {
			list = a.ints("axes")
		}
		return one(func(c *call) (*value, error) { return c.standardize(list) })
	}}}
	return ops
}

// absolute divides a line by the sum of its absolute values. One of zeros stays what it is.
func absolute(c *call, x, y []float64, n, step int) {
	var sum float64
	for k := range n {
		sum = c.partial(sum + math.Abs(x[k*step]))
	}
	shrink(x, y, n, step, sum)
}

// euclidean divides a line by its length. One of zeros stays what it is.
func euclidean(c *call, x, y []float64, n, step int) {
	var sum float64
	for k := range n {
		sum = c.partial(sum + float64(x[k*step]*x[k*step]))
	}
	shrink(x, y, n, step, math.Sqrt(sum))
}

// shrink divides a line by a number that is not 0.
func shrink(x, y []float64, n, step int, by float64) {
	for k := range n {
		if by != 0 {
			y[k*step] = x[k*step] / by
		}
	}
}

// stash reads the type in which an engine would compute, which makes no difference to exact numbers.
func stash(a *attrs) { a.ignore("stash_type") }

// lines applies f to every line of n elements that lie inner apart.
func (c *call) lines(x *value, outer, n, inner int, f func(c *call, x, y []float64, n, step int)) (*value, error) {
	y, err := c.make(x.typ, x.shape)
	if err != nil || y.len() == 0 {
		return y, err
	}
	for o := range outer {
		for i := range inner {
			f(c, x.f[o*n*inner+i:], y.f[o*n*inner+i:], n, inner)
		}
	}
	return y, nil
}

// peak is the largest element of a line, NaN if there is one.
func peak(x []float64, n, step int) float64 {
	m := math.Inf(-1)
	for k := range n {
		m = greatest(x[k*step], m)
	}
	return m
}

func softmax(c *call, x, y []float64, n, step int) {
	m, sum := peak(x, n, step), 0.0
	for k := range n {
		e := elementary.Exp(x[k*step] - m)
		y[k*step] = e
		sum = c.partial(sum + e)
	}
	for k := range n {
		y[k*step] /= sum
	}
}

func logSoftmax(c *call, x, y []float64, n, step int) {
	m, sum := peak(x, n, step), 0.0
	for k := range n {
		sum = c.partial(sum + elementary.Exp(x[k*step]-m))
	}
	sum = elementary.Log(sum)
	for k := range n {
		y[k*step] = x[k*step] - m - sum
	}
}

func hardmax(_ *call, x, y []float64, n, step int) {
	best := 0
	for k := range n {
		if x[k*step] > x[best*step] {
			best = k
		}
	}
	y[best*step] = 1
}

// vectorOf is input k, which must be a list of n floating-point numbers.
func (c *call) vectorOf(k, n int) ([]float64, error) {
	v, err := c.floats(k)
	if err != nil {
		return nil, err
	}
	if v.rank() != 1 || len(v.f) != n {
		return nil, fmt.Errorf("input %d is %s, want a list of %d numbers", k, v, n)
	}
	return v.f, nil
}

// batchNorm normalizes channels, by stored moments or, in training mode, by those of the batch.
func batchNorm(a *attrs) kernel {
	eps, momentum := a.float("epsilon", 1e-5), a.float("momentum", 0.9)
	train := false
	if a.opset < 7 && !a.flag("is_test", false) {
		a.fail("is_test=0: the training mode of operator sets before 14")
	}
	if a.opset < 9 && !a.flag("spatial", true) {
		a.fail("spatial=0")
	}
	if a.opset >= 14 {
		train = a.flag("training_mode", false)
	}
	a.ignore("consumed_inputs")
	switch {
	case a.opset < 14 && a.outs > 1:
		a.fail("%d outputs: the training mode of operator sets before 14", a.outs)
	case !train && a.outs > 1 || a.outs > 3:
		a.fail("%d outputs", a.outs)
	}
	return func(c *call) ([]*value, error) {
		x, err := c.floats(0)
		if err != nil {
			return nil, err
		}
		channels := 1
		if x.rank() > 1 {
			channels = x.shape[1]
		}
		if x.rank() < 1 {
			return nil, fmt.Errorf("input 0 is %s, want a batch", x)
		}
		var p [4][]float64 // scale, shift, mean, variance
		for k := range p {
			if p[k], err = c.vectorOf(k+1, channels); err != nil {
				return nil, err
			}
		}
		y, err := c.make(x.typ, x.shape)
		if err != nil {
			return nil, err
		}
		inner := 1
		if x.rank() > 2 {
			inner = product(x.shape[2:])
		}
		n := x.shape[0]
		mean, variance := p[2], p[3]
		out := []*value{y}
		if train {
			if n*inner == 0 {
				return nil, fmt.Errorf("input 0 is %s: an empty batch has no moments", x)
			}
			mean, variance = make([]float64, channels), make([]float64, channels)
			newMean, err := c.make(c.in[3].typ, []int{channels})
			if err != nil {
				return nil, err
			}
			newVariance, err := c.make(c.in[4].typ, []int{channels})
			if err != nil {
				return nil, err
			}
			for ch := range channels {
				mean[ch], variance[ch] = c.moments(func(f func(float64)) {
					for b := range n {
						for _, v := range x.f[(b*channels+ch)*inner:][:inner] {
							f(v)
						}
					}
				})
				newMean.f[ch] = float64(p[2][ch]*momentum) + float64(mean[ch]*(1-momentum))
				newVariance.f[ch] = float64(p[3][ch]*momentum) + float64(variance[ch]*(1-momentum))
			}
			out = append(out, newMean, newVariance)
		}
		for b := range n {
			for ch := range channels {
				d := math.Sqrt(variance[ch] + eps)
				at := (b*channels + ch) * inner
				for k, v := range x.f[at:][:inner] {
					y.f[at+k] = float64((v-mean[ch])/d*p[0][ch]) + p[1][ch]
				}
			}
		}
		return out, nil
	}
}

// moments are mean and variance, of the whole and not of a sample of it.
func (r *runner) moments(each func(func(float64))) (mean, variance float64) {
	n := 0.0
	each(func(v float64) {
		mean = r.partial(mean + v)
		n++
	})
	mean /= n
	each(func(v float64) { variance = r.partial(variance + float64((v-mean)*(v-mean))) })
	return mean, variance / n
}

// groupNorm normalizes groups of channels of each sample; groups 0 stands for each channel alone.
func (c *call) groupNorm(groups int, eps float64, perGroup bool) (*value, error) {
	x, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	if x.rank() < 2 {
		return nil, fmt.Errorf("input 0 is %s, want batch and channels", x)
	}
	channels := x.shape[1]
	if groups == 0 {
		groups = channels
	}
	if channels%max(groups, 1) != 0 {
		return nil, fmt.Errorf("%d channels in %d groups", channels, groups)
	}
	want := channels
	if perGroup {
		want = groups
	}
	scale, err := c.vectorOf(1, want)
	if err != nil {
		return nil, err
	}
	shift, err := c.vectorOf(2, want)
	if err != nil {
		return nil, err
	}
	y, err := c.make(x.typ, x.shape)
	if err != nil || y.len() == 0 {
		return y, err
	}
	inner, per := product(x.shape[2:]), channels/groups
	for g := range x.shape[0] * groups {
		part := x.f[g*per*inner:][:per*inner]
		mean, variance := c.moments(func(f func(float64)) {
			for _, v := range part {
				f(v)
			}
		})
		d := math.Sqrt(variance + eps)
		for k, v := range part {
			j := g % groups
			if !perGroup {
				j = j*per + k/inner
			}
			y.f[g*per*inner+k] = float64((v-mean)/d*scale[j]) + shift[j]
		}
	}
	return y, nil
}

// layerNorm normalizes everything from an axis on; without centering it is the root mean square normalization.
func (c *call) layerNorm(at int, eps float64, center bool) ([]*value, error) {
	x, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	scale, err := c.floats(1)
	if err != nil {
		return nil, err
	}
	var shift *value
	if c.at(2) != nil {
		if shift, err = c.floats(2); err != nil {
			return nil, err
		}
	}
	for _, p := range []*value{scale, shift} {
		if p == nil {
			continue
		}
		if s, err := broadcast(x.shape, p.shape); err != nil || !slices.Equal(s, x.shape) {
			return nil, fmt.Errorf("%s does not broadcast to %s", p, x)
		}
	}
	y, err := c.make(x.typ, x.shape)
	if err != nil {
		return nil, err
	}
	outer, n := product(x.shape[:a]), product(x.shape[a:])
	short := slices.Clone(x.shape)
	for k := a; k < len(short); k++ {
		short[k] = 1
	}
	means, err := c.make(tensor.Float32, short)
	if err != nil {
		return nil, err
	}
	inverse, err := c.make(tensor.Float32, short)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fmt.Errorf("input 0 is %s: nothing to normalize from axis %d on", x, a)
	}
	for o := range outer {
		part := x.f[o*n:][:n]
		var mean, variance float64
		if center {
			mean, variance = c.moments(func(f func(float64)) {
				for _, v := range part {
					f(v)
				}
			})
		} else {
			for _, v := range part {
				variance = c.partial(variance + v*v/float64(n))
			}
		}
		d := math.Sqrt(variance + eps)
		means.f[o], inverse.f[o] = mean, 1/d
		for k, v := range part {
			y.f[o*n+k] = (v - mean) / d
		}
	}
	zip(y.shape, y, scale, func(k, _, _, b, sb, n int) {
		for j := range n {
			y.f[k+j] *= scale.f[b+j*sb]
		}
	})
	if shift != nil {
		zip(y.shape, y, shift, func(k, _, _, b, sb, n int) {
			for j := range n {
				y.f[k+j] += shift.f[b+j*sb]
			}
		})
	}
	return []*value{y, means, inverse}, nil
}

// lrn divides by a power of the squares of neighboring channels.
func (c *call) lrn(alpha, beta, bias float64, n int) (*value, error) {
	x, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	if x.rank() < 2 {
		return nil, fmt.Errorf("input 0 is %s, want batch and channels", x)
	}
	outer, channels, inner := around(x.shape, 1)
	y, err := c.make(x.typ, x.shape)
	if err != nil {
		return nil, err
	}
	for o := range outer {
		for ch := range channels {
			lo, hi := max(ch-(n-1)/2, 0), min(ch+n/2, channels-1)
			for i := range inner {
				var sum float64
				for k := lo; k <= hi; k++ {
					v := x.f[(o*channels+k)*inner+i]
					sum = c.partial(sum + float64(v*v))
				}
				at := (o*channels+ch)*inner + i
				y.f[at] = x.f[at] / elementary.Pow(bias+float64(alpha/float64(n)*sum), beta)
			}
		}
	}
	return y, nil
}

// standardize subtracts the mean over axes and divides by the standard deviation plus 1e-9, as the specification does.
func (c *call) standardize(list []int) (*value, error) {
	x, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	as, err := axes(list, x.rank())
	if err != nil {
		return nil, err
	}
	mean := fold{
		step: func(acc, v float64) float64 { return acc + v },
		end:  func(acc float64, n int) float64 { return acc / float64(n) },
	}
	m, err := c.reduce(mean, x, as, true)
	if err != nil {
		return nil, err
	}
	sub := arithmetic{f: func(x, y float64) float64 { return x - y }}
	d, err := c.combine(sub, x, m, x.shape)
	if err != nil {
		return nil, err
	}
	mean.step = func(acc, v float64) float64 { return acc + float64(v*v) }
	v, err := c.reduce(mean, d, as, true)
	if err != nil {
		return nil, err
	}
	return c.combine(arithmetic{f: func(x, v float64) float64 { return x / (math.Sqrt(v) + 1e-9) }}, d, v, x.shape)
}
