package repair

import (
	"math/rand/v2"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// windows is a model of windows in a row on pictures of 8 x 6, with a mean over the places at the end. Each is an
// operator with its attributes.
func windows(t *testing.T, opset int, nodes ...window) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(opset)
	y := b.Input("x", tensor.Float32, "n", 1, 8, 6)
	r := rand.New(rand.NewPCG(71, 0))
	stored := func(shape ...int) string {
		v := make([]float32, tensor.Count(shape))
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return b.Const(tensor.FromFloat32(v, shape...))
	}
	for _, n := range nodes {
		in := []string{y}
		switch n.op {
		case "Conv":
			in = append(in, stored(1, 1, n.kernel, n.kernel))
		case "Pad":
			in = append(in, b.Ints(0, 0, 1, 2, 0, 0, 1, 2))
		}
		y = b.Op("Tanh", []string{b.Op(n.op, in, n.attrs...)})
	}
	y = b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{y})})
	b.Output(b.Op("Mul", []string{y, stored(4)}), tensor.Float32, "n", 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

type window struct {
	op     string
	kernel int
	attrs  []*onnxpb.AttributeProto
}

func conv(kernel int, attrs ...*onnxpb.AttributeProto) window { return window{"Conv", kernel, attrs} }

// Windows that read zeros beyond the border read the other side after it, whatever they are, so that rolls keep the
// answer.
func TestPaddingRolls(t *testing.T) {
	same := onnx.AttrString("auto_pad", "SAME_UPPER")
	kernel := func(k int64) *onnxpb.AttributeProto { return onnx.AttrInts("kernel_shape", k, k) }
	for name, nodes := range map[string][]window{
		"convolutions": {conv(3, onnx.AttrInts("pads", 1, 1, 1, 1)), conv(5, onnx.AttrInts("pads", 2, 2, 2, 2))},
		"one-sided":    {conv(4, same), conv(2, onnx.AttrString("auto_pad", "SAME_LOWER"))},
		"dilated":      {conv(3, onnx.AttrInts("pads", 2, 2, 2, 2), onnx.AttrInts("dilations", 2, 2))},
		"poolings": {
			{"MaxPool", 0, []*onnxpb.AttributeProto{kernel(3), onnx.AttrInts("pads", 1, 1, 1, 1)}},
			{"AveragePool", 0, []*onnxpb.AttributeProto{kernel(3), onnx.AttrInts("pads", 1, 1, 1, 1)}},
		},
		// 1 and 2 places for a window of 3 x 5
		"a pad by itself": {{"Pad", 0, nil}, conv(3, onnx.AttrInts("dilations", 1, 2))},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(73, 0)) // of each case by itself: a map has no order
			m := windows(t, 13, nodes...)
			s := picturesOf(t, m, "Roll(8,6)", "NCHW", 1, 8, 6)
			made := repaired(t, s, "padding")
			x := []space.Value{blots(r, 1, 8, 6), blots(r, 1, 8, 6)}
			if e := turned(t, s, m, x); !(e > 1e-3) {
				t.Errorf("the model does not mind: %g", e)
			}
			if e := turned(t, s, made, x); !(e <= 5e-5) {
				t.Errorf("error %g", e)
			}
			for _, n := range made.Proto().GetGraph().GetNode() {
				if n.GetOpType() == "Pad" {
					t.Error("a Pad is left, which wraps from version 19 on only")
				}
			}
			asked, err := Parse("padding")
			if err != nil {
				t.Fatal(err)
			}
			s.Model = plainly(t, made)
			if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), "no node") {
				t.Errorf("the repaired model, again: %v", err)
			}
		})
	}
}

// plainly is a model that does not say what was done to it.
func plainly(t *testing.T, m *onnx.Model) *onnx.Model {
	t.Helper()
	b := m.Edit()
	b.Header().MetadataProps = nil
	out, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is mirrored at the border is what a picture mirrored by hand says without padding.
func TestPaddingReflects(t *testing.T) {
	m := windows(t, 11, conv(3, onnx.AttrInts("pads", 1, 1, 1, 1)))
	s := picturesOf(t, m, "Roll(8,6)", "NCHW", 1, 8, 6)
	made := repaired(t, s, "padding:mode=reflect")
	bare := m.Edit()
	for _, n := range bare.Graph().GetNode() {
		if n.GetOpType() == "Conv" {
			n.Attribute = nil
		}
	}
	bare.Graph().Input[0] = onnx.ValueInfo("x", tensor.Float32, "n", 1, 10, 8)
	valid, err := bare.Model()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(79, 0))
	small, large := make([]float32, 48), make([]float32, 80)
	for i := range small {
		small[i] = float32(r.NormFloat64())
	}
	mirror := func(i, n int) int { return min(max(i, -i), 2*(n-1)-i) }
	for i := range large {
		large[i] = small[6*mirror(i/8-1, 8)+mirror(i%8-1, 6)]
	}
	got := floats(t, ask(t, made, tensor.Named{Name: "x", Tensor: tensor.FromFloat32(small, 1, 1, 8, 6)})[0].Tensor)
	want := floats(t, ask(t, valid, tensor.Named{Name: "x", Tensor: tensor.FromFloat32(large, 1, 1, 10, 8)})[0].Tensor)
	if d := distance(got, want); !(d <= 1e-6) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPaddingRefuses(t *testing.T) {
	zeros := onnx.AttrInts("pads", 1, 1, 1, 1)
	for _, c := range []struct {
		claim, want string
		m           *onnx.Model
	}{
		{"C4", "does not roll pictures", windows(t, 13, conv(3, zeros))},
		{"Roll(8,6)", "no node of the graph loses rolls", windows(t, 13)},
		{"Roll(8,6)", "no window pads a map by itself", windows(t, 13, conv(3))},
		{"Roll(8,6)", "pads 7 places of 6", windows(t, 13, conv(15, onnx.AttrInts("pads", 7, 7, 7, 7)))},
		{"Roll(8,6)", "version 10; repairs are written in those of 11", windows(t, 10, conv(3, zeros))},
	} {
		s := picturesOf(t, c.m, c.claim, "NCHW", 1, 8, 6)
		asked, err := Parse("padding")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.claim, err, c.want)
		}
	}
}
