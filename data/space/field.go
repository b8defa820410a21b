package space

import (
	"nero/data/tensor"
)

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

// Frames is a sequence of pictures of one size in the order of time: the pair of a flow, a stack.
type Frames struct {
	Images []*Image
}

// Kind is [KindFrames].
func (*Frames) Kind() Kind { return KindFrames }

// Parts is one float64 array of shape (T, C, H, W), a copy.
func (f *Frames) Parts() []tensor.Named {
	var pix []float64
	for _, m := range f.Images {
		pix = append(pix, m.Pix...)
	}
	return []tensor.Named{part("frames", pix, Shape(f)...)}
}
