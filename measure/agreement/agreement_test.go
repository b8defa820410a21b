package agreement

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestOneObject(t *testing.T) {
	for _, c := range []struct {
		answers       []int
		of, entropy   float64
		mode          int
		tied          bool
		differFromOne float64
	}{
		{[]int{1, 1, 1, 1, 1}, 1, 0, 1, false, 0},
		{[]int{0, 1, 1, 0, 1}, 8.0 / 20, 0.6*math.Log2(5.0/3) + 0.4*math.Log2(2.5), 1, false, 0.4},
		{[]int{3, 1, 1, 3}, 4.0 / 12, 1, 3, true, 0.5},
		{[]int{0, 1, 2, 3}, 0, 2, 0, true, 0.75},
	} {
		near(t, "agreement", Of(c.answers), c.of)
		near(t, "entropy", Entropy(c.answers), c.entropy)
		near(t, "difference", Differ([]int{1}, c.answers), c.differFromOne)
		if mode, tied := Mode(c.answers); mode != c.mode || tied != c.tied {
			t.Errorf("mode of %v: %d, %v", c.answers, mode, tied)
		}
	}
	if x := Of([]int{1}); !math.IsNaN(x) {
		t.Errorf("one answer agrees with itself: %v", x)
	}
	if x := Entropy(nil); !math.IsNaN(x) {
		t.Errorf("no answers have an entropy: %v", x)
	}
	if mode, _ := Mode(nil); mode != Never {
		t.Errorf("no answers have a mode: %v", mode)
	}
}

// The expectation over all series of five answers is that of the probabilities, 0.46; the share of squares has 0.568.
func TestAgreementIsUnbiased(t *testing.T) {
	p := []float64{0.6, 0.3, 0.1}
	mean, plugged := 0.0, 0.0
	for series := range 243 {
		answers, likely := make([]int, 5), 1.0
		for i, rest := 0, series; i < 5; i, rest = i+1, rest/3 {
			answers[i] = rest % 3
			likely *= p[rest%3]
		}
		mean += likely * Of(answers)
		squares := 0.0
		for _, n := range counts(answers) {
			squares += float64(n*n) / 25
		}
		plugged += likely * squares
	}
	near(t, "expectation", mean, 0.46)
	near(t, "expectation of squares", plugged, 0.568)
}

// What classes are called, and in which order answers come, changes neither agreement nor entropy.
func TestNamesSayNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.SliceOfN(rapid.IntRange(0, 3), 2, 12).Draw(t, "answers")
		names := rapid.Permutation([]int{7, 0, 12, 5}).Draw(t, "names")
		other := make([]int, len(answers))
		for i, k := range rapid.Permutation(indexes(len(answers))).Draw(t, "order") {
			other[i] = names[answers[k]]
		}
		if a, b := Of(answers), Of(other); a != b || !(a >= 0 && a <= 1) {
			t.Fatalf("agreement %v and %v", a, b)
		}
		if a, b := Entropy(answers), Entropy(other); !(math.Abs(a-b) < 1e-12) {
			t.Fatalf("entropy %v and %v", a, b)
		}
	})
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestDigits(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want int
	}{
		{1, 1, 15},
		{0, 0, 15},
		{0, 1, 0},
		{1.234, 1.2344, 4},
		{1.234, 1.2346, 3},
		{123400, 123440, 4},
		{1.234e-300, 1.2344e-300, 4},
		{9.99, 10.01, 3},
		{1, -1, 0},
		{1, 1 + 4e-15, 15},
		{1, 1 + 6e-15, 14},
		{math.NaN(), math.NaN(), 0},
		{math.Inf(1), math.Inf(1), 0},
		{5e-324, 1e-323, 1}, // the gaps there are as wide as the numbers,
	} {
		if got := Digits(c.a, c.b); got != c.want {
			t.Errorf("%v and %v have %d digits in common, want %d", c.a, c.b, got, c.want)
		}
		if one, other := Digits(c.a, c.b), Digits(-c.b, -c.a); one != other {
			t.Errorf("%v and %v: %d digits one way, %d the other", c.a, c.b, one, other)
		}
	}
	got := InCommon([][][]float64{{{1.234, 5}, {1.2344, 5}}, {{1}, {1}, {2}}, {{3}}})
	// The first object has 4 and 15 digits, the second 15 in one of three pairs.
	for k, want := range map[int]float64{1: (1 + 1.0/3) / 2, 4: (1 + 1.0/3) / 2, 5: (0.5 + 1.0/3) / 2, 15: (0.5 +
		1.0/3) / 2} {
		near(t, "share", got[k-1], want)
	}
	if got := InCommon([][][]float64{{{1}, {1, 1}}}); got[0] != 0.5 || got[14] != 0.5 {
		t.Errorf("of two numbers one answer has one: %v", got)
	}
	if InCommon([][][]float64{{{1}}}) != nil {
		t.Error("one answer has digits in common with itself")
	}
}

// Answers that are all the same have no scale and no deviation, however their sum is rounded; one that is an ulp away
// has both.
func TestNothingVaries(t *testing.T) {
	same := []float64{1, 2, 3, 0.1}
	for n := 2; n <= 120; n++ {
		var objects [][][]float64
		for range n {
			objects = append(objects, [][]float64{same, same, same})
		}
		if s, d := Scale(objects), Deviation(slices.Repeat([][]float64{same}, n)); s != 0 || d != 0 {
			t.Fatalf("%d objects have the scale %v, their answers deviate by %v", n, s, d)
		}
	}
	if Scale([][][]float64{{{0.1}}, {{math.Nextafter(0.1, 1)}}}) == 0 {
		t.Error("what differs by an ulp has no scale")
	}
}

func TestNumbers(t *testing.T) {
	near(t, "deviation", Deviation([][]float64{{0, 0}, {3, 4}}), math.Sqrt(12.5))
	near(t, "distance", Distance([]float64{1, 2}, []float64{4, 6}), 5)
	// means 1 and 3, of all 2: squared distances 4 and 0 of the first, 1 of the second
	near(t, "scale", Scale([][][]float64{{{0}, {2}}, nil, {{3}}}), math.Sqrt(1.5))
	for what, x := range map[string]float64{
		"deviation of one": Deviation([][]float64{{1}}), "deviation of lengths": Deviation([][]float64{{1}, {1, 2}}),
		"scale of nothing": Scale(nil), "scale of lengths": Scale([][][]float64{{{1}}, {{1, 2}}}),
		"distance of lengths": Distance([]float64{1}, nil),
	} {
		if !math.IsNaN(x) {
			t.Errorf("%s is %v", what, x)
		}
	}
}

func TestSummarise(t *testing.T) {
	objects := []Object{
		{[]int{0, 0, 0, 0, 0}, 0},          // steady and right
		{[]int{1, 1, 1, 1, 1}, 0},          // steady and wrong
		{[]int{1, 1, 1, 1, 1}, Never},      // steady and wrong
		{[]int{1, 1, 1, 0, 0}, 0},          // varying and wrong, at least once right
		{[]int{0, 0, 0, 0, 1}, 0},          // varying (0.6) and right
		{[]int{0, 1, 0, 1}, Unlabelled},    // tied
		{[]int{0}, 0},                      // once is no repeat
		{nil, 0},                           // and never neither
		{[]int{0, 0, 0, 0, 0}, Unlabelled}, // nobody knows
	}
	s := Summarise(objects, 0.95)
	if s.Objects != 7 || s.Few != 2 || s.Tied != 1 {
		t.Errorf("%d objects, %d with few answers, %d tied", s.Objects, s.Few, s.Tied)
	}
	near(t, "agreement", s.Agreement.Value, (4+0.4+0.6+1.0/3)/7)
	near(t, "full", s.Full.Value, 4.0/7)
	c := s.Judged
	if c == nil || c.SteadyRight != 1 || c.SteadyWrong != 2 || c.VaryingRight != 1 || c.VaryingWrong != 1 {
		t.Fatalf("%+v", c)
	}
	near(t, "errors", c.Errors.Value, 2.0/3)
	// 2 of 3: the limits of Clopper and Pearson from the tables, 0.0943 and 0.9916
	if !(math.Abs(c.Errors.Low-0.0943) < 1e-4 && math.Abs(c.Errors.High-0.9916) < 1e-4) {
		t.Errorf("interval %v to %v", c.Errors.Low, c.Errors.High)
	}
	near(t, "one", c.One.Value, (1+0+0+0.4+0.8+1)/6)
	near(t, "modal", c.Modal.Value, 2.0/5)
	near(t, "best", c.Best.Value, 3.0/5)
	if s := Summarise([]Object{{[]int{0, 0}, Unlabelled}}, 0.95); s.Judged != nil {
		t.Error("right without labels")
	}
	same := Summarise([]Object{{[]int{0, 0}, Unlabelled}, {[]int{1, 1}, Unlabelled}}, 0.95)
	if e := same.Entropy; e.Value != 0 || e.Low != 0 || !(math.Abs(e.High-(1-math.Sqrt(0.025))) < 1e-9) {
		t.Errorf("entropy %+v of equal answers", e)
	}
	if s := Summarise(nil, 0.95); !math.IsNaN(s.Agreement.Value) || !math.IsNaN(s.Full.Value) ||
		!math.IsNaN(s.Entropy.Value) {
		t.Errorf("%+v of nothing", s)
	}
}

// Of objects of which each is answered by one of two with a probability of its own, the interval holds the mean of
// Σ p² in about as many draws as it says. 200 draws at 0.95: fewer than 180 are seen with probability 2e-3 at 0.95.
func TestAgreementCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	held := 0
	for range 200 {
		var objects []Object
		for range 40 {
			p := r.Float64()
			o := Object{Truth: Unlabelled}
			for range 5 {
				k := 0
				if r.Float64() < p {
					k = 1
				}
				o.Answers = append(o.Answers, k)
			}
			objects = append(objects, o)
		}
		s := Summarise(objects, 0.95)
		if s.Agreement.Low <= 2.0/3 && 2.0/3 <= s.Agreement.High { // E(p² + (1-p)²)
			held++
		}
	}
	t.Logf("%d of 200 intervals hold the truth", held)
	if held < 180 {
		t.Errorf("%d of 200 intervals hold the truth", held)
	}
}
