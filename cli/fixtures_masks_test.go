package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"

	"nero/data/tensor"
	"nero/model/onnx"

	"github.com/rogpeppe/go-internal/testscript"
)

// masked are the commands of the scripts that write segmentation networks and what they read.
var masked = map[string]func(*testscript.TestScript, bool, []string){
	"segmenter": fixture(writeSegmenter),
	"shapes":    fixture(writeShapes),
	"outlines":  fixture(writeOutlines),
	"agreeing":  fixture(writeAgreeing),
}

// grey levels of the classes background, square and disc of writeShapes.
var levels = [...]float64{0, 0.5, 1}

// writeSegmenter writes a network that tells the shapes of writeShapes by their grey alone, with a convolution of 1 x
// 1: logits 2·l·x - l² for the level l of each class, whose argmax is the nearest level. It is right everywhere and
// equivariant under everything that moves pixels. With tilt the logits of the background rise by tilt from the top row
// to the bottom row, so that shapes are missed where they lie low. Options: h, w, tilt (in hundredths), answer=labels
// (N x h x w numbers), binary (one channel: how much a pixel is a shape) or small (half the size).
func writeSegmenter(name string, o *options) error {
	h, w, tilt, answer := o.int("h", 16), o.int("w", 16), o.int("tilt", 0), o.text("answer", "logits")
	b := onnx.NewBuilder(19)
	b.Header().IrVersion = new(int64(8))
	x := b.Input("x", tensor.Float32, "batch", 1, h, w)
	var k, bias []float32
	for _, l := range levels {
		k, bias = append(k, float32(2*l)), append(bias, float32(-l*l))
	}
	y := b.Op("Conv", []string{
		x, b.Const(tensor.FromFloat32(k, len(k), 1, 1, 1)), b.Const(tensor.FromFloat32(bias, len(k))),
	})
	ramp := make([]float32, len(k)*h*w)
	for i := range h * w {
		ramp[i] = float32(tilt) / 100 * float32(i/w) / float32(max(h-1, 1))
	}
	y = b.Op("Add", []string{y, b.Const(tensor.FromFloat32(ramp, 1, len(k), h, w))})
	shape, kind := []any{"batch", len(k), h, w}, tensor.Float32
	switch answer {
	case "logits":
	case "labels":
		b.Op("ArgMax", []string{y}, onnx.AttrInt("axis", 1), onnx.AttrInt("keepdims", 0))
		shape, kind = []any{"batch", h, w}, tensor.Int64
	case "binary":
		b.Op("Mul", []string{x, b.Const(tensor.FromFloat32([]float32{2}, 1))})
		shape = []any{"batch", 1, h, w}
	case "small":
		b.Op("MaxPool", []string{y}, onnx.AttrInts("kernel_shape", 2, 2), onnx.AttrInts("strides", 2, 2))
		shape = []any{"batch", len(k), h / 2, w / 2}
	default:
		return fmt.Errorf("answer=%s is not known", answer)
	}
	called(b, "classes")
	b.Output("classes", kind, shape...)
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(name, raw, 0o644)
}

// writeShapes writes a folder with images and masks of n pictures of h x w pixels: a square of class 1 and a disc of
// class 2 at seeded places on a background of class 0. Options: n, h, w, seed, void (1: the edge of the picture is
// void), masks (name of the folder, "" for masks), first (number of the first picture), only=images, times
// (of the classes, for the numbers in the files).
func writeShapes(name string, o *options) error {
	n, h, w, seed, void := o.int("n", 6), o.int("h", 16), o.int("w", 16), uint64(o.int("seed", 1)), o.int("void", 0)
	masks, only, times := o.text("masks", "masks"), o.text("only", ""), o.int("times", 1)
	for _, dir := range []string{"images", masks} {
		if err := os.MkdirAll(filepath.Join(name, dir), 0o755); err != nil {
			return err
		}
	}
	for i := range n {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		side, radius := 3+r.IntN(h/4), 2+r.IntN(h/6)
		sy, sx := r.IntN(h-side), r.IntN(w/2)
		dy, dx := radius+r.IntN(h-2*radius), w/2+r.IntN(w/2)
		photo, mask := image.NewGray(image.Rect(0, 0, w, h)), image.NewGray(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				class := 0
				if y >= sy && y < sy+side && x >= sx && x < sx+side {
					class = 1
				}
				if (y-dy)*(y-dy)+(x-dx)*(x-dx) <= radius*radius {
					class = 2
				}
				photo.SetGray(x, y, color.Gray{uint8(255*levels[class] + 0.5)})
				if void == 1 && (y == 0 || x == 0 || y == h-1 || x == w-1) {
					class = 255
				}
				if class < 255 {
					class *= times
				}
				mask.SetGray(x, y, color.Gray{uint8(class)})
			}
		}
		for dir, m := range map[string]*image.Gray{"images": photo, masks: mask} {
			if only != "" && dir != only {
				continue
			}
			if err := writePNG(filepath.Join(name, dir, fmt.Sprintf("%03d.png", i)), m); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeOutlines writes the masks of writeShapes in the folder of=DIR as a JSON file of COCO: an object of run lengths
// for each class but 0, with numbers of categories that are no numbers of classes, and a crowd where the mask is void.
func writeOutlines(name string, o *options) error {
	type object map[string]any
	dir := filepath.Join(filepath.Dir(name), o.text("of", "seg"))
	doc := struct {
		Images      []object `json:"images"`
		Categories  []object `json:"categories"`
		Annotations []object `json:"annotations"`
	}{Categories: []object{{"id": 90, "name": "disc"}, {"id": 7, "name": "square"}}}
	files, err := filepath.Glob(filepath.Join(dir, "masks", "*.png"))
	if err != nil {
		return err
	}
	for i, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		m, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			return err
		}
		r := m.Bounds()
		doc.Images = append(doc.Images, object{
			"id": i, "file_name": filepath.Base(f), "width": r.Dx(), "height": r.Dy(),
		})
		for class, category := range map[uint8]int{1: 7, 2: 90, 255: 7} {
			runs := []int{0}
			for x := range r.Dx() {
				for y := range r.Dy() {
					g, _ := m.At(x, y).(color.Gray)
					if (g.Y == class) != (len(runs)%2 == 0) {
						runs = append(runs, 0)
					}
					runs[len(runs)-1]++
				}
			}
			doc.Annotations = append(doc.Annotations, object{
				"id": len(doc.Annotations), "image_id": i, "category_id": category, "iscrowd": class / 255,
				"segmentation": object{"size": []int{r.Dy(), r.Dx()}, "counts": runs},
			})
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}

// writeAgreeing writes a network that is a metric: the share of the pixels whose class is that of the reference.
func writeAgreeing(name string, _ *options) error {
	b := onnx.NewBuilder(17)
	p := b.Input("prediction", tensor.Float32, "batch", "rows", "columns")
	r := b.Input("reference", tensor.Float32, "batch", "rows", "columns")
	one := b.Const(tensor.FromFloat32([]float32{1}, 1))
	off := b.Op("Min", []string{b.Op("Abs", []string{b.Op("Sub", []string{p, r})}), one})
	share := b.Op("Sub", []string{one, b.Op("ReduceMean", []string{off}, onnx.AttrInts("axes", 1, 2),
		onnx.AttrInt("keepdims", 0))})
	b.Output(share, tensor.Float32, "batch")
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(name, raw, 0o644)
}

func writePNG(name string, m image.Image) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	return png.Encode(f, m)
}
