package space

import (
	"fmt"
	"slices"
)

// Clone is a deep copy of v. It returns an error for a value of a type that this package does not know.
func Clone(v Value) (Value, error) {
	switch v := v.(type) {
	case *Image:
		return &Image{C: v.C, H: v.H, W: v.W, Pix: slices.Clone(v.Pix)}, nil
	case *Mask:
		return &Mask{H: v.H, W: v.W, Label: slices.Clone(v.Label)}, nil
	case *Scores:
		return &Scores{Val: slices.Clone(v.Val), Raw: slices.Clone(v.Raw), Probabilities: v.Probabilities}, nil
	case *Tensor:
		return &Tensor{Shape: slices.Clone(v.Shape), Val: slices.Clone(v.Val)}, nil
	case *Boxes:
		c := &Boxes{H: v.H, W: v.W, Items: slices.Clone(v.Items)}
		if v.Seen != nil {
			seen := *v.Seen
			c.Seen = &seen
		}
		return c, nil
	case *Field:
		return &Field{H: v.H, W: v.W, Val: slices.Clone(v.Val)}, nil
	case *Frames:
		c := &Frames{Images: make([]*Image, len(v.Images))}
		for i, m := range v.Images {
			c.Images[i] = &Image{C: m.C, H: m.H, W: m.W, Pix: slices.Clone(m.Pix)}
		}
		return c, nil
	}
	return nil, fmt.Errorf("no copy of a %T", v)
}

// Shape is the shape of v without a batch axis: (C, H, W) of an image, (H, W) of a mask, (classes) of scores,
// (boxes) of a set of boxes, (2, H, W) of a field, (T, C, H, W) of frames.
func Shape(v Value) []int {
	switch v := v.(type) {
	case *Image:
		return []int{v.C, v.H, v.W}
	case *Mask:
		return []int{v.H, v.W}
	case *Scores:
		return []int{len(v.Val)}
	case *Tensor:
		return v.Shape
	case *Boxes:
		return []int{len(v.Items)}
	case *Field:
		return []int{2, v.H, v.W}
	case *Frames:
		if len(v.Images) == 0 {
			return []int{0, 0, 0, 0}
		}
		m := v.Images[0]
		return []int{len(v.Images), m.C, m.H, m.W}
	}
	return nil
}
