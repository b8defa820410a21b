package cli

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"

	"github.com/rogpeppe/go-internal/testscript"
)

// spatial are the commands of the scripts that write networks of points, graphs and sound, and what they read.
var spatial = map[string]func(*testscript.TestScript, bool, []string){
	"cloudnet":  fixture(writeCloudNet),
	"graphnet":  fixture(writeGraphNet),
	"listener":  fixture(writeListener),
	"npz":       fixture(writeNPZ),
	"wav":       fixture(writeWAV),
	"plybinary": fixture(writeBinaryPLY),
	"study":     copyStudy,
}

// copyStudy NAME copies a study of this repository to a folder of that name, so that a script can run it and change it.
func copyStudy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: study NAME")
	}
	dir, err := filepath.Abs(filepath.Join(studies, args[0]))
	ts.Check(err)
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(dir)))
}

// studies is the folder of the studies, seen from this package.
var studies = filepath.Join("..", "studies")

// writeCloudNet writes a network that reads clouds, input points [batch, N, 3], output logits [batch, classes]. Its
// kind is one of
//
//	invariant  means over points of functions of the distance from the origin: O(3) about the origin and
//
// permutations change nothing
//
//	plain      means over points of functions of the coordinates
//	ordered    as plain, but of the first point alone: permutations change it
//
// Options: points (0: free), classes, seed, extra=NAME (an input of the same shape as points, which is added).
func writeCloudNet(name string, o *options) error {
	kind, classes, seed := o.text("kind", "invariant"), o.int("classes", 3), uint64(o.int("seed", 1))
	var n any = "points"
	if k := o.int("points", 0); k > 0 {
		n = k
	}
	b := smallGraph()
	x := b.Input("points", tensor.Float32, "batch", n, 3)
	if e := o.text("extra", ""); e != "" {
		x = b.Op("Add", []string{x, b.Input(e, tensor.Float32, "batch", n, 3)})
	}
	width := 3
	switch kind {
	case "invariant":
		x = b.Op("ReduceSum", []string{b.Op("Mul", []string{x, x}), b.Ints(2)})
		width = 1
	case "ordered":
		x = b.Op("Slice", []string{x, b.Ints(0), b.Ints(1), b.Ints(1)})
	case "plain":
	default:
		return fmt.Errorf("kind %q", kind)
	}
	h := b.Op("Relu", []string{b.Op("Add", []string{
		b.Op("MatMul", []string{x, b.Const(weights(seed, width, 8))}),
		b.Const(weights(seed+1, 8)),
	})})
	h = b.Op("ReduceMean", []string{h}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0))
	b.Op("Gemm", []string{h, b.Const(weights(seed+2, 8, classes)), b.Const(weights(seed+3, classes))},
		onnx.AttrFloat("alpha", 4))
	called(b, "logits")
	b.Output("logits", tensor.Float32, "batch", classes)
	return writeGraph(name, b)
}

// smallGraph begins a graph that all engines read.
func smallGraph() *onnx.Builder {
	b := onnx.NewBuilder(17)
	b.Header().IrVersion = new(int64(8))
	return b
}

func writeGraph(name string, b *onnx.Builder) error {
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(name, raw, 0o644)
}

// writeGraphNet writes a network of one graph: inputs nodes [A, width] and edges int64 [2, E], output y [1, 1], the sum
// over edges of a product of what is at both ends: no order of nodes or edges changes it. Options: width, seed.
func writeGraphNet(name string, o *options) error {
	width, seed := o.int("width", 2), uint64(o.int("seed", 1))
	b := smallGraph()
	x := b.Input("nodes", tensor.Float32, "nodes", width)
	e := b.Input("edges", tensor.Int64, 2, "edges")
	ends := b.Ops("Split", 2, []string{e, b.Ints(1, 1)}, onnx.AttrInt("axis", 0))
	var at [2]string
	for k, end := range ends {
		at[k] = b.Op("Gather", []string{x, b.Op("Reshape", []string{end, b.Ints(-1)})}, onnx.AttrInt("axis", 0))
	}
	m := b.Op("MatMul", []string{b.Op("Mul", []string{at[0], at[1]}), b.Const(weights(seed, width, 1))})
	b.Op("ReduceSum", []string{m, b.Ints(0)})
	called(b, "y")
	b.Output("y", tensor.Float32, 1, 1)
	return writeGraph(name, b)
}

// writeListener writes a recurrent network that reads sound: inputs frame [batch, frame] and state [batch, 1], outputs
// level [batch, 1], the state after this frame, and next [batch, 1], the same: a running mean of the loudness, 3/4 of
// it from the past. With more=NAME there is an input int64 [1] of that name, which is added: a rate that must be fed.
// Options: frame, more.
func writeListener(name string, o *options) error {
	frame := o.int("frame", 4)
	b := smallGraph()
	x := b.Input("frame", tensor.Float32, "batch", frame)
	state := b.Input("state", tensor.Float32, "batch", 1)
	one := func(v float32) string { return b.Const(tensor.FromFloat32([]float32{v}, 1)) }
	loud := b.Op("ReduceMean", []string{b.Op("Mul", []string{x, x})}, onnx.AttrInts("axes", 1))
	if more := o.text("more", ""); more != "" {
		in := b.Input(more, tensor.Int64, 1)
		loud = b.Op("Add", []string{
			loud,
			b.Op("Cast", []string{in}, onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT))),
		})
	}
	next := b.Op("Add", []string{b.Op("Mul", []string{state, one(0.75)}), b.Op("Mul", []string{loud, one(0.25)})})
	for _, out := range []string{"level", "next"} {
		b.Op("Identity", []string{next})
		called(b, out)
		b.Output(out, tensor.Float32, "batch", 1)
	}
	return writeGraph(name, b)
}

// writeNPZ writes an archive of arrays. An array is NAME=SHAPE, such as points=4x16x3: random float32 from -1 to 1, or
// NAME=int:SHAPE:V,V,... with whole numbers. Options: seed, nan=NAME:INDEX (one value), one=NAME (all rows of every
// sample at one place), cut (keep that many bytes).
func writeNPZ(name string, o *options) error {
	seed, cut := uint64(o.int("seed", 1)), o.int("cut", 0)
	bad, at, _ := strings.Cut(o.text("nan", ""), ":")
	one := o.text("one", "")
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for k, key := range slices.Sorted(maps.Keys(o.given)) {
		what := o.text(key, "")
		whole, isInt := strings.CutPrefix(what, "int:")
		what, list, _ := strings.Cut(whole, ":")
		o.given["shape"] = what
		shape := o.ints("shape", "")
		n := 1
		var axes strings.Builder
		for _, d := range shape {
			n *= d
			fmt.Fprintf(&axes, "%d,", d)
		}
		descr := "<f4"
		if isInt {
			descr = "<i8"
		}
		head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, axes.String())
		head += strings.Repeat(" ", 63-(len(head)+10)%64) + "\n"
		w, err := z.Create(key + ".npy")
		if err != nil {
			return err
		}
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
		b = append(b, head...)
		r := rand.New(rand.NewPCG(seed, uint64(k)))
		values := strings.Split(list, ",")
		for i := range n {
			if isInt {
				v, err := strconv.Atoi(values[i%len(values)])
				if err != nil {
					return err
				}
				b = binary.LittleEndian.AppendUint64(b, uint64(v))
				continue
			}
			v := 2*r.Float32() - 1
			if key == one {
				v = 0.5
			}
			if key == bad && strconv.Itoa(i) == at {
				v = float32(math.NaN())
			}
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	raw := file.Bytes()
	if cut > 0 {
		raw = raw[:cut]
	}
	return os.WriteFile(name, raw, 0o644)
}

// writeWAV writes a recording of 16 bits: bursts of a tone that are silent at first and at the end. Options: rate, n
// (numbers a channel), channels, seed.
func writeWAV(name string, o *options) error {
	rate, n, channels := o.int("rate", 16000), o.int("n", 256), o.int("channels", 1)
	r := rand.New(rand.NewPCG(uint64(o.int("seed", 1)), 4))
	freq := 0.2 + 0.3*r.Float64()
	size := 2 * n * channels
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(36+size))
	b = append(b, "WAVEfmt "...)
	for _, v := range []uint32{
		16, 1 | uint32(channels)<<16, uint32(rate), uint32(2 * rate * channels),
		uint32(2*channels) | 16<<16,
	} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(size))
	for i := range n {
		for c := range channels {
			v := 0.0
			if i >= n/4 && i < 3*n/4 {
				v = 12000 * math.Sin(freq*float64(i)+float64(c)) * (1 + r.Float64()) / 2
			}
			b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
		}
	}
	return os.WriteFile(name, b, 0o644)
}

// writeBinaryPLY writes a tetrahedron, little endian, with faces.
func writeBinaryPLY(name string, _ *options) error {
	b := []byte("ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float " +
		"y\nproperty float z\n" +
		"element face 4\nproperty list uchar int vertex_indices\nend_header\n")
	for _, p := range [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}} {
		for _, v := range p {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	for _, f := range [][3]uint32{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}} {
		b = append(b, 3)
		for _, v := range f {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	return os.WriteFile(name, b, 0o644)
}
