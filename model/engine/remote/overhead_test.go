//go:build slow && unix

package remote_test

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/remote"
	"nero/model/engine/remote/remotetest"
)

// cpu is the processor time of this process so far, in seconds: client and server.
func cpu(t *testing.T) float64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// TestOverhead measures what a server costs beyond the engine, on a flow estimator of the built-in study at batch 8: 4
// MiB in and out. Server and client share the process, whose processor time is taken; ways take turns, so that a busy
// machine slows all of them. The figures of docs/BENCHMARKS.md are from here.
func TestOverhead(t *testing.T) {
	const model = "../../../studies/flow/models/flow-plain.onnx"
	b, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	models, s := serve(t, remotetest.Options{})
	if err := models.Load(t.Context(), "flow", b, engine.Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	here, err := body(t).Open(t.Context(), b, engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = here.Close() }() // only run
	ways := []string{"in-process", "gRPC", "HTTP, binary", "HTTP, JSON"}
	sessions := []engine.Session{here}
	for _, c := range []remote.Config{
		{URL: s.URL("grpc", "flow")},
		{URL: s.URL("http", "flow")},
		{URL: s.URL("http", "flow"), JSON: true},
	} {
		m, err := remote.Connect(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }() // only run
		sessions = append(sessions, m)
	}
	const rounds, json, every = 15, 3, 5 // JSON takes long and seldom its turn
	in := []tensor.Named{{Name: here.Inputs()[0], Tensor: pictures(8, 2, 256, 256)}}
	times, walls := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range rounds + 1 {
		for i, s := range sessions {
			if i == json && round%every != 0 {
				continue
			}
			from, start := cpu(t), time.Now()
			if _, err := s.Run(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if round > 0 { // the first fills pools
				times[i], walls[i] = append(times[i], cpu(t)-from), append(walls[i], time.Since(start).Seconds())
			}
		}
	}
	median := func(v []float64) float64 {
		v = slices.Clone(v)
		slices.Sort(v)
		return v[len(v)/2]
	}
	for i, way := range ways {
		t.Logf("%-13s %7.1f ms of processor time, x%.3f; %7.1f ms on the clock, x%.3f", way, 1e3*median(times[i]),
			median(times[i])/median(times[0]), 1e3*median(walls[i]), median(walls[i])/median(walls[0]))
	}
	if r := median(times[1]) / median(times[0]); !(r < 1.5) { // the target is 1.15, on a machine of its own
		t.Errorf("gRPC takes %.2f times the processor time of a run in the process", r)
	}
}
