package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
	"time"

	"nero/internal/process"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/isolated"
	"nero/model/engine/provider"
	"nero/model/engine/recall"
	"nero/model/engine/remote"
	"nero/run/job"
	"nero/run/store/object"
	"nero/run/workload"
)

// App is the program with everything that it takes from outside. The zero App works: it tells nothing, and writes no
// dates and no version. Its methods may be called from several goroutines; its fields must not change meanwhile.
type App struct {
	// Version is the program's, as runs and audits keep it.
	Version string
	// Now is the clock; nil leaves dates out. Serve and Bench need one.
	Now func() time.Time
	// Jitter draws numbers in [0, 1) by which repeated calls to endpoints are spread; nil spreads nothing. No result
	// depends on it.
	Jitter func() float64
	// Host says where engines lie on this machine; nil for [choose.Host].
	Host *choose.Places
	// Events is told what happens, also from several goroutines at once; nil for nobody.
	Events func(Event)
	// Stop, when it is closed, ends runs in good order: shards under way are finished and kept.
	Stop <-chan struct{}
	// Process starts a program whose main function calls [RunEngine] when [EngineAsked], such as [Itself]; nil where
	// there is none, and engines run in this process.
	Process func() *exec.Cmd
	// Live is the way to the program that started this one, whose functions are the models live://NAME; nil where there
	// is none.
	Live remote.Live
	// Programs says that a study may run the program that its group is defined by. A study is a file that somebody may
	// have sent.
	Programs bool
	// Named are models that are programs and that the user has named outside of a study: they run without Programs.
	Named []string
	// Speech is how options are written where the program was started from; nil for flags of a command line.
	Speech Speech
	// Bucket reaches the storage of a run in a bucket; nil for [object.Open], with what the environment says.
	Bucket func(context.Context, object.Address) (object.Store, error)
	// Parts are the lists of what there is: metrics, checks and the like. The zero Parts are those of nero.
	Parts Parts

	// how many runs are under way that can be stopped and resumed
	running atomic.Int32
	thrift  thrift
}

// Engine says what runs the models.
type Engine struct {
	// Kind is auto, native or wasm; empty means auto: a native library where there is one, else the embedded engine.
	Kind string
	// Library is the path of ONNX Runtime's shared library; empty to look for one.
	Library string
	// Providers are where models in files run, whatever the study says: execution providers of a native library, as
	// provider.Parse reads them; nil for what the study says.
	Providers []string
	// Isolate runs a library in a process of its own, where [App.Process] can start one: a model that crashes it ends
	// with an error, and not with the program. Serve always does, and the embedded engine always runs so.
	Isolate bool
	// Memory is how many bytes such a process may take, where the system can bound it; 0 for three quarters of the
	// machine's.
	Memory int64
	// TimeLimit is how long a model may take for one answer, of a batch, whatever its study says; below 0 for any time,
	// 0 for what the study says.
	TimeLimit time.Duration
	// MostTime bounds what a study says of that, and stands where it says nothing; 0 for no bound.
	MostTime time.Duration

	// kept are answers that need not be asked for; nil for none
	kept *recall.Store
}

// Running reports whether a run is under way that Stop would end in good order.
func (a *App) Running() bool { return a.running.Load() > 0 }

func (a *App) host() choose.Places {
	if a.Host == nil {
		return choose.Host()
	}
	return *a.Host
}

// EngineAsked reports whether this process was started by [App.Process] to run an engine.
func EngineAsked() bool { return isolated.Asked() }

// RunEngine runs an engine until the program that started this process is done with it, and returns the exit code. It
// is all that such a process does.
func RunEngine() int { return choose.Serve() }

// Itself starts this program again; see [App.Process].
func Itself() *exec.Cmd { return isolated.Itself() }

// ProcessorTime is the processor time of this process so far, over all threads.
func ProcessorTime() time.Duration { return process.Spent() }

// EngineKinds are what [Engine] may name, the preset first.
func EngineKinds() []string { return choose.Kinds() }

// Providers are what [Engine] may name to run models on.
func Providers() []string { return provider.Names() }

// request is what package choose is asked for.
func (a *App) request(e Engine) choose.Request {
	return choose.Request{
		Kind: e.Kind, Library: e.Library, Process: a.Process, Isolate: e.Isolate,
		Memory: cmp.Or(e.Memory, isolated.Machine()/4*3),
	}
}

// openEngine chooses and opens the engine and says what the user should know about it.
func (a *App) openEngine(ctx context.Context, e Engine, on []provider.List) (choose.Choice, error) {
	r := a.request(e)
	r.Providers = on
	c, err := choose.Open(ctx, r, a.host())
	if err != nil {
		return c, a.lacking(err)
	}
	a.note(c.Notes...)
	if len(on) == 0 {
		on = []provider.List{{}}
	}
	for _, l := range on {
		a.tell(Event{Kind: Opened, Text: describe(engine.On(c.Engine, l).Info()), Hint: c.Hint()})
	}
	return c, nil
}

// lacking says of a library that does not have a provider how another one is named, beside the variable.
func (a *App) lacking(err error) error {
	if _, lacks := errors.AsType[*provider.LackError](err); lacks {
		return fmt.Errorf("%w, or name it with %s", err, a.option("ort-lib"))
	}
	return err
}

// describe is an engine on one line.
func describe(i engine.Info) string {
	s := fmt.Sprintf("%s, ONNX Runtime %s", i.Name, i.Version)
	if i.Path != "" {
		s += ", " + i.Path
	}
	s += " (" + i.Reason + ")"
	if i.Provider != "" {
		s += ", on " + i.Provider
	}
	return s
}

// options are those with which studies are opened. The engine is opened when it is needed.
func (a *App) options(e Engine) workload.Options {
	return workload.Options{
		OpenEngine: func(ctx context.Context, on []provider.List) (engine.Engine, error) {
			c, err := a.openEngine(ctx, e, on)
			if err != nil || e.kept == nil {
				return c.Engine, err
			}
			return e.kept.Over(c.Engine, identity(c.Engine, a.host().Processor)), nil
		},
		Providers: e.Providers,
		Rules:     a.Parts.rules(), Formats: a.Parts.Formats, Presets: a.Parts.Presets, Metrics: a.Parts.metrics(),
		Groups: a.Parts.Groups,
		Kinds:  a.Parts.Kinds, Codec: a.Parts.Codec, Retry: remote.Retry{Jitter: a.Jitter}, Start: a.program,
		Program: a.modelProgram,
		Judge:   a.metricProgram,
		Live:    a.Live,
		Say: func(name, value, literal string) string {
			return a.speech().Option(Option{Name: name, Value: value, Literal: literal})
		},
		TimeLimit: e.TimeLimit, MostTime: e.MostTime,
	}
}

// open opens a study and passes on what was chosen for the user.
func (a *App) open(ctx context.Context, s *job.Study, o workload.Options) (*workload.Workload, error) {
	if err := onPaths(s); err != nil {
		return nil, err
	}
	w, err := workload.Open(ctx, s, o)
	if err != nil {
		return nil, err
	}
	a.note(w.Notes...)
	return w, nil
}

// someWorkers refuses to work with none.
func (a *App) someWorkers(n int) error {
	if n < 1 {
		return fmt.Errorf("%s is %d, want at least 1", a.option("workers"), n)
	}
	return nil
}
