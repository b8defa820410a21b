// Package lattice is the check of the elements that act without resampling. It comes before every other judgment of an
// error, because here nothing but rounding stands between the model and its symmetry.
package lattice

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/precision"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the gate of exact elements.
var Check = &audit.Check{
	Name:  "lattice",
	Title: "Motions that need no interpolation",
	Doc: `Lattice judges the elements that act on the input by index: quarter turns, mirrors, whole steps, permutations. They form a comb on the
orbit where the test itself has no error. Those of the group that the plan does not visit are added where they lie within its reach. If the
error is large, other conventions of the output action are tried on a few inputs, and one that would pass is named, never adopted. It says
where the error sits: in mirrors alone, in few elements, pairs, channels or classes, or in one factor or offset.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs on which other conventions are tried.", Default: 16, Min: 2, Max: 1000},
		{Name: "elements", Doc: "Elements on which other conventions are tried.", Default: 8, Min: 1, Max: 1000},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Uses:     []*audit.Check{precision.Check},
	Views:    true,
	Run:      run,
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	s := sw.Set(p, true)
	if s == nil {
		return nil, fmt.Errorf("%w: no element but the identity acts without resampling", audit.ErrNotApplicable)
	}
	c := audit.ResultOf[*controls.Result](p, controls.Check)
	if r, ok := audit.ResultIf[*precision.Result](p, precision.Check); ok {
		s.Slope = r.Slopes[true]
	}
	convention := ""
	if s.Worst.Value > max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0)) && s.NonFinite == 0 &&
		!c.Facts.Vacuous {
		var err error
		if convention, err = search(ctx, p, s.Scale); err != nil {
			return nil, err
		}
	}
	c.Complete(p, s, nil, convention)
	sw.ShowFields(p, s)
	clues(p, sw, s)
	return s, nil
}

// variant is another way to pull an output back.
type variant struct {
	name string
	// nil: leave the output as it is
	back func(j int) *audit.Mover
}

// variants are the conventions that people mix up, without the declared one.
func variants(p *audit.Pass, y space.Value) []variant {
	G, in, out := p.Subject.Plan.Group, p.Subject.Plan.In, p.Subject.Plan.Out
	same := func(g group.Element) group.Element { return g }
	_, invariant := out.(action.Trivial)
	var v []variant
	if !invariant {
		forth := audit.Movers(out, p.Elements, same)
		v = append(v,
			variant{"the output does not move: it is invariant", nil},
			variant{"the output moves by the inverse element", func(j int) *audit.Mover { return forth[j] }})
	}
	// An output of the kind of the input may move as the input does.
	if e := G.Identity(); invariant && !group.IsLawless(G) {
		if z, err := in.Apply(e, y); err == nil && z.Form() == y.Form() {
			back, forth := audit.Movers(in, p.Elements, G.Inv), audit.Movers(in, p.Elements, same)
			v = append(v,
				variant{"the output moves as the input does", func(j int) *audit.Mover { return back[j] }},
				variant{
					"the output moves as the input does, by the inverse element",
					func(j int) *audit.Mover { return forth[j] },
				})
		}
	}
	return v
}

// search returns the name of the first variant whose error passes for every input tried, "" if none does.
func search(ctx context.Context, p *audit.Pass, scale float64) (string, error) {
	var use []int
	// spread: the first ones may all be turns, and mirrors follow
	for _, j := range p.PickElements(int(p.Param("elements"))) {
		if p.Elements[j].Exact {
			use = append(use, j)
		}
	}
	G, in := p.Subject.Plan.Group, p.Subject.Plan.In
	identity := audit.NewMover(in, G.Identity())
	there := audit.Movers(in, p.Elements, func(g group.Element) group.Element { return g })
	pick := p.Pick(int(p.Param("samples")))
	stream := func(yield func(audit.Request, error) bool) {
		for _, i := range pick {
			s, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			for _, j := range append([]int{-1}, use...) {
				m := identity
				if j >= 0 {
					m = there[j]
				}
				x, err := m.Move(s.Value)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s: %w", s.ID, err))
					return
				}
				if !yield(audit.Request{Sample: i, Element: j, Input: x}, nil) {
					return
				}
			}
		}
	}
	var base space.Value
	var all []variant
	var worst [][]float64 // per variant, per sample
	each := func(q audit.Request, y space.Value) error {
		if q.Element < 0 {
			if base = y; all == nil {
				all = variants(p, y)
				worst = make([][]float64, len(all))
			}
			for k := range worst {
				worst[k] = append(worst[k], 0)
			}
			return nil
		}
		for k, v := range all {
			z := y
			if v.back != nil {
				var err error
				if z, err = v.back(q.Element).Move(y); err != nil {
					return err
				}
			}
			d, err := p.Compare(z, base)
			if err != nil {
				d.Norm = math.Inf(1) // another form: this variant is out
			}
			i := len(worst[k]) - 1
			worst[k][i] = max(worst[k][i], d.Norm/scale)
		}
		return nil
	}
	if err := p.Predict(ctx, stream, each); err != nil {
		return "", err
	}
	for k, v := range all {
		if iv := audit.MeanInterval(worst[k], p.Policy.Confidence); iv.Hi < p.Policy.Threshold && iv.N == len(pick) {
			return v.name, nil
		}
	}
	return "", nil
}
