package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/provider"
	"nero/model/onnx"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
	"nero/studies/digits"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// pixels is an engine that computes what the output is called, whatever the nodes say:
//
//	ramp   y = x times the column number, an image
//	sums   y = sums of x over the left, the upper and the lower half, as scores
//	broken cannot be opened
type pixels struct {
	version string
	// the first score of every answer is NaN
	nan  atomic.Bool
	runs atomic.Int64
	// a run waits until it is closed, or for the end of its context
	block atomic.Pointer[chan struct{}]
	// runs that the end of the context ended
	stopped atomic.Int64
	serial  bool
}

func (p *pixels) Info() engine.Info { return engine.Info{Name: "wasm", Version: p.version} }
func (p *pixels) Concurrent() bool  { return !p.serial }

func (p *pixels) Open(_ context.Context, b []byte, _ engine.Options) (engine.Session, error) {
	m, err := onnx.Load(b)
	if err != nil {
		return nil, err
	}
	out := m.Signature().Outputs[0].Name
	if out == "broken" {
		return nil, errors.New("no kernel for it")
	}
	return &session{p, out}, nil
}

type session struct {
	p   *pixels
	out string
}

func (s *session) Inputs() []string  { return []string{"x"} }
func (s *session) Outputs() []string { return []string{s.out} }
func (s *session) Close() error      { return nil }

func (s *session) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	s.p.runs.Add(1)
	if c := s.p.block.Load(); c != nil {
		select {
		case <-*c:
		case <-ctx.Done():
			s.p.stopped.Add(1)
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
		return []tensor.Named{{Name: s.out, Tensor: tensor.FromFloat32(y, n, 1, h, w)}}, nil
	}
	y := make([]float32, 3*n)
	for i, v := range x {
		k, r, c := i/(h*w), i/w%h, i%w
		if c < w/2 {
			y[3*k] += v
		}
		if r < h/2 {
			y[3*k+1] += v
		} else {
			y[3*k+2] += v
		}
	}
	if s.p.nan.Load() {
		for k := range n {
			y[3*k] = float32(math.NaN())
		}
	}
	return []tensor.Named{{Name: s.out, Tensor: tensor.FromFloat32(y, n, 3)}}, nil
}

// model writes a model of 8 x 8 pictures.
func model(tb testing.TB, out string) string {
	tb.Helper()
	axes := []any{"n", 3}
	if out == "ramp" {
		axes = []any{"n", 1, 8, 8}
	}
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, "n", 1, 8, 8)
	b.Output(b.Op("Identity", []string{x}), tensor.Float32, axes...)
	g := b.Graph()
	g.Node[0].Output[0], *g.Output[0].Name = out, out
	raw, err := b.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	name := filepath.Join(tb.TempDir(), out+".onnx")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

// pictures writes four grey pictures of each of three classes.
func pictures(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for c, class := range []string{"a", "b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, class), 0o700); err != nil {
			tb.Fatal(err)
		}
		for k := range 4 {
			m := image.NewGray(image.Rect(0, 0, 8, 8))
			for i := range 64 {
				m.SetGray(i%8, i/8, color.Gray{Y: uint8((i*(7+c) + 31*k) % 256)})
			}
			f, err := os.Create(filepath.Join(dir, class, fmt.Sprintf("%d.png", k)))
			if err != nil {
				tb.Fatal(err)
			}
			if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return dir
}

func study(data, group string, models ...string) *job.Study {
	s := &job.Study{Version: 1, Data: job.Data{Images: data}, Group: job.Group{Name: group}}
	for i, m := range models {
		s.Models = append(s.Models, job.Model{Name: fmt.Sprintf("m%d", i), ONNX: m})
	}
	return s
}

func open(tb testing.TB, s *job.Study, e engine.Engine) *workload.Workload {
	tb.Helper()
	w, err := workload.Open(tb.Context(), s, workload.Options{Engine: e, Rules: action.Rules()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := w.Close(); err != nil {
			tb.Error(err)
		}
	})
	return w
}

func serve(tb testing.TB, w *workload.Workload, o Options) *Service {
	tb.Helper()
	s := New(w, o)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// stored runs everything, shard by shard, into a folder, with a summary.
func stored(tb testing.TB, w *workload.Workload) *store.Run {
	tb.Helper()
	ctx, dir := tb.Context(), filepath.Join(tb.TempDir(), "run")
	r, err := store.Create(dir, w.Job, store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.Eval.Calibrate(ctx, 1); err != nil {
		tb.Fatal(err)
	}
	for _, sh := range w.Job.Shards() {
		rows, err := w.Eval.Shard(ctx, sh, nil)
		if err != nil {
			tb.Fatal(err)
		}
		if err := r.Commit(ctx, sh, rows, nil); err != nil {
			tb.Fatal(err)
		}
	}
	sum, err := fold.Fold(fold.Input{
		Job: w.Job, Hash: w.Hash, Group: w.Group(), Scales: w.Eval.Scales, FieldScales: w.Eval.FieldScales,
		Rows: func(m, i int) iter.Seq2[job.Row, error] {
			return r.Rows(store.Filter{Models: []int{m}, Metrics: w.Job.Metrics[i : i+1], Boxes: true})
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	b, err := json.Marshal(sum)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(r.Put("summary.json", b), r.Finish(ctx, nil), r.Close()); err != nil {
		tb.Fatal(err)
	}
	if r, err = store.Open(dir); err != nil {
		tb.Fatal(err)
	}
	return r
}

// same compares with a tolerance relative to numbers above 1; NaN equals NaN.
func same(a, b, tol float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return a == b || math.Abs(a-b) <= tol*max(1, math.Abs(a))
}

// against holds probes at every stored element, and the orbit as a whole, against the rows of a run. It returns the
// largest difference and how many values differ at all.
func against(t *testing.T, r *store.Run, s *Service, tol float64) (largest float64, differ, all int) {
	t.Helper()
	j := r.Job()
	check := func(what string, row job.Row, k int, values []float64, top int) {
		for i, v := range values {
			want := row.Curves[i][k]
			all++
			if math.Float32bits(float32(v)) != math.Float32bits(want) && !(math.IsNaN(v) && math.IsNaN(float64(want))) {
				differ++
				largest = max(largest, math.Abs(v-float64(want)))
			}
			if !same(float64(want), float64(float32(v)), tol) {
				t.Errorf("%s: %s of sample %s under %s at %v is %v, the row has %v", what, j.Metrics[i], row.Sample,
					j.Models[row.Model].Name, j.Elements[k], v, want)
			}
		}
		if row.Top != nil && int(row.Top[k]) != top {
			t.Errorf("%s: sample %s under %s at %v is class %d, the row has %d", what, row.Sample,
				j.Models[row.Model].Name, j.Elements[k], top, row.Top[k])
		}
	}
	rows := 0
	for row, err := range r.Rows(store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
		for k, g := range j.Elements {
			p, err := s.At(t.Context(), row.Index, g, []int{row.Model})
			if err != nil {
				t.Fatal(err)
			}
			if p.Sample != row.Sample || p.Label != row.Label || p.Element != k || p.Exact != j.Exact[k] {
				t.Fatalf("sample %s at %v: %s, label %d, element %d, exact %v; want label %d, element %d, exact %v",
					row.Sample, g, p.Sample, p.Label, p.Element, p.Exact, row.Label, k, j.Exact[k])
			}
			check("probe", row, k, p.Results[0].Values, p.Results[0].Top)
		}
		tr, err := s.Orbit(t.Context(), row.Index, []int{row.Model}, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		for k := range j.Elements {
			check("orbit", row, k, tr[0].Values[k], tr[0].Top[k])
		}
	}
	if rows != j.Count*len(j.Models) {
		t.Fatalf("%d rows, want %d", rows, j.Count*len(j.Models))
	}
	return largest, differ, all
}

// An engine whose numbers do not depend on the batch answers the rows bit for bit, for scores and for outputs that
// move.
func TestStored(t *testing.T) {
	all := []string{
		"confidence", "accuracy", "cross_entropy", "margin", "top2", "absolute", "max_absolute", "relative",
		"kl", "agreement", "flip",
	}
	for _, c := range []struct {
		name, group, model string
		output             job.Output
		metrics            []string
		orbit              job.Orbit
	}{
		{"scores", "SO(2)", "sums", job.Output{}, all, job.Orbit{Grid: []int{9}}},
		{
			"identity in the middle", "T(2,Z)", "sums",
			job.Output{},
			all,
			job.Orbit{Range: [][]float64{{-1, 1}, {-1, 1}}},
		},
		{"mirrors", "D4", "sums", job.Output{}, all, job.Orbit{}},
		{"one element", "Trivial", "sums", job.Output{}, all, job.Orbit{}},
		{
			"images", "SO(2)", "ramp",
			job.Output{Space: "image"},
			[]string{"absolute", "relative"},
			job.Orbit{Grid: []int{7}},
		},
		{
			"blurred images", "C4", "ramp",
			job.Output{Space: "image", Kernel: "up3-bilinear"},
			[]string{"absolute", "relative"},
			job.Orbit{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := study(pictures(t), c.group, model(t, c.model), model(t, c.model))
			st.Output, st.Metrics, st.Group.Orbit = c.output, c.metrics, c.orbit
			e := &pixels{}
			r := stored(t, open(t, st, e))
			s, err := OpenRun(t.Context(), r, workload.Options{Engine: e, Rules: action.Rules()}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // nothing is written
			if st := s.Status(); !st.Inputs.On || !st.Live() || len(st.Notes) > 0 || st.Engine != "wasm " {
				t.Fatalf("status %+v", st)
			}
			if _, differ, _ := against(t, r, s, 0); differ > 0 {
				t.Errorf("%d values differ", differ)
			}
		})
	}
}

// Between the elements of one plan lies what another plan visits: the same numbers come out, but for what compares with
// a neighbor.
func TestBetween(t *testing.T) {
	data, m, e := pictures(t), model(t, "sums"), &pixels{}
	metrics := []string{"confidence", "absolute", "relative", "flip"}
	coarse, fine := study(data, "SE(2)", m), study(data, "SE(2)", m)
	coarse.Metrics, fine.Metrics = metrics, metrics
	coarse.Group.Resample, fine.Group.Resample = "bicubic", "bicubic"
	coarse.Group.Border, fine.Group.Border = "reflect", "reflect"
	coarse.Group.Orbit.Values = [][]float64{{0, 0, 0}, {90, 0, 0}}
	fine.Group.Orbit.Values = [][]float64{{0, 0, 0}, {37.25, 1.5, -0.75}, {271, -3, 0}}
	s := serve(t, open(t, coarse, e), Options{})
	r := stored(t, open(t, fine, e))
	for row, err := range r.Rows(store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		for k, g := range r.Job().Elements[1:] {
			far := slices.Clone(g)
			far[0] -= 720 // a whole number of turns
			p, err := s.At(t.Context(), row.Index, far, nil)
			if err != nil {
				t.Fatal(err)
			}
			if p.Element != -1 || p.Exact || !reflect.DeepEqual(p.G, g) {
				t.Errorf("%v is element %d, exact %v, %v", far, p.Element, p.Exact, p.G)
			}
			for i := range 3 {
				if v, want := float32(p.Results[0].Values[i]), row.Curves[i][k+1]; v != want {
					t.Errorf("%s of %s at %v is %v, want %v", metrics[i], row.Sample, g, v, want)
				}
			}
			if v := p.Results[0].Values[3]; !math.IsNaN(v) {
				t.Errorf("flip between elements is %v", v)
			}
			tr, err := s.Orbit(t.Context(), row.Index, nil, []group.Element{g, {90, 0, 0}}, 3)
			if err != nil {
				t.Fatal(err)
			}
			if got := tr[0].Values[0]; !slices.EqualFunc(got, p.Results[0].Values,
				func(a, b float64) bool { return same(a, b, 0) }) {
				t.Errorf("the orbit has %v at %v, the probe %v", got, g, p.Results[0].Values)
			}
			if v := tr[0].Values[1][3]; math.IsNaN(v) {
				t.Error("flip at an element of the plan is NaN")
			}
		}
	}
}

// What a point holds fits together: the input is that of Input, the answer moved is the reference where the model keeps
// the symmetry.
func TestPoint(t *testing.T) {
	st := study(pictures(t), "C4", model(t, "ramp"))
	st.Output = job.Output{Space: "image"}
	s := serve(t, open(t, st, &pixels{}), Options{})
	p, err := s.At(t.Context(), 5, group.Element{90}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Input(t.Context(), 5, group.Element{-270})
	if err != nil || !reflect.DeepEqual(*in, p.Input) {
		t.Fatalf("input %+v, the point has %+v, %v", in, p.Input, err)
	}
	if in.Range != [2]float64{0, 255} || in.Sample != "b/1.png" || in.Label != 1 {
		t.Errorf("input %+v", in)
	}
	at := func(v space.Value, r, c int) float64 { return v.Numbers()[r*8+c] }
	one, err := s.Input(t.Context(), 5, group.Element{0})
	if err != nil {
		t.Fatal(err)
	}
	// Counter-clockwise: row r, column c comes from row c, column 7-r. The model multiplies by the column.
	res := p.Results[0]
	for r := range 8 {
		for c := range 8 {
			x := at(one.Value, c, 7-r)
			for what, got := range map[string][2]float64{
				"input":  {at(in.Value, r, c), x},
				"output": {at(res.Output, r, c) * 255, x * float64(c)},
				"moved":  {at(res.Moved, r, c) * 255, x * float64(7-r)},
				"self":   {at(res.Self, c, 7-r) * 255, x * float64(7-r)},
				"back":   {at(res.Back, c, 7-r) * 255, x * float64(c)},
			} {
				if !same(got[0], got[1], 1e-6) {
					t.Fatalf("%s at row %d, column %d is %v, want %v", what, r, c, got[0], got[1])
				}
			}
		}
	}
	if res.Top != -1 {
		t.Errorf("an image is of class %d", res.Top)
	}
}

// A NaN of the model arrives as one.
func TestNaN(t *testing.T) {
	e := &pixels{}
	st := study(pictures(t), "C4", model(t, "sums"))
	st.Metrics = []string{"confidence", "absolute", "agreement"}
	s := serve(t, open(t, st, e), Options{Cache: -1})
	e.nan.Store(true)
	p, err := s.At(t.Context(), 0, group.Element{90}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := p.Results[0]
	for i, v := range r.Values {
		if !math.IsNaN(v) {
			t.Errorf("value %d is %v", i, v)
		}
	}
	if o, ok := r.Output.(*space.Scores); !ok || !math.IsNaN(o.Output()[0]) || math.IsNaN(o.Output()[1]) ||
		r.Top != -1 {
		t.Errorf("output %+v, class %d", r.Output, r.Top)
	}
	tr, err := s.Orbit(t.Context(), 0, nil, nil, 3)
	if err != nil || !math.IsNaN(tr[0].Values[1][0]) || len(tr[0].Best[1]) != 3 || tr[0].Top[1] != -1 {
		t.Errorf("orbit %+v, %v", tr, err)
	}
	if got := best([]float64{math.NaN(), 2, 7, 2}, 9); got[0].Class != 2 || got[1].Class != 1 || got[2].Class != 3 ||
		got[3].Class != 0 || !math.IsNaN(got[3].Score) {
		t.Errorf("best %v", got)
	}
}

func TestBytes(t *testing.T) {
	nan := math.NaN()
	m := &space.Image{C: 3, H: 1, W: 2, Pix: []float64{-1, 1, 0, 3, 2, nan}}
	for _, c := range []struct {
		lo, hi float64
		want   []byte
	}{
		{0, 2, []byte{0, 0, 255, 128, 255, 0}},
		{-1, 3, []byte{0, 64, 191, 128, 255, 0}},
		{1, 1, make([]byte, 6)},
		{nan, 1, make([]byte, 6)},
		{0, math.Inf(1), make([]byte, 6)},
	} {
		if got := Bytes(m, c.lo, c.hi); !slices.Equal(got, c.want) {
			t.Errorf("%v from %v to %v is %v, want %v", m.Pix, c.lo, c.hi, got, c.want)
		}
	}
	s := services(t, "C4")
	in, err := s.Input(t.Context(), 3, group.Element{180})
	if err != nil {
		t.Fatal(err)
	}
	pix, h, w, c, ok := in.Picture()
	if !ok || h != 8 || w != 8 || c != 1 || len(pix) != 64 {
		t.Fatalf("%d bytes of %d x %d x %d, %v", len(pix), h, w, c, ok)
	}
	for i, v := range pix { // pictures() draws it, turned
		if k := 63 - i; int(v) != (k*7+31*3)%256 {
			t.Fatalf("byte %d is %d", i, v)
		}
	}
	if _, _, _, _, ok := (&Input{Value: &space.Scores{}}).Picture(); ok {
		t.Error("scores are a picture")
	}
}

func TestElements(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		group string
		g     group.Element
		// nil for an error
		want    group.Element
		axis    int
		words   string
		nearest group.Element
	}{
		{"SO(2)", group.Element{-30}, group.Element{330}, 0, "", nil},
		{"SO(2)", group.Element{725}, group.Element{5}, 0, "", nil},
		{
			"SO(2)",
			group.Element{nan},
			nil, 0, "angle of SO(2) is NaN deg: want a finite number from 0 to 360 deg",
			group.Element{0},
		},
		{"SO(2)", group.Element{inf}, nil, 0, "angle", group.Element{0}},
		{"SO(2)", group.Element{}, nil, -1, "0 coordinates are no element of SO(2): want 1, [angle (deg)]", nil},
		{"SO(2)", group.Element{1, 2}, nil, -1, "2 coordinates", nil},
		{
			"C4",
			group.Element{80},
			nil, 0, "want a multiple of 90 from 0 to 360 deg; the nearest is 90°",
			group.Element{90},
		},
		{"C4", group.Element{-90}, group.Element{270}, 0, "", nil},
		{"C7", group.Element{51.4286}, group.Element{360. / 7}, 0, "", nil},
		{"D4", group.Element{90, 1}, group.Element{90, 1}, 0, "", nil},
		{
			"D4",
			group.Element{90, 0.5},
			nil, 1, "mirror of D4 is 0.5: want a multiple of 1 from 0 to 1",
			group.Element{90, 1},
		},
		{"D4", group.Element{90, 2}, nil, 1, "mirror of D4 is 2: want a number from 0 to 1", group.Element{90, 1}},
		{"D4", group.Element{100, -1}, nil, 0, "angle", group.Element{90, 0}},
		{"T(2,Z)", group.Element{1, 0.5}, nil, 1, "dy of T(2,Z) is 0.5 px: want a multiple of 1", group.Element{1, 1}},
		{"T(2,Z)", group.Element{-3, 2}, group.Element{-3, 2}, 0, "", nil},
		{"T(2)", group.Element{1e300, 0}, nil, 0, "from -65536 to 65536 px", group.Element{65536, 0}},
		{"T(2)", group.Element{-inf, nan}, nil, 0, "dx", group.Element{-65536, 0}},
		{
			"Scale",
			group.Element{0},
			nil, 0, "scale of Scale is 0: want a number from 0.0009765625 to 1024",
			group.Element{1. / 1024},
		},
		{"Scale", group.Element{1.5}, group.Element{1.5}, 0, "", nil},
		{"Trivial", group.Element{}, group.Element{}, 0, "", nil},
		{"Roll(8,8)", group.Element{-1, 9}, group.Element{7, 1}, 0, "", nil},
	} {
		s := services(t, c.group)
		got, k, err := s.Element(c.g)
		if c.want != nil {
			if err != nil || !slices.EqualFunc(got, c.want, func(a, b float64) bool { return same(a, b, 1e-12) }) {
				t.Errorf("%v of %s is %v, want %v, %v", c.g, c.group, got, c.want, err)
			}
			if slices.IndexFunc(s.eval.Plan.Elements,
				func(h group.Element) bool { return s.eval.Plan.Group.Dist(h, got) == 0 }) != k {
				t.Errorf("%v of %s is said to be element %d", c.g, c.group, k)
			}
			continue
		}
		var ee *ElementError
		if !errors.As(err, &ee) || !errors.Is(err, ErrElement) || ee.Axis != c.axis ||
			!strings.Contains(err.Error(), c.words) {
			t.Errorf("%v of %s: %v (axis %d), want axis %d, %q", c.g, c.group, err, ee.Axis, c.axis, c.words)
			continue
		}
		if !reflect.DeepEqual(ee.Nearest, c.nearest) {
			t.Errorf("%v of %s: the nearest is %v, want %v", c.g, c.group, ee.Nearest, c.nearest)
		}
		if _, err := s.At(t.Context(), 0, c.g, nil); !errors.Is(err, ErrElement) {
			t.Errorf("At %v of %s: %v", c.g, c.group, err)
		}
		if _, err := s.Input(t.Context(), 0, c.g); !errors.Is(err, ErrElement) {
			t.Errorf("Input %v of %s: %v", c.g, c.group, err)
		}
		if _, err := s.Orbit(t.Context(), 0, nil, []group.Element{c.g}, 1); !errors.Is(err, ErrElement) {
			t.Errorf("Orbit %v of %s: %v", c.g, c.group, err)
		}
	}
}

func services(t *testing.T, name string) *Service {
	t.Helper()
	return serve(t, open(t, study(pictures(t), name, model(t, "sums")), &pixels{}), Options{})
}

// What a plan visits is never out of range, however far it lies.
func TestFarElements(t *testing.T) {
	st := study(pictures(t), "T(2)", model(t, "sums"))
	st.Group.Orbit.Values = [][]float64{{0, 0}, {100_000, 0}}
	s := serve(t, open(t, st, &pixels{}), Options{})
	if p, err := s.At(t.Context(), 0, group.Element{100_000, 0}, nil); err != nil || p.Element != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.At(t.Context(), 0, group.Element{100_001, 0}, nil); !errors.Is(err, ErrElement) {
		t.Errorf("beyond: %v", err)
	}
	// What is as good as a stored element is that element, to the last bit.
	if g, k, err := s.Element(group.Element{100_000 - 1e-10, 0}); err != nil || k != 1 || g[0] != 100_000 {
		t.Errorf("close to a stored element: %v, %d, %v", g, k, err)
	}
}

// Every element that is taken is its own canonical form, and inputs can be moved by it; every nearest one is taken.
func TestElementLaws(t *testing.T) {
	for _, name := range []string{
		"SO(2)", "C6", "D4", "E(2)", "T(2,Z)", "Scale", "SE(2) x Scale",
		"Affine(rotate, scale)", "Affine(shear)", "p4m",
	} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		st := study(pictures(t), name, model(t, "sums"))
		st.Group.Orbit.Values = [][]float64{g.Identity()}
		w, err := workload.Open(t.Context(), st, workload.Options{Engine: &pixels{}, Rules: action.Rules()})
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		s := New(w, Options{})
		rapid.Check(t, func(t *rapid.T) {
			e := make(group.Element, len(g.Chart()))
			for i := range e {
				e[i] = rapid.OneOf(rapid.Float64(), rapid.Float64Range(-400, 400),
					rapid.Map(rapid.IntRange(-8, 8), func(k int) float64 { return 45 * float64(k) }),
					rapid.SampledFrom([]float64{
						0, 1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e308,
						-1e-308,
					})).Draw(t, "coordinate")
			}
			c, _, err := s.Element(e)
			var ee *ElementError
			switch {
			case errors.As(err, &ee) && ee.Nearest != nil:
				if c, _, err = s.Element(ee.Nearest); err != nil {
					t.Fatalf("the nearest %v of %v: %v", ee.Nearest, e, err)
				}
			case errors.As(err, &ee):
				return
			case err != nil:
				t.Fatal(err)
			}
			if again, _, err := s.Element(c); err != nil || !(g.Dist(again, c) <= group.Tolerance) {
				t.Fatalf("%v of %v is %v again, %v", c, e, again, err)
			}
			if in, err := s.Input(context.Background(), 0, c); err != nil ||
				slices.ContainsFunc(in.Value.(*space.Image).Pix, math.IsNaN) { //nolint:errcheck // the test would panic
				t.Fatalf("%v: %v", c, err)
			}
		})
		if err := errors.Join(s.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestNotFound(t *testing.T) {
	s := services(t, "C4")
	for _, i := range []int{-1, 12} {
		if _, err := s.At(t.Context(), i, group.Element{0}, nil); !errors.Is(err, ErrNotFound) ||
			!strings.Contains(err.Error(), "12 samples") {
			t.Errorf("sample %d: %v", i, err)
		}
		if _, err := s.Input(t.Context(), i, group.Element{0}); !errors.Is(err, ErrNotFound) {
			t.Errorf("sample %d: %v", i, err)
		}
	}
	for _, m := range [][]int{{1}, {-1}} {
		if _, err := s.At(t.Context(), 0, group.Element{0}, m); !errors.Is(err, ErrNotFound) {
			t.Errorf("models %v: %v", m, err)
		}
	}
	if _, err := s.At(t.Context(), 0, group.Element{0}, []int{0, 0}); err == nil ||
		!strings.Contains(err.Error(), "twice") {
		t.Errorf("a model twice: %v", err)
	}
	if p, err := s.At(t.Context(), 0, group.Element{0}, []int{}); err != nil || len(p.Results) != 0 {
		t.Errorf("no models: %+v, %v", p, err)
	}
}

// hold makes the engine wait and returns how to let it go.
func hold(e *pixels) (release func()) {
	c := make(chan struct{})
	e.block.Store(&c)
	return sync.OnceFunc(func() { e.block.Store(nil); close(c) })
}

// until waits for a state that other goroutines bring about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 5000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// So many run, so many wait, the next is refused; inputs pass all the same. A place that is left is taken.
func TestBusy(t *testing.T) {
	e := &pixels{}
	w := open(t, study(pictures(t), "SO(2)", model(t, "sums")), e)
	w.Eval.Scales = []float64{1}
	s := serve(t, w, Options{Concurrent: 2, Queue: 1})
	release := hold(e)
	defer release()
	before := e.runs.Load()
	errs := make(chan error, 3)
	for i := range 3 {
		go func() {
			_, err := s.At(t.Context(), i, group.Element{10}, nil)
			errs <- err
		}()
	}
	until(t, "two run and one waits", func() bool { return e.runs.Load() == before+2 && s.models.waiting.Load() == 1 })
	soon, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := s.At(soon, 3, group.Element{10}, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("the fourth: %v", err)
	}
	if _, err := s.Orbit(soon, 3, nil, nil, 1); !errors.Is(err, ErrBusy) {
		t.Errorf("an orbit: %v", err)
	}
	if _, err := s.Input(t.Context(), 3, group.Element{10}); err != nil {
		t.Errorf("an input: %v", err)
	}
	if n := e.runs.Load(); n != before+2 {
		t.Errorf("%d runs at once", n-before)
	}
	release()
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if _, err := s.At(t.Context(), 3, group.Element{10}, nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if len(s.models.free) != 0 || s.models.waiting.Load() != 0 {
		t.Errorf("%d slots out, %d wait", len(s.models.free), s.models.waiting.Load())
	}
}

// Who goes away frees the place: in the queue, and on the way through a model that can be stopped. Nothing is started
// for them.
func TestCanceled(t *testing.T) {
	for _, serial := range []bool{false, true} {
		e := &pixels{serial: serial}
		w := open(t, study(pictures(t), "SO(2)", model(t, "sums")), e)
		w.Eval.Scales = []float64{1}
		s := serve(t, w, Options{Concurrent: 1, Queue: 1})
		release := hold(e)
		defer release()
		before := e.runs.Load()
		ask := func() (context.CancelFunc, chan error) {
			ctx, cancel := context.WithCancel(t.Context())
			errs := make(chan error, 1)
			go func() {
				_, err := s.At(ctx, 0, group.Element{10}, nil)
				errs <- err
			}()
			return cancel, errs
		}
		stop1, err1 := ask()
		until(t, "one runs", func() bool { return e.runs.Load() == before+1 })
		stop2, err2 := ask()
		until(t, "one waits", func() bool { return s.models.waiting.Load() == 1 })
		stop2()
		if err := <-err2; !errors.Is(err, context.Canceled) {
			t.Errorf("in the queue: %v", err)
		}
		if s.models.waiting.Load() != 0 || e.runs.Load() != before+1 {
			t.Errorf("%d wait, %d runs", s.models.waiting.Load(), e.runs.Load()-before)
		}
		stop1()
		if serial { // its session would be spoilt
			release()
		}
		if err := <-err1; !errors.Is(err, context.Canceled) {
			t.Errorf("under way: %v", err)
		}
		if stopped := e.stopped.Load(); stopped != map[bool]int64{false: 1, true: 0}[serial] {
			t.Errorf("serial %v: %d runs were stopped", serial, stopped)
		}
		if e.runs.Load() != before+1 {
			t.Errorf("%d runs: the second one of the point was started", e.runs.Load()-before)
		}
		release()
		if _, err := s.At(t.Context(), 0, group.Element{10}, nil); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 { // a free slot and an ended context are both ready
			if _, err := s.At(ctx, 0, group.Element{10}, nil); !errors.Is(err, context.Canceled) {
				t.Fatalf("an ended context: %v", err)
			}
		}
	}
}

// counted counts what is decoded.
type counted struct {
	dataset.Dataset
	n     atomic.Int64
	delay time.Duration
}

func (c *counted) Sample(i int) (dataset.Sample, error) {
	c.n.Add(1)
	time.Sleep(c.delay)
	return c.Dataset.Sample(i)
}

// Probes of one sample at the same time decode it once and ask for its answer at the identity once; a drag costs one
// run per probe.
func TestOnce(t *testing.T) {
	e := &pixels{}
	w := open(t, study(pictures(t), "SO(2)", model(t, "sums"), model(t, "sums")), e)
	d := &counted{Dataset: w.Eval.Data, delay: 20 * time.Millisecond}
	w.Eval.Data = d
	w.Eval.Scales = []float64{1, 1}
	s := serve(t, w, Options{Concurrent: 8})
	before := e.runs.Load()
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			if _, err := s.At(t.Context(), 4, group.Element{float64(k) + 0.5}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := d.n.Load(); n != 1 {
		t.Errorf("decoded %d times", n)
	}
	if n := e.runs.Load() - before; n != 2*(8+1) {
		t.Errorf("%d runs, want one per probe and one for the identity, of each model", n)
	}
	before = e.runs.Load()
	if _, err := s.At(t.Context(), 4, group.Element{360}, nil); err != nil || e.runs.Load() != before {
		t.Errorf("the identity took %d runs, %v", e.runs.Load()-before, err)
	}
}

// The bound on the bytes holds whatever is asked, old entries go first, and one that is too large is not kept.
func TestCacheBound(t *testing.T) {
	c := newCache(1000)
	get := func(k, bytes int) (made bool) {
		v, err := c.get(t.Context(), key{decoded, k}, func() (any, int, error) { made = true; return k, bytes, nil })
		if err != nil || v != k {
			t.Fatalf("%d is %v, %v", k, v, err)
		}
		if c.bytes > c.limit || c.recent.Len() != len(c.entries) || len(c.flights) != 0 {
			t.Fatalf("%d bytes, %d entries, %d in the list, %d flights", c.bytes, len(c.entries), c.recent.Len(),
				len(c.flights))
		}
		return made
	}
	get(1, 400)
	get(2, 400)
	if get(1, 400) {
		t.Error("1 was made twice")
	}
	get(3, 400) // 2 is the one not used for longest
	if get(1, 400) || get(3, 400) || !get(2, 400) {
		t.Error("not the oldest one was dropped")
	}
	if get(4, 1001); !get(4, 1001) || get(2, 400) {
		t.Error("one that is too large was kept, or others dropped for it")
	}
	boom := errors.New("boom")
	for range 2 {
		if _, err := c.get(t.Context(), key{0, 0}, func() (any, int, error) { return nil, 0, boom }); !errors.Is(err,
			boom) {
			t.Errorf("error %v", err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		get(rapid.IntRange(0, 20).Draw(rt, "key"), rapid.IntRange(0, 1200).Draw(rt, "bytes"))
	})

	e := &pixels{}
	w := open(t, study(pictures(t), "SO(2)", model(t, "sums")), e)
	const limit = 3 * (overhead + 8*64)
	s := serve(t, w, Options{Cache: limit})
	for i := range w.Eval.Count() {
		if _, err := s.At(t.Context(), i, group.Element{3}, nil); err != nil {
			t.Fatal(err)
		}
		if s.cache.bytes > limit || s.cache.bytes == 0 {
			t.Fatalf("%d bytes are kept, at most %d", s.cache.bytes, limit)
		}
	}
}

// When the one who works is called off, the next in line takes over, and a waiter that is called off leaves at once.
func TestCacheTakeover(t *testing.T) {
	c := newCache(1000)
	started, off := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := c.get(t.Context(), key{}, func() (any, int, error) {
			close(started)
			<-off
			return nil, 0, context.Canceled
		})
		first <- err
	}()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.get(ctx, key{}, func() (any, int, error) {
		t.Error("made beside the first")
		return nil, 0,
			nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("the waiter that left: %v", err)
	}
	second := make(chan any, 1)
	go func() {
		v, err := c.get(t.Context(), key{}, func() (any, int, error) { return 2, 1, nil })
		if err != nil {
			t.Error(err)
		}
		second <- v
	}()
	time.Sleep(5 * time.Millisecond) // let it wait; the result is the same if it comes later
	close(off)
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
	if v := <-second; v != 2 {
		t.Errorf("the second has %v", v)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic was swallowed")
			}
		}()
		_, _ = c.get(t.Context(), key{1, 1}, func() (any, int, error) { panic("boom") })
	}()
	if v, err := c.get(t.Context(), key{1, 1}, func() (any, int, error) { return 5, 1, nil }); err != nil || v != 5 {
		t.Errorf("after a panic: %v, %v", v, err)
	}
}

// A sample that cannot be read spoils no other.
func TestBrokenSample(t *testing.T) {
	data := pictures(t)
	w := open(t, study(data, "SO(2)", model(t, "sums")), &pixels{})
	s := serve(t, w, Options{})
	name := filepath.Join(data, "a", "1.png")
	if err := os.WriteFile(name, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Input(t.Context(), 1, group.Element{0}); err == nil || !strings.Contains(err.Error(), "a/1.png") {
		t.Errorf("a torn picture: %v", err)
	}
	w.Eval.Scales = []float64{1} // measuring them would read it too
	if _, err := s.At(t.Context(), 2, group.Element{0}, nil); err != nil {
		t.Error(err)
	}
}

// write replaces a file.
func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// graphics is an engine with a provider, on which it opens models as elsewhere.
type graphics struct{ *pixels }

func (graphics) Providers() []string {
	return []string{"CUDAExecutionProvider", "CPUExecutionProvider"}
}

// A run of a provider that this machine does not have is answered by the processor, which is said.
func TestOpenRunWithoutItsProvider(t *testing.T) {
	st := study(pictures(t), "SO(2)", model(t, "sums"))
	st.Group.Orbit.Grid, st.Metrics, st.Providers = []int{4}, []string{"confidence"}, []string{"cuda"}
	r := stored(t, open(t, st, graphics{&pixels{}}))
	if got := r.Job().Engine.Provider; !strings.HasPrefix(got, "cuda:") {
		t.Fatalf("the run was computed on %q", got)
	}
	for name, c := range map[string]struct {
		e    engine.Engine
		note string
	}{
		"with it":    {graphics{&pixels{}}, ""},
		"without it": {&pixels{}, "on cuda:cudnn_conv_algo_search=DEFAULT,use_tf32=0 and live answers come from wasm"},
	} {
		s, err := OpenRun(t.Context(), r, workload.Options{Engine: c.e, Rules: action.Rules()}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := s.Status()
		if notes := strings.Join(got.Notes, " "); !got.Models[0].On || !strings.Contains(notes, c.note) ||
			(c.note == "") != (notes == "") {
			t.Errorf("%s: %+v", name, got)
		}
		if _, err := s.At(t.Context(), 2, group.Element{90}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenRun(t *testing.T) {
	other, err := os.ReadFile(model(t, "ramp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *job.Study, o *workload.Options)
		// why they are off, "" if they are on
		inputs string
		// likewise
		models []string
		note   string
	}{
		{"as it was", func(*testing.T, *job.Study, *workload.Options) {}, "", []string{"", ""}, ""},
		{"a model gone", func(t *testing.T, s *job.Study, _ *workload.Options) {
			t.Helper()
			if err := os.Remove(s.Models[0].ONNX); err != nil {
				t.Fatal(err)
			}
		}, "", []string{"model m0: {0} is not there any more; put the file back", ""}, ""},
		{"a model replaced", func(t *testing.T, s *job.Study, _ *workload.Options) {
			t.Helper()
			write(t, s.Models[1].ONNX, other)
		}, "", []string{"", "model m1: {1} was replaced since the run (SHA-256 "}, ""},
		{"no model left", func(t *testing.T, s *job.Study, _ *workload.Options) {
			t.Helper()
			write(t, s.Models[1].ONNX, other)
			if err := os.Remove(s.Models[0].ONNX); err != nil {
				t.Fatal(err)
			}
		}, "", []string{"is not there any more", "was replaced since the run"}, ""},
		{"no engine", func(_ *testing.T, _ *job.Study, o *workload.Options) {
			o.Engine, o.OpenEngine = nil,
				func(context.Context, []provider.List) (engine.Engine, error) {
					return nil, errors.New("no library found")
				}
		}, "", []string{"no library found", "no library found"}, ""},
		{
			"another engine", func(_ *testing.T, _ *job.Study,
				o *workload.Options,
			) {
				o.Engine = &pixels{version: "7"}
			},
			"",
			[]string{"", ""},
			"wasm 7",
		},
		{
			"a sample replaced", func(t *testing.T, s *job.Study, _ *workload.Options) {
				t.Helper()
				b, err := os.ReadFile(filepath.Join(s.Data.Images, "a", "0.png"))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(s.Data.Images, "a", "1.png"), b)
			}, "1.png was replaced since the run",
			[]string{"1.png was replaced since the run", "1.png was replaced since the run"},
			"",
		},
		{"a sample more", func(t *testing.T, s *job.Study, _ *workload.Options) {
			t.Helper()
			b, err := os.ReadFile(filepath.Join(s.Data.Images, "a", "0.png"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(s.Data.Images, "a", "9.png"), b)
		}, "samples of other names", []string{"holds other files", "holds other files"}, ""},
		{"a sample renamed", func(t *testing.T, s *job.Study, _ *workload.Options) {
			t.Helper()
			if err := os.Rename(filepath.Join(s.Data.Images, "a", "3.png"),
				filepath.Join(s.Data.Images, "a", "4.png")); err != nil {
				t.Fatal(err)
			}
		}, "3.png is not there any more", []string{"samples of other names", "samples of other names"}, ""},
		{"the data gone", func(t *testing.T, s *job.Study, _ *workload.Options) {
			t.Helper()
			if err := os.RemoveAll(s.Data.Images); err != nil {
				t.Fatal(err)
			}
		}, "is not there any more", []string{"data", "data"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &pixels{}
			st := study(pictures(t), "SO(2)", model(t, "sums"), model(t, "sums"))
			st.Group.Orbit.Grid = []int{4}
			st.Metrics = []string{"confidence", "relative", "flip"}
			r := stored(t, open(t, st, e))
			o := workload.Options{Engine: e, Rules: action.Rules()}
			c.change(t, st, &o)
			s, err := OpenRun(t.Context(), r, o, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := s.Status()
			reason := func(what string, l Level, want string) {
				want = strings.NewReplacer("{0}", st.Models[0].ONNX, "{1}", st.Models[1].ONNX).Replace(want)
				if l.On != (want == "") || l.On != (l.Reason == "") || !strings.Contains(l.Reason, want) {
					t.Errorf("%s: %+v, want %q", what, l, want)
				}
			}
			reason("inputs", got.Inputs, c.inputs)
			for m, want := range c.models {
				reason(fmt.Sprint("model ", m), got.Models[m], want)
			}
			if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, c.note) ||
				(c.note == "") != (notes == "") {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if _, err := s.Input(t.Context(), 2, group.Element{12}); (err == nil) != got.Inputs.On || err != nil &&
				!errors.Is(err, ErrUnavailable) {
				t.Errorf("input: %v", err)
			}
			for m, l := range got.Models {
				p, err := s.At(t.Context(), 2, group.Element{90}, []int{m})
				if (err == nil) != l.On || err != nil && !errors.Is(err, ErrUnavailable) {
					t.Errorf("model %d: %v", m, err)
				}
				if err != nil {
					continue
				}
				for row, err := range r.Rows(store.Filter{Models: []int{m}, Lo: 2, Hi: 3}) {
					if err != nil {
						t.Fatal(err)
					}
					for i, v := range p.Results[0].Values {
						if float32(v) != row.Curves[i][1] {
							t.Errorf("%s of model %d is %v, the row has %v", r.Job().Metrics[i], m, v, row.Curves[i][1])
						}
					}
				}
			}
			p, err := s.At(t.Context(), 2, group.Element{33}, nil)
			if (err == nil) != got.Live() {
				t.Errorf("all models: %v", err)
			}
			if n := len(slices.DeleteFunc(slices.Clone(got.Models), func(l Level) bool { return !l.On })); err == nil &&
				len(p.Results) != n {
				t.Errorf("%d results, want %d", len(p.Results), n)
			}
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
			if _, err := s.Input(t.Context(), 2, group.Element{12}); !errors.Is(err, ErrUnavailable) {
				t.Errorf("input after closing: %v", err)
			}
		})
	}
}

// The scales of a run come from its summary, and where there is none are measured again, once, to the same numbers.
func TestScales(t *testing.T) {
	e := &pixels{}
	st := study(pictures(t), "SO(2)", model(t, "sums"), model(t, "sums"))
	st.Group.Orbit.Grid, st.Metrics = []int{4}, []string{"relative"}
	r := stored(t, open(t, st, e))
	for _, summary := range []bool{true, false} {
		if !summary {
			if err := os.Remove(filepath.Join(r.Dir(), "summary.json")); err != nil {
				t.Fatal(err)
			}
		}
		s, err := OpenRun(t.Context(), r, workload.Options{Engine: e, Rules: action.Rules()}, Options{Concurrent: 4})
		if err != nil {
			t.Fatal(err)
		}
		release := hold(e)
		if !summary { // who asked first leaves
			before := e.runs.Load()
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan error)
			go func() {
				_, err := s.At(ctx, 0, group.Element{0}, nil)
				left <- err
			}()
			until(t, "it is measured", func() bool { return e.runs.Load() > before })
			cancel()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		release()
		before := e.runs.Load()
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				p, err := s.At(t.Context(), i, group.Element{90}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				for row, err := range r.Rows(store.Filter{Lo: i, Hi: i + 1}) {
					if v := p.Results[row.Model].Values[0]; err != nil || float32(v) != row.Curves[0][1] || !(v > 0) {
						t.Errorf("sample %d is %v, the row has %v, %v", i, v, row.Curves, err)
					}
				}
			})
		}
		wg.Wait()
		most := int64(4 * 2 * 2) // samples, models, the identity and the element
		if !summary {
			most++ // the second model, if it was not begun yet
		}
		if n := e.runs.Load() - before; n > most {
			t.Errorf("summary %v: %d runs, want at most %d", summary, n, most)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	// Closing does not wait for a measurement.
	s, err := OpenRun(t.Context(), r, workload.Options{Engine: e, Rules: action.Rules()}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	release := hold(e)
	defer release()
	before := e.runs.Load()
	asked := make(chan error)
	go func() {
		_, err := s.At(t.Context(), 0, group.Element{0}, nil)
		asked <- err
	}()
	until(t, "it is measured", func() bool { return e.runs.Load() > before })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-asked; !errors.Is(err, ErrUnavailable) {
		t.Errorf("closed while it was measured: %v", err)
	}
}

// The labels of a data set are needed to measure, not to show inputs.
func TestLabelsGone(t *testing.T) {
	dir := extract(t)
	e := &labeled{}
	st := digitStudy(dir, 5, 3)
	w := open(t, st, e)
	r := stored(t, w)
	if err := os.Remove(st.Data.Labels); err != nil {
		t.Fatal(err)
	}
	s, err := OpenRun(t.Context(), r, workload.Options{Engine: e, Rules: action.Rules()}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is written
	if got := s.Status(); !got.Inputs.On || got.Live() || !strings.Contains(got.Models[0].Reason, st.Data.Labels) {
		t.Errorf("status %+v", got)
	}
	in, err := s.Input(t.Context(), 3, group.Element{0})
	if err != nil || in.Sample != w.Data.IDs()[w.Eval.Samples[3]] || in.Label != -1 {
		t.Errorf("input %+v, %v", in, err)
	}
}

// labeled is an engine that gives every class of the digits the same score.
type labeled struct{}

func (*labeled) Info() engine.Info { return engine.Info{Name: "wasm"} }
func (*labeled) Concurrent() bool  { return true }
func (l *labeled) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return l, nil
}
func (*labeled) Inputs() []string  { return []string{"input"} }
func (*labeled) Outputs() []string { return []string{"logits"} }
func (*labeled) Close() error      { return nil }
func (*labeled) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) {
	n := in[0].Shape[0]
	return []tensor.Named{{Name: "logits", Tensor: tensor.FromFloat32(make([]float32, 10*n), n, 10)}}, nil
}

func TestCanceledOpening(t *testing.T) {
	e := &pixels{}
	r := stored(t, open(t, study(pictures(t), "C4", model(t, "sums")), e))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenRun(ctx, r, workload.Options{Engine: e, Rules: action.Rules()}, Options{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// extract writes the study of the digits.
func extract(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	err := fs.WalkDir(digits.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		b, err := digits.Files.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o600)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// digitStudy is the built-in study on fewer digits and angles, with every metric.
func digitStudy(dir string, limit, angles int) *job.Study {
	return &job.Study{
		Version: 1, Task: "classification",
		Models: []job.Model{
			{Name: "original", ONNX: filepath.Join(dir, "models", "digits-original.onnx")},
			{Name: "augmented", ONNX: filepath.Join(dir, "models", "digits-augmented.onnx")},
		},
		Data: job.Data{
			Format: "idx", Images: filepath.Join(dir, "data", "digits1000-images-idx3-ubyte.gz"),
			Labels: filepath.Join(dir, "data", "digits1000-labels-idx1-ubyte.gz"),
			Limit:  limit,
		},
		Input:  job.Input{Space: "image", Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081}},
		Output: job.Output{Space: "scores", Decode: "softmax"},
		Group:  job.Group{Name: "SO(2)", Orbit: job.Orbit{Grid: []int{angles}}, Resample: "bilinear"},
		Metrics: []string{
			"confidence", "accuracy", "cross_entropy", "margin", "top2", "absolute", "max_absolute",
			"relative", "kl", "agreement", "flip",
		},
	}
}

// ortEngine is a real engine, native if there is one.
func ortEngine(tb testing.TB, kind string) engine.Engine {
	tb.Helper()
	c, err := choose.Open(tb.Context(), choose.Request{Kind: kind}, choosetest.Host())
	if err != nil {
		tb.Skipf("%s: %v", kind, err)
	}
	return c.Engine
}

// A real engine on real models: probes at stored elements give the rows. The micro-batch is part of the numbers: a row
// was computed in batches of 16 and a probe in one of 1, and an engine may add up in another order for another number
// of rows. Both engines give these models the same bits on the machines tried, but do not promise it: what is asked for
// is 1e-5, relative to 1 or the value.
func TestStoredDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real models")
	}
	for _, kind := range []string{"native", "wasm"} {
		t.Run(kind, func(t *testing.T) {
			if kind == "wasm" && raceEnabled {
				t.Skip("the embedded engine takes too long to compile under the race detector")
			}
			e := ortEngine(t, kind)
			r := stored(t, open(t, digitStudy(extract(t), 6, 8), e))
			s, err := OpenRun(t.Context(), r, workload.Options{Engine: e, Rules: action.Rules()}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // nothing is written
			largest, differ, all := against(t, r, s, 1e-5)
			t.Logf("%d of %d values differ from their rows, by at most %.2g", differ, all, largest)
		})
	}
}

// A drag: both models at angles that no plan visits.
func BenchmarkDrag(b *testing.B) {
	e := ortEngine(b, "native")
	s := serve(b, open(b, digitStudy(extract(b), 10, 72), e), Options{})
	if _, err := s.At(b.Context(), 0, group.Element{1}, nil); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if _, err := s.At(b.Context(), 0, group.Element{0.37 * float64(i+1)}, nil); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// The first probe of a sample, which has to be decoded and asked at the identity.
func BenchmarkNewSample(b *testing.B) {
	e := ortEngine(b, "native")
	s := serve(b, open(b, digitStudy(extract(b), 10, 72), e), Options{Cache: -1})
	if _, err := s.At(b.Context(), 0, group.Element{1}, nil); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := s.At(b.Context(), i%10, group.Element{0.37 * float64(i+1)}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// The whole orbit of a sample under both models.
func BenchmarkOrbit(b *testing.B) {
	e := ortEngine(b, "native")
	s := serve(b, open(b, digitStudy(extract(b), 10, 72), e), Options{})
	for i := 0; b.Loop(); i++ {
		if _, err := s.Orbit(b.Context(), i%10, nil, nil, 3); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRooted(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"project/study/m.onnx", "project/study/photos/1.png", "project/study/labels.csv"} {
		f = filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	j := &job.Job{Study: job.Study{Data: job.Data{Images: "study/photos", Labels: "study/labels.csv"}}}
	j.Models = []job.ModelRef{
		{Name: "m", Ref: job.Ref{Path: "study/m.onnx"}},
		{Name: "far", Ref: job.Ref{Path: filepath.Join(root, "elsewhere.onnx")}},
	}
	j.Files = []job.Ref{{Path: "study/photos/1.png"}}

	below := rooted(j, filepath.Join(root, "project", "out", "run"))
	at := func(p string) string { return filepath.Join(root, "project", filepath.FromSlash(p)) }
	if got := []string{
		below.Models[0].Path, below.Files[0].Path, below.Study.Data.Images,
		below.Study.Data.Labels,
	}; !slices.Equal(got,
		[]string{at("study/m.onnx"), at("study/photos/1.png"), at("study/photos"), at("study/labels.csv")}) {
		t.Errorf("run below the project: %q", got)
	}
	if below.Models[1].Path != filepath.Join(root, "elsewhere.onnx") {
		t.Errorf("an absolute path became %q", below.Models[1].Path)
	}
	if j.Models[0].Path != "study/m.onnx" || j.Files[0].Path != "study/photos/1.png" {
		t.Error("the job of the run was changed")
	}
	if away := rooted(j, t.TempDir()); away.Models[0].Path != "study/m.onnx" {
		t.Errorf("nothing is there, but the path became %q", away.Models[0].Path)
	}
	t.Chdir(filepath.Join(root, "project"))
	if here := rooted(j, filepath.Join(root, "project", "out", "run")); here.Models[0].Path != "study/m.onnx" {
		t.Errorf("the current folder has the files, but the path became %q", here.Models[0].Path)
	}
}
