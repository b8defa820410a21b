package view

import (
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/run/fold"
	"nero/run/job"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// run folds curves that a function gives: sample by sample, model by model, one metric.
func run(t *testing.T, name string, elements []group.Element, exact []bool, metric string, models, samples, classes int,
	curve func(model, sample, k int) float64,
) (*fold.Summary, []job.Row) {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	if exact == nil {
		exact = make([]bool, len(elements))
	}
	j := &job.Job{Elements: elements, Exact: exact, Measure: "listed", Metrics: []string{metric}, Count: samples}
	for m := range models {
		j.Models = append(j.Models, job.ModelRef{Name: string(rune('a' + m))})
	}
	var rows []job.Row
	for i := range samples {
		for m := range models {
			r := job.Row{Model: m, Index: i, Sample: "s" + string(rune('0'+i)), Label: -1, Curves: [][]float32{nil}}
			if classes > 0 {
				r.Label = i % classes
			}
			for k := range elements {
				r.Curves[0] = append(r.Curves[0], float32(curve(m, i, k)))
			}
			rows = append(rows, r)
		}
	}
	s, err := fold.Fold(fold.Input{Job: j, Hash: "x", Group: g, Rows: fold.Columns(func() iter.Seq2[job.Row, error] {
		return func(yield func(job.Row, error) bool) {
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	return s, rows
}

func values(pts []Point) []float64 {
	v := make([]float64, len(pts))
	for i, p := range pts {
		v[i] = math.Round(1e4*float64(p.Value)) / 1e4
	}
	return v
}

// The plan is not in the order of its angles, and the last element is at 350: a view that follows the plan draws a
// zigzag.
func TestPolarByHand(t *testing.T) {
	es := []group.Element{{90}, {0}, {180}, {270}, {350}}
	s, _ := run(t, "SO(2)", es, []bool{true, true, true, true, false}, "confidence", 2, 2, 0,
		func(m, i, k int) float64 {
			return []float64{0.9, 0.5, 0.1, 0.3, 0.7}[k] - 0.1*float64(m) + 0.02*float64(i)
		})
	f, err := Aggregate(s, 0, []int{0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Layout != Polar || len(f.Panels) != 1 || len(f.Panels[0].Series) != 2 {
		t.Fatalf("layout %s, %d plots", f.Layout, len(f.Panels))
	}
	p := f.Panels[0].Series[0]
	angles, elements := make([]float64, 0, 5), make([]int, 0, 5)
	for _, q := range p.Points {
		angles, elements = append(angles, q.X), append(elements, q.Element)
	}
	if !slices.Equal(angles, []float64{0, 90, 180, 270, 350}) || !slices.Equal(elements, []int{1, 0, 2, 3, 4}) {
		t.Errorf("angles %v of elements %v", angles, elements)
	}
	if got, want := values(p.Points), []float64{0.51, 0.91, 0.11, 0.31, 0.71}; !slices.Equal(got, want) {
		t.Errorf("values %v, want %v", got, want)
	}
	if got, want := values(f.Panels[0].Series[1].Points),
		[]float64{0.41, 0.81, 0.01, 0.21, 0.61}; !slices.Equal(got, want) {
		t.Errorf("second model %v, want %v", got, want)
	}
	if !p.Closed || !p.Points[0].Exact || p.Points[4].Exact || !f.Exact || f.Comb {
		t.Errorf("closed %v, exact %v %v, marked %v, comb %v", p.Closed, p.Points[0].Exact, p.Points[4].Exact, f.Exact,
			f.Comb)
	}
	if p.Points[1].Label != "90°" || p.Points[0].N != 2 {
		t.Errorf("label %q, n %d", p.Points[1].Label, p.Points[0].N)
	}
	st := f.Panels[0].Stats[0]
	// Identity: (0.50+0.52)/2. Orbit: the mean of the five values of each sample, 0.50 and 0.52.
	if math.Abs(float64(st.Identity)-0.51) > 1e-6 || math.Abs(float64(st.Orbit.Mean)-0.51) > 1e-6 || st.At != "180°" ||
		st.Element != 2 || math.Abs(float64(st.Worst)-0.11) > 1e-6 {
		t.Errorf("summed up as %+v", st)
	}
	// A metric that is bounded is drawn on its whole range, rings every 0.2.
	var ticks []float64
	for _, k := range f.Scale.Ticks {
		ticks = append(ticks, math.Round(10*k.At)/10)
	}
	if f.Scale.Lo != 0 || f.Scale.Hi != 1 || !slices.Equal(ticks, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}) {
		t.Errorf("scale %+v", f.Scale)
	}
	head, lines := f.Table()
	if len(lines) != 10 || len(head) != len(lines[0]) || lines[1][2] != "90°" || lines[1][6] != "0.91" {
		t.Errorf("table %v %v", head, lines)
	}
}

func TestMirrorsAreTwoCurves(t *testing.T) {
	g, err := catalog.Dihedral(4)
	if err != nil {
		t.Fatal(err)
	}
	es := g.(group.Finite).Elements() //nolint:errcheck,forcetypeassert // D4 is finite
	s, _ := run(t, "D4", es, nil, "confidence", 1, 1, 0, func(_, _, k int) float64 { return float64(k) / 10 })
	f, err := Aggregate(s, 0, []int{0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ss := f.Panels[0].Series
	if f.Layout != Polar || len(ss) != 2 || ss[0].Mirrored || !ss[1].Mirrored || !f.Mirrored || !f.Discrete {
		t.Fatalf("%s with %d curves", f.Layout, len(ss))
	}
	if a, b := values(ss[0].Points), values(ss[1].Points); !slices.Equal(a, []float64{0, .1, .2, .3}) ||
		!slices.Equal(b, []float64{.4, .5, .6, .7}) {
		t.Errorf("turned %v, mirrored %v", a, b)
	}
	if l := ss[1].Points[1].Label; l != "90° mirrored" {
		t.Errorf("label %q", l)
	}
}

// Three columns, two rows and a value that says where it belongs: exchanged axes or a flipped one are seen.
func TestMapByHand(t *testing.T) {
	es := []group.Element{{-1, 5}, {0, 5}, {4, 5}, {-1, 0}, {0, 0}, {4, 0}}
	s, _ := run(t, "T(2,Z)", es, nil, "margin", 2, 1, 0,
		func(m, _, k int) float64 { return es[k][0]/10 + es[k][1]/100 + float64(m)/2 })
	f, err := Aggregate(s, 0, []int{0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Layout != HeatMap || len(f.Panels) != 2 || f.Panels[1].Title != "b" {
		t.Fatalf("%s with %d plots", f.Layout, len(f.Panels))
	}
	p := f.Panels[0]
	at := func(cells []Cell) (v []float64) {
		for _, c := range cells {
			v = append(v, c.At)
		}
		return v
	}
	if x, y := at(p.Cols), at(p.Rows); !slices.Equal(x, []float64{-1, 0, 4}) || !slices.Equal(y, []float64{0, 5}) {
		t.Errorf("columns %v, rows %v", x, y)
	}
	for _, q := range p.Series[0].Points {
		if want := q.X/10 + q.Y/100; math.Abs(float64(q.Value)-want) > 1e-6 {
			t.Errorf("dx %g, dy %g: %v, want %g", q.X, q.Y, q.Value, want)
		}
	}
	if s := p.Stats[0]; s.At != "dx −1 px, dy 0 px" {
		t.Errorf("worst at %s", s.At)
	}
}

func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		group string
		grid  []int
		want  *Layout
	}{
		{"SO(2)", []int{8}, Polar},
		{"O(2)", []int{4, 2}, Polar},
		{"C5", nil, Polar},
		{"D3", nil, Polar},
		{"Scale", []int{5}, Line},
		{"T(2)", []int{3, 3}, HeatMap},
		{"T(2,Z)", []int{3, 3}, HeatMap},
		{"Roll(3,4)", nil, HeatMap},
		{"SE(2)", []int{4, 2, 2}, Strip},
		{"C4 x Scale", []int{4, 3}, Strip},
		{"Affine(rotate,scale)", []int{3, 3}, Strip},
		{"Trivial", nil, Strip},
		{"p4m", []int{4, 2, 2, 2}, Strip},
	} {
		g, err := catalog.Parse(c.group)
		if err != nil {
			t.Fatal(err)
		}
		var es []group.Element
		if c.grid != nil {
			es, err = group.Grid(g, c.grid, nil)
		} else {
			es, err = group.Enumerate(g)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := LayoutOf(Orbit{Chart: g.Chart(), Elements: es}); got != c.want {
			t.Errorf("%s: %s, want %s", c.group, got, c.want)
		}
	}
	// A map of scattered shifts would be empty nearly everywhere.
	scattered := []group.Element{{0, 0}, {1.5, 2}, {-3, 0.5}, {2, -1}, {3, 3}, {0.1, 0.2}, {7, 8}, {9, 1}}
	if got := LayoutOf(Orbit{Chart: catalog.T2().Chart(), Elements: scattered}); got != Strip {
		t.Errorf("scattered shifts: %s", got)
	}
}

// Errors against the own answer: exact elements stand apart, on a logarithmic scale that has a place for 0.
func TestComb(t *testing.T) {
	es := []group.Element{{0}, {45}, {90}, {135}}
	v := []float64{0, 0.5, 2e-7, 0.8}
	s, _ := run(t, "SO(2)", es, []bool{true, false, true, false}, "absolute", 1, 3, 0,
		func(_, _, k int) float64 { return v[k] })
	if !Wide(s, 0) {
		t.Error("values over seven orders of magnitude are not wide")
	}
	f, err := Aggregate(s, 0, []int{0}, Options{Log: true, Unroll: true})
	if err != nil {
		t.Fatal(err)
	}
	if f.Layout != Line || !f.Comb || !f.Scale.Log || !f.Scale.Zero || f.X == nil {
		t.Fatalf("%s, comb %v, scale %+v", f.Layout, f.Comb, f.Scale)
	}
	if f.Scale.Pos(0) != 0 || math.Abs(f.Scale.Pos(1e-7)-zeroGap) > 1e-9 || math.Abs(f.Scale.Pos(1)-1) > 1e-9 ||
		!math.IsNaN(f.Scale.Pos(-1)) {
		t.Errorf("0 at %g, 1e-7 at %g, 1 at %g, -1 at %g", f.Scale.Pos(0), f.Scale.Pos(1e-7), f.Scale.Pos(1),
			f.Scale.Pos(-1))
	}
	if st := f.Panels[0].Stats[0]; st.Element != 3 || st.At != "135°" {
		t.Errorf("the worst error is at %q", st.At)
	}
	// The other scale is linear from 0, which the metric cannot go below.
	if f, err = Aggregate(s, 0, []int{0}, Options{}); err != nil || f.Scale.Log || f.Scale.Lo != 0 || f.Scale.Hi < 0.8 {
		t.Errorf("%v, scale %+v", err, f.Scale)
	}
}

func TestGaps(t *testing.T) {
	es := []group.Element{{0}, {90}, {180}, {270}}
	s, rows := run(t, "SO(2)", es, nil, "confidence", 1, 3, 2, func(_, i, k int) float64 {
		if k == 2 || k == 1 && i == 0 {
			return math.NaN()
		}
		return 0.5
	})
	f, err := Aggregate(s, 0, []int{0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := f.Panels[0].Series[0].Points
	if !math.IsNaN(float64(p[2].Value)) || p[2].Bad != 3 || p[1].Bad != 1 || p[1].N != 2 {
		t.Errorf("%+v", p)
	}
	notes := strings.Join(f.Notes, "\n")
	if !strings.Contains(notes, "a: no value at 180°; drawn as a gap") ||
		!strings.Contains(notes, "a: 4 of 12 values are not finite") {
		t.Errorf("notes: %s", notes)
	}
	if !math.IsNaN(float64(f.Panels[0].Stats[0].Orbit.Mean)) {
		t.Error("a mean over an orbit with a hole")
	}
	if _, err := json.Marshal(f); err != nil {
		t.Errorf("a figure with gaps as JSON: %v", err)
	}
	f, err = Individual(s, 0, []Sample{{Title: "x", Rows: rows[:1]}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(f.Notes, "\n"), "no value at 90°, 180°") {
		t.Errorf("notes of one sample: %v", f.Notes)
	}
}

func TestEmpty(t *testing.T) {
	s, _ := run(t, "SO(2)", []group.Element{{0}, {90}}, nil, "cross_entropy", 2, 0, 0, nil)
	f, err := Aggregate(s, 0, []int{0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(f.Notes, "\n"), "no value at any element") || !(f.Scale.Hi > f.Scale.Lo) ||
		f.Panels[0].Stats[0].Element != -1 {
		t.Errorf("%+v", f)
	}
	// An infinity that became null in a stored summary is no bound either.
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back fold.Summary
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if g, err := Aggregate(&back, 0, []int{0}, Options{}); err != nil || !slices.Equal(g.Scale.Ticks, f.Scale.Ticks) {
		t.Errorf("a stored summary: %v, scale %+v, want %+v", err, g.Scale, f.Scale)
	}
}

func TestIndividual(t *testing.T) {
	es := []group.Element{{0}, {90}}
	s, rows := run(t, "SO(2)", es, nil, "confidence", 2, 2, 2,
		func(m, i, k int) float64 { return float64(m)/2 + float64(i)/4 + float64(k)/8 })
	rows[2].Top, rows[3].Top = []int32{1, 0}, []int32{0, 1} // of sample 1, class 1
	f, err := Individual(s, 0, []Sample{{Title: "one", Note: "why", Rows: []job.Row{rows[3], rows[2]}}},
		Options{Weights: []float64{3, 1}})
	if err != nil {
		t.Fatal(err)
	}
	p := f.Panels[0]
	if len(p.Series) != 2 || p.Series[0].Name != "a" ||
		!slices.Equal(values(p.Series[0].Points), []float64{.25, .375}) {
		t.Fatalf("%+v", p)
	}
	if q := p.Series[0].Points; q[0].Wrong || !q[1].Wrong {
		t.Errorf("wrong answers %v %v, want the second", q[0].Wrong, q[1].Wrong)
	}
	// (3·0.75 + 1·0.875)/4
	if m := float64(p.Stats[1].Orbit.Mean); math.Abs(m-0.78125) > 1e-6 {
		t.Errorf("weighted mean %g", m)
	}
	if f.Interval != "" || f.Spread != "" {
		t.Error("one sample has neither interval nor spread")
	}
	rows[2].Curves = [][]float32{{1}}
	if _, err := Individual(s, 0, []Sample{{Rows: rows[2:3]}}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "s1") {
		t.Errorf("a row of another run: %v", err)
	}
}

func TestMisuse(t *testing.T) {
	s, _ := run(t, "C2", []group.Element{{0}, {180}}, nil, "confidence", 1, 1, 0,
		func(_, _, _ int) float64 { return 1 })
	if _, err := Aggregate(s, 1, []int{0}, Options{}); err == nil {
		t.Error("a metric that is not there")
	}
	if _, err := Aggregate(s, 0, []int{1}, Options{}); err == nil {
		t.Error("a slice that is not there")
	}
	if _, err := Aggregate(s, 0, []int{0}, Options{Weights: []float64{1}}); err == nil {
		t.Error("weights for other elements")
	}
	broken := *s
	broken.Curves = slices.Clone(s.Curves)
	broken.Curves[0].Hi = broken.Curves[0].Hi[:1]
	if _, err := Aggregate(&broken, 0, []int{0}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "1 values for 2 elements") {
		t.Errorf("a curve that is cut off: %v", err)
	}
	broken = *s
	broken.Exact = nil
	if _, err := Aggregate(&broken, 0, []int{0}, Options{}); err == nil {
		t.Error("elements that do not say whether they are exact")
	}
}

// Every scale keeps order, has at least two ticks on it, and holds the values that it was made for.
func TestScaleLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		span := math.Pow(10, rapid.Float64Range(-4, 8).Draw(t, "log span"))
		for _, s := range []Scale{
			linear("", lo, lo+span, false, false),
			decades("", span, span*math.Pow(10, rapid.Float64Range(0, 9).Draw(t, "decades")),
				rapid.Bool().Draw(t, "zero")),
		} {
			if len(s.Ticks) < 2 || len(s.Ticks) > 12 {
				t.Fatalf("%d ticks on %+v", len(s.Ticks), s)
			}
			last := math.Inf(-1)
			for _, k := range s.Ticks {
				u := s.Pos(k.At)
				if !(u > last) || !(u >= -1e-5) || !(u <= 1+1e-5) || k.Label == "" {
					t.Fatalf("tick %v at %g after %g on %+v", k, u, last, s)
				}
				last = u
			}
			// the rest is rounding: ends of 1e6 with 1e-4 between them
			if !s.Log && (!(s.Pos(lo) >= -1e-5) || !(s.Pos(lo+span) <= 1+1e-5)) {
				t.Fatalf("%g to %g on %+v", lo, lo+span, s)
			}
		}
	})
}

func TestSurrounds(t *testing.T) {
	at := func(v ...float64) (p []Point) {
		for _, x := range v {
			p = append(p, Point{X: x})
		}
		return p
	}
	for _, c := range []struct {
		pts  []Point
		want bool
	}{
		{at(0, 90, 180, 270), true},
		{at(0, 90, 180), false},
		{at(0, 5, 10), false},
		{at(0), false},
		{nil, false},
		{at(0, 180), true},
		{at(10, 130, 250), true},
	} {
		if got := surrounds(c.pts, 360); got != c.want {
			t.Errorf("%v: %v", c.pts, got)
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"max_absolute": "max-absolute", "Käse & Co": "k-se-co", "": "x",
		"../../x": "x", "A  B": "a-b",
	} {
		if got := Slug(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestTicksHaveThreeDigits(t *testing.T) {
	for _, c := range []struct {
		group       string
		e           group.Element
		tick, label string
	}{
		{"Scale", group.Element{0.561231}, "×0.561", "×0.561231"},
		{"SO(2)", group.Element{137.109}, "137°", "137.109°"},
		{"SO(2)", group.Element{22.5}, "22.5°", "22.5°"},
		{
			"SE(2)",
			group.Element{137.25, -4.13443, 1234},
			"137°, dx −4.13 px, dy 1234 px",
			"137.25°, dx −4.13443 px, dy 1234 px",
		},
		{"SE(2)", group.Element{0, 0, math.Copysign(0, -1)}, "0°, dx 0 px, dy 0 px", "0°, dx 0 px, dy 0 px"},
	} {
		g, err := catalog.Parse(c.group)
		if err != nil {
			t.Fatal(err)
		}
		if got := tick(g, c.e); got != c.tick {
			t.Errorf("%s: tick %q, want %q", c.group, got, c.tick)
		}
		if got := Label(g, c.e); got != c.label {
			t.Errorf("%s: label %q, want %q", c.group, got, c.label)
		}
	}
}

// Above Many elements turns with shifts become clouds, one per model and mirror; other charts stay strips without bars.
func TestManyElements(t *testing.T) {
	g, err := catalog.Parse("p4m")
	if err != nil {
		t.Fatal(err)
	}
	es, err := group.Grid(g, []int{4, 2, 5, 5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := moves(g.Chart())
	if !ok || at.mirror < 0 {
		t.Fatalf("chart %v is not one of turns, mirrors and shifts", g.Chart())
	}
	s, _ := run(t, "p4m", es, nil, "confidence", 2, 2, 0, func(m, _, k int) float64 {
		e := es[k]
		return 0.5 + e[at.dx]/1000 + e[at.dy]/1e4 + e[at.angle]/1e5 + e[at.mirror]/5 + float64(m)/4
	})
	f, err := Aggregate(s, 0, []int{0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, p := range f.Panels {
		titles = append(titles, p.Title)
		if len(p.Series) != 1 || len(p.Series[0].Points) != len(es)/2 || len(p.Stats) != 1 ||
			p.Stats[0].Model != p.Series[0].Model {
			t.Fatalf("%s: %d series, stats %v", p.Title, len(p.Series), p.Stats)
		}
		mirror := 0.0
		if p.Series[0].Mirrored {
			mirror = 1
		}
		for _, q := range p.Series[0].Points {
			want := 0.5 + q.X/1000 + q.Y/1e4 + q.Turn/1e5 + mirror/5 + float64(p.Series[0].Model)/4
			if math.Abs(float64(q.Value)-want) > 1e-6 {
				t.Fatalf("%s at dx %g, dy %g, %g degrees: %v, want %g", p.Title, q.X, q.Y, q.Turn, q.Value, want)
			}
		}
	}
	if f.Layout != Scatter || f.Mirrored || f.Dense || f.Interval != "" || f.X == nil || f.Y == nil ||
		!slices.Equal(titles, []string{"a", "a, mirrored", "b", "b, mirrored"}) {
		t.Errorf("%s of %q", f.Layout, titles)
	}
	if strings.Count(f.Alt, ": mean ") != 2 {
		t.Errorf("the mean over the orbit is said other than once a model: %s", f.Alt)
	}
	if LayoutOf(Orbit{Chart: g.Chart(), Elements: es[:Many]}) != Strip {
		t.Error("few elements are no strip")
	}
}

// Elements that reverse time have names in words, and the others of their group, too.
func TestLabelsOfReversedTime(t *testing.T) {
	g, err := catalog.Parse("D4 x Time")
	if err != nil {
		t.Fatal(err)
	}
	for want, e := range map[string]group.Element{
		"identity": {0, 0, 0}, "rotate 90°": {90, 0, 0}, "horizontal mirror": {0, 1, 0}, "time reversed": {0, 0, 1},
		"mirror in / and time reversed": {270, 1, 1},
	} {
		if got := Label(g, e); got != want {
			t.Errorf("%v: %q, want %q", e, got, want)
		}
	}
}

// A metric of boxes may have no value where nothing is wrong; every other has one everywhere.
func TestNoValue(t *testing.T) {
	for name, want := range map[string]string{
		"iou": "no object to compare with", "iou@consensus": "no consensus", "conf_iou@self": "own answer",
		"accuracy": "", "aee": "", "relative": "", "unheard_of": "",
	} {
		got := NoValue(&fold.Summary{Metrics: []fold.Metric{{Name: name}}}, 0)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
