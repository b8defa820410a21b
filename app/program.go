package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"nero/audit"
	"nero/run/job"
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
				"the group is defined by a program, %s, which is run only with %s: look at it first", line,
				a.option("allow-program"))
		}
		a.notef("runs %s", line)
		return start(ctx, command)
	}
}

// modelProgram lets a program that is a model run if the user has said that it may, or has named it.
func (a *App) modelProgram(m job.Model) error {
	line := CommandLine(m.Program)
	if !a.Programs && !slices.Contains(a.Named, m.Text()) {
		return fmt.Errorf("the model is a program, %s, which is run only with %s, or if %s names it: look at it "+
			"first", line, a.option("allow-program"), a.option("model"))
	}
	a.notef("runs %s", line)
	return nil
}

// metricProgram lets a program that computes a metric run if the user has said that it may.
func (a *App) metricProgram(m job.Measure) error {
	line := CommandLine(m.Program)
	if !a.Programs {
		return fmt.Errorf("it is a program, %s, which is run only with %s: look at it first", line,
			a.option("allow-program"))
	}
	a.notef("runs %s", line)
	return nil
}

// CommandLine joins words as a POSIX shell reads them.
func CommandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = audit.ShellQuote(w)
	}
	return strings.Join(quoted, " ")
}
