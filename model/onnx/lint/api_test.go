package lint_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
)

var update = flag.Bool("update", false, "write the expected files anew")

// The law that explanations quote decides alone whether a mirror keeps a layer's map: convolutions and maximum poolings
// of the whole grid, on maps of more than one place whose windows all read something.
func TestLaw(t *testing.T) {
	n, held := 0, 0
	cells := grid()
	if !everything {
		pick(cells, 60)
		cells = cells[:60]
	}
	for _, c := range cells {
		if c.op == "AveragePool" || c.dilation > 1 || c.op == "Conv" && c.kernel <= 2 && c.pad == "2" ||
			c.kernel == 1 && c.pad != "0" {
			continue
		}
		for size := 6; size <= 12; size++ {
			if !fits([]cell{c}, size) {
				continue
			}
			b := onnx.NewBuilder(19)
			y, _ := c.add(b, rand.New(rand.NewPCG(1, 2)), b.Input("x", tensor.Float32, "N", 1, size, size), 1, true)
			m := finish(t, b, y)
			f, err := facts.Infer(m, map[string][]int{"x": {1, 1, size, size}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			w, ok := f.Nodes[0].Window()
			if !ok {
				t.Fatal("no window")
			}
			if w.Out[0] < 2 {
				continue
			}
			p, err := lint.Predict(t.Context(), f, lint.Options{})
			if err != nil {
				t.Fatal(err)
			}
			n++
			if p.Structure.Has(lint.MirrorY) != (lint.Slack(w, 0) == 0) {
				t.Errorf("%v on %d: predicted %v, slack %d", c, size, p.Structure.Names(), lint.Slack(w, 0))
			}
			if lint.Slack(w, 0) == 0 {
				held++
			} else if !strings.Contains(p.Losses[0].Reason, "not 0") {
				t.Errorf("%v on %d: the law is not quoted: %v", c, size, p.Losses)
			}
		}
	}
	t.Logf("the law decides %d layers, %d of them kept", n, held)
}

func shapesOf(tb testing.TB, m *onnx.Model) *facts.Facts {
	tb.Helper()
	shapes, err := facts.SampleShapes(m.Signature(), 1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := facts.Infer(m, shapes, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func TestOptions(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("picture", tensor.Float32, "N", 3, 8, 8)
	k := b.Input("angle", tensor.Float32, "N", 1)
	y := b.Op("GlobalAveragePool", []string{x})
	z := b.Op("Add", []string{b.Op("Flatten", []string{y}), k})
	b.Output(z, tensor.Float32, "N", 3)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	f := shapesOf(t, m)
	for want, o := range map[string]lint.Options{
		`no input "pixels"; it has picture, angle`: {Input: "pixels"},
		`layout "CHWN"; want NCHW, NHWC or NHW`:    {Input: "picture", Layout: "CHWN"},
		"which is not NHW":                         {Input: "picture", Layout: "NHW"},
		`output "logits"`:                          {Input: "picture", Output: "logits"},
	} {
		if _, err := lint.Predict(t.Context(), f, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	p, err := lint.Predict(t.Context(), f, lint.Options{})
	if err != nil || p.Analyzed || !strings.Contains(p.Why, "2 inputs") {
		t.Errorf("two inputs: %v %v", p, err)
	}
	if p, err = lint.Predict(t.Context(), f, lint.Options{Input: "angle"}); err != nil || p.Analyzed {
		t.Errorf("an input without pixels: %v %v", p, err)
	}
	if p, err = lint.Predict(t.Context(), f, lint.Options{Input: "picture"}); err != nil || p.Weights != lint.Whole ||
		p.Shifts.Cyclic != [2]int{1, 1} {
		t.Errorf("%v %v", p, err)
	}
	if p, err = lint.Predict(t.Context(), f, lint.Options{Input: "picture", Layout: "NHWC"}); err != nil ||
		p.Size != [2]int{3, 8} || p.Structure != lint.Trivial && p.Structure != lint.Rectangle {
		t.Errorf("another layout: %v %v", p, err)
	}
	// An inner value.
	if p, err = lint.Predict(t.Context(), f, lint.Options{Input: "picture", Output: y}); err != nil || p.Output != y ||
		p.Map {
		t.Errorf("an inner value: %v %v", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lint.Predict(ctx, f, lint.Options{Input: "picture"}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// What is not followed is named, and nothing is claimed.
func TestUnknown(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 3, 8, 8)
	top := b.Ops("TopK", 2, []string{b.Op("Flatten", []string{x}), b.Ints(5)})
	p := predict(t, b, top[0], lint.Options{})
	if p.StructureKnown || p.WeightsKnown || p.Structure != 0 || len(p.Unknown) == 0 || p.Unknown[0].Op != "TopK" ||
		p.Shifts.CyclicKnown {
		t.Errorf("%+v", p)
	}
	if len(p.Risks) == 0 || p.Risks[0].Kind != lint.RiskTies {
		t.Errorf("risks: %v", p.Risks)
	}
}

func TestRisks(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2, 8, 8)
	one := func() string { return b.Const(tensor.FromFloat32([]float32{1, 1}, 2)) }
	y := b.Ops("BatchNormalization", 3, []string{x, one(), one(), one(), one()}, onnx.AttrInt("training_mode", 1))[0]
	y = b.Op("Cast", []string{y}, onnx.AttrInt("to", int64(tensor.Float16)))
	y = b.Op("Cast", []string{y}, onnx.AttrInt("to", int64(tensor.Float32)))
	yes := tensor.New(tensor.Bool)
	yes.Raw[0] = 1
	y = b.Op("Dropout", []string{y, b.Const(tensor.FromFloat32([]float32{0.5})), b.Const(yes)})
	p := predict(t, b, b.Op("GlobalAveragePool", []string{y}), lint.Options{})
	var kinds []string
	for _, r := range p.Risks {
		kinds = append(kinds, r.Kind)
		if r.Remedy == "" || r.Node == "" {
			t.Errorf("%v", r)
		}
	}
	if got := strings.Join(kinds, " "); got != "training-norm precision dropout" {
		t.Errorf("risks: %s", got)
	}
	if p.Structure != lint.Whole || p.Weights != lint.Whole {
		t.Errorf("%v", p)
	}
}

// Names and texts of all ten subgroups of D4: closed under composition, each told apart.
func TestSubgroups(t *testing.T) {
	seen := map[string]bool{}
	for s := range lint.Subgroup(255) {
		s++
		if !s.Has(lint.Identity) {
			continue
		}
		closed := true
		for _, e := range s.Elements() {
			for _, f := range s.Elements() {
				// Compose on a place that no element keeps.
				y, x := turn(f, 0, 1, 4)
				y, x = turn(e, y, x, 4)
				found := false
				for _, g := range s.Elements() {
					gy, gx := turn(g, 0, 1, 4)
					found = found || gy == y && gx == x
				}
				closed = closed && found
			}
		}
		if !closed {
			continue
		}
		if seen[s.String()] {
			t.Errorf("%v has the name of another group, %s", s.Names(), s)
		}
		seen[s.String()] = true
		if order := map[string]int{"D4": 8, "C4": 4, "D2": 4, "C2": 2, "D1": 2, "C1": 1}[s.Name()]; order != s.Order() {
			t.Errorf("%s has %d elements", s, s.Order())
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d subgroups: %v", len(seen), seen)
	}
}

// The texts of the models that are shipped and of those that package onnx keeps.
func TestText(t *testing.T) {
	for name, path := range map[string]string{
		"digits-c4": "../../../studies/digits/models/digits-c4.onnx",
		"cnn":       "../testdata/cnn.onnx",
		"unet":      "../testdata/unet.onnx",
	} {
		t.Run(name, func(t *testing.T) {
			m, err := onnx.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			p := predictModel(t, m, lint.Options{})
			var text strings.Builder
			if err := p.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			text.WriteString(p.String() + "\n")
			for _, l := range p.Losses {
				text.WriteString(l.String() + "\n")
			}
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(text.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if text.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", text.String(), want)
			}
		})
	}
}

// A network of the size of ResNet-50 on pictures of 224 x 224.
func BenchmarkResNet(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	g := onnx.NewBuilder(17)
	conv := func(x string, m, n, k, s int) string {
		w := tensor.New(tensor.Float32, m, n, k, k)
		return g.Op("Conv", []string{x, g.Const(w), g.Const(vector(r, m))},
			onnx.AttrInts("strides", int64(s), int64(s)),
			onnx.AttrInts("pads", int64(k/2), int64(k/2), int64(k/2), int64(k/2)))
	}
	relu := func(x string) string { return g.Op("Relu", []string{x}) }
	y := relu(conv(g.Input("x", tensor.Float32, "N", 3, 224, 224), 64, 3, 7, 2))
	y = g.Op("MaxPool", []string{y}, onnx.AttrInts("kernel_shape", 3, 3), onnx.AttrInts("strides", 2, 2),
		onnx.AttrInts("pads", 1, 1, 1, 1))
	c := 64
	for stage, blocks := range []int{3, 4, 6, 3} {
		m := 64 << stage
		for i := range blocks {
			s := 1
			if i == 0 && stage > 0 {
				s = 2
			}
			z := conv(relu(conv(relu(conv(y, m, c, 1, 1)), m, m, 3, s)), 4*m, m, 1, 1)
			if i == 0 {
				y = conv(y, 4*m, c, 1, s)
			}
			y, c = relu(g.Op("Add", []string{z, y})), 4*m
		}
	}
	y = g.Op("Gemm", []string{
		g.Op("Flatten", []string{g.Op("GlobalAveragePool", []string{y})}),
		g.Const(tensor.New(tensor.Float32, c, 1000)),
	})
	f := shapesOf(b, finish(b, g, y))
	for b.Loop() {
		if p, err := lint.Predict(b.Context(), f, lint.Options{}); err != nil || !p.StructureKnown {
			b.Fatal(p, err)
		}
	}
}
