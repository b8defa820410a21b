package action

import (
	"errors"
	"fmt"

	"nero/data/space"
	"nero/symmetry/group"
)

// Scores is the action of a group on class scores by a representation; see [NewScores].
type Scores struct {
	group group.Group
	rep   Representation
	// -1 if any
	classes int
}

// NewScores is the action on class scores by matrices, such as the permutation of the classes "left" and "right" under
// a mirror. Probabilities can only be permuted. s.Shape is (classes).
func NewScores(g group.Group, s space.Spec, rep Representation) (*Scores, error) {
	d, err := dims(s, 1)
	if err != nil {
		return nil, err
	}
	if rep.dim < 1 {
		return nil, fmt.Errorf("port %q: no representation of %s is given", s.Name, g.Name())
	}
	if d[0] >= 0 && d[0] != rep.dim {
		return nil, fmt.Errorf("port %q: %d classes, the representation %s acts on %d", s.Name, d[0], rep.name, rep.dim)
	}
	return &Scores{group: g, rep: rep, classes: rep.dim}, nil
}

// Group is the group that acts.
func (a *Scores) Group() group.Group { return a.group }

// Exact tells the elements that permute the classes, possibly with signs.
func (a *Scores) Exact(g group.Element) bool {
	if checkElement(a.group, g) != nil {
		return false
	}
	c, err := a.rep.on(g, a.classes)
	return err == nil && c.exact()
}

// Apply returns the moved scores.
func (a *Scores) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.Prepare(g, v)
	if err != nil {
		return nil, err
	}
	to := &space.Scores{Val: make([]float64, a.classes)}
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare looks up the matrix of g.
func (a *Scores) Prepare(g group.Element, v space.Value) (Mover, error) {
	if _, err := asScores(v, a.classes); err != nil {
		return nil, err
	}
	if err := checkElement(a.group, g); err != nil {
		return nil, err
	}
	c, err := a.rep.on(g, a.classes)
	if err != nil {
		return nil, err
	}
	return scoresMover{c}, nil
}

func asScores(v space.Value, n int) (*space.Scores, error) {
	x, ok := v.(*space.Scores)
	if !ok || x == nil {
		return nil, fmt.Errorf("want scores, got %s", describe(v))
	}
	if len(x.Val) != n {
		return nil, fmt.Errorf("%d scores, want %d", len(x.Val), n)
	}
	return x, nil
}

type scoresMover struct{ rho channels }

// Move writes the moved scores.
func (m scoresMover) Move(to, from space.Value) error {
	d, err := asScores(to, m.rho.count)
	if err != nil {
		return err
	}
	s, err := asScores(from, m.rho.count)
	if err != nil {
		return err
	}
	if s.Probabilities && m.rho.from == nil {
		return errors.New("probabilities can only be permuted: declare the scores as logits, or give permutation " +
			"matrices")
	}
	if shared(d.Val, s.Val) {
		return errAlias
	}
	d.Probabilities = s.Probabilities
	m.rho.mix(d.Val, s.Val, 1)
	return nil
}
