package forces

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Noise never lets forces pass that are off by more than a hundredth, and decides nothing where it is not much smaller
// than what it is held against.
func TestDecide(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range []struct {
		name                    string
		gradient, plateau       float64
		nonFinite               int
		conservative, undecided bool
	}{
		{"exact", 1e-8, 1e-9, 0, true, false},
		{"some noise", 5e-3, 1e-3, 0, true, false},
		{"a head of its own", 0.5, 1e-6, 0, false, false},
		{"a small difference", 5e-3, 1e-6, 0, false, false},
		{"between", 0.05, 8e-3, 0, false, true},
		{"noise", 0.9, 0.129, 0, false, true},
		{"noise that happens to fit", 1e-4, 0.129, 0, false, true},
		{"no plateau", 0.9, inf, 0, false, true},
		{"no number", nan, 1e-6, 0, false, true},
		{"not finite", nan, inf, 1, false, false},
		{"not finite elsewhere", 1e-8, 1e-9, 1, false, false},
	} {
		r := Result{Gradient: audit.Interval{Value: x.gradient}, Plateau: x.plateau, NonFinite: x.nonFinite}
		r.decide(1e-4)
		if r.Conservative != x.conservative || r.Undecided != x.undecided {
			t.Errorf("%s: conservative %v, undecided %v", x.name, r.Conservative, r.Undecided)
		}
		if !(r.Limit <= 1e-2) {
			t.Errorf("%s: limit %g", x.name, r.Limit)
		}
	}
}

const atoms = 5

func positions(i int) *space.Rows {
	r := rand.New(rand.NewPCG(11, uint64(i)))
	p := &space.Rows{N: atoms, W: 3}
	for range 3 * atoms {
		p.Val = append(p.Val, r.NormFloat64())
	}
	return p
}

// molecule has the energy Σ exp(-d²) over pairs at distance d, with something added, and the forces of it times a
// factor.
func molecule(factor float64, added func(p *space.Rows) float64) audit.Predictor {
	return audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for k, v := range values {
			p, ok := v.(*space.Rows)
			if !ok {
				return nil, fmt.Errorf("want points, got %s", v.Kind())
			}
			e, f := added(p), make([]float64, 3*p.N)
			for i := range p.N {
				for j := range i {
					var dd float64
					for a := range 3 {
						d := p.Row(i)[a] - p.Row(j)[a]
						dd += d * d
					}
					e += math.Exp(-dd)
					for a := range 3 {
						push := factor * 2 * (p.Row(i)[a] - p.Row(j)[a]) * math.Exp(-dd)
						f[3*i+a], f[3*j+a] = f[3*i+a]+push, f[3*j+a]-push
					}
				}
			}
			out[k] = &space.Record{
				Names:  []string{"energy", "forces"},
				Values: []space.Value{&space.Rows{N: 1, W: 1, Val: []float64{e}}, &space.Rows{N: p.N, W: 3, Val: f}},
			}
		}
		return out, nil
	})
}

// One energy that is not a number makes no force conservative, and neither does noise.
func TestBadPlateaus(t *testing.T) {
	still := func(*space.Rows) float64 { return 0 }
	at := positions(0).Val[0]
	for _, x := range []struct {
		name    string
		model   audit.Predictor
		finding *audit.Category
	}{
		{"clean", molecule(1, still), nil},
		{"half of the force", molecule(0.5, still), audit.Gradient},
		{"not a number", molecule(1, func(p *space.Rows) float64 {
			if d := p.Val[0] - at; d > 0 && d < 0.05 {
				return math.NaN()
			}
			return 0
		}), audit.Gradient},
		{"noise", molecule(1, func(p *space.Rows) float64 { return 2e-3 * math.Sin(1e7*p.Val[0]) }), audit.Undecided},
		{
			"noise and half of the force",
			molecule(0.5, func(p *space.Rows) float64 { return 2e-3 * math.Sin(1e7*p.Val[0]) }), audit.Undecided,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			g, err := catalog.Parse("SO(3)")
			if err != nil {
				t.Fatal(err)
			}
			in := space.Spec{
				Name: "positions", Kind: space.KindRows, Type: space.TypePositions, Per: space.PerNode,
				Shape: []int{atoms, 3},
			}
			out := space.Spec{Kind: space.KindRecord, Fields: []space.Spec{
				{
					Name: "energy", Kind: space.KindRows, Type: space.TypeUnchanged, Per: space.PerSample,
					Shape: []int{1, 1},
				},
				{
					Name: "forces", Kind: space.KindRows, Type: space.TypeVectors, Per: space.PerNode,
					Shape: []int{atoms, 3},
				},
			}}
			move, err := action.Rules().For(g, in, action.Options{})
			if err != nil {
				t.Fatal(err)
			}
			moved, err := action.Rules().For(g, out, action.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := &audit.Subject{
				Name: "molecule", Predictor: x.model,
				Plan: audittest.Plan(t, move, moved, g.Identity(), group.Element{0, 0, 90}), N: 6, Seed: 1, InSpec: in,
				OutSpec: out,
				Sample: func(i int) (dataset.Sample, error) {
					return dataset.Sample{ID: fmt.Sprintf("s%d", i), Label: -1, Value: positions(i)}, nil
				},
			}
			for _, c := range audittest.Audit(t, audittest.Fixture{Subject: s}, Check).Results {
				if c.Check != Check {
					continue
				}
				if c.Status != audit.Tested {
					t.Fatalf("%s: %s", c.Status, c.Reason)
				}
				var got *audit.Category
				for _, f := range c.Findings {
					got = f.Category
					t.Log(f.Message)
				}
				if got != x.finding {
					t.Errorf("finding %q, want %q", got, x.finding)
				}
				for _, clue := range c.Clues {
					if clue.Name == audit.ClueNotConservative && clue.Holds != (x.name == "half of the force") {
						t.Errorf("clue %+v", clue)
					}
				}
			}
		})
	}
}
