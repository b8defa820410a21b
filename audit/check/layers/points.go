package layers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// points is what is known of inputs that are rows of numbers, such as points of space and members of a set: how a group
// moves what a model makes of them. It is nil for other inputs.
type points struct {
	group group.Group
	// rows of the samples, and how many the model reads of them where it reads a fixed number
	n, padded int
	permutes  bool
	// of the space that moves; 0 if none does
	dim int
	// types that ports are declared with
	declared []string
	// of the values that were told so far
	motions map[string]*motion
	// flat are the motions of what values hold that are told by the places of their numbers alone
	flat map[string]*motion
	// directions at which layers hold functions on the sphere
	spheres []*sphere
	// guessed are values that were taken for numbers that stay, because nothing is known of them, and what was made of
	// those: their types are no types.
	guessed map[string]bool

	rows    map[string]*action.Rows
	indexes *action.Rows
}

// motion says how a value moves: along some axes rows are exchanged, along others components of space are mixed.
type motion struct {
	shape []int
	rows  []int
	parts []component
}

// component is an axis along which the numbers are those of a type, such as three components of a vector.
type component struct {
	axis int
	typ  string
	// Fold numbers belong to each component: those of an axis of 3·k numbers that holds k first components, then k
	// second ones.
	fold int
	// layout takes the place of a type; nil for types that have a name
	layout *layout
	// field takes the place of a type where values are held at directions; nil for others
	field *field
	// span is how many axes, one behind the other, are those of a field; 0 for one
	span int
	// fitted takes the place of a type that is known up to a basis; nil for others
	fitted *fitted
	// flat takes the place of a type where products of two irreps lie along the axis; nil for others
	flat *flat
}

// covers tells whether an axis is one of the component's.
func (c component) covers(a int) bool { return a >= c.axis && a < c.axis+max(c.span, 1) }

// around are how many numbers lie before its axes, along them and after them.
func (c component) around(shape []int) (outer, length, inner int) {
	to := c.axis + max(c.span, 1)
	return size(shape[:c.axis]), size(shape[c.axis:to]), size(shape[to:])
}

// String is the type.
func (c component) String() string {
	switch {
	case c.layout != nil:
		return c.layout.String()
	case c.field != nil:
		return c.field.String()
	case c.fitted != nil:
		return c.fitted.String()
	case c.flat != nil:
		return c.flat.String()
	}
	return c.typ
}

// turns tells whether single numbers are components of something that turns.
func (m *motion) turns() bool { return m != nil && len(m.parts) > 0 }

// String describes it, such as "rows of vectors 6×3".
func (m *motion) String() string {
	size := make([]string, len(m.shape))
	for i, d := range m.shape {
		size[i] = strconv.Itoa(d)
	}
	what := "numbers"
	if len(m.parts) > 0 {
		var list []string
		for _, p := range m.parts {
			list = append(list, p.String())
		}
		what = strings.Join(list, " by ")
	}
	switch len(m.rows) {
	case 0:
		if len(m.parts) == 0 {
			what = "unchanged"
		}
	case 1:
		what += " of each row"
	default:
		what += " of each pair of rows"
	}
	return strings.TrimSpace(what + " " + strings.Join(size, "×"))
}

// points finds out whether the samples are rows that the group exchanges, or points of a space that it moves.
func (l *look) findPoints() *points {
	p := &points{
		group: l.group, motions: map[string]*motion{}, flat: map[string]*motion{},
		guessed: map[string]bool{}, rows: map[string]*action.Rows{},
	}
	factors := []group.Group{l.group}
	if f, ok := l.group.(group.Factored); ok {
		factors = f.Factors()
	}
	for _, f := range factors {
		_, permutes := f.(group.Permuting)
		p.permutes = p.permutes || permutes
		if s, ok := group.AsSpatial(f); ok {
			p.dim = max(p.dim, s.Dim())
		}
	}
	if !p.permutes && p.dim == 0 {
		return nil
	}
	for name, f := range space.Leaves(l.samples[0]) {
		if i := f.Kind().Info(); i != nil && (i.Planar || i.Sequence) {
			return nil
		}
		if r := space.RowsOf(f); r != nil && (r.N > 1 || name == "") && p.n == 0 {
			p.n = r.N
		}
	}
	if p.n == 0 {
		return nil
	}
	var types func(s space.Spec)
	types = func(s space.Spec) {
		if s.Type != "" && s.Type != space.TypeUnchanged && !slices.Contains(p.declared, s.Type) {
			p.declared = append(p.declared, s.Type)
		}
		for _, f := range s.Fields {
			types(f)
		}
	}
	types(l.p.Subject.InSpec)
	types(l.spec)
	var err error
	p.indexes, err = action.NewRows(l.group, space.Spec{
		Name: "rows", Shape: []int{-1, 1},
		Type: space.TypeUnchanged, Per: space.PerNode,
	}, action.Options{})
	if err != nil {
		return nil
	}
	return p
}

// mixing is the action on rows of w numbers of a type, which do not change their places; nil if the group has none.
func (p *points) mixing(typ string, w int) *action.Rows {
	key := fmt.Sprint(typ, " ", w)
	if a, ok := p.rows[key]; ok {
		return a
	}
	a, err := action.NewRows(p.group, space.Spec{
		Name: "values", Shape: []int{-1, w}, Type: typ,
		Per: space.PerSample,
	}, action.Options{})
	if err == nil {
		_, _, err = a.Matrix(p.group.Identity())
	}
	if err != nil {
		a = nil
	}
	p.rows[key] = a
	return a
}

// places is where each of n rows goes.
func (p *points) places(g group.Element, n int) ([]int, error) {
	x := space.NewRows(n, 1)
	for i := range x.Val {
		x.Val[i] = float64(i)
	}
	y, err := p.indexes.Apply(g, x)
	if err != nil {
		return nil, err
	}
	to := make([]int, n)
	for i, v := range y.Numbers() {
		to[int(v)] = i
	}
	return to, nil
}

// apply moves a value.
func (p *points) apply(m *motion, g group.Element, x []float64) ([]float64, error) {
	x = slices.Clone(x)
	for _, a := range m.rows {
		to, err := p.places(g, p.n)
		if err != nil {
			return nil, err
		}
		outer, length, inner := around(m.shape, a)
		y := slices.Clone(x)
		for o := range outer {
			for i, at := range to {
				copy(y[(o*length+at)*inner:(o*length+at+1)*inner], x[(o*length+i)*inner:(o*length+i+1)*inner])
			}
		}
		x = y
	}
	for _, c := range m.parts {
		if c.typ == "" {
			var err error
			switch {
			case c.layout != nil:
				x, err = p.laid(c.layout, m.shape, c.axis, g, x)
			case c.field != nil:
				x, err = p.spread(c, m.shape, g, x)
			case c.flat != nil:
				x, err = p.flattened(c.flat, m.shape, c.axis, g, x)
			default:
				x, err = p.by(c.fitted, m.shape, c.axis, g, x)
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		outer, length, inner := around(m.shape, c.axis)
		if c.fold > 1 {
			length, inner = length/c.fold, inner*c.fold
		}
		a := p.mixing(c.typ, length)
		if a == nil {
			return nil, fmt.Errorf("%s does not move %s", p.group.Name(), c.typ)
		}
		matrix, shift, err := a.Matrix(g)
		if err != nil {
			return nil, err
		}
		y := make([]float64, len(x))
		for o := range outer {
			for i := range length {
				to := y[(o*length+i)*inner : (o*length+i+1)*inner]
				for k := range to {
					to[k] = shift[i]
				}
				for j, v := range matrix[i*length : (i+1)*length] {
					if v == 0 {
						continue
					}
					for k, u := range x[(o*length+j)*inner : (o*length+j+1)*inner] {
						to[k] += float64(v * u)
					}
				}
			}
		}
		x = y
	}
	return x, nil
}

// around are how many numbers lie before an axis, along it and after it.
func around(shape []int, axis int) (outer, length, inner int) {
	return size(shape[:axis]), shape[axis], size(shape[axis+1:])
}

// rep is the representation of a motion.
func (l *look) rep(m *motion) *feature.Rep {
	p := l.points
	return l.frame.Given(m.shape, moving{p.group, func(g group.Element, x []float64) ([]float64, error) {
		return p.apply(m, g, x)
	}}, func(x []float64) space.Value { return &space.Tensor{Shape: m.shape, Val: x} },
		func(v space.Value) ([]float64, error) { return v.Numbers(), nil }).Called(m.String())
}

// moving is an action by a function. Nothing is resampled: all of its elements are exact.
type moving struct {
	group group.Group
	move  func(g group.Element, x []float64) ([]float64, error)
}

// Group is the group that acts.
func (m moving) Group() group.Group { return m.group }

// Exact is true.
func (moving) Exact(group.Element) bool { return true }

// Apply moves a tensor.
func (m moving) Apply(g group.Element, v space.Value) (space.Value, error) {
	y, err := m.move(g, v.Numbers())
	if err != nil {
		return nil, err
	}
	return v.With(y)
}

// mostRows is how many axes of rows a value may have to be looked at.
const mostRows = 3

// sets are the axes of a shape that may be rows, fewest first.
func (p *points) sets(shape []int) [][]int {
	sets := [][]int{nil}
	if p.permutes && p.n > 1 {
		var axes []int
		for a, d := range shape {
			if (d == p.n || d == p.padded) && len(axes) < mostRows {
				axes = append(axes, a)
			}
		}
		for _, a := range axes {
			sets = append(sets, []int{a})
		}
		for i, a := range axes {
			for _, b := range axes[i+1:] {
				sets = append(sets, []int{a, b})
			}
		}
	}
	return sets
}

// motions are those that a shape allows, simplest first: what has a name and is one thing; then, where space turns,
// irreps of any degree are looked for, see [points.explains]; last, several things in a row.
func (p *points) motionsOf(shape []int) (simple, rest []*motion) {
	sets := p.sets(shape)
	var out []*motion
	for _, s := range sets {
		out = append(out, &motion{shape: shape, rows: s})
	}
	if p.dim == 0 {
		return out, nil
	}
	// What moves as a whole before what consists of several.
	var whole, several [][]component
	for a := range slices.Backward(shape) {
		whole = append(whole, p.whole(shape, a)...)
		several = append(several, p.several(shape, a)...)
	}
	var tensors [][]component
	for i := range shape {
		for j := range i {
			if shape[i] == p.dim && shape[j] == p.dim {
				tensors = append(tensors, []component{
					{axis: j, typ: space.TypeVectors, fold: 1}, {axis: i, typ: space.TypeVectors, fold: 1},
				})
			}
		}
	}
	for i, list := range [][][]component{whole, tensors, several} {
		if i == 2 {
			simple, out = out, nil
		}
		for _, c := range list {
			if slices.ContainsFunc(c, func(c component) bool { return p.mixing(c.typ, shape[c.axis]/c.fold) == nil }) {
				continue
			}
			for _, s := range sets {
				if !slices.ContainsFunc(c, func(c component) bool { return slices.Contains(s, c.axis) }) {
					out = append(out, &motion{shape: shape, rows: s, parts: c})
				}
			}
		}
	}
	return simple, out
}

// explains is the simplest motion that explains how a value moves, known being what stands along axes of the values
// that it is made of;
// nil if none does.
func (p *points) explains(shape []int, known []held, e evidence) *motion {
	first := func(list []*motion) *motion {
		for _, m := range list {
			if e.explained(func(g group.Element, x []float64) ([]float64, error) { return p.apply(m, g, x) }) {
				return m
			}
		}
		return nil
	}
	simple, rest := p.motionsOf(shape)
	if m := first(simple); m != nil {
		return m
	}
	sets := p.sets(shape)
	if m := p.typed(shape, sets, e, false); m != nil {
		return m
	}
	if m := p.coupled(shape, sets, known, e); m != nil {
		return m
	}
	if m := p.fields(shape, sets, e); m != nil {
		return m
	}
	if m := first(rest); m != nil {
		return m
	}
	return p.products(shape, sets, known, e)
}

// whole are the types whose components an axis may hold once.
func (p *points) whole(shape []int, axis int) [][]component {
	var out [][]component
	add := func(types ...string) {
		for _, t := range types {
			out = append(out, []component{{axis: axis, typ: t, fold: 1}})
		}
	}
	d := shape[axis]
	if d == p.dim {
		add(space.TypeVectors, space.TypePseudovectors, space.TypePositions)
	}
	if p.dim != 3 {
		return out
	}
	// Spherical harmonics of one degree, and those up to one, as networks of irreps hold them.
	switch d {
	case 4:
		add("1x0e+1x1o")
	case 5:
		add("1x2e", "1x2o")
	case 7:
		add("1x3o", "1x3e")
	case 8:
		add("1x1o+1x2e")
	case 9:
		add("1x0e+1x1o+1x2e", space.TypeTensors)
	case 16:
		add("1x0e+1x1o+1x2e+1x3o")
	}
	return out
}

// mostColumns bounds the rows of irreps whose multiplicities are tried.
const mostColumns = 192

// several are the types of which an axis may hold more than one.
func (p *points) several(shape []int, axis int) [][]component {
	var out [][]component
	d := shape[axis]
	add := func(typ string, fold int) { out = append(out, []component{{axis: axis, typ: typ, fold: fold}}) }
	if k := d / p.dim; k > 1 && d%p.dim == 0 {
		add(space.TypeVectors, 1)
		add(space.TypeVectors, k)
	}
	if axis != len(shape)-1 || p.dim != 3 || d > mostColumns {
		return out
	}
	add(space.TypePseudoscalars, 1)
	for _, t := range p.declared {
		add(t, 1)
	}
	for vectors := 1; 3*vectors < d; vectors++ {
		add(fmt.Sprintf("%dx0e+%dx1o", d-3*vectors, vectors), 1)
	}
	if k := d / 9; k > 1 && d%9 == 0 {
		add(fmt.Sprintf("%dx0e+%dx1o+%dx2e", k, k, k), 1)
	}
	return out
}

// evidence is what a motion has to explain.
type evidence struct {
	pairs    []feature.Pair
	bound    float64
	constant bool
}

func evidenceOf(pairs []feature.Pair) evidence {
	mean, seen := make([]float64, len(pairs[0].X)), map[int]bool{}
	for _, p := range pairs {
		if !seen[p.Object] {
			seen[p.Object] = true
			for i, x := range p.X {
				mean[i] += x
			}
		}
	}
	for i := range mean {
		mean[i] /= float64(len(seen))
	}
	var spread, all float64
	for _, p := range pairs {
		d := distance(p.X, mean)
		spread += float64(d * d)
		all += dot(p.X, p.X)
	}
	b := float64(1e-3*math.Sqrt(spread)) + float64(1e-6*math.Sqrt(all))
	return evidence{pairs: pairs, bound: b * b, constant: !(spread > 1e-12*all)}
}

// explained tells whether something that moves values explains all pairs.
func (e evidence) explained(move func(g group.Element, x []float64) ([]float64, error)) bool {
	var wrong float64
	for _, p := range e.pairs {
		y, err := move(p.G, p.X)
		if err != nil {
			return false
		}
		d := distance(y, p.Y)
		if wrong += float64(d * d); !(wrong <= e.bound) {
			return false
		}
	}
	return true
}

// pointLaw is the representation of a value inside a model of points: the simplest motion that explains all pairs, or
// what moves with the values that it hands on. Where neither does, it is what the operator is made to keep: the kind of
// what it reads, or numbers of each row. It is nil, and the next layer is measured together with this one, for what has
// no motion of its own: products of components before they are summed up, and what is made of a value that could not
// be told.
func (l *look) pointLaw(ctx context.Context, cur *cut, v string, shape []int, pairs []feature.Pair) (rep *feature.Rep,
	constant bool,
) {
	rep, constant = l.pointMotion(ctx, cur, v, shape, pairs)
	if n, p := l.maker(v), l.points; rep != nil && n != nil && !p.motions[v].turns() {
		ins, blind := l.readBy(cur, n)
		p.guessed[v] = p.guessed[v] || slices.ContainsFunc(ins, func(i input) bool { return p.guessed[i.name] }) ||
			blind && slices.ContainsFunc(cur.live, func(name string) bool { return p.guessed[name] })
	}
	return rep, constant
}

func (l *look) pointMotion(ctx context.Context, cur *cut, v string, shape []int, pairs []feature.Pair) (
	rep *feature.Rep, constant bool,
) {
	if len(pairs) == 0 {
		return nil, false
	}
	e := evidenceOf(pairs)
	p := l.points
	n := l.maker(v)
	var known []held
	if n != nil {
		ins, _ := l.readBy(cur, n)
		for _, i := range ins {
			if i.motion != nil {
				known = append(known, i.motion.holds()...)
			}
		}
	}
	if m := p.explains(shape, known, e); m != nil {
		return l.kind(v, m, feature.ByData, "explains the values"), e.constant
	}
	if rep := l.magnified(shape, e); rep != nil {
		return rep.As(feature.ByData, "explains the values"), e.constant
	}
	if n == nil {
		return nil, e.constant
	}
	ins, blind := l.readBy(cur, n)
	if movements[n.GetOpType()] {
		if blind || len(ins) == 0 {
			return l.inAnotherBasis(v, shape, e), e.constant
		}
		var names []string
		var reps []*feature.Rep
		for _, i := range ins {
			names, reps = append(names, i.name), append(reps, i.rep)
		}
		r := l.movement(ctx, cur, names, reps, v, shape)
		if r != nil && e.explained(r.Apply) {
			if m := cmp.Or(ins[0].motion, p.flat[ins[0].name]); len(ins) == 1 && size(shape) == size(ins[0].shape) {
				p.flat[v] = m // the same numbers
			} else if m := p.refitted(shape, p.sets(shape), e); m != nil {
				p.flat[v] = m
			}
			return r.Called("moved about"), e.constant
		}
		return l.inAnotherBasis(v, shape, e), e.constant
	}
	for _, from := range l.sources(cur, ins, blind) {
		m, err := l.directions(ctx, cur, n, from, v, shape)
		if err == nil && m != nil && e.explained(func(g group.Element, x []float64) ([]float64, error) {
			return p.apply(m, g, x)
		}) {
			return l.kind(v, m, feature.ByStructure, "harmonics at directions of the sphere"), e.constant
		}
	}
	if !blind && len(ins) == 1 && halfway(n, ins[0], shape) {
		return nil, e.constant
	}
	m := l.kept(n, ins, blind, shape)
	if m != nil && !m.turns() && (blind || slices.ContainsFunc(ins, input.turns)) {
		// Of a network that holds nothing was made wrong; else what is in no basis that the others have is the fault.
		if !l.off() {
			if rep := l.inAnotherBasis(v, shape, e); rep != nil {
				return rep, e.constant
			}
		}
		if made := p.expected(ins, blind, shape, m.rows); made != nil {
			return l.kind(v, made, feature.ByDefault, "what "+n.GetOpType()+" is made for"),
				false
		}
		if made := p.unfolded(ins, shape, m.rows, e); made != nil && !blind && products[n.GetOpType()] {
			return l.kind(v, made, feature.ByDefault, "what "+n.GetOpType()+" is made for"),
				false
		}
		if m := p.typed(shape, p.sets(shape), e, true); m != nil {
			return l.kind(v, m, feature.ByDefault, "comes closest to the values; nothing explains them"), false
		}
	}
	if m == nil || !m.turns() && (blind || slices.ContainsFunc(ins, input.turns)) {
		if rep := l.inAnotherBasis(v, shape, e); rep != nil {
			return rep, e.constant
		}
	}
	if m != nil {
		p.guessed[v] = !m.turns() && (blind || slices.ContainsFunc(ins, input.turns))
		return l.kind(v, m, feature.ByDefault, "what "+n.GetOpType()+" is made to keep; nothing explains the values"),
			false
	}
	return nil, e.constant
}

// magnified is the representation of a value that every element multiplies by a number of its own, such as a squared
// distance under magnifications; nil if none explains the pairs, or if no element multiplies by anything but 1.
func (l *look) magnified(shape []int, e evidence) *feature.Rep {
	type factor struct {
		g     group.Element
		times float64
	}
	var list []factor
	at := func(g group.Element) int {
		return slices.IndexFunc(list, func(f factor) bool { return l.group.Dist(f.g, g) <= group.Tolerance })
	}
	products, squares := []float64{}, []float64{}
	for _, p := range e.pairs {
		k := at(p.G)
		if k < 0 {
			k = len(list)
			list, products, squares = append(list, factor{g: p.G}), append(products, 0), append(squares, 0)
		}
		products[k] += dot(p.X, p.Y)
		squares[k] += dot(p.X, p.X)
	}
	moves := false
	for k := range list {
		list[k].times = products[k] / squares[k]
		if !(math.Abs(list[k].times) > 0) {
			return nil
		}
		moves = moves || math.Abs(list[k].times-1) > 1e-3
	}
	move := func(g group.Element, x []float64) ([]float64, error) {
		times := 1.0
		if k := at(g); k >= 0 {
			times = list[k].times
		} else if k := at(l.group.Inv(g)); k >= 0 {
			times = 1 / list[k].times
		} else if l.group.Dist(g, l.group.Identity()) > group.Tolerance {
			return nil, feature.ErrElement
		}
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = times * v
		}
		return y, nil
	}
	if !moves || e.constant || !e.explained(move) {
		return nil
	}
	return l.frame.Given(shape, moving{l.group, move},
		func(x []float64) space.Value { return &space.Tensor{Shape: shape, Val: x} },
		func(v space.Value) ([]float64, error) { return v.Numbers(), nil }).Called("magnified numbers")
}

// pointInput is the representation on the array k that the model reads of rows: the motion that explains it; nil if
// none does.
func (l *look) pointInput(c *cut, k int) *feature.Rep {
	p := l.points
	if p == nil {
		return nil
	}
	shape := c.x[0][k].Shape
	p.padded = max(p.padded, p.n)
	if len(shape) > 0 {
		p.padded = max(p.padded, shape[0])
	}
	pairs := l.pairs(c, k, c.rx)
	if len(pairs) == 0 {
		return nil
	}
	e := evidenceOf(pairs)
	e.bound *= 1e-6 // the action on the input is no layer: nothing is broken a little
	if m := p.explains(shape, nil, e); m != nil {
		p.motions[c.live[k]] = m
		return l.rep(m).As(feature.ByUser, "the action on the input")
	}
	return nil
}

// input is a value that a node reads.
type input struct {
	name  string
	rep   *feature.Rep
	shape []int
	// nil if it is not known
	motion *motion
}

func (i input) turns() bool { return i.motion.turns() || i.motion == nil && i.rep.Moves() }

// readBy are the values that a node reads and that depend on the sample; blind tells that there are more, of which
// nothing is known.
func (l *look) readBy(cur *cut, n *onnxpb.NodeProto) (ins []input, blind bool) {
	for _, name := range n.GetInput() {
		if name == "" {
			continue
		}
		j := slices.Index(cur.live, name)
		switch {
		case j >= 0 && cur.reps[j] != nil:
			if !slices.ContainsFunc(ins, func(i input) bool { return i.name == name }) {
				ins = append(ins, input{name, cur.reps[j], cur.x[0][j].Shape, l.points.motions[name]})
			}
		case j < 0 && l.varies[name]:
			blind = true
		}
	}
	return ins, blind
}

// bridge tells products of components, which move in no way of their own: the sum over the components does.
func (l *look) bridge(cur *cut, n *onnxpb.NodeProto) bool {
	if l.points == nil {
		return false
	}
	turned := func(name string) bool {
		j := slices.Index(cur.live, name)
		if j < 0 {
			return l.varies[name] // of one that is not known nothing is held against the product
		}
		return cur.reps[j] != nil &&
			input{name, cur.reps[j], nil, l.points.motions[name]}.turns()
	}
	in := n.GetInput()
	switch n.GetOpType() {
	case "Mul":
		return len(in) == 2 && turned(in[0]) && turned(in[1])
	case "Pow":
		if len(in) != 2 || !turned(in[0]) {
			return false
		}
		x := l.stored(in[1])
		return len(x) > 0 && !slices.ContainsFunc(x, func(v float64) bool { return v != 2 })
	}
	return false
}

// stored are the numbers that the file holds under a name; nil if it holds none.
func (l *look) stored(name string) []float64 {
	g := l.m.ONNX().Proto().GetGraph()
	var t *onnxpb.TensorProto
	if i := slices.IndexFunc(g.GetInitializer(),
		func(t *onnxpb.TensorProto) bool { return t.GetName() == name }); i >= 0 {
		t = g.GetInitializer()[i]
	} else if n := l.maker(name); n != nil && n.GetOpType() == "Constant" {
		t = onnx.Attr(n, "value").GetT()
	}
	if t == nil {
		return nil
	}
	v, err := onnx.Value(t)
	if err != nil {
		return nil
	}
	x, err := v.Float64s(nil)
	if err != nil {
		return nil
	}
	return x
}

// kept is the motion that an operator is made to keep; nil if it is not known.
func (l *look) kept(n *onnxpb.NodeProto, ins []input, blind bool, shape []int) *motion {
	op := n.GetOpType()
	out := &motion{shape: shape}
	if pointwise[op] {
		if blind || len(ins) == 0 {
			return nil
		}
		turned := 0
		for _, i := range ins {
			if i.motion == nil {
				return nil
			}
			if i.motion.turns() {
				turned++
			}
			if !out.join(i.motion) {
				return nil
			}
		}
		if turned > 1 && op == "Mul" || turned == 1 && op == "Mul" && len(ins) == 1 && !l.constants(n) {
			return nil
		}
		if op == "Pow" && turned > 0 {
			return nil
		}
		return out
	}
	p := l.points
	if p.permutes {
		most := 1
		for _, i := range ins {
			if i.motion != nil {
				most = max(most, len(i.motion.rows))
			}
		}
		for a, d := range shape {
			if d != p.n && d != p.padded || a != len(out.rows) || len(out.rows) == most {
				break
			}
			out.rows = append(out.rows, a)
		}
	}
	for _, i := range ins {
		if i.motion == nil {
			continue
		}
		for _, c := range i.motion.parts {
			at := c.axis - len(i.shape) + len(shape)
			if at >= 0 && c.span < 2 && shape[at] == i.shape[c.axis] && !slices.Contains(out.rows, at) &&
				!slices.ContainsFunc(out.parts, func(o component) bool { return o.axis == at }) {
				c.axis = at
				out.parts = append(out.parts, c)
			}
		}
	}
	return out
}

// join takes over how a value moves that is broadcast to the shape; false if both do not fit.
func (m *motion) join(o *motion) bool {
	by := len(m.shape) - len(o.shape)
	if by < 0 {
		return false
	}
	for _, a := range o.rows {
		at := a + by
		if m.shape[at] != o.shape[a] || slices.ContainsFunc(m.parts, func(c component) bool { return c.covers(at) }) {
			return false
		}
		if !slices.Contains(m.rows, at) {
			m.rows = append(m.rows, at)
		}
	}
	for _, c := range o.parts {
		at := c.axis + by
		for k := range max(c.span, 1) {
			if m.shape[at+k] != o.shape[c.axis+k] || slices.Contains(m.rows, at+k) {
				return false
			}
		}
		if k := slices.IndexFunc(m.parts, func(p component) bool { return p.axis == at }); k >= 0 {
			continue
		}
		c.axis = at
		m.parts = append(m.parts, c)
	}
	slices.Sort(m.rows)
	return true
}
