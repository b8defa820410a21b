package eval

import (
	"sync/atomic"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// carrier moves answers or targets by a list of elements. What depends on the element alone is done once for all
// samples and models where values of any size may follow it, as sets and graphs do, or values of one size that are
// their numbers alone, as fields are.
type carrier struct {
	action   action.Action
	elements []group.Element
	// of the elements, as they are asked for
	movers []atomic.Pointer[action.Mover]
	// bytes of the movers, at most moverBytes
	held atomic.Int64
	// the action does not prepare, or its movers are not kept
	fixed atomic.Bool
}

func newCarrier(a action.Action, elements []group.Element) *carrier {
	return &carrier{action: a, elements: elements, movers: make([]atomic.Pointer[action.Mover], len(elements))}
}

// apply moves a value by element k. It is what the action makes of it, and lies in room where that has its form; nil
// for new room.
func (c *carrier) apply(k int, v, room space.Value) (space.Value, error) {
	if m := c.mover(k, v); m != nil {
		to := room
		if to == nil || !space.Alike(to, v) {
			to = v.Like()
		}
		if err := m.Move(to, v); err == nil {
			return to, nil
		}
	}
	return c.action.Apply(c.elements[k], v) // which says best what is wrong
}

// mover is element k if it was prepared, or can be, for values of any size; else nil.
func (c *carrier) mover(k int, v space.Value) action.Mover {
	if c.fixed.Load() {
		return nil
	}
	if m := c.movers[k].Load(); m != nil {
		return *m
	}
	if c.held.Load() > moverBytes {
		return nil
	}
	p, ok := c.action.(action.Preparer)
	if !ok {
		c.fixed.Store(true)
		return nil
	}
	m, err := p.Prepare(c.elements[k], v)
	if err != nil {
		return nil
	}
	if !action.Ragged(m) && !action.Sized(m) {
		c.fixed.Store(true)
		return nil
	}
	c.held.Add(int64(action.Bytes(m)))
	c.movers[k].Store(&m)
	return m
}
