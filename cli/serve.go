package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"nero/model/engine"
	"nero/model/engine/remote"
	runexec "nero/run/exec"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/run/workload"
	"nero/serve/guard"
	"nero/serve/server"
	"nero/serve/shelf"
	"nero/serve/web"
	"nero/symmetry/action"

	"github.com/spf13/cobra"
)

// serveFlags say where to listen, whom to let in, and what may be asked.
type serveFlags struct {
	guard        guard.Options
	engine       engineFlags
	open, noOpen bool
	noLive       bool
	endpoints    bool
	verbose      bool
	web          string
	token        string
	cache        string
}

// tokenVariable holds a token without showing it in the list of processes.
const tokenVariable = "NERO_TOKEN"

func (a *App) serve() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve DIR...",
		Short: "Show runs and audits in a browser",
		Long: `serve shows runs and audits in a browser: aggregate curves, samples laid out by the shape of their orbit, single orbits, and
the input as it moves, with the models' answers at any element while you drag. A DIR is the folder of a run, of an audit, or one that
holds such folders, like the one that nero demo writes. Runs that are not finished fill in as they are computed.

The address is printed first. Without --host only this machine can reach it; with it, visitors need the token in the printed
address. What is shown runs no model but for live answers, which come from the model files of the runs themselves, or from endpoints on
this machine. Nothing is sent anywhere else without --endpoints. See docs/SERVE.md.`,
		Example: "  nero serve nero-demo\n" +
			"  nero serve run-of-may run-of-june --port 8080 --no-open\n" +
			"  nero serve runs --host 0.0.0.0 --cert cert.pem --key key.pem\n" +
			"  nero serve runs --base-path /user/me/proxy/6376/ --allowed-host hub.example.org --no-open",
		Args: someFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.guard.PortSet = cmd.Flags().Changed("port")
			return a.serveRuns(cmd.Context(), args, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.guard.Host, "host", "", "`address` to listen on; default this machine alone")
	fl.IntVar(&f.guard.Port, "port", guard.PresetPort,
		"port to listen on, 0 for any; without it the next free one is taken if this is in use")
	fl.BoolVar(&f.open, "open", false, "open the page in a browser; the default in a terminal with a screen")
	fl.BoolVar(&f.noOpen, "no-open", false, "do not open a browser")
	fl.StringVar(&f.guard.BasePath, "base-path", "", "`path` at which a proxy shows the page")
	fl.StringSliceVar(&f.guard.AllowedHosts, "allowed-host", nil,
		"further `name` by which the page is reached, such as that of a proxy; repeatable")
	fl.StringSliceVar(&f.guard.AllowFrame, "allow-frame", nil,
		"`origin` whose pages may show this one in a frame, such as that of a notebook; repeatable")
	fl.StringVar(&f.token, "token", "",
		"`secret` that visitors need, at least 32 letters or digits, or auto for a new one; also read from "+
			tokenVariable)
	fl.StringVar(&f.guard.Cert, "cert", "", "certificate `file` in PEM, for https")
	fl.StringVar(&f.guard.Key, "key", "", "key `file` of the certificate")
	fl.BoolVar(&f.noLive, "no-live", false, "show what is stored and run no model")
	fl.BoolVar(&f.endpoints, "endpoints", false,
		"let live answers come from other machines, and send them the tokens that runs name, for models behind "+
			"endpoints")
	fl.StringVar(&f.cache, "cache", strconv.Itoa(shelf.PresetCache/1_000_000)+"MB",
		"most `size` of the numbers of runs that are kept in memory; more makes large runs answer faster")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "a line for every request")
	fl.StringVar(&f.web, "web", "",
		"`folder` with the files of the interface, instead of those that are part of the program")
	_ = fl.MarkHidden("web") // it is there
	f.engine.add(c)
	c.MarkFlagsMutuallyExclusive("open", "no-open")
	c.MarkFlagsRequiredTogether("cert", "key")
	return c
}

// someFolder wants at least one argument.
func someFolder(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s: no folder is given: name that of a run (nero run -o) or an audit, or one that holds "+
			"such folders; see %s --help", c.UseLine(), c.CommandPath())
	}
	return nil
}

// oneLine is an error of several lines on one.
func oneLine(err error) error {
	if text := err.Error(); strings.Contains(text, "\n") {
		return &renamed{strings.ReplaceAll(text, "\n", "; "), err}
	}
	return err
}

// serveRuns shows what is at the paths until it is told to stop.
func (a *App) serveRuns(ctx context.Context, paths []string, f serveFlags) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if os.Getenv("GOGC") == "" {
		// Most of the memory is what is kept of a run, which stays: collecting twice as often costs no time that could
		// be measured and saves a third of the peak. GOGC has the last word.
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	go func() { // the first Ctrl-C while a run goes on
		select {
		case <-a.Stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	var kept int64 // 0 for the preset
	if f.cache != "" {
		n, err := bytesOf(f.cache)
		if err != nil {
			return fmt.Errorf("--cache: %w", err)
		}
		kept = n
	}
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: level}))
	files, err := interfaceFiles(f.web)
	if err != nil {
		return err
	}

	// The port comes first: whether it is free is known at once.
	g := f.guard
	g.Now, g.Log, g.BodyBytes = time.Now, log, server.BodyBytes
	if f.token == "" {
		f.token = os.Getenv(tokenVariable)
	}
	if f.token == "auto" {
		g.NeedToken = true
	} else {
		g.Token = f.token
	}
	door, err := guard.Listen(ctx, g)
	if err != nil {
		return trimmed(err, "guard: ")
	}
	defer door.Close() //nolint:errcheck // the port is given back with the process

	m := &models{a: a, flags: f.engine, endpoints: f.endpoints}
	so := shelf.Options{Version: a.Version, CacheBytes: kept, Log: log, Now: time.Now}
	o := server.Options{Files: files, Volatile: f.web != "", Workers: workers(), Now: time.Now, Log: log}
	if !f.noLive {
		so.Probe = m.probe
		o.Launcher = m
	}
	if o.Shelf, err = shelf.Open(ctx, paths, so); err != nil {
		return oneLine(err)
	}
	defer o.Shelf.Close() //nolint:errcheck // nothing is written
	o.Report = a.page(o.Shelf, files, !f.noLive)
	s, err := server.New(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it returns nothing but nil

	fmt.Fprintln(a.Out, door.URL())
	all := o.Shelf.Runs()
	for _, p := range all.Problems {
		a.say("note: %s is not shown: %s", p.Name, sentence(p.Detail, p.Remedy))
	}
	for _, u := range door.URLs()[1:] {
		a.say("      %s", u)
	}
	a.say("%s and %s; Ctrl-C ends", plural(len(all.Runs), "run"), plural(len(all.Audits), "audit"))
	if f.open || !f.noOpen && screen(a.Out) {
		if err := browse(ctx, door.URL()); err != nil {
			a.say("note: no browser was opened (%v); open the address above", err)
		}
	}
	return trimmed(door.Serve(ctx, s), "guard: ")
}

// trimmed takes the name of a package off an error.
func trimmed(err error, prefix string) error {
	if err == nil {
		return nil
	}
	if text, ok := strings.CutPrefix(err.Error(), prefix); ok {
		return &renamed{text, err}
	}
	return err
}

// renamed is an error under another text.
type renamed struct {
	text string
	err  error
}

func (e *renamed) Error() string { return e.text }
func (e *renamed) Unwrap() error { return e.err }

// sentence joins what is wrong with what to do.
func sentence(detail, remedy string) string {
	if remedy == "" {
		return detail
	}
	return detail + "; " + remedy
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// interfaceFiles are the files of the interface: those of the program, or those of a folder.
func interfaceFiles(dir string) (fs.FS, error) {
	if dir == "" {
		return web.Files(), nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("--web: %w", err)
	}
	files := root.FS() // it stays open as long as the process
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil, fmt.Errorf("--web %s: it has no index.html; expected what the bundle tool of serve/web writes", dir)
	}
	return files, nil
}

// screen tells whether somebody sits at this machine in front of a screen.
func screen(out any) bool {
	if !terminal(out) || os.Getenv("SSH_CONNECTION") != "" {
		return false
	}
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// browse opens an address in the user's browser, which outlives the program.
func browse(ctx context.Context, url string) error {
	ctx = context.WithoutCancel(ctx)
	var c *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		c = exec.CommandContext(ctx, "open", url)
	case "windows":
		c = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url)
	default:
		c = exec.CommandContext(ctx, "xdg-open", url)
	}
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // it may live as long as the browser
	return nil
}

// models runs the models of runs, on one engine that is opened when the first is asked for.
type models struct {
	a     *App
	flags engineFlags
	// any may be asked
	endpoints bool

	mu     sync.Mutex
	engine engine.Engine
}

// open opens the engine, once.
func (m *models) open(ctx context.Context) (engine.Engine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.engine == nil {
		c, err := m.a.openEngine(ctx, m.flags)
		if err != nil {
			return nil, err
		}
		m.engine = c.Engine
	}
	return m.engine, nil
}

func (m *models) options() workload.Options {
	return workload.Options{OpenEngine: m.open, Rules: action.Rules(), Retry: retry(), NoEndpoint: m.noEndpoint}
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
	s, err := probe.OpenRun(ctx, r, m.options(), probe.Options{Concurrent: max(1, workers())})
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
	study := old.Job().Study
	o := m.options()
	o.KeepGoing = run.Document().Failed > 0 // as when it began
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
	if err := w.Eval.Calibrate(ctx, workers()); err != nil {
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
	err = runexec.Local(context.WithoutCancel(ctx), w.Job, w.Eval, committer{r}, workers(), ctx.Done(),
		&keptCount{done: done, tell: kept})
	var stopped *runexec.StoppedError
	if errors.As(err, &stopped) && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return run.Clean(err)
	}
	sum, err := summarize(r, w)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(sum, "", " ")
	if err != nil {
		return err
	}
	if err := r.Put("summary.json", append(b, '\n')); err != nil {
		return err
	}
	return r.Finish(context.WithoutCancel(ctx), map[string]string{"nero": m.a.Version})
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
