package decode_test

import (
	"math"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
)

func TestBoxesRefused(t *testing.T) {
	f := tensor.Float32
	one := func(shape ...int) []onnx.Port { return []onnx.Port{out("y", f, shape...)} }
	apart := []onnx.Port{out("b", f, -1, 9, 4), out("s", f, -1, 9, 3)}
	stated := []decode.BoxesPart{{Boxes: "b", Scores: "s"}}
	grid := []decode.Anchors{{Stride: 4}}
	for _, c := range []struct {
		name string
		outs []onnx.Port
		spec decode.BoxesSpec
		want string
	}{
		{
			"classes not said", one(1, 300, 85),
			decode.BoxesSpec{},
			"output y [1 300 85]: 85 numbers may be a box and scores of 81 classes, or of 80 with a confidence " +
				"between them; set output.boxes.classes",
		},
		{
			"classes not said, transposed", one(1, 84, 300),
			decode.BoxesSpec{},
			"84 numbers may be a box and scores of 80 classes",
		},
		{
			"one class or one label", one(1, 300, 6),
			decode.BoxesSpec{Classes: 1},
			"may be read as [box, object, scores] or as [box, score, label]; set output.boxes.columns",
		},
		{
			"two classes or one label", one(1, 300, 6),
			decode.BoxesSpec{Classes: 2},
			"[box, scores] or as [box, score, label]",
		},
		{
			"other classes", one(1, 300, 85),
			decode.BoxesSpec{Classes: 3},
			"with output.boxes.classes: 3 a box should have 7 numbers (box and scores), 8",
		},
		{
			"other classes with background", one(1, 300, 85),
			decode.BoxesSpec{Classes: 3, Background: "last"},
			"8 numbers (box and scores), 9 (a confidence between them), or 6 (box, score, label), one of them for " +
				"the background",
		},
		{
			"no scores", one(1, 300, 4),
			decode.BoxesSpec{},
			"these are coordinates without a score; name the outputs of both",
		},
		{"three numbers", one(1, 3, 3), decode.BoxesSpec{}, "no box with a score"},
		{"scores alone", one(1, 10), decode.BoxesSpec{}, "may be a box and scores of 6 classes"},
		{"a map", one(1, 85, 20, 20), decode.BoxesSpec{}, "has 4 axes, which is no list of boxes"},
		{
			"columns that do not fit", one(1, 3, 5),
			decode.BoxesSpec{Columns: []string{"box", "score", "label"}},
			"no axis is long enough for output.boxes.columns: [box score label]",
		},
		{
			"columns of either axis", one(1, 84, 300),
			decode.BoxesSpec{Columns: []string{"box", "scores"}},
			"both axes are longer than output.boxes.columns",
		},
		{
			"an unknown column", one(1, 3, 6),
			decode.BoxesSpec{Columns: []string{"box", "score", "class"}},
			`output.boxes.columns[2]: "class" is not known`,
		},
		{
			"a column twice", one(1, 3, 6),
			decode.BoxesSpec{Columns: []string{"box", "score", "score"}},
			"stands there twice",
		},
		{"columns without a box", one(1, 3, 6), decode.BoxesSpec{Columns: []string{"score"}}, "has no box"},
		{
			"columns without a score", one(1, 3, 6),
			decode.BoxesSpec{Columns: []string{"box", "label"}},
			"want either score",
		},
		{
			"scores before others", one(1, 3, 6),
			decode.BoxesSpec{Columns: []string{"box", "scores", "object"}},
			"stand at the end",
		},
		{
			"a label for each class", one(1, 3, 6),
			decode.BoxesSpec{Columns: []string{"label", "box", "scores"}},
			"a label goes with one score",
		},
		{
			"unknown form", one(1, 3, 6),
			decode.BoxesSpec{Form: "yxyx"},
			`output.boxes.form: "yxyx" is not known; say xyxy, cxcywh, xywh`,
		},
		{"unknown unit", one(1, 3, 6), decode.BoxesSpec{Unit: "cm"}, "output.boxes.unit"},
		{"unknown activation", one(1, 3, 6), decode.BoxesSpec{Activation: "relu"}, "output.boxes.activation"},
		{"unknown background", one(1, 3, 6), decode.BoxesSpec{Background: "middle"}, "output.boxes.background"},
		{"unknown suppression", one(1, 3, 6), decode.BoxesSpec{Suppress: "nms"}, "output.boxes.suppress"},
		{
			"limit above 1", one(1, 3, 6),
			decode.BoxesSpec{Limit: 50},
			"output.boxes.limit: 50; want a number above 0 and up to 1",
		},
		{"NaN overlap", one(1, 3, 6), decode.BoxesSpec{Overlap: math.NaN()}, "output.boxes.overlap: NaN"},
		{"infinite sigma", one(1, 3, 6), decode.BoxesSpec{Sigma: math.Inf(1)}, "output.boxes.sigma"},
		{"negative clamp", one(1, 3, 6), decode.BoxesSpec{Clamp: -1}, "output.boxes.clamp"},
		{"negative most", one(1, 3, 6), decode.BoxesSpec{Most: -1}, "most -1"},
		{
			"scale without anchors", one(1, 3, 6),
			decode.BoxesSpec{Scale: 128},
			"output.boxes.scale divides offsets from anchors",
		},
		{"log without anchors", one(1, 3, 6), decode.BoxesSpec{Log: true}, "output.boxes.log is for sizes relative"},
		{
			"log of corners", apart,
			decode.BoxesSpec{Log: true, Form: "xyxy", Anchors: grid},
			"output.boxes.log is for sizes, the form xyxy has none",
		},
		{
			"unit with anchors", apart,
			decode.BoxesSpec{Unit: "unit", Anchors: grid},
			"output.boxes.unit is for coordinates without anchors",
		},
		{
			"anchors without stride", apart,
			decode.BoxesSpec{Anchors: []decode.Anchors{{}}},
			"output.boxes.anchors[0].stride: 0",
		},
		{
			"anchors of no size", apart,
			decode.BoxesSpec{Anchors: []decode.Anchors{{Stride: 4, Sizes: [][2]float64{{1, 0}}}}},
			"sizes: [1 0]; want a width and a height above 0",
		},
		{
			"anchors counted twice", apart,
			decode.BoxesSpec{Anchors: []decode.Anchors{{Stride: 4, PerCell: 2, Sizes: [][2]float64{{1, 1}}}}},
			"per_cell is 2 and sizes lists 1",
		},
		{
			"too many anchors", apart,
			decode.BoxesSpec{Anchors: []decode.Anchors{{Stride: 1, PerCell: 1 << 20}}},
			"more than 1048576 are refused: set a larger stride",
		},
		{
			"anchors of other number", apart,
			decode.BoxesSpec{Anchors: grid},
			"4 anchors (4) on a window of 8 x 8 for 9 boxes of the model",
		},
		{
			"no such output", apart,
			decode.BoxesSpec{Parts: []decode.BoxesPart{{Boxes: "b", Scores: "z"}}},
			`output.boxes.parts[0].scores: the model has no output "z"; there are b, s`,
		},
		{
			"a part without boxes", apart,
			decode.BoxesSpec{Parts: []decode.BoxesPart{{Scores: "s"}}},
			"output.boxes.parts[0].boxes: missing",
		},
		{
			"labels without scores", apart,
			decode.BoxesSpec{Parts: []decode.BoxesPart{{Boxes: "b", Labels: "s"}}},
			"output.boxes.parts[0].scores: missing",
		},
		{
			"labels of other shape", apart,
			decode.BoxesSpec{Parts: []decode.BoxesPart{{Boxes: "b", Scores: "s", Labels: "s"}}},
			"one number for each of 9 boxes",
		},
		{
			"labels beside classes", append(apart[:2:2], out("l", f, -1, 9)),
			decode.BoxesSpec{Parts: []decode.BoxesPart{{Boxes: "b", Scores: "s", Labels: "l"}}},
			"has 3 scores per box beside the labels of l",
		},
		{
			"parts that do not fit",
			[]onnx.Port{apart[0], out("s", f, -1, 8, 3)},
			decode.BoxesSpec{Parts: stated},
			"do not belong together",
		},
		{
			"classes of parts", apart,
			decode.BoxesSpec{Parts: stated, Classes: 2},
			"output s [? 9 3] has 3 scores per box, output.boxes.classes is 2; change it, or output.boxes.background",
		},
		{
			"a map of scores",
			[]onnx.Port{apart[0], out("s", f, -1, 3, 3, 9, 3)},
			decode.BoxesSpec{Parts: stated},
			"has 5 axes, which are no scores",
		},
		{
			"background alone",
			[]onnx.Port{apart[0], out("s", f, -1, 9, 1)},
			decode.BoxesSpec{Background: "first"},
			"has one score per box, which output.boxes.background leaves out",
		},
		{
			"last of an unknown number", one(1, 3, 6),
			decode.BoxesSpec{Background: "last"},
			"does not say which of them; set output.boxes.classes",
		},
		{
			"two that may be boxes",
			[]onnx.Port{apart[0], out("s", f, -1, 9, 4)},
			decode.BoxesSpec{},
			"2 may hold coordinates among the outputs (b float32[? 9 4], s float32[? 9 4]); name them in " +
				"output.boxes.parts",
		},
		{
			"scores not found", append(apart[:2:2], out("z", f, -1, 9, 3)),
			decode.BoxesSpec{},
			`the scores of "b" are not found`,
		},
		{
			"labels alone",
			[]onnx.Port{apart[0], out("l", tensor.Int64, -1, 9)},
			decode.BoxesSpec{},
			`the scores of "b" are not found`,
		},
		{
			"labels or scores",
			[]onnx.Port{apart[0], out("p", f, -1, 9), out("q", f, -1, 9)},
			decode.BoxesSpec{},
			`scores and labels of "b" cannot be told apart`,
		},
		{"no boxes", []onnx.Port{out("p", f, -1, 9), out("q", f, -1, 9, 9)}, decode.BoxesSpec{}, "no boxes are found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode.New(detector(8, c.outs...), decode.InputSpec{},
				decode.OutputSpec{Space: space.KindBoxes, Boxes: c.spec})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %q", err, c.want)
			}
		})
	}
	// What needs the size of the window, where nobody says it; and a window that is not what the model sees.
	free := onnx.Signature{Inputs: []onnx.Port{out("x", f, -1, 3, -1, -1)}, Outputs: one(1, 3, 6)}
	for want, spec := range map[string]decode.BoxesSpec{
		"output.boxes.unit: unit": {Unit: "unit"},
		"output.boxes.clip":       {Clip: true}, "output.boxes.anchors": {Anchors: grid},
	} {
		if _, err := decode.New(free, decode.InputSpec{},
			decode.OutputSpec{Space: space.KindBoxes, Boxes: spec}); err == nil ||
			!strings.Contains(err.Error(), want+": the size of what the model sees is not known") {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := decode.New(free, decode.InputSpec{},
			decode.OutputSpec{Space: space.KindBoxes, Boxes: spec, Window: [2]int{8, 8}}); err != nil &&
			want != "output.boxes.anchors" {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		out  decode.OutputSpec
		want string
	}{
		{
			decode.OutputSpec{Window: [2]int{16, 8}},
			"a window of 16 x 8 (height x width) for samples of any x any and an input of 8 x 8",
		},
		{decode.OutputSpec{Decode: "softmax"}, "output.decode"},
		{decode.OutputSpec{Name: "z"}, `no output "z"`},
	} {
		c.out.Space = space.KindBoxes
		if _, err := decode.New(detector(8, one(1, 3, 6)...), decode.InputSpec{}, c.out); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := decode.NewTensors(onnx.Signature{Inputs: []onnx.Port{out("x", f, -1, 3)}, Outputs: one(1, 3, 6)},
		decode.OutputSpec{Space: space.KindBoxes}); err == nil {
		t.Error("boxes from tensors")
	}
	fixed := onnx.Signature{Inputs: []onnx.Port{out("x", f, 4, 3, 8, 8)}, Outputs: one(-1, 6)}
	if _, err := decode.New(fixed, decode.InputSpec{}, decode.OutputSpec{Space: space.KindBoxes}); err == nil ||
		!strings.Contains(err.Error(), "the input is fixed to 4") {
		t.Error(err)
	}
}

// What only a run can show is refused there.
func TestBoxesRefusedAtRunTime(t *testing.T) {
	f := tensor.Float32
	s := detector(8, out("b", f, -1, -1, 4), out("s", f, -1, -1, -1))
	b := named("b", make([]float64, 8), 1, 2, 4)
	for _, c := range []struct {
		name string
		spec decode.BoxesSpec
		arr  []tensor.Named
		n    int
		want string
	}{
		{
			"raw scores",
			decode.BoxesSpec{},
			[]tensor.Named{b, named("s", []float64{0, 0.5, 0, 3.25}, 1, 2, 2)},
			1,
			`output "b", sample 0: box 1: the confidence is 3.25, want 0 to 1; set output.boxes.activation`,
		},
		{
			"negative scores",
			decode.BoxesSpec{},
			[]tensor.Named{b, named("s", []float64{-2, -3, 0, 1}, 1, 2, 2)},
			1,
			"the confidence is -2",
		},
		{"no scores", decode.BoxesSpec{}, []tensor.Named{b}, 1, `the model returned no output "s"`},
		{
			"fewer scores",
			decode.BoxesSpec{},
			[]tensor.Named{b, named("s", []float64{1}, 1, 1, 1)},
			1,
			"do not belong together",
		},
		{
			"other batch",
			decode.BoxesSpec{},
			[]tensor.Named{b, named("s", make([]float64, 4), 1, 2, 2)},
			2,
			`output "b" has the shape [1 2 4] for a batch of 2`,
		},
		{
			"other classes",
			decode.BoxesSpec{Classes: 3},
			[]tensor.Named{b, named("s", make([]float64, 4), 1, 2, 2)},
			1,
			"output.boxes.classes is 3",
		},
		{
			"other anchors",
			decode.BoxesSpec{Anchors: []decode.Anchors{{Stride: 4}}},
			[]tensor.Named{b, named("s", make([]float64, 4), 1, 2, 2)},
			1,
			"4 anchors (4) on a window of 8 x 8 for 2 boxes",
		},
		{
			"wider boxes",
			decode.BoxesSpec{},
			[]tensor.Named{named("b", make([]float64, 10), 1, 2, 5), named("s", make([]float64, 4), 1, 2, 2)},
			1,
			`output "b" of shape [1 2 5] is not what the model declares, [? ? 4]`,
		},
		{
			"lying bytes",
			decode.BoxesSpec{},
			[]tensor.Named{
				{Name: "b", Tensor: tensor.Tensor{DType: f, Shape: []int{1, 2, 4}, Raw: make([]byte, 4)}},
				named("s", make([]float64, 4), 1, 2, 2),
			},
			1, "4 bytes",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := decode.New(s, decode.InputSpec{}, decode.OutputSpec{Space: space.KindBoxes, Boxes: c.spec})
			if err != nil {
				t.Fatal(err)
			}
			good := []tensor.Named{named("b", make([]float64, 16), 1, 4, 4), named("s", make([]float64, 12), 1, 4, 3)}
			for range 2 { // with a workspace that remembers other shapes
				if _, err := k.Decode(c.arr, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v\nwant %q", err, c.want)
				}
				if _, err := k.Decode(good, 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	labels := detector(8, out("y", f, -1, -1, 6))
	k, err := decode.New(labels, decode.InputSpec{},
		decode.OutputSpec{Space: space.KindBoxes, Boxes: decode.BoxesSpec{Classes: 80}})
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[float64]string{
		90:  "class 90 of 80; check output.boxes.classes",
		1.5: "1.5 is no class number",
	} {
		if _, err := k.Decode([]tensor.Named{named("y", []float64{1, 1, 2, 2, 0.5, label}, 1, 1, 6)}, 1); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzBoxes: any outputs of a detector and any specification are served or refused, never a panic; what is served is
// sorted, and no box that is not finite is lost while a finite one stays.
func FuzzBoxes(f *testing.F) {
	f.Add([]byte{1, 3, 6}, []byte{}, []byte{10, 20, 30, 60, 40, 1}, uint64(0), uint8(0))
	f.Add([]byte{1, 6, 9}, []byte{}, []byte{10, 20, 30, 60, 40, 1}, uint64(0x51), uint8(2))
	f.Add([]byte{1, 4, 4}, []byte{1, 4, 2}, []byte{255, 254, 3, 4, 5}, uint64(0x1234567), uint8(1))
	f.Add([]byte{4, 7}, []byte{4}, []byte{0, 20, 253}, uint64(0x9f3a11), uint8(3))
	f.Fuzz(func(t *testing.T, first, second, numbers []byte, bits uint64, classes uint8) {
		dims := func(b []byte) (s []int) {
			for _, x := range b[:min(len(b), 5)] {
				s = append(s, int(x%12))
			}
			return s
		}
		pick := func(words ...string) string {
			w := words[bits%uint64(len(words))]
			bits /= uint64(len(words))
			return w
		}
		at := 0
		array := func(name string, shape []int) tensor.Named {
			v := make([]float64, tensor.Count(shape))
			for i := range v {
				if len(numbers) == 0 {
					break
				}
				switch x := numbers[at%len(numbers)]; x {
				case 255:
					v[i] = math.NaN()
				case 254:
					v[i] = math.Inf(1)
				case 253:
					v[i] = -1
				default:
					v[i] = float64(x) / 64
				}
				at++
			}
			return named(name, v, shape...)
		}
		declare := func(name string, shape []int) onnx.Port {
			p := out(name, tensor.Float32, shape...)
			for i := range p.Shape {
				if pick("", "free", "") == "free" {
					p.Shape[i].Size = -1
				}
			}
			p.Ranked = pick("ranked", "ranked", "not") == "ranked"
			return p
		}
		shapes := [2][]int{dims(first), dims(second)}
		s := detector(8, declare("a", shapes[0]))
		arr := []tensor.Named{array("a", shapes[0])}
		spec := decode.BoxesSpec{
			Form: pick("", "xyxy", "cxcywh", "xywh"), Unit: pick("", "unit"),
			Activation: pick("", "sigmoid", "softmax"), Background: pick("", "first", "last"),
			Suppress: pick("", "hard", "soft", "weighted", "none"), Swap: pick("", "y") != "",
			Clip: pick("", "y") != "", Classes: int(classes % 8),
		}
		if len(second) > 0 {
			s.Outputs = append(s.Outputs, declare("b", shapes[1]))
			arr = append(arr, array("b", shapes[1]))
			if pick("", "stated") != "" {
				spec.Parts = []decode.BoxesPart{{Boxes: "a", Scores: "b", Labels: pick("", "b"), Object: pick("", "b")}}
			}
		}
		if pick("", "anchors") != "" {
			spec.Unit, spec.Anchors, spec.Log = "", []decode.Anchors{{Stride: 4, PerCell: 1 + int(classes%3)}},
				pick("", "log") != ""
		}
		if c := pick("", "box score", "image box score", "box object scores", "label skip box score"); c != "" {
			spec.Columns = strings.Fields(c)
		}
		k, err := decode.New(s, decode.InputSpec{}, decode.OutputSpec{Space: space.KindBoxes, Boxes: spec})
		if err != nil {
			return
		}
		v, err := k.Decode(arr, 1)
		if err != nil {
			return
		}
		b, ok := v[0].(*space.Boxes)
		if !ok || len(v) != 1 {
			t.Fatalf("%v", v)
		}
		odd := true
		for i, x := range b.Items {
			_, _, n := decode.Irregular(&space.Boxes{Items: b.Items[i : i+1]})
			if n == 1 && !odd {
				t.Fatalf("%+v stands behind a finite one", x)
			}
			if odd = n == 1; odd {
				continue
			}
			if !(x.Score >= 0.05) || i > 0 && !(b.Items[i-1].Score >= x.Score) {
				if _, _, before := decode.Irregular(&space.Boxes{Items: b.Items[max(i-1, 0):i]}); before == 0 {
					t.Fatalf("score %g at %d of %+v", x.Score, i, b.Items)
				}
			}
		}
	})
}

func BenchmarkDecodeBoxes(b *testing.B) {
	f := tensor.Float32
	number := func(i int) float64 { return math.Mod(float64(i)*0.7317, 1) }
	array := func(name string, f func(i int) float64, shape ...int) tensor.Named {
		v := make([]float32, tensor.Count(shape))
		for i := range v {
			v[i] = float32(f(i))
		}
		return tensor.Named{Name: name, Tensor: tensor.FromFloat32(v, shape...)}
	}
	raw := func(i int) float64 { // 10 of 896 above the limit
		if i%90 == 0 {
			return 1 + number(i)
		}
		return -5
	}
	for _, c := range []struct {
		name string
		side int
		outs []onnx.Port
		spec decode.BoxesSpec
		arr  []tensor.Named
	}{
		{
			"896 anchors", 128,
			[]onnx.Port{
				out("s1", f, 1, 512, 1), out("s2", f, 1, 384, 1), out("b1", f, 1, 512, 16),
				out("b2", f, 1, 384, 16),
			},
			decode.BoxesSpec{
				Anchors: []decode.Anchors{{Stride: 8, PerCell: 2}, {Stride: 16, PerCell: 6}}, Scale: 128,
				Activation: "sigmoid", Clamp: 100, Suppress: "weighted", Overlap: 0.3,
			},
			[]tensor.Named{
				array("s1", raw, 1, 512, 1), array("s2", raw, 1, 384, 1), array("b1", number, 1, 512, 16),
				array("b2", number, 1, 384, 16),
			},
		},
		{
			"25200 of 80 classes", 640,
			[]onnx.Port{out("y", f, 1, 25200, 85)},
			decode.BoxesSpec{Classes: 80, Form: "cxcywh"},
			[]tensor.Named{array("y", func(i int) float64 {
				if i%85 < 4 {
					return 640 * number(i)
				}
				return 0.3 * number(i)
			}, 1, 25200, 85)},
		},
	} {
		b.Run(c.name, func(b *testing.B) {
			k, err := decode.New(detector(c.side, c.outs...), decode.InputSpec{},
				decode.OutputSpec{Space: space.KindBoxes, Boxes: c.spec})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Decode(c.arr, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
