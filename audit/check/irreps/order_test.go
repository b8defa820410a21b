package irreps

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// A model that answers x, y, z, w is read in the declared order w, x, y, z and written back in its own; both ways are
// inverse to each other.
func TestOrderOfQuaternions(t *testing.T) {
	found := false
	for _, v := range variants(nil, space.Spec{Kind: space.KindRows, Type: space.TypeQuaternions, Shape: []int{1, 4}}) {
		if v.forth == nil {
			continue
		}
		x := []float64{1, 2, 3, 4}
		if y := v.back(v.forth(x)); !slices.Equal(y, x) {
			t.Errorf("%s: there and back %v is %v", v.name, x, y)
		}
		if strings.Contains(v.name, "x, y, z, w") {
			found = true
			if y := v.forth(x); !slices.Equal(y, []float64{4, 1, 2, 3}) { // w is the last number of the model
				t.Errorf("%s: %v is read as %v", v.name, x, y)
			}
		}
	}
	if !found {
		t.Error("the order x, y, z, w is not tried")
	}
}

// Terms are tried in every other order, each once.
func TestOrdersOfTerms(t *testing.T) {
	for _, c := range []struct {
		typ  string
		want []string
	}{
		{"1x1o", nil},
		{"2x0e+1x1o", []string{"1x1o+2x0e"}},
		{"1x1o+1x1o", nil},
		{"1x0e + 1x1o + 1x2e", []string{
			"1x0e+1x2e+1x1o", "1x1o+1x0e+1x2e", "1x1o+1x2e+1x0e", "1x2e+1x0e+1x1o", "1x2e+1x1o+1x0e",
		}},
		{"1x0e+1x1o+1x2e+1x3o+1x4e", nil},
	} {
		if got := orders(c.typ); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.typ, got, c.want)
		}
	}
}

// subject is a sum of vectors and of their squared lengths, in one order or the other, declared as 1x0e+1x1o.
func subject(t *testing.T, f func(v []float64, square float64) []float64) *audit.Subject {
	t.Helper()
	g, err := catalog.Parse("O(3)")
	if err != nil {
		t.Fatal(err)
	}
	in := space.Spec{Name: "x", Kind: space.KindRows, Shape: []int{4, 3}, Type: space.TypeVectors, Per: space.PerNode}
	out := space.Spec{Name: "y", Kind: space.KindRows, Shape: []int{1, 4}, Type: "1x0e+1x1o", Per: space.PerSample}
	move, err := action.Rules().For(g, in, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := action.Rules().For(g, out, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := orbit.NewPlan(g, orbit.Spec{Haar: 6}, move, moved, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &audit.Subject{
		Name: "sum", Plan: plan, N: 12, Seed: 5, InSpec: in, OutSpec: out,
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			v := space.NewRows(4, 3)
			for k := range v.Val {
				v.Val[k] = r.NormFloat64()
			}
			return dataset.Sample{ID: strconv.Itoa(i), Value: v}, nil
		},
		Predictor: audittest.Pointwise(func(x space.Value) space.Value {
			rows, sum, square := space.RowsOf(x), make([]float64, 3), 0.0
			for i := range rows.N {
				for k, a := range rows.Row(i) {
					sum[k] += a
					square += a * a
				}
			}
			o := space.NewRows(1, 4)
			copy(o.Val, f(sum, square)) // irreps of degree 1 are x, y, z
			return o
		}),
	}
}

// A model whose terms stand in another order, or whose vector has another polar axis, is told so; its clean twin is
// not.
func TestTermsOfAModel(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(v []float64, square float64) []float64
		want string
	}{
		{"as declared", func(v []float64, s float64) []float64 { return append([]float64{s}, v...) }, ""},
		{
			"vector first", func(v []float64, s float64) []float64 { return append(slices.Clone(v), s) },
			"y as 1x1o+1x0e",
		},
		{
			"y, z, x in place of x, y, z",
			func(v []float64, s float64) []float64 { return []float64{s, v[1], v[2], v[0]} },
			"as the polar axis",
		},
	} {
		r := audittest.Audit(t, audittest.Fixture{Subject: subject(t, c.f)}, Check)
		at := ""
		for _, x := range r.Clues() {
			if x.Name == audit.ClueIrreps && x.Holds {
				at = x.Location
			}
		}
		if at != c.want && (c.want == "" || !strings.Contains(at, c.want)) {
			t.Errorf("%s: %q, want %q", c.name, at, c.want)
		}
	}
}
