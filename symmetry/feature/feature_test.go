package feature_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func cyclic(tb testing.TB, n int) group.Group {
	tb.Helper()
	g, err := catalog.Cyclic(n)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func frame(tb testing.TB, g group.Group, o ...action.Border) *feature.Frame {
	tb.Helper()
	var b action.Border
	if len(o) > 0 {
		b = o[0]
	}
	f, err := feature.NewFrame(g, "", b)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func noise(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func numbers(tb testing.TB, v space.Value) []float64 {
	tb.Helper()
	x, err := v.Parts()[0].Float64s(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

func apply(tb testing.TB, r *feature.Rep, g group.Element, x []float64) []float64 {
	tb.Helper()
	y, err := r.Apply(g, x)
	if err != nil {
		tb.Fatal(err)
	}
	return y
}

// regular is the mix of C4 on blocks of four channels: field f in orientation k moves to orientation k+1.
func regular(fields int) *feature.Mix {
	m := &feature.Mix{}
	for turn := 1; turn < 4; turn++ {
		m.Elements = append(m.Elements, group.Element{float64(90 * turn)})
		from := make([]int32, 4*fields)
		for c := range from {
			from[c] = int32(c/4*4 + (c%4+4-turn)%4)
		}
		m.From = append(m.From, from)
	}
	return m
}

func must(tb testing.TB) func(r *feature.Rep, err error) *feature.Rep {
	tb.Helper()
	return func(r *feature.Rep, err error) *feature.Rep {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return r
	}
}

// On a map whose places are pixels a representation does what the action on pictures does, element by element, exact or
// not.
func TestMapIsTheActionOnPictures(t *testing.T) {
	g := catalog.E2()
	f := frame(t, g)
	r := must(t)(f.Map([]int{2, 5, 5}, [2]float64{1, 1}))
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{2, 5, 5}},
		action.Options{Kernel: action.Spline})
	if err != nil {
		t.Fatal(err)
	}
	x := noise(rand.New(rand.NewPCG(1, 1)), 50)
	for _, e := range []group.Element{{0, 0, 0, 0}, {90, 0, 0, 0}, {0, 1, 2, -1}, {30, 0, 0.5, 0.25}, {270, 1, 0, 1}} {
		want, err := a.Apply(e, &space.Image{C: 2, H: 5, W: 5, Pix: x})
		if err != nil {
			t.Fatal(err)
		}
		if got := apply(t, r, e, x); !slices.Equal(got, numbers(t, want)) {
			t.Errorf("%v: the map moves otherwise than the picture", e)
		}
		if r.Exact(e) != a.Exact(e) {
			t.Errorf("%v: exact is %v, that of the picture is %v", e, r.Exact(e), a.Exact(e))
		}
	}
}

// Shifts are divided by the stride; where that leaves whole places they are exact.
func TestStride(t *testing.T) {
	f := frame(t, catalog.T2Z(), action.Circular)
	r := must(t)(f.Map([]int{1, 4, 6}, [2]float64{2, 2}))
	x := noise(rand.New(rand.NewPCG(1, 2)), 24)
	got := apply(t, r, group.Element{4, -2}, x)
	for row := range 4 {
		for col := range 6 {
			if want := x[(row+1)%4*6+(col+4)%6]; got[row*6+col] != want {
				t.Fatalf("row %d column %d is %g, want %g", row, col, got[row*6+col], want)
			}
		}
	}
	if !r.Exact(group.Element{4, -2}) || r.Exact(group.Element{1, 0}) || !strings.Contains(r.String(), "every 2 px") {
		t.Errorf("%v: shifts by the stride are exact, others are not", r)
	}
	// Unequal strides: a quarter turn is no lattice map any more.
	s := must(t)(frame(t, cyclic(t, 4)).Map([]int{1, 4, 4}, [2]float64{1, 2}))
	if s.Exact(group.Element{90}) || !s.Exact(group.Element{180}) {
		t.Error("on a grid that is finer along x than along y only the half turn is exact")
	}
}

// layouts draws values of every form on a frame of C4.
func layouts(tb testing.TB, f *feature.Frame) map[string]*feature.Rep {
	tb.Helper()
	g := feature.At(3, 3, 1)
	with := func(p feature.Part, shape ...int) *feature.Rep { return must(tb)(f.Layout(shape, p)) }
	out := map[string]*feature.Rep{
		"map":     with(feature.Part{Channels: 2, Grids: []feature.Grid{g}}, 2, 3, 3),
		"fields":  with(feature.Part{Channels: 8, Grids: []feature.Grid{g}, Mix: regular(2)}, 8, 3, 3),
		"vector":  with(feature.Part{Channels: 4, Mix: regular(1)}, 4),
		"pairs":   with(feature.Part{Channels: 2, Grids: []feature.Grid{g, g}}, 2, 9, 9),
		"trivial": f.Fixed([]int{3}),
	}
	for i, r := range f.Candidates([]int{3, 3, 2}, []feature.Grid{g}) {
		out["last"+string(rune('0'+i))] = r
	}
	for i, r := range f.Candidates([]int{10, 2}, []feature.Grid{g}) {
		out["tokens"+string(rune('0'+i))] = r
	}
	for i, r := range f.Candidates([]int{18}, []feature.Grid{g}) {
		out["flat"+string(rune('0'+i))] = r
	}
	return out
}

// ρ(e) = 1, ρ(g)ρ(h) = ρ(gh) bit for bit, and linearity.
func TestLaws(t *testing.T) {
	f := frame(t, cyclic(t, 4))
	g := f.Group()
	for name, r := range layouts(t, f) {
		rapid.Check(t, func(t *rapid.T) {
			a := group.Element{90 * float64(rapid.IntRange(0, 3).Draw(t, "a"))}
			b := group.Element{90 * float64(rapid.IntRange(0, 3).Draw(t, "b"))}
			x := noise(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), size(r))
			ab, err := r.Apply(g.Mul(a, b), x)
			if err != nil {
				t.Fatal(err)
			}
			bx, err := r.Apply(b, x)
			if err != nil {
				t.Fatal(err)
			}
			abx, err := r.Apply(a, bx)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ab, abx) {
				t.Fatalf("%s: ρ(gh)x differs from ρ(g)ρ(h)x", name)
			}
			if !r.Exact(a) {
				t.Fatalf("%s: %v is not exact", name, a)
			}
		})
	}
}

func size(r *feature.Rep) int {
	n := 1
	for _, d := range r.Shape() {
		n *= d
	}
	return n
}

// transposed is a movement of data: the axes of a value in another order.
func transposed(shape, order []int) (out []int, from []feature.Place) {
	stride := make([]int, len(shape))
	s := 1
	for a := len(shape) - 1; a >= 0; a-- {
		stride[a] = s
		s *= shape[a]
	}
	from = []feature.Place{{}}
	for _, a := range order {
		var next []feature.Place
		for _, p := range from {
			for k := range shape[a] {
				next = append(next, feature.Place{At: p.At + k*stride[a]})
			}
		}
		from, out = next, append(out, shape[a])
	}
	return out, from
}

func moved(xs [][]float64, from []feature.Place) []float64 {
	y := make([]float64, len(from))
	for i, p := range from {
		y[i] = 7 // a constant
		if p.Value >= 0 {
			y[i] = xs[p.Value][p.At]
		}
	}
	return y
}

// What moves data about commutes with the representations: moving ρ(g)x about is the pushed representation on the moved
// x.
func TestPushed(t *testing.T) {
	f := frame(t, cyclic(t, 4))
	g3 := feature.At(3, 3, 1)
	a := must(t)(f.Map([]int{2, 3, 3}, [2]float64{1, 1}))
	b := must(t)(f.Layout([]int{8, 3, 3}, feature.Part{Channels: 8, Grids: []feature.Grid{g3}, Mix: regular(2)}))
	five := must(t)(f.Map([]int{2, 5, 5}, [2]float64{1, 1}))
	all := func(v, n int) []feature.Place {
		out := make([]feature.Place, n)
		for i := range out {
			out[i] = feature.Place{Value: v, At: i}
		}
		return out
	}
	last, lastFrom := transposed([]int{2, 3, 3}, []int{1, 2, 0})
	quarters := []group.Element{{90}, {180}, {270}}
	var crop, second, tokens []feature.Place
	for c := range 2 {
		for y := 0; y < 5; y += 2 {
			for x := 0; x < 5; x += 2 {
				second = append(second, feature.Place{At: c*25 + y*5 + x})
			}
		}
		for y := 1; y < 4; y++ {
			for x := 1; x < 4; x++ {
				crop = append(crop, feature.Place{At: c*25 + y*5 + x})
			}
		}
	}
	tokens = append([]feature.Place{{Value: -1}, {Value: -1}}, lastFrom...)
	for _, c := range []struct {
		name  string
		ins   []*feature.Rep
		shape []int
		from  []feature.Place
		want  string
	}{
		{"flatten", []*feature.Rep{a}, []int{18}, all(0, 18), "permutation 2×3×3"},
		{"channels last", []*feature.Rep{a}, last, lastFrom, "spatial 2×3×3"},
		{"join", []*feature.Rep{a, b}, []int{10, 3, 3}, append(all(0, 18), all(1, 72)...), "regular 10×3×3, 4 fields"},
		{"join equal", []*feature.Rep{a, a}, []int{4, 3, 3}, append(all(0, 18), all(1, 18)...), "spatial 4×3×3"},
		{"one field", []*feature.Rep{b}, []int{4, 3, 3}, all(0, 72)[36:], "regular 4×3×3, 1 field"},
		{"twice", []*feature.Rep{a}, []int{36}, append(all(0, 18), all(0, 18)...), "permutation 4×3×3"},
		{"crop", []*feature.Rep{five}, []int{2, 3, 3}, crop, "spatial 2×3×3"},
		{"every second", []*feature.Rep{five}, []int{2, 3, 3}, second, "spatial 2×3×3, every 2 px"},
		{"class token", []*feature.Rep{a}, []int{10, 2}, tokens, "mixed 2 + 2×3×3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := must(t)(f.Pushed(c.shape, c.ins, c.from, quarters))
			if r.String() != c.want {
				t.Errorf("it is %q, want %q", r, c.want)
			}
			rng := rand.New(rand.NewPCG(3, 3))
			var xs, gx [][]float64
			e := group.Element{90}
			for _, in := range c.ins {
				xs = append(xs, noise(rng, size(in)))
				gx = append(gx, apply(t, in, e, xs[len(xs)-1]))
			}
			if got, want := apply(t, r, e, moved(xs, c.from)), moved(gx, c.from); !slices.Equal(got, want) {
				t.Errorf("ρ(g) of the moved value is %v, want %v", got, want)
			}
		})
	}
	for name, from := range map[string][]feature.Place{
		"half a field": all(0, 18), "one row": all(0, 3),
		"no grid": all(0, 13), "other order": all(0, 72)[1:10],
	} {
		ins := []*feature.Rep{b}
		if name == "no grid" || name == "one row" {
			ins[0] = a
		}
		if _, err := f.Pushed([]int{len(from)}, ins, from, quarters); !errors.Is(err, feature.ErrLayout) {
			t.Errorf("%s: got %v, want ErrLayout", name, err)
		}
	}
}

// Derivatives of a quadratic field are exact inside the border: d/dt F(exp(-tX)p) = -∇F·(Lp + B).
func TestDerivative(t *testing.T) {
	f := frame(t, catalog.SE2(), action.Edge)
	const h, w = 7, 9
	r := must(t)(f.Map([]int{1, h, w}, [2]float64{2, 2}))
	field := func(x, y float64) (v, dx, dy float64) {
		return 1 + 2*x - y + 0.5*x*x - x*y + 0.25*y*y, 2 + x - y, -1 - x + 0.5*y
	}
	v := make([]float64, h*w)
	for i := range v {
		v[i], _, _ = field(2*float64(i%w)-(w-1), 2*float64(i/w)-(h-1))
	}
	flows := feature.Flows(catalog.SE2())
	if len(flows) != 3 {
		t.Fatalf("SE(2) has %d flows", len(flows))
	}
	for k, x := range flows {
		d, err := r.Derivative(x, v)
		if err != nil {
			t.Fatal(err)
		}
		for row := 1; row < h-1; row++ {
			for col := 1; col < w-1; col++ {
				px, py := 2*float64(col)-(w-1), 2*float64(row)-(h-1)
				_, dx, dy := field(px, py)
				// y points down: counter-clockwise on the screen is (x, y)' = (y, -x).
				want := []float64{-(py*dx - px*dy), -dx, -dy}[k]
				if got := d[row*w+col]; !(math.Abs(got-want) <= 1e-5*(1+math.Abs(want))) {
					t.Fatalf("%s at (%g, %g): %g, want %g", x.Name, px, py, got, want)
				}
			}
		}
	}
	if d, err := f.Fixed([]int{4}).Derivative(flows[0], []float64{1, 2, 3, 4}); err != nil || slices.Max(d) != 0 ||
		slices.Min(d) != 0 {
		t.Errorf("what does not move has the derivative %v, %v", d, err)
	}
}

// The stencil is the derivative of the bilinear action under every border rule.
func TestStencilIsBilinear(t *testing.T) {
	for _, b := range action.Borders() {
		f, err := feature.NewFrame(catalog.T2(), action.Bilinear, b)
		if err != nil {
			t.Fatal(err)
		}
		r := must(t)(f.Map([]int{2, 4, 5}, [2]float64{2, 2}))
		x := noise(rand.New(rand.NewPCG(5, 5)), 40)
		const h = 0.25
		plus, minus := apply(t, r, group.Element{h, 0}, x), apply(t, r, group.Element{-h, 0}, x)
		d, err := r.Derivative(feature.Flows(catalog.T2())[0], x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d {
			if want := (plus[i] - minus[i]) / (2 * h); !(math.Abs(d[i]-want) <= 1e-12) {
				t.Fatalf("%s: number %d is %g, want %g", b, i, d[i], want)
			}
		}
	}
}

func TestFlows(t *testing.T) {
	d4, err := catalog.Dihedral(4)
	if err != nil {
		t.Fatal(err)
	}
	d1, err := catalog.Dihedral(1)
	if err != nil {
		t.Fatal(err)
	}
	roll, err := catalog.Roll(4, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := feature.Flows(catalog.SO2())[0].L
	for _, g := range []group.Group{cyclic(t, 4), d4, catalog.P4()} {
		if got := feature.Flows(g)[0].L; math.Abs(got[0][1]-want[0][1]) > 1e-8 ||
			math.Abs(got[1][0]-want[1][0]) > 1e-8 {
			t.Errorf("%s turns by %v, SO(2) by %v", g.Name(), got, want)
		}
	}
	for g, n := range map[group.Group]int{
		catalog.SO2(): 1, catalog.O2(): 1, d4: 1, d1: 0, cyclic(t, 2): 0, catalog.T2(): 2, catalog.T2Z(): 2, roll: 2,
		catalog.SE2(): 3, catalog.P4M(): 3, catalog.Scale(): 1, group.Trivial(): 0,
	} {
		if got := feature.Flows(g); len(got) != n {
			t.Errorf("%s has %d flows, want %d", g.Name(), len(got), n)
		}
	}
}

func TestRefusals(t *testing.T) {
	f := frame(t, cyclic(t, 4))
	if _, err := feature.NewFrame(f.Group(), "sharp", ""); err == nil || !strings.Contains(err.Error(), "want one of") {
		t.Errorf("kernel: %v", err)
	}
	if _, err := feature.NewFrame(f.Group(), "", "wall"); err == nil || !strings.Contains(err.Error(), "want one of") {
		t.Errorf("border: %v", err)
	}
	bad := func(name string, _ *feature.Rep, err error) {
		if err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	r, err := f.Map([]int{3, 3}, [2]float64{1, 1})
	bad("a map without channels", r, err)
	r, err = f.Layout([]int{4}, feature.Part{Channels: 3})
	bad("too few numbers", r, err)
	r, err = f.Layout([]int{2}, feature.Part{Channels: 2, Index: []int32{0, 0}})
	bad("a number twice", r, err)
	r, err = f.Layout([]int{4},
		feature.Part{Channels: 4, Mix: &feature.Mix{Elements: []group.Element{{90}}, From: [][]int32{{0, 0, 1, 2}}}})
	bad("no permutation", r, err)
	r, err = f.Layout([]int{4}, feature.Part{Channels: 1, Grids: []feature.Grid{{H: 2, W: 2}}})
	bad("a grid without stride", r, err)
	v := must(t)(f.Layout([]int{4},
		feature.Part{Channels: 4, Mix: &feature.Mix{Elements: []group.Element{{90}}, From: [][]int32{{1, 2, 3, 0}}}}))
	if _, err := v.Apply(group.Element{180}, make([]float64, 4)); !errors.Is(err, feature.ErrElement) {
		t.Errorf("an element that is not listed: %v", err)
	}
	if _, err := v.Apply(group.Element{90}, make([]float64, 5)); err == nil {
		t.Error("a value of another size is not refused")
	}
}

// An action of the user is used as it is.
func TestGiven(t *testing.T) {
	g := cyclic(t, 4)
	c4, ok := g.(group.Finite)
	if !ok {
		t.Fatal("C4 cannot be listed")
	}
	f := frame(t, g)
	a, err := action.NewScores(g, space.Spec{Kind: space.KindScores, Shape: []int{4}}, action.Regular(c4))
	if err != nil {
		t.Fatal(err)
	}
	r := f.Given([]int{4}, a, func(x []float64) space.Value { return &space.Scores{Val: x} },
		func(v space.Value) ([]float64, error) { return numbers(t, v), nil })
	if got := apply(t, r, group.Element{90}, []float64{1, 2, 3, 4}); !slices.Equal(got, []float64{4, 1, 2, 3}) {
		t.Errorf("a quarter turn gives %v", got)
	}
	if r.Kind() != feature.Declared || r.Origin != feature.ByUser || !r.Exact(group.Element{90}) {
		t.Errorf("%v, %s", r, r.Origin)
	}
}
