//go:build !race

// Whole audits take minutes under the race detector, and run nothing that those of other checks do not run there.

package neighbors_test

import (
	"math"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/neighbors"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/slow"
	"nero/model/decode"
	"nero/symmetry/orbit"
)

const molecules = "../../../studies/molecules/"

// The twin with a hard cut-off at 3 angstrom jumps there; the one with a smooth end at 4.5 does not jump.
func TestCutoff(t *testing.T) {
	for _, x := range []struct {
		model  string
		cutoff float64
		holds  bool
	}{{"conservative", math.NaN(), false}, {"cutoff", 3, true}, {"capped", math.NaN(), true}} {
		t.Run(x.model, func(t *testing.T) {
			if x.model == "conservative" {
				slow.Test(t)
			}
			s := audittest.Open(t, audittest.Files{
				Model:  molecules + "models/molecules-" + x.model + ".onnx",
				Data:   dataset.Spec{Format: "molecules", Images: molecules + "data/test.xyz"},
				Inputs: []decode.InputField{{Field: "positions"}, {Field: "species"}},
				Outputs: []decode.OutputField{
					{Name: "energy", Type: space.TypeUnchanged, Per: space.PerSample},
					{Name: "forces", Type: space.TypeVectors, Per: space.PerNode},
				},
				Group: "SO(3)", Orbit: orbit.Spec{Haar: 2}, N: 6,
			})
			r := audittest.Audit(t, audittest.Fixture{Subject: s, Options: audit.Options{Params: map[string]float64{
				"neighbors.samples": 6, "neighbors.steps": 40, "controls.draws": 1, "controls.samples": 2,
				"controls.elements": 2,
			}}}, neighbors.Check)
			var clue *audit.Clue
			for _, c := range r.Clues() {
				if c.Name == audit.ClueNeighbors {
					clue = &c
				}
			}
			if clue == nil || clue.Holds != x.holds {
				t.Fatalf("clue %+v", clue)
			}
			found := math.NaN()
			for _, e := range clue.Evidence {
				if strings.HasPrefix(e.Name, "distance at which") {
					found = e.Value
				}
			}
			if math.IsNaN(x.cutoff) != math.IsNaN(found) || !math.IsNaN(found) && math.Abs(found-x.cutoff) > 0.005 {
				t.Errorf("cut-off %g, want %g: %s", found, x.cutoff, clue.Text)
			}
		})
	}
}
