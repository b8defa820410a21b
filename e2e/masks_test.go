package e2e

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"

	"github.com/chromedp/chromedp/kb"

	"nero/internal/slow"
)

// levels are the grey levels of road, car and person in the scenes.
var levels = [...]float64{0.15, 0.5, 0.9}

// segmenter writes a network that answers a class for every pixel of a scene: the nearest of three grey levels, after
// a blur over so many pixels, so that it is wrong along edges as trained ones are. With tilt the road's score rises to
// the bottom of the picture, so that what lies low is missed: such a network depends on where things are.
func segmenter(t *testing.T, file string, size, blur int, tilt float32) {
	t.Helper()
	b := onnx.NewBuilder(19)
	b.Header().IrVersion = new(int64(8))
	x := b.Input("x", tensor.Float32, "batch", 1, size, size)
	even := make([]float32, blur*blur)
	for i := range even {
		even[i] = 1 / float32(blur*blur)
	}
	p := int64(blur / 2)
	y := b.Op("Conv", []string{x, b.Const(tensor.FromFloat32(even, 1, 1, blur, blur))},
		onnx.AttrInts("pads", p, p, p, p))
	var k, bias []float32
	for _, l := range levels {
		k, bias = append(k, float32(20*l)), append(bias, float32(-10*l*l))
	}
	y = b.Op("Conv", []string{y, b.Const(tensor.FromFloat32(k, 3, 1, 1, 1)), b.Const(tensor.FromFloat32(bias, 3))})
	ramp := make([]float32, 3*size*size)
	for i := range size * size {
		ramp[i] = tilt * float32(i/size) / float32(size-1)
	}
	b.Output(b.Op("Add", []string{y, b.Const(tensor.FromFloat32(ramp, 1, 3, size, size))}), tensor.Float32, "batch", 3,
		size, size)
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// scenes writes n noisy pictures with a car and a person on a road, and the mask of each, whose edge is void.
func scenes(t *testing.T, dir string, n, size int) {
	t.Helper()
	for i := range n {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		photo, mask := image.NewGray(image.Rect(0, 0, size, size)), image.NewGray(image.Rect(0, 0, size, size))
		cy, cx, py, px := 4+r.IntN(size/2), 4+r.IntN(size/4), 6+r.IntN(size-14), size/2+r.IntN(size/3)
		for y := range size {
			for x := range size {
				class := 0
				if y >= cy && y < cy+size/4 && x >= cx && x < cx+size/3 {
					class = 1
				}
				if (y-py)*(y-py)/4+(x-px)*(x-px) <= size/8 {
					class = 2
				}
				photo.SetGray(x, y, color.Gray{Y: uint8(255*levels[class]) + uint8(r.IntN(24))})
				if y < 2 || x < 2 || y >= size-2 || x >= size-2 {
					class = 255
				}
				mask.SetGray(x, y, color.Gray{Y: uint8(class)})
			}
		}
		for name, m := range map[string]image.Image{"images": photo, "masks": mask} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			f, err := os.Create(filepath.Join(dir, name, fmt.Sprintf("street %02d.png", i)))
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
}

// segmented computes the run of two segmentation networks, one of which misses what lies low.
func segmented(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const size = 48
	segmenter(t, filepath.Join(dir, "upright.onnx"), size, 3, 4)
	segmenter(t, filepath.Join(dir, "anywhere.onnx"), size, 3, 0)
	scenes(t, filepath.Join(dir, "streets"), 12, size)
	study := `models: [upright.onnx, anywhere.onnx]
data: {images: streets, classes: [road, car, person]}
task: segmentation
group: D4
`
	if err := os.WriteFile(filepath.Join(dir, "streets.yaml"), []byte(study), 0o644); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "run", "-q", "streets.yaml", "-o", "runs/streets")
	return dir
}

// The pictures and the numbers of the masks that are shown.
const (
	maskPixels = `[...document.querySelectorAll('#masks canvas')].map(c => [...new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)].reduce((t, v) => (31 * t + v) % 4294967291, 7))`
	maskTable  = `[...document.querySelectorAll('#masks tbody tr')].map(r => [...r.children].map(c => c.textContent.trim()))`
	maskSides  = `[...document.querySelectorAll('#masks .maskside')].map(x => x.querySelectorAll('canvas').length)`
)

// TestSegmentation opens the worst case of a segmentation run by pointer: picture, truth and answers as they are and
// moved, with the IoU of each class, which is what was recorded; by keyboard a class alone; on every screen; and the
// same in a report.
func TestSegmentation(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	chromium(t)
	dir := segmented(t)
	address := serve(t, filepath.Join(dir, "runs"))
	p := open(t, at(address, "/run/streets?v=1"), desktop)
	p.ready()
	p.live()
	if said := p.text(".in-words"); !strings.Contains(said, "upright reaches a mean IoU of") ||
		!strings.Contains(said, "when they are moved") {
		t.Errorf("the page begins with %q", said)
	}
	// The first of the gallery has masks beside its pictures, and opens by a click.
	p.click("#tab-gallery")
	first := "#explore .gallery li:first-child button"
	p.until(`document.querySelectorAll('` + first + ` .case-masks canvas').length === 3`)
	p.click(first)
	p.until(maskSides + `.join() === '4,4'`)
	p.live()
	// Its worst element, by what was recorded of all samples.
	p.is(`(() => { const s = __nero.state, st = s.data.stats[0].state.value.value, i = s.place.sample.value; return st.min[i] === Math.min(...st.min) && s.place.element.value === st.worst[i] })()`,
		true)
	// What is counted of the masks that are shown is what the metrics say of them.
	p.is(`(() => {
		const s = __nero.state, run = s.data.run.value, rows = `+maskTable+`, e = s.place.element.value, one = s.data.one.state.value.value;
		const close = (text, v) => v === null ? text === '–' || text === 'none' || text === 'NaN' : Math.abs(parseFloat(text) - v) < 6e-4;
		const of = name => run.metrics.findIndex(m => m.startsWith(name));
		return rows.length === 4 && rows.every((r, c) => [0, 1].every(m => {
			const k = of(c < 3 ? 'class_iou:' + c : 'miou');
			return close(r[1 + 2 * m], one.curves[m][k][run.orbit.identity]) && close(r[2 + 2 * m], one.curves[m][k][e]);
		}));
	})()`, true)
	worst := eval[[][]string](p, maskTable)
	if v := number64(t, worst[3][2]); v > 0.6 {
		t.Errorf("the worst case has a mean IoU of %v: the network that depends on where things are shows nothing", v)
	}
	p.keep("masks")
	p.axe("masks", "#masks")
	// The other way: from the card itself.
	p.press("#masks", "over the picture")
	p.until(`document.querySelector('#masks [aria-pressed=true]').textContent === 'over the picture'`)
	p.drawn()
	over := eval[[]float64](p, maskPixels)
	p.keep("masks-over")
	p.press("#masks", "what is wrong")
	p.until(`JSON.stringify(` + maskPixels + `) !== ` + quote(string(encode(over))))
	p.keep("masks-wrong")
	p.press("#masks", "classes")
	p.drawn()
	all := eval[[]float64](p, maskPixels)
	p.focus("#masks tbody tr:nth-child(2) button")
	p.keys(kb.Enter)
	p.until(`JSON.stringify(` + maskPixels + `) !== ` + quote(string(encode(all))))
	p.until(`document.querySelector('#masks tr.on [aria-pressed=true]') !== null`)
	p.keep("masks-car")
	p.press("#masks", "all classes again")
	p.is(maskPixels, all)
	p.press("#masks", "worst case of B")
	p.is(`(() => { const s = __nero.state, st = s.data.stats[1].state.value.value; return st.min[s.place.sample.value] === Math.min(...st.min) })()`,
		true)
	// Who does not see them is told what is on them.
	for _, said := range eval[[]string](p,
		`[...document.querySelectorAll('#masks canvas')].map(c => c.getAttribute('aria-label'))`) {
		if !strings.HasPrefix(said, "Picture") && !strings.Contains(said, "road ") {
			t.Errorf("a mask is called %q", said)
		}
	}
	for name, s := range map[string]screen{
		"night": {width: 360, height: 740, scheme: "dark", touch: true},
		"phone": {width: 360, height: 740, scheme: "light", touch: true},
		"half":  {width: 768, height: 1024, scheme: "dark"},
		"dark":  {width: 1440, height: 900, scheme: "dark"},
		"wide":  {width: 2560, height: 1440, scheme: "light"},
	} {
		q := open(t, at(address, "/run/streets?v=1&i=0&g=0,180"), s)
		q.ready()
		q.live()
		q.until(maskSides + `.join() === '4,4'`)
		q.keep("masks-" + name)
		q.fits()
		q.axe("masks, "+name, "#masks")
	}

	// A report has them of the samples that it keeps, and asks nobody.
	file := filepath.Join(t.TempDir(), "streets.html")
	command(t, dir, "report", "-q", "runs/streets", "-o", file)
	r := open(t, fromDisk(file), desktop)
	r.ready()
	r.press("#masks", "worst case of A")
	r.until(maskSides + `.join() === '4,4'`)
	r.is(maskTable, worst)
	r.click("#tab-gallery")
	r.until(`document.querySelectorAll('` + first + ` .case-masks canvas').length === 3`)
	r.keep("masks-report")
	r.axe("masks in a report", "#masks")
	r.quiet()
}
