package feature

import "slices"

// Candidates are the representations that the shape of a value allows, simplest first: nothing moves; a map with its
// channels first or last; tokens, one per place, with other tokens before them or without; values over pairs of tokens;
// a flattened map. Grids are those that the value may live on, such as those of what it was made of.
func (f *Frame) Candidates(shape []int, grids []Grid) []*Rep {
	out := []*Rep{f.Fixed(shape)}
	add := func(parts ...Part) {
		if r, err := f.Layout(shape, parts...); err == nil {
			out = append(out, r)
		}
	}
	n := count(shape)
	var used []Grid
	for _, g := range grids {
		size := g.size()
		if size < 2 || slices.Contains(used, g) {
			continue
		}
		used = append(used, g)
		for a := len(shape) - 2; a >= 0; a-- { // channels first before channels last
			if shape[a] == g.H && shape[a+1] == g.W {
				add(part(shape, []Grid{g}, [][]int{{a, a + 1}}, 0))
			}
		}
		var tokens []int
		for a, d := range shape {
			if d == size && (len(shape) > 1 || a > 0) {
				tokens = append(tokens, a)
			}
		}
		if len(tokens) == 2 {
			add(part(shape, []Grid{g, g}, [][]int{{tokens[0]}, {tokens[1]}}, 0))
		}
		for _, a := range tokens {
			add(part(shape, []Grid{g}, [][]int{{a}}, 0))
		}
		for a, d := range shape {
			if extra := d - size; extra > 0 && extra <= maxExtra && len(shape) > 1 {
				add(before(shape, a, extra), part(shape, []Grid{g}, [][]int{{a}}, extra))
			}
		}
		if len(shape) == 1 && n%size == 0 {
			c := n / size
			add(part([]int{c, g.H, g.W}, []Grid{g}, [][]int{{1, 2}}, 0))
			if c > 1 {
				add(part([]int{g.H, g.W, c}, []Grid{g}, [][]int{{0, 1}}, 0))
			}
		}
	}
	return out
}

// maxExtra is how many tokens without a place, such as that of the class, may stand before the others.
const maxExtra = 8

// part is the field over the axes of a value that hold the grids; all other axes are channels. Of an axis of tokens the
// first skip are left out.
func part(shape []int, grids []Grid, axes [][]int, skip int) Part {
	var order, lengths, start []int
	place := map[int]bool{}
	for _, list := range axes {
		for _, a := range list {
			place[a] = true
		}
	}
	p := Part{Channels: 1, Grids: grids}
	for a, d := range shape {
		if !place[a] {
			order, lengths, start = append(order, a), append(lengths, d), append(start, 0)
			p.Channels *= d
		}
	}
	for _, list := range axes {
		for _, a := range list {
			order, lengths, start = append(order, a), append(lengths, shape[a]-skip), append(start, skip)
		}
	}
	p.Index = walk(shape, order, lengths, start)
	if slices.IsSorted(p.Index) && skip == 0 {
		p.Index = nil
	}
	return p
}

// before is the part of the first n tokens along an axis, which have no place.
func before(shape []int, axis, n int) Part {
	var order, lengths, start []int
	c := 1
	for a, d := range shape {
		if a == axis {
			d = n
		}
		order, lengths, start = append(order, a), append(lengths, d), append(start, 0)
		c *= d
	}
	return Part{Channels: c, Index: walk(shape, order, lengths, start)}
}

// walk lists the places in a row-major array of a box of it, the axes taken in the given order, the last fastest.
func walk(shape, order, lengths, start []int) []int32 {
	stride := make([]int, len(shape))
	s := 1
	for a := len(shape) - 1; a >= 0; a-- {
		stride[a] = s
		s *= shape[a]
	}
	out := []int32{0}
	for i, a := range order {
		next := make([]int32, 0, len(out)*lengths[i])
		for _, at := range out {
			for k := range lengths[i] {
				next = append(next, at+int32((start[i]+k)*stride[a]))
			}
		}
		out = next
	}
	return out
}
