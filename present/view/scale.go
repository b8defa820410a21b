package view

import (
	"math"
	"strconv"

	"nero/internal/elementary"
	"nero/present/words"
)

// Scale takes values to the fraction of the way from the beginning of an axis to its end.
type Scale struct {
	// with the unit
	Label string  `json:"label"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Log   bool    `json:"log"`
	// Zero is true for a logarithmic scale that also shows 0: it lies at the beginning, and Lo lies a tenth of the way.
	Zero  bool   `json:"zero,omitempty"`
	Ticks []Tick `json:"ticks"`
}

// Tick is a labelled value of a scale.
type Tick struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// zeroGap is how much of a logarithmic scale is left to 0.
const zeroGap = 0.1

// Pos is where v lies: 0 at Lo, 1 at Hi, outside [0, 1] beyond them; NaN where the scale has no place for v.
func (s Scale) Pos(v float64) float64 {
	if !s.Log {
		return (v - s.Lo) / (s.Hi - s.Lo)
	}
	gap := 0.0
	if s.Zero {
		gap = zeroGap
	}
	switch {
	case v == 0 && s.Zero:
		return 0
	case v > 0:
		return max(0, gap+(1-gap)*elementary.Log(v/s.Lo)/elementary.Log(s.Hi/s.Lo))
	}
	return math.NaN()
}

// digits are more than steps of an axis have, and fewer than arithmetic spoils.
const digits = 12

// linear is the scale over [lo, hi], ends fixed where they are bounds of the metric, else moved out to the next tick.
func linear(label string, lo, hi float64, fixLo, fixHi bool) Scale {
	if !(hi > lo) {
		// One value only: a scale needs room around it.
		switch {
		case lo == 0 || fixLo:
			hi = lo + 1
		default:
			lo, hi = lo-math.Abs(lo)/2, lo+math.Abs(lo)/2
		}
	}
	step := niceStep(hi-lo, 5)
	if !fixLo {
		lo = float64(math.Floor(lo/step+1e-9) * step)
	}
	if !fixHi {
		hi = math.Ceil(hi/step-1e-9) * step
	}
	s := Scale{Label: label, Lo: lo, Hi: hi}
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+float64(1e-9*step); k++ {
		s.Ticks = append(s.Ticks, Tick{At: float64(k*step) + 0, Label: words.Tick(k*step, digits)})
	}
	return s
}

// niceStep is 1, 2 or 5 times a power of ten such that span has about n steps.
func niceStep(span float64, n int) float64 {
	p := elementary.Pow(10, math.Floor(elementary.Log10(span/float64(n))))
	for _, m := range []float64{1, 2, 5} {
		if span/(m*p) <= float64(n)+1e-9 {
			return m * p
		}
	}
	return 10 * p
}

// decades is the logarithmic scale over positive values from lo to hi.
func decades(label string, lo, hi float64, zero bool) Scale {
	a, b := math.Floor(elementary.Log10(lo)+1e-9), math.Ceil(elementary.Log10(hi)-1e-9)
	if b <= a {
		b = a + 1
	}
	s := Scale{Label: label, Lo: elementary.Pow(10, a), Hi: elementary.Pow(10, b), Log: true, Zero: zero}
	if zero {
		s.Ticks = append(s.Ticks, Tick{At: 0, Label: "0"})
	}
	step := math.Ceil((b - a) / 6)
	for k := math.Ceil(a/step) * step; k <= b; k += step {
		label := "1e" + strconv.Itoa(int(k))
		if k >= -3 && k <= 3 {
			label = words.Tick(elementary.Pow(10, k), digits)
		}
		s.Ticks = append(s.Ticks, Tick{At: elementary.Pow(10, k), Label: label})
	}
	return s
}
