package layers_test

import (
	"math"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/layers"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// detector reads a box off every place: how sure it is, an offset that is a gradient, width and height. Broken names
// the layer that is wrong, "" for none.
func detector(tb testing.TB, broken string) *onnx.Model {
	tb.Helper()
	n := newNet(9, broken).conv("conv1", 3).op("relu1", "Relu")
	back, c := n.x, n.c
	sure := n.conv("sure", 1).x
	n.x, n.c = back, c
	size := n.conv("size", 1).x
	n.x, n.c = back, c
	size = n.b.Op("Add", []string{
		n.b.Op("Tanh", []string{n.b.Op("Concat", []string{size, size}, onnx.AttrInt("axis", 1))}),
		n.stored([]int{1, 2, 1, 1}, func(int) float64 { return 2.5 }),
	})
	if broken == "wide" {
		size = n.name("wide", n.b.Op("Mul", []string{
			size, n.stored([]int{1, 2, 1, 1}, func(i int) float64 { return 1 + 0.3*float64(i) }),
		}))
	}
	mean := n.b.Op("ReduceMean", []string{back}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 1))
	w := []float64{0, 0, 0, -1, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0}
	off := n.name("slope", n.b.Op("Conv",
		[]string{mean, n.stored([]int{2, 1, 3, 3}, func(i int) float64 { return w[i] / 2 })},
		onnx.AttrInts("pads", 1, 1, 1, 1)))
	centre := n.name("centre", n.b.Op("Add", []string{
		n.b.Op("Tanh", []string{off}), n.stored([]int{1, 2, side, side}, func(i int) float64 {
			if i < side*side {
				return float64(i%side) + 0.5
			}
			return float64(i/side-side) + 0.5
		}),
	}))
	list := func(name, x string, k int64) string {
		flat := n.name(name, n.b.Op("Reshape", []string{x, n.b.Ints(0, k, side*side)}))
		return n.b.Op("Transpose", []string{flat}, onnx.AttrInts("perm", 0, 2, 1))
	}
	boxes := list("list", n.b.Op("Concat", []string{centre, size}, onnx.AttrInt("axis", 1)), 4)
	scores := list("sure-list", sure, 1)
	n.b.Output(boxes, tensor.Float32, "N", side*side, 4)
	n.b.Output(scores, tensor.Float32, "N", side*side, 1)
	m, err := n.b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func detection(t *testing.T, name string, m *onnx.Model, window bool) audittest.Fixture {
	t.Helper()
	g := parse(t, "C4")
	options, elements, size := action.Options{}, []group.Element{{90}, {180}, {270}}, side
	if window {
		g = parse(t, "T(2,Z)")
		options.Window, elements, size = []int{side, side}, []group.Element{{1, 0}, {0, 2}}, 2*side
	}
	in := pictures(t, g, options, 1, size, size)
	out, err := action.NewBoxes(g, space.Spec{Kind: space.KindBoxes}, options)
	if err != nil {
		t.Fatal(err)
	}
	sig := m.Signature()
	c, err := decode.New(sig, decode.InputSpec{Sample: []int{1, side, side}, Scale: 1},
		decode.OutputSpec{Space: space.KindBoxes, Boxes: decode.BoxesSpec{
			Parts: []decode.BoxesPart{{Boxes: sig.Outputs[0].Name, Scores: sig.Outputs[1].Name}}, Form: "cxcywh",
			Activation: "sigmoid", Limit: 0.6, Overlap: 0.2,
		}})
	if err != nil {
		t.Fatal(err)
	}
	samples := audittest.Pictures(8, size, size, 7)
	s := &audit.Subject{
		Name: name, Plan: audittest.Plan(t, in, out, elements...), N: 8, Seed: 1,
		Sample: func(i int) (dataset.Sample, error) {
			v, err := samples(i)
			if x, ok := v.Value.(*space.Image); ok {
				for k, p := range x.Pix {
					x.Pix[k] = 3 * math.Sin(p/20)
				}
			}
			return v, err
		},
	}
	audittest.Graph(t, s, m, c)
	return audittest.Fixture{Subject: s}
}

// The layers of a detector are followed up to the maps that boxes are read off; a break after these is not blamed on
// them, and the place where the axes stop being a picture is named.
func TestDetectors(t *testing.T) {
	for broken, place := range map[string]string{"conv1": "conv1", "sure": "sure", "size": "size"} {
		c, r := look(t, detection(t, broken, detector(t, broken), false), sweep.Check)
		if len(c.Findings) != 1 || c.Findings[0].Location != place || r.Limit == "" {
			show(t, r)
			t.Errorf("%s: findings %+v, up to %s, limit %q", broken, c.Findings, r.End, r.Limit)
		}
	}
	for _, broken := range []string{"", "wide"} {
		c, r := look(t, detection(t, broken, detector(t, broken), false), sweep.Check)
		note := ""
		for _, x := range c.Exhibits {
			if x.Name == "layers" {
				note = x.Note
			}
		}
		if len(c.Findings) > 0 || r.First >= 0 || !strings.Contains(note, "at "+r.Limit+" the axes stop being those") ||
			r.Limit != "list" && r.Limit != "sure-list" {
			show(t, r)
			t.Errorf("%q: findings %+v, limit %q, %s", broken, c.Findings, r.Limit, note)
		}
	}
	f := detection(t, "window", detector(t, ""), true)
	for _, c := range audittest.Audit(t, f, sweep.Check, layers.Check).Results {
		if c.Check == layers.Check && (c.Status == audit.Tested || !strings.Contains(c.Reason, "window") ||
			!strings.Contains(c.Reason, "list the axes stop")) {
			t.Errorf("a moving window: %s: %s", c.Status, c.Reason)
		}
	}
}
