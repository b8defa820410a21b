package search_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/endtoend"
	"nero/audit/check/search"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

const inputs = 80

// watched is a model of a point of the plane that keeps the angles it was asked about.
type watched struct {
	f      func(x, y float64) float64
	mu     sync.Mutex
	angles []float64
}

func (w *watched) Predict(_ context.Context, values []space.Value) ([]space.Value, error) {
	out := make([]space.Value, len(values))
	for i, v := range values {
		p := v.(*space.Tensor).Val //nolint:errcheck // vectors only
		w.mu.Lock()
		w.angles = append(w.angles, angle(p[0], p[1]))
		w.mu.Unlock()
		out[i] = &space.Tensor{Shape: []int{1}, Val: []float64{float64(float32(w.f(p[0], p[1])))}}
	}
	return out, nil
}

// angle of a point in degrees, counter-clockwise as displayed, in [0, 360).
func angle(x, y float64) float64 { return math.Mod(math.Atan2(-y, x)*180/math.Pi+360, 360) }

// rays are points on the positive x axis, so that the angle of an input is that of the element that moved it.
func rays(i int) (dataset.Sample, error) {
	return dataset.Sample{
		ID: strconv.Itoa(i), Label: -1,
		Value: &space.Tensor{Shape: []int{2}, Val: []float64{1 + 0.01*float64(i), 0}},
	}, nil
}

func onRays(t *testing.T, name string, g group.Group, p audit.Predictor, elements ...group.Element) *audit.Subject {
	t.Helper()
	return &audit.Subject{
		Name: name, Predictor: p, Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}, elements...),
		N: inputs, Sample: rays, Seed: 1,
	}
}

// run returns the report, the part of the check and what it found.
func run(t *testing.T, s *audit.Subject, params map[string]float64) (*audit.Report, *audit.Result, *search.Result) {
	t.Helper()
	var v *search.Result
	probe := &audit.Check{
		Name: "probe", Doc: "Probe keeps the result.", Requires: []*audit.Check{search.Check},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			v = audit.ResultOf[*search.Result](p, search.Check)
			return v, nil
		},
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s, Options: audit.Options{Params: params}}, endtoend.Check,
		search.Check, probe)
	for _, c := range r.Results {
		if c.Check == search.Check {
			return r, c, v
		}
	}
	t.Fatal("no result")
	return nil, nil, nil
}

func measure(t *testing.T, c *audit.Result, name string) float64 {
	t.Helper()
	for _, m := range c.Measures {
		if strings.HasPrefix(m.Name, name) {
			return m.Value
		}
	}
	t.Errorf("no measure %q in %+v", name, c.Measures)
	return math.NaN()
}

// bumped is invariant but for a bump of a given width at half of its height, in degrees; it is 0 from that distance on.
func bumped(height, at, wide float64) *watched {
	return &watched{f: func(x, y float64) float64 {
		f := x*x + y*y
		if d := math.Remainder(angle(x, y)-at, 360) / wide; math.Abs(d) < 1 {
			f += height * math.Pow(math.Cos(math.Pi/2*d), 2)
		}
		return f
	}}
}

// A defect of 5 degrees half-way between elements 15 degrees apart is nothing to the plan, and is found wherever it
// lies; its place and size are those that were planted. No set hears of it.
func TestNarrowDefect(t *testing.T) {
	for _, at := range []float64{52.5, 97.1, 188.4, 352.3} {
		s := onRays(t, fmt.Sprintf("defect at %g", at), catalog.SO2(), bumped(0.5, at, 5), audittest.Angles(24)...)
		r, c, got := run(t, s, nil)
		f := got.Found[0]
		want := 0.5 / r.Scale
		if math.Abs(f.Error/want-1) > 1e-3 || math.Abs(math.Remainder(f.At.Element[0]-at, 360)) > 0.1 ||
			!(f.Error > 10*f.PlanMost) {
			t.Errorf("%g: found %+v, want error %g", at, f, want)
		}
		clue := c.Clues[0]
		if clue.Name != audit.ClueNarrowPeak || !clue.Holds || clue.Strength != 1 || clue.Location != f.At.Label {
			t.Errorf("%g: clue %+v", at, clue)
		}
		if len(c.Findings) != 1 || c.Findings[0].Worst.Label != f.At.Label {
			t.Errorf("%g: findings %+v", at, c.Findings)
		}
		for _, s := range r.Sets() {
			if s.Rel.Max >= f.Error/2 {
				t.Errorf("%g: %s has the error %g, which was found by search", at, s.Name, s.Rel.Max)
			}
		}
		if len(c.Sets) > 0 {
			t.Errorf("%g: search hands in a set", at)
		}
	}
	// Where the plan sees nothing at all the finding stands in the way of PASS.
	r, c, _ := run(t, onRays(t, "hidden", catalog.SO2(), bumped(0.5, 52.5, 5), audittest.Angles(24)...), nil)
	if len(c.Findings) != 1 || c.Findings[0].Category != audit.Stress || r.Verdict != audit.NeedsAttention {
		t.Errorf("%s: %+v", r.Verdict, c.Findings)
	}
	for _, s := range r.Sets() {
		if s.Verdict != audit.Passed {
			t.Errorf("%s: %s: %s", s.Name, s.Verdict, s.Reason)
		}
	}
}

// Models without a peak have none found: one that is symmetric, and one that breaks everywhere alike.
func TestNoPeak(t *testing.T) {
	clean := onRays(t, "clean", catalog.SO2(), audittest.Radius(0), audittest.Angles(24)...)
	wide := onRays(t, "wide", catalog.SO2(), audittest.Linear(1, 2), audittest.Angles(24)...)
	for _, s := range []*audit.Subject{clean, wide} {
		r, c, got := run(t, s, nil)
		if len(c.Clues) != 1 || c.Clues[0].Holds || len(c.Findings) > 0 {
			t.Errorf("%s: %+v, %+v", s.Name, c.Clues, c.Findings)
		}
		if s == clean && r.Verdict != audit.Passed {
			t.Errorf("%s: %q", r.Verdict, r.Reasons)
		}
		for _, f := range got.Found {
			if f.Error < f.FromErr {
				t.Errorf("%s: refinement went down: %+v", s.Name, f)
			}
		}
	}
	// |w·(R(g)x - x)| is largest, 2‖w‖‖x‖·sin²-wise, where R(g)x points away from w: found to a thousandth, while the
	// plan is off by up to 7.5 degrees.
	_, c, got := run(t, wide, nil)
	most := 0.0
	for g := 0.0; g < 360; g += 0.01 {
		sin, cos := math.Sincos(g * math.Pi / 180)
		x := 1 + 0.01*float64(inputs-1)
		most = max(most, math.Abs(x*cos-2*x*sin-x))
	}
	r, _, _ := run(t, wide, nil)
	if f := got.Found[0]; math.Abs(f.Error*r.Scale/most-1) > 1e-3 {
		t.Errorf("found %g, the largest is %g", f.Error*r.Scale, most)
	}
	if b := measure(t, c, "bound of the largest error on the orbit, heuristic"); !(b*r.Scale >= most) {
		t.Errorf("bound %g below the largest %g", b*r.Scale, most)
	}
}

// The numbers of S2: gaps, the chance to miss, how many predictions it takes.
func TestMeasures(t *testing.T) {
	s := onRays(t, "clean", catalog.SO2(), audittest.Radius(0), audittest.Angles(24)...)
	_, c, _ := run(t, s, map[string]float64{"search.samples": 3, "search.scan": 48})
	for name, want := range map[string]float64{
		"largest gap of the plan": 15,
		"largest gap for the 3":   5,
		"chance that 24":          math.Pow(1-5.0/360, 24),
		"chance that this plan":   24 * (15.0 - 5) / 360,
		"the same of 72":          math.Pow(1-5.0/360, 72),
	} {
		if got := measure(t, c, name); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
}

// A plan that covers part of the orbit is not held against the rest.
func TestStaysWithinThePlan(t *testing.T) {
	var plan []group.Element
	for g := -30; g <= 30; g += 5 {
		plan = append(plan, group.Element{math.Mod(float64(g)+360, 360)})
	}
	w := &watched{f: func(x, y float64) float64 { return x + 2*y }}
	run(t, onRays(t, "part", catalog.SO2(), w, plan...), nil)
	for _, a := range w.angles {
		if a > 30+1e-3 && a < 330-1e-3 {
			t.Fatalf("the model was asked about %g degrees, the plan is ±30", a)
		}
	}
	if len(w.angles) < 100 {
		t.Errorf("%d predictions", len(w.angles))
	}
}

// Both sides of a mirror are searched.
func TestMirrors(t *testing.T) {
	var plan []group.Element
	for k := range 24 {
		plan = append(plan, group.Element{15 * float64(k), 0}, group.Element{15 * float64(k), 1})
	}
	// Points of a right-handed pair tell a mirror: the second is 90 degrees ahead of the first.
	g := catalog.O2()
	s := onRays(t, "mirrors", g, nil, plan...)
	chiral := audittest.Pointwise(func(v space.Value) space.Value {
		p := v.(*space.Tensor).Val //nolint:errcheck // vectors only
		r, a := math.Hypot(p[0], p[1]), angle(p[0], p[1])
		d := math.Remainder(a-(180+52.5), 360) / 3 // the mirror takes the ray at 0 to 180 degrees
		return &space.Tensor{Shape: []int{1}, Val: []float64{r*r + 0.5*math.Exp(-d*d)}}
	})
	s.Predictor = chiral
	_, _, got := run(t, s, nil)
	if f := got.Found[0]; !(f.Error > 10*f.PlanMost) {
		t.Errorf("found %+v", f)
	}
}

// Several axes, and one whose steps are ratios, stay in their range and find no less than the plan.
func TestOtherGroups(t *testing.T) {
	const side = 15
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
	for _, c := range []struct {
		g      group.Group
		grid   []int
		window [][2]float64
	}{
		{catalog.T2(), []int{4, 4}, [][2]float64{{-1, 1}, {-1, 1}}},
		{catalog.Scale(), []int{5}, [][2]float64{{0.8, 1.25}}},
		{catalog.SE2(), []int{4, 2, 2}, [][2]float64{{-20, 20}, {0, 1}, {0, 1}}},
	} {
		elements, err := group.Grid(c.g, c.grid, c.window)
		if err != nil {
			t.Fatal(err)
		}
		a, err := action.NewImage(c.g, space.Spec{Kind: space.KindImage, Shape: []int{1, side, side}}, action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := &audit.Subject{
			Name: c.g.Name(), Predictor: quadrant, Plan: audittest.Plan(t, a, action.Trivial{G: c.g}, elements...),
			N: 12, Sample: audittest.Pictures(12, side, side, 3), Seed: 1,
		}
		r, _, got := run(t, s, nil)
		top := 0.0
		for _, set := range r.Sets() {
			top = max(top, set.Rel.Max)
		}
		if len(got.Found) == 0 || !(got.Found[0].Error >= top*(1-1e-9)) {
			t.Errorf("%s: found %+v, the plan has %g", s.Name, got.Found, top)
			continue
		}
		for _, f := range got.Found {
			for k, w := range c.window {
				x := f.At.Element[k]
				if c.g.Chart()[k].Periodic && x > 180 {
					x -= 360
				}
				if x < w[0]-1e-9 || x > w[1]+1e-9 {
					t.Errorf("%s: %s is outside the plan", s.Name, f.At.Label)
				}
			}
		}
	}
}

// What cannot be searched says why.
func TestReasons(t *testing.T) {
	c4, err := catalog.Cyclic(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s   *audit.Subject
		why string
	}{
		{onRays(t, "C4", c4, audittest.Radius(0)), "every element acts without resampling"},
		{onRays(t, "constant", catalog.SO2(), audittest.Constant(1), audittest.Angles(24)...), "do not vary"},
	} {
		r := audittest.Audit(t, audittest.Fixture{Subject: c.s}, search.Check)
		res := r.Results[len(r.Results)-1]
		if res.Status != audit.NotApplicable || !strings.Contains(res.Reason, c.why) {
			t.Errorf("%s: %s: %s; want %s", c.s.Name, res.Status, res.Reason, c.why)
		}
	}
}

// One output that is not finite hides nothing of the rest: the largest error of the plan stays a number, and a plan
// that shows an error is not said to hold.
func TestNotFinite(t *testing.T) {
	wide, narrow := bumped(0.1, 90, 20), bumped(0.5, 187.5, 5)
	w := &watched{f: func(x, y float64) float64 {
		if a := angle(x, y); math.Hypot(x, y) < 1.005 && math.Abs(a-270) < 1 {
			return math.NaN()
		}
		return wide.f(x, y) + narrow.f(x, y)
	}}
	r, c, _ := run(t, onRays(t, "not finite at 270", catalog.SO2(), w, audittest.Angles(24)...), nil)
	if got, want := measure(t, c, "largest error on the plan"), 0.1/r.Scale; !(math.Abs(got/want-1) <= 1e-3) {
		t.Errorf("largest error on the plan is %g, want %g", got, want)
	}
	if len(c.Findings) != 1 || c.Findings[0].Category != audit.Explanation {
		t.Errorf("findings %+v", c.Findings)
	}
}
