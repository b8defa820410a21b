package dataset

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
)

// drawImage draws an image of whole intensities.
func drawImage(t *rapid.T, maxC, maxSide int) *space.Image {
	m := space.NewImage(rapid.IntRange(1, maxC).Draw(t, "c"), rapid.IntRange(1, maxSide).Draw(t, "h"),
		rapid.IntRange(1, maxSide).Draw(t, "w"))
	for i := range m.Pix {
		m.Pix[i] = float64(rapid.IntRange(0, 255).Draw(t, "v"))
	}
	return m
}

// rowOf is an image of one row.
func rowOf(v ...float64) *space.Image {
	return &space.Image{C: 1, H: 1, W: len(v), Pix: v}
}

// near compares numbers of moderate size.
func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-10 })
}

func TestResizeClosedForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   *space.Image
		h, w int
		want []float64
	}{
		// Of five pixels three: each new one covers 5/3 old ones.
		{
			"shrink 5 to 3", rowOf(10, 20, 30, 40, 50), 1, 3,
			[]float64{(10 + 20*2./3) * 3 / 5, (20./3 + 30 + 40./3) * 3 / 5, (40*2./3 + 50) * 3 / 5},
		},
		{"halve", rowOf(1, 3, 10, 20), 1, 2, []float64{2, 15}},
		{"to one", rowOf(1, 2, 6), 1, 1, []float64{3}},
		// Centres of four pixels over two lie at -1/4, 1/4, 3/4 and 5/4.
		{"double", rowOf(0, 8), 1, 4, []float64{0, 2, 6, 8}},
		{"grow one pixel", rowOf(7), 2, 3, []float64{7, 7, 7, 7, 7, 7}},
		{
			"columns grow, rows shrink", &space.Image{C: 1, H: 2, W: 2, Pix: []float64{0, 8, 4, 4}}, 1, 4,
			[]float64{2, 3, 5, 6},
		},
	} {
		if got := resize(c.in, c.h, c.w); got.H != c.h || got.W != c.w || !near(got.Pix, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got.Pix, c.want)
		}
	}
}

// resize brings an image to h rows and w columns, each axis by itself.
func resize(m *space.Image, h, w int) *space.Image {
	return framing{h: h, w: w, H: h, W: w}.image(m, 0)
}

// A picture is the part of the scaled photo that it shows, to the last bit, and takes no memory for the rest: that of
// the strip, scaled by its shorter side, would be 120 GB.
func TestFramedPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawImage(t, 2, 9)
		h, w := rapid.IntRange(1, 20).Draw(t, "h"), rapid.IntRange(1, 20).Draw(t, "w")
		f := framing{
			h: h, w: w, H: rapid.IntRange(1, 20).Draw(t, "H"), W: rapid.IntRange(1, 20).Draw(t, "W"), fill: 7,
			kernel: rapid.SampledFrom([]*kernel{nil, &kernels()[0], &kernels()[1], &kernels()[4]}).Draw(t, "kernel"),
		}
		f.top, f.left = -middle(h-f.H), -middle(w-f.W)
		whole := framing{h: h, w: w, H: h, W: w, kernel: f.kernel}.image(m, 255)
		part := f.image(m, 255)
		for k := range m.C {
			for i, got := range part.Plane(k) {
				want := 7.0
				if r, c := i/f.W-f.top, i%f.W-f.left; r >= 0 && c >= 0 && r < h && c < w {
					want = whole.Plane(k)[r*w+c]
				}
				if got != want {
					t.Fatalf("row %d, column %d of %+v is %v, want %v", i/f.W, i%f.W, f, got, want)
				}
			}
		}
	})
	strip := space.NewImage(3, 1, 20000)
	for i := range strip.Pix {
		strip.Pix[i] = 5
	}
	for _, m := range []*space.Image{strip, {C: 3, H: 20000, W: 1, Pix: strip.Pix}} {
		out := Resize{Short: 500, Crop: [2]int{32, 32}}.frame(m.H, m.W).image(m, 255)
		if out.H != 32 || out.W != 32 || slices.ContainsFunc(out.Pix, func(v float64) bool { return v != 5 }) {
			t.Errorf("a grey strip of %d x %d becomes %d x %d %v", m.W, m.H, out.W, out.H, out.Pix)
		}
	}
}

func TestResizeLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawImage(t, 2, 9)
		if same := resize(m, m.H, m.W); same != m {
			t.Fatal("a resize to the same size makes a copy")
		}
		// The area average keeps the mean, and block means are its closed form for whole factors.
		small := resize(m, rapid.IntRange(1, m.H).Draw(t, "h'"), rapid.IntRange(1, m.W).Draw(t, "w'"))
		for k := range m.C {
			if a, b := mean(m.Plane(k)), mean(small.Plane(k)); !(math.Abs(a-b) <= 1e-9) {
				t.Fatalf("the mean of plane %d went from %v to %v", k, a, b)
			}
		}
		f := rapid.IntRange(2, 4).Draw(t, "factor")
		wide := space.NewImage(m.C, m.H*f, m.W*f)
		for k := range m.C {
			for r := range wide.H {
				for c := range wide.W {
					wide.Plane(k)[r*wide.W+c] = m.Plane(k)[r/f*m.W+c/f]
				}
			}
		}
		if back := resize(wide, m.H, m.W); !near(back.Pix, m.Pix) {
			t.Fatalf("block means of %v are %v", m.Pix, back.Pix)
		}
		// A ramp stays a ramp between the outermost centres, in its own coordinates.
		n := rapid.IntRange(2, 9).Draw(t, "n")
		big := rapid.IntRange(n, 30).Draw(t, "N")
		ramp := space.NewImage(1, 1, n)
		for i := range ramp.Pix {
			ramp.Pix[i] = float64(i)
		}
		for i, v := range resize(ramp, 1, big).Pix {
			at := (float64(i)+0.5)*float64(n)/float64(big) - 0.5
			if want := math.Min(math.Max(at, 0), float64(n-1)); !(math.Abs(v-want) <= 1e-9) {
				t.Fatalf("pixel %d of a ramp of %d over %d is %v, want %v", i, n, big, v, want)
			}
		}
	})
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

// A box around pixels that a whole factor shrinks covers exactly what has become of them, wherever fit puts the photo.
func TestFrameTakesBoxesAlong(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.IntRange(1, 4).Draw(t, "factor")
		h, w := rapid.IntRange(1, 8).Draw(t, "h"), rapid.IntRange(1, 8).Draw(t, "w")
		y1, x1 := rapid.IntRange(0, h-1).Draw(t, "y1"), rapid.IntRange(0, w-1).Draw(t, "x1")
		y2, x2 := rapid.IntRange(y1+1, h).Draw(t, "y2"), rapid.IntRange(x1+1, w).Draw(t, "x2")
		m := space.NewImage(1, h*f, w*f)
		for r := y1 * f; r < y2*f; r++ {
			for c := x1 * f; c < x2*f; c++ {
				m.Pix[r*m.W+c] = 200
			}
		}
		// Room on one axis only, so that the other decides the factor.
		fit := [2]int{h + rapid.IntRange(0, 5).Draw(t, "more"), w}
		if rapid.Bool().Draw(t, "wide") {
			fit = [2]int{h, w + rapid.IntRange(0, 5).Draw(t, "more")}
		}
		fr := frame(m.H, m.W, 0, fit)
		if fr.h != h || fr.w != w || fr.H != fit[0] || fr.W != fit[1] || fr.top != (fit[0]-h)/2 ||
			fr.left != (fit[1]-w)/2 {
			t.Fatalf("%d x %d px into %v: %+v", m.W, m.H, fit, fr)
		}
		got := fr.image(m, 255)
		b := fr.box(space.Box{X1: float64(x1 * f), Y1: float64(y1 * f), X2: float64(x2 * f), Y2: float64(y2 * f)}, m.H,
			m.W)
		for r := range got.H {
			for c := range got.W {
				x, y := float64(c)+0.5, float64(r)+0.5
				want := 0.0
				if x > b.X1 && x < b.X2 && y > b.Y1 && y < b.Y2 {
					want = 200
				}
				if v := got.Pix[r*got.W+c]; !(math.Abs(v-want) <= 1e-9) {
					t.Fatalf("pixel %d, %d is %v, want %v for the box %+v", r, c, v, want, b)
				}
			}
		}
	})
}

func TestFrameSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		h, w int
		zoom float64
		fit  [2]int
		want framing
	}{
		{480, 640, 0.6, [2]int{}, framing{h: 288, w: 384, H: 288, W: 384}},
		{3, 5, 0.5, [2]int{}, framing{h: 2, w: 3, H: 2, W: 3}}, // 1.5 and 2.5 round up
		{1, 9, 0.1, [2]int{}, framing{h: 1, w: 1, H: 1, W: 1}},
		{480, 640, 0, [2]int{128, 128}, framing{h: 96, w: 128, top: 16, H: 128, W: 128}},
		{10, 5, 0, [2]int{20, 21}, framing{h: 20, w: 10, left: 5, H: 20, W: 21}},
	} {
		if got := frame(c.h, c.w, c.zoom, c.fit); got != c.want {
			t.Errorf("%d x %d: %+v, want %+v", c.w, c.h, got, c.want)
		}
	}
}

// The sequence is that of numpy.pad(range(4), 9, mode="reflect").
func TestMirror(t *testing.T) {
	t.Parallel()
	want := []int{3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0}
	for k, v := range want {
		if got := mirror(k-9, 4); got != v {
			t.Errorf("position %d of four mirrored pixels is %d, want %d", k-9, got, v)
		}
	}
	if got := mirror(-7, 1); got != 0 {
		t.Errorf("position -7 of one pixel is %d", got)
	}
}
