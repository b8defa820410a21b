package main

import (
	"encoding/binary"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"

	"nero/data/dataset"
	"nero/data/particle"
	"nero/data/space"
)

func reference(t *testing.T, i int) (frames [2][]byte, u, v []float64) {
	t.Helper()
	spec := particle.Default(3, 9)
	spec.Height, spec.Width, spec.Kinds = 32, 32, []particle.Kind{particle.KindSQG, particle.KindStep}
	set, err := particle.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, frames, f, err := pair(set, i)
	if err != nil {
		t.Fatal(err)
	}
	return frames, f.U(), f.V()
}

func TestNPZ(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "er")
	if err := run([]string{"-o", dir, "-n", "3", "-seed", "9", "-size", "32", "-kinds", "sqg, step"},
		io.Discard); err != nil {
		t.Fatal(err)
	}
	r, err := npz.Open(filepath.Join(dir, "pairs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, want := range map[string][]int{"frames": {3, 2, 32, 32}, "flow": {3, 2, 32, 32}, "kind": {3}} {
		if got := r.Header(name + ".npy"); got == nil || !slices.Equal(got.Descr.Shape, want) || got.Descr.Fortran {
			t.Fatalf("%s: %+v, want %v", name, got, want)
		}
	}
	var pics, kind []uint8
	var flow []float32
	for name, into := range map[string]any{"frames.npy": &pics, "flow.npy": &flow, "kind.npy": &kind} {
		if err := r.Read(name, into); err != nil {
			t.Fatal(name, err)
		}
	}
	if !slices.Equal(kind, []uint8{0, 1, 0}) {
		t.Errorf("kinds %v", kind)
	}
	for i := range 3 {
		frames, u, v := reference(t, i)
		if !slices.Equal(pics[i*2048:(i+1)*2048], append(slices.Clone(frames[0]), frames[1]...)) {
			t.Errorf("pair %d is another one in the file", i)
		}
		for k := range 1024 {
			if flow[i*2048+k] != float32(u[k]) || flow[i*2048+1024+k] != float32(v[k]) {
				t.Fatalf("pair %d, pixel %d: (%g, %g), want (%g, %g)", i, k, flow[i*2048+k], flow[i*2048+1024+k], u[k],
					v[k])
			}
		}
	}
}

func TestPNG(t *testing.T) {
	dir := t.TempDir()
	if err := run([]string{"-o", dir, "-n", "3", "-seed", "9", "-size", "32", "-kinds", "sqg,step", "-format", "png"},
		io.Discard); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 9 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for i, id := range []string{"sqg-000000", "step-000001", "sqg-000002"} {
		frames, u, v := reference(t, i)
		for k := range 2 {
			f, err := os.Open(filepath.Join(dir, id+"_"+string('1'+rune(k))+".png"))
			if err != nil {
				t.Fatal(err)
			}
			m, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if g, ok := m.(*image.Gray); !ok || !slices.Equal(g.Pix, frames[k]) {
				t.Errorf("%s: frame %d is another picture in the file", id, k)
			}
		}
		b, err := os.ReadFile(filepath.Join(dir, id+".flo"))
		if err != nil {
			t.Fatal(err)
		}
		le := binary.LittleEndian
		// 202021.25 is what Middlebury's readers look for.
		if len(b) != 12+8*1024 || math.Float32frombits(le.Uint32(b)) != 202021.25 || le.Uint32(b[4:]) != 32 ||
			le.Uint32(b[8:]) != 32 {
			t.Fatalf("%s.flo: %d bytes, begins with % x", id, len(b), b[:12])
		}
		for k := range 1024 {
			gu, gv := math.Float32frombits(le.Uint32(b[12+8*k:])), math.Float32frombits(le.Uint32(b[16+8*k:]))
			if gu != float32(u[k]) || gv != float32(v[k]) {
				t.Fatalf("%s.flo, pixel %d: (%g, %g), want (%g, %g)", id, k, gu, gv, u[k], v[k])
			}
		}
	}
}

// TestWrittenPairsOpen reads both forms back as a data set: a pair must come with its frames in order and its own
// field.
func TestWrittenPairsOpen(t *testing.T) {
	for _, format := range []string{"npz", "png"} {
		dir := t.TempDir()
		if err := run([]string{
			"-o", dir, "-n", "3", "-seed", "9", "-size", "32", "-kinds", "sqg,step", "-format",
			format,
		}, io.Discard); err != nil {
			t.Fatal(err)
		}
		spec := dataset.Spec{Format: "pairs", Images: dir}
		order := []int{0, 2, 1} // by name: sqg-000000, sqg-000002, step-000001
		if format == "npz" {
			spec.Images, order = filepath.Join(dir, "pairs.npz"), []int{0, 1, 2}
		}
		ds, err := dataset.Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		if ds.Len() != 3 {
			t.Fatalf("%s: %d pairs", format, ds.Len())
		}
		for i, k := range order {
			s, err := ds.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			pair, ok := s.Value.(*space.Frames)
			field, ok2 := s.Target.(*space.Field)
			if !ok || !ok2 || len(pair.Images) != 2 {
				t.Fatalf("%s: %s: %T with %T", format, s.ID, s.Value, s.Target)
			}
			frames, u, v := reference(t, k)
			for n, m := range pair.Images {
				if !slices.Equal(grey(m), frames[n]) {
					t.Errorf("%s: %s: frame %d is another picture", format, s.ID, n)
				}
			}
			for n := range u {
				if field.U()[n] != float64(float32(u[n])) || field.V()[n] != float64(float32(v[n])) {
					t.Fatalf("%s: %s: another field at pixel %d", format, s.ID, n)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"", "name one with -o DIR"},
		{"-o " + dir + " more", `argument "more"`},
		{"-o " + dir + " -kinds uniform,waterfall", `flow "waterfall"`},
		{"-o " + dir + " -n 0", "0 pairs: expected 1 to"},
		{"-o " + dir + " -density 3", "density 3: expected 0 to 1"},
		{"-o " + dir + " -format tiff", `format "tiff": expected npz or png`},
		{"-o " + file + " -n 1 -size 16", "file"},
		{"-o " + dir + " -n many", "invalid value"},
	} {
		if err := run(strings.Fields(c.args), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}
