package decode_test

import (
	"errors"
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

// pictures are frames of c channels whose pixels count on from frame to frame.
func pictures(t, c, h, w int) *space.Frames {
	f := &space.Frames{}
	for i := range t {
		m := ramp(c, h, w)
		for k := range m.Pix {
			m.Pix[k] += float64(i * len(m.Pix))
		}
		f.Images = append(f.Images, m)
	}
	return f
}

// sequence is the signature of a model of flows with the inputs given.
func sequence(inputs ...onnx.Port) onnx.Signature {
	return onnx.Signature{Inputs: inputs, Outputs: []onnx.Port{out("flow", tensor.Float32, -1, 2, -1, -1)}}
}

var flows = decode.OutputSpec{Space: space.KindField}

func TestEncodeFrames(t *testing.T) {
	f := tensor.Float32
	grey, colour := pictures(2, 1, 1, 2), pictures(2, 3, 1, 2) // grey: 0 1 | 2 3; colour: 0..5 | 6..11, R then G then B
	for _, c := range []struct {
		name  string
		ports []onnx.Port
		value *space.Frames
		in    decode.InputSpec
		want  [][]float64
		dims  []int
		note  string
	}{
		{
			"channels",
			[]onnx.Port{out("x", f, -1, 2, -1, -1)},
			grey,
			decode.InputSpec{Sample: []int{1, 1, 2}},
			[][]float64{{0, 1, 2, 3}},
			[]int{1, 2, 1, 2},
			"",
		},
		{
			"channels of colours",
			[]onnx.Port{out("x", f, -1, 6, 1, 2)},
			colour,
			decode.InputSpec{Sample: []int{3, 1, 2}},
			[][]float64{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
			[]int{1, 6, 1, 2},
			"",
		},
		{
			"bgr",
			[]onnx.Port{out("x", f, -1, 6, 1, 2)},
			colour,
			decode.InputSpec{Channels: "bgr"},
			[][]float64{{4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7}},
			[]int{1, 6, 1, 2},
			"",
		},
		{
			"grey repeated",
			[]onnx.Port{out("x", f, -1, 6, 1, 2)},
			grey,
			decode.InputSpec{Channels: "rgb"},
			[][]float64{{0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}},
			[]int{1, 6, 1, 2},
			"",
		},
		{
			"channels last",
			[]onnx.Port{out("x", f, -1, 1, 2, 6)},
			colour,
			decode.InputSpec{Sample: []int{3, 1, 2}},
			[][]float64{{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}},
			[]int{1, 1, 2, 6},
			"layout is NHWC",
		},
		{
			"an axis of frames",
			[]onnx.Port{out("x", f, -1, 2, 1, 1, 2)},
			grey,
			decode.InputSpec{Sample: []int{1, 1, 2}},
			[][]float64{{0, 1, 2, 3}},
			[]int{1, 2, 1, 1, 2},
			"layout is NTCHW",
		},
		{
			"an axis of frames, channels last",
			[]onnx.Port{out("x", f, -1, 2, 1, 2, 3)},
			colour,
			decode.InputSpec{Sample: []int{3, 1, 2}},
			[][]float64{{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}},
			[]int{1, 2, 1, 2, 3},
			"layout is NTHWC",
		},
		{
			"channels before frames",
			[]onnx.Port{out("x", f, -1, 3, 2, 1, 2)},
			colour,
			decode.InputSpec{Sample: []int{3, 1, 2}},
			[][]float64{{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}},
			[]int{1, 3, 2, 1, 2},
			"layout is NCTHW",
		},
		{
			"all free",
			[]onnx.Port{out("x", f, -1, -1, -1, -1, -1)},
			colour,
			decode.InputSpec{Sample: []int{3, 1, 2}},
			[][]float64{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
			[]int{1, 2, 3, 1, 2},
			"NTCHW and NTHWC both fit the data",
		},
		{
			"all free, said",
			[]onnx.Port{out("x", f, -1, -1, -1, -1, -1)},
			colour,
			decode.InputSpec{Sample: []int{3, 1, 2}, Layout: "NCTHW"},
			[][]float64{{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}},
			[]int{1, 3, 2, 1, 2},
			"",
		},
		{
			"no axis of samples",
			[]onnx.Port{out("x", f, 2, 1, 2)},
			grey,
			decode.InputSpec{Sample: []int{1, 1, 2}},
			[][]float64{{0, 1, 2, 3}},
			[]int{2, 1, 2},
			"layout is CHW",
		},
		{
			"a row",
			[]onnx.Port{out("x", f, -1, 4)},
			grey,
			decode.InputSpec{Sample: []int{1, 1, 2}},
			[][]float64{{0, 1, 2, 3}},
			[]int{1, 4},
			"layout is NF",
		},
		{
			"an input each",
			[]onnx.Port{out("first", f, -1, 1, 1, 2), out("second", f, -1, 1, 1, 2)},
			grey,
			decode.InputSpec{Sample: []int{1, 1, 2}},
			[][]float64{{0, 1}, {2, 3}},
			[]int{1, 1, 1, 2},
			"fed to first, second in the order of time",
		},
		{
			"an input each, named",
			[]onnx.Port{out("b", f, -1, 1, 1, 2), out("a", f, -1, 1, 1, 2)},
			grey,
			decode.InputSpec{Layout: "NCHW", Ports: []string{"a", "b"}},
			[][]float64{{0, 1}, {2, 3}},
			[]int{1, 1, 1, 2},
			"",
		},
		{
			"one input, named",
			[]onnx.Port{out("x", f, -1, 2, 1, 2)},
			grey,
			decode.InputSpec{Layout: "NCHW", Ports: []string{"x"}},
			[][]float64{{0, 1, 2, 3}},
			[]int{1, 2, 1, 2},
			"",
		},
		{
			"mean of each channel",
			[]onnx.Port{out("x", f, -1, 6, 1, 2)},
			colour,
			decode.InputSpec{Layout: "NCHW", Mean: []float64{0, 2, 4}, Scale: 1, Std: []float64{1, 2, 1}},
			[][]float64{{0, 1, 0, 0.5, 0, 1, 6, 7, 3, 3.5, 6, 7}},
			[]int{1, 6, 1, 2},
			"",
		},
		{
			"mean of each frame",
			[]onnx.Port{out("x", f, -1, 2, 1, 2)},
			grey,
			decode.InputSpec{Layout: "NCHW", Mean: []float64{0, 2}},
			[][]float64{{0, 1, 0, 1}},
			[]int{1, 2, 1, 2},
			"",
		},
		{
			"mean of each frame, an input each",
			[]onnx.Port{out("a", f, -1, 1, 1, 2), out("b", f, -1, 1, 1, 2)},
			grey,
			decode.InputSpec{Layout: "NCHW", Mean: []float64{0, 2}, Ports: []string{"a", "b"}},
			[][]float64{{0, 1}, {0, 1}},
			[]int{1, 1, 1, 2},
			"",
		},
		{
			"doubles",
			[]onnx.Port{out("x", tensor.Float64, -1, 2, 1, 2)},
			grey,
			decode.InputSpec{Layout: "NCHW", Scale: 2},
			[][]float64{{0, 0.5, 1, 1.5}},
			[]int{1, 2, 1, 2},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.Frames = 2
			k, err := decode.New(sequence(c.ports...), c.in, flows)
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.Encode([]space.Value{c.value}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.want) || !slices.Equal(got[0].Shape, c.dims) {
				t.Fatalf("%d inputs, the first %v; want %d and %v", len(got), got[0].Shape, len(c.want), c.dims)
			}
			for i, g := range got {
				if v := floats(t, g); !slices.Equal(v, c.want[i]) {
					t.Errorf("%s: %v, want %v", g.Name, v, c.want[i])
				}
				if len(c.in.Ports) > 0 && g.Name != c.in.Ports[i] {
					t.Errorf("frame %d goes to %s, want %s", i, g.Name, c.in.Ports[i])
				}
			}
			if notes := strings.Join(decode.Notes(k), "\n"); !strings.Contains(notes, c.note) ||
				(notes == "") != (c.note == "") {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if in := k.In(); in.Kind != space.KindFrames || len(in.Shape) != 4 || in.Shape[0] != 2 {
				t.Errorf("%+v", in)
			}
			batch := []space.Value{c.value}
			if n := testing.AllocsPerRun(10, func() {
				if got, err = k.Encode(batch, got); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%v allocations with a buffer of the same batch", n)
			}
		})
	}
}

func TestFramesRefused(t *testing.T) {
	f := tensor.Float32
	two := []onnx.Port{out("a", f, -1, 1, 8, 8), out("b", f, -1, 1, 8, 8)}
	for _, c := range []struct {
		name  string
		ports []onnx.Port
		in    decode.InputSpec
		want  string
	}{
		{
			"three inputs", append(two[:2:2], out("c", f, -1, 1)),
			decode.InputSpec{Frames: 2},
			"3 inputs (a, b, c) for samples of 2 frames",
		},
		{
			"ports of images", two,
			decode.InputSpec{Ports: []string{"a"}},
			"input.ports names an input per frame, but the samples are single images",
		},
		{
			"one of two ports", two,
			decode.InputSpec{Frames: 2, Ports: []string{"a"}},
			"1 names for a model of 2 inputs (a, b)",
		},
		{"unknown port", two, decode.InputSpec{Frames: 2, Ports: []string{"a", "c"}}, `no input "c"; there are a, b`},
		{"a port twice", two, decode.InputSpec{Frames: 2, Ports: []string{"a", "a"}}, `"a" stands there twice`},
		{
			"two ports for three frames", two,
			decode.InputSpec{Frames: 3, Ports: []string{"a", "b"}},
			"2 names for samples of 3 frames",
		},
		{
			"batches of different length",
			[]onnx.Port{out("a", f, 1, 1, 8, 8), out("b", f, 2, 1, 8, 8)},
			decode.InputSpec{Frames: 2},
			"count their samples differently",
		},
		{
			"three frames",
			[]onnx.Port{out("x", f, -1, 2, 8, 8)},
			decode.InputSpec{Frames: 3, Sample: []int{1, 8, 8}},
			"wants 2 channels, a sample has 3 frames with 1 channel each",
		},
		{
			"frames of colour",
			[]onnx.Port{out("x", f, -1, 2, 8, 8)},
			decode.InputSpec{Frames: 2, Sample: []int{3, 8, 8}},
			"set input.channels: grey",
		},
		{
			"grey frames",
			[]onnx.Port{out("x", f, -1, 6, 8, 8)},
			decode.InputSpec{Frames: 2, Sample: []int{1, 8, 8}},
			"set input.channels: rgb",
		},
		{
			"odd channels",
			[]onnx.Port{out("x", f, -1, 5, 7, 7)},
			decode.InputSpec{Frames: 2},
			"wants 5 channels, a sample has 2 frames with any number each",
		},
		{
			"frames in an axis",
			[]onnx.Port{out("x", f, -1, 4, 1, 8, 8)},
			decode.InputSpec{Frames: 2, Sample: []int{1, 8, 8}},
			"wants 4 frames, a sample has 2",
		},
		{
			"other size",
			[]onnx.Port{out("x", f, -1, 2, 8, 8)},
			decode.InputSpec{Frames: 2, Sample: []int{1, 9, 8}},
			"wants images of 8 x 8 (height x width), the data has 9 x 8",
		},
		{
			"six axes",
			[]onnx.Port{out("x", f, 1, 1, 1, 1, 1, 1)},
			decode.InputSpec{Frames: 2},
			"frames are fed as [batch, frames·channels, height, width]",
		},
		{
			"an axis of frames for images",
			[]onnx.Port{out("x", f, 1, 1, 1, 1, 1)},
			decode.InputSpec{Layout: "NTCHW"},
			"the samples are single images",
		},
		{
			"a negative number",
			[]onnx.Port{out("x", f, 1, 1, 1, 1, 1)},
			decode.InputSpec{Frames: -1},
			"samples of -1 frames",
		},
		{
			"three means",
			[]onnx.Port{out("x", f, -1, 2, 8, 8)},
			decode.InputSpec{Frames: 2, Mean: []float64{1, 2, 3}},
			"input.mean has 3 values, the model reads 2 channels",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := decode.New(sequence(c.ports...), c.in, flows); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %q", err, c.want)
			}
		})
	}
	k, err := decode.New(sequence(out("x", f, -1, 2, -1, -1)), decode.InputSpec{Frames: 2}, flows)
	if err != nil {
		t.Fatal(err)
	}
	mixed := pictures(2, 1, 4, 4)
	mixed.Images[1] = ramp(1, 4, 5)
	gap := pictures(2, 1, 4, 4)
	gap.Images[1] = nil
	for _, c := range []struct {
		v    space.Value
		want string
	}{
		{pictures(3, 1, 4, 4), "sample 0 of the batch has 3 frames, want 2"},
		{ramp(1, 4, 4), "is of kind image, want 2 frames"},
		{nil, "is nothing, want 2 frames"},
		{mixed, "a frame of 4 x 5 (height x width) beside one of 4 x 4"},
		{gap, "no picture in frame 1"},
		{pictures(2, 3, 4, 4), "3 channels; input \"x\" wants"},
	} {
		if _, err := k.Encode([]space.Value{c.v}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A fixed batch is filled up with the last sample in every input.
func TestFramesFillBatch(t *testing.T) {
	k, err := decode.New(sequence(out("a", tensor.Float32, 3, 1, 1, 1), out("b", tensor.Float32, 3, 1, 1, 1)),
		decode.InputSpec{Frames: 2}, flows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.Encode([]space.Value{
		pictures(2, 1, 1, 1),
		&space.Frames{Images: []*space.Image{
			{C: 1, H: 1, W: 1, Pix: []float64{7}},
			{C: 1, H: 1, W: 1, Pix: []float64{8}},
		}},
	}, nil)
	if err != nil || decode.BatchLimit(k) != 3 {
		t.Fatal(err, decode.BatchLimit(k))
	}
	if a, b := floats(t, got[0]), floats(t, got[1]); !slices.Equal(a, []float64{0, 7, 7}) ||
		!slices.Equal(b, []float64{1, 8, 8}) {
		t.Errorf("%v %v", a, b)
	}
}

// Laws for frames and fields: Encode(x + v) - Encode(x) = Linear(v), <Linear(v), g> = <v, Adjoint(g)>, and <Decode(y),
// w> = <y, Raw(w)>.
func TestFramesLinearAndAdjoint(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		f := tensor.Float32
		ports := rapid.SampledFrom([][]onnx.Port{
			{out("x", f, -1, 6, 2, 4)},
			{out("x", f, -1, 2, 4, 6)},
			{out("x", f, -1, 2, 3, 2, 4)},
			{out("x", f, -1, 2, 2, 4, 3)},
			{out("x", f, -1, 3, 2, 2, 4)},
			{out("x", f, -1, 48)},
			{out("a", f, -1, 3, 2, 4), out("b", f, -1, 3, 2, 4)},
			{out("a", f, 4, 2, 4, 3), out("b", f, 4, 2, 4, 3)},
		}).Draw(t, "ports")
		c := rapid.SampledFrom([]struct {
			data  int
			order string
		}{{3, ""}, {3, "bgr"}, {1, "rgb"}}).Draw(t, "channels")
		in := decode.InputSpec{
			Sample: []int{c.data, 2, 4}, Channels: c.order, Frames: 2, Scale: 255,
			Mean: []float64{0.1, 0.2, 0.3}, Std: []float64{0.5, 0.25, 2},
		}
		if rapid.Bool().Draw(t, "each") {
			in.Mean, in.Std = []float64{1, 2, 3, 4, 5, 6}, []float64{0.5}
		}
		k, err := decode.New(sequence(ports...), in, flows)
		if err != nil {
			t.Fatal(err)
		}
		draw := func(label string) *space.Frames {
			return &space.Frames{Images: []*space.Image{
				random(t, label+"0", c.data, 2, 4),
				random(t, label+"1", c.data, 2, 4),
			}}
		}
		x, v := draw("x"), draw("v")
		sum, flat := &space.Frames{}, []float64(nil)
		for i := range x.Images {
			m := space.NewImage(c.data, 2, 4)
			for j := range m.Pix {
				m.Pix[j] = x.Images[i].Pix[j] + v.Images[i].Pix[j]
			}
			sum.Images = append(sum.Images, m)
			flat = append(flat, v.Images[i].Pix...)
		}
		double := decode.Double(k)
		one := func(c decode.Codec, v space.Value) [][]float64 {
			a, err := c.Encode([]space.Value{v}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var all [][]float64
			for _, p := range a {
				all = append(all, numbers(t, p.Tensor))
			}
			return all
		}
		from, to := one(double, x), one(double, sum)
		lin, err := decode.Linear(k, []space.Value{v})
		if err != nil || len(lin) != len(ports) {
			t.Fatal(err, len(lin))
		}
		product := 0.0
		grads := make([]tensor.Named, len(lin))
		for p := range lin {
			l := numbers(t, lin[p].Tensor)
			if len(l) != 48/len(ports) || lin[p].Name != ports[p].Name {
				t.Fatalf("%s of %d numbers", lin[p].Name, len(l))
			}
			for i := range l {
				if d := to[p][i] - from[p][i] - l[i]; !(math.Abs(d) < 1e-12) {
					t.Fatalf("input %d, number %d: %g beside its linear part %g", p, i, to[p][i]-from[p][i], l[i])
				}
			}
			g := rapid.SliceOfN(rapid.Float64Range(-3, 3), len(l), len(l)).Draw(t, "g")
			gt, err := decode.Rounded(tensor.Float64, g, lin[p].Shape...)
			if err != nil {
				t.Fatal(err)
			}
			grads[len(lin)-1-p] = tensor.Named{Name: lin[p].Name, Tensor: gt} // found by their names
			product += dot(l, g)
		}
		back, err := decode.Adjoint(k, grads, []space.Value{x})
		if err != nil {
			t.Fatal(err)
		}
		if d := product - dot(flat, numbers(t, back[0].Parts()[0].Tensor)); !(math.Abs(d) < 1e-12) {
			t.Fatalf("<Lv, g> and <v, L*g> are %g apart", d)
		}
	})
}

func TestDecodeFields(t *testing.T) {
	f := tensor.Float32
	want := []float64{1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60} // u, then v, of 2 x 3
	mixed := []float64{1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60}
	swapped := slices.Concat(want[6:], want[:6])
	for _, c := range []struct {
		name  string
		port  onnx.Port
		spec  decode.FieldSpec
		v     []float64
		shape []int
		note  string
	}{
		{"planes", out("y", f, -1, 2, 2, 3), decode.FieldSpec{}, want, []int{1, 2, 2, 3}, ""},
		{"free", out("y", f, -1, -1, -1, -1), decode.FieldSpec{}, want, []int{1, 2, 2, 3}, "which axis holds u and v"},
		{"channels last", out("y", f, -1, 2, 3, 2), decode.FieldSpec{Layout: "NHWC"}, mixed, []int{1, 2, 3, 2}, ""},
		{"one at a time", out("y", f, 2, 2, 3), decode.FieldSpec{}, want, []int{2, 2, 3}, ""},
		{"v first", out("y", f, -1, 2, 2, 3), decode.FieldSpec{Order: "vu"}, swapped, []int{1, 2, 2, 3}, ""},
		{"scaled", out("y", f, -1, 2, 2, 3), decode.FieldSpec{Scale: 0.5}, scale(want, 2), []int{1, 2, 2, 3}, ""},
		{
			"v up", out("y", f, -1, 2, 2, 3),
			decode.FieldSpec{Up: true},
			slices.Concat(want[:6], scale(want[6:], -1)),
			[]int{1, 2, 2, 3},
			"",
		},
		{
			"v up and first", out("y", f, -1, 2, 2, 3),
			decode.FieldSpec{Up: true, Order: "vu", Scale: 10},
			slices.Concat(scale(want[6:], -0.1), scale(want[:6], 0.1)),
			[]int{1, 2, 2, 3},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sequence(out("x", f, -1, 2, 2, 3))
			s.Outputs[0] = c.port
			k, err := decode.New(s, decode.InputSpec{Frames: 2, Sample: []int{1, 2, 3}},
				decode.OutputSpec{Space: space.KindField, Field: c.spec})
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.Decode([]tensor.Named{named("y", c.v, c.shape...)}, 1)
			if err != nil {
				t.Fatal(err)
			}
			x, ok := got[0].(*space.Field)
			if !ok || x.H != 2 || x.W != 3 ||
				!slices.EqualFunc(x.Val, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9 }) {
				t.Errorf("%+v, want %v", got[0], want)
			}
			if notes := strings.Join(decode.Notes(k), "\n"); !strings.Contains(notes, c.note) ||
				(notes == "") != (c.note == "") {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if o := k.Out(); o.Kind != space.KindField || !slices.Equal(o.Shape, []int{2, 2, 3}) || o.Name != "y" {
				t.Errorf("%+v", o)
			}
			if (decode.BatchLimit(k) == 1) != (len(c.shape) == 3) {
				t.Errorf("batch limit %d", decode.BatchLimit(k))
			}
			// The law of transposes: <Decode(y), w> = <y, Raw(w)>.
			w := space.NewField(2, 3)
			for i := range w.Val {
				w.Val[i] = float64(i*i) - 7
			}
			r, err := decode.Raw(k, []space.Value{w})
			if err != nil || !slices.Equal(r.Shape, c.shape) {
				t.Fatal(err, r.Shape)
			}
			if a, b := dot(x.Val, w.Val), dot(c.v, floats(t, r)); !(math.Abs(a-b) <= 1e-9) {
				t.Errorf("<Decode(y), w> = %g, <y, Raw(w)> = %g", a, b)
			}
		})
	}
	// Numbers that are not finite are passed on; samples of a batch are kept apart; channels last by the shape leaves a
	// note.
	s := sequence(out("x", f, -1, 2, -1, -1))
	s.Outputs[0] = out("y", f, -1, 3, 3, 2)
	k, err := decode.New(s, decode.InputSpec{Frames: 2}, flows)
	if err != nil || !strings.Contains(strings.Join(decode.Notes(k), ""), "layout is NHWC by its shape") {
		t.Fatal(err, decode.Notes(k))
	}
	v := make([]float64, 36)
	v[18], v[19] = math.NaN(), math.Inf(-1)
	got, err := k.Decode([]tensor.Named{named("y", v, 2, 3, 3, 2)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := got[1].(*space.Field); !ok || !math.IsNaN(x.U()[0]) || !math.IsInf(x.V()[0], -1) || x.U()[1] != 0 {
		t.Errorf("%+v", got[1])
	}
}

func scale(v []float64, f float64) []float64 {
	s := make([]float64, len(v))
	for i := range v {
		s[i] = v[i] * f
	}
	return s
}

func TestFieldsRefused(t *testing.T) {
	f := tensor.Float32
	for _, c := range []struct {
		name string
		port onnx.Port
		spec decode.OutputSpec
		want string
	}{
		{"three channels", out("y", f, -1, 3, 8, 8), decode.OutputSpec{}, "no axis of length 2 for u and v"},
		{
			"a quarter", out("y", f, -1, 2, 2, 2),
			decode.OutputSpec{},
			"a field of 2 x 2 (height x width), the model sees 8 x 8; a field has a vector at every pixel: add a " +
				"Resize",
		},
		{"a vector", out("y", f, -1, 2), decode.OutputSpec{}, "has 2 axes"},
		{
			"against its layout", out("y", f, -1, 8, 8, 2),
			decode.OutputSpec{Field: decode.FieldSpec{Layout: "NCHW"}},
			"before height and width, see output.field.layout",
		},
		{
			"unknown layout", out("y", f, -1, 2, 8, 8),
			decode.OutputSpec{Field: decode.FieldSpec{Layout: "CHW"}},
			"output.field.layout",
		},
		{
			"unknown order", out("y", f, -1, 2, 8, 8),
			decode.OutputSpec{Field: decode.FieldSpec{Order: "xy"}},
			"output.field.order",
		},
		{
			"NaN scale", out("y", f, -1, 2, 8, 8),
			decode.OutputSpec{Field: decode.FieldSpec{Scale: math.NaN()}},
			"output.field.scale",
		},
		{"softmax", out("y", f, -1, 2, 8, 8), decode.OutputSpec{Decode: "softmax"}, "output.decode"},
		{"no such output", out("y", f, -1, 2, 8, 8), decode.OutputSpec{Name: "z"}, `no output "z"`},
		{"nothing", out("y", f, -1, 2, 0, 8), decode.OutputSpec{}, "no numbers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sequence(out("x", f, -1, 2, 8, 8))
			s.Outputs[0] = c.port
			c.spec.Space = space.KindField
			if _, err := decode.New(s, decode.InputSpec{Frames: 2}, c.spec); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %q", err, c.want)
			}
		})
	}
	s := sequence(out("x", f, -1, 2, 8, 8))
	s.Outputs[0].Ranked, s.Outputs[0].Shape = false, nil
	k, err := decode.New(s, decode.InputSpec{Frames: 2}, flows)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		shape []int
		want  string
	}{
		{[]int{1, 3, 8, 8}, "no axis of length 2"},
		{[]int{2, 8, 8}, "for a batch of 2; its first axis should count"},
		{[]int{1, 2, 8, 8}, "for a batch of 2; its first axis should count"},
		{[]int{2, 2, 4, 8}, "the model sees 8 x 8"},
		{[]int{4}, "has 1 axes"},
	} {
		if _, err := k.Decode([]tensor.Named{{Name: "flow", Tensor: tensor.New(f, c.shape...)}}, 2); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.shape, err, c.want)
		}
	}
	if _, err := k.Decode([]tensor.Named{{Name: "other"}}, 1); err == nil ||
		!strings.Contains(err.Error(), `no output "flow"`) {
		t.Error(err)
	}
	boxes, err := decode.New(detector(8, out("y", f, -1, -1, 6)), decode.InputSpec{},
		decode.OutputSpec{Space: space.KindBoxes})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode.Raw(boxes, []space.Value{&space.Boxes{}}); !errors.Is(err, decode.ErrNotLinear) {
		t.Errorf("%v, want boxes to have no derivative", err)
	}
}

// FuzzFrames: any inputs and outputs of a model of flows are served or refused, never a panic, and data that is
// accepted is encoded.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 2, 8, 8}, []byte{}, []byte{0, 2, 8, 8}, []byte{1, 2, 8, 8}, uint8(2), uint8(0))
	f.Add([]byte{0, 1, 8, 8}, []byte{0, 1, 8, 8}, []byte{}, []byte{1, 8, 8, 2}, uint8(2), uint8(1))
	f.Add([]byte{0, 2, 3, 8, 8}, []byte{}, []byte{2, 8, 8}, []byte{2, 8, 8}, uint8(2), uint8(7))
	f.Add([]byte{3, 8, 8, 9}, []byte{}, []byte{0, 8, 8, 2}, []byte{3, 8, 8, 2}, uint8(3), uint8(30))
	f.Fuzz(func(t *testing.T, a, b, declared, returned []byte, frames, bits uint8) {
		dims := func(s []byte, free int) (d []int) {
			for _, x := range s[:min(len(s), 6)] {
				if d = append(d, int(x%13)); x%13 == 0 {
					d[len(d)-1] = free
				}
			}
			return d
		}
		s := sequence(out("a", tensor.Float32, dims(a, -1)...))
		if len(b) > 0 {
			s.Inputs = append(s.Inputs, out("b", tensor.Float64, dims(b, -1)...))
		}
		s.Inputs[0].Ranked = len(a) > 0
		s.Outputs[0] = out("flow", tensor.Float32, dims(declared, -1)...)
		s.Outputs[0].Ranked = len(declared) > 0
		t1, c := int(frames%4), 1+2*int(bits&1)
		k, err := decode.New(s, decode.InputSpec{
			Frames: t1, Sample: []int{c, 8, 8}, Layout: []string{"", "NCHW", "NHWC", "NCTHW"}[bits>>1&3],
			Channels: []string{"", "rgb", "grey", "bgr"}[bits>>3&3],
		}, decode.OutputSpec{
			Space: space.KindField,
			Field: decode.FieldSpec{
				Layout: []string{"", "NCHW", "NHWC"}[bits>>5%3],
				Order:  []string{"uv", "vu"}[bits>>7],
			},
		})
		if err != nil {
			return
		}
		var v space.Value = pictures(t1, c, 8, 8)
		if t1 == 0 {
			v = ramp(c, 8, 8)
		}
		if _, err := k.Encode([]space.Value{v}, nil); err != nil {
			t.Errorf("accepted data is refused: %v", err)
		}
		got, err := k.Decode([]tensor.Named{{Name: "flow", Tensor: tensor.New(tensor.Float32, dims(returned, 0)...)}},
			1)
		if err != nil {
			return
		}
		x, ok := got[0].(*space.Field)
		if !ok || len(got) != 1 || len(x.Val) != 2*x.H*x.W || x.H != 8 || x.W != 8 {
			t.Errorf("%d predictions, %+v", len(got), got[0])
		}
		if _, err := decode.Raw(k, got); err != nil {
			t.Errorf("its own field is refused: %v", err)
		}
	})
}
