package shelf

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// absolute finds the folders of absolute paths: a slash (or a drive and a backslash, also a doubled one as in JSON) where a word can
// begin, up to the last separator before the name.
var absolute = regexp.MustCompile(`(^|[\s"'=(\[,;>])((?:[A-Za-z]:)?(?:/+[^/\s"'<>\\:,;()]+)+/+|[A-Za-z]:(?:\\+[^\\\s"'<>:,;()]+)*\\+)`)

// scrub takes the folders out of absolute paths: who asks a server learns names of files and not where they lie.
func scrub(s string) string {
	if !strings.ContainsAny(s, `/\`) {
		return s
	}
	// Twice, for the end of one match can be what the next one would have to begin with.
	s = absolute.ReplaceAllString(s, "$1")
	return absolute.ReplaceAllString(s, "$1")
}

// scrub also takes out the folder of the run, whatever is in its name.
func (s *source) scrub(text string) string {
	for _, dir := range []string{s.dir, filepath.Dir(s.dir)} {
		if len(dir) > 1 {
			text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
		}
	}
	if len(s.dir) > 1 {
		text = strings.ReplaceAll(text, s.dir, s.name)
	}
	return scrub(text)
}

// cleaned is an error whose text names no folder.
type cleaned struct {
	text string
	err  error
}

func (e *cleaned) Error() string { return e.text }
func (e *cleaned) Unwrap() error { return e.err }

// clean keeps what an error is and takes the folders out of its text.
func (s *source) clean(err error) error {
	if err == nil {
		return nil
	}
	if c, ok := errors.AsType[*cleaned](err); ok {
		return c
	}
	return &cleaned{s.name + ": " + s.scrub(err.Error()), err}
}

// mark is an error with a text of its own that is of a kind.
func mark(kind error, format string, a ...any) error {
	return &cleaned{fmt.Sprintf(format, a...), kind}
}
