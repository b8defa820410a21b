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
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/present/sheet"
	"nero/present/words"
	"nero/run/job"
	"nero/run/workload"
	"nero/weights"
)

// WeightsOptions say how weights are looked at.
type WeightsOptions struct {
	Engine Engine
	// Workers is how many goroutines pair units, at least 1. No number depends on it.
	Workers int
	// Study is a study file whose samples are the probes; empty for seeded noise.
	Study string
	// Shape is that of the first input, for axes that the file leaves free beside the first; nil for none. Samples of a
	// study say it themselves.
	Shape []int
	// Probes is how many inputs answers are compared at; 0 for 32, and fewer for large models.
	Probes int
	// Seed decides the noise, the samples that are taken, and the elements that are drawn.
	Seed uint64
	// Canonical writes the model in canonical form to Out, a file that is not there yet.
	Canonical bool
	// Out is a file: for the model in canonical form, or else for the report (.json, .txt, .md or .html); empty for
	// none.
	Out string
}

// WeightsFormats are the forms of the report, the preset first.
func WeightsFormats() []string { return sheet.Names(weights.Forms()) }

// WeightsSchema is the schema of weights.json.
func (a *App) WeightsSchema() ([]byte, error) { return weights.Schema() }

// CheckWeightsFormat says whether there is such a form of the report.
func (a *App) CheckWeightsFormat(format string) error {
	if _, err := sheet.Find(weights.Forms(), format); err != nil {
		return fmt.Errorf("%s: %w", a.option("format"), err)
	}
	return nil
}

// WeightsResult is what was found of weights.
type WeightsResult struct{ Report *weights.Report }

// Write writes the report in one form.
func (r *WeightsResult) Write(w io.Writer, format string) error {
	return writeForm(w, weights.Forms(), format, r.Report)
}

// Good reports whether what the graph promises holds, or, of two models, whether they compute the same.
func (r *WeightsResult) Good() bool { return r.Report.Good() }

// Models tells whether all of these are names of models.
func Models(files ...string) bool {
	return !slices.ContainsFunc(files, func(f string) bool { return !strings.EqualFold(filepath.Ext(f), ".onnx") })
}

// leastWeightProbes is how many probes say how far answers are apart anyway.
const leastWeightProbes = 4

// mostWeightProbes is how many are taken at most.
const mostWeightProbes = 1 << 16

func (o *WeightsOptions) check(a *App, files []string) error {
	if err := a.someWorkers(o.Workers); err != nil {
		return err
	}
	if o.Probes != 0 && o.Probes < leastWeightProbes {
		return fmt.Errorf("%s is %d, want at least %d, or 0 for the preset", a.option("probes"), o.Probes,
			leastWeightProbes)
	}
	if o.Probes > mostWeightProbes {
		return fmt.Errorf("%s is %d, want at most %d: all of them are in memory with their answers",
			a.option("probes"), o.Probes, mostWeightProbes)
	}
	if i := slices.IndexFunc(o.Shape, func(n int) bool { return n < 1 }); i >= 0 {
		return fmt.Errorf("%s: axis %d has size %d, want at least 1: give the shape of one input", a.option("shape"),
			i, o.Shape[i])
	}
	ext := strings.ToLower(filepath.Ext(o.Out))
	switch {
	case o.Canonical && len(files) > 1:
		return fmt.Errorf("%s writes one model, and %d are named: name the one that is to be written",
			a.option("canonical"), len(files))
	case o.Canonical && o.Out == "":
		return fmt.Errorf("%s: nothing says where to write the model: name a file with %s", a.option("canonical"),
			a.option("out"))
	case o.Canonical && ext != ".onnx":
		return fmt.Errorf("%s: the model in canonical form is one file: give it a name that ends in .onnx", o.Out)
	case o.Out == "":
		return nil
	case !o.Canonical && ext == ".onnx":
		return fmt.Errorf("%s: a report is no model: name a file that ends in .json, .txt, .md or .html, or ask for "+
			"the model with %s", o.Out, a.option("canonical"))
	}
	if !o.Canonical {
		if _, err := sheet.Of(weights.Forms(), o.Out); err != nil {
			return err
		}
	}
	switch _, err := os.Stat(o.Out); {
	case err == nil:
		return fmt.Errorf("%s is there already: name another file, or remove it first", o.Out)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return a.reportFile(&job.Study{}, o.Out)
}

// Weights asks which stored numbers of a model may be moved without a change of what it computes, or, of two, whether
// they are the same up to that. The error is for what ends all of it; that they differ is a result.
func (a *App) Weights(ctx context.Context, files []string, o WeightsOptions) (*WeightsResult, error) {
	if n := len(files); n < 1 || n > 2 {
		return nil, fmt.Errorf("%s named, want one or two", words.Plural(n, "model is", "models are"))
	}
	if err := o.check(a, files); err != nil {
		return nil, err
	}
	read := make([]*onnx.Model, len(files))
	digests := make([]string, len(files))
	for i, name := range files {
		if err := a.Present(name); err != nil {
			return nil, err
		}
		m, err := onnx.Read(name)
		if err != nil {
			return nil, err
		}
		b, err := m.Bytes()
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		read[i], digests[i] = m, hex.EncodeToString(sum[:])
	}
	if slices.ContainsFunc(read, func(m *onnx.Model) bool { return m.Size() >= large }) && os.Getenv("GOGC") == "" {
		a.thrift.begin() // what is thrown away is as large as the models
		defer a.thrift.end()
	}
	w := weighing{app: a, o: o, digests: digests}
	defer w.close()
	if err := w.open(ctx, files, read); err != nil {
		return nil, err
	}
	step := begin(a.tell, TaskWeights, files[0], "questions")
	defer step.end()
	w.stage = func(what string) { step.stage(what) }
	r, err := w.report(ctx)
	if p, ok := errors.AsType[*weights.ProbeError](err); ok && o.Study == "" {
		return nil, fmt.Errorf("%s: %w; noise is not what it reads: name a study with samples with %s, or another "+
			"shape with %s", files[0], p, a.option("study"), a.option("shape"))
	}
	if err != nil {
		return nil, err
	}
	out := &WeightsResult{r}
	if o.Out == "" || o.Canonical {
		return out, nil
	}
	form, err := sheet.Of(weights.Forms(), o.Out)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := form.Write(&b, r); err != nil {
		return nil, err
	}
	return out, writeFile(o.Out, b.Bytes())
}

// weighing is one question about weights.
type weighing struct {
	app     *App
	o       WeightsOptions
	digests []string
	// as they were read, and as the engine takes them
	read   []*onnx.Model
	nets   []*weights.Network
	body   *weights.Body
	labels []int
	from   string
	// what computes the answers
	by    string
	work  *workload.Workload
	stage func(what string)
}

func (w *weighing) close() {
	if w.work != nil {
		_ = w.work.Close() // nothing is lost
	}
}

// open opens the engine, finds probes and looks at the graphs.
func (w *weighing) open(ctx context.Context, files []string, read []*onnx.Model) error {
	w.read = read
	runs := make([]*onnx.Model, len(read))
	var e engine.Engine
	var probes [][]tensor.Named
	if w.o.Study == "" {
		for i, m := range read {
			if _, err := w.shapes(m); err != nil {
				return fmt.Errorf("%s: %w", files[i], err)
			}
		}
		c, err := w.app.openEngine(ctx, w.o.Engine, nil)
		if err != nil {
			return err
		}
		e = c.Engine
	} else {
		var err error
		if probes, err = w.samples(ctx, files); err != nil {
			return err
		}
		e = w.work.Engine()
	}
	w.by = bodyOf(e)
	limits, err := workload.Limits(e)
	if err != nil {
		return err
	}
	for i, m := range read {
		if runs[i], err = takes(m, limits, files[i]); err != nil {
			return err
		}
	}
	for i, m := range runs {
		shapes := map[string][]int{}
		if probes == nil {
			if shapes, err = w.shapes(m); err != nil {
				return fmt.Errorf("%s: %w", files[i], err)
			}
		} else {
			for _, t := range probes[0] {
				shapes[t.Name] = t.Shape
			}
		}
		n, err := weights.Open(files[i], m, shapes)
		if err != nil {
			return err
		}
		w.nets = append(w.nets, n)
	}
	if probes == nil {
		n := cmp.Or(w.o.Probes, weights.PresetProbes(w.nets[0].Facts.MACs))
		shapes, err := w.shapes(runs[0])
		if err != nil {
			return err
		}
		probes, w.from = weights.Noise(runs[0], shapes, n, w.o.Seed), "normal noise"
	}
	w.body = &weights.Body{Probes: probes, Open: func(ctx context.Context, b []byte) (engine.Session, error) {
		if len(b) < large {
			return e.Open(ctx, b, engine.Options{Threads: 1})
		}
		// The engine holds the model, too: copies that were thrown away must not stand beside it, nor these bytes
		// once it has read them.
		debug.FreeOSMemory()
		s, err := e.Open(ctx, b, engine.Options{Threads: 1, Lean: true})
		debug.FreeOSMemory()
		return s, err
	}}
	if slices.ContainsFunc(read, func(m *onnx.Model) bool { return m.Size() >= large }) {
		w.body.Free = debug.FreeOSMemory
	}
	return nil
}

// shapes are those of one sample of noise.
func (w *weighing) shapes(m *onnx.Model) (map[string][]int, error) {
	shapes, err := weights.Shapes(m, w.o.Shape)
	if err != nil {
		remedy := "name a study with samples with " + w.app.option("study")
		if say := exampleShape(m); say != "" {
			remedy = "say the shape of the first input with " +
				w.app.speech().Option(Option{Name: "shape", Value: say}) + ", or " + remedy
		}
		return nil, fmt.Errorf("%w; %s", err, remedy)
	}
	return shapes, nil
}

// exampleShape is a shape of the first input, where that is all that is missing; else "".
func exampleShape(m *onnx.Model) string {
	const some = 32
	var out []string
	for i, p := range m.Signature().Inputs {
		for k, d := range p.Shape {
			switch {
			case i > 0 && k > 0 && d.Free():
				return "" // another input leaves an axis free, too
			case i > 0:
			case k == 0 && d.Free():
				out = append(out, "1")
			case d.Free():
				out = append(out, strconv.Itoa(some))
			default:
				out = append(out, d.String())
			}
		}
	}
	return strings.Join(out, ",")
}

// takes is the model as an engine takes it.
func takes(m *onnx.Model, limits onnx.Limits, file string) (*onnx.Model, error) {
	if m.Signature().IR > limits.MaxIR {
		if older, _, err := m.Restamp(limits); err == nil {
			if m, err = onnx.Load(older); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	if err := m.Check(limits); err != nil {
		if l, ok := errors.AsType[*onnx.LimitError](err); ok {
			l.Model = file // a lowered one has no file of its own
		}
		return nil, err
	}
	return m, nil
}

// samples are those of a study, as the first model reads them, with their classes.
func (w *weighing) samples(ctx context.Context, files []string) ([][]tensor.Named, error) {
	s, err := w.app.OpenStudy(w.o.Study)
	if err != nil {
		return nil, err
	}
	if len(w.o.Shape) > 0 {
		return nil, fmt.Errorf("%s: samples of a study have a shape of their own: leave it out", w.app.option("shape"))
	}
	if s.Input.Recurrent.Frame > 0 {
		return nil, fmt.Errorf("%s: the model reads frame by frame there, and weights are compared at single inputs: "+
			"leave out %s, so that noise is taken", w.o.Study, w.app.option("study"))
	}
	s.Models = []job.Model{{Name: "weights", ONNX: files[0]}}
	if s.Group.Name == "" && s.Group.File == "" && s.Group.Definition == "" {
		s.Group.Name = "Trivial" // the study has to be opened under some group, and none is claimed
	}
	if w.work, err = w.app.openAudit(ctx, s, w.o.Engine); err != nil {
		return nil, err
	}
	n := w.o.Probes
	if n == 0 {
		m := w.work.Eval.Models[0]
		n = weights.PresetProbes(w.work.Cost[m.Name])
	}
	chosen, err := dataset.Select(nil, w.work.Eval.Count(), n, false, w.o.Seed)
	if err != nil {
		return nil, err
	}
	if len(chosen) < leastWeightProbes {
		return nil, fmt.Errorf("%s has %s, and at least %d are needed: leave out %s, so that noise is taken", w.o.Study,
			words.Plural(len(chosen), "sample", "samples"), leastWeightProbes, w.app.option("study"))
	}
	codec := w.work.Eval.Models[0].Codec
	var out [][]tensor.Named
	labeled := false
	for _, k := range chosen {
		x, err := w.work.Eval.At(k)
		if err != nil {
			return nil, err
		}
		in, err := codec.Encode(slices.Repeat([]space.Value{x.Value}, max(decode.BatchLimit(codec), 1)), nil)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", x.ID, err)
		}
		if len(out) > 0 && !sameShapes(out[0], in) {
			return nil, fmt.Errorf("sample %s has another size than the first one, and units are followed for one "+
				"size: leave out %s, so that noise is taken", x.ID, w.app.option("study"))
		}
		out, w.labels = append(out, in), append(w.labels, x.Label)
		labeled = labeled || x.Label >= 0
	}
	if !labeled {
		w.labels = nil
	}
	w.from = weights.OfStudy(w.o.Study)
	return out, nil
}

func sameShapes(a, b []tensor.Named) bool {
	return slices.EqualFunc(a, b, func(x, y tensor.Named) bool { return slices.Equal(x.Shape, y.Shape) })
}

func (w *weighing) report(ctx context.Context) (*weights.Report, error) {
	if len(w.nets) == 2 {
		o := weights.CompareOptions{Seed: w.o.Seed, Workers: w.o.Workers, Labels: w.labels, Step: w.stage}
		copy(o.Digests[:], w.digests)
		first, second := w.nets[0], w.nets[1]
		w.nets, w.read = nil, nil // who compares them lets go of what is no longer needed
		r, err := weights.Compare(ctx, first, second, w.body, o)
		if err != nil {
			return nil, err
		}
		r.From, r.Engine = w.from, w.by
		r.Conclude()
		return r, nil
	}
	r, err := weights.Check(ctx, w.nets[0], w.body, w.o.Seed, w.stage)
	if err != nil {
		return nil, err
	}
	r.From, r.Engine = w.from, w.by
	r.Models = []weights.File{w.nets[0].File(w.digests[0])}
	switch {
	case w.o.Canonical && r.Bad != "":
		r.Canonical = weights.Unwritten(r.Bad)
	case w.o.Canonical:
		if r.Canonical, err = w.canonical(ctx); err != nil {
			return nil, err
		}
	}
	r.Conclude()
	return r, nil
}

// canonical writes the model in canonical form, if that does not change its answers.
func (w *weighing) canonical(ctx context.Context) (*weights.Canonical, error) {
	w.stage("canonical form")
	n, c, err := weights.Canonicalise(ctx, w.nets[0], w.body)
	if err != nil || !c.Good() {
		return c, err
	}
	m, err := n.Into(w.read[0])
	if err != nil {
		return nil, err
	}
	b, err := m.Bytes()
	if err != nil {
		return nil, err
	}
	c.File = w.o.Out
	return c, writeFile(w.o.Out, b)
}
