package repair

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/action"
)

// coarse reads squares of n pixels and c channels by a strided kernel that quarter turns leave as it is: its grid is
// that of the picture if the stride divides n-1.
func coarse(t *testing.T, n, stride, c, opset int, last bool) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(opset)
	axes := []any{"n", c, n, n}
	if last {
		axes = []any{"n", n, n, c}
	}
	x := b.Input("x", tensor.Float32, axes...)
	if last {
		x = b.Op("Transpose", []string{x}, onnx.AttrInts("perm", 0, 3, 1, 2))
	}
	k := make([]float32, 0, 9*4*c)
	for i := range 4 * c {
		a, b, c := float32(i%3)-1, float32(i%5)/2-1, float32(i%7)/3-1
		k = append(k, c, b, c, b, a, b, c, b, c)
	}
	y := b.Op("Tanh", []string{b.Op("Conv", []string{
		x, b.Const(tensor.FromFloat32(k, 4, c, 3, 3)),
	}, onnx.AttrInts("strides", int64(stride), int64(stride)), onnx.AttrInts("pads", 1, 1, 1, 1))})
	b.Output(b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{y})}), tensor.Float32, "n", 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A strided grid on an even number of pixels: the odd sizes around it are named. None of them differs by an even
// number, so that nothing is written.
func TestSizeAdvice(t *testing.T) {
	m := coarse(t, 8, 2, 1, 13, false)
	for method, want := range map[string]string{
		"size":         "pictures of 5, 7, 9, 11 pixels keep C4; yours is 8",
		"size:by=pad":  "no size that an even number of pixels leads to: pictures of",
		"size:by=crop": "no size that an even number of pixels leads to: pictures of",
	} {
		s := picturesOf(t, m, "C4", "NCHW", 1, 8, 8)
		asked, err := Parse(method)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", method, err, want)
		}
	}
	oneSided := network(t, true, 89, onnx.AttrInts("pads", 1, 1, 0, 0))
	// A strided kernel and weights for every one of 4 x 4 places: of other sizes only 7 is read.
	b := m.Edit()
	nodes := b.Graph().GetNode()
	b.Graph().Node = slices.DeleteFunc(nodes, func(n *onnxpb.NodeProto) bool {
		return n.GetOpType() == "GlobalAveragePool" || n.GetOpType() == "Flatten"
	})
	y := b.Op("Flatten", []string{b.Graph().GetNode()[1].GetOutput()[0]})
	y = b.Op("MatMul", []string{y, b.Const(tensor.FromFloat32(make([]float32, 64*4), 64, 4))})
	b.Graph().Output = nil
	b.Output(y, tensor.Float32, "n", 4)
	flat, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	fine := picturesOf(t, coarse(t, 9, 2, 1, 13, false), "C4", "NCHW", 1, 9, 9)
	for _, c := range []struct {
		name, want string
		s          Source
	}{
		{"a size that fits", "sizes are not what breaks it", fine},
		{"rolls", "more than quarter turns and mirrors", picturesOf(t, m, "Roll(8,8)", "NCHW", 1, 8, 8)},
		{"dense", "pictures of 7 pixels keep C4", picturesOf(t, flat, "C4", "NCHW", 1, 8, 8)},
		{"one-sided", "no size from 2 to 25 that the graph reads keeps C4", picturesOf(t, oneSided, "C4", "NCHW", 1, 9,
			9)},
	} {
		asked, err := Parse("size")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Build(c.s, asked); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Pictures are framed with what stands for a pixel of 0, or cut alike on all sides: the file answers what the model
// would say to pictures of the other size, and the answer keeps quarter turns.
func TestSizeApplied(t *testing.T) {
	for _, c := range []struct {
		by     string
		n      int
		layout string
		opset  int
		mean   []float64
	}{
		{"pad", 13, "NCHW", 11, []float64{0.5}},
		{"pad", 13, "NHWC", 13, []float64{0.1, 0.2, 0.4}},
		{"pad", 13, "NCHW", 18, []float64{0.1, 0.2, 0.4}},
		{"crop", 9, "NHWC", 13, []float64{0.1, 0.2, 0.4}},
	} {
		t.Run(fmt.Sprint(c.by, " ", c.layout, " ", len(c.mean)), func(t *testing.T) {
			channels := len(c.mean)
			codec := func(m *onnx.Model, n int) decode.Codec {
				k, err := decode.New(m.Signature(), decode.InputSpec{
					Sample: []int{channels, n, n}, Layout: c.layout, Scale: 255, Mean: c.mean,
					Std: slices.Repeat([]float64{0.3}, channels),
				}, decode.OutputSpec{Decode: "logits"})
				if err != nil {
					t.Fatal(err)
				}
				return k
			}
			m := coarse(t, 11, 4, channels, c.opset, c.layout == "NHWC")
			other := coarse(t, c.n, 4, channels, c.opset, c.layout == "NHWC")
			s := picturesOf(t, network(t, true, 1), "C4", "NCHW", 1, 9, 9) // for its group
			s.Model, s.Codec = m, codec(m, 11)
			a, err := action.NewImage(s.Group, space.Spec{
				Name: "x", Kind: space.KindImage, Shape: []int{channels, 11, 11},
			}, action.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s.In = a
			r := rand.New(rand.NewPCG(83, 0))
			x := []space.Value{blots(r, channels, 11, 11), blots(r, channels, 11, 11)}
			s.Sample = x[0]
			made := repaired(t, s, "size:by="+c.by)
			if e := turned(t, s, m, x); !(e > 1e-3) {
				t.Errorf("the model does not mind: %g", e)
			}
			if e := turned(t, s, made, x); !(e <= 1e-5) {
				t.Errorf("error %g", e)
			}
			small, ok := x[0].(*space.Image)
			if !ok {
				t.Fatal("no picture")
			}
			large := space.NewImage(channels, c.n, c.n)
			by := (c.n - 11) / 2
			for i := range large.Pix {
				y, z := i/c.n%c.n-by, i%c.n-by
				if y >= 0 && y < 11 && z >= 0 && z < 11 {
					large.Pix[i] = small.Pix[i/(c.n*c.n)*121+y*11+z]
				}
			}
			say := func(m *onnx.Model, k decode.Codec, v space.Value) []float64 {
				in, err := k.Encode([]space.Value{v}, nil)
				if err != nil {
					t.Fatal(err)
				}
				return floats(t, ask(t, m, in...)[0].Tensor)
			}
			got, want := say(made, s.Codec, small), say(other, codec(other, c.n), large)
			if d := distance(got, want); !(d <= 1e-5) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
