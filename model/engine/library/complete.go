package library

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io"
)

// ErrIncomplete says that a library is cut off or damaged. Loading such a file may end the whole program: the loader
// maps what its tables name without looking whether the file reaches that far.
var ErrIncomplete = errors.New("the library is incomplete or damaged, fetch it again")

// complete compares the tables of a library for os with the size of the file.
func complete(r io.ReaderAt, size int64, os string) error {
	var ends []uint64
	var err error
	switch os {
	case "windows":
		ends, err = peEnds(r)
	case "darwin":
		ends, err = machoEnds(r)
	default:
		ends, err = elfEnds(r)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	for _, end := range ends {
		if end > uint64(size) {
			return fmt.Errorf("%w: it has %d bytes and names the byte %d", ErrIncomplete, size, end)
		}
	}
	return nil
}

// end is offset + length; a sum that overflows is beyond every file.
func end(offset, length uint64) uint64 {
	if sum := offset + length; sum >= offset {
		return sum
	}
	return ^uint64(0)
}

func elfEnds(r io.ReaderAt) (ends []uint64, err error) {
	f, err := elf.NewFile(r) // reads the section table, which lies at the end
	if err != nil {
		return nil, err
	}
	for _, p := range f.Progs {
		ends = append(ends, end(p.Off, p.Filesz))
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL {
			ends = append(ends, end(s.Offset, s.FileSize))
		}
	}
	if len(f.Progs) == 0 {
		return nil, errors.New("it has no segments")
	}
	return ends, nil
}

func peEnds(r io.ReaderAt) (ends []uint64, err error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Sections {
		ends = append(ends, end(uint64(s.Offset), uint64(s.Size)))
	}
	if len(f.Sections) == 0 {
		return nil, errors.New("it has no sections")
	}
	return ends, nil
}

func machoEnds(r io.ReaderAt) (ends []uint64, err error) {
	fat, err := macho.NewFatFile(r)
	switch {
	case err == nil:
		for _, a := range fat.Arches {
			ends = append(append(ends, end(uint64(a.Offset), uint64(a.Size))), segments(a.File)...)
		}
		return ends, nil
	case !errors.Is(err, macho.ErrNotFat):
		return nil, err
	}
	f, err := macho.NewFile(r)
	if err != nil {
		return nil, err
	}
	if ends = segments(f); len(ends) == 0 {
		return nil, errors.New("it has no segments")
	}
	return ends, nil
}

func segments(f *macho.File) (ends []uint64) {
	for _, l := range f.Loads {
		if s, ok := l.(*macho.Segment); ok {
			ends = append(ends, end(s.Offset, s.Filesz))
		}
	}
	return ends
}
