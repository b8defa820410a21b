// Package choose decides which engine runs the models, opens it and makes sure that it computes rightly.
//
// A library of ONNX Runtime is looked for in this order: the path given by hand, the environment variable NERO_ORT_LIB,
// the variable NERO_ORT_HINT, beside the program, in the Python environment that the program is part of, in the user's
// cache folder, in the system's library folders. The first that loads and passes the
// self-test is taken; without one, the embedded engine runs. A library named by hand or by the variable must load: it
// is never passed over. The variable's value "none" says that none is to be looked for.
package choose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"nero/model/engine"
	"nero/model/engine/isolated"
	"nero/model/engine/library"
	"nero/model/engine/native"
	"nero/model/engine/provider"
	"nero/model/engine/selftest"
	"nero/model/engine/wasm"
)

// Variable names a library in the environment.
const Variable = "NERO_ORT_LIB"

// HintVariable names a library that is tried first and passed over if it does not load: the Python package names that
// of its interpreter there.
const HintVariable = "NERO_ORT_HINT"

// None is the value of [Variable] that keeps libraries from being looked for: the embedded engine runs, whatever is
// installed.
const None = "none"

// Kinds are the kinds of engines that can be asked for.
func Kinds() []string { return []string{Auto, Native, Wasm} }

// Kinds of engines that can be asked for. Auto takes a native library where there is one, else the embedded engine.
const (
	Auto   = "auto"
	Native = "native"
	Wasm   = "wasm"
)

// Request is what the user asked for.
type Request struct {
	// Auto, Native or Wasm; empty means Auto
	Kind string
	// path of a library given by hand; empty for none
	Library string
	// starts the program whose main function calls [Serve] when [isolated.Asked]; nil where there is none. The embedded
	// engine then runs in a process of its own: nothing else stops a model that does not end, and it costs 2 %
	Process func() *exec.Cmd
	// a library, too, runs in such a process
	Isolate bool
	// how many bytes such a process may take; 0 for any number
	Memory int64
	// where models are to run: a library has to have all of these providers. The embedded engine has none
	Providers []provider.List
}

// needs is the first list of providers that is more than the processor.
func (r Request) needs() provider.List {
	for _, l := range r.Providers {
		if !l.Plain() {
			return l
		}
	}
	return provider.List{}
}

// Places is where to look. [Host] fills it for this machine.
type Places struct {
	// the value of the variable NERO_ORT_LIB
	Library string
	// the value of the variable NERO_ORT_HINT
	Hint string
	// the folder of the program; empty for none
	Beside string
	// folders in which the Python package onnxruntime of the environment that the program is part of keeps libraries
	Packages []string
	// the program is part of a Python environment
	Python bool
	// nero's folder in the user's cache; empty for none: nothing is kept
	Cache string
	// library folders of the system
	System []string
	// of this program
	Platform library.Platform
	// tells processors apart, for remembered self-tests
	Processor string
	// tells apart what execution providers may find: the machine, its devices, and how they are chosen among
	Devices string
}

// Candidate is a library that may be taken.
type Candidate struct {
	Path string
	// why this one, for [engine.Info]
	Reason string
	// named by the user: if it does not load, that is an error
	Must bool
}

// without says why a program that loads no libraries runs the embedded engine.
const without = "this program was built without the native engine"

// ErrNoLibrary is returned when a native engine is asked for and no library is found.
var ErrNoLibrary = errors.New("no ONNX Runtime library found")

// Candidates lists the libraries in the order in which they are tried. It looks into folders, loads nothing and leaves
// out folders that cannot be read. A library named by the user stands alone.
func Candidates(r Request, p Places) ([]Candidate, error) {
	switch r.Kind {
	case Auto, Native, "":
	case Wasm:
		if r.Library != "" {
			return nil, fmt.Errorf("the library %s and the engine %q exclude each other", r.Library, Wasm)
		}
		if l := r.needs(); !l.Plain() {
			return nil, fmt.Errorf("the engine %q runs on the processor alone, and models are to run on %s: take %q "+
				"or %q, or leave the provider out", Wasm, l.Names(), Auto, Native)
		}
		return nil, nil
	default:
		return nil, fmt.Errorf("unknown engine %q: choose %q, %q or %q", r.Kind, Auto, Native, Wasm)
	}
	if r.Library != "" {
		return []Candidate{{r.Library, "named by hand", true}}, nil
	}
	if p.Library == None {
		return nil, nil
	}
	if p.Library != "" {
		return []Candidate{{p.Library, "environment variable " + Variable, true}}, nil
	}
	var cs []Candidate
	add := func(dir, reason string) {
		for _, name := range libraries(dir, p.Platform) {
			cs = append(cs, Candidate{Path: filepath.Join(dir, name), Reason: reason})
		}
	}
	if p.Hint != "" && p.Hint != None {
		cs = append(cs, Candidate{Path: p.Hint, Reason: "environment variable " + HintVariable})
	}
	if p.Beside != "" {
		add(p.Beside, "beside the program")
	}
	for _, dir := range p.Packages {
		add(dir, "of the Python package onnxruntime beside the program")
	}
	if p.Cache != "" {
		add(engineDir(p), "in the user's cache folder")
	}
	for _, dir := range p.System {
		if dir != "" {
			add(dir, "in the system's library folder "+dir)
		}
	}
	return cs, nil
}

// libraries are the names in dir that ONNX Runtime's library may have, the one without a version first, then the
// longest. Names that lead to the same file count once.
func libraries(dir string, p library.Platform) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if library.IsName(e.Name(), p) {
			found = append(found, e.Name())
		}
	}
	slices.SortStableFunc(found, func(a, b string) int {
		switch name := library.Name(p); {
		case a == name:
			return -1
		case b == name:
			return 1
		case len(a) != len(b):
			return len(b) - len(a)
		}
		return strings.Compare(b, a)
	})
	var seen []os.FileInfo
	return slices.DeleteFunc(found, func(name string) bool {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return true
		}
		again := slices.ContainsFunc(seen, func(o os.FileInfo) bool { return os.SameFile(o, st) })
		seen = append(seen, st)
		return again
	})
}

// engineDir is where installed libraries lie.
func engineDir(p Places) string { return filepath.Join(p.Cache, "engine", p.Platform.String()) }

func selftestDir(p Places) string {
	if p.Cache == "" {
		return ""
	}
	return filepath.Join(p.Cache, "selftest")
}

// Choice is an opened engine.
type Choice struct {
	engine.Engine
	// what the user should know: libraries passed over, a cache folder that cannot be written
	Notes []string
	// the program is part of a Python environment, where pip brings the library
	python bool
}

// Hint says how to get the faster engine; it is empty when that one runs.
func (c Choice) Hint() string {
	if c.Info().Name != "wasm" || !native.Supported {
		return ""
	}
	if c.python {
		return "4 to 10 times faster with a native library of ONNX Runtime: pip install onnxruntime"
	}
	return "4 to 10 times faster with a native library of ONNX Runtime: see 'nero engine install --help'"
}

// Close frees what the engine holds; a native library stays loaded. Sessions must be closed before.
func (c Choice) Close(ctx context.Context) error {
	if e, ok := c.Engine.(interface{ Close(context.Context) error }); ok {
		return e.Close(ctx)
	}
	return nil
}

// Open takes the first candidate that loads and passes the self-test, or the embedded engine.
func Open(ctx context.Context, r Request, p Places) (Choice, error) {
	if err := ctx.Err(); err != nil {
		return Choice{}, err
	}
	candidates, err := Candidates(r, p)
	if err != nil {
		return Choice{}, err
	}
	if !native.Supported { // what nobody asked for by name is not even tried
		candidates = slices.DeleteFunc(candidates, func(c Candidate) bool { return !c.Must })
	}
	var skipped []string
	for _, c := range candidates {
		e, err := load(ctx, r, c, p)
		switch {
		case err == nil:
			return Choice{Engine: e, Notes: skipped}, nil
		case ctx.Err() != nil:
			return Choice{}, ctx.Err()
		case c.Must:
			return Choice{}, fmt.Errorf("library %s: %w", c.Reason, err)
		}
		skipped = append(skipped, fmt.Sprintf("passed over %s (%s): %v", c.Path, c.Reason, err))
	}
	if l := r.needs(); !l.Plain() {
		return Choice{}, absent(l, p, skipped)
	}
	if r.Kind == Native {
		if !native.Supported {
			return Choice{}, fmt.Errorf("%w: %s", ErrNoLibrary, without)
		}
		if len(skipped) > 0 {
			return Choice{}, fmt.Errorf("%w that can be used: %s", ErrNoLibrary, strings.Join(skipped, "; "))
		}
		return Choice{}, fmt.Errorf(
			"%w: looked at the variable %s, in %s; install one with 'nero engine install' or name it", ErrNoLibrary,
			Variable, strings.Join(searched(p), ", "))
	}
	return embedded(ctx, r, p, skipped)
}

// absent says that no library has what models are to run on.
func absent(l provider.List, p Places, skipped []string) error {
	of := provider.Of(l.Choices[0])
	switch {
	case !native.Supported:
		return fmt.Errorf("%w for the provider %s: %s", ErrNoLibrary, l.Names(), without)
	case len(skipped) > 0:
		return fmt.Errorf("%w that can run models on %s: %s", ErrNoLibrary, l.Names(), strings.Join(skipped, "; "))
	case p.Library == None:
		return fmt.Errorf("%w to run models on %s: the variable %s says that none is to be looked for", ErrNoLibrary,
			l.Names(), Variable)
	}
	return fmt.Errorf("%w to run models on %s: looked at the variable %s, in %s; one that has it comes with: %s",
		ErrNoLibrary, l.Names(), Variable, strings.Join(searched(p), ", "), of.Source)
}

// searched lists the folders that Candidates looks into.
func searched(p Places) []string {
	dirs := append([]string{p.Beside}, p.Packages...)
	if p.Cache != "" {
		dirs = append(dirs, engineDir(p))
	}
	dirs = append(dirs, p.System...)
	return slices.DeleteFunc(dirs, func(d string) bool { return d == "" })
}

func load(ctx context.Context, r Request, c Candidate, p Places) (engine.Engine, error) {
	if p.Platform != library.Host() {
		return nil, fmt.Errorf("this program runs on %s, not on %s", library.Host(), p.Platform)
	}
	e, err := loaded(ctx, r, c)
	if err != nil {
		return nil, err
	}
	for _, l := range append([]provider.List{{}}, r.Providers...) {
		err := engine.Lacking(e, l)
		if err == nil {
			_, err = selftest.Verify(ctx, engine.On(e, l), selftestDir(p), p.where(l))
		}
		if err != nil {
			_ = Choice{Engine: e}.Close(ctx) // the first error says more
			return nil, err
		}
	}
	return e, nil
}

// where tells apart what a test on providers was passed on.
func (p Places) where(l provider.List) string {
	if l.Plain() {
		return p.Processor
	}
	return p.Processor + "; " + p.Devices
}

// loaded loads a library, here or in a process of its own.
func loaded(ctx context.Context, r Request, c Candidate) (engine.Engine, error) {
	if r.Process == nil || !r.Isolate || !native.Supported {
		return native.New(c.Path, c.Reason)
	}
	return isolated.New(ctx, isolated.Config{
		Command: r.Process, Library: c.Path, Reason: c.Reason + ", in a process of its own", Memory: r.Memory,
	})
}

// embeddedName stands for the embedded engine where a process is told which library to load. Code that is kept in a
// folder follows behind it.
const embeddedName = "embedded:"

// Serve is the main function of a process that runs one engine and nothing else; see [isolated.Main].
func Serve() int {
	return isolated.Main(func(path, reason string) (engine.Engine, error) {
		if dir, ok := strings.CutPrefix(path, embeddedName); ok {
			return wasm.New(context.Background(), wasm.Config{Reason: reason, CacheDir: dir})
		}
		return native.New(path, reason)
	})
}

func embedded(ctx context.Context, r Request, p Places, skipped []string) (Choice, error) {
	reason := "no ONNX Runtime library found"
	switch {
	case r.Kind == Wasm:
		reason = "asked for"
	case !native.Supported:
		reason = without
	case len(skipped) > 0:
		reason = "no ONNX Runtime library that can be used: " + strings.Join(skipped, "; ")
	}
	c := wasm.Config{Reason: reason}
	if p.Cache != "" {
		c.CacheDir = filepath.Join(p.Cache, "wasm")
	}
	var e engine.Engine
	notes := skipped
	if r.Process != nil {
		own, err := isolated.New(ctx, isolated.Config{
			Command: r.Process, Library: embeddedName + c.CacheDir, Reason: reason, Memory: r.Memory,
		})
		if err != nil {
			return Choice{}, err
		}
		if own.Note() != "" {
			notes = append(notes, own.Note())
		}
		e = own
	} else {
		own, err := wasm.New(ctx, c)
		if err != nil {
			return Choice{}, err
		}
		if own.Note() != "" {
			notes = append(notes, own.Note())
		}
		e = own
	}
	if _, err := selftest.Verify(ctx, e, selftestDir(p), p.Processor); err != nil {
		_ = Choice{Engine: e}.Close(ctx) // the first error says more
		return Choice{}, err
	}
	return Choice{Engine: e, Notes: notes, python: p.Python}, nil
}

// Version is that of the library that [Open] would take, without a test of it; empty if there is none that loads.
func Version(r Request, p Places) string {
	candidates, err := Candidates(r, p)
	if err != nil || p.Platform != library.Host() {
		return ""
	}
	for _, c := range candidates {
		if e, err := native.New(c.Path, c.Reason); err == nil {
			return e.Info().Version
		}
	}
	return ""
}

// Install puts the library in file, or in an archive of one of the kinds that [library.Install] takes, into the user's
// cache folder after it has loaded and passed the self-test, and returns its path. From then on [Open] finds it there.
func Install(ctx context.Context, file string, p Places) (string, error) {
	if p.Cache == "" {
		return "", errors.New("there is no cache folder of the user to install into")
	}
	if !native.Supported {
		return "", fmt.Errorf("%s (%s); one built from source without tags has it", without, p.Platform)
	}
	return library.Install(file, engineDir(p), p.Platform, func(path string) error {
		e, err := native.New(path, "being installed")
		if err != nil {
			return err
		}
		return selftest.Run(ctx, e)
	})
}

// Host fills [Places] for this machine: the environment, the folder of the program, the user's cache folder (nero
// inside [os.UserCacheDir]) and the system's library folders.
func Host() Places {
	p := Places{
		Library: os.Getenv(Variable), Hint: os.Getenv(HintVariable), Platform: library.Host(), Processor: processor(),
		Devices: devices(os.DirFS("/"), hostname(), os.Getenv),
		System:  systemDirs(runtime.GOOS, runtime.GOARCH, os.Getenv),
	}
	if exe, err := os.Executable(); err == nil {
		if target, err := filepath.EvalSymlinks(exe); err == nil {
			exe = target
		}
		p.Beside = filepath.Dir(exe)
		p.Packages, p.Python = python(filepath.Dir(p.Beside))
	}
	if dir, err := os.UserCacheDir(); err == nil {
		p.Cache = filepath.Join(dir, "nero")
	}
	return p
}

// python says whether the Python package of this program is installed in the environment with a prefix, and in which
// folders the package onnxruntime of the same environment keeps its library. Without the first the second is none of
// our business: /usr/local, say, is the prefix of anything.
func python(prefix string) (folders []string, ours bool) {
	root := os.DirFS(prefix)
	// The last is a folder that pip install --target filled.
	for _, site := range []string{
		"lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages", ".",
	} {
		infos, _ := fs.Glob(root, path.Join(site, "/nero_ml-*.dist-info")) // the pattern is well formed
		for _, info := range infos {
			ours = true
			capi := path.Join(path.Dir(info), "onnxruntime/capi")
			if st, err := fs.Stat(root, capi); err == nil && st.IsDir() {
				folders = append(folders, filepath.Join(prefix, filepath.FromSlash(capi)))
			}
		}
	}
	return folders, ours
}

// systemDirs are the folders in which the system's loader would look.
func systemDirs(goos, goarch string, env func(string) string) []string {
	list := func(name string) []string { return filepath.SplitList(env(name)) }
	switch goos {
	case "windows":
		// Not the system folder: Windows keeps an old onnxruntime.dll of its own there.
		root := strings.ToLower(filepath.Clean(env("SystemRoot")))
		return slices.DeleteFunc(list("PATH"), func(dir string) bool {
			return !filepath.IsAbs(dir) || root != "." && strings.HasPrefix(strings.ToLower(filepath.Clean(dir)), root)
		})
	case "darwin":
		return append(list("DYLD_LIBRARY_PATH"), "/opt/homebrew/lib", "/usr/local/lib", "/opt/local/lib")
	}
	dirs := append(list("LD_LIBRARY_PATH"), "/usr/local/lib")
	if triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[goarch]; triplet != "" {
		dirs = append(dirs, "/usr/lib/"+triplet)
	}
	return append(dirs, "/usr/lib64", "/usr/lib")
}
