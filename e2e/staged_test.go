package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http/httptest"
	"net/url"
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
	"nero/serve/handout"
	serving "nero/serve/server"
	"nero/serve/shelf"
	"nero/serve/web"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Runs of detectors and flows that no model made, behind the real server and page, so that every number on the page is
// known:
//
//	shifts  three detectors under 7 x 5 shifts of a window of 32 x 32 pixels over photos of 80 x 72, values that are not the same when dx and dy
//	        change places, and that fall to half further and further out
//	sparse  one of them under shifts that are not evenly spaced
//	square  two flows of 16 x 16 pixels under D4 and time reversal
//
// The page of these tests is the one that is built into the test: go test -overlay tries another.

const (
	photoW, photoH = 80, 72
	windowSide     = 32
	fieldSide      = 16
)

// stagedValue is a value of model m at an element.
func stagedValue(j *job.Job, g group.Group, m, k, i int, e group.Element) float64 {
	if j.Study.Output.Space == string(space.KindField) {
		n, _ := group.Number(g, e)
		return 0.1 + 0.05*float64(n)*float64(m) + 0.3*float64(k) + 0.001*float64(i)
	}
	s := 4 + 3*float64(m)
	v := 0.9 * math.Exp(-((e[0]-4)*(e[0]-4)/(2*s*s) + (e[1]+2)*(e[1]+2)/(s*s)))
	return v * (1 - 0.02*float64(k) - 0.001*float64(i))
}

// stagedKey is the key object of a sample in the window.
func stagedKey(i int, g group.Element) space.Box {
	x, y := 11+float64(i%3)+g[0], 12+g[1]
	return space.Box{X1: x, Y1: y, X2: x + 9, Y2: y + 8, Score: 1, Label: 1}
}

// stagedBoxes are what model m finds: the key object, the further off the lower its value is, and two others; nothing
// at the last shift.
func stagedBoxes(j *job.Job, m, i int, g group.Element) []space.Box {
	if g[0] == 12 && g[1] == 8 {
		return nil
	}
	q, b := stagedValue(j, nil, m, 0, i, g), stagedKey(i, g)
	off := 6 * (1 - q)
	return []space.Box{
		{X1: b.X1 + off, Y1: b.Y1, X2: b.X2 + off, Y2: b.Y2, Score: 0.3 + 0.6*q, Label: 1},
		{X1: 1, Y1: 20, X2: 9, Y2: 30, Score: 0.25, Label: 0},
		{X1: 22, Y1: 1, X2: 30, Y2: 9, Score: 0.2, Label: 0},
		{X1: 0, Y1: 0, X2: 4, Y2: 4, Score: 0.1, Label: 0},
	}
}

// stagedField is what model m sees at an element: a vortex, and an error that only models above 0 make.
func stagedField(g group.Group, m int, e group.Element) *space.Field {
	f := space.NewField(fieldSide, fieldSide)
	n, _ := group.Number(g, e)
	for r := range fieldSide {
		for c := range fieldSide {
			x, y := float64(c)-7.5, float64(r)-7.5
			f.U()[r*fieldSide+c] = -y/4 + float64(m)*float64(c)/16
			f.V()[r*fieldSide+c] = x/4 + 0.01*float64(n)
		}
	}
	return f
}

func stagedJob(name string, output space.Kind, elements []group.Element, metrics, models []string) (*job.Job, error) {
	j := &job.Job{
		Format: job.FormatSmall, Numbers: 1, Count: 6, Measure: "uniform", Elements: elements,
		Exact:  slices.Repeat([]bool{true}, len(elements)),
		Files:  []job.Ref{{Path: "data.gz", SHA256: strings.Repeat("a", 64)}},
		Engine: job.Engine{Name: "staged", Version: "1"}, Shard: 3, Metrics: metrics,
		Study: job.Study{
			Version: 1, Data: job.Data{Images: "data.gz"}, Group: job.Group{Name: name},
			Output: job.Output{Space: string(output)},
		},
	}
	for i, m := range models {
		j.Study.Models = append(j.Study.Models, job.Model{Name: m, ONNX: m + ".onnx"})
		j.Models = append(j.Models,
			job.ModelRef{
				Name: m, Ref: job.Ref{Path: m + ".onnx", SHA256: strings.Repeat(string(rune('b'+i)), 64)},
				Batch: 1,
			})
	}
	if output == space.KindBoxes {
		j.Classes, j.Study.Group.Window = 2, []int{windowSide, windowSide}
	}
	job.Defaults(&j.Study)
	return j, j.Validate()
}

// writeStaged writes a run.
func writeStaged(ctx context.Context, dir string, j *job.Job, err error) error {
	if err != nil {
		return err
	}
	g, err := catalog.Parse(j.Study.Group.Name)
	if err != nil {
		return err
	}
	r, err := store.Create(dir, j, store.Options{})
	if err != nil {
		return err
	}
	for _, sh := range j.Shards() {
		var rows []job.Row
		for m := range j.Models {
			for i := sh.Lo; i < sh.Hi; i++ {
				row := job.Row{
					Model: m, Index: i, Sample: fmt.Sprintf("photo %d", i), Label: i % 2,
					Support: 0.4 + 0.2*float32(m), Agreement: 0.75,
				}
				for k := range j.Metrics {
					curve := make([]float32, len(j.Elements))
					for e, h := range j.Elements {
						curve[e] = float32(stagedValue(j, g, m, k, i, h))
					}
					row.Curves = append(row.Curves, curve)
				}
				if j.Study.Output.Space == string(space.KindBoxes) {
					for _, h := range j.Elements {
						ds := []job.Detection{}
						for _, b := range stagedBoxes(j, m, i, h) {
							ds = append(ds, job.Detection{
								X1: float32(b.X1), Y1: float32(b.Y1), X2: float32(b.X2),
								Y2: float32(b.Y2), Score: float32(b.Score), Label: int32(b.Label),
							})
						}
						row.Boxes = append(row.Boxes, ds)
					}
				} else {
					row.Label = -1
				}
				rows = append(rows, row)
			}
		}
		if err := r.Commit(ctx, sh, rows, nil); err != nil {
			return err
		}
	}
	return errors.Join(r.Finish(ctx, nil), r.Close())
}

// stagedProber answers for them.
type stagedProber struct {
	j *job.Job
	g group.Group
}

func (s stagedProber) boxes() bool { return s.j.Study.Output.Space == string(space.KindBoxes) }

func (s stagedProber) Status() probe.Status {
	return probe.Status{
		Inputs: probe.Level{On: true},
		Models: slices.Repeat([]probe.Level{{On: true}}, len(s.j.Models)), Engine: "staged",
	}
}

// stagedProbe opens it.
func stagedProbe(_ context.Context, r *store.Run) (shelf.Prober, error) {
	g, err := catalog.Parse(r.Job().Study.Group.Name)
	return stagedProber{r.Job(), g}, err
}

// photo is a sample: grey, with its key object dark.
func photo(i int) *space.Image {
	m, b := space.NewImage(1, photoH, photoW), stagedKey(i, group.Element{0, 0})
	for k := range m.Pix {
		x, y := float64(k%photoW-(photoW-windowSide)/2), float64(k/photoW-(photoH-windowSide)/2)
		if m.Pix[k] = 180 + 20*math.Sin(x/3)*math.Cos(y/5); x >= b.X1 && x < b.X2 && y >= b.Y1 && y < b.Y2 {
			m.Pix[k] = 40
		}
	}
	return m
}

func (s stagedProber) Input(_ context.Context, i int, g group.Element) (*probe.Input, error) {
	in := &probe.Input{
		Index: i, Sample: fmt.Sprintf("photo %d", i), Label: -1, G: g, Exact: true, Range: [2]float64{0, 255},
		Element: slices.IndexFunc(s.j.Elements,
			func(e group.Element) bool { return s.g.Dist(e, g) <= group.Tolerance }),
	}
	if s.boxes() {
		p, w := photo(i), space.NewImage(1, windowSide, windowSide)
		for k := range w.Pix {
			x, y := (photoW-windowSide)/2-int(g[0])+k%windowSide, (photoH-windowSide)/2-int(g[1])+k/windowSide
			if x >= 0 && y >= 0 && x < photoW && y < photoH {
				w.Pix[k] = p.Pix[y*photoW+x]
			}
		}
		in.Value, in.Target = w, &space.Boxes{H: windowSide, W: windowSide, Items: []space.Box{stagedKey(i, g)}}
		return in, nil
	}
	f := &space.Frames{}
	for t := range 2 {
		m := space.NewImage(1, fieldSide, fieldSide)
		for k := range 20 {
			m.Pix[(k*53+i)%fieldSide*fieldSide+(k*37+t)%fieldSide] = 255
		}
		f.Images = append(f.Images, m)
	}
	in.Value, in.Target = f, stagedField(s.g, 0, g)
	return in, nil
}

func (s stagedProber) Scene(ctx context.Context, i int) (*probe.Scene, error) {
	in, err := s.Input(ctx, i, s.g.Identity())
	if err != nil {
		return nil, err
	}
	sc := &probe.Scene{Index: i, Sample: in.Sample, Label: -1, Value: in.Value, Range: in.Range}
	if s.boxes() {
		sc.Value, sc.Window = photo(i), []int{
			(photoW - windowSide) / 2, (photoH - windowSide) / 2, windowSide,
			windowSide,
		}
	}
	return sc, nil
}

func (s stagedProber) At(ctx context.Context, i int, g group.Element, models []int) (*probe.Point, error) {
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
		r := probe.Result{Model: m, Top: -1, Support: 0.4 + 0.2*float64(m)}
		for k := range s.j.Metrics {
			r.Values = append(r.Values, stagedValue(s.j, s.g, m, k, i, g))
		}
		if s.boxes() {
			of := func(b ...space.Box) *space.Boxes { return &space.Boxes{H: windowSide, W: windowSide, Items: b} }
			best := stagedBoxes(s.j, m, i, group.Element{0, 0})[0]
			best.X1, best.X2, best.Y1, best.Y2 = best.X1+g[0], best.X2+g[0], best.Y1+g[1], best.Y2+g[1]
			r.Output, r.Moved, r.Consensus = of(stagedBoxes(s.j, m, i, g)...), of(best), of(stagedKey(i, g))
		} else {
			r.Output, r.Moved = stagedField(s.g, m, g), stagedField(s.g, m+1, g)
		}
		p.Results = append(p.Results, r)
	}
	return p, nil
}

func grid(dx, dy []float64) (all []group.Element) {
	for _, y := range dy {
		for _, x := range dx {
			all = append(all, group.Element{x, y})
		}
	}
	return all
}

var (
	shiftX  = []float64{-12, -8, -4, 0, 4, 8, 12}
	shiftY  = []float64{-8, -4, 0, 4, 8}
	sparseX = []float64{-12, -5, -2, 0, 1, 7}
	sparseY = []float64{-6, 0, 2, 3}
)

// stage are the servers that all of these tests share: one that answers live, and one that shows what is stored.
var stage struct {
	once         sync.Once
	err          error
	dir          string
	live, stored *httptest.Server
	end          func() error
}

// stagedServer is the address of the server over the staged runs.
func stagedServer(t *testing.T, live bool) string {
	t.Helper()
	chromium(t) // or nothing is made
	chromium(t)
	stage.once.Do(func() { stage.err = openStage() })
	if stage.err != nil {
		t.Fatal(stage.err)
	}
	if live {
		return stage.live.URL
	}
	return stage.stored.URL
}

func openStage() (err error) {
	ctx := context.Background()
	if stage.dir, err = os.MkdirTemp("", "nero-stage-"); err != nil {
		return err
	}
	detectors, metrics := []string{"narrow", "middle", "wide"}, []string{"conf_iou", "conf_iou@consensus", "iou"}
	square, err := catalog.Parse("D4 x Time")
	if err != nil {
		return err
	}
	var sixteen []group.Element
	for n := range 16 {
		e, _ := group.AtNumber(square, n)
		sixteen = append(sixteen, e)
	}
	write := func(name string, j *job.Job, err error) error {
		return writeStaged(ctx, filepath.Join(stage.dir, name), j, err)
	}
	shifts, e1 := stagedJob("T(2)", space.KindBoxes, grid(shiftX, shiftY), metrics, detectors)
	sparse, e2 := stagedJob("T(2)", space.KindBoxes, grid(sparseX, sparseY), metrics[:1], detectors[:1])
	flows, e3 := stagedJob(square.Name(), space.KindField, sixteen, []string{"rmse", "rmse@self"},
		[]string{"plain", "augmented"})
	if err := errors.Join(write("shifts", shifts, e1), write("sparse", sparse, e2),
		write("square", flows, e3)); err != nil {
		return err
	}
	paths := []string{
		filepath.Join(stage.dir, "shifts"), filepath.Join(stage.dir, "sparse"),
		filepath.Join(stage.dir, "square"),
	}
	var ends [2]func() error
	if stage.live, ends[0],
		err = serveStage(ctx, paths, shelf.Options{Version: "staged", Now: time.Now, Probe: stagedProbe}); err != nil {
		return err
	}
	if stage.stored, ends[1],
		err = serveStage(ctx, paths, shelf.Options{Version: "staged", Now: time.Now}); err != nil {
		return err
	}
	stage.end = func() error { return errors.Join(ends[0](), ends[1](), os.RemoveAll(stage.dir)) }
	return nil
}

// serveStage shows the runs at some paths, and returns what ends that.
func serveStage(ctx context.Context, paths []string, o shelf.Options) (*httptest.Server, func() error, error) {
	ctx, cancel := context.WithCancel(ctx)
	sh, err := shelf.Open(ctx, paths, o)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	s, err := serving.New(ctx, serving.Options{
		Shelf: sh, Files: web.Files(), Now: time.Now, Workers: 1, Log: slog.New(slog.DiscardHandler),
		Report: func(ctx context.Context, w io.Writer, run *shelf.Run, q url.Values) error {
			_, err := handout.Write(ctx, w, handout.Source{Run: run, Files: web.Files()},
				handout.Options{Metric: q.Get("metric")})
			return err
		},
	})
	if err != nil {
		cancel()
		return nil, nil, errors.Join(err, sh.Close())
	}
	h := httptest.NewServer(s)
	return h, func() error {
		cancel()
		h.CloseClientConnections()
		h.Close()
		return errors.Join(s.Close(), sh.Close())
	}, nil
}
