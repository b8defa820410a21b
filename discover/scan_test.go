package discover_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/discover"
	"nero/model/onnx"
	"nero/symmetry/action"
)

// about is a subject of n samples of d independent normal numbers and a function of them.
func about(n, d int, seed uint64, f func(x []float64) []float64) *discover.Subject {
	r := rand.New(rand.NewPCG(seed, 1))
	var all []dataset.Sample
	for i := range n {
		x := &space.Rows{N: 1, W: d, Val: make([]float64, d)}
		for k := range x.Val {
			x.Val[k] = r.NormFloat64()
		}
		all = append(all, dataset.Sample{ID: strconv.Itoa(i), Label: -1, Value: x})
	}
	half := n * 2 / 3
	m := len(f(make([]float64, d)))
	return &discover.Subject{
		Model: "f", Fit: all[:half], Choose: all[half:],
		In: space.Spec{
			Name: "x", Kind: space.KindRows, Shape: []int{1, d}, Type: space.TypeUnchanged, Per: space.PerSample,
		},
		Out: space.Spec{
			Name: "y", Kind: space.KindRows, Shape: []int{1, m}, Type: space.TypeUnchanged, Per: space.PerSample,
		},
		Answers: func(_ context.Context, v []space.Value) ([]space.Value, error) {
			out := make([]space.Value, len(v))
			for i := range v {
				y := f(v[i].Numbers())
				out[i] = &space.Rows{N: 1, W: len(y), Val: y}
			}
			return out, nil
		},
		Rules: action.Rules(), Declared: true, Roundoff: 0x1p-53, Seed: seed, Confidence: 0.95,
	}
}

func scan(t *testing.T, s *discover.Subject) *discover.Scan {
	t.Helper()
	parts, err := discover.Select([]string{"scan"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := parts[0].Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	out, ok := got.(*discover.Scan)
	if !ok {
		t.Fatalf("%T", got)
	}
	return out
}

func row(t *testing.T, s *discover.Scan, family string) *discover.Row {
	t.Helper()
	for _, r := range s.Rows {
		if r.Family == family {
			return r
		}
	}
	t.Fatalf("no family %s", family)
	return nil
}

func TestClosedForms(t *testing.T) {
	for _, e := range []float64{0.1, 0.3, 1} {
		s := scan(t, about(2000, 2, 1, func(x []float64) []float64 { return []float64{x[0]*x[0] + (1+e)*x[1]*x[1]} }))
		r := row(t, s, "turn x1 x2")
		variance := 2 * (1 + (1+e)*(1+e))
		if want := 1 - e*e/variance; math.Abs(float64(r.Degree.Value)-want) > 0.05*(1-want) {
			t.Errorf("%g: degree %v, want %g", e, r.Degree, want)
		}
		if want := 2 * e / math.Sqrt(variance); math.Abs(float64(r.Levels[0].Level.Value)-want) > 0.05*want {
			t.Errorf("%g: level %v, want %g", e, r.Levels[0].Level, want)
		}
	}
}

func TestNoInvarianceAndAll(t *testing.T) {
	linear := row(t, scan(t, about(2000, 2, 1, func(x []float64) []float64 { return []float64{3*x[0] - x[1]} })),
		"turn x1 x2")
	if linear.Word != discover.None || math.Abs(float64(linear.Degree.Value)) > 0.05 {
		t.Errorf("w·x: %s, degree %v, want none and 0", linear.Word, linear.Degree)
	}
	length := row(t, scan(t, about(2000, 2, 1, func(x []float64) []float64 {
		return []float64{x[0]*x[0] +
			x[1]*x[1]}
	})),
		"turn x1 x2")
	if length.Word != discover.Holds || math.Abs(float64(length.Degree.Value)-1) > 1e-12 {
		t.Errorf("|x|²: %s, degree %v, want holds and 1", length.Word, length.Degree)
	}
}

// A form that is stretched along one axis keeps six turns in other coordinates, and those of named planes alone where
// the axis is not in them (docs/DISCOVERY.md).
func TestStretchedBasis(t *testing.T) {
	s := scan(t, about(2000, 4, 2, func(x []float64) []float64 {
		return []float64{x[0]*x[0] + x[1]*x[1] + x[2]*x[2] + 1.1*x[3]*x[3]}
	}))
	if r := row(t, s, "turn x1 x2"); r.Word != discover.Holds {
		t.Errorf("x1 x2: %s", r.Word)
	}
	r := row(t, s, "turn x3 x4")
	if want := 0.2 / math.Sqrt(2*(3+1.21)); r.Word != discover.Approximate ||
		math.Abs(float64(r.Levels[0].Level.Value)-want) > 0.05*want {
		t.Errorf("x3 x4: %s, level %v, want approximate and %g", r.Word, r.Levels[0].Level, want)
	}
}

// Functions without symmetry are not said to have one: neither wide ones nor those of a single number.
func TestFalseDiscoveries(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a rate over 200 seeds")
	}
	const seeds, alpha = 200, 0.05
	found := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 7))
		const d, m, hidden = 3, 2, 8
		a, b := make([]float64, d*hidden), make([]float64, hidden*m)
		for _, w := range [][]float64{a, b} {
			for i := range w {
				w[i] = r.NormFloat64()
			}
		}
		s := scan(t, about(24, d, seed, func(x []float64) []float64 {
			y := make([]float64, m)
			for h := range hidden {
				z := 0.3
				for i := range d {
					z += a[h*d+i] * x[i]
				}
				for k := range y {
					y[k] += b[h*m+k] * math.Tanh(z)
				}
			}
			return y
		}))
		for _, r := range s.Rows {
			if r.Word == discover.Holds || r.Word == discover.Approximate {
				found++
				t.Logf("seed %d: %s %s: %v", seed, r.Family, r.Word, r.Relative)
				break
			}
		}
	}
	if float64(found) > alpha*seeds {
		t.Errorf("%d of %d functions are said to have a symmetry", found, seeds)
	}
}

// A scan of vectors needs more samples than there are directions, and some samples at all; what it cannot afford it
// says before it asks.
func TestRefusals(t *testing.T) {
	sum := func(x []float64) []float64 {
		y := 0.0
		for _, v := range x {
			y += v
		}
		return []float64{y}
	}
	for want, s := range map[string]*discover.Subject{
		"fewer samples than directions": about(12, 20, 1, sum),
		"a scan needs 8 at least":       about(6, 2, 1, sum),
		"answers the same to all": about(40, 2, 1,
			func([]float64) []float64 { return []float64{3} }),
		"not finite to sample 0": about(40, 2, 1,
			func([]float64) []float64 { return []float64{math.NaN()} }),
		"allow ": func() *discover.Subject { s := about(40, 2, 1, sum); s.Most = 100; return s }(),
	} {
		_, err := discover.Parts()[0].Run(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A budget takes fewer samples, and is kept.
func TestBudget(t *testing.T) {
	s := about(60, 2, 1, func(x []float64) []float64 { return []float64{x[0]*x[0] + x[1]*x[1]} })
	all := scan(t, s)
	s = about(60, 2, 1, func(x []float64) []float64 { return []float64{x[0]*x[0] + x[1]*x[1]} })
	s.Most = all.Each * 30
	got := scan(t, s)
	if got.Samples != 30 || got.Spared != 30 || s.Made() > s.Most {
		t.Errorf("%d samples, %d spared, %d of %d predictions", got.Samples, got.Spared, s.Made(), s.Most)
	}
}

// An answer that is not finite is found where it is, and is nothing that holds.
func TestNotFinite(t *testing.T) {
	s := scan(t, about(40, 2, 1, func(x []float64) []float64 {
		if x[0] > 0.3 && x[0] < 0.31 { // reached by some turn of some sample
			return []float64{math.Inf(1)}
		}
		return []float64{x[0]*x[0] + x[1]*x[1]}
	}))
	r := row(t, s, "turn x1 x2")
	if r.Word != discover.NotFinite || !strings.Contains(r.Why, "not finite at sample ") {
		t.Errorf("%s: %s", r.Word, r.Why)
	}
	if slices.ContainsFunc(s.Hypotheses(),
		func(h discover.Hypothesis) bool { return strings.Contains(h.Claim, "turn") }) {
		t.Error("it is a hypothesis")
	}
}

// The same in a graph of float32, whose floor is that of its rounding.
func TestGraph(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "batch", 3)
	squares := b.Op("Mul", []string{x, x})
	w := b.Const(tensor.FromFloat32([]float32{1, 1, 1.5}, 3, 1))
	y := b.Op("Tanh", []string{b.Op("MatMul", []string{squares, w})})
	b.Output(y, tensor.Float32, "batch", 1)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	var graph audit.Subject
	audittest.Graph(t, &graph, m, audittest.Tensors(t, m))
	s := about(60, 3, 3, func([]float64) []float64 { return []float64{0} })
	for _, side := range [][]dataset.Sample{s.Fit, s.Choose} {
		for i := range side {
			side[i].Value = &space.Tensor{Shape: []int{3}, Val: side[i].Value.Numbers()}
		}
	}
	s.In, s.Out = graph.Interior.Codec().In(), graph.Interior.Codec().Out()
	s.Answers, s.Gradient = graph.Predictor.Predict, graph.Interior.Gradient
	s.Roundoff = 0x1p-24
	got := scan(t, s)
	for family, want := range map[string]discover.Word{
		"turn x1 x2": discover.Holds, "swap x1 x2": discover.Holds, "flip x3": discover.Holds,
		"flip all":  discover.Holds,
		"scale all": discover.None,
	} {
		if r := row(t, got, family); r.Word != want {
			t.Errorf("%s: %s, want %s (relative %v, floor %g, p %v)", family, r.Word, want, r.Relative, r.Floor, r.P)
		}
	}
	if r := row(t, got, "turn x1 x3"); r.Word == discover.Holds {
		t.Error("turn x1 x3 holds")
	}
	// the same function by its numbers, and its derivative
	f := s.Flatten(s.Fit[0].Value, &space.Tensor{Shape: []int{1}, Val: []float64{0}})
	at := []float64{0.3, -0.2, 0.1}
	g, err := f.Pull(t.Context(), [][]float64{at}, [][]float64{{1}})
	if err != nil {
		t.Fatal(err)
	}
	z := math.Tanh(0.3*0.3 + 0.2*0.2 + 1.5*0.1*0.1)
	for i, c := range []float64{1, 1, 1.5} {
		if want := (1 - z*z) * 2 * c * at[i]; math.Abs(g[0][i]-want) > 1e-6 {
			t.Errorf("derivative %d: %g, want %g", i, g[0][i], want)
		}
	}
}

// Noise may leave the domain of a model where the motion does not. What such samples answer to it says nothing, and the
// others still tell that the family holds.
func TestNoiseBeyondTheDomain(t *testing.T) {
	t.Parallel()
	s := about(60, 3, 5, func(x []float64) []float64 {
		return []float64{math.Sqrt(3 - x[0])} // of about 1 in 1000 samples the answer is not finite
	})
	got := scan(t, s)
	for _, name := range []string{"flip x2", "flip x3", "turn x2 x3"} {
		if r := row(t, got, name); r.Word != discover.Holds {
			t.Errorf("%s: %s (%s)", name, r.Word, r.Why)
		}
	}
}
