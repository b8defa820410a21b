package space

import (
	"slices"
	"testing"
)

func TestDrawingShowsTheMiddleSlices(t *testing.T) {
	v := NewVolume(1, 2, 3, 4) // z, y, x
	for i := range v.Val {
		v.Val[i] = float64(i + 1)
	}
	m := v.Drawing()
	// At z = 1 the numbers are 13 to 24; at y = 1 5 to 8 and 17 to 20; at x = 2 3, 7, 11 and 15, 19, 23.
	want := []float64{
		13, 14, 15, 16, 3, 5, 6, 7, 8, 3, 3, 7, 11,
		17, 18, 19, 20, 3, 17, 18, 19, 20, 3, 15, 19, 23,
		21, 22, 23, 24, 3, 3, 3, 3, 3, 3, 3, 3, 3,
	}
	if m.C != 1 || m.H != 3 || m.W != 13 || !slices.Equal(m.Pix, want) {
		t.Errorf("%dx%dx%d %v", m.C, m.H, m.W, m.Pix)
	}
	if View(v) == nil || View(NewRows(1, 1)) != nil || len(Views(NewFrames(2, 1, 2, 2))) != 2 {
		t.Error("what is shown of values")
	}
}
