package baseline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/baseline"
	"nero/audit/render"
	"nero/measure/aggregate"

	"pgregory.net/rapid"
)

const inputs = 20

// model is an audit of a model with the given largest error of each input on three exact elements; the mean is half of
// it.
func model(name string, largest ...float64) *baseline.Model {
	s := &baseline.Set{
		Check: "lattice", Name: "exact elements", Verdict: audit.Failed, Cause: string(audit.CauseViolation),
		Rounding: 1e-7, Elements: [][]float64{{90}, {180}, {270}},
	}
	for i, x := range largest {
		s.IDs, s.Largest, s.Means = append(s.IDs, "s"+strconv.Itoa(i)), append(s.Largest, x), append(s.Means, x/2)
		if math.IsNaN(x) {
			s.NonFinite++
		}
		s.Max = max(s.Max, x)
	}
	if s.Max <= 10*s.Rounding {
		s.Cause = string(audit.CauseRoundoff)
	}
	return &baseline.Model{
		Name: name, Verdict: audit.Failed, Group: "C4", Planned: 4, Inputs: len(largest), Output: "scores 3", Seed: 1,
		Threshold: 1e-4, Confidence: 0.95,
		Basis: []audit.About{{Name: "data", Value: "sha256 0123456789abcdef"}, {Name: "border", Value: "zero"}},
		Sets:  []*baseline.Set{s}, Tested: map[string]bool{"lattice": true},
	}
}

// spread are errors about a size, all different.
func spread(size float64) []float64 {
	x := make([]float64, inputs)
	for i := range x {
		x[i] = size * (1 + 0.1*math.Sin(float64(7*i)))
	}
	return x
}

func compare(t interface {
	Helper()
	Fatal(args ...any)
}, before, after *baseline.Model, allow float64,
) *baseline.Comparison {
	t.Helper()
	c, err := baseline.Compare(before, after, baseline.Options{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	nan := spread(0.5)
	nan[3] = math.NaN()
	for _, c := range []struct {
		name          string
		before, after []float64
		allow         float64
		status        baseline.Status
		regressed     bool
	}{
		{"the same", spread(0.5), spread(0.5), 0.1, baseline.Unchanged, false},
		{"half", spread(0.5), spread(0.25), 0.1, baseline.Improved, false},
		{"twice", spread(0.25), spread(0.5), 0.1, baseline.Worse, true},
		{"twice is allowed", spread(0.25), spread(0.5), 1.1, baseline.Worse, false},
		{"a little more", spread(0.5), spread(0.52), 0.1, baseline.Worse, false},
		{"a little more, nothing allowed", spread(0.5), spread(0.52), 0, baseline.Worse, true},
		{"from none", make([]float64, inputs), spread(0.5), 0.1, baseline.Worse, true},
		{"to none", spread(0.5), make([]float64, inputs), 0.1, baseline.Improved, false},
		{"none at all", make([]float64, inputs), make([]float64, inputs), 0.1, baseline.Unchanged, false},
		{"rounding", spread(1e-7), spread(5e-7), 0.1, baseline.Worse, false},
		{"no finite error", spread(0.5), nan, 0.1, baseline.Worse, true},
		{"finite again", nan, spread(0.5), 0.1, baseline.Unchanged, false},
	} {
		got := compare(t, model("m", c.before...), model("m", c.after...), c.allow)
		if s := got.Sets[0]; s.Status != c.status || got.Regressed() != c.regressed {
			t.Errorf("%s: %s, regressed %v: %+v %v", c.name, s.Status, got.Regressed(), s, got.Regressions)
		}
		back := compare(t, model("m", c.after...), model("m", c.before...), c.allow)
		if a, b := got.Sets[0].Largest,
			back.Sets[0].Largest; a.Verdict == aggregate.Improved != (b.Verdict == aggregate.Worse) {
			t.Errorf("%s: %s one way and %s the other", c.name, a.Verdict, b.Verdict)
		}
	}
}

// An increase below the rounding floor is a regression all the same where float64 has shown that the error is none of
// rounding.
func TestViolationBelowTheFloor(t *testing.T) {
	before, after := model("m", spread(1e-7)...), model("m", spread(5e-7)...)
	if c := compare(t, before, after, 0.1); c.Regressed() || !c.Sets[0].Rounding {
		t.Errorf("rounding: %+v", c.Regressions)
	}
	after.Sets[0].Cause = string(audit.CauseViolation)
	if c := compare(t, before, after, 0.1); !c.Regressed() || c.Sets[0].Rounding {
		t.Errorf("violation: %+v", c.Sets[0])
	}
}

func TestFailures(t *testing.T) {
	x, y := spread(1e-5), spread(1e-5)
	x[2], y[4], y[7] = 1, 1, 2
	s := compare(t, model("m", x...), model("m", y...), 0.1).Sets[0]
	if !slices.Equal(s.Failing, []string{"s4", "s7"}) || !slices.Equal(s.Mended, []string{"s2"}) ||
		s.Worst.Sample != "s7" || s.Worst.Index != 7 {
		t.Errorf("%+v", s)
	}
}

// What differs is named, and nothing else.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		change func(*baseline.Model)
		want   string
	}{
		{func(m *baseline.Model) { m.Group = "D4" }, "group was C4, is D4"},
		{func(m *baseline.Model) { m.Seed = 2 }, "seed was 1, is 2"},
		{func(m *baseline.Model) { m.Threshold = 1e-3 }, "threshold was 0.0001, is 0.001"},
		{func(m *baseline.Model) { m.Confidence = 0.9 }, "confidence was 0.95, is 0.9"},
		{func(m *baseline.Model) { m.Average = 3 }, "repeats averaged was 1, is 3"},
		{func(m *baseline.Model) { m.Output = "scores 4" }, "the output was scores 3, is scores 4"},
		{func(m *baseline.Model) { m.Inputs = 7 }, "inputs were 20, are 7"},
		{
			func(m *baseline.Model) { m.Basis[0].Value = "sha256 fedcba9876543210" },
			"data was sha256 0123456789ab, is sha256 fedcba987654",
		},
		{func(m *baseline.Model) { m.Basis[1].Value = "edge" }, "border was zero, is edge"},
		{func(m *baseline.Model) { m.Basis = m.Basis[:1] }, "border was zero, is not written down"},
		{
			func(m *baseline.Model) { m.Basis = append(m.Basis, audit.About{Name: "window", Value: "3"}) },
			"window was not written down, is 3",
		},
		{
			func(m *baseline.Model) { m.Sets[0].Elements[1][0] = 181 },
			"number 2 of the exact elements was [180], is [181]",
		},
		{func(m *baseline.Model) { m.Sets[0].Elements = m.Sets[0].Elements[:2] }, "exact elements were 3, are 2"},
		{func(m *baseline.Model) { m.Sets[0].IDs[5] = "x" }, "input 6 was sample s5, is x"},
		{
			func(m *baseline.Model) { m.Sets[0].Unit = audit.PixelShare },
			`errors on the exact elements were "", are "share of pixels"`,
		},
		{
			func(m *baseline.Model) { m.Sets[0].IDs = nil },
			"the exact elements lack the errors of each input: the file was written by an older program, so audit " +
				"again",
		},
		{func(m *baseline.Model) { m.Sets = nil }, "no set of elements was judged in both"},
		{func(m *baseline.Model) { m.Error = "no data" }, "the audit after could not run: no data"},
	} {
		after := model("m", spread(0.5)...)
		c.change(after)
		_, err := baseline.Compare(model("m", spread(0.5)...), after, baseline.Options{})
		if want := "model m: not comparable with the audit before: " + c.want; err == nil || err.Error() != want ||
			!errors.Is(err, baseline.ErrNotComparable) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, allow := range []float64{-0.1, math.NaN(), math.Inf(1)} {
		if _, err := baseline.Compare(model("m", spread(1)...), model("m", spread(1)...),
			baseline.Options{Allow: allow}); err == nil {
			t.Errorf("allow %g passes", allow)
		}
	}
	// The weights, the engine and the name of a model may change: that is what is compared.
	after := model("other", spread(0.5)...)
	after.About = []audit.About{{Name: audit.AboutDigest, Value: "new"}, {Name: audit.AboutEngine, Value: "wasm"}}
	if c := compare(t, model("m", spread(0.5)...), after, 0); c.Former != "m" || c.Model != "other" || c.Regressed() {
		t.Errorf("%+v", c)
	}
}

func finding(check string, c *audit.Category, severity audit.Severity, value, limit float64) baseline.Finding {
	f := baseline.Finding{Check: check, ID: check + "/" + c.Name + "/1", Severity: severity}
	f.Category, f.Message, f.Evidence = c, fmt.Sprintf("%s %g", c, value),
		[]audit.Evidence{audit.Number("x", value, "").Against(limit)}
	return f
}

func TestFindings(t *testing.T) {
	before, after := model("m", spread(0.5)...), model("m", spread(0.25)...)
	v := finding("lattice", audit.Violation, audit.High, 0.5, 1e-4)
	v.Set = "exact elements"
	before.Findings = []baseline.Finding{
		v, finding("gradient", audit.Gradient, audit.Medium, 1, 0.1),
		finding("stress", audit.Stress, audit.Low, 1, 0.1), finding("lint", audit.Prediction, audit.Low, 1, 0.1),
		finding("sweep", audit.Uninformative, audit.Low, 0.1, 0.5), finding("layers", audit.Layer, audit.Low, 1, 0.1),
		finding("lie", audit.Gradient, audit.Low, 2, 1),
	}
	after.Findings = []baseline.Finding{
		v, finding("gradient", audit.Gradient, audit.Medium, 3, 0.1),
		finding("sweep", audit.Uninformative, audit.Low, 0.4, 0.5),
		finding("layers", audit.Layer, audit.Low, 1.01, 0.1),
		finding("engines", audit.Shape, audit.High, 1, 0), finding("lie", audit.Gradient, audit.Low, 0.5, 1),
	}
	for _, n := range []string{"gradient", "stress", "sweep", "layers", "engines", "lie"} {
		after.Tested[n] = true
	}
	before.Tested["lint"] = true
	want := map[string]baseline.Status{
		"lattice": baseline.Improved, "gradient": baseline.Worse, "stress": baseline.Fixed, "lint": baseline.NotAsked,
		"sweep":  baseline.Improved,
		"layers": baseline.Unchanged, "engines": baseline.New, "lie": baseline.Unchanged,
	}
	c := compare(t, before, after, 0.1)
	for _, f := range c.Findings {
		if f.Status != want[f.Check] {
			t.Errorf("%s: %s, want %s", f.Check, f.Status, want[f.Check])
		}
		delete(want, f.Check)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
	if !c.Regressed() || !strings.Contains(c.Regressions[0].Message, "new finding of high severity, engines: shape 1") {
		t.Errorf("%+v", c.Regressions)
	}
}

// A worse verdict on the same questions is a regression; on more questions it may be the questions.
func TestVerdict(t *testing.T) {
	before, after := model("m", spread(0.5)...), model("m", spread(0.5)...)
	before.Verdict = audit.Passed
	if c := compare(t, before, after, 0); !c.Regressed() ||
		c.Regressions[0].Message != "the verdict was PASS and is FAIL" {
		t.Errorf("%+v", c.Regressions)
	}
	after.Tested["contract"] = true
	if c := compare(t, before, after, 0); c.Regressed() {
		t.Errorf("%+v", c.Regressions)
	}
}

// TestScale wants that the factor does not depend on the unit of the errors and that changing sides inverts it.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 12).Draw(t, "n")
		x := rapid.SliceOfN(rapid.Float64Range(0.01, 1), n, n).Draw(t, "before")
		y := rapid.SliceOfN(rapid.Float64Range(0.01, 1), n, n).Draw(t, "after")
		k := math.Ldexp(1, rapid.IntRange(-3, 3).Draw(t, "unit"))
		times := func(v []float64) []float64 {
			w := slices.Clone(v)
			for i := range w {
				w[i] *= k
			}
			return w
		}
		a := compare(t, model("m", x...), model("m", y...), 0.1).Sets[0].Largest
		b := compare(t, model("m", times(x)...), model("m", times(y)...), 0.1).Sets[0].Largest
		if math.Abs(a.Before/a.After-b.Before/b.After) > 1e-9 || a.Verdict != b.Verdict || a.Beyond != b.Beyond {
			t.Fatalf("%+v and %+v", a, b)
		}
		if a.Beyond && a.Verdict != aggregate.Worse {
			t.Fatalf("%+v", a)
		}
	})
}

// TestReport reads a written report back and appends its comparison with itself and with a worse self.
func TestReport(t *testing.T) {
	r := &audit.Report{
		Model: "m", Policy: policy(t), Group: "C4", Inputs: inputs, Output: "scores 3", Seed: 1,
		Scale: 1,
	}
	r.Append(&audit.Result{
		Check: &audit.Check{Name: "lattice", Doc: "A check."}, Status: audit.Tested,
		Sets: []*audit.Set{set(spread(0.5))},
	})
	before, err := baseline.Of("before", r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := before.Model("m")
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Set("exact elements"); s == nil || !slices.Equal(s.Largest, spread(0.5)) ||
		!slices.Equal(s.IDs, set(spread(1)).IDs) || s.Rounding != 1e-7 {
		t.Fatalf("%+v", s)
	}
	same := compare(t, m, m, 0)
	r.Append(same.Result())
	if r.Verdict != audit.Passed || len(r.Findings()) != 0 {
		t.Errorf("%s: %v", r.Verdict, r.Reasons)
	}
	worse := &audit.Report{
		Model: "m", Policy: policy(t), Group: "C4", Inputs: inputs, Output: "scores 3", Seed: 1,
		Scale: 1,
	}
	worse.Append(&audit.Result{
		Check: &audit.Check{Name: "lattice", Doc: "A check."}, Status: audit.Tested,
		Sets: []*audit.Set{set(spread(2))},
	})
	after, err := baseline.Of("after", worse)
	if err != nil {
		t.Fatal(err)
	}
	c := compare(t, m, after.Models[0], 0.1)
	worse.Append(c.Result())
	if worse.Verdict != audit.Failed || !slices.ContainsFunc(worse.Reasons, func(s string) bool {
		return strings.HasPrefix(s, "FAIL: exact elements: the largest error is worse than the baseline: 0.5")
	}) {
		t.Errorf("%s: %v", worse.Verdict, worse.Reasons)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return render.Text.Render(b, audit.Document(worse)) },
		"markdown": func(b *bytes.Buffer) error { return render.Markdown.Render(b, audit.Document(worse)) },
		"sarif":    func(b *bytes.Buffer) error { return render.SARIF.Render(b, audit.Document(worse)) },
		"junit":    func(b *bytes.Buffer) error { return render.JUnit.Render(b, audit.Document(worse)) },
		"own text": func(b *bytes.Buffer) error { return baseline.Text(b, c) },
		"own md":   func(b *bytes.Buffer) error { return baseline.Markdown(b, c) },
		"own json": func(b *bytes.Buffer) error { return baseline.JSON(b, c) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil || !strings.Contains(b.String(), "worse than the baseline") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
		if name == "own json" && !json.Valid(b.Bytes()) {
			t.Error("not JSON")
		}
	}
}

func policy(t *testing.T) audit.Policy {
	t.Helper()
	p, err := audit.NewPolicy("", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// set is a judged set as an audit would hand it in.
func set(largest []float64) *audit.Set {
	s := &audit.Set{
		Name: "exact elements", Exact: true, Inputs: inputs, Pairs: 3 * inputs, Scale: 1, Largest: largest,
		Means: largest, At: audit.Nowhere, NonFiniteAt: audit.Nowhere,
		Rel: audit.Describe(slices.Clone(largest)), Abs: audit.Describe(slices.Clone(largest)),
		Floors: audit.Floors{Rounding: 1e-7}, Verdict: audit.Passed,
		Profile: []audit.Point{{Element: []float64{90}, Label: "90°", Exact: true}}, Resampling: audit.Describe(nil),
	}
	s.Worst = audit.MeanInterval(largest, 0.95)
	s.Mean, s.Exceed, s.Ratio = s.Worst, audit.ShareInterval(inputs, inputs, 0.95), audit.MeanInterval(nil, 0.95)
	for i := range largest {
		s.IDs = append(s.IDs, "s"+strconv.Itoa(i))
	}
	return s
}

// Nothing that comes out of a file has a meaning in Markdown or reaches a terminal as it is.
func TestHostile(t *testing.T) {
	before, after := model("a|b\x1b[31m<img src=x>", spread(0.5)...), model("a|b\x1b[31m<img src=x>", spread(2)...)
	for _, m := range []*baseline.Model{before, after} {
		m.Sets[0].Name = "x|y\n# title"
	}
	c := compare(t, before, after, 0.1)
	var text, md bytes.Buffer
	if err := errors.Join(baseline.Text(&text, c), baseline.Markdown(&md, c)); err != nil {
		t.Fatal(err)
	}
	if s := text.String() + md.String(); strings.Contains(s, "\x1b") || strings.Contains(md.String(), "<img") ||
		strings.Contains(s, "\n# ") {
		t.Errorf("%q", s)
	}
	for line := range strings.Lines(md.String()) {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 8 {
			t.Errorf("%q has other columns", line)
		}
	}
}

func TestRead(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "the file is empty",
		"[]":                       "not the JSON of an audit",
		"{}":                       "neither a format nor models",
		`{"format":2,"models":[]}`: "its format is 2, and this program reads up to 1",
		`{"format":1,"models":[]}`: "no model",
		`{"format":1,"models":[{"model":"m","verdict":"PASS"},{"model":"m","verdict":"PASS"}]}`:                                                             `two models are named "m"`,
		`{"format":1,"models":[{"model":"m","verdict":"PASS","checks":[{"sets":[{"name":"s","per_input":{"samples":["a"],"mean":[],"largest":[1]}}]}]}]}`:   "1 samples with 0 mean and 1 largest errors",
		`{"format":1,"models":[{"model":"m","verdict":"PASS","checks":[{"sets":[{"name":"s","per_input":{"samples":["a"],"mean":[1],"largest":[-1]}}]}]}]}`: "an error below 0",
	} {
		if _, err := baseline.Read("f.json", []byte(in)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "f.json: ") {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":1,"models":[{"model":"m","policy":{"confidence":0.95,"threshold":null},"checks":[{"check":"c","sets":[{"name":"s","per_input":{"samples":["a"],"mean":[1],"largest":[null]}}]}]}]}`))
	f.Add([]byte(`{"format":1,"models":[{"model":"m","error":"x"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := baseline.Read("f", b)
		if err != nil {
			return
		}
		for _, m := range x.Models {
			c, err := baseline.Compare(m, m, baseline.Options{})
			if err != nil {
				continue
			}
			if c.Regressed() {
				t.Fatalf("worse than itself: %v", c.Regressions)
			}
			var out bytes.Buffer
			if err := baseline.JSON(&out, c); err != nil || !json.Valid(out.Bytes()) {
				t.Fatalf("%v\n%s", err, out.Bytes())
			}
		}
	})
}

// A check of an old audit that is a family now is still the same question.
func TestFamilies(t *testing.T) {
	before, after := model("m", spread(0.5)...), model("m", spread(0.5)...)
	before.Findings = []baseline.Finding{finding("stress", audit.BatchDependent, audit.High, 1, 0.1)}
	f := finding("company", audit.BatchDependent, audit.High, 1, 0.1)
	f.Family = "stress"
	after.Findings = []baseline.Finding{f}
	before.Tested["stress"], after.Tested["stress"] = true, true
	c := compare(t, before, after, 0)
	if len(c.Findings) != 1 || c.Findings[0].Status != baseline.Unchanged || c.Regressed() {
		t.Errorf("%+v, %+v", c.Findings, c.Regressions)
	}
}
