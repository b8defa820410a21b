package group

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestAxisJSON(t *testing.T) {
	for _, e := range Catalog() {
		b, err := json.Marshal(e.Chart)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		var back []Axis
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if !slices.Equal(back, e.Chart) {
			t.Errorf("%s: %s reads back as %v, want %v", e.Name, b, back, e.Chart)
		}
	}
	b, err := json.Marshal(Axis{Name: "dx", Unit: "px", Min: math.Inf(-1), Max: 4})
	if want := `{"name":"dx","unit":"px","min":null,"max":4,"periodic":false}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
	if err := json.Unmarshal([]byte(`{"min":"far"}`), new(Axis)); err == nil || !strings.Contains(err.Error(), "min") {
		t.Errorf("a bound that is a word: error %v", err)
	}
}
