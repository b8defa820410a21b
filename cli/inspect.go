package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) inspect() *cobra.Command {
	var asJSON bool
	var shape []int
	limit := 10 * time.Second
	c := &cobra.Command{
		Use:   "inspect MODEL.onnx [DATA] | exec:PROGRAM",
		Short: "Signature, operators, size, cost, and what the graph says about symmetry",
		Long: `inspect reads a model without running it: inputs and outputs, operators, parameters, multiply-adds, memory per sample,
and where striding, padding and dense layers break the symmetry of the pixel lattice. What it says of symmetry is what the
structure permits; weights may still break it.

With data, such as a folder of photos, it also says how they come to the model, and the study that would do so.

A program that is a model (exec:./model, docs/PROGRAMS.md) is run and held against the protocol, step by step; the first
thing that is wrong is named, with what is expected.`,
		Example: "  nero inspect model.onnx\n  nero inspect model.onnx photos\n" +
			"  nero inspect model.onnx --shape 1,3,224,224 --json\n  nero inspect 'exec:./model --flag'",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.HasPrefix(args[0], "exec:") {
				if len(args) > 1 {
					return fmt.Errorf("a program is inspected without data, and %s was named: leave it out", args[1])
				}
				return a.inspectProgram(cmd.Context(), args[0], shape, asJSON, limit)
			}
			r, err := a.app.Inspect(cmd.Context(), args[0], shape)
			if err != nil {
				return err
			}
			if len(args) > 1 {
				if r.Data, err = a.app.Propose(cmd.Context(), args[0], args[1]); err != nil {
					return err
				}
			}
			if asJSON {
				return app.WriteJSON(a.Out, r)
			}
			return r.WriteText(a.Out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().IntSliceVar(&shape, "shape", nil, "shape of the input, for axes that the file leaves free")
	c.Flags().DurationVar(&limit, "time-limit", limit, "of a program: most `time` for one answer")
	return c
}

// inspectProgram says what was found, and then what is wrong.
func (a *App) inspectProgram(ctx context.Context, text string, shape []int, asJSON bool, limit time.Duration) error {
	if limit <= 0 {
		return fmt.Errorf("--time-limit is %v, want more than 0", limit)
	}
	r, err := a.app.InspectProgram(ctx, text, shape, limit)
	if err != nil {
		return err
	}
	if asJSON {
		err = app.WriteJSON(a.Out, r)
	} else {
		err = r.WriteText(a.Out)
	}
	if err != nil {
		return err
	}
	return r.Fault
}
