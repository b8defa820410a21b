package cli

import (
	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) compare() *cobra.Command {
	var o app.CompareOptions
	var format string
	c := &cobra.Command{
		Use:   "compare BEFORE.json AFTER.json",
		Short: "Compare two audits of one study: did a fix help, is a model worse?",
		Long: `compare holds two audits of the same study against each other: the same elements, inputs, seeds and limits, each input with itself.
It says of each set of elements how large the errors were and are, by what factor they changed, with an interval, which inputs fail now that
did not, and what became of each finding: fixed, improved, unchanged, worse or new. It takes what 'nero audit --format json' wrote, or the
folders that 'nero audit -o' wrote it to.

Two folders of 'nero run' are compared by their metrics: the mean of each sample over the orbit, before and after. Two models (.onnx) are
compared by their weights and answers, as 'nero weights' does with its presets.

Exit code: 0 not worse; 1 worse by more than is allowed, see --allow-regression; 2 the audits cannot be compared.`,
		Example: "  nero audit study.yaml --format json -o before\n  nero audit study.yaml --model resnet=fixed.onnx " +
			"--format json -o after\n  nero compare before after\n  nero compare epoch9.onnx epoch10.onnx",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := app.CheckComparisonFormat(format); err != nil {
				return err
			}
			if app.Models(args...) {
				r, err := a.app.Weights(cmd.Context(), args, app.WeightsOptions{Workers: workers(), Seed: weightsSeed})
				if err != nil {
					return err
				}
				return a.weighed(r, format)
			}
			r, err := a.app.Compare(args[0], args[1], o)
			if err != nil {
				return err
			}
			if err := r.Write(a.Out, format); err != nil {
				return err
			}
			if r.Worse() {
				return errFindings
			}
			return nil
		},
	}
	c.Flags().StringVarP(&format, "format", "f", "text", "text, markdown, json")
	c.Flags().StringVar(&o.Before, "before", "", "`name` of the model in the first audit")
	c.Flags().StringVar(&o.After, "after", "", "`name` of the model in the second audit (default: the same)")
	addAllow(c, &o.Allow)
	return c
}
