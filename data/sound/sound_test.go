package sound

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
)

// The files are written by scipy and by Python's wave module, see testdata/make.py.
func TestFiles(t *testing.T) {
	want := [][]float64{{0, 0.5, -0.5, 0.25, -1}, {0, -0.25, 0.125, -0.125, 0.75}}
	for name, bits := range map[string]int{
		"u8": 8, "i16": 16, "i24": 24, "i32": 32, "f32": 32, "f64": 64,
		"extensible": 24,
	} {
		b, err := os.ReadFile("testdata/" + name + ".wav")
		if err != nil {
			t.Fatal(err)
		}
		c, err := Read(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.Rate != 8000 || c.Bits != bits || len(c.Channels) != 2 || !slices.Equal(c.Channels[0], want[0]) ||
			!slices.Equal(c.Channels[1], want[1]) {
			t.Errorf("%s: %+v, want %v", name, c, want)
		}
		for cut := range b {
			if _, err := Read(b[:cut]); err == nil {
				t.Errorf("%s: the first %d of %d bytes are taken for a whole file", name, cut, len(b))
			}
		}
	}
}

// wav makes a file of one channel of 16 bits and lets a test damage it.
func wav(damage func(b []byte) []byte) []byte {
	b := make([]byte, 44, 64)
	copy(b, "RIFF\x2c\x00\x00\x00WAVEfmt "+
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x08\x00\x00\x00")
	b = append(b, 0, 0x40, 0, 0xc0, 0xff, 0x7f, 0, 0x80)
	return damage(b)
}

func TestBadFiles(t *testing.T) {
	le := binary.LittleEndian
	for _, c := range []struct {
		damage func(b []byte) []byte
		want   string
	}{
		{func([]byte) []byte { return nil }, "want a WAV file"},
		{
			func([]byte) []byte { return []byte("fLaC\x00\x00\x00\x22aaaaaaaa") },
			"want a WAV file (RIFF....WAVE); other recordings are converted",
		},
		{func(b []byte) []byte { b[3] = 'X'; return b }, "big-endian"},
		{
			func(b []byte) []byte { le.PutUint32(b[40:], 10); return b },
			"byte 36: the chunk data claims 10 bytes, but the file holds 8",
		},
		{func(b []byte) []byte { return b[:51] }, "claims 8 bytes, but the file holds 7"},
		{func(b []byte) []byte { le.PutUint32(b[40:], 7); return b }, "no multiple of the 2 of 1 channels of 16 bits"},
		{func(b []byte) []byte { le.PutUint16(b[20:], 7); return b }, "µ-law"},
		{func(b []byte) []byte { le.PutUint16(b[34:], 12); return b }, "numbers of 12 bits"},
		{func(b []byte) []byte { le.PutUint16(b[22:], 0); return b }, "0 channels"},
		{func(b []byte) []byte { le.PutUint16(b[32:], 4); return b }, "blocks of 4 bytes, want 2"},
		{func(b []byte) []byte { le.PutUint32(b[24:], 0); return b }, "a rate of 0 Hz"},
		{func(b []byte) []byte { le.PutUint32(b[16:], 1<<31); return b }, `the chunk "fmt " claims 2147483648 bytes`},
		{func(b []byte) []byte { copy(b[12:], "data"); return b }, "the chunk data comes before fmt"},
		{func(b []byte) []byte { le.PutUint16(b[20:], 0xfffe); return b }, "extensible"},
	} {
		_, err := Read(wav(c.damage))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	whole, err := Read(wav(func(b []byte) []byte { return b }))
	if err != nil || !slices.Equal(whole.Channels[0], []float64{0.5, -0.5, 32767. / 32768, -1}) {
		t.Errorf("%+v, %v", whole, err)
	}
	// Programs that write to a pipe do not know how much will come.
	pipe, err := Read(wav(func(b []byte) []byte { le.PutUint32(b[40:], math.MaxUint32); return b }))
	if err != nil || len(pipe.Channels[0]) != 4 {
		t.Errorf("%+v, %v", pipe, err)
	}
	b, err := os.ReadFile("testdata/f32.wav")
	if err != nil {
		t.Fatal(err)
	}
	le.PutUint32(b[len(b)-4:], math.Float32bits(float32(math.NaN())))
	if _, err := Read(b); !errors.Is(err, space.ErrNotFinite) || !strings.Contains(err.Error(), "channel 1, number 4") {
		t.Errorf("a NaN: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"u8", "i24", "f64", "extensible"} {
		b, err := os.ReadFile("testdata/" + name + ".wav")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Read(b)
		if err != nil {
			return
		}
		n := 0
		for _, x := range c.Channels {
			n += len(x)
			for _, v := range x {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatal("a number is not finite")
				}
			}
		}
		if n > len(b) {
			t.Fatalf("%d numbers of %d bytes", n, len(b))
		}
	})
}

// The smallest steps of each size, on either side of 0.
func TestSmallestSteps(t *testing.T) {
	for bits, b := range map[int][]byte{
		8:  {129, 127},
		16: {1, 0, 255, 255},
		24: {1, 0, 0, 255, 255, 255},
		32: {1, 0, 0, 0, 255, 255, 255, 255},
	} {
		x, err := Format{Channels: 1, Bits: bits, Rate: 1}.Decode(b, 0)
		step := math.Ldexp(1, 1-bits)
		if err != nil || !slices.Equal(x[0], []float64{step, -step}) {
			t.Errorf("%d bits: %v, %v, want ±%g", bits, x, err, step)
		}
	}
}
