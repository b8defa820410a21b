package aggregate

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func sequenceOf(t *testing.T, r float64, xs ...float64) *Sequential {
	t.Helper()
	s := NewSequential(r, 0.95)
	for _, x := range xs {
		if err := s.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestSequentialFirstBets(t *testing.T) {
	// By hand, from the formulas of Waudby-Smith and Ramdas 2024 (eq. 26 and theorem 3) with α = 0.05 and c = 3/4.
	// First bet: variance 1/4, so √(2·ln 40/(1/4·ln 2)) = 6.524985. Second, after 0.2: mean (1/2+0.2)/2 = 0.35,
	// variance (1/4 + 0.15²)/2 = 0.13625, so √(2·ln 40/(0.13625·2·ln 3)) = 4.964285. Against m = 1/2 both are cut to
	// 0.75/0.5 = 1.5.
	var b bets
	b.goal = math.Log(40)
	b.add(0.2)
	b.add(0.6)
	if !near(b.size[0], 6.524985, 1e-6) || !near(b.size[1], 4.964285, 1e-6) {
		t.Errorf("bets %v", b.size)
	}
	c := b.against(0.5)
	if want := math.Log((1 - 1.5*0.3) * (1 + 1.5*0.1)); !near(c.higher, want, 1e-12) || c.mostHigher != 0 {
		t.Errorf("higher: %+v, want %v", c, want)
	}
	if want := math.Log(1 + 1.5*0.3); !near(c.mostLower, want, 1e-12) ||
		!near(c.lower, want+math.Log(1-1.5*0.1), 1e-12) {
		t.Errorf("lower: %+v, want %v", c, want)
	}
}

func TestSequentialLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 0.05),
			rapid.SampledFrom([]float64{0, 0, 1, math.NaN()}))
		xs := rapid.SliceOfN(value, 0, 80).Draw(t, "values")
		scale := rapid.SampledFrom([]float64{1, 0.25, 64}).Draw(t, "range")
		taus := rapid.SliceOfN(rapid.Float64Range(-0.2, 1.2), 1, 20).Draw(t, "limits")
		s, surer, mirror, careful := NewSequential(scale, 0.9), NewSequential(scale, 0.99), NewSequential(scale, 0.9),
			NewSequential(scale, 0.9)
		last := s.Interval()
		if last.Low != 0 || last.High != scale {
			t.Fatalf("nothing gives %+v", last)
		}
		missing := 0
		for i, x := range xs {
			known := x
			if math.IsNaN(x) {
				missing++
				known = 0.5
			}
			if s.Add(x*scale) != nil || surer.Add(x*scale) != nil || mirror.Add((1-x)*scale) != nil ||
				careful.Add(known*scale) != nil {
				t.Fatal("a value in the range is refused")
			}
			iv := s.Interval()
			if math.IsInf(iv.Low, 0) {
				return // limits that crossed: allowed, and rare
			}
			if iv.Low < last.Low || iv.High > last.High {
				t.Fatalf("%d: the interval grew from %+v to %+v", i, last, iv)
			}
			last = iv
			s.Decide(taus[0] * scale)
		}
		if last.Missing != missing || s.N() != len(xs) || last.N != len(xs)-missing {
			t.Fatalf("counts: %+v", last)
		}
		for _, tau := range taus {
			got := s.Decide(tau * scale)
			if want := last.Decide(tau * scale); got != want && !near(tau*scale, last.Low, 1e-9) &&
				!near(tau*scale, last.High, 1e-9) {
				t.Fatalf("%v is %v, by the interval %+v %v", tau*scale, got, last, want)
			}
			if d := surer.Decide(tau * scale); d != Undecided && got == Undecided && len(xs) < 5 {
				t.Fatalf("more confidence decides more about %v", tau)
			}
		}
		if m := mirror.Interval(); !near(m.Low, scale-last.High, 1e-9) || !near(m.High, scale-last.Low, 1e-9) {
			t.Fatalf("mirrored: %+v of %+v", m, last)
		}
	})
}

func TestSequentialMissing(t *testing.T) {
	// An interval with a NaN holds both those with any number in its place, as long as the bets are the same: at the
	// last place.
	xs := []float64{0.1, 0.2, 0, 0.1, 0.3, 0.1, 0.2, 0, 0.1, 0.1, 0.2, 0.1}
	hole := sequenceOf(t, 1, append(xs, math.NaN())...).Interval()
	for _, x := range []float64{0, 0.5, 1} {
		if i := sequenceOf(t, 1, append(xs, x)...).Interval(); i.Low < hole.Low || i.High > hole.High {
			t.Errorf("%v in place of NaN gives %+v, NaN gave %+v", x, i, hole)
		}
	}
	nothing := sequenceOf(t, 1, make([]float64, 0)...)
	for range 1000 {
		if err := nothing.Add(math.NaN()); err != nil {
			t.Fatal(err)
		}
	}
	if i := nothing.Interval(); i.Low != 0 || i.High != 1 || i.N != 0 || i.Missing != 1000 {
		t.Errorf("nothing but NaN: %+v", i)
	}
}

func TestSequentialRange(t *testing.T) {
	for _, x := range []float64{-1e-9, 1.0000001, math.Inf(1), math.Inf(-1)} {
		s := sequenceOf(t, 1, make([]float64, 2000)...)
		if s.Decide(0.5) != Below {
			t.Fatal("2000 zeros decide nothing")
		}
		if err := s.Add(x); !errors.Is(err, ErrNotBounded) {
			t.Errorf("%v: %v", x, err)
		}
		if i := s.Interval(); s.Decide(0.5) != Undecided || !math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1) ||
			s.Add(0) == nil {
			t.Errorf("after %v the sequence still claims %+v", x, i)
		}
	}
	if _, err := BettingInterval([]float64{0.1, 2}, 1, 0.9); !errors.Is(err, ErrNotBounded) {
		t.Errorf("out of range: %v", err)
	}
	if i, err := BettingInterval(nil, 1, 0.9); !errors.Is(err, ErrNotBounded) || !math.IsInf(i.High, 1) {
		t.Errorf("nothing: %+v, %v", i, err)
	}
	s := sequenceOf(t, 2, 0, 1, 2)
	for tau, want := range map[float64]Decision{
		-0.1: Above, 2.1: Below, 0: Undecided, 2: Undecided,
		math.Inf(1): Below,
	} {
		if got := s.Decide(tau); got != want {
			t.Errorf("limit %v: %v", tau, got)
		}
	}
	for _, zero := range []float64{0, math.Copysign(0, -1)} {
		if s := sequenceOf(t, 1, 1, 1); s.Decide(zero) != Above {
			t.Errorf("two ones are not above %v", zero)
		}
	}
	if s.Decide(math.NaN()) != Undecided {
		t.Error("a limit of NaN is decided")
	}
	// A mean that moves from 0 to 1 contradicts the assumption; nothing may be claimed then.
	jump := NewSequential(1, 0.95)
	for i := range 4000 {
		if err := jump.Add(float64(i / 2000)); err != nil {
			t.Fatal(err)
		}
	}
	lo, hi := jump.b.limits()
	if i := jump.Interval(); !math.IsInf(i.High, 1) || lo <= hi || jump.Decide((lo+hi)/2) != Undecided {
		t.Errorf("a mean that jumps: %+v", i)
	}
}

func TestSequentialManyLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := NewSequential(1, 0.95)
	for i := range 300 {
		if err := s.Add(0.3 * r.Float64()); err != nil {
			t.Fatal(err)
		}
		for k := range 40 { // more than have an account
			s.Decide(float64(k+i%3) / 40)
		}
	}
	for k := range 40 {
		if tau := float64(k) / 40; s.Decide(tau) != s.Interval().Decide(tau) {
			t.Errorf("%v: %v, by the interval %+v", tau, s.Decide(tau), s.Interval())
		}
	}
}

func TestBettingIsShort(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, 500)
	for i := range x {
		x[i] = 0.1 * r.Float64()
	}
	m := of(x...)
	b, err := BettingInterval(x, 1, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	h, err := HoeffdingUpper(m, 1, 0.975)
	if err != nil {
		t.Fatal(err)
	}
	e, err := BernsteinUpper(m, 1, 0.975)
	if err != nil {
		t.Fatal(err)
	}
	if !(b.High < e && e < h && b.Low > 0) {
		t.Errorf("betting %+v, Bernstein %v, Hoeffding %v", b, e, h)
	}
	if s := sequenceOf(t, 1, x...).Interval(); !(s.High > b.High) {
		t.Errorf("looking at every time is free: %+v, %+v", s, b)
	}
}

func TestSequentialShare(t *testing.T) {
	// By hand: after n trials without the event, p is refuted once Γ(n+½)/(√π·n!)·20 >= (1-p)ⁿ. For n = 4 the quotient
	// is 35/128, so 20·35/128 >= 1 and no p above 0 is; for n = 100 it is 0.0563485, so p > 1-1.12697^(1/100) is not
	// either; for n = 400, 0.0282007: 1-0.564014^(1/400) = 0.00143065.
	s := NewSequentialShare(0.95)
	if i := s.Interval(); i.Low != 0 || i.High != 1 {
		t.Errorf("nothing: %+v", i)
	}
	for range 4 {
		s.Add(false)
	}
	if i := s.Interval(); !near(i.High, 1-math.Pow(0.05*35/128, 0.25), 1e-9) || i.Low != 0 {
		t.Errorf("4 trials: %+v", i)
	}
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Bool(), 1, 120).Draw(t, "events")
		s, mirror, surer := NewSequentialShare(0.9), NewSequentialShare(0.9), NewSequentialShare(0.99)
		last := s.Interval()
		for _, e := range events {
			s.Add(e)
			mirror.Add(!e)
			surer.Add(e)
			iv := s.Interval()
			if math.IsInf(iv.Low, 0) {
				return
			}
			if iv.Low < last.Low || iv.High > last.High {
				t.Fatalf("the interval grew from %+v to %+v", last, iv)
			}
			last = iv
		}
		if m := mirror.Interval(); !near(m.Low, 1-last.High, 1e-9) || !near(m.High, 1-last.Low, 1e-9) {
			t.Fatalf("mirrored: %+v of %+v", m, last)
		}
		if i := surer.Interval(); i.Low > last.Low || i.High < last.High {
			t.Fatalf("more confidence is shorter: %+v, %+v", i, last)
		}
		// An interval for all times is no shorter than one for a fixed time, but for what it saw before.
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		if got, want := s.Decide(p), last.Decide(p); got != want || s.N() != len(events) {
			t.Fatalf("%v: %v, want %v", p, got, want)
		}
	})
	jump := NewSequentialShare(0.95)
	for i := range 4000 {
		jump.Add(i >= 2000)
	}
	if i := jump.Interval(); !math.IsInf(i.High, 1) || jump.Decide(0.5) != Undecided {
		t.Errorf("a probability that jumps: %+v", i)
	}
}

func TestContractSequence(t *testing.T) {
	c := Contract{Tau: 1, P: 0.01, Confidence: 0.95}
	s := c.Sequence()
	n := 0
	for s.Outcome() == Open && n < 1000 {
		n++
		if got := s.Add(0.5); got != s.Outcome() {
			t.Fatal("two outcomes")
		}
	}
	// 299 are the fewest for a number fixed beforehand; the looks in between cost some.
	if s.Outcome() != Met || n < 299 || n > 400 {
		t.Errorf("without a failure %v after %d", s.Outcome(), n)
	}
	for range 50 {
		s.Add(math.NaN())
	}
	if s.Outcome() != Met || s.Tally() != (Tally{N: n + 50, Over: 50, Missing: 50}) {
		t.Errorf("the decision did not stay: %v, %+v", s.Outcome(), s.Tally())
	}
	s = c.Sequence()
	n = 0
	for s.Outcome() == Open && n < 1000 {
		n++
		s.Add(math.NaN())
	}
	if s.Outcome() != Broken || n > 4 {
		t.Errorf("with nothing but NaN %v after %d", s.Outcome(), n)
	}
	// By hand for the first input, P = 1/2: the weight of Jeffreys on the upper half has the mean 1/2+1/π, so a failure
	// weighs (1/2+1/π)/(1/2) = 1.6366 against P, enough at a confidence of 0.38 (1/0.62 = 1.613), and not at 0.4
	// (1.667).
	for confidence, want := range map[float64]Outcome{0.38: Broken, 0.4: Open} {
		if got := (Contract{1, 0.5, confidence}).Sequence().Add(2); got != want {
			t.Errorf("one failure at %v: %v", confidence, got)
		}
	}
	for confidence, want := range map[float64]Outcome{0.38: Met, 0.4: Open} {
		if got := (Contract{1, 0.5, confidence}).Sequence().Add(0); got != want {
			t.Errorf("one success at %v: %v", confidence, got)
		}
	}
	if s := Undecided.String() + Below.String() + Above.String() +
		Decision(7).String(); s != "undecidedbelowaboveDecision(7)" {
		t.Error(s)
	}
	if d := (Interval{Low: math.NaN(), High: 1}).Decide(5); d != Undecided {
		t.Errorf("an end of NaN decides %v", d)
	}
}
