package words

import (
	"math"
	"strconv"
	"strings"
)

// Minus is a number that was written with a hyphen, with a true minus before it: "−0.5". The hyphen of an exponent
// stays, as in "1.2e-07", which is copied into other programs.
func Minus(n string) string {
	if rest, negative := strings.CutPrefix(n, "-"); negative {
		return "−" + rest
	}
	return n
}

// Figures is an error or another measured size with three significant digits: "0.0123", "412", "0.0001", "1.2e-07". A
// number that is NaN is "undefined", and +Inf is "infinite".
func Figures(x float64) string {
	switch {
	case math.IsNaN(x):
		return "undefined"
	case math.IsInf(x, 1):
		return "infinite"
	case x == 0:
		return "0"
	case math.Abs(x) >= 1e-4 && math.Abs(x) < 1000:
		return Minus(strconv.FormatFloat(x, 'g', 3, 64))
	}
	return Minus(strconv.FormatFloat(x, 'e', 1, 64))
}

// Percent is a share with one decimal: 0.123 is "12.3%"; "undefined" for NaN.
func Percent(x float64) string {
	if math.IsNaN(x) {
		return "undefined"
	}
	return Minus(strconv.FormatFloat(100*x, 'f', 1, 64)) + "%"
}

// Number is a value of a metric in a sentence, with up to three decimals: "0.983", "12.41", "1.2e-07"; "none" for NaN.
func Number[T ~float32 | ~float64](of T) string {
	v := float64(of)
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "none"
	case math.IsInf(v, 0):
		return Minus(strconv.FormatFloat(v, 'g', -1, 64))
	case a == 0:
		return "0"
	case a < 1e-3 || a >= 1e5:
		return Minus(strconv.FormatFloat(v, 'e', 1, 64))
	case a < 9.9995:
		return Minus(strconv.FormatFloat(v, 'f', 3, 64))
	case a < 99.995:
		return Minus(strconv.FormatFloat(v, 'f', 2, 64))
	case a < 999.95:
		return Minus(strconv.FormatFloat(v, 'f', 1, 64))
	}
	return Minus(strconv.FormatFloat(v, 'f', 0, 64))
}

// Column is a value of a metric in a column of a terminal, with four decimals, so that the points stand below each
// other: "0.9832", "12.4100", "1.2e-07"; "-" for what is not finite.
func Column[T ~float32 | ~float64](of T) string {
	v := float64(of)
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case a == 0:
		return "0"
	case a < 1e-3 || a >= 1e5:
		return Minus(strconv.FormatFloat(v, 'e', 1, 64))
	}
	return Minus(strconv.FormatFloat(v, 'f', 4, 64))
}

// Cell is a value of a metric in a table of a page, with four significant digits; "–" for what is not finite.
func Cell[T ~float32 | ~float64](of T) string {
	v := float64(of)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return Minus(strconv.FormatFloat(v, 'g', 4, 64))
}

// Tick is a number of an axis with as few digits as it needs, and at most so many, which cuts off what arithmetic left:
// "0.25", "100000", "1e-5", "2.5e+06"; "–" for what is not finite.
func Tick(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	v, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	switch a := math.Abs(v); {
	case err != nil: // rounded up beyond the largest number
		return "–"
	case a == 0:
		return "0"
	case a < 1e-4 || a >= 1e6:
		return Minus(strings.Replace(strconv.FormatFloat(v, 'e', -1, 64), "e-0", "e-", 1))
	}
	return Minus(strconv.FormatFloat(v, 'f', -1, 64))
}

// Count is a whole number with commas between thousands: "60,000".
func Count(n int) string {
	s := strconv.Itoa(n)
	from := 0
	if n < 0 {
		from = 1
	}
	for i := len(s) - 3; i > from; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return Minus(s)
}

// Plural is a number of things, with the word for one or for any other number: "1 sample", "2,000 samples".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}
