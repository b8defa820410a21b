package oracle

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/gonum"
)

// What other processors compute in place of the library's assembler has its bits, for every length.
func TestRounded(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the library's assembler is for amd64")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		x, y, a := make([]float64, n), make([]float64, n), r.NormFloat64()
		for i := range x {
			x[i], y[i] = r.NormFloat64()*math.Exp(9*r.NormFloat64()), r.NormFloat64()
		}
		x32, y32, a32 := to32(x), to32(y), float32(a)
		var want, got products = gonum.Implementation{}, rounded{}
		if w, g := want.Ddot(n, x, 1, y, 1), got.Ddot(n, x, 1, y, 1); w != g {
			t.Errorf("%d products of float64: %x, want %x", n, g, w)
		}
		if w, g := want.Sdot(n, x32, 1, y32, 1), got.Sdot(n, x32, 1, y32, 1); w != g && n >= narrow {
			t.Errorf("%d products of float32: %x, want %x", n, g, w)
		}
		y2, y322 := slices.Clone(y), slices.Clone(y32)
		want.Daxpy(n, a, x, 1, y, 1)
		got.Daxpy(n, a, x, 1, y2, 1)
		want.Saxpy(n, a32, x32, 1, y32, 1)
		got.Saxpy(n, a32, x32, 1, y322, 1)
		if !slices.Equal(y, y2) || !slices.Equal(y32, y322) {
			t.Errorf("%d added multiples: other bits", n)
		}
	}
}
