package app_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nero/app"
	"nero/data/tensor"
	"nero/model/engine/choose/choosetest"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/run/job"
)

// TestEngineProcess is no test: it is the process of an engine, where [itself] has started it.
func TestEngineProcess(*testing.T) {
	if app.EngineAsked() {
		os.Exit(app.RunEngine())
	}
}

// itself starts this program as the process of an engine.
func itself() *exec.Cmd { return exec.Command(os.Args[0], "-test.run=^TestEngineProcess$") }

// brittle writes a model of 1 x 8 x 8 pictures that answers ten scores, as long as the picture has a pixel that is not
// black: then comes what a library leaves to the processor, or a value of 64 GB.
func brittle(t *testing.T, file, how string) {
	t.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, 8, 8)
	lit := b.Op("Sign", []string{b.Op("ReduceSum", []string{x}, onnx.AttrInt("keepdims", 0))})
	black := b.Op("Sub", []string{b.Ints(1), b.Op("Cast", []string{lit}, onnx.AttrInt("to", 7))}) // 1 or 0
	switch how {
	case "divides":
		low := b.Op("Mul", []string{black, b.Ints(math.MinInt64)})
		sum := b.Op("Cast", []string{b.Op("Mod", []string{low, b.Ints(-1)})}, onnx.AttrInt("to", 1))
		x = b.Op("Add", []string{x, sum})
	case "fills":
		n := b.Op("Reshape", []string{b.Op("Mul", []string{black, b.Ints(1 << 34)}), b.Ints(1)})
		x = b.Op("Add", []string{x, b.Op("ReduceSum", []string{b.Op("ConstantOfShape", []string{n})})})
	}
	w := make([]float32, 640)
	for i := range w {
		w[i] = float32(math.Sin(float64(i)))
	}
	y := "y"
	b.Graph().Node = append(b.Graph().Node, &onnxpb.NodeProto{
		OpType: new("MatMul"), Input: []string{
			b.Op("Flatten", []string{x}), b.Const(tensor.FromFloat32(w, 64, 10)),
		}, Output: []string{y},
	})
	b.Output(y, tensor.Float32, "N", 10)
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A model that crashes its library, or asks for all memory, costs a visitor one answer: the server goes on, and other
// models, and the same model at other elements, answer.
func TestServeOutlivesItsModels(t *testing.T) {
	host := choosetest.Host()
	if host.Library == "none" {
		t.Skip("NERO_ORT_LIB names no library")
	}
	dir := t.TempDir()
	idx := binary.BigEndian.AppendUint32(nil, 0x803)
	for _, n := range []uint32{1, 8, 8} {
		idx = binary.BigEndian.AppendUint32(idx, n)
	}
	idx = append(idx, 255) // one pixel in a corner, which turns by 45 degrees move out of the picture
	idx = append(idx, make([]byte, 63)...)
	data := filepath.Join(dir, "one-images-idx3-ubyte")
	if err := os.WriteFile(data, idx, 0o600); err != nil {
		t.Fatal(err)
	}
	urls := make(chan string, 1)
	a := &app.App{Host: &host, Now: time.Now, Process: itself}
	kinds := []string{"divides", "fills", "sound"}
	for _, how := range kinds {
		file := filepath.Join(dir, how+".onnx")
		brittle(t, file, how)
		s := &job.Study{
			Version: 1, Models: []job.Model{{Name: how, ONNX: file}},
			Data:   job.Data{Format: "idx", Images: data},
			Group:  job.Group{Name: "SO(2)", Orbit: job.Orbit{Values: [][]float64{{0}, {90}}}},
			Output: job.Output{Action: "invariant"},
		}
		o := app.RunOptions{Dir: filepath.Join(dir, "runs", how), Workers: 1, Engine: app.Engine{Isolate: true}}
		if _, err := a.Run(t.Context(), s, o); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- a.Serve(ctx, []string{filepath.Join(dir, "runs")}, app.ServeOptions{
			Workers: 2, Engine: app.Engine{Memory: 1 << 30, TimeLimit: time.Minute},
			Ready: func(s *app.Serving) { urls <- s.URLs[0] },
		})
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	var at string
	select {
	case at = <-urls:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	ask := func(how string, angle float64) (int, string) {
		t.Helper()
		url := fmt.Sprintf("%sapi/v1/runs/%s/samples/0/probe?g=%g&models=0&seq=1", at, how, angle)
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close() //nolint:errcheck // read below
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(b)
	}
	for range 2 {
		for how, want := range map[string]string{"divides": "SIGFPE", "fills": "memory"} {
			if code, text := ask(how, 45); code < 400 || !strings.Contains(text, want) {
				t.Errorf("%s: %d %.300q, want an error with %q", how, code, text, want)
			}
			for _, other := range []string{how, "sound"} {
				if code, text := ask(other, 10); code != http.StatusOK {
					t.Errorf("%s after %s: %d %.300q", other, how, code, text)
				}
			}
		}
	}
}
