package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/engine"
	"nero/model/engine/tiny"
)

// web is a graph of operators that are exact in float32, so that its results can be worked out to the last bit. Only
// its last value is an output, and many others are used by nothing: ONNX Runtime 1.18 plans the memory of such graphs
// wrongly from the second run with some input shapes on.
type web struct {
	steps []step
	// of the wide values; narrow ones have one column
	width int
}

// step makes one value of earlier ones; value 0 is the input.
type step struct {
	op   string
	args []int
	wide bool
}

// spin makes a pseudo-random web of n operators.
func spin(seed uint64, n int) web {
	rng := rand.New(rand.NewPCG(seed, 7))
	w := web{width: 6, steps: []step{{wide: true}}}
	for range n {
		// Mostly of late values, so that there are chains, and at times of the input.
		arg := func() int {
			if rng.IntN(6) == 0 {
				return 0
			}
			return max(0, len(w.steps)-1-rng.IntN(5))
		}
		a := arg()
		s := step{args: []int{a}, wide: w.steps[a].wide}
		switch k := rng.IntN(8); {
		case k == 0 && s.wide:
			s.op, s.wide = "ReduceMax", false
		case k < 3:
			s.op = []string{"Neg", "Abs"}[rng.IntN(2)]
		default:
			b := arg()
			s.op, s.args, s.wide = []string{"Add", "Sub", "Max"}[rng.IntN(3)], append(s.args, b),
				s.wide || w.steps[b].wide
		}
		w.steps = append(w.steps, s)
	}
	return w
}

func (w web) columns(i int) int {
	if w.steps[i].wide {
		return w.width
	}
	return 1
}

func (w web) model() tiny.Model {
	last := len(w.steps) - 1
	name := func(i int) string {
		switch i {
		case 0:
			return "x"
		case last:
			return "y"
		}
		return "v" + strconv.Itoa(i)
	}
	m := tiny.Model{
		Inputs:  []tiny.Port{port("x", tensor.Float32, tiny.Free, w.width)},
		Outputs: []tiny.Port{port("y", tensor.Float32, tiny.Free, w.columns(last))},
	}
	for i, s := range w.steps[1:] {
		var in []string
		for _, a := range s.args {
			in = append(in, name(a))
		}
		n := node(s.op, in, []string{name(i + 1)})
		if s.op == "ReduceMax" {
			n.Attrs = []tiny.Attr{attr("axes", []int{1}), attr("keepdims", 1)}
		}
		m.Nodes = append(m.Nodes, n)
	}
	return m
}

// result works the web out for rows of input.
func (w web) result(x []float32, rows int) []float32 {
	values := [][]float32{x}
	for i, s := range w.steps[1:] {
		columns := w.columns(i + 1)
		at := func(k, r, c int) float32 {
			if w.steps[s.args[k]].wide {
				return values[s.args[k]][r*w.width+c]
			}
			return values[s.args[k]][r]
		}
		v := make([]float32, 0, rows*columns)
		for r := range rows {
			for c := range columns {
				a := at(0, r, c)
				switch s.op {
				case "Neg":
					a = -a
				case "Abs":
					a = max(a, -a)
				case "Add":
					a += at(1, r, c)
				case "Sub":
					a -= at(1, r, c)
				case "Max":
					a = max(a, at(1, r, c))
				case "ReduceMax":
					for c := range w.width {
						a = max(a, at(0, r, c))
					}
				}
				v = append(v, a)
			}
		}
		values = append(values, v)
	}
	return values[len(values)-1]
}

// unused runs webs, several times for every batch size.
func unused(ctx context.Context, e engine.Engine) error {
	const webs, operators, runs = 24, 14, 9
	for seed := range uint64(webs) {
		w := spin(seed, operators)
		rng := rand.New(rand.NewPCG(seed, 8))
		for _, o := range []engine.Options{{Threads: 1}, {Threads: 1, Plain: true}} {
			err := with(ctx, e, w.model(), o, func(s engine.Session) error {
				for run := range runs {
					rows := 1 + run%3*4
					x := make([]float32, rows*w.width)
					for i := range x {
						x[i] = float32(elementary.Normal(rng))
					}
					y := w.result(x, rows)
					in := []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(x, rows, w.width)}}
					want := []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(y, rows, w.columns(operators))}}
					if err := expect(ctx, s, in, want, 1e-5); err != nil {
						return fmt.Errorf("run %d, %d rows: %w", run+1, rows, err)
					}
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("graph %d (plain: %t): %w", seed, o.Plain, err)
			}
		}
	}
	return nil
}
