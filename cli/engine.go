package cli

import (
	"context"
	"fmt"

	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/onnx"
	"nero/run/workload"

	"github.com/spf13/cobra"
)

// engineFlags choose the body that runs the models.
type engineFlags struct{ kind, library string }

func (f *engineFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.kind, "engine", choose.Auto, "what runs the models: auto, native, wasm")
	c.Flags().StringVar(&f.library, "ort-lib", "", "ONNX Runtime's shared `library`, instead of looking for one")
}

// openEngine chooses and opens the engine and says what the user should know about it.
func (a *App) openEngine(ctx context.Context, f engineFlags) (choose.Choice, error) {
	c, err := choose.Open(ctx, choose.Request{Kind: f.kind, Library: f.library}, choose.Host())
	if err != nil {
		return c, err
	}
	for _, n := range c.Notes {
		a.say("note: %s", n)
	}
	a.say("engine: %s", describe(c.Info()))
	if h := c.Hint(); h != "" {
		a.say("        %s", h)
	}
	return c, nil
}

// opener opens the engine when it is needed.
func (a *App) opener(f engineFlags) func(context.Context) (engine.Engine, error) {
	return func(ctx context.Context) (engine.Engine, error) {
		c, err := a.openEngine(ctx, f)
		return c.Engine, err
	}
}

// describe is an engine on one line.
func describe(i engine.Info) string {
	s := fmt.Sprintf("%s, ONNX Runtime %s", i.Name, i.Version)
	if i.Path != "" {
		s += ", " + i.Path
	}
	return s + " (" + i.Reason + ")"
}

func (a *App) engine() *cobra.Command {
	var f engineFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "engine",
		Short: "Say which engine runs the models, and why",
		Long: `engine chooses the engine as every other command does, tests it, and says which one it is. Without further installation
models run in a WebAssembly build of ONNX Runtime that is part of the program. A shared library of ONNX Runtime is 4 to 10 times
faster; it is looked for at --ort-lib, in the variable NERO_ORT_LIB, beside the program, in the user's cache folder and in the
system's library folders.`,
		Example: "  nero engine\n  nero engine install onnxruntime-linux-x64-1.27.0.tgz",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := choose.Open(cmd.Context(), choose.Request{Kind: f.kind, Library: f.library}, choose.Host())
			if err != nil {
				return err
			}
			limits, err := workload.Limits(e)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.Out, struct {
					engine.Info
					Limits onnx.Limits `json:"limits"`
					Notes  []string    `json:"notes,omitempty"`
				}{e.Info(), limits, e.Notes})
			}
			i := e.Info()
			fmt.Fprintf(a.Out, "engine:  %s, ONNX Runtime %s\n", i.Name, i.Version)
			if i.Path != "" {
				fmt.Fprintf(a.Out, "library: %s\n", i.Path)
			}
			fmt.Fprintf(a.Out, "reason:  %s\ntakes:   operator sets %d to %d, file formats up to IR %d\nself-test: "+
				"passed\n", i.Reason, limits.MinOpset, limits.MaxOpset, limits.MaxIR)
			for _, n := range e.Notes {
				fmt.Fprintf(a.Out, "note:    %s\n", n)
			}
			if h := e.Hint(); h != "" {
				fmt.Fprintf(a.Out, "hint:    %s\n", h)
			}
			return nil
		},
	}
	f.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(&cobra.Command{
		Use:   "install FILE",
		Short: "Put a library of ONNX Runtime that you have into your cache folder",
		Long: `install takes ONNX Runtime's shared library, or an archive that holds it: a release archive (.tgz, .zip), a Python wheel
(.whl), a NuGet package (.nupkg) or the npm package onnxruntime-node (.tgz). It takes the library for this machine out, loads it,
tests it, and copies it into the user's cache folder, where every command finds it. Nothing is downloaded.`,
		Example: "  pip download onnxruntime --no-deps && nero engine install onnxruntime-*.whl\n" +
			"  npm pack onnxruntime-node@1.27.0 && nero engine install onnxruntime-node-1.27.0.tgz",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := choose.Install(cmd.Context(), args[0], choose.Host())
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "installed %s; 'nero engine' says what runs\n", path)
			return nil
		},
	})
	return c
}
