package layers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"nero/model/interior"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/feature"
	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// sphere is a list of directions at which functions on the sphere are held: a product of irreps may be taken there,
// place by place. It is known by a layer that makes values of harmonics of them.
type sphere struct {
	at [][3]float64
}

// field is a function on the sphere of degree 0 to Top, held at the directions of a sphere. It is turned by way of its
// harmonics, which the directions must tell apart.
type field struct {
	on  *sphere
	top int
	// odd tells that inversions change its sign beside its place
	odd    bool
	parity bool
	// values of the harmonics at the directions, in rows, and the Cholesky factor of what they make with each other
	y, factor []float64
	// degrees that occur; nil for all
	has []bool
}

// newField prepares a field; nil if the directions do not tell the harmonics apart.
func newField(s *sphere, top int, odd, parity bool) *field {
	n, d := len(s.at), (top+1)*(top+1)
	if d > n || top > irreps.MaxL {
		return nil
	}
	f := &field{on: s, top: top, odd: odd, parity: parity, y: make([]float64, n*d)}
	for i, p := range s.at {
		irreps.Harmonics(f.y[i*d:(i+1)*d], top, irreps.PolarY, p[0], p[1], p[2])
	}
	a := make([]float64, d*d)
	for i := range n {
		row := f.y[i*d : (i+1)*d]
		for j, u := range row {
			for k := range j + 1 {
				a[j*d+k] += float64(u * row[k])
			}
		}
	}
	const least = 1e-6 // of a pivot, over the number of directions
	for j := range d {
		for k := range j + 1 {
			v := a[j*d+k]
			for i := range k {
				v -= float64(a[j*d+i] * a[k*d+i])
			}
			switch {
			case j != k:
				a[j*d+k] = v / a[k*d+k]
			case !(v > least*float64(n)):
				return nil
			default:
				a[j*d+j] = math.Sqrt(v)
			}
		}
	}
	f.factor = a
	return f
}

// String is what a field is.
func (f *field) String() string {
	return fmt.Sprintf("%s at %d directions", spell(f.terms(), f.parity), len(f.on.at))
}

// terms are the irreps that occur.
func (f *field) terms() irreps.Irreps {
	var ir irreps.Irreps
	for l := range f.top + 1 {
		if f.has == nil || f.has[l] {
			ir = append(ir, irreps.Term{Mul: 1, L: l, Odd: l%2 == 1 != f.odd})
		}
	}
	return ir
}

// harmonics are the coefficients that come closest to the values x[from], x[from+step], ...
func (f *field) harmonics(x []float64, from, step int) []float64 {
	n, d := len(f.on.at), (f.top+1)*(f.top+1)
	c := make([]float64, d)
	for i := range n {
		v := x[from+i*step]
		for j, u := range f.y[i*d : (i+1)*d] {
			c[j] += float64(u * v)
		}
	}
	for j := range d {
		for k := range j {
			c[j] -= float64(f.factor[j*d+k] * c[k])
		}
		c[j] /= f.factor[j*d+j]
	}
	for j := d - 1; j >= 0; j-- {
		for k := j + 1; k < d; k++ {
			c[j] -= float64(f.factor[k*d+j] * c[k])
		}
		c[j] /= f.factor[j*d+j]
	}
	return c
}

// spread moves the fields of a component.
func (p *points) spread(c component, shape []int, g group.Element, x []float64) ([]float64, error) {
	f := c.field
	t, ok := p.wigner(g, f.top, irreps.PolarY)
	if !ok {
		return nil, fmt.Errorf("%s does not move functions on the sphere", p.group.Name())
	}
	outer, length, inner := c.around(shape)
	if length != len(f.on.at) {
		return nil, fmt.Errorf("%d values for %d directions", length, len(f.on.at))
	}
	out := make([]float64, len(x))
	d := (f.top + 1) * (f.top + 1)
	moved := make([]float64, d)
	for o := range outer {
		for i := range inner {
			from := o*length*inner + i
			c := f.harmonics(x, from, inner)
			for l := range f.top + 1 {
				n, sign, w := 2*l+1, 1.0, t.w.Block(t.d, l)
				if t.improper && (l%2 == 1) != f.odd {
					sign = -1
				}
				for m := range n {
					var v float64
					for k, u := range w[m*n : (m+1)*n] {
						v += float64(u * c[l*l+k])
					}
					moved[l*l+m] = sign * v
				}
			}
			for k := range length {
				var v float64
				for j, u := range f.y[k*d : (k+1)*d] {
					v += float64(u * moved[j])
				}
				out[from+k*inner] = v
			}
		}
	}
	return out, nil
}

// fields finds the degree up to which a value is a function on a sphere that is known, the lowest that explains how it
// moves.
func (p *points) fields(shape []int, sets [][]int, e evidence) *motion {
	if p.dim != 3 || e.constant || !p.turns(e) {
		return nil
	}
	mirrors := p.mirrors(e)
	for _, s := range p.spheres {
		for a := range shape {
			for span := 1; span <= 2 && a+span <= len(shape); span++ {
				c := component{axis: a, fold: 1, span: span}
				if size(shape[a:a+span]) != len(s.at) {
					continue
				}
				if m := p.fieldOn(s, c, shape, sets, mirrors, e); m != nil {
					return m
				}
			}
		}
	}
	return nil
}

// fieldOn is the field of the lowest degree on a sphere that explains a value, along the axes of a component.
func (p *points) fieldOn(s *sphere, c component, shape []int, sets [][]int, mirrors bool, e evidence) *motion {
	for top := 0; top <= irreps.MaxL && (top+1)*(top+1) <= len(s.at); top++ {
		for _, odd := range []bool{false, true} {
			if odd && !mirrors {
				continue
			}
			f := newField(s, top, odd, mirrors)
			if f == nil {
				continue
			}
			c.field = f
			for _, rows := range sets {
				m := &motion{shape: shape, rows: rows, parts: []component{c}}
				if !slices.ContainsFunc(rows, c.covers) && e.explained(func(g group.Element, x []float64) ([]float64,
					error,
				) {
					return p.apply(m, g, x)
				}) {
					f.occurs(c, shape, e)
					return m
				}
			}
		}
	}
	return nil
}

// occurs leaves degrees out that occur nowhere.
func (f *field) occurs(c component, shape []int, e evidence) {
	outer, length, inner := c.around(shape)
	size := make([]float64, f.top+1)
	var all float64
	for _, q := range e.pairs {
		for o := range outer {
			for i := range inner {
				c := f.harmonics(q.X, o*length*inner+i, inner)
				for l := range size {
					v := dot(c[l*l:(l+1)*(l+1)], c[l*l:(l+1)*(l+1)])
					size[l], all = size[l]+v, all+v
				}
			}
		}
	}
	f.has = make([]bool, f.top+1)
	for l, v := range size {
		f.has[l] = v > explained*explained*explained*explained*all
	}
}

// sources are the values that a layer may make harmonics of: what it reads, or, where that is made of what is not
// known, what is.
func (l *look) sources(cur *cut, ins []input, blind bool) []input {
	if !blind && len(ins) != 1 {
		return nil
	}
	if blind {
		ins = nil
		for k, v := range cur.live {
			if cur.reps[k] != nil {
				ins = append(ins, input{v, cur.reps[k], cur.x[0][k].Shape, l.points.motions[v]})
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(ins), func(i input) bool {
		return i.motion == nil ||
			len(i.motion.parts) != 1
	})
}

// halfway tells that a layer may go half of the way to a grid on the sphere, or back from it, one angle at a time: it
// makes one axis more of a row of several degrees, or mixes one of the two axes of a grid. Between them nothing moves
// in a way of its own, as products of components do not.
func halfway(n *onnxpb.NodeProto, in input, shape []int) bool {
	if n.GetOpType() != "Einsum" || in.motion == nil || len(in.motion.parts) != 1 {
		return false
	}
	c := in.motion.parts[0]
	if c.field != nil {
		return c.span == 2 && len(shape) == len(in.shape)
	}
	y := c.laid(in.shape)
	return y != nil && len(y.blocks) > 1 && len(shape) == len(in.shape)+1
}

// directions recognises a layer that makes values at directions of harmonics: what it does to each component alone are,
// for each degree and up to one factor, the harmonics at one list of directions, told by those of degree 1. The layer
// is asked, so that it does not matter by which operators and stored numbers it does that. The answer is a motion of
// the value; nil if the layer is of another kind.
func (l *look) directions(ctx context.Context, cur *cut, n *onnxpb.NodeProto, from input, v string, shape []int) (
	*motion, error,
) {
	p := l.points
	if !products[n.GetOpType()] {
		return nil, nil //nolint:nilnil // it is of another kind
	}
	in := from.motion
	part := in.parts[0]
	y := part.laid(in.shape)
	to := component{axis: part.axis, fold: 1, span: len(shape) - len(in.shape) + 1}
	if y == nil || y.basis != irreps.PolarY || to.span < 1 || to.span > 2 ||
		!slices.Equal(shape[:to.axis], in.shape[:to.axis]) ||
		!slices.Equal(shape[to.axis+to.span:], in.shape[to.axis+1:]) {
		return nil, nil //nolint:nilnil // as above
	}
	impulses, err := l.impulses(ctx, cur, from.name, part.axis, to, v)
	if err != nil || impulses == nil {
		return nil, err
	}
	s, top := recognised(y, impulses)
	if s == nil {
		return nil, nil //nolint:nilnil // as above
	}
	if k := slices.IndexFunc(p.spheres, func(o *sphere) bool { return o.same(s) }); k >= 0 {
		s = p.spheres[k]
	} else {
		p.spheres = append(p.spheres, s)
	}
	odd := false // of all degrees alike, or it is no function on the sphere
	for i, b := range y.blocks {
		o := b.term.Odd != (b.term.L%2 == 1)
		if i > 0 && o != odd {
			return nil, nil //nolint:nilnil // as above
		}
		odd = o
	}
	f := newField(s, top, odd, y.parity)
	if f == nil {
		return nil, nil //nolint:nilnil // as above
	}
	f.has = make([]bool, top+1)
	for _, b := range y.blocks {
		f.has[b.term.L] = true
	}
	to.field = f
	return &motion{shape: shape, rows: in.rows, parts: []component{to}}, nil
}

// impulses are what a value becomes, along the axes of a component, where one number of a value that it is made of is 1
// and all others are 0, less what it becomes of zeros; nil if it is not linear.
func (l *look) impulses(ctx context.Context, cur *cut, name string, axis int, to component, v string) ([][]float64,
	error,
) {
	k := slices.Index(cur.live, name)
	if k < 0 {
		return nil, nil
	}
	shape := cur.x[0][k].Shape
	_, length, inner := around(shape, axis)
	put := func(set func(x []float64)) []interior.Array {
		row := slices.Clone(cur.x[0])
		row[k] = interior.Array{Shape: shape, Val: make([]float64, size(shape))}
		set(row[k].Val)
		return row
	}
	rows := [][]interior.Array{put(func([]float64) {}), put(func(x []float64) {
		for i := range length {
			x[i*inner] = float64(1 + i*i%7) // anything that is no impulse
		}
	})}
	for i := range length {
		rows = append(rows, put(func(x []float64) { x[i*inner] = 1 }))
	}
	got, err := l.through(ctx, cur.live, []string{v}, rows)
	if err != nil {
		return nil, err
	}
	_, made, step := to.around(got[0][0].Shape)
	var out [][]float64
	sum := make([]float64, made)
	for i := range length {
		line := make([]float64, made)
		for j := range made {
			line[j] = got[i+2][0].Val[j*step] - got[0][0].Val[j*step]
			sum[j] += float64(float64(1+i*i%7) * line[j])
		}
		out = append(out, line)
	}
	var off, all float64
	for j, u := range sum {
		d := got[1][0].Val[j*step] - got[0][0].Val[j*step] - u
		off, all = off+float64(d*d), all+float64(u*u)
	}
	if !(off <= 1e-8*all) || !(all > 0) {
		return nil, nil
	}
	return out, nil
}

// recognised are the directions at which a layer holds harmonics, and the highest degree of them; nil if it does
// something else.
func recognised(y *layout, impulses [][]float64) (s *sphere, top int) {
	const tol = 1e-4 // of weights in float32
	at := map[int]int{}
	for _, b := range y.blocks {
		if _, twice := at[b.term.L]; twice || b.term.Mul != 1 || b.silent || b.step != 1 {
			return nil, 0
		}
		at[b.term.L], top = b.at, max(top, b.term.L)
	}
	one, ok := at[1]
	if !ok {
		return nil, 0
	}
	n := len(impulses[0])
	if n <= 3 {
		return nil, 0
	}
	for _, sign := range []float64{1, -1} {
		s = &sphere{at: make([][3]float64, n)}
		for k := range s.at {
			d := [3]float64{sign * impulses[one][k], sign * impulses[one+1][k], sign * impulses[one+2][k]}
			r := math.Sqrt(float64(d[0]*d[0]) + float64(d[1]*d[1]) + float64(d[2]*d[2]))
			if !(r > 0) {
				return nil, 0
			}
			s.at[k] = [3]float64{d[0] / r, d[1] / r, d[2] / r}
		}
		if slices.ContainsFunc(y.blocks, func(b block) bool { return !s.holds(b, impulses, tol) }) {
			continue
		}
		return s, top
	}
	return nil, 0
}

// holds tells that impulses of a block are a number times its harmonics at the directions.
func (s *sphere) holds(b block, impulses [][]float64, tol float64) bool {
	l := b.term.L
	var xy, yy, xx float64
	h := make([]float64, (l+1)*(l+1))
	for k, p := range s.at {
		irreps.Harmonics(h, l, irreps.PolarY, p[0], p[1], p[2])
		for m, y := range h[l*l:] {
			x := impulses[b.at+m][k]
			xy, yy, xx = xy+float64(x*y), yy+float64(y*y), xx+float64(x*x)
		}
	}
	// What is left of x beside its part along y.
	return xx-float64(xy*xy)/yy <= tol*tol*xx && xx > 0
}

// same tells that two lists of directions are equal up to rounding of weights.
func (s *sphere) same(o *sphere) bool {
	if len(s.at) != len(o.at) {
		return false
	}
	for k, p := range s.at {
		for i, v := range p {
			if !(math.Abs(v-o.at[k][i]) <= 1e-4) {
				return false
			}
		}
	}
	return true
}

// expected is the motion that a layer is made for by what it reads: of a product of irreps along two axes one of its
// degrees, the only one that has as many numbers; of a product on a sphere its harmonics from degree 0 on. It is nil
// where neither is the case.
func (p *points) expected(ins []input, blind bool, shape, rows []int) *motion {
	axis := len(shape) - 1
	if axis < 0 || slices.Contains(rows, axis) {
		return nil
	}
	made := func(ir irreps.Irreps, parity bool) *motion {
		return &motion{shape: shape, rows: rows, parts: []component{{
			axis: axis, fold: 1, layout: layoutOf(ir, parity),
		}}}
	}
	n := shape[axis]
	for _, i := range ins {
		m := cmp.Or(i.motion, p.flat[i.name])
		if m == nil || len(m.parts) != 2 {
			continue
		}
		a, b := m.parts[0].laid(m.shape), m.parts[1].laid(m.shape)
		if a == nil || b == nil {
			continue
		}
		x, _ := a.terms()
		y, _ := b.terms()
		var fits irreps.Irreps
		for _, t := range product(x, y) {
			if 2*t.L+1 == n && t.L > 0 {
				fits = append(fits, irreps.Term{Mul: 1, L: t.L, Odd: t.Odd})
			}
		}
		if len(fits) == 1 {
			return made(fits, a.parity)
		}
	}
	root := int(math.Round(math.Sqrt(float64(n))))
	if blind && len(p.spheres) > 0 && root > 1 && root*root == n && root <= irreps.MaxL+1 {
		var ir irreps.Irreps
		for l := range root {
			ir = append(ir, irreps.Term{Mul: 1, L: l, Odd: l%2 == 1})
		}
		return made(ir, true)
	}
	return nil
}

// laid is the layout of a component that holds irreps, also under another name; nil for others.
func (c component) laid(shape []int) *layout {
	if c.typ == "" || c.fold != 1 {
		return c.layout
	}
	if ir := irrepsOf(c.typ, shape[c.axis]); ir != nil {
		return layoutOf(ir, true)
	}
	return nil
}

// kind is the representation of a value by a motion, which is kept for what is made of it.
func (l *look) kind(v string, m *motion, o feature.Origin, why string) *feature.Rep {
	l.points.motions[v] = m
	return l.rep(m).As(o, why)
}
