package consensus_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/measure/consensus"
	"nero/measure/metric"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// A perfect detector sees objects through a window that moves over a larger picture, cut off where the window ends. Its
// consensus is where the objects are: whole, although many elements see a part of them only; the object of interest is
// not weak, and the metrics against the consensus are those against the truth.
func TestWindows(t *testing.T) {
	g, err := catalog.Parse("T(2)")
	if err != nil {
		t.Fatal(err)
	}
	const size = 64
	o := action.Options{Window: []int{size, size}}
	spec := space.Spec{Kind: space.KindBoxes, Shape: []int{-1}}
	back, err := action.NewBoxes(g, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	target, err := action.NewTarget(g, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		// The key object around the middle of a picture of 128 x 128, others wherever they may be.
		w, h := float64(rapid.IntRange(8, 30).Draw(t, "w")), float64(rapid.IntRange(8, 30).Draw(t, "h"))
		picture := &space.Boxes{
			H: 128, W: 128,
			Items: []space.Box{{X1: 64 - w, Y1: 64 - h, X2: 64 + w, Y2: 64 + h, Score: 1, Label: 1}},
		}
		for range rapid.IntRange(0, 3).Draw(t, "others") {
			x, y := float64(rapid.IntRange(0, 100).Draw(t, "x")), float64(rapid.IntRange(0, 100).Draw(t, "y"))
			b := space.Box{X1: x, Y1: y, X2: x + 14, Y2: y + 14, Score: 1, Label: 2}
			apart := true
			for _, a := range picture.Items {
				apart = apart && metric.IoU(a, b) == 0
			}
			if apart {
				picture.Items = append(picture.Items, b)
			}
		}
		apply := func(a action.Action, e group.Element, v space.Value) *space.Boxes {
			out, err := a.Apply(e, v)
			if err != nil {
				t.Fatal(err)
			}
			b, ok := out.(*space.Boxes)
			if !ok {
				t.Fatalf("%T", out)
			}
			return b
		}
		const step, n = 8, 9
		var answers []*space.Boxes
		var elements []group.Element
		atIdentity := apply(target, g.Identity(), picture)
		acc, err := consensus.New(space.KindBoxes, n*n, consensus.Options{Key: &atIdentity.Items[0]})
		if err != nil {
			t.Fatal(err)
		}
		for k := range n * n {
			e := group.Element{float64(k%n-n/2) * step, float64(k/n-n/2) * step}
			seen := apply(target, e, picture) // what is to be seen is what is found
			for i := range seen.Items {
				seen.Items[i].Cut = false // a model does not say so
			}
			pulled := apply(back, g.Inv(e), seen)
			if err := acc.Add(consensus.Answer{Index: k, Weight: 1, Value: pulled, Window: pulled.Seen}); err != nil {
				t.Fatal(err)
			}
			answers, elements = append(answers, seen), append(elements, e)
		}
		r := acc.Result()
		got, ok := r.Value.(*space.Boxes)
		key := atIdentity.Items[0]
		key.Cut = false
		if !ok || got.Items[0] != key || r.Weak || r.Share != 1 || r.Misses != 0 || r.Contributing+r.Cut != n*n ||
			r.Label != 1 {
			t.Fatalf("%+v of %+v, want %+v", r, got, key)
		}
		for i, b := range got.Items[1:] {
			known := false
			for _, a := range picture.Items {
				known = known || b == space.Box{
					X1: a.X1 - 32, Y1: a.Y1 - 32, X2: a.X2 - 32, Y2: a.Y2 - 32, Score: 1,
					Label: 2,
				}
			}
			if !known || r.Objects[1+i].Misses != 0 {
				t.Fatalf("%+v is no object of %+v; %+v", b, picture, r.Objects[1+i])
			}
		}
		for k, e := range elements {
			truth, own := apply(target, e, picture), apply(back, e, got).Clip()
			for _, name := range []string{"conf_iou", "iou", "box_confidence", "center_error", "size_error"} {
				m, err := metric.Find(name)
				if err != nil {
					t.Fatal(err)
				}
				against, err := metric.Against(m, metric.Consensus)
				if err != nil {
					t.Fatal(err)
				}
				x := m.Measure(metric.Case{At: answers[k], Truth: truth})
				y := against.Measure(metric.Case{At: answers[k], Got: apply(back, g.Inv(e), answers[k]), Truth: own})
				if x != y || math.IsNaN(x) {
					t.Fatalf("element %v: %s = %g, against the consensus %g", e, name, x, y)
				}
			}
			set, err := metric.Find("set_iou@consensus")
			if err != nil {
				t.Fatal(err)
			}
			v := set.Measure(metric.Case{At: answers[k], Got: apply(back, g.Inv(e), answers[k]), Truth: own})
			if v < 1 && len(got.Items) == len(picture.Items) {
				t.Fatalf("element %v: a perfect detector agrees with its consensus by %g", e, v)
			}
		}
	})
}

// A perfect detector sees objects through a window that turns over a larger picture. What stood in a corner at the
// identity is out of sight at 45 degrees, and nobody has missed it, whether boxes turn or become their envelopes.
func TestTurnedWindows(t *testing.T) {
	g, err := catalog.Parse("SO(2)")
	if err != nil {
		t.Fatal(err)
	}
	const size, near, far = 64, 20, 46
	spec := space.Spec{Kind: space.KindBoxes, Shape: []int{-1}}
	object := func(x, y float64) space.Box { return space.Box{X1: x - 4, Y1: y - 4, X2: x + 4, Y2: y + 4, Score: 1} }
	// In the middle, in two corners of the window, and beside it, where only the turned window reaches.
	world := &space.Boxes{H: 128, W: 128, Items: []space.Box{
		object(64, 64), object(64-near, 64-near),
		object(64+near, 64-near), object(64+far-8, 64),
	}}
	for _, oriented := range []bool{false, true} {
		o := action.Options{Window: []int{size, size}, Oriented: oriented}
		target, err := action.NewTarget(g, spec, o)
		if err != nil {
			t.Fatal(err)
		}
		out, err := action.NewBoxes(g, spec, o)
		if err != nil {
			t.Fatal(err)
		}
		answer := func(angle float64) *space.Boxes { // what is seen whole, carried back
			v, err := target.Apply(group.Element{angle}, world)
			if err != nil {
				t.Fatal(err)
			}
			set := &space.Boxes{H: size, W: size}
			seen, ok := v.(*space.Boxes)
			if !ok {
				t.Fatalf("a target of type %T", v)
			}
			for _, b := range seen.Items {
				if !b.Cut {
					set.Items = append(set.Items, b)
				}
			}
			back, err := out.Apply(g.Inv(group.Element{angle}), set)
			if err != nil {
				t.Fatal(err)
			}
			if seen, ok = back.(*space.Boxes); !ok {
				t.Fatalf("boxes became %T", back)
			}
			return seen
		}
		still := answer(0)
		acc, err := consensus.New(space.KindBoxes, 8, consensus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 8 {
			turned := answer(45 * float64(k))
			d := metric.Between(turned, still)
			if d.Matched < 1 || d.Missed != 0 || d.Extra != 0 || k%2 != 0 && d.Left < 2 || oriented &&
				!(d.Distance <= 1e-12) {
				t.Errorf("oriented %v, %d degrees: %+v", oriented, 45*k, d)
			}
			if err := acc.Add(consensus.Answer{Index: k, Weight: 1, Value: turned, Window: turned.Seen}); err != nil {
				t.Fatal(err)
			}
		}
		r := acc.Result()
		if oriented && (len(r.Objects) < 3 || r.Objects[0].Contributing != 8) {
			t.Errorf("objects %+v", r.Objects)
		}
		for k, x := range r.Objects {
			if x.Misses != 0 || x.Share != 1 {
				t.Errorf("oriented %v: object %d: %+v", oriented, k, x)
			}
		}
	}
}

// Boxes and windows may be turned: whether one holds the other does not change when both turn about one point.
func TestWithinTurns(t *testing.T) {
	for _, x := range []struct {
		box  space.Box
		want bool
	}{
		{space.Box{X1: 12, Y1: 22, X2: 48, Y2: 28}, true},
		{space.Box{X1: 11.9, Y1: 22, X2: 48, Y2: 28}, false},
		{space.Box{X1: 12, Y1: 22, X2: 48, Y2: 28.1}, false},
		{space.Box{X1: 28, Y1: 4, X2: 32, Y2: 46}, false},
		{space.Box{X1: 0, Y1: 0, X2: 80, Y2: 80}, false},
	} {
		window := space.Box{X1: 10, Y1: 20, X2: 50, Y2: 30}
		if metric.Within(x.box, window) != x.want {
			t.Errorf("%+v: want %v", x.box, x.want)
		}
		for _, angle := range []float64{-80, -45, -10, 1e-9, 30, 45, 90} {
			turn := func(b space.Box) space.Box {
				sin, cos := math.Sincos(angle * math.Pi / 180)
				cx, cy := b.Center()
				x, y := cos*cx+sin*cy, -sin*cx+cos*cy // counter-clockwise about the corner, y down
				w, h := b.X2-b.X1, b.Y2-b.Y1
				return space.Box{X1: x - w/2, Y1: y - h/2, X2: x + w/2, Y2: y + h/2, Angle: angle}
			}
			b := x.box
			if x.want { // rounding must not decide
				b.X1, b.Y1, b.X2, b.Y2 = b.X1+1e-6, b.Y1+1e-6, b.X2-1e-6, b.Y2-1e-6
			}
			if metric.Within(turn(b), turn(window)) != x.want {
				t.Errorf("%+v turned by %g degrees: want %v", b, angle, x.want)
			}
		}
	}
	if metric.Within(space.Box{X1: math.NaN(), X2: 20, Y1: 22, Y2: 28, Angle: 3}, space.Box{X2: 100, Y2: 100}) {
		t.Error("a box with a NaN is inside")
	}
}
