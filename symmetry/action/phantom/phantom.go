// Package phantom makes pictures from formulas, so that they can be drawn at moved coordinates without any
// interpolation.
//
// A phantom is a smooth function of the plane with a stated band limit: the fraction of the Nyquist frequency (half a
// cycle, or π radians, per pixel) that its spectrum stays below. Comparing what an action makes of a drawn phantom with
// the phantom drawn at moved coordinates gives the action's own error; white noise would make every kernel look bad.
package phantom

import (
	"fmt"
	"math"
	"math/rand/v2"

	"nero/data/space"
	"nero/internal/elementary"
)

// Phantom is a function of the plane.
type Phantom struct {
	Name string
	// At is the value at a point in pixels from the centre of the picture, x to the right, y down.
	At func(x, y float64) float64
}

// spread is the width σ, in pixels, of a Gaussian whose spectrum exp(-σ²k²/2) has fallen to e⁻⁸ ≈ 3.4e-4 of its peak at
// the band limit.
func spread(band float64) float64 { return 4 / (math.Pi * band) }

func check(band float64) {
	if !(band > 0 && band <= 1) {
		panic("phantom: the band limit is a fraction of Nyquist in (0,1]")
	}
}

// Waves is a sum of n plane waves with random directions, phases and frequencies. Wave vectors are uniform in the disc
// of radius band·π, so the band limit is strict; the variance is 1/2. It panics if band is not in (0,1] or n < 1.
func Waves(r *rand.Rand, band float64, n int) Phantom {
	check(band)
	if n < 1 {
		panic("phantom: at least one wave")
	}
	type wave struct{ kx, ky, phase float64 }
	ws := make([]wave, n)
	for i := range ws {
		k := band * math.Pi * math.Sqrt(r.Float64())
		s, c := elementary.Sincos(2 * math.Pi * r.Float64())
		ws[i] = wave{k * c, k * s, 2 * math.Pi * r.Float64()}
	}
	scale := 1 / math.Sqrt(float64(n))
	return Phantom{Name: fmt.Sprintf("waves(%g)", band), At: func(x, y float64) float64 {
		var v float64
		for _, w := range ws {
			v += elementary.Cos(float64(w.kx*x) + float64(w.ky*y) + w.phase)
		}
		return scale * v
	}}
}

// Gaussians is a sum of n round spots of random height in [-1,1] with centres uniform in the disc of the given radius
// in pixels. Their width is 4/(π·band) pixels, so the spectrum has fallen to 3.4e-4 of its peak at the band limit. It
// panics if band is not in (0,1] or n < 1.
func Gaussians(r *rand.Rand, band float64, n int, radius float64) Phantom {
	check(band)
	if n < 1 {
		panic("phantom: at least one spot")
	}
	type spot struct{ x, y, height float64 }
	ss := make([]spot, n)
	for i := range ss {
		d := radius * math.Sqrt(r.Float64())
		s, c := elementary.Sincos(2 * math.Pi * r.Float64())
		ss[i] = spot{d * c, d * s, 2*r.Float64() - 1}
	}
	f := 0.5 / (spread(band) * spread(band))
	return Phantom{Name: fmt.Sprintf("gaussians(%g)", band), At: func(x, y float64) float64 {
		var v float64
		for _, p := range ss {
			dx, dy := x-p.x, y-p.y
			v += float64(p.height * elementary.Exp(-f*(float64(dx*dx)+float64(dy*dy))))
		}
		return v
	}}
}

// Ellipse is 1 inside an ellipse and 0 outside, with an edge as soft as the band limit asks for: the edge profile along
// the shorter half axis is the integral of the Gaussian of [Gaussians]. The ellipse lies at (x, y), has the half axes a
// and b in pixels and its first axis is turned by angle degrees, counter-clockwise as displayed. It panics if band is
// not in (0,1] or a half axis is not positive.
func Ellipse(band, x, y, a, b, angle float64) Phantom {
	check(band)
	if !(a > 0 && b > 0) {
		panic("phantom: half axes are positive")
	}
	s, c := elementary.Sincos(angle * math.Pi / 180)
	f := min(a, b) / (spread(band) * math.Sqrt2)
	return Phantom{Name: fmt.Sprintf("ellipse(%g)", band), At: func(px, py float64) float64 {
		dx, dy := px-x, py-y
		u, v := (float64(c*dx)-float64(s*dy))/a, (float64(s*dx)+float64(c*dy))/b
		return 0.5 * elementary.Erfc(f*(elementary.Hypot(u, v)-1))
	}}
}

// Render draws phantoms, one per channel, moved by p -> A·p + t: pixel q of h rows and w columns shows the phantom at
// A⁻¹(q-t). It panics if A has no inverse.
func Render(h, w int, a [2][2]float64, t [2]float64, channels ...Phantom) *space.Image {
	det := float64(a[0][0]*a[1][1]) - float64(a[0][1]*a[1][0])
	if det == 0 {
		panic("phantom: the map has no inverse")
	}
	m := space.NewImage(len(channels), h, w)
	cx, cy := float64(w-1)/2, float64(h-1)/2
	for k, f := range channels {
		plane := m.Plane(k)
		for r := range h {
			for c := range w {
				x, y := float64(c)-cx-t[0], float64(r)-cy-t[1]
				plane[r*w+c] = f.At((float64(a[1][1]*x)-float64(a[0][1]*y))/det,
					(float64(a[0][0]*y)-float64(a[1][0]*x))/det)
			}
		}
	}
	return m
}

// Draw draws phantoms, one per channel, where they are.
func Draw(h, w int, channels ...Phantom) *space.Image {
	return Render(h, w, [2][2]float64{{1, 0}, {0, 1}}, [2]float64{}, channels...)
}

// Disc marks the pixels of an h×w picture whose centres lie within share·R of the picture's centre, where R is half the
// shorter side in pixels.
func Disc(h, w int, share float64) []bool {
	o := make([]bool, h*w)
	r := share * float64(min(h, w)) / 2
	for i := range h {
		for j := range w {
			o[i*w+j] = elementary.Hypot(float64(j)-float64(w-1)/2, float64(i)-float64(h-1)/2) <= r
		}
	}
	return o
}

// Difference is the L2 norm of a-b over the marked pixels of all channels, relative to that of b; NaN if sizes differ,
// if nothing is marked or if b vanishes there.
func Difference(a, b *space.Image, mask []bool) float64 {
	if a.C != b.C || a.H != b.H || a.W != b.W || len(mask) != a.H*a.W {
		return math.NaN()
	}
	var num, den float64
	for k := range a.C {
		p, q := a.Plane(k), b.Plane(k)
		for i, in := range mask {
			if in {
				num += float64((p[i] - q[i]) * (p[i] - q[i]))
				den += float64(q[i] * q[i])
			}
		}
	}
	return math.Sqrt(num / den)
}
