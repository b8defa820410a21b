package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/irreps"
)

// spatial are the points of a group of space, and elements of it: some turn, and the first mirrors where one can.
func spatial(tb rapid.TB, name string, seed uint64) (*points, []group.Element) {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	p := &points{group: g, dim: 3, n: 1, motions: map[string]*motion{}, rows: map[string]*action.Rows{}}
	r := rand.New(rand.NewPCG(seed, 1))
	s, ok := g.(group.Sampler)
	if !ok {
		tb.Fatalf("%s has no samples", name)
	}
	var list []group.Element
	for len(list) < 3 {
		e := s.Sample(r)
		if _, improper, _ := p.turn(e); len(list) > 0 || improper || name == "SO(3)" {
			list = append(list, e)
		}
	}
	return p, list
}

// moved are values of rows × numbers that move by what a function does to a row.
func moved(r *rand.Rand, elements []group.Element, rows, n int,
	row func(g group.Element, x []float64) []float64,
) evidence {
	var pairs []feature.Pair
	for object := range 4 {
		x := make([]float64, rows*n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for _, g := range elements {
			var y []float64
			for k := range rows {
				y = append(y, row(g, x[k*n:(k+1)*n])...)
			}
			pairs = append(pairs, feature.Pair{G: g, Object: object, X: x, Y: y})
		}
	}
	return evidenceOf(pairs)
}

// declared is how the program moves rows of a declared type.
func declared(tb rapid.TB, g group.Group, typ string, n int) func(e group.Element, x []float64) []float64 {
	tb.Helper()
	a, err := action.NewRows(g, space.Spec{Name: "x", Shape: []int{-1, n}, Type: typ, Per: space.PerSample},
		action.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return func(e group.Element, x []float64) []float64 {
		m, _, err := a.Matrix(e)
		if err != nil {
			tb.Fatal(err)
		}
		y := make([]float64, n)
		for i := range n {
			y[i] = dot(m[i*n:(i+1)*n], x)
		}
		return y
	}
}

// canonical are irreps with neighbors of one kind taken together.
func canonical(ir irreps.Irreps, parity bool) string {
	ir = slices.Clone(ir)
	for i := range ir {
		ir[i].Odd = ir[i].Odd && parity
	}
	s, _ := layoutOf(ir, parity).terms()
	return spell(s, parity)
}

// Whatever stands in a row, copies side by side or innermost, is read off as it moves by the declared action; a number
// that moves otherwise, or another basis, is not typed.
func TestLayouts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"O(3)", "SO(3)", "E(3)"}).Draw(t, "group")
		p, elements := spatial(t, name, rapid.Uint64().Draw(t, "seed"))
		var ir irreps.Irreps
		turns := false
		for range rapid.IntRange(1, 4).Draw(t, "terms") {
			x := irreps.Term{
				Mul: rapid.IntRange(1, 3).Draw(t, "copies"),
				L:   rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3, 5, 12}).Draw(t, "l"),
				Odd: rapid.Bool().Draw(t, "odd"),
			}
			turns = turns || x.L > 0 || x.Odd && name != "SO(3)"
			ir = append(ir, x)
		}
		n := ir.Dim()
		row := declared(t, p.group, ir.String(), n)
		inner := rapid.Bool().Draw(t, "innermost")
		order := make([]int, n) // the place of each number of e3nn's order
		at := 0
		for _, x := range ir {
			for c := range x.Mul {
				for m := range 2*x.L + 1 {
					if order[at+c*(2*x.L+1)+m] = at + c*(2*x.L+1) + m; inner {
						order[at+c*(2*x.L+1)+m] = at + m*x.Mul + c
					}
				}
			}
			at += x.Dim()
		}
		r := rand.New(rand.NewPCG(7, rapid.Uint64().Draw(t, "values")))
		e := moved(r, elements, 2, n, func(g group.Element, x []float64) []float64 {
			in := make([]float64, n)
			for i, k := range order {
				in[i] = x[k]
			}
			out := make([]float64, n)
			for i, v := range row(g, in) {
				out[order[i]] = v
			}
			return out
		})
		m := p.typed([]int{2, n}, [][]int{nil}, e, false)
		if n < 2 { // the rows are as good an axis then
			return
		}
		if !turns {
			if m != nil {
				t.Fatalf("%s is typed as %s", ir, m)
			}
			return
		}
		if m == nil {
			t.Fatalf("%s under %s, innermost %v: not typed", ir, name, inner)
		}
		if got, want := p.irreps(&motion{shape: []int{1, n}, parts: m.parts}, name != "SO(3)"),
			canonical(ir, name != "SO(3)"); got != want {
			t.Fatalf("%s under %s, innermost %v: %s, want %s", ir, name, inner, got, want)
		}
		if !e.explained(func(g group.Element, x []float64) ([]float64, error) { return p.apply(m, g, x) }) {
			t.Fatalf("%s does not explain what it was found in", m)
		}
		for i := range e.pairs { // one number that moves in another way
			e.pairs[i].Y[n-1] += 0.05 * r.NormFloat64()
		}
		if m := p.typed([]int{2, n}, [][]int{nil}, e, false); m != nil {
			t.Fatalf("%s with noise in a number is typed as %s", ir, m)
		}
	})
}

// The other polar axis is named; a change of basis is none of those that are known.
func TestBases(t *testing.T) {
	p, elements := spatial(t, "O(3)", 5)
	w, err := irreps.NewWigner(2, irreps.PolarZ)
	if err != nil {
		t.Fatal(err)
	}
	d := make([]float64, w.Len())
	polar := func(mix bool) func(g group.Element, x []float64) []float64 {
		return func(g group.Element, x []float64) []float64 {
			r, _, _ := p.turn(g)
			w.Fill(d, &r)
			in := slices.Clone(x)
			if mix {
				in[0] = x[0] + x[1]
			}
			y := make([]float64, 5)
			for i := range y {
				y[i] = dot(w.Block(d, 2)[5*i:5*i+5], in)
			}
			if mix {
				y[0] -= y[1]
			}
			return y
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	m := p.typed([]int{3, 5}, [][]int{nil}, moved(r, elements, 3, 5, polar(false)), false)
	if m == nil || !strings.Contains(m.String(), "1x2e, polar axis z") {
		t.Errorf("degree 2 about z is %v", m)
	}
	if m := p.typed([]int{3, 5}, [][]int{nil}, moved(r, elements, 3, 5, polar(true)), false); m != nil {
		t.Errorf("another basis is typed as %s", m)
	}
}

// What two layouts explain, and what is zero everywhere, is not typed.
func TestUnclear(t *testing.T) {
	p, elements := spatial(t, "O(3)", 5)
	r := rand.New(rand.NewPCG(1, 2))
	inversion := p.group.Identity()
	inversion[len(inversion)-1] = 1
	if a, improper, ok := p.turn(inversion); !ok || !improper || a[0] != 1 {
		t.Fatalf("%v is no inversion", inversion)
	}
	minus := func(_ group.Element, x []float64) []float64 { return []float64{-x[0], -x[1], -x[2]} }
	m := p.typed([]int{2, 3}, [][]int{nil}, moved(r, []group.Element{inversion}, 2, 3, minus), false)
	if m == nil || p.irreps(m, true) != "" {
		t.Errorf("three pseudoscalars or a vector: %v is %q", m, p.irreps(m, true))
	}
	vector := declared(t, p.group, "1x1o", 3)
	e := moved(r, elements, 2, 4, func(g group.Element, x []float64) []float64 {
		x[3] = 0
		return append(vector(g, x[:3]), 0)
	})
	if m := p.typed([]int{2, 4}, [][]int{nil}, e, false); m == nil || p.irreps(m, true) != "2x1o+2x?" {
		t.Errorf("a vector and a silent number: %v, %q", m, p.irreps(m, true))
	}
}

// Types are named where the elements turn space in all ways, and parities where one mirrors.
func TestNamed(t *testing.T) {
	p, elements := spatial(t, "O(3)", 5)
	quarter := func(axis int) group.Element {
		g := p.group.Identity()
		g[axis] = 90
		return g
	}
	for _, c := range []struct {
		name           string
		list           []group.Element
		types, mirrors bool
	}{
		{"random", elements, true, true},
		{"one", elements[:1], false, true},
		{"the cube", []group.Element{quarter(0), quarter(1), quarter(2)}, false, false},
		{"a turn and the cube", []group.Element{elements[1], quarter(0)}, true, false},
		{"about one axis", []group.Element{{17, 0, 0, 0}, {31, 0, 0, 0}, {0, 180, 0, 0}}, false, false},
	} {
		var list []audit.Element
		for _, g := range c.list {
			list = append(list, audit.Element{G: g})
		}
		types, mirrors := p.named(list)
		if _, improper, _ := p.turn(elements[1]); c.name == "a turn and the cube" {
			c.mirrors = improper
		}
		if types != c.types || mirrors != c.mirrors {
			t.Errorf("%s: types %v, mirrors %v", c.name, types, mirrors)
		}
	}
}

// Functions of degree 2 at directions, and their products: what is moved by way of the harmonics is what they are at
// directions that are turned back. Too few directions hold no product.
func TestFields(t *testing.T) {
	p, elements := spatial(t, "O(3)", 9)
	r := rand.New(rand.NewPCG(3, 4))
	directions := func(n int) *sphere {
		s := &sphere{}
		for range n {
			d := [3]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			l := math.Sqrt(d[0]*d[0] + d[1]*d[1] + d[2]*d[2])
			s.at = append(s.at, [3]float64{d[0] / l, d[1] / l, d[2] / l})
		}
		return s
	}
	value := func(c []float64, d [3]float64) float64 {
		y := make([]float64, 9)
		irreps.Harmonics(y, 2, irreps.PolarY, d[0], d[1], d[2])
		return dot(c, y)
	}
	for _, n := range []int{40, 15} {
		s := directions(n)
		p.spheres = []*sphere{s}
		for _, product := range []bool{false, true} {
			var pairs []feature.Pair
			for object := range 4 {
				a, b := make([]float64, 9), make([]float64, 9)
				for i := range a {
					a[i], b[i] = r.NormFloat64(), r.NormFloat64()
				}
				b[1], b[2], b[3] = 0, 0, 0 // no degree 1
				for _, g := range elements {
					rot, improper, _ := p.turn(g)
					sign := 1.0
					if improper {
						sign = -1
					}
					var x, y []float64
					for _, d := range s.at {
						var back [3]float64 // the direction that comes to lie here
						for i := range 3 {
							back[i] = sign * (rot[i]*d[0] + rot[3+i]*d[1] + rot[6+i]*d[2])
						}
						u, v := value(b, d), value(b, back)
						if product {
							u, v = u*value(a, d), v*value(a, back)
						}
						x, y = append(x, u), append(y, v)
					}
					pairs = append(pairs, feature.Pair{G: g, Object: object, X: x, Y: y})
				}
			}
			want := map[string]string{
				"40 false": "1x0e+1x2e", "40 true": "1x0e+1x1o+1x2e+1x3o+1x4e", "15 false": "1x0e+1x2e", "15 true": "",
			}[fmt.Sprint(n, " ", product)]
			m := p.fields([]int{1, n}, [][]int{nil}, evidenceOf(pairs))
			if got := p.irreps(m, true); got != want {
				t.Errorf("%d directions, product %v: %q, want %q", n, product, got, want)
			}
		}
	}
}

// Irreps in a basis of their own are found by their characters, with parities where something mirrors; what is off on
// samples held out, or fills no space, is not.
func TestFitted(t *testing.T) {
	for _, typ := range []string{"1x2e", "1x0e+1x1o+1x2e", "1x1o+1x1e+2x0e", "1x0o+1x3o", "1x4e+1x3o"} {
		for _, name := range []string{"O(3)", "SO(3)"} {
			p, elements := spatial(t, name, 11)
			ir, err := irreps.Parse(typ)
			if err != nil {
				t.Fatal(err)
			}
			n := ir.Dim()
			row := declared(t, p.group, typ, n)
			r := rand.New(rand.NewPCG(5, 6))
			basis := make([]float64, n*n)
			for i := range basis {
				basis[i] = r.NormFloat64()
			}
			for i := range n {
				basis[i*n+i] += 4
			}
			back := func(x []float64) []float64 { // solves basis y = x by its normal equations
				a, b := make([]float64, n*n), make([]float64, n)
				for k := range n {
					for i := range n {
						b[i] += basis[k*n+i] * x[k]
						for j := range n {
							a[i*n+j] += basis[k*n+i] * basis[k*n+j]
						}
					}
				}
				if !solve(a, b, n, 1) {
					t.Fatal("the basis is none")
				}
				return b
			}
			e := moved(r, elements, 12, n, func(g group.Element, x []float64) []float64 {
				y, out := row(g, back(x)), make([]float64, n)
				for i := range out {
					out[i] = dot(basis[i*n:(i+1)*n], y)
				}
				return out
			})
			shape := []int{12, n}
			if m := p.typed(shape, [][]int{nil}, e, false); m != nil {
				t.Errorf("%s under %s in another basis is typed as %s", typ, name, m)
			}
			m := p.refitted(shape, [][]int{nil}, e)
			if m == nil {
				t.Errorf("%s under %s: not found", typ, name)
				continue
			}
			slices.SortStableFunc(ir, func(a, b irreps.Term) int { return a.L - b.L })
			if name == "SO(3)" {
				want := map[string]string{
					"1x2e": "1x2", "1x0e+1x1o+1x2e": "1x0+1x1+1x2", "1x1o+1x1e+2x0e": "2x0+2x1", "1x0o+1x3o": "1x0+1x3",
					"1x4e+1x3o": "1x3+1x4",
				}[typ]
				if got := spell(m.parts[0].fitted.terms, false); got != want {
					t.Errorf("%s under %s: %s", typ, name, got)
				}
			} else {
				want := map[string]string{
					"1x2e": "1x2e", "1x0e+1x1o+1x2e": "1x0e+1x1o+1x2e", "1x1o+1x1e+2x0e": "2x0e+1x1e+1x1o",
					"1x0o+1x3o": "1x0o+1x3o", "1x4e+1x3o": "1x3o+1x4e",
				}[typ]
				if got := spell(m.parts[0].fitted.terms, true); got != want {
					t.Errorf("%s under %s: %s", typ, name, got)
				}
			}
			for i := range e.pairs { // a little of something that is not linear
				for k, x := range e.pairs[i].X {
					e.pairs[i].Y[k] += 1e-3 * x * x
				}
			}
			if m := p.refitted(shape, [][]int{nil}, e); m != nil {
				t.Errorf("%s under %s with squares is %s", typ, name, m)
			}
			for i := range e.pairs {
				e.pairs[i].X = e.pairs[i].X[:n]
				e.pairs[i].Y = e.pairs[i].Y[:n]
			}
			if m := p.refitted([]int{1, n}, [][]int{nil}, e); m != nil {
				t.Errorf("%s under %s of four samples is %s", typ, name, m)
			}
		}
	}
}
