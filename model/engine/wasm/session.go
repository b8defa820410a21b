package wasm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"nero/data/tensor"
	"nero/model/engine"
)

// session is one instance of the module with one model in it.
type session struct {
	engine  *Engine
	model   []byte
	options engine.Options

	// a second Run at the same time waits
	mu     sync.Mutex
	closed bool
	// nil after a fatal error: the next Run starts a new one
	vm     *instance
	handle uint32
	// C strings in the instance
	inNames  []uint32
	outNames []uint32
	in, out  []string
}

// Inputs are the names of the model's inputs.
func (s *session) Inputs() []string { return s.in }

// Outputs are the names of the model's outputs.
func (s *session) Outputs() []string { return s.out }

// Close frees the instance with all its memory.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine.mu.RLock()
	defer s.engine.mu.RUnlock()
	s.closed = true
	return s.drop()
}

func (s *session) drop() error {
	vm := s.vm
	s.vm = nil
	if vm == nil {
		return nil
	}
	return vm.mod.Close(context.Background())
}

// begin makes an instance and loads the model; where that does not end when ctx has, it is left to itself.
func (s *session) begin(ctx context.Context) error {
	fresh := &session{engine: s.engine, model: s.model, options: s.options}
	_, left, err := engine.Await(ctx, func() (struct{}, error) { return struct{}{}, fresh.start(ctx) })
	switch {
	case left:
		s.engine.left.Store(true)
		return err
	case err != nil:
		return err
	}
	s.vm, s.handle, s.in, s.inNames, s.out, s.outNames = fresh.vm, fresh.handle, fresh.in, fresh.inNames, fresh.out,
		fresh.outNames
	return nil
}

// start makes an instance and loads the model.
func (s *session) start(ctx context.Context) error {
	if uint64(len(s.model)) > math.MaxInt32 {
		return fmt.Errorf("the model has %d bytes; this body takes at most %d", len(s.model), math.MaxInt32)
	}
	vm, err := s.engine.instance(ctx)
	if err != nil {
		return err
	}
	s.vm = vm
	s.load()
	if err := vm.failure(); err != nil {
		_ = s.drop() // the first error says more
		return err
	}
	return nil
}

// load creates the session in the instance and asks for the names.
func (s *session) load() {
	vm := s.vm
	vm.call(xCallCtors)
	vm.call(xInit, 1, logError)
	empty := vm.put([]byte{0})
	vm.empty = empty
	level := uint32(optimizeAll)
	if s.options.Plain {
		level = optimizeNone
	}
	// No memory pattern: with it, ONNX Runtime notes in the first run where the values of these input shapes lie, and
	// lays later runs out alike. Release 1.18 gets this wrong where a graph has a node whose output nothing uses: other
	// numbers from the second run on, without an error, in the shared library of that release as well; 1.23.2 and
	// 1.27.0 are right. On the classifiers of digits runs take no longer without the pattern.
	const arena, pattern = 1, 0
	o := vm.call(xCreateOptions, level, arena, pattern, 0, 0, empty, empty, logError, 0, empty)
	vm.check(o != 0)
	m := vm.put(s.model)
	s.handle = vm.call(xCreateSession, m, uint32(len(s.model)), o)
	vm.check(s.handle != 0)
	vm.call(xFree, m)
	vm.call(xReleaseOptions, o)

	counts := vm.malloc(8)
	vm.check(vm.call(xCounts, s.handle, counts, counts+4) == 0)
	s.in, s.inNames = vm.names(xInputName, s.handle, vm.u32(counts))
	s.out, s.outNames = vm.names(xOutputName, s.handle, vm.u32(counts+4))
	vm.call(xFree, counts)
}

// Run copies the inputs into the instance and the outputs out of it. The model does not notice the end of ctx: where it
// goes on for longer than [engine.Grace] it is left to itself, with its instance, and keeps Go from collecting garbage:
// only a process of its own ends it (package isolated). Machine code that looks for the end of ctx in every loop takes
// five times as long: 1.3 s of processor time for 192 digits in place of 0.26 s. After that, and after a fatal error,
// which is returned once, the next call starts a new instance.
func (s *session) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine.mu.RLock() // closing the engine takes the memory away
	defer s.engine.mu.RUnlock()
	if s.closed || s.engine.closed {
		return nil, engine.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := engine.CheckInputs(s.in, in); err != nil {
		return nil, err
	}
	if err := fits(in); err != nil {
		return nil, err
	}
	if s.vm == nil {
		if err := s.begin(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("opening the model again after a fatal error: %w", err)
		}
	}
	running := &session{vm: s.vm, handle: s.handle, inNames: s.inNames, outNames: s.outNames, in: s.in, out: s.out}
	out, left, err := engine.Await(ctx, func() ([]tensor.Named, error) { return running.run(in), nil })
	if left {
		s.engine.left.Store(true)
		s.vm = nil
		return nil, err
	}
	if err := s.vm.failure(); err != nil {
		if s.vm.dead {
			_ = s.drop() // the first error says more
		}
		return nil, &engine.RunError{Err: err}
	}
	return out, ctx.Err()
}

// fits refuses what a 32-bit address cannot hold.
func fits(in []tensor.Named) error {
	var total uint64
	for _, x := range in {
		for axis, n := range x.Shape {
			if int64(n) > math.MaxInt32 {
				return fmt.Errorf("input %q: axis %d has %d entries; this body takes at most %d", x.Name, axis, n,
					math.MaxInt32)
			}
		}
		if total += uint64(len(x.Raw)); total > maxMemory {
			return fmt.Errorf("input %q: the inputs have more than the %d bytes of this body's memory; take smaller "+
				"batches or the native body", x.Name, uint64(maxMemory))
		}
	}
	return nil
}

// run returns nothing useful once the instance has failed.
func (s *session) run(in []tensor.Named) []tensor.Named {
	vm := s.vm
	defer vm.release()
	ni, no := uint32(len(s.inNames)), uint32(len(s.outNames))
	table := vm.temp(xFree, vm.malloc(4*uint64(2*ni+2*no)))
	inName, inValue, outName, outValue := table, table+4*ni, table+8*ni, table+8*ni+4*no
	for i, x := range in {
		t := vm.tensor(x.Tensor)
		vm.setU32(inName+4*uint32(i), s.inNames[i])
		vm.setU32(inValue+4*uint32(i), t)
	}
	for i, name := range s.outNames {
		vm.setU32(outName+4*uint32(i), name)
		vm.setU32(outValue+4*uint32(i), 0)
	}
	o := vm.temp(xReleaseRunOpts, vm.call(xCreateRunOpts, logError, 0, 0, vm.empty))
	vm.check(o != 0)
	status := vm.call(xRun, s.handle, inName, inValue, ni, outName, no, outValue, o)
	values := make([]uint32, no)
	for i := range values { // even a failed run may have left some
		values[i] = vm.temp(xReleaseTensor, vm.u32(outValue+4*uint32(i)))
	}
	vm.check(status == 0)
	out := make([]tensor.Named, no)
	for i, v := range values {
		out[i] = tensor.Named{Name: s.out[i], Tensor: vm.fetch(s.out[i], v)}
		if vm.err != nil {
			return nil
		}
	}
	return out
}

// instance is a running copy of the module. Like a bufio.Writer it remembers its first error, after which calls do
// nothing.
type instance struct {
	mod api.Module
	mem api.Memory
	fn  map[string]api.Function
	ctx context.Context //nolint:containedctx // carries the log to the imported functions, nothing else
	log tail
	// ""
	empty uint32
	stack [10]uint64
	err   error
	// err is fatal: the instance may be in any state
	dead  bool
	temps []temporary
}

// temporary is something to be freed when a Run ends, whichever way it ends.
type temporary struct {
	free string
	p    uint32
}

func (e *Engine) instance(ctx context.Context) (*instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mod, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, newMemory), e.module, moduleConfig())
	if err != nil {
		return nil, err
	}
	vm := &instance{mod: mod, mem: mod.ExportedMemory(xMemory), fn: map[string]api.Function{}}
	vm.ctx = context.WithValue(context.Background(), logKey{}, &vm.log)
	for _, name := range exports {
		vm.fn[name] = mod.ExportedFunction(name)
		if vm.fn[name] == nil {
			_ = mod.Close(ctx) // the error below says more
			return nil, fmt.Errorf("the module has no function %q", name)
		}
	}
	return vm, nil
}

// call returns 0 for functions without a result and after an error.
func (vm *instance) call(name string, args ...uint32) uint32 {
	if vm.err != nil {
		return 0
	}
	return vm.invoke(name, args...)
}

func (vm *instance) invoke(name string, args ...uint32) uint32 {
	stack := vm.stack[:max(len(args), 1)]
	stack[0] = 0
	for i, a := range args {
		stack[i] = uint64(a)
	}
	if err := vm.fn[name].CallWithStack(vm.ctx, stack); err != nil {
		vm.err, vm.dead = fatal(err, vm.log.b), true
		return 0
	}
	return uint32(stack[0]) // wazero leaves the upper half undefined
}

// fatal words an error after which the instance must not be used.
func fatal(err error, log []byte) error {
	var text string
	var thrown exception
	var stopped trap
	switch {
	case errors.As(err, &thrown):
		text = thrown.Error()
	case errors.As(err, &stopped):
		text = stopped.Error()
	default:
		text, _, _ = strings.Cut(err.Error(), "\n") // the rest is a trace through minified names
	}
	if last := strings.TrimSpace(string(log)); last != "" {
		text += "; it wrote: " + last
	}
	return errors.New("ONNX Runtime: " + engine.OneLine(text))
}

// check turns a failed status into ONNX Runtime's own text.
func (vm *instance) check(ok bool) {
	if ok || vm.err != nil {
		return
	}
	p := vm.malloc(8)
	vm.call(xLastError, p, p+4)
	text := vm.text(vm.u32(p + 4))
	vm.call(xFree, p)
	if vm.err == nil {
		vm.err = errors.New("ONNX Runtime: " + engine.OneLine(text))
	}
}

// failure returns the error and, unless it is fatal, forgets it.
func (vm *instance) failure() error {
	err := vm.err
	if !vm.dead {
		vm.err = nil
		vm.log.b = vm.log.b[:0]
	}
	return err
}

// temp notes something to be freed with release.
func (vm *instance) temp(free string, p uint32) uint32 {
	if p != 0 {
		vm.temps = append(vm.temps, temporary{free, p})
	}
	return p
}

// release frees what temp noted, the last first, also after an error that is not fatal.
func (vm *instance) release() {
	for i := len(vm.temps) - 1; i >= 0 && !vm.dead; i-- {
		vm.invoke(vm.temps[i].free, vm.temps[i].p)
	}
	vm.temps = vm.temps[:0]
}

func (vm *instance) malloc(n uint64) uint32 {
	var p uint32
	if n <= maxMemory {
		p = vm.call(xMalloc, uint32(max(n, 1)))
	}
	if p == 0 && vm.err == nil {
		vm.err = fmt.Errorf(
			"out of memory: %d bytes more do not fit into the 4 GiB of this body; take smaller batches or the native "+
				"body", n)
	}
	return p
}

// put copies b into the instance.
func (vm *instance) put(b []byte) uint32 {
	p := vm.malloc(uint64(len(b)))
	if vm.err == nil && !vm.mem.Write(p, b) {
		vm.broken()
	}
	return p
}

// broken says that the instance gave an address outside its memory.
func (vm *instance) broken() {
	if vm.err == nil {
		vm.err, vm.dead = errors.New("ONNX Runtime gave an address outside its memory"), true
	}
}

func (vm *instance) u32(p uint32) uint32 {
	if vm.err != nil {
		return 0
	}
	v, ok := vm.mem.ReadUint32Le(p)
	if !ok {
		vm.broken()
	}
	return v
}

func (vm *instance) setU32(p, v uint32) {
	if vm.err == nil && !vm.mem.WriteUint32Le(p, v) {
		vm.broken()
	}
}

// text reads a C string.
func (vm *instance) text(p uint32) string {
	var b []byte
	for vm.err == nil {
		c, ok := vm.mem.ReadByte(p)
		if !ok {
			vm.broken()
		}
		if c == 0 {
			break
		}
		b = append(b, c)
		p++
	}
	return string(b)
}

// names reads n names; the C strings stay in the instance for as long as it lives.
func (vm *instance) names(fn string, handle, n uint32) (text []string, at []uint32) {
	for i := uint32(0); i < n && vm.err == nil; i++ {
		p := vm.call(fn, handle, i)
		vm.check(p != 0)
		at = append(at, p)
		text = append(text, vm.text(p))
	}
	return text, at
}

// tensor makes an input; it and its memory are freed with release.
func (vm *instance) tensor(x tensor.Tensor) uint32 {
	dims := make([]byte, 0, 32)
	for _, n := range x.Shape {
		dims = binary.LittleEndian.AppendUint32(dims, uint32(n))
	}
	d := vm.temp(xFree, vm.put(x.Raw))
	p := vm.temp(xFree, vm.put(dims))
	t := vm.call(xCreateTensor, uint32(x.DType), d, uint32(len(x.Raw)), p, uint32(len(x.Shape)), locationCPU)
	vm.check(t != 0)
	return vm.temp(xReleaseTensor, t)
}

// fetch copies an output out of the instance.
func (vm *instance) fetch(name string, value uint32) tensor.Tensor {
	q := vm.temp(xFree, vm.malloc(16)) // type, data, dims, rank
	vm.check(vm.call(xTensorData, value, q, q+4, q+8, q+12) == 0)
	dims := vm.temp(xOrtFree, vm.u32(q+8))
	dtype, data, rank := tensor.DType(vm.u32(q)), vm.u32(q+4), vm.u32(q+12)
	if vm.err != nil {
		return tensor.Tensor{}
	}
	if dtype.Size() == 0 {
		vm.err = fmt.Errorf("output %q has elements of %s, which is not supported", name, dtype)
		return tensor.Tensor{}
	}
	var shape []int
	for k := range rank {
		shape = append(shape, int(vm.u32(dims+4*k)))
	}
	n, err := tensor.CheckedCount(shape, int(min(uint64(maxMemory), math.MaxInt)/uint64(dtype.Size())))
	if err != nil {
		vm.err = fmt.Errorf("output %q: %w", name, err)
		return tensor.Tensor{}
	}
	raw, ok := vm.mem.Read(data, uint32(n*dtype.Size())) // a view: the next call may move it
	if !ok && n > 0 {
		vm.broken()
		return tensor.Tensor{}
	}
	y := tensor.New(dtype, shape...)
	copy(y.Raw, raw)
	return y
}
