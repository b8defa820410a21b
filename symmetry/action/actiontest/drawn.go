package actiontest

import (
	"errors"
	"fmt"
	"math"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/phantom"
	"nero/symmetry/group"
)

// OneWay is the relative L2 difference, inside the disc of 0.75 of the half side, between a phantom that a moves by g
// and the phantom drawn at the coordinates that g moves: the error of the action alone. The group must act on the
// plane.
func OneWay(a action.Action, p phantom.Phantom, g group.Element, h, w int) (float64, error) {
	pl, ok := a.Group().(group.Planar)
	if !ok {
		return math.NaN(), fmt.Errorf("%s does not act on the plane: %w", a.Group().Name(), errors.ErrUnsupported)
	}
	m, t := pl.Affine(g)
	moved, err := image(a, g, phantom.Draw(h, w, p))
	if err != nil {
		return math.NaN(), err
	}
	return phantom.Difference(moved, phantom.Render(h, w, m, t, p), phantom.Disc(h, w, 0.75)), nil
}

// RoundTrip is the relative L2 difference inside the same disc between a phantom and the phantom moved by g and back.
// It is no bound on the one-way error: kernels that blur do so twice, and errors of others cancel.
func RoundTrip(a action.Action, p phantom.Phantom, g group.Element, h, w int) (float64, error) {
	x := phantom.Draw(h, w, p)
	there, err := image(a, g, x)
	if err != nil {
		return math.NaN(), err
	}
	back, err := image(a, a.Group().Inv(g), there)
	if err != nil {
		return math.NaN(), err
	}
	return phantom.Difference(back, x, phantom.Disc(h, w, 0.75)), nil
}

// Drawn tries that an action on pictures moves phantoms to where the group's own map says: the one-way error of each is
// at most the floor. It finds a turn about the wrong centre, by the wrong sign or with the axes swapped, at every
// angle.
func Drawn(a action.Action, ps []phantom.Phantom, elements []group.Element, h, w int, floor float64) error {
	var errs []error
	for _, g := range elements {
		for _, p := range ps {
			d, err := OneWay(a, p, g, h, w)
			if err == nil && !(d <= floor) {
				err = fmt.Errorf("element %v moves the phantom %s elsewhere than its map: relative difference %.3g, "+
					"floor %.3g", g, p.Name, d, floor)
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func image(a action.Action, g group.Element, x *space.Image) (*space.Image, error) {
	v, err := a.Apply(g, x)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*space.Image)
	if !ok {
		return nil, fmt.Errorf("element %v turns a picture into %s", g, shape(v))
	}
	return o, nil
}
