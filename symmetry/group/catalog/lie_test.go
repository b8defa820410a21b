package catalog

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"nero/symmetry/group"
)

func TestComposingMultiplesOfFiveDegreesNeverDrifts(t *testing.T) {
	g := SO2()
	e := g.Identity()
	for i := range 100_000 {
		e = g.Mul(group.Element{5}, e)
		if want := float64((i + 1) % 72 * 5); e[0] != want {
			t.Fatalf("after %d steps of 5 degrees: %v, expected exactly %v", i+1, e[0], want)
		}
	}
	c7, err := Cyclic(7)
	if err != nil {
		t.Fatal(err)
	}
	es, err := group.Enumerate(c7)
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
