package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
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

// fixtures are the commands of the scripts that write models and data. Options are key=value; an unknown key is an
// error, so that a script cannot mean one thing and test another.
var fixtures = map[string]func(*testscript.TestScript, bool, []string){
	"onnx":     fixture(writeONNX),
	"sequence": fixture(writeSequence),
	"pictures": fixture(writePictures),
	"bigpng":   fixture(writeBigPNG),
	"thousand": fixture(writeThousand),
	"idx":      fixture(writeIDX),
	"npy":      fixture(writeNPY),
	"foreign":  fixture(writeForeign),
	"units":    fixture(writeUnits),
}

func fixture(write func(string, *options) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("usage: COMMAND FILE [key=value...]")
		}
		o := &options{given: map[string]string{}}
		for _, a := range args[1:] {
			k, v, ok := strings.Cut(a, "=")
			if !ok {
				ts.Fatalf("%q: want key=value", a)
			}
			o.given[k] = v
		}
		name := ts.MkAbs(args[0])
		ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
		ts.Check(write(name, o))
		ts.Check(o.err)
		if len(o.given) > 0 {
			ts.Fatalf("unknown options %v", slices.Sorted(maps.Keys(o.given)))
		}
	}
}

// options are the key=value pairs of a fixture, taken out as they are read.
type options struct {
	given map[string]string
	err   error
}

func (o *options) text(key, def string) string {
	v, ok := o.given[key]
	if !ok {
		return def
	}
	delete(o.given, key)
	return v
}

func (o *options) int(key string, def int) int {
	v, err := strconv.Atoi(o.text(key, strconv.Itoa(def)))
	if err != nil {
		o.err = fmt.Errorf("%s: %w", key, err)
	}
	return v
}

// ints reads sizes such as 6x8x8.
func (o *options) ints(key, def string) []int {
	s := o.text(key, def)
	if s == "" {
		return nil
	}
	var all []int
	for p := range strings.SplitSeq(s, "x") {
		v, err := strconv.Atoi(p)
		if err != nil {
			o.err = fmt.Errorf("%s: %w", key, err)
		}
		all = append(all, v)
	}
	return all
}

// weights are the same numbers on every machine, about 1 in size.
func weights(seed uint64, shape ...int) tensor.Tensor {
	r := rand.New(rand.NewPCG(seed, 0))
	n := 1
	for _, d := range shape {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.IntN(2001)-1000) / 1000
	}
	return tensor.FromFloat32(v, shape...)
}

// writeONNX writes a small model that reads images of c x h x w. Its kind is one of
//
//	mean           scores that depend on the mean of each channel alone: invariant to everything that permutes pixels
//	dense          scores that depend on where each pixel is
//	probabilities  dense with a softmax of its own
//	constant       the same scores for every input
//	nan            dense, but NaN if the upper left pixel is above 0.9
//	image          a convolution with a kernel that is symmetric under D4; pad=zero, circular
//	rows           dense over an input of two axes, [batch, h*w]
//	deep           an input of five axes, [batch, c, 1, h, w]
//	strided        a symmetric kernel on every fourth pixel
//	words          strings instead of numbers
//	twoinputs      two inputs without values
//	foreignop      an operator of a domain that no engine has
//	float64        a convolution in float64
//	onescore       one number for each sample
//
// Options: c, h, w, classes, batch (0: free), opset, ir, seed, cut (keep that many bytes), gain.
func writeONNX(name string, o *options) error {
	kind := o.text("kind", "dense")
	c, h, w := o.int("c", 1), o.int("h", 8), o.int("w", 8)
	classes, seed := o.int("classes", 3), uint64(o.int("seed", 1))
	var batch any = "batch"
	if n := o.int("batch", 0); n > 0 {
		batch = n
	}
	b := onnx.NewBuilder(o.int("opset", 19))
	b.Header().IrVersion = new(int64(o.int("ir", 8)))
	f32 := tensor.Float32
	out := func(y string, axes ...any) {
		y = b.Op("Identity", []string{y})
		b.Output(y, f32, append([]any{batch}, axes...)...)
	}
	dense := func(x string, n int) string {
		return b.Op("Gemm", []string{
			b.Op("Flatten", []string{x}), b.Const(weights(seed, n, classes)),
			b.Const(weights(seed+1, classes)),
		})
	}
	x := ""
	switch kind {
	case "rows":
		x = b.Input("x", f32, batch, h*w)
	case "deep":
		x = b.Input("x", f32, batch, c, 1, h, w)
	case "float64":
		x = b.Input("x", tensor.Float64, batch, c, h, w)
	default:
		x = b.Input("x", f32, batch, c, h, w)
	}
	switch kind {
	case "mean":
		m := b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{x})})
		out(b.Op("Gemm", []string{m, b.Const(weights(seed, c, classes)), b.Const(weights(seed+1, classes))},
			onnx.AttrFloat("alpha", float32(o.int("gain", 8)))), classes)
	case "dense", "deep":
		out(dense(x, c*h*w), classes)
	case "rows":
		out(dense(x, h*w), classes)
	case "probabilities":
		out(b.Op("Softmax", []string{dense(x, c*h*w)}, onnx.AttrInt("axis", 1)), classes)
	case "constant":
		out(b.Op("Mul", []string{dense(x, c*h*w), b.Const(tensor.FromFloat32([]float32{0}, 1))}), classes)
	case "nan":
		corner := b.Op("Slice", []string{b.Op("Flatten", []string{x}), b.Ints(0), b.Ints(1), b.Ints(1)})
		room := b.Op("Sub", []string{b.Const(tensor.FromFloat32([]float32{0.9}, 1)), corner})
		out(b.Op("Add", []string{dense(x, c*h*w), b.Op("Log", []string{room})}), classes)
	case "image":
		k := tensor.FromFloat32([]float32{.5, 1, .5, 1, 4, 1, .5, 1, .5}, 1, 1, 3, 3)
		switch pad := o.text("pad", "zero"); pad {
		case "zero":
			out(b.Op("Conv", []string{x, b.Const(k)}, onnx.AttrInts("pads", 1, 1, 1, 1)), 1, h, w)
		case "circular":
			p := b.Op("Pad", []string{x, b.Ints(0, 0, 1, 1, 0, 0, 1, 1)}, onnx.AttrString("mode", "wrap"))
			out(b.Op("Conv", []string{p, b.Const(k)}), 1, h, w)
		default:
			return fmt.Errorf("pad %q", pad)
		}
	case "pixels": // each by itself, with part of a ramp across the columns
		ramp, steep := make([]float32, w), float32(o.int("ramp", 0))/100
		for i := range ramp {
			ramp[i] = steep * float32(i)
		}
		out(b.Op("Tanh", []string{b.Op("Add", []string{x, b.Const(tensor.FromFloat32(ramp, 1, 1, 1, w))})}), c, h, w)
	case "twoheads": // the second output is not symmetric
		m := b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{x})})
		y := b.Op("Gemm", []string{m, b.Const(weights(seed, c, classes)), b.Const(weights(seed+1, classes))},
			onnx.AttrFloat("alpha", 8))
		z := dense(x, c*h*w)
		for i, v := range []string{y, z} {
			head := b.Op("Identity", []string{v})
			nodes := b.Graph().GetNode()
			nodes[len(nodes)-1].Output[0] = []string{"fine", "broken"}[i]
			_ = head
			b.Output([]string{"fine", "broken"}[i], f32, batch, classes)
		}
	case "random": // drops a tenth of the pixels by chance
		r := b.Op("RandomUniformLike", []string{x})
		keep := b.Op("Cast", []string{b.Op("Greater", []string{r, b.Const(tensor.FromFloat32([]float32{0.1}, 1))})},
			onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
		out(dense(b.Op("Mul", []string{x, keep}), c*h*w), classes)
	case "norm": // invariant, by an operator that has no derivative here
		m := b.Op("Flatten", []string{b.Op("GlobalLpPool", []string{x}, onnx.AttrInt("p", 2))})
		out(b.Op("Gemm", []string{m, b.Const(weights(seed, c, classes)), b.Const(weights(seed+1, classes))}), classes)
	case "layers": // three layers with names; the second kernel is not symmetric
		name := func(s string) {
			nodes := b.Graph().GetNode()
			nodes[len(nodes)-1].Name = &s
		}
		k := tensor.FromFloat32([]float32{.5, 1, .5, 1, 4, 1, .5, 1, .5}, 1, 1, 3, 3)
		y := b.Op("Conv", []string{x, b.Const(k)}, onnx.AttrInts("pads", 1, 1, 1, 1))
		name("first")
		y = b.Op("Conv", []string{y, b.Const(tensor.FromFloat32([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, 1, 3, 3))},
			onnx.AttrInts("pads", 1, 1, 1, 1))
		name("second")
		y = b.Op("Relu", []string{b.Op("Sub", []string{y, b.Const(tensor.FromFloat32([]float32{8}, 1))})})
		name("bend")
		out(b.Op("Gemm", []string{
			b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{y})}),
			b.Const(weights(seed, c, classes)), b.Const(weights(seed+1, classes)),
		}), classes)
	case "strided": // a kernel that is symmetric under D4, on every fourth pixel
		k := tensor.FromFloat32([]float32{.5, 1, .5, 1, 4, 1, .5, 1, .5}, 1, 1, 3, 3)
		y := b.Op("Conv", []string{x, b.Const(k)}, onnx.AttrInts("pads", 1, 1, 1, 1), onnx.AttrInts("strides", 4, 4))
		out(b.Op("Gemm", []string{
			b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{b.Op("Relu", []string{y})})}),
			b.Const(weights(seed, c, classes)), b.Const(weights(seed+1, classes)),
		}), classes)
	case "words": // answers strings
		b.Output(b.Op("Cast", []string{dense(x, c*h*w)}, onnx.AttrInt("to", int64(onnxpb.TensorProto_STRING))),
			tensor.DType(onnxpb.TensorProto_STRING), batch, classes)
	case "twoinputs":
		y := b.Input("y", f32, batch, c, h, w)
		out(dense(b.Op("Add", []string{x, y}), c*h*w), classes)
	case "foreignop":
		y := b.Op("Flatten", []string{x})
		b.Header().OpsetImport = append(b.Header().OpsetImport,
			&onnxpb.OperatorSetIdProto{Domain: new("my.ops"), Version: new(int64(1))})
		y = b.Op("Secret", []string{y})
		g := b.Graph()
		g.Node[len(g.Node)-1].Domain = new("my.ops")
		out(y, classes)
	case "float64":
		k := tensor.New(tensor.Float64, 1, c, 3, 3)
		y := b.Op("Identity", []string{b.Op("Conv", []string{x, b.Const(k)})})
		b.Output(y, tensor.Float64, batch, 1, h-2, w-2)
	case "onescore":
		classes = 1
		out(dense(x, c*h*w), 1)
	default:
		return fmt.Errorf("kind %q", kind)
	}
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	if n := o.int("cut", 0); n > 0 {
		raw = raw[:n]
	}
	return os.WriteFile(name, raw, 0o644)
}

// writePictures writes n PNG images of h x w below a folder for each of the classes, in turn. Pixels are random up to
// 200 but for the lower right corner, which is white, so that an element of an orbit can be told by one pixel. With
// blank=1 they are grey, with scene=1 grey but for an oblong bump near the middle; sizes=K makes K sizes from h x w on.
func writePictures(name string, o *options) error {
	n, h, w, c := o.int("n", 6), o.int("h", 8), o.int("w", 8), o.int("c", 1)
	classes, first, blank := o.int("classes", 2), o.int("first", 0), o.int("blank", 0) != 0
	scene, many := o.int("scene", 0) != 0, o.int("sizes", 0)
	small := [2]int{h, w}
	r := rand.New(rand.NewPCG(uint64(o.int("seed", 1)), 1))
	for i := range n {
		if many > 0 { // of so many sizes in turn, some upright
			if h, w = small[0]+i%many, small[1]+3*(i%many); i%3 == 1 {
				h, w = w, h
			}
		}
		side := float64(min(h, w))
		bump := [2]float64{float64(h)/2 + side*(r.Float64()-0.5)/5, float64(w)/2 + side*(r.Float64()-0.5)/5}
		height, wide := 40+80*r.Float64(), side*(0.06+0.06*r.Float64())
		var m draw
		if c == 1 {
			m = image.NewGray(image.Rect(0, 0, w, h))
		} else {
			m = image.NewNRGBA(image.Rect(0, 0, w, h))
		}
		for y := range h {
			for x := range w {
				p := color.NRGBA{uint8(r.IntN(200)), uint8(r.IntN(200)), uint8(r.IntN(200)), 255}
				if c == 1 {
					p.G, p.B = p.R, p.R
				}
				if scene {
					dy, dx := float64(y)-bump[0], float64(x)-bump[1]
					v := uint8(110 + height*math.Exp(-(dy*dy+2*dx*dx)/(wide*wide)))
					p = color.NRGBA{v, v, v, 255}
				} else if blank {
					p = color.NRGBA{90, 90, 90, 255}
				} else if y == h-1 && x == w-1 {
					p = color.NRGBA{255, 255, 255, 255}
				}
				m.Set(x, y, p)
			}
		}
		dir := name
		if classes > 0 {
			dir = filepath.Join(name, strconv.Itoa(first+i%classes))
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.png", i)), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeThousand puts a thousand text files into a folder.
func writeThousand(name string, _ *options) error {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return err
	}
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(name, fmt.Sprintf("%03d.txt", i)), []byte("a note\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// draw is an image that can be drawn on.
type draw interface {
	image.Image
	Set(x, y int, c color.Color)
}

// writeBigPNG writes the header of an 8-bit grey PNG of w x h and no pixels.
func writeBigPNG(name string, o *options) error {
	b := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
		body := append([]byte(kind), data...)
		b = append(b, body...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
	}
	var head []byte
	head = binary.BigEndian.AppendUint32(head, uint32(o.int("w", 20000)))
	head = binary.BigEndian.AppendUint32(head, uint32(o.int("h", 20000)))
	chunk("IHDR", append(head, 8, 0, 0, 0, 0))
	chunk("IDAT", nil)
	chunk("IEND", nil)
	return os.WriteFile(name, b, 0o644)
}

// writeIDX writes an IDX file of bytes whose header says shape. Options: bytes (as many instead of those that the shape
// takes), values=label (0, 1, ... below classes, from first) or noise, kind (third byte of the header).
func writeIDX(name string, o *options) error {
	shape := o.ints("shape", "6x8x8")
	n := 1
	b := []byte{0, 0, byte(o.int("kind", 8)), byte(len(shape))}
	for _, d := range shape {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
		n *= d
	}
	values, classes, first := o.text("values", "noise"), o.int("classes", 2), o.int("first", 0)
	r := rand.New(rand.NewPCG(uint64(o.int("seed", 1)), 2))
	for i := range o.int("bytes", n) {
		switch values {
		case "noise":
			b = append(b, byte(r.IntN(256)))
		case "label":
			b = append(b, byte(first+i%classes))
		default:
			return fmt.Errorf("values %q", values)
		}
	}
	return os.WriteFile(name, b, 0o644)
}

// writeNPY writes random float32 in [0, 1) with a header that says shape. Options: nan, inf (index of such a value),
// values (as many instead of those that the shape takes).
func writeNPY(name string, o *options) error {
	shape := o.ints("shape", "6x8x8")
	n := 1
	var axes []string
	for _, d := range shape {
		n *= d
		axes = append(axes, strconv.Itoa(d))
	}
	head := "{'descr': '<f4', 'fortran_order': False, 'shape': (" + strings.Join(axes, ", ") + ",), }"
	for (len(head)+11)%64 != 0 {
		head += " "
	}
	head += "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	r := rand.New(rand.NewPCG(uint64(o.int("seed", 1)), 3))
	nan, inf := o.int("nan", -1), o.int("inf", -1)
	for i := range o.int("values", n) {
		v := r.Float32()
		if i == nan {
			v = float32(math.NaN())
		}
		if i == inf {
			v = float32(math.Inf(1))
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return os.WriteFile(name, b, 0o644)
}

// writeForeign writes the first bytes of a file of another kind.
func writeForeign(name string, o *options) error {
	var b []byte
	switch kind := o.text("kind", ""); kind {
	case "empty":
	case "torch":
		b = []byte("PK\x03\x04\x00\x00\x08\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
			"\x00\x10\x00\x12\x00archive/data.pklFB")
	case "torchscript": // weights first, the names of all files last
		b = append([]byte("PK\x03\x04\x00\x00\x08\x08script/data/0"), make([]byte, 8192)...)
		b = append(b, "PK\x01\x02script/data/0PK\x01\x02script/data.pklPK\x01\x02script/code/x.py"...)
	case "tflite":
		b = append([]byte("\x1c\x00\x00\x00TFL3"), make([]byte, 64)...)
	case "html":
		b = []byte("<!DOCTYPE html>\n<html><title>404</title></html>\n")
	case "text":
		b = []byte("just words\n")
	case "elf": // an ELF header of another processor: 64 bits, little endian, shared object, for PowerPC 64
		b = append([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x15\x00\x01\x00\x00\x00"),
			make([]byte, 4096)...)
	case "pe":
		b = append([]byte("MZ"), make([]byte, 4096)...)
		b[0x3c] = 0x80
		copy(b[0x80:], "PE\x00\x00\x64\x86")
		b[0x80+23] = 0x20 // a library
	case "macho":
		b = append([]byte("\xcf\xfa\xed\xfe\x07\x00\x00\x01\x03\x00\x00\x00\x06\x00\x00\x00"), make([]byte, 4096)...)
	default:
		return fmt.Errorf("kind %q", kind)
	}
	return os.WriteFile(name, b, 0o644)
}
