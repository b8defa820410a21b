package warmup_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/warmup"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

const samples, hop = 60, 4

// smooth is a model of signals: a frame for every 4 numbers, the mean square of each, through a memory that keeps the
// share keep of what it held.
func smooth(keep float64) audit.Predictor {
	return audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			x, ok := v.(*space.Signal)
			if !ok {
				return nil, fmt.Errorf("want a signal, got %s", v.Kind())
			}
			y := space.NewSignal(1, x.T/hop, 0)
			state := 0.0
			for k := range y.Val {
				var s float64
				for _, a := range x.Val[k*hop : (k+1)*hop] {
					s += a * a / hop
				}
				state = keep*state + s
				y.Val[k] = float64(float32(state))
			}
			out[i] = y
		}
		return out, nil
	})
}

// TestWindows: what a window that looks back finds before a start is no state where the graph shows that there is none.
func TestWindows(t *testing.T) {
	back := framed(func(n int) int { return n / hop }, func(x []float64, k int) float64 {
		var s float64
		for _, a := range x[max(k-2, 0)*hop : (k+1)*hop] {
			s += a * a / hop
		}
		return s
	})
	graph := func(op string) *onnx.Model {
		b := onnx.NewBuilder(17)
		x := b.Input("x", tensor.Float32, "N", 1, "T")
		var y string
		if op == "CumSum" {
			y = b.Op(op, []string{x, b.Const(tensor.FromInt64([]int64{2}))})
		} else {
			y = b.Op(op, []string{x, b.Const(tensor.FromFloat32([]float32{1, 1, 1}, 1, 1, 3))},
				onnx.AttrInts("pads", 2, 0))
		}
		b.Output(y, tensor.Float32, "N", 1, "T")
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for op, state := range map[string]bool{"": true, "Conv": false, "CumSum": true} {
		s := subject(t, back)
		if op != "" {
			m := graph(op)
			audittest.Graph(t, s, m, audittest.Tensors(t, m))
			s.Predictor, s.Reference = back, nil
		}
		clue, frames, _ := result(t, s)
		if frames != 2 || clue.Holds != state {
			t.Errorf("%q: %g frames, %+v, want 2 and %v", op, frames, clue, state)
		}
	}
}

func subject(t *testing.T, p audit.Predictor) *audit.Subject {
	t.Helper()
	return long(t, p, hop*samples)
}

// long has signals of so many numbers.
func long(t *testing.T, p audit.Predictor, n int) *audit.Subject {
	t.Helper()
	g, err := catalog.Parse("Roll(" + strconv.Itoa(n) + ")")
	if err != nil {
		t.Fatal(err)
	}
	spec := space.Spec{Name: "signal", Kind: space.KindSignal, Shape: []int{1, n}}
	in, err := action.Rules().For(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &audit.Subject{
		Name: "smooth", Predictor: p, Plan: audittest.Plan(t, in, action.Trivial{G: g}, g.Identity(), group.Element{4}),
		N: 12, Seed: 1, InSpec: spec,
		OutSpec: space.Spec{Name: "y", Kind: space.KindSignal, Shape: []int{1, samples}},
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(5, uint64(i)))
			v := space.NewSignal(1, n, 0)
			for k := range v.Val {
				v.Val[k] = r.NormFloat64()
			}
			return dataset.Sample{ID: fmt.Sprintf("s%02d", i), Label: -1, Value: v}, nil
		},
	}
}

func result(t *testing.T, s *audit.Subject) (clue *audit.Clue, frames, tenth float64) {
	t.Helper()
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, warmup.Check)
	frames, tenth = math.NaN(), math.NaN()
	for _, x := range r.Results {
		if x.Check != warmup.Check {
			continue
		}
		if x.Status != audit.Tested {
			t.Fatalf("%s: %s", x.Status, x.Reason)
		}
		for _, m := range x.Measures {
			switch m.Name {
			case "frames until a later start is forgotten":
				frames = m.Value
			case "frames until the error of a start is a tenth of the first":
				tenth = m.Value
			}
			if m.Unit == "frames" && !(m.Value >= 0) {
				t.Errorf("%s: %g frames", m.Name, m.Value)
			}
		}
		for _, c := range x.Clues {
			clue = &c
		}
	}
	return clue, frames, tenth
}

// A memory that keeps the share k per frame forgets a start like k^n: with an error of about 1 at the first frame the
// limit of 1e-4 is met after ln(1e-4)/ln(k) frames, 13.3 for a half. Without a memory nothing is to be forgotten.
func TestWarmup(t *testing.T) {
	clue, frames, tenth := result(t, subject(t, smooth(0.5)))
	if !clue.Holds || frames < 11 || frames > 17 || tenth != 4 { // 0.5⁴ is the first power below a tenth
		t.Errorf("memory of a half: %g frames, %g to a tenth, %+v", frames, tenth, clue)
	}
	clue, frames, _ = result(t, subject(t, smooth(0)))
	if clue.Holds || frames != 0 {
		t.Errorf("no memory: %g frames, %+v", frames, clue)
	}
	// ln(1e-4)/ln(0.8) is 41 frames, and 0.8¹¹ the first power below a tenth
	clue, frames, tenth = result(t, subject(t, smooth(0.8)))
	if !clue.Holds || !math.IsNaN(frames) || tenth != 11 ||
		!strings.Contains(clue.Text, "not below the threshold within") ||
		!strings.Contains(clue.Text, "after 11 frames a tenth") {
		t.Errorf("memory of four fifths: %g frames, %g to a tenth, %+v", frames, tenth, clue)
	}
	clue, frames, tenth = result(t, subject(t, smooth(0.999)))
	if !clue.Holds || !math.IsNaN(frames) || !math.IsNaN(tenth) ||
		!strings.Contains(clue.Text, "not below the threshold within") {
		t.Errorf("a memory that hardly forgets: %g frames, %g to a tenth, %+v", frames, tenth, clue)
	}
}

// framed is a model of signals by frames: count says how many there are of n numbers, and f what the k-th of them is.
func framed(count func(n int) int, f func(x []float64, k int) float64) audit.Predictor {
	return audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			x, ok := v.(*space.Signal)
			if !ok {
				return nil, fmt.Errorf("want a signal, got %s", v.Kind())
			}
			n := count(x.T)
			if n < 1 {
				return nil, fmt.Errorf("%d numbers make no frame", x.T)
			}
			y := space.NewSignal(1, n, 0)
			for k := range y.Val {
				y.Val[k] = float64(float32(f(x.Val, k)))
			}
			out[i] = y
		}
		return out, nil
	})
}

// square is the mean square of the numbers of a frame.
func square(h, wide int) func(x []float64, k int) float64 {
	return func(x []float64, k int) float64 {
		var s float64
		for _, a := range x[k*h : min(k*h+wide, len(x))] {
			s += a * a / float64(wide)
		}
		return s
	}
}

// Without a memory nothing is to be forgotten, whether the frames divide the signal or not; with one of a half the
// start is forgotten as quickly as elsewhere.
func TestHop(t *testing.T) {
	for _, x := range []struct {
		name    string
		n       int
		p       audit.Predictor
		lo, hi  float64
		holding bool
	}{
		{"a rest", 241, smooth(0), 0, 0, false},
		{"a rest and a memory", 241, smooth(0.5), 11, 17, true},
		{"a rest of three", 243, smooth(0), 0, 0, false},
		{"no padding", 240, framed(func(n int) int { return n - 4 }, square(1, 5)), 0, 0, false},
		{"wide windows", 256, framed(func(n int) int { return (n-32)/4 + 1 }, square(4, 32)), 0, 0, false},
		{"rounded up", 241, framed(func(n int) int { return (n + 3) / 4 }, square(4, 4)), 0, 0, false},
		{"blocks of four frames", 250, framed(func(n int) int { return n / 16 * 4 }, square(4, 4)), 0, 0, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			clue, frames, _ := result(t, long(t, x.p, x.n))
			if clue.Holds != x.holding || !(frames >= x.lo && frames <= x.hi) {
				t.Errorf("%g frames, %+v", frames, clue)
			}
		})
	}
}

// A model of one length whose frames do not divide it says nothing of its hop.
func TestNoHop(t *testing.T) {
	s := long(t, framed(func(int) int { return 60 }, func(x []float64, k int) float64 { return x[4*k%len(x)] }), 241)
	for _, x := range audittest.Audit(t, audittest.Fixture{Subject: s}, warmup.Check).Results {
		if x.Check == warmup.Check && x.Status == audit.Tested {
			t.Errorf("tested: %+v", x.Findings)
		}
	}
}

// A model that remembers its start and sees a little ahead is neither a border nor told apart as a state, and the
// finding says what was measured of both ends.
func TestStartAndEnd(t *testing.T) {
	const ahead = 3
	p := framed(func(n int) int { return n }, func(x []float64, k int) float64 {
		var s float64
		for _, a := range x[:min(k+ahead+1, len(x))] {
			s += a
		}
		return s
	})
	r := audittest.Audit(t, audittest.Fixture{Subject: long(t, p, 120)}, warmup.Check)
	found := false
	for _, x := range r.Results {
		if x.Check != warmup.Check {
			continue
		}
		for _, f := range x.Findings {
			found = true
			if f.Location != "sequence" || !strings.Contains(f.Message, "up to 3 frames before") {
				t.Errorf("%s: %s", f.Location, f.Message)
			}
			for _, c := range x.Clues {
				if c.Holds || c.Text == f.Message {
					t.Errorf("clue %+v, finding %s", c, f.Message)
				}
			}
		}
	}
	if !found {
		t.Error("no finding")
	}
}
