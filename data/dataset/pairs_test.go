package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"nero/data/space"
	"nero/data/tensor"
)

// flat16 is a 16-bit TIFF of one intensity.
func flat16(tb interface{ Fatal(...any) }, h, w int, v uint16) []byte {
	m := image.NewGray16(image.Rect(0, 0, w, h))
	for r := range h {
		for c := range w {
			m.SetGray16(c, r, color.Gray16{Y: v})
		}
	}
	var b bytes.Buffer
	if err := tiff.Encode(&b, m, nil); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// framesOf is the value of sample i.
func framesOf(tb testing.TB, ds Dataset, i int) []*space.Image {
	tb.Helper()
	s, err := ds.Sample(i)
	if err != nil {
		tb.Fatal(err)
	}
	f, ok := s.Value.(*space.Frames)
	if !ok {
		tb.Fatalf("sample %d is a %T", i, s.Value)
	}
	return f.Images
}

// fieldOf is the target of sample i.
func fieldOf(tb testing.TB, ds Dataset, i int) *space.Field {
	tb.Helper()
	s, err := ds.Sample(i)
	if err != nil {
		tb.Fatal(err)
	}
	f, ok := s.Target.(*space.Field)
	if !ok {
		tb.Fatalf("the target of sample %d is a %T", i, s.Target)
	}
	return f
}

// How files are called by those who publish pairs: the frames of each pair have intensities 10 k and 10 k + 1.
func TestPairNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// frames of pair k are files 2 k and 2 k + 1
		files []string
		ids   []string
	}{
		{
			"OpenPIV",
			[]string{"exp1_001_a.png", "exp1_001_b.png", "exp1_002_a.png", "exp1_002_b.png"},
			[]string{"exp1_001", "exp1_002"},
		},
		{"letters after numbers", []string{"7A.png", "7B.png", "8A.png", "8B.png"}, []string{"7", "8"}},
		{"PIV challenge", []string{
			"SQG_00001_img1.png", "SQG_00001_img2.png", "SQG_00010_img1.png",
			"SQG_00010_img2.png",
		}, []string{"SQG_00001", "SQG_00010"}},
		{"numbers from 0", []string{"run_0.png", "run_1.png", "walk_0.png", "walk_1.png"}, []string{"run", "walk"}},
		{"numbers from 1", []string{"run-1.png", "run-2.png", "walk-1.png", "walk-2.png"}, []string{"run", "walk"}},
		{
			"Middlebury",
			[]string{"Army/frame10.png", "Army/frame11.png", "Wood/frame10.png", "Wood/frame11.png"},
			[]string{"Army", "Wood"},
		},
		{
			"folders",
			[]string{"a/0001.png", "b/0001.png", "a/0007.png", "b/0007.png", "a/0009.png", "b/0009.png"},
			[]string{"0001", "0007", "0009"},
		},
		{
			"folders with words",
			[]string{"img1/x.png", "img2/x.png", "img1/y/z.png", "img2/y/z.png"},
			[]string{"x", "y/z"},
		},
	} {
		files := map[string][]byte{}
		for k, f := range c.files {
			files["d/"+f] = greyPNG(t, 3, 2, byte(10*(k/2)+k%2))
		}
		ds, err := OpenFS(memory(files), Spec{Images: "d", Format: "pairs"})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.Equal(ds.IDs(), c.ids) {
			t.Errorf("%s: pairs %v, want %v", c.name, ds.IDs(), c.ids)
			continue
		}
		for k := range c.ids {
			if f := framesOf(t, ds, k); len(f) != 2 || f[0].Pix[0] != float64(10*k) || f[1].Pix[5] != float64(10*k+1) {
				t.Errorf("%s: frames of %s are %v", c.name, c.ids[k], f)
			}
		}
		if framesIn(ds) != 2 {
			t.Errorf("%s: the data set does not announce two frames", c.name)
		}
		if n := len(ds.Files()); n != len(c.files) {
			t.Errorf("%s: %d files of %d", c.name, n, len(c.files))
		}
	}
}

func TestPairPattern(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{}
	for k, f := range []string{
		"t2-x.png", "t10-x.png", "t1-x.png", "t1-y.png", "t2-y.png", "t10-y.png",
		"preview.png",
	} {
		files["d/"+f] = greyPNG(t, 3, 2, byte(k))
	}
	ds, err := OpenFS(memory(files), Spec{Images: "d", Format: "pairs", Pattern: `^t(?P<frame>\d+)-(?P<pair>.)`})
	if err != nil {
		t.Fatal(err)
	}
	if f := framesOf(t, ds, 0); !slices.Equal(ds.IDs(), []string{"x", "y"}) || len(f) != 3 || f[0].Pix[0] != 2 ||
		f[1].Pix[0] != 0 || f[2].Pix[0] != 1 {
		t.Errorf("%v: frames %v, want those of 1, 2 and 10", ds.IDs(), f)
	}
	if want := `d: the pattern does not match 1 images, which are left out, first "preview.png"`; notesOf(t,
		ds) != want {
		t.Errorf("notes %q, want %q", notesOf(t, ds), want)
	}
	for pattern, want := range map[string]string{
		`^t(?P<frame>\d)`:             `d: pattern "^t(?P<frame>\\d)" has no groups named pair and frame: write (?P<pair>...) around what the frames of a pair share and (?P<frame>...) around what orders them`,
		`^q(?P<frame>\d)(?P<pair>.)`:  `d: pattern "^q(?P<frame>\\d)(?P<pair>.)" matches none of the 7 images, which are named like "preview.png"`,
		`^t(?P<frame>\d+)(?P<pair>)-`: `d: images "t1-x.png" and "t1-y.png" are the same frame "1" of "" by the pattern: narrow it`,
		`^t(?P<frame>1)-(?P<pair>.)`:  `d: image "t1-x.png" has no partner by the pattern: its pair is "x"`,
		`^t(?P<frame>1|2|10)-(?P<pair>x|y)(?!a)`: "d: pattern: error parsing regexp: invalid or unsupported Perl " +
			"syntax: `(?!`",
	} {
		if _, err := OpenFS(memory(files), Spec{Images: "d", Format: "pairs", Pattern: pattern}); err == nil ||
			err.Error() != want {
			t.Errorf("%s: error %v, want %s", pattern, err, want)
		}
	}
	delete(files, "d/t10-y.png")
	_, err = OpenFS(memory(files), Spec{Images: "d", Format: "pairs", Pattern: `^t(?P<frame>\d+)-(?P<pair>.)`})
	if want := `d: "x" has 3 frames and "y" has 2: all sequences must be of one length; narrow the pattern or leave files out`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestPairsRefuse(t *testing.T) {
	t.Parallel()
	const remedy = "frames of a pair are told by the end of their name (a and b, 0 and 1, 1 and 2, img1 and img2): " +
		"rename it, or give a pattern with groups named pair and frame"
	small, large := greyPNG(t, 3, 2, 1), greyPNG(t, 4, 2, 1)
	flo := floBytes(t, swirl(2, 3))
	nan := bytes.Clone(flo)
	copy(nan[floHead:], "\x00\x00\xc0\x7f")
	for _, c := range []struct {
		name  string
		files map[string][]byte
		spec  Spec
		want  string
	}{
		{
			"frames of different size",
			map[string][]byte{"x_a.png": small, "x_b.png": large},
			Spec{},
			`d: the frames "x_a.png" and "x_b.png" of one pair differ: 3 x 2 pixels, grey, 8 bits and 4 x 2 pixels, grey, 8 bits; crop or convert one of them`,
		},
		{
			"pairs of different size",
			map[string][]byte{
				"x_a.png": small, "x_b.png": small, "y_a.png": large,
				"y_b.png": large,
			},
			Spec{},
			`d: "y_a.png" has 4 x 2 pixels, grey, 8 bits and "x_a.png" has 3 x 2 pixels, grey, 8 bits: all pairs must agree; crop or convert them, or keep them in folders of their own`,
		},
		{
			"no partner",
			map[string][]byte{"x_a.png": small, "x_b.png": small, "y_a.png": small},
			Spec{},
			`d: image "y_a.png" has no partner: ` + remedy,
		},
		{
			"no frames",
			map[string][]byte{"camera.png": small, "panda.png": small},
			Spec{},
			`d: image "camera.png": its name does not say which frame of which pair it is; ` + remedy,
		},
		{
			"a film",
			map[string][]byte{"x1.png": small, "x2.png": small, "x3.png": small},
			Spec{},
			`d: the 3 images "x1.png", "x2.png", … differ in the number at their end alone and are no pair of frames that follow each other: give a pattern with groups named pair and frame`,
		},
		{
			"a gap",
			map[string][]byte{"x1.png": small, "x3.png": small},
			Spec{},
			`d: the 2 images "x1.png", "x3.png", … differ in the number at their end alone and are no pair of frames that follow each other: give a pattern with groups named pair and frame`,
		},
		{
			"two ways",
			map[string][]byte{"a/1.png": small, "a/2.png": small, "b/1.png": small, "b/2.png": small},
			Spec{},
			`d: "a/1.png" and "a/2.png" may be a pair by their names, or "a/1.png" and "b/1.png" by their folders: give a pattern with groups named pair and frame`,
		},
		{
			"wrong magic",
			map[string][]byte{"x_a.png": small, "x_b.png": small, "x.flo": []byte("FLOW too short")},
			Spec{},
			"d/x.flo: starts with bytes 46 4c 4f 57, want 50 49 45 48 (the number 202021.25): not a .flo " +
				"file, or damaged; fetch or write it again",
		},
		{
			"field of another size",
			map[string][]byte{"x_a.png": large, "x_b.png": large, "x.flo": flo},
			Spec{},
			"d/x.flo: has 3 x 2 vectors, but the frame d/x_a.png has 4 x 2 px: one vector belongs to each pixel; " +
				"take the field of this pair",
		},
		{
			"a field is missing",
			map[string][]byte{
				"x_a.png": small, "x_b.png": small, "y_a.png": small, "y_b.png": small,
				"x_flow.flo": flo,
			},
			Spec{},
			`d: 1 of 2 pairs have no field, first "y": want "y.flo", "y_flow.flo" or "y.txt"; add it, leave the pair out, or say targets: none`,
		},
		{
			"all are missing",
			map[string][]byte{"x_a.png": small, "x_b.png": small, "t/z.flo": flo},
			Spec{Targets: "d/t"},
			`d/t: no field belongs to the pair "x": want "x.flo", "x_flow.flo" or "x.txt"`,
		},
		{
			"table of another picture",
			map[string][]byte{"x_a.png": small, "x_b.png": small, "x.txt": []byte("8 8 0 0\n8 16 0 0\n")},
			Spec{},
			"d/x.txt: has vectors at x from 8 to 8 and y from 8 to 16, but the frames have 3 x 2 px: it belongs to " +
				"another pair, or its lengths are not in pixels",
		},
		{
			"zoom",
			map[string][]byte{"x_a.png": small},
			Spec{Zoom: 2},
			"d: resize, zoom, fit and cut are for photos, this is pairs",
		},
		{"upward", map[string][]byte{"x_a.png": small}, Spec{Upward: "left"}, `d: upward is "left", want up or down`},
	} {
		files := map[string][]byte{}
		for n, b := range c.files {
			files["d/"+n] = b
		}
		c.spec.Images, c.spec.Format = "d", "pairs"
		if _, err := OpenFS(memory(files), c.spec); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	ds, err := OpenFS(memory(map[string][]byte{"d/x_a.png": small, "d/x_b.png": small, "d/x.flo": nan}),
		Spec{Images: "d", Format: "pairs"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ds.Sample(0)
	if want := "d/x.flo: the vector at row 0, column 0 is (NaN, -0.5), which is no displacement (above 1e9 means " +
		"unknown): models are compared at every pixel; fill it in, crop the pair, or say " +
		"targets: none: not finite"; err == nil ||
		err.Error() != want || !errors.Is(err, ErrNotFinite) {
		t.Errorf("error %v, want %s", err, want)
	}
	if ds, err = OpenFS(memory(map[string][]byte{"d/x_a.png": small, "d/x_b.png": small, "d/x.flo": nan}),
		Spec{Images: "d", Format: "pairs", Targets: "none"}); err != nil {
		t.Fatal(err)
	}
	if s, err := ds.Sample(0); err != nil || s.Target != nil {
		t.Errorf("targets: none gives %v, %v", s.Target, err)
	}
}

func TestPairFields(t *testing.T) {
	t.Parallel()
	frame := flat16(t, 2, 3, 40000)
	for _, c := range []struct {
		name   string
		frames [2]string
		// path of the field
		field string
		spec  Spec
	}{
		{"same name", [2]string{"d/x_a.tif", "d/x_b.tif"}, "d/x.flo", Spec{}},
		{"flow at the end", [2]string{"d/x_img1.tif", "d/x_img2.tif"}, "d/x_flow.flo", Spec{}},
		{"in a folder", [2]string{"d/p/x_1.tif", "d/p/x_2.tif"}, "d/p/x_flow.flo", Spec{}},
		{"Middlebury", [2]string{"d/Army/frame10.tif", "d/Army/frame11.tif"}, "t/Army/flow10.flo", Spec{Targets: "t"}},
		{"one pair", [2]string{"d/img1.tif", "d/img2.tif"}, "d/flow.flo", Spec{}},
		{"targets", [2]string{"d/x_a.tif", "d/x_b.tif"}, "t/x.flo", Spec{Targets: "t"}},
		{"folders", [2]string{"d/a/7.tif", "d/b/7.tif"}, "d/flow/7.flo", Spec{}},
	} {
		c.spec.Images, c.spec.Format = "d", "pairs"
		fsys := memory(map[string][]byte{c.frames[0]: frame, c.frames[1]: frame, c.field: floBytes(t, swirl(2, 3))})
		ds, err := OpenFS(fsys, c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if ds.Info().Target.Kind != space.KindField {
			t.Errorf("%s: no fields are announced", c.name)
			continue
		}
		if f := fieldOf(t, ds, 0); f.H != 2 || f.W != 3 || !slices.Equal(f.Val, swirl(2, 3).Val) {
			t.Errorf("%s: field %+v", c.name, f)
		}
		if !slices.Contains(ds.Files(), c.field) || len(ds.Files()) != 3 {
			t.Errorf("%s: files %v", c.name, ds.Files())
		}
		if f := framesOf(t, ds, 0); f[0].Pix[0] != 40000 {
			t.Errorf("%s: intensity %v, want 40000 of 16 bits", c.name, f[0].Pix[0])
		}
		v, err := Subset(ds, []int{0})
		if err != nil {
			t.Fatal(err)
		}
		if i := v.Info(); i.Max != 65535 || framesIn(v) != 2 || i.Target.Kind != space.KindField {
			t.Errorf("%s: %+v", c.name, i)
		}
		if vc, vh, vw := shapeOf(t, v); vc != 1 || vh != 2 || vw != 3 {
			t.Errorf("%s: shape %d, %d, %d", c.name, vc, vh, vw)
		}
	}
}

func TestPairTables(t *testing.T) {
	t.Parallel()
	frame := greyPNG(t, 4, 4, 9)
	fsys := memory(map[string][]byte{
		"d/x_a.png": frame, "d/x_b.png": frame,
		"d/x.txt": []byte("# x y u v flags mask\n1 3 5 -1 0 0\n3 3 7 -1 1 0\n1 1 5 -2 0 0\n3 1 7 -2 0 0\n"),
	})
	ds, err := OpenFS(fsys, Spec{Images: "d", Format: "pairs"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"d: tables of vectors: v points up, as their y falls from line to line",
		"d: 1 fields are coarser than the pixels, such as 2 x 2 vectors at x from 1 to 3 and y from 1 to 3: " +
			"interpolated bilinearly, the outermost repeated to the edges",
		"d: 1 vectors are marked (replaced or masked) and used as they are",
	}
	if got := strings.Split(notesOf(t, ds), "\n"); !slices.Equal(got, want) {
		t.Errorf("notes %q, want %q", got, want)
	}
	f := fieldOf(t, ds, 0)
	// Columns at 1/2, 3/2, 5/2, 7/2 between vectors at 1 and 3.
	if !slices.Equal(f.U()[:4], []float64{5, 5.5, 6.5, 7}) || f.V()[0] != 1 || f.V()[4] != 1.25 || f.V()[15] != 2 {
		t.Errorf("u %v, v %v", f.U(), f.V())
	}
	if ds, err = OpenFS(fsys, Spec{Images: "d", Format: "pairs", Upward: "down"}); err != nil {
		t.Fatal(err)
	}
	if f = fieldOf(t, ds, 0); f.V()[0] != -2 || f.V()[15] != -1 ||
		!strings.Contains(notesOf(t, ds), "v points down, as it was said") {
		t.Errorf("v %v, notes %q", f.V(), notesOf(t, ds))
	}
}

// testdata/stack16.tif is Pillow's: page k holds the pixels of grey16.tif plus k.
func TestStacks(t *testing.T) {
	t.Parallel()
	ds, err := Open(Spec{Images: "testdata/stack16.tif", Format: "pairs"})
	if err != nil {
		t.Fatal(err)
	}
	if framesIn(ds) != 3 || ds.Len() != 1 || ds.IDs()[0] != "stack16" {
		t.Fatalf("%d samples %v", ds.Len(), ds.IDs())
	}
	for k, m := range framesOf(t, ds, 0) {
		for i, v := range m.Pix {
			if want := float64(257*(16*(i/5)+5*(i%5)) + 1 + k); v != want {
				t.Fatalf("page %d, pixel %d is %v, want %v", k, i, v, want)
			}
		}
	}
	stack, err := readWhole(disk{}, "testdata/stack16.tif")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		files map[string][]byte
		want  string
	}{
		{
			"both",
			map[string][]byte{"d/s.tif": stack, "d/one.tif": flat16(t, 4, 5, 1)},
			`d: image "one.tif": has one page, but 1 other files have several: a folder has pairs of files or stacks of pages, not both; move the others away`,
		},
		{
			"cut",
			map[string][]byte{"d/s.tif": stack[:len(stack)-100]},
			"page 3 of the TIFF file lies outside of it: the file is cut short: ",
		},
	} {
		_, err := OpenFS(memory(c.files), Spec{Images: "d", Format: "pairs"})
		wantError(t, err, c.want)
	}
	// The last directory points back at the first.
	pages, err := tiffPages(bytes.NewReader(stack))
	if err != nil || len(pages) != 3 {
		t.Fatalf("pages %v, %v", pages, err)
	}
	loop := bytes.Clone(stack)
	order, err := tiffOrder(loop)
	if err != nil {
		t.Fatal(err)
	}
	at := pages[2]
	order.PutUint32(loop[at+2+12*uint32(order.Uint16(loop[at:])):], pages[0])
	_, err = tiffPages(bytes.NewReader(loop))
	wantError(t, err, "run in a circle")
}

func TestPairsOfBMP(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	m := image.NewGray(image.Rect(0, 0, 3, 2))
	m.Pix[4] = 77
	if err := bmp.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	ds, err := OpenFS(memory(map[string][]byte{
		"d/e_a.bmp": b.Bytes(), "d/e_b.bmp": b.Bytes(),
		"l.csv": []byte("file,label\ne,jet\n"),
	}), Spec{Images: "d", Format: "pairs", Labels: "l.csv"})
	if err != nil {
		t.Fatal(err)
	}
	if f := framesOf(t, ds, 0); f[1].C != 1 || f[1].Pix[4] != 77 || !slices.Equal(ds.Labels(), []int{0}) {
		t.Errorf("%+v, labels %v", f[1], ds.Labels())
	}
}

// npz is an archive of arrays.
func npz(tb interface{ Fatal(...any) }, arrays map[string]tensor.Tensor) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, a := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			tb.Fatal(err)
		}
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(a.Shape), "[]"), " ", ", ")
		descr := map[tensor.DType]string{tensor.Uint8: "|u1", tensor.Uint16: "<u2", tensor.Float32: "<f4"}[a.DType]
		if _, err := w.Write(
			append(npyHead(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }", descr, shape), 0),
				a.Raw...)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// numbered is a tensor whose element i is i.
func numbered(d tensor.DType, shape ...int) tensor.Tensor {
	t := tensor.New(d, shape...)
	n := 1
	for _, s := range shape {
		n *= s
	}
	for i := range n {
		encode(t, i, float64(i))
	}
	return t
}

func TestPairArrays(t *testing.T) {
	t.Parallel()
	frames, field := numbered(tensor.Uint16, 2, 3, 4, 5), numbered(tensor.Float32, 2, 2, 4, 5)
	last := numbered(tensor.Float32, 2, 4, 5, 2)
	for _, c := range []struct {
		name  string
		files map[string][]byte
		spec  Spec
		// v of sample 1 at row 1, column 0
		v float64
	}{
		{
			"one archive",
			map[string][]byte{"a.npz": npz(t, map[string]tensor.Tensor{"frames": frames, "flow": field})},
			Spec{},
			65,
		},
		{
			"components last",
			map[string][]byte{"a.npz": npz(t, map[string]tensor.Tensor{"x": frames, "uv": last})},
			Spec{},
			51,
		},
		{
			"named",
			map[string][]byte{"a.npz": npz(t, map[string]tensor.Tensor{"p": frames, "q": field})},
			Spec{Key: "p", TargetKey: "q"},
			65,
		},
		{"two archives", map[string][]byte{
			"a.npz": npz(t, map[string]tensor.Tensor{"p": frames}),
			"t.npz": npz(t, map[string]tensor.Tensor{"q": last}),
		}, Spec{Targets: "t.npz"}, 51},
	} {
		c.spec.Images, c.spec.Format = "a.npz", "pairs"
		ds, err := OpenFS(memory(c.files), c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f := framesOf(t, ds, 1)
		if len(f) != 3 || f[2].C != 1 || f[2].H != 4 || f[2].W != 5 || f[2].Pix[0] != 100 || f[0].Pix[19] != 79 {
			t.Errorf("%s: frames %+v", c.name, f)
		}
		if g := fieldOf(t, ds, 1); g.H != 4 || g.W != 5 || g.V()[5] != c.v {
			t.Errorf("%s: field %+v, want v %v", c.name, g, c.v)
		}
		if len(ds.Files()) != len(c.files) {
			t.Errorf("%s: files %v", c.name, ds.Files())
		}
	}
	// Colors after the frames.
	ds, err := OpenFS(memory(map[string][]byte{"a.npz": npz(t,
		map[string]tensor.Tensor{"frames": numbered(tensor.Uint8, 1, 2, 3, 2, 2)})}),
		Spec{Images: "a.npz", Format: "pairs"})
	if err != nil {
		t.Fatal(err)
	}
	if f := framesOf(t, ds, 0); len(f) != 2 || f[1].C != 3 || f[1].Pix[0] != 12 {
		t.Errorf("frames %+v", f)
	}
	if k := ds.Info().Target.Kind; k != "" {
		t.Errorf("targets %q without fields", k)
	}
	for _, c := range []struct {
		name   string
		arrays map[string]tensor.Tensor
		spec   Spec
		want   string
	}{
		{
			"one frame",
			map[string]tensor.Tensor{"x": numbered(tensor.Uint8, 2, 1, 4, 5)},
			Spec{},
			`a.npz: array "x": shape [2 1 4 5] has 1 frame a sample, want two or more: stack the frames along axis 1`,
		},
		{
			"three axes",
			map[string]tensor.Tensor{"x": numbered(tensor.Uint8, 2, 4, 5)},
			Spec{},
			`a.npz: array "x": shape [2 4 5] is no set of sequences, want (N, frames, height, width) or (N, frames, channels, height, width): reshape the array`,
		},
		{
			"field of another size",
			map[string]tensor.Tensor{"x": frames, "flow": numbered(tensor.Float32, 2, 2, 4, 4)},
			Spec{},
			`a.npz: array "flow": shape [2 2 4 4] does not belong to the 2 pairs of 5 x 4 px in a.npz, want [2 2 4 5] or [2 4 5 2]`,
		},
		{
			"which",
			map[string]tensor.Tensor{"p": frames, "q": frames},
			Spec{},
			`a.npz: which array is it? It has "p", "q": set key`,
		},
		{
			"no such field",
			map[string]tensor.Tensor{"x": frames},
			Spec{TargetKey: "q"},
			`a.npz: no array is called "q"; it has "x": correct the key of the fields`,
		},
	} {
		c.spec.Images, c.spec.Format = "a.npz", "pairs"
		_, err := OpenFS(memory(map[string][]byte{"a.npz": npz(t, c.arrays)}), c.spec)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

func FuzzPairArrays(f *testing.F) {
	f.Add(npz(f, map[string]tensor.Tensor{
		"frames": numbered(tensor.Uint8, 1, 2, 2, 3),
		"flow":   numbered(tensor.Float32, 1, 2, 2, 3),
	}))
	f.Add(npz(f, map[string]tensor.Tensor{"x": numbered(tensor.Uint16, 1, 2, 3, 2, 2)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		ds, err := OpenFS(fstest.MapFS{"a.npz": &fstest.MapFile{Data: b}}, Spec{Images: "a.npz", Format: "pairs"})
		if err != nil {
			return
		}
		c, h, w := shapeOf(t, ds)
		if s, err := ds.Sample(0); err == nil {
			if got := s.Value.Dims(); len(got) != 4 || got[0] < 2 || got[1] != c || got[2] != h || got[3] != w {
				t.Fatalf("shape %v, announced %d, %d, %d", got, c, h, w)
			}
		}
	})
}

func FuzzPages(f *testing.F) {
	b, err := readWhole(disk{}, "testdata/stack16.tif")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		ds, err := OpenFS(fstest.MapFS{"a.tif": &fstest.MapFile{Data: b}}, Spec{Images: "a.tif", Format: "pairs"})
		if err != nil {
			return
		}
		if c, h, w := shapeOf(t, ds); c*h*w > 1<<20 {
			return // allowed, but slow to decode again and again
		}
		_, _ = ds.Sample(0)
	})
}
