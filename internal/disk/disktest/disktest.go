// Package disktest is a disk that fails on demand, to test what is left when writing fails.
package disktest

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"nero/internal/disk"
)

// Disk is a disk that fails on demand. It passes everything on to Under, after asking Fail.
type Disk struct {
	Under disk.FS
	// Fail gets the number of the operation, counted from 0, its kind ("create", "write", "sync", "close", "rename",
	// "syncdir") and the file; an error that it returns is what the operation returns. A write that fails leaves half
	// of its bytes. Nil never fails.
	Fail func(n int, op, name string) error

	mu  sync.Mutex
	ops []string
}

// Ops lists the operations so far: kind and base name of the file, with temporary names shown as "tmp".
func (d *Disk) Ops() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.ops...)
}

func (d *Disk) ask(op, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	base := filepath.Base(name)
	if strings.HasPrefix(base, ".") {
		base = "tmp"
	}
	n := len(d.ops)
	d.ops = append(d.ops, op+" "+base)
	if d.Fail == nil {
		return nil
	}
	return d.Fail(n, op, name)
}

// Create makes a file, or fails.
func (d *Disk) Create(name string) (disk.File, error) {
	if err := d.ask("create", name); err != nil {
		return nil, err
	}
	f, err := d.Under.Create(name)
	if err != nil {
		return nil, err
	}
	return &file{f, d, name}, nil
}

// Rename renames a file, or fails.
func (d *Disk) Rename(from, to string) error {
	if err := d.ask("rename", to); err != nil {
		return err
	}
	return d.Under.Rename(from, to)
}

// SyncDir syncs a folder, or fails.
func (d *Disk) SyncDir(name string) error {
	if err := d.ask("syncdir", name); err != nil {
		return err
	}
	return d.Under.SyncDir(name)
}

type file struct {
	disk.File
	disk *Disk
	name string
}

// Write writes, or writes half and fails.
func (f *file) Write(b []byte) (int, error) {
	if err := f.disk.ask("write", f.name); err != nil {
		n, err2 := f.File.Write(b[:len(b)/2])
		return n, errors.Join(err, err2)
	}
	return f.File.Write(b)
}

// Sync syncs, or fails.
func (f *file) Sync() error {
	if err := f.disk.ask("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// Close closes, and may fail all the same.
func (f *file) Close() error {
	return errors.Join(f.File.Close(), f.disk.ask("close", f.name))
}
