package render_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/render"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var official = flag.String("sarif-schema", "",
	"also validate SARIF against this `file`, the schema that the standard comes with")

// formats are the forms of a report but the page, by the ends of their golden files.
var formats = map[string]render.Format{
	"txt": render.Text, "md": render.Markdown, "json": render.JSON, "xml": render.JUnit, "sarif": render.SARIF,
	"badge.json": render.Badge,
}

func write(t *testing.T, f render.Format, reports ...*audit.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Render(&b, audit.Document(reports...)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every part of a report in every form.
func TestEveryPart(t *testing.T) {
	for ext, f := range formats {
		got := write(t, f, audittest.Report())
		if again := write(t, f, audittest.Report()); again != got {
			t.Errorf("%s: equal reports give different bytes", ext)
		}
		compare(t, "full."+ext, []byte(got))
	}
}

// What a reader must find, whatever the form: the cause with how sure it is and where, the layer, the severity, the
// limit with its origin, the command, what was not tested, the certificate.
func TestFormsSayTheSame(t *testing.T) {
	for ext, want := range map[string][]string{
		"txt": {
			"zero padding at the border, 72% sure, at /conv1/Conv", "high violation", "preset production",
			"--replay d-0017@45", "not tested: gradient", "P(relative error >", "wasm 1.18.0", "2025-01-02",
			"pad circularly",
		},
		"md": {
			"zero padding at the border, 72% sure, at /conv1/Conv", "| high |", "preset production",
			"--replay d-0017@45", "not tested: gradient", "P(relative error &gt;", "wasm 1.18.0", "2025-01-02",
			"pad circularly",
		},
		"json": {
			`"confidence": 0.72`, `"severity": "high"`, `"origin": "preset production"`, "--replay d-0017@45",
			`"reason": "operator Mod`, "P(relative error >", "wasm 1.18.0", "2025-01-02", "pad circularly",
			`"strength": 0.9`, `"height": 12`,
		},
		"xml": {
			"zero padding at the border, 72% sure, at /conv1/Conv", "high violation", "--replay d-0017@45",
			"operator Mod", "wasm 1.18.0",
		},
		"sarif": {
			`"confidence": 0.72`, `"level": "error"`, "--replay d-0017@45", "not tested: operator Mod",
			"wasm 1.18.0", "models/original%201.onnx", `"sha-256": "0123456789abcdef"`,
		},
	} {
		got := write(t, formats[ext], audittest.Report())
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q", ext, w)
			}
		}
	}
}

// Names and messages from outside stay text in every form.
func TestHostileText(t *testing.T) {
	bad := audittest.Hostile()
	for ext, f := range formats {
		got := write(t, f, bad, audit.CouldNotRun(bad.Model, bad.Policy, errors.New(bad.Model)))
		if !utf8.ValidString(got) {
			t.Errorf("%s: not UTF-8", ext)
		}
		for i, c := range got {
			if c != '\n' && c != '\t' && unicode.IsControl(c) {
				t.Errorf("%s: control character %q at byte %d", ext, c, i)
				break
			}
		}
		switch ext {
		case "json", "sarif", "badge.json":
			if !json.Valid([]byte(got)) {
				t.Errorf("%s: not JSON", ext)
			}
		case "xml":
			for d := xml.NewDecoder(strings.NewReader(got)); ; {
				tok, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", ext, err)
				}
				if e, ok := tok.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "img") {
					t.Errorf("%s: a name became the element %s", ext, e.Name.Local)
				}
			}
		case "md":
			prose := fenced.ReplaceAllString(got, "")
			prose = spans.ReplaceAllString(prose, "")
			for _, w := range []string{"<script", "<img", "http://", "@team", "#1", "</title"} {
				if strings.Contains(prose, w) {
					t.Errorf("md: %q has a meaning", w)
				}
			}
			if link.MatchString(prose) {
				t.Error("md: a name became a link")
			}
			// Tables keep their columns: a bar inside a cell is escaped.
			for line := range strings.Lines(prose) {
				if strings.HasPrefix(line, "| ") {
					if n := len(bars.FindAllString(line, -1)); n != 7 && n != 4 && n != 11 {
						t.Errorf("md: %d bars in %s", n, line)
					}
				}
			}
		}
	}
}

var (
	fenced = regexp.MustCompile("(?s)\n(```+)[a-z]*\n.*?\n```+\n")
	spans  = regexp.MustCompile("(?m)(``+).*?``+$")
	link   = regexp.MustCompile(`[^\\]\]\(`)
	bars   = regexp.MustCompile(`(^|[^\\])\|`)
)

func TestFullTextKeepsItsWidth(t *testing.T) {
	for line := range strings.Lines(write(t, render.Text, audittest.Report(), audittest.Hostile())) {
		line = strings.TrimRight(line, "\n")
		if n := utf8.RuneCountInString(line); n > 100 && !strings.Contains(line, " --replay ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// A report that is far too long for a comment still fits, begins with what matters, and says what is missing.
func TestMarkdownFits(t *testing.T) {
	r := audittest.Report()
	wide := &audit.Table{Columns: []audit.Column{{Name: "layer"}, {Name: "error"}}}
	for i := range 40 {
		wide.Rows = append(wide.Rows, []audit.Cell{
			audit.Word(strings.Repeat("x", 200) + strconv.Itoa(i)),
			audit.Num(1),
		})
	}
	for i := range 60 {
		r.Results = append(r.Results, &audit.Result{
			Check: &audit.Check{Name: fmt.Sprintf("check-%d", i), Doc: "Asks."}, Status: audit.Tested,
			Exhibits: []audit.Exhibit{{Name: "wide", Title: "Wide", Table: wide}},
		})
	}
	got := write(t, render.Markdown, r, r)
	if n := utf8.RuneCountInString(got); n > 65536 {
		t.Errorf("%d characters; a comment holds 65,536", n)
	}
	if !strings.Contains(got, "left out to fit") {
		t.Error("it does not say that something is missing")
	}
	if i := strings.Index(got, "zero padding"); i < 0 || i > 3000 {
		t.Errorf("the cause is at byte %d", i)
	}
	if n := strings.Count(got, "<details>"); n == 0 || n != strings.Count(got, "</details>") {
		t.Errorf("%d sections are opened and %d closed", n, strings.Count(got, "</details>"))
	}
}

// validator compiles a schema from a file.
func validator(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	b := must[[]byte](t)(os.ReadFile(file))
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///schema.json",
		must[any](t)(jsonschema.UnmarshalJSON(bytes.NewReader(b)))); err != nil {
		t.Fatal(err)
	}
	return must[*jsonschema.Schema](t)(c.Compile("file:///schema.json"))
}

func TestSARIFValidates(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{"subset": validator(t, "testdata/sarif-subset.json")}
	if *official != "" {
		schemas["standard"] = validator(t, *official)
	}
	full, bad := audittest.Report(), audittest.Hostile()
	for kind, s := range schemas {
		for name, reports := range map[string][]*audit.Report{
			"full": {full}, "several": append(goldenReports(t), full, bad), "none": nil,
			"could not run": {audit.CouldNotRun("m", full.Policy, errors.New("no"))},
		} {
			v := must[any](t)(jsonschema.UnmarshalJSON(strings.NewReader(write(t, render.SARIF, reports...))))
			if err := s.Validate(v); err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
		}
		v := must[any](t)(jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(write(t, render.SARIF, full),
			`"level": "error"`, `"level": "high"`, 1))))
		if err := s.Validate(v); err == nil {
			t.Errorf("%s admits a level that there is not", kind)
		}
	}
}

type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct{ ID string }
			}
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct{ Message struct{ Text string } }
		}
		Results []struct {
			RuleID              string
			RuleIndex           int
			Level               string
			PartialFingerprints map[string]string
			Locations           []struct {
				PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				LogicalLocations []struct{ Name, Kind string }
			}
		}
	}
}

func readSARIF(t *testing.T, reports ...*audit.Report) sarifLog {
	t.Helper()
	var l sarifLog
	if err := json.Unmarshal([]byte(write(t, render.SARIF, reports...)), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// A finding keeps its fingerprint when its numbers and words change, and shares it with no other.
func TestSARIFFingerprints(t *testing.T) {
	twice := func() *audit.Report {
		r := audittest.Report()
		r.Results[1].Findings = append(r.Results[1].Findings, r.Results[1].Findings[0])
		return r
	}
	before := readSARIF(t, twice()).Runs[0]
	changed := twice()
	for _, c := range changed.Results {
		for i := range c.Findings {
			c.Findings[i].Message += " now"
			c.Findings[i].Worst = audit.Where{Sample: "other", Index: 1, Label: "1°"}
			for j := range c.Findings[i].Evidence {
				c.Findings[i].Evidence[j].Value *= 1.5
			}
		}
	}
	changed.Seed++
	after := readSARIF(t, changed).Runs[0]
	seen := map[string]bool{}
	for i, r := range before.Results {
		mark := r.PartialFingerprints["neroFinding/v1"]
		if seen[mark] || mark == "" {
			t.Errorf("result %d has the fingerprint %q of another", i, mark)
		}
		seen[mark] = true
		if got := after.Results[i].PartialFingerprints["neroFinding/v1"]; got != mark {
			t.Errorf("result %d: %s became %s", i, mark, got)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d results, want 3", len(seen))
	}
	other := audittest.Report()
	other.Model = "another"
	if got := readSARIF(t, other).Runs[0].Results[0].PartialFingerprints["neroFinding/v1"]; seen[got] {
		t.Error("a finding of another model has the same fingerprint")
	}
}

func TestSARIFPlaces(t *testing.T) {
	r := audittest.Report()
	run := readSARIF(t, r, audit.CouldNotRun("missing", r.Policy, errors.New("no such file"))).Runs[0]
	if len(run.Tool.Driver.Rules) != len(r.Results) {
		t.Errorf("%d rules for %d checks", len(run.Tool.Driver.Rules), len(r.Results))
	}
	for _, x := range run.Results {
		if run.Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID {
			t.Errorf("rule %d is not %s", x.RuleIndex, x.RuleID)
		}
	}
	if run.Invocations[0].ExecutionSuccessful || len(run.Invocations[0].ToolExecutionNotifications) != 2 {
		t.Error("what could not run and what was not tested are not both said")
	}
	layer := run.Results[1]
	if layer.Level != "note" ||
		layer.Locations[0].LogicalLocations[0] != (struct{ Name, Kind string }{"/conv1/Conv", "layer"}) {
		t.Errorf("layer finding %+v", layer)
	}
	for file, want := range map[string]string{
		"models/original 1.onnx": "models/original%201.onnx", "./a.onnx": "a.onnx", "/abs/a.onnx": "file:///abs/a.onnx",
		`C:\models\a.onnx`: "file:///C:/models/a.onnx", "x:y.onnx": "file:///x:y.onnx", "a#b?.onnx": "a%23b%3F.onnx",
	} {
		r.About[0].Value = file
		if got := readSARIF(t, r).Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI; got != want {
			t.Errorf("%s is written %s, want %s", file, got, want)
		}
	}
}

// What Jenkins and GitLab read: counters that add up, a name and a class for every case, at most one outcome, a message
// for each.
func TestJUnitIsReadByBuildServers(t *testing.T) {
	full := audittest.Report()
	out := write(t, render.JUnit, full, audittest.Hostile(),
		audit.CouldNotRun("missing", full.Policy, errors.New("no such file")))
	type frame struct {
		name   string
		attrs  map[string]string
		counts map[string]int
	}
	var stack []*frame
	d := xml.NewDecoder(strings.NewReader(out))
	d.Strict = true
	suites := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			f := &frame{e.Name.Local, map[string]string{}, map[string]int{}}
			for _, a := range e.Attr {
				f.attrs[a.Name.Local] = a.Value
			}
			need := map[string][]string{
				"testsuites": {"tests", "failures", "errors"},
				"testsuite":  {"name", "tests", "failures", "errors", "skipped"},
				"testcase":   {"name", "classname"}, "failure": {"message", "type"}, "error": {"message", "type"},
				"skipped": {"message"}, "property": {"name", "value"},
			}[f.name]
			for _, a := range need {
				if f.attrs[a] == "" {
					t.Errorf("<%s> lacks %s", f.name, a)
				}
			}
			parent := map[string]string{
				"testsuite": "testsuites", "testcase": "testsuite", "failure": "testcase",
				"error": "testcase", "skipped": "testcase", "properties": "testsuite",
			}[f.name]
			if parent != "" && (len(stack) == 0 || stack[len(stack)-1].name != parent) {
				t.Errorf("<%s> is not in <%s>", f.name, parent)
			}
			for _, s := range stack {
				s.counts[f.name]++
			}
			stack = append(stack, f)
		case xml.EndElement:
			f := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			switch f.name {
			case "testcase":
				if n := f.counts["failure"] + f.counts["error"] + f.counts["skipped"]; n > 1 {
					t.Errorf("%s has %d outcomes", f.attrs["name"], n)
				}
			case "testsuite", "testsuites":
				suites++
				for attr, element := range map[string]string{
					"tests": "testcase", "failures": "failure",
					"errors": "error", "skipped": "skipped",
				} {
					if f.name == "testsuites" && attr == "skipped" {
						continue
					}
					if f.attrs[attr] != strconv.Itoa(f.counts[element]) {
						t.Errorf("<%s %s> says %s=%s and has %d", f.name, f.attrs["name"], attr, f.attrs[attr],
							f.counts[element])
					}
				}
			}
		}
	}
	if suites != 4 {
		t.Errorf("%d suites, want 3 and the whole", suites)
	}
}

func TestBadge(t *testing.T) {
	p := policy(t, "")
	r := func(v audit.Verdict) *audit.Report {
		return &audit.Report{Model: "m", Group: "C4", Verdict: v, Policy: p}
	}
	for want, reports := range map[string][]*audit.Report{
		`{"schemaVersion":1,"label":"equivariance","message":"C4: PASS","color":"brightgreen"}`:                             {r(audit.Passed)},
		`{"schemaVersion":1,"label":"equivariance","message":"C4: NEEDS ATTENTION","color":"yellow"}`:                       {r(audit.NeedsAttention)},
		`{"schemaVersion":1,"label":"equivariance","message":"1 FAIL, 2 PASS","color":"red"}`:                               {r(audit.Passed), r(audit.Failed), r(audit.Passed)},
		`{"schemaVersion":1,"label":"equivariance","message":"1 COULD NOT RUN, 1 PASS","color":"lightgrey","isError":true}`: {r(audit.Passed), audit.CouldNotRun("m", p, errors.New("no"))},
		`{"schemaVersion":1,"label":"equivariance","message":"COULD NOT RUN","color":"lightgrey","isError":true}`:           nil,
		`{"schemaVersion":1,"label":"equivariance","message":"C4: FAIL","color":"red"}`:                                     {r(audit.Failed)},
	} {
		if got := strings.TrimSpace(write(t, render.Badge, reports...)); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// Exhibits of every size are drawn in text without a panic and within their bounds.
func TestTextOfExhibits(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	big := make([]float64, 300*500)
	for i := range big {
		big[i] = float64(i)
	}
	for name, e := range map[string]audit.Exhibit{
		"empty table": {Title: "t", Table: &audit.Table{Columns: []audit.Column{{Name: "a"}}}},
		"no columns":  {Title: "t", Table: &audit.Table{}},
		"wide table":  {Title: "t", Table: wideTable(40)},
		"empty curve": {Title: "t", Curve: &audit.Curve{Limit: nan}},
		"NaN curve": {
			Title: "t",
			Curve: &audit.Curve{Limit: nan, Series: []audit.Series{{Name: "s", X: []float64{nan}, Y: []float64{inf}}}},
		},
		"unknown map": {Title: "t", Map: &audit.Map{H: 1, W: 2, Val: []float64{nan, nan}}},
		"zero map":    {Title: "t", Map: &audit.Map{H: 1, W: 2, Val: []float64{0, 0}}},
		"infinite":    {Title: "t", Map: &audit.Map{H: 1, W: 2, Val: []float64{inf, 1}, Diverging: true}},
		"big map":     {Title: "t", Map: &audit.Map{H: 300, W: 500, Val: big}},
		"empty map":   {Title: "t", Map: &audit.Map{}},
		"nothing":     {Title: "t"},
	} {
		r := &audit.Report{
			Model: "m", Policy: policy(t, ""),
			Results: []*audit.Result{{
				Check: &audit.Check{Name: "c", Doc: "D."}, Status: audit.Tested,
				Exhibits: []audit.Exhibit{e},
			}},
		}
		got := write(t, render.Text, r)
		if n := strings.Count(got, "\n"); n > 60 {
			t.Errorf("%s: %d lines", name, n)
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(line); n > 101 {
				t.Errorf("%s: %d columns", name, n)
			}
		}
		for ext, f := range formats {
			if write(t, f, r) == "" {
				t.Errorf("%s: %s is empty", name, ext)
			}
		}
	}
}

func wideTable(n int) *audit.Table {
	t := &audit.Table{}
	var row []audit.Cell
	for i := range n {
		t.Columns = append(t.Columns, audit.Column{Name: "a long name " + strconv.Itoa(i)})
		row = append(row, audit.Word(strings.Repeat("word ", 5)))
	}
	t.Rows = [][]audit.Cell{row}
	return t
}
