package watch

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nero/measure/metric"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/trend"
	"nero/symmetry/group"
)

// ran writes the run of a model whose rows are made by a function of the sample and the element.
func ran(t *testing.T, dir string, k int, of func(row *job.Row, element int), sum *fold.Summary) {
	t.Helper()
	const samples = 40
	j := &job.Job{
		Format: job.FormatSmall, Numbers: 1, Count: samples, Classes: 3, Measure: "all elements",
		Elements: []group.Element{{0, 0}, {1, 0}, {2, 0}, {3, 0}}, Exact: make([]bool, 4),
		Files:  []job.Ref{{Path: "images.gz", SHA256: strings.Repeat("ab", 32)}},
		Engine: job.Engine{Name: "test", Version: "1.0"}, Shard: samples, Metrics: []string{"accuracy"},
		Study: job.Study{
			Version: 1, Data: job.Data{Images: "images.gz"}, Group: job.Group{Name: "C4"},
			Models: []job.Model{{Name: "net", ONNX: fmt.Sprintf("net-v%d.onnx", k)}},
		},
		Models: []job.ModelRef{{Name: "net", Batch: 8, Ref: job.Ref{
			Path: fmt.Sprintf("net-v%d.onnx", k), SHA256: fmt.Sprintf("%064x", k),
		}}},
	}
	var rows []job.Row
	for i := range samples {
		row := job.Row{
			Index: i, Sample: strconv.Itoa(i), Label: i % 3, Curves: [][]float32{make([]float32, 4)},
			Support: float32(math.NaN()), Agreement: float32(math.NaN()),
		}
		for element := range 4 {
			row.Curves[0][element] = float32((i + element + k) % 2)
			of(&row, element)
		}
		j.Pixels = row.Pixels != nil
		rows = append(rows, row)
	}
	if sum != nil && sum.Metrics != nil {
		j.Metrics = []string{sum.Metrics[0].Name}
	}
	if rows[0].Boxes != nil {
		j.Study.Output.Space = "boxes"
	}
	job.Defaults(&j.Study)
	r, err := store.Create(filepath.Join(dir, fmt.Sprintf("v%d", k)), j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // everything is committed
	if err := r.Commit(t.Context(), j.Shards()[0], rows, nil); err != nil {
		t.Fatal(err)
	}
	if sum != nil {
		b, err := json.Marshal(sum)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Put(summaryFile, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Finish(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// Whether outputs vary is told by the scale where a run has one, else by the answers that its rows hold. One answer to
// everything is none, and what a run says nothing of is not known.
func TestRunsOfConstants(t *testing.T) {
	nan := fold.Number(math.NaN())
	top := func(of func(sample, element int) int32) func(row *job.Row, element int) {
		return func(row *job.Row, element int) { row.Top = append(row.Top, of(row.Index, element)) }
	}
	boxes := func(score func(sample int) float32) func(row *job.Row, element int) {
		return func(row *job.Row, _ int) {
			row.Boxes = append(row.Boxes, []job.Detection{{
				X2: 4, Y2: 4, Score: score(row.Index), Match: uint16(row.Index % 2),
			}})
			row.Truths = append(row.Truths, []int32{1, 0, 0})
		}
	}
	nothing := func(*job.Row, int) {}
	const dead, alive, unknown = "dead", "alive", "unknown"
	for name, c := range map[string]struct {
		of   func(row *job.Row, element int)
		sum  *fold.Summary
		want string
	}{
		"one class to everything": {top(func(_, _ int) int32 { return 2 }), nil, dead},
		"one class, and metrics that read scores": {
			top(func(_, _ int) int32 { return 2 }), &fold.Summary{Metrics: []fold.Metric{{Name: "confidence"}}},
			unknown,
		},
		"two classes":              {top(func(i, _ int) int32 { return int32(i % 2) }), nil, alive},
		"a class for each element": {top(func(_, k int) int32 { return int32(k % 2) }), nil, alive},
		"one class, scores that vary": {
			top(func(_, _ int) int32 { return 2 }),
			&fold.Summary{Scales: []fold.Number{0.1}, Sizes: []fold.Number{1}}, alive,
		},
		"scores that do not vary": {
			top(func(_, _ int) int32 { return 2 }), &fold.Summary{Scales: []fold.Number{0}, Sizes: []fold.Number{1}},
			dead,
		},
		"rounding alone": {
			nothing, &fold.Summary{Scales: []fold.Number{3e-6}, Sizes: []fold.Number{1}},
			dead,
		},
		"more than rounding": {
			nothing, &fold.Summary{Scales: []fold.Number{4e-6}, Sizes: []fold.Number{1}},
			alive,
		},
		"no scale": {
			nothing, &fold.Summary{Scales: []fold.Number{nan}, Sizes: []fold.Number{nan}},
			unknown,
		},
		"an older scale":           {nothing, &fold.Summary{Scales: []fold.Number{0.1}}, unknown},
		"an older scale that is 0": {nothing, &fold.Summary{Scales: []fold.Number{0}}, dead},
		"a field that varies": {nothing, &fold.Summary{
			Scales: []fold.Number{nan}, FieldScales: []map[string]fold.Number{{"a": 0, "b": 1}},
		}, alive},
		"no field that varies": {nothing, &fold.Summary{
			Scales: []fold.Number{nan}, FieldScales: []map[string]fold.Number{{"a": 0, "b": 0}},
		}, dead},
		"numbers without a scale": {nothing, nil, unknown},
		"one box":                 {boxes(func(int) float32 { return 0.5 }), nil, dead},
		"boxes that vary":         {boxes(func(i int) float32 { return 1 / float32(1+i) }), nil, alive},
	} {
		dir := t.TempDir()
		for k := 1; k <= 2; k++ {
			ran(t, dir, k, c.of, c.sum)
		}
		reader := &Reader{Folder: dir, Workers: 1, Metrics: metric.Builtin(), Began: func(int) {}, Step: func(int) {}}
		f, err := reader.Read(t.Context())
		if err != nil || len(f.Releases) != 2 {
			t.Fatalf("%s: %v, %+v", name, err, f)
		}
		r, err := Judge(f.Releases, options(t, "version"))
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(strings.Join(r.Notes, " "), "Whether outputs vary is not known of 2 models of runs")
		if (r.State == Empty) != (c.want == dead) || told != (c.want == unknown) || r.State == trend.Alarm ||
			r.Good() == (c.want == dead) {
			t.Errorf("%s: %s, want it %s: %s %q", name, r.State, c.want, r.Sentence, r.Notes)
		}
	}
}

// A mask of one class everywhere is one answer; classes of which there are as many pixels elsewhere are none.
func TestMasksOfOneClass(t *testing.T) {
	one, other := []job.Pixels{{Class: 1, Got: 9, Want: 4}, {Class: 2, Want: 5}}, []job.Pixels{{
		Class: 1, Got: 9,
		Want: 9,
	}}
	two := []job.Pixels{{Class: 1, Got: 4}, {Class: 2, Got: 5}}
	for _, c := range []struct {
		a, b []job.Pixels
		want bool
	}{{one, other, true}, {two, two, false}, {one, two, false}, {
		[]job.Pixels{{Class: -1}},
		[]job.Pixels{{Class: -1}},
		false,
	}} {
		row := func(p []job.Pixels) *job.Row { return &job.Row{Pixels: [][]job.Pixels{p, p}} }
		if got := alike(row(c.a), row(c.b)); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}
