package action_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/action/phantom"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// planarGroups act on pictures of any size; with Time they act on frames and fields.
func planarGroups() []string {
	return []string{
		"SO(2)", "O(2)", "C4", "C6", "D1", "D4", "D5", "T(2)", "T(2,Z)", "Scale", "SE(2)", "E(2)", "p4", "p4m",
		"Affine(rotate,scale)", "Affine(shear)", "Trivial",
	}
}

func noisyFrames(t, c, h, w int) *space.Frames {
	f := &space.Frames{}
	for i := range t {
		m := space.NewImage(c, h, w)
		copy(m.Pix, noise(uint64(1000*i+h*w), len(m.Pix)))
		f.Images = append(f.Images, m)
	}
	return f
}

func noisyField(h, w int) *space.Field {
	f := space.NewField(h, w)
	copy(f.Val, noise(uint64(77+h*100+w), len(f.Val)))
	return f
}

func kindSpec(k space.Kind) space.Spec { return space.Spec{Name: "x", Kind: k} }

func newFrames(tb testing.TB, g group.Group, t, c, h, w int, o action.Options) *action.Frames {
	tb.Helper()
	a, err := action.NewFrames(g, space.Spec{Name: "x", Kind: space.KindFrames, Shape: []int{t, c, h, w}}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func newField(tb testing.TB, g group.Group, h, w int, o action.Options) *action.Field {
	tb.Helper()
	a, err := action.NewField(g, space.Spec{Name: "x", Kind: space.KindField, Shape: []int{2, h, w}}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// TestFramesAndFieldsOfEveryGroup: the laws, with Time and without, on squares and rectangles. The kernels, which move
// single planes as they do those of pictures, take turns.
func TestFramesAndFieldsOfEveryGroup(t *testing.T) {
	var names []string
	for _, name := range append(planarGroups(), "Roll(6,6)", "Roll(5,8)") {
		names = append(names, name+" x Time")
	}
	all := []action.Options{
		{Kernel: action.Nearest, Border: action.Edge},
		{Kernel: action.Spline, Border: action.Reflect},
		{Kernel: action.Bicubic, Border: action.Circular},
		{Kernel: action.Up3},
	}
	for i, name := range append(names, "Time", "D4", "SE(2)", "Roll(6,6)", "Scale") {
		t.Run(name, func(t *testing.T) {
			g := parse(t, name)
			pl, ok := g.(group.Planar)
			if !ok {
				t.Fatal("does not act on the plane")
			}
			els := some(t, g)
			fixed := func(g group.Element) bool { _, t := pl.Affine(g); return t == [2]float64{} }
			for _, o := range []action.Options{{}, all[i%len(all)]} {
				for _, s := range [][2]int{{6, 6}, {5, 8}} {
					if r, ok := g.(group.Torus); ok {
						if h, w := r.Period(); h != s[0] || w != s[1] {
							if _, err := action.NewFrames(g,
								space.Spec{Kind: space.KindFrames, Shape: []int{2, 1, s[0], s[1]}},
								action.Options{}); err == nil {
								t.Error("a torus of another size is accepted")
							}
							continue
						}
						o.Border = action.Circular
					}
					composes := func(g, h group.Element) bool {
						return o.Border == action.Circular || fixed(g) &&
							fixed(h)
					}
					for _, c := range []actiontest.Case{
						{Action: newFrames(t, g, 3, 2, s[0], s[1], o), Value: noisyFrames(3, 2, s[0], s[1])},
						{Action: newField(t, g, s[0], s[1], o), Value: noisyField(s[0], s[1])},
					} {
						c.Elements, c.Composes = els, composes
						if err := actiontest.Laws(c); err != nil {
							t.Errorf("%T %v, %+v: %v", c.Value, s, o, err)
						}
					}
				}
			}
		})
	}
}

// TestFramesMoveAsImages: frame by frame, whatever the kernel, border and window; and in the other order when time runs
// backwards.
func TestFramesMoveAsImages(t *testing.T) {
	g := parse(t, "E(2) x Time")
	for kind, o := range options() {
		for _, window := range [][]int{nil, {7, 6}} {
			o.Window = window
			x := noisyFrames(3, 2, 11, 12)
			frames := newFrames(t, g, 3, 2, 11, 12, o)
			image, err := action.NewImage(catalog.E2(), imageSpec(2, 11, 12), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []group.Element{
				{0, 0, 0, 0},
				{90, 0, 0, 0},
				{180, 1, 2, -1},
				{33, 1, 0.5, 1},
				{0, 0, 1.25, 0},
			} {
				for reverse := range 2 {
					got := as[*space.Frames](frames.Apply(append(append(group.Element{}, e...), float64(reverse)), x))
					for i := range x.Images {
						k := i
						if reverse == 1 {
							k = 2 - i
						}
						if d := actiontest.Distance(got.Images[i], must(image.Apply(e, x.Images[k]))); d != 0 {
							t.Errorf("%s, window %v, element %v, reverse %d: frame %d is not frame %d moved: %g", kind,
								window, e, reverse, i, k, d)
						}
					}
				}
			}
		}
	}
}

// field draws a field by its formula, (x, y) measured from the centre, y down.
func field(h, w int, at func(x, y float64) (u, v float64)) *space.Field {
	f := space.NewField(h, w)
	for r := range h {
		for c := range w {
			f.U()[r*w+c], f.V()[r*w+c] = at(float64(c)-float64(w-1)/2, float64(r)-float64(h-1)/2)
		}
	}
	return f
}

// apart is the largest difference of two fields inside a centred disc of 0.75 of the half side.
func apart(a, b *space.Field) float64 {
	var d float64
	disc := phantom.Disc(a.H, a.W, 0.75)
	for i := range a.Val {
		if disc[i%(a.H*a.W)] {
			d = max(d, math.Abs(a.Val[i]-b.Val[i]))
		}
	}
	return d
}

// TestAnalyticFields: flows that are known to keep or to change under a motion.
func TestAnalyticFields(t *testing.T) {
	const n = 41
	rigid := func(x, y float64) (float64, float64) { return 0.1 * y, -0.1 * x } // counter-clockwise as displayed
	strain := func(x, y float64) (float64, float64) { return 0.1 * x, -0.1 * y }
	source := func(x, y float64) (float64, float64) { return 0.1 * x, 0.1 * y }
	// Lamb-Oseen: v_θ = Γ/(2πr)·(1 - exp(-r²/rc²)), here with Γ/2π = 20 px², rc = 8 px.
	vortex := func(x, y float64) (float64, float64) {
		q := x*x + y*y
		if q == 0 {
			return 0, 0
		}
		s := 20 / q * (1 - math.Exp(-q/64))
		return s * y, -s * x
	}
	uniform := func(_, _ float64) (float64, float64) { return 3, -1 }
	so2, o2 := parse(t, "SO(2)"), parse(t, "O(2)")
	for _, o := range []action.Options{
		{Kernel: action.Spline, Border: action.Edge},
		{Kernel: action.Bilinear, Border: action.Edge},
		{Kernel: action.Lanczos, Border: action.Edge},
	} {
		floor := map[action.Kernel]float64{action.Spline: 3e-4, action.Bilinear: 1e-2, action.Lanczos: 1e-2}[o.Kernel]
		turn := newField(t, so2, n, n, o)
		for name, f := range map[string]func(x, y float64) (float64, float64){
			"rigid rotation": rigid, "vortex": vortex,
			"source": source,
		} {
			for _, a := range []float64{17, 45, 90, 123.4} {
				x := field(n, n, f)
				if d := apart(as[*space.Field](turn.Apply(group.Element{a}, x)), x); !(d <= floor) {
					t.Errorf("%s: %s changes by %g when turned by %g degrees", o.Kernel, name, d, a)
				}
			}
		}
		mirror := newField(t, o2, n, n, o)
		for name, c := range map[string]struct {
			f    func(x, y float64) (float64, float64)
			g    group.Element
			sign float64
		}{
			"rigid rotation, mirrored":          {rigid, group.Element{0, 1}, -1},
			"vortex, mirrored along 25 degrees": {vortex, group.Element{50, 1}, -1},
			"source, mirrored":                  {source, group.Element{30, 1}, 1},
			"strain, mirrored":                  {strain, group.Element{0, 1}, 1},
			"strain, quarter turn":              {strain, group.Element{90, 0}, -1},
			"strain, turned by 45 and -45 agree": {
				func(x, y float64) (float64, float64) { return 0.1 * y, 0.1 * x },
				group.Element{90, 0},
				-1,
			},
		} {
			x := field(n, n, c.f)
			got := as[*space.Field](mirror.Apply(c.g, x))
			for i := range x.Val {
				x.Val[i] *= c.sign
			}
			if d := apart(got, x); !(d <= floor) {
				t.Errorf("%s: %s: off by %g", o.Kernel, name, d)
			}
		}
		// A uniform field turns as one vector: (3, -1) px points right and up, at atan2(1, 3) on the screen.
		for _, a := range []float64{30, 90, 200} {
			got := as[*space.Field](turn.Apply(group.Element{a}, field(n, n, uniform)))
			at := math.Atan2(1, 3) + a*math.Pi/180
			want := field(n, n, func(_, _ float64) (float64, float64) {
				return math.Sqrt(10) * math.Cos(at), -math.Sqrt(10) * math.Sin(at)
			})
			if d := apart(got, want); !(d <= 1e-9) {
				t.Errorf("%s: a uniform field turned by %g degrees is off by %g", o.Kernel, a, d)
			}
		}
		// Magnifying by 2 stretches the vectors, and a linear field is what it was.
		scale := newField(t, catalog.Scale(), n, n, o)
		if d := apart(as[*space.Field](scale.Apply(group.Element{2}, field(n, n, strain))),
			field(n, n, strain)); !(d <= floor) {
			t.Errorf("%s: a linear field magnified is off by %g", o.Kernel, d)
		}
		if got := as[*space.Field](scale.Apply(group.Element{2}, field(n, n, uniform))); math.Abs(
			got.Val[n*n/2]-6) > 1e-9 {
			t.Errorf("%s: u = 3 magnified by 2 is %g", o.Kernel, got.Val[n*n/2])
		}
	}
}

// TestTableOfTheSquare: all sixteen elements against the formulas of the table, on a field and a pair without any
// symmetry.
func TestTableOfTheSquare(t *testing.T) {
	signs := [8]func(u, v float64) (float64, float64){
		func(u, v float64) (float64, float64) { return u, v },
		func(u, v float64) (float64, float64) { return -v, -u },
		func(u, v float64) (float64, float64) { return v, -u },
		func(u, v float64) (float64, float64) { return -u, v },
		func(u, v float64) (float64, float64) { return -u, -v },
		func(u, v float64) (float64, float64) { return v, u },
		func(u, v float64) (float64, float64) { return -v, u },
		func(u, v float64) (float64, float64) { return u, -v },
	}
	g := parse(t, "piv-d4t")
	for _, n := range []int{4, 5} {
		f, x := noisyField(n, n), noisyFrames(2, 1, n, n)
		af, ax := newField(t, g, n, n, action.Options{}), newFrames(t, g, 2, 1, n, n, action.Options{})
		first := newField(t, g, n, n, action.Options{AtFirst: true})
		for i := range 16 {
			e, ok := group.AtNumber(g, i)
			if !ok {
				t.Fatalf("no element %d", i)
			}
			if !af.Exact(e) || !ax.Exact(e) || first.Exact(e) != (i < 8) {
				t.Errorf("element %d: exact for fields %v, frames %v, fields at the first frame %v", i, af.Exact(e),
					ax.Exact(e), first.Exact(e))
			}
			gotF, gotX := as[*space.Field](af.Apply(e, f)), as[*space.Frames](ax.Apply(e, x))
			for r := range n {
				for c := range n {
					sr, sc := actiontest.D4(i%8, n, r, c)
					u, v := signs[i%8](f.U()[sr*n+sc], f.V()[sr*n+sc])
					a, b := x.Images[0].Pix[sr*n+sc], x.Images[1].Pix[sr*n+sc]
					if i >= 8 {
						u, v, a, b = -u, -v, b, a
					}
					if gu, gv := gotF.U()[r*n+c], gotF.V()[r*n+c]; gu != u || gv != v {
						t.Fatalf("element %d (%s), n = %d: vector [%d][%d] is (%g, %g), want (%g, %g)", i,
							group.Title(g, e), n, r, c, gu, gv, u, v)
					}
					if ga, gb := gotX.Images[0].Pix[r*n+c], gotX.Images[1].Pix[r*n+c]; ga != a || gb != b {
						t.Fatalf("element %d, n = %d: the frames at [%d][%d] are %g, %g, want %g, %g", i, n, r, c, ga,
							gb, a, b)
					}
				}
			}
		}
	}
}

// TestFieldKeepsLengths: orthogonal elements by index keep the length of every vector, to the last bit, and its energy
// with it.
func TestFieldKeepsLengths(t *testing.T) {
	g := parse(t, "piv-d4t")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		f := space.NewField(n, n)
		for i := range f.Val {
			f.Val[i] = rapid.Float64Range(-9, 9).Draw(t, "v")
		}
		e, _ := group.AtNumber(g, rapid.IntRange(0, 15).Draw(t, "number"))
		a, err := action.NewField(g, kindSpec(space.KindField), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := as[*space.Field](a.Apply(e, f))
		lengths := func(f *space.Field) map[float64]int {
			m := map[float64]int{}
			for i, u := range f.U() {
				m[u*u+f.V()[i]*f.V()[i]]++
			}
			return m
		}
		if x, y := lengths(f), lengths(got); fmt.Sprint(x) != fmt.Sprint(y) {
			t.Fatalf("element %v: lengths %v become %v", e, x, y)
		}
		if d := actiontest.Distance(must(a.Apply(g.Inv(e), got)), f); d != 0 {
			t.Fatalf("element %v: there and back differs by %g", e, d)
		}
	})
}

// TestFieldMovesAsTheMapSays: a field of any formula moves as the map says, at any angle, with sub-pixel shifts and
// magnification.
func TestFieldMovesAsTheMapSays(t *testing.T) {
	const n = 48
	smooth := func(x, y float64) (float64, float64) {
		return math.Sin(x/5) + 0.3*math.Cos(y/6), math.Cos(x/7-y/5) - 0.2*math.Sin(y/4)
	}
	for _, name := range []string{"SE(2) x Time", "E(2)", "Affine(rotate,scale)", "Affine(shear)", "T(2)"} {
		g := parse(t, name)
		pl, ok := g.(group.Planar)
		if !ok {
			t.Fatal(name)
		}
		a := newField(t, g, n, n, action.Options{Kernel: action.Lanczos, Border: action.Reflect})
		window := group.Window(g)
		for i, x := range g.Chart() {
			if x.Unit == "factor" {
				window[i] = [2]float64{1, 1.6} // what comes in at the border is not the formula
			}
		}
		es, err := group.Haar(g, 5, window, rand.New(rand.NewPCG(3, 4)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			m, s := pl.Affine(e)
			det := m[0][0]*m[1][1] - m[0][1]*m[1][0]
			want := field(n, n, func(x, y float64) (float64, float64) {
				x, y = x-s[0], y-s[1]
				u, v := smooth((m[1][1]*x-m[0][1]*y)/det, (m[0][0]*y-m[1][0]*x)/det)
				if group.Reverses(g, e) {
					u, v = -u, -v
				}
				return m[0][0]*u + m[0][1]*v, m[1][0]*u + m[1][1]*v
			})
			if d := apart(as[*space.Field](a.Apply(e, field(n, n, smooth))), want); !(d <= 0.02) {
				t.Errorf("%s: element %v is off by %g", name, e, d)
			}
		}
	}
}

func TestFramesAndFieldsRefuse(t *testing.T) {
	g := parse(t, "D4 x Time")
	refuse := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	e := g.Identity()
	frames := newFrames(t, g, 2, 1, 4, 4, action.Options{})
	apply := func(a action.Action, v space.Value) error { _, err := a.Apply(e, v); return err }
	x := noisyFrames(2, 1, 4, 4)
	refuse("no frames", "at least one", apply(frames, &space.Frames{}))
	refuse("a frame that is nil", "frame 2 of 2",
		apply(frames, &space.Frames{Images: []*space.Image{x.Images[0], nil}}))
	refuse("frames of two sizes", "frame 2 has 1×4×5",
		apply(frames, &space.Frames{Images: []*space.Image{x.Images[0], noisy(1, 4, 5)}}))
	refuse("three frames", "made for 2", apply(frames, noisyFrames(3, 1, 4, 4)))
	refuse("two channels", "made for 1", apply(frames, noisyFrames(2, 2, 4, 4)))
	refuse("another size", "made for 4×4", apply(frames, noisyFrames(2, 1, 4, 5)))
	refuse("a field", "want frames", apply(frames, noisyField(4, 4)))
	m, err := frames.Prepare(e, x)
	if err != nil {
		t.Fatal(err)
	}
	refuse("frames onto themselves", "share memory",
		m.Move(&space.Frames{Images: []*space.Image{noisy(1, 4, 4), x.Images[0]}}, x))
	f := newField(t, g, 4, 4, action.Options{})
	refuse("a field with missing numbers", "not 2×4×4", apply(f, &space.Field{H: 4, W: 4, Val: make([]float64, 31)}))
	refuse("a field of another size", "made for 4×4", apply(f, noisyField(4, 5)))
	refuse("frames as a field", "want a field", apply(f, x))
	fm, err := f.Prepare(e, noisyField(4, 4))
	if err != nil {
		t.Fatal(err)
	}
	v := noisyField(4, 4)
	refuse("a field onto itself", "share memory", fm.Move(v, v))
	_, err = action.NewField(g, kindSpec(space.KindField), action.Options{Window: []int{2, 2}})
	refuse("a window for a field", "leave the window out", err)
	_, err = action.NewField(g, space.Spec{Kind: space.KindField, Shape: []int{3, 4, 4}}, action.Options{})
	refuse("three components", "u and v", err)
	for _, k := range []space.Kind{space.KindImage, space.KindMask, space.KindBoxes} {
		_, err := action.Rules().For(g, kindSpec(k), action.Options{})
		refuse(string(k)+" backwards in time", "reverses time", err)
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: not ErrUnsupported", k)
		}
	}
	_, err = action.NewFrames(parse(t, "D4 x T(2,Z) x Time"), kindSpec(space.KindFrames), action.Options{})
	refuse("turns and shifts as a direct product", "the group p4m x Time", err)
	for _, k := range []space.Kind{space.KindFrames, space.KindField} {
		if _, err := action.Rules().For(g, kindSpec(k), action.Options{}); err != nil {
			t.Errorf("%s: %v", k, err)
		}
		_, err := action.Rules().For(line{}, kindSpec(k), action.Options{})
		refuse(string(k)+" under a group without plane", "affine maps", err)
	}
}

func TestFramesAndFieldsMoveWithoutAllocation(t *testing.T) {
	g := parse(t, "SE(2) x Time")
	for _, o := range []action.Options{{}, {Kernel: action.Spline}, {Kernel: action.Bicubic, Border: action.Reflect}} {
		for _, e := range []group.Element{{90, 1, 2, 1}, {35, 0, 0, 0}, {0, 0.5, 0, 1}} {
			for _, c := range []struct {
				a        action.Preparer
				to, from space.Value
			}{
				{newFrames(t, g, 2, 3, 40, 40, o), noisyFrames(2, 3, 40, 40), noisyFrames(2, 3, 40, 40)},
				{newField(t, g, 40, 40, o), noisyField(40, 40), noisyField(40, 40)},
			} {
				m, err := c.a.Prepare(e, c.from)
				if err != nil {
					t.Fatal(err)
				}
				if n := testing.AllocsPerRun(5, func() {
					if err := m.Move(c.to, c.from); err != nil {
						t.Fatal(err)
					}
				}); n != 0 {
					t.Errorf("%T, %s, element %v: %v allocations", c.from, o.Kernel, e, n)
				}
				if action.Bytes(m) < 100 {
					t.Errorf("%T: a prepared element holds %d bytes", c.from, action.Bytes(m))
				}
			}
		}
	}
}
