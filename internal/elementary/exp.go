// Copyright 2009 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package elementary

import "math"

// Exp returns e**x, the base-e exponential of x: operation by operation what the assembler of Go's package math does on
// amd64 processors that multiply and add in one step. Processors that do not have the instruction compute it in several
// steps, to the same bits.
//
// The method is based on a paper by Naoki Shibata: "Efficient evaluation methods of elementary functions suitable for
// SIMD computation", Proc. of International Supercomputing Conference 2010 (ISC'10), pp. 25-32.
//
// Special cases are:
//
//	Exp(+Inf) = +Inf
//	Exp(NaN) = NaN
//
// Very large values overflow to 0 or +Inf. Very small values underflow to 1.
func Exp(x float64) float64 {
	const (
		log2e = 1.4426950408889634073599246810018920                  // 1/ln(2)
		ln2u  = 0.69314718055966295651160180568695068359375           // upper half of ln(2)
		ln2l  = 0.28235290563031577122588448175013436025525412068e-12 // lower half of ln(2)

		overflow  = 7.09782712893384e+02
		underflow = -746
	)
	switch {
	case math.IsNaN(x):
		return x
	case x > overflow:
		return math.Inf(1)
	case x < underflow:
		return 0
	}
	k := math.RoundToEven(x * log2e)
	x = math.FMA(-k, ln2u, x)
	x = math.FMA(-k, ln2l, x)
	x *= 0.0625
	// Taylor series
	y := 2.4801587301587301587e-5
	y = math.FMA(x, y, 1.9841269841269841270e-4)
	y = math.FMA(x, y, 1.3888888888888888889e-3)
	y = math.FMA(x, y, 8.3333333333333333333e-3)
	y = math.FMA(x, y, 4.1666666666666666667e-2)
	y = math.FMA(x, y, 1.6666666666666666667e-1)
	y = math.FMA(x, y, 0.5)
	y = math.FMA(x, y, 1)
	x = float64(x * y)
	// four squarings: (1+x)² - 1 = x(x+2)
	x = float64(x * (x + 2))
	x = float64(x * (x + 2))
	x = float64(x * (x + 2))
	x = math.FMA(x+2, x, 1)

	e := int64(k) + bias
	switch {
	case e >= 0x7ff:
		return math.Inf(1)
	case e > 0:
		return x * math.Float64frombits(uint64(e)<<52)
	case e < -52:
		return 0
	}
	return x * math.Float64frombits(uint64(e+bias-1)<<52) * math.Float64frombits(1<<52) // no normal number
}

// Exp2 returns 2**x, the base-2 exponential of x.
//
// Special cases are the same as [Exp].
func Exp2(x float64) float64 {
	const (
		Ln2Hi = 6.93147180369123816490e-01
		Ln2Lo = 1.90821492927058770002e-10

		Overflow  = 1.0239999999999999e+03
		Underflow = -1.0740e+03
	)

	// special cases
	switch {
	case math.IsNaN(x):
		return x
	case x > Overflow: // handles case where x is +∞
		return math.Inf(1)
	case x < Underflow: // handles case where x is -∞
		return 0
	}

	// argument reduction; x = r×lg(e) + k with |r| ≤ ln(2)/2.
	// computed as r = hi - lo for extra precision.
	var k int
	switch {
	case x > 0:
		k = int(x + 0.5)
	case x < 0:
		k = int(x - 0.5)
	}
	t := x - float64(k)
	hi := float64(t * Ln2Hi)
	lo := float64(-t * Ln2Lo)

	// compute
	return expmulti(hi, lo, k)
}

// expmulti returns e**r × 2**k where r = hi - lo and |r| ≤ ln(2)/2.
func expmulti(hi, lo float64, k int) float64 {
	const (
		P1 = 1.66666666666666657415e-01  /* 0x3FC55555; 0x55555555 */
		P2 = -2.77777777770155933842e-03 /* 0xBF66C16C; 0x16BEBD93 */
		P3 = 6.61375632143793436117e-05  /* 0x3F11566A; 0xAF25DE2C */
		P4 = -1.65339022054652515390e-06 /* 0xBEBBBD41; 0xC5D26BF1 */
		P5 = 4.13813679705723846039e-08  /* 0x3E663769; 0x72BEA4D0 */
	)

	r := hi - lo
	t := float64(r * r)
	c := r - float64(t*(P1+float64(t*(P2+float64(t*(P3+float64(t*(P4+float64(t*P5)))))))))
	y := 1 - ((lo - (r*c)/(2-c)) - hi)
	return math.Ldexp(y, k)
}
