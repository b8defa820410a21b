package action_test

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
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func signalSpec(typ string, c, t int) space.Spec {
	return space.Spec{Name: "sound", Kind: space.KindSignal, Shape: []int{c, t}, Type: typ}
}

func signal(c, t int) *space.Signal {
	return &space.Signal{C: c, T: t, Rate: 16000, Val: noise(9, c*t)}
}

func newSignal(tb testing.TB, g group.Group, s space.Spec, o action.Options) *action.Signal {
	tb.Helper()
	a, err := action.NewSignal(g, s, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func moveSignal(tb testing.TB, a action.Action, g group.Element, x *space.Signal) []float64 {
	tb.Helper()
	v, err := a.Apply(g, x)
	if err != nil {
		tb.Fatal(err)
	}
	y, ok := v.(*space.Signal)
	if !ok {
		tb.Fatalf("a signal became %T", v)
	}
	if y.Rate != x.Rate {
		tb.Error("the rate is lost")
	}
	return y.Val
}

func rollTime(tb testing.TB, n int) group.Group {
	tb.Helper()
	g, err := catalog.RollTime(n)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func TestSignalByIndex(t *testing.T) {
	x := &space.Signal{C: 2, T: 5, Val: []float64{1, 2, 3, 4, 5, 10, 20, 30, 40, 50}}
	for _, c := range []struct {
		name string
		g    group.Group
		e    group.Element
		o    action.Options
		typ  string
		want []float64
	}{
		{"later", catalog.T1Z(), group.Element{2}, action.Options{}, "", []float64{0, 0, 1, 2, 3, 0, 0, 10, 20, 30}},
		{
			"earlier", catalog.T1Z(),
			group.Element{-1},
			action.Options{Border: action.Edge},
			"",
			[]float64{2, 3, 4, 5, 5, 20, 30, 40, 50, 50},
		},
		{
			"mirrored border", catalog.T1Z(),
			group.Element{2},
			action.Options{Border: action.Reflect},
			"",
			[]float64{3, 2, 1, 2, 3, 30, 20, 10, 20, 30},
		},
		{"far", catalog.T1Z(), group.Element{99}, action.Options{}, "", make([]float64, 10)},
		{
			"around", rollTime(t, 5),
			group.Element{2},
			action.Options{},
			"",
			[]float64{4, 5, 1, 2, 3, 40, 50, 10, 20, 30},
		},
		{"back", catalog.E1Z(), group.Element{0, 1}, action.Options{}, "", []float64{
			5, 4, 3, 2, 1, 50, 40, 30,
			20, 10,
		}},
		{
			"back, then later", catalog.E1Z(),
			group.Element{1, 1},
			action.Options{},
			"",
			[]float64{0, 5, 4, 3, 2, 0, 50, 40, 30, 20},
		},
		{
			"velocities back", catalog.E1Z(),
			group.Element{0, 1},
			action.Options{},
			action.TypeVelocities,
			[]float64{-5, -4, -3, -2, -1, -50, -40, -30, -20, -10},
		},
		{"unchanged", catalog.E1Z(), group.Element{3, 1}, action.Options{}, space.TypeUnchanged, x.Val},
		{"window", catalog.T1Z(), group.Element{1}, action.Options{Window: []int{3}}, "", []float64{
			1, 2, 3, 10,
			20, 30,
		}},
		{
			"window back", catalog.E1Z(),
			group.Element{1, 1},
			action.Options{Window: []int{3}},
			"",
			[]float64{5, 4, 3, 50, 40, 30},
		},
		{
			"half, nearest", catalog.T1(),
			group.Element{0.5},
			action.Options{Kernel: action.Nearest},
			"",
			[]float64{1, 2, 3, 4, 5, 10, 20, 30, 40, 50},
		},
		{
			"half", catalog.T1(),
			group.Element{0.5},
			action.Options{},
			"",
			[]float64{0.5, 1.5, 2.5, 3.5, 4.5, 5, 15, 25, 35, 45},
		},
		{
			"frames of two samples", catalog.T1Z(),
			group.Element{2},
			action.Options{Stride: 2},
			"",
			[]float64{0, 1, 2, 3, 4, 0, 10, 20, 30, 40},
		},
		{
			"half a frame", catalog.T1Z(),
			group.Element{1},
			action.Options{Stride: 2},
			"",
			[]float64{0.5, 1.5, 2.5, 3.5, 4.5, 5, 15, 25, 35, 45},
		},
	} {
		if got := moveSignal(t, newSignal(t, c.g, signalSpec(c.typ, 2, 5), c.o), c.e, x); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSignalLaws(t *testing.T) {
	long := func(g, h group.Element) bool { return math.Abs(g[0])+math.Abs(h[0]) < 20 }
	for name, c := range map[string]struct {
		g        group.Sampler
		o        action.Options
		n        int
		elements []group.Element
		composes func(g, h group.Element) bool
	}{
		"around": {asA[group.Sampler](t, rollTime(t, 17)), action.Options{}, 17, []group.Element{{3}, {8}, {16}}, nil},
	} {
		a := newSignal(t, c.g, signalSpec("", 2, c.n), c.o)
		if err := actiontest.Laws(actiontest.Case{
			Action: a, Value: signal(2, c.n), Elements: c.elements,
			Composes: c.composes,
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Under a border rule what has left is gone, so only a signal that is empty at its ends is moved about.
	x := signal(2, 64)
	for i := range x.Val {
		if k := i % 64; k < 24 || k >= 40 {
			x.Val[i] = 0
		}
	}
	for _, typ := range []string{"", action.TypeVelocities} {
		a := newSignal(t, catalog.E1Z(), signalSpec(typ, 2, 64), action.Options{})
		if err := actiontest.Laws(actiontest.Case{
			Action: a, Value: x,
			Elements: []group.Element{{3, 0}, {-7, 1}, {0, 1}, {9, 0}}, Composes: long,
		}); err != nil {
			t.Errorf("entering, type %q: %v", typ, err)
		}
	}
	// A slow wave is moved between samples as well as the kernel can.
	wave := space.NewSignal(1, 64, 0)
	for i := range wave.Val {
		wave.Val[i] = math.Sin(2 * math.Pi * 3 * float64(i) / 64)
	}
	for k, floor := range map[action.Kernel]float64{
		action.Bilinear: 0.03, action.Bicubic: 4e-3, action.Lanczos: 0.02,
		action.Spline: 5e-4,
	} {
		a := newSignal(t, catalog.T1(), signalSpec("", 1, 64), action.Options{Kernel: k, Border: action.Circular})
		if err := actiontest.Laws(actiontest.Case{
			Action: a, Value: wave,
			Elements: []group.Element{{0.5}, {2.25}, {-3}, {0.125}}, Floor: floor,
		}); err != nil {
			t.Errorf("%s: %v", k, err)
		}
		for _, by := range []float64{0.3, -5.7} {
			got := moveSignal(t, a, group.Element{by}, wave)
			for i, v := range got {
				if want := math.Sin(2 * math.Pi * 3 * (float64(i) - by) / 64); !(math.Abs(v-want) < floor) {
					t.Fatalf("%s: a wave that is %g later has %g at %d, want %g", k, by, v, i, want)
				}
			}
		}
	}
}

// TestSignalAsPicture holds signals against the action on pictures of one row.
func TestSignalAsPicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		by := float64(rapid.IntRange(-500, 500).Draw(t, "by")) / 10
		o := action.Options{
			Kernel: rapid.SampledFrom([]action.Kernel{
				action.Nearest, action.Bilinear, action.Bicubic, action.Lanczos,
				action.Spline,
			}).Draw(t, "kernel"),
			Border: rapid.SampledFrom(action.Borders()).Draw(t, "border"),
		}
		w := o
		if rapid.Bool().Draw(t, "window") {
			k := rapid.IntRange(1, n).Draw(t, "length")
			o.Window, w.Window = []int{k}, []int{1, k}
		}
		x := &space.Signal{C: 2, T: n, Val: noise(uint64(n), 2*n)}
		s, err := action.NewSignal(catalog.T1(), signalSpec("", 2, n), o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := action.NewImage(catalog.T2(), space.Spec{Kind: space.KindImage, Shape: []int{2, 1, n}}, w)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Apply(group.Element{by}, x)
		if err != nil {
			t.Fatal(err)
		}
		picture := &space.Image{C: 2, H: 1, W: n, Pix: x.Val}
		b, err := p.Apply(group.Element{by, 0}, picture)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range asA[*space.Image](t, b).Pix {
			if got := asA[*space.Signal](t, a).Val[i]; !(math.Abs(got-v) < 1e-9) {
				t.Fatalf("number %d is %g, that of the picture %g", i, got, v)
			}
		}
		got, err := s.Padded(group.Element{by}, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Padded(group.Element{by, 0}, picture)
		if err != nil {
			t.Fatal(err)
		}
		// Splines reach above and below a picture of one row.
		if o.Kernel != action.Nearest && o.Kernel != action.Spline && got != want {
			t.Fatalf("%d numbers are the border rule's, of the picture %d", got, want)
		}
		if s.Exact(group.Element{by}) != p.Exact(group.Element{by, 0}) {
			t.Fatal("exact for one and not for the other")
		}
	})
}

// flowing moves space or pictures at a constant velocity per frame, for tests.
type flowing struct {
	inner group.Group
	axes  int
	step  func(v group.Element, t float64) group.Element
}

func (g flowing) Name() string                                { return "Test flow" }
func (g flowing) Chart() []group.Axis                         { return make([]group.Axis, g.axes) }
func (g flowing) Identity() group.Element                     { return make(group.Element, g.axes) }
func (g flowing) Inner() group.Group                          { return g.inner }
func (g flowing) At(e group.Element, t float64) group.Element { return g.step(e, t) }
func (g flowing) Mul(p, q group.Element) group.Element {
	o := slices.Clone(p)
	for i, v := range q {
		o[i] += v
	}
	return o
}

func (g flowing) Inv(p group.Element) group.Element {
	o := slices.Clone(p)
	for i, v := range p {
		o[i] = 0 - v
	}
	return o
}

func (g flowing) Dist(p, q group.Element) float64 {
	var d float64
	for i, v := range p {
		d = max(d, math.Abs(v-q[i]))
	}
	return d
}

func (g flowing) Sample(r *rand.Rand) group.Element {
	o := make(group.Element, g.axes)
	for i := range o {
		o[i] = float64(r.IntN(5) - 2)
	}
	return o
}

// spinning turns space about z by e[0] degrees per frame.
func spinning() flowing {
	return flowing{turning{}, 1, func(e group.Element, t float64) group.Element {
		s, c := group.SinCos(e[0] * t / 2)
		return group.Element{c, 0, 0, s, 0, 0, 0, 0}
	}}
}

func TestFlowOfSignals(t *testing.T) {
	a := newSignal(t, spinning(), signalSpec(space.TypePositions, 3, 4), action.Options{})
	x := &space.Signal{C: 3, T: 4, Val: []float64{1, 1, 1, 1, 0, 0, 0, 0, 7, 7, 7, 7}}
	got := moveSignal(t, a, group.Element{90}, x)
	for i, want := range []float64{1, 0, -1, 0, 0, 1, 0, -1, 7, 7, 7, 7} {
		if !(math.Abs(got[i]-want) < 1e-12) {
			t.Errorf("number %d is %g, want %g", i, got[i], want)
		}
	}
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: signal(3, 4),
		Elements: []group.Element{{90}, {17}, {-3.5}}, Floor: 1e-12,
	}); err != nil {
		t.Error(err)
	}
	// Turning all times alike is the group of space itself, and commutes with shifts of time.
	g := product(t, catalog.T1Z(), turning{rotations: true})
	still := newSignal(t, g, signalSpec(space.TypeVectors, 3, 30), action.Options{})
	y := signal(3, 30)
	for i := range y.Val {
		if k := i % 30; k < 10 || k >= 20 {
			y.Val[i] = 0
		}
	}
	if err := actiontest.Laws(actiontest.Case{
		Action: still, Value: y, Floor: 1e-12,
		Elements: []group.Element{
			append(group.Element{2}, cubes()[0]...),
			append(group.Element{-3}, sampled(turning{rotations: true}, 1)[0]...),
		},
	}); err != nil {
		t.Error(err)
	}
}

func TestSignalRefusals(t *testing.T) {
	roll := rollTime(t, 8)
	for _, c := range []struct {
		g    group.Group
		typ  string
		t    int
		o    action.Options
		want string
	}{
		{
			roll, "", 9,
			action.Options{},
			"Roll(8) moves 8 samples around, the signal has 9; the group for it is Roll(9)",
		},
		{roll, "", 8, action.Options{Border: action.Zero}, "needs the border rule circular"},
		{catalog.T1Z(), "", 8, action.Options{Window: []int{9}}, "window 9: the signal has only 8 samples"},
		{catalog.T1Z(), "", 8, action.Options{Window: []int{2, 3}}, "the window of a signal is one number"},
		{catalog.T1Z(), "", 8, action.Options{Kernel: action.Up3}, "is for pictures"},
		{catalog.T1Z(), "", 8, action.Options{Stride: -1}, "stride -1"},
		{catalog.T1Z(), "", 8, action.Options{Stride: math.NaN()}, "stride NaN"},
		{catalog.T1Z(), "loud", 8, action.Options{}, `type "loud" is not known`},
		{turning{}, "", 8, action.Options{}, "does not move a signal as long as nobody says what its channels are"},
		{turning{}, "vectors", 8, action.Options{}, "rows of 2 numbers do not hold whole vectors of 3"},
		{permuting{n: 3}, "", 8, action.Options{}, "Test S(3) does not move a signal"},
		{product(t, spinning(), catalog.T1Z()), "unchanged", 8, action.Options{}, "flows do not commute with shifts"},
		{product(t, catalog.Time(), catalog.T1Z()), "", 8, action.Options{}, "their joint motions are E(1,Z)"},
		{nameless{catalog.T1Z()}, "", 8, action.Options{}, "Nameless does not say how it moves signals"},
	} {
		_, err := action.NewSignal(c.g, signalSpec(c.typ, 2, c.t), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %s", c.g.Name(), c.typ, err, c.want)
		}
	}
	a := newSignal(t, roll, space.Spec{Name: "sound", Kind: space.KindSignal}, action.Options{})
	if _, err := a.Apply(group.Element{1}, signal(1, 9)); err == nil ||
		!strings.Contains(err.Error(), "moves 8 samples around") {
		t.Errorf("nine samples under Roll(8): %v", err)
	}
}

func frames(n, c, h, w int) *space.Frames {
	f := &space.Frames{}
	for i := range n {
		f.Images = append(f.Images, &space.Image{C: c, H: h, W: w, Pix: noise(uint64(i+1), c*h*w)})
	}
	return f
}

func framesSpec(n, c, h, w int) space.Spec {
	return space.Spec{Name: "video", Kind: space.KindFrames, Shape: []int{n, c, h, w}}
}

func chosen(tb testing.TB, g group.Group, s space.Spec, o action.Options) action.Action {
	tb.Helper()
	a, err := action.Rules().For(g, s, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func TestFrameShift(t *testing.T) {
	x := frames(6, 2, 4, 5)
	a := chosen(t, rollTime(t, 6), framesSpec(6, 2, 4, 5), action.Options{})
	if err := actiontest.Laws(actiontest.Case{Action: a, Value: x, Elements: []group.Element{{1}, {4}}}); err != nil {
		t.Error(err)
	}
	later := chosen(t, catalog.E1Z(), framesSpec(6, 2, 4, 5), action.Options{})
	v, err := later.Apply(group.Element{2, 1}, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range asA[*space.Frames](t, v).Images {
		want := make([]float64, 40)
		if i >= 2 {
			want = x.Images[7-i].Pix
		}
		if !slices.Equal(m.Pix, want) {
			t.Errorf("frame %d is not what it should be", i)
		}
	}
	if n, err := asA[action.Padder](t, later).Padded(group.Element{2, 1}, x); err != nil || n != 2*4*5 {
		t.Errorf("%d pixels filled in, want those of 2 frames: %v", n, err)
	}
	// Between frames every pixel is a signal.
	for _, k := range []action.Kernel{action.Bilinear, action.Lanczos, action.Spline} {
		for _, b := range action.Borders() {
			o := action.Options{Kernel: k, Border: b}
			f, err := chosen(t, catalog.T1(), framesSpec(6, 2, 4, 5), o).Apply(group.Element{1.3}, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []int{0, 17, 39} {
				s := space.NewSignal(1, 6, 0)
				for i, m := range x.Images {
					s.Val[i] = m.Pix[p]
				}
				for i, v := range moveSignal(t, newSignal(t, catalog.T1(), signalSpec("", 1, 6), o), group.Element{1.3},
					s) {
					if got := asA[*space.Frames](t, f).Images[i].Pix[p]; !(math.Abs(got-v) < 1e-12) {
						t.Errorf("%s, %s: pixel %d of frame %d is %g, want %g", k, b, p, i, got, v)
					}
				}
			}
		}
	}
}

func drifting() flowing {
	return flowing{catalog.T2Z(), 2, func(e group.Element, t float64) group.Element {
		return group.Element{math.Round(e[0] * t), math.Round(e[1] * t)}
	}}
}

func TestFlowOfFrames(t *testing.T) {
	x := frames(4, 1, 6, 7)
	a := chosen(t, drifting(), framesSpec(4, 1, 6, 7), action.Options{Border: action.Circular})
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: x,
		Elements: []group.Element{{1, 0}, {-2, 3}},
	}); err != nil {
		t.Error(err)
	}
	v, err := a.Apply(group.Element{1, 2}, x)
	if err != nil {
		t.Fatal(err)
	}
	one, err := action.NewImage(catalog.T2Z(), space.Spec{Kind: space.KindImage},
		action.Options{Border: action.Circular})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range asA[*space.Frames](t, v).Images {
		want, err := one.Apply(group.Element{float64(i), 2 * float64(i)}, x.Images[i])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Pix, asA[*space.Image](t, want).Pix) {
			t.Errorf("frame %d has not moved by the time times the velocity", i)
		}
	}
	cut := chosen(t, drifting(), framesSpec(4, 1, 6, 7), action.Options{Window: []int{3, 3}})
	if err := actiontest.Laws(actiontest.Case{
		Action: cut, Value: x, Elements: []group.Element{{1, 0}, {-1, 1}},
		Reframes: true,
	}); err != nil {
		t.Error(err)
	}
	if n, err := asA[action.Padder](t, cut).Padded(group.Element{1, 0}, x); err != nil || n != 3 {
		t.Errorf("%d pixels filled in at velocity 1, want a column of the last frame: %v", n, err)
	}
	if _, err := action.Rules().For(drifting(), space.Spec{Name: "x", Kind: space.KindImage},
		action.Options{}); !errors.Is(err, errors.ErrUnsupported) ||
		!strings.Contains(err.Error(), "a single picture has none") {
		t.Errorf("a flow on a picture: %v", err)
	}
	if _, err := action.Rules().For(product(t, drifting(), catalog.T2()), framesSpec(4, 1, 6, 7),
		action.Options{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a flow and shifts: %v", err)
	}
}
