package decode_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
)

// out is an output of a signature; sizes below 0 are free.
func out(name string, d tensor.DType, shape ...int) onnx.Port {
	p := onnx.Port{Name: name, Kind: "tensor", DType: d, Ranked: true, Shape: []onnx.Dim{}}
	for _, n := range shape {
		p.Shape = append(p.Shape, onnx.Dim{Size: n})
	}
	return p
}

// detector is the signature of a model that reads pictures and returns boxes.
func detector(side int, outputs ...onnx.Port) onnx.Signature {
	return onnx.Signature{Inputs: []onnx.Port{out("x", tensor.Float32, -1, 3, side, side)}, Outputs: outputs}
}

// named makes an output of a run.
func named(name string, v []float64, shape ...int) tensor.Named {
	t, err := decode.Rounded(tensor.Float64, v, shape...)
	if err != nil {
		panic(err)
	}
	return tensor.Named{Name: name, Tensor: t}
}

// boxesOf decodes the outputs of a batch of n.
func boxesOf(tb testing.TB, s onnx.Signature, spec decode.BoxesSpec, n int, arrays ...tensor.Named) []*space.Boxes {
	tb.Helper()
	k, err := decode.New(s, decode.InputSpec{}, decode.OutputSpec{Space: space.KindBoxes, Boxes: spec})
	if err != nil {
		tb.Fatal(err)
	}
	v, err := k.Decode(arrays, n)
	if err != nil {
		tb.Fatal(err)
	}
	sets := make([]*space.Boxes, len(v))
	for i := range v {
		b, ok := v[i].(*space.Boxes)
		if !ok {
			tb.Fatalf("%T, want boxes", v[i])
		}
		sets[i] = b
	}
	return sets
}

// near compares sets of boxes to 1e-9; NaN equals NaN.
func near(got []space.Box, want []space.Box) bool {
	same := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9 || math.IsNaN(a) && math.IsNaN(b) }
	return slices.EqualFunc(got, want, func(a, b space.Box) bool {
		return same(a.X1, b.X1) && same(a.Y1, b.Y1) && same(a.X2, b.X2) && same(a.Y2, b.Y2) && same(a.Score, b.Score) &&
			a.Label == b.Label && a.Cut == b.Cut
	})
}

func box(x1, y1, x2, y2, score float64, label int) space.Box {
	return space.Box{X1: x1, Y1: y1, X2: x2, Y2: y2, Score: score, Label: label}
}

// Each way in which detectors lay out the same two boxes: (10, 20)-(30, 60) of class 1 at 0.9 and (40, 10)-(60, 30) of
// class 0 at 0.5, on 100 x 100.
func TestBoxesLayouts(t *testing.T) {
	want := []space.Box{box(10, 20, 30, 60, 0.9, 1), box(40, 10, 60, 30, 0.5, 0)}
	corners := []float64{40, 10, 60, 30, 10, 20, 30, 60}
	f := tensor.Float32
	for _, c := range []struct {
		name string
		outs []onnx.Port
		spec decode.BoxesSpec
		arr  []tensor.Named
		note string
	}{
		{
			"after suppression",
			[]onnx.Port{out("y", f, -1, -1, 6)},
			decode.BoxesSpec{},
			[]tensor.Named{named("y", []float64{40, 10, 60, 30, 0.5, 0, 10, 20, 30, 60, 0.9, 1, 0, 0, 0, 0, 0, -1}, 1,
				3, 6)},
			"box, score, label; set",
		},
		{
			"padded with -1",
			[]onnx.Port{out("y", f, 1, 3, 6)},
			decode.BoxesSpec{},
			[]tensor.Named{named("y", []float64{40, 10, 60, 30, 0.5, 0, 10, 20, 30, 60, 0.9, 1, -1, -1, -1, -1, -1, -1},
				1, 3, 6)},
			"own suppression",
		},
		{
			"with the number of the sample",
			[]onnx.Port{out("y", f, -1, 7)},
			decode.BoxesSpec{Columns: []string{"image", "box", "label", "score"}},
			[]tensor.Named{named("y", []float64{
				0, 40, 10, 60, 30, 0, 0.5, 0, 10, 20, 30, 60, 1, 0.9, -1, 0, 0, 0, 0, 0,
				0,
			}, 3, 7)},
			"",
		},
		{
			"as Caffe's and OpenVINO's SSD",
			[]onnx.Port{out("y", f, 1, 1, -1, 7)},
			decode.BoxesSpec{Columns: []string{"image", "label", "score", "box"}, Unit: "unit", Background: "first"},
			[]tensor.Named{named("y", []float64{
				0, 1, 0.5, 0.4, 0.1, 0.6, 0.3, 0, 2, 0.9, 0.1, 0.2, 0.3, 0.6, 0, 0, 0.7,
				0, 0, 1, 1,
			}, 1, 1, 3, 7)},
			"",
		},
		{
			"YOLOv5",
			[]onnx.Port{out("y", f, 1, -1, 7), out("map", f, 1, 3, 4, 4, 7)},
			decode.BoxesSpec{Form: "cxcywh", Classes: 2},
			[]tensor.Named{named("y", []float64{50, 20, 20, 20, 0.5, 1, 0, 20, 40, 20, 40, 1, 0.25, 0.9}, 1, 2, 7)},
			`boxes are read from output y`,
		},
		{
			"YOLOv8",
			[]onnx.Port{out("y", f, -1, 6, 3)},
			decode.BoxesSpec{Form: "cxcywh", Classes: 2},
			[]tensor.Named{named("y", []float64{50, 20, 0, 20, 40, 0, 20, 20, 0, 20, 40, 0, 0.5, 0.1, 0, 0.2, 0.9, 0},
				1, 6, 3)},
			"a column per box with box, scores; set",
		},
		{
			"one picture at a time",
			[]onnx.Port{out("y", f, -1, 6)},
			decode.BoxesSpec{},
			[]tensor.Named{named("y", []float64{40, 10, 60, 30, 0.5, 0, 10, 20, 30, 60, 0.9, 1}, 2, 6)},
			"",
		},
		{
			"torchvision",
			[]onnx.Port{out("boxes", f, -1, 4), out("labels", tensor.Int64, -1), out("scores", f, -1)},
			decode.BoxesSpec{Background: "first"},
			[]tensor.Named{
				named("boxes", corners, 2, 4), named("labels", []float64{1, 2}, 2),
				named("scores", []float64{0.5, 0.9}, 2),
			},
			`boxes are read from output "boxes", scores from "scores", class numbers from "labels"`,
		},
		{
			"TensorFlow",
			[]onnx.Port{
				out("detection_boxes", f, 1, 2, 4), out("detection_classes", f, 1, 2),
				out("detection_scores", f, 1, 2), out("num_detections", f, 1),
			},
			decode.BoxesSpec{Background: "first", Swap: true, Unit: "unit"},
			[]tensor.Named{
				named("detection_boxes", []float64{0.1, 0.4, 0.3, 0.6, 0.2, 0.1, 0.6, 0.3}, 1, 2, 4),
				named("detection_classes", []float64{1, 2}, 1, 2),
				named("detection_scores", []float64{0.5, 0.9}, 1, 2), named("num_detections", []float64{2}, 1),
			},
			`class numbers from "detection_classes"`,
		},
		{
			"scores apart",
			[]onnx.Port{out("conf", f, -1, 2, 3), out("loc", f, -1, 2, 4)},
			decode.BoxesSpec{Background: "last", Form: "xywh"},
			[]tensor.Named{
				named("loc", []float64{40, 10, 20, 20, 10, 20, 20, 40}, 1, 2, 4),
				named("conf", []float64{0.5, 0.1, 0.9, 0, 0.9, 0.3}, 1, 2, 3),
			},
			`scores from "conf"`,
		},
		{
			"boxes along the last axis",
			[]onnx.Port{out("conf", f, -1, 2, 3), out("loc", f, -1, 4, 3)},
			decode.BoxesSpec{Parts: []decode.BoxesPart{{Boxes: "loc", Scores: "conf"}}, Classes: 2},
			[]tensor.Named{
				named("loc", []float64{40, 10, 0, 10, 20, 0, 60, 30, 0, 30, 60, 0}, 1, 4, 3),
				named("conf", []float64{0.5, 0.1, 0, 0.2, 0.9, 0}, 1, 2, 3),
			},
			"",
		},
		{
			"objectness apart",
			[]onnx.Port{out("b", f, -1, -1, 4), out("c", f, -1, -1, 2), out("o", f, -1, -1, 1)},
			decode.BoxesSpec{Parts: []decode.BoxesPart{{Boxes: "b", Scores: "c", Object: "o"}}},
			[]tensor.Named{
				named("b", corners, 1, 2, 4), named("c", []float64{1, 0.5, 0.3, 0.9}, 1, 2, 2),
				named("o", []float64{0.5, 1}, 1, 2, 1),
			},
			"",
		},
		{
			"two parts, wider than a box",
			[]onnx.Port{
				out("s1", f, 1, 1, 1, 2), out("s2", f, 1, 1, 1, 2), out("b1", f, 1, 1, 1, 5),
				out("b2", f, 1, 1, 1, 5),
			},
			decode.BoxesSpec{Parts: []decode.BoxesPart{{Boxes: "b1", Scores: "s1"}, {Boxes: "b2", Scores: "s2"}}},
			[]tensor.Named{
				named("b1", []float64{40, 10, 60, 30, 7}, 1, 1, 1, 5),
				named("b2", []float64{10, 20, 30, 60, 8}, 1, 1, 1, 5),
				named("s1", []float64{0.5, 0.1}, 1, 1, 1, 2), named("s2", []float64{0.5, 0.9}, 1, 1, 1, 2),
			},
			"",
		},
		{
			"sigmoid",
			[]onnx.Port{out("b", f, -1, 2, 4), out("s", f, -1, 2, 2)},
			decode.BoxesSpec{Activation: "sigmoid"},
			[]tensor.Named{named("b", corners, 1, 2, 4), named("s", []float64{0, -1, math.Log(7.0 / 3), math.Log(9)}, 1,
				2, 2)},
			"",
		},
		{
			"softmax with background",
			[]onnx.Port{out("b", f, -1, 2, 4), out("s", f, -1, 2, 3)},
			decode.BoxesSpec{Activation: "softmax", Background: "first"},
			[]tensor.Named{
				named("b", corners, 1, 2, 4),
				named("s", []float64{math.Log(3), math.Log(5), math.Log(2), 0, 0, math.Log(18)}, 1, 2, 3),
			},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := detector(100, c.outs...)
			got := boxesOf(t, s, c.spec, 1, c.arr...)[0]
			if !near(got.Items, want) || got.H != 100 || got.W != 100 {
				t.Errorf("%+v on %g x %g\nwant %+v", got.Items, got.H, got.W, want)
			}
			k, err := decode.New(s, decode.InputSpec{}, decode.OutputSpec{Space: space.KindBoxes, Boxes: c.spec})
			if err != nil {
				t.Fatal(err)
			}
			if notes := strings.Join(decode.Notes(k), "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if o := k.Out(); o.Kind != space.KindBoxes {
				t.Errorf("%+v", o)
			}
		})
	}
}

// A window that is wider than high: shares go along their own axis, anchors without sizes are as wide and as high as
// the window, and places lie at the edge if the study says so.
func TestBoxesOfWideWindow(t *testing.T) {
	f := tensor.Float32
	in := []onnx.Port{out("x", f, -1, 3, 20, 40)}
	unit := onnx.Signature{Inputs: in, Outputs: []onnx.Port{out("y", f, -1, -1, 6)}}
	got := boxesOf(t, unit, decode.BoxesSpec{Unit: "unit"}, 1,
		named("y", []float64{0.25, 0.25, 0.5, 0.75, 0.9, 3}, 1, 1, 6))[0]
	if !near(got.Items, []space.Box{box(10, 5, 20, 15, 0.9, 3)}) || got.H != 20 || got.W != 40 {
		t.Errorf("%+v", got)
	}
	// Places every 16 pixels: 3 along x (40 is no multiple), 2 along y; the fifth is (1, 1).
	raw, scores := make([]float64, 24), make([]float64, 6)
	copy(raw[16:], []float64{1, 2, 3, 4})
	scores[4] = 0.9
	grid := onnx.Signature{Inputs: in, Outputs: []onnx.Port{out("b", f, -1, 6, 4), out("s", f, -1, 6, 1)}}
	arr := []tensor.Named{named("b", raw, 1, 6, 4), named("s", scores, 1, 6, 1)}
	for _, c := range []struct {
		spec       decode.BoxesSpec
		x, y, w, h float64
	}{
		{decode.BoxesSpec{Scale: 10}, 24 + 4, 24 + 4, 12, 8},
		{decode.BoxesSpec{Scale: 10, Anchors: []decode.Anchors{{Stride: 16, Corner: true}}}, 16 + 4, 16 + 4, 12, 8},
		{decode.BoxesSpec{Scale: 10, SizeScale: 2}, 24 + 4, 24 + 4, 60, 40},
		{decode.BoxesSpec{Anchors: []decode.Anchors{{Stride: 16, Sizes: [][2]float64{{2, 3}}}}}, 24 + 2, 24 + 6, 6, 12},
		{
			decode.BoxesSpec{
				SizeScale: 2, Log: true,
				Anchors: []decode.Anchors{{Stride: 16, Sizes: [][2]float64{{2, 3}}}},
			},
			24 + 2, 24 + 6, 2 * math.Exp(1.5),
			3 * math.Exp(2),
		},
	} {
		if c.spec.Anchors == nil {
			c.spec.Anchors = []decode.Anchors{{Stride: 16}}
		}
		want := box(c.x-c.w/2, c.y-c.h/2, c.x+c.w/2, c.y+c.h/2, 0.9, 0)
		want.Cut = want.X1 <= 0 || want.Y1 <= 0 || want.X2 >= 40 || want.Y2 >= 20
		if got := boxesOf(t, grid, c.spec, 1, arr...)[0]; !near(got.Items, []space.Box{want}) {
			t.Errorf("%+v: %+v, want %+v", c.spec, got.Items, want)
		}
	}
	// Offsets of corners from the middle of the anchor, and of a corner and a size.
	copy(raw[16:], []float64{-0.1, -0.2, 0.1, 0.2})
	for form, want := range map[string]space.Box{
		"xyxy": box(20, 20, 28, 28, 0.9, 0),
		"xywh": box(20, 20, 24, 24, 0.9, 0),
	} {
		want.Cut = true
		got := boxesOf(t, grid, decode.BoxesSpec{Form: form, Anchors: []decode.Anchors{{Stride: 16}}}, 1,
			named("b", raw, 1, 6, 4), arr[1])[0]
		if !near(got.Items, []space.Box{want}) {
			t.Errorf("%s: %+v, want %+v", form, got.Items, want)
		}
	}
}

// The background takes part in the softmax and is never the class of a box, however sure the model is of it; raw scores
// are bounded first.
func TestBoxesScores(t *testing.T) {
	f := tensor.Float32
	for _, c := range []struct {
		spec   decode.BoxesSpec
		scores []float64
		want   float64
		label  int
	}{
		{decode.BoxesSpec{Background: "first"}, []float64{0.9, 0.06, 0.2}, 0.2, 1},
		{decode.BoxesSpec{Background: "last"}, []float64{0.06, 0.2, 0.9}, 0.2, 1},
		{decode.BoxesSpec{Background: "first", Activation: "softmax"}, []float64{math.Log(7), math.Log(2), 0}, 0.2, 0},
		{decode.BoxesSpec{Background: "last", Activation: "softmax"}, []float64{math.Log(2), 0, math.Log(7)}, 0.2, 0},
		{decode.BoxesSpec{Activation: "sigmoid", Clamp: math.Log(3)}, []float64{9, 10, -7}, 0.75, 0},
		{decode.BoxesSpec{Activation: "softmax", Clamp: math.Log(3)}, []float64{50, -50, -50}, 3 / (3 + 2.0/3), 0},
		{decode.BoxesSpec{Activation: "softmax", Clamp: math.Log(3)}, []float64{1e5, -1e5, -1e5}, 3 / (3 + 2.0/3), 0},
		{decode.BoxesSpec{}, []float64{0.5, 0.5, 0.1}, 0.5, 0},
	} {
		s := detector(100, out("b", f, -1, 1, 4), out("s", f, -1, 1, 3))
		got := boxesOf(t, s, c.spec, 1, named("b", []float64{1, 1, 2, 2}, 1, 1, 4), named("s", c.scores, 1, 1, 3))[0]
		if !near(got.Items, []space.Box{box(1, 1, 2, 2, c.want, c.label)}) {
			t.Errorf("%+v of %v: %+v, want %g for class %d", c.spec, c.scores, got.Items, c.want, c.label)
		}
	}
	// An object's confidence is multiplied with the score, after the sigmoid where scores have an activation.
	s := detector(100, out("y", f, -1, 1, 7))
	y := named("y", []float64{1, 1, 2, 2, 0, 0, math.Log(3)}, 1, 1, 7)
	for activation, want := range map[string]float64{"sigmoid": 0.5 * 0.75, "softmax": 0.5 * 0.75} {
		if got := boxesOf(t, s, decode.BoxesSpec{Classes: 2, Activation: activation}, 1, y)[0]; !near(got.Items,
			[]space.Box{box(1, 1, 2, 2, want, 1)}) {
			t.Errorf("%s: %+v, want %g", activation, got.Items, want)
		}
	}
}
