package workload

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/data/dataset"
	"nero/data/tensor"
	"nero/model/engine"
)

// The names of the arrays of a witness begin with what they are.
const (
	witnessIn  = "input."
	witnessOut = "output."
)

// witnessLimit is by how much an answer may differ from the witness, relative to the largest number of the output: room
// for the rounding of another engine, and none for another model.
const witnessLimit = 1e-3

// mostWitness is how many bytes the arrays of a witness have at most.
const mostWitness = 1 << 30

// testify holds the answers of an opened model against those of its witness: what the program computed that it was
// exported from. file is an npz of arrays input.NAME and output.NAME, with the samples first.
func testify(ctx context.Context, s engine.Session, file string, batch int, fixed bool) error {
	all, err := dataset.Arrays(file, mostWitness)
	if err != nil {
		return err
	}
	n := -1
	var in []tensor.Named
	for _, name := range s.Inputs() {
		t, ok := all[witnessIn+name]
		if !ok || len(t.Shape) == 0 {
			return fmt.Errorf("%s: no array %s%s with an axis of samples; the model reads %q", file, witnessIn, name,
				s.Inputs())
		}
		if n >= 0 && t.Shape[0] != n {
			return fmt.Errorf("%s: %d samples of %s, and %d of another input", file, t.Shape[0], name, n)
		}
		n = t.Shape[0]
		in = append(in, tensor.Named{Name: name, Tensor: t})
	}
	if n < 1 {
		return fmt.Errorf("%s: no samples", file)
	}
	step := n // once together, as a batch
	if fixed {
		step = max(batch, 1)
		n -= n % step // a part of a batch says nothing that a whole one does not
		if n == 0 {
			return fmt.Errorf("%s: fewer samples than the batch of the model, %d", file, step)
		}
	}
	for at := 0; at < n; at += step {
		part := make([]tensor.Named, len(in))
		for i, x := range in {
			part[i] = tensor.Named{Name: x.Name, Tensor: samplesFrom(x.Tensor, at, step).Clone()}
		}
		out, err := s.Run(ctx, part)
		if err != nil {
			return err
		}
		if err := agree(out, all, file, at, step); err != nil {
			return err
		}
	}
	return nil
}

// samplesFrom are n samples of an array from one on.
func samplesFrom(t tensor.Tensor, from, n int) tensor.Tensor {
	size := len(t.Raw) / max(t.Shape[0], 1)
	shape := slices.Clone(t.Shape)
	shape[0] = n
	return tensor.Tensor{DType: t.DType, Shape: shape, Raw: t.Raw[from*size : (from+n)*size]}
}

// agree compares the answers to samples from one on with those of the witness.
func agree(out []tensor.Named, all map[string]tensor.Tensor, file string, at, n int) error {
	seen := false
	for _, o := range out {
		want, ok := all[witnessOut+o.Name]
		if !ok {
			continue
		}
		seen = true
		if len(want.Shape) == 0 || want.Shape[0] < at+n || !slices.Equal(o.Shape, samplesFrom(want, at, n).Shape) {
			return fmt.Errorf("it answers %s in shape %v, and the witness %s holds %v: the file is not the model that "+
				"it was made from; export it again", o.Name, o.Shape, file, want.Shape)
		}
		got, err := o.Float64s(nil)
		if err != nil {
			return err
		}
		held, err := samplesFrom(want, at, n).Clone().Float64s(nil)
		if err != nil {
			return err
		}
		most, apart := 0.0, 0.0
		for i, w := range held {
			if !math.IsInf(w, 0) && !math.IsNaN(w) {
				most = max(most, math.Abs(w))
			}
			switch {
			case w == got[i], math.IsNaN(w) && math.IsNaN(got[i]):
			case math.IsNaN(w) || math.IsNaN(got[i]): // of NaN no difference is known, which is no small one
				apart = math.Inf(1)
			default:
				apart = max(apart, math.Abs(w-got[i]))
			}
		}
		if !(apart <= witnessLimit*most) && apart > 0 {
			return fmt.Errorf("its output %s is off by %.2g from the witness %s, whose largest number is %.2g, and "+
				"rounding explains at most %.2g: the file is not the model that it was made from; export it again, in "+
				"evaluation mode", o.Name, apart, file, most, witnessLimit*most)
		}
	}
	if !seen {
		return fmt.Errorf("%s: it holds none of the outputs of the model as %sNAME", file, witnessOut)
	}
	return nil
}
