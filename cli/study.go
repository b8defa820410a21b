package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// studyFlags are the flags that say what a study file says. A flag that is given wins over the file.
type studyFlags struct {
	models                        []string
	data, labels, format, pattern string
	key, labelKey, arrayLayout    string
	limit                         int
	balance                       bool
	dataSeed, seed                uint64
	layout, channels              string
	scale                         float64
	mean, std                     []float64
	output, space, decode         string
	invariant, equivariant        bool
	group, orbit, orbitRange      string
	resample, border              string
	window                        []int
	metrics                       []string
	preset                        string
	threshold, confidence         float64
	auditSamples, auditElements   int
	fields, outputs               []string
	points                        int
	set                           *pflag.FlagSet
}

func (f *studyFlags) add(c *cobra.Command) {
	s := c.Flags()
	f.set = s
	s.StringArrayVarP(&f.models, "model", "m", nil, "ONNX `file`, or NAME=FILE; repeat for several models")
	s.StringVarP(&f.data, "data", "d", "", "folder of images or shapes, IDX, npy, npz, xyz, sdf or wav `file`")
	s.StringVar(&f.labels, "labels", "", "IDX, npy or CSV `file` with the labels; 'none' to ignore labels")
	s.StringVar(&f.format, "data-format", "",
		"of the data: "+strings.Join(job.DataFormats(), ", ")+" (default: guessed)")
	s.StringVar(&f.pattern, "pattern", "", "regular expression over file names with a group (?P<label>...)")
	s.StringVar(&f.key, "key", "", "array of an npz file that holds the images")
	s.StringVar(&f.labelKey, "label-key", "", "array of an npz file that holds the labels")
	s.StringVar(&f.arrayLayout, "array-layout", "", "axes of an npy or npz array: NHW, NCHW, NHWC (default: guessed)")
	s.IntVarP(&f.limit, "limit", "n", 0, "at most this many samples (0: all)")
	s.BoolVar(&f.balance, "balance", false, "the same number of samples of each class")
	s.Uint64Var(&f.dataSeed, "data-seed", 0, "seed of the choice of samples")
	s.Uint64Var(&f.seed, "seed", 0, "seed of everything else that is random")
	s.StringVar(&f.layout, "layout", "", "axes of the model's input: NCHW, NHWC (default: from its shape)")
	s.StringVar(&f.channels, "channels", "", "order of the model's channels: rgb, bgr, grey (default: as in the file)")
	s.Float64Var(&f.scale, "scale", 0,
		"divide pixel values by this (default: 255 or 65535 by the depth of the files, 1 for floats)")
	s.Float64SliceVar(&f.mean, "mean", nil, "then subtract this, one number or one per channel")
	s.Float64SliceVar(&f.std, "std", nil, "then divide by this, one number or one per channel")
	s.StringVar(&f.output, "output-name", "", "which output of the model (default: the first)")
	s.StringVar(&f.space, "output", "",
		"what the model returns: scores, image, mask, tensor, boxes, field, rows, signal, record (default: scores)")
	s.StringArrayVar(&f.fields, "field", nil,
		"input of points, graphs and signals: `NAME:TYPE`, such as positions:vectors or species:unchanged, or "+
			"NAME=PORT:TYPE:PER where the model calls it otherwise; repeat")
	s.StringArrayVar(&f.outputs, "output-field", nil,
		"output of such a model: `NAME:TYPE`, or NAME=PORT:TYPE:PER, such as forces:vectors:node; repeat")
	s.IntVar(&f.points, "points", 0, "points of each cloud (default: 1024 of a mesh, all of a file of points)")
	s.StringVar(&f.decode, "decode", "",
		"of scores: softmax, probabilities, raw (default: softmax); of masks: argmax, raw (default: by the number of "+
			"channels)")
	s.BoolVar(&f.invariant, "invariant", false, "the output must not change along the orbit")
	s.BoolVar(&f.equivariant, "equivariant", false, "the output must move as the input does")
	s.StringVarP(&f.group, "group", "g", "", "group, as in 'nero groups' (default: SO(2))")
	s.StringVar(&f.orbit, "orbit", "",
		"elements: 72, 9x9, all, lattice, haar:100, even:64, slices, slices:5x15, or values such as '0;90;180' "+
			"(default: the group's preset)")
	s.StringVar(&f.orbitRange, "range", "", "window of a group without bounds, min:max per axis, such as '-4:4,-4:4'")
	s.StringVar(&f.resample, "resample", "",
		"kernel: nearest, bilinear, bicubic, lanczos, spline, up3-bilinear (default: bilinear)")
	s.StringVar(&f.border, "border", "", "outside the picture: zero, edge, reflect, circular (default: zero)")
	s.IntSliceVar(&f.window, "window", nil, "height,width of a crop window that moves over a larger picture")
	s.StringSliceVar(&f.metrics, "metrics", nil,
		"as in 'nero metrics' (default: those that the data and the output allow)")
	s.StringVar(&f.preset, "preset", "",
		"threshold of the audit: research 1e-3, production 1e-4, critical 1e-5, safety 1e-6 (default: production)")
	s.Float64Var(&f.threshold, "threshold", 0, "relative error that the audit allows, instead of the preset's")
	s.Float64Var(&f.confidence, "confidence", 0, "of intervals (default: 0.95)")
	s.IntVar(&f.auditSamples, "audit-samples", 0, "inputs that the audit uses (default: by the size of the model)")
	s.IntVar(&f.auditElements, "audit-elements", 0,
		"elements that the audit uses at most, exact ones first (default: all of the orbit)")
}

// study reads the file named by args, if any, and lays the flags over it. It returns the folder that paths are relative
// to.
func (f *studyFlags) study(args []string) (*job.Study, error) {
	s := &job.Study{Version: 1}
	if len(args) == 1 {
		switch ext := strings.ToLower(filepath.Ext(args[0])); {
		case job.IsEndpoint(args[0]), ext == ".onnx":
			f.models = append([]string{args[0]}, f.models...)
		case ext == ".yaml", ext == ".yml":
			var err error
			if s, err = app.OpenStudy(args[0]); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s: want a study (.yaml), a model (.onnx) or an endpoint (grpc://HOST:PORT/MODEL)",
				args[0])
		}
	}
	if err := f.overlay(s); err != nil {
		return nil, err
	}
	if len(s.Models) == 0 {
		return nil, errors.New("no model: give a study file, or a model with --model FILE.onnx")
	}
	if s.Data.Images == "" && !s.Data.Rendered() {
		return nil, errors.New("no data: give a folder of images, an IDX, npy or npz file with --data")
	}
	if s.Group.Name == "" && !reflect.DeepEqual(s.Group, job.Group{}) {
		s.Group.Name = "SO(2)" // elements of the group that is taken when none is named
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s, nil
}

func (f *studyFlags) overlay(s *job.Study) error {
	var models []job.Model
	for _, m := range f.models {
		name, path, ok := strings.Cut(m, "=")
		if !ok {
			path, name = m, job.NameOf(m)
		}
		if slices.ContainsFunc(models, func(o job.Model) bool { return o.Name == name }) {
			return fmt.Errorf("two models are named %q: give each its own name with --model NAME=FILE", name)
		}
		m := job.Model{Name: name, ONNX: path}
		if job.IsEndpoint(path) {
			m.ONNX, m.Endpoint = "", path
		}
		models = append(models, m)
	}
	if models != nil {
		s.Models = models
	}
	text := func(flag, v string, to *string) {
		if f.set.Changed(flag) {
			*to = v
		}
	}
	text("data", f.data, &s.Data.Images)
	text("data-format", f.format, &s.Data.Format)
	text("labels", f.labels, &s.Data.Labels)
	text("pattern", f.pattern, &s.Data.Pattern)
	text("key", f.key, &s.Data.Key)
	text("label-key", f.labelKey, &s.Data.LabelKey)
	text("array-layout", f.arrayLayout, &s.Data.Layout)
	text("layout", f.layout, &s.Input.Layout)
	text("channels", f.channels, &s.Input.Channels)
	text("output-name", f.output, &s.Output.Name)
	text("output", f.space, &s.Output.Space)
	text("decode", f.decode, &s.Output.Decode)
	text("group", f.group, &s.Group.Name)
	text("resample", f.resample, &s.Group.Resample)
	text("border", f.border, &s.Group.Border)
	text("preset", f.preset, &s.Audit.Preset)
	if f.set.Changed("data") && !f.set.Changed("labels") {
		s.Data.Labels = "" // labels of other data
	}
	if f.set.Changed("limit") {
		s.Data.Limit = f.limit
	}
	if f.set.Changed("points") {
		s.Data.Cloud.Points = f.points
	}
	for _, l := range []struct {
		flag  string
		texts []string
		to    *[]job.Port
	}{{"field", f.fields, &s.Input.Fields}, {"output-field", f.outputs, &s.Output.Fields}} {
		if !f.set.Changed(l.flag) {
			continue
		}
		*l.to = nil
		for _, t := range l.texts {
			p, err := parsePort(t)
			if err != nil {
				return fmt.Errorf("--%s %q: %w", l.flag, t, err)
			}
			*l.to = append(*l.to, p)
		}
	}
	if f.set.Changed("balance") {
		s.Data.Balance = ""
		if f.balance {
			s.Data.Balance = "label"
		}
	}
	number := func(flag string, v float64, to *float64) {
		if f.set.Changed(flag) {
			*to = v
		}
	}
	if f.set.Changed("scale") && !(f.scale > 0) {
		return fmt.Errorf("--scale is %g, want a number above 0", f.scale) // in a study 0 stands for the default
	}
	number("scale", f.scale, &s.Input.Scale)
	number("threshold", f.threshold, &s.Audit.Threshold)
	number("confidence", f.confidence, &s.Audit.Confidence)
	if f.set.Changed("mean") {
		s.Input.Mean = f.mean
	}
	if f.set.Changed("std") {
		s.Input.Std = f.std
	}
	if f.set.Changed("window") {
		s.Group.Window = f.window
	}
	if f.set.Changed("metrics") {
		s.Metrics = f.metrics
	}
	if f.set.Changed("seed") {
		s.Seed = f.seed
	}
	if f.set.Changed("data-seed") {
		s.Data.Seed = f.dataSeed
	}
	if f.set.Changed("audit-samples") {
		s.Audit.Samples = f.auditSamples
	}
	if f.set.Changed("audit-elements") {
		s.Audit.Elements = f.auditElements
	}
	if f.invariant && f.equivariant {
		return errors.New("--invariant and --equivariant contradict each other: is the output to stay, or to move " +
			"with the input?")
	}
	if f.invariant {
		s.Output.Action = "invariant"
	}
	if f.equivariant {
		s.Output.Action = "same"
	}
	if f.set.Changed("group") && !f.set.Changed("orbit") && !f.set.Changed("range") {
		s.Group.Orbit = job.Orbit{} // elements of another group
	}
	if f.set.Changed("orbit") {
		o, err := parseOrbit(f.orbit)
		if err != nil {
			return fmt.Errorf("--orbit %q: %w", f.orbit, err)
		}
		o.Range = s.Group.Orbit.Range
		s.Group.Orbit = o
	}
	if f.set.Changed("range") {
		r, err := parseRange(f.orbitRange)
		if err != nil {
			return fmt.Errorf("--range %q: %w", f.orbitRange, err)
		}
		s.Group.Orbit.Range = r
	}
	return nil
}

// parsePort reads NAME, NAME:TYPE, NAME=PORT:TYPE or NAME=PORT:TYPE:PER.
func parsePort(s string) (job.Port, error) {
	parts := strings.Split(s, ":")
	name, port, _ := strings.Cut(parts[0], "=")
	if name == "" || len(parts) > 3 {
		return job.Port{}, errors.New(
			"want NAME:TYPE or NAME=PORT:TYPE:PER, such as positions:positions or forces=F:vectors:node")
	}
	p := job.Port{Name: name, Port: port}
	if len(parts) > 1 {
		p.Type = parts[1]
	}
	if len(parts) > 2 {
		p.Per = parts[2]
	}
	return p, nil
}

// parseSlices reads AXISxANGLE, the degrees between axes and between angles; "" for the default.
func parseSlices(s string) (job.Slices, error) {
	o := job.Slices{Axis: 5, Angle: 15}
	if s == "" {
		return o, nil
	}
	axis, angle, ok := strings.Cut(s, "x")
	a, err := strconv.ParseFloat(axis, 64)
	b, err2 := strconv.ParseFloat(angle, 64)
	if !ok || err != nil || err2 != nil || !(a > 0) || !(b > 0) {
		return o, errors.New("want degrees between axes and between angles, such as slices:5x15")
	}
	o.Axis, o.Angle = a, b
	return o, nil
}

// parseOrbit reads the short form of an orbit: 72, 9x9, all, lattice, haar:N, even:N, slices, slices:AxB, or values
// "0;90" or "1,0;0,1".
func parseOrbit(s string) (job.Orbit, error) {
	var o job.Orbit
	word, arg, _ := strings.Cut(s, ":")
	count := func() (int, error) {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("want a number of elements, such as %s:100", word)
		}
		return n, nil
	}
	var err error
	switch {
	case s == "all":
		o.All = true
	case s == "lattice":
		o.Lattice = true
	case word == "haar":
		o.Haar, err = count()
	case word == "even":
		o.LowDiscrepancy, err = count()
	case word == "slices":
		o.Slices, err = parseSlices(arg)
	case strings.ContainsAny(s, ";,."):
		for e := range strings.SplitSeq(s, ";") {
			var g []float64
			for c := range strings.SplitSeq(e, ",") {
				v, err := strconv.ParseFloat(strings.TrimSpace(c), 64)
				if err != nil {
					return o, fmt.Errorf("%q is not a coordinate", c)
				}
				g = append(g, v)
			}
			o.Values = append(o.Values, g)
		}
	default:
		for c := range strings.SplitSeq(s, "x") {
			n, err := strconv.Atoi(c)
			if err != nil || n < 1 {
				return o, errors.New(
					"want a number such as 72, a grid such as 9x9, all, lattice, haar:N, even:N, slices, or " +
						"coordinates such as '0;90;180'")
			}
			o.Grid = append(o.Grid, n)
		}
	}
	return o, err
}

// parseRange reads "min:max" per axis, separated by commas.
func parseRange(s string) ([][]float64, error) {
	var r [][]float64
	for axis := range strings.SplitSeq(s, ",") {
		lo, hi, ok := strings.Cut(axis, ":")
		a, err := strconv.ParseFloat(lo, 64)
		b, err2 := strconv.ParseFloat(hi, 64)
		if !ok || err != nil || err2 != nil || !(a < b) {
			return nil, fmt.Errorf("%q: want min:max with min below max", axis)
		}
		r = append(r, []float64{a, b})
	}
	return r, nil
}
