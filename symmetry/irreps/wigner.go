package irreps

import (
	"fmt"
	"math"
)

// Basis says which axis of space the components m = -l, ..., l of an irrep single out.
type Basis int

const (
	// PolarY is the basis of e3nn: m = 0 is symmetric about y, and a vector is (x, y, z). It is the basis of textbooks
	// with x, y, z renamed z, x, y.
	PolarY Basis = iota
	// PolarZ is the basis of textbooks, real spherical harmonics without the Condon-Shortley phase: m = 0 is symmetric
	// about z, and a vector is (y, z, x).
	PolarZ
)

// order is the axis of space that each component of a vector stands for.
func (b Basis) order() [3]int {
	if b == PolarZ {
		return [3]int{1, 2, 0}
	}
	return [3]int{0, 1, 2}
}

// Wigner computes the matrices of the irreps of degree 0 to a highest one. It is immutable and safe for concurrent use.
//
// The matrices are found by recursion over the degree from the entries of the rotation alone, without angles and so
// without their singular places: Ivanic and Ruedenberg 1996 (J. Phys. Chem. 100, 6342) with the corrections of 1998 (J.
// Phys. Chem. A 102, 9099). Row m of degree l is, for |n| < l,
//
//	D^l(m, n) = Σ_i k_i r(i, 0) D^(l-1)(a_i, n) / sqrt((l+n)(l-n))
//
// with at most five terms, r being the rotation in the basis's order of the axes; columns n = ±l have two products in
// each.
type Wigner struct {
	top   int
	basis Basis
	// of degree 2 and up
	level []level
}

// level is the recursion from degree l-1 to l.
type level struct {
	rows []row
	// 1/sqrt((l+n)(l-n)) for |n| < l, in the order n = -l+1, ..., l-1
	inv []float64
	// 1/sqrt(2l(2l-1))
	edge float64
}

type row struct {
	count int
	term  [5]term
}

// term is k·P(i, a, n), see [Wigner]. a counts from 0 for -(l-1).
type term struct {
	k float64
	// i: row of the rotation, 0 to 2
	i, a int
}

// NewWigner prepares the degrees 0 to top, at most [MaxL].
func NewWigner(top int, b Basis) (*Wigner, error) {
	if top < 0 || top > MaxL {
		return nil, fmt.Errorf("irreps of degree %d: want 0 to %d", top, MaxL)
	}
	if b != PolarY && b != PolarZ {
		return nil, fmt.Errorf("basis %d: want PolarY or PolarZ", b)
	}
	w := &Wigner{top: top, basis: b}
	for l := 2; l <= top; l++ {
		v := level{edge: 1 / math.Sqrt(float64(2*l*(2*l-1)))}
		for n := -l + 1; n < l; n++ {
			v.inv = append(v.inv, 1/math.Sqrt(float64((l+n)*(l-n))))
		}
		for m := -l; m <= l; m++ {
			v.rows = append(v.rows, newRow(l, m))
		}
		w.level = append(w.level, v)
	}
	return w, nil
}

// newRow lists the terms of row m: the functions u·U + v·V + w·W of Ivanic and Ruedenberg without their common
// denominator.
func newRow(l, m int) row {
	var r row
	add := func(k float64, i, a int) {
		if k != 0 {
			r.term[r.count] = term{k, i + 1, a + l - 1}
			r.count++
		}
	}
	abs := max(m, -m)
	u := math.Sqrt(float64((l + m) * (l - m)))
	v := math.Sqrt(float64((l+abs-1)*(l+abs))) / 2
	w := -math.Sqrt(float64((l-abs-1)*(l-abs))) / 2
	add(u, 0, m)
	switch {
	case m == 0:
		v *= -math.Sqrt2
		add(v, 1, 1)
		add(v, -1, -1)
	case m == 1:
		add(v*math.Sqrt2, 1, 0)
	case m == -1:
		add(v*math.Sqrt2, -1, 0)
	case m > 0:
		add(v, 1, m-1)
		add(-v, -1, -m+1)
	default:
		add(v, 1, m+1)
		add(v, -1, -m-1)
	}
	switch {
	case m > 0:
		add(w, 1, m+1)
		add(w, -1, -m-1)
	case m < 0:
		add(w, 1, m-1)
		add(-w, -1, -m+1)
	}
	return r
}

// Top is the highest degree.
func (w *Wigner) Top() int { return w.top }

// Basis is the basis that the matrices are in.
func (w *Wigner) Basis() Basis { return w.basis }

// Len is the numbers of all matrices, the sum of (2l+1)² over the degrees.
func (w *Wigner) Len() int { return offset(w.top + 1) }

// offset is where degree l begins: the sum of (2k+1)² for k < l.
func offset(l int) int { return l * (4*l*l - 1) / 3 }

// Block is the matrix of degree l, (2l+1)×(2l+1) numbers in rows, in what [Wigner.Fill] wrote. It shares memory.
func (w *Wigner) Block(d []float64, l int) []float64 { return d[offset(l):offset(l+1):offset(l+1)] }

// Fill writes the matrices of degree 0, 1, ... one after another, [Wigner.Len] numbers, each in rows: D^l(m, n) says
// how much of component n of x goes to component m of r·x. r is a rotation, 3×3 numbers in rows in the order x, y, z;
// what is written for other matrices means nothing. For rotations of the cube, whose entries are 0 and ±1, entries of D
// that are 0 or ±1 are so exactly.
func (w *Wigner) Fill(d []float64, r *[9]float64) {
	d = d[:w.Len()]
	d[0] = 1
	if w.top == 0 {
		return
	}
	o := w.basis.order()
	one := d[1:10]
	for i := range 3 {
		for j := range 3 {
			one[3*i+j] = r[3*o[i]+o[j]]
		}
	}
	r1 := (*[9]float64)(one)
	for l := 2; l <= w.top; l++ {
		w.level[l-2].fill(w.Block(d, l), w.Block(d, l-1), r1, l)
	}
	if cube(r) {
		for i, v := range d {
			if k := math.Round(v); math.Abs(v-k) < 1e-9 {
				d[i] = k + 0
			}
		}
	}
}

// fill writes degree l from degree l-1.
func (v *level) fill(d, below []float64, r1 *[9]float64, l int) {
	n, k := 2*l+1, 2*l-1
	for m := range v.rows {
		row := &v.rows[m]
		out := d[m*n : (m+1)*n]
		inner := out[1 : 1+k]
		clear(inner)
		var first, last float64
		for _, t := range row.term[:row.count] {
			src := below[t.a*k : (t.a+1)*k]
			r := r1[3*t.i : 3*t.i+3]
			c := t.k * r[1]
			for j, s := range src {
				inner[j] += float64(c * s)
			}
			lo, hi := src[0], src[k-1]
			last += float64(t.k * (float64(r[2]*hi) - float64(r[0]*lo)))
			first += float64(t.k * (float64(r[2]*lo) + float64(r[0]*hi)))
		}
		for j, s := range v.inv {
			inner[j] *= s
		}
		out[0], out[n-1] = first*v.edge, last*v.edge
	}
}

// cube reports whether all entries are 0 or ±1.
func cube(r *[9]float64) bool {
	for _, v := range r {
		if v != 0 && v != 1 && v != -1 {
			return false
		}
	}
	return true
}

// Split writes an orthogonal matrix, 3×3 numbers in rows, as a rotation and a sign: a = rotation, or a = -rotation
// where improper. It is false if a is not orthogonal up to tol, entry by entry of aᵀa.
func Split(a *[9]float64, tol float64) (rotation [9]float64, improper, ok bool) {
	for i := range 3 {
		for j := i; j < 3; j++ {
			s := float64(a[i]*a[j]) + float64(a[3+i]*a[3+j]) + float64(a[6+i]*a[6+j])
			if i == j {
				s--
			}
			if !(math.Abs(s) <= tol) {
				return rotation, false, false
			}
		}
	}
	rotation = *a
	if Det(a) < 0 {
		for i := range rotation {
			rotation[i] = 0 - rotation[i] // no negative zeros
		}
		return rotation, true, true
	}
	return rotation, false, true
}

// Det is the determinant of a 3×3 matrix.
func Det(a *[9]float64) float64 {
	return float64(a[0]*(float64(a[4]*a[8])-float64(a[5]*a[7]))) -
		float64(a[1]*(float64(a[3]*a[8])-float64(a[5]*a[6]))) + float64(a[2]*(float64(a[3]*a[7])-float64(a[4]*a[6])))
}
