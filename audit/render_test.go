package audit_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check"
	"nero/data/space"
	"nero/symmetry/group"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the golden files")

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
		x := must[[]float64](t)(audit.Numbers(v))
		r2, c := x[0]*x[0]+x[1]*x[1], x[0]*x[0]-x[1]*x[1]
		return &space.Scores{Val: []float64{r2, (2*c*c - r2*r2) / (1 + r2)}}
	})
	c4 := cyclic(t, 4)
	bad := &space.Tensor{Shape: []int{2}, Val: nil}
	bad.Val = must[[]float64](t)(audit.Numbers(must[space.Value](t)(
		audittest.Plane(t, c4).Apply(group.Element{90}, sampleValue(t, 17)))))
	var out []*audit.Report
	for _, s := range []*audit.Subject{
		subject("radius", audittest.Radius(0), invariant(t, c4)),
		subject("knows-quarter-turns-and-nothing-else", comb, invariant(t, group.SO2(), audittest.Angles(12)...)),
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
	for name, render := range map[string]func(io.Writer, ...*audit.Report) error{
		"report.txt": audit.Text, "report.json": audit.JSON, "report.xml": audit.JUnit,
	} {
		var b bytes.Buffer
		if err := render(&b, reports...); err != nil {
			t.Fatal(err)
		}
		again := bytes.Buffer{}
		if err := render(&again, reports...); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: equal reports give different bytes, or %v", name, err)
		}
		compare(t, name, coarse(b.Bytes()))
	}
	compare(t, "schema.json", must[[]byte](t)(audit.JSONSchema()))
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
	var b bytes.Buffer
	if err := audit.Text(&b, goldenReports(t)...); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if head := strings.Join(strings.SplitN(b.String(), "\n", 5)[:4], "\n"); !strings.Contains(head, "PASS") ||
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
	var b bytes.Buffer
	if err := audit.Text(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"    turn 0   holds (mean 1.0e-07, max 3.0e-07)\n", "    turn 13  broken (mean 0.9, max 1.3)\n",
		"    and 4 more: broken 2, holds 2\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "(mean "); n != 16 {
		t.Errorf("%d lines of elements, want 16", n)
	}
}

// The JSON form validates against its own schema and says what is not a number.
func TestJSONValidates(t *testing.T) {
	schema := must[any](t)(jsonschema.UnmarshalJSON(bytes.NewReader(must[[]byte](t)(audit.JSONSchema()))))
	c := jsonschema.NewCompiler()
	if err := c.AddResource("audit.json", schema); err != nil {
		t.Fatal(err)
	}
	s := must[*jsonschema.Schema](t)(c.Compile("audit.json"))
	for name, reports := range map[string][]*audit.Report{"all": goldenReports(t), "none": nil} {
		var b bytes.Buffer
		if err := audit.JSON(&b, reports...); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(must[any](t)(jsonschema.UnmarshalJSON(&b))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The schema refuses what it should: the test above could otherwise pass for any schema.
	if err := s.Validate(map[string]any{"format": json.Number("2")}); err == nil {
		t.Error("the schema admits a document of another format")
	}
}

func TestJUnitCounts(t *testing.T) {
	var b bytes.Buffer
	if err := audit.JUnit(&b, goldenReports(t)...); err != nil {
		t.Fatal(err)
	}
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
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
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

func TestExitCode(t *testing.T) {
	p := policy(t, "")
	report := func(v audit.Verdict, f audit.FailOn) *audit.Report {
		q := p
		q.FailOn = f
		return &audit.Report{Verdict: v, Policy: q}
	}
	for _, c := range []struct {
		name    string
		reports []*audit.Report
		want    int
	}{
		{"pass", []*audit.Report{report(audit.Passed, audit.FailOnAttention)}, 0},
		{"fail", []*audit.Report{report(audit.Failed, audit.FailOnAttention)}, 1},
		{"attention", []*audit.Report{report(audit.NeedsAttention, audit.FailOnAttention)}, 1},
		{"attention let through", []*audit.Report{report(audit.NeedsAttention, audit.FailOnFail)}, 0},
		{"fail not let through", []*audit.Report{report(audit.Failed, audit.FailOnFail)}, 1},
		{"everything let through", []*audit.Report{report(audit.Failed, audit.FailOnNothing)}, 0},
		{"could not run", []*audit.Report{audit.CouldNotRun("m", p, errors.New("no"))}, 2},
		{
			"worst of several",
			[]*audit.Report{report(audit.Passed, audit.FailOnFail), report(audit.Failed, audit.FailOnFail)},
			1,
		},
		{"could not run beats fail", []*audit.Report{
			audit.CouldNotRun("m", p, errors.New("no")),
			report(audit.Failed, audit.FailOnFail),
		}, 2},
		{"no report", nil, 2},
		{"no verdict", []*audit.Report{report("", audit.FailOnFail)}, 1},
	} {
		if got := audit.ExitCode(c.reports...); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestJSONOfNaN(t *testing.T) {
	r := audit.CouldNotRun("m", policy(t, ""), errors.New("no"))
	r.Error, r.Verdict = "", audit.Failed
	r.Results = []*audit.Result{{
		Check: check.All()[0], Status: audit.Tested,
		Measures: []audit.Evidence{audit.Number("a", math.NaN(), ""), audit.Number("b", math.Inf(1), "")},
	}}
	var b bytes.Buffer
	if err := audit.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"value": null`, `"a undefined"`, `"b infinite"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}
