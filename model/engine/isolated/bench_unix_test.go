//go:build unix

package isolated_test

import (
	"syscall"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/isolated"
)

// spent is the processor time of this process and of those that it has waited for.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var all time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			b.Fatal(err)
		}
		all += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return all
}

// BenchmarkCall is the processor time of both sides for a model that does nothing: what a process of its own costs.
func BenchmarkCall(b *testing.B) {
	for _, c := range []struct {
		name  string
		shape []int
	}{
		{"digits", []int{16, 1, 28, 28}},
		{"pictures", []int{8, 3, 224, 224}},
	} {
		b.Run(c.name, func(b *testing.B) {
			before := spent(b)
			e, err := isolated.New(b.Context(), isolated.Config{Command: isolated.Itself, Library: "faulty"})
			if err != nil {
				b.Fatal(err)
			}
			s, err := e.Open(b.Context(), []byte("model"), engine.Options{})
			if err != nil {
				b.Fatal(err)
			}
			in := []tensor.Named{{Name: "x", Tensor: tensor.New(tensor.Float32, c.shape...)}}
			for b.Loop() {
				if _, err := s.Run(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			if err := e.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64((spent(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
