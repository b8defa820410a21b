package embedding

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// flowing are features of dimension 5 that stay, turn once and turn twice, in a basis that is no orthogonal one, with
// noise of a share of their size.
func flowing(n int, t []float64, noise float64, seed uint64) *Path {
	basis := normal(5, 5, source(11))
	var back mat.Dense
	if err := back.Inverse(basis); err != nil {
		panic(err)
	}
	r := source(seed + 500)
	o := planted(n, t, seed, func(x []float64, a float64) []float64 {
		s, c := math.Sincos(a)
		s2, c2 := math.Sincos(2 * a)
		y := []float64{x[0], c*x[1] - s*x[2], s*x[1] + c*x[2], c2*x[3] - s2*x[4], s2*x[3] + c2*x[4]}
		var out mat.VecDense
		out.MulVec(basis, mat.NewVecDense(5, y))
		return out.RawVector().Data
	})
	size := 0.0
	for _, at := range o.At {
		size += squares(at.RawMatrix().Data) / float64(len(at.RawMatrix().Data)*len(o.At))
	}
	for _, at := range o.At {
		e := normal(n, 5, r)
		e.Scale(noise*math.Sqrt(size), e)
		at.Add(at, e)
	}
	return &Path{T: t, Orbits: o, Period: 2 * math.Pi}
}

// around are angles from -216° to 216° in steps of 12°.
func around() []float64 {
	var out []float64
	for k := -18; k <= 18; k++ {
		out = append(out, float64(k)*math.Pi/15)
	}
	return out
}

// Noise leaves an error that falls with the root of how many objects there are: the root mean square over ten draws is
// 4e-4 and 6e-4 of 80 objects, 1e-4 and 2e-4 of 800. Maximum likelihood, with the features at the identity estimated
// beside the generator, leaves the same.
func TestPlantedGenerator(t *testing.T) {
	for _, c := range []struct {
		objects                      int
		noise, frequency, r2, period float64
	}{{80, 0, 1e-9, 1 - 1e-12, 1e-8}, {80, 0.05, 2e-3, 0.97, 0.05}, {800, 0.05, 6e-4, 0.97, 0.02}} {
		g, err := Generate(flowing(c.objects, around(), c.noise, 1), flowing(40, around(), c.noise, 2),
			flowing(40, around(), c.noise, 3), Options{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Frequencies) != 3 {
			t.Fatalf("frequencies %+v", g.Frequencies)
		}
		for k, f := range g.Frequencies {
			if !isNear(f.Value, float64(k), c.frequency) {
				t.Errorf("noise %g: frequency %d is %.10g", c.noise, k, f.Value)
			}
			if i := f.Interval; c.noise > 0 && k > 0 && !(i.Low <= float64(k) && float64(k) <= i.High &&
				i.High-i.Low < 0.02) {
				t.Errorf("noise %g: the interval of frequency %d is %+v", c.noise, k, i)
			}
		}
		if !(g.R2.Value > c.r2) || !(g.Seen.Value > c.r2) || !(g.PeriodDefect < c.period) {
			t.Errorf("noise %g: R² %g of unseen elements, %g of seen ones, period defect %g", c.noise, g.R2.Value,
				g.Seen.Value, g.PeriodDefect)
		}
		if g.Fitted+g.Unseen != 36 || g.Unseen < 10 {
			t.Errorf("%d fitted, %d unseen", g.Fitted, g.Unseen)
		}
	}
}

// From maps of large elements logarithms say another branch: without the small ones the fit has to begin elsewhere, and
// with them it must not end there.
func TestNoWrongBranch(t *testing.T) {
	g, err := Generate(flowing(80, around(), 0, 1), flowing(40, around(), 0, 2), flowing(40, around(), 0, 3), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !isNear(g.Frequencies[1].Value, 1, 1e-6) || !isNear(g.Frequencies[2].Value, 2, 1e-6) {
		t.Errorf("frequencies %+v", g.Frequencies)
	}
	var far mat.Dense // exp(216° A) has the eigenvalues e^{i 216°} = e^{-i 144°}, whose logarithm is another turn
	far.Scale(1.2*math.Pi, g.A)
	far.Exp(&far)
	values, _, err := eigen(&far)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if a := math.Abs(math.Atan2(imag(v), real(v))) / (1.2 * math.Pi); a > 0.9 {
			t.Errorf("a logarithm has frequency %g: this test shows nothing", a)
		}
	}
}

// Features that are polynomials of t have a generator without a basis of eigenvectors: (a + bt, b) moves by
// [[0,1],[0,0]].
func TestDefectiveGenerator(t *testing.T) {
	steps := []float64{-3, -2, -1, 0, 1, 2, 3, 4, 5}
	of := func(seed uint64) *Path {
		return &Path{T: steps, Orbits: planted(30, steps, seed, func(x []float64, a float64) []float64 {
			return []float64{x[0] + a*x[1], x[1]}
		})}
	}
	g, err := Generate(of(1), of(2), of(3), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(g.A, mat.NewDense(2, 2, []float64{0, 1, 0, 0}), 1e-6) || !(g.R2.Value > 1-1e-9) {
		t.Errorf("A is %v, R² %g", mat.Formatted(g.A), g.R2.Value)
	}
	if !math.IsNaN(g.PeriodDefect) {
		t.Errorf("a group that is never back has the period defect %g", g.PeriodDefect)
	}
}

// Features that no group moves are not explained.
func TestNoGenerator(t *testing.T) {
	of := func(seed uint64) *Path {
		r := source(seed + 90)
		return &Path{T: around(), Orbits: planted(40, around(), seed, func([]float64, float64) []float64 {
			return normal(1, 4, r).RawRowView(0)
		})}
	}
	g, err := Generate(of(1), of(2), of(3), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !(g.R2.Value < 0.05) || !(g.Ridge.Value < 0.05) {
		t.Errorf("noise is explained: %+v", g)
	}
}
