package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"nero/data/tensor"
)

func putUint32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }

// part copies float64 values into a named array.
func part(name string, v []float64, shape ...int) tensor.Named {
	t := tensor.New(tensor.Float64, shape...)
	for i, x := range v {
		binary.LittleEndian.PutUint64(t.Raw[8*i:], math.Float64bits(x))
	}
	return tensor.Named{Name: name, Tensor: t}
}

// fits says that numbers are not as many as a value has.
func fits(v Value, n int, x []float64) error {
	if len(x) != n {
		return fmt.Errorf("%d numbers for %s", len(x), v.Form())
	}
	return nil
}

// fixed says that the numbers of a value cannot be exchanged.
func fixed(v Value) error {
	return fmt.Errorf("%s values cannot be changed by a small amount: %w", v.Kind(), errors.ErrUnsupported)
}

// whole appends whole numbers to a list.
func whole(to []float64, x []int32) []float64 {
	for _, i := range x {
		to = append(to, float64(i))
	}
	return to
}
