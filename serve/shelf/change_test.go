package shelf

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nero/run/store"
	"nero/serve/api"
	"nero/symmetry/group"
)

// steps is a clock that is a minute later whenever it is read: every look looks.
func steps() func() time.Time {
	at := time.Unix(0, 0)
	return func() time.Time {
		at = at.Add(time.Minute)
		return at
	}
}

// remake removes a run and makes another one in its place.
func remake(t *testing.T, m made, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	m.write(t, dir)
}

// events are those that were sent so far.
func events(s *Shelf) func() []api.Event {
	ch := make(chan api.Event, 64)
	s.mu.Lock()
	s.watchers[ch] = true
	s.mu.Unlock()
	return func() (all []api.Event) {
		for {
			select {
			case e := <-ch:
				all = append(all, e)
			default:
				return all
			}
		}
	}
}

// A complete run that is made anew is another one: with its numbers, its summary, its data, its group and its models.
func TestMadeAnew(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "run")
	m := small()
	m.write(t, dir)
	small().write(t, filepath.Join(top, "other"))
	opens, closed := 0, 0
	s := opened(t, Options{Now: steps(), Probe: func(_ context.Context, r *store.Run) (Prober, error) {
		opens++
		return &asked{models: len(r.Job().Models), metrics: 4, closed: &closed}, nil
	}}, top)
	sent := events(s)
	old := run(t, s, "run")
	before, err := old.Curves(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Top(0); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Stats(0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, s, "run+other").Stats(0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Probe(t.Context(), 1, group.Element{3}, nil); err != nil {
		t.Fatal(err)
	}
	doc := old.Document()
	digest := old.parts[0].at.dataDigest()
	sent()
	if again := run(t, s, "run"); again != old || len(sent()) != 0 {
		t.Error("a run that stays is opened again")
	}

	m.seed, m.samples, m.first, m.group, m.grid, m.models = 7, 41, 3, "C8", []int{8}, []string{"third"}
	remake(t, m, dir)
	r := run(t, s, "run")
	if e := sent(); len(e) == 0 || e[0].Run == nil || e[0].Run.Samples != 41 || e[0].Run.Digest == doc.Digest {
		t.Errorf("%+v", e)
	}
	d := r.Document()
	if d.Samples != 41 || d.Elements != 8 || d.Group != "C8" || !slices.Equal(d.Models, m.models) || r.ETag() == old.ETag() || r.Generation() <= old.Generation() {
		t.Errorf("%+v", d.RunCard)
	}
	if strings.Contains(strings.Join(d.Notes, " "), "summary") || r.parts[0].fold(r.parts[0].at) == nil || r.parts[0].fold(r.parts[0].at).Job != r.parts[0].at.run.Hash() {
		t.Errorf("the summary is not its own: %v", d.Notes)
	}
	if names, err := r.Samples(); err != nil || len(names.IDs) != 41 || names.IDs[0] != "s3 é<i>" {
		t.Errorf("%+v, %v", names, err)
	}
	if _, err := s.Run("run+other"); err == nil || !strings.Contains(err.Error(), "C8") {
		t.Errorf("it goes together with a run over another group: %v", err)
	}
	j := m.job(t)
	if digest == "" || r.parts[0].at.dataDigest() != j.DataDigest() {
		t.Error("the data are those of the old run")
	}
	for _, row := range m.rows(j, j.Shards()[0]) {
		v, err := r.Curves(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		top, err := r.Top(0)
		if err != nil {
			t.Fatal(err)
		}
		for g, want := range row.Curves[0] {
			if got := v[row.Index*8+g]; got != want && !math.IsNaN(float64(want)) {
				t.Fatalf("sample %d: %v, want %v", row.Index, got, want)
			}
			if row.Top != nil && top[row.Index*8+g] != row.Top[g] {
				t.Fatalf("sample %d: another class", row.Index)
			}
		}
	}
	if len(before) != 57*12 {
		t.Error("an array that was handed out has changed")
	}
	if p, err := r.Probe(t.Context(), 1, group.Element{45}, nil); err != nil || len(p.Results) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if opens < 2 {
		t.Error("the old models answer")
	}
	for k := range s.cache.entries {
		if k.id == "run" && k.kind < kindStats && k.generation != r.parts[0].at.epoch {
			t.Errorf("%+v of the old run is kept", k)
		}
	}

	// The same job with other rows, such as after a mistake that was mended, is another run as well.
	m.only = []int{0}
	remake(t, m, dir)
	if d := run(t, s, "run").Document(); d.State.Complete || d.State.Done != 10 {
		t.Errorf("%+v", d.State)
	}
	if v, err := run(t, s, "run").Curves(0, 0); err != nil || !math.IsNaN(float64(v[11*8])) {
		t.Errorf("rows that are not there any more are shown: %v", err)
	}
}

// A folder that is removed is not listed any more; one that takes its place has its address, and nothing else of it.
func TestRemoved(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "run")
	m := small()
	m.write(t, dir)
	small().write(t, filepath.Join(top, "other"))
	file := filepath.Join(top, "checked", "audit.json")
	writeFile(t, file, auditOf([]string{digest("plain")}, "s1 é<i>", "[30]", m.job(t).DataDigest(), "SO(2)"))
	s := opened(t, Options{Now: steps()}, top)
	sent := events(s)
	if all := s.Runs(); len(all.Runs) != 2 || len(all.Audits) != 1 {
		t.Fatalf("%+v", all)
	}
	old := run(t, s, "run")
	if _, err := old.Stats(0, 0); err != nil {
		t.Fatal(err)
	}
	run(t, s, "run+other")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if all := s.Runs(); len(all.Runs) != 1 || all.Runs[0].ID != "other" || len(all.Audits) != 0 || len(all.Problems) != 0 {
		t.Errorf("%+v", all)
	}
	if e := sent(); len(e) != 1 || e[0].Gone != "run" {
		t.Errorf("%+v", e)
	}
	for _, id := range []string{"run", "run+other"} {
		if _, err := s.Run(id); err == nil || !strings.Contains(err.Error(), "unknown") {
			t.Errorf("%s: %v", id, err)
		}
	}
	for k := range s.cache.entries {
		if strings.Contains(k.id, "run") {
			t.Errorf("%+v is kept", k)
		}
	}
	m.seed = 5
	m.write(t, dir)
	r := run(t, s, "run")
	if e := sent(); len(e) != 1 || e[0].Run == nil || e[0].Run.ID != "run" || r == old || r.Generation() <= old.Generation() {
		t.Errorf("%+v", e)
	}
	// What replaces a run and does not open is a problem, and no run.
	writeFile(t, filepath.Join(dir, "job.json"), "{}")
	all := s.Runs()
	if len(all.Runs) != 1 || len(all.Problems) != 1 || all.Problems[0].Name != "run" || strings.Contains(all.Problems[0].Detail, top) {
		t.Errorf("%+v", all)
	}
	if e := sent(); len(e) != 1 || e[0].Gone != "run" {
		t.Errorf("%+v", e)
	}
	remake(t, m, dir)
	if all := s.Runs(); len(all.Runs) != 2 || len(all.Problems) != 0 {
		t.Errorf("%+v", all)
	}
}

// What is kept in memory leaves room for everything else within the 500 MB that a server is to take, and holds what a page shows of a run
// of 100,000 samples at 72 elements: two models with two metrics and their classes.
func TestPresetCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	small().write(t, dir)
	if limit := opened(t, Options{}, dir).cache.limit; limit < 6*100_000*72*4 || limit > 350_000_000 {
		t.Errorf("%d bytes", limit)
	}
	if limit := opened(t, Options{CacheBytes: 123}, dir).cache.limit; limit != 123 {
		t.Errorf("%d bytes", limit)
	}
}

// What a client keeps of a run is good as long as its rows are the same and the same program sums them up.
func TestNumbersTag(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := small()
	m.write(t, dir)
	tag := func(version string) (numbers, document string) {
		r := run(t, opened(t, Options{Version: version}, dir), "run")
		return r.NumbersTag(), r.ETag()
	}
	numbers, document := tag("1.2.3")
	if again, _ := tag("1.2.3"); again != numbers || strings.Contains(numbers, `"`) {
		t.Errorf("%s, then %s", numbers, again)
	}
	newer, newerDocument := tag("1.2.4")
	if newer == numbers || newerDocument == document {
		t.Error("another version has the same tags")
	}
	m.summary = false // another file of the run, and the same job
	remake(t, m, dir)
	if other, _ := tag("1.2.3"); other == numbers {
		t.Error("a run that was made anew has the same tag")
	}
	m.only = []int{0}
	remake(t, m, dir)
	r := run(t, opened(t, Options{}, dir), "run")
	if `"`+r.NumbersTag()+`"` != r.ETag() {
		t.Error("an unfinished run has another tag than its document")
	}
}
