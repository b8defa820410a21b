package group

import "math"

// square is a square matrix in rows, of few rows: elements of the matrix groups.
type square struct {
	n int
	v []float64
}

func newSquare(n int) square { return square{n, make([]float64, n*n)} }

func eye(n int) square {
	m := newSquare(n)
	for i := range n {
		m.v[i*n+i] = 1
	}
	return m
}

func (m square) mul(o square) square {
	n := m.n
	out := newSquare(n)
	for i := range n {
		for k := range n {
			if a := m.v[i*n+k]; a != 0 {
				for j := range n {
					out.v[i*n+j] += a * o.v[k*n+j]
				}
			}
		}
	}
	return out
}

func (m square) transpose() square {
	out := newSquare(m.n)
	for i := range m.n {
		for j := range m.n {
			out.v[j*m.n+i] = m.v[i*m.n+j]
		}
	}
	return out
}

func (m square) add(o square, f float64) square {
	out := newSquare(m.n)
	for i := range out.v {
		out.v[i] = m.v[i] + f*o.v[i]
	}
	return out
}

func (m square) dot(o square) float64 {
	var s float64
	for i, x := range m.v {
		s += x * o.v[i]
	}
	return s
}

func (m square) norm() float64 { return math.Sqrt(m.dot(m)) }

func (m square) vec(x []float64) []float64 {
	out := make([]float64, m.n)
	for i := range out {
		for j, y := range x {
			out[i] += m.v[i*m.n+j] * y
		}
	}
	return out
}

// function applies f to a symmetric matrix through its eigenvalues, found by Jacobi's rotations.
func (m square) function(f func(float64) float64) square {
	n := m.n
	a := square{n, append([]float64(nil), m.v...)}
	v := eye(n)
	for range 60 {
		off := 0.0
		for i := range n {
			for j := range i {
				off = math.Max(off, math.Abs(a.v[i*n+j]))
			}
		}
		if off == 0 || off < 1e-300 {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				apq := a.v[p*n+q]
				if apq == 0 {
					continue
				}
				// Golub and Van Loan 2013, Matrix computations, section 8.5.2.
				tau := (a.v[q*n+q] - a.v[p*n+p]) / (2 * apq)
				t := math.Copysign(1, tau) / (math.Abs(tau) + math.Hypot(1, tau))
				c := 1 / math.Hypot(1, t)
				s := t * c
				for k := range n {
					x, y := a.v[k*n+p], a.v[k*n+q]
					a.v[k*n+p], a.v[k*n+q] = c*x-s*y, s*x+c*y
				}
				for k := range n {
					x, y := a.v[p*n+k], a.v[q*n+k]
					a.v[p*n+k], a.v[q*n+k] = c*x-s*y, s*x+c*y
					x, y = v.v[k*n+p], v.v[k*n+q]
					v.v[k*n+p], v.v[k*n+q] = c*x-s*y, s*x+c*y
				}
				a.v[p*n+q], a.v[q*n+p] = 0, 0
			}
		}
	}
	out := newSquare(n)
	for k := range n {
		e := f(a.v[k*n+k])
		for i := range n {
			for j := range n {
				out.v[i*n+j] += v.v[i*n+k] * e * v.v[j*n+k]
			}
		}
	}
	return out
}

// exp is the exponential by scaling, Taylor's series and squaring: Moler and Van Loan 2003, Nineteen dubious ways to
// compute the exponential of a matrix, method 3.
func (m square) exp() square {
	size := 0.0
	for i := range m.n {
		var row float64
		for j := range m.n {
			row += math.Abs(m.v[i*m.n+j])
		}
		size = math.Max(size, row)
	}
	k := 0
	for ; size > 0.25 && k < 64; k++ {
		size /= 2
	}
	x := newSquare(m.n).add(m, math.Ldexp(1, -k))
	out, term := eye(m.n), eye(m.n)
	for i := 1; i <= 14; i++ { // 0.25^15/15! is below 1e-21
		term = term.mul(x)
		for j := range term.v {
			term.v[j] /= float64(i)
		}
		out = out.add(term, 1)
	}
	for range k {
		out = out.mul(out)
	}
	return out
}

func (m square) finite() bool {
	for _, x := range m.v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
