package workload

import (
	"os"
	"path/filepath"
	"testing"

	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/run/job"
	"nero/symmetry/action"
)

// BenchmarkShard runs the first samples of the built-in studies, engine and all; with -cpuprofile it shows what the
// rest costs beside the engine.
func BenchmarkShard(b *testing.B) {
	for _, name := range []string{
		"digits/demo", "cells/demo", "flow/demo", "molecules/demo", "graphs/graphs",
		"graphs/sets", "clouds/demo",
	} {
		b.Run(name, func(b *testing.B) {
			b.Chdir(filepath.Join("..", "..", "studies", filepath.Dir(name))) // where the paths of the study begin
			file := filepath.Base(name) + ".yaml"
			text, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			s, err := job.ParseStudy(file, text)
			if err != nil {
				b.Fatal(err)
			}
			c, err := choose.Open(b.Context(), choose.Request{Kind: "native"}, choosetest.Host())
			if err != nil {
				b.Skip(err)
			}
			w, err := Open(b.Context(), s, Options{Engine: c.Engine, Rules: action.Rules()})
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close() //nolint:errcheck // nothing is lost
			if err := w.Eval.Calibrate(b.Context(), 1); err != nil {
				b.Fatal(err)
			}
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				i := n % w.Job.Count
				if _, err := w.Eval.Shard(b.Context(), job.Shard{Lo: i, Hi: i + 1}, nil); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n*len(w.Job.Elements)*len(w.Job.Models)),
				"us/evaluation")
		})
	}
}
