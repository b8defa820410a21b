package shelf

import (
	"context"
	"encoding/json"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/run/exec"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/run/workload"
	"nero/serve/api"
	"nero/studies/digits"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

type keeper struct{ r *store.Run }

func (k keeper) Done(s job.Shard) bool { return k.r.Done(s.Index) }

func (k keeper) Commit(ctx context.Context, s job.Shard, rows []job.Row) error {
	return k.r.Commit(ctx, s, rows, nil)
}

// quiet watches a run and says nothing.
type quiet struct{}

func (quiet) Start(int, int, int) {}
func (quiet) Evaluated(int)       {}
func (quiet) Committed(job.Shard) {}

// realRun evaluates the built-in study on a few digits, as nero run does.
func realRun(t *testing.T, dir string, e engine.Engine) {
	t.Helper()
	study := filepath.Join(dir, "study")
	if err := os.CopyFS(study, digits.Files); err != nil {
		t.Fatal(err)
	}
	s := &job.Study{
		Version: 1, Task: "classification",
		Models: []job.Model{
			{Name: "original", ONNX: filepath.Join(study, "models", "digits-original.onnx")},
			{Name: "augmented", ONNX: filepath.Join(study, "models", "digits-augmented.onnx")},
		},
		Data: job.Data{
			Format: "idx", Images: filepath.Join(study, "data", "digits1000-images-idx3-ubyte.gz"),
			Labels: filepath.Join(study, "data", "digits1000-labels-idx1-ubyte.gz"), Limit: 10,
		},
		Input:   job.Input{Space: "image", Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081}},
		Output:  job.Output{Space: "scores", Decode: "softmax"},
		Group:   job.Group{Name: "SO(2)", Orbit: job.Orbit{Grid: []int{8}}, Resample: "bilinear"},
		Metrics: []string{"confidence", "accuracy", "relative"},
	}
	w, err := workload.Open(t.Context(), s, workload.Options{Engine: e, Rules: action.Rules()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	r, err := store.Create(filepath.Join(dir, "run"), w.Job, store.Options{FS: unsynced{}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // everything is committed
	if err := w.Eval.Calibrate(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := exec.Local(t.Context(), w.Job, w.Job.Shards(), w.Eval, keeper{r}, 1, nil, quiet{}); err != nil {
		t.Fatal(err)
	}
	sum, err := fold.Fold(fold.Input{
		Job: w.Job, Hash: w.Hash, Group: w.Group(), Scales: w.Eval.Scales, FieldScales: w.Eval.FieldScales,
		Classes: w.Classes,
		Rows: func(m, i int) iter.Seq2[job.Row, error] {
			return r.Rows(store.Filter{Models: []int{m}, Metrics: w.Job.Metrics[i : i+1]})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Put("summary.json", b); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// A real run: the study, its rows, their aggregate and live probes all say the same.
func TestRealRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real models")
	}
	c, err := choose.Open(t.Context(), choose.Request{Kind: "native"}, choosetest.Host())
	if err != nil {
		// the embedded one takes long to start; what is asked here does not depend on it
		t.Skipf("no native engine: %v", err)
	}
	top := t.TempDir()
	realRun(t, top, c.Engine)
	s := opened(t, Options{Probe: func(ctx context.Context, r *store.Run) (Prober, error) {
		return probe.OpenRun(ctx, r, workload.Options{Engine: c.Engine, Rules: action.Rules()}, probe.Options{})
	}}, top)
	r := run(t, s, "run")
	stored, err := r.Sample(3)
	if err != nil || !stored.Done {
		t.Fatalf("%+v, %v", stored, err)
	}
	for k, e := range []group.Element{{0}, {45}, {90}, {135}, {180}, {225}, {270}, {315}} {
		p, err := r.Probe(t.Context(), 3, e, nil)
		if err != nil || p.Element != k || p.Sample != stored.ID || len(p.Results) != 2 {
			t.Fatalf("%+v, %v", p, err)
		}
		for m, res := range p.Results {
			if res.Top != stored.Top[m][k] {
				t.Errorf("element %d, model %d: class %d, stored %d", k, m, res.Top, stored.Top[m][k])
			}
			for i, v := range res.Values {
				if want := float64(stored.Curves[m][i][k]); !(math.Abs(v-want) <= 1e-5*max(1, want)) {
					t.Errorf("element %d, model %d, metric %d: %v, stored %v", k, m, i, v, want)
				}
			}
		}
	}
	d := r.Document()
	if !d.Live.Inputs || !d.Live.Models || d.Live.Engine == "" || !(d.ModelList[0].Scale > 0) || len(d.Classes) != 10 {
		t.Errorf("%+v, %+v", d.Live, d.ModelList)
	}
	for k := range r.metrics {
		a, err := r.Aggregate(t.Context(), api.AggregateRequest{Metric: k})
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.Aggregate(t.Context(), api.AggregateRequest{Metric: k, Set: api.Set{Rule: "index >= 0"}})
		if err != nil {
			t.Fatal(err)
		}
		for m := range a.Curves {
			equalCurves(t, d.Metrics[k], &again.Curves[m], &a.Curves[m])
		}
	}
	// What any client can see says nothing of where the study is.
	samples, err := r.Samples()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{s.Runs(), d, samples, stored} {
		if b, err := json.Marshal(v); err != nil || strings.Contains(string(b), top) {
			t.Errorf("%s, %v", b, err)
		}
	}
	// Without its model the run is shown as before, and only the live answers are off.
	if err := fs.WalkDir(os.DirFS(top), "study/models", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.Remove(filepath.Join(top, name))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s = opened(t, Options{Probe: s.o.Probe}, top)
	r = run(t, s, "run")
	if _, err := r.Input(t.Context(), 3, group.Element{33}); err != nil {
		t.Errorf("the input is there: %v", err)
	}
	d = r.Document()
	if d.Live.Models || !d.Live.Inputs || !strings.Contains(d.Live.Reason, "digits-original.onnx") ||
		strings.Contains(d.Live.Reason, top) {
		t.Errorf("%+v", d.Live)
	}
	if o, err := r.Sample(3); err != nil || !slices.Equal(o.Top[0], stored.Top[0]) {
		t.Errorf("%+v, %v", o, err)
	}
}
