package action_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// hill is a slow wave with its formula, drawn about the centre of n×n pixels.
func hill(n int) *space.Image {
	half := float64(n-1) / 2
	m := space.NewImage(1, n, n)
	f := &space.Formula{
		At: func(_ int, x, y float64) float64 { return math.Cos(0.25*x+0.1) + math.Sin(0.2*y-0.15*x) },
		X:  [3]float64{-half, 1, 0}, Y: [3]float64{-half, 0, 1},
	}
	f.Draw(m)
	m.Formula = f
	return m
}

func ruled(t *testing.T, name string, s space.Spec, o action.Options) action.Action {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	a, err := action.Rules().For(g, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func moved(t *testing.T, a action.Action, g group.Element, v space.Value) *space.Image {
	t.Helper()
	y, err := a.Apply(g, v)
	if err != nil {
		t.Fatal(err)
	}
	m := space.Picture(y)
	if m == nil {
		t.Fatalf("%T is no picture", y)
	}
	if p, ok := a.(action.Preparer); ok {
		mover, err := p.Prepare(g, v)
		if err != nil {
			t.Fatal(err)
		}
		to := m.Like()
		for i, x := range to.Numbers() {
			to.Numbers()[i] = x + 7 // every number is overwritten
		}
		if err := mover.Move(to, v); err != nil {
			t.Fatal(err)
		}
		if d := furthest(space.Picture(to), m, func(int, int) bool { return true }); d != 0 {
			t.Fatalf("prepared, it moves by %g otherwise", d)
		}
	}
	return m
}

// furthest is the largest difference at the pixels that are asked for.
func furthest(a, b *space.Image, at func(r, c int) bool) float64 {
	var most float64
	for i := range a.Pix {
		if d := math.Abs(a.Pix[i] - b.Pix[i]); at(i/a.W, i%a.W) && !(d <= most) {
			most = d
		}
	}
	return most
}

// What turns in the disc is what the formula has there, up to interpolation, also at the rim; and nothing else counts.
// Under a border rule the corners alone make an error of the size of the picture.
func TestDiscAgainstFormulas(t *testing.T) {
	for _, n := range []int{24, 25} {
		x := hill(n)
		pixels := &space.Image{C: 1, H: n, W: n, Pix: x.Pix}
		noisy := space.NewImage(1, n, n)
		r := rand.New(rand.NewPCG(3, 0))
		inside := func(row, col int) bool {
			y, x := float64(row)-float64(n-1)/2, float64(col)-float64(n-1)/2
			return math.Hypot(y, x) <= float64(n)/2
		}
		for i := range noisy.Pix {
			if noisy.Pix[i] = pixels.Pix[i]; !inside(i/n, i%n) {
				noisy.Pix[i] = 100 * r.NormFloat64()
			}
		}
		spec := space.Spec{Kind: space.KindImage, Shape: []int{1, n, n}}
		disc := ruled(t, "O(2)", spec, action.Options{Kernel: action.Bicubic, Region: action.Disc})
		square := ruled(t, "O(2)", spec, action.Options{Kernel: action.Bicubic})
		if o, ok := action.OptionsOf(disc); !ok || o.Region != action.Disc {
			t.Errorf("options %+v, %v", o, ok)
		}
		var worstIn, worstRim, worstSquare float64
		for _, g := range []group.Element{{10, 0}, {37, 0}, {45, 0}, {121, 0}, {200, 1}, {90, 0}, {0, 1}} {
			want := moved(t, disc, g, x) // the formula, drawn anew
			if free := moved(t, square, g, x); furthest(want, free, inside) != 0 {
				t.Error("the mask changes what is inside")
			}
			got := moved(t, disc, g, pixels)
			if d := furthest(got, moved(t, disc, g, noisy), func(int, int) bool { return true }); d != 0 {
				t.Errorf("%v: what lies outside the disc counts: %g", g, d)
			}
			for i, v := range got.Pix {
				if !inside(i/n, i%n) && (v != 0 || want.Pix[i] != 0) {
					t.Fatalf("%v: %g outside the disc", g, v)
				}
			}
			worstIn = max(worstIn, furthest(got, want, func(r, c int) bool {
				return math.Hypot(float64(r)-float64(n-1)/2, float64(c)-float64(n-1)/2) <= float64(n)/2-3
			}))
			worstRim = max(worstRim, furthest(got, want, inside))
			formula := moved(t, square, g, x)
			worstSquare = max(worstSquare, furthest(moved(t, square, g, pixels), formula,
				func(int, int) bool { return true }))
			if leaves, err := action.Leaves(disc, g, pixels); err != nil || leaves {
				t.Errorf("%v: leaves %v, %v", g, leaves, err)
			}
		}
		if !(worstIn < 0.002) || !(worstRim < 0.15) || !(worstSquare > 0.5) {
			t.Errorf("%d pixels: %g inside, %g at the rim, %g with corners", n, worstIn, worstRim, worstSquare)
		}
	}
}

// Quarter turns and mirrors take the disc to itself bit for bit, and on what is zero outside it the laws hold.
func TestDiscLattice(t *testing.T) {
	for _, s := range []space.Value{space.NewImage(2, 9, 9), space.NewField(10, 10), space.NewFrames(2, 1, 7, 7)} {
		spec := space.SpecOf("x", s)
		a := ruled(t, "D4", spec, action.Options{Region: action.Disc})
		r := rand.New(rand.NewPCG(4, 0))
		x := s.Clone()
		if f, ok := x.(*space.Frames); ok {
			for _, m := range f.Images {
				for i := range m.Pix {
					m.Pix[i] = r.NormFloat64()
				}
			}
		} else {
			for i := range x.Numbers() {
				x.Numbers()[i] = r.NormFloat64()
			}
		}
		x = action.Disc.Within(x)
		g, ok := a.Group().(group.Finite)
		if !ok {
			t.Fatal("D4 is finite")
		}
		apply := func(g group.Element, v space.Value) space.Value {
			y, err := a.Apply(g, v)
			if err != nil {
				t.Fatal(err)
			}
			return y
		}
		same := func(a, b space.Value) bool {
			x, y := a.Numbers(), b.Numbers()
			for i := range x {
				if x[i] != y[i] {
					return false
				}
			}
			return true
		}
		if !same(apply(g.Identity(), x), x) {
			t.Errorf("%s: the identity changes what is zero outside the disc", s.Form())
		}
		for _, e := range g.Elements() {
			if !action.Exact(a, e) {
				t.Errorf("%s: %v resamples", s.Form(), e)
			}
			for _, h := range g.Elements() {
				if !same(apply(e, apply(h, x)), apply(g.Mul(e, h), x)) {
					t.Errorf("%s: %v after %v", s.Form(), e, h)
				}
			}
		}
	}
}

// Labels outside the disc are 0, and the others turn.
func TestDiscOfMask(t *testing.T) {
	m := &space.Mask{H: 8, W: 8, Label: make([]int32, 64)}
	for i := range m.Label {
		m.Label[i] = int32(1 + i%8/4)
	}
	a := ruled(t, "SO(2)", space.SpecOf("y", m), action.Options{Region: action.Disc})
	y, err := a.Apply(group.Element{180}, m)
	if err != nil {
		t.Fatal(err)
	}
	l := y.(*space.Mask).Label //nolint:errcheck // panics where it is none
	if l[0] != 0 || l[7] != 0 || l[3*8+1] != 2 || l[3*8+6] != 1 {
		t.Errorf("%v", l)
	}
}

// Groups that move the disc out of itself are refused with what to do, and values without pixels are left alone.
func TestDiscRefused(t *testing.T) {
	spec := space.Spec{Kind: space.KindImage, Shape: []int{1, 8, 8}}
	for _, name := range []string{"T(2)", "T(2,Z)", "SE(2)", "p4", "roll(8,8)", "Scale"} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := action.Rules().For(g, spec, action.Options{Region: action.Disc}); err == nil ||
			!strings.Contains(err.Error(), "leave group.mask out") {
			t.Errorf("%s: %v", name, err)
		}
	}
	a := ruled(t, "C4", space.Spec{Kind: space.KindScores, Shape: []int{3}}, action.Options{
		Region: action.Disc, Invariant: true,
	})
	if _, ok := a.(action.Trivial); !ok {
		t.Errorf("%T", a)
	}
}
