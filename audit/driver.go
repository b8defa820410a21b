package audit

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/scale"
	"nero/model/interior"
	"nero/present/words"
	"nero/symmetry/group"
)

// Pass is what a check is given: the subject, the limits in force, and a way to say what it saw. It serves one run of
// one check.
type Pass struct {
	Check   *Check
	Subject *Subject
	Policy  Policy
	// Elements are what the audit visits, the identity excluded.
	Elements []Element

	params  map[string]float64
	results map[*Check]any
	out     *Result
	driver  *driver
}

// Param is the value of a parameter of the check.
// It panics if the check has no such parameter.
func (p *Pass) Param(name string) float64 {
	v, ok := p.params[name]
	if !ok {
		panic("audit: parameter is not declared by the check")
	}
	return v
}

// ResultOf is what a required check returned. It panics if the check is not required or returned another type: a
// mistake in the code of a check, not in what it audits.
func ResultOf[T any](p *Pass, c *Check) T {
	v, ok := p.results[c].(T)
	if !ok || !slices.Contains(p.Check.Requires, c) {
		panic("audit: result is not that of a required check")
	}
	return v
}

// ResultIf is what a check that this one uses returned; ok is false if it is not part of the audit or did not run.
// It panics if the check is not used.
func ResultIf[T any](p *Pass, c *Check) (v T, ok bool) {
	if !slices.Contains(p.Check.Uses, c) {
		panic("audit: result is not that of a used check")
	}
	v, ok = p.results[c].(T)
	return v, ok
}

// Report records a finding.
func (p *Pass) Report(f Finding) { p.out.Findings = append(p.out.Findings, f) }

// Measure records a number that is worth showing whether or not anything is wrong.
func (p *Pass) Measure(e ...Evidence) { p.out.Measures = append(p.out.Measures, e...) }

// Abstain says that the check, if it reports nothing, does not vouch for the model either: what it measured decides
// nothing.
func (p *Pass) Abstain() { p.out.abstained = true }

// Repeats says that equal inputs have equal answers, to the bit, whatever stands beside them in a batch. From then on
// the model is not asked again for what it has answered, but by checks that want it anew, see [Check].Anew.
func (p *Pass) Repeats() {
	if a := p.driver.kept; a != nil {
		a.repeat = true
	}
}

// Shorten leaves the checks that run after this one with the first n samples.
func (p *Pass) Shorten(n int) { p.Subject.N = min(n, p.Subject.N) }

// Certify adds a sentence to the certificate: what may be said to others, with its confidence and for whom it holds.
func (p *Pass) Certify(sentence string) { p.out.Certified = append(p.out.Certified, sentence) }

// Say puts a sentence above everything else in the report, see [Report.Gist]. It speaks to people who read no more.
func (p *Pass) Say(sentence string) { p.out.Gist = append(p.out.Gist, sentence) }

// Judge hands in a set of elements for judgment and returns its verdict. Steps and Cause must be there, see
// [Policy.Explain].
func (p *Pass) Judge(s *Set) Verdict {
	s.Supply = p.Supply()
	s.Verdict, s.Reason = p.Policy.Judge(s)
	s.Level = LevelUndefined
	if s.NonFinite == 0 {
		s.Level = LevelOf(worstBound(s), p.Subject.roundoff())
		if s.Level == LevelExact && (s.Slope == nil || !s.Slope.only()) && s.Worst.Value > 0 {
			s.Level = LevelExcellent // exact means that nothing but rounding is left, which only float64 can show
		}
	}
	p.out.Sets = append(p.out.Sets, s)
	return s.Verdict
}

// Supply is how many inputs there are, each content once as far as that is known.
func (p *Pass) Supply() Supply {
	return p.Subject.Supply.without(p.Subject.Given, max(0, p.Subject.Given-p.Subject.N))
}

// worstBound is the upper limit of the judged error, or the error itself where it has no limit.
func worstBound(s *Set) float64 {
	if math.IsNaN(s.Worst.Hi) {
		return s.Worst.Value
	}
	return s.Worst.Hi
}

// Progress counts n predictions that a check made without [Pass.Predict], such as runs of part of the model. They count
// in the total if the check's Work counts them.
func (p *Pass) Progress(n int) { p.driver.count(n) }

// Rand is the generator of one sample for one purpose. It depends on the seed of the audit and on nothing else that
// happens during it.
func (p *Pass) Rand(purpose, sample string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose + "\x00" + sample))
	return rand.New(rand.NewPCG(p.Subject.Seed, h.Sum64()))
}

// Sample decodes sample i and refuses one that is not finite.
func (p *Pass) Sample(i int) (dataset.Sample, error) {
	s, err := p.Subject.Sample(i)
	if err != nil {
		return s, fmt.Errorf("sample %d: %w", i, err)
	}
	if !space.Finite(s.Value) {
		return s, fmt.Errorf("sample %s holds NaN or infinite numbers: %w; remove it from the data", s.ID,
			dataset.ErrNotFinite)
	}
	return s, nil
}

// Pick is up to n indexes of samples, spread evenly over all of them.
func (p *Pass) Pick(n int) []int {
	n = min(n, p.Subject.N)
	out := make([]int, n)
	for i := range out {
		out[i] = i * p.Subject.N / n
	}
	return out
}

// PickElements is up to n elements of each set, spread evenly over it: indexes into Elements, the exact ones first.
func (p *Pass) PickElements(n int) []int {
	var out []int
	for _, exact := range []bool{true, false} {
		var set []int
		for j, e := range p.Elements {
			if e.Exact == exact {
				set = append(set, j)
			}
		}
		k := min(n, len(set))
		for i := range k {
			out = append(out, set[(2*i+1)*len(set)/(2*k)])
		}
	}
	return out
}

// Request is one input on its way through the model. Sample, Element and Role mean what the check that asks makes them
// mean.
type Request struct {
	Sample, Element, Role int
	// Block counts from 1 parts of the stream that are predicted by themselves, so that other machines can; 0 for none.
	Block int
	Aux   float64
	Input space.Value
}

// Predict sends a stream of requests through the model in batches and hands every prediction to each, in the order of
// the stream. The stream is read ahead by one chunk on another goroutine; memory does not grow with its length.
func (p *Pass) Predict(ctx context.Context, requests iter.Seq2[Request, error],
	each func(Request, space.Value) error,
) error {
	if err := p.driver.measure(ctx); err != nil { // before samples are read ahead
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	type chunk struct {
		requests []Request
		err      error
	}
	chunks := make(chan chunk, 1)
	done := make(chan struct{})
	// The producer is gone when Predict returns: samples and actions are never used behind the caller's back.
	defer func() { cancel(); <-done }()
	cut := p.Subject.Cutter()
	go func() {
		defer close(done)
		defer close(chunks)
		var c chunk
		flush := func() bool {
			if len(c.requests) == 0 && c.err == nil {
				return true
			}
			select {
			case chunks <- c:
				c = chunk{}
				return true
			case <-ctx.Done():
				return false
			}
		}
		read := func() (more bool) {
			defer func() {
				if r := recover(); r != nil { // on this goroutine nobody else could
					c.err, more = fault(r), true
				}
			}()
			for r, err := range requests {
				if err != nil {
					c.err = err
					break
				}
				if n := len(c.requests); n > 0 && c.requests[n-1].Block != r.Block {
					if cut.End(); !flush() {
						return false
					}
				}
				c.requests = append(c.requests, r)
				if cut.Add(r.Input.Bytes()) && !flush() {
					return false
				}
			}
			return true
		}
		if read() {
			flush()
		}
	}()
	for c := range chunks {
		var err error
		values := make([]space.Value, len(c.requests))
		for i, r := range c.requests {
			values[i] = r.Input
		}
		if len(values) > 0 {
			if b := c.requests[0].Block; b > 0 && p.Subject.Block != nil {
				if p.driver.elsewhere, err = p.Subject.Block(b - 1); err != nil {
					return err
				}
			}
			out, err := p.driver.predict(ctx, values, p.Check.Anew)
			p.driver.elsewhere = nil
			if err != nil {
				return err
			}
			for i, r := range c.requests {
				if err := each(r, out[i]); err != nil {
					return err
				}
			}
		}
		if c.err != nil {
			return c.err
		}
	}
	return ctx.Err()
}

// Cutter says where a stream of inputs is cut into the chunks that one Predict receives.
type Cutter struct{ limit, n, size int }

// Cutter is at the start of a stream.
func (s *Subject) Cutter() *Cutter {
	c := &Cutter{limit: s.Chunk}
	if c.limit == 0 {
		c.limit = 256
	}
	return c
}

// Add takes in the next input of the stream by its [Bytes]. It reports whether a chunk ends with it.
func (c *Cutter) Add(bytes int) bool {
	c.n++
	c.size += bytes
	full := c.n >= c.limit || (c.size >= mostBytes && c.n >= min(8, c.limit))
	if full {
		c.n, c.size = 0, 0
	}
	return full
}

// End ends a chunk before its limits.
func (c *Cutter) End() { c.n, c.size = 0, 0 }

// Chunks are a stream as [Pass.Predict] cuts it, for those who ask the model by themselves.
func Chunks(s *Subject, requests iter.Seq2[Request, error], f func([]space.Value) error) error {
	cut := s.Cutter()
	var values []space.Value
	block := 0
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		err := f(values)
		values = nil
		return err
	}
	for r, err := range requests {
		if err != nil {
			return err
		}
		if len(values) > 0 && r.Block != block {
			cut.End()
			if err := flush(); err != nil {
				return err
			}
		}
		block = r.Block
		values = append(values, r.Input)
		if cut.Add(r.Input.Bytes()) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Alone is what a check of a subject is given outside of an audit, to make the questions that it asks in one.
func Alone(s *Subject) *Pass {
	own := *s
	own.Sample = once(s.Sample, mostSamples)
	own.Distinct()
	return &Pass{Subject: &own, Elements: elementsOf(own.Plan)}
}

// PredictBatch sends a few values through the model in micro-batches of the given size, 0 for the predictor's own.
// The error wraps errors.ErrUnsupported if the predictor has no choice of size.
func (p *Pass) PredictBatch(ctx context.Context, size int, values []space.Value) ([]space.Value, error) {
	if err := p.driver.measure(ctx); err != nil {
		return nil, err
	}
	if size == 0 {
		return p.driver.predict(ctx, values, p.Check.Anew)
	}
	b, ok := p.Subject.Predictor.(BatchPredictor)
	if !ok {
		return nil, fmt.Errorf("the size of a batch cannot be chosen: %w", errors.ErrUnsupported)
	}
	return p.driver.through(ctx, values,
		func(v []space.Value) ([]space.Value, error) { return b.PredictBatch(ctx, size, v) })
}

// Refer predicts in float64, in the unit in which the model's outputs are compared. The error wraps [ErrUntested] if
// there is no float64 form of the model.
func (p *Pass) Refer(ctx context.Context, values []space.Value) ([]space.Value, error) {
	s := p.Subject
	if s.Reference == nil {
		why := s.NoReference
		if why == "" {
			why = "the model is not at hand as a graph"
		}
		return nil, fmt.Errorf("%w: no float64 form of the model: %s", ErrUntested, why)
	}
	out, err := s.Reference.Predict(ctx, values)
	if err != nil {
		return nil, fmt.Errorf("model %s in float64: %w", s.Name, err)
	}
	for i, v := range out {
		if out[i], err = p.driver.unit(v); err != nil {
			return nil, fmt.Errorf("model %s in float64: %w", s.Name, err)
		}
	}
	p.Progress(len(values))
	return out, nil
}

// mostBytes bounds the inputs of one chunk.
const mostBytes = 32 << 20

// Options of a run.
type Options struct {
	// Params sets parameters of checks, "check.parameter" to value; the others have their defaults. "family.parameter"
	// sets it for every check of a family that has it and is not set by its own name.
	Params map[string]float64
	// Known are checks whose parameters may be set although they do not run.
	Known []*Check
	// Outside are questions that the audit does not ask, to be listed in the report.
	Outside []string
	// Diagnose, if not nil, explains a finished report from its clues.
	Diagnose func(*Report) []Diagnosis
}

type driver struct {
	subject *Subject
	policy  Policy
	done    int
	total   int
	gauge   *scale.Gauge
	// predictions behind the scales of the gauge
	surveyed int
	// squared distances of the answers to the audited inputs from their mean, by part; NaN where they were not taken
	// in, and nil for parts whose scale is not estimated
	squares [][]float64
	// pairs that the audit looks at, about
	sweep int
	// nil where none are kept
	kept *answers
	// answers in place of the model; nil for the model
	elsewhere Predictor
}

// predict makes one prediction per value, in the unit of the subject. It does not ask the model for what it has
// answered before, unless the answers are wanted anew. Those that were kept count as predictions like others.
func (d *driver) predict(ctx context.Context, values []space.Value, anew bool) ([]space.Value, error) {
	out, err := d.recall(ctx, values, anew)
	if err != nil {
		return nil, err
	}
	d.count(len(values))
	return out, nil
}

// recall is predict without counting.
func (d *driver) recall(ctx context.Context, values []space.Value, anew bool) ([]space.Value, error) {
	ask := func(v []space.Value) ([]space.Value, error) {
		p := d.subject.Predictor
		if d.elsewhere != nil {
			p = d.elsewhere
		}
		return d.answers(ctx, v, func(v []space.Value) ([]space.Value, error) { return p.Predict(ctx, v) })
	}
	if d.kept == nil {
		return ask(values)
	}
	out, of := make([]space.Value, len(values)), make([]digest, len(values))
	var missing []space.Value
	var at []int
	for i, v := range values {
		of[i] = d.kept.digest(v)
		if !anew {
			out[i] = d.kept.find(of[i])
		}
		if out[i] == nil {
			missing, at = append(missing, v), append(at, i)
		}
	}
	if len(missing) == 0 {
		return out, ctx.Err()
	}
	got, err := ask(missing)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		out[i] = got[k]
		d.kept.keep(of[i], got[k])
	}
	return out, nil
}

// through makes one prediction per value, averaged over repeats and in the unit of the subject.
func (d *driver) through(ctx context.Context, values []space.Value,
	f func([]space.Value) ([]space.Value, error),
) ([]space.Value, error) {
	out, err := d.answers(ctx, values, f)
	if err != nil {
		return nil, err
	}
	d.count(len(values))
	return out, nil
}

// answers makes them without measuring their scale.
func (d *driver) answers(ctx context.Context, values []space.Value,
	f func([]space.Value) ([]space.Value, error),
) ([]space.Value, error) {
	repeats := max(d.policy.Average, 1)
	var sum []space.Value
	for range repeats {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := f(values)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", d.subject.Name, err)
		}
		if len(out) != len(values) {
			return nil, fmt.Errorf("model %s: %d predictions for %d inputs", d.subject.Name, len(out), len(values))
		}
		for i, v := range out {
			if out[i], err = d.unit(v); err != nil {
				return nil, fmt.Errorf("model %s: %w", d.subject.Name, err)
			}
		}
		if sum == nil {
			sum = out
			continue
		}
		for i := range sum {
			if sum[i], err = added(sum[i], out[i]); err != nil {
				return nil, fmt.Errorf("model %s: averaging repeats: %w", d.subject.Name, err)
			}
		}
	}
	if repeats > 1 {
		for i, v := range sum {
			x := v.Numbers()
			y := make([]float64, len(x))
			for j := range x {
				y[j] = x[j] / float64(repeats)
			}
			var err error
			if sum[i], err = v.With(y); err != nil {
				return nil, fmt.Errorf("model %s: averaging repeats: %w", d.subject.Name, err)
			}
		}
	}
	return sum, nil
}

// count says that n more predictions are done.
func (d *driver) count(n int) {
	d.done += n
	if d.subject.Progress != nil {
		d.subject.Progress(d.done, max(d.total, d.done))
	}
}

// unit brings scores to the unit in which they are compared. Scores that are not finite keep theirs: a softmax could
// hide an infinity.
func (d *driver) unit(v space.Value) (space.Value, error) {
	s, ok := v.(*space.Scores)
	if !ok {
		return v, nil
	}
	out := &space.Scores{Val: s.Output(), Probabilities: s.Raw == nil && s.Probabilities}
	switch d.subject.OutputUnit {
	case Logits:
		if out.Probabilities {
			return nil, errors.New(
				"the model returns probabilities, and logits were asked for; compare probabilities instead")
		}
	case Probabilities:
		if !space.Finite(out) {
			return out, nil
		}
		if s.Probabilities {
			return &space.Scores{Val: s.Val, Probabilities: true}, nil
		}
		return Softmax(out), nil
	}
	return out, nil
}

func added(a, b space.Value) (space.Value, error) {
	x := a.Numbers()
	y := space.Nearest(b, a).Numbers()
	if len(x) != len(y) {
		return nil, fmt.Errorf("%s against %s", a.Form(), b.Form())
	}
	z := make([]float64, len(x))
	for i := range x {
		z[i] = x[i] + y[i]
	}
	return a.With(z)
}

// Run audits a subject with the checks and all that they require, requirements first. An error says that the audit
// could not run: the specification is incomplete, a sample cannot be read, the model refuses its input. Whatever the
// model answers is in the report.
func Run(ctx context.Context, s *Subject, p Policy, checks []*Check, o Options) (*Report, error) {
	list, err := order(checks)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("audit of %s: %w", s.Name, err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("audit of %s: policy: %w", s.Name, err)
	}
	params, err := paramsOf(list, o.Params, o.Known)
	if err != nil {
		return nil, err
	}
	own := *s // a check may shorten it
	s = &own
	if m := s.Interior; m != nil { // the codec knows what was declared
		if s.InSpec.Kind == "" {
			s.InSpec = m.Codec().In()
		}
		if s.OutSpec.Kind == "" {
			s.OutSpec = m.Codec().Out()
		}
	}
	s.Sample = once(s.Sample, mostSamples)
	s.Distinct()
	elements := elementsOf(s.Plan)
	d := &driver{subject: s, policy: p, sweep: s.N * len(elements)}
	if p.Average <= 1 { // the mean of some repeats is not that of others
		d.kept = newAnswers(mostKept)
	}
	r := &Report{
		Model: s.Name, Policy: p, Group: s.Plan.Group.Name(), Measure: s.Plan.Measure, Planned: len(s.Plan.Elements),
		Inputs: s.N, Given: s.Given, Distinct: s.N, Scale: math.NaN(), Seed: s.Seed, Outside: o.Outside,
		About: s.About, Drawn: s.Drawn, Basis: s.Basis, known: s.Groups,
	}
	r.Ports, r.Unaudited, r.Architecture, r.Author = s.ports(), s.Unaudited, s.architecture(), s.Author
	r.Training = s.training()
	for _, e := range elements {
		if e.Added {
			r.Added++
		}
	}
	results := map[*Check]any{}
	status := map[*Check]*Result{}
	passes := make([]*Pass, len(list))
	for i, c := range list {
		passes[i] = &Pass{
			Check: c, Subject: s, Policy: p, Elements: elements,
			params: params[c], results: results, out: &Result{Check: c}, driver: d,
		}
		passes[i].afford(o.Params)
		if c.Work != nil {
			d.total += c.Work(passes[i]) * max(p.Average, 1)
		}
	}
	for i, c := range list {
		pass := passes[i]
		status[c] = pass.out
		r.Results = append(r.Results, pass.out)
		if pass.out.Status, pass.out.Reason = blocked(c, status); pass.out.Status != "" {
			continue
		}
		if !c.Views && group.IsLawless(s.Plan.Group) {
			pass.out.Status, pass.out.Reason = NotApplicable, "the views are given: there are no laws, no inverses, "+
				"and nothing but what is listed"
			continue
		}
		if s.Stage != nil {
			s.Stage(c.Name)
		}
		v, err := attempt(ctx, pass)
		switch {
		case err == nil:
			pass.out.Status = Tested
			results[c] = v
			if d, ok := v.(Describer); ok {
				d.Describe(r)
			}
		case errors.Is(err, ErrNotApplicable):
			pass.out.Status, pass.out.Reason = NotApplicable, reason(err, ErrNotApplicable)
		case errors.Is(err, ErrUntested), errors.Is(err, errFault):
			pass.out.Status, pass.out.Reason = NotTested, reason(err, ErrUntested)
		case c.Optional && ctx.Err() == nil && !errors.Is(err, interior.ErrNoLayer):
			// It explains what others judge, and they may still be able to.
			pass.out.Status, pass.out.Reason = NotTested, err.Error()
		default:
			return nil, fmt.Errorf("audit of %s: %s: %w", s.Name, c.Name, err)
		}
		if s.Rest != nil {
			s.Rest()
		}
	}
	r.Inputs, r.Views = s.N, group.IsLawless(s.Plan.Group)
	r.Setting = settingOf(s, elements)
	r.Setting.Clipped = clipped(s, elements)
	r.sayClipped()
	r.conclude()
	r.Graph = graphClues(s, r.Setting, elements)
	if o.Diagnose != nil {
		r.Diagnoses = o.Diagnose(r)
	}
	return r, nil
}

// errFault marks a mistake in the code of a check. It leaves the question of that check open, and the other checks
// standing.
var errFault = errors.New("internal fault")

// attempt runs one check. A fault in its code becomes an error that says where it happened.
func attempt(ctx context.Context, p *Pass) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fault(r)
		}
	}()
	return p.Check.Run(ctx, p)
}

// fault describes what was recovered. It is called by the deferred function that recovered it, whose stack still holds
// the place.
func fault(r any) error {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Errorf("%w, please report it: %v in %s, %s:%d", errFault, r, f.Function, filepath.Base(f.File),
				f.Line)
		}
		if !more {
			return fmt.Errorf("%w, please report it: %v", errFault, r)
		}
	}
}

// Describer is a result that knows something that belongs at the head of a report.
type Describer interface {
	Describe(r *Report)
}

// blocked says whether a requirement keeps a check from running.
func blocked(c *Check, status map[*Check]*Result) (Status, string) {
	for _, q := range c.Requires {
		if s := status[q]; s.Status != Tested {
			return s.Status, fmt.Sprintf("needs %s: %s", q.Name, s.Reason)
		}
	}
	return "", ""
}

// reason is the text of an error without that of the mark it wraps.
func reason(err, mark error) string {
	return strings.TrimSuffix(strings.TrimPrefix(err.Error(), mark.Error()+": "), ": "+mark.Error())
}

// CheckParams says whether checks, with all that they require, have the parameters and take the values. Those of the
// known checks, which need not run, are no mistake.
func CheckParams(checks, known []*Check, params map[string]float64) error {
	list, err := order(checks)
	if err != nil {
		return err
	}
	_, err = paramsOf(list, params, known)
	return err
}

func paramsOf(list []*Check, given map[string]float64, others []*Check) (map[*Check]map[string]float64, error) {
	params := map[*Check]map[string]float64{}
	known := map[string]bool{}
	for _, c := range others { // of checks that are left out: they change nothing, and they exist
		for _, q := range c.Params {
			name, v, ok := c.Name+"."+q.Name, 0.0, false
			if v, ok = given[name]; ok && !(q.Min <= v && v <= q.Max) {
				return nil, fmt.Errorf("audit: %s is %g; want a number in [%g, %g]", name, v, q.Min, q.Max)
			}
			known[name], known[c.Family+"."+q.Name] = true, true
		}
	}
	for _, c := range list {
		params[c] = map[string]float64{}
		for _, q := range c.Params {
			name := c.Name + "." + q.Name
			known[name] = true
			v, ok := given[name]
			if of := c.Family + "." + q.Name; c.Family != "" {
				known[of] = true
				if !ok {
					name = of
					v, ok = given[of]
				}
			}
			if !ok {
				v = q.Default
			}
			if !(q.Min <= v && v <= q.Max) {
				return nil, fmt.Errorf("audit: %s is %g; want a number in [%g, %g]", name, v, q.Min, q.Max)
			}
			params[c][q.Name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			if strings.HasPrefix(name, "audit.") {
				return nil, fmt.Errorf("audit: there is no parameter %s: parameters belong to checks, as "+
					"layers.samples does, and nero checks lists them; what the audit itself takes stands in the "+
					"study or has a flag, such as --audit-samples", name)
			}
			all := slices.Sorted(maps.Keys(known))
			if near, ok := words.Suggest(name, all); ok {
				return nil, fmt.Errorf(
					"audit: there is no parameter %s; did you mean %s? All are listed by: nero checks", name, near)
			}
			check, _, _ := strings.Cut(name, ".")
			own := slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, check+".") })
			if len(own) == 0 {
				return nil, fmt.Errorf("audit: there is no parameter %s; all are listed by: nero checks", name)
			}
			return nil, fmt.Errorf("audit: there is no parameter %s; %s has %s", name, check, strings.Join(own, ", "))
		}
	}
	return params, nil
}

// conclude gives every check and the whole their verdicts.
func (r *Report) conclude() {
	r.Verdict = Passed
	judged := 0
	demanded, why := r.Policy.unanswered(r.Results)
	for i, name := range demanded {
		r.Verdict = NeedsAttention
		r.because(NeedsAttention, fmt.Sprintf("%s is required and did not run: %s", name, why[i]))
	}
	for _, c := range r.Results {
		c.Verdict = Passed
		for _, s := range c.Sets {
			judged++
			c.Verdict = document.Worse(c.Verdict, s.Verdict)
			if s.Verdict != Passed {
				r.because(s.Verdict, s.Name+": "+s.Reason)
			}
		}
		for _, f := range c.Findings {
			v := r.Policy.weigh(f.Category)
			c.Verdict = document.Worse(c.Verdict, v)
			if v != Passed {
				r.because(v, f.Message)
			}
		}
		r.Verdict = document.Worse(r.Verdict, c.Verdict)
		if c.abstained && c.Verdict == Passed {
			c.Verdict = ""
		}
		switch c.Status {
		case Tested:
			continue
		case NotTested:
			if r.Policy.requires(c.Check, r.Results) && !slices.Contains(demanded, c.Check.Name) &&
				(c.Check.Family == "" || !slices.Contains(demanded, c.Check.Family)) {
				r.Verdict = document.Worse(r.Verdict, NeedsAttention)
				r.because(NeedsAttention, fmt.Sprintf("%s: not tested: %s", c.Check.Name, c.Reason))
			}
		case NotApplicable:
		}
		if c.Verdict == Passed {
			c.Verdict = "" // nothing was found because nothing was tested
		}
	}
	if judged == 0 {
		r.Verdict = document.Worse(r.Verdict, NeedsAttention)
		r.because(NeedsAttention, "no set of elements was judged")
	}
	if r.Verdict == Passed {
		for _, s := range r.Sets() {
			r.because(s.Verdict, s.Name+": "+s.Reason)
		}
	}
}

// because adds a reason with the verdict that it alone gives, which may be better than that of the whole.
func (r *Report) because(v Verdict, why string) {
	r.Reasons = append(r.Reasons, string(v)+": "+why)
}
