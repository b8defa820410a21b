package remote_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/internal/outside"
	"nero/model/engine/enginetest"
	"nero/model/engine/remote"
)

// bridge serves, by the Python package nero.bridge, what a program serves, and returns the endpoints that it prints.
func bridge(t *testing.T, interpreter string, lines int, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), interpreter, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH=../../../python/src", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var log lock
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // its exit code says that it was killed
		if t.Failed() {
			t.Logf("the bridge said:\n%s", log.String())
		}
	})
	var urls []string
	for s := bufio.NewScanner(out); len(urls) < lines && s.Scan(); {
		url, ok := strings.CutPrefix(s.Text(), "serving ")
		if !ok {
			t.Fatalf("it prints %q", s.Text())
		}
		urls = append(urls, url)
	}
	if len(urls) < lines {
		t.Fatalf("it printed %d endpoints, want %d\n%s", len(urls), lines, log.String())
	}
	return urls
}

// withModule is an interpreter that has some modules.
func withModule(t *testing.T, modules string) string {
	t.Helper()
	for _, p := range filepath.SplitList(outside.Named(t, outside.Python)) {
		if exec.CommandContext(t.Context(), p, "-c", "import "+modules).Run() == nil {
			return p
		}
	}
	t.Fatalf("no Python of %s has %s", outside.Python, modules)
	return ""
}

const echo = `
import numpy as np
from nero.bridge import DATATYPES, Model, Server
ports = {d: (d, [-1, 2]) for d in DATATYPES}
def sick(x): raise RuntimeError("out of order")
with Server([
    Model("echo", lambda *a: a, ports, ports),
    Model("mean", lambda x: x.mean(1), {"x": ("FP32", [-1, 3])}, {"y": ("FP32", [-1])}),
    Model("sick", sick, {"x": ("FP32", [-1, 3])}, {"y": ("FP32", [-1])}),
], port=0, grpc_port=GRPC) as s:
    for u in s.urls(): print("serving", u, flush=True)
    import threading
    threading.Event().wait()
`

// The Python package speaks as this client does: every type, NaN, no samples at all, and its errors are shown.
func TestBridge(t *testing.T) {
	for scheme, modules := range map[string]string{"http": "numpy", "grpc": "numpy, grpc"} {
		t.Run(scheme, func(t *testing.T) {
			code, lines := strings.Replace(echo, "GRPC", "None", 1), 3
			if scheme == "grpc" {
				code, lines = strings.Replace(echo, "GRPC", "0", 1), 6
			}
			urls := bridge(t, withModule(t, modules), lines, "-c", code)
			urls = urls[len(urls)-3:]
			connect := func(i int) *remote.Model {
				t.Helper()
				m, err := remote.Connect(t.Context(), remote.Config{URL: urls[i]})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = m.Close() }) // all is checked by then
				return m
			}
			m := connect(0)
			for _, n := range []int{0, 1, 5} {
				var in, want []tensor.Named
				for i, p := range m.Signature().Inputs {
					x := tensor.New(p.DType, n, 2)
					for j := range x.Raw {
						x.Raw[j] = byte(i + 3*j)
						if p.DType == tensor.Bool {
							x.Raw[j] &= 1
						}
					}
					if p.DType == tensor.Float32 && n > 0 {
						copy(x.Raw, []byte{0, 0, 0xc0, 0x7f}) // NaN
					}
					in, want = append(in, tensor.Named{Name: p.Name, Tensor: x}),
						append(want, tensor.Named{Name: p.Name, Tensor: x})
				}
				got, err := m.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if got[i].Name != want[i].Name || got[i].DType != want[i].DType ||
						string(got[i].Raw) != string(want[i].Raw) {
						t.Errorf("%d of %s: %v, want %v", n, want[i].Name, got[i], want[i])
					}
				}
			}
			if notes := m.Notes(); len(notes) > 0 {
				t.Errorf("notes %q", notes)
			}
			in := []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32([]float32{1, 2, 6, 0, 0, 3}, 2, 3)}}
			got, err := connect(1).Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if err := enginetest.Compare(got,
				[]tensor.Named{{Name: "y", Tensor: tensor.FromFloat32([]float32{3, 1}, 2)}}, 0); err != nil {
				t.Error(err)
			}
			var e *remote.Error
			if _, err := connect(2).Run(t.Context(), in); !errors.As(err, &e) ||
				!strings.Contains(err.Error(), "RuntimeError: out of order") || e.Unavailable() {
				t.Errorf("a function that fails: %v", err)
			}
		})
	}
}

// OpenCV's optical flow finds a shift of a smooth pattern, u along columns and v along rows.
func TestBridgeFarneback(t *testing.T) {
	urls := bridge(t, withModule(t, "numpy, cv2"), 1, "../../../python/examples/farneback.py", "--port", "0")
	m, err := remote.Connect(t.Context(), remote.Config{URL: urls[0], Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }() // all is checked by then
	const h, w = 96, 64
	v := make([]float32, 2*h*w)
	noise := pictures(h/4+3, w/4+3)
	grid, err := noise.Float32s()
	if err != nil {
		t.Fatal(err)
	}
	at := func(x, y float64) float32 { // smooth: bilinear between random values four pixels apart
		i, j := int(y/4), int(x/4)
		a, b := float32(y/4-float64(i)), float32(x/4-float64(j))
		g := func(i, j int) float32 { return grid[i*(w/4+3)+j] }
		return (1-a)*((1-b)*g(i, j)+b*g(i, j+1)) + a*((1-b)*g(i+1, j)+b*g(i+1, j+1))
	}
	for y := range h {
		for x := range w {
			v[y*w+x] = at(float64(x)+4, float64(y)+4)
			v[h*w+y*w+x] = at(float64(x)+2.5, float64(y)+5) // moved by +1.5 along columns, -1 along rows
		}
	}
	got, err := m.Run(t.Context(), []tensor.Named{{Name: "pair", Tensor: tensor.FromFloat32(v, 1, 2, h, w)}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := got[0].Float32s()
	if err != nil {
		t.Fatal(err)
	}
	var sum [2]float64
	n := 0
	for y := 16; y < h-16; y++ {
		for x := 16; x < w-16; x++ {
			sum[0] += float64(f[y*w+x])
			sum[1] += float64(f[h*w+y*w+x])
			n++
		}
	}
	if u, v := sum[0]/float64(n), sum[1]/float64(n); !(u > 1.3 && u < 1.7 && v > -1.2 && v < -0.8) {
		t.Errorf("mean displacement (%.2f, %.2f), want (1.5, -1)", u, v)
	}
}
