package action

import (
	"math"

	"nero/internal/elementary"
)

// fourier reads the trigonometric polynomial through the pixels: the picture is taken for one period of a periodic one,
// and its finite Fourier series is evaluated where an element says. It is exact for every map of pictures whose Fourier
// series ends below the Nyquist frequency and which go on around the border. The weights are Dirichlet kernels, so that
// no transform is needed: every pixel of the result is a sum over all pixels of the source, n⁴ products for a picture
// of n×n pixels.
//
// Under the rule reflect the period is the picture and its mirror image, 2n-2 pixels, and edge is reflect within and
// the border pixel outside; under zero it is the picture between as many zeros. Pictures with sharp edges ring.
var fourier = interpolation{name: Fourier, taps: 2, whole: (*warp).trigonometric}

// dirichlet is the trigonometric polynomial of period p that is 1 at 0 and 0 at the other whole numbers, at k + d; sine
// is sin(πd), and |d| at most 1/2.
func dirichlet(k int, d, sine float64, p int) float64 {
	// The nearest period, in whole numbers: near its ends the sines would cancel.
	if k %= p; k > p/2 {
		k -= p
	} else if k < -p/2 {
		k += p
	}
	s, c := elementary.Sincos(math.Pi * (float64(k) + d) / float64(p))
	if k == 0 && math.Abs(s) < 1e-100 {
		return 1
	}
	if k%2 != 0 {
		sine = -sine
	}
	if p%2 == 0 {
		return sine * c / (s * float64(p)) // half of the Nyquist frequency on either side
	}
	return sine / (s * float64(p))
}

// weights writes how much each of n samples counts at coordinate s.
func (b Border) weights(w []float64, s float64) {
	n := len(w)
	clear(w)
	p, from := n, 0
	switch b {
	case Circular:
	case Zero:
		if p = 2 * n; s < -float64(n)/2 || s > float64(1.5*float64(n))-1 {
			return
		}
	case Edge, Reflect:
		if b == Edge {
			s = min(max(s, 0), float64(n-1))
		}
		if p = 2*n - 2; n == 1 {
			w[0] = 1
			return
		}
		from = 1 - n + 1 // the mirror image of all but the ends
	}
	whole := math.Round(s)
	d := s - whole
	sine, at := elementary.Sin(math.Pi*d), int(math.Mod(whole, float64(p)))
	for j := from; j < n; j++ {
		w[max(j, -j)] += dirichlet(at-j, d, sine, p)
	}
}

// trigonometric writes n planes.
func (w *warp) trigonometric(dst, src []float64, n int, from []int) {
	b := w.scratch.take(w.ws + w.hs)
	defer w.scratch.put(b)
	wx, wy := (*b)[:w.ws], (*b)[w.ws:w.ws+w.hs]
	for r := range w.h {
		for c := range w.w {
			// What does not change along a row or a column is not worked out anew.
			if w.xc != 0 || w.xr != 0 && c == 0 || r == 0 && c == 0 {
				w.border.weights(wx, w.x0+float64(w.xr*float64(r))+float64(w.xc*float64(c)))
			}
			if w.yc != 0 || w.yr != 0 && c == 0 || r == 0 && c == 0 {
				w.border.weights(wy, w.y0+float64(w.yr*float64(r))+float64(w.yc*float64(c)))
			}
			for k := range n {
				s := w.source(src, k, from)
				sum := 0.0
				for i, v := range wy {
					if v == 0 {
						continue
					}
					line := 0.0
					for j, u := range s[i*w.ws : (i+1)*w.ws] {
						line += float64(wx[j] * u)
					}
					sum += float64(v * line)
				}
				dst[(k*w.h+r)*w.w+c] = sum
			}
		}
	}
}
