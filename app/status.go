package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nero/present/words"
	"nero/run/job"
	"nero/run/store"
	"nero/run/store/object"
)

// Status is how far a run is, read from its folder: whoever works on it, and wherever.
type Status struct {
	// Job is the hash of the job.
	Job string `json:"job"`
	// Shards is how many there are, Kept how many of them are kept, and Todo which are not, as "0-4,7".
	Shards int    `json:"shards"`
	Kept   int    `json:"kept"`
	Todo   string `json:"todo"`
	// Samples is how many there are, Done how many of them are in kept shards, and Failed how many rows have an error.
	Samples int `json:"samples"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	// Rate is samples a second over the last shards, 0 where that cannot be said.
	Rate float64 `json:"rate"`
	// Paused is how many seconds of the time of these shards nobody worked; they are not in the rate.
	Paused float64 `json:"paused,omitempty"`
	// Left is about how many seconds of work are left at that rate, absent where that cannot be said.
	Left *float64 `json:"left,omitempty"`
	// Quiet is for how many seconds no shard was kept, by the clock of this machine; absent without a shard.
	Quiet *float64 `json:"quiet,omitempty"`
	// Complete says that the run has its manifest.
	Complete bool `json:"complete"`
	// Elements is how many the run visits.
	Elements int `json:"elements"`
	// Coarse is how far the coarse level is, nil where there is none.
	Coarse *Status `json:"coarse,omitempty"`
	// Dir is the run folder.
	Dir string `json:"-"`
}

// Watch reads again and again how far a run is, and what changed alone.
type Watch struct {
	dir   string
	now   func() time.Time
	job   *job.Job
	hash  string
	known map[int]bool
	kept  []store.Kept
	// of the coarse level, nil where there is none
	coarse *Watch
	// nil for a folder
	bucket *object.Run
	// of an audit; nil for a run
	audit *auditPlan
}

// Watch opens a run, in a folder or a bucket, to be looked at.
func (a *App) Watch(ctx context.Context, dir string) (*Watch, error) {
	if object.Is(dir) {
		w, err := a.watchBucket(ctx, dir)
		return w, again(err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if p, err := plannedAudit(abs); err != nil || p != nil {
		return &Watch{dir: abs, now: a.Now, audit: p, known: map[int]bool{}}, err
	}
	j, err := store.Planned(abs)
	if err != nil {
		return nil, unplanned(dir, err)
	}
	hash, err := j.Hash()
	return &Watch{dir: abs, now: a.Now, job: j, hash: hash, known: map[int]bool{}}, err
}

// look reads which shards are kept beside those that are known, and whether the run is complete.
func (w *Watch) look(ctx context.Context) (complete bool, err error) {
	if w.bucket != nil {
		now, err := w.bucket.State(ctx, w.job, w.hash)
		if err != nil {
			return false, again(err)
		}
		w.kept = now.Kept
		for _, k := range now.Kept {
			w.known[k.Index] = true
		}
		return now.Complete, nil
	}
	r, err := store.Open(w.dir)
	if err != nil {
		return false, err
	}
	if r.Hash() != w.hash {
		return false, fmt.Errorf("%s is the folder of another run now", w.dir)
	}
	for _, k := range r.Kept(w.known) {
		w.known[k.Index], w.kept = true, append(w.kept, k)
	}
	return r.Complete(), nil
}

// todo are the shards that were not kept when it was looked last.
func (w *Watch) todo() (todo []job.Shard) {
	for _, x := range w.shards() {
		if !w.known[x.Index] {
			todo = append(todo, x)
		}
	}
	return todo
}

// shards are those of the run or of the audit.
func (w *Watch) shards() []job.Shard {
	if w.audit != nil {
		return w.audit.indexes()
	}
	return w.job.Shards()
}

// Status is how far the run, or the audit, is now. Markers of shards are believed, and the rows of none are read; of
// an audit, whose shards have none, each is held against its checksum once.
func (w *Watch) Status(ctx context.Context) (*Status, error) {
	if w.audit != nil {
		return w.audited(), nil
	}
	complete, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	s := &Status{
		Job: w.hash, Samples: w.job.Count, Complete: complete, Dir: w.dir, Elements: len(w.job.Elements),
	}
	if !s.Complete && w.bucket == nil {
		s.Coarse = w.first(ctx)
	}
	return w.count(s), nil
}

// audited is how far a planned audit is.
func (w *Watch) audited() *Status {
	for _, x := range w.audit.indexes() {
		if w.known[x.Index] {
			continue
		}
		// A damaged one is made again, and the merge says so, too.
		if at, sound := w.audit.sound(w.dir, x.Index); sound {
			w.known[x.Index], w.kept = true, append(w.kept, store.Kept{Shard: x, At: at})
		}
	}
	_, err := os.Stat(filepath.Join(w.dir, AuditFile("json")))
	return w.count(&Status{Job: w.audit.id, Samples: w.audit.samples(), Complete: err == nil, Dir: w.dir})
}

// count says of how many of all shards are kept, and how fast they come.
func (w *Watch) count(s *Status) *Status {
	slices.SortFunc(w.kept, func(a, b store.Kept) int { return a.At.Compare(b.At) })
	s.Kept, s.Shards, s.Todo = len(w.kept), len(w.shards()), store.Indexes(w.todo())
	for _, k := range w.kept {
		s.Done += k.Hi - k.Lo
		s.Failed += k.Failed
	}
	paused := time.Duration(0)
	s.Rate, paused = rate(w.kept)
	s.Paused = paused.Seconds()
	if s.Kept == s.Shards {
		return s
	}
	if s.Rate > 0 {
		left := float64(s.Samples-s.Done) / s.Rate
		s.Left = &left
	}
	if w.now != nil && len(w.kept) > 0 {
		quiet := max(0, w.now().Sub(w.kept[len(w.kept)-1].At).Seconds()) // clocks differ
		s.Quiet = &quiet
	}
	return s
}

// first is how far the coarse level of a run is, nil where there is none.
func (w *Watch) first(ctx context.Context) *Status {
	if w.coarse == nil {
		j, err := store.Planned(filepath.Join(w.dir, store.Coarse))
		if err != nil {
			return nil
		}
		hash, err := j.Hash()
		if err != nil {
			return nil
		}
		w.coarse = &Watch{
			dir: filepath.Join(w.dir, store.Coarse), now: w.now, job: j, hash: hash,
			known: map[int]bool{},
		}
	}
	s, err := w.coarse.Status(ctx)
	if err != nil { // it is gone, or another one
		w.coarse = nil
		return nil
	}
	return s
}

// Of the last shards so many say how fast the work goes, or those of so long a time if there are more.
const (
	lastShards = 20
	lastWhile  = 10 * time.Minute
)

// A gap between two shards is a pause where it is longer than longGap times the median, than longBlock times what
// the longest gap of so many consecutive shards usually is, and than shortPause. The second is what keeps apart workers
// that
// end together, shard after shard, from workers that are away.
const (
	longGap    = 10
	longBlock  = 3
	shortPause = time.Minute
)

// pausing is the gap above which nobody worked, for shards in the order in which they were kept.
func pausing(kept []store.Kept) time.Duration {
	var gaps, longest []time.Duration
	for i := 1; i < len(kept); i++ {
		g := kept[i].At.Sub(kept[i-1].At)
		if gaps = append(gaps, g); (i-1)%lastShards == 0 {
			longest = append(longest, g)
		}
		longest[len(longest)-1] = max(longest[len(longest)-1], g)
	}
	median := func(d []time.Duration) time.Duration {
		slices.Sort(d)
		return d[(len(d)-1)/2]
	}
	most := max(shortPause, longGap*median(gaps))
	if len(longest) > 1 {
		most = max(most, longBlock*median(longest))
	}
	return most
}

// rate is samples a second of work over the last shards, in the order in which they were kept, and what of that time
// was a pause; 0 where that cannot be said. After a pause a shard counts with the usual time between two, for it was
// worked on. Only the clock of the disk is read, so that it does not matter by which clocks the workers go.
func rate(kept []store.Kept) (samples float64, paused time.Duration) {
	if len(kept) < 2 {
		return 0, 0
	}
	end := kept[len(kept)-1].At
	from := max(0, len(kept)-lastShards)
	for from > 0 && end.Sub(kept[from-1].At) <= lastWhile {
		from--
	}
	most := pausing(kept)
	var work time.Duration
	gaps, n := 0, 0
	for i, k := range kept[from+1:] { // the first one alone says when the others began
		n += k.Hi - k.Lo
		if g := k.At.Sub(kept[from+i].At); g > most {
			paused += g
		} else {
			work, gaps = work+g, gaps+1
		}
	}
	if gaps == 0 || work <= 0 {
		return 0, 0
	}
	return float64(n) / (work.Seconds() * float64(len(kept)-from-1) / float64(gaps)), paused
}

// WriteText says on one line how far it is.
func (s *Status) WriteText(to io.Writer) error {
	line := fmt.Sprintf("%s of %s are kept, %s of %s samples", words.Count(s.Kept),
		words.Plural(s.Shards, "shard", "shards"), words.Count(s.Done), words.Count(s.Samples))
	if s.Failed > 0 {
		line += fmt.Sprintf(", %s with an error", words.Plural(s.Failed, "row", "rows"))
	}
	switch {
	case s.Complete:
		line += "; complete"
	case s.Kept == s.Shards:
		line += "; complete it with: " + merging(s.Dir)
	case s.Left != nil:
		line += fmt.Sprintf("; %s samples/s, about %s left", pace(s.Rate), seconds(*s.Left))
	}
	if s.Left != nil && s.Paused > 0 {
		line += fmt.Sprintf(" of work (pauses of %s do not count)", seconds(s.Paused))
	}
	if s.Quiet != nil && (s.Rate == 0 || *s.Quiet > 60) {
		line += fmt.Sprintf("; the last shard was kept %s ago", seconds(*s.Quiet))
	}
	if c := s.Coarse; c != nil {
		line += fmt.Sprintf("; coarse curves: %s of %s samples at %s of %s elements", words.Count(c.Done),
			words.Count(c.Samples), words.Count(c.Elements), words.Count(s.Elements))
	}
	_, err := fmt.Fprintln(to, line)
	return err
}

// pace has three digits, and all of them before the point.
func pace(rate float64) string {
	if rate >= 100 {
		return words.Count(int(math.Round(rate)))
	}
	return fmt.Sprintf("%.3g", rate)
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

// WriteJSON writes it as one line of JSON.
func (s *Status) WriteJSON(to io.Writer) error { return json.NewEncoder(to).Encode(s) }
