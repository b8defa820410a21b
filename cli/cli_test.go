package cli

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// full is a disk without room.
type full struct{ calls int }

func (f *full) Write([]byte) (int, error) { f.calls++; return 0, errors.New("no space left") }

// A result that nobody can read is no success.
func TestOutputThatFails(t *testing.T) {
	for _, args := range [][]string{{"groups"}, {"metrics"}, {"schema"}, {"checks", "--json"}} {
		out, said := &full{}, &bytes.Buffer{}
		a := &App{Out: out, Err: said}
		if code := a.Run(t.Context(), args); code != exitError || !strings.Contains(said.String(), "no space left") ||
			out.calls != 1 {
			t.Errorf("%v: exit code %d, %d writes, said %q", args, code, out.calls, said)
		}
	}
}

// An end that came while a study was checked is told as any other, though what is wrong with a study is kept as text.
func TestStoppedWhileModelsAreOpened(t *testing.T) {
	dir := t.TempDir()
	model, data := filepath.Join(dir, "m.onnx"), filepath.Join(dir, "x.idx")
	o := &options{given: map[string]string{"h": "8", "w": "8"}}
	if err := errors.Join(writeONNX(model, o), writeIDX(data, o), o.err); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	said := &bytes.Buffer{}
	a := &App{Out: &bytes.Buffer{}, Err: said}
	args := []string{
		"run", "-q", model, "--data", data, "--group", "C4", "--engine", "wasm", "-o", filepath.Join(dir, "out"),
	}
	if code := a.Run(ctx, args); code != exitError || said.String() != "nero: stopped\n" {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	said := &bytes.Buffer{}
	a := &App{Out: &bytes.Buffer{}, Err: said}
	if code := a.Run(ctx, []string{"bench", "--engine", "wasm"}); code != exitError ||
		said.String() != "nero: stopped\n" {
		t.Errorf("exit code %d, said %q", code, said)
	}
}
