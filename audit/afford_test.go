package audit_test

import (
	"context"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
)

// Counts are lowered by the multiply-adds that a check would spend, never below their least, never where somebody set
// them, and never without saying so.
func TestAfford(t *testing.T) {
	for _, c := range []struct {
		name   string
		cost   int64
		params map[string]float64
		want   [2]float64
	}{
		{"not known", 0, nil, [2]float64{40, 8}},
		{"cheap", 1e8, nil, [2]float64{40, 8}}, // 320 predictions, 3.2e10
		{"dear", 1e9, nil, [2]float64{12, 4}},  // at most 50 predictions
		{"very dear", 1e12, nil, [2]float64{4, 2}},
		{"set by hand", 1e12, map[string]float64{"x.samples": 40}, [2]float64{40, 2}},
		{"all set by hand", 1e12, map[string]float64{"x.samples": 40, "x.elements": 8}, [2]float64{40, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got [2]float64
			x := &audit.Check{
				Name: "x", Doc: "X is a question.", Optional: true,
				Params: []audit.Param{
					{Name: "samples", Doc: "d.", Default: 40, Min: 1, Max: 100, Least: 4},
					{Name: "elements", Doc: "d.", Default: 8, Min: 1, Max: 100, Least: 2},
				},
				Work: func(p *audit.Pass) int { return int(p.Param("samples") * p.Param("elements")) },
				Run: func(_ context.Context, p *audit.Pass) (any, error) {
					got = [2]float64{p.Param("samples"), p.Param("elements")}
					return nil, nil //nolint:nilnil // nothing is measured
				},
			}
			s := subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))
			s.Cost = c.cost
			r, err := audit.Run(t.Context(), s, policy(t, ""), []*audit.Check{x}, audit.Options{Params: c.params})
			if err != nil {
				t.Fatal(err)
			}
			if c.name == "dear" {
				if got[0]*got[1] > 50 || got[0] < 4 || got[1] < 2 || got[0]*got[1] < 20 {
					t.Errorf("%g inputs and %g elements, want about 50 predictions", got[0], got[1])
				}
			} else if got != c.want {
				t.Errorf("samples and elements are %v, want %v", got, c.want)
			}
			said := 0
			for _, e := range r.Results[0].Measures {
				if strings.Contains(e.Name, "multiply-adds") {
					said++
				}
			}
			lowered := 0
			for i, v := range [2]float64{40, 8} {
				if got[i] < v {
					lowered++
				}
			}
			if said != lowered {
				t.Errorf("%d counts were lowered and %d said", lowered, said)
			}
		})
	}
}

// What a check spends is its price where some of its predictions cost more than one.
func TestAffordByPrice(t *testing.T) {
	for name, c := range map[string]struct {
		price func(*audit.Pass) int
		want  float64
	}{
		"as many as it asks for": {nil, 40},
		"four times as much":     {func(p *audit.Pass) int { return 4 * int(p.Param("samples")) }, 12},
	} {
		var got float64
		x := &audit.Check{
			Name: "x", Doc: "X is a question.", Optional: true, Price: c.price,
			Params: []audit.Param{{Name: "samples", Doc: "d.", Default: 40, Min: 1, Max: 100, Least: 4}},
			Work:   func(p *audit.Pass) int { return int(p.Param("samples")) },
			Run: func(_ context.Context, p *audit.Pass) (any, error) {
				got = p.Param("samples")
				return nil, nil //nolint:nilnil // nothing is measured
			},
		}
		s := subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))
		s.Cost = 1e9 // at most 50 predictions
		audittest.Audit(t, audittest.Fixture{Subject: s}, x)
		if got != c.want {
			t.Errorf("%s: %g samples, want %g", name, got, c.want)
		}
	}
}
