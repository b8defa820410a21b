package app

import (
	"fmt"
	"strings"

	"nero/present/words"
)

// oneLine is an error of several lines on one.
func oneLine(err error) error {
	if text := err.Error(); strings.Contains(text, "\n") {
		return &renamed{strings.ReplaceAll(text, "\n", "; "), err}
	}
	return err
}

// trimmed takes the name of a package off an error.
func trimmed(err error, prefix string) error {
	if err == nil {
		return nil
	}
	if text, ok := strings.CutPrefix(err.Error(), prefix); ok {
		return &renamed{text, err}
	}
	return err
}

// renamed is an error under another text.
type renamed struct {
	text string
	err  error
}

func (e *renamed) Error() string { return e.text }
func (e *renamed) Unwrap() error { return e.err }

// unknownWord says what a flag may be, and what was probably meant.
func unknownWord(flag, word string, known []string) error {
	if near, ok := words.Suggest(word, known); ok {
		return fmt.Errorf("%s: %q is not known; did you mean %q?", flag, word, near)
	}
	return fmt.Errorf("%s: %q is not known; expected one of %s", flag, word, strings.Join(known, ", "))
}

// sentence joins what is wrong with what to do.
func sentence(detail, remedy string) string {
	if remedy == "" {
		return detail
	}
	return detail + "; " + remedy
}
