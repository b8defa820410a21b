package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"nero/audit"
	"nero/audit/check"
	"nero/audit/check/contract"
	compared "nero/audit/check/forms"
	"nero/audit/diagnosis"
	"nero/audit/document"
	"nero/audit/render"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
)

// AuditOptions say how an audit is made and how it answers. What is asked is in the study ([job.Audit]).
type AuditOptions struct {
	Engine Engine
	// Workers is how many goroutines run the model, at least 1. No number depends on it.
	Workers int
	// Only names the models of the study that are audited; empty means all.
	Only []string
	// FailOn says which verdicts count as failure, of [AuditResult.Outcome]: attention (and FAIL), fail or nothing;
	// empty means attention.
	FailOn string
	// Average is how many repeats of every prediction are averaged, to audit a stochastic model in its mean; 0 means 1.
	Average int
	// Calibrate is the file of a reference model, known to be good, whose error sets the threshold; empty for none.
	Calibrate string
	// Baseline compares with an earlier audit.
	Baseline Baseline
	// Before is the file of the model as it was, such as before training: it is audited as the model is, and the two
	// audits are compared as with a baseline, whose Allow counts. Empty for none.
	Before string
	// Forms are files of other forms of the one model that is audited, such as in float16: all are audited alike, and
	// their answers compared with those of the model.
	Forms []string
	// Command is the command line that reports give to repeat the audit; empty for none.
	Command string

	// who answers the blocks of the sweep of a model; nil for the model
	swept func(model string, p eval.Predictor) func(block int) (audit.Predictor, error)
}

// Outcome is what an audit comes to, over all its models.
type Outcome int

// Outcomes, from good to bad.
const (
	// Good is PASS of all models, or what FailOn lets through.
	Good Outcome = iota
	// Findings is FAIL, and NEEDS_ATTENTION unless FailOn lets it through.
	Findings
	// NotRun says that a model could not be audited.
	NotRun
)

// AuditResult holds the reports of an audit.
type AuditResult struct {
	// Reports has one for each model, in the order of the study, with what its checks hold beyond the document.
	Reports []*audit.Report
}

// Document is what the audit leaves behind, as plain data: the content of audit.json, and all that reports are made of.
func (r *AuditResult) Document() *document.Audit { return audit.Document(r.Reports...) }

// Outcome is the worst of the reports'.
func (r *AuditResult) Outcome() Outcome {
	switch audit.ExitCode(r.Reports...) {
	case audit.ExitPass:
		return Good
	case audit.ExitFail:
		return Findings
	}
	return NotRun
}

// Unaudited names the models that could not be audited, each with the reason.
func (r *AuditResult) Unaudited() []string {
	var names []string
	for _, r := range r.Reports {
		if r.Error != "" {
			names = append(names, r.Model+" ("+r.Error+")")
		}
	}
	return names
}

// WriteBrief writes what fits on a screen: each model's verdict, what it means in plain sentences, the most likely
// cause and what to do.
func (r *AuditResult) WriteBrief(w io.Writer) error { return render.Brief(w, r.Document()) }

// Audit audits every model of a study. Defaults are filled in in the study. The error is for what ends the whole audit;
// what ends that of one model is in its report.
func (a *App) Audit(ctx context.Context, s *job.Study, o AuditOptions) (*AuditResult, error) {
	forms, err := o.forms(s)
	if err != nil {
		return nil, err
	}
	policy, err := a.prepare(s, o)
	if err != nil {
		return nil, err
	}
	if o.Calibrate != "" {
		if policy, err = a.calibrate(ctx, s, o, policy); err != nil {
			return nil, err
		}
	}
	checks, left, err := a.Parts.checks().Select(s.Audit.Checks, s.Audit.Skip)
	if err != nil {
		return nil, s.Errorf("audit.checks", "%v", err)
	}
	params, err := check.Params(s.Audit.Params)
	if err != nil {
		return nil, s.Errorf("audit.params", "%v", err)
	}
	ao := audit.Options{Params: params, Known: a.Parts.checks(), Outside: check.Outside(), Diagnose: diagnosis.Explain}
	for _, n := range left {
		if len(forms) > 0 && n == compared.Check.Name {
			continue
		}
		ao.Outside = append(ao.Outside, "left out by request: "+n)
	}
	if err := audit.CheckParams(checks, a.Parts.checks(), params); err != nil {
		return nil, s.Errorf("audit.params", "%v", err)
	}
	before, err := a.earlier(ctx, s, o, forms)
	if err != nil {
		return nil, err
	}
	w, err := a.openAudit(ctx, s, o.Engine)
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	checks = forms.suite(w, checks)
	defer a.thrifty(w)()
	other := &otherEngine{host: a.host()}
	reports, err := a.auditEach(ctx, w, o.Workers,
		func(ctx context.Context, m *eval.Model, tell func(Event)) (*audit.Report, error) {
			r, err := a.auditModel(ctx, w, m, policy, forms.asked(m.Name, checks), ao, before, forms, o, other, tell)
			if err != nil {
				return nil, err
			}
			return r, before.compare(r, o.Baseline.Allow)
		})
	if err != nil {
		return nil, err
	}
	return &AuditResult{Reports: reports}, nil
}

// thrifty lets garbage of large models be collected early, as edited copies of them are made and thrown away all the
// time. What it returns ends that.
func (a *App) thrifty(w *workload.Workload) func() {
	for _, m := range w.Eval.Models {
		if f := w.File(m.Name); f != nil && f.Size() >= large && os.Getenv("GOGC") == "" {
			a.thrift.begin()
			return a.thrift.end
		}
	}
	return func() {}
}

// thrift is how many audits, or the like, of large models there are at once: the first and the last of them set what is
// of the whole
// process.
type thrift struct {
	mu             sync.Mutex
	audits, before int
}

func (t *thrift) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.audits++; t.audits == 1 {
		const percent = 30
		t.before = debug.SetGCPercent(percent)
	}
}

func (t *thrift) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.audits--; t.audits == 0 {
		debug.SetGCPercent(t.before)
	}
}

// prepare holds what an audit is asked for against what there is, before anything is opened.
func (a *App) prepare(s *job.Study, o AuditOptions) (audit.Policy, error) {
	known, err := s.KnownMetrics(a.Parts.metrics())
	if err != nil {
		return audit.Policy{}, err
	}
	for i, name := range s.Metrics {
		if _, err := known.Find(name); err != nil {
			return audit.Policy{}, s.Errorf(fmt.Sprintf("metrics[%d]", i), "%v", err)
		}
	}
	if err := a.Claim(s, o.Command); err != nil {
		return audit.Policy{}, err
	}
	if err := a.someWorkers(o.Workers); err != nil {
		return audit.Policy{}, err
	}
	if c := contract.Check.Name; s.Audit.Contract != (job.Contract{}) && len(s.Audit.Checks) > 0 &&
		!slices.Contains(s.Audit.Checks, c) {
		s.Audit.Checks = append(slices.Clone(s.Audit.Checks), c) // who makes a contract wants it judged
	}
	return a.auditPolicy(s, o)
}

// only keeps the named models of a study.
func only(s *job.Study, names []string) error {
	if len(names) == 0 {
		return nil
	}
	known := modelNames(s)
	for _, n := range names {
		if !slices.Contains(known, n) {
			return fmt.Errorf("--only %q: the study has no such model; want one of %s", n, strings.Join(known, ", "))
		}
	}
	s.Models = slices.DeleteFunc(slices.Clone(s.Models),
		func(m job.Model) bool { return !slices.Contains(names, m.Name) })
	return nil
}

func modelNames(s *job.Study) []string {
	var names []string
	for _, m := range s.Models {
		names = append(names, m.Name)
	}
	return names
}

// openAudit opens a study for an audit.
func (a *App) openAudit(ctx context.Context, s *job.Study, e Engine) (*workload.Workload, error) {
	o := a.options(e)
	o.Audit = true
	return a.open(ctx, s, o)
}

// auditPolicy is the policy that study and options ask for.
func (a *App) auditPolicy(s *job.Study, o AuditOptions) (audit.Policy, error) {
	policy, err := audit.NewPolicy(s.Audit.Preset, s.Audit.Threshold, s.Audit.Confidence)
	if err != nil {
		return policy, s.Errorf("audit", "%v", err)
	}
	policy.Average = o.Average
	if o.FailOn != "" {
		policy.FailOn = audit.FailOn(o.FailOn)
	}
	if len(s.Audit.Require) > 0 {
		policy.Required = s.Audit.Require
		if names := slices.DeleteFunc(slices.Clone(s.Audit.Require),
			func(n string) bool { return n == "all" }); len(names) > 0 {
			if _, _, err := a.Parts.checks().Select(names, nil); err != nil {
				return policy, s.Errorf("audit.require", "%v", err)
			}
		}
	}
	switch policy.FailOn {
	case audit.FailOnAttention, audit.FailOnFail, audit.FailOnNothing:
		return policy, nil
	}
	return policy, fmt.Errorf("%s %q: want attention, fail or nothing", a.option("fail-on"), o.FailOn)
}

// auditModel audits one model. The error is for what ends the whole audit; what ends that of the model alone is in the
// report.
func (a *App) auditModel(ctx context.Context, w *workload.Workload, m *eval.Model, policy audit.Policy,
	checks []*audit.Check, ao audit.Options, before former, forms exported, o AuditOptions,
	other *otherEngine, tell func(Event),
) (*audit.Report, error) {
	subject, done, err := a.subject(w, m, o.Workers, other)
	if err != nil {
		return nil, err
	}
	defer done()
	if o.swept != nil {
		subject.Block = o.swept(m.Name, eval.Predictor{Model: m, Workers: o.Workers})
	}
	forms.equip(w, subject, o.Workers)
	if err := before.differ(subject, policy); err != nil {
		return nil, err
	}
	p := begin(tell, TaskAudit, m.Name, "predictions")
	last := 0
	subject.Progress = func(done, total int) {
		if last == 0 {
			p.size(total)
		}
		p.step(done - last)
		last = done
	}
	subject.Stage = p.stage
	r, err := audit.Run(ctx, subject, policy, checks, ao)
	if err == nil {
		for _, c := range r.Results {
			p.tell(Event{Kind: Judged, Check: c.Check.Name, Text: string(c.Status)})
		}
	}
	p.end()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r = audit.CouldNotRun(m.Name, policy, err)
		r.About = subject.About
		return r, nil
	}
	r.Command = o.Command
	r.Further = a.remedy(w, m, r)
	if r.Gallery, err = gallery(ctx, subject, r); err != nil {
		return nil, err
	}
	return r, nil
}
