package facts

import (
	"fmt"
	"math"
	"strconv"
)

// rat is an exact fraction n/d in lowest terms. Grids of feature maps have positions such as 3/2 and steps such as 1/3,
// which must compare exactly. A fraction that does not fit has d = 0, and so has everything that is computed from it.
type rat struct{ n, d int64 }

// outOfRange is what does not fit.
var outOfRange = rat{0, 0}

func frac(n, d int64) rat {
	if d == 0 || d == math.MinInt64 || n == math.MinInt64 {
		return outOfRange
	}
	if d < 0 {
		n, d = -n, -d
	}
	if g := gcd(n, d); g > 1 {
		n, d = n/g, d/g
	}
	return rat{n, d}
}

func whole(n int) rat { return rat{int64(n), 1} }

// gcd is the greatest common divisor of |a| and b >= 0.
func gcd(a, b int64) int64 {
	if a < 0 {
		a = -a
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// times multiplies numbers that may be negative; ok is false if the product does not fit.
func times(a, b int64) (p int64, ok bool) {
	if a == math.MinInt64 || b == math.MinInt64 {
		return 0, false
	}
	p = mul(max(a, -a), max(b, -b))
	if p == math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		p = -p
	}
	return p, true
}

func (a rat) ok() bool { return a.d != 0 }

func (a rat) add(b rat) rat {
	if !a.ok() || !b.ok() {
		return outOfRange
	}
	g := gcd(a.d, b.d)
	x, ok1 := times(a.n, b.d/g)
	y, ok2 := times(b.n, a.d/g)
	d, ok3 := times(a.d, b.d/g)
	if !ok1 || !ok2 || !ok3 || x > 0 && y > math.MaxInt64-x || x < 0 && y < -math.MaxInt64-x {
		return outOfRange
	}
	return frac(x+y, d)
}

func (a rat) sub(b rat) rat { return a.add(rat{-b.n, b.d}) }

func (a rat) mul(b rat) rat {
	n, ok1 := times(a.n, b.n)
	d, ok2 := times(a.d, b.d)
	if !ok1 || !ok2 {
		return outOfRange
	}
	return frac(n, d)
}

func (a rat) zero() bool { return a.n == 0 && a.ok() }

// size is its absolute value.
func (a rat) size() rat { return rat{max(a.n, -a.n), a.d} }

// half is half of its absolute value.
func (a rat) half() rat { return a.size().mul(rat{1, 2}) }

// String is the decimal number where it is short, else the fraction.
func (a rat) String() string {
	switch {
	case !a.ok():
		return "?"
	case a.d == 1:
		return strconv.FormatInt(a.n, 10)
	case 1000%a.d == 0:
		return strconv.FormatFloat(float64(a.n)/float64(a.d), 'g', -1, 64)
	}
	return fmt.Sprintf("%d/%d", a.n, a.d)
}
