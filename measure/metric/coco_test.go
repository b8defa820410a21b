package metric

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"nero/data/space"
	"nero/internal/outside"
	"nero/measure/aggregate"
)

// cocoCase is a set of pictures with what pycocotools makes of it; testdata/coco.py says how both came about.
type cocoCase struct {
	Classes int                `json:"classes"`
	Want    map[string]float64 `json:"want,omitempty"`
	Images  []cocoImage        `json:"images"`
}

type cocoImage struct {
	// x1, y1, x2, y2, label
	Truth [][5]float64 `json:"truth"`
	// x1, y1, x2, y2, score, label
	Pred [][6]float64 `json:"pred"`
}

func (c cocoImage) boxes() (pred, truth *space.Boxes) {
	pred, truth = &space.Boxes{H: 128, W: 128}, &space.Boxes{H: 128, W: 128}
	for _, t := range c.Truth {
		truth.Items = append(truth.Items, space.Box{X1: t[0], Y1: t[1], X2: t[2], Y2: t[3], Score: 1, Label: int(t[4])})
	}
	for _, p := range c.Pred {
		pred.Items = append(pred.Items, space.Box{
			X1: p[0], Y1: p[1], X2: p[2], Y2: p[3], Score: p[4],
			Label: int(p[5]),
		})
	}
	return pred, truth
}

func (c cocoCase) evidence() []Evidence {
	e := make([]Evidence, len(c.Images))
	for i, m := range c.Images {
		pred, truth := m.boxes()
		e[i] = EvidenceOf(Case{At: pred, Truth: truth}, c.Classes)
	}
	return e
}

var cocoMetrics = []*Metric{CocoAP, CocoAP50, CocoAP75, CocoAR100}

// compare holds a case against the numbers of pycocotools, which stand for no value by -1, and gives the largest
// difference.
func (c cocoCase) compare(t *testing.T, name string) (worst float64) {
	t.Helper()
	e := c.evidence()
	for _, m := range cocoMetrics {
		want, ok := c.Want[m.Name]
		if !ok {
			t.Fatalf("%s: no %s to compare with", name, m.Name)
		}
		got := m.Pooled(e)
		if want == -1 {
			if !math.IsNaN(got) {
				t.Errorf("%s: %s = %g without an object", name, m.Name, got)
			}
			continue
		}
		if worst = max(worst, math.Abs(got-want)); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%s: %s = %.9f, pycocotools has %.9f", name, m.Name, got, want)
		}
	}
	return worst
}

func TestCoco(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "coco.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []cocoCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 10 {
		t.Fatalf("%d cases", len(cases))
	}
	worst := 0.0
	for i, c := range cases {
		worst = max(worst, c.compare(t, string(rune('a'+i))))
	}
	t.Logf("largest difference from pycocotools: %.1e", worst)
}

// pycocotools is a Python that has it; the test is skipped where none is named.
func pycocotools(t *testing.T) string {
	t.Helper()
	python := outside.Named(t, outside.Pycocotools)
	if out, err := exec.CommandContext(t.Context(), python, "-c",
		"import pycocotools").CombinedOutput(); err != nil { //nolint:gosec // the tests' own Python
		t.Fatalf("pycocotools is not installed (%v): run .ci/pycocotools: %s", err, out)
	}
	return python
}

// TestCocoLive asks pycocotools itself about cases that nobody has seen.
func TestCocoLive(t *testing.T) {
	python := pycocotools(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	cases := make([]cocoCase, 40)
	for i := range cases {
		cases[i] = drawCoco(r)
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "coco.py"),
		"score") //nolint:gosec // the tests' own Python
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]float64
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(cases) {
		t.Fatalf("%d answers, %v", len(want), err)
	}
	worst := 0.0
	for i, c := range cases {
		c.Want = want[i]
		worst = max(worst, c.compare(t, string(out)))
		if t.Failed() {
			bad, err := json.Marshal(c)
			t.Fatalf("the case is %s %v", bad, err)
		}
	}
	t.Logf("largest difference from pycocotools: %.1e", worst)
}

// drawCoco draws pictures with objects and boxes near and far from them. On a coarse grid IoUs tie, with few scores
// those do.
func drawCoco(r *rand.Rand) cocoCase {
	c := cocoCase{Classes: 1 + r.IntN(4), Images: make([]cocoImage, r.IntN(12)+1)}
	grid := []float64{0.125, 1, 4}[r.IntN(3)]
	few := r.IntN(2) == 0
	many := r.IntN(5) == 0
	score := func() float64 {
		if few {
			return float64(1+r.IntN(4)) / 4
		}
		return float64(r.Float32())
	}
	place := func() (x, y, w, h float64) {
		return grid * math.Floor(r.Float64()*96/grid), grid * math.Floor(r.Float64()*96/grid),
			grid * (1 + math.Floor(r.Float64()*31/grid)), grid * (1 + math.Floor(r.Float64()*31/grid))
	}
	near := func() float64 { return grid * float64(r.IntN(5)-2) }
	for i := range c.Images {
		m := &c.Images[i]
		m.Truth, m.Pred = [][5]float64{}, [][6]float64{}
		for range r.IntN(7) {
			x, y, w, h := place()
			label := float64(r.IntN(c.Classes))
			m.Truth = append(m.Truth, [5]float64{x, y, x + w, y + h, label})
			for range r.IntN(4) {
				a, b := x+near(), y+near()
				m.Pred = append(m.Pred, [6]float64{
					a, b, a + max(w+near(), grid), b + max(h+near(), grid), score(),
					label,
				})
			}
		}
		extra := r.IntN(5)
		if many {
			extra = 60 + r.IntN(120)
		}
		for range extra {
			x, y, w, h := place()
			m.Pred = append(m.Pred, [6]float64{x, y, x + w, y + h, score(), float64(r.IntN(c.Classes))})
		}
		r.Shuffle(len(m.Pred), func(i, j int) { m.Pred[i], m.Pred[j] = m.Pred[j], m.Pred[i] })
	}
	return c
}

// A resample is the metric of the samples that were drawn, however often each was.
func TestResampler(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	value := FieldRMSEPooled
	for range 12 {
		c := drawCoco(r)
		e := c.evidence()
		for i := range e {
			e[i].Value = r.Float64()
			for k := range e[i].Hits { // which of equal scores comes first may differ where a sample is drawn twice
				e[i].Hits[k].Score = r.Float32()
			}
		}
		for _, m := range []*Metric{
			AveragePrecision, AveragePrecision50, AveragePrecision75, CocoAP, CocoAR100,
			value,
		} {
			of := m.Resampler(e)
			for range 3 {
				count := make([]int, len(e))
				var drawn []Evidence
				for i := range count {
					count[i] = r.IntN(3)
				}
				for i, n := range count {
					for range n {
						drawn = append(drawn, e[i])
					}
				}
				got, want := of(count), m.Pooled(drawn)
				if !(math.Abs(got-want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Fatalf("%s of %v: %g, want %g", m.Name, count, got, want)
				}
			}
		}
	}
}

// The interval of a pooled metric covers the value of the population about as often as it says.
func TestPooledInterval(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	r := rand.New(rand.NewPCG(8, 9))
	// Every picture has one object; pictures are easy or hard, and a box is right or wrong all over.
	draw := func(n int) []Evidence {
		e := make([]Evidence, n)
		for i := range e {
			hard := r.IntN(2)
			e[i].Truths = []int32{1}
			for range 1 + r.IntN(3) {
				h := Hit{Score: float32(r.Float64() - 0.3*float64(hard))}
				if r.Float64() < 0.7-0.5*float64(hard) && !found(e[i].Hits) {
					h.Match = 1
				}
				e[i].Hits = append(e[i].Hits, h)
			}
		}
		return e
	}
	want := AveragePrecision50.Pooled(draw(200_000))
	covered, runs := 0, 80
	for k := range runs {
		e := draw(60)
		estimate, i := aggregate.Resample(len(e), AveragePrecision50.Resampler(e), 200, 0.9,
			rand.New(rand.NewPCG(1, uint64(k))))
		if !(i.Low <= estimate && estimate <= i.High) {
			t.Fatalf("%g is not in %+v", estimate, i)
		}
		if i.Low <= want && want <= i.High {
			covered++
		}
	}
	// 0.9 less four standard errors of 80 runs; above it nothing is wrong.
	if p := float64(covered) / float64(runs); p < 0.765 {
		t.Errorf("%g of the intervals of 90 %% cover %g", p, want)
	}
}

func found(hits []Hit) bool {
	for _, h := range hits {
		if h.Match != 0 {
			return true
		}
	}
	return false
}

// BenchmarkEvidence is one element of a photo with thirty boxes and twelve objects.
func BenchmarkEvidence(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var c Case
	for _, n := range []int{30, 12} {
		s := &space.Boxes{H: 128, W: 128}
		for range n {
			x, y := r.Float64()*100, r.Float64()*100
			s.Items = append(s.Items, space.Box{
				X1: x, Y1: y, X2: x + 10 + r.Float64()*20, Y2: y + 10 + r.Float64()*20,
				Score: r.Float64(), Label: r.IntN(3),
			})
		}
		if c.At == nil {
			c.At = s
		} else {
			c.Truth = s
		}
	}
	for b.Loop() {
		EvidenceOf(c, 3)
	}
}

// BenchmarkResample is the interval of an average precision of 300 photos at one element.
func BenchmarkResample(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	e := make([]Evidence, 300)
	for i := range e {
		e[i].Truths = []int32{int32(r.IntN(12)), 1, 1}
		for range 15 {
			e[i].Hits = append(e[i].Hits,
				Hit{Score: r.Float32(), Label: int32(r.IntN(3)), Match: uint16(1)<<r.IntN(11) - 1})
		}
	}
	for _, m := range []*Metric{AveragePrecision50, CocoAP} {
		b.Run(m.Name, func(b *testing.B) {
			for b.Loop() {
				aggregate.Resample(len(e), m.Resampler(e), 200, 0.95, r)
			}
		})
	}
}
