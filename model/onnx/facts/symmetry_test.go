package facts_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// layerSpec is one layer of testdata/symmetry.json.
type layerSpec struct {
	Op, Mode, Coord                       string
	Kernel, Stride, Dilation, Pads, Extra []int64
	Size                                  []int64
	Ceil                                  bool
	Start, Step                           int64
}

// node adds the layer to a model.
func (l layerSpec) node(b *onnx.Builder, x string) string {
	ones := func(k []int64) string {
		t := tensor.New(tensor.Float32, 1, 1, int(k[0]), int(k[1]))
		return b.Const(t)
	}
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
		return b.Op("Slice", []string{x, b.Ints(l.Start, l.Start), b.Ints(1<<40, 1<<40), b.Ints(2, 3), b.Ints(l.Step, l.Step)})
	case "Resize":
		near := []*onnxpb.AttributeProto{onnx.AttrString("mode", l.Mode), onnx.AttrString("coordinate_transformation_mode", l.Coord), onnx.AttrString("nearest_mode", "floor")}
		return b.Op("Resize", []string{x, "", "", b.Ints(1, 1, l.Size[0], l.Size[1])}, near...)
	}
	ints("strides", l.Stride)
	ints("pads", l.Pads)
	if l.Ceil {
		attrs = append(attrs, onnx.AttrInt("ceil_mode", 1))
	}
	switch l.Op {
	case "Conv":
		ints("dilations", l.Dilation)
		return b.Op("Conv", []string{x, ones(l.Kernel)}, attrs...)
	case "ConvTranspose":
		ints("output_padding", l.Extra)
		return b.Op("ConvTranspose", []string{x, ones(l.Kernel)}, attrs...)
	}
	ints("kernel_shape", l.Kernel)
	return b.Op(l.Op, []string{x}, attrs...)
}

// picture starts a model that reads one picture.
func picture(h, w int) (*onnx.Builder, string) {
	b := onnx.NewBuilder(17)
	return b, b.Input("x", tensor.Float32, "N", 1, h, w)
}

// survey ends the model at y and analyses it.
func survey(tb testing.TB, b *onnx.Builder, y string) (*facts.Symmetry, *facts.Facts) {
	tb.Helper()
	b.Graph().Output = nil
	b.Output(y, tensor.Float32)
	b.Graph().Output[0].Type = nil
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	f := infer(tb, m, 1, nil)
	if len(f.Gaps) > 0 {
		tb.Fatalf("gaps: %v", f.Gaps)
	}
	return f.Symmetry(""), f
}

// What structure is said to permit is what torch measures with symmetric kernels (testdata/symmetry.json, made by
// testdata/gen.py), for several hundred stacks of layers; shapes agree too.
func TestSymmetryAgainstMeasured(t *testing.T) {
	raw, err := os.ReadFile("testdata/symmetry.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Ops   []layerSpec
		Size  []int
		Shape []int
		Kept  []string
		Roll  int // the least cyclic shift that the output follows; 0 for none
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 300 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		b, y := picture(c.Size[0], c.Size[1])
		for _, l := range c.Ops {
			y = l.node(b, y)
		}
		s, f := survey(t, b, y)
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Shapes[y]; !slices.Equal(got[2:], c.Shape) {
			t.Errorf("shape %v: %s", got, line)
		}
		if !slices.Equal(s.Elements, c.Kept) {
			t.Errorf("predicted %v\nmeasured  %v\n%s\n%v", s.Elements, c.Kept, line, s.Notes)
		}
		want := 0
		if s.Roll {
			want = s.Shift[0]
		}
		if want >= c.Size[0] {
			want = 0 // the whole way around: not measured
		}
		if want != c.Roll {
			t.Errorf("predicted roll by %d, measured %d: %s\n%v", want, c.Roll, line, s.Notes)
		}
		if lost := len(c.Kept) < 8; lost != slices.ContainsFunc(s.Notes, func(n facts.Note) bool {
			return slices.ContainsFunc(n.Breaks, func(b string) bool {
				return strings.Contains(b, "turn") || strings.Contains(b, "mirror") || strings.Contains(b, "transpose")
			})
		}) {
			t.Errorf("the notes do not say what is lost: %s\n%v", line, s.Notes)
		}
	}
}
