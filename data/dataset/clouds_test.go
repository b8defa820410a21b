package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"
	"nero/data/tensor"
)

// npyOf encodes a tensor as npy, version 1.
func npyOf(t tensor.Tensor) []byte {
	descr := map[tensor.DType]string{
		tensor.Float64: "<f8", tensor.Float32: "<f4", tensor.Int64: "<i8",
		tensor.Int32: "<i4", tensor.Uint8: "|u1",
	}[t.DType]
	return npyText(descr, t.Shape, t.Raw)
}

func npyText(descr string, shape []int, raw []byte) []byte {
	var dims strings.Builder
	for _, d := range shape {
		fmt.Fprintf(&dims, "%d,", d)
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, dims.String())
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	return append(append(b, head...), raw...)
}

// arrayOf is a tensor of numbers.
func arrayOf(d tensor.DType, shape []int, v ...float64) tensor.Tensor {
	t := tensor.New(d, shape...)
	for i, x := range v {
		encode(t, i, x)
	}
	return t
}

// words encodes strings as numpy does, in 4 bytes a character.
func words(list ...string) []byte {
	n := 0
	for _, w := range list {
		n = max(n, len([]rune(w)))
	}
	var raw []byte
	for _, w := range list {
		r := []rune(w)
		for k := range n {
			c := rune(0)
			if k < len(r) {
				c = r[k]
			}
			raw = binary.LittleEndian.AppendUint32(raw, uint32(c))
		}
	}
	return npyText(fmt.Sprintf("<U%d", n), []int{len(list)}, raw)
}

// npzOf packs arrays.
func npzOf(tb testing.TB, arrays map[string][]byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	names := make([]string, 0, len(arrays))
	for k := range arrays {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		f, err := w.Create(k + ".npy")
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := f.Write(arrays[k]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func counting(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i*i%17) / 4
	}
	return v
}

// sampleOf is a sample, or the end of the test.
func sampleOf(tb testing.TB, ds Dataset, i int) Sample {
	tb.Helper()
	s, err := ds.Sample(i)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func rowsOf(tb testing.TB, v space.Value) *space.Rows {
	tb.Helper()
	r, ok := v.(*space.Rows)
	if !ok {
		tb.Fatalf("a %T, want rows", v)
	}
	return r
}

func TestCloudArrays(t *testing.T) {
	points := arrayOf(tensor.Float32, []int{2, 4, 3}, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 8, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1,
		1, 2)
	file := npzOf(t, map[string][]byte{
		"points": npyOf(points), "labels": npyOf(arrayOf(tensor.Int32, []int{2}, 1, 0)),
		"names": words("ä/chair", "bed"), "class_names": words("bed", "chair"),
		"gravity": npyOf(arrayOf(tensor.Float64, []int{2, 3}, 0, 0, -1, 0, -1, 0)),
	})
	fsys := fstest.MapFS{"c.npz": {Data: file}}
	ds, err := OpenFS(fsys, Spec{Format: "clouds", Images: "c.npz", Cloud: Cloud{Center: "none", Scale: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ds.IDs(), []string{"ä/chair", "bed"}) || !slices.Equal(ds.Labels(), []int{1, 0}) ||
		!slices.Equal(ds.Info().Classes, []string{"bed", "chair"}) {
		t.Errorf("%q, %v", ds.IDs(), ds.Labels())
	}
	notes := notesOf(t, ds)
	if !strings.Contains(notes, "left out the arrays gravity") ||
		!strings.Contains(notes, `in 1 of the first 2 clouds points coincide, first "bed"`) {
		t.Errorf("notes %q", notes)
	}
	s := sampleOf(t, ds, 1)
	if !slices.Equal(rowsOf(t, s.Value).Val, []float64{1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 2}) ||
		!slices.Contains(s.Tags, "coincident") || s.Label != 0 {
		t.Errorf("%+v", s)
	}

	// Mean (1, 1, 2); the farthest point is then (-1, -1, 6), √38 away.
	ds, err = OpenFS(fsys, Spec{Format: "clouds", Images: "c.npz"})
	if err != nil {
		t.Fatal(err)
	}
	p := rowsOf(t, sampleOf(t, ds, 0).Value)
	for k, want := range []float64{-1, -1, -2, 3, -1, -2, -1, 3, -2, -1, -1, 6} {
		if got := p.Val[k] * math.Sqrt(38); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("number %d is %g/√38, want %g", k, got, want)
		}
	}
	// The box is 4 x 4 x 8.
	for c, want := range map[Cloud][]float64{
		{Center: "box", Scale: "box"}: {
			-.5, -.5, -1, .5, -.5, -1, -.5, .5, -1, -.5,
			-.5, 1,
		},
		{Center: "box", Scale: "none", Up: "y"}:    {-2, 4, -2, 2, 4, -2, -2, 4, 2, -2, -4, -2},
		{Center: "none", Scale: "none", Up: "x"}:   {0, 0, 0, 0, 0, 4, 4, 0, 0, 0, 8, 0},
		{Center: "none", Scale: "none", Points: 2}: {0, 0, 0, 4, 0, 0},
		{Center: "none", Scale: "none", Points: 6, Short: "repeat"}: {
			0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0,
			4, 0, 0,
		},
		{Center: "none", Scale: "none", Points: 1, Columns: "z, _, x y"}: nil,
	} {
		ds, err := OpenFS(fsys, Spec{Format: "clouds", Images: "c.npz", Cloud: c})
		if want == nil {
			wantError(t, err, "3 numbers, but cloud.columns names 4")
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got := rowsOf(t, sampleOf(t, ds, 0).Value); !slices.Equal(got.Val, want) {
			t.Errorf("%+v: %v, want %v", c, got.Val, want)
		}
		if n := ds.Info().Space.Shape[0]; n != len(want)/3 {
			t.Errorf("%+v: announces %d points", c, n)
		}
	}
	ds, err = OpenFS(fsys, Spec{
		Format: "clouds", Images: "c.npz", Fields: []string{"gravity", "points"},
		Cloud: Cloud{Points: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, ok := sampleOf(t, ds, 1).Value.(*space.Record)
	if !ok || !slices.Equal(r.Names, []string{"gravity", "points"}) ||
		!slices.Equal(rowsOf(t, r.Values[0]).Val, []float64{0, -1, 0}) || rowsOf(t, r.Values[1]).N != 3 {
		t.Errorf("%+v", r)
	}
	v, err := Subset(ds, []int{1})
	if err != nil || !sameSpec(v.Info().Space, ds.Info().Space) || v.Info().Target.Kind != "" {
		t.Errorf("the view is %+v, %v", v.Info().Space, err)
	}
}

func TestCloudNormals(t *testing.T) {
	six := arrayOf(tensor.Float64, []int{1, 2, 6}, 1, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1, 0)
	plain := arrayOf(tensor.Float64, []int{1, 2, 3}, 1, 0, 0, 0, 2, 0)
	normals := arrayOf(tensor.Float64, []int{1, 2, 3}, 0, 0, 1, 0, 1, 0)
	fsys := fstest.MapFS{
		"six.npy":      {Data: npyOf(six)},
		"apart.npz":    {Data: npzOf(t, map[string][]byte{"points": npyOf(plain), "normals": npyOf(normals)})},
		"ply/a.txt":    {Data: []byte("1,0,0,0,0,1\n0,2,0,0,1,0\n")},
		"named.csv":    {Data: []byte("nx,ny,nz,t,x,y,z\n0,0,1,9,1,0,0\n0,1,0,9,0,2,0\n")},
		"bare.npy":     {Data: npyOf(plain)},
		"bare.txt":     {Data: []byte("1 0 0\n0 2 0\n")},
		"folder/a.npy": {Data: npyOf(tensor.Tensor{DType: six.DType, Shape: []int{2, 6}, Raw: six.Raw})},
	}
	for _, name := range []string{"six.npy", "apart.npz", "ply", "named.csv", "folder"} {
		ds, err := OpenFS(fsys,
			Spec{Format: "clouds", Images: name, Cloud: Cloud{Normals: true, Center: "none", Scale: "none", Up: "y"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, ok := sampleOf(t, ds, 0).Value.(*space.Record)
		if !ok || !slices.Equal(r.Names, []string{"points", "normals"}) {
			t.Fatalf("%s: %+v", name, r)
		}
		if p, q := rowsOf(t, r.Values[0]), rowsOf(t, r.Values[1]); !slices.Equal(p.Val, []float64{1, 0, 0, 0, 0, 2}) ||
			!slices.Equal(q.Val, []float64{0, -1, 0, 0, 0, 1}) {
			t.Errorf("%s: points %v, normals %v", name, p.Val, q.Val)
		}
		if f := ds.Info().Space.Fields; len(f) != 2 || f[1].Type != space.TypeVectors {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, name := range []string{"bare.npy", "bare.txt"} {
		_, err := OpenFS(fsys, Spec{Format: "clouds", Images: name, Cloud: Cloud{Normals: true}})
		wantError(t, err, name, "no normals")
	}
}

func TestCloudFolder(t *testing.T) {
	dir := t.TempDir()
	square := "OFF4 1 0\n0 0 0\n2 0 0\n2 2 0\n0 2 0\n4 0 1 2 3\n"
	for name, text := range map[string]string{
		"chair/train/a.off": square, "chair/test/b.off": square,
		"bed/test/c.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
		"bed/readme.md":  "no shape",
	} {
		putAt(t, filepath.Join(dir, filepath.FromSlash(name)), []byte(text))
	}
	spec := Spec{
		Format: "clouds", Images: dir, Split: "test",
		Cloud: Cloud{Points: 500, Center: "none", Scale: "none", Seed: 3},
	}
	ds, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ds.IDs(), []string{"bed/test/c.obj", "chair/test/b.off"}) ||
		!slices.Equal(ds.Labels(), []int{0, 1}) || !strings.Contains(notesOf(t, ds), "left out 1 files .md") {
		t.Errorf("%v, %v, %s", ds.IDs(), ds.Labels(), notesOf(t, ds))
	}
	p := rowsOf(t, sampleOf(t, ds, 1).Value)
	mean := 0.0
	for i := range p.N {
		x := p.Row(i)
		if x[0] < 0 || x[0] > 2 || x[1] < 0 || x[1] > 2 || x[2] != 0 {
			t.Fatalf("point %v", x)
		}
		mean += x[0] / float64(p.N)
	}
	if math.Abs(mean-1) > 5*2/math.Sqrt(12*500) {
		t.Errorf("the mean of the points is %g, want about 1", mean)
	}
	// The points of a file depend on the seed and its name, not on the other files.
	spec.Images, spec.Split = filepath.Join(dir, "chair"), ""
	again, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	other := rowsOf(t, sampleOf(t, again, 0).Value)
	spec.Images = dir
	all, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	if q := rowsOf(t, sampleOf(t, all, 1).Value); !slices.Equal(p.Val, q.Val) || slices.Equal(p.Val, other.Val) {
		t.Error("the points of a file depend on the other files, or not on its name")
	}
	spec.Cloud.Points = 0
	if ds, err = Open(spec); err != nil || ds.Info().Space.Shape[0] != 1024 ||
		rowsOf(t, sampleOf(t, ds, 0).Value).N != 1024 {
		t.Errorf("%+v, %v", ds.Info().Space, err)
	}
}

func TestBadClouds(t *testing.T) {
	nan := arrayOf(tensor.Float32, []int{2, 2, 3}, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4, math.NaN(), 6)
	fsys := fstest.MapFS{
		"two.npy":   {Data: npyOf(arrayOf(tensor.Float32, []int{1, 2, 3}, 0, 0, 0, 1, 0, 0))},
		"same.npy":  {Data: npyOf(arrayOf(tensor.Float32, []int{1, 2, 3}, 5, 5, 5, 5, 5, 5))},
		"nan.npy":   {Data: npyOf(nan)},
		"flat.npy":  {Data: npyOf(arrayOf(tensor.Float32, []int{1, 2, 2}, 0, 0, 0, 1))},
		"line.npy":  {Data: npyOf(arrayOf(tensor.Float32, []int{3}, 0, 0, 0))},
		"none.off":  {Data: []byte("OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n")},
		"empty.obj": {Data: []byte("o nothing\n")},
		"area.off":  {Data: []byte("OFF\n3 1 0\n0 0 0\n1 0 0\n2 0 0\n3 0 1 2\n")},
		"nan.txt":   {Data: []byte("1 2 3\n4 nan 6\n")},
		"names.npz": {Data: npzOf(t,
			map[string][]byte{
				"points": npyOf(arrayOf(tensor.Float32, []int{1, 1, 3}, 0, 0, 0)),
				"names":  words("a", "b"),
			})},
		"classes.npz": {Data: npzOf(t,
			map[string][]byte{
				"points": npyOf(arrayOf(tensor.Float32, []int{1, 1, 3}, 0, 0, 0)),
				"labels": npyOf(arrayOf(tensor.Int32, []int{1}, 5)), "class_names": words("a"),
			})},
		"lost.npz": {Data: npzOf(t, map[string][]byte{"a": npyOf(nan), "b": npyOf(nan)})},
		"a/x.md":   {Data: []byte("x")},
	}
	for _, c := range []struct {
		name  string
		cloud Cloud
		want  []string
	}{
		{"two.npy", Cloud{Points: 3}, []string{
			"two.npy", `cloud "0"`, "has 2 points, want 3: lower cloud.points",
			"cloud.short: repeat",
		}},
		{"same.npy", Cloud{}, []string{"same.npy", "all 2 points lie at one place, (5, 5, 5)", "cloud.scale: none"}},
		{"flat.npy", Cloud{}, []string{"flat.npy", "2 numbers, want x, y and z"}},
		{"line.npy", Cloud{}, []string{"line.npy", "want (N, points, 3)"}},
		{
			"none.off",
			Cloud{Points: 4},
			[]string{"none.off", "has no faces to draw points from, and only 3 points of its own, want 4"},
		},
		{"empty.obj", Cloud{}, []string{"empty.obj", "neither points nor faces"}},
		{"area.off", Cloud{}, []string{"area.off", "have the area 0"}},
		{"nan.txt", Cloud{}, []string{"nan.txt", "line 2: column 2", "not finite"}},
		{"names.npz", Cloud{}, []string{"names.npz", "2 names for 1 samples"}},
		{"classes.npz", Cloud{}, []string{"classes.npz", "sample 0 has class 5, but class_names has 1"}},
		{"lost.npz", Cloud{}, []string{"lost.npz", "which array holds the clouds? It has \"a\", \"b\"", "set key"}},
		{"a", Cloud{}, []string{"no shapes", ".off", "1 files .md"}},
		{"two.npy", Cloud{Center: "middle"}, []string{"cloud.center is \"middle\", want mean, box, none"}},
		{"two.npy", Cloud{Columns: "x y"}, []string{"want x, y and z among them"}},
		{"two.npy", Cloud{Columns: "x y z nx"}, []string{"want all of nx, ny and nz"}},
		{"two.npy", Cloud{Columns: "x x y z"}, []string{"x comes twice"}},
		{"two.npy", Cloud{Points: -1}, []string{"cloud.points is -1"}},
	} {
		_, err := OpenFS(fsys, Spec{Format: "clouds", Images: c.name, Cloud: c.cloud})
		wantError(t, err, c.want...)
	}
	ds, err := OpenFS(fsys, Spec{Format: "clouds", Images: "nan.npy"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ds.Sample(1)
	wantError(t, err, "nan.npy", `sample "1"`, "row 1, number 1 is NaN", "leave out this sample")
	if !errors.Is(err, ErrNotFinite) {
		t.Errorf("%v does not wrap ErrNotFinite", err)
	}
	// Few points are enough where they are asked for as they are.
	if ds, err = OpenFS(fsys, Spec{Format: "clouds", Images: "none.off"}); err != nil ||
		rowsOf(t, sampleOf(t, ds, 0).Value).N != 3 {
		t.Errorf("%v", err)
	}
	if ds, err = OpenFS(fsys, Spec{Format: "clouds", Images: "same.npy", Cloud: Cloud{Scale: "none"}}); err != nil ||
		!slices.Equal(rowsOf(t, sampleOf(t, ds, 0).Value).Val, make([]float64, 6)) {
		t.Errorf("%v", err)
	}
}

func FuzzClouds(f *testing.F) {
	f.Add(npzOf(f, map[string][]byte{
		"points": npyOf(arrayOf(tensor.Float32, []int{1, 2, 3}, counting(6)...)),
		"names":  words("a"), "labels": npyOf(arrayOf(tensor.Int32, []int{1}, 1)),
	}))
	f.Add(npzOf(f, map[string][]byte{
		"nodes":      npyOf(arrayOf(tensor.Float32, []int{3, 2}, counting(6)...)),
		"node_count": npyOf(arrayOf(tensor.Int64, []int{2}, 1, 2)),
		"edges":      npyOf(arrayOf(tensor.Int64, []int{1, 2}, 0, 1)),
		"edge_count": npyOf(arrayOf(tensor.Int64, []int{2}, 0, 1)),
		"y":          npyOf(arrayOf(tensor.Float64, []int{2}, 0, 1)),
	}))
	f.Add(npzOf(f, map[string][]byte{
		"signal": npyOf(arrayOf(tensor.Float32, []int{1, 2, 3}, counting(6)...)),
		"rate":   npyOf(arrayOf(tensor.Int64, []int{}, 8000)),
	}))
	f.Add(npzOf(f, map[string][]byte{
		"positions": npyOf(arrayOf(tensor.Float32, []int{1, 2, 3}, counting(6)...)),
		"z":         npyOf(arrayOf(tensor.Int64, []int{1, 2}, 1, 8)),
		"energy":    npyOf(arrayOf(tensor.Float64, []int{1}, 1)),
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := fstest.MapFS{"a": {Data: b}}
		for _, format := range []string{"clouds", "molecules", "graphs", "signals"} {
			ds, err := OpenFS(fsys, Spec{Format: format, Images: "a"})
			if err != nil {
				continue
			}
			for i := range min(ds.Len(), 3) {
				s, err := ds.Sample(i)
				if err != nil {
					continue
				}
				for _, p := range s.Value.Parts() {
					if p.DType != tensor.Float64 {
						continue
					}
					for k := 0; k < len(p.Raw); k += 8 {
						if v := math.Float64frombits(binary.LittleEndian.Uint64(p.Raw[k:])); math.IsNaN(v) ||
							math.IsInf(v, 0) {
							t.Fatalf("%s: sample %d holds %v", format, i, v)
						}
					}
				}
			}
		}
	})
}
