package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"golang.org/x/image/tiff"

	"nero/data/space"
)

// maxPages bounds the pages of a TIFF file.
const maxPages = 1 << 16

// tiffPages are the offsets of the directories of a TIFF file, one for each page.
func tiffPages(r io.ReaderAt) ([]uint32, error) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("the TIFF header cannot be read: %w", err)
	}
	order, err := tiffOrder(head[:])
	if err != nil {
		return nil, err
	}
	var pages []uint32
	seen := map[uint32]bool{}
	for at := order.Uint32(head[4:]); at != 0; {
		if seen[at] || len(pages) == maxPages {
			return nil, fmt.Errorf("the TIFF directories run in a circle or are more than %d: the file is damaged",
				maxPages)
		}
		seen[at] = true
		pages = append(pages, at)
		var b [4]byte
		if _, err := r.ReadAt(b[:2], int64(at)); err != nil {
			return nil, fmt.Errorf("page %d of the TIFF file lies outside of it: the file is cut short: %w", len(pages),
				err)
		}
		next := int64(at) + 2 + 12*int64(order.Uint16(b[:]))
		if _, err := r.ReadAt(b[:], next); err != nil {
			return nil, fmt.Errorf("page %d of the TIFF file lies outside of it: the file is cut short: %w", len(pages),
				err)
		}
		at = order.Uint32(b[:])
	}
	if len(pages) == 0 {
		return nil, errors.New("the TIFF file has no page")
	}
	return pages, nil
}

// wholePages counts the pages of a TIFF file that are pictures by themselves, and no smaller copy or mask of another
// one (tag NewSubfileType); 0 for other formats, and for what is damaged, which is left to those who decode it.
func wholePages(format string, r io.ReaderAt) int {
	if format != "TIFF" {
		return 0
	}
	pages, err := tiffPages(r)
	if err != nil {
		return 0
	}
	var head, entry [12]byte
	if _, err := r.ReadAt(head[:4], 0); err != nil {
		return 0
	}
	order, err := tiffOrder(head[:4])
	if err != nil {
		return 0
	}
	const newSubfileType = 254
	whole := 0
	for _, page := range pages {
		if _, err := r.ReadAt(head[:2], int64(page)); err != nil {
			return 0
		}
		kind := uint32(0)
		for i := range int64(order.Uint16(head[:])) {
			if _, err := r.ReadAt(entry[:], int64(page)+2+12*i); err != nil {
				return 0
			}
			if order.Uint16(entry[:]) == newSubfileType {
				kind = order.Uint32(entry[8:])
				break
			}
		}
		const smallerOrMask = 1 | 4
		if kind&smallerOrMask == 0 {
			whole++
		}
	}
	return whole
}

// tiffOrder is the byte order that the first bytes of a TIFF file tell.
func tiffOrder(b []byte) (binary.ByteOrder, error) {
	switch {
	case bytes.HasPrefix(b, []byte("II*\x00")):
		return binary.LittleEndian, nil
	case bytes.HasPrefix(b, []byte("MM\x00*")):
		return binary.BigEndian, nil
	}
	return nil, fmt.Errorf("starts with bytes % x: not a TIFF file", b[:min(len(b), 4)])
}

// repaged is a TIFF file whose first page is another one: its header names that page's directory.
type repaged struct {
	io.ReaderAt
	head [8]byte
}

// atPage is the file with the page at an offset in front.
func atPage(r io.ReaderAt, page uint32, size int64) (*io.SectionReader, error) {
	p := repaged{ReaderAt: r}
	if _, err := r.ReadAt(p.head[:], 0); err != nil {
		return nil, err
	}
	order, err := tiffOrder(p.head[:])
	if err != nil {
		return nil, err
	}
	order.PutUint32(p.head[4:], page)
	return io.NewSectionReader(p, 0, size), nil
}

// ReadAt reads the file, but for the header.
func (p repaged) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.ReaderAt.ReadAt(b, off)
	if off < int64(len(p.head)) && off >= 0 {
		copy(b[:n], p.head[off:])
	}
	return n, err
}

// peekPages reads the headers of all pages of an image file; formats other than TIFF have one.
func peekPages(fsys fs.FS, name string) ([]picture, error) {
	p, err := peekPicture(fsys, name)
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	at, ok := f.(io.ReaderAt)
	var b [4]byte
	if !ok {
		whole, err := readWhole(fsys, name)
		if err != nil {
			return nil, err
		}
		at = bytes.NewReader(whole)
	}
	if _, err := at.ReadAt(b[:], 0); err != nil || imageFormat(b[:]) != "TIFF" {
		return []picture{p}, nil
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	offsets, err := tiffPages(at)
	if err != nil {
		return nil, err
	}
	pics := make([]picture, len(offsets))
	for i, o := range offsets {
		r, err := atPage(at, o, st.Size())
		if err != nil {
			return nil, err
		}
		if pics[i], err = readPicture("TIFF", r); err != nil {
			return nil, fmt.Errorf("page %d: %w", i+1, err)
		}
	}
	return pics, nil
}

// loadPages decodes all pages of a TIFF file, n of them, which look like want.
func loadPages(fsys fs.FS, name string, want picture, n int) ([]*space.Image, error) {
	b, err := readWhole(fsys, name)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(b)
	offsets, err := tiffPages(r)
	if err != nil {
		return nil, err
	}
	if len(offsets) != n {
		return nil, fmt.Errorf("has changed to %d pages since the folder was opened, want %d", len(offsets), n)
	}
	pages := make([]*space.Image, n)
	for i, o := range offsets {
		pages[i], err = loadPage(r, o, want)
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", i+1, err)
		}
	}
	return slices.Clip(pages), nil
}

// loadPage decodes one page.
func loadPage(r *bytes.Reader, offset uint32, want picture) (*space.Image, error) {
	s, err := atPage(r, offset, r.Size())
	if err != nil {
		return nil, err
	}
	p, err := readPicture("TIFF", s)
	if err != nil {
		return nil, err
	}
	if !p.fits(want) {
		return nil, fmt.Errorf("has changed to %s since the folder was opened, want %s", p, want)
	}
	if s, err = atPage(r, offset, r.Size()); err != nil {
		return nil, err
	}
	m, err := tiff.Decode(s)
	if err != nil {
		return nil, fmt.Errorf("the TIFF data are damaged: %w; fetch the file again or remove it", err)
	}
	return fromImage(m, want)
}
