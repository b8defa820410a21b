package tensor

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// The numbers, names and sizes of onnx.proto3's TensorProto.DataType.
func TestDTypes(t *testing.T) {
	for _, c := range []struct {
		d      DType
		number int32
		name   string
		size   int
	}{
		{Float32, 1, "float32", 4},
		{Uint8, 2, "uint8", 1},
		{Int8, 3, "int8", 1},
		{Uint16, 4, "uint16", 2},
		{Int16, 5, "int16", 2},
		{Int32, 6, "int32", 4},
		{Int64, 7, "int64", 8},
		{Bool, 9, "bool", 1},
		{Float16, 10, "float16", 2},
		{Float64, 11, "float64", 8},
		{Uint32, 12, "uint32", 4},
		{Uint64, 13, "uint64", 8},
		{BFloat16, 16, "bfloat16", 2},
		{Undefined, 0, "type 0", 0},
		{String, 8, "string", 0},
		{14, 14, "type 14", 0}, // complex64
	} {
		if int32(c.d) != c.number || c.d.String() != c.name || c.d.Size() != c.size {
			t.Errorf("%d is %q of %d bytes, want %d, %q, %d", int32(c.d), c.d, c.d.Size(), c.number, c.name, c.size)
		}
	}
}

func TestCheckedCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(-1, 12), 0, 5).Draw(t, "shape")
		limit := rapid.IntRange(1, 2000).Draw(t, "limit")
		got, err := CheckedCount(shape, limit)
		want := Count(shape)
		switch {
		case slices.Contains(shape, -1):
			if err == nil {
				t.Fatalf("%v passed", shape)
			}
		case want > limit:
			if err == nil {
				t.Fatalf("%v passed the limit %d", shape, limit)
			}
		case err != nil && !slices.Contains(shape, 0), err == nil && got != want:
			t.Fatalf("%v has %d elements, want %d: %v", shape, got, want, err)
		}
	})
	for _, shape := range [][]int{{1 << 31, 1 << 31, 1 << 31}, {math.MaxInt, 2}, {3, math.MaxInt}, {1 << 32, 1 << 32}} {
		if n, err := CheckedCount(shape, math.MaxInt); err == nil {
			t.Errorf("%v overflows, but has %d elements", shape, n)
		}
	}
	if n, err := CheckedCount([]int{math.MaxInt, 1}, math.MaxInt); err != nil || n != math.MaxInt {
		t.Errorf("the largest count is refused: %v", err)
	}
	if n, err := CheckedCount(nil, 1); err != nil || n != 1 {
		t.Errorf("a scalar has %d elements, %v", n, err)
	}
	if n, err := CheckedCount([]int{0, math.MaxInt, math.MaxInt}, 9); err != nil || n != 0 {
		t.Errorf("an empty array has %d elements, %v", n, err)
	}
}

func TestNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]DType{Float32, Uint8, Int64, Float64, Float16}).Draw(t, "type")
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "shape")
		x := New(d, shape...)
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
		if x.Len() != Count(shape) || slices.ContainsFunc(x.Raw, func(b byte) bool { return b != 0 }) {
			t.Fatalf("%+v", x)
		}
		if len(x.Raw) > 0 && uintptr(unsafe.Pointer(&x.Raw[0]))%8 != 0 {
			t.Fatal("not aligned")
		}
		if len(shape) > 0 {
			shape[0]++
			if x.Shape[0] == shape[0] {
				t.Fatal("the shape is shared with the caller")
			}
		}
	})
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		x    Tensor
		want string
	}{
		{New(Int16, 2, 3), ""},
		{New(Float64), ""},
		{New(Float64, 0, 3), ""},
		{Tensor{}, "type 0 is not supported"},
		{Tensor{DType: 14, Shape: []int{1}, Raw: make([]byte, 1)}, "not supported"},
		{OfStrings([]string{"", "ü", "\xff"}, 3, 1), ""},
		{Tensor{DType: String, Shape: []int{1}, Raw: make([]byte, 1)}, "shape [1] has more than 0 elements"},
		{Tensor{DType: String, Shape: []int{1}, Raw: []byte{2, 0, 0, 0, 'a'}}, "string 0 of 1 is cut off"},
		{Tensor{DType: String, Shape: []int{1}, Raw: []byte{0, 0, 0, 0, 'a'}}, "1 bytes behind 1 strings"},
		{Tensor{DType: Int16, Shape: []int{2}, Raw: make([]byte, 3)}, "3 bytes for int16[2], want 4"},
		{Tensor{DType: Int16, Shape: []int{-2}}, "negative length -2"},
		{Tensor{DType: Float64, Shape: []int{math.MaxInt / 8, 2}}, "more than"},
	} {
		err := c.x.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s%v: %v, want %q", c.x.DType, c.x.Shape, err, c.want)
		}
	}
}

// What is put into a tensor of strings comes out again, and no copy shares it.
func TestStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.String()).Draw(t, "words")
		x := OfStrings(words, len(words))
		y := x.Clone()
		for i := range x.Raw {
			x.Raw[i] = 0xff
		}
		got, err := y.Strings()
		if err != nil || !slices.Equal(got, words) {
			t.Fatalf("%q, %v", got, err)
		}
	})
	if _, err := New(Uint8, 1).Strings(); !errors.Is(err, ErrDType) {
		t.Errorf("numbers are read as strings: %v", err)
	}
	if _, err := OfStrings([]string{"1"}, 1).Float64s(nil); !errors.Is(err, ErrDType) {
		t.Errorf("strings are read as numbers: %v", err)
	}
}

func TestFromSlicesShare(t *testing.T) {
	f := []float32{1, 2, 3, 4}
	x := FromFloat32(f, 2, 2)
	if got := math.Float32frombits(binary.LittleEndian.Uint32(x.Raw[12:])); got != 4 || x.Check() != nil {
		t.Errorf("element 3 is %v, %v", got, x.Check())
	}
	view, err := x.Float32s()
	if err != nil || &view[0] != &f[0] || len(view) != 4 {
		t.Errorf("the view does not share memory: %v", err)
	}
	i := []int64{-5, 1 << 40}
	y := FromInt64(i, 2)
	i[0] = 9
	if got, err := y.Float64s(nil); err != nil || !slices.Equal(got, []float64{9, 1 << 40}) {
		t.Errorf("%v, %v", got, err)
	}
	for name, f := range map[string]func(){
		"float32": func() { FromFloat32(f, 3) },
		"int64":   func() { FromInt64(i, 3) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a wrong shape does not panic", name)
				}
			}()
			f()
		}()
	}
	if x := FromFloat32(nil, 0); x.Check() != nil {
		t.Error(x.Check())
	}
	if x := FromInt64(nil, 0, 2); x.Check() != nil {
		t.Error(x.Check())
	}
}

// Elements read the same whether they lie aligned or not.
func TestFloat32sUnaligned(t *testing.T) {
	raw := make([]byte, 4*3+4)
	for off := range 4 {
		b := raw[off : off+12]
		for i, v := range []float32{1.5, -2, float32(math.Inf(1))} {
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
		}
		got, err := Tensor{DType: Float32, Shape: []int{3}, Raw: b}.Float32s()
		if err != nil || !slices.Equal(got, []float32{1.5, -2, float32(math.Inf(1))}) {
			t.Errorf("offset %d: %v, %v", off, got, err)
		}
	}
	if got, err := New(Float32, 0).Float32s(); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := New(Float64, 1).Float32s(); !errors.Is(err, ErrDType) {
		t.Errorf("a float64 tensor is read as float32: %v", err)
	}
}

func TestClone(t *testing.T) {
	x := FromFloat32([]float32{1, 2}, 2)
	y := x.Clone()
	y.Raw[0], y.Shape[0] = 99, 7
	if v, err := x.Float32s(); err != nil || v[0] != 1 || x.Shape[0] != 2 {
		t.Errorf("the original changed: %v %v %v", v, x.Shape, err)
	}
}

// Every type widens exactly; the bytes are written out by hand.
func TestFloat64s(t *testing.T) {
	for _, c := range []struct {
		d    DType
		raw  []byte
		want []float64
	}{
		{Uint8, []byte{0, 255}, []float64{0, 255}},
		{Int8, []byte{127, 128}, []float64{127, -128}},
		{Bool, []byte{0, 1}, []float64{0, 1}},
		{Uint16, []byte{0x34, 0x12, 0xff, 0xff}, []float64{0x1234, 65535}},
		{Int16, []byte{0x34, 0x12, 0x00, 0x80}, []float64{0x1234, -32768}},
		{Uint32, []byte{1, 0, 0, 0x80}, []float64{1<<31 + 1}},
		{Int32, []byte{1, 0, 0, 0x80}, []float64{-1<<31 + 1}},
		{Uint64, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, []float64{1 << 63}},
		{Int64, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []float64{-2}},
		{Float32, []byte{0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0xff}, []float64{1.5, math.Inf(-1)}},
		{Float64, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0xbf}, []float64{-1.5}},
		{Float16, []byte{0x00, 0x3e, 0x00, 0xc0}, []float64{1.5, -2}},
		{BFloat16, []byte{0xc0, 0x3f, 0x80, 0xc0}, []float64{1.5, -4}},
	} {
		x := Tensor{DType: c.d, Shape: []int{len(c.want)}, Raw: c.raw}
		got, err := x.Float64s(nil)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v, %v", c.d, got, c.want, err)
		}
	}
	if _, err := (Tensor{}).Float64s(nil); err == nil {
		t.Error("a tensor without type was widened")
	}
	if _, err := (Tensor{DType: Uint8, Shape: []int{3}, Raw: []byte{1}}).Float64s(nil); err == nil {
		t.Error("missing bytes were widened")
	}
}

func TestFloat64sGrowsItsDestination(t *testing.T) {
	x := FromFloat32([]float32{1, 2, 3}, 3)
	for _, c := range []int{0, 2, 3, 9} {
		dst := make([]float64, 1, c+1)[:0:c]
		got, err := x.Float64s(dst)
		if err != nil || !slices.Equal(got, []float64{1, 2, 3}) {
			t.Errorf("capacity %d: %v, %v", c, got, err)
		}
		if c >= 3 && &dst[:1][0] != &got[0] {
			t.Errorf("capacity %d is enough, but was not used", c)
		}
	}
}

// IEEE 754-2008, table 3.5: binary16 has 5 bits of exponent with bias 15 and 10 bits of fraction.
func TestHalf(t *testing.T) {
	for h, want := range map[uint16]float64{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x7bff: 65504, 0x0400: math.Ldexp(1, -14),
		0x0001: math.Ldexp(1, -24), 0x03ff: math.Ldexp(1023, -24), 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := Half(h); got != want {
			t.Errorf("%04x is %v, want %v", h, got, want)
		}
	}
	if v := Half(0x8000); v != 0 || !math.Signbit(v) {
		t.Errorf("8000 is %v, want -0", v)
	}
	for h := uint16(0x7c01); h < 0x8000; h++ {
		if !math.IsNaN(Half(h)) || !math.IsNaN(Half(h|0x8000)) {
			t.Fatalf("%04x is %v, want NaN", h, Half(h))
		}
	}
	// Order and symmetry of all numbers.
	for h := uint16(1); h <= 0x7c00; h++ {
		if !(Half(h) > Half(h-1)) || Half(h|0x8000) != -Half(h) {
			t.Fatalf("%04x is %v, %04x is %v", h, Half(h), h-1, Half(h-1))
		}
	}
}

func BenchmarkFloat64s(b *testing.B) {
	x := New(Float32, 1, 3, 224, 224)
	var dst []float64
	b.SetBytes(int64(len(x.Raw)))
	for b.Loop() {
		var err error
		if dst, err = x.Float64s(dst); err != nil {
			b.Fatal(err)
		}
	}
}
