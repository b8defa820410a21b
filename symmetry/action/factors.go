package action

import (
	"errors"
	"fmt"

	"nero/data/space"
	"nero/symmetry/group"
)

// factored is the action of a product some of whose factors are moved by rules that commute with all others, see
// [Rule].Commutes, and the rest by any rule; nil if g is no such product.
func (t Table) factored(g group.Group, s space.Spec, o Options) (Action, error) {
	f, ok := g.(group.Factored)
	if !ok {
		return nil, nil //nolint:nilnil // no product is no fault
	}
	a := &factors{g: f}
	var rest []group.Group
	for i, part := range f.Factors() {
		own, err := t.commuting(part, s, o)
		if err != nil {
			return nil, err
		}
		if own == nil {
			rest, a.rest = append(rest, part), append(a.rest, i)
			continue
		}
		a.own, a.at = append(a.own, own), append(a.at, i)
	}
	switch {
	case len(a.own) == 0:
		return nil, nil //nolint:nilnil // as above
	case len(rest) == 0:
		return a, nil
	}
	p, err := group.Product(rest...)
	if err != nil {
		return nil, err
	}
	if a.others, err = t.For(p, s, o); err != nil {
		return nil, fmt.Errorf("the factors %s of %s: %w", p.Name(), g.Name(), err)
	}
	return a, nil
}

// commuting is the action of a factor by a rule that commutes with all others, nil if there is none.
func (t Table) commuting(g group.Group, s space.Spec, o Options) (Action, error) {
	for _, r := range t {
		if !r.Commutes || r.Space != s.Kind {
			continue
		}
		switch a, err := r.New(g, s, o); {
		case err == nil:
			return a, nil
		case !errors.Is(err, errors.ErrUnsupported):
			return nil, err
		}
	}
	return nil, nil //nolint:nilnil // as above
}

// factors acts by each factor of a product in turn; they commute.
type factors struct {
	g group.Factored
	// others moves the factors that are listed in rest; nil if there are none.
	others Action
	rest   []int
	// own are the actions of the factors that are listed in at.
	own []Action
	at  []int
}

func (a *factors) Group() group.Group { return a.g }

// split is the element of the others and the elements of own.
func (a *factors) split(g group.Element) (others group.Element, own []group.Element) {
	all := a.g.Split(g)
	for _, i := range a.rest {
		others = append(others, all[i]...)
	}
	for _, i := range a.at {
		own = append(own, all[i])
	}
	return others, own
}

func (a *factors) Apply(g group.Element, v space.Value) (space.Value, error) {
	others, own := a.split(g)
	if a.others != nil {
		var err error
		if v, err = a.others.Apply(others, v); err != nil {
			return nil, err
		}
	}
	for i, x := range a.own {
		var err error
		if v, err = x.Apply(own[i], v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (a *factors) Exact(g group.Element) bool {
	others, own := a.split(g)
	if a.others != nil && !Exact(a.others, others) {
		return false
	}
	for i, x := range a.own {
		if !Exact(x, own[i]) {
			return false
		}
	}
	return true
}
