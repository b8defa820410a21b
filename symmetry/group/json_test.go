package group_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func TestAxisJSON(t *testing.T) {
	for _, e := range catalog.List() {
		b, err := json.Marshal(e.Chart)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		var back []group.Axis
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if !slices.Equal(back, e.Chart) {
			t.Errorf("%s: %s reads back as %v, want %v", e.Name, b, back, e.Chart)
		}
	}
	b, err := json.Marshal(group.Axis{Name: "dx", Unit: "px", Min: math.Inf(-1), Max: 4})
	if want := `{"name":"dx","unit":"px","min":null,"max":4,"periodic":false}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
	if err := json.Unmarshal([]byte(`{"min":"far"}`), new(group.Axis)); err == nil || !strings.Contains(err.Error(), "min") {
		t.Errorf("a bound that is a word: error %v", err)
	}
}
