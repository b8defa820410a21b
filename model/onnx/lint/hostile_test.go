package lint_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
)

// survive reads a model as the check does. What cannot be read is an error or a gap, never a panic.
func survive(t *testing.T, m *onnx.Model) {
	t.Helper()
	shapes, err := facts.SampleShapes(m.Signature(), 1, nil)
	if err != nil {
		return
	}
	f, err := facts.Infer(m, shapes, nil)
	if err != nil {
		return
	}
	if p, err := lint.Predict(t.Context(), f, lint.Options{}); err == nil && p == nil {
		t.Error("neither a prediction nor an error")
	}
}

// Nodes that lack inputs load, for what an operator needs is known to engines alone.
func TestLackingInputs(t *testing.T) {
	for _, op := range []string{
		"BatchNormalization", "Gather", "Concat", "Conv", "Gemm", "MatMul", "Add", "Where",
		"LayerNormalization", "Resize", "Pad", "Slice", "Expand", "Tile",
	} {
		b := onnx.NewBuilder(17)
		b.Input("x", tensor.Float32, 1, 1, 6, 6)
		b.Output(b.Op(op, []string{"x"}), tensor.Float32, 1, 1, 6, 6)
		m, err := b.Model()
		if err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		survive(t, m)
	}
}

// Sound models with a few nodes changed at random.
func TestChangedModels(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../testdata/*.onnx", "../../../studies/digits/models/*.onnx"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 8 {
		t.Fatalf("%d models", len(files))
	}
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range rounds {
			var p onnxpb.ModelProto
			if err := proto.Unmarshal(b, &p); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				change(r, p.GetGraph())
			}
			changed, err := proto.Marshal(&p)
			if err != nil {
				t.Fatal(err)
			}
			if m, err := onnx.Load(changed); err == nil {
				survive(t, m)
			}
		}
	}
}

// change spoils one node: its operator, its inputs or its attributes.
func change(r *rand.Rand, g *onnxpb.GraphProto) {
	n := g.GetNode()[r.IntN(len(g.GetNode()))]
	numbers := []int64{-9, -1, 0, 1, 2, 3, 7, 1000, math.MinInt64, math.MaxInt64}
	ops := []string{
		"Conv", "MatMul", "Gemm", "Transpose", "Reshape", "Concat", "Slice", "Gather", "Pad", "ReduceMean",
		"AveragePool", "MaxPool", "Split", "Add",
		"BatchNormalization", "Flatten", "Squeeze", "Unsqueeze", "DepthToSpace", "Where", "LayerNormalization", "Mul",
		"Softmax",
	}
	switch r.IntN(5) {
	case 0:
		n.OpType = new(ops[r.IntN(len(ops))])
	case 1:
		n.Input = n.GetInput()[:r.IntN(len(n.GetInput())+1)]
	case 2:
		var all []string
		for _, o := range g.GetNode() {
			all = append(all, o.GetOutput()...)
		}
		for _, o := range g.GetInitializer() {
			all = append(all, o.GetName())
		}
		if len(n.GetInput()) > 0 {
			n.Input[r.IntN(len(n.GetInput()))] = all[r.IntN(len(all))]
		}
	case 3:
		for _, a := range n.GetAttribute() {
			for i := range a.GetInts() {
				a.Ints[i] = numbers[r.IntN(len(numbers))]
			}
			if a.GetType() == onnxpb.AttributeProto_INT {
				a.I = new(numbers[r.IntN(len(numbers))])
			}
		}
	case 4:
		n.Attribute = nil
	}
}
