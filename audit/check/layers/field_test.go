package layers_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// flowNet reads two frames and returns a field, v before u and three times too large: the gradient of their difference
// from a symmetric net, as long as nothing is added to its kernels.
func flowNet(tb testing.TB, lopsided float64) *onnx.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("pair", tensor.Float32, "N", 2, side, side)
	// The difference of the frames, then its central differences: v along the rows, u along the columns.
	x = b.Op("Conv", []string{x, b.Const(tensor.FromFloat32([]float32{-1, 1}, 1, 2, 1, 1))})
	dv := []float32{0, -1, 0, 0, 0, 0, 0, 1, 0}
	du := []float32{0, 0, 0, -1, 0, 1 + float32(lopsided), 0, 0, 0}
	x = b.Op("Conv", []string{x, b.Const(tensor.FromFloat32(append(dv, du...), 2, 1, 3, 3))},
		onnx.AttrInts("pads", 1, 1, 1, 1))
	x = b.Op("Mul", []string{x, b.Const(tensor.FromFloat32([]float32{3}))})
	return fieldModel(tb, b, x, "difference", "gradient", "unit")
}

// freeNet is flowNet with two convolutions of any weights, which no symmetry ties.
func freeNet(tb testing.TB) *onnx.Model {
	tb.Helper()
	b, r := onnx.NewBuilder(17), rand.New(rand.NewPCG(5, 0))
	weights := func(out, in int) string {
		w := make([]float32, out*in*9)
		for i := range w {
			w[i] = float32(r.NormFloat64() / math.Sqrt(float64(9*in)))
		}
		return b.Const(tensor.FromFloat32(w, out, in, 3, 3))
	}
	x := b.Input("pair", tensor.Float32, "N", 2, side, side)
	x = b.Op("Conv", []string{x, weights(6, 2)}, onnx.AttrInts("pads", 1, 1, 1, 1))
	x = b.Op("LeakyRelu", []string{x})
	x = b.Op("Conv", []string{x, weights(2, 6)}, onnx.AttrInts("pads", 1, 1, 1, 1))
	x = b.Op("LeakyRelu", []string{x})
	x = b.Op("Mul", []string{x, b.Const(tensor.FromFloat32([]float32{3}))})
	return fieldModel(tb, b, x, "conv1", "relu1", "conv2", "relu2", "unit")
}

// fieldModel is a graph with an output of vectors whose nodes have the given names.
func fieldModel(tb testing.TB, b *onnx.Builder, x string, names ...string) *onnx.Model {
	tb.Helper()
	b.Output(x, tensor.Float32, "N", 2, side, side)
	for i, name := range names {
		b.Graph().GetNode()[i].Name = &name
	}
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// fieldSubject is a model of pairs of frames to fields under the symmetries of the square and the reversal of time.
func fieldSubject(t *testing.T, m *onnx.Model) *audit.Subject {
	t.Helper()
	g := parse(t, "D4 x Time")
	in, err := action.NewFrames(g, space.Spec{Kind: space.KindFrames, Shape: []int{2, 1, side, side}},
		action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := action.NewField(g, space.Spec{Kind: space.KindField, Shape: []int{2, side, side}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, ok := g.(group.Finite)
	if !ok {
		t.Fatal("D4 x Time is not finite")
	}
	c, err := decode.New(m.Signature(), decode.InputSpec{
		Sample: []int{1, side, side}, Layout: "NCHW", Scale: 255,
		Frames: 2,
	},
		decode.OutputSpec{Space: space.KindField, Field: decode.FieldSpec{Order: "vu", Scale: 1.0 / 3}})
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: "flow", Plan: audittest.Plan(t, in, out, f.Elements()[1:]...), N: 8,
		Sample: audittest.Pairs(8, side, side, 7), Seed: 1,
	}
	audittest.Graph(t, s, m, c)
	return s
}

// TestFreeField: where every convolution breaks and the last layer is a multiplication by one number, that layer is
// neither a table of positions nor the place of the break, and the output is not said to be declared wrongly.
func TestFreeField(t *testing.T) {
	found, r := look(t, audittest.Fixture{Subject: fieldSubject(t, freeNet(t))})
	if len(found.Findings) != 1 || !strings.HasPrefix(found.Findings[0].Location, "conv") {
		show(t, r)
		t.Fatalf("findings %+v", found.Findings)
	}
	for _, c := range found.Clues {
		if c.Holds && (c.Name == audit.CluePositions || c.Name == audit.ClueOutputLayer || c.Location == "unit") {
			show(t, r)
			t.Errorf("clue %+v", c)
		}
	}
	for _, remedy := range found.Findings[0].Remedies {
		if strings.Contains(remedy, "declare the output") || strings.Contains(remedy, "table of positions") {
			t.Errorf("remedy %q", remedy)
		}
	}
}

// TestField follows a field with exchanged components and another unit back into its model: the layer with the lopsided
// kernel is named, and the clean twin has no error to share. How the values after that layer should move is not known,
// so that it shares the blame with the one after it.
func TestField(t *testing.T) {
	for _, lopsided := range []float64{0, 0.5} {
		_, r := look(t, audittest.Fixture{Subject: fieldSubject(t, flowNet(t, lopsided))})
		if lopsided == 0 {
			if r.First >= 0 || !(r.Elements.Error < 1e-5) {
				show(t, r)
				t.Errorf("the clean twin breaks at %d, error %.2g", r.First, r.Elements.Error)
			}
			continue
		}
		if r.First < 0 || r.Rows[r.First].Name != "gradient" || !(r.Rows[r.First].Share.Value > 0.05) ||
			row(t, r, "difference").Injected > 1e-5 || !(r.Elements.Sum > 0.999 && r.Elements.Sum < 1.001) {
			show(t, r)
			t.Errorf("the first layer that breaks is %d", r.First)
		}
	}
}
