package space_test

import (
	"math"
	"testing"

	"nero/data/space"
)

// lit are the pixels of a sketch that are not empty, and where they are on average.
func lit(m *space.Image) (n int, x, y float64) {
	for v := range m.H {
		for u := range m.W {
			if m.Pix[v*m.W+u] > 0 {
				n, x, y = n+1, x+float64(u), y+float64(v)
			}
		}
	}
	return n, x / float64(n), y / float64(n)
}

func TestPortraits(t *testing.T) {
	// One far point to the left and below, three near ones to the right and above.
	points := &space.Rows{N: 4, W: 3, Type: "positions", Val: []float64{-1, -1, -1, 1, 1, 1, 1, 0.9, 1, 0.9, 1, 1}}
	m, sketched := space.Portrait(points)
	if m == nil || !sketched {
		t.Fatalf("points have no portrait")
	}
	if n, x, y := lit(m); n < 30 || n > m.H*m.W/4 || x < 32 || y > 32 {
		t.Errorf("%d pixels about %.1f, %.1f", n, x, y)
	}
	if dim, bright := m.Pix[(m.H-6)*m.W+5], m.Pix[5*m.W+m.W-6]; !(dim > 0) || !(bright > dim) {
		t.Errorf("the far point has shade %g, the near one %g", dim, bright)
	}
	record := &space.Record{Names: []string{"charge", "place"}, Values: []space.Value{
		&space.Rows{N: 4, W: 1, Val: make([]float64, 4)}, points,
	}}
	if m, _ := space.Portrait(record); m == nil {
		t.Error("a record of points has no portrait")
	}
	wave := space.NewSignal(1, 200, 10)
	for i := range wave.T {
		wave.Val[i] = math.Sin(float64(i) / 10)
	}
	if m, _ := space.Portrait(wave); m == nil {
		t.Error("a signal has no portrait")
	} else if n, _, _ := lit(m); n < 64 || n > 64*40 {
		t.Errorf("a sine takes %d pixels", n)
	}
	picture := space.NewImage(1, 4, 4)
	if m, sketched := space.Portrait(picture); m != picture || sketched {
		t.Error("a picture is not its own portrait")
	}
	// What has no places, or no numbers, has no picture.
	for what, v := range map[string]space.Value{
		"features":            &space.Rows{N: 2, W: 3, Type: "unchanged", Val: make([]float64, 6)},
		"wide rows":           &space.Rows{N: 2, W: 5, Val: make([]float64, 10)},
		"no rows":             &space.Rows{W: 3},
		"points that are NaN": &space.Rows{N: 1, W: 3, Val: []float64{0, math.NaN(), 0}},
		"a short signal":      space.NewSignal(1, 1, 1),
	} {
		if m, _ := space.Portrait(v); m != nil {
			t.Errorf("%s have a portrait", what)
		}
	}
}
