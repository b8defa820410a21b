package sweep

import (
	"testing"

	"nero/measure/scale"
)

// A replay says the error of the part that errs most in the unit of that part, and that of an output of one part as it
// is.
func TestOwn(t *testing.T) {
	parts := &scale.Gauge{Scale: 12, Parts: []scale.Part{{Scale: 12}, {Name: "what they share", Scale: 2}}}
	r := Replayed{Scale: 12, Error: scale.Difference{Norm: 36, Parts: []float64{.5, 3}, Part: 1}}
	if r.own(parts); r.Part != "what they share" || r.Own != 6 || r.OwnScale != 2 || r.Relative() != 3 {
		t.Errorf("%q: %v over %v, relative %v", r.Part, r.Own, r.OwnScale, r.Relative())
	}
	r = Replayed{Scale: 12, Error: scale.Difference{Norm: 6, Part: -1}}
	if r.own(&scale.Gauge{Scale: 12, Parts: make([]scale.Part, 1)}); r.Part != "" || r.Own != 6 || r.OwnScale != 12 {
		t.Errorf("one part: %q: %v over %v", r.Part, r.Own, r.OwnScale)
	}
}
