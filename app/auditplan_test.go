package app_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nero/app"
	"nero/model/engine/choose"
	"nero/run/job"
	"nero/run/tape"
	"nero/serve/api"
)

// turning is the study of one model on a few digits.
func turning(t *testing.T, a *app.App) *job.Study {
	t.Helper()
	s, err := a.OpenStudy(filepath.Join("..", "studies", "digits", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.Models = s.Models[:1]
	s.Audit.Samples, s.Audit.Elements = 40, 16
	s.Audit.Checks = []string{"preflight", "sweep", "controls", "lattice", "endtoend", "decision", "variance"}
	return s
}

// Law: an audit that many processes made, in any order, some of them killed, is that of one, to the byte; and it is
// made of what they kept.
func TestPlannedAudit(t *testing.T) {
	a := &app.App{Version: "1"}
	ctx := t.Context()
	one, err := a.Audit(ctx, turning(t, a), app.AuditOptions{Workers: 2, Command: "nero audit"})
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := one.Write(&want, "json"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "audit")
	plan := func() *app.PlanResult {
		p, err := a.PlanAudit(ctx, turning(t, a), dir, app.AuditOptions{Workers: 1, Command: "nero audit"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan()
	if p.Shards < 3 || p.Samples != 40 {
		t.Fatalf("%d shards of %d samples", p.Shards, p.Samples)
	}
	if _, err := a.MergeAudit(ctx, dir, app.Engine{}, 1, "json"); !missing(err, p.Shards) {
		t.Errorf("without a shard: %v", err)
	}
	made := 0
	shard := func(index string, workers int) error {
		return a.Shard(ctx, dir, app.ShardOptions{Index: index, Workers: workers, Kept: func(k app.KeptShard) {
			if k.Computed {
				made++
			}
		}})
	}
	for i := p.Shards - 1; i > 0; i-- {
		if err := shard(strconv.Itoa(i), 1+i%2); err != nil {
			t.Fatal(err)
		}
	}
	name := func(i int) string { return filepath.Join(dir, "sweeps", fmt.Sprintf("sweep-%05d", i)) }
	// What a killed process leaves: a file under another name, and of a broken disk half a file.
	if err := os.WriteFile(name(0)+".draft", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name(1), 100); err != nil {
		t.Fatal(err)
	}
	look, err := a.Watch(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := look.Status(ctx); err != nil || s.Todo != "0-1" || s.Kept != p.Shards-2 {
		t.Errorf("status with one missing and one damaged: %+v, %v", s, err)
	}
	if _, err := a.MergeAudit(ctx, dir, app.Engine{}, 1, "json"); !missing(err, 2) {
		t.Errorf("with one missing and one damaged: %v", err)
	}
	if p := plan(); p.Todo != "0-1" {
		t.Errorf("to do: %s", p.Todo)
	}
	there := choose.Host()
	there.Processor = "another"
	far := &app.App{Version: "1", Host: &there}
	again, err := far.PlanAudit(ctx, turning(t, far), dir, app.AuditOptions{Workers: 1, Command: "nero audit"})
	if err != nil || again.Job != p.Job {
		t.Errorf("planned again on another processor: %+v, %v", again, err)
	}
	s, err := a.Submission(t.Context(), dir, app.SubmitOptions{Tasks: p.Shards})
	if err != nil || s.Array != "0-1" || s.Complete {
		t.Errorf("%+v, %v", s, err)
	}
	lines := func(text string) error {
		o := app.ShardOptions{Stream: strings.NewReader(text), Workers: 1}
		o.Kept = func(k app.KeptShard) {
			if k.Computed {
				made++
			}
		}
		return a.Shard(ctx, dir, o)
	}
	made = 0
	if err := lines("2\n0\n"); err != nil || made != 1 {
		t.Errorf("%d computed of lines, %v", made, err)
	}
	if err := lines("0\nnone\n"); err == nil || !strings.Contains(err.Error(), `line 2 is "none"`) {
		t.Errorf("a line that is no shard: %v", err)
	}
	if err := shard(fmt.Sprintf("0-%d", p.Shards-1), 2); err != nil || made != 2 {
		t.Errorf("%d computed, %v", made, err)
	}
	w, err := a.Watch(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := w.Status(t.Context()); err != nil || now.Kept != p.Shards || now.Todo != "" || now.Complete {
		t.Errorf("%+v, %v", now, err)
	}
	merged := func() []byte {
		if _, err := a.MergeAudit(ctx, dir, app.Engine{}, 2, "json"); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "audit.json"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if got := merged(); !bytes.Equal(got, want.Bytes()) {
		t.Error("the audit is another than that of one process")
	}
	if now, err := w.Status(t.Context()); err != nil || !now.Complete {
		t.Errorf("%+v, %v", now, err)
	}

	// The shards are what the audit is made of.
	b, err := os.ReadFile(name(1))
	if err != nil {
		t.Fatal(err)
	}
	x, err := tape.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	out, err := x.Find(tape.Place{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(out[0].Raw) // which Find shares with the tape
	if b, err = x.Encode(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name(1), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := merged(); bytes.Equal(got, want.Bytes()) {
		t.Error("what the shards hold does not count")
	}

	other := &app.App{Version: "2"}
	for who, err := range map[string]error{
		"another version":   other.Shard(ctx, dir, app.ShardOptions{Index: "0", Workers: 1}),
		"an index too far":  shard(strconv.Itoa(p.Shards), 1),
		"another engine":    a.Shard(ctx, dir, app.ShardOptions{Index: "0", Workers: 1, Engine: app.Engine{Kind: "x"}}),
		"a file of another": swapped(t, name(0), name(2), func() error { return shard("0", 1) }),
	} {
		_, later := errors.AsType[*app.AgainError](err)
		if err == nil || later {
			t.Errorf("%s: %v", who, err)
		}
	}
	s2 := turning(t, a)
	s2.Seed++
	if _, err := a.PlanAudit(ctx, s2, dir, app.AuditOptions{Workers: 1}); err == nil ||
		!strings.Contains(err.Error(), "another audit") {
		t.Errorf("another audit into the same folder: %v", err)
	}
}

// A server shows how far a planned audit is and what has it made, in the words of nero status, and the audit as soon as
// it is there.
func TestServedBeforeItIsMade(t *testing.T) {
	var ticks atomic.Int64
	a := &app.App{Version: "1", Now: func() time.Time { return time.Unix(2_000_000_000+60*ticks.Add(1), 0) }}
	work := t.TempDir()
	dir := filepath.Join(work, "plans", "the audit")
	s := turning(t, a)
	s.Audit.Samples, s.Audit.Elements, s.Audit.Checks = 40, 4, []string{"preflight", "sweep"}
	plan, err := a.PlanAudit(t.Context(), s, dir, app.AuditOptions{Workers: 1, Command: "nero audit"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan *app.Serving, 1), make(chan error, 1)
	go func() {
		o := app.ServeOptions{
			Stored: true, Workers: 1, Ready: func(s *app.Serving) { ready <- s }, Log: slog.New(slog.DiscardHandler),
		}
		o.Guard.PortSet = true // any free one
		ended <- a.Serve(ctx, []string{filepath.Join(work, "plans")}, o)
	}()
	var at *app.Serving
	select {
	case at = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	merge := "nero merge 'plans/the audit'"
	if len(at.Waiting) != 1 || at.Audits != 0 || !strings.Contains(at.Waiting[0], "the audit is a planned audit") ||
		!strings.HasSuffix(at.Waiting[0], ", then "+merge) {
		t.Errorf("%+v", at)
	}
	shown := func() (all api.Runs) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.URLs[0]+"api/v1/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close() //nolint:errcheck // read
		b, err := io.ReadAll(r.Body)
		if err != nil || strings.Contains(string(b), work) {
			t.Errorf("%s, %v", b, err)
		}
		if err := json.Unmarshal(b, &all); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		return all
	}
	last := strconv.Itoa(plan.Shards - 1)
	others := "1"
	if plan.Shards > 2 {
		others += "-" + last
	}
	for kept, todo := range []string{"--index 0-" + last, "--index " + others} {
		all := shown()
		if len(all.Planned) != 1 || len(all.Problems) != 0 {
			t.Fatalf("%+v", all)
		}
		p := all.Planned[0]
		want := []string{"nero shard 'plans/the audit' " + todo, merge}
		if p.Name != "the audit" || p.Folder != "plans/the audit" || p.Kept != kept || p.Shards != plan.Shards ||
			p.Samples != 40 || !slices.Equal(p.Commands, want) || len(p.Models) != 1 ||
			!strings.HasPrefix(p.Says, fmt.Sprintf("%d of %d shards are kept", kept, plan.Shards)) {
			t.Errorf("%+v", p)
		}
		o := app.ShardOptions{Index: "0", Workers: 1}
		if kept == 1 {
			o.Index = others
		}
		if err := a.Shard(t.Context(), dir, o); err != nil {
			t.Fatal(err)
		}
	}
	if p := shown().Planned; len(p) != 1 || !slices.Equal(p[0].Commands, []string{merge}) ||
		!strings.Contains(p[0].Says, "complete it with: "+merge) {
		t.Errorf("%+v", p)
	}
	if _, err := a.MergeAudit(t.Context(), dir, app.Engine{}, 1, "json"); err != nil {
		t.Fatal(err)
	}
	if all := shown(); len(all.Planned) != 0 || len(all.Audits) != 1 || all.Audits[0].Name != "the audit" {
		t.Errorf("%+v", all)
	}
}

// A model or data that are others than those of the plan are refused by shards and by the merge: what is kept was
// answered by the model of the plan.
func TestPlannedAuditChanged(t *testing.T) {
	a := &app.App{Version: "1"}
	ctx := t.Context()
	dir, here := filepath.Join(t.TempDir(), "audit"), t.TempDir()
	copied := func(from string) string {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(here, filepath.Base(from))
		if err := os.WriteFile(to, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return to
	}
	s := turning(t, a)
	other, err := a.OpenStudy(filepath.Join("..", "studies", "digits", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.Audit.Samples, s.Audit.Elements, s.Audit.Checks = 8, 4, []string{"preflight", "sweep"}
	s.Models[0].ONNX, s.Data.Labels = copied(s.Models[0].ONNX), copied(s.Data.Labels)
	model, labels := s.Models[0].ONNX, s.Data.Labels
	if _, err := a.PlanAudit(ctx, s, dir, app.AuditOptions{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	shard := func() error { return a.Shard(ctx, dir, app.ShardOptions{Index: "0", Workers: 1}) }
	if err := shard(); err != nil {
		t.Fatal(err)
	}
	merge := func() error {
		_, err := a.MergeAudit(ctx, dir, app.Engine{}, 1, "json")
		return err
	}
	for what, c := range map[string]struct{ to, from, want string }{
		"model": {model, other.Models[1].ONNX, "another than when"},
		"data":  {labels, relabelled(t, labels), "other than when"},
	} {
		for _, f := range []func() error{shard, merge} {
			if err := swapped(t, c.to, c.from, f); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("another %s: %v", what, err)
			}
		}
	}
	if err := merge(); err != nil {
		t.Errorf("all as planned: %v", err)
	}
}

// relabelled is a copy of a compressed file of labels whose last one is another.
func relabelled(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-1] = (raw[len(raw)-1] + 1) % 10
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "labels.gz")
	if err := os.WriteFile(to, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

func missing(err error, n int) bool {
	m, ok := errors.AsType[*app.MissingError](err)
	return ok && m.Missing == n
}

// swapped calls f while one file is a copy of another.
func swapped(t *testing.T, to, from string, f func() error) error {
	t.Helper()
	was, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.WriteFile(to, was, 0o600) }()
	return f()
}
