package group

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"nero/internal/elementary"
)

// MaxElements is the most elements that a function of this package lists.
const MaxElements = 1_000_000

// Tolerance is the distance at and below which the plans of this package take two elements for one, in the unit of
// Dist.
const Tolerance = 1e-9

// ErrTooMany says that a request would make more than [MaxElements] elements.
var ErrTooMany = fmt.Errorf("more than %d elements", MaxElements)

// Stepped is a group whose coordinates come in steps on some axes: whole pixels, the angles of C_n, a mirror.
type Stepped interface {
	Group
	Steps() []float64 // one per axis, 0 where the coordinate is continuous
}

// Windowed is a group that knows better than [Window] which coordinates to visit if nobody says.
type Windowed interface {
	Group
	Window() [][2]float64 // [lowest, highest] per axis
}

// Ordered is a finite group that knows its size without listing its elements.
type Ordered interface {
	Finite
	Order() int // the largest int if it is larger
}

// Invariant is a group that says which translations keep its Dist.
type Invariant interface {
	Group
	// Invariance reports whether Dist(kg, kh) = Dist(g, h) and Dist(gk, hk) = Dist(g, h) for all elements.
	Invariance() (left, right bool)
}

// Invariance is what an [Invariant] says, and false for other groups.
func Invariance(g Group) (left, right bool) {
	if i, ok := g.(Invariant); ok {
		return i.Invariance()
	}
	return false, false
}

// Steps is what a [Stepped] says, else 1 on the axes that are a switch and 0 on the others.
func Steps(g Group) []float64 {
	if s, ok := g.(Stepped); ok {
		return s.Steps()
	}
	chart := g.Chart()
	out := make([]float64, len(chart))
	for i, a := range chart {
		if a.Switch() {
			out[i] = 1
		}
	}
	return out
}

func order(g Group) int {
	switch f := g.(type) {
	case Ordered:
		return f.Order()
	case Finite:
		return len(f.Elements())
	}
	return 0
}

// Window is the range of coordinates that plans and samplers use if none is given, [lowest, highest] per axis: the
// whole of a bounded axis; else ±4 px, factors 0.5 to 2, ±180 degrees, ±0.5 for numbers without a unit.
func Window(g Group) [][2]float64 {
	if w, ok := g.(Windowed); ok {
		return w.Window()
	}
	return DefaultWindow(g.Chart())
}

// DefaultWindow is what [Window] says of a chart.
func DefaultWindow(chart []Axis) [][2]float64 {
	w := make([][2]float64, len(chart))
	for i, a := range chart {
		lo, hi := -0.5, 0.5
		switch a.Form() { //nolint:exhaustive // the others are numbers
		case FormPixels:
			lo, hi = -4, 4
		case FormFactor:
			lo, hi = 0.5, 2
		case FormAngle:
			lo, hi = -180, 180
		}
		if !math.IsInf(a.Min, 0) && a.Form() != FormFactor {
			lo = a.Min
		}
		if !math.IsInf(a.Max, 0) {
			hi = a.Max
		}
		w[i] = [2]float64{lo, hi}
	}
	return w
}

// Span is one axis of a plan.
type Span struct {
	Axis
	// smallest step, 0 for any value
	Step float64
	// the window
	Lo, Hi float64
	// coordinate of the identity
	Identity float64
}

func (s Span) log() bool { return s.Form() == FormFactor }

// Full reports whether the window is the whole circle.
func (s Span) Full() bool { return s.Periodic && s.Hi-s.Lo >= s.Max-s.Min }

// Ticks is the range of multiples of the step inside the window: the first and how many.
func (s Span) Ticks() (first float64, n float64) {
	if s.Full() {
		return 0, math.Round((s.Max - s.Min) / s.Step)
	}
	const slack = 1e-9 // 360/7·3 must count as a multiple of 360/7
	first = math.Ceil(s.Lo/s.Step - slack)
	return first, math.Floor(s.Hi/s.Step+slack) - first + 1
}

// At maps the unit interval [0, 1) to the window.
func (s Span) At(u float64) float64 {
	switch {
	case s.Step > 0:
		first, n := s.Ticks()
		return (first + math.Min(math.Floor(u*n), n-1)) * s.Step
	case s.Lo == s.Hi:
		return s.Lo
	case s.log():
		return s.Lo * elementary.Exp(u*elementary.Log(s.Hi/s.Lo))
	}
	return s.Lo + float64(u*(s.Hi-s.Lo))
}

// Where is the place of the identity in the unit interval, the middle if the window leaves it out.
func (s Span) Where() float64 {
	switch {
	case s.Lo == s.Hi || !s.Holds(s.Identity):
		return 0.5
	case s.Step > 0:
		first, n := s.Ticks()
		return (math.Round(s.Identity/s.Step) - first + 0.5) / n
	case s.log():
		return elementary.Log(s.Identity/s.Lo) / elementary.Log(s.Hi/s.Lo)
	}
	return (s.Identity - s.Lo) / (s.Hi - s.Lo)
}

// Holds reports whether a coordinate lies in the window.
func (s Span) Holds(v float64) bool { return v >= s.Lo && v <= s.Hi }

// Spans are the axes of a plan within a window, nil for the default one. The error names the axis whose range is wrong.
func Spans(g Group, window [][2]float64) ([]Span, error) {
	chart, st, id := g.Chart(), Steps(g), g.Identity()
	if window == nil {
		window = Window(g)
	}
	if len(window) != len(chart) {
		return nil, fmt.Errorf("%s has %s, the range gives %d", g.Name(), axes(chart), len(window))
	}
	out := make([]Span, len(chart))
	for i, a := range chart {
		s := Span{Axis: a, Step: st[i], Lo: window[i][0], Hi: window[i][1], Identity: id[i]}
		fail := func(expected string) ([]Span, error) {
			return nil, fmt.Errorf("range of %s of %s is [%g, %g]: expected %s", a.Name, g.Name(), s.Lo, s.Hi, expected)
		}
		switch {
		case !(s.Lo <= s.Hi) || math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0):
			return fail("two finite numbers, the lower first")
		case !a.Periodic && (s.Lo < a.Min || s.Hi > a.Max):
			return fail(fmt.Sprintf("numbers in [%g, %g]", a.Min, a.Max))
		case s.log() && s.Lo <= 0:
			return fail("factors above 0")
		case a.Periodic && s.Hi-s.Lo > a.Max-a.Min:
			return fail(fmt.Sprintf("no more than one period, %g", a.Max-a.Min))
		case s.Hi-s.Lo > 1e12:
			return fail("a width of at most 1e12")
		}
		if s.Step > 0 {
			if _, n := s.Ticks(); n < 1 {
				return fail(fmt.Sprintf("to hold a multiple of %g", s.Step))
			}
		}
		out[i] = s
	}
	return out, nil
}

func axes(chart []Axis) string {
	switch len(chart) {
	case 0:
		return "no axes"
	case 1:
		return "1 axis (" + chart[0].Name + ")"
	}
	names := make([]string, 0, len(chart))
	for i, a := range chart {
		if i == 8 && len(chart) > 9 { // a permutation has as many as rows
			names = append(names, "…")
			break
		}
		names = append(names, a.Name)
	}
	return fmt.Sprintf("%d axes (%s)", len(chart), strings.Join(names, ", "))
}

// Canonical is an element in the chart's canonical range: the steps of a stepped group, one period of a periodic axis.
func Canonical(g Group, e Element) Element { return g.Mul(g.Identity(), e) }

// Draw is a uniform element of the window, which is valid.
func Draw(g Group, window [][2]float64, r *rand.Rand) Element {
	s, err := Spans(g, window)
	if err != nil {
		panic("group: window out of the chart: " + err.Error())
	}
	return drawIn(g, s, r)
}

func drawIn(g Group, s []Span, r *rand.Rand) Element {
	e := make(Element, len(s))
	for i := range s {
		e[i] = s[i].At(r.Float64())
	}
	return Canonical(g, e)
}

// Enumerate lists a finite group, the identity first.
// The error wraps [errors.ErrUnsupported] for an infinite group and [ErrTooMany] for a large one.
func Enumerate(g Group) ([]Element, error) {
	f, ok := g.(Finite)
	if !ok {
		return nil, fmt.Errorf("%s is not finite, it cannot be listed (%w); choose a grid", g.Name(),
			errors.ErrUnsupported)
	}
	if n := order(g); n > MaxElements {
		return nil, fmt.Errorf("%s has %d elements: %w; choose a grid", g.Name(), n, ErrTooMany)
	}
	return f.Elements(), nil
}

// Grid is the product of equally spaced coordinates, counts[i] of them on axis i; the first axis varies fastest.
//
// A periodic axis starts at the identity and leaves out the end point. A mirror takes both values. Other axes include
// both ends of the window, factors in equal ratios, so that an odd count on a window with the identity in its middle
// holds the identity. One value on an axis is the identity's. On a stepped axis the values are steps: a count that
// would space them unevenly is an error. A window of nil is the default one, see [Window]; one that is narrower than a
// period is no circle and includes its ends.
func Grid(g Group, counts []int, window [][2]float64) ([]Element, error) {
	if err := gridded(g); err != nil {
		return nil, fmt.Errorf("grid of %s: %w", g.Name(), err)
	}
	s, err := Spans(g, window)
	if err != nil {
		return nil, err
	}
	if len(counts) != len(s) {
		return nil, fmt.Errorf("%s has %s, the grid gives %d%s", g.Name(), axes(g.Chart()), len(counts),
			instead(counts, s))
	}
	total := 1
	for i, n := range counts {
		if n < 1 {
			return nil, fmt.Errorf("%d elements along %s: a grid needs at least 1", n, s[i].Name)
		}
		if n > MaxElements/total {
			return nil, fmt.Errorf("grid of %v elements of %s: %w", counts, g.Name(), ErrTooMany)
		}
		total *= n
	}
	values := make([][]float64, len(s))
	for i, n := range counts {
		if values[i], err = s[i].values(n); err != nil {
			return nil, fmt.Errorf("grid of %s: %w", g.Name(), err)
		}
	}
	return Dedup(g, Combine(g, values), Tolerance), nil
}

// instead names choices that fit where one number was given for several axes: a grid of at most about as many elements,
// or that many in no grid.
func instead(counts []int, s []Span) string {
	if len(counts) != 1 || counts[0] < 1 || counts[0] > MaxElements || len(s) < 2 {
		return ""
	}
	side := int(math.Ceil(elementary.Pow(float64(counts[0]), 1/float64(len(s)))))
	grid := make([]string, len(s))
	for i, x := range s {
		n := side | 1 // an odd count holds the identity
		for ; n > 1; n-- {
			if _, err := x.values(n); err == nil {
				break
			}
		}
		grid[i] = strconv.Itoa(n)
	}
	return fmt.Sprintf("; choose a grid such as %s, or haar:%d or even:%d", strings.Join(grid, "x"), counts[0],
		counts[0])
}

// Combine is the product of lists, the first fastest, in canonical coordinates. What lies outside the chart is left
// out.
func Combine(g Group, values [][]float64) []Element {
	return combineBy(values, func(e Element) (Element, bool) {
		if !within(g, e) {
			return nil, false
		}
		return Canonical(g, e), true
	})
}

func combineBy(values [][]float64, build func(Element) (Element, bool)) []Element {
	total := 1
	for _, v := range values {
		total *= len(v)
	}
	out := make([]Element, 0, total)
	for k := range total {
		e := make(Element, len(values))
		rest := k
		for i, v := range values {
			e[i] = v[rest%len(v)]
			rest /= len(v)
		}
		if e, ok := build(e); ok {
			out = append(out, e)
		}
	}
	return out
}

// values are n equally spaced coordinates.
func (s Span) values(n int) ([]float64, error) {
	v := make([]float64, n)
	period := s.Max - s.Min
	switch {
	case n == 1:
		v[0] = s.Identity
		if s.Full() {
			break
		}
		if !s.Holds(s.Identity) {
			if s.Lo != s.Hi {
				return nil, fmt.Errorf("1 value of %s in [%g, %g], which leaves out the identity's %g: give 2 or more",
					s.Name, s.Lo, s.Hi, s.Identity)
			}
			v[0] = s.At(0)
		}
	case s.Switch():
		if n > 2 || s.Lo != 0 || s.Hi != 1 {
			return nil, fmt.Errorf("%d values of %s in [%g, %g]: it has two values, 0 and 1", n, s.Name, s.Lo, s.Hi)
		}
		v[0], v[1] = 0, 1
	case s.Step > 0 && s.Full():
		_, all := s.Ticks()
		m := int(all)
		if n > m || m%n != 0 {
			return nil, fmt.Errorf("%d values of %s, which has %d: choose one of %v, so that they are equally spaced",
				n, s.Name, m, divisors(m))
		}
		for k := range v {
			v[k] = float64(k*(m/n)) * period / all
		}
	case s.Step > 0:
		first, all := s.Ticks()
		m := int(all)
		if n > m || (m-1)%(n-1) != 0 {
			return nil, fmt.Errorf(
				"%d values of %s in [%g, %g], which holds %d steps of %g: choose one of %v, so that they are equally "+
					"spaced",
				n, s.Name, s.Lo, s.Hi, m, s.Step, evenCounts(m))
		}
		for k := range v {
			v[k] = (first + float64(k*((m-1)/(n-1)))) * s.Step
		}
	case s.Full():
		for k := range v {
			v[k] = Wrap(s.Identity+period*float64(k)/float64(n), s.Min, period)
		}
		slices.Sort(v)
	case s.Lo == s.Hi:
		return nil, fmt.Errorf("%d values of %s in [%g, %g]: the range holds one", n, s.Name, s.Lo, s.Hi)
	default:
		for k := range v {
			f := float64(k) / float64(n-1)
			if s.log() {
				v[k] = s.Lo * elementary.Exp(f*elementary.Log(s.Hi/s.Lo))
			} else {
				v[k] = s.Lo + (s.Hi-s.Lo)*float64(k)/float64(n-1)
			}
			if math.Abs(v[k]-s.Identity) <= 1e-12*math.Max(math.Abs(s.Lo), math.Abs(s.Hi)) {
				v[k] = s.Identity // the middle of 0.5..2 is exactly 1, of -0.3..0.3 exactly 0
			}
		}
		v[n-1] = s.Hi
	}
	return v, nil
}

// divisors of m, at most 24 of them.
func divisors(m int) []int {
	var d []int
	for k := 1; k <= m && len(d) < 24; k++ {
		if m%k == 0 {
			d = append(d, k)
		}
	}
	return d
}

// evenCounts are the numbers of equally spaced values among m steps that include both ends.
func evenCounts(m int) []int {
	c := []int{1}
	if m < 2 {
		return c
	}
	for _, d := range divisors(m - 1) {
		c = append(c, d+1)
	}
	return c
}

// Lattice is the elements that can map a pixel grid onto itself: all of a finite group; else the product, within the
// window, of the multiples of 90 degrees, whole pixels and slopes, both values of a mirror, and the factor 1; in space
// the 24 rotations of the cube. Only an action knows which of them it carries out exactly on a picture of given size.
func Lattice(g Group, window [][2]float64) ([]Element, error) {
	if _, ok := g.(Finite); ok && window == nil {
		return Enumerate(g)
	}
	if l, ok := g.(Latticed); ok {
		return l.Lattice(window)
	}
	return BoxLattice(g, window)
}

// BoxLattice is [Lattice] for a group whose coordinates are independent.
func BoxLattice(g Group, window [][2]float64) ([]Element, error) {
	s, err := Spans(g, window)
	if err != nil {
		return nil, err
	}
	values := make([][]float64, len(s))
	total := 1.0
	for i, x := range s {
		switch {
		case x.log():
			x.Lo, x.Hi, x.Step = x.Identity, x.Identity, 0
			values[i] = []float64{x.Identity}
			continue
		case x.Step == 0 && x.Form() == FormAngle:
			x.Step = 90
		case x.Step == 0:
			x.Step = 1
		}
		first, n := x.Ticks()
		if total *= n; total > MaxElements {
			return nil, fmt.Errorf("lattice elements of %s: %w; narrow the range", g.Name(), ErrTooMany)
		}
		for k := range int(n) {
			values[i] = append(values[i], (first+float64(k))*x.Step)
		}
		if n < 1 {
			values[i] = []float64{x.Identity}
		}
	}
	return Dedup(g, Combine(g, values), Tolerance), nil
}

// Haar is n random elements, no two equal: from the Haar measure of a compact group, else uniform in the window,
// factors log-uniform (for shifts, scale and SE(2) that is the Haar measure within the window; for Affine by generators
// it is uniform in the chart). A window of nil is the default one.
func Haar(g Group, n int, window [][2]float64, r *rand.Rand) ([]Element, error) {
	c, err := cubeOf(g, window)
	if err != nil {
		return nil, err
	}
	if sampler, ok := g.(Sampler); ok && window == nil {
		return distinct(g, c.Capacity, n, func() (Element, bool) { return sampler.Sample(r), true })
	}
	u := make([]float64, len(c.Start))
	return distinct(g, c.Capacity, n, func() (Element, bool) {
		for i := range u {
			u[i] = r.Float64()
		}
		return c.At(u)
	})
}

// LowDiscrepancy is n elements, no two equal, spread evenly over the window, the identity first if the window holds it.
//
// Coordinates are the Kronecker sequence frac(x₀ + k·α) with α_j = φ⁻ʲ, φ the positive root of φ^(d+1) = φ + 1 for d
// axes (the golden ratio for one): Roberts 2018, The unreasonable effectiveness of quasirandom sequences. x₀ is the
// identity. Factors are spread evenly in their logarithm, rotations of space in the Haar measure through their unit
// quaternions. A window of nil is the default one.
func LowDiscrepancy(g Group, n int, window [][2]float64) ([]Element, error) {
	c, err := cubeOf(g, window)
	if err != nil {
		return nil, err
	}
	phi := 2.0
	for range 64 { // a contraction: each step divides the error by more than two
		phi = elementary.Pow(1+phi, 1/float64(len(c.Start)+1))
	}
	alpha := make([]float64, len(c.Start))
	for i := range alpha {
		alpha[i] = elementary.Pow(phi, -float64(i+1))
	}
	k := -1
	u := make([]float64, len(c.Start))
	return distinct(g, c.Capacity, n, func() (Element, bool) {
		k++
		if k == 0 && c.Inside {
			return g.Identity(), true
		}
		for i, a := range alpha {
			_, u[i] = math.Modf(c.Start[i] + float64(float64(k)*a))
		}
		return c.At(u)
	})
}

// Capacity is how many coordinates the window holds, +Inf if one axis is continuous.
func Capacity(s []Span) float64 {
	m := 1.0
	for _, x := range s {
		switch {
		case x.Step > 0:
			_, n := x.Ticks()
			m *= n
		case x.Lo < x.Hi:
			return math.Inf(1)
		}
	}
	return m
}

// distinct collects n different elements of a sequence, which gives up when it has nothing new for long.
func distinct(g Group, most float64, n int, next func() (Element, bool)) ([]Element, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d elements of %s: expected at least 1", n, g.Name())
	}
	if n > MaxElements {
		return nil, fmt.Errorf("%d elements of %s: %w", n, g.Name(), ErrTooMany)
	}
	if m := order(g); m > 0 && n > m {
		return nil, fmt.Errorf("%d different elements of %s, which has %d: ask for all of them", n, g.Name(), m)
	}
	if float64(n) > most {
		return nil, fmt.Errorf("%d different elements of %s: its range holds only %g; widen the range or ask for fewer",
			n, g.Name(), most)
	}
	var out []Element
	for k := 0; len(out) < n; {
		before := len(out)
		for want := max(n-before, n/8, 16); want > 0; want-- { // the last elements of a small window are rare
			if e, ok := next(); ok {
				out = append(out, e)
			}
			k++
		}
		out = Dedup(g, out, Tolerance)
		if len(out) == before && k > 64*n+1024 {
			return nil, fmt.Errorf(
				"%d different elements of %s: its window seems to hold only %d; widen the range or ask for fewer", n,
				g.Name(), len(out))
		}
	}
	return out[:n], nil
}

// Refine is a grid around an element: counts[i] values on axis i within ±radius[i] of its coordinate, in the unit of
// the chart; for factors, from coordinate/radius to coordinate·radius with a radius of 1 or more. Counts are odd, so
// that at is among them; an axis of radius 0 (1 for factors), such as a mirror, keeps its coordinate. Coordinates
// outside the chart are left out. Stepped axes take every step within the radius and ignore the count. On the axes of a
// rotation vector the grid is one of small rotations that act after at, so that it has the same spacing everywhere and
// goes on beyond 180 degrees.
func Refine(g Group, at Element, radius []float64, counts []int) ([]Element, error) {
	at, err := Validate(g, at)
	if err != nil {
		return nil, err
	}
	chart, st := g.Chart(), Steps(g)
	if len(radius) != len(chart) || len(counts) != len(chart) {
		return nil, fmt.Errorf("%s has %s, the refinement gives %d radii and %d counts", g.Name(), axes(chart),
			len(radius), len(counts))
	}
	if err := gridded(g); err != nil {
		return nil, fmt.Errorf("refinement of %s: %w", g.Name(), err)
	}
	offset := offsets(g)
	values := make([][]float64, len(chart))
	total := 1
	for i, a := range chart {
		r, n := radius[i], counts[i]
		none := 0.0
		if a.Form() == FormFactor {
			none = 1
		}
		switch {
		case !(r >= none) || math.IsInf(r, 0):
			return nil, fmt.Errorf("radius %g along %s: expected a finite number, at least %g", r, a.Name, none)
		case n < 1 || n%2 == 0:
			return nil, fmt.Errorf("%d elements along %s: expected an odd count, so that the middle is on the grid", n,
				a.Name)
		case st[i] > 0:
			m := math.Floor(r/st[i] + Tolerance)
			if !(m <= MaxElements/2) {
				return nil, fmt.Errorf("radius %g along %s: %w", r, a.Name, ErrTooMany)
			}
			n = 2*int(m) + 1
			r = m * st[i]
		case r == none:
			n = 1
		}
		if n > MaxElements/total {
			return nil, fmt.Errorf("refinement of %s by %v elements: %w", g.Name(), counts, ErrTooMany)
		}
		total *= n
		for k := range n {
			f := 0.0
			if n > 1 {
				f = 2*float64(k)/float64(n-1) - 1
			}
			v := at[i] + float64(f*r)
			switch {
			case offset[i]:
				v = f * r
			case a.Form() == FormFactor:
				v = at[i] * elementary.Pow(r, f)
			}
			if a.Periodic || offset[i] || v >= a.Min && v <= a.Max {
				values[i] = append(values[i], v)
			}
		}
	}
	es := combineBy(values, func(e Element) (Element, bool) { return near(g, at, e), true })
	return Dedup(g, es, Tolerance), nil
}

// Dedup is the elements without those within tol of an earlier one, by the group's own distance. It keeps the order,
// and elements whose distances are NaN.
//
// It compares only elements whose distances to a few fixed ones agree: by the triangle inequality all others are apart.
// For n elements in general position that takes n log n steps.
func Dedup(g Group, es []Element, tol float64) []Element {
	n := len(es)
	if n < 2 {
		return es
	}
	type key struct {
		f float64
		i int
	}
	weights := []float64{1, math.Sqrt2, math.Sqrt(3), math.Sqrt(5)} // so that sums rarely tie
	pivots := []Element{g.Identity(), es[n/3], es[2*n/3], es[n-1]}
	var total float64
	for _, w := range weights {
		total += w
	}
	keys := make([]key, 0, n)
	keep := make([]bool, n)
	largest := 0.0
	for i, e := range es {
		var f float64
		for j, p := range pivots {
			f += float64(weights[j] * g.Dist(p, e))
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			keep[i] = true
			continue
		}
		largest = math.Max(largest, f)
		keys = append(keys, key{f, i})
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.f != b.f {
			if a.f < b.f {
				return -1
			}
			return 1
		}
		return a.i - b.i
	})
	place := make([]int, n)
	for i := range place {
		place[i] = -1
	}
	for p, k := range keys {
		place[k.i] = p
	}
	reach := float64(total*tol) + float64(1e-12*largest) // the sum is Lipschitz with this constant, and rounded
	for i, e := range es {
		p := place[i]
		if p < 0 {
			continue
		}
		keep[i] = true
		for _, d := range []int{-1, 1} {
			for q := p + d; keep[i] && q >= 0 && q < len(keys) && math.Abs(keys[q].f-keys[p].f) <= reach; q += d {
				if j := keys[q].i; j < i && keep[j] && g.Dist(es[j], e) <= tol {
					keep[i] = false
				}
			}
		}
	}
	var out []Element
	for i, e := range es {
		if keep[i] {
			out = append(out, e)
		}
	}
	return out
}
