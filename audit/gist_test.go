package audit_test

import (
	"math"
	"testing"

	"nero/audit"
)

// Each cause is told in a plain sentence with the size of the error, and only what is the model's is called so.
func TestGist(t *testing.T) {
	iv := func(x float64) audit.Interval { return audit.Interval{Value: x, Lo: 0.9 * x, Hi: 1.1 * x, N: 20} }
	points := func(labels ...string) []audit.Point {
		var out []audit.Point
		for _, l := range labels {
			out = append(out, audit.Point{Label: l})
		}
		return out
	}
	exact := audit.Set{
		Name: "exact elements", Exact: true, Inputs: 20, Pairs: 60, Scale: 2, Worst: iv(1.35),
		Cause: audit.CauseViolation, Profile: points("90°", "180°", "270°"),
	}
	between := audit.Set{
		Name: "continuous elements", Inputs: 20, Pairs: 80, Scale: 2, Worst: iv(0.42), Ratio: iv(3),
		Resampling: audit.Stats{Max: 0.2, Mean: 0.1}, Cause: audit.CauseViolation,
		Profile: points("10°", "20°", "30°", "40°"),
	}
	with := func(s audit.Set, change func(*audit.Set)) *audit.Set {
		change(&s)
		return &s
	}
	for _, c := range []struct {
		name string
		sets []*audit.Set
		want []string
	}{
		{"both are the model's", []*audit.Set{&exact, &between}, []string{
			"At 90°, 180° and 270° the answers are off by 1.35 times their spread " +
				"over the inputs (limit 0.0001). " +
				"Nothing is interpolated there: it is the model.",
			"At the other 4 elements the answers are off by 42.0% of their spread over the inputs " +
				"(limit 0.0001), in the mean 3 " +
				"times what interpolation alone does (2.7 to 3.3): it is the model.",
		}},
		{"little", []*audit.Set{with(exact, func(s *audit.Set) {
			s.Worst, s.Profile = iv(5e-5), points("90°")
		})}, []string{"At 90° the answers are off by 5.0e-05 times their spread over the inputs (below the limit " +
			"0.0001). Nothing is interpolated there: that little is the model's own."}},
		{"rounding", []*audit.Set{with(exact, func(s *audit.Set) {
			s.Cause, s.Worst, s.Profile = audit.CauseRoundoff, iv(2e-6), points("90°")
		})}, []string{"At 90° the answers are off by 2.0e-06 times their spread over the inputs " +
			"(below the limit 0.0001): rounding."}},
		{"resampling", []*audit.Set{with(between, func(s *audit.Set) { s.Cause = audit.CauseResampling })}, []string{
			"At the 4 elements the answers are off by 42.0% of their spread over the inputs (limit " +
				"0.0001), in the mean 3 times " +
				"what interpolation alone does (2.7 to 3.3): that says nothing about the model.",
		}},
		{"a floor that is not known", []*audit.Set{with(between, func(s *audit.Set) {
			s.Ratio = audit.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
		})}, []string{
			"At the 4 elements the answers are off by 42.0% of their spread over the inputs " +
				"(limit 0.0001). Rounding does not " +
				"explain it; what interpolation does is not known.",
		}},
		{"no number", []*audit.Set{with(exact, func(s *audit.Set) {
			s.Cause, s.NonFinite, s.NonFiniteAt = audit.CauseNonFinite, 2, audit.Where{Sample: "7", Label: "90°"}
		})}, []string{"At 90°, 180° and 270° 2 outputs are not finite, first sample 7 at 90°."}},
		{"constant", []*audit.Set{with(exact, func(s *audit.Set) { s.Cause = audit.CauseVacuous })}, []string{
			"At 90°, 180° and 270° nothing can be said: the outputs do not vary.",
		}},
		{"masks", []*audit.Set{with(exact, func(s *audit.Set) {
			s.Unit, s.Worst = audit.PixelShare, iv(0.25)
		})}, []string{
			"At 90°, 180° and 270° the answers are off by 0.25 of the pixels (limit 0.0001). Nothing is " +
				"interpolated there: it is the model.",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := audit.NewPolicy("", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			r := &audit.Report{Policy: p, Results: []*audit.Result{{Status: audit.Tested, Sets: c.sets}}}
			got := r.Gist()
			for i, want := range c.want {
				if i >= len(got) || got[i] != want {
					t.Errorf("got  %q\nwant %q", got, want)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("%q", got)
			}
		})
	}
	r := &audit.Report{Error: "no file", Results: []*audit.Result{{Gist: []string{"x"}}}}
	if g := r.Gist(); g != nil {
		t.Errorf("an audit that could not run says %q", g)
	}
}
