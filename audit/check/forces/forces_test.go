//go:build !race

// Whole audits take minutes under the race detector, and run nothing that those of other checks do not run there.

package forces_test

import (
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/forces"
	"nero/data/dataset"
	"nero/data/space"
	"nero/model/decode"
	"nero/symmetry/orbit"
)

const molecules = "../../../studies/molecules/"

// The networks are those of studies/molecules: forces that are minus the gradient, forces from a head of their own, and
// a network in which nothing is built in.
func TestForces(t *testing.T) {
	for _, x := range []struct {
		model                                string
		pad                                  int
		invariant, equivariant, conservative bool
		message                              string
	}{
		{"conservative", 0, true, true, true, ""},
		{"direct", 0, true, true, false, "a direct force head"},
		{"mlp", 24, false, false, false, "nothing ties them to the energy"},
	} {
		t.Run(x.model, func(t *testing.T) {
			s := audittest.Open(t, audittest.Files{
				Model:  molecules + "models/molecules-" + x.model + ".onnx",
				Data:   dataset.Spec{Format: "molecules", Images: molecules + "data/test.xyz"},
				Inputs: []decode.InputField{{Field: "positions", Pad: x.pad}, {Field: "species", Pad: x.pad}},
				Outputs: []decode.OutputField{
					{Name: "energy", Type: space.TypeUnchanged, Per: space.PerSample},
					{Name: "forces", Type: space.TypeVectors, Per: space.PerNode},
				},
				Group: "O(3)", Orbit: orbit.Spec{Haar: 3}, N: 6,
			})
			r := audittest.Audit(t,
				audittest.Fixture{
					Subject: s,
					Options: audit.Options{Params: map[string]float64{
						"forces.samples": 2, "forces.directions": 2,
						"controls.samples": 3, "controls.elements": 2, "controls.draws": 1,
					}},
				}, forces.Check)
			holds := map[audit.ClueName]bool{}
			for _, c := range r.Clues() {
				if c.Check == "forces" {
					holds[c.Name] = c.Holds
					t.Log(c.Text)
				}
			}
			if holds[audit.ClueEnergy] == x.invariant || holds[audit.ClueForces] == x.equivariant ||
				holds[audit.ClueNotConservative] == x.conservative {
				t.Errorf("clues %v", holds)
			}
			for _, c := range r.Results {
				if c.Check != forces.Check {
					continue
				}
				if c.Status != audit.Tested {
					t.Fatalf("%s: %s", c.Status, c.Reason)
				}
				for _, m := range c.Measures {
					t.Log(m)
				}
				if x.message == "" && len(c.Findings) > 0 || x.message != "" &&
					(len(c.Findings) != 1 || !strings.Contains(c.Findings[0].Message, x.message)) {
					t.Errorf("findings %+v", c.Findings)
				}
			}
		})
	}
}
