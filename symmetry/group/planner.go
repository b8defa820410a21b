package group

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/internal/elementary"
)

// Plans take a group for a box of independent coordinates unless it says otherwise. The interfaces below are what it
// can say, each by itself; a window of nil is the default one, and a group that is given another checks it, as [Spans]
// does. The groups of this house have no other way to plan: what they can, a group of another package can.

// Spread is a group that maps points of the unit cube to elements by itself, because evenly spread coordinates are no
// evenly spread elements: rotation vectors fill a ball, permutations repeat no place.
type Spread interface {
	Group
	Cube(window [][2]float64) (Cube, error)
}

// Latticed is a group that knows which of its elements can map a pixel grid or the axes of space onto themselves.
type Latticed interface {
	Group
	Lattice(window [][2]float64) ([]Element, error)
}

// Presetter is a group that chooses what is visited when nobody does, with the choice in words.
type Presetter interface {
	Group
	Preset(window [][2]float64) ([]Element, string, error)
}

// Curved is a group whose chart is no box, although grids of coordinates exist.
type Curved interface {
	Group
	// Holds reports whether a point of a grid lies in the chart.
	Holds(e Element) bool
	// Offsets tells the axes along which a refinement multiplies by small elements instead of adding to coordinates.
	Offsets() []bool
	// Near is at, moved by e on the axes of Offsets, with e's coordinates on the others.
	Near(at, e Element) Element
}

// Gridded is a group that says whether its elements lie on grids of coordinates: nil if they do, else an error such as
// [ErrGridless].
type Gridded interface {
	Group
	Gridded() error
}

// Described is a group that has words for a window, such as "all rotations of space".
type Described interface {
	Group
	Within(window [][2]float64) string
}

// ErrGridless says that elements lie on no grid of coordinates.
var ErrGridless = errors.New("its elements lie on no grid of coordinates: choose haar, low_discrepancy or values")

// Cube maps points of the unit cube to elements, evenly spread ones to evenly spread ones.
type Cube struct {
	// the place of the identity, the middle of what leaves it out
	Start []float64
	// the window holds the identity
	Inside bool
	// number of elements, +Inf for a continuum
	Capacity float64
	// false where there is no element
	At func(u []float64) (Element, bool)
}

func cubeOf(g Group, window [][2]float64) (Cube, error) {
	if s, ok := g.(Spread); ok {
		return s.Cube(window)
	}
	return boxCube(g, window)
}

func gridded(g Group) error {
	if x, ok := g.(Gridded); ok {
		return x.Gridded()
	}
	return nil
}

func within(g Group, e Element) bool {
	c, ok := g.(Curved)
	return !ok || c.Holds(e)
}

func offsets(g Group) []bool {
	if c, ok := g.(Curved); ok {
		return c.Offsets()
	}
	return make([]bool, len(g.Chart()))
}

func near(g Group, at, e Element) Element {
	if c, ok := g.(Curved); ok {
		return c.Near(at, e)
	}
	return Canonical(g, e)
}

func boxCube(g Group, window [][2]float64) (Cube, error) {
	s, err := Spans(g, window)
	if err != nil {
		return Cube{}, err
	}
	c := Cube{Start: make([]float64, len(s)), Inside: true, Capacity: Capacity(s)}
	for i, x := range s {
		c.Start[i] = x.Where()
		c.Inside = c.Inside && (x.Full() || x.Holds(x.Identity))
	}
	c.At = func(u []float64) (Element, bool) {
		e := make(Element, len(s))
		for i := range s {
			e[i] = s[i].At(u[i])
		}
		return Canonical(g, e), true
	}
	return c, nil
}

// plain reports whether a group plans as a box in every way; a product does if every factor does.
func plain(g Group) bool {
	if p, ok := g.(interface{ plain() bool }); ok {
		return p.plain()
	}
	switch g.(type) {
	case Spread, Latticed, Presetter, Curved, Gridded, Described:
		return false
	}
	return true
}

func (p *product) plain() bool {
	return !slices.ContainsFunc(p.parts, func(g Group) bool { return !plain(g) })
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

// Cube joins the cubes of the factors.
func (p *product) Cube(window [][2]float64) (Cube, error) {
	if p.plain() {
		return boxCube(p, window)
	}
	w, err := p.windows(window)
	if err != nil {
		return Cube{}, err
	}
	all := Cube{Inside: true, Capacity: 1}
	cubes := make([]Cube, len(p.parts))
	for i, g := range p.parts {
		c, err := cubeOf(g, w[i])
		if err != nil {
			return Cube{}, err
		}
		cubes[i] = c
		all.Start = append(all.Start, c.Start...)
		all.Inside = all.Inside && c.Inside
		all.Capacity *= c.Capacity
	}
	all.At = func(u []float64) (Element, bool) {
		e := make(Element, 0, len(p.chart))
		for _, c := range cubes {
			f, ok := c.At(u[:len(c.Start)])
			if !ok {
				return nil, false
			}
			e, u = append(e, f...), u[len(c.Start):]
		}
		return e, true
	}
	return all, nil
}

// Combinations is all combinations of elements of factors, joined, the first factor fastest; name is that of the
// product for the error, which wraps [ErrTooMany].
func Combinations(name string, lists [][]Element) ([]Element, error) {
	total := 1.0
	for _, l := range lists {
		total *= float64(len(l))
	}
	if total > MaxElements {
		return nil, fmt.Errorf("elements of %s: %w; narrow the range", name, ErrTooMany)
	}
	out := make([]Element, int(total))
	for k := range out {
		var e Element
		rest := k
		for _, l := range lists {
			e = append(e, l[rest%len(l)]...)
			rest /= len(l)
		}
		out[k] = e
	}
	return out, nil
}

// Lattice is all combinations of the factors' lattices.
func (p *product) Lattice(window [][2]float64) ([]Element, error) {
	if p.plain() {
		return BoxLattice(p, window)
	}
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
	return Combinations(p.name, lists)
}

// Sizes of the preset of a product.
const (
	presetAlone    = 60  // elements that move one factor alone
	presetTogether = 200 // elements that move all
)

// Preset is every combination if they are few. Else it is elements that move one factor alone, so that a defect of one
// factor is seen by itself, and elements that move all of them.
func (p *product) Preset(window [][2]float64) ([]Element, string, error) {
	if p.plain() {
		return BoxPreset(p, window)
	}
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
	if total <= MaxPreset {
		es, err := Combinations(p.name, lists)
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
	k := max(1, int(float64(n)*elementary.Pow(0.6180339887, float64(i+1))))
	for gcd(k, n) != 1 {
		k++
	}
	return k
}

// Gridded is what the first factor without grids says.
func (p *product) Gridded() error {
	for _, g := range p.parts {
		if err := gridded(g); err != nil {
			return err
		}
	}
	return nil
}

// Holds asks every factor.
func (p *product) Holds(e Element) bool {
	for i, g := range p.parts {
		if !within(g, p.part(e, i)) {
			return false
		}
	}
	return true
}

// Offsets are those of the factors.
func (p *product) Offsets() []bool {
	var out []bool
	for _, g := range p.parts {
		out = append(out, offsets(g)...)
	}
	return out
}

// Near moves factor by factor.
func (p *product) Near(at, e Element) Element {
	out := make(Element, 0, len(p.chart))
	for i, g := range p.parts {
		out = append(out, near(g, p.part(at, i), p.part(e, i))...)
	}
	return out
}

// Within joins the words of the factors.
func (p *product) Within(window [][2]float64) string {
	if p.plain() {
		return BoxText(p, window)
	}
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

func errEmptyWindow(g Group) error {
	return fmt.Errorf("the range holds no element of %s: widen it", g.Name())
}

// ListPreset is a [Presetter]'s answer for a group given by a list of elements: those that are within a window.
func ListPreset(g Group, list []Element, window [][2]float64) ([]Element, string, error) {
	s, err := Spans(g, window)
	if err != nil {
		return nil, "", err
	}
	list = KeepIn(list, s)
	if len(list) == 0 {
		return nil, "", errEmptyWindow(g)
	}
	return list, fmt.Sprintf("the %d elements of %s within the range", len(list), g.Name()), nil
}

// ListCube is a [Spread]'s answer for a group given by a list of elements: it maps one number to those within a window.
func ListCube(g Group, list []Element, window [][2]float64) (Cube, error) {
	s, err := Spans(g, window)
	if err != nil {
		return Cube{}, err
	}
	list = KeepIn(list, s)
	if len(list) == 0 {
		return Cube{}, errEmptyWindow(g)
	}
	n := float64(len(list))
	c := Cube{Start: []float64{0.5 / n}, Capacity: n, Inside: g.Dist(list[0], g.Identity()) == 0}
	c.At = func(u []float64) (Element, bool) {
		return slices.Clone(list[min(int(u[0]*n), len(list)-1)]), true
	}
	return c, nil
}

// KeepIn is the elements whose coordinates are within a window.
func KeepIn(es []Element, s []Span) []Element {
	var out []Element
	for _, e := range es {
		ok := true
		for i, x := range s {
			ok = ok && x.Holds(e[i])
		}
		if ok {
			out = append(out, e)
		}
	}
	return out
}
