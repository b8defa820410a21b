package cli

import (
	"fmt"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
)

func (a *App) bench() *cobra.Command {
	var sf studyFlags
	var rf runFlags
	samples, rounds := 40, 7
	c := &cobra.Command{
		Use:   "bench [STUDY.yaml | MODEL.onnx]",
		Short: "Measure what a run costs beyond the engine alone",
		Long: `bench runs the first samples of a study through the engine alone, fed with ready-made batches, and through the whole
run (reading, moving, measuring, keeping), in turn and in one process, with one worker and with all, and prints the medians of
the paired ratios. Without a study it takes the built-in digits.`,
		Example: "  nero bench --samples 40 --rounds 7\n  nero bench studies/digits/full.yaml --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if samples < 1 || rounds < 1 || rf.Workers < 1 {
				return fmt.Errorf("--samples %d, --rounds %d, --workers %d: each must be at least 1", samples, rounds,
					rf.Workers)
			}
			var s *job.Study
			if len(args) > 0 || sf.set.Changed("model") {
				if s, err = sf.study(&a.app, args); err != nil {
					return err
				}
			}
			b, err := a.app.Bench(cmd.Context(), s, app.BenchOptions{
				Engine: rf.Engine, Workers: rf.Workers, Samples: samples, Rounds: rounds, CPU: app.ProcessorTime,
			})
			if err != nil {
				return err
			}
			if rf.json {
				return app.WriteJSON(a.Out, b)
			}
			return b.WriteText(a.Out)
		},
	}
	sf.add(c)
	a.addPrograms(c)
	rf.add(c, "")
	_ = c.Flags().MarkHidden("out")
	_ = c.Flags().MarkHidden("keep-going")
	c.Flags().IntVar(&samples, "samples", samples, "samples of one pass")
	c.Flags().IntVar(&rounds, "rounds", rounds, "passes of each kind, in turn")
	ofEngine.holds(c.Flags(), "samples", "rounds")
	inParts(c)
	return c
}
