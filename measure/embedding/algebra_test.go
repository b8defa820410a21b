package embedding

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"nero/internal/elementary"

	"gonum.org/v1/gonum/mat"
)

// hat is the matrix of the cross product with t.
func hat(t []float64) *mat.Dense {
	return mat.NewDense(3, 3, []float64{0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0})
}

// spun are n objects under rotations of space: a number, a vector and a symmetric tensor without trace, in a basis
// that is no orthogonal one, with noise of a share of their size. Along each axis the nine numbers turn with the
// frequencies 0, 0, 0, 1, 1, 2.
func spun(n int, noise float64, seed uint64) *Span {
	const step = math.Pi / 12
	s := &Span{Step: []float64{step, step, step}, Orbits: &Orbits{Object: upTo(n)}}
	add := func(t ...float64) { s.T = append(s.T, t) }
	add(0, 0, 0)
	for _, k := range []float64{-4, -2, -1, 1, 2, 4} {
		add(k*step, 0, 0)
		add(0, k*step, 0)
		add(0, 0, k*step)
	}
	r := rand.New(rand.NewPCG(5, 5)) // the same elements for all sides
	for range 9 {
		t := normal(1, 3, r).RawRowView(0)
		size := math.Sqrt(squares(t)) / (math.Pi * r.Float64())
		s.Asked = append(s.Asked, len(s.T))
		add(t[0]/size, t[1]/size, t[2]/size)
	}
	// [X_i, X_j] = ε_ijk X_k
	s.Bracket = make([][][]float64, 3)
	for i := range 3 {
		s.Bracket[i] = make([][]float64, 3)
		for j := range 3 {
			s.Bracket[i][j] = make([]float64, 3)
			if i != j {
				k := 3 - i - j
				s.Bracket[i][j][k] = map[bool]float64{true: 1, false: -1}[(j-i+3)%3 == 1]
			}
		}
	}
	basis, x := orthogonal(9, source(11)), normal(n, 9, source(seed))
	for j := range 9 { // skewed, and not so far that noise is all there is along a direction
		for i := range 9 {
			basis.Set(i, j, basis.At(i, j)*(0.6+0.1*float64(j)))
		}
	}
	r = source(seed + 900)
	for _, t := range s.T {
		var e mat.Dense
		e.Exp(hat(t))
		at := mat.NewDense(n, 9, nil)
		for i := range n {
			o := x.RawRowView(i)
			var v mat.VecDense
			v.MulVec(&e, mat.NewVecDense(3, o[1:4]))
			q := mat.NewDense(3, 3, []float64{o[4], o[5], o[6], o[5], o[7], o[8], o[6], o[8], -o[4] - o[7]})
			q.Mul(&e, q)
			q.Mul(q, e.T())
			y := []float64{
				o[0], v.AtVec(0), v.AtVec(1), v.AtVec(2), q.At(0, 0), q.At(0, 1), q.At(0, 2), q.At(1, 1), q.At(1, 2),
			}
			var z mat.VecDense
			z.MulVec(basis, mat.NewVecDense(9, y))
			for j := range 9 {
				at.Set(i, j, z.AtVec(j)+noise*elementary.Normal(r))
			}
		}
		s.At = append(s.At, at)
	}
	return s
}

func TestPlantedRotations(t *testing.T) {
	for _, c := range []struct{ noise, frequency, bracket, r2 float64 }{
		{0, 1e-7, 1e-7, 1 - 1e-6}, {0.02, 0.03, 0.05, 0.97},
	} {
		g, err := Represent(spun(40, c.noise, 1), spun(20, c.noise, 2), spun(20, c.noise, 3), Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(g.A) != 3 || g.Unseen != 3 || g.Fitted != 18+6 {
			t.Fatalf("%d matrices, %d elements fitted, %d unseen", len(g.A), g.Fitted, g.Unseen)
		}
		for i, all := range g.Frequencies {
			// of a kernel of three, noise may make a pair that turns a little
			top := all[len(all)-3:]
			for k, want := range []float64{1, 1, 2} {
				if !isNear(top[k].Value, want, c.frequency) {
					t.Errorf("noise %g, generator %d: frequencies %+v", c.noise, i, all)
				}
			}
			if !(all[0].Value < c.frequency) || !(g.Growth[i] < 10*c.frequency) {
				t.Errorf("noise %g, generator %d: %+v, growth %g", c.noise, i, all[0], g.Growth[i])
			}
			if two := top[2].Interval; c.noise > 0 && !(two.Low <= 2 && 2 <= two.High && two.High-two.Low < 0.1) {
				t.Errorf("generator %d: the interval of frequency 2 is %+v", i, two)
			}
		}
		if len(g.Brackets) != 3 {
			t.Fatalf("%+v", g.Brackets)
		}
		for _, b := range g.Brackets {
			if !(b.Defect < c.bracket) {
				t.Errorf("noise %g: [A_%d, A_%d] is off by %g", c.noise, b.I, b.J, b.Defect)
			}
		}
		if !(g.R2.Value > c.r2) || !(g.Seen.Value > c.r2) || !(g.Ridge.Value > c.r2) {
			t.Errorf("noise %g: R² %g unseen, %g seen, %g by maps", c.noise, g.R2.Value, g.Seen.Value, g.Ridge.Value)
		}
	}
}

// Held against constants that are not those of the group, brackets are off, and elements elsewhere are not explained.
func TestOtherBrackets(t *testing.T) {
	fit := spun(40, 0, 1)
	fit.Bracket[0][1] = []float64{0, 0, 2}
	confirm := spun(20, 0, 3)
	for _, k := range confirm.Asked { // other coefficients than those that made the features
		confirm.T[k] = []float64{confirm.T[k][1], confirm.T[k][2], -confirm.T[k][0]}
	}
	g, err := Represent(fit, spun(20, 0, 2), confirm, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range g.Brackets {
		if (b.Defect > 0.1) != (b.I == 0 && b.J == 1) {
			t.Errorf("[A_%d, A_%d] is off by %g", b.I, b.J, b.Defect)
		}
	}
	if !(g.R2.Value < 0.5) {
		t.Errorf("R² %g of features at elements that they are not of", g.R2.Value)
	}
}

// Motions of the plane that move points: shifts have no basis of eigenvectors.
func TestPlantedMotions(t *testing.T) {
	of := func(n int, seed uint64) *Span {
		s := &Span{Step: []float64{math.Pi / 12, 1, 1}, Orbits: &Orbits{Object: upTo(n)}}
		s.T = append(s.T, []float64{0, 0, 0})
		for i, h := range s.Step {
			for _, k := range []float64{-2, -1, 1, 2} {
				t := make([]float64, 3)
				t[i] = k * h
				s.T = append(s.T, t)
			}
		}
		for _, t := range [][]float64{{1, 1, 2}, {-1, 2, 0}, {0.5, -1, 1}, {0, 2, -1}, {0.8, 0, 1}, {-0.4, 1, 1}} {
			s.Asked = append(s.Asked, len(s.T))
			s.T = append(s.T, t)
		}
		// [turn, x] = y, [turn, y] = -x, [x, y] = 0
		s.Bracket = [][][]float64{
			{{0, 0, 0}, {0, 0, 1}, {0, -1, 0}}, {{0, 0, -1}, {0, 0, 0}, {0, 0, 0}}, {{0, 1, 0}, {0, 0, 0}, {0, 0, 0}},
		}
		x := normal(n, 3, source(seed))
		for _, t := range s.T {
			var e mat.Dense
			e.Exp(mat.NewDense(3, 3, []float64{0, -t[0], t[1], t[0], 0, t[2], 0, 0, 0}))
			at := &mat.Dense{}
			at.Mul(x, e.T())
			s.At = append(s.At, at)
		}
		return s
	}
	g, err := Represent(of(30, 1), of(20, 2), of(20, 3), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(3, 3, []float64{0, 0, 1, 0, 0, 0, 0, 0, 0})
	if !mat.EqualApprox(g.A[1], want, 1e-5) || !(g.R2.Value > 1-1e-8) {
		t.Errorf("shift along x: %v, R² %g", mat.Formatted(g.A[1]), g.R2.Value)
	}
	for _, b := range g.Brackets {
		if !(b.Defect < 1e-5) {
			t.Errorf("[A_%d, A_%d] is off by %g", b.I, b.J, b.Defect)
		}
	}
	s := of(30, 1)
	s.T[1] = []float64{0.1, 0, 0} // no longer a step along the turn
	s.T[2] = []float64{0.1, 0, 0}
	if _, err := Represent(s, of(20, 2), of(20, 3), Options{}); !errors.Is(err, ErrGenerator) {
		t.Errorf("without a step: %v", err)
	}
}
