//go:build !race

// Whole audits take minutes under the race detector, and run nothing that those of other checks do not run there.

package subgroup_test

import (
	"slices"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/subgroup"
	"nero/data/dataset"
	"nero/data/space"
	"nero/model/decode"
	"nero/symmetry/orbit"
)

const planted = "../../../studies/planted/"

func cloud(t *testing.T, model, group string, outputs ...decode.OutputField) *audit.Subject {
	t.Helper()
	if len(outputs) == 0 {
		outputs = []decode.OutputField{{Name: "y", Type: space.TypeUnchanged}}
	}
	return audittest.Open(t, audittest.Files{
		Model: planted + "models/" + model + ".onnx",
		Data: dataset.Spec{
			Format: "clouds", Images: planted + "data/clouds.npz",
			Cloud: dataset.Cloud{Center: "none", Scale: "none"},
		},
		Outputs: outputs, Group: group, Orbit: orbit.Spec{Haar: 6}, N: 12,
	})
}

func largest(t *testing.T, s *audit.Subject) *audit.Report {
	t.Helper()
	return audittest.Audit(t,
		audittest.Fixture{
			Subject: s,
			Options: audit.Options{Params: map[string]float64{"subgroup.samples": 6, "subgroup.elements": 4}},
		},
		subgroup.Check)
}

// The largest groups are those that the networks were built with (studies/planted/MODEL_CARDS.md), whatever is claimed
// of them.
func TestLargest(t *testing.T) {
	for _, x := range []struct {
		model, claim, want string
		beyond             string
		clue               audit.ClueName
	}{
		{"so3_not_o3", "O(3)", "SO(3) × S(64)", "O(3): handedness", audit.ClueHandedness},
		{"so3_not_o3", "SO(3)", "SO(3) × S(64)", "O(3): handedness", ""},
		{"og3_not_o3", "O(3)", "Og(3,z) × S(64)", "O(3): a direction is singled out", audit.ClueDirection},
		{"sn_not_e3", "E(3)", "S(64)", "T(3): the place in space counts", audit.ClueCentering},
		{"translation_only", "E(3)", "T(3)", "S(64): the order of rows counts", ""},
		{"e3_sn", "SO(3)", "E(3) × S(64)", "", ""},
	} {
		t.Run(x.model+" "+x.claim, func(t *testing.T) {
			r := largest(t, cloud(t, x.model, x.claim))
			if r.Largest != x.want {
				t.Errorf("largest %q, want %q", r.Largest, x.want)
			}
			if x.beyond != "" && !slices.Contains(r.Beyond, x.beyond) || x.beyond == "" && len(r.Beyond) > 0 {
				t.Errorf("beyond: %q, want %q", r.Beyond, x.beyond)
			}
			held := false
			for _, c := range r.Clues() {
				if c.Check != "subgroup" || !c.Holds {
					continue
				}
				if held = held || c.Name == x.clue; x.clue == "" && c.Name != audit.ClueOrder {
					t.Errorf("clue %s: %s", c.Name, c.Text)
				}
			}
			if x.clue != "" && !held {
				t.Errorf("no clue %s", x.clue)
			}
		})
	}
}

// A vector and forces move with space; declared as what they are, all of E(3) holds.
func TestVectors(t *testing.T) {
	r := largest(t, cloud(t, "vector_e3", "SE(3)",
		decode.OutputField{Name: "vector", Type: space.TypeVectors, Per: space.PerSample},
		decode.OutputField{Name: "forces", Type: space.TypeVectors}))
	if want := "E(3) × S(64)"; r.Largest != want {
		t.Errorf("largest %q, want %q", r.Largest, want)
	}
	r = largest(t, cloud(t, "pseudovector", "SE(3)", decode.OutputField{Name: "axial", Type: space.TypeVectors}))
	if want := "SE(3) × S(64)"; r.Largest != want {
		t.Errorf("an axial vector declared polar: largest %q, want %q", r.Largest, want)
	}
}
