package e2e

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nero/data/space"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/serve/shelf"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Runs over data in space, sets and signals that no model made, behind the real server and page, so that every number
// on the page is known:
//
//	clouds     two classifiers of clouds of points under rotations about axes in the planes xy, xz and yz
//	haar       the same under motions of O(3) that are spread evenly
//	molecules  two models of energies and forces under rotations
//	lines      a classifier of clouds under single generators of an affine group
//	sets       two models of graphs under permutations of their nodes
//	speech     two models of sound under shifts in time, one of which has to warm up
//	flow       two models of sequences under shifts at constant velocity

// inSpace is a run of them.
type inSpace struct {
	name, group    string
	elements       []group.Element
	models         []string
	metrics        []string
	input, output  string
	inputs, answer []job.Port
	classes        int
	// value is a value of model m by metric k at an element.
	value func(m, k, i int, g group.Group, e group.Element) float64
	// sample is what is moved, and given what a model answers to a moved one.
	sample func(i int) space.Value
	given  func(m int, moved space.Value, g group.Group, e group.Element) (answer, reference space.Value)
}

// cloud is a chair of a few hundred points: a seat, a back and four legs, so that every orientation can be told.
func cloud(i int) *space.Rows {
	r := rand.New(rand.NewPCG(uint64(i), 3))
	m := space.NewRows(400, 3)
	for k := range m.N {
		p := m.Row(k)
		switch u, v := r.Float64()-0.5, r.Float64()-0.5; k % 6 {
		case 0, 1:
			p[0], p[1], p[2] = u, v, 0
		case 2, 3:
			p[0], p[1], p[2] = u, 0.5, v+0.5
		default:
			p[0], p[1], p[2] = math.Copysign(0.45, u), math.Copysign(0.45, v), -0.7*r.Float64()
		}
	}
	return m
}

// motion is g on points about the origin.
func motion(g group.Group, e group.Element, rows *space.Rows, shift bool) *space.Rows {
	s, ok := group.AsSpatial(g)
	if !ok || s.Dim() != 3 {
		return rows
	}
	a, t := s.Motion(e)
	out := space.NewRows(rows.N, rows.W)
	for i := range rows.N {
		for c := range 3 {
			v := 0.0
			for k := range 3 {
				v += a[3*c+k] * rows.Row(i)[k]
			}
			if shift {
				v += t[c]
			}
			out.Row(i)[c] = v
		}
	}
	return out
}

// angleOf is the angle of a rotation vector at the beginning of an element, in degrees.
func angleOf(e group.Element) float64 {
	if len(e) < 3 {
		return math.Abs(e[0])
	}
	return math.Sqrt(e[0]*e[0] + e[1]*e[1] + e[2]*e[2])
}

// peak falls from the identity for the first model, more along x than along y, and is flat for the second.
func peak(m, k, i int, _ group.Group, e group.Element) float64 {
	if m == 1 {
		return 0.8 - 0.1*float64(k) - 0.002*float64(i)
	}
	w := angleOf(e)
	lean := 0.0
	if len(e) >= 3 {
		lean = 0.0008 * (e[0] - e[1])
	}
	if len(e) > 3 {
		lean -= 0.15 * e[3]
	}
	return (0.25+0.7*math.Exp(-w*w/4000)+lean-0.002*float64(i))*(1-0.1*float64(k)) - 0.05*math.Sin(e[len(e)-1]/17)
}

// scores are those of a classifier whose first class has the value of a metric.
func scores(v float64) *space.Scores {
	v = min(max(v, 0.02), 0.98)
	return &space.Scores{Val: []float64{v, (1 - v) * 0.6, (1 - v) * 0.3, (1 - v) * 0.1}, Probabilities: true}
}

// water is a bent molecule with its bonds, a little different in every sample.
func water(i int) *space.Record {
	x := 0.01 * float64(i)
	return &space.Record{
		Names: []string{"positions", "species", "bonds"},
		Values: []space.Value{
			&space.Rows{N: 5, W: 3, Val: []float64{
				0, 0, 0, 0.96 + x, 0, 0.1, -0.24, 0.93, 0, 0, -0.4, 1.4, -0.5, -0.9,
				-1.1,
			}},
			&space.Rows{N: 5, W: 1, Val: []float64{8, 1, 1, 6, 7}},
			&space.Links{Nodes: 5, From: []int32{0, 0, 0, 0}, To: []int32{1, 2, 3, 4}},
		},
	}
}

// pull is energy and forces of a moved molecule: springs between all atoms. Model 0 is wrong along z.
func pull(m int, v space.Value, _ group.Group, _ group.Element) (answer, reference space.Value) {
	r := v.(*space.Record)                  //nolint:errcheck,forcetypeassert // of this file
	p := r.Field("positions").(*space.Rows) //nolint:errcheck,forcetypeassert // of this file
	of := func(k float64) *space.Record {
		f, energy := space.NewRows(p.N, 3), 0.0
		for i := range p.N {
			for j := range p.N {
				for c := range 3 {
					d := p.Row(j)[c] - p.Row(i)[c]
					if c == 2 {
						d *= k
					}
					f.Row(i)[c] += 0.4 * d
					energy += 0.1 * d * d
				}
			}
		}
		return &space.Record{
			Names:  []string{"energy", "forces"},
			Values: []space.Value{&space.Rows{N: 1, W: 1, Val: []float64{energy}}, f},
		}
	}
	if m == 1 {
		return of(1), of(1)
	}
	return of(0.6), of(1)
}

func classify(value func(m, k, i int, g group.Group, e group.Element) float64) func(m int, v space.Value, g group.Group,
	e group.Element) (space.Value, space.Value) {
	return func(m int, _ space.Value, g group.Group, e group.Element) (space.Value, space.Value) {
		return scores(value(m, 0, 0, g, e)), scores(value(m, 0, 0, g, g.Identity()))
	}
}

func stagedInSpace() ([]inSpace, error) {
	so3, err := catalog.Parse("SO(3)")
	if err != nil {
		return nil, err
	}
	slice, e1 := group.Discs(so3, nil, 15, 30)
	few, e2 := group.LowDiscrepancy(so3, 40, nil)
	o3, e3 := catalog.Parse("O(3)")
	if err := errors.Join(e1, e2, e3); err != nil {
		return nil, err
	}
	haar, err := group.LowDiscrepancy(o3, 160, nil)
	if err != nil {
		return nil, err
	}
	var single []group.Element
	for _, v := range []float64{-30, -20, -10, 0, 10, 20, 30} {
		single = append(single, group.Element{v, 1})
	}
	for _, v := range []float64{0.5, 0.7, 1.4, 2} {
		single = append(single, group.Element{0, v})
	}
	rows, e5 := catalog.Parse("S(9)")
	if e5 != nil {
		return nil, e5
	}
	permutations := []group.Element{rows.Identity()}
	for i := range 8 {
		e := rows.Identity()
		e[i], e[i+1] = e[i+1], e[i]
		permutations = append(permutations, e)
	}
	permutations = append(permutations, group.Element{1, 2, 3, 4, 5, 6, 7, 8, 0},
		group.Element{8, 7, 6, 5, 4, 3, 2, 1, 0})
	var delays, velocities []group.Element
	for d := -1600.; d <= 1600; d += 400 {
		delays = append(delays, group.Element{d})
	}
	for y := -2.; y <= 2; y++ {
		for x := -2.; x <= 2; x++ {
			velocities = append(velocities, group.Element{x, y})
		}
	}
	points := func(i int) space.Value { return cloud(i) }
	two := []string{"plain", "augmented"}
	positions := []job.Port{{Name: "points", Type: space.TypePositions}}
	return []inSpace{
		{
			name: "clouds", group: "SO(3)", elements: slice, models: two, metrics: []string{"confidence", "accuracy"},
			input: "rows", output: "scores", inputs: positions, classes: 4, value: peak, sample: points,
			given: classify(peak),
		},
		{
			name: "haar", group: "O(3)", elements: append([]group.Element{o3.Identity()}, haar...), models: two,
			metrics: []string{"confidence"}, input: "rows", output: "scores", inputs: positions, classes: 4,
			value: peak, sample: points, given: classify(peak),
		},
		{
			name: "molecules", group: "SO(3)", elements: append([]group.Element{so3.Identity()}, few...), models: two,
			metrics: []string{"forces.rmse", "energy.absolute"}, input: "record", output: "record",
			inputs: []job.Port{
				{Name: "positions", Type: space.TypePositions, Unit: "Å"},
				{Name: "species", Type: space.TypeUnchanged},
				{Name: "bonds", Kind: "links", Type: space.TypeUnchanged},
			},
			answer: []job.Port{
				{Name: "energy", Type: space.TypeUnchanged, Per: space.PerSample, Unit: "eV"},
				{Name: "forces", Type: space.TypeVectors, Per: space.PerNode, Unit: "eV/Å"},
			},
			value: func(m, k, i int, _ group.Group, e group.Element) float64 {
				return 0.01 + 0.1*float64(1-m)*math.Sin(angleOf(e)*math.Pi/360)*(1+float64(k)) + 0.001*float64(i)
			},
			sample: func(i int) space.Value { return water(i) }, given: pull,
		},
		{
			name: "lines", group: "Affine(rotate,scale)", elements: single, models: two[:1],
			metrics: []string{"confidence"}, input: "rows", output: "scores", inputs: positions, classes: 4,
			value: peak, sample: points, given: classify(peak),
		},
		{
			name: "sets", group: "S(9)", elements: permutations, models: two, metrics: []string{"rmse@self"},
			input: "record", output: "rows",
			inputs: []job.Port{
				{Name: "nodes", Type: space.TypeUnchanged},
				{Name: "edges", Kind: "links", Type: space.TypeUnchanged},
			},
			answer: []job.Port{{Name: "y", Type: space.TypeUnchanged, Per: space.PerSample}},
			value: func(m, _, i int, g group.Group, e group.Element) float64 {
				return float64(1-m)*g.Dist(e, g.Identity())/10 + 0.001*float64(i)
			},
			sample: func(i int) space.Value {
				nodes := space.NewRows(9, 2)
				for k := range nodes.Val {
					nodes.Val[k] = float64((k*7+i)%5) - 2
				}
				return &space.Record{
					Names: []string{"nodes", "edges"},
					Values: []space.Value{nodes, &space.Links{
						Nodes: 9, From: []int32{0, 1, 2, 3, 4, 5, 6, 7},
						To: []int32{1, 2, 3, 4, 5, 6, 7, 8},
					}},
				}
			},
			given: func(m int, _ space.Value, g group.Group, e group.Element) (space.Value, space.Value) {
				return &space.Rows{N: 1, W: 1, Val: []float64{1 + float64(1-m)*g.Dist(e, g.Identity())/10}},
					&space.Rows{N: 1, W: 1, Val: []float64{1}}
			},
		},
		{
			name: "speech", group: "T(1,Z)", elements: delays, models: two, metrics: []string{"rmse@self"},
			input: "signal", output: "signal", inputs: []job.Port{{Name: "sound", Type: space.TypeUnchanged}},
			answer: []job.Port{{Name: "speech", Kind: "signal", Type: space.TypeUnchanged}},
			value: func(m, _, i int, _ group.Group, e group.Element) float64 {
				return float64(1-m)*math.Abs(math.Sin(e[0]/300))/4 + 0.001*float64(i)
			},
			sample: func(int) space.Value {
				x := space.NewSignal(1, 4000, 16000)
				for k := range x.Val {
					x.Val[k] = math.Sin(float64(k)/9) * math.Exp(-math.Pow(float64(k-1500)/500, 2))
				}
				return x
			},
			given: func(m int, _ space.Value, _ group.Group, e group.Element) (space.Value, space.Value) {
				a, b := space.NewSignal(1, 25, 100), space.NewSignal(1, 25, 100)
				for k := range a.Val {
					b.Val[k] = 1 / (1 + math.Exp(math.Abs(float64(k)-9-e[0]/160)-2))
					if a.Val[k] = b.Val[k]; k < 4 && m == 0 {
						a.Val[k] += 0.3 // warming up
					}
				}
				return a, b
			},
		},
		{
			name: "flow", group: "Flow(shift x,shift y)", elements: velocities, models: two,
			metrics: []string{"rmse@self"}, input: "frames", output: "frames",
			value: func(m, _, _ int, _ group.Group, e group.Element) float64 {
				return float64(1-m) * (math.Abs(e[0]) + 2*math.Abs(e[1])) / 10
			},
			sample: func(i int) space.Value {
				f := &space.Frames{}
				for t := range 4 {
					m := space.NewImage(1, 12, 12)
					m.Pix[(3+i%3+t)*12+4+t] = 255
					f.Images = append(f.Images, m)
				}
				return f
			},
			given: func(_ int, moved space.Value, _ group.Group, _ group.Element) (space.Value, space.Value) {
				return moved, moved
			},
		},
	}, nil
}

func (r *inSpace) job() (*job.Job, error) {
	j := &job.Job{
		Format: job.FormatSmall, Numbers: 1, Count: 6, Measure: "staged", Elements: r.elements,
		Exact:  slices.Repeat([]bool{true}, len(r.elements)),
		Files:  []job.Ref{{Path: "data.npz", SHA256: strings.Repeat("a", 64)}},
		Engine: job.Engine{Name: "staged", Version: "1"}, Shard: 3, Metrics: r.metrics,
		Study: job.Study{
			Version: 1, Data: job.Data{Images: "data.npz"}, Group: job.Group{Name: r.group},
			Input: job.Input{Space: r.input, Fields: r.inputs}, Output: job.Output{Space: r.output, Fields: r.answer},
		},
		Classes: r.classes,
	}
	for i, m := range r.models {
		j.Study.Models = append(j.Study.Models, job.Model{Name: m, ONNX: m + ".onnx"})
		j.Models = append(j.Models,
			job.ModelRef{
				Name: m, Ref: job.Ref{Path: m + ".onnx", SHA256: strings.Repeat(string(rune('b'+i)), 64)},
				Batch: 1,
			})
	}
	job.Defaults(&j.Study)
	return j, j.Validate()
}

func (r *inSpace) write(ctx context.Context, dir string) error {
	j, err := r.job()
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	g, err := catalog.Parse(r.group)
	if err != nil {
		return err
	}
	s, err := store.Create(dir, j, store.Options{})
	if err != nil {
		return err
	}
	for _, sh := range j.Shards() {
		var rows []job.Row
		for m := range j.Models {
			for i := sh.Lo; i < sh.Hi; i++ {
				row := job.Row{Model: m, Index: i, Sample: fmt.Sprintf("thing %d", i), Label: -1}
				if r.classes > 0 {
					row.Label = 0
				}
				for k := range j.Metrics {
					curve := make([]float32, len(j.Elements))
					for e, h := range j.Elements {
						curve[e] = float32(r.value(m, k, i, g, h))
					}
					row.Curves = append(row.Curves, curve)
				}
				if r.classes > 0 {
					row.Top = make([]int32, len(j.Elements))
					for e := range row.Top {
						if row.Curves[0][e] < 0.4 {
							row.Top[e] = 1
						}
					}
				}
				rows = append(rows, row)
			}
		}
		if err := s.Commit(ctx, sh, rows, nil); err != nil {
			return err
		}
	}
	return errors.Join(s.Finish(ctx, nil), s.Close())
}

// spaceProber answers for one of them.
type spaceProber struct {
	r *inSpace
	j *job.Job
	g group.Group
}

func (s spaceProber) Status() probe.Status {
	return probe.Status{
		Inputs: probe.Level{On: true},
		Models: slices.Repeat([]probe.Level{{On: true}}, len(s.j.Models)), Engine: "staged",
	}
}

// moved is g on a value, field by field.
func (s spaceProber) moved(v space.Value, e group.Element) space.Value {
	switch v := v.(type) {
	case *space.Rows:
		if v.W == 3 {
			return motion(s.g, e, v, true)
		}
	case *space.Signal:
		out := space.NewSignal(v.C, v.T, v.Rate)
		for k := range v.Val {
			if from := k - int(e[0]); from >= 0 && from < v.T {
				out.Val[k] = v.Val[from]
			}
		}
		return out
	case *space.Record:
		out := &space.Record{Names: v.Names}
		for _, f := range v.Values {
			out.Values = append(out.Values, s.moved(f, e))
		}
		return out
	}
	return v
}

func (s spaceProber) Input(_ context.Context, i int, g group.Element) (*probe.Input, error) {
	in := &probe.Input{
		Index: i, Sample: fmt.Sprintf("thing %d", i), Label: -1, G: g, Exact: true, Value: s.moved(s.r.sample(i), g),
		Range: [2]float64{0, 255},
		Element: slices.IndexFunc(s.j.Elements,
			func(e group.Element) bool { return s.g.Dist(e, g) <= group.Tolerance }),
	}
	if s.r.name == "molecules" {
		_, in.Target = s.r.given(1, in.Value, s.g, g)
	}
	return in, nil
}

func (s spaceProber) At(ctx context.Context, i int, g group.Element, models []int) (*probe.Point, error) {
	in, err := s.Input(ctx, i, g)
	if err != nil {
		return nil, err
	}
	p := &probe.Point{Input: *in}
	if models == nil {
		for m := range s.j.Models {
			models = append(models, m)
		}
	}
	for _, m := range models {
		r := probe.Result{Model: m, Top: -1, Support: math.NaN()}
		for k := range s.j.Metrics {
			r.Values = append(r.Values, float64(float32(s.r.value(m, k, i, s.g, g))))
		}
		r.Output, r.Moved = s.r.given(m, in.Value, s.g, g)
		if s.r.classes > 0 {
			if r.Top = 0; r.Values[0] < 0.4 {
				r.Top = 1
			}
		}
		p.Results = append(p.Results, r)
	}
	return p, nil
}

// inSpaceStage are the servers over the runs in space.
var inSpaceStage struct {
	once         sync.Once
	err          error
	dir          string
	live, stored *httptest.Server
	end          func() error
}

// spaceServer is the address of the server over the runs in space.
func spaceServer(t *testing.T, live bool) string {
	t.Helper()
	chromium(t)
	s := &inSpaceStage
	s.once.Do(func() { s.err = openSpace() })
	if s.err != nil {
		t.Fatal(s.err)
	}
	if live {
		return s.live.URL
	}
	return s.stored.URL
}

func openSpace() (err error) {
	ctx, at := context.Background(), &inSpaceStage
	if at.dir, err = os.MkdirTemp("", "nero-space-"); err != nil {
		return err
	}
	runs, err := stagedInSpace()
	if err != nil {
		return err
	}
	var paths []string
	byName := map[string]*inSpace{}
	for i := range runs {
		r := &runs[i]
		dir := filepath.Join(at.dir, r.name)
		if err := r.write(ctx, dir); err != nil {
			return err
		}
		paths = append(paths, dir)
		byName[r.group+r.output+strings.Join(r.metrics, ",")] = r
	}
	prober := func(_ context.Context, r *store.Run) (shelf.Prober, error) {
		j := r.Job()
		g, err := catalog.Parse(j.Study.Group.Name)
		return spaceProber{byName[j.Study.Group.Name+j.Study.Output.Space+strings.Join(j.Metrics, ",")], j, g}, err
	}
	var ends [2]func() error
	if at.live, ends[0],
		err = serveStage(ctx, paths, shelf.Options{Version: "staged", Now: time.Now, Probe: prober}); err != nil {
		return err
	}
	if at.stored, ends[1], err = serveStage(ctx, paths, shelf.Options{Version: "staged", Now: time.Now}); err != nil {
		return err
	}
	at.end = func() error { return errors.Join(ends[0](), ends[1](), os.RemoveAll(at.dir)) }
	return nil
}
