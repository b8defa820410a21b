package particle

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
)

// move is one of the eight symmetries of the square: first a mirror that exchanges x and y, if swap, then the signs.
type move struct {
	swap   bool
	sx, sy float64
}

func (m move) apply(x, y float64) (mx, my float64) {
	if m.swap {
		x, y = y, x
	}
	return m.sx * x, m.sy * y
}

// picture moves an n×n picture: out at g·p is in at p.
func (m move) picture(in []float64, n int) []float64 {
	out := make([]float64, n*n)
	half := float64(n-1) / 2
	for r := range n {
		for c := range n {
			x, y := m.apply(float64(c)-half, float64(r)-half)
			out[int(y+half)*n+int(x+half)] = in[r*n+c]
		}
	}
	return out
}

var moves = []move{
	{false, 1, 1},
	{false, -1, 1},
	{false, 1, -1},
	{false, -1, -1},
	{true, 1, 1},
	{true, -1, 1},
	{true, 1, -1},
	{true, -1, -1},
}

func particles(t *rapid.T, n int) []Particle {
	kind := rapid.SampledFrom(Kinds()).Draw(t, "kind")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	f, err := Draw(kind, Scene{Size: float64(n), Peak: 6, Spread: 30, Mean: 0.4}, r)
	if err != nil {
		t.Fatal(err)
	}
	return Scatter(f, Optics{Density: 0.08, Diameter: 2.5, Spread: 0.4, Brightness: 200, Loss: 0.1}, n, n, 6, r)
}

func TestMovedParticlesMakeTheMovedPicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 33).Draw(t, "n")
		ps := particles(t, n)
		for _, m := range moves {
			moved := slices.Clone(ps)
			for i, p := range ps {
				moved[i].X, moved[i].Y = m.apply(p.X, p.Y)
				moved[i].U, moved[i].V = m.apply(p.U, p.V)
			}
			for frame := range 2 {
				if !slices.Equal(Render(moved, frame, n, n), m.picture(Render(ps, frame, n, n), n)) {
					t.Fatalf("%+v: frame %d of the moved particles is not the moved frame", m, frame)
				}
			}
		}
	})
}

func TestReversedParticlesExchangeTheFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 33).Draw(t, "n")
		ps := particles(t, n)
		back := slices.Clone(ps)
		for i := range back {
			back[i].U, back[i].V = -back[i].U, -back[i].V
			back[i].Peak[0], back[i].Peak[1] = back[i].Peak[1], back[i].Peak[0]
		}
		for frame := range 2 {
			if !slices.Equal(Render(back, frame, n, n), Render(ps, 1-frame, n, n)) {
				t.Fatalf("frame %d of the reversed flow is not the other frame", frame)
			}
		}
	})
}

// TestSpotIntegratesTheGaussian compares pixels with the mean of the Gaussian over 200×200 points each, and the sum
// with 2πσ².
func TestSpotIntegratesTheGaussian(t *testing.T) {
	p := Particle{X: 0.3, Y: -1.2, U: 0.8, V: -0.4, Sigma: 0.7, Peak: [2]float64{100, 60}}
	for frame, peak := range p.Peak {
		pix := Render([]Particle{p}, frame, 12, 13)
		x, y := 0.3-0.4+0.8*float64(frame), -1.2+0.2-0.4*float64(frame)
		var sum float64
		for r := range 12 {
			for c := range 13 {
				const n = 200
				var want float64
				for i := range n {
					for j := range n {
						dx := float64(c) - 6 + (float64(j)+0.5)/n - 0.5 - x
						dy := float64(r) - 5.5 + (float64(i)+0.5)/n - 0.5 - y
						want += peak * math.Exp(-(dx*dx+dy*dy)/(2*0.7*0.7)) / (n * n)
					}
				}
				got := pix[r*13+c]
				sum += got
				if !(math.Abs(got-want) <= 1e-3) {
					t.Fatalf("frame %d, row %d, column %d: %g, want %g", frame, r, c, got, want)
				}
			}
		}
		if want := 2 * math.Pi * 0.49 * peak; !(math.Abs(sum-want) <= 1e-4*want) {
			t.Errorf("frame %d: all light %g, want %g", frame, sum, want)
		}
	}
}

func TestScatterKeepsItsWord(t *testing.T) {
	o := Optics{Density: 0.05, Diameter: 3, Spread: 0.4, Brightness: 200, Loss: 0.2}
	const h, w = 300, 200
	f := Uniform{U: 4, V: -2}
	ps := Scatter(f, o, h, w, 8, rand.New(rand.NewPCG(1, 1)))
	var seen [2]int
	var lost, inside int
	var d, dd, light float64
	for _, p := range ps {
		if p.Peak[0] == 0 && p.Peak[1] == 0 {
			t.Fatal("a particle that nobody sees")
		}
		for frame := range 2 {
			if p.Peak[frame] == 0 {
				continue
			}
			seen[frame]++
			// Of the picture itself, not of the margin.
			s := float64(2*frame-1) / 2
			if math.Abs(p.X+s*p.U) < w/2 && math.Abs(p.Y+s*p.V) < h/2 && frame == 0 {
				inside++
				if p.Peak[1] == 0 {
					lost++
				}
			}
			light = max(light, p.Peak[frame])
		}
		if p.U != 4 || p.V != -2 {
			t.Fatalf("a particle moves by (%g, %g)", p.U, p.V)
		}
		d += 4 * p.Sigma
		dd += 16 * p.Sigma * p.Sigma
	}
	n := float64(len(ps))
	// Five standard deviations of the binomial distributions.
	if want := 0.05 * h * w; !(math.Abs(float64(inside)-want) <= 5*math.Sqrt(want)) {
		t.Errorf("%d particles in the picture, want %g", inside, want)
	}
	if seen[0] != seen[1] {
		t.Errorf("%d particles in the first frame, %d in the second", seen[0], seen[1])
	}
	if share := float64(lost) / float64(inside); !(math.Abs(share-0.2) <= 5*math.Sqrt(0.2*0.8/float64(inside))) {
		t.Errorf("%.3f of the particles are lost, want 0.2", share)
	}
	mean := d / n
	if sd := math.Sqrt(dd/n - mean*mean); !(math.Abs(mean-3) <= 0.04) || !(math.Abs(sd-0.4) <= 0.03) {
		t.Errorf("diameters %.3f ± %.3f, want 3 ± 0.4", mean, sd)
	}
	if !(light <= 200 && light > 199) {
		t.Errorf("brightest particle %g, want 200", light)
	}
	if all := Scatter(f, Optics{Density: 0.05, Diameter: 3, Brightness: 9}, h, w, 8,
		rand.New(rand.NewPCG(1, 1))); slices.ContainsFunc(all,
		func(p Particle) bool { return p.Peak[0] != p.Peak[1] }) {
		t.Error("a particle is lost though none should be")
	}
}

func TestExposeAddsNoise(t *testing.T) {
	pix := make([]float64, 40000)
	for i := range pix {
		pix[i] = 60
	}
	Expose(pix, Optics{Background: 40, Noise: 5}, rand.New(rand.NewPCG(1, 1)))
	var s, ss float64
	for _, v := range pix {
		if v != math.Trunc(v) {
			t.Fatalf("%g is no grey level", v)
		}
		s, ss = s+v, ss+v*v
	}
	mean := s / 40000
	// Rounding adds 1/12 to the variance.
	if sd := math.Sqrt(ss/40000 - mean*mean); !(math.Abs(mean-100) <= 0.13) ||
		!(math.Abs(sd-math.Sqrt(25+1./12)) <= 0.09) {
		t.Errorf("%.2f ± %.2f, want 100 ± 5.01", mean, sd)
	}
	got := []float64{-3, 0.49, 0.5, 254.6, 400}
	Expose(got, Optics{}, nil)
	if want := []float64{0, 0, 1, 255, 255}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// correlate finds the displacement of a window by cross-correlation, with a parabola through the logarithms about the
// top (Willert and Gharib, Exp. Fluids 10 (1991) 181). The windows are moved half the displacement each way, as long as
// it changes.
func correlate(a, b []float64, w, r0, c0, size int) (u, v float64) {
	const reach = 11
	mean := func(p []float64, r0, c0 int) (m float64) {
		for r := range size {
			for c := range size {
				m += p[(r0+r)*w+c0+c] / float64(size*size)
			}
		}
		return m
	}
	at := func(dx, dy int) (s float64) {
		ax, ay := dx/2, dy/2
		bx, by := dx-ax, dy-ay
		ma, mb := mean(a, r0-ay, c0-ax), mean(b, r0+by, c0+bx)
		for r := range size {
			for c := range size {
				s += (a[(r0-ay+r)*w+c0-ax+c] - ma) * (b[(r0+by+r)*w+c0+bx+c] - mb)
			}
		}
		return max(s, 1)
	}
	var bx, by int
	best := -1.
	for dy := -reach; dy <= reach; dy++ {
		for dx := -reach; dx <= reach; dx++ {
			if s := at(dx, dy); s > best {
				best, bx, by = s, dx, dy
			}
		}
	}
	sub := func(l, m, r float64) float64 {
		l, m, r = math.Log(l), math.Log(m), math.Log(r)
		return (l - r) / (2 * (l - 2*m + r))
	}
	return float64(bx) + sub(at(bx-1, by), best, at(bx+1, by)), float64(by) + sub(at(bx, by-1), best, at(bx, by+1))
}

func frames(t *testing.T, s *Set, i int) (a, b *space.Image, f *space.Field) {
	t.Helper()
	sample, err := s.Sample(i)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := sample.Value.(*space.Frames)
	f, ok2 := sample.Target.(*space.Field)
	if !ok || !ok2 || len(v.Images) != 2 {
		t.Fatalf("%s: %T and %T", sample.ID, sample.Value, sample.Target)
	}
	return v.Images[0], v.Images[1], f
}

// TestCorrelationFindsTheField measures the pictures by the classical method, which knows nothing of how they were
// made.
func TestCorrelationFindsTheField(t *testing.T) {
	spec := Default(6, 11)
	s, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Len() {
		a, b, f := frames(t, s, i)
		var sum float64
		n := 0
		for r0 := 40; r0 < 200; r0 += 36 {
			for c0 := 40; c0 < 200; c0 += 36 {
				const size = 24
				u, v := correlate(a.Pix, b.Pix, 256, r0, c0, size)
				var mu, mv float64
				for r := range size {
					for c := range size {
						j := (r0+r)*256 + c0 + c
						mu, mv = mu+f.U()[j]/(size*size), mv+f.V()[j]/(size*size)
					}
				}
				sum += math.Hypot(u-mu, v-mv)
				n++
			}
		}
		limit := 0.35 // a window averages what bends inside it
		if s.Kind(i) == KindUniform {
			limit = 0.08
		}
		if got := sum / float64(n); !(got <= limit) {
			t.Errorf("%s: correlation is %.3f px from the field, want at most %g", s.Kind(i), got, limit)
		} else {
			t.Logf("%s: %.3f px", s.Kind(i), got)
		}
	}
}

// TestBytes pins the pictures: they must not change from release to release, nor from machine to machine.
func TestBytes(t *testing.T) {
	spec := Default(6, 1)
	spec.Height, spec.Width = 96, 128
	s, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for i := range s.Len() {
		a, b, _ := frames(t, s, i)
		for _, m := range []*space.Image{a, b} {
			for _, v := range m.Pix {
				sum.Write([]byte{byte(v)})
			}
		}
	}
	const want = "0ca4635b657b475c8323b89aac13409d72e85fa583f17c707221607c0cd22b31"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
