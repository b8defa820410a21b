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

// Head is what the head of a picture file says. The zero Head says nothing.
type Head struct {
	Channels, Height, Width int32
	// bits of each number
	Depth int32
	// a palette of greys, which serves as one channel or as three
	Either bool
	// how it lies in its file: 1 to 8 as EXIF has it, 0 where it does not say
	Turn int32
}

// Held is the file system of the machine, which holds files against digests when they are read: opening a data set of
// a million photos then costs no more than its names. It notes what the heads of photos say, and does not read those
// that it knows. The zero Held holds no file and knows no head yet.
type Held struct {
	disk
	mu sync.Mutex
	// names that were opened before [Held.Hold]
	seen map[string]bool
	// by name, of the heads below
	known map[string]int
	heads []Head
	noted map[string]Head
	// by name, of the digests below; nil before [Held.Hold]
	files map[string]int
	want  []string
	// of the files that were opened
	checks map[string]*heldFile
}

// heldFile is the check of a file.
type heldFile struct {
	once sync.Once
	err  error
}

// Know lets the heads of files be believed: those of the files that a digest is known of, which is taken when one is
// read.
func (h *Held) Know(names []string, heads []Head) {
	h.known, h.heads = make(map[string]int, len(names)), heads
	for i, name := range names {
		if heads[i] != (Head{}) {
			h.known[name] = i
		}
	}
}

// Heads are what was found in the heads of files, nil where no head was read.
func (h *Held) Heads(names []string) []Head {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.noted) == 0 {
		return nil
	}
	out := make([]Head, len(names))
	for i, name := range names {
		out[i] = h.noted[name]
	}
	return out
}

// head is that of a photo, if it is known.
func (h *Held) head(name string) (picture, orientation, bool) {
	i, ok := h.known[name]
	if !ok {
		return picture{}, 0, false
	}
	k := h.heads[i]
	return picture{int(k.Channels), int(k.Height), int(k.Width), int(k.Depth), k.Either}, orientation(k.Turn), true
}

// note keeps what the head of a photo says.
func (h *Held) note(name string, p picture, o orientation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.noted == nil {
		h.noted = map[string]Head{}
	}
	h.noted[name] = Head{int32(p.c), int32(p.h), int32(p.w), int32(p.depth), p.either, int32(o)}
}

// Open opens a file. One that is held has its digest taken first, once.
func (h *Held) Open(name string) (fs.File, error) {
	if err := h.check(name); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// check takes the digest of a file that is held, the first time that it is opened.
func (h *Held) check(name string) error {
	h.mu.Lock()
	if h.files == nil {
		if h.seen == nil {
			h.seen = map[string]bool{}
		}
		h.seen[name] = true
		h.mu.Unlock()
		return nil
	}
	i, held := h.files[name]
	if !held {
		h.mu.Unlock()
		return nil
	}
	f := h.checks[name]
	if f == nil {
		f = new(heldFile)
		h.checks[name] = f
	}
	h.mu.Unlock()
	f.once.Do(func() {
		got, err := Digest(name)
		if f.err = err; err == nil && got != h.want[i] {
			f.err = &ChangedError{Path: name, Want: h.want[i], Got: got}
		}
	})
	return f.err
}

// Hold holds the files of a data set that was opened with h against their digests from now on, whenever one is opened,
// and returns which of them are: photos, of which opening has read no more than the heads, and what it has not touched.
// The others have been read, or are open, and somebody has to take their digests at once.
func (h *Held) Hold(names, digests []string) []bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files, h.want, h.checks = make(map[string]int, len(names)), digests, map[string]*heldFile{}
	held := make([]bool, len(names))
	for i, name := range names {
		if held[i] = !h.seen[name] || IsImage(name); held[i] {
			h.files[name] = i
		}
	}
	h.seen = nil
	return held
}

// local tells whether files are those of the machine, whose paths have its separators.
func local(fsys fs.FS) bool {
	switch fsys.(type) {
	case disk, *Held:
		return true
	}
	return false
}

var _ fs.StatFS = (*Held)(nil)
