package library_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/model/engine/library"
)

var (
	linux   = library.Platform{OS: "linux", Arch: "amd64"}
	linux64 = library.Platform{OS: "linux", Arch: "arm64"}
	windows = library.Platform{OS: "windows", Arch: "amd64"}
	mac     = library.Platform{OS: "darwin", Arch: "arm64"}
)

// The headers below follow the ELF specification, the PE format and Apple's mach-o/loader.h and fat.h.

// Each has one segment or section of 16 bytes at its end.

func elf(machine, kind uint16) []byte {
	le, b := binary.LittleEndian, make([]byte, 64+56+16)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], kind)
	le.PutUint16(b[18:], machine)
	le.PutUint32(b[20:], 1)  // version
	le.PutUint64(b[32:], 64) // program headers
	le.PutUint16(b[52:], 64) // size of this header
	le.PutUint16(b[54:], 56) // and of one of those,
	le.PutUint16(b[56:], 1)  // of which there is one
	le.PutUint16(b[58:], 64) // size of a section header
	p := b[64:]
	le.PutUint32(p, 1)         // load
	le.PutUint64(p[8:], 64+56) // from here
	le.PutUint64(p[32:], 16)   // so many bytes
	return b
}

func pe(machine, flags uint16) []byte {
	le, b := binary.LittleEndian, make([]byte, 256)
	copy(b, "MZ")
	le.PutUint32(b[60:], 128)
	p := b[128:]
	copy(p, "PE\x00\x00")
	le.PutUint16(p[4:], machine)
	le.PutUint16(p[6:], 1) // a section
	le.PutUint16(p[22:], flags)
	copy(p[24:], ".text")
	le.PutUint32(p[24+16:], 16)  // so many bytes
	le.PutUint32(p[24+20:], 240) // from here
	return b
}

func macho(cpu, kind uint32) []byte {
	le, b := binary.LittleEndian, make([]byte, 32+72+16)
	for i, v := range []uint32{0xfeedfacf, cpu, 0, kind, 1, 72, 0, 0, 0x19, 72} { // one command: a segment
		le.PutUint32(b[4*i:], v)
	}
	le.PutUint64(b[32+40:], 32+72) // from here
	le.PutUint64(b[32+48:], 16)    // so many bytes
	return b
}

func fat(cpus ...uint32) []byte {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 0xcafebabe), uint32(len(cpus)))
	for _, c := range cpus {
		b = append(binary.BigEndian.AppendUint32(b, c), make([]byte, 16)...)
	}
	return b
}

func TestIdentify(t *testing.T) {
	for _, c := range []struct {
		name string
		head []byte
		want []library.Platform
	}{
		{"linux amd64", elf(62, 3), []library.Platform{linux}},
		{"linux arm64", elf(183, 3), []library.Platform{linux64}},
		{"a processor without a name here", elf(999, 3), []library.Platform{{OS: "linux", Arch: "unknown"}}},
		{"a program", elf(62, 2), nil},
		{"windows", pe(0x8664, 0x2022), []library.Platform{windows}},
		{"a Windows program", pe(0x8664, 0x22), nil},
		{"macOS", macho(0x0100000c, 6), []library.Platform{mac}},
		{"a macOS program", macho(0x0100000c, 2), nil},
		{"universal", fat(0x01000007, 0x0100000c), []library.Platform{{OS: "darwin", Arch: "amd64"}, mac}},
		{"a Java class", []byte("\xca\xfe\xba\xbe\x00\x00\x00\x34" + strings.Repeat("x", 100)), nil},
		{"nothing", nil, nil},
		{"a cut header", elf(62, 3)[:18], nil},
	} {
		if got := library.Identify(c.head); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The libraries of this machine's system are what the headers say.
func TestIdentifyKnowsTheSystem(t *testing.T) {
	for _, pattern := range []string{"/lib/*/libc.so.6", "/lib64/libc.so.6", "/lib/libc.so.6"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			continue
		}
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(library.Identify(b[:4096]), library.Host()) {
			t.Errorf("%s: %v, want %v", files[0], library.Identify(b[:4096]), library.Host())
		}
		return
	}
	t.Skip("no C library in the usual places")
}

func FuzzIdentify(f *testing.F) {
	for _, b := range [][]byte{elf(62, 3), pe(0x8664, 0x2022), macho(0x0100000c, 6), fat(1, 2)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range library.Identify(b) {
			if p.OS == "" || p.Arch == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		// want is in the error; empty for none
		name, want string
		b          []byte
		// not a library at all
		foreign bool
	}{
		{"fits", "", elf(62, 3), false},
		{"another processor", "for linux-arm64, this program runs on linux-amd64", elf(183, 3), false},
		{"another system", "for windows-amd64", pe(0x8664, 0x2022), false},
		{"another system, universal", "for darwin-amd64, darwin-arm64", fat(0x0100000c, 0x01000007), false},
		{"text", "text file", []byte("INPUT(libonnxruntime.so.1)\n"), true},
		{"Git LFS", "Git LFS", []byte("version https://git-lfs.github.com/spec/v1\n"), true},
		{"archive", "archive", []byte("\x1f\x8b\x08"), true},
		{"program", "a program", elf(62, 2), true},
		{"empty", "empty", nil, true},
		{"noise", "unknown", []byte{0, 1, 2, 3, 255}, true},
	} {
		err := library.Check(write(t, "lib.so", c.b), linux)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) ||
			errors.Is(err, library.ErrNotLibrary) != c.foreign {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, c := range []struct {
		platform library.Platform
		b        []byte
	}{{linux, elf(62, 3)}, {windows, pe(0x8664, 0x2022)}, {mac, macho(0x0100000c, 6)}} {
		if err := library.Check(write(t, "whole", c.b), c.platform); err != nil {
			t.Errorf("%s: %v", c.platform, err)
		}
		if err := library.Check(write(t, "cut", c.b[:len(c.b)-1]), c.platform); !errors.Is(err, library.ErrIncomplete) {
			t.Errorf("%s, cut: %v, want %v", c.platform, err, library.ErrIncomplete)
		}
	}
	if err := library.Check(t.TempDir(), linux); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	if err := library.Check(filepath.Join(t.TempDir(), "none"), linux); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

type member struct {
	name string
	b    []byte
	// a symbolic link to it instead
	link string
}

func tgz(t *testing.T, members []member) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.b)), Typeflag: tar.TypeReg}
		if m.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, m.link
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.b); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func zipped(t *testing.T, members []member) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, m := range members {
		f, err := w.Create(m.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(m.b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func accept(string) error { return nil }

// entries are the names in a folder.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range es {
		names = append(names, e.Name())
	}
	return names
}

func TestInstall(t *testing.T) {
	lib := func(p library.Platform) []byte {
		b := map[library.Platform][]byte{
			linux: elf(62, 3), linux64: elf(183, 3), windows: pe(0x8664, 0x2022),
			mac: macho(0x0100000c, 6),
		}[p]
		return append(slices.Clone(b), strings.Repeat(p.String(), 1000)...)
	}
	npm := []member{
		{name: "package/package.json", b: []byte("{}")},
		{name: "package/bin/napi-v6/darwin/arm64/libonnxruntime.1.27.0.dylib", b: lib(mac)},
		{name: "package/bin/napi-v6/linux/arm64/libonnxruntime.so.1", b: lib(linux64)},
		{name: "package/bin/napi-v6/linux/x64/libonnxruntime_providers_shared.so", b: []byte("a plug-in")},
		{name: "package/bin/napi-v6/linux/x64/libonnxruntime.so.1", b: lib(linux)},
		{name: "package/bin/napi-v6/win32/x64/onnxruntime.dll", b: lib(windows)},
	}
	release := []member{
		{name: "./onnxruntime-linux-x64-1.20.0/lib/libonnxruntime.so", link: "libonnxruntime.so.1"},
		{name: "./onnxruntime-linux-x64-1.20.0/lib/libonnxruntime.so.1.20.0", b: lib(linux)},
	}
	evil := []member{
		{name: "../../../../libonnxruntime.so", b: lib(linux)},
		{name: "/libonnxruntime.so", b: lib(linux)},
	}
	for _, c := range []struct {
		name     string
		file     []byte
		platform library.Platform
		// in the error; empty for none
		want string
	}{
		{"the library itself", lib(linux), linux, ""},
		{"the library of another platform", lib(linux64), linux, "for linux-arm64"},
		{"npm package", tgz(t, npm), linux, ""},
		{"npm package, arm64", tgz(t, npm), linux64, ""},
		{"npm package, Windows", tgz(t, npm), windows, ""},
		{"npm package, macOS", tgz(t, npm), mac, ""},
		{
			"npm package, a platform that is not there", tgz(t, npm),
			library.Platform{OS: "darwin", Arch: "amd64"},
			"ONNX Runtime for darwin-arm64, linux-amd64, linux-arm64, windows-amd64, none for darwin-amd64",
		},
		{"release with links", tgz(t, release), linux, ""},
		{"wheel", zipped(t, []member{{name: "onnxruntime/capi/libonnxruntime.so.1.23.2", b: lib(linux)}}), linux, ""},
		{"NuGet package", zipped(t, []member{
			{name: "runtimes/win-x64/native/onnxruntime.dll", b: lib(windows)},
			{name: "runtimes/linux-x64/native/libonnxruntime.so", b: lib(linux)},
		}), linux, ""},
		{"names that climb out", tgz(t, evil), linux, ""},
		{"names that climb out, zip", zipped(t, evil), linux, ""},
		{"a library that is cut off", elf(62, 3)[:100], linux, "incomplete"},
		{
			"a library that is cut off, in an archive",
			tgz(t, []member{{name: "libonnxruntime.so", b: elf(62, 3)[:100]}}),
			linux, "incomplete",
		},
		{"no library", tgz(t, npm[:1]), linux, "no ONNX Runtime library"},
		{"no library, zip", zipped(t, npm[:1]), linux, "no ONNX Runtime library"},
		{"a cut archive", tgz(t, npm)[:100], linux, "damaged"},
		{"a cut zip file", zipped(t, npm)[:100], linux, "zip"},
		{"text", []byte("hello"), linux, "text file"},
		{"nothing", nil, linux, "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "b")
			verified := 0
			got, err := library.Install(write(t, "file", c.file), dir, c.platform, func(path string) error {
				verified++
				if filepath.Dir(path) != dir {
					t.Errorf("verified at %s, outside %s", path, dir)
				}
				return nil
			})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%v, want %q", err, c.want)
				}
				if names := entries(t, dir); len(names) != 0 {
					t.Errorf("files are left: %q", names)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(dir, library.Name(c.platform)); got != want || verified != 1 {
				t.Errorf("%s after %d checks, want %s after one", got, verified, want)
			}
			if b, err := os.ReadFile(got); err != nil || !bytes.Equal(b, lib(c.platform)) {
				t.Errorf("another file was installed (%v)", err)
			}
			if names := entries(t, dir); len(names) != 1 {
				t.Errorf("files are left: %q", names)
			}
		})
	}
}

func TestInstallKeepsTheOldLibraryWhenTheNewIsRefused(t *testing.T) {
	dir := t.TempDir()
	old, err := library.Install(write(t, "old", append(elf(62, 3), "old"...)), dir, linux, accept)
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("it computes wrongly")
	for name, file := range map[string][]byte{
		"library": append(elf(62, 3), "new"...),
		"archive": tgz(t, []member{{name: "libonnxruntime.so", b: append(elf(62, 3), "new"...)}}),
	} {
		if _, err := library.Install(write(t, "new", file), dir, linux,
			func(string) error { return refused }); !errors.Is(err, refused) {
			t.Errorf("%s: %v, want %v", name, err, refused)
		}
		if b, err := os.ReadFile(old); err != nil || !strings.HasSuffix(string(b), "old") {
			t.Errorf("%s: the old library is gone (%v)", name, err)
		}
		if names := entries(t, dir); len(names) != 1 {
			t.Errorf("%s: files are left: %q", name, names)
		}
	}
	if _, err := library.Install(write(t, "new", append(elf(62, 3), "new"...)), dir, linux, accept); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(old); err != nil || !strings.HasSuffix(string(b), "new") {
		t.Errorf("the new library is not there (%v)", err)
	}
}

// An archive may hold several builds for a platform, of which only some load.
func TestInstallTriesTheNextLibrary(t *testing.T) {
	b := tgz(t, []member{
		{name: "musl/libonnxruntime.so", b: append(elf(62, 3), "musl"...)},
		{name: "glibc/libonnxruntime.so", b: append(elf(62, 3), "glibc"...)},
	})
	got, err := library.Install(write(t, "a.tgz", b), t.TempDir(), linux, func(path string) error {
		if b, err := os.ReadFile(path); err != nil || strings.HasSuffix(string(b), "musl") {
			return errors.New("libc.musl-x86_64.so.1 is missing")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(got); err != nil || !strings.HasSuffix(string(b), "glibc") {
		t.Errorf("%q (%v)", b, err)
	}
}

func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{
		"libonnxruntime.so": true, "libonnxruntime.so.1": true, "libonnxruntime.so.1.27.0": true,
		"libonnxruntime_providers_shared.so": false,
		"libonnxruntime.so.bak":              false, "onnxruntime.dll": false, "xlibonnxruntime.so": false,
	} {
		if library.IsName(name, linux) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if !library.IsName("ONNXRuntime.DLL", windows) || !library.IsName("libonnxruntime.1.2.3.dylib", mac) {
		t.Error("names of other systems")
	}
	for _, p := range []library.Platform{linux, windows, mac} {
		if !library.IsName(library.Name(p), p) {
			t.Errorf("%s is not a name for %s", library.Name(p), p)
		}
	}
}

// What follows a good header is read by the packages debug/elf, debug/pe and debug/macho, from files that may be
// anything.
func FuzzCheck(f *testing.F) {
	for i, b := range [][]byte{
		elf(62, 3), pe(0x8664, 0x2022), macho(0x0100000c, 6),
		append(fat(0x0100000c), macho(0x0100000c, 6)...),
	} {
		f.Add(i, b)
	}
	path := filepath.Join(f.TempDir(), "lib")
	f.Fuzz(func(t *testing.T, i int, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		p := []library.Platform{linux, windows, mac}[uint(i)%3]
		if err := library.Check(path, p); err == nil && len(b) < 64 {
			t.Errorf("%d bytes are a library", len(b))
		}
	})
}
