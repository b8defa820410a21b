package repair

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"nero/symmetry/group"
)

// What an average over n turns leaves over is the part of the curve whose frequency is a multiple of n: by the Fourier
// coefficients that an independent transform (gonum's) finds, to the last digits.
func TestResiduals(t *testing.T) {
	const turns, samples, numbers = 24, 5, 3
	r := rand.New(rand.NewPCG(59, 0))
	a := &Answers{}
	for range turns {
		var rows [][]float64
		for range samples {
			row := make([]float64, numbers)
			for j := range row {
				row[j] = r.NormFloat64()
			}
			rows = append(rows, row)
		}
		a.Back = append(a.Back, rows)
	}
	got := a.Residuals(a)
	var divisors []int
	for _, e := range got {
		divisors = append(divisors, e.N)
		want := 0.0
		for i := range samples {
			for j := range numbers {
				curve := make([]complex128, turns)
				for k := range curve {
					curve[k] = complex(a.Back[k][i][j], 0)
				}
				for f, c := range fourier.NewCmplxFFT(turns).Coefficients(nil, curve) {
					if f > 0 && f%e.N == 0 {
						want += math.Pow(cmplx.Abs(c)/turns, 2) / samples
					}
				}
			}
		}
		want = math.Sqrt(want) / a.Spread()
		if !(math.Abs(float64(e.Value)-want) <= 1e-14) || !(e.Low <= e.Value && e.Value <= e.High) {
			t.Errorf("n = %d: %g (%g to %g), want %.17g", e.N, e.Value, e.Low, e.High, want)
		}
	}
	if len(divisors) != 7 || divisors[6] != 12 { // 1, 2, 3, 4, 6, 8, 12
		t.Errorf("of %v", divisors)
	}
	for name, want := range map[string]int{"SO(2)": 24, "C4": 4, "D4": 0, "SE(2)": 0, "SO(3)": 0} {
		g := named(t, name)
		all, ok := Circle(g, turns)
		if len(all) != want || ok != (want > 0) {
			t.Errorf("%s: %d turns", name, len(all))
		}
		if f, ends := g.(group.Finite); ends && ok {
			for k, e := range f.Elements() {
				if !(g.Dist(e, all[k]) <= 1e-9) {
					t.Errorf("%s: turn %d is %v, want %v", name, k, all[k], e)
				}
			}
		}
	}
}
