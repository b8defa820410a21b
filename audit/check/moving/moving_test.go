//go:build !race

// Whole audits take minutes under the race detector, and run nothing that those of other checks do not run there.

package moving_test

import (
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/moving"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/slow"
	"nero/model/decode"
	"nero/symmetry/orbit"
)

const planted = "../../../studies/planted/"

func TestMoving(t *testing.T) {
	for _, x := range []struct {
		model  string
		values [][]float64
		holds  bool
	}{
		{"flow_static", [][]float64{{0, 0}, {1, 0}, {0, 1}, {-1, 0}}, true},
		{"flow_moving", [][]float64{{0, 0}, {1, 0}, {0, 1}, {-1, 0}}, false},
		{"flow_memory", [][]float64{{0, 0}, {1, 0}, {-1, 0}, {2, 0}}, false}, // a state for each drift along columns
		{"flow_memory", [][]float64{{0, 0}, {0, 1}, {0, -1}}, true},          // and none along rows
	} {
		t.Run(x.model, func(t *testing.T) {
			if x.model == "flow_memory" {
				slow.Test(t)
			}
			s := audittest.Open(t, audittest.Files{
				Model:   planted + "models/" + x.model + ".onnx",
				Data:    dataset.Spec{Format: "pairs", Images: planted + "data/frames.npz", Key: "frames"},
				Inputs:  []decode.InputField{{Kind: space.KindFrames}},
				Outputs: []decode.OutputField{{Name: "fields", Kind: space.KindFrames}},
				Group:   "Flow(shift x, shift y)", Orbit: orbit.Spec{Values: x.values}, N: 4, Circular: true,
			})
			r := audittest.Audit(t, audittest.Fixture{Subject: s}, moving.Check)
			found := false
			for _, c := range r.Clues() {
				if c.Name == audit.ClueMoving {
					found = true
					if c.Holds != x.holds {
						t.Errorf("holds is %t: %s", c.Holds, c.Text)
					}
				}
			}
			if !found {
				for _, c := range r.Results {
					t.Errorf("%s: %s %s", c.Check.Name, c.Status, c.Reason)
				}
			}
		})
	}
}
