package lanes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/internal/elementary"
)

// special numbers, and those beside which float32 has no number or two that are as near.
var special = []float64{
	0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324, math.MaxFloat32,
	1 + 1./(1<<24), 1 + 3./(1<<24), 1e-46, 1e39,
}

func draw(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64() * math.Exp(20*r.NormFloat64())
		if r.Float64() < 0.05 {
			x[i] = special[r.IntN(len(special))]
		}
	}
	return x
}

// Numbers of any count are rounded and widened as one by one, and nothing beyond them is written.
func TestConversions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		for range 50 {
			src := draw(r, n)
			got, back := make([]float32, n+1), make([]float64, n+1)
			got[n], back[n] = 7, 7
			Narrow(got, src)
			Widen(back, got[:n])
			for i, v := range src {
				if w := float32(v); math.Float32bits(got[i]) != math.Float32bits(w) ||
					math.Float64bits(back[i]) != math.Float64bits(float64(w)) {
					t.Fatalf("%d of %d: %g becomes %g and %g, want %g", i, n, v, got[i], back[i], w)
				}
			}
			if got[n] != 7 || back[n] != 7 {
				t.Fatalf("%d numbers: what follows is %g and %g", n, got[n], back[n])
			}
		}
	}
}

// Rows are added one after the other with their weights, whatever their number and length, and nothing beyond dst is
// written.
func TestWeigh(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 40 {
		for rows := range 6 {
			stride := n + r.IntN(3)
			x, w := draw(r, rows*stride+n), draw(r, rows)
			got := draw(r, n+1)
			got[n] = 7
			want := slices.Clone(got)
			for k, f := range w {
				for i := range n {
					want[i] += float64(f * x[k*stride+i])
				}
			}
			Weigh(got[:n], x, stride, w)
			for i := range got {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) &&
					!(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
					t.Fatalf("number %d of %d, %d rows: %g, want %g", i, n, rows, got[i], want[i])
				}
			}
		}
	}
}

// Where the map says that it rounded, it has the numbers of plain code; it says so of ordinary numbers, and not of NaN.
func TestRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	said := 0
	for n := range 40 {
		for k := range 50 {
			m := Map{A: 1 / (255 * 0.3081), B: -0.1307 / 0.3081, AbsB: 0.1307 / 0.3081, Slack: 8. / (1 << 53)}
			src := draw(r, n)
			if k%2 == 0 {
				for i := range src {
					src[i] = 255 * r.Float64()
				}
			}
			got := make([]float32, n+1)
			got[n] = 7
			ok := m.Rounded(got, src)
			if k%2 == 0 && !ok || ok && slices.ContainsFunc(src, math.IsNaN) {
				t.Fatalf("%v: %v", src, ok)
			}
			if got[n] != 7 {
				t.Fatalf("%d numbers: what follows is %g", n, got[n])
			}
			if !ok {
				continue
			}
			said++
			for i, v := range src {
				if w := float32(float64(v*m.A) + m.B); math.Float32bits(got[i]) != math.Float32bits(w) {
					t.Fatalf("%g becomes %g, want %g", v, got[i], w)
				}
			}
		}
	}
	if said < 1000 {
		t.Errorf("rounded %d times alone", said)
	}
	if one := (Map{A: 1, AbsB: 1, Slack: 1e-3}); one.Rounded(make([]float32, 5), []float64{1, 1, 1, 1, 1}) {
		t.Error("a bound that covers several numbers")
	}
}

// plainly is a number of a line by plain code.
func plainly(l *Line, s []float64, c int) float64 {
	x, y := l.X+float64(l.StepX*float64(c)), l.Y+float64(l.StepY*float64(c))
	ix, iy := int(math.Floor(x)), int(math.Floor(y))
	fx, fy := x-float64(ix), y-float64(iy)
	q := s[iy*l.Stride+ix:]
	top := q[0] + float64(fx*(q[1]-q[0]))
	bot := q[l.Stride] + float64(fx*(q[l.Stride+1]-q[l.Stride]))
	return top + float64(fy*(bot-top))
}

func TestBilinear(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		h, w := 2+r.IntN(30), 2+r.IntN(30)
		s := make([]float64, h*w)
		for i := range s {
			s[i] = 255 * r.Float64()
			if r.Float64() < 0.01 {
				s[i] = special[r.IntN(len(special))]
			}
		}
		n, c := r.IntN(20), r.IntN(50)
		// two ends within the picture
		x0, y0 := r.Float64()*float64(w-1), r.Float64()*float64(h-1)
		x1, y1 := r.Float64()*float64(w-1), r.Float64()*float64(h-1)
		if r.IntN(4) == 0 {
			x0, y0, x1, y1 = math.Floor(x0), math.Floor(y0), math.Floor(x1), math.Floor(y1)
		}
		k := float64(max(n, 2) - 1)
		l := &Line{StepX: (x1 - x0) / k * 0.99, StepY: (y1 - y0) / k * 0.99, Stride: w}
		l.X, l.Y = x0-l.StepX*float64(c), y0-l.StepY*float64(c)
		if x, y := l.at(c); x < 0 || y < 0 {
			continue
		}
		got := make([]float64, n+1)
		got[n] = 7
		l.Bilinear(got[:n], s, c)
		if got[n] != 7 {
			t.Fatalf("%d numbers: what follows is %g", n, got[n])
		}
		for i, v := range got[:n] {
			want := plainly(l, s, c+i)
			if math.Float64bits(v) != math.Float64bits(want) && !(math.IsNaN(v) && math.IsNaN(want)) {
				t.Fatalf("%+v of %d×%d: number %d is %g, want %g", l, h, w, c+i, v, want)
			}
		}
	}
}

// A line that leaves its samples is refused before anything outside is read.
func TestBilinearStaysInside(t *testing.T) {
	for _, l := range []Line{
		{X: 0, StepX: 1, Y: 0, Stride: 4},
		{X: 2, Y: 0, StepY: 1, Stride: 4},
		{X: 0, Y: 3, Stride: 4},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is taken", l)
				}
			}()
			l.Bilinear(make([]float64, 24), make([]float64, 16), 0)
		}()
	}
}

// Lengths and angles of any count are those of plain code, of zeros, infinities and NaN as well, and nothing beyond
// them is written.
func TestVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for n := range 70 {
		for k := range 60 {
			x, y := draw(r, n), draw(r, n)
			if k%2 == 0 { // ordinary numbers, most of small angles
				for i := range x {
					x[i], y[i] = 1+3*r.Float64(), math.Abs(r.NormFloat64())*[]float64{1, 0.1, 1e-9, 0}[r.IntN(4)]
				}
			}
			for _, c := range []struct {
				name  string
				lanes func(dst, a, b []float64)
				plain func(a, b float64) float64
			}{{"length", Lengths, elementary.Hypot}, {"angle", Angles, elementary.Atan2}} {
				got := make([]float64, n+1)
				got[n] = 7
				c.lanes(got[:n], y, x)
				if got[n] != 7 {
					t.Fatalf("%d numbers: what follows is %g", n, got[n])
				}
				for i, v := range got[:n] {
					want := c.plain(y[i], x[i])
					if math.Float64bits(v) != math.Float64bits(want) && !(math.IsNaN(v) && math.IsNaN(want)) {
						t.Fatalf("%d of %d: %s of %g and %g is %g, want %g", i, n, c.name, y[i], x[i], v, want)
					}
				}
			}
		}
	}
}

// At the edges of what is done four at a time plain code and lanes agree.
func TestAnglesAtEdges(t *testing.T) {
	zero := math.Copysign(0, -1)
	edge := []float64{
		0, zero, 0.66, math.Nextafter(0.66, 1), math.Nextafter(0.66, 0), 5e-324, math.MaxFloat64, 1, -1,
	}
	for _, b := range append(edge, math.Inf(1), math.NaN()) {
		for _, a := range append(edge, math.Inf(1), math.NaN()) {
			x, y, got := slices.Repeat([]float64{b}, 4), slices.Repeat([]float64{a}, 4), make([]float64, 4)
			Angles(got, y, x)
			want := elementary.Atan2(a, b)
			for i, v := range got {
				if math.Float64bits(v) != math.Float64bits(want) && !(math.IsNaN(v) && math.IsNaN(want)) {
					t.Fatalf("%d: angle of %g and %g is %g, want %g", i, a, b, v, want)
				}
			}
		}
	}
}

func BenchmarkBilinear(b *testing.B) {
	s, d := make([]float64, 28*28), make([]float64, 28)
	l := &Line{X: 1, StepX: 0.8, Y: 2, StepY: 0.6, Stride: 28}
	for b.Loop() {
		l.Bilinear(d, s, 0)
	}
}

func BenchmarkRounded(b *testing.B) {
	d, s := make([]float32, 784), make([]float64, 784)
	m := Map{A: 1 / (255 * 0.3081), B: -0.1307 / 0.3081, AbsB: 0.1307 / 0.3081, Slack: 8. / (1 << 53)}
	for b.Loop() {
		m.Rounded(d, s)
	}
}

func BenchmarkNarrow(b *testing.B) {
	d, s := make([]float32, 784), make([]float64, 784)
	for b.Loop() {
		Narrow(d, s)
	}
}
