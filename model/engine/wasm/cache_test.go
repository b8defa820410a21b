package wasm

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// smallest is a module that compiles at once; the cache does not care what it holds.
func smallest() []byte { return assemble(f32, constant(f32, 0x3f800000)) }

func compileTiny(t *testing.T, dir string) *Engine {
	t.Helper()
	e, err := compile(t.Context(), Config{CacheDir: dir}, smallest())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	m, err := e.runtime.InstantiateModule(t.Context(), e.module, moduleConfig())
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.ExportedFunction("f").Call(t.Context(), 0)
	if err != nil || uint32(y[0]) != 0x3f800000 {
		t.Fatalf("%x (%v)", y, err)
	}
	return e
}

// kept lists the files of machine code.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCacheIsUsed(t *testing.T) {
	dir := t.TempDir()
	if e := compileTiny(t, dir); e.Note() != "" {
		t.Error(e.Note())
	}
	files := kept(t, dir)
	if len(files) != 1 {
		t.Fatalf("%d files, want 1", len(files))
	}
	// While it is open nothing else can be the same file.
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	before, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	compileTiny(t, dir)
	after, err := os.Stat(files[0])
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the second start wrote the code again (%v)", err)
	}
}

func TestCacheWithDamagedFile(t *testing.T) {
	for name, damage := range map[string]func(file string) error{
		"empty": func(f string) error { return os.Truncate(f, 0) },
		"cut":   func(f string) error { return os.Truncate(f, 100) },
		"changed": func(f string) error {
			b, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			b[len(b)/2] ^= 1
			return os.WriteFile(f, b, 0o600)
		},
		"a folder": func(f string) error {
			if err := os.Remove(f); err != nil {
				return err
			}
			return os.Mkdir(f, 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			compileTiny(t, dir)
			if err := damage(kept(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
			if e := compileTiny(t, dir); e.Note() != "" {
				t.Errorf("the damaged file was not replaced: %s", e.Note())
			}
			if e := compileTiny(t, dir); e.Note() != "" || len(kept(t, dir)) != 1 {
				t.Errorf("%d files afterwards, want 1; %s", len(kept(t, dir)), e.Note())
			}
		})
	}
}

// Wherever a bit is flipped, the code is made anew before anything of it runs: the compiler's own checksum is of the
// instructions, and not of the tables that say where they begin.
func TestCacheWithFlippedBits(t *testing.T) {
	dir := t.TempDir()
	compileTiny(t, dir)
	file := kept(t, dir)[0]
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(sound); at += 3 {
		b := bytes.Clone(sound)
		b[at] ^= 1 << (at % 8)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if e := compileTiny(t, dir); e.Note() != "" {
			t.Fatalf("byte %d: %s", at, e.Note())
		}
		if again, err := os.ReadFile(file); err != nil || !bytes.Equal(again, sound) {
			t.Fatalf("byte %d is not mended (%v)", at, err)
		}
	}
}

// What a process that was killed has left goes, and so does code that nothing is recorded of.
func TestCacheTidies(t *testing.T) {
	dir := t.TempDir()
	compileTiny(t, dir)
	file := kept(t, dir)[0]
	for name, damage := range map[string]func() error{
		"a draft": func() error { return os.WriteFile(file+".123.tmp", []byte("half"), 0o600) },
		"a record that is cut": func() error {
			records, err := filepath.Glob(filepath.Join(dir, "*.json"))
			if err != nil || len(records) != 1 {
				t.Fatal(records, err)
			}
			return os.Truncate(records[0], 20)
		},
		"no code": func() error { return os.Remove(file) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if e := compileTiny(t, dir); e.Note() != "" {
			t.Errorf("%s: %s", name, e.Note())
		}
		if all := kept(t, dir); len(all) != 1 || all[0] != file {
			t.Errorf("%s: there is %q, want %q alone", name, all, file)
		}
	}
}

func TestCacheThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := compileTiny(t, filepath.Join(file, "cache"))
	if !strings.Contains(e.Note(), "not kept") {
		t.Errorf("note %q", e.Note())
	}
}

// child is set in the processes that the tests below start.
const child = "NERO_TEST_CACHE_DIR"

// TestChild is what they run: it starts the engine on the folder and prints the note.
func TestChild(t *testing.T) {
	dir := os.Getenv(child)
	if dir == "" {
		t.Skip("run by other tests")
	}
	restrict(t)
	e := compileTiny(t, dir)
	t.Log("NOTE " + e.Note())
}

func childProcess(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	c.Env = append(append(os.Environ(), child+"="+dir), env...)
	return c
}

func TestCacheOfProcessesAtOnce(t *testing.T) {
	for range 3 {
		dir := t.TempDir()
		outputs := make(chan string)
		const n = 4
		for range n {
			c := childProcess(t, dir)
			go func() {
				out, err := c.CombinedOutput()
				if err != nil {
					out = append(out, err.Error()...)
				}
				outputs <- string(out)
			}()
		}
		for range n {
			if out := <-outputs; !strings.Contains(out, "PASS") || strings.Contains(out, "not kept") {
				t.Error(out)
			}
		}
		if files := kept(t, dir); len(files) != 1 {
			t.Errorf("%d files, want 1: %q", len(files), files)
		}
	}
}
