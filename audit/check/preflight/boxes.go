package preflight

import (
	"math"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// inexact is the largest residual of coordinates, relative to the frame, at which an action on boxes keeps a law:
// nothing is resampled, so that only rounding is left.
const inexact = 1e-9

// encloser is an action on boxes that replaces some of them by their envelopes.
type encloser interface {
	Encloses(g group.Element) bool
}

// lawOfBoxes is [lawOf] for actions on boxes: coordinates are compared as they are. Elements that replace boxes by
// their envelopes do not compose and say so themselves; they are left out.
func lawOfBoxes(a action.Action, like *space.Boxes, elements []audit.Element) (law string, residual float64, at string,
	err error,
) {
	G := a.Group()
	v := probeBoxes(like.H, like.W)
	whole := func(gs ...group.Element) bool {
		e, ok := a.(encloser)
		for _, g := range gs {
			if ok && e.Encloses(g) {
				return false
			}
		}
		return true
	}
	apply := func(gs ...group.Element) (*space.Boxes, error) {
		var x space.Value = v
		for _, g := range gs {
			if x, err = a.Apply(g, x); err != nil {
				return nil, err
			}
		}
		b, ok := x.(*space.Boxes)
		if !ok {
			return nil, scale.ErrForm
		}
		return b, nil
	}
	if b, err := apply(G.Identity()); err != nil {
		return "", 0, "", err
	} else if r := moved(b, v); !(r <= inexact) {
		return "ρ(e) = 1", r, audit.Label(G, G.Identity()), nil
	}
	for i, g := range elements {
		if inv := G.Inv(g.G); whole(g.G, inv) {
			b, err := apply(g.G, inv)
			if err != nil {
				return "", 0, "", err
			}
			if r := moved(b, v); !(r <= inexact) {
				return "ρ(g⁻¹)ρ(g) = 1", r, g.Label, nil
			}
		}
		h := elements[(i+1)%len(elements)]
		gh := G.Mul(g.G, h.G)
		if !whole(g.G, h.G, gh) {
			continue
		}
		b, err := apply(h.G, g.G)
		if err != nil {
			return "", 0, "", err
		}
		want, err := apply(gh)
		if err != nil {
			return "", 0, "", err
		}
		if r := moved(b, want); !(r <= inexact) {
			return "ρ(g)ρ(h) = ρ(gh)", r, g.Label + " after " + h.Label, nil
		}
	}
	return "", 0, "", nil
}

// probeBoxes are three boxes without any symmetry in a frame, well away from its edges.
func probeBoxes(h, w float64) *space.Boxes {
	box := func(x, y, bw, bh, score float64, label int) space.Box {
		return space.Box{
			X1: (x - bw/2) * w, Y1: (y - bh/2) * h, X2: (x + bw/2) * w, Y2: (y + bh/2) * h, Score: score,
			Label: label,
		}
	}
	return &space.Boxes{H: h, W: w, Items: []space.Box{
		box(0.37, 0.41, 0.11, 0.23, 0.9, 0), box(0.63, 0.33, 0.19, 0.07, 0.7, 1), box(0.29, 0.71, 0.05, 0.13, 0.5, 0),
	}}
}

// moved is the largest distance of corners of two lists of boxes, in the same order, relative to the frame; infinite
// where something else differs. A box that is turned by a quarter has other corners and the same area as one with its
// sides exchanged.
func moved(a, b *space.Boxes) float64 {
	if len(a.Items) != len(b.Items) || a.H != b.H || a.W != b.W {
		return math.Inf(1)
	}
	var most float64
	for i, x := range a.Items {
		y := b.Items[i]
		if x.Score != y.Score || x.Label != y.Label {
			return math.Inf(1)
		}
		p, q := corners(x), corners(y)
		for _, u := range p {
			least := math.Inf(1)
			for _, v := range q {
				least = min(least, elementary.Hypot(u[0]-v[0], u[1]-v[1]))
			}
			if !(least <= most) {
				most = least
			}
		}
	}
	return most / max(a.H, a.W)
}

// corners of a box, turned about its centre.
func corners(b space.Box) [4][2]float64 {
	cx, cy := b.Center()
	sin, cos := elementary.Sincos(b.Angle * math.Pi / 180)
	var out [4][2]float64
	for i, s := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		x, y := s[0]*(b.X2-b.X1)/2, s[1]*(b.Y2-b.Y1)/2
		out[i] = [2]float64{cx + float64(cos*x) + float64(sin*y), cy - float64(sin*x) + float64(cos*y)}
	}
	return out
}
