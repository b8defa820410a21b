package action

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/symmetry/group"
)

// Tensor is the action of a group on feature maps and vectors; see [NewTensor].
type Tensor struct {
	group group.Group
	// nil for vectors
	planar *planar
	rep    Representation
	// -1 if any
	channels int
}

// NewTensor is the action on a feature map of shape (C, H, W), (g·F)(p) = ρ(g) F(g⁻¹p) with the resampling of
// [NewImage], or on a vector of shape (C), ρ(g)F. The channels are copies of rep one after the other: with the regular
// representation channel f·|G|+k is element k of field f. s.Shape is required because its length tells maps from
// vectors.
//
// The error wraps errors.ErrUnsupported if maps are asked for and g does not act on the plane.
func NewTensor(g group.Group, s space.Spec, o Options, rep Representation) (*Tensor, error) {
	rank := len(s.Shape)
	if rank != 1 && rank != 3 {
		return nil, fmt.Errorf("port %q: a tensor of shape %v: want (channels) or (channels, height, width): %w",
			s.Name, s.Shape, errors.ErrUnsupported)
	}
	d, err := dims(s, rank)
	if err != nil {
		return nil, err
	}
	if rep.dim < 1 {
		return nil, fmt.Errorf("port %q: no representation of %s is given", s.Name, g.Name())
	}
	if d[0] >= 0 && d[0]%rep.dim != 0 {
		return nil, fmt.Errorf("port %q: %d channels are not a multiple of the %d of the representation %s of %s",
			s.Name, d[0], rep.dim, rep.name, g.Name())
	}
	a := &Tensor{group: g, rep: rep, channels: d[0]}
	if rank == 3 {
		if a.planar, err = newPlanar(g, o, d[1], d[2]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Group is the group that acts.
func (a *Tensor) Group() group.Group { return a.group }

// Knows is the reason why channels cannot be moved by g, or back, as where no matrix is given for it; nil if
// they can be.
func (a *Tensor) Knows(g group.Element) error {
	if err := checkElement(a.group, g); err != nil {
		return err
	}
	if _, err := a.rep.Matrix(g); err != nil {
		return err
	}
	_, err := a.rep.Matrix(a.group.Inv(g))
	return err
}

// Exact tells the elements that act by index and sign.
func (a *Tensor) Exact(g group.Element) bool {
	if checkElement(a.group, g) != nil || a.planar != nil && !a.planar.exact(g) {
		return false
	}
	c, err := a.rep.on(g, a.rep.dim)
	return err == nil && c.exact()
}

// Apply returns the moved tensor.
func (a *Tensor) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	to := &space.Tensor{Shape: slices.Clone(m.to), Val: make([]float64, m.size())}
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the shape of v alone.
func (a *Tensor) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Tensor) mover(g group.Element, v space.Value) (*tensorMover, error) {
	rank := 1
	if a.planar != nil {
		rank = 3
	}
	x, err := asTensor(v, rank)
	if err != nil {
		return nil, err
	}
	if a.channels >= 0 && x.Shape[0] != a.channels {
		return nil, fmt.Errorf("the tensor has %d channels, the action was made for %d", x.Shape[0], a.channels)
	}
	if err := checkElement(a.group, g); err != nil {
		return nil, err
	}
	m := &tensorMover{from: slices.Clone(x.Shape), to: slices.Clone(x.Shape)}
	if m.rho, err = a.rep.on(g, x.Shape[0]); err != nil {
		return nil, err
	}
	if a.planar != nil {
		if m.warp, err = a.planar.prepare(g, x.Shape[1], x.Shape[2]); err != nil {
			return nil, err
		}
		m.to[1], m.to[2] = m.warp.h, m.warp.w
	}
	return m, nil
}

func asTensor(v space.Value, rank int) (*space.Tensor, error) {
	x, ok := v.(*space.Tensor)
	if !ok || x == nil {
		return nil, fmt.Errorf("want a tensor, got %s", describe(v))
	}
	if len(x.Shape) != rank {
		return nil, fmt.Errorf("want a tensor with %d axes, got the shape %v", rank, x.Shape)
	}
	n := 1
	for _, d := range x.Shape {
		if d < 0 {
			return nil, fmt.Errorf("the tensor has the shape %v", x.Shape)
		}
		n *= d
	}
	if n != len(x.Val) {
		return nil, fmt.Errorf("the tensor has %d numbers, not those of the shape %v", len(x.Val), x.Shape)
	}
	return x, nil
}

type tensorMover struct {
	// nil for vectors
	warp     *warp
	rho      channels
	from, to []int
}

func (m *tensorMover) size() int {
	n := 1
	for _, d := range m.to {
		n *= d
	}
	return n
}

// Move writes the moved tensor. A matrix that is not a permutation borrows memory for one more copy of the result.
func (m *tensorMover) Move(to, from space.Value) error {
	d, err := asTensor(to, len(m.to))
	if err != nil {
		return err
	}
	s, err := asTensor(from, len(m.from))
	if err != nil {
		return err
	}
	if !slices.Equal(s.Shape, m.from) {
		return fmt.Errorf("prepared for the shape %v, the argument has %v", m.from, s.Shape)
	}
	if !slices.Equal(d.Shape, m.to) {
		return fmt.Errorf("the result has the shape %v, it needs %v", d.Shape, m.to)
	}
	if shared(d.Val, s.Val) {
		return errAlias
	}
	switch {
	case m.warp == nil:
		m.rho.mix(d.Val, s.Val, 1)
	case m.rho.from != nil:
		m.warp.planes(d.Val, s.Val, m.to[0], m.rho.from)
	default:
		b := m.warp.scratch.take(len(d.Val))
		defer m.warp.scratch.put(b)
		m.warp.planes(*b, s.Val, m.to[0], nil)
		m.rho.mix(d.Val, *b, m.to[1]*m.to[2])
	}
	return nil
}
