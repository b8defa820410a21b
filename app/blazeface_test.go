//go:build !race

// Whole audits of models that take minutes under the race detector: they run in the slow suites.

package app_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/app"
	"nero/internal/outside"
)

// blazeface is a folder with the studies of examples/blazeface and what its script fetches; the test is skipped where
// nothing was fetched.
func blazeface(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a detector on photos takes a minute")
	}
	example := filepath.Join("..", "examples", "blazeface")
	const model = "face_detection_back_256x256_barracuda.onnx"
	dir := outside.Folder(t, outside.BlazeFace, model)
	to := t.TempDir()
	for _, name := range []string{"shift.yaml", "turn.yaml"} {
		b, err := os.ReadFile(filepath.Join(example, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{model, "faces"} {
		if err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// auditNumbers runs an audit and returns its text and its measured numbers by name.
func auditNumbers(t *testing.T, study string, ask asked) (text string, numbers map[string]float64) {
	t.Helper()
	r := audit(t, study, ask)
	if r.Outcome() != app.Findings {
		t.Fatal("there are no findings, and a detector is not exact")
	}
	var report any
	if err := json.Unmarshal(written(t, r, "json"), &report); err != nil {
		t.Fatal(err)
	}
	numbers = map[string]float64{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			name, ok := v["name"].(string)
			x, number := v["value"].(float64)
			if _, seen := numbers[name]; ok && number && !seen {
				numbers[name] = x
			}
			for _, w := range v {
				walk(w)
			}
		case []any:
			for _, w := range v {
				walk(w)
			}
		}
	}
	walk(report)
	return string(written(t, r, "text")), numbers
}

// TestBlazeFace is the worked example: a detector that nobody here trained, described in YAML alone.
func TestBlazeFace(t *testing.T) {
	dir := blazeface(t)
	t.Run("shift", func(t *testing.T) {
		text, n := auditNumbers(t, filepath.Join(dir, "shift.yaml"), asked{
			checks: []string{"lattice", "endtoend", "lint", "stress"}, skip: []string{"precision"},
		})
		for name, want := range map[string][2]float64{ // least and most
			"period down":                  {16, 16},
			"period right":                 {16, 16},
			"stride of map 1 of the graph": {16, 16},
			"stride of map 2 of the graph": {32, 32},
			"shift of boxes for a window shifted by 16 px down, median":  {15.8, 16.2},
			"shift of boxes for a window shifted by 16 px right, median": {15.8, 16.2},
			"centre error at multiples of the period, median":            {0, 0.25},
			"centre error at other shifts, median":                       {0.4, 1},
		} {
			if x, ok := n[name]; !ok || math.IsNaN(x) || x < want[0] || x > want[1] {
				t.Errorf("%s is %v, want %v to %v", name, x, want[0], want[1])
			}
		}
		if !strings.Contains(text, "striding or pooling") {
			t.Errorf("the cause is not named:\n%s", text)
		}
	})
	t.Run("turn", func(t *testing.T) {
		text, n := auditNumbers(t, filepath.Join(dir, "turn.yaml"), asked{checks: []string{"lattice", "endtoend"}})
		for name, want := range map[string][2]float64{
			"score left near the identity":                                                {0.8, 1.05},
			"score left far from it":                                                      {0.1, 0.5},
			"centre error of matched boxes, mean, exact elements":                         {1, 6},
			"score of matched boxes less that of the unmoved input, mean, exact elements": {-0.4, -0.1},
		} {
			if x, ok := n[name]; !ok || math.IsNaN(x) || x < want[0] || x > want[1] {
				t.Errorf("%s is %v, want %v to %v", name, x, want[0], want[1])
			}
		}
		if !strings.Contains(text, "the layers are ordinary ones") {
			t.Errorf("the cause is not named:\n%s", text)
		}
	})
}
