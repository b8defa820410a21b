package repair

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
)

// steerable is the network of the digits study whose kernels are those of four turned copies: 16 to 64 channels, which
// quarter turns permute in fours.
func steerable(t *testing.T) *onnx.Model {
	t.Helper()
	raw, err := os.ReadFile("../studies/digits/models/digits-c4.onnx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// changed stores other numbers under a name.
func changed(t *testing.T, m *onnx.Model, name string, f func(x []float64)) *onnx.Model {
	t.Helper()
	b := m.Edit()
	for i, s := range b.Graph().GetInitializer() {
		if s.GetName() != name {
			continue
		}
		v, err := onnx.Value(s)
		if err != nil {
			t.Fatal(err)
		}
		x := floats(t, v)
		f(x)
		r, err := decode.Rounded(v.DType, x, v.Shape...)
		if err != nil {
			t.Fatal(err)
		}
		b.Graph().Initializer[i] = onnx.Stored(name, r)
		out, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("nothing is stored as %s", name)
	return nil
}

// noisy adds noise of a size, in units of that of the numbers.
func noisy(by float64) func(x []float64) {
	return func(x []float64) {
		r := rand.New(rand.NewPCG(51, 0))
		size, noise := 0.0, make([]float64, len(x))
		of := 0.0
		for i := range x {
			noise[i] = r.NormFloat64()
			size, of = size+x[i]*x[i], of+noise[i]*noise[i]
		}
		for i := range x {
			x[i] += by * math.Sqrt(size/of) * noise[i]
		}
	}
}

// numbersOf are those that are stored under a name.
func numbersOf(t *testing.T, m *onnx.Model, name string) []float64 {
	t.Helper()
	for _, s := range m.Proto().GetGraph().GetInitializer() {
		if s.GetName() == name {
			v, err := onnx.Value(s)
			if err != nil {
				t.Fatal(err)
			}
			return floats(t, v)
		}
	}
	t.Fatalf("nothing is stored as %s", name)
	return nil
}

// turned is the largest change of answers under the elements of a group, beside their spread over pictures.
func turned(t *testing.T, s Source, m *onnx.Model, x []space.Value) float64 {
	t.Helper()
	var rest [][]float64
	worst := 0.0
	for _, v := range x {
		var all []space.Value
		for _, g := range elementsOf(t, s.Group) {
			y, err := s.In.Apply(g, v)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, y)
		}
		in, err := s.Codec.Encode(all, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := floats(t, ask(t, m, in...)[0].Tensor)
		k := len(out) / len(all)
		for i := range all {
			worst = max(worst, distance(out[:k], out[i*k:(i+1)*k]))
		}
		rest = append(rest, out[:k])
	}
	return worst / spread(rest, 0)
}

// One layer of a network is made lopsided by little and by much: the others are left alone, and it becomes what it was
// but for the part of the noise that is symmetric by chance. The lopsidedness is three quarters of the noise, squared,
// beside the kernel with the noise.
func TestSymmetrize(t *testing.T) {
	clean := steerable(t)
	s := picturesOf(t, clean, "C4", "NCHW", 1, 28, 28)
	s.Answer = &space.Scores{Val: make([]float64, 10)}
	r := rand.New(rand.NewPCG(53, 0))
	var x []space.Value
	for range 2 {
		x = append(x, blots(r, 1, 28, 28))
	}
	asked, err := Parse("symmetrize")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), "no kernel stands out") {
		t.Errorf("the clean model: %v", err)
	}
	floor := turned(t, s, clean, x)
	for _, c := range []struct{ uneven, least, most float64 }{
		{0.0059, 1e-3, 0.05}, {0.0615, 0.01, 0.5}, {0.507, 0.2, 5},
	} {
		by := c.uneven / math.Sqrt(0.75-c.uneven*c.uneven)
		s.Model = changed(t, clean, "conv3.weight", noisy(by))
		if e := turned(t, s, s.Model, x); !(e >= c.least && e <= c.most) {
			t.Errorf("lopsidedness %g: error %g, want %g to %g", c.uneven, e, c.least, c.most)
		}
		made := repaired(t, s, "symmetrize")
		if e := turned(t, s, made, x); !(e <= max(1.4e-5, 2*floor)) {
			t.Errorf("lopsidedness %g: error %g after, %g of the clean model", c.uneven, e, floor)
		}
		says := made.Signature().Metadata[MetadataKey]
		if !strings.Contains(says, "C4, 4 elements: lopsidedness conv3.weight 0.") {
			t.Errorf("it says %q", says)
		}
		was, is := numbersOf(t, clean, "conv3.weight"), numbersOf(t, made, "conv3.weight")
		size := distance(was, make([]float64, len(was)))
		if d := distance(was, is) / size; !(d <= 0.6*by) { // a half of the noise: that which is symmetric
			t.Errorf("lopsidedness %g: %g from the clean kernel, noise %g", c.uneven, d, by)
		}
		for _, other := range []string{"conv2.weight", "conv5.weight", "conv3.bias", "head.weight"} {
			if !slices.Equal(numbersOf(t, clean, other), numbersOf(t, made, other)) {
				t.Errorf("%s was changed", other)
			}
		}
		if n := len(made.Proto().GetGraph().GetNode()); n != len(clean.Proto().GetGraph().GetNode()) {
			t.Errorf("%d nodes", n)
		}
	}
	// A bias alone.
	s.Model = changed(t, clean, "conv4.bias", func(x []float64) { x[5] += 0.2 })
	if e := turned(t, s, repaired(t, s, "symmetrize"), x); !(e <= 1.4e-5) {
		t.Errorf("a bias: error %g after", e)
	}
	s.Model = changed(t, clean, "conv4.bias", func(x []float64) { x[5] = math.NaN() })
	if _, err := Build(s, asked); err == nil {
		t.Error("a bias that is NaN: taken")
	}
}

// network is a small model: kernels of the weights given, a mean over places or a dense layer on them.
func network(t *testing.T, pool bool, seed uint64, attrs ...*onnxpb.AttributeProto) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(13)
	r := rand.New(rand.NewPCG(seed, 0))
	stored := func(shape ...int) string {
		v := make([]float32, tensor.Count(shape))
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return b.Const(tensor.FromFloat32(v, shape...))
	}
	x := b.Input("x", tensor.Float32, "n", 1, 9, 9)
	places := 81
	if attrs == nil {
		attrs = []*onnxpb.AttributeProto{onnx.AttrInts("pads", 1, 1, 1, 1)}
	}
	y := b.Op("Relu", []string{b.Op("Conv", []string{x, stored(4, 1, 3, 3), stored(4)}, attrs...)})
	if pool {
		y, places = b.Op("GlobalAveragePool", []string{y}), 1
	}
	b.Output(b.Op("Gemm", []string{b.Op("Flatten", []string{y}), stored(4*places, 4)}), tensor.Float32, "n", 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A model whose kernels all have no symmetry is another model when they get one, and is made one if somebody insists:
// kernels and dense layers on places, under all subgroups that there are.
func TestSymmetrizeByForce(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 0))
	x := []space.Value{blots(r, 1, 9, 9), blots(r, 1, 9, 9), blots(r, 1, 9, 9)}
	for _, pool := range []bool{true, false} {
		m := network(t, pool, 61)
		for _, claim := range []string{"C2", "C4", "D1", "D2", "D4"} {
			s := picturesOf(t, m, claim, "NCHW", 1, 9, 9)
			asked, err := Parse("symmetrize")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), "would be another model") &&
				!strings.Contains(err.Error(), "contradict each other") {
				t.Errorf("%s: %v", claim, err)
			}
			made := repaired(t, s, "symmetrize:force=true")
			if e := turned(t, s, m, x); !(e > 0.01) {
				t.Errorf("%s: the model does not mind: %g", claim, e)
			}
			if e := turned(t, s, made, x); !(e <= 1e-5) {
				t.Errorf("%s, pooled %v: error %g", claim, pool, e)
			}
		}
	}
}

func TestSymmetrizeRefuses(t *testing.T) {
	m := network(t, true, 67)
	strided := network(t, true, 67, onnx.AttrInts("strides", 2, 2), onnx.AttrInts("pads", 1, 1, 0, 0))
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "n", 1, 9, 9)
	w := b.Op("DequantizeLinear", []string{
		b.Const(tensor.Tensor{DType: tensor.Int8, Shape: []int{4, 81}, Raw: make([]byte, 4*81)}),
		b.Const(tensor.FromFloat32([]float32{0.1})),
	})
	b.Output(b.Op("Gemm", []string{b.Op("Flatten", []string{x}), w}, onnx.AttrInt("transB", 1)), tensor.Float32, "n", 4)
	whole, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		claim, want string
		m           *onnx.Model
	}{
		{"SO(2)", "more than quarter turns and mirrors", m},
		{"C8", "more than quarter turns and mirrors", m},
		{"Roll(9,9)", "more than quarter turns and mirrors", m},
		{"C4", "weights that are symmetric would not help", strided},
		{"C4", "quantised", whole},
	} {
		s := picturesOf(t, c.m, c.claim, "NCHW", 1, 9, 9)
		asked, err := Parse("symmetrize:force=true")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.claim, err, c.want)
		}
	}
	s := picturesOf(t, strided, "C4", "NCHW", 1, 9, 9)
	f, err := s.facts(strided)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lint.Ties(t.Context(), f, lint.Options{}, lint.Whole, true); !errors.Is(err, lint.ErrStructure) {
		t.Errorf("one-sided padding: %v", err)
	}
}
