package grouptest_test

import (
	"testing"

	"nero/symmetry/group/catalog"
	"nero/symmetry/group/grouptest"
)

func TestCatalogKeepsTheLaws(t *testing.T) {
	for _, e := range catalog.List() {
		t.Run(e.Example, func(t *testing.T) {
			g, err := catalog.Parse(e.Example)
			if err != nil {
				t.Fatal(err)
			}
			grouptest.Check(t, g)
		})
	}
}

func TestGroupsKeepTheLaws(t *testing.T) {
	for _, name := range []string{
		"Trivial", "SO(2)", "O(2)", "C1", "C2", "C4", "C7", "C360", "D1", "D2", "D4", "D5", "T(2)", "T(2,Z)",
		"Roll(28,28)", "Roll(1,5)", "Roll(3,4)",
		"Scale", "SE(2)", "E(2)", "p4", "p4m",
		"C4 x Scale", "C4 x T(2,Z)", "SO(2) x Scale", "D4 x C2", "O(2) x T(2)", "Scale x T(2)", "C4 x Roll(4,6)",
		"C3 x C4 x D2", "SE(2) x Scale",
		"Time", "D4 x Time", "T(2) x Time", "Roll(3,4) x Time", "C3 x Roll(3,4) x Time", "Time x Time", "Time x E(2)",
		"Affine(rotate)", "Affine(scale)", "Affine(rotate,scale)", "Affine(shear)", "Affine(shear y)",
		"Affine(stretch)", "Affine(hyperbolic)",
		"Affine(scale,stretch)", "Affine(shear,scale)", "Affine(stretch,shear)", "Affine(shift x)",
		"Affine(shift x,shift y)",
		"Affine(scale,shift x,shift y)", "Affine(rotate,shift x,shift y)", "Affine(rotate,scale,shift x,shift y)",
		"Affine(shear,shift x,shift y)",
		"Affine(scale,stretch,shear,shift x,shift y)", "Affine(hyperbolic,shift x,shift y)", "Affine(stretch,shift x)",
		"Affine(rotate,stretch,hyperbolic)", "Affine(rotate,shear,stretch)", "Affine(shear,shear y,stretch)",
		"Affine(stretch,hyperbolic,shear)",
		"Affine(rotate,scale,stretch,hyperbolic,shift x,shift y)",
		"Og(3,x)", "Og(3,1,2,-0.5)", "SOg(3,y)", "SOg(3,0,0,-1)", "Eg(3)", "Eg(3,1,2,-0.5)",
		"SEg(3,y)", "S(5) x Eg(3)", "SO(3) x Scale(3)", "C4 x SE(3)", "Octa x Scale(3)",
		"Flow(rotate,scale)", "Flow(3,rotate z,shift z)", "Flow(shear)", "Flow(3,shift x,shift z)", "Flow(rotate)",
		"Channels(2)", "Hue x Brightness", "GL+(2)", "SL(3)", "Sp(2)", "SL(2) x Scale",
		"S(1)", "S(2)", "S(3)", "S(6)", "S(12)", "S(40)", "S(5) x E(3)", "S(30) x SO(3)", "S(3) x S(4)", "Roll(1)",
		"Roll(1000)", "T(1,Z) x Scale",
	} {
		t.Run(name, func(t *testing.T) {
			g, err := catalog.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			grouptest.Check(t, g)
		})
	}
}
