package convention

import (
	"errors"
	"math"
	"slices"

	mat64 "gonum.org/v1/gonum/mat"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// linear is an action that multiplies points of a tensor by one matrix and perhaps adds a vector: a point of d numbers,
// n of them as rows (n, d) or as columns (d, n).
type linear struct {
	a       action.Action
	n, d    int
	columns bool
	// a vector is added
	offset bool
	shape  []int
}

// errForm marks values that are not of the form that a matrix was read for.
var errForm = errors.New("not a tensor of the form that the matrix was read for")

// mostDimensions bounds the size of a matrix.
const mostDimensions = 16

// tensorOf is v as a tensor of n numbers, nil if it is none.
func tensorOf(v space.Value, n int) *space.Tensor {
	if x, ok := v.(*space.Tensor); ok && len(x.Val) == n {
		return x
	}
	return nil
}

// newLinear reads an action on a tensor as a matrix on points; nil if it is none at the elements that are tried.
func newLinear(a action.Action, v space.Value) *linear {
	x, ok := v.(*space.Tensor)
	if !ok {
		return nil
	}
	var tries []*linear
	switch len(x.Shape) {
	case 1:
		// Copies of a representation are points one after the other.
		if rep, ok := action.RepresentationOf(a); ok && rep.Dim() > 1 && x.Shape[0]%rep.Dim() == 0 {
			tries = append(tries, &linear{a: a, n: x.Shape[0] / rep.Dim(), d: rep.Dim(), shape: x.Shape})
		}
		tries = append(tries, &linear{a: a, n: 1, d: x.Shape[0], shape: x.Shape})
	case 2:
		tries = []*linear{
			{a: a, n: x.Shape[0], d: x.Shape[1], shape: x.Shape},
			{a: a, n: x.Shape[1], d: x.Shape[0], columns: true, shape: x.Shape},
		}
	}
	for _, m := range tries {
		if m.d >= 2 && m.d <= mostDimensions && m.fits(x) {
			return m
		}
	}
	return nil
}

// at is the place of number k of point i.
func (m *linear) at(i, k int) int {
	if m.columns {
		return k*m.n + i
	}
	return i*m.d + k
}

// matrix is what the action multiplies points by at g, in rows, and what it adds.
func (m *linear) matrix(g group.Element) (mat, add []float64, err error) {
	total := m.n * m.d
	act := func(k int) ([]float64, error) {
		e := &space.Tensor{Shape: m.shape, Val: make([]float64, total)}
		if k >= 0 {
			e.Val[m.at(0, k)] = 1
		}
		z, err := m.a.Apply(g, e)
		if err != nil {
			return nil, err
		}
		t := tensorOf(z, total)
		if t == nil {
			return nil, errors.New("the action changes the form of its argument")
		}
		first := make([]float64, m.d)
		for i := range first {
			first[i] = t.Val[m.at(0, i)]
		}
		return first, nil
	}
	if add, err = act(-1); err != nil {
		return nil, nil, err
	}
	mat = make([]float64, m.d*m.d)
	for k := range m.d {
		col, err := act(k)
		if err != nil {
			return nil, nil, err
		}
		for i, c := range col {
			mat[i*m.d+k] = c - add[i]
		}
	}
	return mat, add, nil
}

// times is every point multiplied, with a vector added if there is one.
func (m *linear) times(mat, add []float64, x *space.Tensor) *space.Tensor {
	y := &space.Tensor{Shape: slices.Clone(x.Shape), Val: make([]float64, len(x.Val))}
	for i := range m.n {
		for r := range m.d {
			var s float64
			for k := range m.d {
				s += float64(mat[r*m.d+k] * x.Val[m.at(i, k)])
			}
			if add != nil {
				s += add[r]
			}
			y.Val[m.at(i, r)] = s
		}
	}
	return y
}

// fits reports whether the action is that of its matrix, at the identity and at elements found by trying out
// coordinates.
func (m *linear) fits(x *space.Tensor) bool {
	G := m.a.Group()
	elements := []group.Element{G.Identity()}
	if f, ok := G.(group.Finite); ok {
		all := f.Elements()
		elements = append(elements, all[len(all)/2], all[len(all)-1])
	} else if l, ok := G.(group.Lie); ok {
		t := make([]float64, len(l.Generators()))
		for i := range t {
			t[i] = 0.3 + float64(0.1*float64(i))
		}
		elements = append(elements, l.Exp(t))
	}
	for _, g := range elements {
		mat, add, err := m.matrix(g)
		if err != nil {
			return false
		}
		m.offset = m.offset || norm(add) > 1e-9
		z, err := m.a.Apply(g, x)
		if err != nil {
			return false
		}
		t := tensorOf(z, len(x.Val))
		if t == nil || !(apart(t.Val, m.times(mat, add, x).Val) <= 1e-9*(1+norm(x.Val))) {
			return false
		}
	}
	return true
}

// matrixKind is another way of writing a matrix.
type matrixKind struct {
	name   string
	change func(mat []float64) []float64
	// for a group of rotations it gives the inverse elements
	orthogonal bool
}

func (m *linear) kinds() []matrixKind {
	d := m.d
	out := []matrixKind{{
		"the transposed matrix: points are columns for one side and rows for the other",
		func(a []float64) []float64 {
			t := make([]float64, len(a))
			for i := range d {
				for k := range d {
					t[k*d+i] = a[i*d+k]
				}
			}
			return t
		}, true,
	}, {
		"the transpose of the inverse matrix, as gradients move",
		func(a []float64) []float64 { return contragredient(a, d) }, true,
	}}
	if d > 3 {
		return out
	}
	// In frames with another sign or order of the coordinates, S A S⁻¹.
	framed := func(to []int, sign []float64) func(a []float64) []float64 {
		return func(a []float64) []float64 {
			t := make([]float64, len(a))
			for i := range d {
				for k := range d {
					t[i*d+k] = sign[i] * sign[k] * a[to[i]*d+to[k]]
				}
			}
			return t
		}
	}
	id, swap := []int{0, 1, 2}[:d], []int{1, 0, 2}[:d]
	return append(out,
		matrixKind{"the other sign of y", framed(id, []float64{1, -1, 1}[:d]), true},
		matrixKind{"x and y exchanged", framed(swap, []float64{1, 1, 1}[:d]), true},
	)
}

// contragredient is the transpose of the inverse; NaN where there is none.
func contragredient(a []float64, d int) []float64 {
	var inv mat64.Dense
	if err := inv.Inverse(mat64.NewDense(d, d, slices.Clone(a))); err != nil {
		return slices.Repeat([]float64{math.NaN()}, d*d)
	}
	out := make([]float64, d*d)
	for i := range d {
		for k := range d {
			out[i*d+k] = inv.At(k, i)
		}
	}
	return out
}

// motion multiplies by a changed matrix and adds nothing where change is nil.
func (m *linear) motion(at func(j int) group.Element, change func(mat []float64) []float64) motion {
	type pair struct{ mat, add []float64 }
	cache := map[int]pair{}
	return func(j int, v space.Value) (space.Value, error) {
		x := tensorOf(v, m.n*m.d)
		if x == nil {
			return nil, errForm
		}
		q, ok := cache[j]
		if !ok {
			var err error
			if q.mat, q.add, err = m.matrix(at(j)); err != nil {
				return nil, err
			}
			if change == nil {
				q.add = nil
			} else {
				q.mat = change(q.mat)
			}
			cache[j] = q
		}
		return m.times(q.mat, q.add, x), nil
	}
}

// about moves points about their own mean.
func (m *linear) about(at func(j int) group.Element) motion {
	return func(j int, v space.Value) (space.Value, error) {
		x := tensorOf(v, m.n*m.d)
		if x == nil {
			return nil, errForm
		}
		mean := make([]float64, m.d)
		for i := range m.n {
			for k := range mean {
				mean[k] += x.Val[m.at(i, k)] / float64(m.n)
			}
		}
		return m.around(at, mean)(j, v)
	}
}
