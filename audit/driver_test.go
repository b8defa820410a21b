package audit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/group"
)

func nothing(context.Context, *audit.Pass) (any, error) { return struct{}{}, nil }

func TestValidate(t *testing.T) {
	good := func() *audit.Check { return &audit.Check{Name: "good", Doc: "Good is well.", Run: nothing} }
	a, b := good(), good()
	a.Name, b.Name = "a", "b"
	a.Requires, b.Requires = []*audit.Check{b}, []*audit.Check{a}
	for _, c := range []struct {
		name   string
		checks []*audit.Check
		want   string
	}{
		{"good", []*audit.Check{good()}, ""},
		{"name", []*audit.Check{{Name: "Not Good", Doc: "d", Run: nothing}}, "lower-case"},
		{"doc", []*audit.Check{{Name: "x", Doc: "  ", Run: nothing}}, "no documentation"},
		{"run", []*audit.Check{{Name: "x", Doc: "d"}}, "no Run"},
		{"twice", []*audit.Check{good(), good()}, "two checks"},
		{"nil", []*audit.Check{nil}, "nil check"},
		{"cycle", []*audit.Check{a}, "a -> b -> a"},
		{
			"parameter without doc",
			[]*audit.Check{{Name: "x", Doc: "d", Run: nothing, Params: []audit.Param{{Name: "p"}}}},
			"parameter p has no documentation",
		},
		{"default", []*audit.Check{{
			Name: "x", Doc: "d", Run: nothing,
			Params: []audit.Param{{Name: "p", Doc: "d", Default: 3, Max: 2}},
		}}, "outside"},
		{"default NaN", []*audit.Check{{
			Name: "x", Doc: "d", Run: nothing,
			Params: []audit.Param{{Name: "p", Doc: "d", Default: math.NaN(), Max: 2}},
		}}, "outside"},
		{"family", []*audit.Check{{Name: "x", Doc: "d", Run: nothing, Family: "A b"}}, "family \"A b\""},
		{"family of a check's name", []*audit.Check{
			{Name: "x", Doc: "d", Run: nothing, Family: "y"}, {Name: "y", Doc: "d", Run: nothing},
		}, "a check and of a family"},
		{"parameter twice", []*audit.Check{{
			Name: "x", Doc: "d", Run: nothing,
			Params: []audit.Param{{Name: "p", Doc: "d"}, {Name: "p", Doc: "d"}},
		}}, "two parameters"},
	} {
		err := audit.Validate(c.checks)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if s := check.All()[0].Summary(); s != "Preflight asks whether the audit can mean anything." {
		t.Errorf("summary %q", s)
	}
}

// Requirements run first and once; what a check cannot test blocks what needs it, and nothing else.
func TestOrder(t *testing.T) {
	var ran []string
	log := func(err error) func(context.Context, *audit.Pass) (any, error) {
		return func(_ context.Context, p *audit.Pass) (any, error) {
			ran = append(ran, p.Check.Name)
			return p.Check.Name, err
		}
	}
	root := &audit.Check{Name: "root", Doc: "d", Run: log(nil)}
	deaf := &audit.Check{
		Name: "deaf", Doc: "d", Run: log(fmt.Errorf("%w: cannot hear", audit.ErrUntested)),
		Requires: []*audit.Check{root},
	}
	idle := &audit.Check{
		Name: "idle", Doc: "d", Run: log(fmt.Errorf("%w: nothing to do", audit.ErrNotApplicable)),
		Requires: []*audit.Check{root},
	}
	above := &audit.Check{Name: "above", Doc: "d", Run: log(nil), Requires: []*audit.Check{deaf}}
	other := &audit.Check{
		Name: "other", Doc: "d", Requires: []*audit.Check{root},
		Run: func(ctx context.Context, p *audit.Pass) (any, error) {
			if got := audit.ResultOf[string](p, root); got != "root" {
				t.Errorf("result of root is %q", got)
			}
			return log(nil)(ctx, p)
		},
	}
	s := subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, above, other, idle)
	if got := strings.Join(ran, " "); got != "root deaf other idle" {
		t.Errorf("ran %s", got)
	}
	var states []string
	for _, c := range r.Results {
		states = append(states, fmt.Sprintf("%s %s %s", c.Check.Name, c.Status, c.Reason))
	}
	want := "root tested |deaf not tested cannot hear|above not tested needs deaf: cannot hear|other tested |idle " +
		"not applicable nothing to do"
	if got := strings.Join(states, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.Verdict != audit.NeedsAttention {
		t.Errorf("%s: an audit that judged nothing", r.Verdict)
	}
	r = audittest.Audit(t, audittest.Fixture{Subject: s}, root)
	if r.Verdict != audit.NeedsAttention || !strings.Contains(strings.Join(r.Reasons, " "),
		"no set of elements was judged") {
		t.Errorf("%s %q: an audit without a judgment", r.Verdict, r.Reasons)
	}
	boom := errors.New("boom")
	_, err := audit.Run(t.Context(), s, policy(t, ""), []*audit.Check{{Name: "b", Doc: "d", Run: log(boom)}},
		audit.Options{})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "audit of m: b:") {
		t.Errorf("error %v, want boom with its place", err)
	}
}

func TestParameters(t *testing.T) {
	s := subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))
	for params, want := range map[string]string{
		"preflight.samples=5":   "",
		"preflight.samples=0":   "want a number in [1, 1000]",
		"preflight.samples=NaN": "want a number in [1, 1000]",
		"preflight.colour=5": "no parameter preflight.colour; preflight has preflight.batch, preflight.repeats, " +
			"preflight.samples",
	} {
		name, value, _ := strings.Cut(params, "=")
		var v float64
		if _, err := fmt.Sscan(value, &v); err != nil {
			t.Fatal(err)
		}
		_, err := audit.Run(t.Context(), s, policy(t, ""), check.All(),
			audit.Options{Params: map[string]float64{name: v}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

func TestSubjectIsRefused(t *testing.T) {
	plan := invariant(t, cyclic(t, 4))
	for _, c := range []struct {
		name   string
		change func(s *audit.Subject)
		want   string
	}{
		{"model", func(s *audit.Subject) { s.Predictor = nil }, "no model"},
		{"plan", func(s *audit.Subject) { s.Plan = nil }, "no group"},
		{"output action", func(s *audit.Subject) { p := *plan; p.Out = nil; s.Plan = &p }, "invariant"},
		{"elements", func(s *audit.Subject) { p := *plan; p.Elements = nil; s.Plan = &p }, "no elements"},
		{
			"twice", func(s *audit.Subject) { p := *plan; p.Elements = []group.Element{{90}, {90}}; s.Plan = &p },
			"90° is in the plan twice",
		},
		{
			"coordinates", func(s *audit.Subject) { p := *plan; p.Elements = []group.Element{{90, 1}}; s.Plan = &p },
			"2 coordinates",
		},
		{"weights", func(s *audit.Subject) { p := *plan; p.Weights = []float64{1}; s.Plan = &p }, "1 weights for 4"},
		{"samples", func(s *audit.Subject) { s.N = 0 }, "no samples"},
		{"unit", func(s *audit.Subject) { s.OutputUnit = "percent" }, "percent"},
		{"roundoff", func(s *audit.Subject) { s.Roundoff = math.NaN() }, "unit roundoff"},
		{
			"only the identity", func(s *audit.Subject) { p := *plan; p.Elements = []group.Element{{0}}; s.Plan = &p },
			"",
		},
	} {
		s := subject("m", audittest.Radius(0), plan)
		c.change(s)
		r, err := audit.Run(t.Context(), s, policy(t, ""), check.All(), audit.Options{})
		if c.want == "" {
			// The quarter turns are out of reach of a plan that claims nothing.
			if err != nil || r.Verdict != audit.NeedsAttention {
				t.Errorf("%s: %v, %v; want NEEDS_ATTENTION", c.name, r, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Errors of the model and of the data end the audit, with the place; so does the caller.
func TestErrorsEndTheAudit(t *testing.T) {
	plan := invariant(t, cyclic(t, 4))
	boom := errors.New("boom")
	s := subject("m", audittest.Radius(0), plan)
	s.Sample = func(i int) (dataset.Sample, error) {
		if i == 60 {
			return dataset.Sample{}, boom
		}
		return audittest.Vectors(inputs, 1)(i)
	}
	if _, err := audit.Run(t.Context(), s, policy(t, ""), check.All(), audit.Options{}); !errors.Is(err, boom) ||
		!strings.Contains(err.Error(), "sample 60") {
		t.Errorf("sample: %v", err)
	}
	calls := 0
	s = subject("m", audit.PredictFunc(func(ctx context.Context, v []space.Value) ([]space.Value, error) {
		if calls++; calls > 7 {
			return nil, boom
		}
		return audittest.Radius(0).Predict(ctx, v)
	}), plan)
	if _, err := audit.Run(t.Context(), s, policy(t, ""), check.All(), audit.Options{}); !errors.Is(err, boom) ||
		!strings.Contains(err.Error(), "model m") {
		t.Errorf("model: %v", err)
	}
	s = subject("m", audit.PredictFunc(func(context.Context, []space.Value) ([]space.Value, error) { return nil, nil }),
		plan)
	if _, err := audit.Run(t.Context(), s, policy(t, ""), check.All(), audit.Options{}); err == nil ||
		!strings.Contains(err.Error(), "0 predictions for 100 inputs") {
		t.Errorf("count: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s = subject("m", audittest.Radius(0), plan)
	s.Chunk = 10
	s.Progress = func(done, _ int) {
		if done > 100 {
			cancel()
		}
	}
	if _, err := audit.Run(ctx, s, policy(t, ""), check.All(), audit.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancel: %v", err)
	}
}

func TestPolicy(t *testing.T) {
	for _, c := range []struct {
		preset                string
		threshold, confidence float64
		want                  float64
		origin, err           string
	}{
		{"", 0, 0, 1e-4, "preset production", ""},
		{"research", 0, 0.9, 1e-3, "preset research", ""},
		{"critical", 0, 0, 1e-5, "preset critical", ""},
		{"safety", 0, 0, 1e-6, "preset safety", ""},
		{"safety", 0.02, 0, 0.02, "set by the user", ""},
		{"relaxed", 0, 0, 0, "", "want one of research, production, critical, safety"},
		{"", -1, 0, 0, "", "threshold is -1"},
		{"", math.NaN(), 0, 0, "", "threshold is NaN"},
		{"", 0, 95, 0, "", "confidence is 95"},
	} {
		p, err := audit.NewPolicy(c.preset, c.threshold, c.confidence)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || p.Threshold != c.want || p.Origin != c.origin {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
	for _, c := range []struct {
		parameters       int64
		inputs, elements int
	}{{300_000, 100, 50}, {1_000_000, 200, 100}, {200_000_000, 200, 200}} {
		if i, e := audit.PresetSize(c.parameters); i != c.inputs || e != c.elements {
			t.Errorf("%d parameters: %d × %d", c.parameters, i, e)
		}
	}
}

func TestLevels(t *testing.T) {
	const f32, bf16, f64 = 1.0 / (1 << 24), 1.0 / (1 << 8), 1.0 / (1 << 53)
	for _, c := range []struct {
		e, u float64
		want audit.Level
	}{
		{0, f32, audit.LevelExact},
		{9e-7, f32, audit.LevelExact},
		{9e-7, f64, audit.LevelExact},
		{2e-6, f32, audit.LevelExcellent},
		{2e-4, f32, audit.LevelApproximate},
		{2e-2, f32, audit.LevelBroken},
		{2e-3, bf16, audit.LevelPrecision},
		{math.NaN(), f32, audit.LevelUndefined},
		{math.Inf(1), f32, audit.LevelBroken},
	} {
		if got := audit.LevelOf(c.e, c.u); got != c.want {
			t.Errorf("%g at %g: %s, want %s", c.e, c.u, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	p := policy(t, "") // 1e-4
	iv := func(v, lo, hi float64) audit.Interval { return audit.Interval{Value: v, Lo: lo, Hi: hi, N: 100} }
	none, nan := audit.ShareInterval(0, 100, 0.95), math.NaN()
	all := audit.ShareInterval(100, 100, 0.95)
	for _, c := range []struct {
		name string
		set  audit.Set
		want audit.Verdict
		why  string
	}{
		{
			"below",
			audit.Set{Pairs: 1, Scale: 1, Worst: iv(1e-5, 5e-6, 2e-5), Exceed: none},
			audit.Passed,
			"at most 3.6% of those like them",
		},
		{
			"at the limit",
			audit.Set{Pairs: 1, Scale: 1, Worst: iv(1e-5, 5e-6, 1e-4), Exceed: none},
			audit.NeedsAttention,
			"undecided",
		},
		{
			"above",
			audit.Set{Pairs: 1, Scale: 1, Worst: iv(1, 0.5, 2), Exceed: all, Cause: audit.CauseViolation},
			audit.Failed, "at least 0.5;",
		},
		{"a few inputs far above", audit.Set{
			Pairs: 1, Scale: 1, Worst: iv(5e-5, 1e-5, 9e-5), Exceed: audit.ShareInterval(20, 100, 0.95),
			Cause: audit.CauseViolation,
		}, audit.Failed, "20.0% of the inputs"},
		{"perhaps a few", audit.Set{
			Pairs: 1, Scale: 1, Worst: iv(5e-5, 1e-5, 9e-5),
			Exceed: audit.ShareInterval(3, 100, 0.95),
		}, audit.NeedsAttention, "inputs would decide"},
		{"too few inputs", audit.Set{
			Pairs: 1, Scale: 1, Worst: iv(0, 0, 0), Exceed: audit.ShareInterval(0, 20, 0.95),
		}, audit.NeedsAttention, "about 72 inputs would decide"}, // 1 - 0.025^(1/72) = 0.0499...
		{"too few inputs in all", audit.Set{
			Pairs: 1, Scale: 1, Worst: iv(0, 0, 0), Exceed: audit.ShareInterval(0, 20, 0.95),
			Supply: audit.Supply{Study: 20, Data: 20},
		}, audit.NeedsAttention, "about 72 inputs would decide, and the data has 20: it takes more data"},
		{
			"resampling",
			audit.Set{Pairs: 1, Scale: 1, Worst: iv(1, 0.5, 2), Exceed: all, Cause: audit.CauseResampling},
			audit.NeedsAttention, "resampling-limited",
		},
		{
			"rounding",
			audit.Set{Pairs: 1, Scale: 1, Worst: iv(1, 0.5, 2), Exceed: all, Cause: audit.CauseRoundoff},
			audit.NeedsAttention, "precision too low",
		},
		{
			"noise",
			audit.Set{Pairs: 1, Scale: 1, Worst: iv(1, 0.5, 2), Exceed: all, Cause: audit.CauseNonRepeatable},
			audit.NeedsAttention, "noisy",
		},
		{"wrong claim", audit.Set{
			Pairs: 1, Scale: 1, Worst: iv(1, 0.5, 2), Exceed: all,
			Cause: audit.CauseSpecification,
		}, audit.Failed, "the answers are off by"},
		{
			"not finite",
			audit.Set{Pairs: 1, NonFinite: 1, Scale: 1, Worst: iv(0, 0, 0), Exceed: none},
			audit.Failed,
			"not finite",
		},
		{"nothing", audit.Set{}, audit.NeedsAttention, "nothing was measured"},
		{"no scale", audit.Set{Pairs: 1, Scale: 0, Worst: iv(0, 0, 0), Exceed: none}, audit.NeedsAttention, "vacuous"},
		{
			"scale NaN",
			audit.Set{Pairs: 1, Scale: nan, Worst: iv(0, 0, 0), Exceed: none},
			audit.NeedsAttention,
			"vacuous",
		},
		{
			"error NaN",
			audit.Set{Pairs: 1, Scale: 1, Worst: iv(nan, nan, nan), Exceed: none},
			audit.NeedsAttention,
			"vacuous",
		},
		{"one input", audit.Set{
			Pairs: 1, Scale: 1, Worst: audit.Interval{Value: 0, Lo: nan, Hi: nan, N: 1},
			Exceed: audit.ShareInterval(0, 1, 0.95),
		}, audit.NeedsAttention, "undecided"},
	} {
		got, why := p.Judge(&c.set)
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, got, why, c.want, c.why)
		}
	}
}

// The number of inputs that is said to decide does decide, if mean and spread stay as they are.
func TestDecidingNumberDecides(t *testing.T) {
	p := policy(t, "")
	x := make([]float64, 40)
	for i := range x {
		x[i] = 0.9e-4 + 1e-4*float64(i%5-2)/2
	}
	set := audit.Set{
		Pairs: 40, Scale: 1, Worst: audit.MeanInterval(x, 0.95),
		Exceed: audit.ShareInterval(0, 4000, 0.95),
	}
	_, why := p.Judge(&set)
	var n int
	if _, rest, ok := strings.Cut(why, "about "); !ok {
		t.Fatalf("no number in %q", why)
	} else if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n    int
		want audit.Verdict
	}{{n, audit.Passed}, {n * 8 / 10, audit.NeedsAttention}} {
		more := make([]float64, c.n)
		for i := range more {
			more[i] = x[i%len(x)]
		}
		set.Worst = audit.MeanInterval(more, 0.95)
		if v, why := p.Judge(&set); v != c.want {
			t.Errorf("%d inputs: %s, %s; want %s", c.n, v, why, c.want)
		}
	}
}

// A check that another one uses runs before it, but only if it is part of the audit, and its failure blocks nobody.
func TestUses(t *testing.T) {
	var ran []string
	log := func(err error) func(context.Context, *audit.Pass) (any, error) {
		return func(_ context.Context, p *audit.Pass) (any, error) {
			ran = append(ran, p.Check.Name)
			return 7, err
		}
	}
	good := &audit.Check{Name: "good", Doc: "d", Run: log(nil)}
	deaf := &audit.Check{Name: "deaf", Doc: "d", Run: log(audit.ErrUntested)}
	absent := &audit.Check{Name: "absent", Doc: "d", Run: log(nil)}
	user := &audit.Check{
		Name: "user", Doc: "d", Uses: []*audit.Check{good, deaf, absent},
		Run: func(ctx context.Context, p *audit.Pass) (any, error) {
			if v, ok := audit.ResultIf[int](p, good); !ok || v != 7 {
				t.Errorf("good: %v, %v", v, ok)
			}
			for _, c := range []*audit.Check{deaf, absent} {
				if v, ok := audit.ResultIf[int](p, c); ok {
					t.Errorf("%s: %v", c.Name, v)
				}
			}
			return log(nil)(ctx, p)
		},
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))},
		user, good, deaf)
	if want := []string{"good", "deaf", "user"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	if last := r.Results[2]; last.Status != audit.Tested {
		t.Errorf("user: %s, %s", last.Status, last.Reason)
	}
	loop := &audit.Check{Name: "loop", Doc: "d", Run: log(nil)}
	loop.Uses = []*audit.Check{{Name: "back", Doc: "d", Run: log(nil), Uses: []*audit.Check{loop}}}
	if err := audit.Validate([]*audit.Check{loop, loop.Uses[0]}); err == nil {
		t.Error("two checks that use each other are accepted")
	}
}

// What float64 leaves is not exact, unless it is float64's own rounding.
func TestExactNeedsFloat64(t *testing.T) {
	at := func(x float64) audit.Interval { return audit.Interval{Value: x} }
	for _, c := range []struct {
		slope *audit.Slope
		want  audit.Level
	}{
		{nil, audit.LevelExcellent},
		{&audit.Slope{Single: at(2e-7), Double: at(1e-7)}, audit.LevelExcellent},
		{&audit.Slope{Single: at(2e-7), Double: at(2e-9)}, audit.LevelExcellent},
		{&audit.Slope{Single: at(2e-7), Double: at(math.NaN())}, audit.LevelExcellent},
		{&audit.Slope{Single: at(2e-7), Double: at(4e-16)}, audit.LevelExact},
		{&audit.Slope{Single: at(4e-16), Double: at(4e-16)}, audit.LevelExact},
	} {
		iv := audit.Interval{Value: 2e-7, Lo: 1e-7, Hi: 3e-7, N: 100}
		s := &audit.Set{
			Name: "set", Exact: true, Inputs: 100, Pairs: 100, Scale: 1, Worst: iv, Mean: iv,
			Exceed: audit.ShareInterval(0, 100, 0.95), Slope: c.slope,
		}
		judge := &audit.Check{
			Name: "judge", Doc: "Judge hands a set in.",
			Run: func(_ context.Context, p *audit.Pass) (any, error) {
				p.Policy.Explain(s, audit.Facts{})
				p.Judge(s)
				return nil, nil
			},
		}
		audittest.Audit(t, audittest.Fixture{Subject: subject("exact", audittest.Radius(0),
			invariant(t, cyclic(t, 4)))}, judge)
		if s.Level != c.want {
			t.Errorf("%v: %s, want %s", c.slope, s.Level, c.want)
		}
	}
}

// An optional check that ends with an error does not end the audit: what others judge is still judged, and the reason
// is given.
func TestOptionalErrors(t *testing.T) {
	boom := errors.New("boom")
	c := &audit.Check{
		Name: "extra", Doc: "d", Optional: true,
		Run: func(context.Context, *audit.Pass) (any, error) { return nil, boom },
	}
	s := subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))
	r, err := audit.Run(t.Context(), s, policy(t, ""), append(check.All(), c), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := r.Results[len(r.Results)-1]
	if last.Status != audit.NotTested || !strings.Contains(last.Reason, "boom") || r.Verdict != audit.Passed {
		t.Errorf("%s, %s, %s", last.Status, last.Reason, r.Verdict)
	}
	c.Optional = false
	if _, err := audit.Run(t.Context(), s, policy(t, ""), append(check.All(), c), audit.Options{}); !errors.Is(err,
		boom) {
		t.Errorf("a check that judges and cannot run: %v", err)
	}
	c.Optional = true
	ctx, cancel := context.WithCancel(t.Context())
	c.Run = func(context.Context, *audit.Pass) (any, error) { cancel(); return nil, context.Canceled }
	if _, err := audit.Run(ctx, s, policy(t, ""), append(check.All(), c), audit.Options{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a cancelled audit: %v", err)
	}
}

// A fault in the code of one check leaves its question open and the others standing, wherever it happens.
func TestFault(t *testing.T) {
	broken := &audit.Check{Name: "broken", Doc: "d", Run: func(_ context.Context, p *audit.Pass) (any, error) {
		return p.Elements[len(p.Elements)], nil
	}}
	stream := &audit.Check{Name: "stream", Doc: "d", Run: func(ctx context.Context, p *audit.Pass) (any, error) {
		return nil, p.Predict(ctx, func(func(audit.Request, error) bool) { panic("no sample") },
			func(audit.Request, space.Value) error { return nil })
	}}
	sound := &audit.Check{Name: "sound", Doc: "d", Run: nothing}
	r := audittest.Audit(t, audittest.Fixture{Subject: subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))},
		broken, stream, sound)
	for i, want := range []string{
		"with length 3 in nero/audit_test.TestFault",
		"no sample in nero/audit_test.TestFault", "",
	} {
		c := r.Results[i]
		if want == "" && c.Status != audit.Tested || want != "" &&
			(c.Status != audit.NotTested || !strings.Contains(c.Reason, want)) {
			t.Errorf("%s: %s: %s, want %q", c.Check.Name, c.Status, c.Reason, want)
		}
	}
	if r.Verdict == audit.Passed {
		t.Error("a question that is open passes")
	}
}

// A parameter of a family is that of each member and yields to the member's own. A family is required as a whole: one
// member that was tested suffices, unless another is required by its own name.
func TestFamily(t *testing.T) {
	got := map[string]float64{}
	member := func(name string, err error) *audit.Check {
		return &audit.Check{
			Name: name, Doc: "d", Family: "kin", Optional: true,
			Params: []audit.Param{{Name: "n", Doc: "d", Default: 1, Max: 9}},
			Run: func(_ context.Context, p *audit.Pass) (any, error) {
				got[name] = p.Param("n")
				return nil, err
			},
		}
	}
	checks := append(check.All(), member("a", nil), member("b", audit.ErrUntested))
	s := subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))
	for required, want := range map[string]audit.Verdict{
		"kin": audit.Passed, "a": audit.Passed, "b": audit.NeedsAttention,
	} {
		p := policy(t, "")
		p.Required = []string{required}
		r, err := audit.Run(t.Context(), s, p, checks,
			audit.Options{Params: map[string]float64{"kin.n": 2, "a.n": 3}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != want {
			t.Errorf("%s is required: %s, want %s: %q", required, r.Verdict, want, r.Reasons)
		}
	}
	if got["a"] != 3 || got["b"] != 2 {
		t.Errorf("parameters %v, want 3 and 2", got)
	}
}
