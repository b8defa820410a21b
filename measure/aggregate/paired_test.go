package aggregate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Published intervals: Altman, Machin, Bryant and Gardner, Statistics with Confidence (2000), table 6.2, and Fagerland,
// Lydersen and Laake, Statistics in Medicine 33 (2014), table III (Bentur's patients).
func TestPairsDifference(t *testing.T) {
	for _, c := range []struct {
		p         Pairs
		d, lo, hi float64
	}{
		{Pairs{14, 5, 0, 22}, 0.122, 0.011, 0.226},
		{Pairs{1, 1, 7, 12}, -0.286, -0.507, -0.026},
	} {
		d, iv := c.p.Difference(0.95)
		if math.Abs(d-c.d) > 6e-4 || math.Abs(iv.Low-c.lo) > 6e-4 || math.Abs(iv.High-c.hi) > 6e-4 {
			t.Errorf("%+v: %.4f, %.4f to %.4f; want %g, %g to %g", c.p, d, iv.Low, iv.High, c.d, c.lo, c.hi)
		}
	}
	if d, iv := (Pairs{}).Difference(0.95); !math.IsNaN(d) || iv.Low != -1 || iv.High != 1 {
		t.Errorf("of nothing: %g, %v", d, iv)
	}
	// Nothing differs: what may be hidden behind n pairs that agree is not nothing.
	if d, iv := (Pairs{Both: 90, Neither: 10}).Difference(0.95); d != 0 || !(iv.High > 0.01) || !(iv.Low < -0.01) {
		t.Errorf("no pair differs: %g, %v", d, iv)
	}
}

func TestPairsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int { return rapid.IntRange(0, 60).Draw(t, name) }
		p := Pairs{draw("both"), draw("first"), draw("second"), draw("neither")}
		if p.N() == 0 {
			return
		}
		d, iv := p.Difference(0.95)
		if !(iv.Low <= d && d <= iv.High) || iv.Low < -1-1e-12 || iv.High > 1+1e-12 {
			t.Fatalf("%+v: %g, %v", p, d, iv)
		}
		// Who comes first changes the sign alone.
		e, other := Pairs{p.Both, p.Second, p.First, p.Neither}.Difference(0.95)
		if math.Abs(d+e) > 1e-12 || math.Abs(iv.Low+other.High) > 1e-12 || math.Abs(iv.High+other.Low) > 1e-12 {
			t.Fatalf("%+v: %v, and %v of the others", p, iv, other)
		}
		// The test is that of binomials, summed up term by term.
		n, k := p.First+p.Second, min(p.First, p.Second)
		sum, term := 0.0, math.Pow(0.5, float64(n))
		for i := 0; i <= k; i++ {
			sum += term
			term *= float64(n-i) / float64(i+1)
		}
		if got, want := p.SignTest(), math.Min(1, 2*sum); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%+v: p = %g, want %g", p, got, want)
		}
	})
}

// Over all outcomes of 20 pairs the interval holds the truth about as often as it says, and never much less.
func TestPairsCoverage(t *testing.T) {
	const n = 20
	logs := make([]float64, n+1) // of factorials
	for i := 2; i <= n; i++ {
		logs[i] = logs[i-1] + math.Log(float64(i))
	}
	for _, q := range [][4]float64{{0.8, 0.1, 0.05, 0.05}, {0.4, 0.3, 0.1, 0.2}, {0.25, 0.25, 0.25, 0.25}, {
		0.1, 0.2,
		0.5, 0.2,
	}} {
		held := 0.0
		for a := 0; a <= n; a++ {
			for b := 0; a+b <= n; b++ {
				for c := 0; a+b+c <= n; c++ {
					d := n - a - b - c
					chance := math.Exp(logs[n] - logs[a] - logs[b] - logs[c] - logs[d] + float64(a)*math.Log(q[0]) +
						float64(b)*math.Log(q[1]) + float64(c)*math.Log(q[2]) + float64(d)*math.Log(q[3]))
					if _, iv := (Pairs{a, b, c, d}).Difference(0.95); iv.Low <= q[1]-q[2] && q[1]-q[2] <= iv.High {
						held += chance
					}
				}
			}
		}
		if !(held > 0.93 && held < 0.995) {
			t.Errorf("%v: the interval holds with probability %.4f", q, held)
		}
	}
}
