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
	to := m.like.Like()
	if !slices.Equal(to.Dims(), m.like.Dims()) { // there is no room for a number of boxes that is not known
		return m.a.Apply(m.g, v)
	}
	if err := m.m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}
