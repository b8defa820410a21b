package wasm

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Exports of the module. Its build minified the names; the signatures are those of ONNX Runtime's
// onnxruntime/wasm/api.h, all arguments and results 32-bit integers.
const (
	xMemory    = "K"
	xCallCtors = "L" // ()
	xInit      = "M" // (threads, log level) status
	xLastError = "N" // (*code, **text)
	// (optimization, arena, pattern, parallel, profile, *prefix, *log id, log level, verbosity, *path) options.
	xCreateOptions  = "O"
	xReleaseOptions = "S"  // (options)
	xCreateSession  = "T"  // (*model, size, options) session
	xCounts         = "V"  // (session, *inputs, *outputs) status
	xInputName      = "W"  // (session, i) *text
	xOutputName     = "X"  // (session, i) *text
	xOrtFree        = "Y"  // (p) memory that ONNX Runtime allocated
	xCreateTensor   = "Z"  // (type, *data, bytes, *dims, rank, location) tensor
	xTensorData     = "_"  // (tensor, *type, **data, **dims, *rank) status
	xReleaseTensor  = "$"  // (tensor)
	xCreateRunOpts  = "aa" // (log level, verbosity, terminate, *tag) options
	xReleaseRunOpts = "ca" // (options)
	xRun            = "ja" // (session, *names, *tensors, n, *names, n, *tensors, options) status
	xMalloc         = "la" // (n) p
	xFree           = "ma" // (p)
)

var exports = []string{
	xCallCtors, xInit, xLastError, xCreateOptions, xReleaseOptions, xCreateSession, xCounts, xInputName, xOutputName,
	xOrtFree,
	xCreateTensor, xTensorData, xReleaseTensor, xCreateRunOpts, xReleaseRunOpts, xRun, xMalloc, xFree,
}

const (
	optimizeNone = 0
	optimizeAll  = 99
	logError     = 3
	locationCPU  = 1

	pageSize  = 65536
	maxMemory = 4294901760 // Emscripten's limit: 65535 pages
)

// logKey finds the log of the session whose call is under way.
type logKey struct{}

// tail keeps the last text that ONNX Runtime wrote to its standard output and error.
type tail struct{ b []byte }

const tailSize = 2048

func (t *tail) write(b []byte) {
	t.b = append(t.b, b...)
	if len(t.b) > tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
}

// trap is what the module calls when it cannot go on; wazero turns the panic into the error of the call.
type trap string

func (t trap) Error() string { return string(t) }

// exception is a C++ exception with its text, which may be empty.
type exception struct{ text string }

func (e exception) Error() string {
	if e.text == "" {
		return "C++ exception without a text; usual causes: more than the 4 GiB of memory of this body (take smaller " +
			"batches or the native body), or a damaged file"
	}
	return e.text
}

// imports gives the module the few Emscripten functions that it needs; the others are never reached in this use of it
// and answer 0. All 36 carry minified names in the module "a".
func (e *Engine) imports(ctx context.Context) error {
	known := map[string]api.GoModuleFunc{
		"a": throw,
		"d": func(context.Context, api.Module, []uint64) { panic(trap("ONNX Runtime aborted")) },
		"I": copyMemory,
		"s": resizeHeap,
		"u": func(_ context.Context, _ api.Module, s []uint64) { s[0] = maxMemory }, // get_heap_max
		"b": now,
		"h": now,
		"i": writeFile,
		"f": noFile, // fd_close
		"j": noFile, // fd_read
		"k": func(_ context.Context, _ api.Module, s []uint64) { s[0] = 1 },
		"D": noEnvironment,
	}
	h := e.runtime.NewHostModuleBuilder("a")
	for _, f := range e.module.ImportedFunctions() {
		_, name, _ := f.Import()
		fn, ok := known[name]
		switch {
		case ok:
		case len(f.ResultTypes()) > 0:
			fn = func(_ context.Context, _ api.Module, s []uint64) { s[0] = 0 }
		default:
			fn = func(context.Context, api.Module, []uint64) {}
		}
		h.NewFunctionBuilder().WithGoModuleFunction(fn, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	_, err := h.Instantiate(ctx)
	return err
}

// wazero leaves the upper halves of 32-bit arguments undefined: every one is cut with uint32().

// copyMemory is memcpy(to, from, n).
func copyMemory(_ context.Context, m api.Module, s []uint64) {
	b, ok := m.Memory().Read(uint32(s[1]), uint32(s[2]))
	if !ok || !m.Memory().Write(uint32(s[0]), b) {
		panic(trap("ONNX Runtime copied beyond its memory"))
	}
}

// resizeHeap is emscripten_resize_heap(size) ok.
func resizeHeap(_ context.Context, m api.Module, s []uint64) {
	want, have := uint64(uint32(s[0])), uint64(m.Memory().Size())
	s[0] = 1
	if want <= have {
		return
	}
	if want > maxMemory {
		s[0] = 0
		return
	}
	size := max(want, min(have+have/5, maxMemory)) // a fifth more than now saves copies
	if _, ok := m.Memory().Grow(uint32((size - have + pageSize - 1) / pageSize)); !ok {
		s[0] = 0
	}
}

// now is the time in milliseconds. ONNX Runtime takes it only to time itself; no result depends on it.
func now(_ context.Context, _ api.Module, s []uint64) {
	s[0] = math.Float64bits(float64(time.Now().UnixMicro()) / 1e3) //nolint:forbidigo // the module's own clock
}

// writeFile is fd_write(fd, *vectors, n, *written) errno. Only standard output and error are ever open.
func writeFile(ctx context.Context, m api.Module, s []uint64) {
	log, _ := ctx.Value(logKey{}).(*tail)
	mem, written := m.Memory(), uint32(0)
	for k := range uint32(s[2]) {
		p, _ := mem.ReadUint32Le(uint32(s[1]) + 8*k)
		n, _ := mem.ReadUint32Le(uint32(s[1]) + 8*k + 4)
		b, ok := mem.Read(p, n)
		if !ok {
			break
		}
		if log != nil {
			log.write(b)
		}
		written += n
	}
	mem.WriteUint32Le(uint32(s[3]), written)
	s[0] = 0
}

// throw is __cxa_throw(*object, *type, *destructor). The module cannot catch anything, so the instance ends here. The
// text of the exception lies behind a pointer in the object: std::runtime_error holds a C string, ONNX Runtime's own
// exception has the message as its last string, after those that name the place in the source. The longest is the
// message: it repeats the others.
func throw(_ context.Context, m api.Module, s []uint64) {
	const words, shortest, longest = 17, 4, 1 << 12
	text, mem := "", m.Memory()
	for k := range uint32(words) {
		p, ok := mem.ReadUint32Le(uint32(s[0]) + 4*k)
		if !ok {
			break
		}
		n := uint32(0)
		for n < longest {
			if c, ok := mem.ReadByte(p + n); !ok || (c < ' ' || c > '~') && c != '\n' && c != '\t' {
				break
			}
			n++
		}
		if b, ok := mem.Read(p, n); ok && n >= shortest && int(n) > len(text) {
			text = string(b)
		}
	}
	panic(exception{strings.TrimSpace(text)})
}

// noFile answers ENOSYS.
func noFile(_ context.Context, _ api.Module, s []uint64) { s[0] = 52 }

// noEnvironment is environ_sizes_get(*count, *bytes) errno.
func noEnvironment(_ context.Context, m api.Module, s []uint64) {
	m.Memory().WriteUint32Le(uint32(s[0]), 0)
	m.Memory().WriteUint32Le(uint32(s[1]), 0)
	s[0] = 0
}

// moduleConfig starts an instance without a name, so that there may be many, and without running anything.
func moduleConfig() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions()
}
