package encoder_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"nero/data/split"
	"nero/encoder"
	"nero/measure/embedding"

	"gonum.org/v1/gonum/mat"
)

// times are tables 2^power times as large.
func times(power int, tables []*mat.Dense) []*mat.Dense {
	var out []*mat.Dense
	for _, x := range tables {
		y := mat.DenseCopyOf(x)
		y.Apply(func(_, _ int, v float64) float64 { return math.Ldexp(v, power) }, x)
		out = append(out, y)
	}
	return out
}

// text is a model without the numbers that have the unit of the features, which are 2^power times as large.
func text(t *testing.T, m *encoder.Model, power int) string {
	t.Helper()
	c := *m
	if m.Apart != nil {
		apart := encoder.Number(math.Ldexp(float64(*m.Apart), -power))
		c.Apart = &apart
	}
	if g := m.Generators; g != nil {
		h := *g
		h.Planes = nil
		for _, p := range g.Planes {
			p.Spread = encoder.Number(math.Ldexp(float64(p.Spread), -power))
			h.Planes = append(h.Planes, p)
		}
		c.Generators = &h
	}
	if s := m.Sequences; s != nil {
		q := *s
		q.Lengths = nil
		for _, l := range s.Lengths {
			l.Apart = encoder.Number(math.Ldexp(float64(l.Apart), -power))
			q.Lengths = append(q.Lengths, l)
		}
		c.Sequences = &q
	}
	b, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// However large or small features are, what is said of them is the same, to the last digit. Their squares are
// infinite, or 0.
func TestUnits(t *testing.T) {
	for k, of := range []kind{turns, loses, stays} {
		var want string
		for _, power := range []int{0, 665, -665} {
			s := subject(t, "SO(2)", 8, of)
			s.NoGenerators, s.NoSplit = k > 0, k == 0
			for _, x := range s.Sides {
				x.At, x.Ladder = times(power, x.At), times(power, x.Ladder)
			}
			m, err := encoder.Take(s)
			if err != nil {
				t.Fatal(err)
			}
			got := text(t, m, power)
			if power == 0 {
				want = got
			}
			if got != want {
				t.Errorf("2^%d: %s, want %s", power, m.Sentence, want)
			}
		}
	}
	var want string
	for _, power := range []int{0, 665, -665} {
		l := listed(20, 0.15, 1)
		l.At = times(power, []*mat.Dense{l.At})[0]
		m, err := l.Take()
		if err != nil {
			t.Fatal(err)
		}
		q := sequenced(t, []int{1, 3}, func(views [][]float64) []float64 {
			out := still(views)
			for k := range out {
				out[k] = math.Ldexp(out[k], power)
			}
			return out
		})
		n, err := q.Take()
		if err != nil {
			t.Fatal(err)
		}
		got := text(t, m, power) + text(t, n, power)
		if power == 0 {
			want = got
		}
		if got != want {
			t.Errorf("2^%d: %s %s", power, m.Sentence, n.Sentence)
		}
	}
}

// Two releases may have units of their own, however far apart: one that is turned and scaled is the same space.
func TestUnitsOfReleases(t *testing.T) {
	for _, c := range []struct {
		old, next int
		factor    float64
		plain     bool
	}{
		{0, 4, 0x1p-4, true},
		{665, 669, 0x1p-4, true},
		{665, -300, 0x1p965, true},
		{-800, 800, 0, false},
		{800, -800, math.Inf(1), true},
	} {
		s := subject(t, "C4", 4, stays)
		for side, x := range s.Sides {
			x.Other = times(c.next, x.At[:1])
			if side == split.Confirm {
				x.Other = times(c.next, x.At)
			}
			x.At = times(c.old, x.At)
		}
		s.Against = &encoder.Release{Model: "next", Value: "features"}
		m, err := encoder.Take(s)
		if err != nil {
			t.Fatal(err)
		}
		a := m.Against
		if a.Reading != string(embedding.Scaled) || !(math.Abs(float64(a.R2Similarity.Value)-1) < 1e-9) ||
			float64(a.Factor) != c.factor && !(math.Abs(float64(a.Factor)/c.factor-1) < 1e-9) ||
			(a.R2Plain != nil) != c.plain || a.Index == embedding.Worse {
			t.Errorf("2^%d and 2^%d: %s %+v", c.old, c.next, m.Sentence, a)
		}
	}
}

// A release that is not finite at an element that no adapter is fitted to is that.
func TestReleaseNotFinite(t *testing.T) {
	s := subject(t, "C4", 4, stays)
	for side, x := range s.Sides {
		x.Other = times(0, x.At[:1])
		if side == split.Confirm {
			x.Other = times(0, x.At)
			x.Other[2].Set(5, 1, math.Inf(1))
		}
	}
	s.Against = &encoder.Release{Model: "next", Value: "features"}
	m, err := encoder.Take(s)
	if err != nil || m.Against.Index != embedding.Worse ||
		!strings.Contains(m.Sentence, "feature 1 of features is +Inf at sample confirm5, 180°") {
		t.Errorf("%v: %s", err, m.Sentence)
	}
}
