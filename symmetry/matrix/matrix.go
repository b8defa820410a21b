// Package matrix holds small square matrices, as the elements of matrix groups are: products, functions of symmetric
// ones, exponentials and logarithms. What is exact in the arguments, such as zeros and whole numbers, stays exact in
// products.
package matrix

import (
	"math"
	"slices"

	"nero/internal/elementary"
)

// Square is a square matrix in rows, of few rows: elements of the matrix groups.
type Square struct {
	// number of rows, and the N·N numbers
	N int
	V []float64
}

// New is the matrix of zeros.
func New(n int) Square { return Square{n, make([]float64, n*n)} }

// Eye is the identity.
func Eye(n int) Square {
	m := New(n)
	for i := range n {
		m.V[i*n+i] = 1
	}
	return m
}

// Mul is the product m·o.
func (m Square) Mul(o Square) Square {
	n := m.N
	out := New(n)
	for i := range n {
		for k := range n {
			if a := m.V[i*n+k]; a != 0 {
				for j := range n {
					out.V[i*n+j] += float64(a * o.V[k*n+j])
				}
			}
		}
	}
	return out
}

// Transpose exchanges rows and columns.
func (m Square) Transpose() Square {
	out := New(m.N)
	for i := range m.N {
		for j := range m.N {
			out.V[j*m.N+i] = m.V[i*m.N+j]
		}
	}
	return out
}

// Add is m + f·o.
func (m Square) Add(o Square, f float64) Square {
	out := New(m.N)
	for i := range out.V {
		out.V[i] = m.V[i] + float64(f*o.V[i])
	}
	return out
}

// Dot is the sum of the products of entries.
func (m Square) Dot(o Square) float64 {
	var s float64
	for i, x := range m.V {
		s += float64(x * o.V[i])
	}
	return s
}

// Norm is the Frobenius norm.
func (m Square) Norm() float64 { return math.Sqrt(m.Dot(m)) }

// Apply is the vector m·x.
func (m Square) Apply(x []float64) []float64 {
	out := make([]float64, m.N)
	for i := range out {
		for j, y := range x {
			out[i] += float64(m.V[i*m.N+j] * y)
		}
	}
	return out
}

// Function applies f to a symmetric matrix through its eigenvalues, found by Jacobi's rotations.
func (m Square) Function(f func(float64) float64) Square {
	n := m.N
	a := Square{n, append([]float64(nil), m.V...)}
	v := Eye(n)
	for range 60 {
		off := 0.0
		for i := range n {
			for j := range i {
				off = math.Max(off, math.Abs(a.V[i*n+j]))
			}
		}
		if off == 0 || off < 1e-300 {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				apq := a.V[p*n+q]
				if apq == 0 {
					continue
				}
				// Golub and Van Loan 2013, Matrix computations, section 8.5.2.
				tau := (a.V[q*n+q] - a.V[p*n+p]) / (2 * apq)
				t := math.Copysign(1, tau) / (math.Abs(tau) + elementary.Hypot(1, tau))
				c := 1 / elementary.Hypot(1, t)
				s := t * c
				for k := range n {
					x, y := a.V[k*n+p], a.V[k*n+q]
					a.V[k*n+p], a.V[k*n+q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
				}
				for k := range n {
					x, y := a.V[p*n+k], a.V[q*n+k]
					a.V[p*n+k], a.V[q*n+k] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
					x, y = v.V[k*n+p], v.V[k*n+q]
					v.V[k*n+p], v.V[k*n+q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
				}
				a.V[p*n+q], a.V[q*n+p] = 0, 0
			}
		}
	}
	out := New(n)
	for k := range n {
		e := f(a.V[k*n+k])
		for i := range n {
			for j := range n {
				out.V[i*n+j] += float64(v.V[i*n+k] * e * v.V[j*n+k])
			}
		}
	}
	return out
}

// Exp is the exponential by scaling, Taylor's series and squaring: Moler and Van Loan 2003, Nineteen dubious ways to
// compute the exponential of a matrix, method 3.
func (m Square) Exp() Square {
	size := 0.0
	for i := range m.N {
		var row float64
		for j := range m.N {
			row += math.Abs(m.V[i*m.N+j])
		}
		size = math.Max(size, row)
	}
	k := 0
	for ; size > 0.25 && k < 64; k++ {
		size /= 2
	}
	x := New(m.N).Add(m, math.Ldexp(1, -k))
	out, term := Eye(m.N), Eye(m.N)
	for i := 1; i <= 14; i++ { // 0.25^15/15! is below 1e-21
		term = term.Mul(x)
		for j := range term.V {
			term.V[j] /= float64(i)
		}
		out = out.Add(term, 1)
	}
	for range k {
		out = out.Mul(out)
	}
	return out
}

// Finite reports whether no entry is NaN or infinite.
func (m Square) Finite() bool {
	for _, x := range m.V {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// Log is the principal logarithm by square roots (Denman and Beavers 1976, The matrix sign function) until the matrix
// is near the identity, and then the series of 2·artanh((A-I)(A+I)⁻¹). It is false where the iteration finds none.
func (m Square) Log() (Square, bool) {
	a := m
	id := Eye(m.N)
	k := 0
	for ; a.Add(id, -1).Norm() > 0.1; k++ {
		if k > 40 {
			return m, false
		}
		root, ok := a.sqrt()
		if !ok {
			return m, false
		}
		a = root
	}
	inv, ok := a.Add(id, 1).inverse()
	if !ok {
		return m, false
	}
	z := a.Add(id, -1).Mul(inv)
	z2 := z.Mul(z)
	out, term := New(m.N), z
	for i := 1; i < 24; i += 2 { // |z| is below 0.06: 0.06^25 is below 1e-30
		out = out.Add(term, 2/float64(i))
		term = term.Mul(z2)
	}
	return New(m.N).Add(out, math.Ldexp(1, k)), out.Finite()
}

// sqrt is the principal square root, by the iteration of Denman and Beavers.
func (m Square) sqrt() (Square, bool) {
	y, z := m, Eye(m.N)
	for range 60 {
		yi, ok1 := y.inverse()
		zi, ok2 := z.inverse()
		if !ok1 || !ok2 {
			return m, false
		}
		next := New(m.N).Add(y.Add(zi, 1), 0.5)
		z = New(m.N).Add(z.Add(yi, 1), 0.5)
		d := next.Add(y, -1).Norm()
		y = next
		if !y.Finite() {
			return m, false
		}
		if d <= 1e-14*y.Norm() {
			break
		}
	}
	return y, y.Mul(y).Add(m, -1).Norm() <= 1e-9*(1+m.Norm())
}

// inverse is by elimination, false for a singular matrix.
func (m Square) inverse() (Square, bool) {
	n := m.N
	a, b := slices.Clone(m.V), Eye(n)
	for i := range n {
		p := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r*n+i]) > math.Abs(a[p*n+i]) {
				p = r
			}
		}
		d := a[p*n+i]
		if !(math.Abs(d) > 1e-300) {
			return m, false
		}
		for k := range n {
			a[i*n+k], a[p*n+k] = a[p*n+k], a[i*n+k]
			b.V[i*n+k], b.V[p*n+k] = b.V[p*n+k], b.V[i*n+k]
		}
		for k := range n {
			a[i*n+k] /= d
			b.V[i*n+k] /= d
		}
		for r := range n {
			if f := a[r*n+i]; r != i && f != 0 {
				for k := range n {
					a[r*n+k] -= float64(f * a[i*n+k])
					b.V[r*n+k] -= float64(f * b.V[i*n+k])
				}
			}
		}
	}
	return b, true
}

// Det is the determinant by elimination.
func (m Square) Det() float64 {
	n := m.N
	a := slices.Clone(m.V)
	d := 1.0
	for i := range n {
		p := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r*n+i]) > math.Abs(a[p*n+i]) {
				p = r
			}
		}
		if a[p*n+i] == 0 {
			return 0
		}
		if p != i {
			d = -d
			for k := range n {
				a[i*n+k], a[p*n+k] = a[p*n+k], a[i*n+k]
			}
		}
		d *= a[i*n+i]
		for r := i + 1; r < n; r++ {
			f := a[r*n+i] / a[i*n+i]
			for k := i; k < n; k++ {
				a[r*n+k] -= float64(f * a[i*n+k])
			}
		}
	}
	return d
}
