package lint

import (
	"math/big"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
)

// moved follows operators that put elements elsewhere.
func (t *tracer) moved(x *value) *value {
	switch t.node.GetOpType() {
	case "Slice":
		return t.slice(x)
	case "Pad":
		return t.pad(x)
	case "Transpose":
		return t.transpose(x)
	case "Concat":
		return t.concat()
	case "Gather":
		return t.gather(x)
	case "Expand", "Tile":
		return t.repeat(x)
	case "DepthToSpace", "SpaceToDepth":
		return t.blocks(x)
	case "Resize", "Upsample":
		return t.resize(x)
	}
	return reshape(x, t.rec.Out[0])
}

// constantOfShape is a table of equal entries.
func (t *tracer) constantOfShape() *value {
	v := &value{shape: slices.Clone(t.rec.Out[0]), held: slices.Repeat([]int{1}, len(t.rec.Out[0])), x: [][]uint64{{0}}}
	for i, n := range v.shape {
		v.atoms = append(v.atoms, plain(n))
		v.held[i] = min(n, 1)
	}
	if a := onnx.Attr(t.node, "value").GetT(); a != nil {
		c, err := onnx.Value(a)
		if err != nil || c.Len() != 1 {
			return opaque("a fill that cannot be read")
		}
		s := stored(c)
		if s.opaque != "" {
			return s
		}
		v.x[0][0] = s.x[0][0]
	}
	return v
}

// part are the atoms of an axis of which some places are taken: the same if it is all of them in order.
func part(as []atom, list []int, n int) []atom {
	whole := len(list) == n
	for i, j := range list {
		whole = whole && i == j
	}
	if whole {
		return as
	}
	return renewed(as, len(list))
}

func (t *tracer) slice(x *value) *value {
	cuts, err := t.f.Cuts(t.i)
	if err != nil {
		return opaque("%s", err)
	}
	lists, atoms := make([][]int, len(x.shape)), slices.Clone(x.atoms)
	for _, c := range cuts {
		l := make([]int, c.Count)
		for i := range l {
			l[i] = c.Start + i*c.Step
		}
		lists[c.Axis] = l
		atoms[c.Axis] = part(x.atoms[c.Axis], l, x.shape[c.Axis])
	}
	return x.remap(lists, atoms, 0)
}

// split cuts one axis into several values.
func (t *tracer) split() []*value {
	x := t.in(0)
	outs := make([]*value, len(t.node.GetOutput()))
	a := onnx.Int(t.node, "axis", 0)
	if x != nil && x.opaque == "" && a < 0 {
		a += int64(len(x.shape))
	}
	at := 0
	for i := range outs {
		if x == nil || x.opaque != "" || a < 0 || a >= int64(len(x.shape)) || t.rec.Out[i] == nil {
			outs[i] = opaque("a cut that is not followed")
			continue
		}
		n := t.rec.Out[i][a]
		if at+n > x.shape[a] {
			outs[i] = opaque("cuts beyond the end")
			continue
		}
		l := make([]int, n)
		for j := range l {
			l[j] = at + j
		}
		at += n
		lists, atoms := make([][]int, len(x.shape)), slices.Clone(x.atoms)
		lists[a], atoms[a] = l, part(x.atoms[a], l, x.shape[a])
		outs[i] = x.remap(lists, atoms, 0)
	}
	return outs
}

func (t *tracer) pad(x *value) *value {
	p, err := t.f.Padding(t.i)
	if err != nil {
		return opaque("%s", err)
	}
	mode := onnx.String(t.node, "mode", "constant")
	lists, atoms := make([][]int, len(x.shape)), slices.Clone(x.atoms)
	for a, q := range p {
		n := x.shape[a]
		if q == [2]int{} {
			continue
		}
		if n+q[0]+q[1] < 0 || n+q[0]+q[1] > maxHeld {
			return opaque("pads of %v", q)
		}
		l := make([]int, n+q[0]+q[1])
		for i := range l {
			j := i - q[0]
			if j < 0 || j >= n {
				switch {
				case mode == "wrap" && n > 0:
					j = ((j % n) + n) % n
				case mode == "edge" && n > 0:
					j = min(max(j, 0), n-1)
				case mode == "reflect" && n > 1:
					j = ((j % (2*n - 2)) + 2*n - 2) % (2*n - 2)
					if j >= n {
						j = 2*n - 2 - j
					}
				default:
					j = -1
				}
			}
			l[i] = j
		}
		lists[a], atoms[a] = l, renewed(x.atoms[a], len(l))
	}
	fill := uint64(0)
	if len(t.node.GetInput()) > 2 && t.node.GetInput()[2] != "" {
		c := t.in(2)
		if c.opaque != "" || len(c.x) != 1 || len(c.x[0]) != 1 {
			return opaque("a fill that is computed while it runs")
		}
		fill = c.x[0][0]
	} else if v := onnx.Float(t.node, "value", 0); v != 0 {
		fill = levels([]float64{float64(v)})[0]
	}
	return x.remap(lists, atoms, fill)
}

func (t *tracer) transpose(x *value) *value {
	rank := len(x.shape)
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = rank - 1 - i
	}
	if p := onnx.Ints(t.node, "perm", nil); len(p) > 0 {
		if len(p) != rank {
			return opaque("a permutation of %d axes", len(p))
		}
		seen := make([]bool, rank)
		for i, a := range p {
			if a < 0 || a >= int64(rank) || seen[a] {
				return opaque("the permutation %v", p)
			}
			seen[a] = true
			perm[i] = int(a)
		}
	}
	st := x.strides()
	shape, held, atoms := make([]int, rank), make([]int, rank), make([][]atom, rank)
	for i, a := range perm {
		shape[i], held[i], atoms[i] = x.shape[a], x.held[a], x.atoms[a]
	}
	from := make([]int32, tensor.Count(held))
	walk(held, func(i int, at []int) {
		p := 0
		for k, j := range at {
			p += j * st[perm[k]]
		}
		from[i] = int32(p)
	})
	return x.take(shape, held, atoms, from, 0)
}

func (t *tracer) concat() *value {
	shape := t.rec.Out[0]
	a := int(onnx.Int(t.node, "axis", 1))
	if a < 0 {
		a += len(shape)
	}
	if a < 0 || a >= len(shape) {
		return opaque("its axis is out of range")
	}
	var vs []*value
	for i := range t.node.GetInput() {
		v := t.in(i)
		if v == nil || v.opaque != "" || len(v.shape) != len(shape) {
			return opaque("joins a value that is not followed")
		}
		vs = append(vs, v)
	}
	held, long := slices.Repeat([]int{1}, len(shape)), 0
	for _, v := range vs {
		long += v.shape[a]
	}
	if long != shape[a] {
		return opaque("joins values of %d in all along an axis of %d", long, shape[a])
	}
	for k := range held {
		for _, v := range vs {
			if k != a {
				held[k] = max(held[k], v.held[k])
			}
		}
	}
	held[a] = shape[a]
	if err := tooMuch(held); err != nil {
		return opaque("%s", err)
	}
	out := &value{shape: slices.Clone(shape), held: held, atoms: make([][]atom, len(shape))}
	var joined []atom
	for _, v := range vs {
		if len(v.x) > 1 || out.atoms[0] == nil {
			for k := range shape {
				if out.atoms[k] == nil || out.atoms[k][0].role == roleOther {
					out.atoms[k] = v.atoms[k]
				}
			}
		}
		joined = append(joined, v.atoms[a]...)
	}
	out.atoms[a] = renewed(joined, shape[a])
	if len(vs) == 1 {
		out.atoms[a] = vs[0].atoms[a]
	}
	out.x = make([][]uint64, copies(vs...))
	for k := range out.x {
		out.x[k] = make([]uint64, tensor.Count(held))
	}
	st := out.strides()
	before := 0
	for _, v := range vs {
		h := slices.Clone(held)
		h[a] = v.shape[a]
		sv := v.strides()
		walk(h, func(_ int, at []int) {
			p, q := before*st[a], 0
			for k, j := range at {
				p += j * st[k]
				q += j * sv[k]
			}
			for k := range out.x {
				out.x[k][p] = v.at(k)[q]
			}
		})
		before += v.shape[a]
	}
	return out
}

func (t *tracer) gather(x *value) *value {
	if len(t.node.GetInput()) < 2 {
		return opaque("it lacks its indices")
	}
	ix, ok := t.f.Integers(t.node.GetInput()[1])
	if !ok {
		return opaque("its indices are computed while it runs")
	}
	a := onnx.Int(t.node, "axis", 0)
	if a < 0 {
		a += int64(len(x.shape))
	}
	if a < 0 || a >= int64(len(x.shape)) {
		return opaque("its axis is out of range")
	}
	l := make([]int, len(ix))
	for i, j := range ix {
		if j < 0 {
			j += int64(x.shape[a])
		}
		if j < 0 || j >= int64(x.shape[a]) {
			return opaque("the index %d of %d", ix[i], x.shape[a])
		}
		l[i] = int(j)
	}
	lists, atoms := make([][]int, len(x.shape)), slices.Clone(x.atoms)
	lists[a], atoms[a] = l, part(x.atoms[a], l, x.shape[a])
	return reshape(x.remap(lists, atoms, 0), t.rec.Out[0])
}

// repeat follows Expand and Tile.
func (t *tracer) repeat(x *value) *value {
	shape := t.rec.Out[0]
	x = align(x, len(shape))
	lists, atoms := make([][]int, len(shape)), slices.Clone(x.atoms)
	for a, n := range shape {
		if n == x.shape[a] {
			continue
		}
		if n > maxHeld || x.shape[a] == 0 {
			return opaque("an axis of %d", n)
		}
		l := make([]int, n)
		for i := range l {
			l[i] = i % x.shape[a]
		}
		lists[a], atoms[a] = l, renewed(x.atoms[a], n)
	}
	return x.remap(lists, atoms, 0)
}

// blocks follows DepthToSpace and SpaceToDepth as what they are: a reshape, a transpose and a reshape.
func (t *tracer) blocks(x *value) *value {
	b := int(onnx.Int(t.node, "blocksize", 1))
	if len(x.shape) != 4 || b < 1 || b > 1<<15 {
		return opaque("blocks of %d", b)
	}
	n, c, h, w := x.shape[0], x.shape[1], x.shape[2], x.shape[3]
	var six, perm []int
	switch {
	case t.node.GetOpType() == "SpaceToDepth":
		if h%b != 0 || w%b != 0 {
			return opaque("blocks of %d", b)
		}
		six, perm = []int{n, c, h / b, b, w / b, b}, []int{0, 3, 5, 1, 2, 4}
	case c%(b*b) != 0:
		return opaque("blocks of %d", b)
	case onnx.String(t.node, "mode", "DCR") == "CRD":
		six, perm = []int{n, c / b / b, b, b, h, w}, []int{0, 1, 4, 2, 5, 3}
	default:
		six, perm = []int{n, b, b, c / b / b, h, w}, []int{0, 3, 4, 1, 5, 2}
	}
	y := reshape(x, six)
	if y.opaque != "" {
		return y
	}
	st := y.strides()
	shape, held, atoms := make([]int, 6), make([]int, 6), make([][]atom, 6)
	for i, a := range perm {
		shape[i], held[i], atoms[i] = y.shape[a], y.held[a], y.atoms[a]
	}
	from := make([]int32, tensor.Count(held))
	walk(held, func(i int, at []int) {
		p := 0
		for k, j := range at {
			p += j * st[perm[k]]
		}
		from[i] = int32(p)
	})
	out := reshape(y.take(shape, held, atoms, from, 0), t.rec.Out[0])
	if out.opaque == "" && len(out.shape) == 4 {
		out.atoms = slices.Clone(out.atoms)
		out.atoms[1] = plain(out.shape[1])
		out.atoms[2], out.atoms[3] = renewed(x.atoms[2], out.shape[2]), renewed(x.atoms[3], out.shape[3])
	}
	return out
}

// reshape pairs groups of axes with equal products. Within a group, what is held once stays so if all of it is.
func reshape(x *value, shape []int) *value {
	if x.opaque != "" {
		return x
	}
	if tensor.Count(x.shape) != tensor.Count(shape) {
		return opaque("a reshape of %v to %v", x.shape, shape)
	}
	type group struct{ in, out []int }
	var groups []group
	for i, o := 0, 0; i < len(x.shape) || o < len(shape); {
		g := group{}
		p, q := 1, 1
		if i < len(x.shape) {
			g.in, p, i = append(g.in, i), x.shape[i], i+1
		}
		if o < len(shape) {
			g.out, q, o = append(g.out, o), shape[o], o+1
		}
		for p != q && (i < len(x.shape) || o < len(shape)) {
			if p < q && i < len(x.shape) || o >= len(shape) {
				g.in, p, i = append(g.in, i), p*x.shape[i], i+1
			} else {
				g.out, q, o = append(g.out, o), q*shape[o], o+1
			}
		}
		groups = append(groups, g)
	}
	var fill []int
	alike := make([]bool, len(groups))
	for k, g := range groups {
		alike[k] = true
		for _, a := range g.in {
			alike[k] = alike[k] && x.held[a] == 1
		}
		if !alike[k] {
			fill = append(fill, g.in...)
		}
	}
	x = x.spread(fill...)
	if x.opaque != "" {
		return x
	}
	out := &value{shape: slices.Clone(shape), held: slices.Clone(shape), atoms: make([][]atom, len(shape)), x: x.x}
	for k, g := range groups {
		var factors []atom
		for _, a := range g.in {
			for _, f := range x.atoms[a] {
				if f.n > 1 {
					factors = append(factors, f)
				}
			}
		}
		for _, o := range g.out {
			if alike[k] {
				out.held[o] = min(1, shape[o])
			}
			out.atoms[o], factors = factor(factors, shape[o])
		}
	}
	out.interleave()
	return out
}

// interleave makes one picture axis of places and what came between them, such as the rows of blocks and the rows
// within them after a pixel shuffle.
func (v *value) interleave() {
	for a, as := range v.atoms {
		if len(as) < 2 || as[0].role != roleY && as[0].role != roleX {
			continue
		}
		between := false
		for _, f := range as[1:] {
			between = between || f.role == roleOther && f.n > 1
		}
		alone := !slices.ContainsFunc(as[1:], func(f atom) bool { return f.role != roleOther })
		for b, bs := range v.atoms {
			alone = alone && (a == b ||
				!slices.ContainsFunc(bs,
					func(f atom) bool { return f.role == as[0].role && f.copy == as[0].copy && f.n > 1 }))
		}
		if between && alone && a > 0 {
			v.atoms[a] = []atom{{role: as[0].role, copy: as[0].copy, n: v.shape[a], step: 1}}
		}
	}
}

// settled is how the axes of an output are read: places that lie among channels are channels, and what is left of an
// axis of the picture is a picture axis of its own.
func (v *value) settled() *value {
	pure := map[[2]int]int{} // axis by role and copy
	for a, as := range v.atoms {
		if !slices.ContainsFunc(as, func(f atom) bool { return f.role != as[0].role || f.copy != as[0].copy }) {
			pure[[2]int{int(as[0].role), as[0].copy}] = a
		}
	}
	out := *v
	out.atoms = slices.Clone(v.atoms)
	for a, as := range v.atoms {
		for i, f := range as {
			p, ok := pure[[2]int{int(f.role), f.copy}]
			if f.role != roleY && f.role != roleX || !ok || p == a || f.n == 1 {
				continue
			}
			if out.atoms[a] = slices.Clone(out.atoms[a]); out.atoms[a][i].role != roleOther {
				out.atoms[a][i] = atom{role: roleOther, n: f.n, step: 1}
			}
			out.atoms[p] = renewed(v.atoms[p], v.shape[p])
		}
	}
	return &out
}

// factor takes the outermost factors of a product off: those of an axis of length n, and what is left.
func factor(as []atom, n int) (axis, rest []atom) {
	want := n
	for n > 1 {
		if len(as) == 0 {
			return []atom{{role: roleLost, n: want, step: 1}}, nil
		}
		a := as[0]
		switch {
		case n%a.n == 0:
			axis, as, n = append(axis, a), as[1:], n/a.n
		case a.n%n == 0:
			inner := a.n / n
			axis = append(axis, atom{a.role, a.copy, n, a.step * inner})
			as = append([]atom{{a.role, a.copy, inner, a.step}}, as[1:]...)
			n = 1
		default:
			left := 1
			for _, b := range as {
				left *= b.n
			}
			return []atom{{role: roleLost, n: want, step: 1}}, []atom{{role: roleLost, n: max(left/want, 1), step: 1}}
		}
	}
	if len(axis) == 0 {
		axis = plain(want)
	}
	return axis, as
}

// resize follows Resize and Upsample, with coordinates as exact fractions.
func (t *tracer) resize(x *value) *value {
	opset := t.f.Model().Opset()
	mode := onnx.String(t.node, "mode", "nearest")
	coord := onnx.String(t.node, "coordinate_transformation_mode", "half_pixel")
	near := onnx.String(t.node, "nearest_mode", "round_prefer_floor")
	old := t.node.GetOpType() == "Upsample" || opset < 11
	if old {
		coord, near = "asymmetric", "floor"
	}
	if onnx.Int(t.node, "antialias", 0) != 0 || onnx.Int(t.node, "exclude_outside", 0) != 0 ||
		coord == "tf_crop_and_resize" {
		return opaque("a resize with antialias, exclude_outside or %s", "tf_crop_and_resize")
	}
	shape := t.rec.Out[0]
	at := 2
	if old {
		at = 1
	}
	var scales []float64
	if a := onnx.Attr(t.node, "scales"); a != nil {
		for _, f := range a.GetFloats() {
			scales = append(scales, float64(f))
		}
	} else if at < len(t.node.GetInput()) && (at+1 >= len(t.node.GetInput()) || t.node.GetInput()[at+1] == "") {
		if c, ok := t.f.Stored(t.node.GetInput()[at]); ok {
			if v, err := c.Float64s(nil); err == nil {
				scales = v
			}
		}
	}
	for a := range shape {
		n, m := x.shape[a], shape[a]
		if n == m && (len(scales) != len(shape) || scales[a] == 1) {
			continue
		}
		if n == 0 || m == 0 || n > 1<<16 || m > 1<<16 {
			return opaque("an empty or huge map")
		}
		scale := big.NewRat(int64(m), int64(n))
		if len(scales) == len(shape) && scales[a] > 0 {
			if r := new(big.Rat).SetFloat64(scales[a]); r != nil {
				scale = r
			}
		}
		taps := make([][]tap, m)
		for j := range m {
			taps[j] = resample(mode, near, place(coord, j, n, m, scale), n)
		}
		x = blend(x, a, taps, renewed(x.atoms[a], m))
		if x.opaque != "" {
			return x
		}
	}
	return x
}

// place is the input coordinate of output j, by the definition of the operator.
func place(coord string, j, n, m int, scale *big.Rat) *big.Rat {
	half := big.NewRat(1, 2)
	p := big.NewRat(int64(j), 1)
	switch coord {
	case "align_corners":
		if m == 1 {
			return new(big.Rat)
		}
		return p.Mul(p, big.NewRat(int64(n-1), int64(m-1)))
	case "asymmetric":
		return p.Quo(p, scale)
	case "pytorch_half_pixel":
		if m == 1 {
			return new(big.Rat)
		}
	}
	p.Add(p, half).Quo(p, scale).Sub(p, half)
	if coord == "half_pixel_symmetric" {
		// The whole of the output is centred in the input: n/2 (1 - m/(n scale)) is added.
		adjust := new(big.Rat).Quo(big.NewRat(int64(m), int64(n)), scale)
		adjust.Sub(big.NewRat(1, 1), adjust).Mul(adjust, big.NewRat(int64(n), 2))
		p.Add(p, adjust)
	}
	return p
}

// floor is the largest whole number that is not above r.
func floor(r *big.Rat) int {
	q, _ := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	return int(q.Int64())
}

// resample lists what a coordinate reads, with coefficients. Beyond the border the last place counts.
func resample(mode, near string, p *big.Rat, n int) []tap {
	half := big.NewRat(1, 2)
	clamp := func(i int) int { return min(max(i, 0), n-1) }
	if mode == "nearest" {
		var i int
		switch near {
		case "floor":
			i = floor(p)
		case "ceil":
			i = -floor(new(big.Rat).Neg(p))
		case "round_prefer_ceil":
			i = floor(new(big.Rat).Add(p, half))
		default:
			i = -floor(new(big.Rat).Sub(half, p))
		}
		return []tap{{clamp(i), 1}}
	}
	i := floor(p)
	f := new(big.Rat).Sub(p, big.NewRat(int64(i), 1))
	sum := func(ts []tap) []tap { // a place that counts twice is one
		var out []tap
		for _, c := range ts {
			if k := slices.IndexFunc(out, func(o tap) bool { return o.from == c.from }); k >= 0 {
				out[k].coef = plus(out[k].coef, c.coef)
			} else {
				out = append(out, c)
			}
		}
		return out
	}
	one := big.NewRat(1, 1)
	if mode == "linear" {
		return sum([]tap{{clamp(i), rational(new(big.Rat).Sub(one, f))}, {clamp(i + 1), rational(f)}})
	}
	// Cubic convolution with coefficient a. Any a shows the same symmetry.
	a := big.NewRat(-3, 4)
	poly := func(d *big.Rat) *big.Rat {
		d = new(big.Rat).Abs(d)
		d2 := new(big.Rat).Mul(d, d)
		d3 := new(big.Rat).Mul(d2, d)
		r := new(big.Rat)
		if d.Cmp(one) <= 0 { // (a+2) d^3 - (a+3) d^2 + 1
			r.Mul(new(big.Rat).Add(a, big.NewRat(2, 1)), d3)
			r.Sub(r, new(big.Rat).Mul(new(big.Rat).Add(a, big.NewRat(3, 1)), d2))
			return r.Add(r, one)
		}
		// a d^3 - 5a d^2 + 8a d - 4a
		r.Sub(d3, new(big.Rat).Mul(big.NewRat(5, 1), d2))
		r.Add(r, new(big.Rat).Mul(big.NewRat(8, 1), d))
		r.Sub(r, big.NewRat(4, 1))
		return r.Mul(r, a)
	}
	var ts []tap
	for k := -1; k <= 2; k++ {
		ts = append(ts, tap{clamp(i + k), rational(poly(new(big.Rat).Sub(f, big.NewRat(int64(k), 1))))})
	}
	return sum(ts)
}
