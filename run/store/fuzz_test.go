package store

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/run/job"
	"nero/symmetry/group"
)

// golden reads a file of the run in testdata, with the job that it belongs to.
func golden(f *testing.F, pattern string) (*job.Job, string, []byte) {
	f.Helper()
	j, _, err := readJob("testdata/format1/job.json")
	if err != nil {
		f.Fatal(err)
	}
	hash, err := j.Hash()
	if err != nil {
		f.Fatal(err)
	}
	m, err := filepath.Glob(filepath.Join("testdata", "format1", pattern))
	if err != nil || len(m) != 1 {
		f.Fatalf("%d files, %v", len(m), err)
	}
	b, err := os.ReadFile(m[0])
	if err != nil {
		f.Fatal(err)
	}
	return j, hash, b
}

func FuzzMarker(f *testing.F) {
	j, hash, b := golden(f, "shards-*/00001.json")
	f.Add(b)
	f.Add(bytes.Replace(b, []byte(`"mean":[`), []byte(`"mean":["NaN",`), 1))
	f.Add([]byte(`{"format":1,"cells":{"mean":[[1,2],"x,y",null,-Inf]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, cells, err := parseMarker(j, hash, j.Shards()[1], b)
		if err != nil {
			return
		}
		if len(cells) != 16 || m.Job != hash || m.Rows != 12 {
			t.Errorf("accepted %+v", m)
		}
		text, err := encodeJSON(m, "")
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := parseMarker(j, hash, j.Shards()[1], text)
		if err != nil {
			t.Fatalf("what was accepted is refused once written: %v", err)
		}
		if text2, err := encodeJSON(again, ""); err != nil || !bytes.Equal(text, text2) {
			t.Errorf("a round trip changes the marker: %v", err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	j, hash, b := golden(f, "manifest.json")
	f.Add(b)
	f.Add(bytes.Replace(b, []byte("job.json"), []byte("../../etc/passwd"), 1))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseManifest(b, j, hash)
		if err != nil {
			return
		}
		for _, file := range m.Files {
			if strings.HasPrefix(filepath.Clean(file.Path), "..") || filepath.IsAbs(file.Path) {
				t.Errorf("a path outside the folder: %q", file.Path)
			}
		}
	})
}

// FuzzBoxes gives the reader of boxes any bytes, as if their checksum were right.
func FuzzBoxes(f *testing.F) {
	j := &job.Job{
		Models: []job.ModelRef{{Name: "m"}}, Count: 2, Shard: 2, Classes: 2,
		Elements: []group.Element{{0}, {120}, {240}}, Metrics: []string{"iou@consensus"},
		Study: job.Study{Output: job.Output{Space: "boxes"}},
	}
	s := j.Shards()[0]
	box := job.Detection{X1: 1, Y1: 2, X2: 3, Y2: 4, Score: 0.5, Label: 1, Match: 3}
	curve := [][]float32{{1, 2, 3}}
	rows, err := arrange(j, s, []job.Row{
		{
			Index: 0, Sample: "a", Curves: curve, Boxes: [][]job.Detection{{box, box}, nil, {box}},
			Truths: [][]int32{{1, 0}, {1, 0}, {0, 2}},
		},
		{Index: 1, Sample: "b", Curves: curve, Boxes: make([][]job.Detection, 3)},
	})
	if err != nil {
		f.Fatal(err)
	}
	b, err := encode(j, "hash", s, rows)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	for i := 0; i < len(b); i += 193 {
		c := bytes.Clone(b)
		c[i] ^= 0x11
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := decode(j, s, bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		first, count, size := file.parts(0)
		for i := range count {
			rows, err := file.rows(first+i, 0, s.Lo+i*size, nil, Filter{NoTop: true, Boxes: true})
			if err != nil {
				return
			}
			for _, r := range rows {
				if r.Err == "" && len(r.Boxes) != len(j.Elements) {
					t.Errorf("boxes of %d elements", len(r.Boxes))
				}
			}
		}
	})
}

// Counts that cannot be are refused when they are written, and when they are read from a file whose checksum is right.
func TestImpossiblePixels(t *testing.T) {
	j := &job.Job{
		Models: []job.ModelRef{{Name: "m"}}, Count: 1, Shard: 1, Classes: 2, Pixels: true,
		Elements: []group.Element{{0}}, Metrics: []string{"miou"}, Study: job.Study{Output: job.Output{Space: "mask"}},
	}
	s := j.Shards()[0]
	for _, x := range []struct {
		p  job.Pixels
		ok bool
	}{
		{job.Pixels{Class: 1, Both: 2, Got: 3, Want: 2}, true},
		{job.Pixels{Class: -1}, true},
		{job.Pixels{Class: 1, Both: 4, Got: 3, Want: 4}, false},
		{job.Pixels{Class: 1, Both: 3, Got: 3, Want: 2}, false},
		{job.Pixels{Class: 1, Both: -1, Got: 3, Want: 2}, false},
		{job.Pixels{Class: -2}, false},
	} {
		row := job.Row{Sample: "a", Curves: [][]float32{{1}}, Pixels: [][]job.Pixels{{x.p}}}
		if _, err := arrange(j, s, []job.Row{row}); (err == nil) != x.ok {
			t.Errorf("%+v written: %v", x.p, err)
		}
		b, err := encode(j, "hash", s, []job.Row{row})
		if err != nil {
			t.Fatal(err)
		}
		file, err := decode(j, s, bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := file.parts(0)
		if _, err := file.rows(first, 0, 0, nil, Filter{NoTop: true, Pixels: true}); (err == nil) != x.ok {
			t.Errorf("%+v read: %v", x.p, err)
		}
	}
}

// FuzzPixels gives the reader of counts of pixels any bytes, as if their checksum were right.
func FuzzPixels(f *testing.F) {
	j := &job.Job{
		Models: []job.ModelRef{{Name: "m"}}, Count: 2, Shard: 2, Classes: 2, Pixels: true,
		Elements: []group.Element{{0}, {120}, {240}}, Metrics: []string{"miou"},
		Study: job.Study{Output: job.Output{Space: "mask"}},
	}
	s := j.Shards()[0]
	one := job.Pixels{Class: 1, Both: 2, Got: 3, Want: 4}
	curve := [][]float32{{1, 2, 3}}
	rows, err := arrange(j, s, []job.Row{
		{Index: 0, Sample: "a", Curves: curve, Pixels: [][]job.Pixels{{{Got: 1}, one}, {}, {one}}},
		{Index: 1, Sample: "b", Curves: curve, Pixels: make([][]job.Pixels, 3)},
	})
	if err != nil {
		f.Fatal(err)
	}
	b, err := encode(j, "hash", s, rows)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	for i := 0; i < len(b); i += 193 {
		c := bytes.Clone(b)
		c[i] ^= 0x11
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := decode(j, s, bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		first, count, size := file.parts(0)
		for i := range count {
			rows, err := file.rows(first+i, 0, s.Lo+i*size, nil, Filter{NoTop: true, Pixels: true})
			if err != nil {
				return
			}
			for _, r := range rows {
				if r.Err == "" && len(r.Pixels) != len(j.Elements) {
					t.Errorf("pixels of %d elements", len(r.Pixels))
				}
			}
		}
	})
}

// FuzzRows gives the reader of shards any bytes, as if their checksum were right.
func FuzzRows(f *testing.F) {
	j, _, b := golden(f, "shards-*/00001.parquet")
	f.Add(b)
	for i := 0; i < len(b); i += 257 {
		c := bytes.Clone(b)
		c[i] ^= 0x11
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := j.Shards()[1]
		file, err := decode(j, s, bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for m := range j.Models {
			first, count, size := file.parts(m)
			for i := range count {
				rows, err := file.rows(first+i, m, s.Lo+i*size, j.Metrics, Filter{Boxes: true})
				if err != nil {
					return
				}
				for _, r := range rows {
					if len(r.Curves) != len(j.Metrics) || len(r.Curves[0]) != len(j.Elements) || r.Index < s.Lo ||
						r.Index >= s.Hi {
						t.Errorf("read %+v", r)
					}
				}
			}
		}
	})
}
