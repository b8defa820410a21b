package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/engine"
	"nero/model/engine/tiny"
)

// Floor is how far results may lie apart, relative to the largest one, where only the order of sums differs: other
// batch sizes, no optimization, another body.
const Floor = 2e-6

// double is y = 2x for x of free×3, with an optional second part.
func double() tiny.Model {
	return tiny.Model{
		Nodes:   []tiny.Node{node("Add", []string{"x", "x"}, []string{"y"})},
		Inputs:  []tiny.Port{port("x", tensor.Float32, tiny.Free, 3)},
		Outputs: []tiny.Port{port("y", tensor.Float32, tiny.Free, 3)},
	}
}

func doubles(ctx context.Context, s engine.Session, scale float64) error {
	return expect(ctx, s, []tensor.Named{floats("x", []float64{scale, 2, 3}, 1, 3)},
		[]tensor.Named{floats("y", []float64{2 * scale, 4, 6}, 1, 3)}, 0)
}

func ports(ctx context.Context, e engine.Engine) error {
	m := tiny.Model{
		IR: 3, Opset: 8, // of the time when initializers had to be listed as inputs
		Nodes: []tiny.Node{
			node("Mul", []string{"zebra", "w"}, []string{"last"}),
			node("Add", []string{"última", "zebra"}, []string{"a b/c:0"}),
		},
		Inputs: []tiny.Port{
			port("zebra", tensor.Float32, 2), port("w", tensor.Float32, 2),
			port("última", tensor.Float32, 2),
		},
		Outputs:   []tiny.Port{port("last", tensor.Float32, 2), port("a b/c:0", tensor.Float32, 2)},
		Constants: []tensor.Named{floats("w", []float64{10, 100}, 2)},
	}
	return with(ctx, e, m, engine.Options{}, func(s engine.Session) error {
		if want := []string{"zebra", "última"}; !slices.Equal(s.Inputs(), want) {
			return fmt.Errorf("inputs %q, want %q", s.Inputs(), want)
		}
		if want := []string{"last", "a b/c:0"}; !slices.Equal(s.Outputs(), want) {
			return fmt.Errorf("outputs %q, want %q", s.Outputs(), want)
		}
		in := []tensor.Named{floats("zebra", []float64{1, 2}, 2), floats("última", []float64{3, 4}, 2)}
		return expect(ctx, s, in,
			[]tensor.Named{floats("last", []float64{10, 200}, 2), floats("a b/c:0", []float64{4, 6}, 2)}, 0)
	})
}

func refusals(ctx context.Context, e engine.Engine) error {
	return with(ctx, e, double(), engine.Options{}, func(s engine.Session) error {
		good := floats("x", []float64{1, 2, 3}, 1, 3)
		short, huge, negative, odd := good, good, good, good
		short.Raw = short.Raw[:8]
		huge.Shape = []int{1 << 62, 3}
		negative.Shape = []int{-1, 3}
		odd.DType = 99
		for _, c := range []struct {
			name string
			in   []tensor.Named
		}{
			{"nothing", nil},
			{"two inputs", []tensor.Named{good, good}},
			{"another name", []tensor.Named{{Name: "z", Tensor: good.Tensor}}},
			{"another type", []tensor.Named{number("x", tensor.Float64, []float64{1, 2, 3}, 1, 3)}},
			{"another length", []tensor.Named{floats("x", []float64{1, 2}, 1, 2)}},
			{"another rank", []tensor.Named{floats("x", []float64{1, 2, 3}, 3)}},
			{"too few bytes", []tensor.Named{short}},
			{"a shape that overflows", []tensor.Named{huge}},
			{"a negative length", []tensor.Named{negative}},
			{"a type that does not exist", []tensor.Named{odd}},
		} {
			if _, err := s.Run(ctx, c.in); err == nil || err.Error() == "" {
				return fmt.Errorf("%s: want an error with a text, got %v", c.name,
					err) //nolint:errorlint // a text, not a chain
			}
			if err := doubles(ctx, s, 1); err != nil {
				return fmt.Errorf("after %s: %w", c.name, err)
			}
		}
		return nil
	})
}

func failures(ctx context.Context, e engine.Engine) error {
	m := tiny.Model{
		Nodes: []tiny.Node{
			node("Gather", []string{"x", "i"}, []string{"g"}),
			node("Reshape", []string{"g", "s"}, []string{"y"}),
		},
		Inputs: []tiny.Port{
			port("x", tensor.Float32, 3), port("i", tensor.Int64, tiny.Free),
			port("s", tensor.Int64, tiny.Free),
		},
		Outputs: []tiny.Port{port("y", tensor.Float32, tiny.Free)},
	}
	in := func(i, s []float64) []tensor.Named {
		return []tensor.Named{
			floats("x", []float64{5, 6, 7}, 3), number("i", tensor.Int64, i, len(i)),
			number("s", tensor.Int64, s, len(s)),
		}
	}
	return with(ctx, e, m, engine.Options{}, func(s engine.Session) error {
		for run := range 3 {
			if _, err := s.Run(ctx, in([]float64{99}, []float64{1})); err == nil {
				return errors.New("an index out of range is accepted")
			}
			if _, err := s.Run(ctx, in([]float64{1, 2}, []float64{3})); err == nil {
				return errors.New("a shape with too many elements is accepted")
			}
			if err := expect(ctx, s, in([]float64{2, 0}, []float64{2}), []tensor.Named{floats("y", []float64{7, 5}, 2)},
				0); err != nil {
				return fmt.Errorf("round %d, after the failures: %w", run+1, err)
			}
		}
		return nil
	})
}

func foreign(ctx context.Context, e engine.Engine) error {
	good := double().Bytes()
	unknown, mistyped, future := double(), double(), double()
	unknown.Nodes[0].Op = "NoSuchOperator"
	mistyped.Outputs = []tiny.Port{port("y", tensor.Int64, 1, 3)}
	dangling := double()
	dangling.Nodes = []tiny.Node{node("Add", []string{"x", "nowhere"}, []string{"y"})}
	future.Opset = 1000
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1000)
	for i := range noise {
		noise[i] = byte(rng.UintN(256))
	}
	for _, c := range []struct {
		name string
		file []byte
	}{
		{"an empty file", nil},
		{"a text", []byte("this is not a model\n")},
		{"a picture", append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), make([]byte, 50)...)},
		{"a zip file", append([]byte("PK\x03\x04\x14\x00"), make([]byte, 100)...)},
		{"zeros", make([]byte, 100)},
		{"noise", noise},
		{"half a model", good[:len(good)/2]},
		{"an unknown operator", unknown.Bytes()},
		{"an output of the wrong type", mistyped.Bytes()},
		{"an input that comes from nowhere", dangling.Bytes()},
		{"an operator set of the future", future.Bytes()},
	} {
		s, err := e.Open(ctx, c.file, engine.Options{})
		if err == nil {
			_ = s.Close() // it is an error that it opened
			return fmt.Errorf("%s opens", c.name)
		}
		if text := err.Error(); strings.TrimSpace(text) == "" || strings.Contains(text, "\n") {
			return fmt.Errorf("%s: want an error of one line, got %q", c.name, text)
		}
	}
	return with(ctx, e, double(), engine.Options{}, func(s engine.Session) error { return doubles(ctx, s, 1) })
}

func memory(ctx context.Context, e engine.Engine) error {
	s, err := e.Open(ctx, double().Bytes(), engine.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // closed below; a second time changes nothing
	in := []tensor.Named{floats("x", []float64{1, 2, 3}, 1, 3)}
	before := in[0].Clone()
	first, err := s.Run(ctx, in)
	if err != nil {
		return err
	}
	if !bytes.Equal(in[0].Raw, before.Raw) {
		return errors.New("the input was changed")
	}
	kept := slices.Clone(first[0].Raw)
	for range 3 {
		soil(ctx, s, in)
	}
	if err := s.Close(); err != nil {
		return err
	}
	if !bytes.Equal(first[0].Raw, kept) {
		return errors.New("a result changed after later runs or Close")
	}
	return nil
}

func unaligned(ctx context.Context, e engine.Engine) error {
	return with(ctx, e, double(), engine.Options{}, func(s engine.Session) error {
		x := floats("x", []float64{1, 2, 3}, 1, 3)
		for shift := range 4 {
			b := make([]byte, len(x.Raw)+shift)
			copy(b[shift:], x.Raw)
			in := []tensor.Named{{Name: "x", Tensor: tensor.Tensor{DType: x.DType, Shape: x.Shape, Raw: b[shift:]}}}
			if err := expect(ctx, s, in, []tensor.Named{floats("y", []float64{2, 4, 6}, 1, 3)}, 0); err != nil {
				return fmt.Errorf("%d bytes off: %w", shift, err)
			}
		}
		return nil
	})
}

// Network is a small convolutional classifier for images of 1×12×12 with a free batch: convolutions, pooling, a linear
// layer, softmax. Its weights are pseudo-random and always the same.
func Network() tiny.Model {
	rng := rand.New(rand.NewPCG(3, 4))
	weights := func(name string, scale float64, shape ...int) tensor.Named {
		v := make([]float64, tensor.Count(shape))
		for i := range v {
			v[i] = scale * elementary.Normal(rng)
		}
		return floats(name, v, shape...)
	}
	pads, kernel, strides := attr("pads", []int{1, 1, 1, 1}), attr("kernel_shape", []int{2, 2}),
		attr("strides", []int{2, 2})
	return tiny.Model{
		Constants: []tensor.Named{
			weights("k1", 0.4, 8, 1, 3, 3), weights("b1", 0.1, 8), weights("k2", 0.15, 16, 8, 3, 3),
			weights("b2", 0.1, 16),
			weights("w", 0.2, 16*3*3, 10), weights("b", 0.1, 10),
		},
		Nodes: []tiny.Node{
			node("Conv", []string{"x", "k1", "b1"}, []string{"c1"}, pads), node("Relu", []string{"c1"}, []string{"r1"}),
			node("MaxPool", []string{"r1"}, []string{"p1"}, kernel, strides),
			node("Conv", []string{"p1", "k2", "b2"}, []string{"c2"}, pads),
			node("Sigmoid", []string{"c2"}, []string{"r2"}),
			node("AveragePool", []string{"r2"}, []string{"p2"}, kernel, strides),
			node("Flatten", []string{"p2"}, []string{"f"}),
			node("Gemm", []string{"f", "w", "b"}, []string{"scores"}),
			node("Softmax", []string{"scores"}, []string{"p"}, attr("axis", 1)),
		},
		Inputs: []tiny.Port{port("x", tensor.Float32, tiny.Free, 1, 12, 12)},
		Outputs: []tiny.Port{
			port("scores", tensor.Float32, tiny.Free, 10),
			port("p", tensor.Float32, tiny.Free, 10),
		},
	}
}

// Images are n pseudo-random inputs of [Network]; the same n gives the same, and image i does not depend on n.
func Images(n int) []tensor.Named {
	rng := rand.New(rand.NewPCG(5, 6))
	v := make([]float64, n*144)
	for i := range v {
		v[i] = elementary.Normal(rng)
	}
	return []tensor.Named{floats("x", v, n, 1, 12, 12)}
}

func repeats(ctx context.Context, e engine.Engine) error {
	return with(ctx, e, Network(), engine.Options{Threads: 1}, func(s engine.Session) error {
		in := Images(5)
		first, err := s.Run(ctx, in)
		if err != nil {
			return err
		}
		for run := range 6 {
			soil(ctx, s, Images(1+run*7%11))
			again, err := s.Run(ctx, in)
			if err != nil {
				return err
			}
			for i := range first {
				if !bytes.Equal(first[i].Raw, again[i].Raw) {
					return fmt.Errorf("run %d: output %q has other bytes", run+2, first[i].Name)
				}
			}
		}
		return nil
	})
}

// slice cuts samples [from, to) from a batch.
func slice(batch []tensor.Named, from, to int) []tensor.Named {
	out := slices.Clone(batch)
	for i, t := range batch {
		per := len(t.Raw) / t.Shape[0]
		out[i].Shape = append([]int{to - from}, t.Shape[1:]...)
		out[i].Raw = t.Raw[from*per : to*per]
	}
	return out
}

func batches(ctx context.Context, e engine.Engine) error {
	const all = 64
	return with(ctx, e, Network(), engine.Options{Threads: 1}, func(s engine.Session) error {
		in := Images(all)
		want, err := s.Run(ctx, in)
		if err != nil {
			return err
		}
		for _, size := range []int{1, 7} {
			for from := 0; from < all; from += size {
				to := min(from+size, all)
				if err := expect(ctx, s, slice(in, from, to), slice(want, from, to), Floor); err != nil {
					return fmt.Errorf("samples %d to %d in a batch of their own: %w", from, to-1, err)
				}
			}
		}
		none, err := s.Run(ctx, slice(in, 0, 0))
		if err != nil {
			return fmt.Errorf("a batch of no samples: %w", err)
		}
		if none[0].Shape[0] != 0 || len(none[0].Raw) != 0 {
			return fmt.Errorf("a batch of no samples gives %v", none[0].Shape)
		}
		return nil
	})
}

func plain(ctx context.Context, e engine.Engine) error {
	in := Images(7)
	var want []tensor.Named
	err := with(ctx, e, Network(), engine.Options{}, func(s engine.Session) (err error) {
		want, err = s.Run(ctx, in)
		return err
	})
	if err != nil {
		return err
	}
	return with(ctx, e, Network(), engine.Options{Plain: true},
		func(s engine.Session) error { return expect(ctx, s, in, want, Floor) })
}

func goroutines(ctx context.Context, e engine.Engine) error {
	const workers, runs = 4, 8
	shared, err := e.Open(ctx, Network().Bytes(), engine.Options{Threads: 1})
	if err != nil {
		return err
	}
	defer func() { _ = shared.Close() }() // only run
	var want [workers][]tensor.Named
	for w := range workers {
		if want[w], err = shared.Run(ctx, Images(w+1)); err != nil {
			return err
		}
	}
	work := func(w int) error {
		if e.Concurrent() {
			return hammer(ctx, shared, runs, Images(w+1), want[w])
		}
		s, err := e.Open(ctx, Network().Bytes(), engine.Options{Threads: 1})
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }() // only run
		return hammer(ctx, s, runs, Images(w+1), want[w])
	}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { errs[w] = work(w) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func hammer(ctx context.Context, s engine.Session, runs int, in, want []tensor.Named) error {
	for range runs {
		if err := expect(ctx, s, in, want, 0); err != nil {
			return fmt.Errorf("batch %d: %w", in[0].Shape[0], err)
		}
	}
	return nil
}

func ended(ctx context.Context, e engine.Engine) error {
	over, cancel := context.WithCancel(ctx)
	cancel()
	if s, err := e.Open(over, double().Bytes(), engine.Options{}); !errors.Is(err, context.Canceled) {
		if err == nil {
			_ = s.Close() // it is an error that it opened
		}
		const what = "opening with an ended context: %v, want %w"
		return fmt.Errorf(what, err, context.Canceled)
	}
	return with(ctx, e, Network(), engine.Options{}, func(s engine.Session) error {
		if _, err := s.Run(over, Images(1)); !errors.Is(err, context.Canceled) {
			const what = "running with an ended context: %v, want %w"
			return fmt.Errorf(what, err, context.Canceled)
		}
		// A context that ends meanwhile: the run is either done by then or returns its error.
		in := Images(64)
		soon, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(cancel)
		for err := error(nil); err == nil; {
			if _, err = s.Run(soon, in); err != nil && !errors.Is(err, context.Canceled) {
				const what = "running with a context that ends: %v, want %w"
				return fmt.Errorf(what, err, context.Canceled)
			}
		}
		wg.Wait()
		_, err := s.Run(ctx, in)
		return err
	})
}

func closing(ctx context.Context, e engine.Engine) error {
	s, err := e.Open(ctx, double().Bytes(), engine.Options{})
	if err != nil {
		return err
	}
	for range 2 {
		if err := s.Close(); err != nil {
			return err
		}
	}
	if _, err := s.Run(ctx, []tensor.Named{floats("x", []float64{1, 2, 3}, 1, 3)}); !errors.Is(err, engine.ErrClosed) {
		const what = "running after Close: %v, want %w"
		return fmt.Errorf(what, err, engine.ErrClosed)
	}
	return nil
}
