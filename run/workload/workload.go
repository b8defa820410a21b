// Package workload turns a study into work: it opens data and models, chooses actions and elements, and fixes
// everything that decides the numbers in a job.
package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/views"
	"nero/internal/spell"
	"nero/measure/consensus"
	"nero/measure/metric"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/provider"
	"nero/model/engine/remote"
	"nero/model/onnx"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/preset"
	"nero/symmetry/action"
	"nero/symmetry/define"
	"nero/symmetry/group"
	"nero/symmetry/orbit"

	"github.com/goccy/go-yaml"
)

// Numbers is raised whenever a change of the code changes the numbers of a run, so that old shards are not mixed with
// new.
const Numbers = 1

// Options are what a study does not say.
type Options struct {
	// Engine runs the models.
	Engine engine.Engine
	// OpenEngine opens the engine if Engine is nil. It is called once all is checked that needs none: opening one may
	// take seconds, and a mistake in the study should not have to wait for it.
	// It gets where models are to run, in lists that differ.
	OpenEngine func(context.Context, []provider.List) (engine.Engine, error)
	// Providers are where models in files run, whatever the study says; nil for what it says.
	Providers []string
	// Rules is the table of actions that the program is built with.
	Rules action.Table
	// Formats are the formats of data that the program is built with; nil for [Formats].
	Formats dataset.Formats
	// Presets are the ways to feed photos that a study may name; nil for [preset.Builtin].
	Presets preset.List
	// Metrics are those that the program is built with; nil for [metric.Builtin].
	Metrics metric.List
	// Groups are those that a study may name beside those of package catalog.
	Groups []group.Group
	// Kinds are those of values beside [space.Kinds]; models read and answer their numbers as they lie.
	Kinds space.List
	// Codec feeds models with kinds of values, and reads kinds from them, that package decode does not know. It returns
	// nil for what it leaves to that package; nil for all.
	Codec func(sig onnx.Signature, in space.Spec, out job.Output) (decode.Codec, error)
	// Retry says how calls to endpoints are repeated; zero values are the defaults of [remote.Retry].
	Retry remote.Retry
	// Getenv looks up the environment variables that hold tokens and headers of endpoints; nil for those of the
	// program.
	Getenv func(string) (string, bool)
	// NoEndpoint says why a model behind an endpoint is not asked, nil if it may be; nil for all. A study that somebody
	// else wrote could send what the environment holds to wherever it likes.
	NoEndpoint func(job.Model) error
	// Live is the way to the program that started this one, whose functions are the models live://NAME; nil where there
	// is none.
	Live remote.Live
	// Program says why the program that is a model is not run, nil if it may be; nil where none may run, as for studies
	// that somebody else wrote.
	Program func(job.Model) error
	// Judge says why the program that computes a metric is not run, nil if it may be; nil where none may run.
	Judge func(job.Measure) error
	// Start runs the programs of groups that users define by one, in a folder; nil where none may run, as for studies
	// that somebody else wrote.
	Start func(dir string) define.Starter
	// Say writes an option as users do: by the name of its flag, its value and that as it stands in a study, "" for
	// none; nil for flags.
	Say func(name, value, literal string) string
	// TimeLimit is how long a model may take for one answer, whatever the study says of it; below 0 for any time, 0 for
	// what the study says.
	TimeLimit time.Duration
	// MostTime bounds what the study says of the time of an answer, and stands where it says nothing; 0 for no bound.
	MostTime time.Duration
	// KeepGoing turns samples that cannot be used into rows with an error.
	KeepGoing bool
	// Job is what was made of the study before, nil for nothing: files of the data are believed to hold what it says
	// until they are read, and samples are not tried out. A file that holds something else is then a
	// [dataset.ChangedError].
	Job *job.Job
	// Hashing is told that so many files of the data get their digests, where they are many. It returns whom to tell of
	// every further ones, from several goroutines at once, and of the end; nil for nobody.
	Hashing func(total int) (done func(n int), ended func())
	// Apart reads given views one by one: each file is a sample of its own, called by its path.
	Apart bool
	// Alone says that no answer is held against one of another model, so that they may have other shapes.
	Alone bool
	// Audit opens the models for an audit: scores stay as the model returns them and metrics are not looked at.
	Audit bool
}

// limit is how long a model may take for one answer; 0 where nobody says, below 0 for any time.
func (o Options) limit(m job.Model) time.Duration {
	said := time.Duration(m.Timeout * float64(time.Second))
	switch {
	case o.TimeLimit != 0:
		return o.TimeLimit
	case o.MostTime > 0 && (said == 0 || said > o.MostTime):
		return o.MostTime
	}
	return said
}

// Workload is a study, opened.
type Workload struct {
	// with defaults filled in
	Study *job.Study
	Job   *job.Job
	// of the job
	Hash string
	Eval *eval.Evaluation
	// all samples, before the choice
	Data dataset.Dataset
	// Classes are the names of the classes, nil for numbers.
	Classes []string
	// Parameters is the number of parameters of each model, by name; 0 where the file does not tell.
	Parameters map[string]int64
	// Cost is how many multiply-adds each model takes for one sample; 0 where the graph does not tell.
	Cost map[string]int64
	// Notes are choices that were made for the user: sentences to show.
	Notes []string

	group group.Group
	// names of the sets of rows that the fields of the input speak of
	sets []string
	// beside those of package space
	kinds  space.List
	engine engine.Engine
	places places
	// every model that is no file
	elsewhere []elsewhere
	// the first model, where it is no file and was opened before the others
	first elsewhere
	// or why it could not be opened
	wrong error
	// borderGiven says that the study names the border rule: a window may then leave the picture.
	borderGiven bool
	// silent says that the study wants no margin.
	silent bool
	// which samples of the data are on the side that the study is limited to; nil for all
	onSide []bool
	// Scored says that the study itself calls the outputs scores of classes: by the output's space or decoding, by the
	// task, or by labels.
	Scored bool
	// which files of the data are held against the digests of a job when they are read
	held []bool
	// heads are what the heads of photos among some files say; nil where nobody has looked
	heads func(names []string) []dataset.Head
	// by the name of the model
	opened map[string]*loaded
}

// Group is the group of the study.
func (w *Workload) Group() group.Group { return w.group }

// Close releases the models.
func (w *Workload) Close() error {
	var errs []error
	for _, m := range w.Eval.Models {
		if m.Pool != nil {
			errs = append(errs, m.Pool.Close())
		}
	}
	for _, r := range w.elsewhere {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Open opens the study. It changes s: defaults are filled in. Errors name the field of the study that they come from.
func Open(ctx context.Context, s *job.Study, o Options) (*Workload, error) {
	if err := viewed(s); err != nil {
		return nil, err
	}
	fed, err := feed(s, o)
	if err != nil {
		return nil, err
	}
	var resized string
	var first elsewhere
	var wrong error
	if o.Job == nil { // else it is decided
		resized, first, wrong = usualSize(ctx, s, o)
	}
	w, in, err := openInput(s, o)
	if err != nil {
		if first != nil {
			_ = first.Close() // the error says more
		}
		return nil, err
	}
	w.wrong = wrong
	if w.first = first; first != nil {
		w.elsewhere = append(w.elsewhere, first)
	}
	for _, n := range []string{fed, resized} {
		if n != "" {
			w.note("%s", n)
		}
	}
	ok := false
	defer func() {
		if !ok {
			_ = w.Close() // the first error is the one to report
		}
	}()
	var files []file
	var out action.Action
	// Every step needs what those before it have found. It is also the order of the errors that a user sees: first what
	// the study alone shows, then what the samples show, last what needs an engine, which may take seconds to open.
	for _, step := range []func() error{
		func() (err error) { files, err = w.readModels(ctx, in.seen, o); return err }, // what models read and return
		func() (err error) { out, err = w.outAction(in, o); return err },              // how the group moves that
		func() error { w.warn(in); return w.plan(in.act, out) },                       // the elements
		func() error { return w.within(in) },                                          // which keep to the pictures
		func() (err error) { w.Eval.Target, err = w.target(in); return err },          // what answers are held against
		func() error { return w.sized(in) },                                           // pixel by pixel
		func() error { return w.measure(ctx, o) },                                     // and how
		w.choose,     // the samples
		w.answerable, // whose classes the models know
		func() error { w.Eval.KeepGoing = o.KeepGoing; return w.readable(o) },
		func() error { return w.start(ctx, files, &o) }, // the engine
		func() error { return w.openModels(ctx, files, in.seen, o) },
		w.Eval.Prepare,
		func() error { return w.probe(ctx, o) }, // the first answers
		func() error { return w.fix(o) },        // the job, of all of the above
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	ok = true
	return w, nil
}

// inputBytes is the space of inputs that are files, handed to endpoints as they are.
const inputBytes = "bytes"

// viewed says of given views what follows from their being a list: there is no group, and answers do not move. A
// reference of samples that a group moves is refused: that is the identity.
func viewed(s *job.Study) error {
	if s.Data.Views == "" {
		if s.Repeat.Reference != "" {
			return s.Errorf("repeat.reference", "%q is read by nero repeat alone where a group moves samples: here "+
				"the "+
				"identity is what others are compared with; leave it out, or name given views with data.views, of "+
				"which "+
				"one may be the reference", s.Repeat.Reference)
		}
		if s.Input.Space == inputBytes {
			return s.Errorf("input.space", "bytes are those of given views; add data: {views: FILE.csv}")
		}
		return nil
	}
	s.Group.Name, s.Output.Action = job.Given, "invariant"
	return nil
}

// givenViews is the definition of a group that is a list of views.
type givenViews struct {
	Name  string   `yaml:"name"`
	Views []string `yaml:"views"`
}

// inOrder are the views that come before others: those of a definition that is there already, else the reference.
func inOrder(s *job.Study) []string {
	var d givenViews
	if s.Group.Definition != "" && yaml.Unmarshal([]byte(s.Group.Definition), &d) == nil {
		return d.Views
	}
	return []string{s.Repeat.Reference}
}

// given makes a group's definition of the names of views, so that a run knows them without the list.
func (w *Workload) given(names []string) error {
	if r := w.Study.Repeat.Reference; names != nil && r != "" && !slices.Contains(names, r) {
		return w.Study.Errorf("repeat.reference", "%q is no view; there are %s", r, strings.Join(names, ", "))
	}
	if names == nil || w.Study.Group.Definition != "" {
		return nil
	}
	b, err := yaml.Marshal(givenViews{job.Given, names})
	w.Study.Group.Definition = string(b)
	return err
}

// warn says which elements exp does not reach, and what turning pictures that are not square costs.
func (w *Workload) warn(in *input) {
	if text := unreached(w.group); text != "" {
		w.note("%s", text)
	}
	if h, wd := in.size(); len(w.Study.Group.Window) == 0 && h > 0 && h != wd && turns(w.group) {
		w.note("the pictures are %d x %d pixels (width x height): turning them cuts off what leaves the frame, and "+
			"no kernel brings it back; "+
			"crop a square with group.window: [%d, %d], or use a group without quarter turns, such as C2", wd, h,
			min(h, wd), min(h, wd))
	}
}

// unreached is [group.Unreached] but for mirrors and inversions: those are a switch of the chart, and visited as such.
func unreached(g group.Group) string {
	if f, ok := g.(group.Factored); ok {
		var out []string
		for _, part := range f.Factors() {
			if text := unreached(part); text != "" {
				out = append(out, text)
			}
		}
		return strings.Join(out, "; ")
	}
	if slices.ContainsFunc(g.Chart(), group.Axis.Switch) {
		return ""
	}
	return group.Unreached(g)
}

// answerable says what classes there are, if the models' file tells, and refuses labels that they do not know.
func (w *Workload) answerable() error {
	if names := decode.AnswerNames(w.Eval.Models[0].Codec); names != nil {
		w.Classes = names
	}
	switch out := w.Eval.Models[0].Codec.Out(); {
	case isScores(out.Kind) && len(out.Shape) == 1 && out.Shape[0] > 0:
		return w.classes(out.Shape[0])
	case isBoxes(out):
		return w.boxClasses()
	}
	return w.maskClasses()
}

// input is how the samples of a study are moved.
type input struct {
	// of a picture: channels, height, width; frames first if it has some; nothing of samples that are no pictures
	sample space.Spec
	// what a model is fed: a moved sample
	seen space.Spec
	act  action.Action
}

// size is height and width of a sample, 0 if it is no picture.
func (in *input) size() (h, w int) {
	if len(in.sample.Shape) < 2 {
		return 0, 0
	}
	return in.sample.Shape[len(in.sample.Shape)-2], in.sample.Shape[len(in.sample.Shape)-1]
}

// openInput opens the data of a study and finds how the group moves them: all that can be said without the models.
func openInput(s *job.Study, o Options) (*Workload, *input, error) {
	w := &Workload{
		Study: s, Parameters: map[string]int64{}, Cost: map[string]int64{}, opened: map[string]*loaded{},
		kinds: o.Kinds,
	}
	margin, err := w.around(o)
	if err != nil {
		return nil, nil, err
	}
	if err := w.openData(o); err != nil {
		return nil, nil, err
	}
	w.framed(margin)
	w.usualGroup()
	natural := w.Data.Info().Space
	t, _, _, _, pictures := w.Data.Info().Space.Pictures()
	if !pictures {
		in, err := w.openFields(natural, o)
		return w, in, err
	}
	if s.Group.Mask != "" && len(s.Group.Window) == 0 {
		w.Data = within(w.Data, action.Region(s.Group.Mask))
		w.Eval.Data = w.Data
	}
	given := s.Input.Scale != 0
	plain := ""
	if len(s.Input.Mean) == 0 && len(s.Input.Std) == 0 {
		plain = ", and no mean or deviation is taken out"
	}
	w.scale()
	if err := w.parseGroup(space.Spec{}, o); err != nil {
		return nil, nil, err
	}
	g := w.group
	w.unread(o)
	w.borderGiven = s.Group.Border != "" || w.Data.Info().Margin != [2]int{}
	w.Scored = w.scored()
	if _, torus := g.(group.Torus); torus && s.Group.Border == "" {
		s.Group.Border = string(action.Circular) // rolls are an action under no other rule
	}
	answer(s)
	if len(s.Output.Fields) > 1 {
		return nil, nil, s.Errorf("output.fields[1]",
			"models of pictures are asked for one output; leave the others out, or audit them one by one")
	}
	if s.Input.Space == "" && t > 0 {
		s.Input.Space = string(natural.Kind)
	}
	job.Defaults(s)
	if !given && s.Input.Scale != 1 {
		w.note("pixel values are divided by %g, the range of the files%s; set input.scale, input.mean and input.std "+
			"(%s, %s, %s) to change it", s.Input.Scale, plain, o.say("scale", "", ""), o.say("mean", "", ""),
			o.say("std", "", ""))
	}
	spec := space.Spec{Name: "input", Kind: natural.Kind, Shape: natural.Shape}
	if want := string(spec.Kind); s.Input.Space != want {
		return nil, nil, s.Errorf("input.space", "%s, but the samples are of space %s; leave it out", s.Input.Space,
			want)
	}
	act, err := w.moved(o, spec)
	if err != nil {
		return nil, nil, s.Errorf("group", "%v", err)
	}
	seen := spec
	if len(s.Group.Window) == 2 {
		n := len(spec.Shape)
		seen.Shape = append(slices.Clone(spec.Shape[:n-2]), s.Group.Window...)
	}
	return w, &input{sample: spec, seen: seen, act: act}, nil
}

// moved is how samples are moved: by a rule, or, where views are listed, not at all.
func (w *Workload) moved(o Options, spec space.Spec) (action.Action, error) {
	if group.IsLawless(w.group) {
		return action.NewViews(w.group)
	}
	return o.Rules.For(w.group, spec, w.options())
}

// usualGroup names the group of a study that names none.
func (w *Workload) usualGroup() {
	if g := &w.Study.Group; g.Name == "" {
		g.Name = job.DefaultGroup
		w.note("no group given: %s, rotations about the centre", g.Name)
	}
}

// Inputs opens the data of a study and the action on them, and leaves its models alone: enough to show what a model
// would be fed. The result has no job, no metrics and no models, and the output of its plan is taken to be invariant.
// It changes s like [Open].
func Inputs(s *job.Study, o Options) (*Workload, error) {
	if err := viewed(s); err != nil {
		return nil, err
	}
	if _, err := feed(s, o); err != nil {
		return nil, err
	}
	w, in, err := openInput(s, o)
	if err != nil {
		return nil, err
	}
	if err := w.plan(in.act, action.Trivial{G: w.group}); err != nil {
		return nil, err
	}
	if err := w.choose(); err != nil {
		return nil, err
	}
	w.Eval.KeepGoing = o.KeepGoing
	return w, nil
}

// plan chooses the elements.
func (w *Workload) plan(in, out action.Action) error {
	plan, err := orbit.NewPlan(w.group, w.orbit(), in, out, w.Study.Seed)
	if err != nil {
		return w.Study.Errorf("group.orbit", "%v", err)
	}
	w.Eval.Plan = plan
	if t, ok := out.(*action.Tensor); ok && w.Study.Output.Type.Matrices != "" {
		for _, g := range plan.Elements {
			if err := t.Knows(g); err != nil {
				return w.Study.Errorf("output.type.matrices", "%s: %v", w.Study.Output.Type.Matrices, err)
			}
		}
	}
	return nil
}

// orbit is the choice of the elements.
func (w *Workload) orbit() orbit.Spec {
	or := w.Study.Group.Orbit
	spec := orbit.Spec{
		Grid: or.Grid, All: or.All, Haar: or.Haar, LowDiscrepancy: or.LowDiscrepancy, Lattice: or.Lattice,
		Values: or.Values, Range: or.Range, Every: or.Every,
	}
	if s := or.Slices; s.Axis > 0 {
		spec.Slices = &orbit.Slices{Planes: s.Planes, Axis: s.Axis, Angle: s.Angle}
	}
	if r := or.Refine; len(r.At) > 0 {
		spec.Refine = &orbit.Refine{At: r.At, Radius: r.Radius, Grid: r.Grid}
	}
	return spec
}

// turns reports whether the group turns pictures by other angles than half turns.
func turns(g group.Group) bool {
	p, ok := g.(group.Planar)
	if !ok {
		return false
	}
	elements, _, err := group.Preset(g, nil)
	if err != nil {
		return false
	}
	for _, e := range elements {
		if a, _ := p.Affine(e); a[0][1] != 0 || a[1][0] != 0 {
			return true
		}
	}
	return false
}

func (w *Workload) note(format string, a ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, a...))
}

func (w *Workload) openData(o Options) error {
	d := &w.Study.Data
	ignore := d.Labels == job.Nothing
	var ds dataset.Dataset
	var err error
	if o.Job != nil {
		ds, err = w.trusting(o)
	} else {
		ds, err = w.reading(o)
	}
	if err != nil {
		return w.Study.Errorf("data", "%v", w.fitting(err))
	}
	if err := w.given(views.Views(ds)); err != nil {
		return err
	}
	info := ds.Info()
	if info.Turned > 0 {
		d.Orientation = "shown" // said, so that numbers of before photos were turned are not mixed with those
	}
	w.Notes = append(w.Notes, info.Notes...)
	w.Data, w.Classes = ds, info.Classes
	if ignore {
		w.Data, w.Classes = unlabeled(ds), nil
	}
	if d.Targets == job.Nothing && info.Target.Kind != "" {
		w.Data = untargeted(w.Data)
	}
	w.Eval = &eval.Evaluation{Data: w.Data, Places: []string{d.Source(), d.Labels, d.Targets}}
	return nil
}

// scale fills in the divisor of the pixel values where the study leaves it out: the range of integer files, 1 for
// floats.
func (w *Workload) scale() {
	if w.Study.Input.Scale != 0 {
		return
	}
	w.Study.Input.Scale = cmp.Or(w.Data.Info().Max, 1)
}

// isScores reports whether values are one number per class.
func isScores(k space.Kind) bool { return k == space.KindScores }

// isBoxes reports whether values are sets of boxes.
func isBoxes(s space.Spec) bool { return s.Kind == space.KindBoxes }

// outAction chooses how the group moves the output of every model.
func (w *Workload) outAction(in *input, o Options) (action.Action, error) {
	s := w.Study
	out := w.Eval.Models[0].Codec.Out()
	if s.Output.Action == "invariant" {
		if len(s.Group.Window) > 0 {
			w.note("a crop window shows other content at its border for every element: what is tested is stability " +
				"to reframing, and an error need not be the model's")
		}
		return action.Trivial{G: w.group}, nil
	}
	if isBoxes(out) {
		return w.boxAction(o)
	}
	if len(s.Group.Window) > 0 && !isSignal(out) {
		return nil, s.Errorf("group.window",
			"an output of space %s cannot be moved like the input when a window brings in new content at its border: "+
				"the entering strip has nothing to be compared with; "+
				"leave the window out, or claim that the output is invariant", out.Kind)
	}
	if isScores(out.Kind) {
		return nil, s.Errorf("output.action",
			"scores have no positions that %s could move; say that they stay, with --invariant (action: invariant), "+
				"or give output.space image, mask or tensor",
			w.group.Name())
	}
	rules := o.Rules
	if s.Output.Type.Matrices != "" {
		rep, err := w.matrices()
		if err != nil {
			return nil, s.Errorf("output.type.matrices", "%v", err)
		}
		rules = append(action.Table{action.TensorRule(out.Name, rep)}, rules...)
	}
	a, err := rules.For(w.group, out, action.Options{
		Kernel: action.Kernel(s.Output.Kernel), Border: action.Border(s.Group.Border), AtFirst: s.Output.Field.AtFirst,
		Stride: w.stride(in, out), Region: action.Region(s.Group.Mask),
	})
	if err != nil {
		at := "output.action"
		if len(s.Output.Fields) > 0 {
			at = "output.fields"
		}
		return nil, s.Errorf(at, "%v", err)
	}
	for _, m := range w.Eval.Models[1:] {
		if o.Alone {
			break
		}
		if got := m.Codec.Out(); got.Kind != out.Kind || !fits(got.Shape, out.Shape) {
			return nil, s.Errorf("models", "%s returns %v and %s returns %v: models of one study return the same shape",
				w.Eval.Models[0].Name, out.Shape, m.Name, got.Shape)
		}
	}
	return a, nil
}

// fits reports whether two shapes can be one; lengths below 0 are any.
func fits(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && a[i] >= 0 && b[i] >= 0 {
			return false
		}
	}
	return true
}

// stride is how many samples of the input signal lie between two numbers of an output signal, 0 where nothing says it.
func (w *Workload) stride(in *input, out space.Spec) float64 {
	if f := w.Study.Input.Recurrent.Frame; f > 0 {
		return float64(f)
	}
	if isSignal(in.seen) && isSignal(out) && len(out.Shape) == 2 && out.Shape[1] > 0 &&
		in.seen.Shape[1]%out.Shape[1] == 0 {
		return float64(in.seen.Shape[1] / out.Shape[1])
	}
	return 0
}

// measure takes over how answers are compared. An audit chooses its own metrics.
func (w *Workload) measure(ctx context.Context, o Options) error {
	c := w.Study.Consensus
	w.Eval.Averaging = consensus.Options{Center: c.Center, Weak: c.Weak}
	w.Eval.LeaveOut = c.LeaveOut
	if o.Audit {
		return nil
	}
	return w.metrics(ctx, o)
}

// metrics looks up the metrics of the study, or chooses those that output and labels allow.
func (w *Workload) metrics(ctx context.Context, o Options) error {
	known, err := w.Study.KnownMetrics(o.Metrics)
	if err != nil {
		return err
	}
	if err := w.measures(ctx, known, o); err != nil {
		return err
	}
	out := w.Eval.Models[0].Codec.Out()
	labeled := w.Data.Labels() != nil
	placed := !isScores(out.Kind) // what is compared is a target, not a class
	if placed {
		labeled = w.Eval.Target != nil
	}
	_, _, _, _, pictures := w.Data.Info().Space.Pictures()
	plain := !pictures
	normalized := w.Study.Output.Decode != "raw"
	if len(w.Study.Metrics) == 0 {
		w.Study.Metrics = w.usual(known, out, metric.Given{
			Labeled: labeled, Normalized: normalized, Keyed: len(w.Study.Data.Cut.Size) > 0,
		})
		for _, f := range w.Study.Formulas {
			w.Study.Metrics = append(w.Study.Metrics, f.Name)
		}
		for _, f := range w.Study.Measures {
			w.Study.Metrics = append(w.Study.Metrics, f.Name)
		}
	}
	if err := w.families(known, out); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, name := range w.Study.Metrics {
		at := fmt.Sprintf("metrics[%d]", i)
		m, err := known.Find(name)
		switch {
		case err != nil:
			plain, ref, against := strings.Cut(name, "@")
			if _, err2 := known.Find(plain); err2 == nil {
				return w.Study.Errorf(at, "%v", err) // the reference is the mistake
			}
			dot := strings.LastIndex(plain, ".") + 1 // a field stands before it
			if near, ok := spell.Nearest(plain[dot:], metricNames(known)); ok {
				near = plain[:dot] + near
				if against {
					near += "@" + ref
				}
				return w.Study.Errorf(at, "unknown metric %q; did you mean %q? All are listed by: nero metrics", name,
					near)
			}
			if strings.Contains(err.Error(), "unknown metric") {
				return w.Study.Errorf(at, "unknown metric %q; all are listed by: nero metrics", name)
			}
			return w.Study.Errorf(at, "%v", err)
		case seen[name]:
			return w.Study.Errorf(at, "%s is listed twice", name)
		case m.Port != "" && !slices.Contains(names(out.Fields), m.Port):
			return w.Study.Errorf(at, "the models return no field %q; they return %s", m.Port,
				strings.Join(names(out.Fields), ", "))
		case m.Port != "" && !m.Understands(out.Fields[slices.Index(names(out.Fields), m.Port)].Kind):
			return w.Study.Errorf(at,
				"%s compares %s, and the field %s is of kind %s; choose others, listed by: nero metrics", name,
				words(m.Spaces), m.Port, out.Fields[slices.Index(names(out.Fields), m.Port)].Kind)
		case m.Port == "" && out.IsRecord() && !m.Understands(out.Kind):
			return w.Study.Errorf(at, "the models return several fields; say which one, such as %s.%s",
				out.Fields[0].Name, name)
		case m.Port == "" && !m.Understands(out.Kind):
			return w.Study.Errorf(at, "%s compares %s, the models return %s; choose others, listed by: nero metrics",
				name, words(m.Spaces), out.Kind)
		case m.Normalized && !normalized:
			return w.Study.Errorf(at,
				"%s needs probabilities, and output.decode: raw takes the model's numbers as they are; set "+
					"output.decode: softmax or probabilities, or leave the metric out", name)
		case m.Any && m.Ref == metric.Target && !labeled:
			return w.Study.Errorf(at, "%s compares with the target, and the data has none that goes with the "+
				"answers; say "+
				"against: self or consensus, or give the data targets", name)
		case m.Ref == metric.Target && !labeled && plain && !isScores(out.Kind):
			return w.Study.Errorf(at,
				"%s compares with targets, and the data has none that go with it; use %s@self or %s@consensus, which "+
					"need none", name, name, name)
		case m.Ref == metric.Target && !labeled && placed:
			return w.Study.Errorf(at,
				"%s needs targets of space %s and the data has none; give data.targets, or use %s@consensus or "+
					"%s@self, which need none", name, out.Kind, name, name)
		case m.Ref == metric.Target && !labeled:
			return w.Study.Errorf(at,
				"%s needs labels and the data has none; give data.labels, or use label-free metrics such as "+
					"relative, agreement", name)
		}
		if m.Ref == metric.Consensus && brings(w.group) && signals(out) {
			return w.Study.Errorf(at,
				"a consensus of signals needs answers that know all times, and shifts of %s bring in others; use "+
					"@self, or a group that moves around, such as Roll", w.group.Name())
		}
		seen[name] = true
		w.Eval.Metrics = append(w.Eval.Metrics, m)
	}
	return nil
}

// scored reports whether the study says that the outputs are scores of classes, before defaults say so.
func (w *Workload) scored() bool {
	o := w.Study.Output
	return isScores(space.Kind(o.Space)) || o.Decode == "softmax" || o.Decode == "probabilities" ||
		w.Study.Task != "" || w.Data.Labels() != nil
}

// words joins the names of spaces.
func words(kinds []space.Kind) string {
	s := make([]string, len(kinds))
	for i, k := range kinds {
		s[i] = string(k)
	}
	return strings.Join(s, ", ")
}

func metricNames(known metric.List) []string {
	var names []string
	for _, m := range known {
		names = append(names, m.Name)
	}
	return names
}

// choose picks the samples.
func (w *Workload) choose() error {
	if w.Study.Data.Balance != "" && w.Data.Labels() == nil {
		return w.Study.Errorf("data.balance",
			"the data has no labels to balance by; give data.labels, or leave data.balance out")
	}
	side, err := w.side()
	if err != nil {
		return err
	}
	chosen, all, err := w.some(side)
	if err == nil && (side != nil || !all) {
		w.Eval.Samples = chosen
	}
	return err
}

// some are those of the samples of a side, by their places in the data, that limit and balance choose among them; nil
// for all samples. all says that nothing was left out or put into another order.
func (w *Workload) some(side []int) (chosen []int, all bool, err error) {
	d, n, labels := w.Study.Data, w.Data.Len(), w.Data.Labels()
	if side != nil {
		n, labels = len(side), at(labels, side)
	}
	if d.Limit == 0 && d.Balance == "" {
		return side, true, nil
	}
	if chosen, err = dataset.Select(labels, n, d.Limit, d.Balance == "label", d.Seed); err != nil {
		return nil, false, w.Study.Errorf("data.limit", "%v", err)
	}
	all = len(chosen) == n && d.Balance == ""
	if side != nil {
		chosen = at(side, chosen)
	}
	return chosen, all, nil
}

// numbered says which class each label is.
func numbered(names []string) string {
	const most = 20
	t := make([]string, 0, most+1)
	for i, n := range names {
		if i == most {
			t = append(t, "…")
			break
		}
		t = append(t, fmt.Sprintf("%d = %s", i, n))
	}
	return strings.Join(t, ", ")
}

// classes says that the models have n classes, and holds the labels of the chosen samples against them if a metric
// reads labels. Labels that only cut the data into slices may be of another kind than the classes. An audit has no
// metrics, and says how many answers are right: it names the labels as well.
func (w *Workload) classes(n int) error {
	w.Eval.Classes = n
	reads := slices.ContainsFunc(w.Eval.Metrics, func(m *metric.Metric) bool { return m.Ref == metric.Target })
	if !reads && len(w.Eval.Metrics) > 0 {
		return nil
	}
	if k := len(w.Classes); k > 0 {
		w.note("labels: %s", numbered(w.Classes))
		if k != n {
			_, file := where(0, w.Study.Models[0])
			w.note("WARNING: the data has %d named classes and the models have %d (%s): names are numbered in "+
				"alphabetical order, so a missing one shifts the others; "+
				"if that is so, name the folders by number, or give data.labels as a CSV with numbers", k, n, file)
		}
	}
	if !reads {
		return nil // an audit, which has no metrics: labels that it cannot use take no check from it
	}
	data := w.Data
	if w.Eval.Samples != nil {
		var err error
		if data, err = dataset.Subset(w.Data, w.Eval.Samples); err != nil {
			return err
		}
	}
	if err := dataset.CheckLabels(data, n); err != nil {
		_, file := where(0, w.Study.Models[0])
		return w.Study.Errorf("data.labels", "%v; or choose metrics that need no labels. The classes are counted in "+
			"the answer of %s", err, file)
	}
	return nil
}

// fix writes down what decides the numbers.
func (w *Workload) fix(o Options) error {
	e := w.Eval
	info := o.Engine.Info()
	j := w.Job
	j.Numbers, j.Study = Numbers, placed(*w.Study)
	j.Samples, j.Count, j.Classes = e.Samples, e.Count(), e.Classes
	var err error
	if j.Files, err = w.digests(o); err != nil {
		return err
	}
	j.Names = job.NamesDigest(w.Data.IDs(), w.Data.Labels())
	j.Pixels = e.Pixels
	j.Elements, j.Exact, j.Weights, j.Measure = e.Plan.Elements, e.Plan.Exact(), e.Plan.Weights, e.Plan.Measure
	for _, m := range e.Metrics {
		j.Metrics = append(j.Metrics, m.Name)
	}
	if j.Engine = (job.Engine{Name: info.Name, Version: info.Version, Provider: info.Provider}); w.allAway() {
		j.Engine = remoteEngine // whichever way it is reached
	}
	j.Shard = job.ShardSize(j.Count, len(j.Elements), len(j.Models))
	j.Seed = w.Study.Seed
	if o.Job != nil {
		j.SettleAs(o.Job.Format)
	} else {
		j.Settle()
	}
	if j.Table != nil {
		w.headed(o)
	}
	if o.Audit {
		return nil
	}
	if err := j.Validate(); err != nil {
		return err
	}
	w.Hash, err = j.Hash()
	return err
}

// probe runs every model once on the first sample that can be used, so that a model that cannot take the data says so
// before anything is written.
func (w *Workload) probe(ctx context.Context, o Options) error {
	e := w.Eval
	s, err := e.First()
	if err != nil {
		return err
	}
	x, err := e.Plan.In.Apply(w.group.Identity(), s.Value)
	if err != nil {
		return err
	}
	for i, m := range e.Models {
		ys, err := m.Predict(ctx, []space.Value{x}, 1)
		if err != nil {
			if eval.Fatal(err) {
				g := group.Format(w.group, w.group.Identity())
				return &eval.SampleError{ID: s.ID, Err: fmt.Errorf("element %s: %w", g, err)}
			}
			return err
		}
		if err := w.try(ctx, s, ys[0]); err != nil {
			return err
		}
		if !isScores(ys[0].Kind()) {
			continue
		}
		n := ys[0].Dims()[0]
		if i > 0 && n != e.Classes && !o.Alone {
			return w.Study.Errorf("models",
				"%s returns %d classes and %s %d: models of one study have the same classes", e.Models[0].Name,
				e.Classes, m.Name, n)
		}
		if e.Classes == 0 { // the file leaves the number free
			if err := w.classes(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// readable reads the first samples of the run, so that a broken one is found before anything is written. Reading them
// all could take as long as the run; those beyond are found when their turn comes.
func (w *Workload) readable(o Options) error {
	if w.Eval.KeepGoing || o.Job != nil {
		return nil
	}
	for i := range min(w.Eval.Count(), 1000) {
		if _, err := w.Eval.At(i); err != nil {
			return w.Study.Errorf("data", "%v", err)
		}
	}
	return nil
}

// decodeSpec is the output of the study as the codec wants it.
func (w *Workload) decodeSpec(in space.Spec, audit bool) decode.OutputSpec {
	out := w.Study.Output
	d := out.Decode
	if audit && out.Space == "scores" && strings.EqualFold(d, "softmax") {
		d = "logits" // errors are judged on the model's own numbers
	}
	if len(out.Fields) == 1 {
		if f := out.Fields[0]; f.Port != "" {
			out.Name = f.Port
		} else if out.Name == "" {
			out.Name = f.Name
		}
		out.Type = job.Type{Name: out.Fields[0].Type}
	}
	spec := decode.OutputSpec{
		Name: out.Name, Decode: d, Type: channels(out.Type),
		Boxes: boxesSpec(out.Boxes), Field: fieldSpec(out.Field), Kinds: w.kinds,
	}
	if len(out.Threshold) == 1 {
		spec.Threshold = out.Threshold[0]
	}
	if r := action.Region(w.Study.Group.Mask); r != action.Whole {
		spec.Within = r.Within
	}
	if k := space.Kind(out.Space); decode.Answers(k, w.kinds) {
		spec.Space = k
	}
	if n := len(in.Shape); n >= 2 {
		spec.Window = [2]int(in.Shape[n-2:])
	}
	return spec
}

// placed is the study with absolute paths, so that the run folder can find its data again from anywhere. Paths do not
// count in the hash of a job.
func placed(s job.Study) job.Study {
	for _, p := range s.Paths() {
		*p = absolute(*p)
	}
	s.Group.File = ""     // what it says counts, and is in the definition
	s.Audit = job.Audit{} // thresholds change no number of a run: another one must not keep it from being resumed
	s.Models = slices.Clone(s.Models)
	for i := range s.Models {
		m := &s.Models[i]
		m.ONNX, m.CA = absolute(m.ONNX), absolute(m.CA)
		if len(m.Program) > 0 {
			m.Dir = absolute(cmp.Or(m.Dir, "."))
		}
	}
	s.Measures = slices.Clone(s.Measures)
	for i := range s.Measures {
		if m := &s.Measures[i]; len(m.Program) > 0 {
			m.Dir = absolute(cmp.Or(m.Dir, "."))
		}
	}
	return s
}

// slashed is a path that leads from some folder as every system reads it; one from a root is of its system anyway.
func slashed(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.ToSlash(path)
}

// absolute is the path from the root; the path itself if there is none or the current folder is unknown.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if a, err := filepath.Abs(path); err == nil {
		return a
	}
	return path
}
