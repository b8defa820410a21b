package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

// pngOf encodes an image as PNG.
func pngOf(tb interface{ Fatal(...any) }, m image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// greyPNG is a picture of one intensity.
func greyPNG(tb interface{ Fatal(...any) }, w, h int, v byte) []byte {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = v
	}
	return pngOf(tb, m)
}

// bombPNG announces w x h pixels and holds none.
func bombPNG(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	ihdr := append([]byte("IHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(ihdr[4:], w)
	binary.BigEndian.PutUint32(ihdr[8:], h)
	ihdr[12] = 8 // bits, grey
	b = binary.BigEndian.AppendUint32(b, 13)
	b = append(b, ihdr...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(ihdr))
}

// memory is a file system of the given files.
func memory(files map[string][]byte) fstest.MapFS {
	m := fstest.MapFS{}
	for name, b := range files {
		m[name] = &fstest.MapFile{Data: b}
	}
	return m
}

// The pictures of testdata/make.py, written by Pillow.
func TestPicturesOfPillow(t *testing.T) {
	exact := func(wide bool) func(k, r, c int) float64 {
		return func(k, r, c int) float64 {
			v := float64(40*k + 16*r + 5*c)
			if wide {
				v = 257*v + 1
			}
			return v
		}
	}
	smooth := func(_, r, c int) float64 { return float64(8 * (r + c)) }
	for _, x := range []struct {
		file    string
		c, h, w int
		want    func(k, r, c int) float64
		tol     float64
	}{
		{"grey.png", 1, 4, 5, exact(false), 0},
		{"grey.tif", 1, 4, 5, exact(false), 0},
		{"grey.tiff", 1, 4, 5, exact(false), 0},
		{"grey.bmp", 1, 4, 5, exact(false), 0},
		{"rgb.bmp", 3, 4, 5, exact(false), 0},
		{"grey-palette.png", 1, 4, 5, exact(false), 0},
		{"grey-alpha.png", 3, 4, 5, func(_, r, c int) float64 { return float64(16*r + 5*c) }, 0},
		{"grey16.png", 1, 4, 5, exact(true), 0},
		{"grey16.tif", 1, 4, 5, exact(true), 0},
		{"rgb.png", 3, 4, 5, exact(false), 0},
		{"rgb.tif", 3, 4, 5, exact(false), 0},
		{"rgb.webp", 3, 4, 5, exact(false), 0},
		{"palette.png", 3, 4, 5, exact(false), 0},
		{"opaque.png", 3, 4, 5, exact(false), 0},
		// JPEG at quality 95 without subsampling and WebP at quality 90 keep a smooth ramp within a few levels.
		{"grey.jpg", 1, 16, 16, smooth, 3},
		{
			"rgb.jpg", 3, 16, 16,
			func(k, r, c int) float64 { return []float64{float64(8 * (r + c)), 255 - float64(8*(r+c)), 90}[k] }, 6,
		},
		{"rgb-lossy.webp", 3, 16, 16, smooth, 20},
	} {
		t.Run(x.file, func(t *testing.T) {
			ds, err := Open(Spec{Images: "testdata/" + x.file})
			if err != nil {
				t.Fatal(err)
			}
			if c, h, w := shapeOf(t, ds); c != x.c || h != x.h || w != x.w || ds.Len() != 1 || ds.IDs()[0] != x.file ||
				ds.Files()[0] != "testdata/"+x.file {
				t.Fatalf("%d x %d x %d, %v, %v", c, h, w, ds.IDs(), ds.Files())
			}
			img := imageOf(t, ds, 0)
			for k := range x.c {
				for r := range x.h {
					for c := range x.w {
						got, want := img.Pix[(k*x.h+r)*x.w+c], x.want(k, r, c)
						if !(math.Abs(got-want) <= x.tol) {
							t.Errorf("channel %d row %d column %d is %v, want %v", k, r, c, got, want)
						}
					}
				}
			}
		})
	}
	ds, err := Open(Spec{Images: "testdata/transparent.png"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ds.Sample(0)
	wantError(t, err, "transparent.png", "transparent pixels", "flatten")
	_, err = Open(Spec{Images: "testdata/cmyk.tif"})
	wantError(t, err, "cmyk.tif", "of a kind that is not read (tiff: unsupported feature: color model)",
		"magick FILE -colorspace sRGB FILE.png")
}

// Every lossless kind of Go image goes through PNG and comes back as it was.
func TestPNGRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 5).Draw(t, "w"), rapid.IntRange(1, 5).Draw(t, "h")
		kind := rapid.SampledFrom([]string{"grey", "grey16", "rgb", "rgb16", "palette", "greys"}).Draw(t, "kind")
		r := image.Rect(0, 0, w, h)
		c, hi := 3, 255
		var m interface {
			image.Image
			Set(x, y int, c color.Color)
		}
		var pal color.Palette
		switch kind {
		case "grey":
			m, c = image.NewGray(r), 1
		case "grey16":
			m, c, hi = image.NewGray16(r), 1, 65535
		case "rgb":
			m = image.NewNRGBA(r)
		case "rgb16":
			m, hi = image.NewNRGBA64(r), 65535
		case "palette":
			pal = color.Palette{color.RGBA{1, 2, 3, 255}, color.RGBA{200, 100, 0, 255}, color.RGBA{0, 0, 0, 255}}
			m = image.NewPaletted(r, pal)
		case "greys":
			c, pal = 1, color.Palette{color.Gray{7}, color.Gray{200}}
			m = image.NewPaletted(r, pal)
		}
		want := make([]float64, c*h*w)
		for y := range h {
			for x := range w {
				var v [3]uint16
				for k := range v {
					v[k] = uint16(rapid.IntRange(0, hi).Draw(t, "v"))
				}
				if c == 1 {
					v[1], v[2] = v[0], v[0]
				}
				if pal != nil {
					p := pal[int(v[0])%len(pal)]
					r, g, b, _ := p.RGBA()
					v = [3]uint16{uint16(r >> 8), uint16(g >> 8), uint16(b >> 8)}
					m.Set(x, y, p)
				} else if hi == 255 {
					m.Set(x, y, color.NRGBA{uint8(v[0]), uint8(v[1]), uint8(v[2]), 255})
				} else {
					m.Set(x, y, color.NRGBA64{v[0], v[1], v[2], 65535})
				}
				for k := range c {
					want[(k*h+y)*w+x] = float64(v[k])
				}
			}
		}
		ds, err := OpenFS(memory(map[string][]byte{"d/a.png": pngOf(t, m)}), Spec{Images: "d"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := ds.Sample(0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Value.Parts()[0].Float64s(nil)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v, %v", kind, got, want, err)
		}
	})
}

func TestFolderOrderLabelsAndTags(t *testing.T) {
	dir := t.TempDir()
	for i, p := range []string{
		"dog/9.png", "cat/old/b.PNG", "cat/a.png", "cat-x/c.png", ".hidden/h.png", "cat/.d.png",
		"__MACOSX/e.png",
	} {
		putAt(t, filepath.Join(dir, p), greyPNG(t, 3, 2, byte(i)))
	}
	putAt(t, filepath.Join(dir, "cat/notes.txt"), []byte("x"))
	ds, err := Open(Spec{Images: dir})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"cat-x/c.png", "cat/a.png", "cat/old/b.PNG", "dog/9.png"}; !slices.Equal(ds.IDs(), want) {
		t.Fatalf("ids %v, want %v", ds.IDs(), want)
	}
	if !slices.Equal(ds.Labels(), []int{1, 0, 0, 2}) || !slices.Equal(namesOf(t, ds), []string{"cat", "cat-x", "dog"}) {
		t.Errorf("labels %v, names %v", ds.Labels(), namesOf(t, ds))
	}
	if got := ds.Files()[2]; got != filepath.Join(dir, "cat", "old", "b.PNG") {
		t.Errorf("file %q", got)
	}
	if d, err := Digest(ds.Files()[2]); err != nil || len(d) != 64 {
		t.Errorf("digest %q, %v", d, err)
	}
	s, err := ds.Sample(2)
	if err != nil || s.ID != "cat/old/b.PNG" || s.Label != 0 || !slices.Equal(s.Tags, []string{"cat", "old"}) {
		t.Errorf("sample %+v, %v", s, err)
	}
	if got := imageOf(t, ds, 2).Pix[0]; got != 1 {
		t.Errorf("pixel %v", got)
	}
	if n := notesOf(t, ds); !strings.Contains(n, "1 files .txt") {
		t.Errorf("notes %q", n)
	}
	for _, i := range []int{-1, 4} {
		_, err := ds.Sample(i)
		wantError(t, err, dir, "does not exist")
	}
}

// namesOf is the class names of the data set.
func namesOf(tb testing.TB, ds Dataset) []string {
	tb.Helper()
	return ds.Info().Classes
}

func TestFolderLabels(t *testing.T) {
	a := greyPNG(t, 2, 2, 1)
	numbers := map[string][]byte{"d/10/a.png": a, "d/2/b.png": a, "d/02/c.png": a}
	flat := map[string][]byte{"d/x_cat_1.png": a, "d/x_dog_2.png": a, "d/y.png": a}
	deep := map[string][]byte{"d/p/1.png": a, "d/q/1.png": a, "d/q/2.png": a}
	for _, c := range []struct {
		name   string
		files  map[string][]byte
		table  string
		spec   Spec
		labels []int
		names  []string
		note   string
		err    []string
	}{
		{name: "numbers", files: numbers, labels: []int{2, 10, 2}},
		{name: "none", files: flat},
		{
			name: "one folder", files: map[string][]byte{"d/JPEG/a.png": a},
			note: `"JPEG", which is not taken for a class`,
		},
		{name: "one number", files: map[string][]byte{"d/3/a.png": a}, labels: []int{3}},
		{
			name: "some", files: map[string][]byte{"d/3/a.png": a, "d/b.png": a}, labels: []int{3, -1},
			note: "1 images lie in no folder",
		},
		{
			name: "huge number", files: map[string][]byte{"d/20200101/a.png": a, "d/1/a.png": a},
			err: []string{`label "20200101"`},
		},
		{
			name: "pattern", files: flat, spec: Spec{Pattern: `_(?P<label>[a-z]+)_`}, labels: []int{0, 1, -1},
			names: []string{"cat", "dog"}, note: "does not match 1 images",
		},
		{
			name: "pattern of numbers", files: flat, spec: Spec{Pattern: `(?P<label>\d+)\.png$`},
			labels: []int{1, 2, -1},
			note:   "does not match 1 images",
		},
		{
			name: "pattern over folders", files: deep, spec: Spec{Pattern: `^(?P<label>.*)/`}, labels: []int{0, 1, 1},
			names: []string{"p", "q"},
		},
		{name: "pattern without group", files: flat, spec: Spec{Pattern: `cat`}, err: []string{"no group named label"}},
		{name: "bad pattern", files: flat, spec: Spec{Pattern: `(`}, err: []string{"pattern:", "missing closing"}},
		{
			name: "pattern without match", files: flat, spec: Spec{Pattern: `(?P<label>zebra)`},
			err: []string{"matches none of the 3", `"x_cat_1.png"`},
		},
		{
			name: "table", files: flat, table: "file,label\ny.png,ant\nx_dog_2.png,\"b, ee\"\nx_cat_1.png,ant\n",
			labels: []int{0, 1, 0}, names: []string{"ant", "b, ee"},
		},
		{
			name: "table with a mark, other columns", files: flat,
			table: "\ufeffid,Label,File\n1,5,./y.png\n2,0,x_dog_2.png\n3,3.0,x_cat_1.png\n", labels: []int{3, 0, 5},
		},
		{
			name: "table without titles", files: flat, table: "y.png;7\r\nx_dog_2.png;1\r\n", labels: []int{-1, 1, 7},
			note: `1 samples are not in the table and have no label, first "x_cat_1.png"`,
		},
		{
			name: "table with tabs", files: flat, table: "y.png\t7\nx_dog_2.png\t\n", labels: []int{-1, -1, 7},
			note: "1 samples are not in the table",
		},
		{
			name: "table of last parts", files: deep, table: "2.png,b\np/1.png,a\nq\\1.png,b\n", labels: []int{0, 1, 1},
			names: []string{"a", "b"},
		},
		{
			name: "table with strangers", files: flat, table: "name,class\ny.png,7\n", labels: []int{-1, -1, 7},
			note: `1 rows name no sample, first "name" in line 1`,
		},
		{
			name: "ambiguous table", files: deep, table: "2.png,b\n1.png,a\n",
			err: []string{"line 2", `"1.png" is the name of several`},
		},
		{
			name: "contradicting table", files: flat, table: "y.png,7\ny.png,8\n",
			err: []string{`line 2 gives "y.png" the label "8", line 1 gave it "7"`},
		},
		{
			name: "foreign table", files: flat, table: "z.png,7\n",
			err: []string{"none of the 3 samples", `"z.png" in line 1`},
		},
		{name: "narrow table", files: flat, table: "y.png,7\nx_dog_2.png\n", err: []string{"line 2 has 1 columns"}},
		{name: "broken table", files: flat, table: "y.png,\"7\n", err: []string{"not a CSV table"}},
		{name: "UTF-16 table", files: flat, table: "\xff\xfey\x00", err: []string{"UTF-16"}},
		{
			name: "two sources", files: flat, table: "y.png,7\n", spec: Spec{Pattern: `(?P<label>y)`},
			err: []string{"not from both"},
		},
		{name: "layout", files: flat, spec: Spec{Layout: "NHW"}, err: []string{"layout"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := memory(c.files)
			c.spec.Images = "d"
			if c.table != "" {
				fsys["t.csv"] = &fstest.MapFile{Data: []byte(c.table)}
				c.spec.Labels = "t.csv"
			}
			ds, err := OpenFS(fsys, c.spec)
			if c.err != nil {
				wantError(t, err, c.err...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ds.Labels(), c.labels) || !slices.Equal(namesOf(t, ds), c.names) {
				t.Errorf("labels %v of %v, want %v of %v", ds.Labels(), namesOf(t, ds), c.labels, c.names)
			}
			if n := notesOf(t, ds); !strings.Contains(n, c.note) || c.note == "" && n != "" {
				t.Errorf("notes %q, want %q", n, c.note)
			}
			for i, l := range c.labels {
				if s, err := ds.Sample(i); err != nil || s.Label != l {
					t.Errorf("sample %d has label %d, want %d, %v", i, s.Label, l, err)
				}
			}
		})
	}
}

func TestFolderRefusesStrangers(t *testing.T) {
	small := greyPNG(t, 28, 28, 9)
	wide := pngOf(t, image.NewGray16(image.Rect(0, 0, 28, 28)))
	rgb := pngOf(t, image.NewRGBA(image.Rect(0, 0, 28, 28)))
	for _, c := range []struct {
		name string
		file []byte
		want []string
	}{
		{"bomb", bombPNG(20000, 20000), []string{
			"20000 x 20000 pixels", "28 x 28 pixels, grey, 8 bits", "1 of 4",
			"remove or crop",
		}},
		{"size", greyPNG(t, 28, 27, 0), []string{"28 x 27 pixels"}},
		{"channels", rgb, []string{"RGB", "grey"}},
		{"depth", wide, []string{"16 bits"}},
		{"text", []byte("<html>not found</html>"), []string{"not a PNG"}},
		{"empty", nil, []string{"is empty"}},
		{"cut", small[:20], []string{"PNG header cannot be read", "fetch the file again"}},
		{"no pixels", bombPNG(0, 5), []string{"PNG"}},
	} {
		for _, at := range []string{"a0.png", "b.png"} { // as the first and in the middle
			t.Run(c.name+" "+at, func(t *testing.T) {
				fsys := memory(map[string][]byte{
					"d/a1.png": small, "d/c.png": small, "d/e.png": small,
					"d/" + at: c.file,
				})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := OpenFS(fsys, Spec{Images: "d"})
				runtime.ReadMemStats(&after)
				wantError(t, err, append(c.want, "d: ", at)...)
				if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
					t.Errorf("%d bytes were allocated", used)
				}
			})
		}
	}
	_, err := OpenFS(memory(map[string][]byte{"d/a.png": bombPNG(20000, 20000)}), Spec{Images: "d"})
	wantError(t, err, "d: ", "20000 x 20000", "scale them down")
	_, err = OpenFS(memory(map[string][]byte{"d/a.txt": nil, "d/b/c": nil}), Spec{Images: "d"})
	wantError(t, err, "d: ", "no images", ".png", "1 files .txt", "1 files without ending")
	_, err = Open(Spec{Images: t.TempDir()})
	wantError(t, err, "no images")
	_, err = OpenFS(memory(map[string][]byte{"d.bin": []byte("text")}), Spec{Images: "d.bin"})
	wantError(t, err, "d.bin", "not IDX")
	_, err = OpenFS(memory(map[string][]byte{"d.bin": nil}), Spec{Images: "d.bin"})
	wantError(t, err, "d.bin", "is empty")
}

// Photos from cameras have as many sizes as there are photos: one grey one that happens to come first does not make all
// others strangers, and no size is said to be that of most.
func TestFolderKindBeforeSize(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"d/a.png": greyPNG(t, 9, 5, 3)}
	for i, name := range []string{"b", "c", "e"} {
		m := image.NewRGBA(image.Rect(0, 0, 10+i, 6))
		for k := range m.Pix {
			m.Pix[k] = 255
		}
		files["d/"+name+".png"] = pngOf(t, m)
	}
	_, err := OpenFS(memory(files), Spec{Images: "d"})
	var sizes *SizesError
	if !errors.As(err, &sizes) || sizes.Pictures != 4 || sizes.Sizes != 4 {
		t.Fatalf("%v, want an error of 4 sizes of 4 pictures", err)
	}
	wantError(t, err, `image "a.png"`, "9 x 5 pixels, grey, 8 bits", "but others in the folder have 10 x 6 pixels, RGB",
		"3 of 4 differ")
	files["d/f.png"] = pngOf(t, image.NewGray16(image.Rect(0, 0, 7, 7)))
	_, err = OpenFS(memory(files), Spec{Images: "d"})
	wantError(t, err, `image "f.png": has grey, 16 bits, but most images in the folder have RGB, 8 bits (1 of 5 differ)`,
		"remove it, or bring it to 8 bits")
	delete(files, "d/f.png")
	ds, err := OpenFS(memory(files), Spec{Images: "d", Resize: Resize{Stretch: [2]int{4, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	if c, _, _ := shapeOf(t, ds); c != 3 {
		t.Errorf("%d channels, want 3", c)
	}
}

func TestFolderPalettesOfGreysGoWithBoth(t *testing.T) {
	greys := pngOf(t, image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Gray{5}, color.Gray{6}}))
	opaque := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	for i := range opaque.Pix {
		opaque.Pix[i] = 255
	}
	for _, c := range []struct {
		other []byte
		want  int
	}{{greyPNG(t, 2, 2, 5), 1}, {pngOf(t, opaque), 3}} {
		ds, err := OpenFS(memory(map[string][]byte{"d/a.png": greys, "d/b.png": greys, "d/c.png": c.other}),
			Spec{Images: "d"})
		if err != nil {
			t.Fatal(err)
		}
		img := imageOf(t, ds, 0)
		if img.C != c.want || slices.ContainsFunc(img.Pix, func(v float64) bool { return v != 5 }) {
			t.Errorf("%d channels, want %d: %v", img.C, c.want, img.Pix)
		}
		if got := imageOf(t, ds, 2); got.C != c.want {
			t.Errorf("%d channels, want %d", got.C, c.want)
		}
	}
}

func TestFolderDamageInTheMiddle(t *testing.T) {
	noise := image.NewGray(image.Rect(0, 0, 40, 40))
	for i := range noise.Pix {
		noise.Pix[i] = byte(i * i >> 3)
	}
	good := pngOf(t, noise)
	bad := slices.Clone(good)
	bad[len(bad)/2] ^= 0xff
	var j bytes.Buffer
	if err := jpeg.Encode(&j, noise, nil); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, b := range map[string][]byte{
		"a.png": good, "b.png": bad, "c.png": good[:len(good)-30],
		"d.jpg": j.Bytes()[:j.Len()/2], "e.png": good,
	} {
		putAt(t, filepath.Join(dir, name), b)
	}
	ds, err := Open(Spec{Images: dir})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"", "b.png", "c.png", "d.jpg", ""} {
		s, err := ds.Sample(i)
		if name == "" {
			if err != nil {
				t.Errorf("sample %d: %v", i, err)
			}
			continue
		}
		wantError(t, err, filepath.Join(dir, name), "damaged")
		if s.Value != nil {
			t.Errorf("sample %d has a value", i)
		}
	}
	// What changes after opening is found, before anything large is decoded.
	putAt(t, filepath.Join(dir, "a.png"), bombPNG(20000, 20000))
	_, err = ds.Sample(0)
	wantError(t, err, "a.png", "has changed to 20000 x 20000")
	if err := os.Remove(filepath.Join(dir, "e.png")); err != nil {
		t.Fatal(err)
	}
	if _, err = ds.Sample(4); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "e.png") {
		t.Errorf("error of a removed file: %v", err)
	}
}

func TestFolderFollowsLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	putAt(t, filepath.Join(other, "x.png"), greyPNG(t, 2, 2, 0))
	putAt(t, filepath.Join(dir, "1", "y.png"), greyPNG(t, 2, 2, 0))
	for from, to := range map[string]string{"0": other, "1/up": dir, "1/z.png": filepath.Join(other, "x.png")} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	ds, err := Open(Spec{Images: dir})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"0/x.png", "1/y.png", "1/z.png"}; !slices.Equal(ds.IDs(), want) {
		t.Errorf("ids %v, want %v", ds.IDs(), want)
	}
	notes := strings.Join(ds.Info().Notes, "\n")
	if want := "the linked folder 0 leads out of it, to " + realPath(t, other); !strings.Contains(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
	if strings.Contains(notes, "1/up") {
		t.Errorf("notes %q speak of a link that stays inside", notes)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "README")); err != nil {
		t.Fatal(err)
	}
	ds, err = Open(Spec{Images: dir})
	if err != nil {
		t.Fatalf("with a link to nowhere that is no picture: %v", err)
	}
	if notes := strings.Join(ds.Info().Notes, "\n"); !strings.Contains(notes, "1 links to nowhere") {
		t.Errorf("notes %q, want the link to nowhere", notes)
	}
	if err := os.Remove(filepath.Join(other, "x.png")); err != nil {
		t.Fatal(err)
	}
	_, err = Open(Spec{Images: dir})
	wantError(t, err, "z.png", "link", "nowhere")
}

func realPath(t *testing.T, name string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"", "0", "7", "07", "2.0", "12", "a", "B", "2.5", "-1",
			"1.",
		}), 1, 12).Draw(t, "words")
		labels, names, err := classes(words)
		noNumbers := []string{"a", "B", "2.5", "1."}
		named := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(noNumbers, w) })
		if !named && slices.Contains(words, "-1") {
			if err == nil || !strings.Contains(err.Error(), "below zero") {
				t.Fatalf("%q: %v, want one that says below zero", words, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if labels == nil {
			if strings.Join(words, "") != "" {
				t.Fatalf("%q has no labels", words)
			}
			return
		}
		numeric := map[string]int{"0": 0, "7": 7, "07": 7, "2.0": 2, "12": 12}
		if !slices.IsSorted(names) {
			t.Fatalf("names %q", names)
		}
		for i, w := range words {
			switch {
			case w == "":
				if labels[i] != -1 {
					t.Fatalf("%q: label %d of nothing", words, labels[i])
				}
			case names == nil:
				if n, ok := numeric[w]; !ok || labels[i] != n {
					t.Fatalf("%q: label %d of %q", words, labels[i], w)
				}
			case names[labels[i]] != w:
				t.Fatalf("%q: class %d is %q", words, labels[i], names[labels[i]])
			}
		}
		if names != nil && !slices.ContainsFunc(words,
			func(w string) bool { _, ok := numeric[w]; return w != "" && !ok }) {
			t.Fatalf("%q are numbers, but have the names %q", words, names)
		}
	})
}

func TestDigest(t *testing.T) {
	// FIPS 180-2, B.1: the digest of "abc".
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, err := Digest(put(t, "x", []byte("abc"))); err != nil || got != abc {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := DigestFS(memory(map[string][]byte{"x": []byte("abc")}), "x"); err != nil || got != abc {
		t.Errorf("%s, %v", got, err)
	}
	dir := t.TempDir()
	_, err := Digest(dir)
	wantError(t, err, dir)
	_, err = Digest(filepath.Join(dir, "absent"))
	wantError(t, err, "absent")
}

func FuzzPicture(f *testing.F) {
	files, err := filepath.Glob("testdata/*.[pjtw]*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if imageFormat(b) != "" {
			f.Add(b)
		}
	}
	f.Add(bombPNG(20000, 20000))
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := memory(map[string][]byte{"x": b})
		p, err := peekPicture(fsys, "x")
		if err != nil || checkSize(p.c, p.h, p.w) != nil || p.h*p.w > 1<<20 {
			return
		}
		o, _, err := peekPhoto(fsys, "x")
		if err != nil {
			return
		}
		p = o.shown(p)
		m, err := loadPicture(fsys, "x", p, o)
		if err == nil && (m.C != p.c || m.H != p.h || m.W != p.w ||
			slices.ContainsFunc(m.Pix, func(v float64) bool { return !(v >= 0 && v < math.Ldexp(1, p.depth)) })) {
			t.Fatalf("%s gives %d x %d x %d", p, m.C, m.H, m.W)
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add("file,label\na,1\nb/c.png,2\n")
	f.Add("\ufeffa;x\nc.png;\"y\n")
	f.Fuzz(func(t *testing.T, s string) {
		ids := []string{"a", "b/c.png", "d/e"}
		labels, names, _, err := tableLabels(memory(map[string][]byte{"t": []byte(s)}), "t", ids)
		if err != nil {
			if labels != nil {
				t.Fatal("labels came with an error")
			}
			return
		}
		if labels != nil && len(labels) != len(ids) {
			t.Fatalf("%d labels", len(labels))
		}
		for _, l := range labels {
			if l < -1 || l > maxClass || names != nil && l >= len(names) {
				t.Fatalf("label %d of %q", l, names)
			}
		}
	})
}

func BenchmarkFolder(b *testing.B) {
	dir := b.TempDir()
	file := greyPNG(b, 28, 28, 7)
	for i := range 2000 {
		putAt(b, filepath.Join(dir, strconv.Itoa(i%10), fmt.Sprintf("%04d.png", i)), file)
	}
	b.Run("open 2000", func(b *testing.B) {
		for b.Loop() {
			if _, err := Open(Spec{Images: dir}); err != nil {
				b.Fatal(err)
			}
		}
	})
	ds, err := Open(Spec{Images: dir})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("sample", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := ds.Sample(i % 2000); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Every kind of decoded image gives what its own color conversion gives.
func TestFromImage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 5).Draw(t, "w"), rapid.IntRange(1, 5).Draw(t, "h")
		r := image.Rect(2, 1, 2+w, 1+h)
		bytesOf := func(b []byte) {
			copy(b, rapid.SliceOfN(rapid.Byte(), len(b), len(b)).Draw(t, "pixels"))
		}
		solid := rapid.IntRange(0, 3).Draw(t, "solid") > 0
		c, depth := 3, 8
		var m image.Image
		switch rapid.SampledFrom([]string{
			"gray", "gray16", "rgba", "nrgba", "rgba64", "nrgba64", "cmyk", "ycbcr",
			"nycbcra", "paletted",
		}).Draw(t, "kind") {
		case "gray":
			x := image.NewGray(r)
			bytesOf(x.Pix)
			m, c, solid = x, 1, true
		case "gray16":
			x := image.NewGray16(r)
			bytesOf(x.Pix)
			m, c, depth, solid = x, 1, 16, true
		case "rgba":
			x := image.NewRGBA(r)
			bytesOf(x.Pix)
			for i := 3; i < len(x.Pix); i += 4 {
				x.Pix[i] = 255
			}
			if !solid {
				x.Pix[3] = 254
			}
			m = x
		case "nrgba":
			x := image.NewNRGBA(r)
			bytesOf(x.Pix)
			for i := 3; i < len(x.Pix); i += 4 {
				x.Pix[i] = 255
			}
			if !solid {
				x.Pix[len(x.Pix)-1] = 0
			}
			m = x
		case "rgba64", "nrgba64":
			x := image.NewNRGBA64(r)
			bytesOf(x.Pix)
			for i := 6; i < len(x.Pix); i += 8 {
				x.Pix[i], x.Pix[i+1] = 255, 255
			}
			if !solid {
				x.Pix[len(x.Pix)-1-rapid.IntRange(0, 1).Draw(t, "byte")] = 254
			}
			m, depth = x, 16
			if rapid.Bool().Draw(t, "premultiplied") {
				m = &image.RGBA64{Pix: x.Pix, Stride: x.Stride, Rect: x.Rect}
			}
		case "cmyk":
			x := image.NewCMYK(r)
			bytesOf(x.Pix)
			m, solid = x, true
		case "ycbcr", "nycbcra":
			ratio := rapid.SampledFrom([]image.YCbCrSubsampleRatio{
				image.YCbCrSubsampleRatio444,
				image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio422,
			}).Draw(t, "ratio")
			x := image.NewNYCbCrA(r, ratio)
			bytesOf(x.Y)
			bytesOf(x.Cb)
			bytesOf(x.Cr)
			for i := range x.A {
				x.A[i] = 255
			}
			m = x
			if !solid {
				x.A[len(x.A)-1] = 9
			} else if rapid.Bool().Draw(t, "alpha") {
				m = &x.YCbCr
			}
		case "paletted":
			x := image.NewPaletted(r, color.Palette{
				color.RGBA{9, 8, 7, 255},
				color.RGBA{200, 3, 77, 255},
				color.Transparent,
			})
			bytesOf(x.Pix)
			for i := range x.Pix {
				x.Pix[i] %= 2
			}
			if !solid {
				x.Pix[0] = 2
			}
			m = x
		}
		got, err := fromImage(m, picture{c: c, h: h, w: w, depth: depth})
		if !solid {
			wantError(t, err, "transparent")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for y := range h {
			for x := range w {
				r, g, b, _ := m.At(2+x, 1+y).RGBA()
				for k, v := range []uint32{r, g, b}[:c] {
					if depth == 8 {
						v >>= 8
					}
					if got := got.Pix[(k*h+y)*w+x]; got != float64(v) {
						t.Fatalf("%T: channel %d row %d column %d is %v, want %v", m, k, y, x, got, v)
					}
				}
			}
		}
		if _, err := fromImage(m, picture{c: c, h: h, w: w, depth: 24 - depth}); err == nil {
			t.Fatalf("%T passes for %d bits", m, 24-depth)
		}
	})
	colors := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	copy(colors.Pix, []byte{1, 2, 3, 255})
	_, err := fromImage(colors, picture{c: 1, h: 1, w: 1, depth: 8})
	wantError(t, err, "decodes to colors")
	_, err = fromImage(image.NewAlpha(image.Rect(0, 0, 1, 1)), picture{c: 1, h: 1, w: 1, depth: 8})
	wantError(t, err, "not supported")
}
