package repair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"nero/data/space"
	"nero/data/split"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/onnx/lint"
	"nero/model/oracle"
	"nero/symmetry/action"
)

// The radial polynomials are those that Born and Wolf print (Principles of Optics, table XXI).
func TestRadialPolynomials(t *testing.T) {
	for _, c := range []struct {
		n, m int
		want []float64
	}{
		{0, 0, []float64{1}},
		{2, 0, []float64{2, -1}},
		{3, 1, []float64{3, -2}},
		{4, 0, []float64{6, -6, 1}},
		{5, 1, []float64{10, -12, 3}},
		{6, 2, []float64{15, -20, 6}},
		{8, 0, []float64{70, -140, 90, -20, 1}},
		{8, 8, []float64{1}},
	} {
		if got := radialOf(c.n, c.m); !slices.Equal(got, c.want) {
			t.Errorf("R_%d,%d: %v, want %v", c.n, c.m, got, c.want)
		}
	}
	if count, numbers := momentsUpTo(8); count != 25 || numbers != 45 || len(newZernike(9, 8).n) != 25 {
		t.Errorf("%d moments up to degree 8, of %d numbers, want 25 of 45", count, numbers)
	}
}

// A map that is one of the functions has the moment 1 there and 0 elsewhere, up to how well a grid holds the integral.
func TestMomentsAreOrthogonal(t *testing.T) {
	const side = 200
	z := newZernike(side, 4)
	count := len(z.n)
	for k := range count {
		unit := 4 / float64(side*side) * float64(z.n[k]+1) / math.Pi
		got := z.magnitudes(1, func(_, p int) float64 { return z.re[p*count+k] / unit })
		for j, a := range got {
			want := 0.0
			if j == k {
				if want = 1; z.m[k] > 0 { // the real part is half of a function and half of its conjugate
					want = 0.5
				}
			}
			if !(math.Abs(a-want) <= 0.01) {
				t.Errorf("the function %d,%d has the moment %g at %d,%d, want %g", z.n[k], z.m[k], a, z.n[j], z.m[j],
					want)
			}
		}
	}
}

// phantom is a picture in closed form: two bumps and a rotation of them by an angle in radians.
func phantom(side int, angle float64) []float64 {
	out := make([]float64, side*side)
	for p := range out {
		x, y := place2(p, side)
		u, v := x*math.Cos(angle)+y*math.Sin(angle), y*math.Cos(angle)-x*math.Sin(angle)
		out[p] = math.Exp(-((u-0.2)*(u-0.2)+(v+0.1)*(v+0.1))/0.05) +
			0.6*math.Exp(-((u+0.25)*(u+0.25)+2*(v-0.15)*(v-0.15))/0.03)
	}
	return out
}

// Magnitudes do not see turns and mirrors: to the last bits where places go to places, up to how well a grid holds the
// integral where the picture is turned in closed form, and up to the resampling where pixels are mixed. Moments
// themselves see all of these.
func TestMagnitudesStay(t *testing.T) {
	const side = 28
	z := newZernike(side, 8)
	of := func(x []float64) []float64 { return z.magnitudes(1, func(_, p int) float64 { return x[p] }) }
	off := func(x, y []float64) float64 { return distance(of(x), of(y)) / slices.Max(of(x)) }
	x := phantom(side, 0)
	moved := func(to func(i, j int) int) []float64 {
		out := make([]float64, len(x))
		for p := range out {
			out[p] = x[to(p/side, p%side)]
		}
		return out
	}
	quarter := moved(func(i, j int) int { return j*side + side - 1 - i })
	mirror := moved(func(i, j int) int { return i*side + side - 1 - j })
	for name, y := range map[string][]float64{"a quarter turn": quarter, "a mirror": mirror} {
		if d := off(x, y); !(d <= 5e-15) {
			t.Errorf("%s changes magnitudes by %g", name, d)
		}
	}
	if d := off(x, phantom(side, math.Pi/6)); !(d <= 3.7e-5) {
		t.Errorf("30 degrees in closed form change magnitudes by %g", d)
	}
	a, err := action.NewImage(named(t, "SO(2)"), space.Spec{
		Name: "x", Kind: space.KindImage,
		Shape: []int{1, side, side},
	}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := a.Apply([]float64{30}, &space.Image{C: 1, H: side, W: side, Pix: x})
	if err != nil {
		t.Fatal(err)
	}
	if d := off(x, y.Numbers()); !(d >= 1e-4 && d <= 0.031) {
		t.Errorf("30 degrees of pixels change magnitudes by %g", d)
	}
	if d := off(x, moved(func(i, j int) int { return i*side + (j+3)%side })); !(d >= 0.05) {
		t.Errorf("a shift changes magnitudes by no more than %g", d)
	}
}

// What is learned is the solution of the normal equations, which gonum solves from the samples themselves.
func TestRidge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		in, out := rapid.IntRange(1, 6).Draw(t, "in"), rapid.IntRange(1, 3).Draw(t, "out")
		n, penalty := in+rapid.IntRange(2, 30).Draw(t, "more"), rapid.SampledFrom(penalties()).Draw(t, "penalty")
		far := rapid.SampledFrom([]float64{0, 10, -1e4}).Draw(t, "far")
		g := newRidge(in, out)
		x, y := mat.NewDense(n, in, nil), mat.NewDense(n, out, nil)
		for i := range n {
			for j := range in {
				x.Set(i, j, far+float64(j+1)*r.NormFloat64())
			}
			for k := range out {
				y.Set(i, k, 3+r.NormFloat64()+float64(k)*(x.At(i, 0)-far))
			}
			g.add(x.RawRowView(i), y.RawRowView(i))
		}
		got, err := g.solve(penalty)
		if err != nil {
			t.Fatal(err)
		}
		centre := func(m *mat.Dense) []float64 {
			_, cols := m.Dims()
			mean := make([]float64, cols)
			for j := range cols {
				mean[j] = mat.Sum(m.ColView(j)) / float64(n)
				for i := range n {
					m.Set(i, j, m.At(i, j)-mean[j])
				}
			}
			return mean
		}
		mx, my := centre(x), centre(y)
		var xx, xy, w mat.Dense
		xx.Mul(x.T(), x)
		xy.Mul(x.T(), y)
		for j := range in {
			xx.Set(j, j, xx.At(j, j)*(1+penalty))
		}
		if err := w.Solve(&xx, &xy); err != nil {
			t.Skip("what is drawn has no solution")
		}
		for k := range out {
			bias := my[k]
			for j := range in {
				bias -= w.At(j, k) * mx[j]
				if d := math.Abs(got.weights[j][k] - w.At(j, k)); !(d <= 1e-6*(1+math.Abs(w.At(j, k)))) {
					t.Fatalf("weight %d,%d is %g, want %g", j, k, got.weights[j][k], w.At(j, k))
				}
			}
			if d := math.Abs(got.bias[k] - bias); !(d <= 1e-6*(1+math.Abs(bias)+math.Abs(far))) {
				t.Fatalf("bias %d is %g, want %g", k, got.bias[k], bias)
			}
		}
	})
}

// A number that never changes gets no weight, and two that are the same share one.
func TestRidgeOfWhatDoesNotVary(t *testing.T) {
	g := newRidge(3, 1)
	for i := range 20 {
		v := float64(i%5) - 2
		g.add([]float64{7, v, v}, []float64{3*v + 1})
	}
	l, err := g.solve(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if l.weights[0][0] != 0 || !(math.Abs(l.weights[1][0]-1.5) <= 1e-5) || !(math.Abs(l.weights[2][0]-1.5) <= 1e-5) ||
		!(math.Abs(l.bias[0]-1) <= 1e-5) {
		t.Errorf("weights %v, bias %v; want 0, 1.5, 1.5 and 1", l.weights, l.bias)
	}
	if _, err := g.solve(0); err == nil {
		t.Error("a system without a solution was solved")
	}
}

// flat is how a model of the tests lays a map out before its dense layer.
type flat struct {
	name   string
	opset  int
	layout string
	dtype  tensor.DType
	axes   []any
	// write makes four scores of the input; dense stores weights of so many numbers
	write func(b *onnx.Builder, x string, dense func(in, out int) string) string
}

// flats are the forms in which exporters write a dense layer on a map. What comes before is symmetric.
func flats() []flat {
	const side, all = 9, 81
	even := func(b *onnx.Builder, x string) string {
		k := tensor.FromFloat32([]float32{.1, .2, .1, .2, 1, .2, .1, .2, .1, .3, .1, .3, .1, 1, .1, .3, .1, .3}, 2, 1,
			3, 3)
		return b.Op("Relu", []string{b.Op("Conv", []string{x, b.Const(k)}, onnx.AttrInts("pads", 1, 1, 1, 1))})
	}
	first := []any{"n", 1, side, side}
	return []flat{
		{
			"Flatten and Gemm", 11, "NCHW", tensor.Float32, first,
			func(b *onnx.Builder, x string, dense func(in, out int) string) string {
				return b.Op("Gemm", []string{b.Op("Flatten", []string{x}), dense(4, all)}, onnx.AttrInt("transB", 1),
					onnx.AttrFloat("alpha", 2))
			},
		},
		{
			"Reshape, MatMul and Add", 13, "NCHW", tensor.Float32, first,
			func(b *onnx.Builder, x string, dense func(in, out int) string) string {
				y := b.Op("Reshape", []string{even(b, x), b.Ints(0, -1)})
				y = b.Op("MatMul", []string{b.Op("Dropout", []string{y}), dense(2*all, 4)})
				return b.Op("Add", []string{y, b.Const(tensor.FromFloat32([]float32{1, 2, 3, 4}, 4))})
			},
		},
		{
			"channels last", 18, "NHWC", tensor.Float32,
			[]any{"n", side, side, 1},
			func(b *onnx.Builder, x string, dense func(in, out int) string) string {
				y := even(b, b.Op("Transpose", []string{x}, onnx.AttrInts("perm", 0, 3, 1, 2)))
				y = b.Op("Transpose", []string{y}, onnx.AttrInts("perm", 0, 2, 3, 1))
				y = b.Op("Reshape", []string{b.Op("Tanh", []string{y}), b.Ints(-1, 2*all)})
				return b.Op("MatMul", []string{y, dense(2*all, 4)})
			},
		},
		{
			"a layer behind it", 13, "NCHW", tensor.Float32, first,
			func(b *onnx.Builder, x string, dense func(in, out int) string) string {
				y := b.Op("Gemm", []string{b.Op("Flatten", []string{even(b, x)}), dense(2*all, 6)})
				return b.Op("Gemm", []string{b.Op("Relu", []string{y}), dense(6, 4)})
			},
		},
		{
			"float64", 13, "NCHW", tensor.Float64, first,
			func(b *onnx.Builder, x string, dense func(in, out int) string) string {
				return b.Op("Softmax", []string{b.Op("Gemm", []string{b.Op("Flatten", []string{x}), dense(all, 4)})},
					onnx.AttrInt("axis", 1))
			},
		},
	}
}

func (c flat) model(t *testing.T) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(c.opset)
	x := b.Input("x", c.dtype, c.axes...)
	r := rand.New(rand.NewPCG(59, 0))
	y := c.write(b, x, func(in, out int) string {
		v := make([]float64, in*out)
		for i := range v {
			v[i] = r.NormFloat64() / 5
		}
		return b.Const(stored(t, c.dtype, v, in, out))
	})
	b.Output(y, c.dtype, "n", 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func stored(t *testing.T, d tensor.DType, v []float64, shape ...int) tensor.Tensor {
	t.Helper()
	x, err := decode.Rounded(d, v, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// lookedInto lets a method look into a model for as many samples on each side, by the float64 evaluator.
func lookedInto(t *testing.T, s *Source, samples int) {
	t.Helper()
	s.Sides = map[split.Side]int{split.Fit: samples, split.Choose: samples / 2}
	d := s.Sample.Dims()
	s.Inside = func(side split.Side, most int, values []string, each func(string, [][]float64, int) error) error {
		if len(slices.Compact(slices.Sorted(slices.Values(values)))) < len(values) {
			return errors.New("a value is listed twice")
		}
		inner := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "x" })
		raw, added, err := s.Model.Expose(inner...)
		if err != nil {
			return err
		}
		e, err := oracle.Engine(oracle.Options{Round: oracle.Float64}).Open(context.Background(), raw,
			engine.Options{Threads: 1})
		if err != nil {
			return err
		}
		defer e.Close() //nolint:errcheck // nothing is lost
		names := append(onnx.Names(s.Model.Signature().Outputs), added...)
		r := rand.New(rand.NewPCG(61, uint64(len(side))))
		for i := range min(most, s.Sides[side]) {
			in, err := s.Codec.Encode([]space.Value{blots(r, d[0], d[1], d[2])}, nil)
			if err != nil {
				return err
			}
			out, err := e.Run(context.Background(), in)
			if err != nil {
				return err
			}
			v := make([][]float64, len(values))
			for k, name := range values {
				from := in[0].Tensor
				if j := slices.Index(names, name); j >= 0 {
					from = out[j].Tensor
				}
				v[k] = floats(t, from)
			}
			label := 0
			if y := floats(t, out[0].Tensor); y[1] > y[0] {
				label = 1
			}
			if err := each(strconv.Itoa(i), v, label); err != nil {
				return err
			}
		}
		return nil
	}
}

// A dense layer on a map, in whatever form it was exported, answers alike for a picture that is turned or mirrored once
// it reads magnitudes; the model did not. The file has its version of the operators, keeps no weights that nothing
// reads, and says that it was refitted, by how many samples of which sides.
func TestMoments(t *testing.T) {
	for _, c := range flats() {
		t.Run(c.name, func(t *testing.T) {
			m := c.model(t)
			s := picturesOf(t, m, "D4", c.layout, 1, 9, 9)
			lookedInto(t, &s, 330)
			made := repaired(t, s, "moments:degree=6")
			if made.Opset() != c.opset {
				t.Errorf("operators of version %d, want %d", made.Opset(), c.opset)
			}
			channels := 2
			if c.name == "Flatten and Gemm" || c.name == "float64" {
				channels = 1
			}
			did := fmt.Sprintf("16 magnitudes of moments of each of %d channels", channels)
			if channels == 1 {
				did = "16 magnitudes of moments of each of 1 channel"
			}
			for _, want := range []string{
				"moments:degree=6 over D4, refitted: ", did, ", to what it answered, of 330 samples (fit), ",
				"165 samples (choose)",
			} {
				if !strings.Contains(Done(made), want) {
					t.Errorf("done: %s; want %q in it", Done(made), want)
				}
			}
			read := map[string]bool{}
			for _, n := range made.Proto().GetGraph().GetNode() {
				for _, in := range n.GetInput() {
					read[in] = true
				}
			}
			for _, i := range made.Proto().GetGraph().GetInitializer() {
				if !read[i.GetName()] {
					t.Errorf("nothing reads %s", i.GetName())
				}
			}
			r := rand.New(rand.NewPCG(67, 0))
			for _, at := range [][]float64{{90, 0}, {180, 0}, {270, 1}, {0, 1}} {
				x := blots(r, 1, 9, 9)
				y, err := s.In.Apply(at, x)
				if err != nil {
					t.Fatal(err)
				}
				in, err := s.Codec.Encode([]space.Value{x, y}, nil)
				if err != nil {
					t.Fatal(err)
				}
				after, before := floats(t, ask(t, made, in...)[0].Tensor), floats(t, ask(t, m, in...)[0].Tensor)
				if d := distance(after[:4], after[4:]); !(d <= 2e-6) {
					t.Errorf("at %v answers are %g apart", at, d)
				}
				if d := distance(before[:4], before[4:]); !(d > 1e-3) {
					t.Errorf("at %v the model does not mind", at)
				}
			}
		})
	}
}

// A layer that is a moment already is learned as it is: the file says what the model did.
func TestMomentsKeepWhatIsOne(t *testing.T) {
	const side = 9
	z := newZernike(side, 2)
	c := flat{"planted", 13, "NCHW", tensor.Float64, []any{"n", 1, side, side}, nil}
	b := onnx.NewBuilder(c.opset)
	x := b.Input("x", c.dtype, c.axes...)
	weights := make([]float64, 4*side*side)
	for p := range side * side {
		for k := range 4 {
			weights[4*p+k] = float64(k+1) * z.re[p*len(z.n)] // A_00, which is no less than 0 for what is no less than 0
		}
	}
	y := b.Op("Abs", []string{x})
	y = b.Op("Gemm", []string{b.Op("Flatten", []string{y}), b.Const(stored(t, c.dtype, weights, side*side, 4))})
	b.Output(y, c.dtype, "n", 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	s := picturesOf(t, m, "C4", c.layout, 1, side, side)
	lookedInto(t, &s, 100)
	made := repaired(t, s, "moments:degree=2")
	r := rand.New(rand.NewPCG(71, 0))
	in, err := s.Codec.Encode([]space.Value{blots(r, 1, side, side), blots(r, 1, side, side)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, want := floats(t, askIn(t, oracle.Float64, made, in...)[0].Tensor),
		floats(t, askIn(t, oracle.Float64, m, in...)[0].Tensor)
	if d := distance(got, want); !(d <= 1e-4*slices.Max(want)) {
		t.Errorf("answers are %g away from those before, which reach to %g", d, slices.Max(want))
	}
}

// Labels are learned in the scale of the scores that the model had.
func TestMomentsOfLabels(t *testing.T) {
	for _, c := range flats() {
		s := picturesOf(t, c.model(t), "C4", c.layout, 1, 9, 9)
		lookedInto(t, &s, 330)
		a, err := Parse("moments:degree=6,to=labels")
		if err != nil {
			t.Fatal(err)
		}
		made, err := Build(s, a)
		if c.name == "a layer behind it" {
			if err == nil || !strings.Contains(err.Error(), "behind ") || !strings.Contains(err.Error(),
				"leave out to=labels") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !strings.Contains(Done(made), ", to labels, of 330 samples (fit)") {
			t.Errorf("%s: done: %s", c.name, Done(made))
		}
		right, n := 0, 0
		err = s.Inside(split.Choose, 100, []string{"x", made.Signature().Outputs[0].Name},
			func(_ string, v [][]float64, label int) error {
				in, err := tensorOf(s, c, v[0])
				if err != nil {
					return err
				}
				y := floats(t, ask(t, made, in)[0].Tensor)
				if n++; (y[1] > y[0]) == (label == 1) {
					right++
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if !(float64(right) > 0.55*float64(n)) {
			t.Errorf("%s: %d of %d labels are known", c.name, right, n)
		}
	}
}

// tensorOf is what a model of the tests reads, of numbers that were read before.
func tensorOf(s Source, c flat, v []float64) (tensor.Named, error) {
	in, err := s.Codec.Encode([]space.Value{s.Sample}, nil)
	if err != nil {
		return tensor.Named{}, err
	}
	x, err := decode.Rounded(c.dtype, v, in[0].Shape...)
	return tensor.Named{Name: in[0].Name, Tensor: x}, err
}

// What moments do not fit is refused, with what would do; a remedy that is named works.
func TestMomentsRefuse(t *testing.T) {
	all := flats()
	single := flat{
		"one place", 13, "NCHW", tensor.Float32,
		[]any{"n", 1, 9, 9},
		func(b *onnx.Builder, x string, dense func(in, out int) string) string {
			y := b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{x})})
			return b.Op("Gemm", []string{y, dense(1, 4)})
		},
	}
	oblong := flat{
		"not a square", 13, "NCHW", tensor.Float32,
		[]any{"n", 1, 9, 9},
		func(b *onnx.Builder, x string, dense func(in, out int) string) string {
			y := b.Op("MaxPool", []string{x}, onnx.AttrInts("kernel_shape", 1, 3), onnx.AttrInts("strides", 1, 3))
			return b.Op("Gemm", []string{b.Op("Flatten", []string{y}), dense(27, 4)})
		},
	}
	none := flat{
		"no flattened map", 13, "NCHW", tensor.Float32,
		[]any{"n", 1, 9, 9},
		func(b *onnx.Builder, x string, _ func(in, out int) string) string {
			return b.Op("Flatten", []string{b.Op("AveragePool", []string{x}, onnx.AttrInts("kernel_shape", 5, 5),
				onnx.AttrInts("strides", 4, 4))})
		},
	}
	odd := flat{
		"unknown axes", 13, "NCHW", tensor.Float32,
		[]any{"n", 1, 9, 9},
		func(b *onnx.Builder, x string, dense func(in, out int) string) string {
			y := b.Op("Reshape", []string{x, b.Ints(-1, 9, 1, 9)})
			return b.Op("Gemm", []string{b.Op("Flatten", []string{y}), dense(81, 4)})
		},
	}
	for _, c := range []struct {
		of            flat
		claim, method string
		samples       int
		want          string
	}{
		{all[0], "T(2,Z)", "moments", 330, "does more than to turn and mirror pictures about their centre"},
		{all[0], "Roll(9,9)", "moments", 330, "does more than to turn and mirror"},
		{all[0], "SE(2)", "moments", 330, "claim a part of it that does no more, such as C4"},
		{single, "C4", "moments", 330, "reads a map of 1 x 1 places, which has none to move to"},
		{oblong, "C4", "moments", 330, "reads a map of 9 x 3 places"},
		{none, "C4", "moments", 330, "no dense layer reads a map that was flattened"},
		{odd, "C4", "moments", 330, "rows and columns is not known behind"},
		{all[0], "C4", "moments", 249, "25 numbers, of which each needs 10 samples to learn from, 250 in all, and " +
			"there are 249 (fit): ask for moments:degree=7"},
		{all[1], "C4", "moments:degree=1", 19, "give at least 20 samples to learn from, and ask for moments:degree=0"},
		{all[0], "C4", "moments", 0, "give at least 10 samples"},
	} {
		a, err := Parse(c.method)
		if err != nil {
			t.Fatal(err)
		}
		s := picturesOf(t, c.of.model(t), c.claim, c.of.layout, 1, 9, 9)
		lookedInto(t, &s, c.samples)
		if _, err := Build(s, a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s under %s, %s: %v; want %q", c.of.name, c.claim, c.method, err, c.want)
		}
	}
	s := picturesOf(t, all[0].model(t), "C4", "NCHW", 1, 9, 9)
	lookedInto(t, &s, 249)
	repaired(t, s, "moments:degree=7")
	s.Inside = nil
	a, err := Parse("moments:degree=7")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(s, a); err == nil || !strings.Contains(err.Error(), "cannot be looked into") {
		t.Errorf("a model without an inside: %v", err)
	}
	s = picturesOf(t, all[0].model(t), "C4", "NCHW", 1, 9, 9)
	s.Out = s.In
	if _, err := Build(s, a); err == nil || !strings.Contains(err.Error(), "the answer moves with the picture") {
		t.Errorf("an answer that moves: %v", err)
	}
	for _, text := range []string{"moments:degree=9", "moments:degree=-1", "moments:to=truth"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "want ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Where the map itself does not turn with the picture, the file says so: no layer behind it can mend that.
func TestMomentsSayWhatIsLostBefore(t *testing.T) {
	uneven := flat{
		"uneven", 13, "NCHW", tensor.Float32,
		[]any{"n", 1, 9, 9},
		func(b *onnx.Builder, x string, dense func(in, out int) string) string {
			k := tensor.FromFloat32([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3)
			y := b.Op("Relu", []string{b.Op("Conv", []string{x, b.Const(k)}, onnx.AttrInts("pads", 1, 1, 1, 1))})
			return b.Op("Gemm", []string{b.Op("Flatten", []string{y}), dense(81, 4)})
		},
	}
	for i, c := range []flat{uneven, flats()[1]} {
		s := picturesOf(t, c.model(t), "C4", "NCHW", 1, 9, 9)
		lookedInto(t, &s, 200)
		did := Done(repaired(t, s, "moments:degree=4"))
		if says := strings.Contains(did, "(Conv), the map loses the symmetry already"); says != (i == 0) {
			t.Errorf("%s: %s", c.name, did)
		}
	}
}

// A map or an answer that is not finite is named by its sample, and nothing is learned.
func TestMomentsOfWhatIsNotFinite(t *testing.T) {
	s := picturesOf(t, flats()[0].model(t), "C4", "NCHW", 1, 9, 9)
	lookedInto(t, &s, 200)
	inside := s.Inside
	s.Inside = func(side split.Side, most int, values []string, each func(string, [][]float64, int) error) error {
		return inside(side, most, values, func(id string, v [][]float64, label int) error {
			if id == "7" {
				v[1][2] = math.NaN()
			}
			return each(id, v, label)
		})
	}
	a, err := Parse("moments:degree=4")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(s, a); err == nil || !strings.Contains(err.Error(), "not finite for sample 7 (fit)") {
		t.Errorf("%v", err)
	}
}

// The lint knows of weights that permute channels, and moments turn into each other in pairs: of a file with these it
// says that it does not know, and names no node of it.
func TestLintOfMoments(t *testing.T) {
	s := picturesOf(t, flats()[1].model(t), "D4", "NCHW", 1, 9, 9)
	lookedInto(t, &s, 330)
	p, _, err := s.lint(repaired(t, s, "moments:degree=6"))
	if err != nil {
		t.Fatal(err)
	}
	if p.WeightsKnown || !slices.Contains(p.Undecided, lint.Turn90) || !p.StructureKnown || p.Structure != lint.Whole {
		t.Errorf("weights known: %t, undecided %v, structure %v", p.WeightsKnown, p.Undecided, p.Structure)
	}
	for _, l := range p.Losses {
		if l.Level == lint.LevelWeights || l.Level == lint.LevelStructure {
			t.Errorf("%s (%s) is said to lose %v: %s", l.Node, l.Op, l.Elements, l.Reason)
		}
	}
	if !slices.ContainsFunc(p.Unknown, func(u lint.Unknown) bool {
		return u.Node == "repair: moments:degree=6 of D4" && u.Level == lint.LevelWeights
	}) {
		t.Errorf("unknown: %+v", p.Unknown)
	}
}
