package scale

import (
	"math"
	"testing"

	"nero/data/space"
)

func headings(x ...float64) *space.Rows {
	r := space.NewRows(len(x), 7)
	r.Type = space.TypeBoxes
	for i, a := range x {
		copy(r.Row(i), []float64{1, 2, 3, 4, 5, 6, a})
	}
	return r
}

// Headings on both sides of a full turn are near each other, and so is their spread.
func TestHeadings(t *testing.T) {
	a, b := headings(0.1, math.Pi-0.1), headings(2*math.Pi-0.1, -math.Pi+0.1)
	d, err := Compare(a, b)
	if err != nil || math.Abs(d.Norm-0.2) > 1e-12 || math.Abs(d.Max-0.2) > 1e-12 {
		t.Errorf("apart by %+v, %v; want 0.2", d, err)
	}
	of := func(v ...space.Value) float64 {
		var s Spread
		for _, x := range v {
			if err := s.Add(x); err != nil {
				t.Fatal(err)
			}
		}
		return s.Scale()
	}
	x := of(headings(0.1), headings(2*math.Pi-0.1))
	if y := of(headings(0.1), headings(-0.1)); math.Abs(x-y) > 1e-12 || math.Abs(x-math.Sin(0.1)) > 1e-12 {
		t.Errorf("scale %g of headings above 0, %g of the same below; want %g", x, y, math.Sin(0.1))
	}
	if s := of(headings(0), headings(1), headings(1+2*math.Pi),
		headings(-2*math.Pi)); math.Abs(s-math.Sin(0.5)) > 1e-12 {
		t.Errorf("scale %g, want %g", s, math.Sin(0.5))
	}
}

// Poses with either sign are one.
func TestSigns(t *testing.T) {
	quat := func(x ...float64) *space.Rows {
		return &space.Rows{N: 1, W: 4, Val: x, Type: space.TypeQuaternions}
	}
	d, err := Compare(quat(0, 1, 0, 0), quat(0, -1, 0, 0))
	if err != nil || d.Norm != 0 {
		t.Errorf("apart by %+v, %v", d, err)
	}
	var s Spread
	for range 3 {
		for _, q := range []*space.Rows{quat(0, 1, 0, 0), quat(0, -1, 0, 0)} {
			if err := s.Add(q); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s.Scale() != 0 {
		t.Errorf("scale %g of one rotation", s.Scale())
	}
}
