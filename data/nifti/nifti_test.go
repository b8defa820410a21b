package nifti

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// file is a file of testdata, which nibabel wrote; see testdata/make.py.
func file(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/" + name + ".nii")
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// whole reads head and numbers.
func whole(b []byte) (Head, []float64, error) {
	h, err := ReadHead(b[:min(len(b), HeadBytes)], int64(len(b)))
	if err != nil {
		return h, nil, err
	}
	x, err := h.Numbers(b[h.Offset() : h.Offset()+h.Bytes()])
	return h, x, err
}

// TestFiles: the array of the files is numpy.arange(24) of shape (2, 3, 4), so that the number at i, j, k is 12i + 4j +
// k.
func TestFiles(t *testing.T) {
	plain := func(i, j, k, _ int) float64 { return float64(12*i + 4*j + k) }
	cube := [3]float64{2, 2, 2}
	for name, c := range map[string]struct {
		from    string
		left    bool
		spacing [3]float64
		shape   [4]int
		at      func(i, j, k, c int) float64
	}{
		"uint8": {}, "int16": {}, "int32": {}, "float32": {}, "float64": {}, "int8": {}, "uint16": {}, "uint32": {},
		"int64": {}, "uint64": {}, "big": {},
		"qform":   {from: "qform", spacing: [3]float64{1.5, 1.5, 1.5}},
		"neither": {from: "pixdim"},
		"left":    {left: true},
		"flat":    {spacing: [3]float64{1, 1, 3}},
		"scaled":  {at: func(i, j, k, _ int) float64 { return plain(i, j, k, 0)/2 + 3 }},
		"channels": {
			shape: [4]int{2, 3, 4, 2},
			at:    func(i, j, k, c int) float64 { return plain(i, j, k, 0) + 100*float64(c) },
		},
	} {
		if c.from == "" {
			c.from = "sform"
		}
		if c.shape == [4]int{} {
			c.shape = [4]int{2, 3, 4, 1}
		}
		if c.spacing == [3]float64{} {
			c.spacing = cube
		}
		if c.at == nil {
			c.at = plain
		}
		b := file(t, name)
		h, x, err := whole(b)
		if err != nil || h.From != c.from || h.LeftHanded != c.left || h.Shape != c.shape || !Is(b) {
			t.Errorf("%s: %v, %+v", name, err, h)
			continue
		}
		for i, want := range c.spacing {
			if math.Abs(h.Spacing[i]-want) > 1e-6 {
				t.Errorf("%s: spacing %v, want %v", name, h.Spacing, c.spacing)
			}
		}
		for n, got := range x {
			i, j, k, ch := n%2, n/2%3, n/6%4, n/24
			if want := c.at(i, j, k, ch); got != want {
				t.Fatalf("%s: number %d is %g, want %g", name, n, got, want)
			}
		}
		for cut := range b {
			if _, _, err := whole(b[:cut]); err == nil {
				t.Fatalf("%s: the first %d of %d bytes are taken for a whole file", name, cut, len(b))
			}
		}
	}
	h, _, err := whole(file(t, "flat"))
	if a := h.Anisotropy(); err != nil || math.Abs(a-3) > 1e-6 {
		t.Errorf("anisotropy %g, %v", a, err)
	}
}

// TestQuaternion holds the map of a qform against the sform that nibabel writes for it.
func TestQuaternion(t *testing.T) {
	h, _, err := whole(file(t, "qform"))
	if err != nil {
		t.Fatal(err)
	}
	s, c := math.Sincos(0.4)
	want := [3][4]float64{{1.5 * c, -1.5 * s, 0, 10}, {1.5 * s, 1.5 * c, 0, -20}, {0, 0, 1.5, 30}}
	for i := range 3 {
		for j := range 4 {
			if math.Abs(h.Affine[i][j]-want[i][j]) > 1e-5 {
				t.Errorf("affine %v, want %v", h.Affine, want)
			}
		}
	}
}

func TestBadFiles(t *testing.T) {
	le := binary.LittleEndian
	float := func(at int, x float32) func(b []byte) {
		return func(b []byte) { le.PutUint32(b[at:], math.Float32bits(x)) }
	}
	short := func(at int, x int16) func(b []byte) { return func(b []byte) { le.PutUint16(b[at:], uint16(x)) } }
	for _, c := range []struct {
		name   string
		damage func(b []byte)
		want   string
	}{
		{"sheared", nil, "its sform is sheared: the axes 2 and 3 meet at"},
		{"two", nil, "is NIfTI-2, want NIfTI-1"},
		{"int16", func(b []byte) { copy(b, "RIFF") }, "starts with bytes 52 49 46 46"},
		{"int16", func(b []byte) { copy(b[344:], "ni1") }, "pair .hdr and .img"},
		{"int16", func(b []byte) { copy(b[344:], "\x00\x00\x00\x00") }, "perhaps Analyze"},
		{"int16", short(40, 2), "has 2 axes"},
		{"int16", short(40, 99), "claims 99 axes"},
		{"int16", short(44, -3), "axis 2 has the length -3"},
		{"int16", short(42, 32767), "claims 32767 x 3 x 4 x 1 numbers of type int16"},
		{"int16", func(b []byte) {
			for i := range 3 {
				le.PutUint16(b[42+2*i:], 32767)
			}
		}, "want at most"},
		{
			"channels", func(b []byte) { le.PutUint16(b[40:], 5); le.PutUint16(b[50:], 3) },
			"more than one axis beyond space",
		},
		{"int16", short(70, 128), "RGB colors"},
		{"int16", short(70, 77), "type 77 is not known"},
		{"int16", short(72, 8), "claims 8 bits"},
		{"int16", float(108, 12), "the numbers begin at byte 12"},
		{"int16", float(108, float32(math.NaN())), "the numbers begin at byte NaN"},
		{"scaled", float(116, float32(math.Inf(1))), "scl_inter is +Inf"},
		{"int16", float(280, 0), "gives voxels the length 0"},
		{"int16", float(284, float32(math.NaN())), "has a number that is NaN"},
		{"qform", float(256, 3), "is longer than 1"},
	} {
		b := slices.Clone(file(t, c.name))
		if c.damage != nil {
			c.damage(b)
		}
		if _, _, err := whole(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"int16", "big", "qform", "scaled", "channels", "left", "sheared", "two", "float64"} {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, x, err := whole(b)
		if err != nil {
			return
		}
		if len(x) != h.Shape[0]*h.Shape[1]*h.Shape[2]*h.Shape[3] || len(x) > len(b) {
			t.Errorf("%d numbers of %d bytes, shape %v", len(x), len(b), h.Shape)
		}
		for _, s := range h.Spacing {
			if !(s > 0) || !(h.Anisotropy() >= 1) {
				t.Errorf("spacing %v", h.Spacing)
			}
		}
	})
}
