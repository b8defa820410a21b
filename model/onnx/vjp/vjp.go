// Package vjp differentiates ONNX models backwards. It adds to a copy of a model the nodes that compute vector-Jacobian
// products, so that any engine that runs the model runs its gradient too.
//
// With output y, a value x and a cotangent c of the shape of y, the gradient is Jᵀ·c with J = ∂y/∂x, that is ∂(Σ
// c·y)/∂x. For values with a batch axis it holds one gradient per sample, because samples do not influence each other's
// outputs; where they do (batch statistics in training mode, a reduction over the batch) it is the gradient of the sum
// over the batch. For parameters it is always summed over the batch.
//
// Shapes are those of one batch size, yet the result runs with any: what depends on the length of the batch axis is
// computed in the graph.
//
// # Where there is no derivative
//
// Conventions are those of PyTorch: the derivative of Relu, LeakyRelu's negative side aside, and of Abs at 0 is 0; Clip
// passes the cotangent at its bounds; MaxPool and GlobalMaxPool give it to the first of equal elements in row-major
// order; Max, Min, ReduceMax and ReduceMin share it equally among the elements that tie (as torch.maximum and
// torch.amax do, not torch.max with an axis, which picks one), so that no order is preferred. Floor, Ceil, Round, Sign,
// comparisons, conversions to integers and the like have the derivative 0 everywhere.
//
// # What is refused
//
// An operator, an attribute or an optional input without a rule is refused, and the node named, if it lies on a path
// from what is differentiated by to the output. Nothing else of the model matters.
package vjp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
)

// Operator sets that are taken. From 13 to 15 a model is re-stamped as 16, which the gradient's nodes need; older ones
// only if none of their operators changed in between.
const (
	MinOpset = 16 // of the gradient graph
	MaxOpset = 23 // of the model
)

// ErrNoPath marks values of which the output does not depend, or only through operators whose derivative is 0
// everywhere.
var ErrNoPath = errors.New("no gradient path")

// Request says what is differentiated by what.
type Request struct {
	// Output is the value that is differentiated: a graph output or an inner value. "" stands for the model's only
	// output.
	Output string
	// Wrt are the values to differentiate by: graph inputs, stored tensors (parameters) or inner values, by name. All
	// must have elements of a floating-point type.
	Wrt []string
}

// Result is a model that computes gradients besides its own outputs.
type Result struct {
	Model *onnx.Model
	// Cotangent is the name of the input that was added after the model's own. It has the shape of the output; its
	// first axis is free, and so are those that the model declares as free.
	Cotangent string
	// Gradients are the names of the outputs that were added after the model's own, in the order of Request.Wrt. Each
	// has the shape of its value. Gradients by values with a batch axis are per sample, those by parameters are summed
	// over the batch.
	Gradients []string
	// what else was done to the model, for people; may be empty
	Note string
}

// Refusal is a node through which no gradient is built.
type Refusal struct {
	// its name, else that of its first output
	Node string
	// with the domain before it unless it is the standard one
	Op     string
	Reason string
}

// UnsupportedError lists the nodes on the path from what is differentiated by to the output that have no rule. The
// first in the model's order is repeated in the fields.
type UnsupportedError struct {
	Refusal
	// in the model's order
	All []Refusal
}

// Error names the first node and how many more there are.
func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("no gradient through node %q (%s): %s", e.Node, e.Op, e.Reason)
	if n := len(e.All); n > 1 {
		ops := map[string]bool{}
		for _, r := range e.All[1:] {
			ops[r.Op] = true
		}
		s += fmt.Sprintf("; nor through %d more (%s)", n-1, strings.Join(slices.Sorted(maps.Keys(ops)), ", "))
	}
	return s
}

// Supported lists the operators through which gradients are built, sorted. Some refuse some of their attributes.
func Supported() []string { return slices.Sorted(maps.Keys(rules)) }

// Samples is the number of samples for which [Shapes] finds shapes: enough to tell the batch axis, and what is computed
// from it, from axes of length 1.
const Samples = 4

// Shapes finds the shapes that [Build] needs, for Samples samples. shape is that of the model's first input, with or
// without its batch axis; nil if only batch axes are free. run may be nil: then shapes behind operators that
// [facts.Infer] does not know are missing, which matters only if the gradient passes there; else the model is run once
// on zeros where that happens.
func Shapes(ctx context.Context, m *onnx.Model, shape []int, run facts.Run) (map[string][]int, error) {
	sig := m.Signature()
	if len(sig.Inputs) > 0 && len(shape) > 0 && len(shape) == len(sig.Inputs[0].Shape) &&
		sig.Inputs[0].Shape[0].Free() {
		shape = slices.Clone(shape)
		shape[0] = Samples
	}
	in, err := facts.SampleShapes(sig, Samples, shape)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return shapesOf(ctx, m, in, func() []tensor.Named {
		var zeros []tensor.Named
		for _, p := range sig.Inputs {
			d := p.DType
			if d == tensor.Undefined {
				d = tensor.Float32
			}
			zeros = append(zeros, tensor.Named{Name: p.Name, Tensor: tensor.New(d, in[p.Name]...)})
		}
		return zeros
	}, run)
}

// ShapesOf is [Shapes] for models of several inputs: the shapes of all values when the model is fed with in. Free first
// axes of the inputs should have the length [Samples] there, unless the file that is given to [Build] has them fixed
// ([onnx.Model.WithShapes]).
func ShapesOf(ctx context.Context, m *onnx.Model, in []tensor.Named, run facts.Run) (map[string][]int, error) {
	shapes := map[string][]int{}
	for _, t := range in {
		shapes[t.Name] = t.Shape
	}
	return shapesOf(ctx, m, shapes, func() []tensor.Named { return in }, run)
}

func shapesOf(ctx context.Context, m *onnx.Model, in map[string][]int, feed func() []tensor.Named,
	run facts.Run,
) (map[string][]int, error) {
	f, err := facts.Infer(m, in, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	if len(f.Gaps) == 0 || run == nil {
		return f.Shapes, nil
	}
	measured, err := facts.Measure(ctx, m, feed(), run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	if f, err = facts.Infer(m, in, measured); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return f.Shapes, nil
}

// Build adds the gradients asked for to a copy of the model. shapes are those of all its values for one batch, as from
// [Shapes]; free first axes of its inputs must have at least two elements there, since an axis of length 1 is taken for
// one that broadcasts. All other axes of the inputs are fixed to them, so that engines refuse other lengths. The error
// is an *[UnsupportedError] if nodes on the path have no rule, and wraps [ErrNoPath] if there is no path.
func Build(m *onnx.Model, shapes map[string][]int, r Request) (*Result, error) {
	res, err := build(m, shapes, r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return res, nil
}

// decided is the model without the Ifs that its shapes decide, see [facts.Decide], and the shapes of all its values.
func decided(m *onnx.Model, shapes map[string][]int) (*onnx.Model, map[string][]int, error) {
	in := map[string][]int{}
	for _, p := range m.Signature().Inputs {
		s, ok := shapes[p.Name]
		if !ok {
			return m, shapes, nil
		}
		in[p.Name] = s
	}
	d, err := facts.Decide(m, in)
	if err != nil || d == m {
		return m, shapes, err
	}
	f, err := facts.Infer(d, in, shapes)
	if err != nil {
		return nil, nil, err
	}
	all := maps.Clone(f.Shapes)
	maps.Copy(all, shapes)
	return d, all, nil
}

func build(m *onnx.Model, shapes map[string][]int, r Request) (*Result, error) {
	m, shapes, err := decided(m, shapes)
	if err != nil {
		return nil, err
	}
	s, note, err := newSweep(m, shapes)
	if err != nil {
		return nil, err
	}
	y, err := s.output(m, r.Output)
	if err != nil {
		return nil, err
	}
	if err := s.checkWrt(r.Wrt); err != nil {
		return nil, err
	}
	for _, p := range m.Signature().Inputs {
		if sh := shapes[p.Name]; len(p.Shape) > 0 && p.Shape[0].Free() && len(sh) > 0 && sh[0] < 2 {
			return nil, fmt.Errorf(
				"input %s: its batch axis has %d elements in the shapes given, where it cannot be told from an axis "+
					"that broadcasts: take shapes with at least 2 (vjp.Shapes does)", p, sh[0])
		}
	}
	s.fix()
	fwd := slices.Clone(s.b.Graph().GetNode())
	s.spread(fwd, r.Wrt)
	cot, err := s.cotangent(y, m.Signature())
	if err != nil {
		return nil, err
	}
	if refused := s.back(fwd); len(refused) > 0 {
		return nil, &UnsupportedError{Refusal: refused[0], All: refused}
	}
	res := &Result{Cotangent: cot, Note: note}
	for _, v := range r.Wrt {
		if s.adj[v] == "" {
			return nil, fmt.Errorf(
				"%w from %q to %q: the output does not depend on it, or only through operators whose derivative is 0",
				ErrNoPath, v, y)
		}
		res.Gradients = append(res.Gradients, s.gradient(v))
	}
	if res.Model, err = s.b.Model(); err != nil {
		return nil, err
	}
	return res, nil
}
