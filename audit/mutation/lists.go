package mutation

import (
	"math/rand/v2"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/orbit"
)

// ordered are the families of sets, graphs and sequences.
func ordered() []family {
	haar := orbit.Spec{Haar: 12}
	set := func(w int, out decode.OutputField) func(int) ports {
		return func(n int) ports { return records(rowsSpec("x", n, w, space.TypeUnchanged), rows(n, w, 1, 0), out) }
	}
	return []family{
		{
			name: "sums", task: "sets", doc: "rows to numbers: a network of each row, their sum",
			group: numbered("S(#)"), orbit: haar, graph: sums, heldOut: variant{701, 7}, tuned: variant{801, 6},
			twins: []variant{{901, 5}, {902, 9}}, ports: set(3, perSample(space.TypeUnchanged)),
		},
		{
			name: "attention", task: "sets", doc: "rows to rows: attention between all of them",
			group: numbered("S(#)"), orbit: haar, graph: attention, heldOut: variant{702, 6}, tuned: variant{802, 7},
			twins: []variant{{903, 5}, {904, 8}}, ports: set(4, perNode(space.TypeUnchanged)),
		},
		{
			name: "pairs", task: "graphs", doc: "nodes and a number for each pair to nodes: two rounds of messages",
			group: numbered("S(#)"), orbit: haar, graph: messages, heldOut: variant{703, 6}, tuned: variant{803, 7},
			twins: []variant{{905, 5}, {906, 8}}, ports: adjacency,
		},
		{
			name: "links", task: "graphs",
			doc:   "nodes and a list of edges to nodes: two rounds of messages along edges",
			group: numbered("S(#)"), orbit: haar, graph: linked, heldOut: variant{704, 6}, tuned: variant{804, 7},
			twins: []variant{{907, 5}, {908, 8}}, ports: edgeLists,
		},
		{
			name: "loop", task: "sequences", doc: "signal to signal: three convolutions, ends joined",
			group: numbered("Roll(#)"), graph: loop,
			orbit:   orbit.Spec{Values: [][]float64{{0}, {1}, {2}, {3}, {5}, {8}, {11}, {15}}},
			heldOut: variant{705, 24}, tuned: variant{805, 32}, twins: []variant{{909, 18}, {910, 40}},
			ports: func(n int) ports {
				p := records(space.SpecOf("x", space.NewSignal(2, n, 0)), signals(2, n),
					decode.OutputField{Name: "y", Kind: (&space.Signal{}).Kind()})
				p.move.Border = action.Circular
				return p
			},
		},
		{
			name: "causal", task: "sequences",
			doc:   "a stretch of a longer signal to a signal: convolutions without padding",
			group: fixed("T(1,Z)"), graph: causal,
			orbit:   orbit.Spec{Values: [][]float64{{0}, {1}, {2}, {3}, {-1}, {-2}, {5}}},
			heldOut: variant{706, 32}, tuned: variant{806, 40}, twins: []variant{{911, 28}, {912, 36}},
			ports: func(n int) ports {
				p := records(space.SpecOf("x", space.NewSignal(1, n, 0)), signals(1, 2*n),
					decode.OutputField{Name: "y", Kind: (&space.Signal{}).Kind()})
				p.in.Shape = []int{1, 2 * n}
				p.move.Window = []int{n}
				in := space.SpecOf("x", space.NewSignal(1, n, 0))
				p.codec = func(sig onnx.Signature) (decode.Codec, error) {
					return decode.NewRecord(sig, decode.RecordSpec{
						Sample:  in,
						Outputs: []decode.OutputField{{Name: "y", Kind: (&space.Signal{}).Kind()}},
					})
				}
				return p
			},
		},
		{
			name: "gaps", task: "sequences",
			doc:   "a signal to numbers: products of differences, the same in both directions",
			group: numbered("Roll(#)"), graph: gaps,
			orbit:   orbit.Spec{Values: [][]float64{{0}, {1}, {2}, {3}, {5}, {8}, {11}, {15}}},
			heldOut: variant{707, 24}, tuned: variant{807, 20}, twins: []variant{{913, 18}, {914, 30}},
			ports: func(n int) ports {
				p := records(space.SpecOf("x", space.NewSignal(1, n, 0)), signals(1, n), perSample(space.TypeUnchanged))
				p.move.Border = action.Circular
				return p
			},
		},
		{
			name: "movie", task: "sequences",
			doc:   "pictures in the order of time to pictures: each by itself, borders joined",
			group: fixed("Flow(shift x, shift y)"), graph: movie,
			orbit:   orbit.Spec{Values: [][]float64{{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {1, -1}}},
			heldOut: variant{708, 8}, tuned: variant{808, 7}, twins: []variant{{915, 6}, {916, 10}},
			ports: func(n int) ports {
				const t = 3
				p := records(space.SpecOf("x", space.NewFrames(t, 1, n, n)), func(r *rand.Rand) space.Value {
					f := &space.Frames{}
					for range t {
						f.Images = append(f.Images, noise(1, n, 0, 1.7)(r))
					}
					return f
				}, decode.OutputField{Name: "y", Kind: (&space.Frames{}).Kind()})
				p.move.Border = action.Circular
				return p
			},
		},
	}
}

func signals(c, t int) func(*rand.Rand) space.Value {
	return func(r *rand.Rand) space.Value {
		v := space.NewSignal(c, t, 0)
		for i := range v.Val {
			v.Val[i] = elementary.Normal(r)
		}
		return v
	}
}

func sums(s *sketch, n int) {
	x := s.at("rows", s.input("x", n, 3))
	h := s.at("hidden", s.tanh("bounded", s.layer("first", s.times("gain", x, 3), 3, 6)))
	h = s.at("each", s.tanh("bounded2", s.layer("second", s.times("gain2", h, 6), 6, 6)))
	h = s.at("vector", s.sum("sum", h, 1))
	s.answer("y", s.at("answer", s.layer("dense", h, 6, 4)), 4)
}

func attention(s *sketch, n int) {
	const w = 4
	x := s.at("rows", s.input("x", n, w))
	linear := func(name string) string {
		return s.product(name, x, s.floats(s.weights(name, s.normal(w*w, 0.5)), w, w))
	}
	q, k, v := s.at("queries", linear("query")), s.at("keys", linear("key")), s.at("values", linear("value"))
	score := s.at("scores", s.product("scores", q, s.transpose("across", k, 0, 2, 1)))
	a := s.at("attention", s.op("attention", "Softmax", []string{score}, onnx.AttrInt("axis", 2)))
	y := s.at("mixed", s.product("mixed", a, v))
	s.answer("y", s.at("answer", s.add("skip", y, s.tanh("bounded", x))), n, w)
}

// adjacency is nodes with two numbers each and a number for each ordered pair, of which a part is 0.
func adjacency(n int) ports {
	pairs := space.SpecOf("pairs", space.NewPairs(n, 1))
	pairs.Type = space.TypeUnchanged
	return records(space.Spec{Name: "graph", Kind: (&space.Record{}).Kind(), Fields: []space.Spec{
		rowsSpec("nodes", n, 2, space.TypeUnchanged), pairs,
	}}, func(r *rand.Rand) space.Value {
		p := space.NewPairs(n, 1)
		for i := range p.Val {
			if i%(n+1) > 0 && r.Float64() < 0.5 {
				p.Val[i] = 0.3 + r.Float64()
			}
		}
		return &space.Record{Names: []string{"nodes", "pairs"}, Values: []space.Value{someRows(r, n, 2, 1, 0), p}}
	}, perNode(space.TypeUnchanged))
}

// messages sends what a node knows along pairs, from column to row.
func messages(s *sketch, n int) {
	x := s.at("nodes", s.input("nodes", n, 2))
	a := s.at("pairs", s.reshape("adjacency", s.input("pairs", n, n, 1), -1, int64(n), int64(n)))
	h := s.at("known", s.tanh("bounded", s.layer("first", s.times("gain", x, 2), 2, 5)))
	for _, id := range []string{"1", "2"} {
		m := s.at("messages"+id, s.product("messages"+id, a, h))
		h = s.at("known"+id, s.tanh("bounded"+id, s.add("heard"+id, s.layer("self"+id, h, 5, 5),
			s.layer("other"+id, m, 5, 5))))
	}
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain2", h, 5), 5, 2)), n, 2)
}

// edgeLists is nodes with two numbers each and a list of twice as many edges.
func edgeLists(n int) ports {
	return records(space.Spec{Name: "graph", Kind: (&space.Record{}).Kind(), Fields: []space.Spec{
		rowsSpec("nodes", n, 2, space.TypeUnchanged),
		{Name: "edges", Kind: (&space.Links{}).Kind(), Shape: []int{2, 2 * n}},
	}}, func(r *rand.Rand) space.Value {
		l := &space.Links{Nodes: n}
		for range 2 * n {
			from := r.IntN(n)
			l.From = append(l.From, int32(from))               //nolint:gosec // small
			l.To = append(l.To, int32((from+1+r.IntN(n-1))%n)) //nolint:gosec // small
		}
		return &space.Record{Names: []string{"nodes", "edges"}, Values: []space.Value{someRows(r, n, 2, 1, 0), l}}
	}, perNode(space.TypeUnchanged))
}

// linked gathers what the nodes know where edges begin and adds it up where they end. It reads one graph at a time.
func linked(s *sketch, n int) {
	x := s.at("nodes", s.b.Input("nodes", tensor.Float32, n, 2))
	s.first, s.size = x, 2*n
	edges := s.b.Input("edges", tensor.Int64, 2, 2*n)
	end := func(name string, i int64) string {
		return s.op(name, "Squeeze", []string{
			s.op(name+"-row", "Slice", []string{edges, s.b.Ints(i), s.b.Ints(i + 1), s.b.Ints(0)}), s.b.Ints(0),
		})
	}
	from, to := end("begin", 0), end("end", 1)
	if s.setting("both directions swapped") > 0 {
		from, to = to, from
	}
	h := s.at("known", s.tanh("bounded", s.layer("first", s.times("gain", x, 2), 2, 5)))
	for _, id := range []string{"1", "2"} {
		m := s.at("sent"+id, s.op("sent"+id, "Gather", []string{h, from}, onnx.AttrInt("axis", 0)))
		// one-hot rows of the ends, transposed: adds up what arrives
		hot := s.op("hot"+id, "OneHot", []string{
			to, s.b.Ints(int64(n)), s.floats([]float32{0, 1}, 2),
		}, onnx.AttrInt("axis", 0))
		got := s.at("got"+id, s.product("got"+id, hot, m))
		h = s.at("known"+id, s.tanh("bounded"+id, s.add("heard"+id, s.layer("self"+id, h, 5, 5),
			s.layer("other"+id, got, 5, 5))))
	}
	y := s.at("answer", s.layer("dense", s.times("gain2", h, 5), 5, 2))
	s.op("y-out", "Identity", []string{y})
	nodes := s.b.Graph().GetNode()
	nodes[len(nodes)-1].Output[0] = "y"
	s.b.Output("y", tensor.Float32, n, 2)
}

// ends joins the ends of a signal, unless a setting says that zeros enter.
func (s *sketch) ends(name, h string, out, in, n int) string {
	w := s.normal(out*in*3, 0.5)
	if s.setting("zeros at "+name) > 0 {
		return s.padded(name, h, w, out, in, 3, 1, 1)
	}
	return s.padded(name, s.joined(name+"-joined", h, 1, n), w, out, in, 3, 1, 0)
}

func loop(s *sketch, n int) {
	h := s.at("input", s.input("x", 2, n))
	h = s.at("maps", s.op("relu1", "Relu", []string{s.ends("conv1", h, 4, 2, n)}))
	h = s.at("maps2", s.tanh("bounded", s.ends("conv2", h, 4, 4, n)))
	s.answer("y", s.at("answer", s.ends("conv3", h, 1, 4, n)), 1, n)
}

func causal(s *sketch, n int) {
	h := s.at("input", s.input("x", 1, n))
	pad := 0
	if s.setting("zeros at conv1") > 0 {
		pad = 1
	}
	h = s.at("maps", s.tanh("bounded", s.padded("conv1", h, s.normal(4*3, 0.5), 4, 1, 3, 1, pad)))
	t := n - 4 + 2*pad
	s.answer("y", s.at("answer", s.padded("conv2", h, s.normal(4*3, 0.5), 1, 4, 3, 1, 0)), 1, t)
}

func gaps(s *sketch, n int) {
	h := s.at("input", s.input("x", 1, n))
	h = s.at("maps", s.op("relu1", "Relu", []string{s.ends("conv1", h, 5, 1, n)}))
	h = s.at("maps2", s.tanh("bounded", s.ends("conv2", h, 5, 5, n)))
	h = s.at("vector", s.mean("mean", h, 2))
	s.answer("y", s.at("answer", s.layer("dense", s.times("gain", h, 6), 5, 4)), 4)
}

func movie(s *sketch, n int) {
	const t = 3
	x := s.at("input", s.input("x", t, 1, n, n))
	w, bias := s.floats(s.weights("look", s.normal(9, 0.5)), 1, 1, 3, 3), s.floats(s.normal(1, 0.1), 1)
	var said []string
	state := ""
	for i := range t {
		id := string(rune('1' + i))
		h := s.op("take"+id, "Slice", []string{x, s.b.Ints(int64(i)), s.b.Ints(int64(i + 1)), s.b.Ints(1)})
		h = s.at("frame"+id, s.op("picture"+id, "Squeeze", []string{h, s.b.Ints(1)}))
		pad := int64(0)
		if s.setting("zeros") > 0 {
			pad = 1
		} else {
			h = s.around("around"+id, h, 1, n)
		}
		h = s.op("look"+id, "Conv", []string{h, w, bias}, onnx.AttrInts("kernel_shape", 3, 3),
			onnx.AttrInts("pads", pad, pad, pad, pad))
		if k := s.setting("keep"); state != "" && k != 0 {
			h = s.add("remember"+id, h, s.times("kept"+id, state, k))
		}
		state = s.at("state"+id, s.tanh("state"+id, h))
		said = append(said, s.widen("say"+id, state, 1))
	}
	s.answer("y", s.at("answer", s.join("film", 1, said...)), t, 1, n, n)
}
