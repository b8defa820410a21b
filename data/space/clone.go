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
	case *Rows:
		return &Rows{N: v.N, W: v.W, Val: slices.Clone(v.Val)}, nil
	case *Links:
		return &Links{Nodes: v.Nodes, From: slices.Clone(v.From), To: slices.Clone(v.To)}, nil
	case *Pairs:
		return &Pairs{N: v.N, W: v.W, Val: slices.Clone(v.Val)}, nil
	case *Signal:
		return &Signal{C: v.C, T: v.T, Rate: v.Rate, Val: slices.Clone(v.Val), Lo: v.Lo, Hi: v.Hi}, nil
	case *Record:
		c := &Record{Names: slices.Clone(v.Names), Values: make([]Value, len(v.Values))}
		for i, f := range v.Values {
			var err error
			if c.Values[i], err = Clone(f); err != nil {
				return nil, err
			}
		}
		return c, nil
	}
	return nil, fmt.Errorf("no copy of a %T", v)
}

// Shape is the shape of v without a batch axis: (C, H, W) of an image, (H, W) of a mask, (classes) of scores, (boxes)
// of a set of boxes, (2, H, W) of a field, (T, C, H, W) of frames, (N, W) of rows, (2, edges) of links, (N, N, W) of
// pairs, (C, T) of a signal; of a record the shapes of its fields one after another, each behind the number of its
// axes, so that records of different shapes differ.
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
	case *Rows:
		return []int{v.N, v.W}
	case *Links:
		return []int{2, len(v.From)}
	case *Pairs:
		return []int{v.N, v.N, v.W}
	case *Signal:
		return []int{v.C, v.T}
	case *Record:
		var all []int
		for _, f := range v.Values {
			s := Shape(f)
			all = append(append(all, len(s)), s...)
		}
		return all
	}
	return nil
}
