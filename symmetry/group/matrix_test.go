package group_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func dense(s group.Spatial, e group.Element) *mat.Dense {
	a, _ := s.Motion(e)
	return mat.NewDense(s.Dim(), s.Dim(), a)
}

// The defining equations: RᵀηR = η for Lorentz, JᵀΩJ = Ω for Sp, determinant 1 for SL, above 0 for GL+ and Affine, unit
// quaternions for SU(2).
func TestMatricesKeepTheirForms(t *testing.T) {
	form := map[string]*mat.Dense{
		"Lorentz": mat.NewDense(4, 4, []float64{1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1}),
		"Sp(4)":   mat.NewDense(4, 4, []float64{0, 0, 1, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, -1, 0, 0}),
		"Sp(2)":   mat.NewDense(2, 2, []float64{0, 1, -1, 0}),
		"SU(2)":   mat.NewDense(4, 4, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}),
	}
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom([]string{
			"Lorentz", "Sp(4)", "Sp(2)", "SU(2)", "SL(2)", "SL(3)", "GL+(2)", "GL+(3)",
			"Affine(3)",
		}).Draw(r, "group")
		s := spatial(t, name)
		sampler, ok := s.(group.Sampler)
		if !ok {
			r.Fatal("no sampler")
		}
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		m := dense(s, s.Mul(sampler.Sample(rnd), sampler.Sample(rnd)))
		switch det := mat.Det(m); {
		case !(det > 0):
			r.Fatalf("%s: the determinant is %g", name, det)
		case name != "GL+(2)" && name != "GL+(3)" && name != "Affine(3)" && math.Abs(det-1) > 1e-10:
			r.Fatalf("%s: the determinant is %g, expected 1", name, det)
		}
		if f, ok := form[name]; ok {
			var x mat.Dense
			x.Product(m.T(), f, m)
			if !mat.EqualApprox(&x, f, 1e-10) {
				r.Fatalf("%s: the form becomes %v", name, mat.Formatted(&x))
			}
		}
		if name == "Lorentz" && m.At(0, 0) < 1 {
			r.Fatalf("time runs backwards: %v", mat.Formatted(m))
		}
	})
}

// What exp does not reach, k·exp(p) does: diag(-2, -1/2) is a half turn of diag(2, 1/2).
func TestCartanReachesWhatExpDoesNot(t *testing.T) {
	s := spatial(t, "SL(2)")
	if a, _ := s.Motion(group.Element{180, 2, 1}); !slices.Equal(a, []float64{-2, 0, 0, -0.5}) {
		t.Errorf("a half turn and a stretch: %v", a)
	}
	for name, want := range map[string]string{
		"SL(2)": "eigenvalues -2 and -1/2", "GL+(3)": "out of its reach", "Sp(4)": "out of its reach",
		"Affine(3)": "k·exp(p)", "Sp(2)": "Sp(2)",
		"O(2)": "not the mirrors", "E(2)": "not the mirrors", "E(3)": "not the inversions", "Og(3)": "not the mirrors",
		"Eg(3)":                             "not the mirrors",
		"Affine(rotate,stretch,hyperbolic)": "no coordinates", "SL(2) x O(3)": "inversions",
	} {
		if got := group.Unreached(parse(t, name)); !strings.Contains(got, want) {
			t.Errorf("%s: %q, expected %q", name, got, want)
		}
	}
	for _, name := range []string{
		"SO(2)", "SO(3)", "SE(3)", "SEg(3)", "SU(2)", "Lorentz", "Scale", "Affine(rotate,scale)",
		"T(3) x SO(2)",
	} {
		if got := group.Unreached(parse(t, name)); got != "" {
			t.Errorf("exp reaches all of %s: %q", name, got)
		}
	}
}

// gonum's exponential is the independent source for exp of a generic element of the algebra.
func TestExpOfMatrices(t *testing.T) {
	for _, name := range []string{"Lorentz", "Sp(4)", "SL(2)", "SL(3)", "GL+(2)", "GL+(3)", "SU(2)"} {
		s := spatial(t, name)
		l, ok := s.(group.Lie)
		if !ok {
			t.Fatalf("%s is no Lie group", name)
		}
		n := len(l.Generators())
		const h = 1e-6
		x := mat.NewDense(s.Dim(), s.Dim(), nil)
		coef := make([]float64, n)
		r := rand.New(rand.NewPCG(4, 4))
		for i := range n {
			coef[i] = r.NormFloat64() / 2
			unit := make([]float64, n)
			unit[i] = h
			plus := dense(s, l.Exp(unit))
			unit[i] = -h
			plus.Sub(plus, dense(s, l.Exp(unit)))
			plus.Scale(coef[i]/(2*h), plus)
			x.Add(x, plus)
		}
		var want mat.Dense
		want.Exp(x)
		if got := dense(s, l.Exp(coef)); !mat.EqualApprox(got, &want, 1e-8) {
			t.Errorf("%s: exp is %v, expected %v", name, mat.Formatted(got), mat.Formatted(&want))
		}
	}
}

func TestChartsOfMatrices(t *testing.T) {
	// A boost along x with rapidity b: cosh and sinh.
	s := spatial(t, "Lorentz")
	got := apply(s, group.Element{0, 0, 0, 0.5, 0, 0}, []float64{1, 0, 0, 0})
	if math.Abs(got[0]-math.Cosh(0.5)) > 1e-15 || math.Abs(got[1]-math.Sinh(0.5)) > 1e-15 || got[2] != 0 {
		t.Errorf("a boost: %v", got)
	}
	// Two boosts along one axis add their rapidities; along two they turn (Thomas and Wigner).
	if e := s.Mul(group.Element{0, 0, 0, 0.5, 0, 0}, group.Element{0, 0, 0, 0.25, 0, 0}); s.Dist(e,
		group.Element{0, 0, 0, 0.75, 0, 0}) > 1e-14 {
		t.Errorf("rapidities do not add: %v", e)
	}
	// tan(ω/2) = tanh(a/2)·tanh(b/2) for boosts a and b at right angles.
	e := s.Mul(group.Element{0, 0, 0, 0.5, 0, 0}, group.Element{0, 0, 0, 0, 0.8, 0})
	if want := 2 * math.Atan(math.Tanh(0.25)*math.Tanh(0.4)) * 180 / math.Pi; math.Abs(math.Abs(e[2])-want) > 1e-9 {
		t.Errorf("Wigner's rotation is %g degrees, expected %g", e[2], want)
	}
	su2 := parse(t, "SU(2)")
	full := su2.Mul(group.Element{0, 0, 180}, group.Element{0, 0, 180})
	if !slices.Equal(full, group.Element{360, 0, 0}) {
		t.Errorf("a full turn is -1: %v", full)
	}
	if d := su2.Dist(full, su2.Identity()); math.Abs(d-4) > 1e-14 { // the Frobenius norm of -2·I in four dimensions
		t.Errorf("-1 is %g from the identity", d)
	}
	r, ok := su2.(group.Represented)
	if !ok {
		t.Fatal("SU(2) has representations")
	}
	if m, ok := r.Matrix("vector", full); !ok || !slices.Equal(m, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}) {
		t.Errorf("a full turn of space is the identity: %v", m)
	}
	if _, ok := r.Matrix("tensor", full); ok {
		t.Error("an unknown representation")
	}
	for name, want := range map[string]string{
		"GL+(4)": "2 or 3", "SL(x)": "expected the dimension", "Sp(3)": "2 or 4",
		"gl+": "expected the dimension",
	} {
		if _, err := catalog.Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", name, err, want)
		}
	}
	for in, want := range map[string]string{
		"SO+(1,3)": "Lorentz", "su(2)": "SU(2)", "affine(3)": "Affine(3)",
		"gl+2": "", "GL+(2)": "GL+(2)",
	} {
		g, err := catalog.Parse(in)
		if want != "" && (err != nil || g.Name() != want) {
			t.Errorf("%s: %v, %v", in, g, err)
		}
	}
	p, ok := parse(t, "GL+(2)").(group.Planar)
	if !ok {
		t.Fatal("GL+(2) moves pictures")
	}
	if a, _ := p.Affine(group.Element{90, 2, 1, 1}); a != [2][2]float64{{0, 2}, {-2, 0}} {
		t.Errorf("a quarter turn and a magnification: %v", a)
	}
}

func TestPresetsOfMatrices(t *testing.T) {
	for _, name := range []string{
		"GL+(2)", "GL+(3)", "SL(2)", "SL(3)", "Affine(3)", "Lorentz", "Sp(2)", "Sp(4)",
		"SU(2)",
	} {
		g := parse(t, name)
		es, text, err := group.Preset(g, nil)
		if err != nil || len(es) < 200 || len(es) > 300 || g.Dist(es[0], g.Identity()) != 0 ||
			!strings.Contains(text, "low-discrepancy") {
			t.Errorf("%s: %d elements, %q, %v", name, len(es), text, err)
		}
		for _, e := range es {
			if _, err := group.Validate(g, e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
