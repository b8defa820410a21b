package eval

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/metric"
	"nero/model/engine"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// plan visits n turns of SO(2) in steps of 360/n degrees with the identity at index first.
func plan(t fataler, n, first int) *orbit.Plan {
	g, err := catalog.Parse("SO(2)")
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.Rules().For(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 5, 5}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &orbit.Plan{Group: g, In: in, Out: action.Trivial{G: g}}
	for k := range n {
		p.Elements = append(p.Elements, group.Element{float64((k-first+n)%n) * 360 / float64(n)})
	}
	return p
}

type fataler interface{ Fatal(...any) }

// byHand computes a row from the definitions: every element moved, run and compared by itself.
func byHand(t fataler, ev *Evaluation, i int) [][]float32 {
	s, err := ev.Data.Sample(i)
	if err != nil {
		t.Fatal(err)
	}
	var z []space.Value
	for _, g := range ev.Plan.Elements {
		x, err := ev.Plan.In.Apply(g, s.Value)
		if err != nil {
			t.Fatal(err)
		}
		y, err := ev.Models[0].Predict(context.Background(), []space.Value{x}, 1)
		if err != nil {
			t.Fatal(err)
		}
		z = append(z, y[0])
	}
	curves := make([][]float32, len(ev.Metrics))
	for m, mt := range ev.Metrics {
		for k := range z {
			curves[m] = append(curves[m], float32(mt.Measure(metric.Case{
				Got: z[k], Want: z[ev.Plan.Identity()], Prev: z[(k+len(z)-1)%len(z)], Label: s.Label,
				Scale: ev.Scales[0],
			})))
		}
	}
	return curves
}

// dark pictures make the model change its mind: a negative pixel in the top row leaves the left column on top.
type dark struct{ pictures }

func (d dark) Sample(i int) (dataset.Sample, error) {
	m := space.NewImage(1, 5, 5)
	m.Pix[1+i] = -1 - float64(i)
	return dataset.Sample{ID: strconv.Itoa(i), Label: 0, Value: m}, nil
}

// Wherever the identity stands in the plan and however batches fall, every element is compared with the identity and
// with the element before it in the plan.
func TestComparedAsDefined(t *testing.T) {
	seen := map[bool]bool{}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "elements")
		first := rapid.IntRange(0, n-1).Draw(t, "identity")
		batch := rapid.IntRange(1, 7).Draw(t, "batch")
		g := plan(t, n, first)
		ev := &Evaluation{
			Data: dark{pictures{n: 3, bad: -1}}, Plan: g,
			Metrics: []*metric.Metric{metric.Flip, metric.Absolute, metric.Agreement}, Classes: 3,
			Models: []*Model{{
				Name: "m", Codec: plainCodec{}, Batch: batch,
				Pool: NewPool(&linear{shared: true}, nil, engine.Options{}),
			}},
		}
		if err := ev.Prepare(); err != nil {
			t.Fatal(err)
		}
		if err := ev.Calibrate(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		rows, err := ev.Shard(context.Background(), job.Shard{Hi: 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			if want := byHand(t, ev, i); !reflect.DeepEqual(r.Curves, want) {
				t.Fatalf("sample %d of %d elements, identity at %d, batch %d:\n%v, want\n%v", i, n, first, batch,
					r.Curves, want)
			}
			for k := range n {
				seen[r.Curves[0][k] == 1] = true
				if r.Top[k] < 0 || r.Top[k] > 2 {
					t.Fatalf("class %d at element %d", r.Top[k], k)
				}
			}
		}
	})
	if !seen[true] || !seen[false] {
		t.Error("the model never flips or always does: nothing was tested")
	}
}

// Elements beyond those that are prepared give the same numbers.
func TestLongOrbit(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, dark{pictures{n: 2, bad: -1}}, 64, 1)
	ev.Plan, ev.Metrics = plan(t, 100, 2), []*metric.Metric{metric.Flip, metric.Absolute}
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	if len(ev.mover) != 100 {
		t.Fatalf("%d small elements are prepared, expected all 100", len(ev.mover))
	}
	ev.mover = ev.mover[:7]
	if err := ev.Calibrate(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	rows, err := ev.Shard(t.Context(), job.Shard{Hi: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if want := byHand(t, ev, i); !reflect.DeepEqual(r.Curves, want) {
			t.Errorf("sample %d: other numbers", i)
		}
	}
}

func TestChunk(t *testing.T) {
	for _, c := range []struct {
		batches []int
		bytes   int
		want    int
	}{
		{[]int{1}, 8, 64},
		{[]int{64}, 8, 64},
		{[]int{3}, 8, 63},               // whole batches of 3
		{[]int{3, 8}, 8, 48},            // whole batches of both
		{[]int{100}, 8, 100},            // a fixed batch needs them all at once
		{[]int{7, 64}, 8, 64},           // 448 would be too many: the smaller batch is cut
		{[]int{97, 89, 83}, 8, 97},      // products that would run away
		{[]int{4}, 10 << 20, 4},         // four of 10 MiB are all that there is room for
		{[]int{1}, 1 << 30, 1},          // larger than all the room
		{[]int{32}, chunkBytes / 8, 32}, // a micro-batch wins over the room
		{nil, 0, 64},
	} {
		var ms []*Model
		for _, b := range c.batches {
			ms = append(ms, &Model{Batch: b})
		}
		if got := chunk(ms, c.bytes); got != c.want {
			t.Errorf("chunk of batches %v and %d bytes = %d, want %d", c.batches, c.bytes, got, c.want)
		}
	}
}

// sorted is data of two classes, one after the other, that differ in brightness.
type sorted struct{ pictures }

func (s sorted) Sample(i int) (dataset.Sample, error) {
	m := space.NewImage(1, 5, 5)
	m.Pix[12] = float64(i % 2)
	if i >= s.n/2 {
		m.Pix[12] += 100
	}
	return dataset.Sample{ID: strconv.Itoa(i), Label: 0, Value: m}, nil
}

// The scale of data sorted by class is that of all classes: f = (v, 0, 0) with v = 0, 1 or 100, 101, so s is about 50,
// not 0.5.
func TestScaleOfSortedData(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, sorted{pictures{n: 4 * calibration, bad: -1}}, 8, 1)
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := ev.Calibrate(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(ev.Scales[0]-50) < 1) {
		t.Errorf("scale = %v, want about 50", ev.Scales[0])
	}
	for _, workers := range []int{1, 7} {
		was := ev.Scales[0]
		if err := ev.Calibrate(t.Context(), workers); err != nil || ev.Scales[0] != was {
			t.Errorf("%d workers: scale %v, was %v, %v", workers, ev.Scales[0], was, err)
		}
	}
}

func TestFirstSampleCannotBeRead(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, pictures{n: 4, bad: 0}, 8, 1)
	var se *SampleError
	if err := ev.Prepare(); !errors.As(err, &se) || se.ID != "p0" {
		t.Errorf("error %v does not name the sample", err)
	}
	ev.KeepGoing = true
	rows := rowsOf(t, ev)
	if len(rows) != 4 || rows[0].Err == "" || rows[1].Err != "" {
		t.Errorf("rows %+v", rows)
	}
	ev = evaluation(t, &linear{shared: true}, pictures{n: 1, bad: 0}, 8, 1)
	ev.KeepGoing = true
	if err := ev.Prepare(); err == nil || !strings.Contains(err.Error(), "none of the 1 samples") {
		t.Errorf("data of nothing but bad samples: %v", err)
	}
}

// Labels that no metric reads may be of any kind.
func TestLabelsThatNobodyReads(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, pictures{n: 9, bad: -1}, 4, 1)
	ev.Classes, ev.Metrics = 2, []*metric.Metric{metric.Absolute}
	if rows := rowsOf(t, ev); len(rows) != 9 || rows[2].Label != 2 {
		t.Errorf("rows %+v", rows)
	}
}

// torn is an engine whose sessions fail once and for good on one picture.
type torn struct{ open, closed atomic.Int64 }

func (e *torn) Info() engine.Info { return engine.Info{Name: "torn"} }
func (e *torn) Concurrent() bool  { return false }
func (e *torn) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	e.open.Add(1)
	return &tornSession{e: e, linearSession: linearSession{l: &linear{}}}, nil
}

type tornSession struct {
	linearSession
	e    *torn
	dead bool
}

func (s *tornSession) Close() error { s.e.closed.Add(1); return nil }
func (s *tornSession) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if s.dead = s.dead || err != nil || slices.Contains(x, 3); s.dead {
		return nil, errors.New("trap")
	}
	return s.linearSession.Run(ctx, in)
}

// A session that failed is closed and not lent again.
func TestFailedSessionIsNotLentAgain(t *testing.T) {
	e := &torn{}
	ev := evaluation(t, e, pictures{n: 3, bad: -1}, 4, 1)
	ev.Metrics = ev.Metrics[:1]
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := ev.Shard(t.Context(), job.Shard{Hi: 3}, nil); err == nil ||
		!strings.Contains(err.Error(), "model m0: trap (samples p0 to p2)") {
		t.Fatalf("error %v", err)
	}
	if _, err := ev.Shard(t.Context(), job.Shard{Hi: 2}, nil); err != nil {
		t.Errorf("the samples before are good: %v", err)
	}
	if err := ev.Models[0].Pool.Close(); err != nil || e.open.Load() != 2 || e.closed.Load() != 2 {
		t.Errorf("%d sessions opened, %d closed, %v", e.open.Load(), e.closed.Load(), err)
	}
}
