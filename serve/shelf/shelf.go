// Package shelf holds the runs, audits and sheets that a server shows: it finds them in folders, reads their numbers as
// they
// are asked for, sums up any set of their samples, and notices what is new.
//
// Nothing that leaves the package says where a folder or a file lies: documents and errors hold names alone.
package shelf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nero/measure/metric"
	"nero/present/view"
	"nero/run/job"
	"nero/run/store"
	"nero/serve/api"
	"nero/symmetry/group"
)

type jobModel = job.ModelRef

// Options say how runs are shown.
type Options struct {
	// Probe opens what answers live probes of a run; it is called at most once for each, when somebody first looks at
	// it, and may take its time. Nil: nothing is live.
	Probe func(ctx context.Context, r *store.Run) (Prober, error)
	// CacheBytes bounds the numbers that are kept in memory, beside those in use; default [PresetCache].
	CacheBytes int64
	// default: none
	Log *slog.Logger
	// of the program
	Version string
	// default: time.Now
	Now func() time.Time
	// Metrics are those that the program knows; nil for [metric.Builtin].
	Metrics metric.List
	// Groups are those of runs beside those of package catalog.
	Groups []group.Group
	// Coarse shows the coarse levels of runs that are not complete, each as a run beside its own.
	Coarse bool
	// Planned says how far a planned audit is, of the folder dir, which people know as place; nil: those are not shown.
	Planned func(ctx context.Context, dir, place string) (*api.Planned, error)
}

// PresetCache is how many bytes of numbers are kept in memory. A server is to stay near 500 MB: of a run of 100,000
// samples at 72 elements, it holds ten arrays of 29 MB, and the rest is for the program, its models, and what is being
// worked on.
const PresetCache = 320_000_000

// Shelf is runs and audits. It is safe for concurrent use.
type Shelf struct {
	o Options
	// how often folders are looked through at most
	pace time.Duration
	// bytes of curves above which they are read shard by shard where that will do
	mostHeld   int
	cache      *cache
	ctx        context.Context //nolint:containedctx // of what runs in the background until Close
	stop       context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex
	roots   []string
	sources []*source
	audits  []*record
	sheets  []*sheet
	planned []api.Planned
	// by file or folder
	broken map[string]fault
	// of broken
	order []string
	ids   map[string]bool
	// grows with every change of the audits
	version int
	looked  time.Time
	// the last time
	took   time.Duration
	closed bool
	// held while folders are looked through
	looking  sync.Mutex
	joined   map[string]*Run
	watchers map[chan api.Event]bool
	// of single runs, the newest
	shown map[string]*Run
}

// fault is something that could not be opened, and how the file looked then.
type fault struct {
	api.Broken

	stamp string
}

// Open opens what is to be shown: a path is the folder of a run, a folder or file of an audit or of a sheet, or a
// folder
// that holds such folders, like the one that nero demo writes. Beside a run or an audit its sheets are shown, too. What
// is damaged is listed among the problems, and the others are
// shown; the error is for nothing to show at all at any of the paths. Without a path the shelf is empty. Close the
// shelf when done. The context ends what runs in the
// background.
func Open(ctx context.Context, paths []string, o Options) (*Shelf, error) {
	if o.CacheBytes <= 0 {
		o.CacheBytes = PresetCache
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // it paces looking for news, and is in no result
	}
	s := &Shelf{
		o: o, pace: time.Second, mostHeld: mostHeld,
		cache: newCache(o.CacheBytes), broken: map[string]fault{}, ids: map[string]bool{},
		joined:   map[string]*Run{},
		watchers: map[chan api.Event]bool{}, shown: map[string]*Run{},
	}
	s.ctx, s.stop = context.WithCancel(ctx)
	for _, p := range paths {
		full, err := filepath.Abs(p)
		if err != nil {
			s.stop()
			return nil, fmt.Errorf("%s: the current folder is not known; give the full path", filepath.Base(p))
		}
		if !slices.Contains(s.roots, full) {
			s.roots = append(s.roots, full)
		}
	}
	s.looking.Lock()
	s.look()
	s.looking.Unlock()
	if len(paths) > 0 && len(s.sources) == 0 && len(s.audits) == 0 && len(s.sheets) == 0 && len(s.planned) == 0 {
		var errs []error
		for _, p := range s.order {
			b := s.broken[p]
			if b.Remedy == appears || b.Remedy == later {
				errs = append(errs, fmt.Errorf("%s: %s", b.Name, b.Detail))
				continue
			}
			errs = append(errs, fmt.Errorf("%s: %s; %s", b.Name, b.Detail, b.Remedy))
		}
		s.stop()
		return nil, errors.Join(append(errs, errors.New(
			"there is nothing to show: give the folder of a run (nero run -o), of an audit (nero audit -o), or one "+
				"that holds such folders; nero demo makes one"))...)
	}
	return s, nil
}

// appears is the remedy of a path where nothing is yet.
const appears = "give the folder of a run or an audit, or a file of what nero found; one that appears later is shown " +
	"then"

// later is the remedy of a folder that holds nothing to show yet.
const later = "give the folder of a run, which has a file job.json, or of an audit, which has audit.json; one that " +
	"appears later is shown then"

// Close ends what runs in the background and releases models.
func (s *Shelf) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.background.Wait()
	var errs []error
	s.mu.Lock()
	sources := slices.Clone(s.sources)
	s.mu.Unlock()
	for _, src := range sources {
		errs = append(errs, src.live.close())
	}
	return errors.Join(errs...)
}

// goes begins something in the background, unless the shelf is being closed: a request can outlast the server that got
// it.
func (s *Shelf) goes(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.background.Go(f)
	return true
}

// Warm begins to read, in the background, what the page of a run asks first, if one run alone is shown: it is there by
// the time that a browser has started. Nothing waits for it, and what cannot be read is said when it is asked for.
func (s *Shelf) Warm() {
	s.mu.Lock()
	sources := slices.Clone(s.sources)
	s.mu.Unlock()
	if len(sources) != 1 {
		return
	}
	s.goes(func() {
		r := s.of(sources[0])
		_ = r.Document()
		if _, err := r.Samples(); err != nil || len(r.metrics) == 0 {
			return
		}
		for m := range min(2, len(r.models)) {
			if s.ctx.Err() != nil {
				return
			}
			if _, err := r.Stats(m, 0); err != nil {
				return
			}
		}
	})
}

func (s *Shelf) log() *slog.Logger { return s.o.Log }

// refresh looks for what is new, unless somebody did a moment ago, or is doing it: who comes meanwhile is shown what is
// known.
func (s *Shelf) refresh() {
	if !s.looking.TryLock() {
		return
	}
	defer s.looking.Unlock()
	s.restLives()
	s.mu.Lock()
	old := s.o.Now().Sub(s.looked) >= max(s.pace, min(calm*s.took, slowest))
	s.mu.Unlock()
	if !old {
		return
	}
	version := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.version
	}
	before := version()
	s.look()
	if version() != before {
		s.send(api.Event{List: true})
	}
}

// found is a run folder or an audit file, or the folder of an audit that is planned.
type found struct {
	path    string
	audit   bool
	planned bool
	// of sheets
	kind *sheetKind
	// name of the folder that it was found in, "" if it was named itself
	under string
}

// mostFound bounds what one path can hold, mostDeep how far below it folders are looked for, and mostVisited how many
// of them are looked into: a path can be a home folder.
const (
	mostFound   = 10_000
	mostDeep    = 2
	mostVisited = 20_000
)

// calm is how many times as long as a look took passes at least until the next one, which bounds what looking takes of
// the machine, and slowest is the longest that news has to wait for that.
const (
	calm    = 50
	slowest = time.Minute
)

// seeker looks for runs and audits below a path.
type seeker struct {
	out []found
	// coarse levels of unfinished runs count, planned audits count
	coarse, planned bool
	// folders that may still be looked into
	visit int
	// there were more
	more bool
}

// search lists what is at a path. It fails only for a path that cannot be looked at, or is a file of another kind.
func search(root string, most int, coarse, planned bool) (_ []found, more bool, _ error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, false, err
	}
	s := seeker{visit: most, coarse: coarse, planned: planned}
	if !info.IsDir() {
		k := kindOf(root)
		switch {
		case k != nil:
			s.out = []found{{path: root, kind: k}}
			s.besides(k, filepath.Dir(root), mostDeep)
		case filepath.Ext(root) == ".json" && filepath.Base(root) != "job.json":
			s.out = []found{{path: root, audit: true}}
			s.sheetsIn(filepath.Dir(root), "", mostDeep)
		default:
			return nil, false, errors.New("it is neither a folder nor a file of what nero found: audit.json, " +
				"repair.json, discovery.json, data.json, answers.yaml, watch.json, weights.json, embedding.json " +
				"or repeat.json")
		}
		return s.out, false, nil
	}
	err = s.into(root, "", 0)
	if started(root) || slices.ContainsFunc(s.out, func(f found) bool {
		return f.audit && filepath.Dir(f.path) == root
	}) {
		s.sheetsIn(filepath.Dir(root), "", mostDeep) // beside a run or an audit
	}
	return s.out, s.more, err
}

// into lists what is in a folder: the run or the audit that it holds, else what is in the folders in it.
func (s *seeker) into(dir, under string, depth int) error {
	if s.visit <= 0 || len(s.out) >= mostFound {
		s.more = true
		return nil
	}
	s.visit--
	s.sheetsIn(dir, under, depth)
	is := false
	for _, name := range []string{"job.json", "audit.json"} {
		audit := name == "audit.json"
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			f := found{path: dir, audit: audit, under: under}
			if audit {
				f.path = filepath.Join(dir, name)
			}
			s.out, is = append(s.out, f), true
			if first := filepath.Join(dir, store.Coarse); s.coarse && !audit && unfinished(dir) && started(first) {
				s.out = append(s.out, found{path: first, under: under})
			}
		}
	}
	if info, err := os.Stat(filepath.Join(dir, planName)); s.planned && !is && err == nil && info.Mode().IsRegular() {
		s.out, is = append(s.out, found{path: dir, planned: true, under: under}), true
	}
	if is || depth == mostDeep {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if depth > 0 {
			return nil // not ours to read
		}
		return err
	}
	for _, e := range entries {
		if s.more {
			return nil
		}
		if !strings.HasPrefix(e.Name(), ".") && (e.IsDir() || e.Type()&fs.ModeSymlink != 0) {
			if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
				_ = s.into(filepath.Join(dir, e.Name()), filepath.Base(dir), depth+1) // below the first, nothing fails
			}
		}
	}
	return nil
}

// planName is the file of a planned audit.
const planName = "audit-plan.json"

// unfinished reports whether a run folder lacks its manifest, and started whether a folder holds a run.
func unfinished(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "manifest.json"))
	return errors.Is(err, fs.ErrNotExist)
}

func started(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "job.json"))
	return err == nil
}

// look looks through all folders, and tells who watches what has changed. The lock of looking is held.
func (s *Shelf) look() {
	began := s.o.Now()
	bad := map[string]fault{}
	var order []string
	fail := func(path string, name string, err error, remedy string) {
		if _, ok := bad[path]; !ok {
			bad[path] = fault{
				Broken: api.Broken{Name: name, Detail: scrub(err.Error()), Remedy: remedy},
				stamp:  stamp(path),
			}
			order = append(order, path)
		}
	}
	type change struct {
		src *source
		new bool
	}
	var changes []change
	refuse := func(f found, key string, err error) {
		remedy := "run the command that made it again, or leave it out"
		if text, damaged := strings.CutSuffix(err.Error(), "; "+store.Remedy); damaged {
			err, remedy = errors.New(text), store.Remedy+", or leave it out"
		}
		if errors.Is(err, store.ErrIncompatible) {
			remedy = "open it with a nero that is at least as new as the one that made it"
		}
		fail(key, filepath.Base(f.path), err, remedy)
	}
	seen := map[string]bool{}
	planned := []api.Planned{}
	for _, root := range s.roots {
		all, more, err := search(root, mostVisited, s.o.Coarse, s.o.Planned != nil)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = errors.New("there is no such file or folder")
			}
			fail(root, filepath.Base(root), err, appears)
			continue
		}
		if more {
			fail(root, filepath.Base(root),
				fmt.Errorf("it holds more than %d folders, and what is in the others is not shown", mostVisited),
				"name folders of runs, or one that holds little else")
		} else if len(all) == 0 {
			fail(root, filepath.Base(root), errors.New("it holds neither runs nor audits, nor what nero repair, "+
				"discover, data, identify, watch, weights, embed or repeat wrote"), later)
		}
		for _, f := range all {
			key := f.path
			if (f.audit || f.kind != nil) && f.path != root {
				// The folder may be a link; the file in it must not lead out of it.
				if target, err := filepath.EvalSymlinks(filepath.Dir(f.path)); err == nil {
					key = filepath.Join(target, filepath.Base(f.path))
				}
			} else if target, err := filepath.EvalSymlinks(f.path); err == nil {
				key = target
			}
			if seen[key] {
				continue
			}
			seen[key] = true
			if f.planned {
				p, err := s.o.Planned(s.ctx, f.path, placeOf(root, f.path))
				if err != nil {
					fail(key, filepath.Base(f.path), bareOf(f.path, key, err),
						"plan the audit anew into another folder")
				} else if p != nil {
					p.Name, p.Folder = filepath.Base(f.path), placeOf(root, f.path)
					planned = append(planned, *p)
				}
				continue
			}
			s.mu.Lock()
			i := slices.IndexFunc(s.sources, func(o *source) bool { return o.dir == key })
			before, failed := s.broken[key]
			s.mu.Unlock()
			if i >= 0 {
				src := s.sources[i]
				heard := src.listen()
				switch changed, err := src.look(); {
				case err != nil:
					if _, gone := os.Stat(filepath.Join(key, "job.json")); !errors.Is(gone, fs.ErrNotExist) {
						refuse(f, key, bareOf(f.path, key, err))
					}
					s.drop(src)
				case changed:
					src.watch()
					changes = append(changes, change{src, false})
				case src.watch():
					s.tell(src)
				}
				if heard {
					s.toldRemarks(src)
				}
				continue
			}
			if failed && before.stamp == stamp(key) {
				bad[key] = before
				order = append(order, key)
				continue
			}
			if f.audit {
				s.lookAudit(f, key, fail)
				continue
			}
			if f.kind != nil {
				s.lookSheet(f, key, fail)
				continue
			}
			src, err := s.source(root, f, key)
			if err != nil {
				refuse(f, key, err)
				continue
			}
			src.watch()
			src.listen()
			changes = append(changes, change{src, true})
		}
	}
	for _, src := range slices.Clone(s.sources) {
		if _, err := os.Stat(filepath.Join(src.dir, "job.json")); !seen[src.dir] && errors.Is(err, fs.ErrNotExist) {
			s.drop(src)
		}
	}
	s.dropAudits()
	s.dropSheets()
	s.mu.Lock()
	s.broken, s.order = bad, order
	further := !reflect.DeepEqual(s.planned, planned)
	if len(planned) != len(s.planned) {
		s.version++
	}
	s.planned = planned
	s.looked = s.o.Now()
	s.took = s.looked.Sub(began)
	s.mu.Unlock()
	if further && len(planned) > 0 {
		s.send(api.Event{Planned: planned})
	}
	for _, c := range changes {
		if !c.new {
			at := c.src.now()
			s.cache.forget(c.src.id, at.generation, at.epoch)
		}
		s.tell(c.src)
	}
}

// stamp changes when the files that decide whether a folder opens change.
func stamp(path string) string {
	var b strings.Builder
	for _, name := range []string{path, filepath.Join(path, "job.json"), filepath.Join(path, "manifest.json")} {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintf(&b, "%d %d,", info.Size(), info.ModTime().UnixNano())
		} else {
			b.WriteString("-,")
		}
	}
	return b.String()
}

// bared is an error whose text says nothing of where files lie.
type bared struct {
	text string
	err  error
}

func (b bared) Error() string { return b.text }

func (b bared) Unwrap() error { return b.err }

// bareOf takes the folder of a run, under the name by which it was found and under its own, out of an error.
func bareOf(path, dir string, err error) error {
	bare := &source{dir: path, name: filepath.Base(path)}
	return bared{bare.scrub((&source{dir: dir, name: filepath.Base(dir)}).scrub(err.Error())), err}
}

// drop takes a run that is not there any more, or cannot be opened any more, off the shelf. The lock of looking is
// held.
func (s *Shelf) drop(src *source) {
	of := func(id string) bool { return slices.Contains(strings.Split(id, "+"), src.id) }
	s.mu.Lock()
	s.sources = slices.DeleteFunc(slices.Clone(s.sources), func(o *source) bool { return o == src })
	delete(s.ids, src.id)
	delete(s.shown, src.id)
	s.version++
	maps.DeleteFunc(s.joined, func(id string, _ *Run) bool { return of(id) })
	s.mu.Unlock()
	s.cache.clear(func(k key) bool { return of(k.id) })
	src.live.renew()
	s.send(api.Event{Gone: src.id})
}

// dropAudits takes audits whose file is not there any more off the shelf.
func (s *Shelf) dropAudits() {
	s.mu.Lock()
	audits := slices.Clone(s.audits)
	s.mu.Unlock()
	for _, a := range audits {
		if _, err := os.Stat(a.file); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		s.mu.Lock()
		s.audits = slices.DeleteFunc(slices.Clone(s.audits), func(o *record) bool { return o == a })
		delete(s.ids, a.id)
		s.version++
		s.mu.Unlock()
	}
}

// source opens a run folder that is new.
func (s *Shelf) source(root string, f found, dir string) (*source, error) {
	src, err := openSource(dir, s.cache, s.o.Groups)
	if err != nil {
		return nil, bareOf(f.path, dir, err)
	}
	src.live = &live{open: s.opener(src), now: s.o.Now, goes: s.goes, ctx: s.ctx}
	src.live.told = func(news bool) {
		if news {
			s.tell(src)
		}
		s.restLives()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	src.name = s.nameOf(f.path, f.under, func(name string) bool {
		return slices.ContainsFunc(s.sources, func(o *source) bool { return o.name == name })
	})
	src.id = s.identify(src.name)
	src.folder = placeOf(root, f.path)
	s.sources = append(s.sources, src)
	s.version++
	return src, nil
}

// nameOf is the name of a folder, led by that of the folder around it if another one has the same. The lock is held.
func (s *Shelf) nameOf(path, under string, taken func(string) bool) string {
	name := filepath.Base(path)
	if name == store.Coarse {
		name = filepath.Base(filepath.Dir(path)) + coarseLevel
	}
	if taken(name) {
		if under == "" {
			under = filepath.Base(filepath.Dir(path))
		}
		name = under + "/" + name
	}
	return name
}

// coarseLevel ends the name of a run's coarse level.
const coarseLevel = ", coarse level"

// identify makes an id from a name. The lock is held.
func (s *Shelf) identify(name string) string {
	id := view.Slug(name)
	for n := 2; s.ids[id]; n++ {
		id = view.Slug(name) + "-" + strconv.Itoa(n)
	}
	s.ids[id] = true
	return id
}

// lookAudit reads an audit that is new or has changed.
func (s *Shelf) lookAudit(f found, key string, fail func(string, string, error, string)) {
	info, err := os.Stat(key)
	s.mu.Lock()
	i := slices.IndexFunc(s.audits, func(a *record) bool { return a.file == key })
	s.mu.Unlock()
	if err == nil && i >= 0 && s.audits[i].size == info.Size() && s.audits[i].modified.Equal(info.ModTime()) {
		return
	}
	a, err := readAudit(key)
	if err != nil {
		fail(key, filepath.Base(filepath.Dir(f.path))+"/"+filepath.Base(f.path), err,
			"run the audit again with --format json")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	if i >= 0 {
		a.id, a.name = s.audits[i].id, s.audits[i].name
		s.audits[i] = a
		return
	}
	folder := filepath.Dir(f.path)
	a.name = s.nameOf(folder, f.under, func(name string) bool {
		return slices.ContainsFunc(s.audits, func(o *record) bool { return o.name == name })
	})
	a.id = s.identify(a.name)
	s.audits = append(s.audits, a)
}

// versions say what else than its rows a document of a run shows.
func (s *Shelf) versions(r *Run) [2]int {
	ready := 0
	for _, p := range r.parts {
		if p.live.ready() {
			ready++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return [2]int{s.version, ready + 1}
}

// Runs lists what there is.
func (s *Shelf) Runs() *api.Runs {
	s.refresh()
	s.mu.Lock()
	sources := slices.Clone(s.sources)
	s.mu.Unlock()
	o := &api.Runs{
		Version: s.o.Version, Runs: []api.RunCard{}, Audits: []api.Audit{}, Sheets: []api.Sheet{},
		Planned: []api.Planned{}, Problems: []api.Broken{},
	}
	for _, src := range sources {
		o.Runs = append(o.Runs, s.listedRun(src))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.audits {
		o.Audits = append(o.Audits, s.listed(a))
	}
	for _, a := range s.sheets {
		o.Sheets = append(o.Sheets, s.listedSheet(a))
	}
	o.Planned = append(o.Planned, s.planned...)
	for _, p := range s.order {
		o.Problems = append(o.Problems, s.broken[p].Broken)
	}
	return o
}

// listedRun is the card of a run as it is now.
func (s *Shelf) listedRun(src *source) api.RunCard {
	c := s.of(src).card()
	src.underway(&c.State, s.o.Now())
	return c
}

// of is the newest Run of a source.
func (s *Shelf) of(src *source) *Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.shown[src.id]
	if r == nil || r.parts[0].source != src || r.generation != src.now().generation {
		r = s.single(src)
		s.shown[src.id] = r
	}
	return r
}

// mostJoined bounds the pairs of runs that are kept.
const mostJoined = 16

// Run is a run by its id, or two of them as "A+B": their models side by side over the samples, by name and label, that
// both have, in the order of the first. The error wraps [ErrUnknown] for an id that is not there, and [ErrNotTogether]
// for runs over other groups or elements.
func (s *Shelf) Run(id string) (*Run, error) {
	s.refresh()
	ids := strings.Split(id, "+")
	if len(ids) > 2 {
		return nil, fmt.Errorf("run %.100q: %w; at most two runs are laid side by side", id, ErrUnknown)
	}
	var sources []*source
	for _, one := range ids {
		s.mu.Lock()
		i := slices.IndexFunc(s.sources, func(o *source) bool { return o.id == one })
		if i < 0 {
			s.mu.Unlock()
			return nil, fmt.Errorf("run %.100q: %w", one, ErrUnknown)
		}
		sources = append(sources, s.sources[i])
		s.mu.Unlock()
	}
	if len(sources) == 1 {
		return s.of(sources[0]), nil
	}
	generation := sources[0].now().generation + sources[1].now().generation
	s.mu.Lock()
	r := s.joined[id]
	s.mu.Unlock()
	if r != nil && r.generation == generation && r.parts[0].source == sources[0] && r.parts[1].source == sources[1] {
		return r, nil
	}
	r, err := s.join(sources[0], sources[1])
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if len(s.joined) >= mostJoined {
		clear(s.joined)
	}
	s.joined[id] = r
	s.mu.Unlock()
	s.cache.forget(id, r.generation, 0)
	return r, nil
}
