package report

import (
	"fmt"
	"iter"
	"math"
	"testing"

	"nero/run/fold"
	"nero/run/job"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// fixture is a run that nobody had to run: curves by formula.
type fixture struct {
	group string
	grid  []int
	// instead of grid
	values  []group.Element
	window  [][2]float64
	models  []string
	metrics []string
	// samples
	n int
	// 0 for no labels
	classes int
	// nil: multiples of 90 degrees, whole pixels
	exact func(e group.Element) bool
	// nil: bumps
	curve func(model, sample int, metric string, e []float64) float64
	// samples that could not be evaluated
	fail map[int]bool
}

func (f fixture) job(t *testing.T) (*job.Job, group.Group) {
	t.Helper()
	g, err := catalog.Parse(f.group)
	if err != nil {
		t.Fatal(err)
	}
	es, text := f.values, "values listed in the study"
	if es == nil && f.grid != nil {
		if es, err = group.Grid(g, f.grid, f.window); err != nil {
			t.Fatal(err)
		}
		text = group.GridText(g, f.grid, f.window)
	} else if es == nil {
		if es, text, err = group.Preset(g, f.window); err != nil {
			t.Fatal(err)
		}
	}
	exact := f.exact
	if exact == nil {
		exact = func(e group.Element) bool {
			for i, a := range g.Chart() {
				switch a.Unit {
				case "deg":
					if math.Mod(e[i], 90) != 0 {
						return false
					}
				case "px":
					if e[i] != math.Round(e[i]) {
						return false
					}
				case "factor":
					if e[i] != 1 {
						return false
					}
				}
			}
			return true
		}
	}
	j := &job.Job{
		Format: 1, Numbers: 1, Elements: es, Measure: text, Metrics: f.metrics, Count: f.n, Classes: f.classes,
		Shard: 8, Seed: 7,
		Engine: job.Engine{Name: "formula", Version: "1.0"},
		Files: []job.Ref{{
			Path:   "data/digits-images.gz",
			SHA256: "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
		}},
	}
	for _, e := range es {
		j.Exact = append(j.Exact, exact(e))
	}
	j.Study = job.Study{
		Version: 1, Task: "classification", Metrics: f.metrics, Seed: 7,
		Data:  job.Data{Format: "idx", Images: "data/digits-images.gz"},
		Group: job.Group{Name: g.Name(), Resample: "bilinear", Border: "zero", Orbit: job.Orbit{Grid: f.grid}},
	}
	for i, m := range f.models {
		sum := fmt.Sprintf("%064x", i+1)
		j.Models = append(j.Models, job.ModelRef{Name: m, Ref: job.Ref{Path: m + ".onnx", SHA256: sum}, Batch: 32})
		j.Study.Models = append(j.Study.Models, job.Model{Name: m, ONNX: "models/" + m + ".onnx"})
	}
	return j, g
}

// rows are the run's, sample by sample.
func (f fixture) rows(j *job.Job) iter.Seq2[job.Row, error] {
	curve := f.curve
	if curve == nil {
		curve = bumps
	}
	return func(yield func(job.Row, error) bool) {
		for i := range f.n {
			for m := range f.models {
				r := job.Row{Model: m, Index: i, Sample: fmt.Sprintf("digits/%05d", i), Label: -1}
				if f.classes > 0 {
					r.Label = i % f.classes
				}
				if f.fail[i] {
					r.Err = "cannot read"
				}
				for _, name := range f.metrics {
					c := make([]float32, len(j.Elements))
					for k, e := range j.Elements {
						c[k] = float32(math.NaN())
						if r.Err == "" {
							c[k] = float32(curve(m, i, name, e))
						}
					}
					r.Curves = append(r.Curves, c)
				}
				if f.classes > 0 {
					r.Top = make([]int32, len(j.Elements))
					for k := range r.Top {
						r.Top[k] = int32(r.Label)
						if r.Curves[0][k] < 0.5 {
							r.Top[k] = int32((r.Label + 1) % f.classes)
						}
					}
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// bumps is asymmetric under every mirror and every exchange of axes, so that a picture drawn the wrong way round is
// seen.
func bumps(model, sample int, metric string, e []float64) float64 {
	jitter := math.Mod(float64(sample)*0.6180339887, 1)
	base, phase := 0.0, 0.0
	for i, x := range e {
		base += float64(i+1) * x
	}
	phase = (base - 35 - 40*(jitter-0.5)) * math.Pi / 180
	good := []float64{0.12, 0.72, 0.5, 0.3}[model%4]
	v := good + (0.98-good)*math.Pow(0.5+0.5*math.Cos(phase), 3) - 0.1*jitter
	v = min(1, max(0, v))
	switch metric {
	case "accuracy", "agreement":
		if v > 0.45+0.3*jitter {
			return 1
		}
		return 0
	case "flip":
		if v > 0.45+0.3*jitter {
			return 0
		}
		return 1
	case "relative", "absolute", "max_absolute", "kl", "cross_entropy":
		zero, whole := true, true
		for _, x := range e {
			zero = zero && x == 0
			whole = whole && math.Mod(x, 90) == 0
		}
		if zero && metric != "cross_entropy" {
			return 0
		}
		if whole && model > 0 && metric != "cross_entropy" {
			return 3e-7 * (1 + jitter)
		}
		return (1.02 - v) * (1 + jitter)
	}
	return v
}

func (f fixture) summary(t *testing.T) (*fold.Summary, *job.Job) {
	t.Helper()
	j, g := f.job(t)
	scales := make([]float64, len(f.models))
	for i := range scales {
		scales[i] = 1
	}
	s, err := fold.Fold(fold.Input{
		Job: j, Hash: "cafe", Group: g, Scales: scales,
		Rows: fold.Columns(func() iter.Seq2[job.Row, error] { return f.rows(j) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, j
}
