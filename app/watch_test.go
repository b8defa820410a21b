package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nero/app"
	checked "nero/audit"
	"nero/audit/document"
	"nero/studies/digits"
	"nero/watch"
)

// release writes the audit of a release of which some inputs fail, and which asks about inputs from one on.
func release(t *testing.T, dir string, k, from int, sizes ...float64) {
	t.Helper()
	set := document.Set{
		Name: "exact elements", Exact: true, Verdict: document.Failed, Cause: string(checked.CauseViolation),
		Inputs: len(sizes), PerInput: &document.PerInput{},
		Profile: []document.Point{{Coordinates: []document.Number{90}}},
	}
	for i, x := range sizes {
		set.PerInput.Samples = append(set.PerInput.Samples, strconv.Itoa(from+i))
		set.PerInput.Largest = append(set.PerInput.Largest, document.Number(x))
		set.PerInput.Mean = append(set.PerInput.Mean, document.Number(x))
	}
	a := &document.Audit{Format: document.Format, Verdict: document.Failed, Exit: 1, Models: []document.Model{{
		Model: fmt.Sprintf("net-v%d", k), Verdict: document.Failed,
		Claim:  document.Claim{Group: "C4", Inputs: len(sizes), Output: "scores 3"},
		Policy: document.Policy{Threshold: 0.01, Confidence: 0.95},
		Checks: []document.Check{{Check: "lattice", Status: document.Tested, Sets: []document.Set{set}}},
		Basis:  []document.Fact{{Name: "data", Value: fmt.Sprintf("sha256 of %d", from)}},
	}}}
	var b bytes.Buffer
	if err := document.Write(&b, a); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, fmt.Sprintf("v%d.json", k))
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, k, 0, 0, time.UTC)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

// stepped is a wait in which something happens to the folder; after the last of them the watch is stopped.
func stepped(stop context.CancelFunc, happens ...func()) func(context.Context) error {
	return func(ctx context.Context) error {
		if len(happens) == 0 {
			stop()
			return ctx.Err()
		}
		happens[0]()
		happens = happens[1:]
		return nil
	}
}

// A folder that is followed is read whenever something in it changes, and not otherwise, until somebody stops it or
// the first alarm does.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	good, bad := make([]float64, 40), make([]float64, 40)
	for i := range good {
		good[i], bad[i] = 0.1+float64(i)/1000, 0.3+float64(i)/1000
	}
	var notes []string
	a := &app.App{Events: func(e app.Event) {
		if e.Kind == app.Note {
			notes = append(notes, e.Text)
		}
	}}
	o := app.WatchOptions{Workers: 1, By: "version", Allow: app.PresetAllow}
	var seen []string
	errAlarm := errors.New("alarm")
	show := func(r *app.WatchResult) error {
		seen = append(seen, fmt.Sprintf("%d %s", r.Report.Audits, r.Report.State))
		if !r.Good() {
			return errAlarm
		}
		return nil
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	nothing := func() {}
	err := a.FollowReleases(ctx, dir, o, stepped(stop,
		nothing,
		func() { release(t, dir, 1, 0, good...) },
		nothing,
		func() { write(t, filepath.Join(dir, "notes.txt"), "no audit") },
		func() { write(t, filepath.Join(dir, "v2.json"), `{"format": 1, "verdict": "PASS", "models": [{"mod`) },
		func() { release(t, dir, 2, 0, good...) },
		nothing,
		func() { release(t, dir, 3, 0, good...) },
	), show)
	if want := []string{"1 open", "1 open", "2 ok", "3 ok"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("%v, seen %q, want %q", err, seen, want)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "no audit and no run") {
		t.Errorf("notes of an empty folder: %q", notes)
	}
	seen = nil
	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	err = a.FollowReleases(ctx, dir, o, stepped(stop, func() { release(t, dir, 4, 0, bad...) }, nothing), show)
	if want := []string{"3 ok", "4 alarm"}; !errors.Is(err, errAlarm) || !slices.Equal(seen, want) {
		t.Errorf("%v, seen %q, want %q", err, seen, want)
	}
	if ctx.Err() != nil {
		t.Error("it waited after the alarm")
	}
}

// A watch that is stopped and begun again says what one that was never stopped says, whether it has the files that it
// read or their report alone: the levels of comparisons and the evidence of new inputs are the same to the last bit.
func TestStoppedWatchGoesOn(t *testing.T) {
	a := &app.App{}
	o := app.WatchOptions{Workers: 1, By: "version", Allow: app.PresetAllow, Rate: 0.2}
	fails := func(k int) []float64 {
		x := make([]float64, 30)
		for i := range x {
			if i%(9-k) == 0 {
				x[i] = 0.1
			}
		}
		return x
	}
	releases := func(dir string, from, to int) (all []func()) {
		for k := from; k <= to; k++ {
			all = append(all, func() { release(t, dir, k, 100*k, fails(k)...) })
		}
		return all
	}
	follow := func(dir string, o app.WatchOptions, happens ...func()) *watch.Report {
		t.Helper()
		var last *watch.Report
		ctx, stop := context.WithCancel(t.Context())
		if err := a.FollowReleases(ctx, dir, o, stepped(stop, happens...), func(r *app.WatchResult) error {
			last = r.Report
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return last
	}
	text := func(r *watch.Report) string {
		for _, s := range r.Series {
			if s.FirstAlarm != nil {
				s.FirstAlarm.Command = "" // names the folder
			}
		}
		b, err := json.Marshal(r.Series)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	whole := t.TempDir()
	r := follow(whole, o, releases(whole, 1, 8)...)
	if r.Good() || len(r.Series) != 1 {
		t.Fatalf("%d series, %s", len(r.Series), r.Sentence)
	}
	want := text(r)
	half := t.TempDir()
	follow(half, o, releases(half, 1, 4)...)
	if got := text(follow(half, o, releases(half, 5, 8)...)); got != want {
		t.Errorf("stopped with the files there:\n%s\nwant\n%s", got, want)
	}
	first, second, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "watched")
	kept := o
	kept.Out = out
	follow(first, kept, releases(first, 1, 4)...)
	on := o
	on.After = filepath.Join(out, "watch.json")
	if got := text(follow(second, on, releases(second, 5, 8)...)); got != want {
		t.Errorf("stopped, and the files gone:\n%s\nwant\n%s", got, want)
	}
}

// A checkpoint is left alone while it may still be written, and one that cannot be audited is tried again when it has
// changed; the clock is handed in.
func TestCheckpointsSettle(t *testing.T) {
	dir, study := t.TempDir(), t.TempDir()
	if err := os.CopyFS(study, digits.Files); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "epoch-1.onnx")
	write(t, name, "half a model")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	now := info.ModTime().Add(time.Second)
	tried := 0
	a := &app.App{Now: func() time.Time { return now }, Events: func(e app.Event) {
		if e.Kind == app.Note && strings.Contains(e.Text, "epoch-1.onnx: it could not be audited") {
			tried++
		}
	}}
	o := app.WatchOptions{
		Workers: 1, Allow: app.PresetAllow, Study: filepath.Join(study, "demo.yaml"), Engine: app.Engine{Kind: "wasm"},
	}
	ctx, stop := context.WithCancel(t.Context())
	var at []int
	err = a.FollowReleases(ctx, dir, o, stepped(stop,
		func() { at = append(at, tried) },
		func() { at, now = append(at, tried), now.Add(5*time.Second) },
		func() { at = append(at, tried) },
		func() { at = append(at, tried) },
		func() { write(t, name, "another half of a model"); now = now.Add(time.Hour) },
	), func(*app.WatchResult) error { return errors.New("there is nothing to show") })
	if want := []int{0, 0, 1, 1}; err != nil || !slices.Equal(at, want) || tried != 2 {
		t.Errorf("%v: tried %v times and %d in the end, want %v and 2", err, at, tried, want)
	}
	if _, err := a.WatchReleases(t.Context(), dir, o); !errors.Is(err, app.ErrNoReleases) ||
		!strings.Contains(err.Error(), "epoch-1.onnx") {
		t.Errorf("once: %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
