package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/internal/elementary"
	"nero/present/words"
	"nero/symmetry/group"
)

func distinct(elements []group.Element, axis int) []float64 {
	var v []float64
	for _, e := range elements {
		if axis < len(e) {
			v = append(v, e[axis])
		}
	}
	slices.Sort(v)
	return slices.Compact(v)
}

// Label is an element for people, as [group.Format] says it but shorter: "90°", "90° mirrored", "×1.25", "dx 3 px, dy
// −1 px"; in words where time is reversed, too: "mirror in / and time reversed".
func Label(g group.Group, e group.Element) string {
	return named(g, e, func(v float64) string { return words.Minus(strconv.FormatFloat(v+0, 'g', 6, 64)) })
}

// tick is [Label] with three significant digits, as there is room for beside an axis; whole degrees and pixels keep
// theirs.
func tick(g group.Group, e group.Element) string {
	return named(g, e, func(v float64) string {
		if math.Abs(v) >= 99.95 && math.Abs(v) < 1e6 {
			return words.Minus(strconv.FormatFloat(v, 'f', 0, 64))
		}
		return words.Minus(strconv.FormatFloat(v+0, 'g', 3, 64))
	})
}

func named(g group.Group, e group.Element, number func(float64) string) string {
	chart := g.Chart()
	if len(chart) != len(e) || len(e) == 0 {
		return group.Format(g, e)
	}
	if s, ok := SpaceAxesOf(chart); ok {
		return s.words(e, number)
	}
	if _, n := group.Places(chart); n > 0 {
		return group.Title(g, e)
	}
	if _, ok := group.Number(g, e); ok && len(e) == 3 {
		return group.Title(g, e)
	}
	if len(e) == 1 {
		switch chart[0].Form() { //nolint:exhaustive // others as they are
		case group.FormFactor:
			return "×" + number(e[0])
		case group.FormAngle:
			return number(e[0]) + "°"
		}
		return group.Format(g, e)
	}
	turn, mirror := group.First(chart, group.KindTurn), group.First(chart, group.KindMirror)
	mirrored := ""
	var parts []string
	for i, a := range chart {
		switch n := number(e[i]); {
		case i == mirror:
			if e[i] != 0 {
				mirrored = " mirrored"
			}
		case i == turn:
			parts = append(parts, n+"°")
		case a.Form() == group.FormAngle:
			parts = append(parts, a.Name+" "+n+"°")
		case a.Form() == group.FormFactor:
			parts = append(parts, a.Name+" ×"+n)
		default:
			parts = append(parts, strings.TrimSpace(a.Name+" "+n+" "+a.Unit))
		}
	}
	return strings.TrimSpace(strings.Join(parts, ", ") + mirrored)
}

func byX(a, b Point) int {
	switch {
	case a.X < b.X:
		return -1
	case a.X > b.X:
		return 1
	}
	return 0
}

// axisLabel is the name of an axis with its unit.
func axisLabel(a group.Axis) string {
	switch {
	case a.Form() == group.FormAngle:
		return a.Name + " in °"
	case a.Form() == group.FormFactor:
		return a.Name + " (factor)"
	case a.Unit == "":
		return a.Name
	}
	return a.Name + " in " + a.Unit
}

// horizontal is the scale of a horizontal axis over the coordinates that occur.
func horizontal(a group.Axis, v []float64) *Scale {
	lo, hi := 0.0, 1.0
	if len(v) > 0 {
		lo, hi = v[0], v[len(v)-1]
	}
	label := axisLabel(a)
	var s Scale
	switch {
	case a.Circle():
		s = Scale{Label: label, Lo: a.Min, Hi: a.Max}
		for d := math.Ceil(a.Min/45) * 45; d <= a.Max; d += 45 {
			s.Ticks = append(s.Ticks, Tick{At: d, Label: fmt.Sprintf("%g°", d)})
		}
	case a.Form() == group.FormFactor && lo > 0:
		s = factors(label, lo, hi)
	default:
		s = linear(label, lo, hi, true, true)
		if len(v) == 1 {
			s = linear(label, lo-1, lo+1, true, true)
		}
	}
	return &s
}

// factors is a logarithmic scale with ticks at round factors.
func factors(label string, lo, hi float64) Scale {
	if !(hi > lo) {
		lo, hi = lo/2, hi*2
	}
	s := Scale{Label: label, Lo: lo, Hi: hi, Log: true}
	for _, steps := range [][]float64{{1}, {1, 2, 5}, {1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8}} {
		s.Ticks = nil
		for p := elementary.Pow(10, math.Floor(elementary.Log10(lo))); p <= hi; p *= 10 {
			for _, m := range steps {
				if v := m * p; v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
					s.Ticks = append(s.Ticks, Tick{At: v, Label: "×" + words.Tick(v, digits)})
				}
			}
		}
		if len(s.Ticks) >= 4 {
			break
		}
	}
	return s
}
