package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
)

// npyFormat is an array of images as numpy saves it.
var npyFormat = &Format{
	Name: "npy", Doc: "Images in one array of numpy.",
	Sniff:   Sniff{Head: startsNpy},
	Options: []Option{WithLayout, WithLabels},
	Open:    reads(opener.openFile),
}

// ReadArray reads the array of numbers of a file, npy or IDX, plain or gzip.
func ReadArray(fsys fs.FS, name string) (*space.Tensor, error) {
	if fsys == nil {
		fsys = disk{}
	}
	a, err := newOpener(fsys).open(name)
	if err != nil {
		return nil, err
	}
	b, err := a.piece(0, a.count)
	if err != nil {
		return nil, inFile(name, err)
	}
	t := &space.Tensor{Shape: slices.Clone(a.shape), Val: make([]float64, a.count)}
	widen(t.Val, b, 1, a.dtype)
	if i := slices.IndexFunc(t.Val, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); i >= 0 {
		return nil, inFile(name, fmt.Errorf("number %d is %v: %w", i, t.Val[i], ErrNotFinite))
	}
	return t, nil
}

// ArrayShape is the shape of the array of a file, which is not read further where it is long.
func ArrayShape(fsys fs.FS, name string) ([]int, error) {
	if fsys == nil {
		fsys = disk{}
	}
	a, err := newOpener(fsys).open(name)
	if err != nil {
		return nil, err
	}
	return slices.Clone(a.shape), nil
}

// The npy format is numpy's own (numpy.lib.format): magic, version, length of the header, a Python dictionary,
// elements. The header is parsed here and not by sbinet/npyio, which the tests compare with: npyio trusts lengths and
// shapes, slices out of range on malformed dictionaries, knows neither float16 nor version 3 and reads whole arrays
// only.

// maxNpyHeader bounds the dictionary; numpy itself refuses more than 10,000 characters when it reads.
const maxNpyHeader = 1 << 16

// readNpyHeader reads what follows the magic.
func readNpyHeader(r io.Reader) (header, error) {
	text, err := npyHeaderText(r)
	if err != nil {
		return header{}, err
	}
	h, err := parseNpy(text)
	if err != nil {
		return header{}, fmt.Errorf("npy header %s: %w", clip(strings.TrimSpace(text)), err)
	}
	return h, h.claim()
}

// npyHeaderText reads version, length and dictionary.
func npyHeaderText(r io.Reader) (string, error) {
	var b [4]byte
	if n, err := io.ReadFull(r, b[:2]); err != nil {
		return "", shortHead(6+n, err)
	}
	var length uint32
	switch major := b[0]; major {
	case 1:
		if n, err := io.ReadFull(r, b[:2]); err != nil {
			return "", shortHead(8+n, err)
		}
		length = uint32(binary.LittleEndian.Uint16(b[:]))
	case 2, 3:
		if n, err := io.ReadFull(r, b[:4]); err != nil {
			return "", shortHead(8+n, err)
		}
		length = binary.LittleEndian.Uint32(b[:])
	default:
		return "", fmt.Errorf("npy version %d is not known, want 1, 2 or 3", major)
	}
	if length > maxNpyHeader {
		return "", fmt.Errorf("npy header claims %d bytes, want at most %d", length, maxNpyHeader)
	}
	text := make([]byte, length)
	if n, err := io.ReadFull(r, text); err != nil {
		return "", shortHead(10+n, err)
	}
	return string(text), nil
}

// clip quotes at most 120 bytes of a text from a file.
func clip(s string) string {
	if len(s) > 120 {
		return strconv.Quote(s[:120]) + "…"
	}
	return strconv.Quote(s)
}

// parseNpy reads the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
func parseNpy(s string) (header, error) {
	p := scanner{s: s}
	var h header
	var seen []string
	if err := p.expect('{'); err != nil {
		return h, err
	}
	for !p.accept('}') {
		key, err := p.quoted()
		if err != nil {
			return h, err
		}
		if slices.Contains(seen, key) {
			return h, fmt.Errorf("%q appears twice", key)
		}
		seen = append(seen, key)
		if err := p.expect(':'); err != nil {
			return h, err
		}
		switch key {
		case "descr":
			if p.peek() == '[' {
				return h, errors.New("a structured array, want plain numbers: store one field")
			}
			d, err := p.quoted()
			if err != nil {
				return h, err
			}
			if h.dtype, h.big, err = npyType(d); err != nil {
				return h, err
			}
		case "fortran_order":
			switch w := p.word(); w {
			case "True":
				h.fortran = true
			case "False":
			default:
				return h, fmt.Errorf("fortran_order is %s, want True or False", clip(w))
			}
		case "shape":
			if h.shape, err = p.tuple(); err != nil {
				return h, err
			}
		default:
			return h, fmt.Errorf("unknown key %s", clip(key))
		}
		if !p.accept(',') {
			if err := p.expect('}'); err != nil {
				return h, err
			}
			break
		}
	}
	if p.peek() != 0 {
		return h, errors.New("text after the dictionary")
	}
	for _, k := range []string{"descr", "fortran_order", "shape"} {
		if !slices.Contains(seen, k) {
			return h, fmt.Errorf("no %q", k)
		}
	}
	return h, nil
}

// npyType reads a numpy type string: byte order, kind, size.
func npyType(s string) (d tensor.DType, big bool, err error) {
	kind := strings.TrimLeft(s, "<>|=")
	if len(s)-len(kind) > 1 {
		return tensor.Undefined, false, fmt.Errorf("element type %s is not known", clip(s))
	}
	big = strings.HasPrefix(s, ">")
	switch kind {
	case "b1":
		return tensor.Bool, big, nil
	case "u1":
		return tensor.Uint8, big, nil
	case "i1":
		return tensor.Int8, big, nil
	case "u2":
		return tensor.Uint16, big, nil
	case "i2":
		return tensor.Int16, big, nil
	case "u4":
		return tensor.Uint32, big, nil
	case "i4":
		return tensor.Int32, big, nil
	case "u8":
		return tensor.Uint64, big, nil
	case "i8":
		return tensor.Int64, big, nil
	case "f2":
		return tensor.Float16, big, nil
	case "f4":
		return tensor.Float32, big, nil
	case "f8":
		return tensor.Float64, big, nil
	}
	return tensor.Undefined, false,
		fmt.Errorf("element type %s cannot be read, want bool, an integer of 8 to 64 bits or a float of 16 to 64 "+
			"bits: convert with numpy's astype", clip(s))
}

// scanner reads the little of Python that npy headers use.
type scanner struct {
	s string
	i int
}

func (p *scanner) peek() byte {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n\x00", p.s[p.i]) >= 0 {
		p.i++
	}
	if p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

func (p *scanner) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

func (p *scanner) expect(c byte) error {
	if !p.accept(c) {
		return fmt.Errorf("want %q at byte %d", c, p.i)
	}
	return nil
}

// quoted reads a string without escapes.
func (p *scanner) quoted() (string, error) {
	q := p.peek()
	if q != '\'' && q != '"' {
		return "", fmt.Errorf("want a quoted word at byte %d", p.i)
	}
	end := strings.IndexByte(p.s[p.i+1:], q)
	if end < 0 {
		return "", fmt.Errorf("no closing quote after byte %d", p.i)
	}
	w := p.s[p.i+1 : p.i+1+end]
	p.i += end + 2
	return w, nil
}

// word reads letters and digits.
func (p *scanner) word() string {
	p.peek()
	from := p.i
	for p.i < len(p.s) {
		c := p.s[p.i] | 0x20
		if (c < 'a' || c > 'z') && (p.s[p.i] < '0' || p.s[p.i] > '9') {
			break
		}
		p.i++
	}
	return p.s[from:p.i]
}

// tuple reads (2, 3), (2,) or ().
func (p *scanner) tuple() ([]int, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	shape := []int{}
	for !p.accept(')') {
		w := p.word()
		n, err := strconv.ParseInt(strings.TrimSuffix(w, "L"), 10, strconv.IntSize) // Python 2 wrote 3L
		if err != nil {
			return nil, fmt.Errorf("axis %d of the shape is %s, want a number", len(shape), clip(w))
		}
		if shape = append(shape, int(n)); len(shape) > maxRank {
			return nil, fmt.Errorf("more than %d axes", maxRank)
		}
		if !p.accept(',') {
			if err := p.expect(')'); err != nil {
				return nil, err
			}
			break
		}
	}
	return shape, nil
}
