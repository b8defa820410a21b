package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nero/app"
	"nero/present/words"

	"github.com/spf13/cobra"
)

func (a *App) identify() *cobra.Command {
	var o app.IdentifyOptions
	var answers, format string
	var blank bool
	c := &cobra.Command{
		Use:   "identify",
		Short: "Ask what you know of a problem, and say which symmetries it should have",
		Long: `identify asks up to fourteen questions in plain words, each with "do not know", and says which symmetries follow: what to
claim, what to test because nobody knows, and what is no symmetry although it looks like one. It writes a study for each
claim and each open question, which nero data and nero audit test. Nothing is measured here: rules read the answers, and each
is named beside what it says.

Answers come from the terminal, or from a file that --blank prints for you to fill in. A question mark behind an answer says
that it is a guess.`,
		Example: "  nero identify -o study\n" +
			"  nero identify --blank > answers.yaml\n" +
			"  nero identify --answers answers.yaml --model model.onnx --data photos -o study",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if blank {
				_, err := a.Out.Write(app.BlankAnswers())
				return err
			}
			if !slices.Contains(app.IdentifyFormats(), format) {
				return fmt.Errorf("--format is %q, want one of %s", format, strings.Join(app.IdentifyFormats(), ", "))
			}
			got := map[string]string{}
			var err error
			if answers != "" {
				got, err = app.ReadAnswers(answers)
			} else {
				err = a.ask(cmd.InOrStdin(), got)
			}
			if err != nil {
				return err
			}
			o.Formats = []string{"markdown"}
			if format != "text" && format != "markdown" {
				o.Formats = append(o.Formats, format)
			}
			r, err := a.app.Identify(got, o)
			if err != nil {
				return err
			}
			return app.WriteIdentified(a.Out, r, format)
		},
	}
	f := c.Flags()
	f.StringVar(&answers, "answers", "", "read the answers from this `file` instead of asking")
	f.BoolVar(&blank, "blank", false, "print a file of answers to fill in")
	f.StringVarP(&o.Out, "out", "o", "", "`folder` for the studies, the answers and symmetry.md")
	f.StringVar(&o.Model, "model", "", "`file` of the model, for the studies")
	f.StringVar(&o.Data, "data", "", "`file` or folder of the data, for the studies")
	f.Uint64Var(&o.Seed, "seed", 7, "seed of the studies")
	f.StringVarP(&format, "format", "f", "text", strings.Join(app.IdentifyFormats(), ", "))
	return c
}

// ask puts the questions one after the other; an empty line is "do not know".
func (a *App) ask(in io.Reader, got map[string]string) error {
	lines := bufio.NewScanner(in)
	n := 0
	for _, q := range app.Questions() {
		if !q.Arises(got) {
			continue
		}
		n++
		var text strings.Builder
		if n == 1 {
			text.WriteString("Answer by number, by name or by its first letters; put ? behind a guess; an empty line " +
				"is \"do not know\".\n")
		}
		fmt.Fprintf(&text, "\n%d. %s\n", n, q.Ask)
		for i, c := range q.Choices {
			fmt.Fprintf(&text, "   %2d %-9s %s\n", i+1, c.Name, c.Doc)
		}
		if q.Form != "" {
			fmt.Fprintf(&text, "   %s\n", q.Form)
		}
		say := text.String()
		for {
			if _, err := fmt.Fprint(a.Err, say+"> "); err != nil {
				return err
			}
			if !lines.Scan() {
				if err := lines.Err(); err != nil {
					return fmt.Errorf("answers: %w", err)
				}
				return errors.New("the answers ended at the question \"" + q.Ask +
					"\": answer in a terminal, or write " +
					"them into a file (nero identify --blank prints one) and name it with --answers")
			}
			v, err := q.Take(lines.Text())
			if err == nil {
				got[q.ID] = v
				break
			}
			say = words.Text(err.Error()) + "\n"
		}
	}
	_, err := fmt.Fprintln(a.Err)
	return err
}
