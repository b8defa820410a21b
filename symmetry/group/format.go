package group

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Format is an element for people: "90°", "×1.25", "(dx 3 px, dy −1 px)", with six significant digits; "identity" if
// the chart has no axes.
func Format(g Group, e Element) string {
	chart := g.Chart()
	if len(chart) != len(e) {
		return fmt.Sprint([]float64(e))
	}
	if len(e) == 0 {
		return "identity"
	}
	if f, ok := g.(Worded); ok {
		return f.Words(e)
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

// Worded is a group whose elements people do not read as coordinates, but as permutations or names.
type Worded interface {
	Group
	Words(e Element) string
}

// Words are those of every factor where one of them has words of its own.
func (p *product) Words(e Element) string {
	words := false
	for _, g := range p.parts {
		_, ok := g.(Worded)
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
	n := minus(strconv.FormatFloat(v+0, 'g', 6, 64))
	switch rest, degrees := strings.CutPrefix(a.Unit, "deg"); {
	case a.Unit == "":
		return n
	case a.Unit == "factor":
		return "×" + n
	case degrees:
		return n + "°" + rest // of "deg/frame", too
	}
	return n + " " + a.Unit
}

// minus writes the sign of a negative number as a minus and not as a hyphen: at "dx −2 px" no line breaks, and it is
// as wide as a plus.
func minus(n string) string {
	if rest, negative := strings.CutPrefix(n, "-"); negative {
		return "−" + rest
	}
	return n
}

// Checked is a group whose coordinates depend on each other: not every point of the chart is an element.
type Checked interface {
	Group
	Check(e Element) error
}

// Listed is a group that says whether coordinates between those of its elements are none, as between the rotations of a
// cube.
type Listed interface {
	Group
	Listed() bool
}

// Check asks every factor.
func (p *product) Check(e Element) error {
	for i, g := range p.parts {
		if c, ok := g.(Checked); ok {
			if err := c.Check(p.part(e, i)); err != nil {
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
		case a.Form() == FormFactor && !(v > 0):
			return nil, fmt.Errorf("%s of %s is %g: expected a factor above 0", a.Name, g.Name(), v)
		case !a.Periodic && (v < a.Min || v > a.Max):
			return nil, fmt.Errorf("%s of %s is %g: expected a number in [%g, %g]", a.Name, g.Name(), v, a.Min, a.Max)
		}
	}
	if c, ok := g.(Checked); ok {
		if err := c.Check(e); err != nil {
			return nil, err
		}
	}
	c, st := Canonical(g, e), Steps(g)
	if l, ok := g.(Listed); ok && l.Listed() {
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
				d = math.Abs(Wrap(v-e[i]+(a.Max-a.Min)/2, 0, a.Max-a.Min) - (a.Max-a.Min)/2)
			}
			if !(d <= 1e-3*st) {
				return nil, fmt.Errorf("%s of %s is %g: expected a multiple of %g; the nearest is %g", chart[i].Name,
					g.Name(), e[i], st, v)
			}
		}
	}
	return c, nil
}
