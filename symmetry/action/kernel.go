package action

import (
	"math"

	"nero/internal/elementary"
)

// maxTaps is the number of samples per axis of the widest kernel.
const maxTaps = 6

// interpolation is all that this package knows of a kernel.
type interpolation struct {
	name Kernel
	// samples per axis that are weighed
	taps int
	// weigh is the weights at the fraction f in [0,1) behind sample i. The taps are the samples i-(n/2-1) … i+n/2 with
	// n = taps; the weights sum to 1.
	weigh func(f float64) [maxTaps]float64
	// whole writes n planes of a picture, of kernels that are no product of weights along the axes; nil for all others.
	whole func(w *warp, dst, src []float64, n int, from []int)
	// bare counts the pixels that the border has a part in, nil for what taps say.
	bare func(w *warp) int
	// never says that no element acts by index, because the kernel changes every picture.
	never bool
}

// interpolations are the kernels in the order of their cost.
var interpolations = []*interpolation{
	&nearestKernel, &bilinearKernel, &bicubicKernel, &splineKernel, &lanczosKernel, &quintic, &area, &up3Kernel,
	&fourier,
}

// rule is what is known of a kernel; [Bilinear] stands in for one that [Options] would have refused.
func (k Kernel) rule() *interpolation {
	for _, i := range interpolations {
		if i.name == k {
			return i
		}
	}
	return &bilinearKernel
}

// taps is the number of samples per axis that a kernel weighs.
func (k Kernel) taps() int { return k.rule().taps }

var nearestKernel = interpolation{
	name: Nearest, taps: 1, weigh: func(float64) [maxTaps]float64 { return [maxTaps]float64{1} },
}

var bilinearKernel = interpolation{
	name: Bilinear, taps: 2, weigh: func(f float64) [maxTaps]float64 { return [maxTaps]float64{1 - f, f} },
}

var up3Kernel = interpolation{name: Up3, taps: 2, weigh: bilinearKernel.weigh, whole: (*warp).enlarged, never: true}

// bicubicKernel: Keys, IEEE Trans. ASSP 29 (1981) 1153, eq. 15 with a = -1/2: reproduces quadratics.
var bicubicKernel = interpolation{
	name: Bicubic, taps: 4,
	weigh: func(f float64) (w [maxTaps]float64) {
		w[0] = f * (-0.5 + float64(f*(1-float64(0.5*f))))
		w[1] = 1 + float64(f*f*(-2.5+float64(1.5*f)))
		w[2] = f * (0.5 + float64(f*(2-float64(1.5*f))))
		w[3] = f * f * (-0.5 + float64(0.5*f))
		return w
	},
}

// splineKernel is the cubic B-spline: Unser, IEEE Signal Proc. Mag. 16/6 (1999) 22, eq. 3.
var splineKernel = interpolation{
	name: Spline, taps: 4,
	weigh: func(f float64) (w [maxTaps]float64) {
		h := 1 - f
		w[0] = h * h * h / 6
		w[1] = (4 - float64(f*f*(6-float64(3*f)))) / 6
		w[2] = (4 - float64(h*h*(6-float64(3*h)))) / 6
		w[3] = f * f * f / 6
		return w
	},
}

var lanczosKernel = interpolation{
	name: Lanczos, taps: 6,
	weigh: func(f float64) (w [maxTaps]float64) {
		lanczos(f, &w)
		return w
	},
}

// lanczos writes sinc(x)·sinc(x/3) at x = f+2, f+1, f, f-1, f-2, f-3, divided by their sum (Duchon, J. Appl. Meteorol.
// 18 (1979) 1016). Without the division a constant picture would show ripples of about one percent.
func lanczos(f float64, w *[maxTaps]float64) {
	if f > 0.5 { // near 1 the sines would cancel; the mirrored weights are computed without loss
		lanczos(1-f, w)
		w[0], w[1], w[2], w[3], w[4], w[5] = w[5], w[4], w[3], w[2], w[1], w[0]
		return
	}
	if f < 1e-100 { // f² underflows; the weights differ from these by less than 1e-99
		*w = [maxTaps]float64{2: 1}
		return
	}
	const halfSqrt3 = 0.866025403784438646763723170752936183
	s := elementary.Sin(math.Pi * f) // sin(π(f+j)) = ±s
	s3, c3 := elementary.Sincos(math.Pi / 3 * f)
	plus := float64(0.5*s3) + float64(halfSqrt3*c3)   // sin(π/3·(f+1)) = -sin(π/3·(f-2))
	plus2 := float64(-0.5*s3) + float64(halfSqrt3*c3) // sin(π/3·(f+2)) = -sin(π/3·(f-1))
	w[0] = s * plus2 / ((f + 2) * (f + 2))
	w[1] = -s * plus / ((f + 1) * (f + 1))
	w[2] = s * s3 / (f * f)
	w[3] = s * plus2 / ((f - 1) * (f - 1)) // both sines change sign
	w[4] = -s * plus / ((f - 2) * (f - 2)) // only the slow sine changes sign
	w[5] = s * s3 / ((f - 3) * (f - 3))    // both sines change sign
	sum := w[0] + w[1] + w[2] + w[3] + w[4] + w[5]
	for i := range w {
		w[i] /= sum
	}
}

// index maps sample i of an axis of n samples into the picture; -1 means outside under the rule Zero.
func (b Border) index(i, n int) int {
	if uint(i) < uint(n) {
		return i
	}
	switch b {
	case Edge:
		return min(max(i, 0), n-1)
	case Reflect:
		if n == 1 {
			return 0
		}
		p := 2 * (n - 1)
		if i %= p; i < 0 {
			i += p
		}
		return min(i, p-i)
	case Circular:
		if i %= n; i < 0 {
			i += n
		}
		return i
	case Zero:
	}
	return -1
}

// axisTaps writes the sample numbers and weights with which an axis of n samples is read at coordinate s. Samples
// outside under the rule Zero get weight 0 and a number inside.
func axisTaps(k Kernel, b Border, s float64, n int, idx *[maxTaps]int32, w *[maxTaps]float64) {
	if k == Nearest {
		s = math.Floor(s + 0.5)
	}
	if k == Spline && b == Edge {
		// The B-spline runs on the mirrored picture; beyond the border pixel the value stays that of the border pixel.
		s, b = min(max(s, 0), float64(n-1)), Reflect
	}
	fl := math.Floor(s)
	r := k.rule()
	*w = r.weigh(s - fl)
	t := r.taps
	i0 := int(fl) - (t-1)/2
	for j := range t {
		i := b.index(i0+j, n)
		if i < 0 {
			i = min(max(i0+j, 0), n-1)
			if k == Spline {
				w[j] *= pole(i0 + j - i) // the coefficients of a picture that continues with zeros decay outside
			} else {
				w[j] = 0
			}
		}
		idx[j] = int32(i)
	}
}

// splinePole is the pole of the cubic B-spline prefilter, √3 - 2.
const splinePole = -0.267949192431122706472553658494127633

// splineTail is the number of samples after which a power of the pole is below 1e-17.
const splineTail = 30

// pole is splinePole to the power |d|.
func pole(d int) float64 {
	if d < 0 {
		d = -d
	}
	if d > splineTail {
		return 0
	}
	p := 1.0
	for range d {
		p *= splinePole
	}
	return p
}

// prefilter turns samples (h rows, w columns, row-major) into the coefficients of the interpolating cubic B-spline, in
// place.
func prefilter(b Border, x []float64, h, w int) {
	for r := range h {
		prefilterRows(b, x[r*w:(r+1)*w], w, 1)
	}
	prefilterRows(b, x, h, w)
}

// prefilterRows runs the recursive filter down n rows of length m, all columns at once: Unser 1999, box 2, with the
// start values of the infinite picture that the border rule describes. Edge uses the mirrored picture, see axisTaps.
func prefilterRows(b Border, x []float64, n, m int) {
	const z = splinePole
	if n == 1 && b != Zero {
		return // constant along the axis: the coefficients are the samples
	}
	row := func(i int) []float64 { return x[i*m : (i+1)*m] }
	for i := range x {
		x[i] *= 6 // (1-z)(1-1/z)
	}
	// Causal start: Σ z^k x[-k] over the extended picture. Terms beyond splineTail do not change a float64.
	first := row(0)
	switch b {
	case Zero:
	case Circular:
		zk := 1.0
		for k := 1; k < n && k <= splineTail; k++ {
			zk *= z
			axpy(first, zk, row(n-k))
		}
		scale(first, 1/(1-pole(n)))
	case Reflect, Edge:
		last := 2*n - 2 // period
		for k := 1; k < n && k <= splineTail; k++ {
			zk := pole(k)
			if k < n-1 {
				zk += pole(last - k)
			}
			axpy(first, zk, row(k))
		}
		scale(first, 1/(1-pole(last)))
	}
	for i := 1; i < n; i++ {
		axpy(row(i), z, row(i-1))
	}
	end := row(n - 1)
	switch b {
	case Zero:
		scale(end, z/(z*z-1))
	case Circular:
		zk := 1.0
		for k := 1; k < n && k <= splineTail; k++ {
			zk *= z
			axpy(end, zk, row(k-1))
		}
		scale(end, -z/(1-pole(n)))
	case Reflect, Edge:
		axpy(end, z, row(n-2))
		scale(end, z/(z*z-1))
	}
	for i := n - 2; i >= 0; i-- {
		below, here := row(i+1), row(i)
		for j, v := range here {
			here[j] = z * (below[j] - v)
		}
	}
}

func axpy(y []float64, a float64, x []float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float64(a * x[i])
	}
}

func scale(y []float64, a float64) {
	for i := range y {
		y[i] *= a
	}
}
