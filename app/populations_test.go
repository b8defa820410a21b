package app_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nero/data/dataset"
	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/tiny"
	"nero/run/job"
	"nero/studies/digits"
)

// population is data with a model whose error under quarter turns is known for every input.
type population struct {
	name, doc string
	// how errors are measured: "" for numbers that nobody declared, scores or tensor
	space string
	size  int
	// write puts the model into a folder, and of the data the inputs that are named, all for nil.
	write func(t *testing.T, dir string, inputs []int)
	// study fills in what differs from pictures in an npy file.
	study func(s *job.Study)
	// answers are those at the identity, errors those of the worst element, input by input and number by number: the
	// second is the difference to the first.
	answers, errors func(t *testing.T) [][]float64
}

// truth is what an audit of all inputs would find: the largest error per input over the scale, for each part that is
// judged by itself, and of these the part with the largest mean.
type truth struct {
	// Mean over the inputs.
	Mean float64
	// Common is the smallest limit that at most 5 % of the inputs exceed.
	Common float64
	// over the scale, input by input
	errors []float64
}

// exceed is the share of inputs with a larger error.
func (x truth) exceed(limit float64) float64 {
	n := 0
	for _, e := range x.errors {
		if e > limit {
			n++
		}
	}
	return float64(n) / float64(len(x.errors))
}

// known computes the truth in float64 from all inputs, without the audit's own code: B1 of docs/METRICS.md.
func (p *population) known(t *testing.T) truth {
	t.Helper()
	y, d := p.answers(t), p.errors(t)
	parts := [][]int{nil} // all numbers
	if p.space == "tensor" {
		parts = nil
		for k := range y[0] {
			parts = append(parts, []int{k})
		}
	}
	if p.space != "tensor" && len(y[0]) > 1 { // what all scores have in common is no part of them
		y, d = uncommon(y), uncommon(d)
	}
	var best truth
	var worst []float64 // of all parts
	for _, part := range parts {
		if part == nil {
			for k := range y[0] {
				part = append(part, k)
			}
		}
		n := float64(len(y))
		var variance float64
		for _, k := range part {
			var mean float64
			for _, v := range y {
				mean += v[k] / n
			}
			for _, v := range y {
				variance += (v[k] - mean) * (v[k] - mean) / n
			}
		}
		errs, mean := make([]float64, len(y)), 0.0
		for i, v := range d {
			for _, k := range part {
				errs[i] += v[k] * v[k] / variance
			}
			errs[i] = math.Sqrt(errs[i])
			mean += errs[i] / n
		}
		best.Mean = max(best.Mean, mean)
		if worst == nil {
			worst = slices.Clone(errs)
		}
		for i, e := range errs {
			worst[i] = max(worst[i], e)
		}
	}
	best.errors = worst
	sorted := slices.Sorted(slices.Values(worst))
	best.Common = sorted[len(sorted)-1-len(sorted)/20]
	return best
}

// uncommon takes the mean over the numbers off each.
func uncommon(y [][]float64) [][]float64 {
	out := make([][]float64, len(y))
	for i, v := range y {
		mean := 0.0
		for _, x := range v {
			mean += x / float64(len(v))
		}
		for _, x := range v {
			out[i] = append(out[i], x-mean)
		}
	}
	return out
}

// popSize is how many pictures a made population has, and popSide their side.
const popSize, popSide = 20_000, 4

// Pixels of a picture of 4 by 4 that quarter turns exchange among themselves, apart from the corners.
var wheels = [3][4]int{{5, 6, 9, 10}, {1, 7, 14, 8}, {2, 11, 13, 4}}

// marked are n pictures: noise inside, and corners that are 1 at the upper left and -1 elsewhere. A turn takes the 1
// away, and changes nothing of the sums over a ring, which are normal numbers.
func marked(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 16))
	x := make([]float32, popSide*popSide*n)
	for i := range x {
		switch i % 16 {
		case 0:
			x[i] = 1
		case 3, 12, 15:
			x[i] = -1
		default:
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

// sums are half the sums over the rings of each picture.
func sums(x []float32) [][3]float64 {
	out := make([][3]float64, len(x)/16)
	for i := range out {
		for k, ring := range wheels {
			for _, p := range ring {
				out[i][k] += 0.5 * float64(x[16*i+p])
			}
		}
	}
	return out
}

// sketch is a population of pictures: what is answered but for the error, and how much the first corner adds to that.
// Both are functions of the sums over the rings, and sketched as a graph that makes base and amount of u.
type sketch struct {
	name, doc, space string
	outputs          int
	base, amount     func(u [3]float64) []float64
	constants        map[string]tensor.Tensor
	nodes            []tiny.Node
}

// rare is the sum above which an input of population E errs: one of a hundred normal numbers is larger.
const rare = 2.3263478740408408

func sketches() []sketch {
	row := func(x ...float32) tensor.Tensor { return tensor.FromFloat32(x, 1, len(x)) }
	column := func(x ...float32) tensor.Tensor { return tensor.FromFloat32(x, len(x), 1) }
	first := map[string]tensor.Tensor{"first": column(1, 0, 0), "second": column(0, 1, 0), "c": row(0.01)}
	base := op("MatMul", "base", "u", "first")
	exponential := []tiny.Node{op("MatMul", "v", "u", "first"), op("Exp", "base", "v")}
	normal := func(u [3]float64) []float64 { return u[:1] }
	skewed := func(u [3]float64) []float64 { return []float64{math.Exp(u[0])} }
	gauss := []tiny.Node{op("MatMul", "w", "u", "second"), op("Mul", "amount", "w", "c")}
	gaussian := func(u [3]float64) []float64 { return []float64{0.01 * u[1]} }
	equal := []tiny.Node{op("Identity", "amount", "c")}
	constant := func([3]float64) []float64 { return []float64{0.01} }
	half := func(u [3]float64) []float64 {
		return []float64{math.Exp(0.5 * u[0]), math.Exp(0.5 * u[1]), math.Exp(0.5 * u[2])}
	}
	three := []tiny.Node{op("Mul", "v", "u", "half"), op("Exp", "base", "v")}
	return []sketch{
		{
			name: "A", doc: "three scores, log-normal errors that grow with the first", outputs: 3,
			base: half, amount: func(u [3]float64) []float64 {
				e := 0.01 * math.Exp(u[0])
				return []float64{e, -0.5 * e, -0.5 * e}
			},
			constants: map[string]tensor.Tensor{
				"half": row(0.5), "first": column(1, 0, 0), "c": row(0.01, -0.005, -0.005),
			},
			nodes: append(three, op("MatMul", "w", "u", "first"), op("Exp", "e", "w"), op("Mul", "amount", "e", "c")),
		},
		{
			name: "A by channel", doc: "three numbers of their own unit, each with log-normal errors that grow with it",
			space: "tensor", outputs: 3, base: half,
			amount: func(u [3]float64) []float64 {
				return []float64{0.01 * math.Exp(u[0]), 0.01 * math.Exp(u[1]), 0.01 * math.Exp(u[2])}
			},
			constants: map[string]tensor.Tensor{"half": row(0.5), "c": row(0.01)},
			nodes:     append(three, op("Exp", "e", "u"), op("Mul", "amount", "e", "c")),
		},
		{
			name: "B", doc: "one number, normal; normal errors", outputs: 1, base: normal, amount: gaussian,
			constants: first, nodes: append([]tiny.Node{base}, gauss...),
		},
		{
			name: "C", doc: "one number, log-normal; normal errors", outputs: 1, base: skewed, amount: gaussian,
			constants: first, nodes: append(slices.Clone(exponential), gauss...),
		},
		{
			name: "D", doc: "one number, normal; all inputs err alike", outputs: 1, base: normal, amount: constant,
			constants: first, nodes: append([]tiny.Node{base}, equal...),
		},
		{
			name: "E", doc: "one number, normal; one input of a hundred errs, and much", outputs: 1, base: normal,
			amount: func(u [3]float64) []float64 {
				if float32(u[1]) > rare {
					return []float64{1}
				}
				return []float64{0}
			},
			constants: map[string]tensor.Tensor{
				"first": column(1, 0, 0), "second": column(0, 1, 0), "rare": row(rare), "one": row(1), "zero": row(0),
			},
			nodes: []tiny.Node{
				base, op("MatMul", "w", "u", "second"), op("Greater", "much", "w", "rare"),
				op("Where", "amount", "much", "one", "zero"),
			},
		},
		{
			name: "F", doc: "one number, log-normal; all inputs err alike", outputs: 1, base: skewed, amount: constant,
			constants: first, nodes: append(slices.Clone(exponential), equal...),
		},
		{
			name: "G", doc: "one number, normal; errors are large where it is near its mean", outputs: 1, base: normal,
			amount:    func(u [3]float64) []float64 { return []float64{0.01 * math.Exp(-math.Abs(u[0]))} },
			constants: first, nodes: []tiny.Node{
				base, op("Abs", "v", "base"), op("Neg", "w", "v"), op("Exp", "e", "w"), op("Mul", "amount", "e", "c"),
			},
		},
	}
}

// population makes the pictures and the model of a sketch.
func (r sketch) population(n int, seed uint64) *population {
	x := marked(n, seed)
	u := sums(x)
	values := func(of func(u [3]float64, i int) []float64) func(t *testing.T) [][]float64 {
		return func(*testing.T) [][]float64 {
			out := make([][]float64, n)
			for i := range out {
				out[i] = of(u[i], i)
			}
			return out
		}
	}
	return &population{
		name: r.name, doc: r.doc, space: r.space, size: n,
		answers: values(func(u [3]float64, _ int) []float64 {
			y := slices.Clone(r.base(u))
			for k, a := range r.amount(u) {
				y[k] += a
			}
			return y
		}),
		errors: values(func(u [3]float64, _ int) []float64 { // the corner falls from 1 to -1
			d := r.amount(u)
			for k := range d {
				d[k] *= -2
			}
			return d
		}),
		study: func(s *job.Study) {
			s.Data = job.Data{Images: "x.npy", Layout: "NCHW"}
			s.Input.Layout = "NCHW"
		},
		write: func(t *testing.T, dir string, inputs []int) {
			t.Helper()
			some := x
			if inputs != nil {
				some = nil
				for _, i := range inputs {
					some = append(some, x[16*i:16*i+16]...)
				}
			}
			npyFile(t, filepath.Join(dir, "x.npy"), []int{len(some) / 16, 1, popSide, popSide}, some)
			ring, corner := make([]float32, 16*3), make([]float32, 16)
			corner[0] = 1
			for k, of := range wheels {
				for _, p := range of {
					ring[3*p+k] = 0.5
				}
			}
			constants := map[string]tensor.Tensor{
				"rings": tensor.FromFloat32(ring, 16, 3), "corner": tensor.FromFloat32(corner, 16, 1),
			}
			for name, c := range r.constants {
				if slices.ContainsFunc(r.nodes, func(n tiny.Node) bool { return slices.Contains(n.Inputs, name) }) {
					constants[name] = c
				}
			}
			nodes := []tiny.Node{
				with(op("Flatten", "fl", "x"), tiny.Attr{Name: "axis", Value: 1}),
				op("MatMul", "u", "fl", "rings"), op("MatMul", "mark", "fl", "corner"),
			}
			nodes = append(append(nodes, r.nodes...), op("Mul", "d", "amount", "mark"), op("Add", "y", "base", "d"))
			network(t, filepath.Join(dir, "m.onnx"), popSide, r.outputs, constants, nodes...)
		},
	}
}

// digitsPopulation is the project's own: digits and the network that was trained on upright ones.
func digitsPopulation(t *testing.T) *population {
	t.Helper()
	read := func(name string) []byte {
		b, err := digits.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const side, head = 28, 16
	z, err := gzip.NewReader(bytes.NewReader(read("data/digits1000-images-idx3-ubyte.gz")))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	raw = raw[head:]
	n := len(raw) / (side * side)
	model := read("models/digits-original.onnx")
	var turned [4][][]float64
	answers := func(t *testing.T) [][]float64 {
		t.Helper()
		if turned[0] == nil {
			c, err := choose.Open(t.Context(), choose.Request{}, choosetest.Host())
			if err != nil {
				t.Fatal(err)
			}
			for k := range turned {
				turned[k] = scored(t, c.Engine, model, raw, side, k)
			}
		}
		return turned[0]
	}
	return &population{
		name: "digits", doc: "the demo's digits and its network that was trained on upright ones", space: "scores",
		size: n, answers: answers,
		errors: func(t *testing.T) [][]float64 {
			t.Helper()
			y := uncommon(answers(t))
			out := make([][]float64, n)
			for i := range out {
				most := -1.0
				for k := 1; k < 4; k++ {
					d, square := make([]float64, len(y[i])), 0.0
					z := uncommon(turned[k][i : i+1])[0]
					for j := range d {
						d[j] = z[j] - y[i][j]
						square += d[j] * d[j]
					}
					if square > most {
						most, out[i] = square, d
					}
				}
			}
			return out
		},
		study: func(s *job.Study) {
			s.Data = job.Data{Format: "idx", Images: "x"}
			s.Input = job.Input{Space: "image", Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081}}
			s.Output.Decode = "softmax"
		},
		write: func(t *testing.T, dir string, inputs []int) {
			t.Helper()
			some := raw
			if inputs != nil {
				some = nil
				for _, i := range inputs {
					some = append(some, raw[side*side*i:side*side*(i+1)]...)
				}
			}
			f, err := os.Create(filepath.Join(dir, "x"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close() //nolint:errcheck // read back at once
			if err := dataset.WriteIDX(f, tensor.Tensor{
				DType: tensor.Uint8, Shape: []int{len(some) / (side * side), side, side}, Raw: some,
			}); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "m.onnx"), model, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// scored are what a network of digits says of pictures that were turned k times by a quarter, in the numbers that it
// was trained on.
func scored(t *testing.T, e engine.Engine, model, raw []byte, side, k int) [][]float64 {
	t.Helper()
	s, err := e.Open(t.Context(), model, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is lost
	n := len(raw) / (side * side)
	x := make([]float32, len(raw))
	for i := range n {
		for r := range side {
			for c := range side {
				a, b := r, c
				for range k {
					a, b = b, side-1-a
				}
				x[i*side*side+r*side+c] = float32((float64(raw[i*side*side+a*side+b])/255 - 0.1307) / 0.3081)
			}
		}
	}
	var out [][]float64
	const batch = 100
	for i := 0; i < n; i += batch {
		m := min(batch, n-i)
		y, err := s.Run(t.Context(), []tensor.Named{{
			Name: s.Inputs()[0], Tensor: tensor.FromFloat32(x[i*side*side:(i+m)*side*side], m, 1, side, side),
		}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := y[0].Float32s()
		if err != nil {
			t.Fatal(err)
		}
		for j := range m {
			var row []float64
			for _, a := range v[j*len(v)/m : (j+1)*len(v)/m] {
				row = append(row, float64(a))
			}
			out = append(out, row)
		}
	}
	return out
}
