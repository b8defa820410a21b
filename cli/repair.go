package cli

import (
	"fmt"
	"strings"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
)

func (a *App) repair() *cobra.Command {
	var sf studyFlags
	var kf keyFlags
	var o app.RepairOptions
	var methods []string
	c := &cobra.Command{
		Use:   "repair [STUDY.yaml | MODEL.onnx]",
		Short: "Write a model that has the symmetry, and say what it costs",
		Long: "repair writes ONNX files of standard operators that read and answer what the model does, and have " +
			"the symmetry that the\n" +
			"study claims. Each is audited as the model is, and comes with its bill: how long it takes beside the " +
			"model, its error, how many\n" +
			"samples it classifies rightly as they are and over the orbit, and where its answer jumps. Models that " +
			"pass are left alone. A\n" +
			"method that does not fit a model or its group is refused with the reason, and the others are tried. " +
			"Samples are divided by\n" +
			"their names: half to learn from, a quarter to choose the method by, a quarter for every number that is " +
			"shown.\n\n" +
			app.RepairMethods() + "\n" +
			"Exit code: 0 each model passes as it is or in a file that was written; 1 for one of them nothing " +
			"passes; 2 it could not run.",
		Example: "  nero repair clouds.onnx --data shapes --group 'SO(3)' --invariant --method frame -o " +
			"repaired.onnx\n" +
			"  nero repair model.onnx --data photos --group C4 --invariant --method select -o repaired.onnx\n" +
			"  nero repair studies/digits/demo.yaml --group C4 --method select --method average -o repaired",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sf.claim = func(s *job.Study) error { return a.app.Claim(s, a.command()) }
			if cmd.Flags().Changed("budget") && o.Most < 1 {
				return fmt.Errorf("--budget is %d, want a number of elements, such as 8; leave it out for 8", o.Most)
			}
			s, err := sf.study(&a.app, args)
			if err != nil {
				return err
			}
			if err := kf.lay(s); err != nil {
				return err
			}
			o.Methods, o.CPU = methods, app.ProcessorTime
			r, err := a.app.Repair(cmd.Context(), s, o)
			if err != nil {
				return err
			}
			form := app.RepairForms()[0]
			if len(o.Forms) > 0 {
				form = o.Forms[0]
			}
			err = app.WriteRepair(a.Out, r, form)
			if err == nil && !r.Good() {
				return errFindings
			}
			return err
		},
	}
	sf.add(c)
	a.addPrograms(c)
	addEngine(c, &o.Engine)
	f := c.Flags()
	f.StringArrayVar(&methods, "method", nil, "`METHOD[:option=value,…]`; repeat for several; default all that fit")
	f.StringVarP(&o.Out, "out", "o", "", "`file` that ends in .onnx for one model and one method, else a folder")
	f.IntVar(&o.Most, "budget", 8, "elements at which a repaired model may be run")
	f.Float64Var(&o.Loss, "allow-accuracy", 0.01, "share of the samples that may be lost")
	f.BoolVar(&o.Single, "single", false, "repeat the model for every element instead of feeding it with all of "+
		"them at once")
	f.StringArrayVar(&o.Only, "only", nil, "repair this `model` of the study alone, by its name; repeat for several")
	f.IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no number but times")
	f.StringSliceVarP(&o.Forms, "format", "f", nil, "of the bills: "+strings.Join(app.RepairForms(),
		", ")+"; the first "+
		"is printed, all are written into a folder (default: text; a folder always has json)")
	kf.add(c, auditKeys())
	ofResult.holds(f, "out", "format")
	ofEngine.holds(f, "workers")
	inParts(c)
	return c
}
