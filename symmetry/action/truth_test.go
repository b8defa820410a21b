package action_test

import (
	"slices"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Of masks that are targets, what comes from outside the picture is void, whatever the border rule shows a model there;
// predictions keep their label 0. What moves by index stays what it is.
func TestTruthIsVoidOutside(t *testing.T) {
	const v = space.Void
	x := &space.Mask{H: 2, W: 3, Label: []int32{1, 2, 3, 4, 5, 6}}
	right := group.Element{1, 0}
	for _, c := range []struct {
		name string
		g    group.Group
		at   group.Element
		o    action.Options
		want []int32
	}{
		{"zero", catalog.T2(), right, action.Options{Border: action.Zero}, []int32{v, 1, 2, v, 4, 5}},
		{"usual", catalog.T2(), right, action.Options{}, []int32{v, 1, 2, v, 4, 5}},
		{"edge", catalog.T2(), right, action.Options{Border: action.Edge}, []int32{v, 1, 2, v, 4, 5}},
		{"reflect", catalog.T2(), right, action.Options{Border: action.Reflect}, []int32{v, 1, 2, v, 4, 5}},
		{"circular", catalog.T2(), right, action.Options{Border: action.Circular}, []int32{3, 1, 2, 6, 4, 5}},
		{"roll", parse(t, "Roll(2,3)"), right, action.Options{}, []int32{3, 1, 2, 6, 4, 5}},
		{"half turn", parse(t, "C2"), group.Element{180}, action.Options{}, []int32{6, 5, 4, 3, 2, 1}},
		{"mirror", parse(t, "D2"), group.Element{0, 1}, action.Options{}, nil},
	} {
		a := newTarget(t, c.g, space.Spec{Kind: space.KindMask, Shape: []int{2, 3}}, c.o)
		got := as[*space.Mask](a.Apply(c.at, x))
		if c.want == nil {
			if slices.Contains(got.Label, v) {
				t.Errorf("%s: %v, want no void", c.name, got.Label)
			}
			continue
		}
		if !slices.Equal(got.Label, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got.Label, c.want)
		}
	}
	free, err := action.NewMask(catalog.T2(), kindSpec(space.KindMask), action.Options{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := as[*space.Mask](free.Apply(right, x)); !slices.Equal(got.Label, []int32{0, 1, 2, 0, 4, 5}) {
		t.Errorf("a prediction became %v", got.Label)
	}
	// Of 5 x 5 pixels the disc leaves the four corners out.
	all := &space.Mask{H: 5, W: 5, Label: slices.Repeat([]int32{7}, 25)}
	got := as[*space.Mask](newTarget(t, parse(t, "C4"), space.Spec{Kind: space.KindMask, Shape: []int{5, 5}},
		action.Options{Region: action.Disc}).Apply(group.Element{90}, all))
	for i, l := range got.Label {
		corner := (i/5 == 0 || i/5 == 4) && (i%5 == 0 || i%5 == 4)
		if corner != (l == v) || !corner && l != 7 {
			t.Errorf("pixel %d of the disc is %d", i, l)
		}
	}
	if slices.Contains(all.Label, v) {
		t.Error("the target itself was changed")
	}
}
