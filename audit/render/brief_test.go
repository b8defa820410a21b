package render_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/document"
	"nero/audit/render"
)

// One screen holds the verdict and the gist, no reason that the gist gives already, and no line that a terminal of 80
// columns would break, but commands.
func TestBrief(t *testing.T) {
	r := audittest.Report()
	var b bytes.Buffer
	if err := render.Brief(&b, audit.Document(r)); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && !strings.HasPrefix(line, "    nero ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := strings.Count(out, "\n"); n > 40 {
		t.Errorf("%d lines:\n%s", n, out)
	}
	for _, want := range append([]string{string(r.Verdict), "Most likely: ", "What to do: "}, r.Gist()...) {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if strings.Contains(out, "largest error") {
		t.Errorf("the reason of a set is told twice:\n%s", out)
	}
}

// A set that is left undecided is no news to the gist, which says how small the error is: the reason says what is
// missing, and nothing is said of layers that break nothing.
func TestBriefUndecided(t *testing.T) {
	a := audit.Document(audittest.Report())
	m := &a.Models[0]
	set := m.Sets()[0]
	why := "NEEDS_ATTENTION: " + set.Name + ": undecided: about 72 inputs would decide"
	for _, c := range []struct {
		verdict document.Verdict
		told    bool
	}{{document.NeedsAttention, true}, {document.Failed, false}} {
		m.Verdict, set.Verdict, m.Reasons = c.verdict, c.verdict, []string{strings.Replace(why, "NEEDS_ATTENTION",
			string(c.verdict), 1)}
		m.Questions[2].Answers = []string{"none that matters: no error is above the limit"}
		var b bytes.Buffer
		if err := render.Brief(&b, a); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "72 inputs would decide"); got != c.told {
			t.Errorf("%s: told %v:\n%s", c.verdict, got, b.String())
		}
		if strings.Contains(b.String(), "None that matters") {
			t.Errorf("%s speaks of no layer:\n%s", c.verdict, b.String())
		}
	}
}

// The worst case on the screen is one of a set that did not pass, of one that fails where others are undecided, though
// another set comes first.
func TestBriefWorst(t *testing.T) {
	a := audit.Document(audittest.Report())
	m := &a.Models[0]
	sets := m.Sets()
	if len(sets) < 2 {
		t.Fatalf("%d sets", len(sets))
	}
	for k, s := range sets {
		s.Verdict = document.Passed
		if k == 1 {
			s.Verdict = document.Failed
		}
	}
	where := m.WorstCases[0].Where
	m.WorstCases = []document.Worst{
		{What: sets[0].Name, Where: where, Value: 1e-7, Replay: "nero audit first"},
		{What: sets[1].Name + ", in y", Where: where, Value: 0.5, Replay: "nero audit second"},
	}
	for _, c := range []struct {
		of   document.Verdict
		want string
	}{
		{document.Passed, "nero audit second"},
		{document.NeedsAttention, "nero audit second"},
		{document.Failed, "nero audit first"},
	} {
		sets[0].Verdict, m.Verdict = c.of, document.Failed
		var b bytes.Buffer
		if err := render.Brief(&b, a); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.want+"\n") {
			t.Errorf("%s is missing:\n%s", c.want, b.String())
		}
	}
}
