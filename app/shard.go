package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"nero/data/dataset"
	"nero/model/engine/choose"
	"nero/model/engine/provider"
	"nero/model/engine/remote"
	"nero/present/words"
	"nero/run/exec"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/run/store/object"
	"nero/run/workload"
)

// ShardOptions say which shards of a planned run are worked on here. One of Index, Block and Stream says it; without
// any of them it is the one that a scheduler names, as a block of one.
type ShardOptions struct {
	// Engine runs the models; its kind is that of the plan where it is empty or auto.
	Engine Engine
	// Workers is how many shards are evaluated at once, at least 1.
	Workers int
	// Grace is how long a shard under way may take to its end once [App.Stop] is closed; 0 leaves it at once.
	Grace time.Duration
	// Index names shards, as "0-4,7".
	Index string
	// Block is how many shards a task of a scheduler takes: task i takes those from i*Block on. 0 for none.
	Block int
	// Stream names one shard a line, until it ends; nil for none.
	Stream io.Reader
	// First is the number that the scheduler gives to its first task.
	First int
	// Getenv looks up the variables by which schedulers say which task this is; nil for there are none.
	Getenv func(string) (string, bool)
	// Kept is told of every shard that is kept, by one goroutine at a time; nil for nobody.
	Kept func(KeptShard)
}

// KeptShard is a shard that is kept.
type KeptShard struct {
	Shard int `json:"shard"`
	// Computed is false of a shard that was there already.
	Computed bool `json:"computed"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
	// PID is the number of this process.
	PID int `json:"pid"`
}

// WriteJSON writes it as one line of JSON.
func (k KeptShard) WriteJSON(to io.Writer) error { return json.NewEncoder(to).Encode(k) }

// TaskVariables are the variables of the environment in which schedulers say which task of an array this is, in the
// order in which they are looked up.
func TaskVariables() []string {
	return []string{
		"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "AWS_BATCH_JOB_ARRAY_INDEX", "BATCH_TASK_INDEX",
		"PBS_ARRAY_INDEX", "SGE_TASK_ID", "LSB_JOBINDEX",
	}
}

// AgainError is a failure that is none of the study, the model or the data: the same work may succeed later, or
// elsewhere.
type AgainError struct{ error }

// Unwrap is what happened.
func (e *AgainError) Unwrap() error { return e.error }

// Reworded is the same failure in other words.
func (e *AgainError) Reworded(text string) error { return &AgainError{&renamed{text, e.error}} }

// again marks errors that are worth another try: of storage, of an endpoint that does not answer, of a signal.
func again(err error) error {
	if err == nil {
		return nil
	}
	_, stopped := errors.AsType[*exec.StoppedError](err)
	away, asked := errors.AsType[*remote.Error](err)
	_, storage := errors.AsType[*object.AwayError](err)
	if stopped || storage || asked && away.Unavailable() || errors.Is(err, context.Canceled) ||
		errors.Is(err, store.ErrBusy) ||
		slices.ContainsFunc(passing(), func(no syscall.Errno) bool { return errors.Is(err, no) }) {
		return &AgainError{err}
	}
	return err
}

// passing are the errors of systems that pass: a disk without room, a file server that is away.
func passing() []syscall.Errno {
	const windowsDiskFull = syscall.Errno(112) // ERROR_DISK_FULL; elsewhere an error of networks, which pass too
	return []syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EMFILE,
		syscall.ENFILE, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, windowsDiskFull,
	}
}

// Shard evaluates shards of a planned run and keeps them in its folder or bucket, beside other processes that do the
// same. What is kept already is skipped. The run's job says what is computed; a machine on which something else would
// be is refused. An error is an [AgainError] where the same call may succeed later.
func (a *App) Shard(ctx context.Context, dir string, o ShardOptions) error {
	err := a.shard(ctx, dir, o)
	if err != nil && ctx.Err() != nil {
		return &AgainError{err} // what is wrong with a study is kept as text
	}
	return again(err)
}

func (a *App) shard(ctx context.Context, dir string, o ShardOptions) error {
	if err := a.someWorkers(o.Workers); err != nil {
		return err
	}
	if p, err := plannedAudit(dir); err != nil || p != nil {
		if err != nil {
			return err
		}
		return a.shardAudit(ctx, dir, p, o)
	}
	at, err := a.place(ctx, dir)
	defer at.close()
	if err != nil {
		return unplanned(dir, err)
	}
	return at.named(a.shardAt(ctx, at, o))
}

func (a *App) shardAt(ctx context.Context, at *place, o ShardOptions) error {
	dir := at.dir
	j, err := store.Planned(dir)
	if err != nil {
		return unplanned(dir, err)
	}
	all := j.Shards()
	var chosen []job.Shard
	if o.Stream == nil {
		if chosen, err = o.choose(all); err != nil { // before models are opened
			return err
		}
	} else if o.Index != "" || o.Block > 0 {
		return fmt.Errorf("%s reads the shards from its input: leave %s and %s out", a.option("stdin"),
			a.option("index"), a.option("block"))
	}
	w, r, err := a.joined(ctx, at, j, nil, o.Engine, o.Workers, false)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // the models are not needed any more; the work's own error counts
	defer r.Close() //nolint:errcheck // gives the lock back; what was committed is safe already
	t := &shardWork{
		Evaluator: w.Eval, Committer: committer{r}, now: a.Now, to: o.Kept, began: map[int]time.Time{},
		runWork: &runWork{work: a.begin(TaskShard, "evaluations")},
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if at.bucket != nil {
		b, err := at.keeper(ctx, w.Eval, r, len(chosen))
		if err != nil {
			return err
		}
		t.Evaluator, t.Committer = b, b
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-a.Stop:
		case <-ended:
			return
		}
		select {
		case <-time.After(o.Grace):
			cancel()
		case <-ended:
		}
	}()
	a.running.Add(1)
	if o.Stream != nil {
		err = a.streamed(ctx, w.Job, o, t)
	} else {
		err = exec.Local(ctx, w.Job, chosen, t, t, o.Workers, a.Stop, t)
	}
	a.running.Add(-1)
	t.end()
	if err != nil {
		return replanned(resumable(err, r.Dir()))
	}
	return nil
}

// replanned says of data that was changed what helps.
func replanned(err error) error {
	if _, ok := errors.AsType[*dataset.ChangedError](err); ok {
		return fmt.Errorf("%w when the run was planned; %s", err, asPlanned)
	}
	return err
}

// uninstalled says of a machine without the library of the engine that a job was planned for what to do.
func (a *App) uninstalled(err error, dir string, j *job.Job) error {
	if !errors.Is(err, choose.ErrNoLibrary) {
		return err
	}
	return fmt.Errorf("%w; %s was planned for the engine %s: install that release of ONNX Runtime here (pip install "+
		"onnxruntime==%s) and name its library with %s, or plan anew into another folder with the engine that every "+
		"machine has: nero plan %s", err, dir, j.Engine, j.Engine.Version, a.option("ort-lib"),
		a.speech().Option(Option{Name: "engine", Value: choose.Wasm}))
}

// unplanned says of a folder without a job where one comes from.
func unplanned(dir string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w; make one with: nero plan STUDY.yaml -o %s", err, dir)
	}
	return err
}

// joined opens the work of a folder from its own job, and the folder beside others that write it. Where nothing is left
// to be computed any engine will do. Checksums that a run of the same folder has taken are believed; nil for none.
func (a *App) joined(ctx context.Context, at *place, j *job.Job, held *store.Run, e Engine, workers int,
	computed bool,
) (*workload.Workload, *store.Run, error) {
	dir, err := filepath.Abs(at.dir)
	if err != nil {
		return nil, nil, err
	}
	hash, err := j.Hash()
	if err != nil {
		return nil, nil, err
	}
	p, _ := planOf(dir, hash)
	if !computed {
		a.elsewhere(p.Processor, j)
	}
	study := j.Study
	if !there(&study) {
		study = probe.Study(j, at.near, nil)
	}
	study.Audit.Confidence = p.Confidence
	if computed = computed && len(p.Scales) > 0; !computed {
		e = e.of(j)
	}
	wo := a.options(e)
	wo.KeepGoing, wo.Job = p.KeepGoing, j
	if computed && wo.Providers == nil {
		wo.Providers = []string{provider.CPU} // nothing is computed, so no provider is needed
	}
	w, err := a.open(ctx, &study, wo)
	if err != nil {
		return nil, nil, replanned(a.uninstalled(err, dir, j))
	}
	foreign := false
	if computed && len(w.Job.Models) == len(j.Models) {
		foreign = w.Job.Engine != j.Engine
		w.Job.Engine = j.Engine
		for i := range w.Job.Models {
			// which engines choose, and where nothing is computed
			w.Job.Models[i].Batch, w.Job.Models[i].Provider = j.Models[i].Batch, j.Models[i].Provider
		}
		if w.Hash, err = w.Job.Hash(); err != nil {
			_ = w.Close() // the first error is the one to report
			return nil, nil, err
		}
	}
	var r *store.Run
	if w.Hash != hash {
		err = differing(dir, j, w.Job)
	} else if r, err = store.Create(dir, j, store.Options{Shared: true, Verified: held}); err == nil {
		w.Job = j // with the paths of the plan, so that all who complete the run write the same bytes

		// Another engine would measure other scales.
		if !foreign || !p.give(w) {
			err = replanned(a.ready(ctx, w, r, workers, p))
		}
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

// there reports whether all that a study names lies where it says.
func there(s *job.Study) bool {
	places := s.Paths()
	for i := range s.Models {
		if m := &s.Models[i]; m.ONNX != "" {
			places = append(places, &m.ONNX)
		}
	}
	return !slices.ContainsFunc(places, func(p *string) bool {
		_, err := os.Stat(*p)
		return err != nil
	})
}

// of is the engine that a job was planned for, where nobody asks for another.
func (e Engine) of(j *job.Job) Engine {
	if auto := e.Kind == "" || e.Kind == choose.Auto; auto && e.Library == "" &&
		slices.Contains([]string{choose.Native, choose.Wasm}, j.Engine.Name) {
		e.Kind = j.Engine.Name
	}
	return e
}

// choose are the shards that the options name, in the order of the job.
func (o ShardOptions) choose(all []job.Shard) ([]job.Shard, error) {
	switch {
	case o.Index != "" && o.Block > 0:
		return nil, errors.New("--index names shards and --block those of a scheduler's task: choose one of them")
	case o.Index != "":
		return indexed(o.Index, all)
	}
	name, text := "", ""
	for _, v := range TaskVariables() {
		if o.Getenv == nil {
			break
		}
		var set bool
		if text, set = o.Getenv(v); set {
			name = v
			break
		}
	}
	if name == "" {
		return nil, fmt.Errorf("which shards? name them with --index, such as --index 0-%d, or run it as a task of a "+
			"scheduler, which sets one of %s", len(all)-1, strings.Join(TaskVariables(), ", "))
	}
	task, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("%s is %q, want the number of a task of an array; name the shards with --index", name,
			text)
	}
	block := max(1, o.Block)
	tasks := (len(all) + block - 1) / block
	if i := task - o.First; i < 0 || i >= tasks {
		return nil, fmt.Errorf("%s is %d, and %s in blocks of %d are the tasks %d to %d; if the scheduler counts from "+
			"another number, say so with --first", name, task, words.Plural(len(all), "shard", "shards"), block,
			o.First, o.First+tasks-1)
	}
	lo := (task - o.First) * block
	return all[lo:min(len(all), lo+block)], nil
}

// indexed reads "0-4,7".
func indexed(text string, all []job.Shard) ([]job.Shard, error) {
	wrong := func(what string) error {
		return fmt.Errorf("--index %s: %s; want numbers from 0 to %d, such as 0-4,7", text, what, len(all)-1)
	}
	chosen := make([]bool, len(all))
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			hi = lo
		}
		i, err := number(lo)
		k, err2 := number(hi)
		switch {
		case err != nil || err2 != nil:
			return nil, wrong(fmt.Sprintf("%q is no number or range", part))
		case i > k:
			return nil, wrong(fmt.Sprintf("the range %s ends before it begins", part))
		case k >= len(all):
			return nil, wrong("there are " + words.Plural(len(all), "shard", "shards"))
		}
		for ; i <= k; i++ {
			if chosen[i] {
				return nil, wrong(fmt.Sprintf("shard %d is named twice", i))
			}
			chosen[i] = true
		}
	}
	var out []job.Shard
	for i, s := range all {
		if chosen[i] {
			out = append(out, s)
		}
	}
	return out, nil
}

// number reads digits alone: no sign, no spaces.
func number(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err
}

// streamed evaluates the shards that lines name, as they come.
func (a *App) streamed(ctx context.Context, j *job.Job, o ShardOptions, t *shardWork) error {
	all := j.Shards()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue, wrong := a.lines(ctx, all, o.Stream)
	t.Start(len(all), len(all), 0)
	done, err := exec.Each(ctx, queue, t, t, o.Workers, a.Stop, t)
	if err != nil {
		return err
	}
	select {
	case err := <-wrong:
		return err
	case <-a.Stop:
		return &AgainError{fmt.Errorf("stopped after %s", words.Plural(done, "shard", "shards"))}
	default:
		return nil
	}
}

// lines reads which shards are to be done, and says before the queue ends what was wrong with a line.
func (a *App) lines(ctx context.Context, all []job.Shard, from io.Reader) (<-chan job.Shard, <-chan error) {
	queue, wrong := make(chan job.Shard), make(chan error, 1)
	go func() { // ends with the input, or with the process where nobody closes that
		defer close(queue)
		in := bufio.NewScanner(from)
		for line := 1; in.Scan(); line++ {
			i, err := number(strings.TrimSpace(in.Text()))
			if err != nil || i >= len(all) {
				wrong <- fmt.Errorf("%s: line %d is %.40q, want the number of a shard from 0 to %d",
					a.option("stdin"), line, in.Text(), len(all)-1)
				return
			}
			select {
			case queue <- all[i]:
			case <-ctx.Done():
				return
			}
		}
		if err := in.Err(); err != nil {
			wrong <- fmt.Errorf("%s: %w", a.option("stdin"), err)
		}
	}()
	return queue, wrong
}

// shardWork is told how far the work on shards is, and tells who asked for them.
type shardWork struct {
	exec.Evaluator
	exec.Committer
	*runWork
	now func() time.Time
	to  func(KeptShard)

	mu    sync.Mutex
	began map[int]time.Time
}

// Shard evaluates a shard.
func (t *shardWork) Shard(ctx context.Context, s job.Shard, progress func(int)) ([]job.Row, error) {
	if t.now != nil {
		t.mu.Lock()
		t.began[s.Index] = t.now()
		t.mu.Unlock()
	}
	return t.Evaluator.Shard(ctx, s, progress)
}

// Done reports whether a shard is kept, and tells of one that is.
func (t *shardWork) Done(s job.Shard) bool {
	done := t.Committer.Done(s)
	if done {
		t.keep(s, false)
	}
	return done
}

// Committed tells of a shard that is kept now.
func (t *shardWork) Committed(s job.Shard) { t.keep(s, true) }

// keep tells of a shard that is kept.
func (t *shardWork) keep(s job.Shard, computed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := KeptShard{Shard: s.Index, Computed: computed, PID: os.Getpid()}
	if computed && t.now != nil {
		k.Seconds = t.now().Sub(t.began[s.Index]).Seconds()
	}
	if t.to != nil {
		t.to(k)
	}
}
