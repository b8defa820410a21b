package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
)

func (a *App) data() *cobra.Command {
	var kf keyFlags
	var o app.DataOptions
	c := &cobra.Command{
		Use:   "data [STUDY.yaml | DATA]",
		Short: "Do data have a symmetry, and do their labels survive it?",
		Long: "data moves samples by the elements of a group and asks the data alone, without any model, whether " +
			"moved samples look like\n" +
			"the others, how samples are posed if they do not, and whether labels survive: whether a symmetry may be " +
			"built into a model,\n" +
			"whether moved samples may be trained with, and how far they may be moved. See docs/DATA.md.\n\n" +
			"What resampling alone shows is measured and printed beside. The answer comes first, then what to do, " +
			"then the numbers.\n\n" +
			"Exit code: 0 the data have the symmetry, and labels, if there are any, survive it; 1 they have not, or " +
			"do not, or it is not\ndecided; 2 it could not run.",
		Example: "  nero data photos --group C4\n" +
			"  nero data t10k-images-idx3-ubyte --labels t10k-labels-idx1-ubyte --group 'SO(2)' -o data.html\n" +
			"  nero data study.yaml --orbit '-20;-10;10;20' -f json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.dataStudy(&kf, args)
			if err != nil {
				return err
			}
			r, err := a.app.Data(cmd.Context(), s, o)
			if err != nil {
				return err
			}
			if err := r.Write(a.Out); err != nil {
				return err
			}
			if !r.Good() {
				return errFindings
			}
			return nil
		},
	}
	kf.add(c, dataKeys())
	a.addPrograms(c)
	f := c.Flags()
	f.VarP(&choice{&o.Format, app.DataFormats()}, "format", "f", "how the report is printed")
	f.StringVar(&o.Value, "value", "", "look at this field of the samples alone, by its `name`, of several")
	f.StringVarP(&o.Out, "out", "o", "", "write the report to a `file`, too: .txt, .json, .md or .html")
	f.IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no number")
	ofData.holds(f, "value")
	ofResult.holds(f, "format", "out")
	ofEngine.holds(f, "workers")
	inParts(c)
	return c
}

// dataKeys are the keys of a study that say what the data are and how a group moves them.
func dataKeys() []studyKey {
	return slices.DeleteFunc(studyKeys(), func(k studyKey) bool {
		return k.in != ofData && k.in != ofGroup && k.name != "field"
	})
}

// dataStudy reads the study or takes the data that args name, and lays the flags over it.
func (a *App) dataStudy(kf *keyFlags, args []string) (*job.Study, error) {
	s := &job.Study{Version: 1}
	if len(args) == 1 {
		switch ext := strings.ToLower(filepath.Ext(args[0])); {
		case ext == ".onnx" || !job.IsFile(args[0]):
			return nil, fmt.Errorf("%s is a model, and nero data asks data alone: name a study (.yaml), or a folder "+
				"or file of data", args[0])
		case ext == ".yaml", ext == ".yml":
			var err error
			if s, err = a.app.OpenStudy(args[0]); err != nil {
				return nil, err
			}
		case kf.set.Changed("data"):
			return nil, fmt.Errorf("%s and --data both name data: leave one away", args[0])
		default:
			s.Data.Images = args[0]
		}
	}
	if kf.set.Changed("group") && !kf.set.Changed("orbit") && !kf.set.Changed("range") {
		s.Group.Orbit = job.Orbit{Every: s.Group.Orbit.Every} // elements of another group
	}
	if err := kf.lay(s); err != nil {
		return nil, err
	}
	if s.Data.Images == "" && !s.Data.Rendered() {
		return nil, errors.New("no data: name a study, or a folder of images, an IDX, npy or npz file")
	}
	if s.Group.Name == "" && !reflect.DeepEqual(s.Group, job.Group{}) {
		s.Group.Name = job.DefaultGroup // elements of the group that is taken when none is named
	}
	return s, a.app.DataStudy(s)
}
