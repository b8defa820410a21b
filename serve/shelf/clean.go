package shelf

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// absolute finds the folders of absolute paths: a slash (or a drive and a backslash, also a doubled one as in JSON)
// where a word can begin, up to the last separator before the name.
var absolute = regexp.MustCompile(
	`(^|[\s"'=(\[,;>])((?:[A-Za-z]:)?(?:/+[^/\s"'<>\\:,;()]+)+/+|[A-Za-z]:(?:\\+[^\\\s"'<>:,;()]+)*\\+)`)

// scrub takes the folders out of absolute paths: who asks a server learns names of files and not where they lie.
func scrub(s string) string {
	if !strings.ContainsAny(s, `/\`) {
		return s
	}
	// Twice, for the end of one match can be what the next one would have to begin with.
	s = absolute.ReplaceAllString(s, "$1")
	return absolute.ReplaceAllString(s, "$1")
}

// scrub also takes out the folders of the run and of its models and data, whatever is in their names.
func (s *source) scrub(text string) string {
	dirs := []string{s.dir, filepath.Dir(s.dir)}
	if r := s.now().run; r != nil {
		add := func(file string) {
			if filepath.IsAbs(file) {
				dirs = append(dirs, filepath.Dir(file))
			}
		}
		for _, m := range r.Job().Models {
			add(m.Path)
		}
		for _, f := range r.Job().Files {
			add(f.Path)
		}
	}
	// The longest first: what is left of a longer one has no separator before it any more.
	slices.SortStableFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, dir := range dirs {
		if len(dir) > 1 {
			text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
		}
	}
	if len(s.dir) > 1 {
		text = strings.ReplaceAll(text, s.dir, s.name)
	}
	return scrub(text)
}

// Clean keeps what an error is and takes the folders of the run, of its models and of its data out of its text, so that
// it may be shown to a visitor.
func (r *Run) Clean(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, p := range r.parts {
		text = p.scrub(text)
	}
	return &cleaned{text, err}
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
