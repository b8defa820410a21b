package facts_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

func fill(v float32, shape ...int) tensor.Tensor {
	x := make([]float32, tensor.Count(shape))
	for i := range x {
		x[i] = v
	}
	return tensor.FromFloat32(x, shape...)
}

// Multiply-adds, parameters and memory by hand.
func TestCost(t *testing.T) {
	f := infer(t, read(t, "cnn"), 1, nil)
	if want := int64(28*28*4*25 + 7*7*8*4*9 + 288*10); f.MACs != want {
		t.Errorf("%d multiply-adds, want %d", f.MACs, want)
	}
	if want := int64(4*25 + 4 + 8*4*9 + 8 + 288*10 + 10); f.Parameters != want {
		t.Errorf("%d parameters, want %d", f.Parameters, want)
	}
	// input, Conv and Relu, MaxPool, Conv and Relu and empty Pad, AveragePool, Flatten, Gemm; float32
	if want := int64(4 * (784 + 2*4*784 + 4*196 + 3*8*49 + 2*288 + 10)); f.Bytes != want || f.BytesPerSample() != want {
		t.Errorf("%d bytes, want %d", f.Bytes, want)
	}
	// Everything but parameters grows with the batch.
	g := infer(t, read(t, "cnn"), 5, nil)
	if g.MACs != 5*f.MACs || g.Bytes != 5*f.Bytes || g.BytesPerSample() != f.Bytes || g.Parameters != f.Parameters ||
		g.Samples != 5 {
		t.Errorf("5 samples: %d multiply-adds, %d bytes, %d a sample", g.MACs, g.Bytes, g.BytesPerSample())
	}
	// 4 x 4 inputs of 16 channels, each spread over 8 channels of 2 x 2
	u := infer(t, read(t, "unet"), 1, nil)
	i := slices.IndexFunc(u.Nodes, func(n facts.Node) bool { return n.Op == "ConvTranspose" })
	if got, want := u.Nodes[i].MACs, int64(4*4*16*8*2*2); got != want {
		t.Errorf("ConvTranspose %d, want %d", got, want)
	}
}

func TestCostOfOperators(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *onnx.Builder) string
		shape []int
		macs  int64
	}{
		{"grouped convolution", func(b *onnx.Builder) string {
			x := b.Input("x", tensor.Float32, 1, 8, 6, 6)
			return b.Op("Conv", []string{x, b.Const(fill(1, 4, 2, 3, 3))}, onnx.AttrInt("group", 4))
		}, []int{1, 4, 4, 4}, 16 * 4 * 2 * 9},
		{"transposed product", func(b *onnx.Builder) string {
			x := b.Input("x", tensor.Float32, 7, 3)
			return b.Op("Gemm", []string{x, b.Const(fill(1, 5, 7))}, onnx.AttrInt("transA", 1),
				onnx.AttrInt("transB", 1))
		}, []int{3, 5}, 3 * 5 * 7},
		{"batched product", func(b *onnx.Builder) string {
			x := b.Input("x", tensor.Float32, 2, 1, 4, 3)
			return b.Op("MatMul", []string{x, b.Const(fill(1, 6, 3, 5))})
		}, []int{2, 6, 4, 5}, 2 * 6 * 4 * 5 * 3},
		{"LSTM", func(b *onnx.Builder) string {
			x := b.Input("x", tensor.Float32, 9, 2, 3)
			return b.Ops("LSTM", 3, []string{x, b.Const(fill(1, 1, 16, 3)), b.Const(fill(1, 1, 16, 4))},
				onnx.AttrInt("hidden_size", 4))[0]
		}, []int{9, 1, 2, 4}, 9 * 2 * 16 * (3 + 4)},
		{"Einsum", func(b *onnx.Builder) string {
			x := b.Input("x", tensor.Float32, 2, 3, 4)
			return b.Op("Einsum", []string{x, b.Const(fill(1, 4, 5))}, onnx.AttrString("equation", "bij, jk -> bik"))
		}, []int{2, 3, 5}, 2 * 3 * 4 * 5},
		{"no products", func(b *onnx.Builder) string {
			return b.Op("Softmax", []string{b.Input("x", tensor.Float32, 2, 3)})
		}, []int{2, 3}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnx.NewBuilder(17)
			y := c.build(b)
			_, f := survey(t, b, y)
			if !slices.Equal(f.Shapes[y], c.shape) || f.MACs != c.macs {
				t.Errorf("shape %v and %d multiply-adds, want %v and %d", f.Shapes[y], f.MACs, c.shape, c.macs)
			}
		})
	}
}

func TestInputShapes(t *testing.T) {
	m := read(t, "cnn")
	for _, in := range []map[string][]int{
		nil,
		{"input": {1, 1, 28, 29}},
		{"input": {1, 28, 28}},
		{"input": {-1, 1, 28, 28}},
		{"other": {1, 1, 28, 28}},
		{"input": {1 << 40, 1, 28, 28}},
	} {
		if _, err := facts.Infer(m, in, nil); err == nil || !strings.Contains(err.Error(), "input") {
			t.Errorf("%v: %v", in, err)
		}
	}
}

// After an operator that is not known nothing is made up; measured shapes fill the gap.
func TestGapsAndMeasure(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, 8, 8)
	a := b.Op("Relu", []string{x})
	g := b.Op("Det", []string{a}) // not known here
	h := b.Op("Unsqueeze", []string{g, b.Ints(2)})
	y := b.Op("MatMul", []string{h, b.Const(fill(1, 1, 5))})
	b.Output(y, tensor.Float32, "N", 1, 5)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	f := infer(t, m, 1, nil)
	if len(f.Gaps) != 1 || f.Gaps[0].Op != "Det" || !strings.Contains(f.Gaps[0].Why, "not known") {
		t.Errorf("gaps %v, want Det alone", f.Gaps)
	}
	if _, ok := f.Shapes[a]; !ok {
		t.Error("what comes before the gap is unknown")
	}
	for _, name := range []string{g, h, y} {
		if s, ok := f.Shapes[name]; ok {
			t.Errorf("%s after the gap has the shape %v", name, s)
		}
	}
	if s := f.Symmetry(""); len(s.Unfollowed) != 1 {
		t.Errorf("unfollowed %v, want one place", s.Unfollowed)
	}
	in := []tensor.Named{{Name: "x", Tensor: tensor.New(tensor.Float32, 1, 1, 8, 8)}}
	shapes := map[string][]int{a: {1, 1, 8, 8}, g: {1, 1}, h: {1, 1, 1}, y: {1, 1, 5}}
	run := func(_ context.Context, model []byte, _ []tensor.Named) ([]tensor.Named, error) {
		e, err := onnx.Load(model)
		if err != nil {
			return nil, err
		}
		var out []tensor.Named
		for _, p := range e.Signature().Outputs {
			out = append(out, tensor.Named{Name: p.Name, Tensor: tensor.New(tensor.Float32, shapes[p.Name]...)})
		}
		return out, nil
	}
	got, err := facts.Measure(t.Context(), m, in, run)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range shapes {
		if !slices.Equal(got[name], s) {
			t.Errorf("%s measured %v, want %v", name, got[name], s)
		}
	}
	f, err = facts.Infer(m, map[string][]int{"x": {1, 1, 8, 8}}, got)
	if err != nil || len(f.Gaps) != 0 || f.MACs != 5 || !slices.Equal(f.Shapes[y], shapes[y]) {
		t.Errorf("with measured shapes: gaps %v, %d multiply-adds, %v", f.Gaps, f.MACs, err)
	}
	boom := errors.New("boom")
	if _, err := facts.Measure(t.Context(), m, in, func(context.Context, []byte, []tensor.Named) ([]tensor.Named,
		error,
	) {
		return nil, boom
	}); !errors.Is(err, boom) {
		t.Errorf("a failing run: %v", err)
	}
	if _, err := facts.Measure(t.Context(), m, in, func(context.Context, []byte, []tensor.Named) ([]tensor.Named,
		error,
	) {
		return nil, nil
	}); err == nil {
		t.Error("a run without outputs is believed")
	}
}

func TestMicroBatch(t *testing.T) {
	for _, c := range []struct {
		budget, per int64
		most, want  int
	}{
		{100, 10, 64, 10},
		{1000, 10, 64, 64},
		{5, 10, 64, 1},
		{100, 0, 64, 1},
		{100, -1, 64, 1},
		{0, 10, 64, 1},
		{math.MaxInt64, 1, 32, 32},
		{100, 10, 0, 1},
	} {
		if got := facts.MicroBatch(c.budget, c.per, c.most); got != c.want {
			t.Errorf("MicroBatch(%d, %d, %d) = %d, want %d", c.budget, c.per, c.most, got, c.want)
		}
	}
}

// has finds a note that breaks something, by operator and words.
func has(s *facts.Symmetry, op, breaks, words string) bool {
	return slices.ContainsFunc(s.Notes, func(n facts.Note) bool {
		return n.Op == op && slices.Contains(n.Breaks, breaks) && strings.Contains(n.Why, words)
	})
}

// Every fault has a clean twin that gets no such note.
func TestNotes(t *testing.T) {
	conv := func(b *onnx.Builder, x string, attrs ...*onnxpb.AttributeProto) string {
		return b.Op("Conv", []string{x, b.Const(fill(1, 1, 1, 3, 3))},
			append(attrs, onnx.AttrInts("pads", 1, 1, 1, 1))...)
	}
	ramp := tensor.New(tensor.Float32, 1, 1, 8, 8)
	for i := range 64 {
		v := tensor.FromFloat32([]float32{float32(i % 7)})
		copy(ramp.Raw[4*i:], v.Raw)
	}
	cross := fill(0, 8, 8) // symmetric under D4
	for i := range 8 {
		for _, at := range []int{9 * i, 7*i + 7} {
			copy(cross.Raw[4*at:], fill(1, 1).Raw)
		}
	}
	twin := func(f func(b *onnx.Builder, x string, faulty bool) string) [2]func(b *onnx.Builder, x string) string {
		return [2]func(b *onnx.Builder, x string) string{
			func(b *onnx.Builder, x string) string { return f(b, x, true) },
			func(b *onnx.Builder, x string) string { return f(b, x, false) },
		}
	}
	for _, c := range []struct {
		name              string
		op, breaks, words string
		build             [2]func(b *onnx.Builder, x string) string
	}{
		{
			"dense layer on a map", "Gemm", facts.BreaksShift, "flattened map",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				y, n := conv(b, x), 64
				if !faulty {
					y, n = b.Op("GlobalAveragePool", []string{y}), 1
				}
				return b.Op("Gemm", []string{
					b.Op("Concat",
						[]string{b.Op("Flatten", []string{y}), b.Op("Flatten", []string{y})}, onnx.AttrInt("axis", 1)),
					b.Const(fill(1, 2*n, 3)),
				})
			}),
		},
		{
			"dense layer on a map of two channels, reshaped", "MatMul", facts.BreaksShift, "flattened map",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				y := b.Op("Conv", []string{x, b.Const(fill(1, 2, 1, 1, 1))})
				if faulty {
					return b.Op("MatMul", []string{
						b.Op("Relu", []string{b.Op("Reshape", []string{y, b.Ints(0, -1)})}),
						b.Const(fill(1, 128, 3)),
					})
				}
				y = b.Op("Transpose", []string{b.Op("Reshape", []string{y, b.Ints(0, 2, -1)})},
					onnx.AttrInts("perm", 0, 2, 1))
				return b.Op("ReduceMean", []string{b.Op("MatMul", []string{y, b.Const(fill(1, 2, 3))})},
					onnx.AttrInts("axes", 1))
			}),
		},
		{
			"position table", "Add", facts.BreaksShift, "position table",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				table := fill(3, 1, 1, 8, 8)
				if faulty {
					table = ramp
				}
				return b.Op("Add", []string{conv(b, x), b.Const(table)})
			}),
		},
		{
			"position table that turns differently", "Mul", facts.BreaksQuarterTurn, "turned or mirrored",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				table := cross
				if faulty {
					table = ramp
				}
				return b.Op("Mul", []string{b.Const(table), conv(b, x)})
			}),
		},
		{
			"position table on tokens", "Add", facts.BreaksShift, "position table",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				y := b.Op("Reshape", []string{conv(b, x), b.Ints(0, 1, 64)})
				table := fill(1, 1, 1, 64)
				if faulty {
					copy(table.Raw, ramp.Raw)
				}
				return b.Op("Add", []string{y, b.Const(table)})
			}),
		},
		{
			"layer norm over places", "LayerNormalization", facts.BreaksShift, "position table",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				scale := fill(1, 1, 8, 8)
				if faulty {
					copy(scale.Raw, ramp.Raw)
				}
				return b.Op("LayerNormalization", []string{conv(b, x), b.Const(scale)}, onnx.AttrInt("axis", 1))
			}),
		},
		{
			"batch norm in training form", "BatchNormalization", facts.BreaksBatch, "training form",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				in := []string{conv(b, x)}
				for range 4 {
					in = append(in, b.Const(fill(1, 1)))
				}
				if faulty {
					return b.Ops("BatchNormalization", 3, in, onnx.AttrInt("training_mode", 1))[0]
				}
				return b.Op("BatchNormalization", in)
			}),
		},
		{
			"random numbers", "RandomNormalLike", facts.BreaksRepeat, "two runs differ",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				y := conv(b, x)
				if faulty {
					return b.Op("Add", []string{y, b.Op("RandomNormalLike", []string{y})})
				}
				return b.Op("Add", []string{y, y})
			}),
		},
		{
			"half precision", "Cast", facts.BreaksPrecision, "float16",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				to := int64(tensor.Float64)
				if faulty {
					to = int64(tensor.Float16)
				}
				return b.Op("Cast", []string{conv(b, x)}, onnx.AttrInt("to", to))
			}),
		},
		{"ties", "ArgMax", facts.BreaksPrecision, "tie", twin(func(b *onnx.Builder, x string, faulty bool) string {
			op := "ReduceMax"
			if faulty {
				op = "ArgMax"
			}
			if faulty {
				return b.Op(op, []string{conv(b, x)}, onnx.AttrInt("axis", 1))
			}
			return b.Op(op, []string{conv(b, x)}, onnx.AttrInts("axes", 1))
		})},
		{
			"one axis reduced", "ReduceMean", facts.BreaksQuarterTurn, "one axis",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				axes := []int64{2, 3}
				if faulty {
					axes = axes[:1]
				}
				return b.Op("ReduceMean", []string{conv(b, x)}, onnx.AttrInts("axes", axes...))
			}),
		},
		{
			"automatic padding", "Conv", facts.BreaksMirrorX, "pads are 0 before and 1 after",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				w := b.Const(fill(1, 1, 1, 3, 3))
				if faulty {
					return b.Op("Conv", []string{x, w}, onnx.AttrInts("strides", 2, 2),
						onnx.AttrString("auto_pad", "SAME_UPPER"))
				}
				return b.Op("Conv", []string{x, w}, onnx.AttrString("auto_pad", "SAME_UPPER"))
			}),
		},
		{
			"even kernel", "Conv", facts.BreaksMirrorY, "kernel 4",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				w := b.Const(fill(1, 1, 1, 4, 4))
				if faulty { // "same" size needs one-sided padding
					return b.Op("Conv", []string{x, w}, onnx.AttrInts("pads", 1, 1, 2, 2))
				}
				return b.Op("Conv", []string{x, w}, onnx.AttrInts("pads", 1, 1, 1, 1))
			}),
		},
		{
			"aligned corners", "Resize", facts.BreaksShift, "align_corners",
			twin(func(b *onnx.Builder, x string, faulty bool) string {
				mode := "half_pixel"
				if faulty {
					mode = "align_corners"
				}
				return b.Op("Resize", []string{x, "", "", b.Ints(1, 1, 16, 16)}, onnx.AttrString("mode", "linear"),
					onnx.AttrString("coordinate_transformation_mode", mode))
			}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, want := range []bool{true, false} {
				b, x := picture(8, 8)
				s, _ := survey(t, b, c.build[i](b, x))
				if got := has(s, c.op, c.breaks, c.words); got != want {
					t.Errorf("faulty %v: noted %v\n%+v", want, got, s.Notes)
				}
				if len(s.Unfollowed) > 0 && c.name != "one axis reduced" {
					t.Errorf("not followed: %v", s.Unfollowed)
				}
				if c.breaks == facts.BreaksShift && (s.Shift == [2]int{}) != want {
					t.Errorf("faulty %v: shift %v", want, s.Shift)
				}
			}
		})
	}
}

// A model that reads NHWC and transposes is judged like its NCHW twin.
func TestSymmetryNHWC(t *testing.T) {
	build := func(nhwc bool) *facts.Symmetry {
		b := onnx.NewBuilder(17)
		var x string
		if nhwc {
			x = b.Op("Transpose", []string{b.Input("x", tensor.Float32, 1, 8, 10, 3)},
				onnx.AttrInts("perm", 0, 3, 1, 2))
		} else {
			x = b.Input("x", tensor.Float32, 1, 3, 8, 10)
		}
		y := b.Op("Conv", []string{x, b.Const(fill(1, 1, 3, 3, 3))}, onnx.AttrInts("strides", 1, 2),
			onnx.AttrInts("pads", 1, 1, 1, 1))
		s, _ := survey(t, b, y)
		return s
	}
	a, b := build(true), build(false)
	if a.Layout != "NHWC" || b.Layout != "NCHW" {
		t.Errorf("layouts %s and %s", a.Layout, b.Layout)
	}
	if !slices.Equal(a.Elements, b.Elements) || a.Shift != b.Shift ||
		!slices.Equal(a.Elements, []string{"identity", "mirror-y"}) || a.Shift != [2]int{1, 2} {
		t.Errorf("%v by %v, and %v by %v", a.Elements, a.Shift, b.Elements, b.Shift)
	}
}

// Any model that loads is inspected without a panic, whatever its attributes and constants say.
func FuzzInspect(f *testing.F) {
	for _, name := range []string{"cnn", "turns", "residual", "unet", "attention", "points", "ir3"} {
		b, err := os.ReadFile(filepath.Join(models, name+".onnx"))
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
		for _, shape := range [][]int{nil, {1, 1, 28, 28}} {
			r, err := facts.Inspect(m, facts.Options{Shape: shape})
			if err != nil {
				continue
			}
			if err := r.WriteText(io.Discard); err != nil {
				t.Error(err)
			}
			if r.MACs < 0 || r.Parameters < 0 || r.BytesPerSample < 0 {
				t.Errorf("negative cost: %s", fmt.Sprint(r.MACs, r.Parameters, r.BytesPerSample))
			}
		}
	})
}
