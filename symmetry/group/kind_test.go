package group_test

import (
	"encoding/json"
	"math"
	"testing"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Every axis of a built-in group says what it does, and its unit and bounds agree with that.
func TestKinds(t *testing.T) {
	units := map[group.Form]string{
		group.FormAngle: "deg", group.FormFactor: "factor", group.FormPixels: "px", group.FormSamples: "samples",
		group.FormLength: "length",
	}
	for _, entry := range catalog.List() {
		for _, a := range entry.Chart {
			if a.Kind == nil {
				t.Errorf("%s: %s has no kind", entry.Example, a.Name)
				continue
			}
			if unit, ok := units[a.Form()]; ok != (a.Unit == unit && unit != "") {
				t.Errorf("%s: %s is of kind %s in %q, expected %q", entry.Example, a.Name, a.Kind.Name, a.Unit, unit)
			}
			if byBounds := a.Unit == "" && !a.Periodic && a.Min == 0 && a.Max == 1; byBounds != a.Switch() {
				t.Errorf("%s: %s in %g..%g is of kind %s", entry.Example, a.Name, a.Min, a.Max, a.Kind.Name)
			}
			b, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			var back group.Axis
			if err := json.Unmarshal(b, &back); err != nil || back != a {
				t.Errorf("%s: %s came back as %+v: %v", entry.Example, b, back, err)
			}
		}
	}
	seen := map[string]bool{}
	for _, k := range group.Kinds() {
		if seen[k.Name] || k.Name == "" || k.Form == "" {
			t.Errorf("kind %+v: no name, no form, or a name that another has", k)
		}
		seen[k.Name] = true
	}
}

// Another package's kind is as good as those of this one, and an axis without a kind is a number.
func TestForeignKind(t *testing.T) {
	tilt := group.Axis{Name: "tilt", Unit: "deg", Kind: &group.Kind{Name: "tilt", Form: group.FormAngle}, Max: 9}
	b, err := json.Marshal(tilt)
	if err != nil {
		t.Fatal(err)
	}
	var back group.Axis
	if err := json.Unmarshal(b, &back); err != nil || back.Form() != group.FormAngle || *back.Kind != *tilt.Kind {
		t.Errorf("%s came back as %+v: %v", b, back, err)
	}
	if a := (group.Axis{Name: "x", Max: math.Inf(1)}); a.Form() != group.FormNumber || a.Rest() != 0 || a.Switch() {
		t.Errorf("an axis without a kind: %+v", a)
	}
}
