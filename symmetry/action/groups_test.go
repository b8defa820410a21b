package action_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func parse(tb testing.TB, name string) group.Group {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// some elements of a group: all of a small finite one, else a few of the lattice and a few at random.
func some(tb testing.TB, g group.Group) []group.Element {
	tb.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	if f, ok := g.(group.Finite); ok {
		if all := f.Elements(); len(all) <= 10 {
			return all
		}
		var o []group.Element
		for range 4 {
			o = append(o, f.Elements()[r.IntN(len(f.Elements()))])
		}
		return o
	}
	window := group.Window(g)
	for i, w := range window {
		if w[1]-w[0] > 12 && g.Chart()[i].Unit == "px" {
			window[i] = [2]float64{-5, 5}
		}
	}
	o, err := group.Lattice(g, window)
	if err != nil {
		o = nil // not every group has one
	}
	for len(o) > 4 {
		o = slices.Delete(o, r.IntN(len(o)), len(o))
	}
	more, err := group.Haar(g, 2, window, r)
	if err != nil {
		tb.Fatal(err)
	}
	return append(o, more...)
}

// TestEveryGroup: the laws hold for all groups of the plane, kernels and border rules, on squares and rectangles.
func TestEveryGroup(t *testing.T) {
	for _, name := range []string{
		"SO(2)", "O(2)", "C1", "C4", "C6", "D1", "D4", "D5", "T(2)", "T(2,Z)", "Roll(6,6)", "Roll(5,8)", "Scale",
		"SE(2)", "E(2)", "p4", "p4m",
		"Affine(rotate,scale)", "Trivial",
	} {
		t.Run(name, func(t *testing.T) {
			g := parse(t, name)
			pl, ok := g.(group.Planar)
			if !ok {
				t.Fatal("does not act on the plane")
			}
			els := some(t, g)
			still := func(g group.Element) bool { _, t := pl.Affine(g); return t == [2]float64{} }
			torus, _ := g.(group.Torus)
			for kind, o := range options() {
				t.Run(kind, func(t *testing.T) {
					for _, s := range [][2]int{{6, 6}, {5, 8}} {
						if torus != nil {
							if h, w := torus.Period(); o.Border != action.Circular || h != s[0] || w != s[1] {
								if _, err := action.NewImage(g, imageSpec(2, s[0], s[1]), o); err == nil {
									t.Errorf("a torus of another size or border is accepted")
								}
								continue
							}
						}
						err := actiontest.Laws(actiontest.Case{
							Action: newImage(t, g, s[0], s[1], o), Value: noisy(2, s[0], s[1]), Elements: els,
							Composes: func(g, h group.Element) bool {
								return o.Border == action.Circular || still(g) &&
									still(h)
							},
						})
						if err != nil {
							t.Errorf("%v: %v", s, err)
						}
					}
				})
			}
		})
	}
}

// TestConventionsOfTheGroups joins the two halves of the convention: charts of package group and pictures.
func TestConventionsOfTheGroups(t *testing.T) {
	for name, e := range map[string][4]group.Element{ // quarter turn, mirror, right, down
		"SO(2)":  {{90}, nil, nil, nil},
		"C4":     {{90}, nil, nil, nil},
		"C8":     {{90}, nil, nil, nil},
		"T(2)":   {nil, nil, {1, 0}, {0, 1}},
		"T(2,Z)": {nil, nil, {1, 0}, {0, 1}},
		"SE(2)":  {find(t, "SE(2)", 90, 0, 0), nil, find(t, "SE(2)", 0, 1, 0), find(t, "SE(2)", 0, 0, 1)},
		"D4":     {find(t, "D4", 90, 0), find(t, "D4", 0, 1), nil, nil},
		"O(2)":   {find(t, "O(2)", 90, 0), find(t, "O(2)", 0, 1), nil, nil},
		"D8":     {find(t, "D8", 90, 0), find(t, "D8", 0, 1), nil, nil},
	} {
		a, err := action.NewImage(parse(t, name), space.Spec{Kind: space.KindImage},
			action.Options{Kernel: action.Bicubic})
		if err != nil {
			t.Fatal(err)
		}
		if e[0] != nil {
			if err := actiontest.Orientation(a, e[0], e[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := actiontest.Directions(a, e[2], e[3]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// find orders coordinates by the names of the chart: angle, mirror, then dx, dy as far as the group has them.
func find(tb testing.TB, name string, values ...float64) group.Element {
	tb.Helper()
	g := parse(tb, name)
	order := []string{"angle", "mirror", "dx", "dy"}
	chart := g.Chart()
	e := make(group.Element, len(chart))
	next := 0
	for _, axis := range order {
		i := slices.IndexFunc(chart, func(a group.Axis) bool { return a.Name == axis })
		if i >= 0 && next < len(values) {
			e[i] = values[next]
			next++
		}
	}
	if next != len(values) {
		tb.Fatalf("%s has the chart %v", name, chart)
	}
	return e
}

func TestMask(t *testing.T) {
	m := &space.Mask{H: 5, W: 7, Label: make([]int32, 35)}
	for i := range m.Label {
		m.Label[i] = int32(i%4 + i/11)
	}
	for _, b := range action.Borders() {
		a, err := action.NewMask(plane{}, space.Spec{Kind: space.KindMask, Shape: []int{5, 7}},
			action.Options{Border: b, Kernel: action.Lanczos}, 9)
		if err != nil {
			t.Fatal(err)
		}
		if err := actiontest.Laws(actiontest.Case{
			Action: a, Value: m, Composes: lossless(b),
			Elements: []group.Element{rot(180), element(0, 1, 0, 0), shift(1, 2), rot(33), shift(0.4, 0)},
		}); err != nil {
			t.Errorf("%s: %v", b, err)
		}
		// The labels move like the numbers of a picture under the nearest kernel.
		x := space.NewImage(1, 5, 7)
		for i, l := range m.Label {
			x.Pix[i] = float64(l) - 9 // outside is 9 in the mask and 0 in the picture
		}
		im := newImage(t, plane{}, 5, 7, action.Options{Kernel: action.Nearest, Border: b})
		for _, g := range []group.Element{rot(25), rot(180), shift(3, -1), {70, 1, 0.3, 0.2, 1.4}} {
			got, want := as[*space.Mask](a.Apply(g, m)), as[*space.Image](im.Apply(g, x))
			for i, l := range got.Label {
				if float64(l)-9 != want.Pix[i] {
					t.Fatalf("%s, %v: label %d at pixel %d, the picture says %g", b, g, l, i, want.Pix[i]+9)
				}
			}
		}
	}
	a, err := action.Rules().For(plane{}, space.Spec{Kind: space.KindMask}, action.Options{Window: []int{3, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if got := as[*space.Mask](a.Apply(shift(0, 0), m)); !slices.Equal(got.Label,
		[]int32{
			m.Label[9], m.Label[10], m.Label[11], m.Label[16], m.Label[17], m.Label[18], m.Label[23], m.Label[24],
			m.Label[25],
		}) {
		t.Errorf("the window shows %v", got.Label)
	}
}

func tensorOf(seed uint64, shape ...int) *space.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return &space.Tensor{Shape: shape, Val: noise(seed, n)}
}

func TestTensorLaws(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		shape      []int
	}{
		{"C4", "regular", []int{8, 5, 5}},
		{"C4", "regular", []int{8}},
		{"C6", "regular", []int{6, 6, 6}},
		{"D4", "regular", []int{16, 4, 4}},
		{"D4", "trivial", []int{3, 4, 4}},
		{"D3", "regular", []int{12}},
		{"SO(2)", "trivial", []int{3, 6, 6}},
		{"SO(2)", "trivial", []int{3}},
		{"D4", "trivial", []int{3, 4, 7}},
		{"Roll(2,3)", "regular", []int{12}},
	} {
		g := parse(t, c.name)
		v := tensorOf(4, c.shape...)
		a, err := action.Rules().For(g, space.Spec{Name: "f", Kind: space.KindTensor, Shape: c.shape, Type: c.kind},
			action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := actiontest.Laws(actiontest.Case{Action: a, Value: v, Elements: some(t, g)}); err != nil {
			t.Errorf("%s %s %v: %v", c.name, c.kind, c.shape, err)
		}
	}
}

// TestRegularFieldOfC4 writes the action out: (g·F)(p, h) = F(g⁻¹p, g⁻¹h).
func TestRegularFieldOfC4(t *testing.T) {
	g := parse(t, "C4")
	v := tensorOf(1, 8, 3, 3)
	a, err := action.Rules().For(g, space.Spec{Kind: space.KindTensor, Shape: []int{8, 3, 3}, Type: "regular"},
		action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, ok := g.(group.Finite)
	if !ok || len(f.Elements()) != 4 {
		t.Fatal("C4 does not list four elements")
	}
	turns := func(e group.Element) int { return int(math.Round(e[0] / 90)) }
	for _, e := range f.Elements() {
		got := as[*space.Tensor](a.Apply(e, v))
		for field := range 2 {
			for k, h := range f.Elements() {
				var from int // the channel of g⁻¹h
				for j, q := range f.Elements() {
					if (turns(q)+turns(e))%4 == turns(h)%4 {
						from = j
					}
				}
				for r := range 3 {
					for c := range 3 {
						y, x := r, c
						for range turns(e) {
							y, x = x, 2-y
						}
						if got.Val[((field*4+k)*3+r)*3+c] != v.Val[((field*4+from)*3+y)*3+x] {
							t.Fatalf("turn by %g, field %d, channel %d, row %d, column %d: not the number at g⁻¹", e[0],
								field, k, r, c)
						}
					}
				}
			}
		}
	}
}

// TestRegularMatrices: permutation matrices that compose, with trace |G| at the identity and 0 elsewhere.
func TestRegularMatrices(t *testing.T) {
	for _, name := range []string{"C1", "C5", "C12", "D2", "D6"} {
		f, ok := parse(t, name).(group.Finite)
		if !ok {
			t.Fatal("not finite")
		}
		reg := action.Regular(f)
		n := len(f.Elements())
		if _, err := action.Given(f, "matrices", n, func(g group.Element) []float64 {
			m, err := reg.Matrix(g)
			if err != nil {
				t.Error(err)
			}
			return m
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, g := range f.Elements() {
			m, err := reg.Matrix(g)
			if err != nil {
				t.Fatal(err)
			}
			var trace, sum float64
			for k := range n {
				trace += m[k*n+k]
			}
			for _, v := range m {
				sum += v * v
			}
			if want := float64(n); i == 0 && trace != want || i > 0 && trace != 0 || sum != want || reg.Dim() != n {
				t.Errorf("%s: element %v has trace %g and %g ones", name, g, trace, sum)
			}
		}
		if _, err := reg.Matrix(slices.Repeat(group.Element{0.3}, len(f.Chart()))); err == nil && n > 1 {
			t.Errorf("%s: an element outside the group has a matrix", name)
		}
	}
}

// vectors are plane vectors (x right, y down) that turn with the picture.
func vectors(p group.Planar) func(g group.Element) []float64 {
	return func(g group.Element) []float64 {
		a, _ := p.Affine(g)
		return []float64{a[0][0], a[0][1], a[1][0], a[1][1]}
	}
}

func TestGivenRepresentation(t *testing.T) {
	for _, name := range []string{"SO(2)", "O(2)", "D4", "C3"} {
		g, ok := parse(t, name).(group.Planar)
		if !ok {
			t.Fatal("does not act on the plane")
		}
		rep, err := action.Given(g, "vector", 2, vectors(g))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := space.Spec{Name: "flow", Kind: space.KindTensor, Shape: []int{4, 6, 6}}
		a, err := append(action.Table{action.TensorRule("flow", rep)}, action.Rules()...).For(g, s, action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := tensorOf(3, 4, 6, 6)
		if err := actiontest.Laws(actiontest.Case{Action: a, Value: v, Elements: some(t, g)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "D4" {
			// The field rule of the quarter turn: out[r][c] = in[c][n-1-r], then (u, v) becomes (v, -u).
			got := as[*space.Tensor](a.Apply(find(t, "D4", 90, 0), v))
			for r := range 6 {
				for c := range 6 {
					src := c*6 + 5 - r
					if got.Val[r*6+c] != v.Val[36+src] || got.Val[36+r*6+c] != -v.Val[src] {
						t.Fatalf("row %d, column %d: the vector does not turn with its place", r, c)
					}
				}
			}
			if !action.Exact(a, find(t, "D4", 90, 0)) {
				t.Error("a quarter turn with signs is not called exact")
			}
		}
		// The transpose turns the other way: an order-one error that the check must see, except where all commute.
		_, err = action.Given(g, "transposed", 2, func(e group.Element) []float64 {
			m := vectors(g)(e)
			m[1], m[2] = m[2], m[1]
			return m
		})
		if commutes := name == "SO(2)" || name == "C3"; commutes != (err == nil) {
			t.Errorf("%s, transposed: %v", name, err)
		}
	}
	so2 := parse(t, "SO(2)")
	for what, m := range map[string]func(group.Element) []float64{
		"degrees read as radians": func(g group.Element) []float64 {
			s, c := math.Sincos(g[0])
			return []float64{c, s, -s, c}
		},
		"the zero matrix":     func(group.Element) []float64 { return make([]float64, 4) },
		"too few numbers":     func(group.Element) []float64 { return []float64{1} },
		"NaN":                 func(group.Element) []float64 { return []float64{1, 0, 0, math.NaN()} },
		"a constant reversal": func(group.Element) []float64 { return []float64{0, 1, 1, 0} },
	} {
		if _, err := action.Given(so2, "wrong", 2, m); err == nil {
			t.Errorf("%s passes for a representation", what)
		}
	}
	if _, err := action.Given(line{}, "unit", 1, func(group.Element) []float64 { return []float64{1} }); err == nil {
		t.Error("a group that cannot be tried is accepted")
	}
}

// Group, Identity and chart of line are those of the reals under addition; nothing enumerates or samples it.
func (line) Chart() []group.Axis               { return []group.Axis{{Name: "x"}} }
func (line) Identity() group.Element           { return group.Element{0} }
func (line) Inv(g group.Element) group.Element { return group.Element{-g[0]} }

func TestScores(t *testing.T) {
	d1 := parse(t, "D1")
	swap, err := action.Given(d1, "left and right", 3, func(g group.Element) []float64 {
		if d1.Dist(g, d1.Identity()) == 0 {
			return []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
		}
		return []float64{0, 1, 0, 1, 0, 0, 0, 0, 1}
	})
	if err != nil {
		t.Fatal(err)
	}
	table := append(action.Table{action.ScoresRule("side", swap)}, action.Rules()...)
	s := space.Spec{Name: "side", Kind: space.KindScores, Shape: []int{3}}
	a, err := table.For(d1, s, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := &space.Scores{Val: []float64{0.7, 0.2, 0.1}, Probabilities: true}
	if err := actiontest.Laws(actiontest.Case{Action: a, Value: v, Elements: some(t, d1)}); err != nil {
		t.Error(err)
	}
	mirror := find(t, "D1", 0, 1)
	got := as[*space.Scores](a.Apply(mirror, v))
	if !slices.Equal(got.Val, []float64{0.2, 0.7, 0.1}) || !got.Probabilities {
		t.Errorf("the mirror makes %v", got)
	}
	if _, err := table.For(d1, space.Spec{Name: "other", Kind: space.KindScores}, action.Options{}); !errors.Is(err,
		errors.ErrUnsupported) {
		t.Errorf("another port: %v", err)
	}
	sign, err := action.Given(d1, "sign", 1, func(g group.Element) []float64 {
		if d1.Dist(g, d1.Identity()) == 0 {
			return []float64{1}
		}
		return []float64{-1}
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := action.NewScores(d1, space.Spec{Kind: space.KindScores}, sign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Apply(mirror, &space.Scores{Val: []float64{1}, Probabilities: true}); err == nil {
		t.Error("a probability becomes negative")
	}
	if o := as[*space.Scores](b.Apply(mirror, &space.Scores{Val: []float64{4}})); o.Val[0] != -4 || !b.Exact(mirror) {
		t.Errorf("a signed score becomes %v", o.Val)
	}
	if _, err := action.NewScores(d1, space.Spec{Kind: space.KindScores, Shape: []int{4}}, swap); err == nil {
		t.Error("four classes for a representation on three")
	}
}

func TestInvariantScores(t *testing.T) {
	g := parse(t, "SO(2)")
	a, err := action.Rules().For(g, space.Spec{Kind: space.KindScores}, action.Options{Invariant: true})
	if err != nil {
		t.Fatal(err)
	}
	v := &space.Scores{Val: []float64{1, 2}}
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: v,
		Elements: []group.Element{{10}, {100}},
	}); err != nil {
		t.Error(err)
	}
}
