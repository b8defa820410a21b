package asked

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/formula"
	"nero/measure/metric"
	"nero/model/onnx"
)

// stub answers what it is told to.
type stub struct {
	sig    onnx.Signature
	answer func(in []tensor.Named) ([]tensor.Named, error)
}

func (s stub) Signature() onnx.Signature { return s.sig }

func (s stub) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) { return s.answer(in) }

func port(name string, d tensor.DType, sizes ...int) onnx.Port {
	p := onnx.Port{Name: name, Kind: "tensor", DType: d, Ranked: true}
	for _, n := range sizes {
		p.Shape = append(p.Shape, onnx.Dim{Size: n})
	}
	return p
}

func number(v ...float32) []tensor.Named {
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(v, len(v))}}
}

func defined(t *testing.T) *metric.Metric {
	t.Helper()
	m, err := Metric(formula.Formula{Name: "own", Better: "higher", Range: []float64{0, 1}}, metric.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var masks = metric.Case{
	At:    &space.Mask{H: 2, W: 2, Label: []int32{0, 1, 2, 1}},
	Truth: &space.Mask{H: 2, W: 2, Label: []int32{0, 1, 2, space.Void}},
	Label: -1, Element: []float64{90},
}

// What is sent are the arrays by their names, in the types that are asked for, and what comes back is the number.
func TestAsk(t *testing.T) {
	m := defined(t)
	if v := m.Measure(masks); !math.IsNaN(v) {
		t.Errorf("before anybody is asked the metric is %v", v)
	}
	var got []tensor.Named
	to := stub{
		onnx.Signature{
			Inputs: []onnx.Port{
				port("prediction", tensor.Float32, -1, -1, -1), port("reference", tensor.Int64, -1, 2, 2),
				port("element", tensor.Float64, -1, -1),
			},
			Outputs: []onnx.Port{port("y", tensor.Float32, -1)},
		},
		func(in []tensor.Named) ([]tensor.Named, error) {
			got = in
			return number(0.75), nil
		},
	}
	if err := Put(m, to); err != nil {
		t.Fatal(err)
	}
	v, err := m.Ask(t.Context(), masks)
	if err != nil || v != 0.75 {
		t.Fatalf("%v, %v", v, err)
	}
	for i, want := range [][]float64{{0, 1, 2, 1}, {0, 1, 2, -2}, {90}} {
		x, err := got[i].Float64s(nil)
		if err != nil || len(x) != len(want) || got[i].DType != to.sig.Inputs[i].DType ||
			got[i].Shape[0] != 1 {
			t.Fatalf("%s: %v, %v of %v %v", got[i].Name, err, x, got[i].DType, got[i].Shape)
		}
		for k := range want {
			if x[k] != want[k] {
				t.Errorf("%s is %v, want %v", got[i].Name, x, want)
			}
		}
	}
}

// What does not fit is refused when it is connected, or with the first number, and says what was expected.
func TestRefused(t *testing.T) {
	out := []onnx.Port{port("y", tensor.Float32, -1)}
	reads := func(p ...onnx.Port) onnx.Signature { return onnx.Signature{Inputs: p, Outputs: out} }
	prediction := reads(port("prediction", tensor.Float32, -1, -1, -1))
	answers := func(v ...float32) func([]tensor.Named) ([]tensor.Named, error) {
		return func([]tensor.Named) ([]tensor.Named, error) { return number(v...), nil }
	}
	for what, c := range map[string]struct {
		sig    onnx.Signature
		answer func([]tensor.Named) ([]tensor.Named, error)
		want   string
	}{
		"nothing read":  {reads(), answers(1), "it reads nothing"},
		"no such array": {reads(port("predicton", tensor.Float32, -1)), answers(1), "did you mean prediction"},
		"half floats":   {reads(port("prediction", tensor.Float16, -1)), answers(1), "expected FP32, FP64 or INT64"},
		"two outputs": {
			onnx.Signature{Inputs: prediction.Inputs, Outputs: append(out, out...)}, answers(1), "returns 2 arrays",
		},
		"not known": {
			reads(port("logits", tensor.Float32, -1, -1)), answers(1), "logits, which is not known here",
		},
		"too few axes":   {reads(port("prediction", tensor.Float32, -1, -1)), answers(1), "expected 3 axes"},
		"another length": {reads(port("prediction", tensor.Float32, -1, 3, -1)), answers(1), "describe lengths"},
		"two numbers":    {prediction, answers(1, 1), "expected one number"},
		"out of range":   {prediction, answers(7), "it answers 7, and the study says range: [0, 1]"},
		"infinite":       {prediction, answers(float32(math.Inf(1))), "it answers +Inf"},
		"its own trouble": {
			prediction, func([]tensor.Named) ([]tensor.Named, error) { return nil, errors.New("broke") }, "broke",
		},
	} {
		m := defined(t)
		err := Put(m, stub{c.sig, c.answer})
		if err == nil {
			var v float64
			if v, err = m.Ask(t.Context(), masks); err != nil && !math.IsNaN(v) {
				t.Errorf("%s: an error and the number %v", what, v)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	// NaN is no value and no error: it is counted.
	m := defined(t)
	if err := Put(m, stub{prediction, answers(float32(math.NaN()))}); err != nil {
		t.Fatal(err)
	}
	if v, err := m.Ask(t.Context(), masks); err != nil || !math.IsNaN(v) {
		t.Errorf("%v, %v", v, err)
	}
	// NaN is nothing that an INT64 could be, and so there is no number; what is too large is refused.
	if err := Put(m, stub{reads(port("element", tensor.Int64, -1, -1)), answers(1)}); err != nil {
		t.Fatal(err)
	}
	for e, want := range map[float64]string{math.NaN(): "", math.Inf(-1): "too large", 1 << 63: "too large"} {
		c := masks
		c.Element = []float64{e}
		v, err := m.Ask(t.Context(), c)
		if !math.IsNaN(v) || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%g as INT64: %v, %v; want NaN and %q", e, v, err, want)
		}
	}
	// Of a field of a record that field is sent.
	if of := metric.OfField("mask", m); of.Ask == nil {
		t.Error("a metric of a field asks nobody")
	}
}
