package cli

import (
	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) inspect() *cobra.Command {
	var asJSON bool
	var shape []int
	c := &cobra.Command{
		Use:   "inspect MODEL.onnx",
		Short: "Signature, operators, size, cost, and what the graph says about symmetry",
		Long: `inspect reads a model without running it: inputs and outputs, operators, parameters, multiply-adds, memory per sample,
and where striding, padding and dense layers break the symmetry of the pixel lattice. What it says of symmetry is what the
structure permits; weights may still break it.`,
		Example: "  nero inspect model.onnx\n  nero inspect model.onnx --shape 1,3,224,224 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.app.Inspect(cmd.Context(), args[0], shape)
			if err != nil {
				return err
			}
			if asJSON {
				return app.WriteJSON(a.Out, r)
			}
			return r.WriteText(a.Out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().IntSliceVar(&shape, "shape", nil, "shape of the input, for axes that the file leaves free")
	return c
}
