package mutation

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/unroll"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// world is what a model of points, sets, molecules or signals reads and returns, each port declared as a study declares
// it.
type world struct {
	// of the samples
	in space.Spec
	// of signals: the model sees this many numbers of a longer recording
	window int
	out    []decode.OutputField
	// of a model that reads frame by frame
	steps *unroll.Spec
	// samples for one number of the output; 0 for 1
	stride float64
	draw   func(r *rand.Rand) space.Value
}

const (
	corners   = 6 // points of a cloud and atoms of a molecule
	members   = 8 // rows of a bag
	features  = 3 // of a row
	recording = 64
	heard     = 32 // numbers of a recording that a model of signals reads
	frame     = 4  // numbers of a frame
	moments   = 4  // pictures of a film
	filmSide  = 8
)

// rowsSpec are rows of nodes.
func rowsSpec(name string, n, w int, typ string) space.Spec {
	s := space.SpecOf(name, space.NewRows(n, w))
	s.Type, s.Per = typ, space.PerNode
	return s
}

// cloudSpec are points of space.
func cloudSpec(name string) space.Spec { return rowsSpec(name, corners, 3, space.TypePositions) }

// drawCloud draws points about a place that is not the origin.
func drawCloud(r *rand.Rand) space.Value {
	v := space.NewRows(corners, 3)
	for i := range v.Val {
		v.Val[i] = float64(0.7*elementary.Normal(r)) + []float64{0.3, -0.2, 0.25}[i%3]
	}
	return v
}

// drawSignal draws noise.
func drawSignal(n int) func(*rand.Rand) space.Value {
	return func(r *rand.Rand) space.Value {
		v := space.NewSignal(1, n, 0)
		for i := range v.Val {
			v.Val[i] = elementary.Normal(r)
		}
		return v
	}
}

// spatialBases are the models of points in space, of sets, molecules and signals.
func spatialBases() []Base {
	clouds := func(f decode.OutputField) *world {
		return &world{in: cloudSpec("x"), out: []decode.OutputField{f}, draw: drawCloud}
	}
	signal := space.SpecOf("x", space.NewSignal(1, heard, 0))
	long := space.SpecOf("x", space.NewSignal(1, recording, 0))
	heardAs := []decode.OutputField{{Name: "y", Kind: signal.Kind}}
	return []Base{
		{
			Name: "cloud", Doc: "points of space to numbers by their distances", build: cloud,
			world: clouds(decode.OutputField{Name: "y", Type: space.TypeUnchanged, Per: space.PerSample}),
		},
		{
			Name: "arrow",
			Doc: "points of space to a vector: their mean about their centre, weighted by functions of " +
				"distances", build: arrow,
			world: clouds(decode.OutputField{Name: "y", Type: space.TypeVectors, Per: space.PerSample}),
		},
		{
			Name: "shape", Doc: "points of space to the five components of degree 2, declared 1x2e", build: shape,
			world: clouds(decode.OutputField{Name: "y", Type: "1x2e", Per: space.PerSample}),
		},
		{
			Name: "bag", Doc: "a set of rows to numbers: a network of each row, a sum, a dense layer", build: bag,
			world: &world{
				in:  rowsSpec("x", members, features, space.TypeUnchanged),
				out: []decode.OutputField{{Name: "y", Type: space.TypeUnchanged, Per: space.PerSample}},
				draw: func(r *rand.Rand) space.Value {
					v := space.NewRows(members, features)
					for i := range v.Val {
						v.Val[i] = elementary.Normal(r)
					}
					return v
				},
			},
		},
		{Name: "molecule", Doc: "positions and species of atoms to an energy of pairs, and to forces that are minus " +
			"its gradient in closed form", build: molecule, world: &world{
			in: space.Spec{Name: "molecule", Kind: space.KindRecord, Fields: []space.Spec{
				cloudSpec("positions"), rowsSpec("species", corners, 1, space.TypeUnchanged),
			}},
			out: []decode.OutputField{
				{Name: "energy", Type: space.TypeUnchanged, Per: space.PerSample},
				{Name: "forces", Type: space.TypeVectors, Per: space.PerNode},
			},
			draw: func(r *rand.Rand) space.Value {
				s := space.NewRows(corners, 1)
				for i := range s.Val {
					s.Val[i] = []float64{1, 6, 7, 8}[r.IntN(4)]
				}
				return &space.Record{Names: []string{"positions", "species"}, Values: []space.Value{drawCloud(r), s}}
			},
		}},
		{
			Name: "ring", Doc: "signal to signal, two convolutions, ends joined", build: ring,
			world: &world{in: signal, out: heardAs, draw: drawSignal(heard)},
		},
		{
			Name: "window", Doc: "a window of a longer signal to a signal, two convolutions without padding",
			build: window, world: &world{in: long, window: heard, out: heardAs, draw: drawSignal(recording)},
		},
		{Name: "steps", Doc: "a window of a longer signal to a number for each frame of 4; read frame by frame, with " +
			"a state", build: steps, world: &world{
			in: long, window: heard, out: heardAs, stride: frame, draw: drawSignal(recording),
			steps: &unroll.Spec{
				Input: "x", Output: "y", Frame: frame,
				States: []unroll.State{{In: "state", Out: "next", Shape: []int{1, 3}}},
			},
		}},
		{Name: "film", Doc: "pictures in the order of time to pictures, a convolution of each and a state, borders " +
			"joined", build: film, world: &world{
			in:  space.SpecOf("x", space.NewFrames(moments, 1, filmSide, filmSide)),
			out: []decode.OutputField{{Name: "y", Kind: (&space.Frames{}).Kind()}},
			draw: func(r *rand.Rand) space.Value {
				f := &space.Frames{}
				for range moments {
					m := space.NewImage(1, filmSide, filmSide)
					for i := range m.Pix {
						m.Pix[i] = elementary.Normal(r)
					}
					f.Images = append(f.Images, m)
				}
				return f
			},
		}},
	}
}

// plan names the elements and how they act on both sides, by the rules that the program has.
func (w *world) plan(c claim, out space.Spec) (*orbit.Plan, error) {
	g, err := catalog.Parse(c.group)
	if err != nil {
		return nil, err
	}
	o := action.Options{}
	if c.cyclic {
		o.Border = action.Circular
	}
	if w.window > 0 {
		o.Window = []int{w.window}
	}
	in, err := action.Rules().For(g, w.in, o)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	o.Window, o.Invariant, o.Stride = nil, true, w.stride
	moved, err := action.Rules().For(g, out, o)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return orbit.NewPlan(g, c.orbit, in, moved, 5)
}

// seen is what the model reads.
func (w *world) seen() space.Spec {
	s := w.in
	if w.window > 0 {
		s.Shape = []int{1, w.window}
	}
	return s
}

// pairs are the points x, [N, P, 3], the differences between them, [N, P, P, 3], the squares of their distances, [N, P,
// P], and the weight that falls with the distance.
type pairs struct{ apart, square, near string }

func (n *net) pairs(p plant, x string) pairs {
	var q pairs
	q.apart = n.op("apart", "Sub",
		[]string{
			n.op("to", "Unsqueeze", []string{x, n.b.Ints(2)}),
			n.op("from", "Unsqueeze", []string{x, n.b.Ints(1)}),
		})
	sq := n.op("squares", "Mul", []string{q.apart, q.apart})
	q.square = n.op("distances", "ReduceSum", []string{sq, n.b.Ints(3)}, onnx.AttrInt("keepdims", 0))
	q.near = n.op("near", "Exp", []string{n.op("minus", "Neg", []string{q.square})})
	if p.cutoff > 0 {
		in := n.op("within", "Less", []string{q.square, n.number(p.cutoff * p.cutoff)})
		q.near = n.op("cutoff", "Mul",
			[]string{q.near, n.op("mask", "Cast", []string{in}, onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))})
	}
	return q
}

// centred are the points about their mean.
func (n *net) centred(x string) string {
	return n.op("centred", "Sub",
		[]string{x, n.op("centre", "ReduceMean", []string{x}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 1))})
}

// arrows are vectors, the mean of the points v under weights that depend on the distances alone, [N, 3] each: those of
// three that which names, "" for the others.
func (n *net) arrows(v, near string, which ...int) [3]string {
	crowd := n.op("crowd", "ReduceSum", []string{near, n.b.Ints(2)}, onnx.AttrInt("keepdims", 1)) // [N, P, 1]
	var out [3]string
	for k, f := range []struct {
		kind string
		by   float64
	}{{"Identity", 1}, {"Sin", 2}, {"Cos", 3}} {
		if !slices.Contains(which, k) {
			continue
		}
		id := string(rune('1' + k))
		w := n.op("weight"+id, f.kind, []string{n.op("times"+id, "Mul", []string{crowd, n.number(f.by)})})
		out[k] = n.op("arrow"+id, "ReduceMean", []string{n.op("weighted"+id, "Mul", []string{v, w})},
			onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0))
	}
	return out
}

// cross is the product a×b of two vectors, [N, 3].
func (n *net) cross(name, a, b string) string {
	next := []float32{0, 0, 1, 1, 0, 0, 0, 1, 0} // (x, y, z) to (y, z, x)
	last := []float32{0, 1, 0, 0, 0, 1, 1, 0, 0} // to (z, x, y)
	turned := func(id, v string, m []float32) string {
		return n.op(name+id, "MatMul", []string{v, n.floats(m, 3, 3)})
	}
	l := n.op(name+"-left", "Mul", []string{turned("-a1", a, next), turned("-b2", b, last)})
	r := n.op(name+"-right", "Mul", []string{turned("-a2", a, last), turned("-b1", b, next)})
	return n.op(name, "Sub", []string{l, r})
}

// triple is a·(b×c) of three vectors, [N, 1]: it changes its sign under mirrors and not under turns.
func (n *net) triple(v [3]string) string {
	return n.op("volume", "ReduceSum", []string{
		n.op("along", "Mul", []string{v[0], n.cross("cross", v[1], v[2])}),
		n.b.Ints(1),
	}, onnx.AttrInt("keepdims", 1))
}

// broken adds the plants of points in space to y, [N, k]: heights, places and handedness, each of its size.
func (n *net) broken(p plant, y, x, near string) string {
	add := func(name string, size float64, term string) {
		y = n.op(name, "Add", []string{y, n.op(name+"-size", "Mul", []string{term, n.number(size)})})
	}
	mean := func(name, v string) string { // of the points, [N, P, 1] to [N, 1]
		return n.op(name, "ReduceMean", []string{n.op(name+"-bounded", "Tanh", []string{v})}, onnx.AttrInts("axes", 1),
			onnx.AttrInt("keepdims", 0))
	}
	if p.height != 0 {
		add("height", p.height, mean("heights", n.op("z", "MatMul", []string{x, n.floats([]float32{0, 0, 1}, 3, 1)})))
	}
	if p.origin != 0 {
		sq := n.op("places", "ReduceSum", []string{n.op("placed", "Mul", []string{x, x}), n.b.Ints(2)},
			onnx.AttrInt("keepdims", 1))
		add("origin", p.origin, mean("radii", sq))
	}
	if p.hand != 0 {
		// Volumes are small: about 0.01 of the unit cube.
		add("hand", 50*p.hand, n.triple(n.arrows(n.centred(x), near, 0, 1, 2)))
	}
	return y
}

// cloud is the model of points of space by distances: invariant under E(3) and under every permutation of the points.
func cloud(p plant) (*onnx.Model, error) {
	n := newNet(21)
	x := n.b.Input("x", tensor.Float32, "N", corners, 3)
	q := n.pairs(p, x)
	h := q.near
	if p.order {
		w := make([]float32, corners*corners)
		for i := range w {
			w[i] = float32(1 + float64(0.2*float64(i%corners)))
		}
		h = n.op("order", "Mul", []string{h, n.floats(w, 1, corners, corners)})
	}
	var cols []string
	power := h
	for i := range 3 {
		id := string(rune('1' + i))
		if i > 0 {
			power = n.op("power"+id, "Mul", []string{power, h})
		}
		m := n.op("mean"+id, "ReduceMean", []string{power}, onnx.AttrInts("axes", 1, 2), onnx.AttrInt("keepdims", 0))
		cols = append(cols, n.op("column"+id, "Unsqueeze", []string{m, n.b.Ints(1)}))
	}
	y := n.dense("dense",
		n.op("gain", "Mul", []string{n.op("features", "Concat", cols, onnx.AttrInt("axis", 1)), n.number(8)}), 3, 4)
	return n.model(n.finish(p, n.broken(p, y, x, q.near), 4), 4)
}

// arrow is the model of points of space to a vector: equivariant under O(3), and shifts of space do nothing to it.
func arrow(p plant) (*onnx.Model, error) {
	n := newNet(22)
	x := n.b.Input("x", tensor.Float32, "N", corners, 3)
	q := n.pairs(p, x)
	v := n.centred(x)
	if p.relu {
		v = n.op("componentwise", "Relu", []string{v})
	}
	if p.metric {
		v = n.op("metric", "MatMul", []string{v, n.floats([]float32{1, 0, 0, 0, 1, 0, 0, 0, 1.2}, 3, 3)})
	}
	a := n.arrows(v, q.near, 0, 1)
	if p.axial == 0 {
		return n.model(n.finish(p, n.op("sum", "Add", []string{a[0], a[1]}), 3), 3)
	}
	y := n.op("axial-size", "Mul", []string{n.cross("axial", a[0], a[1]), n.number(10 * p.axial)})
	if p.hand != 0 {
		y = n.op("mixed", "Add", []string{n.op("sum", "Add", []string{a[0], a[1]}), y})
	}
	return n.model(n.finish(p, y, 3), 3)
}

// shape is the model of points of space to irreps: the products of coordinates about the centre, as the five components
// of degree 2 in the order and with the polar axis y of e3nn: sqrt(15) xz, sqrt(15) xy, sqrt(5) (y^2 - (x^2 + z^2)/2),
// sqrt(15) yz, sqrt(15)/2 (z^2 - x^2).
func shape(p plant) (*onnx.Model, error) {
	n := newNet(23)
	x := n.b.Input("x", tensor.Float32, "N", corners, 3)
	q := n.pairs(p, x)
	v := n.centred(x)
	plain := v
	if p.polar { // z stands where y should
		v = n.op("polar", "MatMul", []string{v, n.floats([]float32{0, 0, 1, 1, 0, 0, 0, 1, 0}, 3, 3)})
	}
	crowd := n.op("crowds", "ReduceSum", []string{q.near, n.b.Ints(2)}, onnx.AttrInt("keepdims", 1))
	w := n.op("weighted", "Mul", []string{v, crowd})
	m := n.op("products", "MatMul", []string{
		n.op("across", "Transpose", []string{v}, onnx.AttrInts("perm", 0, 2, 1)),
		w,
	})
	const a, b = 3.872983346207417, 2.23606797749979 // sqrt(15), sqrt(5)
	// Rows are the nine products xx xy xz yx ... zz.
	basis := []float32{
		0, 0, -b / 2, 0, -a / 2, 0, a / 2, 0, 0, 0, a / 2, 0, 0, 0, 0,
		0, a / 2, 0, 0, 0, 0, 0, b, 0, 0, 0, 0, 0, a / 2, 0,
		a / 2, 0, 0, 0, 0, 0, 0, 0, a / 2, 0, 0, 0, -b / 2, 0, a / 2,
	}
	y := n.op("degree", "MatMul", []string{
		n.op("list", "Reshape", []string{m, n.b.Ints(-1, 9)}),
		n.floats(basis, 9, 5),
	})
	if p.typed {
		y = n.op("odd", "Mul",
			[]string{y, n.op("volumes", "Mul", []string{n.triple(n.arrows(plain, q.near, 0, 1, 2)), n.number(50)})})
	}
	return n.model(n.finish(p, y, 5), 5)
}

// bag is the model of sets: a network of each row, their sum, a dense layer. Invariant under every permutation.
func bag(p plant) (*onnx.Model, error) {
	n := newNet(24)
	x := n.b.Input("x", tensor.Float32, "N", members, features)
	h := n.op("first", "MatMul", []string{x, n.floats(n.normal(features*6, 0.6), features, 6)})
	if p.table {
		h = n.op("table", "Add", []string{h, n.floats(n.normal(members*6, 0.3), 1, members, 6)})
	}
	h = n.op("bounded", "Tanh", []string{h})
	if p.running {
		h = n.op("running", "Tanh",
			[]string{n.op("so-far", "CumSum", []string{h, n.b.Const(tensor.FromInt64([]int64{1}))})})
	}
	if p.order {
		w := make([]float32, members)
		for i := range w {
			w[i] = float32(1 + float64(0.1*float64(i)))
		}
		h = n.op("order", "Mul", []string{h, n.floats(w, 1, members, 1)})
	}
	h = n.op("sum", "ReduceSum", []string{h, n.b.Ints(1)}, onnx.AttrInt("keepdims", 0))
	return n.model(n.finish(p, n.dense("dense", h, 6, 4), 4), 4)
}

// molecule is the model of atoms, E = sum over pairs of c_i c_j exp(-d^2) with c a function of the species, and F_i = 4
// sum over j of c_i c_j exp(-d^2) (x_i - x_j): the sum has each pair twice. Invariant and equivariant under E(3) and
// permutations of the atoms.
func molecule(p plant) (*onnx.Model, error) {
	n := newNet(25)
	x := n.b.Input("positions", tensor.Float32, "N", corners, 3)
	z := n.b.Input("species", tensor.Float32, "N", corners, 1)
	q := n.pairs(p, x)
	c := n.op("charges", "Tanh", []string{n.op("lower", "Mul", []string{z, n.number(0.15)})}) // [N, P, 1]
	both := n.op("charged", "MatMul",
		[]string{c, n.op("row", "Transpose", []string{c}, onnx.AttrInts("perm", 0, 2, 1))})
	w := n.op("terms", "Mul", []string{both, q.near})
	energy := n.op("total", "ReduceSum", []string{w, n.b.Ints(1, 2)}, onnx.AttrInt("keepdims", 0))
	energy = n.op("column", "Unsqueeze", []string{energy, n.b.Ints(1)})
	energy = n.broken(p, energy, x, q.near)
	f := w
	if p.head != 0 { // a head of its own, which falls with another power of the distance
		wide := n.op("wide", "Exp", []string{n.op("wider", "Mul", []string{q.square, n.number(-(1 - p.head))})})
		f = n.op("head", "Mul", []string{both, wide})
	}
	pull := n.op("pulls", "Mul", []string{n.op("each", "Unsqueeze", []string{f, n.b.Ints(3)}), q.apart})
	forces := n.op("forces-sum", "ReduceSum", []string{pull, n.b.Ints(2)}, onnx.AttrInt("keepdims", 0))
	forces = n.op("forces-four", "Mul", []string{forces, n.number(4)})
	if p.relu {
		forces = n.op("componentwise", "Relu", []string{forces})
	}
	out := func(name, v string, axes ...any) {
		n.op(name+"-out", "Identity", []string{v})
		nodes := n.b.Graph().GetNode()
		nodes[len(nodes)-1].Output[0] = name
		n.b.Output(name, tensor.Float32, append([]any{"N"}, axes...)...)
	}
	out("energy", energy, 1)
	out("forces", forces, corners, 3)
	return n.b.Model()
}

// conv1 is a convolution of signals by kernels of three numbers, zeros beyond the ends if pad is not 0.
func (n *net) conv1(name, x string, out, in, pad int) string {
	const s = 3
	q := int64(pad)
	return n.op(name, "Conv",
		[]string{x, n.floats(n.normal(out*in*s, 0.5), out, in, s), n.floats(n.normal(out, 0.1), out)},
		onnx.AttrInts("kernel_shape", int64(s)), onnx.AttrInts("pads", q, q))
}

// joined pads a signal of length t by k numbers of its other end on each side.
func (n *net) joined(name, x string, k, t int) string {
	a := n.b.Ints(2)
	last := n.op(name+"-last", "Slice", []string{x, n.b.Ints(int64(t - k)), n.b.Ints(int64(t)), a})
	first := n.op(name+"-first", "Slice", []string{x, n.b.Ints(0), n.b.Ints(int64(k)), a})
	return n.op(name, "Concat", []string{last, x, first}, onnx.AttrInt("axis", 2))
}

// strided reads every second number and repeats it.
func (n *net) strided(h string) string {
	h = n.op("pool", "MaxPool", []string{h}, onnx.AttrInts("kernel_shape", 2), onnx.AttrInts("strides", 2))
	return n.op("enlarge", "Resize", []string{h, "", n.floats([]float32{1, 1, 2}, 3)},
		onnx.AttrString("mode", "nearest"), onnx.AttrString("coordinate_transformation_mode", "asymmetric"),
		onnx.AttrString("nearest_mode", "floor"))
}

// ring is the model of signals whose ends are joined: equivariant under cyclic shifts, with generic kernels.
func ring(p plant) (*onnx.Model, error) {
	n := newNet(26)
	x := n.b.Input("x", tensor.Float32, "N", 1, heard)
	layer := func(name, h string, out, in int) string {
		if p.zeros {
			return n.conv1(name, h, out, in, 1)
		}
		return n.conv1(name, n.joined(name+"-joined", h, 1, heard), out, in, 0)
	}
	h := n.op("relu1", "Relu", []string{layer("conv1", x, 4, 1)})
	if p.table {
		h = n.op("table", "Add", []string{h, n.floats(n.normal(heard, 0.3), 1, 1, heard)})
	}
	if p.stride {
		h = n.strided(h)
	}
	return n.model(n.finish(p, layer("conv2", h, 1, 4), 1), 1, heard)
}

// window is the model of a stretch of a longer signal. Without padding what it says of a moment depends on what is
// there alone: equivariant under shifts of time wherever both stretches have the moment.
func window(p plant) (*onnx.Model, error) {
	n := newNet(27)
	x := n.b.Input("x", tensor.Float32, "N", 1, heard)
	pad := 0
	if p.zeros {
		pad = 1
	}
	t := heard - 4 + 4*pad
	h := n.op("relu1", "Relu", []string{n.conv1("conv1", x, 4, 1, pad)})
	if p.stride {
		h = n.strided(h)
	}
	y := n.conv1("conv2", h, 1, 4, pad)
	if p.table {
		y = n.op("table", "Add", []string{y, n.floats(n.normal(t, 0.3), 1, 1, t)})
	}
	return n.model(n.finish(p, y, 1), 1, t)
}

// steps is one step of a recurrent model: a frame of a signal and a state in, a number and the next state out. The
// state keeps a share of what it held, 0 in the base, which therefore has no memory; with a memory it starts cold.
func steps(p plant) (*onnx.Model, error) {
	n := newNet(28)
	x := n.b.Input("x", tensor.Float32, "N", frame)
	s := n.b.Input("state", tensor.Float32, "N", 3)
	h := n.op("heard", "Tanh", []string{n.dense("listen", x, frame, 3)})
	next := n.op("remember", "Add", []string{h, n.op("kept", "Mul", []string{s, n.number(p.keep)})})
	y := n.dense("say", next, 3, 1)
	for _, o := range []struct {
		name, v string
		axis    int
	}{{"y", y, 1}, {"next", next, 3}} {
		n.op(o.name+"-out", "Identity", []string{o.v})
		nodes := n.b.Graph().GetNode()
		nodes[len(nodes)-1].Output[0] = o.name
		n.b.Output(o.name, tensor.Float32, "N", o.axis)
	}
	return n.b.Model()
}

// film is the model of pictures in the order of time: a convolution of each with joined borders, and a state that keeps
// a share of what it held, 0 in the base. Each picture by itself is equivariant under any shift of it; with a state
// that stays in its place only common shifts are left.
func film(p plant) (*onnx.Model, error) {
	n := newNet(29)
	const s = filmSide
	x := n.b.Input("x", tensor.Float32, "N", moments, 1, s, s)
	w, bias := n.floats(n.normal(9, 0.5), 1, 1, 3, 3), n.floats(n.normal(1, 0.1), 1)
	var said []string
	state := ""
	for t := range moments {
		id := string(rune('1' + t))
		h := n.op("take"+id, "Slice", []string{x, n.b.Ints(int64(t)), n.b.Ints(int64(t + 1)), n.b.Ints(1)})
		h = n.around("around"+id, n.op("picture"+id, "Squeeze", []string{h, n.b.Ints(1)}), 1, s)
		if p.zeros {
			h = n.op("cut"+id, "Slice", []string{h, n.b.Ints(1, 1), n.b.Ints(s+1, s+1), n.b.Ints(2, 3)})
		}
		pad := int64(0)
		if p.zeros {
			pad = 1
		}
		h = n.op("look"+id, "Conv", []string{h, w, bias}, onnx.AttrInts("kernel_shape", 3, 3),
			onnx.AttrInts("pads", pad, pad, pad, pad))
		if state != "" && p.keep != 0 {
			h = n.op("remember"+id, "Add", []string{h, n.op("kept"+id, "Mul", []string{state, n.number(p.keep)})})
		}
		state = n.op("state"+id, "Tanh", []string{h})
		said = append(said, n.op("say"+id, "Unsqueeze", []string{state, n.b.Ints(1)}))
	}
	return n.model(n.op("film", "Concat", said, onnx.AttrInt("axis", 1)), moments, 1, s, s)
}
