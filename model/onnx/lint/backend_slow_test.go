//go:build slow

package lint_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"nero/data/tensor"
	"nero/internal/outside"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/model/oracle"
)

// The models with which the standard tests its operators (Debian's libonnx-testdata, or the folder in
// NERO_ONNX_TESTDATA) are predicted or refused, and nothing breaks on the way. Those that read one picture alone, keep
// exactly what is predicted.
func TestStandardModels(t *testing.T) {
	root := outside.Named(t, outside.ONNXData)
	files, err := filepath.Glob(filepath.Join(root, "*", "test_*", "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no tests below %s", root)
	}
	analyzed, known, measured := 0, 0, 0
	for _, name := range files {
		m, err := onnx.Read(name)
		if err != nil {
			continue
		}
		ins := m.Signature().Inputs
		if len(ins) == 0 {
			continue
		}
		shapes, err := facts.SampleShapes(m.Signature(), 1, nil)
		if err != nil {
			continue
		}
		f, err := facts.Infer(m, shapes, nil)
		if err != nil {
			continue
		}
		o := lint.Options{Input: ins[0].Name}
		if len(shapes[ins[0].Name]) == 4 {
			o.Layout = "NCHW"
		}
		p, err := lint.Predict(t.Context(), f, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !p.Analyzed {
			continue
		}
		analyzed++
		if !p.StructureKnown {
			for _, u := range p.Unknown {
				if u.Level == lint.LevelStructure {
					t.Log(u)
				}
			}
			if len(p.Unknown) == 0 {
				t.Errorf("%s: nothing is known, and nothing says why", name)
			}
			continue
		}
		known++
		if got, ok := alone(t, m, shapes[ins[0].Name], p.Map); ok {
			measured++
			want := p.Weights
			for _, e := range p.Undecided {
				want |= 1 << e & got
			}
			if got != want || p.Structure|got != p.Structure {
				t.Errorf("%s: structure %v, weights %v, undecided %v, measured %v", filepath.Base(filepath.Dir(name)),
					p.Structure.Names(), p.Weights.Names(), p.Undecided, got.Names())
			}
		}
	}
	t.Logf("%d models of the standard, %d on pictures, %d of them followed, %d measured", len(files), analyzed, known,
		measured)
	if measured < 70 {
		t.Errorf("only %d were measured", measured)
	}
}

// alone measures a model of one input in float64. ok is false if it has others, or if its output is no picture of four
// axes.
func alone(t *testing.T, m *onnx.Model, shape []int, isMap bool) (got lint.Subgroup, ok bool) {
	t.Helper()
	if len(m.Signature().Inputs) != 1 || m.Signature().Inputs[0].DType != tensor.Float32 {
		return 0, false
	}
	g, err := oracle.Load(m)
	if err != nil {
		return 0, false
	}
	n, c, h, w := shape[0], shape[1], shape[2], shape[3]
	base := make([]float32, n*c*h*w)
	r := rand.New(rand.NewPCG(51, 52))
	for i := range base {
		base[i] = float32(0.1 + 0.8*r.Float64())
	}
	place := func(e lint.Element, y, x, h, w int) (int, int) {
		if h == w {
			return turn(e, y, x, h)
		}
		if e == lint.HalfTurn || e == lint.MirrorX {
			x = w - 1 - x
		}
		if e == lint.HalfTurn || e == lint.MirrorY {
			y = h - 1 - y
		}
		return y, x
	}
	run := func(e lint.Element) ([]float64, []int) {
		in := make([]float32, len(base))
		for i, v := range base {
			y, x := place(e, i/w%h, i%w, h, w)
			in[i/(h*w)*h*w+y*w+x] = v
		}
		out, err := g.Run(t.Context(),
			[]tensor.Named{{Name: m.Signature().Inputs[0].Name, Tensor: tensor.FromFloat32(in, shape...)}},
			oracle.Options{})
		if err != nil {
			return nil, nil
		}
		v, err := out[0].Float64s(nil)
		if err != nil {
			t.Fatal(err)
		}
		return v, out[0].Shape
	}
	first, s := run(lint.Identity)
	if first == nil || isMap && len(s) != 4 {
		return 0, false
	}
	for _, e := range lint.Whole.Elements() {
		if h != w && !lint.Rectangle.Has(e) {
			continue
		}
		v, _ := run(e)
		same := true
		for i, a := range first {
			j := i
			if isMap {
				oh, ow := s[2], s[3]
				if h == w && oh != ow && !lint.Rectangle.Has(e) {
					same = false
					break
				}
				y, x := place(e, i/ow%oh, i%ow, oh, ow)
				j = i/(oh*ow)*oh*ow + y*ow + x
			}
			if !(math.Abs(v[j]-a) <= 1e-9) && !(math.IsNaN(v[j]) && math.IsNaN(a)) {
				same = false
				break
			}
		}
		if same {
			got |= 1 << e
		}
	}
	return got, true
}
