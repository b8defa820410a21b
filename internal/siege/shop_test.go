//go:build unix

package siege

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nero/app"
	"nero/model/engine/choose"
	"nero/serve/guard"
)

// shop is a server over runs with live models, in this process: what it does is seen by the race detector, and what it
// holds can be counted.
type shop struct {
	// HOST:PORT
	at string
	// said is its log: warnings and errors
	said *said
	stop func()
}

// stock makes runs to be shown, of models that can be asked: classes under turns, complete, half done, and with the
// results of an audit; displacements, and points in space; and a folder that is damaged.
func stock(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("NERO_ORT_LIB", choose.None)
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	pictures(t, at("data", "photos"), 16)
	for _, name := range []string{"pairs", "cloud off"} {
		files := map[string]string{}
		for path, text := range breeds()[name].files {
			files[path] = stored(t, text)
		}
		plant(t, at("data", name), files)
	}
	one, others := serve(t, toy{}), strings.TrimSuffix(serve(t, bodies{}), "/m")
	two := strings.TrimSuffix(one, "m") + "second"
	turns := []string{"--data", at("data", "photos"), "--group", "SO(2)", "--orbit", "30"}
	run := func(name string, args ...string) {
		t.Helper()
		must(t, append([]string{"run", "-q", "-w", "2", "-o", at("runs", name)}, args...)...)
	}
	run("turns", append([]string{"--model", "toy=" + one, "--model", "other=" + two}, turns...)...)
	run("half", append([]string{"--model", "toy=" + one}, turns...)...)
	half := tree(t, at("runs", "half"))
	for n, name := range slices.Sorted(maps.Keys(half)) {
		if base := filepath.Base(name); base == "manifest.json" || base == "summary.json" ||
			strings.HasPrefix(name, "shards") && n%2 == 0 {
			delete(half, name)
		}
	}
	plant(t, at("runs", "half"), half)
	for _, name := range []string{"pairs", "cloud off"} {
		b := breeds()[name]
		run(strings.Fields(name)[0], append([]string{
			"--model", "toy=" + others + "/" + b.model, "--data", at("data", name),
		}, b.args...)...)
	}
	must(t, "audit", "-q", "--invariant", "--checks", "lattice", "-f", "json", "-o", at("runs", "audit"), "--fail-on",
		"nothing", "--group", "C4", "--model", "toy="+one, "--data", at("data", "photos"))
	plant(t, at("runs", "broken"), map[string]string{"job.json": "{"})
}

// open opens a shop over what is below a folder.
func open(t *testing.T, dir string, limits guard.Limits) *shop {
	t.Helper()
	s := &shop{said: &said{}}
	a := &app.App{Version: "siege", Now: time.Now, Stop: make(chan struct{}), Process: app.Itself}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, ended := make(chan *app.Serving, 1), make(chan error, 1)
	go func() {
		ended <- a.Serve(ctx, []string{dir}, app.ServeOptions{
			Guard: guard.Options{PortSet: true, Limits: limits}, Workers: 2, Engine: app.Engine{TimeLimit: time.Minute},
			Log:   slog.New(slog.NewTextHandler(s.said, &slog.HandlerOptions{Level: slog.LevelWarn})),
			Ready: func(s *app.Serving) { ready <- s },
		})
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	t.Cleanup(s.stop)
	select {
	case serving := <-ready:
		u, err := url.Parse(serving.URLs[0])
		if err != nil {
			t.Fatal(err)
		}
		s.at = u.Host
	case err := <-ended:
		ended <- err
		t.Fatalf("the server does not start: %v", err)
	}
	return s
}

// holding is what a process holds.
type holding struct {
	goroutines, files int
	heap              uint64
}

// held counts what this process holds. Where the system does not list descriptors there are none.
func held() holding {
	runtime.GC()
	runtime.GC() // what the first one finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return holding{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

func (h holding) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %.1f MB", h.goroutines, h.files, float64(h.heap)/1e6)
}

// back waits until no more is held than before, and little more memory. Spare is how many descriptors may be more, with
// the goroutines that serve them: connections to endpoints are kept for a while.
func back(t *testing.T, what string, before holding, spare int) {
	t.Helper()
	const mostMore = 48 << 20
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		now := held()
		if now.goroutines <= before.goroutines+4*spare && now.files <= before.files+spare &&
			now.heap <= before.heap+mostMore {
			t.Logf("%s: %v, before %v", what, now, before)
			return
		}
		if time.Since(begin) > time.Minute {
			all := make([]byte, 1<<20)
			t.Fatalf("%s: %v are held a minute later, before %v\n%s", what, now, before,
				all[:runtime.Stack(all, true)])
		}
	}
}
