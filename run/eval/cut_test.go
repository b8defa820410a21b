package eval

import (
	"fmt"
	"slices"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/metric"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// photos is a data set of pictures of several sizes.
type photos struct {
	pictures
	sizes [][2]int
}

func (p photos) Sample(i int) (dataset.Sample, error) {
	m := space.NewImage(1, p.sizes[i][0], p.sizes[i][1])
	for k := range m.Pix {
		m.Pix[k] = float64((37*k + 11*i) % 256)
	}
	return dataset.Sample{ID: fmt.Sprintf("p%d", i), Label: i % 3, Value: m}, nil
}

// windowed evaluates windows of 5 x 5 under models that scale pixels.
func windowed(t *testing.T, p photos, batch int, fixed bool, scales ...float64) *Evaluation {
	t.Helper()
	p.n, p.bad = len(p.sizes), -1
	axis := any("n")
	if fixed {
		axis = batch
	}
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, axis, 1, 5, 5)
	b.Op("Relu", []string{x})
	b.Graph().Node[0].Output[0] = "y"
	b.Output("y", tensor.Float32, axis, 3)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	g, err := catalog.Parse("T(2,Z)")
	if err != nil {
		t.Fatal(err)
	}
	spec := space.Spec{Kind: space.KindImage, Shape: []int{1, -1, -1}}
	in, err := action.Rules().For(g, spec, action.Options{Window: []int{5, 5}})
	if err != nil {
		t.Fatal(err)
	}
	s := orbit.Spec{Grid: []int{3, 3}, Range: [][]float64{{-1, 1}, {-1, 1}}}
	plan, err := orbit.NewPlan(g, s, in, action.Trivial{G: g}, 0)
	if err != nil {
		t.Fatal(err)
	}
	ev := &Evaluation{Data: p, Plan: plan, Metrics: []*metric.Metric{metric.Absolute}}
	e := &linear{shared: true}
	for i, scale := range scales {
		c, err := decode.New(m.Signature(), decode.InputSpec{Scale: scale},
			decode.OutputSpec{Space: space.KindScores, Decode: "raw"})
		if err != nil {
			t.Fatal(err)
		}
		ev.Models = append(ev.Models, &Model{
			Name: fmt.Sprintf("m%d", i), Codec: c, Batch: batch, Fixed: fixed, Pool: NewPool(e, nil, engine.Options{}),
		})
	}
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	return ev
}

// Windows that go straight into batches, which models that are fed alike share, have the rows of windows that are made
// one by one for each model, also beside photos of other sizes.
func TestWindowsGoStraightIntoBatches(t *testing.T) {
	for _, sizes := range [][][2]int{{{7, 7}, {7, 7}}, {{7, 7}, {9, 7}, {7, 7}, {8, 8}}} {
		for _, batch := range []int{1, 4, 16} {
			for _, fixed := range []bool{false, true} {
				ev := windowed(t, photos{sizes: sizes}, batch, fixed, 255, 255)
				if ev.floats == nil || !ev.alike || ev.chunk != batch {
					t.Fatalf("straight %v, alike %v, chunks of %d", ev.floats != nil, ev.alike, ev.chunk)
				}
				got, err := ev.Shard(t.Context(), job.Shard{Hi: len(sizes)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				slow := windowed(t, photos{sizes: sizes}, batch, fixed, 255, 255)
				slow.floats, slow.scaler, slow.fed, slow.alike, slow.chunk = nil, nil, slow.Models, false, slow.most
				want, err := slow.Shard(t.Context(), job.Shard{Hi: len(sizes)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(got, want, same) {
					t.Errorf("%v, batches of %d, fixed %v: %+v, want %+v", sizes, batch, fixed, got, want)
				}
			}
		}
	}
	if ev := windowed(t, photos{sizes: [][2]int{{7, 7}}}, 4, false, 255, 1); ev.floats != nil || ev.alike {
		t.Error("models that scale differently are fed alike")
	}
}
