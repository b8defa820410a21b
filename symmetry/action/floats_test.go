package action_test

import (
	"math"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// floats are the numbers of a value, rounded.
func floats(v space.Value) []float32 {
	var all []float32
	for _, x := range v.Numbers() {
		all = append(all, float32(x))
	}
	return all
}

// Numbers that move as float32 are those of the moved value, for every element that acts without resampling.
func TestFloats(t *testing.T) {
	moved := 0
	try := func(name string, a interface {
		action.Action
		action.Preparer
		action.Exacter
	}, g group.Element, v space.Value,
	) {
		t.Helper()
		m, err := a.Prepare(g, v)
		if err != nil {
			t.Fatal(err)
		}
		f := action.Floats(m)
		if f == nil {
			if a.Exact(g) {
				t.Errorf("%s: %v resamples", name, g)
			}
			return
		}
		y, err := a.Apply(g, v)
		if err != nil {
			t.Fatal(err)
		}
		want := floats(y)
		got := make([]float32, len(want))
		for i := range got {
			got[i] = float32(math.NaN())
		}
		f(got, floats(v))
		for i, w := range want {
			if got[i] != w {
				t.Fatalf("%s: %v: number %d is %g, want %g", name, g, i, got[i], w)
			}
		}
		moved++
	}
	for _, name := range []string{"D4", "C8", "T(2,Z)"} {
		for _, timed := range []bool{false, true} {
			full := name
			if timed {
				full += " x Time"
			}
			gr, err := catalog.Parse(full)
			if err != nil {
				t.Fatal(err)
			}
			var all []group.Element
			if f, ok := gr.(group.Finite); ok {
				all = f.Elements()
			} else {
				all = []group.Element{gr.Identity()}
				for _, x := range []float64{-3, 1, 2} {
					g := gr.Identity()
					g[0], g[1] = x, -x
					all = append(all, g)
				}
			}
			for _, window := range [][]int{nil, {4, 4}} {
				o := action.Options{Window: window}
				for _, g := range all {
					if timed {
						try(full, newFrames(t, gr, 3, 2, 7, 7, o), g, noisyFrames(3, 2, 7, 7))
					} else {
						try(full, newImage(t, gr, 7, 7, o), g, noisy(3, 7, 7))
					}
				}
			}
		}
	}
	if moved < 50 {
		t.Errorf("%d elements moved floats", moved)
	}
}
