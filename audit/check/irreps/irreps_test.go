package irreps_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/irreps"
	"nero/data/dataset"
	"nero/data/space"
	"nero/model/decode"
	"nero/symmetry/orbit"
)

const planted = "../../../studies/planted/"

// The networks are those of studies/planted/MODEL_CARDS.md: one error of type each, and the right type beside it.
func TestTypes(t *testing.T) {
	for _, x := range []struct{ model, field, typ, want string }{
		{"pseudovector", "axial", space.TypeVectors, "axial as pseudovectors"},
		{"pseudovector", "axial", space.TypePseudovectors, ""},
		{"irreps_l2", "tensor", "1x2e", ""},
		{"irreps_l2_parity", "tensor", "1x2e", "tensor as 1x2o"},
		{"irreps_l2_order", "tensor", "1x2e", "tensor as 1x2e, z in place of y as the polar axis"},
	} {
		t.Run(x.model+" "+x.typ, func(t *testing.T) {
			s := audittest.Open(t, audittest.Files{
				Model: planted + "models/" + x.model + ".onnx",
				Data: dataset.Spec{
					Format: "clouds", Images: planted + "data/clouds.npz",
					Cloud: dataset.Cloud{Center: "none", Scale: "none"},
				},
				Outputs: []decode.OutputField{{Name: x.field, Type: x.typ, Per: space.PerSample}}, Group: "O(3)",
				Orbit: orbit.Spec{Haar: 8}, N: 12,
			})
			r := audittest.Audit(t, audittest.Fixture{Subject: s}, irreps.Check)
			var clue *audit.Clue
			for _, c := range r.Clues() {
				if c.Name == audit.ClueIrreps {
					clue = &c
				}
			}
			if x.want == "" {
				if clue != nil {
					t.Errorf("clue of a clean model: %s", clue.Text)
				}
				for _, c := range r.Results {
					if c.Check == irreps.Check &&
						(c.Status != audit.NotApplicable || !strings.Contains(c.Reason, "hold")) {
						t.Errorf("%s: %s", c.Status, c.Reason)
					}
				}
				return
			}
			if clue == nil || !clue.Holds || clue.Location != x.want {
				t.Errorf("got %+v, want %q", clue, x.want)
			}
		})
	}
}

// One answer that is not finite says nothing of types: turns alone tell pseudovectors and vectors not apart, and both
// hold on all other pairs.
func TestNotFinite(t *testing.T) {
	s := audittest.Open(t, audittest.Files{
		Model: planted + "models/pseudovector.onnx",
		Data: dataset.Spec{
			Format: "clouds", Images: planted + "data/clouds.npz",
			Cloud: dataset.Cloud{Center: "none", Scale: "none"},
		},
		Outputs: []decode.OutputField{{Name: "axial", Type: space.TypePseudovectors, Per: space.PerSample}},
		Group:   "SO(3)", Orbit: orbit.Spec{Haar: 8}, N: 12,
	})
	first := func(v space.Value) float64 { return v.Numbers()[0] }
	most := math.Inf(-1)
	for i := range s.N {
		x, err := s.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Plan.Elements {
			moved, err := s.Plan.In.Apply(e, x.Value)
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, first(moved))
		}
	}
	inner := s.Predictor
	s.Predictor = audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
		out, err := inner.Predict(ctx, values)
		for i := range out {
			if err == nil && first(values[i]) == most {
				n := out[i].Numbers()
				n[0] = math.NaN()
				l, ok := out[i].(space.Linear)
				if !ok {
					return nil, fmt.Errorf("answers of kind %s", out[i].Kind())
				}
				if out[i], err = l.With(n); err != nil {
					return nil, err
				}
			}
		}
		return out, err
	})
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, irreps.Check)
	if r.Verdict != audit.Failed {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
	for _, c := range r.Clues() {
		if c.Name == audit.ClueIrreps && c.Holds {
			t.Error(c.Text)
		}
	}
}
