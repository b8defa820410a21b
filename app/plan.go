package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"nero/internal/disk"
	"nero/measure/metric"
	"nero/model/engine/choose"
	"nero/model/engine/provider"
	"nero/present/words"
	"nero/run/eval"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/store/object"
	"nero/run/workload"
)

// PlanResult is a run that anybody can work on who reaches its folder.
type PlanResult struct {
	// Job is the hash of the job, which names everything that comes of it.
	Job string `json:"job"`
	// Shards is how many there are, and Todo which of them are not kept yet, as "0-4,7"; empty for none.
	Shards int    `json:"shards"`
	Todo   string `json:"todo"`
	// Dir is the absolute path of the run folder.
	Dir string `json:"-"`
	// Samples are those of the job.
	Samples int `json:"-"`
}

// WriteText says in sentences what is planned and how it goes on.
func (r *PlanResult) WriteText(to io.Writer) error {
	if r.Todo == "" {
		_, err := fmt.Fprintf(to, "%s: %s, all kept; complete it with: %s\n", r.Dir,
			shardsOf(r.Shards, r.Samples), merging(r.Dir))
		return err
	}
	_, err := fmt.Fprintf(to, "%s: %s, to do: %s\nwork on it anywhere with: nero shard %s --index %s\n"+
		"and when all are kept: %s\n", r.Dir, shardsOf(r.Shards, r.Samples), r.Todo, r.Dir, r.Todo, merging(r.Dir))
	return err
}

func shardsOf(shards, samples int) string {
	return fmt.Sprintf("%s in %s", words.Plural(samples, "sample", "samples"), words.Plural(shards, "shard", "shards"))
}

// WriteJSON writes the result as one line of JSON.
func (r *PlanResult) WriteJSON(to io.Writer) error { return json.NewEncoder(to).Encode(r) }

// Plan writes the job of a study into a run folder, or to a place in a bucket such as s3://BUCKET/PREFIX, with what
// every worker would else have to measure by itself, so that [App.Shard] works on it on any number of machines,
// [App.Merge] completes it and, in a folder, [App.Run] goes on with it. Nothing is evaluated but for that measurement.
// Workers is how many goroutines it takes.
func (a *App) Plan(ctx context.Context, s *job.Study, o RunOptions) (*PlanResult, error) {
	if !object.Is(o.Dir) {
		return a.plan(ctx, s, o)
	}
	at, err := a.place(ctx, o.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, again(err)
	}
	defer at.close()
	out, err := a.planAt(ctx, s, o, at)
	return out, again(at.named(err))
}

// planAt plans in the scratch folder of a bucket, and puts there what came of it.
func (a *App) planAt(ctx context.Context, s *job.Study, o RunOptions, at *place) (*PlanResult, error) {
	o.Dir = at.dir
	out, err := a.plan(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if err := at.bucket.Publish(ctx, at.dir); err != nil {
		return nil, err
	}
	missing, err := at.missing(ctx)
	if err != nil {
		return nil, err
	}
	out.Dir, out.Todo = at.bucket.String(), store.Indexes(missing)
	return out, nil
}

func (a *App) plan(ctx context.Context, s *job.Study, o RunOptions) (*PlanResult, error) {
	w, r, err := a.begun(ctx, s, o, store.Options{Shared: true})
	if denied, ok := errors.AsType[*deniedError](err); ok {
		_ = denied.w.Close() // the error says more
		return nil, denied.error
	}
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // the models are not needed any more
	out := &PlanResult{
		Job: r.Hash(), Shards: len(w.Job.Shards()), Todo: store.Indexes(r.Unmarked()), Dir: r.Dir(),
		Samples: w.Job.Count,
	}
	return out, r.Close()
}

// hashing tells how many files of the data have got their digests.
func (a *App) hashing(total int) (done func(int), ended func()) {
	w := a.begin(TaskHash, "files")
	w.size(total)
	return w.step, w.end
}

// deniedError says that a folder may not be written. Of a run that is complete in it nothing has to be.
type deniedError struct {
	error
	dir string
	w   *workload.Workload
}

func (e *deniedError) Unwrap() error { return e.error }

// begun opens a study and the folder of its run, with all that is known before the first shard.
func (a *App) begun(ctx context.Context, s *job.Study, o RunOptions, so store.Options) (*workload.Workload, *store.Run,
	error,
) {
	if err := a.someWorkers(o.Workers); err != nil {
		return nil, nil, err
	}
	if err := noFile(o.Dir); err != nil {
		return nil, nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, nil, err
	}
	wo := a.options(o.Engine)
	wo.KeepGoing, wo.Hashing = o.KeepGoing, a.hashing
	w, err := a.open(ctx, s, wo)
	if err != nil {
		return nil, nil, err
	}
	if old := store.Format(dir); w.Job.Format > job.FormatSmall && old == job.FormatSmall {
		w.Job.SettleAs(old) // another version of the program has begun it
		if w.Hash, err = w.Job.Hash(); err != nil {
			_ = w.Close() // the first error is the one to report
			return nil, nil, err
		}
	}
	r, err := store.Create(dir, w.Job, so)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil, nil, &deniedError{err, dir, w}
	}
	if err == nil {
		err = a.ready(ctx, w, r, o.Workers, plan{
			KeepGoing: o.KeepGoing, Confidence: w.Study.Audit.Confidence, Limit: fold.Number(limitOf(w.Study)),
			Processor: a.host().Processor,
		})
	}
	if err != nil {
		if r != nil {
			_ = r.Close() // the first error is the one to report
		}
		_ = w.Close() // the first error is the one to report
		return nil, nil, err
	}
	return w, r, nil
}

// plan is what all who work on a run have to know beside its job. It stands in the folder until the run is complete.
type plan struct {
	// a sample that cannot be read becomes a row with an error
	KeepGoing bool `json:"keep_going"`
	// of the intervals of the summary; 0 for the preset
	Confidence float64 `json:"confidence"`
	// the relative error that the study's audit allows
	Limit fold.Number `json:"limit"`
	// what the processor is on which the run was planned; empty where nobody said so
	Processor string `json:"processor,omitempty"`
	// the centred scales of the models' outputs, and of their fields, which are measured once; null of what needs none
	Scales      []fold.Number            `json:"scales"`
	FieldScales []map[string]fold.Number `json:"field_scales"`
	// root mean squares of what the scales are of; none in plans of older versions
	Sizes []fold.Number `json:"sizes,omitempty"`
	// what a merge would else have to open the data for; nil in plans of older versions, and where it is too long
	Names *planNames `json:"names,omitempty"`
}

// planNames are the names that a merge needs, so that it opens neither data nor models.
type planNames struct {
	// of the classes in the order of their numbers; none where they have numbers alone
	Classes []string `json:"classes"`
}

// mostNames bounds the names of classes that a plan holds, in bytes: every worker reads it.
const mostNames = 4 << 20

// namesOf are the names that a study's data give; nil where they are too long for a plan.
func namesOf(w *workload.Workload) *planNames {
	n := &planNames{Classes: slices.Clone(w.Classes)}
	if n.Classes == nil {
		n.Classes = []string{}
	}
	if !n.sound() {
		return nil
	}
	return n
}

// sound reports whether names are no more than a plan holds. Who reads one asks that, too: others may have written it.
func (n *planNames) sound() bool {
	size := 0
	for _, c := range n.Classes {
		size += len(c)
	}
	return size <= mostNames && len(n.Classes) <= math.MaxInt32
}

// planOf is the plan of the job in a folder: as it was written down, else what the summary of a run that was complete
// says of it; without either all is left to be found out.
func planOf(dir, hash string) (p plan, known bool) {
	if store.ReadPlan(dir, hash, &p) {
		return p, true
	}
	p = plan{Limit: fold.Number(math.NaN())}
	if sum := summaryIn(dir, hash); sum != nil {
		p.Confidence, p.Scales, p.FieldScales, p.Sizes = sum.Confidence, sum.Scales, sum.FieldScales, sum.Sizes
		if p.FieldScales == nil { // which a summary without any leaves out
			p.FieldScales = make([]map[string]fold.Number, len(p.Scales))
		}
		p.KeepGoing = sum.Failed > 0
	}
	return p, false
}

// ready gives an opened study what is measured before the first shard: as the folder's plan says it, or measured now
// and written there.
func (a *App) ready(ctx context.Context, w *workload.Workload, r *store.Run, workers int, p plan) error {
	old, known := planOf(r.Dir(), r.Hash())
	if known && old.KeepGoing == p.KeepGoing && old.give(w) {
		p.Processor = old.Processor
		p.Scales, p.FieldScales, p.Sizes = old.Scales, old.FieldScales, old.Sizes
	} else {
		if err := w.Eval.Calibrate(ctx, workers); err != nil {
			return err
		}
		p.take(w)
	}
	p.Names = namesOf(w)
	if r.Complete() || known && old.same(p) || len(r.Unmarked()) == 0 { // somebody may be completing it
		return nil
	}
	return r.PutPlan(p)
}

// summaryIn is the summary of the job in a folder, nil if there is none.
func summaryIn(dir, hash string) *fold.Summary {
	b, err := disk.Read(filepath.Join(dir, "summary.json"), mostSummary)
	sum := new(fold.Summary)
	if err != nil || json.Unmarshal(b, sum) != nil || sum.Format != fold.Format || sum.Job != hash {
		return nil
	}
	return sum
}

// mostSummary bounds the summary that is read for the scales in it.
const mostSummary = 1 << 28

// same reports whether two plans have the same text. Numbers that are not finite have one.
func (p plan) same(q plan) bool {
	a, err := json.Marshal(p)
	b, err2 := json.Marshal(q)
	return err == nil && err2 == nil && slices.Equal(a, b)
}

// take notes the scales of a study.
func (p *plan) take(w *workload.Workload) {
	p.Scales, p.FieldScales, p.Sizes = nil, nil, nil
	for _, s := range w.Eval.Sizes {
		p.Sizes = append(p.Sizes, fold.Number(s))
	}
	for _, s := range w.Eval.Scales {
		p.Scales = append(p.Scales, fold.Number(s))
	}
	for _, of := range w.Eval.FieldScales {
		fields := map[string]fold.Number{}
		for f, s := range of {
			fields[f] = fold.Number(s)
		}
		p.FieldScales = append(p.FieldScales, fields)
	}
}

// give sets the scales of a study, and reports whether the plan has all that its metrics need. Means of outputs are in
// no plan: they are as long as the outputs, and one pass over a few samples makes them again.
func (p plan) give(w *workload.Workload) bool {
	scales, fields, all := p.scales(len(w.Eval.Models), w.Eval.Metrics)
	if all = all && !eval.Centred(w.Eval.Metrics); all {
		w.Eval.Scales, w.Eval.FieldScales, w.Eval.Sizes = scales, fields, p.sizes(len(scales))
	}
	return all
}

// sizes are those of so many models; nil where the plan has none.
func (p plan) sizes(n int) []float64 {
	if len(p.Sizes) != n {
		return nil
	}
	sizes := make([]float64, n)
	for i, s := range p.Sizes {
		sizes[i] = float64(s)
	}
	return sizes
}

// scales are those of so many models, and whether the plan has all that metrics need.
func (p plan) scales(n int, metrics []*metric.Metric) (scales []float64, fields []map[string]float64, all bool) {
	if len(p.Scales) != n || len(p.FieldScales) != n {
		return nil, nil, false
	}
	scales, fields = make([]float64, n), make([]map[string]float64, n)
	for k := range n {
		for _, f := range eval.ScaledFields(metrics) {
			if _, there := p.FieldScales[k][f]; f != "" && !there {
				return nil, nil, false
			}
		}
		scales[k] = float64(p.Scales[k])
		for f, s := range p.FieldScales[k] {
			if fields[k] == nil {
				fields[k] = map[string]float64{}
			}
			fields[k][f] = float64(s)
		}
	}
	return scales, fields, true
}

// elsewhere says of a worker on another kind of processor than was planned on what comes of it: nothing where the
// engine computes alike on all of them.
func (a *App) elsewhere(planned string, j *job.Job) {
	here := a.host().Processor
	if j.Engine.Name != choose.Native || planned == "" || here == "" || planned == here {
		return
	}
	a.notef("the work was planned on another processor (%s) than this one (%s), and between them the last digits of a "+
		"native engine may differ; keep the work on machines of one kind, or plan anew with --engine %s", planned,
		here, choose.Wasm)
}

// asPlanned is what helps where something is not as it was planned.
const asPlanned = "put back what was planned with, or plan anew into another folder with nero plan"

// placeOf says where a model of a job runs.
func placeOf(j *job.Job, i int) string {
	return cmp.Or(j.Models[i].Provider, j.Engine.Provider, provider.CPU)
}

// differing says why what this machine would compute is not what was planned.
func differing(dir string, planned, here *job.Job) error {
	if planned.Engine != here.Engine {
		return fmt.Errorf("%s was planned for the engine %s, and here models would run on %s, whose last digits may "+
			"differ; choose that engine with --engine and --ort-lib, its place with --provider, or plan anew into "+
			"another folder", dir, planned.Engine, here.Engine)
	}
	for i, m := range planned.Models {
		if i < len(here.Models) && here.Models[i].SHA256 != m.SHA256 {
			return fmt.Errorf("model %s is another than when %s was planned: %s has SHA-256 %.12s, and the plan says "+
				"%.12s; %s", m.Name, dir, here.Models[i].Path, here.Models[i].SHA256, m.SHA256, asPlanned)
		}
	}
	for i, m := range planned.Models {
		if i < len(here.Models) && here.Models[i].Provider != m.Provider {
			return fmt.Errorf("%s was planned for model %s on %s, and here it would run on %s, whose last digits may "+
				"differ; leave --provider out, or plan anew into another folder", dir, m.Name,
				placeOf(planned, i), placeOf(here, i))
		}
	}
	if len(planned.Files) != len(here.Files) {
		return fmt.Errorf("the data is other than when %s was planned: there were %d files, now there are %d in %s; %s",
			dir, len(planned.Files), len(here.Files), here.Study.Data.Source(), asPlanned)
	}
	for i, f := range planned.Files {
		if now := here.Files[i]; now.SHA256 != f.SHA256 {
			return fmt.Errorf("the data is other than when %s was planned: %s has SHA-256 %.12s, and the plan says "+
				"%.12s; %s", dir, now.Path, now.SHA256, f.SHA256, asPlanned)
		}
	}
	if planned.Names != "" && planned.Names != here.Names {
		return fmt.Errorf("the data is other than when %s was planned: samples in %s have other names or labels; %s",
			dir, here.Study.Data.Source(), asPlanned)
	}
	d := planned.Diff(here)
	return fmt.Errorf("what would be computed here is not what was planned in %s (%s); use the version of nero that "+
		"planned it, or plan anew into another folder", dir, strings.Join(d[:min(len(d), 3)], "; "))
}
