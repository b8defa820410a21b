package stress_test

import (
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/extremes"
	"nero/audit/check/laws"
	"nero/data/dataset"
	"nero/data/space"
	"nero/model/decode"
	"nero/symmetry/orbit"
)

// Atoms are whole numbers: a model of molecules answers strange inputs as well.
func TestMoleculesAreAnswered(t *testing.T) {
	const molecules = "../../../studies/molecules/"
	s := audittest.Open(t, audittest.Files{
		Model:  molecules + "models/molecules-conservative.onnx",
		Data:   dataset.Spec{Format: "molecules", Images: molecules + "data/test.xyz"},
		Inputs: []decode.InputField{{Field: "positions"}, {Field: "species"}},
		Outputs: []decode.OutputField{
			{Name: "energy", Type: space.TypeUnchanged, Per: space.PerSample},
			{Name: "forces", Type: space.TypeVectors, Per: space.PerNode},
		},
		Group: "O(3)", Orbit: orbit.Spec{Haar: 3}, N: 4,
	})
	r := audittest.Audit(t, audittest.Fixture{Subject: s, Options: audit.Options{Params: map[string]float64{
		"stress.samples": 2, "stress.elements": 2, "controls.samples": 3, "controls.elements": 2, "controls.draws": 1,
	}}}, extremes.Check)
	for _, c := range r.Results {
		if c.Check != extremes.Check {
			continue
		}
		if c.Status != audit.Tested {
			t.Fatalf("%s: %s", c.Status, c.Reason)
		}
		for _, x := range c.Exhibits {
			if x.Name == "extremes" && len(x.Table.Rows) > 0 {
				return
			}
		}
	}
	t.Error("strange inputs were not tried")
}

// Molecules of fewer atoms than the group permutes are moved by what is left of a permutation, which does not compose:
// no law of the group is broken by that.
func TestLawsOfFewerAtoms(t *testing.T) {
	const molecules = "../../../studies/molecules/"
	s := audittest.Open(t, audittest.Files{
		Model:  molecules + "models/molecules-conservative.onnx",
		Data:   dataset.Spec{Format: "molecules", Images: molecules + "data/test.xyz"},
		Inputs: []decode.InputField{{Field: "positions"}, {Field: "species"}},
		Outputs: []decode.OutputField{
			{Name: "energy", Type: space.TypeUnchanged, Per: space.PerSample},
			{Name: "forces", Type: space.TypeVectors, Per: space.PerNode},
		},
		Group: "E(3) x S(24)", Orbit: orbit.Spec{Haar: 4}, N: 3,
	})
	r := audittest.Audit(t, audittest.Fixture{Subject: s, Options: audit.Options{Params: map[string]float64{
		"stress.samples": 2, "stress.elements": 3, "controls.samples": 3, "controls.elements": 2, "controls.draws": 1,
	}}}, laws.Check)
	for _, f := range r.Findings() {
		if f.Category == audit.Stress || f.Category == audit.ActionLaw {
			t.Errorf("finding of a clean model: %s", f.Message)
		}
	}
	for _, c := range r.Results {
		if c.Check == laws.Check && c.Status != audit.Tested {
			t.Errorf("%s: %s", c.Status, c.Reason)
		}
	}
}
