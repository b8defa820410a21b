package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/oracle"
)

// graph builds a model of one input x and loads it.
func graph(t rapid.TB, opset int, d tensor.DType, shape []int,
	nodes func(b *onnx.Builder, x string) string,
) *oracle.Graph {
	t.Helper()
	b := onnx.NewBuilder(opset)
	axes := []any{}
	for _, n := range shape {
		axes = append(axes, n)
	}
	x := b.Input("x", d, axes...)
	b.Graph().Output = append(b.Graph().Output, &onnxpb.ValueInfoProto{Name: new(nodes(b, x))})
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	g, err := oracle.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// run runs a graph of one input and one output.
func run(t rapid.TB, g *oracle.Graph, x tensor.Tensor, o oracle.Options) []float64 {
	t.Helper()
	out, err := g.Run(context.Background(), []tensor.Named{{Name: "x", Tensor: x}}, o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := out[0].Float64s(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// doubles makes a float64 tensor.
func doubles(x []float64, shape ...int) tensor.Tensor {
	t := tensor.New(tensor.Float64, shape...)
	for k, v := range x {
		bits := math.Float64bits(v)
		for j := range 8 {
			t.Raw[8*k+j] = byte(bits >> (8 * j))
		}
	}
	return t
}

func normals(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = r.NormFloat64()
	}
	return x
}

// Convolution equals the sum of its definition, written here once more over every index, for random geometry.
func TestConvIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2).Draw(t, "batch")
		groups := rapid.IntRange(1, 2).Draw(t, "groups")
		cin, cout := groups*rapid.IntRange(1, 2).Draw(t, "in"), groups*rapid.IntRange(1, 2).Draw(t, "out")
		var in, kern, stride, dil, pads [2]int
		var ends [2]int
		for a := range 2 {
			kern[a], stride[a], dil[a] = rapid.IntRange(1, 3).Draw(t, "kernel"), rapid.IntRange(1, 3).Draw(t, "stride"),
				rapid.IntRange(1, 3).Draw(t, "dilation")
			pads[a], ends[a] = rapid.IntRange(0, 3).Draw(t, "before"), rapid.IntRange(0, 3).Draw(t, "after")
			in[a] = max(rapid.IntRange(1, 8).Draw(t, "length"), (kern[a]-1)*dil[a]+1-pads[a]-ends[a])
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		x, w := normals(r, n*cin*in[0]*in[1]), normals(r, cout*cin/groups*kern[0]*kern[1])
		g := graph(t, 17, tensor.Float64, []int{n, cin, in[0], in[1]}, func(b *onnx.Builder, x string) string {
			return b.Op("Conv", []string{x, b.Const(doubles(w, cout, cin/groups, kern[0], kern[1]))},
				onnx.AttrInt("group", int64(groups)),
				onnx.AttrInts("strides", int64(stride[0]), int64(stride[1])),
				onnx.AttrInts("dilations", int64(dil[0]), int64(dil[1])),
				onnx.AttrInts("pads", int64(pads[0]), int64(pads[1]), int64(ends[0]), int64(ends[1])))
		})
		got := run(t, g, doubles(x, n, cin, in[0], in[1]), oracle.Options{})
		var out [2]int
		for a := range 2 {
			out[a] = (in[a]+pads[a]+ends[a]-(kern[a]-1)*dil[a]-1)/stride[a] + 1
		}
		if len(got) != n*cout*out[0]*out[1] {
			t.Fatalf("%d elements, want %d", len(got), n*cout*out[0]*out[1])
		}
		k := 0
		for b := range n {
			for o := range cout {
				for y := range out[0] {
					for z := range out[1] {
						var want, size float64
						for c := range cin / groups {
							for p := range kern[0] {
								for q := range kern[1] {
									i, j := y*stride[0]+p*dil[0]-pads[0], z*stride[1]+q*dil[1]-pads[1]
									if i < 0 || j < 0 || i >= in[0] || j >= in[1] {
										continue
									}
									term := x[((b*cin+o/(cout/groups)*(cin/groups)+
										c)*in[0]+i)*in[1]+j] * w[((o*(cin/groups)+c)*kern[0]+p)*kern[1]+q]
									want += term
									size += math.Abs(term)
								}
							}
						}
						if !(math.Abs(got[k]-want) <= 1e-14*size) {
							t.Fatalf("element %d is %g, want %g", k, got[k], want)
						}
						k++
					}
				}
			}
		}
	})
}

// Linear operators are linear, and the transposed convolution is the transpose of the convolution: <y, conv x> =
// <conv^T y, x>.
func TestLinearOperators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		s := int64(rapid.IntRange(1, 3).Draw(t, "stride"))
		p := int64(rapid.IntRange(0, 1).Draw(t, "pad"))
		h := rapid.IntRange(0, 3).Draw(t, "steps")*int(s) + 3 - 2*int(p) // nothing is left over
		if h < 1 {
			h += int(s) * 2
		}
		in := []int{1, 2, h, h}
		w := doubles(normals(r, 3*2*9), 3, 2, 3, 3)
		attrs := []*onnxpb.AttributeProto{onnx.AttrInts("strides", s, s), onnx.AttrInts("pads", p, p, p, p)}
		conv := graph(t, 17, tensor.Float64, in,
			func(b *onnx.Builder, x string) string { return b.Op("Conv", []string{x, b.Const(w)}, attrs...) })
		m := (h+2*int(p)-3)/int(s) + 1
		back := graph(t, 17, tensor.Float64, []int{1, 3, m, m}, func(b *onnx.Builder, x string) string {
			return b.Op("ConvTranspose", []string{x, b.Const(w)}, attrs...)
		})
		x, x2, y := normals(r, 2*h*h), normals(r, 2*h*h), normals(r, 3*m*m)
		cx, cx2 := run(t, conv, doubles(x, in...), oracle.Options{}),
			run(t, conv, doubles(x2, in...), oracle.Options{})
		ty := run(t, back, doubles(y, 1, 3, m, m), oracle.Options{})
		if len(ty) != len(x) {
			t.Fatalf("the transpose makes %d elements, want %d", len(ty), len(x))
		}
		dot := func(a, b []float64) (s, size float64) {
			for k := range a {
				s += a[k] * b[k]
				size += math.Abs(a[k] * b[k])
			}
			return s, size
		}
		left, size := dot(y, cx)
		right, more := dot(ty, x)
		if !(math.Abs(left-right) <= 1e-12*(size+more+1)) {
			t.Fatalf("<y, Ax> = %g, <A^T y, x> = %g", left, right)
		}
		sum := make([]float64, len(x))
		for k := range sum {
			sum[k] = 2*x[k] - 3*x2[k]
		}
		for k, v := range run(t, conv, doubles(sum, in...), oracle.Options{}) {
			if !(math.Abs(v-(2*cx[k]-3*cx2[k])) <= 1e-12*(math.Abs(cx[k])+math.Abs(cx2[k])+1)) {
				t.Fatalf("element %d of the sum is %g, want %g", k, v, 2*cx[k]-3*cx2[k])
			}
		}
	})
}

// Products agree with exact rational arithmetic, for every way in which they are computed.
func TestMatMulIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n, k := rapid.IntRange(1, 5).Draw(t, "m"), rapid.IntRange(1, 24).Draw(t, "n"),
			rapid.IntRange(1, 24).Draw(t, "k")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		a, b := normals(r, m*k), normals(r, k*n)
		g := graph(t, 17, tensor.Float64, []int{m, k}, func(bld *onnx.Builder, x string) string {
			return bld.Op("MatMul", []string{x, bld.Const(doubles(b, k, n))})
		})
		got := run(t, g, doubles(a, m, k), oracle.Options{})
		for i := range m {
			for j := range n {
				sum, size := new(big.Rat), 0.0
				for l := range k {
					p, q := new(big.Rat).SetFloat64(a[i*k+l]), new(big.Rat).SetFloat64(b[l*n+j])
					sum.Add(sum, p.Mul(p, q))
					size += math.Abs(a[i*k+l] * b[l*n+j])
				}
				want, _ := sum.Float64()
				if !(math.Abs(got[i*n+j]-want) <= 24*0x1p-52*size) {
					t.Fatalf("element %d, %d is %g, want %g", i, j, got[i*n+j], want)
				}
			}
		}
	})
}

// Infinities and NaN reach the result even where they meet a zero, in wide and in narrow products.
func TestProductsPassNaNOn(t *testing.T) {
	for _, n := range []int{1, 2, 40} {
		for _, k := range []int{1, 40} {
			b := make([]float64, k*n)
			b[0] = math.Inf(1)
			g := graph(t, 17, tensor.Float64, []int{1, k}, func(bld *onnx.Builder, x string) string {
				return bld.Op("MatMul", []string{x, bld.Const(doubles(b, k, n))})
			})
			got := run(t, g, doubles(make([]float64, k), 1, k), oracle.Options{})
			if !math.IsNaN(got[0]) {
				t.Errorf("n = %d, k = %d: 0 times infinity is %g", n, k, got[0])
			}
			for _, v := range got[1:] {
				if v != 0 {
					t.Errorf("n = %d, k = %d: %g, want 0", n, k, v)
				}
			}
		}
	}
}

// Rounding agrees with exact arithmetic: no number of the format is nearer, and ties go to even.
func TestRound(t *testing.T) {
	formats := map[oracle.Precision]struct{ bits, emin, emax int }{
		oracle.Float32: {23, -126, 127}, oracle.TF32: {10, -126, 127}, oracle.Float16: {10, -14, 15},
		oracle.BFloat16: {7, -126, 127},
	}
	// near is the exact definition: the multiple of the unit in the last place, found in rational numbers.
	near := func(x float64, bits, emin, emax int) float64 {
		e := emin
		if f, n := math.Frexp(x); f != 0 {
			e = max(n-1, emin)
		}
		q := new(big.Rat).SetFloat64(x)
		unit := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(bits-e, 0))))
		unit.Mul(unit, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(max(e-bits, 0)))))
		q.Mul(q, unit)
		two := new(big.Int).Mul(q.Num(), big.NewInt(2))
		floor, rest := new(big.Int).DivMod(q.Num(), q.Denom(), new(big.Int))
		_ = two
		twice := rest.Lsh(rest, 1).Cmp(q.Denom())
		if twice > 0 || twice == 0 && floor.Bit(0) == 1 {
			floor.Add(floor, big.NewInt(1))
		}
		y, _ := new(big.Rat).Quo(new(big.Rat).SetInt(floor), unit).Float64()
		if math.Abs(y) >= math.Ldexp(1, emax+1) {
			return math.Inf(int(math.Copysign(1, y)))
		}
		return y
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(
			rapid.Float64(),
			rapid.Float64Range(-70000, 70000),
			rapid.Custom(func(t *rapid.T) float64 { // ties and their neighbors, subnormal numbers among them
				v := math.Ldexp(float64(rapid.Int64Range(-1<<12, 1<<12).Draw(t, "numerator")),
					rapid.IntRange(-160, 120).Draw(t, "exponent"))
				return [3]float64{v, math.Nextafter(v, 0), math.Nextafter(v, math.Inf(1))}[rapid.IntRange(0, 2).Draw(t,
					"neighbor")]
			}),
		).Draw(t, "x")
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		for p, f := range formats {
			got, want := p.Round(x), near(x, f.bits, f.emin, f.emax)
			if got != want {
				t.Fatalf("%v rounds %g (%x) to %g, want %g", p, x, x, got, want)
			}
			if math.Signbit(got) != math.Signbit(x) {
				t.Fatalf("%v changes the sign of %g", p, x)
			}
		}
		if oracle.Float64.Round(x) != x {
			t.Fatal("Float64 rounds")
		}
	})
	for p := range formats {
		if !math.IsNaN(p.Round(math.NaN())) || p.Round(math.Inf(-1)) != math.Inf(-1) ||
			!math.Signbit(p.Round(math.Copysign(0, -1))) {
			t.Errorf("%v does not keep NaN, infinity or -0", p)
		}
		// The largest relative error is the unit roundoff: half way between 1 and the next number.
		if u := p.Unit(); p.Round(1+u) != 1 || p.Round(1+u*(1+0x1p-20)) != 1+2*u {
			t.Errorf("%v: unit roundoff %g", p, u)
		}
	}
	for h := range 1 << 16 { // every float16 stays itself
		v := tensor.Half(uint16(h))
		if got := oracle.Float16.Round(v); got != v && !math.IsNaN(v) {
			t.Fatalf("float16 %x = %g rounds to %g", h, v, got)
		}
	}
}

// Every node's output is of the precision of the run, and TF32 rounds the operands of products.
func TestRoundedRun(t *testing.T) {
	g := graph(t, 17, tensor.Float32, []int{4}, func(b *onnx.Builder, x string) string {
		return b.Op("Mul", []string{x, b.Const(tensor.FromFloat32([]float32{1.0 / 3}))})
	})
	x := []float64{1.0 / 7, 3, 1e-9, 70000}
	third := float64(float32(1.0 / 3))
	for _, p := range []oracle.Precision{oracle.Float32, oracle.Float16, oracle.BFloat16} {
		for k, v := range run(t, g, doubles(x, 4), oracle.Options{Round: p}) {
			if want := p.Round(p.Round(x[k]) * p.Round(third)); v != want {
				t.Errorf("%v: element %d is %g, want %g", p, k, v, want)
			}
		}
	}
	for k, v := range run(t, g, doubles(x, 4), oracle.Options{}) {
		if v != x[k]*third {
			t.Errorf("element %d is %g, want %g", k, v, x[k]*third)
		}
	}
	product := graph(t, 17, tensor.Float32, []int{1, 1}, func(b *onnx.Builder, x string) string {
		return b.Op("MatMul", []string{x, b.Const(tensor.FromFloat32([]float32{1.0 / 3}, 1, 1))})
	})
	want := oracle.Float32.Round(oracle.TF32.Round(1.0/7) * oracle.TF32.Round(third))
	if got := run(t, product, doubles([]float64{1.0 / 7}, 1, 1),
		oracle.Options{Round: oracle.TF32}); got[0] != want {
		t.Errorf("a product in TF32 is %g, want %g", got[0], want)
	}
	// Conversions to narrow types round whatever the precision, others do not.
	for to, want := range map[tensor.DType]float64{
		tensor.Float16: oracle.Float16.Round(1.0 / 7), tensor.BFloat16: oracle.BFloat16.Round(1.0 / 7),
		tensor.Float32: 1.0 / 7, tensor.Float64: 1.0 / 7,
	} {
		cast := graph(t, 17, tensor.Float64, []int{1}, func(b *onnx.Builder, x string) string {
			return b.Op("Cast", []string{x}, onnx.AttrInt("to", int64(to)))
		})
		if got := run(t, cast, doubles([]float64{1.0 / 7}, 1), oracle.Options{}); got[0] != want {
			t.Errorf("1/7 as %v is %g, want %g", to, got[0], want)
		}
	}
	// A constant of the graph is rounded too, and only in the runs that ask for it.
	constant := graph(t, 17, tensor.Float32, []int{1}, func(b *onnx.Builder, x string) string {
		c := b.Op("Constant", nil, onnx.AttrTensor("value", onnx.Stored("", tensor.FromFloat32([]float32{1.0 / 3}, 1))))
		return b.Op("Add", []string{x, c})
	})
	zero := doubles([]float64{0}, 1)
	first, half, again := run(t, constant, zero, oracle.Options{})[0],
		run(t, constant, zero, oracle.Options{Round: oracle.Float16})[0],
		run(t, constant, zero, oracle.Options{})[0]
	if first != third || again != third || half != oracle.Float16.Round(third) {
		t.Errorf("a constant is %g, in float16 %g, and again %g", first, half, again)
	}
}

// invariant is a network that is mathematically invariant under quarter turns: the sum over the four turns of a
// convolution. off is added to one element of one kernel, which breaks it.
func invariant(t *testing.T, off float32) *oracle.Graph {
	t.Helper()
	return graph(t, 17, tensor.Float32, []int{1, 1, 9, 9}, func(b *onnx.Builder, x string) string {
		w := noise(11, 6, 1, 3, 3)
		f, err := w.Float32s()
		if err != nil {
			t.Fatal(err)
		}
		var turns []string
		for turn := range 4 {
			used := slices.Clone(f)
			if turn == 0 {
				used[1] += off
			}
			kernel := b.Const(tensor.FromFloat32(used, 6, 1, 3, 3))
			y := b.Op("Tanh", []string{b.Op("Conv", []string{x, kernel}, onnx.AttrInts("pads", 1, 1, 1, 1))})
			turns = append(turns, b.Op("GlobalAveragePool", []string{y}))
			turned := make([]float32, len(f))
			for k := range 6 {
				for i := range 3 {
					for j := range 3 {
						turned[k*9+(2-j)*3+i] = f[k*9+i*3+j]
					}
				}
			}
			f = turned
		}
		y := b.Op("Sum", turns)
		return b.Op("Softmax", []string{b.Op("Gemm", []string{b.Op("Flatten", []string{y}), b.Const(noise(12, 6, 4))})},
			onnx.AttrInt("axis", 1))
	})
}

// turnError is the largest change of the output of g under a quarter turn of the input.
func turnError(t *testing.T, g *oracle.Graph, p oracle.Precision) float64 {
	t.Helper()
	worst := 0.0
	for seed := range uint64(8) {
		x := normals(rand.New(rand.NewPCG(seed, 5)), 81)
		turned := make([]float64, 81)
		for k, v := range x {
			x[k] = oracle.BFloat16.Round(v) // the same input in every precision
			turned[(8-k%9)*9+k/9] = x[k]
		}
		a, b := run(t, g, doubles(x, 1, 1, 9, 9), oracle.Options{Round: p}),
			run(t, g, doubles(turned, 1, 1, 9, 9), oracle.Options{Round: p})
		for k := range a {
			worst = max(worst, math.Abs(a[k]-b[k]))
		}
	}
	return worst
}

// The error of an exactly invariant network falls with the unit roundoff and that of a broken one does not, which is
// how rounding is told from a violation.
func TestSlope(t *testing.T) {
	g, broken := invariant(t, 0), invariant(t, 1e-5)
	for _, p := range []oracle.Precision{
		oracle.Float64, oracle.Float32, oracle.TF32, oracle.Float16,
		oracle.BFloat16,
	} {
		e := turnError(t, g, p)
		t.Logf("%v: error %.2g = %.2g units", p, e, e/p.Unit())
		// With float32 sums the order often makes no difference to a narrower result.
		if !(e <= 30*p.Unit()) || p <= oracle.Float32 && !(e >= 0.1*p.Unit()) {
			t.Errorf("%v: error %g, unit roundoff %g", p, e, p.Unit())
		}
	}
	exact, single := turnError(t, broken, oracle.Float64), turnError(t, broken, oracle.Float32)
	if !(exact > 1e-8) || !(math.Abs(single-exact) <= 10*oracle.Float32.Unit()) {
		t.Errorf("the broken network: %g in float64, %g in float32", exact, single)
	}
}

// What is missing is named, all of it, before anything runs.
func TestUnsupported(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, 1, 1, 4, 4)
	n := b.Op("RandomNormalLike", []string{x})
	c := b.Op("Conv", []string{n, b.Const(noise(1, 1, 1, 1, 1))}, onnx.AttrInt("fancy", 1))
	s := b.Op("Relu", []string{c})
	y := b.Op("LeakyRelu", []string{s}, onnx.AttrString("alpha", "a"))
	b.Output(y, tensor.Float32, 1, 1, 4, 4)
	b.Graph().Node[1].Name = new("features")
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	_, err = oracle.Load(m)
	var u *oracle.UnsupportedError
	if !errors.As(err, &u) {
		t.Fatalf("got %v", err)
	}
	if len(u.Nodes) != 3 || len(u.Ops) != 3 || !strings.HasPrefix(u.Ops[0], "RandomNormalLike") ||
		!strings.Contains(u.Ops[1], "fancy") ||
		!strings.Contains(u.Nodes[1], "features") || !strings.Contains(u.Ops[2], "alpha") {
		t.Errorf("%q at %q", u.Ops, u.Nodes)
	}
	for _, opset := range []int{oracle.MinOpset - 1, oracle.MaxOpset + 1} {
		b := onnx.NewBuilder(opset)
		b.Output(b.Op("Relu", []string{b.Input("x", tensor.Float32, 1)}), tensor.Float32, 1)
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := oracle.Load(m); !errors.As(err, &u) || !strings.Contains(err.Error(), "operator set") {
			t.Errorf("operator set %d: %v", opset, err)
		}
	}
}

func TestSupported(t *testing.T) {
	all := oracle.Supported()
	if !slices.IsSorted(all) || !slices.Contains(all, "Softmax 1, 13") || !slices.Contains(all, "Gelu 20") ||
		len(all) < 120 {
		t.Errorf("%d operators: %q", len(all), all)
	}
	// The table for people is this list.
	table := strings.Builder{}
	fmt.Fprintf(&table, "# Operators of the float64 reference\n\nThe %d standard operators that are evaluated, and "+
		"the operator sets (%d to %d) from which on "+
		"each of their meanings counts.\nWhatever is not here, and every attribute that is not known, is refused by "+
		"name.\n\n"+
		"| Operator | Since |\n| --- | --- |\n", len(all), oracle.MinOpset, oracle.MaxOpset)
	for _, line := range all {
		op, since, _ := strings.Cut(line, " ")
		fmt.Fprintf(&table, "| %s | %s |\n", op, since)
	}
	if *update {
		if err := os.WriteFile("OPERATORS.md", []byte(table.String()),
			0o644); err != nil { //nolint:gosec // a file of the source tree
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile("OPERATORS.md"); err != nil || string(b) != table.String() {
		t.Errorf("OPERATORS.md is not what is supported (%v); run the test with -update", err)
	}
}

// A context that ends stops the run between nodes, wherever it is.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := graph(t, 17, tensor.Float32, []int{1},
		func(b *onnx.Builder, x string) string { return b.Op("Relu", []string{x}) })
	if _, err := g.Run(ctx, []tensor.Named{{Name: "x", Tensor: noise(1, 1)}}, oracle.Options{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Runs at once, in several precisions, give what one after the other gives. The race detector watches.
func TestConcurrentRuns(t *testing.T) {
	g := invariant(t, 0)
	x := noise(3, 1, 1, 9, 9)
	ps := []oracle.Precision{
		oracle.Float64, oracle.Float32, oracle.Float16, oracle.BFloat16,
		oracle.TF32,
	}
	var wg sync.WaitGroup
	got := make([][]float64, 4*len(ps))
	for k := range got {
		wg.Go(func() {
			out, err := g.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: x}},
				oracle.Options{Round: ps[k%len(ps)]})
			if err != nil {
				t.Error(err)
				return
			}
			if got[k], err = out[0].Float64s(nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for k := range got {
		if want := run(t, g, x, oracle.Options{Round: ps[k%len(ps)]}); !slices.Equal(got[k], want) {
			t.Errorf("run %d in %v: %v, want %v", k, ps[k%len(ps)], got[k], want)
		}
	}
}

// Wrong inputs and options are errors that say what was expected.
func TestWrongInputs(t *testing.T) {
	g := graph(t, 17, tensor.Float32, []int{2},
		func(b *onnx.Builder, x string) string { return b.Op("Relu", []string{x}) })
	x := tensor.Named{Name: "x", Tensor: noise(1, 2)}
	for _, c := range []struct {
		name, want string
		in         []tensor.Named
		o          oracle.Options
	}{
		{"none", `"x" is missing`, nil, oracle.Options{}},
		{"twice", "twice", []tensor.Named{x, x}, oracle.Options{}},
		{"a stranger", `no input "y"`, []tensor.Named{{Name: "y", Tensor: x.Tensor}}, oracle.Options{}},
		{
			"integers", "want float32",
			[]tensor.Named{{Name: "x", Tensor: tensor.New(tensor.Int64, 2)}},
			oracle.Options{},
		},
		{"another shape", "want [2]", []tensor.Named{{Name: "x", Tensor: noise(1, 3)}}, oracle.Options{}},
		{"a value that is not there", `no value "z"`, []tensor.Named{x}, oracle.Options{Values: []string{"z"}}},
		{"no precision", "precision 17", []tensor.Named{x}, oracle.Options{Round: 17}},
		{"too little memory", "Options.Elements", []tensor.Named{x}, oracle.Options{Elements: 3}},
	} {
		if _, err := g.Run(t.Context(), c.in, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// Any floating-point type may be fed.
	if got := run(t, g, doubles([]float64{-1, 1.0 / 3}, 2), oracle.Options{}); got[0] != 0 || got[1] != 1.0/3 {
		t.Errorf("float64 input gives %v", got)
	}
}

// Inner values come after the outputs, in the order asked for, whether or not a later node would let go of them.
func TestValues(t *testing.T) {
	var mid string
	g := graph(t, 17, tensor.Float32, []int{2}, func(b *onnx.Builder, x string) string {
		mid = b.Op("Exp", []string{x})
		b.Op("Abs", []string{mid})
		return b.Op("Neg", []string{mid})
	})
	x := tensor.Named{Name: "x", Tensor: noise(1, 2)}
	out, err := g.Run(t.Context(), []tensor.Named{x}, oracle.Options{Values: []string{mid, "x", mid}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range out {
		names = append(names, v.Name)
	}
	if want := []string{g.Outputs()[0], mid, "x", mid}; !slices.Equal(names, want) {
		t.Fatalf("values %q, want %q", names, want)
	}
	a, err := out[1].Float64s(nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := x.Float64s(nil)
	if err != nil {
		t.Fatal(err)
	}
	if a[0] != math.Exp(in[0]) {
		t.Errorf("the inner value is %v, want exp of %v", a, in)
	}
}

// Sums grow in float32 in a run that rounds: 2^24 + 1 is 2^24 there, so that two ones get lost one after the other.
func TestSumsAreRounded(t *testing.T) {
	const big = 1 << 24
	ones := list(1, 1, 1)
	for _, c := range []struct {
		name         string
		shape        []int
		exact, float float64
		nodes        func(b *onnx.Builder, x string) string
	}{
		{
			"sum",
			[]int{1, 1, 3},
			big + 2, big,
			func(b *onnx.Builder, x string) string { return b.Op("ReduceSum", []string{x}) },
		},
		{
			"mean",
			[]int{1, 1, 3},
			(big + 2.0) / 3, oracle.Float32.Round(big / 3.0),
			func(b *onnx.Builder, x string) string {
				return b.Op("GlobalAveragePool", []string{x})
			},
		},
		{"product", []int{1, 3}, big + 2, big, func(b *onnx.Builder, x string) string {
			return b.Op("MatMul", []string{x, b.Const(doubles(ones, 3, 1))})
		}},
		{"convolution", []int{1, 1, 3}, big + 2, big, func(b *onnx.Builder, x string) string {
			return b.Op("Conv", []string{x, b.Const(doubles(ones, 1, 1, 3))})
		}},
		{"equation", []int{3}, big + 2, big, func(b *onnx.Builder, x string) string {
			return b.Op("Einsum", []string{x, b.Const(doubles(ones, 3))}, onnx.AttrString("equation", "i,i->"))
		}},
	} {
		g := graph(t, 17, tensor.Float64, c.shape, c.nodes)
		x := doubles(list(big, 1, 1), c.shape...)
		if got := run(t, g, x, oracle.Options{}); got[0] != c.exact {
			t.Errorf("%s: %.17g in float64, want %.17g", c.name, got[0], c.exact)
		}
		if got := run(t, g, x, oracle.Options{Round: oracle.Float32}); got[0] != c.float {
			t.Errorf("%s: %.17g in float32, want %.17g", c.name, got[0], c.float)
		}
	}
}

func list(x ...float64) []float64 { return x }

// What a node cannot do with its inputs is an error that names the node and says what is wrong.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		want  string
		shape []int
		nodes func(b *onnx.Builder, x string) string
	}{
		{
			"twice",
			[]int{1, 2},
			func(b *onnx.Builder, x string) string { return b.Op("Squeeze", []string{x, b.Ints(0, -2)}) },
		},
		{
			"not of length 1",
			[]int{1, 2},
			func(b *onnx.Builder, x string) string { return b.Op("Squeeze", []string{x, b.Ints(1)}) },
		},
		{
			"axis 2",
			[]int{1, 2},
			func(b *onnx.Builder, x string) string { return b.Op("Softmax", []string{x}, onnx.AttrInt("axis", 2)) },
		},
		{
			"does not take the shape",
			[]int{1, 2},
			func(b *onnx.Builder, x string) string { return b.Op("Reshape", []string{x, b.Ints(3)}) },
		},
		{
			"broadcast",
			[]int{3, 2},
			func(b *onnx.Builder, x string) string { return b.Op("Add", []string{x, b.Const(noise(1, 3))}) },
		},
		{"one type", []int{3}, func(b *onnx.Builder, x string) string { return b.Op("Add", []string{x, b.Ints(1)}) }},
		{"index 3", []int{3}, func(b *onnx.Builder, x string) string { return b.Op("Gather", []string{x, b.Ints(3)}) }},
		{
			"the first 4",
			[]int{3},
			func(b *onnx.Builder, x string) string { return b.Ops("TopK", 2, []string{x, b.Ints(4)})[0] },
		},
		{"division by zero", []int{3}, func(b *onnx.Builder, x string) string {
			return b.Op("Div", []string{b.Op("Shape", []string{x}), b.Ints(0)})
		}},
		{"must be integers", []int{3}, func(b *onnx.Builder, x string) string { return b.Op("Mod", []string{x, x}) }},
		{"reaches over", []int{1, 1, 3}, func(b *onnx.Builder, x string) string {
			return b.Op("MaxPool", []string{x}, onnx.AttrInts("kernel_shape", 4))
		}},
		{"in 2 groups", []int{1, 3, 5}, func(b *onnx.Builder, x string) string {
			return b.Op("Conv", []string{x, b.Const(noise(1, 2, 1, 2))}, onnx.AttrInt("group", 2))
		}},
		{"draws at random", []int{3}, func(b *onnx.Builder, x string) string {
			yes := b.Const(tensor.Tensor{DType: tensor.Bool, Shape: []int{}, Raw: []byte{1}})
			return b.Op("Dropout", []string{x, b.Const(tensor.FromFloat32([]float32{0.5})), yes})
		}},
	} {
		g := graph(t, 17, tensor.Float32, c.shape, c.nodes)
		_, err := g.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: noise(1, c.shape...)}}, oracle.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), " \"nero_node_") {
			t.Errorf("%v, want a node and %q", err, c.want)
		}
	}
}
