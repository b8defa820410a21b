package render_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"nero/audit"
	"nero/audit/audittest"
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
