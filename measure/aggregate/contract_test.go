package aggregate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOrder(t *testing.T) {
	// The sample sizes for the first five order statistics at 95/95 that nuclear safety uses (Nutt and Wallis,
	// Reliability Engineering and System Safety 83, 2004), and the second of 99/95.
	for _, c := range []struct {
		beta, gamma float64
		k, want     int
	}{
		{.95, .95, 1, 59},
		{.95, .95, 2, 93},
		{.95, .95, 3, 124},
		{.95, .95, 4, 153},
		{.95, .95, 5, 181},
		{.99, .95, 2, 473},
	} {
		if !(OrderConfidence(c.beta, c.want, c.k) >= c.gamma) || OrderConfidence(c.beta, c.want-1, c.k) >= c.gamma {
			t.Errorf("%+v: not the least", c)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.Float64Range(0.05, 0.99).Draw(t, "beta")
		k, n := rapid.IntRange(1, 12).Draw(t, "k"), rapid.IntRange(0, 60).Draw(t, "n")
		// The definition: at most n-k values below the quantile, summed term by term.
		sum, term := 0.0, math.Pow(1-b, float64(n))
		for j := 0; j <= n-k; j++ {
			sum += term
			term *= float64(n-j) / float64(j+1) * b / (1 - b)
		}
		if got := OrderConfidence(b, n, k); !near(got, sum, 1e-9) {
			t.Fatalf("confidence %v, by the sum %v", got, sum)
		}
	})
}

func TestContract(t *testing.T) {
	c := Contract{Tau: 1, P: 0.01, Confidence: 0.95}
	quiet := func(n int) []float64 { return make([]float64, n) }
	// ln 0.05/ln 0.99 = 298.07.
	if j := c.Evaluate(quiet(298)); j.Outcome != Open || j.Need != 299 || j.Least != 299 || !(j.Upper > c.P) {
		t.Errorf("298 quiet inputs: %+v", j)
	}
	if j := c.Evaluate(quiet(299)); j.Outcome != Met || j.Need != 299 || !(j.Upper <= c.P) || j.Rate != 0 ||
		j.Lower != 0 {
		t.Errorf("299 quiet inputs: %+v", j)
	}
	// One failure moves the number to that of the second order statistic.
	one := quiet(473)
	one[7] = math.NaN()
	if j := c.Evaluate(one); j.Outcome != Met || j.Over != 1 || j.Missing != 1 {
		t.Errorf("one NaN in 473: %+v", j)
	}
	if j := c.Evaluate(one[:472]); j.Outcome != Open || j.Need <= 472 {
		t.Errorf("one NaN in 472: %+v", j)
	}
	// Reference: P(X >= 3), X ~ Bin(20, 0.01) = 1 - 0.99^20 - 20·0.01·0.99^19 - 190·0.0001·0.99^18 = 0.0010036.
	bad := quiet(20)
	bad[0], bad[1], bad[2] = 2, math.Inf(1), 1.5
	if j := c.Evaluate(bad); j.Outcome != Broken || !(j.Lower > c.P) || !near(j.PBroken, 0.00100357, 1e-7) ||
		j.Need != 20 {
		t.Errorf("three bad in 20: %+v", j)
	}
	if j := c.Evaluate(nil); j.Outcome != Open || !math.IsNaN(j.Rate) || j.Lower != 0 || j.Upper != 1 ||
		j.Need != 299 || j.PMet != 1 || j.PBroken != 1 {
		t.Errorf("nothing: %+v", j)
	}
	at := quiet(2)
	at[0] = c.Tau
	if j := c.Evaluate(at); j.Over != 0 {
		t.Errorf("an error at the tolerance exceeds it: %+v", j)
	}
	if j := (Contract{Tau: 1, P: 0.5, Confidence: 0.95}).Judge(Tally{N: 10, Over: 5}); j.Need != 0 {
		t.Errorf("a rate at P is decided by no number, not %d", j.Need)
	}
	for name, c := range map[string]Contract{
		"tolerance": {math.NaN(), 0.1, 0.9}, "probability": {1, 0, 0.9},
		"probability ": {1, math.NaN(), 0.9}, "confidence": {1, 0.1, 1},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := Open.String() + Met.String() + Broken.String() + Outcome(9).String(); s != "undecidedmetbrokenOutcome(9)" {
		t.Error(s)
	}
}

func TestContractLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Contract{
			1, rapid.Float64Range(0.02, 0.9).Draw(t, "P"),
			rapid.Float64Range(0.55, 0.99).Draw(t, "confidence"),
		}
		v := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.5, 0.9, 1, 2, math.NaN()}), 1, 120).Draw(t, "errors")
		j := c.Evaluate(v)
		cut := rapid.IntRange(0, len(v)).Draw(t, "cut")
		parts := c.Count(v[cut:])
		parts.Merge(c.Count(v[:cut]))
		if c.Judge(parts) != j {
			t.Fatalf("parts say %+v, the whole %+v", c.Judge(parts), j)
		}
		if !(j.Lower <= j.Rate && j.Rate <= j.Upper) {
			t.Fatalf("limits: %+v", j)
		}
		// Limits and tails are two computations of one decision.
		if (j.Outcome == Met) != (j.Upper <= c.P) && !near(j.Upper, c.P, 1e-9) ||
			(j.Outcome == Broken) != (j.Lower > c.P) && !near(j.Lower, c.P, 1e-9) {
			t.Fatalf("%+v against %v", j, c.P)
		}
		if j.Outcome == Met != (j.PMet <= 1-c.Confidence) && !near(j.PMet, 1-c.Confidence, 1e-9) {
			t.Fatalf("%+v: not what the p-value says", j)
		}
		surer := Contract{1, c.P, (1 + c.Confidence) / 2}.Evaluate(v)
		if j.Outcome == Open && surer.Outcome != Open || surer.Lower > j.Lower || surer.Upper < j.Upper {
			t.Fatalf("more confidence decides more: %+v, %+v", j, surer)
		}
		if j.Outcome == Open && j.Need > 0 {
			if j.Need <= len(v) && j.Over > 0 {
				t.Fatalf("%d inputs decide, and %d have not", j.Need, len(v))
			}
			k := j.Rate * float64(j.Need)
			k = math.Ceil(k)
			if j.Rate > c.P {
				k = math.Floor(j.Rate * float64(j.Need))
			}
			if c.Judge(Tally{N: j.Need, Over: int(k)}).Outcome == Open {
				t.Fatalf("%d inputs do not decide: %+v", j.Need, j)
			}
		}
	})
}

func TestSup(t *testing.T) {
	if s := SupOrbit(0.25, 3, 0.5, false); s.Bound != 1 || s.Slack != 0.75 || s.Label() != "heuristic" {
		t.Errorf("%+v", s)
	}
	if s := SupOrbit(0.25, 0, 0.5, true); s.Bound != 0.25 || s.Label() != "proven" {
		t.Errorf("%+v", s)
	}
	nan := math.NaN()
	for _, s := range []Sup{
		SupOrbit(nan, 1, 1, true), SupOrbit(1, nan, 1, true), SupOrbit(1, 1, nan, true),
		SupOrbit(1, -1, 1, true), SupOrbit(1, 1, -1, true),
	} {
		if !math.IsNaN(s.Bound) {
			t.Errorf("%+v has a bound", s)
		}
	}
	for name, c := range map[string][2]float64{
		"miss":        {MissProbability(5, 360, 72), math.Pow(1-5.0/360, 72)},
		"wide":        {MissProbability(400, 360, 1), 0},
		"no elements": {MissProbability(400, 360, 0), 1},
		"point":       {MissProbability(0, 360, 9), 1},
		"negative":    {MissProbability(-1, 360, 9), nan},
		"no period":   {MissProbability(1, 0, 9), nan},
	} {
		if !near(c[0], c[1], 1e-12) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		// |sin(k·t)| has the Lipschitz constant k, so the bound over its grid holds everywhere.
		k, grid := rapid.Float64Range(0.5, 9).Draw(t, "k"),
			rapid.SliceOfN(rapid.Float64Range(0, 2*math.Pi), 2, 20).Draw(t, "grid")
		slices.Sort(grid)
		top, gap := 0.0, 0.0
		for i, g := range grid {
			top, gap = max(top, math.Abs(math.Sin(k*g))), max(gap, g-grid[max(i-1, 0)])
		}
		s, at := SupOrbit(top, k, gap, true), rapid.Float64Range(grid[0], grid[len(grid)-1]).Draw(t, "at")
		if math.Abs(math.Sin(k*at)) > s.Bound+1e-12 {
			t.Fatalf("%v at %v is above %+v", math.Abs(math.Sin(k*at)), at, s)
		}
	})
}
