package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"nero/audit"
	"nero/audit/check"
	"nero/audit/check/contract"
	"nero/audit/diagnosis"
	"nero/audit/page"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/metric"
	"nero/model/oracle"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/action"
	"nero/symmetry/orbit"

	"github.com/spf13/cobra"
)

func (a *App) audit() *cobra.Command {
	var sf studyFlags
	var ef engineFlags
	var formats []string
	var af auditFlags
	var out string
	w := workers()
	c := &cobra.Command{
		Use:   "audit [STUDY.yaml | MODEL.onnx]",
		Short: "Decide whether a model is equivariant, with evidence",
		Long: `audit measures how far the model's answer at g·x is from where it should be, judges exact elements (quarter turns, mirrors,
whole shifts) before resampled ones, holds every error against what rounding, repeats and resampling alone would do, and checks by
a planted asymmetry how small a violation it would have found. It looks for the layer in which an error enters, tests gradients,
derivatives along the group, unusual inputs and other conventions, says what the graph alone allows, and names the most likely
cause with what speaks for and against it. 'nero checks' lists what is asked.

Exit code: 0 PASS; 1 FAIL, and NEEDS_ATTENTION unless --fail-on lets it through; 2 the audit could not run.`,
		Example: "  nero audit model.onnx --data photos --group C4 --invariant\n" +
			"  nero audit studies/digits/demo.yaml --format text,json,junit -o audit\n" +
			"  nero audit segment.onnx --data photos --group D4 --output image --equivariant\n" +
			"  nero audit model.onnx --data photos --group C4 --skip gradient --set layers.samples=16",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormats(formats, out); err != nil {
				return err
			}
			s, err := sf.study(args)
			if err != nil {
				return err
			}
			if out != "" && !cmd.Flags().Changed("replay") {
				if err := ownFolder(out, auditFiles()...); err != nil {
					return err
				}
				if err := writable(out); err != nil { // not after minutes of work
					return err
				}
			}
			for i, name := range s.Metrics {
				if _, err := metric.Find(name); err != nil {
					return s.Errorf(fmt.Sprintf("metrics[%d]", i), "%v", err)
				}
			}
			if err := only(s, af.only); err != nil {
				return err
			}
			if cmd.Flags().Changed("replay") {
				return a.replay(cmd.Context(), s, ef, af, w, formats, out)
			}
			reports, err := a.auditStudy(cmd.Context(), s, ef, af, w)
			if err != nil {
				return err
			}
			if err := a.writeAudit(a.Out, reports, formats, out); err != nil {
				return err
			}
			switch audit.ExitCode(reports...) {
			case audit.ExitPass:
				return nil
			case audit.ExitFail:
				return errFindings
			}
			return &codeError{exitError, fmt.Errorf("the audit of %s could not run", notRun(reports))}
		},
	}
	sf.add(c)
	a.allow(c)
	ef.add(c)
	c.Flags().StringSliceVarP(&formats, "format", "f", []string{"text"},
		"text, markdown, html, json, junit, sarif, badge; several with -o")
	c.Flags().StringVarP(&out, "out", "o", "",
		"`folder` for audit.txt, audit.md, audit.html, audit.json, audit.junit.xml, audit.sarif; text is still printed")
	c.Flags().IntVarP(&w, "workers", "w", w, "workers; their number changes no number")
	af.add(c)
	return c
}

// auditFlags choose what an audit asks and how it answers.
type auditFlags struct {
	failOn                              string
	repeats                             int
	checks, skip, require, layers, sets []string
	only                                []string
	replay, contract, calibrate         string
	earlyStop                           bool
	baseline                            baselineFlags
}

func (f *auditFlags) add(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.failOn, "fail-on", string(audit.FailOnAttention),
		"what ends with exit code 1: attention (and FAIL), fail, nothing")
	s.IntVar(&f.repeats, "average", 0,
		"average this many repeats of every prediction, to audit a stochastic model in its mean")
	s.StringSliceVar(&f.checks, "checks", nil, "run only these `checks`, with what they need (default: all)")
	s.StringSliceVar(&f.skip, "skip", nil, "`checks` to leave out")
	s.StringSliceVar(&f.require, "require", nil, "optional `checks` without which there is no PASS, or all")
	s.StringSliceVar(&f.layers, "layer", nil, "look at these `layers` only, by the name of the node or of its output")
	s.StringArrayVar(&f.sets, "set", nil, "parameter of a check, `CHECK.NAME=NUMBER`; repeat for several")
	f.baseline.add(c)
	s.StringVar(&f.calibrate, "calibrate", "",
		"threshold: ten times the error of this reference `model`, known to be good, on the same study")
	s.StringVar(&f.contract, "contract", "",
		"what must hold of inputs like these, `ERROR:RATE[:CONFIDENCE]`: 1e-3:0.05 is P(error > 0.001) at most 5%")
	s.BoolVar(&f.earlyStop, "early-stop", false,
		"stop adding inputs once it is certain, at any time, whether the contract holds (without one: the policy's "+
			"share of inputs)")
	s.StringArrayVar(&f.only, "only", nil, "audit this `model` of the study alone, by its name; repeat for several")
	s.StringVar(&f.replay, "replay", "",
		"measure one sample at one element again, `SAMPLE@COORDINATES`, as reports print it; with -o keep its inputs "+
			"and outputs")
}

// overlay lays the flags over the study.
func (f *auditFlags) overlay(s *job.Study) error {
	if len(f.checks) > 0 {
		s.Audit.Checks = f.checks
	}
	if len(f.skip) > 0 {
		s.Audit.Skip = f.skip
	}
	if len(f.require) > 0 {
		s.Audit.Require = f.require
	}
	if len(f.layers) > 0 {
		s.Audit.Layers = f.layers
	}
	s.Audit.Params = append(slices.Clone(s.Audit.Params), f.sets...)
	s.Audit.EarlyStop = s.Audit.EarlyStop || f.earlyStop
	if f.contract != "" {
		var err error
		if s.Audit.Contract, err = parseContract(f.contract); err != nil {
			return err
		}
	}
	if c := contract.Check.Name; s.Audit.Contract != (job.Contract{}) && len(s.Audit.Checks) > 0 &&
		!slices.Contains(s.Audit.Checks, c) {
		s.Audit.Checks = append(slices.Clone(s.Audit.Checks), c) // who makes a contract wants it judged
	}
	return nil
}

// writers of the formats of an audit.
var auditFormats = map[string]struct {
	file  string
	write func(io.Writer, ...*audit.Report) error
}{
	"text":     {"audit.txt", audit.Text},
	"json":     {"audit.json", audit.JSON},
	"junit":    {"audit.junit.xml", audit.JUnit},
	"markdown": {"audit.md", audit.Markdown},
	"html":     {"audit.html", page.HTML},
	"sarif":    {"audit.sarif", audit.SARIF},
	"badge":    {"audit.badge.json", audit.Badge},
}

// formatNames are the formats, sorted.
func formatNames() []string { return slices.Sorted(maps.Keys(auditFormats)) }

// auditFiles are the names of the files that an audit writes.
func auditFiles() []string {
	var names []string
	for _, f := range formatNames() {
		names = append(names, auditFormats[f].file)
	}
	return names
}

func checkFormats(formats []string, out string) error {
	for _, f := range formats {
		if _, ok := auditFormats[f]; !ok {
			return fmt.Errorf("--format %q: want one or more of %s", f, strings.Join(formatNames(), ", "))
		}
	}
	if len(formats) == 0 {
		return fmt.Errorf("--format: want one or more of %s", strings.Join(formatNames(), ", "))
	}
	if len(formats) > 1 && out == "" {
		return fmt.Errorf("--format %s: several formats need a folder, -o DIR", strings.Join(formats, ","))
	}
	return nil
}

func notRun(reports []*audit.Report) string {
	var names []string
	for _, r := range reports {
		if r.Error != "" {
			names = append(names, r.Model+" ("+r.Error+")")
		}
	}
	return strings.Join(names, ", ")
}

// writable says whether files can be written into the folder, or into the nearest one above it that exists.
func writable(dir string) error {
	at := filepath.Clean(dir)
	for {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("-o %s: %s is a file, want a folder", dir, at)
		}
		if err == nil {
			break
		}
		up := filepath.Dir(at)
		if up == at {
			return fmt.Errorf("-o %s: %w", dir, err)
		}
		at = up
	}
	f, err := os.CreateTemp(at, ".nero-*")
	if err != nil {
		return fmt.Errorf("-o %s: files cannot be written there: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writeAudit prints one format, or writes several into a folder and prints the text.
func (a *App) writeAudit(to io.Writer, reports []*audit.Report, formats []string, out string) error {
	if out == "" {
		return auditFormats[formats[0]].write(to, reports...)
	}
	if err := ownFolder(out, auditFiles()...); err != nil {
		return err
	}
	if err := audit.Text(to, reports...); err != nil { // first: what cannot be written into files is not lost
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range formats {
		var b strings.Builder
		if err := auditFormats[f].write(&b, reports...); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(out, auditFormats[f].file), []byte(b.String())); err != nil {
			return err
		}
	}
	return nil
}

// auditStudy audits every model of the study.
func (a *App) auditStudy(ctx context.Context, s *job.Study, ef engineFlags, af auditFlags,
	workers int,
) ([]*audit.Report, error) {
	if err := a.sayOutput(s); err != nil {
		return nil, err
	}
	if workers < 1 {
		return nil, fmt.Errorf("--workers is %d, want at least 1", workers)
	}
	if err := af.overlay(s); err != nil {
		return nil, err
	}
	policy, err := auditPolicy(s, af)
	if err != nil {
		return nil, err
	}
	if af.calibrate != "" {
		if policy, err = a.calibrate(ctx, s, ef, af.calibrate, policy, workers); err != nil {
			return nil, err
		}
	}
	checks, left, err := check.Select(s.Audit.Checks, s.Audit.Skip)
	if err != nil {
		return nil, s.Errorf("audit", "%v", err)
	}
	params, err := check.Params(s.Audit.Params)
	if err != nil {
		return nil, s.Errorf("audit.params", "%v", err)
	}
	o := audit.Options{Params: params, Outside: check.Outside(), Diagnose: diagnosis.Explain}
	for _, n := range left {
		o.Outside = append(o.Outside, "left out by request: "+n)
	}
	if err := audit.CheckParams(checks, params); err != nil {
		return nil, s.Errorf("audit.params", "%v", err)
	}
	before, err := af.baseline.former(s)
	if err != nil {
		return nil, err
	}
	w, err := workload.Open(ctx, s, workload.Options{
		OpenEngine: a.opener(ef), Rules: action.Rules(), Audit: true,
		Retry: retry(), Start: a.program,
	})
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	for _, n := range w.Notes {
		a.say("note: %s", n)
	}
	var reports []*audit.Report
	for _, m := range w.Eval.Models {
		r, err := a.auditModel(ctx, w, m, policy, checks, o, before, workers)
		if err != nil {
			return nil, err
		}
		if err := before.compare(r, af.baseline.allow); err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// sayOutput refuses a study that leaves open what the output should do, and says what is taken for granted.
func (a *App) sayOutput(s *job.Study) error {
	if s.Output.Action != "" {
		return nil
	}
	for _, f := range s.Output.Fields { // what rows do is said by their type
		if f.Kind == "signal" || f.Kind == "frames" || f.Kind == "image" {
			a.say("note: %s is taken to move as the input does; say --invariant if it should stay", f.Name)
		}
	}
	if len(s.Output.Fields) > 0 {
		return nil
	}
	switch s.Output.Space {
	case "", "scores":
	case "boxes":
		a.say("note: boxes are taken to move as the picture does; say --invariant if they should stay")
		return nil
	case "field":
		a.say("note: the vectors of a field are taken to move and to turn as the pictures do; say --invariant if " +
			"they should stay")
		return nil
	default:
		return errors.New("what should the output do along the orbit? Say --invariant (stay as it is) or " +
			"--equivariant (move as the input does), or set output.action")
	}
	a.say("note: scores are taken to be invariant; say --invariant to confirm")
	return nil
}

// auditPolicy is the policy that study and flags ask for.
func auditPolicy(s *job.Study, af auditFlags) (audit.Policy, error) {
	policy, err := audit.NewPolicy(s.Audit.Preset, s.Audit.Threshold, s.Audit.Confidence)
	if err != nil {
		return policy, s.Errorf("audit", "%v", err)
	}
	policy.FailOn, policy.Average = audit.FailOn(af.failOn), af.repeats
	if len(s.Audit.Require) > 0 {
		policy.Required = s.Audit.Require
		if names := slices.DeleteFunc(slices.Clone(s.Audit.Require),
			func(n string) bool { return n == "all" }); len(names) > 0 {
			if _, _, err := check.Select(names, nil); err != nil {
				return policy, s.Errorf("audit.require", "%v", err)
			}
		}
	}
	switch policy.FailOn {
	case audit.FailOnAttention, audit.FailOnFail, audit.FailOnNothing:
		return policy, nil
	}
	return policy, fmt.Errorf("--fail-on %q: want attention, fail or nothing", af.failOn)
}

// auditModel audits one model. The error is for what ends the whole audit; what ends that of the model alone is in the
// report.
func (a *App) auditModel(ctx context.Context, w *workload.Workload, m *eval.Model, policy audit.Policy,
	checks []*audit.Check, o audit.Options, before former, workers int,
) (*audit.Report, error) {
	subject, done, err := a.subject(w, m, workers)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := before.differ(subject, policy); err != nil {
		return nil, err
	}
	p := newProgress(a.Err, "nero audit "+m.Name, "predictions", a.quiet)
	last := 0
	subject.Progress = func(done, total int) {
		if last == 0 {
			p.begin0(total)
		}
		p.Evaluated(done - last)
		last = done
	}
	subject.Stage = func(check string) { p.stage("nero audit " + m.Name + ", " + check) }
	r, err := audit.Run(ctx, subject, policy, checks, o)
	p.finish()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r = audit.CouldNotRun(m.Name, policy, err)
		r.About = subject.About
		return r, nil
	}
	r.Command = a.command()
	if r.Gallery, err = gallery(ctx, subject, r); err != nil {
		return nil, err
	}
	return r, nil
}

// command is the command line that repeats the audit: what was typed, without what only says where results go.
func (a *App) command() string {
	words := []string{"nero"}
	skip := false
	for _, w := range a.args {
		switch name, _, with := strings.Cut(w, "="); {
		case skip:
			skip = false
		case slices.Contains([]string{
			"-o", "--out", "-f", "--format", "--baseline", "--baseline-model",
			"--allow-regression", "--fail-on", "-w", "--workers",
		}, name):
			skip = !with
		case w == "-q" || w == "--quiet":
		default:
			words = append(words, audit.ShellQuote(w))
		}
	}
	return strings.Join(words, " ")
}

// predictor runs a model for the audit.
type predictor struct {
	m       *eval.Model
	workers int
}

// Predict runs the model in its micro-batches.
func (p predictor) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	return p.m.Predict(ctx, values, p.workers)
}

// PredictBatch runs the model in batches of the given size.
func (p predictor) PredictBatch(ctx context.Context, size int, values []space.Value) ([]space.Value, error) {
	return p.m.PredictBatch(ctx, values, size, p.workers)
}

// subject is a model with the inputs and elements that its audit uses: the study's, thinned to the sizes that it names
// or that go with the size of the model. Call done when the audit is over.
func (a *App) subject(w *workload.Workload, m *eval.Model, workers int) (s *audit.Subject, done func(), err error) {
	if s, _, err = inputs(w, m, workers); err != nil {
		return nil, nil, err
	}
	switch s.Interior, err = w.Interior(m.Name, w.Engine(), workers); {
	case errors.Is(err, workload.ErrNoGraph):
		if len(s.Layers) > 0 {
			return nil, nil, w.Study.Errorf("audit.layers", "%v", err)
		}
		s.Interior, s.NoReference, s.NoTwin = nil, err.Error(), err.Error()
		if w.File(m.Name) == nil {
			return s, func() {}, nil
		}
		t := &twin{w: w, model: m.Name, workers: workers}
		s.Twin, s.TwinName, s.NoTwin = t.find(w.Engine())
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
	}
	t := &twin{w: w, model: m.Name, workers: workers}
	s.Twin, s.TwinName, s.NoTwin = t.find(w.Engine())
	return s, func() {
		_ = s.Interior.Close() // nothing is lost
		if s.Reference != nil {
			_ = s.Reference.Close()
		}
		t.close()
	}, nil
}

// earlyOrder is the stream of random numbers of the order of inputs that are added one after another.
const earlyOrder = 1<<63 + 1

// inputs is a model with the inputs and elements of its audit, and which samples of the run the inputs are.
func inputs(w *workload.Workload, m *eval.Model, workers int) (*audit.Subject, []int, error) {
	n, _ := audit.PresetSize(w.Parameters[m.Name])
	if k := w.Study.Audit.Samples; k > 0 {
		n = k
	}
	chosen, balanced, err := auditSamples(w, n)
	if err != nil {
		return nil, nil, err
	}
	drawn := ""
	if balanced {
		drawn = "the same number of each class"
	}
	if w.Study.Audit.EarlyStop { // the first inputs must be like the others: files are often sorted by class
		rand.New(rand.NewPCG(w.Study.Seed, earlyOrder)).Shuffle(len(chosen),
			func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	}
	return &audit.Subject{
		Name: m.Name, Predictor: predictor{m, workers}, Plan: thin(w.Eval.Plan, w.Study.Audit.Elements),
		N: len(chosen), Sample: func(i int) (dataset.Sample, error) { return w.Eval.At(chosen[i]) },
		Input: w.Study.Input, Seed: w.Study.Seed, Layers: w.Study.Audit.Layers, About: about(w, m.Name),
		Contract: w.Study.Audit.Contract, EarlyStop: w.Study.Audit.EarlyStop, Basis: basis(w), Drawn: drawn,
		Roundoff: roundoff(w, m.Name),
	}, chosen, nil
}

// about says what is audited and where.
func about(w *workload.Workload, model string) []audit.About {
	i := w.Engine().Info()
	var a []audit.About
	add := func(name, value string) { a = append(a, audit.About{Name: name, Value: value}) }
	for _, m := range w.Job.Models {
		if m.Name == model {
			if job.IsEndpoint(m.Path) {
				add("endpoint", m.Path)
				add("fingerprint", m.SHA256)
				continue
			}
			add("file", m.Path)
			add("sha256", m.SHA256)
		}
	}
	if w.File(model) == nil {
		add("engine", "a server, Open Inference Protocol v2")
	} else {
		add("parameters", strconv.FormatInt(w.Parameters[model], 10))
		add("engine", i.Name+", ONNX Runtime "+i.Version)
	}
	add("data", w.Study.Data.Images)
	add("group", w.Study.Group.Name)
	// nothing else is read between its numbers
	if s := w.Study.Input.Space; s != string(space.KindRows) && s != string(space.KindRecord) {
		add("kernel", w.Study.Group.Resample)
		add("border", w.Study.Group.Border)
	}
	add("date", time.Now().UTC().Format(time.DateOnly))
	add("program", version())
	add("platform", runtime.GOOS+"/"+runtime.GOARCH)
	return a
}

// auditSamples chooses n of the study's samples: the same number of each class where there are labels and no class is
// too small for its share.
func auditSamples(w *workload.Workload, n int) (chosen []int, balanced bool, err error) {
	count := w.Eval.Count()
	var labels []int
	if all := w.Data.Labels(); all != nil {
		labels = all
		if w.Eval.Samples != nil {
			labels = make([]int, count)
			for i, k := range w.Eval.Samples {
				labels[i] = all[k]
			}
		}
	}
	classes := map[int]bool{}
	for _, l := range labels {
		if l >= 0 {
			classes[l] = true
		}
	}
	balanced = len(classes) > 1 && n >= len(classes) && n < count
	chosen, err = dataset.Select(labels, count, min(n, count), balanced, w.Study.Seed)
	if err != nil && balanced {
		balanced = false
		chosen, err = dataset.Select(labels, count, min(n, count), false, w.Study.Seed)
	}
	return chosen, balanced || w.Study.Data.Balance != "", err
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

func (a *App) checks() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "checks [NAME...]", Short: "List the checks of an audit, with what they ask and need",
		Args: cobra.ArbitraryArgs,
		Long: `checks lists what an audit asks, in the order in which it is asked, with one line each; with names, all that there is to know of those.

A check that judges decides about PASS. One that explains says where, why or how else: that it could not run is said in the report and does
not stand in the way of PASS, unless --require names it.`,
		Example: "  nero checks\n  nero checks layers gradient\n  nero checks --json",
		RunE: func(_ *cobra.Command, args []string) error {
			all, _, err := check.Select(args, nil)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.Out, describeChecks(all))
			}
			if len(args) == 0 {
				for _, c := range describeChecks(all) {
					fmt.Fprintf(a.Out, "%-11s %-8s  %s\n", c.Name, c.Role, c.Summary)
				}
				fmt.Fprintf(a.Out, "\nMore on one: nero checks NAME. Not asked by any: %s.\n",
					strings.Join(check.Outside(), "; "))
				return nil
			}
			for i, c := range describeChecks(all) {
				if i > 0 {
					fmt.Fprintln(a.Out)
				}
				fmt.Fprintf(a.Out, "%s (%s)\n", c.Name, c.Role)
				for line := range strings.SplitSeq(strings.TrimSpace(c.Doc), "\n") {
					fmt.Fprintf(a.Out, "  %s\n", line)
				}
				if c.Family != "" {
					fmt.Fprintf(a.Out, "  family: %s, which names all of its checks together\n", c.Family)
				}
				if len(c.Requires) > 0 {
					fmt.Fprintf(a.Out, "  needs: %s\n", strings.Join(c.Requires, ", "))
				}
				if len(c.Uses) > 0 {
					fmt.Fprintf(a.Out, "  uses, if they run: %s\n", strings.Join(c.Uses, ", "))
				}
				for _, p := range c.Params {
					fmt.Fprintf(a.Out, "  --set %s.%s=%g: %s\n", c.Name, p.Name, p.Default, p.Doc)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// checkEntry is a check as it is listed.
type checkEntry struct {
	Name string `json:"name"`
	// "judges" or "explains"
	Role string `json:"role"`
	// "" for a check that stands alone
	Family   string        `json:"family,omitempty"`
	Summary  string        `json:"summary"`
	Doc      string        `json:"doc"`
	Requires []string      `json:"requires,omitempty"`
	Uses     []string      `json:"uses,omitempty"`
	Params   []audit.Param `json:"params,omitempty"`
}

func describeChecks(all []*audit.Check) []checkEntry {
	var out []checkEntry
	for _, c := range all {
		e := checkEntry{
			Name: c.Name, Role: "judges", Family: c.Family, Summary: c.Summary(), Doc: c.Doc,
			Params: c.Params,
		}
		if c.Optional {
			e.Role = "explains"
		}
		for _, r := range c.Requires {
			e.Requires = append(e.Requires, r.Name)
		}
		for _, u := range c.Uses {
			e.Uses = append(e.Uses, u.Name)
		}
		out = append(out, e)
	}
	return out
}
