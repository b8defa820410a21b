package catalog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"nero/symmetry/group"
)

// MaxRows is the most rows that a group of permutations moves.
const MaxRows = 1 << 16

// symmetric is the group of all permutations of n rows.
type symmetric struct {
	n int
	// made once: names of thousands of axes take longer than products
	chart []group.Axis
}

// listedRows is the most rows whose permutations can be listed: 9! is below MaxElements, 10! is not.
const listedRows = 9

// Symmetric is S(n), the group of all permutations of the rows of a set or the nodes of a graph, for n from 1 to
// [MaxRows]. The element has one coordinate p<i> per row, the place that row i goes to, counted from 0. It is
// [group.Finite] up to n = 9.
func Symmetric(n int) (group.Group, error) {
	if n < 1 || n > MaxRows {
		return nil, fmt.Errorf("S(%d): the number of rows must be in 1..%d", n, MaxRows)
	}
	s := symmetric{n: n, chart: make([]group.Axis, n)}
	for i := range s.chart {
		s.chart[i] = group.Axis{
			Name: "p" + strconv.Itoa(i), Unit: "place", Kind: group.KindPlace, Min: 0, Max: math.Max(float64(n-1), 0.5),
		}
	}
	if n <= listedRows {
		return symmetricFinite{s}, nil
	}
	return s, nil
}

// Name is S(n).
func (s symmetric) Name() string { return fmt.Sprintf("S(%d)", s.n) }

// Chart is the place of each row.
func (s symmetric) Chart() []group.Axis { return append([]group.Axis(nil), s.chart...) }

// Identity leaves every row at its place.
func (s symmetric) Identity() group.Element {
	e := make(group.Element, s.n)
	for i := range e {
		e[i] = float64(i)
	}
	return e
}

// Steps is 1 on every axis.
func (s symmetric) Steps() []float64 {
	out := make([]float64, s.n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// look is the place that row i goes to, -1 for what is no place.
func (s symmetric) look(g group.Element, i float64) int {
	if v := math.Round(i); v >= 0 && v < float64(s.n) && int(v) < len(g) {
		if to := math.Round(g[int(v)]); to >= 0 && to < float64(s.n) {
			return int(to)
		}
	}
	return -1
}

// Mul sends row i to place g[h[i]]. Coordinates that are no places give NaN.
func (s symmetric) Mul(g, h group.Element) group.Element {
	p := make(group.Element, s.n)
	for i := range p {
		p[i] = math.NaN()
		if to := s.look(g, h[i]); to >= 0 {
			p[i] = float64(to)
		}
	}
	return p
}

// Inv sends row g[i] to place i.
func (s symmetric) Inv(g group.Element) group.Element {
	p := make(group.Element, s.n)
	for i := range p {
		p[i] = math.NaN()
	}
	for i := range p {
		if to := s.look(g, float64(i)); to >= 0 {
			p[to] = float64(i)
		}
	}
	return p
}

// Dist is the number of rows that go to different places.
func (s symmetric) Dist(g, h group.Element) float64 {
	n := 0
	for i, v := range g {
		if v != h[i] {
			n++
		}
	}
	return float64(n)
}

// Invariance is true on both sides.
func (symmetric) Invariance() (left, right bool) { return true, true }

// Rows is n.
func (s symmetric) Rows() int { return s.n }

// Permutation is the places of the first m rows when the others are taken out of the cycles: a row whose place is taken
// out goes where the row of that place goes, and so on. It takes n steps and is nil for m above n.
func (s symmetric) Permutation(g group.Element, m int) []int {
	if m < 0 || m > s.n {
		return nil
	}
	return group.Induced(g, m)
}

// Sample draws a permutation, each with the same probability.
func (s symmetric) Sample(r *rand.Rand) group.Element {
	e := s.Identity()
	r.Shuffle(s.n, func(i, j int) { e[i], e[j] = e[j], e[i] })
	return e
}

// Check refuses lists that are no permutation.
func (s symmetric) Check(e group.Element) error {
	from := make([]int, s.n)
	for i := range e {
		to := s.look(e, float64(i))
		if to < 0 {
			return fmt.Errorf("row %d of %s goes to place %g: expected a whole number from 0 to %d", i, s.Name(), e[i],
				s.n-1)
		}
		if from[to] > 0 {
			return fmt.Errorf("rows %d and %d of %s both go to place %d: expected a permutation, every place from 0 "+
				"to %d once", from[to]-1, i, s.Name(), to, s.n-1)
		}
		from[to] = i + 1
	}
	return nil
}

// Words is cycle notation: each row goes to the place of the next one, the last to that of the first. Long
// permutations are cut.
func (s symmetric) Words(g group.Element) string {
	const longest = 8 // rows that are shown
	var b strings.Builder
	seen := make([]bool, s.n)
	shown, moved := 0, 0
	for i := range s.n {
		if seen[i] || s.look(g, float64(i)) == i {
			continue
		}
		cut := shown >= longest
		for j := i; j >= 0 && !seen[j]; j = s.look(g, float64(j)) {
			seen[j] = true
			moved++
			if cut {
				continue
			}
			if j == i {
				b.WriteByte('(')
			} else {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.Itoa(j))
			if shown++; shown == longest && s.look(g, float64(j)) != i {
				b.WriteString(" …")
				cut = true
			}
		}
		if !cut || shown == longest && !strings.HasSuffix(b.String(), ")") {
			b.WriteByte(')')
		}
	}
	switch {
	case moved == 0:
		return "identity"
	case moved > shown:
		fmt.Fprintf(&b, " and %d rows more", moved-shown)
	}
	return b.String()
}

// Cube maps uniform numbers to elements, evenly.
func (s symmetric) Cube(window [][2]float64) (group.Cube, error) {
	if window != nil {
		if len(window) != s.n {
			return group.Cube{}, fmt.Errorf("%s has %d axes, the range gives %d", s.Name(), s.n, len(window))
		}
		for i, w := range window {
			if !(w[0] <= 0 && w[1] >= float64(s.n-1)) {
				return group.Cube{}, fmt.Errorf(
					"range of p%d of %s is [%g, %g]: permutations have no range; leave it out and list elements with "+
						"values", i, s.Name(), w[0], w[1])
			}
		}
	}
	c := group.Cube{Inside: true, Capacity: 1}
	for k := 2; k <= s.n && !math.IsInf(c.Capacity, 1); k++ {
		c.Capacity *= float64(k)
	}
	const few = 12
	if s.n <= few { // the order of evenly spread numbers
		for i := range s.n {
			c.Start = append(c.Start, (float64(i)+0.5)/float64(s.n))
		}
		c.At = func(u []float64) (group.Element, bool) {
			e := make(group.Element, s.n)
			for i, x := range u {
				for j, y := range u {
					if y < x || y == x && j < i {
						e[i]++
					}
				}
			}
			return e, true
		}
		return c, nil
	}
	// Long sequences of many dimensions are far from even: one number names a random permutation.
	c.Start = []float64{0.5}
	c.At = func(u []float64) (group.Element, bool) {
		return s.Sample(rand.New(rand.NewPCG(math.Float64bits(u[0]), uint64(s.n)))), true
	}
	return c, nil
}

// Lattice is the preset: all permutations are exact, and nobody can list them.
func (s symmetric) Lattice(window [][2]float64) ([]group.Element, error) {
	es, _, err := s.Preset(window)
	return es, err
}

// Sizes of the preset of permutations.
const (
	presetSwaps  = 105 // transpositions: all of 15 rows
	presetRandom = 64
	presetSeed   = 0x7065726d
)

// Preset is the identity, transpositions, cycles, the reversal and random permutations. Permutations of at most 6 rows
// are all listed instead.
func (s symmetric) Preset(window [][2]float64) ([]group.Element, string, error) {
	if _, err := s.Cube(window); err != nil {
		return nil, "", err
	}
	out := []group.Element{s.Identity()}
	swap := func(i, j int) {
		e := s.Identity()
		e[i], e[j] = e[j], e[i]
		out = append(out, e)
	}
	cycle := func(from, n, step int) {
		e := s.Identity()
		for i := range n {
			e[from+i] = float64(from + ((i+step)%n+n)%n)
		}
		out = append(out, e)
	}
	what := "all"
	if s.n*(s.n-1)/2 <= presetSwaps {
		for i := range s.n {
			for j := range i {
				swap(j, i)
			}
		}
	} else {
		what = "adjacent and distant"
		near := min(s.n-1, presetSwaps-40)
		for k := range near {
			i := k * (s.n - 1) / near
			swap(i, i+1)
		}
		for k := range 40 { // the first row with rows near and far, then rows across the middle
			if k < 20 {
				swap(0, s.n-1-k*(s.n-2)/20)
			} else {
				swap((k-20)*s.n/40, s.n-1-(k-20)*s.n/40)
			}
		}
	}
	swaps := len(out) - 1
	for _, n := range []int{3, 4, 5, s.n / 2, s.n} {
		if n >= 3 && n <= s.n {
			cycle(0, n, 1)
			cycle(s.n-n, n, -1)
		}
	}
	reversed := s.Identity()
	for i := range reversed {
		reversed[i] = float64(s.n - 1 - i)
	}
	out = append(out, reversed)
	r := rand.New(rand.NewPCG(presetSeed, uint64(s.n)))
	for range presetRandom {
		out = append(out, s.Sample(r))
	}
	out = group.Dedup(s, out, group.Tolerance)
	return out, fmt.Sprintf(
		"%d permutations of %d rows: the identity, %s transpositions (up to %d), cycles, the reversal and %d random "+
			"ones",
		len(out), s.n, what, swaps, presetRandom), nil
}

// Gridded refuses grids.
func (symmetric) Gridded() error { return group.ErrGridless }

// Within is the window in words.
func (s symmetric) Within([][2]float64) string { return fmt.Sprintf("permutations of %d rows", s.n) }

type symmetricFinite struct{ symmetric }

// Order is n!.
func (s symmetricFinite) Order() int {
	n := 1
	for k := 2; k <= s.n; k++ {
		n *= k
	}
	return n
}

// Elements are all permutations in the lexical order of the lists of places.
func (s symmetricFinite) Elements() []group.Element {
	out := make([]group.Element, 0, s.Order())
	e := s.Identity()
	for {
		out = append(out, append(group.Element(nil), e...))
		i := s.n - 2
		for i >= 0 && e[i] > e[i+1] {
			i--
		}
		if i < 0 {
			return out
		}
		j := s.n - 1
		for e[j] < e[i] {
			j--
		}
		e[i], e[j] = e[j], e[i]
		for a, b := i+1, s.n-1; a < b; a, b = a+1, b-1 {
			e[a], e[b] = e[b], e[a]
		}
	}
}
