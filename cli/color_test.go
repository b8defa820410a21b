package cli

import (
	"os"
	"strings"
	"testing"
)

func TestColored(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = out.Close() })
	for when, want := range map[string]bool{colorAlways: true, colorNever: false, colorAuto: false} {
		if got := colored(when, out, func(string) string { return "" }); got != want {
			t.Errorf("--color %s into a pipe: %v", when, got)
		}
	}
}

// TestPainter: verdicts alone are coloured, and nothing while it is off.
func TestPainter(t *testing.T) {
	var b strings.Builder
	p := &painter{w: &b}
	const text = "a PASSAGE: FAIL; b: NEEDS_ATTENTION\nPASS.\n"
	for _, want := range []string{
		text, "a PASSAGE: \x1b[1;31mFAIL\x1b[0m; b: \x1b[1;33mNEEDS_ATTENTION\x1b[0m\n\x1b[1;32mPASS\x1b[0m.\n",
	} {
		b.Reset()
		if n, err := p.Write([]byte(text)); n != len(text) || err != nil || b.String() != want {
			t.Errorf("wrote %d, %v: %q", n, err, b.String())
		}
		p.on.Store(true)
	}
}
