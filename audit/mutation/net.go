// Package mutation audits the auditor. It takes small models that are exactly equivariant by construction, plants one
// break at a time, and holds what an audit says against what was planted: is the break found, is its cause named first,
// is its place named, and is the audit silent on the clean twin?
//
// The models are ONNX graphs with seeded weights, run on the engines that users run. Nothing here is part of the
// program; the table of results is docs/AUDIT-OF-THE-AUDITOR.md.
package mutation

import (
	"math"
	"math/rand/v2"
	"slices"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// opset of the models: the oldest that has all that they use, so that every engine takes them.
const opset = 17

// net writes a graph node by node and gives the nodes their names.
type net struct {
	b *onnx.Builder
	r *rand.Rand
}

func newNet(seed uint64) *net {
	return &net{onnx.NewBuilder(opset), rand.New(rand.NewPCG(seed, 0))}
}

// op adds a named node with one output.
func (n *net) op(name, kind string, in []string, attrs ...*onnxpb.AttributeProto) string {
	out := n.b.Op(kind, in, attrs...)
	nodes := n.b.Graph().GetNode()
	nodes[len(nodes)-1].Name = &name
	return out
}

func (n *net) floats(x []float32, shape ...int) string {
	return n.b.Const(tensor.FromFloat32(x, shape...))
}

func (n *net) number(x float64) string { return n.floats([]float32{float32(x)}, 1) }

// normal are k numbers of deviation sd.
func (n *net) normal(k int, sd float64) []float32 {
	x := make([]float32, k)
	for i := range x {
		x[i] = float32(sd * elementary.Normal(n.r))
	}
	return x
}

// model ends the graph with the output y, batch axis first.
func (n *net) model(y string, axes ...any) (*onnx.Model, error) {
	n.op("out", "Identity", []string{y})
	nodes := n.b.Graph().GetNode()
	nodes[len(nodes)-1].Output[0] = "y"
	n.b.Output("y", tensor.Float32, append([]any{"N"}, axes...)...)
	return n.b.Model()
}

// turn is a square kernel after a quarter turn, counter-clockwise as displayed.
func turn(k []float32, s int) []float32 {
	out := make([]float32, len(k))
	for r := range s {
		for c := range s {
			out[(s-1-c)*s+r] = k[r*s+c]
		}
	}
	return out
}

// mirror is a square kernel mirrored left to right.
func mirror(k []float32, s int) []float32 {
	out := make([]float32, len(k))
	for r := range s {
		for c := range s {
			out[r*s+s-1-c] = k[r*s+c]
		}
	}
	return out
}

// symmetric averages a kernel over its quarter turns and, with mirrors, over their mirror images. Sums run in float64
// and end in one rounding, so equal places hold equal bits.
func symmetric(k []float32, s int, mirrors bool) []float32 {
	orbit := [][]float32{k}
	for range 3 {
		orbit = append(orbit, turn(orbit[len(orbit)-1], s))
	}
	if mirrors {
		for _, q := range slices.Clone(orbit) {
			orbit = append(orbit, mirror(q, s))
		}
	}
	out := make([]float32, len(k))
	x := make([]float64, len(orbit))
	for i := range out {
		for j, q := range orbit {
			x[j] = float64(q[i])
		}
		slices.Sort(x) // one order for every place of an orbit
		var sum float64
		for _, v := range x {
			sum += v
		}
		out[i] = float32(sum / float64(len(orbit)))
	}
	return out
}

// kernels are out × in kernels of side s, each symmetric.
func (n *net) kernels(out, in, s int, mirrors bool) []float32 {
	var all []float32
	for range out * in {
		all = append(all, symmetric(n.normal(s*s, 1.5/float64(s)/math.Sqrt(float64(in))), s, mirrors)...)
	}
	return all
}

// conv is a convolution with pads on all sides and a bias.
func (n *net) conv(name, x string, w []float32, out, in, s, pad int) string {
	p := int64(pad)
	return n.op(name, "Conv", []string{x, n.floats(w, out, in, s, s), n.floats(n.normal(out, 0.1), out)},
		onnx.AttrInts("kernel_shape", int64(s), int64(s)), onnx.AttrInts("pads", p, p, p, p))
}

// around pads a picture by what comes in on the other side, k pixels on each side.
func (n *net) around(name, x string, k, side int) string {
	for i, axis := range []int64{2, 3} {
		a := n.b.Ints(axis)
		last := n.op(name+"-last"+string(rune('0'+i)), "Slice",
			[]string{x, n.b.Ints(int64(side - k)), n.b.Ints(int64(side)), a})
		first := n.op(name+"-first"+string(rune('0'+i)), "Slice", []string{x, n.b.Ints(0), n.b.Ints(int64(k)), a})
		x = n.op(name+"-join"+string(rune('0'+i)), "Concat", []string{last, x, first}, onnx.AttrInt("axis", axis))
	}
	return x
}

// dense is x·W + b.
func (n *net) dense(name, x string, in, out int) string {
	return n.op(name, "Gemm", []string{
		x, n.floats(n.normal(in*out, 1/math.Sqrt(float64(in))), in, out),
		n.floats(n.normal(out, 0.1), out),
	})
}
