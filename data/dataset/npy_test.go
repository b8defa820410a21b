package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sbinet/npyio"
	"pgregory.net/rapid"

	"nero/data/tensor"
)

// fixtureValue is element i of the arrays that testdata/make.py writes.
func fixtureValue(i int, kind byte) float64 {
	v := float64((7*i + 3) % 100)
	switch kind {
	case 'b':
		return float64((7*i + 3) % 100 % 2)
	case 'i':
		return v - 50
	case 'f':
		return (v - 50) / 4
	}
	return v
}

func TestNpyOfNumpy(t *testing.T) {
	files, err := filepath.Glob("testdata/n*hw*.npy")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		for _, keep := range []int64{keepBytes, 0} {
			t.Run(fmt.Sprint(filepath.Base(file), " keep ", keep), func(t *testing.T) {
				name := strings.TrimSuffix(filepath.Base(file), ".npy")
				layout, rest, _ := strings.Cut(name, "-")
				kind := byte('f')
				switch {
				case strings.HasPrefix(rest, "v"):
					kind = 'u'
				case name == "nhw-F":
					kind = 'i'
				case layout == "nhw":
					_, typ, _ := strings.Cut(rest, "-")
					kind = typ[0]
				}
				o := newOpener(disk{})
				o.keep = keep
				ds, err := o.openFile(Spec{Images: file, Layout: strings.ToUpper(layout)})
				if err != nil {
					t.Fatal(err)
				}
				n, c := 3, 1
				if layout != "nhw" {
					n, c = 2, 3
				}
				if gc, gh, gw := shapeOf(t, ds); ds.Len() != n || gc != c || gh != 4 || gw != 5 {
					t.Fatalf("%d samples of %d x %d x %d", ds.Len(), gc, gh, gw)
				}
				for i := range n {
					img := imageOf(t, ds, i)
					for k := range c {
						for r := range 4 {
							for q := range 5 {
								at := ((i*c+k)*4+r)*5 + q
								if layout == "nhwc" {
									at = ((i*4+r)*5+q)*c + k
								}
								if got, want := img.Pix[(k*4+r)*5+q], fixtureValue(at, kind); got != want {
									t.Fatalf("sample %d channel %d row %d column %d is %v, want %v", i, k, r, q, got,
										want)
								}
							}
						}
					}
				}
			})
		}
	}
}

func TestNpyRefusesPixelsThatAreNoNumbers(t *testing.T) {
	for _, c := range []struct{ file, what string }{{"testdata/nan.npy", "NaN"}, {"testdata/inf.npy", "-Inf"}} {
		ds, err := Open(Spec{Images: c.file, Layout: "NCHW"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ds.Sample(0); err != nil {
			t.Errorf("sample 0: %v", err)
		}
		s, err := ds.Sample(1)
		if !errors.Is(err, ErrNotFinite) || s.Value != nil {
			t.Errorf("sample 1 is %v, %v, want ErrNotFinite", s.Value, err)
		}
		wantError(t, err, c.file, "sample 1", "channel 2, row 3, column 1", c.what)
	}
}

func TestNpyRefusesTypes(t *testing.T) {
	for file, want := range map[string]string{
		"complex": `"<c8" cannot be read`, "object": `"|O" cannot be read`,
		"struct": "structured",
	} {
		p := "testdata/" + file + ".npy"
		_, err := Open(Spec{Images: p})
		wantError(t, err, p, want)
	}
}

// npyHead is a file with the given dictionary and n bytes of data.
func npyHead(dict string, n int) []byte {
	b := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(b[8:], uint16(len(dict)))
	return append(append(b, dict...), make([]byte, n)...)
}

func TestNpyHeaders(t *testing.T) {
	for _, c := range []struct {
		dict string
		n    int
		// "" if it is good
		want string
	}{
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }\n", 24, ""},
		{`{"shape":(1L,2,3),"fortran_order":True,"descr":"f4"}`, 24, ""},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3)}", 23, "24 bytes, but the file holds 23"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3)}", 25, "24 bytes, but the file holds 25"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 9)}", 24, "lies about the size"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 1, 1)}", 24, "want a number"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2, 3)}", 24, "want a number"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,2,3,4,5,6,7,8,9)}", 24, "more than 8 axes"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, "no set of images"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2, 2)}", 0, "no images"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", 4, "want ')'"},
		{"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 1, 1)}", 4, "want True or False"},
		{"{'descr': '<f4', 'fortran_order': False}", 4, `no "shape"`},
		{"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1)}", 4, "twice"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1), 'x': 1}", 4, `unknown key "x"`},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1)} 1", 4, "after the dictionary"},
		{"{'descr': '<<f4', 'fortran_order': False, 'shape': (1, 1, 1)}", 4, "not known"},
		{"{'descr': '<f4", 4, "closing quote"},
		{"{descr: '<f4'}", 4, "quoted word"},
		{"", 4, "want '{'"},
	} {
		_, err := OpenFS(fstest.MapFS{"x.npy": {Data: npyHead(c.dict, c.n)}}, Spec{Images: "x.npy"})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.dict, err)
			}
			continue
		}
		wantError(t, err, "x.npy", c.want)
	}
	good := npyHead("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3), }\n", 6)
	for cut := range good {
		_, err := OpenFS(fstest.MapFS{"x": {Data: good[:cut]}}, Spec{Format: "npy", Images: "x"})
		wantError(t, err, "x: ")
	}
	huge := append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), make([]byte, 100)...)
	_, err := OpenFS(fstest.MapFS{"x": {Data: huge}}, Spec{Images: "x"})
	wantError(t, err, "claims 4294967295 bytes")
	_, err = OpenFS(fstest.MapFS{"x": {Data: []byte("\x93NUMPY\x09\x00\x00\x00")}}, Spec{Images: "x"})
	wantError(t, err, "version 9")
}

// Files written by another implementation are read back.
func TestNpyOfNpyio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		d := rapid.SampledFrom([]tensor.DType{tensor.Uint8, tensor.Int32, tensor.Float32, tensor.Float64}).Draw(t,
			"type")
		x, want := drawTensor(t, d, []int{n})
		var v any
		switch d.String() {
		case "uint8":
			v = x.Raw
		case "int32":
			s := make([]int32, n)
			for i := range s {
				s[i] = int32(want[i])
			}
			v = s
		case "float32":
			s := make([]float32, n)
			for i := range s {
				s[i] = float32(want[i])
			}
			v = s
		default:
			v = want
		}
		var b bytes.Buffer
		if err := npyio.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		a, err := newOpener(fstest.MapFS{"x": {Data: b.Bytes()}}).open("x")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.shape, []int{n}) || a.dtype != d {
			t.Fatalf("%s%v, want %s[%d]", a.dtype, a.shape, d, n)
		}
		raw, err := a.piece(0, n)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, n)
		widen(got, raw, 1, a.dtype)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestLayoutGuess(t *testing.T) {
	for _, c := range []struct {
		shape    []int
		c, h, w  int
		wantNote string
		wantErr  string
	}{
		{[]int{2, 5, 6}, 1, 5, 6, "", ""},
		{[]int{2, 3, 5, 6}, 3, 5, 6, "read as NCHW", ""},
		{[]int{2, 5, 6, 3}, 3, 5, 6, "read as NHWC", ""},
		{[]int{2, 5, 6, 1}, 1, 5, 6, "read as NHWC", ""},
		{[]int{2, 3, 6, 3}, 0, 0, 0, "", "may be NCHW or NHWC: set layout"},
		{[]int{2, 8, 6, 9}, 0, 0, 0, "", "may be NCHW or NHWC: set layout"},
		{[]int{2, 30}, 0, 0, 0, "", "no set of images"},
		{[]int{2, 1, 3, 3, 3}, 0, 0, 0, "", "no set of images"},
	} {
		ds, err := OpenFS(fstest.MapFS{"x": {Data: idxBytes(t, bytesTensor(c.shape...))}}, Spec{Images: "x"})
		if c.wantErr != "" {
			wantError(t, err, "x: ", c.wantErr)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if gc, gh, gw := shapeOf(t, ds); gc != c.c || gh != c.h || gw != c.w {
			t.Errorf("%v: %d x %d x %d, want %d x %d x %d", c.shape, gc, gh, gw, c.c, c.h, c.w)
		}
		notes := notesOf(t, ds)
		if !strings.Contains(notes, c.wantNote) || c.wantNote == "" && notes != "" {
			t.Errorf("%v: notes %q, want %q", c.shape, notes, c.wantNote)
		}
	}
}

func TestLargeSampleIsRefused(t *testing.T) {
	// A sparse file: the header is true, one sample has 2^26+1 pixels.
	p := put(t, "x.npy", npyHead("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 67108865, 1)}", 0))
	st, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p, st.Size()+1<<26+1); err != nil {
		t.Fatal(err)
	}
	o := newOpener(disk{})
	o.keep = 0
	_, err = o.openFile(Spec{Images: p})
	wantError(t, err, p, "1 x 67108865 pixels", "crop")
}

func TestFileThatShrinks(t *testing.T) {
	p := put(t, "x", idxBytes(t, bytesTensor(3, 2, 2)))
	o := newOpener(disk{})
	o.keep = 0
	ds, err := o.openFile(Spec{Images: p})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p, 22); err != nil {
		t.Fatal(err)
	}
	if _, err := ds.Sample(0); err != nil {
		t.Errorf("sample 0: %v", err)
	}
	_, err = ds.Sample(2)
	wantError(t, err, p, "sample 2", "shorter")
}

func TestNpz(t *testing.T) {
	x := make([]float64, 20)
	for i := range x {
		x[i] = fixtureValue(20+i, 'u')
	}
	for _, c := range []struct {
		name   string
		spec   Spec
		labels []int
		err    []string
	}{
		{"stored", Spec{Images: "testdata/stored.npz"}, []int{4, 0, 2}, nil},
		{"deflated", Spec{Images: "testdata/deflated.npz"}, []int{4, 0, 2}, nil},
		{"keys", Spec{Images: "testdata/named.npz", Key: "pictures", LabelKey: "classes"}, []int{4, 0, 2}, nil},
		{"no labels", Spec{Images: "testdata/named.npz", Key: "pictures"}, nil, nil},
		{
			"labels of another file",
			Spec{Images: "testdata/named.npz", Key: "pictures", Labels: "testdata/labels.npy"},
			[]int{4, 0, 2},
			nil,
		},
		{"labels of another archive", Spec{
			Images: "testdata/nhw-b-u1.npy", Labels: "testdata/named.npz",
			LabelKey: "weights",
		}, []int{4, 0, 2}, nil},
		{
			"no key",
			Spec{Images: "testdata/named.npz"},
			nil,
			[]string{"named.npz", `"classes", "pictures", "weights"`, "set key"},
		},
		{
			"label key without archive",
			Spec{Images: "testdata/stored.npz", Labels: "testdata/labels.npy", LabelKey: "y"},
			nil,
			[]string{"labels.npy", "label_key"},
		},
		{
			"wrong key",
			Spec{Images: "testdata/named.npz", Key: "x"},
			nil,
			[]string{`no array is called "x"`, `"pictures"`},
		},
		{
			"wrong label key",
			Spec{Images: "testdata/stored.npz", LabelKey: "z"},
			nil,
			[]string{`no array is called "z"`, "label_key"},
		},
		{
			"label key is needed",
			Spec{Images: "testdata/nhw-b-u1.npy", Labels: "testdata/named.npz"},
			nil,
			[]string{"named.npz", "set label_key"},
		},
		{
			"labels for images",
			Spec{Images: "testdata/stored.npz", Key: "y"},
			nil,
			[]string{`array "y"`, "no set of images"},
		},
		{
			"images for labels",
			Spec{Images: "testdata/stored.npz", LabelKey: "x"},
			nil,
			[]string{`array "x"`, "labels have shape"},
		},
	} {
		for _, keep := range []int64{keepBytes, 0} {
			t.Run(fmt.Sprint(c.name, " keep ", keep), func(t *testing.T) {
				o := newOpener(disk{})
				o.keep = keep
				var ds Dataset
				var err error
				if strings.HasSuffix(c.spec.Images, "npz") {
					ds, err = o.openNpz(c.spec)
				} else {
					ds, err = o.openFile(c.spec)
				}
				if c.err != nil {
					wantError(t, err, c.err...)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if ds.Len() != 3 || !slices.Equal(ds.Labels(), c.labels) || !slices.Equal(imageOf(t, ds, 1).Pix, x) {
					t.Errorf("%d samples, labels %v, sample 1 %v", ds.Len(), ds.Labels(), imageOf(t, ds, 1).Pix)
				}
			})
		}
	}
	// Open finds the format itself, also where the file cannot be read at an offset.
	b, err := os.ReadFile("testdata/stored.npz")
	if err != nil {
		t.Fatal(err)
	}
	ds, err := OpenFS(stream{fstest.MapFS{"a": {Data: b}}}, Spec{Images: "a"})
	if err != nil || ds.Len() != 3 {
		t.Fatal(err)
	}
	o := newOpener(stream{fstest.MapFS{"a": {Data: b}}})
	o.keep = 0
	if ds, err = o.openNpz(Spec{Images: "a"}); err != nil || !slices.Equal(imageOf(t, ds, 1).Pix, x) {
		t.Errorf("an archive that is read as a stream: %v", err)
	}
	for cut := range b {
		_, err := OpenFS(fstest.MapFS{"a": {Data: b[:cut]}}, Spec{Format: "npz", Images: "a"})
		wantError(t, err, "a: ")
	}
}

// stream hides everything but Read, Stat and Close of files.
type stream struct{ fs.FS }

func (s stream) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return struct{ fs.File }{f}, err
}

func TestNpzRefuses(t *testing.T) {
	small := npyHead("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 2)}", 4)
	pack := func(names ...string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, n := range names {
			f, err := w.Create(n)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(small); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, c := range []struct {
		file []byte
		want string
	}{
		{pack(), "no arrays"},
		{pack("readme.txt"), "no arrays"},
		{pack("a.npy", "a.npy"), "two arrays"},
		{pack("a.npy", "b.npy"), "set key"},
		{[]byte("PK\x03\x04 and no more"), "not an npz archive"},
	} {
		_, err := OpenFS(fstest.MapFS{"z": {Data: c.file}}, Spec{Images: "z"})
		wantError(t, err, "z: ", c.want)
	}
	if ds, err := OpenFS(fstest.MapFS{"z": {Data: pack("a.npy", "y.txt")}}, Spec{Images: "z"}); err != nil ||
		ds.Len() != 1 {
		t.Errorf("the only array is not taken: %v", err)
	}
	// A directory that promises more than the stream can hold is not believed.
	z := pack("a.npy")
	i := bytes.Index(z, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(z[i+24:], 1<<30)
	_, err := OpenFS(fstest.MapFS{"z": {Data: z}}, Spec{Images: "z"})
	wantError(t, err, "z: ", `array "a"`, "claims")
	o := newOpener(fstest.MapFS{"z": {Data: pack("a.npy")}})
	o.max = 3
	_, err = o.openNpz(Spec{Images: "z"})
	wantError(t, err, "z: ", "4 bytes, more than the 3")
}

func FuzzNpyHeader(f *testing.F) {
	for _, s := range []string{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
		`{"shape":(),"descr":">i8","fortran_order":True}`, "{'descr': [('a', '<f4')]", "{'shape': (1L",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parseNpy(s)
		if err != nil {
			return
		}
		if h.dtype.Size() == 0 || len(h.shape) > maxRank ||
			slices.ContainsFunc(h.shape, func(d int) bool { return d < 0 }) {
			t.Fatalf("%q gives %+v", s, h)
		}
	})
}

func FuzzNpz(f *testing.F) {
	for _, name := range []string{"stored", "deflated", "named"} {
		b, err := os.ReadFile("testdata/" + name + ".npz")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ds, err := OpenFS(fstest.MapFS{"z": {Data: b}}, Spec{Format: "npz", Images: "z"})
		if err != nil {
			return
		}
		if _, err := ds.Sample(ds.Len() - 1); err != nil && !errors.Is(err, ErrNotFinite) {
			t.Fatal(err)
		}
	})
}
