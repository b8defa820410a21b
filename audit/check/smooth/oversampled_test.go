package smooth_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/smooth"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// packet is a picture by a formula: waves up to nine tenths of what the grid holds, under a bell that fades before the
// border, so that shifts by parts of a pixel are drawn and nothing enters.
func packet(n int) func(i int) (dataset.Sample, error) {
	half := float64(n-1) / 2
	return func(i int) (dataset.Sample, error) {
		r := rand.New(rand.NewPCG(9, uint64(i)))
		var k, l, phase [4]float64
		for j := range k {
			size, angle := math.Pi*(0.5+0.4*r.Float64()), 2*math.Pi*r.Float64()
			l[j], k[j] = math.Sincos(angle)
			k[j], l[j], phase[j] = size*k[j], size*l[j], 2*math.Pi*r.Float64()
		}
		m := space.NewImage(1, n, n)
		m.Formula = &space.Formula{
			At: func(_ int, x, y float64) float64 {
				var s float64
				for j := range k {
					s += math.Cos(k[j]*x + l[j]*y + phase[j])
				}
				return s * math.Exp(-(x*x+y*y)/(2*2.5*2.5))
			},
			X: [3]float64{-half, 1, 0}, Y: [3]float64{-half, 0, 1},
		}
		m.Formula.Draw(m)
		return dataset.Sample{ID: fmt.Sprintf("p%02d", i), Label: -1, Value: m}, nil
	}
}

// pooled is the mean of the squares of every second pixel, of the picture or of what a bell of the given deviation
// leaves of it.
func pooled(deviation float64) audit.Predictor {
	bell := make([]float64, 64)
	for d := range bell {
		bell[d] = math.Exp(-float64(d*d) / (2 * deviation * deviation))
	}
	return audittest.Pointwise(func(v space.Value) space.Value {
		m := space.Picture(v)
		var sum float64
		for r := 0; r < m.H; r += 2 {
			for c := 0; c < m.W; c += 2 {
				x := m.Pix[r*m.W+c]
				if deviation > 0 {
					x = 0
					for i, p := range m.Pix {
						x += p * bell[max(i/m.W-r, r-i/m.W)] * bell[max(i%m.W-c, c-i%m.W)]
					}
				}
				sum += x * x
			}
		}
		return &space.Tensor{Shape: []int{1}, Val: []float64{sum}}
	})
}

// A layer that takes every second pixel confuses fine waves under shifts by parts of a pixel, and less so at twice the
// resolution; behind a blur it does not, and nothing is reported.
func TestOversampled(t *testing.T) {
	const n = 26
	g, err := catalog.Parse("T(2)")
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, n, n}},
		action.Options{Kernel: action.Lanczos})
	if err != nil {
		t.Fatal(err)
	}
	elements := []group.Element{{0.5, 0}, {0, 0.5}, {0.5, 0.5}, {0.25, -0.75}}
	of := func(name string, deviation float64) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: pooled(deviation), N: 12, Sample: packet(n), Seed: 1,
			Plan: audittest.Plan(t, in, action.Trivial{G: g}, elements...),
		}
	}
	audittest.Run(t, smooth.Check, audittest.Fixture{
		Subject: of("every second pixel", 0),
		Want:    []audittest.Want{{Category: audit.Explanation, Message: "fine detail.*twice the resolution"}},
	}, audittest.Fixture{Subject: of("every second pixel behind a blur", 2.5)})
	for name, deviation := range map[string]float64{"plain": 0, "blurred": 2.5} {
		r := audittest.Audit(t, audittest.Fixture{Subject: of(name, deviation)}, smooth.Check)
		for _, x := range r.Results {
			if x.Check != smooth.Check {
				continue
			}
			if x.Status != audit.Tested || len(x.Measures) != 4 {
				t.Fatalf("%s: %s, %s, %+v", name, x.Status, x.Reason, x.Measures)
			}
			sharp, twice := x.Measures[0], x.Measures[3]
			if deviation == 0 && !(2*twice.Value < sharp.Value) {
				t.Errorf("error %g, at twice the resolution %g", sharp.Value, twice.Value)
			}
			if deviation > 0 && !(sharp.Value < 1e-3) {
				t.Errorf("error %g behind a blur", sharp.Value)
			}
			for _, c := range x.Clues {
				if c.Name == audit.ClueFineDetail && (!c.Holds || c.Strength != 1 || deviation > 0) {
					t.Errorf("%s: %+v", name, c)
				}
			}
		}
	}
}
