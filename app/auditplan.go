package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/internal/disk"
	"nero/internal/seal"
	"nero/model/engine/choose"
	"nero/repeat"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/run/store/object"
	"nero/run/tape"
	"nero/run/workload"
	"nero/watch"
)

// auditPlanName is the file that says what of an audit is cut into shards. It is what tells the folder of a planned
// audit from that of a run.
const auditPlanName = "audit-plan.json"

// sweepsName is the folder of the shards of an audit.
const sweepsName = "sweeps"

// mostPlan bounds the plan of an audit that is read, and mostSweep a shard of it.
const (
	mostPlan  = 1 << 28
	mostSweep = 1 << 31
)

// auditPlan is the plan of an audit: what is computed, and how it is cut.
type auditPlan struct {
	Format int `json:"format"`
	// Version is that of the program: an audit is no function of the job alone.
	Version string `json:"version"`
	// Hash is that of the job, and Job and Study say what it is.
	Hash  string    `json:"hash"`
	Job   job.Job   `json:"job"`
	Study job.Study `json:"study"`
	// Only names the models that are audited, empty for all, and Command repeats the audit on one machine.
	Only    []string `json:"only,omitempty"`
	Command string   `json:"command,omitempty"`
	// Processor is what the processor is on which the audit was planned; empty where nobody said so.
	Processor string `json:"processor,omitempty"`
	// Shards are blocks of the sweep, model by model.
	Shards []auditShard `json:"shards"`

	// digest of the file
	id string
}

// auditShard is one block of the sweep of a model.
type auditShard struct {
	Model string `json:"model"`
	Block int    `json:"block"`
	// Samples is how many it has.
	Samples int `json:"samples"`
}

// indexes are the shards as those of a run are named.
func (p *auditPlan) indexes() []job.Shard {
	all, lo := make([]job.Shard, len(p.Shards)), 0
	for i, s := range p.Shards {
		all[i] = job.Shard{Index: i, Lo: lo, Hi: lo + s.Samples}
		lo += s.Samples
	}
	return all
}

// samples is how many the models have together.
func (p *auditPlan) samples() (n int) {
	for _, s := range p.Shards {
		n += s.Samples
	}
	return n
}

// shardFile is where a shard lies.
func shardFile(dir string, index int) string {
	return filepath.Join(dir, sweepsName, fmt.Sprintf("sweep-%05d", index))
}

// missing are the shards that no file is there of.
func (p *auditPlan) missing(dir string) []job.Shard {
	var out []job.Shard
	for _, s := range p.indexes() {
		if _, err := os.Stat(shardFile(dir, s.Index)); err != nil {
			out = append(out, s)
		}
	}
	return out
}

// plannedAudit is the plan of an audit in a folder; nil if there is none.
func plannedAudit(dir string) (*auditPlan, error) {
	name := filepath.Join(dir, auditPlanName)
	b, err := disk.Read(name, mostPlan)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // it may be the folder of a run
	}
	if err != nil {
		return nil, err
	}
	inner, sealed, err := seal.Open(b)
	if err != nil || !sealed {
		return nil, fmt.Errorf("%s is damaged; plan the audit anew into another folder", name)
	}
	p := &auditPlan{}
	if err := json.Unmarshal(inner, p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if p.Format != 1 {
		return nil, fmt.Errorf("%s has the format %d, and this version of nero reads format 1", name, p.Format)
	}
	sum := sha256.Sum256(b)
	p.id = hex.EncodeToString(sum[:])
	return p, nil
}

// PlanAudit writes into a folder what the sweep of an audit computes, cut into shards, so that [App.Shard] works on it
// on any number of machines and [App.Merge] makes the audit. Nothing is evaluated.
func (a *App) PlanAudit(ctx context.Context, s *job.Study, dir string, o AuditOptions) (*PlanResult, error) {
	if o.Average > 1 || o.Calibrate != "" || o.Before != "" || len(o.Forms) > 0 || o.Baseline.File != "" {
		return nil, errors.New("an audit that is averaged, calibrated or compared with another is made on one machine")
	}
	if object.Is(dir) {
		return nil, fmt.Errorf("%s is in a bucket, and an audit is planned in a folder that all machines see; "+
			"name one with %s", dir, a.option("out"))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := only(s, o.Only); err != nil {
		return nil, err
	}
	if _, err := a.prepare(s, o); err != nil {
		return nil, err
	}
	old, err := plannedAudit(dir)
	if err != nil {
		return nil, err
	}
	if old == nil {
		if err := ownFolder(dir, anyOf(auditFiles()...)); err != nil {
			return nil, err
		}
	}
	study := *s
	w, err := a.openAudit(ctx, s, o.Engine)
	if err != nil {
		return nil, err
	}
	defer w.Close()           //nolint:errcheck // nothing is lost
	hash, err := w.Job.Hash() // which an audit does not need otherwise
	if err != nil {
		return nil, err
	}
	p := &auditPlan{
		Format: 1, Version: a.Version, Hash: hash, Job: *w.Job, Study: study, Only: o.Only, Command: o.Command,
		Processor: a.host().Processor,
	}
	if old != nil { // planned again on another machine
		p.Processor = old.Processor
	}
	for _, m := range w.Eval.Models {
		if w.File(m.Name) == nil {
			return nil, fmt.Errorf("model %s is no file: what an endpoint or a program answers may differ from one "+
				"machine to another, so that its audit is made on one", m.Name)
		}
		subject, _, err := a.inputs(w, m, o.Workers)
		if err != nil {
			return nil, err
		}
		pass := audit.Alone(subject)
		size := sweep.BlockOf(pass)
		for k := 0; k*size < pass.Subject.N; k++ {
			p.Shards = append(p.Shards, auditShard{m.Name, k, min(size, pass.Subject.N-k*size)})
		}
	}
	b, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, err
	}
	b = seal.Add(append(b, '\n'), " ")
	if now, err := disk.Read(filepath.Join(dir, auditPlanName), mostPlan); err == nil && !bytes.Equal(now, b) {
		return nil, fmt.Errorf("%s holds the plan of another audit; give an empty or a new folder with -o", dir)
	}
	if err := os.MkdirAll(filepath.Join(dir, sweepsName), 0o755); err != nil {
		return nil, err
	}
	if err := writeFile(filepath.Join(dir, auditPlanName), b); err != nil {
		return nil, err
	}
	if p, err = plannedAudit(dir); err != nil {
		return nil, err
	}
	return &PlanResult{
		Job: p.id, Shards: len(p.Shards), Todo: store.Indexes(p.missing(dir)), Dir: dir, Samples: p.samples(),
	}, nil
}

// joinedAudit opens the work of a planned audit, as it was planned or not at all.
func (a *App) joinedAudit(ctx context.Context, dir string, p *auditPlan, e Engine,
) (w *workload.Workload, study job.Study, err error) {
	if p.Version != a.Version {
		return nil, study, fmt.Errorf("%s was planned by nero %s, and this is %s: an audit is the same for one "+
			"version alone; use that one, or plan anew into another folder", dir, p.Version, a.Version)
	}
	study = p.Study
	if !there(&study) {
		study = probe.Study(&p.Job, dir, nil)
		study.Audit = p.Study.Audit
	}
	if _, err := a.prepare(&study, AuditOptions{Workers: 1, Command: p.Command}); err != nil {
		return nil, study, err
	}
	opened := study
	if w, err = a.openAudit(ctx, &opened, e.of(&p.Job)); err != nil {
		return nil, study, replanned(a.uninstalled(err, dir, &p.Job))
	}
	hash, err := w.Job.Hash()
	if err == nil && hash != p.Hash {
		err = differing(dir, &p.Job, w.Job)
	}
	if err != nil {
		_ = w.Close() // the first error is the one to report
		return nil, study, err
	}
	a.elsewhere(p.Processor, &p.Job)
	return w, study, nil
}

// shardAudit computes shards of a planned audit, one after another, each with all workers.
func (a *App) shardAudit(ctx context.Context, dir string, p *auditPlan, o ShardOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue, wrong, err := a.asked(ctx, p.indexes(), o)
	if err != nil {
		return err
	}
	w, _, err := a.joinedAudit(ctx, dir, p, o.Engine)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // the models are not needed any more
	passes := map[string]*audit.Pass{}
	stopped := &AgainError{errors.New("stopped; what is kept is kept")}
	for {
		var s job.Shard
		more := false
		select {
		case <-a.Stop:
			return stopped
		case s, more = <-queue:
		}
		if !more {
			break
		}
		k := KeptShard{Shard: s.Index, PID: os.Getpid()}
		var begun time.Time
		if a.Now != nil {
			begun = a.Now()
		}
		if k.Computed, err = a.sweepShard(ctx, dir, p, w, passes, s.Index, o.Workers); err != nil {
			return replanned(err)
		}
		if a.Now != nil && k.Computed {
			k.Seconds = a.Now().Sub(begun).Seconds()
		}
		if o.Kept != nil {
			o.Kept(k)
		}
		select {
		case <-a.Stop:
			return stopped
		default:
		}
	}
	select {
	case err := <-wrong:
		return err
	default:
		return nil
	}
}

// asked are the shards of an audit that the options name, or the lines of the input.
func (a *App) asked(ctx context.Context, all []job.Shard, o ShardOptions) (<-chan job.Shard, <-chan error, error) {
	if o.Stream != nil {
		queue, wrong := a.lines(ctx, all, o.Stream)
		return queue, wrong, nil
	}
	chosen, err := o.choose(all)
	queue := make(chan job.Shard, len(chosen))
	for _, s := range chosen {
		queue <- s
	}
	close(queue)
	return queue, nil, err
}

// sweepShard computes one shard, if it is not there yet, and keeps it.
func (a *App) sweepShard(ctx context.Context, dir string, p *auditPlan, w *workload.Workload,
	passes map[string]*audit.Pass, index, workers int,
) (computed bool, err error) {
	if t, err := p.tape(dir, index); err != nil || t != nil {
		return false, err
	}
	of := p.Shards[index]
	var model *eval.Model
	for _, m := range w.Eval.Models {
		if m.Name == of.Model {
			model = m
		}
	}
	if model == nil {
		return false, fmt.Errorf("the plan names a model %s, and the study has none", of.Model)
	}
	pass := passes[of.Model]
	if pass == nil {
		subject, _, err := a.inputs(w, model, workers)
		if err != nil {
			return false, err
		}
		pass = audit.Alone(subject)
		passes[of.Model] = pass
	}
	r := &eval.Recorded{
		Predictor: eval.Predictor{Model: model, Workers: workers}, Tape: tape.New(p.head(index)),
	}
	err = audit.Chunks(pass.Subject, sweep.Block(pass, of.Block), func(v []space.Value) error {
		_, err := r.Predict(ctx, v)
		return err
	})
	if err != nil {
		return false, err
	}
	b, err := r.Tape.Encode()
	if err != nil {
		return false, err
	}
	name := shardFile(dir, index)
	if there, err := disk.Read(name, mostSweep); err == nil && !bytes.Equal(there, b) {
		return false, fmt.Errorf("%s was computed by another process with another result; machines differ: take one "+
			"kind of them, or plan anew with %s", name, a.speech().Option(Option{Name: "engine", Value: choose.Wasm}))
	}
	return true, writeFile(name, b)
}

// head is what the tape of a shard says of itself.
func (p *auditPlan) head(index int) tape.Head {
	return tape.Head{Plan: p.id, Shard: index, Model: p.Shards[index].Model}
}

// tape is a shard that is kept; nil if it is not. A damaged one is put away, so that it is made again.
func (p *auditPlan) tape(dir string, index int) (*tape.Tape, error) {
	name := shardFile(dir, index)
	b, err := disk.Read(name, mostSweep)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // it is to be made
	}
	if err != nil {
		return nil, err
	}
	t, err := tape.Decode(b)
	if err != nil {
		return nil, os.Remove(name)
	}
	if t.Head != p.head(index) {
		return nil, fmt.Errorf("%s belongs to another plan; plan anew into another folder", name)
	}
	return t, nil
}

// sound is when a shard was kept, and whether it holds what was written. Unlike tape it changes nothing.
func (p *auditPlan) sound(dir string, index int) (at time.Time, sound bool) {
	name := shardFile(dir, index)
	info, err := os.Stat(name)
	if err != nil {
		return at, false
	}
	b, err := disk.Read(name, mostSweep)
	if err != nil {
		return at, false
	}
	t, err := tape.Decode(b)
	return info.ModTime(), err == nil && t.Head == p.head(index)
}

// MergeAudit makes the audit of a planned folder from its shards, and writes it there in the formats given. It is that
// of [App.Audit], to the byte. The error is a [MissingError] while shards are missing.
func (a *App) MergeAudit(ctx context.Context, dir string, e Engine, workers int, formats ...string,
) (*AuditResult, error) {
	p, err := plannedAudit(dir)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, unplanned(dir, fs.ErrNotExist)
	}
	for i := range p.Shards { // damaged ones are missing
		if _, err := p.tape(dir, i); err != nil {
			return nil, err
		}
	}
	if missing := p.missing(dir); len(missing) > 0 {
		return nil, &MissingError{dir, len(p.Shards), len(missing), 0, store.Indexes(missing)}
	}
	w, study, err := a.joinedAudit(ctx, dir, p, e)
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	o := AuditOptions{Engine: e.of(&p.Job), Workers: workers, Only: p.Only, Command: p.Command}
	o.swept = func(model string, predictor eval.Predictor) func(int) (audit.Predictor, error) {
		last, now := -1, audit.Predictor(nil) // a block is asked for once for each chunk of it
		return func(block int) (_ audit.Predictor, err error) {
			if block != last {
				if now, err = p.told(dir, model, block, predictor); err != nil {
					return nil, err
				}
				last = block
			}
			return now, nil
		}
	}
	r, err := a.Audit(ctx, &study, o)
	if err != nil {
		return nil, again(err)
	}
	for _, f := range formats {
		var b bytes.Buffer
		if err := writeAudit(&b, r.Document(), f); err != nil {
			return nil, err
		}
		if err := writeFile(filepath.Join(dir, AuditFile(f)), b.Bytes()); err != nil {
			return nil, again(err)
		}
	}
	return r, nil
}

// told answers a block of the sweep from its shard.
func (p *auditPlan) told(dir, model string, block int, m eval.Predictor) (audit.Predictor, error) {
	for i, s := range p.Shards {
		if s.Model == model && s.Block == block {
			t, err := p.tape(dir, i)
			if err != nil {
				return nil, err
			}
			if t == nil {
				return nil, fmt.Errorf("shard %d is gone from %s since the merge began; compute it again with: "+
					"nero shard %s --index %d, and then merge again", i, dir, dir, i)
			}
			return &eval.Recorded{Predictor: m, Tape: t, Told: true}, nil
		}
	}
	return nil, fmt.Errorf("the plan in %s has no block %d of model %s", dir, block, model)
}

// AuditPlanned reports whether a folder is that of a planned audit.
func AuditPlanned(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, auditPlanName))
	return err == nil
}

// noRun says of the folder of an audit, in which somebody looked for a run, what it is and what opens it.
func (a *App) noRun(dir string, err error) error {
	made := filepath.Join(dir, AuditFile("json"))
	if _, none := os.Stat(made); none == nil {
		return fmt.Errorf("%s is the folder of an audit, and this is for runs; a report of it: nero report %s %s; on "+
			"the "+
			"page: nero serve %s", dir, made, a.speech().Option(Option{Name: "format", Value: "html"}), dir)
	}
	if AuditPlanned(dir) {
		return fmt.Errorf("%s is a planned audit that is not made yet; how far it is: nero status %s; make it with: "+
			"nero "+
			"merge %s", dir, dir, dir)
	}
	for _, base := range []string{watch.Base, repeat.Base} {
		if _, none := os.Stat(filepath.Join(dir, base+".json")); none == nil {
			return fmt.Errorf("%s holds what nero %s found, and this is for runs; on the page: nero serve %s; its "+
				"report is %s there", dir, base, dir, base+".html")
		}
	}
	return err
}
