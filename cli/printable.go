package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// printable makes a text harmless for a terminal: names of files, models and classes come from others, and one that
// holds an escape code would colour, move or overwrite what stands beside it. Control characters other than the ends of
// lines and tabs, and those that turn the direction of writing, are shown by their number: ESC is \x1b.
func printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unprintable(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// maxWord is the longest word of a message, in bytes: that of a path, the longest thing that a message has to name
// whole.
const maxWord = 4096

// shortened is a message whose words fit on a screen: a file of a megabyte without a space in it is not repeated in
// what is said of it. Of a longer word the start is kept.
func shortened(s string) string {
	const kept = 80
	if len(s) <= maxWord {
		return s
	}
	words := strings.SplitAfter(s, " ")
	for i, w := range words {
		if len(w) > maxWord {
			word, end := strings.CutSuffix(w, " ")
			words[i] = fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(word[:kept], ""), len(word))
			if end {
				words[i] += " "
			}
		}
	}
	return strings.Join(words, "")
}

func unprintable(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

// onScreen is a writer to w through then, which writes to it: where w is a terminal, one that shows what is written as
// [printable] does. What goes into a file or a pipe stays as it is.
func onScreen(w, then io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return cleaned{then}
	}
	return then
}

type cleaned struct{ w io.Writer }

// Write writes b whole or fails.
func (s cleaned) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.w, printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
