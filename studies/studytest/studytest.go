// Package studytest is the kit of tests that every folder of a study passes: models and their cards belong together,
// and a study names files that are there. Tests run in the folder of their package, so names are relative to the
// study's.
package studytest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Read reads a file of the study.
func Read(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// Digest is the SHA-256 of bytes in hexadecimal digits, as cards and evaluations write it.
func Digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// Cards holds models/*.onnx and MODEL_CARDS.md against each other: there are count models, each of less than most
// bytes, each has a row with its name, size and digest, and no row is without a model.
func Cards(tb testing.TB, count, most int) {
	tb.Helper()
	for _, fault := range faults(os.DirFS("."), count, most) {
		tb.Error(fault)
	}
}

// faults are what Cards says of a folder.
func faults(study fs.FS, count, most int) []string {
	card, err := fs.ReadFile(study, "MODEL_CARDS.md")
	if err != nil {
		return []string{err.Error()}
	}
	files, err := fs.Glob(study, "models/*.onnx")
	if err != nil {
		return []string{err.Error()}
	}
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if len(files) != count {
		say("%d models, want %d", len(files), count)
	}
	for _, f := range files {
		b, err := fs.ReadFile(study, f)
		if err != nil {
			return append(all, err.Error())
		}
		if len(b) >= most {
			say("%s: %d bytes, want less than %d", f, len(b), most)
		}
		row := fmt.Sprintf("`%s` | %s | `%s` |", filepath.Base(f), thousands(len(b)), Digest(b))
		if !strings.Contains(string(card), row) {
			say("MODEL_CARDS.md: no row has the name, size and digest of a model: %s", row)
		}
	}
	if n := strings.Count(string(card), ".onnx` |"); n != len(files) {
		say("MODEL_CARDS.md lists %d files, there are %d", n, len(files))
	}
	return all
}

// thousands writes a number as cards do.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// Names are the models and the data that a study file names, in its order. Each is in the file system, or a failure of
// tb.
func Names(tb testing.TB, study fs.FS, name string) []string {
	tb.Helper()
	b, err := fs.ReadFile(study, name)
	if err != nil {
		tb.Fatal(err)
	}
	all := named(string(b))
	for _, f := range all {
		if _, err := fs.Stat(study, f); err != nil {
			tb.Errorf("%s: %v", name, err)
		}
	}
	return all
}

// named are the words of a study that name files beside it.
func named(text string) []string {
	var all []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" {},[]\n", r) }) {
		if strings.HasPrefix(word, "models/") || strings.HasPrefix(word, "data/") {
			all = append(all, word)
		}
	}
	return all
}

// Studies holds every study file of the folder, *.yaml, against the files that are there. Each names a model and data,
// and all together at least count files.
func Studies(tb testing.TB, count int) {
	tb.Helper()
	studies, err := filepath.Glob("*.yaml")
	if err != nil || len(studies) == 0 {
		tb.Fatalf("no studies: %v", err)
	}
	used := map[string]bool{}
	for _, name := range studies {
		all := Names(tb, os.DirFS("."), name)
		if len(all) < 2 {
			tb.Errorf("%s names %d files, want a model and data", name, len(all))
		}
		for _, f := range all {
			used[f] = true
		}
	}
	if len(used) < count {
		tb.Errorf("the studies name %d files in all, want at least %d", len(used), count)
	}
}
