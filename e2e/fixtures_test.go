package e2e

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
)

// numbers are the same on every machine, between -1 and 1.
func numbers(seed uint64, shape ...int) tensor.Tensor {
	r, n := rand.New(rand.NewPCG(seed, 0)), 1
	for _, d := range shape {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.IntN(2001)-1000) / 1000
	}
	return tensor.FromFloat32(v, shape...)
}

// ellipses are a·u² + 2b·uv + c·v² = const, u to the right of a middle and v below it, in pixels from the middle of the
// picture.
type ellipses struct{ a, b, c, right, down float64 }

// tilt is upright in no frame, and its middle is not that of the picture.
var tilt = ellipses{a: 1, b: 0.4, c: 1.3, right: 1.5, down: -1}

// from is a place from the middle of the ellipses.
func (e ellipses) from(right, down float64) (u, v float64) { return right - e.right, down - e.down }

// flow is along which way a place moves on its ellipse, at which area stays what it is.
func (e ellipses) flow(right, down float64) (x, y float64) {
	u, v := e.from(right, down)
	return e.b*u + e.c*v, -e.a*u - e.b*v
}

// model writes a small ONNX model over grey pictures of size x size:
//
//	scores  three scores that depend on where each pixel is
//	image   a picture of the same size, by a kernel that is symmetric
//	crooked a picture of the same size, by a kernel that is not
//	mask    two channels, the larger of which is the class of a pixel
//	tilted  four scores that stay where a picture flows along the ellipses of [tilt]
func model(t *testing.T, file, kind string, size int, seed uint64) string {
	t.Helper()
	b := onnx.NewBuilder(19)
	b.Header().IrVersion = new(int64(8))
	x := b.Input("x", tensor.Float32, "batch", 1, size, size)
	conv := func(k tensor.Tensor) string {
		return b.Op("Conv", []string{x, b.Const(k)}, onnx.AttrInts("pads", 1, 1, 1, 1))
	}
	switch kind {
	case "scores":
		y := b.Op("Gemm", []string{
			b.Op("Flatten", []string{x}), b.Const(numbers(seed, size*size, 3)),
			b.Const(numbers(seed+1, 3)),
		})
		b.Output(b.Op("Identity", []string{y}), tensor.Float32, "batch", 3)
	case "image":
		b.Output(b.Op("Identity",
			[]string{conv(tensor.FromFloat32([]float32{.05, .1, .05, .1, .4, .1, .05, .1, .05}, 1, 1, 3, 3))}),
			tensor.Float32, "batch", 1, size, size)
	case "crooked":
		b.Output(b.Op("Identity",
			[]string{conv(tensor.FromFloat32([]float32{0, .1, .3, 0, .3, .2, 0, .1, 0}, 1, 1, 3, 3))}), tensor.Float32,
			"batch", 1, size, size)
	case "mask":
		b.Output(b.Op("Identity", []string{conv(numbers(seed, 2, 1, 3, 3))}), tensor.Float32, "batch", 2, size, size)
	case "tilted":
		w := make([]float32, 0, 4*size*size)
		for i := range size * size {
			u, v := tilt.from(float64(i%size)-float64(size-1)/2, float64(i/size)-float64(size-1)/2)
			q := tilt.a*u*u + 2*tilt.b*u*v + tilt.c*v*v
			for k := range 4 {
				s := 2.5 + 0.5*float64(k)
				w = append(w, float32(math.Exp(-q/(2*s*s))/(s*s)))
			}
		}
		flat := b.Op("Flatten", []string{b.Op("Mul", []string{x, x})})
		y := b.Op("MatMul", []string{flat, b.Const(tensor.FromFloat32(w, size*size, 4))})
		b.Output(b.Op("Identity", []string{y}), tensor.Float32, "batch", 4)
	default:
		t.Fatalf("kind %q", kind)
	}
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// pictures writes n grey pictures of size x size below a folder for each of some classes, in turn. Names hold what file
// names may.
func pictures(t *testing.T, dir string, n, size, classes int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		m := image.NewGray(image.Rect(0, 0, size, size))
		cx, cy := 1+r.IntN(size-2), 1+r.IntN(size-2)
		for y := range size {
			for x := range size {
				d := (x-cx)*(x-cx) + (y-cy)*(y-cy)
				m.SetGray(x, y, color.Gray{Y: uint8(min(255, 40+r.IntN(30)+180/(1+d)))})
			}
		}
		class := filepath.Join(dir, strconv.Itoa(i%classes))
		if err := os.MkdirAll(class, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(class, fmt.Sprintf("%03d ñ数 & <b>.png", i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, m); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command runs nero with arguments in a folder and returns what it prints.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	bin, _ := program(t)
	c := exec.CommandContext(t.Context(), bin, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("nero %q: %v\n%s", args, err, out)
	}
	return string(out)
}
