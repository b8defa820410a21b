package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"nero/data/space"
	"nero/data/tensor"
)

// floMagic is the number that a .flo file begins with; its bytes spell PIEH.
const floMagic float32 = 202021.25

// floUnknown is the magnitude above which Middlebury's code takes a component for unknown.
const floUnknown = 1e9

// floHead is the length of the header.
const floHead = 12

// ReadFlo reads a field in Middlebury's .flo format: the float32 202021.25, width and height as int32, then u and v as
// float32 for each pixel, row by row, all little-endian; u points along the columns, v down. The size is held against
// size, the number of bytes that r has, before anything is allocated. A component that is NaN, infinite or, by the
// format's convention, unknown (above 1e9 in magnitude) is refused with its place: the error wraps [ErrNotFinite].
func ReadFlo(r io.Reader, size int64) (*space.Field, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	h, w, err := readFloHead(br, size)
	if err != nil {
		return nil, err
	}
	f := space.NewField(h, w)
	row := make([]byte, 8*w)
	for y := range h {
		if _, err := io.ReadFull(br, row); err != nil {
			return nil, fmt.Errorf("row %d of %d cannot be read: %w", y, h, err)
		}
		for x := range w {
			u := float64(math.Float32frombits(binary.LittleEndian.Uint32(row[8*x:])))
			v := float64(math.Float32frombits(binary.LittleEndian.Uint32(row[8*x+4:])))
			if err := checkVector(u, v, y, x); err != nil {
				return nil, err
			}
			f.Val[y*w+x], f.Val[(h+y)*w+x] = u, v
		}
	}
	return f, nil
}

// readFloHead reads the header of a file of size bytes.
func readFloHead(r io.Reader, size int64) (h, w int, err error) {
	var b [floHead]byte
	if n, err := io.ReadFull(r, b[:]); err != nil {
		return 0, 0, fmt.Errorf("ends after %d bytes, in the header: fetch it again: %w", n, err)
	}
	le := binary.LittleEndian
	if m := le.Uint32(b[:]); m != math.Float32bits(floMagic) {
		if math.Float32frombits(binary.BigEndian.Uint32(b[:])) == floMagic {
			return 0, 0, errors.New("is big-endian, want little-endian: write it anew")
		}
		return 0, 0, fmt.Errorf(
			"starts with bytes % x, want 50 49 45 48 (the number 202021.25): not a .flo file, or damaged; fetch or "+
				"write it again", b[:4])
	}
	w, h = int(int32(le.Uint32(b[4:]))), int(int32(le.Uint32(b[8:])))
	if w < 1 || h < 1 {
		return 0, 0, fmt.Errorf("the header announces %d x %d vectors: it is damaged; fetch or write it again", w, h)
	}
	if err := checkSize(2, h, w); err != nil {
		return 0, 0, fmt.Errorf("the header announces %d x %d vectors: %w", w, h, err)
	}
	if want := floHead + 8*int64(h)*int64(w); want != size {
		what := "it is cut short or its header is wrong"
		if size > want {
			what = "its header is wrong, or it has foreign bytes at its end"
		}
		return 0, 0, fmt.Errorf(
			"the header announces %d x %d vectors, %d bytes, but the file has %d: %s; fetch or write it again", w, h,
			want, size, what)
	}
	return h, w, nil
}

// checkVector refuses what is no displacement.
func checkVector(u, v float64, row, col int) error {
	for _, c := range [...]float64{u, v} {
		if math.IsNaN(c) || math.IsInf(c, 0) || math.Abs(c) > floUnknown {
			return fmt.Errorf("the vector at row %d, column %d is (%g, %g), which is no displacement (above 1e9 "+
				"means unknown): models are compared at every pixel; fill it in, crop the pair, or say targets: "+
				"none: %w",
				row, col, u, v, ErrNotFinite)
		}
	}
	return nil
}

// WriteFlo writes a field as [ReadFlo] reads it. Components are rounded to float32.
func WriteFlo(w io.Writer, f *space.Field) error {
	if _, err := tensor.CheckedCount([]int{2, f.H, f.W}, maxValues); err != nil || f.H < 1 || f.W < 1 ||
		len(f.Val) != 2*f.H*f.W {
		return fmt.Errorf("a field of %d x %d vectors with %d numbers cannot be written as .flo", f.W, f.H, len(f.Val))
	}
	var b bytes.Buffer
	le := binary.LittleEndian
	head := le.AppendUint32(nil, math.Float32bits(floMagic))
	head = le.AppendUint32(head, uint32(f.W))
	b.Write(le.AppendUint32(head, uint32(f.H)))
	u, v := f.U(), f.V()
	for i := range u {
		p := le.AppendUint32(nil, math.Float32bits(float32(u[i])))
		b.Write(le.AppendUint32(p, math.Float32bits(float32(v[i]))))
	}
	_, err := w.Write(b.Bytes())
	return err
}
