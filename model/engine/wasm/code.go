package wasm

import (
	"encoding/json"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"nero/internal/disk"
	"nero/internal/seal"
)

// code is a folder in which the compiler keeps machine code. The compiler trusts the tables in its files, and code at a
// wrong place is run: so a record beside the folder says what the files have to hold, and what is not as recorded is
// never opened. It finds damage, not malice: who can write the folder can run programs in the user's name.
type code struct{ dir string }

// layout is the version of what lies in the folder, and part of its name. Programs without records used another one.
const layout = "2"

// piece is what a file holds.
type piece struct {
	Size int64 `json:"size"`
	// of Castagnoli
	CRC32 uint32 `json:"crc32c"`
}

// record is the file that says what is in the folder.
func (c code) record() string { return c.dir + ".json" }

// recorded are the files that were there once the compiler was done, by their path; none where that is not known.
func (c code) recorded() map[string]piece {
	text, err := disk.Read(c.record(), 1<<20)
	if err != nil {
		return nil
	}
	var r struct {
		Files map[string]piece `json:"files"`
	}
	plain, sealed, err := seal.Open(text)
	if err != nil || !sealed || json.Unmarshal(plain, &r) != nil {
		return nil
	}
	return r.Files
}

// found are the files that are there. Those that are known are not read again.
func (c code) found(known map[string]piece) (map[string]piece, error) {
	all := map[string]piece{}
	err := filepath.WalkDir(c.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(c.dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if p, ok := known[rel]; ok {
			all[rel] = p
			return nil
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // only read
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		n, err := io.Copy(sum, f)
		all[rel] = piece{n, sum.Sum32()}
		return err
	})
	return all, err
}

// sound reports whether the folder holds what was recorded, and nothing else.
func (c code) sound() bool {
	want := c.recorded()
	if len(want) == 0 {
		return false
	}
	have, err := c.found(nil)
	return err == nil && maps.Equal(want, have)
}

// keep records what the compiler has left; files that are known to be as recorded are not read again. Where that cannot
// be written, the next start compiles anew.
func (c code) keep(known map[string]piece) error {
	have, err := c.found(known)
	if err != nil || maps.Equal(known, have) {
		return err
	}
	b, err := json.MarshalIndent(map[string]any{"files": have}, "", "  ")
	if err != nil {
		return err
	}
	return disk.Write(disk.OS{}, c.record(), disk.Bytes(seal.Add(append(b, '\n'), "  ")))
}

// take makes the folder the caller's own until the file is closed, and removes what is not as recorded: what is
// damaged, and what processes that were killed have left. The error wraps [disk.ErrLocked] while another process
// compiles.
func (c code) take() (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(c.dir), 0o700); err != nil {
		return nil, err
	}
	lock, err := disk.Lock(c.dir + ".lock")
	if err != nil {
		return nil, err
	}
	want := c.recorded()
	have, err := c.found(nil)
	for name, p := range have {
		if err == nil && want[name] != p {
			err = os.Remove(filepath.Join(c.dir, filepath.FromSlash(name)))
		}
	}
	if err != nil {
		err = c.empty()
	}
	if err != nil {
		_ = lock.Close() // the first error is the one to report
		return nil, err
	}
	return lock, nil
}

// empty removes everything.
func (c code) empty() error {
	for _, name := range []string{c.record(), c.dir} {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}
