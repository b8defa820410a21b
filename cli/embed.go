package cli

import (
	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// embedKeys are the keys of a study that nero embed has flags for beside those of a run.
func embedKeys() []studyKey {
	return []studyKey{{
		ofAudit, "chain", "", "of given views only those next to each other are said to show one thing",
		into((*pflag.FlagSet).BoolVarP, func(s *job.Study) *bool { return &s.Embedding.Chain }),
	}}
}

func (a *App) embed() *cobra.Command {
	var sf studyFlags
	var o app.EmbedOptions
	c := &cobra.Command{
		Use:   "embed [STUDY.yaml | MODEL.onnx]",
		Short: "How do features move? Can another release read the index?",
		Long: "embed reads the features of a model, its output or an inner value, of samples moved by a group, and\n" +
			"says how far they stay, which linear map moves them, along which directions object and pose lie\n" +
			"apart, and whether one generator moves them along the whole group. With --against it says whether\n" +
			"another release of the model can read an index of this one's features. What is fitted and chosen\n" +
			"comes from other samples than what is reported. With --views there is no group: which inputs show one\n" +
			"thing is listed, and their features are held against those of other things. See docs/EMBEDDINGS.md.\n\n" +
			"Exit code: 0 the features stay, or move and keep the object, and the other release, if any, can\n" +
			"read the index; 1 they collapse, lose it or are not finite, it cannot, or that is not decided; 2 it\n" +
			"could not run.",
		Example: "  nero embed studies/digits/demo.yaml --group C4\n" +
			"  nero embed study.yaml --value /pool/Flatten_output_0 -o embedding.json\n" +
			"  nero embed study.yaml --only v1 --against v2.onnx -f markdown\n" +
			"  nero embed v1.onnx --data photos --value pool --against v2.onnx --against-value neck\n" +
			"  nero embed encoder.onnx --views views.csv --value /norm/Div_output_0",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := sf.study(&a.app, args)
			if err != nil {
				return err
			}
			r, err := a.app.Embed(cmd.Context(), s, o)
			if err != nil {
				return err
			}
			if err := r.Write(a.Out, o.Format); err != nil {
				return err
			}
			if !r.Good() {
				return errFindings
			}
			return nil
		},
	}
	sf.keyFlags.add(c, append(studyKeys(), embedKeys()...))
	a.addPrograms(c)
	addEngine(c, &o.Engine)
	f := c.Flags()
	f.StringVar(&o.Value, "value", "", "`name` of the value, or node, whose numbers are the features (default: the "+
		"output)")
	f.StringSliceVar(&o.What, "what", nil, "parts to ask beside maps: split, generators (default: both)")
	f.StringVar(&o.Against, "against", "", "another release, a model `file`: can it read the index of this one?")
	f.StringVar(&o.AgainstValue, "against-value", "", "`name` of the value, or node, of that release (default: the "+
		"same as --value)")
	f.IntVar(&o.Samples, "samples", 0, "samples to ask at most, on all sides (default: 512)")
	f.IntVar(&o.Elements, "elements", 0, "elements to ask at most, with the identity (default: 25)")
	f.StringVarP(&o.Format, "format", "f", app.EmbedFormats()[0], "text, json, markdown, html")
	f.StringVarP(&o.Out, "out", "o", "", "`file` for the report (.json, .txt, .md, .html)")
	f.StringArrayVar(&o.Only, "only", nil, "ask this `model` of the study alone, by its name; repeat for several")
	f.IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no number")
	ofResult.holds(f, "format", "out")
	ofAudit.holds(f, "value", "what", "against", "against-value", "samples", "elements", "only")
	ofEngine.holds(f, "workers")
	inParts(c)
	return c
}
