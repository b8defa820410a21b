package app

import (
	"context"
	"io"
	"maps"
	"slices"

	"nero/model/engine/choose"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
)

// Inspection is what the graph of a model says.
type Inspection struct {
	*facts.Report
	// Prediction is the largest group that structure and weights allow; nil where the shapes are not known.
	Prediction *lint.Prediction `json:"prediction,omitempty"`
}

// Inspect reads a model without running it: inputs and outputs, operators, size, cost, and what the graph says about
// symmetry. The shape is that of the input, for axes that the file leaves free; nil for none.
func (a *App) Inspect(ctx context.Context, file string, shape []int) (*Inspection, error) {
	m, err := onnx.Read(file)
	if err != nil {
		return nil, err
	}
	if len(shape) == 0 {
		shape = nil
	}
	o := facts.Options{Shape: shape}
	if v := choose.Version(choose.Request{}, a.host()); v != "" {
		if native, err := onnx.Native(v); err == nil {
			o.Limits = []onnx.Limits{onnx.Wasm(), native}
		}
	}
	r, err := facts.Inspect(m, o)
	if err != nil {
		return nil, err
	}
	if r.Inputs == nil {
		return &Inspection{Report: r}, nil
	}
	f, err := facts.Infer(m, single(m.Signature(), r.Inputs), nil)
	if err != nil {
		return nil, err
	}
	p, err := lint.Predict(ctx, f, lint.Options{})
	if err != nil {
		return nil, err
	}
	return &Inspection{r, p}, nil
}

// WriteText writes it for people.
func (i *Inspection) WriteText(w io.Writer) error {
	if i.Prediction == nil || !i.Prediction.Analyzed {
		return i.Report.WriteText(w)
	}
	r := *i.Report
	r.Symmetry = nil // the prediction says more
	if err := r.WriteText(w); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\nsymmetry of the pixel grid, read from structure and weights\n\n"); err != nil {
		return err
	}
	return i.Prediction.WriteText(w)
}

// single are the shapes of one sample where the first axis, which counts samples, is free.
func single(sig onnx.Signature, in map[string][]int) map[string][]int {
	out := maps.Clone(in)
	for name, s := range out {
		if p, ok := sig.Input(name); ok && len(s) > 0 && (len(p.Shape) == 0 || p.Shape[0].Free()) {
			out[name] = append([]int{1}, slices.Clone(s[1:])...)
		}
	}
	return out
}
