package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"nero/model/engine/child/examine"
	"nero/model/engine/choose"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/run/job"
)

// Inspection is what the graph of a model says.
type Inspection struct {
	*facts.Report
	// Prediction is the largest group that structure and weights allow; nil where the shapes are not known.
	Prediction *lint.Prediction `json:"prediction,omitempty"`
	// Data says how data comes to the model; nil if none was named.
	Data *Proposal `json:"data,omitempty"`
}

// WriteText writes it for people.
func (p *Proposal) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "\ndata\n\n%s\n\nas a study\n\n  %s\n\nor as a command\n\n  %s\n", p.Text,
		strings.ReplaceAll(strings.TrimSpace(p.Study), "\n", "\n  "), p.Command)
	return err
}

// Present says what is wrong with a path that is to be that of a model, without reading it: an error if nothing is
// there.
func (a *App) Present(file string) error {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file: name the .onnx file of the model", file)
	}
	return nil
}

// Foreign says what a file is that is neither a model nor a study, and what to do with it: an error that names the
// format, such as that of PyTorch, and the remedy. Nil where nothing better is known than that it is of another kind:
// text, or a model under another name.
func (a *App) Foreign(file string) error {
	if err := a.Present(file); err != nil {
		return err
	}
	if _, err := onnx.Read(file); errors.Is(err, onnx.ErrNotModel) {
		return err
	}
	return nil
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
	} else {
		o.Absent = true
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
	return &Inspection{Report: r, Prediction: p}, nil
}

// InspectProgram holds a program that is to be a model against the protocol of programs, and names the first thing that
// is wrong. It runs the program, which the text names: exec:./model.
func (a *App) InspectProgram(ctx context.Context, text string, shape []int, limit time.Duration,
) (*examine.Report, error) {
	var m job.Model
	if err := m.Put(text); err != nil {
		return nil, err
	}
	if len(shape) == 0 {
		shape = nil
	}
	return examine.Examine(ctx, m.Program, "", shape, limit)
}

// WriteText writes it for people.
func (i *Inspection) WriteText(w io.Writer) error {
	if err := i.writeModel(w); err != nil || i.Data == nil {
		return err
	}
	return i.Data.WriteText(w)
}

func (i *Inspection) writeModel(w io.Writer) error {
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
