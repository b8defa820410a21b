package lint_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
)

// predict ends a model at y and predicts it.
func predict(tb testing.TB, b *onnx.Builder, y string, o lint.Options) *lint.Prediction {
	tb.Helper()
	return predictModel(tb, finish(tb, b, y), o)
}

// finish ends a model at y.
func finish(tb testing.TB, b *onnx.Builder, y string) *onnx.Model {
	tb.Helper()
	b.Graph().Output = nil
	b.Output(y, tensor.Float32)
	b.Graph().Output[0].Type = nil
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func predictModel(tb testing.TB, m *onnx.Model, o lint.Options) *lint.Prediction {
	tb.Helper()
	shapes, err := facts.SampleShapes(m.Signature(), 1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := facts.Infer(m, shapes, nil)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := lint.Predict(tb.Context(), f, o)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// picture starts a model that reads one picture.
func picture(h, w int) (*onnx.Builder, string) {
	b := onnx.NewBuilder(17)
	return b, b.Input("x", tensor.Float32, "N", 1, h, w)
}

// layerSpec is one layer of the stacks that torch measured.
type layerSpec struct {
	Op, Mode, Coord                       string
	Kernel, Stride, Dilation, Pads, Extra []int64
	Size                                  []int64
	Ceil                                  bool
	Start, Step                           int64
}

// node adds the layer to a model.
func (l layerSpec) node(b *onnx.Builder, x string) string {
	attrs := []*onnxpb.AttributeProto{}
	ints := func(name string, v []int64) {
		if v != nil {
			attrs = append(attrs, onnx.AttrInts(name, v...))
		}
	}
	switch l.Op {
	case "Pad":
		p := l.Pads
		mode := map[string]string{"constant": "constant", "reflect": "reflect", "circular": "wrap"}[l.Mode]
		return b.Op("Pad", []string{x, b.Ints(0, 0, p[0], p[1], 0, 0, p[2], p[3])}, onnx.AttrString("mode", mode))
	case "Slice":
		return b.Op("Slice", []string{
			x, b.Ints(l.Start, l.Start), b.Ints(1<<40, 1<<40), b.Ints(2, 3),
			b.Ints(l.Step, l.Step),
		})
	case "Resize":
		return b.Op("Resize", []string{x, "", "", b.Ints(1, 1, l.Size[0], l.Size[1])}, onnx.AttrString("mode", l.Mode),
			onnx.AttrString("coordinate_transformation_mode", l.Coord), onnx.AttrString("nearest_mode", "floor"))
	}
	ints("strides", l.Stride)
	ints("pads", l.Pads)
	if l.Ceil {
		attrs = append(attrs, onnx.AttrInt("ceil_mode", 1))
	}
	switch l.Op {
	case "Conv", "ConvTranspose":
		ints("dilations", l.Dilation)
		ints("output_padding", l.Extra)
		return b.Op(l.Op, []string{x, b.Const(tensor.New(tensor.Float32, 1, 1, int(l.Kernel[0]), int(l.Kernel[1])))},
			attrs...)
	}
	ints("kernel_shape", l.Kernel)
	return b.Op(l.Op, []string{x}, attrs...)
}

// What structure is said to permit is what torch measured with symmetric kernels, for the stacks of layers that package
// facts keeps (made by its testdata/gen.py).
func TestAgainstTorch(t *testing.T) {
	raw, err := os.ReadFile("../facts/testdata/symmetry.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Ops   []layerSpec
		Size  []int
		Shape []int
		Kept  []string
		// the least cyclic shift of both axes that the output follows; 0 for none
		Roll int
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	agree := 0
	if !everything {
		pick(cases, 150)
		cases = cases[:150]
	}
	for _, c := range cases {
		b, y := picture(c.Size[0], c.Size[1])
		for _, l := range c.Ops {
			y = l.node(b, y)
		}
		p := predict(t, b, y, lint.Options{})
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		ok := p.StructureKnown
		// Both quarter turns stand or fall together, so that the names by direction agree.
		if got := p.Structure.Names(); !slices.Equal(got, c.Kept) {
			t.Errorf("predicted %v\nmeasured  %v\n%s\n%v", got, c.Kept, line, p.Losses)
			ok = false
		}
		if ok {
			agree++
		}
	}
	t.Logf("%d of %d stacks agree", agree, len(cases))
}
