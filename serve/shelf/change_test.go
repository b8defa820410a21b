package shelf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nero/run/store"
	"nero/serve/api"
	"nero/symmetry/group"
)

// steps is a clock that is a minute later whenever it is read: every look looks.
func steps() func() time.Time {
	var minutes atomic.Int64
	return func() time.Time { return time.Unix(60*minutes.Add(1), 0) }
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
	var opens atomic.Int64
	s := opened(t, Options{Now: steps(), Probe: func(_ context.Context, r *store.Run) (Prober, error) {
		opens.Add(1)
		return &counted{asked{models: len(r.Job().Models), metrics: 4}, func() {}}, nil
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
	// News of the models that were opened for the old one may come before.
	if e := sent(); !slices.ContainsFunc(e,
		func(e api.Event) bool { return e.Run != nil && e.Run.Samples == 41 && e.Run.Digest != doc.Digest }) {
		t.Errorf("%+v", e)
	}
	d := r.Document()
	if d.Samples != 41 || d.Elements != 8 || d.Group != "C8" || !slices.Equal(d.Models, m.models) ||
		r.ETag() == old.ETag() || r.Generation() <= old.Generation() {
		t.Errorf("%+v", d.RunCard)
	}
	if strings.Contains(strings.Join(d.Notes, " "), "summary") || r.parts[0].fold(r.parts[0].at) == nil ||
		r.parts[0].fold(r.parts[0].at).Job != r.parts[0].at.run.Hash() {
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
	if opens.Load() < 2 {
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
	kept := 0
	planned := func(_ context.Context, dir, place string) (*api.Planned, error) {
		if kept < 0 || !strings.HasSuffix(filepath.ToSlash(dir), place) {
			return nil, fmt.Errorf("%s: no plan", dir)
		}
		return &api.Planned{Kept: kept}, nil
	}
	s := opened(t, Options{Now: steps(), Planned: planned}, top)
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
	if all := s.Runs(); len(all.Runs) != 1 || all.Runs[0].ID != "other" || len(all.Audits) != 0 ||
		len(all.Problems) != 0 {
		t.Errorf("%+v", all)
	}
	if e := sent(); len(e) != 2 || e[0].Gone != "run" || !e[1].List {
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
	if e := sent(); len(e) != 2 || e[0].Run == nil || e[0].Run.ID != "run" || !e[1].List || r == old ||
		r.Generation() <= old.Generation() {
		t.Errorf("%+v", e)
	}
	// What replaces a run and does not open is a problem, and no run.
	writeFile(t, filepath.Join(dir, "job.json"), "{}")
	all := s.Runs()
	if len(all.Runs) != 1 || len(all.Problems) != 1 || all.Problems[0].Name != "run" ||
		strings.Contains(all.Problems[0].Detail, top) {
		t.Errorf("%+v", all)
	}
	if e := sent(); len(e) != 2 || e[0].Gone != "run" || !e[1].List {
		t.Errorf("%+v", e)
	}
	// A planned audit is news when it appears, whenever it is further, and when it is made.
	plan := filepath.Join(top, "plans", "swept", planName)
	writeFile(t, plan, "{}")
	kept = 1
	if all := s.Runs(); len(all.Planned) != 1 || all.Planned[0].Name != "swept" || all.Planned[0].Kept != 1 ||
		all.Planned[0].Folder != filepath.Base(top)+"/plans/swept" {
		t.Errorf("%+v", all)
	}
	if e := sent(); len(e) != 2 || len(e[0].Planned) != 1 || !e[1].List {
		t.Errorf("%+v", e)
	}
	s.Runs()
	if e := sent(); len(e) != 0 {
		t.Errorf("%+v", e)
	}
	kept = 2
	s.Runs()
	if e := sent(); len(e) != 1 || len(e[0].Planned) != 1 || e[0].Planned[0].Kept != 2 || e[0].List {
		t.Errorf("%+v", e)
	}
	kept = -1
	if all := s.Runs(); len(all.Planned) != 0 || len(all.Problems) != 2 || all.Problems[0].Name != "swept" {
		t.Errorf("a plan that cannot be read: %+v", all)
	}
	sent()
	if err := os.RemoveAll(filepath.Dir(plan)); err != nil {
		t.Fatal(err)
	}
	// An audit that was just written is news, one that is as it was is none.
	s.Runs()
	sent()
	writeFile(t, file, auditOf([]string{digest("plain")}, "s1 é<i>", "[30]", m.job(t).DataDigest(), "SO(2)"))
	if all := s.Runs(); len(all.Audits) != 1 {
		t.Errorf("%+v", all.Audits)
	}
	if e := sent(); len(e) != 1 || !e[0].List {
		t.Errorf("%+v", e)
	}
	s.Runs()
	if e := sent(); len(e) != 0 {
		t.Errorf("%+v", e)
	}
	remake(t, m, dir)
	if all := s.Runs(); len(all.Runs) != 2 || len(all.Problems) != 0 {
		t.Errorf("%+v", all)
	}
}

// What is kept in memory leaves room for everything else within the 500 MB that a server is to take, and holds what a
// page shows of a run of 100,000 samples at 72 elements: two models with two metrics and their classes.
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

// Folders that are looked into are bounded, whatever is in them, and who names too large a one is told.
func TestSearchBound(t *testing.T) {
	top := t.TempDir()
	for _, name := range []string{"a/a", "a/b", "b/a", "b/b", "c/a"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.FromSlash(name)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	small().write(t, filepath.Join(top, "z"))
	if all, more, err := search(top, 10, false, false); err != nil || more || len(all) != 1 {
		t.Errorf("%v, %v, %v", all, more, err)
	}
	if all, more, err := search(top, 9, false, false); err != nil || !more || len(all) != 0 {
		t.Errorf("%v, %v, %v", all, more, err)
	}
	if all, more, err := search(top, 4, false, false); err != nil || !more || len(all) != 0 {
		t.Errorf("%v, %v, %v", all, more, err)
	}
}

// Where looking takes long, it is done less often.
func TestPace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	small().write(t, dir)
	at := time.Unix(0, 0)
	s := opened(t, Options{Now: func() time.Time { return at }}, dir)
	looks := func(took, since time.Duration) bool {
		s.took, s.looked = took, at
		at = at.Add(since)
		s.refresh()
		return s.looked.Equal(at)
	}
	for _, c := range []struct {
		took, since time.Duration
		want        bool
	}{
		{0, 999 * time.Millisecond, false},
		{0, time.Second, true},
		{10 * time.Millisecond, time.Second, true},
		{200 * time.Millisecond, 9 * time.Second, false},
		{200 * time.Millisecond, 10 * time.Second, true},
		{time.Hour, 59 * time.Second, false},
		{time.Hour, time.Minute, true},
	} {
		if looks(c.took, c.since) != c.want {
			t.Errorf("after a look of %v and %v: %v", c.took, c.since, !c.want)
		}
	}
	// How long it takes is measured.
	s.o.Now = steps()
	s.looking.Lock()
	s.look()
	s.looking.Unlock()
	if s.took <= 0 {
		t.Error("looking takes no time")
	}
}

// counted tells when it is closed.
type counted struct {
	asked

	shut func()
}

func (c *counted) Close() error {
	c.shut()
	return nil
}

// Models rest when nobody asks them, or when those of other runs are asked; they are opened again when somebody does,
// and meanwhile the document says the same.
func TestLiveRests(t *testing.T) {
	top := t.TempDir()
	m := made{samples: 4, models: []string{"m"}, metrics: []string{"margin"}, group: "C4", grid: []int{4}, shard: 4}
	for i := range mostLive + 2 {
		m.seed = uint64(i)
		m.write(t, filepath.Join(top, "r"+strconv.Itoa(i)))
	}
	var clock atomic.Int64
	var mu sync.Mutex
	opens, shut := map[string]int{}, map[string]int{}
	s := opened(t, Options{
		Now: func() time.Time { return time.Unix(clock.Load(), 0) },
		Probe: func(_ context.Context, r *store.Run) (Prober, error) {
			mu.Lock()
			defer mu.Unlock()
			name := filepath.Base(r.Dir())
			opens[name]++
			return &counted{asked{models: 1, metrics: 1}, func() {
				mu.Lock()
				defer mu.Unlock()
				shut[name]++
			}}, nil
		},
	}, top)
	open := func() (n int) {
		for _, src := range s.sources {
			if _, ok := src.live.idle(); ok {
				n++
			}
		}
		return n
	}
	ask := func(id string) {
		t.Helper()
		if p, err := run(t, s, id).Probe(t.Context(), 0, group.Element{1}, nil); err != nil || len(p.Results) != 1 {
			t.Errorf("%s: %+v, %v", id, p, err)
		}
	}
	for i := range mostLive + 2 {
		clock.Add(10)
		ask("r" + strconv.Itoa(i))
	}
	s.restLives()
	if n := open(); n != mostLive {
		t.Errorf("the models of %d runs are open", n)
	}
	if _, ok := s.sources[0].live.idle(); ok {
		t.Error("those that were asked first are open")
	}
	first := run(t, s, "r0")
	d, tag := first.Document(), first.ETag()
	if !d.Live.Models || !d.ModelList[0].Live || opens["r0"] != 1 {
		t.Errorf("%+v, opened %d times", d.Live, opens["r0"])
	}
	ask("r0")
	if opens["r0"] != 2 || first.ETag() != tag {
		t.Errorf("opened %d times, tag %s, was %s", opens["r0"], first.ETag(), tag)
	}
	// What is in use stays.
	begun, gate, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	used := s.sources[5].live
	go func() {
		over <- used.use(t.Context(), func(Prober) error {
			close(begun)
			<-gate
			return nil
		})
	}()
	<-begun
	clock.Add(int64(mostIdle / time.Second))
	run(t, s, "r0") // who asks for anything, or watches, has it looked after
	if n := open(); n != 0 {
		t.Errorf("the models of %d runs are open, and nobody has asked for long", n)
	}
	if used.at == nil {
		t.Error("models that are in use were closed")
	}
	close(gate)
	if err := <-over; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, n := range opens {
		if shut[name] != n {
			t.Errorf("%s was opened %d times and closed %d times", name, n, shut[name])
		}
	}
	if err := used.use(t.Context(), func(Prober) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("models are opened after the end: %v", err)
	}
	if _, ok := <-s.Watch(t.Context()); ok {
		t.Error("a closed shelf is watched")
	}
}

// A folder that somebody handed over shows nothing of what lies elsewhere on this machine; one that is itself a link is
// shown.
func TestLinksLeadNowhere(t *testing.T) {
	top := t.TempDir()
	m := small()
	m.write(t, filepath.Join(top, "real"))
	j := m.job(t)
	audit := auditOf([]string{digest("plain")}, "s1 é<i>", "[30]", j.DataDigest(), "SO(2)")
	writeFile(t, filepath.Join(top, "real", "audit.json"), audit)
	writeFile(t, filepath.Join(top, "elsewhere", "audit.json"), audit)
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, name); err != nil {
			t.Skip(err) // not every system makes links for everybody
		}
	}
	link(filepath.Join(top, "real"), filepath.Join(top, "link"))
	s := opened(t, Options{}, filepath.Join(top, "link"))
	if all := s.Runs(); len(all.Runs) != 1 || len(all.Audits) != 1 ||
		run(t, s, "link").parts[0].fold(run(t, s, "link").parts[0].at) == nil {
		t.Errorf("%+v", all)
	}

	given := filepath.Join(top, "given")
	m.write(t, given)
	for from, name := range map[string]string{
		filepath.Join(top, "real", "summary.json"):    "summary.json",
		filepath.Join(top, "elsewhere", "audit.json"): "audit.json",
	} {
		_ = os.Remove(filepath.Join(given, name)) // there may be none
		link(from, filepath.Join(given, name))
	}
	s = opened(t, Options{}, given)
	r := run(t, s, "given")
	if r.parts[0].fold(r.parts[0].at) != nil || !strings.Contains(strings.Join(r.Document().Notes, " "),
		"summary.json") {
		t.Errorf("a summary from elsewhere is read: %v", r.Document().Notes)
	}
	if all := s.Runs(); len(all.Audits) != 0 || len(all.Problems) != 1 {
		t.Errorf("%+v", all)
	}
}

// A run that another program computes says so, with rate and time left, for as long as that program lives.
func TestUnderWay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := small()
	m.only = []int{0, 2}
	m.write(t, dir)
	s := opened(t, Options{Now: steps()}, dir)
	sent := events(s)
	state := func() api.State {
		t.Helper()
		card, doc := s.Runs().Runs[0].State, run(t, s, "run").Document().State
		if card.Running != doc.Running || card.By != doc.By {
			t.Errorf("the list says %+v, the run %+v", card, doc)
		}
		return card
	}
	if now := state(); now.Running || now.By != "" || !math.IsNaN(float64(now.Rate)) {
		t.Errorf("nobody computes: %+v", now)
	}
	tag := run(t, s, "run").ETag()
	w, err := store.Create(dir, m.job(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if now := state(); !now.Running || now.By != "another program" || !math.IsNaN(float64(now.Seconds)) {
		t.Errorf("it says nothing yet: %+v", now)
	}
	at := s.o.Now().UnixMilli()
	if err := w.Tell(store.Progress{By: "nero demo", Since: at - 10_000, At: at, Done: 50, Total: 50_000}); err != nil {
		t.Fatal(err)
	}
	// 5 a second: 49,950 take 9,990 s, of which a minute or some have passed when it is asked.
	now := state()
	if !now.Running || now.By != "nero demo" || now.Rate != 5 || !(now.Seconds < 9_990 && now.Seconds > 8_000) {
		t.Errorf("%+v", now)
	}
	if run(t, s, "run").ETag() != tag {
		t.Error("how far a run is has made its arrays stale")
	}
	if len(sent()) == 0 {
		t.Error("those who watch were not told")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if now := state(); now.Running || now.By != "" {
		t.Errorf("it has ended: %+v", now)
	}
	if n := len(sent()); n != 1 {
		t.Errorf("%d events say that it has ended", n)
	}
}

// What people say of a run is kept beside it: its name, and notes and tags of samples, which rules find.
func TestRemarks(t *testing.T) {
	top := t.TempDir()
	m := small()
	m.write(t, filepath.Join(top, "may"))
	s := opened(t, Options{Now: steps()}, top)
	sent := events(s)
	r := run(t, s, "may")
	place := filepath.Base(top) + "/may"
	if d := r.Document(); d.Name != "may" || d.Folder != place || d.Changed < d.Begun || d.Begun == 0 {
		t.Errorf("%q in %q, %d to %d", d.Name, d.Folder, d.Begun, d.Changed)
	}
	all, tag, err := r.Remarks()
	if err != nil || len(all.Samples) != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	info, err := r.Samples()
	if err != nil {
		t.Fatal(err)
	}
	all.Name, all.Samples = "May", []api.Remark{{ID: info.IDs[3], Note: "blurred", Tags: []string{"odd one"}}}
	before := r.Document().Digest
	if _, _, err = r.PutRemarks(*all, tag); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.PutRemarks(*all, tag); !errors.Is(err, ErrChanged) {
		t.Errorf("an old tag: %v", err)
	}
	if n := len(sent()); n != 2 { // the card, and that something was said
		t.Errorf("%d events", n)
	}
	r = run(t, s, "may")
	if d := r.Document(); d.Name != "May" || d.ID != "may" || d.Digest != before {
		t.Errorf("%+v", d.RunCard)
	}
	info, err = r.Samples()
	if err != nil || len(info.Tags) == 0 || !slices.Contains(info.Tags[3], "odd one") {
		t.Errorf("%v, %v", info.Tags, err)
	}
	if b, err := r.Select(api.Set{Rule: `tag = "odd one"`}); err != nil || b.Count() != 1 || !b.Has(3) {
		t.Errorf("%v, %v", b, err)
	}
	stranger := api.Remarks{Format: 1, Samples: []api.Remark{{ID: "nobody", Note: "x"}}}
	if _, _, err := r.PutRemarks(stranger, "*"); !errors.Is(err, ErrBad) {
		t.Errorf("a sample that is not there: %v", err)
	}
	// Somebody else takes the file away.
	if err := os.Remove(filepath.Join(top, "may", "remarks.json")); err != nil {
		t.Fatal(err)
	}
	if name := run(t, s, "may").Document().Name; name != "may" {
		t.Errorf("it is still called %q", name)
	}
}
