package mutation

import (
	"math/rand/v2"

	"nero/data/space"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/orbit"
)

// planar are the families of pictures, their sequences and colors.
func planar() []family {
	squares, all := fixed("D4"), orbit.Spec{All: true}
	return []family{
		{
			name: "labels", task: "classes",
			doc:   "picture to class scores: symmetric kernels, pooling, mean, dense layer",
			group: squares, orbit: all, graph: labels, heldOut: variant{101, 15}, tuned: variant{201, 13},
			twins: []variant{{301, 11}, {302, 17}},
			ports: func(n int) ports {
				return pictures(1, n, decode.OutputSpec{Space: (&space.Scores{}).Kind(), Decode: "logits"},
					action.Options{},
					spots(1, n))
			},
		},
		{
			name: "paint", task: "pictures", doc: "picture to picture: two convolutions with symmetric kernels",
			group: squares, orbit: all, graph: paint, heldOut: variant{102, 13}, tuned: variant{202, 15},
			twins: []variant{{303, 10}, {304, 17}},
			ports: func(n int) ports {
				return pictures(1, n, decode.OutputSpec{Space: (&space.Image{}).Kind()}, action.Options{},
					spots(1, n))
			},
		},
		{
			name: "torus", task: "pictures", doc: "picture to picture: convolutions with any kernels, borders joined",
			group: numbered("roll(#,#)"), orbit: orbit.Spec{Grid: []int{4, 4}}, graph: torus,
			heldOut: variant{103, 12}, tuned: variant{203, 16}, twins: []variant{{305, 8}, {306, 20}},
			ports: func(n int) ports {
				return pictures(1, n, decode.OutputSpec{Space: (&space.Image{}).Kind()},
					action.Options{Border: action.Circular},
					noise(1, n, 0, 1.7))
			},
		},
		{
			name: "regular", task: "feature maps",
			doc:   "picture to regular features of C4: lifting and group convolution",
			group: fixed("C4"), orbit: all, graph: regularFeatures, heldOut: variant{104, 11}, tuned: variant{204, 13},
			twins: []variant{{307, 9}, {308, 15}},
			ports: func(n int) ports {
				return pictures(1, n, decode.OutputSpec{Space: (&space.Tensor{}).Kind(), Type: "regular"},
					action.Options{},
					spots(1, n))
			},
		},
		{
			name: "quiver", task: "flow fields",
			doc:   "picture to a vector at each pixel: a map times the slope of another",
			group: squares, orbit: all, graph: quiver, heldOut: variant{105, 13}, tuned: variant{205, 11},
			twins: []variant{{309, 10}, {310, 15}},
			ports: func(n int) ports {
				return pictures(1, n, decode.OutputSpec{Space: (&space.Field{}).Kind()}, action.Options{},
					spots(1, n))
			},
		},
		{
			name: "motion", task: "flow fields",
			doc:   "two pictures to a field: the change in time times the slope in space",
			group: fixed("D4 x Time"), orbit: all, graph: motion, heldOut: variant{106, 12}, tuned: variant{206, 13},
			twins: []variant{{311, 9}, {312, 16}}, ports: twoFrames,
		},
		{
			name: "regions", task: "masks", doc: "picture to a class for each pixel: the largest of three maps",
			group: squares, orbit: all, graph: regions, heldOut: variant{107, 13}, tuned: variant{207, 12},
			twins: []variant{{313, 9}, {314, 16}},
			ports: func(n int) ports {
				return pictures(1, n, decode.OutputSpec{Space: (&space.Mask{}).Kind()}, action.Options{},
					spots(1, n))
			},
		},
		{
			name: "finder", task: "detection",
			doc:   "picture to boxes: confidence, place, height and width at each pixel from symmetric kernels",
			group: squares, orbit: all, graph: finder, heldOut: variant{108, 11}, tuned: variant{208, 13},
			twins: []variant{{315, 9}, {316, 12}}, slack: 1e-6,
			ports: func(n int) ports {
				return pictures(1, n, decode.OutputSpec{Space: (&space.Boxes{}).Kind(), Boxes: decode.BoxesSpec{
					Parts: []decode.BoxesPart{{Boxes: "boxes", Scores: "scores"}}, Form: "cxcywh",
					Activation: "sigmoid", Limit: 0.3, Overlap: 0.2,
				}}, action.Options{}, spots(1, n))
			},
		},
		{
			name: "hue", task: "colors", doc: "color picture to class scores: greys and squared distances from grey",
			group: fixed("Hue"), orbit: orbit.Spec{Grid: []int{24}}, graph: hue, heldOut: variant{109, 9},
			tuned: variant{209, 11}, twins: []variant{{317, 7}, {318, 12}}, slack: 1e-5,
			ports: func(n int) ports {
				return pictures(3, n, decode.OutputSpec{Space: (&space.Scores{}).Kind(), Decode: "logits"},
					action.Options{Range: []float64{0, 1}}, noise(3, n, 0.5, 0.2))
			},
		},
		{
			name: "inks", task: "colors",
			doc:   "picture of three channels to class scores: one network for each, their sum",
			group: fixed("Channels(3)"), orbit: all, graph: inks, heldOut: variant{110, 9}, tuned: variant{210, 10},
			twins: []variant{{319, 7}, {320, 12}},
			ports: func(n int) ports {
				return pictures(3, n, decode.OutputSpec{Space: (&space.Scores{}).Kind(), Decode: "logits"},
					action.Options{Range: []float64{0, 1}}, noise(3, n, 0.5, 0.45))
			},
		},
		{
			name: "shade", task: "colors", doc: "picture to class scores: the mean is taken off before the first layer",
			group: fixed("Brightness"), orbit: orbit.Spec{Grid: []int{11}, Range: [][]float64{{-0.12, 0.12}}},
			graph: shade, heldOut: variant{111, 9}, tuned: variant{211, 12}, twins: []variant{{321, 8}, {322, 11}},
			ports: func(n int) ports {
				return pictures(1, n, decode.OutputSpec{Space: (&space.Scores{}).Kind(), Decode: "logits"},
					action.Options{Range: []float64{0, 1}}, noise(1, n, 0.5, 0.15))
			},
		},
	}
}

// symmetric are out × in kernels, each with all symmetries of the square.
func (s *sketch) symmetric(out, in, side int) []float32 { return s.kernels(out, in, side, true) }

// labels is the classifier; odd sides put the grid of the pooling on the centre.
func labels(s *sketch, side int) {
	h := s.at("input", s.input("x", 1, side, side))
	h = s.at("conv1 out", s.convolve("conv1", h, s.symmetric(4, 1, 3), 4, 1, 3))
	h = s.at("maps", s.op("relu1", "Relu", []string{h}))
	h = s.op("pool", "AveragePool", []string{h}, onnx.AttrInts("kernel_shape", 3, 3), onnx.AttrInts("strides", 2, 2),
		onnx.AttrInts("pads", 1, 1, 1, 1), onnx.AttrInt("count_include_pad", 1))
	h = s.at("pooled", h)
	h = s.at("conv2 out", s.convolve("conv2", h, s.symmetric(6, 4, 3), 6, 4, 3))
	h = s.at("maps2", s.op("relu2", "Relu", []string{h}))
	h = s.at("vector", s.mean("mean", h, 2, 3))
	y := s.layer("dense", s.times("gain", h, 8), 6, 5)
	s.answer("y", s.at("answer", y), 5)
}

func paint(s *sketch, side int) {
	h := s.at("input", s.input("x", 1, side, side))
	h = s.at("conv1 out", s.convolve("conv1", h, s.symmetric(5, 1, 3), 5, 1, 3))
	h = s.at("maps", s.tanh("bounded", h))
	y := s.convolve("conv2", h, s.symmetric(2, 5, 5), 2, 5, 5)
	s.answer("y", s.at("answer", y), 2, side, side)
}

// torus joins the borders, unless a setting says that zeros enter.
func torus(s *sketch, side int) {
	h := s.at("input", s.input("x", 1, side, side))
	layer := func(name, h string, out, in int) string {
		w := s.normal(out*in*9, 0.5)
		if s.setting("zeros at "+name) > 0 {
			return s.padded(name, h, w, out, in, 3, 2, 1)
		}
		return s.padded(name, s.around(name+"-around", h, 1, side), w, out, in, 3, 2, 0)
	}
	h = s.at("maps", s.tanh("bounded", layer("conv1", h, 4, 1)))
	h = s.at("maps2", s.tanh("bounded2", layer("conv2", h, 4, 4)))
	s.answer("y", s.at("answer", layer("conv3", h, 2, 4)), 2, side, side)
}

// regularFeatures is a group convolution over C4 with two fields.
func regularFeatures(s *sketch, side int) {
	const fields = 2
	h := s.at("input", s.input("x", 1, side, side))
	var w []float32
	for range fields {
		k := s.normal(9, 0.6)
		for range 4 {
			w = append(w, k...)
			k = turn(k, 3)
		}
	}
	h = s.convPlain("lift", h, s.weights("lift", w), 4*fields, 1, 3, 1)
	h = s.at("maps", s.op("relu1", "Relu", []string{h}))
	w = make([]float32, 4*fields*4*fields*9)
	for a := range fields {
		for b := range fields {
			for d := range 4 {
				k := s.normal(9, 0.3)
				for i := range 4 {
					copy(w[(((a*4+i)*4*fields)+(b*4+(i+d)%4))*9:], k)
					k = turn(k, 3)
				}
			}
		}
	}
	h = s.convPlain("group", h, s.weights("group", w), 4*fields, 4*fields, 3, 1)
	s.answer("y", s.at("answer", s.op("relu2", "Relu", []string{h})), 4*fields, side, side)
}

// slope are kernels that take the differences along columns, then along rows, blurred across: one vector.
func slope(r *net) (across, down []float32) {
	a, b := 0.5+float32(0.3*float32(r.r.Float64())), 0.2+float32(0.2*float32(r.r.Float64()))
	across = []float32{-b, 0, b, -a, 0, a, -b, 0, b}
	down = []float32{-b, -a, -b, 0, 0, 0, b, a, b}
	return across, down
}

// gradient is the slope of a map at every pixel, [N, 2, side, side]: to the right, then down.
func (s *sketch) gradient(name, h string) string {
	across, down := slope(s.net)
	w := s.weights(name, append(across, down...))
	return s.op(name, "Conv", []string{h, s.floats(w, 2, 1, 3, 3)}, onnx.AttrInts("kernel_shape", 3, 3),
		onnx.AttrInts("pads", 1, 1, 1, 1))
}

func quiver(s *sketch, side int) {
	h := s.at("input", s.input("x", 1, side, side))
	a := s.at("scalars", s.tanh("bounded1", s.convolve("conv1", h, s.symmetric(1, 1, 3), 1, 1, 3)))
	b := s.at("potential", s.tanh("bounded2", s.convolve("conv2", h, s.symmetric(1, 1, 5), 1, 1, 5)))
	v := s.at("slopes", s.gradient("slope", b))
	s.answer("y", s.at("answer", s.mul("gated", v, a)), 2, side, side)
}

// twoFrames are two pictures, the second a little later than the first.
func twoFrames(side int) ports {
	return ports{
		in: space.SpecOf("x", space.NewFrames(2, 1, side, side)),
		codec: func(sig onnx.Signature) (decode.Codec, error) {
			return decode.New(sig, decode.InputSpec{Sample: []int{1, side, side}, Layout: "NCHW", Frames: 2},
				decode.OutputSpec{Space: (&space.Field{}).Kind()})
		},
		draw: func(r *rand.Rand) space.Value {
			f := &space.Frames{}
			for range 2 {
				f.Images = append(f.Images, spots(1, side)(r))
			}
			return f
		},
	}
}

// motion reads the frames as two channels.
func motion(s *sketch, side int) {
	x := s.at("input", s.input("x", 2, side, side))
	frame := func(name string, i int64) string {
		return s.op(name, "Slice", []string{x, s.b.Ints(i), s.b.Ints(i + 1), s.b.Ints(1)})
	}
	a, b := s.at("first", frame("first", 0)), s.at("second", frame("second", 1))
	both := s.at("sum", s.add("sum", a, b))
	change := s.at("change", s.sub("change", b, a))
	m := s.at("maps", s.tanh("bounded", s.convolve("conv1", both, s.symmetric(1, 1, 3), 1, 1, 3)))
	v := s.at("slopes", s.gradient("slope", m))
	c := s.tanh("bounded2", s.op("conv2", "Conv",
		[]string{change, s.floats(s.weights("conv2", s.symmetric(1, 1, 3)), 1, 1, 3, 3)},
		onnx.AttrInts("kernel_shape", 3, 3), onnx.AttrInts("pads", 1, 1, 1, 1)))
	s.answer("y", s.at("answer", s.mul("moved", v, s.at("gate", c))), 2, side, side)
}

func regions(s *sketch, side int) {
	h := s.at("input", s.input("x", 1, side, side))
	h = s.at("conv1 out", s.convolve("conv1", h, s.symmetric(4, 1, 3), 4, 1, 3))
	h = s.at("maps", s.tanh("bounded", h))
	y := s.convolve("conv2", h, s.symmetric(3, 4, 5), 3, 4, 5)
	s.answer("y", s.at("answer", y), 3, side, side)
}

// tall are kernels that are their own mirror images, and the same with rows and columns exchanged.
func tall(n *net) (w, h []float32) {
	a, b, c, d := n.normal(1, 0.5)[0], 0.8+n.normal(1, 0.5)[0], n.normal(1, 0.5)[0]-0.8, n.normal(1, 0.5)[0]
	return []float32{a, b, a, c, d, c, a, b, a}, []float32{a, c, a, b, d, b, a, c, a}
}

// finder is a detector with one place in each pixel.
func finder(s *sketch, side int) {
	x := s.at("input", s.input("x", 1, side, side))
	f := s.at("maps", s.tanh("bounded", s.convolve("conv1", x, s.symmetric(1, 1, 3), 1, 1, 3)))
	bright := s.symmetric(1, 1, 3) // of positive weights, so that boxes stand at spots alone
	for i, w := range bright {
		bright[i] = max(w, -w)
	}
	sure := s.at("confidence", s.add("sure", s.convolve("conv2", x, bright, 1, 1, 3), s.number(-2.5)))
	off := s.at("offsets", s.tanh("near", s.gradient("slope", f)))
	w, h := tall(s.net)
	size := s.op("sizes", "Conv", []string{f, s.floats(s.weights("sizes", append(w, h...)), 2, 1, 3, 3)},
		onnx.AttrInts("kernel_shape", 3, 3), onnx.AttrInts("pads", 1, 1, 1, 1))
	size = s.at("size", s.add("positive", s.times("spread", s.tanh("limited", size), 1.2), s.number(2.5)))
	places := make([]float32, 2*side*side)
	for k := range side * side {
		places[k], places[side*side+k] = float32(k%side)+0.5, float32(k/side)+0.5
	}
	centre := s.at("centre", s.add("centres", off, s.floats(s.weights("places", places), 1, 2, side, side)))
	box := s.at("box", s.join("box", 1, centre, size))
	n := side * side
	list := func(name, v string, k int) string {
		return s.transpose(name+"-list", s.reshape(name+"-flat", v, -1, int64(k), int64(n)), 0, 2, 1)
	}
	s.answer("boxes", list("boxes", box, 4), n, 4)
	s.answer("scores", list("scores", sure, 1), n, 1)
}

func hue(s *sketch, side int) {
	x := s.at("input", s.input("x", 3, side, side))
	grey := s.at("grey", s.op("grey", "Conv", []string{
		x,
		s.floats(s.weights("greys", []float32{1. / 3, 1. / 3, 1. / 3}), 1, 3, 1, 1),
	}))
	d := s.at("chroma", s.sub("chroma", x, grey))
	sq := s.at("saturation", s.wide("saturation", s.mul("chroma-squared", d, d), 1))
	h := s.join("invariants", 1, grey, s.times("saturation-gain", sq, 20))
	h = s.at("conv1 out", s.convolve("conv1", h, s.normal(6*2*9, 0.5), 6, 2, 3))
	h = s.at("vector", s.mean("mean", s.op("relu1", "Relu", []string{h}), 2, 3))
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 8), 6, 4)), 4)
}

func inks(s *sketch, side int) {
	const f = 3
	x := s.at("input", s.input("x", 3, side, side))
	k := s.normal(f*9, 0.6)
	w := append(append(append([]float32{}, k...), k...), k...)
	h := s.op("conv1", "Conv", []string{x, s.floats(s.weights("conv1", w), 3*f, 1, 3, 3)},
		onnx.AttrInts("kernel_shape", 3, 3), onnx.AttrInts("pads", 1, 1, 1, 1), onnx.AttrInt("group", 3))
	h = s.at("maps", s.op("relu1", "Relu", []string{h}))
	h = s.at("means", s.mean("mean", h, 2, 3))
	h = s.at("each", s.tanh("bounded", s.layer("shared", s.reshape("inks", h, -1, 3, f), f, 5)))
	h = s.at("vector", s.sum("sum", h, 1))
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 4), 5, 4)), 4)
}

func shade(s *sketch, side int) {
	x := s.at("input", s.input("x", 1, side, side))
	h := s.at("contrast", s.sub("contrast", x, s.at("level", s.wide("level", x, 1, 2, 3))))
	h = s.at("conv1 out", s.convolve("conv1", h, s.normal(5*9, 0.8), 5, 1, 3))
	h = s.at("vector", s.mean("mean", s.op("relu1", "Relu", []string{h}), 2, 3))
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 8), 5, 4)), 4)
}
