package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"nero/data/space"
)

// Stored is the [Spec].Orientation that leaves photos as they lie in their files.
const Stored = "stored"

// orientation is how a photo lies in its file, by the numbers of tag 274 of TIFF 6.0 and EXIF: where the first row and
// the first column of the file belong. 1 is as it is shown; 0 stands for a file that does not say.
type orientation uint8

// upright tells whether the photo is shown as it is stored.
func (o orientation) upright() bool { return o <= 1 }

// swaps tells whether rows become columns.
func (o orientation) swaps() bool { return o >= 5 }

// shown is the picture that is seen of the one that is stored.
func (o orientation) shown(p picture) picture {
	if o.swaps() {
		p.h, p.w = p.w, p.h
	}
	return p
}

// from is the stored row and column, of h rows and w columns, of the shown ones.
func (o orientation) from(r, c, h, w int) (int, int) {
	switch o {
	case 2: // mirrored left to right
		return r, w - 1 - c
	case 3: // turned by half
		return h - 1 - r, w - 1 - c
	case 4: // mirrored top to bottom
		return h - 1 - r, c
	case 5: // rows are columns
		return c, r
	case 6: // to be turned clockwise by a quarter
		return h - 1 - c, r
	case 7: // rows are columns, turned by half
		return h - 1 - c, w - 1 - r
	case 8: // to be turned counter-clockwise by a quarter
		return c, w - 1 - r
	}
	return r, c
}

// image is the shown picture of a stored one.
func (o orientation) image(m *space.Image) *space.Image {
	if o.upright() {
		return m
	}
	h, w := m.H, m.W
	if o.swaps() {
		h, w = w, h
	}
	out := space.NewImage(m.C, h, w)
	for k := range m.C {
		src, dst := m.Plane(k), out.Plane(k)
		for r := range h {
			for c := range w {
				i, j := o.from(r, c, m.H, m.W)
				dst[r*w+c] = src[i*m.W+j]
			}
		}
	}
	return out
}

// box takes a box of the stored picture of h x w pixels to the shown one.
func (o orientation) box(b space.Box, h, w int) space.Box {
	H, W := float64(h), float64(w)
	if o == 2 || o == 3 || o == 7 || o == 8 {
		b.X1, b.X2 = W-b.X2, W-b.X1
	}
	if o == 3 || o == 4 || o == 6 || o == 7 {
		b.Y1, b.Y2 = H-b.Y2, H-b.Y1
	}
	if o.swaps() {
		b.X1, b.Y1, b.X2, b.Y2 = b.Y1, b.X1, b.Y2, b.X2
	}
	return b
}

// Limits on what is looked through for the orientation.
const (
	maxChunks  = 1 << 16 // parts of one file
	maxEXIFTag = 1 << 12 // entries of a directory
)

// noted is the orientation that an image file of some format and size notes, 0 if it notes none. An error says what is
// wrong with the note.
//
// It is looked for where cameras and editors write it: in EXIF of JPEG (the segment APP1), PNG (the chunk eXIf) and
// WebP (the chunk EXIF), and in the first directory of TIFF.
func noted(format string, r io.ReaderAt, size int64) (orientation, error) {
	var at, n int64
	switch format {
	case "JPEG":
		at, n = exifOfJPEG(r)
	case "PNG":
		at, n = chunk(r, size, 8, "eXIf", binary.BigEndian)
	case "WebP":
		at, n = chunk(r, size, 12, "EXIF", binary.LittleEndian)
	case "TIFF":
		return tiffOrientation(r)
	}
	if n <= 0 {
		return 0, nil
	}
	s := io.NewSectionReader(r, at, n)
	var head [6]byte
	if _, err := s.ReadAt(head[:], 0); err == nil && string(head[:]) == "Exif\x00\x00" {
		s = io.NewSectionReader(r, at+6, n-6)
	}
	o, err := tiffOrientation(s)
	if err != nil {
		return 0, fmt.Errorf("its EXIF cannot be read: %w", err)
	}
	return o, nil
}

// exifOfJPEG is where the EXIF of a JPEG file lies, and its length, 0 for none.
func exifOfJPEG(r io.ReaderAt) (at, n int64) {
	at = 2
	for range maxChunks {
		var b [10]byte
		got, err := r.ReadAt(b[:], at)
		if got < 4 || err != nil && !errors.Is(err, io.EOF) || b[0] != 0xff {
			return 0, 0
		}
		switch m := b[1]; {
		case m == 0xff: // fills
			at++
			continue
		case m == 0x01, m >= 0xd0 && m <= 0xd8: // has no length
			at += 2
			continue
		case m == 0xda, m == 0xd9: // the picture begins, or all ends
			return 0, 0
		case m == 0xe1 && got == len(b) && string(b[4:]) == "Exif\x00\x00":
			return at + 4, int64(binary.BigEndian.Uint16(b[2:])) - 2
		}
		at += 2 + int64(max(binary.BigEndian.Uint16(b[2:]), 2))
	}
	return 0, 0
}

// chunk is where the contents of a chunk of a PNG or WebP file lie, and their length, 0 if the file has none. PNG has
// the length before the name and a checksum behind, WebP the name before the length and an even length.
func chunk(r io.ReaderAt, size, at int64, name string, order binary.ByteOrder) (int64, int64) {
	riff := order == binary.LittleEndian
	for range maxChunks {
		var b [8]byte
		if _, err := r.ReadAt(b[:], at); err != nil {
			return 0, 0
		}
		is, n := string(b[4:]), int64(order.Uint32(b[:]))
		end := at + 8 + n + 4
		if riff {
			is, n = string(b[:4]), int64(order.Uint32(b[4:]))
			end = at + 8 + n + n%2
		}
		if is == name {
			return at + 8, min(n, size-at-8)
		}
		at = end
	}
	return 0, 0
}

// tiffOrientation reads tag 274 of the first directory of a TIFF file, which EXIF is too.
func tiffOrientation(r io.ReaderAt) (orientation, error) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return 0, fmt.Errorf("it is cut short: %w", noEOF(err))
	}
	order, err := tiffOrder(head[:])
	if err != nil {
		return 0, err
	}
	at := int64(order.Uint32(head[4:]))
	if _, err := r.ReadAt(head[:2], at); err != nil {
		return 0, fmt.Errorf("its directory lies outside of it: %w", noEOF(err))
	}
	count := int(order.Uint16(head[:2]))
	if count > maxEXIFTag {
		return 0, fmt.Errorf("its directory has %d entries, more than %d", count, maxEXIFTag)
	}
	b := make([]byte, 12*count)
	if _, err := r.ReadAt(b, at+2); err != nil {
		return 0, fmt.Errorf("its directory is cut short: %w", noEOF(err))
	}
	for e := b; len(e) > 0; e = e[12:] {
		if order.Uint16(e) != 0x0112 {
			continue
		}
		var v uint32
		switch kind := order.Uint16(e[2:]); kind {
		case 1:
			v = uint32(e[8])
		case 3:
			v = uint32(order.Uint16(e[8:]))
		case 4:
			v = order.Uint32(e[8:])
		default:
			return 0, fmt.Errorf("its orientation is of type %d, want 3, a whole number", kind)
		}
		if v < 1 || v > 8 {
			return 0, fmt.Errorf("its orientation is %d, want 1 to 8", v)
		}
		return orientation(v), nil
	}
	return 0, nil
}

// noEOF says in words what an end of file is inside of one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("there are fewer bytes than it says")
	}
	return err
}

// peekPhoto reads what an image file says beside its size: how it lies, with what is wrong with that, and whether there
// is more than one picture in it, which is an error.
func peekPhoto(fsys fs.FS, name string) (o orientation, wrong, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	at, ok := f.(io.ReaderAt)
	st, err := f.Stat()
	if err != nil {
		return 0, nil, err
	}
	size := st.Size()
	if !ok {
		b, err := readWhole(fsys, name)
		if err != nil {
			return 0, nil, err
		}
		at, size = bytes.NewReader(b), int64(len(b))
	}
	head := make([]byte, min(size, 12))
	if _, err := at.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	format := imageFormat(head)
	what := ""
	if moves(format, at, size) {
		what = "an animated " + format
	} else if n := wholePages(format, at); n > 1 {
		what = fmt.Sprintf("a TIFF file of %d pages", n)
	}
	if what != "" {
		return 0, nil, fmt.Errorf("is %s, and one picture is wanted: keep its first one, which is what "+
			"Pillow and torchvision read (magick 'FILE[0]' FILE.png), or take the file out of the folder", what)
	}
	o, wrong = noted(format, at, size)
	return o, wrong, nil
}

// orient finds how the photos lie in their files and gives each the size that it is shown at.
func (d *folder) orient(says []orientation, wrong []error) {
	d.turns = says
	turned, first := 0, 0
	for i, o := range says {
		if o.upright() {
			continue
		}
		if turned == 0 {
			first = i
		}
		turned++
	}
	if turned > 0 {
		what := fmt.Sprintf("%d of %d photos are turned as their EXIF says, first %q (orientation %d); "+
			"data.orientation: stored (--orientation stored) reads them as they lie, as training programs without "+
			"exif_transpose do",
			turned, len(says), d.id(d.paths[first]), says[first])
		if d.stored {
			what = fmt.Sprintf("%d of %d photos are not turned as their EXIF says, first %q (orientation %d), for "+
				"data.orientation is stored", turned, len(says), d.id(d.paths[first]), says[first])
		}
		d.notes = append(d.notes, d.root+": "+what)
	}
	broken := 0
	for i, err := range wrong {
		if err == nil {
			continue
		}
		if broken == 0 {
			first = i
		}
		broken++
	}
	if broken > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s: how %d photos lie cannot be told, they are read as they are "+
			"stored, first %q: %v", d.root, broken, d.id(d.paths[first]), wrong[first]))
	}
	if d.stored {
		d.turns = make([]orientation, len(says))
		return
	}
	for i, o := range says {
		d.pics[i] = o.shown(d.pics[i])
	}
}
