package trend

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/internal/elementary"
	"nero/measure/aggregate"

	"pgregory.net/rapid"
)

func draws() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func shared() *aggregate.Intervals { return aggregate.NewIntervals(draws) }

// skewed are n skewed numbers that are not negative: log-normal with the given median and σ = 1.
func skewed(r *rand.Rand, n int, median float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = median * math.Exp(r.NormFloat64())
	}
	return x
}

func TestLevelsAddUp(t *testing.T) {
	sum := 0.0
	for k := range 100_000 {
		sum += Level(0.05, k+1)
	}
	if !(sum < 0.05) || sum < 0.05-1e-6 {
		t.Errorf("all levels are %g, want almost 0.05", sum)
	}
}

func TestAgainst(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	before := skewed(r, 100, 1)
	times := func(f float64) []float64 {
		x := slices.Clone(before)
		for i := range x {
			x[i] *= f * math.Exp(0.05*r.NormFloat64())
		}
		return x
	}
	hole := slices.Clone(before)
	hole[7] = math.NaN()
	infinite := slices.Clone(before)
	infinite[9] = math.Inf(1)
	none := slices.Repeat([]float64{math.NaN()}, 100)
	q, draws := Question{Allow: 0.1, Level: 0.001}, shared()
	for _, c := range []struct {
		name          string
		before, after []float64
		higher        bool
		want          State
	}{
		{"the same", before, before, false, OK},
		{"none at all", make([]float64, 100), make([]float64, 100), false, OK},
		{"twice", before, times(2), false, Alarm},
		{"from none", make([]float64, 100), before, false, Alarm},
		{"half", before, times(0.5), false, Improved},
		{"a little more than allowed, of few", before[:8], times(1.12)[:8], false, Open},
		{"more, but allowed", before, times(1.04), false, OK},
		{"a hole", before, hole, false, Alarm},
		{"an infinity", before, infinite, false, Alarm},
		{"a hole that was one", hole, hole, false, OK},
		{"a hole that is filled", hole, before, false, OK},
		{"no numbers", none, none, false, Open},
		{"one object", before[:1], times(3)[:1], false, Open},
		{"twice, and higher is better", before, times(2), true, Improved},
		{"half, and higher is better", before, times(0.5), true, Alarm},
		{"the same, and higher is better", before, before, true, OK},
	} {
		q := q
		q.Higher = c.higher
		if got := Against(c.before, c.after, q, draws); got.State != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.name, got.State, c.want, got)
		}
	}
	if p := Against(before, hole, q, draws); !slices.Equal(p.Lost, []int{7}) || p.Change.Missing != 1 {
		t.Errorf("%+v", p)
	}
}

// TestAgainstKeepsItsPromise draws series of twelve releases of a model that is as it was, with errors of each object
// that differ by skewed noise, where an interval by Student alone is too short.
func TestAgainstKeepsItsPromise(t *testing.T) {
	const series = 500
	r, draws, alarms := rand.New(rand.NewPCG(3, 19)), shared(), 0
	for range series {
		alarmed := false
		for k := range 11 {
			before, after := skewed(r, 40, 1), skewed(r, 40, 1)
			p := Against(before, after, Question{Level: Level(0.05, k+1)}, draws)
			alarmed = alarmed || p.State == Alarm
		}
		if alarmed {
			alarms++
		}
	}
	i := aggregate.ClopperPearson(alarms, series, 0.95)
	t.Logf("%d of %d series of twelve releases alarm falsely, %.4f to %.4f", alarms, series, i.Low, i.High)
	if i.Low > 0.05 {
		t.Errorf("%d of %d series alarm: %v", alarms, series, i)
	}
	// A skewed change whose mean is 0: a few objects much better, the others a little worse. This is the worse side.
	alarms = 0
	for range series {
		after := skewed(r, 100, 1)
		for i := range after {
			after[i] = 10 + math.Exp(0.5) - after[i]
		}
		if Against(slices.Repeat([]float64{10}, 100), after, Question{Level: 0.05}, draws).State == Alarm {
			alarms++
		}
	}
	i = aggregate.ClopperPearson(alarms, series, 0.95)
	t.Logf("%d of %d skewed changes without a mean alarm, %.4f to %.4f", alarms, series, i.Low, i.High)
	if i.Low > 0.05 {
		t.Errorf("%d of %d skewed changes without a mean alarm: %v", alarms, series, i)
	}
}

// Where the tails are deeper than resamples reach, the interval is longer than Student's by as much as before.
func TestDeepTails(t *testing.T) {
	x := skewed(rand.New(rand.NewPCG(4, 4)), 50, 1)
	last := 0.0
	for _, level := range []float64{0.05, 0.002, 1e-4, 1e-6, 1e-9} {
		i, plain := interval(x, level, fine(), shared()), aggregate.MeanInterval(moments(x), 1-level)
		if i.Low > plain.Low || i.High < plain.High || math.IsInf(i.High, 0) {
			t.Errorf("at %g: %v, Student's is %v", level, i, plain)
		}
		if i.High-i.Low <= last {
			t.Errorf("at %g the interval is no longer than before: %v", level, i)
		}
		last = i.High - i.Low
	}
}

func TestSlope(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	base := skewed(r, 50, 1)
	line := func(n int, slope float64) [][]float64 {
		all := make([][]float64, n)
		for k := range all {
			for _, x := range base {
				all[k] = append(all[k], x+slope*float64(k))
			}
		}
		return all
	}
	for _, n := range []int{3, 12, 64, 65, 200} {
		got, i := Slope(line(n, 0.25), 0.95, draws())
		if math.Abs(got-0.25) > 1e-9 || math.Abs(i.High-0.25) > 1e-9 || math.Abs(i.Low-0.25) > 1e-9 {
			t.Errorf("%d releases: %g in %v", n, got, i)
		}
	}
	all := line(9, 0.25)
	for i := range all[4] {
		all[4][i] += 100 // one wild release moves no median
	}
	all[2][3] = math.NaN() // and an object with a hole is left out
	if got, i := Slope(all, 0.95, draws()); math.Abs(got-0.25) > 1e-9 || i.N != 49 {
		t.Errorf("with a wild release %g in %v", got, i)
	}
	if got, i := Slope(line(2, 1), 0.95, draws()); !math.IsNaN(got) || !math.IsInf(i.High, 1) {
		t.Errorf("of two releases %g in %v", got, i)
	}
	// Objects whose slopes differ give an interval that holds their mean.
	all = line(10, 0)
	for o := range base {
		s := r.NormFloat64()
		for k := range all {
			all[k][o] += s * float64(k)
		}
	}
	got, i := Slope(all, 0.95, draws())
	if !(i.Low < got && got < i.High) || i.High-i.Low < 0.2 || i.High-i.Low > 1.2 {
		t.Errorf("%g in %v, the interval of 50 slopes of deviation 1 is about 0.55 wide", got, i)
	}
}

// batch draws how many of n objects fail.
func batch(r *rand.Rand, n int, rate float64) aggregate.Tally {
	t := aggregate.Tally{N: n}
	for range n {
		if r.Float64() < rate {
			t.Over++
		}
	}
	return t
}

// alarmed is after which release, from 1, the evidence first reached 1/α; 0 for none.
func alarmed(s *Stream, alpha float64) int {
	return 1 + slices.IndexFunc(s.Evidence(), func(e float64) bool { return e >= -elementary.Log(alpha) })
}

func TestStreamKeepsItsPromise(t *testing.T) {
	const streams = 2000
	r, alarms := rand.New(rand.NewPCG(7, 19)), 0
	for range streams {
		s := NewStream(0.05)
		for range 20 {
			s.Release(batch(r, 50, 0.05))
		}
		if alarmed(s, 0.05) > 0 {
			alarms++
		}
	}
	i := aggregate.ClopperPearson(alarms, streams, 0.95)
	t.Logf("%d of %d streams alarm falsely, up to %.4f", alarms, streams, i.High)
	if i.High > 0.065 {
		t.Errorf("%d of %d streams alarm falsely: %v", alarms, streams, i)
	}
}

// A good past does not hide a change: releases of 64 objects without a failure for long, then a rate of 0.25.
func TestStreamAfterAGoodPast(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 19))
	for _, past := range []int{0, 6, 40, 200} {
		s, whole := NewStream(0.05), aggregate.Tally{}
		for range past {
			s.Release(aggregate.Tally{N: 64})
			whole.N += 64
		}
		for alarmed(s, 0.05) == 0 && len(s.Evidence()) < past+10 {
			b := batch(r, 64, 0.25)
			s.Release(b)
			whole.Merge(b)
		}
		if at := alarmed(s, 0.05); at <= past || at > past+3 {
			t.Errorf("after %d good releases the alarm comes at %d", past, at)
		}
		if past == 200 && aggregate.LogEvidence(0.05, whole) > 0 {
			t.Error("without restarts it would have alarmed as well: this tests nothing")
		}
	}
}

// By hand: after the first release the evidence is w₁E + (1 - w₁), of nothing 1.
func TestStreamByHand(t *testing.T) {
	s := NewStream(0.05)
	if e := s.Release(aggregate.Tally{}); math.Abs(e) > 1e-12 {
		t.Errorf("of nothing: %g, want 0", e)
	}
	s = NewStream(0.05)
	one := aggregate.Tally{N: 10, Over: 3}
	w := 6 / (math.Pi * math.Pi)
	want := math.Log(w*math.Exp(aggregate.LogEvidence(0.05, one)) + 1 - w)
	if e := s.Release(one); math.Abs(e-want) > 1e-12 {
		t.Errorf("%g, want %g", e, want)
	}
	two := aggregate.Tally{N: 5, Over: 1}
	want = math.Log(w*math.Exp(aggregate.LogEvidence(0.05, aggregate.Tally{N: 15, Over: 4})) +
		w/4*math.Exp(aggregate.LogEvidence(0.05, two)) + 1 - w - w/4)
	if e := s.Release(two); math.Abs(e-want) > 1e-12 {
		t.Errorf("%g, want %g", e, want)
	}
}

// TestStreamGoesOn stores a stream anywhere and goes on: the same as the whole, to the last bit.
func TestStreamGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 150).Draw(t, "releases")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		whole, part := NewStream(0.05), NewStream(0.05)
		for k := range n {
			if k == cut {
				part = again(t, part)
			}
			b := batch(r, r.IntN(20), 0.1)
			whole.Release(b)
			part.Release(b)
		}
		if part = again(t, part); !slices.Equal(part.Evidence(), whole.Evidence()) || part.Tally() != whole.Tally() {
			t.Fatalf("cut at %d of %d: %v, the whole is %v", cut, n, part.Evidence(), whole.Evidence())
		}
	})
}

func again(t *rapid.T, s *Stream) *Stream {
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out := new(Stream)
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return out
}

func FuzzStream(f *testing.F) {
	for _, s := range []string{
		`{"limit":0.05,"n":5,"over":1,"live":[{"from":1,"n":5,"over":1}],"log_e":[0.3]}`, `{}`, `{"limit":0.5,"log_e":[1]}`,
		`{"limit":0.05,"n":5,"over":1,"live":[{"from":1,"n":9,"over":1}],"log_e":[0.3]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := new(Stream)
		if json.Unmarshal(b, s) != nil || s.limit == 0 {
			return
		}
		if e := s.Release(aggregate.Tally{N: 3, Over: 1}); math.IsNaN(e) {
			t.Errorf("%s goes on with NaN", b)
		}
	})
}

// BenchmarkAgainst compares releases of 64 objects: what is as it was, and what became twice as large.
func BenchmarkAgainst(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 7))
	before := skewed(r, 64, 1)
	for _, c := range []struct {
		name string
		by   float64
	}{{"same", 1}, {"twice", 2}} {
		after := slices.Clone(before)
		for i := range after {
			after[i] *= c.by * math.Exp(0.05*r.NormFloat64())
		}
		b.Run(c.name, func(b *testing.B) {
			draws := shared()
			for b.Loop() {
				Against(before, after, Question{Allow: 0.1, Level: 1e-4}, draws)
			}
		})
	}
}

// Few objects that change alike show nothing of others, in either direction; that nothing changed is a fact, and what
// is
// finite no more is an alarm.
func TestAgainstFew(t *testing.T) {
	by := shared()
	for n, few := range map[int]bool{1: true, 2: true, LeastObjects - 1: true, LeastObjects: false} {
		for factor, state := range map[float64]State{2: Alarm, 0.5: Improved, 1: OK, 1.05: OK, math.NaN(): Alarm} {
			before, after := make([]float64, n), make([]float64, n)
			for i := range before {
				before[i], after[i] = 0.01, 0.01*factor
			}
			p := Against(before, after, Question{Allow: 0.1, Level: 0.05}, by)
			lost := math.IsNaN(factor)
			want := state
			if few && factor != 1 && !lost {
				want = Open
			}
			if p.State != want || p.Few != (few && factor != 1 && !lost) {
				t.Errorf("%d objects times %g: %s, few %v; want %s", n, factor, p.State, p.Few, want)
			}
		}
	}
}
