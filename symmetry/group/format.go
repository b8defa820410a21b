package group

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Format is an element for people: "90 deg", "x1.25", "(dx 3 px, dy -1 px)", with six significant digits; "identity" if
// the chart has no axes.
func Format(g Group, e Element) string {
	chart := g.Chart()
	if len(chart) != len(e) {
		return fmt.Sprint([]float64(e))
	}
	if len(e) == 0 {
		return "identity"
	}
	if f, ok := g.(formatter); ok {
		return f.format(e)
	}
	if len(e) == 1 {
		return number(chart[0], e[0])
	}
	s := make([]string, len(e))
	for i, a := range chart {
		s[i] = a.Name + " " + number(a, e[i])
	}
	return "(" + strings.Join(s, ", ") + ")"
}

// formatter is a group whose elements people do not read as coordinates.
type formatter interface{ format(e Element) string }

// format is that of every factor where one of them has words of its own.
func (p *product) format(e Element) string {
	words := false
	for _, g := range p.parts {
		_, ok := g.(formatter)
		words = words || ok
	}
	var s []string
	if !words {
		for i, a := range p.chart {
			s = append(s, a.Name+" "+number(a, e[i]))
		}
		return "(" + strings.Join(s, ", ") + ")"
	}
	for i, g := range p.parts {
		s = append(s, Format(g, p.part(e, i)))
	}
	return strings.Join(s, ", ")
}

func number(a Axis, v float64) string {
	n := strconv.FormatFloat(v+0, 'g', 6, 64)
	switch a.Unit {
	case "":
		return n
	case "factor":
		return "x" + n
	}
	return n + " " + a.Unit
}

// checker is a group whose coordinates depend on each other.
type checker interface{ check(e Element) error }

func (p *product) check(e Element) error {
	for i, g := range p.parts {
		if c, ok := g.(checker); ok {
			if err := c.check(p.part(e, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Validate is the canonical form of coordinates that a person gave. Periodic coordinates may lie outside the period.
// The error names the axis: wrong number of coordinates, not finite, outside the chart, between the steps.
func Validate(g Group, e Element) (Element, error) {
	chart := g.Chart()
	if len(e) != len(chart) {
		return nil, fmt.Errorf("%v is no element of %s, which has %s", []float64(e), g.Name(), axes(chart))
	}
	for i, a := range chart {
		v := e[i]
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, fmt.Errorf("%s of %s is %g: expected a finite number", a.Name, g.Name(), v)
		case a.Unit == "factor" && !(v > 0):
			return nil, fmt.Errorf("%s of %s is %g: expected a factor above 0", a.Name, g.Name(), v)
		case !a.Periodic && (v < a.Min || v > a.Max):
			return nil, fmt.Errorf("%s of %s is %g: expected a number in [%g, %g]", a.Name, g.Name(), v, a.Min, a.Max)
		}
	}
	if c, ok := g.(checker); ok {
		if err := c.check(e); err != nil {
			return nil, err
		}
	}
	c, st := canonical(g, e), Steps(g)
	if l, ok := g.(interface{ listed() bool }); ok && l.listed() {
		if d := g.Dist(c, e); !(d <= 1e-3) { // lists have no steps, but typed numbers may be a little off here too
			return nil, fmt.Errorf("%v is no element of %s, whose elements are listed; the nearest is %v", []float64(e),
				g.Name(), []float64(c))
		}
	}
	for i, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s is out of reach: %s has no such element", Format(g, e), g.Name())
		}
		// Only stepped coordinates move by more than whole periods: typed numbers such as 51.4286 in C7 may be a little
		// off.
		if st := st[i]; st > 0 {
			d := math.Abs(v - e[i])
			if a := chart[i]; a.Periodic {
				d = math.Abs(wrap(v-e[i]+(a.Max-a.Min)/2, 0, a.Max-a.Min) - (a.Max-a.Min)/2)
			}
			if !(d <= 1e-3*st) {
				return nil, fmt.Errorf("%s of %s is %g: expected a multiple of %g; the nearest is %g", chart[i].Name,
					g.Name(), e[i], st, v)
			}
		}
	}
	return c, nil
}
