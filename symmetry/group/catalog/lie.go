package catalog

import (
	"math"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// algebra is an element L of the Lie algebra of the affine maps of the plane, in the basis
//
//	J = [[0,1],[-1,0]]  I  S = [[1,0],[0,-1]]  H = [[0,1],[1,0]]
//
// of its linear part: L = ρJ + τI + σS + ηH, and its shift v. J, S and H anticommute and square to -I, I, I, so the
// traceless part N has N² = δI with δ = σ² + η² - ρ², and every function of L has a closed form.
type algebra struct {
	// ρ in two parts, degrees and radians, so that exact angles and exact shears both stay exact
	deg, rho        float64
	tau, sigma, eta float64
	v               vec2
}

func (l algebra) turn() float64 { return group.Radians(l.deg) + l.rho }

func (l algebra) linear() mat2 {
	r := l.turn()
	return mat2{{l.tau + l.sigma, l.eta + r}, {l.eta - r, l.tau - l.sigma}}
}

// delta is δ, factored so that a pure shear (η = ±ρ) gives exactly 0 and so exact integer entries.
func (l algebra) delta() float64 {
	r := l.turn()
	return float64(l.sigma*l.sigma) + float64((l.eta-r)*(l.eta+r))
}

// expPlane is exp of [[L, v], [0, 0]]: A = e^τ(c·I + s·N) with c = cosh √δ, s = sinh √δ/√δ (cos and sin for δ < 0), and
// b = φ(L)·v.
func expPlane(l algebra) (a mat2, b vec2) {
	e := elementary.Exp(l.tau)
	if l.sigma == 0 && l.eta == 0 && l.rho == 0 {
		s, c := group.SinCos(l.deg)
		a = mat2{{e * c, e * s}, {float64(-e*s) + 0, e * c}}
	} else {
		var c, s float64
		switch d := l.delta(); {
		case d > 0:
			r := math.Sqrt(d)
			c, s = elementary.Cosh(r), elementary.Sinh(r)/r
		case d < 0:
			r := math.Sqrt(-d)
			sin, cos := elementary.Sincos(r)
			c, s = cos, sin/r
		default:
			c, s = 1, 1
			if math.IsNaN(d) {
				c, s = d, d
			}
		}
		n := algebra{deg: l.deg, rho: l.rho, sigma: l.sigma, eta: l.eta}.linear()
		a = mat2{{e * (c + float64(s*n[0][0])), e * s * n[0][1]}, {e * s * n[1][0], e * (c + float64(s*n[1][1]))}}
	}
	if l.v == (vec2{}) {
		return a, vec2{}
	}
	return a, mulVec(phi(l.linear()), l.v)
}

// phi is φ(L) = Σ L^k/(k+1)! = ∫₀¹ exp(uL) du, by Taylor's series of L/2^m and the doubling φ(2X) = φ(X)(exp(X) + I)/2.
// (Al-Mohy and Higham 2011, Computing the action of the matrix exponential, section 2, gives the functions φ.)
func phi(l mat2) mat2 {
	norm := math.Abs(l[0][0]) + math.Abs(l[0][1]) + math.Abs(l[1][0]) + math.Abs(l[1][1])
	m := 0
	for norm > 0.25 && m < 64 {
		norm /= 2
		m++
	}
	f := math.Ldexp(1, -m)
	x := mat2{{l[0][0] * f, l[0][1] * f}, {l[1][0] * f, l[1][1] * f}}
	p := mat2{{1, 0}, {0, 1}}
	term := p
	const terms = 13 // 0.25^13/14! < 2e-19
	for k := 1; k <= terms; k++ {
		term = mulMat(term, x)
		for i := range 2 {
			for j := range 2 {
				term[i][j] /= float64(k + 1)
				p[i][j] += term[i][j]
			}
		}
	}
	for range m {
		xp := mulMat(x, p) // exp(X) = I + X·φ(X)
		h := mat2{{1 + xp[0][0]/2, xp[0][1] / 2}, {xp[1][0] / 2, 1 + xp[1][1]/2}}
		p = mulMat(p, h)
		for i := range 2 {
			for j := range 2 {
				x[i][j] *= 2
			}
		}
	}
	return p
}

// logPlane is the principal logarithm of the affine map, ok false where no real one exists: negative determinant, or
// negative eigenvalues other than those of a half turn. conformal maps have no parts S and H, whatever rounding says.
func logPlane(a mat2, b vec2, conformal bool) (l algebra, ok bool) {
	det := float64(a[0][0]*a[1][1]) - float64(a[0][1]*a[1][0])
	if !(det > 0) || math.IsInf(det, 1) {
		return l, false
	}
	f := 1 / math.Sqrt(det)
	l.tau = elementary.Log(det) / 2
	c := (a[0][0] + a[1][1]) / 2 * f
	mj, ms, mh := (a[0][1]-a[1][0])/2*f, (a[0][0]-a[1][1])/2*f, (a[0][1]+a[1][0])/2*f
	q := float64(ms*ms) + float64(a[0][1]*f*a[1][0]*f) // s²δ: m_S² + (m_H - m_J)(m_H + m_J)
	if conformal {
		ms, mh, q = 0, 0, -mj*mj
	}
	const tiny = 1e-12
	switch {
	case c < 0 && math.Abs(mj)+math.Abs(ms)+math.Abs(mh) < tiny:
		l.deg = math.Copysign(180, mj)
		if mj == 0 {
			l.deg = 180
		}
	case q >= 0 && c < 0:
		return l, false
	case q >= 0:
		r := 1.0
		if w := math.Sqrt(q); w > 0 {
			r = elementary.Asinh(w) / w
		}
		l.rho, l.sigma, l.eta = r*mj, r*ms, r*mh
	default:
		w := math.Sqrt(-q)
		r := elementary.Atan2(w, c) / w
		l.rho, l.sigma, l.eta = r*mj, r*ms, r*mh
	}
	if conformal {
		l.deg, l.rho = group.Degrees(l.rho)+l.deg, 0
	}
	if b == (vec2{}) {
		return l, true
	}
	p := phi(l.linear())
	d := float64(p[0][0]*p[1][1]) - float64(p[0][1]*p[1][0])
	l.v = vec2{(float64(p[1][1]*b[0]) - float64(p[0][1]*b[1])) / d, (float64(p[0][0]*b[1]) - float64(p[1][0]*b[0])) / d}
	return l, true
}

type (
	mat2 = [2][2]float64
	vec2 = [2]float64
)

func mulMat(a, b mat2) mat2 {
	var c mat2
	for i := range 2 {
		for j := range 2 {
			c[i][j] = float64(a[i][0]*b[0][j]) + float64(a[i][1]*b[1][j])
		}
	}
	return c
}

func mulVec(a mat2, v vec2) vec2 {
	return vec2{float64(a[0][0]*v[0]) + float64(a[0][1]*v[1]), float64(a[1][0]*v[0]) + float64(a[1][1]*v[1])}
}
