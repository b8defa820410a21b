package metric

import (
	"math"
	"testing"

	"nero/data/space"

	"pgregory.net/rapid"
)

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12
}

func in(w, h float64, items ...space.Box) *space.Boxes { return &space.Boxes{H: h, W: w, Items: items} }

// TestBetweenByHand compares with numbers worked out by hand: two squares of side 10 that share half of themselves have
// IoU 1/3.
func TestBetweenByHand(t *testing.T) {
	nan := math.NaN()
	a := box(20, 20, 30, 30, 0.9, 0)
	half := box(25, 20, 35, 30, 0.6, 0) // IoU with a: 50 / 150
	wide := box(20, 20, 40, 30, 0.9, 0) // IoU with a: 100 / 200, areas 1 to 2
	far := box(70, 70, 80, 80, 0.5, 0)
	seen := func(b *space.Boxes, x1, y1, x2, y2 float64) *space.Boxes {
		b.Seen = &space.Box{X1: x1, Y1: y1, X2: x2, Y2: y2}
		return b
	}
	for name, c := range map[string]struct {
		a, b *space.Boxes
		want Apart
	}{
		"both empty": {in(100, 100), in(100, 100), Apart{Center: nan, Size: nan, Score: nan}},
		"equal":      {in(100, 100, a, far), in(100, 100, a, far), Apart{Matched: 2}},
		"half": {
			in(100, 100, a), in(100, 100, half),
			Apart{Distance: 1 - 0.6/3/0.9, Matched: 1, Center: 5, Score: 0.3},
		},
		"wide": {
			in(100, 100, a), in(100, 100, wide),
			Apart{Distance: 0.5, Matched: 1, Center: 5, Size: math.Ln2 / 2},
		},
		"missed": {in(100, 100), in(100, 100, a), Apart{
			Distance: 1, Missed: 1, Center: nan, Size: nan, Score: nan,
			Lost: 0.9,
		}},
		"extra": {in(100, 100, a, far), in(100, 100, a), Apart{Distance: 1 - 0.9/1.4, Matched: 1, Extra: 1}},
		"other class": {
			in(100, 100, box(20, 20, 30, 30, 0.9, 1)), in(100, 100, a),
			Apart{Distance: 1, Extra: 1, Missed: 1, Center: nan, Size: nan, Score: nan, Lost: 0.9},
		},
		"score only": {
			in(100, 100, a), in(100, 100, box(20, 20, 30, 30, 0.45, 0)),
			Apart{Distance: 0.5, Matched: 1, Score: 0.45},
		},
		"window cuts it": {
			seen(in(100, 100, a), 0, 0, 100, 100), seen(in(100, 100, half), 26, 0, 126, 100),
			Apart{Left: 2, Center: nan, Size: nan, Score: nan},
		},
		"window has not seen it": {
			seen(in(100, 100, a, far), 0, 0, 100, 100), seen(in(100, 100, a), -40, 0, 60, 100),
			Apart{Matched: 1, Left: 1},
		},
		"window has seen it": {
			seen(in(100, 100, a, far), 0, 0, 100, 100), seen(in(100, 100, a), 10, 10, 110, 110),
			Apart{Distance: 1 - 0.9/1.4, Matched: 1, Extra: 1},
		},
	} {
		got := Between(c.a, c.b)
		w := c.want
		if !near(got.Distance, w.Distance) || got.Matched != w.Matched || got.Extra != w.Extra ||
			got.Missed != w.Missed || got.Left != w.Left ||
			!near(got.Center, w.Center) || !near(got.Size, w.Size) || !near(got.Score, w.Score) ||
			!near(got.Lost, w.Lost) || len(got.Pairs) != w.Matched {
			t.Errorf("%s: got %+v, want %+v", name, got, w)
		}
	}
	if d := Between(in(9, 9, box(0, 0, nan, 1, 1, 0)), in(9, 9)); !math.IsNaN(d.Distance) {
		t.Errorf("a box that is not finite is %g away", d.Distance)
	}
}

// TestBetweenLaws: a distance is 0 of a set from itself, symmetric, within [0, 1], and the same after both sets moved.
func TestBetweenLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := func(name string) *space.Boxes {
			b := in(100, 100)
			for range rapid.IntRange(0, 5).Draw(t, name) {
				x, y := rapid.Float64Range(0, 80).Draw(t, "x"), rapid.Float64Range(0, 80).Draw(t, "y")
				w, h := rapid.Float64Range(1, 20).Draw(t, "w"), rapid.Float64Range(1, 20).Draw(t, "h")
				b.Items = append(b.Items, box(x, y, x+w, y+h, rapid.Float64Range(0.01, 1).Draw(t, "score"),
					rapid.IntRange(0, 1).Draw(t, "label")))
			}
			return b
		}
		a, b := set("a"), set("b")
		if d := Between(a, a); !(d.Distance <= 1e-12) || d.Matched != len(a.Items) {
			t.Fatalf("a set is %g from itself, %d matched of %d", d.Distance, d.Matched, len(a.Items))
		}
		d, e := Between(a, b), Between(b, a)
		if !(math.Abs(d.Distance-e.Distance) <= 1e-9) || d.Extra != e.Missed || d.Missed != e.Extra {
			t.Fatalf("%+v and the other way %+v", d, e)
		}
		if !(d.Distance >= 0 && d.Distance <= 1) {
			t.Fatalf("the distance is %g", d.Distance)
		}
		if len(a.Items)+len(b.Items) != 2*d.Matched+d.Extra+d.Missed+d.Left {
			t.Fatalf("boxes do not add up: %+v", d)
		}
		moved := func(s *space.Boxes) *space.Boxes {
			o := in(100, 100)
			for _, x := range s.Items {
				x.X1, x.X2, x.Y1, x.Y2 = x.X1+7, x.X2+7, x.Y1-3, x.Y2-3
				o.Items = append(o.Items, x)
			}
			return o
		}
		if f := Between(moved(a), moved(b)); !(math.Abs(f.Distance-d.Distance) <= 1e-9) {
			t.Fatalf("moved together they are %g apart, were %g", f.Distance, d.Distance)
		}
	})
}
