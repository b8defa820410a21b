package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nero/internal/disk"
	"nero/run/job"
	"nero/run/store"

	"golang.org/x/sync/errgroup"
)

// Run is a run in a bucket. It is safe for concurrent use.
type Run struct {
	at    string
	store Store
	// Note is told what a person should know, at most once each; nil for nobody.
	Note func(string)
	// Remedies are what people can do about a run, in their words; what is not said there is left out.
	Remedies Remedies

	mu sync.Mutex
	// whether the storage writes under a condition, nil while nobody knows
	conditional *bool
}

// Remedies are what people can do about a run, as they would write it.
type Remedies struct {
	// Compute computes a shard of the run at an address.
	Compute func(address string, shard int) string
	// Alike chooses an engine whose answers are the same on every kind of processor.
	Alike string
}

// New is the run in a store; at is its address in messages.
func New(at string, s Store) *Run { return &Run{at: at, store: s} }

const (
	// probeName is an object by which a storage shows whether it writes under a condition.
	probeName = ".probe"
	// complete are the objects that [Run.Push] writes, the last one last.
	manifestName = "manifest.json"
	summaryName  = "summary.json"
	// transfers is how many objects are on their way at once.
	transfers = 8
)

// String is the address of the run.
func (r *Run) String() string { return r.at }

// Fetch writes what was made before the first shard, the job and what belongs to it, into a folder, where it is not
// already. The error wraps [fs.ErrNotExist] if there is no run.
func (r *Run) Fetch(ctx context.Context, dir string) error {
	var names []string
	for i, err := range r.store.List(ctx, "") {
		if err != nil {
			return err
		}
		if store.Early(i.Key) {
			names = append(names, i.Key)
		}
	}
	if !slices.Contains(names, jobName) { // what somebody was killed over is nothing yet
		return fmt.Errorf("%s holds no run: %w; a run has an object %s", r.at, fs.ErrNotExist, jobName)
	}
	for _, key := range names {
		name := filepath.Join(dir, key)
		if _, err := os.Stat(name); err == nil {
			continue
		}
		b, err := r.store.Get(ctx, key)
		if err != nil {
			return err
		}
		if err := disk.Write(disk.OS{}, name, disk.Bytes(b)); err != nil {
			return err
		}
	}
	return nil
}

// jobName is the object whose presence says that there is a run.
const jobName = "job.json"

// Publish writes what was made in a folder before the first shard: the job last, and only where there is none. A place
// with other objects is refused, and so is one that somebody gave another job meanwhile.
func (r *Run) Publish(ctx context.Context, dir string) error {
	names, err := store.Beside(dir)
	if err != nil {
		return err
	}
	there := map[string]int64{}
	other := ""
	for i, err := range r.store.List(ctx, "") {
		if err != nil {
			return err
		}
		if there[i.Key] = i.Size; other == "" && i.Key != probeName && !slices.Contains(names, i.Key) {
			other = i.Key
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, jobName))
	if err != nil {
		return err
	}
	_, ours := there[jobName]
	if ours { // before what belongs to another job is written over
		old, err := r.store.Get(ctx, jobName)
		if err != nil {
			return err
		}
		if !bytes.Equal(old, text) {
			return r.raced()
		}
	} else if other != "" {
		return fmt.Errorf("%s is no run, and not empty (it holds %s); choose a new prefix", r.at, other)
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if size, known := there[name]; known && size == int64(len(b)) {
			if old, err := r.store.Get(ctx, name); err == nil && bytes.Equal(old, b) {
				continue
			}
		}
		if name != jobName && ours { // what helps to make the same job
			if err := r.store.Put(ctx, name, b, false); err != nil {
				return err
			}
			continue
		}
		old, err := r.putOnce(ctx, name, b)
		if err != nil {
			return err
		}
		if old != nil && !bytes.Equal(old, b) {
			if name != jobName {
				return fmt.Errorf("%s has an object %s of another plan, and no job: somebody plans there at this "+
					"moment, or was stopped over it; choose another prefix, or remove that object if nobody is at "+
					"work, and plan again", r.at, name)
			}
			return r.raced()
		}
	}
	return nil
}

func (r *Run) raced() error {
	return fmt.Errorf("%s was planned by somebody else at the same time; plan again to see whether that is the same "+
		"work", r.at)
}

// putOnce writes an object where there is none, and returns the one that is there where there is one.
func (r *Run) putOnce(ctx context.Context, key string, b []byte) (old []byte, err error) {
	known, err := r.conditions(ctx)
	if err != nil {
		return nil, err
	}
	if known {
		err := r.store.Put(ctx, key, b, true)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		return r.store.Get(ctx, key)
	}
	old, err = r.store.Get(ctx, key)
	if !absent(err) {
		return old, err
	}
	if err := r.store.Put(ctx, key, b, false); err != nil {
		return nil, err
	}
	// Of two that come at the same time the later one wins here, and the other one sees that.
	return r.store.Get(ctx, key)
}

// conditions finds out whether the storage writes an object only where there is none: not all do, and some take the
// condition and do not look at it.
func (r *Run) conditions(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conditional != nil {
		return *r.conditional, nil
	}
	known := false
	for range 2 { // the first one may be the first
		err := r.store.Put(ctx, probeName, []byte("does this storage write under a condition?\n"), true)
		if known = errors.Is(err, fs.ErrExist); known || errors.Is(err, ErrUnconditional) {
			break
		}
		if err != nil {
			return false, err
		}
	}
	r.conditional = &known
	if !known && r.Note != nil {
		r.Note(fmt.Sprintf("the storage of %s does not write under a condition (If-None-Match): markers are read "+
			"before and after they are written instead; rows cannot be mixed, because their keys hold their digests",
			r.at))
	}
	return known, nil
}

func markerKey(hash string, shard int) string {
	return store.ShardFolder(hash) + "/" + store.MarkerName(shard)
}

// rowsKey is the key of a shard's rows: 00017-DIGEST.parquet, or 00017-DIGEST-failed-3.parquet where rows have errors,
// so that a list of keys says how many.
func rowsKey(hash string, p *store.Piece) string {
	failed := ""
	if p.Failed > 0 {
		failed = fmt.Sprintf("-failed-%d", p.Failed)
	}
	return fmt.Sprintf("%s/%s-%s%s.parquet", store.ShardFolder(hash), shardName(p.Index), p.SHA256, failed)
}

func shardName(shard int) string { return strings.TrimSuffix(store.MarkerName(shard), ".json") }

// Done reports whether a shard is kept: there are its marker and the rows that it names.
func (r *Run) Done(ctx context.Context, j *job.Job, hash string, s job.Shard) (bool, error) {
	p, err := r.piece(ctx, j, hash, s)
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	i, err := r.store.Stat(ctx, rowsKey(hash, p))
	if absent(err) {
		return false, nil
	}
	return err == nil && i.Size == p.Size, err
}

// piece reads a marker.
func (r *Run) piece(ctx context.Context, j *job.Job, hash string, s job.Shard) (*store.Piece, error) {
	text, err := r.store.Get(ctx, markerKey(hash, s.Index))
	if err != nil {
		return nil, err
	}
	return r.read(j, hash, s, text)
}

func (r *Run) read(j *job.Job, hash string, s job.Shard, text []byte) (*store.Piece, error) {
	p, err := store.ReadPiece(j, hash, s, text)
	if err != nil {
		return nil, r.damaged(hash, s, fmt.Errorf("%s/%s: %w", r.at, store.ShardFolder(hash), err))
	}
	return p, nil
}

// damaged says what helps where objects of a shard are not what was written.
func (r *Run) damaged(hash string, s job.Shard, err error) error {
	again := ""
	if say := r.Remedies.Compute; say != nil {
		again = " with: " + say(r.at, s.Index)
	}
	return fmt.Errorf("%w; remove the objects of this shard, %s/%s/%s*, and compute it again%s", err, r.at,
		store.ShardFolder(hash), shardName(s.Index), again)
}

// Commit keeps a shard: its rows and then its marker. Where somebody else has kept it, the two are compared.
func (r *Run) Commit(ctx context.Context, j *job.Job, hash string, p *store.Piece, rows []byte) error {
	if err := r.store.Put(ctx, rowsKey(hash, p), rows, false); err != nil {
		return err
	}
	text, err := r.putOnce(ctx, markerKey(hash, p.Index), p.Marker)
	if err != nil || text == nil || bytes.Equal(text, p.Marker) {
		return err
	}
	old, err := r.read(j, hash, p.Shard, text)
	if err != nil {
		return err
	}
	if old.SHA256 == p.SHA256 {
		return nil // what another version of the program says of the same rows
	}
	alike := ""
	if r.Remedies.Alike != "" {
		alike = ", or plan it with " + r.Remedies.Alike
	}
	return fmt.Errorf("%s: shard %d was computed twice with different results (%.12s and %.12s): the engine is not "+
		"deterministic, or the machines differ; keep a run on one kind of processor%s", r.at, p.Index, old.SHA256,
		p.SHA256, alike)
}

// State is how far a run is, as a list of its objects says it.
type State struct {
	Kept []store.Kept
	// Complete says that the manifest was put back.
	Complete bool
}

// State lists what is kept. No object is read.
func (r *Run) State(ctx context.Context, j *job.Job, hash string) (*State, error) {
	s := new(State)
	for i, err := range r.store.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		s.Complete = s.Complete || i.Key == manifestName
	}
	shards := j.Shards()
	rows, marked := map[int]int{}, map[int]Info{} // failed rows; markers
	for i, err := range r.store.List(ctx, store.ShardFolder(hash)+"/") {
		if err != nil {
			return nil, err
		}
		name := i.Key[strings.LastIndexByte(i.Key, '/')+1:]
		if text, marker := strings.CutSuffix(name, ".json"); marker {
			if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(shards) && store.MarkerName(n) == name {
				marked[n] = i
			}
			continue
		}
		if n, failed, ok := parseRows(name); ok {
			rows[n] = max(rows[n], failed)
		}
	}
	for _, x := range shards {
		i, marker := marked[x.Index]
		if failed, there := rows[x.Index]; marker && there {
			s.Kept = append(s.Kept, store.Kept{Shard: x, Failed: failed, At: i.At})
		}
	}
	return s, nil
}

// parseRows reads what [rowsKey] writes, without the folder.
func parseRows(name string) (shard, failed int, ok bool) {
	name, ok = strings.CutSuffix(name, ".parquet")
	parts := strings.Split(name, "-")
	if !ok || len(parts) != 2 && (len(parts) != 4 || parts[2] != "failed") || len(parts[1]) != 64 {
		return 0, 0, false
	}
	shard, err := strconv.Atoi(parts[0])
	if err == nil && len(parts) == 4 {
		failed, err = strconv.Atoi(parts[3])
	}
	return shard, failed, err == nil && shard >= 0 && failed >= 0
}

// Bring fetches the shards that are kept into a folder that is open for writing, but for those that it has, and holds
// all against their digests. It returns how many it fetched, and how many bytes of rows they had.
func (r *Run) Bring(ctx context.Context, to *store.Run) (shards int, size int64, err error) {
	s, err := r.State(ctx, to.Job(), to.Hash())
	if err != nil {
		return 0, 0, err
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(transfers)
	for _, k := range s.Kept {
		g.Go(func() error {
			if to.Done(k.Index) {
				return nil
			}
			p, err := r.piece(ctx, to.Job(), to.Hash(), k.Shard)
			if absent(err) {
				return nil // removed since
			}
			if err != nil {
				return err
			}
			rows, err := r.rows(ctx, to.Hash(), p)
			if absent(err) {
				return nil // those of another digest are there
			}
			if err != nil {
				return err
			}
			if err := to.Adopt(p, rows); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			shards++
			size += int64(len(rows))
			return nil
		})
	}
	return shards, size, g.Wait()
}

// rows reads the rows of a shard, once more where they arrive as others than its marker says.
func (r *Run) rows(ctx context.Context, hash string, p *store.Piece) ([]byte, error) {
	for range 2 {
		rows, err := r.store.Get(ctx, rowsKey(hash, p))
		if err != nil || p.Holds(rows) {
			return rows, err
		}
	}
	return nil, r.damaged(hash, p.Shard, fmt.Errorf("%s/%s: %w: its bytes are not those of its name", r.at,
		rowsKey(hash, p), store.ErrCorrupt))
}

// Push puts the summary and the manifest of a complete run back, the manifest last.
func (r *Run) Push(ctx context.Context, dir string) error {
	for _, name := range []string{summaryName, manifestName} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := r.store.Put(ctx, name, b, false); err != nil {
			return err
		}
	}
	return nil
}
