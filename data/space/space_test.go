package space

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/tensor"
)

var (
	_ Value = (*Image)(nil)
	_ Value = (*Mask)(nil)
	_ Value = (*Scores)(nil)
	_ Value = (*Tensor)(nil)
)

func drawFloats(t *rapid.T, n int) []float64 {
	return rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "values")
}

// onlyPart is the single part of a value.
func onlyPart(t *rapid.T, v Value, name string, d tensor.DType, shape ...int) tensor.Named {
	p := v.Parts()
	if len(p) != 1 || p[0].Name != name || p[0].DType != d || !slices.Equal(p[0].Shape, shape) {
		t.Fatalf("parts %+v, want %s of %s%v", p, name, d, shape)
	}
	if err := p[0].Check(); err != nil {
		t.Fatal(err)
	}
	return p[0]
}

// sameFloats compares bit by bit, so that NaN equals itself and -0 is not 0.
func sameFloats(t *rapid.T, p tensor.Named, want []float64) {
	for i, w := range want {
		if got := binary.LittleEndian.Uint64(p.Raw[8*i:]); got != math.Float64bits(w) {
			t.Fatalf("element %d is %v, want %v", i, math.Float64frombits(got), w)
		}
	}
	clear(p.Raw)
}

func TestPartsAreCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, h, w := rapid.IntRange(1, 3).Draw(t, "c"), rapid.IntRange(1, 4).Draw(t, "h"),
			rapid.IntRange(1, 4).Draw(t, "w")
		v := drawFloats(t, c*h*w)
		before := slices.Clone(v)

		img := &Image{C: c, H: h, W: w, Pix: v}
		sameFloats(t, onlyPart(t, img, "pixels", tensor.Float64, c, h, w), before)
		ten := &Tensor{Shape: []int{c, h, w}, Val: v}
		p := onlyPart(t, ten, "values", tensor.Float64, c, h, w)
		sameFloats(t, p, before)
		p.Shape[0] = 99
		if ten.Shape[0] != c {
			t.Fatal("the shape is shared")
		}
		sameFloats(t, onlyPart(t, &Scores{Val: v}, "scores", tensor.Float64, c*h*w), before)
		for i := range v {
			if math.Float64bits(v[i]) != math.Float64bits(before[i]) {
				t.Fatal("parts share memory with their value")
			}
		}

		labels := rapid.SliceOfN(rapid.Int32(), h*w, h*w).Draw(t, "labels")
		m := &Mask{H: h, W: w, Label: slices.Clone(labels)}
		p = onlyPart(t, m, "labels", tensor.Int32, h, w)
		for i, l := range labels {
			if got := int32(binary.LittleEndian.Uint32(p.Raw[4*i:])); got != l {
				t.Fatalf("label %d is %d, want %d", i, got, l)
			}
		}
		clear(p.Raw)
		if !slices.Equal(m.Label, labels) {
			t.Fatal("parts share memory with their mask")
		}
	})
}

// Planes tile the pixels in the order of the channels, rows first.
func TestImagePlanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, h, w := rapid.IntRange(1, 4).Draw(t, "c"), rapid.IntRange(1, 5).Draw(t, "h"),
			rapid.IntRange(1, 5).Draw(t, "w")
		m := NewImage(c, h, w)
		if m.C != c || m.H != h || m.W != w || len(m.Pix) != c*h*w ||
			slices.ContainsFunc(m.Pix, func(v float64) bool { return v != 0 }) {
			t.Fatalf("%+v is no image of zeros", m)
		}
		for k := range c {
			p := m.Plane(k)
			if len(p) != h*w {
				t.Fatalf("plane %d has %d pixels, want %d", k, len(p), h*w)
			}
			for r := range h {
				for q := range w {
					p[r*w+q] = float64(100*k + 10*r + q)
				}
			}
		}
		for k := range c {
			for r := range h {
				for q := range w {
					if got := m.Pix[(k*h+r)*w+q]; got != float64(100*k+10*r+q) {
						t.Fatalf("channel %d row %d column %d is %v", k, r, q, got)
					}
				}
			}
		}
	})
}

func TestScoresOutput(t *testing.T) {
	s := &Scores{Val: []float64{0.25, 0.75}}
	if !slices.Equal(s.Output(), s.Val) {
		t.Errorf("output %v, want the values", s.Output())
	}
	s.Raw = []float64{-1, 1}
	if !slices.Equal(s.Output(), s.Raw) {
		t.Errorf("output %v, want the raw numbers", s.Output())
	}
}
