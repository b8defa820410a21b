package facts

import (
	"fmt"
	"strconv"
)

// rat is an exact fraction n/d, d > 0, in lowest terms. Grids of feature maps have positions such as 3/2 and steps such as
// 1/3, which must compare exactly.
type rat struct{ n, d int64 }

func frac(n, d int64) rat {
	if d < 0 {
		n, d = -n, -d
	}
	if g := gcd(n, d); g > 1 {
		n, d = n/g, d/g
	}
	return rat{n, d}
}

func whole(n int) rat { return rat{int64(n), 1} }

func gcd(a, b int64) int64 {
	if a < 0 {
		a = -a
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (a rat) add(b rat) rat { return frac(a.n*b.d+b.n*a.d, a.d*b.d) }
func (a rat) sub(b rat) rat { return frac(a.n*b.d-b.n*a.d, a.d*b.d) }
func (a rat) mul(b rat) rat { return frac(a.n*b.n, a.d*b.d) }
func (a rat) zero() bool    { return a.n == 0 }

// half is half of its absolute value.
func (a rat) half() rat { return frac(max(a.n, -a.n), 2*a.d) }

// String is the decimal number where it is short, else the fraction.
func (a rat) String() string {
	switch {
	case a.d == 1:
		return strconv.FormatInt(a.n, 10)
	case 1000%a.d == 0:
		return fmt.Sprintf("%g", float64(a.n)/float64(a.d))
	}
	return fmt.Sprintf("%d/%d", a.n, a.d)
}
