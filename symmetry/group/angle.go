package group

import (
	"math"

	"nero/internal/elementary"
)

// Wrap reduces a to [lo, lo+period). math.Mod is exact, so whole and half degrees never drift however often they are
// added.
func Wrap(a, lo, period float64) float64 {
	r := math.Mod(a-lo, period)
	if r < 0 {
		r += period
	}
	if r >= period { // a tiny negative remainder rounds up to the period itself
		r = 0
	}
	return r + lo
}

// SinCos is the sine and cosine of an angle in degrees. It is exact at multiples of 90 degrees, gives 1/2 exactly at 30
// and 60 degrees, equal numbers at 45 degrees, and sin(-a) = -sin(a), cos(-a) = cos(a) bit for bit.
func SinCos(deg float64) (sin, cos float64) {
	r := math.Mod(deg, 360)
	q := math.RoundToEven(r / 90)
	r -= float64(90 * q) // exact: a multiple of r's last bit, and smaller than r
	s, c := sinCos45(math.Abs(r))
	if r < 0 {
		s = -s
	}
	switch int(q) & 3 { // q is -4..4; the low two bits count quarter turns in both signs
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return s + 0, c + 0 // no negative zeros
}

// sinCos45 is for angles in [0, 45] degrees, where the rounded radians would miss the values that people expect.
func sinCos45(r float64) (s, c float64) {
	switch r {
	case 0:
		return 0, 1
	case 30:
		return 0.5, math.Sqrt(3) / 2
	case 45:
		return math.Sqrt2 / 2, math.Sqrt2 / 2
	}
	return elementary.Sincos(r * (math.Pi / 180))
}

// Degrees converts radians. A result within rounding of a whole degree becomes that degree: π/2 is not a float64, so
// without this no exponential map would ever reach an exact quarter turn.
func Degrees(rad float64) float64 {
	d := float64(rad * (180 / math.Pi))
	if n := math.Round(d); math.Abs(d-n) <= 4e-15*math.Abs(d) {
		return n
	}
	return d
}

// Radians converts degrees.
func Radians(deg float64) float64 { return float64(deg * (math.Pi / 180)) }

// After is the map of the plane that comes of (b, bt) followed by (a, at): each is p -> A·p + t, as [Planar] has them.
func After(a [2][2]float64, at [2]float64, b [2][2]float64, bt [2]float64) (c [2][2]float64, t [2]float64) {
	for i := range 2 {
		for j := range 2 {
			c[i][j] = float64(a[i][0]*b[0][j]) + float64(a[i][1]*b[1][j])
		}
		u := float64(a[i][0]*bt[0]) + float64(a[i][1]*bt[1])
		t[i] = u + at[i]
	}
	return c, t
}

// Similarity reads a matrix of a [Planar] map as a magnification by scale, a turn by angle degrees, counter-clockwise
// as displayed, and before them an exchange of left and right if mirrors is set. It is false for other matrices. The
// angle is in (-180, 180], exact for quarter turns.
func Similarity(a [2][2]float64) (scale, angle float64, mirrors, ok bool) {
	mirrors = float64(a[0][0]*a[1][1])-float64(a[0][1]*a[1][0]) < 0
	cos := a[0][0]
	if mirrors {
		cos = -cos
	}
	sin := a[0][1] + 0 // a negative zero would turn by -180 degrees
	scale = elementary.Hypot(cos, sin)
	const slack = 1e-12 // products of rounded matrices are similarities too
	other := a[1][0]
	if !mirrors {
		other = -other
	}
	ok = scale > 0 && math.Abs(a[1][1]-cos) <= slack*scale && math.Abs(other-sin) <= slack*scale
	return scale, Degrees(elementary.Atan2(sin, cos)), mirrors, ok
}
