package stress

import "nero/data/space"

// Grid is a value as planes of pixels.
func Grid(v space.Value) (x []float64, c, h, w int, ok bool) {
	if c, h, w = space.Grid(v); h < 1 {
		return nil, 0, 0, 0, false
	}
	return v.Numbers(), c, h, w, true
}

// Pictures changes the picture that an input is, or every frame of it; nil for other values.
func Pictures(v space.Value, f func(x *space.Image) *space.Image) space.Value {
	if p, ok := v.(space.Pictured); ok {
		return p.Repaint(f)
	}
	return nil
}

// PictureSize is that of a picture, or of the first of several frames.
func PictureSize(v space.Value) (h, w int, ok bool) {
	if m := space.Picture(v); m != nil {
		return m.H, m.W, true
	}
	return 0, 0, false
}

// Framed is a picture, or each frame, with everything within m pixels of the border blanked.
func Framed(v space.Value, m int) space.Value {
	return Pictures(v, func(x *space.Image) *space.Image {
		y := space.NewImage(x.C, x.H, x.W)
		for k := range x.C {
			from, to := x.Plane(k), y.Plane(k)
			for r := m; r < x.H-m; r++ {
				copy(to[r*x.W+m:(r+1)*x.W-m], from[r*x.W+m:(r+1)*x.W-m])
			}
		}
		return y
	})
}

// Rolled is a picture, or each frame, moved down and to the right, around the border.
func Rolled(v space.Value, down, right int) space.Value {
	return Pictures(v, func(x *space.Image) *space.Image { return RolledImage(x, down, right) })
}

// RolledImage is a picture moved down and to the right, around the border.
func RolledImage(x *space.Image, down, right int) *space.Image {
	y := space.NewImage(x.C, x.H, x.W)
	for k := range x.C {
		from, to := x.Plane(k), y.Plane(k)
		for r := range x.H {
			rr := ((r+down)%x.H + x.H) % x.H
			for c := range x.W {
				to[rr*x.W+((c+right)%x.W+x.W)%x.W] = from[r*x.W+c]
			}
		}
	}
	return y
}

// Boxes reports whether answers like this one are sets of boxes.
func Boxes(v space.Value) bool { return v.Kind() == space.KindBoxes }
