package app_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/app"
	"nero/data/dataset"
	"nero/run/fold"
	"nero/run/job"
)

// turned writes digits with views that are quarter turns of each other, and one that is the same again.
func turned(tb testing.TB, n int) *job.Study {
	tb.Helper()
	digits := filepath.Join("..", "studies", "digits")
	at := func(path string) string {
		whole, err := filepath.Abs(filepath.Join(digits, filepath.FromSlash(path)))
		if err != nil {
			tb.Fatal(err)
		}
		return whole
	}
	ds, err := dataset.Builtin().Open(dataset.Spec{
		Images: at("data/digits1000-images-idx3-ubyte.gz"), Labels: at("data/digits1000-labels-idx1-ubyte.gz"),
	})
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	list := bytes.NewBufferString("object,view,file,label\n")
	for i := range n {
		s, err := ds.Sample(i)
		if err != nil {
			tb.Fatal(err)
		}
		const side = 28
		x := s.Value.Numbers()
		for _, view := range []string{"upright", "again", "left", "upside"} {
			m := image.NewGray(image.Rect(0, 0, side, side))
			for r := range side {
				for c := range side {
					from := map[string]int{
						"upright": r*side + c, "again": r*side + c, "left": c*side + side - 1 - r,
						"upside": (side-1-r)*side + side - 1 - c,
					}[view]
					m.Pix[r*side+c] = byte(x[from])
				}
			}
			var b bytes.Buffer
			if err := png.Encode(&b, m); err != nil {
				tb.Fatal(err)
			}
			name := fmt.Sprintf("%d-%s.png", i, view)
			if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
				tb.Fatal(err)
			}
			fmt.Fprintf(list, "%d,%s,%s,%d\n", i, view, name, s.Label)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "views.csv"), list.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	return &job.Study{
		Version: 1, Data: job.Data{Views: filepath.Join(dir, "views.csv")},
		Models: []job.Model{
			{Name: "c4", ONNX: at("models/digits-c4.onnx")},
			{Name: "original", ONNX: at("models/digits-original.onnx")},
		},
		Input: job.Input{Mean: []float64{0.1307}, Std: []float64{0.3081}},
	}
}

// A run of given views has a curve over them: that of a model that cannot see them is flat, that of another is not, and
// a view that is the same again has no error for either.
func TestRunOfViews(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := new(app.App).Run(t.Context(), turned(t, 12), app.RunOptions{Dir: dir, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Summary.Metrics, func(m fold.Metric) bool { return m.Name == "relative" })
	for i, model := range r.Summary.Models {
		c := r.Summary.Curve(i, at, 0)
		for k, x := range c.Mean {
			if clean := model == "c4" || k < 2; !(clean && x < 1e-4 || !clean && x > 0.05) {
				t.Errorf("%s at view %d: %v", model, k, x)
			}
		}
		if len(c.Mean) != 4 {
			t.Errorf("%d views", len(c.Mean))
		}
	}
	if !strings.Contains(text.String(), "at left") && !strings.Contains(text.String(), "at upside") {
		t.Errorf("views have no names: %s", text.String())
	}
}

// An audit of given views claims invariance alone, and has no check that needs laws.
func TestAuditOfViews(t *testing.T) {
	s := turned(t, 12)
	s.Audit.Checks = []string{"lattice", "laws", "contract", "subgroup"}
	s.Audit.Contract = job.Contract{Error: 0.2, Rate: 0.4}
	r, err := new(app.App).Audit(t.Context(), s, app.AuditOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Document().Models {
		states, contract := map[string]string{}, new(strings.Builder)
		for _, c := range m.Checks {
			states[c.Check] = string(c.Status)
			if none := "the views are given: there are no laws"; (c.Check == "laws" || c.Check == "subgroup") &&
				!strings.Contains(c.Reason, none) {
				t.Errorf("%s of %s: %q", c.Check, m.Model, c.Reason)
			}
			for _, f := range c.Findings {
				if c.Check == "contract" {
					contract.WriteString(f.Message)
				}
			}
			for _, x := range c.Sets {
				if clean := float64(x.Worst.Value) < 1e-4; clean != (m.Model == "c4") {
					t.Errorf("%s is off by %v", m.Model, x.Worst.Value)
				}
			}
		}
		if states["preflight"] != "tested" || states["lattice"] != "tested" || states["contract"] != "tested" ||
			states["laws"] != "not applicable" || states["subgroup"] != "not applicable" {
			t.Errorf("%s: %v", m.Model, states)
		}
		if broken := strings.Contains(contract.String(), "broken"); broken != (m.Model == "original") {
			t.Errorf("the contract of %s: %q", m.Model, contract.String())
		}
		if !strings.Contains(strings.Join(m.Gist, " "), "given, no laws") {
			t.Errorf("%s: %q", m.Model, m.Gist)
		}
	}
}
