package app

import (
	"context"
	"fmt"
	"io"
	"strings"

	"nero/audit"
	"nero/symmetry/define"
)

// program starts the programs of groups in the folder of their study, if the user has said that it may: a study is a
// file that somebody may have sent.
func (a *App) program(dir string) define.Starter {
	start := define.Command(dir)
	return func(ctx context.Context, command []string) (io.ReadWriteCloser, error) {
		line := CommandLine(command)
		if !a.Programs {
			return nil, fmt.Errorf(
				"the group is defined by a program, %s, which is run only with --allow-program: look at it first", line)
		}
		a.notef("runs %s", line)
		return start(ctx, command)
	}
}

// CommandLine joins words as a POSIX shell reads them.
func CommandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = audit.ShellQuote(w)
	}
	return strings.Join(quoted, " ")
}
