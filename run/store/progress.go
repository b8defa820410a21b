package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"nero/internal/disk"
)

// Progress is how far a program is that writes a run. It is for people who look on, and no part of the run: it stands
// in the locked file, and goes away with it.
type Progress struct {
	// the command, such as "nero demo"
	By string `json:"by"`
	// Since is when the program began to evaluate, and At when it wrote this, in milliseconds since 1970.
	Since int64 `json:"since"`
	At    int64 `json:"at"`
	// Done of Total evaluations, of those that were left when it began.
	Done  int `json:"done"`
	Total int `json:"total"`
}

// progressSize is how many bytes progress takes in the locked file, always the same, so that it is written over in one
// piece. It begins behind the first byte: that one is locked, and some systems let nobody read what is.
const progressSize = 512

// Tell writes how far this program is, for [Writer]. It does nothing where several programs write the run together.
func (r *Run) Tell(p Progress) error {
	l, ok := r.lock.(*folderLock)
	if !ok || l.shared {
		return nil
	}
	b, err := json.Marshal(p)
	if err != nil || len(b) >= progressSize {
		return err // what is too long is not told
	}
	b = append(b, bytes.Repeat([]byte{' '}, progressSize-len(b)-1)...)
	_, err = l.f.WriteAt(append(append([]byte{'\n'}, b...), '\n'), 0)
	return err
}

// Writer says whether a program writes the run in a folder now, and how far it is as far as it tells. Whether it lives
// is known by its lock, which the system takes from a program that ends.
func Writer(dir string) (p Progress, writes bool) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) {
		f, err = os.Open(filepath.Join(dir, lockName))
	}
	if err != nil {
		return p, false
	}
	defer func() { _ = f.Close() }() // which gives back a lock that was free
	if !errors.Is(disk.TryLock(f, false), disk.ErrLocked) {
		return p, false
	}
	b := make([]byte, progressSize)
	n, err := f.ReadAt(b, 1)
	if n < progressSize || err != nil {
		return p, true // it has not said anything yet
	}
	if json.Unmarshal(b, &p) != nil || p.Done < 0 || p.Total < p.Done || p.At < p.Since {
		return Progress{}, true
	}
	return p, true
}
