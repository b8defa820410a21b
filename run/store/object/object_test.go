package object_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nero/run/job"
	"nero/run/store"
	"nero/run/store/object"
	"nero/run/store/storetest"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// storage is a server of S3 in this process, with a bucket "runs", which the environment names.
func storage(t *testing.T, around func(http.Handler) http.Handler) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("runs"); err != nil {
		t.Fatal(err)
	}
	h := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	if around != nil {
		h = around(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	named(t, s.URL)
}

// named says in the environment where the storage is, and lets nothing of the machine through.
func named(t *testing.T, url string) {
	t.Helper()
	for _, v := range object.Variables() {
		t.Setenv(v, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_ACCESS_KEY_ID", "tester")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_ENDPOINT_URL", url)
}

func open(t *testing.T, o object.Options) object.Store {
	t.Helper()
	at, err := object.Parse("s3://runs/a/b")
	if err != nil {
		t.Fatal(err)
	}
	s, err := object.Open(t.Context(), at, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// planned writes a job as nero plan does, from an empty scratch folder.
func planned(ctx context.Context, r *object.Run, scratch string, j *job.Job) error {
	if err := os.MkdirAll(scratch, 0o777); err != nil {
		return err
	}
	if err := r.Fetch(ctx, scratch); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := store.Create(scratch, j, store.Options{Shared: true})
	if err != nil {
		return err
	}
	if err := errors.Join(f.PutPlan("scales"), f.Close()); err != nil {
		return err
	}
	return r.Publish(ctx, scratch)
}

// work makes what is missing of some shards as nero shard does, from an empty scratch folder.
func work(ctx context.Context, r *object.Run, scratch string, rows func(*job.Job, job.Shard) []job.Row,
	shards ...int,
) (computed int, err error) {
	if err := os.MkdirAll(scratch, 0o777); err != nil {
		return 0, err
	}
	if err := r.Fetch(ctx, scratch); err != nil {
		return 0, err
	}
	j, err := store.Planned(scratch)
	if err != nil {
		return 0, err
	}
	f, err := store.Create(scratch, j, store.Options{Shared: true})
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // nothing is lost
	for _, i := range shards {
		s := j.Shards()[i]
		done, err := r.Done(ctx, j, f.Hash(), s)
		if err != nil {
			return computed, err
		}
		if done {
			continue
		}
		if err := f.Commit(ctx, s, rows(j, s), nil); err != nil {
			return computed, err
		}
		p, text, err := f.Piece(i)
		if err != nil {
			return computed, err
		}
		if err := r.Commit(ctx, j, f.Hash(), p, text); err != nil {
			return computed, err
		}
		if err := f.Release(i); err != nil {
			return computed, err
		}
		computed++
	}
	return computed, nil
}

// merged fetches a run into a folder and completes it.
func merged(ctx context.Context, r *object.Run, dir string, j *job.Job) error {
	f, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing is lost
	if err := r.Fetch(ctx, dir); err != nil {
		return err
	}
	if _, _, err := r.Bring(ctx, f); err != nil {
		return err
	}
	if err := f.Put("summary.json", []byte("{\"format\":1}\n")); err != nil {
		return err
	}
	if err := f.Finish(ctx, map[string]string{"nero": "test"}); err != nil {
		return err
	}
	return r.Push(ctx, dir)
}

// small is a run of four shards, and the folder that it makes on one machine.
func small(t *testing.T) (*job.Job, map[string]string) {
	t.Helper()
	j := storetest.Job(7, 3, 2, 2, 2)
	dir := filepath.Join(t.TempDir(), "reference")
	if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
		t.Fatal(err)
	}
	return j, storetest.Snapshot(t, dir)
}

// whole plans a run, works on it and completes it in a folder, from nothing on this machine.
func whole(ctx context.Context, r *object.Run, j *job.Job, dir, scratch string) error {
	if err := planned(ctx, r, scratch+"/plan", j); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if _, err := work(ctx, r, scratch+"/work", storetest.Rows, 0, 1, 2, 3); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	return merged(ctx, r, dir, j)
}

// faulty lets one request fail, before or after it took effect.
type faulty struct {
	next http.RoundTripper
	// the request that fails, from 1 on; 0 for none
	at int64
	fault
	n atomic.Int64
}

// fault is how it fails.
type fault struct {
	after bool
	// the storage answers that it is busy, instead of nothing
	busy bool
}

var errCut = errors.New("the connection was cut")

func (f *faulty) RoundTrip(q *http.Request) (*http.Response, error) {
	if f.n.Add(1) != f.at {
		return f.next.RoundTrip(q)
	}
	if f.after {
		a, err := f.next.RoundTrip(q)
		if err != nil {
			return nil, err
		}
		_ = a.Body.Close()
		return nil, errCut
	}
	if q.Body != nil {
		_ = q.Body.Close()
	}
	if f.busy {
		return &http.Response{
			StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Request: q,
			Body: io.NopCloser(strings.NewReader("<Error><Code>SlowDown</Code></Error>")),
		}, nil
	}
	return nil, errCut
}

// TestFaults lets every request fail once, in turn: before it took effect, after it, and with the answer that the
// storage is busy. What was begun goes on from an empty folder, and the run has the bytes of one on one machine.
func TestFaults(t *testing.T) {
	j, want := small(t)
	count := &faulty{next: http.DefaultTransport}
	storage(t, nil)
	err := whole(t.Context(), object.New("s3://runs/a/b", open(t, object.Options{Tries: 1, Transport: count})), j,
		filepath.Join(t.TempDir(), "run"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if count.n.Load() < 15 {
		t.Fatalf("%d requests: the test shows little", count.n.Load())
	}
	for _, kind := range []fault{{}, {after: true}, {busy: true}} {
		var all sync.WaitGroup
		for at := int64(1); at <= count.n.Load(); at++ {
			storage(t, nil)
			f := &faulty{next: http.DefaultTransport, at: at, fault: kind}
			first := object.New("s3://runs/a/b", open(t, object.Options{Tries: 1, Transport: f}))
			second := object.New("s3://runs/a/b", open(t, object.Options{}))
			dir, scratch := filepath.Join(t.TempDir(), "run"), t.TempDir()
			all.Go(func() {
				err := whole(t.Context(), first, j, dir, scratch+"/1")
				if _, away := errors.AsType[*object.AwayError](err); err != nil && !away {
					t.Errorf("request %d, %+v: %v, want an error that says to try again", at, kind, err)
				}
				if err != nil { // another machine goes on
					err = whole(t.Context(), second, j, dir, scratch+"/2")
				}
				if f.n.Load() < at || err != nil {
					t.Errorf("request %d, %+v: %v", at, kind, err)
				}
				storetest.Equal(t, storetest.Snapshot(t, dir), want)
			})
		}
		all.Wait()
	}
}

// TestPatience lets a request fail once that is sent again by itself: nobody notices.
func TestPatience(t *testing.T) {
	j, want := small(t)
	for _, at := range []int64{1, 9} {
		for _, after := range []bool{false, true} {
			storage(t, nil)
			f := &faulty{next: http.DefaultTransport, at: at, fault: fault{after: after}}
			dir := filepath.Join(t.TempDir(), "run")
			r := object.New("s3://runs/a/b", open(t, object.Options{Tries: 3, Transport: f}))
			if err := whole(t.Context(), r, j, dir, t.TempDir()); err != nil {
				t.Fatalf("request %d: %v", at, err)
			}
			storetest.Equal(t, storetest.Snapshot(t, dir), want)
		}
	}
}

// TestOverlap lets workers make the same shards at the same time, on storages that write under a condition, that
// refuse it, and that do not look at it.
func TestOverlap(t *testing.T) {
	j, want := small(t)
	for name, k := range map[string]struct {
		around func(http.Handler) http.Handler
		notes  int
	}{
		"conditional": {nil, 0},
		"ignored": {func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				q.Header.Del("If-None-Match")
				h.ServeHTTP(w, q)
			})
		}, 1},
		"501": {refuse(http.StatusNotImplemented, "NotImplemented"), 1},
		"400": {refuse(http.StatusBadRequest, "InvalidArgument"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			storage(t, k.around)
			var notes atomic.Int64
			begin := func() *object.Run {
				r := object.New("s3://runs/a/b", open(t, object.Options{}))
				r.Note = func(string) { notes.Add(1) }
				return r
			}
			first := begin()
			if err := planned(t.Context(), first, t.TempDir(), j); err != nil {
				t.Fatal(err)
			}
			if notes.Load() != int64(k.notes) {
				t.Errorf("%d notes that the storage knows no condition, want %d", notes.Load(), k.notes)
			}
			var all sync.WaitGroup
			for w := range 4 {
				scratch := filepath.Join(t.TempDir(), strconv.Itoa(w))
				r := begin()
				all.Go(func() {
					if _, err := work(t.Context(), r, scratch, storetest.Rows, w, (w+1)%4, (w+2)%4); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			hash, err := j.Hash()
			if err != nil {
				t.Fatal(err)
			}
			s, err := first.State(t.Context(), j, hash)
			if err != nil || len(s.Kept) != 4 || s.Complete {
				t.Fatalf("%+v, %v", s, err)
			}
			for i, k := range s.Kept {
				if k.Index != i || k.At.IsZero() {
					t.Errorf("%+v", k)
				}
			}
			dir := filepath.Join(t.TempDir(), "run")
			if err := merged(t.Context(), first, dir, j); err != nil {
				t.Fatal(err)
			}
			storetest.Equal(t, storetest.Snapshot(t, dir), want)
			if s, err := first.State(t.Context(), j, hash); err != nil || !s.Complete {
				t.Errorf("after the push: %+v, %v", s, err)
			}
			// The same shard with other bytes is refused, and what is there stays.
			hot := func(j *job.Job, s job.Shard) []job.Row {
				rows := storetest.Rows(j, s)
				rows[0].Curves[0][0]++
				return rows
			}
			scratch := t.TempDir()
			other, err := store.Create(scratch, j, store.Options{Shared: true})
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close() //nolint:errcheck // nothing is lost
			if err := other.Commit(t.Context(), j.Shards()[2], hot(j, j.Shards()[2]), nil); err != nil {
				t.Fatal(err)
			}
			p, text, err := other.Piece(2)
			if err != nil {
				t.Fatal(err)
			}
			refusing := begin()
			refusing.Remedies.Alike = "engine=alike"
			err = refusing.Commit(t.Context(), j, hash, p, text)
			old := storetest.Snapshot(t, dir)["shards-"+hash[:12]+"/00002.json"]
			sums := strings.SplitN(old[strings.Index(old, `"sha256":"`)+10:], `"`, 2)
			if err == nil || !strings.Contains(err.Error(), "shard 2 was computed twice") ||
				!strings.HasSuffix(err.Error(), "one kind of processor, or plan it with engine=alike") ||
				!strings.Contains(err.Error(), p.SHA256[:12]) || !strings.Contains(err.Error(), sums[0][:12]) {
				t.Fatalf("other bytes: %v", err)
			}
			again := filepath.Join(t.TempDir(), "again")
			if err := merged(t.Context(), begin(), again, j); err != nil {
				t.Fatal(err)
			}
			storetest.Equal(t, storetest.Snapshot(t, again), want)
		})
	}
}

// says answers a request with an error, as S3 does.
func says(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>m</Message></Error>", code) // who has gone needs no answer
}

// refuse answers every conditional write with an error.
func refuse(status int, code string) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.Method == http.MethodPut && q.Header.Get("If-None-Match") != "" {
				says(w, status, code)
				return
			}
			h.ServeHTTP(w, q)
		})
	}
}

// TestOnce holds the second conditional write against what S3 says: 412.
func TestOnce(t *testing.T) {
	var refused atomic.Int64
	storage(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			r := httptest.NewRecorder()
			h.ServeHTTP(r, q)
			if r.Code == http.StatusPreconditionFailed && q.Header.Get("If-None-Match") == "*" {
				refused.Add(1)
			}
			if q.Method == http.MethodPut && q.Header.Get("Content-Md5") == "" {
				t.Errorf("%s without a checksum", q.URL)
			}
			maps.Copy(w.Header(), r.Header())
			w.WriteHeader(r.Code)
			_, _ = w.Write(r.Body.Bytes())
		})
	})
	s := open(t, object.Options{})
	if err := s.Put(t.Context(), "x", []byte("one"), true); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "x", []byte("two"), true); !errors.Is(err, fs.ErrExist) || refused.Load() != 1 {
		t.Errorf("the second write: %v, %d times 412", err, refused.Load())
	}
	if b, err := s.Get(t.Context(), "x"); err != nil || string(b) != "one" {
		t.Errorf("%q, %v", b, err)
	}
	if i, err := s.Stat(t.Context(), "x"); err != nil || i.Size != 3 || i.At.IsZero() {
		t.Errorf("%+v, %v", i, err)
	}
	for _, err := range []error{
		func() error { _, err := s.Get(t.Context(), "y"); return err }(),
		func() error { _, err := s.Stat(t.Context(), "y"); return err }(),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of nothing: %v", err)
		}
	}
}

// Of two who plan other work at one place at the same moment one is told, before anything of the other is written over;
// so is who comes behind one that was stopped over it.
func TestTwoPlanners(t *testing.T) {
	storage(t, nil)
	s := open(t, object.Options{})
	if err := s.Put(t.Context(), ".plan.json", []byte("that of another job"), true); err != nil {
		t.Fatal(err)
	}
	r := object.New("s3://runs/one", s)
	err := planned(t.Context(), r, filepath.Join(t.TempDir(), "scratch"), storetest.Job(7, 3, 2, 2, 2))
	if err == nil || !strings.Contains(err.Error(), "s3://runs/one has an object .plan.json of another plan") {
		t.Errorf("planned over another plan: %v", err)
	}
	if b, err := s.Get(t.Context(), ".plan.json"); err != nil || string(b) != "that of another job" {
		t.Errorf("the other plan is %q now, %v", b, err)
	}
	if _, err := s.Stat(t.Context(), "job.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a job was written: %v", err)
	}
}

// What somebody else writes in the same moment is waited for, a little longer each time.
func TestConflict(t *testing.T) {
	var at []time.Time
	storage(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.Method == http.MethodPut && len(at) < 4 {
				at = append(at, time.Now())
				w.WriteHeader(http.StatusConflict)
				return
			}
			h.ServeHTTP(w, q)
		})
	})
	if err := open(t, object.Options{}).Put(t.Context(), "x", []byte("one"), true); err != nil {
		t.Fatal(err)
	}
	if gap := at[3].Sub(at[2]); len(at) != 4 || gap < 40*time.Millisecond {
		t.Errorf("%d conflicts, the last after %s", len(at), gap)
	}
}

// TestList goes through more objects than a page has, and not into folders below.
func TestList(t *testing.T) {
	storage(t, nil)
	s := open(t, object.Options{})
	const n = 1100
	for i := range n {
		if err := s.Put(t.Context(), fmt.Sprintf("d/%05d", i), []byte("x"), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put(t.Context(), "d/e/f", []byte("x"), false); err != nil {
		t.Fatal(err)
	}
	got := 0
	for i, err := range s.List(t.Context(), "d/") {
		if err != nil || i.Key != fmt.Sprintf("d/%05d", got) || i.Size != 1 {
			t.Fatalf("%+v, %v", i, err)
		}
		got++
	}
	if got != n {
		t.Errorf("%d objects, want %d", got, n)
	}
	for _, err := range s.List(t.Context(), "d/") { // and nobody waits for the rest
		if err != nil {
			t.Error(err)
		}
		break
	}
	for i, err := range s.List(t.Context(), "") {
		t.Errorf("%+v, %v", i, err)
	}
}

// TestFailed reads from the list of keys how many rows have an error.
func TestFailed(t *testing.T) {
	storage(t, nil)
	j, _ := small(t)
	r := object.New("s3://runs/a/b", open(t, object.Options{}))
	if err := planned(t.Context(), r, t.TempDir(), j); err != nil {
		t.Fatal(err)
	}
	rows := func(j *job.Job, s job.Shard) []job.Row {
		rows := storetest.Rows(j, s)
		for i := range rows {
			rows[i] = job.Row{Model: rows[i].Model, Sample: rows[i].Sample, Index: rows[i].Index, Err: "broken"}
		}
		return rows
	}
	if _, err := work(t.Context(), r, t.TempDir(), rows, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := work(t.Context(), r, t.TempDir(), storetest.Rows, 3); err != nil {
		t.Fatal(err)
	}
	hash, err := j.Hash()
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.State(t.Context(), j, hash)
	if err != nil || len(s.Kept) != 2 || s.Kept[0].Failed != 4 || s.Kept[1].Failed != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, i := range []int{1, 3} {
		if done, err := r.Done(t.Context(), j, hash, j.Shards()[i]); err != nil || !done {
			t.Errorf("shard %d: %v, %v", i, done, err)
		}
	}
}

// TestTable takes a run whose files are in a table of their own through a bucket.
func TestTable(t *testing.T) {
	storage(t, nil)
	const reference = "../testdata/format2"
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(reference)); err != nil {
		t.Fatal(err)
	}
	r := object.New("s3://runs/a/b", open(t, object.Options{}))
	if err := r.Publish(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	// A worker and a merge begin with nothing on their disks.
	j, err := fetched(t, r, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	from, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // nothing is lost
	for _, s := range j.Shards() {
		p, rows, err := from.Piece(s.Index)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Commit(t.Context(), j, from.Hash(), p, rows); err != nil {
			t.Fatal(err)
		}
	}
	if j, err = fetched(t, r, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "to")
	f, err := store.Create(to, j, store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // nothing is lost
	if err := r.Fetch(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if n, _, err := r.Bring(t.Context(), f); err != nil || n != len(j.Shards()) {
		t.Fatalf("%d shards, %v", n, err)
	}
	want, got := storetest.Snapshot(t, reference), storetest.Snapshot(t, to)
	for _, later := range []string{"summary.json", "manifest.json"} {
		delete(want, later)
	}
	delete(got, ".lock")
	storetest.Equal(t, got, want)
}

// fetched is the job of a run in a bucket, with what belongs to it.
func fetched(t *testing.T, r *object.Run, scratch string) (*job.Job, error) {
	t.Helper()
	if err := r.Fetch(t.Context(), scratch); err != nil {
		return nil, err
	}
	return store.Planned(scratch)
}
