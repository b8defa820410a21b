package remote_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/internal/outside"
	"nero/model/engine"
	"nero/model/engine/enginetest"
	"nero/model/engine/remote"
	"nero/model/engine/remote/remotetest"
)

// mlserver is the Python environment that .ci/mlserver made; the test is skipped where none is named.
func mlserver(t *testing.T) string {
	t.Helper()
	venv := outside.Folder(t, outside.MLServer, "installed")
	return filepath.Join(venv, "bin")
}

// lock keeps a program's output while it runs.
type lock struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lock) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lock) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs MLServer on a folder of models until the test ends.
func start(t *testing.T, bin, folder string) (endpoints map[string]string) {
	t.Helper()
	ports := make([]int, 3)
	for i := range ports {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()        // the port was all that it was for; held until all are chosen
		ports[i] = l.Addr().(*net.TCPAddr).Port //nolint:errcheck // the address of a TCP listener is one
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(bin, "mlserver"), "start", folder)
	cmd.Env = append(os.Environ(), "MLSERVER_HOST=127.0.0.1", fmt.Sprintf("MLSERVER_HTTP_PORT=%d", ports[0]),
		fmt.Sprintf("MLSERVER_GRPC_PORT=%d", ports[1]),
		fmt.Sprintf("MLSERVER_METRICS_PORT=%d", ports[2]), "MLSERVER_PARALLEL_WORKERS=0",
		"MLSERVER_GRPC_MAX_MESSAGE_LENGTH=104857600", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var log lock
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // its exit code says that it was stopped
		timer.Stop()
		if t.Failed() {
			t.Logf("MLServer said:\n%s", log.String())
		}
	})
	return map[string]string{
		"grpc": fmt.Sprintf("grpc://127.0.0.1:%d/", ports[1]),
		"http": fmt.Sprintf("http://127.0.0.1:%d/", ports[0]),
	}
}

// copyTo copies a file.
func copyTo(t *testing.T, folder string, files ...string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// python runs a program of the environment and returns what it prints.
func python(t *testing.T, bin string, stdin io.Reader, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "python"), args...)
	cmd.Stdin = stdin
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return out
}

const (
	examples = "../../../python/examples/mlserver"
	digits   = "../../../studies/digits/models/digits-original.onnx"
)

// TestMLServer holds the client against a server that others wrote: an ONNX file by ONNX Runtime, a scikit-learn forest
// and OpenCV's optical flow, over gRPC and HTTP.
func TestMLServer(t *testing.T) {
	bin := mlserver(t)
	if testing.Short() {
		t.Skip("MLServer takes seconds to start")
	}
	folder := t.TempDir()
	copyTo(t, filepath.Join(folder, "farneback"), examples+"/farneback/model-settings.json",
		examples+"/farneback/runtime.py")
	copyTo(t, filepath.Join(folder, "digits"), examples+"/digits/model-settings.json", examples+"/digits/runtime.py",
		digits)
	if err := os.Rename(filepath.Join(folder, "digits", filepath.Base(digits)),
		filepath.Join(folder, "digits", "model.onnx")); err != nil {
		t.Fatal(err)
	}
	copyTo(t, filepath.Join(folder, "forest"), examples+"/forest/model-settings.json")
	python(t, bin, nil, examples+"/forest/train.py", filepath.Join(folder, "forest"))
	at := start(t, bin, folder)
	connect := func(t *testing.T, scheme, model string) *remote.Model {
		t.Helper()
		m, err := remote.Connect(t.Context(), remote.Config{
			// it is starting
			URL: at[scheme] + model, Retry: remote.Retry{
				Attempts: 300, Base: 100 * time.Millisecond,
				Max: 200 * time.Millisecond,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		return m
	}
	for _, scheme := range schemes {
		t.Run("digits/"+scheme, func(t *testing.T) {
			b, err := os.ReadFile(digits)
			if err != nil {
				t.Fatal(err)
			}
			s, err := body(t).Open(t.Context(), b, engine.Options{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }() // only run
			m := connect(t, scheme, "digits")
			if got, want := m.Inputs(), s.Inputs(); got[0] != want[0] {
				t.Fatalf("inputs %q, the file has %q", got, want)
			}
			x := pictures(5, 1, 28, 28)
			in := []tensor.Named{{Name: m.Inputs()[0], Tensor: x}}
			want, err := s.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				got, err := m.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if err := enginetest.Compare(got, want, enginetest.Floor); err != nil {
					t.Error(err)
				}
			}
			if told := len(m.Notes()) == 1; told != (scheme == "http") { // MLServer knows JSON alone
				t.Errorf("notes %q", m.Notes())
			}
		})
		t.Run("forest/"+scheme, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(folder, "forest", "check.json"))
			if err != nil {
				t.Fatal(err)
			}
			var check struct {
				X       [][]float64 `json:"x"`
				Proba   [][]float64 `json:"predict_proba"`
				Predict []int64     `json:"predict"`
			}
			if err := json.Unmarshal(b, &check); err != nil {
				t.Fatal(err)
			}
			m := connect(t, scheme, "forest")
			got, err := m.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: doubles(check.X)}})
			if err != nil {
				t.Fatal(err)
			}
			want := []tensor.Named{
				{Name: "predict_proba", Tensor: doubles(check.Proba)},
				{Name: "predict", Tensor: tensor.FromInt64(check.Predict, len(check.Predict), 1)},
			}
			if err := enginetest.Compare(got, want, 0); err != nil {
				t.Error(err)
			}
		})
		t.Run("farneback/"+scheme, func(t *testing.T) {
			m := connect(t, scheme, "farneback")
			x := pictures(3, 2, 48, 64)
			got, err := m.Run(t.Context(), []tensor.Named{{Name: "pair", Tensor: x}})
			if err != nil {
				t.Fatal(err)
			}
			// The same method, called without a server.
			want := tensor.Tensor{
				DType: tensor.Float32, Shape: x.Shape,
				Raw: python(t, bin, bytes.NewReader(x.Raw), "-c", `
import sys, cv2, numpy as np
cv2.setNumThreads(1)
x = np.frombuffer(sys.stdin.buffer.read(), "<f4").reshape(3, 2, 48, 64)
y = [np.moveaxis(cv2.calcOpticalFlowFarneback(a, b, None, 0.5, 3, 15, 3, 5, 1.2, 0), -1, 0) for a, b in x]
sys.stdout.buffer.write(np.ascontiguousarray(y, "<f4").tobytes())`),
			}
			if err := enginetest.Compare(got, []tensor.Named{{Name: "field", Tensor: want}}, 0); err != nil {
				t.Error(err)
			}
			if _, err := m.Run(t.Context(),
				[]tensor.Named{{Name: "pair", Tensor: pictures(1, 3, 48, 64)}}); err == nil ||
				!strings.Contains(err.Error(), "in shape [1 3 48 64], the server expects [? 2 ? ?]") {
				t.Errorf("three frames: %v", err)
			}
		})
		t.Run("messages/"+scheme, func(t *testing.T) {
			if _, err := remote.Connect(t.Context(), remote.Config{URL: at[scheme] + "gone"}); err == nil ||
				!strings.Contains(err.Error(), `no model "gone"`) {
				t.Errorf("a model that is not there: %v", err)
			}
			// What the runtime dislikes comes back as its own words.
			m := connect(t, scheme, "farneback")
			_, err := m.Run(t.Context(), []tensor.Named{{Name: "pair", Tensor: tensor.New(tensor.Float32, 1, 2, 0, 0)}})
			if err == nil || strings.Contains(err.Error(), "tried") {
				t.Errorf("pictures without pixels: %v", err)
			}
		})
		t.Run("proxy/"+scheme, func(t *testing.T) {
			p, err := remotetest.Start(remotetest.Behind{Model: connect(t, scheme, "digits")}, remotetest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = p.Close() }() // all is checked by then
			outer, err := remote.Connect(t.Context(), remote.Config{URL: p.URL(scheme, "digits")})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = outer.Close() }() // all is checked by then
			in := []tensor.Named{{Name: outer.Inputs()[0], Tensor: pictures(2, 1, 28, 28)}}
			want, err := outer.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			p.Break(remotetest.Faults{Busy: 1, Cut: 1})
			got, err := outer.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if err := enginetest.Compare(got, want, 0); err != nil {
				t.Error(err)
			}
			p.Break(remotetest.Faults{Half: true})
			if _, err := outer.Run(t.Context(), in); err == nil || !strings.Contains(err.Error(), "half an answer") {
				t.Errorf("half an answer: %v", err)
			}
		})
	}
}

// pictures are smooth patterns that differ from each other, of intensities from 0 to 255.
func pictures(shape ...int) tensor.Tensor {
	v := make([]float32, tensor.Count(shape))
	w := shape[len(shape)-1]
	for i := range v {
		v[i] = float32((i*i/7 + 13*(i%w) + i/w*29) % 256)
	}
	return tensor.FromFloat32(v, shape...)
}

// doubles makes a matrix of float64.
func doubles(rows [][]float64) tensor.Tensor {
	t := tensor.New(tensor.Float64, len(rows), len(rows[0]))
	var b bytes.Buffer
	for _, row := range rows {
		for _, x := range row {
			b.Write(littleEndian(x))
		}
	}
	copy(t.Raw, b.Bytes())
	return t
}

func littleEndian(x float64) []byte {
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
}
