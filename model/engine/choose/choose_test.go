package choose

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nero/model/engine/library"
	"nero/model/engine/native"
	"nero/model/engine/provider"
)

var linux = library.Platform{OS: "linux", Arch: "amd64"}

func touch(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func paths(cs []Candidate) (p []string) {
	for _, c := range cs {
		p = append(p, c.Path)
	}
	return p
}

func TestCandidatesInOrder(t *testing.T) {
	root := t.TempDir()
	at := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	for _, f := range []string{
		"bin/libonnxruntime.so", "bin/libonnxruntime_providers_shared.so", "bin/notes.txt",
		"cache/engine/linux-amd64/libonnxruntime.so",
		"cache/engine/linux-arm64/libonnxruntime.so", "usr/libonnxruntime.so.1", "usr/libonnxruntime.so.1.21.0",
		"lib/onnxruntime.dll",
	} {
		touch(t, at(f), f)
	}
	if err := os.Symlink("libonnxruntime.so.1.21.0", at("usr/libonnxruntime.so")); err != nil {
		t.Skip(err)
	}
	p := Places{
		Beside: at("bin"), Cache: at("cache"), System: []string{"", at("none"), at("usr"), at("lib")},
		Platform: linux,
	}
	cs, err := Candidates(Request{}, p)
	if err != nil {
		t.Fatal(err)
	}
	// The link and the file it leads to count once.
	want := []string{
		at("bin/libonnxruntime.so"), at("cache/engine/linux-amd64/libonnxruntime.so"),
		at("usr/libonnxruntime.so"), at("usr/libonnxruntime.so.1"),
	}
	if got := paths(cs); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for _, c := range cs {
		if c.Must || c.Reason == "" {
			t.Errorf("%+v", c)
		}
	}

	// The library of the same Python environment comes behind the one beside the program, one that is only hinted at
	// before all; neither must load.
	p.Hint, p.Packages = at("hint.so"), []string{at("lib")}
	touch(t, at("lib/libonnxruntime.so.1.31.1"), "")
	cs, err = Candidates(Request{}, p)
	if want := append([]string{
		at("hint.so"), at("bin/libonnxruntime.so"), at("lib/libonnxruntime.so.1.31.1"),
	}, append(want[1:], at("lib/libonnxruntime.so.1.31.1"))...); err != nil || !slices.Equal(paths(cs), want) {
		t.Errorf("%q (%v)\nwant %q", paths(cs), err, want)
	}
	if slices.ContainsFunc(cs, func(c Candidate) bool { return c.Must }) {
		t.Errorf("%+v", cs)
	}

	p.Library = "/from/environment.so"
	cs, err = Candidates(Request{Kind: Auto}, p)
	if err != nil || len(cs) != 1 || cs[0] != (Candidate{p.Library, "environment variable NERO_ORT_LIB", true}) {
		t.Errorf("with the variable: %+v (%v)", cs, err)
	}
	cs, err = Candidates(Request{Kind: Native, Library: "by/hand.so"}, p)
	if err != nil || len(cs) != 1 || cs[0] != (Candidate{"by/hand.so", "named by hand", true}) {
		t.Errorf("named by hand: %+v (%v)", cs, err)
	}
	if cs, err = Candidates(Request{Kind: Wasm}, p); err != nil || len(cs) != 0 {
		t.Errorf("wasm: %+v (%v)", cs, err)
	}
}

func TestPythonEnvironment(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a [b] c") // no pattern
	for _, site := range []string{"lib/python3.12/site-packages", "Lib/site-packages", "."} {
		capi := filepath.Join(root, filepath.FromSlash(site), "onnxruntime", "capi")
		touch(t, filepath.Join(capi, "libonnxruntime.so.1.31.1"), "")
		if folders, ours := python(root); ours || len(folders) > 0 {
			t.Errorf("%s without the package of this program: %q, %t", site, folders, ours)
		}
		info := filepath.Join(root, filepath.FromSlash(site), "nero_ml-0.1.0.dist-info")
		touch(t, filepath.Join(info, "METADATA"), "")
		if folders, ours := python(root); !ours || !slices.Equal(folders, []string{capi}) {
			t.Errorf("%s: %q, %t, want %s", site, folders, ours, capi)
		}
		if err := os.RemoveAll(filepath.Dir(capi)); err != nil {
			t.Fatal(err)
		}
		if folders, ours := python(root); !ours || len(folders) > 0 {
			t.Errorf("%s without the package onnxruntime: %q, %t", site, folders, ours)
		}
		if err := os.RemoveAll(info); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCandidatesRefuse(t *testing.T) {
	for _, r := range []Request{{Kind: "gpu"}, {Kind: Wasm, Library: "x.so"}} {
		if cs, err := Candidates(r, Places{Platform: linux}); err == nil {
			t.Errorf("%+v: %v", r, cs)
		}
	}
}

// cached is a place without libraries that shares the compiled code with the program itself.
func cached(t *testing.T) Places {
	t.Helper()
	host, dir := Host(), t.TempDir()
	shared := filepath.Join(host.Cache, "wasm")
	if err := os.MkdirAll(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared, filepath.Join(dir, "wasm")); err != nil {
		t.Skip(err)
	}
	return Places{Cache: dir, Platform: host.Platform, Processor: host.Processor}
}

func closeChoice(t *testing.T, c Choice) {
	t.Helper()
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestALibraryNamedByTheUserMustLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "libonnxruntime.so")
	touch(t, file, "not a library")
	p := cached(t)
	for _, path := range []string{file, file + ".none"} {
		if c, err := Open(t.Context(), Request{Library: path}, p); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("by hand: %v (%v)", c.Engine, err)
		}
		p := p
		p.Library = path
		if c, err := Open(t.Context(), Request{}, p); err == nil || !strings.Contains(err.Error(), Variable) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("by the variable: %v (%v)", c.Engine, err)
		}
	}
}

func TestAFoundLibraryMayBePassedOver(t *testing.T) {
	if !native.Supported {
		t.Skip("this program tries no library that it finds")
	}
	dir := t.TempDir()
	bad := filepath.Join(dir, library.Name(library.Host()))
	touch(t, bad, "not a library")
	p := cached(t)
	p.System = []string{dir}
	if _, err := Open(t.Context(), Request{Kind: Native},
		Places{System: p.System, Platform: p.Platform}); !errors.Is(err, ErrNoLibrary) ||
		!strings.Contains(err.Error(), bad) {
		t.Errorf("native: %v", err)
	}
	c, err := Open(t.Context(), Request{}, p)
	if err != nil {
		t.Fatal(err)
	}
	defer closeChoice(t, c)
	if i := c.Info(); i.Name != "wasm" || !strings.Contains(i.Reason, bad) || len(c.Notes) != 1 {
		t.Errorf("%+v, notes %q", i, c.Notes)
	}
}

func TestWithoutALibrary(t *testing.T) {
	p := Places{Platform: library.Host(), Beside: t.TempDir(), System: []string{t.TempDir()}}
	said := []string{p.Beside, Variable}
	if !native.Supported { // nothing that could be installed or named would be loaded
		said = []string{without}
	}
	_, err := Open(t.Context(), Request{Kind: Native}, p)
	for _, want := range said {
		if !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), want) {
			t.Errorf("native: %v, want one that says %q", err, want)
		}
	}
	c, err := Open(t.Context(), Request{Kind: Wasm}, cached(t))
	if err != nil {
		t.Fatal(err)
	}
	defer closeChoice(t, c)
	if i := c.Info(); i.Name != "wasm" || i.Version == "" || i.Reason != "asked for" ||
		(c.Hint() != "") != native.Supported {
		t.Errorf("%+v, hint %q", i, c.Hint())
	}
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Request{}, cached(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

func TestInstallRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.tgz")
	touch(t, file, "hello")
	if _, err := Install(t.Context(), file, Places{Platform: library.Host()}); err == nil ||
		!strings.Contains(err.Error(), "cache folder") {
		t.Errorf("without a cache folder: %v", err)
	}
	want := file
	if !native.Supported {
		want = without
	}
	if _, err := Install(t.Context(), file, Places{Platform: library.Host(), Cache: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("a text: %v", err)
	}
}

// A library that is installed is found again, passes its self-test once and is not tested a second time.
func TestInstallAndFindAgain(t *testing.T) {
	c, err := Open(t.Context(), Request{Kind: Native}, Host())
	if errors.Is(err, ErrNoLibrary) {
		t.Skipf("installing is not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := Places{Cache: t.TempDir(), Platform: library.Host(), Processor: "this one"}
	path, err := Install(t.Context(), c.Info().Path, p)
	if err != nil {
		t.Fatal(err)
	}
	records := func() int {
		files, err := filepath.Glob(filepath.Join(p.Cache, "selftest", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	for range 2 {
		again, err := Open(t.Context(), Request{}, p)
		if err != nil {
			t.Fatal(err)
		}
		if i := again.Info(); i.Name != "native" || i.Path != path || i.Version != c.Info().Version ||
			again.Hint() != "" {
			t.Errorf("%+v", i)
		}
		if records() != 1 {
			t.Errorf("%d records of self-tests, want 1", records())
		}
		closeChoice(t, again)
	}
}

func TestSystemDirs(t *testing.T) {
	env := func(v map[string]string) func(string) string { return func(name string) string { return v[name] } }
	if got := systemDirs("linux", "arm64", env(map[string]string{"LD_LIBRARY_PATH": "/a"})); got[0] != "/a" ||
		!slices.Contains(got, "/usr/lib/aarch64-linux-gnu") {
		t.Errorf("linux: %q", got)
	}
	if got := systemDirs("darwin", "arm64", env(nil)); !slices.Contains(got, "/opt/homebrew/lib") {
		t.Errorf("darwin: %q", got)
	}
}

func TestModelName(t *testing.T) {
	if got := modelName(
		[]byte("processor\t: 0\nmodel name\t: Some: CPU @ 2\nmodel name\t: Other\n")); got != "Some: CPU @ 2" {
		t.Errorf("%q", got)
	}
	if got := modelName(nil); got != "" {
		t.Errorf("%q", got)
	}
	if first, second := processor(), processor(); first == "" || first != second {
		t.Error("the processor has no stable name")
	}
}

// Several machines may share a folder of caches, a machine may get another device, and variables choose among devices.
func TestDevicesAreToldApart(t *testing.T) {
	env := func(v map[string]string) func(string) string { return func(name string) string { return v[name] } }
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	card := fstest.MapFS{
		"proc/driver/nvidia/version":                         file("NVRM version: 580.1\n"),
		"proc/driver/nvidia/gpus/0000:01:00.0/information":   file("Model: \t NVIDIA H100\n"),
		"sys/class/drm/card0/device/vendor":                  file("0x10de\n"),
		"sys/class/drm/card0/device/device":                  file("0x2330\n"),
		"sys/class/drm/card0/device/power/runtime_suspended": file("17"),
	}
	other := fstest.MapFS{}
	maps.Copy(other, card)
	other["proc/driver/nvidia/gpus/0000:01:00.0/information"] = file("Model: \t NVIDIA H200\n")
	seen := map[string]bool{}
	for _, k := range []struct {
		root fs.FS
		host string
		env  map[string]string
	}{
		{card, "a", nil},
		{card, "b", nil},
		{other, "a", nil},
		{fstest.MapFS{}, "a", nil},
		{card, "a", map[string]string{"CUDA_VISIBLE_DEVICES": "1"}},
		{card, "a", map[string]string{"ZE_AFFINITY_MASK": "1"}},
	} {
		text := devices(k.root, k.host, env(k.env))
		if seen[text] || text != devices(k.root, k.host, env(k.env)) || strings.Contains(text, "\n") {
			t.Errorf("%q", text)
		}
		seen[text] = true
	}
	home := env(map[string]string{"HOME": "/x"})
	if got, same := devices(card, "a", home), devices(card, "a", env(nil)); got != same {
		t.Errorf("%q, want %q: it chooses no device", got, same)
	}
	p := Places{Processor: "amd64", Devices: "host"}
	l, err := provider.Parse("cuda")
	if err != nil {
		t.Fatal(err)
	}
	if p.where(provider.List{}) != "amd64" || p.where(l) == "amd64" {
		t.Errorf("the processor is %q, and with a provider %q", p.where(provider.List{}), p.where(l))
	}
}

// A provider that no library has ends with what was looked at, and never with another engine in its place.
func TestAProviderThatNobodyHas(t *testing.T) {
	l, err := provider.Parse("rocm")
	if err != nil {
		t.Fatal(err)
	}
	p := Places{Platform: library.Host(), Beside: t.TempDir()}
	wants := []string{"rocm", p.Beside, "pip install"}
	if !native.Supported {
		wants = []string{"rocm", without}
	}
	for _, kind := range []string{Auto, Native} {
		_, err := Open(t.Context(), Request{Kind: kind, Providers: []provider.List{{}, l}}, p)
		for _, want := range wants {
			if !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want one that says %q", kind, err, want)
			}
		}
	}
	if _, err := Open(t.Context(), Request{Kind: Wasm, Providers: []provider.List{l}}, p); err == nil ||
		!strings.Contains(err.Error(), "processor alone") {
		t.Errorf("the embedded engine: %v", err)
	}

	c, err := Open(t.Context(), Request{Kind: Native}, Host())
	if errors.Is(err, ErrNoLibrary) {
		t.Skipf("a library without the provider is not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Library = c.Info().Path
	_, err = Open(t.Context(), Request{Providers: []provider.List{l}}, p)
	lack, ok := errors.AsType[*provider.LackError](err)
	if !ok || lack.Library != c.Info().Path || !strings.Contains(err.Error(), "has no provider rocm; it has ") {
		t.Errorf("%v", err)
	}
}
