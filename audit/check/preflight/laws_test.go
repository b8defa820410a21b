package preflight

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Numbers are counted by their size, whole or not, small or not.
func TestTally(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-4, 4), rapid.Map(rapid.IntRange(-9, 9), func(k int) float64 {
		return float64(k)
	}), rapid.Just(1e300), rapid.Just(math.Inf(-1)))
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(number, 0, 20).Draw(rt, "list")
		x := number.Draw(rt, "x")
		want := int32(0)
		for _, y := range list {
			if math.Abs(y) == math.Abs(x) {
				want++
			}
		}
		if got := tallyOf(list).of(x); got != want {
			rt.Errorf("%g is counted %d times in %v, want %d", x, got, list, want)
		}
	})
}

// once is an action that moves everything by the element the first time, and the other way whenever it did already.
type once struct {
	*action.Color
	g group.Element
}

func (a once) Apply(g group.Element, v space.Value) (space.Value, error) {
	if x := v.Numbers()[0]; x < 0.45 || x > 0.5 {
		g = a.g
	}
	return a.Color.Apply(g, v)
}

// Colors that are cut at the ends of their range are a representation away from them: the law is asked there.
func TestLawsOfColors(t *testing.T) {
	for _, name := range []string{"Brightness", "Contrast", "Gamma", "Hue"} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, top := range []float64{1, 255} {
			like := space.NewImage(3, 8, 8)
			a, err := action.NewColor(g, space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{3, 8, 8}},
				action.Options{Range: []float64{0, top}})
			if err != nil {
				t.Fatal(err)
			}
			var elements []audit.Element
			for _, x := range []float64{-0.25, -0.1, 0.1, 0.25} {
				e := group.Element{x}
				switch name {
				case "Hue":
					e[0] *= 360
				case "Contrast", "Gamma":
					e[0] = elementary.Exp(2 * x)
				}
				elements = append(elements, audit.Element{G: e, Label: audit.Label(g, e)})
			}
			if law, r, at, err := lawOf(a, like, elements); law != "" || err != nil {
				t.Errorf("%s to %g: %s at %s by %g, %v", name, top, law, at, r, err)
			}
			if top > 1 {
				continue
			}
			if law, _, _, err := lawOf(once{a, elements[0].G}, like, elements); law == "" || err != nil {
				t.Errorf("%s: an action that is none passes, %v", name, err)
			}
		}
	}
}
