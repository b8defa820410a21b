package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/gonum"
)

// Tiles add up what plain code adds up, bit for bit, whatever the sizes, and NaN and infinities count beside zeros.
func TestTiles(t *testing.T) {
	if !tiled() {
		t.Skip("no tiles on this processor")
	}
	r := rand.New(rand.NewPCG(1, 2))
	blas := gonum.Implementation{}
	draw := func(n int, special float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64() * math.Exp(10*r.NormFloat64())
			if r.Float64() < special {
				x[i] = []float64{0, math.Inf(1), math.NaN(), math.MaxFloat64, 5e-324}[r.IntN(5)]
			}
		}
		return x
	}
	covered := 0
	for _, special := range []float64{0, 0.02} {
		for range 200 {
			m, n, k := 1+r.IntN(14), 1+r.IntN(300), 1+r.IntN(40)
			a, b, out := draw(m*k, special), draw(k*n, special), draw(m*n, 0)
			want := append([]float64(nil), out...)
			mulAdd(m, n, k, a, b, want, blas.Daxpy, blas.Ddot)
			multiply64(m, n, k, a, b, out)
			for i := range want {
				both := math.IsNaN(want[i]) && math.IsNaN(out[i])
				if !both && math.Float64bits(want[i]) != math.Float64bits(out[i]) {
					t.Fatalf("%d×%d×%d: number %d is %g, plain code makes %g", m, n, k, i, out[i], want[i])
				}
			}
			if n >= narrow && m >= tileRows {
				covered++
			}
		}
	}
	if covered < 200 {
		t.Errorf("tiles took part in %d products alone", covered)
	}
}

func BenchmarkProduct(b *testing.B) {
	const m, n, k = 32, 1024, 288
	x, y, z := make([]float64, m*k), make([]float64, k*n), make([]float64, m*n)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	for i := range y {
		y[i] = 1 / float64(i+3)
	}
	blas := gonum.Implementation{}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			mulAdd(m, n, k, x, y, z, blas.Daxpy, blas.Ddot)
		}
	})
	b.Run("tiles", func(b *testing.B) {
		for b.Loop() {
			multiply64(m, n, k, x, y, z)
		}
	})
}
