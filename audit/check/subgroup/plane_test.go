//go:build !race

// Whole audits take minutes under the race detector, and run nothing that those of other checks do not run there.

package subgroup_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/endtoend"
	"nero/audit/check/search"
	"nero/audit/check/subgroup"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// points is a model of points in the plane that answers with one number.
func points(f func(p *space.Rows) float64) audit.Predictor {
	return audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			x, ok := v.(*space.Rows)
			if !ok {
				return nil, fmt.Errorf("want points, got %s", v.Kind())
			}
			out[i] = &space.Rows{N: 1, W: 1, Val: []float64{f(x)}}
		}
		return out, nil
	})
}

// plane is a subject of so many points in the plane, fewer in the first samples.
func plane(t *testing.T, claim string, f func(p *space.Rows) float64, elements ...group.Element) *audit.Subject {
	t.Helper()
	return flat(t, 2, claim, f, elements...)
}

// flat is a subject of so many points of d coordinates.
func flat(t *testing.T, d int, claim string, f func(p *space.Rows) float64, elements ...group.Element) *audit.Subject {
	t.Helper()
	g, err := catalog.Parse(claim)
	if err != nil {
		t.Fatal(err)
	}
	spec := space.Spec{
		Name: "points", Kind: space.KindRows, Type: space.TypePositions, Per: space.PerNode,
		Shape: []int{-1, d},
	}
	in, err := action.Rules().For(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &audit.Subject{
		Name: "plane", Predictor: points(f), Plan: audittest.Plan(t, in, action.Trivial{G: g}, elements...), N: 12,
		Seed: 1, InSpec: spec,
		OutSpec: space.Spec{
			Name: "y", Kind: space.KindRows, Type: space.TypeUnchanged, Per: space.PerSample,
			Shape: []int{1, 1},
		},
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			p := &space.Rows{N: 5 + i%3, W: d}
			for range d * p.N {
				p.Val = append(p.Val, r.NormFloat64())
			}
			return dataset.Sample{ID: fmt.Sprintf("s%02d", i), Label: -1, Value: p}, nil
		},
	}
}

// sum is that of a function of all pairs of points, which are held against each other by their difference.
func sum(p *space.Rows, f func(x, y, dx, dy float64) float64) float64 {
	var s float64
	for i := range p.N {
		for j := range p.N {
			a, b := p.Row(i), p.Row(j)
			s += f(a[0], a[1], b[0]-a[0], b[1]-a[1])
		}
	}
	return s
}

func distances(p *space.Rows) float64 {
	return sum(p, func(_, _, dx, dy float64) float64 { return math.Exp(-dx*dx - dy*dy) })
}

// triples knows left from right: the angle between two differences counts with its sign, and nothing else of the place
// or of the order.
func triples(p *space.Rows) float64 {
	var s float64
	for i := range p.N {
		for j := range p.N {
			for k := range p.N {
				a, b, c := p.Row(i), p.Row(j), p.Row(k)
				x, y, u, v := b[0]-a[0], b[1]-a[1], c[0]-a[0], c[1]-a[1]
				s += (x*v - y*u) * math.Exp(-x*x-y*y-2*(u*u+v*v))
			}
		}
	}
	return s
}

func origin(p *space.Rows) float64 {
	return sum(p, func(x, y, _, _ float64) float64 { return math.Exp(-x*x - y*y) })
}

func quarters(p *space.Rows) float64 {
	return sum(p, func(_, _, dx, dy float64) float64 { return math.Exp(-dx*dx*dx*dx - dy*dy*dy*dy) })
}

// Of an answer that shifts do not move as declared it is said what they do: a centre that was not put back stays,
// places declared as displacements move along, and places that count otherwise do neither.
func TestShiftsOtherwise(t *testing.T) {
	centred := func(x *space.Rows, back, scale float64) *space.Rows {
		y := &space.Rows{N: x.N, W: x.W}
		for i := range x.N {
			for k := range x.W {
				var m float64
				for j := range x.N {
					m += x.Row(j)[k] / float64(x.N)
				}
				y.Val = append(y.Val, scale*(x.Row(i)[k]-m)+back*m)
			}
		}
		return y
	}
	for _, x := range []struct {
		name, typ   string
		back, scale float64
		want        audit.ClueName
	}{
		{"put back", space.TypePositions, 1, 2, ""},
		{"not put back", space.TypePositions, 0, 2, audit.ClueStaysBehind},
		{"half", space.TypePositions, 0.5, 2, ""},
		{"displacements", space.TypeVectors, 0, 2, ""},
		{"places", space.TypeVectors, 1, 2, audit.ClueMovesAlong},
		{"half a place", space.TypeVectors, 0.5, 2, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			turns := []group.Element{{0, 0, 0, 0}, {30, 0, 0.5, 0}, {100, 1, 0, 0.25}}
			s := plane(t, "E(2)", distances, turns...)
			s.OutSpec = space.Spec{
				Name: "y", Kind: space.KindRows, Type: x.typ, Per: space.PerNode, Shape: []int{-1, 2},
			}
			out, err := action.Rules().For(s.Plan.Group, s.OutSpec, action.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s.Plan = audittest.Plan(t, s.Plan.In, out, turns...)
			s.Predictor = audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
				out := make([]space.Value, len(values))
				for i, v := range values {
					p, ok := v.(*space.Rows)
					if !ok {
						return nil, fmt.Errorf("want points, got %s", v.Kind())
					}
					out[i] = centred(p, x.back, x.scale)
				}
				return out, nil
			})
			r := largest(t, s)
			shifts := x.typ == space.TypePositions && x.back == 1 || x.typ == space.TypeVectors && x.back == 0
			var seen audit.ClueName
			for _, c := range r.Clues() {
				switch {
				case c.Check != "subgroup":
				case c.Name == audit.ClueStaysBehind, c.Name == audit.ClueMovesAlong:
					if c.Holds {
						seen = c.Name
					}
				case c.Name == audit.ClueCentering && c.Holds == shifts:
					t.Errorf("shifts fail: %v: %s", c.Holds, c.Text)
				}
			}
			if seen != x.want {
				t.Errorf("clue %q, want %q", seen, x.want)
			}
		})
	}
}

// Of points in the plane rotations, mirrors and shifts are told apart as in space.
func TestPlane(t *testing.T) {
	turns := []group.Element{{0, 0, 0, 0}, {30, 0, 0.5, 0}, {100, 1, 0, 0.25}, {200, 1, -0.5, 0.5}}
	for _, x := range []struct {
		name, want string
		f          func(p *space.Rows) float64
		clue       audit.ClueName
	}{
		{"distances", "E(2) × S(7)", distances, ""},
		{"triples", "SE(2) × S(7)", triples, audit.ClueHandedness},
		{"about the origin", "O(2) × S(7)", origin, audit.ClueCentering},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := largest(t, plane(t, "E(2)", x.f, turns...))
			if r.Largest != x.want {
				t.Errorf("largest %q, want %q", r.Largest, x.want)
			}
			var clues []audit.ClueName
			for _, c := range r.Clues() {
				if c.Check != "subgroup" {
					continue
				}
				if c.Name == audit.ClueHandedness || c.Name == audit.ClueCentering {
					clues = append(clues, c.Name)
				}
				if c.Holds != (c.Name == x.clue) {
					t.Errorf("%s holds: %v, %s", c.Name, c.Holds, c.Text)
				}
			}
			if !slices.Contains(clues, audit.ClueHandedness) || !slices.Contains(clues, audit.ClueCentering) {
				t.Errorf("clues %v: mirrors and shifts are claimed and neither is asked", clues)
			}
		})
	}
}

// The number of rows is that of the claim, also where no sample that is looked at has as many.
func TestRowsOfTheClaim(t *testing.T) {
	for claim, want := range map[string]string{
		"S(24)": "E(2) × S(24)", "SO(2) x S(24)": "E(2) × S(24)",
		"SO(2)": "E(2) × S(7)",
	} {
		g, err := catalog.Parse(claim)
		if err != nil {
			t.Fatal(err)
		}
		all, err := group.Haar(g, 4, group.Window(g), rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		if r := largest(t, plane(t, claim, distances, all...)); r.Largest != want || r.Verdict == audit.Failed {
			t.Errorf("%s: largest %q, want %q", claim, r.Largest, want)
		}
	}
}

// A claim of all rotations that is judged at quarter turns only passes there. The others are drawn as well, and stand
// in the way of PASS.
func TestClaimBeyondThePlan(t *testing.T) {
	quarter := []group.Element{{0}, {90}, {180}, {270}}
	for _, x := range []struct {
		name, claim string
		f           func(p *space.Rows) float64
		found       bool
	}{
		{"quarter turns only", "SO(2)", quarters, true},
		{"all turns", "SO(2)", distances, false},
		{"quarter turns claimed", "C4", quarters, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := plane(t, x.claim, x.f, quarter...)
			r := audittest.Audit(t, audittest.Fixture{Subject: s}, subgroup.Check, endtoend.Check)
			found := false
			for _, c := range r.Results {
				if c.Check != subgroup.Check {
					for _, s := range c.Sets {
						if s.Verdict != audit.Passed {
							t.Errorf("%s: %s", s.Name, s.Reason)
						}
					}
					continue
				}
				for _, f := range c.Findings {
					found = found || strings.Contains(f.Message, "fails at others of the group")
				}
				if want := map[bool]audit.Verdict{
					true:  audit.NeedsAttention,
					false: audit.Passed,
				}[x.found]; c.Verdict != want {
					t.Errorf("%s, want %s", c.Verdict, want)
				}
			}
			if found != x.found {
				t.Errorf("found: %v, %v", found, r.Reasons)
			}
			if x.found && r.Verdict == audit.Passed {
				t.Error("passes")
			}
		})
	}
}

// fourfold is Σ r⁴ cos 4θ about z: it keeps quarter turns and the mirrors that contain the axis, shifts along z and any
// order, and nothing else.
func fourfold(p *space.Rows) float64 {
	var s float64
	for i := range p.N {
		x, y := p.Row(i)[0], p.Row(i)[1]
		s += x*x*x*x - 6*x*x*y*y + y*y*y*y
	}
	return s
}

// cubic knows the axes of coordinates, and not one from another.
func cubic(p *space.Rows) float64 {
	var s float64
	for i := range p.N {
		for j := range p.N {
			d := 0.0
			for k := range p.W {
				d += math.Pow(p.Row(i)[k]-p.Row(j)[k], 4)
			}
			s += math.Exp(-d)
		}
	}
	return s
}

// azimuth is that of the second point seen from the first, in degrees.
func azimuth(p *space.Rows) float64 {
	a, b := p.Row(0), p.Row(1)
	return math.Atan2(b[1]-a[1], b[0]-a[0]) * 180 / math.Pi
}

// The largest group of those tried is never larger than what the other checks found: it is told by quarter turns and
// shifts along one axis where no more holds, a defect of a few degrees that search finds counts against it, and it is
// left blank where what was found needs a turn and a shift at once.
func TestNothingContradicts(t *testing.T) {
	// from a to b degrees, seen by a model of distances
	defect := func(far float64) func(p *space.Rows) float64 {
		return func(p *space.Rows) float64 {
			s := distances(p)
			if a := math.Abs(azimuth(p)); a > 33 && a < 42 && math.Abs(p.Row(0)[0]) >= far {
				s += 5
			}
			return s
		}
	}
	// the second point lies to the right of the first
	along := func(s *audit.Subject) *audit.Subject {
		draw := s.Sample
		s.Sample = func(i int) (dataset.Sample, error) {
			x, err := draw(i)
			if p, ok := x.Value.(*space.Rows); ok {
				p.Row(1)[0], p.Row(1)[1] = p.Row(0)[0]+1.5, p.Row(0)[1]
			}
			return x, err
		}
		return s
	}
	grid := []group.Element{{0}, {30}, {75}, {120}, {165}, {210}, {255}, {300}}
	for _, x := range []struct {
		name, want, beyond string
		s                  *audit.Subject
	}{
		{
			"fourfold", "C4v about z with shifts along z × S(7)",
			"SO(3): turns by other angles than quarters of a full turn",
			flat(t, 3, "SOg(3)", fourfold, []group.Element{{0}, {90}, {180}, {45}, {20}, {250}}...),
		},
		{
			"cubic", "T(3) with Oh × S(7)", "SO(3): turns by other angles than quarters of a full turn",
			flat(t, 3, "SO(3)", cubic, []group.Element{{0, 0, 0}, {90, 0, 0}, {0, 0, 180}, {45, 20, 0}}...),
		},
		{
			"narrow", "T(2) with D4", "SO(2): turns by other angles than quarters of a full turn",
			along(plane(t, "SO(2)", defect(0), grid...)),
		},
		{"none", "E(2) × S(7)", "", along(plane(t, "SO(2)", distances, grid...))},
		{
			"both at once", "", "no largest symmetry is named: sweep found an error",
			along(plane(t, "SE(2)", defect(8), []group.Element{{0, 0, 0}, {100, 1, 0}, {37.5, 11, 0}, {37, 13, 0}}...)),
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := audittest.Audit(t, audittest.Fixture{Subject: x.s}, subgroup.Check, search.Check, endtoend.Check)
			if r.Largest != x.want {
				t.Errorf("largest %q, want %q; beyond %q", r.Largest, x.want, r.Beyond)
			}
			if x.beyond != "" && !slices.ContainsFunc(r.Beyond, func(s string) bool {
				return strings.HasPrefix(s, x.beyond)
			}) {
				t.Errorf("beyond %q, want %q", r.Beyond, x.beyond)
			}
		})
	}
}
