package action_test

import (
	"errors"
	"math"
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

func newBoxes(tb testing.TB, g group.Group, o action.Options) *action.Boxes {
	tb.Helper()
	a, err := action.NewBoxes(g, kindSpec(space.KindBoxes), o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func newTarget(tb testing.TB, g group.Group, s space.Spec, o action.Options) action.Action {
	tb.Helper()
	a, err := action.NewTarget(g, s, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// drawBox draws a box around a frame, in steps of 1/64 px so that sums are exact.
func drawBox(t *rapid.T, h, w int, angles bool) space.Box {
	at := func(name string, lo, hi int) float64 { return float64(rapid.IntRange(64*lo, 64*hi).Draw(t, name)) / 64 }
	b := space.Box{
		Score: rapid.Float64Range(0, 1).Draw(t, "score"), Label: rapid.IntRange(-1, 5).Draw(t, "label"),
		Cut: rapid.Bool().Draw(t, "cut"),
	}
	b.X1, b.Y1 = at("x1", -3, w), at("y1", -3, h)
	b.X2, b.Y2 = b.X1+at("width", 0, w), b.Y1+at("height", 0, h)
	if angles {
		b.Angle = rapid.SampledFrom([]float64{0, 0, 10, -31.25, 44, 60, 90}).Draw(t, "angle")
	}
	return b
}

func drawBoxes(t *rapid.T, h, w int, angles bool) *space.Boxes {
	x := &space.Boxes{H: float64(h), W: float64(w)}
	for range rapid.IntRange(0, 4).Draw(t, "n") {
		x.Items = append(x.Items, drawBox(t, h, w, angles))
	}
	return x
}

// corners are those of a turned box, in order around it, from the definition: turned counter-clockwise as seen, y down.
func corners(b space.Box) [4][2]float64 {
	cx, cy := b.Center()
	s, c := math.Sincos(b.Angle * math.Pi / 180)
	var o [4][2]float64
	for i, k := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		x, y := k[0]*(b.X2-b.X1)/2, k[1]*(b.Y2-b.Y1)/2
		o[i] = [2]float64{cx + x*c + y*s, cy - x*s + y*c}
	}
	return o
}

// away is how far the corners of one box are from those of another, whatever corner comes first and which way round.
func away(a, b [4][2]float64) float64 {
	best := math.Inf(1)
	for start := range 4 {
		for _, step := range []int{1, 3} {
			var d float64
			for i := range 4 {
				q := b[(start+step*i)%4]
				d = max(d, math.Hypot(a[i][0]-q[0], a[i][1]-q[1]))
			}
			best = min(best, d)
		}
	}
	return best
}

// mapped is a point of an H×W frame moved by the map of the group.
func mapped(pl group.Planar, g group.Element, h, w float64, p [2]float64) [2]float64 {
	a, t := pl.Affine(g)
	x, y := p[0]-w/2, p[1]-h/2
	return [2]float64{a[0][0]*x + a[0][1]*y + t[0] + w/2, a[1][0]*x + a[1][1]*y + t[1] + h/2}
}

func drawElement(t *rapid.T, g group.Group) group.Element {
	if f, ok := g.(group.Finite); ok {
		return rapid.SampledFrom(f.Elements()).Draw(t, "g")
	}
	window, e := group.Window(g), make(group.Element, len(g.Chart()))
	for i, a := range g.Chart() {
		switch {
		case a.Unit == "deg" && rapid.Bool().Draw(t, "quarter"):
			e[i] = rapid.SampledFrom([]float64{0, 90, 180, -90}).Draw(t, a.Name)
		case group.Steps(g)[i] == 1:
			e[i] = float64(rapid.IntRange(int(window[i][0]), int(window[i][1])).Draw(t, a.Name))
		default:
			e[i] = rapid.Float64Range(window[i][0], window[i][1]).Draw(t, a.Name)
		}
	}
	return g.Mul(g.Identity(), e)
}

// TestBoxesAgainstTheirCorners: whatever the group, a moved box holds the moved corners; it has no others where nothing
// is lost, and is as small as can be where it is an envelope.
func TestBoxesAgainstTheirCorners(t *testing.T) {
	for _, name := range planarGroups() {
		t.Run(name, func(t *testing.T) {
			g := parse(t, name)
			pl, ok := g.(group.Planar)
			if !ok {
				t.Fatal("does not act on the plane")
			}
			rapid.Check(t, func(t *rapid.T) {
				h, w := rapid.IntRange(4, 20).Draw(t, "h"), rapid.IntRange(4, 20).Draw(t, "w")
				x := drawBoxes(t, h, w, true)
				e := drawElement(t, g)
				oriented := rapid.Bool().Draw(t, "oriented")
				a, err := action.NewBoxes(g, kindSpec(space.KindBoxes), action.Options{Oriented: oriented})
				if err != nil {
					t.Fatal(err)
				}
				got := as[*space.Boxes](a.Apply(e, x))
				if got.H != x.H || got.W != x.W || len(got.Items) != len(x.Items) {
					t.Fatalf("the frame %v with %d boxes became %v with %d", [2]float64{x.H, x.W}, len(x.Items),
						[2]float64{got.H, got.W}, len(got.Items))
				}
				for i, b := range x.Items {
					y := got.Items[i]
					if y.Score != b.Score || y.Label != b.Label || b.Cut && !y.Cut {
						t.Fatalf("box %v became %v", b, y)
					}
					var want [4][2]float64
					for k, p := range corners(b) {
						want[k] = mapped(pl, e, x.H, x.W, p)
					}
					if b.Angle == 0 && !a.Encloses(e) {
						if d := away(corners(y), want); !(d <= 1e-9) {
							t.Fatalf("element %v: box %+v became %+v, %g from its corners %v", e, b, y, d, want)
						}
						continue
					}
					if b.Angle != 0 && away(corners(y), want) <= 1e-9 {
						continue
					}
					if y.Angle != 0 || oriented && !a.Encloses(e) && name != "Affine(shear)" {
						t.Fatalf("element %v: box %+v became %+v with angle %g", e, b, y, y.Angle)
					}
					lo, hi := want[0], want[0]
					for _, p := range want {
						for j := range 2 {
							lo[j], hi[j] = min(lo[j], p[j]), max(hi[j], p[j])
						}
					}
					if d := max(math.Abs(lo[0]-y.X1), math.Abs(lo[1]-y.Y1), math.Abs(hi[0]-y.X2),
						math.Abs(hi[1]-y.Y2)); !(d <= 1e-9) {
						t.Fatalf("element %v: the envelope of %+v is %v..%v, got %+v", e, b, lo, hi, y)
					}
				}
			})
		})
	}
}

// TestBoxesCompose: g(hx) = (gh)x where nothing is lost, e and inverses; bit for bit on the lattice.
func TestBoxesCompose(t *testing.T) {
	for _, name := range planarGroups() {
		t.Run(name, func(t *testing.T) {
			g := parse(t, name)
			rapid.Check(t, func(t *rapid.T) {
				h, w := rapid.IntRange(4, 20).Draw(t, "h"), rapid.IntRange(4, 20).Draw(t, "w")
				if rapid.Bool().Draw(t, "square") {
					w = h
				}
				a, err := action.NewBoxes(g, kindSpec(space.KindBoxes), action.Options{Oriented: true})
				if err != nil {
					t.Fatal(err)
				}
				x := drawBoxes(t, h, w, name != "Affine(shear)")
				e, f := drawElement(t, g), drawElement(t, g)
				if d := actiontest.Distance(must(a.Apply(g.Identity(), x)), x); d != 0 {
					t.Fatalf("the identity changes boxes by %g", d)
				}
				if a.Encloses(e) || a.Encloses(f) {
					return
				}
				fx := as[*space.Boxes](a.Apply(f, x))
				one, two := as[*space.Boxes](a.Apply(e, fx)), as[*space.Boxes](a.Apply(g.Mul(e, f), x))
				back := as[*space.Boxes](a.Apply(g.Inv(f), fx))
				exact := a.Exact(e) && a.Exact(f)
				if exact && !a.Exact(g.Mul(e, f)) {
					t.Fatalf("%v and %v are exact, their product is not", e, f)
				}
				for i := range x.Items {
					if d := away(corners(one.Items[i]), corners(two.Items[i])); !(d <= 1e-9) {
						t.Fatalf("g(hx) = %+v, (gh)x = %+v for g = %v, h = %v", one.Items[i], two.Items[i], e, f)
					}
					if d := away(corners(back.Items[i]), corners(x.Items[i])); !(d <= 1e-9) {
						t.Fatalf("%v moved by %v and back is %v", x.Items[i], f, back.Items[i])
					}
					// What has left the picture on the way is marked as cut, which the direct way need not see.
					for _, c := range []*space.Box{&one.Items[i], &two.Items[i], &back.Items[i], &x.Items[i]} {
						c.Cut = false
					}
					if exact && (one.Items[i] != two.Items[i] || back.Items[i] != x.Items[i]) {
						t.Fatalf("not bit for bit: g(hx) = %+v, (gh)x = %+v, back %+v, x = %+v", one.Items[i],
							two.Items[i], back.Items[i], x.Items[i])
					}
				}
			})
		})
	}
}

// TestBoxesFollowPictures: a rectangle that is painted and moved is where its moved box is.
func TestBoxesFollowPictures(t *testing.T) {
	paint := func(h, w int, b space.Box) *space.Image {
		x := space.NewImage(1, h, w)
		for r := max(int(b.Y1), 0); r < min(int(b.Y2), h); r++ {
			for c := max(int(b.X1), 0); c < min(int(b.X2), w); c++ {
				x.Pix[r*w+c] = 1
			}
		}
		return x
	}
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(2, 12).Draw(t, "h"), rapid.IntRange(2, 12).Draw(t, "w")
		turn := rapid.SampledFrom([]float64{0, 90, 180, 270}).Draw(t, "turn")
		if turn == 90 || turn == 270 {
			w = h
		}
		x1, y1 := rapid.IntRange(0, w-1).Draw(t, "x1"), rapid.IntRange(0, h-1).Draw(t, "y1")
		b := space.Box{
			X1: float64(x1), Y1: float64(y1), X2: float64(rapid.IntRange(x1+1, w).Draw(t, "x2")),
			Y2: float64(rapid.IntRange(y1+1, h).Draw(t, "y2")),
		}
		g := catalog.E2()
		e := group.Element{
			turn, float64(rapid.IntRange(0, 1).Draw(t, "mirror")),
			float64(rapid.IntRange(-9, 9).Draw(t, "dx")), float64(rapid.IntRange(-9, 9).Draw(t, "dy")),
		}
		image, err := action.NewImage(g, imageSpec(1, h, w), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		boxes, err := action.NewBoxes(g, kindSpec(space.KindBoxes), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		moved := as[*space.Boxes](boxes.Apply(e, &space.Boxes{H: float64(h), W: float64(w), Items: []space.Box{b}}))
		if d := actiontest.Distance(must(image.Apply(e, paint(h, w, b))), paint(h, w, moved.Items[0])); d != 0 &&
			!math.IsNaN(d) {
			t.Fatalf("%d×%d, element %v: the box %v moved to %v, elsewhere than its picture", h, w, e, b,
				moved.Items[0])
		}
		// With a window that cuts the picture, the target is what the window shows.
		wh, ww := rapid.IntRange(1, h).Draw(t, "window height"), rapid.IntRange(1, w).Draw(t, "window width")
		if turn == 90 || turn == 270 {
			ww = wh
		}
		o := action.Options{Window: []int{wh, ww}}
		if image, err = action.NewImage(g, imageSpec(1, h, w), o); err != nil {
			t.Fatal(err)
		}
		target, err := action.NewTarget(g, kindSpec(space.KindBoxes), o)
		if err != nil {
			t.Fatal(err)
		}
		seen := as[*space.Boxes](target.Apply(e, &space.Boxes{H: float64(h), W: float64(w), Items: []space.Box{b}}))
		if seen.H != float64(wh) || seen.W != float64(ww) || len(seen.Items) != 1 {
			t.Fatalf("the target is %+v", seen)
		}
		if d := actiontest.Distance(must(image.Apply(e, paint(h, w, b))), paint(wh, ww, seen.Items[0])); d != 0 &&
			!math.IsNaN(d) {
			t.Fatalf("%d×%d, window %d×%d, element %v: the box %v is seen at %+v, elsewhere than its picture", h, w, wh,
				ww, e, b, seen.Items[0])
		}
	})
}

func TestBoxesByHand(t *testing.T) {
	in := &space.Boxes{H: 100, W: 200, Items: []space.Box{{X1: 10, Y1: 20, X2: 40, Y2: 30, Score: 0.5, Label: 3}}}
	for _, c := range []struct {
		name     string
		g        group.Element
		oriented bool
		want     [5]float64
		encloses bool
	}{
		{"T(2)", group.Element{3, -4.5}, false, [5]float64{13, 15.5, 43, 25.5}, false},
		{"O(2)", group.Element{0, 1}, false, [5]float64{160, 20, 190, 30}, false},
		{"O(2)", group.Element{180, 1}, false, [5]float64{10, 70, 40, 80}, false},
		{"O(2)", group.Element{180, 0}, false, [5]float64{160, 70, 190, 80}, false},
		// The centre (25, 25) is (-75, -25) from the middle (100, 50): turned by 90 degrees (-25, 75), in the frame
		// (75, 125), beyond its lower edge.
		{"SO(2)", group.Element{90}, false, [5]float64{70, 110, 80, 140}, false},
		{"SO(2)", group.Element{90}, true, [5]float64{70, 110, 80, 140}, false},
		{"Scale", group.Element{2}, false, [5]float64{-80, -10, -20, 10}, false},
		{"Scale", group.Element{0.5}, true, [5]float64{55, 35, 70, 40}, false},
		// By 30 degrees (-75, -25) goes to (-75·√3/2 - 12.5, 37.5 - 25·√3/2); half sides 15 and 5 span 15·√3/2 + 2.5
		// and 7.5 + 5·√3/2.
		{
			"SO(2)",
			group.Element{30},
			true,
			[5]float64{
				22.54809471616711 - 15, 65.84936490538904 - 5, 22.54809471616711 + 15, 65.84936490538904 + 5,
				30,
			},
			false,
		},
		{
			"SO(2)",
			group.Element{30},
			false,
			[5]float64{
				22.54809471616711 - 15.490381056766578, 65.84936490538904 - 11.830127018922193,
				22.54809471616711 + 15.490381056766578, 65.84936490538904 + 11.830127018922193,
			},
			true,
		},
		// By 120 degrees the long side stands: named as 10 wide and 30 high, turned by 30.
		{
			"SO(2)",
			group.Element{120},
			true,
			[5]float64{
				100 + 37.5 - 12.5*math.Sqrt(3) - 5, 50 + 12.5 + 37.5*math.Sqrt(3) - 15,
				100 + 37.5 - 12.5*math.Sqrt(3) + 5, 50 + 12.5 + 37.5*math.Sqrt(3) + 15, 30,
			},
			false,
		},
		{"Affine(shear)", group.Element{1}, true, [5]float64{100 - 75 - 25 - 20, 20, 100 - 75 - 25 + 20, 30}, true},
		{"Roll(100,200)", group.Element{180, 90}, false, [5]float64{-10, 10, 20, 20}, false},
		{"Roll(100,200)", group.Element{0, 0}, false, [5]float64{10, 20, 40, 30}, false},
	} {
		a := newBoxes(t, parse(t, c.name), action.Options{Oriented: c.oriented})
		got := as[*space.Boxes](a.Apply(c.g, in))
		b := got.Items[0]
		for i, v := range []float64{b.X1, b.Y1, b.X2, b.Y2, b.Angle} {
			if !(math.Abs(v-c.want[i]) <= 1e-9) {
				t.Errorf("%s, %v, oriented %v: %+v, want %v", c.name, c.g, c.oriented, b, c.want)
				break
			}
		}
		if b.Score != 0.5 || b.Label != 3 || b.Cut || got.H != 100 || got.W != 200 {
			t.Errorf("%s: %+v in a frame of %g×%g", c.name, b, got.H, got.W)
		}
		if a.Encloses(c.g) != c.encloses {
			t.Errorf("%s, %v, oriented %v: encloses is %v", c.name, c.g, c.oriented, !c.encloses)
		}
	}
	// Inverted boxes do not become proper ones.
	a := newBoxes(t, parse(t, "SO(2)"), action.Options{})
	for _, angle := range []float64{0, 90, 180, 30} {
		got := as[*space.Boxes](a.Apply(group.Element{angle},
			&space.Boxes{H: 9, W: 9, Items: []space.Box{{X1: 5, X2: 3, Y1: 4, Y2: 4}}})).Items[0]
		if got.Area() != 0 {
			t.Errorf("an inverted box turned by %g degrees has the area %g: %+v", angle, got.Area(), got)
		}
	}
}

func TestBoxesLaws(t *testing.T) {
	x := &space.Boxes{H: 6, W: 6, Items: []space.Box{
		{X1: 1, Y1: 2, X2: 3.5, Y2: 5, Score: 0.25, Label: 1},
		{X1: -1, Y1: 0, X2: 7, Y2: 0.5, Angle: 20, Score: 1},
	}}
	for _, name := range append(planarGroups(), "Roll(6,6)") {
		for _, oriented := range []bool{false, true} {
			g := parse(t, name)
			err := actiontest.Laws(actiontest.Case{
				Action: newBoxes(t, g, action.Options{Oriented: oriented}), Value: x,
				Elements: some(t, g),
			})
			if err != nil {
				t.Errorf("%s, oriented %v: %v", name, oriented, err)
			}
		}
	}
}

// TestTarget: a window of 4×6 in a picture of 10×11, whose corner is at row 3, column 2 under the identity.
func TestTarget(t *testing.T) {
	o := action.Options{Window: []int{4, 6}}
	g := catalog.T2()
	a := newTarget(t, g, kindSpec(space.KindBoxes), o)
	x := &space.Boxes{H: 10, W: 11, Items: []space.Box{
		{X1: 3, Y1: 4, X2: 5, Y2: 6, Score: 1, Label: 1},
		{X1: 2, Y1: 4, X2: 5, Y2: 6, Score: 1, Label: 2}, // touches the left edge
		{X1: 7, Y1: 6, X2: 9, Y2: 9, Score: 1, Label: 3}, // crosses a corner
		{X1: 8, Y1: 3, X2: 9, Y2: 4, Score: 1, Label: 4}, // outside, touching
		{X1: 0, Y1: 0, X2: 11, Y2: 10, Score: 1, Label: 5},
	}}
	for _, c := range []struct {
		g    group.Element
		want []space.Box
	}{
		{group.Element{0, 0}, []space.Box{
			{X1: 1, Y1: 1, X2: 3, Y2: 3, Label: 1},
			{X1: 0, Y1: 1, X2: 3, Y2: 3, Label: 2, Cut: true},
			{X1: 5, Y1: 3, X2: 6, Y2: 4, Label: 3, Cut: true},
			{X1: 0, Y1: 0, X2: 6, Y2: 4, Label: 5, Cut: true},
		}},
		{group.Element{-1.5, 0.25}, []space.Box{ // the objects move to the left and down
			{X1: 0, Y1: 1.25, X2: 1.5, Y2: 3.25, Label: 1, Cut: true},
			{X1: 0, Y1: 1.25, X2: 1.5, Y2: 3.25, Label: 2, Cut: true},
			{X1: 3.5, Y1: 3.25, X2: 5.5, Y2: 4, Label: 3, Cut: true},
			{X1: 4.5, Y1: 0.25, X2: 5.5, Y2: 1.25, Label: 4},
			{X1: 0, Y1: 0, X2: 6, Y2: 4, Label: 5, Cut: true},
		}},
		{group.Element{-9, 0}, []space.Box{ // the key object leaves and stays at the edge
			{X1: 0, Y1: 1, X2: 0, Y2: 3, Label: 1, Cut: true}, {X1: 0, Y1: 0, X2: 0, Y2: 4, Label: 0},
		}},
	} {
		got := as[*space.Boxes](a.Apply(c.g, x))
		if c.g[0] == -9 {
			c.want = c.want[:1] // the last box ends at -9+9 = 0
		}
		if got.H != 4 || got.W != 6 || len(got.Items) != len(c.want) {
			t.Errorf("%v: %+v", c.g, got)
			continue
		}
		for i, w := range c.want {
			w.Score = 1
			if got.Items[i] != w {
				t.Errorf("%v: box %d is %+v, want %+v", c.g, i, got.Items[i], w)
			}
		}
	}
	if !action.Exact(a, group.Element{1, 2}) || action.Exact(a, group.Element{0.5, 0}) {
		t.Error("whole shifts are exact, others are not")
	}
	// A turned box is marked and not clipped.
	turned := as[*space.Boxes](a.Apply(group.Element{0, 0},
		&space.Boxes{H: 10, W: 11, Items: []space.Box{{X1: 0, Y1: 4, X2: 4, Y2: 5, Angle: 30}}})).Items[0]
	if turned != (space.Box{X1: -2, Y1: 1, X2: 2, Y2: 2, Angle: 30, Cut: true}) {
		t.Errorf("a turned box became %+v", turned)
	}
	// A prediction that reaches the edge is marked when it is moved, by a window and by a picture that shifts.
	for _, c := range []struct {
		b   space.Box
		cut bool
	}{
		{space.Box{X1: 0.5, Y1: 0.5, X2: 5.5, Y2: 3.5}, false},
		{space.Box{X1: 0, Y1: 1, X2: 3, Y2: 3}, true},
		{space.Box{X1: 1, Y1: -1, X2: 3, Y2: 3}, true},
		{space.Box{X1: 1, Y1: 1, X2: 6, Y2: 3}, true},
		{space.Box{X1: 1, Y1: 1, X2: 3, Y2: 4.5}, true},
		{space.Box{X1: 0.5, Y1: 1.5, X2: 5.5, Y2: 2.5, Angle: 20}, false},
		{space.Box{X1: 0.5, Y1: 1.5, X2: 5.5, Y2: 2.5, Angle: -60}, true},
	} {
		v := &space.Boxes{H: 4, W: 6, Items: []space.Box{c.b}}
		want := c.b
		want.X1, want.X2, want.Cut = c.b.X1+2, c.b.X2+2, c.cut
		if got := as[*space.Boxes](newBoxes(t, g, o).Apply(group.Element{2, 0}, v)).Items[0]; got != want {
			t.Errorf("%+v moved to %+v, want %+v", c.b, got, want)
		}
		if got := as[*space.Boxes](newBoxes(t, g, action.Options{}).Apply(group.Element{2, 0},
			v)).Items[0]; got.Cut != c.cut {
			t.Errorf("%+v, shifted with its picture: cut is %v, want %v", c.b, got.Cut, c.cut)
		}
		if got := as[*space.Boxes](newBoxes(t, g, action.Options{}).Apply(group.Element{0, 0}, v)); got.Items[0].Cut ||
			got.Seen != nil {
			t.Errorf("%+v of a picture that stays is %+v, seen %v", c.b, got.Items[0], got.Seen)
		}
	}
}

// TestTargetPullsBack: what a target is moved to comes back to the window of the identity by the output action, for
// boxes that neither window cuts.
func TestTargetPullsBack(t *testing.T) {
	for _, name := range []string{"T(2)", "T(2,Z)", "C4", "D4", "SE(2)", "E(2)", "Scale"} {
		t.Run(name, func(t *testing.T) {
			g := parse(t, name)
			whole := 0
			rapid.Check(t, func(t *rapid.T) {
				h, w := rapid.IntRange(12, 30).Draw(t, "h"), rapid.IntRange(12, 30).Draw(t, "w")
				o := action.Options{Window: []int{
					rapid.IntRange(6, 12).Draw(t, "window height"),
					rapid.IntRange(6, 12).Draw(t, "window width"),
				}, Oriented: true}
				x := &space.Boxes{H: float64(h), W: float64(w)}
				for range 4 {
					at := func(name string) float64 { return float64(rapid.IntRange(-256, 256).Draw(t, name)) / 64 }
					cx, cy := float64(w)/2+at("x"), float64(h)/2+at("y")
					hw, hh := 0.1+math.Abs(at("half width"))/3, 0.1+math.Abs(at("half height"))/3
					x.Items = append(x.Items, space.Box{
						X1: cx - hw, Y1: cy - hh, X2: cx + hw, Y2: cy + hh,
						Label: len(x.Items),
					})
				}
				target, err := action.NewTarget(g, kindSpec(space.KindBoxes), o)
				if err != nil {
					t.Fatal(err)
				}
				out, err := action.NewBoxes(g, kindSpec(space.KindBoxes), o)
				if err != nil {
					t.Fatal(err)
				}
				e := drawElement(t, g)
				moved := as[*space.Boxes](target.Apply(e, x))
				if len(moved.Items) == 0 || moved.Items[0].Label != 0 {
					t.Fatal("the key box is gone")
				}
				back := as[*space.Boxes](out.Apply(g.Inv(e), moved))
				at := map[int]space.Box{}
				for _, b := range as[*space.Boxes](target.Apply(g.Identity(), x)).Items {
					at[b.Label] = b
				}
				for _, b := range back.Items {
					want, ok := at[b.Label]
					if !ok || want.Cut || b.Cut {
						continue
					}
					whole++
					if d := away(corners(b), corners(want)); !(d <= 1e-9) {
						t.Fatalf("element %v: %+v came back as %+v", e, want, b)
					}
				}
			})
			if whole < 50 && !testing.Short() {
				t.Errorf("only %d boxes were seen whole in both windows", whole)
			}
		})
	}
}

// TestTargetOfOtherKinds: fields, masks and pictures are cut by the window as the input is.
func TestTargetOfOtherKinds(t *testing.T) {
	o := action.Options{Window: []int{4, 4}}
	g := parse(t, "p4")
	x := noisyField(9, 10)
	got := as[*space.Field](newTarget(t, g, kindSpec(space.KindField), o).Apply(group.Element{90, 2, 1}, x))
	image := newImage(t, g, 9, 10, o)
	u := as[*space.Image](image.Apply(group.Element{90, 2, 1}, &space.Image{C: 1, H: 9, W: 10, Pix: x.U()}))
	v := as[*space.Image](image.Apply(group.Element{90, 2, 1}, &space.Image{C: 1, H: 9, W: 10, Pix: x.V()}))
	for i := range 16 {
		if got.U()[i] != v.Pix[i] || got.V()[i] != -u.Pix[i] {
			t.Fatalf("vector %d is (%g, %g), want (%g, %g)", i, got.U()[i], got.V()[i], v.Pix[i], -u.Pix[i])
		}
	}
	pic := noisy(1, 9, 10)
	if d := actiontest.Distance(must(newTarget(t, g, imageSpec(1, 9, 10), o).Apply(group.Element{0, 1, 0}, pic)),
		must(image.Apply(group.Element{0, 1, 0}, pic))); d != 0 {
		t.Errorf("a picture as a target differs by %g", d)
	}
	mask := &space.Mask{H: 9, W: 10, Label: make([]int32, 90)}
	if m := as[*space.Mask](newTarget(t, g, kindSpec(space.KindMask), o).Apply(group.Element{0, 1, 0},
		mask)); m.H != 4 || m.W != 4 {
		t.Errorf("a mask became %d×%d", m.H, m.W)
	}
	for _, k := range []space.Kind{space.KindScores, space.KindFrames, space.KindTensor} {
		if _, err := action.NewTarget(g, kindSpec(k), o); !errors.Is(err, errors.ErrUnsupported) ||
			!strings.Contains(err.Error(), string(k)) {
			t.Errorf("%s as a target: %v", k, err)
		}
	}
	if a := newTarget(t, g, kindSpec(space.KindBoxes), action.Options{}); !action.Exact(a, group.Element{90, 1, 1}) {
		t.Error("without a window the target moves as boxes do")
	}
}

func TestBoxesRefuse(t *testing.T) {
	g := catalog.T2()
	e := g.Identity()
	apply := func(o action.Options, v space.Value) error { _, err := newBoxes(t, g, o).Apply(e, v); return err }
	nan, inf := math.NaN(), math.Inf(1)
	one := func(b space.Box) *space.Boxes {
		return &space.Boxes{H: 10, W: 11, Items: []space.Box{{X2: 1, Y2: 1}, b}}
	}
	window := action.Options{Window: []int{4, 6}}
	cut := newTarget(t, g, kindSpec(space.KindBoxes), window)
	target := func(v space.Value) error { _, err := cut.Apply(e, v); return err }
	for what, c := range map[string]struct {
		err  error
		want string
	}{
		"NaN":                     {target(one(space.Box{X1: nan})), "box 2 of 2: x1 is NaN"},
		"infinity":                {target(one(space.Box{Y2: inf})), "y2 is +Inf"},
		"angle":                   {target(one(space.Box{Angle: nan})), "the angle is NaN"},
		"no frame":                {apply(action.Options{}, &space.Boxes{}), "0×0"},
		"endless frame":           {apply(action.Options{}, &space.Boxes{H: inf, W: 3}), "above 0"},
		"NaN frame":               {apply(action.Options{}, &space.Boxes{H: nan, W: 3}), "above 0"},
		"a field":                 {apply(action.Options{}, noisyField(2, 2)), "want boxes"},
		"photo, not window":       {apply(window, one(space.Box{})), "window coordinates"},
		"target that is a window": {target(&space.Boxes{H: 3, W: 6}), "does not fit"},
		"half a pixel":            {target(&space.Boxes{H: 10.5, W: 9}), "whole numbers"},
		"target with NaN":         {target(one(space.Box{X2: nan})), "x2 is NaN"},
		"target of another kind":  {target(noisyField(9, 9)), "want boxes"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, c.err, c.want)
		}
	}
	// A prediction that is not finite moves, and stays not finite.
	broken := as[*space.Boxes](newBoxes(t, g, action.Options{}).Apply(group.Element{1, 2},
		one(space.Box{X1: 3, Y1: 1, X2: nan, Y2: 3})))
	if b := broken.Items[1]; !math.IsNaN(b.X2) || b.X1 != 4 || b.Y1 != 3 {
		t.Errorf("a box with NaN moved to %+v", b)
	}
	roll := newBoxes(t, parse(t, "Roll(10,11)"), action.Options{})
	if _, err := roll.Apply(group.Element{0, 0}, &space.Boxes{H: 10, W: 10}); err == nil ||
		!strings.Contains(err.Error(), "rolls frames of 10×11") {
		t.Errorf("a frame of another size than the torus: %v", err)
	}
	if _, err := action.NewBoxes(line{}, kindSpec(space.KindBoxes), action.Options{}); !errors.Is(err,
		errors.ErrUnsupported) {
		t.Errorf("a group without plane: %v", err)
	}
	if _, err := action.NewBoxes(g, space.Spec{Kind: space.KindBoxes, Shape: []int{2, 2}},
		action.Options{}); err == nil {
		t.Error("boxes with two axes are accepted")
	}
	empty := as[*space.Boxes](newBoxes(t, g, action.Options{}).Apply(e, &space.Boxes{H: 4, W: 4}))
	if len(empty.Items) != 0 || empty.H != 4 {
		t.Errorf("no boxes became %+v", empty)
	}
}

// TestTargetLeavesThePicture: without a window an object that is shifted out of its picture is no longer there, but for
// the key object, which stays without area; on a torus it comes in on the other side.
func TestTargetLeavesThePicture(t *testing.T) {
	x := &space.Boxes{H: 10, W: 20, Items: []space.Box{
		{X1: 1, Y1: 1, X2: 5, Y2: 5},
		{X1: 2, Y1: 2, X2: 4, Y2: 4},
		{X1: 12, Y1: 2, X2: 16, Y2: 6},
	}}
	got := as[*space.Boxes](newTarget(t, catalog.T2(), kindSpec(space.KindBoxes),
		action.Options{}).Apply(group.Element{-6, 0}, x))
	want := []space.Box{{X1: 0, Y1: 1, X2: 0, Y2: 5, Cut: true}, {X1: 6, Y1: 2, X2: 10, Y2: 6}}
	if !slices.Equal(got.Items, want) {
		t.Errorf("shifted: %+v, want %+v", got.Items, want)
	}
	rolled := as[*space.Boxes](newTarget(t, parse(t, "Roll(10,20)"), kindSpec(space.KindBoxes),
		action.Options{}).Apply(group.Element{14, 0}, x))
	if len(rolled.Items) != 3 || rolled.Items[0] != (space.Box{X1: 15, Y1: 1, X2: 19, Y2: 5}) ||
		rolled.Items[2] != (space.Box{X1: 6, Y1: 2, X2: 10, Y2: 6}) {
		t.Errorf("rolled: %+v", rolled.Items)
	}
}
