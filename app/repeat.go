package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/views"
	"nero/internal/disk"
	"nero/measure/aggregate"
	"nero/model/engine/remote"
	"nero/present/sheet"
	"nero/present/words"
	"nero/repeat"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// RepeatOptions say how models are asked the same again. How often, and what counts as the same, the study says under
// the key repeat.
type RepeatOptions struct {
	Engine Engine
	// Workers is how many questions are under way at once at most, at least 1. No number depends on it.
	Workers int
	// Only names the models of the study that are asked; empty means all.
	Only []string
	// After is a repeat.json whose stream of objects goes on; empty for none.
	After string
	// Out is a folder for the report in every form; empty for none.
	Out string
}

// RepeatResult is what was found.
type RepeatResult struct{ Report *repeat.Report }

// RepeatFormats are the forms of the report, the preset first.
func RepeatFormats() []string { return sheet.Names(repeat.Forms()) }

// RepeatHelp are the rules that make texts equal, a line for each.
func RepeatHelp() string { return repeat.RulesHelp() }

// RepeatSchema is the schema of repeat.json.
func (a *App) RepeatSchema() ([]byte, error) { return repeat.Schema() }

// CheckRepeatFormat says whether there is such a form of the report.
func (a *App) CheckRepeatFormat(format string) error {
	if _, err := sheet.Find(repeat.Forms(), format); err != nil {
		return fmt.Errorf("%s: %w", a.option("format"), err)
	}
	return nil
}

// Write writes the report in one form.
func (r *RepeatResult) Write(w io.Writer, format string) error {
	return writeForm(w, repeat.Forms(), format, r.Report)
}

// Good reports whether all that is claimed is shown.
func (r *RepeatResult) Good() bool { return r.Report.Good() }

const (
	// repeatTimes is how often each input is asked where nobody says.
	repeatTimes = 5
	// repeatThreshold is the largest effect of a view that is none.
	repeatThreshold = 0.05
	// mostRepeated is how many samples of data are asked about where nobody says.
	mostRepeated = 200
	// seedParameter is that which an endpoint is handed the seed of a round as.
	seedParameter = "seed"
	// mostOfView is the longest file of a view.
	mostOfView = 64 << 20
)

// interview is what repeat needs of a study: who is asked, and how a question is put.
type interview struct {
	// what is asked, as a digest: inputs, and how they are fed
	what      string
	things    []*repeat.Thing
	views     []string
	reference int
	models    []*witness
	close     func() error
}

// witness is a model that is asked.
type witness struct {
	name, place, digest string
	// what computes the answers of a file; "" where they come from elsewhere
	engine  string
	drawing bool
	// at once at most; 0 for as many as there are workers
	atOnce int
	ask    func(context.Context, repeat.Question) (repeat.Answer, error)
}

// Repeat asks the models of a study the same several times, about given views of objects or about samples moved by the
// elements of a group, and says whether they answer the same. The error is for what ends all of it; that a model does
// not answer is a result, unless it never does.
func (a *App) Repeat(ctx context.Context, s *job.Study, o RepeatOptions) (*RepeatResult, error) {
	if err := a.someWorkers(o.Workers); err != nil {
		return nil, err
	}
	if err := only(s, o.Only); err != nil {
		return nil, err
	}
	how, rules, err := a.repeatOptions(s, o)
	if err != nil {
		return nil, err
	}
	if o.Out != "" {
		if err := writable(o.Out); err != nil {
			return nil, err
		}
		if err := ownFolder(o.Out, ours()); err != nil {
			return nil, err
		}
	}
	var w *interview
	switch texts := s.Input.Space == inputBytes; {
	case s.Data.Views == "" && texts:
		err = s.Errorf("input.space", "bytes are those of given views; add data: {views: FILE.csv}")
	case s.Data.Views == "":
		moved := *s
		moved.Repeat.Reference = "" // an element, which is chosen below
		w, err = a.askElements(ctx, &moved, o)
	default:
		w, err = a.askViews(ctx, s, o, rules, texts)
	}
	if err != nil {
		return nil, err
	}
	defer w.close() //nolint:errcheck // nothing is lost
	if name := s.Repeat.Reference; name != "" {
		if w.reference = slices.Index(w.views, name); w.reference < 0 {
			return nil, s.Errorf("repeat.reference", "%q is no view; there are %s", name, few(w.views))
		}
	}
	how.Reference = w.reference
	if err := a.follows(w, how, o.After); err != nil {
		return nil, err
	}
	if o.Out == "" {
		return a.interviewed(ctx, w, how, o, nil)
	}
	var r *RepeatResult
	err = fillFolder(o.Out, ours(), nil, func() error {
		kept, err := repeat.OpenNotebook(filepath.Join(o.Out, keptAnswers), w.digest(s, how))
		if err != nil {
			return err
		}
		defer kept.Close() //nolint:errcheck // what is written is written
		if n := kept.Len(); n > 0 {
			a.notef("%s are there from before, and are not asked again", words.Plural(n, "answer", "answers"))
		}
		if r, err = a.interviewed(ctx, w, how, o, kept); err != nil {
			if ctx.Err() != nil {
				a.notef("what was answered is kept in %s, and the same command goes on there", o.Out)
			}
			return err
		}
		if err := writeForms(o.Out, repeat.Base, repeat.Forms(), r.Report); err != nil {
			return err
		}
		return kept.Remove()
	})
	return r, err
}

// follows says why no stream of an earlier report goes on, and tells what is to be known of those that do.
func (a *App) follows(w *interview, how repeat.Options, after string) error {
	if how.Before == nil {
		return nil
	}
	var asked []*repeat.Subject
	for _, m := range w.models {
		asked = append(asked, &repeat.Subject{Model: m.name, Digest: m.digest, Things: w.things, Views: w.views})
	}
	if err := how.Before.Follows(how, asked); err != nil {
		return fmt.Errorf("%s: %w", a.option("after"), err)
	}
	for _, m := range w.models {
		switch before := how.Before.Of(m.name); {
		case before == nil:
			a.notef("%s says nothing of %s, whose contract begins with these objects", after, m.name)
		case before.Place != m.place:
			a.notef("%s was asked at %s in %s, and is asked at %s now: its contract goes on as that of one model",
				m.name,
				cmp.Or(before.Place, "no endpoint"), after, cmp.Or(m.place, "no endpoint"))
		}
	}
	return nil
}

// keptAnswers is the file of answers in a folder whose report is not finished.
const keptAnswers = "answers.jsonl"

// ours is a folder of a report, finished or not.
func ours() marks { return anyOf(append(filesOf(repeat.Base, repeat.Forms()), keptAnswers)...) }

// digest is one of all that decides answers.
func (w *interview) digest(s *job.Study, how repeat.Options) string {
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "%q %d %d %q %d %q\n", w.what, how.Times, how.Seed, how.Rules, s.Repeat.Seeds,
		s.Repeat.Bust))
	for _, t := range w.things {
		h.Write(fmt.Appendf(nil, "%q %v\n", t.Name, t.Has))
	}
	h.Write(fmt.Appendf(nil, "%q\n", w.views))
	for _, m := range w.models {
		h.Write(fmt.Appendf(nil, "%q %q %q %q\n", m.name, m.place, m.digest, m.engine))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// interviewed asks all models and judges their answers.
func (a *App) interviewed(ctx context.Context, w *interview, how repeat.Options, o RepeatOptions,
	kept *repeat.Notebook,
) (*RepeatResult, error) {
	var models []*repeat.Model
	for _, m := range w.models {
		found, err := a.repeatModel(ctx, m, w, how, o, kept)
		if err != nil {
			return nil, err
		}
		models = append(models, found)
	}
	return &RepeatResult{repeat.NewReport(models, w.views, how)}, nil
}

// inputBytes is the space of inputs that are handed on as they are.
const inputBytes = "bytes"

// few lists names, not too many.
func few(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// repeatOptions are what a study says of repeats, with the usual for what it leaves out.
func (a *App) repeatOptions(s *job.Study, o RepeatOptions) (repeat.Options, *repeat.Normaliser, error) {
	r := s.Repeat
	how := repeat.Options{
		Times: cmp.Or(r.Times, len(r.Seeds), repeatTimes), Seed: s.Seed,
		Confidence: cmp.Or(s.Audit.Confidence, job.PresetConfidence), Threshold: cmp.Or(r.Excess, repeatThreshold),
		Rules: r.Normalise, Seeds: r.Seeds, Bust: r.Bust,
	}
	if r.Bust == seedParameter && len(r.Seeds) > 0 {
		return how, nil, s.Errorf("repeat.bust", "%s is the parameter of repeat.seeds, and no request would have its "+
			"seed; name another one", seedParameter)
	}
	rules, err := repeat.ParseRules(r.Normalise)
	if err != nil {
		return how, nil, s.Errorf("repeat.normalise", "%v", err)
	}
	if c := s.Audit.Contract; c != (job.Contract{}) {
		how.Contract = &aggregate.Contract{
			Tau: c.Error, P: c.Rate, Confidence: cmp.Or(c.Confidence, how.Confidence),
		}
		if err := how.Contract.Validate(); err != nil {
			return how, nil, s.Errorf("audit.contract", "%v", err)
		}
	}
	if o.After == "" {
		return how, rules, nil
	}
	if how.Before, err = readRepeat(o.After); err != nil {
		return how, nil, fmt.Errorf("%s: %w", a.option("after"), err)
	}
	return how, rules, nil
}

// readRepeat reads an earlier report.
func readRepeat(name string) (*repeat.Report, error) {
	want := "the path of a repeat.json that nero repeat -o wrote"
	if i, err := os.Stat(name); err == nil && i.IsDir() {
		inside := filepath.Join(name, repeat.Base+".json")
		if _, err := os.Stat(inside); err == nil {
			want = "the report in it, " + inside
		}
		return nil, fmt.Errorf("%s is a folder; want %s", name, want)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w; want %s", err, want)
	}
	return repeat.ReadReport(name, b)
}

// repeatModel asks one model and judges its answers.
func (a *App) repeatModel(ctx context.Context, m *witness, w *interview, how repeat.Options,
	o RepeatOptions, kept *repeat.Notebook,
) (*repeat.Model, error) {
	step := begin(a.tell, TaskRepeat, m.name, "questions")
	defer step.end()
	subject := &repeat.Subject{
		Model: m.name, Place: m.place, Digest: m.digest, Engine: m.engine, Things: w.things, Views: w.views, Ask: m.ask,
		Drawing: m.drawing, Notebook: kept, Began: step.size, Step: step.step,
	}
	workers := o.Workers
	if m.atOnce > 0 { // waiting for a server takes no processor
		workers = m.atOnce
	}
	answers, err := subject.Collect(ctx, how.Times, workers, how.Seed)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	found := repeat.Judge(subject, answers, how)
	if first := found.Outcomes[0]; first.Name != repeat.Answered.Name {
		return nil, fmt.Errorf("%s: none of %d questions was answered; the first, %s of %s: %s", m.name,
			found.Questions, first.View, first.Object, first.Why)
	}
	return found, nil
}

// askViews reads given views. Those that are texts, and all with input.space bytes, go to endpoints as they are; files
// of pictures are fed to models as those of a folder are.
func (a *App) askViews(ctx context.Context, s *job.Study, o RepeatOptions, rules *repeat.Normaliser, texts bool) (
	*interview, error,
) {
	set, some, err := readViews(s)
	if err != nil {
		return nil, err
	}
	texts = texts || some
	dir := filepath.Dir(s.Data.Views)
	if !texts {
		if len(rules.Texts) > 0 {
			return nil, s.Errorf("repeat.normalise", "rules are for texts, and the views are files of pictures; leave "+
				"it out, or say input: {space: bytes} for an endpoint that reads files as they are")
		}
		if len(s.Repeat.Seeds) > 0 || s.Repeat.Bust != "" {
			return nil, s.Errorf("repeat", "seeds and bust are parameters of endpoints that read texts, and the views "+
				"are files of pictures; leave them out, or say input: {space: bytes}")
		}
		return a.askFiles(ctx, s, o, set, dir)
	}
	w := &interview{views: set.Views}
	if w.what, err = inputs(s.Data.Views, set, dir); err != nil {
		return nil, err
	}
	if w.things, err = thingsOf(s, set, rules.Read); err != nil {
		return nil, err
	}
	var open []*remote.Text
	w.close = func() error {
		var errs []error
		for _, t := range open {
			errs = append(errs, t.Close())
		}
		return errors.Join(errs...)
	}
	for i, m := range s.Models {
		t, err := workload.ConnectText(ctx, m, s.Output.Name, a.options(o.Engine))
		if err != nil {
			_ = w.close() // the first error is the one to report
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, s.Errorf(fmt.Sprintf("models[%d]", i), "%v", err)
		}
		open = append(open, t)
		if len(rules.Texts) > 0 && !t.Wordy() {
			_ = w.close() // likewise
			return nil, s.Errorf("repeat.normalise", "rules are for texts, and %s answers numbers; leave it out",
				m.Name)
		}
		if how := s.Repeat.Excess; how >= 1 && t.Wordy() && !rules.Numbers() {
			_ = w.close() // likewise
			return nil, s.Errorf("repeat.excess", "%g, and texts are equal or not: no view differs by more than 1; "+
				"want "+
				"a number below 1, or the rule number", how)
		}
		digest := "" // of a server nobody knows which model it runs
		if len(m.Program) > 0 {
			if digest, err = t.Identity(); err != nil {
				_ = w.close() // likewise
				return nil, err
			}
		}
		q := &textual{a: a, of: t, set: set, dir: dir, rules: rules, said: s.Repeat}
		w.models = append(w.models, &witness{
			name: m.Name, place: t.Place(), digest: digest, drawing: true, atOnce: t.Concurrency(), ask: q.ask,
		})
	}
	return w, nil
}

// readViews reads given views, and says whether some are texts. Files that are named are there.
func readViews(s *job.Study) (set *views.Set, texts bool, err error) {
	b, err := disk.Bounded(s.Data.Views, views.MaxBytes)
	if err != nil {
		return nil, false, s.Errorf("data.views", "%v", err)
	}
	if set, err = views.Read(s.Data.Views, b); err != nil {
		return nil, false, err
	}
	if n := s.Data.Limit; n > 0 && n < len(set.Objects) {
		chosen, err := dataset.Select(nil, len(set.Objects), n, false, s.Data.Seed)
		if err != nil {
			return nil, false, s.Errorf("data.limit", "%v", err)
		}
		all := set.Objects
		set.Objects = nil
		for _, i := range chosen {
			set.Objects = append(set.Objects, all[i])
		}
	}
	dir := filepath.Dir(s.Data.Views)
	for _, t := range set.Objects {
		for _, name := range set.Views {
			in, ok := t.Views[name]
			if !ok || in.File == "" {
				texts = texts || ok
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(in.File))); err != nil || info.IsDir() {
				return nil, false, fmt.Errorf("%s:%d: there is no file %s; the paths of views count from the folder "+
					"of the list", s.Data.Views, in.Line, strconv.Quote(in.File))
			}
		}
	}
	return set, texts, nil
}

// inputs is a digest of a list and of the files that it names.
func inputs(list string, set *views.Set, dir string) (string, error) {
	h := sha256.New()
	b, err := disk.Bounded(list, views.MaxBytes)
	if err != nil {
		return "", err
	}
	h.Write(b)
	for _, t := range set.Objects {
		for _, name := range set.Views {
			in := t.Views[name]
			if in.File == "" {
				continue
			}
			b, err := disk.Bounded(filepath.Join(dir, filepath.FromSlash(in.File)), mostOfView)
			if err != nil {
				return "", err
			}
			h.Write(fmt.Appendf(nil, "%d ", len(b)))
			h.Write(b)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// thingsOf are the objects of a list, with labels as answers are read.
func thingsOf(s *job.Study, set *views.Set, read func(string) repeat.Answer) ([]*repeat.Thing, error) {
	var all []*repeat.Thing
	asked := map[string]*views.Object{}
	for _, t := range set.Objects {
		x := &repeat.Thing{Name: t.Name, Labelled: t.Labelled, Environment: t.Environment}
		if t.Labelled {
			label := read(t.Label)
			if label.Outcome != repeat.Answered {
				return nil, fmt.Errorf("%s: the label of %s: %s; labels are read as answers are: write them "+
					"as the model answers, or a rule that fits both", s.Data.Views, strconv.Quote(t.Name), label.Why)
			}
			x.Label = label.Text
		}
		for _, name := range set.Views {
			in, has := t.Views[name]
			x.Has = append(x.Has, has)
			x.Inputs = append(x.Inputs, in.File+"\x00"+in.Text)
		}
		key := fmt.Sprintf("%q %v", x.Inputs, x.Has)
		if before := asked[key]; before != nil {
			return nil, fmt.Errorf("%s:%d: %s asks the same as %s at every view, and one question under two names is "+
				"one "+
				"object: leave one of them out; how often each view is asked is said by repeat.times", s.Data.Views,
				lineOf(t), strconv.Quote(t.Name), strconv.Quote(before.Name))
		}
		asked[key] = t
		all = append(all, x)
	}
	return all, nil
}

// lineOf is where an object stands first in its list.
func lineOf(o *views.Object) int {
	first := 0
	for _, in := range o.Views {
		if first == 0 || in.Line < first {
			first = in.Line
		}
	}
	return first
}

// textual asks a model that reads texts.
type textual struct {
	a     *App
	of    *remote.Text
	set   *views.Set
	dir   string
	rules *repeat.Normaliser
	said  job.Repeat
}

func (t *textual) ask(ctx context.Context, q repeat.Question) (repeat.Answer, error) {
	in := t.set.Objects[q.Object].Views[t.set.Views[q.View]]
	input := []byte(in.Text)
	if in.File != "" {
		var err error
		if input, err = disk.Bounded(filepath.Join(t.dir, filepath.FromSlash(in.File)), mostOfView); err != nil {
			return repeat.Answer{}, err
		}
	}
	with := map[string]any{}
	if len(t.said.Seeds) > 0 {
		with[seedParameter] = t.said.Seeds[q.Repeat]
	}
	if t.said.Bust != "" {
		begun := int64(0) // what was kept of an earlier time is no answer of now
		if t.a.Now != nil {
			begun = t.a.Now().UnixNano()
		}
		with[t.said.Bust] = fmt.Sprintf("%d-%d-%d-%d", begun, q.Object, q.View, q.Repeat)
	}
	said, err := t.of.Ask(ctx, input, with)
	switch failed, ok := errors.AsType[*remote.Error](err); {
	case err == nil && said.Numbers != nil:
		return repeat.OfNumbers(said.Numbers), nil
	case err == nil:
		return t.rules.Read(said.Text), nil
	case ok:
		return repeat.Answer{Outcome: outcomeOf(failed), Why: failed.Error()}, nil
	}
	return repeat.Answer{}, err
}

// outcomeOf is what a question came to that has no answer.
func outcomeOf(err *remote.Error) *repeat.Outcome {
	const tooMany, tooLate = 429, 408 // as HTTP counts
	switch {
	case err.Code() == tooMany:
		return repeat.RateLimited
	case err.Code() == tooLate, err.Late():
		return repeat.Late
	case err.Unavailable():
		return repeat.Unreachable
	}
	return repeat.Refused
}

// openPictures opens models and the files of given views as a folder of pictures, or as a list of arrays, and says
// where in it each file stands.
func (a *App) openPictures(ctx context.Context, s *job.Study, how workload.Options, set *views.Set, dir string) (
	w *workload.Workload, at map[string]int, err error,
) {
	folder := *s
	how.Audit = true
	folder.Repeat = job.Repeat{} // is asked here
	folder.Data.Limit = 0        // those of the list are chosen
	if how.Apart = set.Arrays(); !how.Apart {
		folder.Data.Views, folder.Data.Images, folder.Data.Labels = "", dir, job.Nothing
		folder.Group = job.Group{Name: "Trivial"}
	}
	if w, err = a.open(ctx, &folder, how); err != nil {
		return nil, nil, err
	}
	at = map[string]int{}
	for i, id := range w.Data.IDs() {
		at[id] = i
	}
	for _, t := range set.Objects {
		for name, in := range t.Views {
			if _, ok := at[in.File]; !ok {
				_ = w.Close() // the error says more
				return nil, nil, fmt.Errorf("%s:%d: the view %s of %s, %s, is not one of the inputs that are read; "+
					"want pictures such as PNG or JPEG, or arrays (.npy) of all of them, or input: {space: bytes} for "+
					"an endpoint that reads files as they are", s.Data.Views, in.Line, strconv.Quote(name),
					strconv.Quote(t.Name), in.File)
			}
		}
	}
	return w, at, nil
}

// askFiles feeds models with files of pictures, as those of a folder are fed.
func (a *App) askFiles(ctx context.Context, s *job.Study, o RepeatOptions, set *views.Set, dir string) (
	*interview, error,
) {
	w, at, err := a.openPictures(ctx, s, a.options(o.Engine), set, dir)
	if err != nil {
		return nil, err
	}
	out := &interview{what: w.Hash, views: set.Views, close: w.Close}
	for _, t := range set.Objects { // which files are one object
		for _, name := range set.Views {
			out.what += fmt.Sprintf(" %q", t.Views[name].File)
		}
	}
	if out.things, err = thingsOf(s, set, (&repeat.Normaliser{}).Read); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	for _, m := range w.Eval.Models {
		out.models = append(out.models, numeric(w, m, s.Data.Classes, func(q repeat.Question) (space.Value, error) {
			x, err := w.Eval.Of(at[set.Objects[q.Object].Views[set.Views[q.View]].File])
			return x.Value, err
		}, nil, nil))
	}
	return out, nil
}

// common finds which numbers of an answer are there at every element: what an element takes out of the frame does not
// come back, and what stands in its place is no answer. It returns nil for all of them.
func (a *App) common(w *workload.Workload, model int) func(space.Value) ([]bool, error) {
	if _, stays := w.Eval.Plan.Out.(action.Trivial); stays {
		return nil
	}
	var mu sync.Mutex
	known := map[string][]bool{}
	return func(y space.Value) ([]bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if there, ok := known[y.Form()]; ok {
			return there, nil
		}
		there := slices.Repeat([]bool{true}, len(y.Numbers()))
		ones, err := y.With(slices.Repeat([]float64{1}, len(there)))
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil // boxes and labels have no numbers that could be ones
		}
		if err != nil {
			return nil, err
		}
		for _, g := range w.Eval.Plan.Elements {
			z, err := w.Eval.Plan.Out.Apply(g, ones)
			if err == nil {
				z, err = w.Eval.Back(model, g, z)
			}
			if err != nil {
				return nil, err
			}
			const rounding = 1e-6
			for k, v := range z.Numbers() {
				if k < len(there) && !(math.Abs(v-1) <= rounding) {
					there[k] = false
				}
			}
		}
		n := 0
		for _, ok := range there {
			if ok {
				n++
			}
		}
		switch {
		case n == 0:
			return nil, w.Study.Errorf("group.orbit", "no number of an answer stays in the frame at every element; "+
				"leave those out that move furthest")
		case n < len(there):
			a.notef("%d of the %d numbers of an answer stay in the frame at every element, and they are compared", n,
				len(there))
		}
		known[y.Form()] = there
		return there, nil
	}
}

// numeric asks a model with one input at a time. Answers are moved back where there is a way, and of their numbers
// those are compared that common tells; nil for none and all.
func numeric(w *workload.Workload, m *eval.Model, classes []string, input func(repeat.Question) (space.Value, error),
	back func(repeat.Question, space.Value) (space.Value, error), common func(space.Value) ([]bool, error),
) *witness {
	i := slices.IndexFunc(w.Study.Models, func(x job.Model) bool { return x.Name == m.Name })
	said := w.Study.Models[i]
	digest := ""
	if i := slices.IndexFunc(w.Job.Models, func(x job.ModelRef) bool { return x.Name == m.Name }); i >= 0 {
		digest = w.Job.Models[i].SHA256
	}
	by := ""
	if said.IsFile() {
		by = bodyOf(w.EngineOf(m.Name))
	}
	return &witness{
		name: m.Name, place: said.Endpoint, digest: digest, engine: by,
		drawing: said.Endpoint != "" || len(said.Program) > 0,
		ask: func(ctx context.Context, q repeat.Question) (repeat.Answer, error) {
			x, err := input(q)
			if err != nil {
				return repeat.Answer{}, err
			}
			y, err := m.Predict(ctx, []space.Value{x}, 1)
			if failed, ok := errors.AsType[*remote.Error](err); ok {
				return repeat.Answer{Outcome: outcomeOf(failed), Why: failed.Error()}, nil
			}
			if err != nil {
				return repeat.Answer{}, err
			}
			z := y[0]
			if back != nil {
				if z, err = back(q, z); err != nil {
					return repeat.Answer{}, err
				}
			}
			numbers := z.Numbers()
			if l, ok := z.(space.Linear); ok {
				numbers = l.Output()
			}
			numbers = slices.Clone(numbers)
			if common != nil {
				there, err := common(z)
				if err != nil {
					return repeat.Answer{}, err
				}
				if len(there) == len(numbers) {
					kept := numbers[:0]
					for k, x := range numbers {
						if there[k] {
							kept = append(kept, x)
						}
					}
					numbers = kept
				}
			}
			a := repeat.OfNumbers(numbers)
			if t, ok := z.(interface{ Top() int }); ok && a.Outcome == repeat.Answered {
				a.Text, a.Numbers = strconv.Itoa(t.Top()), nil
				if t.Top() >= 0 && t.Top() < len(classes) {
					a.Text = classes[t.Top()]
				}
			}
			return a, nil
		},
	}
}

// askElements moves the samples of a study by the elements of its group: each element is a view.
func (a *App) askElements(ctx context.Context, s *job.Study, o RepeatOptions) (*interview, error) {
	if len(s.Repeat.Normalise)+len(s.Repeat.Seeds) > 0 || s.Repeat.Bust != "" {
		return nil, s.Errorf("repeat", "normalise, seeds and bust are for endpoints that read texts, of data.views; "+
			"leave them out")
	}
	w, err := a.openAudit(ctx, s, o.Engine)
	if err != nil {
		return nil, err
	}
	out := &interview{what: w.Hash, close: w.Close, reference: max(w.Eval.Plan.Identity(), 0)}
	samples := w.Eval.Samples
	if n := w.Data.Len(); samples == nil && n > mostRepeated && s.Data.Limit == 0 {
		if samples, err = dataset.Select(w.Data.Labels(), n, mostRepeated, false, s.Data.Seed); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		a.notef("%d of %d samples are taken, drawn at random; %s takes others", mostRepeated, n, a.option("limit"))
	}
	if samples == nil {
		for i := range w.Data.Len() {
			samples = append(samples, i)
		}
	}
	for _, g := range w.Eval.Plan.Elements {
		out.views = append(out.views, group.Format(w.Group(), g))
	}
	ids, labels := w.Data.IDs(), w.Data.Labels()
	for _, k := range samples {
		t := &repeat.Thing{Name: ids[k], Has: slices.Repeat([]bool{true}, len(out.views))}
		if labels != nil && labels[k] >= 0 {
			t.Labelled, t.Label = true, strconv.Itoa(labels[k])
			if labels[k] < len(w.Classes) {
				t.Label = w.Classes[labels[k]]
			}
		}
		out.things = append(out.things, t)
	}
	for i, m := range w.Eval.Models {
		out.models = append(out.models, numeric(w, m, w.Classes, func(q repeat.Question) (space.Value, error) {
			x, err := w.Eval.Of(samples[q.Object])
			if err != nil {
				return nil, err
			}
			return w.Eval.Plan.In.Apply(w.Eval.Plan.Elements[q.View], x.Value)
		}, func(q repeat.Question, y space.Value) (space.Value, error) {
			return w.Eval.Back(i, w.Eval.Plan.Elements[q.View], y)
		}, a.common(w, i)))
	}
	return out, nil
}
