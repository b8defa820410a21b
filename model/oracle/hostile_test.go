package oracle_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/model/engine/enginetest"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/oracle"
)

// attributePool are attributes of all operators by type; a node keeps those that its operator reads.
var attributePool = struct{ ints, lists, floats, strings []string }{
	ints: []string{
		"axis", "keepdims", "group", "p", "k", "largest", "sorted", "to", "batch_dims", "blocksize", "ceil_mode",
		"storage_order", "size", "num_groups",
		"transA", "transB", "hidden_size", "layout", "linear_before_reset", "input_forget", "upper", "start", "end",
		"batch_axis", "time_axis",
		"exclusive", "reverse", "num_outputs", "allowzero", "align_corners", "exclude_outside", "antialias",
		"count_include_pad", "fmod", "dtype",
		"select_last_index", "noop_with_empty_axes", "training_mode", "detect_negative", "ignore_index", "value_int",
		"broadcast", "is_test",
	},
	lists: []string{
		"axes", "perm", "pads", "strides", "dilations", "kernel_shape", "output_shape", "output_padding", "split",
		"starts", "ends", "value_ints",
	},
	floats: []string{
		"alpha", "beta", "epsilon", "momentum", "bias", "clip", "cubic_coeff_a", "extrapolation_value",
		"ratio", "min", "max", "value",
	},
	strings: []string{
		"mode", "auto_pad", "equation", "direction", "reduction", "padding_mode", "coordinate_transformation_mode",
		"nearest_mode",
		"keep_aspect_ratio_policy", "approximate",
	},
}

var words = []string{
	"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "reflect", "edge", "wrap", "constant", "linear", "nearest", "cubic",
	"bilinear", "bicubic", "reverse",
	"bidirectional", "add", "mul", "min", "max", "sum", "none", "mean", "border", "reflection", "LEFT", "RIGHT", "CRD",
	"tanh", "align_corners",
	"asymmetric", "tf_crop_and_resize", "half_pixel_symmetric", "not_larger", "ij,jk->ik", "...i,...i->...", "ii",
	"i,i", "ab->ba", "->", ",",
	"round_prefer_ceil", "ceil", "",
}

var hostileInts = rapid.OneOf(
	rapid.Int64Range(-4, 6),
	rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 1 << 40, -1 << 40, 1 << 31, 1<<31 - 1, 1 << 20, 1000}),
)

func hostileTensor(t *rapid.T) tensor.Tensor {
	d := rapid.SampledFrom([]tensor.DType{
		tensor.Float32, tensor.Float32, tensor.Int64, tensor.Int64, tensor.Bool,
		tensor.Uint8, tensor.Uint64, tensor.Int32,
	}).Draw(t, "type")
	x := tensor.New(d, rapid.SliceOfN(rapid.IntRange(0, 4), 0, 5).Draw(t, "shape")...)
	seed := rapid.Uint64().Draw(t, "values")
	small := rapid.Bool().Draw(t, "small")
	for k := range x.Len() {
		seed = seed*6364136223846793005 + 1442695040888963407
		v := int64(seed>>33)%7 - 2
		switch d { //nolint:exhaustive // all others are integers
		case tensor.Bool:
			x.Raw[k] = byte(seed >> 63)
		case tensor.Float32:
			f := float32(v) / 2
			if !small && seed>>60 == 0 {
				f = [4]float32{float32(math.Inf(1)), float32(math.NaN()), 1e30, -1e9}[seed>>40&3]
			}
			binary.LittleEndian.PutUint32(x.Raw[4*k:], math.Float32bits(f))
		default:
			if !small && seed>>61 == 0 {
				v = [4]int64{math.MaxInt64, math.MinInt64, 1 << 33, 100000}[seed>>40&3]
			}
			for j := range d.Size() {
				x.Raw[k*d.Size()+j] = byte(uint64(v) >> (8 * j))
			}
		}
	}
	return x
}

// hostile runs one node with attributes and inputs that mean no good: the result is a tensor or an error, never a
// panic, and memory stays within what was allowed.
func hostile(t *rapid.T) {
	ops := oracle.Supported()
	op, _, _ := strings.Cut(rapid.SampledFrom(ops).Draw(t, "operator"), " ")
	b := onnx.NewBuilder(rapid.SampledFrom([]int{6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23}).Draw(t,
		"operator set"))
	var in []tensor.Named
	var names []string
	for k := range rapid.IntRange(1, 5).Draw(t, "inputs") {
		name := string(rune('a' + k))
		if k > 0 && rapid.IntRange(0, 5).Draw(t, "left out") == 0 {
			names = append(names, "")
			continue
		}
		names = append(names, name)
		b.Graph().Input = append(b.Graph().Input, &onnxpb.ValueInfoProto{Name: new(name)})
		in = append(in, tensor.Named{Name: name, Tensor: hostileTensor(t)})
	}
	outs := []string{"y", "y1", "y2"}[:rapid.IntRange(1, 3).Draw(t, "outputs")]
	n := &onnxpb.NodeProto{OpType: new(op), Input: names, Output: outs}
	// Each attribute is there with some chance; those that the operator does not read go, as the error names them.
	draw := rapid.IntRange(0, 3)
	for _, a := range attributePool.ints {
		if draw.Draw(t, a) == 0 {
			n.Attribute = append(n.Attribute, onnx.AttrInt(a, hostileInts.Draw(t, a)))
		}
	}
	for _, a := range attributePool.lists {
		if draw.Draw(t, a) == 0 {
			n.Attribute = append(n.Attribute, onnx.AttrInts(a, rapid.SliceOfN(hostileInts, 0, 6).Draw(t, a)...))
		}
	}
	for _, a := range attributePool.floats {
		if draw.Draw(t, a) == 0 {
			n.Attribute = append(n.Attribute, onnx.AttrFloat(a, rapid.Float32().Draw(t, a)))
		}
	}
	for _, a := range attributePool.strings {
		if draw.Draw(t, a) == 0 {
			n.Attribute = append(n.Attribute, onnx.AttrString(a, rapid.SampledFrom(words).Draw(t, a)))
		}
	}
	b.Graph().Node = append(b.Graph().Node, n)
	for _, o := range outs {
		b.Graph().Output = append(b.Graph().Output, &onnxpb.ValueInfoProto{Name: new(o)})
	}
	for range len(n.Attribute) + 1 {
		m, err := b.Model()
		if err != nil {
			return // the file itself is not in order
		}
		g, err := oracle.Load(m)
		if u, ok := errors.AsType[*oracle.UnsupportedError](err); ok {
			before := len(n.Attribute)
			n.Attribute = slices.DeleteFunc(n.Attribute, func(a *onnxpb.AttributeProto) bool {
				return strings.Contains(u.Ops[0]+" ", "attribute "+a.GetName()+" ")
			})
			if len(n.Attribute) == before {
				return
			}
			continue
		}
		if err != nil {
			t.Fatalf("an error of another kind: %v", err)
		}
		safely(t, g, in)
		return
	}
}

// bent runs one of the operator models after a few changes to its attributes, its stored tensors or its input.
func bent(t *rapid.T) {
	cs := operatorCases()
	c := cs[rapid.IntRange(0, len(cs)-1).Draw(t, "case")]
	b := onnx.NewBuilder(c.opset)
	shape := slices.Clone(c.shape)
	b.Graph().Input = []*onnxpb.ValueInfoProto{{Name: new("x")}}
	b.Graph().Output = []*onnxpb.ValueInfoProto{{Name: new(c.make(b, "x"))}}
	g := b.Graph()
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		n := g.Node[rapid.IntRange(0, len(g.Node)-1).Draw(t, "node")]
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0, 1:
			if len(n.Attribute) == 0 {
				continue
			}
			a := n.Attribute[rapid.IntRange(0, len(n.Attribute)-1).Draw(t, "attribute")]
			switch {
			case len(a.Ints) > 0 && rapid.Bool().Draw(t, "cut"):
				a.Ints = a.Ints[:len(a.Ints)-1]
			case len(a.Ints) > 0:
				a.Ints[rapid.IntRange(0, len(a.Ints)-1).Draw(t, "element")] = hostileInts.Draw(t, "value")
			case a.S != nil:
				a.S = []byte(rapid.SampledFrom(words).Draw(t, "value"))
			case a.F != nil:
				a.F = new(rapid.Float32().Draw(t, "value"))
			default:
				a.I = new(hostileInts.Draw(t, "value"))
			}
		case 2:
			if len(n.Attribute) > 0 {
				n.Attribute = n.Attribute[1:]
			}
		case 3:
			if len(g.Initializer) == 0 {
				continue
			}
			k := rapid.IntRange(0, len(g.Initializer)-1).Draw(t, "stored tensor")
			g.Initializer[k] = onnx.Stored(g.Initializer[k].GetName(), hostileTensor(t))
		case 4:
			if len(g.Initializer) == 0 {
				continue
			}
			p := g.Initializer[rapid.IntRange(0, len(g.Initializer)-1).Draw(t, "stored tensor")]
			if len(p.RawData) < 8 {
				continue
			}
			at := rapid.IntRange(0, len(p.RawData)/8-1).Draw(t, "element")
			binary.LittleEndian.PutUint64(p.RawData[8*at:], uint64(hostileInts.Draw(t, "value")))
		default:
			shape[rapid.IntRange(0, len(shape)-1).Draw(t, "axis")] = rapid.IntRange(0, 12).Draw(t, "length")
			if rapid.IntRange(0, 3).Draw(t, "rank") == 0 {
				shape = append(shape, 2)
			}
		}
	}
	m, err := b.Model()
	if err != nil {
		return
	}
	ref, err := oracle.Load(m)
	if err != nil {
		return
	}
	safely(t, ref, []tensor.Named{{Name: "x", Tensor: noise(rapid.Uint64().Draw(t, "seed"), shape...)}})
}

func TestBentModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			bent(t)
		}
	})
}

func FuzzBent(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bent)) }

// allowed is the number of elements for hostile runs, 512 KiB.
const allowed = 1 << 16

// safely runs a graph and watches its memory.
func safely(t rapid.TB, g *oracle.Graph, in []tensor.Named) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	out, _ := g.Run(ctx, in, oracle.Options{Elements: allowed}) // errors are welcome
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("a run took %v", d)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64*8*allowed {
		t.Errorf("a run allocated %d bytes", n)
	}
	for _, y := range out {
		if err := y.Check(); err != nil {
			t.Errorf("%s: %v", y.Name, err)
		}
	}
}

func TestHostileNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			hostile(t)
		}
	})
}

func FuzzNode(f *testing.F) { f.Fuzz(rapid.MakeFuzz(hostile)) }

// FuzzModel runs models that were damaged, on zeros.
func FuzzModel(f *testing.F) {
	f.Add(enginetest.Network().Bytes())
	for _, c := range operatorCases() {
		b := onnx.NewBuilder(c.opset)
		axes := make([]any, len(c.shape))
		for j, n := range c.shape {
			axes[j] = n
		}
		b.Graph().Output = append(b.Graph().Output,
			&onnxpb.ValueInfoProto{Name: new(c.make(b, b.Input("x", tensor.Float32, axes...)))})
		model, err := b.Bytes()
		if err != nil {
			f.Fatal(err)
		}
		if len(model) < 2000 {
			f.Add(model)
		}
	}
	f.Fuzz(func(t *testing.T, model []byte) {
		m, err := onnx.Load(model)
		if err != nil {
			return
		}
		g, err := oracle.Load(m)
		if err != nil {
			return
		}
		var in []tensor.Named
		for _, p := range m.Signature().Inputs {
			shape := p.Sizes()
			for k := range shape {
				if shape[k] < 0 {
					shape[k] = 2
				}
			}
			d := p.DType
			if d == tensor.Undefined {
				d = tensor.Float32
			}
			if _, err := tensor.CheckedCount(shape, allowed); err != nil {
				return
			}
			in = append(in, tensor.Named{Name: p.Name, Tensor: tensor.New(d, shape...)})
		}
		safely(t, g, in)
	})
}

// Shapes that ask for terabytes are errors before anything is made.
func TestHugeShapes(t *testing.T) {
	huge := []int64{1 << 20, 1 << 20, 1 << 20}
	for _, c := range []struct {
		name string
		op   string
		in   [][]int64
		a    []attribute
	}{
		{"filled", "ConstantOfShape", [][]int64{huge}, nil},
		{"expanded", "Expand", [][]int64{{1}, huge}, nil},
		{"tiled", "Tile", [][]int64{{1}, {1 << 40}}, nil},
		{"padded", "Pad", [][]int64{{1}, {1 << 40, 1 << 40}}, nil},
		{"hot", "OneHot", [][]int64{{1, 2}, {1 << 40}, {0, 1}}, nil},
		{"counted", "Range", [][]int64{{0}, {1 << 50}, {1}}, nil},
	} {
		b := onnx.NewBuilder(18)
		var in []string
		for _, v := range c.in {
			in = append(in, b.Ints(v...))
		}
		b.Graph().Output = append(b.Graph().Output, &onnxpb.ValueInfoProto{Name: new(b.Op(c.op, in, c.a...))})
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		g, err := oracle.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := g.Run(t.Context(), nil, oracle.Options{}); err == nil {
			t.Errorf("%s: made %v", c.name, out[0].Shape)
		}
	}
}

// A loop without an end stops with its context.
func TestEndlessLoop(t *testing.T) {
	b := onnx.NewBuilder(18)
	yes := b.Const(tensor.Tensor{DType: tensor.Bool, Shape: []int{}, Raw: []byte{1}})
	body := &onnxpb.GraphProto{
		Name:   new("body"),
		Input:  []*onnxpb.ValueInfoProto{{Name: new("i")}, {Name: new("on")}, {Name: new("v")}},
		Output: []*onnxpb.ValueInfoProto{{Name: new("on")}, {Name: new("w")}},
		Node:   []*onnxpb.NodeProto{{OpType: new("Add"), Input: []string{"v", "one"}, Output: []string{"w"}}},
	}
	b.Graph().Initializer = append(b.Graph().Initializer, onnx.Stored("one", tensor.FromInt64([]int64{1}, 1)))
	loop := func(count string) *oracle.Graph {
		c := proto.CloneOf(b.Header())
		c.Graph.Node = append(c.Graph.Node, &onnxpb.NodeProto{
			OpType: new("Loop"), Input: []string{count, yes, "one"}, Output: []string{"end"},
			Attribute: []*onnxpb.AttributeProto{{Name: new("body"), Type: onnxpb.AttributeProto_GRAPH.Enum(), G: body}},
		})
		c.Graph.Output = []*onnxpb.ValueInfoProto{{Name: new("end")}}
		raw, err := proto.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		m, err := onnx.Load(raw)
		if err != nil {
			t.Fatal(err)
		}
		g, err := oracle.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := loop("").Run(ctx, nil, oracle.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without an end: %v", err)
	}
	five := b.Ints(5)
	out, err := loop(five).Run(t.Context(), nil, oracle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := out[0].Float64s(nil); err != nil || len(got) != 1 || got[0] != 6 {
		t.Errorf("five steps from 1 end at %v, %v", got, err)
	}
}
