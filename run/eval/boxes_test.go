package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/consensus"
	"nero/measure/metric"
	"nero/model/engine"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// frame and window are the sizes of the pictures below and of the window that a detector sees, which begins at pixel
// 12.
const (
	frame  = 48
	window = 24
)

// squares is a data set of pictures with a bright square of 6 x 6 pixels of class 1, which the window shows at column
// 8+i and row 9 for i below 3, and a second object of class 2 that nobody can see; it comes into the window's lower
// right corner at shifts of -4. Picture bad cannot be read; blind pictures have no target.
type squares struct {
	n, bad int
	blind  bool
}

func (s squares) Len() int        { return s.n }
func (s squares) Files() []string { return nil }

func (squares) Info() dataset.Info { return dataset.Info{} }

func (s squares) Labels() []int { return nil }
func (s squares) IDs() []string {
	ids := make([]string, s.n)
	for i := range ids {
		ids[i] = fmt.Sprintf("s%d", i)
	}
	return ids
}

func (s squares) Sample(i int) (dataset.Sample, error) {
	if i == s.bad {
		return dataset.Sample{}, fmt.Errorf("torn: %w", dataset.ErrNotFinite)
	}
	m := space.NewImage(1, frame, frame)
	x, y := 20+i%3, 21
	for r := y; r < y+6; r++ {
		for c := x; c < x+6; c++ {
			m.Pix[r*frame+c] = 1
		}
	}
	key := space.Box{X1: float64(x), Y1: float64(y), X2: float64(x + 6), Y2: float64(y + 6), Score: 1, Label: 1}
	other := space.Box{X1: 39, Y1: 39, X2: 43, Y2: 43, Score: 1, Label: 2}
	out := dataset.Sample{ID: fmt.Sprintf("s%d", i), Label: -1, Value: m}
	if !s.blind {
		out.Target = &space.Boxes{H: frame, W: frame, Items: []space.Box{key, other}}
	}
	return out, nil
}

// spotter is a detector that finds the bright square exactly, wherever it is: score 0.8, class 1. A fault changes what
// it says, by what it sees and by where: b is the box that it found.
type spotter struct {
	fault  func(b space.Box) []space.Box
	shared bool
}

func (*spotter) Info() engine.Info  { return engine.Info{Name: "spotter"} }
func (s *spotter) Concurrent() bool { return s.shared }
func (s *spotter) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return spotting{s}, nil
}

type spotting struct{ s *spotter }

func (spotting) Inputs() []string  { return []string{"x"} }
func (spotting) Outputs() []string { return []string{"boxes"} }
func (spotting) Close() error      { return nil }

// absent is the class of rows that hold no box, most how many rows there are.
const (
	absent = -9
	most   = 3
)

func (s spotting) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	n := in[0].Shape[0]
	y := make([]float32, 0, n*most*6)
	for p := range slices.Chunk(x, window*window) {
		found := space.Box{X1: window, Y1: window, Score: 0.8, Label: 1}
		for i, v := range p {
			if r, c := float64(i/window), float64(i%window); v > 0.5 {
				found.X1, found.Y1 = min(found.X1, c), min(found.Y1, r)
				found.X2, found.Y2 = max(found.X2, c+1), max(found.Y2, r+1)
			}
		}
		out := []space.Box{found}
		if s.s.fault != nil {
			out = s.s.fault(found)
		}
		for len(out) < most {
			out = append(out, space.Box{Label: absent})
		}
		for _, b := range out {
			y = append(y, float32(b.X1), float32(b.Y1), float32(b.X2), float32(b.Y2), float32(b.Score),
				float32(b.Label))
		}
	}
	return []tensor.Named{{Name: "boxes", Tensor: tensor.FromFloat32(y, n, most, 6)}}, nil
}

type boxCodec struct{}

func (boxCodec) In() space.Spec {
	return space.Spec{Kind: space.KindImage, Shape: []int{1, window, window}}
}
func (boxCodec) Out() space.Spec { return space.Spec{Kind: space.KindBoxes, Shape: []int{-1}} }
func (boxCodec) Encode(batch []space.Value, _ []tensor.Named) ([]tensor.Named, error) {
	x := make([]float32, 0, window*window*len(batch))
	for _, v := range batch {
		m, ok := v.(*space.Image)
		if !ok || m.H != window || m.W != window {
			return nil, errors.New("no picture of the window's size")
		}
		for _, p := range m.Pix {
			x = append(x, float32(p))
		}
	}
	return []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(x, len(batch), 1, window, window)}}, nil
}

func (boxCodec) Decode(out []tensor.Named, n int) ([]space.Value, error) {
	y, err := out[0].Float32s()
	if err != nil {
		return nil, err
	}
	vs := make([]space.Value, 0, n)
	for p := range slices.Chunk(y, most*6) {
		b := &space.Boxes{H: window, W: window}
		for r := range slices.Chunk(p, 6) {
			if r[5] != absent {
				b.Items = append(b.Items, space.Box{
					X1: float64(r[0]), Y1: float64(r[1]), X2: float64(r[2]), Y2: float64(r[3]), Score: float64(r[4]),
					Label: int(r[5]),
				})
			}
		}
		vs = append(vs, b)
	}
	return vs, nil
}

// shifts are all whole shifts by up to r pixels in steps.
func shifts(r, step int) [][]float64 {
	var v [][]float64
	for x := -r; x <= r; x += step {
		for y := -r; y <= r; y += step {
			v = append(v, []float64{float64(x), float64(y)})
		}
	}
	return v
}

// detection is an evaluation of detectors over shifts of the window.
func detection(t fataler, data dataset.Dataset, values [][]float64, names []string, detectors ...*spotter) *Evaluation {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := catalog.Parse("T(2,Z)")
	must(err)
	o := action.Options{Window: []int{window, window}}
	in, err := action.Rules().For(g, space.Spec{Kind: space.KindImage, Shape: []int{1, frame, frame}}, o)
	must(err)
	boxes := space.Spec{Kind: space.KindBoxes, Shape: []int{-1}}
	out, err := action.Rules().For(g, boxes, o)
	must(err)
	target, err := action.NewTarget(g, boxes, o)
	must(err)
	plan, err := orbit.NewPlan(g, orbit.Spec{Values: values}, in, out, 1)
	must(err)
	ev := &Evaluation{Data: data, Plan: plan, Target: target, Classes: 3}
	for _, n := range names {
		m, err := metric.Find(n)
		must(err)
		ev.Metrics = append(ev.Metrics, m)
	}
	for k, d := range detectors {
		ev.Models = append(ev.Models, &Model{
			Name: fmt.Sprintf("m%d", k), Codec: boxCodec{}, Batch: 4,
			Pool: NewPool(d, nil, engine.Options{}),
		})
	}
	return ev
}

// evaluate gives the rows.
func evaluate(t fataler, ev *Evaluation) []job.Row {
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	rows, err := ev.Shard(context.Background(), job.Shard{Lo: 0, Hi: ev.Count()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// curves holds the row's curves of some metrics against a closed form, which is given the shift and where the square
// then is in the window.
func curves(t *testing.T, ev *Evaluation, r job.Row, want map[string]func(dx, dy, x, y float64) float64) {
	t.Helper()
	for i, m := range ev.Metrics {
		f := want[m.Name]
		if f == nil {
			continue
		}
		for k, g := range ev.Plan.Elements {
			v := f(g[0], g[1], float64(8+r.Index%3)+g[0], 9+g[1])
			if got := float64(r.Curves[i][k]); !(math.Abs(got-v) < 1e-6) && !(math.IsNaN(got) && math.IsNaN(v)) {
				t.Errorf("%s of %s at %v is %v, want %v", m.Name, r.Sample, g, got, v)
			}
		}
	}
}

// overlap is the IoU of two squares of side 6 that are dx and dy apart.
func overlap(dx, dy float64) float64 {
	both := max(0, 6-math.Abs(dx)) * max(0, 6-math.Abs(dy))
	return both / (72 - both)
}

func always(v float64) func(_, _, _, _ float64) float64 {
	return func(_, _, _, _ float64) float64 { return v }
}

// Shifts by up to 4 leave the square in the window, so all is known in closed form.
func TestDetectionCurves(t *testing.T) {
	names := []string{
		"iou", "conf_iou", "miss", "wrong_label", "recall", "iou@self", "conf_iou@self", "set_iou",
		"iou@consensus",
	}
	at := func(x, y float64, label int) []space.Box {
		return []space.Box{{X1: x, Y1: y, X2: x + 6, Y2: y + 6, Score: 0.8, Label: label}}
	}
	odd := func(v float64) bool { return math.Mod(v, 2) != 0 }
	type want = map[string]func(dx, dy, x, y float64) float64
	for name, c := range map[string]struct {
		fault func(b space.Box) []space.Box
		want  want
		top   func(x, y float64) int32
	}{
		"equivariant": {nil, want{
			"iou": always(1), "conf_iou": always(0.8), "miss": always(0), "wrong_label": always(0),
			"iou@self": always(1), "conf_iou@self": always(0.8),
			"set_iou": always(1), "iou@consensus": always(1),
			// The second object is seen from shifts of -4 in both directions.
			"recall": func(dx, dy, _, _ float64) float64 {
				if dx == -4 && dy == -4 {
					return 0.5
				}
				return 1
			},
		}, func(_, _ float64) int32 { return 1 }},
		"one pixel to the right": {func(b space.Box) []space.Box { return at(b.X1+1, b.Y1, 1) }, want{
			// 5 of 6 columns are shared, so 30 / (36 + 36 - 30); against itself nothing is wrong.
			"iou": always(30. / 42), "conf_iou": always(0.8 * 30 / 42), "miss": always(0), "iou@self": always(1),
			"set_iou": always(1), "iou@consensus": always(1),
		}, func(_, _ float64) int32 { return 1 }},
		"always in one place": {func(_ space.Box) []space.Box { return at(8, 9, 1) }, want{
			"iou":      func(_, _, x, y float64) float64 { return overlap(x-8, y-9) },
			"iou@self": func(dx, dy, _, _ float64) float64 { return overlap(dx, dy) },
			"set_iou":  func(dx, dy, _, _ float64) float64 { return overlap(dx, dy) },
			"miss":     always(0),
		}, func(_, _ float64) int32 { return 1 }},
		"wrong class at odd columns": {func(b space.Box) []space.Box {
			return at(b.X1, b.Y1, 1+int(math.Mod(b.X1, 2)))
		}, want{
			"iou": func(_, _, x, _ float64) float64 {
				if odd(x) {
					return 0
				}
				return 1
			},
			"wrong_label": func(_, _, x, _ float64) float64 {
				if odd(x) {
					return 1
				}
				return 0
			},
			"iou@self": func(dx, _, _, _ float64) float64 {
				if odd(dx) {
					return 0
				}
				return 1
			},
			"miss": always(0),
		}, func(x, _ float64) int32 { return 1 + int32(math.Mod(x, 2)) }},
		"blind at even rows": {func(b space.Box) []space.Box {
			if !odd(b.Y1) {
				return nil
			}
			return []space.Box{b}
		}, want{
			"iou": func(_, _, _, y float64) float64 {
				if !odd(y) {
					return 0
				}
				return 1
			},
			"miss": func(_, _, _, y float64) float64 {
				if !odd(y) {
					return 1
				}
				return 0
			},
			"wrong_label": always(0),
			"iou@self": func(_, dy, _, _ float64) float64 {
				if odd(dy) {
					return 0
				}
				return 1
			},
		}, func(_, y float64) int32 {
			if !odd(y) {
				return -1
			}
			return 1
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ev := detection(t, squares{n: 3, bad: -1}, shifts(4, 1), names, &spotter{fault: c.fault})
			for _, r := range evaluate(t, ev) {
				curves(t, ev, r, c.want)
				for k, g := range ev.Plan.Elements {
					x, y := float64(8+r.Index)+g[0], 9+g[1]
					if r.Top[k] != c.top(x, y) {
						t.Errorf("class at %v is %d, want %d", g, r.Top[k], c.top(x, y))
					}
				}
			}
		})
	}
}

// The boxes of a row are those of the model, in the frame of the element, with what they were matched with, beside the
// number of objects that the window shows of each class.
func TestRowsHoldBoxes(t *testing.T) {
	far := space.Box{X1: 0, Y1: 0, X2: 2, Y2: 2, Score: 0.3, Label: 2}
	ev := detection(t, squares{n: 1, bad: -1}, [][]float64{{0, 0}, {2, -1}, {-4, -4}, {15, 0}}, []string{"iou"},
		&spotter{fault: func(b space.Box) []space.Box { b.X2--; return []space.Box{b, far} }})
	r := evaluate(t, ev)[0]
	const all = 1<<metric.Thresholds - 1
	// A column of six is missing: IoU 5/6, which the thresholds 0.50 to 0.80 do not exceed, seven of them.
	const seven = 1<<7 - 1
	other := job.Detection{X2: 2, Y2: 2, Score: 0.3, Label: 2}
	want := [][]job.Detection{
		{{X1: 8, Y1: 9, X2: 13, Y2: 15, Score: 0.8, Label: 1, Match: seven}, other},
		{{X1: 10, Y1: 8, X2: 15, Y2: 14, Score: 0.8, Label: 1, Match: seven}, other},
		{{X1: 4, Y1: 5, X2: 9, Y2: 11, Score: 0.8, Label: 1, Match: seven}, other},
		// The window shows one column, which is given up.
		{{X1: 23, Y1: 9, X2: 23, Y2: 15, Score: 0.8, Label: 1}, other},
	}
	if !reflect.DeepEqual(r.Boxes, want) {
		t.Errorf("boxes %+v, want %+v", r.Boxes, want)
	}
	if truths := [][]int32{{0, 1, 0}, {0, 1, 0}, {0, 1, 1}, {0, 1, 0}}; !reflect.DeepEqual(r.Truths, truths) {
		t.Errorf("objects %v, want %v", r.Truths, truths)
	}
	ev = detection(t, squares{n: 1, bad: -1}, [][]float64{{0, 0}, {3, 3}}, []string{"iou"}, &spotter{})
	if r = evaluate(t, ev)[0]; r.Boxes[1][0].Match != all {
		t.Errorf("an exact box is matched at %b", r.Boxes[1][0].Match)
	}
	ev = detection(t, squares{n: 1, bad: -1, blind: true}, [][]float64{{0, 0}, {3, 3}}, []string{"iou@self"},
		&spotter{})
	if r = evaluate(t, ev)[0]; r.Truths != nil || r.Boxes[1][0].Match != 0 || r.Boxes[1][0].X1 != 11 ||
		r.Curves[0][1] != 1 {
		t.Errorf("without targets: %+v", r)
	}
}

// offsets makes a detector that is wrong by so many columns at the elements of a line of shifts from -2 to 2.
func offsets(by ...float64) *spotter {
	return &spotter{fault: func(b space.Box) []space.Box {
		d := by[int(b.X1)-6]
		b.X1, b.X2 = b.X1+d, b.X2+d
		return []space.Box{b}
	}}
}

func line() [][]float64 { return [][]float64{{-2, 0}, {-1, 0}, {0, 0}, {1, 0}, {2, 0}} }

// Pulled back, the squares stand at the offsets; their mean is 1 to the right, their median 1, and without one of them
// the mean of the others.
func TestConsensusCurves(t *testing.T) {
	by := []float64{0, 1, 2, 1, 1}
	for name, c := range map[string]struct {
		change func(*Evaluation)
		center func(k int) float64
	}{
		"median": {func(*Evaluation) {}, func(int) float64 { return 1 }},
		"mean":   {func(e *Evaluation) { e.Averaging.Center = consensus.Mean }, func(int) float64 { return 1 }},
		"mean of the others": {
			func(e *Evaluation) { e.Averaging.Center, e.LeaveOut = consensus.Mean, true },
			func(k int) float64 { return (5 - by[k]) / 4 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			ev := detection(t, squares{n: 1, bad: -1}, line(), []string{"iou", "iou@consensus", "miss@consensus"},
				offsets(by...))
			c.change(ev)
			r := evaluate(t, ev)[0]
			var a, b []float64
			for k, d := range by {
				want := overlap(d-c.center(k), 0)
				if got := float64(r.Curves[1][k]); !(math.Abs(got-want) < 1e-6) || r.Curves[2][k] != 0 {
					t.Errorf("against the consensus at element %d: %v, want %v", k, got, want)
				}
				if got := float64(r.Curves[0][k]); !(math.Abs(got-overlap(d, 0)) < 1e-6) {
					t.Errorf("against the target at element %d: %v", k, got)
				}
				a, b = append(a, overlap(d, 0)), append(b, want)
			}
			if r.Support != 1 {
				t.Errorf("support %v, want 1", r.Support)
			}
			if want := correlation(a, b); !(math.Abs(float64(r.Agreement)-want) < 1e-6) {
				t.Errorf("agreement %v, want %v", r.Agreement, want)
			}
		})
	}
}

// correlation is Pearson's, from its definition.
func correlation(a, b []float64) float64 {
	var ma, mb, sab, saa, sbb float64
	for k := range a {
		ma, mb = ma+a[k]/float64(len(a)), mb+b[k]/float64(len(b))
	}
	for k := range a {
		sab, saa, sbb = sab+(a[k]-ma)*(b[k]-mb), saa+(a[k]-ma)*(a[k]-ma), sbb+(b[k]-mb)*(b[k]-mb)
	}
	return sab / math.Sqrt(saa*sbb)
}

// The model sees the square at three of five elements, once under another class: the consensus rests on three fifths
// and has the class of most.
func TestConsensusWithMisses(t *testing.T) {
	ev := detection(t, squares{n: 1, bad: -1}, line(),
		[]string{"iou@consensus", "wrong_label@consensus", "miss@consensus", "iou"},
		&spotter{fault: func(b space.Box) []space.Box {
			switch b.X1 {
			case 7, 10:
				return nil
			case 8:
				b.Label = 0
			}
			return []space.Box{b}
		}})
	r := evaluate(t, ev)[0]
	for i, want := range [][]float32{{1, 0, 0, 1, 0}, {0, 0, 1, 0, 0}, {0, 1, 0, 0, 1}, {1, 0, 0, 1, 0}} {
		if !slices.Equal(r.Curves[i], want) {
			t.Errorf("%s = %v, want %v", ev.Metrics[i].Name, r.Curves[i], want)
		}
	}
	if !(math.Abs(float64(r.Support)-0.6) < 1e-6) || !(math.Abs(float64(r.Agreement)-1) < 1e-6) {
		t.Errorf("support %v, want 0.6; agreement %v, want 1", r.Support, r.Agreement)
	}
	// A model that sees nothing has no consensus, and all against it is undefined.
	ev = detection(t, squares{n: 1, bad: -1}, line(), []string{"iou@consensus", "iou"},
		&spotter{fault: func(space.Box) []space.Box { return nil }})
	if r = evaluate(t, ev)[0]; r.Support != 0 || !math.IsNaN(float64(r.Agreement)) ||
		!math.IsNaN(float64(r.Curves[0][2])) || r.Curves[1][2] != 0 {
		t.Errorf("of a blind model: support %v, agreement %v, curves %v", r.Support, r.Agreement, r.Curves)
	}
}

// Without targets the consensus is the same, up to which of several objects comes first, and there is no agreement to
// report.
func TestConsensusWithoutTargets(t *testing.T) {
	ev := detection(t, squares{n: 1, bad: -1, blind: true}, line(), []string{"iou@consensus"}, offsets(0, 1, 2, 1, 1))
	r := evaluate(t, ev)[0]
	if want := float32(overlap(1, 0)); r.Curves[0][0] != want || r.Curves[0][1] != 1 || r.Support != 1 ||
		!math.IsNaN(float64(r.Agreement)) {
		t.Errorf("curve %v, support %v, agreement %v", r.Curves, r.Support, r.Agreement)
	}
}

// A box that is not a number at one element is NaN there, against every reference, and nowhere else; the run goes on.
func TestBoxOfNaN(t *testing.T) {
	names := []string{"iou", "iou@self", "iou@consensus", "miss", "f1", "ap50"}
	fault := func(nan float64) *spotter {
		return &spotter{fault: func(b space.Box) []space.Box {
			if b.X1 == 7 {
				b.Y2 = nan
			}
			return []space.Box{b}
		}}
	}
	for _, nan := range []float64{math.NaN(), math.Inf(1)} {
		ev := detection(t, squares{n: 1, bad: -1}, line(), names, fault(nan))
		r := evaluate(t, ev)[0]
		for i, m := range ev.Metrics {
			for k := range line() {
				want := float32(1)
				if m.Name == "miss" {
					want = 0
				}
				if got := r.Curves[i][k]; k == 1 && got == got || k != 1 && got != want {
					t.Errorf("%v: %s at element %d is %v", nan, m.Name, k, got)
				}
			}
		}
		if !(math.Abs(float64(r.Support)-0.8) < 1e-6) || len(r.Truths[1]) != 3 || len(r.Boxes[1]) != 1 {
			t.Errorf("support %v, want 4 of 5; objects %v, boxes %v", r.Support, r.Truths, r.Boxes[1])
		}
	}
	// At the identity it takes the reference of all others with it, but not the target or the consensus.
	ev := detection(t, squares{n: 1, bad: -1}, line(), names, &spotter{fault: func(b space.Box) []space.Box {
		if b.X1 == 8 {
			b.Score = math.NaN()
		}
		return []space.Box{b}
	}})
	r := evaluate(t, ev)[0]
	for k := range line() {
		if self := r.Curves[1][k]; self == self || (r.Curves[0][k] != 1 || r.Curves[2][k] != 1) != (k == 2) {
			t.Errorf("element %d: %v, %v, %v", k, r.Curves[0][k], self, r.Curves[2][k])
		}
	}
}

// Rows are the same bytes whatever the workers, micro-batches, shards and chunks, and whichever order the shards are
// done in.
func TestDetectionRowsHoweverComputed(t *testing.T) {
	names := []string{"iou", "conf_iou", "set_iou", "iou@self", "iou@consensus", "ap50"}
	jitter := &spotter{shared: true, fault: func(b space.Box) []space.Box {
		d := math.Mod(3*b.X1+5*b.Y1, 4) / 4
		c := b
		b.X1, b.Y2, b.Score = b.X1+d, b.Y2-d, 0.5+d/2
		c.X2, c.Score = c.X2+1.5*d, 0.4
		return []space.Box{b, c}
	}}
	prepared := func(batch, chunk int) *Evaluation {
		ev := detection(t, squares{n: 7, bad: -1}, shifts(4, 2), names, jitter, &spotter{shared: true})
		for _, m := range ev.Models {
			m.Batch = batch
		}
		if err := ev.Prepare(); err != nil {
			t.Fatal(err)
		}
		if chunk > 0 {
			ev.chunk = chunk
		}
		return ev
	}
	want, err := prepared(4, 0).Shard(t.Context(), job.Shard{Hi: 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]int{{1, 1}, {3, 7}, {64, 64}, {16, 200}} {
		ev := prepared(c[0], c[1])
		j := job.Job{Count: 7, Shard: 2}
		got := []job.Row{}
		shards := j.Shards()
		rows := [4][]job.Row{}
		var g errgroup.Group
		for i := len(shards) - 1; i >= 0; i-- {
			g.Go(func() (err error) { rows[i], err = ev.Shard(t.Context(), shards[i], nil); return err })
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		for i := range shards {
			got = append(got, rows[i]...)
		}
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("batches of %d, chunks of %d: other rows", c[0], c[1])
		}
	}
}

// same compares rows, NaN with NaN.
func same(a, b job.Row) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }

// A sample that cannot be read is a row with an error among the others, which do not change.
func TestDetectionKeepsGoing(t *testing.T) {
	names := []string{"iou", "iou@consensus"}
	want := evaluate(t, detection(t, squares{n: 5, bad: -1}, line(), names, offsets(0, 1, 2, 1, 1, 1, 1), &spotter{}))
	ev := detection(t, squares{n: 5, bad: 2}, line(), names, offsets(0, 1, 2, 1, 1, 1, 1), &spotter{})
	ev.KeepGoing = true
	got := evaluate(t, ev)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i, r := range got {
		if r.Index == 2 {
			if !strings.Contains(r.Err, "torn") || r.Boxes != nil || r.Truths != nil ||
				!math.IsNaN(float64(r.Curves[0][0])) {
				t.Errorf("row of the bad sample: %+v", r)
			}
			continue
		}
		if !same(r, want[i]) {
			t.Errorf("row %d changed: %+v, was %+v", i, r, want[i])
		}
	}
}

// A sample whose window leaves the picture at an element does not take others with it.
type cramped struct{ squares }

func (c cramped) Sample(i int) (dataset.Sample, error) {
	s, err := c.squares.Sample(i)
	if i == 1 {
		s.Value = space.NewImage(1, window-1, frame)
	}
	return s, err
}

func TestWindowLargerThanPicture(t *testing.T) {
	ev := detection(t, cramped{squares{n: 3, bad: -1}}, line(), []string{"iou", "iou@consensus"}, &spotter{})
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	_, err := ev.Shard(t.Context(), job.Shard{Hi: 3}, nil)
	var se *SampleError
	if !errors.As(err, &se) || se.ID != "s1" {
		t.Errorf("error %v does not name the sample", err)
	}
	ev.KeepGoing = true
	rows, err := ev.Shard(t.Context(), job.Shard{Hi: 3}, nil)
	if err != nil || len(rows) != 3 || rows[1].Err == "" || rows[0].Err != "" || rows[2].Curves[1][4] != 1 {
		t.Errorf("rows %+v, %v", rows, err)
	}
}

// brittle is an action that fails on some pictures after a few elements.
type brittle struct{ action.Action }

func (b brittle) Apply(g group.Element, v space.Value) (space.Value, error) {
	if m, ok := v.(*space.Image); ok && g[0] > 0 && m.Pix[21*frame+20] == 0 {
		return nil, errors.New("broke")
	}
	return b.Action.Apply(g, v)
}

// A sample that fails in the middle of its orbit leaves nothing of what was measured before.
func TestFailsInTheMiddle(t *testing.T) {
	names := []string{"iou", "iou@consensus"}
	want := evaluate(t, detection(t, squares{n: 3, bad: -1}, line(), names, &spotter{}))
	ev := detection(t, squares{n: 3, bad: -1}, line(), names, &spotter{})
	ev.KeepGoing, ev.Plan.In = true, brittle{ev.Plan.In}
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	ev.chunk = 2
	rows, err := ev.Shard(t.Context(), job.Shard{Hi: 3}, nil)
	if err != nil || len(rows) != 3 || !same(rows[0], want[0]) {
		t.Fatalf("rows %+v, %v", rows, err)
	}
	for _, r := range rows[1:] {
		if !strings.Contains(r.Err, "broke") || r.Boxes != nil || r.Truths != nil || r.Top != nil {
			t.Errorf("row %+v", r)
		}
		for _, v := range []float32{r.Support, r.Agreement, r.Curves[0][0], r.Curves[1][0]} {
			if v == v {
				t.Errorf("%v in a row with an error", v)
			}
		}
	}
}

// Of a model that is equivariant the consensus is its own answer, wherever its object stands.
func TestConsensusOfEquivariantModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Float64Range(-2, 2).Draw(t, "x"), rapid.Float64Range(-2, 2).Draw(t, "y")
		score := rapid.Float64Range(0.1, 1).Draw(t, "score")
		d := &spotter{fault: func(b space.Box) []space.Box {
			b.X1, b.X2, b.Y1, b.Y2, b.Score = b.X1+x, b.X2+x, b.Y1+y, b.Y2+y, score
			return []space.Box{b}
		}}
		ev := detection(t, squares{n: 1, bad: -1, blind: rapid.Bool().Draw(t, "blind")}, shifts(2, 1),
			[]string{"iou@consensus"}, d)
		if err := ev.Prepare(); err != nil {
			t.Fatal(err)
		}
		s, err := ev.At(0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ev.Consensus(context.Background(), 0, s)
		if err != nil {
			t.Fatal(err)
		}
		set, ok := c.Value.(*space.Boxes)
		if !ok || len(set.Items) != 1 || c.Share != 1 || c.Label != 1 {
			t.Fatalf("consensus %+v", c)
		}
		b := set.Items[0]
		for _, d := range []float64{b.X1 - 8 - x, b.Y1 - 9 - y, b.X2 - 14 - x, b.Y2 - 15 - y, b.Score - score} {
			if !(math.Abs(d) < 1e-5) { // the model's numbers are 32 bits wide
				t.Fatalf("box %+v of the square moved by %v, %v", b, x, y)
			}
		}
	})
}

// waiting is how many predictions of a sample something waits for.
func (t *track) waiting() int {
	n := 0
	for _, v := range t.at {
		if v != nil {
			n++
		}
	}
	return n
}

// What waits for a comparison is let go when it has been made: a few predictions, or the sample's own if its consensus
// is awaited, and nothing of a sample whose rows are complete.
func TestNothingIsKept(t *testing.T) {
	for _, c := range []struct {
		names []string
		most  int
	}{{[]string{"iou", "iou@self"}, 3}, {[]string{"iou", "iou@consensus"}, len(shifts(4, 2))}} {
		ev := detection(t, squares{n: 4, bad: -1}, shifts(4, 2), c.names, &spotter{})
		if err := ev.Prepare(); err != nil {
			t.Fatal(err)
		}
		w, done, err := ev.worker(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []*pending
		for i := range ev.Count() {
			if err := w.sample(t.Context(), i); err != nil {
				t.Fatal(err)
			}
			for _, p := range w.open {
				if !slices.Contains(all, p) {
					all = append(all, p)
				}
				if n := p.tracks[0].waiting(); n > c.most {
					t.Errorf("%v: %d predictions of one sample wait, expected at most %d", c.names, n, c.most)
				}
			}
		}
		if err := w.flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		done()
		if len(w.open) != 0 || len(w.rows) != 4 || len(all) != 4 {
			t.Fatalf("%d samples open, %d rows, %d seen", len(w.open), len(w.rows), len(all))
		}
		for _, p := range all {
			if tr := &p.tracks[0]; tr.waiting() != 0 || tr.mean != nil {
				t.Errorf("%v: %d predictions and the consensus %v of a finished sample", c.names, tr.waiting(), tr.mean)
			}
			if slices.Contains(w.owner[:cap(w.owner)], p) || slices.Contains(w.open[:cap(w.open)], p) {
				t.Errorf("%v: a finished sample can still be reached", c.names)
			}
		}
	}
}

// small is a data set of one picture of the window's size with a bright square.
type small struct{ squares }

func (s small) Sample(i int) (dataset.Sample, error) {
	m := space.NewImage(1, window, window)
	for r := 9; r < 15; r++ {
		for c := 4; c < 10; c++ {
			m.Pix[r*window+c] = 1
		}
	}
	return dataset.Sample{
		ID: fmt.Sprintf("s%d", i), Label: -1, Value: m,
		Target: &space.Boxes{
			H: window, W: window,
			Items: []space.Box{{X1: 4, Y1: 9, X2: 10, Y2: 15, Score: 1, Label: 1}},
		},
	}, nil
}

// TestBoxesOnATorus: a detector that names the place of an object once around the picture names the same place.
func TestBoxesOnATorus(t *testing.T) {
	g, err := catalog.Parse(fmt.Sprintf("Roll(%d,%d)", window, window))
	if err != nil {
		t.Fatal(err)
	}
	boxes := space.Spec{Kind: space.KindBoxes, Shape: []int{-1}}
	in, err := action.Rules().For(g, space.Spec{Kind: space.KindImage, Shape: []int{1, window, window}},
		action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := action.Rules().For(g, boxes, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target, err := action.NewTarget(g, boxes, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := orbit.NewPlan(g, orbit.Spec{Values: [][]float64{{0, 0}, {5, 0}, {0, 7}, {12, 3}}}, in, out, 1)
	if err != nil {
		t.Fatal(err)
	}
	iou, err := metric.Find("iou")
	if err != nil {
		t.Fatal(err)
	}
	around := &spotter{fault: func(b space.Box) []space.Box {
		b.X1, b.X2, b.Y1, b.Y2 = b.X1+window, b.X2+window, b.Y1-window, b.Y2-window
		return []space.Box{b}
	}}
	ev := &Evaluation{
		Data: small{squares{n: 1, bad: -1}}, Plan: plan, Target: target, Classes: 3, Metrics: []*metric.Metric{iou},
		Models: []*Model{{Name: "around", Codec: boxCodec{}, Batch: 4, Pool: NewPool(around, nil, engine.Options{})}},
	}
	r := evaluate(t, ev)[0]
	for k, v := range r.Curves[0] {
		if v != 1 {
			t.Errorf("iou at %v is %v, box %+v", plan.Elements[k], v, r.Boxes[k])
		}
	}
}
