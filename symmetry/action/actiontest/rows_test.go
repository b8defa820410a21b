package actiontest_test

import (
	"math/rand/v2"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// clumsy is the action on points of E(3) or S(n), written again, with a fault.
type clumsy struct {
	g     group.Group
	fault string
}

func (c clumsy) Group() group.Group { return c.g }

func (c clumsy) Apply(g group.Element, v space.Value) (space.Value, error) {
	a, err := action.NewRows(c.g, space.Spec{Name: "x", Kind: space.KindRows, Type: space.TypePositions},
		action.Options{})
	if err != nil {
		return nil, err
	}
	if c.fault == "inverse" {
		g = c.g.Inv(g)
	}
	o, err := a.Apply(g, v)
	if err != nil {
		return nil, err
	}
	x, ok := o.(*space.Rows)
	from, also := v.(*space.Rows)
	if !ok || !also {
		return o, nil
	}
	if s, ok := c.g.(group.Spatial); ok {
		m, t := s.Motion(g)
		for i := range x.N {
			for k := range 3 {
				switch c.fault {
				case "shift first": // A (p + t)
					x.Row(i)[k] = m[3*k]*(from.Row(i)[0]+t[0]) + m[3*k+1]*(from.Row(i)[1]+t[1]) +
						m[3*k+2]*(from.Row(i)[2]+t[2])
				case "transposed":
					x.Row(i)[k] = m[k]*from.Row(i)[0] + m[3+k]*from.Row(i)[1] + m[6+k]*from.Row(i)[2] + t[k]
				}
			}
		}
	}
	if c.fault == "in place" {
		copy(from.Val, x.Val)
	}
	return x, nil
}

// TestLawsOnRows shows that the laws find what is wrong with an action on points, and nothing where nothing is.
func TestLawsOnRows(t *testing.T) {
	s5, err := catalog.Parse("S(5)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		g     group.Group
		fault string
		found bool
	}{
		{catalog.E3(), "", false},
		{s5, "", false},
		{catalog.E3(), "inverse", true},
		{s5, "inverse", true},
		{catalog.E3(), "shift first", true},
		{catalog.E3(), "transposed", true},
		{catalog.SO3(), "in place", true},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		x := space.NewRows(5, 3)
		for i := range x.Val {
			x.Val[i] = r.NormFloat64()
		}
		s, ok := c.g.(group.Sampler)
		if !ok {
			t.Fatal("no sampler")
		}
		elements := []group.Element{s.Sample(r), s.Sample(r), s.Sample(r)}
		if err := actiontest.Laws(actiontest.Case{
			Action: clumsy{c.g, c.fault}, Value: x, Elements: elements,
			Floor: 1e-9,
		}); (err != nil) != c.found {
			t.Errorf("%s, %q: %v", c.g.Name(), c.fault, err)
		}
	}
}
