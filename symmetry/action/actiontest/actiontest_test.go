package actiontest_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/action/phantom"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// fault says what is wrong with an action on one-channel pictures.
type fault struct {
	name string
	// added to the centre (n-1)/2
	centre float64
	// acts instead of e
	element func(g group.Group, e group.Element) group.Element
	mul     func(g group.Group, a, b group.Element) group.Element
	after   func(in, out *space.Image)
	prepare func(out *space.Image)
	// claims that everything is exact
	exact bool
	// on nonsense
	panics bool
	// nonsense
	accepts bool
	// a prepared element does not write where nothing is
	skip bool

	// who has to find it
	laws, orientation, drawn bool
}

func faults() []fault {
	inverse := func(g group.Group, e group.Element) group.Element { return g.Inv(e) }
	return []fault{
		{name: "none"},
		{name: "centre n/2", centre: 0.5, laws: true, orientation: true, drawn: true},
		{name: "transposed rotation", element: inverse, laws: true, orientation: true, drawn: true},
		{
			name: "reversed composition",
			mul:  func(g group.Group, a, b group.Element) group.Element { return g.Mul(b, a) }, laws: true,
			orientation: true,
		},
		{
			name:    "half the angle",
			element: func(_ group.Group, e group.Element) group.Element { return group.Element{e[0] / 2, e[1]} },
			laws:    true, orientation: true, drawn: true,
		},
		{name: "mirror after the turn", element: func(_ group.Group, e group.Element) group.Element {
			if e[1] == 1 {
				return group.Element{math.Mod(360-e[0], 360), 1}
			}
			return e
		}, laws: true, orientation: true, drawn: true},
		{
			name:    "ignores the element",
			element: func(g group.Group, _ group.Element) group.Element { return g.Identity() }, orientation: true,
			drawn: true,
		},
		{name: "changes its argument", after: func(in, _ *space.Image) { in.Pix[3]++ }, laws: true, orientation: true},
		{
			name: "NaN in a corner", after: func(_, out *space.Image) { out.Pix[0] = math.NaN() }, laws: true,
			orientation: true,
		},
		{name: "drops a digit", after: func(_, out *space.Image) {
			for i, v := range out.Pix {
				out.Pix[i] = float64(float32(v))
			}
		}, laws: true},
		{name: "prepared differs", prepare: func(out *space.Image) { out.Pix[4] *= 1 + 1e-15 }, laws: true},
		{name: "stale result", skip: true, laws: true},
		{name: "claims to be exact", exact: true, laws: true},
		{name: "panics", panics: true, laws: true},
		{name: "accepts nonsense", accepts: true, laws: true},
	}
}

// broken is an independent bilinear rotation with a fault.
type broken struct {
	fault
	g group.Group
}

type reversed struct {
	group.Planar
	mul func(g group.Group, a, b group.Element) group.Element
}

func (r reversed) Mul(a, b group.Element) group.Element { return r.mul(r.Planar, a, b) }

func (b broken) planar() group.Planar {
	p, ok := b.g.(group.Planar)
	if !ok {
		panic("not planar")
	}
	if b.mul != nil {
		return reversed{p, b.mul}
	}
	return p
}

func (b broken) Group() group.Group { return b.planar() }

func (b broken) Exact(g group.Element) bool { return b.exact || math.Mod(g[0], 90) == 0 }

func (b broken) Apply(g group.Element, v space.Value) (space.Value, error) {
	x, ok := v.(*space.Image)
	if !ok {
		if b.panics {
			panic("no picture")
		}
		if b.accepts {
			return nil, nil //nolint:nilnil // this is the fault
		}
		return nil, errors.New("no picture")
	}
	if len(g) != 2 || math.IsNaN(g[0]) {
		return nil, errors.New("no element")
	}
	out := space.NewImage(1, x.H, x.W)
	b.move(out, x, g)
	if b.after != nil {
		b.after(x, out)
	}
	return out, nil
}

func (b broken) move(out, x *space.Image, g group.Element) {
	if b.element != nil {
		g = b.element(b.g, g)
	}
	a, _ := b.planar().Affine(g)
	cx, cy := float64(x.W-1)/2+b.centre, float64(x.H-1)/2+b.centre
	for r := range x.H {
		for c := range x.W {
			px, py := float64(c)-cx, float64(r)-cy
			sx, sy := cx+a[0][0]*px+a[1][0]*py, cy+a[0][1]*px+a[1][1]*py // rotations: the transpose inverts
			x0, y0 := math.Floor(sx), math.Floor(sy)
			fx, fy := sx-x0, sy-y0
			at := func(i, j float64) float64 {
				if i < 0 || j < 0 || i >= float64(x.H) || j >= float64(x.W) {
					return 0
				}
				return x.Pix[int(i)*x.W+int(j)]
			}
			v := (1-fy)*((1-fx)*at(y0, x0)+fx*at(y0, x0+1)) + fy*((1-fx)*at(y0+1, x0)+fx*at(y0+1, x0+1))
			if v == 0 && b.skip {
				continue
			}
			out.Pix[r*x.W+c] = v
		}
	}
}

func (b broken) Prepare(g group.Element, v space.Value) (action.Mover, error) {
	if _, err := b.Apply(g, v); err != nil {
		return nil, err
	}
	return mover{b, g}, nil
}

type mover struct {
	broken
	g group.Element
}

func (m mover) Move(to, from space.Value) error {
	d, ok := to.(*space.Image)
	s, ok2 := from.(*space.Image)
	if !ok || !ok2 || d.W != s.W || d.H != s.H {
		return errors.New("shapes differ")
	}
	m.move(d, s, m.g)
	if m.after != nil {
		m.after(space.NewImage(1, s.H, s.W), d)
	}
	if m.prepare != nil {
		m.prepare(d)
	}
	return nil
}

func testPicture(n int) *space.Image {
	x := space.NewImage(1, n, n)
	r := rand.New(rand.NewPCG(5, 5))
	for i := range x.Pix {
		x.Pix[i] = 1 + r.Float64()
	}
	return x
}

// TestTheTester: each planted fault is found by those who should find it, and nobody complains without one.
func TestTheTester(t *testing.T) {
	g, err := catalog.Parse("O(2)")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	ps := []phantom.Phantom{phantom.Waves(r, 0.2, 6), phantom.Gaussians(r, 0.2, 5, 9)}
	els := []group.Element{{90, 0}, {0, 1}, {180, 0}, {270, 1}}
	turned := []group.Element{{30, 0}, {110, 1}}
	expect := func(t *testing.T, who string, want bool, err error) {
		t.Helper()
		if want && err == nil {
			t.Errorf("%s finds nothing", who)
		}
		if !want && err != nil {
			t.Errorf("%s complains: %v", who, err)
		}
	}
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			b := broken{fault: f, g: g}
			disc := phantom.Disc(25, 25, 0.75)
			l := actiontest.Laws(actiontest.Case{Action: b, Value: testPicture(7), Elements: els})
			smooth := actiontest.Laws(actiontest.Case{
				Action: b, Value: phantom.Draw(25, 25, ps[0]), Elements: turned, Floor: 0.06,
				Distance: func(a, b space.Value) float64 {
					x, ok := a.(*space.Image)
					y, ok2 := b.(*space.Image)
					if !ok || !ok2 {
						return math.NaN()
					}
					return phantom.Difference(x, y, disc)
				},
			})
			expect(t, "Laws", f.laws, errors.Join(l, smooth))
			if f.panics || f.accepts {
				return
			}
			expect(t, "Orientation", f.orientation,
				actiontest.Orientation(b, group.Element{90, 0}, group.Element{0, 1}))
			expect(t, "Drawn", f.drawn, actiontest.Drawn(b, ps, turned, 25, 25, 0.06))
		})
	}
}

func TestVacuousCases(t *testing.T) {
	g, err := catalog.Parse("SO(2)")
	if err != nil {
		t.Fatal(err)
	}
	flat := space.NewImage(1, 3, 3)
	for _, v := range []space.Value{nil, flat, &space.Image{C: 1, H: 1, W: 2, Pix: []float64{math.NaN(), 1}}} {
		if err := actiontest.Laws(actiontest.Case{Action: action.Trivial{G: g}, Value: v}); err == nil {
			t.Errorf("a value that cannot show anything is accepted: %v", v)
		}
	}
	if err := actiontest.Laws(actiontest.Case{
		Action: action.Trivial{G: g}, Value: testPicture(3),
		Elements: []group.Element{{90}},
	}); err != nil {
		t.Errorf("the trivial action: %v", err)
	}
}

// shifted moves by whole steps in a wrong direction.
type shifted struct {
	action.Action
	sx, sy float64
}

func (s shifted) Apply(g group.Element, v space.Value) (space.Value, error) {
	return s.Action.Apply(group.Element{s.sx * g[0], s.sy * g[1]}, v)
}

func TestDirectionsFindsSigns(t *testing.T) {
	g, err := catalog.Parse("T(2)")
	if err != nil {
		t.Fatal(err)
	}
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	right, down := group.Element{1, 0}, group.Element{0, 1}
	for _, c := range []struct {
		sx, sy float64
		fail   string
	}{{1, 1, ""}, {-1, 1, "right"}, {1, -1, "down"}, {-1, -1, "right"}} {
		err := actiontest.Directions(shifted{a, c.sx, c.sy}, right, down)
		if (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("signs %g, %g: %v", c.sx, c.sy, err)
		}
	}
}

func TestDistance(t *testing.T) {
	a := &space.Scores{Val: []float64{1, -4}}
	for _, c := range []struct {
		b    space.Value
		want float64
	}{
		{a, 0},
		{&space.Scores{Val: []float64{1, -2}}, 1},
		{&space.Scores{Val: []float64{0, 0}}, math.Inf(1)},
		{&space.Scores{Val: []float64{1}}, math.NaN()},
		{&space.Scores{Val: []float64{math.NaN(), -4}}, math.NaN()},
	} {
		if d := actiontest.Distance(a, c.b); d != c.want && !(math.IsNaN(d) && math.IsNaN(c.want)) {
			t.Errorf("distance to %v: %g, want %g", c.b.Parts(), d, c.want)
		}
	}
}

// ExampleLaws tries the action of quarter turns on a picture of numbered pixels.
func ExampleLaws() {
	g, err := catalog.Parse("C4")
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 3, 3}}, action.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := &space.Image{C: 1, H: 3, W: 3, Pix: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}}
	fmt.Println(actiontest.Laws(actiontest.Case{Action: a, Value: x, Elements: []group.Element{{90}, {180}}}))
	// Output: <nil>
}
