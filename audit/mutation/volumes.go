package mutation

import (
	"math"
	"math/rand/v2"

	"nero/data/space"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/orbit"
)

// volumetric are the families of volumes: grids of voxels.
func volumetric() []family {
	return []family{
		{
			name: "lump", task: "volumes", doc: "volume to class scores: symmetric kernels, pooling, mean, dense layer",
			group: fixed("Octa"), orbit: orbit.Spec{All: true}, graph: lump, heldOut: variant{1001, 7},
			tuned: variant{1101, 9}, twins: []variant{{1201, 5}, {1202, 11}},
			ports: func(n int) ports {
				return voxels(n, blobs(n), action.Options{}, decode.OutputField{
					Name: "y", Kind: (&space.Scores{}).Kind(),
				})
			},
		},
		{
			name: "mist", task: "volumes", doc: "volume to volume: two convolutions with symmetric kernels",
			group: fixed("Oh"), orbit: orbit.Spec{All: true}, graph: mist, heldOut: variant{1002, 6},
			tuned: variant{1102, 7}, twins: []variant{{1203, 5}, {1204, 8}},
			ports: func(n int) ports {
				return voxels(n, blobs(n), action.Options{}, decode.OutputField{
					Name: "y", Kind: (&space.Volume{}).Kind(),
				})
			},
		},
		{
			name: "crystal", task: "volumes", doc: "volume to volume: convolutions with any kernels, borders joined",
			group: fixed("T(3,Z)"), graph: crystal,
			orbit: orbit.Spec{Values: [][]float64{
				{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 2, 0}, {2, 1, -1}, {0, -1, 3},
			}},
			heldOut: variant{1003, 6}, tuned: variant{1103, 8}, twins: []variant{{1205, 5}, {1206, 10}},
			ports: func(n int) ports {
				return voxels(n, grain(n), action.Options{Border: action.Circular}, decode.OutputField{
					Name: "y", Kind: (&space.Volume{}).Kind(),
				})
			},
		},
	}
}

// voxels are models that read one volume of one channel.
func voxels(n int, draw func(*rand.Rand) space.Value, move action.Options, out decode.OutputField) ports {
	p := records(space.SpecOf("x", space.NewVolume(1, n, n, n)), draw, out)
	p.move = move
	return p
}

// blobs draws a volume of a few smooth spots well inside the border.
func blobs(n int) func(*rand.Rand) space.Value {
	return func(r *rand.Rand) space.Value {
		v := space.NewVolume(1, n, n, n)
		for range 4 {
			var at [3]float64
			for k := range at {
				at[k] = (0.3 + float64(0.4*r.Float64())) * float64(n-1)
			}
			w, h := 0.7+float64(0.5*r.Float64()), 1+2*r.Float64()
			for i := range v.Val {
				z, y, x := i/(n*n), i/n%n, i%n
				if min(z, y, x, n-1-z, n-1-y, n-1-x) < 1 {
					continue // a volume pushed by a voxel loses nothing
				}
				dz, dy, dx := float64(z)-at[0], float64(y)-at[1], float64(x)-at[2]
				v.Val[i] += float64(h * elementary.Exp(-(float64(dx*dx)+float64(dy*dy)+float64(dz*dz))/(2*w*w)))
			}
		}
		return v
	}
}

// grain draws a volume of noise.
func grain(n int) func(*rand.Rand) space.Value {
	return func(r *rand.Rand) space.Value {
		v := space.NewVolume(1, n, n, n)
		for i := range v.Val {
			v.Val[i] = 1.7 * (2*r.Float64() - 1)
		}
		return v
	}
}

// cubic are out × in kernels of side 3, each with all symmetries of the cube: one weight for the centre, one for all
// faces, one for all edges, one for all corners.
func (s *sketch) cubic(out, in int) []float32 {
	var all []float32
	for range out * in {
		w := s.normal(4, 1/math.Sqrt(9*float64(in)))
		for i := range 27 {
			away := 0
			for _, k := range []int{i / 9, i / 3 % 3, i % 3} {
				if k != 1 {
					away++
				}
			}
			all = append(all, w[away])
		}
	}
	return all
}

// box is a convolution of volumes with zeros beyond the border.
func (s *sketch) box(name, v string, w []float32, out, in int) string {
	return s.padded(name, v, w, out, in, 3, 3, 1)
}

// lump is the classifier; odd sides put the grid of the pooling on the centre.
func lump(s *sketch, n int) {
	h := s.at("input", s.input("x", 1, n, n, n))
	h = s.at("conv1 out", s.box("conv1", h, s.cubic(4, 1), 4, 1))
	h = s.at("maps", s.op("relu1", "Relu", []string{h}))
	h = s.op("pool", "AveragePool", []string{h}, onnx.AttrInts("kernel_shape", 3, 3, 3),
		onnx.AttrInts("strides", 2, 2, 2), onnx.AttrInts("pads", 1, 1, 1, 1, 1, 1),
		onnx.AttrInt("count_include_pad", 1))
	h = s.at("pooled", h)
	h = s.at("conv2 out", s.box("conv2", h, s.cubic(6, 4), 6, 4))
	h = s.at("maps2", s.op("relu2", "Relu", []string{h}))
	h = s.at("vector", s.mean("mean", h, 2, 3, 4))
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 8), 6, 5)), 5)
}

func mist(s *sketch, n int) {
	h := s.at("input", s.input("x", 1, n, n, n))
	h = s.at("conv1 out", s.box("conv1", h, s.cubic(5, 1), 5, 1))
	h = s.at("maps", s.tanh("bounded", h))
	s.answer("y", s.at("answer", s.box("conv2", h, s.cubic(2, 5), 2, 5)), 2, n, n, n)
}

// crystal joins the borders, unless a setting says that zeros enter.
func crystal(s *sketch, n int) {
	h := s.at("input", s.input("x", 1, n, n, n))
	layer := func(name, h string, out, in int) string {
		w := s.normal(out*in*27, 0.3)
		if s.setting("zeros at "+name) > 0 {
			return s.padded(name, h, w, out, in, 3, 3, 1)
		}
		for i, axis := range []int64{2, 3, 4} {
			id, a := name+string(rune('0'+i)), s.b.Ints(axis)
			last := s.op(id+"-last", "Slice", []string{h, s.b.Ints(int64(n - 1)), s.b.Ints(int64(n)), a})
			first := s.op(id+"-first", "Slice", []string{h, s.b.Ints(0), s.b.Ints(1), a})
			h = s.join(id+"-join", axis, last, h, first)
		}
		return s.padded(name, h, w, out, in, 3, 3, 0)
	}
	h = s.at("maps", s.tanh("bounded", layer("conv1", h, 3, 1)))
	h = s.at("maps2", s.tanh("bounded2", layer("conv2", h, 3, 3)))
	s.answer("y", s.at("answer", layer("conv3", h, 2, 3)), 2, n, n, n)
}

// What people do to volumes beside what they do to pictures.

// pushedBox moves volumes by one voxel along one axis; zeros enter.
func pushedBox(axis, side int64) edit {
	return value(func(s *sketch, v string) string {
		cut := s.op("cut", "Slice", []string{v, s.b.Ints(0), s.b.Ints(side - 1), s.b.Ints(axis)})
		pads := make([]int64, 10)
		pads[axis] = 1
		return s.op("push", "Pad", []string{cut, s.b.Ints(pads...)})
	})
}

// sliceNorm normalises every slice by its own mean and deviation, as scans are stacked from pictures.
func sliceNorm() edit {
	return value(func(s *sketch, v string) string {
		d := s.sub("slices-center", v, s.wide("slices-mean", v, 3, 4))
		sq := s.wide("slices-variance", s.mul("slices-square", d, d), 3, 4)
		return s.op("slices", "Div",
			[]string{d, s.op("slices-deviation", "Sqrt", []string{s.add("slices-epsilon", sq, s.number(1e-2))})})
	})
}

// flatKernel keeps the slice in the middle of every kernel of side 3 and no other: pictures one by one.
func flatKernel() edit {
	return edit{weights: func(w []float32) {
		for i := range w {
			if i%27/9 != 1 {
				w[i] = 0
			}
		}
	}}
}

// handed adds the triple product of the slopes of three maps of a value, which mirrors change the sign of.
func handed(size float64) edit {
	return value(func(s *sketch, v string) string {
		// slopes of three blurs of different width of what the model reads, along z, y and x
		var slopes [3][3]string
		for a := range 3 {
			w := make([]float32, 3*27)
			for axis := range 3 {
				for i := range 27 {
					k := [3]int{i/9 - 1, i/3%3 - 1, i%3 - 1}
					others := 0
					for o, x := range k {
						if o != axis && x != 0 {
							others++
						}
					}
					w[axis*27+i] = float32(k[axis]) * []float32{1, 0.5, 0.25}[others]
				}
			}
			h := s.first
			for range a {
				h = s.mul("handed-power", h, s.tanh("handed-bounded", h))
				h = s.op("handed-blur", "AveragePool", []string{h}, onnx.AttrInts("kernel_shape", 3, 3, 3),
					onnx.AttrInts("pads", 1, 1, 1, 1, 1, 1), onnx.AttrInt("count_include_pad", 1))
			}
			all := s.op("handed-slopes", "Conv", []string{h, s.floats(w, 3, 1, 3, 3, 3)},
				onnx.AttrInts("kernel_shape", 3, 3, 3), onnx.AttrInts("pads", 1, 1, 1, 1, 1, 1))
			for k := range 3 {
				slopes[a][k] = s.op("handed-part", "Slice",
					[]string{all, s.b.Ints(int64(k)), s.b.Ints(int64(k + 1)), s.b.Ints(1)})
			}
		}
		var sum string
		for _, p := range [][4]int{
			{0, 1, 2, 1}, {1, 2, 0, 1}, {2, 0, 1, 1}, {2, 1, 0, -1}, {0, 2, 1, -1}, {1, 0, 2, -1},
		} {
			t := s.mul("handed-product", s.mul("handed-pair", slopes[0][p[0]], slopes[1][p[1]]), slopes[2][p[2]])
			if p[3] < 0 {
				t = s.op("handed-minus", "Neg", []string{t})
			}
			if sum != "" {
				t = s.add("handed-sum", sum, t)
			}
			sum = t
		}
		return s.add("handed", v, s.times("handed-size", s.tanh("handed-limited", sum), size))
	})
}

// everySlice adds a number to each slice of n; those that are not given are 0.
func everySlice(n int, d ...float32) edit {
	w := make([]float32, n)
	copy(w, d)
	return plus([]int{1, 1, n, 1, 1}, w...)
}
