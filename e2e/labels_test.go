package e2e

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"

	"nero/internal/slow"
)

// TestLabelsInAnotherOrder shows a run whose classes are numbered otherwise than the model numbers them: the page says
// so before any number.
func TestLabelsInAnotherOrder(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	work := t.TempDir()
	b := onnx.NewBuilder(19)
	b.Header().IrVersion = new(int64(8))
	x := b.Input("x", tensor.Float32, "batch", 1, 4, 4)
	// dark, middling and bright, by the upper envelope of three lines
	slopes := make([]float32, 16*3)
	for i := range 16 {
		slopes[3*i+1], slopes[3*i+2] = 1./16, 2./16
	}
	b.Output(b.Op("Gemm", []string{
		b.Op("Flatten", []string{x}), b.Const(tensor.FromFloat32(slopes, 16, 3)),
		b.Const(tensor.FromFloat32([]float32{0, -0.33, -1}, 3)),
	}), tensor.Float32, "batch", 3)
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "m.onnx"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, names := range map[string][3]string{"right": {"a", "b", "c"}, "wrong": {"z", "a", "b"}} {
		for class, name := range names {
			dir := filepath.Join(work, folder, name)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for i := range 8 {
				m := image.NewGray(image.Rect(0, 0, 4, 4))
				for p := range m.Pix {
					m.Pix[p] = color.Gray{Y: uint8(25 + 100*class + i)}.Y
				}
				f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)+".png"))
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
		}
		command(t, work, "run", "-q", "m.onnx", "--data", folder, "--group", "C4", "-o", "run-"+folder)
	}
	address := serve(t, work)
	p := open(t, at(address, "/run/run-wrong?v=1"), desktop)
	p.ready()
	for _, what := range []string{"m: Right on 0 of 24 inputs as they are", "label 0 (a) as class 1"} {
		p.is(`document.querySelector('[aria-label=Warnings]')?.textContent.includes('`+what+`') ?? false`, true)
	}
	p.keep("labels-in-another-order")
	p.axe("labels in another order")
	p = open(t, at(address, "/run/run-right?v=1"), desktop)
	p.ready()
	p.is(`document.querySelector('[aria-label=Warnings]') === null`, true)
}
