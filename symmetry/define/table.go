package define

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/symmetry/group"
	"nero/symmetry/matrix"
)

// MaxTable is the most elements of a group that a user defines.
const MaxTable = 1024

// table is a finite group given by its products. The element has one coordinate, its number; 0 is the identity.
type table struct {
	name   string
	labels []string
	mul    [][]int
	inv    []int
	reps   map[string]matrices
}

// matrices is a representation: one matrix per element.
type matrices struct {
	dim int
	m   []matrix.Square
}

// newTable checks the axioms of products given as mul[g][h] = g∘h and puts the identity first. Representations are
// checked by check.
func newTable(name string, labels []string, mul [][]int) (*table, error) {
	n := len(labels)
	if n == 0 || n > MaxTable {
		return nil, fmt.Errorf("%d elements: expected 1 to %d", n, MaxTable)
	}
	if len(mul) != n {
		return nil, fmt.Errorf(
			"products: %d rows for %d elements: expected one row per element, the product of that element after each "+
				"of the others", len(mul), n)
	}
	seen := map[string]int{}
	for i, l := range labels {
		if strings.TrimSpace(l) == "" {
			return nil, fmt.Errorf("elements: element %d has no name", i+1)
		}
		if j, ok := seen[l]; ok {
			return nil, fmt.Errorf("elements: %d and %d are both called %q", j+1, i+1, l)
		}
		seen[l] = i
	}
	for g, row := range mul {
		if len(row) != n {
			return nil, fmt.Errorf("products: the row of %s has %d entries, expected %d", labels[g], len(row), n)
		}
		for h, x := range row {
			if x < 0 || x >= n {
				return nil, fmt.Errorf("closure fails: %s∘%s is no element of the list (products: row %d, column %d)",
					labels[g], labels[h], g+1, h+1)
			}
		}
	}
	e := slices.IndexFunc(mul, func(row []int) bool {
		for h, x := range row {
			if x != h {
				return false
			}
		}
		return true
	})
	if e < 0 {
		return nil, errors.New(
			"identity fails: no row of the products repeats the list of elements, so no element leaves all others as " +
				"they are")
	}
	for g := range mul {
		if mul[g][e] != g {
			return nil, fmt.Errorf("identity fails: %s∘%s is %s, expected %s (products: row %d, column %d)", labels[g],
				labels[e], labels[mul[g][e]], labels[g], g+1, e+1)
		}
	}
	t := &table{name: name, labels: labels, mul: mul, inv: make([]int, n), reps: map[string]matrices{}}
	for g := range mul {
		h := slices.Index(mul[g], e)
		if h < 0 {
			return nil, fmt.Errorf("inverses fail: no element h has %s∘h = %s (products: row %d)", labels[g], labels[e],
				g+1)
		}
		if mul[h][g] != e {
			return nil, fmt.Errorf("inverses fail: %s∘%s is %s, but %s∘%s is %s (products: row %d, column %d)",
				labels[g], labels[h], labels[e], labels[h], labels[g], labels[mul[h][g]], h+1, g+1)
		}
		t.inv[g] = h
	}
	// Light's test: (a∘s)∘b = a∘(s∘b) for s in a set of generators holds for all if it holds for these (Clifford and
	// Preston 1961, section 1.2).
	for _, s := range t.generators(e) {
		for a := range n {
			for b := range n {
				if x, y := mul[mul[a][s]][b], mul[a][mul[s][b]]; x != y {
					return nil, fmt.Errorf("associativity fails: (%s∘%s)∘%s is %s, but %s∘(%s∘%s) is %s",
						labels[a], labels[s], labels[b], labels[x], labels[a], labels[s], labels[b], labels[y])
				}
			}
		}
	}
	if e != 0 {
		t.first(e)
	}
	return t, nil
}

// generators is a list of elements whose products are all elements.
func (t *table) generators(e int) []int {
	n := len(t.labels)
	in := make([]bool, n)
	in[e] = true
	members := []int{e}
	var gens []int
	for g := range n {
		if in[g] {
			continue
		}
		gens = append(gens, g)
		for k := 0; k < len(members); k++ { // grows until it is closed under products with generators from both sides
			for _, s := range gens {
				for _, x := range []int{t.mul[members[k]][s], t.mul[s][members[k]]} {
					if !in[x] {
						in[x] = true
						members = append(members, x)
					}
				}
			}
		}
	}
	return gens
}

// first exchanges the numbers of e and 0.
func (t *table) first(e int) {
	to := func(i int) int {
		switch i {
		case e:
			return 0
		case 0:
			return e
		}
		return i
	}
	n := len(t.labels)
	labels, inv, mul := make([]string, n), make([]int, n), make([][]int, n)
	for g := range n {
		labels[to(g)] = t.labels[g]
		inv[to(g)] = to(t.inv[g])
		row := make([]int, n)
		for h := range n {
			row[to(h)] = to(t.mul[g][h])
		}
		mul[to(g)] = row
	}
	t.labels, t.inv, t.mul = labels, inv, mul
}

// represent checks that matrices, in the order of the table, are a representation, and adds it.
func (t *table) represent(name string, dim int, m []matrix.Square) error {
	for i, v := range matrix.Eye(dim).V {
		if !(math.Abs(m[0].V[i]-v) <= slackOfUsers) {
			return fmt.Errorf("representation %s: %s is the identity, but its matrix is not: %g at row %d, column "+
				"%d, expected %g",
				name, t.labels[0], m[0].V[i], i/dim+1, i%dim+1, v)
		}
	}
	m[0] = matrix.Eye(dim)
	for _, s := range append(t.generators(0), 0) {
		for g := range t.labels {
			want := m[g].Mul(m[s])
			got := m[t.mul[g][s]]
			size := 1 + float64(m[g].Norm()*m[s].Norm())
			for i := range want.V {
				if !(math.Abs(want.V[i]-got.V[i]) <= slackOfUsers*size) {
					return fmt.Errorf("representation %s is no homomorphism: the matrix of %s∘%s = %s has %g at row "+
						"%d, column %d, the product of theirs %g",
						name, t.labels[g], t.labels[s], t.labels[t.mul[g][s]], got.V[i], i/dim+1, i%dim+1, want.V[i])
				}
			}
		}
	}
	t.reps[name] = matrices{dim, m}
	return nil
}

// slackOfUsers is how far numbers that people typed may be off, relative to their size: sin 60° = 0.866025404.
const slackOfUsers = 1e-6

func (t *table) at(g group.Element) int {
	v := math.Round(g[0])
	if v >= 0 && v < float64(len(t.labels)) {
		return int(v)
	}
	return 0
}

// Name is what the user called the group.
func (t *table) Name() string { return t.name }

// Chart is the number of the element.
func (t *table) Chart() []group.Axis {
	return []group.Axis{{
		Name: "element", Unit: "number", Kind: group.KindIndex, Min: 0,
		Max: math.Max(float64(len(t.labels)-1), 0.5),
	}}
}

// Identity is number 0.
func (t *table) Identity() group.Element { return group.Element{0} }

// Steps is 1.
func (t *table) Steps() []float64 { return []float64{1} }

// Mul looks up the product.
func (t *table) Mul(g, h group.Element) group.Element {
	return group.Element{float64(t.mul[t.at(g)][t.at(h)])}
}

// Inv looks up the inverse.
func (t *table) Inv(g group.Element) group.Element { return group.Element{float64(t.inv[t.at(g)])} }

// Dist is 1 between any two different elements.
func (t *table) Dist(g, h group.Element) float64 {
	if g[0] == h[0] {
		return 0
	}
	return 1
}

// Invariance is true on both sides.
func (*table) Invariance() (left, right bool) { return true, true }

// Order is the number of elements.
func (t *table) Order() int { return len(t.labels) }

// Elements are all numbers.
func (t *table) Elements() []group.Element {
	out := make([]group.Element, len(t.labels))
	for i := range out {
		out[i] = group.Element{float64(i)}
	}
	return out
}

// Sample draws an element, each with the same probability.
func (t *table) Sample(r *rand.Rand) group.Element {
	return group.Element{float64(r.IntN(len(t.labels)))}
}

// Representations are those of the file, with their dimensions.
func (t *table) Representations() map[string]int {
	out := map[string]int{}
	for k, v := range t.reps {
		out[k] = v.dim
	}
	return out
}

// Matrix is the matrix of the file.
func (t *table) Matrix(name string, g group.Element) ([]float64, bool) {
	r, ok := t.reps[name]
	if !ok {
		return nil, false
	}
	return slices.Clone(r.m[t.at(g)].V), true
}

// format is the name of the element.
func (t *table) Words(g group.Element) string { return t.labels[t.at(g)] }

// matrixOf is what a group of a user gives to the actions on space and rows.
type matrixOf interface {
	group.Represented
}

// withSpace moves points by a representation.
type withSpace struct {
	matrixOf
	rep string
	dim int
}

// Dim is the dimension of the representation.
func (w withSpace) Dim() int { return w.dim }

// Motion is the matrix of the representation, without a shift.
func (w withSpace) Motion(g group.Element) (a, t []float64) {
	m, _ := w.Matrix(w.rep, g)
	return m, make([]float64, w.dim)
}

// withRows permutes rows by a representation of permutation matrices.
type withRows struct {
	t   *table
	rep string
}

// Rows is the dimension of the representation.
func (w withRows) Rows() int { return w.t.reps[w.rep].dim }

// Permutation says where rows go. Fewer rows are moved by what is left of the cycles without the others.
func (w withRows) Permutation(g group.Element, m int) []int {
	r := w.t.reps[w.rep]
	if m < 0 || m > r.dim {
		return nil
	}
	e := make(group.Element, r.dim)
	for i := range r.dim { // column i has its 1 in row p(i)
		for j := range r.dim {
			if r.m[w.t.at(g)].V[j*r.dim+i] != 0 {
				e[i] = float64(j)
			}
		}
	}
	return group.Induced(e, m)
}

type tableSpace struct {
	*table
	withSpaceOnly
}

type tableRows struct {
	*table
	withRows
}

type tableBoth struct {
	*table
	withSpaceOnly
	withRows
}

// withSpaceOnly is withSpace without the methods of its group, which the table has.
type withSpaceOnly struct{ w withSpace }

// Dim is the dimension of the representation.
func (s withSpaceOnly) Dim() int { return s.w.Dim() }

// Motion is the matrix of the representation, without a shift.
func (s withSpaceOnly) Motion(g group.Element) (a, t []float64) { return s.w.Motion(g) }

// acting adds the actions on space and rows that a file names.
func (t *table) acting(space, rows string) (group.Group, error) {
	if rows != "" {
		r, ok := t.reps[rows]
		if !ok {
			return nil, fmt.Errorf("rows: no representation is called %q", rows)
		}
		for g, m := range r.m {
			for _, v := range m.V {
				if v != 0 && v != 1 {
					return nil, fmt.Errorf(
						"rows: the matrix of %s in representation %s has the entry %g: expected a permutation",
						t.labels[g], rows, v)
				}
			}
		}
	}
	s := withSpaceOnly{withSpace{matrixOf: t, rep: space}}
	if space != "" {
		r, ok := t.reps[space]
		if !ok {
			return nil, fmt.Errorf("space: no representation is called %q", space)
		}
		s.w.dim = r.dim
	}
	switch {
	case space != "" && rows != "":
		return tableBoth{t, s, withRows{t, rows}}, nil
	case space != "":
		return tableSpace{t, s}, nil
	case rows != "":
		return tableRows{t, withRows{t, rows}}, nil
	}
	return t, nil
}

// longest is how many characters the name of a product of generators may have.
const longest = 40

// word is the name of the product of an element and a generator, with powers for repeated factors: m1^2·m2. The element
// at place n has that for a name where the word would be long.
func word(element, generator string, n int) string {
	head, last := "", element
	if k := strings.LastIndex(element, "·"); k >= 0 {
		head, last = element[:k+len("·")], element[k+len("·"):]
	}
	name := element + "·" + generator
	switch base, power, ok := strings.Cut(last, "^"); {
	case ok && base == generator:
		if p, err := strconv.Atoi(power); err == nil {
			name = head + generator + "^" + strconv.Itoa(p+1)
		}
	case last == generator:
		name = head + generator + "^2"
	}
	if utf8.RuneCountInString(name) > longest {
		return "#" + strconv.Itoa(n)
	}
	return name
}

// generated is the finite group of the products of matrices, with the matrices as its representation called name.
func generated(group, name string, dim int, gens []matrix.Square, labels []string) (*table, error) {
	list := []matrix.Square{matrix.Eye(dim)}
	names := []string{"e"}
	find := func(m matrix.Square) int {
		for i, x := range list {
			same := true
			for k, v := range x.V {
				if !(math.Abs(v-m.V[k]) <= 1e-4*(1+math.Abs(v))) {
					same = false
					break
				}
			}
			if same {
				return i
			}
		}
		return -1
	}
	for i, g := range gens { // the generators come next, by their own names
		if find(g) < 0 {
			list, names = append(list, g), append(names, labels[i])
		}
	}
	right := [][]int{}
	for k := 0; k < len(list); k++ {
		var row []int
		for i, g := range gens {
			m := tidy(list[k].Mul(g))
			if !m.Finite() || m.Norm() > 1e6 {
				return nil, fmt.Errorf(
					"closure fails: the products of the matrices grow without end, as that of %s and %s does: a "+
						"finite group has none such; give Lie generators under lie", names[k], labels[i])
			}
			at := find(m)
			if at < 0 {
				if len(list) == MaxTable {
					return nil, fmt.Errorf(
						"closure fails: the matrices make more than %d elements, %s∘%s among them: they are no "+
							"finite group, or one too large; check the digits, or give Lie generators under lie",
						MaxTable, names[k], labels[i])
				}
				at = len(list)
				list = append(list, m)
				label := labels[i]
				if k > 0 {
					label = word(names[k], labels[i], at)
				}
				names = append(names, label)
			}
			row = append(row, at)
		}
		right = append(right, row)
	}
	// Every element is a word, so its products follow from those with the generators: h = k·s gives g∘h = (g∘k)∘s.
	n := len(list)
	words := make([][2]int, n)
	known := make([]bool, n)
	known[0] = true
	order := []int{0}
	for k := 0; k < len(order); k++ {
		for i, at := range right[order[k]] {
			if !known[at] {
				known[at] = true
				words[at] = [2]int{order[k], i}
				order = append(order, at)
			}
		}
	}
	if len(order) != n {
		return nil, errors.New("inverses fail: a product of the matrices is the identity on one side only")
	}
	mul := make([][]int, n)
	for g := range n {
		mul[g] = make([]int, n)
		mul[g][0] = g
		for _, h := range order[1:] {
			mul[g][h] = right[mul[g][words[h][0]]][words[h][1]]
		}
	}
	t, err := newTable(group, names, mul)
	if err != nil {
		return nil, err
	}
	// In exact arithmetic products of typed digits drift: every matrix is the product of its word, so drift stays below
	// the tolerance of represent.
	return t, t.represent(name, dim, list)
}

// tidy rounds entries that are 0, ±1/2, ±1 up to rounding.
func tidy(m matrix.Square) matrix.Square {
	for i, v := range m.V {
		if r := math.Round(2*v) / 2; math.Abs(v-r) < 1e-12 {
			m.V[i] = r + 0
		}
	}
	return m
}
