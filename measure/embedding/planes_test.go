package embedding

import (
	"math"
	"math/cmplx"
	"testing"
)

// In the planes of planted features every sample goes around a circle about the origin, once and twice in a turn.
func TestPlanes(t *testing.T) {
	confirm := flowing(40, around(), 0, 3)
	g, err := Generate(flowing(80, around(), 0, 1), flowing(40, around(), 0, 2), confirm, Options{})
	if err != nil {
		t.Fatal(err)
	}
	planes, err := g.Planes(confirm)
	if err != nil {
		t.Fatal(err)
	}
	if len(planes) != 2 {
		t.Fatalf("%d planes", len(planes))
	}
	for k, p := range planes {
		if want := float64(2 - k); !isNear(imag(p.Rate), want, 1e-6) || !isNear(real(p.Rate), 0, 1e-6) {
			t.Errorf("plane %d has the rate %g, want %gi", k, p.Rate, want)
		}
		sum, n := 0.0, 0
		for e, at := range p.At {
			for i, c := range at {
				sum += real(c)*real(c) + imag(c)*imag(c)
				n++
				want := p.At[confirm.Identity][i] * cmplx.Exp(p.Rate*complex(confirm.T[e], 0))
				if cmplx.Abs(c-want) > 1e-6 {
					t.Fatalf("plane %d, element %d, sample %d: at %g, want %g", k, e, i, c, want)
				}
			}
		}
		if !isNear(sum/float64(n), 1, 1e-12) || !(p.Spread > 0) {
			t.Errorf("plane %d: mean square %g, spread %g", k, sum/float64(n), p.Spread)
		}
	}
	if _, err := g.Planes(&Path{T: around(), Orbits: planted(4, around(), 1, func(x []float64, _ float64) []float64 {
		return x[:3]
	})}); err == nil {
		t.Error("features of another width have planes")
	}
}

// Features that stay have no plane.
func TestNoPlanes(t *testing.T) {
	steps := []float64{-math.Pi / 2, -1, -0.5, 0, 0.5, 1, math.Pi / 2}
	of := func(seed uint64) *Path {
		return &Path{T: steps, Orbits: planted(30, steps, seed, func(x []float64, _ float64) []float64 {
			return x[:2]
		})}
	}
	g, err := Generate(of(1), of(2), of(3), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if planes, err := g.Planes(of(3)); err != nil || len(planes) > 0 {
		t.Errorf("%d planes, %v", len(planes), err)
	}
}
