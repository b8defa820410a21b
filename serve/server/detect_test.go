package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/serve/api"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Two runs that no model made: delta is a detector of three samples under nine shifts, with a crop window of 16 x 12
// pixels over 40 x 30; epsilon is a flow of 6 x 8 pixels under D4 and time reversal. What they answer can be told from
// the element.

// drafted is the job of such a run.
func drafted(tb testing.TB, name, output string, elements []group.Element, metrics []string) *job.Job {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	j := &job.Job{
		Format: job.FormatSmall, Numbers: 1, Count: 3, Measure: "test", Elements: elements,
		Exact:  slices.Repeat([]bool{true}, len(elements)),
		Files:  []job.Ref{{Path: "data.gz", SHA256: strings.Repeat("a", 64)}},
		Engine: job.Engine{Name: "test", Version: "1"}, Shard: 2, Metrics: metrics,
		Study: job.Study{
			Version: 1, Data: job.Data{Images: "data.gz"}, Group: job.Group{Name: g.Name()},
			Output: job.Output{Space: output},
		},
	}
	for i, m := range []string{"one", "two"} {
		j.Study.Models = append(j.Study.Models, job.Model{Name: m, ONNX: m + ".onnx"})
		j.Models = append(j.Models,
			job.ModelRef{
				Name: m, Ref: job.Ref{Path: m + ".onnx", SHA256: strings.Repeat(string(rune('b'+i)), 64)},
				Batch: 1,
			})
	}
	job.Defaults(&j.Study)
	if err := j.Validate(); err != nil {
		tb.Fatal(err)
	}
	return j
}

// box is what model m of delta finds first in sample i at a shift: an object that moves along.
func box(m, i int, g group.Element) space.Box {
	x, y := 4+float64(i)+g[0], 3+g[1]
	return space.Box{X1: x, Y1: y, X2: x + 5, Y2: y + 4 + float64(m), Score: 0.9 - 0.2*float64(m), Label: i}
}

// value is what metric k of model m is at element e of sample i. It is not the same when dx and dy change places.
func value(m, k, i int, e group.Element) float32 {
	return float32(0.5 + 0.1*float64(m) + 0.01*float64(i) + 0.02*float64(k) + 0.03*e[0] + 0.001*e[1])
}

func deltaElements() []group.Element {
	var all []group.Element
	for _, dy := range []float64{-2, 0, 2} {
		for _, dx := range []float64{-4, 0, 4} {
			all = append(all, group.Element{dx, dy})
		}
	}
	return all
}

// writeDrafted writes a run of a drafted job.
func writeDrafted(tb testing.TB, dir string, j *job.Job) {
	tb.Helper()
	ctx := tb.Context()
	r, err := store.Create(dir, j, store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = r.Close() }() // what was committed is safe
	for _, sh := range j.Shards() {
		var rows []job.Row
		for m := range j.Models {
			for i := sh.Lo; i < sh.Hi; i++ {
				row := job.Row{
					Model: m, Index: i, Sample: fmt.Sprintf("s%d", i), Label: -1, Support: 0.75,
					Agreement: float32(math.NaN()),
				}
				for k := range j.Metrics {
					curve := make([]float32, len(j.Elements))
					for e, g := range j.Elements {
						curve[e] = value(m, k, i, g)
					}
					row.Curves = append(row.Curves, curve)
				}
				if j.Study.Output.Space == "boxes" {
					for e, g := range j.Elements {
						b := box(m, i, g)
						d := job.Detection{
							X1: float32(b.X1), Y1: float32(b.Y1), X2: float32(b.X2), Y2: float32(b.Y2),
							Score: float32(b.Score) - 0.1*float32(i), Label: 0,
						}
						if d.Label = int32(b.Label); i != 2 {
							d.Match = 1 // the last sample's box is another object
						}
						truths := []int32{0, 0, 0}
						truths[i] = 1
						row.Truths = append(row.Truths, truths)
						if row.Boxes = append(row.Boxes, []job.Detection{d}); e == 0 {
							row.Boxes[0] = nil // a miss
						}
					}
				}
				rows = append(rows, row)
			}
		}
		if err := r.Commit(ctx, sh, rows, nil); err != nil {
			tb.Fatal(err)
		}
	}
	if err := r.Finish(ctx, nil); err != nil {
		tb.Fatal(err)
	}
}

// makeDrafted writes both.
func makeDrafted(tb testing.TB, dir string) {
	tb.Helper()
	d := drafted(tb, "T(2)", "boxes", deltaElements(), []string{"conf_iou", "conf_iou@consensus", "ap50"})
	d.Classes = 3
	d.Study.Group.Window = []int{12, 16}
	writeDrafted(tb, filepath.Join(dir, "delta"), d)
	g, err := catalog.Parse("D4 x Time")
	if err != nil {
		tb.Fatal(err)
	}
	var all []group.Element
	for n := range 16 {
		e, _ := group.AtNumber(g, n)
		all = append(all, e)
	}
	writeDrafted(tb, filepath.Join(dir, "epsilon"),
		drafted(tb, "D4 x Time", "field", all, []string{"rmse", "rmse@self"}))
}

// staged answers for them.
type staged struct {
	j *job.Job
	g group.Group
}

func (s staged) Status() probe.Status {
	return probe.Status{Inputs: probe.Level{On: true}, Models: []probe.Level{{On: true}, {On: true}}, Engine: "test"}
}

func (s staged) Input(_ context.Context, i int, g group.Element) (*probe.Input, error) {
	if len(g) != len(s.g.Chart()) {
		return nil, fmt.Errorf("%w: %v", probe.ErrElement, g)
	}
	in := &probe.Input{
		Index: i, Sample: fmt.Sprintf("s%d", i), Label: -1, G: g, Exact: true, Range: [2]float64{0, 255},
		Element: slices.IndexFunc(s.j.Elements, func(e group.Element) bool { return s.g.Dist(e, g) == 0 }),
	}
	if s.j.Study.Output.Space == "boxes" {
		in.Value = space.NewImage(3, 12, 16)
		in.Target = &space.Boxes{H: 12, W: 16, Items: []space.Box{box(0, i, g)}}
		return in, nil
	}
	f := &space.Frames{}
	for t := range 2 {
		m := space.NewImage(1, 6, 8)
		m.Pix[t] = 255
		f.Images = append(f.Images, m)
	}
	in.Value, in.Target = f, field(0, g)
	return in, nil
}

// field is what model m of epsilon sees: u is 1 + m at the first pixel and 0 elsewhere, v is minus the first
// coordinate.
func field(m int, g group.Element) *space.Field {
	f := space.NewField(6, 8)
	f.U()[0] = 1 + float64(m)
	for i := range f.V() {
		f.V()[i] = -g[0]
	}
	return f
}

func (s staged) Scene(_ context.Context, i int) (*probe.Scene, error) {
	in, err := s.Input(context.Background(), i, s.g.Identity())
	if err != nil {
		return nil, err
	}
	sc := &probe.Scene{Index: i, Sample: in.Sample, Label: -1, Value: in.Value, Range: in.Range}
	if s.j.Study.Output.Space == "boxes" {
		sc.Value, sc.Window = space.NewImage(3, 30, 40), []int{12, 9, 16, 12}
	}
	return sc, nil
}

func (s staged) At(ctx context.Context, i int, g group.Element, models []int) (*probe.Point, error) {
	in, err := s.Input(ctx, i, g)
	if err != nil {
		return nil, err
	}
	p := &probe.Point{Input: *in}
	if models == nil {
		models = []int{0, 1}
	}
	for _, m := range models {
		r := probe.Result{Model: m, Top: -1, Support: 0.75}
		for k := range s.j.Metrics {
			r.Values = append(r.Values, float64(value(m, k, i, g)))
		}
		if s.j.Study.Output.Space == "boxes" {
			of := func(b space.Box) *space.Boxes { return &space.Boxes{H: 12, W: 16, Items: []space.Box{b}} }
			r.Output, r.Moved, r.Consensus = of(box(m, i, g)), of(box(m, i, g)), of(box(1, i, g))
		} else {
			r.Output, r.Moved = field(m, g), field(m+1, g)
		}
		p.Results = append(p.Results, r)
	}
	return p, nil
}

// TestContext wants the picture around the window, and where the window lies.
func TestContext(t *testing.T) {
	f := newFixture(t, nil)
	c := f.arrays(t, "runs/delta/samples/1/context")["context"]
	if !slices.Equal(c.shape, []int{30, 40, 3}) || c.meta["window"] != "12,9,16,12" || c.meta["hi"] != "255" {
		t.Errorf("shape %v, metadata %v", c.shape, c.meta)
	}
	c = f.arrays(t, "runs/epsilon/samples/1/context")["context"]
	if !slices.Equal(c.shape, []int{2, 6, 8, 1}) || c.meta["window"] != "" {
		t.Errorf("shape %v, metadata %v", c.shape, c.meta)
	}
	// A prober without scenes: the first picture of frames is the small picture.
	if r := f.ask(t, http.MethodGet, "/api/v1/runs/epsilon/samples/1/thumb.png", ""); r.StatusCode != http.StatusOK {
		t.Errorf("the small picture of frames: %d %s", r.StatusCode, r.body)
	}
}

// TestBoxes holds recorded boxes, those of a probe, and what was written against each other.
func TestBoxes(t *testing.T) {
	f := newFixture(t, nil)
	doc := parsed[api.Run](t, f.get(t, "runs/delta"))
	if !doc.Boxed || !slices.Equal(doc.Window, []int{12, 16}) || doc.Weak != 0.5 || doc.Orbit.Layout != "heatmap" ||
		doc.Task != "detection" {
		t.Errorf("boxed %v, window %v, weak %v, layout %s, task %s", doc.Boxed, doc.Window, doc.Weak, doc.Orbit.Layout,
			doc.Task)
	}
	for e, g := range deltaElements() {
		b := parsed[api.Boxes](t, f.get(t, fmt.Sprintf("runs/delta/samples/2/boxes?g=%v,%v", g[0], g[1])))
		if b.Element != e || b.Width != 16 || b.Height != 12 || len(b.Models) != 2 || len(b.Target) != 1 {
			t.Fatalf("%+v", b)
		}
		live := f.arrays(t, fmt.Sprintf("runs/delta/samples/2/probe?g=%v,%v", g[0], g[1]))
		for m, of := range b.Models {
			want := box(m, 2, g)
			rows := live[fmt.Sprintf("boxes.%d", m)]
			if !slices.Equal(rows.shape, []int{1, 7}) || rows.f32[0] != float32(want.X1) ||
				rows.f32[3] != float32(want.Y2) || rows.f32[6] != 2 {
				t.Errorf("model %d at %v: the probe has %v, want %+v", m, g, rows.f32, want)
			}
			for _, ref := range []string{"target", "self", "consensus"} {
				if r := live[fmt.Sprintf("boxes.%s.%d", ref, m)]; !slices.Equal(r.shape, []int{1, 7}) {
					t.Errorf("model %d: reference %s has shape %v", m, ref, r.shape)
				}
			}
			if rows.meta["support.0"] != "0.75" || rows.meta["width"] != "16" {
				t.Errorf("metadata %v", rows.meta)
			}
			if e == 0 {
				if len(of.Boxes) != 0 {
					t.Errorf("model %d: %d boxes where it missed", m, len(of.Boxes))
				}
				continue
			}
			got := of.Boxes[0]
			if float32(got.X1) != float32(want.X1) || float32(got.Y2) != float32(want.Y2) ||
				float32(got.Score) != float32(want.Score)-0.2 || got.Label != want.Label {
				t.Errorf("model %d at %v: recorded %+v, want %+v", m, g, got, want)
			}
		}
	}
	one := parsed[api.Sample](t, f.get(t, "runs/delta/samples/1"))
	if len(one.Support) != 2 || one.Support[1] != 0.75 || !math.IsNaN(float64(one.Agreement[0])) {
		t.Errorf("support %v, agreement %v", one.Support, one.Agreement)
	}
}

// TestField wants the field of a probe, the reference that was asked for, and tiles.
func TestField(t *testing.T) {
	f := newFixture(t, nil)
	doc := parsed[api.Run](t, f.get(t, "runs/epsilon"))
	if doc.Orbit.Title != "rotations, mirrors and time reversal, 16 elements" ||
		doc.Orbit.Labels[10] != "rotate 90° and time reversed" {
		t.Errorf("title %q, element 10 is %q", doc.Orbit.Title, doc.Orbit.Labels[10])
	}
	if doc.Boxed || doc.Orbit.Layout != "tiles" || !doc.Orbit.Finite || doc.Task != "flow" {
		t.Errorf("boxed %v, layout %s, finite %v, task %s", doc.Boxed, doc.Orbit.Layout, doc.Orbit.Finite, doc.Task)
	}
	var moves []string
	g, err := catalog.Parse("D4 x Time")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range doc.Orbit.Moves {
		moves = append(moves, m.Name)
		// Every button takes each element where the table of the square says.
		n, _ := group.Number(g, m.Element)
		for k, to := range m.To {
			if want := group.AfterNumber(n, k); to != want {
				t.Errorf("%s takes element %d to %d, want %d", m.Name, k, to, want)
			}
		}
	}
	if want := "turn left 90°, turn right 90°, mirror left and right, flip top and bottom, reverse time"; strings.Join(
		moves, ", ") != want {
		t.Errorf("moves %q, want %s", moves, want)
	}
	for ref, want := range map[string]float32{"": 1, "&ref=target": 1, "&ref=self": 3} {
		all := f.arrays(t, "runs/epsilon/samples/0/probe?g=90,0,1&models=1"+ref)
		got, against := all["field.1"], all["reference.1"]
		if !slices.Equal(got.shape, []int{2, 6, 8}) || got.f32[0] != 2 || got.f32[48] != -90 {
			t.Errorf("field of shape %v: %v", got.shape, got.f32)
		}
		if !slices.Equal(against.shape, []int{2, 6, 8}) || against.f32[0] != want {
			t.Errorf("ref %q: reference of shape %v begins with %v, want %v", ref, against.shape, against.f32[:1], want)
		}
		if in := all["input"]; !slices.Equal(in.shape, []int{2, 6, 8, 1}) || in.u8[0] != 255 || in.u8[49] != 255 {
			t.Errorf("frames of shape %v", in.shape)
		}
	}
	// There is no consensus: nothing is sent in its place.
	if all := f.arrays(t,
		"runs/epsilon/samples/0/probe?g=90,0,1&models=1&ref=consensus"); all["reference.1"].shape != nil {
		t.Error("a reference that there is not is sent")
	}
	if in := f.arrays(t, "runs/epsilon/samples/0/input?g=0,0,0&dtype=f32")["input"]; !slices.Equal(in.shape,
		[]int{2, 6, 8, 1}) || in.f32[0] != 255 {
		t.Errorf("frames of shape %v", in.shape)
	}
}

var errNoStage = errors.New("no such run")

// prober answers for the runs that no model made; nil for others.
func prober(r *store.Run) (staged, error) {
	j := r.Job()
	if j.Engine.Name != "test" {
		return staged{}, errNoStage
	}
	g, err := catalog.Parse(j.Study.Group.Name)
	return staged{j, g}, err
}

// TestPooled asks for the average precision of samples that were chosen by hand: it is that of all of them together,
// and no mean of what each has.
func TestPooled(t *testing.T) {
	f := newFixture(t, nil)
	for _, c := range []struct {
		set  string
		want float64
	}{
		{`{"indexes":[0]}`, 1},     // one object, found
		{`{"indexes":[2]}`, 0},     // one object, and a box elsewhere
		{`{"indexes":[0,1]}`, 1},   // two classes with one object each
		{`{"indexes":[0,2]}`, 0.5}, // the class that is not found counts
		{`{}`, 2. / 3},
	} {
		r := f.ask(t, http.MethodPost, "/api/v1/runs/delta/aggregate", `{"set":`+c.set+`,"metric":2,"pair":[0,1]}`)
		a := parsed[api.Aggregate](t, r.body)
		if r.StatusCode != http.StatusOK || len(a.Curves) != 2 || a.Pair == nil {
			t.Fatalf("%s: %d %s", c.set, r.StatusCode, r.body)
		}
		o := a.Curves[1]
		if got := float64(o.Mean[3]); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", c.set, got, c.want)
		}
		if !math.IsNaN(float64(o.Lo[3])) || o.Mean[0] != 0 {
			t.Errorf("%s: interval %v, and %v where nothing was found", c.set, o.Lo[3], o.Mean[0])
		}
		// Nothing was found at the first of nine elements.
		if got, want := float64(o.Orbit.Mean), c.want*8/9; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: mean over the orbit %v, want %v", c.set, got, want)
		}
		if a.Pair.Mean[3] != 0 || a.Pair.Verdict == "better" || a.Pair.Verdict == "worse" {
			t.Errorf("%s: difference %v, %s", c.set, a.Pair.Mean[3], a.Pair.Verdict)
		}
	}
}
