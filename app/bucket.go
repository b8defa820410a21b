package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"nero/model/engine/choose"
	"nero/present/words"
	"nero/run/exec"
	"nero/run/job"
	"nero/run/store"
	"nero/run/store/object"
)

// InBucket reports whether a path is the address of something in a bucket, such as s3://BUCKET/PREFIX.
func InBucket(path string) bool { return object.Is(path) }

// IsAddress reports whether a path is an address, of something that is neither a folder nor in such a bucket.
func IsAddress(path string) bool { return object.Foreign(path) }

// onPaths refuses a study whose data or models are in a bucket: they are read from paths alone.
func onPaths(s *job.Study) error {
	places := s.Paths()
	for i := range s.Models {
		places = append(places, &s.Models[i].ONNX)
	}
	for _, at := range places {
		if object.Is(*at) {
			return fmt.Errorf("%s is in a bucket, and data and models are read from paths; copy it to every machine, "+
				"or mount the bucket, to the same path", *at)
		}
	}
	return nil
}

// place is where a run is worked on.
type place struct {
	// dir is the folder of the run, or, of a run in a bucket, a scratch folder, which holds the job.
	dir string
	// near is the folder near which data and models may lie that are not where the job says.
	near string
	// bucket is nil for a run in a folder.
	bucket *object.Run
}

// place opens where a run is. Of one in a bucket the job is fetched; the error wraps [os.ErrNotExist] where there is
// none, and then there is a place all the same, which has to be closed.
func (a *App) place(ctx context.Context, dir string) (*place, error) {
	if !object.Is(dir) {
		return &place{dir: dir, near: dir}, nil
	}
	b, err := a.bucket(ctx, dir)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "nero-scratch-")
	if err != nil {
		return nil, fmt.Errorf("there is no room to work on %s: %w; name a folder with TMPDIR", dir, err)
	}
	at := &place{dir: scratch, near: ".", bucket: b}
	if err := b.Fetch(ctx, scratch); err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			at.close()
			return nil, err
		}
		return at, err
	}
	return at, nil
}

// bucket is the run at an address.
func (a *App) bucket(ctx context.Context, address string) (*object.Run, error) {
	at, err := object.Parse(address)
	if err != nil {
		return nil, err
	}
	open := a.Bucket
	if open == nil {
		open = func(ctx context.Context, at object.Address) (object.Store, error) {
			return object.Open(ctx, at, object.Options{})
		}
	}
	s, err := open(ctx, at)
	if err != nil {
		return nil, err
	}
	r := object.New(at.String(), s)
	r.Note = func(text string) { a.note(text) }
	r.Remedies = object.Remedies{
		Compute: func(address string, shard int) string {
			return fmt.Sprintf("nero shard %s %s %d", address, Flags{}.Option(Option{Name: "index"}), shard)
		},
		Alike: a.speech().Option(Option{Name: "engine", Value: choose.Wasm}),
	}
	return r, nil
}

// close removes the scratch folder.
func (p *place) close() {
	if p != nil && p.bucket != nil {
		_ = os.RemoveAll(p.dir) // what is left of it is a copy
	}
}

// named says the address of the run in an error instead of the scratch folder.
func (p *place) named(err error) error {
	if err == nil || p.bucket == nil || !strings.Contains(err.Error(), p.dir) {
		return err
	}
	return &renamed{strings.ReplaceAll(err.Error(), p.dir, p.bucket.String()), err}
}

// missing are the shards that are not kept in the bucket.
func (p *place) missing(ctx context.Context) ([]job.Shard, error) {
	j, err := store.Planned(p.dir)
	if err != nil {
		return nil, err
	}
	return missingIn(ctx, p.bucket, j)
}

func missingIn(ctx context.Context, b *object.Run, j *job.Job) ([]job.Shard, error) {
	hash, err := j.Hash()
	if err != nil {
		return nil, err
	}
	now, err := b.State(ctx, j, hash)
	if err != nil {
		return nil, err
	}
	kept := map[int]bool{}
	for _, k := range now.Kept {
		kept[k.Index] = true
	}
	var out []job.Shard
	for _, s := range j.Shards() {
		if !kept[s.Index] {
			out = append(out, s)
		}
	}
	return out, nil
}

// merging is the command that completes a run.
func merging(dir string) string {
	if at, err := object.Parse(dir); err == nil {
		return fmt.Sprintf("nero merge %s -o %s", dir, at.Name())
	}
	return "nero merge " + dir
}

// brought fetches a run from a bucket into a folder.
func (a *App) brought(ctx context.Context, address, to string) (*object.Run, error) {
	if to == "" {
		return nil, fmt.Errorf("%s is in a bucket, and a run is completed in a folder; name one with %s", address,
			a.option("out"))
	}
	if object.Is(to) {
		return nil, fmt.Errorf("-o %s: want a folder on this machine; %s puts summary and manifest back", to,
			a.option("push"))
	}
	at, err := a.place(ctx, address)
	defer at.close()
	if err != nil {
		return nil, unplanned(address, err)
	}
	j, err := store.Planned(at.dir)
	if err != nil {
		return nil, at.named(err)
	}
	missing, err := missingIn(ctx, at.bucket, j)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, &MissingError{at.bucket.String(), len(j.Shards()), len(missing), 0, store.Indexes(missing)}
	}
	abs, err := filepath.Abs(to)
	if err != nil {
		return nil, err
	}
	r, err := store.Create(abs, j, store.Options{Shared: true})
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // gives the lock back; what was written is safe already
	if r.Complete() && r.Verify(ctx) == nil {
		return at.bucket, nil
	}
	if err := at.bucket.Fetch(ctx, abs); err != nil { // what belongs to the job
		return nil, err
	}
	n, size, err := at.bucket.Bring(ctx, r)
	if err != nil {
		return nil, err
	}
	a.notef("fetched %s, %.1f MB, from %s", words.Plural(n, "shard", "shards"), float64(size)/1e6, at.bucket)
	if missing := r.Missing(); len(missing) > 0 { // rows that a marker names were removed
		return nil, &MissingError{at.bucket.String(), len(j.Shards()), len(missing), 0, store.Indexes(missing)}
	}
	return at.bucket, nil
}

// watchBucket opens a run in a bucket to be looked at.
func (a *App) watchBucket(ctx context.Context, address string) (*Watch, error) {
	at, err := a.place(ctx, address)
	defer at.close()
	if err != nil {
		return nil, unplanned(address, err)
	}
	j, err := store.Planned(at.dir)
	if err != nil {
		return nil, at.named(err)
	}
	hash, err := j.Hash()
	w := &Watch{dir: at.bucket.String(), now: a.Now, job: j, hash: hash, known: map[int]bool{}, bucket: at.bucket}
	return w, err
}

// inBucket evaluates shards and keeps them in a bucket, by way of a scratch folder.
type inBucket struct {
	exec.Evaluator
	local  committer
	bucket *object.Run
	ctx    context.Context

	// those that a list of the bucket said are kept when the work began
	listed map[int]bool
	mu     sync.Mutex
	// why it could not be said whether a shard is kept
	unknown map[int]error
}

// fewShards are asked for one by one, two requests each. Of more a list says which are kept, a request for a thousand
// objects; that there are rows of another digest than the marker's, it does not see, and a merge does.
const fewShards = 40

// keeper keeps shards in the bucket of a place, of which so many are to be done.
func (p *place) keeper(ctx context.Context, e exec.Evaluator, r *store.Run, shards int) (*inBucket, error) {
	b := &inBucket{
		Evaluator: e, local: committer{r}, bucket: p.bucket, ctx: ctx, listed: map[int]bool{}, unknown: map[int]error{},
	}
	if shards <= fewShards {
		return b, nil
	}
	now, err := p.bucket.State(ctx, r.Job(), r.Hash())
	if err != nil {
		return nil, err
	}
	for _, k := range now.Kept {
		b.listed[k.Index] = true
	}
	return b, nil
}

// Done reports whether a shard is kept.
func (b *inBucket) Done(s job.Shard) bool {
	if b.listed[s.Index] {
		return true
	}
	done, err := b.bucket.Done(b.ctx, b.local.r.Job(), b.local.r.Hash(), s)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unknown[s.Index] = err
	return err == nil && done
}

// Shard evaluates a shard, unless the storage is away, which could not keep it.
func (b *inBucket) Shard(ctx context.Context, s job.Shard, progress func(int)) ([]job.Row, error) {
	b.mu.Lock()
	err := b.unknown[s.Index]
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return b.Evaluator.Shard(ctx, s, progress)
}

// Commit keeps a shard.
func (b *inBucket) Commit(ctx context.Context, s job.Shard, rows []job.Row) error {
	if err := b.local.Commit(ctx, s, rows); err != nil {
		return err
	}
	p, text, err := b.local.r.Piece(s.Index)
	if err != nil {
		return err
	}
	if err := b.bucket.Commit(ctx, b.local.r.Job(), b.local.r.Hash(), p, text); err != nil {
		return err
	}
	return b.local.r.Release(s.Index)
}

// submissionOf names a submission after a run in a bucket, and says how many shards it has, and which are missing. Logs
// and the merged run are in the current folder.
func (a *App) submissionOf(ctx context.Context, s *Submission, address string) (int, []job.Shard, error) {
	w, err := a.watchBucket(ctx, address)
	if err != nil {
		return 0, nil, again(err)
	}
	if s.Complete, err = w.look(ctx); err != nil {
		return 0, nil, err
	}
	at, err := object.Parse(address)
	if err != nil {
		return 0, nil, err
	}
	to, err := filepath.Abs(at.Name())
	if err != nil {
		return 0, nil, err
	}
	s.Dir, s.To, s.Logs, s.Name = w.dir, to, to+".slurm", jobName(at.Name(), w.hash)
	return len(w.job.Shards()), w.todo(), nil
}
