package features_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/endtoend"
	"nero/audit/check/features"
	"nero/audit/check/lattice"
	"nero/audit/diagnosis"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

const inputs = 80

// encoder is a model of points of the plane that answers six features.
func encoder(f func(x, y float64, k int) float64) audit.Predictor {
	return audittest.Pointwise(func(v space.Value) space.Value {
		x := v.Numbers()
		out := &space.Tensor{Shape: []int{6}, Val: make([]float64, 6)}
		for k := range out.Val {
			out.Val[k] = f(x[0], x[1], k)
		}
		return out
	})
}

func sin(x float64) float64 { s, _ := elementary.Sincos(x); return s }

// Encoders whose answer to a turn is known.
var (
	// Features of the radius alone, of which no line holds all.
	invariant = encoder(func(x, y float64, k int) float64 {
		return sin(float64(k+1)*elementary.Hypot(x, y) + float64(k))
	})
	// The radius, and nothing else.
	collapsed = encoder(func(x, y float64, k int) float64 { return float64(k+1) * elementary.Hypot(x, y) })
	constant  = encoder(func(_, _ float64, k int) float64 { return float64(k) })
	// Three vectors that turn with the input, of lengths that depend on the radius.
	turning = encoder(func(x, y float64, k int) float64 {
		return []float64{x, y}[k%2] * sin(1+float64(k/2)*elementary.Hypot(x, y))
	})
	// Waves in six directions, fast enough that a turned input is another one to them.
	neither = encoder(func(x, y float64, k int) float64 {
		s, c := elementary.Sincos(float64(k))
		return sin(float64(9*s*x) + float64(9*c*y) + float64(k*k))
	})
)

// subject is an encoder under eight turns, which moves its features as three vectors of the plane, or not at all.
func subject(t audittest.TB, name string, p audit.Predictor, moves bool) *audit.Subject {
	g := catalog.SO2()
	in := audittest.Plane(t, g)
	plane, ok := g.(group.Planar)
	if !ok {
		t.Fatalf("%s does not act on the plane", g.Name())
	}
	var out action.Action = action.Trivial{G: g}
	if moves {
		rep, err := action.Given(g, "plane", 2, func(e group.Element) []float64 {
			a, _ := plane.Affine(e)
			return []float64{a[0][0], a[0][1], a[1][0], a[1][1]}
		})
		if err != nil {
			t.Fatalf("%v", err)
		}
		if out, err = action.NewTensor(g, space.Spec{Shape: []int{6}}, action.Options{}, rep); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return &audit.Subject{
		Name: name, Predictor: p, Plan: audittest.Plan(t, in, out, audittest.Angles(8)...),
		N: inputs, Sample: audittest.Vectors(inputs, 3), Seed: 1,
		OutSpec: space.Spec{Name: "y", Kind: space.KindTensor, Shape: []int{6}, Features: true},
	}
}

// examine audits a subject, and hands out what became of the check and what it found.
func examine(t *testing.T, s *audit.Subject) (*audit.Report, *audit.Result, *features.Result) {
	t.Helper()
	var found *features.Result
	peek := &audit.Check{
		Name: "peek", Doc: "Peek hands out what the check found.", Uses: []*audit.Check{features.Check}, Optional: true,
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			found, _ = audit.ResultIf[*features.Result](p, features.Check)
			return nil, nil //nolint:nilnil // nobody asks for a result
		},
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, lattice.Check, endtoend.Check, features.Check,
		peek)
	for _, x := range r.Results {
		if x.Check == features.Check {
			return r, x, found
		}
	}
	t.Fatal("the check is no part of the report")
	return nil, nil, nil
}

// An embedding that has collapsed passes every test of invariance; that is found, and its twin is left alone.
func TestCollapsed(t *testing.T) {
	for name, p := range map[string]audit.Predictor{"collapsed": collapsed, "constant": constant} {
		f := audittest.Fixture{
			Subject: subject(t, name, p, false), Options: audit.Options{Diagnose: diagnosis.Explain},
			Want: []audittest.Want{{Category: audit.Vacuous, Message: `^the embedding has collapsed: `}},
		}
		audittest.Run(t, features.Check, f, audittest.Fixture{Subject: subject(t, "invariant", invariant, false)})
		r := audittest.Audit(t, f, features.Check)
		if r.Verdict != audit.NeedsAttention {
			t.Errorf("%s: %s", name, r.Verdict)
		}
		if len(r.Diagnoses) == 0 || !strings.HasPrefix(r.Diagnoses[0].ID, "collapsed") {
			t.Errorf("%s: causes %+v", name, r.Diagnoses)
		}
		if !strings.Contains(strings.Join(r.Gist(), "\n"), "The embedding has collapsed: ") {
			t.Errorf("%s: gist %q", name, r.Gist())
		}
	}
	if _, _, v := examine(t, subject(t, "collapsed", collapsed, false)); math.Abs(v.Rank.Value-1) > 1e-9 {
		t.Errorf("effective rank %g of features along one line", v.Rank.Value)
	}
}

// What is claimed, and whether it holds, decides what is said: nothing is left of an input, a map explains all, or it
// explains nothing.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       audit.Predictor
		moves   bool
		verdict audit.Verdict
		check   func(r *features.Result) bool
	}{
		{"invariant", invariant, false, audit.Passed, func(r *features.Result) bool {
			return r.NoMaps != "" && each(r, func(e features.Element) bool {
				return e.Ratio.Hi < 1e-5 && e.AUC.Value > 1-1e-9 && e.AUC.Lo > 0.9 && e.Cosine.Value > 0.999
			})
		}},
		{"turning", turning, true, audit.Passed, func(r *features.Result) bool {
			return r.NoMaps == "" && each(r, func(e features.Element) bool {
				return e.Ratio.Lo > 0.3 && e.R2.Lo > 0.999 && e.R2.Hi <= 1
			})
		}},
		{"neither, said to stay", neither, false, audit.Failed, func(r *features.Result) bool {
			return r.NoMaps != "" && each(r, func(e features.Element) bool {
				return e.Ratio.Lo > 0.6 && e.AUC.Hi < 0.8 && e.Cosine.Value < 0.5
			})
		}},
		{"neither, said to turn", neither, true, audit.Failed, func(r *features.Result) bool {
			return r.NoMaps == "" && each(r, func(e features.Element) bool { return e.R2.Hi < 0.6 })
		}},
	} {
		r, x, v := examine(t, subject(t, c.name, c.p, c.moves))
		if x.Status != audit.Tested {
			t.Fatalf("%s: %s: %s", c.name, x.Status, x.Reason)
		}
		if r.Verdict != c.verdict || len(x.Findings) > 0 || v.Collapsed || v.Rank.Value < 2 {
			t.Errorf("%s: %s, findings %v, rank %v; %v", c.name, r.Verdict, x.Findings, v.Rank, r.Reasons)
		}
		if len(v.By) != 7 || !c.check(v) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

func each(r *features.Result, f func(features.Element) bool) bool {
	for _, e := range r.By {
		if !f(e) {
			return false
		}
	}
	return true
}

// A half turn takes features that turn to their negatives. What is said of it is compared with sums over the inputs.
func TestHalfTurn(t *testing.T) {
	s := subject(t, "turning", turning, true)
	_, _, v := examine(t, s)
	var all [][]float64
	for i := range inputs {
		x, err := s.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		y, err := turning.Predict(t.Context(), []space.Value{x.Value})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, y[0].Numbers())
	}
	far := func(a, b []float64, sign float64) float64 {
		d := 0.0
		for i := range a {
			d += (a[i] - sign*b[i]) * (a[i] - sign*b[i])
		}
		return math.Sqrt(d)
	}
	turned := make([]float64, len(all))
	own, others, pairs, nearer, of := 0.0, 0.0, 0, 0.0, 0
	for i, x := range all {
		turned[i] = far(x, x, -1)
		own += turned[i] / inputs
	}
	for i, x := range all {
		for _, y := range all[:i] {
			others += far(x, y, 1)
			pairs++
			// both as they are, both turned, and one of each twice
			for _, d := range []float64{far(x, y, 1), far(x, y, 1), far(x, y, -1), far(x, y, -1)} {
				for _, z := range turned {
					if of++; z < d {
						nearer++
					}
				}
			}
		}
	}
	for _, e := range v.By {
		if e.Label != "180°" {
			continue
		}
		ratio, auc := own/(others/float64(pairs)), nearer/float64(of)
		if math.Abs(e.Ratio.Value-ratio) > 1e-5*ratio || math.Abs(e.AUC.Value-auc) > 1e-3 {
			t.Errorf("ratio %g, want %g; AUC %g, want %g", e.Ratio.Value, ratio, e.AUC.Value, auc)
		}
		if !(e.Ratio.Lo < ratio && ratio < e.Ratio.Hi) || !(e.AUC.Lo < auc && auc < e.AUC.Hi) {
			t.Errorf("intervals %v, %v", e.Ratio, e.AUC)
		}
		return
	}
	t.Errorf("no half turn: %+v", v.By)
}

// Of too few inputs nothing is said, and that is no pass; an output that nobody calls an embedding is none.
func TestUntested(t *testing.T) {
	s := subject(t, "few", invariant, false)
	s.N = 3
	if _, x, _ := examine(t, s); x.Status != audit.NotTested ||
		!strings.Contains(x.Reason, "3 inputs, want at least 4") {
		t.Errorf("%s: %s", x.Status, x.Reason)
	}
	// Of five there is no interval, which is said in words.
	s = subject(t, "few", turning, true)
	s.N = 5
	if r, x, v := examine(t, s); x.Status != audit.Tested || !math.IsNaN(v.By[0].Ratio.Lo) || v.By[0].AUC.Lo != 0 ||
		v.By[0].AUC.Hi != 1 || strings.Contains(fmt.Sprint(x), "Inf") || !strings.Contains(strings.Join(r.Gist(), " "),
		"of the way to another input (the interval is not known), and a moved input is nearer than another one with") {
		t.Errorf("%s: %+v; %q", x.Status, v, r.Gist())
	}
	s = subject(t, "too few to learn from", turning, true)
	s.N = 6
	_, x, v := examine(t, s)
	if x.Status != audit.Tested || !strings.HasPrefix(v.NoMaps, "too few inputs: ") {
		t.Errorf("%s: %+v", x.Status, v)
	}
	if len(x.Exhibits) != 1 || !strings.Contains(x.Exhibits[0].Note, "Maps were not tested: too few inputs: ") {
		t.Errorf("%+v", x.Exhibits)
	}
	s = subject(t, "a vector", collapsed, false)
	s.OutSpec.Features = false
	if _, x, _ := examine(t, s); x.Status != audit.NotApplicable ||
		len(x.Findings) > 0 {
		t.Errorf("%s: %v", x.Status, x.Findings)
	}
}
