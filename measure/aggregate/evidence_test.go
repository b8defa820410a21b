package aggregate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// integral is the evidence by the midpoint rule in q = sin² t, where the weights of Jeffreys are flat.
func integral(p float64, k, n int) float64 {
	const steps = 200_000
	from := math.Asin(math.Sqrt(p))
	step := (math.Pi/2 - from) / steps
	sum := 0.0
	for i := range steps {
		s := math.Sin(from + (float64(i)+0.5)*step)
		q := s * s
		sum += math.Exp(float64(k)*math.Log(q/p) + float64(n-k)*math.Log((1-q)/(1-p)))
	}
	return sum / steps
}

func TestLogEvidenceIsTheIntegral(t *testing.T) {
	for _, c := range []struct {
		p    float64
		k, n int
	}{{0.05, 0, 0}, {0.05, 1, 1}, {0.05, 0, 20}, {0.05, 7, 40}, {0.5, 3, 3}, {0.01, 2, 300}, {0.9, 20, 20}} {
		got, want := LogEvidence(c.p, Tally{N: c.n, Over: c.k}), math.Log(integral(c.p, c.k, c.n))
		if !(math.Abs(got-want) < 1e-6) {
			t.Errorf("%+v: %g, the integral is %g", c, got, want)
		}
	}
	// By hand, of the first object at 1/2: the weights on the upper half have the mean 1/2+1/π.
	if got, want := LogEvidence(0.5, Tally{N: 1, Over: 1}), math.Log(1+2/math.Pi); math.Abs(got-want) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
}

// However clean the past, the evidence is a number and below what it was.
func TestLogEvidenceStaysFinite(t *testing.T) {
	last := 0.0
	for _, n := range []int{10, 100, 1_000, 10_000, 100_000, 1_000_000} {
		got := LogEvidence(0.05, Tally{N: n})
		if math.IsInf(got, 0) || math.IsNaN(got) || !(got < last) {
			t.Errorf("%d clean objects: %g after %g", n, got, last)
		}
		last = got
	}
	if got := LogEvidence(0.05, Tally{N: 100_000, Over: 100_000}); !(got > 1e5) || math.IsInf(got, 0) {
		t.Errorf("nothing but failures: %g", got)
	}
}

// alarm is after how many of so many objects that fail at a rate the evidence against 0.05 reaches 20; 0 for never.
// Only a failure raises it, and it is below 1 where no more fail than at the limit.
func alarm(r *rand.Rand, rate float64, objects int) int {
	var t Tally
	for n := range objects {
		if t.N = n + 1; r.Float64() >= rate {
			continue
		}
		t.Over++
		if float64(t.Over) > 0.05*float64(t.N) && LogEvidence(0.05, t) >= math.Log(20) {
			return t.N
		}
	}
	return 0
}

// TestEvidenceKeepsItsPromise draws 2,000 streams at the limit of the hypothesis, where false alarms are most frequent.
func TestEvidenceKeepsItsPromise(t *testing.T) {
	const streams, objects = 2000, 4000
	r, falsely := rand.New(rand.NewPCG(19, 6)), 0
	for range streams {
		if alarm(r, 0.05, objects) > 0 {
			falsely++
		}
	}
	i := ClopperPearson(falsely, streams, 0.95)
	t.Logf("%d of %d streams alarm falsely, up to %.4f", falsely, streams, i.High)
	if i.High > 0.065 || falsely == 0 {
		t.Errorf("%d of %d streams alarm falsely: %v", falsely, streams, i)
	}
	// Known delays (median of 200 streams), each within what the median of so many moves by.
	for rate, want := range map[float64][2]int{0.08: {440, 650}, 0.1: {180, 260}, 0.2: {20, 31}, 0.5: {3, 6}} {
		var after []int
		for range 200 {
			n := alarm(r, rate, objects)
			if n == 0 {
				n = objects
			}
			after = append(after, n)
		}
		slices.Sort(after)
		t.Logf("at %g the median delay is %d objects", rate, after[len(after)/2])
		if m := after[len(after)/2]; m < want[0] || m > want[1] {
			t.Errorf("at %g the median delay is %d objects, want %v", rate, m, want)
		}
	}
}

// small draws a number of mean 0.05 and deviation 0.048: the beta distribution with parameters 1 and 19.
func small(r *rand.Rand) float64 { return 1 - math.Pow(r.Float64(), 1.0/19) }

func TestMeanSequence(t *testing.T) {
	const streams, n = 100, 400
	r := rand.New(rand.NewPCG(2, 19))
	left, width := 0, 0.0
	for range streams {
		s, always := NewMeanSequence(0.95), true
		last := s.Interval()
		for range n {
			s.Add(small(r))
			i := s.Interval()
			always = always && i.Low <= 0.05 && i.High >= 0.05
			if i.Low < last.Low || i.High > last.High {
				t.Fatal("an end moved outwards")
			}
			last = i
		}
		if !always {
			left++
		}
		width += (last.High - last.Low) / streams
	}
	t.Logf("%d of %d sequences hold the mean at all times, mean width %.4f", streams-left, streams, width)
	if i := ClopperPearson(left, streams, 0.95); i.Low > 0.05 {
		t.Errorf("%d of %d sequences leave the mean out at some time", left, streams)
	}
	// The interval of a number fixed beforehand by the empirical Bernstein inequality is 0.066 wide.
	if !(width > 0.015 && width < 0.035) {
		t.Errorf("after %d numbers the intervals are %.4f wide", n, width)
	}
}

// By hand: before the first number the variance is 1/4, and after a one (1/4 + 1/16)/2, so the bets on two ones are
// √(2 ln(40)·4/ln 2) = 6.53 and √(2 ln(40)/(5/32·2 ln 3)) = 4.64. Those m are out for which the capital
// (1+6.53(1-m))(1+4.64(1-m)) is 40 = 2/α: below 0.0349. There the bets are below 1/2m.
func TestMeanSequenceByHand(t *testing.T) {
	a, b := math.Sqrt(2*math.Log(40)*4/math.Ln2), math.Sqrt(2*math.Log(40)/(5.0/32*2*math.Log(3)))
	want := 1 - (math.Sqrt((a+b)*(a+b)+4*39*a*b)-a-b)/(2*a*b)
	s, mirror := NewMeanSequence(0.95), NewMeanSequence(0.95)
	for range 2 {
		if i := s.Interval(); i.Low != 0 || i.High != 1 {
			t.Errorf("too early: %v", i)
		}
		s.Add(1)
		mirror.Add(0)
	}
	i := s.Interval()
	if step := s.at[s.low+1] - s.at[s.low]; i.High != 1 || i.Low > want || i.Low < want-step {
		t.Errorf("after two ones: %v, want [%g, 1]", i, want)
	}
	if j := mirror.Interval(); math.Abs(j.High-(1-i.Low)) > 1e-12 || j.Low != 0 {
		t.Errorf("after two zeros: %v, want the mirror image of %v", j, i)
	}
}

func TestMeanSequenceGoesOn(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, cut := range []int{0, 1, 57, 300} {
		whole, part := NewMeanSequence(0.9), NewMeanSequence(0.9)
		for i := range 300 {
			if i == cut {
				part = again(t, part)
			}
			x := small(r)
			if i%50 == 7 {
				x = math.NaN()
			}
			whole.Add(x)
			part.Add(x)
		}
		part = again(t, part)
		if part.Interval() != whole.Interval() || part.Interval().Missing != 6 {
			t.Errorf("cut after %d: %v, the whole is %v", cut, part.Interval(), whole.Interval())
		}
	}
	var s MeanSequence
	for _, bad := range []string{
		`{}`, `[]`, `{"confidence":0.9,"sum":0.5,"squares":0.25,"high":1000}`,
		`{"confidence":2,"sum":0.5,"squares":0.25,"low":3,"high":4}`,
		`{"confidence":0.9,"sum":0.5,"squares":0.25,"low":3,"high":5,"more":[1],"more_exponents":[1],"less":[0.5],` +
			`"less_exponents":[1]}`,
	} {
		if err := s.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func again(t *testing.T, s *MeanSequence) *MeanSequence {
	t.Helper()
	b, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	out := new(MeanSequence)
	if err := out.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNumbersOfASequence(t *testing.T) {
	for _, x := range []float64{-0.1, 1.1, math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%g is taken", x)
				}
			}()
			NewMeanSequence(0.95).Add(x)
		}()
	}
}
