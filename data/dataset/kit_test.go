package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
)

// idxBytes encodes t as IDX.
func idxBytes(tb testing.TB, t tensor.Tensor) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := WriteIDX(&b, t); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// bytesTensor is a uint8 tensor whose element i is i modulo 251.
func bytesTensor(shape ...int) tensor.Tensor {
	t := tensor.New(tensor.Uint8, shape...)
	for i := range t.Raw {
		t.Raw[i] = byte(i % 251)
	}
	return t
}

// labelTensor is an array of uint8 labels.
func labelTensor(labels ...byte) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Uint8, Shape: []int{len(labels)}, Raw: labels}
}

// zipped compresses with gzip.
func zipped(tb testing.TB, b []byte) []byte {
	tb.Helper()
	var o bytes.Buffer
	w := gzip.NewWriter(&o)
	if _, err := w.Write(b); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return o.Bytes()
}

// put writes a file into a fresh folder and returns its path.
func put(tb testing.TB, name string, b []byte) string {
	tb.Helper()
	p := filepath.Join(tb.TempDir(), name)
	putAt(tb, p, b)
	return p
}

// putAt writes a file, making its folders.
func putAt(tb testing.TB, p string, b []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(p, b, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// wantError fails unless err mentions every part.
func wantError(tb interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, err error, parts ...string,
) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			tb.Errorf("error %q does not mention %q", err, p)
		}
	}
}

// imageOf is the value of sample i.
func imageOf(tb testing.TB, ds Dataset, i int) *space.Image {
	tb.Helper()
	s, err := ds.Sample(i)
	if err != nil {
		tb.Fatal(err)
	}
	img, ok := s.Value.(*space.Image)
	if !ok {
		tb.Fatalf("sample %d is a %T", i, s.Value)
	}
	return img
}

// encode puts v at element i of a little-endian tensor; the value must be one of the type.
func encode(t tensor.Tensor, i int, v float64) {
	le, b := binary.LittleEndian, t.Raw[i*t.DType.Size():]
	switch t.DType {
	case tensor.Uint8, tensor.Bool:
		b[0] = byte(v)
	case tensor.Int8:
		b[0] = byte(int8(v))
	case tensor.Uint16:
		le.PutUint16(b, uint16(v))
	case tensor.Int16:
		le.PutUint16(b, uint16(int16(v)))
	case tensor.Uint32:
		le.PutUint32(b, uint32(v))
	case tensor.Int32:
		le.PutUint32(b, uint32(int32(v)))
	case tensor.Uint64:
		le.PutUint64(b, uint64(v))
	case tensor.Int64:
		le.PutUint64(b, uint64(int64(v)))
	case tensor.Float32:
		le.PutUint32(b, math.Float32bits(float32(v)))
	case tensor.Float64:
		le.PutUint64(b, math.Float64bits(v))
	case tensor.Undefined, tensor.Float16, tensor.BFloat16, tensor.String:
		panic("no encoder for " + t.DType.String())
	}
}

// shapeOf is the shape of the pictures that the data set announces.
func shapeOf(tb interface{ Fatalf(string, ...any) }, ds Dataset) (c, h, w int) {
	_, c, h, w, ok := ds.Info().Space.Pictures()
	if !ok {
		tb.Fatalf("%T does not announce its shape", ds)
	}
	return c, h, w
}

// framesIn is how many pictures the samples of a data set have, 0 if they are no sequences.
func framesIn(ds Dataset) int {
	t, _, _, _, _ := ds.Info().Space.Pictures()
	return t
}

// notesOf is what the data set says about itself.
func notesOf(_ testing.TB, ds Dataset) string { return strings.Join(ds.Info().Notes, "\n") }
