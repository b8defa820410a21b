package spell

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"mragin", "margin", 1},
		{"ca", "abc", 3}, // the unrestricted distance would be 2
		{"größe", "grösse", 2},
		{strings.Repeat("a", 200) + "b", strings.Repeat("a", 200) + "c", 0}, // beyond what is compared
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// The distance is 0 between equal words only, the same in both directions, at least the difference of the lengths and
// at most the longer one.
func TestDistanceLaws(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abcß")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d, n, m := Distance(a, b), len([]rune(a)), len([]rune(b))
		if d != Distance(b, a) || (d == 0) != (a == b) || d < max(n-m, m-n) || d > max(n, m) {
			t.Fatalf("Distance(%q, %q) = %d", a, b, d)
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"confidence", "accuracy", "margin", "/layer1/conv/Conv_output_0", "/conv/Conv_output_0"}
	for word, want := range map[string]string{
		"accurcy": "accuracy", "Confidence": "confidence", "mragin": "margin", "zebra": "", "": "", "ma": "",
		"conv": "/conv/Conv_output_0", "layer1": "/layer1/conv/Conv_output_0", "co": "",
	} {
		if got, ok := Nearest(word, known); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", word, got, ok, want)
		}
	}
	// Two edits of two letters are another word.
	if got, ok := Nearest("C4", []string{"D8", "O"}); ok {
		t.Errorf("the nearest of C4 is %q", got)
	}
}
