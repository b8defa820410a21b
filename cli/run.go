package cli

import (
	"fmt"

	"nero/app"

	"github.com/spf13/cobra"
)

// runFlags are the flags that say how to run, not what.
type runFlags struct {
	app.RunOptions
	json bool
}

func (f *runFlags) add(c *cobra.Command, out string) {
	addEngine(c, &f.Engine)
	addLimits(c, &f.Engine, false, "60s for endpoints and any for files")
	c.Flags().StringVarP(&f.Dir, "out", "o", out, "run `folder`; an unfinished run of the same job in it is resumed")
	c.Flags().IntVarP(&f.Workers, "workers", "w", workers(), "workers; their number changes no byte of the result")
	c.Flags().BoolVar(&f.KeepGoing, "keep-going", false,
		"a sample that cannot be read becomes a row with an error instead of the end of the run")
	c.Flags().BoolVar(&f.json, "json", false, "print the summary as JSON")
	ofEngine.holds(c.Flags(), "workers", "keep-going")
	ofResult.holds(c.Flags(), "out", "json")
}

func (a *App) run() *cobra.Command {
	var sf studyFlags
	var rf runFlags
	c := &cobra.Command{
		Use:   "run [STUDY.yaml | MODEL.onnx] -o DIR",
		Short: "Evaluate the orbit of every sample",
		Long: `run moves every sample along the orbit, runs the models, measures, and keeps the curve of every sample in a run
folder (Parquet; see docs/FORMAT.md). It can be stopped at any time, even killed, and resumed by the same command.

With --budget 60s it ends in good order after about a minute, with the curves of all samples at one in eight of the
elements if there was time for that, and says of how many samples and elements they are; what would not end in time is
not begun. Later the same command goes on, and ends with the same bytes as one that had all the time. --coarse
evaluates these elements first too, for an early look by nero serve, and then goes on to the end. That look comes on
top of the run, an eighth of its time.

With --answers 2GB a model is not asked for what it has answered in another run on this machine: another model, another
metric or more samples are added to a study at the price of what is new. What is stored are the answers to whole
micro-batches, byte for byte, so the run has the same bytes as without. Models that draw, and those on execution
providers, are always asked.`,
		Example: "  nero run studies/digits/full.yaml -o run\n" +
			"  nero run --model mine=estimator.onnx --model builtin:piv --data-format pairs --data frames " +
			"--output field " +
			"--group 'D4 x Time'\n" +
			"  nero run --model original=a.onnx --model augmented=b.onnx --data photos --group 'SO(2)' --orbit 72 -o " +
			"run\n" +
			"  nero run studies/digits/full.yaml -o run --budget 60s\n" +
			"  nero run studies/digits/full.yaml -o run --answers 2GB",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("budget") && rf.Budget <= 0 {
				return fmt.Errorf("--budget is %s, want a time such as 60s or 10m; leave it out for any time",
					rf.Budget)
			}
			s, err := sf.study(&a.app, args)
			if err != nil {
				return err
			}
			r, err := a.app.Run(cmd.Context(), s, rf.RunOptions)
			if err != nil {
				return err
			}
			if rf.json {
				_, err := a.Out.Write(r.JSON)
				return err
			}
			if err := r.WriteText(a.Out); err != nil {
				return err
			}
			if r.Part != nil {
				return nil // says where it is kept, and how it goes on
			}
			fmt.Fprintf(a.Out, "kept in %s; look at it with: nero serve %s\n", r.Dir, r.Dir)
			return nil
		},
	}
	sf.add(c)
	a.addPrograms(c)
	rf.add(c, "nero-run")
	c.Flags().DurationVar(&rf.Budget, "budget", 0,
		"end after about this `time`, such as 60s, with what is there by then, coarse curves of all samples first")
	c.Flags().BoolVar(&rf.Coarse, "coarse", false, "evaluate one in eight of the elements of all samples first")
	c.Flags().Var((*size)(&rf.Answers), "answers",
		"keep what models answer, up to this `size` such as 2GB, in the cache folder, and do not ask again for what "+
			"is there")
	ofEngine.holds(c.Flags(), "budget", "coarse", "answers")
	inParts(c)
	return c
}
