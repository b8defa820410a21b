package oracle

import (
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx/facts"
)

// linearOps are matrix products and convolutions.
func linearOps() map[string][]entry {
	return map[string][]entry{
		"MatMul": {{since: 1, least: 2, most: 2, outs: 1, build: func(*attrs) kernel {
			return one(func(c *call) (*value, error) { return c.matMul(c.in[0], c.in[1]) })
		}}},
		"Gemm":          {{since: 1, least: 2, most: 3, outs: 1, build: gemm}},
		"Conv":          {{since: 1, least: 2, most: 3, outs: 1, build: conv}},
		"ConvTranspose": {{since: 1, least: 2, most: 3, outs: 1, build: convTranspose}},
		"Einsum": {{since: 12, least: 1, most: -1, outs: 1, build: func(a *attrs) kernel {
			e := parseEinsum(a)
			return one(func(c *call) (*value, error) { return c.einsum(e) })
		}}},
		"Det": {{since: 11, least: 1, most: 1, outs: 1, build: func(*attrs) kernel { return one(determinants) }}},
	}
}

// operand is a floating-point input of a product as the products of this precision read it.
func (c *call) operand(k int) (*value, error) {
	x, err := c.floats(k)
	if err != nil || c.round != TF32 {
		return x, err
	}
	y, err := c.clone(x)
	if err != nil {
		return nil, err
	}
	TF32.roundAll(y.f)
	return y, nil
}

// narrow is the number of columns below which a product is computed by dot products.
const narrow = 16

// multiply adds the product of a (m rows of k) and b (k rows of n) to out (m rows of n). In a run that rounds, products
// and sums are float32, in which machines add up products of narrower numbers too.
func (r *runner) multiply(m, n, k int, a, b, out []float64) {
	blas := library()
	if r.round == Float64 {
		multiply64(m, n, k, a[:m*k], b[:k*n], out[:m*n])
		return
	}
	y := to32(out[:m*n])
	mulAdd(m, n, k, to32(a[:m*k]), to32(b[:k*n]), y, blas.Saxpy, blas.Sdot)
	for i, v := range y {
		out[i] = float64(v)
	}
}

// multiply64 is multiply in float64.
func multiply64(m, n, k int, a, b, out []float64) {
	blas := library()
	if n < narrow && k >= narrow {
		mulAdd(m, n, k, a, b, out, blas.Daxpy, blas.Ddot)
		return
	}
	rows, columns := multiplyTiles(m, n, k, a, b, out)
	finite := 0
	if columns > 0 && columns < n {
		mulStrip(columns, n-columns, rows, n, k, a, b, out, blas.Daxpy, &finite)
	}
	mulAdd(m-rows, n, k, a[rows*k:], b, out[rows*n:], blas.Daxpy, blas.Ddot)
}

func to32(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// mulAdd adds a times b to out. Every element is a sum in the order of k, starting from what is there; wide products
// add a multiple of a row of b at a time. NaN and infinities in b count even where a is zero, which the library's own
// product would pass over.
func mulAdd[T float32 | float64](m, n, k int, a, b, out []T,
	axpy func(n int, alpha T, x []T, incX int, y []T, incY int),
	dot func(n int, x []T, incX int, y []T, incY int) T,
) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if n < narrow && k >= narrow {
		column := make([]T, k)
		for j := range n {
			for l := range column {
				column[l] = b[l*n+j]
			}
			for i := range m {
				out[i*n+j] += dot(k, a[i*k:], 1, column, 1)
			}
		}
		return
	}
	// finite is 0 while it is not known whether all of b is.
	finite := 0
	for at := 0; at < n; at += strip {
		mulStrip(at, min(strip, n-at), m, n, k, a, b, out, axpy, &finite)
	}
}

// strip is how many columns of a product are computed at a time, so that what is read again for every row lies near.
const strip = 256

// mulStrip is mulAdd of some columns, those from at on. All of b is looked at for what is not finite, and only once.
func mulStrip[T float32 | float64](at, width, m, n, k int, a, b, out []T,
	axpy func(n int, alpha T, x []T, incX int, y []T, incY int), known *int,
) {
	finite := *known
	for i := range m {
		row := out[i*n+at:][:width]
		for l, v := range a[i*k:][:k] {
			from := b[l*n+at:][:width]
			if v != 0 {
				if width < 4 {
					for j, w := range from {
						row[j] += T(v * w) //nolint:unconvert // rounds on every machine
					}
				} else {
					axpy(width, v, from, 1, row, 1)
				}
				continue
			}
			if finite == 0 {
				finite = 1
				for _, w := range b {
					if w-w != 0 {
						finite = -1
						break
					}
				}
			}
			if finite < 0 {
				for j, w := range from {
					row[j] += T(v * w) //nolint:unconvert // rounds on every machine
				}
			}
		}
	}
	*known = finite
}

// turned is the transpose of a matrix of m rows of n.
func (b *budget) turned(x []float64, m, n int) ([]float64, error) {
	y, err := b.scratch(n, m)
	if err != nil {
		return nil, err
	}
	for i := range m {
		for j := range n {
			y[j*m+i] = x[i*n+j]
		}
	}
	return y, nil
}

func (c *call) matMul(x, y *value) (*value, error) {
	if x.rank() == 0 || y.rank() == 0 || x.typ == tensor.Bool || c.same(x, y) != nil {
		return nil, fmt.Errorf("inputs are %s and %s, want matrices of one type", x, y)
	}
	a, b := x.shape, y.shape
	if len(a) == 1 {
		a = []int{1, a[0]}
	}
	if len(b) == 1 {
		b = []int{b[0], 1}
	}
	m, k, n := a[len(a)-2], a[len(a)-1], b[len(b)-1]
	if b[len(b)-2] != k {
		return nil, fmt.Errorf("%s times %s", x, y)
	}
	batch, err := broadcast(a[:len(a)-2], b[:len(b)-2])
	if err != nil {
		return nil, err
	}
	out, err := c.make(x.typ, slices.Concat(batch, []int{m, n}))
	if err != nil {
		return nil, err
	}
	if x.float() {
		if x, err = c.operand(0); err != nil {
			return nil, err
		}
		if y, err = c.operand(1); err != nil {
			return nil, err
		}
	}
	at := 0
	walk(batch, [][]int{spread(a[:len(a)-2], batch), spread(b[:len(b)-2], batch)}, func(o []int) {
		if x.float() {
			c.multiply(m, n, k, x.f[o[0]*m*k:], y.f[o[1]*k*n:], out.f[at:])
		} else {
			for i := range m {
				for j := range n {
					var s int64
					for l := range k {
						s += x.i[o[0]*m*k+i*k+l] * y.i[o[1]*k*n+l*n+j]
					}
					out.i[at+i*n+j] = wrap(x.typ, s)
				}
			}
		}
		at += m * n
	})
	shape := slices.Clone(batch)
	if x.rank() > 1 {
		shape = append(shape, m)
	}
	if y.rank() > 1 {
		shape = append(shape, n)
	}
	out.shape = shape
	return out, nil
}

func gemm(a *attrs) kernel {
	alpha, beta, ta, tb := a.float("alpha", 1), a.float("beta", 1), a.flag("transA", false), a.flag("transB", false)
	if a.opset < 7 {
		a.flag("broadcast", false) // both mean the broadcasting of today where the file is right
	}
	return one(func(c *call) (*value, error) {
		x, err := c.operand(0)
		if err != nil {
			return nil, err
		}
		y, err := c.operand(1)
		if err != nil {
			return nil, err
		}
		if x.rank() != 2 || y.rank() != 2 {
			return nil, fmt.Errorf("inputs are %s and %s, want matrices", x, y)
		}
		m, k, n, k2 := x.shape[0], x.shape[1], y.shape[1], y.shape[0]
		xs, ys := x.f, y.f
		if ta {
			m, k = k, m
			if xs, err = c.turned(xs, k, m); err != nil {
				return nil, err
			}
		}
		if tb {
			n, k2 = k2, n
			if ys, err = c.turned(ys, n, k2); err != nil {
				return nil, err
			}
		}
		if k != k2 {
			return nil, fmt.Errorf("%s times %s with transA=%v, transB=%v", x, y, ta, tb)
		}
		out, err := c.make(x.typ, []int{m, n})
		if err != nil {
			return nil, err
		}
		c.multiply(m, n, k, xs, ys, out.f)
		if alpha != 1 {
			for i := range out.f {
				out.f[i] *= alpha
			}
		}
		if c.at(2) == nil {
			return out, nil
		}
		bias, err := c.floats(2)
		if err != nil {
			return nil, err
		}
		if s, err := broadcast(out.shape, bias.shape); err != nil || !slices.Equal(s, out.shape) {
			return nil, fmt.Errorf("input 2 is %s, want something that broadcasts to %v", bias, out.shape)
		}
		zip(out.shape, out, bias, func(k, _, _, b, sb, n int) {
			for j := range n {
				out.f[k+j] += float64(beta * bias.f[b+j*sb])
			}
		})
		return out, nil
	})
}

// window is the geometry of a convolution or a pooling along the spatial axes.
type window struct {
	kernel, stride, dilation []int
	// first all beginnings, then all ends
	pads []int
	auto string
	ceil bool
}

// readWindow reads the attributes; any list may be missing.
func readWindow(a *attrs) window {
	return window{
		kernel: a.lengths("kernel_shape", 1), stride: a.lengths("strides", 1), dilation: a.lengths("dilations", 1),
		pads: a.lengths("pads", 0), auto: a.choice("auto_pad", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
	}
}

// maxSpatial is the largest number of spatial axes.
const maxSpatial = 3

// fit completes the geometry for spatial axes of the given lengths and kernel.
func (w window) fit(in, kernel []int) (window, []int, error) {
	r := len(in)
	if r < 1 || r > maxSpatial {
		return w, nil, fmt.Errorf("%d spatial axes, known are 1 to %d", r, maxSpatial)
	}
	if w.kernel != nil && !slices.Equal(w.kernel, kernel) {
		return w, nil, fmt.Errorf("kernel_shape %v for a kernel %v", w.kernel, kernel)
	}
	w.kernel = kernel
	if w.stride == nil {
		w.stride = slices.Repeat([]int{1}, r)
	}
	if w.dilation == nil {
		w.dilation = slices.Repeat([]int{1}, r)
	}
	if w.pads == nil || w.auto != "NOTSET" {
		w.pads = make([]int, 2*r)
	}
	if len(kernel) != r || len(w.stride) != r || len(w.dilation) != r || len(w.pads) != 2*r {
		return w, nil, fmt.Errorf("kernel %v, strides %v, dilations %v and pads %v for %d spatial axes", kernel,
			w.stride, w.dilation, w.pads, r)
	}
	for k := range in {
		if kernel[k] < 1 || (kernel[k]-1)*w.dilation[k]+1 > size {
			return w, nil, fmt.Errorf("kernel %v with dilations %v", kernel, w.dilation)
		}
	}
	pads := slices.Clone(w.pads)
	at := facts.Window{
		Kernel: kernel, Stride: w.stride, Dilation: w.dilation, Begin: pads[:r], End: pads[r:], In: in,
	}
	if err := at.Slide(w.auto, w.ceil); err != nil {
		return w, nil, err
	}
	w.pads = pads
	return w, at.Out, nil
}

// three is a list with ones before it, for three axes.
func three(x []int, one int) [3]int {
	out := [3]int{one, one, one}
	copy(out[3-len(x):], x)
	return out
}

// span are the outputs lo..hi-1 whose place o*stride+offset lies in 0..n-1.
func span(offset, stride, n, out int) (lo, hi int) {
	if offset < 0 {
		lo = (-offset + stride - 1) / stride
	}
	if n > offset {
		hi = (n-1-offset)/stride + 1
	}
	lo = min(lo, out)
	return lo, max(min(hi, out), lo)
}

// patches fills to with one row for each element of the kernel over all channels, of the inputs that it meets for the
// output rows z0..z1-1 of the first of the three axes.
func patches(to, x []float64, channels int, in, out, kernel [3]int, w window, z0, z1 int) {
	r := len(w.kernel)
	stride, dilation := three(w.stride, 1), three(w.dilation, 1)
	before := three(w.pads[:r], 0)
	plane, width := out[1]*out[2], (z1-z0)*out[1]*out[2]
	at := 0
	for ch := range channels {
		base := ch * in[0] * in[1] * in[2]
		for a := range kernel[0] {
			for b := range kernel[1] {
				for d := range kernel[2] {
					row := to[at:][:width]
					at += width
					clear(row)
					oz, oy, ox := a*dilation[0]-before[0], b*dilation[1]-before[1], d*dilation[2]-before[2]
					ylo, yhi := span(oy, stride[1], in[1], out[1])
					xlo, xhi := span(ox, stride[2], in[2], out[2])
					if xlo == xhi {
						continue
					}
					for z := z0; z < z1; z++ {
						iz := z*stride[0] + oz
						if iz < 0 || iz >= in[0] {
							continue
						}
						for y := ylo; y < yhi; y++ {
							src := x[base+(iz*in[1]+y*stride[1]+oy)*in[2]:][:in[2]]
							dst := row[(z-z0)*plane+y*out[2]:][:out[2]]
							if stride[2] == 1 {
								copy(dst[xlo:xhi], src[xlo+ox:xhi+ox])
								continue
							}
							for k := xlo; k < xhi; k++ {
								dst[k] = src[k*stride[2]+ox]
							}
						}
					}
				}
			}
		}
	}
}

// tile is the number of elements of the patches that are laid out at a time.
const tileElements = 1 << 17

func conv(a *attrs) kernel {
	geometry, groups := readWindow(a), a.int("group", 1)
	if groups < 1 {
		a.fail("attribute group is %d", groups)
		groups = 1
	}
	return one(func(c *call) (*value, error) {
		x, err := c.operand(0)
		if err != nil {
			return nil, err
		}
		w, err := c.operand(1)
		if err != nil {
			return nil, err
		}
		if x.rank() < 3 || w.rank() != x.rank() || x.shape[1]%groups != 0 || w.shape[1] != x.shape[1]/groups ||
			w.shape[0]%groups != 0 {
			return nil, fmt.Errorf("input %s with the kernel %s in %d groups", x, w, groups)
		}
		win, spatial, err := geometry.fit(x.shape[2:], w.shape[2:])
		if err != nil {
			return nil, err
		}
		out, err := c.make(x.typ, slices.Concat([]int{x.shape[0], w.shape[0]}, spatial))
		if err != nil {
			return nil, err
		}
		if c.at(2) != nil {
			bias, err := c.vectorOf(2, w.shape[0])
			if err != nil {
				return nil, err
			}
			for k, n := 0, product(spatial); k*n < len(out.f); k++ {
				b := bias[k%len(bias)]
				for j := range n {
					out.f[k*n+j] = b
				}
			}
		}
		if out.len() == 0 {
			return out, nil
		}
		return out, c.convolve(x, w, out, win, groups)
	})
}

// convolve adds the convolution of x and w to out: patches times kernels, some rows of the output at a time.
func (c *call) convolve(x, w, out *value, win window, groups int) error {
	in, kern, spatial := three(x.shape[2:], 1), three(w.shape[2:], 1), three(out.shape[2:], 1)
	// One or two spatial axes are cut along the first that is there.
	if in[0] == 1 && kern[0] == 1 && spatial[0] == 1 && len(win.kernel) == 2 {
		in, kern, spatial = [3]int{in[1], 1, in[2]}, [3]int{kern[1], 1, kern[2]}, [3]int{spatial[1], 1, spatial[2]}
		win = window{
			kernel: kern[:], stride: []int{win.stride[0], 1, win.stride[1]},
			dilation: []int{win.dilation[0], 1, win.dilation[1]},
			pads:     []int{win.pads[0], 0, win.pads[1], win.pads[2], 0, win.pads[3]},
		}
	}
	channels, filters := w.shape[1], w.shape[0]/groups
	depth := channels * product(w.shape[2:])
	plane := spatial[1] * spatial[2]
	step := min(max(tileElements/max(depth*plane, 1), 1), spatial[0])
	buffer, err := c.scratch(depth, step, plane)
	if err != nil {
		return err
	}
	part, err := c.scratch(filters, step, plane)
	if err != nil {
		return err
	}
	inLen, outLen := product(x.shape[2:]), product(out.shape[2:])
	for g := range x.shape[0] * groups {
		src := x.f[g*channels*inLen:][:channels*inLen]
		dst := out.f[g*filters*outLen:][:filters*outLen]
		kernels := w.f[g%groups*filters*depth:][:filters*depth]
		for z := 0; z < spatial[0]; z += step {
			end := min(z+step, spatial[0])
			n := (end - z) * plane
			patches(buffer, src, channels, in, spatial, kern, win, z, end)
			for f := range filters {
				copy(part[f*n:][:n], dst[f*outLen+z*plane:])
			}
			c.multiply(filters, n, depth, kernels, buffer, part)
			for f := range filters {
				copy(dst[f*outLen+z*plane:][:n], part[f*n:])
			}
		}
	}
	return nil
}

func convTranspose(a *attrs) kernel {
	geometry, groups := readWindow(a), a.int("group", 1)
	shape, extra := a.lengths("output_shape", 1), a.lengths("output_padding", 0)
	if groups < 1 {
		a.fail("attribute group is %d", groups)
		groups = 1
	}
	return one(func(c *call) (*value, error) {
		x, err := c.operand(0)
		if err != nil {
			return nil, err
		}
		w, err := c.operand(1)
		if err != nil {
			return nil, err
		}
		if x.rank() < 3 || w.rank() != x.rank() || x.shape[1]%groups != 0 || w.shape[0] != x.shape[1] {
			return nil, fmt.Errorf("input %s with the kernel %s in %d groups", x, w, groups)
		}
		win, spatial, err := geometry.grow(x.shape[2:], w.shape[2:], shape, extra)
		if err != nil {
			return nil, err
		}
		filters := w.shape[1]
		out, err := c.make(x.typ, slices.Concat([]int{x.shape[0], filters * groups}, spatial))
		if err != nil {
			return nil, err
		}
		if out.len() > 0 && x.len() > 0 {
			if err := c.spreadOut(x, w, out, win, groups); err != nil {
				return nil, err
			}
		}
		if c.at(2) == nil {
			return out, nil
		}
		bias, err := c.vectorOf(2, filters*groups)
		if err != nil {
			return nil, err
		}
		for k, n := 0, product(spatial); k*n < len(out.f); k++ {
			for j := range n {
				out.f[k*n+j] += bias[k%len(bias)]
			}
		}
		return out, nil
	})
}

// grow completes the geometry of a transposed convolution.
func (w window) grow(in, kernel, shape, extra []int) (window, []int, error) {
	r := len(in)
	if r < 1 || r > maxSpatial {
		return w, nil, fmt.Errorf("%d spatial axes, known are 1 to %d", r, maxSpatial)
	}
	if w.kernel != nil && !slices.Equal(w.kernel, kernel) {
		return w, nil, fmt.Errorf("kernel_shape %v for a kernel %v", w.kernel, kernel)
	}
	w.kernel = kernel
	if w.stride == nil {
		w.stride = slices.Repeat([]int{1}, r)
	}
	if w.dilation == nil {
		w.dilation = slices.Repeat([]int{1}, r)
	}
	if extra == nil {
		extra = make([]int, r)
	}
	if len(shape) == r+2 { // some files state batch and channels too
		shape = shape[2:]
	}
	computed := w.pads == nil || w.auto != "NOTSET"
	if computed {
		w.pads = make([]int, 2*r)
	} else {
		w.pads = slices.Clone(w.pads)
	}
	if len(w.stride) != r || len(w.dilation) != r || len(w.pads) != 2*r || len(extra) != r || shape != nil &&
		len(shape) != r {
		return w, nil, fmt.Errorf(
			"strides %v, dilations %v, pads %v, output_padding %v and output_shape %v for %d spatial axes",
			w.stride, w.dilation, w.pads, extra, shape, r)
	}
	out := make([]int, r)
	for k, n := range in {
		if kernel[k] < 1 || n < 1 {
			return w, nil, fmt.Errorf("kernel %v on %v", kernel, in)
		}
		full := (n-1)*w.stride[k] + extra[k] + (kernel[k]-1)*w.dilation[k] + 1
		switch {
		case shape != nil:
			out[k] = shape[k]
		case w.auto == "SAME_UPPER" || w.auto == "SAME_LOWER":
			out[k] = n * w.stride[k]
		default:
			out[k] = full - w.pads[k] - w.pads[r+k]
		}
		if shape != nil || w.auto == "SAME_UPPER" || w.auto == "SAME_LOWER" {
			total := max(full-out[k], 0)
			w.pads[k] = total / 2
			if w.auto == "SAME_UPPER" {
				w.pads[k] = total / 2
			} else if shape != nil && w.auto != "SAME_UPPER" || w.auto == "SAME_LOWER" {
				w.pads[k] = total - total/2
			}
			w.pads[r+k] = total - w.pads[k]
		}
		if out[k] < 1 || full > size {
			return w, nil, fmt.Errorf("the output %v has nothing along axis %d", out, k)
		}
	}
	return w, out, nil
}

// spreadOut adds the transposed convolution of x and w to out.
func (c *call) spreadOut(x, w, out *value, win window, groups int) error {
	in, spatial, kern := three(x.shape[2:], 1), three(out.shape[2:], 1), three(w.shape[2:], 1)
	stride, dilation, before := three(win.stride, 1), three(win.dilation, 1), three(win.pads[:len(win.kernel)], 0)
	channels, filters := x.shape[1]/groups, w.shape[1]
	inLen, outLen, kernLen := product(x.shape[2:]), product(out.shape[2:]), product(w.shape[2:])
	column, err := c.scratch(filters*kernLen, inLen)
	if err != nil {
		return err
	}
	turned := make([][]float64, groups)
	for g := range turned {
		if turned[g], err = c.turned(w.f[g*channels*filters*kernLen:], channels, filters*kernLen); err != nil {
			return err
		}
	}
	for g := range x.shape[0] * groups {
		clear(column)
		c.multiply(filters*kernLen, inLen, channels, turned[g%groups], x.f[g*channels*inLen:], column)
		at := 0
		for f := range filters {
			dst := out.f[(g*filters+f)*outLen:][:outLen]
			for p := range kernLen {
				oz := p/(kern[1]*kern[2])*dilation[0] - before[0]
				oy := p/kern[2]%kern[1]*dilation[1] - before[1]
				ox := p%kern[2]*dilation[2] - before[2]
				for z := range in[0] {
					for y := range in[1] {
						row := column[at:][:in[2]]
						at += in[2]
						tz, ty := z*stride[0]+oz, y*stride[1]+oy
						if tz < 0 || tz >= spatial[0] || ty < 0 || ty >= spatial[1] {
							continue
						}
						to := dst[(tz*spatial[1]+ty)*spatial[2]:][:spatial[2]]
						lo, hi := span(ox, stride[2], spatial[2], in[2])
						for k := lo; k < hi; k++ {
							to[k*stride[2]+ox] += row[k]
						}
					}
				}
			}
		}
	}
	return nil
}

// determinants of matrices, by elimination with pivots.
func determinants(c *call) (*value, error) {
	x, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	r := x.rank()
	if r < 2 || x.shape[r-1] != x.shape[r-2] {
		return nil, fmt.Errorf("input 0 is %s, want square matrices", x)
	}
	n := x.shape[r-1]
	y, err := c.make(x.typ, x.shape[:r-2])
	if err != nil {
		return nil, err
	}
	m, err := c.scratch(n, n)
	if err != nil {
		return nil, err
	}
	for at := range y.f {
		copy(m, x.f[at*n*n:])
		det := 1.0
		for k := range n {
			best := k
			for i := k + 1; i < n; i++ {
				if math.Abs(m[i*n+k]) > math.Abs(m[best*n+k]) {
					best = i
				}
			}
			if best != k {
				det = -det
				for j := range n {
					m[k*n+j], m[best*n+j] = m[best*n+j], m[k*n+j]
				}
			}
			det *= m[k*n+k]
			if m[k*n+k] == 0 {
				continue
			}
			for i := k + 1; i < n; i++ {
				q := m[i*n+k] / m[k*n+k]
				for j := k; j < n; j++ {
					m[i*n+j] -= float64(q * m[k*n+j])
				}
			}
		}
		y.f[at] = det
	}
	return y, nil
}
