package decode_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
)

func random(t *rapid.T, label string, c, h, w int) *space.Image {
	return &space.Image{C: c, H: h, W: w, Pix: rapid.SliceOfN(rapid.Float64Range(-3, 3), c*h*w, c*h*w).Draw(t, label)}
}

func dot(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// Laws: Encode(x + v) - Encode(x) = Linear(v) in float64, and <Linear(v), g> = <v, Adjoint(g)>.
func TestLinearAndAdjoint(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		c := rapid.SampledFrom([]struct {
			data, model int
			order       string
		}{
			{1, 1, ""},
			{3, 3, ""},
			{3, 3, "bgr"},
			{3, 3, "rgb"},
			{1, 3, "rgb"},
			{1, 3, "bgr"},
			{3, 1, "grey"},
			{1, 1, "grey"},
		}).Draw(t, "channels")
		shape := rapid.SampledFrom([][]any{
			{"N", c.model, 2, 3},
			{"N", 2, 3, c.model},
			{4, c.model, 2, 3},
			{"N", 6 * c.model},
		}).Draw(t, "shape")
		in := decode.InputSpec{
			Sample: []int{c.data, 2, 3}, Channels: c.order, Scale: 255, Mean: []float64{0.5},
			Std: []float64{0.25},
		}
		if c.model == 3 {
			in.Mean, in.Std = []float64{0.1, 0.2, 0.3}, []float64{0.5, 0.25, 2}
		}
		if len(shape) == 4 && shape[1] == 2 {
			in.Layout = "NHWC"
		}
		k, err := decode.New(sig(tt, tensor.Float32, shape, "N", 10), in, decode.OutputSpec{})
		if err != nil {
			t.Fatal(err)
		}
		x := []*space.Image{random(t, "x0", c.data, 2, 3), random(t, "x1", c.data, 2, 3)}
		v := []*space.Image{random(t, "v0", c.data, 2, 3), random(t, "v1", c.data, 2, 3)}
		sum := make([]space.Value, 2)
		var flat []float64
		for i := range x {
			s := space.NewImage(c.data, 2, 3)
			for j := range s.Pix {
				s.Pix[j] = x[i].Pix[j] + v[i].Pix[j]
			}
			sum[i] = s
			flat = append(flat, v[i].Pix...)
		}
		double := decode.Double(k)
		a, err := double.Encode([]space.Value{x[0], x[1]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := double.Encode(sum, nil)
		if err != nil {
			t.Fatal(err)
		}
		lin, err := decode.Linear(k, []space.Value{v[0], v[1]})
		if err != nil {
			t.Fatal(err)
		}
		l := numbers(t, lin[0].Tensor)
		va, vb := numbers(t, a[0].Tensor), numbers(t, b[0].Tensor)
		if len(l) != 12*c.model || lin[0].Name != "x" {
			t.Fatalf("%s of %d numbers", lin[0].Name, len(l))
		}
		for i := range l {
			if d := math.Abs(vb[i] - va[i] - l[i]); !(d < 1e-12) {
				t.Fatalf("number %d: encoding moves by %g, its linear part by %g", i, vb[i]-va[i], l[i])
			}
		}
		g := rapid.SliceOfN(rapid.Float64Range(-3, 3), len(l), len(l)).Draw(t, "g")
		gt, err := decode.Rounded(tensor.Float64, g, lin[0].Shape...)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode.Adjoint(k, []tensor.Named{{Name: "x", Tensor: gt}}, []space.Value{x[0], x[1]})
		if err != nil {
			t.Fatal(err)
		}
		var flatBack []float64
		for _, b := range back {
			flatBack = append(flatBack, numbers(t, b.Parts()[0].Tensor)...)
		}
		if d := math.Abs(dot(l, g) - dot(flat, flatBack)); !(d < 1e-12) {
			t.Fatalf("<Lv, g> and <v, L*g> are %g apart", d)
		}
	})
}

func numbers(t *rapid.T, x tensor.Tensor) []float64 {
	v, err := x.Float64s(nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Law: Decode(Raw(y)) = y, for the model's own numbers.
func TestRawIsTheInverse(t *testing.T) {
	for _, c := range []struct {
		in, out []any
		how     decode.OutputSpec
		y       space.Value
	}{
		{axes("N", 3, 2, 2), axes("N", 4), decode.OutputSpec{}, &space.Scores{Val: []float64{1, 2, 3, 4}}},
		{
			axes("N", 3, 2, 2), axes("N", 4, 1, 1),
			decode.OutputSpec{Decode: "logits"},
			&space.Scores{Val: []float64{1, 2, 3, 4}},
		},
		{
			axes("N", 3, 2, 2), axes("N", "C", 1, 1),
			decode.OutputSpec{Decode: "probabilities"},
			&space.Scores{Val: []float64{1, 2, 3, 4}},
		},
		{axes("N", 3, 2, 2), axes("N", 2, 1, 2), decode.OutputSpec{Space: space.KindImage}, ramp(2, 1, 2)},
		{axes("N", 2, 2, 3), axes("N", 1, 2, 2), decode.OutputSpec{Space: space.KindImage}, ramp(2, 1, 2)},
		{axes("N", 3, 2, 2), axes("N", 1, 2), decode.OutputSpec{Space: space.KindImage}, ramp(1, 1, 2)},
		{
			axes("N", 3, 2, 2), axes("N", 2, "K"),
			decode.OutputSpec{Space: space.KindTensor},
			&space.Tensor{Shape: []int{2, 3}, Val: []float64{1, 2, 3, 4, 5, 6}},
		},
	} {
		in := decode.InputSpec{Sample: []int{3, 2, 2}}
		k, err := decode.New(sig(t, tensor.Float32, c.in, c.out...), in, c.how)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := decode.Raw(k, []space.Value{c.y, c.y})
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode.Plain(k).Decode([]tensor.Named{raw}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[1].Dims(), c.y.Dims()) || !slices.Equal(floats(t, got[1].Parts()[0]),
			floats(t, c.y.Parts()[0])) {
			t.Errorf("%v to %v: %v, want %v", c.in, c.out, got[1], c.y)
		}
	}
	k, err := decode.New(sig(t, tensor.Float32, axes("N", 3, 2, 2), "N", 5, 2, 2), decode.InputSpec{},
		decode.OutputSpec{Space: space.KindMask})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode.Raw(k, []space.Value{&space.Mask{H: 2, W: 2, Label: make([]int32, 4)}}); !errors.Is(err,
		decode.ErrNotLinear) {
		t.Error(err)
	}
	k, err = decode.New(sig(t, tensor.Uint8, axes("N", 3, 2, 2), "N", 5), decode.InputSpec{}, decode.OutputSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode.Linear(k, []space.Value{ramp(3, 2, 2)}); !errors.Is(err, decode.ErrNotLinear) {
		t.Error(err)
	}
}

// Law: Rounded and Float64s undo each other for numbers that the type holds, and rounding is monotone.
func TestRounded(t *testing.T) {
	for _, d := range []tensor.DType{
		tensor.Float64, tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Uint8, tensor.Int8, tensor.Uint16,
		tensor.Int16,
		tensor.Uint32, tensor.Int32, tensor.Uint64, tensor.Int64, tensor.Bool,
	} {
		want := []float64{0, 1, 1, 0}
		x, err := decode.Rounded(d, want, 2, 2)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Float64s(nil)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(x.Shape, []int{2, 2}) {
			t.Errorf("%s: %v, %v", d, got, err)
		}
	}
	for d, want := range map[tensor.DType][]float64{
		tensor.Uint8: {0, 2, 255, 0}, tensor.Int8: {-3, 2, 127, 0}, tensor.Int64: {-3, 2, 1000, 0},
		tensor.Int16: {-3, 2, 1000, 0},
	} {
		x, err := decode.Rounded(d, []float64{-3.2, 2.5, 1000, math.NaN()}, 4)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := x.Float64s(nil); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", d, got, want)
		}
	}
	if _, err := decode.Rounded(tensor.Float32, []float64{1}, 2); err == nil {
		t.Error("one number for two places")
	}
	if _, err := decode.Rounded(tensor.Undefined, []float64{1}, 1); err == nil {
		t.Error("no type")
	}
}

// A codec of tensors feeds them as they are, fills a fixed batch up, and refuses what does not fit.
func TestTensors(t *testing.T) {
	k, err := decode.NewTensors(sig(t, tensor.Float32, axes(3, 2), 3, 2), decode.OutputSpec{Space: space.KindTensor})
	if err != nil {
		t.Fatal(err)
	}
	v := func(x ...float64) space.Value { return &space.Tensor{Shape: []int{len(x)}, Val: x} }
	in, err := k.Encode([]space.Value{v(1, 2), v(3, 4)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := floats(t, in[0]); !slices.Equal(got, []float64{1, 2, 3, 4, 3, 4}) || decode.BatchLimit(k) != 3 {
		t.Errorf("%v", got)
	}
	lin, err := decode.Linear(k, []space.Value{v(1, 2), v(3, 4)})
	if err != nil || lin[0].DType != tensor.Float64 || !slices.Equal(lin[0].Shape, []int{2, 2}) {
		t.Errorf("%v, %v", lin, err)
	}
	back, err := decode.Adjoint(k, lin, []space.Value{v(0, 0), v(0, 0)})
	if err != nil || !slices.Equal(floats(t, back[1].Parts()[0]), []float64{3, 4}) {
		t.Errorf("%v, %v", back, err)
	}
	for _, bad := range [][]space.Value{nil, {v(1, 2, 3)}, {v(1, 2), v(1, 2), v(1, 2), v(1, 2)}, {ramp(1, 1, 2)}} {
		if _, err := k.Encode(bad, nil); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
