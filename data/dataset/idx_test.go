package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"nero/data/tensor"
)

var idxTypes = []tensor.DType{tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Float32, tensor.Float64}

// drawTensor draws an array of the given type with values that the type holds exactly.
func drawTensor(t *rapid.T, d tensor.DType, shape []int) (tensor.Tensor, []float64) {
	lo, hi := 0, 100
	if d == tensor.Int8 || d == tensor.Int16 || d == tensor.Int32 || d == tensor.Int64 || isFloat(d) {
		lo = -100
	}
	x := tensor.New(d, shape...)
	v := make([]float64, x.Len())
	for i := range v {
		v[i] = float64(rapid.IntRange(lo, hi).Draw(t, "v"))
		if isFloat(d) {
			v[i] /= 4
		}
		encode(x, i, v[i])
	}
	return x, v
}

func TestIDXRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(idxTypes).Draw(t, "type")
		n, h, w := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "h"),
			rapid.IntRange(1, 4).Draw(t, "w")
		c := rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "c")
		layout := "NHW"
		shape := []int{n, h, w}
		if c > 0 {
			layout = rapid.SampledFrom([]string{"NCHW", "NHWC"}).Draw(t, "layout")
			shape = []int{n, c, h, w}
			if layout == "NHWC" {
				shape = []int{n, h, w, c}
			}
		}
		x, want := drawTensor(t, d, shape)
		var b bytes.Buffer
		if err := WriteIDX(&b, x); err != nil {
			t.Fatal(err)
		}
		file := b.Bytes()
		fsys := fstest.MapFS{"x": {Data: file}}
		o := newOpener(fsys)
		if rapid.Bool().Draw(t, "on disk") {
			o.keep = 0
		}
		ds, err := o.openFile(Spec{Images: "x", Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		c = max(c, 1)
		sc, sh, sw := shapeOf(t, ds)
		if ds.Len() != n || sc != c || sh != h || sw != w {
			t.Fatalf("%d samples of %d x %d x %d, want %d of %d x %d x %d", ds.Len(), sc, sh, sw, n, c, h, w)
		}
		for i := range n {
			s, err := ds.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			if s.ID != strconv.Itoa(i) || s.Label != -1 {
				t.Fatalf("sample %d is %q with label %d", i, s.ID, s.Label)
			}
			for k := range c {
				for r := range h {
					for q := range w {
						at := ((i*c+k)*h+r)*w + q
						if layout == "NHWC" {
							at = ((i*h+r)*w+q)*c + k
						}
						parts := s.Value.Parts()
						got, err := parts[0].Float64s(nil)
						if err != nil {
							t.Fatal(err)
						}
						if got[(k*h+r)*w+q] != want[at] {
							t.Fatalf("%s: sample %d channel %d row %d column %d is %v, want %v", layout, i, k, r, q,
								got[(k*h+r)*w+q], want[at])
						}
					}
				}
			}
		}
	})
}

// The bytes are those of the description in https://yann.lecun.org/exdb/mnist: 00 00 type rank, lengths, data.
func TestIDXKnownBytes(t *testing.T) {
	images := []byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 20, 30, 40}
	labels := []byte{0, 0, 8, 1, 0, 0, 0, 2, 7, 3}
	if got := idxBytes(t,
		tensor.Tensor{DType: tensor.Uint8, Shape: []int{2, 1, 2}, Raw: []byte{10, 20, 30, 40}}); !bytes.Equal(got,
		images) {
		t.Errorf("written % x, want % x", got, images)
	}
	if got, want := idxBytes(t, tensor.FromFloat32([]float32{1}, 1)),
		[]byte{0, 0, 13, 1, 0, 0, 0, 1, 0x3f, 0x80, 0, 0}; !bytes.Equal(got, want) {
		t.Errorf("float32 1 written % x, want % x", got, want)
	}
	for name, pack := range map[string]func([]byte) []byte{
		"plain": func(b []byte) []byte { return b },
		"gzip":  func(b []byte) []byte { return zipped(t, b) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ip, lp := filepath.Join(dir, "images"), filepath.Join(dir, "labels")
			putAt(t, ip, pack(images))
			putAt(t, lp, pack(labels))
			ds, err := Open(Spec{Images: ip, Labels: lp})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ds.Labels(), []int{7, 3}) || !slices.Equal(ds.IDs(), []string{"0", "1"}) ||
				!slices.Equal(ds.Files(), []string{ip, lp}) {
				t.Errorf("labels %v, ids %v, files %v", ds.Labels(), ds.IDs(), ds.Files())
			}
			if got := imageOf(t, ds, 1); got.C != 1 || got.H != 1 || got.W != 2 ||
				!slices.Equal(got.Pix, []float64{30, 40}) {
				t.Errorf("sample 1 is %+v", got)
			}
			s, err := ds.Sample(1)
			if err != nil || s.Label != 3 || s.ID != "1" {
				t.Errorf("sample 1 has label %d, id %q, error %v", s.Label, s.ID, err)
			}
			for _, i := range []int{-1, 2} {
				_, err := ds.Sample(i)
				wantError(t, err, ip, "does not exist")
			}
		})
	}
}

func TestIDXFromEmbeddedFiles(t *testing.T) {
	fsys := fstest.MapFS{
		"d/images.gz": {Data: zipped(t, idxBytes(t, bytesTensor(3, 2, 2)))},
		"d/labels.gz": {Data: zipped(t, idxBytes(t, labelTensor(1, 0, 2)))},
	}
	ds, err := OpenFS(fsys, Spec{Format: "idx", Images: "d/images.gz", Labels: "d/labels.gz"})
	if err != nil {
		t.Fatal(err)
	}
	if got := imageOf(t, ds, 2).Pix; !slices.Equal(got, []float64{8, 9, 10, 11}) {
		t.Errorf("sample 2 is %v", got)
	}
	if !slices.Equal(ds.Labels(), []int{1, 0, 2}) {
		t.Errorf("labels %v", ds.Labels())
	}
}

// lie replaces the lengths in an IDX head.
func lie(b []byte, dims ...uint32) []byte {
	b = slices.Clone(b)
	for i, d := range dims {
		binary.BigEndian.PutUint32(b[4+4*i:], d)
	}
	return b
}

func TestIDXRefusesLies(t *testing.T) {
	good := idxBytes(t, bytesTensor(3, 4, 5))
	for _, c := range []struct {
		name string
		file []byte
		want []string
	}{
		{"more", lie(good, 4, 4, 5), []string{"claims uint8[4 4 5], 80 bytes", "holds 60", "cut short"}},
		{"less", lie(good, 2, 4, 5), []string{"claims uint8[2 4 5], 40 bytes", "holds"}},
		{"huge", lie(good, 1<<31, 1<<31, 1), []string{"lies about the size"}},
		{"overflow", lie(good, 1<<31, 1<<31, 1<<31), []string{"lies about the size"}},
		{"large", lie(good, 1<<31-1, 1, 1), []string{"2147483647 bytes"}},
		{"no data", good[:16], []string{"holds 0"}},
		{"no lengths", good[:9], []string{"header ends after 9 bytes"}},
		{"no rank", good[:3], []string{"header ends after 3 bytes"}},
		{"rank", []byte{0, 0, 8, 255, 0, 0}, []string{"255 axes"}},
		{"zero samples", lie(good, 0, 4, 5)[:16], []string{"no images", "[0 4 5]"}},
		{"zero rows", lie(good, 3, 0, 5)[:16], []string{"no images"}},
		{"one axis", idxBytes(t, labelTensor(1, 2, 3)), []string{"no set of images"}},
		{"foreign", []byte("hello, world"), []string{"neither IDX"}},
		{"empty", nil, []string{"empty"}},
	} {
		for _, pack := range []string{"plain", "gzip"} {
			if pack == "gzip" && c.name == "empty" {
				continue
			}
			t.Run(c.name+" "+pack, func(t *testing.T) {
				file := c.file
				if pack == "gzip" {
					file = zipped(t, file)
				}
				p := put(t, "images", file)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := Open(Spec{Format: "idx", Images: p})
				runtime.ReadMemStats(&after)
				want := append([]string{p}, c.want...)
				if pack == "gzip" && c.name == "large" {
					want = []string{p, "claims"}
				}
				if pack == "gzip" && (c.name == "less") {
					want = []string{p, "claims", "holds more"}
				}
				wantError(t, err, want...)
				if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
					t.Errorf("%d bytes were allocated before the header was refused", used)
				}
			})
		}
	}
}

func TestIDXCutGzip(t *testing.T) {
	good := zipped(t, idxBytes(t, bytesTensor(50, 9, 9)))
	for cut := range good {
		p := fstest.MapFS{"x.gz": {Data: good[:cut]}}
		_, err := OpenFS(p, Spec{Format: "idx", Images: "x.gz"})
		wantError(t, err, "x.gz")
	}
	bad := slices.Clone(good)
	bad[len(bad)-6] ^= 1 // checksum
	_, err := OpenFS(fstest.MapFS{"x.gz": {Data: bad}}, Spec{Images: "x.gz"})
	wantError(t, err, "x.gz", "checksum")
	_, err = OpenFS(fstest.MapFS{"x.gz": {Data: good[:len(good)-9]}}, Spec{Images: "x.gz"})
	wantError(t, err, "x.gz", "cut short")
}

func TestCompressedLimit(t *testing.T) {
	o := newOpener(fstest.MapFS{"x.gz": {Data: zipped(t, idxBytes(t, bytesTensor(10, 10, 10)))}})
	o.max = 999
	_, err := o.openFile(Spec{Images: "x.gz"})
	wantError(t, err, "x.gz", "1000 bytes", "999", ".npy")
}

func TestLabelFiles(t *testing.T) {
	images := idxBytes(t, bytesTensor(3, 2, 2))
	odd := tensor.New(tensor.Float32, 3)
	encode(odd, 1, 0.5)
	nan := tensor.New(tensor.Float64, 3)
	encode(nan, 2, math.NaN())
	none := tensor.New(tensor.Int16, 3)
	for i := range 3 {
		encode(none, i, -1)
	}
	negative, large := tensor.New(tensor.Int8, 3), tensor.New(tensor.Int32, 3)
	encode(negative, 1, -2)
	encode(large, 0, maxClass+1)
	column := tensor.New(tensor.Int32, 3, 1)
	encode(column, 2, 9)
	for _, c := range []struct {
		name   string
		file   []byte
		labels []int
		errs   []string
	}{
		{"count", idxBytes(t, labelTensor(1, 2)), nil, []string{"holds 2 labels", "3 images"}},
		{"more", idxBytes(t, labelTensor(1, 2, 0, 3)), nil, []string{"holds 4 labels", "3 images"}},
		{"negative", idxBytes(t, negative), nil, []string{"label of sample 1 is -2"}},
		{"large", idxBytes(t, large), nil, []string{"label of sample 0 is 1048577"}},
		{"rank", idxBytes(t, bytesTensor(3, 10)), nil, []string{"[3 10]", "argmax"}},
		{"fraction", idxBytes(t, odd), nil, []string{"label of sample 1 is 0.5"}},
		{"nan", idxBytes(t, nan), nil, []string{"label of sample 2 is NaN"}},
		{"none", idxBytes(t, none), nil, nil},
		{"column", idxBytes(t, column), []int{0, 0, 9}, nil},
		{"csv", []byte("file,label\n0,4\n2,5\n1,0\n"), []int{4, 0, 5}, nil},
		{"empty csv", []byte(""), nil, []string{"no rows"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{"i": {Data: images}, "l": {Data: c.file}}
			ds, err := OpenFS(fsys, Spec{Images: "i", Labels: "l"})
			if c.errs != nil {
				wantError(t, err, append(c.errs, "l: ")...)
				if ds != nil {
					t.Error("a data set came with the error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ds.Labels(), c.labels) || (c.labels == nil) != (ds.Labels() == nil) {
				t.Errorf("labels %v, want %v", ds.Labels(), c.labels)
			}
		})
	}
}

func TestOpenRefusesSettings(t *testing.T) {
	fsys := fstest.MapFS{
		"i": {Data: idxBytes(t, bytesTensor(3, 2, 2))},
		"j": {Data: idxBytes(t, bytesTensor(2, 3, 5, 3))},
	}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "no images are named"},
		{Spec{Images: "i", Format: "hdf5"}, `format "hdf5" is not known`},
		{Spec{Images: "i", Pattern: "x"}, "pattern"},
		{Spec{Images: "i", Key: "x"}, "key"},
		{Spec{Images: "i", LabelKey: "x"}, "label_key"},
		{Spec{Images: "i", Layout: "CHW"}, `layout "CHW"`},
		{Spec{Images: "i", Layout: "NCHW"}, "wants 4 axes"},
		{Spec{Images: "j"}, "set layout"},
		{Spec{Images: "absent"}, "absent"},
		{Spec{Images: "i", Labels: "absent"}, "absent"},
	} {
		_, err := OpenFS(fsys, c.spec)
		wantError(t, err, c.want)
	}
	_, err := OpenFS(fsys, Spec{Images: "absent"})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

func TestSampleIsSafeForConcurrentUse(t *testing.T) {
	for _, keep := range []int64{0, keepBytes} {
		o := newOpener(disk{})
		o.keep = keep
		ds, err := o.openFile(Spec{Images: put(t, "i", idxBytes(t, bytesTensor(20, 3, 3)))})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range 20 {
					s, err := ds.Sample(i)
					if err != nil {
						t.Error(err)
						return
					}
					x, err := s.Value.Parts()[0].Float64s(nil)
					if err != nil || x[4] != float64((9*i+4)%251) {
						t.Errorf("sample %d is %v, %v", i, x, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestWriteIDXRefuses(t *testing.T) {
	for _, x := range []tensor.Tensor{
		tensor.New(tensor.Int64, 1), tensor.New(tensor.Uint8), tensor.New(tensor.Uint8, 1, 1, 1, 1, 1, 1, 1, 1, 1),
		{DType: tensor.Uint8, Shape: []int{2}},
	} {
		if err := WriteIDX(&bytes.Buffer{}, x); err == nil {
			t.Errorf("%s%v was written", x.DType, x.Shape)
		}
	}
}

func FuzzArray(f *testing.F) {
	f.Add(idxBytes(f, bytesTensor(2, 3, 3)))
	f.Add(lie(idxBytes(f, bytesTensor(2, 3, 3)), 1<<31, 1<<31, 1))
	f.Add(zipped(f, idxBytes(f, bytesTensor(2, 3, 3, 1))))
	f.Add([]byte("\x93NUMPY\x01\x00\x40\x00{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1, 1), }    " +
		"\n\x00\x00\x80\x7f"))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ds, err := OpenFS(fstest.MapFS{"x": {Data: b}}, Spec{Format: "idx", Images: "x"})
		if err != nil {
			return
		}
		if ds.Len() == 0 {
			t.Fatal("an empty data set was opened")
		}
		c, h, w := shapeOf(t, ds)
		for _, i := range []int{0, ds.Len() - 1} {
			s, err := ds.Sample(i)
			if err != nil {
				if !errors.Is(err, ErrNotFinite) {
					t.Fatal(err)
				}
				continue
			}
			x := s.Value.Parts()[0]
			if !slices.Equal(x.Shape, []int{c, h, w}) {
				t.Fatalf("shape %v, want %v", x.Shape, []int{c, h, w})
			}
		}
	})
}

func BenchmarkSampleIDX(b *testing.B) {
	for _, layout := range []string{"NHW", "NHWC"} {
		shape := []int{1000, 28, 28}
		if layout == "NHWC" {
			shape = append(shape, 3)
		}
		ds, err := OpenFS(fstest.MapFS{"x": {Data: idxBytes(b, bytesTensor(shape...))}},
			Spec{Images: "x", Layout: layout})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(layout, shape[1:]), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := ds.Sample(i % 1000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
