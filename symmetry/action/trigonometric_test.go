package action_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// series is a trigonometric polynomial of period n on both axes, of frequencies below the Nyquist frequency.
func series(seed uint64, n int) func(x, y float64) float64 {
	r := rand.New(rand.NewPCG(seed, 5))
	most := (n - 1) / 2
	type wave struct{ kx, ky, phase, high float64 }
	var all []wave
	for range 12 {
		all = append(all, wave{
			float64(r.IntN(2*most+1) - most), float64(r.IntN(2*most+1) - most), 2 * math.Pi * r.Float64(),
			r.NormFloat64(),
		})
	}
	return func(x, y float64) float64 {
		sum := 0.0
		for _, w := range all {
			sum += w.high * math.Cos(2*math.Pi*(w.kx*x+w.ky*y)/float64(n)+w.phase)
		}
		return sum
	}
}

// TestFourierIsExact: a picture whose Fourier series ends below the Nyquist frequency is moved to its own values by
// every map: shifts, rotations, mirrors, magnifications.
func TestFourierIsExact(t *testing.T) {
	for _, n := range []int{7, 8} {
		a := newImage(t, plane{}, n, n, action.Options{Kernel: action.Fourier, Border: action.Circular})
		rapid.Check(t, func(t *rapid.T) {
			f := series(rapid.Uint64().Draw(t, "seed"), n)
			x := space.NewImage(1, n, n)
			for i := range x.Pix {
				x.Pix[i] = f(float64(i%n), float64(i/n))
			}
			e := group.Element{
				rapid.Float64Range(0, 360).Draw(t, "angle"), float64(rapid.IntRange(0, 1).Draw(t, "mirror")),
				rapid.Float64Range(-9, 9).Draw(t, "dx"), rapid.Float64Range(-9, 9).Draw(t, "dy"),
				rapid.Float64Range(0.5, 2).Draw(t, "scale"),
			}
			got := as[*space.Image](a.Apply(e, x))
			m, sh := plane{}.Affine(e)
			det := m[0][0]*m[1][1] - m[0][1]*m[1][0]
			centre := float64(n-1) / 2
			for i, v := range got.Pix {
				px, py := float64(i%n)-centre-sh[0], float64(i/n)-centre-sh[1]
				want := f((m[1][1]*px-m[0][1]*py)/det+centre, (-m[1][0]*px+m[0][0]*py)/det+centre)
				if math.Abs(v-want) > 1e-9 {
					t.Fatalf("%v: pixel %d is %g, want %g", e, i, v, want)
				}
			}
		})
	}
}

// TestFourierShiftsAreUndone: shifts of periodic pictures compose to the last digits, half pixels included, where the
// picture has an odd number of pixels and so no Nyquist frequency.
func TestFourierShiftsAreUndone(t *testing.T) {
	a := newImage(t, plane{}, 9, 7, action.Options{Kernel: action.Fourier, Border: action.Circular})
	rapid.Check(t, func(t *rapid.T) {
		x := noisy(1, 9, 7)
		dx, dy := rapid.Float64Range(-20, 20).Draw(t, "dx"), rapid.Float64Range(-20, 20).Draw(t, "dy")
		back := as[*space.Image](a.Apply(shift(-dx, -dy), as[*space.Image](a.Apply(shift(dx, dy), x))))
		for i, v := range back.Pix {
			if math.Abs(v-x.Pix[i]) > 1e-10 {
				t.Fatalf("pixel %d comes back as %g, was %g", i, v, x.Pix[i])
			}
		}
	})
}

// TestFourierKeepsConstants under every rule that goes on with them.
func TestFourierKeepsConstants(t *testing.T) {
	for _, b := range []action.Border{action.Edge, action.Reflect, action.Circular} {
		a := newImage(t, plane{}, 6, 9, action.Options{Kernel: action.Fourier, Border: b})
		x := space.NewImage(1, 6, 9)
		for i := range x.Pix {
			x.Pix[i] = 3
		}
		for _, v := range as[*space.Image](a.Apply(group.Element{31, 1, 2.3, -7.1, 1.2}, x)).Pix {
			if math.Abs(v-3) > 1e-12 {
				t.Errorf("%s: a constant becomes %g", b, v)
			}
		}
	}
}
