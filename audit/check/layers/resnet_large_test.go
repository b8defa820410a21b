//go:build large

package layers_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"nero/audit"
	"nero/audit/audittest"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/symmetry/action"
)

// resnet is a network of the form of ResNet-50 (He et al. 2016, Deep residual learning, table 1) with random weights:
// 25.5 million parameters, pictures of 224 pixels, 16 bottleneck blocks.
func resnet(tb testing.TB) *onnx.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	r := rand.New(rand.NewPCG(1, 1))
	x, in := b.Input("x", tensor.Float32, "N", 3, 224, 224), 64
	stored := func(scale float64, shape ...int) string {
		v := make([]float32, tensor.Count(shape))
		for i := range v {
			v[i] = float32(scale * r.NormFloat64())
		}
		return b.Const(tensor.FromFloat32(v, shape...))
	}
	conv := func(x string, in, out, k, stride int, gain float64) string {
		p := int64(k / 2)
		return b.Op("Conv", []string{x, stored(gain*math.Sqrt(2/float64(in*k*k)), out, in, k, k), stored(0.1, out)},
			onnx.AttrInts("pads", p, p, p, p), onnx.AttrInts("strides", int64(stride), int64(stride)),
			onnx.AttrInts("kernel_shape", int64(k), int64(k)))
	}
	x = b.Op("Relu", []string{conv(x, 3, 64, 7, 2, 1)})
	x = b.Op("MaxPool", []string{x}, onnx.AttrInts("kernel_shape", 3, 3), onnx.AttrInts("strides", 2, 2),
		onnx.AttrInts("pads", 1, 1, 1, 1))
	for stage, blocks := range []int{3, 4, 6, 3} {
		width := 64 << stage
		for i := range blocks {
			stride := 1
			if i == 0 && stage > 0 {
				stride = 2
			}
			skip := x
			if i == 0 {
				skip = conv(x, in, 4*width, 1, stride, 1)
			}
			y := b.Op("Relu", []string{conv(x, in, width, 1, 1, 1)})
			y = b.Op("Relu", []string{conv(y, width, width, 3, stride, 1)})
			y = conv(y, width, 4*width, 1, 1, 0.5)
			x, in = b.Op("Relu", []string{b.Op("Add", []string{y, skip})}), 4*width
		}
	}
	x = b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{x})})
	x = b.Op("Gemm", []string{x, stored(0.02, 2048, 1000)})
	b.Output(x, tensor.Float32, "N", 1000)
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// peak is the largest memory that the process has held, in MB; 0 where the system does not tell.
func peak() (mb float64) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kb float64
			for _, c := range rest {
				if c >= '0' && c <= '9' {
					kb = 10*kb + float64(c-'0')
				}
			}
			return kb / 1024
		}
	}
	return 0
}

// A network of 25 million parameters is looked into with what a usual machine has.
func TestResNet(t *testing.T) {
	e, err := anEngine()
	if err != nil {
		t.Fatal(err)
	}
	m := resnet(t)
	t.Logf("built: %.0f MB", peak())
	g := parse(t, "SO(2)")
	plan := audittest.Plan(t, pictures(t, g, action.Options{}, 3, 224, 224), action.Trivial{G: g},
		audittest.Angles(8)...)
	s := &audit.Subject{Name: "resnet", Plan: plan, N: 16, Seed: 1, Sample: colored(224)}
	s.Interior, err = interior.New(m, audittest.Images(t, m, 255, vector, 3, 224, 224),
		func(ctx context.Context, b []byte) (engine.Session, error) {
			return e.Open(ctx, b, engine.Options{Threads: 2})
		}, interior.Options{Body: "engine", Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	s.Predictor = s.Interior
	start := time.Now()
	_, r := look(t, audittest.Fixture{Subject: s})
	t.Logf("%s, %.0f MB", time.Since(start).Round(time.Second), peak())
	show(t, r)
	if r.First < 0 || !(math.Abs(r.Elements.Sum-1) <= 1e-3) {
		t.Errorf("first %d, sum %g", r.First, r.Elements.Sum)
	}
	if len(r.Flows) > 0 {
		t.Error("derivatives of a large model are taken unasked: they hold it several times")
	}
	if mb := peak(); mb > 1536 {
		t.Errorf("%.0f MB were held", mb)
	}
}

// colored are pictures of three channels.
func colored(n int) func(i int) (dataset.Sample, error) {
	return func(i int) (dataset.Sample, error) {
		s, err := audittest.Pictures(1<<20, n, n, 5)(i)
		if err != nil {
			return s, err
		}
		x, ok := s.Value.(*space.Image)
		if !ok {
			return s, errors.New("no picture")
		}
		y := space.NewImage(3, n, n)
		for c := range 3 {
			for k, v := range x.Pix {
				y.Pix[c*n*n+k] = v * float64(c+1) / 3
			}
		}
		s.Value = y
		return s, nil
	}
}
