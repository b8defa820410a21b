package space

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// KindField is the name of this kind.
const KindField Kind = "field"

var fieldKind = Info{
	Kind: KindField, Doc: "a vector at every pixel", Linear: true,
	Planar: true,
	Zero:   func(d []int) Value { return NewField(d[1], d[2]) },
}

// Field is a vector at every pixel: displacements of a flow in pixels, unless the study says another unit.
//
// Val holds two planes of H*W numbers, row-major: first u, along the columns (to the right), then v, along the rows
// (down).
type Field struct {
	H, W int
	Val  []float64
}

// NewField makes a field of zeros.
func NewField(h, w int) *Field { return &Field{H: h, W: w, Val: make([]float64, 2*h*w)} }

// U are the components along the columns, in memory shared with the field.
func (f *Field) U() []float64 { return f.Val[:f.H*f.W] }

// V are the components along the rows, downwards, in memory shared with the field.
func (f *Field) V() []float64 { return f.Val[f.H*f.W:] }

// Kind is [KindField].
func (*Field) Kind() Kind { return KindField }

// Parts is one float64 array of shape (2, H, W), a copy.
func (f *Field) Parts() []tensor.Named { return []tensor.Named{part("vectors", f.Val, 2, f.H, f.W)} }

// Dims is (2, H, W).
func (f *Field) Dims() []int { return []int{2, f.H, f.W} }

// Form is such as "field 64x64".
func (f *Field) Form() string { return fmt.Sprintf("field %dx%d", f.H, f.W) }

// Clone is a copy.
func (f *Field) Clone() Value { return &Field{H: f.H, W: f.W, Val: slices.Clone(f.Val)} }

// Like is a field of zeros of the same size.
func (f *Field) Like() Value { return NewField(f.H, f.W) }

// Numbers are Val.
func (f *Field) Numbers() []float64 { return f.Val }

// Output is Val.
func (f *Field) Output() []float64 { return f.Val }

// With is a field of the same size with other vectors.
func (f *Field) With(x []float64) (Value, error) {
	return &Field{H: f.H, W: f.W, Val: x}, fits(f, len(f.Val), x)
}

// Bytes is 8 for each number.
func (f *Field) Bytes() int { return 8 * len(f.Val) }

// Grid is (2, H, W).
func (f *Field) Grid() (c, h, w int) { return 2, f.H, f.W }
