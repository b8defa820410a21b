package cli

import (
	"bytes"
	"strings"
	"testing"
)

// A size that is none is refused before anything is opened.
func TestServeCache(t *testing.T) {
	said := &bytes.Buffer{}
	a := &App{Out: &bytes.Buffer{}, Err: said}
	if code := a.Run(t.Context(), []string{
		"serve", "--no-open", "--port", "0", "--cache", "lots",
		t.TempDir(),
	}); code != exitError || !strings.Contains(said.String(), "--cache: \"lots\"") {
		t.Errorf("%d: %s", code, said)
	}
}
