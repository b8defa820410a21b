package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// Move is an element that a button stands for, with where it takes every element of a plan.
type Move struct {
	// "turn left 90°"
	Name string
	// for a button: "+90°"
	Short   string
	Element group.Element
	// To is the index of the element g·h for every element h of the plan, -1 where the plan does not have it.
	To []int
}

// mostMoved is the most elements of a plan for which moves are listed: beyond, the lists are larger than the rest of
// the document.
const mostMoved = 50_000

// Moves are the elements that buttons stand for.
func Moves(g group.Group, elements []group.Element) []Move {
	if len(elements) > mostMoved || group.IsLawless(g) { // what leads from one view to another nobody knows
		return nil
	}
	m := &mover{g: g, elements: elements, chart: g.Chart(), steps: group.Steps(g), at: newFinder(g, elements)}
	for i := range m.chart {
		m.along(i)
	}
	return m.out
}

// mover collects moves.
type mover struct {
	g        group.Group
	elements []group.Element
	chart    []group.Axis
	steps    []float64
	at       *finder
	out      []Move
}

// put adds an element, unless it is none, does nothing or is there already.
func (m *mover) put(e group.Element, name, short string) {
	e, err := group.Validate(m.g, e)
	if err != nil || m.g.Dist(e, m.g.Identity()) <= group.Tolerance {
		return
	}
	if slices.ContainsFunc(m.out, func(o Move) bool { return m.g.Dist(o.Element, e) <= group.Tolerance }) {
		return
	}
	o := Move{Name: name, Short: short, Element: e, To: make([]int, len(m.elements))}
	for k, h := range m.elements {
		o.To[k] = m.at.find(m.g.Mul(e, h))
	}
	m.out = append(m.out, o)
}

// add puts the element that has a coordinate on an axis and none elsewhere.
func (m *mover) add(axis int, v float64, name, short string) {
	e := slices.Clone(m.g.Identity())
	e[axis] = v
	m.put(e, name, short)
}

// along adds the moves along an axis: what they are follows from how its numbers behave, what they are called from its
// kind. Axes without words of their own, and the second of a kind, go by their names.
func (m *mover) along(i int) {
	a, one := m.chart[i], m.g.Identity()[i]
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	var ways, signs [2]string
	if a.Kind != nil {
		ways, signs = a.Kind.Ways, a.Kind.Signs
	}
	alone := group.First(m.chart, a.Kind) == i
	if from := group.First(m.chart, group.KindVector); from >= 0 && a.Kind == group.KindVector && i < from+3 {
		about := string("xyz"[i-from])
		m.add(i, 15, "turn about "+about+" +15°", about+" +15°")
		m.add(i, 90, "turn about "+about+" +90°", about+" +90°")
		return
	}
	switch {
	case a.Switch() && alone && ways[0] != "":
		m.add(i, 1, ways[0], signs[0])
		m.flip(i)
	case a.Circle() && ways[0] != "":
		for _, d := range turns(m.steps[i]) {
			m.add(i, d, ways[0]+" "+number(d)+"°", "+"+number(d)+"°")
			m.add(i, -d, ways[1]+" "+number(d)+"°", "−"+number(d)+"°")
		}
	case a.Form() == group.FormPixels && ways[0] != "":
		d := max(1, m.steps[i])
		m.add(i, one+d, ways[0]+" "+number(d)+" px", signs[0])
		m.add(i, one-d, ways[1]+" "+number(d)+" px", signs[1])
	case a.Form() == group.FormFactor:
		f := factor(m.elements, i)
		m.add(i, f, a.Name+" ×"+number(f), "×"+number(f))
		m.add(i, 1/f, a.Name+" ÷"+number(f), "÷"+number(f))
	default:
		d := gap(m.elements, i, m.steps[i])
		unit := a.Unit
		if a.Form() == group.FormAngle {
			unit = "°"
		}
		m.add(i, one+d, fmt.Sprintf("%s +%s%s", a.Name, number(d), unit), a.Name+" +")
		m.add(i, one-d, fmt.Sprintf("%s −%s%s", a.Name, number(d), unit), a.Name+" −")
	}
}

// flip adds the exchange of top and bottom where the mirror exchanges left and right: particle image velocimetry has a
// button for each.
func (m *mover) flip(mirror int) {
	turn := slices.IndexFunc(m.chart, group.Axis.Circle)
	if _, ok := m.g.(group.Temporal); !ok || m.chart[mirror].Kind != group.KindMirror || turn < 0 {
		return
	}
	e := slices.Clone(m.g.Identity())
	e[mirror], e[turn] = 1, 180
	m.put(e, "flip top and bottom", "flip ↕")
}

// turns are the angles of buttons on a circle whose angles come in steps, 0 for any angle.
func turns(step float64) []float64 {
	fits := func(d float64) bool { return step == 0 || math.Abs(d-float64(math.Round(d/step)*step)) <= 1e-9 }
	var out []float64
	if small := max(step, 15); fits(small) {
		out = append(out, small)
	} else if step < 15 { // such as C25: as many steps as come next to 15 degrees
		out = append(out, math.Max(1, math.Round(15/step))*step)
	}
	if fits(90) && !slices.Contains(out, 90) {
		out = append(out, 90)
	}
	return out
}

// factor is the smallest ratio between coordinates of the plan, an eighth of an octave if there is none.
func factor(elements []group.Element, axis int) float64 {
	v := distinct(elements, axis)
	f := math.Inf(1)
	for i := 1; i < len(v); i++ {
		if r := v[i] / v[i-1]; r > 1+1e-6 {
			f = min(f, r)
		}
	}
	if math.IsInf(f, 1) || math.IsNaN(f) {
		return elementary.Exp2(1. / 8)
	}
	return f
}

// gap is the smallest distance between coordinates of the plan, a tenth if there is none.
func gap(elements []group.Element, axis int, step float64) float64 {
	if step > 0 {
		return step
	}
	v := distinct(elements, axis)
	d := math.Inf(1)
	for i := 1; i < len(v); i++ {
		if w := v[i] - v[i-1]; w > 1e-6 {
			d = min(d, w)
		}
	}
	if math.IsInf(d, 1) || math.IsNaN(d) {
		return 0.1
	}
	return d
}
