package cli

import (
	"fmt"
	"maps"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"

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
			m, err := onnx.Read(args[0])
			if err != nil {
				return err
			}
			if len(shape) == 0 {
				shape = nil
			}
			r, err := facts.Inspect(m, facts.Options{Shape: shape})
			if err != nil {
				return err
			}
			var p *lint.Prediction
			if r.Inputs != nil {
				f, err := facts.Infer(m, single(m.Signature(), r.Inputs), nil)
				if err != nil {
					return err
				}
				if p, err = lint.Predict(cmd.Context(), f, lint.Options{}); err != nil {
					return err
				}
			}
			if asJSON {
				return writeJSON(a.Out, struct {
					*facts.Report
					Prediction *lint.Prediction `json:"prediction,omitempty"`
				}{r, p})
			}
			if p != nil && p.Analyzed {
				r.Symmetry = nil // the prediction says more
			}
			if err := r.WriteText(a.Out); err != nil || p == nil || !p.Analyzed {
				return err
			}
			fmt.Fprint(a.Out, "\nsymmetry of the pixel grid, read from structure and weights\n\n")
			return p.WriteText(a.Out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().IntSliceVar(&shape, "shape", nil, "shape of the input, for axes that the file leaves free")
	return c
}

// single are the shapes of one sample where the first axis, which counts samples, is free.
func single(sig onnx.Signature, in map[string][]int) map[string][]int {
	out := maps.Clone(in)
	for name, s := range out {
		if p, ok := sig.Input(name); ok && len(s) > 0 && (len(p.Shape) == 0 || p.Shape[0].Free()) {
			out[name] = append([]int{1}, slices.Clone(s[1:])...)
		}
	}
	return out
}
