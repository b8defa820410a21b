//go:build (darwin || linux || windows) && (amd64 || arm64) && !nonative

package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"nero/model/engine"
	"nero/model/engine/library"
	"nero/model/engine/provider"
)

// Positions of the functions that say what runs where, which releases have from 1.24 on.
const (
	fAssignment   = 407
	fAssignedTo   = 408
	fAssigned     = 409
	fAssignedType = 412

	placingFunctions = 413
	placingVersion   = 24
)

// Settings of a session by name.
const (
	noFallback = "session.disable_cpu_ep_fallback"
	recorded   = "session.record_ep_graph_assignment_info"
)

// minor is the second number of a release, 0 if there is none.
func minor(version string) int {
	_, rest, _ := strings.Cut(version, ".")
	number, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}

// own are the functions of a provider that the one for any does not know.
type own struct {
	// create makes options, update sets them and release frees them; 0 where append takes names and values itself
	create, update, release int
	append                  int
}

// owns are the providers that have functions of their own, by name.
func owns() map[string]own {
	return map[string]own{
		"cuda":     {fCreateCUDA, fUpdateCUDA, fReleaseCUDA, fAppendCUDA},
		"tensorrt": {fCreateTensorRT, fUpdateTensorRT, fReleaseTensorRT, fAppendTensorRT},
		"rocm":     {fCreateROCM, fUpdateROCM, fReleaseROCM, fAppendROCM},
		"openvino": {append: fAppendOpenVINO},
	}
}

// Providers are the execution providers that the library has, by its own names.
func (e *Engine) Providers() []string {
	var f frame
	defer f.done()
	list, n := f.out(), f.out()
	if err := e.do(fProviders, addr(list), addr(n)); err != nil {
		return nil
	}
	count := int(int32(*n)) // C writes an int
	var names []string
	for _, p := range unsafe.Slice((*uintptr)(at(*list)), count) {
		names = append(names, cString(p))
	}
	_ = e.do(fReleaseProviders, *list, uintptr(count)) // it only frees
	return names
}

// place puts the providers of a list into the options of a session, in their order.
func (e *Engine) place(f *frame, options uintptr, l provider.List, strict bool) error {
	if l.Plain() {
		return nil
	}
	for _, c := range l.Choices {
		if err := e.attach(f, options, c); err != nil {
			return fmt.Errorf("the provider %s of %s cannot be used: %w; %s", c.Name, e.info.Path, err,
				e.missing(c.Name))
		}
	}
	settings := []string{recorded}
	if strict {
		settings = append(settings, noFallback)
	}
	for _, s := range settings {
		if err := e.do(fAddConfig, options, f.str(s), f.str("1")); err != nil {
			return err
		}
	}
	return nil
}

// missing says what a provider that cannot be used may lack. Those with functions of their own are libraries beside
// that of ONNX Runtime, which a copy of that alone does not have.
func (e *Engine) missing(name string) string {
	if _, special := owns()[name]; special {
		part := strings.Replace(library.Name(library.Host()), "onnxruntime", "onnxruntime_providers_"+name, 1)
		if _, err := os.Stat(filepath.Join(filepath.Dir(e.info.Path), part)); err != nil {
			return fmt.Sprintf("its part %s does not lie beside it: name the library in the folder of the package "+
				"that it came with, and no copy of it", part)
		}
	}
	return "what it needs of the system is missing, or the device"
}

// attach puts one provider into the options of a session.
func (e *Engine) attach(f *frame, options uintptr, c provider.Choice) error {
	p := provider.Of(c)
	if p.Variable != "" {
		if err := setenv(p.Variable, "0"); err != nil {
			return fmt.Errorf("%s cannot be set to 0: %w", p.Variable, err)
		}
	}
	var keys, values []uintptr
	for _, s := range c.Settings {
		keys, values = append(keys, f.str(s.Name)), append(values, f.str(s.Value))
	}
	n := uintptr(len(keys))
	o, special := owns()[c.Name]
	switch {
	case !special:
		return e.do(fAppendProvider, options, f.str(p.Word), pin(f, keys), pin(f, values), n)
	case o.create == 0:
		return e.do(o.append, options, pin(f, keys), pin(f, values), n)
	}
	made := f.out()
	if err := e.do(o.create, addr(made)); err != nil {
		return err
	}
	defer e.void(o.release, *made)
	if err := e.do(o.update, *made, pin(f, keys), pin(f, values), n); err != nil {
		return err
	}
	return e.do(o.append, options, *made)
}

// fallen is why a model was not opened where nothing may run on the processor. Releases say that in words of their own,
// so they are not asked: where the model opens as soon as the processor may take what is left, that was why.
func fallen(l provider.List, err error, allowed func() (provider.Placement, error)) error {
	if l.Plain() || l.Fallback {
		return err
	}
	p, again := allowed()
	if again != nil {
		return err // neither way
	}
	return &provider.FallbackError{List: l, Placement: p}
}

// allowed opens a model with the processor for what is left, and says what that is.
func (e *Engine) allowed(model []byte, o engine.Options) (p provider.Placement, err error) {
	var f frame
	defer f.done()
	s := &session{e: e, foreign: true, left: make(chan struct{})}
	s.guard(func() { s.handle, err = e.load(&f, model, o, false) })
	if err != nil {
		return p, err
	}
	defer s.Close() //nolint:errcheck // it only frees
	if told, err := s.placed(&f); err == nil {
		p = told
	}
	return p, nil
}

// guard calls C where a provider may do more to the thread than it says.
func (s *session) guard(f func()) {
	if s.foreign {
		guarded(f)
		return
	}
	f()
}

// ask calls one of the functions that say what runs where.
func (e *Engine) ask(fn int, a ...uintptr) error {
	status, _, _ := purego.SyscallN(e.placing[fn], a...)
	return e.status(status)
}

// placed asks what runs where; nothing where the release cannot say.
func (s *session) placed(f *frame) (p provider.Placement, err error) {
	e := s.e
	if e.placing == nil {
		return p, nil
	}
	parts, n := f.out(), f.out()
	if err := e.ask(fAssignment, s.handle, addr(parts), addr(n)); err != nil {
		return p, err
	}
	for _, part := range pointers(*parts, *n) {
		name, nodes, count := f.out(), f.out(), f.out()
		err := errors.Join(e.ask(fAssignedTo, part, addr(name)), e.ask(fAssigned, part, addr(nodes), addr(count)))
		if err != nil {
			return p, err
		}
		for _, node := range pointers(*nodes, *count) {
			op := f.out()
			if err := e.ask(fAssignedType, node, addr(op)); err != nil {
				return p, err
			}
			p.Add(cString(*name), cString(*op))
		}
	}
	return p, nil
}

// pointers views a list of pointers of C.
func pointers(list, n uintptr) []uintptr {
	if list == 0 {
		return nil
	}
	return unsafe.Slice((*uintptr)(at(list)), n)
}
