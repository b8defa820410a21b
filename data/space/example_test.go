package space_test

import (
	"fmt"

	"nero/data/space"
)

// What works on the numbers of a value needs no knowledge of its kind.
func ExampleValue() {
	for _, v := range []space.Value{
		&space.Scores{Val: []float64{1, 2}}, &space.Rows{N: 2, W: 1, Val: []float64{3, 4}},
	} {
		double := v.Clone()
		for i := range double.Numbers() {
			double.Numbers()[i] *= 2
		}
		fmt.Println(v.Form(), v.Numbers(), double.Numbers())
	}
	// Output:
	// scores 2 [1 2] [2 4]
	// rows 2x1 [3 4] [6 8]
}

// The leaves of a record are its fields; any other value is its own only leaf.
func ExampleLeaves() {
	molecule := &space.Record{
		Names: []string{"energy", "forces"},
		Values: []space.Value{
			&space.Rows{N: 1, W: 1, Val: []float64{-3}},
			&space.Rows{N: 2, W: 3, Val: []float64{0, 0, 1, 0, 0, -1}},
		},
	}
	for name, v := range space.Leaves(molecule) {
		fmt.Println(name, v.Dims())
	}
	// Output:
	// energy [1 1]
	// forces [2 3]
}
