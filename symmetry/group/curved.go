package group

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// curved is a group whose chart is no box of independent coordinates, so that it plans for itself: rotation vectors
// fill a ball, permutations repeat no place. Windows are checked by the group; nil is the default one.
type curved interface {
	Group
	cube(window [][2]float64) (cube, error)
	lattice(window [][2]float64) ([]Element, error)
	preset(window [][2]float64) ([]Element, string, error)
	// grid is an error for groups without grids.
	grid() error
	holds(e Element) bool // whether a point of a grid is within the chart
	// offsets tells the axes along which refinement multiplies by small elements, instead of adding to coordinates.
	offsets() []bool
	near(at, e Element) Element // at moved by e on the axes of offsets, with e's coordinates on the others
	within(window [][2]float64) string
}

// cube maps points of the unit cube to elements, evenly spread ones to evenly spread ones.
type cube struct {
	// the place of the identity, the middle of what leaves it out
	start []float64
	// the window holds the identity
	inside bool
	// number of elements, +Inf for a continuum
	capacity float64
	// false where there is no element
	at func(u []float64) (Element, bool)
}

// plans is how a group plans: by itself or as a box of coordinates.
func plans(g Group) curved {
	if p, ok := g.(interface{ boxed() bool }); ok && p.boxed() {
		return box{g}
	}
	if c, ok := g.(curved); ok {
		return c
	}
	if p, ok := g.(presetter); ok {
		return planned{box{g}, p}
	}
	return box{g}
}

// presetter is a box of coordinates that chooses its own preset.
type presetter interface {
	preset(window [][2]float64) ([]Element, string, error)
}

type planned struct {
	box
	by presetter
}

func (p planned) preset(window [][2]float64) ([]Element, string, error) { return p.by.preset(window) }

// box is a group whose coordinates are independent.
type box struct{ Group }

func (b box) cube(window [][2]float64) (cube, error) {
	g := b.Group
	s, err := spans(g, window)
	if err != nil {
		return cube{}, err
	}
	c := cube{start: make([]float64, len(s)), inside: true, capacity: capacity(s)}
	for i, x := range s {
		c.start[i] = x.where()
		c.inside = c.inside && (x.round() || x.holds(x.id))
	}
	c.at = func(u []float64) (Element, bool) {
		e := make(Element, len(s))
		for i := range s {
			e[i] = s[i].at(u[i])
		}
		return canonical(g, e), true
	}
	return c, nil
}

func (b box) lattice(window [][2]float64) ([]Element, error) { return boxLattice(b.Group, window) }
func (b box) preset(window [][2]float64) ([]Element, string, error) {
	return boxPreset(b.Group, window)
}
func (b box) grid() error                       { return nil }
func (b box) holds(Element) bool                { return true }
func (b box) offsets() []bool                   { return make([]bool, len(b.Chart())) }
func (b box) near(_, e Element) Element         { return canonical(b.Group, e) }
func (b box) within(window [][2]float64) string { return boxText(b.Group, window) }

// boxed reports whether every factor is a box.
func (p *product) boxed() bool {
	for _, g := range p.parts {
		if _, ok := plans(g).(box); !ok {
			return false
		}
	}
	return true
}

// windows cuts a window into those of the factors.
func (p *product) windows(window [][2]float64) ([][][2]float64, error) {
	out := make([][][2]float64, len(p.parts))
	if window == nil {
		return out, nil
	}
	if len(window) != len(p.chart) {
		return nil, fmt.Errorf("%s has %s, the range gives %d", p.name, axes(p.chart), len(window))
	}
	for i := range p.parts {
		out[i] = window[p.at[i]:p.at[i+1]]
	}
	return out, nil
}

func (p *product) cube(window [][2]float64) (cube, error) {
	w, err := p.windows(window)
	if err != nil {
		return cube{}, err
	}
	all := cube{inside: true, capacity: 1}
	cubes := make([]cube, len(p.parts))
	for i, g := range p.parts {
		c, err := plans(g).cube(w[i])
		if err != nil {
			return cube{}, err
		}
		cubes[i] = c
		all.start = append(all.start, c.start...)
		all.inside = all.inside && c.inside
		all.capacity *= c.capacity
	}
	all.at = func(u []float64) (Element, bool) {
		e := make(Element, 0, len(p.chart))
		for _, c := range cubes {
			f, ok := c.at(u[:len(c.start)])
			if !ok {
				return nil, false
			}
			e, u = append(e, f...), u[len(c.start):]
		}
		return e, true
	}
	return all, nil
}

// combined is all combinations of elements of the factors, the first factor fastest.
func (p *product) combined(lists [][]Element) ([]Element, error) {
	total := 1.0
	for _, l := range lists {
		total *= float64(len(l))
	}
	if total > MaxElements {
		return nil, fmt.Errorf("elements of %s: %w; narrow the range", p.name, ErrTooMany)
	}
	out := make([]Element, int(total))
	for k := range out {
		e := make(Element, 0, len(p.chart))
		rest := k
		for _, l := range lists {
			e = append(e, l[rest%len(l)]...)
			rest /= len(l)
		}
		out[k] = e
	}
	return out, nil
}

func (p *product) lattice(window [][2]float64) ([]Element, error) {
	w, err := p.windows(window)
	if err != nil {
		return nil, err
	}
	lists := make([][]Element, len(p.parts))
	for i, g := range p.parts {
		if lists[i], err = Lattice(g, w[i]); err != nil {
			return nil, err
		}
	}
	return p.combined(lists)
}

// Sizes of the preset of a product.
const (
	presetAlone    = 60  // elements that move one factor alone
	presetTogether = 200 // elements that move all
)

// preset is every combination if they are few. Else it is elements that move one factor alone, so that a defect of one
// factor is seen by itself, and elements that move all of them.
func (p *product) preset(window [][2]float64) ([]Element, string, error) {
	w, err := p.windows(window)
	if err != nil {
		return nil, "", err
	}
	lists, texts := make([][]Element, len(p.parts)), make([]string, len(p.parts))
	total := 1.0
	for i, g := range p.parts {
		if lists[i], texts[i], err = Preset(g, w[i]); err != nil {
			return nil, "", err
		}
		total *= float64(len(lists[i]))
	}
	if total <= presetAll {
		es, err := p.combined(lists)
		return Dedup(p, es, Tolerance), "all combinations of " + strings.Join(texts, " and "), err
	}
	out := []Element{p.Identity()}
	for i, l := range lists {
		for k := range min(len(l), presetAlone) {
			e := p.Identity()
			copy(e[p.at[i]:p.at[i+1]], l[k*len(l)/min(len(l), presetAlone)])
			out = append(out, e)
		}
	}
	// Steps without common divisors pair the lists without a pattern.
	for k := range presetTogether {
		e := make(Element, 0, len(p.chart))
		for i, l := range lists {
			e = append(e, l[(k*coprime(len(l), i)+i)%len(l)]...)
		}
		out = append(out, e)
	}
	out = Dedup(p, out, Tolerance)
	return out, fmt.Sprintf("%d elements: up to %d of each factor alone and %d that move all factors, from %s",
		len(out), presetAlone, presetTogether, strings.Join(texts, " and ")), nil
}

// coprime is a number without common divisors with n, near n times a fraction that differs from factor to factor.
func coprime(n, i int) int {
	gcd := func(a, b int) int {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	k := max(1, int(float64(n)*math.Pow(0.6180339887, float64(i+1))))
	for gcd(k, n) != 1 {
		k++
	}
	return k
}

func (p *product) grid() error {
	for _, g := range p.parts {
		if err := plans(g).grid(); err != nil {
			return err
		}
	}
	return nil
}

func (p *product) holds(e Element) bool {
	for i, g := range p.parts {
		if !plans(g).holds(p.part(e, i)) {
			return false
		}
	}
	return true
}

func (p *product) offsets() []bool {
	var out []bool
	for _, g := range p.parts {
		out = append(out, plans(g).offsets()...)
	}
	return out
}

func (p *product) near(at, e Element) Element {
	out := make(Element, 0, len(p.chart))
	for i, g := range p.parts {
		out = append(out, plans(g).near(p.part(at, i), p.part(e, i))...)
	}
	return out
}

func (p *product) within(window [][2]float64) string {
	w, err := p.windows(window)
	if err != nil {
		return "window unknown"
	}
	s := make([]string, 0, len(p.parts))
	for i, g := range p.parts {
		if t := WindowText(g, w[i]); t != "" {
			s = append(s, t)
		}
	}
	return strings.Join(s, ", ")
}

// errGridless is wrapped by groups whose elements lie on no grid of coordinates.
var errGridless = errors.New("its elements lie on no grid of coordinates: choose haar, low_discrepancy or values")

func errEmptyWindow(g Group) error {
	return fmt.Errorf("the range holds no element of %s: widen it", g.Name())
}

// listPreset is the elements of a list that are within a window.
func listPreset(g Group, list []Element, window [][2]float64) ([]Element, string, error) {
	s, err := spans(g, window)
	if err != nil {
		return nil, "", err
	}
	list = keepIn(list, s)
	if len(list) == 0 {
		return nil, "", errEmptyWindow(g)
	}
	return list, fmt.Sprintf("the %d elements of %s within the range", len(list), g.Name()), nil
}
