package cli

import (
	"strings"

	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) discover() *cobra.Command {
	var sf studyFlags
	var o app.DiscoverOptions
	c := &cobra.Command{
		Use:   "discover [STUDY.yaml | MODEL.onnx]",
		Short: "Ask which symmetries a model has, without a claim",
		Long: "discover asks a model which symmetries it has, where an audit asks whether it has the one that is\n" +
			"claimed. " +
			"Three quarters of the samples are asked; the others are kept. What is found are\n" +
			"hypotheses: with -o each is a study, which 'nero audit' holds against the samples that were\n" +
			"kept. A group and the action of the output need not be named.\n\n" +
			app.DiscoverHelp() + "\n" +
			"Exit code: 0 for each model something holds; 1 for one of them nothing does; 2 it could not run.",
		Example: "  nero discover model.onnx --data photos\n" +
			"  nero discover studies/digits/demo.yaml --what scan -o found --confirm\n" +
			"  nero discover studies/molecules/demo.yaml -f html > found.html",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := sf.study(&a.app, args)
			if err != nil {
				return err
			}
			r, err := a.app.Discover(cmd.Context(), s, o)
			if err != nil {
				return err
			}
			b, err := r.Write(o.Format)
			if err != nil {
				return err
			}
			if _, err := a.Out.Write(b); err != nil {
				return err
			}
			if !r.Good() {
				return errFindings
			}
			return nil
		},
	}
	sf.add(c)
	a.addPrograms(c)
	addEngine(c, &o.Engine)
	f := c.Flags()
	f.StringSliceVar(&o.What, "what", nil, "what to look for (default: all)")
	f.IntVar(&o.Samples, "samples", 0, "samples to ask at most, of those to fit and to choose (default: 256)")
	f.IntVar(&o.Most, "budget", 0, "predictions of each model at most (default: any number)")
	f.StringVarP(&o.Format, "format", "f", app.DiscoverFormats()[0],
		strings.Join(app.DiscoverFormats(), ", "))
	f.StringVarP(&o.Out, "out", "o", "", "`folder` for discovery.json and a study for each hypothesis")
	f.BoolVar(&o.Audit, "confirm", false, "audit each hypothesis on the samples that were kept")
	f.StringArrayVar(&o.Only, "only", nil, "ask this `model` of the study alone, by its name; repeat for several")
	f.IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no number")
	ofResult.holds(f, "format", "out")
	ofAudit.holds(f, "what", "budget", "samples", "confirm", "only")
	ofEngine.holds(f, "workers")
	inParts(c)
	return c
}
