package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"nero/model/engine/choose"
	"nero/run/exec"
	"nero/run/job"
	"nero/run/store"
)

// What passes by itself is worth another try, and nothing else is.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		{fmt.Errorf("deep: %w", &os.PathError{Op: "read", Path: "x", Err: syscall.EIO}), true},
		{&exec.StoppedError{Done: 1, All: 2}, true},
		{resumable(context.Canceled, "run"), true},
		{fmt.Errorf("run is %w", store.ErrBusy), true},
		{&os.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, false},
		{os.ErrPermission, false},
		{store.ErrCorrupt, false},
		{store.ErrIncompatible, false},
		{errors.New("computed twice with different results"), false},
		{io.ErrUnexpectedEOF, false},
	} {
		got := again(c.err)
		if _, ok := errors.AsType[*AgainError](got); ok != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v: again %v, %v", c.err, ok, got)
		}
	}
	if again(nil) != nil {
		t.Error("nothing went wrong")
	}
}

// Rates are those of the last shards; what lay in between does not count, nor how many clocks there are.
func TestRate(t *testing.T) {
	at := func(seconds ...float64) (out []store.Kept) {
		for i, s := range seconds {
			out = append(out, store.Kept{
				Shard: job.Shard{Index: i, Lo: 4 * i, Hi: 4*i + 4},
				At:    time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))),
			})
		}
		return out
	}
	resumed := []float64{0, 1, 2}
	for i := range lastShards {
		resumed = append(resumed, 86400+2*float64(i))
	}
	// A worker that was away for an hour in the middle of the last shards.
	away, together := []float64{}, []float64{}
	for i := range 10 {
		away = append(away, 2*float64(i))
	}
	for i := range 10 {
		away = append(away, 3600+2*float64(i))
	}
	// 16 workers that end together every 108 seconds, and never pause.
	for i := range 160 {
		together = append(together, 108*float64(i/16)+0.01*float64(i%16))
	}
	for _, c := range []struct {
		kept   []store.Kept
		want   float64
		paused bool
	}{
		{nil, 0, false},
		{at(3), 0, false},
		{at(3, 3), 0, false},
		{at(0, 2), 2, false},
		{at(0, 2, 4, 6), 2, false},
		{at(resumed...), 2, false},
		{at(away...), 2, true},
		{at(together...), 4 * 16 / 108., false},
	} {
		got, paused := rate(c.kept)
		if math.Abs(got-c.want) > 0.25*c.want || paused > 0 != c.paused {
			t.Errorf("%d shards: %v, pauses %s, want %v", len(c.kept), got, paused, c.want)
		}
	}
}

// A fast run has no exponent where people read how fast it is.
func TestPace(t *testing.T) {
	for rate, want := range map[float64]string{0.01234: "0.0123", 33.61: "33.6", 127.4: "127", 3952: "3,952"} {
		if got := pace(rate); got != want {
			t.Errorf("%v: %s, want %s", rate, got, want)
		}
	}
}

// Names of jobs are those that every scheduler takes.
func TestJobName(t *testing.T) {
	const hash = "0123456789abcdef"
	for folder, want := range map[string]string{
		"run": "nero-run-01234567", "My Run_7.": "nero-my-run-7-01234567", "日本": "nero-01234567",
		"----": "nero-01234567", "x": "nero-x-01234567",
		"a123456789b123456789c123456789d123456789e": "nero-a123456789b123456789c123456789d123456789-01234567",
	} {
		if got := jobName(folder, hash); got != want {
			t.Errorf("%s: %s, want %s", folder, got, want)
		}
	}
}

// A worker on another kind of processor than the plan says so, where the engine may differ there.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		planned, here, engine string
		said                  int
	}{
		{"amd64 a", "amd64 b", choose.Native, 1},
		{"amd64 a", "amd64 a", choose.Native, 0},
		{"amd64 a", "amd64 b", choose.Wasm, 0},
		{"", "amd64 b", choose.Native, 0},
		{"amd64 a", "", choose.Native, 0},
	} {
		var said []string
		a := App{
			Host:   &choose.Places{Processor: c.here},
			Events: func(e Event) { said = append(said, e.Text) },
		}
		a.elsewhere(c.planned, &job.Job{Engine: job.Engine{Name: c.engine}})
		if len(said) != c.said || len(said) > 0 &&
			!strings.Contains(said[0], "another processor (amd64 a) than this one (amd64 b)") {
			t.Errorf("%+v: %q", c, said)
		}
	}
}

// A worker without the library that the plan's engine is in says what to do; other errors stay as they are.
func TestUninstalled(t *testing.T) {
	var a App
	j := &job.Job{Engine: job.Engine{Name: choose.Native, Version: "1.27.0"}}
	err := a.uninstalled(fmt.Errorf("models[0]: %w", choose.ErrNoLibrary), "run", j)
	if !errors.Is(err, choose.ErrNoLibrary) || !strings.Contains(err.Error(), "pip install onnxruntime==1.27.0") ||
		!strings.Contains(err.Error(), "nero plan --engine wasm") {
		t.Errorf("without the library: %v", err)
	}
	if other := a.uninstalled(io.ErrUnexpectedEOF, "run", j); !errors.Is(other, io.ErrUnexpectedEOF) {
		t.Errorf("another error: %v", other)
	}
}
