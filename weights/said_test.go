package weights

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/units"
	"nero/model/onnx/units/unitstest"
)

// has tells whether the sentence of a report says something.
func has(r *Report, text string) bool { return strings.Contains(r.Sentence, text) }

// edited is a model with other numbers in its stored tensors, by their order in the graph.
func edited(t *testing.T, m *onnx.Model, edit func(k int, shape []int, val []float64)) *onnx.Model {
	t.Helper()
	n, _ := open(t, m)
	now := Numbers{}
	for k, name := range n.Units.Stored() {
		of := n.numbers[name]
		val, err := of.Float64s(nil)
		if err != nil {
			t.Fatal(err)
		}
		edit(k, of.Shape, val)
		if now[name], err = rounded(of.DType, val, of.Shape); err != nil {
			t.Fatal(err)
		}
	}
	out, err := now.Into(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Where nothing was found the sentence says why: that there are no units, that a node was not looked into, or that axes
// are places.
func TestNothingWasFound(t *testing.T) {
	net := unitstest.New(1)
	x := net.Input("x", tensor.Float32, "N", 4)
	h := net.Op("Einsum", []string{x, net.Random(0, 1, 4, 5)}, onnx.AttrString("equation", "bi,ij->bj"))
	n, _ := open(t, net.Done(net.Op("Einsum", []string{h, net.Random(0, 1, 5, 3)},
		onnx.AttrString("equation", "bi,ij->bj")), "N", 3))
	net = unitstest.New(1)
	plain, _ := open(t, net.Done(net.Dense(net.Input("x", tensor.Float32, "N", 4), 4, 3), "N", 3))
	for _, c := range []struct {
		r    *Report
		want string
	}{
		{&Report{Gaps: n.Units.Gaps, Axes: axesOf(n)}, "2 nodes are not looked into (Einsum)"},
		{&Report{Axes: []Axis{{Fixed: units.OfInput}, {Fixed: "places, not units"}}}, "are places, not units"},
		{&Report{Gaps: plain.Units.Gaps, Axes: axesOf(plain)}, "Nothing may be moved: the file has no units"},
	} {
		if c.r.Conclude(); !has(c.r, c.want) || strings.HasPrefix(c.r.Sentence, "Nothing may") != (len(c.r.Gaps) == 0 &&
			c.r.Axes[len(c.r.Axes)-1].Fixed != "places, not units") {
			t.Errorf("%s: want %q", c.r.Sentence, c.want)
		}
	}
}

// A canonical form that is not written says so, and why.
func TestNothingWasWritten(t *testing.T) {
	for _, c := range []struct {
		of   *Canonical
		want string
	}{
		{&Canonical{Apart: Apart{Error: 2e-4}}, "the answers would move by 0.0002"},
		{Unwritten("the answer is not finite"), "the answers cannot be compared: the answer is not finite"},
		{&Canonical{Apart: Apart{Error: 2e-5}, File: "c.onnx"}, ""},
	} {
		r := &Report{Canonical: c.of}
		r.Conclude()
		text := strings.Join(c.of.part().Text, " ")
		for _, said := range []string{r.Sentence, text} {
			if strings.Contains(said, "Nothing was written") != (c.want != "") || !strings.Contains(said, c.want) {
				t.Errorf("%q, want %q", said, c.want)
			}
		}
		if strings.Contains(text, "Written to") != (c.want == "") {
			t.Error(text)
		}
	}
}

// A factor that takes numbers out of the range of their type refutes nothing: numbers near the largest and the smallest
// that float32 holds. Others hold.
func TestFactorsBeyondTheType(t *testing.T) {
	states := func(by, back float64) []State {
		m := edited(t, unitstest.MLP(1, "Relu"), func(k int, _ []int, val []float64) {
			for i := range val {
				switch k {
				case 0, 1:
					val[i] *= by
				case 2:
					val[i] *= back
				}
			}
		})
		n, b := open(t, m)
		r, err := Check(t.Context(), n, b, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []State
		for _, s := range r.Symmetries {
			if s.Kind == units.Positive.String() {
				out = append(out, s.State)
			}
		}
		return out
	}
	for _, c := range []struct {
		by, back float64
		want     State
	}{{1e38, 1e-38, Untested}, {1e-38, 1e36, Untested}, {1e20, 1e-20, Holds}} {
		if got := states(c.by, c.back); len(got) != 2 || slices.Contains(got, Refuted) || got[0] != c.want {
			t.Errorf("%g: %v, want %s", c.by, got, c.want)
		}
	}
	if leastNormal(tensor.Float16) != math.Ldexp(1, -14) || leastNormal(tensor.BFloat16) != math.Ldexp(1, -126) {
		t.Error("the smallest numbers with all digits are others")
	}
}
