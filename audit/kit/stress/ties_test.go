package stress_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/extremes"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/symmetry/action"
)

// Of candidates that are equal an answer takes the first, and one ulp of the input is lost in what is compared: nothing
// can be said of such an input. What errs by more than any choice among them does is a finding all the same.
func TestChoiceAmongEqual(t *testing.T) {
	c4 := parse(t, "C4")
	brightest := func(broken bool) audit.Predictor {
		return audittest.Pointwise(func(v space.Value) space.Value {
			x := space.Picture(v)
			m := &space.Mask{H: x.H, W: x.W, Label: make([]int32, len(x.Pix))}
			score, order := make([]float32, len(x.Pix)), make([]int, len(x.Pix))
			top := max(slices.Max(x.Pix), 1e-12)
			for i := range order {
				// large numbers, as behind a bias: they end in 2⁻¹⁷
				order[i], score[i] = i, 64+float32(x.Pix[i]/top)
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
			for _, i := range order[:40] {
				if x.Pix[i] > 0 {
					m.Label[i] = 1
				}
			}
			if broken && math.Abs(slices.Max(x.Pix)-slices.Min(x.Pix)) > 0 && score[order[0]] == score[order[39]] {
				for i := range m.Label {
					m.Label[i] = int32(i % x.W) // where all chosen ones are equal
				}
			}
			return m
		})
	}
	for _, c := range []struct {
		broken bool
		answer stress.Answer
	}{{false, stress.Holds}, {true, stress.Broken}} {
		out, err := action.NewMask(c4, space.Spec{Kind: space.KindMask, Shape: []int{side, side}}, action.Options{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := subject(t, "brightest", c4, side, brightest(c.broken), out)
		s.Sample = audittest.Noise(inputs, side, side, 8)
		r, of := asked(t, s, extremes.Check)
		answered(t, of, r, c.answer)
		holds(t, of, audit.ClueExtreme, c.broken)
	}
}
