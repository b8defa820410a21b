package irreps

import "math"

// Harmonics writes the real spherical harmonics of degree 0 to top at the direction (x, y, z), (top+1)² numbers, degree
// by degree with m = -l, ..., l. They are homogeneous polynomials of degree l: of a vector of length r they are r^l
// times those of its direction, and 1 at l = 0.
//
// They are normalised so that the squares of degree l add up to 2l+1 on the sphere, which e3nn calls "component";
// degree 1 is sqrt(3) (x, y, z) under [PolarY]. They move by the matrices of [Wigner] in the same basis: Y(R x) = D(R)
// Y(x).
func Harmonics(dst []float64, top int, b Basis, x, y, z float64) {
	if b == PolarY {
		x, y, z = z, x, y
	}
	dst = dst[:(top+1)*(top+1)]
	rr := float64(x*x) + float64(y*y) + float64(z*z)
	// Q(l, m) is the associated Legendre function times r^(l-m) over the m-th power of the sine, without the
	// Condon-Shortley phase: Q(m, m) = (2m-1)!!, (l-m) Q(l, m) = (2l-1) z Q(l-1, m) - (l+m-1) r² Q(l-2, m).
	c, s, mm := 1.0, 0.0, 1.0 // Re and Im of (x+iy)^m, (2m-1)!!
	for m := 0; m <= top; m++ {
		prev, q := 0.0, mm
		for l := m; l <= top; l++ {
			if l > m {
				prev, q = q, (float64(float64(2*l-1)*z*q)-float64(float64(l+m-1)*rr*prev))/float64(l-m)
			}
			// (l-m)!/(l+m)! as a product, which stays in range.
			norm := float64(2*l + 1)
			for k := l - m + 1; k <= l+m; k++ {
				norm /= float64(k)
			}
			mid := l*l + l
			if m == 0 {
				dst[mid] = math.Sqrt(norm) * q
				continue
			}
			norm = math.Sqrt(2 * norm)
			dst[mid+m] = norm * q * c
			dst[mid-m] = norm * q * s
		}
		c, s = float64(c*x)-float64(s*y), float64(c*y)+float64(s*x)
		mm *= float64(2*m + 1)
	}
}
