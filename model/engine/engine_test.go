package engine_test

import (
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/engine"
)

func TestCheckInputs(t *testing.T) {
	a, b := tensor.Named{Name: "a", Tensor: tensor.New(tensor.Float32, 2)},
		tensor.Named{Name: "b", Tensor: tensor.New(tensor.Int64)}
	short := a
	short.Raw = short.Raw[:7]
	for _, c := range []struct {
		// want is in the error; empty for none
		name, want string
		in         []tensor.Named
	}{
		{"right", "", []tensor.Named{a, b}},
		{"exchanged", `input 0 is named "b"`, []tensor.Named{b, a}},
		{"too few", "1 inputs given, the model takes 2", []tensor.Named{a}},
		{"too many", "3 inputs given", []tensor.Named{a, b, b}},
		{"bytes missing", "7 bytes", []tensor.Named{short, b}},
		{"no type", `input "a"`, []tensor.Named{{Name: "a"}, b}},
	} {
		err := engine.CheckInputs([]string{"a", "b"}, c.in)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
