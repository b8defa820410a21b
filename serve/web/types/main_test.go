package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The committed types are what the Go types say.
func TestCommitted(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "src", "core"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, "../../.."); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"api.ts", "document.ts"} {
		got, err := os.ReadFile(filepath.Join(dir, "src", "core", name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("..", "src", "core", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("src/core/%s is not what the Go types say; go generate ./serve/web writes it", name)
		}
	}
}
