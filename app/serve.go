package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/provider"
	"nero/model/engine/remote"
	"nero/run/exec"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/run/workload"
	"nero/serve/guard"
	"nero/serve/server"
	"nero/serve/shelf"
)

// PresetPort is the port of a server where none is asked for.
const PresetPort = guard.PresetPort

// PresetCache is how many bytes of the numbers of runs a server usually keeps in memory.
const PresetCache = shelf.PresetCache

// ServeOptions say where to listen, whom to let in, and what may be asked.
type ServeOptions struct {
	// Guard says where to listen and whom to let in. Its clock, log and limit of bodies are filled in.
	Guard  guard.Options
	Engine Engine
	// Stored shows what is stored and runs no model.
	Stored bool
	// Endpoints lets live answers come from other machines, and sends them the tokens that runs name.
	Endpoints bool
	// Roots are folders in which models and data are looked for that are not where a run says.
	Roots []string
	// Programs lets live answers come from programs of this machine that runs name.
	Programs bool
	// CacheBytes bounds the numbers of runs that are kept in memory; 0 for [PresetCache].
	CacheBytes int64
	// Workers is how many goroutines lay out samples, ask models and go on with runs, at least 1.
	Workers int
	// Log takes a line for every request, and what went wrong inside.
	Log *slog.Logger
	// Web is a folder with the files of the interface, instead of those that are part of the program.
	Web string
	// Ready is called once, when the server can be asked; nil for nobody.
	Ready func(*Serving)
}

// Serving is what a server shows, and where.
type Serving struct {
	// URLs are the addresses by which the server can be reached, the best first; some hold a token.
	URLs []string
	// Runs, Audits and Sheets are how many were found, the last of reports of other commands; LeftOut says of each
	// folder that is not shown why, and Waiting of each planned audit how far it is, and what has it made.
	Runs, Audits, Sheets int
	LeftOut, Waiting     []string
}

// questions is where the page of the questionnaire is.
const questions = "#/identify"

// Serve shows the runs and audits at the paths in a browser until ctx ends or Stop is closed, without a path the
// questions of package identify. It needs a clock ([App.Now]).
func (a *App) Serve(ctx context.Context, paths []string, so ServeOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the first Ctrl-C while a run goes on
		select {
		case <-a.Stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	files, err := interfaceFiles(so.Web)
	if err != nil {
		return err
	}

	// The port comes first: whether it is free is known at once.
	g := so.Guard
	g.Now, g.Log, g.BodyBytes = a.Now, so.Log, server.BodyBytes
	door, err := guard.Listen(ctx, g)
	if err != nil {
		return trimmed(err, "guard: ")
	}
	defer door.Close() //nolint:errcheck // the port is given back with the process

	so.Engine.Isolate = true // a run may come from anybody
	m := &models{
		a: a, engine: so.Engine, workers: so.Workers, endpoints: so.Endpoints, programs: so.Programs, roots: so.Roots,
	}
	defer m.close()
	sho := shelf.Options{
		Coarse:  true,
		Version: a.Version, CacheBytes: so.CacheBytes, Log: so.Log, Now: a.Now,
		Metrics: a.Parts.metrics(), Groups: a.Parts.Groups,
	}
	o := server.Options{Files: files, Volatile: so.Web != "", Workers: so.Workers, Now: a.Now, Log: so.Log}
	waiting := &waiting{a: a, watched: map[string]*awaited{}}
	sho.Planned = waiting.look
	if !so.Stored {
		sho.Probe = m.probe
		o.Launcher = m
	}
	if o.Shelf, err = shelf.Open(ctx, paths, sho); err != nil {
		return oneLine(err)
	}
	defer o.Shelf.Close() //nolint:errcheck // nothing is written
	o.Report = a.serverPage(o.Shelf, files, !so.Stored)
	s, err := server.New(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it returns nothing but nil

	o.Shelf.Warm()
	if so.Ready != nil {
		all := o.Shelf.Runs()
		ready := &Serving{URLs: door.URLs(), Runs: len(all.Runs), Audits: len(all.Audits), Sheets: len(all.Sheets)}
		for i := range ready.URLs {
			if len(paths) == 0 {
				ready.URLs[i] += questions
			}
		}
		for _, p := range all.Problems {
			ready.LeftOut = append(ready.LeftOut, p.Name+" is not shown: "+sentence(p.Detail, p.Remedy))
		}
		for _, p := range all.Planned {
			ready.Waiting = append(ready.Waiting, fmt.Sprintf("%s is a planned audit that is not made yet: %s; it is "+
				"shown here as soon as it is made, with: %s", p.Name, p.Says, strings.Join(p.Commands, ", then ")))
		}
		so.Ready(ready)
	}
	return trimmed(door.Serve(ctx, s), "guard: ")
}

// models runs the models of runs, on one engine that is opened when the first is asked for.
type models struct {
	a       *App
	engine  Engine
	workers int
	// any may be asked, any may run
	endpoints, programs bool
	// where files are looked for that are not where a run says
	roots []string

	mu sync.Mutex
	// by where models are to run
	opened map[string]choose.Choice
}

// close lets the engine go.
func (m *models) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.opened {
		_ = c.Close(context.Background()) // nobody asks it any more
	}
}

// open opens the engine, once for each place at which models are to run.
func (m *models) open(ctx context.Context, on []provider.List) (engine.Engine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := fmt.Sprint(on)
	if c, ok := m.opened[at]; ok {
		return c.Engine, nil
	}
	c, err := m.a.openEngine(ctx, m.engine, on)
	if err != nil {
		return nil, err
	}
	if m.opened == nil {
		m.opened = map[string]choose.Choice{}
	}
	m.opened[at] = c
	return c.Engine, nil
}

func (m *models) options() workload.Options {
	o := m.a.options(m.engine)
	o.OpenEngine, o.NoEndpoint, o.Start = m.open, m.noEndpoint, nil // a run may come from anybody
	o.Program = m.noProgram
	o.Judge = func(f job.Measure) error {
		if m.programs {
			return nil
		}
		return fmt.Errorf("the metric %s is a program of this machine, %s, and a run may come from anybody: look at "+
			"it, and start nero serve with --allow-program to run it", f.Name, CommandLine(f.Program))
	}
	return o
}

// noProgram keeps runs that came from somebody else from running anything here.
func (m *models) noProgram(model job.Model) error {
	if m.programs {
		return nil
	}
	return fmt.Errorf("the model is a program of this machine, %s, and a run may come from anybody: look at it, and "+
		"start nero serve with --allow-program to run it", CommandLine(model.Program))
}

// noEndpoint keeps runs that came from somebody else from sending samples and tokens anywhere.
func (m *models) noEndpoint(model job.Model) error {
	at, err := remote.Parse(model.Endpoint)
	if err != nil || m.endpoints || at.Local() && model.TokenEnv == "" && model.HeadersEnv == "" {
		return err
	}
	return fmt.Errorf("the model is behind %s, and a run may come from anybody: start nero serve with --endpoints to "+
		"ask it", at)
}

// probe opens what answers live probes of a run.
func (m *models) probe(ctx context.Context, r *store.Run) (shelf.Prober, error) {
	s, err := probe.OpenRun(ctx, r, m.options(), probe.Options{Concurrent: max(1, m.workers), Roots: m.roots})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Launch goes on with a run.
func (m *models) Launch(ctx context.Context, run *shelf.Run, kept func(samples int)) error {
	dir := run.Folder()
	old, err := store.Open(dir)
	if err != nil {
		return run.Clean(err)
	}
	held, err := store.Create(dir, old.Job(), store.Options{})
	if err != nil {
		return refused(run, err) // at once, and not after the models were loaded
	}
	if err := held.Close(); err != nil {
		return run.Clean(err)
	}
	study := probe.Study(old.Job(), dir, m.roots)
	o := m.options()
	p, known := planOf(dir, old.Hash())
	if !known {
		p.KeepGoing = run.Document().Failed > 0 // as when it began
	}
	o.KeepGoing, study.Audit.Confidence = p.KeepGoing, p.Confidence
	w, err := workload.Open(ctx, &study, o)
	if err != nil {
		return refused(run, err)
	}
	defer w.Close() //nolint:errcheck // the models are not needed any more; the run's own error counts
	r, err := store.Create(dir, w.Job, store.Options{})
	if err != nil {
		return refused(run, err)
	}
	defer r.Close() //nolint:errcheck // releases the lock; what was committed is safe already
	if err := m.a.ready(ctx, w, r, m.workers, p); err != nil {
		return run.Clean(err)
	}
	m.a.running.Add(1) // another one may go on as well
	defer m.a.running.Add(-1)
	done := 0
	for _, s := range w.Job.Shards() {
		if r.Done(s.Index) {
			done += s.Hi - s.Lo
		}
	}
	// What is under way when ctx ends is finished and kept.
	err = exec.Local(context.WithoutCancel(ctx), w.Job, w.Job.Shards(), w.Eval, committer{r}, m.workers, ctx.Done(),
		&keptCount{done: done, tell: kept})
	var stopped *exec.StoppedError
	if errors.As(err, &stopped) && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return run.Clean(err)
	}
	_, _, err = m.a.finish(context.WithoutCancel(ctx), r, closingOf(w))
	return err
}

// refused is an error that a visitor may read: why a run cannot go on, without the folders in which its files lie.
func refused(run *shelf.Run, err error) error {
	err = run.Clean(err)
	if errors.Is(err, store.ErrBusy) {
		return err
	}
	return &server.RefusedError{Reason: err.Error()}
}

// keptCount counts the samples that are kept.
type keptCount struct {
	mu   sync.Mutex
	done int
	tell func(int)
}

func (k *keptCount) Start(int, int, int) { k.tell(k.done) }
func (k *keptCount) Evaluated(int)       {}
func (k *keptCount) Committed(s job.Shard) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done += s.Hi - s.Lo
	k.tell(k.done)
}
