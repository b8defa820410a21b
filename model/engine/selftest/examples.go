package selftest

import (
	"math"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/engine/tiny"
)

// ramp holds n small integers that differ in size and sign.
func ramp(n, seed int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*7+seed*5)%11 - 5)
	}
	return x
}

func named(name string, x []float32, shape ...int) tensor.Named {
	return tensor.Named{Name: name, Tensor: tensor.FromFloat32(x, shape...)}
}

func port(name string, shape ...int) tiny.Port {
	return tiny.Port{Name: name, DType: tensor.Float32, Shape: shape}
}

// one is a model of one operator with the output "y".
func one(op string, outShape []int, attrs []tiny.Attr, constants, in []tensor.Named) tiny.Model {
	m := tiny.Model{Constants: constants, Outputs: []tiny.Port{port("y", outShape...)}}
	n := tiny.Node{Op: op, Outputs: []string{"y"}, Attrs: attrs}
	for _, x := range in {
		m.Inputs = append(m.Inputs, port(x.Name, x.Shape...))
		n.Inputs = append(n.Inputs, x.Name)
	}
	for _, c := range constants {
		n.Inputs = append(n.Inputs, c.Name)
	}
	m.Nodes = []tiny.Node{n}
	return m
}

// product is a·b for a of m×k and b of k×n.
func product(a, b []float32, m, k, n int) []float64 {
	y := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				y[i*n+j] += float64(float64(a[i*k+l]) * float64(b[l*n+j]))
			}
		}
	}
	return y
}

func examples() []example {
	return []example{
		gemm(), gemmBias(), matMul(), conv(), maxPool(), averagePool(), softmax(), activations(), reduce(),
		layerNorm(), fineMatMul(), fineConv(),
	}
}

// fine holds n numbers that need 20 bits: rounded to the 10 or 7 of TF32, float16 or bfloat16 they are others.
func fine(n, seed int) []float32 {
	x := ramp(n, seed)
	for i := range x {
		x[i] += float32(float32((i*29+seed)%31+1) / (1 << 17))
	}
	return x
}

// fineMatMul tells products of float32 from those of rounded factors.
func fineMatMul() example {
	const m, k, n = 16, 32, 16
	a, b := fine(m*k, 18), fine(k*n, 19)
	in := []tensor.Named{named("a", a, m, k)}
	return example{
		"MatMul of float32", one("MatMul", []int{m, n}, nil, []tensor.Named{named("b", b, k, n)}, in), in,
		product(a, b, m, k, n),
		[]int{m, n},
	}
}

// fineConv is the same for a convolution, with a kernel of one pixel.
func fineConv() example {
	const c, o, size = 16, 16, 64
	x, k := fine(c*size, 20), fine(o*c, 21)
	in := []tensor.Named{named("x", x, 1, c, 8, 8)}
	attrs := []tiny.Attr{{Name: "kernel_shape", Value: []int{1, 1}}}
	model := one("Conv", []int{1, o, 8, 8}, attrs, []tensor.Named{named("k", k, o, c, 1, 1)}, in)
	return example{"Conv of float32", model, in, product(k, x, o, c, size), []int{1, o, 8, 8}}
}

// gemm has two inputs and no bias: it must not add to what its output buffer held before.
func gemm() example {
	const m, k, n = 5, 6, 7
	a, b := ramp(m*k, 1), ramp(k*n, 2)
	in := []tensor.Named{named("a", a, m, k), named("b", b, k, n)}
	return example{
		"Gemm of two inputs", one("Gemm", []int{m, n}, nil, nil, in), in, product(a, b, m, k, n),
		[]int{m, n},
	}
}

// gemmBias is a linear layer: alpha·x·wᵀ + beta·c.
func gemmBias() example {
	const m, k, n = 3, 16, 4
	x, w, c := ramp(m*k, 3), ramp(n*k, 4), ramp(n, 5)
	wt := make([]float32, k*n)
	for i := range n {
		for l := range k {
			wt[l*n+i] = w[i*k+l]
		}
	}
	want := product(x, wt, m, k, n)
	for i := range want {
		want[i] = float64(0.5*want[i]) + 2*float64(c[i%n])
	}
	in := []tensor.Named{named("x", x, m, k)}
	attrs := []tiny.Attr{
		{Name: "transB", Value: 1},
		{Name: "alpha", Value: float32(0.5)},
		{Name: "beta", Value: float32(2)},
	}
	model := one("Gemm", []int{m, n}, attrs, []tensor.Named{named("w", w, n, k), named("c", c, n)}, in)
	return example{"Gemm with bias", model, in, want, []int{m, n}}
}

func matMul() example {
	const batch, m, k, n = 2, 9, 33, 17
	a, b := ramp(batch*m*k, 6), ramp(k*n, 7)
	var want []float64
	for s := range batch {
		want = append(want, product(a[s*m*k:(s+1)*m*k], b, m, k, n)...)
	}
	in := []tensor.Named{named("a", a, batch, m, k), named("b", b, k, n)}
	return example{"MatMul", one("MatMul", []int{batch, m, n}, nil, nil, in), in, want, []int{batch, m, n}}
}

// conv is 3×3 with padding, from the definition of the operator.
func conv() example {
	const c, o, h, w = 3, 5, 7, 6
	x, k, b := ramp(c*h*w, 8), ramp(o*c*9, 9), ramp(o, 10)
	want := make([]float64, o*h*w)
	for f := range o {
		for i := range h {
			for j := range w {
				v := float64(b[f])
				for ch := range c {
					for p := range 3 {
						for q := range 3 {
							if r, s := i+p-1, j+q-1; r >= 0 && r < h && s >= 0 && s < w {
								v += float64(float64(x[(ch*h+r)*w+s]) * float64(k[((f*c+ch)*3+p)*3+q]))
							}
						}
					}
				}
				want[(f*h+i)*w+j] = v
			}
		}
	}
	in := []tensor.Named{named("x", x, 1, c, h, w)}
	attrs := []tiny.Attr{{Name: "kernel_shape", Value: []int{3, 3}}, {Name: "pads", Value: []int{1, 1, 1, 1}}}
	model := one("Conv", []int{1, o, h, w}, attrs, []tensor.Named{named("k", k, o, c, 3, 3), named("b", b, o)}, in)
	return example{"Conv 3x3", model, in, want, []int{1, o, h, w}}
}

func maxPool() example { return pool("MaxPool", math.Inf(-1), math.Max, 1) }

func averagePool() example {
	return pool("AveragePool", 0, func(a, b float64) float64 { return a + b }, 4)
}

// pool is 2×2 with stride 2.
func pool(op string, start float64, join func(a, b float64) float64, divisor float64) example {
	const c, h, w = 2, 6, 8
	x := ramp(c*h*w, 11)
	want := make([]float64, c*h*w/4)
	for i := range want {
		ch, r, s := i/(h*w/4), i/(w/2)%(h/2)*2, i%(w/2)*2
		v := start
		for p := range 2 {
			for q := range 2 {
				v = join(v, float64(x[(ch*h+r+p)*w+s+q]))
			}
		}
		want[i] = v / divisor
	}
	in := []tensor.Named{named("x", x, 1, c, h, w)}
	attrs := []tiny.Attr{{Name: "kernel_shape", Value: []int{2, 2}}, {Name: "strides", Value: []int{2, 2}}}
	return example{op, one(op, []int{1, c, h / 2, w / 2}, attrs, nil, in), in, want, []int{1, c, h / 2, w / 2}}
}

func softmax() example {
	const m, n = 4, 10
	x := ramp(m*n, 12)
	want := make([]float64, m*n)
	for i := range m {
		var sum float64
		for j := range n {
			want[i*n+j] = elementary.Exp(float64(x[i*n+j]))
			sum += want[i*n+j]
		}
		for j := range n {
			want[i*n+j] /= sum
		}
	}
	in := []tensor.Named{named("x", x, m, n)}
	attrs := []tiny.Attr{{Name: "axis", Value: -1}}
	return example{"Softmax", one("Softmax", []int{m, n}, attrs, nil, in), in, want, []int{m, n}}
}

// activations chains operators whose kernels choose between floats: y = tanh(sigmoid(clip(relu(x)))) -
// erf(x)·where(x<0, x, -2x).
func activations() example {
	const n = 37
	x := ramp(n, 13)
	want := make([]float64, n)
	for i, v := range x {
		v := float64(v) / 4
		x[i] = float32(v)
		chosen := -2 * v
		if v < 0 {
			chosen = v
		}
		want[i] = elementary.Tanh(1/(1+elementary.Exp(-math.Min(math.Max(v, 0), 1)))) -
			float64(elementary.Erf(v)*chosen)
	}
	node := func(op, out string, in ...string) tiny.Node {
		return tiny.Node{Op: op, Inputs: in, Outputs: []string{out}}
	}
	in := []tensor.Named{named("x", x, n)}
	m := tiny.Model{
		Inputs: []tiny.Port{port("x", n)}, Outputs: []tiny.Port{port("y", n)},
		Constants: []tensor.Named{
			named("zero", []float32{0}), named("one", []float32{1}),
			named("minus2", []float32{-2}),
		},
		Nodes: []tiny.Node{
			node("Relu", "relu", "x"), node("Clip", "clip", "relu", "zero", "one"), node("Sigmoid", "sigmoid", "clip"),
			node("Tanh", "tanh", "sigmoid"),
			node("Erf", "erf", "x"), node("Less", "negative", "x", "zero"), node("Mul", "double", "x", "minus2"),
			node("Where", "chosen", "negative", "x", "double"),
			node("Mul", "product", "erf", "chosen"), node("Sub", "y", "tanh", "product"),
		},
	}
	return example{"activations", m, in, want, []int{n}}
}

func reduce() example {
	const m, n = 3, 50
	x := ramp(m*n, 14)
	want := make([]float64, m)
	for i := range m {
		for j := range n {
			want[i] += float64(x[i*n+j]) / n
		}
	}
	in := []tensor.Named{named("x", x, m, n)}
	attrs := []tiny.Attr{{Name: "axes", Value: []int{1}}, {Name: "keepdims", Value: 0}}
	return example{"ReduceMean", one("ReduceMean", []int{m}, attrs, nil, in), in, want, []int{m}}
}

func layerNorm() example {
	const m, n, epsilon = 3, 16, 1e-5
	x, scale, bias := ramp(m*n, 15), ramp(n, 16), ramp(n, 17)
	want := make([]float64, m*n)
	for i := range m {
		var mean, square float64
		for _, v := range x[i*n : (i+1)*n] {
			mean += float64(float64(v) / n) // n is a power of two: exact
			square += float64(float64(float64(v)*float64(v)) / n)
		}
		for j := range n {
			unit := (float64(x[i*n+j]) - mean) / math.Sqrt(square-float64(mean*mean)+epsilon)
			want[i*n+j] = float64(unit*float64(scale[j])) + float64(bias[j])
		}
	}
	in := []tensor.Named{named("x", x, m, n)}
	model := one("LayerNormalization", []int{m, n}, nil,
		[]tensor.Named{named("scale", scale, n), named("bias", bias, n)}, in)
	return example{"LayerNormalization", model, in, want, []int{m, n}}
}
