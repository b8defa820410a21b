package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nero/app"
	"nero/studies/digits"
)

// A repair that is stopped leaves what was there: nobody is to find a file that nobody judged.
func TestStoppedRepair(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, digits.Files); err != nil {
		t.Fatal(err)
	}
	study := filepath.Join(dir, "demo.yaml")
	out := filepath.Join(dir, "fixed.onnx")
	for _, before := range []string{"", "what was there"} {
		if before != "" {
			if err := os.WriteFile(out, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		written := false
		a := &app.App{Events: func(app.Event) {
			if now, err := os.ReadFile(out); err == nil && string(now) != before {
				written = true
				cancel()
			}
		}}
		s, err := a.OpenStudy(study)
		if err != nil {
			t.Fatal(err)
		}
		s.Group.Name, s.Group.Orbit.Grid, s.Data.Limit = "C4", nil, 12
		_, err = a.Repair(ctx, s, app.RepairOptions{
			Workers: 1, Only: []string{"original"}, Methods: []string{"select"}, Loss: 1, Out: out,
		})
		cancel()
		if !written || !errors.Is(err, context.Canceled) {
			t.Fatalf("written %t, error %v, want it to be stopped after the file was written", written, err)
		}
		switch now, err := os.ReadFile(out); {
		case before == "" && !errors.Is(err, os.ErrNotExist):
			t.Errorf("a file of %d bytes is left, error %v", len(now), err)
		case before != "" && string(now) != before:
			t.Errorf("%d bytes took the place of what was there", len(now))
		}
	}
}
