package workload

import (
	"slices"
	"testing"

	"nero/run/job"
)

// TestFormatsOfStudies holds the formats that a study may name, which the schema lists, against those that there are.
func TestFormatsOfStudies(t *testing.T) {
	var known []string
	for _, f := range Formats() {
		known = append(known, f.Name)
		if got := (job.Data{Format: f.Name}).Rendered(); got != f.Rendered {
			t.Errorf("%s: rendered %v for a study, %v for its format", f.Name, got, f.Rendered)
		}
		if f.Doc == "" || f.Open == nil {
			t.Errorf("%s: no doc, or no way to open it", f.Name)
		}
	}
	listed := job.DataFormats()
	slices.Sort(known)
	slices.Sort(listed)
	if !slices.Equal(known, listed) {
		t.Errorf("formats are %v, and studies may name %v", known, listed)
	}
}
