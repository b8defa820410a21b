package object_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nero/run/store"
	"nero/run/store/object"
	"nero/run/store/storetest"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"s3://runs/a":      "s3://runs/a",
		"S3://runs/a/b c/": "s3://runs/a/b c",
		"s3://r.u-n_s/é":   "s3://r.u-n_s/é",
	} {
		if at, err := object.Parse(text); err != nil || at.String() != want {
			t.Errorf("%s: %v, %v", text, at, err)
		}
	}
	for _, text := range []string{
		"", "run", "s3:/runs/a", "s3://", "s3://runs", "s3://runs/", "s3:///a", "s3://runs//a", "s3://runs/a/../b",
		"s3://runs/./a", "s3://runs/a?b", "s3://runs/a\nb", "s3://-runs/a", "s3://runs/" + strings.Repeat("a", 900),
	} {
		if at, err := object.Parse(text); err == nil || !strings.Contains(err.Error(), "s3://BUCKET/PREFIX") {
			t.Errorf("%q: %v, %v", text, at, err)
		}
	}
	if object.Is("s3") || object.Is("run/s3://x") || !object.Is("S3://x") {
		t.Error("what is an address")
	}
}

// TestAnswers holds what storages say against what is made of it: words, and whether to try again.
func TestAnswers(t *testing.T) {
	for _, k := range []struct {
		status int
		code   string
		away   bool
		want   string
	}{
		{403, "RequestTimeTooSkewed", true, "clock of this machine"},
		{400, "ExpiredToken", true, "AWS_ACCESS_KEY_ID have expired"},
		{403, "ExpiredTokenException", true, "renew them"},
		{403, "InvalidAccessKeyId", false, "does not know the credentials of AWS_ACCESS_KEY_ID"},
		{403, "SignatureDoesNotMatch", false, "AWS_SECRET_ACCESS_KEY"},
		{403, "AccessDenied", false, "may not do that"},
		{404, "NoSuchBucket", false, "there is no bucket runs"},
		{301, "PermanentRedirect", false, "AWS_REGION"},
		{400, "BadDigest", true, "did not arrive"},
		{503, "SlowDown", true, "what is kept stays"},
		{500, "InternalError", true, "answers 500"},
		{418, "Odd", false, "answers 418 Odd"},
	} {
		var asked atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			says(w, k.status, k.code)
		}))
		named(t, s.URL)
		b := open(t, object.Options{Tries: 1})
		_, got := b.Get(t.Context(), "x")
		for what, err := range map[string]error{
			"get": got, "put": b.Put(t.Context(), "x", []byte("x"), false), "list": listed(t.Context(), b),
		} {
			_, away := errors.AsType[*object.AwayError](err)
			if err == nil || away != k.away || !strings.Contains(err.Error(), k.want) {
				t.Errorf("%s: %s: %v, again %v; want %q, again %v", k.code, what, err, away, k.want, k.away)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the secret is told: %v", err)
			}
		}
		s.Close()
	}
	s := httptest.NewServer(nil)
	s.Close() // nobody listens any more
	named(t, s.URL)
	err := listed(t.Context(), open(t, object.Options{Tries: 1}))
	if _, away := errors.AsType[*object.AwayError](err); !away || !strings.Contains(err.Error(), s.URL) {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := listed(ctx, open(t, object.Options{})); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	named(t, "https"+strings.TrimPrefix(plain.URL, "http"))
	err = listed(t.Context(), open(t, object.Options{Tries: 1}))
	_, away := errors.AsType[*object.AwayError](err)
	if err == nil || away || !strings.Contains(err.Error(), "http://") {
		t.Errorf("without encryption: %v", err)
	}
}

// hasty is a transport that answers before it has read what is sent, as net/http may: the first tries are refused.
type hasty struct {
	reading  atomic.Bool
	tries    atomic.Int64
	overlaps atomic.Int64
	bodies   sync.Map
}

func (h *hasty) RoundTrip(q *http.Request) (*http.Response, error) {
	n := h.tries.Add(1)
	if !h.reading.CompareAndSwap(false, true) {
		h.overlaps.Add(1)
	}
	go func() {
		time.Sleep(20 * time.Millisecond) // the pause before a try is often shorter
		text, _ := io.ReadAll(q.Body)
		h.bodies.Store(n, len(text))
		h.reading.Store(false)
		_ = q.Body.Close()
	}()
	a := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Request: q}
	text := "<Error><Code>SlowDown</Code></Error>"
	switch n {
	case 2:
		return nil, io.ErrUnexpectedEOF
	case 3:
		a.StatusCode, text = http.StatusMovedPermanently, "<Error><Code>PermanentRedirect</Code></Error>"
	}
	a.Body = io.NopCloser(strings.NewReader(text))
	return a, nil
}

// TestHaste refuses objects before they are read: no try, and no word about it, comes before the body of the last one
// is let go, and each sends all of it.
func TestHaste(t *testing.T) {
	named(t, "http://storage.example")
	h := &hasty{}
	data := make([]byte, 100_000)
	err := open(t, object.Options{Tries: 3, Transport: h}).Put(t.Context(), "x", data, false)
	if err == nil || !strings.Contains(err.Error(), "AWS_REGION") || h.reading.Load() || h.overlaps.Load() != 0 ||
		h.tries.Load() != 3 {
		t.Errorf("%v; %d tries, %d before the last was done, one still reads: %v", err, h.tries.Load(),
			h.overlaps.Load(), h.reading.Load())
	}
	h.bodies.Range(func(n, size any) bool {
		if got, ok := size.(int); !ok || got < len(data) {
			t.Errorf("try %d sent %d bytes of %d", n, size, len(data))
		}
		return true
	})
}

func listed(ctx context.Context, b object.Store) error {
	for _, err := range b.List(ctx, "") {
		return err
	}
	return nil
}

// TestCredentials looks for them where other programs do, and says where it looked.
func TestCredentials(t *testing.T) {
	at, err := object.Parse("s3://runs/a")
	if err != nil {
		t.Fatal(err)
	}
	refused := func(wants ...string) {
		t.Helper()
		_, err := object.Open(t.Context(), at, object.Options{})
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
	named(t, "http://127.0.0.1:1")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	refused("AWS_SECRET_ACCESS_KEY is set, and AWS_ACCESS_KEY_ID is not")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	refused("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set", "profile default", "AWS_PROFILE")
	file := filepath.Join(t.TempDir(), "credentials")
	text := "[lab]\naws_access_key_id = one\naws_secret_access_key = two\n[half]\naws_access_key_id = one\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	refused("profile default of " + file)
	t.Setenv("AWS_PROFILE", "half")
	refused("profile half of "+file, "partial")
	t.Setenv("AWS_PROFILE", "lab")
	if _, err := object.Open(t.Context(), at, object.Options{}); err != nil {
		t.Error(err)
	}
	for _, url := range []string{"storage:9000", "ftp://x", "http://", "http://x/y", "http://a:b@x"} {
		t.Setenv("AWS_ENDPOINT_URL", url)
		refused("AWS_ENDPOINT_URL is")
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://someone:hunter2@x")
	_, endpoint := object.Open(t.Context(), at, object.Options{})
	_, address := object.Parse("s3://someone:hunter2@runs/a")
	for _, err := range []error{endpoint, address} {
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a password in an address: %v", err)
		}
	}
}

// TestRenewed lets credentials expire in the middle, whose file somebody has written anew: they are read again.
func TestRenewed(t *testing.T) {
	storage(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if strings.Contains(q.Header.Get("Authorization"), "Credential=old/") {
				says(w, http.StatusBadRequest, "ExpiredToken")
				return
			}
			h.ServeHTTP(w, q)
		})
	})
	file := filepath.Join(t.TempDir(), "credentials")
	write := func(id string) {
		t.Helper()
		text := "[default]\naws_access_key_id = " + id + "\naws_secret_access_key = two\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	for what, do := range map[string]func(object.Store) error{
		"put":  func(s object.Store) error { return s.Put(t.Context(), "x", []byte("x"), false) },
		"list": func(s object.Store) error { return listed(t.Context(), s) },
	} {
		write("old")
		s := open(t, object.Options{Tries: 1})
		err := do(s)
		if _, away := errors.AsType[*object.AwayError](err); !away || !strings.Contains(err.Error(), file) {
			t.Errorf("%s with old ones: %v", what, err)
		}
		write("new")
		if err := do(s); err != nil {
			t.Errorf("%s with new ones: %v", what, err)
		}
	}
}

// TestDamage lets objects be other than what was written: nothing of that is believed, and what helps is said.
func TestDamage(t *testing.T) {
	storage(t, nil)
	j, want := small(t)
	s := open(t, object.Options{})
	r := object.New("s3://runs/a/b", s)
	if err := r.Fetch(t.Context(), t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
	if err := s.Put(t.Context(), "photo.png", []byte("x"), false); err != nil {
		t.Fatal(err)
	}
	err := planned(t.Context(), r, t.TempDir(), j)
	if err == nil || !strings.Contains(err.Error(), "holds photo.png") {
		t.Errorf("a place with other things: %v", err)
	}

	const other = "s3://runs/a/other"
	at, err := object.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = object.Open(t.Context(), at, object.Options{}); err != nil {
		t.Fatal(err)
	}
	r = object.New(other, s)
	r.Remedies.Compute = func(at string, shard int) string { return fmt.Sprintf("COMPUTE %s %d", at, shard) }
	if err := planned(t.Context(), r, t.TempDir(), j); err != nil {
		t.Fatal(err)
	}
	err = planned(t.Context(), r, t.TempDir(), storetest.Job(8, 3, 2, 2, 2))
	if !errors.Is(err, store.ErrIncompatible) {
		t.Errorf("another job: %v", err)
	}
	late := t.TempDir() // who began to plan before that is refused, and writes nothing
	f, err := store.Create(late, storetest.Job(8, 3, 2, 2, 2), store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.PutPlan("others"), f.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := s.Get(t.Context(), ".plan.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Publish(t.Context(), late); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("planned at the same time: %v", err)
	}
	if after, err := s.Get(t.Context(), ".plan.json"); err != nil || string(after) != string(before) {
		t.Errorf("the plan of another job was written over: %v", err)
	}
	if _, err := work(t.Context(), r, t.TempDir(), storetest.Rows, 0, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	hash, err := j.Hash()
	if err != nil {
		t.Fatal(err)
	}
	var rows, marker string
	for i, err := range s.List(t.Context(), store.ShardFolder(hash)+"/") {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(i.Key, "00001.json"):
			marker = i.Key
		case strings.Contains(i.Key, "/00001-"):
			rows = i.Key
		}
	}
	put := func(key, text string) {
		t.Helper()
		if err := s.Put(t.Context(), key, []byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	get := func(key string) string {
		t.Helper()
		b, err := s.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	good, text := get(rows), get(marker)
	put(rows, good[:len(good)-1]+"!")
	dir := filepath.Join(t.TempDir(), "run")
	err = merged(t.Context(), r, dir, j)
	if !errors.Is(err, store.ErrCorrupt) || !strings.HasSuffix(err.Error(), "it again with: COMPUTE "+other+" 1") {
		t.Errorf("other rows: %v", err)
	}
	put(rows, good[1:]) // which a worker sees by its size, and mends
	if n, err := work(t.Context(), r, t.TempDir(), storetest.Rows, 0, 1); err != nil || n != 1 {
		t.Errorf("%d made anew, %v", n, err)
	}
	put(marker, text[1:])
	_, err = work(t.Context(), r, t.TempDir(), storetest.Rows, 1)
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "00001*") {
		t.Errorf("another marker: %v", err)
	}
	put(marker, text)
	// Objects that are no part of a run do not matter.
	put("shards-"+hash[:12]+"/99999.json", "{}")
	put("shards-"+hash[:12]+"/00000-short.parquet", "{}")
	put("..", "{}")
	put(`..\up`, "{}")
	if err := merged(t.Context(), r, dir, j); err != nil {
		t.Fatal(err)
	}
	got := storetest.Snapshot(t, dir)
	delete(got, `..\up`) // a name like others, where a backslash is a letter
	storetest.Equal(t, got, want)
}
