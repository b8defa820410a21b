// Package tensor holds dense arrays in the form in which engines and files exchange them: an ONNX element type, a shape
// and little-endian bytes, row-major (the last axis varies fastest).
package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"nero/internal/lanes"
)

// DType is an ONNX element type; the numbers are those of TensorProto.DataType.
type DType int32

// Element types that engines exchange. Complex numbers are not among them.
const (
	Undefined DType = 0
	Float32   DType = 1
	Uint8     DType = 2
	Int8      DType = 3
	Uint16    DType = 4
	Int16     DType = 5
	Int32     DType = 6
	Int64     DType = 7
	// String is texts, or bytes, of any length, see [OfStrings]. It has no size, and whatever computes refuses it.
	String   DType = 8
	Bool     DType = 9
	Float16  DType = 10
	Float64  DType = 11
	Uint32   DType = 12
	Uint64   DType = 13
	BFloat16 DType = 16
)

var dtypes = [...]struct {
	name string
	size int
}{
	Float32: {"float32", 4}, Uint8: {"uint8", 1}, Int8: {"int8", 1}, Uint16: {"uint16", 2}, Int16: {"int16", 2},
	Int32: {"int32", 4}, Int64: {"int64", 8}, Bool: {"bool", 1}, Float16: {"float16", 2}, Float64: {"float64", 8},
	Uint32: {"uint32", 4}, Uint64: {"uint64", 8}, BFloat16: {"bfloat16", 2},
}

// String is the name in lower case, such as "float32"; an unknown type prints its number.
func (d DType) String() string {
	if d.Size() > 0 {
		return dtypes[d].name
	}
	if d == String {
		return "string"
	}
	return fmt.Sprintf("type %d", int32(d))
}

// Size is the number of bytes of one element; 0 for a type that this package does not hold.
func (d DType) Size() int {
	if d < 0 || int(d) >= len(dtypes) {
		return 0
	}
	return dtypes[d].size
}

// Tensor is a dense array. The zero Tensor has no type and no elements.
type Tensor struct {
	DType DType
	// every length >= 0; empty for a scalar, which has one element
	Shape []int
	// little-endian, row-major, Count(Shape)*DType.Size() bytes; of strings each with its length before it, in 4 bytes
	Raw []byte
}

// Named is a tensor with the name of the port that it belongs to.
type Named struct {
	Name string
	Tensor
}

// Count is the number of elements of a shape: the product of its lengths, 1 for a scalar.
func Count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// CheckedCount is [Count] for shapes that come from files: it refuses a negative length and a product above limit.
func CheckedCount(shape []int, limit int) (int, error) {
	n := 1
	for i, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("axis %d has the negative length %d", i, d)
		}
		if d == 0 {
			n = 0
			continue
		}
		if n > limit/d {
			return 0, fmt.Errorf("shape %v has more than %d elements", shape, limit)
		}
		n *= d
	}
	return n, nil
}

// New makes a tensor of zeros whose bytes are aligned for every element type.
func New(d DType, shape ...int) Tensor {
	n := Count(shape) * d.Size()
	words := make([]uint64, (n+7)/8)
	t := Tensor{DType: d, Shape: append([]int{}, shape...)}
	if n > 0 {
		t.Raw = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
	}
	return t
}

// FromFloat32 makes a float32 tensor that shares x.
// It panics if the shape does not have len(x) elements.
func FromFloat32(x []float32, shape ...int) Tensor {
	if Count(shape) != len(x) {
		panic("tensor: shape and length differ")
	}
	t := Tensor{DType: Float32, Shape: append([]int{}, shape...)}
	if len(x) > 0 {
		t.Raw = unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
	}
	return t
}

// FromInt64 makes an int64 tensor that shares x.
// It panics if the shape does not have len(x) elements.
func FromInt64(x []int64, shape ...int) Tensor {
	if Count(shape) != len(x) {
		panic("tensor: shape and length differ")
	}
	t := Tensor{DType: Int64, Shape: append([]int{}, shape...)}
	if len(x) > 0 {
		t.Raw = unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*len(x))
	}
	return t
}

// Len is the number of elements.
func (t Tensor) Len() int { return Count(t.Shape) }

// Check says whether type, shape and bytes agree.
func (t Tensor) Check() error {
	if t.DType == String {
		_, err := t.Strings()
		return err
	}
	if t.DType.Size() == 0 {
		return fmt.Errorf("element %s is not supported", t.DType)
	}
	n, err := CheckedCount(t.Shape, math.MaxInt/t.DType.Size())
	if err != nil {
		return err
	}
	if len(t.Raw) != n*t.DType.Size() {
		return fmt.Errorf("%d bytes for %s%v, want %d", len(t.Raw), t.DType, t.Shape, n*t.DType.Size())
	}
	return nil
}

// Clone copies the elements into fresh, aligned memory.
func (t Tensor) Clone() Tensor {
	if t.DType == String {
		return Tensor{DType: String, Shape: append([]int{}, t.Shape...), Raw: append([]byte(nil), t.Raw...)}
	}
	o := New(t.DType, t.Shape...)
	copy(o.Raw, t.Raw)
	return o
}

// ErrDType is returned when a tensor is read as a type that it is not.
var ErrDType = errors.New("tensor: wrong element type")

// Float32s views the elements of a float32 tensor without copying when they are aligned; otherwise it copies.
func (t Tensor) Float32s() ([]float32, error) {
	if t.DType != Float32 {
		return nil, fmt.Errorf("%w: %s, want float32", ErrDType, t.DType)
	}
	if len(t.Raw) == 0 {
		return nil, nil
	}
	if uintptr(unsafe.Pointer(&t.Raw[0]))%4 == 0 {
		return unsafe.Slice((*float32)(unsafe.Pointer(&t.Raw[0])), len(t.Raw)/4), nil
	}
	o := make([]float32, len(t.Raw)/4)
	for i := range o {
		o[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Raw[4*i:]))
	}
	return o, nil
}

// Float64s widens the elements of any type into dst, which is grown as needed and returned. 64-bit integers may round.
func (t Tensor) Float64s(dst []float64) ([]float64, error) {
	if t.DType == String {
		return nil, fmt.Errorf("%w: %s", ErrDType, t.DType)
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	n := t.Len()
	if cap(dst) < n {
		dst = make([]float64, n)
	}
	dst = dst[:n]
	if t.DType == Float32 {
		x, err := t.Float32s()
		lanes.Widen(dst, x)
		return dst, err
	}
	le, w := binary.LittleEndian, t.DType.Size()
	for i := range dst {
		b := t.Raw[i*w:]
		switch t.DType {
		case Float64:
			dst[i] = math.Float64frombits(le.Uint64(b))
		case Uint8, Bool:
			dst[i] = float64(b[0])
		case Int8:
			dst[i] = float64(int8(b[0]))
		case Uint16:
			dst[i] = float64(le.Uint16(b))
		case Int16:
			dst[i] = float64(int16(le.Uint16(b)))
		case Int32:
			dst[i] = float64(int32(le.Uint32(b)))
		case Uint32:
			dst[i] = float64(le.Uint32(b))
		case Int64:
			dst[i] = float64(int64(le.Uint64(b)))
		case Uint64:
			dst[i] = float64(le.Uint64(b))
		case Float16:
			dst[i] = Half(le.Uint16(b))
		case BFloat16:
			dst[i] = float64(math.Float32frombits(uint32(le.Uint16(b)) << 16))
		case Float32, Undefined, String:
			return nil, fmt.Errorf("%w: %s", ErrDType, t.DType)
		}
	}
	return dst, nil
}

// Half widens the IEEE 754 binary16 number with the bits h; every such number is a float64.
func Half(h uint16) float64 {
	exp, frac := int(h>>10&31), float64(h&1023)
	var v float64
	switch exp {
	case 0:
		v = math.Ldexp(frac, -24)
	case 31:
		v = math.Inf(1)
		if frac != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1+frac/1024, exp-15)
	}
	if h>>15 == 1 {
		v = -v
	}
	return v
}

// OfStrings makes a tensor of strings, which are copied. It panics if the shape does not have as many elements.
func OfStrings(x []string, shape ...int) Tensor {
	if Count(shape) != len(x) {
		panic("tensor: shape and length differ")
	}
	t := Tensor{DType: String, Shape: append([]int{}, shape...)}
	for _, s := range x {
		t.Raw = binary.LittleEndian.AppendUint32(t.Raw, uint32(len(s)))
		t.Raw = append(t.Raw, s...)
	}
	return t
}

// Strings are the elements of a tensor of strings.
func (t Tensor) Strings() ([]string, error) {
	if t.DType != String {
		return nil, fmt.Errorf("%w: %s, want string", ErrDType, t.DType)
	}
	const head = 4
	n, err := CheckedCount(t.Shape, len(t.Raw)/head) // none is shorter than its length
	if err != nil {
		return nil, err
	}
	out, rest := make([]string, n), t.Raw
	for i := range out {
		if len(rest) < head || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-head) {
			return nil, fmt.Errorf("string %d of %d is cut off", i, n)
		}
		size := int(binary.LittleEndian.Uint32(rest))
		out[i], rest = string(rest[head:head+size]), rest[head+size:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes behind %d strings", len(rest), n)
	}
	return out, nil
}
