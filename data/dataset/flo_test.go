package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
)

// floBytes is f as .flo.
func floBytes(tb interface{ Fatal(...any) }, f *space.Field) []byte {
	var b bytes.Buffer
	if err := WriteFlo(&b, f); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// swirl is a field whose vectors tell their place: u = 10 r + c, v = -u - 1/2.
func swirl(h, w int) *space.Field {
	f := space.NewField(h, w)
	for i := range h * w {
		f.U()[i] = float64(10*(i/w) + i%w)
		f.V()[i] = -f.U()[i] - 0.5
	}
	return f
}

// The bytes follow Middlebury's description: "PIEH", width, height, then u and v of each pixel.
func TestFloBytes(t *testing.T) {
	t.Parallel()
	f := &space.Field{H: 1, W: 2, Val: []float64{1, -2, 0.5, 3}}
	want := []byte("PIEH\x02\x00\x00\x00\x01\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x3f\x00\x00\x00\xc0\x00\x00" +
		"\x40\x40")
	if got := floBytes(t, f); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	got, err := ReadFlo(bytes.NewReader(want), int64(len(want)))
	if err != nil || got.H != 1 || got.W != 2 || !slices.Equal(got.Val, f.Val) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFloRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := space.NewField(rapid.IntRange(1, 7).Draw(t, "h"), rapid.IntRange(1, 7).Draw(t, "w"))
		for i := range f.Val {
			f.Val[i] = float64(rapid.Float32Range(-1e9, 1e9).Draw(t, "v"))
		}
		b := floBytes(t, f)
		got, err := ReadFlo(bytes.NewReader(b), int64(len(b)))
		if err != nil || got.H != f.H || got.W != f.W || !slices.Equal(got.Val, f.Val) {
			t.Fatalf("%+v came back as %+v, %v", f, got, err)
		}
	})
}

func TestFloRefuses(t *testing.T) {
	t.Parallel()
	good := floBytes(t, swirl(2, 3))
	with := func(at int, v uint32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	const unknown = " (above 1e9 means unknown): models are compared at every pixel; fill it in, crop the pair, or " +
		"say targets: none: not finite"
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{
			"magic", with(0, 7),
			"starts with bytes 07 00 00 00, want 50 49 45 48 (the number 202021.25): not a .flo file, or damaged; " +
				"fetch or write it again",
		},
		{
			"byte order", with(0, bits.ReverseBytes32(math.Float32bits(floMagic))),
			"is big-endian, want little-endian: write it anew",
		},
		{"empty", nil, "ends after 0 bytes, in the header: fetch it again: EOF"},
		{"header cut", good[:9], "ends after 9 bytes, in the header: fetch it again: unexpected EOF"},
		{"cut", good[:40], "the header announces 3 x 2 vectors, 60 bytes, but the file has 40: it is cut short or " +
			"its header is wrong; fetch or write it again"},
		{
			"foreign bytes", append(bytes.Clone(good), 0),
			"the header announces 3 x 2 vectors, 60 bytes, but the file has 61: its header is wrong, or it has " +
				"foreign bytes at its end; fetch or write it again",
		},
		{
			"negative", with(4, 0xffffffff),
			"the header announces -1 x 2 vectors: it is damaged; fetch or write it again",
		},
		{
			"huge", with(4, 0x7fffffff),
			"the header announces 2147483647 x 2 vectors: images of 2147483647 x 2 pixels with 2 channels are larger " +
				"than the 67108864 values that one sample may have: crop or scale them down",
		},
		{"lie", with(8, 4), "the header announces 3 x 4 vectors, 108 bytes, but the file has 60: it is cut short or " +
			"its header is wrong; fetch or write it again"},
		{
			"NaN", with(floHead+8*4, math.Float32bits(float32(math.NaN()))),
			"the vector at row 1, column 1 is (NaN, -11.5), which is no displacement" + unknown,
		},
		{
			"infinite", with(floHead+4, math.Float32bits(float32(math.Inf(-1)))),
			"the vector at row 0, column 0 is (0, -Inf), which is no displacement" + unknown,
		},
		{
			"unknown", with(floHead+8*5+4, math.Float32bits(1.6666667e9)),
			"the vector at row 1, column 2 is (12, 1.666666752e+09), which is no displacement" + unknown,
		},
	} {
		_, err := ReadFlo(bytes.NewReader(c.b), int64(len(c.b)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if bytes.HasSuffix([]byte(c.want), []byte("not finite")) != errors.Is(err, ErrNotFinite) {
			t.Errorf("%s: %v wraps ErrNotFinite or not", c.name, err)
		}
	}
	if err := WriteFlo(&bytes.Buffer{}, &space.Field{H: 2, W: 2, Val: make([]float64, 7)}); err == nil {
		t.Error("a field with a number too few is written")
	}
}

func FuzzFlo(f *testing.F) {
	f.Add(floBytes(f, swirl(2, 3)))
	f.Add([]byte("PIEH\xff\xff\xff\x7f\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ReadFlo(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := WriteFlo(&again, got); err != nil || !bytes.Equal(again.Bytes(), b) {
			t.Fatalf("% x came back as % x, %v", b, again.Bytes(), err)
		}
	})
}
