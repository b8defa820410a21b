package convention_test

import (
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Each planted convention of a field is named; what is no convention is not.
func TestVectorFields(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken audittest.FlowBreak
		// part of the name of the variant; "" for none
		want string
	}{
		{"v up", audittest.FlowUp, "v is positive upwards"},
		{"swapped", audittest.FlowSwapped, "u and v are exchanged"},
		{"unturned", audittest.FlowUnturned, "keep their directions"},
		{"even in time", audittest.FlowEven, "keep their sign when time runs backwards"},
		{"lopsided", audittest.FlowLopsided, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := parse(t, "D4 x Time")
			in, err := action.NewFrames(g, space.Spec{Kind: space.KindFrames, Shape: []int{2, 1, side, side}},
				action.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := action.NewField(g, space.Spec{Kind: space.KindField, Shape: []int{2, side, side}},
				action.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f, ok := g.(group.Finite)
			if !ok {
				t.Fatal("D4 x Time is not finite")
			}
			s := &audit.Subject{
				Name: c.name, Predictor: audittest.Flow(c.broken),
				Plan: audittest.Plan(t, in, out, f.Elements()[1:]...),
				N:    inputs, Sample: audittest.Pairs(inputs, side, side, 5), Seed: 1,
			}
			r, _ := look(t, s)
			if r == nil {
				t.Fatal("not tested")
			}
			named := slices.ContainsFunc(r.Passing,
				func(n string) bool { return c.want != "" && strings.Contains(n, c.want) })
			if c.want == "" && len(r.Passing) > 0 || c.want != "" && !named {
				t.Errorf("passing are %q, want one with %q", r.Passing, c.want)
			}
		})
	}
}
