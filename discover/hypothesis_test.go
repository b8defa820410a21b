package discover_test

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/discover"
	"nero/run/job"
)

// The data may call a field otherwise than the model, and a study that leaves its type as it was claims that nothing
// moves.
func TestAClaimSaysWhatMoves(t *testing.T) {
	t.Parallel()
	s := about(60, 2, 7, func(x []float64) []float64 { return []float64{x[0]*x[0] + x[1]} })
	for _, fields := range [][]job.Port{
		{{Name: "nodes", Port: "x", Type: space.TypeUnchanged, Per: "sample"}},
		{{Name: "x", Type: space.TypeUnchanged, Per: "sample"}},
		nil,
	} {
		found := scan(t, s).Hypotheses()
		if len(found) == 0 {
			t.Fatal("x1 may change its sign, and nothing is found")
		}
		study := job.Study{}
		study.Input.Fields = fields
		found[0].Lay(&study)
		if f := study.Input.Fields; len(f) != 1 || f[0].Type != space.TypeVectors {
			t.Errorf("of %v the claim makes %v", fields, f)
		}
	}
}

// The samples to confirm may have more rows than those that were looked at.
func TestPermutationsOfRowsHaveNoNumberInAStudy(t *testing.T) {
	t.Parallel()
	s := about(40, 6, 3, func(x []float64) []float64 {
		sum := 0.0
		for _, v := range x {
			sum += float64(v * v)
		}
		return []float64{sum}
	})
	s.In.Shape, s.In.Per, s.In.Type = []int{-1, 2}, space.PerNode, space.TypeUnchanged
	for _, side := range [][]dataset.Sample{s.Fit, s.Choose} {
		for _, x := range side {
			if r, ok := x.Value.(*space.Rows); ok {
				r.N, r.W = 3, 2
			}
		}
	}
	names := map[string]bool{}
	for _, h := range ask(t, s, "scan", "finite") {
		study := job.Study{}
		h.Lay(&study)
		names[study.Group.Name] = true
	}
	if !names["S"] || len(names) != 1 {
		t.Errorf("groups of the studies: %v, want S alone", names)
	}
}

// ask are the hypotheses of some parts.
func ask(t *testing.T, s *discover.Subject, names ...string) []*discover.Hypothesis {
	t.Helper()
	parts, err := discover.Select(names)
	if err != nil {
		t.Fatal(err)
	}
	m, err := discover.Ask(t.Context(), s, parts)
	if err != nil {
		t.Fatal(err)
	}
	return m.Proposed
}

// What several parts find is proposed once, with all of them as evidence; what only looks alike is proposed by each.
func TestOneHypothesisForWhatSeveralPartsFind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    func(x []float64) []float64
		want map[string]string // the other part that found a claim that begins so
	}{
		"a turn": {
			f: func(x []float64) []float64 {
				return []float64{math.Exp(-x[0]*x[0]-x[1]*x[1]) + math.Sin(x[2]) + x[2]}
			},
			want: map[string]string{"turn x1 x2: ": "generators"},
		},
		"a flip": {
			f:    func(x []float64) []float64 { return []float64{math.Cos(x[0]) + math.Sin(x[1]+2*x[2]) + x[1]*x[2]} },
			want: map[string]string{"flip x1: ": "finite"},
		},
		"a stretched turn": {
			f: func(x []float64) []float64 {
				return []float64{math.Exp(-x[0]*x[0]-4*x[1]*x[1]) + math.Sin(x[2]) + x[2]}
			},
			want: map[string]string{},
		},
	} {
		proposed := ask(t, about(200, 3, 7, c.f), "scan", "generators", "finite")
		for start, part := range c.want {
			i := slices.IndexFunc(proposed, func(h *discover.Hypothesis) bool {
				return strings.HasPrefix(h.Claim, start)
			})
			if i < 0 || len(proposed[i].Also) != 1 || proposed[i].Also[0].Part != part {
				t.Errorf("%s: no %q that %s found, too", name, start, part)
			}
			if n := len(slices.Collect(of(proposed, part))); n != 0 {
				t.Errorf("%s: %s proposes %d on its own", name, part, n)
			}
		}
		for _, h := range proposed {
			if len(c.want) == 0 && len(h.Also) > 0 {
				t.Errorf("%s: %s is the same as %v", name, h.Claim, h.Also)
			}
		}
		if len(c.want) == 0 && len(slices.Collect(of(proposed, "generators"))) != 1 {
			t.Errorf("%s: generators found nothing", name)
		}
	}
}

// of are the hypotheses that a part found first.
func of(all []*discover.Hypothesis, part string) iter.Seq[*discover.Hypothesis] {
	return func(yield func(*discover.Hypothesis) bool) {
		for _, h := range all {
			if h.Part == part && !yield(h) {
				return
			}
		}
	}
}

// Where a graph has no derivative, differences ask the model alone.
func TestNoDerivativeOfTheGraph(t *testing.T) {
	t.Parallel()
	s := about(60, 2, 7, func(x []float64) []float64 { return []float64{x[0]*x[0] + x[1]*x[1]} })
	s.Gradient = func(context.Context, []space.Value, []space.Value) ([]space.Value, error) {
		return nil, discover.ErrOpen
	}
	got := ask(t, s, "generators")
	if len(got) != 1 || got[0].Word != discover.Holds {
		t.Errorf("found %v, want turns of the plane", got)
	}
}

// Rows of whole numbers have no noise beside them; that permutations leave the answer as it is shows all the same, and
// that they do not is no symmetry.
func TestRowsOfWholeNumbers(t *testing.T) {
	t.Parallel()
	for _, e := range []float64{0, 0.1} {
		s := about(40, 8, 3, func(x []float64) []float64 {
			sum := e * x[0]
			for _, v := range x {
				sum += float64(v * v)
			}
			return []float64{sum}
		})
		s.In.Shape, s.In.Per = []int{-1, 2}, space.PerNode
		for _, side := range [][]dataset.Sample{s.Fit, s.Choose} {
			for _, x := range side {
				if r, ok := x.Value.(*space.Rows); ok {
					r.N, r.W = 4, 2
					for i := range r.Val {
						r.Val[i] = math.Round(3 * r.Val[i])
					}
				}
			}
		}
		if got := row(t, scan(t, s), "S(4)"); (got.Word == discover.Holds) != (e == 0) {
			t.Errorf("%g: %s (%s)", e, got.Word, got.Why)
		}
	}
}
