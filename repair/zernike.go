package repair

import (
	"math"
	"slices"
)

// zernike are the moments of a square map over the disc that is inscribed in it,
//
//	A_nm = (n+1)/π · Σ x(p)·R_nm(ρ)·e^{-imθ} · 4/side²,
//
// with the radial polynomials R_nm (Born and Wolf, Principles of Optics, 9.2.1), for n up to a degree, 0 ≤ m ≤ n and
// n - m even. A turn of the map by α makes e^{-imα}·A_nm of it and a mirror the conjugate, so that |A_nm| stays.
type zernike struct {
	side int
	// of each moment
	n, m []int
	// by place, row by row, then by moment; 0 outside of the disc
	re, im []float64
}

// leastMoment keeps the derivative of a magnitude finite where it is 0.
const leastMoment = 1e-12

// momentsUpTo is how many moments there are up to a degree, and as how many numbers: those with m > 0 are two each.
func momentsUpTo(degree int) (count, numbers int) {
	for n := range degree + 1 {
		count += n/2 + 1
		numbers += n + 1
	}
	return count, numbers
}

// discOf is how many places of a square map lie in the disc.
func discOf(side int) int {
	n := 0
	for p := range side * side {
		if x, y := place2(p, side); float64(x*x)+float64(y*y) <= 1 {
			n++
		}
	}
	return n
}

// place2 is where the middle of a place lies, in units of the disc's radius.
func place2(p, side int) (x, y float64) {
	of := func(i int) float64 { return float64(2*i-(side-1)) / float64(side) }
	return of(p % side), of(p / side)
}

// newZernike computes them without an angle: R_nm(ρ)·e^{imθ} is a polynomial of ρ² times (x + iy)^m. Under quarter
// turns and mirrors of the grid its values change places and signs, to the last bit.
func newZernike(side, degree int) *zernike {
	z := &zernike{side: side}
	for n := range degree + 1 {
		for m := n % 2; m <= n; m += 2 {
			z.n, z.m = append(z.n, n), append(z.m, m)
		}
	}
	radial := make([][]float64, len(z.n))
	for k := range radial {
		radial[k] = radialOf(z.n[k], z.m[k])
	}
	area := 4 / float64(side*side)
	z.re, z.im = make([]float64, side*side*len(z.n)), make([]float64, side*side*len(z.n))
	for p := range side * side {
		x, y := place2(p, side)
		square := float64(x*x) + float64(y*y)
		if !(square <= 1) {
			continue
		}
		// powers of x + iy
		re, im := make([]float64, degree+1), make([]float64, degree+1)
		re[0] = 1
		for m := 1; m <= degree; m++ {
			re[m] = float64(re[m-1]*x) - float64(im[m-1]*y)
			im[m] = float64(re[m-1]*y) + float64(im[m-1]*x)
		}
		for k := range z.n {
			value := 0.0
			for _, c := range radial[k] { // Horner's rule
				value = float64(value*square) + c
			}
			value *= area * float64(z.n[k]+1) / math.Pi
			at := p*len(z.n) + k
			z.re[at], z.im[at] = float64(value*re[z.m[k]]), float64(-value*im[z.m[k]])
		}
	}
	return z
}

// radialOf are the coefficients of R_nm(ρ)/ρ^m as a polynomial of ρ², the highest power first.
func radialOf(n, m int) []float64 {
	factorial := func(k int) float64 {
		f := 1.0
		for i := 2; i <= k; i++ {
			f *= float64(i)
		}
		return f
	}
	out := make([]float64, (n-m)/2+1)
	for k := range out {
		out[k] = factorial(n-k) / (factorial(k) * factorial((n+m)/2-k) * factorial((n-m)/2-k))
		if k%2 == 1 {
			out[k] = -out[k]
		}
	}
	return out
}

// magnitudes are those of all moments of one map after the other, of which at(c, p) is a number.
func (z *zernike) magnitudes(maps int, at func(c, p int) float64) []float64 {
	count := len(z.n)
	out := make([]float64, 0, maps*count)
	re, im := make([]float64, count), make([]float64, count)
	for c := range maps {
		clear(re)
		clear(im)
		for p := range z.side * z.side {
			x := at(c, p)
			for k, v := range z.re[p*count:][:count] {
				re[k] += float64(x * v)
				im[k] += float64(x * z.im[p*count+k])
			}
		}
		for k := range count {
			out = append(out, math.Sqrt(float64(re[k]*re[k])+float64(im[k]*im[k])+leastMoment))
		}
	}
	return slices.Clip(out)
}
