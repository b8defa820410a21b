package cli

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/term"
)

// When verdicts are coloured.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// choice is a flag that takes one of a few words, the first one if nothing is said.
type choice struct {
	value *string
	of    []string
}

// String is the word.
func (c *choice) String() string {
	if *c.value == "" && len(c.of) > 0 {
		return c.of[0]
	}
	return *c.value
}

// Set takes a word.
func (c *choice) Set(word string) error {
	if !slices.Contains(c.of, word) {
		return fmt.Errorf("want one of %s", strings.Join(c.of, ", "))
	}
	*c.value = word
	return nil
}

// Type is what the flag takes, for its help.
func (c *choice) Type() string { return strings.Join(c.of, "|") }

// verdict is a verdict in an audit that is printed.
var verdict = regexp.MustCompile(`\b(PASS|FAIL|NEEDS_ATTENTION|COULD_NOT_RUN)\b`)

// ink is how a verdict is shown: bold, in a colour of the terminal's own palette, so that it can be read on any ground.
// The word says what the colour says.
var ink = map[string]string{
	"PASS": "\x1b[1;32m", "FAIL": "\x1b[1;31m", "NEEDS_ATTENTION": "\x1b[1;33m", "COULD_NOT_RUN": "\x1b[1;33m",
}

const plain = "\x1b[0m"

// painter colours verdicts in what is written, while it is on. What it is given holds no escape codes of its own.
type painter struct {
	w  io.Writer
	on atomic.Bool
}

// Write writes b whole or fails.
func (p *painter) Write(b []byte) (int, error) {
	if !p.on.Load() {
		return p.w.Write(b)
	}
	painted := verdict.ReplaceAllFunc(b, func(word []byte) []byte {
		return []byte(ink[string(word)] + string(word) + plain)
	})
	if _, err := p.w.Write(painted); err != nil {
		return 0, err
	}
	return len(b), nil
}

// inColor prints something for people, with verdicts in colour where the user and the terminal want it.
func (a *App) inColor(say func() error) error {
	if a.paint == nil || !colored(a.color, a.paint.w, os.Getenv) {
		return say()
	}
	a.paint.on.Store(true)
	defer a.paint.on.Store(false)
	return say()
}

// colored says whether what goes to w is coloured: as the user says, else on a terminal that shows colours, unless
// NO_COLOR asks for none (https://no-color.org).
func colored(when string, w io.Writer, env func(string) string) bool {
	switch when {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	f, ok := w.(*os.File)
	if !ok || env("NO_COLOR") != "" || env("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	return runtime.GOOS != "windows" || env("WT_SESSION") != "" || env("TERM") != ""
}
