package siege

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"nero/app"
	"nero/data/tensor"
	"nero/internal/slow"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/wasm"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/run/job"
)

// hostile is a model file made to break what reads or runs it. All take a picture of 1 x 8 x 8 and answer ten scores,
// unless that is what is wrong with them.
type hostile struct {
	name string
	// pieces of the message with which it is refused when it is read, one of which has to be there; none where it is
	// taken, and at most what runs it refuses it
	refused []string
	file    func() ([]byte, error)
}

// scores ends a graph: ten numbers of a picture.
func scores(b *onnx.Builder, x string) {
	w := make([]float32, 640)
	for i := range w {
		w[i] = float32(math.Sin(float64(i)))
	}
	flat := b.Op("Flatten", []string{x})
	b.Graph().Node = append(b.Graph().Node, &onnxpb.NodeProto{
		OpType: new("MatMul"), Input: []string{flat, b.Const(tensor.FromFloat32(w, 64, 10))}, Output: []string{"y"},
	})
	b.Output("y", tensor.Float32, "N", 10)
}

// hostiles are the constructions, each of something that a sound exporter does not write.
func hostiles() []hostile {
	build := func(f func(b *onnx.Builder, x string)) func() ([]byte, error) {
		return func() ([]byte, error) {
			b := onnx.NewBuilder(17)
			f(b, b.Input("x", tensor.Float32, "N", 1, 8, 8))
			return b.Bytes()
		}
	}
	chain := func(op string, n int) func() ([]byte, error) {
		return build(func(b *onnx.Builder, x string) {
			for range n {
				x = b.Op(op, []string{x})
			}
			scores(b, x)
		})
	}
	// sized multiplies a picture by the sum of a constant that is made while the model runs.
	sized := func(op string, n int64) func() ([]byte, error) {
		return build(func(b *onnx.Builder, x string) {
			var big string
			switch op {
			case "ConstantOfShape":
				big = b.Op(op, []string{b.Ints(n)})
			case "Expand":
				big = b.Op(op, []string{b.Const(tensor.FromFloat32([]float32{1}, 1)), b.Ints(n)})
			default:
				big = b.Op(op, []string{b.Const(tensor.FromFloat32([]float32{1}, 1)), b.Ints(n)})
			}
			sum := b.Op("ReduceSum", []string{big})
			scores(b, b.Op("Mul", []string{x, sum}))
		})
	}
	return []hostile{
		{"noout_node", []string{"no output"}, build(func(b *onnx.Builder, x string) {
			b.Graph().Node = append(b.Graph().Node, &onnxpb.NodeProto{OpType: new("Relu"), Input: []string{x}})
			scores(b, x)
		})},
		{"int64_modmin", nil, build(func(b *onnx.Builder, x string) {
			low := b.Op("Add", []string{
				b.Op("Mul", []string{b.Op("Cast", []string{x}, onnx.AttrInt("to", 7)), b.Ints(0)}),
				b.Ints(math.MinInt64),
			})
			m := b.Op("Cast", []string{b.Op("Mod", []string{low, b.Ints(-1)})}, onnx.AttrInt("to", 1))
			scores(b, b.Op("Add", []string{x, m}))
		})},
		{"in_big_batch", []string{"100000000"}, func() ([]byte, error) {
			b := onnx.NewBuilder(17)
			scores(b, b.Input("x", tensor.Float32, 100_000_000, 1, 8, 8))
			return b.Bytes()
		}},
		{"relu20000", nil, chain("Relu", 20_000)},
		{"chain50000", nil, chain("Identity", 50_000)},
		{"name_long", []string{"name"}, func() ([]byte, error) {
			b := onnx.NewBuilder(17)
			scores(b, b.Input(strings.Repeat("x", 1<<20), tensor.Float32, "N", 1, 8, 8))
			return b.Bytes()
		}},
		{"loop_endless", nil, build(func(b *onnx.Builder, x string) {
			body := onnx.NewBuilder(17)
			i := body.Input("i", tensor.Int64)
			c := body.Input("c", tensor.Bool)
			v := body.Input("v", tensor.Float32, "N", 1, 8, 8)
			body.Output(body.Op("Identity", []string{c}), tensor.Bool)
			body.Output(body.Op("Sin", []string{v}), tensor.Float32, "N", 1, 8, 8)
			_ = i
			yes := b.Const(tensor.Tensor{DType: tensor.Bool, Raw: []byte{1}})
			loop := b.Op("Loop", []string{"", yes, x})
			n := b.Graph().Node[len(b.Graph().Node)-1]
			g := body.Graph()
			n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{
				Name: new("body"), G: g, Type: onnxpb.AttributeProto_GRAPH.Enum(),
			})
			scores(b, loop)
		})},
		{"func_exponential", []string{"function"}, func() ([]byte, error) {
			b := onnx.NewBuilder(17)
			x := b.Input("x", tensor.Float32, "N", 1, 8, 8)
			y := b.Op("F40", []string{x})
			b.Graph().Node[0].Domain = new("local")
			scores(b, y)
			h := b.Header()
			local := &onnxpb.OperatorSetIdProto{Domain: new("local"), Version: new(int64(1))}
			h.OpsetImport = append(h.OpsetImport, local)
			for k := range 41 {
				f := &onnxpb.FunctionProto{
					Name: new(fmt.Sprintf("F%d", k)), Domain: new("local"), Input: []string{"a"}, Output: []string{"c"},
					OpsetImport: h.GetOpsetImport(),
				}
				for j, in := range []string{"a", "b"} {
					n := &onnxpb.NodeProto{Input: []string{in}, Output: []string{[]string{"b", "c"}[j]}}
					if k == 0 {
						n.OpType = new("Sin")
					} else {
						n.OpType, n.Domain = new(fmt.Sprintf("F%d", k-1)), new("local")
					}
					f.Node = append(f.Node, n)
				}
				h.Functions = append(h.Functions, f)
			}
			return b.Bytes()
		}},
		{"constant_huge", nil, sized("ConstantOfShape", 1<<34)},
		{"constant_overflow", nil, sized("ConstantOfShape", 1<<62)},
		{"expand_huge", nil, sized("Expand", 1<<34)},
		{"tile_huge", nil, sized("Tile", 1<<34)},
	}
}

// convolving is a sound model that mutations begin with.
func convolving() (*onnxpb.ModelProto, error) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, 8, 8)
	w := make([]float32, 4*9)
	for i := range w {
		w[i] = float32(math.Cos(float64(i)))
	}
	c := b.Op("Conv", []string{x, b.Const(tensor.FromFloat32(w, 4, 1, 3, 3))},
		onnx.AttrInts("pads", 1, 1, 1, 1), onnx.AttrInts("kernel_shape", 3, 3))
	c = b.Op("Relu", []string{c})
	c = b.Op("MaxPool", []string{c}, onnx.AttrInts("kernel_shape", 2, 2), onnx.AttrInts("strides", 2, 2))
	c = b.Op("ReduceMean", []string{c}, onnx.AttrInts("axes", 1))
	twice := b.Const(tensor.FromFloat32([]float32{1, 1, 2, 2}, 4))
	c = b.Op("Resize", []string{c, "", twice}, onnx.AttrString("mode", "nearest"))
	c = b.Op("Reshape", []string{c, b.Ints(-1, 1, 8, 8)})
	scores(b, c)
	return b.Header(), nil
}

// extremes are numbers that sizes, axes and versions may be told.
var extremes = []int64{
	0, -1, 1, 2, 7, -128, 1 << 15, 1 << 31, 1<<31 - 1, -1 << 31, 1 << 40, 1 << 62, math.MaxInt64, math.MinInt64,
}

// mutate damages a model in one to three ways that seed decides, and encodes it.
func mutate(m *onnxpb.ModelProto, r *rand.Rand) ([]byte, error) {
	pick := func(n int) int { return r.IntN(max(n, 1)) }
	ops := []string{
		"Mod", "Loop", "If", "Scan", "Expand", "Tile", "ConstantOfShape", "Range", "NonZero", "Gather", "ScatterND",
		"Pad", "Einsum", "TopK", "LSTM", "Split", "Concat", "Where", "Cast", "QLinearConv", "NoSuchOperator", "",
	}
	for range 1 + r.IntN(3) {
		g := m.GetGraph()
		if len(g.GetNode()) == 0 {
			break
		}
		n := g.Node[pick(len(g.Node))]
		switch r.IntN(14) {
		case 0:
			n.OpType = new(ops[pick(len(ops))])
		case 1:
			if len(n.Input) > 0 {
				n.Input[pick(len(n.Input))] = []string{"", "x", "y", "nowhere", strings.Repeat("n", 1<<16)}[pick(5)]
			}
		case 2:
			n.Output = n.Output[:pick(len(n.Output)+1)]
		case 3:
			n.Output = append(n.Output, "more")
		case 4:
			g.Node = append(g.Node, n)
		case 5:
			i := pick(len(g.Node))
			g.Node = append(g.Node[:i:i], g.Node[i+1:]...)
		case 6:
			if len(n.Attribute) > 0 {
				a := n.Attribute[pick(len(n.Attribute))]
				a.I = new(extremes[pick(len(extremes))])
				for i := range a.Ints {
					a.Ints[i] = extremes[pick(len(extremes))]
				}
			}
		case 7:
			n.Attribute = append(n.Attribute, onnx.AttrInts([]string{"axes", "pads", "strides", "dilations"}[pick(4)],
				extremes[pick(len(extremes))], extremes[pick(len(extremes))]))
		case 8:
			t := g.Initializer[pick(len(g.Initializer))]
			if len(t.Dims) > 0 {
				t.Dims[pick(len(t.Dims))] = extremes[pick(len(extremes))]
			}
		case 9:
			t := g.Initializer[pick(len(g.Initializer))]
			t.DataType = new(int32(pick(30)))
		case 10:
			t := g.Initializer[pick(len(g.Initializer))]
			if v := extremes[pick(len(extremes))]; len(t.RawData) >= 8 {
				for i := range 8 {
					t.RawData[i] = byte(uint64(v) >> (8 * i))
				}
			}
		case 11:
			m.OpsetImport[0].Version = new(extremes[pick(len(extremes))])
		case 12:
			m.IrVersion = new(extremes[pick(len(extremes))])
		case 13:
			d := g.Input[0].GetType().GetTensorType().GetShape().GetDim()
			d[pick(len(d))].Value = &onnxpb.TensorShapeProto_Dimension_DimValue{
				DimValue: extremes[pick(len(extremes))],
			}
		}
	}
	b, err := proto.Marshal(m)
	if err != nil || len(b) == 0 {
		return b, err
	}
	switch r.IntN(6) { // beside the graph, the bytes
	case 0:
		b = b[:pick(len(b))]
	case 1:
		for range 1 + r.IntN(8) {
			b[pick(len(b))] ^= 1 << r.IntN(8)
		}
	}
	return b, nil
}

const (
	modelSeed = 20261123
	// allModels is how many hostile models the campaign has, constructions and mutations.
	allModels = 200
	// modelTime is how much processor time one of them may take, on each processor.
	modelTime = 10 * time.Second
)

// model is hostile file i: a construction, or else a mutation by its seed.
func model(t *testing.T, i int) (name string, file []byte) {
	t.Helper()
	made := hostiles()
	var err error
	if i < len(made) {
		name = made[i].name
		file, err = made[i].file()
	} else {
		var m *onnxpb.ModelProto
		if m, err = convolving(); err == nil {
			name = fmt.Sprintf("mutation%d", i)
			file, err = mutate(m, rand.New(rand.NewPCG(modelSeed, uint64(i))))
		}
	}
	if err != nil {
		t.Fatal(name, err)
	}
	return name, file
}

// calm runs f, which must end in time, without a panic, and where it fails with one line that names the file.
func calm(t *testing.T, what, file string, f func() error) {
	t.Helper()
	begin, before := time.Now(), spent()
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: panic: %v\n%s", what, p, debug.Stack())
			}
		}()
		return f()
	}()
	took, worked := time.Since(begin), spent()-before
	if took > patience || worked > modelTime*time.Duration(runtime.GOMAXPROCS(0)) {
		t.Errorf("%s: took %v, and %v of processor time", what, took, worked)
	}
	if err == nil {
		return
	}
	text := err.Error()
	if strings.Contains(text, "\n") || len(text) > 2000 || !strings.Contains(text, strings.TrimSuffix(file, ".onnx")) {
		t.Errorf("%s: the message is not one line that names %s: %.300q", what, file, text)
	}
}

// What refuses a construction names what is wrong with it.
func TestHostileModelsAreInspected(t *testing.T) {
	dir := t.TempDir()
	for i, h := range hostiles() {
		_, b := model(t, i)
		file := h.name + ".onnx"
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		calm(t, "inspect "+h.name, file, func() error {
			_, err := (&app.App{}).Inspect(t.Context(), path, nil)
			if err != nil && (len(h.refused) == 0 || !slices.ContainsFunc(h.refused, func(s string) bool {
				return strings.Contains(err.Error(), s)
			})) {
				t.Errorf("%s: %v, want one of %q", h.name, err, h.refused)
			}
			return err
		})
	}
}

// TestEngineOfModels is no test: it is the process of an engine, where [TestHostileModels] has started it.
func TestEngineOfModels(*testing.T) {
	if app.EngineAsked() {
		os.Exit(app.RunEngine())
	}
}

// The whole campaign: every file is inspected, and run on both engines.
func TestHostileModels(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	idx := []byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 8}
	for i := range 128 {
		idx = append(idx, byte(i*37))
	}
	data := filepath.Join(dir, "two-images-idx3-ubyte")
	if err := os.WriteFile(data, idx, 0o600); err != nil {
		t.Fatal(err)
	}
	host := choosetest.Host()
	engines := []string{choose.Wasm}
	if host.Library != choose.None {
		engines = append(engines, choose.Native)
	}
	a := &app.App{Host: &host, Process: func() *exec.Cmd {
		return exec.Command(os.Args[0], "-test.run=^TestEngineOfModels$")
	}}
	// The embedded engine is compiled once on a machine, which is no part of what a file takes.
	warm, err := wasm.New(t.Context(), wasm.Config{CacheDir: filepath.Join(host.Cache, choose.Wasm)})
	if err != nil {
		t.Fatal(err)
	}
	if err := warm.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken := map[string]int{}
	plan(t, allModels, func(t *testing.T, i int, _ *rand.Rand) {
		t.Helper()
		name, b := model(t, i)
		file := name + ".onnx"
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		calm(t, "inspect "+name, file, func() error {
			_, err := a.Inspect(t.Context(), path, nil)
			if err == nil {
				taken["inspected"]++
			}
			return err
		})
		for _, kind := range engines {
			calm(t, "run "+name+" on "+kind, file, func() error {
				s := &job.Study{
					Version: 1, Models: []job.Model{{Name: name, ONNX: path}},
					Data:   job.Data{Format: "idx", Images: data},
					Group:  job.Group{Name: "C4", Orbit: job.Orbit{All: true}},
					Output: job.Output{Action: "invariant"},
				}
				_, err := a.Run(t.Context(), s, app.RunOptions{
					Dir: filepath.Join(dir, "run-"+kind+"-"+name), Workers: 1,
					Engine: app.Engine{Kind: kind, Isolate: true, Memory: 2 << 30, TimeLimit: 5 * time.Second},
				})
				if err == nil {
					taken["run on "+kind]++
				}
				return err
			})
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.Sys > 2<<30 {
		t.Errorf("%d bytes of memory were taken, want at most 2 GB", m.Sys)
	}
	t.Logf("taken: %v; %d MB", taken, m.Sys>>20)
}
