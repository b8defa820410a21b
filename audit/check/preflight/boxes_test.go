package preflight

import (
	"math"
	"slices"
	"testing"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// crooked is an action on boxes that shifts every one a little more than it should.
type crooked struct{ *action.Boxes }

func (c crooked) Apply(g group.Element, v space.Value) (space.Value, error) {
	w, err := c.Boxes.Apply(g, v)
	b, ok := w.(*space.Boxes)
	if err != nil || !ok {
		return w, err
	}
	o := &space.Boxes{H: b.H, W: b.W, Items: slices.Clone(b.Items), Seen: b.Seen}
	for i := range o.Items {
		o.Items[i].X1 += 0.01 * math.Abs(g[0])
		o.Items[i].X2 += 0.01 * math.Abs(g[0])
	}
	return o, nil
}

// TestLawsOfBoxes: the actions of the library keep the laws, envelopes are not held against them, and a crooked action
// is found.
func TestLawsOfBoxes(t *testing.T) {
	for _, c := range []struct {
		group    string
		o        action.Options
		elements []group.Element
	}{
		{"C4", action.Options{}, []group.Element{{90}, {180}, {270}}},
		{"D4", action.Options{}, []group.Element{{90, 1}, {180, 0}, {0, 1}}},
		{"SO(2)", action.Options{}, []group.Element{{17}, {90}, {123}}},
		{"SO(2)", action.Options{Oriented: true}, []group.Element{{17}, {90}, {123}, {200.5}}},
		{"T(2,Z)", action.Options{Window: []int{64, 64}}, []group.Element{{3, 0}, {-7, 5}}},
	} {
		g, err := catalog.Parse(c.group)
		if err != nil {
			t.Fatal(err)
		}
		a, err := action.NewBoxes(g, space.Spec{Kind: space.KindBoxes}, c.o)
		if err != nil {
			t.Fatal(err)
		}
		var elements []audit.Element
		for _, e := range c.elements {
			elements = append(elements, audit.Element{G: e, Label: audit.Label(g, e)})
		}
		like := &space.Boxes{H: 64, W: 64}
		if law, r, at, err := lawOf(a, like, elements); err != nil || law != "" {
			t.Errorf("%s: breaks %q by %g at %s: %v", c.group, law, r, at, err)
		}
		if law, r, _, err := lawOf(crooked{a}, like, elements); err != nil || law == "" || !(r > inexact) ||
			math.IsInf(r, 1) {
			t.Errorf("%s: a crooked action passes: %q, %g, %v", c.group, law, r, err)
		}
	}
}
