// Package words writes for people: text from outside where it may stand without a meaning of its own (a terminal,
// Markdown, HTML), numbers, counts and plurals. Names of models, samples and layers come from files and may hold
// anything, so every writer of a report takes them through this package.
//
// There is one rule for each place. For numbers there are several, by where they stand: [Figures] for errors, [Number]
// in a sentence, [Column] in a terminal, [Cell] in a table of a page, [Tick] at an axis.
package words

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nero/internal/spell"
)

// Text is a text from outside of several lines, for a terminal or a file of text. What would move the cursor, colour
// the terminal or turn the direction of writing becomes U+FFFD, and so does invalid UTF-8. Line feeds and tabs stay.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !hidden(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// hidden reports whether a character is not seen and does something.
func hidden(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// Line is a text from outside within a line, as in [Text]; line ends, tabs and what else is blank become single
// spaces, none at the ends.
func Line(s string) string { return Text(strings.Join(strings.Fields(s), " ")) }

// HTML is a text from outside in the text of an element or in a quoted attribute of a page.
func HTML(s string) string { return html.EscapeString(Text(s)) }

// Markdown is a text from outside on one line of Markdown, also in a table: no character of it has a meaning there, and
// no HTML is left. A name after @ notifies nobody, a number after # links nowhere, and no address becomes a link; a
// backslash would not do for these, since they are looked for in the finished page.
func Markdown(s string) string {
	var b strings.Builder
	s = Line(s)
	for i, c := range s {
		switch {
		case strings.ContainsRune("\\`*_{}[]|~$^", c):
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '&':
			b.WriteString("&amp;")
		case c == '@' || c == '#':
			b.WriteRune(c)
			b.WriteString("&#8203;") // a space without width
		case c == ':' && strings.HasPrefix(s[i:], "://"):
			b.WriteString("&#58;")
		case c == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			b.WriteString("&#46;")
		default:
			b.WriteRune(c)
		}
	}
	return listMark.ReplaceAllString(b.String(), `$1\$2$3`)
}

// listMark is the beginning of an item of a list, or the line under a heading.
var listMark = regexp.MustCompile(`^(\d{0,9})([-+=.)])( |[-=]*$)`)

// Code is a text from outside in a code span of Markdown, fenced by more backticks than it holds.
func Code(s string) string {
	s = Line(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// Block is a text from outside in a fenced block of Markdown; the language may be empty.
func Block(language, s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + Text(s) + "\n" + fence
}

// Name is an identifier for people: underscores are spaces.
func Name(id string) string { return strings.ReplaceAll(id, "_", " ") }

// Unit is a unit for people: degrees are a sign, "°" and "1/°".
func Unit(unit string) string { return degrees.ReplaceAllString(unit, "°") }

var degrees = regexp.MustCompile(`\bdeg\b`)

// List joins names as a sentence does: "a", "a and b", "a, b and c".
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Capital makes the first letter of a text a capital one.
func Capital(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}

// Wrap breaks each line of a text at spaces so that none is wider than width characters; what a line goes on with
// begins where the line began, and hang characters further in. A word that is too long is broken. Every line of the
// result ends with a line feed.
func Wrap(s string, width, hang int) string {
	out := &strings.Builder{}
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\n")
		rest := strings.TrimLeft(line, " ")
		pad, first := line[:len(line)-len(rest)], true
		for {
			var head string
			head, rest = split(rest, max(width-len(pad), 1))
			out.WriteString(strings.TrimRight(pad+head, " ") + "\n")
			if rest == "" {
				break
			}
			if first {
				pad, first = pad+strings.Repeat(" ", hang), false
			}
		}
	}
	return out.String()
}

// split takes as many words as fit into width.
func split(s string, width int) (head, rest string) {
	if utf8.RuneCountInString(s) <= width {
		return s, ""
	}
	r := []rune(s)
	at := width
	for i := width; i > width/3; i-- {
		if r[i] == ' ' {
			at = i
			break
		}
	}
	return string(r[:at]), strings.TrimLeft(string(r[at:]), " ")
}

// Clip shortens a text to n characters, at least 3, its middle left out.
func Clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n || n < 3 {
		return s
	}
	k := (n - 1) / 2
	return string(r[:k]) + "…" + string(r[len(r)-(n-1-k):])
}

// Suggest is the word of known that was probably meant; see [spell.Nearest].
func Suggest(word string, known []string) (string, bool) { return spell.Nearest(word, known) }
