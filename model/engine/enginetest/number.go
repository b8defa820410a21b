package enginetest

import (
	"encoding/binary"
	"math"

	"nero/data/tensor"
)

// put writes element i of a tensor.
func put(t tensor.Tensor, i int, v float64) {
	le, b := binary.LittleEndian, t.Raw[i*t.DType.Size():]
	switch t.DType {
	case tensor.Float32:
		le.PutUint32(b, math.Float32bits(float32(v)))
	case tensor.Float64:
		le.PutUint64(b, math.Float64bits(v))
	case tensor.Float16:
		le.PutUint16(b, half(v))
	case tensor.BFloat16:
		le.PutUint16(b, uint16(math.Float32bits(float32(v))>>16))
	case tensor.Bool:
		if b[0] = 0; v != 0 {
			b[0] = 1
		}
	case tensor.Int8, tensor.Uint8:
		b[0] = byte(int64(v))
	case tensor.Int16, tensor.Uint16:
		le.PutUint16(b, uint16(int64(v)))
	case tensor.Int32, tensor.Uint32:
		le.PutUint32(b, uint32(int64(v)))
	case tensor.Int64, tensor.Uint64:
		le.PutUint64(b, uint64(int64(v)))
	case tensor.Undefined, tensor.String:
		panic("enginetest: a tensor without a type")
	}
}

// half rounds towards zero to a normal binary16 number; the values of this package fit.
func half(v float64) uint16 {
	if v == 0 {
		return 0
	}
	frac, exp := math.Frexp(math.Abs(v)) // in [0.5, 1)
	h := uint16(exp+14)<<10 | uint16(frac*2048)&1023
	if v < 0 {
		h |= 1 << 15
	}
	return h
}
