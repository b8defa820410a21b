package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/run/job"
)

// listing is a job of so many files, with what their heads say of most.
func listing(n int) *job.Job {
	j := new(job.Job)
	for i := range n {
		j.Files = append(j.Files, job.Ref{Path: fmt.Sprintf("/data/%d/photo.jpg", i), SHA256: digest([]byte{byte(i)})})
		j.Heads = append(j.Heads, job.Head{Channels: 1, Height: 3, Width: int32(i + 1), Depth: 8})
	}
	j.Heads[n/2] = job.Head{}
	return j
}

// What is written is read back, also where it takes several row groups, and where paths share nothing.
func TestFilesTable(t *testing.T) {
	apart := listing(3)
	for i, path := range []string{"b.png", `C:\x\b.png`, ""} {
		apart.Files[i].Path = path
	}
	one := listing(1)
	bare := listing(5)
	bare.Heads = nil
	for _, j := range []*job.Job{listing(filesGroup + 3), apart, one, bare} {
		b, err := encodeFiles(j)
		if err != nil {
			t.Fatal(err)
		}
		files, heads, err := decodeFiles(len(j.Files), b)
		if j.Heads == nil {
			j.Heads = make([]job.Head, len(j.Files))
		}
		if err != nil || !slices.Equal(files, j.Files) || !slices.Equal(heads, j.Heads) {
			t.Errorf("%d files: %v", len(j.Files), err)
		}
		if _, _, err := decodeFiles(len(j.Files)+1, b); err == nil {
			t.Errorf("%d files are read as one more", len(j.Files))
		}
		if again, err := encodeFiles(j); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%d files: other bytes the second time, %v", len(j.Files), err)
		}
	}
}

// A table that is damaged, or is not there, is told by its name, and a run is opened with nothing else.
func TestFilesTableDamaged(t *testing.T) {
	spoil := map[string]func(name string) error{
		"it is not there": os.Remove,
		"its SHA-256 is":  func(name string) error { return os.WriteFile(name, []byte("x"), 0o600) },
	}
	for want, do := range spoil {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/format2")); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filesName)
		if err := do(name); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// FuzzFiles gives the reader of tables any bytes, as if their checksum were right.
func FuzzFiles(f *testing.F) {
	const n = 20
	b, err := encodeFiles(listing(n))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	for i := 0; i < len(b); i += 61 {
		c := bytes.Clone(b)
		c[i] ^= 0x11
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		files, heads, err := decodeFiles(n, b)
		if err != nil {
			return
		}
		if len(files) != n || len(heads) != n {
			t.Errorf("%d files, %d heads", len(files), len(heads))
		}
		for i, f := range files {
			if len(f.SHA256) != 2*digestSize || impossible(heads[i]) {
				t.Errorf("%+v, %+v", f, heads[i])
			}
		}
	})
}
