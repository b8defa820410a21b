package jvp

import (
	"encoding/binary"
	"math"

	"nero/data/tensor"
)

// number is a scalar of a floating-point type.
func number(v float64, d tensor.DType) tensor.Tensor {
	x := tensor.New(d)
	le := binary.LittleEndian
	switch d.Size() {
	case 8:
		le.PutUint64(x.Raw, math.Float64bits(v))
	case 4:
		le.PutUint32(x.Raw, math.Float32bits(float32(v)))
	default:
		if d == tensor.BFloat16 {
			le.PutUint16(x.Raw, uint16(math.Float32bits(float32(v))>>16))
		} else {
			le.PutUint16(x.Raw, half(v))
		}
	}
	return x
}

// half rounds to IEEE 754 binary16, to nearest; the numbers used here are in the range of its normal numbers, or 0.
func half(v float64) uint16 {
	b := math.Float32bits(float32(v))
	sign, exp, frac := uint16(b>>16&0x8000), int(b>>23&0xff)-127+15, b&0x7fffff
	switch {
	case exp <= 0:
		return sign
	case exp >= 31:
		return sign | 0x7c00
	}
	h := uint32(exp)<<10 | frac>>13
	if rest := frac & 0x1fff; rest > 0x1000 || rest == 0x1000 && h&1 == 1 {
		h++ // may carry into the exponent, as it should
	}
	return sign | uint16(h)
}
