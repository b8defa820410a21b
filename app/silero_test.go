//go:build !race

// Whole audits of models that take minutes under the race detector: they run in the slow suites.

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/internal/outside"
)

// TestSilero audits a detector of speech that nobody here trained, with no line of code for it: it is found to start
// cold, and for how long.
func TestSilero(t *testing.T) {
	if testing.Short() {
		t.Skip("a recurrent model over ten recordings takes half a minute")
	}
	example := filepath.Join("..", "examples", "silero")
	from := outside.Folder(t, outside.Silero, "silero_vad.onnx")
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join(example, "study.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "study.yaml"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"silero_vad.onnx", "speech"} {
		if err := os.Symlink(filepath.Join(abs, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	text, numbers := auditNumbers(t, filepath.Join(dir, "study.yaml"), asked{})
	for _, want := range []string{"FAIL", "a state that starts cold"} {
		if !strings.Contains(text, want) {
			t.Errorf("the audit does not say %q:\n%s", want, text)
		}
	}
	n, ok := numbers["frames until a later start is forgotten"]
	if !ok || n < 3 || n > 16 {
		t.Errorf("the state is warm after %v frames (known: %v); 3 to 16 expected", n, ok)
	}
	if first := numbers["error of the first frame after a start"]; !(first > 0.5) {
		t.Errorf("the first frame after a start is off by %v of the scale", first)
	}
}
