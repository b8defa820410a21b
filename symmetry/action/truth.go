package action

import (
	"slices"

	"nero/data/space"
	"nero/symmetry/group"
)

// newTruth moves masks that are targets: pixels that come from outside the picture are void.
func newTruth(g group.Group, s space.Spec, o Options) (Action, error) {
	if _, torus := g.(group.Torus); !torus && o.Border != Circular {
		o.Border = Zero
	}
	return some(NewMask(g, s, o, space.Void))
}

// regional is the action on masks that are targets of which only a region counts: the rest is void.
type regional struct {
	Action
	region Region
}

// Apply returns the moved mask, void outside the region.
func (a *regional) Apply(g group.Element, v space.Value) (space.Value, error) {
	y, err := a.Action.Apply(g, v)
	if err != nil {
		return nil, err
	}
	x, err := asMask(y)
	if err != nil {
		return nil, err
	}
	m := &space.Mask{H: x.H, W: x.W, Label: slices.Clone(x.Label)}
	for i := range m.Label {
		if a.region == Disc && !inDisc(i/m.W, i%m.W, m.H, m.W) {
			m.Label[i] = space.Void
		}
	}
	return m, nil
}
