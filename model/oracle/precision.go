package oracle

import (
	"fmt"
	"math"
)

// Precision is a floating-point format to which values are rounded.
type Precision int

// Formats. Float64 rounds nothing. TF32 is float32 storage with operands of convolutions and matrix products rounded to
// 11 significant bits, as on tensor cores; [Precision.Round] for TF32 is that rounding of an operand.
const (
	Float64 Precision = iota
	Float32
	TF32
	Float16
	BFloat16

	precisions = iota
)

// format is the number of stored fraction bits, the least normal exponent and the largest exponent.
type format struct{ bits, emin, emax int }

func (p Precision) format() format {
	switch p {
	case Float32:
		return format{23, -126, 127}
	case TF32:
		return format{10, -126, 127}
	case Float16:
		return format{10, -14, 15}
	case BFloat16:
		return format{7, -126, 127}
	case Float64:
	}
	return format{52, -1022, 1023}
}

// String is the name in lower case, such as "float16".
func (p Precision) String() string {
	switch p {
	case Float64:
		return "float64"
	case Float32:
		return "float32"
	case TF32:
		return "tf32"
	case Float16:
		return "float16"
	case BFloat16:
		return "bfloat16"
	}
	return fmt.Sprintf("Precision(%d)", int(p))
}

// Unit is the unit roundoff: the largest relative error of rounding a number in the normal range, 2^-53 for Float64,
// 2^-24 for Float32, 2^-11 for Float16 and TF32, 2^-8 for BFloat16.
func (p Precision) Unit() float64 { return math.Ldexp(1, -p.format().bits-1) }

// Round is the number of the format nearest to x, ties to even; infinity beyond its range, with subnormal numbers below
// it. NaN stays NaN.
func (p Precision) Round(x float64) float64 {
	switch p {
	case Float64:
		return x
	case Float32:
		return float64(float32(x))
	case TF32, Float16, BFloat16:
	}
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	f := p.format()
	_, e := math.Frexp(x)
	quantum := max(e-1, f.emin) - f.bits // exponent of the unit in the last place
	// Scaling by a power of two is exact where it matters: what underflows is far below half a quantum.
	y := math.Ldexp(math.RoundToEven(math.Ldexp(x, -quantum)), quantum)
	if y == 0 {
		return math.Copysign(0, x)
	}
	if _, e := math.Frexp(y); e-1 > f.emax {
		return math.Inf(int(math.Copysign(1, x)))
	}
	return y
}

// roundAll rounds in place.
func (p Precision) roundAll(xs []float64) {
	switch p {
	case Float64:
	case Float32:
		for i, x := range xs {
			xs[i] = float64(float32(x))
		}
	case TF32, Float16, BFloat16:
		for i, x := range xs {
			xs[i] = p.Round(x)
		}
	}
}

// stored is the format in which values lie between nodes.
func (p Precision) stored() Precision {
	if p == TF32 {
		return Float32
	}
	return p
}
