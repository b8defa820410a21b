package workload

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/disk"
	"nero/internal/process"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/builtin"
	"nero/model/engine/remote"
	"nero/model/onnx"
	"nero/run/eval"
	"nero/run/job"
)

// remoteBatch is the micro-batch of a model behind an endpoint, or in a program, where neither the study nor the model
// says one: beyond it calls hardly get cheaper (docs/BENCHMARKS.md), and nothing is known here of the memory of the
// server.
const remoteBatch = 8

// remoteEngine is the name of the body in a job all of whose models are behind endpoints. What runs them there is in
// their digests.
var remoteEngine = job.Engine{Name: "remote", Version: "OIP v2"}

// ErrNoGraph is returned when a model is to be opened to look inside that has no graph: it is no file, or
// one step of a recurrent model.
var ErrNoGraph error = noGraphError(
	"there is no graph behind an endpoint, a program or a built-in method; audit an ONNX file of the model to look " +
		"inside")

// noGraphError says why there is no graph to look into. All of them are [ErrNoGraph].
type noGraphError string

func (n noGraphError) Error() string { return string(n) }

// Is reports whether a reason of this kind is looked for, whatever it says.
func (noGraphError) Is(target error) bool {
	_, ok := target.(noGraphError)
	return ok
}

// elsewhere is a model that is no file: one behind an endpoint, or a program. What it says of itself stands for the
// signature of a file.
type elsewhere interface {
	Signature() onnx.Signature
	// Engine is the model as an engine that opens nothing else.
	Engine() engine.Engine
	// Fingerprint says which model answers, by its answer to a question; repeats, whether it gives that twice.
	Fingerprint(ctx context.Context, in []tensor.Named) (digest string, repeats bool, err error)
	// Notes are sentences that a user should know.
	Notes() []string
	// Place is what a study calls it.
	Place() string
	Close() error
}

// reach connects to a model that is no file and learns what it reads and returns.
func (w *Workload) reach(ctx context.Context, m job.Model, o Options) (elsewhere, error) {
	if m.Name == w.Study.Models[0].Name {
		if r := w.first; r != nil || w.wrong != nil {
			w.first = nil
			return r, w.wrong
		}
	}
	var r elsewhere
	var err error
	switch {
	case len(m.Program) > 0:
		r, err = startProgram(ctx, m, o)
	case m.Builtin != "":
		r, err = builtin.Parse(m.Builtin)
	default:
		r, err = connect(ctx, m, o)
	}
	if err != nil {
		return nil, err
	}
	w.elsewhere = append(w.elsewhere, r)
	return r, nil
}

// startProgram starts the program that is a model, if it may run.
func startProgram(ctx context.Context, m job.Model, o Options) (*remote.Model, error) {
	if err := o.mayRun(m); err != nil {
		return nil, err
	}
	return startAllowed(ctx, m, o)
}

// mayRun says why a program is not run, nil if it may be.
func (o Options) mayRun(m job.Model) error {
	if o.Program == nil {
		return fmt.Errorf("the model is a program, %s, and no program is run here", process.Line(m.Program))
	}
	return o.Program(m)
}

// startAllowed starts a program of which somebody said that it may run.
func startAllowed(ctx context.Context, m job.Model, o Options) (*remote.Model, error) {
	return remote.Connect(ctx, o.programOf(m))
}

// programOf is how a program is started.
func (o Options) programOf(m job.Model) remote.Config {
	return remote.Config{Command: m.Program, Dir: m.Dir, Workers: m.Workers, Timeout: o.limit(m)}
}

// connect connects to the model behind an endpoint.
func connect(ctx context.Context, m job.Model, o Options) (*remote.Model, error) {
	c, err := way(m, o)
	if err != nil {
		return nil, err
	}
	return remote.Connect(ctx, c)
}

// ConnectText connects to a model behind an endpoint, or in a program, that reads texts or bytes. The output is the one
// that is read; it
// may be empty where the model has one.
func ConnectText(ctx context.Context, m job.Model, output string, o Options) (*remote.Text, error) {
	switch {
	case len(m.Program) > 0:
		if err := o.mayRun(m); err != nil {
			return nil, err
		}
		return remote.ConnectText(ctx, o.programOf(m), output)
	case m.Endpoint == "":
		return nil, fmt.Errorf("%s is no endpoint and no program, and those are asked about texts and bytes; serve "+
			"it, "+
			"and write endpoint: http://HOST:PORT/MODEL or grpc://HOST:PORT/MODEL", m.Text())
	}
	c, err := way(m, o)
	if err != nil {
		return nil, err
	}
	return remote.ConnectText(ctx, c, output)
}

// way is how a model behind an endpoint is reached, if it may be.
func way(m job.Model, o Options) (remote.Config, error) {
	if o.NoEndpoint != nil {
		if err := o.NoEndpoint(m); err != nil {
			return remote.Config{}, err
		}
	}
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.LookupEnv
	}
	c := remote.Config{
		URL: m.Endpoint, Version: m.Version, Insecure: m.Insecure,
		// What is asked before the run, such as a fingerprint, has no longer than that either.
		Timeout:     o.limit(m),
		Concurrency: m.Concurrency, Retry: o.Retry, Live: o.Live,
	}
	if m.HeadersEnv != "" {
		text, ok := getenv(m.HeadersEnv)
		if !ok {
			return remote.Config{}, fmt.Errorf(
				"the environment variable %s of headers_env is not set; set it to lines of Name: value, or leave "+
					"headers_env out", m.HeadersEnv)
		}
		h, err := remote.Headers(text)
		if err != nil {
			return remote.Config{}, fmt.Errorf("the environment variable %s of headers_env: %w", m.HeadersEnv, err)
		}
		c.Header = h
	}
	if m.TokenEnv != "" {
		token, ok := getenv(m.TokenEnv)
		if !ok || token == "" {
			return remote.Config{}, fmt.Errorf(
				"the environment variable %s of token_env is not set; set it to the token, or leave token_env out",
				m.TokenEnv)
		}
		if c.Header == nil {
			c.Header = http.Header{}
		}
		c.Header.Set("Authorization", "Bearer "+token)
	}
	if m.CA != "" {
		b, err := disk.Read(m.CA, 1<<20)
		if err != nil {
			return remote.Config{}, fmt.Errorf("ca: %w", err)
		}
		c.CA = b
	}
	return c, nil
}

// allAway tells whether no model needs an engine here.
func (w *Workload) allAway() bool { return !slices.ContainsFunc(w.Study.Models, job.Model.IsFile) }

// openAway fixes the micro-batch of a model that is no file and finds out which model it is.
func (w *Workload) openAway(ctx context.Context, i int, r elsewhere, in space.Spec) error {
	m, opened := w.Study.Models[i], w.Eval.Models[i]
	at, place := where(i, m)
	opened.Pool = eval.NewPool(r.Engine(), nil, engine.Options{})
	opened.Batch = cmp.Or(m.Batch, remoteBatch)
	if fixed := decode.BatchLimit(opened.Codec); fixed > 0 {
		if m.Batch != 0 && m.Batch != fixed {
			return w.Study.Errorf(fmt.Sprintf("models[%d].batch", i),
				"%d, but the batch axis of %s is fixed at %d; leave batch out", m.Batch, place, fixed)
		}
		opened.Batch, opened.Fixed = fixed, true
	}
	n := 1
	if opened.Fixed {
		n = opened.Batch
	}
	x, err := opened.Codec.Encode(slices.Repeat([]space.Value{w.speckled(in)}, n), nil)
	if err != nil {
		return w.Study.Errorf(at, "%s: %v", place, err)
	}
	sum, repeats, err := r.Fingerprint(ctx, x)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return w.Study.Errorf(at, "%v", err)
	}
	if !repeats {
		w.note("%s: two answers to the same input differ, so the numbers of a run cannot be repeated, and another "+
			"model in its place may pass unnoticed", m.Name)
	}
	for _, n := range r.Notes() {
		w.note("%s: %s", m.Name, n)
	}
	w.Parameters[m.Name] = 0
	w.opened[m.Name] = &loaded{codec: opened.Codec, seen: in, batch: opened.Batch, fixed: opened.Fixed}
	w.Job.Models = append(w.Job.Models,
		job.ModelRef{Name: m.Name, Ref: job.Ref{Path: r.Place(), SHA256: sum}, Batch: opened.Batch})
	return nil
}

// speckled is a sample of random intensities over the range of the data, always the same: the question by whose answer
// a model is known again.
func (w *Workload) speckled(in space.Spec) space.Value {
	in.Shape = slices.Clone(in.Shape)
	for i, n := range in.Shape {
		if n <= 0 { // samples of any size
			in.Shape[i] = map[bool]int{true: 3, false: 64}[i == len(in.Shape)-3]
		}
	}
	if _, _, _, _, ok := in.Pictures(); !ok {
		return w.specimen(in)
	}
	v := blank(in)
	if p, ok := v.(space.Pictured); ok {
		rng := rand.New(rand.NewPCG(20, 26))
		for _, m := range p.Pictures() {
			for i := range m.Pix {
				m.Pix[i] = rng.Float64() * w.Study.Input.Scale
			}
		}
	}
	return v
}

// signature is what a model reads and returns, wherever it runs.
func (f file) signature() onnx.Signature {
	switch {
	case f.away != nil:
		return f.away.Signature()
	case f.rolled != nil:
		return f.rolled.Signature()
	}
	return f.model.Signature()
}
