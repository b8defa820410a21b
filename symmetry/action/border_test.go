package action_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// TestWindowBeyondThePicture: what each border rule shows in a window of 3×6 at the right edge of a picture of one row
// of letters, three of whose columns lie outside. Reflect mirrors about the centre of the last pixel: f e d, neither a
// copy of it (f f e) nor of the picture.
func TestWindowBeyondThePicture(t *testing.T) {
	x := space.NewImage(1, 5, 8)
	for r := range 5 {
		for c := range 8 {
			x.Pix[8*r+c] = float64(100*r + 'a' + c)
		}
	}
	for border, want := range map[action.Border]string{
		action.Zero: "fgh...", action.Edge: "fghhhh",
		action.Reflect: "fghgfe", action.Circular: "fghabc",
	} {
		a := newImage(t, catalog.T2(), 5, 8, action.Options{Border: border, Window: []int{3, 6}})
		g := group.Element{-4, 0} // the corner is at column 1 under the identity
		got := as[*space.Image](a.Apply(g, x))
		for r := range 3 {
			var line []byte
			for c := range 6 {
				v := got.Pix[6*r+c]
				if v == 0 {
					line = append(line, '.')
					continue
				}
				line = append(line, byte(v-float64(100*(r+1))))
			}
			if string(line) != want {
				t.Errorf("%s: row %d shows %s, want %s", border, r, line, want)
			}
		}
		if n, err := a.Padded(g, x); n != 9 || err != nil {
			t.Errorf("%s: %d pixels are padded, %v; want 9", border, n, err)
		}
		if l, err := action.Leaves(a, g, x); !l || err != nil {
			t.Errorf("%s: the window does not leave: %v", border, err)
		}
		for _, g := range []group.Element{{1, 1}, {-1, -1}, {-1, 1}, {0.5, 0.5}, {-1, 0.75}} {
			if l, err := action.Leaves(a, g, x); l || err != nil {
				t.Errorf("%s: the window leaves at %v: %v", border, g, err)
			}
		}
		for _, g := range []group.Element{{2, 0}, {-1.25, 0}, {0, 1.001}} {
			if l, err := action.Leaves(a, g, x); !l || err != nil {
				t.Errorf("%s: the window stays at %v: %v", border, g, err)
			}
		}
	}
	// The rows are reflected too.
	a := newImage(t, catalog.T2Z(), 5, 8, action.Options{Border: action.Reflect, Window: []int{3, 6}})
	got := as[*space.Image](a.Apply(group.Element{0, 3}, x))
	for r, want := range []float64{200, 100, 0} {
		if v := got.Pix[6*r] - 'b'; v != want {
			t.Errorf("row %d shows row %g, want %g", r, v/100, want/100)
		}
	}
}

// TestPaddedIsWhatTheBorderChanges: a pixel counts exactly if it takes other values under other content beyond the
// border.
func TestPaddedIsWhatTheBorderChanges(t *testing.T) {
	for _, k := range action.Kernels() {
		for _, name := range []string{"E(2)", "T(2)", "p4m", "Affine(shear)", "Affine(rotate,scale)"} {
			if k == action.Nearest && name != "T(2)" && name != "p4m" {
				continue // between two pixels roundoff decides which is nearest
			}
			t.Run(fmt.Sprintf("%s/%s", k, name), func(t *testing.T) {
				g := parse(t, name)
				rapid.Check(t, func(t *rapid.T) {
					h, w := rapid.IntRange(2, 9).Draw(t, "h"), rapid.IntRange(2, 9).Draw(t, "w")
					window := []int{
						rapid.IntRange(1, h).Draw(t, "window height"),
						rapid.IntRange(1, w).Draw(t, "window width"),
					}
					e := drawElement(t, g)
					whole := name == "T(2)" && k != action.Up3
					if whole {
						for i := range e {
							e[i] = math.Round(4*e[i]) / 4
						}
					}
					of := func(h, w int) *action.Image {
						a, err := action.NewImage(g, imageSpec(1, h, w), action.Options{Kernel: k, Window: window})
						if err != nil {
							t.Fatal(err)
						}
						return a
					}
					x := space.NewImage(1, h, w)
					n, err := of(h, w).Padded(e, x)
					if err != nil {
						t.Fatal(err)
					}
					if k == action.Fourier {
						return // every pixel has a part in every other; those read outside count
					}
					if k == action.Spline {
						return // its prefilter reaches everywhere; what it counts is what bicubic counts, below
					}
					// A sea around zeros: whatever reads it is not 0.
					const pad = 32
					sea := space.NewImage(1, h+2*pad, w+2*pad)
					for r := range sea.H {
						for c := range sea.W {
							if r < pad || c < pad || r >= h+pad || c >= w+pad {
								sea.Pix[r*sea.W+c] = 1
							}
						}
					}
					wet := 0
					for _, v := range as[*space.Image](of(sea.H, sea.W).Apply(e, sea)).Pix {
						if math.Abs(v) > 1e-9 {
							wet++
						}
					}
					// At the edge of the picture roundoff decides, or a weight is 0 in one direction only: such pixels
					// may count.
					if n < wet || whole && n != wet {
						t.Fatalf("%d×%d, window %v, element %v: %d pixels are padded, %d are read beyond the border", h,
							w, window, e, n, wet)
					}
				})
			})
		}
	}
}

func TestLeavesOfOtherActions(t *testing.T) {
	roll := newImage(t, parse(t, "Roll(4,5)"), 4, 5, action.Options{})
	if l, err := action.Leaves(roll, group.Element{3, 2}, noisy(1, 4, 5)); l || err != nil {
		t.Errorf("a roll leaves: %v", err)
	}
	if l, err := action.Leaves(action.Trivial{G: catalog.T2()}, group.Element{3, 2}, noisy(1, 4, 5)); l || err != nil {
		t.Errorf("what does not move leaves: %v", err)
	}
	g := catalog.T2Z()
	mask, err := action.NewMask(g, kindSpec(space.KindMask), action.Options{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := group.Element{1, -2}
	for _, c := range []struct {
		a action.Padder
		v space.Value
	}{
		{newImage(t, g, 4, 5, action.Options{}), noisy(2, 4, 5)},
		{newFrames(t, g, 2, 3, 4, 5, action.Options{}), noisyFrames(2, 3, 4, 5)},
		{newField(t, g, 4, 5, action.Options{}), noisyField(4, 5)},
		{mask, &space.Mask{H: 4, W: 5, Label: make([]int32, 20)}},
	} {
		// Of 4×5 pixels, 2×4 still show the picture.
		if n, err := c.a.Padded(e, c.v); n != 12 || err != nil {
			t.Errorf("%T: %d pixels are padded, %v; want 12", c.a, n, err)
		}
		if n, err := c.a.Padded(group.Element{math.NaN(), 0}, c.v); err == nil {
			t.Errorf("%T: %d pixels are padded at NaN", c.a, n)
		}
		if n, err := c.a.Padded(e, &space.Scores{}); err == nil {
			t.Errorf("%T: %d pixels of scores are padded", c.a, n)
		}
		a, ok := c.a.(action.Action)
		if !ok {
			t.Fatalf("%T is no action", c.a)
		}
		if l, err := action.Leaves(a, g.Identity(), c.v); l || err != nil {
			t.Errorf("%T: the identity leaves: %v", c.a, err)
		}
	}
}

// TestWholeStepsHoldLittle: a thousand prepared shifts of a window over a photo, as many as a study visits.
func TestWholeStepsHoldLittle(t *testing.T) {
	x := noisy(3, 256, 256)
	a := newImage(t, catalog.T2(), 256, 256, action.Options{Window: []int{128, 128}})
	movers := make([]action.Mover, 0, 1024)
	sum := 0
	for dy := -64; dy < 64; dy += 4 {
		for dx := -64; dx < 64; dx += 4 {
			m, err := a.Prepare(group.Element{float64(dx), float64(dy)}, x)
			if err != nil {
				t.Fatal(err)
			}
			movers = append(movers, m)
			sum += action.Bytes(m)
		}
	}
	if len(movers) != 1024 || sum > 1<<20 || sum < 1<<16 {
		t.Errorf("%d shifts hold %d bytes: expected at most 1 MiB", len(movers), sum)
	}
	allocated := testing.AllocsPerRun(3, func() {
		if _, err := a.Prepare(group.Element{4, -64}, x); err != nil {
			t.Fatal(err)
		}
	})
	if allocated > 8 {
		t.Errorf("preparing a shift allocates %v times", allocated)
	}
	to := space.NewImage(3, 128, 128)
	if err := movers[5*32+7].Move(to, x); err != nil { // dx = -36, dy = -44: the corner is at row 64+44, column 64+36
		t.Fatal(err)
	}
	for k := range 3 {
		for r := range 128 {
			if got, want := to.Plane(k)[r*128:(r+1)*128], x.Plane(k)[(r+108)*256+100:][:128]; !slices.Equal(got, want) {
				t.Fatalf("row %d of channel %d is not that of the photo", r, k)
			}
		}
	}
	full, err := newImage(t, catalog.T2(), 256, 256, action.Options{}).Prepare(group.Element{0.5, 0}, x)
	if err != nil {
		t.Fatal(err)
	}
	if n := action.Bytes(full); n < 8*256 || n > 150<<10 {
		t.Errorf("a shift between pixels holds %d bytes", n)
	}
}
