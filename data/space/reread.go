package space

// Reread is a value on the pixels of a plane whose place i shows what place from[i] of v shows, in every channel and
// picture; 0 where from[i] is below 0. There are as many places as pixels, numbered row by row. It is false for values
// that do not lie on pixels.
func Reread(v Value, from []int) (Value, bool) {
	r, ok := v.(interface{ reread(from []int) Value })
	if !ok {
		return nil, false
	}
	o := r.reread(from)
	return o, o != nil
}

// Plane is the height and the width of the pixels that a value lies on, of every picture if there are several; false
// for values that do not lie on pixels.
func Plane(v Value) (h, w int, ok bool) {
	if m := Picture(v); m != nil {
		return m.H, m.W, true
	}
	_, h, w = Grid(v)
	return h, w, h > 0 && w > 0
}

// Sides are the lengths of the axes along which neighbours in a value lie side by side, the last varying fastest: of
// each picture, volume, or channel of a signal. It is nil for values whose numbers have no neighbours.
func Sides(v Value) []int {
	if s, ok := v.(interface{ sides() []int }); ok {
		return s.sides()
	}
	if h, w, ok := Plane(v); ok {
		return []int{h, w}
	}
	return nil
}

// Blank writes 0 to the places of v, numbered as in [Reread], where keep is below 0. It does nothing to values that do
// not lie on pixels.
func Blank(v Value, keep []int) {
	if r, ok := v.(interface{ blank(keep []int) }); ok {
		r.blank(keep)
	}
}

// blank clears places of planes of len(keep) numbers.
func blank[T int32 | float64](x []T, keep []int) {
	for i := range x {
		if len(keep) > 0 && keep[i%len(keep)] < 0 {
			x[i] = 0
		}
	}
}

// reread gathers planes of len(from) numbers.
func reread[T any](x []T, from []int) []T {
	o, n := make([]T, len(x)), len(from)
	for k := 0; k+n <= len(x); k += n {
		for i, f := range from {
			if f >= 0 {
				o[k+i] = x[k+f]
			}
		}
	}
	return o
}

// The formula stays: it says what lies where a motion takes pixels from.
func (m *Image) reread(from []int) Value {
	return &Image{C: m.C, H: m.H, W: m.W, Pix: reread(m.Pix, from), Formula: m.Formula}
}

func (f *Frames) reread(from []int) Value {
	o := &Frames{}
	for _, m := range f.Images {
		o.Images = append(o.Images, &Image{C: m.C, H: m.H, W: m.W, Pix: reread(m.Pix, from), Formula: m.Formula})
	}
	return o
}

func (m *Mask) reread(from []int) Value { return &Mask{H: m.H, W: m.W, Label: reread(m.Label, from)} }

func (f *Field) reread(from []int) Value { return &Field{H: f.H, W: f.W, Val: reread(f.Val, from)} }

func (t *Tensor) reread(from []int) Value {
	if len(t.Shape) != 3 {
		return nil
	}
	return &Tensor{Shape: t.Shape, Val: reread(t.Val, from)}
}

func (m *Image) blank(keep []int) { blank(m.Pix, keep) }

func (f *Frames) blank(keep []int) {
	for _, m := range f.Images {
		blank(m.Pix, keep)
	}
}

func (m *Mask) blank(keep []int) { blank(m.Label, keep) }

func (f *Field) blank(keep []int) { blank(f.Val, keep) }

func (t *Tensor) blank(keep []int) {
	if len(t.Shape) == 3 {
		blank(t.Val, keep)
	}
}
