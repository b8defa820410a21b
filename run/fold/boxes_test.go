package fold

import (
	"encoding/json"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"nero/measure/metric"
	"nero/run/job"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// shifted are the elements of a grid of shifts, the first axis the slower one.
func shifted(xs, ys []float64) []group.Element {
	var e []group.Element
	for _, x := range xs {
		for _, y := range ys {
			e = append(e, group.Element{x, y})
		}
	}
	return e
}

// detections folds rows with boxes over shifts.
func detections(t fataler, elements []group.Element, names []string, rows ...job.Row) (*Summary, error) {
	g, err := catalog.Parse("T(2,Z)")
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Models: []job.ModelRef{{Name: "A"}}, Metrics: names, Elements: elements, Classes: 2}
	for _, r := range rows {
		j.Count = max(j.Count, r.Index+1)
	}
	return Fold(Input{Job: j, Group: g, Rows: Columns(func() iter.Seq2[job.Row, error] { return given(rows...) })})
}

type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// random is a row of so many elements with up to three boxes at each, some of them matched.
func random(r *rand.Rand, index, elements, metrics int) job.Row {
	row := job.Row{
		Index: index, Sample: string(rune('a' + index)), Label: index % 2,
		Curves: make([][]float32, metrics),
	}
	for i := range row.Curves {
		for range elements {
			row.Curves[i] = append(row.Curves[i], r.Float32())
		}
	}
	for range elements {
		var ds []job.Detection
		for range r.IntN(4) {
			ds = append(ds, job.Detection{
				X2: 1, Y2: 1, Score: float32(r.IntN(8)) / 8, Label: int32(r.IntN(2)),
				Match: uint16(1<<r.IntN(metric.Thresholds+1) - 1),
			})
		}
		slices.SortStableFunc(ds, func(a, b job.Detection) int { return int(8*b.Score) - int(8*a.Score) })
		row.Boxes = append(row.Boxes, ds)
		row.Truths = append(row.Truths, []int32{3 + int32(r.IntN(2)), 3 + int32(r.IntN(2))})
	}
	return row
}

// evidence is what the rows say at an element, from the definition.
func evidenceAt(rows []job.Row, element, metricAt, label int) []metric.Evidence {
	var set []metric.Evidence
	for _, r := range rows {
		if label != all && r.Label != label {
			continue
		}
		e := metric.Evidence{Value: float64(r.Curves[metricAt][element]), Truths: r.Truths[element]}
		for _, d := range r.Boxes[element] {
			e.Hits = append(e.Hits, metric.Hit{Score: d.Score, Label: d.Label, Match: d.Match})
		}
		set = append(set, e)
	}
	return set
}

// Two samples with one object each: in the first the best box is right, in the second it is wrong and the next one
// right. Down the list of scores 0.9 right, 0.8 wrong, 0.7 right: recall rises to 1/2 at precision 1 and to 1 at
// precision 2/3, so the area is (1 + 2/3)/2. The mean of the samples' own values, 1 and 1/2, would be 3/4.
func TestPooledByHand(t *testing.T) {
	box := func(score float32, match uint16) job.Detection {
		return job.Detection{X2: 1, Y2: 1, Score: score, Match: match}
	}
	row := func(i int, value float32, ds ...job.Detection) job.Row {
		return job.Row{
			Index: i, Sample: string(rune('a' + i)), Label: -1, Curves: [][]float32{{value}},
			Boxes: [][]job.Detection{ds}, Truths: [][]int32{{1, 0}},
		}
	}
	s, err := detections(t, []group.Element{{0, 0}}, []string{"ap50"}, row(0, 1, box(0.9, 1)),
		row(1, 0.5, box(0.8, 0), box(0.7, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Curve(0, 0, 0)
	if !near(c.Mean[0], 5./6) || !s.Metrics[0].Pooled {
		t.Errorf("average precision %v, want 5/6", c.Mean[0])
	}
	// Resamples would be twice the first, twice the second, or both: 1, 1/2 and 5/6. Two samples are too few for an
	// interval to be made of that.
	if c.Lo[0] != 0 || c.Hi[0] != 1 || !near(c.Orbit.Mean, 5./6) || !near(c.Worst.Mean, 5./6) ||
		!near(c.Change.Mean, 0) {
		t.Errorf("interval [%v, %v], orbit %+v, change %+v", c.Lo[0], c.Hi[0], c.Orbit, c.Change)
	}
	if !math.IsNaN(float64(c.Orbit.SD)) || c.Orbit.N != 2 {
		t.Errorf("samples have no values of their own: %+v", c.Orbit)
	}
}

// Pooled curves are the metric of all samples at each element, in every slice; what is made of the curve is made of
// these values.
func TestPooledAgainstDirect(t *testing.T) {
	names := []string{"ap50", "iou", "coco_ap"}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		elements := shifted([]float64{-1, 0}, []float64{0, 2})
		var rows []job.Row
		for i := range rapid.IntRange(2, 6).Draw(t, "samples") {
			rows = append(rows, random(r, i, len(elements), len(names)))
		}
		s, err := detections(t, elements, names, rows...)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			m, err := metric.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			for l, slice := range s.Slices {
				c := s.Curve(0, i, l)
				sum, worst := 0.0, math.Inf(1)
				for k := range elements {
					set := evidenceAt(rows, k, i, slice.Label)
					want := 0.0
					if m.Pooled != nil {
						want = m.Pooled(set)
					} else {
						for _, e := range set {
							want += e.Value / float64(len(set))
						}
					}
					if !near(c.Mean[k], want) {
						t.Fatalf("%s of slice %s at element %d: %v, want %v", name, slice.Name, k, c.Mean[k], want)
					}
					if m.Pooled != nil && !(c.Lo[k] <= c.Hi[k] && c.Lo[k] >= 0 && c.Hi[k] <= 1) {
						t.Fatalf("%s: interval [%v, %v]", name, c.Lo[k], c.Hi[k])
					}
					sum, worst = sum+want/float64(len(elements)), min(worst, want)
				}
				if m.Pooled != nil &&
					(!near(c.Orbit.Mean, sum) || !near(c.Worst.Mean, worst) ||
						!near(c.Change.Mean, sum-float64(c.Mean[2])) || !near(c.Mean[c.WorstElement], worst)) {
					t.Fatalf("%s: orbit %+v, worst %+v at %d, change %+v; want %v and %v", name, c.Orbit, c.Worst,
						c.WorstElement, c.Change, sum, worst)
				}
			}
		}
	})
}

// Memory for the hits of a few elements only, so that the rows are read several times, changes no byte; nor does a
// second call.
func TestPooledInBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"ap50", "ap75"}
	elements := shifted([]float64{-1, 0, 1}, []float64{0, 2})
	var rows []job.Row
	for i := range 5 {
		rows = append(rows, random(r, i, len(elements), 2))
	}
	made := func(budget int) string {
		g, err := catalog.Parse("T(2,Z)")
		if err != nil {
			t.Fatal(err)
		}
		j := &job.Job{Models: []job.ModelRef{{Name: "A"}}, Metrics: names, Elements: elements, Classes: 2, Count: 5}
		var passes atomic.Int64
		s, err := Fold(Input{
			Job: j, Group: g,
			Rows: Columns(func() iter.Seq2[job.Row, error] {
				passes.Add(1)
				return given(rows...)
			}), budget: budget,
		})
		if err != nil {
			t.Fatal(err)
		}
		want := int64(2 * (1 + (len(elements)+max(1, budget/5)-1)/max(1, budget/5)))
		if got := passes.Load(); budget < 1000 && got != want {
			t.Errorf("budget %d: %d passes, want %d", budget, got, want)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := made(evidenceBudget)
	for _, budget := range []int{1, 5, 10, 20, evidenceBudget} {
		if made(budget) != want {
			t.Errorf("a budget of %d gives other bytes", budget)
		}
	}
}

// A box that is no number in one sample leaves no value at that element, and no mean over the orbit; other elements
// have theirs.
func TestPooledOfNaN(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	elements := shifted([]float64{0, 1}, []float64{0})
	clean := []job.Row{random(r, 0, 2, 1), random(r, 1, 2, 1), random(r, 2, 2, 1)}
	for i := range clean {
		clean[i].Boxes[1] = []job.Detection{{X2: 1, Y2: 1, Score: 0.5, Match: 1}}
	}
	for name, spoil := range map[string]func(d *job.Detection){
		"score":     func(d *job.Detection) { d.Score = nan },
		"corner":    func(d *job.Detection) { d.Y1 = float32(math.Inf(1)) },
		"angle":     func(d *job.Detection) { d.Angle = nan },
		"any other": func(d *job.Detection) { d.X1, d.X2 = float32(math.Inf(-1)), float32(math.Inf(1)) },
	} {
		rows := slices.Clone(clean)
		rows[1].Boxes = slices.Clone(rows[1].Boxes)
		rows[1].Boxes[1] = slices.Clone(rows[1].Boxes[1])
		spoil(&rows[1].Boxes[1][0])
		rows[1].Curves = [][]float32{{rows[1].Curves[0][0], nan}}
		s, err := detections(t, elements, []string{"ap50"}, rows...)
		if err != nil {
			t.Fatal(err)
		}
		c := s.Curve(0, 0, 0)
		if m := float64(c.Mean[1]); m == m || c.Bad[1] != 1 || c.FirstBad != "b" || c.BadAt != 1 ||
			c.WorstElement != 0 {
			t.Errorf("%s: mean %v, %d bad, first %s at %d", name, c.Mean[1], c.Bad[1], c.FirstBad, c.BadAt)
		}
		if lo, orbit := float64(c.Lo[1]), float64(c.Orbit.Mean); lo == lo || orbit == orbit {
			t.Errorf("%s: interval from %v, orbit %v", name, lo, orbit)
		}
		want := metric.AveragePrecision50.Pooled(evidenceAt(clean, 0, 0, all))
		if !near(c.Mean[0], want) {
			t.Errorf("%s: at the other element %v, want %v", name, c.Mean[0], want)
		}
	}
}

// Rows of a sample that could not be evaluated count as failed, and rows without boxes cannot be pooled.
func TestPooledRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	elements := shifted([]float64{0, 1}, []float64{0})
	good := []job.Row{random(r, 0, 2, 1), random(r, 2, 2, 1)}
	bad := job.Row{Index: 1, Sample: "b", Label: -1, Err: "torn", Curves: [][]float32{{nan, nan}}}
	s, err := detections(t, elements, []string{"ap50"}, good[0], bad, good[1])
	if err != nil {
		t.Fatal(err)
	}
	want := metric.AveragePrecision50.Pooled(evidenceAt(good, 1, 0, all))
	if c := s.Curve(0, 0, 0); s.Failed != 1 || !near(c.Mean[1], want) {
		t.Errorf("%d failed, %v, want %v", s.Failed, c.Mean[1], want)
	}
	good[1].Boxes = nil
	if _, err = detections(t, elements, []string{"ap50"}, good...); err == nil ||
		!strings.Contains(err.Error(), "sample c has no boxes") {
		t.Errorf("error %v", err)
	}
}

// rmse_pooled is √ of the mean of squares.
func TestPooledRoot(t *testing.T) {
	g, err := catalog.Parse("D4 x Time")
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{
		Models: []job.ModelRef{{Name: "A"}}, Metrics: []string{"rmse_pooled", "rmse"},
		Elements: []group.Element{{0, 0, 0}}, Count: 2,
	}
	rows := []job.Row{
		{Index: 0, Sample: "a", Label: -1, Curves: [][]float32{{3}, {3}}},
		{Index: 1, Sample: "b", Label: -1, Curves: [][]float32{{4}, {4}}},
	}
	s, err := Fold(Input{Job: j, Group: g, Rows: Columns(func() iter.Seq2[job.Row, error] { return given(rows...) })})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := s.Curve(0, 0, 0).Mean[0], s.Curve(0, 1, 0).Mean[0]; !near(a, math.Sqrt(12.5)) || !near(b, 3.5) {
		t.Errorf("pooled %v, mean %v", a, b)
	}
}

// along are the widths of a function of shifts, as a summary has them.
func along(t *testing.T, xs, ys []float64, f func(x, y float64) float64) []Width {
	t.Helper()
	row := job.Row{Sample: "a", Label: -1, Curves: [][]float32{nil}}
	elements := shifted(xs, ys)
	for _, e := range elements {
		row.Curves[0] = append(row.Curves[0], float32(f(e[0], e[1])))
	}
	s, err := detections(t, elements, []string{"iou"}, row)
	if err != nil {
		t.Fatal(err)
	}
	return s.Curve(0, 0, 0).Widths
}

func steps(lo, hi, by float64) []float64 {
	var v []float64
	for x := lo; x <= hi; x += by {
		v = append(v, x)
	}
	return v
}

// Widths in closed form: the triangle 1-|x|/b falls to half at b/2 on either side, exactly so where values go straight
// between elements; a Gaussian of deviation s at s·√(2 ln 2).
func TestWidths(t *testing.T) {
	nan := math.NaN()
	gauss := func(s float64) func(x, y float64) float64 {
		return func(x, y float64) float64 { return math.Exp(-(x*x + y*y) / (2 * s * s)) }
	}
	whole := steps(-10, 10, 1)
	for name, c := range map[string]struct {
		xs, ys []float64
		f      func(x, y float64) float64
		want   [2]float64
		open   [2]int
		tol    float64
	}{
		"triangle": {
			whole, whole,
			func(x, y float64) float64 { return max(0, 1-math.Abs(x)/8) * max(0, 1-math.Abs(y)/4) },
			[2]float64{8, 4},
			[2]int{},
			1e-5,
		},
		"between": {
			whole, whole,
			func(x, y float64) float64 { return max(0, 1-math.Abs(x)/7) * max(0, 1-math.Abs(y)/5) },
			[2]float64{7, 5},
			[2]int{},
			1e-5,
		},
		"off centre": {
			whole, whole,
			func(x, y float64) float64 { return max(0, 1-math.Abs(x-3)/8) * max(0, 1-math.Abs(y+2)/4) },
			[2]float64{8, 4},
			[2]int{},
			1e-5,
		},
		"asymmetric": {
			whole,
			[]float64{0},
			func(x, _ float64) float64 { return max(0, 1-max(-x/4, x/16)) },
			[2]float64{10, 0},
			[2]int{0, 2},
			1e-5,
		},
		"uneven steps": {
			[]float64{-9, -8, -2, 0, 1, 5, 10},
			[]float64{0},
			func(x, _ float64) float64 { return max(0, 1-math.Abs(x)/10) },
			[2]float64{10, 0},
			[2]int{0, 2},
			1e-5,
		},
		"Gaussian": {
			steps(-10, 10, 0.25), steps(-10, 10, 0.25), gauss(2),
			[2]float64{2 * 2 * math.Sqrt(2*math.Ln2), 2 * 2 * math.Sqrt(2*math.Ln2)},
			[2]int{},
			0.01,
		},
		"open": {whole, whole, gauss(1000), [2]float64{20, 20}, [2]int{2, 2}, 1e-9},
		"open on one": {
			whole,
			[]float64{0},
			func(x, _ float64) float64 { return max(0, min(1, 1-x/8)) },
			[2]float64{14, 0},
			[2]int{1, 2},
			1e-5,
		},
		"hole": {
			whole,
			[]float64{0},
			func(x, _ float64) float64 { return map[bool]float64{true: nan, false: max(0, 1-math.Abs(x)/8)}[x == 3] },
			[2]float64{6, 0},
			[2]int{1, 2},
			1e-5,
		},
		"nothing": {whole, whole, func(_, _ float64) float64 { return 0 }, [2]float64{nan, nan}, [2]int{}, 0},
		"island": {
			whole,
			[]float64{0},
			func(x, _ float64) float64 { return map[bool]float64{true: 1, false: 0}[math.Abs(x) == 6 || x == 0] },
			[2]float64{1, 0},
			[2]int{0, 2},
			1e-9,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ws := along(t, c.xs, c.ys, c.f)
			if len(ws) != 2 {
				t.Fatalf("widths %+v", ws)
			}
			for i, w := range ws {
				v := float64(w.Value)
				if !(math.Abs(v-c.want[i]) <= c.tol) && !(math.IsNaN(v) && math.IsNaN(c.want[i])) ||
					w.Open != c.open[i] || w.Unit != "px" {
					t.Errorf("axis %s: %v, open %d; want %v, open %d", w.Axis, w.Value, w.Open, c.want[i], c.open[i])
				}
			}
			if ws[0].Axis == ws[1].Axis {
				t.Errorf("both axes are %s", ws[0].Axis)
			}
		})
	}
}

// Widening a curve never narrows its width, and its place in the grid does not matter while it stays inside.
func TestWidthsGrow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := rapid.Float64Range(1, 6).Draw(rt, "half width")
		more := rapid.Float64Range(0.1, 3).Draw(rt, "more")
		at := float64(rapid.IntRange(-4, 4).Draw(rt, "place"))
		f := func(b, at float64) func(x, _ float64) float64 {
			return func(x, _ float64) float64 { return max(0, 1-math.Abs(x-at)/(2*b)) }
		}
		xs := steps(-20, 20, 1)
		narrow, wide, moved := along(t, xs, []float64{0}, f(b, 0))[0], along(t, xs, []float64{0}, f(b+more, 0))[0],
			along(t, xs, []float64{0}, f(b, at))[0]
		if narrow.Open+wide.Open+moved.Open != 0 || !(wide.Value > narrow.Value) ||
			!(math.Abs(float64(moved.Value-narrow.Value)) < 1e-4) {
			rt.Fatalf("%+v, %+v, %+v", narrow, wide, moved)
		}
	})
}

// There are no widths of errors, of angles, or of two elements.
func TestNoWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	three := shifted([]float64{-1, 0, 1}, []float64{0})
	s, err := detections(t, three, []string{"center_error", "iou"}, random(r, 0, 3, 2))
	if err != nil || s.Curve(0, 0, 0).Widths != nil || s.Curve(0, 1, 0).Widths == nil {
		t.Errorf("widths of an error: %v, %v", s, err)
	}
	if s, err = detections(t, three[:2], []string{"iou"}, random(r, 0, 2, 1)); err != nil ||
		s.Curve(0, 0, 0).Widths != nil {
		t.Errorf("widths of two elements: %v", err)
	}
	if s := fold(t, nil, row(0, 0, 0, []float32{1, 0, 0, 0}, []float32{0, 0, 0, 0})); s.Curve(0, 0, 0).Widths != nil {
		t.Errorf("widths over angles: %+v", s.Curve(0, 0, 0).Widths)
	}
}

// What the consensus rests on, by hand: medians leave out what does not exist, and weak ones are counted.
func TestConsensusSummary(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	elements := shifted([]float64{0, 1}, []float64{0})
	var rows []job.Row
	for i, x := range [][2]float32{{1, 0.9}, {0.4, 0.1}, {0.8, nan}, {nan, nan}, {0.5, 0.5}} {
		row := random(r, i, 2, 2)
		row.Support, row.Agreement = x[0], x[1]
		rows = append(rows, row)
	}
	rows = append(rows, job.Row{
		Index: 5, Sample: "f", Label: -1, Err: "torn",
		Curves: [][]float32{{nan, nan}, {nan, nan}},
	})
	s, err := detections(t, elements, []string{"iou", "iou@consensus"}, rows...)
	if err != nil {
		t.Fatal(err)
	}
	// Supports 0.4, 0.5, 0.8, 1; the limit is a half, so 0.4 and the one that does not exist are weak.
	c := s.Consensus[0]
	if len(s.Consensus) != 1 || c.N != 5 || c.Weak != 2 || c.Agreed != 3 || !near(c.Support, 0.65) ||
		!near(c.Agreement, 0.5) {
		t.Errorf("consensus %+v", s.Consensus)
	}
	if s, err = detections(t, elements, []string{"iou"}, random(r, 0, 2, 1)); err != nil || s.Consensus != nil {
		t.Errorf("a consensus that nobody asked for: %+v, %v", s, err)
	}
	b, err := json.Marshal(Consensus{Agreement: Number(math.NaN())})
	if err != nil || !strings.Contains(string(b), `"agreement":null`) {
		t.Errorf("%s, %v", b, err)
	}
	var back Consensus
	if err := json.Unmarshal(b, &back); err != nil || !math.IsNaN(float64(back.Agreement)) {
		t.Errorf("%+v, %v", back, err)
	}
}

// The limit of weakness is that of the study.
func TestWeakLimit(t *testing.T) {
	g, err := catalog.Parse("T(2,Z)")
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{
		Models: []job.ModelRef{{Name: "A"}}, Metrics: []string{"iou@consensus"},
		Elements: []group.Element{{0, 0}}, Count: 1,
	}
	j.Study.Consensus.Weak = 0.9
	r := job.Row{Sample: "a", Label: -1, Curves: [][]float32{{1}}, Support: 0.8}
	s, err := Fold(Input{Job: j, Group: g, Rows: Columns(func() iter.Seq2[job.Row, error] { return given(r) })})
	if err != nil || s.Consensus[0].Weak != 1 || !reflect.DeepEqual(s.Consensus[0].N, 1) {
		t.Errorf("%+v, %v", s, err)
	}
}
