package stress

import "nero/data/space"

// Grid is a value as planes of pixels.
func Grid(v space.Value) (x []float64, c, h, w int, ok bool) {
	switch v := v.(type) {
	case *space.Image:
		return v.Pix, v.C, v.H, v.W, true
	case *space.Mask:
		x = make([]float64, len(v.Label))
		for i, l := range v.Label {
			x[i] = float64(l)
		}
		return x, 1, v.H, v.W, true
	case *space.Field:
		return v.Val, 2, v.H, v.W, true
	case *space.Tensor:
		if n := len(v.Shape); n == 3 {
			return v.Val, v.Shape[0], v.Shape[1], v.Shape[2], true
		}
	}
	return nil, 0, 0, 0, false
}

// Pictures changes the picture that an input is, or every frame of it; nil for other values.
func Pictures(v space.Value, f func(x *space.Image) *space.Image) space.Value {
	switch v := v.(type) {
	case *space.Image:
		return f(v)
	case *space.Frames:
		o := &space.Frames{}
		for _, m := range v.Images {
			o.Images = append(o.Images, f(m))
		}
		return o
	}
	return nil
}

// PictureSize is that of a picture, or of the first of several frames.
func PictureSize(v space.Value) (h, w int, ok bool) {
	switch v := v.(type) {
	case *space.Image:
		return v.H, v.W, true
	case *space.Frames:
		if len(v.Images) > 0 {
			return v.Images[0].H, v.Images[0].W, true
		}
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
