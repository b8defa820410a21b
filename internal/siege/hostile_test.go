//go:build unix

package siege

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/internal/disk"
	"nero/model/engine/choose"
	"nero/model/onnx"
)

// bodies answers for models of any input that a format of data gives: the mean of what comes in, for each sample where
// there is a batch. The name of a model says which.
type bodies struct{}

// port is a port of float32 numbers; -1 is any size.
func port(name string, shape ...int) onnx.Port {
	p := onnx.Port{Name: name, Kind: "tensor", DType: tensor.Float32, Ranked: true}
	for _, n := range shape {
		p.Shape = append(p.Shape, onnx.Dim{Size: n})
	}
	return p
}

func (bodies) Describe(_ context.Context, name string) (onnx.Signature, string, error) {
	edges := port("edges", 2, -1)
	edges.DType = tensor.Int64
	species := port("species", -1)
	species.DType = tensor.Int64
	scores := port("y", -1, 3)
	s, ok := map[string]onnx.Signature{
		"grey":      {Inputs: []onnx.Port{port("x", -1, 1, -1, -1)}, Outputs: []onnx.Port{scores}},
		"color":     {Inputs: []onnx.Port{port("x", -1, 3, -1, -1)}, Outputs: []onnx.Port{scores}},
		"pair":      {Inputs: []onnx.Port{port("x", -1, 2, -1, -1)}, Outputs: []onnx.Port{port("y", -1, 2, -1, -1)}},
		"points":    {Inputs: []onnx.Port{port("points", -1, -1, 3)}, Outputs: []onnx.Port{scores}},
		"nodes":     {Inputs: []onnx.Port{port("nodes", -1, 2), edges}, Outputs: []onnx.Port{port("y", 1, 1)}},
		"atoms":     {Inputs: []onnx.Port{port("positions", -1, 3), species}, Outputs: []onnx.Port{port("y", 1, 1)}},
		"recording": {Inputs: []onnx.Port{port("signal", -1, 1, -1)}, Outputs: []onnx.Port{scores}},
		"scan":      {Inputs: []onnx.Port{port("x", -1, 1, -1, -1, -1)}, Outputs: []onnx.Port{scores}},
	}[name]
	if !ok {
		return s, "", fmt.Errorf("no model %q", name)
	}
	return s, "toy", nil
}

func (b bodies) Infer(ctx context.Context, name string, in []tensor.Named) ([]tensor.Named, error) {
	s, _, err := b.Describe(ctx, name)
	if err != nil {
		return nil, err
	}
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	shape := make([]int, len(s.Outputs[0].Shape))
	n := 1
	for i, d := range s.Outputs[0].Shape {
		shape[i] = d.Size
		if d.Size < 0 {
			shape[i] = in[0].Shape[i]
		}
		n *= shape[i]
	}
	y := make([]float32, n)
	rows := max(1, shape[0])
	for r := range rows {
		part := x[r*len(x)/rows : (r+1)*len(x)/rows]
		var sum float32
		for i, v := range part {
			sum += v * float32(1+i%5)
		}
		for i := r * n / rows; i < (r+1)*n/rows; i++ {
			y[i] = sum / float32(1+len(part)) * float32(1+i%3)
		}
	}
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(y, shape...)}}, nil
}

// breed is a kind of data: files that are sound, of which one is made hostile, and the flags that read them.
type breed struct {
	// of the model
	model string
	// files by their path in the folder; a value that begins with "@" names a file of a testdata folder of data
	files map[string]string
	// the file or folder that --data names, "" for the whole folder
	data string
	args []string
}

// cloud is a tetrahedron.
const cloud = "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"

// breeds are all the formats of data that the program reads, each in the forms that differ in how they are read.
func breeds() map[string]breed {
	all := map[string]breed{}
	for _, name := range []string{
		"grey.png", "grey16.png", "grey-palette.png", "grey.jpg", "grey.tif", "grey16.tif", "grey.bmp", "rgb.png",
		"rgb.jpg", "rgb.tif", "rgb.bmp", "rgb.webp", "rgb-lossy.webp", "opaque.png", "palette.png",
	} {
		model := "color"
		if strings.HasPrefix(name, "grey") {
			model = "grey"
		}
		text, ext := "@dataset/"+name, filepath.Ext(name)
		all["picture "+name] = breed{
			model,
			map[string]string{"a/one" + ext: text, "b/two" + ext: text},
			"",
			[]string{"--group", "C4", "--invariant"},
		}
	}
	for _, name := range []string{
		"nhw-b-u1.npy", "nhw-be-f4.npy", "nhw-le-f8.npy", "nhw-F.npy", "nhw-le-i8.npy", "nhw-le-f2.npy", "nhw-v3.npy",
	} {
		all["array "+name] = breed{
			"grey", map[string]string{"x.npy": "@dataset/" + name}, "x.npy", []string{"--group", "C4"},
		}
	}
	all["pictures with labels"] = breed{
		"grey", map[string]string{
			"p/one.png": "@dataset/grey.png", "p/two.png": "@dataset/grey.png",
			"y.csv": "file,label\none.png,0\ntwo.png,1\n",
		}, "p", []string{"--group", "C4", "--labels", "hoard/y.csv"},
	}
	square := []string{"--group", "C4", "--invariant"}
	idx := "\x00\x00\x08\x03\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x04" + strings.Repeat("\x01\x80\xf0", 16)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(idx)) // into memory
	_ = z.Close()
	all["idx"] = breed{"grey", map[string]string{
		"x.idx": idx, "y.idx": "\x00\x00\x08\x01\x00\x00\x00\x03\x00\x01\x02",
	}, "x.idx", append([]string{"--labels", "hoard/y.idx"}, square...)}
	all["packed idx"] = breed{"grey", map[string]string{"x.idx.gz": packed.String()}, "x.idx.gz", square}
	bare := append([]string{"--labels", "none"}, square...)
	all["npz"] = breed{"grey", map[string]string{"x.npz": "@dataset/stored.npz"}, "x.npz", bare}
	all["deflated npz"] = breed{"grey", map[string]string{"x.npz": "@dataset/deflated.npz"}, "x.npz", bare}
	turned := []string{"--group", "Octa", "--invariant"}
	clouds := append([]string{"--data-format", "clouds"}, turned...)
	for name, text := range map[string]string{
		"off": cloud,
		"obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
		"ply": "@mesh/ascii.ply", "little.ply": "@mesh/little.ply", "big.ply": "@mesh/big.ply",
		"xyz": "0.1 0.2 0.3\n1 2 3\n-1 0 0.5\n0.3 0.1 2\n", "txt": "# x,y,z\n0.1,0.2,0.3\n0.4,-0.2,0.5\n0,1,2\n1,1,0\n",
	} {
		all["cloud "+name] = breed{
			"points",
			map[string]string{"a/one." + name: text, "b/two." + name: text},
			"",
			append([]string{"--points", "4"}, clouds...),
		}
	}
	graph := `{"nodes": [[0.5, 1], [2, 3], [1, 1]], "edges": [[0, 1], [1, 0], [1, 2]]}` + "\n" +
		`{"nodes": [[0.5, 1], [2, -3], [4, 4]], "edges": [[0, 1]]}` + "\n"
	all["graphs"] = breed{"nodes", map[string]string{"x.jsonl": graph}, "x.jsonl", []string{
		"--data-format", "graphs", "--field", "nodes:unchanged", "--field", "edges",
		"--output-field", "y:unchanged:sample", "--group", "S", "--orbit", "haar:4",
	}}
	molecule := []string{
		"--data-format", "molecules", "--field", "positions:positions", "--field", "species:unchanged",
		"--output-field", "y:unchanged:sample", "--group", "Octa",
	}
	all["molecules xyz"] = breed{
		"atoms",
		map[string]string{"x.xyz": "3\nProperties=species:S:1:pos:R:3 energy=-1.5\n" +
			"O 0.0 0.0 0.119\nH 0.0 0.763 -0.477\nH 0.0 -0.763 -0.477\n3\nenergy=2\n" +
			"O 0 0 0.1\nC 0 1 -0.4\nH 0 -0.7 -0.5\n"},
		"x.xyz",
		molecule,
	}
	all["molecules sdf"] = breed{"atoms", map[string]string{"x.sdf": "@chem/ions.sdf"}, "x.sdf", molecule}
	for _, name := range []string{"i16.wav", "i24.wav", "u8.wav", "f32.wav", "f64.wav", "extensible.wav"} {
		all["recording "+name] = breed{
			"recording",
			map[string]string{"a/one.wav": "@sound/" + name, "b/two.wav": "@sound/" + name},
			"",
			[]string{"--data-format", "signals", "--group", "T(1,Z)", "--orbit", "0;1", "--invariant"},
		}
	}
	for _, name := range []string{"int16.nii", "float32.nii", "big.nii", "scaled.nii", "qform.nii", "packed.nii.gz"} {
		ext := name[strings.Index(name, "."):]
		all["volume "+name] = breed{
			"scan",
			map[string]string{"a/one" + ext: "@nifti/" + name, "b/two" + ext: "@nifti/" + name},
			"",
			append([]string{"--data-format", "volumes"}, turned...),
		}
	}
	flo := "PIEH" + string(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 4), 4)) +
		strings.Repeat("\x00\x00\x80\x3f\x00\x00\x00\x3f", 16)
	all["pairs"] = breed{"pair", map[string]string{
		"one_a.png": "@square", "one_b.png": "@square", "one.flo": flo,
	}, "", []string{"--data-format", "pairs", "--output", "field", "--group", "D4 x Time", "--equivariant"}}
	note := "<annotation><filename>one.png</filename><size><width>4</width><height>4</height><depth>1</depth></size>" +
		"<object><name>spot</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>3</xmax><ymax>3</ymax></bndbox></object>" +
		"</annotation>"
	all["voc"] = breed{"grey", map[string]string{
		"JPEGImages/one.png": "@square", "Annotations/one.xml": note, "ImageSets/Main/test.txt": "one\n",
	}, "", append([]string{"--data-format", "voc"}, square...)}
	all["coco"] = breed{"grey", map[string]string{
		"one.png": "@square",
		"notes.json": `{"images": [{"id": 1, "file_name": "one.png", "width": 4, "height": 4}],` + "\n" +
			`"annotations": [{"id": 7, "image_id": 1, "category_id": 3, "bbox": [1, 1, 2, 2]}],` + "\n" +
			`"categories": [{"id": 3, "name": "spot"}]}`,
	}, "", append([]string{"--data-format", "coco"}, square...)}
	all["coco masks"] = breed{"grey", map[string]string{
		"one.png": "@square",
		"notes.json": `{"images": [{"id": 1, "file_name": "one.png", "width": 4, "height": 4}],` + "\n" +
			`"annotations": [{"id": 7, "image_id": 1, "category_id": 3, "segmentation": [[0, 0, 3, 0, 3, 2.5]]},` + "\n" +
			`{"id": 8, "image_id": 1, "category_id": 3, "segmentation": {"size": [4, 4], "counts": [3, 9, 4]}},` + "\n" +
			`{"id": 9, "image_id": 1, "category_id": 3, "iscrowd": 1, "segmentation": {"size": [4, 4], "counts": "394"}}],` +
			"\n" + `"categories": [{"id": 3, "name": "spot"}]}`,
	}, "", append([]string{"--data-format", "coco_masks"}, square...)}
	return all
}

// stored is the text of a file of a breed.
func stored(t *testing.T, text string) string {
	t.Helper()
	name, ok := strings.CutPrefix(text, "@")
	if !ok {
		return text
	}
	if name == "square" {
		dir := t.TempDir()
		pictures(t, dir, 1)
		return tree(t, dir)["0/0.png"]
	}
	room, file, _ := strings.Cut(name, "/")
	b, err := os.ReadFile(filepath.Join("..", "..", "data", room, "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// numerals are numbers in a text.
var numerals = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

// tokens are what a number in a text is replaced by.
var tokens = []string{
	"nan", "inf", "-inf", "1e999", "-1e308", "-1", "0", "1", "99999999999999999999", "2147483648", "4294967297",
	"9223372036854775807", "0x10", "1_000", "", "\x1b[31mred", "\x00", "\xff\xfe", "a\tb", "１", "=1+1", "null", "[]",
	"{}", "1e-320",
}

// spoil makes a file hostile, and says how.
func spoil(r *rand.Rand, text string) (string, string) {
	b := []byte(text)
	if len(b) == 0 {
		return "\x00", "a byte in place of none"
	}
	at := r.IntN(len(b))
	if r.IntN(2) == 0 { // most of what is said of sizes stands at the start
		at = r.IntN(min(len(b), 128))
	}
	readable := !bytes.ContainsAny(b, "\x00\x01\xff")
	switch r.IntN(9) {
	case 0:
		return text[:at], fmt.Sprintf("cut at %d of %d", at, len(b))
	case 1:
		for range 1 + r.IntN(8) {
			b[(at+r.IntN(16))%len(b)] ^= 1 << r.IntN(8)
		}
		return string(b), fmt.Sprintf("bits from byte %d on", at)
	case 2, 3, 4:
		if readable {
			break
		}
		v := uint64(extremes[r.IntN(len(extremes))])
		if r.IntN(3) == 0 {
			v = []uint64{
				math.Float64bits(math.NaN()), math.Float64bits(math.Inf(1)),
				uint64(math.Float32bits(float32(math.NaN()))),
				uint64(math.Float32bits(float32(math.Inf(-1)))), math.Float64bits(math.MaxFloat64),
			}[r.IntN(5)]
		}
		size := []int{1, 2, 4, 8}[r.IntN(4)]
		at -= at % size
		word := binary.LittleEndian.AppendUint64(nil, v)[:size]
		if r.IntN(3) == 0 {
			word = binary.BigEndian.AppendUint64(nil, v)[8-size:]
		}
		copy(b[at:], word)
		return string(b), fmt.Sprintf("%d bytes of %#x at %d", size, v, at)
	case 5:
		return "", "nothing in it"
	case 6:
		more := strings.Repeat(string([]byte{byte(r.IntN(256))}), 1<<r.IntN(21))
		return text + more, fmt.Sprintf("%d times %q behind it", len(more), more[0])
	case 7:
		return strings.Repeat(text, 2), "twice"
	}
	found := numerals.FindAllStringIndex(text, -1)
	if !readable || len(found) == 0 {
		return text[:at] + text[at+1:], fmt.Sprintf("byte %d left out", at)
	}
	span := found[r.IntN(len(found))]
	token := tokens[r.IntN(len(tokens))]
	if r.IntN(8) == 0 {
		token = strings.Repeat("9", 1<<20)
	}
	return text[:span[0]] + token + text[span[1]:], fmt.Sprintf("%.30q in place of %q", token, text[span[0]:span[1]])
}

// unpacked spoils what is packed into a file and packs it again, so that its own checksums hold; the others it spoils
// as they are, and mends the checksums of PNG.
func unpacked(t *testing.T, r *rand.Rand, name, text string) (string, string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
	}
	var b bytes.Buffer
	switch ending := filepath.Ext(name); {
	case r.IntN(3) == 0:
	case ending == ".gz":
		z, err := gzip.NewReader(strings.NewReader(text))
		must(err)
		inner, err := io.ReadAll(z)
		must(err)
		spoilt, how := spoil(r, string(inner))
		w := gzip.NewWriter(&b)
		_, err = w.Write([]byte(spoilt))
		must(err)
		must(w.Close())
		return b.String(), "inside: " + how
	case ending == ".npz":
		z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
		must(err)
		w := zip.NewWriter(&b)
		which, said := r.IntN(len(z.File)), ""
		for i, f := range z.File {
			in, err := f.Open()
			must(err)
			inner, err := io.ReadAll(in)
			must(err)
			entry := string(inner)
			if i == which {
				entry, said = spoil(r, entry)
				said = "inside, " + f.Name + ": " + said
			}
			out, err := w.Create(f.Name)
			must(err)
			_, err = out.Write([]byte(entry))
			must(err)
		}
		must(w.Close())
		return b.String(), said
	case ending == ".png":
		spoilt, how := spoil(r, text)
		p := []byte(spoilt)
		for at := 8; at+12 <= len(p); {
			n := int(binary.BigEndian.Uint32(p[at:]))
			if n > len(p)-at-12 {
				break
			}
			binary.BigEndian.PutUint32(p[at+8+n:], crc32.ChecksumIEEE(p[at+4:at+8+n]))
			at += 12 + n
		}
		return string(p), how + ", checksums mended"
	}
	return spoil(r, text)
}

// TestHostileData makes one file of a data set hostile, in every format that the program reads: cut, flipped, sizes
// that cannot be, not finite, of another format, under names that nobody should give. The run takes it, or it is
// refused by name; nothing that looks finished is left.
func TestHostileData(t *testing.T) {
	t.Setenv("NERO_ORT_LIB", choose.None)
	url := strings.TrimSuffix(serve(t, bodies{}), "/m")
	dir := t.TempDir()
	all := breeds()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	sound := map[string]bool{}
	taken, refused := 0, 0
	plan(t, 8, func(t *testing.T, n int, r *rand.Rand) {
		t.Helper()
		// The whole goes through all of them, a short draw through some.
		which := names[(n*17)%len(names)]
		k := all[which]
		files := map[string]string{}
		var paths []string
		for name, text := range k.files {
			files[name] = stored(t, text)
			paths = append(paths, name)
		}
		slices.Sort(paths)
		args := append([]string{
			"run", "-q", "--model", "toy=" + url + "/" + k.model, "--data", filepath.Join("hoard", k.data), "-o", "out",
		}, k.args...)
		drop := func() {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
				t.Fatal(err)
			}
		}
		drop()
		if !sound[which] {
			plant(t, filepath.Join(dir, "hoard"), files)
			if a := judged(t, which, dir, nil, args...); a.code != 0 {
				t.Fatalf("%s is refused as it is: %s", which, a.err)
			}
			sound[which] = true
		}
		path := paths[r.IntN(len(paths))]
		how := ""
		// What does not fit to the model is told of the data as a whole.
		base := filepath.Base(path)
		places := []string{"hoard", "the data has", base, strings.TrimSuffix(base, filepath.Ext(path))}
		switch r.IntN(10) {
		case 0: // a name
			odd := []string{
				"\x1b[31mred", "\xff\xfe", "two\nlines", "=cmd|x", strings.Repeat("n", 240), "\u202etxt", "a,b\"c'",
				"-o", "\x07",
			}[r.IntN(9)]
			text := files[path]
			delete(files, path)
			path = filepath.Join(filepath.Dir(path), odd+filepath.Ext(path))
			files[path] = text
			how = fmt.Sprintf("called %q", path)
			places = append(places, strings.Trim(strconv.Quote(odd), `"`), odd)
		case 1: // what another format writes
			other := names[r.IntN(len(names))]
			files[path] = stored(t, all[other].files[slices.Min(slices.Collect(maps.Keys(all[other].files)))])
			how = "of " + other
		default:
			files[path], how = unpacked(t, r, path, files[path])
		}
		plant(t, filepath.Join(dir, "hoard"), files)
		what := fmt.Sprintf("%s: %s %s", which, path, how)
		drop()
		if a := judged(t, what, dir, places, args...); a.code == 0 {
			taken++
		} else {
			refused++
			if testing.Verbose() {
				t.Logf("%s: %.300s", what, a.err)
			}
			unfinished(t, what, filepath.Join(dir, "out"))
		}
	})
	t.Logf("%d kinds of files; taken %d, refused %d", len(sound), taken, refused)
}

// unfinished tells of files that a command which failed should not have left.
func unfinished(t *testing.T, what, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipAll // there is none
		}
		if base := d.Name(); disk.Leftover(base) || base == "manifest.json" || base == "summary.json" {
			t.Errorf("%s: %s is left", what, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
