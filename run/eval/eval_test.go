package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/metric"
	"nero/model/decode"
	"nero/model/engine"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// pictures is a data set of 5x5 pictures, each with one bright pixel off the centre. Picture bad cannot be read.
type pictures struct{ n, bad int }

func (p pictures) Len() int        { return p.n }
func (p pictures) Files() []string { return nil }

func (pictures) Info() dataset.Info { return dataset.Info{} }

func (p pictures) Labels() []int {
	l := make([]int, p.n)
	for i := range l {
		l[i] = i % 3
	}
	return l
}

func (p pictures) IDs() []string {
	s := make([]string, p.n)
	for i := range s {
		s[i] = fmt.Sprintf("p%d", i)
	}
	return s
}

func (p pictures) Sample(i int) (dataset.Sample, error) {
	if i == p.bad {
		return dataset.Sample{}, fmt.Errorf("torn: %w", dataset.ErrNotFinite)
	}
	m := space.NewImage(1, 5, 5)
	m.Pix[i%25] = 1 + float64(i)
	return dataset.Sample{ID: fmt.Sprintf("p%d", i), Label: i % 3, Value: m}, nil
}

// linear is an engine whose model has three scores: the sum over all pixels, over the top row, and over the left
// column. The first is invariant to turns. It records the batches that it saw.
type linear struct {
	shared  bool
	batches atomic.Int64
	opened  atomic.Int64
	// a picture whose top row sums to this gets NaN
	nanAt float32
	// ends a call with an error by the scores of a picture; nil for none
	breaks func(y []float32) error
}

func (l *linear) Info() engine.Info { return engine.Info{Name: "linear"} }
func (l *linear) Concurrent() bool  { return l.shared }
func (l *linear) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	l.opened.Add(1)
	return &linearSession{l: l}, nil
}

type linearSession struct {
	l    *linear
	busy atomic.Bool
}

func (s *linearSession) Inputs() []string  { return []string{"x"} }
func (s *linearSession) Outputs() []string { return []string{"y"} }
func (s *linearSession) Close() error      { return nil }
func (s *linearSession) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) {
	if !s.l.shared && !s.busy.CompareAndSwap(false, true) {
		return nil, errors.New("one session used by two goroutines at once")
	}
	defer s.busy.Store(false)
	s.l.batches.Add(1)
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	n := in[0].Shape[0]
	y := make([]float32, 3*n)
	for b := range n {
		p := x[25*b : 25*b+25]
		for i, v := range p {
			y[3*b] += v
			if i < 5 {
				y[3*b+1] += v
			}
			if i%5 == 0 {
				y[3*b+2] += v
			}
		}
		if s.l.breaks != nil {
			if err := s.l.breaks(y[3*b : 3*b+3]); err != nil {
				return nil, err
			}
		}
		if s.l.nanAt != 0 && y[3*b+1] == s.l.nanAt {
			y[3*b+1] = float32(math.NaN())
		}
	}
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(y, n, 3)}}, nil
}

type plainCodec struct{}

func (plainCodec) In() space.Spec  { return space.Spec{Kind: space.KindImage, Shape: []int{1, 5, 5}} }
func (plainCodec) Out() space.Spec { return space.Spec{Kind: space.KindScores, Shape: []int{3}} }
func (plainCodec) Encode(batch []space.Value, _ []tensor.Named) ([]tensor.Named, error) {
	x := make([]float32, 0, 25*len(batch))
	for _, v := range batch {
		m, ok := v.(*space.Image)
		if !ok {
			return nil, errors.New("no image")
		}
		for _, p := range m.Pix {
			x = append(x, float32(p))
		}
	}
	return []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(x, len(batch), 1, 5, 5)}}, nil
}

func (plainCodec) Decode(out []tensor.Named, n int) ([]space.Value, error) {
	y, err := out[0].Float32s()
	if err != nil {
		return nil, err
	}
	vs := make([]space.Value, n)
	for i := range vs {
		s := &space.Scores{}
		for k := range 3 {
			s.Val = append(s.Val, float64(y[3*i+k]))
		}
		vs[i] = s
	}
	return vs, nil
}

var _ decode.Codec = plainCodec{}

func evaluation(t *testing.T, e engine.Engine, data dataset.Dataset, batch int, models int) *Evaluation {
	t.Helper()
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.Rules().For(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 5, 5}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := orbit.NewPlan(g, orbit.Spec{All: true}, in, action.Trivial{G: g}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ev := &Evaluation{
		Data: data, Plan: plan,
		Metrics: []*metric.Metric{metric.Absolute, metric.Relative, metric.Agreement, metric.Accuracy}, Classes: 3,
	}
	for k := range models {
		ev.Models = append(ev.Models, &Model{
			Name: fmt.Sprintf("m%d", k), Codec: plainCodec{}, Batch: batch,
			Pool: NewPool(e, nil, engine.Options{}),
		})
	}
	return ev
}

func rowsOf(t *testing.T, ev *Evaluation) []job.Row {
	t.Helper()
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := ev.Calibrate(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	rows, err := ev.Shard(t.Context(), job.Shard{Lo: 0, Hi: ev.Count()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Picture 1 has its pixel of value 2 in the top row, second column: f = (2, 2, 0). A quarter turn counter-clockwise
// moves it to the left column, so f = (2, 0, 2) and the error is sqrt(8); a half turn gives (2, 0, 0), error 2; three
// quarters give the right column, (2, 0, 0), error 2. A clockwise turn would give 2 first and sqrt(8) last.
func TestClosedForm(t *testing.T) {
	rows := rowsOf(t, evaluation(t, &linear{shared: true}, pictures{n: 4, bad: -1}, 3, 1))
	want := []float32{0, float32(math.Sqrt(8)), 2, 2}
	if got := rows[1].Curves[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("absolute error along C4 = %v, want %v", got, want)
	}
	if rows[1].Sample != "p1" || rows[1].Index != 1 || rows[1].Label != 1 {
		t.Errorf("row 1 is %+v", rows[1])
	}
}

// The mean of f is (2.5, 2.5, 0.25), see below. Of picture 1 (-0.5, -0.5, -0.25) is left, of length 0.75; turned once
// (-0.5, -2.5, 1.75), then twice (-0.5, -2.5, -0.25).
func TestMeanOfTheOutputs(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, pictures{n: 4, bad: -1}, 3, 1)
	ev.Metrics = []*metric.Metric{metric.FeatureCosine}
	half := float32(1.5625 / (0.75 * math.Sqrt(6.5625)))
	want := []float32{1, float32(1.0625 / (0.75 * math.Sqrt(9.5625))), half, half}
	rows := rowsOf(t, ev)
	if got := rows[1].Curves[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("cosines along C4 = %v, want %v", got, want)
	}
	if c := ev.Centres[0]; !reflect.DeepEqual(c, []float64{2.5, 2.5, 0.25}) {
		t.Errorf("mean %v", c)
	}
	again, err := ev.On(ev.Plan, ev.Metrics)
	if err != nil || !reflect.DeepEqual(again.Centres, ev.Centres) {
		t.Errorf("on other elements: %v, %v", again, err)
	}
	ev.Metrics = []*metric.Metric{metric.Relative}
	if err := ev.Calibrate(t.Context(), 1); err != nil || ev.Centres != nil || Centred(ev.Metrics) {
		t.Errorf("a mean that nobody needs: %v, %v", ev.Centres, err)
	}
}

// f of the pictures 0..3: (1,1,1), (2,2,0), (3,3,0), (4,4,0): mean (2.5, 2.5, 0.25), mean squared distance
// (1.5²·2+.75² + .5²·2+.25² + .5²·2+.25² + 1.5²·2+.25²)/4 = (5.0625+.5625+.5625+4.5625)/4 = 2.6875.
func TestCentredScale(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, pictures{n: 4, bad: -1}, 3, 1)
	rows := rowsOf(t, ev)
	if want := math.Sqrt(2.6875); !(math.Abs(ev.Scales[0]-want) < 1e-12) {
		t.Fatalf("scale = %v, want %v", ev.Scales[0], want)
	}
	// ‖f‖² is 3, 8, 18, 32
	if want := math.Sqrt(61.0 / 4); !(math.Abs(ev.Sizes[0]-want) < 1e-12) {
		t.Errorf("size = %v, want %v", ev.Sizes[0], want)
	}
	if got, want := float64(rows[1].Curves[1][2]), 2/math.Sqrt(2.6875); !(math.Abs(got-want) < 1e-6) {
		t.Errorf("relative error = %v, want %v", got, want)
	}
}

// Workers, micro-batches that divide the orbit or not, shards and fixed batch axes change no number.
func TestSameRowsHoweverComputed(t *testing.T) {
	want := rowsOf(t, evaluation(t, &linear{shared: true}, pictures{n: 21, bad: -1}, 64, 2))
	for _, shared := range []bool{true, false} {
		for _, batch := range []int{1, 3, 7, 8} {
			for _, fixed := range []bool{false, true} {
				e := &linear{shared: shared}
				ev := evaluation(t, e, pictures{n: 21, bad: -1}, batch, 2)
				for _, m := range ev.Models {
					m.Fixed = fixed
				}
				if err := ev.Prepare(); err != nil {
					t.Fatal(err)
				}
				if err := ev.Calibrate(t.Context(), 3); err != nil {
					t.Fatal(err)
				}
				j := job.Job{Count: 21, Shard: 4}
				parts := make([][]job.Row, len(j.Shards()))
				var g errgroup.Group
				var seen atomic.Int64
				for i, s := range j.Shards() {
					g.Go(func() (err error) {
						parts[i], err = ev.Shard(t.Context(), s, func(n int) { seen.Add(int64(n)) })
						return err
					})
				}
				if err := g.Wait(); err != nil {
					t.Fatal(err)
				}
				var got []job.Row
				for _, p := range parts {
					got = append(got, p...)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("shared %v, batch %d, fixed %v: other rows", shared, batch, fixed)
				}
				if n := seen.Load(); n != 21*4*2 {
					t.Errorf("progress counted %d evaluations, want %d", n, 21*4*2)
				}
				if shared && e.opened.Load() != 2 {
					t.Errorf("a shared engine opened %d sessions for 2 models", e.opened.Load())
				}
			}
		}
	}
}

func TestBatchesSpanSamples(t *testing.T) {
	e := &linear{shared: true}
	ev := evaluation(t, e, pictures{n: 32, bad: -1}, 64, 1)
	ev.Metrics = ev.Metrics[:1] // none that needs a scale
	rowsOf(t, ev)
	if n := e.batches.Load(); n != 2 {
		t.Errorf("32 samples x 4 elements took %d batches of 64, want 2", n)
	}
}

// A NaN of the model stays in its row and touches no other.
func TestNaNStays(t *testing.T) {
	ev := evaluation(t, &linear{shared: true, nanAt: 3}, pictures{n: 5, bad: -1}, 4, 1) // picture 2 upright
	clean := rowsOf(t, evaluation(t, &linear{shared: true}, pictures{n: 5, bad: -1}, 4, 1))
	for i, r := range rowsOf(t, ev) {
		for k, v := range r.Curves[0] {
			nan := math.IsNaN(float64(v))
			if i == 2 && !nan { // the identity is the reference of all of them
				t.Errorf("picture 2 at element %d: %v, want NaN", k, v)
			}
			if i != 2 && (nan || v != clean[i].Curves[0][k]) {
				t.Errorf("picture %d at element %d: %v, want %v", i, k, v, clean[i].Curves[0][k])
			}
		}
		if i == 2 && r.Top[0] != -1 {
			t.Errorf("class of a NaN = %d, want -1", r.Top[0])
		}
	}
}

func TestUnreadableSample(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, pictures{n: 9, bad: 5}, 4, 2)
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	_, err := ev.Shard(t.Context(), job.Shard{Hi: 9}, nil)
	var se *SampleError
	if !errors.As(err, &se) || se.ID != "p5" || !errors.Is(err, dataset.ErrNotFinite) {
		t.Errorf("error %v does not name the sample", err)
	}
	ev.KeepGoing = true
	clean := rowsOf(t, evaluation(t, &linear{shared: true}, pictures{n: 9, bad: -1}, 4, 2))
	got := rowsOf(t, ev)
	if len(got) != len(clean) {
		t.Fatalf("%d rows, want %d", len(got), len(clean))
	}
	for i, r := range got {
		if r.Index == 5 {
			if !strings.Contains(r.Err, "torn") || !math.IsNaN(float64(r.Curves[0][0])) {
				t.Errorf("row of the bad sample: %+v", r)
			}
			continue
		}
		// The scale is taken over the others, so only absolute errors are the same.
		if r.Sample != clean[i].Sample || !reflect.DeepEqual(r.Curves[0], clean[i].Curves[0]) {
			t.Errorf("row %d changed: %+v", i, r)
		}
	}
}

func TestLabelBeyondClasses(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, pictures{n: 9, bad: -1}, 4, 1)
	ev.Classes = 2
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := ev.Shard(t.Context(), job.Shard{Hi: 9}, nil); err == nil || !strings.Contains(err.Error(), "label 2") {
		t.Errorf("label beyond the classes: %v", err)
	}
}

func TestCanceled(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, pictures{n: 9, bad: -1}, 4, 1)
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ev.Shard(ctx, job.Shard{Hi: 9}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Measuring a prediction that was made alone gives what the row holds.
func TestMeasureAlone(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, pictures{n: 4, bad: -1}, 3, 2)
	rows := rowsOf(t, ev)
	for _, r := range rows {
		s, err := ev.At(r.Index)
		if err != nil {
			t.Fatal(err)
		}
		var want space.Value
		for k, g := range ev.Plan.Elements { // the identity comes first in C4
			x, err := ev.Plan.In.Apply(g, s.Value)
			if err != nil {
				t.Fatal(err)
			}
			ys, err := ev.Models[r.Model].Predict(t.Context(), []space.Value{x}, 1)
			if err != nil {
				t.Fatal(err)
			}
			y, err := ev.Back(r.Model, g, ys[0])
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				want = y
			}
			values, err := ev.Measure(t.Context(), r.Model, metric.Case{Got: y, Want: want, Label: s.Label})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if float32(v) != r.Curves[i][k] {
					t.Errorf("%s of sample %s under model %d at %v is %v, the row has %v", ev.Metrics[i].Name, s.ID,
						r.Model, g, v, r.Curves[i][k])
				}
			}
		}
	}
}

// What a row says of an error names the data and not where it lies.
func TestRowsNameNoFolders(t *testing.T) {
	here, err := filepath.Abs("photos")
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"photos", "./photos", "../eval/photos", here} {
		e := &Evaluation{Places: []string{"", place}}
		want := `sample 1: photos: image "1/a.png": bad; see photos/1/a.png`
		if got := e.placeless("sample 1: " + place + `: image "1/a.png": bad; see ` + place + "/1/a.png"); got != want {
			t.Errorf("%s: %s", place, got)
		}
	}
}
