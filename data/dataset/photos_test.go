package dataset

import (
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"nero/data/space"
)

// texture is the intensity of a test photo at row r and column c.
func texture(r, c int) byte { return byte((17*r + 5*c + r*c) % 251) }

// texturePNG is a grey photo of texture.
func texturePNG(tb interface{ Fatal(...any) }, h, w int) []byte {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for r := range h {
		for c := range w {
			m.Pix[r*m.Stride+c] = texture(r, c)
		}
	}
	return pngOf(tb, m)
}

// vocBox is an object of an annotation: coordinates as Pascal VOC has them.
type vocBox struct {
	name           string
	x1, y1, x2, y2 any
}

// vocXML is an annotation of a photo.
func vocXML(filename string, h, w int, boxes ...vocBox) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<annotation><folder>x</folder><filename>%s</filename><path>/etc/passwd</path><size><width>"+
		"%d</width><height>%d</height><depth>3</depth></size>", filename, w, h)
	for _, o := range boxes {
		fmt.Fprintf(&b, "\n<object><name>%s</name><difficult>0</difficult><bndbox><xmin>%v</xmin><ymin>%v</ymin>"+
			"<xmax>%v</xmax><ymax>%v</ymax></bndbox></object>", o.name, o.x1, o.y1, o.x2, o.y2)
	}
	b.WriteString("</annotation>\n")
	return []byte(b.String())
}

// cells is a VOC folder of two photos of 20 x 30 px, the second without boxes.
func cells(tb interface{ Fatal(...any) }, boxes ...vocBox) fstest.MapFS {
	return memory(map[string][]byte{
		"d/JPEGImages/a.png":        texturePNG(tb, 20, 30),
		"d/JPEGImages/b.png":        texturePNG(tb, 20, 30),
		"d/Annotations/a.xml":       vocXML("a.png", 20, 30, boxes...),
		"d/Annotations/b.xml":       vocXML("b.png", 20, 30),
		"d/ImageSets/Main/test.txt": []byte("a\n"),
	})
}

// boxesOf is the target of a sample.
func boxesOf(tb interface{ Fatalf(string, ...any) }, s Sample) *space.Boxes {
	b, ok := s.Target.(*space.Boxes)
	if !ok {
		tb.Fatalf("the target of %s is a %T", s.ID, s.Target)
	}
	return b
}

// pixels is the value of a sample.
func pixels(tb interface{ Fatalf(string, ...any) }, s Sample) *space.Image {
	m, ok := s.Value.(*space.Image)
	if !ok {
		tb.Fatalf("%s is a %T", s.ID, s.Value)
	}
	return m
}

func TestCut(t *testing.T) {
	t.Parallel()
	// Edges: wbc (9, 5)-(14, 10), centre (11.5, 7.5), rounded (12, 8); rbc (12, 8)-(18, 12); far (27, 17)-(30, 20), on
	// the border.
	fsys := cells(t, vocBox{"wbc", 10, 6, 14, 10}, vocBox{"rbc", 13, 9, 18, 12}, vocBox{"far", 28, 18, 30, 20})
	ds, err := OpenFS(fsys,
		Spec{
			Images: "d", Classes: []string{"rbc", "wbc", "far"},
			Cut: Cut{Size: [2]int{10, 12}, Area: [2]float64{0.01, 1}},
		})
	if err != nil {
		t.Fatal(err)
	}
	if ids := ds.IDs(); !slices.Equal(ids, []string{"a#1", "a#2"}) || !slices.Equal(ds.Labels(), []int{1, 0}) {
		t.Fatalf("samples %v with labels %v, want a#1 and a#2 with 1 and 0", ids, ds.Labels())
	}
	if c, h, w := shapeOf(t, ds); c != 1 || h != 10 || w != 12 {
		t.Errorf("shape %d, %d, %d", c, h, w)
	}
	wantNotes := []string{
		"d: 2 of 3 objects are samples; 1 have a piece of 12 x 10 px that leaves the photo",
		"d: 1 of 2 photos have no box and give no sample",
	}
	if got := strings.Split(notesOf(t, ds), "\n"); !slices.Equal(got, wantNotes) {
		t.Errorf("notes %q, want %q", got, wantNotes)
	}
	s, err := ds.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	// The piece begins at row 8 - 5 and column 12 - 6.
	m := pixels(t, s)
	for r := range 10 {
		for c := range 12 {
			if got, want := m.Pix[r*12+c], float64(texture(r+3, c+6)); got != want {
				t.Fatalf("row %d, column %d is %v, want %v", r, c, got, want)
			}
		}
	}
	if s.Label != 1 || !slices.Equal(s.Tags, []string{"wbc"}) {
		t.Errorf("label %d, tags %v", s.Label, s.Tags)
	}
	want := []space.Box{
		{X1: 3, Y1: 2, X2: 8, Y2: 7, Score: 1, Label: 1},
		{X1: 6, Y1: 5, X2: 12, Y2: 9, Score: 1, Label: 0, Cut: true},
	}
	if b := boxesOf(t, s); b.H != 10 || b.W != 12 || !slices.Equal(b.Items, want) {
		t.Errorf("boxes %+v, want %+v in 12 x 10", *b, want)
	}
	if s, err = ds.Sample(1); err != nil {
		t.Fatal(err)
	}
	if b := boxesOf(t, s); len(b.Items) != 2 || b.Items[0].Label != 0 || b.Items[1].Label != 1 {
		t.Errorf("the key object is not first: %+v", b.Items)
	}
	if ds.Info().Target.Kind != space.KindBoxes {
		t.Error("the data set does not announce boxes")
	}
}

func TestCutOutside(t *testing.T) {
	t.Parallel()
	fsys := cells(t, vocBox{"x", 28, 18, 30, 20}, vocBox{"x", 10, 6, 14, 10})
	open := func(c Cut) (Dataset, error) {
		c.Size, c.Area = [2]int{6, 6}, [2]float64{0, 1}
		return OpenFS(fsys, Spec{Images: "d", Format: "voc", Zoom: 1, Cut: c})
	}
	_, err := open(Cut{Outside: "refuse"})
	if want := "d/JPEGImages/a.png: the piece around object 1 (x) is columns 26 to 32 and rows 16 to 22, which leave " +
		"the photo of 30 x 20 px: cut smaller pieces, or say outside: skip or reflect"; err == nil ||
		err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	ds, err := open(Cut{Outside: "reflect"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ds.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Tags, []string{"x", "padded"}) {
		t.Errorf("tags %v", s.Tags)
	}
	m := pixels(t, s)
	rows, cols := []int{16, 17, 18, 19, 18, 17}, []int{26, 27, 28, 29, 28, 27}
	for r := range 6 {
		for c := range 6 {
			if got, want := m.Pix[r*6+c], float64(texture(rows[r], cols[c])); got != want {
				t.Fatalf("row %d, column %d is %v, want %v", r, c, got, want)
			}
		}
	}
	if b := boxesOf(t, s).Items; len(b) != 1 || b[0] != (space.Box{X1: 1, Y1: 1, X2: 4, Y2: 4, Score: 1, Cut: true}) {
		t.Errorf("boxes %+v: want the one at the photo's border, marked, and no mirror image", b)
	}
	if s, err = ds.Sample(1); err != nil || slices.Contains(s.Tags, "padded") {
		t.Errorf("tags %v, error %v", s.Tags, err)
	}
}

func TestCutChoice(t *testing.T) {
	t.Parallel()
	// Areas 4, 9 and 16, from the left to the right of a row through the photo's middle (15, 10).
	boxes := []vocBox{{"s", 7, 10, 8, 11}, {"m", 15, 10, 17, 12}, {"l", 21, 9, 24, 12}}
	for _, c := range []struct {
		name string
		cut  Cut
		want []string
		note string
	}{
		{"all", Cut{Area: [2]float64{0, 1}}, []string{"a#1", "a#2", "a#3"}, ""},
		{
			"area of the piece",
			Cut{Area: [2]float64{0.2, 0.4}},
			[]string{"a#2"},
			"1 of 3 objects are samples; 2 have an area outside 0.2 to 0.4 of the piece (7.2 to 14.4 square px)",
		},
		{
			"area of the window",
			Cut{Area: [2]float64{0.2, 0.6}, Window: [2]int{4, 5}},
			[]string{"a#1", "a#2"},
			"1 have an area outside 0.2 to 0.6 of the window (4 to 12 square px)",
		},
		{"preset", Cut{Window: [2]int{5, 5}}, []string{"a#1", "a#2"}, "outside 0.01 to 0.5 of the window"},
		{
			"classes",
			Cut{Area: [2]float64{0, 1}, Classes: []string{"l", "s"}},
			[]string{"a#1", "a#3"},
			"1 are of other classes",
		},
		{
			"one of a photo",
			Cut{Area: [2]float64{0, 1}, PerPhoto: 1},
			[]string{"a#2"},
			"2 are farther from the middle than the 1 that count of a photo",
		},
		{
			"two of a photo, in their order",
			Cut{Area: [2]float64{0, 1}, PerPhoto: 2},
			[]string{"a#2", "a#3"},
			"1 are farther from the middle",
		},
	} {
		c.cut.Size = [2]int{6, 6}
		ds, err := OpenFS(cells(t, boxes...), Spec{Images: "d", Classes: []string{"s", "m", "l"}, Cut: c.cut})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := ds.IDs(); !slices.Equal(got, c.want) {
			t.Errorf("%s: samples %v, want %v", c.name, got, c.want)
		}
		if !strings.Contains(notesOf(t, ds), c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, notesOf(t, ds), c.note)
		}
	}
	for _, c := range []struct {
		cut  Cut
		want string
	}{
		{
			Cut{Classes: []string{"xl"}},
			`d: cut.classes has "xl", which is no class of the data: they are "s", "m", "l"`,
		},
		{
			Cut{Area: [2]float64{0.9, 1}},
			"d: no key object is left of 3 objects; 3 have an area outside 0.9 to 1 of the piece (32.4 to 36 square " +
				"px): choose a smaller piece, a wider area, more classes, another zoom or outside: reflect",
		},
		{
			Cut{Area: [2]float64{math.NaN(), 1}},
			"d: cut.area is [NaN 1], want [smallest, largest] as shares of the window",
		},
		{Cut{Outside: "wrap"}, `d: cut.outside is "wrap", want skip, reflect or refuse`},
		{Cut{PerPhoto: -1}, "d: cut.per_photo is -1, want 0 for all or a positive number"},
	} {
		c.cut.Size = [2]int{6, 6}
		_, err := OpenFS(cells(t, boxes...), Spec{Images: "d", Classes: []string{"s", "m", "l"}, Cut: c.cut})
		if err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// Whatever the zoom, a piece is the part of the zoomed photo around the box's rounded centre, and boxes keep their
// place in it.
func TestCutLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x1, y1 := rapid.IntRange(1, 24).Draw(t, "x1"), rapid.IntRange(1, 14).Draw(t, "y1")
		box := vocBox{"k", x1, y1, x1 + rapid.IntRange(1, 6).Draw(t, "w"), y1 + rapid.IntRange(1, 6).Draw(t, "h")}
		zoom := rapid.SampledFrom([]float64{0.5, 0.6, 1, 1.5}).Draw(t, "zoom")
		size := [2]int{rapid.IntRange(1, 9).Draw(t, "H"), rapid.IntRange(1, 9).Draw(t, "W")}
		fsys := cells(t, box, vocBox{"o", 3, 4, 9, 8})
		whole, err := OpenFS(fsys, Spec{Images: "d", Zoom: zoom, Classes: []string{"k", "o"}})
		if err != nil {
			t.Fatal(err)
		}
		cut, err := OpenFS(fsys,
			Spec{
				Images: "d", Zoom: zoom, Classes: []string{"k", "o"},
				Cut: Cut{Size: size, Area: [2]float64{0, 1e6}, Outside: "reflect", Classes: []string{"k"}},
			})
		if err != nil {
			t.Fatal(err)
		}
		a, errA := whole.Sample(0)
		b, errB := cut.Sample(0)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		big, small := pixels(t, a), pixels(t, b)
		from, to := boxesOf(t, a).Items[0], boxesOf(t, b).Items[0]
		dx, dy := from.X1-to.X1, from.Y1-to.Y1
		if math.Abs(dx-math.Round(dx)) > 1e-9 || math.Abs(dy-math.Round(dy)) > 1e-9 ||
			math.Abs(from.X2-to.X2-dx) > 1e-9 || math.Abs(from.Y2-to.Y2-dy) > 1e-9 {
			t.Fatalf("the key box went from %+v to %+v: not by whole pixels", from, to)
		}
		cx, cy := to.Center()
		if x, y := cx-float64(size[1]/2),
			cy-float64(size[0]/2); !(x >= -0.5-1e-9 && x < 0.5+1e-9 && y >= -0.5-1e-9 && y < 0.5+1e-9) {
			t.Fatalf("the centre of %+v is not in the middle of %v", to, size)
		}
		for r := range size[0] {
			for c := range size[1] {
				R, C := r+int(math.Round(dy)), c+int(math.Round(dx))
				if R >= 0 && C >= 0 && R < big.H && C < big.W && small.Pix[r*size[1]+c] != big.Pix[R*big.W+C] {
					t.Fatalf("pixel %d, %d of the piece is not pixel %d, %d of the photo", r, c, R, C)
				}
			}
		}
	})
}

func TestWholePhotos(t *testing.T) {
	t.Parallel()
	fsys := cells(t, vocBox{"x", 1, 1, 10, 10}, vocBox{"y", 10, 6, 14, 10})
	fsys["d/JPEGImages/b.png"] = &fstest.MapFile{Data: texturePNG(t, 40, 10)}
	fsys["d/Annotations/b.xml"] = &fstest.MapFile{Data: vocXML("b.png", 40, 10)}
	_, err := OpenFS(fsys, Spec{Images: "d"})
	wantError(t, err, "d/JPEGImages", `image "b.png"`, "10 x 40 pixels", "all must agree")
	ds, err := OpenFS(fsys, Spec{Images: "d", Fit: [2]int{10, 20}})
	if err != nil {
		t.Fatal(err)
	}
	if c, h, w := shapeOf(t, ds); c != 1 || h != 10 || w != 20 || ds.Labels() != nil ||
		!slices.Equal(ds.IDs(), []string{"a", "b"}) {
		t.Errorf("shape %d, %d, %d, labels %v, samples %v", c, h, w, ds.Labels(), ds.IDs())
	}
	s, err := ds.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	// 30 x 20 px become 15 x 10 with two columns before and three after.
	want := []space.Box{
		{X1: 2, Y1: 0, X2: 7, Y2: 5, Score: 1, Cut: true},
		{X1: 6.5, Y1: 2.5, X2: 9, Y2: 5, Score: 1, Label: 1},
	}
	if b := boxesOf(t, s); b.H != 10 || b.W != 20 || !slices.Equal(b.Items, want) {
		t.Errorf("boxes %+v, want %+v", *b, want)
	}
	m := pixels(t, s)
	if v, want := m.Pix[2],
		float64(int(texture(0, 0))+int(texture(0, 1))+int(texture(1, 0))+int(texture(1, 1)))/4; m.Pix[1] != 0 ||
		math.Abs(v-want) > 1e-9 || m.Pix[17] != 0 {
		t.Errorf("the first row is %v, want zeros around the photo, which begins with %v", m.Pix[:20], want)
	}
	if s, err = ds.Sample(1); err != nil || len(boxesOf(t, s).Items) != 0 || s.Label != -1 {
		t.Errorf("a photo without boxes: %+v, %v", s.Target, err)
	}
	if !strings.Contains(notesOf(t, ds), "d: 1 of 2 photos have no box: nothing is to be found there") {
		t.Errorf("notes %q", notesOf(t, ds))
	}
}

// Photos of any size without boxes: framed, or cut around their middle.
func TestPhotosWithoutBoxes(t *testing.T) {
	t.Parallel()
	fsys := memory(map[string][]byte{
		"p/cats/1.png": texturePNG(t, 9, 8), "p/dogs/2.png": texturePNG(t, 4, 12),
		"p/dogs/3.png": texturePNG(t, 2, 2),
	})
	ds, err := OpenFS(fsys, Spec{Images: "p", Cut: Cut{Size: [2]int{4, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ds.IDs(), []string{"cats/1.png", "dogs/2.png"}) || !slices.Equal(ds.Labels(), []int{0, 1}) {
		t.Errorf("samples %v, labels %v", ds.IDs(), ds.Labels())
	}
	if want := "p: 2 of 3 photos are samples; 1 have a piece of 4 x 4 px that leaves the photo"; notesOf(t,
		ds) != want {
		t.Errorf("notes %q, want %q", notesOf(t, ds), want)
	}
	s, err := ds.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	// The middle is (4, 4.5), rounded (4, 5); the piece begins at column 2, row 3.
	if m := pixels(t, s); m.Pix[0] != float64(texture(3, 2)) || s.Target != nil ||
		!slices.Equal(s.Tags, []string{"cats"}) {
		t.Errorf("pixel %v, target %v, tags %v", m.Pix[0], s.Target, s.Tags)
	}
	if k := ds.Info().Target.Kind; k != "" {
		t.Errorf("targets %q of photos without boxes", k)
	}
	if ds, err = OpenFS(fsys, Spec{Images: "p", Fit: [2]int{6, 6}}); err != nil || ds.Len() != 3 ||
		!slices.Equal(ds.Labels(), []int{0, 1, 1}) {
		t.Errorf("framed: %v, %v", ds, err)
	}
	if ds, err = OpenFS(fsys, Spec{Images: "p/cats", Zoom: 2}); err != nil {
		t.Fatal(err)
	}
	if _, h, w := shapeOf(t, ds); h != 18 || w != 16 {
		t.Errorf("zoomed to %d x %d", w, h)
	}
	for want, spec := range map[string]Spec{
		"p: cut.classes, cut.area and cut.per_photo choose key objects, and these photos have no boxes: leave them " +
			"out, or name the boxes with targets": {Cut: Cut{Size: [2]int{4, 4}, PerPhoto: 1}},
		"p: fit brings whole photos to one size; leave out fit, or leave out zoom and cut": {
			Fit:  [2]int{4, 4},
			Zoom: 2,
		},
		"p: fit is [0 4], want height and width from 1 to 65536 px": {Fit: [2]int{0, 4}},
		"p: zoom is NaN, want a factor above 0 and up to 16":        {Zoom: math.NaN()},
		"p: zoom is 17, want a factor above 0 and up to 16":         {Zoom: 17},
		"p: cut has no size: give height and width of the piece":    {Cut: Cut{Outside: "skip"}},
		"p: no key object is left of 3 photos; 3 have a piece of 99 x 99 px that leaves the photo: choose a smaller " +
			"piece, a wider area, more classes, another zoom or outside: reflect": {Cut: Cut{Size: [2]int{99, 99}}},
	} {
		spec.Images = "p"
		if _, err := OpenFS(fsys, spec); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	fsys["p/dogs/4.png"] = &fstest.MapFile{Data: pngOf(t, image.NewRGBA(image.Rect(0, 0, 5, 5)))}
	_, err = OpenFS(fsys, Spec{Images: "p", Fit: [2]int{4, 4}})
	if want := `p: image "dogs/4.png": has RGB, 8 bits, but most images in the folder have grey, 8 bits (1 of 4 differ): all must agree; remove it, or make it grey: magick FILE -colorspace Gray FILE`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// opens counts how often files are opened.
type opens struct {
	fstest.MapFS
	n atomic.Int64
}

func (o *opens) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".png") {
		o.n.Add(1)
	}
	return o.MapFS.Open(name)
}

func TestCutDecodesAPhotoOnce(t *testing.T) {
	t.Parallel()
	var boxes []vocBox
	for i := range 12 {
		boxes = append(boxes, vocBox{"x", 6 + i, 6, 10 + i, 10})
	}
	fsys := &opens{MapFS: cells(t, boxes...)}
	ds, err := OpenFS(fsys, Spec{Images: "d", Cut: Cut{Size: [2]int{6, 6}, Area: [2]float64{0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	fsys.n.Store(0)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range ds.Len() {
				s, err := ds.Sample(i)
				if err != nil {
					t.Error(err)
					return
				}
				m := pixels(t, s)
				for k := range m.Pix {
					m.Pix[k] = -1 // samples belong to whoever asked
				}
			}
		})
	}
	wg.Wait()
	if n := fsys.n.Load(); n != 1 || ds.Len() != 12 {
		t.Errorf("the photo of %d samples was opened %d times", ds.Len(), n)
	}
	if m := imageOf(t, ds, 0); m.Pix[0] < 0 {
		t.Error("a sample shares memory with the kept photo")
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	c := newRecent(8 * 10)
	loads := map[int]int{}
	get := func(i, n int) {
		t.Helper()
		m, err := c.get(i, func() (*space.Image, error) {
			loads[i]++
			return space.NewImage(1, 1, n), nil
		})
		if err != nil || len(m.Pix) != n {
			t.Fatalf("photo %d: %v, %v", i, m, err)
		}
	}
	get(1, 5)
	get(2, 5)
	get(1, 5) // 2 is now the oldest
	get(3, 1)
	get(1, 5)
	get(2, 5)
	if loads[1] != 1 || loads[2] != 2 || c.bytes != 80 {
		t.Errorf("loads %v, %d bytes: want the photo that was asked for longest ago to go", loads, c.bytes)
	}
	get(4, 100) // larger than everything
	if len(c.kept) != 1 || c.bytes != 800 {
		t.Errorf("%d photos of %d bytes are kept, want the newest alone", len(c.kept), c.bytes)
	}
	fail := errors.New("no")
	for range 2 {
		if _, err := c.get(9, func() (*space.Image, error) { loads[9]++; return nil, fail }); !errors.Is(err, fail) {
			t.Errorf("error %v", err)
		}
	}
	if loads[9] != 2 {
		t.Error("a failure is kept")
	}
}

// Views of photos say what the photos say.
func TestSubsetOfPhotos(t *testing.T) {
	t.Parallel()
	ds, err := OpenFS(cells(t, vocBox{"x", 10, 6, 14, 10}, vocBox{"y", 13, 9, 18, 12}),
		Spec{Images: "d", Cut: Cut{Size: [2]int{4, 4}, Area: [2]float64{0, 9}}})
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := Select(ds.Labels(), ds.Len(), 2, true, 7)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Subset(ds, chosen[1:])
	if err != nil {
		t.Fatal(err)
	}
	if i := v.Info(); i.Target.Kind != space.KindBoxes || i.Max != 255 || framesIn(v) != 0 ||
		!slices.Equal(i.Classes, []string{"x", "y"}) || v.IDs()[0] != "a#2" {
		t.Errorf("%+v, samples %v", i, v.IDs())
	}
	want := []string{"d/JPEGImages/a.png", "d/JPEGImages/b.png", "d/Annotations/a.xml", "d/Annotations/b.xml"}
	if !slices.Equal(v.Files(), want) {
		t.Errorf("files %v, want %v", v.Files(), want)
	}
	for _, f := range want {
		if _, err := DigestFS(cells(t), f); err != nil {
			t.Error(err)
		}
	}
}
