package metric

import (
	"math"
	"strings"
	"testing"

	"nero/data/space"
)

// softmax is written apart from the product's so that the two can disagree.
func softmax(raw ...float64) *space.Scores {
	s := &space.Scores{Raw: raw, Probabilities: true}
	sum := 0.0
	for _, r := range raw {
		sum += math.Exp(r)
	}
	for _, r := range raw {
		s.Val = append(s.Val, math.Exp(r)/sum)
	}
	return s
}

func TestHandComputed(t *testing.T) {
	p := &space.Scores{Val: []float64{0.5, 0.2, 0.3}, Probabilities: true}
	q := &space.Scores{Val: []float64{0.25, 0.5, 0.25}, Probabilities: true}
	for _, c := range []struct {
		m    *Metric
		c    Case
		want float64
	}{
		{Confidence, Case{Got: p, Label: 2}, 0.3},
		{Accuracy, Case{Got: p, Label: 0}, 1},
		{Accuracy, Case{Got: p, Label: 2}, 0},
		{CrossEntropy, Case{Got: p, Label: 1}, math.Log(5)},
		{Margin, Case{Got: p, Label: 0}, 0.2},
		{Margin, Case{Got: p, Label: 1}, -0.3},
		{TopK(1), Case{Got: p, Label: 2}, 0},
		{TopK(2), Case{Got: p, Label: 2}, 1},
		{TopK(2), Case{Got: p, Label: 1}, 0},
		{TopK(3), Case{Got: p, Label: 1}, 1},
		// sum p ln(p/q) = .5 ln 2 + .2 ln .4 + .3 ln 1.2
		{KL, Case{Got: q, Want: p}, 0.5*math.Ln2 + 0.2*math.Log(0.4) + 0.3*math.Log(1.2)},
		{KL, Case{Got: p, Want: p}, 0},
		{Agreement, Case{Got: p, Want: q}, 0},
		{Agreement, Case{Got: p, Want: p}, 1},
		{Flip, Case{Got: p, Want: p, Prev: q}, 1},
		{Flip, Case{Got: p, Want: q, Prev: p}, 0},
		{Absolute, Case{Got: softmax(1, 2), Want: softmax(4, 6)}, 5}, // on the raw numbers: a 3-4-5 triangle
		{MaxAbsolute, Case{Got: softmax(1, 2), Want: softmax(4, 6)}, 4},
		{Relative, Case{Got: softmax(1, 2), Want: softmax(4, 6), Scale: 10}, 0.5},
		{Absolute, Case{Got: &space.Tensor{Val: []float64{0, 3}}, Want: &space.Tensor{Val: []float64{4, 0}}}, 5},
	} {
		if got := c.m.Measure(c.c); !(math.Abs(got-c.want) < 1e-12) {
			t.Errorf("%s = %g, want %g", c.m.Name, got, c.want)
		}
	}
}

// The logarithm of a probability that underflows must come from the logits.
func TestFarLogits(t *testing.T) {
	a, b := softmax(0, -800), softmax(0, 0)
	a.Val = []float64{1, 0}
	if got := CrossEntropy.Measure(Case{Got: a, Label: 1}); got != 800 {
		t.Errorf("cross entropy = %g, want 800", got)
	}
	// p = (1/2, 1/2), q = (1, e^-800): -ln 2 + 800/2
	if got, want := KL.Measure(Case{Got: a, Want: b}), 400-math.Ln2; !(math.Abs(got-want) < 1e-9) {
		t.Errorf("kl = %g, want %g", got, want)
	}
}

func TestNaNIsNeverSmall(t *testing.T) {
	bad := &space.Scores{Val: []float64{0.5, math.NaN(), 0.5}, Probabilities: true}
	good := &space.Scores{Val: []float64{0.2, 0.3, 0.5}, Probabilities: true}
	for _, m := range Builtin() {
		for _, c := range []Case{
			{Got: bad, Want: good, Prev: good, Label: 0, Scale: 1},
			{Got: bad, Want: bad, Prev: bad, Label: 2, Scale: 1},
		} {
			if got := m.Measure(c); !math.IsNaN(got) {
				t.Errorf("%s of a prediction with NaN = %g", m.Name, got)
			}
		}
	}
}

func TestWithoutReference(t *testing.T) {
	p := &space.Scores{Val: []float64{0.5, 0.5}, Probabilities: true}
	for _, m := range Builtin() {
		if !m.Understands(space.KindScores) {
			continue
		}
		var got float64
		if m.Ref == Target {
			got = m.Measure(Case{Got: p, Label: -1}) + m.Measure(Case{Got: p, Label: 2})
		} else {
			got = m.Measure(Case{
				Got: p, Want: &space.Scores{Val: []float64{1}, Probabilities: true},
				Prev: &space.Image{}, Scale: 1,
			})
		}
		if !math.IsNaN(got) {
			t.Errorf("%s without a reference = %g", m.Name, got)
		}
	}
	if got := Relative.Measure(Case{Got: p, Want: p, Scale: 0}); !math.IsNaN(got) {
		t.Errorf("relative error with scale 0 = %g: 0/0 must stay undefined", got)
	}
}

func TestFind(t *testing.T) {
	for _, m := range Builtin() {
		if f, err := Find(m.Name); err != nil || f.Name != m.Name || f.Doc == "" || f.Measure == nil ||
			len(f.Spaces) == 0 {
			t.Errorf("Find(%q) = %v, %v", m.Name, f, err)
		}
	}
	if m, err := Find("top7"); err != nil || m.Name != "top7" {
		t.Errorf("top7: %v, %v", m, err)
	}
	for _, bad := range []string{"", "top", "top0", "top07", "top-1", "top1001", "confidence "} {
		if _, err := Find(bad); err == nil || !strings.Contains(err.Error(), "confidence") {
			t.Errorf("Find(%q): %v", bad, err)
		}
	}
}

// Scores that are no probabilities have no confidence, whatever number stands at the label.
func TestRawNumbersAreNoProbabilities(t *testing.T) {
	raw := &space.Scores{Val: []float64{7, -2, 0.5}}
	for _, m := range Builtin() {
		if !m.Understands(space.KindScores) {
			continue
		}
		got := m.Measure(Case{Got: raw, Want: raw, Prev: raw, Label: 0, Scale: 1, Centre: make([]float64, 3)})
		if math.IsNaN(got) != m.Normalized {
			t.Errorf("%s of raw numbers = %g, normalized %v", m.Name, got, m.Normalized)
		}
	}
}

// Probabilities as a model returns them sum to 1 up to float32; nearly equal ones must not have a negative divergence,
// and the divergence of a small change d is sum d^2/2p.
func TestDivergenceIsNeverNegative(t *testing.T) {
	p := &space.Scores{Val: []float64{0.2, 0.3, 0.5}, Probabilities: true}
	q := &space.Scores{Val: []float64{0.2 + 3e-7, 0.3 + 2e-7, 0.5 + 1e-7}, Probabilities: true}
	want := 9e-14/0.4 + 4e-14/0.6 + 1e-14
	if got := KL.Measure(Case{Got: q, Want: p}); !(math.Abs(got-want) < 1e-15) {
		t.Errorf("kl = %g, want %g", got, want)
	}
}

func TestMasks(t *testing.T) {
	a := &space.Mask{H: 2, W: 3, Label: []int32{0, 0, 1, 1, 2, 2}}
	b := &space.Mask{H: 2, W: 3, Label: []int32{0, 1, 1, 1, 0, 2}}
	c := Case{Got: a, Want: b}
	if got := PixelAgreement.Measure(c); !(math.Abs(got-4.0/6) < 1e-15) {
		t.Errorf("pixel agreement = %g, want 2/3", got)
	}
	// class 0: 1 of {0,1,4}; class 1: 2 of {1,2,3}; class 2: 1 of {4,5}
	if got, want := MeanIoU.Measure(c), (1.0/3+2.0/3+1.0/2)/3; !(math.Abs(got-want) < 1e-15) {
		t.Errorf("mean IoU = %g, want %g", got, want)
	}
	for _, m := range []*Metric{PixelAgreement, MeanIoU} {
		if got := m.Measure(Case{Got: a, Want: a}); got != 1 {
			t.Errorf("%s of equal masks = %g", m.Name, got)
		}
		for name, bad := range map[string]space.Value{
			"a pixel without a label": &space.Mask{H: 2, W: 3, Label: []int32{0, 0, 1, 1, 2, -1}},
			"another shape":           &space.Mask{H: 3, W: 2, Label: []int32{0, 0, 1, 1, 2, 2}},
			"no pixels":               &space.Mask{},
			"scores":                  &space.Scores{Val: []float64{1}},
		} {
			if x, y := m.Measure(Case{Got: bad, Want: a}), m.Measure(Case{Got: bad, Want: bad}); !math.IsNaN(x) ||
				!math.IsNaN(y) && name != "another shape" {
				t.Errorf("%s of %s = %g, %g", m.Name, name, x, y)
			}
		}
	}
}
