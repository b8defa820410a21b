package shelf

import (
	"math"
	"testing"

	"nero/data/space"
	"nero/run/probe"
)

// What inputs show is known of pictures that were drawn for it; a box of the data goes before what stands out.
func TestLooksOfInputs(t *testing.T) {
	picture := space.NewImage(1, 4, 8)
	for y := 1; y < 3; y++ {
		for x := 4; x < 6; x++ {
			picture.Pix[y*8+x] = 1
		}
	}
	boxed := &space.Boxes{H: 4, W: 8, Items: []space.Box{{X1: 0, Y1: 0, X2: 4, Y2: 2}}}
	set := &space.Rows{N: 5, W: 3, Val: make([]float64, 15)}
	named := map[string]func(*probe.Input) float64{}
	for _, l := range lookList() {
		named[l.name] = l.of
	}
	nan := math.NaN()
	for _, c := range []struct {
		what string
		in   *probe.Input
		want map[string]float64
	}{
		{"a bright square", &probe.Input{Value: picture, Range: [2]float64{0, 1}}, map[string]float64{
			"brightness": 4. / 32, "contrast": math.Sqrt(4. / 32 * 28 / 32), "size": 4. / 32,
			"place from the left": 5. / 8, "place from the top": 2. / 4, "members": nan,
		}},
		{
			"the same with a box elsewhere", &probe.Input{Value: picture, Target: boxed, Range: [2]float64{0, 1}},
			map[string]float64{"size": 8. / 32, "place from the left": 2. / 8, "place from the top": 1. / 4},
		},
		{"an empty picture", &probe.Input{Value: space.NewImage(1, 4, 8), Range: [2]float64{0, 1}}, map[string]float64{
			"brightness": 0, "size": 0, "place from the left": nan,
		}},
		{"a set", &probe.Input{Value: set}, map[string]float64{"brightness": nan, "size": nan, "members": 5}},
	} {
		for name, want := range c.want {
			got := named[name](c.in)
			if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-12 {
				t.Errorf("%s, %s: %g, want %g", c.what, name, got, want)
			}
		}
	}
}
