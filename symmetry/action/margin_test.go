package action_test

import (
	"math"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// With as much around a window as Overhang says the border rule has no part in any element, and with one pixel less on
// the axis that needs most it has in some.
func TestOverhang(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		g        group.Group
		elements []group.Element
		kernel   action.Kernel
		want     [2]int
	}{
		{catalog.SO2(), []group.Element{{0}, {90}, {30}, {45}}, action.Bilinear, [2]int{4, 2}},
		{catalog.SO2(), []group.Element{{45}}, action.Bicubic, [2]int{5, 3}},
		{catalog.SO2(), []group.Element{{45}}, action.Nearest, [2]int{3, 1}},
		{catalog.T2Z(), []group.Element{{3, -2}, {-1, 5}}, action.Bilinear, [2]int{5, 3}},
		{catalog.T2(), []group.Element{{0.5, 0}, {0, -2.25}}, action.Bilinear, [2]int{3, 1}},
		{catalog.SO2(), []group.Element{{180}}, action.Bilinear, [2]int{0, 0}},
	} {
		h, w := 11, 15
		var most [2]int
		for _, g := range c.elements {
			rows, cols, err := action.Overhang(c.g, g, h, w, c.kernel)
			if err != nil {
				t.Fatal(err)
			}
			most = [2]int{max(most[0], rows), max(most[1], cols)}
		}
		if most != c.want {
			t.Errorf("%s at %v with %s: %v, want %v", c.g.Name(), c.elements, c.kernel, most, c.want)
		}
		leaves := func(margin [2]int) bool {
			x := space.NewImage(1, h+2*margin[0], w+2*margin[1])
			a := newImage(t, c.g, x.H, x.W, action.Options{Kernel: c.kernel, Window: []int{h, w}})
			for _, g := range c.elements {
				l, err := action.Leaves(a, g, x)
				if err != nil {
					t.Fatal(err)
				}
				if l {
					return true
				}
			}
			return false
		}
		if leaves(most) {
			t.Errorf("%s: %v is too little", c.g.Name(), most)
		}
		for i := range most {
			less := most
			if less[i]--; less[i] >= 0 && !leaves(less) {
				t.Errorf("%s: %v is enough", c.g.Name(), less)
			}
		}
	}
	two, err := group.Product(catalog.SO2(), catalog.Time())
	if err != nil {
		t.Fatal(err)
	}
	if rows, _, err := action.Overhang(two, group.Element{45, 0}, 11, 11, action.Bilinear); err != nil || rows != 3 {
		t.Errorf("a product with time: %d, %v", rows, err)
	}
}

// A window moves like the picture that it is cut from, and around a torus what stayed in sight comes back to its place.
func TestUncutAndAround(t *testing.T) {
	t.Parallel()
	x := noisy(2, 9, 10)
	a := newImage(t, catalog.T2Z(), 9, 10, action.Options{Window: []int{5, 6}})
	whole, ok := action.Uncut(a)
	if !ok {
		t.Fatal("no window")
	}
	g := group.Element{1, -2}
	moved, err := whole.Apply(g, x)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := moved.(*space.Image); !ok || m.H != 9 || m.W != 10 {
		t.Fatalf("the whole picture is %v", moved.Dims())
	}
	back, err := a.Apply(group.Element{-1, 2}, moved)
	if err != nil {
		t.Fatal(err)
	}
	still, err := a.Apply(group.Element{0, 0}, x)
	if err != nil {
		t.Fatal(err)
	}
	if d := most(back, still); d != 0 {
		t.Errorf("there and back is off by %g", d)
	}
	torus, ok := action.Around(a)
	if !ok {
		t.Fatal("no window")
	}
	seen, err := a.Apply(g, x)
	if err != nil {
		t.Fatal(err)
	}
	home, err := torus.Apply(group.Element{-1, 2}, seen)
	if err != nil {
		t.Fatal(err)
	}
	h, s := home.Numbers(), still.Numbers()
	for i := range h {
		r, c := i/6%5, i%6
		if stayed := r >= 2 && c < 5; stayed && h[i] != s[i] {
			t.Errorf("row %d, column %d is %g, was %g", r, c, h[i], s[i])
		}
	}
	if d := most(home, still); d == 0 {
		t.Error("nothing entered")
	}
	plain := newImage(t, catalog.T2Z(), 9, 10, action.Options{})
	for _, b := range []action.Action{plain, action.Trivial{G: catalog.T2Z()}} {
		if _, ok := action.Uncut(b); ok {
			t.Errorf("%T without a window has one", b)
		}
		if _, ok := action.Around(b); ok {
			t.Errorf("%T without a window goes around", b)
		}
	}
}

// most is the largest difference.
func most(a, b space.Value) float64 {
	x, y := a.Numbers(), b.Numbers()
	d := 0.0
	for i := range x {
		d = max(d, math.Abs(x[i]-y[i]))
	}
	return d
}
