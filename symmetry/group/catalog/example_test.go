package catalog_test

import (
	"fmt"
	"strings"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func ExampleParse() {
	g, err := catalog.Parse("c4 x scale")
	if err != nil {
		fmt.Println(err)
		return
	}
	e := g.Mul(group.Element{270, 2}, group.Element{180, 0.25})
	fmt.Println(g.Name(), group.Format(g, e))
	_, err = catalog.Parse("Affine(rotate, shift x)")
	fmt.Println(strings.NewReplacer("; ", "\n", "and their", "and\ntheir").Replace(err.Error()))
	// Output:
	// C4 x Scale (angle 90 deg, scale x0.5)
	// Affine(rotate,shift x) is not closed under composition: rotate and shift x do not commute, and
	// their commutator is not in the span
	// add shift y: Affine(rotate,shift x,shift y)
}
