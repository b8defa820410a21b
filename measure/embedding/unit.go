package embedding

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// ordinary is between which powers of two, and their inverses, the largest number of features lies as a rule. Products
// of eight such numbers, as the CKA has them, are neither 0 nor infinite.
const ordinary = 100

// Unit is the power of two in which features are compared: 1, or one near their largest number where that is so large
// or so small that squares would be infinite or 0. Numbers that are not finite have no part in it.
func Unit(tables ...*mat.Dense) float64 {
	most := 0.0
	for _, t := range tables {
		if t == nil {
			continue
		}
		n, _ := t.Dims()
		for i := range n {
			for _, x := range t.RawRowView(i) {
				if a := math.Abs(x); a > most && !math.IsInf(a, 1) {
					most = a
				}
			}
		}
	}
	if _, e := math.Frexp(most); most > 0 && (e <= -ordinary || e > ordinary) {
		return math.Ldexp(1, e-1)
	}
	return 1
}

// In are features in a unit that is a power of two, which changes no digit of them; the table itself for 1, nil for
// nil.
func In(unit float64, t *mat.Dense) *mat.Dense {
	if unit == 1 || t == nil {
		return t
	}
	out := mat.DenseCopyOf(t)
	out.Apply(func(_, _ int, x float64) float64 { return x / unit }, out)
	return out
}

// far is how far apart two features are. Beside others that are very large their squares may be 0, and they are not.
func far(x, y []float64) float64 {
	const least = 0x1p-900
	s := apart(x, y)
	if s >= least && !math.IsInf(s, 1) || math.IsNaN(s) {
		return math.Sqrt(s)
	}
	most := 0.0
	for i, v := range x {
		most = max(most, math.Abs(v-y[i]))
	}
	if most == 0 || math.IsInf(most, 1) {
		return most
	}
	s = 0
	for i, v := range x {
		d := (v - y[i]) / most
		s += float64(d * d)
	}
	return float64(most * math.Sqrt(s))
}
