package define

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"nero/symmetry/group"
	"nero/symmetry/matrix"
)

// lieUser is a group of matrices exp(Σ t_i X_i) for generators that a user gives, with coordinates of the first kind.
type lieUser struct {
	name string
	gens []lieGenerator
	// of the representation "matrix"
	x    []matrix.Square
	gram [][]float64
	reps map[string][]matrix.Square
}

func (d *lieDefinition) build(name, space, rows string) (group.Group, error) {
	if rows != "" {
		return nil, errors.New("rows: Lie groups permute nothing: leave it out")
	}
	if len(d.Generators) == 0 || len(d.Generators) > maxGenerators {
		return nil, fmt.Errorf("lie: %d generators: expected 1 to %d", len(d.Generators), maxGenerators)
	}
	g := &lieUser{name: name, gens: slices.Clone(d.Generators), reps: map[string][]matrix.Square{}}
	for i := range g.gens {
		x := &g.gens[i]
		if x.Name == "" || slices.ContainsFunc(g.gens[:i], func(o lieGenerator) bool { return o.Name == x.Name }) {
			return nil, fmt.Errorf("lie: generator %d: its name %q is empty or used twice", i+1, x.Name)
		}
		if x.Unit != "" && x.Unit != "rad" {
			return nil, fmt.Errorf("lie: generator %s: unit %q: expected rad or none", x.Name, x.Unit)
		}
		if x.Range == nil {
			x.Range = []float64{-0.3, 0.3}
		}
		if len(x.Range) != 2 || !(x.Range[0] <= 0 && x.Range[1] >= 0 && x.Range[0] < x.Range[1]) ||
			math.IsInf(x.Range[0], 0) || math.IsInf(x.Range[1], 0) {
			return nil, fmt.Errorf(
				"lie: generator %s: range %v: expected the lowest and the highest coefficient, with 0 between", x.Name,
				x.Range)
		}
		m, err := squareOf(x.Matrix)
		if err != nil {
			return nil, fmt.Errorf("lie: generator %s: %w", x.Name, err)
		}
		if m.N > 16 || i > 0 && m.N != g.x[0].N {
			return nil, fmt.Errorf("lie: generator %s has %d rows: expected as many as the first, 16 at most", x.Name,
				m.N)
		}
		g.x = append(g.x, m)
	}
	if err := g.independent(); err != nil {
		return nil, err
	}
	for i, a := range g.x {
		for j, b := range g.x[:i] {
			z := b.Mul(a).Add(a.Mul(b), -1)
			t, rest := g.solve(z)
			if !(rest <= slackOfUsers*(1+z.Norm())) {
				return nil, fmt.Errorf(
					"lie: not closed: the commutator of %s and %s leaves the span of the generators by %.3g: add it "+
						"as a generator, %v",
					g.gens[j].Name, g.gens[i].Name, rest, z.V)
			}
			for _, rep := range slices.Sorted(maps.Keys(d.Others)) {
				if err := d.sameCommutator(g, rep, j, i, t); err != nil {
					return nil, err
				}
			}
		}
	}
	g.reps["matrix"] = g.x
	for rep := range d.Others {
		ms, err := d.matrices(g, rep)
		if err != nil {
			return nil, err
		}
		g.reps[rep] = ms
	}
	if err := g.axioms(); err != nil {
		return nil, err
	}
	if space == "" {
		space = "matrix"
	}
	r, ok := g.reps[space]
	if !ok {
		return nil, fmt.Errorf("space: no representation is called %q", space)
	}
	return lieSpace{g, withSpaceOnly{withSpace{matrixOf: g, rep: space, dim: r[0].N}}}, nil
}

type lieSpace struct {
	*lieUser
	withSpaceOnly
}

func (d *lieDefinition) matrices(g *lieUser, rep string) ([]matrix.Square, error) {
	list := d.Others[rep]
	if rep == "matrix" || len(list) != len(g.x) {
		return nil, fmt.Errorf(
			"lie: representation %s has %d matrices: expected one per generator, %d, and another name than matrix", rep,
			len(list), len(g.x))
	}
	out := make([]matrix.Square, len(list))
	for i, rows := range list {
		m, err := squareOf(rows)
		if err != nil {
			return nil, fmt.Errorf("lie: representation %s: %s: %w", rep, g.gens[i].Name, err)
		}
		if i > 0 && m.N != out[0].N {
			return nil, fmt.Errorf("lie: representation %s: %s has %d rows, the first %d", rep, g.gens[i].Name, m.N,
				out[0].N)
		}
		out[i] = m
	}
	return out, nil
}

// sameCommutator checks that [ρ(X_j), ρ(X_i)] is the combination t of the representation's matrices.
func (d *lieDefinition) sameCommutator(g *lieUser, rep string, j, i int, t []float64) error {
	ms, err := d.matrices(g, rep)
	if err != nil {
		return err
	}
	z := ms[j].Mul(ms[i]).Add(ms[i].Mul(ms[j]), -1)
	want := matrix.New(z.N)
	for k, c := range t {
		want = want.Add(ms[k], c)
	}
	if off := z.Add(want, -1).Norm(); !(off <= slackOfUsers*(1+z.Norm())) {
		return fmt.Errorf("lie: representation %s is none: the commutator of %s and %s differs from that of the "+
			"generators by %.3g", rep, g.gens[j].Name, g.gens[i].Name, off)
	}
	return nil
}

// independent prepares solve, and refuses generators that are combinations of each other.
func (g *lieUser) independent() error {
	n := len(g.x)
	g.gram = make([][]float64, n)
	m := matrix.New(n)
	for i := range n {
		if g.x[i].Norm() == 0 {
			return fmt.Errorf("lie: generator %s is 0", g.gens[i].Name)
		}
		for j := range n {
			m.V[i*n+j] = g.x[i].Dot(g.x[j]) / (g.x[i].Norm() * g.x[j].Norm())
		}
	}
	least := math.Inf(1)
	inverse := m.Function(func(x float64) float64 {
		least = math.Min(least, x)
		return 1 / x
	})
	if !(least > 1e-9) {
		return errors.New("lie: the generators are linearly dependent: leave one out")
	}
	for i := range n {
		g.gram[i] = make([]float64, n)
		for j := range n {
			g.gram[i][j] = inverse.V[i*n+j] / (g.x[i].Norm() * g.x[j].Norm())
		}
	}
	return nil
}

// solve is the combination of the generators next to z, and how far off it is.
func (g *lieUser) solve(z matrix.Square) ([]float64, float64) {
	n := len(g.x)
	t := make([]float64, n)
	for j, x := range g.x {
		d := x.Dot(z)
		for i := range n {
			t[i] += float64(g.gram[i][j] * d)
		}
	}
	for i := range t {
		if math.Abs(t[i]) < 1e-15 {
			t[i] = 0
		}
	}
	return t, z.Add(g.sum(g.x, t), -1).Norm()
}

func (g *lieUser) sum(x []matrix.Square, t []float64) matrix.Square {
	m := matrix.New(x[0].N)
	for i, c := range t {
		if c != 0 {
			m = m.Add(x[i], c)
		}
	}
	return m
}

// axioms tries associativity and inverses on a few elements of the window: what the algebra promises, the logarithm
// must keep.
func (g *lieUser) axioms() error {
	r := rand.New(rand.NewPCG(0x6c6965, 1))
	for range 16 {
		a, b, c := g.Sample(r), g.Sample(r), g.Sample(r)
		left, right := g.Mul(g.Mul(a, b), c), g.Mul(a, g.Mul(b, c))
		if d := g.Dist(left, right); !(d <= slackOfUsers) {
			return fmt.Errorf("lie: associativity fails for a = %v, b = %v, c = %v: (ab)c is %v, a(bc) %v; the range "+
				"may be too wide for coordinates to exist: "+
				"give smaller ones", a, b, c, left, right)
		}
		if d := g.Dist(g.Mul(a, g.Inv(a)), g.Identity()); !(d <= slackOfUsers) {
			return fmt.Errorf("lie: inverses fail for %v: its product with the inverse is %v", a, g.Mul(a, g.Inv(a)))
		}
	}
	return nil
}

// Name is what the user called the group.
func (g *lieUser) Name() string { return g.name }

// Chart has one axis per generator: degrees for radians, else a number without a unit.
func (g *lieUser) Chart() []group.Axis {
	c := make([]group.Axis, len(g.gens))
	for i, x := range g.gens {
		c[i] = group.Axis{Name: x.Name, Kind: group.KindNumber, Min: math.Inf(-1), Max: math.Inf(1)}
		if x.Unit == "rad" {
			c[i].Unit, c[i].Kind = "deg", group.KindArc
		}
	}
	return c
}

// Window is the ranges of the file.
func (g *lieUser) Window() [][2]float64 {
	w := make([][2]float64, len(g.gens))
	for i, x := range g.gens {
		w[i] = [2]float64{x.Range[0], x.Range[1]}
		if x.Unit == "rad" {
			w[i] = [2]float64{x.Range[0] * (180 / math.Pi), x.Range[1] * (180 / math.Pi)}
		}
	}
	return w
}

// Identity is all zeros.
func (g *lieUser) Identity() group.Element { return make(group.Element, len(g.gens)) }

func (g *lieUser) coefficients(e group.Element) []float64 {
	t := make([]float64, len(e))
	for i, x := range g.gens {
		t[i] = e[i]
		if x.Unit == "rad" {
			t[i] = group.Radians(e[i])
		}
	}
	return t
}

func (g *lieUser) matrix(rep string, e group.Element) matrix.Square {
	if still(e) {
		return matrix.Eye(g.reps[rep][0].N)
	}
	return g.sum(g.reps[rep], g.coefficients(e)).Exp()
}

// Mul is the logarithm of the product of the exponentials, NaN where there is none.
func (g *lieUser) Mul(a, b group.Element) group.Element {
	switch {
	case still(a):
		return g.clean(b)
	case still(b):
		return g.clean(a)
	}
	out := make(group.Element, len(a))
	l, ok := g.matrix("matrix", a).Mul(g.matrix("matrix", b)).Log()
	if ok {
		t, rest := g.solve(l)
		if rest <= slackOfUsers*(1+l.Norm()) {
			for i, x := range g.gens {
				out[i] = t[i] + 0
				if x.Unit == "rad" {
					out[i] = group.Degrees(t[i]) + 0
				}
			}
			return out
		}
	}
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

func (g *lieUser) clean(e group.Element) group.Element {
	out := slices.Clone(e)
	for i := range out {
		out[i] += 0
	}
	return out
}

// Inv negates the coefficients.
func (g *lieUser) Inv(e group.Element) group.Element {
	out := make(group.Element, len(e))
	for i, v := range e {
		out[i] = -v + 0
	}
	return out
}

// Dist is the Frobenius norm of the difference of the matrices.
func (g *lieUser) Dist(a, b group.Element) float64 {
	return g.matrix("matrix", a).Add(g.matrix("matrix", b), -1).Norm()
}

// Sample draws uniformly from the window.
func (g *lieUser) Sample(r *rand.Rand) group.Element { return group.Draw(g, g.Window(), r) }

// Generators are those of the file. Their unit is left out: a full turn need not be 2π.
func (g *lieUser) Generators() []group.Generator {
	out := make([]group.Generator, len(g.gens))
	for i, x := range g.gens {
		out[i] = group.Generator{Name: x.Name}
	}
	return out
}

// Exp is the element with the coefficients t.
func (g *lieUser) Exp(t []float64) group.Element {
	out := make(group.Element, len(t))
	for i, x := range g.gens {
		out[i] = t[i] + 0
		if x.Unit == "rad" {
			out[i] = group.Degrees(t[i]) + 0
		}
	}
	return out
}

// Unreached says that the coordinates are those of exponentials.
func (g *lieUser) Unreached() string {
	return "elements of " + g.name + " are exponentials: what exp does not reach has no coordinates"
}

// Representations are "matrix" and those of the file, with their dimensions.
func (g *lieUser) Representations() map[string]int {
	out := map[string]int{}
	for k, v := range g.reps {
		out[k] = v[0].N
	}
	return out
}

// Matrix is the exponential of the combination of the representation's matrices.
func (g *lieUser) Matrix(name string, e group.Element) ([]float64, bool) {
	if _, ok := g.reps[name]; !ok {
		return nil, false
	}
	return g.matrix(name, e).V, true
}

func still(x group.Element) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != 0 })
}
