package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// keyFlags are flags that say what a study file says. A flag that is given wins over the file.
type keyFlags struct {
	set *pflag.FlagSet
	all []keyFlag
}

// keyFlag is the flag of one key.
type keyFlag struct {
	name string
	lay  func(*job.Study) error
}

func (f *keyFlags) add(c *cobra.Command, keys []studyKey) {
	f.set = c.Flags()
	for _, k := range keys {
		f.all = append(f.all, keyFlag{k.name, k.lay(f.set, k)})
		k.in.holds(f.set, k.name)
	}
}

// lay lays the flags that are given over a study.
func (f *keyFlags) lay(s *job.Study) error {
	if f.set.Changed("data") && f.set.Changed("views") { // the one would be passed over without a word
		return errors.New("--data and --views both say what is asked: leave one away")
	}
	for _, k := range f.all {
		if f.set.Changed(k.name) {
			if err := s.Change("--"+k.name, k.lay); err != nil {
				return err
			}
		}
	}
	return nil
}

// studyFlags are the flags of a whole study.
type studyFlags struct {
	keyFlags
	// claim, if not nil, refuses a study that leaves the claim of an audit open.
	claim func(*job.Study) error
}

func (f *studyFlags) add(c *cobra.Command) { f.keyFlags.add(c, studyKeys()) }

// study reads the file named by args, if any, and lays the flags over it.
func (f *studyFlags) study(a *app.App, args []string) (*job.Study, error) {
	s := &job.Study{Version: 1}
	if len(args) == 1 {
		switch ext := strings.ToLower(filepath.Ext(args[0])); {
		case !job.IsFile(args[0]), ext == ".onnx":
			if job.IsFile(args[0]) {
				if err := a.Present(args[0]); err != nil {
					return nil, err // before anything is said of the data
				}
			}
			if err := f.model(args[0]); err != nil {
				return nil, err
			}
		case ext == ".yaml", ext == ".yml":
			var err error
			if s, err = a.OpenStudy(args[0]); err != nil {
				return nil, err
			}
		default:
			if err := a.Foreign(args[0]); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%s: want a study (.yaml), a model (.onnx), an endpoint (grpc://HOST:PORT/MODEL) "+
				"or a program (exec:./model)", args[0])
		}
	}
	if f.given("invariant") && f.given("equivariant") {
		return nil, errors.New("--invariant and --equivariant contradict each other: is the output to stay, or to " +
			"move with the input?")
	}
	if f.set.Changed("group") && !f.set.Changed("orbit") && !f.set.Changed("range") {
		s.Group.Orbit = job.Orbit{Every: s.Group.Orbit.Every} // elements of another group
	}
	if err := f.lay(s); err != nil {
		return nil, err
	}
	if f.set.Changed("model") || len(args) == 1 && !job.IsFile(args[0]) {
		for _, m := range s.Models { // all of them stand on the command line
			a.Named = append(a.Named, m.Text())
		}
	}
	if len(s.Models) == 0 {
		return nil, errors.New("no model: give a study file, or a model with --model FILE.onnx")
	}
	if s.Data.Images == "" && !s.Data.Rendered() && s.Data.Views == "" {
		const none = "no data: give a folder of images, an IDX, npy or npz file with --data"
		if f.set.Lookup("views") != nil {
			return nil, errors.New(none + ", or a list of inputs that belong together with --views")
		}
		return nil, errors.New(none)
	}
	if f.claim != nil {
		if err := f.claim(s); err != nil {
			return nil, err
		}
	}
	if s.Group.Name == "" && !reflect.DeepEqual(s.Group, job.Group{}) {
		s.Group.Name = job.DefaultGroup // elements of the group that is taken when none is named
	}
	if err := a.Validate(s); err != nil {
		return nil, err
	}
	return s, nil
}

// model puts a model before those of the flag.
func (f *studyFlags) model(file string) error {
	flag := f.set.Lookup("model")
	list, ok := flag.Value.(pflag.SliceValue)
	if !ok {
		return errors.New("--model is no list")
	}
	flag.Changed = true
	return list.Replace(append([]string{file}, list.GetSlice()...))
}

// given says whether a flag without a value is given.
func (f *studyFlags) given(name string) bool {
	on, err := f.set.GetBool(name)
	return err == nil && on
}
