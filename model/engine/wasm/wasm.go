// Package wasm is the body of ONNX Runtime that needs nothing installed: the WebAssembly build of ONNX Runtime 1.18.0
// lies in the binary and is run by wazero, which compiles it to machine code on amd64 and arm64 and interprets it
// elsewhere. It takes four to ten times as long as the shared library.
//
// One [Engine] holds the compiled module. Every session is an instance of it with its own 32-bit memory of at most 4
// GiB, one thread and its own copy of the weights: a worker opens a session for itself.
package wasm

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed" // the module
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"nero/internal/disk"
	"nero/model/engine"
)

// Version is that of the embedded ONNX Runtime.
const Version = "1.18.0"

// What this body takes: files that declare more are refused by Open. The shared library takes newer ones.
const (
	MaxOpset = 21 // of the standard operators
	MaxIR    = 10 // version of the file format
)

// SHA256 is the digest of the embedded module once unpacked. It pins the one file that the names in abi.go belong to.
const SHA256 = "f533b5f21790563d7556c611c3835ac65848ee326da2689aac54ed7d9cc8c6a4"

const moduleSize = 10595041

// compiler is the release of wazero in go.mod. It is part of the names under which machine code and self-tests are
// kept: a test binary does not know the versions of its modules, and code of another release must never be run.
const compiler = "wazero v1.12.0"

//go:embed ort-wasm-simd.wasm.gz
var packed []byte

// unpack returns the module as it was published.
func unpack() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("embedded ONNX Runtime: %w", err)
	}
	b := make([]byte, moduleSize)
	if _, err := io.ReadFull(z, b); err != nil {
		return nil, fmt.Errorf("embedded ONNX Runtime: %w", err)
	}
	return b, nil
}

// Config of an [Engine]. The zero Config compiles on every start and keeps nothing.
type Config struct {
	// CacheDir is a folder of this package's own for the machine code (about 50 MB), so that only the first start on a
	// machine takes seconds. It is made when absent. A folder that cannot be written or holds damaged files costs time,
	// never the result; see [Engine.Note]. Empty for none.
	CacheDir string
	// Reason is passed on to [engine.Info].
	Reason string
}

// Engine is the compiled module, shared by its sessions. It may be used by many goroutines at once.
type Engine struct {
	runtime wazero.Runtime
	// nil for none
	cache  wazero.CompilationCache
	module wazero.CompiledModule
	reason string
	note   string
	// of the module that runs
	digest string

	// held for writing while the engine closes
	mu     sync.RWMutex
	closed bool
	// a call was left to itself and may never end
	left atomic.Bool
}

// New compiles the embedded module, or fetches the machine code from the cache folder: about 4 s of work on two cores
// against 0.3 s. The compiler notices the end of ctx.
func New(ctx context.Context, c Config) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := unpack()
	if err != nil {
		return nil, err
	}
	if m, _, err = correct(m); err != nil {
		return nil, fmt.Errorf("embedded ONNX Runtime: %w", err)
	}
	return compile(ctx, c, m)
}

// compile makes the engine of a module, corrected or not.
func compile(ctx context.Context, c Config, module []byte) (*Engine, error) {
	// wazero's own key counts the processor in. The folder is named after the rest, so that a damaged one can be
	// dropped without touching anything else. Another process that is reading from it has the file open.
	sum := sha256.Sum256(module)
	digest := hex.EncodeToString(sum[:])
	attempt := func(dir string) (*Engine, error) {
		e, err := attempt(ctx, c, module, dir)
		if e != nil {
			e.digest = digest
		}
		return e, err
	}
	if c.CacheDir == "" {
		return attempt("")
	}
	name := strings.ReplaceAll(compiler, " ", "-") + "-" + digest[:12] + "-" + layout
	kept := code{filepath.Join(c.CacheDir, name)}
	if kept.sound() {
		e, err := attempt(kept.dir)
		if err == nil && e.note == "" {
			_ = kept.keep(kept.recorded()) // the code for another processor was there; this one's is new
		}
		if err == nil || ctx.Err() != nil {
			return e, err
		}
	}
	// There is none, or it was damaged by a crash of the machine: start afresh.
	lock, err := kept.take()
	if errors.Is(err, disk.ErrLocked) { // another process does just that
		return attempt("")
	}
	if err == nil {
		defer func() { _ = lock.Close() }() // it is empty
		var e *Engine
		if e, err = attempt(kept.dir); err != nil && ctx.Err() == nil && kept.empty() == nil {
			e, err = attempt(kept.dir) // as it would be on the first start
		}
		if err == nil && e.note == "" {
			if err := kept.keep(nil); err != nil {
				e.note = cacheNote(kept.dir, err)
			}
		}
		if err == nil || ctx.Err() != nil {
			return e, err
		}
	}
	e, err2 := attempt("")
	if err2 != nil {
		return nil, err2
	}
	e.note = cacheNote(kept.dir, err)
	return e, nil
}

func cacheNote(dir string, err error) string {
	return fmt.Sprintf("compiled code is not kept in %s, so every start takes seconds longer: %v", dir, err)
}

func attempt(ctx context.Context, c Config, module []byte, dir string) (_ *Engine, err error) {
	e := &Engine{reason: c.Reason}
	defer func() {
		if err != nil {
			_ = e.Close(context.WithoutCancel(ctx)) // the first error says more
		}
	}()
	cfg := wazero.NewRuntimeConfig()
	if dir != "" {
		if e.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			e.cache = nil
			return nil, err
		}
		cfg = cfg.WithCompilationCache(e.cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, cfg)
	workers := experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	if e.module, err = e.runtime.CompileModule(workers, module); err != nil {
		if dir == "" || ctx.Err() != nil {
			return nil, fmt.Errorf("compiling ONNX Runtime: %w", err)
		}
		// Where only writing the code failed (disk full, read-only folder), wazero has it in memory and gives it out
		// now.
		var again error
		if e.module, again = e.runtime.CompileModule(workers, module); again != nil {
			return nil, err
		}
		e.note = cacheNote(dir, err)
	}
	if err := e.imports(ctx); err != nil {
		return nil, fmt.Errorf("preparing ONNX Runtime: %w", err)
	}
	return e, nil
}

// Info says that this is the body "wasm", its version and the reason from [Config].
func (e *Engine) Info() engine.Info {
	return engine.Info{Name: "wasm", Version: Version, Reason: e.reason}
}

// Fingerprint is the digest of the module that runs and the release of the compiler.
func (e *Engine) Fingerprint() string { return e.digest + " " + compiler }

// Note says why compiled code could not be kept; it is empty when all is well.
func (e *Engine) Note() string { return e.note }

// Concurrent is false: a session is one instance with one thread.
func (e *Engine) Concurrent() bool { return false }

// Close waits for the runs that are under way, ends every session and frees the machine code. Where a run does not end,
// nothing is freed.
func (e *Engine) Close(ctx context.Context) error {
	if e.left.Load() {
		return nil // what it holds is given back with the process
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	var err error
	if e.runtime != nil {
		err = e.runtime.Close(ctx)
	}
	if e.cache != nil {
		if err2 := e.cache.Close(ctx); err == nil {
			err = err2
		}
	}
	return err
}

// Open starts an instance and loads the model, which must not be changed while the session is in use: after a fatal
// error inside ONNX Runtime the next Run starts again from it. Options.Threads is ignored.
func (e *Engine) Open(ctx context.Context, model []byte, o engine.Options) (engine.Session, error) {
	if err := engine.Lacking(e, o.Providers); err != nil {
		return nil, err
	}
	if err := checkVersions(model); err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, engine.ErrClosed
	}
	s := &session{engine: e, model: model, options: o}
	if err := s.begin(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("opening the model: %w", err)
	}
	return s, nil
}
