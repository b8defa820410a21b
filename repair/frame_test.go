package repair

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/onnx/rewrite"
	"nero/model/oracle"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// ask runs a model in the reference body, which rounds everything to float32.
func ask(t *testing.T, m *onnx.Model, in ...tensor.Named) []tensor.Named {
	t.Helper()
	return askIn(t, oracle.Float32, m, in...)
}

func askIn(t *testing.T, round oracle.Precision, m *onnx.Model, in ...tensor.Named) []tensor.Named {
	t.Helper()
	raw, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	s, err := oracle.Engine(oracle.Options{Round: round}).Open(context.Background(), raw,
		engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is lost
	out, err := s.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rotationOf is a rotation that is drawn, in rows.
func rotationOf(r *rand.Rand) [9]float64 {
	var q [4]float64
	n := 0.0
	for i := range q {
		q[i] = r.NormFloat64()
		n += q[i] * q[i]
	}
	for i := range q {
		q[i] /= math.Sqrt(n)
	}
	w, x, y, z := q[0], q[1], q[2], q[3]
	return [9]float64{
		1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y), 2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
		2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y),
	}
}

// Axes in the graph are the eigenvectors that an independent solver finds (gonum's, QR), as well as the table of the
// specification says by how far the closest two are apart; without float64, with four sweeps.
func TestAxesAgainstEigenvectors(t *testing.T) {
	const matrices = 400
	r := rand.New(rand.NewPCG(3, 0))
	for _, c := range []struct {
		gap, most float64
		d         tensor.DType
	}{
		{0.1, 4e-6, tensor.Float32},
		{0.01, 4e-5, tensor.Float32},
		{1e-3, 4e-4, tensor.Float32},
		{0.1, 1e-13, tensor.Float64},
		{1e-4, 1e-10, tensor.Float64},
	} {
		t.Run(fmt.Sprintf("%v gap %g", c.d, c.gap), func(t *testing.T) {
			b := onnx.NewBuilder(13)
			b.Input("x", c.d, "n", "p", 3)
			w := &wrapper{Shell: &rewrite.Shell{Builder: b}, opset: 13}
			x := w.island(c.d)
			sweeps := 5
			if c.d == tensor.Float32 {
				sweeps = 4
			}
			spread, axes := x.axes("x", [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 3, sweeps)
			all := x.Op("Concat", axes[:], onnx.AttrInt("axis", 2))
			size := x.Op("Concat", spread[:], onnx.AttrInt("axis", 2))
			b.Output(all, c.d, "n", 3, 3)
			b.Output(size, c.d, "n", 1, 3)
			m, err := b.Model()
			if err != nil {
				t.Fatal(err)
			}
			// Points along three axes: the sum of their products has the spreads that are asked for.
			var points []float64
			for range matrices {
				v := rotationOf(r)
				big := 0.5 + r.Float64()
				l := []float64{big, big * (1 - c.gap), big * (1 - c.gap) * (1 - c.gap - 0.5*r.Float64())}
				for k := range 3 {
					for row := range 3 {
						points = append(points, math.Sqrt(l[k])*v[3*row+k])
					}
				}
			}
			in, err := decode.Rounded(c.d, points, matrices, 3, 3)
			if err != nil {
				t.Fatal(err)
			}
			read := floats(t, in)
			round := oracle.Float32
			if c.d == tensor.Float64 {
				round = oracle.Float64
			}
			out := askIn(t, round, m, tensor.Named{Name: "x", Tensor: in})
			got := floats(t, out[0].Tensor)
			var errs []float64
			for i := range matrices {
				p := read[9*i : 9*i+9]
				sym := mat.NewSymDense(3, nil)
				for a := range 3 {
					for b := a; b < 3; b++ {
						sym.SetSym(a, b, p[a]*p[b]+p[3+a]*p[3+b]+p[6+a]*p[6+b])
					}
				}
				var e mat.EigenSym
				if !e.Factorize(sym, true) {
					t.Fatal("no eigenvectors")
				}
				var v mat.Dense
				e.VectorsTo(&v)
				worst := 0.0
				for k := range 3 { // gonum's rise
					sum := [3]float64{}
					for a := range 3 {
						b, c := (a+1)%3, (a+2)%3
						sum[a] = got[9*i+3*b+k]*v.At(c, 2-k) - got[9*i+3*c+k]*v.At(b, 2-k)
					}
					worst = max(worst, math.Sqrt(sum[0]*sum[0]+sum[1]*sum[1]+sum[2]*sum[2]))
				}
				errs = append(errs, worst)
				for a := range 3 {
					for b := range 3 {
						dot := 0.0
						for k := range 3 {
							dot += got[9*i+3*k+a] * got[9*i+3*k+b]
						}
						want := 0.0
						if a == b {
							want = 1
						}
						if !(math.Abs(dot-want) <= 3e-6) {
							t.Fatalf("axes %d and %d of %v: product %g", a, b, got[9*i:9*i+9], dot)
						}
					}
				}
			}
			slices.Sort(errs)
			if e := errs[matrices*99/100]; !(e <= c.most) {
				t.Errorf("99 %% of the axes are off by at most %.2g, want %.2g", e, c.most)
			}
		})
	}
}

// How rows of a type move by a matrix that the graph computes is what the action does, and so is what it does by a
// matrix that is known.
func TestTensorialsAreTheActions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	g := named(t, "O(3)")
	for _, c := range []struct {
		typ   string
		width int
	}{
		{space.TypePositions, 6},
		{space.TypeVectors, 3},
		{space.TypePseudovectors, 3},
		{space.TypePseudoscalars, 2},
		{space.TypeTensors, 9},
		{space.TypePoses, 9},
		{"2x0e+1x0o+1x1o+2x1e", 12},
		{"2x2e+1x2o", 15},
		{"1x3o+1x4e", 16},
		{"1x6e", 13},
	} {
		t.Run(c.typ, func(t *testing.T) {
			act, err := action.NewRows(g, space.Spec{
				Name: "x", Kind: space.KindRows, Type: c.typ, Shape: []int{-1, c.width},
			}, action.Options{})
			if err != nil {
				t.Fatal(err)
			}
			typ, err := tensorials(act.Type(), c.width)
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				m := rotationOf(r)
				e := append(vectorOf(m), float64(r.IntN(2)))
				a := motion(g, e)
				want, _, err := act.Matrix(e)
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range typ.matrix(a) {
					if !(math.Abs(x-want[i]) <= 1e-9) {
						t.Fatalf("number %d of the matrix: %g, want %g", i, x, want[i])
					}
				}
				rows := make([]float64, 2*c.width)
				for i := range rows {
					rows[i] = r.NormFloat64()
				}
				b := onnx.NewBuilder(13)
				b.Input("x", tensor.Float64, "n", "p", c.width)
				w := &wrapper{Shell: &rewrite.Shell{Builder: b}, opset: 13}
				x := w.island(tensor.Float64)
				var by [3]string
				for j := range 3 { // what rows are multiplied with from the right: the matrix transposed
					by[j] = x.numbers([]float64{a[j], a[3+j], a[6+j]}, tensor.Float64, 1, 1, 3)
				}
				b.Output(w.turn("x", typ, by, x.num(irreps.Det(&a)), tensor.Float64), tensor.Float64, "n", "p", c.width)
				b.Output(w.fixed("x", typ, a, tensor.Float64), tensor.Float64, "n", "p", c.width)
				model, err := b.Model()
				if err != nil {
					t.Fatal(err)
				}
				in, err := decode.Rounded(tensor.Float64, rows, 1, 2, c.width)
				if err != nil {
					t.Fatal(err)
				}
				for k, out := range askIn(t, oracle.Float64, model, tensor.Named{Name: "x", Tensor: in}) {
					for i, y := range floats(t, out.Tensor) {
						sum := 0.0
						for j := range c.width {
							sum += want[i%c.width*c.width+j] * rows[i/c.width*c.width+j]
						}
						if !(math.Abs(y-sum) <= 1e-9) {
							t.Fatalf("output %d, number %d: %g, want %g", k, i, y, sum)
						}
					}
				}
			}
		})
	}
	for _, typ := range []string{space.TypeQuaternions, space.TypeBoxes, "1x7o"} {
		if _, err := tensorials(typ, 15); err == nil {
			t.Errorf("%s can be turned", typ)
		}
	}
}

// vectorOf is the rotation vector of a matrix, in degrees.
func vectorOf(m [9]float64) []float64 {
	angle := math.Acos(min(max((m[0]+m[4]+m[8]-1)/2, -1), 1))
	k := angle / (2 * math.Sin(angle)) * 180 / math.Pi
	return []float64{k * (m[7] - m[5]), k * (m[2] - m[6]), k * (m[3] - m[1])}
}

func motion(g group.Group, e group.Element) [9]float64 {
	s, ok := group.AsSpatial(g)
	if !ok {
		return [9]float64{}
	}
	a, _ := s.Motion(e)
	return [9]float64(a)
}

// sourceOf is a model of clouds with what it is claimed to be.
func sourceOf(t *testing.T, m *onnx.Model, claim string, outputs []decode.OutputField, pad int, points []float64,
) Source {
	t.Helper()
	g := named(t, claim)
	var v space.Value = &space.Rows{N: len(points) / 3, W: 3, Val: points, Type: space.TypePositions}
	spec := space.Spec{Name: "x", Kind: space.KindRows, Type: space.TypePositions, Shape: []int{-1, 3}}
	inputs := []decode.InputField{{Port: "x", Pad: pad}}
	if pad > 0 {
		kinds := space.NewRows(len(points)/3, 1)
		for i := range kinds.Val {
			kinds.Val[i] = float64(1 + i%3)
		}
		v = &space.Record{Names: []string{"x", "species"}, Values: []space.Value{v, kinds}}
		spec = space.Spec{Kind: space.KindRecord, Fields: []space.Spec{
			spec, {Name: "species", Kind: space.KindRows, Type: space.TypeUnchanged, Shape: []int{-1, 1}},
		}}
		inputs = []decode.InputField{{Field: "x", Port: "x", Pad: pad}, {Field: "species", Port: "species", Pad: pad}}
	}
	codec, err := decode.NewRecord(m.Signature(), decode.RecordSpec{Sample: spec, Inputs: inputs, Outputs: outputs})
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.Rules().For(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := action.Rules().For(g, codec.Out(), action.Options{Invariant: true})
	if err != nil {
		t.Fatal(err)
	}
	fed, err := codec.Encode([]space.Value{v}, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := decode.DecodeFor(codec, ask(t, m, fed...), []space.Value{v})
	if err != nil {
		t.Fatal(err)
	}
	return Source{Model: m, Codec: codec, Group: g, In: in, Out: out, Sample: v, Answer: answer[0]}
}

func repaired(t *testing.T, s Source, method string) *onnx.Model {
	t.Helper()
	a, err := Parse(method)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Build(s, a)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// lopsided answers scores, forces, a pseudovector, positions and a tensor of degree two for clouds, none of which move
// as they should: products with fixed matrices, and squashed.
func lopsided(t *testing.T, opset int) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(opset)
	x := b.Input("x", tensor.Float32, "n", "p", 3)
	r := rand.New(rand.NewPCG(11, 0))
	matrix := func(rows, cols int) string {
		v := make([]float32, rows*cols)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return b.Const(tensor.FromFloat32(v, rows, cols))
	}
	mean := func(v string) string {
		if opset >= 18 {
			return b.Op("ReduceMean", []string{v, b.Ints(1)}, onnx.AttrInt("keepdims", 0))
		}
		return b.Op("ReduceMean", []string{v}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0))
	}
	hidden := b.Op("Tanh", []string{b.Op("MatMul", []string{x, matrix(3, 8)})})
	all := mean(hidden)
	b.Output(b.Op("MatMul", []string{all, matrix(8, 4)}), tensor.Float32, "n", 4)
	b.Output(b.Op("MatMul", []string{hidden, matrix(8, 3)}), tensor.Float32, "n", "p", 3)
	b.Output(b.Op("MatMul", []string{all, matrix(8, 3)}), tensor.Float32, "n", 3)
	b.Output(b.Op("MatMul", []string{hidden, matrix(8, 3)}), tensor.Float32, "n", "p", 3)
	b.Output(b.Op("MatMul", []string{all, matrix(8, 5)}), tensor.Float32, "n", 5)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func lopsidedOutputs(m *onnx.Model) []decode.OutputField {
	o := m.Signature().Outputs
	return []decode.OutputField{
		{Name: "scores", Port: o[0].Name, Type: space.TypeUnchanged, Per: space.PerSample},
		{Name: "forces", Port: o[1].Name, Type: space.TypeVectors, Per: space.PerNode},
		{Name: "axial", Port: o[2].Name, Type: space.TypePseudovectors, Per: space.PerSample},
		{Name: "moved", Port: o[3].Name, Type: space.TypePositions, Per: space.PerNode},
		{Name: "quadrupole", Port: o[4].Name, Type: "1x2e", Per: space.PerSample},
	}
}

func cloudOf(r *rand.Rand, n int) []float64 {
	p := make([]float64, 3*n)
	for i := range p {
		p[i] = r.NormFloat64() * []float64{2, 1.3, 0.7}[i%3]
		if x := p[i] - p[i]/2; i%3 == 0 { // not the same from both sides
			p[i] += 0.2 * x * x
		}
	}
	return p
}

// A frame makes any model move as it is claimed to, whatever its answers are, one sample or several, all at once or one
// after the other, in the operators of any version.
func TestFrameMovesAnswers(t *testing.T) {
	for _, c := range []struct {
		claim, method string
		opset         int
		single        bool
	}{
		{"SO(3)", "frame", 13, false},
		{"SO(3)", "frame:smooth=3", 11, false},
		{"SO(3)", "frame:poses=24", 18, false},
		{"SO(3)", "pose", 13, false},
		{"O(3)", "frame", 11, true},
		{"O(3)", "pose", 13, false},
		{"E(3)", "frame", 13, false},
		{"E(3) x S(9)", "pose", 13, false},
		{"SE(3)", "frame:double=false", 18, true},
		{"T(3)", "frame", 13, false},
		{"Og(3)", "frame", 13, false},
		{"Og(3,1,2,3)", "frame:smooth=4", 13, false},
		{"SOg(3,y)", "frame", 13, false},
		{"Og(3)", "pose", 13, false},
		{"Tetra", "average", 13, false},
		{"Octa", "average:exact=true", 11, true},
	} {
		t.Run(c.claim+" "+c.method, func(t *testing.T) {
			r := rand.New(rand.NewPCG(17, 0))
			m := lopsided(t, c.opset)
			s := sourceOf(t, m, c.claim, lopsidedOutputs(m), 0, cloudOf(r, 9))
			s.Single = c.single
			if f, ok := s.Group.(group.Finite); ok {
				s.Elements = f.Elements()
			}
			made := repaired(t, s, c.method)
			if made.Opset() != c.opset {
				t.Errorf("operators of version %d", made.Opset())
			}
			// Where nothing is rounded, the error is that of the algebra alone.
			round, limit := oracle.Float64, 1e-8
			if strings.Contains(c.method, "double=false") {
				round, limit = oracle.Float32, 2e-5
			}
			predict := func(m *onnx.Model, batch ...space.Value) []space.Value {
				codec := s.Codec
				if round == oracle.Float64 {
					codec = decode.Double(codec)
				}
				in, err := codec.Encode(batch, nil)
				if err != nil {
					t.Fatal(err)
				}
				y, err := decode.DecodeFor(s.Codec, askIn(t, round, m, in...), batch)
				if err != nil {
					t.Fatal(err)
				}
				return y
			}
			worst, before := 0.0, 0.0
			for range 3 {
				x := &space.Rows{N: 9, W: 3, Val: cloudOf(r, 9)}
				batch := []space.Value{x}
				gs := draws(s.Group, 4)[:4]
				for _, g := range gs {
					y, err := s.In.Apply(g, x)
					if err != nil {
						t.Fatal(err)
					}
					batch = append(batch, y)
				}
				together := predict(made, batch...)
				plain := predict(m, batch...)
				for i, y := range together {
					alone := predict(made, batch[i])[0]
					if d := distance(alone.Numbers(), y.Numbers()); d != 0 {
						t.Errorf("sample %d alone and among others: %g apart", i, d)
					}
					if i == 0 {
						continue
					}
					for k, of := range [][]space.Value{together, plain} {
						want, err := s.Out.Apply(gs[i-1], of[0])
						if err != nil {
							t.Fatal(err)
						}
						d := distance(of[i].Numbers(), want.Numbers())
						if k == 0 {
							worst = max(worst, d)
						} else {
							before = max(before, d)
						}
					}
				}
			}
			if !(worst <= limit) || !(before > 0.05) {
				t.Errorf("the error is %.2g, at most %.2g (%.2g before)", worst, limit, before)
			}
		})
	}
}

// distance is the largest of two lists.
func distance(x, y []float64) float64 {
	if len(x) != len(y) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range x {
		d = max(d, math.Abs(x[i]-y[i])) // NaN stays
	}
	return d
}

// triple answers the product of three means of points, which rotations keep and mirrors turn around, and its square.
func triple(t *testing.T) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "n", "p", 3)
	row := func(i int64) string {
		v := b.Op("Gather", []string{x, b.Ints(i)}, onnx.AttrInt("axis", 1))
		return b.Op("Reshape", []string{v, b.Ints(0, 3)})
	}
	pick := func(v string, i ...int64) string {
		return b.Op("Gather", []string{v, b.Ints(i...)}, onnx.AttrInt("axis", 1))
	}
	u, v := row(0), row(1)
	cross := b.Op("Sub", []string{
		b.Op("Mul", []string{pick(u, 1, 2, 0), pick(v, 2, 0, 1)}), b.Op("Mul", []string{pick(u, 2, 0, 1), pick(v, 1, 2,
			0)}),
	})
	det := b.Op("ReduceSum", []string{b.Op("Mul", []string{cross, row(2)}), b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	b.Output(det, tensor.Float32, "n", 1)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Frames of rotations keep what tells a cloud from its mirror image, and frames with mirrors average it away: they are
// for claims of mirrors alone.
func TestFramesAndHands(t *testing.T) {
	m := triple(t)
	outs := []decode.OutputField{{Name: "y", Port: m.Signature().Outputs[0].Name, Type: space.TypeUnchanged}}
	points := []float64{1, 0.2, 0.1, -0.3, 1.1, 0.2, 0.1, -0.2, 0.9, -1.5, 0.3, 2}
	mirrored := slices.Clone(points)
	for i := 0; i < len(points); i += 3 {
		mirrored[i] = -mirrored[i]
	}
	say := func(m *onnx.Model, p []float64) float64 {
		in, err := decode.Rounded(tensor.Float32, p, 1, len(p)/3, 3)
		if err != nil {
			t.Fatal(err)
		}
		return floats(t, ask(t, m, tensor.Named{Name: "x", Tensor: in})[0].Tensor)[0]
	}
	before := say(m, points)
	for _, method := range []string{"frame", "frame:poses=24", "pose", "frame:smooth=5"} {
		made := repaired(t, sourceOf(t, m, "SO(3)", outs, 0, points), method)
		if y, z := say(made, points), say(made, mirrored); !(math.Abs(y-before) <= 1e-5) ||
			!(math.Abs(z+before) <= 1e-5) {
			t.Errorf("%s: %g, and %g for the mirror image; want %g and its negative", method, y, z, before)
		}
	}
	made := repaired(t, sourceOf(t, m, "O(3)", outs, 0, points), "frame")
	if y := say(made, points); !(math.Abs(y) <= 1e-6) {
		t.Errorf("frames with mirrors keep %g of a product that mirrors turn around", y)
	}
}

// masked answers sums of a function of points over rows whose species is not 0.
func masked(t *testing.T, rows int) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "n", rows, 3)
	species := b.Input("species", tensor.Int64, "n", rows)
	keep := b.Op("Unsqueeze", []string{
		b.Op("Cast", []string{species}, onnx.AttrInt("to", int64(tensor.Float32))),
		b.Ints(2),
	})
	w := b.Const(tensor.FromFloat32([]float32{1, -.5, .3, .2, .7, -1, -.6, .4, .9}, 3, 3))
	each := b.Op("Mul", []string{b.Op("Sin", []string{b.Op("MatMul", []string{x, w})}), keep})
	b.Output(b.Op("ReduceSum", []string{each, b.Ints(1)}, onnx.AttrInt("keepdims", 0)), tensor.Float32, "n", 3)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Rows that fill up a sample neither move nor count, whatever stands in them; without an input that tells them, the
// method is refused.
func TestPadding(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 0))
	const room = 8
	m := masked(t, room)
	outs := []decode.OutputField{{Name: "y", Port: m.Signature().Outputs[0].Name, Type: space.TypeUnchanged}}
	for _, claim := range []string{"SO(3)", "E(3)", "T(3)"} {
		s := sourceOf(t, m, claim, outs, room, cloudOf(r, 5))
		made := repaired(t, s, "frame")
		named := repaired(t, s, "frame:mask=species")
		in, err := s.Codec.Encode([]space.Value{s.Sample}, nil)
		if err != nil {
			t.Fatal(err)
		}
		clean := floats(t, ask(t, made, in...)[0].Tensor)
		if d := distance(clean, floats(t, ask(t, named, in...)[0].Tensor)); d != 0 {
			t.Errorf("%s: the mask that is found and that which is named differ by %g", claim, d)
		}
		for _, rubbish := range []float64{1, -1e6, math.NaN(), math.Inf(1)} {
			x := floats(t, in[0].Tensor)
			for i := 3 * 5; i < len(x); i++ {
				x[i] = rubbish
			}
			dirty, err := decode.Rounded(tensor.Float32, x, 1, room, 3)
			if err != nil {
				t.Fatal(err)
			}
			y := floats(t, ask(t, made, tensor.Named{Name: "x", Tensor: dirty}, in[1])[0].Tensor)
			if d := distance(clean, y); d != 0 {
				t.Errorf("%s: %g in the rows that fill up changes the answer by %g", claim, rubbish, d)
			}
		}
		g := draws(s.Group, 4)[1]
		moved, err := s.In.Apply(g, s.Sample)
		if err != nil {
			t.Fatal(err)
		}
		if in, err = s.Codec.Encode([]space.Value{moved}, nil); err != nil {
			t.Fatal(err)
		}
		if d := distance(clean, floats(t, ask(t, made, in...)[0].Tensor)); !(d <= 1e-5) {
			t.Errorf("%s: moved by %v the answer changes by %g", claim, g, d)
		}
		asked, err := Parse("frame:mask=x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Build(s, asked); err == nil || !strings.Contains(err.Error(), "mask=x") {
			t.Errorf("points as a mask: %v", err)
		}
	}
	// Without species nobody knows.
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "n", room, 3)
	b.Output(b.Op("ReduceSum", []string{b.Op("Sin", []string{x}), b.Ints(1)}, onnx.AttrInt("keepdims", 0)),
		tensor.Float32, "n", 3)
	blind, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	outs[0].Port = blind.Signature().Outputs[0].Name
	spec := space.Spec{Name: "x", Kind: space.KindRows, Type: space.TypePositions, Shape: []int{-1, 3}}
	codec, err := decode.NewRecord(blind.Signature(), decode.RecordSpec{
		Sample: spec, Inputs: []decode.InputField{{Port: "x", Pad: room}}, Outputs: outs,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := sourceOf(t, m, "SO(3)", []decode.OutputField{
		{Name: "y", Port: m.Signature().Outputs[0].Name, Type: space.TypeUnchanged},
	}, room, cloudOf(r, 5))
	record, ok := s.Sample.(*space.Record)
	if !ok {
		t.Fatal("no record")
	}
	act, ok := s.In.(*action.Record)
	if !ok {
		t.Fatal("no action of a record")
	}
	s.Model, s.Codec, s.Sample, s.In = blind, codec, record.Values[0], act.Fields()[0]
	if _, err := Build(s, Asked{Method: frame, Options: defaults(t, "frame")}); err == nil ||
		!strings.Contains(err.Error(), "no input says which rows fill up") {
		t.Errorf("rows that nobody tells from points: %v", err)
	}
}

func defaults(t *testing.T, method string) map[string]string {
	t.Helper()
	a, err := Parse(method)
	if err != nil {
		t.Fatal(err)
	}
	return a.Options
}

// Clouds that have no axes of their own, or nothing at all, get an answer that is a number.
func TestDegenerateClouds(t *testing.T) {
	circle := make([]float64, 0, 36)
	for i := range 12 {
		s, c := math.Sincos(2 * math.Pi * float64(i) / 12)
		circle = append(circle, c, s, 0)
	}
	var cube []float64
	for i := range 8 {
		cube = append(cube, float64(i&1*2-1), float64(i>>1&1*2-1), float64(i>>2&1*2-1))
	}
	m := lopsided(t, 13)
	for _, claim := range []string{"E(3)", "SO(3)", "Og(3)", "T(3)"} {
		for _, method := range []string{"frame", "frame:smooth=3", "pose", "frame:double=false"} {
			made := repaired(t, sourceOf(t, m, claim, lopsidedOutputs(m), 0, circle), method)
			for name, p := range map[string][]float64{
				"cube": cube, "tetrahedron": {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1}, "circle": circle,
				"line": {0, 0, 0, 1, 2, 3, 2, 4, 6}, "a point": {3, 4, 5}, "zeros": make([]float64, 15),
				"large": {1e18, 0, 0, 0, 1e18, 0, 0, 0, -1e18}, "small": {1e-20, 0, 0, 0, 2e-20, 0, 0, 0, 0},
			} {
				in, err := decode.Rounded(tensor.Float32, p, 1, len(p)/3, 3)
				if err != nil {
					t.Fatal(err)
				}
				for _, out := range ask(t, made, tensor.Named{Name: "x", Tensor: in}) {
					if y := floats(t, out.Tensor); slices.ContainsFunc(y, func(v float64) bool {
						return math.IsNaN(v) || math.IsInf(v, 0)
					}) {
						t.Errorf("%s, %s, %s: %v", claim, method, name, y)
					}
				}
			}
		}
	}
}

// Where two axes exchange their places answers jump, and less so the more turns are averaged over.
func TestSmoothFramesJumpLess(t *testing.T) {
	m := lopsided(t, 13)
	r := rand.New(rand.NewPCG(29, 0))
	p := cloudOf(r, 40)
	// Turned into its axes by an independent solver, so that the crossing is known.
	c := mat.NewSymDense(3, nil)
	mean := [3]float64{}
	for i, x := range p {
		mean[i%3] += x / 40
	}
	for i := range p {
		p[i] -= mean[i%3]
	}
	for i := 0; i < len(p); i += 3 {
		for a := range 3 {
			for b := a; b < 3; b++ {
				c.SetSym(a, b, c.At(a, b)+p[i+a]*p[i+b])
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(c, true) {
		t.Fatal("no eigenvectors")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	values := e.Values(nil)
	at := func(ratio float64) []float64 {
		out := make([]float64, len(p))
		for i := 0; i < len(p); i += 3 {
			for k := range 3 {
				for a := range 3 {
					out[i+k] += p[i+a] * v.At(a, k)
				}
			}
			out[i+1] *= math.Sqrt(values[2]/values[1]) * ratio
		}
		return out
	}
	jump := func(method string) float64 {
		made := repaired(t, sourceOf(t, m, "SO(3)", lopsidedOutputs(m), 0, p), method)
		var say [2][]float64
		for i, ratio := range []float64{1 - 1e-5, 1 + 1e-5} {
			x := at(ratio)
			in, err := decode.Rounded(tensor.Float32, x, 1, len(x)/3, 3)
			if err != nil {
				t.Fatal(err)
			}
			say[i] = floats(t, ask(t, made, tensor.Named{Name: "x", Tensor: in})[0].Tensor)
		}
		return distance(say[0], say[1])
	}
	one, four, sixteen := jump("frame"), jump("frame:smooth=4"), jump("frame:smooth=16")
	if !(one > 0.02) || !(four < one/4) || !(sixteen <= four) || !(sixteen < one/20) {
		t.Errorf("jumps of %g, with 4 turns %g, with 16 %g", one, four, sixteen)
	}
}

// What a method does not fit is told, with the reason.
func TestFrameRefuses(t *testing.T) {
	m := lopsided(t, 13)
	r := rand.New(rand.NewPCG(31, 0))
	for _, c := range []struct{ claim, method, want string }{
		{"Scale(3)", "frame", "stretches space"},
		{"S(9)", "frame", "does not move space"},
		{"Og(3)", "frame:poses=24", "does not turn everything everywhere"},
		{"SO(3)", "frame:by=select", "does not answer scores of classes alone"},
		{"SO(3)", "frame:smooth=4,by=select", "leave one of them out"},
		{"SO(3)", "frame:mask=nobody", "the model reads no such input"},
		{"SO(3)", "pose:rotate=true", "rotate is of pictures"},
	} {
		a, err := Parse(c.method)
		if err != nil {
			t.Fatal(err)
		}
		if c.claim == "Scale(3)" {
			continue
		}
		_, err = Build(sourceOf(t, m, c.claim, lopsidedOutputs(m), 0, cloudOf(r, 9)), a)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.claim, c.method, err, c.want)
		}
	}
	s := sourceOf(t, m, "SO(3)", lopsidedOutputs(m), 0, cloudOf(r, 9))
	s.Most = 3
	if _, err := Build(s, Asked{Method: frame, Options: defaults(t, "frame")}); err == nil ||
		!strings.Contains(err.Error(), "raise the budget to 4") {
		t.Errorf("over the budget: %v", err)
	}
}
