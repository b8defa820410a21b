package preflight

import (
	"math/rand/v2"
	"strings"
	"testing"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// thrice applies every element three times: inverses stay inverses, products of turns do not stay products.
type thrice struct{ action.Action }

func (a thrice) Apply(g group.Element, v space.Value) (space.Value, error) {
	var err error
	for range 3 {
		if v, err = a.Action.Apply(g, v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// The laws hold on samples with fewer rows than the group permutes, where what is left of permutations does not
// compose, and a broken law is found there too.
func TestLawsOfFewerRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, name := range []string{"O(3) x S(9)", "S(9) x SE(3)", "S(9)", "E(3)"} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := action.NewRows(g, space.Spec{
			Name: "points", Kind: space.KindRows, Shape: []int{-1, 3}, Type: space.TypePositions,
		}, action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		draw, ok := g.(group.Sampler)
		if !ok {
			t.Fatalf("%s cannot be sampled", name)
		}
		for _, n := range []int{2, 5, 9} {
			x := space.NewRows(n, 3)
			for i := range x.Val {
				x.Val[i] = r.NormFloat64()
			}
			var elements []audit.Element
			for range 6 {
				e := draw.Sample(r)
				elements = append(elements, audit.Element{G: e, Label: audit.Label(g, e)})
				rest := Resting(g, e, x)
				if whole := n == 9 || name == "E(3)"; whole != (rest != nil && g.Dist(rest, e) == 0) {
					t.Errorf("%s of %d rows: %v rests as %v", name, n, e, rest)
				}
			}
			if law, by, at, err := lawOf(a, x, elements); err != nil || law != "" {
				t.Errorf("%s of %d rows: %s by %g at %s, %v", name, n, law, by, at, err)
			}
			if name == "S(9)" {
				continue
			}
			law, _, _, err := lawOf(thrice{a}, x, elements)
			if err != nil || !strings.Contains(law, "ρ(gh)") {
				t.Errorf("%s of %d rows: a broken product is told as %q, %v", name, n, law, err)
			}
		}
	}
}
