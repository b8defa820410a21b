package layers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/data/space"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/feature"
	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// layout says which irreps stand along an axis, and where.
type layout struct {
	blocks []block
	basis  irreps.Basis
	// parity is told: some element mirrors.
	parity bool
	// unclear tells that several layouts explain the values, of which this is the simplest.
	unclear bool
}

// block is Copies of one irrep: component m of copy c is number At + m·Step + c·Next of the axis.
type block struct {
	term           irreps.Term
	at, step, next int
	// silent numbers are zero wherever they were seen, so that nobody can say what they are.
	silent bool
}

// layoutOf are terms one after another, as e3nn stores them.
func layoutOf(ir irreps.Irreps, parity bool) *layout {
	y := &layout{parity: parity}
	at := 0
	for _, t := range ir {
		y.blocks = append(y.blocks, block{term: t, at: at, step: 1, next: 2*t.L + 1})
		at += t.Dim()
	}
	return y
}

// terms are the irreps, neighbors of one kind taken together; more are numbers of which nothing is known.
func (y *layout) terms() (ir irreps.Irreps, more int) {
	for _, b := range y.blocks {
		if b.silent {
			more += b.term.Mul
			continue
		}
		if k := len(ir) - 1; k >= 0 && ir[k].L == b.term.L && ir[k].Odd == b.term.Odd {
			ir[k].Mul += b.term.Mul
			continue
		}
		ir = append(ir, b.term)
	}
	return ir, more
}

// String is the irreps, and what is special about their places.
func (y *layout) String() string {
	ir, more := y.terms()
	s := spell(ir, y.parity)
	if more > 0 {
		s += fmt.Sprintf("+%dx?", more)
	}
	if slices.ContainsFunc(y.blocks, func(b block) bool { return b.term.Mul > 1 && b.step > 1 }) {
		s += ", copies innermost"
	}
	if y.basis == irreps.PolarZ {
		s += ", polar axis z"
	}
	return s
}

// spell writes irreps, without a parity that nobody could see.
func spell(ir irreps.Irreps, parity bool) string {
	list := make([]string, len(ir))
	for i, t := range ir {
		list[i] = t.String()
		if !parity {
			list[i] = list[i][:len(list[i])-1]
		}
	}
	return strings.Join(list, "+")
}

// turn is what an element does to directions of space: a rotation, behind an inversion where it is improper. It is
// false for groups that do more than that.
func (p *points) turn(g group.Element) (r [9]float64, improper, ok bool) {
	if p.dim != 3 {
		return r, false, false
	}
	a := p.mixing(space.TypeVectors, 3)
	if a == nil {
		return r, false, false
	}
	matrix, _, err := a.Matrix(g)
	if err != nil || len(matrix) != 9 {
		return r, false, false
	}
	return irreps.Split((*[9]float64)(matrix), 1e-9)
}

// turned are the matrices of all degrees up to a highest one for one element.
type turned struct {
	w        *irreps.Wigner
	d        []float64
	improper bool
}

// wigner prepares an element; false for groups that do more than turn and mirror.
func (p *points) wigner(g group.Element, top int, b irreps.Basis) (turned, bool) {
	r, improper, ok := p.turn(g)
	if !ok {
		return turned{}, false
	}
	w, err := irreps.NewWigner(top, b)
	if err != nil {
		return turned{}, false
	}
	t := turned{w: w, d: make([]float64, w.Len()), improper: improper}
	w.Fill(t.d, &r)
	return t, true
}

// laid moves the numbers along an axis.
func (p *points) laid(y *layout, shape []int, axis int, g group.Element, x []float64) ([]float64, error) {
	top := 0
	for _, b := range y.blocks {
		top = max(top, b.term.L)
	}
	t, ok := p.wigner(g, top, y.basis)
	if !ok {
		return nil, fmt.Errorf("%s does not move irreps", p.group.Name())
	}
	outer, length, inner := around(shape, axis)
	out := slices.Clone(x)
	for _, b := range y.blocks {
		n, sign := 2*b.term.L+1, 1.0
		if t.improper && b.term.Odd {
			sign = -1
		}
		d := t.w.Block(t.d, b.term.L)
		for c := range b.term.Mul {
			for o := range outer {
				for i := range inner {
					from := (o*length+b.at+c*b.next)*inner + i
					for m := range n {
						var v float64
						for k, u := range d[m*n : (m+1)*n] {
							v += float64(u * x[from+k*b.step*inner])
						}
						out[from+m*b.step*inner] = sign * v
					}
				}
			}
		}
	}
	return out, nil
}

// axis is the evidence along one axis of a value, the rows of moved values back in their places.
type axis struct {
	length int
	// offsets of the first number of each line along the axis, and from one number to the next
	lines []int
	inner int
	x, y  [][]float64
	turns []turned
	// some element mirrors
	mirrors bool
	// of each number of the axis: sums of squares over pairs and lines, about the mean over samples and about zero
	spread, all []float64
	total       float64
}

// axisOf collects the evidence; nil for groups that do more than turn and mirror.
func (p *points) axisOf(shape []int, rows []int, a int, e evidence, b irreps.Basis) *axis {
	outer, length, inner := around(shape, a)
	v := &axis{length: length, inner: inner, spread: make([]float64, length), all: make([]float64, length)}
	for o := range outer {
		for i := range inner {
			v.lines = append(v.lines, o*length*inner+i)
		}
	}
	top := min(irreps.MaxL, (length-1)/2)
	known := map[string]turned{}
	mean, seen := make([]float64, len(e.pairs[0].X)), map[int]bool{}
	for _, q := range e.pairs {
		key := fmt.Sprint(q.G)
		t, ok := known[key]
		if !ok {
			if t, ok = p.wigner(q.G, top, b); !ok {
				return nil
			}
			known[key] = t
		}
		v.mirrors = v.mirrors || t.improper
		x, err := p.apply(&motion{shape: shape, rows: rows}, q.G, q.X)
		if err != nil {
			return nil
		}
		v.x, v.y, v.turns = append(v.x, x), append(v.y, q.Y), append(v.turns, t)
		if !seen[q.Object] {
			seen[q.Object] = true
			for i, u := range q.X {
				mean[i] += u
			}
		}
	}
	for i := range mean {
		mean[i] /= float64(len(seen))
	}
	for _, q := range e.pairs {
		for _, at := range v.lines {
			for k := range length {
				i := at + k*inner
				d := q.X[i] - mean[i]
				v.spread[k] += float64(d * d)
				v.all[k] += float64(q.X[i]*q.X[i]) + float64(q.Y[i]*q.Y[i])
			}
		}
	}
	for _, s := range v.all {
		v.total += s
	}
	return v
}

// Shares of what a value holds: a number below the first is silent; a block is explained as [evidence] says.
const (
	silence   = 1e-9
	explained = 1e-3
)

// silent tells that a number of the axis is as good as zero wherever it was seen.
func (v *axis) silent(k int) bool { return !(v.all[k] > silence*silence*v.total) }

// off is how far a block is from moving as an even and as an odd irrep, as a sum of squares over all pairs, and how far
// it may be to count as explained. With quick it stops where both are beyond that.
func (v *axis) off(b block, quick bool) (even, odd, bound, spread float64) {
	n := 2*b.term.L + 1
	var all float64
	for c := range b.term.Mul {
		for m := range n {
			k := b.at + m*b.step + c*b.next
			spread += v.spread[k]
			all += v.all[k]
		}
	}
	s := float64(explained*math.Sqrt(spread)) + float64(1e-6*math.Sqrt(all)) + float64(1e-9*math.Sqrt(v.total))
	bound = s * s
	for q, t := range v.turns {
		d := t.w.Block(t.d, b.term.L)
		x, y := v.x[q], v.y[q]
		for _, line := range v.lines {
			for c := range b.term.Mul {
				from := line + (b.at+c*b.next)*v.inner
				for m := range n {
					var u float64
					for k, w := range d[m*n : (m+1)*n] {
						u += float64(w * x[from+k*b.step*v.inner])
					}
					got := y[from+m*b.step*v.inner]
					a := got - u
					even += float64(a * a)
					if t.improper {
						a = got + u
					}
					odd += float64(a * a)
				}
			}
			if quick && !(even <= bound) && !(odd <= bound) {
				return even, odd, bound, spread
			}
		}
	}
	return even, odd, bound, spread
}

// mostLaid bounds the numbers along an axis that are typed.
const mostLaid = 4096

// spelled finds the irreps that stand along an axis, by trying at each place every degree and parity, and copies side
// by side as well as component by component. Nothing is fitted: a block counts where the Wigner matrices explain it on
// all pairs. It is nil if some place begins no block. Loose takes what comes closest there, if nothing else comes near;
// wrong then tells that something was taken so.
func (v *axis) spelled(b irreps.Basis, loose bool) (y *layout, wrong bool) {
	y = &layout{basis: b, parity: v.mirrors}
	turns := false
	for k := 0; k < v.length; {
		if v.silent(k) {
			y.blocks = append(y.blocks, block{term: irreps.Term{Mul: 1}, at: k, step: 1, next: 1, silent: true})
			k++
			continue
		}
		found := v.found(k, true)
		if len(found) == 0 {
			found = v.found(k, false)
		}
		if len(found) == 0 && loose {
			found = v.nearest(k)
			wrong = true
		}
		if len(found) == 0 {
			return nil, false
		}
		if len(found) > 1 {
			y.unclear = true
		}
		turns = turns || found[0].term.L > 0 || found[0].term.Odd
		y.blocks = append(y.blocks, found[0])
		k += found[0].term.Dim()
	}
	if !turns {
		return nil, false
	}
	return y, wrong
}

// found are the blocks that begin at a number and are explained, the smallest first: one copy, or more of them
// component by component.
func (v *axis) found(k int, single bool) []block {
	var out []block
	for l := 0; l <= irreps.MaxL && k+2*l+1 <= v.length; l++ {
		from, to := 1, 1
		if !single {
			from, to = 2, (v.length-k)/(2*l+1)
		}
		for mul := from; mul <= to && (l > 0 || single); mul++ {
			b := block{term: irreps.Term{Mul: mul, L: l}, at: k, step: mul, next: 1}
			even, odd, bound, _ := v.off(b, true)
			switch {
			case even <= bound && odd <= bound && v.mirrors:
				b.term.Odd = l%2 == 1
				c := b
				c.term.Odd = !b.term.Odd
				out = append(out, b, c)
			case even <= bound && !v.mirrors:
				b.term.Odd = l%2 == 1 // which one nobody can tell, and nothing depends on it
				out = append(out, b)
			case even <= bound || odd <= bound:
				b.term.Odd = !(even <= bound)
				out = append(out, b)
			}
			if len(out) > 0 && !single {
				return out
			}
		}
	}
	return out
}

// What comes closest is taken if less than this share of it is off, and at most this part of what the next one is.
const (
	near   = 1.0
	nearer = 0.6
)

// nearest is the block that begins at a number and comes closest to being explained; none if several do.
func (v *axis) nearest(k int) []block {
	type one struct {
		b   block
		off float64
	}
	var list []one
	for l := 0; l <= irreps.MaxL && k+2*l+1 <= v.length; l++ {
		b := block{term: irreps.Term{Mul: 1, L: l}, at: k, step: 1, next: 2*l + 1}
		even, odd, _, spread := v.off(b, false)
		b.term.Odd = odd < even || !v.mirrors && l%2 == 1
		list = append(list, one{b, min(even, odd) / spread})
	}
	slices.SortStableFunc(list, func(a, b one) int {
		switch {
		case a.off < b.off:
			return -1
		case a.off > b.off:
			return 1
		}
		return 0
	})
	if len(list) == 0 || !(list[0].off < near) || len(list) > 1 && !(list[0].off <= nearer*list[1].off) {
		return nil
	}
	return []block{list[0].b}
}

// typed are the ways in which an axis holds irreps that explain a value, for the sets of rows that it may have.
func (p *points) typed(shape []int, sets [][]int, e evidence, loose bool) *motion {
	if p.dim != 3 || e.constant || !p.turns(e) {
		return nil
	}
	for _, b := range []irreps.Basis{irreps.PolarY, irreps.PolarZ} {
		for _, s := range sets {
			for a := range slices.Backward(shape) {
				if slices.Contains(s, a) || shape[a] > mostLaid || shape[a] < 2 {
					continue
				}
				v := p.axisOf(shape, s, a, e, b)
				if v == nil {
					return nil
				}
				if y, wrong := v.spelled(b, loose); y != nil && (wrong || !loose) {
					return &motion{shape: shape, rows: s, parts: []component{{axis: a, fold: 1, layout: y}}}
				}
			}
		}
	}
	return nil
}

// turns tells that some element turns space.
func (p *points) turns(e evidence) bool {
	return slices.ContainsFunc(e.pairs, func(q feature.Pair) bool {
		r, improper, ok := p.turn(q.G)
		return ok && (improper || r[0]+r[4]+r[8] < 3-1e-9)
	})
}

// coupled are two axes that hold irreps each, as products of components do before they are brought together: those of
// the values that the node reads, and single irreps of the axes' lengths.
func (p *points) coupled(shape []int, sets [][]int, known []held, e evidence) *motion {
	if p.dim != 3 || e.constant || !p.turns(e) {
		return nil
	}
	of := func(length int) []component {
		var out []component
		for _, c := range known {
			if c.length == length {
				out = append(out, c.component)
			}
		}
		if length%2 == 1 && length > 1 && length <= 2*irreps.MaxL+1 {
			l := (length - 1) / 2
			for _, odd := range []bool{l%2 == 1, l%2 == 0} {
				y := layoutOf(irreps.Irreps{{Mul: 1, L: l, Odd: odd}}, p.mirrors(e))
				out = append(out, component{fold: 1, layout: y})
			}
		}
		return out
	}
	for _, s := range sets {
		for b := range slices.Backward(shape) {
			for a := range b {
				if slices.Contains(s, a) || slices.Contains(s, b) {
					continue
				}
				for _, first := range of(shape[a]) {
					for _, second := range of(shape[b]) {
						first.axis, second.axis = a, b
						m := &motion{shape: shape, rows: s, parts: []component{first, second}}
						if e.explained(func(g group.Element, x []float64) ([]float64, error) {
							return p.apply(m, g, x)
						}) {
							return m
						}
					}
				}
			}
		}
	}
	return nil
}

// mirrors tells that some element mirrors space.
func (p *points) mirrors(e evidence) bool {
	return slices.ContainsFunc(e.pairs, func(q feature.Pair) bool {
		_, improper, ok := p.turn(q.G)
		return ok && improper
	})
}

// held is what stands along an axis of some length.
type held struct {
	component

	length int
}

// holds are the axes of a motion along which irreps stand, also under another name or in another basis.
func (m *motion) holds() []held {
	var out []held
	for _, c := range m.parts {
		if f := c.flat; f != nil {
			for _, y := range []*layout{f.first, f.second} {
				out = append(out, held{component{fold: 1, layout: y}, y.length()})
			}
			continue
		}
		y := c.laid(m.shape)
		if y != nil || c.fitted != nil {
			out = append(out, held{component{fold: 1, layout: y, fitted: c.fitted}, m.shape[c.axis]})
		}
	}
	return out
}

// irrepsOf are the irreps of n numbers of a type that has a name; nil for types that move otherwise.
func irrepsOf(typ string, n int) irreps.Irreps {
	switch typ {
	case space.TypeVectors, space.TypePositions:
		return irreps.Irreps{{Mul: n / 3, L: 1, Odd: true}}
	case space.TypePseudovectors:
		return irreps.Irreps{{Mul: n / 3, L: 1}}
	case space.TypePseudoscalars:
		return irreps.Irreps{{Mul: n, Odd: true}}
	case space.TypeUnchanged:
		return irreps.Irreps{{Mul: n}}
	}
	if ir, err := irreps.Parse(typ); err == nil && ir.Dim() == n {
		return ir
	}
	return nil
}

// named tells that types can be told: the rotations that were visited generate all rotations of space, so that no two
// irreps look alike. By the closed subgroups of SO(3) that is so if one of them is of no order up to five and another
// one moves its axis. Mirrors tells that one of them mirrors, so that parities can be told as well.
func (p *points) named(elements []audit.Element) (types, mirrors bool) {
	var list [][9]float64
	for _, e := range elements {
		r, improper, ok := p.turn(e.G)
		if !ok {
			return false, false
		}
		list, mirrors = append(list, r), mirrors || improper
	}
	const tol = 1e-6
	for _, r := range list {
		cos := (r[0] + r[4] + r[8] - 1) / 2
		x, y, z := r[7]-r[5], r[2]-r[6], r[3]-r[1] // along the axis, 2 sin
		n := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
		// cos(kθ) by Chebyshev's recursion: 1 for some k up to 5 where the order is.
		low, generic := 1.0, n > tol
		for c, k := cos, 1; k <= 5; k++ {
			generic = generic && !(math.Abs(c-1) < tol)
			low, c = c, float64(2*cos*c)-low
		}
		if !generic {
			continue
		}
		x, y, z = x/n, y/n, z/n
		for _, o := range list {
			d := float64(x*(float64(o[0]*x)+float64(o[1]*y)+float64(o[2]*z))) +
				float64(y*(float64(o[3]*x)+float64(o[4]*y)+float64(o[5]*z))) +
				float64(z*(float64(o[6]*x)+float64(o[7]*y)+float64(o[8]*z)))
			if math.Abs(d) < 1-tol {
				return true, mirrors
			}
		}
	}
	return false, mirrors
}

// rowsOf are the axes of rows of a value. Groups that exchange none leave unsaid which they are: the first ones that
// are as long as there are rows, or else the only one.
func (p *points) rowsOf(m *motion) []int {
	if p.permutes || p.n < 2 {
		return m.rows
	}
	var first, all []int
	leads := true
	for a, d := range m.shape {
		if slices.ContainsFunc(m.parts, func(c component) bool { return c.covers(a) }) {
			leads = false
			continue
		}
		is := d == p.n || d == p.padded
		leads = leads && (is || d == 1)
		if is {
			all = append(all, a)
		}
		if is && leads {
			first = append(first, a)
		}
	}
	if len(first) == 0 && len(all) == 1 {
		return all
	}
	return first
}

// irreps are those of a value, with how many of each there are on one row; "" if they cannot be told.
func (p *points) irreps(m *motion, parity bool) string {
	if m == nil {
		return ""
	}
	copies := 1
	rows := p.rowsOf(m)
	for a, d := range m.shape {
		if !slices.Contains(rows, a) && !slices.ContainsFunc(m.parts, func(c component) bool { return c.covers(a) }) {
			copies *= d
		}
	}
	all, more, shifted := irreps.Irreps{{Mul: copies}}, 0, false
	for _, c := range m.parts {
		var ir irreps.Irreps
		silent := 0
		switch {
		case c.layout != nil && c.layout.unclear:
			return ""
		case c.layout != nil:
			ir, silent = c.layout.terms()
		case c.field != nil:
			ir = c.field.terms()
		case c.fitted != nil:
			ir = c.fitted.terms
		case c.flat != nil:
			one, _ := c.flat.first.terms()
			two, _ := c.flat.second.terms()
			ir = product(one, two)
		case c.typ == space.TypeTensors && m.shape[c.axis] == 9:
			ir = irreps.Irreps{{Mul: 1}, {Mul: 1, L: 1}, {Mul: 1, L: 2}}
		default:
			ir = irrepsOf(c.typ, m.shape[c.axis])
			shifted = shifted || c.typ == space.TypePositions
		}
		if ir == nil && silent == 0 {
			return ""
		}
		more = more*ir.Dim() + silent*all.Dim()
		all = product(all, ir)
	}
	s := spell(all, parity)
	if more > 0 {
		s += fmt.Sprintf("+%dx?", more)
	}
	if shifted {
		s += ", shifted"
	}
	return s
}

// product is what the products of all components of two rows consist of: l1 times l2 are the degrees from |l1-l2| to
// l1+l2, once each. Equal irreps that come to lie side by side are counted together.
func product(a, b irreps.Irreps) irreps.Irreps {
	var out irreps.Irreps
	add := func(t irreps.Term) {
		if k := slices.IndexFunc(out, func(o irreps.Term) bool { return o.L == t.L && o.Odd == t.Odd }); k >= 0 {
			out[k].Mul += t.Mul
			return
		}
		out = append(out, t)
	}
	scalars := func(ir irreps.Irreps) bool { return len(ir) == 1 && ir[0].L == 0 && !ir[0].Odd }
	if scalars(a) && a[0].Mul == 1 {
		return b
	}
	for _, x := range a {
		for _, y := range b {
			for l := max(x.L-y.L, y.L-x.L); l <= x.L+y.L; l++ {
				add(irreps.Term{Mul: x.Mul * y.Mul, L: l, Odd: x.Odd != y.Odd})
			}
		}
	}
	return out
}

// hands sees to it that some element turns and some other one mirrors, if there are any among those that could have
// been chosen: a parity shows under mirrors alone, and what both break is not one.
func (l *look) hands(list []audit.Element) {
	const proper, improper = 0, 1
	kind := func(e audit.Element) int {
		r, mirrors, ok := l.points.turn(e.G)
		switch {
		case !ok || !mirrors && r[0]+r[4]+r[8] > 3-1e-9:
			return -1
		case mirrors:
			return improper
		}
		return proper
	}
	for want := range 2 {
		is := func(e audit.Element) bool { return kind(e) == want }
		from := slices.IndexFunc(list, func(e audit.Element) bool { return is(e) && !e.Exact })
		if from < 0 {
			from = slices.IndexFunc(list, is)
		}
		if from < 0 || slices.ContainsFunc(l.elements, is) {
			continue
		}
		// The last of the others makes room, one that does not resample before one that turns space in a way of its
		// own.
		var others []int
		for _, exact := range []bool{false, true} {
			for k, e := range l.elements {
				if kind(e) == 1-want && e.Exact == exact {
					others = append(others, k)
				}
			}
		}
		if len(others) > 1 {
			l.elements = slices.Clone(l.elements)
			l.elements[others[len(others)-1]] = list[from]
		}
	}
}

// byHand are the mean errors under the elements that turn or do nothing to space and under those that mirror it, given
// those of each element; NaN where there are none.
func (l *look) byHand(errs []float64) (proper, improper float64) {
	if l.points == nil {
		return math.NaN(), math.NaN()
	}
	var n [2]float64
	shifted := false // by an element that does not mirror
	for _, e := range l.elements {
		_, mirrors, ok := l.points.turn(e.G)
		shifted = shifted || ok && !mirrors && l.points.shifts(e.G)
	}
	for j, e := range l.elements {
		_, mirrors, ok := l.points.turn(e.G)
		switch {
		case !ok:
			return math.NaN(), math.NaN()
		case mirrors && !shifted && l.points.shifts(e.G): // which of both breaks nobody could tell
		case mirrors:
			improper, n[1] = improper+errs[j], n[1]+1
		default:
			proper, n[0] = proper+errs[j], n[0]+1
		}
	}
	return proper / n[0], improper / n[1]
}

// shifts tells that an element moves the origin.
func (p *points) shifts(g group.Element) bool {
	a := p.mixing(space.TypePositions, p.dim)
	if a == nil {
		return false
	}
	_, shift, err := a.Matrix(g)
	return err == nil && slices.ContainsFunc(shift, func(v float64) bool { return math.Abs(v) > group.Tolerance })
}

// mirrored says that a layer breaks under mirrors and not under rotations; "" if that is not so, or not known.
func (l *look) mirrored(w Row) string {
	above := func(e float64) bool { return e > l.p.Policy.RoundingFactor*w.Floor && e > leastError }
	if !w.Above || !above(w.Improper) || math.IsNaN(w.Proper) || above(w.Proper) {
		return ""
	}
	return " under mirrors alone"
}

// typeOf are the irreps of a value; "" where they cannot be told.
func (l *look) typeOf(v string, shape []int) string {
	p := l.points
	if p == nil {
		return ""
	}
	types, mirrors := p.named(l.elements)
	if !types || p.guessed[v] {
		return ""
	}
	m := cmp.Or(p.motions[v], p.flat[v])
	if v == l.output && m == nil { // as it is declared
		m = &motion{shape: shape}
		if k := len(shape) - 1; !l.invariant && k >= 0 {
			m.parts = []component{{axis: k, typ: l.spec.Type, fold: 1}}
		}
	}
	return p.irreps(m, mirrors)
}

// couples names what a node brings together of a product of irreps along two axes, such as "1x1o by 1x2e"; "" for
// others.
func (l *look) couples(n *onnxpb.NodeProto) string {
	p := l.points
	if p == nil || n == nil {
		return ""
	}
	_, mirrors := p.named(l.elements)
	flatOf := func(v string) *flat {
		if m := cmp.Or(p.motions[v], p.flat[v]); m != nil && len(m.parts) == 1 {
			return m.parts[0].flat
		}
		return nil
	}
	both := func(f *flat) string {
		one, _ := f.first.terms()
		two, _ := f.second.terms()
		return spell(one, mirrors) + " by " + spell(two, mirrors)
	}
	for _, in := range n.GetInput() {
		if f := flatOf(in); f != nil {
			return both(f)
		}
		m := cmp.Or(p.motions[in], p.flat[in])
		if m == nil || len(m.parts) != 2 {
			if f := flatOf(n.GetOutput()[0]); f != nil && m != nil && len(m.parts) == 1 {
				if y := m.parts[0].laid(m.shape); y != nil {
					ir, _ := y.terms()
					return spell(ir, mirrors) + " to " + both(f)
				}
			}
			continue
		}
		var list []string
		for _, c := range m.parts {
			switch y := c.laid(m.shape); {
			case y != nil:
				ir, _ := y.terms()
				list = append(list, spell(ir, mirrors))
			case c.fitted != nil:
				list = append(list, spell(c.fitted.terms, mirrors))
			}
		}
		return strings.Join(list, " by ")
	}
	return ""
}

// leavesSphere tells that a node reads a product that was taken at directions of the sphere, at once or by way of
// values of which nobody knows how they move.
func (l *look) leavesSphere(n *onnxpb.NodeProto) bool {
	p := l.points
	if p == nil || n == nil {
		return false
	}
	at := func(v string) bool {
		m := p.motions[v]
		return m != nil && slices.ContainsFunc(m.parts, func(c component) bool { return c.field != nil })
	}
	return slices.ContainsFunc(n.GetInput(), func(v string) bool {
		o := l.maker(v)
		if o == nil {
			return false
		}
		if o.GetOpType() == "Mul" && len(o.GetInput()) == 2 && at(o.GetInput()[0]) && at(o.GetInput()[1]) {
			return true
		}
		return p.motions[v] == nil && products[o.GetOpType()] && l.leavesSphere(o)
	})
}

// inAnotherBasis is the representation of a value of irreps in a basis of their own; nil if it is none. Conventions
// differ in order, signs and sizes of whole irreps. Where the network breaks, a basis that stretches single components
// is no convention, and may be the fault.
func (l *look) inAnotherBasis(v string, shape []int, e evidence) *feature.Rep {
	m := l.points.refitted(shape, l.points.sets(shape), e)
	if m == nil || l.off() && !m.parts[0].fitted.orthogonal() {
		return nil
	}
	return l.kind(v, m, feature.ByData, "matrices that were fitted explain samples held out, and have the traces of "+
		"these irreps")
}
