package decode_test

import (
	"bytes"
	"math"
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
	})
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
