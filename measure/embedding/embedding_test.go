package embedding

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// turn is the rotation of (x0, x1) by an angle; x2 stays.
func turn(deg float64) *mat.Dense {
	s, c := math.Sincos(deg * math.Pi / 180)
	return mat.NewDense(3, 3, []float64{c, -s, 0, s, c, 0, 0, 0, 1})
}

// planted are features that a group moves by a known matrix, with noise of a known size; three inputs show one object.
func planted(n int, noise float64, m *mat.Dense, seed uint64) Pairs {
	r := rand.New(rand.NewPCG(seed, 9))
	var p Pairs
	for i := range n {
		x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		y := Apply(m, x)
		for k := range y {
			y[k] += noise * r.NormFloat64()
		}
		p.Before, p.After, p.Object = append(p.Before, x), append(p.After, y), append(p.Object, i/3)
	}
	return p
}

func TestPlantedMap(t *testing.T) {
	maps := map[float64]*mat.Dense{}
	for _, deg := range []float64{30, 50, 80} {
		m, err := Fit(planted(300, 0, turn(deg), 1), Options{Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !(m.Overall > 1-1e-12) || m.Constant != 0 || m.Objects != 100 || m.Folds != 5 ||
			!mat.EqualApprox(m.M, turn(deg), 1e-6) {
			t.Errorf("%+v, want the planted map", m)
		}
		maps[deg] = m.M
	}
	if d := Homomorphism(maps[80], maps[30], maps[50]); !(d < 1e-6) {
		t.Errorf("the homomorphism defect of a representation is %g", d)
	}
	// Of rotations R(a) and R(b), ‖R(a)-R(b)‖² = 4(1 - cos(a-b)) in the plane that turns, and ‖R‖² = 3.
	want := math.Sqrt(4 * (1 - math.Cos(20*math.Pi/180)) / 3)
	if d := Homomorphism(maps[80], maps[50], maps[50]); !(math.Abs(d-want) < 1e-5) {
		t.Errorf("the defect is %g, want %g", d, want)
	}
	if !math.IsNaN(Homomorphism(mat.NewDense(1, 1, nil), mat.NewDense(1, 1, nil), mat.NewDense(1, 1, nil))) {
		t.Error("a map that is 0 has no relative defect")
	}
}

// With noise of variance s² on features of variance 1, the best map explains 1/(1+s²).
func TestNoise(t *testing.T) {
	const n, s = 3000, 0.5
	m, err := Fit(planted(n, s, turn(40), 3), Options{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := 1 / (1 + s*s)
	for c, got := range append(m.R2, m.Overall) {
		if !(math.Abs(got-want) < 0.03) {
			t.Errorf("component %d: R² is %g, want about %g", c, got, want)
		}
	}
	again, err := Fit(planted(n, s, turn(40), 3), Options{Seed: 4})
	if err != nil || again.Overall != m.Overall || again.Lambda != m.Lambda {
		t.Error("the same seed gives another fit")
	}
}

// Features that have nothing to do with each other are not explained, whatever the number of components: held-out R² is
// not above 0 by more than chance.
func TestUnrelated(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var p Pairs
	for range 60 {
		x, y := make([]float64, 40), make([]float64, 2)
		for k := range x {
			x[k] = r.NormFloat64()
		}
		for k := range y {
			y[k] = r.NormFloat64()
		}
		p.Before, p.After = append(p.Before, x), append(p.After, y)
	}
	m, err := Fit(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !(m.Overall < 0.15) {
		t.Errorf("R² of noise is %g", m.Overall)
	}
}

// Inputs of one object that are alike would be found again if the split tore objects apart.
func TestSplitByObject(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var p Pairs
	for object := range 20 {
		x, y := make([]float64, 40), []float64{r.NormFloat64()}
		for k := range x {
			x[k] = r.NormFloat64()
		}
		for range 4 {
			p.Before, p.After, p.Object = append(p.Before, x), append(p.After, y), append(p.Object, object)
		}
	}
	m, err := Fit(p, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !(m.Overall < 0.3) {
		t.Errorf("R² is %g, though nothing of an object is known from the others", m.Overall)
	}
	p.Object = nil
	if m, err = Fit(p, Options{Seed: 1}); err != nil || !(m.Overall > 0.9) {
		t.Errorf("torn apart R² is %g, want nearly 1, or this test shows nothing", m.Overall)
	}
}

func TestConstantFeatures(t *testing.T) {
	p := planted(30, 0, turn(10), 1)
	for i := range p.After {
		p.After[i][1] = 3
	}
	m, err := Fit(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Constant != 1 || !math.IsNaN(m.R2[1]) || math.IsNaN(m.Overall) {
		t.Errorf("%+v", m)
	}
	for i := range p.After {
		p.After[i] = []float64{1}
	}
	if m, err = Fit(p, Options{}); err != nil || !math.IsNaN(m.Overall) || m.Constant != 1 {
		t.Errorf("features that never vary are explained: %+v, %v", m, err)
	}
}

func TestRefused(t *testing.T) {
	good := planted(30, 0, turn(10), 1)
	for _, c := range []struct {
		p Pairs
		o Options
	}{
		{Pairs{}, Options{}},
		{Pairs{Before: good.Before, After: good.After[1:]}, Options{}},
		{Pairs{Before: good.Before, After: good.After, Object: []int{1}}, Options{}},
		{Pairs{Before: [][]float64{{1}, {1, 2}}, After: [][]float64{{1}, {1}}}, Options{}},
		{Pairs{Before: [][]float64{{}}, After: [][]float64{{}}}, Options{}},
		{Pairs{Before: good.Before[:9], After: good.After[:9], Object: good.Object[:9]}, Options{}},
		{Pairs{Before: [][]float64{{math.NaN()}, {1}, {1}, {1}}, After: [][]float64{{1}, {1}, {1}, {1}}}, Options{}},
		{good, Options{Folds: 1}},
		{good, Options{Lambdas: []float64{0}}},
		{good, Options{Lambdas: []float64{math.NaN()}}},
	} {
		if m, err := Fit(c.p, c.o); err == nil {
			t.Errorf("%+v is fitted: %+v", c, m)
		}
	}
}

func TestRetrieval(t *testing.T) {
	views := [][]float64{{0, 0}, {1, 0}, {0, 3}, {1, 0}}
	for _, c := range []struct {
		predicted []float64
		truth     int
		want      int
	}{
		{[]float64{0, 0.1}, 0, 1},
		{[]float64{0.9, 0}, 0, 3},
		{[]float64{0.9, 0}, 1, 2}, // another view lies at the same place
		{[]float64{0.9, 0}, 2, 4},
		{[]float64{math.NaN(), 0}, 2, 0},
	} {
		if got := Rank(c.predicted, views, c.truth); got != c.want {
			t.Errorf("rank of %d from %v is %d, want %d", c.truth, c.predicted, got, c.want)
		}
	}
	r := Retrieve([]int{1, 2, 6, 1}, []int{2, 2, 6, 1})
	if !(math.Abs(r.MRR-(1+.5+1./6+1)/4) < 1e-15) || r.H1 != 0.5 || r.H5 != 0.75 || r.Candidates != 11./4 ||
		!(math.Abs(r.Chance-(0.75+0.75+2.45/6+1)/4) < 1e-15) {
		t.Errorf("%+v", r)
	}
	if r := Retrieve([]int{1, 0}, []int{2, 2}); !math.IsNaN(r.MRR) {
		t.Errorf("%+v", r)
	}
	if r := Retrieve(nil, nil); !math.IsNaN(r.MRR) {
		t.Errorf("%+v", r)
	}
}
