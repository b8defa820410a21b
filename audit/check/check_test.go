package check_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check"
	"nero/audit/check/controls"
	"nero/audit/check/decision"
	"nero/audit/check/endtoend"
	"nero/audit/check/lattice"
	"nero/audit/check/preflight"
	"nero/audit/check/sweep"
	"nero/audit/render"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

func TestListIsValid(t *testing.T) {
	if err := audit.Validate(check.All()); err != nil {
		t.Error(err)
	}
}

const inputs = 80

func vectors(name string, p audit.Predictor, plan *orbit.Plan) *audit.Subject {
	return &audit.Subject{
		Name: name, Predictor: p, Plan: plan, N: inputs, Sample: audittest.Vectors(inputs, 3),
		Seed: 1,
	}
}

const side = 15

// pictures is a subject of square pictures.
func pictures(name string, p audit.Predictor, plan *orbit.Plan) *audit.Subject {
	return &audit.Subject{
		Name: name, Predictor: p, Plan: plan, N: inputs,
		Sample: audittest.Pictures(inputs, side, side, 3), Seed: 1,
	}
}

// moves is the action of a group on pictures.
func moves(t *testing.T, g group.Group, o action.Options) action.Action {
	t.Helper()
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, side, side}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func finite(t *testing.T) func(group.Group, error) group.Group {
	t.Helper()
	return func(g group.Group, err error) group.Group {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

// shifted adds 1 to the first number of everything it moves: no representation.
type shifted struct{ action.Action }

func (a shifted) Apply(g group.Element, v space.Value) (space.Value, error) {
	w, err := a.Action.Apply(g, v)
	if x, ok := w.(*space.Tensor); ok && a.Group().Dist(g, a.Group().Identity()) != 0 {
		x.Val[0]++
	}
	return w, err
}

func (a shifted) Exact(g group.Element) bool { return action.Exact(a.Action, g) }

// late is an action whose composition is reversed: right for abelian groups, wrong for D4.
type late struct{ action.Action }

func (a late) Apply(g group.Element, v space.Value) (space.Value, error) {
	return a.Action.Apply(a.Group().Inv(g), v)
}

func (a late) Exact(g group.Element) bool { return action.Exact(a.Action, g) }

func TestPreflight(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	d4 := finite(t)(catalog.Dihedral(4))
	in := audittest.Plane(t, c4)
	right := vectors("right", audittest.Radius(0), audittest.Plan(t, in, action.Trivial{G: c4}))
	t.Run("input action", func(t *testing.T) {
		wrong := vectors("wrong", audittest.Radius(0), audittest.Plan(t, shifted{in}, action.Trivial{G: c4}))
		audittest.Run(t, preflight.Check,
			audittest.Fixture{
				Subject: wrong,
				Want:    []audittest.Want{{Category: audit.ActionLaw, Message: "input action"}},
			},
			audittest.Fixture{Subject: right})
	})
	t.Run("order of composition", func(t *testing.T) {
		a := moves(t, d4, action.Options{})
		audittest.Run(t, preflight.Check,
			audittest.Fixture{
				Subject: pictures("reversed", audittest.Rings(4), audittest.Plan(t, late{a}, action.Trivial{G: d4})),
				Want:    []audittest.Want{{Category: audit.ActionLaw, Message: `ρ\(g\)ρ\(h\) = ρ\(gh\)`}},
			},
			audittest.Fixture{Subject: pictures("forward", audittest.Rings(4),
				audittest.Plan(t, a, action.Trivial{G: d4}))})
	})
	t.Run("output not finite", func(t *testing.T) {
		bad, err := right.Sample(0)
		if err != nil {
			t.Fatal(err)
		}
		audittest.Run(t, preflight.Check,
			audittest.Fixture{
				Subject: vectors("nan", audittest.NaNAt(bad.Value), right.Plan),
				Want:    []audittest.Want{{Category: audit.NonFinite, Message: "s000"}},
			},
			audittest.Fixture{Subject: right})
	})
	t.Run("output of another form", func(t *testing.T) {
		ragged := audittest.Pointwise(func(v space.Value) space.Value {
			n := 2
			if v.(*space.Tensor).Val[0] > 0 { //nolint:errcheck // vectors only
				n = 3
			}
			return &space.Scores{Val: make([]float64, n)}
		})
		r := audittest.Audit(t, audittest.Fixture{Subject: vectors("ragged", ragged, right.Plan)}, check.All()...)
		for _, f := range r.Findings() {
			if f.Category != audit.Shape {
				t.Errorf("%s: %s", f.Category, f.Message)
			}
		}
		if r.Verdict != audit.Failed {
			t.Errorf("%s, want FAIL for outputs that change their form", r.Verdict)
		}
		for _, c := range r.Results[1:] {
			if c.Status != audit.NotTested {
				t.Errorf("%s is %s, want not tested", c.Check.Name, c.Status)
			}
		}
	})
}

// No kernel, border and group of this project may be called a broken action.
func TestLawsOfRealActions(t *testing.T) {
	roll := finite(t)(catalog.Roll(side, side))
	groups := map[string][]group.Element{
		"SO(2)":         {{0}, {90}, {7}, {45}, {180}, {200}, {271}},
		"O(2)":          {{0, 0}, {0, 1}, {90, 1}, {33, 0}, {33, 1}, {180, 0}},
		"T(2)":          {{0, 0}, {1, 0}, {0, -3}, {7, 7}, {0.5, 0.25}, {-2.3, 1}, {14, 0}},
		"SE(2)":         {{0, 0, 0}, {90, 1, 0}, {30, 0.5, 2}, {180, 0, 0}, {0, 3, -2}},
		"scale":         {{1}, {0.5}, {2}, {1.25}, {0.9}},
		"roll":          {{0, 0}, {1, 0}, {7, 3}, {14, 14}},
		"D4":            nil,
		"SO(2) by 0.01": {{0}, {0.01}, {0.02}},
	}
	byName := map[string]group.Group{
		"SO(2)": catalog.SO2(), "O(2)": catalog.O2(), "T(2)": catalog.T2(), "SE(2)": catalog.SE2(),
		"scale": catalog.Scale(),
		"roll":  roll,
		"D4":    finite(t)(catalog.Dihedral(4)), "SO(2) by 0.01": catalog.SO2(),
	}
	for name, elements := range groups {
		for _, k := range action.Kernels() {
			for _, b := range action.Borders() {
				g := byName[name]
				if name == "roll" && b != action.Circular {
					continue
				}
				a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, side, side}},
					action.Options{Kernel: k, Border: b})
				if err != nil {
					t.Fatalf("%s %s %s: %v", name, k, b, err)
				}
				s := pictures(fmt.Sprintf("%s %s %s", name, k, b), audittest.Rings(3),
					audittest.Plan(t, a, a, elements...))
				s.Predictor = audittest.Pointwise(func(v space.Value) space.Value {
					y := v.Clone()
					return y
				})
				s.N = 4
				r := audittest.Audit(t, audittest.Fixture{Subject: s}, preflight.Check)
				for _, f := range r.Findings() {
					t.Errorf("%s: %s: %s %v", s.Name, f.Category, f.Message, f.Evidence[0].Value)
				}
			}
		}
	}
}

// A window cut from a larger picture is no action on pictures of one size; its laws cannot be tested and are not called
// broken.
func TestWindow(t *testing.T) {
	a, err := action.NewImage(catalog.T2Z(), space.Spec{Kind: space.KindImage, Shape: []int{1, side, side}},
		action.Options{Window: []int{9, 9}})
	if err != nil {
		t.Fatal(err)
	}
	mean := audittest.Pointwise(func(v space.Value) space.Value {
		m := v.(*space.Image) //nolint:errcheck // pictures only
		if m.H != 9 || m.W != 9 {
			t.Errorf("the model is fed %d×%d, want the window", m.H, m.W)
		}
		return &space.Tensor{Shape: []int{1}, Val: []float64{m.Pix[40]}}
	})
	plan := audittest.Plan(t, a, action.Trivial{G: catalog.T2Z()}, group.Element{0, 0}, group.Element{1, 0},
		group.Element{0, 2})
	r := audittest.Audit(t, audittest.Fixture{Subject: pictures("window", mean, plan)}, check.All()...)
	if r.Verdict != audit.Failed {
		t.Errorf("%s, want FAIL for a pixel that moves: %q", r.Verdict, r.Reasons)
	}
	for _, f := range r.Findings() {
		if f.Category != audit.Violation {
			t.Errorf("%s: %s", f.Category, f.Message)
		}
	}
}

func TestSweep(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	in := audittest.Plane(t, c4)
	plan := audittest.Plan(t, in, action.Trivial{G: c4})
	clean := audittest.Fixture{Subject: vectors("radius", audittest.Radius(0), plan)}
	t.Run("not finite", func(t *testing.T) {
		x, err := clean.Subject.Sample(33)
		if err != nil {
			t.Fatal(err)
		}
		moved, err := in.Apply(group.Element{180}, x.Value)
		if err != nil {
			t.Fatal(err)
		}
		audittest.Run(t, sweep.Check, audittest.Fixture{
			Subject: vectors("nan", audittest.NaNAt(moved), plan),
			Want:    []audittest.Want{{Category: audit.NonFinite, Message: "1 of 240 .* sample s033 at 180°"}},
		}, clean)
	})
	t.Run("blank inputs", func(t *testing.T) {
		blank := vectors("blank", audittest.Radius(0), plan)
		blank.Sample = func(i int) (dataset.Sample, error) {
			s := dataset.Sample{
				ID: strconv.Itoa(i), Label: -1,
				Value: &space.Tensor{Shape: []int{2}, Val: []float64{0, 0}},
			}
			return s, nil // all are copies of one
		}
		audittest.Run(t, sweep.Check, audittest.Fixture{
			Subject: blank, Want: []audittest.Want{{Category: audit.Uninformative, Message: "none of 1"}},
		}, clean)
	})
}

func TestControls(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	in := audittest.Plane(t, c4)
	plan := audittest.Plan(t, in, action.Trivial{G: c4})
	clean := audittest.Fixture{Subject: vectors("radius", audittest.Radius(0), plan)}
	for _, c := range []struct {
		name  string
		model audit.Predictor
		want  *audit.Category
	}{
		{"constant", audittest.Constant(1, 2), audit.Vacuous},
		{"nearly constant", audittest.Pointwise(func(v space.Value) space.Value {
			return &space.Tensor{
				Shape: []int{1},
				Val:   []float64{1 + 1e-7*v.(*space.Tensor).Val[0]}, //nolint:errcheck // vectors only
			}
		}), audit.Vacuous},
		{"stochastic", audittest.Stochastic(audittest.Radius(0), 1e-2, 3), audit.NonRepeatable},
		{"leaky", audittest.Leaky{Predictor: audittest.Radius(0), Size: 1e-2}, audit.BatchDependent},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := []audittest.Want{{Category: c.want}}
			if c.want == audit.NonRepeatable || c.want == audit.BatchDependent {
				// Noise of a hundredth hides a planted break of a thousandth; it does so above the limit, and is no
				// finding of its own.
				want = want[:1]
			}
			audittest.Run(t, controls.Check, audittest.Fixture{Subject: vectors(c.name, c.model, plan), Want: want},
				clean)
		})
	}
	t.Run("identity", func(t *testing.T) {
		d4 := finite(t)(catalog.Dihedral(4))
		square := audittest.Convolution([]float64{0.1}, true)
		in, out := moves(t, d4, action.Options{}), moves(t, d4, action.Options{Kernel: action.Up3})
		audittest.Run(t, controls.Check,
			audittest.Fixture{
				Subject: pictures("blurred", square, audittest.Plan(t, in, out)),
				Want:    []audittest.Want{{Category: audit.IdentityControl}},
			},
			audittest.Fixture{Subject: pictures("sharp", square, audittest.Plan(t, in, in))})
	})
	t.Run("planted break", func(t *testing.T) {
		// Pictures that are themselves symmetric cannot show a break.
		d4 := finite(t)(catalog.Dihedral(4))
		symmetric := pictures("symmetric inputs", audittest.Rings(4),
			audittest.Plan(t, moves(t, d4, action.Options{}), action.Trivial{G: d4}))
		free := *symmetric
		free.Name = "free inputs"
		symmetric.Sample = func(i int) (dataset.Sample, error) {
			m := space.NewImage(1, side, side)
			for j := range m.Pix {
				y, x := float64(j/side-side/2), float64(j%side-side/2)
				m.Pix[j] = 100 * math.Exp(-(y*y+x*x)/float64(i+2))
			}
			return dataset.Sample{ID: strconv.Itoa(i), Label: -1, Value: m}, nil
		}
		audittest.Run(t, controls.Check,
			audittest.Fixture{
				Subject: symmetric,
				Want:    []audittest.Want{{Category: audit.PositiveControl, Message: "no planted break"}},
			},
			audittest.Fixture{Subject: &free})
	})
}

// What a break of known size does to the error is known, so the detectable size can be checked from both sides: a model
// with that break planted for good is told from the clean one, and a break a thousand times smaller is not.
func TestDetectableSize(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	plan := audittest.Plan(t, audittest.Plane(t, c4), action.Trivial{G: c4})
	worst := func(eps float64) (audit.Interval, float64) {
		r := audittest.Audit(t, audittest.Fixture{Subject: vectors("radius", audittest.Radius(eps, 1, -0.5), plan)},
			check.All()...)
		s := r.Sets()[0]
		return s.Worst, s.Detectable
	}
	clean, size := worst(0)
	if !(size >= 1e-7 && size <= 1e-4) {
		t.Fatalf("detectable size %g of a float32 model without error, want between 1e-7 and 1e-4", size)
	}
	if broken, _ := worst(10 * size); !(broken.Lo > clean.Hi) {
		t.Errorf("a break of ten times the detectable size gives %v, the clean model %v", broken, clean)
	}
	if broken, _ := worst(size / 1000); broken.Lo > clean.Hi && broken.Value > 1e-6 {
		t.Errorf("a break of a thousandth of the detectable size gives %v, the clean model %v", broken, clean)
	}
}

// A sum in another order rounds otherwise, while changes of the inputs by an ulp hardly reach it. That error is
// rounding; an asymmetry of the same model is not.
func TestOrderOfSummation(t *testing.T) {
	c2 := finite(t)(catalog.Cyclic(2))
	const n = 200
	in, err := action.NewImage(c2, space.Spec{Kind: space.KindImage, Shape: []int{1, n, n}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan := audittest.Plan(t, in, action.Trivial{G: c2})
	noise := audittest.Noise(72, n, n, 3)
	for _, c := range []struct {
		name   string
		center float64
		eps    float64
		wide   bool
		want   audit.Cause
	}{
		{"mean", 0, 0, false, audit.CauseRoundoff},
		{"lopsided", 0, 0.2, false, audit.CauseViolation},
		// the halves vary as much as the whole
		{"lopsided by 2e-4, summed in float64", 127.5, 1e-4, true, audit.CauseViolation},
	} {
		s := &audit.Subject{
			Name: c.name, Predictor: audittest.Mean(c.eps, c.wide), Plan: plan, N: 12, Seed: 1,
			Members: 60,
		}
		s.Member = func(i int) (dataset.Sample, error) { return s.Sample(12 + i) }
		s.Sample = func(i int) (dataset.Sample, error) {
			v, err := noise(i)
			m := v.Value.(*space.Image) //nolint:errcheck // pictures only
			for j, x := range m.Pix {
				m.Pix[j] = (math.Floor(x) - c.center) / 255 // bytes, as of a photo
			}
			return v, err
		}
		r := audittest.Audit(t, audittest.Fixture{Subject: s}, lattice.Check)
		set := r.Sets()[0]
		if set.Cause != c.want || !(set.Floors.Rounding > 0) ||
			(set.Verdict == audit.Failed) != (c.want == audit.CauseViolation) {
			t.Errorf("%s: %s, %s: %s; error %g, floor %g", c.name, set.Cause, set.Verdict, set.Reason, set.Worst.Value,
				set.Floors.Rounding)
		}
		if !(set.Worst.Value > 1e-4) {
			t.Errorf("%s: error %g, want one above the limit", c.name, set.Worst.Value)
		}
	}
}

// The floor of a model that computes in floating point is never 0: an output cannot be told from its neighbors.
func TestFloorIsNotZero(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	plan := audittest.Plan(t, audittest.Plane(t, c4), action.Trivial{G: c4})
	coarse := audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Tensor).Val //nolint:errcheck // vectors only
		return &space.Tensor{Shape: []int{1}, Val: []float64{math.Round(4*x[0]) + 1000}}
	})
	r := audittest.Audit(t, audittest.Fixture{Subject: vectors("coarse", coarse, plan)}, lattice.Check)
	s := r.Sets()[0]
	if want := 1000.0 / (1 << 24) / s.Scale; !(s.Floors.Rounding >= want) || s.Cause != audit.CauseViolation {
		t.Errorf("floor %g, want at least %g; %s", s.Floors.Rounding, want, s.Cause)
	}
}

// Advice fits what stands in the way of a verdict.
func TestAdvice(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	plan := audittest.Plan(t, audittest.Plane(t, c4), action.Trivial{G: c4})
	sized := func(p audit.Predictor, n int) *audit.Subject {
		s := vectors("m", p, plan)
		s.N = n
		return s
	}
	supplied := func(s *audit.Subject, study, data int) *audit.Subject {
		s.Supply = audit.Supply{Study: study, Data: data}
		return s
	}
	copied := func(s *audit.Subject, given int) *audit.Subject {
		s.Given = given
		return s
	}
	// Turns swap the two squares, which float32 does not add in the same way.
	rounds := audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Tensor).Val //nolint:errcheck // vectors only
		return &space.Tensor{Shape: []int{1}, Val: []float64{x[0]*x[0] + x[1]*x[1] + 3e-7*x[0]}}
	})
	for _, c := range []struct {
		name    string
		subject *audit.Subject
		cause   audit.Cause
		want    string
		not     string
	}{
		{
			"too few inputs, rounding", sized(rounds, 60), audit.CauseRoundoff,
			"12 more inputs would decide, or --fail-on fail", "float64",
		},
		{
			"no more inputs", supplied(sized(rounds, 60), 60, 60), audit.CauseRoundoff,
			"12 more inputs would decide, and the data has 60 in all: add some, or --fail-on fail", "float64",
		},
		{
			"a study that takes few", supplied(sized(rounds, 60), 60, 90), audit.CauseRoundoff,
			"about 72 inputs would decide; the study takes 60 of the 90 that the data has", "in all",
		},
		{
			"copies are no inputs", copied(supplied(sized(rounds, 60), 75, 75), 64), audit.CauseRoundoff,
			"about 72 inputs would decide, and the data has 71: it takes more data", "float64",
		},
		{
			"violation", sized(audittest.Linear(1, 0.5), 80), audit.CauseViolation,
			"the weights themselves are not symmetric", "more inputs",
		},
		{"one input", sized(audittest.Radius(0), 1), audit.CauseVacuous, "give at least two", "dead layer"},
		{"constant", sized(audittest.Constant(1), 80), audit.CauseVacuous, "dead layer", "give at least two"},
	} {
		r := audittest.Audit(t, audittest.Fixture{Subject: c.subject}, lattice.Check)
		var all []string
		for _, f := range r.Findings() {
			all = append(all, f.Message)
			all = append(all, f.Remedies...)
		}
		text := strings.Join(all, "\n")
		if s := r.Sets()[0]; s.Cause != c.cause || !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%s: %s; want %q and not %q in\n%s", c.name, s.Cause, c.want, c.not, text)
		}
	}
}

func TestLattice(t *testing.T) {
	roll := finite(t)(catalog.Roll(side, side))
	d4 := finite(t)(catalog.Dihedral(4))
	var some []group.Element
	for _, e := range roll.(group.Finite).Elements() { //nolint:errcheck // a roll is finite
		if int(e[0])%6 == 0 && int(e[1])%7 == 0 {
			some = append(some, e)
		}
	}
	wrap := moves(t, roll, action.Options{Border: action.Circular})
	turn := moves(t, d4, action.Options{})
	lopsided := []float64{0.1, 0.2, -0.1, 0.3, 0.5, 0, 0, -0.2, 0.1}
	symmetric := []float64{0.1, 0.2, 0.1, 0.2, 0.5, 0.2, 0.1, 0.2, 0.1}
	noise := func(s *audit.Subject) *audit.Subject { // pictures that reach the border
		s.Sample = audittest.Noise(inputs, side, side, 3)
		return s
	}
	t.Run("zero padding under a roll", func(t *testing.T) {
		plan := audittest.Plan(t, wrap, wrap, some...)
		audittest.Run(t, lattice.Check,
			audittest.Fixture{
				Subject: noise(pictures("zero", audittest.Convolution(lopsided, false), plan)),
				Want:    []audittest.Want{{Category: audit.Violation}},
			},
			audittest.Fixture{Subject: noise(pictures("circular", audittest.Convolution(lopsided, true), plan))})
	})
	t.Run("lopsided kernel under D4", func(t *testing.T) {
		plan := audittest.Plan(t, turn, turn)
		audittest.Run(t, lattice.Check,
			audittest.Fixture{
				Subject: noise(pictures("lopsided", audittest.Convolution(lopsided, false), plan)),
				Want:    []audittest.Want{{Category: audit.Violation}},
			},
			audittest.Fixture{Subject: noise(pictures("symmetric", audittest.Convolution(symmetric, false), plan))})
	})
	t.Run("invariance claimed for an equivariant model", func(t *testing.T) {
		audittest.Run(t, lattice.Check,
			audittest.Fixture{
				Subject: pictures("claimed", audittest.Convolution(symmetric, true),
					audittest.Plan(t, turn, action.Trivial{G: d4})),
				Want: []audittest.Want{{Category: audit.Convention, Message: "moves as the input does"}},
			},
			audittest.Fixture{Subject: pictures("declared", audittest.Convolution(symmetric, true),
				audittest.Plan(t, turn, turn))})
	})
	t.Run("a convention that only the first elements keep", func(t *testing.T) {
		// Turns leave the output where it is and mirrors do not: with turns alone tried, invariance would pass.
		hands := audittest.Pointwise(func(v space.Value) space.Value {
			m := v.(*space.Image) //nolint:errcheck // pictures only
			out := &space.Image{C: 1, H: m.H, W: m.W, Pix: make([]float64, len(m.Pix))}
			var sum float64
			for i, x := range m.Pix {
				y, c := i/m.W, i%m.W
				sum += x * float64((2*y-m.H+1)*(2*c-m.W+1)*((2*y-m.H+1)*(2*y-m.H+1)-(2*c-m.W+1)*(2*c-m.W+1)))
			}
			for i := range out.Pix {
				out.Pix[i] = float64(float32(sum / float64(m.H*m.H*m.H*m.H)))
			}
			return out
		})
		plan := audittest.Plan(t, turn, turn)
		s := pictures("pseudo-scalar", hands, plan)
		r := audittest.Audit(t,
			audittest.Fixture{Subject: s, Options: audit.Options{Params: map[string]float64{"lattice.elements": 3}}},
			lattice.Check)
		for _, f := range r.Findings() {
			if f.Category == audit.Convention {
				t.Errorf("%s", f.Message)
			}
		}
	})
	t.Run("equivariance claimed for an invariant model", func(t *testing.T) {
		c4 := finite(t)(catalog.Cyclic(4))
		in := audittest.Plane(t, c4)
		squares := audittest.Pointwise(func(v space.Value) space.Value {
			x := v.(*space.Tensor).Val //nolint:errcheck // vectors only
			return &space.Tensor{Shape: []int{2}, Val: []float64{x[0]*x[0] + x[1]*x[1], 3}}
		})
		audittest.Run(t, lattice.Check,
			audittest.Fixture{
				Subject: vectors("claimed", squares, audittest.Plan(t, in, in)),
				Want:    []audittest.Want{{Category: audit.Convention, Message: "invariant"}},
			},
			audittest.Fixture{Subject: vectors("declared", squares, audittest.Plan(t, in, action.Trivial{G: c4}))})
	})
	t.Run("masks", func(t *testing.T) {
		out, err := action.NewMask(d4, space.Spec{Kind: space.KindMask, Shape: []int{side, side}}, action.Options{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		segment := func(bias int) audit.Predictor {
			return audittest.Pointwise(func(v space.Value) space.Value {
				x := v.(*space.Image) //nolint:errcheck // pictures only
				m := &space.Mask{H: x.H, W: x.W, Label: make([]int32, len(x.Pix))}
				for i, p := range x.Pix {
					if p > 60 || i < bias {
						m.Label[i] = 1
					}
				}
				return m
			})
		}
		plan := audittest.Plan(t, turn, out)
		// Truth is read while answers are compared, each sample's in its own chunk: one for the race detector.
		told := pictures("told", segment(0), plan)
		told.Chunk = 1
		sample := told.Sample
		told.Sample = func(i int) (dataset.Sample, error) {
			s, err := sample(i)
			if x, ok := s.Value.(*space.Image); ok {
				s.Target = &space.Mask{H: x.H, W: x.W, Label: make([]int32, len(x.Pix))}
			}
			return s, err
		}
		if r := audittest.Audit(t, audittest.Fixture{Subject: told}, sweep.Check); r.Error != "" {
			t.Error(r.Error)
		}
		audittest.Run(t, lattice.Check,
			audittest.Fixture{
				Subject: pictures("first row", segment(side), plan),
				Want: []audittest.Want{{
					Category: audit.Violation,
					Message:  `changes its answer at 0\.\d+ of the pixels`,
				}},
			},
			audittest.Fixture{Subject: pictures("threshold", segment(0), plan)})
		// The first row is marked; under a half turn the last one as well. Those are the two rows that differ.
		r := audittest.Audit(t, audittest.Fixture{Subject: pictures("first row", segment(side), plan)}, lattice.Check)
		set := r.Sets()[0]
		if want := 2.0 / side; set.Unit != audit.PixelShare || set.Scale != 1 || math.Abs(set.Rel.Max-want) > 1e-12 {
			t.Errorf("largest error %g %s of the scale %g, want the share %g", set.Rel.Max, set.Unit, set.Scale, want)
		}
		var b strings.Builder
		if err := render.Text.Render(&b, audit.Document(r)); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"of the pixels, and rounding explains", "errors are shares of",
			"shares of differing pixels, without a scale",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("the text does not say %q:\n%s", want, b.String())
			}
		}
		if strings.Contains(b.String(), "infinite times") {
			t.Errorf("an error is infinite times a floor:\n%s", b.String())
		}
	})
}

func TestEndtoend(t *testing.T) {
	g := catalog.SO2()
	angles := audittest.Angles(10)
	bilinear := moves(t, g, action.Options{Kernel: action.Bilinear})
	t.Run("real", func(t *testing.T) {
		plan := audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}, angles...)
		audittest.Run(t, endtoend.Check,
			audittest.Fixture{
				Subject: vectors("linear", audittest.Linear(1, 2), plan),
				Want:    []audittest.Want{{Category: audit.Violation}},
			},
			audittest.Fixture{Subject: vectors("radius", audittest.Radius(0), plan)})
	})
	t.Run("resampling", func(t *testing.T) {
		// Rings are invariant; what turns a picture of smooth bumps costs is the interpolation. A fine kernel at a
		// coarse limit is clean.
		plan := audittest.Plan(t, bilinear, action.Trivial{G: g}, angles...)
		fine := audittest.Plan(t, moves(t, g, action.Options{Kernel: action.Spline}), action.Trivial{G: g}, angles...)
		loose, err := audit.NewPolicy("", 0.1, 0)
		if err != nil {
			t.Fatal(err)
		}
		audittest.Run(t, endtoend.Check,
			audittest.Fixture{
				Subject: pictures("bilinear", audittest.Rings(5), plan),
				Want:    []audittest.Want{{Category: audit.Resampling}},
			},
			audittest.Fixture{Subject: pictures("spline", audittest.Rings(5), fine), Policy: loose})
	})
	t.Run("real beyond resampling", func(t *testing.T) {
		// A model that reads one quadrant.
		quadrant := audittest.Pointwise(func(v space.Value) space.Value {
			m := v.(*space.Image) //nolint:errcheck // pictures only
			var s float64
			for i, p := range m.Pix {
				if i/side < side/2 && i%side < side/2 {
					s += p
				}
			}
			return &space.Tensor{Shape: []int{1}, Val: []float64{s}}
		})
		plan := audittest.Plan(t, bilinear, action.Trivial{G: g}, angles...)
		r := audittest.Audit(t, audittest.Fixture{Subject: pictures("quadrant", quadrant, plan)}, check.All()...)
		for _, s := range r.Sets() {
			if s.Cause != audit.CauseViolation || s.Verdict != audit.Failed {
				t.Errorf("%s: %s, %s: %+v", s.Name, s.Cause, s.Verdict, s.Ratio)
			}
		}
	})
}

// A quarter-turn invariant model on pictures audited on the whole circle: exact on the comb; between, the rings tell
// resampling and the corners a violation.
func TestCombOfPictures(t *testing.T) {
	g := catalog.SO2()
	plan := audittest.Plan(t, moves(t, g, action.Options{}), action.Trivial{G: g}, audittest.Angles(16)...)
	corners := audittest.Pointwise(func(v space.Value) space.Value {
		m := v.(*space.Image) //nolint:errcheck // pictures only
		at := func(r, c int) float64 { return m.Pix[r*side+c] }
		const k = side / 4
		return &space.Tensor{
			Shape: []int{1},
			Val:   []float64{at(k, k) + at(side-1-k, side-1-k) + (at(side-1-k, k) + at(k, side-1-k))},
		}
	})
	r := audittest.Audit(t, audittest.Fixture{Subject: pictures("corners", corners, plan)}, check.All()...)
	sets := r.Sets()
	if len(sets) != 2 || sets[0].Verdict != audit.Passed || sets[1].Verdict != audit.Failed ||
		r.Verdict != audit.Failed {
		t.Errorf("corners: %s: %q", r.Verdict, r.Reasons)
	}
	r = audittest.Audit(t, audittest.Fixture{Subject: pictures("rings", audittest.Rings(4), plan)}, check.All()...)
	if sets = r.Sets(); sets[0].Verdict != audit.Passed || sets[1].Cause != audit.CauseResampling ||
		r.Verdict != audit.NeedsAttention {
		t.Errorf("rings: %s: %q", r.Verdict, r.Reasons)
	}
	if a := strings.Join(r.Answers(), "\n"); !strings.Contains(a, "interpolation: the mean error") {
		t.Errorf("answers:\n%s", a)
	}
}

// The class of a linear function is the sign of w·x. Turned by 180 degrees it always flips, by 90 degrees for half of
// the directions.
func TestDecision(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	s := vectors("sign", audittest.Sign(1, 0), audittest.Plan(t, audittest.Plane(t, c4), action.Trivial{G: c4}))
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, decision.Check)
	var right, agreeRight, agreeWrong, wrong, flips float64
	for i := range inputs {
		x, err := s.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		// x positive: class 1. Turned by 180 degrees the class flips; by 90 and 270 degrees the two classes are
		// opposite, so one of them agrees: one of three in all.
		v := x.Value.(*space.Tensor).Val //nolint:errcheck // vectors only
		// Turned step by step the first coordinate is x, y, -x, -y: one change of sign in three steps, or two.
		if flips += 1.0 / 3; v[0]*v[1] < 0 {
			flips += 1.0 / 3
		}
		positive := 0
		if v[0] > 0 {
			positive = 1
		}
		if positive == x.Label {
			right++
			agreeRight += 1.0 / 3
		} else {
			wrong++
			agreeWrong += 1.0 / 3
		}
	}
	want := map[string]float64{
		"agreement with the unmoved input":     1.0 / 3,
		"inputs that agree on the whole orbit": 0,
		"flips at the worst element, 180°":     1,
		"accuracy unmoved":                     right / inputs,
		"accuracy at the worst of the orbit":   0,
		"agreement where right unmoved":        agreeRight / right,
		"agreement where wrong unmoved":        agreeWrong / wrong,
		"flips between neighbors of the plan":  flips / inputs,
		"accuracy over the orbit":              (right*1 + wrong*2) / 3 / inputs,
	}
	got := map[string]audit.Evidence{}
	for _, c := range r.Results {
		if c.Check == decision.Check {
			for _, e := range c.Measures {
				got[e.Name] = e
			}
		}
	}
	for name, w := range want {
		e, ok := got[name]
		if !ok || math.Abs(e.Value-w) > 1e-12 {
			t.Errorf("%s: %v, want %g", name, e, w)
		}
		if ok && !(e.Lo <= e.Value && e.Value <= e.Hi && e.Lo >= 0 && e.Hi <= 1) {
			t.Errorf("%s: interval %v", name, e)
		}
	}
}

// Chunks are a matter of memory: they change no number of a model that looks at one input at a time, and memory does
// not hold more than a few of them.
func TestChunksChangeNothing(t *testing.T) {
	g := catalog.SO2()
	plan := audittest.Plan(t, moves(t, g, action.Options{}), action.Trivial{G: g}, audittest.Angles(12)...)
	var first string
	for _, chunk := range []int{0, 1, 7, 1000} {
		s := pictures("rings", audittest.Rings(4), plan)
		s.Chunk = chunk
		var done, total int
		s.Progress = func(d, n int) { done, total = d, n }
		most := 0
		inner := s.Predictor
		s.Predictor = audit.PredictFunc(func(ctx context.Context, v []space.Value) ([]space.Value, error) {
			most = max(most, len(v))
			return inner.Predict(ctx, v)
		})
		r := audittest.Audit(t, audittest.Fixture{Subject: s}, check.All()...)
		var b strings.Builder
		if err := render.JSON.Render(&b, audit.Document(r)); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = b.String()
		}
		if b.String() != first {
			t.Errorf("chunks of %d change the report", chunk)
		}
		limit := chunk
		if chunk == 0 {
			limit = 256
		}
		if most > max(limit, 24) {
			t.Errorf("chunks of %d: the model was sent %d values at once", limit, most)
		}
		if done != total || done == 0 {
			t.Errorf("chunks of %d: progress ends at %d of %d", limit, done, total)
		}
	}
}
