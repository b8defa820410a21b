package layers

import (
	"context"
	"math"
	"slices"
	"strings"

	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// bias is by how much of itself what a node adds is moved by the elements, the largest over them: ρ(g)(x + c) -
// ρ(g)x - c over c, for c the difference of what it makes and what it reads. It is NaN for nodes that add nothing
// stored to one value of which it is known how it moves, and for numbers of each row that differ
// from row to row, which are positions.
func (l *look) bias(cur, next *cut, n *onnxpb.NodeProto) float64 {
	none := math.NaN()
	if n == nil || n.GetOpType() != "Add" && n.GetOpType() != "Sub" || !l.constants(n) {
		return none
	}
	in, out := -1, slices.Index(next.live, n.GetOutput()[0])
	for _, v := range n.GetInput() {
		if !l.constant(v) {
			in = slices.Index(cur.live, v)
		}
	}
	if in < 0 || out < 0 || cur.reps[in] == nil || !slices.Equal(cur.x[0][in].Shape, next.x[0][out].Shape) ||
		n.GetOpType() == "Sub" && l.constant(n.GetInput()[0]) {
		return none
	}
	x, y, rep := cur.x[0][in].Val, next.x[0][out].Val, cur.reps[in]
	c := minus(y, x)
	size := math.Sqrt(dot(c, c))
	if l.points != nil && l.differs(cur.live[in], c) || !(size > 0) {
		return none
	}
	most := 0.0
	for _, e := range l.elements {
		a, err := rep.Apply(e.G, y)
		if err != nil {
			return none
		}
		b, err := rep.Apply(e.G, x)
		if err != nil {
			return none
		}
		most = max(most, distance(minus(a, b), c)/size)
	}
	return most
}

// differs tells whether numbers of the form of a value differ from row to row.
func (l *look) differs(v string, c []float64) bool {
	m := l.points.motions[v]
	if m == nil {
		return false
	}
	for _, axis := range m.rows {
		outer, length, inner := around(m.shape, axis)
		for o := range outer {
			for i := 1; i < length; i++ {
				at := (o*length + i) * inner
				if distance(c[at:at+inner], c[at-inner:at]) > 1e-5*math.Sqrt(dot(c, c)) {
					return true
				}
			}
		}
	}
	return false
}

// mostDegree is the largest power that is told from others.
const mostDegree = 6

// degree is the power with which what a part of the model makes grows with the numbers that turn among those that it
// reads: these are doubled, and nothing else. It is 0 where none turn, or where the growth is by no whole power.
func (l *look) degree(ctx context.Context, part *interior.Part, cur, next *cut, mine []int) (int, error) {
	if l.points == nil || l.points.dim == 0 {
		return 0, nil
	}
	twice, turn := make([][]interior.Array, len(cur.x)), false
	for i := range cur.x {
		twice[i] = slices.Clone(cur.x[i])
		for k, v := range cur.live {
			if !(input{v, cur.reps[k], nil, l.points.motions[v]}).turning() {
				continue
			}
			turn = true
			a := interior.Array{Shape: cur.x[i][k].Shape, Val: slices.Clone(cur.x[i][k].Val)}
			for n := range a.Val {
				a.Val[n] *= 2
			}
			twice[i][k] = a
		}
	}
	if !turn {
		return 0, nil
	}
	out, err := part.Run(ctx, twice)
	if err != nil {
		return 0, err
	}
	for d := 1; d <= mostDegree; d++ {
		var off, all float64
		for i := range out {
			for _, k := range mine {
				y := next.x[i][k].Val
				for n, v := range out[i][k].Val {
					w := math.Ldexp(y[n], d)
					off, all = off+(v-w)*(v-w), all+w*w
				}
			}
		}
		if all > 0 && off <= 1e-8*all {
			return d, nil
		}
	}
	return 0, nil
}

// turning tells that single numbers are components of something that turns, as far as is known; numbers that are moved
// about with such components among them do.
func (i input) turning() bool { return i.rep != nil && i.turns() }

// loose tells whether products of components, taken one by one, are never summed up over the components: something
// reads them as if they were those of a vector. What cannot be followed is given the benefit of the doubt.
func (l *look) loose(cur *cut, n *onnxpb.NodeProto) bool {
	if n.GetOpType() != "Mul" {
		return false
	}
	at := 0 // of the components, counted from the last axis, 1 for that
	for _, v := range n.GetInput() {
		j := slices.Index(cur.live, v)
		if j < 0 || cur.reps[j] == nil {
			return false
		}
		m := l.points.motions[v]
		if m == nil || len(m.parts) != 1 || m.parts[0].fold > 1 {
			return false
		}
		from := len(m.shape) - m.parts[0].axis
		if at > 0 && from != at {
			return false
		}
		at = from
	}
	return at > 0 && l.unsummed(n.GetOutput()[0], at, map[string]bool{})
}

// unsummed tells whether something reads the components of a value, on an axis counted from the last, as those of a
// vector.
func (l *look) unsummed(v string, at int, seen map[string]bool) bool {
	if v == l.output {
		return l.out != nil && l.out.Moves()
	}
	if seen[v] {
		return false
	}
	seen[v] = true
	for _, n := range l.m.ONNX().Proto().GetGraph().GetNode() {
		for k, in := range n.GetInput() {
			if in == v && l.vectorlike(n, k, at, seen) {
				return true
			}
		}
	}
	return false
}

// vectorlike tells whether a node reads its k-th input as a vector along an axis, or hands it on to one that does.
func (l *look) vectorlike(n *onnxpb.NodeProto, k, at int, seen map[string]bool) bool {
	out, op := n.GetOutput()[0], n.GetOpType()
	other := func() string {
		if len(n.GetInput()) != 2 {
			return ""
		}
		return n.GetInput()[1-k]
	}
	switch {
	case op == "Neg" || op == "Identity" || op == "Cast":
		return l.unsummed(out, at, seen)
	case op == "Mul" || op == "Div" || op == "Add" || op == "Sub":
		o := other()
		if o == "" || o == n.GetInput()[k] {
			return o != "" && op == "Mul" // the square of a product
		}
		if l.constant(o) {
			return (op == "Mul" || op == "Div") && l.unsummed(out, at, seen)
		}
		m := l.points.motions[o]
		if m.turns() && slices.ContainsFunc(m.parts, func(c component) bool { return len(m.shape)-c.axis == at }) {
			return op != "Div" // joined with a vector, or multiplied by one
		}
		return m != nil && !m.turns() && op == "Mul" && l.unsummed(out, at, seen)
	case op == "MatMul":
		// The last axis of the first factor is summed over, and the last but one of the second.
		return (k == 0 && at == 2 || k == 1 && at == 1) && l.unsummed(out, at, seen)
	case strings.HasPrefix(op, "Reduce") && onnx.Int(n, "keepdims", 1) == 1 && len(n.GetInput()) == 2:
		axes := l.stored(n.GetInput()[1])
		rank := len(l.shapes[n.GetInput()[k]])
		for _, a := range axes {
			if a < 0 {
				a += float64(rank)
			}
			if rank-int(a) == at {
				return false
			}
		}
		return len(axes) > 0 && rank > 0 && l.unsummed(out, at, seen)
	}
	return false
}

// couples names the product of two things that turn that a node brings into another form by stored numbers, as
// Clebsch-Gordan coefficients do; "" for other nodes.
func (l *look) couples(n *onnxpb.NodeProto) string {
	if l.points == nil || n == nil || !products[n.GetOpType()] || !l.constants(n) {
		return ""
	}
	for _, v := range n.GetInput() {
		if l.constant(v) {
			continue
		}
		m := l.maker(v)
		for m != nil && movements[m.GetOpType()] && len(m.GetInput()) > 0 {
			v = m.GetInput()[0]
			m = l.maker(v)
		}
		if m == nil || m.GetOpType() != "Mul" && !products[m.GetOpType()] {
			continue
		}
		turn := 0
		for _, in := range m.GetInput() {
			if l.points.motions[in].turns() {
				turn++
			}
		}
		if turn > 1 {
			return named(m)
		}
	}
	return ""
}
