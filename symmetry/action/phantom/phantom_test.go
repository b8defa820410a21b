package phantom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"nero/symmetry/action/phantom"
)

// quarter is the counter-clockwise quarter turn: what is on the right goes to the top.
var quarter = [2][2]float64{{0, 1}, {-1, 0}}

func TestRenderMovesAsTheMapSays(t *testing.T) {
	spot := phantom.Phantom{At: func(x, y float64) float64 {
		if x == 2 && y == 1 {
			return 1
		}
		return 0
	}}
	at := func(a [2][2]float64, t [2]float64) (r, c int) {
		m := phantom.Render(7, 9, a, t, spot)
		for i, v := range m.Pix {
			if v == 1 {
				return i/9 - 3, i%9 - 4
			}
		}
		return -99, -99
	}
	one := [2][2]float64{{1, 0}, {0, 1}}
	if r, c := at(one, [2]float64{}); r != 1 || c != 2 {
		t.Errorf("unmoved at row %d, column %d from the centre, want 1, 2", r, c)
	}
	if r, c := at(quarter, [2]float64{}); r != -2 || c != 1 {
		t.Errorf("quarter turn: row %d, column %d from the centre, want -2, 1", r, c)
	}
	if r, c := at(one, [2]float64{-1, 2}); r != 3 || c != 1 {
		t.Errorf("shift by (-1,2): row %d, column %d from the centre, want 3, 1", r, c)
	}
	if r, c := at([2][2]float64{{-1, 0}, {0, 1}}, [2]float64{}); r != 1 || c != -2 {
		t.Errorf("mirror: row %d, column %d from the centre, want 1, -2", r, c)
	}
}

// power is the share of the spectrum of a row-wise windowed picture above the given fraction of Nyquist, on each axis.
func power(pix []float64, n int, band float64) float64 {
	// A plain two-dimensional cosine/sine transform at a coarse set of frequencies is enough here.
	var in, out float64
	win := func(i int) float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(n)) }
	for u := -n / 2; u < n/2; u++ {
		for v := range n / 2 {
			var re, im float64
			for i := range n {
				for j := range n {
					s, c := math.Sincos(2 * math.Pi * float64(u*j+v*i) / float64(n))
					w := win(i) * win(j) * pix[i*n+j]
					re, im = re+w*c, im+w*s
				}
			}
			p := re*re + im*im
			if math.Hypot(float64(u), float64(v)) > band*float64(n)/2+3 { // the window widens lines by two bins
				out += p
			} else {
				in += p
			}
		}
	}
	return out / (in + out)
}

func TestBandLimit(t *testing.T) {
	const n, band = 32, 0.3
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []phantom.Phantom{
		phantom.Waves(r, band, 12), phantom.Gaussians(r, band, 6, 8), phantom.Ellipse(band, 1, -2, 9, 6, 30),
	} {
		m := phantom.Draw(n, n, p)
		if got := power(m.Pix, n, band); !(got < 3e-5) {
			t.Errorf("%s: share %.2g of the power lies beyond the band limit", p.Name, got)
		}
		if got := power(m.Pix, n, band/6); !(got > 1e-5) {
			t.Errorf("%s: share %.2g of the power lies beyond a sixth of the band limit: too smooth to test anything",
				p.Name, got)
		}
	}
}

func TestEllipseLiesAsStated(t *testing.T) {
	p := phantom.Ellipse(1, 2, -1, 20, 10, 90) // first axis turned upright
	for _, c := range []struct{ x, y, want float64 }{
		{2, -1, 1},
		{2, 12, 1},
		{2, -14, 1},
		{16, -1, 0},
		{-12, -1, 0},
		{12, -1, 0.5},
		{2, 19, 0.5},
	} {
		if got := p.At(c.x, c.y); math.Abs(got-c.want) > 0.01 {
			t.Errorf("at (%g,%g): %.3f, want %g", c.x, c.y, got, c.want)
		}
	}
	q := phantom.Ellipse(1, 0, 0, 20, 5, 45) // counter-clockwise as displayed: up right is inside
	if q.At(7, -7) < 0.9 || q.At(7, 7) > 0.01 {
		t.Errorf("the axis turned by 45 degrees points the wrong way")
	}
}

func TestDifference(t *testing.T) {
	one := phantom.Draw(4, 6, phantom.Phantom{At: func(_, _ float64) float64 { return 2 }})
	two := phantom.Draw(4, 6, phantom.Phantom{At: func(x, _ float64) float64 { return 2 + 2*max(0, math.Abs(x)-1) }})
	// Twelve pixels lie within 2 of the centre; at the four with |x| = 1.5 the pictures differ by 1, where the second
	// shows 2.
	if d, want := phantom.Difference(two, one, phantom.Disc(4, 6, 1)), math.Sqrt(4./(12*4)); math.Abs(d-want) > 1e-15 {
		t.Errorf("difference %g, want %g", d, want)
	}
	if d := phantom.Difference(one, one, phantom.Disc(4, 6, 0.1)); !math.IsNaN(d) {
		t.Errorf("nothing is marked, yet the difference is %g", d)
	}
	if d := phantom.Difference(one, phantom.Draw(6, 4), phantom.Disc(4, 6, 1)); !math.IsNaN(d) {
		t.Errorf("sizes differ, yet the difference is %g", d)
	}
	zero := phantom.Draw(4, 6, phantom.Phantom{At: func(_, _ float64) float64 { return 0 }})
	if d := phantom.Difference(zero, one, phantom.Disc(4, 6, 1)); d != 1 {
		t.Errorf("difference of nothing %g, want 1", d)
	}
	n := 0
	for _, in := range phantom.Disc(28, 28, 0.75) {
		if in {
			n++
		}
	}
	if want := math.Pi * 10.5 * 10.5; math.Abs(float64(n)-want) > 16 {
		t.Errorf("the disc has %d pixels, its area is %.1f", n, want)
	}
}
