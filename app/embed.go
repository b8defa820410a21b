package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/split"
	"nero/encoder"
	"nero/internal/disk"
	"nero/measure/agreement"
	"nero/measure/embedding"
	"nero/model/interior"
	"nero/present/sheet"
	"nero/present/words"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/orbit"

	"gonum.org/v1/gonum/mat"
)

// EmbedOptions say how features are looked at.
type EmbedOptions struct {
	Engine Engine
	// Workers is how many goroutines run the models, at least 1. No number depends on it.
	Workers int
	// Only names the models of the study that are asked; empty means all.
	Only []string
	// Value is the value of the graph whose numbers are the features, by its name or by that of the node that makes it;
	// empty for what the study says, or else the first output.
	Value string
	// What are the parts that are asked beside how far features stay: split, generators; empty for what the study says,
	// or else both.
	What []string
	// Against is another release, an ONNX file; empty for what the study says, or else none.
	Against string
	// AgainstValue is the value of that release that is read, as Value is; empty for what the study says, or else for
	// the name that is read of the models.
	AgainstValue string
	// Samples is how many are asked at most, on all sides together; 0 for 512.
	Samples int
	// Elements is how many elements are asked at most, the identity among them; 0 for 25.
	Elements int
	// Format is that of the report, one of the names of [encoder.Forms]; empty for text.
	Format string
	// Out is a file for the report, in the form that its ending says; empty for none.
	Out string
}

const (
	// embedSamples is how many samples are asked where nobody says, embedElements how many elements.
	embedSamples, embedElements = 512, 25
	// mostFeatures is how many numbers of features are held at once.
	mostFeatures = 1 << 27
	// embedSplit and embedGenerators are the parts that may be left out.
	embedSplit, embedGenerators = "split", "generators"
)

// EmbedFormats are the forms of the report, the preset first.
func EmbedFormats() []string { return sheet.Names(encoder.Forms()) }

// EmbedSchema is the schema of embedding.json.
func (a *App) EmbedSchema() ([]byte, error) { return encoder.Schema() }

// EmbedResult is what was found of features.
type EmbedResult struct{ Report *encoder.Report }

// Write writes the report in one form.
func (r *EmbedResult) Write(w io.Writer, format string) error {
	return writeForm(w, encoder.Forms(), format, r.Report)
}

// Good reports whether features hold something, keep the object, and can be read by the other release where one was
// named.
func (r *EmbedResult) Good() bool { return r.Report.Good() }

// check holds options against what there is, before anything is opened.
func (o *EmbedOptions) check(a *App, s *job.Study) (*sheet.Form[*encoder.Report], error) {
	if _, err := sheet.Find(encoder.Forms(), cmp.Or(o.Format, encoder.Forms()[0].Name)); err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("format"), err)
	}
	if err := a.someWorkers(o.Workers); err != nil {
		return nil, err
	}
	if o.Samples < 0 || o.Elements < 0 {
		return nil, fmt.Errorf("%s and %s are at least 0, for which there is a preset", a.option("samples"),
			a.option("elements"))
	}
	for _, w := range o.What {
		if w != embedSplit && w != embedGenerators {
			near := ""
			if s, ok := words.Suggest(w, []string{embedSplit, embedGenerators}); ok {
				near = "; did you mean " + s + "?"
			}
			return nil, fmt.Errorf("%s: %q is no part; want %s or %s%s", a.option("what"), w, embedSplit,
				embedGenerators, near)
		}
	}
	if o.Against != "" {
		if !Models(o.Against) {
			return nil, fmt.Errorf("%s: %s: want a model file (.onnx)", a.option("against"), o.Against)
		}
		if err := a.Present(o.Against); err != nil {
			return nil, err
		}
	}
	if o.AgainstValue != "" && o.Against == "" {
		return nil, fmt.Errorf("%s: %s is a value of another release; name its file with %s, or leave the value out",
			a.option("against-value"), o.AgainstValue, a.option("against"))
	}
	if o.Out == "" {
		return nil, nil //nolint:nilnil // none is a good answer
	}
	form, err := sheet.Of(encoder.Forms(), o.Out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("out"), err)
	}
	return form, a.reportFile(s, o.Out)
}

// Embed asks how the features of models move when their inputs do. The error is for what ends all of it; that features
// collapse, or that another release cannot read the index, is a result.
func (a *App) Embed(ctx context.Context, s *job.Study, o EmbedOptions) (*EmbedResult, error) {
	if s.Data.Views != "" {
		return a.embedViews(ctx, s, o)
	}
	e := s.Embedding
	if e.Sequence.Views != "" {
		return a.embedSequences(ctx, s, o)
	}
	flag := o.Against != ""
	o.Value, o.Against = cmp.Or(o.Value, e.Value), cmp.Or(o.Against, e.Against)
	o.AgainstValue = cmp.Or(o.AgainstValue, e.AgainstValue)
	if len(o.What) == 0 {
		o.What = e.What
	}
	if len(o.What) == 0 {
		o.What = []string{embedSplit, embedGenerators}
	}
	form, err := o.check(a, s)
	if err != nil {
		return nil, err
	}
	if err := only(s, o.Only); err != nil {
		return nil, err
	}
	names := modelNames(s)
	other := ""
	if o.Against != "" {
		other = job.NameOf(o.Against)
		for slices.Contains(names, other) {
			other += ", the other release"
		}
		s.Models = append(slices.Clone(s.Models), job.Model{Name: other, ONNX: o.Against})
	}
	how := a.alone(o.Engine)
	how.Audit = true
	w, err := a.open(ctx, s, how)
	if err != nil {
		return nil, a.ofRelease(err, s, other, flag)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	f, err := newFeatures(a, w, o)
	if err != nil {
		return nil, err
	}
	r := f.report()
	for _, m := range w.Eval.Models {
		if m.Name == other {
			continue
		}
		found, err := f.model(ctx, m, other)
		if err != nil {
			return nil, err
		}
		r.Models = append(r.Models, found)
	}
	return concluded(r, form, o.Out)
}

// alone opens models of which each is asked by itself: features of two may have other widths.
func (a *App) alone(e Engine) workload.Options {
	how := a.options(e)
	how.Alone = true
	return how
}

// ofRelease is an error about the file of another release, which stands last among the models, in words about what
// named it: an option, or the study.
func (a *App) ofRelease(err error, s *job.Study, other string, flag bool) error {
	e, ok := errors.AsType[*job.FieldError](err)
	if !ok || other == "" || !strings.HasPrefix(e.Path, fmt.Sprintf("models[%d]", len(s.Models)-1)) {
		return err
	}
	if flag {
		return fmt.Errorf("%s: %s", a.option("against"), e.Message)
	}
	return s.Errorf("embedding.against", "%s", e.Message)
}

// concluded says what was found, also in a file in the form that it has, if any.
func concluded(r *encoder.Report, form *sheet.Form[*encoder.Report], file string) (*EmbedResult, error) {
	r.Conclude()
	out := &EmbedResult{r}
	if form == nil {
		return out, nil
	}
	var b bytes.Buffer
	if err := form.Write(&b, r); err != nil {
		return nil, err
	}
	return out, disk.Replace(disk.OS{}, file, disk.Bytes(b.Bytes()))
}

// features reads features of samples at elements.
type features struct {
	app  *App
	w    *workload.Workload
	o    EmbedOptions
	plan *orbit.Plan
	// as they are divided, without features
	sides  map[split.Side]*encoder.Side
	values map[split.Side][]space.Value
	// which elements of the plan leave every sample to confirm as it is
	idle []bool
	// how many elements are asked beside those of the plan
	beside int
	// what asks more samples
	more string
}

// newFeatures reads the samples.
func newFeatures(a *App, w *workload.Workload, o EmbedOptions) (*features, error) {
	f := &features{
		app: a, w: w, o: o, plan: thin(w.Eval.Plan, cmp.Or(o.Elements, embedElements)),
		sides: map[split.Side]*encoder.Side{}, values: map[split.Side][]space.Value{},
	}
	if n := len(w.Eval.Plan.Elements); n > len(f.plan.Elements) {
		a.notef("%d of %d elements are asked; %s takes others", len(f.plan.Elements), n, a.option("elements"))
	}
	sets, err := w.Chosen()
	if err != nil {
		return nil, err
	}
	if err := sets.Need(split.Sides()...); err != nil {
		return nil, err
	}
	objects := w.Objects()
	most, count := cmp.Or(o.Samples, embedSamples), len(objects)
	switch {
	case count > most:
		f.more = "name a larger " + a.option("samples")
	case w.Data.Len() > count && w.Study.Data.Limit > 0:
		f.more = "name a larger " + a.option("limit")
	default:
		f.more = fmt.Sprintf("all %s samples were asked: give more data", words.Count(count))
	}
	for _, side := range split.Sides() {
		all := sets[side]
		n := len(all)
		if count > most {
			n = max(n*most/count, 1)
		}
		chosen, err := dataset.Select(nil, len(all), n, false, w.Study.Seed)
		if err != nil {
			return nil, err
		}
		x := &encoder.Side{}
		shown := map[string]bool{}
		for _, k := range chosen {
			s, err := w.Eval.At(all[k])
			if err != nil {
				return nil, err
			}
			x.Names, x.Objects = append(x.Names, s.ID), append(x.Objects, objects[all[k]])
			x.Labels = append(x.Labels, s.Label)
			x.Inputs = append(x.Inputs, digest(s.Value))
			shown[objects[all[k]]] = true
			f.values[side] = append(f.values[side], s.Value)
		}
		if len(shown) < embedding.LeastObjects {
			return nil, fmt.Errorf("%w: %d on the side %s, want at least %d on each: %s", embedding.ErrFew, len(shown),
				side, embedding.LeastObjects, f.more)
		}
		f.sides[side] = x
	}
	if count > most {
		a.notef("%s of %s samples are asked; %s takes others", words.Count(most), words.Count(count),
			a.option("samples"))
	}
	if err := encoder.Apart(f.sides); err != nil {
		if count > most {
			err = fmt.Errorf("%w; there may be more, for %s of %s samples were looked at", err, words.Count(most),
				words.Count(count))
		}
		return nil, err
	}
	f.idle, err = f.still(split.Confirm)
	return f, err
}

// still tells which elements leave every sample of a side as it is, up to rounding beside what samples are apart.
func (f *features) still(side split.Side) ([]bool, error) {
	const rounding = 1e-5
	values := f.values[side]
	numbers := make([][]float64, len(values))
	for i, x := range values {
		numbers[i] = x.Numbers()
	}
	apart := agreement.Deviation(numbers)
	stays := func(g group.Element) (bool, error) {
		for i, x := range values { // one that moves is enough, and is the first as a rule
			y, err := f.plan.In.Apply(g, x)
			if err != nil {
				return false, fmt.Errorf("sample %s at %s: %w", f.sides[side].Names[i],
					group.Title(f.plan.Group, g), err)
			}
			if d := agreement.Distance(numbers[i], y.Numbers()); !(d == 0 || d <= rounding*apart) {
				return false, nil
			}
		}
		return true, nil
	}
	out := make([]bool, len(f.plan.Elements))
	for k, g := range f.plan.Elements {
		var err error
		if out[k], err = stays(g); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// confirmed is how many objects there are to confirm.
func (f *features) confirmed() int {
	seen := map[string]bool{}
	for _, o := range f.sides[split.Confirm].Objects {
		seen[o] = true
	}
	return len(seen)
}

// digest tells inputs apart.
func digest(v space.Value) string {
	h := sha256.New()
	for _, p := range v.Parts() {
		h.Write(fmt.Appendf(nil, "%s %v %v\n", p.Name, p.DType, p.Shape))
		h.Write(p.Raw)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// model looks at the features of one model.
func (f *features) model(ctx context.Context, m *eval.Model, other string) (*encoder.Model, error) {
	w := f.w
	step := begin(f.app.tell, TaskEmbed, m.Name, "predictions")
	defer step.end()
	step.stage("features")
	n := 0
	for _, all := range f.values {
		n += len(all)
	}
	total := n * len(f.plan.Elements)
	if other != "" {
		total += n
	}
	s := &encoder.Subject{
		Model: m.Name, Digest: f.sum(m.Name), Group: w.Group(), Elements: f.plan.Elements, Idle: f.idle,
		Sides: map[split.Side]*encoder.Side{}, Anchors: w.Study.Embedding.Anchors, Seed: w.Study.Seed,
		Confidence: w.Study.Audit.Confidence, NoSplit: !slices.Contains(f.o.What, embedSplit),
		NoGenerators: !slices.Contains(f.o.What, embedGenerators), Stage: step.stage, More: f.more,
	}
	r, err := f.open(m.Name, f.o.Value, f.app.option("value"))
	if err != nil {
		return nil, err
	}
	defer r.close()
	s.Value = r.value
	if !s.NoGenerators {
		s.Ladder = s.Rungs()
	}
	f.beside = len(s.Ladder)
	step.size(total + n*f.beside)
	for side, x := range f.sides {
		y := *x
		s.Sides[side] = &y
		if !slices.ContainsFunc(x.Labels, func(l int) bool { return l >= 0 }) {
			y.Labels = nil
		}
		if y.At, err = f.read(ctx, r, side, f.plan.Elements, step); err != nil {
			return nil, err
		}
		if y.Ladder, err = f.read(ctx, r, side, s.Ladder, step); err != nil {
			return nil, err
		}
		if side == split.Confirm {
			if y.Back, err = f.back(ctx, r, side); err != nil {
				return nil, err
			}
			if y.Again, err = f.again(ctx, r, side); err != nil {
				return nil, err
			}
		}
	}
	if other != "" {
		o, err := f.open(other, cmp.Or(f.o.AgainstValue, f.o.Value), f.app.option("against-value"))
		if err != nil {
			return nil, err
		}
		defer o.close()
		s.Against = &encoder.Release{Model: other, Digest: f.sum(other), Value: o.value}
		for side, x := range s.Sides {
			if side == split.Confirm {
				if x.Other, err = f.read(ctx, o, side, f.plan.Elements, nil); err != nil {
					return nil, err
				}
			} else {
				still, err := o.of(ctx, f.values[side])
				if err != nil {
					return nil, err
				}
				x.Other = []*mat.Dense{still}
			}
		}
	}
	out, err := encoder.Take(s)
	if err != nil {
		return nil, err
	}
	out.Engine = r.engine
	return out, nil
}

// sum is the digest of the file of a model.
func (f *features) sum(model string) string {
	for _, m := range f.w.Job.Models {
		if m.Name == model {
			return m.SHA256
		}
	}
	return ""
}

// read are the features of the samples of a side at each element.
func (f *features) read(ctx context.Context, r *reader, side split.Side, elements []group.Element, step *work) (
	[]*mat.Dense, error,
) {
	out := make([]*mat.Dense, len(elements))
	for k, g := range elements {
		moved, err := f.moved(side, g)
		if err != nil {
			return nil, err
		}
		if out[k], err = r.of(ctx, moved); err != nil {
			return nil, err
		}
		n, d := out[k].Dims()
		all := 0
		for _, x := range f.values {
			all += len(x)
		}
		if d > mostFeatures/(all*(len(f.plan.Elements)+f.beside)) {
			return nil, fmt.Errorf("%s: %s has %s numbers a sample, of %s at %s that is more than %s at once: ask for "+
				"fewer with %s or %s, or for another value with %s", r.model, r.value, words.Count(d),
				words.Plural(all, "sample", "samples"), words.Plural(len(f.plan.Elements), "element", "elements"),
				words.Count(mostFeatures), f.app.option("samples"), f.app.option("elements"), f.app.option("value"))
		}
		if step != nil {
			step.step(n)
		}
	}
	return out, nil
}

// moved are the samples of a side, moved.
func (f *features) moved(side split.Side, g group.Element) ([]space.Value, error) {
	out := make([]space.Value, len(f.values[side]))
	for i, x := range f.values[side] {
		var err error
		if out[i], err = f.plan.In.Apply(g, x); err != nil {
			return nil, fmt.Errorf("sample %s at %s: %w", f.sides[side].Names[i], group.Title(f.plan.Group, g), err)
		}
	}
	return out, nil
}

// again are the features of the first samples as they are, asked once more.
func (f *features) again(ctx context.Context, r *reader, side split.Side) (*mat.Dense, error) {
	const some = 16
	still, err := f.moved(side, f.plan.Group.Identity())
	if err != nil {
		return nil, err
	}
	return r.of(ctx, still[:min(some, len(still))])
}

// back are the features of samples that were moved there and back, by the elements that resample.
func (f *features) back(ctx context.Context, r *reader, side split.Side) ([]*mat.Dense, error) {
	out := make([]*mat.Dense, len(f.plan.Elements))
	for k, g := range f.plan.Elements {
		if action.Exact(f.plan.In, g) {
			continue
		}
		there, err := f.moved(side, g)
		if err != nil {
			return nil, err
		}
		for i, x := range there {
			if there[i], err = f.plan.In.Apply(f.plan.Group.Inv(g), x); err != nil {
				return nil, fmt.Errorf("sample %s, back from %s: %w", f.sides[side].Names[i],
					group.Title(f.plan.Group, g), err)
			}
			there[i] = space.Nearest(there[i], f.values[side][i])
		}
		if out[k], err = r.of(ctx, there); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// reader reads features off one model.
type reader struct {
	model, value string
	// what computes it, "" where that is elsewhere
	engine string
	// what helps where the features are no vectors of one length
	remedy  string
	inside  *interior.Model
	predict func(context.Context, []space.Value) ([]space.Value, error)
}

func (r *reader) close() {
	if r.inside != nil {
		_ = r.inside.Close() // nothing is lost
	}
}

// open finds the value that is read of a model, the output if there is no name. An option names it.
func (f *features) open(model, value, option string) (*reader, error) {
	r := &reader{model: model}
	inside, err := f.w.Interior(model, f.w.EngineOf(model), f.o.Workers)
	if errors.Is(err, workload.ErrNoGraph) {
		if value != "" {
			return nil, fmt.Errorf("%s %s: %w: leave it out, and the answers are the features", option, value, err)
		}
		for _, m := range f.w.Eval.Models {
			if m.Name == model {
				r.remedy = ofAnswers
				r.value, r.predict = "the answer", eval.Predictor{Model: m, Workers: f.o.Workers}.Predict
			}
		}
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.inside, r.engine, r.remedy = inside, bodyOf(f.w.EngineOf(model)), "name another value with "+option
	if r.value = inside.Output(); value != "" {
		if r.value, err = valueOf(inside, value); err != nil {
			r.close()
			return nil, fmt.Errorf("%s: %s: %w", option, model, err)
		}
	}
	return r, nil
}

// valueOf is the value of a graph by its name, or by that of the node that makes it and no other.
func valueOf(m *interior.Model, name string) (string, error) {
	l, err := m.Layer(name)
	if err != nil {
		return "", fmt.Errorf("%w; its nodes are %s", err, strings.Join(nodes(m), ", "))
	}
	if slices.Contains(l.Produced, name) {
		return name, nil
	}
	if len(l.Produced) > 1 {
		return "", fmt.Errorf("%s makes %s: name one of these", name, strings.Join(l.Produced, ", "))
	}
	return l.Produced[0], nil
}

// nodes are the names of the last nodes of a graph: features stand at its end.
func nodes(m *interior.Model) []string {
	const most = 12
	var out []string
	for _, l := range m.Layers() {
		if !l.Input {
			out = append(out, l.Name)
		}
	}
	if len(out) > most {
		out = append([]string{"..."}, out[len(out)-most:]...)
	}
	return out
}

// of are the features of samples, a row for each.
func (r *reader) of(ctx context.Context, values []space.Value) (*mat.Dense, error) {
	rows := make([][]float64, len(values))
	if r.inside == nil {
		answers, err := r.predict(ctx, values)
		if err != nil {
			return nil, err
		}
		for i, y := range answers {
			rows[i] = y.Numbers()
		}
	} else {
		in, err := r.inside.Arrays(ctx, values)
		if err != nil {
			return nil, err
		}
		got, err := r.inside.Values(ctx, in, []string{r.value})
		if err != nil {
			return nil, err
		}
		for i := range got {
			rows[i] = got[i][0].Val
		}
	}
	return featureTable(r.model, r.value, r.remedy, rows)
}

// featureTable is features, which have one width. The remedy is for those that have none, or several.
func featureTable(model, value, remedy string, rows [][]float64) (*mat.Dense, error) {
	d := len(rows[0])
	out := mat.NewDense(len(rows), max(d, 1), nil)
	for i, x := range rows {
		switch {
		case len(x) == 0:
			return nil, fmt.Errorf("%s: %s has no numbers: %s", model, value, remedy)
		case len(x) != d:
			return nil, widths(model, value, remedy, d, len(x))
		}
		out.SetRow(i, x)
	}
	return out, nil
}

// widths is the error about features of two widths.
func widths(model, value, remedy string, first, other int) error {
	return fmt.Errorf("%s: %s has %d numbers for one sample and %d for another: features have one width; %s", model,
		value, first, other, remedy)
}

// ofAnswers is the remedy for what is no graph, whose answers are the features.
const ofAnswers = "make it answer vectors of one length, padded or pooled, or name another of its outputs with " +
	"output: {name: …}"
