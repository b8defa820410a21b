package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/app"
	"nero/data/dataset"
	"nero/data/tensor"
	"nero/serve/shelf"
)

// Labels that are numbered in another order than the model's classes are told by a run, its report and an audit; the
// right ones are not.
func TestLabelsInAnotherOrder(t *testing.T) {
	t.Parallel()
	a := &app.App{}
	const what = "probably not numbered as the model numbers its classes"
	for _, turn := range []int{0, 3} {
		s, err := a.OpenStudy("../studies/digits/exact.yaml")
		if err != nil {
			t.Fatal(err)
		}
		ds, err := dataset.Open(dataset.Spec{Images: s.Data.Images, Labels: s.Data.Labels})
		if err != nil {
			t.Fatal(err)
		}
		labels := tensor.New(tensor.Uint8, ds.Len())
		for i, l := range ds.Labels() {
			labels.Raw[i] = byte((l + turn) % 10)
		}
		var b bytes.Buffer
		if err := dataset.WriteIDX(&b, labels); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		s.Data.Labels = filepath.Join(dir, "labels.idx")
		if err := os.WriteFile(s.Data.Labels, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Data.Limit, s.Data.Balance, s.Metrics = 60, "label", []string{"accuracy"}
		r, err := a.Run(t.Context(), s, app.RunOptions{Dir: filepath.Join(dir, "run"), Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(text.String(), "WARNING: c4: Right on "); told != (turn > 0) {
			t.Errorf("labels turned by %d: %s", turn, text.String())
		}
		if turn > 0 && (len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], what+". Read in another order, ") ||
			!strings.Contains(r.Warnings[0], "label 3 as class 0, label 4 as class 1")) {
			t.Errorf("%q", r.Warnings)
		}
		sh, err := shelf.Open(t.Context(), []string{r.Dir}, shelf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := sh.Run(sh.Runs().Runs[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown.Document().Warnings; !slices.Equal(got, r.Warnings) {
			t.Errorf("the page says %q, the run %q", got, r.Warnings)
		}
		if err := sh.Close(); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "report")
		if _, err := a.Report(t.Context(), r.Dir, out, ""); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(out, "report.md"))
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(string(page), what); told != (turn > 0) {
			t.Errorf("the report of labels turned by %d says so: %v", turn, told)
		}
		s.Audit.Samples, s.Audit.Checks = 60, []string{"decision"}
		audit, err := a.Audit(t.Context(), s, app.AuditOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		gist := strings.Join(audit.Reports[0].Gist(), "\n")
		if told := strings.Contains(gist, what); told != (turn > 0) {
			t.Errorf("the gist with labels turned by %d: %s", turn, gist)
		}
	}
}
