package newcomer

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"nero/app"
	"nero/data/tensor"
	"nero/model/engine/remote/remotetest"
	"nero/model/onnx"
	"nero/run/job"
)

// side is the height and width of the pictures, and pixels how many numbers each has.
const side, pixels = 4, 16

// model is a function behind an endpoint, so that no engine is needed: an input of one axis or more, as many outputs.
type model struct {
	in     []int
	out    int
	answer func(x []float32) []float32
}

func (m model) Describe(context.Context, string) (onnx.Signature, string, error) {
	port := func(name string, shape ...int) []onnx.Port {
		p := onnx.Port{Name: name, Kind: "tensor", DType: tensor.Float32, Shape: []onnx.Dim{{Size: -1}}, Ranked: true}
		for _, n := range shape {
			p.Shape = append(p.Shape, onnx.Dim{Size: n})
		}
		return []onnx.Port{p}
	}
	return onnx.Signature{Inputs: port("x", m.in...), Outputs: port("y", m.out)}, "toy", nil
}

func (m model) Infer(_ context.Context, _ string, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	n := in[0].Shape[0]
	var y []float32
	for i := range n {
		y = append(y, m.answer(x[i*len(x)/n:(i+1)*len(x)/n])...)
	}
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(y, n, m.out)}}, nil
}

// serve serves a model and returns its endpoint.
func serve(t *testing.T, m model) job.Model {
	t.Helper()
	s, err := remotetest.Start(m, remotetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return job.Model{Name: "toy", Endpoint: s.URL("http", "m")}
}

// firstTwo answers the first two pixels, which most motions exchange with others.
func firstTwo() model {
	return model{
		in: []int{1, side, side}, out: 2,
		answer: func(x []float32) []float32 { return []float32{x[0], x[1]} },
	}
}

// gray is pixel i of picture k, of 0 to 255.
func gray(k, i int) uint8 { return uint8(16*i + 3*k*(i%3)) }

// study asks of a model of small pictures whether its scores are invariant.
func study(t *testing.T, of model, group string) *job.Study {
	t.Helper()
	dir := t.TempDir()
	for k := range 3 {
		m := image.NewGray(image.Rect(0, 0, side, side))
		for i := range pixels {
			m.SetGray(i%side, i/side, color.Gray{Y: gray(k, i)})
		}
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(k)+".png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return &job.Study{
		Version: 1, Data: job.Data{Images: dir}, Group: job.Group{Name: group}, Models: []job.Model{serve(t, of)},
		Output:  job.Output{Space: "scores", Decode: "raw", Action: "invariant"},
		Metrics: []string{"absolute"},
	}
}

// run runs a study as the program does.
func run(t *testing.T, a *app.App, s *job.Study) *app.RunResult {
	t.Helper()
	r, err := a.Run(t.Context(), s, app.RunOptions{Dir: filepath.Join(t.TempDir(), "run"), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// near reports whether two numbers are the same but for the rounding of float32.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Max(1, math.Abs(b)) }
