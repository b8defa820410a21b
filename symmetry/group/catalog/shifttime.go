package catalog

import (
	"fmt"
	"math"
	"math/rand/v2"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// delay is a group of shifts of the time axis.
type delay struct {
	// by whole samples only
	whole bool
	// samples of the period, 0 if time is a line
	n int
	// with reversals of time
	reverse bool
}

// T1 is the group of shifts of time by dt samples, fractions of a sample included: what happened at t happens at t +
// dt.
func T1() group.Group { return delayLie{delay{}} }

// T1Z is the group of shifts of time by dt whole samples of a signal or frames of a sequence.
func T1Z() group.Group { return delay{whole: true} }

// E1Z is the group of shifts of time by whole samples and its reversal: the element (dt, reversal) reverses first if
// reversal is 1, then shifts.
func E1Z() group.Group { return delayBack{delay{whole: true, reverse: true}} }

// RollTime is Roll(n), the group of cyclic shifts of a signal of n samples: dt in [0, n). n is in 1..1e6.
func RollTime(n int) (group.Group, error) {
	if n < 1 || n > group.MaxElements {
		return nil, fmt.Errorf("Roll(%d): the number of samples must be in 1..%d", n, group.MaxElements)
	}
	return delayFinite{delay{whole: true, n: n}}, nil
}

// Name is T(1), T(1,Z), E(1,Z) or Roll(n).
func (d delay) Name() string {
	switch {
	case d.n > 0:
		return fmt.Sprintf("Roll(%d)", d.n)
	case d.reverse:
		return "E(1,Z)"
	case d.whole:
		return "T(1,Z)"
	}
	return "T(1)"
}

// Chart is dt, then the reversal if there is one.
func (d delay) Chart() []group.Axis {
	c := []group.Axis{{Name: "dt", Unit: "samples", Kind: group.KindDelay, Min: math.Inf(-1), Max: math.Inf(1)}}
	if d.n > 0 {
		c[0] = group.Axis{Name: "dt", Unit: "samples", Kind: group.KindDelay, Min: 0, Max: float64(d.n), Periodic: true}
	}
	if d.reverse {
		c = append(c, group.Axis{Name: "reversal", Kind: group.KindReversal, Min: 0, Max: 1})
	}
	return c
}

// Identity is all zeros.
func (d delay) Identity() group.Element {
	if d.reverse {
		return group.Element{0, 0}
	}
	return group.Element{0}
}

// Steps is 1 for whole samples and the reversal.
func (d delay) Steps() []float64 {
	s := make([]float64, len(d.Identity()))
	if d.whole {
		for i := range s {
			s[i] = 1
		}
	}
	return s
}

func (d delay) canon(t float64) float64 {
	if d.whole {
		t = math.Round(t)
	}
	if d.n > 0 {
		t = group.Wrap(t, 0, float64(d.n))
	}
	return t + 0
}

// Mul adds, the second shift with its sign changed if the first element reverses.
func (d delay) Mul(g, h group.Element) group.Element {
	if !d.reverse {
		return group.Element{d.canon(g[0] + h[0])}
	}
	r, s := math.Round(g[1]), math.Round(h[1])
	return group.Element{d.canon(g[0] + float64((1-2*r)*h[0])), math.Abs(r - s)}
}

// Inv shifts back; an element that reverses is its own inverse.
func (d delay) Inv(g group.Element) group.Element {
	if !d.reverse {
		return group.Element{d.canon(-g[0])}
	}
	r := math.Round(g[1])
	return group.Element{d.canon(-(1 - 2*r) * g[0]), r + 0}
}

// Dist is the difference of the shifts in samples, the shorter way around a period; with reversals the root of its
// square and 180² between any two of which one reverses and one does not.
func (d delay) Dist(g, h group.Element) float64 {
	x := math.Abs(g[0] - h[0])
	if d.n > 0 {
		p := float64(d.n)
		x = math.Abs(group.Wrap(g[0], 0, p) - group.Wrap(h[0], 0, p))
		x = math.Min(x, p-x)
	}
	if d.reverse {
		return elementary.Hypot(x, 180*(g[1]-h[1]))
	}
	return x
}

// Invariance is true on both sides; with reversals on the left alone.
func (d delay) Invariance() (left, right bool) { return true, !d.reverse }

// Shift is dt.
func (d delay) Shift(g group.Element) float64 { return d.canon(g[0]) }

// Turn is the period in samples, 0 if there is none.
func (d delay) Turn() int { return d.n }

// The windows of shifts of time in samples: whole ones, and fractions.
const (
	windowWhole = 16
	windowPart  = 4
)

// Window is ±16 whole samples or ±4 samples with fractions; a whole period.
func (d delay) Window() [][2]float64 {
	w := [][2]float64{{-windowPart, windowPart}}
	switch {
	case d.n > 0:
		w[0] = [2]float64{0, float64(d.n)}
	case d.whole:
		w[0] = [2]float64{-windowWhole, windowWhole}
	}
	if d.reverse {
		w = append(w, [2]float64{0, 1})
	}
	return w
}

// Sample draws uniformly from the window.
func (d delay) Sample(r *rand.Rand) group.Element { return group.Draw(d, d.Window(), r) }

type delayLie struct{ delay }

// Generators is the shift.
func (delayLie) Generators() []group.Generator {
	return []group.Generator{{Name: "shift", Unit: "samples"}}
}

// Exp is the shift by t[0].
func (delayLie) Exp(t []float64) group.Element { return group.Element{t[0] + 0} }

type delayBack struct{ delay }

// Reverses tells the elements that reverse time.
func (delayBack) Reverses(g group.Element) bool { return math.Round(g[1]) != 0 }

type delayFinite struct{ delay }

// Order is n.
func (d delayFinite) Order() int { return d.n }

// Elements are the shifts from 0 to n-1.
func (d delayFinite) Elements() []group.Element {
	e := make([]group.Element, d.n)
	for i := range e {
		e[i] = group.Element{float64(i)}
	}
	return e
}

// Preset is the short shifts both ways, to which a defect at the seam shows first, powers of two, and a low-discrepancy
// sample.
func (d delayFinite) Preset(window [][2]float64) ([]group.Element, string, error) {
	if window != nil {
		return group.BoxPreset(d, window)
	}
	const low = 100
	var out []group.Element
	for k := range windowWhole + 1 {
		out = append(out, d.Mul(group.Element{0}, group.Element{float64(k)}), d.Inv(group.Element{float64(k)}))
	}
	for k := 1; k < d.n; k *= 2 {
		out = append(out, group.Element{float64(k)})
	}
	more, err := group.LowDiscrepancy(d, low, nil)
	if err != nil {
		return nil, "", err
	}
	out = group.Dedup(d, append(out, more...), group.Tolerance)
	return out, fmt.Sprintf(
		"%d of %d cyclic shifts: up to %d samples both ways, powers of two and a low-discrepancy sample of %d",
		len(out), d.n, windowWhole, low), nil
}
