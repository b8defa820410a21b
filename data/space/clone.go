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
	}
	return nil, fmt.Errorf("no copy of a %T", v)
}

// Shape is the shape of v without a batch axis: (C, H, W) of an image, (H, W) of a mask, (classes) of scores.
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
	}
	return nil
}
