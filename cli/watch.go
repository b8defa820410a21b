package cli

import (
	"context"
	"fmt"
	"time"

	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) watch() *cobra.Command {
	var o app.WatchOptions
	var format string
	follow := false
	c := &cobra.Command{
		Use:   "watch FOLDER",
		Short: "Is it getting worse? Judge the audits and runs of all releases together",
		Long: "watch reads every audit.json and every run below a folder, joins those that ask the same to\n" +
			"series, and says of each whether it becomes worse. Where releases are asked the same inputs they are\n" +
			"compared with a reference, input by input; where the inputs are new each time, what fails adds up.\n" +
			"However many releases there are, and however often one looks, the probability of a false alarm stays\n" +
			"what --alarm says. Files that cannot be read are listed and left out. See docs/WATCH.md.\n\n" +
			"Where the folder holds checkpoints of a training, ONNX files, and --study names a study, each of them\n" +
			"is audited once: 64 samples, moved by the elements that act exactly, unless the study says otherwise.\n" +
			"Then watch says whether the symmetry is learned, kept or lost.\n\n" +
			"Releases are ordered by\n" + app.WatchHelp() + "\n" +
			"Exit code: 0 no alarm; 1 alarm, or the outputs of the last release do not vary, or errors of it are " +
			"not\n" +
			"finite; 2 it could not run, or there is nothing that could be read.",
		Example: "  nero watch audits\n" +
			"  nero watch audits --by version --reference best -o watched\n" +
			"  nero watch audits --metric largest --alarm 0.01 -f markdown\n" +
			"  nero watch audits --follow                       # until an alarm\n" +
			"  nero watch checkpoints --study light.yaml --follow",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.app.CheckWatchFormat(format); err != nil {
				return err
			}
			for _, x := range []struct {
				name  string
				value float64
			}{{"alarm", o.Alarm}, {"rate", o.Rate}, {"limit", o.Limit}} {
				if x.value == 0 && cmd.Flags().Changed(x.name) { // 0 stands for what nobody said
					return fmt.Errorf("--%s is 0, want a number above 0; without --%[1]s the preset holds", x.name)
				}
			}
			if !follow {
				r, err := a.app.WatchReleases(cmd.Context(), args[0], o)
				if err != nil {
					return err
				}
				return a.watched(r, format)
			}
			var last *app.WatchResult // a release that says nothing ends nothing: the next one may say something
			err := a.app.FollowReleases(cmd.Context(), args[0], o, pause, func(r *app.WatchResult) error {
				if last = r; r.Alarmed() {
					return a.watched(r, format)
				}
				return r.Write(a.Out, format)
			})
			if err == nil && last != nil && !last.Good() {
				return errFindings
			}
			return err
		},
	}
	a.addPrograms(c)
	addEngine(c, &o.Engine)
	f := c.Flags()
	f.StringVar(&o.By, "by", "", "order of the releases: time, version, epoch (default: time, of checkpoints epoch)")
	f.StringSliceVar(&o.Metrics, "metric", nil, "watch these `metrics` alone: largest, mean of audits, any of runs "+
		"(default: all)")
	f.StringVar(&o.Reference, "reference", "first", "`release` to compare with: first, best, or one by its label, "+
		"model or file")
	f.Float64Var(&o.Alarm, "alarm", 0, "`probability` of a false alarm, over all releases together (default: 0.05)")
	addAllow(c, &o.Allow)
	f.Float64Var(&o.Rate, "rate", 0, "`share` of new inputs that may fail (default: 0.05)")
	f.Float64Var(&o.Limit, "limit", 0, "`error` that a new input may have and not fail (default: the "+
		"threshold of its audit)")
	f.BoolVar(&o.Fresh, "new-inputs", false, "inputs of other data are new, even with the names of earlier ones")
	f.StringVar(&o.Study, "study", "", "`file` whose key watch says limit, rate, alarm and by, where no flag does, "+
		"and by which checkpoints are audited")
	f.StringVar(&o.After, "after", "", "an earlier `watch.json` that new inputs go on from, whether or not its "+
		"files are there")
	f.BoolVar(&follow, "follow", false, "read again whenever a file changes, until an alarm or Ctrl-C")
	f.StringVarP(&format, "format", "f", app.WatchFormats()[0], "text, json, markdown, html, badge")
	f.StringVarP(&o.Out, "out", "o", "", "`folder` for the report in every form: watch.json, watch.txt, "+
		"watch.md, watch.html, watch.badge.json")
	f.IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no number")
	ofResult.holds(f, "format", "out", "follow")
	ofAudit.holds(f, "by", "metric", "reference", "alarm", "allow-regression", "rate", "limit", "new-inputs", "study",
		"after")
	ofEngine.holds(f, "workers")
	inParts(c)
	return c
}

// watched prints a report and ends with its exit code.
func (a *App) watched(r *app.WatchResult, format string) error {
	if err := r.Write(a.Out, format); err != nil {
		return err
	}
	if !r.Good() {
		return errFindings
	}
	return nil
}

// pause waits until it is time to look again.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(looking):
		return nil
	}
}
