package units

import (
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Kind is what may be done to the numbers of units.
type Kind int

// Kinds of moves.
const (
	// Positive is a scale above 0 for each unit, as ReLU hands on.
	Positive Kind = iota
	// Sign is a sign for each unit, as tanh hands on.
	Sign
	// Rotation is an orthogonal matrix, as norms hand on.
	Rotation
	// Matrix is any invertible matrix, where all is linear.
	Matrix

	kinds
)

// String is the name of the kind.
func (k Kind) String() string { return []string{"rescaling", "signs", "rotation", "matrix"}[k] }

// Move is what may be done to the units of a class: what values are multiplied by, unit by unit or as vectors, and what
// that does to stored tensors.
type Move struct {
	Kind  Kind
	Class *Class
	// At is the first value whose numbers it changes.
	At string
	// On are the stored tensors that go along, with the power of the scale (1 or -1, or 0 where what is multiplied is
	// divided again); of a matrix -1 stands for its inverse, transposed.
	On []Power
}

// Power is what a move does to a stored tensor.
type Power struct {
	Tensor string
	Exp    int
	// Axis is the one along which it does so, where the class is on several axes of the tensor; -1 where it is on one.
	Axis int
}

// slot is a unit's factor in a value: a variable.
type slot struct {
	value string
	leaf  *Atom
}

// term is a variable with its power.
type term struct {
	at  int
	exp int
}

// factor is how a stored tensor is multiplied along a class, as one node needs it: on one axis, where the class is on
// several.
type factor struct {
	spread
	terms [kinds][]term
}

// spread is where a factor goes.
type spread struct {
	tensor string
	leaf   *Atom
	axis   int
}

// union is what variables of one kind are tied to.
type union struct {
	to     []int
	sign   []int
	pinned []bool
}

// find is the variable that stands for another, and the power in which it does.
func (u *union) find(i int) (root, sign int) {
	if u.to[i] == i {
		return i, 1
	}
	r, s := u.find(u.to[i])
	s *= u.sign[i]
	u.to[i], u.sign[i] = r, s
	return r, s
}

// tie says that variable i is the power exp, 1 or -1, of variable j.
func (u *union) tie(i, j, exp int) {
	a, s := u.find(i)
	b, t := u.find(j)
	if a == b {
		if s != t*exp {
			u.pinned[a] = true
		}
		return
	}
	if b > a { // the earlier one stands for both
		a, b, s, t = b, a, t, s
	}
	u.to[a], u.sign[a] = b, s*t*exp
	u.pinned[b] = u.pinned[b] || u.pinned[a]
}

func (u *union) pin(i int) {
	r, _ := u.find(i)
	u.pinned[r] = true
}

func (u *union) free(i int) bool {
	r, _ := u.find(i)
	return !u.pinned[r]
}

// ties follows the factors of units through the graph.
type ties struct {
	g     *Graph
	slots map[slot]int
	list  []slot
	of    [kinds]union
	// what stored tensors are, for values that are a stored tensor in another shape
	views   map[string]string
	stored  map[string]bool
	factors []factor
	// products of two values that both depend on the input: what is known of one decides
	later []product
	// nodes that read each value
	readers map[string][]*onnxpb.NodeProto
}

// product says that out is a times b to the power exp.
type product struct{ a, b, out, exp int }

func newTies(g *Graph) *ties {
	t := &ties{
		g: g, slots: map[slot]int{}, views: map[string]string{}, stored: map[string]bool{},
		readers: map[string][]*onnxpb.NodeProto{},
	}
	for _, s := range g.stored {
		t.stored[s], t.views[s] = true, s
	}
	for _, n := range g.nodes() {
		for _, in := range n.GetInput() {
			t.readers[in] = append(t.readers[in], n)
		}
	}
	return t
}

// all are the kinds.
func all() []Kind { return []Kind{Positive, Sign, Rotation, Matrix} }

// at is the variable of a class in a value. One that is on several axes of the value stays.
func (t *ties) at(value string, l *Atom) int {
	k := slot{value, l}
	if i, ok := t.slots[k]; ok {
		return i
	}
	i := len(t.list)
	t.slots[k] = i
	t.list = append(t.list, k)
	stays := t.twice(value, l)
	for _, kind := range all() {
		u := &t.of[kind]
		u.to, u.sign, u.pinned = append(u.to, i), append(u.sign, 1), append(u.pinned, stays)
	}
	return i
}

// leaves are the classes of a value, each once.
func (t *ties) leaves(value string) []*Atom {
	var out []*Atom
	for _, a := range t.g.values[value] {
		for _, l := range a.leaves() {
			if t.g.class[l] != nil && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	return out
}

func (t *ties) has(value string, l *Atom) bool { return slices.Contains(t.leaves(value), l) }

// pin keeps a class of a value as it is; a stored tensor is then not multiplied.
func (t *ties) pin(value string, l *Atom, ks ...Kind) {
	if s, ok := t.views[value]; ok {
		t.give(s, l, [kinds][]term{})
		return
	}
	i := t.at(value, l)
	for _, k := range ks {
		t.of[k].pin(i)
	}
}

// give says how a node needs a stored tensor to be multiplied.
func (t *ties) give(tensor string, l *Atom, terms [kinds][]term) {
	if t.twice(tensor, l) { // one number for a unit does not say what becomes of both axes
		for k, list := range terms {
			for _, x := range list {
				t.of[k].pin(x.at)
			}
		}
		return
	}
	t.factors = append(t.factors, factor{spread{tensor, l, -1}, terms})
}

// giveTwice does so for a tensor that has a class on the axis that makes what comes out and on that which reads what
// goes in, as a layer that follows itself: each has a factor of its own. Only scales and signs can be told apart there.
func (t *ties) giveTwice(tensor string, l *Atom, to, from int, out, in int) {
	var outs, ins [kinds][]term
	for _, k := range []Kind{Positive, Sign} {
		outs[k], ins[k] = []term{{out, 1}}, []term{{in, -1}}
	}
	for _, k := range []Kind{Rotation, Matrix} {
		t.of[k].pin(out)
		t.of[k].pin(in)
	}
	t.factors = append(t.factors, factor{spread{tensor, l, to}, outs}, factor{spread{tensor, l, from}, ins})
}

// sides are the axes of the weights of a layer: that which makes what comes out, and that which reads what goes in;
// false where the class is not once on each, or the weights are a tensor in another shape.
func (t *ties) sides(n *onnxpb.NodeProto, w string, l *Atom) (to, from int, ok bool) {
	axes := t.g.values[w]
	if len(axes) < 2 || t.views[w] != w {
		return 0, 0, false
	}
	to, from = len(axes)-1, len(axes)-2
	switch n.GetOpType() {
	case "Conv":
		to, from = 0, 1
	case "ConvTranspose":
		to, from = 1, 0
	case "Gemm":
		if onnx.Int(n, "transB", 0) != 0 {
			to, from = from, to
		}
	case "MatMul":
		if n.GetInput()[0] == w {
			to, from = from, to
		}
	}
	for i, a := range axes {
		times := 0
		for _, x := range a.leaves() {
			if x == l {
				times++
			}
		}
		if times > 1 || (times == 1) != (i == to || i == from) {
			return 0, 0, false
		}
	}
	return to, from, n.GetInput()[0] == w && n.GetOpType() == "MatMul" || n.GetInput()[1] == w
}

// twice tells whether a class is in a value several times.
func (t *ties) twice(value string, l *Atom) bool {
	times := 0
	for _, a := range t.g.values[value] {
		for _, x := range a.leaves() {
			if x == l {
				times++
			}
		}
	}
	return times > 1
}

// times are the same terms for all kinds.
func times(terms ...term) (out [kinds][]term) {
	for k := range out {
		out[k] = terms
	}
	return out
}

// same ties a class in two values, of which one may be stored: in the first it is the power exp of that in the second.
// For other kinds both stay.
func (t *ties) same(a, b string, l *Atom, exp int, ks ...Kind) {
	x, xs := t.views[a]
	y, ys := t.views[b]
	if xs && ys {
		t.give(x, l, [kinds][]term{})
		t.give(y, l, [kinds][]term{})
		return
	}
	if ys {
		a, b, x, xs = b, a, y, true
	}
	j := t.at(b, l)
	var terms [kinds][]term
	for _, k := range all() {
		u := &t.of[k]
		switch {
		case !slices.Contains(ks, k):
			u.pin(j)
			if !xs {
				u.pin(t.at(a, l))
			}
		case xs:
			terms[k] = []term{{j, exp}}
		default:
			u.tie(t.at(a, l), j, k.power(exp))
		}
	}
	if xs {
		t.give(x, l, terms)
	}
}

// power is the power of a variable of the kind: signs and rotations are their own inverses, as far as it matters here.
func (k Kind) power(exp int) int {
	if k == Sign || k == Rotation {
		return 1
	}
	return exp
}

// stay keeps all that a node reads and makes as it is.
func (t *ties) stay(n *onnxpb.NodeProto) {
	for _, v := range slices.Concat(n.GetInput(), n.GetOutput(), onnx.Captured(n)) {
		for _, l := range t.leaves(v) {
			t.pin(v, l, all()...)
		}
	}
}

// walk visits the nodes.
func (t *ties) walk() {
	views := []string{"Identity", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}
	for _, n := range t.g.nodes() {
		op := n.GetOpType()
		depends := slices.ContainsFunc(slices.Concat(n.GetInput(), onnx.Captured(n)), t.g.facts.Depends)
		switch {
		case op == "Constant" || op == "Shape" || op == "Size":
		case !enough(n):
			t.stay(n)
		case !depends && slices.Contains(views, op) && t.views[n.GetInput()[0]] != "":
			t.views[n.GetOutput()[0]] = t.views[n.GetInput()[0]]
		case !depends:
			t.stay(n)
		default:
			t.step(n)
		}
	}
	for _, v := range t.g.facts.Model().Signature().Outputs {
		for _, l := range t.leaves(v.Name) {
			t.pin(v.Name, l, all()...)
		}
	}
	for _, v := range t.g.facts.Model().Signature().Inputs {
		for _, l := range t.leaves(v.Name) {
			t.pin(v.Name, l, all()...)
		}
	}
	t.products()
	t.agree()
}

// products decides products of two values: the one that is known to stay lets the other go on; if both could move, the
// second stays.
func (t *ties) products() {
	for _, k := range []Kind{Positive, Sign} {
		u := &t.of[k]
		open := slices.Clone(t.later)
		for len(open) > 0 {
			i := slices.IndexFunc(open, func(p product) bool { return !u.free(p.a) || !u.free(p.b) })
			if i < 0 {
				i = 0
				u.pin(open[0].b)
			}
			p := open[i]
			open = slices.Delete(open, i, i+1)
			if !u.free(p.b) {
				u.tie(p.out, p.a, 1)
			} else {
				u.tie(p.out, p.b, k.power(p.exp))
			}
		}
	}
}

// net are the terms in their lowest form: by variable, without those that cancel.
func (t *ties) net(k Kind, terms []term) []term {
	var out []term
	for _, x := range terms {
		r, s := t.of[k].find(x.at)
		if t.of[k].pinned[r] {
			continue
		}
		e := k.power(x.exp * s)
		if i := slices.IndexFunc(out, func(o term) bool { return o.at == r }); i >= 0 {
			if out[i].exp += e; k == Sign {
				out[i].exp %= 2
			}
			continue
		}
		out = append(out, term{r, e})
	}
	out = slices.DeleteFunc(out, func(o term) bool { return o.exp == 0 })
	slices.SortFunc(out, func(a, b term) int { return a.at - b.at })
	return out
}

// agree ties variables of which two nodes need one tensor to be multiplied in two ways, as where a layer is used twice,
// so that both need it in one, and keeps those of which that is not known. What a matrix does takes one variable, once.
func (t *ties) agree() {
	for changed := true; changed; {
		changed = false
		for _, k := range all() {
			first := map[spread][]term{}
			for _, f := range t.factors {
				terms := t.net(k, f.terms[k])
				single := k != Matrix && k != Rotation || len(terms) <= 1 &&
					!slices.ContainsFunc(terms, func(x term) bool { return x.exp != 1 && x.exp != -1 })
				if !single {
					for _, x := range terms {
						t.of[k].pin(x.at)
					}
					changed, terms = true, nil
				}
				was, seen := first[f.spread]
				if seen && !slices.Equal(was, terms) {
					t.meet(k, was, terms)
					changed, terms = true, t.net(k, terms)
				}
				first[f.spread] = terms
			}
		}
	}
}

// meet ties one variable of two products that have to be equal to another one, so that they are closer to that: of
// either product those that stand there in the same way, or else two of one that then cancel. Where there are none,
// all that differ stay.
func (t *ties) meet(k Kind, a, b []term) {
	inverse := func(of []term) []term {
		out := slices.Clone(of)
		for i := range out {
			out[i].exp = -out[i].exp
		}
		return out
	}
	rest := t.net(k, slices.Concat(a, inverse(b)))
	in := func(list []term, x term) bool {
		return slices.ContainsFunc(list, func(o term) bool { return o.at == x.at })
	}
	for _, across := range []bool{true, false} {
		for i, x := range rest {
			for _, y := range rest[i+1:] {
				one := x.exp*y.exp == 1 || x.exp*y.exp == -1
				same := x.exp != y.exp || k.power(-1) == 1 // and not one the inverse of the other
				if one && same && (in(a, x) != in(a, y)) == across {
					t.of[k].tie(x.at, y.at, k.power(1))
					return
				}
			}
		}
	}
	if len(rest) == 2 && rest[0].exp*rest[1].exp == 1 { // one is the other's inverse
		t.of[k].tie(rest[0].at, rest[1].at, k.power(-1))
		return
	}
	for _, x := range rest {
		t.of[k].pin(x.at)
	}
}

// moves are what is left free.
func (t *ties) moves() []*Move {
	type key struct {
		kind Kind
		root int
	}
	at := map[key]*Move{}
	var out []*Move
	for _, k := range all() {
		for i, s := range t.list {
			r, _ := t.of[k].find(i)
			c := t.g.class[s.leaf]
			if t.of[k].pinned[r] || c == nil || r != i {
				continue
			}
			m := &Move{Kind: k, Class: c, At: s.value}
			at[key{k, r}] = m
			out = append(out, m)
		}
		seen := map[spread]bool{}
		for _, f := range t.factors {
			if seen[f.spread] {
				continue
			}
			seen[f.spread] = true
			for _, x := range t.net(k, f.terms[k]) {
				m := at[key{k, x.at}]
				m.On = append(m.On, Power{f.tensor, x.exp, f.axis})
			}
		}
	}
	out = slices.DeleteFunc(out, func(m *Move) bool { return len(m.On) == 0 })
	return t.largest(out)
}

// largest leaves out what a larger kind of move at the same place holds, and the scales of blocks whose units have
// scales of their own.
func (t *ties) largest(in []*Move) []*Move {
	covers := func(m, by *Move) bool {
		if by.Class != m.Class || by == m {
			return false
		}
		switch {
		case by.Kind == Matrix && m.Kind != Matrix, by.Kind == Rotation && m.Kind == Sign:
			return slices.EqualFunc(m.On, by.On, func(a, b Power) bool { return a.Tensor == b.Tensor })
		}
		return false
	}
	outer := func(m *Move) bool {
		return slices.ContainsFunc(in, func(o *Move) bool {
			return (o.Kind == m.Kind || o.Kind == Matrix) && slices.Contains(o.Class.Within, m.Class) &&
				slices.EqualFunc(m.On, o.On, func(a, b Power) bool { return a.Tensor == b.Tensor })
		})
	}
	var out []*Move
	for _, m := range in {
		if !slices.ContainsFunc(in, func(o *Move) bool { return covers(m, o) }) && !outer(m) {
			out = append(out, m)
		}
	}
	return out
}

// Exactly is the power of the move in a stored tensor; 0 for none.
func (m *Move) Exactly(tensor string) int {
	for _, p := range m.On {
		if p.Tensor == tensor {
			return p.Exp
		}
	}
	return 0
}
