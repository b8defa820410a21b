package cli

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"

	"github.com/rogpeppe/go-internal/testscript"
)

// moving are the commands of the scripts that write detectors, estimators of flow and what they read.
var moving = map[string]func(*testscript.TestScript, bool, []string){
	"detector":  fixture(writeDetector),
	"estimator": fixture(writeEstimator),
	"spots":     fixture(writeSpots),
	"pairs":     fixture(writePairs),
	"flo":       fixture(writeFlo),
}

// called gives the last node's output a name.
func called(b *onnx.Builder, name string) {
	nodes := b.Graph().GetNode()
	nodes[len(nodes)-1].Output[0] = name
}

// writeDetector writes a model that finds the one bright square of a dark picture of h x w exactly: its box is size
// pixels wide and high around the center of all that is brighter than half, so it moves as the square does while the
// window holds all of it. Outputs boxes [N, 1, 4], two corners in pixels, and scores [N, 1, classes]: 0.9 for the class
// which, 0.1 for others. Options: h, w, c, size, classes, which, only=boxes (leaves the scores out), numbers (of a box,
// 4).
func writeDetector(name string, o *options) error {
	h, w, c, size := o.int("h", 32), o.int("w", 32), o.int("c", 1), o.int("size", 8)
	classes, which, numbers := o.int("classes", 2), o.int("which", 0), o.int("numbers", 4)
	only := o.text("only", "")
	b := onnx.NewBuilder(19)
	b.Header().IrVersion = new(int64(8))
	x := b.Input("x", tensor.Float32, "batch", c, h, w)
	one := func(v float32) string { return b.Const(tensor.FromFloat32([]float32{v}, 1)) }
	column := func(of func(row, col int) float64) string {
		v := make([]float32, c*h*w)
		for i := range v {
			v[i] = float32(of(i%(h*w)/w, i%w))
		}
		return b.Const(tensor.FromFloat32(v, c*h*w, 1))
	}
	p := b.Op("Flatten", []string{b.Op("Relu", []string{b.Op("Sub", []string{x, one(0.5)})})})
	sum := b.Op("Add", []string{b.Op("MatMul", []string{p, column(func(int, int) float64 { return 1 })}), one(1e-6)})
	at := func(of func(row, col int) float64) string {
		return b.Op("Div", []string{b.Op("MatMul", []string{p, column(of)}), sum})
	}
	cx := at(func(_, col int) float64 { return float64(col) + 0.5 })
	cy := at(func(row, _ int) float64 { return float64(row) + 0.5 })
	half := one(float32(size) / 2)
	edges := []string{
		b.Op("Sub", []string{cx, half}), b.Op("Sub", []string{cy, half}), b.Op("Add", []string{cx, half}),
		b.Op("Add", []string{cy, half}),
	}
	for len(edges) < numbers {
		edges = append(edges, cx)
	}
	b.Op("Reshape", []string{b.Op("Concat", edges, onnx.AttrInt("axis", 1)), b.Ints(-1, 1, int64(numbers))})
	called(b, "boxes")
	b.Output("boxes", tensor.Float32, "batch", 1, numbers)
	if only != "boxes" {
		none := b.Op("Mul", []string{sum, one(0)})
		var scores []string
		for k := range classes {
			v := float32(0.1)
			if k == which {
				v = 0.9
			}
			scores = append(scores, b.Op("Add", []string{none, one(v)}))
		}
		b.Op("Reshape", []string{b.Op("Concat", scores, onnx.AttrInt("axis", 1)), b.Ints(-1, 1, int64(classes))})
		called(b, "scores")
		b.Output("scores", tensor.Float32, "batch", 1, classes)
	}
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(name, raw, 0o644)
}

// writeEstimator writes a model of pairs [N, 2, h, w] that returns channels x h x w numbers: a hundredth of the frames.
// Options: h, w, channels.
func writeEstimator(name string, o *options) error {
	h, w, channels := o.int("h", 16), o.int("w", 16), o.int("channels", 2)
	b := onnx.NewBuilder(19)
	b.Header().IrVersion = new(int64(8))
	x := b.Input("pair", tensor.Float32, "batch", 2, h, w)
	y := b.Op("Mul", []string{x, b.Const(tensor.FromFloat32([]float32{0.01}, 1))})
	b.Op("Slice", []string{
		b.Op("Concat", []string{y, y}, onnx.AttrInt("axis", 1)), b.Ints(0), b.Ints(int64(channels)),
		b.Ints(1),
	})
	called(b, "flow")
	b.Output("flow", tensor.Float32, "batch", channels, h, w)
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(name, raw, 0o644)
}

// grey writes a grey picture.
func grey(name string, h, w int, at func(row, col int) uint8) error {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for row := range h {
		for col := range w {
			m.SetGray(col, row, color.Gray{Y: at(row, col)})
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := png.Encode(f, m); err != nil {
		return err
	}
	return f.Close()
}

// writeSpots writes photos of one white square on black, with annotations of Pascal VOC: JPEGImages/000.png and
// Annotations/000.xml. The square of photo i lies i pixels right of the middle and below it. Options: n, h, w, size,
// label, bare=1 (no annotations).
func writeSpots(dir string, o *options) error {
	n, h, w, size := o.int("n", 3), o.int("h", 64), o.int("w", 64), o.int("size", 8)
	label, bare := o.text("label", "spot"), o.int("bare", 0) != 0
	for i := range n {
		top, left := (h-size)/2+i, (w-size)/2+i
		id := fmt.Sprintf("%03d", i)
		err := grey(filepath.Join(dir, "JPEGImages", id+".png"), h, w, func(row, col int) uint8 {
			if row >= top && row < top+size && col >= left && col < left+size {
				return 255
			}
			return 0
		})
		if err != nil {
			return err
		}
		if bare {
			continue
		}
		note := fmt.Sprintf(
			"<annotation>\n<filename>%s.png</filename>\n<size><width>%d</width><height>%d</height></size>\n<object>"+
				"<name>%s</name>\n"+
				"<bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox></object>"+
				"\n</annotation>\n",
			id, w, h, label, left+1, top+1, left+size, top+size) // counted from 1, both ends inclusive
		if err := os.MkdirAll(filepath.Join(dir, "Annotations"), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "Annotations", id+".xml"), []byte(note), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writePairs writes n pairs of random frames, 000_a.png and 000_b.png. Options: n, h, w, flo=1 (a field of (1, 0)
// beside each).
func writePairs(dir string, o *options) error {
	n, h, w, flo := o.int("n", 2), o.int("h", 16), o.int("w", 16), o.int("flo", 0) != 0
	r := rand.New(rand.NewPCG(uint64(o.int("seed", 1)), 3))
	for i := range n {
		for _, frame := range []string{"a", "b"} {
			name := filepath.Join(dir, fmt.Sprintf("%03d_%s.png", i, frame))
			if err := grey(name, h, w, func(int, int) uint8 { return uint8(r.IntN(256)) }); err != nil {
				return err
			}
		}
		if flo {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.flo", i)), floBytes(h, w, 1, 0),
				0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// floBytes is a .flo file of one vector everywhere.
func floBytes(h, w int, u, v float32) []byte {
	b := []byte("PIEH") // 202021.25 in little-endian float32
	b = binary.LittleEndian.AppendUint32(b, uint32(w))
	b = binary.LittleEndian.AppendUint32(b, uint32(h))
	for range h * w {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(u))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// writeFlo writes a .flo file of h x w vectors (1, 0). Options: h, w, wrong=magic, nan, huge or order.
func writeFlo(name string, o *options) error {
	h, w := o.int("h", 16), o.int("w", 16)
	b := floBytes(h, w, 1, 0)
	switch wrong := o.text("wrong", ""); wrong {
	case "":
	case "magic":
		copy(b, "PIEX")
	case "nan": // u of the vector in row 1, column 2
		binary.LittleEndian.PutUint32(b[12+8*(w+2):], math.Float32bits(float32(math.NaN())))
	case "huge": // a header of more than fits anywhere
		binary.LittleEndian.PutUint32(b[4:], 1<<30)
		binary.LittleEndian.PutUint32(b[8:], 1<<30)
	case "order":
		for i := 0; i+4 <= len(b); i += 4 {
			b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
		}
	default:
		return fmt.Errorf("wrong=%s: want magic, nan, huge or order", strings.ToLower(wrong))
	}
	return os.WriteFile(name, b, 0o644)
}
