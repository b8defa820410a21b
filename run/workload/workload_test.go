package workload

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"nero/data/space"
	"nero/data/split"
	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/run/job"
	"nero/symmetry/action"
)

// pixelwise is an engine that computes what the output is called, whatever the nodes say:
//
//	same    y = x
//	first   y = the first 3 pixels
//	either  y = (x, 0.5 - x), two classes of each pixel
//	all     y = all pixels as scores
//	ramps   y = (x·w, x·gw, x·ggw, x·gggw) with w the column number and g the quarter turn: f(hx)[g] = x(h⁻¹·)·gw = h(f(x)[h⁻¹g]), so
//	        the channels carry the regular representation
//	spots   one box around the pixels above 0.5, score 0.5, class 0, as a row of six numbers
//	flow    the two frames as the components of a field
//	broken  cannot be opened
type pixelwise struct {
	version      string
	open, closed atomic.Int64
}

func (p *pixelwise) Info() engine.Info { return engine.Info{Name: "wasm", Version: p.version} }
func (p *pixelwise) Concurrent() bool  { return false }
func (p *pixelwise) Open(_ context.Context, b []byte, _ engine.Options) (engine.Session, error) {
	m, err := onnx.Load(b)
	if err != nil {
		return nil, err
	}
	out := m.Signature().Outputs[0].Name
	if out == "broken" {
		return nil, errors.New("no kernel for it")
	}
	p.open.Add(1)
	return &pixelwiseSession{p, out}, nil
}

type pixelwiseSession struct {
	p   *pixelwise
	out string
}

func (s *pixelwiseSession) Inputs() []string  { return []string{"x"} }
func (s *pixelwiseSession) Outputs() []string { return []string{s.out} }
func (s *pixelwiseSession) Close() error      { s.p.closed.Add(1); return nil }
func (s *pixelwiseSession) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	n, h, w := in[0].Shape[0], in[0].Shape[2], in[0].Shape[3]
	var y []float32
	shape := []int{n, 1, h, w}
	for v := range slices.Chunk(x, h*w) {
		switch s.out {
		case "same":
			y = append(y, v...)
		case "first":
			y, shape = append(y, v[:3]...), []int{n, 3}
		case "flow":
			y, shape = append(y, v...), []int{n, 2, h, w}
		case "spots":
			shape = []int{n, 1, 6}
			x1, y1, x2, y2 := float32(w), float32(h), float32(0), float32(0)
			for i, f := range v {
				if r, c := float32(i/w), float32(i%w); f > 0.5 {
					x1, y1, x2, y2 = min(x1, c), min(y1, r), max(x2, c+1), max(y2, r+1)
				}
			}
			y = append(y, x1, y1, x2, y2, 0.5, 0)
		case "either":
			y, shape = append(y, v...), []int{n, 2, h, w}
			for _, f := range v {
				y = append(y, 0.5-f)
			}
		case "all":
			y, shape = append(y, v...), []int{n, h * w}
		case "ramps":
			shape = []int{n, 4, h, w}
			ramp := make([]float32, len(v))
			for i := range ramp {
				ramp[i] = float32(i % w)
			}
			for range 4 {
				for i, f := range v {
					y = append(y, f*ramp[i])
				}
				// Counter-clockwise: row r, column c comes from row c, column w-1-r.
				turned := make([]float32, len(v))
				for r := range h {
					for c := range w {
						turned[r*w+c] = ramp[c*w+w-1-r]
					}
				}
				ramp = turned
			}
		}
	}
	return []tensor.Named{{Name: s.out, Tensor: tensor.FromFloat32(y, shape...)}}, nil
}

// model writes a file with an input of 8x8 and an output of the given name and axes.
func model(t *testing.T, out string, axes ...any) string {
	t.Helper()
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, axes[0], 1, 8, 8)
	b.Output(b.Op("Identity", []string{x}), tensor.Float32, axes...)
	g := b.Graph()
	g.Node[0].Output[0], *g.Output[0].Name = out, out
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), out+".onnx")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// pictures writes a folder of grey pictures, four of each class, of n x n pixels.
func pictures(t *testing.T, n int, classes ...string) string {
	t.Helper()
	dir := t.TempDir()
	for c, class := range classes {
		if err := os.MkdirAll(filepath.Join(dir, class), 0o700); err != nil {
			t.Fatal(err)
		}
		for k := range 4 {
			m := image.NewGray(image.Rect(0, 0, n, n))
			for i := range n * n {
				m.SetGray(i%n, i/n, color.Gray{Y: uint8((i*(7+c) + 31*k) % 256)})
			}
			f, err := os.Create(filepath.Join(dir, class, fmt.Sprintf("%d.png", k)))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func study(data, name string, models ...string) *job.Study {
	s := &job.Study{Version: 1, Data: job.Data{Images: data}, Group: job.Group{Name: name}}
	for i, m := range models {
		s.Models = append(s.Models, job.Model{Name: fmt.Sprintf("m%d", i), ONNX: m})
	}
	return s
}

func open(t *testing.T, s *job.Study, e *pixelwise, change ...func(*Options)) (*Workload, error) {
	t.Helper()
	o := Options{Engine: e, Rules: action.Rules()}
	for _, c := range change {
		c(&o)
	}
	w, err := Open(t.Context(), s, o)
	if err == nil {
		t.Cleanup(func() {
			if err := w.Close(); err != nil || e.open.Load() != e.closed.Load() {
				t.Errorf("%d sessions opened, %d closed, %v", e.open.Load(), e.closed.Load(), err)
			}
		})
	} else if e.open.Load() != e.closed.Load() {
		t.Errorf("%d sessions opened, %d closed after the error %v", e.open.Load(), e.closed.Load(), err)
	}
	return w, err
}

// rows runs everything.
func rows(t *testing.T, w *Workload) []job.Row {
	t.Helper()
	if err := w.Eval.Calibrate(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	r, err := w.Eval.Shard(t.Context(), job.Shard{Hi: w.Job.Count}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Models that are equivariant by construction have no error under the action that the study declares, for every kind of
// output.
func TestEquivariantOutputs(t *testing.T) {
	for _, c := range []struct {
		name    string
		model   string
		axes    []any
		output  job.Output
		metrics []string
		perfect float32
	}{
		{"image", "same", []any{"n", 1, 8, 8}, job.Output{Space: "image"}, []string{"relative", "absolute"}, 0},
		{
			"free sizes", "same",
			[]any{"n", 1, "h", "w"},
			job.Output{Space: "image"},
			[]string{"relative", "absolute"},
			0,
		},
		{"mask", "either", []any{"n", 2, 8, 8}, job.Output{Space: "mask"}, []string{"pixel_agreement", "mean_iou"}, 1},
		{"vector map", "same", []any{"n", 1, 8, 8}, job.Output{Space: "tensor"}, []string{"relative", "absolute"}, 0},
		{
			"group channels", "ramps",
			[]any{"n", 4, 8, 8},
			job.Output{Space: "tensor", Type: job.Type{Name: "regular"}},
			[]string{"relative", "absolute"},
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := study(pictures(t, 8, "a", "b"), "C4", model(t, c.model, c.axes...))
			s.Output = c.output
			w, err := open(t, s, &pixelwise{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(w.Study.Metrics, c.metrics) {
				t.Errorf("metrics %v, want %v", w.Study.Metrics, c.metrics)
			}
			for _, r := range rows(t, w) {
				for i, curve := range r.Curves {
					if slices.ContainsFunc(curve, func(v float32) bool { return v != c.perfect }) {
						t.Errorf("%s of %s: %v, want %v everywhere", w.Study.Metrics[i], r.Sample, curve, c.perfect)
					}
				}
			}
		})
	}
}

// The same channels under the wrong representation, and masks that stay where they are, are far from perfect.
func TestWrongClaims(t *testing.T) {
	ramps, either := model(t, "ramps", "n", 4, 8, 8), model(t, "either", "n", 2, 8, 8)
	for _, c := range []struct {
		model  string
		output job.Output
		bad    func(float32) bool
	}{
		{ramps, job.Output{Space: "tensor", Type: job.Type{Name: "trivial"}}, func(v float32) bool { return v > 0.1 }},
		{either, job.Output{Space: "mask", Action: "invariant"}, func(v float32) bool { return v < 0.9 }},
	} {
		s := study(pictures(t, 8, "a", "b"), "C4", c.model)
		s.Output = c.output
		w, err := open(t, s, &pixelwise{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows(t, w) {
			if !c.bad(r.Curves[0][1]) {
				t.Errorf("%+v: %s of %s is %v", c.output, w.Study.Metrics[0], r.Sample, r.Curves[0])
			}
		}
	}
}

// An audit says how many answers are right, so it names the labels, and warns where their number is not the classes'.
func TestClassesOfAudits(t *testing.T) {
	for _, c := range []struct {
		folders []string
		warned  bool
	}{{[]string{"a", "b", "c"}, false}, {[]string{"a", "b"}, true}, {[]string{"a", "b", "c", "d"}, true}} {
		w, err := open(t, study(pictures(t, 8, c.folders...), "C4", model(t, "first", "n", 3)), &pixelwise{},
			func(o *Options) { o.Audit = true })
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(w.Notes, "\n")
		if !strings.Contains(notes, "labels: 0 = a, 1 = b") || strings.Contains(notes, "named classes") != c.warned {
			t.Errorf("%v: notes %q", c.folders, notes)
		}
	}
}

// A model whose number of classes is free says it when it runs; labels are held against it then.
func TestFreeClasses(t *testing.T) {
	free := model(t, "first", "n", "k")
	w, err := open(t, study(pictures(t, 8, "a", "b", "c"), "C4", free), &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Job.Classes != 3 || !slices.Equal(w.Classes, []string{"a", "b", "c"}) ||
		!slices.Contains(w.Study.Metrics, "confidence") {
		t.Errorf("%d classes %v, metrics %v", w.Job.Classes, w.Classes, w.Study.Metrics)
	}
	four := pictures(t, 8, "a", "b", "c", "d")
	for _, axes := range [][]any{{"n", "k"}, {"n", 3}} {
		_, err = open(t, study(four, "C4", model(t, "first", axes...)), &pixelwise{})
		if err == nil || !strings.Contains(err.Error(), "data.labels") || !strings.Contains(err.Error(), "label 3") {
			t.Errorf("%v: label beyond the classes: %v", axes, err)
		}
		s := study(four, "C4", model(t, "first", axes...))
		s.Metrics = []string{"absolute"}
		if w, err = open(t, s, &pixelwise{}); err != nil || len(rows(t, w)) != 16 {
			t.Errorf("%v: labels that no metric reads: %v", axes, err)
		}
	}
}

func TestRawScores(t *testing.T) {
	s := study(pictures(t, 8, "a", "b"), "C4", model(t, "first", "n", 3))
	s.Output.Decode = "raw"
	w, err := open(t, s, &pixelwise{})
	if err != nil || !slices.Equal(w.Study.Metrics, []string{"relative", "absolute"}) {
		t.Errorf("metrics of raw scores: %v, %v", s.Metrics, err)
	}
	s.Metrics = []string{"accuracy", "confidence"}
	if _, err = open(t, s, &pixelwise{}); err == nil ||
		!strings.Contains(err.Error(), "metrics[1]: confidence needs probabilities") {
		t.Errorf("confidence of raw scores: %v", err)
	}
}

func TestRefused(t *testing.T) {
	three := model(t, "first", "n", 3)
	for name, c := range map[string]struct {
		change func(*job.Study)
		want   []string
	}{
		"metric of another space": {
			func(s *job.Study) { s.Metrics = []string{"mean_iou"} },
			[]string{"metrics[0]", "compares mask, the models return scores", "nero metrics"},
		},
		"unknown metric": {
			func(s *job.Study) { s.Metrics = []string{"cross_entropi"} },
			[]string{"metrics[0]", `did you mean "cross_entropy"`},
		},
		"metric twice": {
			func(s *job.Study) { s.Metrics = []string{"kl", "kl"} },
			[]string{"metrics[1]", "twice"},
		},
		"labels missing": {
			func(s *job.Study) { s.Data.Labels, s.Metrics = "none", []string{"accuracy"} },
			[]string{"metrics[0]", "needs labels", "data.labels"},
		},
		"balance without labels": {
			func(s *job.Study) { s.Data.Labels, s.Data.Balance = "none", "label" },
			[]string{"data.balance", "no labels"},
		},
		"limit below classes": {
			func(s *job.Study) { s.Data.Limit, s.Data.Balance = 1, "label" },
			[]string{"data.limit", "raise it to 2"},
		},
		"scores that should move": {
			func(s *job.Study) { s.Output.Action = "same" },
			[]string{"output.action", "invariant"},
		},
		"unknown group": {func(s *job.Study) { s.Group.Name = "SO(9)" }, []string{"group.name", "SO(9)"}},
		"orbit of another group": {
			func(s *job.Study) { s.Group.Orbit.Values = [][]float64{{1, 2}} },
			[]string{"group.orbit"},
		},
		"missing model": {
			func(s *job.Study) { s.Models[0].ONNX = "none.onnx" },
			[]string{"models[0].onnx", "no such file"},
		},
		"second model not runnable": {func(s *job.Study) {
			s.Models = append(s.Models, job.Model{Name: "b", ONNX: model(t, "broken", "n", 3)})
		}, []string{"models[1].onnx", "no kernel for it"}},
		"other classes": {func(s *job.Study) {
			s.Models = append(s.Models, job.Model{Name: "b", ONNX: model(t, "all", "n", 64)})
		}, []string{"models", "m0 returns 3 classes and b 64"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := study(pictures(t, 8, "a", "b"), "C4", three)
			c.change(s)
			_, err := open(t, s, &pixelwise{})
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q, want %q", err, w)
				}
			}
		})
	}
}

// Limit and balance choose the same number of each class, and only labels of the chosen samples count.
func TestChoice(t *testing.T) {
	dir := pictures(t, 8, "a", "b", "c")
	s := study(dir, "C4", model(t, "first", "n", 3))
	s.Data.Limit, s.Data.Balance = 6, "label"
	w, err := open(t, s, &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	var labels []int
	for _, r := range rows(t, w) {
		labels = append(labels, r.Label)
	}
	if !slices.Equal(labels, []int{0, 1, 2, 0, 1, 2}) || w.Job.Count != 6 || len(w.Job.Samples) != 6 {
		t.Errorf("chose labels %v, %d samples", labels, w.Job.Count)
	}
	table := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(table, []byte("file,label\na/0.png,0\nb/0.png,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = study(dir, "C4", model(t, "first", "n", 3))
	s.Data.Labels, s.Data.Balance = table, "label"
	if w, err = open(t, s, &pixelwise{}); err != nil || w.Job.Count != 2 {
		t.Errorf("samples without a label that are not chosen: %v", err)
	}
	s.Data.Balance = ""
	if _, err = open(t, s, &pixelwise{}); err == nil || !strings.Contains(err.Error(), "no label") {
		t.Errorf("samples without a label that are chosen: %v", err)
	}
}

// A study that is limited to a side has the samples of that side and no others, in the data's order, whatever else is
// chosen; the three sides are all of it.
func TestSide(t *testing.T) {
	dir := pictures(t, 8, "a", "b", "c")
	seen := map[string]bool{}
	of := func(change func(*job.Study)) []string {
		t.Helper()
		s := study(dir, "C4", model(t, "first", "n", 3))
		change(s)
		w, err := open(t, s, &pixelwise{})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, i := range w.Eval.Samples {
			ids = append(ids, w.Data.IDs()[i])
			if !w.OnSide(i) {
				t.Errorf("%s is not on its side", w.Data.IDs()[i])
			}
		}
		return ids
	}
	n := 0
	for _, side := range split.Sides() {
		s := study(dir, "C4", model(t, "first", "n", 3))
		all, err := open(t, s, &pixelwise{})
		if err != nil {
			t.Fatal(err)
		}
		sets, err := all.Sets()
		if err != nil {
			t.Fatal(err)
		}
		n = all.Data.Len()
		if len(sets[side]) == 0 {
			continue
		}
		ids := of(func(s *job.Study) { s.Data.Side = string(side) })
		for k, i := range sets[side] {
			if ids[k] != all.Data.IDs()[i] {
				t.Errorf("%s: sample %d is %s, want %s", side, k, ids[k], all.Data.IDs()[i])
			}
		}
		for _, id := range ids {
			if seen[id] {
				t.Errorf("%s is on two sides", id)
			}
			seen[id] = true
		}
		one := of(func(s *job.Study) { s.Data.Side, s.Data.Limit = string(side), 1 })
		if len(one) != 1 || !slices.Contains(ids, one[0]) {
			t.Errorf("%s: one of %v is %v", side, ids, one)
		}
	}
	if len(seen) != n {
		t.Errorf("%d of %d samples are on a side", len(seen), n)
	}
	for change, want := range map[*job.Split]string{
		{Fit: 0.5, Choose: 0.2}: "sum to 0.7, want 1",
		{Fit: 1}:                `none is on the side "confirm"`,
	} {
		s := study(dir, "C4", model(t, "first", "n", 3))
		s.Data.Side, s.Split = "confirm", *change
		if _, err := open(t, s, &pixelwise{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", *change, err, want)
		}
	}
}

// The samples of each side under a limit are those that a study which is limited to that side reads, whether or not the
// same number of each class is asked for.
func TestDivided(t *testing.T) {
	dir := pictures(t, 8, "a", "b", "c")
	for _, c := range []struct {
		limit   int
		balance string
	}{{0, ""}, {1, ""}, {2, ""}, {0, "label"}} {
		limited := func(side split.Side) *Workload {
			t.Helper()
			s := study(dir, "C4", model(t, "first", "n", 3))
			s.Data.Limit, s.Data.Balance, s.Data.Side, s.Split.Seed = c.limit, c.balance, string(side), 3
			w, err := open(t, s, &pixelwise{})
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		sets, err := limited("").Divided()
		if err != nil {
			t.Fatal(err)
		}
		if len(sets) < 2 {
			t.Fatalf("%v: the seed leaves sides empty", sets)
		}
		for side, places := range sets {
			w := limited(side)
			if !slices.Equal(places, w.Eval.Samples) {
				t.Errorf("%+v, %s: %v, a study of that side reads %v", c, side, places, w.Eval.Samples)
			}
			for i, k := range places {
				x, err := w.Eval.At(i)
				if err != nil {
					t.Fatal(err)
				}
				if y, err := limited("").Eval.Of(k); err != nil || x.ID != y.ID {
					t.Errorf("%+v, %s: sample %d is %s and %s, %v", c, side, k, x.ID, y.ID, err)
				}
			}
		}
	}
}

func TestBadPicture(t *testing.T) {
	dir := pictures(t, 8, "a")
	s := study(dir, "C4", model(t, "first", "n", 3))
	b, err := os.ReadFile(filepath.Join(dir, "a", "0.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "0.png"), b[:len(b)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, s, &pixelwise{}); err == nil || !strings.Contains(err.Error(), "0.png") {
		t.Errorf("a torn picture: %v", err)
	}
	w, err := open(t, s, &pixelwise{}, func(o *Options) { o.KeepGoing = true })
	if err != nil {
		t.Fatal(err)
	}
	if r := rows(t, w); len(r) != 4 || r[0].Err == "" || r[1].Err != "" {
		t.Errorf("rows %+v", r)
	}
}

// A crop window moves over larger pictures: the model sees 8x8 of 12x12, and whole shifts show real content exactly.
func TestWindow(t *testing.T) {
	s := study(pictures(t, 12, "a"), "T(2)", model(t, "same", "n", 1, 8, 8))
	s.Group.Window, s.Output.Space, s.Output.Action = []int{8, 8}, "image", "invariant"
	s.Group.Orbit = job.Orbit{Values: [][]float64{{0, 0}, {1, 0}}}
	s.Metrics = []string{"max_absolute"}
	w, err := open(t, s, &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	smp, err := w.Eval.At(0)
	if err != nil {
		t.Fatal(err)
	}
	x, ok := smp.Value.(*space.Image)
	if !ok {
		t.Fatalf("%T", smp.Value)
	}
	// The window begins at row and column 2; moved by one column to the right, the picture shows column 1 there.
	want := 0.0
	for r := range 8 {
		for c := range 8 {
			d := x.Pix[(r+2)*12+c+1] - x.Pix[(r+2)*12+c+2]
			want = max(want, d, -d)
		}
	}
	if got := rows(t, w)[0].Curves[0]; got[0] != 0 ||
		!(got[1] > float32(want/255)-1e-6 && got[1] < float32(want/255)+1e-6) {
		t.Errorf("largest change %v, want 0 and %g", got, want/255)
	}
}

func TestBatch(t *testing.T) {
	for _, c := range []struct {
		axis  any
		batch int
		fixed bool
		note  string
	}{{"n", 16, false, ""}, {1, 1, true, "fixed at 1"}, {3, 3, true, "fixed at 3"}, {100, 100, true, "fixed at 100"}} {
		w, err := open(t, study(pictures(t, 8, "a", "b"), "C4", model(t, "first", c.axis, 3)), &pixelwise{})
		if err != nil {
			t.Fatal(err)
		}
		m := w.Eval.Models[0]
		if m.Batch != c.batch || m.Fixed != c.fixed || w.Job.Models[0].Batch != c.batch ||
			!strings.Contains(strings.Join(w.Notes, "\n"), c.note) {
			t.Errorf("batch axis %v: batch %d, fixed %v, notes %q", c.axis, m.Batch, m.Fixed, w.Notes)
		}
		if r := rows(t, w); len(r) != 8 || r[7].Curves[0][0] <= 0 {
			t.Errorf("batch axis %v: rows %+v", c.axis, r)
		}
	}
}

// The job's hash is that of the numbers: places do not count, engine, data and models do.
func TestHash(t *testing.T) {
	dir, m := pictures(t, 8, "a", "b"), model(t, "first", "n", 3)
	base, err := open(t, study(dir, "C4", m), &pixelwise{version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "elsewhere.onnx")
	b, err := os.ReadFile(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(moved, b, 0o600); err != nil {
		t.Fatal(err)
	}
	same, err := open(t, study(pictures(t, 8, "a", "b"), "C4", moved), &pixelwise{version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	if same.Hash != base.Hash {
		t.Errorf("another place is another job: %v", base.Job.Diff(same.Job))
	}
	other, err := open(t, study(dir, "C4", m), &pixelwise{version: "1.3"})
	if err != nil {
		t.Fatal(err)
	}
	if d := base.Job.Diff(other.Job); len(d) != 1 || d[0] != "engine: wasm 1.2, not wasm 1.3" {
		t.Errorf("another engine: %q", d)
	}
	if err := os.WriteFile(moved, append(b, 0x1a, 0), 0o600); err != nil { // a domain that is empty
		t.Fatal(err)
	}
	changed, err := open(t, study(dir, "C4", moved), &pixelwise{version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	if d := base.Job.Diff(changed.Job); changed.Hash == base.Hash || len(d) != 1 ||
		!strings.HasPrefix(d[0], "models[0].sha256") {
		t.Errorf("another model: %q", d)
	}
}

// Inputs needs no model file and moves the same samples to the same pictures as the opened study.
func TestInputs(t *testing.T) {
	data := pictures(t, 8, "a", "b", "c")
	s := study(data, "SO(2)", model(t, "first", "n", 3))
	s.Data.Limit, s.Data.Seed, s.Group.Resample = 5, 3, "bicubic"
	missing := *s
	missing.Models = []job.Model{{Name: "gone", ONNX: filepath.Join(t.TempDir(), "gone.onnx")}}
	w, err := open(t, s, &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := Inputs(&missing, Options{Rules: action.Rules()})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Eval.Models) != 0 || in.Eval.Count() != 5 || !slices.Equal(in.Eval.Samples, w.Eval.Samples) ||
		!reflect.DeepEqual(in.Eval.Plan.Elements, w.Eval.Plan.Elements) {
		t.Fatalf("samples %v, %d elements; want %v, %d", in.Eval.Samples, len(in.Eval.Plan.Elements), w.Eval.Samples,
			len(w.Eval.Plan.Elements))
	}
	for i := range in.Eval.Count() {
		a, err := in.Eval.At(i)
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.Eval.At(i)
		if err != nil || a.ID != b.ID || a.Label != b.Label {
			t.Fatalf("sample %d is %s (%d), want %s (%d), %v", i, a.ID, a.Label, b.ID, b.Label, err)
		}
		x, err := in.Eval.Plan.In.Apply([]float64{17}, a.Value)
		if err != nil {
			t.Fatal(err)
		}
		y, err := w.Eval.Plan.In.Apply([]float64{17}, b.Value)
		if err != nil || !reflect.DeepEqual(x, y) || reflect.DeepEqual(x, a.Value) {
			t.Errorf("sample %s moves otherwise, %v", a.ID, err)
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	missing.Data.Images = filepath.Join(t.TempDir(), "gone")
	if _, err := Inputs(&missing, Options{Rules: action.Rules()}); err == nil ||
		!strings.Contains(err.Error(), missing.Data.Images) {
		t.Errorf("data that is not there: %v", err)
	}
}
