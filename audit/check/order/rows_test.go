package order_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/order"
	"nero/audit/check/subgroup"
	"nero/data/dataset"
	"nero/data/space"
	"nero/model/decode"
	"nero/symmetry/action"
	"nero/symmetry/define"
	"nero/symmetry/orbit"
)

// translation_only takes differences of consecutive rows, so that exchanges break it; e3_sn sums over all pairs
// (studies/planted/MODEL_CARDS.md).
func TestRows(t *testing.T) {
	const planted = "../../../studies/planted/"
	for _, x := range []struct {
		model string
		holds bool
	}{{"translation_only", true}, {"so3_not_o3", false}} {
		s := audittest.Open(t, audittest.Files{
			Model: planted + "models/" + x.model + ".onnx",
			Data: dataset.Spec{
				Format: "clouds", Images: planted + "data/clouds.npz",
				Cloud: dataset.Cloud{Center: "none", Scale: "none"},
			},
			Outputs: []decode.OutputField{{Name: "y", Type: space.TypeUnchanged}}, Group: "S(64)",
			Orbit: orbit.Spec{Haar: 4}, N: 8,
		})
		r := audittest.Audit(t, audittest.Fixture{Subject: s}, order.Check)
		found := false
		for _, c := range r.Clues() {
			if c.Check != "order" || c.Name != audit.ClueOrder {
				continue
			}
			found = true
			if c.Holds != x.holds {
				t.Errorf("%s: holds is %t: %s", x.model, c.Holds, c.Text)
			}
			if x.holds && !strings.Contains(c.Text, "neighboring rows") {
				t.Errorf("%s: %s", x.model, c.Text)
			}
		}
		if !found {
			t.Errorf("%s: nobody looked: %+v", x.model, r.Results[len(r.Results)-1])
		}
	}
}

// A table of a few permutations claims nothing about two rows that are exchanged: neither this check nor that of
// subgroups holds the order of rows against the model.
func TestTablesOfPermutations(t *testing.T) {
	g, err := define.Load(t.Context(), strings.NewReader(`name: Four group
table:
  elements: [e, a, b, c]
  products: [[e, a, b, c], [a, e, c, b], [b, c, e, a], [c, b, a, e]]
  representations:
    plane: {e: [[1, 0], [0, 1]], a: [[-1, 0], [0, 1]], b: [[1, 0], [0, -1]], c: [[-1, 0], [0, -1]]}
  permutations:
    corners: {e: [0, 1, 2, 3], a: [1, 0, 3, 2], b: [2, 3, 0, 1], c: [3, 2, 1, 0]}
space: plane
rows: corners
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	in := space.Spec{Name: "x", Kind: space.KindRows, Shape: []int{4, 2}, Type: space.TypePositions, Per: space.PerNode}
	move, err := action.Rules().For(g, in, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := orbit.NewPlan(g, orbit.Spec{All: true}, move, action.Trivial{G: g}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: "corners", Plan: plan, N: 12, Seed: 5, InSpec: in,
		OutSpec: space.Spec{
			Name: "y", Kind: space.KindRows, Type: space.TypeUnchanged, Per: space.PerSample, Shape: []int{1, 1},
		},
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			v := space.NewRows(4, 2)
			for k := range v.Val {
				v.Val[k] = r.NormFloat64()
			}
			return dataset.Sample{ID: strconv.Itoa(i), Value: v}, nil
		},
		Predictor: audittest.Pointwise(func(x space.Value) space.Value {
			v := x.Numbers()
			return &space.Rows{N: 1, W: 1, Val: []float64{v[0] + 2*v[2]*v[5]}}
		}),
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, order.Check, subgroup.Check)
	for _, c := range r.Clues() {
		if c.Name == audit.ClueOrder {
			t.Errorf("%s: %s", c.Check, c.Text)
		}
	}
	for _, x := range r.Results {
		if x.Check == order.Check && x.Status != audit.NotApplicable {
			t.Errorf("the check is %s: %s", x.Status, x.Reason)
		}
	}
}
