package app

import (
	"math"
	"testing"

	"nero/run/store"
)

// table is one metric of n samples at two elements.
func table(n int, f func(i, e int) float64) *store.Curves {
	c := &store.Curves{Elements: 2}
	for i := range n {
		c.Index = append(c.Index, i)
		for e := range 2 {
			c.Values = append(c.Values, float32(f(i, e)))
		}
	}
	return c
}

func TestChangeOfRuns(t *testing.T) {
	good := table(40, func(i, e int) float64 { return 0.8 + 0.01*math.Sin(float64(7*i+e)) })
	bad := table(40, func(i, e int) float64 { return 0.4 + 0.01*math.Cos(float64(5*i+e)) })
	for _, c := range []struct {
		x, y   *store.Curves
		higher bool
		says   string
		beyond bool
		change float64
	}{
		{good, bad, true, "worse", true, -0.4},
		{bad, good, true, "improved", false, 0.4},
		{good, bad, false, "improved", false, -0.4},
		{bad, good, false, "worse", true, 0.4},
		{good, good, true, "no clear difference", false, 0},
	} {
		r := changeOfRuns(c.x, c.y, nil, c.higher, 0.95, 0.1, 1, "m")
		if r.Says != c.says || r.Beyond != c.beyond || r.N != 40 || math.Abs(*r.Is-*r.Was-c.change) > 0.01 ||
			*r.Low > *r.Is-*r.Was+1e-9 || *r.High < *r.Is-*r.Was-1e-9 {
			t.Errorf("higher %v: %+v, was %v, is %v in [%v, %v]", c.higher, r, *r.Was, *r.Is, *r.Low, *r.High)
		}
		if r := changeOfRuns(c.x, c.y, nil, c.higher, 0.95, 2, 1, "m"); r.Beyond {
			t.Errorf("higher %v: a change by half is beyond twice", c.higher)
		}
	}
	// Samples that one of the runs lacks, or that have no number, are left out; an element without a number leaves its
	// pair out alone.
	few := &store.Curves{
		Elements: 2, Index: []int{1, 3, 5},
		Values: []float32{1, 1, float32(math.NaN()), float32(math.NaN()), 2, float32(math.NaN())},
	}
	if r := changeOfRuns(few, table(6, func(_, e int) float64 { return 1 + float64(e) }), nil, false, 0.95, 0.1, 1,
		"m"); r.N != 2 || *r.Was != 1.5 || *r.Is != 1.25 {
		t.Errorf("%+v: was %v, is %v", r, *r.Was, *r.Is)
	}
}
