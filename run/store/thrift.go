package store

import (
	"encoding/binary"
	"errors"
)

// errThrift says that bytes are not a structure in Thrift's compact protocol.
var errThrift = errors.New("not a Thrift structure")

// thriftLen is the length in bytes of the structure in Thrift's compact protocol at the beginning of b. It makes sure
// that no list or text in it claims to be longer than what is there: the library that reads such structures allocates
// by these lengths. The format is that of Apache Thrift, doc/specs/thrift-compact-protocol.md.
func thriftLen(b []byte) (int, error) {
	rest, ok := skipStruct(b, 0)
	if !ok {
		return 0, errThrift
	}
	return len(b) - len(rest), nil
}

// The types of the compact protocol that need care.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
	thriftDeep   = 32 // structures inside each other; a footer has seven
)

// skipStruct returns what follows a structure.
func skipStruct(b []byte, depth int) ([]byte, bool) {
	if depth > thriftDeep {
		return nil, false
	}
	for len(b) > 0 {
		head := b[0]
		b = b[1:]
		if head == 0 {
			return b, true
		}
		var ok bool
		if head>>4 == 0 { // the field's number follows
			if _, b, ok = varint(b); !ok {
				return nil, false
			}
		}
		if t := head & 15; t != thriftTrue && t != thriftFalse { // a truth in a field is in its type
			if b, ok = skipValue(b, t, depth); !ok {
				return nil, false
			}
		}
	}
	return nil, false
}

func skipValue(b []byte, t byte, depth int) ([]byte, bool) {
	skip := func(n uint64) ([]byte, bool) {
		if n > uint64(len(b)) {
			return nil, false
		}
		return b[n:], true
	}
	switch {
	case t <= thriftByte:
		return skip(1)
	case t >= thriftI16 && t <= thriftI64:
		_, rest, ok := varint(b)
		return rest, ok
	case t == thriftDouble:
		return skip(8)
	case t == thriftBinary:
		n, rest, ok := varint(b)
		if !ok {
			return nil, false
		}
		b = rest
		return skip(n)
	case t == thriftStruct:
		return skipStruct(b, depth+1)
	case t == thriftList || t == thriftSet:
		if len(b) == 0 {
			return nil, false
		}
		n, of, ok := uint64(b[0]>>4), b[0]&15, true
		b = b[1:]
		if n == 15 {
			n, b, ok = varint(b)
		}
		if !ok || n > uint64(len(b)) { // an element takes a byte at least
			return nil, false
		}
		for range n {
			if b, ok = skipValue(b, of, depth+1); !ok {
				return nil, false
			}
		}
		return b, true
	default:
		return nil, false // maps: Parquet has none
	}
}

func varint(b []byte) (uint64, []byte, bool) {
	x, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return x, b[n:], true
}
