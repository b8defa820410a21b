package job

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxStudy is the largest study file in bytes. A list of 10,000 elements takes a quarter of it.
const MaxStudy = 1 << 20

// maxGrid is the largest number of elements of a grid, over all axes.
const maxGrid = 10_000_000

// FieldError is one thing wrong in a study. Its text is "file:line:column: path: message".
type FieldError struct {
	// file, line and column, as [Study.Where] gives them
	Where string
	// field, such as "group.name" or "models[1].onnx"; "" for the file as a whole
	Path string
	// what is wrong, what was expected, and what to do
	Message string
}

// Error is the place and the message on one line.
func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.Where + ": " + e.Message
	}
	return e.Where + ": " + e.Path + ": " + e.Message
}

// ParseStudy reads a study file. The name is that of the file, for messages.
//
// The reader is strict: it refuses keys that it does not know, values of the wrong type and values out of range. Beyond
// the version and the names of models, defaults are not filled in ([Defaults]), and paths stay as they are written
// ([Study.Resolve]). Names of groups and metrics are not looked up here; whoever knows them reports with
// [Study.Errorf].
//
// The error joins one [FieldError] for each thing wrong, in the order of the file.
func ParseStudy(name string, b []byte, more ...Words) (*Study, error) {
	s := &Study{src: &source{file: name, at: map[string]position{}}}
	if len(b) > MaxStudy {
		return nil, &FieldError{
			Where:   name,
			Message: fmt.Sprintf("%d bytes; a study has at most %d: is this a study file?", len(b), MaxStudy),
		}
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff")) // some editors mark a file as UTF-8
	r := &reader{src: s.src, words: allWords(more)}
	if !r.read(b, s) {
		return nil, r.err()
	}
	set(&s.Version, StudyVersion)
	for i := range s.Models {
		m := &s.Models[i]
		if at := m.place(); m.IsFile() { // the text of a model alone
			if err := m.Put(m.ONNX); err != nil {
				r.report(fmt.Sprintf("models[%d].%s", i, at), err.Error())
			}
		}
		set(&m.Name, NameOf(m.Text()))
	}
	if o := &s.Group.Orbit; s.src.has("group.orbit.slices") { // slices: {} means the usual ones, and not none
		usual := UsualSlices()
		set(&o.Slices.Axis, usual.Axis)
		set(&o.Slices.Angle, usual.Angle)
		if o.Slices.Planes == nil {
			o.Slices.Planes = usual.Planes
		}
	}
	s.check(r.report)
	if err := r.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// DefaultGroup is the group of a study that names none: rotations of the plane.
const DefaultGroup = "SO(2)"

// UsualSlices are the slices of an orbit that asks for some and does not say which.
func UsualSlices() Slices { return Slices{Axis: 5, Angle: 15, Planes: []string{"xy", "xz", "yz"}} }

// Validate holds a study that was not read from a file, or was changed since, against the rules that [ParseStudy] holds
// files against, with the words that the program adds. The error joins one [FieldError] for each thing wrong. A study
// without a group is fine.
func (s *Study) Validate(more ...Words) error {
	if p := notFinite(reflect.ValueOf(s).Elem(), ""); p != "" {
		return &FieldError{Where: "study", Path: p, Message: "expected a finite number"}
	}
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("job: %w", err)
	}
	_, err = ParseStudy("study", b, more...)
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		return err
	}
	var errs []error
	for _, e := range all.Unwrap() {
		if f, ok := errors.AsType[*FieldError](e); ok {
			// lines of the JSON mean nothing to anybody, those of the file do
			e = &FieldError{Where: s.Where(f.Path), Path: f.Path, Message: f.Message}
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// notFinite returns the path of a number that JSON cannot hold, "" if there is none.
func notFinite(v reflect.Value, path string) string {
	switch v.Kind() { //nolint:exhaustive // the others hold no such numbers
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return path
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				if p := notFinite(v.Field(i), join(path, keyOf(f))); p != "" {
					return p
				}
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if p := notFinite(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); p != "" {
				return p
			}
		}
	default:
	}
	return ""
}

// check reports what is wrong between fields, each of which is fine by itself.
func (s *Study) check(report func(path, message string)) {
	checkProviders(s.Providers, report)
	names := map[string]int{}
	for i, m := range s.Models {
		m.check(func(field, message string) {
			report(fmt.Sprintf("models[%d].%s", i, field), message)
		})
		if j, ok := names[m.Name]; ok {
			report(fmt.Sprintf("models[%d].name", i),
				fmt.Sprintf("%q is already the name of models[%d]; give each model its own", m.Name, j))
			continue
		}
		names[m.Name] = i
	}
	if p := s.Data.Pattern; p != "" {
		switch re, err := regexp.Compile(p); {
		case err != nil:
			report("data.pattern", strings.TrimPrefix(err.Error(), "error parsing regexp: ")+
				"; expected a regular expression as Go's package regexp reads it")
		case s.Data.Format == "pairs":
			if re.SubexpIndex("pair") < 0 || re.SubexpIndex("frame") < 0 {
				report("data.pattern",
					"no groups named pair and frame; write the parts of a file's path that say which pair and which "+
						"frame it is as (?P<pair>...) and (?P<frame>...)")
			}
		case re.SubexpIndex("label") < 0:
			report("data.pattern", "no group named label; write the part that holds the label as (?P<label>...)")
		}
	}
	if m, d := len(s.Input.Mean), len(s.Input.Std); m > 1 && d > 1 && m != d {
		report("input.std", fmt.Sprintf(
			"%d numbers, but input.mean has %d; give one number, or one per channel, to each", d, m))
	}
	if len(s.Group.Window) == 1 && s.Input.Space != "signal" && s.Data.Format != "signals" {
		report("group.window", "one length, which is for signals; expected [HEIGHT, WIDTH]")
	}
	if s.Group.File != "" && s.Group.Definition != "" {
		report("group.definition", "a group has a file or a definition; keep one of them")
	}
	s.checkData(report)
	s.checkOutput(report)
	s.checkOrbit(report)
	s.checkEmbedding(report)
}

// checkEmbedding reports what says something of what is not there.
func (s *Study) checkEmbedding(report func(path, message string)) {
	if s.Embedding.Chain && s.Data.Views == "" {
		report("embedding.chain", "says which of given views belong together; add data: {views: FILE.csv}, or leave "+
			"it out")
	}
	if s.Embedding.AgainstValue != "" && s.Embedding.Against == "" {
		report("embedding.against_value", "is a value of another release; add against: FILE.onnx, or leave it out")
	}
}

// Given is the name of the group of views that are listed, which is none.
const Given = "given"

// DataFormats are the names of the formats of data that a study may name, in the order of its schema.
func DataFormats() []string {
	f, _ := reflect.TypeFor[Data]().FieldByName("Format")
	return parseRules(f.Tag.Get("jsonschema")).enum
}

// What a margin may be beside numbers.
const (
	MarginAuto = "auto"
	MarginNone = "none"
)

// Around is the margin in rows and columns: zeros for none, and where the study says nothing of it or leaves it to the
// program. It is false for what is no margin.
func (d Data) Around() (margin [2]int, ok bool) {
	switch d.Margin {
	case "", MarginAuto, MarginNone:
		return margin, true
	}
	a, b, two := strings.Cut(d.Margin, "x")
	if !two {
		b = a
	}
	for i, t := range []string{a, b} {
		n, err := strconv.Atoi(t)
		if err != nil || n < 0 || n > 1<<16 {
			return [2]int{}, false
		}
		margin[i] = n
	}
	return margin, true
}

// Rendered tells whether the samples are made from the settings, so that there is no file of them.
func (d Data) Rendered() bool { return d.Format == "particles" || d.Format == "phantoms" }

// Source is where samples come from: files, or a list of views.
func (d Data) Source() string { return cmp.Or(d.Images, d.Views) }

// checkData reports settings of the data that do not go together.
func (s *Study) checkData(report func(path, message string)) {
	d := s.Data
	switch {
	case d.Rendered() && (d.Images != "" || d.Targets != ""):
		report("data.images", "format "+d.Format+" renders its pictures; leave images and targets out")
	case d.Views != "" && (d.Images != "" || d.Format != ""):
		report("data.views", "given views stand in place of images; leave images and format out, or the views")
	case !d.Rendered() && d.Images == "" && d.Views == "":
		report("data.images", "missing; add images: FILE or FOLDER")
	}
	if d.Views != "" {
		other := d
		other.Views, other.Images, other.Format = "", "", ""             // refused above
		other.Limit, other.Seed, other.Classes = 0, 0, nil               // which objects, and what classes are called
		other.Preset, other.Resize, other.Orientation = "", Resize{}, "" // of pictures
		if !reflect.ValueOf(other).IsZero() {
			report("data.views", "with given views only limit, seed, classes, preset, resize and orientation are "+
				"read; "+
				"leave the other keys of data out")
		}
	}
	switch g := s.Group.Name; {
	case d.Views != "" && g != "" && g != Given:
		report("group.name", fmt.Sprintf("%q, and data.views are given orbits without a group; write group: given, or "+
			"leave it out", clip(g)))
	case d.Views != "" && (s.Group.Mask != "" || len(s.Group.Window) > 0 || s.Group.Resample != "" ||
		s.Group.Border != ""):
		report("group", "given views are taken as they are, and nothing is moved; leave mask, window, resample and "+
			"border out")
	case d.Views != "" && s.Output.Action != "" && s.Output.Action != "invariant":
		report("output.action", fmt.Sprintf("%q, and invariance is all that can be claimed of given views: nobody "+
			"knows how an answer would have to move; leave it out", clip(s.Output.Action)))
	case d.Views == "" && g == Given:
		report("group.name", "given is for views of objects that are listed; add data: {views: FILE.csv}, or name a "+
			"group")
	}
	if n := len(s.Repeat.Seeds); n > 0 && s.Repeat.Times > 0 && n != s.Repeat.Times {
		report("repeat.seeds", fmt.Sprintf("%d of them, and repeat.times is %d; give one for each time, or leave "+
			"times "+
			"out", n, s.Repeat.Times))
	}
	for _, x := range []struct {
		name string
		of   any
	}{{"particles", d.Particles}, {"phantoms", d.Phantoms}} {
		if d.Format != x.name && !reflect.ValueOf(x.of).IsZero() {
			report("data."+x.name, "is for format "+x.name+"; set data.format: "+x.name+", or leave it out")
		}
	}
	if d.Split != "" && d.Format != "voc" && d.Format != "masks" {
		report("data.split",
			"is for formats voc and masks, whose folder has ImageSets; leave it out, or set data.format: voc or masks")
	}
	if m := d.Margin; m != "" {
		switch _, ok := d.Around(); {
		case !ok:
			report("data.margin", fmt.Sprintf("%q is no margin; expected auto, none, a number of pixels from 0 to "+
				"65536, or rows and columns such as 16x46", clip(m)))
		case m != MarginAuto && m != MarginNone && len(d.Resize.Crop) == 0 && d.Preset == "" && m != "0":
			report("data.margin", "is what photos have around data.resize.crop, and there is none; add "+
				"resize: {short: 256, crop: [224, 224]}, say auto, or leave it out")
		}
	}
	if len(d.Cut.Size) == 0 && !reflect.ValueOf(d.Cut).IsZero() {
		report("data.cut.size", "missing; add size: [HEIGHT, WIDTH] of the piece around each key object")
	}
	if a := d.Cut.Area; len(a) == 2 && a[0] >= a[1] {
		report("data.cut.area", fmt.Sprintf("%v; expected [smallest, largest]", a))
	}
}

func (s *Study) checkOutput(report func(path, message string)) {
	space := s.Output.Space
	if want := spaceOf(s.Task); space == "" {
		space = want
	} else if s.Task != "" && want != space {
		report("output.space",
			fmt.Sprintf("%q does not go with task %q, whose output is %q; change one of them or leave the task out",
				space, s.Task, want))
	}
	if d := s.Output.Decode; space != "scores" && (d == "softmax" || d == "probabilities") {
		report("output.decode",
			fmt.Sprintf("%q is for output space scores, but the space is %s; use raw or leave it out", d, space))
	}
	if d := s.Output.Decode; (d == "argmax" || d == "threshold") && space != "mask" {
		report("output.decode",
			fmt.Sprintf("%q is for output space mask, but the space is %s; leave it out, or set output.space: mask", d,
				space))
	}
	if given := len(s.Output.Threshold) > 0; given != (s.Output.Decode == "threshold") {
		if given {
			report("output.threshold", "is for decode: threshold; set that, or leave the number out")
		} else {
			report("output.threshold", "missing; add threshold: 0.5 where the model answers probabilities, 0 for "+
				"logits")
		}
	}
	of := s.Output.Type
	if of != (Type{}) && !typed(space) {
		report("output.type", fmt.Sprintf("only an output of space tensor or embedding has one, but the space is %s; "+
			"leave it out", space))
	}
	if of.Name != "" && of.Matrices != "" {
		report("output.type", fmt.Sprintf("the name %s and matrices; say one of them", of.Name))
	}
	if of.SHA256 != "" && of.Matrices == "" {
		report("output.type.sha256", "is of a file of matrices; name it with matrices, or leave the digest out")
	}
}

func (s *Study) checkOrbit(report func(path, message string)) {
	const orbit = "group.orbit"
	var set []string
	for _, k := range exclusive {
		if s.src.has(orbit + "." + k) {
			set = append(set, k)
		}
	}
	if len(set) > 1 {
		report(orbit+"."+set[1], fmt.Sprintf("%s cannot be combined; keep one of %s", strings.Join(set, " and "),
			strings.Join(exclusive, ", ")))
	}
	o := s.Group.Orbit
	total := 1.0
	for _, n := range o.Grid {
		total *= float64(n)
	}
	if total > maxGrid {
		report(orbit+".grid", fmt.Sprintf("%g elements; at most %d are possible", total, maxGrid))
	}
	for i, v := range o.Values {
		if len(v) == 0 || len(v) != len(o.Values[0]) {
			report(fmt.Sprintf("%s.values[%d]", orbit, i),
				fmt.Sprintf("%d numbers; every element needs the same number, one per axis of the group's chart",
					len(v)))
			break
		}
	}
	if o.Slices.Axis > 0 && math.Abs(math.Remainder(360, o.Slices.Axis)) > 1e-9 {
		report(orbit+".slices.axis", fmt.Sprintf("%g does not divide 360; take 5, 10 or 15 degrees between axes",
			o.Slices.Axis))
	}
	if o.Slices.Angle > 0 && math.Abs(math.Remainder(180, o.Slices.Angle)) > 1e-9 {
		report(orbit+".slices.angle", fmt.Sprintf("%g does not divide 180; take 10, 15 or 30 degrees between angles",
			o.Slices.Angle))
	}
	if r := o.Refine; len(r.At)+len(r.Radius)+len(r.Grid) > 0 &&
		(len(r.At) == 0 || len(r.Radius) != 0 && len(r.Radius) != len(r.At) || len(r.Grid) != 0 &&
			len(r.Grid) != len(r.At)) {
		report(orbit+".refine",
			fmt.Sprintf("%d, %d and %d numbers in at, radius and grid; expected at, and in radius and grid none or "+
				"as many", len(r.At), len(r.Radius), len(r.Grid)))
	}
	if o.Every > 1 && len(o.Refine.At) > 0 {
		report(orbit+".every", "thins elements out, and refine adds some; leave one of them out")
	}
	for i, n := range o.Refine.Grid {
		if n%2 == 0 {
			report(fmt.Sprintf("%s.refine.grid[%d]", orbit, i),
				fmt.Sprintf("%d is even; an odd number has the element itself in its middle", n))
		}
	}
	for i, v := range o.Range {
		if len(v) != 2 || v[0] >= v[1] {
			report(fmt.Sprintf("%s.range[%d]", orbit, i), fmt.Sprintf("%v; expected [min, max] with min below max", v))
		}
	}
}

// exclusive are the keys of an orbit of which at most one may be there.
var exclusive = []string{"grid", "all", "haar", "low_discrepancy", "lattice", "values", "slices"}

// OutputSpace is what the model returns: as the study says, else as goes with its task.
func (s *Study) OutputSpace() string {
	if s.Output.Space != "" {
		return s.Output.Space
	}
	return spaceOf(s.Task)
}

// typed tells whether the channels of an output carry a representation that a study may name.
func typed(space string) bool { return space == "tensor" || space == "embedding" }

// spaceOf is the output space that goes with a task.
func spaceOf(task string) string {
	switch task {
	case "segmentation":
		return "mask"
	case "detection":
		return "boxes"
	case "flow":
		return "field"
	case "image", "tensor":
		return task
	case "regression":
		return "rows"
	case "molecules":
		return "record"
	case "sequence":
		return "signal"
	default:
		return "scores"
	}
}

// Where is the place of a field in the file that the study was read from, such as "study.yaml:12:5". The path is that
// of the field, such as "group.name" or "metrics[1]". A field that the file leaves out has the place of what surrounds
// it, or the file's name; a study that was not read from a file has "study", a field that was changed since what
// [Study.Change] was told.
func (s *Study) Where(path string) string {
	if s.src == nil {
		return "study"
	}
	return s.src.where(path)
}

// Errorf is an error about a field, at its place in the file.
func (s *Study) Errorf(path, format string, args ...any) error {
	return &FieldError{Where: s.Where(path), Path: path, Message: fmt.Sprintf(format, args...)}
}

// Nothing stands in place of a path where labels or targets are not wanted.
const Nothing = "none"

// Paths are the fields that name the files and folders of the data and of the output's type, as far as they name one.
// Models and measures have paths of their own, and so has the group, whose file is read once.
func (s *Study) Paths() []*string {
	d := &s.Data
	all := []*string{&d.Images, &d.Views, &d.Labels, &d.Targets, &s.Output.Type.Matrices}
	return slices.DeleteFunc(all, func(p *string) bool { return *p == "" || *p == Nothing })
}

// Resolve makes the study's relative paths relative to dir, the folder of its file, instead.
func (s *Study) Resolve(dir string) {
	join := func(p string) string {
		if p == "" || filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, filepath.FromSlash(p))
	}
	for _, p := range s.Paths() {
		*p = join(*p)
	}
	s.Group.File = join(s.Group.File)
	s.Embedding.Against = join(s.Embedding.Against)
	s.Models = slices.Clone(s.Models)
	for i := range s.Models {
		m := &s.Models[i]
		m.ONNX, m.CA, m.Witness = join(m.ONNX), join(m.CA), join(m.Witness)
		if len(m.Program) > 0 {
			set(&m.Dir, ".")
			if m.Dir = join(m.Dir); m.Dir == "." {
				m.Dir = ""
			}
		}
	}
	s.Measures = slices.Clone(s.Measures)
	for i := range s.Measures {
		if m := &s.Measures[i]; len(m.Program) > 0 {
			set(&m.Dir, ".")
			if m.Dir = join(m.Dir); m.Dir == "." {
				m.Dir = ""
			}
		}
	}
}

// Defaults fills in what the study leaves out and what follows from the study alone. It does not guess what depends on
// files, models or groups: the data's format and layout, the input's layout and channels, the name of the output, the
// elements and the metrics stay as they are. Defaults of defaults change nothing.
func Defaults(s *Study) {
	set(&s.Version, StudyVersion)
	set(&s.Input.Space, "image")
	set(&s.Input.Scale, 1)
	if len(s.Input.Mean) == 0 {
		s.Input.Mean = []float64{0}
	}
	if len(s.Input.Std) == 0 {
		s.Input.Std = []float64{1}
	}
	set(&s.Output.Space, spaceOf(s.Task))
	if s.Output.Space == "scores" {
		set(&s.Output.Decode, "softmax")
		set(&s.Output.Action, "invariant")
	}
	if s.Output.Space != "mask" { // whether a mask comes as labels or as scores of classes is seen in the model
		set(&s.Output.Decode, "raw")
	}
	set(&s.Output.Action, "same")
	if typed(s.Output.Space) {
		set(&s.Output.Type, Type{Name: "trivial"})
	}
	if s.Data.Views == "" { // else nothing is moved
		set(&s.Group.Resample, "bilinear")
		set(&s.Group.Border, "zero")
		set(&s.Output.Kernel, s.Group.Resample)
	}
	set(&s.Audit.Preset, "production")
	set(&s.Audit.Confidence, PresetConfidence)
	if s.Audit.Contract != (Contract{}) {
		set(&s.Audit.Contract.Confidence, PresetConfidence)
	}
}

// PresetConfidence is that of intervals and contracts of a study that says none.
const PresetConfidence = 0.95

// set gives *p the value v unless it has one.
func set[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// source remembers where things stand in a study file.
type source struct {
	file string
	at   map[string]position
	// who gave a field another value than the file, by path
	said map[string]string
}

type position struct{ line, column int }

func (s *source) has(path string) bool {
	if s == nil {
		return false
	}
	_, ok := s.at[path]
	return ok
}

// err joins what a reader found, in the order of the file.
func (r *reader) err() error {
	slices.SortStableFunc(r.found, func(a, b located) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	var errs []error
	for _, f := range r.found {
		errs = append(errs, f.FieldError)
	}
	if r.more > 0 {
		errs = append(errs, fmt.Errorf("%s: %d more errors", r.src.file, r.more))
	}
	return errors.Join(errs...)
}
