package layers_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/layers"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/slow"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// anEngine is the engine that this machine has, opened once.
var anEngine = sync.OnceValues(func() (choose.Choice, error) {
	return choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
})

func parse(tb testing.TB, name string) group.Group {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func pictures(tb testing.TB, g group.Group, o action.Options, shape ...int) action.Action {
	tb.Helper()
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: shape}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// look audits a fixture with the check and returns what it found, and its own result.
func look(tb testing.TB, f audittest.Fixture, beside ...*audit.Check) (*audit.Result, *layers.Result) {
	tb.Helper()
	var found *layers.Result
	probe := &audit.Check{
		Name: "probe", Doc: "Probe keeps the result of the check.", Requires: []*audit.Check{layers.Check},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			found = audit.ResultOf[*layers.Result](p, layers.Check)
			return found, nil
		},
	}
	for _, c := range audittest.Audit(tb, f, append(beside, probe)...).Results {
		if c.Check != layers.Check {
			continue
		}
		if c.Status != audit.Tested {
			tb.Fatalf("the check is %s: %s", c.Status, c.Reason)
		}
		return c, found
	}
	tb.Fatal("the check did not run")
	return nil, nil
}

func row(tb testing.TB, r *layers.Result, name string) layers.Row {
	tb.Helper()
	for _, w := range r.Rows {
		if w.Name == name {
			return w
		}
	}
	tb.Fatalf("there is no layer %s", name)
	return layers.Row{}
}

func show(tb testing.TB, r *layers.Result) {
	tb.Helper()
	for _, w := range r.Rows {
		tb.Logf("%3d %-28s %-18s %-28s %-10s prefix %-9.2g injected %-9.2g floor %-9.2g above %-5v share %-8.3g "+
			"flows %.3g  %s", w.Index, w.Name, w.Op, w.Rep, w.Origin,
			w.Prefix, w.Injected, w.Floor, w.Above, w.Share.Value, w.Flows, w.Status)
	}
	if r.Elements != nil {
		tb.Logf("%s: error %.3g, sum %.12g, cancellation %.3g; first %d", r.Body, r.Elements.Error, r.Elements.Sum,
			r.Elements.Cancellation, r.First)
	}
	for _, d := range r.Flows {
		tb.Logf("along %s: %.3g, sum %.12g, cancellation %.3g", d.Name, d.Error, d.Sum, d.Cancellation)
	}
	if r.NoFlows != "" {
		tb.Log(r.NoFlows)
	}
}

// strokes is a smooth picture of 28 x 28 with a black background, like a digit.
func strokes(i int) (dataset.Sample, error) {
	s, err := audittest.Pictures(24, 28, 28, 11)(i)
	img, ok := s.Value.(*space.Image)
	if !ok || err != nil {
		return s, err
	}
	for k, v := range img.Pix {
		img.Pix[k] = math.Round(min(255, 2*v))
	}
	return s, nil
}

func digits(tb testing.TB, name string, plan *orbit.Plan) *audit.Subject {
	tb.Helper()
	e, err := anEngine()
	if err != nil {
		tb.Fatal(err)
	}
	m, err := onnx.Read("../../../studies/digits/models/digits-" + name + ".onnx")
	if err != nil {
		tb.Fatal(err)
	}
	c, err := decode.New(m.Signature(), decode.InputSpec{
		Sample: []int{1, 28, 28}, Scale: 255, Mean: []float64{0.1307},
		Std: []float64{0.3081},
	}, decode.OutputSpec{})
	if err != nil {
		tb.Fatal(err)
	}
	x, err := interior.New(m, c, func(ctx context.Context, b []byte) (engine.Session, error) {
		return e.Open(ctx, b, engine.Options{Threads: 1})
	}, interior.Options{Body: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &audit.Subject{Name: name, Predictor: x, Interior: x, Plan: plan, N: 24, Sample: strokes, Seed: 1}
}

// On the shipped models the shares add to one, over elements and along the group; c4 holds at every layer under quarter
// turns, its channels being recognised as fields of four orientations, and original breaks in its first convolution.
func TestDigits(t *testing.T) {
	slow.Test(t)
	g := parse(t, "SO(2)")
	plan := audittest.Plan(t, pictures(t, g, action.Options{}, 1, 28, 28), action.Trivial{G: g}, audittest.Angles(8)...)
	for _, name := range []string{"original", "augmented", "c4"} {
		t.Run(name, func(t *testing.T) {
			c, r := look(t, audittest.Fixture{Subject: digits(t, name, plan)})
			show(t, r)
			for _, d := range append(r.Flows, *r.Elements) {
				if name == "c4" && d.Name == "elements" {
					continue // rounding has no shares
				}
				if !(math.Abs(d.Sum-1) <= 1e-3) {
					t.Errorf("%s: the shares add to %g", d.Name, d.Sum)
				}
			}
			if name == "c4" {
				if r.First >= 0 || len(c.Findings) > 0 {
					t.Errorf("the first layer that breaks is %d, findings %v", r.First, c.Findings)
				}
				for _, w := range r.Rows {
					if strings.HasPrefix(w.Op, "Conv") && !strings.HasPrefix(w.Rep, "regular") || w.Above {
						t.Errorf("%s moves as %s, injected %g", w.Name, w.Rep, w.Injected)
					}
				}
				return
			}
			if r.First != 0 || len(c.Findings) != 1 || c.Findings[0].Category != audit.Layer {
				t.Errorf("the first layer that breaks is %d, findings %v", r.First, c.Findings)
			}
		})
	}
}

func tensors(tb testing.TB, g group.Group, shape ...int) action.Action {
	tb.Helper()
	a, err := action.NewTensor(g, space.Spec{Kind: space.KindTensor, Shape: shape}, action.Options{},
		action.Identical())
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// The contributions that the check gets by subtracting what the rest of the model makes of two neighboring places are
// those of the definition: the local term Df_i·dρ_{i-1}(z_{i-1}) - dρ_i(z_i), pushed from the layer to the output.
// Nothing telescopes there.
func TestLocalTerms(t *testing.T) {
	slow.Test(t)
	g := parse(t, "SO(2)")
	plan := audittest.Plan(t, pictures(t, g, action.Options{}, 1, 28, 28), action.Trivial{G: g}, audittest.Angles(8)...)
	for _, name := range []string{"original", "c4"} {
		s := digits(t, name, plan)
		_, r := look(t, audittest.Fixture{Subject: s})
		m := s.Interior
		f, err := feature.NewFrame(g, "", "")
		if err != nil {
			t.Fatal(err)
		}
		flow := feature.Flows(g)[0]
		var xs []space.Value
		for i := range 4 { // those of the check: spread evenly, the first four of eight
			x, err := strokes(3 * i)
			if err != nil {
				t.Fatal(err)
			}
			xs = append(xs, x.Value)
		}
		z, err := m.Arrays(t.Context(), xs)
		if err != nil {
			t.Fatal(err)
		}
		derivative := func(a interior.Array) interior.Array {
			t.Helper()
			if len(a.Shape) == 4 { // fields of orientations
				a.Shape = []int{a.Shape[0] * a.Shape[1], a.Shape[2], a.Shape[3]}
			}
			rep := f.Fixed(a.Shape)
			if len(a.Shape) == 3 && a.Shape[1] > 1 {
				if rep, err = f.Map(a.Shape,
					[2]float64{28 / float64(a.Shape[1]), 28 / float64(a.Shape[1])}); err != nil {
					t.Fatal(err)
				}
			}
			d, err := rep.Derivative(flow, a.Val)
			if err != nil {
				t.Fatal(err)
			}
			return interior.Array{Val: d}
		}
		var tau [][]interior.Array
		for _, x := range xs {
			img, ok := x.(*space.Image)
			if !ok {
				t.Fatal("no picture")
			}
			d, err := m.Tangents([]space.Value{&space.Image{
				C: 1, H: 28, W: 28,
				Pix: derivative(interior.Array{Shape: []int{1, 28, 28}, Val: img.Pix}).Val,
			}})
			if err != nil {
				t.Fatal(err)
			}
			tau = append(tau, d[0])
		}
		total, err := m.Push(t.Context(), z, m.Inputs(), tau)
		if err != nil {
			t.Fatal(err)
		}
		var size, sum float64
		for i := range total {
			for _, v := range total[i].Val {
				size += v * v
			}
		}
		list := m.Layers()
		for k, y := range list[1:] {
			part, err := m.Part(t.Context(), list[k].Live, y.Live)
			if err != nil {
				t.Fatal(err)
			}
			next, err := part.Run(t.Context(), z)
			if err != nil {
				t.Fatal(err)
			}
			local, err := part.Push(t.Context(), z, tau)
			if err != nil {
				t.Fatal(err)
			}
			rest, err := m.Part(t.Context(), y.Live, []string{m.Output()})
			if err != nil {
				t.Fatal(err)
			}
			mine := make([][]interior.Array, len(next))
			for i := range next {
				mine[i] = []interior.Array{{Shape: next[i][0].Shape, Val: derivative(next[i][0]).Val}}
				if y.Live[0] == m.Output() {
					mine[i][0].Val = make([]float64, len(mine[i][0].Val))
				}
				for j, v := range mine[i][0].Val {
					local[i][0].Val[j] -= v
				}
			}
			c, err := rest.Push(t.Context(), next, local)
			if err != nil {
				t.Fatal(err)
			}
			var share float64
			for i := range c {
				for j, v := range c[i][0].Val {
					share += v * total[i].Val[j] / size
				}
			}
			sum += share
			if got := row(t, r, y.Name).Flows[0]; !(math.Abs(got-share) <= 1e-4) {
				t.Errorf("%s: the share of %s is %g, by its local term %g", name, y.Name, got, share)
			}
			for _, p := range []*interior.Part{part, rest} {
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
			z, tau = next, mine
		}
		if !(math.Abs(sum-1) <= 1e-4) {
			t.Errorf("%s: the shares of the local terms add to %g", name, sum)
		}
		t.Logf("%s: %.8f", name, sum)
	}
}
