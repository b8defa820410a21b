package space

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// KindRows is the name of this kind.
const KindRows Kind = "rows"

var rowsKind = Info{
	Kind: KindRows, Doc: "rows of numbers: points, vectors, features of nodes or edges", Linear: true,
	Zero: func(d []int) Value { return NewRows(d[0], d[1]) },
}

// Rows is N rows of W numbers, row-major: the points of a cloud, velocities, forces or features of the atoms of a
// molecule, or with N = 1 one vector of the whole sample, such as gravity or a dipole. What the numbers of a row are,
// and so how a group moves them, is said by [Spec.Type]; whether rows belong to nodes, edges or the sample by
// [Spec.Per].
type Rows struct {
	N, W int
	Val  []float64
	// Type is what the numbers of a row are, see [Spec.Type]; "" where nobody said. Values of which differences are
	// taken need it, see [Nearest].
	Type string
}

// NewRows makes n rows of w zeros.
func NewRows(n, w int) *Rows { return &Rows{N: n, W: w, Val: make([]float64, n*w)} }

// Kind is [KindRows].
func (*Rows) Kind() Kind { return KindRows }

// Parts is one float64 array of shape (N, W), a copy.
func (r *Rows) Parts() []tensor.Named { return []tensor.Named{part("rows", r.Val, r.N, r.W)} }

// Row is row i, W numbers that share the memory of r.
func (r *Rows) Row(i int) []float64 { return r.Val[i*r.W : (i+1)*r.W] }

// Dims is (N, W).
func (r *Rows) Dims() []int { return []int{r.N, r.W} }

// Form is such as "rows 21x3".
func (r *Rows) Form() string { return fmt.Sprintf("rows %dx%d", r.N, r.W) }

func (r *Rows) alike(v Value) bool {
	o, ok := v.(*Rows)
	return ok && r.N == o.N && r.W == o.W
}

// Style is the form without the number of rows, unless there is one.
func (r *Rows) Style() string {
	if r.N == 1 {
		return r.Form()
	}
	return fmt.Sprintf("rows *x%d", r.W)
}

// Clone is a copy.
func (r *Rows) Clone() Value { return &Rows{N: r.N, W: r.W, Val: slices.Clone(r.Val), Type: r.Type} }

// Like is as many rows of zeros.
func (r *Rows) Like() Value {
	o := NewRows(r.N, r.W)
	o.Type = r.Type
	return o
}

// Numbers are Val.
func (r *Rows) Numbers() []float64 { return r.Val }

// Output is Val.
func (r *Rows) Output() []float64 { return r.Val }

// With is as many rows of other numbers.
func (r *Rows) With(x []float64) (Value, error) {
	return &Rows{N: r.N, W: r.W, Val: x, Type: r.Type}, fits(r, len(r.Val), x)
}

// Bytes is 8 for each number.
func (r *Rows) Bytes() int { return 8 * len(r.Val) }

// Count is N.
func (r *Rows) Count() int { return r.N }

// Columns is W.
func (r *Rows) Columns() int { return r.W }

// Column is the column of number i of Val.
func (r *Rows) Column(i int) int { return i % max(r.W, 1) }

// Lines is N: a vector is a line. Numbers stand line by line.
func (r *Rows) Lines() int { return r.N }

// Members is N, the nodes that the rows belong to unless [Spec.Per] says otherwise.
func (r *Rows) Members() int { return r.N }

// Length is N: rows may stand in the order of time.
func (r *Rows) Length() int { return r.N }

func (r *Rows) typeName() string { return r.Type }

func (r *Rows) put(i int, row []float64) { copy(r.Row(i), row) }

func (r *Rows) room(w int) typed { return NewRows(r.N, w) }

func (r *Rows) bare() Value { return &Rows{N: r.N, W: r.W, Val: r.Val} }
