package shelf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/serve/api"
	"nero/symmetry/group"

	"golang.org/x/sync/errgroup"
)

// source is a run folder.
type source struct {
	// name is that of its folder, folder where it lies among what is shown
	id, name, folder string
	dir              string
	cache            *cache
	// beside those of package catalog
	groups []group.Group
	live   *live

	mu    sync.Mutex
	state snapshot
	// who else writes the run, and how far it is
	writer writer
	// what people say of it
	said remarked
}

// writer is another program that writes a run.
type writer struct {
	writes bool
	at     store.Progress
}

// watch looks who writes the run and reports whether there is news of it.
func (s *source) watch() bool {
	var w writer
	if !s.now().complete() {
		w.at, w.writes = store.Writer(s.dir)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	news := w != s.writer
	s.writer = w
	return news
}

// underway adds to how far a run is who else computes it.
func (s *source) underway(to *api.State, now time.Time) {
	if to.Complete {
		return
	}
	to.Todo = s.now().todo()
	s.mu.Lock()
	w := s.writer
	s.mu.Unlock()
	if !w.writes {
		return
	}
	to.Running, to.By = true, cmp.Or(w.at.By, "another program")
	spent := float64(w.at.At-w.at.Since) / 1000
	if w.at.Done == 0 || !(spent > 0) {
		return
	}
	rate := float64(w.at.Done) / spent
	since := max(0, now.Sub(time.UnixMilli(w.at.At)).Seconds())
	to.Rate = fold.Number(rate)
	to.Seconds = fold.Number(math.Ceil(max(0, float64(w.at.Total-w.at.Done)/rate-since)))
}

// mostTodo bounds what is said of shards that are not kept.
const mostTodo = 200

// todo are the shards that are not kept, empty where there are none, or too many to say.
func (s snapshot) todo() string {
	if s.complete() {
		return ""
	}
	var left []job.Shard
	for _, sh := range s.run.Job().Shards() {
		if !s.done[sh.Index] {
			left = append(left, sh)
		}
	}
	if text := store.Indexes(left); len(text) <= mostTodo {
		return text
	}
	return ""
}

// snapshot is how far a run was when it was looked at. Nothing in it changes.
type snapshot struct {
	run   *store.Run
	group group.Group
	// by shard; nil if the run is complete
	done []bool
	// that are done
	shards int
	// grows whenever there is more, or something else
	generation int
	// what was read of the folder under another one does not count any more
	epoch int
	// of job.json and manifest.json, nil where there is none
	files [2]os.FileInfo
	about *about
}

// about is what follows from a run and is found when it is first asked for.
type about struct {
	summaryOnce sync.Once
	// nil if there is none that fits
	summary    *fold.Summary
	summaryErr error

	dataOnce sync.Once
	data     string
}

// dataDigest tells the data of the run from other data.
func (s snapshot) dataDigest() string {
	s.about.dataOnce.Do(func() { s.about.data = s.run.Job().DataDigest() })
	return s.about.data
}

func (s snapshot) complete() bool { return s.done == nil }

// samples is how many samples are in the shards that are done.
func (s snapshot) samples() int {
	j := s.run.Job()
	if s.complete() {
		return j.Count
	}
	n := 0
	for _, sh := range j.Shards() {
		if s.done[sh.Index] {
			n += sh.Hi - sh.Lo
		}
	}
	return n
}

func openSource(dir string, c *cache, groups []group.Group) (*source, error) {
	at, err := readRun(dir, filesOf(dir), groups)
	if err != nil {
		return nil, err
	}
	at.generation, at.epoch = c.next(), c.next()
	return &source{dir: dir, cache: c, groups: groups, state: at}, nil
}

// filesOf are the files that say which run a folder holds and whether it is complete. Both are replaced and never
// written over.
func filesOf(dir string) (files [2]os.FileInfo) {
	for i, name := range []string{"job.json", "manifest.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			files[i] = info
		}
	}
	return files
}

// sameFile reports whether a file is the one that was there before, as far as can be seen without reading it.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// readRun opens the run in a folder, whose files were looked at before.
func readRun(dir string, files [2]os.FileInfo, groups []group.Group) (snapshot, error) {
	r, err := store.Open(dir)
	if err != nil {
		return snapshot{}, err
	}
	j := r.Job()
	g, err := j.Study.Group.Open(context.Background(), nil, groups...)
	if err != nil {
		return snapshot{}, fmt.Errorf("job.json: group: %w; another version of nero wrote it", err)
	}
	axes := len(g.Chart())
	for i, e := range j.Elements {
		if len(e) != axes {
			return snapshot{}, fmt.Errorf("job.json: element %d has %d coordinates, expected %d for %s", i, len(e),
				axes, g.Name())
		}
	}
	at := snapshot{run: r, group: g, files: files, about: new(about), shards: len(j.Shards())}
	if !r.Complete() {
		at.done, at.shards = make([]bool, at.shards), 0
		at = at.further(dir)
	}
	return at, nil
}

// further is an unfinished run with the shards that have come since.
func (s snapshot) further(dir string) snapshot {
	next := s
	for i, done := range s.done {
		// The name is looked for first: it costs less than reading a marker that is not there.
		if done || !marked(dir, s.run, i) || !s.run.Done(i) {
			continue
		}
		if next.shards == s.shards {
			next.done = slices.Clone(s.done)
		}
		next.done[i] = true
		next.shards++
	}
	return next
}

func (s *source) now() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// look looks at a run again and reports whether there is more of it, or another one in its place. It fails if what is
// there now does not open. Only one caller may look at a time; those who ask for the state meanwhile do not wait for
// the disk.
func (s *source) look() (changed bool, err error) {
	old := s.now()
	files := filesOf(s.dir)
	if sameFile(files[0], old.files[0]) && sameFile(files[1], old.files[1]) {
		if old.complete() {
			return false, nil
		}
		next := old.further(s.dir)
		if next.shards == old.shards {
			return false, nil
		}
		next.generation = s.cache.next()
		s.set(next)
		return true, nil
	}
	next, err := readRun(s.dir, files, s.groups)
	if err != nil {
		return false, err
	}
	next.generation, next.epoch = s.cache.next(), s.cache.next()
	if sameFile(files[0], old.files[0]) && !old.complete() && next.complete() && next.run.Hash() == old.run.Hash() {
		next.epoch = old.epoch // it has come to its end, and its rows are those that were read
	}
	s.set(next)
	if next.epoch != old.epoch && s.live != nil {
		s.live.renew()
	}
	return true, nil
}

func (s *source) set(next snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = next
}

func marked(dir string, r *store.Run, shard int) bool {
	_, err := os.Stat(filepath.Join(dir, "shards-"+r.Hash()[:12], fmt.Sprintf("%05d.json", shard)))
	return err == nil
}

// covers reports whether a value that was made of some shards has all that a snapshot has. Nil stands for all shards.
func covers(have []bool, s snapshot) bool {
	if have == nil {
		return true
	}
	if s.complete() {
		return !slices.Contains(have, false)
	}
	for i, done := range s.done {
		if done && !have[i] {
			return false
		}
	}
	return true
}

// curves is one metric of one model over all samples of a job.
type curves struct {
	// samples x elements, NaN where there is none
	values []float32
	// shards that are in it; nil for all
	have []bool
}

var missing = float32(math.NaN())

func filled(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = missing
	}
	return v
}

// curves reads a metric of a model, or has it already.
func (s *source) curves(at snapshot, model int, metric string, index int) ([]float32, error) {
	v, err := s.cache.get(key{id: s.id, generation: at.epoch, kind: kindCurves, model: model, metric: index},
		func(v any) bool {
			c, ok := v.(*curves)
			return ok && covers(c.have, at)
		}, func(old any) (any, int64, error) {
			before, _ := old.(*curves) // nil if there is none
			c, err := s.readCurves(at, model, metric, before)
			if err != nil {
				return nil, 0, err
			}
			return c, int64(4*len(c.values)) + 64, nil
		})
	if err != nil {
		return nil, s.clean(err)
	}
	return v.(*curves).values, nil //nolint:errcheck,forcetypeassert // what was put in under this key
}

func (s *source) readCurves(at snapshot, model int, metric string, before *curves) (*curves, error) {
	j := at.run.Job()
	e := len(j.Elements)
	if before == nil {
		c, err := at.run.Curves(model, metric)
		if err != nil {
			return nil, err
		}
		if len(c.Index) == j.Count {
			return &curves{values: c.Values}, nil
		}
		out := &curves{values: filled(j.Count * e), have: make([]bool, len(j.Shards()))}
		for i, k := range c.Index {
			copy(out.values[k*e:(k+1)*e], c.Curve(i))
			out.have[k/j.Shard] = true
		}
		return out, nil
	}
	out := &curves{values: slices.Clone(before.values), have: slices.Clone(before.have)}
	for _, sh := range j.Shards() {
		if out.have[sh.Index] || !at.complete() && !at.done[sh.Index] {
			continue
		}
		for r, err := range at.run.Rows(store.Filter{
			Models: []int{model}, Metrics: []string{metric}, Lo: sh.Lo,
			Hi: sh.Hi, NoTop: true,
		}) {
			if err != nil {
				return nil, err
			}
			copy(out.values[r.Index*e:(r.Index+1)*e], r.Curves[0])
			out.have[sh.Index] = true
		}
	}
	return out, nil
}

// rows is what the rows of one model say beside the curves.
type rows struct {
	// "" where a sample is not computed yet
	ids []string
	// -1 without
	labels []int32
	tags   map[int][]string
	errs   map[int]string
	// samples x elements, -1 where there is none; nil without classes or if it was not asked for
	top []int32
	// shards that are in it; nil for all
	have []bool
	size int64
}

// names are the model under which names of samples are cached: rows without classes, of the first model, with the
// errors of all.
const names = -1

// names reads the samples of a run.
func (s *source) names(at snapshot) (*rows, error) { return s.rows(at, names) }

// top reads the predicted classes of a model; nil if the output has none.
func (s *source) top(at snapshot, model int) ([]int32, error) {
	if at.run.Job().Classes == 0 {
		return nil, nil
	}
	r, err := s.rows(at, model)
	if err != nil {
		return nil, err
	}
	return r.top, nil
}

func (s *source) rows(at snapshot, model int) (*rows, error) {
	v, err := s.cache.get(key{id: s.id, generation: at.epoch, kind: kindRows, model: model}, func(v any) bool {
		r, ok := v.(*rows)
		return ok && covers(r.have, at)
	}, func(old any) (any, int64, error) {
		before, _ := old.(*rows) // nil if there is none
		r, err := s.readRows(at, model, before)
		if err != nil {
			return nil, 0, err
		}
		return r, r.size, nil
	})
	if err != nil {
		return nil, s.clean(err)
	}
	return v.(*rows), nil //nolint:errcheck,forcetypeassert // what was put in under this key
}

// readRows reads rows of a model, those of shards that came since the last time if it has them.
func (s *source) readRows(at snapshot, model int, before *rows) (*rows, error) {
	j := at.run.Job()
	e := len(j.Elements)
	shards := j.Shards()
	out := &rows{errs: map[int]string{}, tags: map[int][]string{}}
	switch {
	case before != nil:
		out.ids, out.labels, out.top, out.have = slices.Clone(before.ids), slices.Clone(before.labels),
			slices.Clone(before.top), slices.Clone(before.have)
		maps.Copy(out.errs, before.errs)
		maps.Copy(out.tags, before.tags)
	case model == names:
		out.ids, out.labels = make([]string, j.Count), make([]int32, j.Count)
		for i := range out.labels {
			out.labels[i] = -1
		}
	default:
		out.top = make([]int32, j.Count*e)
		for i := range out.top {
			out.top[i] = -1
		}
	}
	if out.have == nil {
		out.have = make([]bool, len(shards))
	}
	var todo []job.Shard
	for _, sh := range shards {
		if !out.have[sh.Index] && (at.complete() || at.done[sh.Index]) {
			todo = append(todo, sh)
			out.have[sh.Index] = true
		}
	}
	f := store.Filter{Metrics: []string{}, NoTop: model == names}
	switch failed := at.run.Manifest(); {
	case model != names:
		f.Models = []int{model}
	case failed != nil && failed.Failed == 0:
		f.Models = []int{0} // nothing is to be learned from the others
	}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for part := range slices.Chunk(todo, max(1, len(todo)/16)) {
		g.Go(func() error {
			for _, sh := range part {
				f := f
				f.Lo, f.Hi = sh.Lo, sh.Hi
				for r, err := range at.run.Rows(f) {
					if err != nil {
						return err
					}
					if model != names {
						copy(out.top[r.Index*e:(r.Index+1)*e], r.Top)
						continue
					}
					if r.Model == 0 {
						out.ids[r.Index], out.labels[r.Index] = r.Sample, int32(r.Label)
					}
					if r.Err == "" && len(r.Tags) == 0 {
						continue
					}
					mu.Lock()
					if r.Model == 0 && len(r.Tags) > 0 {
						out.tags[r.Index] = r.Tags
					}
					if r.Err != "" && out.errs[r.Index] == "" {
						out.errs[r.Index] = s.scrub(r.Err)
					}
					mu.Unlock()
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if !slices.Contains(out.have, false) {
		out.have = nil
	}
	out.size = int64(4*len(out.top)+20*len(out.labels)) + 64
	for _, id := range out.ids {
		out.size += int64(len(id))
	}
	for _, t := range out.tags {
		out.size += int64(48 + 32*len(t))
	}
	return out, nil
}

// fold is the summary of a complete run; nil if there is none that belongs to it.
func (s *source) fold(at snapshot) *fold.Summary {
	if !at.complete() {
		return nil
	}
	at.about.summaryOnce.Do(func() { at.about.summary, at.about.summaryErr = readSummary(at.run) })
	return at.about.summary
}

func readSummary(r *store.Run) (*fold.Summary, error) {
	b, err := r.ReadFile("summary.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // a run may have none
	}
	if err != nil {
		return nil, fmt.Errorf("the numbers are computed anew from the rows, without the scale of the outputs and the "+
			"names of the classes: %w", err)
	}
	sum := new(fold.Summary)
	if err := json.Unmarshal(b, sum); err != nil {
		return nil, fmt.Errorf("summary.json: %w", err)
	}
	j := r.Job()
	if sum.Format != fold.Format || sum.Job != r.Hash() || len(sum.Models) != len(j.Models) ||
		len(sum.Metrics) != len(j.Metrics) ||
		len(sum.Slices) == 0 || len(sum.Curves) != len(sum.Models)*len(sum.Metrics)*len(sum.Slices) {
		return nil, errors.New("summary.json does not belong to this run; the command that made the run writes it anew")
	}
	for i := range sum.Curves {
		if len(sum.Curves[i].Mean) != len(j.Elements) {
			return nil, fmt.Errorf("summary.json: curve %d has %d values, expected %d", i, len(sum.Curves[i].Mean),
				len(j.Elements))
		}
	}
	return sum, nil
}
