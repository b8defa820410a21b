package shelf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/run/store"
)

// The coarse level of an unfinished run is shown beside it, under its name, until the run is complete.
func TestCoarseLevel(t *testing.T) {
	dir := t.TempDir()
	whole, first := filepath.Join(dir, "digits"), filepath.Join(dir, "digits", store.Coarse)
	m := small()
	j := m.write(t, whole)
	if j.Thinned() != "" {
		t.Errorf("all elements are visited: %s", j.Thinned())
	}
	if err := os.Remove(filepath.Join(whole, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	m.write(t, first)
	j.Study.Group.Orbit.Every = 8
	if text := j.Thinned(); !strings.Contains(text, j.Measure) {
		t.Errorf("some elements: %s", text)
	}
	s := opened(t, Options{Coarse: true}, dir)
	names := map[string]bool{}
	for _, c := range s.Runs().Runs {
		names[c.Name] = c.State.Complete
	}
	if len(names) != 2 || names["digits"] || !names["digits, coarse level"] {
		t.Errorf("runs %v", names)
	}
	if n := len(opened(t, Options{}, dir).Runs().Runs); n != 1 {
		t.Errorf("%d runs where nobody asked for coarse levels", n)
	}
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	s.looking.Lock()
	s.look()
	s.looking.Unlock()
	if all := s.Runs().Runs; len(all) != 1 || all[0].Name != "digits" {
		t.Errorf("after its coarse level is gone: %v", all)
	}
}
