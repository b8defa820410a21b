package cli

import (
	"strings"

	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) export() *cobra.Command {
	var o app.ExportOptions
	index := 0
	c := &cobra.Command{
		Use:   "export DIR...",
		Short: "Write a table of a run as CSV, JSON Lines, Markdown or LaTeX",
		Long: `export writes a table of a run, the same bytes that the server of nero serve gives at
runs/{id}/export; the menus of its page keep what they show, as it is shown. It runs no model.

  aggregate  the curves of each model over a set of samples, one row per element, then the mean over the orbit
  samples    every sample's mean, spread, extremes and value at the identity, one row per model
  orbit      one sample at every element: all metrics and the predicted class
  compare    the paired difference of two models, one row per element
  confusion  what moved samples are taken for, class by class, with intervals clustered by sample
  models     every model by every metric: at rest, over the orbit, worst, and paired differences to one of them
  search     slices of one or two conditions (class, tag, brightness, contrast, size, place) on which a model is worse
             than on the others; it reads the inputs
  remarks    notes and tags that people gave to samples
  findings   what the audits of these models found
  curves     for programs: every value of a metric as an npy array of samples, models and elements

A DIR is the folder of a run or of an audit. Two runs are laid side by side over the samples that both have.`,
		Example: "  nero export nero-run > aggregate.csv\n" +
			"  nero export nero-run --table samples --metric confidence --rule 'min < 0.5' --format jsonl\n" +
			"  nero export run-of-may run-of-june --table compare --format tex -o compare.tex\n" +
			"  nero export nero-run --table confusion --against self -o turns.csv\n" +
			"  nero export nero-run nero-audit --table findings --format md",
		Args: someFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("index") {
				o.Index = &index
			}
			o.To = a.Out
			return a.app.Export(cmd.Context(), args, o)
		},
	}
	fl := c.Flags()
	fl.StringVarP(&o.Table, "table", "t", "aggregate", strings.Join(app.Tables(), ", "))
	fl.StringVarP(&o.Format, "format", "f", "",
		"csv, jsonl, md or tex, npy of curves; default that of the file's name, else csv")
	fl.StringVarP(&o.Metric, "metric", "m", "", "`metric`; default the first of the run")
	fl.StringVar(&o.Slice, "slice", "", "`name` of a kept slice or of a class, instead of all samples")
	fl.StringVar(&o.Rule, "rule", "",
		"`rule` that chooses samples, such as 'label = 6 and mean < 0.4'; see docs/SLICES.md")
	fl.StringVar(&o.Sample, "sample", "", "`name` of the sample of orbit")
	fl.IntVar(&index, "index", 0, "position of the sample of orbit in the run, from 0, instead of its name")
	fl.StringSliceVar(&o.Between, "between", nil,
		"two `models` of compare, the second less the first; default the first two")
	fl.StringVar(&o.Against, "against", "",
		"what confusion sorts samples by: truth, or self, the model's own answer at rest; default truth")
	fl.StringVar(&o.Worse, "worse", "",
		"what search looks at: mean, the mean over the orbit, or change, what moving changes; default mean")
	fl.StringVar(&o.Base, "base", "", "`model` that models compares the others with; default the first")
	fl.StringVarP(&o.Out, "out", "o", "", "`file` to write; default the terminal")
	c.MarkFlagsMutuallyExclusive("slice", "rule")
	c.MarkFlagsMutuallyExclusive("sample", "index")
	return c
}
