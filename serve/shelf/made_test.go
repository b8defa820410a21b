package shelf

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nero/internal/disk"
	"nero/measure/metric"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// made is a run that a test makes without any model.
type made struct {
	samples int
	models  []string
	metrics []string
	group   string
	grid    []int
	shard   int
	seed    uint64
	// number of the first sample, in its name
	first int
	// values that are no numbers, and samples that failed
	holes    bool
	weights  bool
	unlabled bool
	// default: i%3, and -1 for every eleventh
	label   func(i int) int
	tag     bool
	summary bool
	// boxes are the answers, in two classes; with holes, some have coordinates or scores that are not finite
	boxes bool
	// shards to write; nil for all, and then the run is complete
	only    []int
	names   string
	measure string
}

// small is a run with everything in it.
func small() made {
	return made{
		samples: 57, models: []string{"plain", "it's <b>B</b>"},
		metrics: []string{"confidence", "accuracy", "relative", "margin"}, group: "SO(2)", grid: []int{12},
		shard: 10, seed: 1, holes: true, tag: true, summary: true,
	}
}

// unsynced is a disk that does not wait, for files that are gone after the test.
type unsynced struct{ disk.OS }

func (unsynced) SyncDir(string) error { return nil }

func (u unsynced) Create(name string) (disk.File, error) {
	f, err := u.OS.Create(name)
	return unsyncedFile{f}, err
}

type unsyncedFile struct{ disk.File }

func (unsyncedFile) Sync() error { return nil }

func digest(s string) string { return fmt.Sprintf("%064x", []byte(s))[:64] }

func (m made) job(tb testing.TB) *job.Job {
	tb.Helper()
	g, err := catalog.Parse(m.group)
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := orbit.NewPlan(g, orbit.Spec{Grid: m.grid}, action.Trivial{G: g}, action.Trivial{G: g}, 1)
	if err != nil {
		tb.Fatal(err)
	}
	j := &job.Job{
		Format: job.FormatSmall, Numbers: 1, Count: m.samples, Classes: 4, Measure: plan.Measure + m.measure,
		Elements: plan.Elements, Names: m.names,
		Files:  []job.Ref{{Path: "/secret place/of data/images.gz", SHA256: digest("images")}},
		Engine: job.Engine{Name: "test", Version: "1.0"}, Shard: m.shard, Seed: m.seed, Metrics: m.metrics,
		Study: job.Study{
			Version: 1,
			Data:    job.Data{Images: "/secret place/of data/images.gz", Labels: "/secret place/of data/labels.gz"},
			Group:   job.Group{Name: g.Name(), Orbit: job.Orbit{Grid: m.grid}},
		},
	}
	if m.boxes {
		j.Study.Output.Space = "boxes"
	}
	job.Defaults(&j.Study)
	j.Exact = make([]bool, len(j.Elements))
	if m.weights {
		total := 0.0
		for i := range j.Elements {
			j.Weights = append(j.Weights, float64(i%3))
			total += float64(i % 3)
		}
		for i := range j.Weights {
			j.Weights[i] /= total
		}
	}
	for _, name := range m.models {
		file := "/secret place/of models/model.onnx"
		j.Study.Models = append(j.Study.Models, job.Model{Name: name, ONNX: file})
		j.Models = append(j.Models, job.ModelRef{Name: name, Ref: job.Ref{Path: file, SHA256: digest(name)}, Batch: 8})
	}
	if err := j.Validate(); err != nil {
		tb.Fatal(err)
	}
	return j
}

func (m made) labelOf(i int) int {
	switch {
	case m.unlabled:
		return -1
	case m.label != nil:
		return m.label(i)
	case i%11 == 10:
		return -1
	}
	return i % 3
}

// rows are the rows of a shard, the same whenever they are asked for.
func (m made) rows(j *job.Job, s job.Shard) []job.Row {
	var out []job.Row
	for at := range j.Models {
		for i := s.Lo; i < s.Hi; i++ {
			n := i + m.first
			r := rand.New(rand.NewPCG(m.seed+uint64(len(j.Models[at].Name)), uint64(n)))
			row := job.Row{
				Model: at, Index: i, Sample: fmt.Sprintf("s%d é<i>", n), Label: m.labelOf(n),
				Top: make([]int32, len(j.Elements)),
			}
			if m.tag && n%4 == 0 {
				row.Tags = []string{"blurred", fmt.Sprintf("t%d", n%3)}
			}
			if m.holes && n%13 == 5 {
				row.Err = "open /secret place/of data/s.png: no such file"
			}
			for _, name := range j.Metrics {
				c := make([]float32, len(j.Elements))
				for g := range c {
					switch name {
					case "accuracy":
						c[g] = float32(r.IntN(2))
					case "relative":
						c[g] = float32(math.Exp(6*r.Float64() - 8))
						if g == 0 {
							c[g] = 0
						}
					case "margin":
						c[g] = float32(2*r.Float64() - 1)
					default:
						c[g] = float32(r.Float64())
					}
					if m.holes && n%17 == 3 && g%5 == 2 && name != "accuracy" {
						c[g] = float32(math.NaN())
						if n%2 == 0 {
							c[g] = float32(math.Inf(1))
						}
					}
					if row.Err != "" {
						c[g] = float32(math.NaN())
					}
				}
				row.Curves = append(row.Curves, c)
			}
			for g := range row.Top {
				row.Top[g] = int32(r.IntN(4))
			}
			if m.boxes {
				row.Top = nil
				m.detect(r, &row, len(j.Elements))
			}
			if row.Err != "" {
				row.Top, row.Boxes, row.Truths = nil, nil, nil
			}
			out = append(out, row)
		}
	}
	return out
}

// detect gives a row up to three boxes at each element, some of them matched with one of up to three objects.
func (m made) detect(r *rand.Rand, row *job.Row, elements int) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for e := range elements {
		var found []job.Detection
		for range r.IntN(4) {
			found = append(found, job.Detection{
				X2: 1, Y2: 1, Score: r.Float32(), Label: int32(r.IntN(2)),
				Match: uint16(1<<r.IntN(metric.Thresholds+1) - 1),
			})
		}
		if m.holes && len(found) > 0 && row.Index%9 == 2 {
			switch d := &found[0]; e % 4 {
			case 0:
				d.Score = nan
			case 1:
				d.X1, d.X2 = -inf, inf
			case 2:
				d.Angle = nan
			}
		}
		row.Boxes = append(row.Boxes, found)
		row.Truths = append(row.Truths, []int32{2, int32(r.IntN(2))})
	}
}

// write writes what is asked for of the run, beside what is there.
func (m made) write(tb testing.TB, dir string) *job.Job {
	tb.Helper()
	j := m.job(tb)
	r, err := store.Create(dir, j, store.Options{FS: unsynced{}})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	}()
	for _, s := range j.Shards() {
		if (m.only == nil || slices.Contains(m.only, s.Index)) && !r.Done(s.Index) {
			if err := r.Commit(tb.Context(), s, m.rows(j, s), nil); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if m.only != nil {
		return j
	}
	if m.summary {
		sum := m.fold(tb, j, r)
		b, err := json.Marshal(sum)
		if err != nil {
			tb.Fatal(err)
		}
		if err := r.Put("summary.json", b); err != nil {
			tb.Fatal(err)
		}
	}
	if err := r.Finish(tb.Context(), map[string]string{"nero": "test"}); err != nil {
		tb.Fatal(err)
	}
	return j
}

func (m made) fold(tb testing.TB, j *job.Job, r *store.Run) *fold.Summary {
	tb.Helper()
	g, err := catalog.Parse(m.group)
	if err != nil {
		tb.Fatal(err)
	}
	sum, err := fold.Fold(fold.Input{
		Job: j, Hash: r.Hash(), Group: g, Classes: []string{"zero", "one", "two <b>", "three"}, Confidence: 0.9,
		Rows: func(model, k int) iter.Seq2[job.Row, error] {
			return r.Rows(store.Filter{
				Models: []int{model}, Metrics: j.Metrics[k : k+1], Boxes: metricOf(nil, j.Metrics[k]).OfHits,
			})
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return sum
}

func opened(tb testing.TB, o Options, paths ...string) *Shelf {
	tb.Helper()
	s, err := Open(tb.Context(), paths, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func run(tb testing.TB, s *Shelf, id string) *Run {
	tb.Helper()
	r, err := s.Run(id)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// one makes a run and opens it alone.
func one(tb testing.TB, m made) *Run {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "run")
	m.write(tb, dir)
	return run(tb, opened(tb, Options{}, dir), "run")
}

func writeFile(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}
