package examine

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/internal/disk"
	"nero/model/engine/frame"
	"nero/model/engine/remote"
)

// asProgram names, in the environment of the test program, the file that it is to hold locked as long as it runs, where
// it is to be a program that greets and then answers whatever it is asked with nothing.
const asProgram = "NERO_TEST_EXAMINED"

func TestMain(m *testing.M) {
	name := os.Getenv(asProgram)
	if name == "" {
		os.Exit(m.Run())
	}
	l, err := os.Create(name)
	if err == nil {
		err = disk.TryLock(l, false)
	}
	for w, call := (&frame.Writer{W: os.Stdout}), uint32(0); err == nil; call++ {
		if _, err = frame.Read(os.Stdin, frame.Limits{JSON: 1 << 20, Raw: 1 << 20}); err == nil {
			err = w.Write(call, []byte(`{"hello":{"protocol":1}}`))
		}
	}
	time.Sleep(time.Hour) // it does not end by itself
}

// The examples of docs/PROGRAMS.md pass, and answer alike to the last bit.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	built := map[string]string{}
	build := func(name string, command ...string) {
		t.Helper()
		built[name] = filepath.Join(dir, name+map[bool]string{true: ".exe"}[runtime.GOOS == "windows"])
		c := exec.CommandContext(t.Context(), command[0], append(command[1:], "-o", built[name])...)
		c.Args = append(c.Args, map[string]string{"go": ".", "c": "edges.c"}[name])
		c.Dir = filepath.FromSlash("../../../../examples/child/" + name)
		c.Env = append(os.Environ(), "GOFLAGS=")
		if b, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, b)
		}
	}
	build("go", "go", "build", "-trimpath", "-buildvcs=false")
	compiler := ""
	for _, name := range []string{os.Getenv("CC"), "cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil && compiler == "" {
			compiler = path
		}
	}
	if compiler == "" {
		t.Log("no C compiler is here: the example in C is not built")
	} else {
		build("c", compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O2")
	}
	answers := map[string][]byte{}
	for name, file := range built {
		r, err := Examine(t.Context(), []string{file}, "", []int{2, 1, 9, 13}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if r.Fault != nil || len(r.Steps) != 8 || strings.Contains(text.String(), "otherwise") {
			t.Errorf("%s:\n%s", name, text.String())
		}
		answers[name] = ask(t, file)
	}
	if c, ok := answers["c"]; ok && !bytes.Equal(c, answers["go"]) {
		t.Error("the examples in Go and C answer differently")
	}
}

// ask is the answer to a picture whose edges are known.
func ask(t *testing.T, file string) []byte {
	t.Helper()
	m, err := remote.Connect(t.Context(), remote.Config{Command: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()                                                   //nolint:errcheck // it returns nothing but nil
	x := tensor.FromFloat32([]float32{0, 3, 6, 4, 7, 10}, 1, 1, 2, 3) // 3 to the right, 4 down
	out, err := m.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: x}})
	if err != nil {
		t.Fatal(err)
	}
	y, err := out[0].Float32s()
	if err != nil || y[1] < 7.211 || y[1] > 7.212 { // √(6² + 4²): both neighbours to the sides, one below
		t.Errorf("%s: %v, %v", file, y, err)
	}
	return out[0].Raw
}

// What is wrong is named at its first step.
func TestFault(t *testing.T) {
	for want, shape := range map[string][]int{"hello: there is no program": nil} {
		r, err := Examine(t.Context(), []string{"./none"}, t.TempDir(), shape, time.Second)
		if err != nil || r.Fault == nil || !strings.Contains(r.Fault.Error(), want) || r.Steps[0].OK {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// A program that is found wrong is ended, as one is that passes.
func TestEnds(t *testing.T) {
	held := filepath.Join(t.TempDir(), "held")
	t.Setenv(asProgram, held)
	r, err := Examine(t.Context(), []string{os.Args[0]}, "", nil, time.Minute)
	if err != nil || r.Fault == nil || !strings.Contains(r.Fault.Error(), "unknown: a method that it cannot know") {
		t.Fatalf("%+v, %v; want a fault of the step unknown", r, err)
	}
	l, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only locked
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		err := disk.TryLock(l, false)
		if err == nil {
			break
		}
		if !errors.Is(err, disk.ErrLocked) || time.Since(began) > time.Minute {
			t.Fatalf("it goes on: %v", err)
		}
	}
}
