package weights

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
	"nero/model/onnx/units"
)

// Numbers are stored tensors by name.
type Numbers map[string]tensor.Tensor

// numbersOf are the stored tensors of a model that have axes. They share memory with the model where that holds them as
// they are read: nobody changes them.
func numbersOf(m *onnx.Model, g *units.Graph) (Numbers, error) {
	stored := map[string]*onnxpb.TensorProto{}
	graph := m.Proto().GetGraph()
	for _, t := range graph.GetInitializer() {
		stored[t.GetName()] = t
	}
	for _, n := range graph.GetNode() {
		if t := onnx.Attr(n, "value").GetT(); t != nil && n.GetOpType() == "Constant" {
			stored[n.GetOutput()[0]] = t
		}
	}
	out := Numbers{}
	for _, name := range g.Stored() {
		p := stored[name]
		if raw := p.GetRawData(); len(raw) > 0 {
			shape, err := onnx.StoredShape(p)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", name, err)
			}
			out[name] = tensor.Tensor{DType: tensor.DType(p.GetDataType()), Shape: shape, Raw: raw}
			continue
		}
		t, err := onnx.Value(p)
		if err != nil {
			return nil, err
		}
		out[name] = t
	}
	return out, nil
}

// Into is a copy of a model with these numbers.
func (n Numbers) Into(m *onnx.Model) (*onnx.Model, error) { return rewrite.With(m, n) }

// over are these numbers where there are some, and else those below.
func (n Numbers) over(below Numbers) Numbers {
	out := maps.Clone(below)
	maps.Copy(out, n)
	return out
}

// apart are these numbers, those that lie where others do copied: what else lies there can be let go of.
func (n Numbers) apart(from Numbers) Numbers {
	out := Numbers{}
	for name, t := range n {
		if u := from[name]; len(t.Raw) > 0 && len(u.Raw) > 0 && &t.Raw[0] == &u.Raw[0] {
			t.Raw = slices.Clone(t.Raw)
		}
		out[name] = t
	}
	return out
}

// Element is one way to move stored numbers that the model does not notice: units change places, and are then scaled or
// turned.
type Element struct {
	graph *units.Graph
	// which unit of a block comes to a place, for all blocks one after another
	places map[*units.Class][]int32
	scales []scaling
	turns  []turning
}

// scaling multiplies stored tensors by powers of a number for each unit.
type scaling struct {
	class *units.Class
	on    []units.Power
	by    []float64
}

// turning multiplies stored tensors by a matrix for each block, or by the transposed inverse.
type turning struct {
	class          *units.Class
	on             []units.Power
	by, transposed [][]float64
	dimension      int
}

func newElement(g *units.Graph) *Element {
	return &Element{graph: g, places: map[*units.Class][]int32{}}
}

// scale adds a scale.
func (e *Element) scale(m *units.Move, by []float64) {
	e.scales = append(e.scales, scaling{m.Class, m.On, by})
}

// follow lets the order in a block go with the block: orders that were found as blocks lie become those of the places
// that the blocks come to.
func (e *Element) follow() {
	found := maps.Clone(e.places)
	for cl, to := range found {
		out := make([]int32, 0, len(to))
		for b := range cl.Blocks {
			from := e.block(cl, b)
			out = append(out, to[from*cl.Units:(from+1)*cl.Units]...)
		}
		e.places[cl] = out
	}
}

// touched are the stored tensors that the element may change.
func (e *Element) touched() []string {
	var out []string
	for _, name := range e.graph.Stored() {
		if e.moves(name) {
			out = append(out, name)
		}
	}
	return out
}

func (e *Element) moves(name string) bool {
	for _, axis := range e.graph.Spots(name) {
		for _, s := range axis {
			if e.places[s.Class] != nil {
				return true
			}
		}
	}
	on := func(p units.Power) bool { return p.Tensor == name && p.Exp != 0 }
	return slices.ContainsFunc(e.scales, func(s scaling) bool { return slices.ContainsFunc(s.on, on) }) ||
		slices.ContainsFunc(e.turns, func(s turning) bool { return slices.ContainsFunc(s.on, on) })
}

// Apply moves stored tensors and returns those that changed places or were multiplied.
func (e *Element) Apply(n Numbers) (Numbers, error) {
	out := Numbers{}
	var work desk
	for _, name := range e.touched() {
		t, err := e.apply(&work, name, n[name])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}

// reader finds the block of a class at an element of a tensor, and the unit there.
type reader struct {
	axis  int
	spot  units.Spot
	outer []reader
}

// unit is the number of a unit among those of all blocks, and its block; false where the element is none of the class.
func (r *reader) unit(at []int) (unit, block int, ok bool) {
	i := r.spot.Index[at[r.axis]]
	if i < 0 {
		return 0, 0, false
	}
	for k := range r.outer {
		j := r.outer[k].spot.Index[at[r.outer[k].axis]]
		if j < 0 {
			return 0, 0, false
		}
		block = block*r.outer[k].spot.Class.Units + int(j)
	}
	return block*r.spot.Class.Units + int(i), block, true
}

// readers are the places of classes in a value, one for each axis and class.
func readers(g *units.Graph, value string) []*reader {
	spots := g.Spots(value)
	var out []*reader
	for axis, list := range spots {
		for _, s := range list {
			r := &reader{axis: axis, spot: s}
			for _, o := range s.Class.Within {
				for b, others := range spots {
					for _, x := range others {
						if x.Class == o && len(r.outer) < len(s.Class.Within) && meets(r, axis, b, x) {
							r.outer = append(r.outer, reader{axis: b, spot: x})
						}
					}
				}
			}
			if len(r.outer) == len(s.Class.Within) {
				out = append(out, r)
			}
		}
	}
	return out
}

// meets tells whether a spot is that of the block: on the same axis it has to be there at the same places.
func meets(r *reader, axis, other int, x units.Spot) bool {
	if axis != other {
		return true
	}
	for i, at := range r.spot.Index {
		if at >= 0 && x.Index[i] < 0 {
			return false
		}
	}
	return true
}

// desk is where the numbers of one tensor after the other are moved, as they are and as they become: twice as wide as
// they are stored, so that those of all tensors are not left lying about.
type desk struct{ val, out []float64 }

// apply moves one tensor.
func (e *Element) apply(work *desk, name string, t tensor.Tensor) (tensor.Tensor, error) {
	val, err := t.Float64s(work.val)
	if err != nil {
		return t, err
	}
	work.val, work.out = val, slices.Grow(work.out[:0], len(val))
	strides := make([]int, len(t.Shape))
	for i, n := len(t.Shape)-1, 1; i >= 0; i-- {
		strides[i] = n
		n *= t.Shape[i]
	}
	type moving struct {
		*reader
		to []int32
	}
	type scaled struct {
		*reader
		by  []float64
		exp int
	}
	var moves []moving
	var scales []scaled
	for _, r := range readers(e.graph, name) {
		if to := e.places[r.spot.Class]; to != nil {
			moves = append(moves, moving{r, to})
		}
		for _, s := range e.scales {
			for _, p := range s.on {
				if s.class == r.spot.Class && p.Tensor == name && p.Exp != 0 && (p.Axis < 0 || p.Axis == r.axis) {
					scales = append(scales, scaled{r, s.by, p.Exp})
				}
			}
		}
	}
	out := work.out[:len(val)]
	at := make([]int, len(t.Shape))
	for i := range out {
		from := i
		for _, m := range moves {
			if u, _, ok := m.unit(at); ok {
				k := at[m.axis]
				from += (int(m.to[u]) - int(m.spot.Index[k])) * int(m.spot.Stride[k]) * strides[m.axis]
			}
		}
		x := val[from]
		for _, s := range scales {
			if u, _, ok := s.unit(at); ok {
				for range s.exp {
					x *= s.by[u]
				}
				for range -s.exp {
					x /= s.by[u]
				}
			}
		}
		out[i] = x
		for a := len(at) - 1; a >= 0; a-- {
			if at[a]++; at[a] < t.Shape[a] {
				break
			}
			at[a] = 0
		}
	}
	for _, s := range e.turns {
		for _, p := range s.on {
			if p.Tensor == name && p.Exp != 0 {
				out = s.turn(e.graph, p, t.Shape, strides, out)
			}
		}
	}
	return decode.Rounded(t.DType, out, t.Shape...)
}

// turn multiplies a tensor by the matrix of each block along a class.
func (s *turning) turn(g *units.Graph, p units.Power, shape, strides []int, val []float64) []float64 {
	by := s.by
	if p.Exp < 0 {
		by = s.transposed
	}
	out := slices.Clone(val)
	for _, r := range readers(g, p.Tensor) {
		if r.spot.Class != s.class {
			continue
		}
		at := make([]int, len(shape))
		for i := range val {
			if u, block, ok := r.unit(at); ok {
				k := at[r.axis]
				step := int(r.spot.Stride[k]) * strides[r.axis]
				first := i - int(r.spot.Index[k])*step
				row := by[block][u%s.dimension*s.dimension:]
				sum := 0.0
				for j := range s.dimension {
					sum += float64(row[j] * val[first+j*step])
				}
				out[i] = sum
			}
			for a := len(at) - 1; a >= 0; a-- {
				if at[a]++; at[a] < shape[a] {
					break
				}
				at[a] = 0
			}
		}
	}
	return out
}

// purpose keeps the streams of random numbers apart.
const (
	forProbes uint64 = iota + 0x77656967
	forPlaces
	forMoves
	forUnits
	forLosses
	forRounding
	forReach
)

// shuffled draws places for the units of a class, some of them other ones.
func shuffled(c *units.Class, r *rand.Rand) []int32 {
	out := shuffledOnce(c, r)
	for c.Units > 1 && slices.Equal(out, identity(c)) {
		out = shuffledOnce(c, r)
	}
	return out
}

func shuffledOnce(c *units.Class, r *rand.Rand) []int32 {
	out := make([]int32, 0, c.Blocks*c.Units)
	for range c.Blocks {
		for _, i := range r.Perm(c.Units) {
			out = append(out, int32(i))
		}
	}
	return out
}

// draw adds a random element of a move.
func (e *Element) draw(m *units.Move, r *rand.Rand) {
	n := m.Class.Blocks * m.Class.Units
	by := make([]float64, n)
	switch m.Kind { //nolint:exhaustive // the others are matrices
	case units.Positive:
		const steps = 3
		for i := range by {
			by[i] = math.Ldexp(1, r.IntN(2*steps+1)-steps)
		}
		if !slices.ContainsFunc(by, func(x float64) bool { return x != 1 }) {
			by[0] = 2
		}
		e.scale(m, by)
	case units.Sign:
		for i := range by {
			by[i] = float64(1 - 2*r.IntN(2))
		}
		if !slices.Contains(by, -1) {
			by[0] = -1
		}
		e.scale(m, by)
	default:
		t := turning{class: m.Class, on: m.On, dimension: m.Class.Units}
		for range m.Class.Blocks {
			q := orthogonal(m.Class.Units, r)
			a, b := q, q
			if m.Kind == units.Matrix { // q d p, with its transposed inverse q d⁻¹ p
				p := orthogonal(m.Class.Units, r)
				d := make([]float64, m.Class.Units)
				for i := range d {
					d[i] = math.Ldexp(1, r.IntN(3)-1)
				}
				a = sandwich(q, d, p, m.Class.Units)
				for i := range d {
					d[i] = 1 / d[i]
				}
				b = sandwich(q, d, p, m.Class.Units)
			}
			t.by, t.transposed = append(t.by, a), append(t.transposed, b)
		}
		e.turns = append(e.turns, t)
	}
}

// orthogonal draws an orthogonal matrix: random rows, each made orthogonal to those before it, twice.
func orthogonal(n int, r *rand.Rand) []float64 {
	out := make([]float64, n*n)
	for i := 0; i < n; {
		row := out[i*n : (i+1)*n]
		for j := range row {
			row[j] = elementary.Normal(r)
		}
		for range 2 {
			for k := range i {
				other := out[k*n : (k+1)*n]
				dot := product(row, other)
				for j := range row {
					row[j] -= float64(dot * other[j])
				}
			}
		}
		size := math.Sqrt(product(row, row))
		if !(size > 1e-6) {
			continue
		}
		for j := range row {
			row[j] /= size
		}
		i++
	}
	return out
}

// sandwich is q·diag(d)·p.
func sandwich(q, d, p []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for k := range n {
			x := float64(q[i*n+k] * d[k])
			for j := range n {
				out[i*n+j] += float64(x * p[k*n+j])
			}
		}
	}
	return out
}

// product is the inner product of two lists.
func product(a, b []float64) float64 {
	var s0, s1, s2, s3 float64 // in registers, as an array of them is not
	b = b[:len(a)]
	for len(a) >= 4 {
		x, y := a[:4:4], b[:4:4]
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}
