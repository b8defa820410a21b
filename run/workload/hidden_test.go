package workload

import (
	"testing"

	"nero/data/dataset"
	"nero/data/space"
)

// shapes are samples that say what they are.
type shapes struct{ dataset.Dataset }

func (shapes) Info() dataset.Info {
	return dataset.Info{
		Space:  space.Spec{Name: "points", Kind: space.KindRows, Shape: []int{4, 3}},
		Target: space.Spec{Name: "y", Kind: space.KindRows},
	}
}

// TestHiddenLabelsLeaveSpaces shows that samples stay what they are when their labels or targets are left alone.
func TestHiddenLabelsLeaveSpaces(t *testing.T) {
	for name, d := range map[string]dataset.Dataset{
		"unlabeled":  unlabeled(shapes{}),
		"untargeted": untargeted(shapes{}), "both": untargeted(unlabeled(shapes{})),
	} {
		if s := d.Info().Space; s.Kind != space.KindRows {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if unlabeled(shapes{}).Info().Target.Kind == "" || untargeted(shapes{}).Info().Target.Kind != "" {
		t.Error("the wrong targets are hidden")
	}
}
