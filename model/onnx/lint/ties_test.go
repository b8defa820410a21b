package lint_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
)

// tiesOf are those of a model of pictures of 28 x 28 under quarter turns.
func tiesOf(t *testing.T, m *onnx.Model, stay bool) ([]*lint.Tie, error) {
	t.Helper()
	f, err := facts.Infer(m, map[string][]int{m.Signature().Inputs[0].Name: {1, 1, 28, 28}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return lint.Ties(t.Context(), f, lint.Options{}, turns, stay)
}

const turns = 1<<lint.Identity | 1<<lint.Turn90 | 1<<lint.HalfTurn | 1<<lint.Turn270

// Entries that quarter turns exchange are equal in the network of four turned copies, fields of four channels are
// permuted in turn, and noise of half the size of a kernel does not hide which ones.
func TestTies(t *testing.T) {
	raw, err := os.ReadFile("../../../studies/digits/models/digits-c4.onnx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	clean, err := tiesOf(t, m, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(clean) != 12 {
		t.Fatalf("%d ties, want six kernels and six biases", len(clean))
	}
	stored := map[string][]float64{}
	b := m.Edit()
	for i, s := range b.Graph().GetInitializer() {
		v, err := onnx.Value(s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := v.Float64s(nil)
		if err != nil {
			t.Fatal(err)
		}
		stored[s.GetName()] = x
		if s.GetName() != "conv3.weight" {
			continue
		}
		r := rand.New(rand.NewPCG(5, 0))
		noisy, size := make([]float32, len(x)), 0.0
		for _, w := range x {
			size = max(size, w, -w)
		}
		for k, w := range x {
			noisy[k] = float32(w + 0.1*size*r.NormFloat64())
		}
		b.Graph().Initializer[i] = onnx.Stored(s.GetName(), tensor.FromFloat32(noisy, v.Shape...))
	}
	for _, k := range clean {
		x := stored[k.Tensor]
		for i, j := range k.To[lint.Turn90] {
			if !(x[i]-x[j] <= 1e-6 && x[j]-x[i] <= 1e-6) {
				t.Fatalf("%s: the entries %d and %d are %g and %g", k.Tensor, i, j, x[i], x[j])
			}
			if k.Tensor == "conv3.bias" && (int(j) == i || int(j)/4 != i/4) {
				t.Errorf("channel %d goes to channel %d, which is not of its field", i, j)
			}
		}
	}
	lopsided, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	after, err := tiesOf(t, lopsided, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range clean {
		for _, e := range []lint.Element{lint.Turn90, lint.HalfTurn, lint.Turn270} {
			if k.Kernel != strings.HasSuffix(k.Tensor, "weight") || !slices.Equal(k.To[e], after[i].To[e]) {
				t.Errorf("%s at %s: other ties with noise", k.Tensor, e)
			}
		}
	}
}

// Kernels without any symmetry do not tell how channels move: with stay they are taken to stay, and their places alone
// move.
func TestTiesStay(t *testing.T) {
	b := onnx.NewBuilder(13)
	r := rand.New(rand.NewPCG(9, 0))
	v := make([]float32, 16*9)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	y := b.Op("Conv", []string{b.Input("x", tensor.Float32, "n", 1, 28, 28), b.Const(tensor.FromFloat32(v, 16, 1, 3,
		3))})
	y = b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{b.Op("Relu", []string{y})})})
	b.Output(b.Op("MatMul", []string{y, b.Const(tensor.FromFloat32(v[:32], 16, 2))}), tensor.Float32, "n", 2)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tiesOf(t, m, false); err == nil || !strings.Contains(err.Error(), "contradict each other") {
		t.Errorf("16 kernels drawn at random: %v", err)
	}
	all, err := tiesOf(t, m, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range all[0].To[lint.Turn90] { // row y, column x takes what stands a quarter turn back
		c, y, x := i/9, i/3%3, i%3
		if want := c*9 + x*3 + 2 - y; int(j) != want {
			t.Errorf("entry %d goes to %d, want %d", i, j, want)
		}
	}
}
