package action_test

import (
	"errors"
	"fmt"
	"iter"
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

func imageSpec(c, h, w int) space.Spec {
	return space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{c, h, w}}
}

func newImage(tb testing.TB, g group.Group, h, w int, o action.Options) *action.Image {
	tb.Helper()
	a, err := action.NewImage(g, imageSpec(-1, h, w), o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func noisy(c, h, w int) *space.Image {
	x := space.NewImage(c, h, w)
	copy(x.Pix, noise(uint64(c*10000+h*100+w), len(x.Pix)))
	return x
}

// lossless reports whether nothing leaves the picture: no shift, or a torus.
func lossless(b action.Border) func(g, h group.Element) bool {
	return func(g, h group.Element) bool {
		return b == action.Circular || g[2] == 0 && g[3] == 0 && h[2] == 0 && h[3] == 0
	}
}

// options are all kernels under all border rules, with a name; of a short test each kernel under one rule.
func options() iter.Seq2[string, action.Options] {
	return func(yield func(string, action.Options) bool) {
		for i, k := range action.Kernels() {
			for j, b := range action.Borders() {
				if testing.Short() && i%len(action.Borders()) != j {
					continue
				}
				if !yield(fmt.Sprintf("%s/%s", k, b), action.Options{Kernel: k, Border: b}) {
					return
				}
			}
		}
	}
}

func TestImageLaws(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			for _, s := range [][3]int{{1, 6, 6}, {3, 7, 7}, {2, 5, 8}, {1, 1, 4}, {1, 1, 1}, {1, 36, 33}} {
				els := []group.Element{
					rot(180), element(0, 1, 0, 0), shift(2, -3), element(180, 1, 1, 7), rot(37),
					shift(0.25, -1.5),
				}
				if s[1] == s[2] {
					els = append(els, rot(90), rot(270), element(90, 1, -2, 9))
				}
				if s[1]*s[2] > 1000 { // the paths without tables
					els = []group.Element{element(180, 1, 1, 7), rot(37), shift(0.25, -1.5)}
				}
				var v space.Value = noisy(s[0], s[1], s[2])
				if s[1]*s[2] == 1 {
					v = &space.Image{C: 2, H: 1, W: 1, Pix: []float64{3, 5}}
				}
				err := actiontest.Laws(actiontest.Case{
					Action: newImage(t, plane{}, s[1], s[2], o), Value: v, Elements: els, Composes: lossless(o.Border),
				})
				if err != nil {
					t.Errorf("%v: %v", s, err)
				}
			}
		})
	}
}

func TestOrientation(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			if o.Kernel == action.Up3 {
				return // blurs a picture of numbered pixels; its direction is tried with phantoms
			}
			a, err := action.NewImage(plane{}, space.Spec{Kind: space.KindImage, Shape: []int{1, -1, -1}}, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := actiontest.Orientation(a, rot(90), element(0, 1, 0, 0)); err != nil {
				t.Error(err)
			}
			if err := actiontest.Directions(a, shift(1, 0), shift(0, 1)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestIndexPathAgreesWithResampling moves lattice elements by an amount too small to matter, which makes them resample.
func TestIndexPathAgreesWithResampling(t *testing.T) {
	const tiny = 1e-11
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			if o.Kernel == action.Up3 {
				return
			}
			for _, s := range [][2]int{{6, 6}, {7, 7}, {5, 8}, {36, 36}} {
				a, x := newImage(t, plane{}, s[0], s[1], o), noisy(2, s[0], s[1])
				els := []group.Element{shift(0, 0), shift(2, -1), rot(180), element(0, 1, 3, 0), element(180, 1, -2, 1)}
				if s[0] == s[1] {
					els = append(els, rot(90), rot(270), element(90, 1, 0, 0), element(270, 1, 1, 2))
				}
				for _, g := range els {
					near := group.Element{g[0] + tiny, g[1], g[2] + tiny, g[3] - tiny, 1}
					side := group.Element{g[0], g[1], g[2] + tiny, g[3] - tiny, 1} // the path with taps per axis
					if !a.Exact(g) || a.Exact(near) || a.Exact(side) {
						t.Fatalf("exact: %v is %v, %v is %v, %v is %v", g, a.Exact(g), near, a.Exact(near), side,
							a.Exact(side))
					}
					want := must(a.Apply(g, x))
					for _, n := range []group.Element{near, side} {
						if d := actiontest.Distance(must(a.Apply(n, x)), want); !(d < 1e-8) {
							t.Errorf("%v: element %v, which resamples, differs from its lattice neighbor by %.2g", s, n,
								d)
						}
					}
				}
			}
		})
	}
}

func must(v space.Value, err error) space.Value {
	if err != nil {
		panic(err)
	}
	return v
}

func as[T space.Value](v space.Value, err error) T {
	o, ok := must(v, err).(T)
	if !ok {
		panic(fmt.Sprintf("got a %T", v))
	}
	return o
}

// TestPathsAgree compares the tables of small pictures with the computation on the way that large ones get, and the
// taps per axis with those per pixel.
func TestPathsAgree(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			x := noisy(2, 30, 27)
			big := space.NewImage(2, 90, 81)
			big.Pix = noise(5, len(big.Pix))
			for k := range 2 {
				for r := range 30 {
					for c := range 27 {
						big.Plane(k)[(r+30)*81+c+27] = x.Plane(k)[r*27+c]
					}
				}
			}
			// The window is small, so it has tables; the picture as a whole has none.
			win := o
			win.Window = []int{30, 27}
			for _, g := range []group.Element{
				rot(33), element(200, 1, 2.5, -1),
				{10, 0, 1, 1, 0.7},
				{0, 0, 0.52, 0.27, 1.51},
				{90, 0, 0.41, 0.13, 1.37},
			} {
				small := as[*space.Image](newImage(t, plane{}, 90, 81, win).Apply(g, big))
				full := as[*space.Image](newImage(t, plane{}, 90, 81, o).Apply(g, big))
				for k := range 2 {
					for r := range 30 {
						for c := range 27 {
							a, b := small.Plane(k)[r*27+c], full.Plane(k)[(r+30)*81+c+27]
							if !(math.Abs(a-b) <= 1e-11) {
								t.Fatalf("%v: channel %d, row %d, column %d: %v with tables, %v without", g, k, r, c, a,
									b)
							}
						}
					}
				}
			}
		})
	}
}

// reference reads a picture between its pixels in the slowest way: the picture is extended by the border rule far
// enough for the far border not to matter, and B-spline coefficients come from solving the tridiagonal system by many
// sweeps.
type reference struct {
	// of the picture
	h, w int
	opt  action.Options
	ext  []float64
	// of ext
	eh, ew int
}

const refPad = 40

func newReference(x *space.Image, o action.Options) reference {
	extend := o.Border
	if o.Kernel == action.Spline && o.Border == action.Edge {
		extend = action.Reflect
	}
	f := reference{h: x.H, w: x.W, opt: o, eh: x.H + 2*refPad, ew: x.W + 2*refPad}
	f.ext = make([]float64, f.eh*f.ew)
	for r := range f.eh {
		for c := range f.ew {
			if v, ok := extended(x, extend, r-refPad, c-refPad); ok {
				f.ext[r*f.ew+c] = v
			}
		}
	}
	if o.Kernel == action.Spline {
		f.ext = coefficients(f.ext, f.eh, f.ew)
	}
	return f
}

func (f reference) move(a [2][2]float64, sh [2]float64) *space.Image {
	out := space.NewImage(1, f.h, f.w)
	det := a[0][0]*a[1][1] - a[0][1]*a[1][0]
	cx, cy := float64(f.w-1)/2, float64(f.h-1)/2
	for r := range f.h {
		for c := range f.w {
			px, py := float64(c)-cx-sh[0], float64(r)-cy-sh[1]
			sx, sy := cx+(a[1][1]*px-a[0][1]*py)/det, cy+(a[0][0]*py-a[1][0]*px)/det
			if f.opt.Kernel == action.Spline && f.opt.Border == action.Edge {
				sx, sy = min(max(sx, 0), float64(f.w-1)), min(max(sy, 0), float64(f.h-1))
			}
			x0, y0 := int(math.Floor(sx))-3, int(math.Floor(sy))-3
			var kx [8]float64
			for j := range kx {
				kx[j] = kernel(f.opt.Kernel, sx-float64(x0+j))
			}
			var sum, weight float64
			for i := range 8 {
				ky := kernel(f.opt.Kernel, sy-float64(y0+i))
				for j, k := range kx {
					weight += k * ky
					if y, z := y0+i+refPad, x0+j+refPad; y >= 0 && z >= 0 && y < f.eh && z < f.ew {
						sum += k * ky * f.ext[y*f.ew+z]
					}
				}
			}
			out.Pix[r*f.w+c] = sum / weight
		}
	}
	return out
}

func extended(x *space.Image, b action.Border, r, c int) (float64, bool) {
	fold := func(i, n int) int {
		switch b {
		case action.Zero:
		case action.Edge:
			for i < 0 {
				i++
			}
			for i >= n {
				i--
			}
		case action.Reflect:
			for n > 1 && (i < 0 || i >= n) {
				if i < 0 {
					i = -i
				} else {
					i = 2*(n-1) - i
				}
			}
			if n == 1 {
				i = 0
			}
		case action.Circular:
			for i < 0 {
				i += n
			}
			for i >= n {
				i -= n
			}
		}
		return i
	}
	r, c = fold(r, x.H), fold(c, x.W)
	if r < 0 || c < 0 || r >= x.H || c >= x.W {
		return 0, false
	}
	return x.Pix[r*x.W+c], true
}

// kernel is the kernel as a function of the distance, straight from its definition.
func kernel(k action.Kernel, x float64) float64 {
	x = math.Abs(x)
	sinc := func(x float64) float64 {
		if x == 0 {
			return 1
		}
		return math.Sin(math.Pi*x) / (math.Pi * x)
	}
	switch k {
	case action.Area, action.Fourier: // no products of a function of the distance along each axis
	case action.Nearest:
		if x < 0.5 {
			return 1
		}
	case action.Bilinear, action.Up3:
		return max(0, 1-x)
	case action.Bicubic:
		switch {
		case x < 1:
			return 1.5*x*x*x - 2.5*x*x + 1
		case x < 2:
			return -0.5*x*x*x + 2.5*x*x - 4*x + 2
		}
	case action.Quintic: // the table of the paper, term by term
		const a = 3. / 64
		p := func(c ...float64) (sum float64) {
			for i := range c {
				sum += c[i] * math.Pow(x, float64(5-i))
			}
			return sum
		}
		switch {
		case x < 1:
			return p(10*a-21./16, -18*a+45./16, 0, 8*a-5./2, 0, 1)
		case x < 2:
			return p(11*a-5./16, -88*a+45./16, 270*a-10, -392*a+35./2, 265*a-15, -66*a+5)
		case x < 3:
			return p(a, -14*a, 78*a, -216*a, 297*a, -162*a)
		}
	case action.Lanczos:
		if x < 3 {
			return sinc(x) * sinc(x/3)
		}
	case action.Spline:
		switch {
		case x < 1:
			return 2./3 - x*x + x*x*x/2
		case x < 2:
			return (2 - x) * (2 - x) * (2 - x) / 6
		}
	}
	return 0
}

// coefficients solves (c[i-1] + 4c[i] + c[i+1])/6 = x[i] along both axes by Gauss-Seidel sweeps.
func coefficients(x []float64, h, w int) []float64 {
	solve := func(get func(i int) *float64, n int) {
		rhs := make([]float64, n)
		for i := range rhs {
			rhs[i] = *get(i)
		}
		for range 60 {
			for i := range n {
				v := 6 * rhs[i]
				if i > 0 {
					v -= *get(i - 1)
				}
				if i < n-1 {
					v -= *get(i + 1)
				}
				*get(i) = v / 4
			}
		}
	}
	o := append([]float64{}, x...)
	for r := range h {
		solve(func(i int) *float64 { return &o[r*w+i] }, w)
	}
	for c := range w {
		solve(func(i int) *float64 { return &o[i*w+c] }, h)
	}
	return o
}

func TestAgainstReference(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			if o.Kernel == action.Up3 || o.Kernel == action.Area || o.Kernel == action.Fourier {
				return // see TestUp3IsTheLongWayRound, TestAreaIsTheMeanOverThePixel and TestFourierIsExact
			}
			for _, s := range [][2]int{{9, 9}, {6, 11}, {3, 2}, {35, 32}} {
				x := noisy(1, s[0], s[1])
				a, ref := newImage(t, plane{}, s[0], s[1], o), newReference(x, o)
				for _, g := range []group.Element{
					rot(31), rot(123.4), element(250, 1, 0, 0), shift(0.3, -1.7),
					{15, 0, 2.2, 0.1, 1.3},
					{90, 0, 0.4137, 0.1319, 0.8317},
					{0, 1, 0.4137, 0.1319, 0.9173},
					shift(-4.6, 5.2),
				} {
					m, sh := plane{}.Affine(g)
					got := must(a.Apply(g, x))
					if d := actiontest.Distance(got, ref.move(m, sh)); !(d < 1e-8) {
						t.Errorf("%v: element %v differs from the reference by %.2g", s, g, d)
					}
				}
			}
		})
	}
}

// TestUp3IsTheLongWayRound makes the enlarged picture, turns it and shrinks it.
func TestUp3IsTheLongWayRound(t *testing.T) {
	x := noisy(1, 10, 12)
	// The picture of a digit: empty near its border, so that only the middle matters.
	for i := range x.Pix {
		if r, c := i/12, i%12; r < 3 || c < 3 || r > 6 || c > 8 {
			x.Pix[i] = 0
		}
	}
	big := space.NewImage(1, 30, 36)
	for r := range 30 {
		for c := range 36 {
			for i := range 10 {
				for j := range 12 {
					big.Pix[r*36+c] += kernel(action.Bilinear, float64(r-1)/3-float64(i)) * kernel(action.Bilinear,
						float64(c-1)/3-float64(j)) * x.Pix[i*12+j]
				}
			}
		}
	}
	tri := []float64{1, 2, 3, 2, 1}
	for _, g := range []group.Element{rot(0), rot(90), rot(17), element(100, 1, 0, 0), shift(0.4, 1)} {
		turned := as[*space.Image](newImage(t, plane{}, 30, 36,
			action.Options{}).Apply(group.Element{g[0], g[1], 3 * g[2], 3 * g[3], 1}, big))
		want := space.NewImage(1, 10, 12)
		for r := range 10 {
			for c := range 12 {
				for i, u := range tri {
					for j, v := range tri {
						if y, z := 3*r+i-1, 3*c+j-1; y >= 0 && z >= 0 && y < 30 && z < 36 {
							want.Pix[r*12+c] += u * v / 81 * turned.Pix[y*36+z]
						}
					}
				}
			}
		}
		a := newImage(t, plane{}, 10, 12, action.Options{Kernel: action.Up3})
		if d := actiontest.Distance(must(a.Apply(g, x)), want); !(d < 1e-12) {
			t.Errorf("%v: differs from enlarging, turning and shrinking by %.2g", g, d)
		}
		if a.Exact(g) {
			t.Errorf("%v is called exact although everything is blurred", g)
		}
	}
}

func TestExact(t *testing.T) {
	for _, c := range []struct {
		h, w int
		g    group.Element
		want bool
	}{
		{4, 4, rot(0), true},
		{4, 4, rot(90), true},
		{5, 5, element(270, 1, 3, -2), true},
		{4, 6, rot(90), false},
		{4, 6, rot(180), true},
		{4, 5, element(180, 1, 0, 0), true},
		{4, 5, shift(7, 100), true},
		{4, 5, shift(0.5, 0), false},
		{4, 4, rot(45), false},
		{-1, -1, rot(90), false}, // nobody says that the picture is square
		{-1, -1, rot(180), true},
		{4, 4, group.Element{0, 0, 0, 0, 2}, false},
		{4, 4, group.Element{0, 0, 0, 0}, false},
		{4, 4, group.Element{math.NaN(), 0, 0, 0, 1}, false},
		{4, 4, group.Element{0, 0, math.Inf(1), 0, 1}, false},
	} {
		if got := newImage(t, plane{}, c.h, c.w, action.Options{}).Exact(c.g); got != c.want {
			t.Errorf("%d×%d, element %v: exact is %v, want %v", c.h, c.w, c.g, got, c.want)
		}
	}
}

// TestExactProperty: any lattice element of any size under any rule is the index formula.
func TestExactProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 9).Draw(t, "h"), rapid.IntRange(1, 9).Draw(t, "w")
		turn := rapid.SampledFrom([]float64{0, 90, 180, 270}).Draw(t, "turn")
		if turn == 90 || turn == 270 {
			w = h
		}
		g := element(turn, float64(rapid.IntRange(0, 1).Draw(t, "mirror")),
			float64(rapid.IntRange(-20, 20).Draw(t, "dx")), float64(rapid.IntRange(-20, 20).Draw(t, "dy")))
		b := rapid.SampledFrom(action.Borders()).Draw(t, "border")
		x := space.NewImage(1, h, w)
		for i := range x.Pix {
			x.Pix[i] = math.Sqrt(float64(i + 1))
		}
		a, err := action.NewImage(plane{}, imageSpec(1, h, w), action.Options{Border: b, Kernel: action.Lanczos})
		if err != nil {
			t.Fatal(err)
		}
		if !a.Exact(g) {
			t.Fatalf("%v is not exact", g)
		}
		got := as[*space.Image](a.Apply(g, x))
		m, sh := plane{}.Affine(g)
		for r := range h {
			for c := range w {
				// Twice the coordinates are whole numbers, and the transpose inverts.
				px, py := 2*c-(w-1)-2*int(sh[0]), 2*r-(h-1)-2*int(sh[1])
				sx := (int(m[0][0])*px + int(m[1][0])*py + w - 1) / 2
				sy := (int(m[0][1])*px + int(m[1][1])*py + h - 1) / 2
				want, _ := extended(x, b, sy, sx)
				if got.Pix[r*w+c] != want {
					t.Fatalf("row %d, column %d: %v, want %v", r, c, got.Pix[r*w+c], want)
				}
			}
		}
	})
}

func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hs, ws := rapid.IntRange(1, 12).Draw(t, "H"), rapid.IntRange(1, 12).Draw(t, "W")
		h, w := rapid.IntRange(1, hs).Draw(t, "h"), rapid.IntRange(1, ws).Draw(t, "w")
		dx, dy := rapid.IntRange(-15, 15).Draw(t, "dx"), rapid.IntRange(-15, 15).Draw(t, "dy")
		b := rapid.SampledFrom(action.Borders()).Draw(t, "border")
		x := noisy(1, hs, ws)
		a, err := action.NewImage(plane{}, imageSpec(1, hs, ws), action.Options{Border: b, Window: []int{h, w}})
		if err != nil {
			t.Fatal(err)
		}
		g := shift(float64(dx), float64(dy))
		if !a.Exact(g) {
			t.Fatal("a whole step is not exact")
		}
		got := as[*space.Image](a.Apply(g, x))
		for r := range h {
			for c := range w {
				want, _ := extended(x, b, (hs-h)/2+r-dy, (ws-w)/2+c-dx)
				if got.Pix[r*w+c] != want {
					t.Fatalf("row %d, column %d: %v, want %v", r, c, got.Pix[r*w+c], want)
				}
			}
		}
	})
}

func TestWindowLaws(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			o.Window = []int{6, 6}
			err := actiontest.Laws(actiontest.Case{
				Action: newImage(t, plane{}, 11, 14, o), Value: noisy(2, 11, 14), Reframes: true,
				Elements: []group.Element{shift(2, 1), shift(0.5, 0.25), rot(90), rot(20)},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	a := newImage(t, plane{}, 11, 14, action.Options{Window: []int{6, 6}})
	if !a.Exact(rot(90)) {
		t.Error("a square window turns about its own centre, so a quarter turn is exact")
	}
	// The quarter turn of the window is the quarter turn of what the window shows.
	x := noisy(1, 11, 14)
	cut := must(a.Apply(shift(0, 0), x))
	want := must(newImage(t, plane{}, 6, 6, action.Options{}).Apply(rot(90), cut))
	if d := actiontest.Distance(must(a.Apply(rot(90), x)), want); d != 0 {
		t.Errorf("turning the window differs from turning what it shows by %g", d)
	}
	if _, err := action.NewImage(plane{}, imageSpec(1, 5, 9), action.Options{Window: []int{6, 6}}); err == nil {
		t.Error("a window larger than the picture is accepted by size")
	}
	free := newImage(t, plane{}, -1, -1, action.Options{Window: []int{6, 6}})
	if _, err := free.Apply(shift(0, 0), noisy(1, 9, 5)); err == nil {
		t.Error("a window larger than the picture is accepted")
	}
}

func phantoms(band float64) []phantom.Phantom {
	r := rand.New(rand.NewPCG(3, uint64(1000*band)))
	return []phantom.Phantom{
		phantom.Waves(r, band, 6), phantom.Gaussians(r, band, 4, 12),
		phantom.Ellipse(band, 3, -2, 9, 6, 20),
	}
}

// floors are one-way errors at a quarter of the Nyquist frequency, measured and rounded up; see the golden table for
// the numbers.
var floors = map[action.Kernel]float64{
	action.Nearest: 0.3, action.Bilinear: 0.06, action.Bicubic: 0.012, action.Spline: 2e-3, action.Lanczos: 0.012,
	action.Up3: 0.15, action.Quintic: 0.012, action.Area: 0.15, action.Fourier: 0.05,
}

func TestDrawn(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			for _, s := range [][2]int{{36, 36}, {37, 37}, {34, 39}} {
				els := []group.Element{
					rot(0), rot(90), rot(117), element(40, 1, 0, 0), shift(0.5, -1.25),
					{0, 0, 0, 0, 1.1},
					{200, 1, 1.5, 2, 1},
				}
				if err := actiontest.Drawn(newImage(t, plane{}, s[0], s[1], o), phantoms(0.25), els, s[0], s[1],
					floors[o.Kernel]); err != nil {
					t.Errorf("%v: %v", s, err)
				}
			}
		})
	}
}

// TestContinuousElementsCompose: within a floor of the kernel on band-limited pictures, inside the disc.
func TestContinuousElementsCompose(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			err := actiontest.Laws(actiontest.Case{
				Action: newImage(t, plane{}, 28, 28, o), Value: phantom.Draw(28, 28, phantoms(0.25)[:2]...),
				Elements: []group.Element{rot(23), element(61, 1, 0, 0)},
				Floor:    1.5 * floors[o.Kernel],
				Distance: func(a, b space.Value) float64 {
					return phantom.Difference(as[*space.Image](a, nil), as[*space.Image](b, nil),
						phantom.Disc(28, 28, 0.75))
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMoveDoesNotAllocate(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			for _, s := range []int{28, 40} {
				for _, g := range []group.Element{rot(90), rot(35), shift(0.5, 0)} {
					x, to := noisy(2, s, s), noisy(2, s, s)
					m, err := newImage(t, plane{}, s, s, o).Prepare(g, x)
					if err != nil {
						t.Fatal(err)
					}
					if n := testing.AllocsPerRun(5, func() {
						if err := m.Move(to, x); err != nil {
							t.Fatal(err)
						}
					}); n != 0 {
						t.Errorf("%d pixels, element %v: %v allocations", s, g, n)
					}
					if m.Move(x, x) == nil {
						t.Error("moving a picture onto itself is accepted")
					}
				}
			}
		})
	}
}

// line is a group that does not act on the plane.
type line struct{ group.Group }

func (line) Name() string { return "R" }

// Errors name the group that does what was meant.
func TestRefusalsNameTheRightGroup(t *testing.T) {
	for name, want := range map[string]string{
		"C4 x T(2,Z)": "the group p4", "T(2,Z) x D4": "the group p4m", "SO(2) x T(2)": "the group SE(2)",
		"O(2) x T(2)": "the group E(2)",
		"C8 x T(2)":   "affine maps", "Roll(28,28)": "the group for it is Roll(64,48)",
	} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = action.NewImage(g, imageSpec(1, 64, 48), action.Options{}); err == nil ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		_, err = action.Rules().For(g, imageSpec(1, 64, 48), action.Options{})
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "unsupported") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, by the rules: %v", name, err)
		}
		if joint, ok := strings.CutPrefix(want, "the group for it is "); ok || strings.HasPrefix(want, "the group ") {
			if !ok {
				joint = strings.TrimPrefix(want, "the group ")
			}
			if g, err = catalog.Parse(joint); err != nil {
				t.Fatal(err)
			}
			if _, err = action.NewImage(g, imageSpec(1, 64, 48), action.Options{}); err != nil {
				t.Errorf("%s, named for %s: %v", joint, name, err)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	refuse := func(what string, unsupported bool, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s is accepted", what)
		} else if errors.Is(err, errors.ErrUnsupported) != unsupported {
			t.Errorf("%s: unsupported is %v: %v", what, !unsupported, err)
		}
	}
	s := imageSpec(1, 4, 4)
	table := action.Rules()
	try := func(g group.Group, s space.Spec, o action.Options) error { _, err := table.For(g, s, o); return err }
	refuse("a group that does not act on the plane", true, try(line{}, s, action.Options{}))
	refuse("an unknown kernel", false, try(plane{}, s, action.Options{Kernel: "sinc"}))
	refuse("an unknown border", false, try(plane{}, s, action.Options{Border: "mirror"}))
	refuse("a window of one number", false, try(plane{}, s, action.Options{Window: []int{3}}))
	refuse("an empty window", false, try(plane{}, s, action.Options{Window: []int{3, 0}}))
	refuse("a picture without channels axis", false, try(plane{}, space.Spec{Kind: space.KindImage, Shape: []int{4, 4}},
		action.Options{}))
	refuse("an empty picture", false, try(plane{}, space.Spec{Kind: space.KindImage, Shape: []int{1, 0, 4}},
		action.Options{}))
	refuse("scores that nobody calls invariant", true,
		try(plane{}, space.Spec{Kind: space.KindScores}, action.Options{}))
	refuse("a tensor without type", true, try(plane{}, space.Spec{Kind: space.KindTensor, Shape: []int{2, 4, 4}},
		action.Options{}))
	refuse("the regular type of an infinite group", true,
		try(plane{}, space.Spec{Kind: space.KindTensor, Shape: []int{2, 4, 4}, Type: "regular"}, action.Options{}))
	refuse("a regular field with the wrong number of channels", false,
		try(d4{}, space.Spec{Kind: space.KindTensor, Shape: []int{12, 4, 4}, Type: "regular"}, action.Options{}))
	refuse("a tensor of rank 2", true,
		try(d4{}, space.Spec{Kind: space.KindTensor, Shape: []int{8, 4}, Type: "regular"}, action.Options{}))
	refuse("a kind without rules", true, try(plane{}, space.Spec{Kind: "cloud"}, action.Options{}))

	a := newImage(t, plane{}, 4, 4, action.Options{})
	apply := func(g group.Element, v space.Value) error { _, err := a.Apply(g, v); return err }
	refuse("a picture of another size", false, apply(rot(0), noisy(1, 4, 5)))
	refuse("a picture with missing numbers", false,
		apply(rot(0), &space.Image{C: 1, H: 4, W: 4, Pix: make([]float64, 15)}))
	refuse("a nil picture", false, apply(rot(0), (*space.Image)(nil)))
	refuse("a map without inverse", false, apply(group.Element{0, 0, 0, 0, 0}, noisy(1, 4, 4)))
	refuse("a shift beyond reach", false, apply(shift(1e30, 0), noisy(1, 4, 4)))
	refuse("a scale beyond reach", false, apply(group.Element{0, 0, 0, 0, 1e-30}, noisy(1, 4, 4)))

	if err := try(plane{}, space.Spec{Kind: space.KindScores}, action.Options{Invariant: true}); err != nil {
		t.Errorf("scores declared invariant: %v", err)
	}
}
