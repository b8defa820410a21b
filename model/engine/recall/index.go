package recall

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
)

// An index is these bytes, an entry for each record in the order of the file, the SHA-256 of all that, the number of
// entries, and the bytes again, by which it is known at the end of a file. What reads records one by one ends at the
// first of these bytes. An entry is the key of a record and the length of its payload.
const (
	indexMark   = "nri1"
	entryLength = len(key{}) + 4
	tailLength  = sha256.Size + 4 + len(indexMark)
)

// entry adds one to others.
func entry(b []byte, k key, length int) []byte {
	return binary.LittleEndian.AppendUint32(append(b, k[:]...), uint32(length))
}

// index is that of entries.
func index(entries []byte) []byte {
	b := append([]byte(indexMark), entries...)
	sum := sha256.Sum256(b)
	b = append(b, sum[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(entries)/entryLength))
	return append(b, indexMark...)
}

// indexed hands over what the index at the end of a file says until nobody wants more. It reports whether there is one
// that is whole and fits the file.
func indexed(f io.ReaderAt, size int64, take func(k key, at int64, length int) bool) bool {
	if size < int64(len(indexMark)+tailLength) {
		return false
	}
	tail := make([]byte, tailLength)
	_, err := f.ReadAt(tail, size-int64(tailLength))
	if err != nil || string(tail[tailLength-len(indexMark):]) != indexMark {
		return false
	}
	n := int64(binary.LittleEndian.Uint32(tail[sha256.Size:]))
	start := size - int64(tailLength) - n*int64(entryLength) - int64(len(indexMark))
	if start < 0 || n > mostRecords {
		return false
	}
	b := make([]byte, size-int64(tailLength)-start)
	if _, err := f.ReadAt(b, start); err != nil || string(b[:len(indexMark)]) != indexMark {
		return false
	}
	if sum := sha256.Sum256(b); !bytes.Equal(sum[:], tail[:sha256.Size]) {
		return false
	}
	at := int64(0)
	entries := b[len(indexMark):]
	for i := 0; i < len(entries); i += entryLength {
		at += recordLength(entries[i+len(key{}):])
	}
	if at != start {
		return false
	}
	at = 0
	for ; len(entries) > 0; entries = entries[entryLength:] {
		length := entries[len(key{}):]
		if !take(key(entries), at, int(binary.LittleEndian.Uint32(length))) {
			break
		}
		at += recordLength(length)
	}
	return true
}

// recordLength is that of a record, by that of its payload.
func recordLength(length []byte) int64 {
	return int64(headLength) + int64(binary.LittleEndian.Uint32(length)) + sha256.Size
}

// headRead is how many bytes are read for the head of a record, and for those of short ones behind it.
const headRead = 512

// scan hands over what the heads of records say, as far as these are whole, until nobody wants more. Payloads are
// passed over and not read, but for those that lie where heads are.
func scan(f io.ReaderAt, size int64, take func(k key, at int64, length int) bool) {
	in := bufio.NewReaderSize(nil, headRead)
	head := make([]byte, headLength)
	for at, ahead := int64(0), int64(-1); ; {
		if ahead < 0 || ahead > int64(in.Buffered()) {
			in.Reset(io.NewSectionReader(f, at, size-at))
		} else if _, err := in.Discard(int(ahead)); err != nil {
			return
		}
		if _, err := io.ReadFull(in, head); err != nil || string(head[:len(mark)]) != mark {
			return
		}
		length := head[headLength-4:]
		end := at + recordLength(length)
		if end > size || !take(key(head[len(mark):]), at, int(binary.LittleEndian.Uint32(length))) {
			return
		}
		at, ahead = end, end-at-int64(headLength)
	}
}
