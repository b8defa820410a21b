package pencil

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// known is families of a known name: so many, as matrices of k rows and k+1 columns, or k without shifts, which are
// made when they are needed, for those of many coordinates are large.
type known struct {
	name    string
	count   int
	members func() []*mat.Dense
}

// unit is E_rc.
func unitMatrix(k, c, r, s int, v float64) *mat.Dense {
	m := mat.NewDense(k, c, nil)
	m.Set(r, s, v)
	return m
}

// catalogue is the families of known names that maps of k coordinates can have.
func catalogue(k int, affine bool) []known {
	c := k
	if affine {
		c++
	}
	e := func(r, s int) *mat.Dense { return unitMatrix(k, c, r, s, 1) }
	plane := func(i, j int) *mat.Dense {
		m := e(j, i)
		m.Set(i, j, -1)
		return m
	}
	boost := func(i, j int) *mat.Dense {
		m := e(j, i)
		m.Set(i, j, 1)
		return m
	}
	// planes are the turns, or boosts where one of the two coordinates is time, of all planes but those of one.
	planes := func(time, but int) func() []*mat.Dense {
		return func() []*mat.Dense {
			var out []*mat.Dense
			for i := range k {
				for j := range i {
					switch {
					case i == but || j == but:
					case i == time || j == time:
						out = append(out, boost(j, i))
					default:
						out = append(out, plane(j, i))
					}
				}
			}
			return out
		}
	}
	const no = -1
	turns := planes(no, no)
	scaling := func() []*mat.Dense {
		grow := mat.NewDense(k, c, nil)
		for i := range k {
			grow.Set(i, i, 1)
		}
		return []*mat.Dense{grow}
	}
	diagonal := func() []*mat.Dense {
		var out []*mat.Dense
		for i := range k {
			out = append(out, e(i, i))
		}
		return out
	}
	offDiagonal := func() []*mat.Dense {
		var out []*mat.Dense
		for i := range k {
			for j := range k {
				if i != j {
					out = append(out, e(i, j))
				}
			}
		}
		return out
	}
	traceless := func() []*mat.Dense {
		var out []*mat.Dense
		for i := 1; i < k; i++ {
			m := e(i, i)
			m.Set(0, 0, -1)
			out = append(out, m)
		}
		return out
	}
	shifts := func() []*mat.Dense {
		var out []*mat.Dense
		for i := range k {
			out = append(out, e(i, k))
		}
		return out
	}
	join := func(sets ...func() []*mat.Dense) func() []*mat.Dense {
		return func() []*mat.Dense {
			var out []*mat.Dense
			for _, s := range sets {
				out = append(out, s()...)
			}
			return out
		}
	}
	pairs := k * (k - 1) / 2
	out := []known{
		{fmt.Sprintf("so(%d): all turns", k), pairs, turns},
		{"scaling", 1, scaling},
		{fmt.Sprintf("so(%d) + R: all turns and scaling", k), pairs + 1, join(turns, scaling)},
		{fmt.Sprintf("sl(%d): all maps that keep volume", k), k*k - 1, join(offDiagonal, traceless)},
		{fmt.Sprintf("gl(%d): all linear maps", k), k * k, join(offDiagonal, diagonal)},
		{"scaling of each coordinate", k, diagonal},
	}
	for t := range k {
		out = append(out, known{
			fmt.Sprintf("so(%d,1): turns and boosts, time is coordinate %d", k-1, t+1), pairs, planes(t, no),
		})
	}
	if k > 2 {
		for i := range k {
			for j := range i {
				out = append(out, known{
					fmt.Sprintf("so(2): turns of coordinates %d and %d", j+1, i+1), 1,
					func() []*mat.Dense { return []*mat.Dense{plane(j, i)} },
				})
			}
		}
		for t := range k {
			if rest := (k - 1) * (k - 2) / 2; rest > 1 {
				out = append(out, known{
					fmt.Sprintf("so(%d): turns that leave coordinate %d", k-1, t+1), rest, planes(no, t),
				})
			}
		}
	}
	if !affine {
		return out
	}
	return append(out,
		known{fmt.Sprintf("R%d: all shifts", k), k, shifts},
		known{fmt.Sprintf("se(%d): all turns and shifts", k), pairs + k, join(turns, shifts)},
		known{
			fmt.Sprintf("se(%d) + R: all turns, shifts and scaling", k), pairs + k + 1,
			join(turns, shifts, scaling),
		},
		known{"shifts and scaling", k + 1, join(shifts, scaling)},
		known{fmt.Sprintf("aff(%d): all affine maps", k), k*k + k, join(offDiagonal, diagonal, shifts)},
	)
}

// nearAngle is the largest angle, in degrees, at which families have a name of the catalogue.
const nearAngle = 5

// sameAngle is the largest one at which there is no need to tell them from those.
const sameAngle = 0.1

// name finds the algebra in the catalogue, or else says what its invariants are those of.
func (a *Algebra) name(s *system, motions []Motion) {
	a.Name = "unnamed"
	if !a.Closed {
		a.Name = "not closed under commutators: the rank or the data are wrong"
		return
	}
	about := ""
	if at, ok := alike(motions); ok {
		about = a.look(motions, at, norm(s.parts[at].unit)/math.Sqrt(float64(s.parts[at].space)))
	}
	// Near to turns are those of a stretched space, too, which their form tells from true ones.
	form, near := a.orthogonal(s), len(a.Angles) > 0 && a.Angles[0].Degrees < nearAngle
	switch {
	case near && (form == "" || a.Angles[0].Degrees < sameAngle):
		a.Name, a.Known, a.exact = a.Angles[0].Name+about, a.Angles[0].Degrees < sameAngle, a.Angles[0].members
		return
	case form != "":
		a.Name = form + about
		return
	}
	if a.Structure != nil {
		if name := a.Structure.name(a); name != "" {
			a.Name = name + about
		}
	}
}

// alike tells whether the motions move all blocks by the same matrix, and which block stands for them: one with shifts
// if there is any.
func alike(motions []Motion) (block int, ok bool) {
	k := len(motions[0].A[0])
	for b, rows := range motions[0].A {
		if len(rows) != k {
			return 0, false
		}
		if len(rows[0]) > len(motions[0].A[block][0]) {
			block = b
		}
	}
	const near = 1e-3
	for _, m := range motions {
		for _, rows := range m.A[1:] {
			for r := range rows {
				for c := range k {
					if math.Abs(rows[r][c]-m.A[0][r][c]) > near {
						return 0, false
					}
				}
			}
		}
	}
	return block, true
}

// Matrices are generators of the families that close exactly, for a definition of the group that they generate: those
// of a known name, those of the form, or the only one. They are none where families shift, or where there are no such.
func (a *Algebra) Matrices() [][][]float64 {
	shifts := func(rows [][]float64) bool {
		return slices.ContainsFunc(rows, func(r []float64) bool {
			return len(r) > len(rows) && math.Abs(r[len(rows)]) > 1e-6
		})
	}
	linear := func(rows [][]float64) [][]float64 {
		out := make([][]float64, len(rows))
		for i, r := range rows {
			out[i] = r[:len(rows)]
		}
		return out
	}
	var out [][][]float64
	switch k := len(a.Basis[0].A[0]); {
	case len(a.Basis[0].A) > 1 || slices.ContainsFunc(a.Basis, func(m Motion) bool { return shifts(m.A[0]) }):
	case a.Known:
		for _, m := range a.exact {
			rows := make([][]float64, k)
			for i := range rows {
				rows[i] = m.RawRowView(i)
			}
			out = append(out, linear(rows))
		}
	case a.Form != nil && len(a.Basis) == k*(k-1)/2:
		form := mat.NewDense(k, k, nil)
		for i, r := range a.Form {
			form.SetRow(i, r)
		}
		for i := range k {
			for j := range i {
				turn := unitMatrix(k, k, i, j, 1)
				turn.Set(j, i, -1)
				var m mat.Dense
				if m.Solve(form, turn) != nil {
					return nil
				}
				rows := make([][]float64, k)
				for r := range rows {
					rows[r] = m.RawRowView(r)
				}
				out = append(out, rows)
			}
		}
	case len(a.Basis) == 1:
		out = append(out, linear(a.Basis[0].A[0]))
	}
	return out
}

// look measures the angles to the families of the catalogue, about the point that all leave. It returns words for that
// point if it is not the origin. Shifts are measured in the size of the data.
func (a *Algebra) look(motions []Motion, at int, size float64) (about string) {
	k, c := len(motions[0].A[at]), len(motions[0].A[at][0])
	var rows [][]float64
	for _, m := range motions {
		var row []float64
		for _, r := range m.A[at] {
			r = append([]float64(nil), r...)
			if c > k {
				if a.Fixed != nil {
					r[k] += dot(r[:k], a.Fixed)
				}
				r[k] /= size
			}
			row = append(row, r...)
		}
		rows = append(rows, row)
	}
	if a.Fixed != nil && slices.ContainsFunc(a.Fixed, func(v float64) bool { return math.Abs(v) > 1e-3*size }) {
		about = " about " + list(a.Fixed)
	}
	own := spanned(rows, 1e-6)
	if len(own) != len(motions) {
		return about // members that differ in the answers alone
	}
	for _, n := range catalogue(k, c > k) {
		if n.count != len(own) {
			continue
		}
		members := n.members()
		var other [][]float64
		for _, m := range members {
			other = append(other, m.RawMatrix().Data)
		}
		a.Angles = append(a.Angles, Angle{n.name, angle(own, spanned(other, 1e-6)), members})
	}
	slices.SortStableFunc(a.Angles, func(x, y Angle) int {
		if x.Degrees < y.Degrees {
			return -1
		} else if x.Degrees > y.Degrees {
			return 1
		}
		return 0
	})
	return about
}

// list writes numbers to four digits.
func list(v []float64) string {
	var out []string
	for _, x := range v {
		out = append(out, strconv.FormatFloat(x, 'g', 4, 64))
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// angle is the largest principal angle between two spans of orthonormal rows, in degrees. Its sine is that of what one
// leaves of the other, which is exact for small angles, too.
func angle(a, b [][]float64) float64 {
	rest := newSym(len(a))
	rows := make([][]float64, len(a))
	for i, x := range a {
		rows[i] = append([]float64(nil), x...)
		for _, y := range b {
			axpy(rows[i], -dot(x, y), y)
		}
	}
	for i := range a {
		for j := i; j < len(a); j++ {
			rest.SetSym(i, j, dot(rows[i], rows[j]))
		}
	}
	values, _ := symmetric(rest)
	return math.Asin(math.Sqrt(min(1, max(0, values[len(values)-1])))) * 180 / math.Pi
}

// orthogonal names an algebra that is all of so(p,q), by its only form.
func (a *Algebra) orthogonal(s *system) string {
	k := s.parts[0].space
	if a.Form == nil || len(a.Basis) != k*(k-1)/2 || a.Structure == nil && len(a.Basis) <= structured {
		return ""
	}
	if s.parts[0].affine && a.Fixed == nil {
		return ""
	}
	diagonal, off := make([]float64, k), 0.0
	for i, row := range a.Form {
		diagonal[i] = row[i]
		for j, v := range row {
			if i != j {
				off = max(off, math.Abs(v))
			}
		}
	}
	form := "the form below"
	if off < 1e-2 {
		form = "diag" + list(diagonal)
	}
	return orthogonalName(a.Signature[0], a.Signature[1]) + " of " + form
}

func orthogonalName(p, q int) string {
	if q == 0 {
		return fmt.Sprintf("so(%d)", p)
	}
	return fmt.Sprintf("so(%d,%d)", p, q)
}

// semisimple names algebras without centre whose Killing form has no zero, by its positive and negative signs. Where
// two
// have the same, it is the more common one among those that act on few coordinates.
func semisimple(pos, neg int) string {
	return map[[2]int]string{
		{0, 3}: "so(3)", {2, 1}: "sl(2)", {0, 6}: "so(4)", {3, 3}: "so(3,1)", {4, 2}: "so(2,2)",
		{2, 4}: "so(3) + sl(2)", {0, 8}: "su(3)", {5, 3}: "sl(3)", {4, 4}: "su(2,1)", {0, 10}: "so(5)",
		{4, 6}: "so(4,1)", {6, 4}: "so(3,2)", {0, 15}: "so(6)", {9, 6}: "sl(4)", {5, 10}: "so(5,1)", {8, 7}: "so(4,2)",
	}[[2]int{pos, neg}]
}

// name says what an algebra is by dimension, centre, derived algebra and Killing form.
func (t *Structure) name(a *Algebra) string {
	n := t.Dimension
	pos, neg, zero := t.Killing[0], t.Killing[1], t.Killing[2]
	switch {
	case t.Centre == n && n == 1:
		return one(a.Turns[0])
	case t.Centre == n:
		return fmt.Sprintf("abelian, R%d", n)
	case n == 2:
		return "aff(1)"
	case n == 3 && t.Nilpotent && t.Derived == 1 && t.Centre == 1:
		return "Heisenberg"
	case n == 3 && t.Solvable && t.Derived == 2 && t.Centre == 0 && t.Killing == [3]int{0, 1, 2}:
		return "se(2)"
	}
	if zero == t.Centre && t.Derived+t.Centre == n {
		name := semisimple(pos, neg)
		switch {
		case name == "" || t.Centre == 0:
			return name
		case t.Centre == 1:
			return name + " + R"
		}
		return fmt.Sprintf("%s + R%d", name, t.Centre)
	}
	// Turns of d coordinates and as many shifts: all commutators together are the whole, nothing commutes with all.
	for d := 3; d*(d+1)/2 <= n; d++ {
		if n == d*(d+1)/2 && t.Derived == n && t.Centre == 0 && t.Killing == [3]int{0, d * (d - 1) / 2, d} {
			return fmt.Sprintf("se(%d)", d)
		}
	}
	return ""
}

// one names a single family.
func one(t Turn) string {
	switch {
	case len(t.Frequencies) > 0 && t.Period > 0:
		return "so(2)"
	case len(t.Frequencies) > 0 && !t.Grows:
		return "R: turns that never close"
	case len(t.Frequencies) > 0:
		return "R: a spiral"
	}
	return "R: one family that never comes back"
}
