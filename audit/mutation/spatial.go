package mutation

import (
	"math/rand/v2"
	"slices"

	"nero/data/space"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/orbit"
)

// spatial are the families of points, vectors and tensors of space, of matrix groups and of groups that users define.
func spatialFamilies() []family {
	haar := orbit.Spec{Haar: 12}
	points := func(out decode.OutputField) func(int) ports {
		return func(n int) ports { return records(rowsSpec("x", n, 3, space.TypePositions), rows(n, 3, 0.7, 1), out) }
	}
	return []family{
		{
			name: "shells", task: "points in space", doc: "points to numbers: a soft histogram of distances",
			group: fixed("E(3)"), orbit: haar, graph: shells, heldOut: variant{401, 6}, tuned: variant{501, 7},
			twins: []variant{{601, 5}, {602, 10}}, slack: 1e-9,
			ports: points(perSample(space.TypeUnchanged)),
		},
		{
			name: "pull", task: "vectors", doc: "points to a vector at each: differences weighted by distances",
			group: fixed("O(3)"), orbit: haar, graph: pull, heldOut: variant{402, 6}, tuned: variant{502, 5},
			twins: []variant{{603, 4}, {604, 8}}, ports: points(perNode(space.TypeVectors)),
		},
		{
			name: "spin", task: "vectors", doc: "places and velocities to an axial vector: weighted angular momentum",
			group: fixed("O(3)"), orbit: haar, graph: spin, heldOut: variant{403, 6}, tuned: variant{503, 7},
			twins: []variant{{605, 5}, {606, 9}},
			ports: func(n int) ports {
				p := records(space.Spec{Name: "x", Kind: (&space.Record{}).Kind(), Fields: []space.Spec{
					rowsSpec("places", n, 3, space.TypePositions), rowsSpec("velocities", n, 3, space.TypeVectors),
				}}, func(r *rand.Rand) space.Value {
					return &space.Record{
						Names:  []string{"places", "velocities"},
						Values: []space.Value{someRows(r, n, 3, 0.7, 1), someRows(r, n, 3, 0.6, 0)},
					}
				}, perSample(space.TypePseudovectors))
				return p
			},
		},
		{
			name: "stress", task: "tensors", doc: "points to a tensor: products of coordinates about the centre",
			group: fixed("O(3)"), orbit: haar, graph: stress, heldOut: variant{404, 6}, tuned: variant{504, 5},
			twins: []variant{{607, 4}, {608, 8}}, ports: points(perSample(space.TypeTensors)),
		},
		{
			name: "degrees", task: "irreps", doc: "points to 1x0e+1x1o+1x2e: harmonics of the points about the centre",
			group: fixed("O(3)"), orbit: haar, graph: degrees, heldOut: variant{405, 6}, tuned: variant{505, 7},
			twins: []variant{{609, 5}, {610, 9}}, slack: 1e-6,
			ports: points(perSample("1x0e+1x1o+1x2e")),
		},
		{
			name: "zoom", task: "scale", doc: "points to a vector that grows with them: weights of relative distances",
			group: fixed("Scale(3)"), orbit: orbit.Spec{Grid: []int{9}}, graph: zoom, heldOut: variant{406, 6},
			tuned: variant{506, 8}, twins: []variant{{611, 5}, {612, 9}},
			ports: points(perSample(space.TypeVectors)),
		},
		{
			name: "ratio", task: "scale", doc: "points to numbers: distances over their root mean square",
			group: fixed("Scale(3)"), orbit: orbit.Spec{Grid: []int{9}}, graph: ratio, heldOut: variant{407, 6},
			tuned: variant{507, 7}, twins: []variant{{613, 5}, {614, 9}},
			ports: points(perSample(space.TypeUnchanged)),
		},
		{
			name: "headings", task: "boxes in space",
			doc: "upright boxes to boxes: moved along their own axes and turned " +
				"by an angle that depends on their lengths",
			group: fixed("SOg(3)"), orbit: orbit.Spec{Grid: []int{24}}, graph: headings, heldOut: variant{408, 3},
			tuned: variant{508, 4}, twins: []variant{{615, 2}, {616, 5}}, slack: 1e-6,
			ports: func(n int) ports {
				return records(rowsSpec("x", n, 7, space.TypeBoxes), func(r *rand.Rand) space.Value {
					v := space.NewRows(n, 7)
					for i := range n {
						b := v.Row(i)
						for k := range 3 {
							b[k], b[3+k] = elementary.Normal(r), 0.5+r.Float64()
						}
						b[6] = (2*r.Float64() - 1) * 3.1
					}
					return v
				}, perNode(space.TypeBoxes))
			},
		},
		{
			name: "areas", task: "Lie groups", doc: "vectors of the plane to numbers: areas between them",
			group: fixed("SL(2)"), orbit: haar, graph: areas, heldOut: variant{409, 5}, tuned: variant{509, 6},
			twins: []variant{{617, 4}, {618, 7}}, slack: 1e-9,
			ports: func(n int) ports {
				return records(rowsSpec("x", n, 2, space.TypeVectors), rows(n, 2, 0.7, 0),
					perSample(space.TypeUnchanged))
			},
		},
		{
			name: "events", task: "Lie groups", doc: "events to numbers: their Lorentz products",
			group: fixed("Lorentz"), orbit: haar, graph: events, heldOut: variant{410, 5}, tuned: variant{510, 6},
			twins: []variant{{619, 4}, {620, 7}}, slack: 1e-9,
			ports: func(n int) ports {
				return records(rowsSpec("x", n, 4, space.TypeVectors), rows(n, 4, 0.6, 0),
					perSample(space.TypeUnchanged))
			},
		},
		{
			name: "spinors", task: "Lie groups", doc: "spinors to a spinor: weighted by functions of their products",
			group: fixed("SU(2)"), orbit: haar, graph: spinors, heldOut: variant{411, 5}, tuned: variant{511, 6},
			twins: []variant{{621, 4}, {622, 7}},
			ports: func(n int) ports {
				return records(rowsSpec("x", n, 4, "spinor"), rows(n, 4, 0.6, 0), perSample("spinor"))
			},
		},
		{
			name: "boosts", task: "user groups",
			doc:   "events of one dimension to numbers: t² - x², a group of one generator",
			group: fixed(boostFile), orbit: orbit.Spec{Grid: []int{9}}, graph: boosts, heldOut: variant{412, 5},
			tuned: variant{512, 6}, twins: []variant{{623, 4}, {624, 7}}, slack: 1e-9,
			ports: func(n int) ports {
				return records(rowsSpec("x", n, 2, space.TypeVectors), rows(n, 2, 0.7, 0),
					perSample(space.TypeUnchanged))
			},
		},
		{
			name: "klein", task: "user groups", doc: "four points to numbers: a mean over a group given by its table",
			group: fixed(kleinFile), orbit: orbit.Spec{All: true}, graph: kleinMean, heldOut: variant{413, 4},
			tuned: variant{513, 4}, twins: []variant{{625, 4}, {626, 4}},
			ports: func(n int) ports {
				return records(rowsSpec("x", n, 2, space.TypePositions), rows(n, 2, 0.7, 0),
					perSample(space.TypeUnchanged))
			},
		},
		{
			name: "triangle", task: "user groups", doc: "vectors to a vector: a mean over a group given by matrices",
			group: fixed(triangleFile), orbit: orbit.Spec{All: true}, graph: triangleMean, heldOut: variant{414, 3},
			tuned: variant{514, 4}, twins: []variant{{627, 2}, {628, 5}}, slack: 1e-5,
			ports: func(n int) ports {
				return records(rowsSpec("x", n, 3, space.TypeVectors), rows(n, 3, 0.7, 0), perSample(space.TypeVectors))
			},
		},
		{
			name: "atoms", task: "records",
			doc:   "places and kinds of atoms to an energy and forces: Gaussians of distances",
			group: fixed("E(3)"), orbit: haar, graph: atomsOf, heldOut: variant{415, 6}, tuned: variant{515, 5},
			twins: []variant{{629, 4}, {630, 8}}, slack: 1e-9,
			ports: func(n int) ports {
				return records(space.Spec{Name: "molecule", Kind: (&space.Record{}).Kind(), Fields: []space.Spec{
					rowsSpec("places", n, 3, space.TypePositions), rowsSpec("kinds", n, 1, space.TypeUnchanged),
				}}, func(r *rand.Rand) space.Value {
					k := space.NewRows(n, 1)
					for i := range k.Val {
						k.Val[i] = []float64{0.2, 0.5, 0.8}[r.IntN(3)]
					}
					return &space.Record{
						Names:  []string{"places", "kinds"},
						Values: []space.Value{someRows(r, n, 3, 0.8, 1), k},
					}
				}, decode.OutputField{Name: "energy", Type: space.TypeUnchanged, Per: space.PerSample},
					decode.OutputField{Name: "forces", Type: space.TypeVectors, Per: space.PerNode})
			},
		},
	}
}

// Groups as users write them.
const (
	boostFile = `name: Boosts of a line
lie:
  generators:
    - {name: boost, range: [-0.8, 0.8], matrix: [[0, 1], [1, 0]]}
`
	kleinFile = `name: Four group
table:
  elements: [e, a, b, c]
  products: [[e, a, b, c], [a, e, c, b], [b, c, e, a], [c, b, a, e]]
  representations:
    plane: {e: [[1, 0], [0, 1]], a: [[-1, 0], [0, 1]], b: [[1, 0], [0, -1]], c: [[-1, 0], [0, -1]]}
  permutations:
    corners: {e: [0, 1, 2, 3], a: [1, 0, 3, 2], b: [2, 3, 0, 1], c: [3, 2, 1, 0]}
space: plane
rows: corners
`
	triangleFile = `name: Triangle group
rotations:
  - [[-0.5, -0.866025403784439, 0], [0.866025403784439, -0.5, 0], [0, 0, 1]]
  - [[1, 0, 0], [0, -1, 0], [0, 0, -1]]
`
)

// between are the differences of all points, [N, P, P, 3], and the squares of their distances, [N, P, P].
func (s *sketch) between(x string) (apart, square string) {
	apart = s.at("apart", s.sub("apart", s.widen("to", x, 2), s.widen("from", x, 1)))
	return apart, s.at("squares", s.sum("distances", s.mul("squared", apart, apart), 3))
}

// about are the points about their mean.
func (s *sketch) about(x string) string {
	return s.at("centred", s.sub("centred", x, s.wide("centre", x, 1)))
}

func (s *sketch) exp(name, v string, by float64) string {
	return s.op(name, "Exp", []string{s.times(name+"-by", v, by)})
}

func shells(s *sketch, n int) {
	x := s.at("points", s.input("x", n, 3))
	_, sq := s.between(x)
	var cols []string
	for k, by := range []float64{-0.3, -1, -2.5} {
		id := string(rune('1' + k))
		cols = append(cols, s.widen("shell"+id, s.mean("mean"+id, s.at("shells", s.exp("near"+id, sq, by)), 1, 2), 1))
	}
	h := s.at("vector", s.join("features", 1, cols...))
	h = s.tanh("bounded", s.layer("hidden", s.times("gain", h, 6), 3, 6))
	s.answer("y", s.at("answer", s.layer("dense", h, 6, 4)), 4)
}

// pulls are the sums of differences under weights that fall with the distance, [N, P, 3].
func (s *sketch) pulls(apart, near string) string {
	return s.sum("pulls", s.mul("weighted", s.widen("each", near, 3), apart), 2)
}

func pull(s *sketch, n int) {
	x := s.at("points", s.input("x", n, 3))
	apart, sq := s.between(x)
	near := s.at("near", s.exp("near", sq, -0.7))
	s.answer("y", s.at("answer", s.at("vectors", s.pulls(apart, near))), n, 3)
}

// crossed is a×b of rows of vectors.
func (s *sketch) crossed(a, b string) string {
	m := func(name, v string, w []float32) string { return s.product(name, v, s.floats(w, 3, 3)) }
	next := []float32{0, 0, 1, 1, 0, 0, 0, 1, 0}
	last := []float32{0, 1, 0, 0, 0, 1, 1, 0, 0}
	return s.sub("cross", s.mul("cross-left", m("cross-a1", a, next), m("cross-b2", b, last)),
		s.mul("cross-right", m("cross-a2", a, s.weights("cross", last)), m("cross-b1", b, next)))
}

func spin(s *sketch, n int) {
	x, v := s.at("points", s.input("places", n, 3)), s.at("velocities", s.input("velocities", n, 3))
	_, sq := s.between(x)
	weight := s.widen("weights", s.tanh("crowd", s.mean("crowds", s.exp("near", sq, -1), 2)), 2)
	l := s.at("momenta", s.crossed(s.about(x), v))
	s.answer("y", s.at("answer", s.mean("mean", s.mul("weighted", l, s.at("weights", weight)), 1)), 3)
}

func stress(s *sketch, n int) {
	x := s.at("points", s.input("x", n, 3))
	_, sq := s.between(x)
	c := s.about(x)
	weight := s.at("weights", s.widen("weights", s.mean("crowds", s.exp("near", sq, -1), 2), 2))
	m := s.at("tensor", s.product("products", s.transpose("across", c, 0, 2, 1), s.mul("weighted", c, weight)))
	s.answer("y", s.at("answer", s.reshape("list", m, -1, 9)), 9)
}

func degrees(s *sketch, n int) {
	x := s.at("points", s.input("x", n, 3))
	_, sq := s.between(x)
	c := s.about(x)
	weight := s.widen("weights", s.mean("crowds", s.exp("near", sq, -1), 2), 2)
	w := s.mul("weighted", c, weight)
	scalar := s.at("scalar", s.op("scalar", "ReduceMean", []string{weight}, onnx.AttrInts("axes", 1),
		onnx.AttrInt("keepdims", 0)))
	vector := s.at("vector", s.mean("vector", w, 1))
	m := s.reshape("list", s.product("products", s.transpose("across", c, 0, 2, 1), w), -1, 9)
	const a, b = 3.872983346207417, 2.23606797749979 // sqrt(15), sqrt(5)
	basis := []float32{
		0, 0, -b / 2, 0, -a / 2, 0, a / 2, 0, 0, 0, a / 2, 0, 0, 0, 0,
		0, a / 2, 0, 0, 0, 0, 0, b, 0, 0, 0, 0, 0, a / 2, 0,
		a / 2, 0, 0, 0, 0, 0, 0, 0, a / 2, 0, 0, 0, -b / 2, 0, a / 2,
	}
	t := s.at("degree 2", s.times("small", s.product("degree", m, s.floats(s.weights("basis", basis), 9, 5)), 0.1))
	s.answer("y", s.at("answer", s.join("all", 1, scalar, vector, t)), 9)
}

// guarded is a denominator that is not 0 for points that are all the same, and too little more to be seen in others.
func (s *sketch) guarded(v string) string { return s.add("scale", v, s.number(1e-20)) }

// relative are squares of lengths over their mean, [N, P, 1].
func (s *sketch) relative(c string) (relative, scale string) {
	sq := s.op("lengths", "ReduceSum", []string{s.mul("squared", c, c), s.b.Ints(2)}, onnx.AttrInt("keepdims", 1))
	scale = s.at("scale", s.guarded(s.wide("mean-square", sq, 1)))
	return s.at("relative", s.op("relative", "Div", []string{sq, scale})), scale
}

func zoom(s *sketch, n int) {
	c := s.at("points", s.input("x", n, 3))
	r, scale := s.relative(c)
	w := s.at("weights", s.tanh("weights", s.times("half", r, 0.5)))
	y := s.mean("mean", s.mul("weighted", c, w), 1)
	if p := s.setting("power"); p != 0 { // the answer grows with another power
		y = s.mul("power", y, s.op("root", "Pow", []string{s.reshape("scales", scale, -1, 1), s.number(p / 2)}))
	}
	s.answer("y", s.at("answer", y), 3)
}

func ratio(s *sketch, n int) {
	c := s.at("points", s.input("x", n, 3))
	_, sq := s.between(c)
	scale := s.at("scale", s.guarded(s.wide("mean-square", sq, 1, 2)))
	r := s.at("relative", s.op("relative", "Div", []string{sq, scale}))
	h := s.at("vector", s.powers(s.tanh("bounded", r), 3, 1, 2))
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 6), 3, 4)), 4)
}

// headings moves boxes along their own axes.
func headings(s *sketch, n int) {
	x := s.at("boxes", s.input("x", n, 7))
	part := func(name string, from, to int64) string {
		return s.at(name, s.op(name, "Slice", []string{x, s.b.Ints(from), s.b.Ints(to), s.b.Ints(2)}))
	}
	flat, up, size, yaw := part("flat", 0, 2), part("up", 2, 3), part("size", 3, 6), part("yaw", 6, 7)
	step := s.at("step", s.tanh("step", s.layer("steps", size, 3, 1)))
	dir := s.at("direction", s.join("direction", 2, s.op("cosine", "Cos", []string{yaw}),
		s.op("sine", "Sin", []string{yaw})))
	moved := s.at("moved", s.add("moved", flat, s.mul("ahead", dir, step)))
	bent := s.at("angle", s.add("bent", yaw, s.tanh("bend", s.layer("bends", size, 3, 1))))
	const full = 6.283185307179586
	if s.setting("no wrap") == 0 {
		turns := s.op("turns", "Floor", []string{s.add("turns-half", s.times("turns-of", bent, 1/full), s.number(0.5))})
		bent = s.at("wrapped", s.sub("wrapped", bent, s.times("turns-full", turns, full)))
	}
	grown := s.at("sizes", s.op("grown", "Exp", []string{s.times("growth", s.tanh("grow", s.layer("grows", size, 3, 3)),
		0.3)}))
	s.answer("y", s.at("answer", s.join("box", 2, moved, up, grown, bent)), n, 7)
}

// forms are the products of all pairs of rows under a matrix, bounded, as columns of powers.
func (s *sketch) forms(x string, w int, form []float32, times float64) string {
	other := s.product("form", x, s.floats(s.weights("form", form), w, w))
	g := s.at("products", s.product("products", other, s.transpose("across", x, 0, 2, 1)))
	return s.at("vector", s.powers(s.at("bounded", s.tanh("bounded", s.times("by", g, times))), 4, 1, 2))
}

func areas(s *sketch, n int) {
	x := s.at("rows", s.input("x", n, 2))
	h := s.forms(x, 2, []float32{0, 1, -1, 0}, 0.5)
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 6), 4, 3)), 3)
}

func events(s *sketch, n int) {
	x := s.at("rows", s.input("x", n, 4))
	h := s.forms(x, 4, []float32{1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1}, 0.5)
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 6), 4, 3)), 3)
}

func boosts(s *sketch, n int) {
	x := s.at("rows", s.input("x", n, 2))
	h := s.forms(x, 2, []float32{1, 0, 0, -1}, 0.6)
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 6), 4, 3)), 3)
}

func spinors(s *sketch, n int) {
	x := s.at("rows", s.input("x", n, 4))
	g := s.at("products", s.product("products", x, s.transpose("across", x, 0, 2, 1)))
	w := s.at("weights", s.widen("weights", s.mean("crowd", s.tanh("bounded", g), 2), 2))
	s.answer("y", s.at("answer", s.mean("mean", s.mul("weighted", x, w), 1)), 4)
}

// copies are the moved copies of flat inputs: v times each of the matrices, [N, copies, size].
func (s *sketch) copies(v string, size int, matrices [][]float32) string {
	var all []string
	for i, m := range matrices {
		id := string(rune('1' + i))
		all = append(all, s.widen("one"+id, s.at("copy"+id, s.product("copy"+id, v, s.floats(s.weights("copy"+id, m),
			size, size))), 1))
	}
	return s.join("copies", 1, all...)
}

// kleinMean averages a network over the four elements.
func kleinMean(s *sketch, _ int) {
	x := s.at("rows", s.input("x", 4, 2))
	corners := [][]int{{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}}
	signs := [][]float32{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}}
	var all [][]float32
	for e, to := range corners {
		m := make([]float32, 64)
		for i := range 4 {
			for c := range 2 {
				m[(2*i+c)*8+2*to[i]+c] = signs[e][c]
			}
		}
		all = append(all, m)
	}
	c := s.copies(s.reshape("flat", x, -1, 8), 8, all)
	h := s.at("each", s.tanh("bounded", s.layer("hidden", s.times("gain", c, 3), 8, 10)))
	h = s.at("vector", s.mean("mean", h, 1))
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain2", h, 8), 10, 3)), 3)
}

// triangleMean averages a network over the six rotations, each turned back.
func triangleMean(s *sketch, n int) {
	const r3 = 0.8660254037844386
	a := []float32{-0.5, -r3, 0, r3, -0.5, 0, 0, 0, 1} // by rows
	b := []float32{1, 0, 0, 0, -1, 0, 0, 0, -1}
	one := []float32{1, 0, 0, 0, 1, 0, 0, 0, 1}
	times := func(x, y []float32) []float32 {
		z := make([]float32, 9)
		for i := range 3 {
			for j := range 3 {
				for k := range 3 {
					z[3*i+j] += float32(x[3*i+k] * y[3*k+j])
				}
			}
		}
		return z
	}
	elements := [][]float32{one, a, times(a, a), b, times(a, b), times(times(a, a), b)}
	x := s.at("rows", s.input("x", n, 3))
	w1, w2 := s.floats(s.normal(3*n*8, 0.7), 3*n, 8), s.floats(s.normal(8*3, 0.5), 8, 3)
	bias := s.floats(s.normal(8, 0.3), 8)
	var all []string
	for i, m := range elements {
		id := string(rune('1' + i))
		back := slices.Clone(m)
		for r := range 3 {
			for c := range 3 {
				back[3*c+r] = m[3*r+c]
			}
		}
		// rows times the matrix is the transpose acting on columns: every element is there, so any order will do
		h := s.product("copy"+id, x, s.floats(s.weights("copy"+id, m), 3, 3))
		h = s.tanh("bounded"+id,
			s.add("hidden"+id, s.product("weights"+id, s.reshape("flat"+id, h, -1, int64(3*n)), w1),
				bias))
		v := s.product("back"+id, s.product("vector"+id, h, w2), s.floats(s.weights("back"+id, back), 3, 3))
		all = append(all, s.widen("one"+id, s.at("one"+id, v), 1))
	}
	s.answer("y", s.at("answer", s.mean("mean", s.join("all", 1, all...), 1)), 3)
}

// atomsOf has forces that are minus the gradient of the energy sum over pairs of c_i c_j exp(-0.8 d²), each pair twice.
func atomsOf(s *sketch, n int) {
	x, z := s.at("points", s.input("places", n, 3)), s.at("kinds", s.input("kinds", n, 1))
	apart, sq := s.between(x)
	near := s.at("near", s.exp("near", sq, -0.8))
	both := s.at("charges", s.product("charged", z, s.transpose("row", z, 0, 2, 1)))
	w := s.mul("terms", both, near)
	energy := s.widen("column", s.sum("total", w, 1, 2), 1)
	f := w
	if d := s.setting("head"); d != 0 { // a head of its own, with another exponent
		f = s.mul("head", both, s.exp("wide", sq, -0.8*(1-d)))
	}
	pulls := s.at("pulls", s.pulls(apart, f))
	s.answer("energy", s.at("energy", energy), 1)
	s.answer("forces", s.at("forces", s.times("four", pulls, 3.2)), n, 3)
}
