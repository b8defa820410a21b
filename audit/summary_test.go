package audit_test

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/symmetry/group"

	"pgregory.net/rapid"
)

// What a shell makes of a quoted word is the word.
func TestShellQuote(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	words := []string{
		"", "plain-1.onnx", "two words", "it's", "$(rm -rf /)", "`x`", "a\nb", "~", "#", "\\", "-n",
		"ümlaut", "*", "''",
	}
	args := make([]string, len(words))
	for i, w := range words {
		args[i] = audit.ShellQuote(w)
	}
	out, err := exec.CommandContext(t.Context(), sh, "-c", `printf '%s\0' `+strings.Join(args, " ")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if got != words[i] {
			t.Errorf("%q is read as %q", words[i], got)
		}
	}
	if got := audit.ShellQuote("plain-1.onnx"); got != "plain-1.onnx" {
		t.Errorf("a harmless word is written %s", got)
	}
}

func TestReplay(t *testing.T) {
	r := &audit.Report{Model: "my model", Command: "nero audit study.yaml"}
	at := audit.Where{Sample: "a@b", Index: 3, Element: []float64{math.Copysign(0, -1), 1.0 / 3, -5}}
	if got, want := r.Replay(at),
		"nero audit study.yaml --only 'my model' --replay a@b@0,0.3333333333333333,-5"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for name, c := range map[string]struct {
		r *audit.Report
		w audit.Where
	}{
		"no command": {&audit.Report{Model: "m"}, at}, "no place": {r, audit.Nowhere},
		"no element": {r, audit.Where{Sample: "a", Index: 1}},
	} {
		if got := c.r.Replay(c.w); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	// The coordinates read back as they were.
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		var back float64
		line := r.Replay(audit.Where{Sample: "s", Element: []float64{x}})
		word := strings.Trim(line[strings.LastIndex(line, "@")+1:], "'")
		if _, err := fmt.Sscan(word, &back); err != nil || back != x {
			t.Fatalf("%v is written %s and read as %v (%v)", x, word, back, err)
		}
	})
}

// The three questions are answered from what the checks found, and say why where they are not.
func TestQuestions(t *testing.T) {
	answer := func(r *audit.Report, i int) string { return strings.Join(r.Questions()[i].Answers, "\n") }
	full := audittest.Report()
	for i, want := range []string{
		"continuous elements (20): real", "gradient was not tested: operator Mod",
		"the symmetry is first lost in /conv1/Conv (Conv), a convolution; it causes 62.0% of the error",
	} {
		if got := answer(full, i); !strings.Contains(got, want) {
			t.Errorf("question %d: %q, want %q in it", i, got, want)
		}
	}
	controls := full.Results[:1]
	fine := full.Results[1].Sets[:1]
	cases := []struct {
		name    string
		results []*audit.Result
		i       int
		want    string
	}{
		{"nothing judged", controls, 0, "no set of elements was judged"},
		{
			"no controls",
			[]*audit.Result{{Check: &audit.Check{Name: "x"}, Status: audit.Tested}},
			1,
			"the controls were not run",
		},
		{"right", append(controls[:1:1], &audit.Result{
			Check: &audit.Check{Name: "x"}, Status: audit.Tested,
			Sets: fine,
		}), 1, "yes, the test itself was checked: moving by nothing changes nothing, two motions in a row are " +
			"their product, and answers to different inputs differ; a break that was planted was noticed from " +
			"a size of 1.0e-05 on the exact elements"},
		{"optional", append(controls[:1:1], &audit.Result{
			Check:  &audit.Check{Name: "x", Optional: true},
			Status: audit.NotTested,
		}), 1, "not needed for the verdict: x"},
		{
			"slope",
			[]*audit.Result{{
				Check: &audit.Check{Name: "x"},
				Sets:  []*audit.Set{{Name: "exact elements", Slope: &audit.Slope{Single: audit.Interval{Value: 1e-7}}}},
			}},
			0,
			"exact elements: in double precision the error falls from 1.0e-07 to 0: it is rounding",
		},
		{
			"wrong", append(controls[:1:1], &audit.Result{
				Check: &audit.Check{Name: "x"}, Status: audit.Tested,
				Findings: []audit.Finding{{Category: audit.Convention, Message: "the inverse passes"}},
			}), 1,
			"in doubt: the inverse passes",
		},
		{
			"no layer breaks",
			[]*audit.Result{{Check: &audit.Check{Name: "x"}, Status: audit.Tested, Sets: fine}},
			2,
			"no error is above the limit",
		},
		{"not looked", controls, 2, "did not look inside"},
		{"could not look", []*audit.Result{{
			Check: &audit.Check{Name: "layers"}, Status: audit.NotTested,
			Reason: "no graph",
		}}, 2, "layers: not tested: no graph"},
		{
			"looked",
			[]*audit.Result{{Check: &audit.Check{Name: "layers"}, Status: audit.Tested}},
			2,
			"no layer stands out",
		},
	}
	for _, c := range cases {
		r := &audit.Report{Policy: full.Policy, Results: c.results}
		if got := answer(r, c.i); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", c.name, got, c.want)
		}
	}
	// A clue that was looked for and not found names no layer.
	r := &audit.Report{Results: []*audit.Result{{
		Check: &audit.Check{Name: "layers"}, Status: audit.Tested,
		Clues: []audit.Clue{{Name: audit.ClueFirstLayer, Location: "a"}},
	}}}
	if got := answer(r, 2); got != "no layer stands out" {
		t.Errorf("%q", got)
	}
}

func TestGraded(t *testing.T) {
	r := audittest.Report()
	var ids []string
	for _, f := range r.Graded() {
		ids = append(ids, string(f.Severity)+" "+f.ID)
	}
	if got, want := strings.Join(ids, "; "), "high endtoend/violation/1; low layers/layer/1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if c := r.Certificate(); len(c) != 2 ||
		!strings.Contains(c[1],
			"P(relative error > 0.0001 at one or more of 3 elements) ≤ 3.6% with confidence 95.0%") {
		t.Errorf("certificate %q", c)
	}
	var do []string
	for _, a := range r.Recommendations() {
		do = append(do, a.Do)
	}
	if got := strings.Join(do, "; "); !strings.HasPrefix(got, "pad circularly") || strings.Count(got, "; ") != 3 {
		t.Errorf("recommendations %s", got)
	}
	if w := r.WorstCases(); len(w) != 3 || w[2].Where.Label != "45°" {
		t.Errorf("worst cases %v", w)
	}
	// Of a set with parts the worst case says of which part it is.
	set := r.Sets()[0]
	for _, x := range r.Sets() {
		if x.Pairs > 0 && x.Rel.Max > set.Rel.Max {
			set = x
		}
	}
	set.Fields = []audit.FieldError{
		{Name: "energy", Max: 1, At: audit.Where{Index: set.At.Index + 1}},
		{Name: "forces", Max: set.Rel.Max, At: set.At},
	}
	found := false
	for _, w := range r.WorstCases() {
		found = found || w.What == set.Name+", in forces"
	}
	if !found {
		t.Errorf("worst cases %v, want one in forces", r.WorstCases())
	}
}

// A full audit scores well, one that says nothing scores 1, and each part falls when what it asks for is missing.
func TestScore(t *testing.T) {
	full := audittest.Report().Score()
	if !(full.Total >= 3 && full.Total <= 5) || full.Documentation != 5 {
		t.Errorf("full: %v", full)
	}
	for name, c := range map[string]struct {
		change func(*audit.Report)
		part   func(audit.Score) float64
	}{
		"nothing tested": {
			func(r *audit.Report) { r.Results = nil },
			func(s audit.Score) float64 { return s.Thoroughness },
		},
		"questions left": {
			func(r *audit.Report) { r.Outside = append(r.Outside, "a", "b", "c") },
			func(s audit.Score) float64 { return s.Thoroughness },
		},
		"no float64": {
			func(r *audit.Report) { r.Results[1].Sets[0].Slope = nil },
			func(s audit.Score) float64 { return s.ErrorAnalysis },
		},
		"no diagnosis": {
			func(r *audit.Report) { r.Diagnoses = nil },
			func(s audit.Score) float64 { return s.Diagnosis },
		},
		"unsure": {
			func(r *audit.Report) { r.Diagnoses[0].Confidence = 0.2 },
			func(s audit.Score) float64 { return s.Diagnosis },
		},
		"no advice": {
			func(r *audit.Report) { r.Results[1].Findings[0].Remedies = nil },
			func(s audit.Score) float64 { return s.Advice },
		},
		"no command": {
			func(r *audit.Report) { r.Command = "" },
			func(s audit.Score) float64 { return s.Documentation },
		},
	} {
		r := audittest.Report()
		c.change(r)
		if got, was := r.Score(), full; !(c.part(got) < c.part(was)) || !(got.Total < was.Total) ||
			!(c.part(got) >= 1) {
			t.Errorf("%s: %v, before %v", name, got, was)
		}
	}
	if got := audit.CouldNotRun("m", audit.Policy{}, errors.New("no")).Score(); got.Total != 1 {
		t.Errorf("could not run: %v", got)
	}
}

func TestPicture(t *testing.T) {
	for name, c := range map[string]struct {
		p  audit.Picture
		ok bool
	}{
		"grey":   {audit.Picture{W: 2, H: 1, Pix: []byte{1, 2}}, true},
		"colour": {audit.Picture{W: 2, H: 1, Pix: []byte{1, 2, 3, 4, 5, 6}}, true},
		"short":  {audit.Picture{W: 2, H: 1, Pix: []byte{1}}, false},
		"empty":  {audit.Picture{}, false},
		"huge":   {audit.Picture{W: 1 << 40, H: 1 << 40}, false},
	} {
		m, err := c.p.Image()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.ok && name == "colour" {
			if r, g, b, _ := m.At(1, 0).RGBA(); r>>8 != 4 || g>>8 != 5 || b>>8 != 6 {
				t.Errorf("the second pixel is %d %d %d", r>>8, g>>8, b>>8)
			}
		}
	}
}

// A replay is of one model, whatever models the audit was about.
func TestReplayNamesOneModel(t *testing.T) {
	at := audit.Where{Sample: "a", Element: group.Element{90}}
	for command, want := range map[string]string{
		"nero audit s.yaml":                                     "nero audit s.yaml --only 'b 2' --replay a@90",
		"nero audit s.yaml --only a --only 'b 2'":               "nero audit s.yaml --only 'b 2' --replay a@90",
		`nero audit s.yaml --only 'it'\''s' --limit 4 --only a`: "nero audit s.yaml --limit 4 --only 'b 2' --replay a@90",
	} {
		if got := (&audit.Report{Model: "b 2", Command: command}).Replay(at); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
