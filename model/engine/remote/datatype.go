package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/engine/remote/oippb"
)

// wordy is the element type of the protocol that holds texts and bytes, and no numbers.
const wordy = "BYTES"

// dtypes are the element types of the protocol that hold numbers.
var dtypes = map[string]tensor.DType{
	"BOOL": tensor.Bool, "UINT8": tensor.Uint8, "UINT16": tensor.Uint16, "UINT32": tensor.Uint32,
	"UINT64": tensor.Uint64,
	"INT8":   tensor.Int8, "INT16": tensor.Int16, "INT32": tensor.Int32, "INT64": tensor.Int64,
	"FP16": tensor.Float16, "BF16": tensor.BFloat16, "FP32": tensor.Float32, "FP64": tensor.Float64,
}

// datatypes are the names of those types, sorted.
func datatypes() []string { return slices.Sorted(maps.Keys(dtypes)) }

// dtypeOf is the element type of a name of the protocol, in capitals or not; tensor.Undefined for one that it does not
// have.
func dtypeOf(datatype string) tensor.DType {
	if strings.EqualFold(datatype, wordy) {
		return tensor.String
	}
	return dtypes[strings.ToUpper(datatype)]
}

// wordless tells whether an output holds no numbers.
func wordless(datatype string) bool {
	d := dtypeOf(datatype)
	return d == tensor.Undefined || d == tensor.String
}

// DType is the element type of a name of the protocol; [tensor.Undefined] for one that holds no numbers.
func DType(datatype string) tensor.DType { return dtypes[strings.ToUpper(datatype)] }

// Datatype is what the protocol calls an element type; "" for one that it does not have.
func Datatype(d tensor.DType) string {
	if d == tensor.String {
		return wordy
	}
	for name, t := range dtypes {
		if t == d {
			return name
		}
	}
	return ""
}

// shaped checks the declaration of a tensor that came over the wire: type, shape and a size below limit, in bytes.
func shaped(name, datatype string, dims []int64, limit int) (d tensor.DType, shape []int, n int, err error) {
	d = dtypeOf(datatype)
	if d == tensor.Undefined {
		return d, nil, 0, failed("the output %s came as %s; expected one of %s", quote(name), quote(datatype),
			list(datatypes()))
	}
	if len(dims) > mostAxes {
		return d, nil, 0, failed("the output %s came with %d axes; at most %d make sense", quote(name), len(dims),
			mostAxes)
	}
	shape = make([]int, len(dims))
	for i, x := range dims {
		if x < 0 || x > math.MaxInt32*1024 {
			return d, nil, 0, failed("the output %s came in shape %v; expected lengths of 0 or more", quote(name), dims)
		}
		shape[i] = int(x)
	}
	if n, err = tensor.CheckedCount(shape, limit/atLeast(d)); err != nil {
		return d, nil, 0, failed("the output %s came in shape %v: %v", quote(name), dims, err)
	}
	return d, shape, n, nil
}

// atLeast is how many bytes an element takes at least.
func atLeast(d tensor.DType) int {
	if d == tensor.String {
		const length = 4 // stands before each
		return length
	}
	return d.Size()
}

// fill makes a tensor of n elements, of which set writes each.
func fill(d tensor.DType, shape []int, n int, set func(b []byte, i int) error) (tensor.Tensor, error) {
	t := tensor.New(d, shape...)
	size := d.Size()
	for i := range n {
		if err := set(t.Raw[i*size:(i+1)*size], i); err != nil {
			return t, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return t, nil
}

var errRange = errors.New("out of the range of its type")

// putInt writes an integer of any type of at most 64 bits.
func putInt(d tensor.DType, b []byte, v int64) error {
	bits := 8 * d.Size()
	switch d { //nolint:exhaustive // the others are no integers
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64:
		if shift := 64 - bits; v<<shift>>shift != v {
			return errRange
		}
	case tensor.Uint8, tensor.Uint16, tensor.Uint32:
		if v < 0 || v >= 1<<bits {
			return errRange
		}
	case tensor.Bool:
		if v != 0 && v != 1 {
			return errRange
		}
	case tensor.Uint64: // its upper half goes through putUint
		if v < 0 {
			return errRange
		}
	}
	putUint(b, uint64(v))
	return nil
}

// putUint writes the lowest bytes of v.
func putUint(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

// typed makes a tensor from typed contents, which are in one of eight lists.
func typed(d tensor.DType, shape []int, n int, c *oippb.InferTensorContents) (tensor.Tensor, error) {
	le := binary.LittleEndian
	var have int
	var set func(b []byte, i int) error
	switch d { //nolint:exhaustive // the others have no list
	case tensor.String:
		v := c.GetBytesContents()
		if len(v) != n {
			return tensor.Tensor{}, halfOf(len(v), shape, n)
		}
		words := make([]string, n)
		for i, b := range v {
			words[i] = string(b)
		}
		return tensor.OfStrings(words, shape...), nil
	case tensor.Bool:
		v := c.GetBoolContents()
		have, set = len(v), func(b []byte, i int) error {
			if b[0] = 0; v[i] {
				b[0] = 1
			}
			return nil
		}
	case tensor.Int8, tensor.Int16, tensor.Int32:
		v := c.GetIntContents()
		have, set = len(v), func(b []byte, i int) error { return putInt(d, b, int64(v[i])) }
	case tensor.Int64:
		v := c.GetInt64Contents()
		have, set = len(v), func(b []byte, i int) error { return putInt(d, b, v[i]) }
	case tensor.Uint8, tensor.Uint16, tensor.Uint32:
		v := c.GetUintContents()
		have, set = len(v), func(b []byte, i int) error { return putInt(d, b, int64(v[i])) }
	case tensor.Uint64:
		v := c.GetUint64Contents()
		have, set = len(v), func(b []byte, i int) error { putUint(b, v[i]); return nil }
	case tensor.Float32:
		v := c.GetFp32Contents()
		have, set = len(v), func(b []byte, i int) error { le.PutUint32(b, math.Float32bits(v[i])); return nil }
	case tensor.Float64:
		v := c.GetFp64Contents()
		have, set = len(v), func(b []byte, i int) error { le.PutUint64(b, math.Float64bits(v[i])); return nil }
	default:
		return tensor.Tensor{}, fmt.Errorf("%s cannot come as typed contents; expected raw ones", d)
	}
	if have != n {
		return tensor.Tensor{}, halfOf(have, shape, n)
	}
	return fill(d, shape, n, set)
}

func halfOf(have int, shape []int, n int) error {
	return fmt.Errorf("%d elements came for shape %v, which has %d: half an answer", have, shape, n)
}

// raw makes a tensor from bytes, which are not kept.
func raw(d tensor.DType, shape []int, n int, b []byte) (tensor.Tensor, error) {
	if d == tensor.String {
		t := tensor.Tensor{DType: d, Shape: shape, Raw: b}
		if err := t.Check(); err != nil {
			return tensor.Tensor{}, fmt.Errorf("it came as %q: %w: half an answer", wordy, err)
		}
		return t.Clone(), nil
	}
	if len(b) != n*d.Size() {
		return tensor.Tensor{}, fmt.Errorf("%d bytes came for %s in shape %v, which needs %d: half an answer", len(b),
			d, shape, n*d.Size())
	}
	t := tensor.New(d, shape...)
	copy(t.Raw, b)
	return t, nil
}
