package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	ntensor "nero/data/tensor"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/run/workload"
	"nero/serve/api"
	"nero/serve/shelf"
	"nero/symmetry/action"
)

// pixels is an engine that computes what the output is called, whatever the nodes say:
//
//	ramp    y = x times the column number, an image
//	halves  y = sums of x over the left, the upper and the lower half, as scores
//	corners y = halves with x weighed by the product of row and column
type pixels struct {
	// a run waits until it is closed, or for the end of its context
	block atomic.Pointer[chan struct{}]
	// runs that have waited
	held atomic.Int64
	// runs that the end of the context ended
	ended atomic.Int64
}

func (p *pixels) Info() engine.Info { return engine.Info{Name: "wasm", Version: "1"} }
func (p *pixels) Concurrent() bool  { return true }

func (p *pixels) Open(_ context.Context, b []byte, _ engine.Options) (engine.Session, error) {
	m, err := onnx.Load(b)
	if err != nil {
		return nil, err
	}
	return &session{p, m.Signature().Outputs[0].Name}, nil
}

type session struct {
	p   *pixels
	out string
}

func (s *session) Inputs() []string  { return []string{"x"} }
func (s *session) Outputs() []string { return []string{s.out} }
func (s *session) Close() error      { return nil }

func (s *session) Run(ctx context.Context, in []ntensor.Named) ([]ntensor.Named, error) {
	if c := s.p.block.Load(); c != nil {
		s.p.held.Add(1)
		select {
		case <-*c:
		case <-ctx.Done():
			s.p.ended.Add(1)
			return nil, ctx.Err()
		}
	}
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	n, h, w := in[0].Shape[0], in[0].Shape[2], in[0].Shape[3]
	if s.out == "ramp" {
		y := slices.Clone(x)
		for i := range y {
			y[i] *= float32(i % w)
		}
		return []ntensor.Named{{Name: s.out, Tensor: ntensor.FromFloat32(y, n, 1, h, w)}}, nil
	}
	y := make([]float32, 3*n)
	for i, v := range x {
		k, r, c := i/(h*w), i/w%h, i%w
		v /= 2000
		if s.out == "corners" {
			v *= float32(r*c) / 10
		}
		if c < w/2 {
			y[3*k] += v
		}
		if r < h/2 {
			y[3*k+1] += v
		} else {
			y[3*k+2] += v
		}
	}
	return []ntensor.Named{{Name: s.out, Tensor: ntensor.FromFloat32(y, n, 3)}}, nil
}

// writeModel writes a model of 8 x 8 pictures.
func writeModel(tb testing.TB, dir, out string) string {
	tb.Helper()
	axes := []any{"n", 3}
	if out == "ramp" {
		axes = []any{"n", 1, 8, 8}
	}
	b := onnx.NewBuilder(16)
	x := b.Input("x", ntensor.Float32, "n", 1, 8, 8)
	b.Output(b.Op("Identity", []string{x}), ntensor.Float32, axes...)
	g := b.Graph()
	g.Node[0].Output[0], *g.Output[0].Name = out, out
	raw, err := b.Bytes()
	name := filepath.Join(dir, out+".onnx")
	if err := errors.Join(err, os.WriteFile(name, raw, 0o600)); err != nil {
		tb.Fatal(err)
	}
	return name
}

// writePictures writes four grey pictures of each of three classes.
func writePictures(tb testing.TB, dir string) string {
	tb.Helper()
	for c, class := range []string{"a", "b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, class), 0o700); err != nil {
			tb.Fatal(err)
		}
		for k := range 4 {
			m := image.NewGray(image.Rect(0, 0, 8, 8))
			for i := range 64 {
				m.SetGray(i%8, i/8, color.Gray{Y: uint8((i*(7+c) + 31*k) % 256)})
			}
			var b bytes.Buffer
			if err := errors.Join(png.Encode(&b, m), os.WriteFile(filepath.Join(dir, class, fmt.Sprintf("%d.png", k)),
				b.Bytes(), 0o600)); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return dir
}

// runStudy evaluates a study into a folder: all shards but the last ones that are left out.
func runStudy(tb testing.TB, dir string, s *job.Study, e engine.Engine, leave int) *workload.Workload {
	tb.Helper()
	ctx := tb.Context()
	w, err := workload.Open(ctx, s, workload.Options{Engine: e, Rules: action.Rules()})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = w.Close() }() // nothing was written
	w.Job.Shard = 2
	r, err := store.Create(dir, w.Job, store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = r.Close() }() // what was committed is safe
	if err := w.Eval.Calibrate(ctx, 1); err != nil {
		tb.Fatal(err)
	}
	shards := w.Job.Shards()
	for _, sh := range shards[:len(shards)-leave] {
		rows, err := w.Eval.Shard(ctx, sh, nil)
		if err := errors.Join(err, r.Commit(ctx, sh, rows, nil)); err != nil {
			tb.Fatal(err)
		}
	}
	if leave > 0 {
		return w
	}
	sum, err := fold.Fold(fold.Input{
		Job: w.Job, Hash: r.Hash(), Group: w.Group(), Scales: w.Eval.Scales, FieldScales: w.Eval.FieldScales,
		Classes: w.Classes,
		Rows: func(m, i int) iter.Seq2[job.Row, error] {
			return r.Rows(store.Filter{Models: []int{m}, Metrics: w.Job.Metrics[i : i+1]})
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	b, err := json.Marshal(sum)
	if err := errors.Join(err, r.Put("summary.json", b), r.Finish(ctx, nil)); err != nil {
		tb.Fatal(err)
	}
	return w
}

// fixture is a server over
//
//	alpha    twelve pictures of three classes, sixteen angles, models halves and corners, complete
//	beta     the same pictures and angles, model corners, two of six shards missing
//	gamma    an image-to-image model under C4
//	delta    a detector under shifts of a crop window, made without a model
//	epsilon  a flow under D4 and time reversal, made without a model
//	broken   a folder whose job.json is damaged
//	audit    an audit of halves
type fixture struct {
	*Server

	dir    string
	engine *pixels
	shelf  *shelf.Shelf
	clock  *clock
}

// clock is a clock that goes on by a fixed step with every look at it.
type clock struct{ ticks atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(c.ticks.Add(1)) * time.Millisecond)
}

// interfaceStub stands for the bundle.
var interfaceStub = fstest.MapFS{
	"index.html":   {Data: []byte("<!doctype html><title>x</title><script type=module src=app.js></script>")},
	"app.js":       {Data: bytes.Repeat([]byte("console.log('a');\n"), 2000)},
	"app.css":      {Data: []byte("p{}")},
	"LICENSES.txt": {Data: []byte("MIT")},
	"secret.go":    {Data: []byte("package x")},
}

// made is the folder with everything that fixtures are copied from. TestMain makes and removes it.
var made string

// TestMain makes the runs once: most of the time of a test would go there.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nero-server-")
	if err != nil {
		panic(err)
	}
	made = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// once makes the runs.
var once sync.Once

// makeRuns fills the folder.
func makeRuns(tb testing.TB) {
	tb.Helper()
	dir, e := made, &pixels{}
	pictures := writePictures(tb, filepath.Join(dir, "pictures"))
	halves, corners, ramp := writeModel(tb, dir, "halves"), writeModel(tb, dir, "corners"), writeModel(tb, dir, "ramp")
	study := func(group job.Group, models ...job.Model) *job.Study {
		return &job.Study{Version: 1, Data: job.Data{Images: pictures}, Group: group, Models: models}
	}
	turns := job.Group{Name: "SO(2)", Orbit: job.Orbit{Grid: []int{16}}}
	runs := filepath.Join(dir, "runs")
	w := runStudy(tb, filepath.Join(runs, "alpha"),
		study(turns, job.Model{Name: "halves", ONNX: halves}, job.Model{Name: "corners", ONNX: corners}), e, 0)
	runStudy(tb, filepath.Join(runs, "beta"), study(turns, job.Model{Name: "corners", ONNX: corners}), e, 2)
	images := study(job.Group{Name: "C4"}, job.Model{Name: "ramp", ONNX: ramp})
	images.Output.Space = "image"
	runStudy(tb, filepath.Join(runs, "gamma"), images, e, 0)
	makeDrafted(tb, runs)
	audit := fmt.Sprintf(
		`{"format":1,"verdict":"FAIL","models":[{"model":"halves","verdict":"FAIL","claim":{"group":"C4"},"basis":[{"name":"data","value":"sha256 %s"}],"about":[{"name":"sha256","value":%q}],"checks":[{"check":"sweep","findings":[
		{"category":"violation","severity":"high","set":"exact elements","message":"the model changes its answer | by 1.3","location":"output","worst":{"sample":"a/1.png","index":1,"element":"90°","coordinates":[90]},"remedies":["train","average"]}]}]}]}`, w.Job.DataDigest(), w.Job.Models[0].SHA256)
	data := `{"format":1,"data":"pictures","group":"C4","measure":"all","seed":7,"samples":12,"reading":"pixels",` +
		`"sentence":"The samples are posed.","state":"posed","elements":[],"valid_range":{},"exact":{},"advice":[]}`
	for name, text := range map[string]string{
		"broken/job.json": "{", "audit/audit.json": audit, "audit/data.json": data,
	} {
		name := filepath.Join(runs, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700),
			os.WriteFile(name, []byte(text), 0o600)); err != nil {
			tb.Fatal(err)
		}
	}
}

func newFixture(tb testing.TB, change func(*Options)) *fixture {
	tb.Helper()
	once.Do(func() { makeRuns(tb) })
	dir, e := tb.TempDir(), &pixels{}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(made, "runs"))); err != nil {
		tb.Fatal(err)
	}
	c := &clock{}
	var paths []string
	for _, name := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "broken", "audit"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	ctx, cancel := context.WithCancel(tb.Context())
	sh, err := shelf.Open(ctx, paths, shelf.Options{
		Version: "test", Now: c.now,
		Probe: func(ctx context.Context, r *store.Run) (shelf.Prober, error) {
			if st, err := prober(r); err == nil {
				return st, nil
			}
			s, err := probe.OpenRun(ctx, r, workload.Options{Engine: e, Rules: action.Rules()},
				probe.Options{Concurrent: 1, Queue: -1})
			if err != nil {
				return nil, err
			}
			return s, nil
		},
	})
	if err != nil {
		cancel()
		tb.Fatal(err)
	}
	o := Options{
		Shelf: sh, Files: interfaceStub, Now: c.now, Workers: 1,
		Report: func(_ context.Context, w io.Writer, run *shelf.Run, q url.Values) error {
			_, err := fmt.Fprintf(w, "<!doctype html><title>%s %s</title>", run.ID(), q.Get("metric"))
			return err
		},
	}
	if change != nil {
		change(&o)
	}
	s, err := New(ctx, o)
	if err != nil {
		cancel()
		tb.Fatal(err)
	}
	s.slow = func(m api.Method) bool { return m.Name != "pca" && m.Name != "ica" } // as for thousands of samples
	tb.Cleanup(func() {
		cancel()
		if err := errors.Join(s.Close(), sh.Close()); err != nil {
			tb.Error(err)
		}
	})
	return &fixture{Server: s, dir: dir, engine: e, shelf: sh, clock: c}
}

// reply is what was answered.
type reply struct {
	StatusCode int
	Header     http.Header
	body       []byte
}

// replyOf takes what a recorder holds.
func replyOf(tb testing.TB, w *httptest.ResponseRecorder) reply {
	tb.Helper()
	r := w.Result()
	b, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		tb.Fatal(err)
	}
	return reply{r.StatusCode, r.Header, b}
}

// ask sends a request and returns what was answered.
func (f *fixture) ask(tb testing.TB, method, path, body string, headers ...string) reply {
	tb.Helper()
	in := io.Reader(http.NoBody)
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(tb.Context(), method, path, in)
	if body != "" {
		r.Header.Set("Content-Type", typeJSON)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return replyOf(tb, w)
}

// get wants an answer with status 200.
func (f *fixture) get(tb testing.TB, path string) []byte {
	tb.Helper()
	r := f.ask(tb, http.MethodGet, "/api/v1/"+path, "")
	if r.StatusCode != http.StatusOK {
		tb.Fatalf("GET %s: %d %s", path, r.StatusCode, r.body)
	}
	return r.body
}

// arrays wants a container.
func (f *fixture) arrays(tb testing.TB, path string) map[string]tensorOf {
	tb.Helper()
	c, err := readContainer(f.get(tb, path))
	if err != nil {
		tb.Fatalf("GET %s: %v", path, err)
	}
	all := map[string]tensorOf{}
	for _, t := range c.tensors {
		all[t.name] = tensorOf{t, c.meta}
	}
	return all
}

// tensorOf is a tensor with the texts of its container.
type tensorOf struct {
	tensor

	meta map[string]string
}

// parsed reads a JSON document.
func parsed[T any](tb testing.TB, b []byte) T {
	tb.Helper()
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		tb.Fatalf("%v: %.300s", err, b)
	}
	return v
}
