package library

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// markSize is how much of either end of a file a mark takes in: the headers, the number that linkers give a build, and
// the tables at the end.
const markSize = 64 << 10

// Mark tells a library from another one under its path: by its size, the time of its last change, and the SHA-256 of
// both its ends, which takes no time however large it is. Packages of npm give every file the same time.
func Mark(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, at := range []int64{0, max(st.Size()-markSize, markSize)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, at, markSize)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d bytes, changed %d, %s", st.Size(), st.ModTime().UnixNano(),
		hex.EncodeToString(h.Sum(nil)[:16])), nil
}

// Beside tells the parts of a library that lie beside it from others, as [Mark] does: all shared libraries whose names
// hold one of the words. It is empty where there are none.
func Beside(path string, words []string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var marks []string
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) }) || !shared(name) {
			continue
		}
		if m, err := Mark(filepath.Join(filepath.Dir(path), e.Name())); err == nil {
			marks = append(marks, e.Name()+": "+m)
		}
	}
	if len(marks) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(marks, "; ")))
	return fmt.Sprintf("%d files, %s", len(marks), hex.EncodeToString(sum[:16]))
}

// shared says that a file has the name of a shared library, on any system.
func shared(name string) bool {
	return strings.HasSuffix(name, ".dll") || strings.HasSuffix(name, ".dylib") || strings.HasSuffix(name, ".so") ||
		strings.Contains(name, ".so.")
}
