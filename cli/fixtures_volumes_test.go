package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"nero/data/tensor"
	"nero/model/onnx"

	"github.com/rogpeppe/go-internal/testscript"
)

// solid are the commands of the scripts that write networks of volumes, and what they read.
var solid = map[string]func(*testscript.TestScript, bool, []string){
	"voxelnet": fixture(writeVoxelNet),
	"scans":    fixture(writeScans),
}

// isotropic are the weights of a kernel of 3x3x3 that depend on the distance from its middle alone, so that no symmetry
// of the cube changes them; tilt is added to the weight in front of the middle along the last axis, which breaks all
// that moves that axis.
func isotropic(seed uint64, out, in int, tilt float64) tensor.Tensor {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]float32, 0, out*in*27)
	for range out * in {
		var by [4]float64 // by the square of the distance
		for i := range by {
			by[i] = r.NormFloat64() / float64(1+i)
		}
		for i := range 27 {
			x, y, z := i%3-1, i/3%3-1, i/9-1
			w := by[x*x+y*y+z*z]
			if x == 1 && y == 0 && z == 0 {
				w += tilt
			}
			v = append(v, float32(w))
		}
	}
	return tensor.FromFloat32(v, out, in, 3, 3, 3)
}

// writeVoxelNet writes a network of volumes: two convolutions whose kernels depend on the distance alone and whose
// borders are filled with zeros on all sides alike, so that the 48 symmetries of the cube commute with them. Options:
//
//	size        of the cube; 0 for free axes
//	channels    of the input; 1
//	tilt        percent that is added to one weight of each kernel, which then knows a direction; 0
//	answer      scores (means over the voxels, two classes) or map (a volume)
//	last=1      the channels come last, of input and output
func writeVoxelNet(name string, o *options) error {
	size, channels, tilt := o.int("size", 8), o.int("channels", 1), float64(o.int("tilt", 0))/100
	answer, last := o.text("answer", "scores"), o.int("last", 0) == 1
	side := []any{"depth", "height", "width"}
	if size > 0 {
		side = []any{size, size, size}
	}
	shape := func(c int) []any {
		if last {
			return append(append([]any{"batch"}, side...), c)
		}
		return append([]any{"batch", c}, side...)
	}
	b := smallGraph()
	x := b.Input("scan", tensor.Float32, shape(channels)...)
	if last {
		x = b.Op("Transpose", []string{x}, onnx.AttrInts("perm", 0, 4, 1, 2, 3))
	}
	conv := func(x string, seed uint64, out, in int) string {
		return b.Op("Conv", []string{x, b.Const(isotropic(seed, out, in, tilt))},
			onnx.AttrInts("kernel_shape", 3, 3, 3),
			onnx.AttrInts("pads", 1, 1, 1, 1, 1, 1))
	}
	x = b.Op("Tanh", []string{conv(x, 1, 4, channels)})
	switch answer {
	case "map":
		x = conv(x, 2, 1, 4)
		if last {
			b.Op("Transpose", []string{x}, onnx.AttrInts("perm", 0, 2, 3, 4, 1))
		} else {
			b.Op("Identity", []string{x})
		}
		called(b, "map")
		b.Output("map", tensor.Float32, shape(1)...)
	case "scores":
		x = b.Op("Tanh", []string{conv(x, 2, 4, 4)})
		x = b.Op("ReduceMean", []string{x}, onnx.AttrInts("axes", 2, 3, 4), onnx.AttrInt("keepdims", 0))
		b.Op("Gemm", []string{x, b.Const(weights(3, 4, 2)), b.Const(weights(4, 2))}, onnx.AttrFloat("alpha", 8))
		called(b, "logits")
		b.Output("logits", tensor.Float32, "batch", 2)
	default:
		return fmt.Errorf("answer %q", answer)
	}
	return writeGraph(name, b)
}

// writeScans writes a folder of NIfTI files of float32, in two folders that are classes: soft spots in a cube, with no
// symmetry. Options: n, size, seed, gzip=1, and for the affine map of the files left=1 (left-handed), shear (percent),
// thick (percent by which slices are thicker than voxels are wide).
func writeScans(dir string, o *options) error {
	n, size, seed := o.int("n", 6), o.int("size", 8), uint64(o.int("seed", 1))
	packed, left, shear := o.int("gzip", 0) == 1, o.int("left", 0) == 1, float64(o.int("shear", 0))/100
	thick := 1 + float64(o.int("thick", 0))/100
	for i := range n {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		type spot struct{ x, y, z, wide, high float64 }
		var spots []spot
		for range 4 {
			at := func() float64 { return (0.2 + 0.6*r.Float64()) * float64(size-1) }
			spots = append(spots,
				spot{at(), at(), at(), 1 + r.Float64()*float64(size)/8, 1 + r.Float64() + float64(i%2)})
		}
		b := make([]byte, 352, 352+4*size*size*size)
		le := binary.LittleEndian
		le.PutUint32(b, 348)
		for k, d := range []int{3, size, size, size, 1, 1, 1, 1} {
			le.PutUint16(b[40+2*k:], uint16(d))
		}
		le.PutUint16(b[70:], 16)
		le.PutUint16(b[72:], 32)
		float := func(at int, x float64) { le.PutUint32(b[at:], math.Float32bits(float32(x))) }
		float(108, 352)
		float(112, 1)
		le.PutUint16(b[254:], 1) // sform
		float(280, map[bool]float64{false: 1, true: -1}[left])
		float(280+16+4, 1)
		float(280+16+8, shear)
		float(280+32+8, thick)
		copy(b[344:], "n+1\x00")
		for v := range size * size * size {
			x, y, z := float64(v%size), float64(v/size%size), float64(v/size/size)
			sum := 0.0
			for _, s := range spots {
				d := (x-s.x)*(x-s.x) + (y-s.y)*(y-s.y) + (z-s.z)*(z-s.z)
				sum += s.high * math.Exp(-d/(2*s.wide*s.wide))
			}
			b = le.AppendUint32(b, math.Float32bits(float32(sum)))
		}
		name := filepath.Join(dir, strconv.Itoa(i%2), fmt.Sprintf("%03d.nii", i))
		if packed {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			if _, err := w.Write(b); err != nil {
				return err
			}
			if err := w.Close(); err != nil {
				return err
			}
			b, name = z.Bytes(), name+".gz"
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			return err
		}
	}
	return nil
}
