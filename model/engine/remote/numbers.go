package remote

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"nero/data/tensor"
	"nero/internal/quoted"
)

// writeJSON lists the elements of a tensor, flat. Floating-point numbers are written with all the digits of a float64,
// so that no rounding is done twice on the way.
func writeJSON(t tensor.Tensor) (json.RawMessage, error) {
	switch t.DType { //nolint:exhaustive // the others can
	case tensor.Float16, tensor.BFloat16:
		return nil, fmt.Errorf("%s cannot travel as JSON; use gRPC", t.DType)
	case tensor.String:
		words, err := t.Strings()
		if err != nil {
			return nil, err
		}
		return json.Marshal(words)
	}
	n, size := t.Len(), t.DType.Size()
	out := make([]byte, 0, 2+8*n)
	out = append(out, '[')
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		b := t.Raw[i*size : (i+1)*size]
		var f float64
		switch t.DType { //nolint:exhaustive // refused above
		case tensor.Float32:
			f = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case tensor.Float64:
			f = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case tensor.Bool:
			out = strconv.AppendBool(out, b[0] != 0)
			continue
		default:
			out = appendInt(out, t.DType, b)
			continue
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf(
				"element %d is %v, for which JSON has no word; use gRPC, or a server that takes binary tensors", i, f)
		}
		out = strconv.AppendFloat(out, f, 'g', -1, 64)
	}
	return append(out, ']'), nil
}

func appendInt(out []byte, d tensor.DType, b []byte) []byte {
	var v uint64
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	switch shift := 64 - 8*len(b); d { //nolint:exhaustive // the rest is unsigned
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64:
		return strconv.AppendInt(out, int64(v)<<shift>>shift, 10)
	default:
		return strconv.AppendUint(out, v, 10)
	}
}

// strictJSON replaces the words NaN, Infinity and -Infinity, which JSON does not have and Python's json module writes,
// by null and by numbers too large for a float64.
func strictJSON(b []byte) []byte {
	if !bytes.Contains(b, []byte("NaN")) && !bytes.Contains(b, []byte("Infinity")) {
		return b
	}
	out := make([]byte, 0, len(b))
	inside := false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case inside && c == '\\' && i+1 < len(b):
			out = append(out, c)
			i++
			c = b[i]
		case c == '"':
			inside = !inside
		case inside:
		case c == 'N' && bytes.HasPrefix(b[i:], []byte("NaN")):
			out = append(out, "null"...)
			i += len("NaN") - 1
			continue
		case c == 'I' && bytes.HasPrefix(b[i:], []byte("Infinity")):
			out = append(out, "1e999"...)
			i += len("Infinity") - 1
			continue
		}
		out = append(out, c)
	}
	return out
}

// readJSON reads a list of numbers, flat or nested. In a list of floating-point numbers null stands for NaN.
func readJSON(d tensor.DType, shape []int, n int, data json.RawMessage) (tensor.Tensor, error) {
	if len(data) == 0 {
		return tensor.Tensor{}, errors.New("it has neither data nor binary_data_size: half an answer")
	}
	switch d { //nolint:exhaustive // the others come
	case tensor.Float16, tensor.BFloat16:
		return tensor.Tensor{}, fmt.Errorf("%s cannot come as JSON; expected binary_data_size", d)
	case tensor.String:
		return readWords(shape, n, data)
	}
	t := tensor.New(d, shape...)
	at, size := 0, d.Size()
	// The text is valid JSON by now; of it only brackets, commas and words matter.
	for i := 0; i < len(data); {
		switch c := data[i]; c {
		case '[', ']', ',', ' ', '\t', '\n', '\r':
			i++
			continue
		case '{', '"':
			return t, fmt.Errorf("element %d is no number", at)
		}
		j := i
		for j < len(data) && !bytes.ContainsRune([]byte("[], \t\n\r"), rune(data[j])) {
			j++
		}
		if at == n {
			return t, fmt.Errorf("more than the %d elements that shape %v has", n, shape)
		}
		if err := putWord(d, t.Raw[at*size:(at+1)*size], string(data[i:j])); err != nil {
			return t, fmt.Errorf("element %d is %s: %w", at, quote(string(data[i:j])), err)
		}
		at++
		i = j
	}
	if at != n {
		return t, fmt.Errorf("%d elements came for shape %v, which has %d: half an answer", at, shape, n)
	}
	return t, nil
}

// noTextError is that JSON quotes what is no text.
type noTextError struct{ raw string }

// Error says what was quoted.
func (n *noTextError) Error() string { return "no text in UTF-8: " + quote(n.raw) }

// readWords reads a list of texts, flat or nested.
func readWords(shape []int, n int, data json.RawMessage) (tensor.Tensor, error) {
	var words []string
	d := json.NewDecoder(bytes.NewReader(data))
	last := 0
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return tensor.Tensor{}, err
		}
		from, to := last, int(d.InputOffset())
		last = to
		switch x := t.(type) {
		case string:
			if raw := data[from:to]; !quoted.Whole(raw) {
				return tensor.Tensor{}, &noTextError{string(raw[bytes.IndexByte(raw, '"')+1 : len(raw)-1])}
			}
			if words = append(words, x); len(words) > n {
				return tensor.Tensor{}, fmt.Errorf("more than the %d elements that shape %v has", n, shape)
			}
		case json.Delim:
			if x == '{' {
				return tensor.Tensor{}, fmt.Errorf("element %d is no text", len(words))
			}
		default:
			return tensor.Tensor{}, fmt.Errorf("element %d is no text", len(words))
		}
	}
	if len(words) != n {
		return tensor.Tensor{}, halfOf(len(words), shape, n)
	}
	return tensor.OfStrings(words, shape...), nil
}

// putWord writes a number that is written in JSON.
func putWord(d tensor.DType, b []byte, word string) error {
	switch d { //nolint:exhaustive // the rest is integers
	case tensor.Float32, tensor.Float64:
		f := math.NaN()
		if word != "null" {
			var err error
			if f, err = strconv.ParseFloat(word, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
				return errors.New("not a number")
			}
		}
		if d == tensor.Float32 {
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(f)))
		} else {
			binary.LittleEndian.PutUint64(b, math.Float64bits(f))
		}
		return nil
	case tensor.Bool:
		if b[0] = 0; word == "true" || word == "1" {
			b[0] = 1
		} else if word != "false" && word != "0" {
			return errors.New("neither true nor false")
		}
		return nil
	case tensor.Uint64:
		v, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return errRange
		}
		putUint(b, v)
		return nil
	default:
		v, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			if f, e := strconv.ParseFloat(word, 64); e != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
				return errRange
			} else { //nolint:revive // f is in scope here alone
				v = int64(f)
			}
		}
		return putInt(d, b, v)
	}
}
