package dataset

import (
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"
)

// greyMask is a grey mask of one row for each list of labels.
func greyMask(tb testing.TB, rows ...[]uint8) []byte {
	tb.Helper()
	m := image.NewGray(image.Rect(0, 0, len(rows[0]), len(rows)))
	for y, row := range rows {
		copy(m.Pix[y*m.Stride:], row)
	}
	return pngOf(tb, m)
}

// palettedMask has colors that are nothing like its numbers.
func palettedMask(tb testing.TB, rows ...[]uint8) []byte {
	tb.Helper()
	var p color.Palette
	for i := range 21 {
		p = append(p, color.NRGBA{uint8(200 - 9*i), uint8(7 * i), 40, 255})
	}
	for len(p) < 256 {
		p = append(p, color.NRGBA{224, 224, 192, 255})
	}
	m := image.NewPaletted(image.Rect(0, 0, len(rows[0]), len(rows)), p)
	for y, row := range rows {
		copy(m.Pix[y*m.Stride:], row)
	}
	return pngOf(tb, m)
}

// coloredMask is a mask in colors.
func coloredMask(tb testing.TB, rows ...[]color.NRGBA) []byte {
	tb.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, len(rows[0]), len(rows)))
	for y, row := range rows {
		for x, c := range row {
			m.SetNRGBA(x, y, c)
		}
	}
	return pngOf(tb, m)
}

// photoOf is a photo of w x h pixels.
func photoOf(tb testing.TB, w, h int) []byte {
	tb.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = uint8(i*7) | 1
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return pngOf(tb, m)
}

// truthOf is the mask of sample i.
func truthOf(tb testing.TB, ds Dataset, i int) *space.Mask {
	tb.Helper()
	s, err := ds.Sample(i)
	if err != nil {
		tb.Fatal(err)
	}
	m, ok := s.Target.(*space.Mask)
	if !ok {
		tb.Fatalf("the target of sample %d is a %T", i, s.Target)
	}
	return m
}

func file(b []byte) *fstest.MapFile { return &fstest.MapFile{Data: b} }

// Every way in which masks lie beside photos, and every way in which pixels say their class, gives the same truth.
func TestMasks(t *testing.T) {
	t.Parallel()
	const v = space.Void
	photo, white := photoOf(t, 3, 2), color.NRGBA{255, 255, 255, 255}
	red, blue := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 255}
	want := []int32{0, 1, 2, 2, 1, v}
	plain := greyMask(t, []uint8{0, 1, 2}, []uint8{2, 1, 255})
	bits := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{white, red, blue, color.NRGBA{0, 0, 0, 255}})
	copy(bits.Pix, []uint8{0, 1, 2, 2, 1, 3})
	for _, c := range []struct {
		name string
		fs   fstest.MapFS
		spec Spec
		note string
	}{
		{
			"images and masks",
			fstest.MapFS{"d/images/a.png": file(photo), "d/masks/a.png": file(plain)},
			Spec{Images: "d"},
			"",
		},
		{
			"palette of Pascal VOC",
			fstest.MapFS{
				"d/JPEGImages/a.png": file(photo), "d/JPEGImages/b.png": file(photo),
				"d/SegmentationClass/a.png": file(palettedMask(t, []uint8{0, 1, 2}, []uint8{2, 1, 255})),
			},
			Spec{Images: "d"},
			"1 of 2 photos have a mask",
		},
		{
			"split of Pascal VOC",
			fstest.MapFS{
				"d/JPEGImages/a.png": file(photo), "d/JPEGImages/b.png": file(photo),
				"d/SegmentationClass/a.png":        file(plain),
				"d/ImageSets/Segmentation/val.txt": file([]byte("a\n")),
			},
			Spec{Images: "d", Split: "val"},
			"classes are those of Pascal VOC",
		},
		{
			"another folder",
			fstest.MapFS{"p/x/a.png": file(photo), "m/x/a.png": file(plain)},
			Spec{Images: "p", Targets: "m"},
			"",
		},
		{
			"among the photos",
			fstest.MapFS{"d/a.png": file(photo), "d/a_mask.png": file(plain)},
			Spec{Images: "d", Format: "masks"},
			"masks are called {name}_mask.png",
		},
		{
			"Cityscapes",
			fstest.MapFS{
				"p/ulm/ulm_000_leftImg8bit.png":     file(photo),
				"m/ulm/ulm_000_gtFine_labelIds.png": file(greyMask(t, []uint8{7, 8, 26}, []uint8{26, 8, 4})),
			},
			Spec{
				Images: "p", Targets: "m", Format: "masks",
				Masks: Masks{
					Photo: "{name}_leftImg8bit", File: "{name}_gtFine_labelIds", Values: []int{7, 8, 26}, Rest: "void",
				},
			},
			"",
		},
		{
			"colors",
			fstest.MapFS{
				"p/a.png": file(photo),
				"m/a.png": file(coloredMask(t,
					[]color.NRGBA{white, red, blue}, []color.NRGBA{blue, red, {0, 0, 0, 255}})),
			},
			Spec{
				Images: "p", Targets: "m",
				Masks: Masks{
					Colors:     [][]int{{255, 255, 255}, {255, 0, 0}, {0, 0, 255}},
					VoidColors: [][]int{{0, 0, 0}},
				},
			},
			"",
		},
		{
			"colors of a palette",
			fstest.MapFS{"p/a.png": file(photo), "m/a.png": file(pngOf(t, bits))},
			Spec{
				Images: "p", Targets: "m",
				Masks: Masks{Colors: [][]int{{255, 255, 255}, {255, 0, 0}, {0, 0, 255}}, Rest: "void"},
			},
			"",
		},
		{
			"two bits",
			fstest.MapFS{"p/a.png": file(photo), "m/a.png": file(pngOf(t, bits))},
			Spec{Images: "p", Targets: "m", Masks: Masks{Void: []int{3}}},
			"",
		},
		{
			"greys in three channels",
			fstest.MapFS{
				"p/a.png": file(photo),
				"m/a.png": file(coloredMask(t,
					[]color.NRGBA{{0, 0, 0, 255}, {1, 1, 1, 255}, {2, 2, 2, 255}},
					[]color.NRGBA{{2, 2, 2, 255}, {1, 1, 1, 255}, {255, 255, 255, 255}})),
			},
			Spec{Images: "p", Targets: "m"},
			"",
		},
	} {
		ds, err := OpenFS(c.fs, c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := truthOf(t, ds, 0); got.H != 2 || got.W != 3 || !slices.Equal(got.Label, want) {
			t.Errorf("%s: %v, want %v", c.name, got.Label, want)
		}
		if ds.Len() != 1 || ds.Info().Target.Kind != space.KindMask || !slices.ContainsFunc(ds.Files(),
			func(f string) bool { return strings.HasSuffix(f, "png") && f == ds.Files()[1] }) {
			t.Errorf("%s: %d samples, files %v, targets %s", c.name, ds.Len(), ds.Files(), ds.Info().Target.Kind)
		}
		if notes := strings.Join(ds.Info().Notes, "; "); !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, notes, c.note)
		}
	}
}

// A photo and its mask are resized alike, the mask without mixing labels, and what is added around a photo is void.
func TestMasksResized(t *testing.T) {
	t.Parallel()
	const v = space.Void
	files := fstest.MapFS{
		"p/a.png": file(photoOf(t, 4, 2)), "m/a.png": file(greyMask(t, []uint8{0, 0, 9, 9}, []uint8{0, 0, 9, 9})),
	}
	for _, c := range []struct {
		name string
		spec Spec
		h, w int
		want []int32
	}{
		{"zoom", Spec{Zoom: 0.5}, 1, 2, []int32{0, 9}},
		{"fit", Spec{Fit: [2]int{4, 4}}, 4, 4, []int32{v, v, v, v, 0, 0, 9, 9, 0, 0, 9, 9, v, v, v, v}},
		{"stretch", Spec{Resize: Resize{Stretch: [2]int{1, 3}}}, 1, 3, []int32{0, 9, 9}},
		{
			"letterbox",
			Spec{Resize: Resize{Letterbox: [2]int{3, 4}, Fill: 114}},
			3, 4,
			[]int32{0, 0, 9, 9, 0, 0, 9, 9, v, v, v, v},
		},
		{"crop", Spec{Resize: Resize{Crop: [2]int{2, 2}}}, 2, 2, []int32{0, 9, 0, 9}},
		{"cut", Spec{Cut: Cut{Size: [2]int{2, 2}}}, 2, 2, []int32{0, 9, 0, 9}},
		{
			"cut, reflected",
			Spec{Cut: Cut{Size: [2]int{2, 6}, Outside: "reflect"}},
			2, 6,
			[]int32{0, 0, 0, 9, 9, 9, 0, 0, 0, 9, 9, 9},
		},
	} {
		c.spec.Images, c.spec.Targets = "p", "m"
		ds, err := OpenFS(files, c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := truthOf(t, ds, 0)
		if got.H != c.h || got.W != c.w || !slices.Equal(got.Label, c.want) {
			t.Errorf("%s: %d x %d %v, want %v", c.name, got.W, got.H, got.Label, c.want)
		}
		if m := imageOf(t, ds, 0); m.H != c.h || m.W != c.w {
			t.Errorf("%s: the photo has %d x %d pixels", c.name, m.W, m.H)
		}
	}
}

// Masks of 0 and 255 alone are of two classes: as void there would be nothing to find.
func TestMasksBinary(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"p/a.png": file(photoOf(t, 2, 1)), "m/a.png": file(greyMask(t, []uint8{0, 255})),
	}
	ds, err := OpenFS(files, Spec{Images: "p", Targets: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if got := truthOf(t, ds, 0); !slices.Equal(got.Label, []int32{0, 1}) {
		t.Errorf("%v", got.Label)
	}
	if notes := strings.Join(ds.Info().Notes, "; "); !strings.Contains(notes, "255 is taken for class 1") {
		t.Errorf("notes %q", notes)
	}
	ds, err = OpenFS(files, Spec{Images: "p", Targets: "m", Masks: Masks{Void: []int{255}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := truthOf(t, ds, 0); !slices.Equal(got.Label, []int32{0, space.Void}) {
		t.Errorf("%v where the study says that 255 is void", got.Label)
	}
}

// What is wrong is said with the file, the place and a remedy.
func TestMasksRefuse(t *testing.T) {
	t.Parallel()
	photo := file(photoOf(t, 2, 2))
	good := file(greyMask(t, []uint8{0, 1}, []uint8{1, 0}))
	deep := image.NewGray16(image.Rect(0, 0, 2, 2))
	red := color.NRGBA{255, 0, 0, 255}
	colors := file(coloredMask(t, []color.NRGBA{{0, 0, 0, 255}, {0, 0, 0, 255}}, []color.NRGBA{{0, 0, 0, 255}, red}))
	for _, c := range []struct {
		name string
		fs   fstest.MapFS
		spec Spec
		want []string
	}{
		{
			"another size",
			fstest.MapFS{"p/a.png": photo, "m/a.png": file(greyMask(t, []uint8{0, 1, 0}))},
			Spec{},
			[]string{"m/a.png: has 3 x 1 pixels, but its photo p/a.png has 2 x 2"},
		},
		{
			"16 bits",
			fstest.MapFS{"p/a.png": photo, "m/a.png": file(pngOf(t, deep))},
			Spec{},
			[]string{"m/a.png: has 16 bits per channel", "number objects and not classes"},
		},
		{
			"unknown color",
			fstest.MapFS{"p/a.png": photo, "m/a.png": colors},
			Spec{Masks: Masks{Colors: [][]int{{0, 0, 0}, {0, 0, 255}}}},
			[]string{"m/a.png: the pixel at column 1, row 1 has the color [255, 0, 0]", "data.masks.colors"},
		},
		{
			"no table of colors",
			fstest.MapFS{"p/a.png": photo, "m/a.png": colors},
			Spec{},
			[]string{"column 1, row 1 has the color [255, 0, 0], and nothing says which class that is"},
		},
		{
			"unknown number",
			fstest.MapFS{"p/a.png": photo, "m/a.png": file(greyMask(t, []uint8{0, 0}, []uint8{7, 0}))},
			Spec{Classes: []string{"sky", "road"}},
			[]string{"the pixel at column 0, row 1 has the number 7, which is no class: data.classes has 2 (0 to 1)"},
		},
		{
			"transparent",
			fstest.MapFS{
				"p/a.png": photo,
				"m/a.png": file(coloredMask(t, []color.NRGBA{red, red}, []color.NRGBA{red, {0, 0, 0, 0}})),
			},
			Spec{Masks: Masks{Colors: [][]int{{255, 0, 0}}}},
			[]string{"column 1, row 1 is transparent"},
		},
		{
			"no mask",
			fstest.MapFS{"p/a.png": photo, "p/b.png": photo, "m/a.png": good},
			Spec{},
			[]string{"1 of 2 photos have no mask, first missing m/b.png of the photo \"b.png\"", "targets: none"},
		},
		{
			"no photo",
			fstest.MapFS{"p/a.png": photo, "m/a.png": good, "m/z.png": good},
			Spec{},
			[]string{"1 of 2 masks have no photo, first \"z.png\""},
		},
		{
			"two photos",
			fstest.MapFS{"p/a.png": photo, "p/a.bmp": photo, "m/a.png": good},
			Spec{},
			[]string{"would belong to both"},
		},
		{
			"no mask at all",
			fstest.MapFS{"p/a.png": photo, "m/a.jpg": photo},
			Spec{},
			[]string{"no masks", "masks are PNG files"},
		},
		{
			"broken",
			fstest.MapFS{"p/a.png": photo, "m/a.png": file(good.Data[:60])},
			Spec{},
			[]string{"m/a.png: the PNG data are damaged"},
		},
		{
			"no PNG",
			fstest.MapFS{"p/a.png": photo, "m/a.png": file([]byte("nothing"))},
			Spec{},
			[]string{"m/a.png: is no PNG image"},
		},
		{
			"name",
			fstest.MapFS{"p/a.png": photo, "m/a.png": good},
			Spec{Masks: Masks{File: "mask"}},
			[]string{"masks.file is \"mask\"", "{name}_mask"},
		},
		{
			"values and classes",
			fstest.MapFS{"p/a.png": photo, "m/a.png": good},
			Spec{Classes: []string{"a", "b", "c"}, Masks: Masks{Values: []int{0, 1}}},
			[]string{"masks.values has 2 entries for 3 classes"},
		},
		{
			"a value twice",
			fstest.MapFS{"p/a.png": photo, "m/a.png": good},
			Spec{Masks: Masks{Values: []int{1, 1}}},
			[]string{"masks.values has 1 twice"},
		},
		{
			"a color that is none",
			fstest.MapFS{"p/a.png": photo, "m/a.png": good},
			Spec{Masks: Masks{Colors: [][]int{{0, 300, 0}}}},
			[]string{"masks.colors[0] is [0 300 0]"},
		},
		{
			"another format",
			fstest.MapFS{"p/a.png": photo},
			Spec{Format: "folder", Targets: "", Masks: Masks{Values: []int{1}}},
			[]string{"masks says how masks of photos are read, this is folder"},
		},
	} {
		c.spec.Images = "p"
		if c.spec.Format == "" {
			c.spec.Format, c.spec.Targets = "masks", "m"
		}
		ds, err := OpenFS(c.fs, c.spec)
		if err == nil {
			_, err = ds.Sample(0)
		}
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want...) })
	}
}

func FuzzMask(f *testing.F) {
	f.Add(greyMask(f, []uint8{0, 1, 2}, []uint8{2, 1, 255}))
	f.Add(palettedMask(f, []uint8{0, 1, 2}, []uint8{2, 1, 255}))
	f.Add(coloredMask(f, []color.NRGBA{{1, 1, 1, 255}, {255, 0, 0, 255}}))
	for _, depth := range []uint8{1, 2, 4, 16} {
		b := greyMask(f, []uint8{0, 1, 2})
		b[pngDepth] = depth
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, w, err := maskSize(b)
		if err != nil || h*w > 1<<20 {
			return
		}
		for _, s := range []Masks{{}, {Colors: [][]int{{1, 1, 1}, {255, 0, 0}}}, {Values: []int{0, 1}, Rest: "void"}} {
			m := &maskReader{spec: s}
			if err := m.check(); err != nil {
				t.Fatal(err)
			}
			x, _, err := m.decode(b, h, w)
			if err == nil && (x.H != h || x.W != w || len(x.Label) != h*w || slices.Contains(x.Label, -1)) {
				t.Errorf("%d x %d: %d labels", w, h, len(x.Label))
			}
		}
	})
}
