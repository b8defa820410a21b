package space

import (
	"encoding/binary"
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
