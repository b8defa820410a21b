package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"nero/audit/document"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/split"
	"nero/internal/disk"
	"nero/model/onnx"
	"nero/present/words"
	"nero/repair"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/group"
)

// RepairOptions say how models are repaired.
type RepairOptions struct {
	Engine Engine
	// Workers is how many goroutines run the models, at least 1. No number but times depends on it.
	Workers int
	// Only names the models of the study that are repaired; empty means all.
	Only []string
	// Methods are what is tried, as [repair.Parse] reads them; empty for all that fit.
	Methods []string
	// Most is how many elements a repaired model may be run at; below 1 for 8.
	Most int
	// Loss is how much accuracy may be lost without a word against it, as a share.
	Loss float64
	// Out is the file, for one model and one method, or else the folder that files are written to.
	Out string
	// Single repeats the body of a model for every element, as a model needs it that mixes the samples of a batch.
	Single bool
}

// RepairMethods are the methods and their options, a line for each.
func RepairMethods() string { return repair.Help() }

// repairSamples is how many samples a bill is measured on.
const repairSamples = 200

// Repair writes models that have the symmetry which the study claims, and says what each costs. Models that have it
// already are left alone. A defect of one model or method is in the result; the error is for what ends all of it.
func (a *App) Repair(ctx context.Context, s *job.Study, o RepairOptions) (*repair.Report, error) {
	if err := only(s, o.Only); err != nil {
		return nil, err
	}
	var methods []repair.Asked
	for _, text := range o.Methods {
		m, err := repair.Parse(text)
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	if len(methods) == 0 {
		for _, m := range repair.Methods() {
			asked, err := repair.Parse(m.Name)
			if err != nil {
				return nil, err
			}
			methods = append(methods, asked)
		}
	}
	one := len(s.Models) == 1 && len(methods) == 1 && len(o.Methods) == 1
	if o.Out == "" {
		return nil, errors.New("nothing says where to write: name a file or a folder with " + a.option("out"))
	}
	if strings.EqualFold(filepath.Ext(o.Out), ".onnx") != one {
		if one {
			return nil, fmt.Errorf("%s: one model repaired by one method is one file: give it a name that ends in "+
				".onnx",
				o.Out)
		}
		return nil, fmt.Errorf("%s: %s and %s are a folder of files: name a folder, or one method with %s", o.Out,
			words.Plural(len(s.Models), "model", "models"), words.Plural(len(methods), "method", "methods"),
			a.option("method"))
	}
	if err := o.apart(s, methods, one); err != nil {
		return nil, err
	}
	study := *s // before defaults are filled in, for the audits
	w, err := a.openAudit(ctx, s, o.Engine)
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	elements, endless := o.elements(a, w.Group())
	if elements == nil {
		elements = drawn(w.Group(), s.Seed)
	}
	if !one {
		if err := os.MkdirAll(o.Out, 0o777); err != nil {
			return nil, fmt.Errorf("%s: %w", a.option("out"), err)
		}
	}
	b := billing{app: a, o: o, w: w, study: study, elements: elements, endless: endless, one: one}
	if err := b.read(); err != nil {
		return nil, err
	}
	out := &repair.Report{Format: 1, Group: w.Group().Name(), Samples: len(b.samples)}
	for _, m := range w.Eval.Models {
		r, err := b.model(ctx, m, methods)
		if err != nil {
			return nil, err
		}
		out.Models = append(out.Models, *r)
	}
	if one {
		return out, nil
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return nil, err
	}
	return out, disk.Replace(disk.OS{}, filepath.Join(o.Out, "repair.json"), disk.Bytes(append(text, '\n')))
}

// file is where the model of a name is written as repaired by a method.
func (o *RepairOptions) file(model string, m repair.Asked, one bool) string {
	if one {
		return o.Out
	}
	return filepath.Join(o.Out, strings.NewReplacer("/", "-", "\\", "-", ":", "-", ",", "-", "=", "-").
		Replace(model+"-"+m.String())+".onnx")
}

// apart sees to it that each file has a place of its own, and that none takes that of what it is made of.
func (o *RepairOptions) apart(s *job.Study, methods []repair.Asked, one bool) error {
	of := map[string]string{}
	for _, model := range s.Models {
		for _, m := range methods {
			file, what := o.file(model.Name, m, one), model.Name+" by "+m.String()
			if other, taken := of[strings.ToLower(file)]; taken {
				return fmt.Errorf("%s and %s would both be written to %s: ask for each once, by names that differ in "+
					"letters and digits", other, what, file)
			}
			of[strings.ToLower(file)] = what
			for _, read := range s.Models {
				if same(file, read.ONNX) {
					return fmt.Errorf("%s is the model %s itself, which would be lost: name another place for %s",
						file, read.Name, what)
				}
			}
		}
	}
	return nil
}

// same tells whether two names are those of one file that is there.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// measured is at how many elements a group without end, or with too many, is measured.
const measured = 12

// drawn are the identity and elements that are drawn, for the bill.
func drawn(g group.Group, seed uint64) []group.Element {
	out := []group.Element{g.Identity()}
	r := rand.New(rand.NewPCG(seed, 0x726570616972))
	for range measured - 1 {
		switch s := g.(type) {
		case group.Finite:
			all := s.Elements()
			out = append(out, all[1+r.IntN(len(all)-1)])
		case group.Sampler:
			out = append(out, s.Sample(r))
		}
	}
	return out
}

// elements are those of the group, which has to be finite and small enough for methods that need all of them.
func (o *RepairOptions) elements(a *App, g group.Group) ([]group.Element, error) {
	f, ok := g.(group.Finite)
	if !ok {
		return nil, fmt.Errorf("%s has no end of elements to ask a model at: name a finite part of it, such as "+
			"%s", g.Name(),
			a.speech().Option(Option{Name: "group", Value: "C4"}))
	}
	all := f.Elements()
	if len(all) > o.most() {
		return nil, fmt.Errorf("%s has %d elements, so that a repaired model costs %d times as much; allow that "+
			"with %s, or "+
			"name a smaller group", g.Name(), len(all), len(all),
			a.speech().Option(Option{Name: "budget", Value: strconv.Itoa(len(all))}))
	}
	return all, nil
}

// most is the budget.
func (o *RepairOptions) most() int {
	if o.Most < 1 {
		return 8
	}
	return o.Most
}

// billing measures models on the same samples.
type billing struct {
	app      *App
	o        RepairOptions
	w        *workload.Workload
	study    job.Study
	elements []group.Element
	// why these are not all of the group, nil if they are
	endless error
	one     bool

	// by what they are for, at most repairSamples of each
	sets split.Sets
	// to learn from
	fit []space.Value
	// that the bill reports on
	samples []dataset.Sample
	// moved[g] are the samples at an element
	moved [][]space.Value
}

// read draws the samples and moves them.
func (b *billing) read() error {
	var err error
	if b.sets, err = b.w.Chosen(); err != nil {
		return err
	}
	if err := b.sets.Need(split.Choose, split.Confirm); err != nil {
		return err
	}
	for side, all := range b.sets {
		some, err := dataset.Select(nil, len(all), min(repairSamples, len(all)), false, b.w.Study.Seed)
		if err != nil {
			return err
		}
		kept := make([]int, len(some))
		for i, k := range some {
			kept[i] = all[k]
		}
		b.sets[side] = kept
	}
	read := func(side split.Side) ([]dataset.Sample, error) {
		var out []dataset.Sample
		for _, i := range b.sets[side] {
			s, err := b.w.Eval.At(i)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
		return out, nil
	}
	learn, err := read(split.Fit)
	if err != nil {
		return err
	}
	for _, s := range learn {
		b.fit = append(b.fit, s.Value)
	}
	if b.samples, err = read(split.Confirm); err != nil {
		return err
	}
	b.moved = make([][]space.Value, len(b.elements))
	for k, g := range b.elements {
		for _, s := range b.samples {
			v, err := b.w.Eval.Plan.In.Apply(g, s.Value)
			if err != nil {
				return fmt.Errorf("%s: %w", s.ID, err)
			}
			b.moved[k] = append(b.moved[k], v)
		}
	}
	return nil
}

func (b *billing) ask(ctx context.Context, m *eval.Model, model int) (*repair.Answers, error) {
	out := &repair.Answers{}
	for k, g := range b.elements {
		ys, err := m.Predict(ctx, b.moved[k], b.o.Workers)
		if err != nil {
			return nil, err
		}
		for i, y := range ys {
			if ys[i], err = b.w.Eval.Back(model, g, y); err != nil {
				return nil, err
			}
		}
		if err := out.Add(ys); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return out, nil
}

// model tries the methods on one model.
func (b *billing) model(ctx context.Context, m *eval.Model, methods []repair.Asked) (*repair.Of, error) {
	index := slices.Index(b.w.Eval.Models, m)
	file := b.w.File(m.Name)
	if file == nil {
		return nil, fmt.Errorf("%s is no file, and a repair is a file made of a file: call it at every element of "+
			"the group "+
			"and take the mean of what it says", m.Name)
	}
	at := slices.IndexFunc(b.study.Models, func(x job.Model) bool { return x.Name == m.Name })
	if at < 0 {
		return nil, fmt.Errorf("the study has no model %s", m.Name)
	}
	out := &repair.Of{Model: m.Name, File: b.study.Models[at].ONNX}
	before, err := b.ask(ctx, m, index)
	if err != nil {
		return nil, err
	}
	verdict, err := b.audit(ctx, at, out.File)
	if err != nil {
		return nil, err
	}
	out.Before = before.Bill(before, b.labels())
	out.Before.Verdict, out.Before.Cost = verdict, 1
	describeFile(&out.Before, file)
	if verdict == string(document.Passed) {
		out.Sentence = m.Name + " passes as it is: there is nothing to repair, and nothing was written."
		return out, nil
	}
	answer, err := m.Predict(ctx, b.moved[0][:1], 1)
	if err != nil {
		return nil, err
	}
	source := repair.Source{
		Model: file, Codec: m.Codec, Group: b.w.Group(), In: b.w.Eval.Plan.In, Out: b.w.Eval.Plan.Out,
		Sample: b.samples[0].Value, Answer: answer[0], Elements: b.elements, Fit: b.fit, Single: b.o.Single || m.Fixed,
		Probabilities: b.w.Study.Output.Decode == "probabilities", Endless: b.endless, Most: b.o.most(),
	}
	for _, method := range methods {
		bill, err := b.try(ctx, source, method, m, index, at, before)
		if err != nil {
			return nil, err
		}
		out.Tried = append(out.Tried, *bill)
	}
	out.Recommend(b.o.Loss)
	return out, nil
}

// try writes one repaired model, and its bill.
func (b *billing) try(ctx context.Context, source repair.Source, method repair.Asked, m *eval.Model, index, at int,
	before *repair.Answers,
) (*repair.Bill, error) {
	made, err := repair.Build(source, method)
	if err != nil {
		return &repair.Bill{Method: method.String(), Refused: err.Error()}, nil
	}
	raw, err := made.Bytes()
	if err != nil {
		return nil, err
	}
	name := b.o.file(m.Name, method, b.one)
	if err := disk.Replace(disk.OS{}, name, disk.Bytes(raw)); err != nil {
		return nil, err
	}
	s := b.study
	s.Models = []job.Model{s.Models[at]}
	s.Models[0].ONNX = name
	w, err := b.app.openAudit(ctx, &s, b.o.Engine)
	if err != nil {
		return nil, fmt.Errorf("the repaired model %s: %w", name, err)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	fixed := w.Eval.Models[0]
	after, err := b.ask(ctx, fixed, index)
	if err != nil {
		return nil, err
	}
	bill := after.Bill(before, b.labels())
	bill.Method, bill.File = method.String(), name
	if bill.Cost, err = b.cost(ctx, m, fixed); err != nil {
		return nil, err
	}
	describeFile(&bill, made)
	bill.Verdict, err = b.audit(ctx, at, name)
	return &bill, err
}

// labels are the classes of the samples, -1 where nobody knows.
func (b *billing) labels() []int {
	var out []int
	for _, s := range b.samples {
		out = append(out, s.Label)
	}
	return out
}

func describeFile(b *repair.Bill, m *onnx.Model) {
	b.Nodes, b.Bytes, b.Opset = len(m.Proto().GetGraph().GetNode()), int64(m.Size()), m.Opset()
}

// cost is how much longer the second model takes for one answer: the median of interleaved rounds, each of so many
// calls that the first model is busy for a while.
func (b *billing) cost(ctx context.Context, one, other *eval.Model) (float64, error) {
	if b.app.Now == nil {
		return 0, nil
	}
	batch := b.moved[0][:min(len(b.moved[0]), max(one.Batch, other.Batch))]
	took := func(m *eval.Model, calls int) (time.Duration, error) {
		start := b.app.Now()
		for range calls {
			if _, err := m.Predict(ctx, batch, 1); err != nil {
				return 0, err
			}
		}
		return b.app.Now().Sub(start), nil
	}
	const rounds, busy, most = 5, 20 * time.Millisecond, 1 << 10
	calls := 1
	for ; calls < most; calls *= 2 { // also warms up
		if d, err := took(one, calls); err != nil {
			return 0, err
		} else if d >= busy {
			break
		}
	}
	var ratios []float64
	for range rounds {
		x, err := took(one, calls)
		if err != nil {
			return 0, err
		}
		y, err := took(other, calls)
		if err != nil {
			return 0, err
		}
		ratios = append(ratios, float64(y)/math.Max(float64(x), 1))
	}
	slices.Sort(ratios)
	return ratios[rounds/2], nil
}

// audit is the verdict on a file in the place of a model.
func (b *billing) audit(ctx context.Context, at int, file string) (string, error) {
	s := b.study
	m := s.Models[at]
	m.ONNX = file
	s.Models = []job.Model{m}
	r, err := b.app.Audit(ctx, &s, AuditOptions{Engine: b.o.Engine, Workers: b.o.Workers})
	if err != nil {
		return "", err
	}
	return string(r.Document().Models[0].Verdict), nil
}
