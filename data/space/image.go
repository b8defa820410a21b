package space

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// KindImage is the name of this kind.
const KindImage Kind = "image"

var imageKind = Info{
	Kind: KindImage, Doc: "intensities on a pixel grid, one or more channels", Linear: true,
	Planar: true,
	Zero:   func(d []int) Value { return NewImage(d[0], d[1], d[2]) },
}

// Image is a picture of W columns, H rows and C channels.
//
// Pixel (row r, column c) of channel k is Pix[(k*H+r)*W+c] (planar). Pixel centres lie at the integers 0..W-1 and
// 0..H-1. Intensities keep the unit of the file (0..255 for 8-bit images); scaling to what a model reads happens in
// package decode.
type Image struct {
	C, H, W int
	Pix     []float64
}

// NewImage makes an image of zeros.
func NewImage(c, h, w int) *Image { return &Image{C: c, H: h, W: w, Pix: make([]float64, c*h*w)} }

// Kind is [KindImage].
func (*Image) Kind() Kind { return KindImage }

// Parts is one float64 array of shape (C, H, W), a copy.
func (m *Image) Parts() []tensor.Named { return []tensor.Named{part("pixels", m.Pix, m.C, m.H, m.W)} }

// Plane is channel k, H*W values that share the image's memory.
func (m *Image) Plane(k int) []float64 { return m.Pix[k*m.H*m.W : (k+1)*m.H*m.W] }

// Dims is (C, H, W).
func (m *Image) Dims() []int { return []int{m.C, m.H, m.W} }

// Form is such as "image 1x28x28".
func (m *Image) Form() string { return "image " + m.size() }

func (m *Image) size() string { return fmt.Sprintf("%dx%dx%d", m.C, m.H, m.W) }

// Clone is a copy.
func (m *Image) Clone() Value { return &Image{C: m.C, H: m.H, W: m.W, Pix: slices.Clone(m.Pix)} }

// Like is a black image of the same size.
func (m *Image) Like() Value { return NewImage(m.C, m.H, m.W) }

// Numbers are Pix.
func (m *Image) Numbers() []float64 { return m.Pix }

// Output is Pix.
func (m *Image) Output() []float64 { return m.Pix }

// With is an image of the same size with other intensities.
func (m *Image) With(x []float64) (Value, error) {
	return &Image{C: m.C, H: m.H, W: m.W, Pix: x}, fits(m, len(m.Pix), x)
}

// Bytes is 8 for each number.
func (m *Image) Bytes() int { return 8 * len(m.Pix) }

// Pictures is the image alone.
func (m *Image) Pictures() []*Image { return []*Image{m} }

// Grid is (C, H, W).
func (m *Image) Grid() (c, h, w int) { return m.C, m.H, m.W }

// Repaint is f of the image.
func (m *Image) Repaint(f func(*Image) *Image) Value { return f(m) }
