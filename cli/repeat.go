package cli

import (
	"fmt"
	"math"
	"slices"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// repeatKeys are the keys of a study that nero repeat has flags for beside those of a run.
func repeatKeys() []studyKey {
	shared := slices.DeleteFunc(auditKeys(), func(k studyKey) bool { return k.name != "contract" })
	return append(shared, []studyKey{
		{
			ofAudit, "times", "", "how often each input is asked (default: 5)",
			by((*pflag.FlagSet).IntVarP, func(s *job.Study, v int) error {
				if v < 1 || v > job.MostTimes { // 0 is what a study says that says nothing
					return fmt.Errorf("--times is %d, want 1 to %d", v, job.MostTimes)
				}
				s.Repeat.Times = v
				return nil
			}),
		},
		{
			ofAudit, "normalise", "", "`rule` that makes texts equal which mean the same; repeat for several",
			by((*pflag.FlagSet).StringArrayVarP, func(s *job.Study, v []string) error {
				s.Repeat.Normalise = v
				return nil
			}),
		},
		{
			ofAudit, "reference", "", "`view` that the others are compared with (default: the first, of a group the " +
				"identity)",
			text(func(s *job.Study) *string { return &s.Repeat.Reference }),
		},
		{
			ofAudit, "excess", "", "how much more than by chance answers to a view may differ (default: 0.05)",
			by((*pflag.FlagSet).Float64VarP, func(s *job.Study, v float64) error {
				if !(v > 0) || math.IsInf(v, 0) { // 0 is what a study says that says nothing
					return fmt.Errorf("--excess is %g, want a number above 0", v)
				}
				s.Repeat.Excess = v
				return nil
			}),
		},
		{
			ofModel, "seeds", "", "`numbers` that an endpoint is handed as the parameter seed, one for each time",
			counts(func(s *job.Study) *[]int { return &s.Repeat.Seeds }),
		},
		{
			ofModel, "bust", "", "`parameter` that an endpoint is handed with another value in every request",
			text(func(s *job.Study) *string { return &s.Repeat.Bust }),
		},
	}...)
}

func (a *App) repeat() *cobra.Command {
	var sf studyFlags
	var o app.RepeatOptions
	var format string
	c := &cobra.Command{
		Use:   "repeat [STUDY.yaml | MODEL]",
		Short: "Ask twice: is the answer the same? Ask in other words: is it still?",
		Long: "repeat asks a model the same several times, in a random order, and says how far its answers agree,\n" +
			"whether it is consistently right or consistently wrong, and which numbers have digits in common.\n" +
			"With --views it asks about given views of the same objects, such as phrasings of one question or\n" +
			"photos of one thing, which need no group; else the elements of the study's group are the views.\n" +
			"A view passes only if its answers are shown to be distributed as those to the reference, within\n" +
			"--excess. What rate limits, time-outs and refusals leave unanswered is counted and in no mean.\n" +
			"See docs/REPEATS.md.\n\n" +
			"Rules of --normalise for answers that are texts:\n" + app.RepeatHelp() + "\n" +
			"Verdicts: PASS, FAIL, NEEDS_ATTENTION, and DESCRIBED where nothing is claimed: with one view and no\n" +
			"contract answers are described and not judged.\n\n" +
			"Exit code: 0 all that is claimed is shown, or nothing is claimed; 1 not so; 2 it could not run.",
		Example: "  nero repeat http://127.0.0.1:8080/assistant --views views.csv --normalise trim --normalise case\n" +
			"  nero repeat study.yaml --times 10 -o repeated\n" +
			"  nero repeat study.yaml --after repeated/repeat.json -f markdown\n" +
			"  nero repeat model.onnx --data photos --group C4 --times 2\n" +
			"  nero repeat studies/digits/demo.yaml --group C4 --times 2 --limit 50",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.app.CheckRepeatFormat(format); err != nil {
				return err
			}
			s, err := sf.study(&a.app, args)
			if err != nil {
				return err
			}
			r, err := a.app.Repeat(cmd.Context(), s, o)
			if err != nil {
				return err
			}
			if err := r.Write(a.Out, format); err != nil {
				return err
			}
			if !r.Good() {
				return errFindings
			}
			return nil
		},
	}
	sf.keyFlags.add(c, append(studyKeys(), repeatKeys()...))
	a.addPrograms(c)
	addEngine(c, &o.Engine)
	addLimits(c, &o.Engine, false, "60 s for an endpoint or a program, and any time for a file")
	f := c.Flags()
	f.StringArrayVar(&o.Only, "only", nil, "ask this `model` of the study alone, by its name; repeat for several")
	f.StringVar(&o.After, "after", "", "an earlier `repeat.json` whose contract goes on with new objects")
	f.StringVarP(&format, "format", "f", app.RepeatFormats()[0], "text, json, markdown, html")
	f.StringVarP(&o.Out, "out", "o", "", "`folder` for the report in every form: repeat.txt, repeat.json, repeat.md, "+
		"repeat.html")
	f.IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no number")
	ofAudit.holds(f, "only", "after")
	ofResult.holds(f, "format", "out")
	ofEngine.holds(f, "workers")
	inParts(c)
	return c
}
