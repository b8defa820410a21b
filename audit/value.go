package audit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/data/space"
	"nero/measure/metric"
	"nero/run/job"
)

// Numbers are the numbers of a value as a flat list. It may share memory with v. The labels of a mask are numbers too, but
// only for hashing and projection: their differences mean nothing, see [Compare].
func Numbers(v space.Value) ([]float64, error) {
	switch v := v.(type) {
	case *space.Image:
		return v.Pix, nil
	case *space.Scores:
		return v.Val, nil
	case *space.Tensor:
		return v.Val, nil
	case *space.Field:
		return v.Val, nil
	}
	var all []float64
	for _, p := range v.Parts() {
		x, err := p.Float64s(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: part %s: %w", v.Kind(), p.Name, err)
		}
		all = append(all, x...)
	}
	return all, nil
}

// Form is the shape of a value in words, such as "image 1x28x28". Two values can be compared if their forms are equal.
func Form(v space.Value) string {
	switch v := v.(type) {
	case *space.Image:
		return fmt.Sprintf("image %dx%dx%d", v.C, v.H, v.W)
	case *space.Mask:
		return fmt.Sprintf("mask %dx%d", v.H, v.W)
	case *space.Scores:
		return fmt.Sprintf("scores %d", len(v.Val))
	case *space.Tensor:
		return fmt.Sprintf("tensor %v", v.Shape)
	case *space.Field:
		return fmt.Sprintf("field %dx%d", v.H, v.W)
	case *space.Boxes:
		return fmt.Sprintf("boxes in %gx%g", v.H, v.W) // how many there are is what is compared
	case *space.Frames:
		if len(v.Images) > 0 {
			return fmt.Sprintf("frames %dx%s", len(v.Images), strings.TrimPrefix(Form(v.Images[0]), "image "))
		}
	}
	words := []string{string(v.Kind())}
	for _, p := range v.Parts() {
		words = append(words, fmt.Sprintf("%s%v", p.Name, p.Shape))
	}
	return strings.Join(words, " ")
}

// Finite reports whether every number of a value is finite.
func Finite(v space.Value) (bool, error) {
	if _, ok := v.(*space.Mask); ok {
		return true, nil
	}
	x, err := Numbers(v)
	if err != nil {
		return false, err
	}
	for _, a := range x {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return false, nil
		}
	}
	return true, nil
}

// Difference is how far two values of one form are apart.
type Difference struct {
	Norm float64 // Euclidean norm over all components; for masks the share of differing pixels, for boxes [metric.Apart].Distance, both in [0, 1]
	Max  float64 // largest component; for masks 1 if any pixel differs, for boxes the same as Norm
}

// ErrForm marks values that cannot be compared because their forms differ.
var ErrForm = errors.New("values of different form")

// Compare measures a - b. Numbers that are not finite give NaN, in both fields. The error wraps [ErrForm].
func Compare(a, b space.Value) (Difference, error) {
	ma, aok := a.(*space.Mask)
	mb, bok := b.(*space.Mask)
	if aok && bok {
		if ma.H != mb.H || ma.W != mb.W {
			return Difference{}, fmt.Errorf("%w: %s against %s", ErrForm, Form(a), Form(b))
		}
		n := 0
		for i, l := range ma.Label {
			if l != mb.Label[i] {
				n++
			}
		}
		return Difference{Norm: float64(n) / float64(max(len(ma.Label), 1)), Max: min(1, float64(n))}, nil
	}
	if p, q, ok := bothBoxes(a, b); ok {
		d := metric.Between(p, q).Distance
		return Difference{Norm: d, Max: d}, nil
	}
	x, err := Numbers(a)
	if err != nil {
		return Difference{}, err
	}
	y, err := Numbers(b)
	if err != nil {
		return Difference{}, err
	}
	if a.Kind() != b.Kind() || len(x) != len(y) {
		return Difference{}, fmt.Errorf("%w: %s against %s", ErrForm, Form(a), Form(b))
	}
	var ss, top float64
	for i, v := range x {
		d := math.Abs(v - y[i])
		if !(d <= math.MaxFloat64) {
			return Difference{Norm: math.NaN(), Max: math.NaN()}, nil
		}
		ss += d * d
		top = max(top, d)
	}
	if math.IsInf(ss, 1) || (ss == 0 && top > 0) { // squares beyond the range of float64
		ss = 0
		for i, v := range x {
			d := (v - y[i]) / top
			ss += d * d
		}
		return Difference{Norm: top * math.Sqrt(ss), Max: top}, nil
	}
	return Difference{Norm: math.Sqrt(ss), Max: top}, nil
}

func bothBoxes(a, b space.Value) (p, q *space.Boxes, ok bool) {
	p, ok = a.(*space.Boxes)
	if !ok {
		return nil, nil, false
	}
	q, ok = b.(*space.Boxes)
	return p, q, ok
}

// Spread accumulates the centred scale of a list of values of one form, one at a time.
type Spread struct {
	n        int
	form     string
	mean, m2 []float64
	square   float64      // Σ ‖v‖²
	first    []int32      // labels of the first mask
	boxes    *space.Boxes // the first set of boxes
	varies   bool         // whether another mask or set of boxes differs
}

// Add takes in one value with finite numbers. The error wraps [ErrForm] if it is not of the form of those before.
func (s *Spread) Add(v space.Value) error {
	if f := Form(v); s.n == 0 {
		s.form = f
	} else if f != s.form {
		return fmt.Errorf("%w: %s, was %s before", ErrForm, f, s.form)
	}
	s.n++
	if m, ok := v.(*space.Mask); ok {
		if s.n == 1 {
			s.first = append([]int32{}, m.Label...)
		}
		s.varies = s.varies || !slices.Equal(m.Label, s.first)
		return nil
	}
	if b, ok := v.(*space.Boxes); ok {
		if s.boxes == nil {
			s.boxes = b
		}
		s.varies = s.varies || !(metric.Between(b, s.boxes).Distance == 0)
		return nil
	}
	x, err := Numbers(v)
	if err != nil {
		return err
	}
	if s.mean == nil {
		s.mean, s.m2 = make([]float64, len(x)), make([]float64, len(x))
	}
	for i, a := range x {
		d := a - s.mean[i]
		s.mean[i] += d / float64(s.n)
		s.m2[i] += d * (a - s.mean[i])
		s.square += a * a
	}
	return nil
}

// N is the number of values taken in.
func (s *Spread) N() int { return s.n }

// Form is the form of the values.
func (s *Spread) Form() string { return s.form }

// Scale is s = (E ‖v - E v‖²)^½. Masks and boxes have no scale, their differences are shares already: 1 if some differ, 0 if
// all are equal. NaN without values.
func (s *Spread) Scale() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	if s.first != nil || s.boxes != nil {
		if s.varies {
			return 1
		}
		return 0
	}
	var t float64
	for _, m := range s.m2 {
		t += m
	}
	return math.Sqrt(t / float64(s.n))
}

// RMS is (E ‖v‖²)^½, the size of the values without centring; for masks and boxes 1. NaN without values.
func (s *Spread) RMS() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	if s.first != nil || s.boxes != nil {
		return 1
	}
	return math.Sqrt(s.square / float64(s.n))
}

// Squares are, for every component, the sum of the squares of its distances from its mean; nil for masks and without values.
func (s *Spread) Squares() []float64 { return slices.Clone(s.m2) }

// WithNumbers is a value of the form of v with other numbers, which it keeps: the inverse of [Numbers]. Masks and boxes have none that could be
// exchanged; for them the error wraps errors.ErrUnsupported. Scores come back without the model's own numbers.
func WithNumbers(v space.Value, x []float64) (space.Value, error) {
	switch v := v.(type) {
	case *space.Image:
		return &space.Image{C: v.C, H: v.H, W: v.W, Pix: x}, nil
	case *space.Scores:
		return &space.Scores{Val: x, Probabilities: v.Probabilities}, nil // without Raw, which would contradict Val
	case *space.Tensor:
		return &space.Tensor{Shape: v.Shape, Val: x}, nil
	case *space.Field:
		return &space.Field{H: v.H, W: v.W, Val: x}, nil
	case *space.Frames:
		f := &space.Frames{}
		for _, m := range v.Images {
			n := len(m.Pix)
			f.Images, x = append(f.Images, &space.Image{C: m.C, H: m.H, W: m.W, Pix: x[:n:n]}), x[n:]
		}
		return f, nil
	}
	return nil, fmt.Errorf("%s values cannot be changed by a small amount: %w", v.Kind(), errors.ErrUnsupported)
}

// Direction is a fixed unit vector with as many components as v has numbers: ±1/√d with seeded signs. It singles out no axis and
// shares no symmetry with any group.
func Direction(v space.Value, r *rand.Rand) ([]float64, error) {
	x, err := Numbers(v)
	if err != nil {
		return nil, err
	}
	d := make([]float64, len(x))
	for i := range d {
		d[i] = 1 / math.Sqrt(float64(len(d)))
		if r.Uint64()&1 == 0 {
			d[i] = -d[i]
		}
	}
	return d, nil
}

// Shifted is v + c·d, each number rounded to the unit roundoff u: what a model of that precision could have returned.
// Of boxes it takes the share |c| off every score, which is how far the sets are then apart. On a mask it changes the labels of the share |c| of the pixels, rounded to whole ones; they are the first of the order that d gives.
func Shifted(v space.Value, c float64, d []float64, u float64) (space.Value, error) {
	if m, ok := v.(*space.Mask); ok {
		o := &space.Mask{H: m.H, W: m.W, Label: append([]int32{}, m.Label...)}
		k := int(math.Round(min(math.Abs(c), 1) * float64(len(o.Label))))
		for i := 0; i < len(o.Label) && k > 0; i++ {
			if d[i] > 0 == (c > 0) {
				o.Label[i]++
				k--
			}
		}
		return o, nil
	}
	if b, ok := v.(*space.Boxes); ok {
		o := &space.Boxes{H: b.H, W: b.W, Items: slices.Clone(b.Items), Seen: b.Seen}
		for i := range o.Items {
			o.Items[i].Score *= 1 - min(math.Abs(c), 1)
		}
		return o, nil
	}
	x, err := Numbers(v)
	if err != nil {
		return nil, err
	}
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] + c*d[i]
		if u >= float32Roundoff {
			y[i] = float64(float32(y[i]))
		}
	}
	return WithNumbers(v, y)
}

// Jittered moves every number by so many float32 ulps, up or down at random, in the units that the model reads. One is the smallest change
// of input that can reach it. A mask has no such change and comes back as it is.
func Jittered(v space.Value, in job.Input, ulps float64, r *rand.Rand) (space.Value, error) {
	if _, ok := v.(*space.Mask); ok {
		return v, nil
	}
	x, err := Numbers(v)
	if err != nil {
		return nil, err
	}
	channels := 1
	if m, ok := v.(*space.Image); ok {
		channels = max(m.C, 1)
	}
	frame := len(x) // numbers of one picture: every frame has the same channels
	if f, ok := v.(*space.Frames); ok && len(f.Images) > 0 {
		channels, frame = max(f.Images[0].C, 1), max(len(x)/len(f.Images), 1)
	}
	per := max(frame/channels, 1)
	pick := func(list []float64, c int, otherwise float64) float64 {
		switch {
		case len(list) == 0:
			return otherwise
		case c < len(list):
			return list[c]
		}
		return list[0]
	}
	scale := in.Scale
	if scale == 0 {
		scale = 1
	}
	y := make([]float64, len(x))
	for i, a := range x {
		c := i % max(frame, 1) / per
		mean, std := pick(in.Mean, c, 0), pick(in.Std, c, 1)
		read := float32((a/scale - mean) / std)
		to := float32(math.Inf(1))
		if r.Uint64()&1 == 0 {
			to = -to
		}
		step := float64(math.Nextafter32(read, to)) - float64(read)
		y[i] = ((float64(read)+ulps*step)*std + mean) * scale
	}
	return WithNumbers(v, y)
}

// Softmax turns logits into probabilities; other values and probabilities come back as they are.
func Softmax(v space.Value) space.Value {
	s, ok := v.(*space.Scores)
	if !ok || s.Probabilities || len(s.Val) == 0 {
		return v
	}
	o := &space.Scores{Val: make([]float64, len(s.Val)), Probabilities: true}
	top := math.Inf(-1)
	for _, x := range s.Val {
		top = max(top, x) // max keeps NaN
	}
	var sum float64
	for i, x := range s.Val {
		o.Val[i] = math.Exp(x - top)
		sum += o.Val[i]
	}
	for i := range o.Val {
		o.Val[i] /= sum
	}
	return o
}

// Class is the index of the largest score, the first of equals; -1 if v has no scores or one of them is NaN.
func Class(v space.Value) int {
	s, ok := v.(*space.Scores)
	if !ok {
		return -1
	}
	best := -1
	for i, x := range s.Val {
		if math.IsNaN(x) {
			return -1
		}
		if best < 0 || x > s.Val[best] {
			best = i
		}
	}
	return best
}
