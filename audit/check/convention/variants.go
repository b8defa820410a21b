package convention

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

type mat = [2][2]float64

func mul(a, b mat) mat {
	var c mat
	for i := range 2 {
		for j := range 2 {
			c[i][j] = float64(a[i][0]*b[0][j]) + float64(a[i][1]*b[1][j])
		}
	}
	return c
}

func apply(a mat, v [2]float64) [2]float64 {
	return [2]float64{float64(a[0][0]*v[0]) + float64(a[0][1]*v[1]), float64(a[1][0]*v[0]) + float64(a[1][1]*v[1])}
}

func transposed(a mat) mat { return mat{{a[0][0], a[1][0]}, {a[0][1], a[1][1]}} }

func det(a mat) float64 { return float64(a[0][0]*a[1][1]) - float64(a[0][1]*a[1][0]) }

// frame is a change of coordinates of the plane by an orthogonal matrix R(turn)·M^k, M the mirror of left and right.
type frame struct {
	name string
	f    mat
	// degrees
	turn float64
	flip bool
}

// frames are the changes that people make without noticing.
func frames() []frame {
	return []frame{
		{"rows run the other way (y up)", mat{{1, 0}, {0, -1}}, 180, true},
		{"columns run the other way (mirrored handedness)", mat{{-1, 0}, {0, 1}}, 0, true},
		{"rows and columns are exchanged (transposed)", mat{{0, 1}, {1, 0}}, 90, true},
		{"both axes run the other way", mat{{-1, 0}, {0, -1}}, 180, false},
		{"rows and columns are exchanged and both run the other way", mat{{0, -1}, {-1, 0}}, 270, true},
		{"a quarter turn lies between the frames", mat{{0, 1}, {-1, 0}}, 90, false},
		{"three quarter turns lie between the frames", mat{{0, -1}, {1, 0}}, 270, false},
	}
}

// chart says which coordinates of an element mean what, -1 for none.
type chart struct{ angle, mirror, dx, dy int }

func chartOf(G group.Group) chart {
	c := chart{-1, -1, -1, -1}
	for i, a := range G.Chart() {
		switch {
		case a.Circle() && c.angle < 0:
			c.angle = i
		case a.Kind == group.KindMirror && c.mirror < 0:
			c.mirror = i
		case a.Kind == group.KindRight && c.dx < 0:
			c.dx = i
		case a.Kind == group.KindDown && c.dy < 0:
			c.dy = i
		}
	}
	return c
}

// relabel is another element in place of g.
type relabel struct {
	name string
	// the same, of an input
	input string
	do    string
	to    func(g group.Element) group.Element
	// coordinates may lie outside their range: the action sees them as they are
	raw bool
}

// builder collects variants.
type builder struct {
	s    *search
	list []*variant
}

func (b *builder) add(v *variant) { b.list = append(b.list, v) }

// ours reports whether an action reads its elements as package group writes them. One of another package may take
// degrees for radians.
func ours(a action.Action) bool {
	switch a.(type) {
	case *action.Image, *action.Mask, *action.Tensor, *action.Scores, *action.Frames, *action.Field, *action.Boxes,
		action.Trivial:
		return true
	}
	return false
}

// relabels are the changes of the element itself that apply to the group and to the action that is given the element.
func (b *builder) relabels(a action.Action) []relabel {
	G := a.Group()
	c := chartOf(G)
	planar, _ := G.(group.Planar)
	out := []relabel{{
		name:  "moves by the inverse element",
		input: "moves by the inverse element: clockwise for counter-clockwise, or a shift of the other sign",
		do:    "declare the inverse", to: G.Inv,
	}}
	if planar == nil {
		return out
	}
	for _, f := range frames() {
		to := conjugate(G, c, f)
		if b.sound(planar, to, f) {
			name := "moves in another frame: " + f.name
			out = append(out, relabel{
				name: name, input: name,
				do: "declare the action in that frame, or turn the data into the declared one", to: to,
			})
		}
	}
	if (c.angle >= 0 && c.mirror >= 0) || (c.angle >= 0 && c.dx >= 0 && c.dy >= 0) {
		for _, o := range []struct {
			name string
			back bool
		}{
			{"mirrors after it turns, or turns after it shifts", false},
			{"shifts after it turns, counted along axes that turn with it", true},
		} {
			name := "composes in the other order: " + o.name
			out = append(out, relabel{
				name: name, input: name, do: "reverse the order of the parts",
				to: reversed(G, planar, c, o.back),
			})
		}
	}
	if c.angle >= 0 && !ours(a) {
		for _, u := range []struct {
			name string
			by   float64
		}{{"degrees where it takes radians", math.Pi / 180}, {"radians where it takes degrees", 180 / math.Pi}} {
			name := "is given " + u.name
			out = append(out, relabel{
				name: name, input: name, do: "convert the angle before the action uses it",
				raw: true, to: func(g group.Element) group.Element {
					h := slices.Clone(g)
					h[c.angle] *= u.by
					return h
				},
			})
		}
	}
	return out
}

// conjugate is g seen from another frame, F g F⁻¹.
func conjugate(G group.Group, c chart, f frame) func(g group.Element) group.Element {
	return func(g group.Element) group.Element {
		h := slices.Clone(g)
		if c.angle >= 0 {
			if f.flip {
				h[c.angle] = -h[c.angle]
			}
			if c.mirror >= 0 && math.Round(g[c.mirror]) != 0 {
				h[c.angle] += 2 * f.turn
			}
		}
		if c.dx >= 0 && c.dy >= 0 {
			t := apply(f.f, [2]float64{g[c.dx], g[c.dy]})
			h[c.dx], h[c.dy] = t[0], t[1]
		}
		return G.Mul(h, G.Identity()) // into the canonical range
	}
}

// sound reports whether the relabelled elements move the plane as F g F⁻¹ does; coordinates of groups that this package
// does not know may mean something else.
func (b *builder) sound(G group.Planar, to func(group.Element) group.Element, f frame) bool {
	_, torus := G.(group.Torus)
	for _, j := range b.s.use {
		g := b.s.p.Elements[j].G
		a, t := G.Affine(g)
		a, t = mul(mul(f.f, a), transposed(f.f)), apply(f.f, t)
		c, u := G.Affine(to(g))
		for i := range 2 {
			for k := range 2 {
				if !(math.Abs(a[i][k]-c[i][k]) <= 1e-9) {
					return false
				}
			}
			if !torus && !(math.Abs(t[i]-u[i]) <= 1e-9*(1+math.Abs(t[i]))) {
				return false
			}
		}
	}
	return true
}

// reversed reads the coordinates of an element in the other order: a shift before the turn is moved by it, back undoes
// that. On mirrors and turns it is its own inverse.
func reversed(G group.Group, planar group.Planar, c chart, back bool) func(g group.Element) group.Element {
	return func(g group.Element) group.Element {
		h := slices.Clone(g)
		if c.mirror >= 0 && math.Round(g[c.mirror]) != 0 {
			h[c.angle] = -h[c.angle]
		}
		if c.dx >= 0 && c.dy >= 0 {
			a, _ := planar.Affine(g)
			if back {
				a = transposed(a)
			}
			t := apply(a, [2]float64{g[c.dx], g[c.dy]})
			h[c.dx], h[c.dy] = t[0], t[1]
		}
		return G.Mul(h, G.Identity())
	}
}

// at are the elements of the audit, changed, and for the output side inverted.
func (b *builder) at(to func(group.Element) group.Element, back bool) func(j int) group.Element {
	G := b.s.p.Subject.Plan.Group
	return func(j int) group.Element {
		h := to(b.s.p.Elements[j].G)
		if back {
			h = G.Inv(h)
		}
		return h
	}
}

func same(g group.Element) group.Element { return g }

// rawInverse is the inverse of coordinates that must not be brought into their range: the angle changes its sign if
// nothing mirrors.
func (b *builder) rawInverse(h group.Element) group.Element {
	c := chartOf(b.s.p.Subject.Plan.Group)
	if c.mirror >= 0 && math.Round(h[c.mirror]) != 0 {
		return h
	}
	o := slices.Clone(h)
	o[c.angle] = -o[c.angle]
	return o
}

// outputs are the variants of the output side.
func (b *builder) outputs() {
	plan := b.s.p.Subject.Plan
	G, in, out := plan.Group, plan.In, plan.Out
	if _, invariant := out.(action.Trivial); !invariant {
		b.add(&variant{
			name: "the output does not move: it is invariant", declare: "declare the output invariant",
			back: unmoved, still: true,
		})
		for _, r := range b.relabels(out) {
			at := b.at(r.to, true)
			if r.raw {
				at = func(j int) group.Element { return b.rawInverse(r.to(b.s.p.Elements[j].G)) }
			}
			b.add(&variant{
				name: "the output " + r.name, declare: "on the output side " + r.do, back: moving(out, at),
				unit: r.raw,
			})
		}
	} else if z, err := in.Apply(G.Identity(), b.s.y0); err == nil && z.Form() == b.s.y0.Form() {
		b.add(&variant{
			name:    "the output moves as the input does",
			declare: "declare the action of the input for the output", back: moving(in, b.at(same, true)),
		})
		for _, r := range b.relabels(in) {
			if r.raw {
				continue
			}
			name := "the output moves as the input does, and " + r.name
			if rest, ok := strings.CutPrefix(r.name, "moves "); ok {
				name = "the output moves as the input does, " + rest
			}
			b.add(&variant{
				name: name, declare: "declare the action of the input for the output, and " + r.do,
				back: moving(in, b.at(r.to, true)),
			})
		}
	}
	b.maps()
	b.fields()
	b.vectors()
}

// maps are variants of outputs on a pixel grid whose places or channels move in another way than declared.
func (b *builder) maps() {
	plan := b.s.p.Subject.Plan
	planar, ok := plan.Group.(group.Planar)
	c, h, w := space.Grid(b.s.y0)
	if !ok || h < 2 || w < 2 {
		return
	}
	o, declared := action.OptionsOf(plan.Out)
	if !declared {
		if o, ok = action.OptionsOf(plan.In); !ok {
			return
		}
		o.Window = nil
	}
	rep, mixes := action.RepresentationOf(plan.Out)
	if !mixes {
		rep = action.Identical()
	}
	put := func(name, declare string, rep action.Representation, at func(group.Element) (mat, [2]float64)) {
		if a := gridAction(relabelled{planar, at}, b.s.y0, o, rep); a != nil {
			b.add(&variant{name: name, declare: declare, back: moving(a, b.at(same, true))})
		}
	}
	if !declared {
		put("the output is a map that moves with the picture",
			"declare the output equivariant: its places move and its channels stay", action.Identical(), planar.Affine)
	} else if rep.Dim() > 1 {
		put("the places of the output move and its channels do not", "declare the channels of the output trivial",
			action.Identical(), planar.Affine)
		b.add(&variant{
			name:    "the channels of the output move and its places do not",
			declare: "declare an output without places", back: b.channelsOnly(rep),
		})
	}
	if x := space.Picture(b.s.x0); x != nil && (x.H != h || x.W != w) {
		sx, sy := float64(w)/float64(x.W), float64(h)/float64(x.H)
		put(fmt.Sprintf("the output shifts by pixels of its own, %.3g of those of the input", sx),
			"declare shifts of the output in its own pixels", rep,
			func(g group.Element) (mat, [2]float64) {
				a, t := planar.Affine(g)
				return a, [2]float64{t[0] * sx, t[1] * sy}
			})
	}
	if rep.Dim() > 1 {
		for _, f := range frames() {
			put("the map of the output lies in another frame than its channels: "+f.name,
				"turn the map of the output into the declared frame", rep,
				func(g group.Element) (mat, [2]float64) {
					a, t := planar.Affine(g)
					return mul(mul(f.f, a), transposed(f.f)), apply(f.f, t)
				})
		}
	}
	if c%2 == 0 && b.s.y0.Kind() != space.KindField {
		for _, v := range vectorKinds() {
			if r, err := action.Given(plan.Group, v.name, 2, v.matrix(planar)); err == nil {
				put("the output is a field of vectors, "+v.name, "declare the channels of the output as vectors", r,
					planar.Affine)
			}
		}
	}
	if _, ok := b.s.y0.(space.Linear); ok {
		if a := gridAction(relabelled{planar, planar.Affine}, b.s.y0, o, rep); a != nil {
			b.add(&variant{
				name:    "the output changes its sign under mirrors (a pseudo-scalar)",
				declare: "declare the sign of the output under mirrors",
				back:    b.signed(moving(a, b.at(same, true)), planar),
			})
		}
	}
}

// of is the group whose elements a relabelled group has.
func of(G group.Planar) group.Group {
	if r, ok := G.(relabelled); ok {
		return r.Planar
	}
	return G
}

// gridAction is an action on values like the given one; nil if there is none.
func gridAction(G group.Planar, like space.Value, o action.Options, rep action.Representation) action.Action {
	var a action.Action
	var err error
	switch like.(type) {
	case *space.Image:
		if rep.Dim() > 1 {
			return nil
		}
		a, err = action.NewImage(G, space.Spec{Kind: like.Kind()}, o)
	case *space.Mask:
		a, err = action.NewMask(G, space.Spec{Kind: like.Kind()}, o, 0)
	case *space.Frames:
		if rep.Dim() > 1 {
			return nil
		}
		a, err = framesAction(G, of(G), o)
	case *space.Field:
		var t *action.Tensor
		t, err = action.NewTensor(G, space.Spec{Shape: []int{2, -1, -1}}, o, rep)
		a = fieldAction{t}
	case *space.Tensor:
		a, err = action.NewTensor(G, space.Spec{Shape: []int{-1, -1, -1}}, o, rep)
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	return a
}

// channelsOnly moves the channels back and leaves the places.
func (b *builder) channelsOnly(rep action.Representation) motion {
	G := b.s.p.Subject.Plan.Group
	still, ok := G.(group.Planar)
	if !ok {
		return nil
	}
	a := gridAction(relabelled{still, func(group.Element) (mat, [2]float64) {
		return mat{{1, 0}, {0, 1}},
			[2]float64{}
	}}, b.s.y0, action.Options{}, rep)
	if a == nil {
		return func(int, space.Value) (space.Value, error) { return nil, errors.New("no such action") }
	}
	return moving(a, b.at(same, true))
}

// signed multiplies what a motion gives by the sign of the element's determinant.
func (b *builder) signed(m motion, G group.Planar) motion {
	return func(j int, v space.Value) (space.Value, error) {
		z, err := m(j, v)
		if err != nil {
			return nil, err
		}
		if a, _ := G.Affine(b.s.p.Elements[j].G); det(a) > 0 {
			return z, nil
		}
		x := z.Numbers()
		y := make([]float64, len(x))
		for i := range x {
			y[i] = -x[i]
		}
		if w := withNumbers(z, y); w != nil {
			return w, nil
		}
		return nil, fmt.Errorf("%s values have no sign", z.Kind())
	}
}

// kind is a way in which a vector of the plane moves.
type kind struct {
	name   string
	matrix func(G group.Planar) func(g group.Element) []float64
}

// vectorKinds are the ways in which pairs of numbers move as vectors.
func vectorKinds() []kind {
	in := func(f mat) func(G group.Planar) func(g group.Element) []float64 {
		return func(G group.Planar) func(g group.Element) []float64 {
			return func(g group.Element) []float64 {
				a, _ := G.Affine(g)
				a = mul(mul(f, a), transposed(f))
				return []float64{a[0][0], a[0][1], a[1][0], a[1][1]}
			}
		}
	}
	return []kind{
		{"x to the right and y down", in(mat{{1, 0}, {0, 1}})},
		{"x to the right and y up", in(mat{{1, 0}, {0, -1}})},
		{"y before x, down", in(mat{{0, 1}, {1, 0}})},
		{"y before x, up", in(mat{{0, -1}, {1, 0}})},
	}
}

// vectors are variants of outputs without places that move as vectors, and of matrices that were written the other way.
func (b *builder) vectors() {
	plan := b.s.p.Subject.Plan
	y, ok := b.s.y0.(*space.Tensor)
	if !ok || len(y.Shape) != 1 {
		return
	}
	if planar, ok := plan.Group.(group.Planar); ok && y.Shape[0]%2 == 0 {
		for _, v := range vectorKinds() {
			r, err := action.Given(plan.Group, v.name, 2, v.matrix(planar))
			if err != nil {
				continue
			}
			if a, err := action.NewTensor(plan.Group, space.Spec{Shape: []int{-1}},
				action.Options{}, r); err == nil {
				b.add(&variant{
					name:    "the output is a vector, " + v.name,
					declare: "declare that representation of the output", back: moving(a, b.at(same, true)),
				})
			}
		}
	}
	if _, invariant := plan.Out.(action.Trivial); invariant {
		return
	}
	if m := newLinear(plan.Out, b.s.y0); m != nil {
		for _, v := range m.kinds() {
			b.add(&variant{
				name: "the output moves with " + v.name, declare: "write the matrices of the output that way",
				back: m.motion(b.at(same, true), v.change),
			})
		}
	}
}

// inputs are the variants of the input side. Relabellings that map the elements of the audit to each other are the same
// claim as on the output side, or no other claim at all where the output is invariant, and are left out.
func (b *builder) inputs() {
	plan := b.s.p.Subject.Plan
	in := plan.In
	for _, r := range b.relabels(in) {
		if !r.raw && b.closed(r.to) {
			continue
		}
		b.add(&variant{
			name: "the input " + r.input, declare: "on the input side " + r.do, key: "in " + r.name,
			in: moving(in, b.at(r.to, false)), unit: r.raw,
		})
	}
	m := newLinear(in, b.s.x0)
	if m == nil {
		return
	}
	for _, v := range m.kinds() {
		if v.orthogonal && b.closedUnderInverse() {
			if _, invariant := plan.Out.(action.Trivial); invariant {
				continue
			}
		}
		b.add(&variant{
			name: "the input moves with " + v.name, declare: "write the matrices of the input that way",
			key: "in " + v.name, in: m.motion(b.at(same, false), v.change),
		})
	}
	if m.n > 1 {
		b.add(&variant{
			name:    "the points turn about their own mean",
			declare: "subtract the mean of the points before they move", key: "mean", in: m.about(b.at(same, false)),
		})
	}
	if m.offset {
		b.add(&variant{
			name: "the points turn about the origin", declare: "leave out the centre of the action",
			key: "origin", in: m.motion(b.at(same, false), nil),
		})
	}
}

// closed reports whether a relabelling maps the elements that are used to elements of the audit.
func (b *builder) closed(to func(group.Element) group.Element) bool {
	G := b.s.p.Subject.Plan.Group
	for _, j := range b.s.use {
		h := to(b.s.p.Elements[j].G)
		near := G.Dist(h, G.Identity())
		for _, e := range b.s.p.Elements {
			near = min(near, G.Dist(h, e.G))
		}
		if !(near <= 1e-6) {
			return false
		}
	}
	return true
}

func (b *builder) closedUnderInverse() bool { return b.closed(b.s.p.Subject.Plan.Group.Inv) }

// centres are variants about other centres, of the input, of the output and of both.
func (b *builder) centres() {
	plan := b.s.p.Subject.Plan
	planar, ok := plan.Group.(group.Planar)
	if !ok {
		return
	}
	if _, torus := plan.Group.(group.Torus); torus {
		return
	}
	turns := false
	for _, j := range b.s.use {
		a, _ := planar.Affine(b.s.p.Elements[j].G)
		turns = turns || a != mat{{1, 0}, {0, 1}}
	}
	o, ok := action.OptionsOf(plan.In)
	x := space.Picture(b.s.x0)
	if !turns || !ok || x == nil || o.Window != nil || o.Kernel == action.Up3 {
		return
	}
	if min(x.H, x.W) < 12 {
		return // nothing would be left of a picture whose border is blanked
	}
	out, moves := action.OptionsOf(plan.Out)
	rep, mixes := action.RepresentationOf(plan.Out)
	if !mixes {
		rep = action.Identical()
	}
	for _, d := range offsets() {
		about := relabelled{planar, func(g group.Element) (mat, [2]float64) {
			a, t := planar.Affine(g)
			m := apply(a, d.by)
			return a, [2]float64{t[0] + d.by[0] - m[0], t[1] + d.by[1] - m[1]}
		}}
		inAbout := gridAction(about, b.s.x0, o, action.Identical())
		if inAbout == nil {
			return
		}
		key := fmt.Sprintf("centre %v", d.by)
		forth := moving(inAbout, b.at(same, false))
		b.add(&variant{
			name:    "the input turns about " + d.name,
			declare: "turn the input about that centre, or move the picture by it before the model", centre: true,
			frame: true,
			key:   key, in: forth,
		})
		if !moves {
			continue
		}
		outAbout := gridAction(about, b.s.y0, out, rep)
		if outAbout == nil {
			continue
		}
		back := moving(outAbout, b.at(same, true))
		b.add(&variant{
			name:    "the output turns about " + d.name,
			declare: "turn the output about that centre, or move the map by it after the model", centre: true,
			frame: true,
			key:   "blanked", back: back,
		})
		b.add(&variant{
			name: "input and output turn about " + d.name, declare: "turn both about that centre", centre: true,
			frame: true,
			key:   key, in: forth, back: back,
		})
	}
}

// offset is another centre, in pixels to the right and down from (n-1)/2.
type offset struct {
	name string
	by   [2]float64
}

func offsets() []offset {
	out := []offset{
		{"n/2 in place of (n-1)/2", [2]float64{0.5, 0.5}},
		{"n/2 - 1 in place of (n-1)/2", [2]float64{-0.5, -0.5}},
	}
	for _, step := range []float64{0.5, 1} {
		for y := -1; y <= 1; y++ {
			for x := -1; x <= 1; x++ {
				if x == 0 && y == 0 || step == 0.5 && x == y {
					continue
				}
				by := [2]float64{step * float64(x), step * float64(y)}
				out = append(out, offset{
					fmt.Sprintf("a centre %+g px right and %+g px down of (n-1)/2", by[0], by[1]),
					by,
				})
			}
		}
	}
	return out
}
