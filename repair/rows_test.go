package repair

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
)

// kindsOf are the kinds of a sample of sourceOf that has some, to be changed.
func kindsOf(t *testing.T, s Source) []float64 {
	t.Helper()
	r, ok := s.Sample.(*space.Record)
	if !ok {
		t.Fatal("no record")
	}
	kinds, ok := r.Values[1].(*space.Rows)
	if !ok {
		t.Fatal("no kinds")
	}
	return kinds.Val
}

// Rows that fill up samples in the data themselves are told by a mask, too: they neither move nor count, whatever
// stands in them and whether or not they are moved along.
func TestPaddingOfTheData(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 0))
	const room, rows = 8, 5
	m := masked(t, room)
	outs := []decode.OutputField{{Name: "y", Port: m.Signature().Outputs[0].Name, Type: space.TypeUnchanged}}
	for _, claim := range []string{"SO(3)", "E(3)"} {
		s := sourceOf(t, m, claim, outs, room, append(cloudOf(r, rows), make([]float64, 3*(room-rows))...))
		kinds := kindsOf(t, s)
		for i := rows; i < room; i++ {
			kinds[i] = 0
		}
		in, err := s.Codec.Encode([]space.Value{s.Sample}, nil)
		if err != nil {
			t.Fatal(err)
		}
		in = cloned(in)
		moved, err := s.In.Apply(draws(s.Group, 4)[1], s.Sample)
		if err != nil {
			t.Fatal(err)
		}
		other, err := s.Codec.Encode([]space.Value{moved}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"frame", "frame:mask=species", "pose"} {
			made := repaired(t, s, method)
			clean := floats(t, ask(t, made, in...)[0].Tensor)
			for _, rest := range []float64{0, 1, -1e6, math.NaN()} {
				x := floats(t, other[0].Tensor)
				for i := 3 * rows; i < len(x); i++ {
					x[i] = rest
				}
				dirty, err := decode.Rounded(tensor.Float32, x, 1, room, 3)
				if err != nil {
					t.Fatal(err)
				}
				y := floats(t, ask(t, made, tensor.Named{Name: "x", Tensor: dirty}, other[1])[0].Tensor)
				if d := distance(clean, y); !(d <= 1e-5) {
					t.Errorf("%s, %s: moved, with %g in the rows that fill up, the answer changes by %g", claim, method,
						rest, d)
				}
			}
		}
		asked, err := Parse("frame:mask=species")
		if err != nil {
			t.Fatal(err)
		}
		kinds[2] = 0 // a row that is left out, though it is none of the last ones
		repaired(t, s, "frame:mask=species")
		for i := range kinds {
			kinds[i] = 0
			if i >= rows {
				kinds[i] = 1
			}
		}
		if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), "0 in rows that hold points") {
			t.Errorf("%s: a mask that is 0 where points are: %v", claim, err)
		}
		clear(kinds)
		if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), "it is not a number for each row") {
			t.Errorf("%s: a mask that is 0 everywhere: %v", claim, err)
		}
	}
}

// Averages and selections over finite groups of space are row by row: one file reads samples with different numbers of
// points, and answers what the model says to each of them in all poses, put together by hand.
func TestRowsOfDifferentNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 0))
	const room = 8
	m := masked(t, room)
	outs := []decode.OutputField{{
		Port: m.Signature().Outputs[0].Name, Kind: space.KindScores, Decode: "logits",
	}}
	s := sourceOf(t, m, "Octa", outs, room, cloudOf(r, 3))
	s.Elements = elementsOf(t, s.Group)
	long := sourceOf(t, m, "Octa", outs, room, cloudOf(r, room)).Sample
	s.Fit = []space.Value{long}
	for _, method := range []string{"average", "average:exact=true", "select:score=energy", "select"} {
		made := repaired(t, s, method)
		for _, v := range []space.Value{s.Sample, long} {
			var all [][]float64
			for _, g := range s.Elements {
				moved, err := s.In.Apply(g, v)
				if err != nil {
					t.Fatal(err)
				}
				in, err := s.Codec.Encode([]space.Value{moved}, nil)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, floats(t, ask(t, m, in...)[0].Tensor))
			}
			want := make([]float64, 3)
			if strings.HasPrefix(method, "average") {
				for _, y := range all {
					for j, x := range y {
						want[j] += x / float64(len(all))
					}
				}
			} else {
				sure := marginOf
				if method != "select" {
					sure = energyOf
				}
				want = slices.MaxFunc(all, func(x, y []float64) int {
					if sure(x) < sure(y) {
						return -1
					}
					return 1
				})
			}
			in, err := s.Codec.Encode([]space.Value{v}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if y := floats(t, ask(t, made, in...)[0].Tensor); !(distance(y, want) <= 1e-5) {
				t.Errorf("%s of %s: %v, want %v", method, v.Form(), y, want)
			}
		}
	}
	// Permutations move rows among each other: how, is written for one number of them.
	s = sourceOf(t, m, "S(3)", outs, room, cloudOf(r, 3))
	s.Elements, s.Fit = elementsOf(t, s.Group), []space.Value{long}
	asked, err := Parse("average")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), "samples have different sizes") {
		t.Errorf("permutations of samples of different sizes: %v", err)
	}
}

// A file whose motions are written for one size says so of inputs that were of any size before: a body that read
// another in parts would answer other samples.
func TestOneSize(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "n", 1, "h", "w")
	k := tensor.FromFloat32([]float32{.5, 1, .25, -1, 4, 1, .75, 2, .5}, 1, 1, 3, 3)
	y := b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{b.Op("Relu", []string{
		b.Op("Conv", []string{x, b.Const(k)}),
	})})})
	b.Output(b.Op("Mul", []string{y, b.Const(tensor.FromFloat32([]float32{1, -1, 2, .5}, 1, 4))}), tensor.Float32, "n",
		4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"average", "select", "pose"} {
		s := picturesOf(t, m, "C4", "NCHW", 1, 9, 9)
		s.Elements = elementsOf(t, s.Group)
		port := repaired(t, s, method).Signature().Inputs[0]
		if len(port.Shape) != 4 || !port.Shape[0].Free() || !slices.Equal(port.Sizes()[1:], []int{1, 9, 9}) {
			t.Errorf("%s: the file reads %s, want pictures of 9 x 9 in any number", method, port)
		}
	}
}

// A graph that is read by itself, without an axis of samples, is refused by every method for what it is, and so are
// answers that are whole numbers, of which a mean is none.
func TestWhatHasNoMean(t *testing.T) {
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "nodes", 3)
	e := b.Input("e", tensor.Int64, 2, "edges")
	ends := b.Op("Gather", []string{x, e}) // [2, edges, 3]
	y := b.Op("ReduceSum", []string{b.Op("Sin", []string{ends}), b.Ints(0, 1)}, onnx.AttrInt("keepdims", 0))
	b.Output(b.Op("Reshape", []string{y, b.Ints(1, 3)}), tensor.Float32, 1, 3)
	graph, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	g := named(t, "Octa")
	v := &space.Record{Names: []string{"x", "e"}, Values: []space.Value{
		&space.Rows{N: 3, W: 3, Val: cloudOf(rand.New(rand.NewPCG(41, 0)), 3), Type: space.TypePositions},
		&space.Links{Nodes: 3, From: []int32{0, 1}, To: []int32{1, 2}},
	}}
	spec := space.Spec{Kind: space.KindRecord, Fields: []space.Spec{
		{Name: "x", Kind: space.KindRows, Type: space.TypePositions, Shape: []int{-1, 3}},
		{Name: "e", Kind: space.KindLinks, Shape: []int{2, -1}},
	}}
	codec, err := decode.NewRecord(graph.Signature(), decode.RecordSpec{
		Sample: spec, Inputs: []decode.InputField{{Field: "x", Port: "x"}, {Field: "e", Port: "e"}},
		Outputs: []decode.OutputField{{
			Port: graph.Signature().Outputs[0].Name, Kind: space.KindScores, Decode: "logits",
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.Rules().For(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := Source{
		Model: graph, Codec: codec, Group: g, In: in, Out: action.Trivial{G: g}, Sample: v,
		Answer: &space.Scores{Val: make([]float64, 3)}, Elements: elementsOf(t, g),
	}
	refused := func(s Source, method, want string) {
		t.Helper()
		asked, err := Parse(method)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Build(s, asked)
		if err == nil || !strings.Contains(err.Error(), want) || strings.HasPrefix(err.Error(), asked.Method.Name) {
			t.Errorf("%s: %v, want %q without the name of the method", method, err, want)
		}
	}
	for _, method := range []string{"average", "select", "frame", "pose"} {
		refused(one, method, "reads one sample at a time")
	}
	b = onnx.NewBuilder(13)
	x = b.Input("x", tensor.Float32, "n", 1, 9, 9)
	b.Output(b.Op("Cast", []string{b.Op("Round", []string{x})}, onnx.AttrInt("to", int64(tensor.Int64))), tensor.Int64,
		"n", 1, 9, 9)
	whole, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	s := picturesOf(t, dense(t, 13, 0, 1, 9, 9), "C4", "NCHW", 1, 9, 9)
	shape := space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, 9, 9}}
	if s.Codec, err = decode.New(whole.Signature(), decode.InputSpec{Sample: shape.Shape, Layout: "NCHW", Scale: 1},
		decode.OutputSpec{Space: space.KindImage}); err != nil {
		t.Fatal(err)
	}
	s.Model, s.Out, s.Answer, s.Elements = whole, s.In, space.NewImage(1, 9, 9), elementsOf(t, s.Group)
	refused(s, "average", "there is no mean of such answers")
}
