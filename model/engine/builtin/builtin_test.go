package builtin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/data/particle"
	"nero/data/tensor"
	"nero/model/engine"
)

// pair renders one of a flow that the test gives: each frame has lost 5 % of the particles of the other.
func pair(tb testing.TB, f particle.Flow, size int, noise float64) (a, b *Picture) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(11, 7))
	o := particle.Default(1, 1).Optics
	o.Noise = noise
	ps := particle.Scatter(f, o, size, size, 8, rng)
	frames := make([]*Picture, 2)
	for k := range frames {
		pix := particle.Render(ps, k, size, size)
		particle.Expose(pix, o, rng)
		frames[k] = &Picture{size, size, pix}
	}
	return frames[0], frames[1]
}

func open(tb testing.TB, text string) *Model {
	tb.Helper()
	m, err := Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// rms is the root of the mean squared distance per component, of pixels that are at least margin from the edge.
func rms(f *Field, truth particle.Flow, size, margin int) float64 {
	s, n := 0.0, 0
	want := particle.Truth(truth, size, size)
	wu, wv := want.U(), want.V()
	for y := margin; y < size-margin; y++ {
		for x := margin; x < size-margin; x++ {
			i := y*size + x
			du, dv := f.U[i]-wu[i], f.V[i]-wv[i]
			s += du*du + dv*dv
			n += 2
		}
	}
	return math.Sqrt(s / float64(n))
}

// The methods err as the field reports: Raffel et al. 2018, section 6.1, find 0.02 to 0.1 px for particles of 2 to 3 px
// and ten in a window; shear and turning add to it by what displacements differ within a window.
func TestErrorsOfTheField(t *testing.T) {
	const size = 128
	for _, c := range []struct {
		name  string
		flow  particle.Flow
		noise float64
		piv   float64
	}{
		{"uniform", particle.Uniform{U: 3.3, V: -1.7}, 0, 0.06},
		{"uniform, noise", particle.Uniform{U: -5.6, V: 0.25}, 3, 0.08},
		{"shear", shear(0.04), 0, 0.10},
		{"turn", turn(0.04), 0, 0.10},
	} {
		a, b := pair(t, c.flow, size, c.noise)
		for text, limit := range map[string]float64{"piv": c.piv} {
			f, err := open(t, text).solve(t.Context(), a, b)
			if err != nil {
				t.Fatal(err)
			}
			e := rms(f, c.flow, size, 16)
			t.Logf("%s, %s: %.4f px", text, c.name, e)
			if !(e <= limit) {
				t.Errorf("%s, %s: %.4f px rms; want at most %g", text, c.name, e, limit)
			}
		}
	}
}

// shear is a displacement along the columns that grows with the row, and turn one around the middle, both by px a px.
type (
	shear float64
	turn  float64
)

func (s shear) At(_, y float64) (u, v float64) { return float64(float64(s) * y), 0 }
func (s turn) At(x, y float64) (u, v float64) {
	return -float64(float64(s) * y), float64(float64(s) * x)
}

// Whole pixels are found exactly: the second frame is the first, moved. Of dense blocks what is moved are particles,
// for half pictures show nothing of noise, and by twice as far, for half pictures; and those passes are left out that
// warp by means, which bring what is less sure at the border further in.
func TestWholePixels(t *testing.T) {
	const size, all = 96, 118
	rng := rand.New(rand.NewPCG(3, 4))
	noise := make([]float64, all*all)
	for i := range noise {
		noise[i] = float64(rng.IntN(256))
	}
	particles, _ := pair(t, particle.Uniform{}, all, 0)
	for _, c := range []struct {
		text  string
		large []float64
		times int
	}{{"piv?search=8", noise, 1}, {"blocks?passes=0", particles.Pix, 2}} {
		cut := func(x, y int) *Picture {
			p := &Picture{size, size, nil}
			for r := range size {
				p.Pix = append(p.Pix, c.large[(r+y)*all+x:(r+y)*all+x+size]...)
			}
			return p
		}
		for _, d := range [][2]int{{5, -3}, {2, 0}, {0, 1}} {
			u, v := c.times*d[0], c.times*d[1]
			wholePixels(t, c.text, cut(10, 10), cut(10-u, 10-v), float64(u), float64(v))
		}
	}
}

func wholePixels(t *testing.T, text string, a, b *Picture, u, v float64) {
	t.Helper()
	f, err := open(t, text).solve(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	for y := 16; y < a.H-16; y++ {
		for x := 16; x < a.W-16; x++ {
			i := y*a.W + x
			if du, dv := math.Abs(f.U[i]-u), math.Abs(f.V[i]-v); !(du < 1e-9 && dv < 1e-9) {
				t.Fatalf("%s: (%g, %g) at (%d, %d); want (%g, %g)", text, f.U[i], f.V[i], x, y, u, v)
			}
		}
	}
}

// moved are both pictures and the field under one of the 16 elements: turns by a quarter, a mirror, the frames
// exchanged.
func moved(quarters int, mirror, swap bool, a, b *Picture, f *Field) (*Picture, *Picture, *Field) {
	n := a.W
	from := func(x, y int) (int, int) { // where what comes to (x, y) was
		for range quarters {
			x, y = n-1-y, x
		}
		if mirror {
			x = n - 1 - x
		}
		return x, y
	}
	move := func(p []float64) []float64 {
		out := make([]float64, n*n)
		for y := range n {
			for x := range n {
				fx, fy := from(x, y)
				out[y*n+x] = p[fy*n+fx]
			}
		}
		return out
	}
	pa, pb := &Picture{n, n, move(a.Pix)}, &Picture{n, n, move(b.Pix)}
	g := &Field{move(f.U), move(f.V)}
	for i := range g.U {
		u, v := g.U[i], g.V[i]
		if mirror {
			u = -u
		}
		for range quarters {
			u, v = v, -u
		}
		if swap {
			u, v = -u, -v
		}
		g.U[i], g.V[i] = u, v
	}
	if swap {
		pa, pb = pb, pa
	}
	return pa, pb, g
}

// The methods know no direction: all 16 elements of the square and of time move their answers but for rounding.
func TestEquivariant(t *testing.T) {
	const size = 64
	for _, text := range []string{"piv", "piv?window=12&overlap=0.75&passes=2"} {
		m := open(t, text)
		a, b := pair(t, turn(0.1), size, 3)
		f, err := m.solve(t.Context(), a, b)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 16 {
			pa, pb, want := moved(k%4, k/4%2 == 1, k/8 == 1, a, b, f)
			got, err := m.solve(t.Context(), pa, pb)
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for i := range got.U {
				worst = max(worst, math.Abs(got.U[i]-want.U[i]), math.Abs(got.V[i]-want.V[i]))
			}
			if !(worst < 1e-9) {
				t.Errorf("%s, element %d: off by %g px", text, k, worst)
			}
		}
	}
}

// Pictures without anything on them have no displacement, and no NaN.
func TestNothingToSee(t *testing.T) {
	p := &Picture{40, 48, make([]float64, 40*48)}
	for _, text := range []string{"piv", "blocks"} {
		f, err := open(t, text).solve(t.Context(), p, p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.U {
			if f.U[i] != 0 || f.V[i] != 0 {
				t.Fatalf("%s: (%g, %g)", text, f.U[i], f.V[i])
			}
		}
	}
}

func TestParse(t *testing.T) {
	m := open(t, "piv?window=24&overlap=0.75")
	if m.Place() != "builtin:piv?window=24&overlap=0.75" || m.values[0] != 24 || m.values[2] != 3 {
		t.Errorf("%+v", m)
	}
	digest := func(text string) string {
		t.Helper()
		d, repeats, err := open(t, text).Fingerprint(t.Context(), nil)
		if err != nil || !repeats {
			t.Error(repeats, err)
		}
		return d
	}
	if digest("piv") != digest("piv?window=16") || digest("piv") == digest("piv?window=32") {
		t.Error("the digest is not that of the values")
	}
	for text, want := range map[string]string{
		"pivv":           "did you mean piv?",
		"piv?windows=3":  `no parameter "windows"; expected one of window, overlap`,
		"piv?d&c&b&a":    `no parameter "a"; expected one of window, overlap`, // the same one each time
		"piv?window=15":  "expected an even number",
		"piv?window=2":   "expected 4 to 256",
		"piv?window=NaN": "expected 4 to 256",
		"piv?window=a":   "expected one number",
		"piv?passes=1.5": "expected a whole number",
		"piv?window=%zz": "expected NAME?PARAMETER=NUMBER",
		"":               "expected one of piv, blocks",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

func TestSession(t *testing.T) {
	m := open(t, "piv")
	s, err := m.Engine().Open(t.Context(), nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := func(shape ...int) []tensor.Named {
		return []tensor.Named{{Name: "pair", Tensor: tensor.New(tensor.Float32, shape...)}}
	}
	out, err := s.Run(t.Context(), in(2, 2, 16, 20))
	if err != nil || fmt.Sprint(out[0].Shape) != "[2 2 16 20]" {
		t.Fatal(out, err)
	}
	for want, bad := range map[string][]tensor.Named{
		"reads float32 [N 2 H W]": in(1, 3, 16, 16), "smaller than a window": in(1, 2, 8, 8),
	} {
		if _, err := s.Run(t.Context(), bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, text := range []string{"piv", "blocks"} {
		m := open(b, text)
		x, y := pair(b, turn(0.03), 256, 3)
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := m.solve(b.Context(), x, y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Sums that windows share are those of each window by itself.
func TestProductsOfWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	frame := func() *Picture {
		p := &Picture{37, 50, make([]float64, 37*50)}
		for i := range p.Pix {
			p.Pix[i] = float64(rng.IntN(256))
		}
		return p
	}
	a, b := frame(), frame()
	shared := 0
	for _, c := range []struct {
		window, reach int
		overlap       float64
	}{{16, 5, 0.5}, {16, 7, 0.5}, {16, 8, 0.5}, {12, 2, 0.75}, {8, 1, 0.75}, {8, 3, 0}, {10, 3, 0.3}} {
		g := correlation{window: c.window, overlap: c.overlap}
		f := &vectors{x: g.over(a.W, c.window), y: g.over(a.H, c.window)}
		p := newProducts(a, b, f, c.reach)
		if p == nil {
			continue
		}
		shared++
		for w := range f.x.n * f.y.n {
			x, y := f.x.first+w%f.x.n*f.x.step, f.y.first+w/f.x.n*f.y.step
			for at, got := range p.of(w) {
				dx, dy := at%(2*c.reach+1)-c.reach, at/(2*c.reach+1)-c.reach
				want := multiplied(a, b, x+max(0, -dx), x+c.window-max(0, dx), y+max(0, -dy), y+c.window-max(0, dy),
					dx, dy)
				if got != want {
					t.Fatalf("%+v, window %d displaced by (%d, %d): %v, want %v", c, w, dx, dy, got, want)
				}
			}
		}
	}
	if shared != 3 {
		t.Errorf("%d of the grids share sums, want 3", shared)
	}
}

// Whatever stands after the prefix is refused, or has values that the parameters allow and is the same read again.
func FuzzParse(f *testing.F) {
	f.Add("piv?window=16&overlap=0.5")
	f.Add("blocks?block=8&search=1e2&passes=0x3")
	f.Add("piv?window=16;window=8&%zz")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		for i, p := range m.method.Params {
			if err := p.check(m.values[i]); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		again, err := Parse(strings.TrimPrefix(m.Place(), Prefix))
		if err != nil || !slices.Equal(again.values, m.values) || again.method.Name != m.method.Name {
			t.Errorf("%q: %v and again %v, %v", text, m.values, again, err)
		}
	})
}
