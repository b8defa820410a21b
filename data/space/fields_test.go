package space_test

import (
	"testing"

	"nero/data/space"
)

func TestReplace(t *testing.T) {
	var a, b space.Value = &space.Scores{Val: []float64{1}}, &space.Scores{Val: []float64{2, 3}}
	if space.Replace(a, 0, b) != b {
		t.Error("a value that is no record is replaced whole")
	}
	r := &space.Record{Names: []string{"x", "y"}, Values: []space.Value{a, a}}
	names, values := space.Fields(space.Replace(r, 1, b))
	if len(values) != 2 || names[1] != "y" || values[0] != a || values[1] != b || r.Values[1] != a {
		t.Errorf("one field is replaced, and the record is as before: %v %v %v", names, values, r.Values)
	}
}
