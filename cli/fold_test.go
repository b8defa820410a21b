package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short\n\n  as it is", "short\n\n  as it is"},
		{"words that do not fit into twenty columns\n", "words that do not\n  fit into twenty\n  columns\n"},
		{"  --flag  what it does and takes\n", "  --flag  what it\n          does and\n          takes\n"},
		{"  nero audit model.onnx --data photos", "  nero audit model.onnx --data photos"},
		{"  data: {images: \"photos\", margin: auto}", "  data: {images: \"photos\", margin: auto}"},
		{"see /a/path/that/is/longer/than/the/line ok", "see\n  /a/path/that/is/longer/than/the/line\n  ok"},
		{"ééééééééé ééééééééé ééé", "ééééééééé ééééééééé\n  ééé"},
	} {
		if got := fold(c.text, 20); got != c.want {
			t.Errorf("%q\ngives %q\nwant  %q", c.text, got, c.want)
		}
	}
}

// What people read of every command fits into the narrowest terminal, but for what has to be copied.
func TestFoldedHelp(t *testing.T) {
	a := &App{Out: &strings.Builder{}, Err: &strings.Builder{}}
	for _, c := range append(a.root().Commands(), a.root()) {
		var help strings.Builder
		c.SetOut(&help)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		if at := strings.IndexByte(help.String(), '\t'); at >= 0 {
			t.Errorf("%s: the help is indented as code is: %q", c.Name(), help.String()[max(0, at-60):])
		}
		for line := range strings.Lines(fold(help.String(), 80)) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 &&
				!strings.HasPrefix(strings.TrimLeft(line, " "), "nero ") {
				t.Errorf("%s: %d columns: %s", c.Name(), n, line)
			}
		}
	}
}
