package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/run/job"
)

// listing is n data files below a folder, last first.
func listing(dir string, n int) []job.Ref {
	var refs []job.Ref
	for i := range n {
		refs = append(refs, job.Ref{
			Path:   fmt.Sprintf("%s/class%d/%03d.jpg", dir, (n-1-i)%2, n-1-i),
			SHA256: fmt.Sprintf("%064x", n-1-i),
		})
	}
	return refs
}

// A folder of pictures is one line with a digest, which does not depend on where the folder lies or on the order of the
// files.
func TestManyFilesAreOneLine(t *testing.T) {
	in := small().input(t)
	in.Job.Models[0].Path = "/home/somebody/secret/nets/original.onnx"
	in.Job.Files = listing("/home/somebody/secret/pictures", mostFiles)
	page := pageText(t, in)
	if strings.Count(page, ".jpg, SHA-256 `") != mostFiles || !strings.Contains(page, "| class1/005.jpg, SHA-256") ||
		!strings.Contains(page, ": nets/original.onnx, SHA-256") {
		t.Error("a few files are not listed by folder and name")
	}
	if strings.Contains(page, "somebody") {
		t.Error("the page says where the files lie")
	}
	in.Job.Files = listing("/home/somebody/secret/pictures", 364)
	page = pageText(t, in)
	var lines []string
	for i := range 364 {
		lines = append(lines, fmt.Sprintf("%064x  class%d/%03d.jpg\n", i, i%2, i)) // sorted, as the digests are
	}
	want := fmt.Sprintf("| data | 364 files, digest of the list `%x`", sha256.Sum256([]byte(strings.Join(lines, ""))))
	if !strings.Contains(page, want) || strings.Contains(page, ".jpg") || strings.Contains(page, "somebody") {
		t.Errorf("the page does not say %q, or names files", want)
	}
	moved := listing(`D:\pictures`, 364)
	slices.Reverse(moved)
	if digestOfList(moved) != digestOfList(in.Job.Files) {
		t.Error("the digest depends on the folder or on the order")
	}
	moved[7].SHA256 = strings.Repeat("f", 64)
	if digestOfList(moved) == digestOfList(in.Job.Files) {
		t.Error("the digest does not see a file that changed")
	}
	moved = listing("pictures", 364)
	moved[0].Path, moved[1].Path = moved[1].Path, moved[0].Path
	if digestOfList(moved) == digestOfList(in.Job.Files) {
		t.Error("the digest does not see two files that changed places")
	}
	var b bytes.Buffer
	if err := Files(&b, in.Job); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+2+364 {
		t.Fatalf("%d lines (%v)", len(rows), err)
	}
	if got := []string{
		"model", "original", "/home/somebody/secret/nets/original.onnx",
		in.Job.Models[0].SHA256,
	}; !slices.Equal(rows[1], got) {
		t.Errorf("line %q", rows[1])
	}
	if got := []string{
		"data", "class1/363.jpg", "/home/somebody/secret/pictures/class1/363.jpg",
		fmt.Sprintf("%064x", 363),
	}; !slices.Equal(rows[3], got) {
		t.Errorf("line %q", rows[3])
	}
	if err := Files(broken{}, in.Job); err == nil {
		t.Error("a disk that is full")
	}
}

func TestFileNames(t *testing.T) {
	for want, paths := range map[string][]string{
		"a.gz":           {"/data/a.gz"},
		"a b":            {"a", "b"},
		"x/a y/b":        {"/x/a", "/y/b"},
		"a sub/b":        {"../d/a", "../d/sub/b"},
		"ab/a abc/b":     {"d/ab/a", "d/abc/b"},
		"t/a.png l/a.gz": {`C:\d\t\a.png`, `C:\d\l\a.gz`},
	} {
		var refs []job.Ref
		for _, p := range paths {
			refs = append(refs, job.Ref{Path: p})
		}
		if got := strings.Join(fileNames(refs), " "); got != want {
			t.Errorf("%q are %q, want %q", paths, got, want)
		}
	}
	for name, want := range map[string]string{
		"/a/b/c.gz": "b/c.gz", "c.gz": "c.gz", `C:\a\b.gz`: "a/b.gz", "/": "",
		"./b.gz": "./b.gz",
	} {
		if got := shortPath(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// No name opens as a formula in a spreadsheet.
func TestNoFormulas(t *testing.T) {
	const evil = "=cmd|' /C calc'!A0"
	s, j := fixture{group: "C4", models: []string{evil, "plain"}, metrics: []string{"confidence"}, n: 2}.summary(t)
	j.Models[0].Path, j.Files = "@sum", []job.Ref{{Path: "-1+1.png"}}
	var b bytes.Buffer
	if err := errors.Join(CSV(&b, s), Files(&b, j)); err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(&b)
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	quoted := 0
	for _, line := range lines {
		for _, cell := range line {
			_, err := strconv.ParseFloat(cell, 64)
			if err != nil && cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
				t.Fatalf("a cell %q", cell)
			}
			if strings.HasPrefix(cell, "'") {
				quoted++
			}
		}
	}
	if quoted < 4 {
		t.Errorf("%d cells have an apostrophe: names are lost", quoted)
	}
}
