package repair

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/oracle"
	"nero/symmetry/group"
)

// exactly opens a model in float64, to be differentiated.
func exactly(t *testing.T, m *onnx.Model, c decode.Codec) *interior.Model {
	t.Helper()
	x, err := interior.New(m, c, func(ctx context.Context, b []byte) (engine.Session, error) {
		return oracle.Engine(oracle.Options{Round: oracle.Float64}).Open(ctx, b, engine.Options{Threads: 1})
	}, interior.Options{Body: "float64", Double: true})
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

// answersOf are the numbers of one output of a model.
func answersOf(t *testing.T, x *interior.Model, output string, in [][]interior.Array) [][]float64 {
	t.Helper()
	got, err := x.Values(t.Context(), in, []string{output})
	if err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	for _, g := range got {
		out = append(out, g[0].Val)
	}
	return out
}

// Derivatives of repaired graphs are those of what the graphs say: vector-Jacobian products, as training and saliency
// maps take them, against central differences in float64 of the same output, away from ties. A pose that is sampled
// bilinearly has kinks at the borders between pixels; what they make shrinks with the step.
func TestDerivativesOfRepairedGraphs(t *testing.T) {
	pictures := func(claim string) func(t *testing.T) Source {
		return func(t *testing.T) Source {
			t.Helper()
			s := picturesOf(t, dense(t, 13, 0, 1, 12, 12), claim, "NCHW", 1, 12, 12)
			if f, ok := s.Group.(group.Finite); ok {
				s.Elements = f.Elements()
			}
			return s
		}
	}
	points := func(claim string) func(t *testing.T) Source {
		return func(t *testing.T) Source {
			t.Helper()
			m := lopsided(t, 13)
			s := sourceOf(t, m, claim, lopsidedOutputs(m), 0, cloudOf(rand.New(rand.NewPCG(1, 0)), 9))
			if f, ok := s.Group.(group.Finite); ok {
				s.Elements = f.Elements()
			}
			return s
		}
	}
	for _, c := range []struct {
		method string
		source func(t *testing.T) Source
		// of the difference, beside the derivative
		limit float64
	}{
		{"average", pictures("C4"), 1e-7},
		{"average:of=probabilities", pictures("C4"), 1e-7},
		{"average", pictures("C8"), 1e-7},
		{"select", pictures("C4"), 1e-7},
		{"pose", pictures("SE(2)"), 1e-3},
		{"average", points("Tetra"), 1e-7},
		{"frame", points("SE(3)"), 1e-6},
		{"frame:smooth=4", points("SO(3)"), 1e-6},
		{"pose", points("O(3)"), 1e-6},
	} {
		s := c.source(t)
		t.Run(c.method+" over "+s.Group.Name(), func(t *testing.T) {
			x := exactly(t, repaired(t, s, c.method), s.Codec)
			outputs := s.Model.Signature().Outputs
			r := rand.New(rand.NewPCG(7, 0))
			for draw := range 3 {
				var v space.Value = &space.Rows{N: 9, W: 3, Val: cloudOf(r, 9), Type: space.TypePositions}
				if len(s.Sample.Dims()) == 3 {
					v = blots(r, 1, 12, 12)
				}
				in, err := x.Arrays(t.Context(), []space.Value{v})
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range outputs {
					derivative(t, x, o.Name, in[0], r, c.limit, fmt.Sprintf("%d: %s", draw, o.Name))
				}
			}
		})
	}
}

// derivative holds one vector-Jacobian product against central differences along one direction.
func derivative(t *testing.T, x *interior.Model, output string, at []interior.Array, r *rand.Rand, limit float64,
	name string,
) {
	t.Helper()
	y := answersOf(t, x, output, [][]interior.Array{at})[0]
	got, err := x.Values(t.Context(), [][]interior.Array{at}, []string{output})
	if err != nil {
		t.Fatal(err)
	}
	cot := interior.Array{Shape: got[0][0].Shape, Val: make([]float64, len(y))}
	for i := range cot.Val {
		cot.Val[i] = r.NormFloat64()
	}
	pulled, err := x.PullFrom(t.Context(), output, [][]interior.Array{at}, []interior.Array{cot}, x.Moving()[:1])
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, len(at[0].Val))
	want, size := 0.0, 0.0
	for i := range v {
		v[i] = r.NormFloat64()
		want += pulled[0][0].Val[i] * v[i]
		size += pulled[0][0].Val[i] * pulled[0][0].Val[i]
	}
	along := func(h float64) float64 {
		var both [][]interior.Array
		for _, sign := range []float64{1, -1} {
			moved := []interior.Array{{Shape: at[0].Shape, Val: make([]float64, len(v))}}
			for i := range v {
				moved[0].Val[i] = at[0].Val[i] + sign*h*v[i]
			}
			both = append(both, moved)
		}
		y := answersOf(t, x, output, both)
		d := 0.0
		for i, c := range cot.Val {
			d += c * (y[0][i] - y[1][i])
		}
		return d / (2 * h)
	}
	best := math.Inf(1)
	for _, h := range []float64{1e-4, 1e-5, 1e-6} {
		best = min(best, math.Abs(along(h)-want)/math.Sqrt(size))
	}
	if !(size > 0) || !(best <= limit) {
		t.Errorf("%s: the derivative is %g, central differences are %.2g of its size away (%g)", name, want, best,
			along(1e-5))
	}
}

// potential answers an energy that turns do not keep, and its forces, minus the gradient, in closed form:
// E = Σ (a·x)⁴ and F = -4 (a·x)³ a for each point.
func potential(t *testing.T) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "n", "p", 3)
	a := []float32{0.7, -0.4, 0.25}
	dot := b.Op("MatMul", []string{x, b.Const(tensor.FromFloat32(a, 3, 1))})
	square := b.Op("Mul", []string{dot, dot})
	fourth := b.Op("ReduceSum", []string{b.Op("Mul", []string{square, square}), b.Ints(1)}, onnx.AttrInt("keepdims", 0))
	cube := b.Op("Mul", []string{square, dot})
	down := b.Const(tensor.FromFloat32([]float32{-4 * a[0], -4 * a[1], -4 * a[2]}, 1, 3))
	b.Output(fourth, tensor.Float32, "n", 1)
	b.Output(b.Op("MatMul", []string{cube, down}), tensor.Float32, "n", "p", 3)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Forces stay minus the gradient of the energy where poses are fixed, as for the average over a finite group, and do
// not where they move with the points: the methods say so.
func TestForcesAndTheirEnergy(t *testing.T) {
	m := potential(t)
	o := m.Signature().Outputs
	outputs := []decode.OutputField{
		{Name: "energy", Port: o[0].Name, Type: space.TypeUnchanged, Per: space.PerSample},
		{Name: "forces", Port: o[1].Name, Type: space.TypeVectors, Per: space.PerNode},
	}
	for _, c := range []struct {
		claim, method string
		kept          bool
	}{
		{"Tetra", "average", true},
		{"SO(3)", "frame", false},
		{"SO(3)", "frame:smooth=4", false},
		{"SO(3)", "pose", false},
	} {
		t.Run(c.method, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 0))
			s := sourceOf(t, m, c.claim, outputs, 0, cloudOf(r, 7))
			if f, ok := s.Group.(group.Finite); ok {
				s.Elements = f.Elements()
			}
			x := exactly(t, repaired(t, s, c.method), s.Codec)
			in, err := x.Arrays(t.Context(), []space.Value{&space.Rows{N: 7, W: 3, Val: cloudOf(r, 7)}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := x.Values(t.Context(), in, []string{o[0].Name, o[1].Name})
			if err != nil {
				t.Fatal(err)
			}
			one := interior.Array{Shape: got[0][0].Shape, Val: []float64{1}}
			grad, err := x.PullFrom(t.Context(), o[0].Name, in, []interior.Array{one}, []string{"x"})
			if err != nil {
				t.Fatal(err)
			}
			off, size := 0.0, 0.0
			for i, f := range got[0][1].Val {
				d := f + grad[0][0].Val[i]
				off, size = off+d*d, size+f*f
			}
			off = math.Sqrt(off / size)
			if c.kept && !(off <= 1e-9) || !c.kept && !(off > 1e-3) {
				t.Errorf("forces are %g of their size away from minus the gradient", off)
			}
			a, err := Parse(c.method)
			if err != nil {
				t.Fatal(err)
			}
			if (a.Forces() == "") != c.kept {
				t.Errorf("the method says %q", a.Forces())
			}
		})
	}
}
