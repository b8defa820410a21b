package cli

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// toRead writes a text for people. On a terminal its lines are broken at spaces where they are too long for it; what
// goes into a file or a pipe stays as it is.
func toRead(out io.Writer, say func(w io.Writer) error) error {
	width := columnsOf(out)
	if width == 0 {
		return say(out)
	}
	var b strings.Builder
	err := say(&b)
	if _, failed := io.WriteString(out, fold(b.String(), width)); err == nil {
		err = failed
	}
	return err
}

// read is a command whose text is to be read, and not the JSON that it may print instead.
func (a *App) read(c *cobra.Command) *cobra.Command {
	run := c.RunE
	if run == nil {
		return c
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		for name, text := range map[string]string{"json": "false", "format": "text"} {
			if f := cmd.Flags().Lookup(name); f != nil && f.Value.String() != text {
				return run(cmd, args)
			}
		}
		out := a.Out
		defer func() { a.Out = out }()
		return a.inColor(func() error {
			return toRead(out, func(w io.Writer) error {
				a.Out = w
				return run(cmd, args)
			})
		})
	}
	return c
}

// copied tells whether a line is there to be copied: a command, or one of a study.
func copied(line string) bool {
	key, value, _ := strings.Cut(line, ": ")
	return strings.HasPrefix(line, "nero ") || !strings.Contains(key, " ") && value != "" &&
		strings.ContainsRune("[{\"", rune(value[0]))
}

// fold breaks lines that are wider than width at spaces. A line in columns goes on below the last column that begins in
// its left half, another a bit further in than it began. No word is broken, and nothing that is
// there to be copied.
func fold(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.CutSuffix(line, "\n")
		b.WriteString(foldLine(line, width))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func foldLine(line string, width int) string {
	r := []rune(line)
	begin := len(r) - utf8.RuneCountInString(strings.TrimLeft(line, " "))
	if len(r) <= width || copied(string(r[begin:])) {
		return line
	}
	hang := begin + 2
	for i := begin + 2; i <= width/2; i++ {
		if r[i] != ' ' && r[i-1] == ' ' && r[i-2] == ' ' {
			hang = i
		}
	}
	var out []string
	for from := begin; len(r) > width; from = hang {
		at := -1
		for i := from + 1; i < len(r) && (i <= width || at < 0); i++ {
			// Between columns is no place to go on.
			if r[i] == ' ' && i > hang && r[i-1] != ' ' {
				at = i
			}
		}
		if at < 0 {
			break
		}
		out = append(out, string(r[:at]))
		r = append([]rune(strings.Repeat(" ", hang)), []rune(strings.TrimLeft(string(r[at:]), " "))...)
	}
	return strings.Join(append(out, strings.TrimRight(string(r), " ")), "\n")
}
