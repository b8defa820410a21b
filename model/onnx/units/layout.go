package units

import "slices"

// Spot is where the units of a class lie on an axis of a value.
type Spot struct {
	Class *Class
	// Index is the unit at each place of the axis, -1 where the place belongs to another part of it. Stride is how far
	// the next unit is, there.
	Index, Stride []int32
}

// Spots are the classes on each axis of a value or stored tensor; nil where its shape is not known.
func (g *Graph) Spots(value string) [][]Spot {
	axes, ok := g.values[value]
	if !ok {
		return nil
	}
	out := make([][]Spot, len(axes))
	for i, a := range axes {
		for _, s := range a.spots() {
			if c := g.class[s.leaf]; c != nil {
				out[i] = append(out[i], Spot{c, s.index, s.stride})
			}
		}
	}
	return out
}

// Shape is that of a value, for the inputs that the graph was looked at with.
func (g *Graph) Shape(value string) []int { return g.facts.Shapes[value] }

type spot struct {
	leaf          *Atom
	index, stride []int32
}

// spots lays the parts of an axis out.
func (a Axis) spots() []spot {
	n := a.Len()
	parts := a.parts()
	var out []spot
	inner := 1
	for _, p := range slices.Backward(parts) {
		if p.sum == nil {
			s := spot{p, make([]int32, n), make([]int32, n)}
			for i := range n {
				s.index[i], s.stride[i] = int32(i/inner%p.n), int32(inner)
			}
			out = append(out, s)
			inner *= p.n
			continue
		}
		from := 0
		for _, seg := range p.sum {
			length := seg.Len()
			for _, q := range seg.spots() {
				s := spot{q.leaf, make([]int32, n), make([]int32, n)}
				for i := range n {
					s.index[i] = -1
					if at := i / inner % p.n; at >= from && at < from+length {
						s.index[i], s.stride[i] = q.index[at-from], q.stride[at-from]*int32(inner)
					}
				}
				out = append(out, s)
			}
			from += length
		}
		inner *= p.n
	}
	return out
}
