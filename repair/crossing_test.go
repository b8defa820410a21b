package repair

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"nero/data/space"
)

// Spreads and axes are those of an independent solver (gonum's, QR), and the inputs of a crossing have their closest
// two axes equally long, the one and the other longer by a hair.
func TestCrossings(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 0))
	for range 20 {
		p := cloudOf(r, 30)
		turn := rotationOf(r)
		for i := 0; i < len(p); i += 3 {
			x := [3]float64{p[i], p[i+1], p[i+2]}
			for k := range 3 {
				p[i+k] = turn[3*k]*x[0] + turn[3*k+1]*x[1] + turn[3*k+2]*x[2]
			}
		}
		s := stanceOf(p, claim{turns: true})
		want := eigen(t, p)
		for k := range 3 {
			if !(math.Abs(s.spread[k]-want[2-k]) <= 1e-12*want[2]) {
				t.Fatalf("spreads %v, want %v from the last", s.spread, want)
			}
		}
		_, k := s.gap()
		for _, angle := range []float64{0, math.Pi / 2, math.Pi / 8, 1.1} {
			q := stanceOf(s.crossed(p, 1e-5, angle), claim{turns: true})
			gap, first := q.gap()
			if first != k || !(gap <= 3e-5) || !(gap > 1e-6) {
				t.Errorf("a gap of %g between axes %d and the next", gap, first)
			}
			longer := 0.0 // the cosine between the longer axis and the direction asked for
			for j := range 3 {
				longer += (math.Cos(angle)*s.axes[k][j] + math.Sin(angle)*s.axes[k+1][j]) * q.axes[k][j]
			}
			if !(math.Abs(longer) > 1-1e-6) {
				t.Errorf("the longer axis is off the direction at %g: cosine %g", angle, longer)
			}
		}
	}
}

// eigen are the eigenvalues of the second moments of points, the least first.
func eigen(t *testing.T, p []float64) []float64 {
	t.Helper()
	n := float64(len(p) / 3)
	var mean [3]float64
	for i, x := range p {
		mean[i%3] += x / n
	}
	c := mat.NewSymDense(3, nil)
	for i := 0; i < len(p); i += 3 {
		for a := range 3 {
			for b := a; b < 3; b++ {
				c.SetSym(a, b, c.At(a, b)+(p[i+a]-mean[a])*(p[i+b]-mean[b])/n)
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(c, false) {
		t.Fatal("no eigenvalues")
	}
	return e.Values(nil)
}

// Which clouds are near a jump is told by what moves them there: a tall one is not, a round one is, a cube is on the
// place itself, and so is, for a pose, one that is its own mirror image.
func TestNearCrossings(t *testing.T) {
	m := lopsided(t, 13)
	r := rand.New(rand.NewPCG(37, 0))
	tall := cloudOf(r, 200)
	s := sourceOf(t, m, "SO(3)", lopsidedOutputs(m), 0, tall)
	var cube, rod []float64
	for i := range 8 {
		for k := range 3 {
			cube = append(cube, float64(i>>k&1)-0.5)
			rod = append(rod, (float64(i>>k&1)-0.5)*float64(1+k))
		}
	}
	for _, c := range []struct {
		method string
		points []float64
		near   float64
		ties   int
	}{
		{"frame", tall, 0, 0},
		{"frame", cube, 1, 1},
		{"frame", rod, 0, 0},
		{"pose", tall, 0, 0},
		{"pose", rod, 1, 1},
	} {
		a, err := Parse(c.method)
		if err != nil {
			t.Fatal(err)
		}
		v := []space.Value{&space.Rows{N: len(c.points) / 3, W: 3, Val: c.points, Type: space.TypePositions}}
		got, err := a.Near(s, v, &Answers{})
		if err != nil {
			t.Fatal(err)
		}
		if got == nil || float64(got.Share.Value) != c.near || got.Ties != c.ties {
			t.Errorf("%s of %d points: %+v, want a share of %g, %d ties", c.method, len(c.points)/3, got, c.near,
				c.ties)
		}
	}
}
