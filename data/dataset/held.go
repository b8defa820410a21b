package dataset

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// ChangedError says that a file does not hold what it held when its digest was taken.
type ChangedError struct {
	Path string
	// SHA-256 in hexadecimal, as it was and as it is
	Want, Got string
}

// Error names the file and both digests.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was changed: its SHA-256 is %.12s, and was %.12s", e.Path, e.Got, e.Want)
}

// Held is the file system of the machine, which holds files against digests when they are read: opening a data set of
// a million photos then costs no more than its names and heads. The zero Held holds no file yet.
type Held struct {
	disk
	mu sync.Mutex
	// names that were opened before [Held.Hold]
	seen map[string]bool
	// nil before [Held.Hold]
	files map[string]*heldFile
}

// heldFile is a file with the digest that it should have.
type heldFile struct {
	want string
	once sync.Once
	err  error
}

// Open opens a file. One that is held has its digest taken first, once.
func (h *Held) Open(name string) (fs.File, error) {
	h.mu.Lock()
	f := h.files[name]
	if h.files == nil {
		if h.seen == nil {
			h.seen = map[string]bool{}
		}
		h.seen[name] = true
	}
	h.mu.Unlock()
	if f != nil {
		f.once.Do(func() {
			got, err := Digest(name)
			if f.err = err; err == nil && got != f.want {
				f.err = &ChangedError{Path: name, Want: f.want, Got: got}
			}
		})
		if f.err != nil {
			return nil, f.err
		}
	}
	return os.Open(name)
}

// Hold holds the files of a data set that was opened with h against their digests from now on, whenever one is opened,
// and returns which of them are: photos, of which opening has read no more than the heads, and what it has not touched.
// The others have been read, or are open, and somebody has to take their digests at once.
func (h *Held) Hold(names, digests []string) []bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files = make(map[string]*heldFile, len(names))
	held := make([]bool, len(names))
	for i, name := range names {
		if held[i] = IsImage(name) || !h.seen[name]; held[i] {
			h.files[name] = &heldFile{want: digests[i]}
		}
	}
	h.seen = nil
	return held
}

var _ fs.StatFS = (*Held)(nil)
