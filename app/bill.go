package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nero/audit"
	"nero/audit/baseline"
	"nero/audit/document"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/split"
	"nero/internal/disk"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/repair"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/group"
)

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

	// by what they are for, all of them and at most repairSamples of each, by their places in the data: of those that
	// confirm, audits read the same
	all, sets split.Sets
	// to learn from
	fit []space.Value
	// to choose by, and to report on
	choose, confirm asked
	// the samples to report on, each a little changed, and each as rounding would
	nudged, rounded []space.Value
}

// asked are samples at all elements.
type asked struct {
	samples []dataset.Sample
	// moved[g] are the samples at an element
	moved [][]space.Value
}

// read draws the samples and moves them.
func (b *billing) read() error {
	var err error
	if b.sets, err = b.w.Divided(); err != nil {
		return err
	}
	if err := b.sets.Need(split.Choose, split.Confirm); err != nil {
		return err
	}
	b.all = maps.Clone(b.sets)
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
	for _, i := range b.sets[split.Fit] {
		s, err := b.w.Eval.Of(i)
		if err != nil {
			return err
		}
		b.fit = append(b.fit, s.Value)
	}
	if b.choose, err = b.at(split.Choose); err != nil {
		return err
	}
	if b.confirm, err = b.at(split.Confirm); err != nil {
		return err
	}
	for k, s := range b.confirm.samples {
		v, err := nudged(s.Value, b.w.Study.Seed, b.sets[split.Confirm][k])
		if err != nil {
			return fmt.Errorf("%s: %w", s.ID, err)
		}
		b.nudged = append(b.nudged, v)
		seed := rand.New(rand.NewPCG(b.w.Study.Seed^nudgeStream, ^uint64(b.sets[split.Confirm][k])))
		if v, err = audit.Jittered(b.confirm.moved[0][k], b.w.Study.Input, 1, seed); err != nil {
			return fmt.Errorf("%s: %w", s.ID, err)
		}
		b.rounded = append(b.rounded, v)
	}
	return nil
}

// at are the samples of a side, at all elements.
func (b *billing) at(side split.Side) (asked, error) {
	var out asked
	for _, i := range b.sets[side] {
		s, err := b.w.Eval.Of(i)
		if err != nil {
			return asked{}, err
		}
		out.samples = append(out.samples, s)
	}
	out.moved = make([][]space.Value, len(b.elements))
	for k, g := range b.elements {
		for _, s := range out.samples {
			v, err := b.w.Eval.Plan.In.Apply(g, s.Value)
			if err != nil {
				return asked{}, fmt.Errorf("%s: %w", s.ID, err)
			}
			out.moved[k] = append(out.moved[k], v)
		}
	}
	return out, nil
}

// nudgeStream is the stream of random numbers of small changes of samples.
const nudgeStream = 1<<63 + 7

// nudged is a sample that is changed by a thousandth of its length in a random direction. Numbers of a record that are
// whole throughout a field stay: they may be kinds of atoms or a mask, of which there are no thousandths.
func nudged(v space.Value, seed uint64, index int) (space.Value, error) {
	const share = 1e-3
	r := rand.New(rand.NewPCG(seed^nudgeStream, uint64(index)))
	x := slices.Clone(v.Numbers())
	d := make([]float64, len(x))
	still := whole(v)
	length, step := 0.0, 0.0
	for i := range x {
		if still != nil && still[i] {
			continue
		}
		d[i] = r.NormFloat64()
		length += float64(x[i] * x[i])
		step += float64(d[i] * d[i])
	}
	if step == 0 {
		return v, nil
	}
	by := share * math.Sqrt(length/step)
	for i := range x {
		x[i] += float64(by * d[i])
	}
	return v.With(x)
}

// whole tells of the numbers of a record which are in a field of whole numbers alone; nil for other samples.
func whole(v space.Value) []bool {
	names, fields := space.Fields(v)
	if names == nil {
		return nil
	}
	out := make([]bool, 0, len(v.Numbers()))
	for _, field := range fields {
		all := !slices.ContainsFunc(field.Numbers(), func(x float64) bool { return x != math.Trunc(x) })
		out = append(out, slices.Repeat([]bool{all}, len(field.Numbers()))...)
	}
	return out
}

// ask answers samples at all elements, moved back.
func (b *billing) ask(ctx context.Context, m *eval.Model, model int, x asked) (*repair.Answers, error) {
	out := &repair.Answers{}
	for k, g := range b.elements {
		ys, err := m.Predict(ctx, x.moved[k], b.o.Workers)
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

// rest answers inputs as they are.
func (b *billing) rest(ctx context.Context, m *eval.Model, values []space.Value) (*repair.Answers, error) {
	ys, err := m.Predict(ctx, values, b.o.Workers)
	if err != nil {
		return nil, err
	}
	out := &repair.Answers{}
	return out, out.Add(ys)
}

// original is a model before its repair, and what was asked of it.
type original struct {
	m *eval.Model
	// in the workload, and in the study
	index, at int
	source    repair.Source
	// to the samples to choose by and to report on
	choose, confirm *repair.Answers
	bill            *repair.Bill
	audit           *AuditResult
}

// model tries the methods on one model.
func (b *billing) model(ctx context.Context, m *eval.Model, methods []repair.Asked) (*repair.Of, error) {
	file := b.w.File(m.Name)
	if file == nil {
		return nil, fmt.Errorf("%s is no file, and a repair is a file made of a file: call it at every element of "+
			"the group and take the mean of what it says", m.Name)
	}
	at := slices.IndexFunc(b.study.Models, func(x job.Model) bool { return x.Name == m.Name })
	if at < 0 {
		return nil, fmt.Errorf("the study has no model %s", m.Name)
	}
	from := original{m: m, index: slices.Index(b.w.Eval.Models, m), at: at}
	out := &repair.Of{Model: m.Name, File: b.study.Models[at].ONNX, Tried: []repair.Bill{}}
	var err error
	if from.confirm, err = b.ask(ctx, m, from.index, b.confirm); err != nil {
		return nil, err
	}
	out.Before = from.confirm.Bill(from.confirm, classes(b.confirm))
	from.bill = &out.Before
	out.Before.State, out.Before.Cost.Predicted, out.Before.Cost.Measured = repair.AsItIs, 1, 1
	if err := describeFile(&out.Before, file, nil); err != nil {
		return nil, err
	}
	if out.Before.Digest = b.w.Job.Models[from.index].SHA256; out.Before.Digest == "" {
		return nil, fmt.Errorf("%s has no digest", m.Name)
	}
	b.infinite(from.bill, from.confirm)
	if from.audit, err = b.judge(ctx, at, out.File, from.bill, m.Fixed, nil); err != nil {
		return nil, err
	}
	if out.Before.Verdict == string(document.Passed) {
		out.Sentence = m.Name + " passes as it is: there is nothing to repair, and nothing was written."
		return out, nil
	}
	if from.choose, err = b.ask(ctx, m, from.index, b.choose); err != nil {
		return nil, err
	}
	if err := b.jump(ctx, m, from.confirm, from.confirm, from.bill); err != nil {
		return nil, err
	}
	answer, err := m.Predict(ctx, b.confirm.moved[0][:1], 1)
	if err != nil {
		return nil, err
	}
	from.source = repair.Source{
		Model: file, Codec: m.Codec, Group: b.w.Group(), In: b.w.Eval.Plan.In, Out: b.w.Eval.Plan.Out,
		Sample: b.confirm.samples[0].Value, Answer: answer[0], Elements: b.elements, Fit: b.fit,
		Single:        b.o.Single || m.Fixed,
		Probabilities: b.w.Study.Output.Decode == "probabilities", Endless: b.endless, Most: b.o.most(),
		Sides: map[split.Side]int{}, Inside: b.inside(ctx, m.Name),
	}
	for side, all := range b.all {
		from.source.Sides[side] = len(all)
	}
	if slices.ContainsFunc(methods, repair.Asked.Averages) {
		if err := b.residuals(ctx, m, &from, out); err != nil {
			return nil, err
		}
	}
	for _, method := range methods {
		bill, err := b.try(ctx, &from, method)
		if err != nil {
			return nil, err
		}
		out.Tried = append(out.Tried, *bill)
	}
	out.Recommend(b.o.Loss)
	return out, nil
}

// lookedAt is how many samples a model is looked into for at once.
const lookedAt = 64

// inside asks a model for values of its graph, as [repair.Source] wants it.
func (b *billing) inside(ctx context.Context, model string) func(split.Side, int, []string,
	func(string, [][]float64, int) error) error {
	return func(side split.Side, most int, values []string, each func(string, [][]float64, int) error) (err error) {
		all := b.all[side]
		if len(all) == 0 {
			return nil
		}
		some, err := dataset.Select(nil, len(all), min(most, len(all)), false, b.w.Study.Seed)
		if err != nil {
			return err
		}
		x, err := b.w.Interior(model, b.w.EngineOf(model), b.o.Workers)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.Close()) }()
		rest := b.w.Group().Identity()
		for part := range slices.Chunk(some, lookedAt) {
			var samples []dataset.Sample
			var read []space.Value
			for _, k := range part {
				s, err := b.w.Eval.Of(all[k])
				if err != nil {
					return err
				}
				v, err := b.w.Eval.Plan.In.Apply(rest, s.Value)
				if err != nil {
					return fmt.Errorf("%s: %w", s.ID, err)
				}
				samples, read = append(samples, s), append(read, v)
			}
			in, err := x.Arrays(ctx, read)
			if err != nil {
				return err
			}
			out, err := x.Values(ctx, in, values)
			if err != nil {
				return err
			}
			for i, s := range samples {
				numbers := make([][]float64, len(values))
				for k, a := range out[i] {
					numbers[k] = a.Val
				}
				if err := each(s.ID, numbers, s.Label); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// usualTurns is the grid of a circle whose study names none, mostCurves of how many samples curves are taken.
const (
	usualTurns = 72
	mostCurves = 24
)

// residuals says what averages over parts of a circle would leave over, from the curves of some of the samples to
// report on along the grid of the study.
func (b *billing) residuals(ctx context.Context, m *eval.Model, from *original, to *repair.Of) error {
	n := usualTurns
	if g := b.w.Study.Group.Orbit.Grid; len(g) == 1 {
		n = g[0]
	}
	turns, ok := repair.Circle(b.w.Group(), n)
	if !ok {
		return nil
	}
	var curves repair.Answers
	for _, g := range turns {
		var moved []space.Value
		for _, s := range b.confirm.samples[:min(len(b.confirm.samples), mostCurves)] {
			v, err := b.w.Eval.Plan.In.Apply(g, s.Value)
			if err != nil {
				return fmt.Errorf("%s: %w", s.ID, err)
			}
			moved = append(moved, v)
		}
		ys, err := m.Predict(ctx, moved, b.o.Workers)
		if err != nil {
			return err
		}
		for i, y := range ys {
			if ys[i], err = b.w.Eval.Back(from.index, g, y); err != nil {
				return err
			}
		}
		if err := curves.Add(ys); err != nil {
			return err
		}
	}
	to.Residuals, to.Turns = curves.Residuals(from.confirm), len(turns)
	return nil
}

// try writes one repaired model, and its bill.
func (b *billing) try(ctx context.Context, from *original, method repair.Asked) (_ *repair.Bill, err error) {
	made, err := repair.Build(from.source, method)
	if ctx.Err() != nil { // some methods learn from samples
		return nil, ctx.Err()
	}
	if err != nil {
		return &repair.Bill{State: repair.Refused, Method: method.String(), Refused: err.Error()}, nil
	}
	raw, err := made.Bytes()
	if err != nil {
		return nil, err
	}
	name := b.o.file(from.m.Name, method, b.one)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	undo, err := replaced(name, raw)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil { // stopped, or it could not be judged: nobody is to find a file without its bill
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			err = errors.Join(err, undo())
		}
	}()
	s := b.study
	s.Models = []job.Model{s.Models[from.at]}
	s.Models[0].ONNX = name
	w, err := b.app.openAudit(ctx, &s, b.o.Engine)
	if err != nil && ctx.Err() == nil { // others may do
		return &repair.Bill{
			State: repair.Refused, Method: method.String(), Refused: "the engine does not open what it writes: " +
				err.Error(),
		}, undo()
	}
	if err != nil {
		return nil, fmt.Errorf("the repaired model %s: %w", name, err)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	fixed := w.Eval.Models[0]
	after, err := b.ask(ctx, fixed, from.index, b.confirm)
	if err != nil {
		return nil, err
	}
	chosen, err := b.ask(ctx, fixed, from.index, b.choose)
	if err != nil {
		return nil, err
	}
	bill := after.Bill(from.confirm, classes(b.confirm))
	bill.State, bill.Method, bill.File, bill.Form = repair.Written, method.String(), name, method.Form(from.source)
	bill.Done, bill.Refitted = repair.Done(made), method.Refits()
	bill.Chosen = chosen.Choice(from.choose, classes(b.choose))
	b.infinite(&bill, after)
	if bill.Near, err = method.Near(from.source, values(b.confirm), from.confirm); err != nil {
		return nil, err
	}
	if err := b.jump(ctx, fixed, after, from.confirm, &bill); err != nil {
		return nil, err
	}
	if err := b.crossing(ctx, fixed, from.source, method, from.confirm, &bill); err != nil {
		return nil, err
	}
	bill.Cost.Predicted = document.Number(method.Predicted(from.source))
	before := timed{m: from.m, on: b.w.EngineOf(from.m.Name)}
	if err := b.cost(ctx, before, timed{m: fixed, on: w.EngineOf(fixed.Name)}, &bill.Cost); err != nil {
		return nil, err
	}
	if err := describeFile(&bill, made, from.source.Model); err != nil {
		return nil, err
	}
	_, err = b.judge(ctx, from.at, name, &bill, fixed.Fixed, from.audit)
	if t := method.Forces(); t != "" && bill.Forces != "" && bill.Forces != holds {
		bill.Aside = t
	}
	return &bill, err
}

// replaced writes a file, and says how to have back what was there before.
func replaced(name string, raw []byte) (undo func() error, err error) {
	before, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		undo = func() error { return os.Remove(name) }
	case err != nil:
		return nil, err
	default:
		undo = func() error { return disk.Replace(disk.OS{}, name, disk.Bytes(before)) }
	}
	return undo, disk.Replace(disk.OS{}, name, disk.Bytes(raw))
}

// infinite says where answers are not finite.
func (b *billing) infinite(bill *repair.Bill, a *repair.Answers) {
	if a.Bad != nil {
		g := b.w.Group()
		bill.NotFinite = fmt.Sprintf("sample %s, element %s", b.confirm.samples[a.Bad[0]].ID,
			group.Format(g, b.elements[a.Bad[1]]))
	}
}

// jump measures by how much answers change when samples change a little, and, of several outputs, by rounding. The unit
// is the spread of the answers before.
func (b *billing) jump(ctx context.Context, m *eval.Model, at, before *repair.Answers, bill *repair.Bill) error {
	near, err := b.rest(ctx, m, b.nudged)
	if err != nil {
		return err
	}
	rest, err := b.rest(ctx, m, b.confirm.moved[0])
	if err != nil {
		return err
	}
	if at.Bad == nil && near.Bad == nil {
		bill.Jump = document.Number(repair.Jump(rest, near, before))
	}
	if len(bill.Outputs) == 0 {
		return nil
	}
	rounded, err := b.rest(ctx, m, b.rounded)
	if err != nil {
		return err
	}
	units := map[string]string{}
	for _, f := range b.w.Study.Output.Fields {
		units[f.Name] = f.Unit
	}
	bill.Floors(rest, rounded, before, units)
	return nil
}

// crossing measures the largest jump across the places where a method changes its mind.
func (b *billing) crossing(ctx context.Context, m *eval.Model, s repair.Source, method repair.Asked,
	before *repair.Answers, bill *repair.Bill,
) error {
	pairs, err := method.Crossings(s, values(b.confirm))
	if err != nil || len(pairs) == 0 {
		return err
	}
	var sides [2][]space.Value
	for _, p := range pairs {
		for k := range sides {
			sides[k] = append(sides[k], p[k])
		}
	}
	one, err := b.rest(ctx, m, sides[0])
	if err != nil {
		return err
	}
	other, err := b.rest(ctx, m, sides[1])
	if err != nil {
		return err
	}
	n := document.Number(repair.Jump(one, other, before))
	bill.Crossing = &n
	return nil
}

func values(x asked) []space.Value {
	var out []space.Value
	for _, s := range x.samples {
		out = append(out, s.Value)
	}
	return out
}

// classes are those of samples, -1 where nobody knows.
func classes(x asked) []int {
	var out []int
	for _, s := range x.samples {
		out = append(out, s.Label)
	}
	return out
}

// describeFile fills in what a file is, beside the one that it was made of.
func describeFile(b *repair.Bill, m, of *onnx.Model) error {
	raw, err := m.Bytes()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	b.Digest = hex.EncodeToString(sum[:])
	b.Nodes, b.Bytes, b.Opset = len(m.Proto().GetGraph().GetNode()), int64(m.Size()), m.Opset()
	if of != nil {
		b.Added = b.Nodes - len(of.Proto().GetGraph().GetNode())
	}
	return nil
}

// timed is a model with the engine that runs it.
type timed struct {
	m  *eval.Model
	on engine.Engine
}

// clock is a kind of time, by its name in a bill, and what it says now.
type clock struct {
	name string
	now  func(context.Context, engine.Engine) (time.Duration, error)
}

// clock is what two models are timed by, one like the other: processor time, that of the process of an engine that has
// one of its own included, and where models run on a device, which takes none, time by the clock. The error is why
// there is none for both.
func (b *billing) clock(one, other timed) (clock, error) {
	x, y := one.on.Info(), other.on.Info()
	x.Reason, y.Reason = "", ""
	_, here := one.on.(engine.Apart)
	_, there := other.on.(engine.Apart)
	switch {
	case x != y || here != there:
		return clock{}, fmt.Errorf("the models ran in different engines, %s and %s", describe(one.on.Info()),
			describe(other.on.Info()))
	case x.Provider != "":
		began := b.app.Now()
		return clock{"wall", func(context.Context, engine.Engine) (time.Duration, error) {
			return b.app.Now().Sub(began), nil
		}}, nil
	}
	return clock{"processor", func(ctx context.Context, e engine.Engine) (time.Duration, error) {
		elsewhere, err := engine.Spent(ctx, e)
		return b.o.CPU() + elsewhere, err
	}}, nil
}

// cost is how much longer the second model takes for one answer: the median of interleaved rounds, each of so many
// calls that the first model is busy for a while.
func (b *billing) cost(ctx context.Context, one, other timed, to *repair.Cost) error {
	if b.app.Now == nil || b.o.CPU == nil {
		return nil
	}
	by, err := b.clock(one, other)
	if err != nil {
		to.Unmeasured = err.Error()
		return nil //nolint:nilerr // the bill says so, and goes on
	}
	batch := b.confirm.moved[0][:min(len(b.confirm.moved[0]), max(one.m.Batch, other.m.Batch))]
	took := func(x timed, calls int) (time.Duration, error) {
		begin, err := by.now(ctx, x.on)
		if err != nil {
			return 0, err
		}
		for range calls {
			if _, err := x.m.Predict(ctx, batch, 1); err != nil {
				return 0, err
			}
		}
		end, err := by.now(ctx, x.on)
		return end - begin, err
	}
	const rounds, busy, most = 5, 20 * time.Millisecond, 1 << 10
	calls := 1
	for ; calls < most; calls *= 2 { // also warms up
		t, err := took(one, calls)
		if err != nil {
			return err
		}
		if t >= busy {
			break
		}
	}
	var ratios []float64
	for range rounds {
		x, err := took(one, calls)
		if err != nil {
			return err
		}
		y, err := took(other, calls)
		if err != nil {
			return err
		}
		if x <= 0 || y <= 0 { // no clock that tells, or the engine was started again in between
			to.Unmeasured = "the system does not say how much processor time the engine took"
			return nil
		}
		ratios = append(ratios, float64(y)/float64(x))
	}
	slices.Sort(ratios)
	to.Measured, to.Rounds, to.Clock = document.Number(ratios[rounds/2]), rounds, by.name
	return nil
}

// singleChecks are those that judge, for the second audit of a file, at one sample a call.
func singleChecks() []string {
	return []string{"preflight", "sweep", "controls", "lattice", "endtoend"}
}

// judge audits a file in the place of a model, at the batch of the study and, by the checks that judge, at one sample a
// call; before is the audit of the model before, to compare with.
func (b *billing) judge(ctx context.Context, at int, file string, bill *repair.Bill, fixed bool, before *AuditResult,
) (*AuditResult, error) {
	r, err := b.audit(ctx, at, file, func(*job.Study) {})
	if err != nil {
		return nil, err
	}
	d := r.Document()
	m := &d.Models[0]
	bill.Verdict, bill.Reasons = string(m.Verdict), m.Reasons
	if m.Error != "" {
		bill.Verdict, bill.Reasons = string(document.CouldNotRun), []string{m.Error}
	}
	for i := range m.Checks {
		c := &m.Checks[i]
		for _, s := range c.Sets {
			e := repair.SetError{
				Set: s.Name, Verdict: string(s.Verdict), Inputs: s.Inputs, Mean: s.Mean.Value, Low: s.Mean.Lo,
				High: s.Mean.Hi, Largest: s.Relative.Max, Floor: s.Rounding,
			}
			if s.Floor != nil {
				e.Floor = *s.Floor
			}
			bill.Sets = append(bill.Sets, e)
		}
		if c.Check == "gradient" {
			bill.Gradient = derivatives(c)
		}
		if c.Check == "forces" && c.Status != document.NotApplicable {
			bill.Forces = derivatives(c)
		}
	}
	if before != nil {
		if bill.Compared, err = betweenAudits(before, r); err != nil {
			return nil, err
		}
	}
	if !b.one {
		name := b.study.Models[at].Name + "-before"
		if before != nil {
			name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		}
		bill.Audit = filepath.ToSlash(filepath.Join("audits", plainName(name)))
		if err := r.Save(filepath.Join(b.o.Out, filepath.FromSlash(bill.Audit)), "json"); err != nil {
			return nil, err
		}
	}
	if fixed || before == nil || m.Error != "" {
		return r, nil
	}
	single, err := b.audit(ctx, at, file, func(s *job.Study) {
		s.Models[0].Batch, s.Audit.Checks, s.Audit.Skip, s.Audit.Require = 1, singleChecks(), nil, nil
	})
	if err != nil {
		return nil, err
	}
	bill.Single = string(single.Document().Models[0].Verdict)
	return r, nil
}

// holds is said of a check that found nothing.
const holds = "passes"

// derivatives is what a check of derivatives found, in words.
func derivatives(c *document.Check) string {
	switch {
	case c.Status != document.Tested:
		return string(c.Status) + ": " + c.Reason
	case c.Verdict == document.Passed || c.Verdict == "" && len(c.Findings) == 0:
		return holds
	case len(c.Findings) > 0:
		return "fails: " + c.Findings[0].Message
	}
	return "fails"
}

// betweenAudits is what becomes of a model between two audits, in text.
func betweenAudits(before, after *AuditResult) (string, error) {
	x, err := baseline.Stored("before", before.Document())
	if err != nil {
		return "", err
	}
	y, err := baseline.Stored("after", after.Document())
	if err != nil {
		return "", err
	}
	if x.Models[0].Error != "" || y.Models[0].Error != "" {
		return "", nil
	}
	c, err := baseline.Compare(x.Models[0], y.Models[0], baseline.Options{Allow: baseline.DefaultAllow})
	if err != nil {
		return "not comparable: " + err.Error() + "\n", nil //nolint:nilerr // a result: the bill says it
	}
	var text bytes.Buffer
	err = baseline.Text(&text, c)
	return text.String(), err
}

// audit audits a file in the place of a model.
func (b *billing) audit(ctx context.Context, at int, file string, change func(*job.Study)) (*AuditResult, error) {
	s := b.study
	m := s.Models[at]
	m.ONNX = file
	s.Models = []job.Model{m}
	change(&s)
	return b.app.Audit(ctx, &s, AuditOptions{Engine: b.o.Engine, Workers: b.o.Workers})
}
