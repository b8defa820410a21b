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
	// Formula is what the picture was drawn from, nil for all that are no drawings. Whoever changes intensities leaves
	// it out.
	Formula *Formula
	// Views are pictures of the same object that somebody has listed, by the number of the view, this one among them;
	// nil for a picture alone. Whoever changes intensities leaves them out.
	Views []*Image
}

// Formula is a picture that is known at every point and not at its pixels alone, so that it can be drawn moved without
// resampling anything. Pixel (row r, column c) of channel k shows At(k, x, y) with x = X[0] + X[1]·c + X[2]·r and
// y = Y[0] + Y[1]·c + Y[2]·r.
type Formula struct {
	At   func(channel int, x, y float64) float64
	X, Y [3]float64
}

// Moved is the formula of a picture whose pixel (r, c) shows what lies at column x[0] + x[1]·c + x[2]·r and row
// y[0] + y[1]·c + y[2]·r of this one. Products are rounded one by one, on every machine alike.
func (f *Formula) Moved(x, y [3]float64) *Formula {
	o := &Formula{At: f.At}
	for i := range 3 {
		o.X[i] = float64(f.X[1]*x[i]) + float64(f.X[2]*y[i])
		o.Y[i] = float64(f.Y[1]*x[i]) + float64(f.Y[2]*y[i])
	}
	o.X[0] += f.X[0]
	o.Y[0] += f.Y[0]
	return o
}

// Draw fills a picture in, and says in it what it was drawn from.
func (f *Formula) Draw(m *Image) {
	for k := range m.C {
		plane := m.Plane(k)
		for r := range m.H {
			for c := range m.W {
				x := f.X[0] + float64(f.X[1]*float64(c)) + float64(f.X[2]*float64(r))
				y := f.Y[0] + float64(f.Y[1]*float64(c)) + float64(f.Y[2]*float64(r))
				plane[r*m.W+c] = f.At(k, x, y)
			}
		}
	}
	m.Formula = f
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
func (m *Image) Clone() Value {
	return &Image{C: m.C, H: m.H, W: m.W, Pix: slices.Clone(m.Pix), Formula: m.Formula, Views: m.Views}
}

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
func (m *Image) Bytes() int {
	n := 8 * len(m.Pix)
	for _, v := range m.Views {
		n += 8 * len(v.Pix)
	}
	return n
}

// Listed are the pictures of the same object.
func (m *Image) Listed() []Value { return listed(m.Views) }

func (m *Image) among(views []Value) Value {
	first := *m
	first.Views = only[*Image](views)
	return &first
}

// Pictures is the image alone.
func (m *Image) Pictures() []*Image { return []*Image{m} }

// Grid is (C, H, W).
func (m *Image) Grid() (c, h, w int) { return m.C, m.H, m.W }

// Repaint is f of the image.
func (m *Image) Repaint(f func(*Image) *Image) Value { return f(m) }
