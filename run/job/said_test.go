package job_test

import (
	"errors"
	"strings"
	"testing"

	"nero/run/job"
)

// A mistake is reported where it was made: a field that was changed since at whoever changed it, the others at their
// lines.
func TestChange(t *testing.T) {
	const file = `models: model.onnx
data: {images: photos}
group:
  name: C4
  border: zero
metrics: [accuracy]
`
	s, err := job.ParseStudy("s.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	was := *s
	failed := errors.New("refused")
	err = s.Change("--limit", func(s *job.Study) error { s.Data.Limit = 7; return failed })
	if !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
	if s.Data.Limit != 0 {
		t.Error("a change that failed stays")
	}
	change := func(place string, f func(*job.Study)) {
		t.Helper()
		if err := s.Change(place, func(s *job.Study) error { f(s); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	change("--border", func(s *job.Study) { s.Group.Border = "zerro" })
	change("--metrics", func(s *job.Study) { s.Metrics = []string{"nothing"} })
	for path, want := range map[string]string{
		"group.border": "--border",
		"group.name":   "s.yaml:4:9",
		"metrics[0]":   "--metrics",
		"metrics":      "--metrics",
	} {
		if got := s.Where(path); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
	if got := was.Where("group.border"); got != "s.yaml:5:11" {
		t.Errorf("a copy from before has it at %s", got)
	}
	if err := s.Validate(); err == nil || !strings.HasPrefix(err.Error(), "--border: group.border: ") {
		t.Errorf("the mistake is reported as %v", err)
	}
}
