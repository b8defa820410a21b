package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"
)

// exifOf is EXIF with an orientation, big-endian.
func exifOf(n uint16) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	binary.BigEndian.PutUint16(b[18:], n)
	return b
}

// withEXIF puts a chunk eXIf into a PNG file, before the picture or behind it.
func withEXIF(png, exif []byte, behind bool) []byte {
	c := binary.BigEndian.AppendUint32(nil, uint32(len(exif)))
	c = append(append(c, "eXIf"...), exif...)
	c = binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE(c[4:]))
	at := 8 + 25 // behind IHDR
	if behind {
		at = len(png) - 12 // before IEND
	}
	return bytes.Join([][]byte{png[:at], c, png[at:]}, nil)
}

// The photos of testdata/photos.py show what Pillow's ImageOps.exif_transpose makes of them, in all orientations and
// formats, alone and in a folder.
func TestOrientationIsThatOfPillow(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/photos/turned-*")
	if err != nil || len(files) != 20 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		h, w, down, right, tol := 5, 7, 30, 8, 0.0
		if strings.HasSuffix(name, ".jpg") {
			h, w, down, right, tol = 16, 32, 8, 4, 3
		}
		ds, err := Open(Spec{Images: name})
		if err != nil {
			t.Fatal(err)
		}
		m := imageOf(t, ds, 0)
		if c, H, W := shapeOf(t, ds); H != h || W != w || m.H != h || m.W != w || m.C != c {
			t.Fatalf("%s has %d x %d pixels, announced %d x %d, want %d x %d", name, m.W, m.H, W, H, w, h)
		}
		for i, v := range m.Plane(0) {
			if want := float64(down*(i/w) + right*(i%w)); !(math.Abs(v-want) <= tol) {
				t.Fatalf("%s: row %d, column %d is %v, want %v", name, i/w, i%w, v, want)
			}
		}
		if one := strings.Contains(name, "-1."); (ds.Info().Turned == 0) != one || (notesOf(t, ds) == "") != one {
			t.Errorf("%s: %d turned, %s", name, ds.Info().Turned, notesOf(t, ds))
		}
		ds, err = Open(Spec{Images: name, Orientation: Stored})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.TrimSuffix(name, filepath.Ext(name)); n[len(n)-1] >= '5' {
			h, w = w, h
		}
		if m := imageOf(t, ds, 0); m.H != h || m.W != w || ds.Info().Turned != 0 {
			t.Errorf("%s, stored, has %d x %d pixels, want %d x %d", name, m.W, m.H, w, h)
		}
	}
}

// A folder of photos that differ in how they lie alone has one size, and says what it turned.
func TestOrientationOfFolders(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{}
	lying := pngOf(t, image.NewGray(image.Rect(0, 0, 4, 6)))
	for name, b := range map[string][]byte{
		"a.png": pngOf(t, image.NewGray(image.Rect(0, 0, 6, 4))), "b.png": withEXIF(lying, exifOf(6), true),
		"c.png": withEXIF(pngOf(t, image.NewGray(image.Rect(0, 0, 6, 4))), exifOf(9), false),
		"d.png": withEXIF(pngOf(t, image.NewGray(image.Rect(0, 0, 6, 4))), []byte("MM\x00*\x00\x00\xff\xff"), false),
	} {
		fsys["p/"+name] = &fstest.MapFile{Data: b}
	}
	ds, err := OpenFS(fsys, Spec{Images: "p"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`1 of 4 photos are turned as their EXIF says, first "b.png" (orientation 6)`, "--orientation stored",
		`how 2 photos lie cannot be told, they are read as they are stored, first "c.png": its EXIF cannot be read: ` +
			"its orientation is 9, want 1 to 8",
	} {
		if !strings.Contains(notesOf(t, ds), want) {
			t.Errorf("%q is missing in %s", want, notesOf(t, ds))
		}
	}
	if _, err = OpenFS(fsys, Spec{Images: "p", Orientation: Stored}); err == nil ||
		!strings.Contains(err.Error(), `image "b.png": has 4 x 6 pixels`) {
		t.Errorf("stored: %v", err)
	}
	_, err = OpenFS(fsys, Spec{Images: "p", Orientation: "up"})
	wantError(t, err, `orientation is "up", want shown or stored`)
	if _, err = OpenFS(memory(map[string][]byte{"x.npy": []byte("\x93NUMPY")}), Spec{
		Images: "x.npy", Orientation: Stored,
	}); err == nil || !strings.Contains(err.Error(), "orientation is for photos, this is npy") {
		t.Error(err)
	}
}

// Boxes follow the photo: in every orientation, whether they were drawn on the stored or on the shown photo, the box
// covers the one bright pixel.
func TestOrientationOfBoxes(t *testing.T) {
	t.Parallel()
	for o := orientation(1); o <= 8; o++ {
		stored := image.NewGray(image.Rect(0, 0, 6, 4))
		stored.SetGray(4, 1, color.Gray{Y: 200})
		shown := o.shown(picture{h: 4, w: 6})
		var at [2]int // where the pixel is shown
		for r := range shown.h {
			for c := range shown.w {
				if i, j := o.from(r, c, 4, 6); i == 1 && j == 4 {
					at = [2]int{r, c}
				}
			}
		}
		for _, drawn := range []struct {
			what       string
			w, h, x, y int
		}{
			{"on the stored photo", 6, 4, 4, 1},
			{"on the shown photo", shown.w, shown.h, at[1], at[0]},
			{"anywhere", 0, 0, 4, 1},
		} {
			if drawn.what == "on the shown photo" && !o.swaps() && !o.upright() {
				continue // its size is that of the stored one, as which it counts
			}
			fsys := memory(map[string][]byte{
				"p/a.png": withEXIF(pngOf(t, stored), exifOf(uint16(o)), false),
				"p/b.json": []byte(fmt.Sprintf(`{"images":[{"id":1,"file_name":"a.png","width":%d,"height":%d}],`+
					`"categories":[{"id":1,"name":"cat"}],"annotations":[{"id":5,"image_id":1,"category_id":1,`+
					`"bbox":[%d,%d,1,1]}]}`, drawn.w, drawn.h, drawn.x, drawn.y)),
				"v/a.png": withEXIF(pngOf(t, stored), exifOf(uint16(o)), true),
				"v/a.xml": []byte(fmt.Sprintf("<annotation><size><width>%d</width><height>%d</height></size><object>"+
					"<name>cat</name><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox>"+
					"</object></annotation>", drawn.w, drawn.h, drawn.x+1, drawn.y+1, drawn.x+2, drawn.y+2)),
			})
			for format, spec := range map[string]Spec{
				"coco": {Format: "coco", Images: "p"}, "voc": {Format: "voc", Images: "v"},
			} {
				ds, err := OpenFS(fsys, spec)
				if err != nil {
					t.Fatal(err)
				}
				s, err := ds.Sample(0)
				if err != nil {
					t.Fatal(err)
				}
				m, _ := s.Value.(*space.Image)
				boxes, ok := s.Target.(*space.Boxes)
				if !ok {
					t.Fatalf("the target is a %T", s.Target)
				}
				b := boxes.Items[0]
				if m.Pix[at[0]*m.W+at[1]] != 200 {
					t.Fatalf("%s: orientation %d shows %v", format, o, m.Pix)
				}
				x, y := float64(at[1]), float64(at[0])
				if !(b.X1 <= x && b.X2 >= x+1 && b.Y1 <= y && b.Y2 >= y+1 && b.Area() <= 4) {
					t.Errorf("%s: orientation %d, drawn %s: %+v, want it around column %v, row %v", format, o,
						drawn.what, b, x, y)
				}
			}
		}
	}
}

// What people have in their folders is read as Pillow and torchvision read it, or refused with the file and a remedy.
func TestPhotosAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"animated.gif":  "is an animated GIF, and one picture is wanted: keep its first one",
		"animated.png":  "is an animated PNG",
		"animated.webp": "is an animated WebP",
		"alpha.png":     "magick FILE -background white -flatten FILE",
		"cut.jpg": "the JPEG data are damaged: invalid JPEG format: short Huffman data; fetch the file again or " +
			"remove it",
		"pages.tiff":   "is a TIFF file of 2 pages, and one picture is wanted: keep its first one",
		"pyramid.tiff": "", // its second page is a smaller copy of the first
		"cmyk.jpg":     "",
		"still.gif":    "",
	} {
		ds, err := Open(Spec{Images: "testdata/photos/" + name})
		if err == nil {
			_, err = ds.Sample(0)
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "":
			wantError(t, err, want, name)
		}
		if err != nil || name != "cmyk.jpg" {
			continue
		}
		for k, want := range []float64{200, 120, 40} {
			if v := imageOf(t, ds, 0).Plane(k)[100]; !(math.Abs(v-want) <= 3) {
				t.Errorf("CMYK: channel %d is %v, want %v", k, v, want)
			}
		}
	}
	load := func(name string) []byte {
		b, err := os.ReadFile("testdata/photos/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// Three photos among a thousand other files.
	files := map[string][]byte{
		"p/a.png": load("still.png"), "p/sub/b.png": load("still.png"), "p/sub/c.png": load("grey.png"),
		"p/Thumbs.db": {1}, "p/desktop.ini": {1}, "p/.DS_Store": {1}, "p/._a.png": {0, 5, 22, 7}, "p/empty.txt": {},
		"p/sub/.hidden/x.png": {1},
	}
	for i := range 1000 {
		files[fmt.Sprintf("p/%d.%s", i, []string{"txt", "json"}[i%2])] = []byte("{}")
	}
	ds, err := OpenFS(memory(files), Spec{Images: "p", Pattern: "(?P<label>[a-z])[.]png"})
	if err != nil {
		t.Fatal(err)
	}
	if ds.Len() != 3 || ds.IDs()[0] != "a.png" || imageOf(t, ds, 2).C != 3 || imageOf(t, ds, 2).Pix[30] != 77 {
		t.Errorf("%v", ds.IDs())
	}
	if want := "p: left out 500 files .json, 501 files .txt\np: 1 of 3 images are grey and are read as three equal " +
		"channels, like the colors of the others, first \"sub/c.png\""; notesOf(t, ds) != want {
		t.Errorf("notes %s, want %s", notesOf(t, ds), want)
	}
	for name, want := range map[string]string{
		"deep.png": "16 bits, but most images in the folder have RGB, 8 bits (1 of 4 differ): all must agree; " +
			"remove it, or bring it to 8 bits: magick FILE -depth 8 FILE",
		"empty.png": "is empty (0 bytes): fetch it again or remove it",
	} {
		files["p/"+name] = nil
		if name != "empty.png" {
			files["p/"+name] = load(name)
		}
		_, err = OpenFS(memory(files), Spec{Images: "p", Fit: [2]int{4, 4}})
		wantError(t, err, name, want)
		delete(files, "p/"+name)
	}
}

// FuzzPhoto feeds what reads how a photo lies and whether it moves: nothing panics, nothing takes long, and what is
// said is one of the orientations.
func FuzzPhoto(f *testing.F) {
	files, err := filepath.Glob("testdata/photos/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(exifOf(3))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, wrong, err := peekPhoto(memory(map[string][]byte{"x": b}), "x")
		if o > 8 || o != 0 && (wrong != nil || err != nil) {
			t.Fatalf("orientation %d, %v, %v", o, wrong, err)
		}
	})
}
