package unroll_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/onnx"
	"nero/model/oracle"
	"nero/model/unroll"
)

// leaky makes a model of frames: s' = s/2 + gain·(sum of the frame), y = s' (and -s' with a second channel). The axes
// of signals are n.
func leaky(tb testing.TB, n any, length, channels int) *onnx.Model {
	tb.Helper()
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, n, length)
	s := b.Input("s", tensor.Float32, 1, n, 1)
	gain := b.Input("gain", tensor.Float32)
	sum := b.Op("ReduceSum", []string{x, b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	sum = b.Op("Mul", []string{b.Op("Unsqueeze", []string{sum, b.Ints(0)}), gain})
	half := b.Const(tensor.FromFloat32([]float32{0.5}, 1))
	next := b.Op("Add", []string{b.Op("Mul", []string{s, half}), sum})
	y := b.Op("Squeeze", []string{next, b.Ints(0)})
	if channels == 2 {
		y = b.Op("Concat", []string{y, b.Op("Neg", []string{y})}, onnx.AttrInt("axis", 1))
	}
	b.Output(y, tensor.Float32, n, channels)
	b.Output(next, tensor.Float32, 1, n, 1)
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func spec(m *onnx.Model, frame, past int, start, gain float64) unroll.Spec {
	return unroll.Spec{
		Frame: frame, Context: past,
		States: []unroll.State{{In: "s", Out: m.Signature().Outputs[1].Name, Start: []float64{start}}},
		Feed:   []unroll.Feed{{In: "gain", Value: []float64{gain}}},
	}
}

func open(tb testing.TB, u *unroll.Model, m *onnx.Model) engine.Session {
	tb.Helper()
	b, err := m.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	s, err := u.Engine(oracle.Engine(oracle.Options{})).Open(context.Background(), b, engine.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// The session is the recursion that the model is one step of, whatever the batch, and no signal knows of another.
func TestUnroll(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		frame, past := rapid.IntRange(1, 4).Draw(t, "frame"), rapid.IntRange(0, 3).Draw(t, "context")
		n, length := rapid.IntRange(1, 3).Draw(t, "n"), frame+rapid.IntRange(0, 9).Draw(t, "length")
		channels := rapid.IntRange(1, 2).Draw(t, "channels")
		axis := rapid.SampledFrom([]any{"N", 1, 2}).Draw(t, "axis")
		start, gain := rapid.Float64Range(-2, 2).Draw(t, "start"), 0.25
		m := leaky(tt, axis, frame+past, channels)
		u, err := unroll.New(m.Signature(), spec(m, frame, past, start, gain))
		if axis == 2 { // a state whose length the file fixes at two belongs to nobody
			if err == nil {
				t.Fatal("two states of one signal are accepted")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		v := rapid.SliceOfN(rapid.Float64Range(-1, 1), n*length, n*length).Draw(t, "x")
		x, err := decode.Rounded(tensor.Float64, v, n, length)
		if err != nil {
			t.Fatal(err)
		}
		out, err := open(tt, u, m).Run(context.Background(), []tensor.Named{{Name: "x", Tensor: x}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := out[0].Float64s(nil)
		if err != nil {
			t.Fatal(err)
		}
		frames := length / frame
		want := []int{n, frames}
		if channels == 2 {
			want = []int{n, 2, frames}
		}
		if !slices.Equal(out[0].Shape, want) || u.Frames(length) != frames {
			t.Fatalf("shape %v, want %v", out[0].Shape, want)
		}
		for i := range n {
			s := start
			for k := range frames {
				s /= 2
				for j := k*frame - past; j < (k+1)*frame; j++ {
					if j >= 0 {
						s += gain * v[i*length+j]
					}
				}
				for c := range channels {
					if d := math.Abs(got[(i*channels+c)*frames+k] - s*float64(1-2*c)); !(d < 1e-12) {
						t.Fatalf("signal %d, frame %d, channel %d: %g, want %g", i, k, c, got[(i*channels+c)*frames+k],
							s)
					}
				}
			}
		}
	})
}

// Through the codec a signal becomes a signal of frames.
func TestUnrollWithCodec(t *testing.T) {
	m := leaky(t, "N", 3, 1)
	u, err := unroll.New(m.Signature(), spec(m, 2, 1, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	c, err := decode.NewRecord(u.Signature(), decode.RecordSpec{
		Sample:  space.Spec{Kind: space.KindSignal, Shape: []int{1, -1}},
		Outputs: []decode.OutputField{{Kind: space.KindSignal, Rate: 8000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c = decode.Double(c)
	x, err := c.Encode([]space.Value{&space.Signal{C: 1, T: 5, Rate: 16000, Val: []float64{1, 2, 3, 4, 5}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := open(t, u, m).Run(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	y, err := c.Decode(out, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := y[0].(*space.Signal)
	if !ok || s.T != 2 || s.Rate != 8000 || !slices.Equal(s.Val, []float64{3, 1.5 + 9}) {
		t.Errorf("%+v", y[0])
	}
	first, err := u.First(2)
	if err != nil || len(first) != 3 || !slices.Equal(first[0].Shape, []int{2, 3}) ||
		!slices.Equal(first[1].Shape, []int{1, 2, 1}) || len(first[2].Shape) != 0 {
		t.Errorf("first step %v, %v", first, err)
	}
}

func TestUnrollRefuses(t *testing.T) {
	m := leaky(t, "N", 3, 1)
	sig := m.Signature()
	good := spec(m, 2, 1, 0, 1)
	for name, c := range map[string]struct {
		change func(s *unroll.Spec)
		want   string
	}{
		"no frame":           {func(s *unroll.Spec) { s.Frame = 0 }, "recurrent.frame"},
		"context below 0":    {func(s *unroll.Spec) { s.Context = -1 }, "recurrent.context"},
		"another frame":      {func(s *unroll.Spec) { s.Frame = 4 }, "takes 3 samples"},
		"nothing feeds gain": {func(s *unroll.Spec) { s.Feed, s.Input = nil, "x" }, "nothing feeds input gain"},
		"which input":        {func(s *unroll.Spec) { s.Feed = nil }, "recurrent.input"},
		"which output": {func(s *unroll.Spec) {
			s.States, s.Feed = nil, append(s.Feed, unroll.Feed{In: "s", Value: []float64{0}})
		}, "recurrent.output"},
		"an unknown state":  {func(s *unroll.Spec) { s.States = []unroll.State{{In: "h", Out: "y"}} }, `no input "h"`},
		"an unknown end":    {func(s *unroll.Spec) { s.States = []unroll.State{{In: "s", Out: "h"}} }, `no output "h"`},
		"a feed of nothing": {func(s *unroll.Spec) { s.Feed = []unroll.Feed{{In: "gain"}} }, "has no value"},
		"a feed of two": {
			func(s *unroll.Spec) { s.Feed = []unroll.Feed{{In: "gain", Value: []float64{1, 2}}} },
			"2 numbers",
		},
		"fed twice":         {func(s *unroll.Spec) { s.Feed = append(s.Feed, s.Feed[0]) }, "twice"},
		"a start of NaN":    {func(s *unroll.Spec) { s.States[0].Start = []float64{math.NaN()} }, "finite"},
		"a start too long":  {func(s *unroll.Spec) { s.States[0].Start = []float64{1, 2, 3} }, "start"},
		"another shape":     {func(s *unroll.Spec) { s.States[0].Shape = []int{2, 1, 1} }, "does not fit"},
		"a huge shape":      {func(s *unroll.Spec) { s.States[0].Shape = []int{1, 1 << 40, 1} }, "elements"},
		"an unknown output": {func(s *unroll.Spec) { s.Output = "z" }, `no output "z"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := good
			s.States, s.Feed = slices.Clone(good.States), slices.Clone(good.Feed)
			c.change(&s)
			if _, err := unroll.New(sig, s); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	u, err := unroll.New(sig, good)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, u, m)
	for name, x := range map[string]tensor.Named{
		"too short":  {Name: "x", Tensor: tensor.New(tensor.Float64, 1, 1)},
		"two axes":   {Name: "x", Tensor: tensor.New(tensor.Float64, 8)},
		"integers":   {Name: "x", Tensor: tensor.New(tensor.Int64, 1, 8)},
		"the name":   {Name: "y", Tensor: tensor.New(tensor.Float64, 1, 8)},
		"no signals": {Name: "x", Tensor: tensor.New(tensor.Float64, 0, 8)},
	} {
		if _, err := s.Run(context.Background(), []tensor.Named{x}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Run(ended, []tensor.Named{{Name: "x", Tensor: tensor.New(tensor.Float64, 1, 8)}}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// anEngine is the engine that this machine has, opened once.
var anEngine = sync.OnceValues(func() (choose.Choice, error) {
	return choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
})
