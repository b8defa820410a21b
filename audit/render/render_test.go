package render_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check"
	"nero/audit/document"
	"nero/audit/render"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

var update = flag.Bool("update", false, "write the golden files")

func must[T any](t *testing.T) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func policy(t *testing.T, preset string) audit.Policy {
	t.Helper()
	return must[audit.Policy](t)(audit.NewPolicy(preset, 0, 0))
}

// invariant is a plan under which vectors turn and the output stays.
func invariant(t *testing.T, g group.Group, elements ...group.Element) *orbit.Plan {
	t.Helper()
	return audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}, elements...)
}

const inputs = 100

func subject(name string, p audit.Predictor, plan *orbit.Plan) *audit.Subject {
	return &audit.Subject{
		Name: name, Predictor: p, Plan: plan, N: inputs, Sample: audittest.Vectors(inputs, 1),
		Seed: 7,
	}
}

// golden reports: a model that passes, one whose comb is clean and that fails between, one that meets NaN, one that
// could not run. The pictures of reports are of these checks and questions: others come and go without changing how a
// report looks.
var outside = []string{
	"single layers", "derivatives along the group", "gradients and forces", "float64 and exported forms",
	"stress inputs", "static analysis of the graph",
}

func basic(t *testing.T) []*audit.Check {
	t.Helper()
	c, _, err := check.Select([]string{"preflight", "sweep", "controls", "lattice", "endtoend", "decision"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func goldenReports(t *testing.T) []*audit.Report {
	t.Helper()
	comb := audittest.Pointwise(func(v space.Value) space.Value {
		x := v.Numbers()
		r2, c := x[0]*x[0]+x[1]*x[1], x[0]*x[0]-x[1]*x[1]
		return &space.Scores{Val: []float64{r2, (2*c*c - r2*r2) / (1 + r2)}}
	})
	c4 := must[group.Group](t)(catalog.Cyclic(4))
	bad := &space.Tensor{Shape: []int{2}, Val: nil}
	bad.Val = must[space.Value](t)(
		audittest.Plane(t, c4).Apply(group.Element{90}, sampleValue(t, 17))).Numbers()
	var out []*audit.Report
	for _, s := range []*audit.Subject{
		subject("radius", audittest.Radius(0), invariant(t, c4)),
		subject("knows-quarter-turns-and-nothing-else", comb, invariant(t, catalog.SO2(), audittest.Angles(12)...)),
		subject("nan", audittest.NaNAt(bad), invariant(t, c4)),
	} {
		out = append(out, audittest.Audit(t, audittest.Fixture{Subject: s, Options: audit.Options{Outside: outside}},
			basic(t)...))
	}
	return append(out, audit.CouldNotRun("missing", policy(t, ""),
		errors.New("open missing.onnx: no such file; check the path in models")))
}

func sampleValue(t *testing.T, i int) space.Value {
	t.Helper()
	s, err := audittest.Vectors(inputs, 1)(i)
	if err != nil {
		t.Fatal(err)
	}
	return s.Value
}

func TestGolden(t *testing.T) {
	reports := goldenReports(t)
	for name, f := range map[string]render.Format{
		"report.txt": render.Text, "report.json": render.JSON, "report.xml": render.JUnit,
	} {
		b := write(t, f, reports...)
		if again := write(t, f, reports...); b != again {
			t.Errorf("%s: equal reports give different bytes", name)
		}
		compare(t, name, coarse([]byte(b)))
	}
	compare(t, "schema.json", must[[]byte](t)(document.Schema()))
}

var digits = regexp.MustCompile(`-?\d+\.\d{6,}(e[-+]\d+)?`)

// coarse rounds long numbers to six digits: the last ones differ between processors, some of which fuse multiplication
// and addition.
func coarse(b []byte) []byte {
	return digits.ReplaceAllFunc(b, func(n []byte) []byte {
		x, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			return n
		}
		return strconv.AppendFloat(nil, x, 'g', 6, 64)
	})
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got); run with -update if that is meant:\n%s", path, d)
	}
}

func TestTextKeepsItsWidth(t *testing.T) {
	text := write(t, render.Text, goldenReports(t)...)
	var screen strings.Builder
	if err := render.Screen(&screen, audit.Document(goldenReports(t)...), 80); err != nil {
		t.Fatal(err)
	}
	for width, text := range map[int]string{100: text, 80: screen.String()} {
		for line := range strings.Lines(text) {
			// Commands are there to be copied.
			n := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
			if n > width && !strings.Contains(line, "--replay") {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		if strings.Contains(text, "…") {
			t.Errorf("%d columns: something is cut:\n%s", width, text)
		}
	}
	if head := strings.Join(strings.SplitN(text, "\n", 5)[:4], "\n"); !strings.Contains(head, "PASS") ||
		!strings.Contains(head, "Is the error real") {
		t.Errorf("the first lines do not answer:\n%s", head)
	}
}

// Every exact element has a line of its own, up to sixteen; the rest is counted.
func TestTextNamesExactElements(t *testing.T) {
	p := policy(t, "") // 1e-4
	s := &audit.Set{
		Name: "exact elements", Exact: true, Pairs: 20, Scale: 1, Cause: audit.CauseViolation,
		At: audit.Nowhere,
	}
	for i := range 20 {
		pt := audit.Point{Label: "turn " + strconv.Itoa(i), Exact: true, Mean: 1e-7, Max: 3e-7}
		if i%3 == 1 {
			pt.Mean, pt.Max = 0.9, 1.3
		}
		s.Profile = append(s.Profile, pt)
	}
	r := &audit.Report{
		Model: "m", Verdict: audit.Failed, Policy: p,
		Results: []*audit.Result{{Check: check.All()[0], Status: audit.Tested, Sets: []*audit.Set{s}}},
	}
	text := write(t, render.Text, r)
	for _, want := range []string{
		"    turn 0   holds (mean 1.0e-07, max 3.0e-07)\n", "    turn 13  broken (mean 0.9, max 1.3)\n",
		"    and 4 more: broken 2, holds 2\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "(mean "); n != 16 {
		t.Errorf("%d lines of elements, want 16", n)
	}
}

// The JSON form validates against its own schema and says what is not a number.
func TestJSONValidates(t *testing.T) {
	schema := must[any](t)(jsonschema.UnmarshalJSON(bytes.NewReader(must[[]byte](t)(document.Schema()))))
	c := jsonschema.NewCompiler()
	if err := c.AddResource("audit.json", schema); err != nil {
		t.Fatal(err)
	}
	s := must[*jsonschema.Schema](t)(c.Compile("audit.json"))
	for name, reports := range map[string][]*audit.Report{"all": goldenReports(t), "none": nil} {
		v := must[any](t)(jsonschema.UnmarshalJSON(strings.NewReader(write(t, render.JSON, reports...))))
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The schema refuses what it should: the test above could otherwise pass for any schema.
	if err := s.Validate(map[string]any{"format": json.Number("2")}); err == nil {
		t.Error("the schema admits a document of another format")
	}
}

func TestJUnitCounts(t *testing.T) {
	type note struct {
		Message string `xml:"message,attr"`
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Skipped  int    `xml:"skipped,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Class   string `xml:"classname,attr"`
				Failure *note  `xml:"failure"`
				Error   *note  `xml:"error"`
				Skipped *note  `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(write(t, render.JUnit, goldenReports(t)...)), &got); err != nil {
		t.Fatal(err)
	}
	var tests, failures, errs int
	for _, s := range got.Suites {
		var f, e, k int
		for _, c := range s.Cases {
			n := 0
			for _, x := range []struct {
				note *note
				into *int
			}{{c.Failure, &f}, {c.Error, &e}, {c.Skipped, &k}} {
				if x.note != nil {
					n++
					*x.into++
					if x.note.Message == "" {
						t.Errorf("%s %s: outcome without a message", s.Name, c.Name)
					}
				}
			}
			if n > 1 {
				t.Errorf("%s %s has %d outcomes", s.Name, c.Name, n)
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != f || s.Errors != e || s.Skipped != k {
			t.Errorf("%s says %d/%d/%d/%d, has %d/%d/%d/%d", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped,
				len(s.Cases), f, e, k)
		}
		tests, failures, errs = tests+s.Tests, failures+s.Failures, errs+s.Errors
	}
	if got.Tests != tests || got.Failures != failures || got.Errors != errs {
		t.Errorf("the whole says %d/%d/%d, has %d/%d/%d", got.Tests, got.Failures, got.Errors, tests, failures, errs)
	}
	if got.Suites[0].Failures != 0 || got.Suites[1].Failures == 0 || got.Suites[3].Errors != 1 {
		t.Error("the outcome of a suite is not that of its model")
	}
}

func TestJSONOfNaN(t *testing.T) {
	r := audit.CouldNotRun("m", policy(t, ""), errors.New("no"))
	r.Error, r.Verdict = "", audit.Failed
	r.Results = []*audit.Result{{
		Check: check.All()[0], Status: audit.Tested,
		Measures: []audit.Evidence{audit.Number("a", math.NaN(), ""), audit.Number("b", math.Inf(1), "")},
	}}
	text := write(t, render.JSON, r)
	for _, want := range []string{`"value": null`, `"a undefined"`, `"b infinite"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
