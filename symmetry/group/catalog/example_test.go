package catalog_test

import (
	"fmt"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Elements are coordinates in the chart of their group; products have those of their factors one after another.
func ExampleParse() {
	g, err := catalog.Parse("c4 x time")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Name(), g.Identity())
	for _, a := range g.Chart() {
		fmt.Println(a.Name, a.Unit, a.Switch())
	}
	turn, back := group.Element{90, 1}, group.Element{270, 0}
	fmt.Println(g.Mul(turn, back))
	// Output:
	// C4 x Time [0 0]
	// angle deg false
	// reverse  true
	// [0 1]
}
