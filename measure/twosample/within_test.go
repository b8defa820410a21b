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
		w      *Within
		excess float64
	}{
		{labels([]int{1, 1}, []int{2, 2, 2}), 1},
		{labels([]int{1, 1}, []int{1, 1, 1}), 0},
		{labels([]int{1, 2}, []int{1, 2}), 0.5 - 1},
		{numbers([]float64{0, 2}, []float64{5, 6}), 4.5 - 1 - 0.5},
		{numbers([]float64{0, 2}, []float64{math.NaN(), 6}), math.NaN()},
		{labels([]int{1, 2}, []int{1, 2}).Paired([]int{7, 8}), 0},
		{labels([]int{1, 2}, []int{3, 3}).Paired([]int{7, 8}), 1 - 0.5},
		{numbers([]float64{0, 2}, []float64{5, 6}).Paired([]int{1, 2}), 4.5 - 1 - 0.5},
		// of three rounds the first two have one seed, and are no pair
		{labels([]int{1, 1, 2}, []int{1, 1, 2}).Paired([]int{7, 7, 8}), 0},
		{labels([]int{1, 1, 2}, []int{1, 1, 1}).Paired([]int{7, 7, 8}), 0},
		{labels([]int{1, 1, 2}, []int{3, 3, 3}).Paired([]int{7, 7, 8}), 1 - 0.5},
	} {
		if got := c.w.Excess(); got != c.excess && !(math.IsNaN(got) && math.IsNaN(c.excess)) {
			t.Errorf("excess %v, want %v", got, c.excess)
		}
	}
}

// Answers of one seed are no two draws. Over all seeds of two rounds, of which each makes an answer A or B: what moving
// never changes has the excess 0, with any seeds, and an answer that is another one whatever the seed has
// ¾ = 1 - ½·½, Σ (p-q)²/2 of ½, ½, 0 and 0, 0, 1.
func TestExcessOfSeeds(t *testing.T) {
	planted := 0.0
	for a := range 2 {
		for b := range 2 {
			drawn := []int{a, b}
			if x := labels(drawn, drawn).Paired([]int{1, 2}).Excess(); x != 0 {
				t.Errorf("%v: excess %v of what nothing changes", drawn, x)
			}
			planted += labels(drawn, []int{2, 2}).Paired([]int{1, 2}).Excess() / 4
		}
	}
	if planted != 0.75 {
		t.Errorf("expectation %v, want 0.75", planted)
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

// Of seeds, the mean over all that chance could have made otherwise is 0 as well.
func TestExcessOfSwapsIsCentred(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seeds := rapid.SliceOfN(rapid.IntRange(0, 2), 2, 5).Draw(t, "seeds")
		seeds[0], seeds[1] = 1, 2
		x := rapid.SliceOfN(rapid.Float64Range(-5, 5), 2*len(seeds), 2*len(seeds)).Draw(t, "answers")
		w := numbers(x[:len(seeds)], x[len(seeds):]).Paired(seeds)
		sum := 0.0
		for which := range 1 << len(w.seeds) {
			order := w.asIs()
			for i, rounds := range w.seeds {
				for _, k := range rounds {
					if which>>i&1 == 1 {
						order[k], order[len(seeds)+k] = len(seeds)+k, k
					}
				}
			}
			sum += w.excess(order)
		}
		if !(math.Abs(sum) < 1e-9) {
			t.Fatalf("sum %v", sum)
		}
	})
}

// seeded are objects whose answers as they are and moved share all but a part of what chance does, with rounds that
// have
// seeds of their own; moved by a shift.
func seeded(r *rand.Rand, n, each int, shift float64) []*Within {
	out := make([]*Within, n)
	var seeds []int
	for k := range each {
		seeds = append(seeds, k)
	}
	for i := range out {
		still, moved := make([]float64, each), make([]float64, each)
		for k := range still {
			common := elementary.Normal(r)
			still[k] = common + 0.3*elementary.Normal(r)
			moved[k] = shift + common + 0.3*elementary.Normal(r)
		}
		out[i] = numbers(still, moved).Paired(seeds)
	}
	return out
}

// Where nothing moves, the p-value of rounds with seeds is at most α with probability α, the excess is 0 in the mean
// and
// intervals hold 0; a shift that is hidden among the draws is found by what they share.
func TestMovedOfSeeds(t *testing.T) {
	const times = 60
	small, half, held, found, sum := 0, 0, 0, 0, 0.0
	for seed := range times {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		s := Moved(seeded(r, 12, 3, 0), math.Inf(1), 199, 0.95, r)
		sum += s.Excess / times
		if s.P <= 0.05 {
			small++
		}
		if s.P <= 0.5 {
			half++
		}
		if s.Low <= 0 && 0 <= s.High {
			held++
		}
		if seed < 10 && Moved(seeded(r, 12, 3, 0.5), math.Inf(1), 199, 0.95, r).P <= 0.01 {
			found++
		}
	}
	// of 60 at 0.05 more than 8 are seen with probability 3e-3, at 0.5 fewer than 19 or more than 41 with 4e-3
	if small > 8 || half < 19 || half > 41 || held < 51 || !(math.Abs(sum) < 0.02) {
		t.Errorf("of %d p <= 0.05 in %d, <= 0.5 in %d; %d intervals hold 0, and the mean is %v", times, small, half,
			held, sum)
	}
	if found != 10 {
		t.Errorf("a shift is found in %d of 10", found)
	}
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
