package action_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// TestAreaIsTheMeanOverThePixel holds the kernel against a mean over many points of every pixel, of a picture whose
// pixels are squares of one intensity.
func TestAreaIsTheMeanOverThePixel(t *testing.T) {
	const n, many = 6, 200
	x := noisy(1, n, n)
	a := newImage(t, plane{}, n, n, action.Options{Kernel: action.Area})
	for _, e := range []group.Element{
		rot(31), rot(45), element(250, 1, 0, 0), shift(0.3, -1.7),
		{15, 0, 2.2, 0.1, 1.3},
	} {
		got := as[*space.Image](a.Apply(e, x))
		m, sh := plane{}.Affine(e)
		det := m[0][0]*m[1][1] - m[0][1]*m[1][0]
		for r := range n {
			for c := range n {
				sum := 0.0
				for i := range many {
					for j := range many {
						px := float64(c) - 0.5 + (float64(j)+0.5)/many - float64(n-1)/2 - sh[0]
						py := float64(r) - 0.5 + (float64(i)+0.5)/many - float64(n-1)/2 - sh[1]
						qx := (m[1][1]*px-m[0][1]*py)/det + float64(n-1)/2
						qy := (-m[1][0]*px+m[0][0]*py)/det + float64(n-1)/2
						if col, row := int(math.Floor(qx+0.5)), int(math.Floor(qy+0.5)); row >= 0 && col >= 0 &&
							row < n &&
							col < n {
							sum += x.Pix[row*n+col]
						}
					}
				}
				if want := sum / (many * many); math.Abs(got.Pix[r*n+c]-want) > 0.02 {
					t.Fatalf("%v: pixel %d %d is %g, the mean of its points %g", e, r, c, got.Pix[r*n+c], want)
				}
			}
		}
	}
}

// TestAreaKeepsSums: a rotation keeps what a picture sums up to, as long as nothing leaves it.
func TestAreaKeepsSums(t *testing.T) {
	const n = 16
	a := newImage(t, plane{}, n, n, action.Options{Kernel: action.Area})
	rapid.Check(t, func(t *rapid.T) {
		x, want := space.NewImage(1, n, n), 0.0
		for r := 6; r < 10; r++ {
			for c := 6; c < 10; c++ {
				x.Pix[r*n+c] = rapid.Float64Range(-1, 1).Draw(t, "pixel")
				want += x.Pix[r*n+c]
			}
		}
		e := element(rapid.Float64Range(0, 360).Draw(t, "angle"), 0, rapid.Float64Range(-2, 2).Draw(t, "dx"),
			rapid.Float64Range(-2, 2).Draw(t, "dy"))
		got := 0.0
		for _, v := range as[*space.Image](a.Apply(e, x)).Pix {
			got += v
		}
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v: the sum is %g, was %g", e, got, want)
		}
	})
}

// TestShrinkingByAreaIsTheMeanOfBlocks: half the size is the mean of two by two pixels.
func TestShrinkingByAreaIsTheMeanOfBlocks(t *testing.T) {
	const n = 8
	x := noisy(1, n, n)
	a := newImage(t, parse(t, "Scale"), n, n, action.Options{Kernel: action.Area})
	got := as[*space.Image](a.Apply(group.Element{0.5}, x))
	for r := range n / 2 {
		for c := range n / 2 {
			want := (x.Pix[2*r*n+2*c] + x.Pix[2*r*n+2*c+1] + x.Pix[(2*r+1)*n+2*c] + x.Pix[(2*r+1)*n+2*c+1]) / 4
			if v := got.Pix[(r+n/4)*n+c+n/4]; math.Abs(v-want) > 1e-12 {
				t.Errorf("block %d %d is %g, its mean %g", r, c, v, want)
			}
		}
	}
}

// TestSmoothKernelsKeepQuadratics: quintic and bicubic reproduce polynomials of degree 2, and with the spline the
// constants.
func TestSmoothKernelsKeepQuadratics(t *testing.T) {
	const n = 14
	centre := float64(n-1) / 2
	for _, k := range []action.Kernel{action.Quintic, action.Bicubic} {
		rapid.Check(t, func(t *rapid.T) {
			q := rapid.SliceOfN(rapid.Float64Range(-1, 1), 6, 6).Draw(t, "coefficients")
			at := func(x, y float64) float64 { return q[0] + q[1]*x + q[2]*y + q[3]*x*x + q[4]*x*y + q[5]*y*y }
			x := space.NewImage(1, n, n)
			for i := range x.Pix {
				x.Pix[i] = at(float64(i%n)-centre, float64(i/n)-centre)
			}
			angle := rapid.Float64Range(0, 360).Draw(t, "angle")
			a, err := action.NewImage(plane{}, imageSpec(1, n, n), action.Options{Kernel: k})
			if err != nil {
				t.Fatal(err)
			}
			moved := as[*space.Image](a.Apply(rot(angle), x))
			m, _ := plane{}.Affine(rot(angle))
			for i, v := range moved.Pix {
				px, py := float64(i%n)-centre, float64(i/n)-centre
				if math.Hypot(px, py) > 3 {
					continue
				}
				if want := at(m[0][0]*px+m[1][0]*py, m[0][1]*px+m[1][1]*py); math.Abs(v-want) > 1e-9 {
					t.Fatalf("%s: %g at (%g, %g), want %g", k, v, px, py, want)
				}
			}
		})
	}
}
