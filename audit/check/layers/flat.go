package layers

import (
	"errors"
	"math"

	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// flat are all products of the components of two irreps along one axis, those of the second fastest, as contractions of
// Clebsch-Gordan coefficients with one factor leave them before the other one comes in.
type flat struct {
	first, second *layout
}

// String is the two irreps.
func (f *flat) String() string { return f.first.String() + " by " + f.second.String() }

// length is how many numbers a layout has.
func (y *layout) length() int {
	n := 0
	for _, b := range y.blocks {
		n += b.term.Dim()
	}
	return n
}

// flattened moves the numbers along an axis that holds products.
func (p *points) flattened(f *flat, shape []int, axis int, g group.Element, x []float64) ([]float64, error) {
	outer, length, inner := around(shape, axis)
	a, b := f.first.length(), f.second.length()
	if a*b != length {
		return nil, errors.New("an axis has another length than the products along it")
	}
	four := []int{outer, a, b, inner}
	x, err := p.laid(f.first, four, 1, g, x)
	if err != nil {
		return nil, err
	}
	return p.laid(f.second, four, 2, g, x)
}

// singles are the irreps that an axis of a length may hold alone: one degree of either parity.
func singles(length int, parity bool) []*layout {
	if length%2 == 0 || length < 3 || length > 2*irreps.MaxL+1 {
		return nil
	}
	l := (length - 1) / 2
	var out []*layout
	for _, odd := range []bool{l%2 == 1, l%2 == 0} {
		out = append(out, layoutOf(irreps.Irreps{{Mul: 1, L: l, Odd: odd}}, parity))
	}
	return out
}

// flats are the products that an axis of a length may hold. Of two single irreps the parity of both together is all
// that shows, so that the second one has its natural one.
func flats(length int, known []held, parity bool) []*flat {
	var out []*flat
	for a := 3; a*3 <= length; a++ {
		if length%a != 0 {
			continue
		}
		first, second := singles(a, parity), singles(length/a, parity)
		if len(second) > 0 {
			second = second[:1]
		}
		for _, c := range known {
			switch {
			case c.layout == nil || len(c.layout.blocks) < 2:
			case c.length == a:
				first = append(first, c.layout)
			case c.length == length/a:
				second = append(second, c.layout)
			}
		}
		for _, f := range first {
			for _, s := range second {
				out = append(out, &flat{f, s})
			}
		}
	}
	return out
}

// products are the flat products of two irreps that explain a value, for the sets of rows that it may have; nil if none
// does.
func (p *points) products(shape []int, sets [][]int, known []held, e evidence) *motion {
	for _, m := range p.flatMotions(shape, sets, known, e) {
		if e.explained(func(g group.Element, x []float64) ([]float64, error) { return p.apply(m, g, x) }) {
			return m
		}
	}
	return nil
}

// flatMotions are the ways in which a value may hold flat products along its last axis that is none of rows.
func (p *points) flatMotions(shape []int, sets [][]int, known []held, e evidence) []*motion {
	if p.dim != 3 || e.constant || !p.turns(e) || len(shape) == 0 {
		return nil
	}
	var out []*motion
	parity := p.mirrors(e)
	for _, s := range sets {
		a := len(shape) - 1
		if len(s) > 0 && s[len(s)-1] == a || shape[a] > mostLaid {
			continue
		}
		for _, f := range flats(shape[a], known, parity) {
			out = append(out, &motion{shape: shape, rows: s, parts: []component{{axis: a, fold: 1, flat: f}}})
		}
	}
	return out
}

// unfolded is the flat product that a layer is made for which brings coefficients together with one irrep alone, the
// one that comes closest to the values: its two irreps couple to what the layer reads. It is nil for other layers.
func (p *points) unfolded(ins []input, shape, rows []int, e evidence) *motion {
	if len(ins) != 1 || ins[0].motion == nil || len(ins[0].motion.parts) != 1 {
		return nil
	}
	from := ins[0].motion.parts[0].laid(ins[0].shape)
	if from == nil {
		return nil
	}
	ir, silent := from.terms()
	if len(ir) != 1 || ir[0].L == 0 || silent > 0 {
		return nil
	}
	var best *motion
	least := math.Inf(1)
	for _, m := range p.flatMotions(shape, [][]int{rows}, nil, e) {
		f := m.parts[0].flat
		a, b := f.first.blocks[0].term, f.second.blocks[0].term
		if ir[0].L < max(a.L-b.L, b.L-a.L) || ir[0].L > a.L+b.L || (a.Odd != b.Odd) != ir[0].Odd {
			continue
		}
		var off float64
		for _, q := range e.pairs {
			y, err := p.apply(m, q.G, q.X)
			if err != nil {
				return nil
			}
			d := distance(y, q.Y)
			off += float64(d * d)
		}
		if off < least {
			best, least = m, off
		}
	}
	return best
}
