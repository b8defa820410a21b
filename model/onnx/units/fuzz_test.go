package units_test

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/units"
	"nero/model/onnx/units/unitstest"
)

// networks are those whose units are known.
func networks() []*onnx.Model {
	return []*onnx.Model{
		unitstest.MLP(1, "Relu"), unitstest.CNN(1), unitstest.Residual(1), unitstest.Attention(1), unitstest.RMS(1),
		unitstest.Groups(1), unitstest.Normed(1, "InstanceNormalization", true),
		unitstest.Normed(1, "LpNormalization", false, onnx.AttrInt("axis", 1)), unitstest.Bare(), unitstest.Free(1),
	}
}

// sound looks at any model that loads: it is refused, or what is said of it is about what it has.
func sound(t rapid.TB, m *onnx.Model) {
	t.Helper()
	shapes, err := facts.SampleShapes(m.Signature(), 1, nil)
	if err != nil {
		if shapes, err = facts.SampleShapes(m.Signature(), 1, []int{1, 4, 4, 4}); err != nil {
			return
		}
	}
	f, err := facts.Infer(m, shapes, nil)
	if err != nil || f.Fits() != nil {
		return
	}
	g, err := units.Of(f)
	if err != nil {
		return
	}
	stored := g.Stored()
	for _, c := range g.Classes {
		if c.Units < 0 || c.Blocks < 1 || len(c.Stored) == 0 {
			t.Fatalf("class %s: %d units in %d blocks, stored in %v", c.Label(), c.Units, c.Blocks, c.Stored)
		}
		for _, p := range c.Stored {
			spots := g.Spots(p.Value)
			if !slices.Contains(stored, p.Value) || p.Axis >= len(spots) ||
				!slices.ContainsFunc(spots[p.Axis], func(s units.Spot) bool { return s.Class == c }) {
				t.Fatalf("class %s is said to be on axis %d of %q", c.Label(), p.Axis, p.Value)
			}
		}
	}
	for _, name := range stored {
		shape := g.Shape(name)
		for axis, list := range g.Spots(name) {
			for _, s := range list {
				if len(s.Index) != shape[axis] || len(s.Stride) != shape[axis] {
					t.Fatalf("axis %d of %q of shape %v has %d places", axis, name, shape, len(s.Index))
				}
				for _, i := range s.Index {
					if i < -1 || int(i) >= s.Class.Units {
						t.Fatalf("axis %d of %q has unit %d of %d", axis, name, i, s.Class.Units)
					}
				}
			}
		}
	}
	for _, m := range g.Moves {
		for _, p := range m.On {
			if !slices.Contains(stored, p.Tensor) {
				t.Fatalf("a %s at %s moves %q, which is not stored", m.Kind, m.At, p.Tensor)
			}
		}
	}
	for _, n := range g.Norms {
		for _, name := range n.On {
			if !slices.Contains(stored, name) {
				t.Fatalf("%q before %s is not stored", name, n.Normaliser)
			}
		}
	}
}

// bend changes a network that is in order: attributes, shapes of stored tensors, what nodes read, which operators they
// are.
func bend(t *rapid.T) {
	all := networks()
	p := proto.CloneOf(all[rapid.IntRange(0, len(all)-1).Draw(t, "network")].Proto())
	g := p.GetGraph()
	number := rapid.OneOf(rapid.Int64Range(-4, 9),
		rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 1 << 40, 1 << 31}))
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		n := g.Node[rapid.IntRange(0, len(g.Node)-1).Draw(t, "node")]
		switch rapid.IntRange(0, 6).Draw(t, "what") {
		case 0:
			name := rapid.SampledFrom([]string{
				"axis", "group", "num_groups", "transA", "transB", "keepdims", "allowzero", "training_mode", "to", "p",
			}).Draw(t, "attribute")
			n.Attribute = slices.DeleteFunc(n.Attribute,
				func(a *onnxpb.AttributeProto) bool { return a.GetName() == name })
			n.Attribute = append(n.Attribute, onnx.AttrInt(name, number.Draw(t, "value")))
		case 1:
			name := rapid.SampledFrom([]string{
				"axes", "perm", "pads", "strides", "split", "starts", "ends",
			}).Draw(t, "attribute")
			n.Attribute = slices.DeleteFunc(n.Attribute,
				func(a *onnxpb.AttributeProto) bool { return a.GetName() == name })
			n.Attribute = append(n.Attribute, onnx.AttrInts(name,
				rapid.SliceOfN(number, 0, 5).Draw(t, "values")...))
		case 2:
			if len(g.Initializer) > 0 {
				k := rapid.IntRange(0, len(g.Initializer)-1).Draw(t, "stored tensor")
				d := rapid.SampledFrom([]tensor.DType{tensor.Float32, tensor.Int64}).Draw(t, "type")
				shape := rapid.SliceOfN(rapid.IntRange(0, 8), 0, 4).Draw(t, "shape")
				g.Initializer[k] = onnx.Stored(g.Initializer[k].GetName(), tensor.New(d, shape...))
			}
		case 3:
			n.Input = n.Input[:rapid.IntRange(0, len(n.Input)).Draw(t, "inputs")]
		case 4:
			if len(n.Input) > 0 {
				other := g.Node[rapid.IntRange(0, len(g.Node)-1).Draw(t, "other")]
				n.Input[rapid.IntRange(0, len(n.Input)-1).Draw(t, "input")] = other.Output[0]
			}
		case 5:
			n.OpType = new(rapid.SampledFrom([]string{
				"Conv", "ConvTranspose", "Gemm", "MatMul", "Mul", "Div", "Add", "Sub", "Pow", "PRelu", "Where",
				"Concat", "Split", "Slice", "Gather", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze",
				"Expand", "Pad", "ReduceMean", "ReduceL2", "BatchNormalization", "InstanceNormalization",
				"GroupNormalization",
				"LayerNormalization", "LpNormalization", "Softmax", "MaxPool", "GlobalAveragePool", "Resize",
				"Identity", "Sqrt", "Relu", "Tanh", "CumSum",
			}).Draw(t, "operator"))
		default:
			n.Output = append(n.Output, "another")
		}
	}
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Load(b)
	if err != nil {
		return // the file itself is not in order
	}
	sound(t, m)
}

// Networks that somebody has changed are refused or described, and end nothing.
func TestBent(t *testing.T) {
	for _, m := range networks() {
		sound(t, m)
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 3 {
			bend(t)
		}
	})
}

func FuzzBent(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bend)) }

// FuzzOf looks at files.
func FuzzOf(f *testing.F) {
	for _, m := range networks() {
		b, err := m.Bytes()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := onnx.Load(b)
		if err != nil {
			return
		}
		sound(t, m)
	})
}
