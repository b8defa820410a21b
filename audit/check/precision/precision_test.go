package precision_test

import (
	"math"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/endtoend"
	"nero/audit/check/lattice"
	"nero/audit/check/precision"
	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
)

const inputs = 100

// radius is f(x) = ‖x‖² + ε·(x₁ + 2x₂), through a cast to another type and back if to is not 0.
func radius(t *testing.T, eps float32, to onnxpb.TensorProto_DataType) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	if to != 0 {
		x = b.Op("Cast", []string{x}, onnx.AttrInt("to", int64(to)))
		x = b.Op("Cast", []string{x}, onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
	}
	w := b.Const(tensor.FromFloat32([]float32{eps, 2 * eps}, 2, 1))
	square := b.Op("ReduceSum", []string{b.Op("Mul", []string{x, x}), b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	y := b.Op("Add", []string{square, b.Op("MatMul", []string{x, w})})
	b.Graph().Node[len(b.Graph().Node)-1].Output[0] = "y"
	_ = y
	b.Output("y", tensor.Float32, "N", 1)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// audited is the audit of a graph under the turns by multiples of 30 degrees.
func audited(t *testing.T, m *onnx.Model) *audit.Report {
	t.Helper()
	g := catalog.SO2()
	s := &audit.Subject{
		Name: "radius", Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}, audittest.Angles(12)...),
		N: inputs, Sample: audittest.Vectors(inputs, 3), Seed: 1,
	}
	audittest.Graph(t, s, m, audittest.Tensors(t, m))
	return audittest.Audit(t, audittest.Fixture{Subject: s}, precision.Check, lattice.Check, endtoend.Check)
}

func clue(t *testing.T, r *audit.Report, name audit.ClueName) audit.Clue {
	t.Helper()
	for _, c := range r.Clues() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no clue %s", name)
	return audit.Clue{}
}

func TestSlope(t *testing.T) {
	clean := audited(t, radius(t, 0, 0))
	if clean.Verdict != audit.Passed {
		t.Errorf("clean: %s %q", clean.Verdict, clean.Reasons)
	}
	set := clean.Sets()[1] // the turns by 30 degrees, whose matrices are not exact in float32
	if set.Slope == nil || !set.Slope.Rounding() || set.Slope.Factor() < 1<<20 {
		t.Fatalf("clean: slope %v", set.Slope)
	}
	if set.Cause != audit.CauseRoundoff || set.Level != audit.LevelExact {
		t.Errorf("clean: %s, %s", set.Cause, set.Level)
	}
	if !clue(t, clean, audit.ClueSlopeRounding).Holds && clean.Sets()[0].Worst.Value > 0 {
		t.Error("clean: no clue for rounding")
	}
	if clue(t, clean, audit.ClueSlopeViolation).Holds || clue(t, clean, audit.ClueReducedPrecision).Holds {
		t.Errorf("clean: clues %+v", clean.Clues())
	}

	// A break below ten times the rounding floor: the floor alone would call it rounding.
	tiny := audited(t, radius(t, 1e-6, 0))
	for _, s := range tiny.Sets() {
		if s.Cause != audit.CauseViolation {
			t.Errorf("tiny break, %s: %s, error %g, floor %g, %v", s.Name, s.Cause, s.Worst.Value, s.Floors.Rounding,
				s.Slope)
		}
		if s.Level == audit.LevelExact {
			t.Errorf("tiny break, %s: a violation is called exact", s.Name)
		}
	}
	if c := clue(t, tiny, audit.ClueSlopeViolation); !c.Holds || len(c.Evidence) == 0 {
		t.Errorf("tiny break: %+v", c)
	}

	large := audited(t, radius(t, 0.1, 0))
	if large.Verdict != audit.Failed || !clue(t, large, audit.ClueSlopeViolation).Holds {
		t.Errorf("large break: %s", large.Verdict)
	}
}

func TestReducedPrecision(t *testing.T) {
	for _, to := range []onnxpb.TensorProto_DataType{onnxpb.TensorProto_FLOAT16, onnxpb.TensorProto_BFLOAT16} {
		r := audited(t, radius(t, 0, to))
		c := clue(t, r, audit.ClueReducedPrecision)
		if !c.Holds || c.Location == "" || !strings.Contains(c.Text, strings.ToLower(to.String())) {
			t.Errorf("%s: %+v", to, c)
		}
		if clue(t, r, audit.ClueSlopeRounding).Holds && to == onnxpb.TensorProto_BFLOAT16 {
			t.Errorf("%s: the cast is part of the model and stays in float64", to)
		}
	}
}

// Without a float64 form the floors stand in, the report says so, and PASS is still possible, but not the level exact.
func TestWithoutReference(t *testing.T) {
	g := catalog.SO2()
	s := &audit.Subject{
		Name: "closed", Predictor: audittest.Radius(0),
		Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}, audittest.Angles(12)...),
		N:    inputs, Sample: audittest.Vectors(inputs, 3), Seed: 1,
		NoReference: "operator Magic of node m is not known",
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, precision.Check, lattice.Check, endtoend.Check)
	if r.Verdict != audit.Passed {
		t.Errorf("%s: %q", r.Verdict, r.Reasons)
	}
	for _, x := range r.Results {
		if x.Check == precision.Check && (x.Status != audit.NotTested || !strings.Contains(x.Reason, "Magic") ||
			!strings.Contains(x.Reason, "rounding floor")) {
			t.Errorf("%s: %s", x.Status, x.Reason)
		}
	}
	for _, set := range r.Sets() {
		if set.Level == audit.LevelExact && set.Worst.Value > 0 {
			t.Errorf("%s: exact without float64", set.Name)
		}
	}
	p, err := audit.NewPolicy("", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.Required = []string{"precision"}
	if r := audittest.Audit(t, audittest.Fixture{Subject: s, Policy: p}, precision.Check,
		lattice.Check); r.Verdict != audit.NeedsAttention {
		t.Errorf("required and not tested: %s", r.Verdict)
	}
}

func TestFactor(t *testing.T) {
	at := func(x float64) audit.Interval { return audit.Interval{Value: x} }
	for _, c := range []struct {
		single, double     float64
		rounding, violates bool
	}{
		{1e-7, 2e-16, true, false},
		{1e-7, 0, true, false},
		{0, 0, false, false},
		{1, 1, false, true},
		{1e-7, 9e-8, false, true},
		{1e-5, 1e-7, false, false},
		{0, 1e-17, false, false},     // the model sums in a symmetric order, float64 in another
		{1e-16, 2e-16, false, false}, // the model computes in float64 itself
		{0, 1e-3, false, true},
		{math.NaN(), 1, false, false},
		{1, math.NaN(), false, false},
	} {
		s := &audit.Slope{Single: at(c.single), Double: at(c.double)}
		if s.Rounding() != c.rounding || s.Violation() != c.violates {
			t.Errorf("%g, %g: rounding %v, violation %v", c.single, c.double, s.Rounding(), s.Violation())
		}
		if s.String() == "" {
			t.Error("says nothing")
		}
	}
}
