package cli

import (
	"nero/app"

	"github.com/spf13/cobra"
)

// weightsSeed is that of noise and moves where nobody says.
const weightsSeed = 7

func (a *App) weights() *cobra.Command {
	var o app.WeightsOptions
	var format string
	c := &cobra.Command{
		Use:   "weights MODEL.onnx [OTHER.onnx]",
		Short: "Which weights may be moved without a change? Are two checkpoints the same model?",
		Long: "weights finds in the graph of a model which stored numbers may be moved while the model computes what " +
			"it\n" +
			"did: units that may change places, scales that pass from one layer to the next, layers whose size does " +
			"not\n" +
			"matter because a normaliser follows. Each is applied with a random element, and the answers are " +
			"compared.\n" +
			"With --canonical the model is written in a form in which no such choice is left.\n\n" +
			"Of two models it says whether they are the same file, the same up to such moves, the same function " +
			"with\n" +
			"other weights, or different; or not told apart, where numbers that differ are reached by no\n" +
			"probe. Units are paired by what they answer, then by their weights. See docs/WEIGHTS.md.\n\n" +
			"Exit code: 0 all that the graph promises holds, or the two compute the same; 1 not so; 2 it could not " +
			"run.",
		Example: "  nero weights studies/digits/models/digits-original.onnx\n" +
			"  nero weights model.onnx --canonical -o canonical.onnx\n" +
			"  nero weights epoch9.onnx epoch10.onnx --study study.yaml -f markdown",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.app.CheckWeightsFormat(format); err != nil {
				return err
			}
			r, err := a.app.Weights(cmd.Context(), args, o)
			if err != nil {
				return err
			}
			return a.weighed(r, format)
		},
	}
	addEngine(c, &o.Engine)
	f := c.Flags()
	f.StringVar(&o.Study, "study", "", "`file` whose samples are the probes (default: seeded noise)")
	f.IntSliceVar(&o.Shape, "shape", nil, "`shape` of the first input, for axes that the file leaves free")
	f.IntVar(&o.Probes, "probes", 0, "inputs that answers are compared at (default: 32, fewer for large models)")
	f.Uint64Var(&o.Seed, "seed", weightsSeed, "seed of the noise and of what is drawn")
	f.BoolVar(&o.Canonical, "canonical", false, "write the model in canonical form")
	f.StringVarP(&format, "format", "f", app.WeightsFormats()[0], "text, json, markdown, html")
	f.StringVarP(&o.Out, "out", "o", "",
		"`file` for the report (.json, .txt, .md, .html), or with --canonical for the model")
	f.IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no number")
	ofData.holds(f, "study", "shape", "probes", "seed")
	ofResult.holds(f, "canonical", "format", "out")
	ofEngine.holds(f, "workers")
	inParts(c)
	return c
}

// weighed prints a report and ends with its exit code.
func (a *App) weighed(r *app.WeightsResult, format string) error {
	if err := r.Write(a.Out, format); err != nil {
		return err
	}
	if !r.Good() {
		return errFindings
	}
	return nil
}
