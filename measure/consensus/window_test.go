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
)

// A perfect detector sees objects through a window that moves over a larger picture, cut off where the window ends. Its consensus is
// where the objects are: whole, although many elements see a part of them only; the object of interest is not weak, and the metrics
// against the consensus are those against the truth.
func TestWindows(t *testing.T) {
	g, err := group.Parse("T(2)")
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
		picture := &space.Boxes{H: 128, W: 128, Items: []space.Box{{X1: 64 - w, Y1: 64 - h, X2: 64 + w, Y2: 64 + h, Score: 1, Label: 1}}}
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
		if !ok || got.Items[0] != key || r.Weak || r.Share != 1 || r.Misses != 0 || r.Contributing+r.Cut != n*n || r.Label != 1 {
			t.Fatalf("%+v of %+v, want %+v", r, got, key)
		}
		for i, b := range got.Items[1:] {
			known := false
			for _, a := range picture.Items {
				known = known || b == space.Box{X1: a.X1 - 32, Y1: a.Y1 - 32, X2: a.X2 - 32, Y2: a.Y2 - 32, Score: 1, Label: 2}
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
