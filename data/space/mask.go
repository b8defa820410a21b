package space

import (
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
)

// KindMask is the name of this kind.
const KindMask Kind = "mask"

var maskKind = Info{
	Kind: KindMask, Doc: "class labels on a pixel grid: never averaged",
	Planar: true, Labelled: true,
	Zero: func(d []int) Value { return &Mask{H: d[0], W: d[1], Label: make([]int32, d[0]*d[1])} },
}

// Void is the label of a pixel of which nothing is known or that annotators left out: it counts for nothing where a
// mask is a target. A model never answers it.
const Void int32 = -2

// Mask is a label per pixel, row-major: Label[r*W+c].
type Mask struct {
	H, W  int
	Label []int32
}

// Kind is [KindMask].
func (*Mask) Kind() Kind { return KindMask }

// Parts is one int32 array of shape (H, W), a copy.
func (m *Mask) Parts() []tensor.Named {
	t := tensor.New(tensor.Int32, m.H, m.W)
	for i, v := range m.Label {
		putUint32(t.Raw[4*i:], uint32(v))
	}
	return []tensor.Named{{Name: "labels", Tensor: t}}
}

// Dims is (H, W).
func (m *Mask) Dims() []int { return []int{m.H, m.W} }

// Form is such as "mask 28x28".
func (m *Mask) Form() string { return fmt.Sprintf("mask %dx%d", m.H, m.W) }

// Clone is a copy.
func (m *Mask) Clone() Value { return &Mask{H: m.H, W: m.W, Label: slices.Clone(m.Label)} }

// Like is a mask of the same size with label 0 everywhere.
func (m *Mask) Like() Value { return &Mask{H: m.H, W: m.W, Label: make([]int32, len(m.Label))} }

// Numbers are the labels, for hashing and projection: their differences mean nothing, see [Mask.Apart].
func (m *Mask) Numbers() []float64 { return whole(nil, m.Label) }

// With is refused: labels do not change by a little.
func (m *Mask) With([]float64) (Value, error) { return nil, fixed(m) }

// Bytes is 4 for each label.
func (m *Mask) Bytes() int { return 4 * len(m.Label) }

// Apart is the share of pixels whose labels differ; not ok for a mask of another size or another kind.
func (m *Mask) Apart(v Value) (share float64, ok bool) {
	o, ok := v.(*Mask)
	if !ok || m.H != o.H || m.W != o.W {
		return 0, false
	}
	n := 0
	for i, l := range m.Label {
		if l != o.Label[i] {
			n++
		}
	}
	return float64(n) / float64(max(len(m.Label), 1)), true
}

// Disturbed has another label at the share |c| of the pixels: the first ones of those whose order has the sign of c. A
// part of a pixel is a whole one as often as it is large, by digits of c that look random, so that the share is right
// in the mean over many c. A small mask would otherwise hold no disturbance of less than half a pixel.
func (m *Mask) Disturbed(c float64, order []float64) Value {
	o := &Mask{H: m.H, W: m.W, Label: append([]int32{}, m.Label...)}
	want := float64(min(math.Abs(c), 1) * float64(len(o.Label)))
	_, digits := math.Modf(float64(math.Abs(c) * (1 << 30) * math.Pi))
	k := int(math.Floor(want + digits))
	for i := 0; i < len(o.Label) && k > 0; i++ {
		if order[i] > 0 == (c > 0) {
			o.Label[i]++
			k--
		}
	}
	return o
}

// Grid is (1, H, W).
func (m *Mask) Grid() (c, h, w int) { return 1, m.H, m.W }

// Labelled is a value that has a class at every pixel.
type Labelled interface {
	Value
	// Labels are the classes, row by row, and how many rows and columns there are. They must not be changed.
	Labels() (h, w int, of []int32)
}

// Labels are the classes of a mask.
func (m *Mask) Labels() (h, w int, of []int32) { return m.H, m.W, m.Label }
