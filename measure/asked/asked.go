// Package asked makes metrics whose numbers somebody else computes: a program of the user's, or a model behind an
// endpoint. What is sent are the arrays that package formula names; what comes back is one number.
package asked

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/internal/spell"
	"nero/measure/formula"
	"nero/measure/metric"
	"nero/model/onnx"
)

// Asker is somebody who answers questions: [nero/model/engine/remote.Model] is one.
type Asker interface {
	// Signature says what is read and returned.
	Signature() onnx.Signature
	Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error)
}

// Metric is the metric of a definition, before anybody is asked: the expression of the definition is left empty. Its
// Measure has no value. The error is a [formula.FieldError].
func Metric(f formula.Formula, known metric.List) (*metric.Metric, error) {
	of := f
	// What refers to nothing would be compared with the model's own answer; of a program nobody knows before it runs.
	of.Expression = "mean(reference)"
	m, err := of.Metric(known)
	if err != nil {
		return nil, err
	}
	if m.Doc = f.Doc; m.Doc == "" {
		m.Doc = "computed by a program of the study"
	}
	m.Try = nil
	m.Measure = func(metric.Case) float64 { return math.NaN() }
	return m, nil
}

// question is what is asked for one number.
type question struct {
	ports []onnx.Port
	to    Asker
	in    [2]float64
}

// Put lets a metric of [Metric] ask. What is read must have names that expressions may use, and what is returned must
// be one output of one number for each input.
func Put(m *metric.Metric, to Asker) error {
	sig := to.Signature()
	if len(sig.Inputs) == 0 {
		return errors.New("it reads nothing; a metric reads at least one of " + strings.Join(formula.Names(), ", "))
	}
	for _, p := range sig.Inputs {
		if !slices.Contains(formula.Names(), p.Name) {
			near := ""
			if k, ok := spell.Nearest(p.Name, formula.Names()); ok {
				near = " (did you mean " + k + "?)"
			}
			return fmt.Errorf("it reads %q%s, and there is nothing of that name; there are %s", p.Name, near,
				strings.Join(formula.Names(), ", "))
		}
		if p.DType != tensor.Float32 && p.DType != tensor.Float64 && p.DType != tensor.Int64 {
			return fmt.Errorf("it reads %s as %s; expected FP32, FP64 or INT64", p.Name, p.DType)
		}
	}
	if n := len(sig.Outputs); n != 1 {
		return fmt.Errorf("it returns %d arrays; expected one, of one number for each input", n)
	}
	switch d := sig.Outputs[0].DType; d { //nolint:exhaustive // others are refused
	case tensor.Float32, tensor.Float64, tensor.Int64:
	default:
		return fmt.Errorf("it returns %s as %s; expected FP32, FP64 or INT64", sig.Outputs[0].Name, d)
	}
	m.Ask = (&question{sig.Inputs, to, m.Range}).ask
	return nil
}

// ask asks for the number of one case. What is outside of the range that the study gives is an error: the program and
// the study do not mean the same.
func (q *question) ask(ctx context.Context, c metric.Case) (float64, error) {
	in := make([]tensor.Named, len(q.ports))
	for i, p := range q.ports {
		a, ok := formula.Of(p.Name, c)
		if !ok {
			return math.NaN(), fmt.Errorf("it reads %s, which is not known here: %s", p.Name, formula.Doc(p.Name))
		}
		shape := append([]int{1}, a.Shape...)
		if want := len(p.Shape); p.Ranked && want != len(shape) {
			return math.NaN(), fmt.Errorf("it reads %s as %s, and it is an array of shape %v: expected %d axes, the "+
				"first for the number of inputs", p.Name, p.ShapeString(), a.Shape, len(shape))
		}
		for k, d := range p.Shape {
			if p.Ranked && !d.Free() && d.Size != shape[k] {
				return math.NaN(), fmt.Errorf("it reads %s as %s, and it is an array of shape %v; describe lengths "+
					"that vary as -1", p.Name, p.ShapeString(), a.Shape)
			}
		}
		// What a conversion makes of what no INT64 holds depends on the processor.
		if p.DType == tensor.Int64 && slices.ContainsFunc(a.Val, math.IsNaN) {
			return math.NaN(), nil // counted: of what has no value there is no number
		}
		if p.DType == tensor.Int64 && slices.ContainsFunc(a.Val, tooLarge) {
			return math.NaN(), fmt.Errorf("it reads %s as INT64, and a number in it is too large for that: describe "+
				"it as FP32", p.Name)
		}
		in[i] = tensor.Named{Name: p.Name, Tensor: array(a.Val, p.DType, shape)}
	}
	out, err := q.to.Run(ctx, in)
	if ctx.Err() != nil {
		return math.NaN(), ctx.Err()
	}
	if err != nil {
		// In words alone: that this program crashed is no fault of the model that is measured.
		return math.NaN(), errors.New(err.Error())
	}
	if len(out) != 1 || out[0].Len() != 1 {
		return math.NaN(), fmt.Errorf("it answers %s; expected one number", shapes(out))
	}
	v, err := out[0].Float64s(nil)
	if err != nil {
		return math.NaN(), err
	}
	if math.IsNaN(v[0]) {
		return v[0], nil // counted, and told with sample and element
	}
	if !(v[0] >= q.in[0] && v[0] <= q.in[1]) {
		return math.NaN(), fmt.Errorf("it answers %g, and the study says range: [%g, %g]", v[0], q.in[0], q.in[1])
	}
	return v[0], nil
}

func shapes(out []tensor.Named) string {
	if len(out) == 0 {
		return "nothing"
	}
	var all []string
	for _, o := range out {
		all = append(all, fmt.Sprintf("%s of shape %v", o.Name, o.Shape))
	}
	return strings.Join(all, " and ")
}

func tooLarge(v float64) bool { return v < -(1<<63) || v >= 1<<63 }

// array is numbers in the type that is asked for.
func array(v []float64, as tensor.DType, shape []int) tensor.Tensor {
	switch as { //nolint:exhaustive // others were refused
	case tensor.Float32:
		x := make([]float32, len(v))
		for i := range v {
			x[i] = float32(v[i])
		}
		return tensor.FromFloat32(x, shape...)
	case tensor.Int64:
		x := make([]int64, len(v))
		for i := range v {
			x[i] = int64(math.RoundToEven(v[i]))
		}
		return tensor.FromInt64(x, shape...)
	}
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return tensor.Tensor{DType: tensor.Float64, Shape: shape, Raw: raw}
}
