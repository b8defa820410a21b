package app

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"nero/audit"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/oracle"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/orbit"
)

// subject is a model with the inputs and elements that its audit uses: the study's, thinned to the sizes that it names
// or that go with the size of the model. Call done when the audit is over.
func (a *App) subject(w *workload.Workload, m *eval.Model, workers int, other *otherEngine,
) (s *audit.Subject, done func(), err error) {
	if s, _, err = a.inputs(w, m, workers); err != nil {
		return nil, nil, err
	}
	switch s.Interior, err = w.Interior(m.Name, w.EngineOf(m.Name), workers); {
	case errors.Is(err, workload.ErrNoGraph):
		if len(s.Layers) > 0 {
			return nil, nil, w.Study.Errorf("audit.layers", "%v", err)
		}
		s.Interior, s.NoReference, s.NoTwin = nil, err.Error(), err.Error()
		if w.File(m.Name) == nil {
			return s, func() {}, nil
		}
		t := &twin{w: w, model: m.Name, workers: workers, other: other}
		s.Twin, s.TwinName, s.NoTwin = t.find(w.EngineOf(m.Name))
		return s, t.close, nil
	case err != nil:
		return nil, nil, err
	}
	for _, l := range s.Layers {
		if _, err := s.Interior.Layer(l); err != nil {
			return nil, nil, w.Study.Errorf("audit.layers", "%s: %v", m.Name, err)
		}
	}
	if s.Reference, err = w.Reference(m.Name, workers); err != nil {
		s.NoReference = err.Error()
	} else {
		s.Reference.Like(s.Interior)
	}
	t := &twin{w: w, model: m.Name, workers: workers, other: other}
	s.Twin, s.TwinName, s.NoTwin = t.find(w.EngineOf(m.Name))
	if w.File(m.Name).Size() >= large {
		s.Rest = func() {
			t.close()
			_ = s.Interior.Close() // nothing is lost
			if s.Reference != nil {
				_ = s.Reference.Close()
			}
		}
	}
	return s, func() {
		_ = s.Interior.Close() // nothing is lost
		if s.Reference != nil {
			_ = s.Reference.Close()
		}
		t.close()
	}, nil
}

// large is from how many bytes on a model is opened anew by each check that looks inside, so that it is not in memory
// several times.
const large = 16 << 20

// earlyOrder is the stream of random numbers of the order of inputs that are added one after another.
const earlyOrder = 1<<63 + 1

// inputs is a model with the inputs and elements of its audit, and which samples of the run the inputs are.
func (a *App) inputs(w *workload.Workload, m *eval.Model, workers int) (*audit.Subject, []int, error) {
	n, _ := audit.PresetSize(w.Parameters[m.Name])
	if k := w.Study.Audit.Samples; k > 0 {
		n = k
	}
	chosen, drawn, err := auditSamples(w, n)
	if err != nil {
		return nil, nil, err
	}
	if w.Study.Audit.EarlyStop { // the first inputs must be like the others: files are often sorted by class
		rand.New(rand.NewPCG(w.Study.Seed, earlyOrder)).Shuffle(len(chosen),
			func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	}
	others := unused(w, chosen)
	subject := &audit.Subject{
		Supply:  supply(w),
		Members: len(others), Member: func(i int) (dataset.Sample, error) { return w.Data.Sample(others[i]) },
		Declared: w.Scored,
		Name:     m.Name, Predictor: eval.Predictor{Model: m, Workers: workers},
		InSpec: m.Codec.In(), OutSpec: m.Codec.Out(), // also where there is no graph to look into
		Plan: thin(w.Eval.Plan, w.Study.Audit.Elements),
		N:    len(chosen), Sample: func(i int) (dataset.Sample, error) { return w.Eval.At(chosen[i]) },
		Classes: w.Classes, Input: w.Study.Input, Seed: w.Study.Seed, Layers: w.Study.Audit.Layers,
		About:    a.about(w, m.Name),
		Contract: w.Study.Audit.Contract, EarlyStop: w.Study.Audit.EarlyStop, Basis: basis(w), Drawn: drawn,
		Roundoff: roundoff(w, m.Name), Cost: w.Cost[m.Name], Rules: a.Parts.Rules, Groups: a.Parts.Groups,
		Kinds: a.Parts.Kinds,
	}
	subject.Author, subject.Parameters = w.Study.Audit.Author, w.Parameters[m.Name]
	subject.Unaudited = unaudited(w, m)
	kept := subject.Distinct()
	differ := make([]int, len(kept))
	for i, k := range kept {
		differ[i] = chosen[k]
	}
	return subject, differ, nil
}

// unaudited are the outputs of a model that no prediction holds and that no state hands on.
func unaudited(w *workload.Workload, m *eval.Model) []string {
	f := w.File(m.Name)
	if f == nil {
		return nil
	}
	read := decode.Outputs(m.Codec)
	for _, s := range w.Study.Input.Recurrent.States {
		read = append(read, s.Out)
	}
	if w.Study.Input.Recurrent.Frame > 0 {
		read = append(read, w.Study.Input.Recurrent.Output)
		if w.Study.Input.Recurrent.Output == "" {
			return nil // it is the only one that is no state
		}
	}
	var out []string
	for _, p := range f.Signature().Outputs {
		if !slices.Contains(read, p.Name) {
			out = append(out, p.Name)
		}
	}
	return out
}

// memberOrder is the stream of random numbers of the order of inputs that the scale is measured on.
const memberOrder = 1<<63 + 2

// unused are the samples of the data that an audit does not look at, in random order: all of them on the side of the
// study, whatever part of the data it is limited to, but for data that the study balances by class, where they would
// tip
// the balance.
func unused(w *workload.Workload, chosen []int) []int {
	if w.Study.Data.Balance != "" {
		return nil
	}
	used := make(map[int]bool, len(chosen))
	for _, i := range chosen {
		if w.Eval.Samples != nil {
			i = w.Eval.Samples[i]
		}
		used[i] = true
	}
	var out []int
	for i := range w.Data.Len() {
		if !used[i] && w.OnSide(i) {
			out = append(out, i)
		}
	}
	rand.New(rand.NewPCG(w.Study.Seed, memberOrder)).Shuffle(len(out),
		func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// about says what is audited and where.
func (a *App) about(w *workload.Workload, model string) []audit.About {
	i := w.EngineOf(model).Info()
	var all []audit.About
	add := func(name, value string) { all = append(all, audit.About{Name: name, Value: value}) }
	for _, m := range w.Job.Models {
		if m.Name == model {
			if strings.HasPrefix(m.Path, "builtin:") {
				add("method", m.Path)
				continue
			}
			if !job.IsFile(m.Path) {
				add(map[bool]string{true: "endpoint", false: "program"}[job.IsEndpoint(m.Path)], m.Path)
				add("fingerprint", m.SHA256)
				continue
			}
			add("file", m.Path)
			add("sha256", m.SHA256)
		}
	}
	if w.File(model) == nil {
		add("engine", answers(w, model))
	} else {
		add("parameters", strconv.FormatInt(w.Parameters[model], 10))
		add("engine", i.Name+", ONNX Runtime "+i.Version)
		if i.Provider != "" {
			add("provider", i.Provider)
		}
	}
	if w.Study.Hypothesis {
		add("claim", "a hypothesis of nero discover")
	}
	add("data", w.Study.Data.Source())
	add("group", w.Study.Group.Name)
	// nothing else is read between its numbers, and nothing at all where views are given
	s := w.Study.Input.Space
	if w.Study.Data.Views == "" && s != string(space.KindRows) && s != string(space.KindRecord) {
		add("kernel", w.Study.Group.Resample)
		add("border", w.Study.Group.Border)
		if w.Study.Group.Mask != "" {
			add("mask", w.Study.Group.Mask)
		}
	}
	if a.Now != nil {
		add("date", a.Now().UTC().Format(time.DateOnly))
	}
	add("program", a.Version)
	add("platform", runtime.GOOS+"/"+runtime.GOARCH)
	return all
}

// auditSamples chooses n of the study's samples: the same number of each class, up to one, where there are labels and
// no class is too small for its share. drawn says how they were drawn, "" for a plain draw.
func auditSamples(w *workload.Workload, n int) (chosen []int, drawn string, err error) {
	const balanced = "the same number of each class"
	if w.Study.Data.Balance != "" {
		drawn = balanced
	}
	count := w.Eval.Count()
	labels := w.Data.Labels()
	if labels != nil && w.Eval.Samples != nil {
		all := labels
		labels = make([]int, count)
		for i, k := range w.Eval.Samples {
			labels[i] = all[k]
		}
	}
	if classes := len(members(labels)); classes > 1 && n >= classes && n < count {
		if chosen, err = dataset.Even(labels, n, w.Study.Seed); err == nil {
			drawn = balanced
			if n%classes > 0 {
				drawn += ", but for one more of some"
			}
			return chosen, drawn, nil
		}
	}
	chosen, err = dataset.Select(labels, count, min(n, count), false, w.Study.Seed)
	return chosen, drawn, err
}

// members counts the samples of each class.
func members(labels []int) map[int]int {
	n := map[int]int{}
	for _, l := range labels {
		if l >= 0 {
			n[l]++
		}
	}
	return n
}

// supply is how many samples the study takes and how many the data holds for it: those on its side, and where it
// balances as many of each class as there are of the smallest.
func supply(w *workload.Workload) audit.Supply {
	s := audit.Supply{Study: w.Eval.Count()}
	labels, all := []int{}, w.Data.Labels()
	for i := range w.Data.Len() {
		if !w.OnSide(i) {
			continue
		}
		s.Data++
		if all != nil {
			labels = append(labels, all[i])
		}
	}
	if w.Study.Data.Balance == "" {
		return s
	}
	smallest := s.Data
	n := members(labels)
	for _, k := range n {
		smallest = min(smallest, k)
	}
	s.Classes, s.Data = len(n), smallest*len(n)
	return s
}

// roundoff is the unit roundoff of the type that a model reads where that is coarser than float32, else 0.
func roundoff(w *workload.Workload, model string) float64 {
	f := w.File(model)
	if f == nil {
		return 0
	}
	for _, p := range f.Signature().Inputs {
		switch p.DType { //nolint:exhaustive // the others are no coarse floats
		case tensor.Float16:
			return oracle.Float16.Unit()
		case tensor.BFloat16:
			return oracle.BFloat16.Unit()
		}
	}
	return 0
}

// thin keeps n of the elements of a plan: the identity, half of the others from the exact ones, which an audit judges
// first, and half from those that are not, each evenly; what one kind leaves over goes to the other. Where a group has
// both, neither goes untested. 0 keeps all.
func thin(p *orbit.Plan, n int) *orbit.Plan {
	if n <= 0 || n >= len(p.Elements) {
		return p
	}
	var exact, other []int
	id := max(p.Identity(), 0)
	keep := map[int]bool{id: true}
	for i, e := range p.Exact() {
		switch {
		case i == id:
		case e:
			exact = append(exact, i)
		default:
			other = append(other, i)
		}
	}
	room := n - 1
	inexact := min(room/2, len(other))
	for _, part := range []struct {
		from []int
		n    int
	}{{exact, min(room-inexact, len(exact))}, {other, min(max(inexact, room-len(exact)), len(other))}} {
		for i := range part.n {
			keep[part.from[i*len(part.from)/part.n]] = true
		}
	}
	o := *p
	o.Elements, o.Weights = nil, nil
	sum := 0.0
	for i, g := range p.Elements {
		if keep[i] {
			o.Elements = append(o.Elements, slices.Clone(g))
			o.Weights = append(o.Weights, p.Weight(i))
			sum += p.Weight(i)
		}
	}
	if p.Weights == nil || !(sum > 0) { // equal, or nothing is left but an identity without weight
		o.Weights = nil
	}
	for i := range o.Weights {
		o.Weights[i] /= sum
	}
	o.Measure = fmt.Sprintf("%d of: %s", len(o.Elements), p.Measure)
	return &o
}

// answers says what runs a model that is no file.
func answers(w *workload.Workload, model string) string {
	for _, m := range w.Study.Models {
		switch {
		case m.Name != model:
		case len(m.Program) > 0:
			return "a program, frames over its standard streams"
		case m.Builtin != "":
			return "built in"
		case strings.HasPrefix(m.Endpoint, "live://"):
			return "a function of the program that started this one"
		}
	}
	return "a server, Open Inference Protocol v2"
}
