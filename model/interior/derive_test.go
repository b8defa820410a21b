package interior_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/slow"
	"nero/model/decode"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/onnx/vjp"
)

func normal(shape []int, r *rand.Rand) interior.Array {
	a := interior.Array{Shape: shape, Val: make([]float64, tensor.Count(shape))}
	for i := range a.Val {
		a.Val[i] = float64(float32(r.NormFloat64()))
	}
	return a
}

func inner(a, b interior.Array) (s, size float64) {
	var x, y float64
	for i := range a.Val {
		s += a.Val[i] * b.Val[i]
		x += a.Val[i] * a.Val[i]
		y += b.Val[i] * b.Val[i]
	}
	return s, math.Sqrt(x * y)
}

// Law: <J·v, c> = <v, Jᵀ·c> for every input and inner value, which the two directions compute with nothing in common;
// and J·v is what a small step measures.
func TestPullAndPush(t *testing.T) {
	for _, name := range models {
		t.Run(name, func(t *testing.T) {
			if name == "points" {
				t.Skip("of an operator set that has no gradients")
			}
			if name == "attention" {
				slow.Test(t)
			}
			if everyLayer(t) > 1 && name != "residual" && name != "attention" {
				t.Skip("takes long here")
			}
			m := read(t, file(name))
			x := tensorModel(t, m, interior.Options{Batch: 2})
			in, err := x.Arrays(t.Context(), noise(m, 3, 1))
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(7, 7))
			y, err := x.Values(t.Context(), in, []string{x.Output()})
			if err != nil {
				t.Fatal(err)
			}
			cot := make([]interior.Array, len(in))
			for i := range cot {
				cot[i] = normal(y[i][0].Shape, r)
			}
			names := x.Inputs()
			for i, l := range x.Layers()[1:] {
				if i%everyLayer(t) != 0 {
					continue
				}
				names = append(names, l.Produced[0])
			}
			for _, v := range names {
				at, err := x.Values(t.Context(), in, []string{v})
				if err != nil {
					t.Fatal(err)
				}
				back, err := x.Pull(t.Context(), in, cot, []string{v})
				if errors.Is(err, vjp.ErrNoPath) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				tan := make([][]interior.Array, len(in))
				for i := range tan {
					tan[i] = []interior.Array{normal(at[i][0].Shape, r)}
				}
				out, err := x.Push(t.Context(), in, []string{v}, tan)
				if err != nil {
					t.Fatal(err)
				}
				for i := range in {
					a, size := inner(out[i], cot[i])
					b, other := inner(tan[i][0], back[i][0])
					if d := math.Abs(a - b); !(d <= 1e-5*math.Max(size, other)) {
						t.Errorf("%s, sample %d: <Jv, c> = %g, <v, Jᵀc> = %g", v, i, a, b)
					}
				}
			}
		})
	}
}

// The derivative by the input is what small steps measure.
func TestPushMeetsDifferences(t *testing.T) {
	m := read(t, file("attention"))
	x := tensorModel(t, m, interior.Options{})
	values := noise(m, 2, 3)
	changes := noise(m, 2, 4)
	got, err := x.Tangent(t.Context(), values, changes)
	if err != nil {
		t.Fatal(err)
	}
	step := func(h float64) []space.Value {
		out := make([]space.Value, len(values))
		for i := range out {
			a, b := array(t, values[i]), array(t, changes[i])
			for k := range b.Val {
				b.Val[k] = a.Val[k] + h*b.Val[k]
			}
			out[i] = &space.Tensor{Shape: a.Shape, Val: b.Val}
		}
		y, err := x.Predict(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	const h = 1e-2 // the best of a central difference in float32 is near u^(1/3)
	up, down := step(h), step(-h)
	for i := range got {
		a, b, d := array(t, up[i]), array(t, down[i]), array(t, got[i])
		for k := range a.Val {
			a.Val[k] = (a.Val[k] - b.Val[k]) / (2 * h)
		}
		if e := apart(t, d, a); !(e < 5e-3) {
			t.Errorf("sample %d: %g apart", i, e)
		}
	}
}

// array copies a value's numbers.
func array(tb testing.TB, v space.Value) interior.Array {
	tb.Helper()
	p := v.Parts()[0]
	x, err := p.Float64s(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return interior.Array{Shape: p.Shape, Val: x}
}

// quadratic is y = Σ_k w_k·x_k² with a batch axis of its own kind.
func quadratic(tb testing.TB, batch any) *onnx.Model {
	tb.Helper()
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, batch, 1, 2, 2)
	b.Graph().Initializer = append(b.Graph().Initializer,
		onnx.Stored("w", tensor.FromFloat32([]float32{1, 2, 3, 4}, 4, 1)))
	y := b.Op("MatMul", []string{b.Op("Flatten", []string{b.Op("Mul", []string{x, x})}), "w"})
	b.Output(y, tensor.Float32, batch, 1)
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// Gradients are in the unit of the sample, rows that fill up a fixed batch do not count in those of parameters, and the
// size of the batch changes nothing.
func TestGradientsInClosedForm(t *testing.T) {
	for _, c := range []struct {
		batch any
		size  int
	}{{"N", 1}, {"N", 2}, {1, 1}, {4, 4}} {
		m := quadratic(t, c.batch)
		k, err := decode.New(m.Signature(), decode.InputSpec{
			Sample: []int{3, 2, 2}, Channels: "grey", Scale: 255,
			Mean: []float64{0.5}, Std: []float64{0.25},
		},
			decode.OutputSpec{Decode: "raw"})
		if err != nil {
			t.Fatal(err)
		}
		x, err := interior.New(m, k, opener(t), interior.Options{Batch: c.size})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		values, cots := make([]space.Value, 5), make([]space.Value, 5)
		images, weights := make([]*space.Image, 5), []float64{1, -2, 3, 0.5, 7}
		for i := range values {
			images[i] = space.NewImage(3, 2, 2)
			for p := range images[i].Pix {
				images[i].Pix[p] = math.Round(255 * r.Float64())
			}
			values[i], cots[i] = images[i], &space.Scores{Val: []float64{weights[i]}}
		}
		got, err := x.Gradient(t.Context(), values, cots)
		if err != nil {
			t.Fatal(err)
		}
		grey := [3]float64{0.299, 0.587, 0.114}
		var wantW [4]float64
		for i := range got {
			g := array(t, got[i])
			if !slices.Equal(g.Shape, []int{3, 2, 2}) {
				t.Fatalf("shape %v", g.Shape)
			}
			for p := range 4 {
				u := 0.0
				for c := range grey {
					u += grey[c] * images[i].Plane(c)[p]
				}
				u = (u/255 - 0.5) / 0.25
				wantW[p] += weights[i] * u * u
				for c := range grey {
					want := weights[i] * 2 * float64(p+1) * u / 0.25 / 255 * grey[c]
					if d := math.Abs(g.Val[c*4+p] - want); !(d < 1e-6) {
						t.Errorf("batch %v, sample %d, channel %d, pixel %d: %g, want %g", c, i, c, p, g.Val[c*4+p],
							want)
					}
				}
			}
		}
		if got := x.Parameters(); !slices.Equal(got, []string{"w"}) {
			t.Errorf("parameters %q", got)
		}
		in, err := x.Arrays(t.Context(), values)
		if err != nil {
			t.Fatal(err)
		}
		cot, err := x.Cotangents(t.Context(), cots)
		if err != nil {
			t.Fatal(err)
		}
		w, err := x.PullParameters(t.Context(), in, cot, []string{"w"})
		if err != nil {
			t.Fatal(err)
		}
		for p := range 4 {
			if d := math.Abs(w[0].Val[p] - wantW[p]); !(d < 1e-4*math.Abs(wantW[p])+1e-5) {
				t.Errorf("batch %v: parameter %d: %g, want %g", c, p, w[0].Val[p], wantW[p])
			}
		}
		// J·v against <gradient, v>, one sample at a time.
		v := make([]space.Value, 5)
		for i := range v {
			v[i] = images[(i+1)%5]
		}
		moved, err := x.Tangent(t.Context(), values, v)
		if err != nil {
			t.Fatal(err)
		}
		for i := range moved {
			s, size := inner(array(t, got[i]), array(t, v[i]))
			if d := math.Abs(array(t, moved[i]).Val[0]*weights[i] - s); !(d < 1e-5*size) {
				t.Errorf("batch %v, sample %d: pushed %v, pulled %g", c, i, moved[i], s)
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNoDerivative(t *testing.T) {
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "N", 3, 4, 4)
	b.Output(b.Op("Relu", []string{x}), tensor.Float32, "N", 3, 4, 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	k, err := decode.New(m.Signature(), decode.InputSpec{}, decode.OutputSpec{Space: space.KindMask})
	if err != nil {
		t.Fatal(err)
	}
	o, err := interior.New(m, k, opener(t), interior.Options{})
	if err != nil {
		t.Fatal(err)
	}
	img := []space.Value{space.NewImage(3, 4, 4)}
	if _, err := o.Tangent(t.Context(), img, img); !errors.Is(err, decode.ErrNotLinear) {
		t.Error(err)
	}
	if _, err := o.Gradient(t.Context(), img,
		[]space.Value{&space.Mask{H: 4, W: 4, Label: make([]int32, 16)}}); !errors.Is(err, decode.ErrNotLinear) {
		t.Error(err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

// Samples of several sizes take gradients each in a graph of their own.
func TestGradientsOfSeveralSizes(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, "H", "W")
	y := b.Op("GlobalAveragePool", []string{b.Op("Mul", []string{x, x})})
	b.Output(y, tensor.Float32, "N", 1, 1, 1)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	k, err := decode.New(m.Signature(), decode.InputSpec{}, decode.OutputSpec{Decode: "raw"})
	if err != nil {
		t.Fatal(err)
	}
	o, err := interior.New(m, k, opener(t), interior.Options{})
	if err != nil {
		t.Fatal(err)
	}
	values, cots := make([]space.Value, 5), make([]space.Value, 5)
	for i, size := range [][2]int{{4, 4}, {4, 4}, {5, 3}, {4, 4}, {3, 5}} {
		img := space.NewImage(1, size[0], size[1])
		for p := range img.Pix {
			img.Pix[p] = float64(p - 2*i)
		}
		values[i], cots[i] = img, &space.Scores{Val: []float64{1}}
	}
	got, err := o.Gradient(t.Context(), values, cots)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		g, v := array(t, got[i]), array(t, values[i])
		for p := range g.Val {
			if want := 2 * v.Val[p] / float64(len(v.Val)); !slices.Equal(g.Shape, v.Shape) ||
				!(math.Abs(g.Val[p]-want) < 1e-5) {
				t.Fatalf("sample %d, pixel %d: %g, want %g", i, p, g.Val[p], want)
			}
		}
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}
