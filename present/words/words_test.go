package words

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, 3.5 % (n = 4): 'quoted'!":  "plain text, 3.5 % (n = 4): 'quoted'!",
		"box_confidence *x* `c` ~s~ [a](b) |":   "box\\_confidence \\*x\\* \\`c\\` \\~s\\~ \\[a\\](b) \\|",
		`a\b {{x}} $y$ 2^3`:                     `a\\b \{\{x\}\} \$y\$ 2\^3`,
		"<b>&amp;</b>":                          "&lt;b&gt;&amp;amp;&lt;/b&gt;",
		"@team #1 a@b.example":                  "@&#8203;team #&#8203;1 a@&#8203;b.example",
		"https://example.org/x WWW.example.org": "https&#58;//example.org/x WWW&#46;example.org",
		"- item":                                `\- item`,
		"+1":                                    "+1",
		"===":                                   `\===`,
		"12. item":                              `12\. item`,
		"3) item":                               `3\) item`,
		"-0.5":                                  "-0.5", "- - -": `\- - -`, "--": `\--`, "0.5": "0.5", "7.": `7\.`,
		"0.5 - 1":                                "0.5 - 1",
		"# heading":                              "#&#8203; heading",
		"  two\n lines\tand a\rtab \u2028":       "two lines and a tab",
		"\x1b[31mred\x00 \u202eright \u2066\xff": "\uFFFD\\[31mred\uFFFD \uFFFDright \uFFFD\uFFFD",
		"":                                       "",
		"π größer 😀":                             "π größer 😀",
		"a·b → c ≥ 1 — “quoted” 90°, 5 µm, 12 px²": "a·b → c ≥ 1 — “quoted” 90°, 5 µm, 12 px²",
	} {
		if got := Markdown(in); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", in, got, want)
		}
	}
}

// Whatever the text is, every mark of Markdown and of HTML stands behind a backslash or is gone.
func TestMarkdownOfAnything(t *testing.T) {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"|", "`", "``", "@x", "#1", "](", "<a", "&", "www.x", "http://x", "\n- ", "\n> ", "\t", "\\", "*", "_", "1. ",
	}))
	rapid.Check(t, func(t *rapid.T) {
		s := Markdown(strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), ""))
		if !utf8.ValidString(s) || strings.ContainsFunc(s, hidden) || s != strings.TrimSpace(s) {
			t.Fatalf("%q is not one visible line", s)
		}
		var rest strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' {
				i++
				continue
			}
			rest.WriteByte(s[i])
		}
		plain := rest.String()
		if strings.ContainsAny(plain, "`*_[]|~$<>{}^") || strings.Contains(plain, "://") ||
			strings.Contains(strings.ToLower(plain), "www.") {
			t.Fatalf("%q leaves %q", s, plain)
		}
		for _, mark := range []string{"@", "#"} {
			if strings.Count(strings.ReplaceAll(plain, "&#", ""), mark) != strings.Count(plain, mark+"&#8203;") {
				t.Fatalf("%q leaves %s", s, mark)
			}
		}
	})
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		" a \t b\r\nc ": "a b c", "\x1b[2J\u0085x": "\uFFFD[2J x", "\x07": "\uFFFD", "": "",
		"\u200fa\xc0": "\uFFFDa\uFFFD",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Text("a\n\tb\r\x1b"); got != "a\n\tb\uFFFD\uFFFD" {
		t.Errorf("Text: %q", got)
	}
	if got := HTML("<a b=\"x\" y='z'>\x00&amp;"); got != "&lt;a b=&#34;x&#34; y=&#39;z&#39;&gt;\uFFFD&amp;amp;" {
		t.Errorf("HTML: %q", got)
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"a b": "`a b`", "a`b": "``a`b``", "`x`": "`` `x` ``", "``": "``` `` ```", "a\nb": "`a b`",
	} {
		if got := Code(in); got != want {
			t.Errorf("Code(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Block("sh", "a\n```\nb\x1b"); got != "````sh\na\n```\nb\uFFFD\n````" {
		t.Errorf("Block: %q", got)
	}
}

func TestUnit(t *testing.T) {
	for in, want := range map[string]string{
		"deg": "°", "1/deg": "1/°", "per deg": "per °", "degree of freedom": "degree of freedom", "px": "px", "": "",
	} {
		if got := Unit(in); got != want {
			t.Errorf("Unit(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.98312: "0.983", -0.5: "−0.500", 12.345: "12.35", 123.456: "123.5", 12345: "12345", 1.2e-7: "1.2e-07",
		9.9996:      "10.00",
		math.Inf(1): "+Inf", 2e6: "2.0e+06", 0.0005: "5.0e-04",
	} {
		if got := Number(v); got != want {
			t.Errorf("%g is %q, want %q", v, got, want)
		}
	}
	if Number(math.NaN()) != "none" {
		t.Error("no number has a number")
	}
}

// One number in all its forms.
func TestNumbers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		v    float64
		want string
	}{
		{12.3456, "12.3 1234.6% 12.35 12.3456 12.35"},
		{0.98321, "0.983 98.3% 0.983 0.9832 0.9832"},
		{0.00012, "0.00012 0.0% 1.2e-04 1.2e-04 0.00012"},
		{-1234.5, "−1.2e+03 −123450.0% −1234 −1234.5000 −1234"},
		{123456, "1.2e+05 12345600.0% 1.2e+05 1.2e+05 1.235e+05"},
		{999.96, "1e+03 99996.0% 1000 999.9600 1000"},
		{0, "0 0.0% 0 0 0"},
		{nan, "undefined undefined none - –"},
		{inf, "infinite +Inf% +Inf - –"},
	} {
		got := fmt.Sprintf("%s %s %s %s %s", Figures(c.v), Percent(c.v), Number(c.v), Column(c.v), Cell(c.v))
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
		}
	}
}

func TestTick(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{
		{0, 6, "0"},
		{math.Copysign(0, -1), 6, "0"},
		{0.1 + 0.2, 6, "0.3"},
		{3 * 0.1, 12, "0.3"},
		{-2.5, 6, "−2.5"},
		{1. / 3, 6, "0.333333"},
		{100000.5, 12, "100000.5"},
		{99999.97, 6, "100000"},
		{999999.7, 6, "1e+06"},
		{1e5, 6, "100000"},
		{2.5e6, 6, "2.5e+06"},
		{1e-3, 6, "0.001"},
		{0.00012, 6, "0.00012"},
		{3 * 1e-5, 12, "3e-5"},
		{1e-12, 6, "1e-12"},
		{math.NaN(), 6, "–"},
		{math.Inf(-1), 6, "–"},
		{math.MaxFloat64, 3, "–"},
	} {
		if got := Tick(c.v, c.digits); got != c.want {
			t.Errorf("Tick(%v, %d) is %q, want %q", c.v, c.digits, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -999: "−999", -1000: "−1,000",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 boxes", 1: "1 box", 2: "2 boxes", 60000: "60,000 boxes"} {
		if got := Plural(n, "box", "boxes"); got != want {
			t.Errorf("Plural(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	if got := Capital(Name("box_confidence_any")); got != "Box confidence any" {
		t.Error(got)
	}
}

// What has no letter at its beginning stays whole.
func TestCapital(t *testing.T) {
	for in, want := range map[string]string{"": "", "aee": "Aee", "√ of": "√ of", "étude": "Étude"} {
		if got := Capital(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 10, ""},
		{"one two", 7, "one two\n"},
		{"one two three", 7, "one two\n  three\n"},
		{"  one two three four", 9, "  one two\n    three\n    four\n"},
		{"one two\nthree four five", 10, "one two\nthree four\n  five\n"},
		{"abcdefghijkl", 5, "abcde\n  fgh\n  ijk\n  l\n"},
		{"äöü äöü äöü", 7, "äöü äöü\n  äöü\n"},
	} {
		if got := Wrap(c.in, c.width, 2); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// No line is wider than asked for, and no word is lost.
func TestWrapOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`[a-zé]{1,6}( {1,2}[a-zé]{1,9}){0,20}`).Draw(t, "text")
		width := rapid.IntRange(16, 60).Draw(t, "width")
		got := Wrap(in, width, 2)
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%q is %d wide, want at most %d", line, n, width)
			}
		}
		if a, b := strings.Fields(in), strings.Fields(got); !slices.Equal(a, b) {
			t.Errorf("%q has other words than %q", got, in)
		}
	})
}

func TestClip(t *testing.T) {
	for n, want := range map[int]string{7: "abcdefg", 6: "ab…efg", 3: "a…g"} {
		if got := Clip("abcdefg", n); got != want {
			t.Errorf("%q in %d characters, want %q", got, n, want)
		}
	}
}
