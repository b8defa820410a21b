package cli

import (
	"fmt"

	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) engine() *cobra.Command {
	var e app.Engine
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
			r, err := a.app.ChooseEngine(cmd.Context(), e)
			if err != nil {
				return err
			}
			if asJSON {
				return app.WriteJSON(a.Out, r)
			}
			return r.WriteText(a.Out)
		},
	}
	addEngine(c, &e)
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
			path, err := a.app.InstallEngine(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "installed %s; 'nero engine' says what runs\n", path)
			return nil
		},
	})
	return c
}
