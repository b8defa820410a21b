package view

import (
	"fmt"
	"math"
	"slices"

	"nero/run/fold"
)

// Angle puts the angle of the rotation to the right, 0 to 180 degrees, and the value upward; improper elements apart.
var Angle = &Layout{
	Name: "angle",
	Doc: "Angle plots: the angle of the rotation to the right, the value upward, one mark per element. The line is " +
		"the median of the elements within 15°, the thinner one the worst of them; hollow marks and thin lines are " +
		"inverted elements.",
	Takes: func(o Orbit) bool {
		_, ok := SpaceAxesOf(o.Chart)
		return ok
	},
	At: turned,
	Panels: func(_ Orbit, f *Figure, p Panel, _ bool) {
		p.Bins = bins(p.Series, f.worse)
		f.Panels = append(f.Panels, p)
	},
	Scales: func(_ Orbit, f *Figure) {
		f.X = &Scale{Label: "angle of the rotation in °", Hi: 180}
		for d := 0.; d <= 180; d += 45 {
			f.X.Ticks = append(f.X.Ticks, Tick{At: d, Label: fmt.Sprintf("%g°", d)})
		}
	},
	Joined: true, Binned: true, Nameless: true,
}

// binWidth is the part of the range of angles, in degrees, over which the points of Angle are summed up.
const binWidth = 15

// bins sum up the values of every series by the angle of the element.
func bins(series []Series, worse func(x, y float64) bool) []Bin {
	var out []Bin
	for i, s := range series {
		for lo := 0.; lo < 180; lo += binWidth {
			var v []float64
			for _, q := range s.Points {
				in := q.X >= lo && q.X < lo+binWidth || lo+binWidth >= 180 && q.X >= 180
				if x := float64(q.Value); in && !math.IsNaN(x) {
					v = append(v, x)
				}
			}
			if len(v) == 0 {
				continue
			}
			slices.Sort(v)
			b := Bin{
				Series: i, Lo: lo, Hi: lo + binWidth, N: len(v),
				Median: fold.Number((v[(len(v)-1)/2] + v[len(v)/2]) / 2), Worst: fold.Number(v[0]),
			}
			if last := v[len(v)-1]; worse(last, v[0]) {
				b.Worst = fold.Number(last)
			}
			out = append(out, b)
		}
	}
	return out
}
