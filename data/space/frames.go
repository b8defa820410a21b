package space

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// KindFrames is the name of this kind.
const KindFrames Kind = "frames"

var framesKind = Info{
	Kind: KindFrames, Doc: "pictures of one size in the order of time", Linear: true, Sequence: true,
	Planar: true,
	Zero:   func(d []int) Value { return NewFrames(d[0], d[1], d[2], d[3]) },
}

// Frames is a sequence of pictures of one size in the order of time: the pair of a flow, a stack.
type Frames struct {
	Images []*Image
}

// Kind is [KindFrames].
func (*Frames) Kind() Kind { return KindFrames }

// Parts is one float64 array of shape (T, C, H, W), a copy.
func (f *Frames) Parts() []tensor.Named {
	return []tensor.Named{part("frames", f.Numbers(), f.Dims()...)}
}

// NewFrames makes t images of zeros.
func NewFrames(t, c, h, w int) *Frames {
	f := &Frames{Images: make([]*Image, t)}
	for i := range f.Images {
		f.Images[i] = NewImage(c, h, w)
	}
	return f
}

// Dims is (T, C, H, W).
func (f *Frames) Dims() []int {
	if len(f.Images) == 0 {
		return []int{0, 0, 0, 0}
	}
	return append([]int{len(f.Images)}, f.Images[0].Dims()...)
}

// Form is such as "frames 2x1x64x64".
func (f *Frames) Form() string {
	if len(f.Images) == 0 {
		return "frames frames[0 0 0 0]"
	}
	return fmt.Sprintf("frames %dx%s", len(f.Images), f.Images[0].size())
}

// Style is the form without the number of pictures.
func (f *Frames) Style() string {
	if len(f.Images) == 0 {
		return f.Form()
	}
	return "frames *x" + f.Images[0].size()
}

// Clone is a copy.
func (f *Frames) Clone() Value {
	c := &Frames{Images: make([]*Image, len(f.Images))}
	for i, m := range f.Images {
		c.Images[i] = &Image{C: m.C, H: m.H, W: m.W, Pix: slices.Clone(m.Pix)}
	}
	return c
}

// Like is as many black images.
func (f *Frames) Like() Value {
	c := &Frames{Images: make([]*Image, len(f.Images))}
	for i, m := range f.Images {
		c.Images[i] = NewImage(m.C, m.H, m.W)
	}
	return c
}

// Numbers are the intensities of all pictures one after another, a copy.
func (f *Frames) Numbers() []float64 {
	var all []float64
	for _, m := range f.Images {
		all = append(all, m.Pix...)
	}
	return all
}

// Output is Numbers.
func (f *Frames) Output() []float64 { return f.Numbers() }

// With is as many pictures with other intensities.
func (f *Frames) With(x []float64) (Value, error) {
	n := 0
	for _, m := range f.Images {
		n += len(m.Pix)
	}
	if err := fits(f, n, x); err != nil {
		return nil, err
	}
	c := &Frames{}
	for _, m := range f.Images {
		n := len(m.Pix)
		c.Images, x = append(c.Images, &Image{C: m.C, H: m.H, W: m.W, Pix: x[:n:n]}), x[n:]
	}
	return c, nil
}

// Bytes is 8 for each number.
func (f *Frames) Bytes() int {
	n := 0
	for _, m := range f.Images {
		n += m.Bytes()
	}
	return n
}

// Pictures are the images.
func (f *Frames) Pictures() []*Image { return f.Images }

// Lines is the number of pictures. Numbers stand line by line.
func (f *Frames) Lines() int { return len(f.Images) }

// Length is the number of pictures.
func (f *Frames) Length() int { return len(f.Images) }

// Part is the pictures from one to before another, with black ones up to the given length; it shares their memory.
func (f *Frames) Part(from, to, fill int) Value {
	o := &Frames{Images: slices.Clone(f.Images[from:to])}
	for len(o.Images) < fill {
		m := f.Images[0]
		o.Images = append(o.Images, NewImage(m.C, m.H, m.W))
	}
	return o
}

// Repaint is every picture changed by f.
func (f *Frames) Repaint(by func(*Image) *Image) Value {
	o := &Frames{}
	for _, m := range f.Images {
		o.Images = append(o.Images, by(m))
	}
	return o
}
