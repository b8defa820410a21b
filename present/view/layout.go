package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/symmetry/group"
)

// LayoutOf is the layout for a chart and the elements of a plan.
func LayoutOf(chart []group.Axis, elements []group.Element) Layout {
	if _, n := group.Places(chart); n > 0 {
		return Ranked
	}
	angle := len(chart) > 0 && chart[0].Circle() && chart[0].Max-chart[0].Min == 360
	switch {
	case angle && len(chart) == 1, angle && len(chart) == 2 && chart[1].Switch():
		return Polar
	case len(chart) == 2 && chart[0].Unit == chart[1].Unit && plain(chart[0]) && plain(chart[1]):
		// Scattered shifts, such as a random sample, would leave nearly every cell of a map empty.
		cols, rows := distinct(elements, 0), distinct(elements, 1)
		if len(cols)*len(rows) <= 4*len(elements) && (chart[0].Form() == group.FormPixels || !single(chart, elements)) {
			return HeatMap
		}
	}
	if _, _, ok := level(chart); ok {
		return Line
	}
	if s, ok := SpatialOf(chart); ok {
		if s.sliced(elements) {
			return Discs
		}
		return Angle
	}
	if len(chart) > 1 && single(chart, elements) {
		return Axes
	}
	if _, ok := moves(chart); ok && len(elements) > Many {
		return Scatter
	}
	return Strip
}

// plain reports whether an axis is a length of some kind: neither a switch nor a circle.
func plain(a group.Axis) bool { return !a.Switch() && !a.Circle() }

// motion is where a chart of turns and shifts keeps its axes; mirror is -1 if there is none.
type motion struct{ angle, mirror, dx, dy int }

// moves reports whether a chart is that of turns and shifts in pixels, with or without mirrors.
func moves(chart []group.Axis) (motion, bool) {
	m := motion{-1, -1, -1, -1}
	for i, a := range chart {
		switch {
		case a.Kind == group.KindTurn && m.angle < 0:
			m.angle = i
		case a.Kind == group.KindMirror && m.mirror < 0:
			m.mirror = i
		case a.Kind == group.KindRight && m.dx < 0:
			m.dx = i
		case a.Kind == group.KindDown && m.dy < 0:
			m.dy = i
		default:
			return m, false
		}
	}
	return m, m.angle >= 0 && m.dx >= 0 && m.dy >= 0
}

// along is a scale over the values of an axis, its ends where they end.
func along(a group.Axis, v []float64) *Scale {
	lo, hi := 0.0, 0.0
	if len(v) > 0 {
		lo, hi = v[0], v[len(v)-1]
	}
	if !(hi > lo) {
		lo, hi = lo-1, hi+1
	}
	s := linear(axisLabel(a), lo, hi, true, true)
	return &s
}

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
// -1 px"; in words where time is reversed, too: "mirror in / and time reversed".
func Label(g group.Group, e group.Element) string {
	return named(g, e, func(v float64) string { return strconv.FormatFloat(v+0, 'g', 6, 64) })
}

// tick is [Label] with three significant digits, as there is room for beside an axis; whole degrees and pixels keep
// theirs.
func tick(g group.Group, e group.Element) string {
	return named(g, e, func(v float64) string {
		if math.Abs(v) >= 99.95 && math.Abs(v) < 1e6 {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return strconv.FormatFloat(v+0, 'g', 3, 64)
	})
}

func named(g group.Group, e group.Element, number func(float64) string) string {
	chart := g.Chart()
	if len(chart) != len(e) || len(e) == 0 {
		return group.Format(g, e)
	}
	if s, ok := SpatialOf(chart); ok {
		return s.words(e, number)
	}
	if _, n := group.Places(chart); n > 0 {
		return strings.ReplaceAll(group.Title(g, e), " deg", "°")
	}
	if _, ok := group.Number(g, e); ok && len(e) == 3 {
		return strings.ReplaceAll(group.Title(g, e), " deg", "°")
	}
	if len(e) == 1 {
		switch chart[0].Form() { //nolint:exhaustive // others as they are
		case group.FormFactor:
			return "×" + number(e[0])
		case group.FormAngle:
			return number(e[0]) + "°"
		}
		return strings.ReplaceAll(group.Format(g, e), " deg", "°")
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

// places puts the elements where the layout wants them: one list of points per branch, unmirrored first.
func places(layout Layout, g group.Group, elements []group.Element) (branches [][]Point, closed []bool) {
	branches = make([][]Point, 1, 2)
	at, _ := moves(g.Chart())
	space, _ := SpatialOf(g.Chart())
	axis, side, _ := level(g.Chart())
	for k, e := range elements {
		p := Point{Element: k, Label: Label(g, e), Tick: tick(g, e), X: float64(k)}
		b := 0
		switch layout {
		case Polar:
			p.X = e[0]
			if len(e) == 2 && e[1] != 0 {
				b = 1
			}
		case Line:
			p.X = e[axis]
			if side >= 0 && e[side] != 0 {
				b = 1
			}
		case Discs, Angle:
			p.X = space.Turn(e)
			if space.improper(e) {
				b = 1
			}
		case HeatMap:
			p.X, p.Y = e[0], e[1]
		case Scatter:
			p.X, p.Y, p.Turn = e[at.dx], e[at.dy], e[at.angle]
			if at.mirror >= 0 && e[at.mirror] != 0 {
				b = 1
			}
		case Strip, Ranked, Axes:
		}
		for b >= len(branches) {
			branches = append(branches, nil)
		}
		branches[b] = append(branches[b], p)
	}
	closed = make([]bool, len(branches))
	for b, pts := range branches {
		switch layout {
		case Polar:
			slices.SortStableFunc(pts, byX)
			closed[b] = surrounds(pts, 360)
		case Line, Angle:
			slices.SortStableFunc(pts, byX)
			// A circle that is cut open and laid on a line ends where it begins; the point at the cut is not repeated.
		case HeatMap, Scatter, Strip, Discs, Ranked, Axes:
		}
	}
	return branches, closed
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

// surrounds reports whether sorted points go all the way around: the gap from the last to the first is not larger than
// others.
func surrounds(pts []Point, period float64) bool {
	if len(pts) < 2 {
		return false
	}
	largest := 0.0
	for i := range pts[1:] {
		largest = max(largest, pts[i+1].X-pts[i].X)
	}
	return pts[0].X+period-pts[len(pts)-1].X <= 1.5*largest+1e-9
}

// cells are the columns and rows of a map.
func cells(v []float64) []Cell {
	c := make([]Cell, len(v))
	for i, x := range v {
		c[i] = Cell{At: x, Label: strconv.FormatFloat(x+0, 'g', 3, 64)}
	}
	return c
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
		for p := math.Pow(10, math.Floor(math.Log10(lo))); p <= hi; p *= 10 {
			for _, m := range steps {
				if v := m * p; v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
					s.Ticks = append(s.Ticks, Tick{At: v, Label: "×" + short(v)})
				}
			}
		}
		if len(s.Ticks) >= 4 {
			break
		}
	}
	return s
}
