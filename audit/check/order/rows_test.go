package order_test

import (
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/order"
	"nero/data/dataset"
	"nero/data/space"
	"nero/model/decode"
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
