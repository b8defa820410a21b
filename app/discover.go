package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/split"
	"nero/discover"
	"nero/internal/disk"
	"nero/model/decode"
	"nero/model/interior"
	"nero/model/onnx/vjp"
	"nero/present/sheet"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/action"

	"github.com/goccy/go-yaml"
)

// DiscoverOptions say how symmetries are looked for.
type DiscoverOptions struct {
	Engine Engine
	// Workers is how many goroutines run the models, at least 1. No number depends on it.
	Workers int
	// Only names the models of the study that are asked; empty means all.
	Only []string
	// What names the parts of [discover.Parts] that are asked; empty for all.
	What []string
	// Samples is how many are asked at most, on the sides to fit and to choose together; 0 for 256.
	Samples int
	// Most is how many predictions may be made of each model; 0 for any number.
	Most int
	// Format is that of the report, one of the names of [discover.Forms]; empty for text.
	Format string
	// Out is a folder for discovery.json and the studies of hypotheses; empty for none.
	Out string
	// Audit holds each hypothesis against the samples to confirm.
	Audit bool
}

// discoverSamples is how many samples are asked where nobody says.
const discoverSamples = 256

// DiscoverFormats are the forms of a report on discoveries, the preset first.
func DiscoverFormats() []string { return sheet.Names(discover.Forms()) }

// DiscoverHelp are the parts that may be asked, a line for each.
func DiscoverHelp() string { return discover.Help() }

// check holds options against what there is, before anything is opened.
func (o *DiscoverOptions) check(a *App) ([]discover.Part, error) {
	parts, err := discover.Select(o.What)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("what"), err)
	}
	if _, err := sheet.Find(discover.Forms(), cmp.Or(o.Format, discover.Forms()[0].Name)); err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("format"), err)
	}
	if err := a.someWorkers(o.Workers); err != nil {
		return nil, err
	}
	if o.Samples < 0 || o.Most < 0 {
		return nil, fmt.Errorf("%s and %s are at least 0, for which there is a preset", a.option("samples"),
			a.option("budget"))
	}
	if o.Audit && o.Out == "" {
		return nil, fmt.Errorf("%s: the studies that are audited are written into a folder: name one with %s",
			a.option("confirm"), a.option("out"))
	}
	if o.Out != "" {
		return parts, writable(o.Out)
	}
	return parts, nil
}

// Discover asks models which symmetries they have. The error is for what ends all of it; that a model has none, or
// answers nothing that could be compared, is a result.
func (a *App) Discover(ctx context.Context, s *job.Study, o DiscoverOptions) (*DiscoverResult, error) {
	parts, err := o.check(a)
	if err != nil {
		return nil, err
	}
	if err := only(s, o.Only); err != nil {
		return nil, err
	}
	study := *s // as it was said, for the studies of hypotheses
	if s.Group.Name == "" && s.Group.File == "" && s.Group.Definition == "" {
		s.Group.Name = "Trivial" // the study has to be opened under some group, and none is claimed
	}
	if err := lawful(s, "discover"); err != nil {
		return nil, err
	}
	w, err := a.openAudit(ctx, s, o.Engine)
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	sides, err := o.sides(w)
	if err != nil {
		return nil, err
	}
	r := &discover.Report{Format: discover.FormatNumber, Seed: w.Study.Seed}
	for _, m := range w.Eval.Models {
		found, err := a.discoverModel(ctx, w, m, study, sides, parts, o)
		if err != nil {
			return nil, err
		}
		r.Models = append(r.Models, found)
	}
	if o.Out == "" {
		return &DiscoverResult{r}, nil
	}
	if err := a.propose(ctx, r, study, o); err != nil {
		return nil, err
	}
	return &DiscoverResult{r}, o.save(r, "discovery.json", "json")
}

// DiscoverResult is what was found.
type DiscoverResult struct{ Report *discover.Report }

// Write writes it in one of the names of [discover.Forms].
func (r *DiscoverResult) Write(format string) ([]byte, error) {
	var b bytes.Buffer
	err := writeForm(&b, discover.Forms(), format, r.Report)
	return b.Bytes(), err
}

// Good reports whether every model has a symmetry that holds.
func (r *DiscoverResult) Good() bool { return r.Report.Good() }

func (o *DiscoverOptions) save(r *discover.Report, name, format string) error {
	b, err := (&DiscoverResult{r}).Write(format)
	if err != nil {
		return err
	}
	return disk.Replace(disk.OS{}, filepath.Join(o.Out, name), disk.Bytes(b))
}

// sides are the samples by side, no more than are asked for: a limit of the study is one for each, as it is for whoever
// audits a hypothesis on the samples that confirm.
func (o *DiscoverOptions) sides(w *workload.Workload) (map[split.Side][]dataset.Sample, error) {
	sets, err := w.Divided()
	if err != nil {
		return nil, err
	}
	if err := sets.Need(split.Sides()...); err != nil {
		return nil, err
	}
	most := cmp.Or(o.Samples, discoverSamples)
	asked := len(sets[split.Fit]) + len(sets[split.Choose])
	out := map[split.Side][]dataset.Sample{}
	for side, all := range sets {
		if side == split.Confirm { // whoever confirms reads them
			out[side] = make([]dataset.Sample, len(all))
			continue
		}
		n := len(all)
		if asked > most {
			n = max(n*most/asked, 1)
		}
		chosen, err := dataset.Select(nil, len(all), n, false, w.Study.Seed)
		if err != nil {
			return nil, err
		}
		for _, k := range chosen {
			s, err := w.Eval.Of(all[k])
			if err != nil {
				return nil, err
			}
			out[side] = append(out[side], s)
		}
	}
	return out, nil
}

// discoverModel asks one model.
func (a *App) discoverModel(ctx context.Context, w *workload.Workload, m *eval.Model, study job.Study,
	sides map[split.Side][]dataset.Sample, parts []discover.Part, o DiscoverOptions,
) (*discover.Model, error) {
	var p *work
	defer func() {
		if p != nil {
			p.end()
		}
	}()
	const float32Roundoff = 1.0 / (1 << 24)
	s := &discover.Subject{
		Model: m.Name, Fit: sides[split.Fit], Choose: sides[split.Choose], Confirm: sides[split.Confirm],
		In: m.Codec.In(), Out: m.Codec.Out(), Answers: eval.Predictor{Model: m, Workers: o.Workers}.Predict,
		Rules: a.Parts.rules(), Moving: w.Moving(), Moved: w.Moving(), Groups: a.Parts.Groups,
		Declared: study.Output.Action != "", Stays: study.Output.Action == "invariant",
		Roundoff: cmp.Or(roundoff(w, m.Name), float32Roundoff), Seed: w.Study.Seed,
		Confidence: cmp.Or(w.Study.Audit.Confidence, job.PresetConfidence), Most: o.Most,
	}
	s.Begin = func(part string) { // each counts for itself
		if p != nil {
			p.end()
		}
		p = begin(a.tell, TaskDiscover, m.Name, "predictions")
		p.stage(part)
		s.Expect, s.Step = p.size, p.step
	}
	if k := w.Study.Output.Kernel; k != "" {
		s.Moved.Kernel = action.Kernel(k)
	}
	switch inside, err := w.Interior(m.Name, w.EngineOf(m.Name), o.Workers); {
	case errors.Is(err, workload.ErrNoGraph):
		s.NoGradient = err.Error()
	case err != nil:
		return nil, err
	default:
		defer inside.Close() //nolint:errcheck // nothing is lost
		s.Gradient = derivative(inside)
	}
	out, err := discover.Ask(ctx, s, parts)
	if err == nil {
		out.Digest = w.Job.Models[slices.Index(w.Eval.Models, m)].SHA256
	}
	return out, err
}

// derivative is the gradient of a model; what has none is open for whoever asks, and no reason to end.
func derivative(of *interior.Model) func(context.Context, []space.Value, []space.Value) ([]space.Value, error) {
	return func(ctx context.Context, values, cotangents []space.Value) ([]space.Value, error) {
		g, err := of.Gradient(ctx, values, cotangents)
		var u *vjp.UnsupportedError
		if errors.Is(err, vjp.ErrNoPath) || errors.Is(err, decode.ErrNotLinear) || errors.As(err, &u) {
			return nil, fmt.Errorf("%w: %w", discover.ErrOpen, err)
		}
		return g, err
	}
}

// propose writes a study for every hypothesis, and audits it if that is asked for.
func (a *App) propose(ctx context.Context, r *discover.Report, study job.Study, o DiscoverOptions) error {
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return fmt.Errorf("%s: %w", a.option("out"), err)
	}
	place := func(n int) string { return filepath.Join(o.Out, fmt.Sprintf("hypothesis-%d.yaml", n)) }
	n := 0
	for _, m := range r.Models {
		for _, h := range m.Proposed {
			n++
			h.Study = place(n)
			s, err := hypothesis(study, m.Model, h, o.Out)
			if err != nil {
				return err
			}
			b, err := yaml.Marshal(s)
			if err != nil {
				return err
			}
			if err := disk.Replace(disk.OS{}, h.Study, disk.Bytes(b)); err != nil {
				return err
			}
			if !o.Audit {
				continue
			}
			err = a.confirm(ctx, h, o)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil { // what was found before is worth telling all the same
				h.Audit, h.Why = discover.CouldNotRun, err.Error()
			}
		}
	}
	// those of an earlier search that found more would pass for what this one found
	for n++; ; n++ {
		switch err := os.Remove(place(n)); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
	}
}

// confirm audits the study of a hypothesis, as who audits it later reads it.
func (a *App) confirm(ctx context.Context, h *discover.Hypothesis, o DiscoverOptions) error {
	read, err := a.OpenStudy(h.Study)
	if err != nil {
		return err
	}
	got, err := a.Audit(ctx, read, AuditOptions{Engine: o.Engine, Workers: o.Workers})
	if err != nil {
		return err
	}
	m := got.Document().Models[0]
	h.Audit = string(m.Verdict)
	if m.Verdict != document.Passed && len(m.Reasons) > 0 {
		h.Why = strings.TrimPrefix(m.Reasons[0], h.Audit+": ")
	}
	return nil
}

// hypothesis is the study of a claim about one model, with paths that are right in a folder.
func hypothesis(study job.Study, model string, h *discover.Hypothesis, dir string) (*job.Study, error) {
	s := study
	s.Version, s.Hypothesis, s.Name, s.About = job.StudyVersion, true, "", h.Claim
	s.Metrics, s.Formulas, s.Measures, s.Consensus = nil, nil, nil, job.Consensus{}
	s.Models = nil
	for _, m := range study.Models {
		if m.Name == model {
			s.Models = append(s.Models, m)
		}
	}
	s.Data.Side = string(split.Confirm)
	h.Lay(&s)
	here, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	there, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	back, err := filepath.Rel(there, here)
	if err != nil { // on another drive
		back = here
	}
	s.Resolve(filepath.ToSlash(back))
	return &s, nil
}
