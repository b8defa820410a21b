package irreps

import (
	"slices"
	"strings"
	"testing"

	"nero/data/space"
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
