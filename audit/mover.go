package audit

import (
	"slices"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Mover is one element of an action, prepared where the action can prepare. It serves one goroutine.
type Mover struct {
	a action.Action
	g group.Element
	m action.Mover
	// shape that m was prepared for
	from []int
	// what its results look like
	like space.Value
}

// NewMover prepares nothing until the first value shows its shape.
func NewMover(a action.Action, g group.Element) *Mover { return &Mover{a: a, g: g} }

// Movers are those of a list of elements, each changed by f, such as the inverse.
func Movers(a action.Action, elements []Element, f func(group.Element) group.Element) []*Mover {
	out := make([]*Mover, len(elements))
	for i, e := range elements {
		out[i] = NewMover(a, f(e.G))
	}
	return out
}

// Move is g·v.
func (m *Mover) Move(v space.Value) (space.Value, error) {
	p, ok := m.a.(action.Preparer)
	shape := v.Dims()
	if !ok || shape == nil {
		return m.a.Apply(m.g, v)
	}
	if m.m == nil || !slices.Equal(shape, m.from) {
		first, err := m.a.Apply(m.g, v)
		if err != nil {
			return nil, err
		}
		if m.m, err = p.Prepare(m.g, v); err != nil {
			return nil, err
		}
		m.from, m.like = slices.Clone(shape), first
		return first, nil
	}
	to := blank(m.like, v)
	if to == nil {
		return m.a.Apply(m.g, v)
	}
	if err := m.m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// blank is room for a value that looks like the given one and was made from v; nil for a type that is not known here.
func blank(like, v space.Value) space.Value {
	switch y := like.(type) {
	case *space.Image:
		return space.NewImage(y.C, y.H, y.W)
	case *space.Mask:
		return &space.Mask{H: y.H, W: y.W, Label: make([]int32, len(y.Label))}
	case *space.Tensor:
		return &space.Tensor{Shape: y.Shape, Val: make([]float64, len(y.Val))}
	case *space.Field:
		return space.NewField(y.H, y.W)
	case *space.Frames:
		f := &space.Frames{}
		for _, m := range y.Images {
			f.Images = append(f.Images, space.NewImage(m.C, m.H, m.W))
		}
		return f
	case *space.Rows:
		return space.NewRows(y.N, y.W)
	case *space.Pairs:
		return space.NewPairs(y.N, y.W)
	case *space.Signal:
		return space.NewSignal(y.C, y.T, y.Rate)
	case *space.Links:
		return &space.Links{Nodes: y.Nodes, From: make([]int32, len(y.From)), To: make([]int32, len(y.To))}
	case *space.Record:
		x, ok := v.(*space.Record)
		if !ok || len(x.Values) != len(y.Values) {
			return nil
		}
		r := &space.Record{Names: y.Names, Values: make([]space.Value, len(y.Values))}
		for i, f := range y.Values {
			if r.Values[i] = blank(f, x.Values[i]); r.Values[i] == nil {
				return nil
			}
		}
		return r
	case *space.Scores:
		if x, ok := v.(*space.Scores); ok && x.Raw == nil {
			return &space.Scores{Val: make([]float64, len(y.Val)), Probabilities: x.Probabilities}
		}
	}
	return nil
}
