package pencil

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Algebra is what families generate under commutators.
type Algebra struct {
	// Basis spans it, with as many zeros as can be.
	Basis []Motion `json:"basis"`
	// Defect is the largest part of a commutator of two families that they do not span, relative to the commutator;
	// above
	// 0.05 they do not close, and the rank or the data are wrong.
	Defect float64 `json:"closure_defect"`
	Closed bool    `json:"closed"`
	// Structure is that of the algebra; nil where it does not close or is too large.
	Structure *Structure `json:"structure,omitempty"`
	// Form is the only symmetric matrix that the families keep, its smallest eigenvalue 1 or -1; nil where there is
	// none or
	// where there are several, as Forms counts.
	Form  [][]float64 `json:"form,omitempty"`
	Forms int         `json:"forms"`
	// Signature counts its positive and negative eigenvalues.
	Signature []int `json:"signature,omitempty"`
	// Fixed is the point that all affine families leave where it is; nil for none.
	Fixed []float64 `json:"fixed,omitempty"`
	// Turns are the frequencies of the basis: the imaginary parts of the eigenvalues of each member.
	Turns []Turn `json:"turns"`
	// Angles are those to families of known name and the same dimension, in degrees, the smallest first.
	Angles []Angle `json:"angles"`
	Name   string  `json:"name"`
	// Known says that the name is of the catalogue, and right to a tenth of a degree.
	Known bool `json:"known"`
	// Spins are l of the irreducible representations of so(3) that the answers hold, as far as they are of such.
	Spins []float64 `json:"spins,omitempty"`

	exact []*mat.Dense
}

// Structure is what does not depend on the basis of an algebra.
type Structure struct {
	Dimension int `json:"dimension"`
	Centre    int `json:"centre"`
	Derived   int `json:"derived"`
	// Killing counts positive, negative and zero eigenvalues of the form tr(ad x ad y).
	Killing   [3]int `json:"killing"`
	Solvable  bool   `json:"solvable"`
	Nilpotent bool   `json:"nilpotent"`

	constants [][][]float64
	vectors   [][]float64
	slack     float64
}

// Turn is how a member of the basis moves: by frequencies, if any.
type Turn struct {
	// Frequencies are positive imaginary parts of eigenvalues, the largest first; Grows says that there are real parts.
	Frequencies []float64 `json:"frequencies"`
	Grows       bool      `json:"grows"`
	// Period is after how much of the parameter everything is back; 0 where that is never.
	Period float64 `json:"period,omitempty"`
	// Answers are the frequencies of the answers.
	Answers []float64 `json:"answers,omitempty"`
}

// Angle is the largest principal angle to families of a known name.
type Angle struct {
	Name    string  `json:"name"`
	Degrees float64 `json:"degrees"`

	members []*mat.Dense
}

// Limits of what is said of algebras.
const (
	closes = 0.05
	// dimension up to which structure is computed: that of so(10).
	structured = 45
	// pairs of a larger algebra whose commutators are looked at.
	pairs = 200
	// coordinates up to which a form is looked for, which has half as many squared numbers.
	formed = 32
)

// algebra is what levels generate.
func (s *system) algebra(levels []level, floor float64) *Algebra {
	a := &Algebra{Turns: []Turn{}, Angles: []Angle{}}
	var motions []Motion
	var members [][]*mat.Dense
	for _, l := range levels {
		motions = append(motions, s.motion(l.vector))
		members = append(members, s.balanced(l.vector))
	}
	a.Basis = readable(motions)
	vectors := make([][]float64, len(members))
	for i, m := range members {
		vectors[i] = s.vector(m)
	}
	vectors = spanned(vectors, 1e-12)
	slack := max(1e-6, 30*floor)
	a.close(s, vectors, slack)
	a.forms(s, members, floor)
	for _, m := range a.Basis {
		a.Turns = append(a.Turns, turn(m))
	}
	a.origin(s.parts[0])
	a.name(s, motions)
	a.spins(s)
	return a
}

// origin says that families leave the origin where none shifts it: of a line of points that they leave, that is the one
// to name.
func (a *Algebra) origin(p *part) {
	const small = 1e-3
	for _, m := range a.Basis {
		for r, row := range m.A[0] {
			if len(row) > len(m.A[0]) && math.Abs(row[len(row)-1]) > small*p.unit[r] {
				return
			}
		}
	}
	if a.Fixed != nil {
		clear(a.Fixed)
	}
}

// vector lays the matrices of all parts into one list.
func (*system) vector(blocks []*mat.Dense) []float64 {
	var v []float64
	for _, b := range blocks {
		v = append(v, b.RawMatrix().Data...)
	}
	return v
}

// blocks is the way back.
func (s *system) blocks(v []float64) []*mat.Dense {
	var out []*mat.Dense
	for _, p := range s.parts {
		out = append(out, mat.NewDense(p.k, p.c, append([]float64(nil), v[:p.size()]...)))
		v = v[p.size():]
	}
	return out
}

// bracket is the commutator of two members, as far as the quotients leave it.
func (s *system) bracket(x, y []float64) []float64 {
	a, b := s.blocks(x), s.blocks(y)
	out := make([]*mat.Dense, len(a))
	for i, p := range s.parts {
		g, h := p.square(a[i]), p.square(b[i])
		var one, other mat.Dense
		one.Mul(g, h)
		other.Mul(h, g)
		one.Sub(&one, &other)
		out[i] = p.plain(&one)
	}
	return s.vector(out)
}

// close computes commutators of an orthonormal basis, and what is left of them beside it.
func (a *Algebra) close(s *system, basis [][]float64, slack float64) {
	n := len(basis)
	var all [][2]int
	for i := range n {
		for j := range i {
			all = append(all, [2]int{j, i})
		}
	}
	if n > structured {
		var some [][2]int
		for k := range pairs {
			some = append(some, all[k*len(all)/pairs])
		}
		all = some
	}
	t := &Structure{Dimension: n, vectors: basis, slack: slack}
	for range n {
		rows := make([][]float64, n)
		for j := range rows {
			rows[j] = make([]float64, n)
		}
		t.constants = append(t.constants, rows)
	}
	for _, p := range all {
		z := s.bracket(basis[p[0]], basis[p[1]])
		size := norm(z)
		if size <= slack {
			continue // they commute
		}
		c := make([]float64, n)
		for k, b := range basis {
			c[k] = dot(b, z)
			axpy(z, -c[k], b)
		}
		a.Defect = max(a.Defect, norm(z)/size)
		for k, v := range c {
			t.constants[p[0]][p[1]][k], t.constants[p[1]][p[0]][k] = v, -v
		}
	}
	a.Closed = a.Defect <= closes
	if !a.Closed || n > structured {
		return
	}
	t.slack = max(slack, 10*a.Defect)
	t.compute()
	a.Structure = t
}

// compute finds what follows from the structure constants.
func (t *Structure) compute() {
	n := t.Dimension
	var top float64
	ad := make([][]float64, n)
	var brackets [][]float64
	for i := range n {
		for j := range n {
			ad[i] = append(ad[i], t.constants[i][j]...)
			if j > i {
				brackets = append(brackets, t.constants[i][j])
				top = max(top, norm(t.constants[i][j]))
			}
		}
	}
	share := min(max(t.slack, 1e-3), 0.3)
	if top <= 10*t.slack { // abelian: nothing is larger than rounding
		t.Centre, t.Killing, t.Solvable, t.Nilpotent = n, [3]int{0, 0, n}, true, true
		return
	}
	t.Centre = n - len(spanned(ad, share))
	derived := spanned(brackets, share)
	t.Derived = len(derived)
	killing := newSym(n)
	for i := range n {
		for j := i; j < n; j++ {
			killing.SetSym(i, j, t.killing(i, j))
		}
	}
	t.Killing = inertia(killing, share)
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, n)
		all[i][i] = 1
	}
	t.Solvable = t.dies(derived, func(s [][]float64) [][]float64 { return s }, share*top)
	t.Nilpotent = t.dies(derived, func([][]float64) [][]float64 { return all }, share*top)
}

func (t *Structure) killing(i, j int) float64 {
	var sum float64
	for k := range t.Dimension {
		for l := range t.Dimension {
			sum += float64(t.constants[i][k][l] * t.constants[j][l][k])
		}
	}
	return sum
}

// dies tells whether the series of spans [s, with(s)] ends in nothing.
func (t *Structure) dies(s [][]float64, with func(s [][]float64) [][]float64, least float64) bool {
	for len(s) > 0 {
		var next [][]float64
		for _, x := range s {
			for _, y := range with(s) {
				if z := t.product(x, y); norm(z) > least {
					next = append(next, z)
				}
			}
		}
		next = spanned(next, 1e-3)
		if len(next) >= len(s) {
			return false
		}
		s = next
	}
	return true
}

// product is the commutator of two members in coordinates of the basis.
func (t *Structure) product(x, y []float64) []float64 {
	z := make([]float64, t.Dimension)
	for i, a := range x {
		for j, b := range y {
			if f := a * b; f != 0 {
				axpy(z, f, t.constants[i][j])
			}
		}
	}
	return z
}

// inertia counts positive, negative and zero eigenvalues, zero relative to the largest.
func inertia(m *mat.SymDense, share float64) [3]int {
	values, _ := symmetric(m)
	var top float64
	for _, v := range values {
		top = max(top, math.Abs(v))
	}
	var out [3]int
	for _, v := range values {
		switch {
		case v > share*top:
			out[0]++
		case v < -share*top:
			out[1]++
		default:
			out[2]++
		}
	}
	return out
}

// forms finds the symmetric matrices S with AᵀS + SA = 0 for the linear parts of the only block, and the point that all
// leave.
func (a *Algebra) forms(s *system, members [][]*mat.Dense, floor float64) {
	p := s.parts[0]
	if len(s.parts) > 1 && s.parts[1].moved != nil {
		return
	}
	k := p.space
	var maps []*mat.Dense
	for _, m := range members {
		maps = append(maps, p.square(m[0]))
	}
	if p.affine {
		a.Fixed = fixed(p, maps)
	}
	if p.empty || k > formed {
		return
	}
	if _, rank := p.left.Dims(); rank < p.k {
		return // a form of some of the coordinates has no matrix of its own
	}
	var index [][2]int
	for i := range k {
		for j := i; j < k; j++ {
			index = append(index, [2]int{i, j})
		}
	}
	normal := newSym(len(index))
	for _, g := range maps {
		size := mat.Norm(g.Slice(0, k, 0, k), 2)
		if size == 0 {
			continue
		}
		// Each entry of AᵀS + SA is an equation in the entries of S.
		for r := range k {
			for c := r; c < k; c++ {
				eq := make([]float64, len(index))
				for e, ij := range index {
					i, j := ij[0], ij[1]
					// S = E_ij + E_ji: (AᵀS)_rc = Σ A_xr S_xc, (SA)_rc = Σ S_rx A_xc
					var v float64
					if j == c {
						v += g.At(i, r)
					}
					if i == c && i != j {
						v += g.At(j, r)
					}
					if i == r {
						v += g.At(j, c)
					}
					if j == r && i != j {
						v += g.At(i, c)
					}
					eq[e] = v / size
				}
				add(normal, 1, eq)
			}
		}
	}
	values, vectors := symmetric(normal)
	least := max(1e-6, 30*floor)
	for _, v := range values {
		if v <= least*least*values[len(values)-1] {
			a.Forms++
		}
	}
	if a.Forms != 1 {
		return
	}
	form := newSym(k)
	for e, ij := range index {
		form.SetSym(ij[0], ij[1], vectors.At(e, 0)/(p.unit[ij[0]]*p.unit[ij[1]]))
	}
	in := inertia(form, 1e-4)
	if in[2] > 0 {
		return // it says nothing of some direction
	}
	own, _ := symmetric(form)
	small := math.Inf(1)
	for _, v := range own {
		small = min(small, math.Abs(v))
	}
	if in[1] > in[0] || in[1] == in[0] && form.At(0, 0) < 0 {
		small = -small
		in[0], in[1] = in[1], in[0]
	}
	for i := range k {
		row := make([]float64, k)
		for j := range row {
			row[j] = form.At(i, j) / small
		}
		a.Form = append(a.Form, row)
	}
	a.Signature = []int{in[0], in[1]}
}

// fixed is the point c with A c + a = 0 for all members, in the coordinates of the input.
func fixed(p *part, maps []*mat.Dense) []float64 {
	k := p.space
	normal, right := newSym(k), make([]float64, k)
	var shifts float64
	for _, m := range maps {
		for r := range k {
			row := append([]float64(nil), m.RawRowView(r)[:k]...)
			a := m.At(r, k)
			add(normal, 1, row)
			axpy(right, -a, row)
			shifts += float64(a * a)
		}
	}
	values, vectors := symmetric(normal)
	c := make([]float64, k)
	for j, v := range values {
		if v > 1e-6*values[k-1] {
			col := mat.Col(nil, j, vectors)
			axpy(c, dot(col, right)/v, col)
		}
	}
	var rest float64
	for _, m := range maps {
		for r := range k {
			d := dot(m.RawRowView(r)[:k], c) + m.At(r, k)
			rest += float64(d * d)
		}
	}
	// A point that is far away beside the data is one of shifts that were measured badly.
	const near, far = 1e-2, 100
	if !(values[k-1] > 0) || norm(c) > far || !(rest <= near*near*(mat.Trace(normal)+shifts)) {
		return nil
	}
	for j := range c {
		c[j] = p.middle[j] + float64(p.unit[j]*c[j])
	}
	return c
}

// readable is another basis of the same span, with a 1 in each member where the others have 0.
func readable(motions []Motion) []Motion {
	flat := func(m Motion) []float64 {
		return slices.Concat(append(slices.Concat(m.A...), m.B...)...)
	}
	rows := make([][]float64, len(motions))
	inputs := 0
	for _, row := range slices.Concat(motions[0].A...) {
		inputs += len(row)
	}
	for i, m := range motions {
		rows[i] = flat(m)
	}
	pivots := make([]int, 0, len(rows))
	for k := range rows {
		row, col, top := 0, -1, 0.0
		for _, end := range []int{inputs, len(rows[0])} {
			for i := k; i < len(rows); i++ {
				for j, v := range rows[i][:end] {
					if math.Abs(v) > top*(1+1e-6) {
						row, col, top = i, j, math.Abs(v)
					}
				}
			}
			if top > 1e-6 {
				break
			}
		}
		if col < 0 {
			break
		}
		rows[k], rows[row] = rows[row], rows[k]
		scale(rows[k], 1/rows[k][col])
		for i := range rows {
			if i != k {
				axpy(rows[i], -rows[i][col], rows[k])
			}
		}
		pivots = append(pivots, col)
	}
	order := make([]int, len(pivots))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return pivots[a] - pivots[b] })
	var out []Motion
	for _, i := range order {
		row := rows[i]
		var m Motion
		for _, block := range motions[0].A {
			var a [][]float64
			for _, r := range block {
				a, row = append(a, row[:len(r):len(r)]), row[len(r):]
			}
			m.A = append(m.A, a)
		}
		for _, r := range motions[0].B {
			m.B, row = append(m.B, row[:len(r):len(r)]), row[len(r):]
		}
		out = append(out, m)
	}
	return out
}

// turn is how a motion turns.
func turn(m Motion) Turn {
	out := Turn{Frequencies: []float64{}}
	for _, a := range m.A {
		f, grows := frequencies(a)
		out.Frequencies, out.Grows = append(out.Frequencies, f...), out.Grows || grows
	}
	out.Answers, _ = frequencies(m.B)
	slices.SortFunc(out.Frequencies, func(a, b float64) int {
		if a > b {
			return -1
		}
		return 1
	})
	if !out.Grows {
		out.Period = period(append(out.Frequencies, out.Answers...))
	}
	return out
}

// frequencies are the positive imaginary parts of the eigenvalues of the linear part of rows; grows tells whether a
// real
// part is there, or an eigenvalue without one that is no turn.
func frequencies(rows [][]float64) (out []float64, grows bool) {
	k := len(rows)
	if k == 0 {
		return nil, false
	}
	m := mat.NewDense(k, k, nil)
	for i, r := range rows {
		m.SetRow(i, r[:k])
	}
	size := max(mat.Norm(m, 2), 1) // of a motion whose largest number is 1
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenNone) {
		return nil, true
	}
	turns := 0
	var squares float64
	for _, v := range e.Values(nil) {
		const least = 1e-3
		if math.Abs(real(v)) > least*size {
			grows = true
		}
		if math.Abs(imag(v)) > least*size {
			turns++
			squares += float64(imag(v) * imag(v))
			if imag(v) > 0 {
				out = append(out, imag(v))
			}
		}
	}
	return out, grows || turns == 0
}

// period is after which all frequencies are back, if their ratios are those of small whole numbers.
func period(frequencies []float64) float64 {
	const near, most = 1e-3, 24
	if len(frequencies) == 0 {
		return 0
	}
	first := slices.Max(frequencies)
	for n := 1; n <= most; n++ {
		base, all := first/float64(n), true
		for _, f := range frequencies {
			r := f / base
			all = all && math.Abs(r-math.Round(r)) <= near*max(1, r) && r > 0.5
		}
		if all {
			return 2 * math.Pi / base
		}
	}
	return 0
}

// spins are l of what the answers hold, by the Casimir element of a derived algebra that is so(3): its eigenvalues are
// l(l+1)/2 where the Killing form is -2 on generators of unit speed.
func (a *Algebra) spins(s *system) {
	t := a.Structure
	last := s.parts[len(s.parts)-1]
	if t == nil || last.moved != nil || t.Derived != 3 {
		return
	}
	var brackets [][]float64
	for i := range t.Dimension {
		for j := range i {
			brackets = append(brackets, t.constants[j][i])
		}
	}
	basis := spanned(brackets, 1e-2)
	if len(basis) != 3 {
		return
	}
	// tr(ad ad) within the derived algebra
	inner := func(x []float64) *mat.Dense {
		m := mat.NewDense(3, 3, nil)
		for j, b := range basis {
			w := t.product(x, b)
			for i, c := range basis {
				m.Set(i, j, dot(c, w))
			}
		}
		return m
	}
	killing := newSym(3)
	for i := range 3 {
		for j := i; j < 3; j++ {
			var p mat.Dense
			p.Mul(inner(basis[i]), inner(basis[j]))
			killing.SetSym(i, j, mat.Trace(&p))
		}
	}
	if inertia(killing, 1e-2) != [3]int{0, 3, 0} {
		return
	}
	var inverse mat.Dense
	if inverse.Inverse(killing) != nil {
		return
	}
	squares := make([]*mat.Dense, 3)
	for i, b := range basis {
		v := make([]float64, len(t.vectors[0]))
		for j, f := range b {
			axpy(v, f, t.vectors[j])
		}
		blocks := s.blocks(v)
		q := last.k
		squares[i] = mat.DenseCopyOf(last.square(blocks[len(blocks)-1]).Slice(0, q, 0, q))
	}
	casimir := mat.NewDense(last.k, last.k, nil)
	for i := range 3 {
		for j := range 3 {
			var p mat.Dense
			p.Mul(squares[i], squares[j])
			p.Scale(inverse.At(i, j), &p)
			casimir.Add(casimir, &p)
		}
	}
	var e mat.Eigen
	if !e.Factorize(casimir, mat.EigenNone) {
		return
	}
	for _, v := range e.Values(nil) {
		l := (math.Sqrt(max(0, 1+float64(8*real(v)))) - 1) / 2
		if l < 1e-6 {
			l = 0
		}
		a.Spins = append(a.Spins, l)
	}
	slices.Sort(a.Spins)
}
