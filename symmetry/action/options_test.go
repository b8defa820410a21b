package action_test

import (
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
)

func TestOptionsOf(t *testing.T) {
	g := catalog.SO2()
	grid := []int{1, 5, 5}
	image, err := action.NewImage(g, space.Spec{Shape: grid}, action.Options{Kernel: action.Spline})
	if err != nil {
		t.Fatal(err)
	}
	tensor, err := action.NewTensor(g, space.Spec{Shape: grid}, action.Options{Border: action.Reflect},
		action.Identical())
	if err != nil {
		t.Fatal(err)
	}
	vector, err := action.NewTensor(g, space.Spec{Shape: []int{1}}, action.Options{}, action.Identical())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a      action.Action
		kernel action.Kernel
		border action.Border
		ok     bool
		// "" for none
		rep string
	}{
		{image, action.Spline, action.Zero, true, ""},
		{tensor, action.Bilinear, action.Reflect, true, "trivial"},
		{vector, "", "", false, "trivial"},
		{action.Trivial{G: g}, "", "", false, ""},
	} {
		o, ok := action.OptionsOf(c.a)
		if o.Kernel != c.kernel || o.Border != c.border || ok != c.ok {
			t.Errorf("%T: %+v %v, want %s %s %v", c.a, o, ok, c.kernel, c.border, c.ok)
		}
		if r, ok := action.RepresentationOf(c.a); r.Name() != c.rep || ok != (c.rep != "") {
			t.Errorf("%T: representation %q %v, want %q", c.a, r.Name(), ok, c.rep)
		}
	}
	roll, err := catalog.Roll(5, 5)
	if err != nil {
		t.Fatal(err)
	}
	a, err := action.NewImage(roll, space.Spec{Shape: grid}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := action.OptionsOf(a); !ok || o.Border != action.Circular {
		t.Errorf("a rolled picture has the border rule %q", o.Border)
	}
}
