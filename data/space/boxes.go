package space

import (
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
)

// KindBoxes is the name of this kind.
const KindBoxes Kind = "boxes"

var boxesKind = Info{
	Kind: KindBoxes, Doc: "a set of labelled boxes with scores",
	Planar: true,
	Zero:   func([]int) Value { return &Boxes{} },
}

// Box is one object: a rectangle in a picture with a class and how sure a model is of it.
//
// Coordinates are continuous and measured from the outer edge of the picture, x to the right and y down: the pixel of
// row r and column c is the square from (c, r) to (c+1, r+1), so its centre is (c+1/2, r+1/2), and the area is
// (X2-X1)·(Y2-Y1) without any "+1". A box may reach beyond its picture.
type Box struct {
	X1, Y1, X2, Y2 float64
	// Angle turns the rectangle about its own centre, in degrees, counter-clockwise as displayed; 0 for a box along the
	// axes.
	Angle float64
	// Score is the model's confidence, 0 to 1; 1 for a box that somebody drew.
	Score float64
	// class, 0-based; -1 if there is none
	Label int
	// Cut says that the box touches or crosses the edge of its window, so that its true extent is not known.
	Cut bool
}

// Area is the area of the box in square pixels; 0 for one that is empty or turned inside out.
func (b Box) Area() float64 { return float64(max(b.X2-b.X1, 0) * max(b.Y2-b.Y1, 0)) }

// Center is the centre of the box.
func (b Box) Center() (x, y float64) { return (b.X1 + b.X2) / 2, (b.Y1 + b.Y2) / 2 }

// Boxes is a set of boxes in a picture or window of W columns and H rows. Of a prediction they stand by falling score,
// of a target in the order of the file, the key object first where there is one. An empty set is a value like any
// other.
type Boxes struct {
	H, W  float64
	Items []Box
	// Seen is what a moving window saw, in the frame of the boxes, turned by its Angle where it turned; nil where all
	// of the picture was seen. What lies outside is not known to be empty. It is no part of the data and is not among
	// Parts.
	Seen *Box
}

// Kind is [KindBoxes].
func (*Boxes) Kind() Kind { return KindBoxes }

// Parts are three arrays with a row per box, copies: "boxes" (n, 5) with x1, y1, x2, y2 and angle, "scores" (n),
// "labels" (n, int32).
func (b *Boxes) Parts() []tensor.Named {
	n := len(b.Items)
	at, score := make([]float64, 0, 5*n), make([]float64, 0, n)
	label := tensor.New(tensor.Int32, n)
	for i, x := range b.Items {
		at, score = append(at, x.X1, x.Y1, x.X2, x.Y2, x.Angle), append(score, x.Score)
		putUint32(label.Raw[4*i:], uint32(int32(x.Label)))
	}
	return []tensor.Named{part("boxes", at, n, 5), part("scores", score, n), {Name: "labels", Tensor: label}}
}

// Clip cuts the boxes to the picture: what reaches beyond its edge is taken off and marked Cut, and boxes that lie
// outside are left out, all but the first, which keeps its place with no area. Turned boxes stay as they are. The copy
// shares no memory with b.
func (b *Boxes) Clip() *Boxes {
	c := &Boxes{H: b.H, W: b.W, Items: make([]Box, 0, len(b.Items)), Seen: b.Seen}
	for i, x := range b.Items {
		if x.Angle == 0 {
			y := x
			y.X1, y.X2 = min(max(x.X1, 0), b.W), min(max(x.X2, 0), b.W)
			y.Y1, y.Y2 = min(max(x.Y1, 0), b.H), min(max(x.Y2, 0), b.H)
			y.Cut = x.Cut || y != x
			if i > 0 && !(y.Area() > 0) && x.Area() > 0 {
				continue
			}
			x = y
		}
		c.Items = append(c.Items, x)
	}
	return c
}

// Dims is (boxes).
func (b *Boxes) Dims() []int { return []int{len(b.Items)} }

// Form is such as "boxes in 480x640": how many there are is what is compared.
func (b *Boxes) Form() string { return fmt.Sprintf("boxes in %gx%g", b.H, b.W) }

// Clone is a copy.
func (b *Boxes) Clone() Value {
	c := &Boxes{H: b.H, W: b.W, Items: slices.Clone(b.Items)}
	if b.Seen != nil {
		seen := *b.Seen
		c.Seen = &seen
	}
	return c
}

// Like is no boxes in a picture of the same size.
func (b *Boxes) Like() Value { return &Boxes{H: b.H, W: b.W} }

// Numbers are those of Parts: corners and angles, then scores, then labels.
func (b *Boxes) Numbers() []float64 {
	at, score, label := make([]float64, 0, 7*len(b.Items)), []float64(nil), []float64(nil)
	for _, x := range b.Items {
		at = append(at, x.X1, x.Y1, x.X2, x.Y2, x.Angle)
		score, label = append(score, x.Score), append(label, float64(int32(x.Label)))
	}
	return append(append(at, score...), label...)
}

// With is refused: labels do not change by a little.
func (b *Boxes) With([]float64) (Value, error) { return nil, fixed(b) }

// Bytes is 64 for each box.
func (b *Boxes) Bytes() int { return 64 * len(b.Items) }

// Disturbed takes the share |c| off every score, which is how far the sets are then apart.
func (b *Boxes) Disturbed(c float64, _ []float64) Value {
	o := &Boxes{H: b.H, W: b.W, Items: slices.Clone(b.Items), Seen: b.Seen}
	for i := range o.Items {
		o.Items[i].Score *= 1 - min(math.Abs(c), 1)
	}
	return o
}

// Top is the class of the first box, -1 if there is none.
func (b *Boxes) Top() int {
	if len(b.Items) == 0 {
		return -1
	}
	return b.Items[0].Label
}

// Key is the share of the window that the first box takes, and its middle from 0 to 1 from the left and the top; NaN
// where there is no box, or no window.
func (b *Boxes) Key() (size, x, y float64) {
	if len(b.Items) == 0 || !(b.H > 0) || !(b.W > 0) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	x, y = b.Items[0].Center()
	return b.Items[0].Area() / float64(b.H*b.W), x / b.W, y / b.H
}
