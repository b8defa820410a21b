package siege

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"nero/cli"
	"nero/data/tensor"
	"nero/model/engine/remote/remotetest"
	"nero/model/onnx"
)

// patience is how long something may take by the clock on a machine that is busy with other things: what is still under
// way then does not end.
const patience = 5 * time.Minute

// mostFailed is how many draws may fail before a campaign ends: a fault that everything has is told often enough.
const mostFailed = 10

// plan calls draw for each draw of a campaign, with its number and its own random numbers, and says how many there
// were. Few is how many an ordinary test makes.
func plan(t *testing.T, few int, draw func(t *testing.T, n int, r *rand.Rand)) {
	t.Helper()
	number := func(name string, otherwise int) int {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			t.Fatalf("%s is %q, want a number", name, text)
		}
		return n
	}
	draws, seed, only := number("NERO_SIEGE", few), number("NERO_SIEGE_SEED", 1), number("NERO_SIEGE_ONLY", -1)
	var budget time.Duration
	if text := os.Getenv("NERO_SIEGE_TIME"); text != "" {
		var err error
		if budget, err = time.ParseDuration(text); err != nil {
			t.Fatalf("NERO_SIEGE_TIME: %v", err)
		}
	}
	h := fnv.New64a()
	h.Write([]byte(t.Name()))
	begin, done, failed := time.Now(), 0, 0
	for n := range draws {
		if only >= 0 && n != only {
			continue
		}
		if budget > 0 && time.Since(begin) > budget {
			break
		}
		done++
		if t.Run(strconv.Itoa(n), func(t *testing.T) {
			draw(t, n, rand.New(rand.NewPCG(uint64(seed), h.Sum64()^uint64(n)*0x9e3779b97f4a7c15)))
		}) {
			continue
		}
		t.Logf("draw %d failed; NERO_SIEGE_ONLY=%[1]d NERO_SIEGE_SEED=%[2]d repeats it", n, seed)
		if failed++; failed == mostFailed {
			t.Logf("%d draws have failed, the others are left out", failed)
			break
		}
	}
	took := time.Since(begin).Round(time.Second)
	t.Logf("%d of %d draws of seed %d in %v, %d failed", done, draws, seed, took, failed)
}

// answer is what a command said.
type answer struct {
	code     int
	out, err string
}

// said is what a program prints, to be read while it runs.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps b.
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

// String is all of it so far.
func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// nero runs one command of the program in this process.
func nero(t *testing.T, args ...string) answer {
	t.Helper()
	var out, said bytes.Buffer
	a := &cli.App{Out: &out, Err: &said, Version: "siege", Stop: make(chan struct{})}
	code := a.Run(context.WithoutCancel(t.Context()), args)
	return answer{code, out.String(), said.String()}
}

// must is a command that ends well.
func must(t *testing.T, args ...string) answer {
	t.Helper()
	a := nero(t, args...)
	if a.code != 0 {
		t.Fatalf("nero %q: exit code %d\n%s", args, a.code, a.err)
	}
	return a
}

// side is that of the pictures.
const side = 4

// toy is a classifier of three classes that looks at three pixels: no engine is needed.
type toy struct{}

func (toy) Describe(context.Context, string) (onnx.Signature, string, error) {
	port := func(name string, shape ...int) []onnx.Port {
		p := onnx.Port{Name: name, Kind: "tensor", DType: tensor.Float32, Shape: []onnx.Dim{{Size: -1}}, Ranked: true}
		for _, n := range shape {
			p.Shape = append(p.Shape, onnx.Dim{Size: n})
		}
		return []onnx.Port{p}
	}
	return onnx.Signature{Inputs: port("x", 1, side, side), Outputs: port("y", 3)}, "toy", nil
}

func (toy) Infer(_ context.Context, _ string, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	n := in[0].Shape[0]
	var y []float32
	for i := range n {
		p := x[i*len(x)/n:]
		y = append(y, p[0]/100, p[side]/90, p[side+1]/110)
	}
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(y, n, 3)}}, nil
}

// serve serves a model and returns its address.
func serve(t *testing.T, model remotetest.Backend) string {
	t.Helper()
	s, err := remotetest.Start(model, remotetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.URL("http", "m")
}

// pictures makes a folder of labelled pictures.
func pictures(t *testing.T, dir string, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 5))
	for k := range n {
		m := image.NewGray(image.Rect(0, 0, side, side))
		for i := range side * side {
			m.SetGray(i%side, i/side, color.Gray{Y: uint8(r.IntN(256))})
		}
		var b bytes.Buffer
		name := filepath.Join(dir, strconv.Itoa(k%3), strconv.Itoa(k)+".png")
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), png.Encode(&b, m)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tree is every file below a folder, by path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(name)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// plant makes a folder hold exactly these files.
func plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// alike says in which files two trees differ.
func alike(a, b map[string]string) []string {
	var d []string
	for name := range maps.Keys(a) {
		if text, ok := b[name]; !ok || text != a[name] {
			d = append(d, name)
		}
	}
	for name := range maps.Keys(b) {
		if _, ok := a[name]; !ok {
			d = append(d, name+" (too many)")
		}
	}
	slices.Sort(d)
	return d
}
