package gradient_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/gradient"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/slow"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
)

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

func digits(tb testing.TB, name string) *interior.Model {
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
	return x
}

// Of the shipped models, c4 keeps its gradients under quarter turns up to rounding, and original does not.
func TestDigits(t *testing.T) {
	slow.Test(t)
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 28, 28}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan := audittest.Plan(t, in, action.Trivial{G: g})
	fixture := func(name string, want ...audittest.Want) audittest.Fixture {
		s := subject(name, digits(t, name), plan, 24, strokes)
		s.Input = job.Input{Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081}}
		s.OutputUnit = audit.Logits
		s.Reference = double(t, s.Interior)
		return audittest.Fixture{Subject: s, Want: want}
	}
	audittest.Run(t, gradient.Check,
		fixture("original", audittest.Want{Category: audit.Gradient, Message: "gradients change by"}), fixture("c4"))
	r := resultOf(t, audittest.Audit(t, fixture("c4"), gradient.Check))
	for _, e := range r.Measures {
		t.Logf("%s: %s %s", e.Name, audit.Interval{Value: e.Value, Lo: e.Lo, Hi: e.Hi}, e.Unit)
		if strings.Contains(e.Name, "rounding floor") && !(e.Value > 1e-9 && e.Value < 1e-5) {
			t.Errorf("%s: %g", e.Name, e.Value)
		}
		if strings.Contains(e.Name, "along the parameters themselves") && !(e.Value < 1e-4) {
			t.Errorf("%s: %g", e.Name, e.Value)
		}
	}
}
