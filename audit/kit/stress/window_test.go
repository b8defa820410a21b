package stress_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/border"
	"nero/audit/check/company"
	"nero/audit/check/extremes"
	"nero/audit/check/laws"
	"nero/audit/check/shifts"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// windowed is a detector in a window of 64 pixels over pictures of 104.
func windowed(tb testing.TB, name string, m audit.Predictor) *audit.Subject {
	tb.Helper()
	g := parse(tb, "T(2,Z)")
	o := action.Options{Window: []int{64, 64}}
	in, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 104, 104}}, o)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := action.NewBoxes(g, space.Spec{Kind: space.KindBoxes}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return &audit.Subject{
		Name: name, Predictor: m, Plan: audittest.Plan(tb, in, out, group.Element{3, 0}, group.Element{0, 5},
			group.Element{-8, 8}),
		N: 5, Sample: audittest.Pictures(5, 104, 104, 3), Seed: 1,
	}
}

func TestWindowSweep(t *testing.T) {
	for _, c := range []struct {
		name           string
		stride, padded int
		period         int
		answer         stress.Answer
		band           bool
	}{
		{"clean", 1, 0, 1, stress.Holds, false},
		{"stride 8", 8, 0, 8, stress.Holds, false},
		{"stride 4", 4, 0, 4, stress.Holds, false},
		{"padding", 1, 12, 1, stress.Broken, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			subject := windowed(t, c.name, audittest.Detector(c.stride, c.padded))
			r, of := look[*shifts.Result](t, subject, shifts.Check)
			if r.Period != [2]int{c.period, c.period} {
				t.Errorf("the period is %v, want %d: %s", r.Period, c.period, r.Text)
			}
			holds(t, of, audit.ClueStridePattern, c.stride > 1)
			b, of := look[*border.Result](t, subject, border.Check)
			answered(t, of, &b.Result, c.answer)
			if (b.Band > 0) != c.band || b.Band > 16 {
				t.Errorf("the band is %d px wide, want one: %v, of at most 16", b.Band, c.band)
			}
			holds(t, of, audit.ClueEdgeBand, c.band)
		})
	}
}

// Boxes that are drawn to the middle of the window keep their place while the content moves; those of detectors that
// stride or read padding go with it.
func TestBoxesThatStay(t *testing.T) {
	clean := audittest.Detector(1, 0)
	for _, c := range []struct {
		name  string
		model audit.Predictor
		stays bool
	}{
		{"clean", clean, false},
		{"not drawn", audittest.Drawn(clean, 1), false},
		{"stride 4", audittest.Detector(4, 0), false},
		{"padding", audittest.Detector(1, 12), false},
		{"in the middle", audittest.Drawn(clean, 0), true},
		{"drawn to the middle", audittest.Drawn(clean, 0.2), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, of := look[*shifts.Result](t, windowed(t, c.name, c.model), shifts.Check)
			holds(t, of, audit.ClueStays, c.stays)
		})
	}
}

// A period is found under noise, and none where there is none.
func TestDips(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	curve := func(k int, at, other float64) []float64 {
		e := make([]float64, 64)
		for i := range e {
			e[i] = other
			if k > 0 && (i+1)%k == 0 {
				e[i] = at
			}
			e[i] *= 0.8 + 0.4*r.Float64()
		}
		return e
	}
	for _, k := range []int{2, 3, 8, 16, 32} {
		if got, on, off := shifts.Dips(curve(k, 0.02, 0.1), 1e-6); got != k || !(on < off/3) {
			t.Errorf("period %d: got %d, %.3g at its multiples and %.3g elsewhere", k, got, on, off)
		}
	}
	// A network that strides by 2, 4, 8 and 16 is better at multiples of 8 than elsewhere, and best at those of 16.
	nested := curve(0, 0, 0.1)
	for i := range nested {
		switch s := i + 1; {
		case s%16 == 0:
			nested[i] = 0.01
		case s%8 == 0:
			nested[i] = 0.05
		case s%4 == 0:
			nested[i] = 0.08
		}
	}
	if got, _, _ := shifts.Dips(nested, 1e-6); got != 16 {
		t.Errorf("nested strides: got %d, want 16", got)
	}
	if got, _, _ := shifts.Dips(curve(0, 0, 0.1), 1e-6); got != 0 {
		t.Errorf("no period: got %d", got)
	}
	if got, _, _ := shifts.Dips(make([]float64, 64), 1e-6); got != 1 {
		t.Errorf("no error: got %d, want 1", got)
	}
	if got, on, _ := shifts.Dips(slices.Repeat([]float64{math.NaN()}, 64), 1e-6); got != 0 || !math.IsNaN(on) {
		t.Errorf("nothing known: got %d", got)
	}
}

// flow is a model of fields from pairs of frames, under a group and time reversal.
func flow(tb testing.TB, name, of string, broken audittest.FlowBreak) *audit.Subject {
	tb.Helper()
	g := parse(tb, of)
	in, err := action.NewFrames(g, space.Spec{Kind: space.KindFrames, Shape: []int{2, 1, side, side}}, action.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	out, err := action.NewField(g, space.Spec{Kind: space.KindField, Shape: []int{2, side, side}}, action.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	f, ok := g.(group.Finite)
	var elements []group.Element
	if _, torus := g.(group.Torus); ok && !torus {
		elements = f.Elements()[1:]
	} else {
		elements = []group.Element{{3, 0}, {0, 5}, {-7, 4}}
	}
	return &audit.Subject{
		Name: name, Predictor: audittest.Flow(broken), Plan: audittest.Plan(tb, in, out, elements...),
		N: inputs, Sample: audittest.Pairs(inputs, side, side, 5), Seed: 1,
	}
}

// Every question that a picture is asked is asked of frames and fields too.
func TestFlowQuestions(t *testing.T) {
	clean := flow(t, "clean flow", "D4 x Time", audittest.FlowClean)
	for _, c := range []*audit.Check{laws.Check, company.Check, extremes.Check} {
		r, of := asked(t, clean, c)
		answered(t, of, r, stress.Holds)
	}
	b, of := look[*border.Result](t, clean, border.Check)
	answered(t, of, &b.Result, stress.Holds)
	if r, _ := look[*shifts.Result](t, clean, shifts.Check); r.Period != [2]int{1, 1} {
		t.Errorf("a model without strides has the period %v", r.Period)
	}
	for _, c := range []struct {
		name, group string
		broken      audittest.FlowBreak
		band        int
	}{
		{"lopsided flow", "D4 x Time", audittest.FlowLopsided, 0},
		{"rolled flow", "Roll(32,32)", audittest.FlowClean, 0},
		{"zero padding", "Roll(32,32)", audittest.FlowZeroed, 1},
	} {
		if b, _ := look[*border.Result](t, flow(t, c.name, c.group, c.broken), border.Check); b.Band != c.band {
			t.Errorf("%s: a band of %d px, want %d", c.name, b.Band, c.band)
		}
	}
}
