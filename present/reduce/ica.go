package reduce

import (
	"context"
	"math"

	"nero/internal/elementary"
)

// unmixing is a fitted independent component analysis: the sources are turn·(scores of the components over their
// deviations).
type unmixing struct {
	// the components that were whitened: two, or fewer
	base *principal
	turn [2][2]float64
	// the variance that each source carries into the data
	values  []float64
	settled bool
}

const icaRounds = 200

// fitUnmixing runs FastICA with the contrast log cosh and symmetric decorrelation (A. Hyvärinen, Fast and robust
// fixed-point algorithms for independent component analysis, IEEE Transactions on Neural Networks 10, 1999) on the
// first two principal components, whitened. What is left to find is one angle with a period of a quarter turn: it
// starts from four of them and keeps the result with the largest negentropy, so that no random start decides.
func fitUnmixing(ctx context.Context, c *crew, x Matrix, rows []int) (*unmixing, error) {
	base, err := fitPrincipal(ctx, c, x, rows, 2)
	if err != nil {
		return nil, err
	}
	u := &unmixing{base: base, turn: [2][2]float64{{1, 0}, {0, 1}}, settled: true}
	if len(base.vectors) < 2 {
		u.values = base.values
		return u, nil
	}
	z, err := base.scores(ctx, c, x, rows)
	if err != nil {
		return nil, err
	}
	d0, d1 := 1/math.Sqrt(base.values[0]), 1/math.Sqrt(base.values[1])
	for i := 0; i < len(z); i += 2 {
		z[i] *= d0
		z[i+1] *= d1
	}
	best := math.Inf(-1)
	for start := range 4 {
		w := rotation((float64(start) + 0.3) * math.Pi / 8)
		settled := false
		for range icaRounds {
			next, _, err := icaStep(ctx, c, z, w)
			if err != nil {
				return nil, err
			}
			// The lines of w and next are compared up to sign.
			moved := max(1-math.Abs(float64(next[0][0]*w[0][0])+float64(next[0][1]*w[0][1])),
				1-math.Abs(float64(next[1][0]*w[1][0])+float64(next[1][1]*w[1][1])))
			w = next
			if moved < 1e-12 {
				settled = true
				break
			}
		}
		_, gain, err := icaStep(ctx, c, z, w)
		if err != nil {
			return nil, err
		}
		if gain > float64(best*(1+1e-9))+1e-15 || start == 0 {
			best, u.turn, u.settled = gain, w, settled
		}
		c.tell(float64(start+1) / 4)
	}
	u.settle()
	return u, nil
}

func rotation(angle float64) [2][2]float64 {
	s, c := elementary.Sincos(angle)
	return [2][2]float64{{c, s}, {-s, c}}
}

// icaStep is one round of the fixed point from the orthogonal matrix w, w⁺ = E[g(wz) zᵀ] − E[g'(wz)] w with g = tanh,
// followed by the nearest orthogonal matrix. It also returns the negentropy of w itself, Σ (E[log cosh y] − E[log cosh
// ν])² with ν standard normal.
func icaStep(ctx context.Context, c *crew, z []float64, w [2][2]float64) (next [2][2]float64, gain float64, err error) {
	type sums struct{ g00, g01, g10, g11, p0, p1, f0, f1 float64 }
	n := len(z) / 2
	tasks := blocks(n, 8*rowTask)
	parts := make([]sums, tasks)
	if err := c.each(ctx, tasks, func(_, b int) {
		var s sums
		lo, hi := span(b, n, 8*rowTask)
		for i := lo; i < hi; i++ {
			z0, z1 := z[2*i], z[2*i+1]
			y0, y1 := float64(w[0][0]*z0)+float64(w[0][1]*z1), float64(w[1][0]*z0)+float64(w[1][1]*z1)
			t0, l0 := tanhLogCosh(y0)
			t1, l1 := tanhLogCosh(y1)
			s.g00 += float64(t0 * z0)
			s.g01 += float64(t0 * z1)
			s.g10 += float64(t1 * z0)
			s.g11 += float64(t1 * z1)
			s.p0 += 1 - float64(t0*t0)
			s.p1 += 1 - float64(t1*t1)
			s.f0 += l0
			s.f1 += l1
		}
		parts[b] = s
	}); err != nil {
		return next, 0, err
	}
	var t sums
	for _, s := range parts {
		t.g00 += s.g00
		t.g01 += s.g01
		t.g10 += s.g10
		t.g11 += s.g11
		t.p0 += s.p0
		t.p1 += s.p1
		t.f0 += s.f0
		t.f1 += s.f1
	}
	m := float64(n)
	const normalLogCosh = 0.374567207491438 // E[log cosh ν], by quadrature
	gain = square(t.f0/m-normalLogCosh) + square(t.f1/m-normalLogCosh)
	return nearestOrthogonal([2][2]float64{
		{(t.g00 - float64(t.p0*w[0][0])) / m, (t.g01 - float64(t.p0*w[0][1])) / m},
		{(t.g10 - float64(t.p1*w[1][0])) / m, (t.g11 - float64(t.p1*w[1][1])) / m},
	}, w), gain, nil
}

func square(v float64) float64 { return float64(v * v) }

// tanhLogCosh is tanh y and log cosh y from one exponential.
func tanhLogCosh(y float64) (t, l float64) {
	a := math.Abs(y)
	e := elementary.Exp(-2 * a)
	return math.Copysign((1-e)/(1+e), y), a + elementary.Log1p(e) - math.Ln2
}

// nearestOrthogonal is (a aᵀ)^(-1/2) a, the orthogonal factor of the polar decomposition, in closed form: a ± its
// cofactors, normed, with the sign of the determinant. For a singular a it is w.
func nearestOrthogonal(a, w [2][2]float64) [2][2]float64 {
	det := float64(a[0][0]*a[1][1]) - float64(a[0][1]*a[1][0])
	s := math.Copysign(1, det)
	p, q := a[0][0]+float64(s*a[1][1]), a[0][1]-float64(s*a[1][0])
	r := elementary.Hypot(p, q)
	if !(r > 1e-300) || math.IsInf(r, 0) {
		return w
	}
	return [2][2]float64{{p / r, q / r}, {-s * q / r, s * p / r}}
}

// mixing is what one unit of source s adds to a row.
func (u *unmixing) mixing(s int) []float64 {
	v := make([]float64, len(u.base.mean))
	for c, dir := range u.base.vectors {
		axpy(v, math.Sqrt(u.base.values[c])*u.turn[s][c], dir)
	}
	return v
}

// settle puts the source that carries more variance first and makes the largest entry of each mixing column positive.
func (u *unmixing) settle() {
	a, b := u.mixing(0), u.mixing(1)
	if dot(b, b) > dot(a, a)*(1+tinyShare) {
		u.turn[0], u.turn[1] = u.turn[1], u.turn[0]
		a, b = b, a
	}
	u.values = []float64{dot(a, a), dot(b, b)}
	for s, v := range [][]float64{a, b} {
		if fixSign(v) {
			u.turn[s] = [2]float64{-u.turn[s][0], -u.turn[s][1]}
		}
	}
}

// place turns the scores of a row into its sources.
func (u *unmixing) place(scores []float64) (s [2]float64) {
	var z [2]float64
	for c := range u.base.vectors {
		z[c] = scores[c] / math.Sqrt(u.base.values[c])
	}
	for i := range u.base.vectors {
		s[i] = float64(u.turn[i][0]*z[0]) + float64(u.turn[i][1]*z[1])
	}
	return s
}
