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
		if got := OrderN(c.beta, c.gamma, c.k); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b, g := rapid.Float64Range(0.05, 0.99).Draw(t, "beta"), rapid.Float64Range(0.05, 0.99).Draw(t, "gamma")
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
		need := OrderN(b, g, k)
		if !(OrderConfidence(b, need, k) >= g) || OrderConfidence(b, need-1, k) >= g {
			t.Fatalf("%d is not the least", need)
		}
		rank := OrderRank(b, g, n)
		if rank > 0 && !(OrderConfidence(b, n, rank) >= g) || rank < n && OrderConfidence(b, n, rank+1) >= g {
			t.Fatalf("%d of %d is not the largest rank", rank, n)
		}
	})
}

func TestQuantileBounds(t *testing.T) {
	x := make([]float64, 100)
	for i := range x {
		x[i] = float64(i*37%100 + 1) // 1..100 in another order
	}
	// Ranks from the term-by-term binomial sums: P(Bin(100, 0.9) <= 100-k) >= 0.95 up to k = 5.
	if b := QuantileUpper(x, 0, .9, .95); b.Limit != 96 || b.Rank != 5 || b.Need != 29 || b.N != 100 ||
		!near(b.Confidence, 0.9763, 1e-4) {
		t.Errorf("upper: %+v", b)
	}
	if b := QuantileUpper(x, 1, .9, .95); b.Limit != 100 || b.Rank != 1 {
		t.Errorf("the largest: %+v", b)
	}
	if b := QuantileLower(x, 0, .1, .95); b.Limit != 5 || b.Rank != 5 {
		t.Errorf("lower: %+v", b)
	}
	if b := QuantileUpper(x[:58], 0, .95, .95); !math.IsNaN(b.Limit) || b.Rank != 0 || b.Need != 59 ||
		b.Confidence != 0 {
		t.Errorf("too few: %+v", b)
	}
	if b := QuantileUpper(x, 6, .9, .95); !math.IsNaN(b.Limit) || b.Need != OrderN(.9, .95, 6) || b.Need <= 100 {
		t.Errorf("a rank too high: %+v", b)
	}
	y := slices.Clone(x)
	y[0], y[50] = math.NaN(), math.NaN()
	if b := QuantileUpper(y, 1, .9, .95); !math.IsInf(b.Limit, 1) || b.Missing != 2 {
		t.Errorf("a NaN is the largest: %+v", b)
	}
	if b := QuantileLower(y, 1, .1, .95); !math.IsInf(b.Limit, -1) || b.Missing != 2 {
		t.Errorf("a NaN is the smallest: %+v", b)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-50, 50), 0, 80).Draw(t, "values")
		q := rapid.Float64Range(0.1, 0.9).Draw(t, "q")
		c := rapid.Float64Range(0.5, 0.99).Draw(t, "confidence")
		up, down := QuantileUpper(v, 0, q, c), QuantileLower(v, 0, q, c)
		if (up.Rank == 0) != (len(v) < up.Need) || (up.Rank == 0) != math.IsNaN(up.Limit) {
			t.Fatalf("%+v", up)
		}
		if up.Limit < down.Limit {
			t.Fatalf("the limits cross: %+v, %+v", up, down)
		}
		if more := QuantileUpper(v, 0, q, (1+c)/2); more.Limit < up.Limit {
			t.Fatalf("more confidence lowers the limit: %+v, %+v", up, more)
		}
		moved := make([]float64, len(v))
		for i, x := range v {
			moved[i] = 4*x + 8
		}
		if m := QuantileUpper(moved, 0, q, c); !near(m.Limit, 4*up.Limit+8, 1e-12) {
			t.Fatalf("%v moved to %v", up.Limit, m.Limit)
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
		if (j.Outcome == Met) != (len(v) >= OrderN(1-c.P, c.Confidence, j.Over+1)) {
			t.Fatalf("%+v: not what the order statistic says", j)
		}
		// Met is also: the quantile certificate lies within the tolerance.
		if (j.Outcome == Met) != (QuantileUpper(v, 0, 1-c.P, c.Confidence).Limit <= c.Tau) {
			t.Fatalf("%+v: not what the quantile bound says", j)
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
		"line":        {Gap([]float64{3, 0, 1}, 0), 2},
		"circle":      {Gap([]float64{350, 10, 100, 200, 280}, 360), 100},
		"wrap":        {Gap([]float64{10, 100, -260}, 360), 270},
		"one":         {Gap([]float64{5}, 360), 360},
		"one, line":   {Gap([]float64{5}, 0), 0},
		"none":        {Gap(nil, 1), nan},
		"hole":        {Gap([]float64{1, nan}, 1), nan},
		"miss":        {MissProbability(5, 360, 72), math.Pow(1-5.0/360, 72)},
		"wide":        {MissProbability(400, 360, 1), 0},
		"no elements": {MissProbability(400, 360, 0), 1},
		"point":       {MissProbability(0, 360, 9), 1},
		"negative":    {MissProbability(-1, 360, 9), nan},
		"no period":   {MissProbability(1, 0, 9), nan},
		"hit wide":    {float64(ElementsToHit(360, 360, 0.9)), 1},
		"never":       {float64(ElementsToHit(0, 360, 0.9)), 0},
	} {
		if !near(c[0], c[1], 1e-12) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		w, c := rapid.Float64Range(0.5, 359).Draw(t, "width"), rapid.Float64Range(0.05, 0.999).Draw(t, "confidence")
		n := ElementsToHit(w, 360, c)
		if !(MissProbability(w, 360, n) <= (1-c)*(1+1e-12)) || n > 1 && MissProbability(w, 360, n-1) < (1-c)*(1-1e-12) {
			t.Fatalf("%d is not the least", n)
		}
		// |sin(k·t)| has the Lipschitz constant k, so the bound over its grid holds everywhere.
		k, grid := rapid.Float64Range(0.5, 9).Draw(t, "k"),
			rapid.SliceOfN(rapid.Float64Range(0, 2*math.Pi), 2, 20).Draw(t, "grid")
		slices.Sort(grid)
		top := 0.0
		for _, g := range grid {
			top = max(top, math.Abs(math.Sin(k*g)))
		}
		s, at := SupOrbit(top, k, Gap(grid, 0), true), rapid.Float64Range(grid[0], grid[len(grid)-1]).Draw(t, "at")
		if math.Abs(math.Sin(k*at)) > s.Bound+1e-12 {
			t.Fatalf("%v at %v is above %+v", math.Abs(math.Sin(k*at)), at, s)
		}
	})
}
