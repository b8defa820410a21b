//go:build (darwin || linux || windows) && (amd64 || arm64) && !nonative

package native

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/library"
	"nero/model/engine/provider"
)

// Supported reports whether libraries can be loaded on this platform.
const Supported = true

// Positions in struct OrtApi of onnxruntime_c_api.h. The struct only grows at its end, so they hold for every release;
// all are older than the version that is asked for.
const (
	fGetErrorMessage   = 2
	fCreateEnv         = 3
	fDisableTelemetry  = 6
	fSessionFromArray  = 8
	fRun               = 9
	fCreateOptions     = 10
	fDisableMemPattern = 17
	fDisableArena      = 19
	fSetOptimization   = 23
	fSetIntraThreads   = 24
	fInputCount        = 30
	fOutputCount       = 31
	fInputName         = 36
	fOutputName        = 37
	fCreateRunOptions  = 39
	fSetTerminate      = 46
	fCreateTensor      = 49
	fIsTensor          = 50
	fTensorData        = 51
	fElemType          = 60
	fDimCount          = 61
	fDims              = 62
	fTensorInfo        = 65
	fCreateCPUMemory   = 69
	fAllocatorFree     = 76
	fDefaultAllocator  = 78
	fReleaseEnv        = 92
	fReleaseStatus     = 93
	fReleaseMemory     = 94
	fReleaseSession    = 95
	fReleaseValue      = 96
	fReleaseRunOpts    = 97
	fReleaseInfo       = 99
	fReleaseOptions    = 100

	fProviders        = 125
	fReleaseProviders = 126
	fAddConfig        = 130
	fAppendTensorRT   = 170
	fCreateTensorRT   = 171
	fUpdateTensorRT   = 172
	fReleaseTensorRT  = 174
	fAppendCUDA       = 204
	fCreateCUDA       = 205
	fUpdateCUDA       = 206
	fReleaseCUDA      = 208
	fAppendProvider   = 216
	fAppendROCM       = 153
	fCreateROCM       = 255
	fUpdateROCM       = 256
	fReleaseROCM      = 258
	fAppendOpenVINO   = 275

	apiFunctions = 276
	apiVersion   = 17
	logFatal     = 4 // errors come back as status; nothing of it belongs on the user's terminal
	optimizeNone = 0
	arena        = 1
	memDefault   = 0
)

// Engine is a loaded library. It may be used by many goroutines at once.
type Engine struct {
	api             *[apiFunctions]uintptr
	env, mem, alloc uintptr
	// of the functions that say which nodes run where; nil before release 1.24
	placing *[placingFunctions]uintptr
	info    engine.Info
	// of the library's file
	mark string
}

// frame holds what C reads and writes during one call. C may write to an out-parameter after the goroutine's stack has
// moved, so nothing given to C may lie on a stack: pinning both moves a variable to the heap and keeps it alive.
type frame struct{ p runtime.Pinner }

func (f *frame) out() *uintptr {
	v := new(uintptr)
	f.p.Pin(v)
	return v
}

func (f *frame) done() { f.p.Unpin() }

func (f *frame) str(s string) uintptr { return pin(f, append([]byte(s), 0)) }

func pin[T any](f *frame, s []T) uintptr {
	if len(s) == 0 {
		return 0
	}
	f.p.Pin(&s[0])
	return uintptr(unsafe.Pointer(&s[0]))
}

func addr(p *uintptr) uintptr { return uintptr(unsafe.Pointer(p)) }

// at views memory of C, which neither moves nor is collected.
func at(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

func cString(p uintptr) string {
	if p == 0 {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(at(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(at(p)), n))
}

// void calls a function that returns nothing.
func (e *Engine) void(f int, a ...uintptr) { purego.SyscallN(e.api[f], a...) }

// do calls a function that returns a status.
func (e *Engine) do(f int, a ...uintptr) error {
	status, _, _ := purego.SyscallN(e.api[f], a...)
	return e.status(status)
}

// status is the error of a status that C returned.
func (e *Engine) status(status uintptr) error {
	if status == 0 {
		return nil
	}
	text, _, _ := purego.SyscallN(e.api[fGetErrorMessage], status)
	err := errors.New("ONNX Runtime: " + engine.OneLine(cString(text)))
	e.void(fReleaseStatus, status)
	return err
}

// telemetryOff is the variable that keeps a library from sending telemetry. It has to be in the environment that C sees
// before the library makes an environment of its own: builds from 1.31 on then look up a host, and write the name of a
// device into the user's cache.
const telemetryOff = "ORT_DISABLE_TELEMETRY"

// silence keeps the library that is loaded next from sending telemetry. Where it cannot, none is loaded.
func silence(set func(name, value string) error) error {
	err := set(telemetryOff, "1")
	if err == nil || os.Getenv(telemetryOff) == "1" {
		return nil
	}
	return fmt.Errorf("the telemetry of ONNX Runtime cannot be switched off here, so it is not loaded: %w; start nero "+
		"with %s=1 in the environment, or take the embedded engine with --engine wasm", err, telemetryOff)
}

// New loads the library at path; reason is passed on to [engine.Info]. Errors say what is wrong with the file: another
// kind of file, another platform, another library, a release before 1.17.
func New(path, reason string) (*Engine, error) {
	path, err := filepath.Abs(path) // a bare name would be looked up in the system's folders
	if err != nil {
		return nil, err
	}
	if err := library.Check(path, library.Host()); err != nil {
		return nil, err
	}
	mark, err := library.Mark(path)
	if err != nil {
		return nil, err
	}
	if err := silence(setenv); err != nil {
		return nil, err
	}
	fn, loaded, err := symbol(path, "OrtGetApiBase")
	switch {
	case err != nil && !loaded:
		return nil, fmt.Errorf("%s cannot be loaded: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("%s is not ONNX Runtime: %w", path, err)
	}
	base, _, _ := purego.SyscallN(fn)
	if base == 0 {
		return nil, fmt.Errorf("%s: OrtGetApiBase returns nothing", path)
	}
	entry := (*[2]uintptr)(at(base)) // GetApi, GetVersionString
	version, _, _ := purego.SyscallN(entry[1])
	e := &Engine{
		info: engine.Info{Name: "native", Version: cString(version), Path: path, Reason: reason},
		mark: mark,
	}
	api, _, _ := purego.SyscallN(entry[0], apiVersion)
	if api == 0 {
		return nil, fmt.Errorf("%s is ONNX Runtime %s, which is too old: need 1.%d or newer", path, e.info.Version,
			apiVersion)
	}
	e.api = (*[apiFunctions]uintptr)(at(api))
	if newer, _, _ := purego.SyscallN(entry[0], placingVersion); newer != 0 && minor(e.info.Version) >= placingVersion {
		e.placing = (*[placingFunctions]uintptr)(at(newer))
	}
	if err := e.prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

func (e *Engine) prepare() error {
	var f frame
	defer f.done()
	env, mem, alloc := f.out(), f.out(), f.out()
	if err := e.do(fCreateEnv, logFatal, f.str("nero"), addr(env)); err != nil {
		return err
	}
	err := errors.Join(
		e.do(fDisableTelemetry, *env), // the published builds for Windows have it on
		e.do(fCreateCPUMemory, arena, memDefault, addr(mem)),
		e.do(fDefaultAllocator, addr(alloc)))
	if err != nil {
		if *mem != 0 {
			e.void(fReleaseMemory, *mem)
		}
		e.void(fReleaseEnv, *env)
		return err
	}
	e.env, e.mem, e.alloc = *env, *mem, *alloc
	return nil
}

// Info says that this is the body "native", the version of the library, its path and the reason given to [New].
func (e *Engine) Info() engine.Info { return e.info }

// Fingerprint tells the library's file from others, as [library.Mark] does.
func (e *Engine) Fingerprint() string { return e.mark }

// Concurrent is true: a session may run on many goroutines at once.
func (e *Engine) Concurrent() bool { return true }

// session is an opened model. Close waits for the runs that are under way.
type session struct {
	e  *Engine
	mu sync.RWMutex
	// 0 when closed
	handle uintptr
	in     []string
	out    []string
	// what it took goes back to the system with it
	lean bool
	// zero-terminated, inputs then outputs
	cNames [][]byte
	// it was opened on providers
	foreign   bool
	placement provider.Placement
	// closed when a run is left to itself that may never end
	left chan struct{}
	once sync.Once
}

// Open reads the model; the bytes are not needed afterwards.
func (e *Engine) Open(ctx context.Context, model []byte, o engine.Options) (engine.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, left, err := engine.Await(ctx, func() (*session, error) {
		s, err := e.open(model, o)
		if err == nil && ctx.Err() != nil { // nobody may be there to close it
			return nil, errors.Join(ctx.Err(), s.Close())
		}
		return s, err
	})
	switch {
	case left || ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("opening the model: %w", err)
	}
	return s, nil
}

func (e *Engine) open(model []byte, o engine.Options) (_ *session, err error) {
	if len(model) == 0 {
		return nil, errors.New("the model is empty")
	}
	if err := engine.Lacking(e, o.Providers); err != nil {
		return nil, err
	}
	var f frame
	defer f.done()
	s := &session{e: e, lean: o.Lean, foreign: !o.Providers.Plain(), left: make(chan struct{})}
	s.guard(func() { s.handle, err = e.load(&f, model, o, !o.Providers.Fallback) })
	if err != nil {
		return nil, fallen(o.Providers, err, func() (provider.Placement, error) { return e.allowed(model, o) })
	}
	defer func() {
		if err != nil {
			_ = s.Close() // the first error says more
		}
	}()
	if s.in, err = s.names(&f, fInputCount, fInputName); err != nil {
		return nil, err
	}
	if s.out, err = s.names(&f, fOutputCount, fOutputName); err != nil {
		return nil, err
	}
	if !o.Providers.Plain() {
		if s.placement, err = s.placed(&f); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// load makes a session of a model. Strict says that nothing may run on the processor where other places are named.
func (e *Engine) load(f *frame, model []byte, o engine.Options, strict bool) (uintptr, error) {
	opt, handle := f.out(), f.out()
	if err := e.do(fCreateOptions, addr(opt)); err != nil {
		return 0, err
	}
	defer e.void(fReleaseOptions, *opt)
	if o.Plain {
		if err := e.do(fSetOptimization, *opt, optimizeNone); err != nil {
			return 0, err
		}
	}
	// Releases up to 1.18 reuse memory wrongly from the second run of a shape on where a graph computes a value that
	// nothing uses.
	if err := e.do(fDisableMemPattern, *opt); err != nil {
		return 0, err
	}
	if o.Lean {
		apart()
		if err := e.do(fDisableArena, *opt); err != nil {
			return 0, err
		}
	}
	if err := e.do(fSetIntraThreads, *opt, uintptr(min(max(o.Threads, 1), math.MaxInt16))); err != nil {
		return 0, err
	}
	if err := e.place(f, *opt, o.Providers, strict); err != nil {
		return 0, err
	}
	err := e.do(fSessionFromArray, e.env, pin(f, model), uintptr(len(model)), *opt, addr(handle))
	return *handle, err
}

// names asks for the names on one side of the model.
func (s *session) names(f *frame, count, name int) ([]string, error) {
	e, n := s.e, f.out()
	if err := e.do(count, s.handle, addr(n)); err != nil {
		return nil, err
	}
	var names []string
	for i := range *n {
		p := f.out()
		if err := e.do(name, s.handle, i, e.alloc, addr(p)); err != nil {
			return nil, err
		}
		text := cString(*p)
		if err := e.do(fAllocatorFree, e.alloc, *p); err != nil {
			return nil, err
		}
		names = append(names, text)
		s.cNames = append(s.cNames, append([]byte(text), 0))
	}
	return names, nil
}

// Inputs are the names of the model's inputs.
func (s *session) Inputs() []string { return s.in }

// Outputs are the names of the model's outputs.
func (s *session) Outputs() []string { return s.out }

// Placement says what runs where, for a model that was opened on providers.
func (s *session) Placement() provider.Placement { return s.placement }

// Close waits for the runs that are under way and frees the session. Where a run does not end, nothing is freed before
// it does.
func (s *session) Close() error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.handle != 0 {
			s.guard(func() { s.e.void(fReleaseSession, s.handle) })
			s.handle = 0
			if s.lean {
				trim()
			}
		}
	}()
	select {
	case <-closed:
	case <-s.left: // what it holds is given back with the process
	}
	return nil
}

// leave says that a run may never end.
func (s *session) leave() { s.once.Do(func() { close(s.left) }) }

// Run may be called from many goroutines at once. When ctx ends, the model stops after the operator it is at and Run
// returns the error of ctx; where an operator does not end, it is left to itself.
func (s *session) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := engine.CheckInputs(s.in, in); err != nil {
		return nil, err
	}
	run := func() ([]tensor.Named, error) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		if s.handle == 0 {
			return nil, engine.ErrClosed
		}
		var f frame
		defer f.done()
		return s.run(ctx, &f, in)
	}
	var out []tensor.Named
	var err error
	if engine.Watched(ctx) {
		out, err = run()
	} else {
		var left bool
		if out, left, err = engine.Await(ctx, run); left {
			s.leave()
			return nil, ctx.Err()
		}
	}
	switch {
	case errors.Is(err, engine.ErrClosed):
		return nil, err
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &engine.RunError{Err: err}
	}
	return out, nil
}

func (s *session) run(ctx context.Context, f *frame, in []tensor.Named) ([]tensor.Named, error) {
	e := s.e
	names := make([]uintptr, len(s.cNames))
	for i, n := range s.cNames {
		names[i] = pin(f, n)
	}
	values := make([]uintptr, len(names)) // inputs, then the outputs that Run fills in
	defer func() {
		for _, v := range values {
			if v != 0 {
				e.void(fReleaseValue, v)
			}
		}
	}()
	for i, x := range in {
		v, err := e.value(f, x.Tensor)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", x.Name, err)
		}
		values[i] = v
	}
	options, release, err := s.terminator(ctx, f)
	if err != nil {
		return nil, err
	}
	defer release()
	np, vp := pin(f, names), pin(f, values)
	ni, w := uintptr(len(in)), unsafe.Sizeof(uintptr(0))
	s.guard(func() {
		err = e.do(fRun, s.handle, options, np, vp, ni, np+ni*w, uintptr(len(s.out)), vp+ni*w)
	})
	if err != nil {
		return nil, err
	}
	out := make([]tensor.Named, len(s.out))
	for i, v := range values[ni:] {
		y, err := e.fetch(f, v)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", s.out[i], err)
		}
		out[i] = tensor.Named{Name: s.out[i], Tensor: y}
	}
	return out, nil
}

// terminator makes run options that the end of ctx sets to terminate; release waits until nobody uses them.
func (s *session) terminator(ctx context.Context, f *frame) (options uintptr, release func(), err error) {
	if ctx.Done() == nil {
		return 0, func() {}, nil
	}
	p := f.out()
	if err := s.e.do(fCreateRunOptions, addr(p)); err != nil {
		return 0, nil, err
	}
	set := make(chan struct{})
	var late *time.Timer
	stop := context.AfterFunc(ctx, func() {
		defer close(set)
		_ = s.e.do(fSetTerminate, *p) // it cannot fail; if it did, the run would only end later
		late = time.AfterFunc(engine.Grace, s.leave)
	})
	return *p, func() {
		if !stop() {
			<-set
			late.Stop()
		}
		s.e.void(fReleaseRunOpts, *p)
	}, nil
}

// value wraps the tensor's own memory, which stays pinned for the call.
func (e *Engine) value(f *frame, x tensor.Tensor) (uintptr, error) {
	data := x.Raw
	switch {
	case len(data) == 0:
		data = make([]byte, 8) // an empty tensor still needs an address
	case uintptr(unsafe.Pointer(&data[0]))%8 != 0: // cut from a file or a message: kernels expect aligned elements
		data = x.Clone().Raw
	}
	dims := make([]int64, len(x.Shape))
	for i, d := range x.Shape {
		dims[i] = int64(d)
	}
	v := f.out()
	err := e.do(fCreateTensor, e.mem, pin(f, data), uintptr(len(x.Raw)), pin(f, dims), uintptr(len(dims)),
		uintptr(x.DType), addr(v))
	return *v, err
}

// fetch copies an output into Go's memory. Type and shape are taken from the value itself.
func (e *Engine) fetch(f *frame, v uintptr) (t tensor.Tensor, err error) {
	if v == 0 {
		return t, errors.New("the model left it out")
	}
	is, info, rank, typ, p := f.out(), f.out(), f.out(), f.out(), f.out()
	if err := e.do(fIsTensor, v, addr(is)); err != nil {
		return t, err
	}
	if uint32(*is) == 0 {
		return t, errors.New("it is a sequence or map, which is not supported")
	}
	if err := e.do(fTensorInfo, v, addr(info)); err != nil {
		return t, err
	}
	defer e.void(fReleaseInfo, *info)
	if err := errors.Join(e.do(fElemType, *info, addr(typ)), e.do(fDimCount, *info, addr(rank))); err != nil {
		return t, err
	}
	dtype := tensor.DType(uint32(*typ))
	if dtype.Size() == 0 {
		return t, fmt.Errorf("elements of %s are not supported", dtype)
	}
	dims := make([]int64, *rank)
	if err := e.do(fDims, *info, pin(f, dims), *rank); err != nil {
		return t, err
	}
	shape := make([]int, len(dims))
	for i, d := range dims {
		shape[i] = int(d)
	}
	n, err := tensor.CheckedCount(shape, math.MaxInt/dtype.Size())
	if err != nil {
		return t, err
	}
	t = tensor.New(dtype, shape...)
	if n == 0 {
		return t, nil
	}
	if err := e.do(fTensorData, v, addr(p)); err != nil {
		return tensor.Tensor{}, err
	}
	copy(t.Raw, unsafe.Slice((*byte)(at(*p)), len(t.Raw)))
	return t, nil
}
