package irreps_test

import (
	"math"
	"math/big"
	"math/cmplx"
	"testing"

	"pgregory.net/rapid"

	"nero/symmetry/irreps"
)

// smallD is Wigner's d^l(m', m) at the angle whose half has the cosine c/h and the sine s/h, by his sum over factorials
// (Group Theory, 1931, as in Varshalovich 4.3.1) in exact fractions: nothing cancels, whatever the degree.
func smallD(l, m1, m int, c, s, h int64) float64 {
	factorial := func(n int) *big.Int { return new(big.Int).MulRange(1, int64(n)) }
	cos, sin := big.NewRat(c, h), big.NewRat(s, h)
	power := func(x *big.Rat, n int) *big.Rat {
		p := big.NewRat(1, 1)
		for range n {
			p.Mul(p, x)
		}
		return p
	}
	sum := new(big.Rat)
	for k := max(0, m-m1); k <= min(l+m, l-m1); k++ {
		below := new(big.Int).Mul(factorial(l+m-k), factorial(k))
		below.Mul(below, factorial(m1-m+k)).Mul(below, factorial(l-m1-k))
		t := new(big.Rat).SetFrac(big.NewInt(1), below)
		t.Mul(t, power(cos, 2*l+m-m1-2*k)).Mul(t, power(sin, m1-m+2*k))
		if (m1-m+k)%2 != 0 {
			t.Neg(t)
		}
		sum.Add(sum, t)
	}
	root := new(big.Int).Mul(factorial(l+m1), factorial(l-m1))
	root.Mul(root, factorial(l+m)).Mul(root, factorial(l-m))
	f := new(big.Float).SetPrec(200).SetInt(root)
	v, _ := f.Sqrt(f).Mul(f, new(big.Float).SetPrec(200).SetRat(sum)).Float64()
	return v
}

// TestEuler holds every entry up to the highest degree against Wigner's matrices of Euler angles: D(m', m) =
// exp(-im'α) d(m', m) exp(-imγ) moves complex harmonics, of which the real ones without the Condon-Shortley phase are
// cos = ((-1)^m Y(m) + Y(-m))/√2 and sin = ((-1)^m Y(m) - Y(-m))/(i√2).
func TestEuler(t *testing.T) {
	const top = irreps.MaxL
	halves := [][3]int64{{3, 4, 5}, {12, 5, 13}, {8, 15, 17}, {1, 0, 1}, {0, 1, 1}}
	small := make([][][]float64, len(halves)) // d of each half angle and degree, rows m'
	for k, q := range halves {
		for l := range top + 1 {
			var d []float64
			for m1 := -l; m1 <= l; m1++ {
				for m := -l; m <= l; m++ {
					d = append(d, smallD(l, m1, m, q[0], q[1], q[2]))
				}
			}
			small[k] = append(small[k], d)
		}
	}
	w := newWigner(t, top, irreps.PolarZ)
	d := make([]float64, w.Len())
	rows := func(l int, at func(m1, m int) complex128) []float64 {
		n := 2*l + 1
		type part struct {
			m int
			k complex128
		}
		parts := func(m int) []part { // of the real component m, of complex ones
			a, sign := max(m, -m), complex(math.Pow(-1, float64(m)), 0)
			switch {
			case m == 0:
				return []part{{0, 1}}
			case m > 0:
				return []part{{a, sign / complex(math.Sqrt2, 0)}, {-a, complex(1/math.Sqrt2, 0)}}
			}
			return []part{{a, -1i * sign / complex(math.Sqrt2, 0)}, {-a, 1i / complex(math.Sqrt2, 0)}}
		}
		out := make([]float64, n*n)
		for i := range n {
			for j := range n {
				var v complex128
				for _, a := range parts(i - l) {
					for _, b := range parts(j - l) {
						v += a.k * cmplx.Conj(at(a.m, b.m)) * cmplx.Conj(b.k)
					}
				}
				out[i*n+j] = real(v)
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, len(halves)-1).Draw(t, "half")
		alpha, gamma := rapid.Float64Range(-4, 4).Draw(t, "alpha"), rapid.Float64Range(-4, 4).Draw(t, "gamma")
		c, s, h := float64(halves[k][0]), float64(halves[k][1]), float64(halves[k][2])
		cb, sb := (c*c-s*s)/(h*h), 2*c*s/(h*h)
		about := func(a float64) []float64 {
			s, c := math.Sincos(a)
			return []float64{c, -s, 0, s, c, 0, 0, 0, 1}
		}
		r := [9]float64(product(product(about(alpha), []float64{cb, 0, sb, 0, 1, 0, -sb, 0, cb}, 3), about(gamma), 3))
		w.Fill(d, &r)
		trace := r[0] + r[4] + r[8]
		half := math.Acos(math.Max(-1, math.Min(1, (trace-1)/2))) / 2
		for l := range top + 1 {
			n := 2*l + 1
			want := rows(l, func(m1, m int) complex128 {
				return cmplx.Exp(complex(0, -float64(m1)*alpha-float64(m)*gamma)) *
					complex(small[k][l][(m1+l)*n+m+l], 0)
			})
			var character float64
			for i, v := range w.Block(d, l) {
				if !(math.Abs(v-want[i]) < 1e-12) {
					t.Fatalf("degree %d: D[%d] = %.15g, Wigner's sum says %.15g", l, i, v, want[i])
				}
				if i%(n+1) == 0 {
					character += v
				}
			}
			// The character of a turn by θ is sin((2l+1)θ/2)/sin(θ/2).
			if sin := math.Sin(half); sin > 1e-2 && !(math.Abs(character-math.Sin(float64(n)*half)/sin) < 1e-9) {
				t.Fatalf("degree %d: the trace is %g, the character %g", l, character, math.Sin(float64(n)*half)/sin)
			}
		}
	})
}
