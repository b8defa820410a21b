// Package quoted tells whether texts that JSON quotes are there as they were written. Decoders put U+FFFD in the place
// of bytes that are no UTF-8 and of halves of surrogate pairs, so that different answers would look alike.
package quoted

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Whole tells whether all texts in valid JSON are in UTF-8, and no escape stands for half of a surrogate pair.
func Whole(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for i := bytes.IndexByte(b, '\\'); i >= 0 && i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		r, ok := escaped(b[i:])
		switch {
		case !ok:
			i++ // what is escaped is one letter
			continue
		case utf16.IsSurrogate(r):
			second, ok := escaped(b[min(i+size, len(b)):])
			if !ok || utf16.DecodeRune(r, second) == utf8.RuneError {
				return false
			}
			i += size
		}
		i += size - 1
	}
	return true
}

// size is how long an escape by a number is: \u0041.
const size = 6

// escaped is what an escape at the beginning stands for by its number; not ok for what is none.
func escaped(b []byte) (rune, bool) {
	if len(b) < size || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:size]), 16, 16)
	return rune(n), err == nil
}
