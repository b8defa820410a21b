package cli

import (
	"fmt"
	"slices"
	"strings"

	"nero/run/job"

	"github.com/spf13/pflag"
)

// studyKey is a key of a study that has a flag, told once: what the flag is called and says, and how its value gets
// into a study.
type studyKey struct {
	in                part
	name, short, help string
	lay               laying
}

// laying defines the flag of a key and returns what lays its value over a study.
type laying func(*pflag.FlagSet, studyKey) func(*job.Study) error

// define is how package pflag defines a flag of some type.
type define[T any] func(set *pflag.FlagSet, to *T, name, short string, preset T, help string)

// by lays a value over a study by a function.
func by[T any](flag define[T], lay func(*job.Study, T) error) laying {
	return func(set *pflag.FlagSet, k studyKey) func(*job.Study) error {
		var value, preset T
		flag(set, &value, k.name, k.short, preset, k.help)
		if f := set.Lookup(k.name); f.DefValue == "[]" {
			f.DefValue = "" // help would show it
		}
		return func(s *job.Study) error { return lay(s, value) }
	}
}

// into puts a value into a field of a study.
func into[T any](flag define[T], field func(*job.Study) *T) laying {
	return by(flag, func(s *job.Study, v T) error { *field(s) = v; return nil })
}

func text(field func(*job.Study) *string) laying {
	return into((*pflag.FlagSet).StringVarP, field)
}

func number(field func(*job.Study) *float64) laying {
	return into((*pflag.FlagSet).Float64VarP, field)
}

func numbers(field func(*job.Study) *[]float64) laying {
	return into((*pflag.FlagSet).Float64SliceVarP, field)
}

func count(field func(*job.Study) *int) laying {
	return into((*pflag.FlagSet).IntVarP, field)
}

func counts(field func(*job.Study) *[]int) laying {
	return into((*pflag.FlagSet).IntSliceVarP, field)
}

func seed(field func(*job.Study) *uint64) laying {
	return into((*pflag.FlagSet).Uint64VarP, field)
}

func several(field func(*job.Study) *[]string) laying {
	return into((*pflag.FlagSet).StringSliceVarP, field)
}

// some is words that an empty list does not take the place of.
func some(field func(*job.Study) *[]string) laying {
	return by((*pflag.FlagSet).StringSliceVarP, func(s *job.Study, v []string) error {
		if len(v) > 0 {
			*field(s) = v
		}
		return nil
	})
}

// read reads the short form of a part of a study.
func read[T any](name string, parse func(string) (T, error), lay func(*job.Study, T)) laying {
	return by((*pflag.FlagSet).StringVarP, func(s *job.Study, text string) error {
		v, err := parse(text)
		if err != nil {
			return fmt.Errorf("--%s %q: %w", name, text, err)
		}
		lay(s, v)
		return nil
	})
}

// ports reads the inputs or outputs of a model.
func ports(name string, field func(*job.Study) *[]job.Port) laying {
	return by((*pflag.FlagSet).StringArrayVarP, func(s *job.Study, texts []string) error {
		all := make([]job.Port, len(texts))
		for i, t := range texts {
			var err error
			if all[i], err = parsePort(t); err != nil {
				return fmt.Errorf("--%s %q: %w", name, t, err)
			}
		}
		*field(s) = all
		return nil
	})
}

// act says what the output does; a flag that is taken back says nothing.
func act(action string) laying {
	return by((*pflag.FlagSet).BoolVarP, func(s *job.Study, on bool) error {
		if on {
			s.Output.Action = action
		}
		return nil
	})
}

// models names the models of a study.
func models(s *job.Study, texts []string) error {
	var all []job.Model
	for _, m := range texts {
		name, path, ok := strings.Cut(m, "=")
		if !ok || !job.IsFile(m) { // what a program is told may hold = too
			path, name = m, job.NameOf(m)
		}
		if slices.ContainsFunc(all, func(o job.Model) bool { return o.Name == name }) {
			return fmt.Errorf("two models are named %q: give each its own name with --model NAME=FILE", name)
		}
		m := job.Model{Name: name}
		if err := m.Put(path); err != nil {
			return fmt.Errorf("--model %w", err)
		}
		all = append(all, m)
	}
	if all != nil {
		s.Models = all
	}
	return nil
}

// studyKeys are the keys of a study that a run and an audit have flags for, in the order in which they are laid over
// it.
func studyKeys() []studyKey {
	return []studyKey{
		{
			ofModel, "model", "m", "ONNX `file`, endpoint, exec:PROGRAM, builtin:piv or builtin:blocks, or " +
				"NAME=FILE; repeat for several models",
			by((*pflag.FlagSet).StringArrayVarP, models),
		},
		{
			ofModel, "layout", "", "axes of the model's input: NCHW, NHWC (default: from its shape)",
			text(func(s *job.Study) *string { return &s.Input.Layout }),
		},
		{
			ofModel, "channels", "", "order of the model's channels: rgb, bgr, grey (default: as in the file)",
			text(func(s *job.Study) *string { return &s.Input.Channels }),
		},
		{
			ofModel, "scale", "",
			"divide pixel values by this (default: 255 or 65535 by the depth of the files, 1 for floats)",
			by((*pflag.FlagSet).Float64VarP, func(s *job.Study, v float64) error {
				if !(v > 0) { // in a study 0 stands for the default
					return fmt.Errorf("--scale is %g, want a number above 0", v)
				}
				s.Input.Scale = v
				return nil
			}),
		},
		{
			ofModel, "mean", "", "then subtract these `numbers`, one for all channels or one for each",
			numbers(func(s *job.Study) *[]float64 { return &s.Input.Mean }),
		},
		{
			ofModel, "std", "", "then divide by these `numbers`, one for all channels or one for each",
			numbers(func(s *job.Study) *[]float64 { return &s.Input.Std }),
		},
		{
			ofModel, "field", "", "input of points, graphs and signals: `NAME:TYPE`, such as positions:vectors or " +
				"species:unchanged, or NAME=PORT:TYPE:PER where the model calls it otherwise; repeat",
			ports("field", func(s *job.Study) *[]job.Port { return &s.Input.Fields }),
		},

		{
			ofData, "data", "d", "folder of images or shapes, IDX, npy, npz, xyz, sdf or wav `file`",
			by((*pflag.FlagSet).StringVarP, func(s *job.Study, v string) error {
				s.Data.Images, s.Data.Labels, s.Data.Views = v, "", "" // the labels were of other data
				return nil
			}),
		},
		viewsKey(),
		{
			ofData, "labels", "", "IDX, npy or CSV `file` with the labels; 'none' to ignore labels",
			text(func(s *job.Study) *string { return &s.Data.Labels }),
		},
		{
			ofData, "data-format", "", "of the data: " + strings.Join(job.DataFormats(), ", ") + " (default: guessed)",
			text(func(s *job.Study) *string { return &s.Data.Format }),
		},
		{
			ofData, "pattern", "", "regular expression over file names with a group (?P<label>...)",
			text(func(s *job.Study) *string { return &s.Data.Pattern }),
		},
		{
			ofData, "key", "", "array of an npz file that holds the images",
			text(func(s *job.Study) *string { return &s.Data.Key }),
		},
		{
			ofData, "label-key", "", "array of an npz file that holds the labels",
			text(func(s *job.Study) *string { return &s.Data.LabelKey }),
		},
		{
			ofData, "array-layout", "", "axes of an npy or npz array: NHW, NCHW, NHWC, of " +
				"volumes NDHW, NCDHW, NDHWC, NWHD (default: guessed)",
			text(func(s *job.Study) *string { return &s.Data.Layout }),
		},
		{
			ofData, "resize", "", "photos to one size: short=256,crop=224 or stretch=224 or letterbox=640,fill=114; " +
				"HEIGHTxWIDTH for no square, kernel=bicubic (default: the usual one, if sizes do not fit the model)",
			read("resize", parseResize, func(s *job.Study, r job.Resize) { s.Data.Resize = r }),
		},
		{
			ofData, "margin", "", "what turns and shifts read of the photo around the crop of --resize: auto, " +
				"pixels, HEIGHTxWIDTH or none (default: none, with a note where photos have more)",
			text(func(s *job.Study) *string { return &s.Data.Margin }),
		},
		{
			ofData, "data-preset", "", "feed photos as a known network, as in 'nero presets': " +
				"torchvision/resnet50, keras/vgg16, yolo/640 (default: none)",
			text(func(s *job.Study) *string { return &s.Data.Preset }),
		},
		{
			ofData, "orientation", "", "photos as shown, turned as their EXIF says, or as stored, which " +
				"torchvision's loaders take (default: shown)",
			text(func(s *job.Study) *string { return &s.Data.Orientation }),
		},
		{
			ofData, "points", "", "points of each cloud (default: 1024 of a mesh, all of a file of points)",
			count(func(s *job.Study) *int { return &s.Data.Cloud.Points }),
		},
		{
			ofData, "phantoms", "",
			"so many pictures drawn from formulas, which move without resampling, in place of " +
				"--data",
			by((*pflag.FlagSet).IntVarP, func(s *job.Study, n int) error {
				if n < 1 {
					return fmt.Errorf("--phantoms is %d, want 1 or more", n)
				}
				s.Data = job.Data{Format: "phantoms", Limit: s.Data.Limit, Phantoms: s.Data.Phantoms}
				s.Data.Phantoms.Count = n
				return nil
			}),
		},
		{
			ofData, "phantom-size", "", "`height,width` of phantoms as the model reads them (default: 32,32)",
			counts(func(s *job.Study) *[]int { return &s.Data.Phantoms.Size }),
		},
		{
			ofData, "phantom-channels", "", "of phantoms as the model reads them (default: 1)",
			count(func(s *job.Study) *int { return &s.Data.Phantoms.Channels }),
		},
		{
			ofData, "limit", "n", "at most this many samples (0: all)",
			count(func(s *job.Study) *int { return &s.Data.Limit }),
		},
		{
			ofData, "balance", "", "the same number of samples of each class",
			by((*pflag.FlagSet).BoolVarP, func(s *job.Study, on bool) error {
				s.Data.Balance = map[bool]string{true: "label"}[on]
				return nil
			}),
		},
		{
			ofData, "side", "", "only the samples to learn from (fit), to choose by (choose) or to report on (confirm)",
			text(func(s *job.Study) *string { return &s.Data.Side }),
		},
		{
			ofData, "data-seed", "", "seed of the choice of samples",
			seed(func(s *job.Study) *uint64 { return &s.Data.Seed }),
		},
		{
			ofData, "seed", "", "seed of everything else that is random",
			seed(func(s *job.Study) *uint64 { return &s.Seed }),
		},
		{
			ofResult, "name", "", "`text` by which the run is called where runs are listed (default: its folder)",
			text(func(s *job.Study) *string { return &s.Name }),
		},

		{
			ofGroup, "group", "g", "group, as in 'nero groups' (default: " + job.DefaultGroup + ")",
			text(func(s *job.Study) *string { return &s.Group.Name }),
		},
		{
			ofGroup, "orbit", "",
			"elements: 72, 9x9, all, lattice, haar:100, even:64, slices, slices:5x15, or values " +
				"such as '0;90;180' (default: the group's preset)",
			read("orbit", parseOrbit, func(s *job.Study, o job.Orbit) {
				o.Range, o.Every = s.Group.Orbit.Range, s.Group.Orbit.Every
				s.Group.Orbit = o
			}),
		},
		{
			ofGroup, "every", "", "one in so many of these elements, spread evenly, and the identity (default: all)",
			read("every", parseEvery, func(s *job.Study, n int) { s.Group.Orbit.Every = n }),
		},
		{
			ofGroup, "range", "", "window of a group without bounds, min:max per axis, such as '-4:4,-4:4'",
			read("range", parseRange, func(s *job.Study, r [][]float64) { s.Group.Orbit.Range = r }),
		},
		{
			ofGroup, "resample", "",
			"kernel: nearest, bilinear, bicubic, lanczos, spline, quintic, area, fourier, up3-bilinear " +
				"(default: bilinear)",
			text(func(s *job.Study) *string { return &s.Group.Resample }),
		},
		{
			ofGroup, "border", "", "outside the picture: zero, edge, reflect, circular (default: zero)",
			text(func(s *job.Study) *string { return &s.Group.Border }),
		},
		{
			ofGroup, "mask", "",
			"what counts of pictures and maps: disc, the inscribed disc, which turns never leave (default: all)",
			text(func(s *job.Study) *string { return &s.Group.Mask }),
		},
		{
			ofGroup, "window", "", "`height,width` of a crop window that moves over a larger picture",
			counts(func(s *job.Study) *[]int { return &s.Group.Window }),
		},

		{
			ofOutput, "output-name", "", "which output of the model (default: the first)",
			text(func(s *job.Study) *string { return &s.Output.Name }),
		},
		{
			ofOutput, "output", "",
			"what the model returns: scores, image, mask, tensor, embedding, boxes, field, frames, rows, " +
				"signal, record (default: scores)",
			text(func(s *job.Study) *string { return &s.Output.Space }),
		},
		{
			ofOutput, "output-field", "", "output of such a model: `NAME:TYPE`, or NAME=PORT:TYPE:PER, such as " +
				"forces:vectors:node; repeat",
			ports("output-field", func(s *job.Study) *[]job.Port { return &s.Output.Fields }),
		},
		{
			ofOutput, "decode", "",
			"of scores: softmax, probabilities, raw (default: softmax); of masks: argmax, raw " +
				"(default: by the number of channels)",
			text(func(s *job.Study) *string { return &s.Output.Decode }),
		},
		{ofOutput, "invariant", "", "the output must not change along the orbit", act("invariant")},
		{ofOutput, "equivariant", "", "the output must move as the input does", act("same")},
		{
			ofOutput, "metrics", "", "as in 'nero metrics' (default: those that the data and the output allow)",
			several(func(s *job.Study) *[]string { return &s.Metrics }),
		},

		{
			ofAudit, "preset", "",
			"threshold of the audit: research 1e-3, production 1e-4, critical 1e-5, safety 1e-6 " +
				"(default: production)",
			text(func(s *job.Study) *string { return &s.Audit.Preset }),
		},
		{
			ofAudit, "threshold", "", "relative error that the audit allows, instead of the preset's",
			number(func(s *job.Study) *float64 { return &s.Audit.Threshold }),
		},
		{
			ofAudit, "confidence", "", "of intervals (default: 0.95)",
			number(func(s *job.Study) *float64 { return &s.Audit.Confidence }),
		},
		{
			ofAudit, "audit-samples", "", "inputs that the audit uses (default: by the size of the model)",
			count(func(s *job.Study) *int { return &s.Audit.Samples }),
		},
		{
			ofAudit, "audit-elements", "",
			"elements that the audit uses at most, exact ones first (default: all of the " +
				"orbit)",
			count(func(s *job.Study) *int { return &s.Audit.Elements }),
		},
	}
}

// auditKeys are the keys of a study that only an audit has flags for.
func auditKeys() []studyKey {
	return []studyKey{
		{
			ofAudit, "checks", "", "run only these `checks`, with what they need (default: all)",
			some(func(s *job.Study) *[]string { return &s.Audit.Checks }),
		},
		{
			ofAudit, "skip", "", "`checks` to leave out",
			some(func(s *job.Study) *[]string { return &s.Audit.Skip }),
		},
		{
			ofAudit, "require", "", "optional `checks` without which there is no PASS, or all",
			some(func(s *job.Study) *[]string { return &s.Audit.Require }),
		},
		{
			ofAudit, "layer", "", "look at these `layers` only, by the name of the node or of its output",
			some(func(s *job.Study) *[]string { return &s.Audit.Layers }),
		},
		{
			ofAudit, "set", "", "parameter of a check, `CHECK.NAME=NUMBER`; repeat for several",
			by((*pflag.FlagSet).StringArrayVarP, func(s *job.Study, v []string) error {
				s.Audit.Params = append(slices.Clone(s.Audit.Params), v...)
				return nil
			}),
		},
		{
			ofAudit, "contract", "", "what must hold of inputs like these, `ERROR:RATE[:CONFIDENCE]`: 1e-3:0.05 is " +
				"P(error > 0.001) at most 5%",
			by((*pflag.FlagSet).StringVarP, func(s *job.Study, v string) (err error) {
				if v != "" {
					s.Audit.Contract, err = parseContract(v)
				}
				return err
			}),
		},
		{
			ofAudit, "early-stop", "",
			"stop adding inputs once it is certain, at any time, whether the contract holds " +
				"(without one: the policy's share of inputs)",
			by((*pflag.FlagSet).BoolVarP, func(s *job.Study, on bool) error {
				s.Audit.EarlyStop = s.Audit.EarlyStop || on
				return nil
			}),
		},
		{
			ofAudit, "author", "", "who answers for the audit, `NAME` in its reports",
			text(func(s *job.Study) *string { return &s.Audit.Author }),
		},
	}
}

// viewsKey is the key of given views.
func viewsKey() studyKey {
	return studyKey{
		ofData, "views", "", "`file` of given views of the same objects, CSV or JSON lines, in place of --data",
		by((*pflag.FlagSet).StringVarP, func(s *job.Study, v string) error {
			s.Data.Images, s.Data.Labels, s.Data.Views = "", "", v // the data were others
			return nil
		}),
	}
}
