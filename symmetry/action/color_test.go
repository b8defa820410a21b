package action_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// brighter adds a number to all channels, for tests; swapping permutes three channels.
type brighter struct{ flowing }

func (brighter) Name() string  { return "Test brightness" }
func (brighter) Channels() int { return 0 }
func (brighter) Color(e group.Element, p []float64) {
	for i := range p {
		p[i] += e[0]
	}
}

type swapping struct{ group.Sampler }

func (swapping) Name() string  { return "Test channels" }
func (swapping) Channels() int { return 3 }

func (g swapping) Color(e group.Element, p []float64) {
	q := slices.Clone(p)
	for i, v := range e {
		p[int(v)] = q[i]
	}
}

// justBright hides the methods of a flow.
type justBright struct {
	group.Sampler
	b brighter
}

func (g justBright) Channels() int                      { return 0 }
func (g justBright) Color(e group.Element, p []float64) { g.b.Color(e, p) }

func brightness() justBright {
	b := brighter{flowing{axes: 1}}
	return justBright{b, b}
}

func picture(c, h, w int) *space.Image {
	x := space.NewImage(c, h, w)
	for i, v := range noise(4, c*h*w) {
		x.Pix[i] = 100 + 20*v
	}
	return x
}

func TestColor(t *testing.T) {
	spec := space.Spec{Name: "photo", Kind: space.KindImage, Shape: []int{3, 5, 5}}
	x := picture(3, 5, 5)
	swap := chosen(t, swapping{permuting{n: 3}}, spec, action.Options{})
	if err := actiontest.Laws(actiontest.Case{
		Action: swap, Value: x,
		Elements: []group.Element{{1, 2, 0}, {1, 0, 2}},
	}); err != nil {
		t.Error(err)
	}
	if !action.Exact(swap, group.Element{1, 2, 0}) {
		t.Error("a permutation of channels is not exact")
	}
	v, err := swap.Apply(group.Element{1, 2, 0}, x)
	if err != nil {
		t.Fatal(err)
	}
	if y := asA[*space.Image](t, v); !slices.Equal(y.Plane(1), x.Plane(0)) || !slices.Equal(y.Plane(0), x.Plane(2)) {
		t.Error("channel 0 has not gone to 1, and 2 to 0")
	}
	light := chosen(t, brightness(), spec, action.Options{})
	if err := actiontest.Laws(actiontest.Case{
		Action: light, Value: x, Elements: []group.Element{{0.1}, {-0.05}},
		Floor: 1e-12,
	}); err != nil {
		t.Error(err)
	}
	c, ok := light.(action.Clipper)
	if !ok {
		t.Fatal("nobody counts what is cut")
	}
	for _, k := range []struct {
		by    float64
		value float64
		n     int
	}{{0.1, 125.5, 0}, {0.9, 255, 75}, {-0.9, 0, 75}} {
		y := space.NewImage(3, 5, 5)
		for i := range y.Pix {
			y.Pix[i] = 100
		}
		v, err := light.Apply(group.Element{k.by}, y)
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.Clipped(group.Element{k.by}, y)
		if got := asA[*space.Image](t, v).Pix[7]; err != nil || n != k.n || !(math.Abs(got-k.value) < 1e-9) {
			t.Errorf("brightness %g of 100: %g with %d numbers cut, want %g with %d: %v", k.by, got, n, k.value, k.n,
				err)
		}
	}
	unit := chosen(t, brightness(), spec, action.Options{Range: []float64{0, 1}})
	if n, err := asA[action.Clipper](t, unit).Clipped(group.Element{0.1}, x); err != nil || n != 75 {
		t.Errorf("a picture of 0 to 255 where 0 to 1 is declared: %d numbers cut: %v", n, err)
	}
	// Frames, and beside a motion of the plane.
	both := product(t, brightness(), group.Trivial(), mustCyclic(t, 4))
	all := chosen(t, both, framesSpec(3, 2, 5, 5), action.Options{})
	y := &space.Frames{Images: []*space.Image{picture(2, 5, 5), picture(2, 5, 5), picture(2, 5, 5)}}
	if err := actiontest.Laws(actiontest.Case{
		Action: all, Value: y,
		Elements: []group.Element{{0.1, 90}, {-0.05, 180}, {0, 270}}, Floor: 1e-12,
	}); err != nil {
		t.Error(err)
	}
	// Colors leave masks, boxes and fields alone.
	for _, k := range []space.Kind{space.KindMask, space.KindBoxes, space.KindField} {
		if _, ok := chosen(t, brightness(), space.Spec{Name: "y", Kind: k}, action.Options{}).(action.Trivial); !ok {
			t.Errorf("a color moves a %s", k)
		}
	}
	mask := chosen(t, both, space.Spec{Name: "y", Kind: space.KindMask, Shape: []int{5, 5}}, action.Options{})
	if err := actiontest.Laws(actiontest.Case{
		Action: mask, Value: &space.Mask{H: 5, W: 5, Label: labels(25)},
		Elements: []group.Element{{0.1, 90}, {0.3, 180}},
	}); err != nil {
		t.Error(err)
	}
}

func labels(n int) []int32 {
	o := make([]int32, n)
	for i := range o {
		o[i] = int32(i * i % 11)
	}
	return o
}

func mustCyclic(tb testing.TB, n int) group.Group {
	tb.Helper()
	g, err := catalog.Cyclic(n)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func TestColorRefusals(t *testing.T) {
	spec := space.Spec{Name: "photo", Kind: space.KindImage, Shape: []int{1, 5, 5}}
	for _, c := range []struct {
		g    group.Group
		s    space.Spec
		o    action.Options
		want string
	}{
		{swapping{permuting{n: 3}}, spec, action.Options{}, "is for pictures of 3 channels, these have 1"},
		{brightness(), spec, action.Options{Range: []float64{1, 1}}, "the range of intensities [1 1]"},
		{brightness(), spec, action.Options{Range: []float64{math.NaN(), 1}}, "the range of intensities"},
		{permuting{n: 5}, spec, action.Options{}, "does not act on the plane"},
		{turning{}, spec, action.Options{}, "does not act on the plane"},
	} {
		_, err := action.Rules().For(c.g, c.s, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.g.Name(), err, c.want)
		}
	}
	if _, err := action.NewColor(turning{}, spec, action.Options{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("rotations of space as colors: %v", err)
	}
}
