package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"nero/data/tensor"
)

// idxFormat is the format of the digits of MNIST.
var idxFormat = &Format{
	Name: "idx", Doc: "Images in an IDX file, plain or gzip.",
	Sniff:   Sniff{Head: startsIDX},
	Options: []Option{WithLayout, WithLabels},
	Open:    reads(opener.openFile),
}

// maxRank bounds the axes of an array: images have at most four.
const maxRank = 8

// idxType is the element type of an IDX type byte; Undefined for a foreign one.
func idxType(b byte) tensor.DType {
	switch b {
	case 0x08:
		return tensor.Uint8
	case 0x09:
		return tensor.Int8
	case 0x0b:
		return tensor.Int16
	case 0x0c:
		return tensor.Int32
	case 0x0d:
		return tensor.Float32
	case 0x0e:
		return tensor.Float64
	}
	return tensor.Undefined
}

// readIDXHeader reads the lengths of the axes, the type byte and the rank being read already.
func readIDXHeader(r io.Reader, typ byte, rank int) (header, error) {
	if rank > maxRank {
		return header{}, fmt.Errorf("IDX header claims %d axes, want at most %d", rank, maxRank)
	}
	var dims [4 * maxRank]byte
	if n, err := io.ReadFull(r, dims[:4*rank]); err != nil {
		return header{}, shortHead(4+n, err)
	}
	h := header{dtype: idxType(typ), big: true, shape: make([]int, rank)}
	for i := range h.shape {
		h.shape[i] = int(binary.BigEndian.Uint32(dims[4*i:]))
	}
	return h, h.claim()
}

// WriteIDX writes an array in the IDX format: two zero bytes, a type byte, the number of axes, their lengths as
// big-endian uint32, then the elements, big-endian and row-major. IDX knows uint8, int8, int16, int32, float32 and
// float64 and holds 1 to 255 axes, of which this package reads 8.
func WriteIDX(w io.Writer, t tensor.Tensor) error {
	if err := t.Check(); err != nil {
		return err
	}
	typ := byte(0)
	for b := byte(0x08); b <= 0x0e; b++ {
		if idxType(b) == t.DType {
			typ = b
		}
	}
	if typ == 0 {
		return fmt.Errorf("IDX has no element type %s", t.DType)
	}
	if len(t.Shape) < 1 || len(t.Shape) > maxRank {
		return fmt.Errorf("IDX of %d axes, want 1 to %d", len(t.Shape), maxRank)
	}
	head := []byte{0, 0, typ, byte(len(t.Shape))}
	for _, d := range t.Shape {
		if int64(d) > math.MaxUint32 {
			return errors.New("IDX axis longer than 2^32-1")
		}
		head = binary.BigEndian.AppendUint32(head, uint32(d))
	}
	bw := bufio.NewWriter(w)
	if _, err := bw.Write(head); err != nil {
		return err
	}
	size := t.DType.Size()
	for i := 0; i < len(t.Raw); i += size {
		for k := size - 1; k >= 0; k-- {
			if err := bw.WriteByte(t.Raw[i+k]); err != nil {
				return err
			}
		}
	}
	return bw.Flush()
}
