package oracle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/internal/elementary"
)

// poolOps reduce windows.
func poolOps() map[string][]entry {
	ops := map[string][]entry{
		"MaxPool": {{since: 1, least: 1, most: 1, outs: 2, build: func(a *attrs) kernel {
			w := readPool(a)
			columns := a.flag("storage_order", false)
			return func(c *call) ([]*value, error) { return c.maxPool(w, columns) }
		}}},
		"AveragePool": {{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			w, padded := readPool(a), a.flag("count_include_pad", false)
			return one(func(c *call) (*value, error) {
				return c.pool(w, func(x []float64, all int) float64 {
					var s float64
					for _, v := range x {
						s = c.partial(s + v)
					}
					if padded {
						return s / float64(all)
					}
					return s / float64(len(x))
				})
			})
		}}},
		"LpPool": {{since: 2, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			w, p := readPool(a), float64(a.int("p", 2))
			return one(func(c *call) (*value, error) {
				return c.pool(w, func(x []float64, _ int) float64 { return lp(x, p) })
			})
		}}},
	}
	global := map[string]func(a *attrs) func(c *call, x []float64) float64{
		"GlobalAveragePool": func(*attrs) func(*call, []float64) float64 {
			return func(c *call, x []float64) float64 {
				var s float64
				for _, v := range x {
					s = c.partial(s + v)
				}
				return s / float64(len(x))
			}
		},
		"GlobalMaxPool": func(*attrs) func(*call, []float64) float64 {
			return func(_ *call, x []float64) float64 { return peak(x, len(x), 1) }
		},
		"GlobalLpPool": func(a *attrs) func(*call, []float64) float64 {
			p := float64(a.int("p", 2))
			return func(_ *call, x []float64) float64 { return lp(x, p) }
		},
	}
	for name, build := range global {
		ops[name] = []entry{{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			f := build(a)
			return one(func(c *call) (*value, error) {
				x, err := c.floats(0)
				if err != nil {
					return nil, err
				}
				if x.rank() < 2 {
					return nil, fmt.Errorf("input 0 is %s, want batch and channels", x)
				}
				n := product(x.shape[2:])
				shape := slices.Clone(x.shape)
				for k := 2; k < len(shape); k++ {
					shape[k] = 1
				}
				if n == 0 {
					return nil, fmt.Errorf("input 0 is %s: nothing to pool", x)
				}
				y, err := c.make(x.typ, shape)
				if err != nil {
					return nil, err
				}
				for k := range y.f {
					y.f[k] = f(c, x.f[k*n:][:n])
				}
				return y, nil
			})
		}}}
	}
	return ops
}

// lp is the p-norm.
func lp(x []float64, p float64) float64 {
	var s float64
	for _, v := range x {
		s += elementary.Pow(math.Abs(v), p)
	}
	return elementary.Pow(s, 1/p)
}

func readPool(a *attrs) window {
	w := readWindow(a)
	w.ceil = a.flag("ceil_mode", false)
	if w.kernel == nil {
		a.fail("attribute kernel_shape is missing")
	}
	return w
}

// windows calls f for every window of every channel: the number of the output, the offset of the channel in x, and
// which inputs are in it. inside are their offsets within the channel, in order; all counts those in the padding too.
// begin is called before with the shape of the output.
func (c *call) windows(x *value, w window, begin func(shape []int) error,
	f func(out, base int, inside []int, all int),
) error {
	if x.rank() < 3 {
		return fmt.Errorf("input 0 is %s, want batch, channels and 1 to %d spatial axes", x, maxSpatial)
	}
	w, spatial, err := w.fit(x.shape[2:], w.kernel)
	if err != nil {
		return err
	}
	r := len(spatial)
	in, out, kern := three(x.shape[2:], 1), three(spatial, 1), three(w.kernel, 1)
	stride, dilation, before, after := three(w.stride, 1), three(w.dilation, 1), three(w.pads[:r], 0),
		three(w.pads[r:], 0)
	// taps are the elements lo..hi-1 of the kernel that meet an input, and those that meet an input or padding.
	type taps struct{ lo, hi, all int }
	var along [3][]taps
	for a := range 3 {
		if _, err := c.take([]int{out[a]}); err != nil {
			return err
		}
		along[a] = make([]taps, out[a])
		for o := range along[a] {
			lo, hi := span(o*stride[a]-before[a], dilation[a], in[a], kern[a])
			_, all := span(o*stride[a], dilation[a], in[a]+before[a]+after[a], kern[a])
			along[a][o] = taps{lo, hi, all}
		}
	}
	n, channel := product(x.shape[:2]), product(x.shape[2:])
	if err := begin(slices.Concat(x.shape[:2], spatial)); err != nil {
		return err
	}
	var inside []int
	// The windows are the same for all channels.
	outs := product(spatial)
	for o := range outs {
		p := [3]int{o / (out[1] * out[2]), o / out[2] % out[1], o % out[2]}
		t := [3]taps{along[0][p[0]], along[1][p[1]], along[2][p[2]]}
		inside = inside[:0]
		for z := t[0].lo; z < t[0].hi; z++ {
			iz := p[0]*stride[0] - before[0] + z*dilation[0]
			for y := t[1].lo; y < t[1].hi; y++ {
				iy := p[1]*stride[1] - before[1] + y*dilation[1]
				for k := t[2].lo; k < t[2].hi; k++ {
					inside = append(inside, (iz*in[1]+iy)*in[2]+p[2]*stride[2]-before[2]+k*dilation[2])
				}
			}
		}
		all := t[0].all * t[1].all * t[2].all
		for ch := range n {
			f(ch*outs+o, ch*channel, inside, all)
		}
	}
	return nil
}

// pool applies f to the inputs in every window and to the number of its places.
func (c *call) pool(w window, f func(x []float64, all int) float64) (*value, error) {
	x, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	var y *value
	var buffer []float64
	err = c.windows(x, w, func(shape []int) error {
		y, err = c.make(x.typ, shape)
		return err
	}, func(out, base int, inside []int, all int) {
		buffer = buffer[:0]
		for _, k := range inside {
			buffer = append(buffer, x.f[base+k])
		}
		y.f[out] = f(buffer, all)
	})
	return y, err
}

// maxPool is MaxPool: the largest of each window and where it lies, counted over all of the input.
func (c *call) maxPool(w window, columns bool) ([]*value, error) {
	x, err := c.any(0)
	if err != nil {
		return nil, err
	}
	if x.typ == tensor.Bool {
		return nil, fmt.Errorf("input 0 is %s, want numbers", x)
	}
	var y, index *value
	in := three(nil, 1)
	empty := false
	err = c.windows(x, w, func(shape []int) error {
		in = three(x.shape[2:], 1)
		if y, err = c.make(x.typ, shape); err != nil {
			return err
		}
		index, err = c.make(tensor.Int64, shape)
		return err
	}, func(out, base int, inside []int, _ int) {
		if len(inside) == 0 {
			empty = true
			return
		}
		best := inside[0]
		if x.float() {
			m := x.f[base+best]
			for _, k := range inside[1:] {
				if v := x.f[base+k]; v > m || v != v && m == m {
					best, m = k, v
				}
			}
		} else {
			for _, k := range inside[1:] {
				if x.before(base+best, base+k) {
					best = k
				}
			}
		}
		copyRange(y, out, x, base+best, 1)
		if columns { // as if the spatial axes were stored the other way round
			best = (best%in[2]*in[1]+best/in[2]%in[1])*in[0] + best/(in[1]*in[2])
		}
		index.i[out] = int64(base + best)
	})
	if err == nil && empty {
		err = errors.New("a window lies in the padding alone")
	}
	if err != nil {
		return nil, err
	}
	return []*value{y, index}, nil
}
