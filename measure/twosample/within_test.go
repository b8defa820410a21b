package twosample

import (
	"math"
	"math/rand/v2"
	"testing"

	"nero/internal/elementary"

	"pgregory.net/rapid"
)

// labels are answers that are equal or not.
func labels(still, moved []int) *Within {
	all := append(append([]int{}, still...), moved...)
	return NewWithin(len(still), len(moved), func(i, j int) float64 {
		if all[i] == all[j] {
			return 0
		}
		return 1
	})
}

// numbers are answers by their difference.
func numbers(still, moved []float64) *Within {
	all := append(append([]float64{}, still...), moved...)
	var rows [][]float64
	for _, x := range all {
		rows = append(rows, []float64{x})
	}
	return NewWithin(len(still), len(moved), func(i, j int) float64 { return math.Abs(all[i] - all[j]) }).Numbers(rows)
}

// Of two statistics the one that is most unusual counts, and what is won by looking twice is taken back.
func TestJointByHand(t *testing.T) {
	for _, c := range []struct {
		seen [][]float64
		want float64
	}{
		{[][]float64{{9, 1, 2, 3}}, 0.25},
		{[][]float64{{2, 1, 2, 3}}, 0.75},               // ties count
		{[][]float64{{9, 1, 2, 3}, {1, 2, 3, 4}}, 0.5},  // the last draw is as unusual by the second
		{[][]float64{{9, 1, 2, 3}, {9, 1, 2, 3}}, 0.25}, // two of one kind cost nothing
		{[][]float64{{9, 1, 2, math.NaN()}}, 0.5},       // nothing is as unusual as what nobody knows
		{[][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}}, 1},    // nothing happened
	} {
		if got := joint(c.seen); got != c.want {
			t.Errorf("%v: %v, want %v", c.seen, got, c.want)
		}
	}
}

func TestExcessByHand(t *testing.T) {
	for _, c := range []struct {
		w             *Within
		excess, cross float64
	}{
		{labels([]int{1, 1}, []int{2, 2, 2}), 1, 1},
		{labels([]int{1, 1}, []int{1, 1, 1}), 0, 0},
		{labels([]int{1, 2}, []int{1, 2}), 0.5 - 1, 0.5},
		{numbers([]float64{0, 2}, []float64{5, 6}), 4.5 - 1 - 0.5, 4.5},
		{numbers([]float64{0, 2}, []float64{math.NaN(), 6}), math.NaN(), math.NaN()},
	} {
		if got := c.w.Excess(); got != c.excess && !(math.IsNaN(got) && math.IsNaN(c.excess)) {
			t.Errorf("excess %v, want %v", got, c.excess)
		}
		if got := c.w.Cross(); got != c.cross && !(math.IsNaN(got) && math.IsNaN(c.cross)) {
			t.Errorf("cross %v, want %v", got, c.cross)
		}
	}
}

// Over all series of two and two answers the mean of the excess is Σ (p-q)²/2.
func TestExcessIsUnbiased(t *testing.T) {
	p, q := []float64{0.7, 0.2, 0.1}, []float64{0.1, 0.4, 0.5}
	sum, want := 0.0, 0.0
	for k := range p {
		want += (p[k] - q[k]) * (p[k] - q[k]) / 2
	}
	for a := range 3 {
		for b := range 3 {
			for c := range 3 {
				for d := range 3 {
					sum += p[a] * p[b] * q[c] * q[d] * labels([]int{a, b}, []int{c, d}).Excess()
				}
			}
		}
	}
	if !(math.Abs(sum-want) < 1e-12) {
		t.Errorf("expectation %v, want %v", sum, want)
	}
}

// The mean over all ways to call half of the answers moved is 0: what the permutations compare with.
func TestExcessOfPermutationsIsCentred(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-5, 5), 4, 4).Draw(t, "answers")
		w := numbers(x[:2], x[2:])
		sum := 0.0
		for _, o := range [][]int{{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}} { // the other three are the same
			sum += w.excess(o)
		}
		if !(math.Abs(sum) < 1e-9) {
			t.Fatalf("sum %v", sum)
		}
	})
}

// drawn are objects with answers around a place of their own, moved by a shift and a factor of their deviation.
func drawn(r *rand.Rand, n, each int, shift, factor float64) []*Within {
	out := make([]*Within, n)
	for i := range out {
		still, moved := make([]float64, each), make([]float64, each)
		at := 10 * elementary.Normal(r)
		for k := range still {
			still[k] = at + elementary.Normal(r)
			moved[k] = at + shift + factor*elementary.Normal(r)
		}
		out[i] = numbers(still, moved)
	}
	return out
}

// rates are how often p is at most 0.05, and how often the interval holds what the excess is.
func rates(times, n, each int, shift, factor, excess float64) (found, held int) {
	for seed := range times {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		s := Moved(drawn(r, n, each, shift, factor), math.Inf(1), 399, 0.95, r)
		if s.P <= 0.05 {
			found++
		}
		if s.Low <= excess && excess <= s.High {
			held++
		}
	}
	return found, held
}

// Where nothing moves, p is at most 0.05 in 0.05 of all data sets at most, and intervals hold 0.
func TestMovedIsSilentWhereNothingDiffers(t *testing.T) {
	// of 40 at 0.05 more than 6 are seen with probability 3e-3; the seeds are fixed
	if found, held := rates(40, 12, 4, 0, 1, 0); found > 6 || held < 34 {
		t.Errorf("%d of 40 found, %d intervals hold 0", found, held)
	}
}

func TestMovedFindsWhatDiffers(t *testing.T) {
	if found, _ := rates(10, 20, 5, 1.5, 1, 0); found != 10 {
		t.Errorf("a shift of 1.5 deviations is found in %d of 10", found)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var same, other []*Within
	for i := range 20 {
		same = append(same, labels([]int{i, i, i}, []int{i, i, i}))
		other = append(other, labels([]int{i, i, i}, []int{i + 1, i + 1, i + 1}))
	}
	s := Moved(same, 1, 399, 0.95, r)
	// where all are equal 1 - 0.025^(1/20) = 0.168 of others may not be
	if s.Excess != 0 || s.P != 1 || !(math.Abs(s.High-0.1684) < 1e-4) || s.Objects != 20 {
		t.Errorf("%+v of equal answers", s)
	}
	if s = Moved(other, 1, 399, 0.95, r); s.Excess != 1 || s.P != 0.001 || !(s.Low > 0.8) {
		t.Errorf("%+v of other answers", s)
	}
	// Two of 600 that differ are few and no reason to know nothing: 2/600, and 0.012 at most by Clopper and Pearson.
	for len(same) < 598 {
		same = append(same, same[0])
	}
	s = Moved(append(same, other[:2]...), 1, 399, 0.95, r)
	if !(math.Abs(s.Excess-2.0/600) < 1e-12) || !(s.Low <= 0) || !(s.High > 0.0119 && s.High < 0.0121) {
		t.Errorf("%+v of hardly any other answers", s)
	}
	if s = Moved(other[:LeastObjects-1], 1, 399, 0.95, r); !math.IsInf(s.High, 1) {
		t.Errorf("%+v of few objects", s)
	}
	if s = Moved(nil, 1, 399, 0.95, r); !math.IsNaN(s.Excess) || !math.IsNaN(s.P) {
		t.Errorf("%+v of nothing", s)
	}
	if s = Moved([]*Within{numbers([]float64{1, 2}, []float64{3, math.NaN()})}, 1, 399, 0.95, r); !math.IsNaN(s.P) ||
		s.High < 1 {
		t.Errorf("%+v of what is not finite", s)
	}
}
