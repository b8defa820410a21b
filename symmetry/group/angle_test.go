package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func TestSinCosIsExactWherePeopleExpectIt(t *testing.T) {
	h := math.Sqrt(3) / 2
	r := math.Sqrt2 / 2
	for deg, want := range map[float64][2]float64{
		0: {0, 1}, 30: {0.5, h}, 45: {r, r}, 60: {h, 0.5}, 90: {1, 0}, 120: {h, -0.5}, 135: {r, -r}, 150: {0.5, -h},
		180: {0, -1},
		210: {-0.5, -h}, 225: {-r, -r}, 240: {-h, -0.5}, 270: {-1, 0}, 300: {-h, 0.5}, 315: {-r, r}, 330: {-0.5, h},
		360: {0, 1},
		-90: {-1, 0}, -180: {0, -1}, -270: {1, 0}, -30: {-0.5, h}, 450: {1, 0}, 36000090: {1, 0}, -36000030: {-0.5, h},
	} {
		s, c := SinCos(deg)
		if s != want[0] || c != want[1] || math.Signbit(s) && s == 0 || math.Signbit(c) && c == 0 {
			t.Errorf("SinCos(%g) = %v, %v, expected exactly %v", deg, s, c, want)
		}
	}
}

func TestSinCosAgreesWithTheRadianFunctions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.Float64Range(-720, 720).Draw(r, "deg")
		s, c := SinCos(d)
		ws, wc := math.Sincos(d * math.Pi / 180)
		// The reference rounds its argument: up to 13 rad with a unit roundoff of 1.1e-16, so it is the worse of the
		// two.
		if math.Abs(s-ws) > 3e-15 || math.Abs(c-wc) > 3e-15 {
			r.Fatalf("SinCos(%v) = %v, %v; the radian functions give %v, %v", d, s, c, ws, wc)
		}
		ns, nc := SinCos(-d)
		if ns != -s || nc != c {
			r.Fatalf("SinCos(-%v) = %v, %v against %v, %v", d, ns, nc, s, c)
		}
		qs, qc := SinCos(math.Round(d) + 90)
		rs, rc := SinCos(math.Round(d))
		if qs != rc || qc != -rs {
			r.Fatalf("a quarter turn more than %v: %v, %v against %v, %v", math.Round(d), qs, qc, rs, rc)
		}
	})
}

func TestComposingMultiplesOfFiveDegreesNeverDrifts(t *testing.T) {
	g := SO2()
	e := g.Identity()
	for i := range 100_000 {
		e = g.Mul(Element{5}, e)
		if want := float64((i + 1) % 72 * 5); e[0] != want {
			t.Fatalf("after %d steps of 5 degrees: %v, expected exactly %v", i+1, e[0], want)
		}
	}
	c7, err := Cyclic(7)
	if err != nil {
		t.Fatal(err)
	}
	es, err := Enumerate(c7)
	if err != nil {
		t.Fatal(err)
	}
	x := c7.Identity()
	for i := range 10_000 {
		if x[0] != es[i%7][0] {
			t.Fatalf("step %d of C7: %v, expected exactly %v", i, x[0], es[i%7][0])
		}
		x = c7.Mul(x, es[1])
	}
}

func TestWrapStaysInItsPeriod(t *testing.T) {
	for _, v := range []float64{0, -1e-300, -1e-17, 360, -360, 359.99999999999994, 1e15, -1e15, 5e-324} {
		if w := wrap(v, 0, 360); !(w >= 0 && w < 360) {
			t.Errorf("wrap(%g) = %g", v, w)
		}
		if w := wrap(v, -180, 360); !(w >= -180 && w < 180) {
			t.Errorf("wrap(%g) = %g, expected in [-180, 180)", v, w)
		}
	}
}

func TestDegreesReachQuarterTurns(t *testing.T) {
	for k := -8; k <= 8; k++ {
		if d := degrees(float64(k) * math.Pi / 2); d != float64(k)*90 {
			t.Errorf("%d quarter turns are %v degrees", k, d)
		}
	}
	if d := degrees(1); math.Abs(d-57.29577951308232) > 1e-14 { // 180/π to 16 digits
		t.Errorf("1 rad = %v degrees", d)
	}
}

func randomAlgebra(r *rand.Rand, size float64) algebra {
	v := func() float64 { return (2*r.Float64() - 1) * size }
	return algebra{deg: v() * 180 / math.Pi, rho: v(), tau: v(), sigma: v(), eta: v(), v: vec2{3 * v(), 3 * v()}}
}

// gonum computes the exponential by Padé approximants with scaling and squaring: an independent method.
func TestExpPlaneAgreesWithTheGeneralMatrixExponential(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		l := randomAlgebra(r, []float64{1e-9, 1e-3, 0.5, 2}[i%4])
		switch i % 5 {
		case 1:
			l.sigma, l.eta = 0, 0
		case 2:
			l.deg, l.sigma, l.eta = 0, 0, l.rho // a shear
		case 3:
			l.sigma, l.eta, l.rho = 0, 0, 0
		}
		m := l.linear()
		in := mat.NewDense(3, 3, []float64{m[0][0], m[0][1], l.v[0], m[1][0], m[1][1], l.v[1], 0, 0, 0})
		var want mat.Dense
		want.Exp(in)
		a, b := expPlane(l)
		for k, got := range []float64{a[0][0], a[0][1], b[0], a[1][0], a[1][1], b[1]} {
			if w := want.At(k/3, k%3); !(math.Abs(got-w) <= 1e-12*(1+mat.Norm(&want, 1))) {
				t.Fatalf("exp of %+v, entry %d: %v, expected %v", l, k, got, w)
			}
		}
	}
}

func TestLogPlaneInvertsExpPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		l := randomAlgebra(r, 1.1) // |ρ| up to 2.2 < π: the principal branch
		a, b := expPlane(l)
		k, ok := logPlane(a, b, false)
		if !ok {
			t.Fatalf("no logarithm of exp(%+v)", l)
		}
		x, y := l.vector(), k.vector()
		for i := range x {
			if !(math.Abs(x[i]-y[i]) <= 1e-9) {
				t.Fatalf("log(exp(%v)) is %v", x, y)
			}
		}
	}
	for name, a := range map[string]mat2{
		"two negative eigenvalues": {{-2, 0}, {0, -0.5}},
		"negative determinant":     {{-1, 0}, {0, 1}},
		"singular":                 {{1, 1}, {1, 1}},
		"a half turn with a shear": {{-1, 1}, {0, -1}},
		"not a number":             {{math.NaN(), 0}, {0, 1}},
	} {
		if l, ok := logPlane(a, vec2{}, false); ok {
			t.Errorf("%s: the logarithm of %v is %+v, expected none", name, a, l)
		}
	}
}
