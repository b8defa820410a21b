package particle

import (
	"fmt"
	"math"
	"math/rand/v2"

	"nero/internal/elementary"
)

// maxSide bounds the sides of a picture in px.
const maxSide = 1 << 13

// Optics says what particles there are and how they are seen.
type Optics struct {
	// particles a pixel
	Density float64
	// mean diameter of the spots at e⁻² of their brightness, px
	Diameter float64
	// standard deviation of the diameter, px; diameters below a quarter of the mean are drawn anew
	Spread float64
	// grey level in the middle of the spot of a particle in the middle of the light sheet
	Brightness float64
	// grey level without particles
	Background float64
	// standard deviation of normal noise, grey levels
	Noise float64
	// share of the particles of a frame that the other does not show, since they have left the light sheet; 0 to 1
	Loss float64
}

// check says what is wrong with o.
func (o Optics) check() error {
	switch {
	case !(o.Density >= 0 && o.Density <= 1):
		return fmt.Errorf("particles: density %v: expected 0 to 1 a pixel", o.Density)
	case !(o.Diameter >= 0.5 && o.Diameter <= 64):
		return fmt.Errorf("particles: diameter %v px: expected 0.5 to 64", o.Diameter)
	case !(o.Spread >= 0 && o.Spread <= o.Diameter/2):
		return fmt.Errorf("particles: spread of the diameter %v px: expected 0 to half the diameter, %v", o.Spread,
			o.Diameter/2)
	case !(o.Brightness >= 0 && o.Brightness <= 4096):
		return fmt.Errorf("particles: brightness %v: expected 0 to 4096 grey levels", o.Brightness)
	case !(o.Background >= 0 && o.Background <= 255):
		return fmt.Errorf("background %v: expected 0 to 255 grey levels", o.Background)
	case !(o.Noise >= 0 && o.Noise <= 255):
		return fmt.Errorf("noise %v: expected 0 to 255 grey levels", o.Noise)
	case !(o.Loss >= 0 && o.Loss <= 1):
		return fmt.Errorf("loss %v: expected a share of the particles, 0 to 1", o.Loss)
	}
	return nil
}

// Particle is one particle of a pair of frames.
type Particle struct {
	// where it is at mid-time, px from the middle of the picture
	X, Y float64
	// its displacement, px a pair: it is at (X-U/2, Y-V/2) in the first frame and at (X+U/2, Y+V/2) in the second
	U, V float64
	// standard deviation of its spot, px
	Sigma float64
	// grey level in the middle of its spot in either frame, 0 if it is not seen there
	Peak [2]float64
}

// reach is how many standard deviations of a spot are drawn: outside, a spot of 255 is below 1e-3 grey levels.
const reach = 5

// Scatter spreads particles over a picture of h rows and w columns and a margin as wide as particles move into the
// picture, evenly, and moves them with f. Their number is density times area, rounded. If a particle is lost, another
// takes its place in the second frame: Loss is the share of either frame's particles that the other has not.
func Scatter(f Flow, o Optics, h, w int, peak float64, r *rand.Rand) []Particle {
	margin := math.Ceil(peak/2 + reach*(o.Diameter+float64(4*o.Spread))/4 + 1)
	bw, bh := float64(w)+2*margin, float64(h)+2*margin
	n := int(math.Round(o.Density * float64(bw*bh)))
	out := make([]Particle, 0, n+n/8)
	draw := func() Particle {
		p := Particle{X: float64(bw * (r.Float64() - 0.5)), Y: float64(bh * (r.Float64() - 0.5))}
		z := r.Float64() - 0.5
		p.Peak[0] = o.Brightness * elementary.Exp(-8*z*z)
		p.Peak[1] = p.Peak[0]
		for {
			if d := o.Diameter + float64(o.Spread*elementary.Normal(r)); d >= o.Diameter/4 &&
				d <= o.Diameter+float64(4*o.Spread) {
				p.Sigma = d / 4
				break
			}
		}
		p.U, p.V = f.At(p.X, p.Y)
		return p
	}
	for range n {
		p := draw()
		if o.Loss > 0 && r.Float64() < o.Loss {
			p.Peak[1] = 0
			q := draw()
			q.Peak[0] = 0
			out = append(out, q)
		}
		out = append(out, p)
	}
	return out
}

// Render draws frame 0 or 1 of the particles: grey levels of h rows and w columns, row-major, neither rounded nor cut,
// without background and noise. It commutes with mirrors and quarter turns of square pictures bit for bit, and turning
// every displacement round exchanges the frames.
func Render(ps []Particle, frame, h, w int) []float64 {
	pix := make([]float64, h*w)
	cx, cy := float64(w-1)/2, float64(h-1)/2
	sign := float64(2*frame - 1)
	var xs, ys []float64
	for _, p := range ps {
		if p.Peak[frame] == 0 {
			continue
		}
		x, y := p.X+sign*p.U/2, p.Y+sign*p.V/2
		var c0, r0 int
		c0, xs = profile(x, p.Sigma, cx, w, xs)
		r0, ys = profile(y, p.Sigma, cy, h, ys)
		if len(xs) == 0 || len(ys) == 0 {
			continue
		}
		// The integral of exp(-(x²+y²)/2σ²) over a pixel is πσ²/2 times the product of two differences of the error
		// function.
		top := float64(p.Peak[frame] * (math.Pi / 2 * float64(p.Sigma*p.Sigma)))
		for i, ey := range ys {
			row := pix[(r0+i)*w+c0:]
			for j, ex := range xs {
				row[j] += float64(top * float64(ex*ey))
			}
		}
	}
	return pix
}

// profile is erf at the right edge less that at the left edge of the pixels of one axis that a spot at x reaches, and
// the first of them. A pixel belongs if its centre is near enough; the rule must not prefer a side.
func profile(x, sigma, centre float64, n int, buf []float64) (first int, vals []float64) {
	vals = buf[:0]
	s := 1 / (math.Sqrt2 * sigma)
	far := float64(reach*sigma) + 0.5
	if !(math.Abs(x) <= float64(n)+far) {
		return 0, vals
	}
	first = max(0, int(math.Floor(x-far+centre)))
	for c := first; c < n; c++ {
		d := float64(c) - centre - x
		if d > far {
			break
		}
		if d < -far {
			first = c + 1
			continue
		}
		vals = append(vals, elementary.Erf(float64((d+0.5)*s))-elementary.Erf(float64((d-0.5)*s)))
	}
	return first, vals
}

// Expose adds background and noise to a picture in place, rounds it, halves away from zero, and cuts it to 0..255.
func Expose(pix []float64, o Optics, r *rand.Rand) {
	for i, v := range pix {
		v += o.Background
		if o.Noise > 0 {
			v += float64(o.Noise * elementary.Normal(r))
		}
		pix[i] = min(max(math.Round(v), 0), 255)
	}
}
