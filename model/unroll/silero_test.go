package unroll_test

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/internal/outside"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/unroll"
)

// silero is the folder that examples/silero/fetch fills; the test is skipped where nothing was fetched.
func silero(t *testing.T) string {
	t.Helper()
	return outside.Folder(t, outside.Silero, "silero_vad.onnx")
}

// wav reads the samples of a 16-bit PCM file of one channel.
func wav(t *testing.T, path string) []float32 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 12; at+8 <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at+4:]))
		if string(b[at:at+4]) == "data" {
			b = b[at+8 : min(len(b), at+8+n)]
			break
		}
		at += 8 + n + n%2
	}
	x := make([]float32, len(b)/2)
	for i := range x {
		x[i] = float32(int16(binary.LittleEndian.Uint16(b[2*i:]))) / 32768
	}
	return x
}

// TestSilero runs a voice activity detector that others trained over whole recordings: speech is found, and silence in
// front of a recording changes the first frames, while the state warms up, and hardly any later.
func TestSilero(t *testing.T) {
	dir := silero(t)
	m, err := onnx.Read(filepath.Join(dir, "silero_vad.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	const frame = 512
	u, err := unroll.New(m.Signature(), unroll.Spec{
		Frame: frame, Context: 64,
		States: []unroll.State{{In: "state", Out: "stateN", Shape: []int{2, 1, 128}}},
		Feed:   []unroll.Feed{{In: "sr", Value: []float64{16000}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := anEngine()
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	s, err := u.Engine(e).Open(t.Context(), b, engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	run := func(x ...[]float32) [][]float32 {
		t.Helper()
		all := tensor.FromFloat32(slices.Concat(x...), len(x), len(x[0]))
		out, err := s.Run(context.Background(), []tensor.Named{{Name: "input", Tensor: all}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := out[0].Float32s()
		if err != nil {
			t.Fatal(err)
		}
		k := u.Frames(len(x[0]))
		if !slices.Equal(out[0].Shape, []int{len(x), k}) {
			t.Fatalf("shape %v", out[0].Shape)
		}
		rows := make([][]float32, len(x))
		for i := range rows {
			rows[i] = v[i*k : (i+1)*k]
		}
		return rows
	}
	files, err := filepath.Glob(filepath.Join(dir, "speech", "*.wav"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d recordings (%v)", len(files), err)
	}
	change := make([][]float64, 64) // per frame of the recording
	for _, f := range files {
		x := wav(t, f)
		plain := run(x)[0]
		speech := 0
		for _, p := range plain {
			if p > 0.5 {
				speech++
			}
		}
		share := float64(speech) / float64(len(plain))
		t.Logf("%s: %d frames, %.0f %% speech", filepath.Base(f), len(plain), 100*share)
		if share < 0.3 {
			t.Errorf("%s: speech in %.0f %% of the frames", f, 100*share)
		}
		for _, lead := range []int{1, 4, 16} {
			moved := run(slices.Concat(make([]float32, lead*frame), x))[0][lead:]
			for k := range min(len(change), len(plain)) {
				change[k] = append(change[k], math.Abs(float64(moved[k]-plain[k])))
			}
		}
		// In a batch every signal is by itself.
		both := run(x, make([]float32, len(x)))
		for k, p := range plain {
			if d := math.Abs(float64(both[0][k] - p)); !(d < 1e-5) {
				t.Fatalf("%s: frame %d is %g alone and %g in a batch", f, k, p, both[0][k])
			}
		}
	}
	over := func(from, to int) (largest, median float64) {
		v := slices.Concat(change[from:to]...)
		slices.Sort(v)
		return v[len(v)-1], v[len(v)/2]
	}
	for _, r := range [][2]int{{0, 4}, {4, 8}, {8, 12}, {12, 16}, {16, 32}, {32, 64}} {
		l, m := over(r[0], r[1])
		t.Logf("frames %d to %d: changed by leading silence by up to %.4f, median %.5f", r[0], r[1]-1, l, m)
	}
	early, typical := over(0, 10)
	late, rest := over(16, 64)
	if !(early > 0.3 && late < 0.8*early && rest < typical/10) {
		t.Errorf("silence changes the first ten frames by up to %g (median %g) and those after sixteen by up to %g "+
			"(median %g)", early, typical, late, rest)
	}
}
