package decode_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
)

// sig is the signature of a model with one input and one output, both of the given types and shapes (int, or string for
// a free axis).
func sig(tb testing.TB, in tensor.DType, inShape []any, outShape ...any) onnx.Signature {
	tb.Helper()
	b := onnx.NewBuilder(13)
	x := b.Input("x", in, inShape...)
	y := b.Op("Relu", []string{x})
	b.Graph().Node[0].Output[0] = "y"
	_ = y
	b.Output("y", tensor.Float32, outShape...)
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m.Signature()
}

func axes(a ...any) []any { return a }

// ramp is an image whose pixels are 0, 1, 2, ...
func ramp(c, h, w int) *space.Image {
	m := space.NewImage(c, h, w)
	for i := range m.Pix {
		m.Pix[i] = float64(i)
	}
	return m
}

func floats(tb testing.TB, t tensor.Named) []float64 {
	tb.Helper()
	v, err := t.Float64s(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func TestEncodeLayouts(t *testing.T) {
	m := ramp(3, 1, 2) // R = 0 1, G = 2 3, B = 4 5
	g := ramp(1, 1, 2)
	for _, c := range []struct {
		name  string
		shape []any
		img   *space.Image
		in    decode.InputSpec
		want  []float64
		dims  []int
	}{
		{"NCHW", axes("N", 3, 1, 2), m, decode.InputSpec{}, []float64{0, 1, 2, 3, 4, 5}, []int{1, 3, 1, 2}},
		{
			"NHWC", axes("N", 1, 2, 3), m,
			decode.InputSpec{Sample: []int{3, 1, 2}},
			[]float64{0, 2, 4, 1, 3, 5},
			[]int{1, 1, 2, 3},
		},
		{
			"bgr", axes("N", 3, 1, 2), m,
			decode.InputSpec{Channels: "bgr"},
			[]float64{4, 5, 2, 3, 0, 1},
			[]int{1, 3, 1, 2},
		},
		{
			"NHWC bgr", axes("N", 1, 2, 3), m,
			decode.InputSpec{Channels: "BGR"},
			[]float64{4, 2, 0, 5, 3, 1},
			[]int{1, 1, 2, 3},
		},
		{
			"grey repeated", axes("N", 3, 1, 2), g,
			decode.InputSpec{Channels: "rgb"},
			[]float64{0, 1, 0, 1, 0, 1},
			[]int{1, 3, 1, 2},
		},
		{
			"colour to grey", axes("N", 1, 1, 2), m,
			decode.InputSpec{Channels: "grey"},
			[]float64{0.587*2 + 0.114*4, 0.299 + 0.587*3 + 0.114*5},
			[]int{1, 1, 1, 2},
		},
		{
			"per channel", axes("N", 3, 1, 2), m,
			decode.InputSpec{Scale: 2, Mean: []float64{1, 0, 0}, Std: []float64{1, 2, 0.5}},
			[]float64{-1, -0.5, 0.5, 0.75, 4, 5},
			[]int{1, 3, 1, 2},
		},
		{
			"mean follows the model's order", axes("N", 3, 1, 2), m,
			decode.InputSpec{Channels: "bgr", Mean: []float64{4, 2, 0}},
			[]float64{0, 1, 0, 1, 0, 1},
			[]int{1, 3, 1, 2},
		},
		{"all free", axes("N", "C", "H", "W"), m, decode.InputSpec{}, []float64{0, 1, 2, 3, 4, 5}, []int{1, 3, 1, 2}},
		{
			"all free, NHWC", axes("N", "a", "b", "c"), m,
			decode.InputSpec{Layout: "NHWC"},
			[]float64{0, 2, 4, 1, 3, 5},
			[]int{1, 1, 2, 3},
		},
		{
			"no channel axis", axes("N", 1, 2), g,
			decode.InputSpec{Sample: []int{1, 1, 2}},
			[]float64{0, 1},
			[]int{1, 1, 2},
		},
		{
			"no batch axis", axes(3, 1, 2), m,
			decode.InputSpec{Sample: []int{3, 1, 2}},
			[]float64{0, 1, 2, 3, 4, 5},
			[]int{3, 1, 2},
		},
		{
			"neither", axes(1, 2), g,
			decode.InputSpec{Sample: []int{1, 1, 2}, Layout: "HW"},
			[]float64{0, 1},
			[]int{1, 2},
		},
		{"a row", axes("N", 6), m, decode.InputSpec{Sample: []int{3, 1, 2}}, []float64{0, 1, 2, 3, 4, 5}, []int{1, 6}},
		{
			"a row, NHWC", axes("N", 6), m,
			decode.InputSpec{Sample: []int{3, 1, 2}, Layout: "NHWC"},
			[]float64{0, 2, 4, 1, 3, 5},
			[]int{1, 6},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := decode.New(sig(t, tensor.Float32, c.shape, "N", 10), c.in, decode.OutputSpec{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.Encode([]space.Value{c.img}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[0].Shape, c.dims) || got[0].Name != "x" {
				t.Errorf("%s%v, want x%v", got[0].Name, got[0].Shape, c.dims)
			}
			for i, v := range floats(t, got[0]) {
				if float32(v) != float32(c.want[i]) {
					t.Fatalf("%v, want %v", floats(t, got[0]), c.want)
				}
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	rgb := axes("N", 3, 32, 32)
	for _, c := range []struct {
		name  string
		shape []any
		in    decode.InputSpec
		out   decode.OutputSpec
		want  string
	}{
		{
			"grey data", rgb,
			decode.InputSpec{Sample: []int{1, 32, 32}},
			decode.OutputSpec{},
			"wants 3 channels, the data has 1; set input.channels: rgb to repeat it",
		},
		{
			"colour data", axes("N", 1, 32, 32),
			decode.InputSpec{Sample: []int{3, 32, 32}},
			decode.OutputSpec{},
			"wants 1 channel, the data has 3; set input.channels: grey",
		},
		{
			"grey asked, three read", rgb,
			decode.InputSpec{Sample: []int{3, 32, 32}, Channels: "grey"},
			decode.OutputSpec{},
			"input.channels: grey gives 1",
		},
		{
			"transparency", rgb,
			decode.InputSpec{Sample: []int{4, 32, 32}, Channels: "rgb"},
			decode.OutputSpec{},
			"data with 4 channels",
		},
		{
			"other size", rgb,
			decode.InputSpec{Sample: []int{3, 28, 30}},
			decode.OutputSpec{},
			"wants images of 32 x 32 (height x width), the data has 28 x 30",
		},
		{
			"layout against shape", rgb,
			decode.InputSpec{Sample: []int{3, 32, 32}, Layout: "NHWC"},
			decode.OutputSpec{},
			"check input.layout",
		},
		{"unknown layout", rgb, decode.InputSpec{Layout: "CNHW"}, decode.OutputSpec{}, "input.layout"},
		{"unknown order", rgb, decode.InputSpec{Channels: "cmyk"}, decode.OutputSpec{}, "input.channels"},
		{"five axes", axes("N", 3, 8, 32, 32), decode.InputSpec{}, decode.OutputSpec{}, "has 5 axes"},
		{
			"row of other length", axes("N", 784),
			decode.InputSpec{Sample: []int{1, 32, 32}},
			decode.OutputSpec{},
			"reads 784 numbers a sample, data of shape [1 32 32] has 1024",
		},
		{"row of unknown data", axes("N", 784), decode.InputSpec{}, decode.OutputSpec{}, "one known size"},
		{
			"two means", rgb,
			decode.InputSpec{Mean: []float64{1, 2}},
			decode.OutputSpec{},
			"input.mean has 2 values, the model reads 3 channels",
		},
		{"zero std", rgb, decode.InputSpec{Std: []float64{1, 0, 1}}, decode.OutputSpec{}, "input.std"},
		{"NaN mean", rgb, decode.InputSpec{Mean: []float64{math.NaN()}}, decode.OutputSpec{}, "input.mean"},
		{"infinite scale", rgb, decode.InputSpec{Scale: math.Inf(1)}, decode.OutputSpec{}, "input.scale"},
		{"no such output", rgb, decode.InputSpec{}, decode.OutputSpec{Name: "z"}, `no output "z"; there are y`},
		{"no such space", rgb, decode.InputSpec{}, decode.OutputSpec{Space: "voxels"}, "output.space"},
		{
			"no such decoding", rgb,
			decode.InputSpec{},
			decode.OutputSpec{Decode: "argmax"},
			`"argmax" does not make scores; say softmax or probabilities or logits or raw`,
		},
		{
			"scores as an image", rgb,
			decode.InputSpec{},
			decode.OutputSpec{Space: space.KindImage},
			"has 1 axes per sample",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode.New(sig(t, tensor.Float32, c.shape, "N", 10), c.in, c.out)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %q", err, c.want)
			}
		})
	}
	if _, err := decode.New(sig(t, tensor.Int64, rgb, "N", 10), decode.InputSpec{}, decode.OutputSpec{}); err == nil ||
		!strings.Contains(err.Error(), "not int64") {
		t.Errorf("int64 input: %v", err)
	}
	for shape, want := range map[string]string{
		"[N 21 32 32]": "set output.space: mask, image, field or tensor",
		"[N 1]":        "set output.decode: raw", "[]": "one number for the whole batch",
	} {
		out := map[string][]any{"[N 21 32 32]": axes("N", 21, 32, 32), "[N 1]": axes("N", 1), "[]": nil}[shape]
		if _, err := decode.New(sig(t, tensor.Float32, rgb, out...), decode.InputSpec{},
			decode.OutputSpec{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("scores from %s: %v, want %q", shape, err, want)
		}
	}
}

func TestSeveralInputs(t *testing.T) {
	b := onnx.NewBuilder(13)
	y := b.Op("Add", []string{
		b.Input("picture", tensor.Float32, "N", 1, 4, 4),
		b.Input("mask", tensor.Float32, "N", 1, 4, 4),
	})
	b.Output(y, tensor.Float32, "N", 1, 4, 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode.New(m.Signature(), decode.InputSpec{}, decode.OutputSpec{}); err == nil ||
		!strings.Contains(err.Error(), "2 inputs (picture, mask)") {
		t.Errorf("%v, want both names", err)
	}
	// With a value in the file the second need not be fed.
	b.Graph().Initializer = append(b.Graph().Initializer, onnx.Stored("mask", tensor.New(tensor.Float32, 1, 1, 4, 4)))
	if m, err = b.Model(); err != nil {
		t.Fatal(err)
	}
	if _, err := decode.New(m.Signature(), decode.InputSpec{}, decode.OutputSpec{Space: space.KindTensor}); err != nil {
		t.Error(err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	k, err := decode.New(sig(t, tensor.Float32, axes("N", 3, "H", "W"), "N", 10), decode.InputSpec{},
		decode.OutputSpec{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		batch []space.Value
		want  string
	}{
		{nil, "empty batch"},
		{
			[]space.Value{ramp(1, 4, 4)},
			"1 channel; input \"x\" wants any x any with 3 channels; set input.channels: rgb",
		},
		{
			[]space.Value{ramp(3, 4, 4), ramp(3, 5, 4)},
			"sample 1 of the batch: an image of 5 x 4 (height x width) in a batch of 4 x 4",
		},
		{[]space.Value{&space.Scores{}}, "of kind scores, want an image"},
		{[]space.Value{nil}, "is nothing"},
		{[]space.Value{&space.Image{C: 3, H: 4, W: 4, Pix: make([]float64, 5)}}, "5 values"},
	} {
		if _, err := k.Encode(c.batch, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Law: what is encoded is the formula in float64, rounded once, for any numbers, NaN and infinities included.
func TestEncodeIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1, 256),
			rapid.SampledFrom([]float64{0, 255, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1)})), 1,
			40).Draw(t, "pixels")
		scale := rapid.OneOf(rapid.Just(255.0), rapid.Float64Range(1e-3, 1e3),
			rapid.SampledFrom([]float64{1, 1e-200, 1e200})).Draw(t, "scale")
		mean := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-2, 2),
			rapid.SampledFrom([]float64{0.1307, v[0] / scale, 1e-40})).Draw(t, "mean")
		if math.IsNaN(mean) || math.IsInf(mean, 0) {
			mean = 0.5
		}
		std := rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(1e-3, 10),
			rapid.SampledFrom([]float64{0.3081, -1, 1e150})).Draw(t, "std")
		layout := rapid.SampledFrom([]string{"NCHW", "NHWC"}).Draw(t, "layout")
		in := decode.InputSpec{Layout: layout, Scale: scale, Mean: []float64{mean}, Std: []float64{std}}
		img := &space.Image{C: 1, H: 1, W: len(v), Pix: v}
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
			k, err := decode.New(cachedSig(d), in, decode.OutputSpec{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := k.Encode([]space.Value{img}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := out[0].Float64s(nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range v {
				want := (x/scale - mean) / std
				if d == tensor.Float32 {
					want = float64(float32(want))
				}
				if math.Float64bits(got[i]) != math.Float64bits(want) && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
					t.Fatalf("%s of pixel %v: %v, want %v", d, x, got[i], want)
				}
			}
		}
	})
}

// cachedSig is the signature of a model of free shape.
func cachedSig(d tensor.DType) onnx.Signature {
	free := func(n int) (s []onnx.Dim) {
		for range n {
			s = append(s, onnx.Dim{Size: -1})
		}
		return s
	}
	return onnx.Signature{
		Inputs:  []onnx.Port{{Name: "x", Kind: "tensor", DType: d, Shape: free(4), Ranked: true}},
		Outputs: []onnx.Port{{Name: "y", Kind: "tensor", DType: tensor.Float32, Shape: free(2), Ranked: true}},
	}
}

// Every binary16 number survives the way through the codec, and numbers between two of them go to the nearer one (even
// at a tie); reading binary16 is package tensor's.
func TestEncodeFloat16(t *testing.T) {
	k, err := decode.New(cachedSig(tensor.Float16), decode.InputSpec{}, decode.OutputSpec{})
	if err != nil {
		t.Fatal(err)
	}
	encode := func(v []float64) ([]float64, []byte) {
		out, err := k.Encode([]space.Value{&space.Image{C: 1, H: 1, W: len(v), Pix: v}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return floats(t, out[0]), out[0].Raw
	}
	all := tensor.New(tensor.Float16, 1<<16)
	for i := range 1 << 16 {
		all.Raw[2*i], all.Raw[2*i+1] = byte(i), byte(i>>8)
	}
	v, err := all.Float64s(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, bits := encode(v)
	for i := range v {
		if math.IsNaN(v[i]) {
			if !math.IsNaN(got[i]) {
				t.Fatalf("%#x: NaN became %v", i, got[i])
			}
			continue
		}
		if int(bits[2*i])|int(bits[2*i+1])<<8 != i {
			t.Fatalf("%#x (%v) became %#x", i, v[i], bits[2*i:2*i+2])
		}
	}
	// Between the positive finite neighbours i and i+1: below the middle, at it, above it.
	var x, want []float64
	for i := range 0x7bff {
		mid := (v[i] + v[i+1]) / 2
		x = append(x, math.Nextafter(mid, 0), mid, math.Nextafter(mid, 1e9))
		want = append(want, v[i], v[i+i%2], v[i+1])
	}
	x, want = append(x, 65519.99, 65520, 1e300, -1e300, 1e-300),
		append(want, 65504, math.Inf(1), math.Inf(1), math.Inf(-1), 0)
	got, _ = encode(x)
	for i := range x {
		if got[i] != want[i] {
			t.Fatalf("%v became %v, want %v", x[i], got[i], want[i])
		}
	}
}

func TestEncodeOtherTypes(t *testing.T) {
	img := &space.Image{C: 1, H: 1, W: 6, Pix: []float64{-3, 0.5, 1.5, 127.6, 254.9, 300}}
	k, err := decode.New(cachedSig(tensor.Uint8), decode.InputSpec{}, decode.OutputSpec{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := k.Encode([]space.Value{img}, nil)
	if err != nil || !slices.Equal(out[0].Raw, []byte{0, 0, 2, 128, 255, 255}) {
		t.Errorf("uint8: %v %v, want clamped and rounded to even", out[0].Raw, err)
	}
	img.Pix[2] = math.NaN()
	if _, err := k.Encode([]space.Value{img}, nil); err == nil || !strings.Contains(err.Error(), "pixel 2 is NaN") {
		t.Errorf("NaN as uint8: %v", err)
	}
	if k, err = decode.New(cachedSig(tensor.BFloat16), decode.InputSpec{}, decode.OutputSpec{}); err != nil {
		t.Fatal(err)
	}
	// 1 + 2^-8 lies between 1 and 1 + 2^-7 and goes to the even one; 3.4e38 rounds to infinity in bfloat16.
	img.Pix = []float64{1, 1 + 1.0/256, 1 + 3.0/256, 3.4e38, math.Inf(-1), 1e-40}
	if out, err = k.Encode([]space.Value{img}, nil); err != nil {
		t.Fatal(err)
	}
	got := floats(t, out[0])
	want := []float64{
		1, 1, 1 + 4.0/256, math.Inf(1), math.Inf(-1),
		math.Ldexp(math.RoundToEven(math.Ldexp(1e-40, 133)), -133),
	}
	if !slices.Equal(got, want) {
		t.Errorf("bfloat16 %v, want %v", got, want)
	}
}

func TestBatchLimit(t *testing.T) {
	for _, c := range []struct {
		shape []any
		limit int
	}{{axes("N", 1, 2, 2), 0}, {axes(1, 1, 2, 2), 1}, {axes(4, 1, 2, 2), 4}, {axes(1, 2, 2), 1}, {axes(2, 2), 1}} {
		k, err := decode.New(sig(t, tensor.Float32, c.shape, "N", 10), decode.InputSpec{Sample: []int{1, 2, 2}},
			decode.OutputSpec{})
		if err != nil {
			t.Fatal(err)
		}
		if got := decode.BatchLimit(k); got != c.limit {
			t.Errorf("%v: limit %d, want %d", c.shape, got, c.limit)
		}
		if c.limit == 0 {
			continue
		}
		if _, err := k.Encode(slices.Repeat([]space.Value{ramp(1, 2, 2)}, c.limit+1), nil); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("fixed at %d", c.limit)) {
			t.Errorf("%v: a batch above the limit: %v", c.shape, err)
		}
	}
	// A short batch is filled up with its last sample, and what the model makes of those is left out.
	k, err := decode.New(sig(t, tensor.Float32, axes(4, 1, 1, 1), 4, 2), decode.InputSpec{},
		decode.OutputSpec{Decode: "raw"})
	if err != nil {
		t.Fatal(err)
	}
	x, err := k.Encode([]space.Value{ramp(1, 1, 1), &space.Image{C: 1, H: 1, W: 1, Pix: []float64{5}}}, nil)
	if err != nil || !slices.Equal(floats(t, x[0]), []float64{0, 5, 5, 5}) {
		t.Fatalf("%v %v", x, err)
	}
	y, err := k.Decode([]tensor.Named{{Name: "y", Tensor: tensor.FromFloat32([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2)}},
		2)
	if err != nil || len(y) != 2 {
		t.Fatalf("%d predictions, %v", len(y), err)
	}
	if s, ok := y[1].(*space.Scores); !ok || !slices.Equal(s.Val, []float64{3, 4}) {
		t.Errorf("%v, want the second row", y[1])
	}
}

func TestEncodeReusesBuffer(t *testing.T) {
	k, err := decode.New(sig(t, tensor.Float32, axes("N", 1, 28, 28), "N", 10),
		decode.InputSpec{Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081}}, decode.OutputSpec{})
	if err != nil {
		t.Fatal(err)
	}
	batch := []space.Value{ramp(1, 28, 28), ramp(1, 28, 28)}
	buf, err := k.Encode(batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := &buf[0].Raw[0]
	if n := testing.AllocsPerRun(20, func() {
		if buf, err = k.Encode(batch, buf); err != nil {
			t.Fatal(err)
		}
	}); n != 0 || &buf[0].Raw[0] != first {
		t.Errorf("%v allocations with a buffer of the same batch", n)
	}
	if buf, err = k.Encode(batch[:1], buf); err != nil || buf[0].Shape[0] != 1 || len(buf[0].Raw) != 4*784 {
		t.Errorf("a smaller batch after a bigger one: %v %v", buf[0].Shape, err)
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		shape []any
		want  string
	}{
		{axes("N", 3, 32, 32), ""},
		{axes("N", 32, 32, 3), "layout is NHWC"},
		{axes("N", "a", "b", "c"), "NCHW and NHWC both fit the data; NCHW is taken"},
	} {
		k, err := decode.New(sig(t, tensor.Float32, c.shape, "N", 10), decode.InputSpec{Sample: []int{3, 32, 32}},
			decode.OutputSpec{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(decode.Notes(k), "\n"); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v: %q, want %q", c.shape, got, c.want)
		}
	}
}

func decoded(t *testing.T, out decode.OutputSpec, layout string, y tensor.Tensor, n int) ([]space.Value, error) {
	t.Helper()
	shape := axes("N", "C", "H", "W")
	s := sig(t, tensor.Float32, shape, "N")
	s.Outputs[0].Ranked, s.Outputs[0].Shape = false, nil
	k, err := decode.New(s, decode.InputSpec{Layout: layout}, out)
	if err != nil {
		t.Fatal(err)
	}
	return k.Decode([]tensor.Named{{Name: "other"}, {Name: "y", Tensor: y}}, n)
}

func scores(t *testing.T, v space.Value) *space.Scores {
	t.Helper()
	s, ok := v.(*space.Scores)
	if !ok {
		t.Fatalf("%T, want scores", v)
	}
	return s
}

func TestDecodeScores(t *testing.T) {
	logit := tensor.FromFloat32([]float32{0, 0, 1000, 0, -1000, 0}, 3, 2)
	got, err := decoded(t, decode.OutputSpec{}, "", logit, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{0.5, 0.5}, {1, 0}, {0, 1}} {
		if s := scores(t, got[i]); !slices.Equal(s.Val, want) || !s.Probabilities {
			t.Errorf("softmax %v (probabilities %v), want %v", s.Val, s.Probabilities, want)
		}
	}
	// scipy.special.softmax([1, 2, 3])
	v := []float64{1, 2, 3}
	decode.Softmax(v)
	for i, want := range []float64{0.09003057317038046, 0.24472847105479767, 0.6652409557748219} {
		if !(math.Abs(v[i]-want) <= 2e-16) {
			t.Errorf("softmax[%d] = %.17g, want %.17g", i, v[i], want)
		}
	}
	for _, decoding := range []string{"raw", "logits", "Logits"} {
		if got, err = decoded(t, decode.OutputSpec{Decode: decoding}, "", logit, 3); err != nil {
			t.Fatal(err)
		}
		if s := scores(t, got[1]); !slices.Equal(s.Val, []float64{1000, 0}) || s.Probabilities {
			t.Errorf("%s: %v", decoding, s)
		}
	}
	for _, shape := range [][]int{{2, 3, 1, 1}, {2, 1, 1, 3}, {2, 3, 1}} {
		got, err := decoded(t, decode.OutputSpec{Decode: "raw"}, "",
			tensor.FromFloat32([]float32{1, 2, 3, 4, 5, 6}, shape...), 2)
		if err != nil || !slices.Equal(scores(t, got[1]).Val, []float64{4, 5, 6}) {
			t.Errorf("shape %v: %v %v", shape, got, err)
		}
	}
}

func TestDecodeProbabilities(t *testing.T) {
	as := decode.OutputSpec{Decode: "probabilities"}
	for _, c := range []struct {
		v    []float32
		want string
	}{
		{[]float32{0.25, 0.75}, ""},
		{[]float32{0.2505, 0.75}, ""},
		{[]float32{0.26, 0.75}, "sum to 1.01"},
		{[]float32{-0.5, 1.5}, "set output.decode: softmax"},
		{[]float32{3, -2}, "set output.decode: softmax"},
		{[]float32{float32(math.NaN()), 1}, ""},
		{[]float32{float32(math.Inf(1)), 7}, ""},
	} {
		got, err := decoded(t, as, "", tensor.FromFloat32(c.v, 1, 2), 1)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %q", c.v, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.v, err)
			continue
		}
		for i, x := range scores(t, got[0]).Val {
			if math.Float32bits(float32(x)) != math.Float32bits(c.v[i]) {
				t.Errorf("%v became %v", c.v, got[0])
			}
		}
	}
}

// NaN and infinite outputs are never turned into ordinary numbers.
func TestDecodeNotFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	got, err := decoded(t, decode.OutputSpec{}, "", tensor.FromFloat32([]float32{nan, 1, inf, 1, -inf, 1}, 3, 2), 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for _, x := range scores(t, got[i]).Val {
			if !math.IsNaN(x) {
				t.Errorf("row %d: %v, want NaN", i, scores(t, got[i]).Val)
			}
		}
	}
	if v := scores(t, got[2]).Val; !slices.Equal(v, []float64{0, 1}) {
		t.Errorf("a class ruled out by -infinity: %v, want 0 1", v)
	}
}

func TestDecodeGrids(t *testing.T) {
	// Two channels of one row and three columns.
	planar := tensor.FromFloat32([]float32{1, 5, 3, 4, 2, 3}, 1, 2, 1, 3)
	mixed := tensor.FromFloat32([]float32{1, 4, 5, 2, 3, 3}, 1, 1, 3, 2)
	for layout, y := range map[string]tensor.Tensor{"NCHW": planar, "NHWC": mixed} {
		got, err := decoded(t, decode.OutputSpec{Space: space.KindImage}, layout, y, 1)
		if err != nil {
			t.Fatal(err)
		}
		m, ok := got[0].(*space.Image)
		if !ok || m.C != 2 || m.H != 1 || m.W != 3 || !slices.Equal(m.Pix, []float64{1, 5, 3, 4, 2, 3}) {
			t.Errorf("%s: %+v", layout, got[0])
		}
		got, err = decoded(t, decode.OutputSpec{Space: space.KindMask}, layout, y, 1)
		if err != nil {
			t.Fatal(err)
		}
		if k, ok := got[0].(*space.Mask); !ok || k.H != 1 || k.W != 3 || !slices.Equal(k.Label, []int32{1, 0, 0}) {
			t.Errorf("%s: %+v, want labels 1 0 0 (the lowest at a tie)", layout, got[0])
		}
		got, err = decoded(t, decode.OutputSpec{Space: space.KindTensor}, layout, y, 1)
		if err != nil {
			t.Fatal(err)
		}
		if k, ok := got[0].(*space.Tensor); !ok || !slices.Equal(k.Shape, y.Shape[1:]) || len(k.Val) != 6 {
			t.Errorf("%s: %+v", layout, got[0])
		}
	}
	nan := float32(math.NaN())
	got, err := decoded(t, decode.OutputSpec{Space: space.KindMask}, "",
		tensor.FromFloat32([]float32{0, nan, 7, 1, 1, nan}, 1, 2, 1, 3), 1)
	if err != nil {
		t.Fatal(err)
	}
	if k, ok := got[0].(*space.Mask); !ok || !slices.Equal(k.Label, []int32{1, -1, -1}) {
		t.Errorf("%+v, want -1 where a score is NaN", got[0])
	}
	got, err = decoded(t, decode.OutputSpec{Space: space.KindMask}, "", tensor.FromInt64([]int64{7, 0}, 1, 1, 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	if k, ok := got[0].(*space.Mask); !ok || !slices.Equal(k.Label, []int32{7, 0}) {
		t.Errorf("%+v, want the labels as they are", got[0])
	}
	for _, c := range []struct {
		limit float64
		want  []int32
	}{{0, []int32{1, 0, 1, -1}}, {0.5, []int32{0, 0, 1, -1}}} {
		got, err = decoded(t, decode.OutputSpec{Space: space.KindMask, Decode: "threshold", Threshold: c.limit}, "",
			tensor.FromFloat32([]float32{0.5, 0, 0.75, nan}, 1, 1, 1, 4), 1)
		if err != nil {
			t.Fatal(err)
		}
		if k, ok := got[0].(*space.Mask); !ok || !slices.Equal(k.Label, c.want) {
			t.Errorf("above %g: %+v, want %v", c.limit, got[0], c.want)
		}
	}
	if _, err := decoded(t, decode.OutputSpec{Space: space.KindMask, Decode: "threshold"}, "",
		tensor.FromFloat32(make([]float32, 6), 1, 2, 1, 3), 1); err == nil ||
		!strings.Contains(err.Error(), "set output.decode: argmax") {
		t.Errorf("a threshold of two channels: %v", err)
	}
	if _, err := decoded(t, decode.OutputSpec{Space: space.KindMask}, "",
		tensor.FromFloat32([]float32{0.5, 0}, 1, 1, 2), 1); err == nil ||
		!strings.Contains(err.Error(), "is no label") {
		t.Errorf("scores read as labels: %v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		y    tensor.Tensor
		n    int
		want string
	}{
		{"other batch", tensor.New(tensor.Float32, 3, 2), 2, "for a batch of 2"},
		{"no batch", tensor.New(tensor.Float32), 1, "for a batch of 1"},
		{"a map", tensor.New(tensor.Float32, 1, 2, 4, 4), 1, "set output.space"},
		{"one score", tensor.New(tensor.Float32, 1, 1), 1, "set output.decode: raw"},
		{"no scores", tensor.New(tensor.Float32, 1, 0), 1, "no numbers"},
		{"lying bytes", tensor.Tensor{DType: tensor.Float32, Shape: []int{1, 2}, Raw: make([]byte, 4)}, 1, "4 bytes"},
	} {
		if _, err := decoded(t, decode.OutputSpec{}, "", c.y, c.n); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	k, err := decode.New(cachedSig(tensor.Float32), decode.InputSpec{}, decode.OutputSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Decode([]tensor.Named{{Name: "z"}}, 1); err == nil ||
		!strings.Contains(err.Error(), `no output "y"`) {
		t.Errorf("another output: %v", err)
	}
}

func TestSpecs(t *testing.T) {
	for _, c := range []struct {
		out   []any
		spec  decode.OutputSpec
		shape []int
		typ   string
	}{
		{axes("N", 10), decode.OutputSpec{}, []int{10}, "probabilities"},
		{axes("N", 10, 1, 1), decode.OutputSpec{Decode: "raw"}, []int{10}, "logits"},
		{axes("N", "K"), decode.OutputSpec{Decode: "raw"}, []int{-1}, "logits"},
		{axes("N", 8, 4, 6), decode.OutputSpec{Space: space.KindImage}, []int{8, 4, 6}, ""},
		{axes("N", 8, 4, 6), decode.OutputSpec{Space: space.KindMask}, []int{4, 6}, ""},
		{axes("N", 8, 4, 6), decode.OutputSpec{Space: space.KindTensor, Type: "regular"}, []int{8, 4, 6}, "regular"},
		{axes("N", 8, 1, 1), decode.OutputSpec{Space: decode.Embedding, Type: "regular"}, []int{8}, "regular"},
		{axes("N", "K", 1), decode.OutputSpec{Space: decode.Embedding}, []int{-1}, ""},
	} {
		k, err := decode.New(sig(t, tensor.Float32, axes("N", 1, 28, 28), c.out...), decode.InputSpec{}, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		if o := k.Out(); !slices.Equal(o.Shape, c.shape) || o.Type != c.typ || o.Name != "y" ||
			o.Features != (c.spec.Space == decode.Embedding) {
			t.Errorf("%v %v: %+v", c.out, c.spec, o)
		}
		if i := k.In(); !slices.Equal(i.Shape, []int{1, 28, 28}) || i.Kind != space.KindImage {
			t.Errorf("%+v", i)
		}
	}
}

// An embedding is a vector of features, whatever axes of length 1 stand around it, and comes back as it was answered.
func TestEmbedding(t *testing.T) {
	for _, shape := range [][]any{{"N", 6}, {"N", 6, 1, 1}, {"N", 1, 6}, {"N", "K", 1, "L"}} {
		k, err := decode.New(sig(t, tensor.Float32, axes("N", 1, 28, 28), axes(shape...)...), decode.InputSpec{},
			decode.OutputSpec{Space: decode.Embedding})
		if err != nil {
			t.Fatal(err)
		}
		if o := k.Out(); o.Kind != space.KindTensor || len(o.Shape) != 1 {
			t.Errorf("%v: %+v", shape, o)
		}
		full := []int{2}
		for _, a := range shape[1:] {
			switch n := a.(type) {
			case int:
				full = append(full, n)
			default:
				full = append(full, map[any]int{"K": 6, "L": 1}[a])
			}
		}
		y := tensor.FromFloat32([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, full...)
		got, err := k.Decode([]tensor.Named{{Name: "y", Tensor: y}}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := got[1].(*space.Tensor); !ok || !slices.Equal(v.Shape, []int{6}) || v.Val[0] != 7 {
			t.Errorf("%v: %+v", shape, got[1])
		}
		back, err := decode.Raw(k, got)
		if err != nil {
			t.Fatal(err)
		}
		if x := floats(t, back); !slices.Equal(back.Shape, full) || x[11] != 12 {
			t.Errorf("%v: %v of shape %v, want %v", shape, x, back.Shape, full)
		}
	}
	if _, err := decode.New(sig(t, tensor.Float32, axes("N", 1, 28, 28), axes("N", 6, 7, 7)...), decode.InputSpec{},
		decode.OutputSpec{Space: decode.Embedding}); err == nil ||
		!strings.Contains(err.Error(), "has 3 axes for each sample, and an embedding has one") {
		t.Errorf("maps as embeddings: %v", err)
	}
	k, err := decode.New(sig(t, tensor.Float32, axes("N", 1, 28, 28), axes("N", "K", "L")...), decode.InputSpec{},
		decode.OutputSpec{Space: decode.Embedding})
	if err != nil {
		t.Fatal(err)
	}
	y := tensor.FromFloat32([]float32{1, 2, 3, 4}, 1, 2, 2)
	if _, err := k.Decode([]tensor.Named{{Name: "y", Tensor: y}}, 1); err == nil ||
		!strings.Contains(err.Error(), "has 2 axes") {
		t.Errorf("a map as embedding: %v", err)
	}
}

// FuzzCodec: any signature and any output array is served or refused, never a panic.
func FuzzCodec(f *testing.F) {
	f.Add([]byte{0, 1, 28, 28}, []byte{0, 10}, []byte{1, 10}, uint8(0), uint8(0), uint8(0), true)
	f.Add([]byte{1, 28, 28, 3}, []byte{0, 3, 4, 4}, []byte{1, 3, 4, 4}, uint8(2), uint8(0), uint8(1), true)
	f.Add([]byte{28, 28}, []byte{}, []byte{}, uint8(3), uint8(1), uint8(2), false)
	f.Fuzz(func(t *testing.T, in, out, got []byte, where, how, layout uint8, batched bool) {
		shape := func(b []byte) (s []onnx.Dim) {
			for _, x := range b[:min(len(b), 6)] {
				s = append(s, onnx.Dim{Size: max(int(x%40), 1)})
				if x%40 == 0 {
					s[len(s)-1].Size = -1
				}
			}
			return s
		}
		sg := onnx.Signature{
			Inputs: []onnx.Port{{
				Name: "x", Kind: "tensor", DType: tensor.DType(1 + how%20), Shape: shape(in),
				Ranked: batched || len(in) > 0,
			}},
			Outputs: []onnx.Port{{
				Name: "y", Kind: "tensor", DType: tensor.Float32, Shape: shape(out),
				Ranked: len(out) > 0,
			}},
		}
		k, err := decode.New(sg, decode.InputSpec{
			Layout: []string{"", "NCHW", "NHWC"}[layout%3], Channels: []string{"", "rgb", "grey"}[how%3],
			Sample: []int{1, 28, 28},
		}, decode.OutputSpec{
			Space:  []space.Kind{"scores", "image", "mask", "tensor", "embedding"}[where%5],
			Decode: []string{"", "raw", "softmax", "probabilities"}[how%4],
		})
		if err != nil {
			return
		}
		if _, err := k.Encode([]space.Value{ramp(1, 28, 28)}, nil); err != nil {
			t.Errorf("accepted data is refused: %v", err)
		}
		dims := []int{}
		for _, x := range got[:min(len(got), 5)] {
			dims = append(dims, int(x%9))
		}
		y, err := k.Decode([]tensor.Named{{Name: "y", Tensor: tensor.New(tensor.Float32, dims...)}}, 1)
		if err == nil && len(y) != 1 {
			t.Errorf("%d predictions, want 1", len(y))
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	for _, c := range []struct {
		name  string
		c, n  int
		shape []any
		in    decode.InputSpec
	}{
		{
			"digit", 1, 28, axes("N", 1, 28, 28),
			decode.InputSpec{Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081}},
		},
		{"digit scaled", 1, 28, axes("N", 1, 28, 28), decode.InputSpec{Scale: 255}},
		{
			"photo NHWC", 3, 224, axes("N", 224, 224, 3),
			decode.InputSpec{Scale: 255, Mean: []float64{0.5}, Std: []float64{0.5}},
		},
	} {
		b.Run(c.name, func(b *testing.B) {
			k, err := decode.New(sig(b, tensor.Float32, c.shape, "N", 10), c.in, decode.OutputSpec{})
			if err != nil {
				b.Fatal(err)
			}
			m := ramp(c.c, c.n, c.n)
			for i := range m.Pix {
				m.Pix[i] = math.Mod(float64(i)*0.7317, 255)
			}
			batch := []space.Value{m}
			buf, err := k.Encode(batch, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = k.Encode(batch, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
