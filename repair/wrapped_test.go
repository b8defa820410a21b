package repair_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/endtoend"
	"nero/audit/check/gradient"
	"nero/audit/check/layers"
	"nero/audit/check/lint"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/slow"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/repair"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// anEngine is the engine that this machine has, opened once.
var anEngine = sync.OnceValues(func() (choose.Choice, error) {
	return choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
})

// opened is a model seen from inside.
func opened(t *testing.T, m *onnx.Model, c decode.Codec) *interior.Model {
	t.Helper()
	e, err := anEngine()
	if err != nil {
		t.Fatal(err)
	}
	x, err := interior.New(m, c, func(ctx context.Context, b []byte) (engine.Session, error) {
		return e.Open(ctx, b, engine.Options{Threads: 1})
	}, interior.Options{Body: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// broken says what a file was repaired to, and what became of it.
type broken struct {
	name string
	edit func(t *testing.T, g *onnx.Builder)
	// what the finding says of the poses; "" for none
	says string
}

// firstAlone answers what the model says in the first pose: the way back is wrong.
func firstAlone(t *testing.T, b *onnx.Builder) {
	t.Helper()
	first := b.Const(tensor.FromInt64([]int64{0}))
	for _, n := range slices.Backward(b.Graph().GetNode()) {
		if n.GetOpType() != "ReduceMean" || !strings.Contains(n.GetName(), "/nero_node_") {
			continue
		}
		n.OpType, n.Input = new("Gather"), []string{n.GetInput()[0], first}
		n.Attribute = append(n.GetAttribute()[:0], onnx.AttrInt("axis", 0))
		return
	}
	t.Fatal("nothing takes a mean")
}

// onePoseTwice asks in one pose twice, and in another not at all: the way in is wrong.
func onePoseTwice(t *testing.T, b *onnx.Builder) {
	t.Helper()
	for _, n := range b.Graph().GetNode() {
		if n.GetOpType() == "Concat" && strings.Contains(n.GetName(), "/nero_node_") && len(n.GetInput()) == 4 {
			n.Input[2] = n.GetInput()[1]
			return
		}
	}
	t.Fatal("no poses are put together")
}

// In an audit of a repaired file what was put around the model is one layer, whatever the method and the form; the
// layers of the model hold in the poses that it is asked in, and no finding names a node. Where the way in or the way
// back is wrong, the audit finds it from end to end, and the check of layers tells which of the two it is.
func TestWrapperIsOneLayer(t *testing.T) {
	for _, c := range []struct {
		name, method string
		single       bool
		source       func(t *testing.T) (repair.Source, func(i int) (dataset.Sample, error), []group.Element)
		wrapper      string
		rows         int // of the model
		broken       []broken
	}{
		{
			"average", "average", false, digits, "repair: average of C4", 17,
			[]broken{
				{"way back", firstAlone, "asked in the same poses"},
				{"way in", onePoseTwice, "asked in other poses"},
			},
		},
		{
			"average in copies", "average", true, digits, "repair: average of C4", 17,
			[]broken{{"way back", firstAlone, "asked in the same poses"}},
		},
		{"select", "select", false, digits, "repair: select of C4", 17, nil},
		{
			"frame", "frame", false, clouds, "repair: frame of SO(3)", 13,
			[]broken{{"way back", firstAlone, "asked in the same poses"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.single || c.method == "select" {
				slow.Test(t)
			}
			s, sample, elements := c.source(t)
			s.Single = c.single
			asked, err := repair.Parse(c.method)
			if err != nil {
				t.Fatal(err)
			}
			made, err := repair.Build(s, asked)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range append([]broken{{}}, c.broken...) {
				t.Run(f.name, func(t *testing.T) {
					m := made
					if f.edit != nil {
						b := made.Edit()
						f.edit(t, b)
						if m, err = b.Model(); err != nil {
							t.Fatal(err)
						}
					}
					held(t, s, m, sample, elements, c.wrapper, c.rows, f.says)
				})
			}
		})
	}
}

// held audits a file.
func held(t *testing.T, s repair.Source, m *onnx.Model, sample func(i int) (dataset.Sample, error),
	elements []group.Element, wrapper string, rows int, says string,
) {
	t.Helper()
	x := opened(t, m, s.Codec)
	subject := &audit.Subject{
		Name: "repaired", Predictor: x, Interior: x, Plan: audittest.Plan(t, s.In, s.Out, elements...), N: 3,
		Sample: sample, Seed: 1,
	}
	var found *layers.Result
	keep := &audit.Check{
		Name: "keep", Doc: "Keep keeps the result of the layers.", Requires: []*audit.Check{layers.Check},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			found = audit.ResultOf[*layers.Result](p, layers.Check)
			return found, nil
		},
	}
	checks := []*audit.Check{endtoend.Check, layers.Check, lint.Check, keep}
	if wrapper == "repair: select of C4" { // derivatives take long
		checks = append(checks, gradient.Check)
	}
	out := audittest.Audit(t, audittest.Fixture{Subject: subject}, checks...)
	failed := false
	for _, r := range out.Results {
		for _, e := range r.Exhibits {
			if e.Table != nil && strings.Contains(fmt.Sprint(e.Table.Rows), "nero_") {
				t.Errorf("%s: the table %s has nodes of the wrapper: %v", r.Check.Name, e.Name, e.Table.Rows)
			}
		}
		for _, f := range r.Findings {
			failed = failed || f.Category == audit.Layer
			if strings.Contains(f.Location+f.Message, "nero_node") || strings.Contains(f.Location, "o0/") {
				t.Errorf("%s: a finding inside: %s: %s", r.Check.Name, f.Location, f.Message)
			}
			// Of three inputs controls and intervals tell little.
			if says == "" && f.Category != audit.Undecided && f.Category != audit.PositiveControl {
				t.Errorf("%s: %s: %s", r.Check.Name, f.Location, f.Message)
			} else if r.Check == layers.Check && (f.Location != wrapper || !strings.Contains(f.Message, says)) {
				t.Errorf("at %s: %s; want %s", f.Location, f.Message, says)
			}
		}
	}
	if found == nil {
		t.Fatal("the layers were not looked at")
	}
	if failed != (says != "") {
		t.Errorf("a layer that breaks was found: %v", failed)
	}
	poses := says == "asked in other poses"
	n := 0
	for k, w := range found.Rows {
		if k == 0 {
			if w.Name != wrapper || w.Above != (says != "") || says == "" && !(w.Prefix <= 1e-5) {
				t.Errorf("%+v", w)
			}
			continue
		}
		if strings.Contains(w.Name, "nero_node") || strings.Contains(w.Name, "o0/") {
			t.Errorf("a row for the node %s", w.Name)
		}
		if !strings.HasPrefix(w.Status, "measured in ") || !math.IsNaN(w.Injected) || w.Above {
			t.Errorf("%s: %s, injected %g, breaks %v", w.Name, w.Status, w.Injected, w.Above)
		}
		if !poses && !(w.Prefix <= 1e-5) || poses && !(w.Prefix > 1e-2) {
			t.Errorf("%s: off by %g in the poses", w.Name, w.Prefix)
		}
		n++
	}
	if n != rows+1 { // and the poses
		t.Errorf("%d rows beside the wrapper, want %d", n, rows+1)
	}
}

// digits is a classifier of upright digits, with pictures of strokes.
func digits(t *testing.T) (repair.Source, func(i int) (dataset.Sample, error), []group.Element) {
	t.Helper()
	m, err := onnx.Read("../studies/digits/models/digits-original.onnx")
	if err != nil {
		t.Fatal(err)
	}
	c, err := decode.New(m.Signature(), decode.InputSpec{
		Sample: []int{1, 28, 28}, Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081},
	}, decode.OutputSpec{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	finite, ok := g.(group.Finite)
	if !ok {
		t.Fatal("C4 has no elements")
	}
	in, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 28, 28}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pictures := audittest.Pictures(24, 28, 28, 11)
	sample := func(i int) (dataset.Sample, error) {
		s, err := pictures(i)
		if img, ok := s.Value.(*space.Image); ok && err == nil {
			for k, v := range img.Pix {
				img.Pix[k] = math.Round(min(255, 2*v))
			}
		}
		return s, err
	}
	first, err := sample(0)
	if err != nil {
		t.Fatal(err)
	}
	return repair.Source{
		Model: m, Codec: c, Group: g, In: in, Out: action.Trivial{G: g}, Sample: first.Value,
		Answer: &space.Scores{Val: make([]float64, 10)}, Elements: finite.Elements(),
	}, sample, finite.Elements()
}

// clouds is a PointNet for furniture in space, with clouds that are drawn: long, broad and flat, and lopsided.
func clouds(t *testing.T) (repair.Source, func(i int) (dataset.Sample, error), []group.Element) {
	t.Helper()
	m, err := onnx.Read("../studies/clouds/models/pointnet_plain.onnx")
	if err != nil {
		t.Fatal(err)
	}
	g, err := catalog.Parse("SO(3)")
	if err != nil {
		t.Fatal(err)
	}
	sampler, ok := g.(group.Sampler)
	if !ok {
		t.Fatal("SO(3) is not drawn from")
	}
	r := rand.New(rand.NewPCG(4, 0))
	elements := []group.Element{g.Identity()}
	for range 2 {
		elements = append(elements, sampler.Sample(r))
	}
	sample := func(i int) (dataset.Sample, error) {
		r := rand.New(rand.NewPCG(9, uint64(i)))
		x := space.NewRows(48, 3)
		x.Type = space.TypePositions
		for k := range x.Val {
			v := r.NormFloat64()
			x.Val[k] = []float64{0.5, 0.3, 0.15}[k%3] * (v + 0.3*v*v)
		}
		return dataset.Sample{ID: strconv.Itoa(i), Value: x}, nil
	}
	spec := space.Spec{Name: "points", Kind: space.KindRows, Type: space.TypePositions, Shape: []int{-1, 3}}
	c, err := decode.NewRecord(m.Signature(), decode.RecordSpec{
		Sample: spec, Inputs: []decode.InputField{{Port: m.Signature().Inputs[0].Name}},
	})
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.Rules().For(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := sample(0)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := opened(t, m, c).Predict(t.Context(), []space.Value{first.Value})
	if err != nil {
		t.Fatal(err)
	}
	return repair.Source{
		Model: m, Codec: c, Group: g, In: in, Out: action.Trivial{G: g}, Sample: first.Value, Answer: answers[0],
	}, sample, elements
}
