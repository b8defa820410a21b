package oracle

import (
	"runtime"

	"gonum.org/v1/gonum/blas/gonum"
)

// products are the operations that products of matrices are made of.
type products interface {
	Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int)
	Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int)
	Sdot(n int, x []float32, incX int, y []float32, incY int) float32
	Ddot(n int, x []float64, incX int, y []float64, incY int) float64
}

// library is the library's operations where they are in assembler, and elsewhere those with the same bits: the library
// leaves it to the compiler there whether a product is rounded before it is added.
func library() products {
	if runtime.GOARCH == "amd64" {
		return gonum.Implementation{}
	}
	return rounded{}
}

// rounded computes what the library computes on amd64, to the last bit, for vectors without gaps.
type rounded struct{}

func (rounded) Saxpy(n int, alpha float32, x []float32, _ int, y []float32, _ int) {
	addScaled(alpha, x[:n], y[:n])
}

func (rounded) Daxpy(n int, alpha float64, x []float64, _ int, y []float64, _ int) {
	addScaled(alpha, x[:n], y[:n])
}

func addScaled[T float32 | float64](alpha T, x, y []T) {
	for i, v := range x {
		y[i] += T(alpha * v) //nolint:unconvert // rounds on every machine
	}
}

// Ddot sums in four places, as two registers of two numbers have them, and what is left over in the first.
func (rounded) Ddot(n int, x []float64, _ int, y []float64, _ int) float64 {
	var s [4]float64
	whole := n &^ 3
	for i := range whole {
		s[i&3] += float64(x[i] * y[i])
	}
	for i := whole; i < n; i++ {
		s[0] += float64(x[i] * y[i])
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}

// Sdot sums in eight places, as two registers of four numbers have them, then in the first four by fours, and what is
// left over in the first. So it is where y lies as a vector of its own does, on a boundary of 16 bytes.
func (rounded) Sdot(n int, x []float32, _ int, y []float32, _ int) float32 {
	var s [8]float32
	whole, fours := n&^15, n&^3
	for i := range whole {
		s[i&7] += float32(x[i] * y[i])
	}
	for i := range 4 {
		s[i] += s[i+4]
	}
	for i := whole; i < fours; i++ {
		s[i&3] += float32(x[i] * y[i])
	}
	for i := fours; i < n; i++ {
		s[0] += float32(x[i] * y[i])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}
