package process

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Split reads a command on one line: words between spaces, in '…' or "…" where they hold some. A backslash is a letter
// like any other, since paths of Windows have it.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			in, quote = true, r
		case unicode.IsSpace(r):
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quotation mark %c has no second one", quote)
	}
	if in {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("no program is named; expected the program and its arguments")
	}
	return words, nil
}

// Line is a command on one line, which [Split] reads back.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case w != "" && !strings.ContainsFunc(w, separates):
			quoted[i] = w
		case !strings.Contains(w, `"`):
			quoted[i] = `"` + w + `"`
		default:
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// separates tells letters that stand in no word without quotation marks.
func separates(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\'' }
