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
		return b.Op("Slice", []string{
			x, b.Ints(l.Start, l.Start), b.Ints(1<<40, 1<<40), b.Ints(2, 3),
			b.Ints(l.Step, l.Step),
		})
	case "Resize":
		near := []*onnxpb.AttributeProto{
			onnx.AttrString("mode", l.Mode),
			onnx.AttrString("coordinate_transformation_mode", l.Coord), onnx.AttrString("nearest_mode", "floor"),
		}
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
		// the least cyclic shift that the output follows; 0 for none
		Roll int
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

// turned are the four quarter turns of a square picture.
func turned(b *onnx.Builder, x string) []string {
	flip := func(x string, axis int64) string {
		return b.Op("Slice", []string{x, b.Ints(-1), b.Ints(-1 << 40), b.Ints(axis), b.Ints(-1)})
	}
	swap := func(x string) string { return b.Op("Transpose", []string{x}, onnx.AttrInts("perm", 0, 1, 3, 2)) }
	return []string{x, flip(swap(x), 2), flip(flip(x, 2), 3), flip(swap(x), 3)}
}

// Branches that read turned copies each break turns, and their mean has them all: nothing may be denied.
func TestSumOverTurnedCopies(t *testing.T) {
	for name, head := range map[string]func(b *onnx.Builder, x, k string) string{
		"flattened": func(b *onnx.Builder, x, k string) string {
			y := b.Op("Conv", []string{x, k}, onnx.AttrInts("strides", 2, 2), onnx.AttrInts("pads", 1, 1, 1, 1))
			return b.Op("Gemm", []string{b.Op("Flatten", []string{y}), b.Const(tensor.New(tensor.Float32, 64, 5))})
		},
		"pooled": func(b *onnx.Builder, x, k string) string {
			y := b.Op("Conv", []string{x, k}, onnx.AttrInts("strides", 2, 2), onnx.AttrInts("pads", 1, 1, 1, 1))
			return b.Op("GlobalAveragePool", []string{b.Op("Relu", []string{y})})
		},
		"one axis": func(b *onnx.Builder, x, _ string) string {
			y := b.Op("MaxPool", []string{x}, onnx.AttrInts("kernel_shape", 1, 3), onnx.AttrInts("strides", 1, 1),
				onnx.AttrInts("pads", 0, 1, 0, 1))
			return b.Op("GlobalAveragePool", []string{y})
		},
		"maps": func(b *onnx.Builder, x, _ string) string { return b.Op("Relu", []string{x}) },
	} {
		t.Run(name, func(t *testing.T) {
			b, x := picture(16, 16)
			k := b.Const(tensor.New(tensor.Float32, 1, 1, 3, 3))
			var scores []string
			for _, y := range turned(b, x) {
				scores = append(scores, head(b, y, k))
			}
			s, _ := survey(t, b, b.Op("Mean", scores))
			text := render(t, b)
			if s.Group != "" || s.Unknown == "" || len(s.Elements) > 0 || !strings.Contains(text, "not known: ") ||
				strings.Contains(text, "none can be") || strings.Contains(text, "-2 pixels") {
				t.Errorf("group %q, unknown %q, elements %v\n%s", s.Group, s.Unknown, s.Elements, text)
			}
		})
	}
	for _, k := range [][2]int64{{1, 3}, {3, 1}} {
		b, x := picture(16, 16)
		pool := func(k0, k1 int64) {
			x = b.Op("MaxPool", []string{x}, onnx.AttrInts("kernel_shape", k0, k1),
				onnx.AttrInts("pads", k0/2, k1/2, k0/2, k1/2))
		}
		pool(k[0], k[1])
		if s, _ := survey(t, b, x); s.Group != "D2" {
			t.Errorf("a window of %v: group %q", k, s.Group)
		}
		pool(k[1], k[0]) // both together are the maximum over a square
		if s, _ := survey(t, b, x); s.Group != "" || s.Unknown == "" {
			t.Errorf("a window in two parts, first %v: group %q, unknown %q", k, s.Group, s.Unknown)
		}
	}
	// The head alone loses all but one mirror, and so it does on both ways through a residual block, which sample
	// alike.
	b, x := picture(16, 16)
	k3, k1 := b.Const(tensor.New(tensor.Float32, 1, 1, 3, 3)), b.Const(tensor.New(tensor.Float32, 1, 1, 1, 1))
	y := b.Op("Conv", []string{x, k3}, onnx.AttrInts("strides", 2, 2), onnx.AttrInts("pads", 1, 1, 1, 1))
	z := b.Op("Conv", []string{x, k1}, onnx.AttrInts("strides", 2, 2))
	s, _ := survey(t, b, b.Op("GlobalAveragePool", []string{b.Op("Add", []string{y, z})}))
	if s.Group != "transpose" || s.Unknown != "" {
		t.Errorf("a residual block: group %q, unknown %q", s.Group, s.Unknown)
	}
}

// What repeats from layer to layer is told once.
func TestNotesOfManyLayers(t *testing.T) {
	b, x := picture(64, 64)
	for range 4 {
		x = b.Op("Conv", []string{x, b.Const(tensor.New(tensor.Float32, 1, 1, 3, 3))}, onnx.AttrInts("strides", 2, 2),
			onnx.AttrInts("pads", 1, 1, 1, 1))
	}
	s, _ := survey(t, b, x)
	if len(s.Notes) != 3 { // shifts, cyclic shifts, mirrors
		t.Errorf("%d notes: %v", len(s.Notes), s.Notes)
	}
	for _, n := range s.Notes {
		if len(n.Nodes) != 4 {
			t.Errorf("%v", n)
		}
	}
	if text := render(t, b); !strings.Contains(text, "is 2 pixels, 4 pixels, 8 pixels, 16 pixels of the picture") ||
		!strings.Contains(text, " and 1 more\n") {
		t.Error(text)
	}
}

// render is the report on the model.
func render(tb testing.TB, b *onnx.Builder) string {
	tb.Helper()
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	r, err := facts.Inspect(m, facts.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		tb.Fatal(err)
	}
	return text.String()
}
