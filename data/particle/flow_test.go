package particle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// drawn is a flow of kind for a picture of 64 px.
func drawn(t interface{ Fatal(...any) }, kind Kind, seed uint64) Flow {
	f, err := Draw(kind, Scene{Size: 64, Peak: 8, Spread: 15, Mean: 0.5}, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// slope is the derivative of g by central differences of widths d and 2d, extrapolated to width 0 (Richardson).
func slope(d float64, g func(d float64) float64) float64 {
	a, b := (g(d)-g(-d))/(2*d), (g(2*d)-g(-2*d))/(4*d)
	return (4*a - b) / 3
}

// TestFlowsHaveNoDivergence compares du/dx + dv/dy with the size of the gradients. Where a derivative jumps, as along
// the stream over a step, differences see a divergence that goes as the inverse of their width; a real one does not
// depend on it.
func TestFlowsHaveNoDivergence(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			var flows []Flow
			for seed := range uint64(8) {
				flows = append(flows, drawn(t, kind, seed))
			}
			rapid.Check(t, func(t *rapid.T) {
				f := rapid.SampledFrom(flows).Draw(t, "flow")
				x, y := rapid.Float64Range(-32, 32).Draw(t, "x"), rapid.Float64Range(-32, 32).Draw(t, "y")
				least, most := math.Inf(1), 0.
				for _, width := range []float64{1e-3, 5e-4, 2.5e-4} {
					part := func(dx, dy float64, second bool) float64 {
						return slope(width, func(d float64) float64 {
							u, v := f.At(x+d*dx, y+d*dy)
							if second {
								return v
							}
							return u
						})
					}
					ux, uy, vx, vy := part(1, 0, false), part(0, 1, false), part(1, 0, true), part(0, 1, true)
					share := math.Abs(ux+vy) / (math.Abs(ux) + math.Abs(uy) + math.Abs(vx) + math.Abs(vy) + 1e-3)
					least, most = min(least, share), max(most, share)
				}
				if !(least <= 1e-6 || most > 1.3*least) {
					t.Fatalf("at (%g, %g): the divergence is %g of the gradients", x, y, least)
				}
			})
		})
	}
}

// TestFluxThroughClosedCurves integrates the normal component over circles, which no jump of a derivative disturbs.
func TestFluxThroughClosedCurves(t *testing.T) {
	for _, kind := range Kinds() {
		for seed := range uint64(3) {
			f := drawn(t, kind, seed)
			r := rand.New(rand.NewPCG(seed, 2))
			for range 4 {
				x, y, rad := 40*(r.Float64()-0.5), 40*(r.Float64()-0.5), 3+9*r.Float64()
				const n = 4000
				var flux, size float64
				for i := range n {
					s, c := math.Sincos(2 * math.Pi * (float64(i) + 0.5) / n)
					u, v := f.At(x+rad*c, y+rad*s)
					flux += (u*c + v*s) / n
					size += math.Hypot(u, v) / n
				}
				if !(math.Abs(flux) <= 1e-5*size+1e-12) {
					t.Errorf("%s, seed %d: circle of radius %g about (%g, %g): flux %g of mean speed %g", kind, seed,
						rad, x, y, flux, size)
				}
			}
		}
	}
}

func TestVortexClosedForm(t *testing.T) {
	// At r = c the speed is Γ/(2πc) (1 - 1/e); the greatest is 0.6382 Γ/(2πc), at 1.1209 c (Devenport et al., J. Fluid
	// Mech. 312 (1996) 67).
	f := Vortex{X: 3, Y: -2, Circulation: 50, Core: 4}
	unit := 50 / (2 * math.Pi * 4)
	for _, c := range []struct{ r, want float64 }{
		{4, 1 - math.Exp(-1)},
		{1.12090642 * 4, 0.63817},
		{400, 0.01},
		{8, (1 - math.Exp(-4)) / 2},
	} {
		for i := range 8 {
			s, co := math.Sincos(float64(i))
			u, v := f.At(3+c.r*co, -2+c.r*s)
			if along, out := (-u*s+v*co)/unit,
				(u*co+v*s)/unit; !(math.Abs(along-c.want) <= 1e-5*c.want && math.Abs(out) <= 1e-12) {
				t.Errorf("at r = %g: speed along %g, out %g: want %g and 0", c.r, along, out, c.want)
			}
		}
	}
	if u, v := f.At(3, -2); u != 0 || v != 0 {
		t.Errorf("the middle moves by (%g, %g)", u, v)
	}
	// Near the middle the fluid turns like a solid, with the angular speed Γ/(2πc²); the rule for tiny q must join on.
	for _, r := range []float64{1e-7, 3.9e-6, 4.1e-6, 1e-4} {
		if _, v := f.At(3+r, -2); !(math.Abs(v/r-unit/4) <= 1e-8) {
			t.Errorf("at r = %g: angular speed %g, want %g", r, v/r, unit/4)
		}
	}
}

// TestEddyIsTheHalfLaplacianOfItsStream holds the eddy against surface quasi-geostrophy itself: continued below the
// surface the stream function is K/√(r²+(w-z)²), z ≤ 0, harmonic, and its derivative by z at the surface is the
// buoyancy of the Poisson kernel.
func TestEddyIsTheHalfLaplacianOfItsStream(t *testing.T) {
	const K, w = 7., 3.
	stream := func(x, y, z float64) float64 { return K / math.Sqrt(x*x+y*y+(w-z)*(w-z)) }
	f := Eddy{Strength: K, Width: w}
	for _, p := range [][2]float64{{0, 0}, {1, 2}, {-4, 0.5}, {10, -8}} {
		x, y := p[0], p[1]
		u, v := f.At(x, y)
		du := slope(1e-3, func(d float64) float64 { return stream(x, y+d, 0) })
		dv := -slope(1e-3, func(d float64) float64 { return stream(x+d, y, 0) })
		if !(math.Abs(u-du) <= 1e-9 && math.Abs(v-dv) <= 1e-9) {
			t.Errorf("at (%g, %g): (%g, %g), the stream function says (%g, %g)", x, y, u, v, du, dv)
		}
		buoyancy := slope(1e-3, func(d float64) float64 { return stream(x, y, d) })
		if want := K * w / math.Pow(x*x+y*y+w*w, 1.5); !(math.Abs(buoyancy-want) <= 1e-9) {
			t.Errorf("at (%g, %g): buoyancy %g, want %g", x, y, buoyancy, want)
		}
		const h = 0.02
		lap := (stream(x+h, y, 0) + stream(x-h, y, 0) + stream(x, y+h, 0) + stream(x, y-h, 0) + stream(x, y, h) +
			stream(x, y, -h) - 6*stream(x, y, 0)) / (h * h)
		if !(math.Abs(lap) <= 1e-4) {
			t.Errorf("at (%g, %g): Laplacian %g, want 0", x, y, lap)
		}
	}
}

func TestWallsHoldTheFluid(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := Scene{Size: 256, Peak: 8, Mean: 0.5}
		wake, ok := s.wake(r).(Wake)
		if !ok {
			t.Fatal("not a wake")
		}
		for i := range 64 {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 64)
			for _, gap := range []float64{-1, 0, 1e-7} {
				u, v := wake.At(wake.X+(wake.Radius+gap)*cos, wake.Y+(wake.Radius+gap)*sin)
				if !(math.Hypot(u, v) <= 1e-6) {
					t.Fatalf("seed %d: %g px from the wall of the cylinder the fluid moves by (%g, %g)", seed, gap, u,
						v)
				}
			}
		}
		step, ok := s.step(r).(Step)
		if !ok {
			t.Fatal("not a step")
		}
		for _, p := range [][2]float64{
			{step.Edge - 20, step.Ledge - 1e-9},
			{step.Edge - 20, step.Ledge + 3},
			{step.Edge - 20, step.Top + 1e-9},
			{step.Edge + 1e-9, step.Ledge + 5},
			{step.Edge + 60, step.Floor - 1e-9},
			{step.Edge + 60, step.Top - 1},
		} {
			if u, v := step.At(p[0], p[1]); !(math.Hypot(u, v) <= 1e-6) {
				t.Fatalf("seed %d: at (%g, %g) on the wall of the step %+v the fluid moves by (%g, %g)", seed, p[0],
					p[1], step, u, v)
			}
		}
		// The same fluid passes every section, and some flows back behind the step.
		var first float64
		back := 0.0
		for i := range 12 {
			x := step.Edge - 30 + 20*float64(i)
			const n = 20000
			var flux float64
			for j := range n {
				u, _ := step.At(x, step.Top+(step.Floor-step.Top)*(float64(j)+0.5)/n)
				flux += u * (step.Floor - step.Top) / n
				back = min(back, u)
			}
			if i == 0 {
				first = flux
			}
			if want := step.Speed * (step.Ledge - step.Top); !(math.Abs(flux-want) <= 1e-4*want) ||
				!(math.Abs(flux-first) <= 1e-4*want) {
				t.Fatalf("seed %d: %g px behind the step %g px² pass, want %g", seed, x-step.Edge, flux, want)
			}
		}
		if !(back < -0.05) {
			t.Errorf("seed %d: nothing flows back behind the step: least u %g of mean 1", seed, back)
		}
	}
}

// TestSpectrumFalls compares the mean kinetic energy of the waves of many drawn flows in octaves of k: E(k) ~ k^{-5/3}
// has k^{-2/3} of energy an octave.
func TestSpectrumFalls(t *testing.T) {
	s := Scene{Size: 256}
	r := rand.New(rand.NewPCG(4, 4))
	octave := func(f Flow, lo float64) (e float64) {
		w, ok := f.(Waves)
		if !ok {
			t.Fatalf("%T is no sum of waves", f)
		}
		for _, w := range w {
			if k := math.Hypot(w.KX, w.KY); k >= lo && k < 2*lo {
				e += w.Amplitude * w.Amplitude * k * k / 2
			}
		}
		return e
	}
	var a, b, c, d float64
	for range 150 {
		sum, ok := s.buoyant(r).(Sum)
		if !ok {
			t.Fatal("eddies are not a sum")
		}
		waves, ok := sum[0].(Scaled)
		if !ok {
			t.Fatal("waves are not scaled")
		}
		k := 2 * math.Pi / 256
		a += octave(waves.Flow, 1.2*k) * waves.Factor * waves.Factor
		b += octave(waves.Flow, 4.8*k) * waves.Factor * waves.Factor
		iso := s.turbulent(r)
		c += octave(iso, 1.6*k)
		d += octave(iso, 3.2*k)
	}
	if got := math.Log(b/a) / math.Log(4); !(math.Abs(got+2./3) <= 0.05) {
		t.Errorf("sqg: energy an octave goes as k^%.3f, want k^-0.667", got)
	}
	// Von Kármán's spectrum around its top: the integrals of x⁴(1+x²)^{-17/6} over 0.8..1.6 and 1.6..3.2.
	integral := func(lo float64) (e float64) {
		const n = 1000
		for i := range n {
			x := lo * (1 + (float64(i)+0.5)/n)
			e += math.Pow(x, 4) * math.Pow(1+x*x, -17./6) * lo / n
		}
		return e
	}
	if got, want := d/c, integral(1.6)/integral(0.8); !(math.Abs(got-want) <= 0.05*want) {
		t.Errorf("isotropic: the higher octave has %.3f of the energy of the lower, want %.3f", got, want)
	}
}

// TestTurbulenceHasNoDirection looks at the ratio of the two components over many flows without mean flow.
func TestTurbulenceHasNoDirection(t *testing.T) {
	var uu, vv, uv float64
	for seed := range uint64(200) {
		f := Scene{Size: 256}.turbulent(rand.New(rand.NewPCG(seed, 5)))
		r := rand.New(rand.NewPCG(seed, 6))
		for range 50 {
			u, v := f.At(256*(r.Float64()-0.5), 256*(r.Float64()-0.5))
			uu, vv, uv = uu+u*u, vv+v*v, uv+u*v
		}
	}
	if !(math.Abs(uu/vv-1) <= 0.08) || !(math.Abs(uv/uu) <= 0.05) {
		t.Errorf("mean squares of u and v have the ratio %.3f, correlation %.3f: want 1 and 0", uu/vv, uv/uu)
	}
}

func TestDrawKeepsItsWord(t *testing.T) {
	for _, kind := range Kinds() {
		var mean float64
		const n = 16
		for seed := range uint64(n) {
			f, err := Draw(kind, Scene{Size: 64, Peak: 8, Heading: 0, Spread: 10, Mean: 0.6},
				rand.New(rand.NewPCG(seed, 0)))
			if err != nil {
				t.Fatal(err)
			}
			truth := Truth(f, 64, 64)
			var top, u float64
			for i, x := range truth.U() {
				top = max(top, math.Hypot(x, truth.V()[i]))
				u += x / float64(len(truth.U()))
			}
			if !(top >= 0.5*8*0.97 && top <= 8*1.08) {
				t.Errorf("%s, seed %d: greatest displacement %g, want 4 to 8", kind, seed, top)
			}
			mean += u / n
		}
		if !(mean > 1.2) {
			t.Errorf("%s: mean displacement to the right %.2f px: the mean flow is missing", kind, mean)
		}
	}
	// 90 degrees counter-clockwise as seen is up, towards negative v.
	f, err := Draw(KindUniform, Scene{Size: 64, Peak: 8, Heading: 90}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if u, v := f.At(1, 2); !(math.Abs(u) < 1e-12 && v <= -4 && v >= -8) {
		t.Errorf("a flow upwards moves by (%g, %g)", u, v)
	}
	for _, kind := range Kinds() {
		f, err := Draw(kind, Scene{Size: 64, Mean: 0.5}, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if u, v := f.At(3, 4); u != 0 || v != 0 {
			t.Errorf("%s without displacement moves by (%g, %g)", kind, u, v)
		}
	}
}

func TestTruthIsAtPixelCentres(t *testing.T) {
	f := Sum{Uniform{U: 1, V: 2}, Vortex{Circulation: 20, Core: 3}}
	got := Truth(f, 4, 6)
	if got.H != 4 || got.W != 6 {
		t.Fatalf("%d rows and %d columns", got.H, got.W)
	}
	for _, p := range []struct {
		r, c int
		x, y float64
	}{{0, 0, -2.5, -1.5}, {3, 5, 2.5, 1.5}, {1, 4, 1.5, -0.5}} {
		u, v := f.At(p.x, p.y)
		if i := p.r*6 + p.c; got.U()[i] != u || got.V()[i] != v {
			t.Errorf("row %d, column %d: (%g, %g), want (%g, %g)", p.r, p.c, got.U()[i], got.V()[i], u, v)
		}
	}
}

func ExampleVortex() {
	f := Vortex{Circulation: 100, Core: 8}
	u, v := f.At(8, 0) // 8 px to the right of the middle: the fluid goes down
	fmt.Printf("%.3f %.3f\n", u, v)
	// Output: -0.000 1.258
}
