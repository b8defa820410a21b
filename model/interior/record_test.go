package interior_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/oracle"
)

// inDouble runs a model on the evaluator in float64.
func inDouble(tb testing.TB, m *onnx.Model, spec decode.RecordSpec) *interior.Model {
	tb.Helper()
	c, err := decode.NewRecord(m.Signature(), spec)
	if err != nil {
		tb.Fatal(err)
	}
	e := oracle.Engine(oracle.Options{})
	x, err := interior.New(m, c,
		func(ctx context.Context, b []byte) (engine.Session, error) { return e.Open(ctx, b, engine.Options{}) },
		interior.Options{Body: "float64", Double: true, Batch: 4})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}

func planted(tb testing.TB, name string) *onnx.Model {
	tb.Helper()
	m, err := onnx.Read(filepath.Join("..", "..", "studies", "planted", "models", name+".onnx"))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func cloud(r *rand.Rand, n, w int) *space.Rows {
	c := space.NewRows(n, w)
	for i := range c.Val {
		c.Val[i] = r.NormFloat64()
	}
	return c
}

// numbersOf are all floating-point numbers of a value, which share its memory.
func numbersOf(v space.Value) [][]float64 {
	switch v := v.(type) {
	case *space.Rows:
		return [][]float64{v.Val}
	case *space.Pairs:
		return [][]float64{v.Val}
	case *space.Signal:
		return [][]float64{v.Val}
	case *space.Scores:
		return [][]float64{v.Output()}
	case *space.Record:
		var all [][]float64
		for _, x := range v.Values {
			all = append(all, numbersOf(x)...)
		}
		return all
	}
	return nil
}

func product(a, b space.Value) (sum float64) {
	x, y := numbersOf(a), numbersOf(b)
	for i := range x {
		for j := range x[i] {
			sum += x[i][j] * y[i][j]
		}
	}
	return sum
}

// copied is a deep copy.
func copied(t *testing.T, v space.Value) space.Value {
	t.Helper()
	c := v.Clone()
	return c
}

// shifted is x + h·d.
func shifted(t *testing.T, x, d space.Value, h float64) space.Value {
	t.Helper()
	y := copied(t, x)
	a, b := numbersOf(y), numbersOf(d)
	for i := range a {
		for j := range a[i] {
			a[i][j] += h * b[i][j]
		}
	}
	return y
}

// derivatives compares Tangent with central differences, and Gradient with Tangent: <J d, c> = <d, Jᵀ c>.
func derivatives(t *testing.T, m *interior.Model, x, d space.Value, r *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	// The differences leave fields alone that hold integers.
	tangent, err := m.Tangent(ctx, []space.Value{x, x}, []space.Value{d, d})
	if err != nil {
		t.Fatal(err)
	}
	const h = 1e-5
	y, err := m.Predict(ctx, []space.Value{shifted(t, x, d, h), shifted(t, x, d, -h)})
	if err != nil {
		t.Fatal(err)
	}
	up, down, moves := numbersOf(y[0]), numbersOf(y[1]), numbersOf(tangent[1])
	scale := 0.0
	for i := range moves {
		for j := range moves[i] {
			scale = max(scale, math.Abs(moves[i][j]))
		}
	}
	if !(scale > 0) {
		t.Fatal("nothing moves")
	}
	for i := range moves {
		for j, v := range moves[i] {
			if want := (up[i][j] - down[i][j]) / (2 * h); !(math.Abs(v-want) <= 1e-5*scale) {
				t.Fatalf("number %d of part %d moves by %g, differences say %g", j, i, v, want)
			}
		}
	}
	c := copied(t, y[0])
	for _, v := range numbersOf(c) {
		for i := range v {
			v[i] = r.NormFloat64()
		}
	}
	g, err := m.Gradient(ctx, []space.Value{x, x}, []space.Value{c, c})
	if err != nil {
		t.Fatal(err)
	}
	left, right := product(tangent[0], c), product(d, g[1])
	if !(math.Abs(left-right) <= 1e-9*(math.Abs(left)+scale)) {
		t.Errorf("<Jd, c> = %g, <d, J'c> = %g", left, right)
	}
}

func pointsField(name string) space.Spec {
	return space.Spec{Name: name, Kind: space.KindRows, Type: space.TypePositions, Shape: []int{-1, 3}}
}

// A model of two inputs, points and gravity, both of which move.
func TestTwoInputs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := inDouble(t, planted(t, "gravity_o3"), decode.RecordSpec{
		Sample: space.Spec{
			Kind: space.KindRecord,
			Fields: []space.Spec{pointsField("points"), {
				Name: "gravity", Kind: space.KindRows, Type: space.TypeVectors,
				Per: space.PerSample, Shape: []int{1, 3},
			}},
		},
		Outputs: []decode.OutputField{{}},
	})
	sample := func() space.Value {
		return &space.Record{
			Names:  []string{"points", "gravity"},
			Values: []space.Value{cloud(r, 16, 3), cloud(r, 1, 3)},
		}
	}
	derivatives(t, m, sample(), sample(), r)
	in, err := m.Arrays(t.Context(), []space.Value{sample(), sample()})
	if err != nil {
		t.Fatal(err)
	}
	if len(in[0]) != 2 || !slices.Equal(in[0][0].Shape, []int{16, 3}) || !slices.Equal(in[0][1].Shape, []int{3}) {
		t.Errorf("arrays of shapes %v, %v", in[0][0].Shape, in[0][1].Shape)
	}
	layers := m.Layers()
	for _, l := range []interior.Layer{layers[len(layers)/2], layers[len(layers)-1]} {
		v, err := m.Values(t.Context(), in, l.Produced)
		if err != nil || len(v) != 2 {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
}

// The same model with gravity as a constant that stands in the study: what moves is the points alone.
func TestConstantInput(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m := inDouble(t, planted(t, "gravity_o3"), decode.RecordSpec{
		Sample:  pointsField("points"),
		Inputs:  []decode.InputField{{Field: "points"}, {Port: "gravity", Value: []float64{0, 0, -9.81}}},
		Outputs: []decode.OutputField{{}},
	})
	if !slices.Equal(m.Moving(), []string{"points"}) {
		t.Errorf("moving %v", m.Moving())
	}
	derivatives(t, m, cloud(r, 16, 3), cloud(r, 16, 3), r)
}

// A model of two outputs: gradients add up over them.
func TestTwoOutputs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	spec := decode.RecordSpec{
		Sample:  pointsField("points"),
		Outputs: []decode.OutputField{{Name: "vector", Per: space.PerSample}, {Name: "forces", Per: space.PerNode}},
	}
	file := planted(t, "vector_e3")
	m := inDouble(t, file, spec)
	if !slices.Equal(m.Outputs(), []string{"vector", "forces"}) {
		t.Errorf("outputs %v", m.Outputs())
	}
	derivatives(t, m, cloud(r, 12, 3), cloud(r, 12, 3), r)
	spec.Outputs = spec.Outputs[1:]
	derivatives(t, inDouble(t, file, spec), cloud(r, 12, 3), cloud(r, 12, 3), r)
}

// graphModel adds the features of neighbors: nodes [A, 2], edges [2, E] -> y [A, 2] and the mean over the nodes, [1,
// 2]. The rate is an integer that multiplies.
func graphModel(tb testing.TB) *onnx.Model {
	tb.Helper()
	b := onnx.NewBuilder(18)
	x := b.Input("nodes", tensor.Float32, "nodes", 2)
	edges := b.Input("edges", tensor.Int64, 2, "edges")
	rate := b.Input("rate", tensor.Int64)
	from := b.Op("Squeeze", []string{b.Op("Slice", []string{edges, b.Ints(0), b.Ints(1), b.Ints(0)}), b.Ints(0)})
	to := b.Op("Slice", []string{edges, b.Ints(1), b.Ints(2), b.Ints(0)})
	sent := b.Op("Tanh", []string{b.Op("Gather", []string{x, from}, onnx.AttrInt("axis", 0))})
	at := b.Op("Expand", []string{
		b.Op("Transpose", []string{to}, onnx.AttrInts("perm", 1, 0)),
		b.Op("Shape", []string{sent}),
	})
	zero := b.Op("Mul", []string{x, b.Const(tensor.FromFloat32([]float32{0}, 1))})
	sum := b.Op("ScatterElements", []string{zero, at, sent}, onnx.AttrInt("axis", 0),
		onnx.AttrString("reduction", "add"))
	y := b.Op("Mul", []string{
		b.Op("Mul", []string{b.Op("Add", []string{sum, x}), x}),
		b.Op("Cast", []string{rate}, onnx.AttrInt("to", 1)),
	})
	b.Output(y, tensor.Float32, "nodes", 2)
	b.Output(b.Op("ReduceMean", []string{y, b.Ints(0)}, onnx.AttrInt("keepdims", 1)), tensor.Float32, 1, 2)
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// A graph without an axis of samples, with links, a constant and samples of several sizes.
func TestGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	file := graphModel(t)
	outs := onnx.Names(file.Signature().Outputs)
	m := inDouble(t, file, decode.RecordSpec{
		Sample: space.Spec{
			Kind: space.KindRecord,
			Fields: []space.Spec{
				{Name: "nodes", Kind: space.KindRows, Shape: []int{-1, 2}},
				{Name: "edges", Kind: space.KindLinks},
			},
		},
		Inputs: []decode.InputField{{Field: "nodes"}, {Field: "edges"}, {Port: "rate", Value: []float64{3}}},
		Outputs: []decode.OutputField{
			{Name: "y", Port: outs[0], Per: space.PerNode},
			{Name: "mean", Port: outs[1], Per: space.PerSample},
		},
	})
	if m.Batch() != 1 {
		t.Fatalf("batches of %d", m.Batch())
	}
	ring := func(n int) space.Value {
		l := &space.Links{Nodes: n}
		for i := range n {
			l.From, l.To = append(l.From, int32(i)), append(l.To, int32((i+1)%n))
		}
		return &space.Record{Names: []string{"nodes", "edges"}, Values: []space.Value{cloud(r, n, 2), l}}
	}
	for _, n := range []int{5, 3, 7} {
		derivatives(t, m, ring(n), ring(n), r)
	}
	// By hand: y_i = 3 x_i (x_i + tanh x_(i-1)) on a ring.
	x := ring(4)
	y, err := m.Predict(t.Context(), []space.Value{x, ring(6)})
	if err != nil {
		t.Fatal(err)
	}
	v, got := numbersOf(x)[0], numbersOf(y[0])
	mean := [2]float64{}
	for i := range 4 {
		for k := range 2 {
			want := 3 * v[2*i+k] * (v[2*i+k] + math.Tanh(v[2*((i+3)%4)+k]))
			mean[k] += want / 4
			if !(math.Abs(got[0][2*i+k]-want) < 1e-12) {
				t.Errorf("node %d: %g, want %g", i, got[0][2*i+k], want)
			}
		}
	}
	if !(math.Abs(got[1][0]-mean[0]) < 1e-12) || len(numbersOf(y[1])[0]) != 12 {
		t.Errorf("mean %g, want %g", got[1], mean)
	}
	// Values of layers, and the way from one to the output.
	in, err := m.Arrays(t.Context(), []space.Value{x, ring(6)})
	if err != nil {
		t.Fatal(err)
	}
	layers := m.Layers()
	if !slices.Equal(layers[0].Floats, []string{"nodes"}) ||
		!slices.Equal(layers[0].Live, []string{"nodes", "edges", "rate"}) {
		t.Errorf("input layer %+v", layers[0])
	}
	for _, l := range layers[1:] {
		p, err := m.Part(t.Context(), layers[0].Live, l.Live)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Values(t.Context(), in, l.Live)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a {
			for k := range a[i] {
				if !slices.Equal(a[i][k].Shape, b[i][k].Shape) || !slices.Equal(a[i][k].Val, b[i][k].Val) {
					t.Errorf("%s, sample %d, %s: %v and %v", l.Name, i, l.Live[k], a[i][k], b[i][k])
				}
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
