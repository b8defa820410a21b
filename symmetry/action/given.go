package action

import (
	"errors"
	"fmt"

	"nero/data/space"
	"nero/symmetry/group"
)

// Views exchanges a value for another one of the same object that somebody has listed. Nothing is computed, so every
// element is exact.
type Views struct{ g group.Group }

// NewViews is the action of given views. It covers sets without laws alone.
func NewViews(g group.Group) (*Views, error) {
	if !group.IsLawless(g) {
		return nil, fmt.Errorf("%w: %s is a group, and its elements are no views that are listed",
			errors.ErrUnsupported, g.Name())
	}
	return &Views{g}, nil
}

// Group is the list of views.
func (v *Views) Group() group.Group { return v.g }

// Exact is true: no view is made of another one.
func (v *Views) Exact(group.Element) bool { return true }

// Apply is a view of the object. A value of which no views are known stays itself at the first.
func (v *Views) Apply(g group.Element, x space.Value) (space.Value, error) {
	l, ok := x.(space.Listed)
	if !ok {
		return nil, fmt.Errorf("%w: of %s no views are listed", errors.ErrUnsupported, x.Form())
	}
	if len(g) != 1 || !(g[0] >= 0) || g[0] != float64(int(g[0])) {
		return nil, fmt.Errorf("%v is no view of %s", []float64(g), v.g.Name())
	}
	k, views := int(g[0]), l.Listed()
	switch {
	case k < len(views):
		return views[k].Clone(), nil
	case k == 0:
		return x.Clone(), nil
	}
	return nil, fmt.Errorf("%w: nobody has listed views of this %s", errors.ErrUnsupported, x.Kind())
}
