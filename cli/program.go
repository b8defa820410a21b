package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"nero/audit"
	"nero/symmetry/group"

	"github.com/spf13/cobra"
)

// allow adds the flag that lets programs of groups run.
func (a *App) allow(c *cobra.Command) {
	c.Flags().BoolVar(&a.programs, "allow-program", false, "run the program that the group of the study is defined by")
}

// program starts the programs of groups in the folder of their study, if the user has said that it may: a study is a
// file that somebody may have sent.
func (a *App) program(dir string) group.Starter {
	start := group.Command(dir)
	return func(ctx context.Context, command []string) (io.ReadWriteCloser, error) {
		words := make([]string, len(command))
		for i, w := range command {
			words[i] = audit.ShellQuote(w)
		}
		line := strings.Join(words, " ")
		if !a.programs {
			return nil, fmt.Errorf(
				"the group is defined by a program, %s, which is run only with --allow-program: look at it first", line)
		}
		a.say("note: runs %s", line)
		return start(ctx, command)
	}
}
