package repair

import (
	"encoding/json"
	"strings"
	"testing"
)

// A model that always answers the same has no unit to measure in, and one sample no interval: both are said as null,
// and the rest of the bill stands.
func TestBillWithoutUnit(t *testing.T) {
	same := &Answers{
		Back: [][][]float64{{{1, 2}}, {{1, 2}}}, Class: [][]int{{1}, {1}},
	}
	b := same.Bill(same, []int{1})
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"error":null`, `"apart":null`, `"right":{"value":1,`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s, want %s in it", text, want)
		}
	}
}
