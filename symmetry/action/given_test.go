package action_test

import (
	"errors"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// two is a list of two views.
type two struct{ group.Group }

func (two) Lawless() bool { return true }

func (two) Name() string { return "given" }

func TestViews(t *testing.T) {
	if _, err := action.NewViews(group.Trivial()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a group is taken for a list: %v", err)
	}
	a, err := action.NewViews(two{group.Trivial()})
	if err != nil {
		t.Fatal(err)
	}
	x := &space.Image{C: 1, H: 1, W: 2, Pix: []float64{1, 2}}
	x.Views = []*space.Image{{C: 1, H: 1, W: 2, Pix: []float64{1, 2}}, {C: 1, H: 1, W: 2, Pix: []float64{3, 4}}}
	for k, want := range []float64{1, 3} {
		y, err := a.Apply(group.Element{float64(k)}, x)
		if err != nil || y.Numbers()[0] != want || !a.Exact(group.Element{float64(k)}) {
			t.Fatalf("view %d: %v %v", k, y, err)
		}
		y.Numbers()[0] = 9 // the list stays as it was
		if x.Views[k].Pix[0] != want {
			t.Errorf("view %d is shared", k)
		}
	}
	alone := &space.Image{C: 1, H: 1, W: 1, Pix: []float64{5}}
	if y, err := a.Apply(group.Element{0}, alone); err != nil || y.Numbers()[0] != 5 {
		t.Errorf("a picture alone at the first view: %v", err)
	}
	if _, err := a.Apply(group.Element{1}, alone); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a picture alone at the second: %v", err)
	}
	words := &space.Text{Content: "a", Views: []*space.Text{{Content: "a"}, {Content: "b"}}}
	if y, err := a.Apply(group.Element{1}, words); err != nil || y.Numbers()[0] != 'b' {
		t.Errorf("a text in other words: %v, %v", y, err)
	}
	numbers := &space.Tensor{
		Shape: []int{1}, Views: []*space.Tensor{{Shape: []int{1}, Val: []float64{2}}},
		Val: []float64{2},
	}
	if y, err := a.Apply(group.Element{0}, numbers); err != nil || y.Numbers()[0] != 2 {
		t.Errorf("an array: %v, %v", y, err)
	}
	if _, err := a.Apply(group.Element{1}, numbers); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a second view of one: %v", err)
	}
	if _, err := a.Apply(group.Element{0}, &space.Scores{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("scores: %v", err)
	}
	if _, err := a.Apply(group.Element{2}, x); err == nil {
		t.Error("a third view of two")
	}
}
