package cli

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\x1b[31m\tc":   "a\nb\\x1b[31m\tc",
		"turned \u202e txt": `turned \u202e txt`,
		"bell \a, \r, \x7f": `bell \x07, \x0d, \x7f`,
		"C1 \u009b31m":      `C1 \u009b31m`,
		"Größe 3 µm → 日本":   "Größe 3 µm → 日本",
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "text")
		got := printable(in)
		for _, r := range got {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Fatalf("%q holds %U", got, r)
			}
		}
		if printable(got) != got {
			t.Fatalf("%q is changed twice", in)
		}
		if strings.IndexFunc(in, unicode.IsControl) < 0 && !strings.ContainsFunc(in, unprintable) && got != in {
			t.Fatalf("%q became %q", in, got)
		}
	})
}

// A message that repeats what a file holds stays short, and paths stay whole.
func TestShortened(t *testing.T) {
	path := "/" + strings.Repeat("folder/", 500)
	for _, c := range []struct{ in, want string }{
		{"a number 12", "a number 12"},
		{"line 3: " + path + ": no such file", "line 3: " + path + ": no such file"},
		{
			"line 3: " + strings.Repeat("9", 1<<20) + " is no number",
			"line 3: " + strings.Repeat("9", 80) + "... (1048576 bytes) is no number",
		},
		{strings.Repeat("é", 5000), strings.Repeat("é", 40) + "... (10000 bytes)"},
	} {
		if got := shortened(c.in); got != c.want {
			t.Errorf("%.100q: %.200q, want %.200q", c.in, got, c.want)
		}
	}
}
