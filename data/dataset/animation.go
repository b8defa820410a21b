package dataset

import (
	"encoding/binary"
	"io"
)

// moves tells whether an image file of some format and size holds an animation. What is damaged is left to those who
// decode it.
func moves(format string, r io.ReaderAt, size int64) bool {
	var b [4]byte
	switch format {
	case "GIF":
		return pictures(r, 2) > 1
	case "PNG": // of APNG: num_frames of the chunk acTL, which stands before the first picture
		at, n := chunk(r, size, 8, "acTL", binary.BigEndian)
		_, err := r.ReadAt(b[:], at)
		return n >= 8 && err == nil && binary.BigEndian.Uint32(b[:]) > 1
	case "WebP":
		_, n := chunk(r, size, 12, "ANMF", binary.LittleEndian)
		return n > 0
	}
	return false
}

// pictures counts those of a GIF file, up to most: https://www.w3.org/Graphics/GIF/spec-gif89a.txt.
func pictures(r io.ReaderAt, most int) int {
	var b [10]byte
	if _, err := r.ReadAt(b[:3], 10); err != nil {
		return 0
	}
	at := 13 + colorTable(b[0])
	n := 0
	for range maxChunks {
		if _, err := r.ReadAt(b[:1], at); err != nil {
			return n
		}
		switch b[0] {
		case 0x21: // an extension: its label, then blocks
			at += 2
		case 0x2c: // a picture
			if _, err := r.ReadAt(b[:10], at); err != nil {
				return n
			}
			if n++; n == most {
				return n
			}
			at += 10 + colorTable(b[9]) + 1 // the length of the codes
		default:
			return n
		}
		for range maxChunks { // blocks with their lengths before them, up to an empty one
			if _, err := r.ReadAt(b[:1], at); err != nil {
				return n
			}
			at += 1 + int64(b[0])
			if b[0] == 0 {
				break
			}
		}
	}
	return n
}

// colorTable is the length in bytes of the table of colors that a GIF's flags announce.
func colorTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}
