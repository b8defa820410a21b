package decode_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"

	"pgregory.net/rapid"
)

// crop cuts h rows and w columns out of a picture.
func crop(m *space.Image, top, left, h, w int) *space.Image {
	out := space.NewImage(m.C, h, w)
	for k := range m.C {
		for r := range h {
			copy(out.Plane(k)[r*w:(r+1)*w], m.Plane(k)[(top+r)*m.W+left:][:w])
		}
	}
	return out
}

// Cutting what was scaled gives the bytes of scaling what was cut.
func TestScaledAhead(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		number := rapid.Float64Range(-300, 300)
		in := decode.InputSpec{
			Scale:  rapid.SampledFrom([]float64{1, 255, 65535, 0.3}).Draw(t, "scale"),
			Layout: rapid.SampledFrom([]string{"", "NHWC"}).Draw(t, "layout"),
		}
		shape := []any{"n", channels, 4, 5}
		if in.Layout != "" {
			shape = []any{"n", 4, 5, channels}
		}
		n := rapid.SampledFrom([]int{0, 1, channels}).Draw(t, "means")
		for range n {
			in.Mean = append(in.Mean, rapid.Float64Range(-2, 2).Draw(t, "mean"))
			in.Std = append(in.Std, rapid.Float64Range(0.1, 3).Draw(t, "deviation"))
		}
		in.Sample = []int{channels, 4, 5}
		c, err := decode.New(sig(tb, tensor.Float32, shape, "n", 3), in,
			decode.OutputSpec{Space: space.KindScores, Decode: "raw"})
		if err != nil {
			t.Fatal(err)
		}
		s, rest, ok := decode.Ahead(c)
		if !ok || !s.Same(s) {
			t.Fatal("not ahead")
		}
		m := space.NewImage(channels, 6, 7)
		for i := range m.Pix {
			m.Pix[i] = number.Draw(t, "pixel")
		}
		m.Pix[9] = rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), 1e300}).Draw(t, "odd pixel")
		scaled, err := s.Scale(m)
		if err != nil {
			t.Fatal(err)
		}
		x, ok := scaled.(*space.Image)
		if !ok {
			t.Fatal("no image")
		}
		top, left := rapid.IntRange(0, 2).Draw(t, "top"), rapid.IntRange(0, 2).Draw(t, "left")
		want, err := c.Encode([]space.Value{crop(m, top, left, 4, 5)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rest.Encode([]space.Value{crop(x, top, left, 4, 5)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[0].Raw, want[0].Raw) {
			t.Fatal("other bytes")
		}
		if bare := decode.Bare(rest); bare != (in.Layout == "") {
			t.Fatalf("layout %q: bare is %v", in.Layout, bare)
		} else if bare {
			laid, err := decode.Lay(rest, 1, crop(x, 0, 0, 4, 5), nil, func(_ int, dst []float32) {
				for i, v := range crop(x, top, left, 4, 5).Pix {
					dst[i] = float32(v)
				}
			})
			if err != nil || !bytes.Equal(laid[0].Raw, want[0].Raw) {
				t.Fatalf("other bytes: %v", err)
			}
		}
	})
}

// Whole batches are laid out as by Encode, also where they are filled up; what a codec cannot read is refused.
func TestLay(t *testing.T) {
	for _, batch := range []any{"n", 4} {
		c, err := decode.New(sig(t, tensor.Float32, []any{batch, 2, 3, 5}, batch, 3), decode.InputSpec{},
			decode.OutputSpec{Space: space.KindScores, Decode: "raw"})
		if err != nil {
			t.Fatal(err)
		}
		var buf []tensor.Named
		for n := 1; n < 4; n++ {
			var batch []space.Value
			for i := range n {
				m := space.NewImage(2, 3, 5)
				for k := range m.Pix {
					m.Pix[k] = float64(100*i + k)
				}
				batch = append(batch, m)
			}
			want, err := c.Encode(batch, nil)
			if err != nil {
				t.Fatal(err)
			}
			buf, err = decode.Lay(c, n, space.NewImage(2, 3, 5), buf, func(i int, dst []float32) {
				for k, v := range batch[i].Numbers() {
					dst[k] = float32(v)
				}
			})
			if err != nil || !bytes.Equal(buf[0].Raw, want[0].Raw) || !slices.Equal(buf[0].Shape, want[0].Shape) {
				t.Errorf("%d of %v: other bytes, %v", n, batch, err)
			}
		}
		none := func(int, []float32) { t.Error("laid out") }
		if _, err := decode.Lay(c, 1, space.NewImage(2, 4, 5), nil, none); err == nil {
			t.Error("a picture of another size is taken")
		}
		if _, err := decode.Lay(c, 1, &space.Scores{}, nil, none); err == nil {
			t.Error("scores are taken")
		}
	}
}

// Codecs that differ in anything that decides the bytes are not alike.
func TestAlike(t *testing.T) {
	made := func(d tensor.DType, axes []any, in decode.InputSpec) decode.Codec {
		t.Helper()
		c, err := decode.New(sig(t, d, axes, "n", 3), in, decode.OutputSpec{Space: space.KindScores, Decode: "raw"})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one := made(tensor.Float32, []any{"n", 3, 4, 4}, decode.InputSpec{Scale: 255})
	if !decode.Alike(one, made(tensor.Float32, []any{"n", 3, 4, 4}, decode.InputSpec{Scale: 255})) {
		t.Error("the same codec is not alike")
	}
	for name, c := range map[string]decode.Codec{
		"scale":    made(tensor.Float32, []any{"n", 3, 4, 4}, decode.InputSpec{Scale: 256}),
		"mean":     made(tensor.Float32, []any{"n", 3, 4, 4}, decode.InputSpec{Scale: 255, Mean: []float64{1e-9}}),
		"channels": made(tensor.Float32, []any{"n", 3, 4, 4}, decode.InputSpec{Scale: 255, Channels: "bgr"}),
		"layout":   made(tensor.Float32, []any{"n", 4, 4, 3}, decode.InputSpec{Scale: 255}),
		"type":     made(tensor.Float16, []any{"n", 3, 4, 4}, decode.InputSpec{Scale: 255}),
		"batch":    made(tensor.Float32, []any{2, 3, 4, 4}, decode.InputSpec{Scale: 255}),
		"another":  nil,
	} {
		if decode.Alike(one, c) || decode.Alike(c, one) {
			t.Errorf("%s: alike", name)
		}
	}
}

// What depends on more than one pixel, or on the frame, is not scaled ahead.
func TestNotAhead(t *testing.T) {
	for name, c := range map[string]struct {
		in    decode.InputSpec
		dtype tensor.DType
	}{
		"grey":  {decode.InputSpec{Scale: 255, Channels: "grey", Sample: []int{3, 4, 5}}, tensor.Float32},
		"bytes": {decode.InputSpec{Scale: 1, Sample: []int{1, 4, 5}}, tensor.Uint8},
	} {
		codec, err := decode.New(sig(t, c.dtype, []any{"n", 1, 4, 5}, "n", 3), c.in,
			decode.OutputSpec{Space: space.KindScores, Decode: "raw"})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := decode.Ahead(codec); ok {
			t.Errorf("%s: scaled ahead", name)
		}
	}
}
