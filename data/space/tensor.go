package space

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// KindTensor is the name of this kind.
const KindTensor Kind = "tensor"

var tensorKind = Info{
	Kind: KindTensor, Doc: "a feature map or vector whose channels carry a representation", Linear: true,
	Planar: true,
	Zero:   newTensor,
}

func newTensor(d []int) Value {
	n := 1
	for _, k := range d {
		n *= k
	}
	return &Tensor{Shape: slices.Clone(d), Val: make([]float64, n)}
}

// Tensor is any array of one sample, row-major. A feature map has shape (C, H, W), a feature vector (C).
type Tensor struct {
	Shape []int
	Val   []float64
	// Views are arrays of the same object that somebody has listed, by the number of the view, this one among them; nil
	// for an array alone. Whoever changes numbers leaves them out.
	Views []*Tensor
}

// Kind is [KindTensor].
func (*Tensor) Kind() Kind { return KindTensor }

// Parts is one float64 array of the tensor's shape, a copy.
func (t *Tensor) Parts() []tensor.Named { return []tensor.Named{part("values", t.Val, t.Shape...)} }

// Dims is Shape itself.
func (t *Tensor) Dims() []int { return t.Shape }

// Form is such as "tensor [8 14 14]".
func (t *Tensor) Form() string { return fmt.Sprintf("tensor %v", t.Shape) }

// Clone is a copy.
func (t *Tensor) Clone() Value {
	return &Tensor{Shape: slices.Clone(t.Shape), Val: slices.Clone(t.Val), Views: t.Views}
}

// Like is zeros of the same shape.
func (t *Tensor) Like() Value {
	return &Tensor{Shape: slices.Clone(t.Shape), Val: make([]float64, len(t.Val))}
}

// Numbers are Val.
func (t *Tensor) Numbers() []float64 { return t.Val }

// Output is Val.
func (t *Tensor) Output() []float64 { return t.Val }

// With is a tensor of the same shape with other numbers.
func (t *Tensor) With(x []float64) (Value, error) {
	return &Tensor{Shape: slices.Clone(t.Shape), Val: x}, fits(t, len(t.Val), x)
}

// Bytes is 8 for each number.
func (t *Tensor) Bytes() int {
	n := 8 * len(t.Val)
	for _, v := range t.Views {
		n += 8 * len(v.Val)
	}
	return n
}

// Listed are the arrays of the same object.
func (t *Tensor) Listed() []Value { return listed(t.Views) }

func (t *Tensor) among(views []Value) Value {
	first := *t
	first.Views = only[*Tensor](views)
	return &first
}

// Grid is the shape of a feature map (C, H, W), zeros for tensors of other ranks.
func (t *Tensor) Grid() (c, h, w int) {
	if len(t.Shape) != 3 {
		return 0, 0, 0
	}
	return t.Shape[0], t.Shape[1], t.Shape[2]
}

// Channels are the parts of a tensor that may mean different things, and to which of them number i belongs: the numbers
// of a vector, the columns of a matrix of shape (n, d), else the parts along the first axis.
func (t *Tensor) Channels() (n int, of func(i int) int) {
	switch d := t.Shape; len(d) {
	case 0:
		return 1, func(int) int { return 0 }
	case 1:
		return d[0], func(i int) int { return i }
	case 2:
		return d[1], func(i int) int { return i % d[1] }
	default:
		per := max(len(t.Val)/max(d[0], 1), 1)
		return d[0], func(i int) int { return i / per }
	}
}
