package interior

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/jvp"
	"nero/model/onnx/rewrite"
	"nero/model/onnx/vjp"
)

// Pull carries cotangents of the output back: for every sample and every name of wrt, an input or an inner value, Jᵀ·c
// with the Jacobian J of the output by that value at the sample in. Cotangents have the shape of a sample's output.
//
// The error wraps [vjp.ErrNoPath] if the output does not depend on a value, and holds a *[vjp.UnsupportedError] if it
// does so by way of operators that have no derivative here.
func (m *Model) Pull(ctx context.Context, in [][]Array, cotangent []Array, wrt []string) ([][]Array, error) {
	return m.PullFrom(ctx, m.Output(), in, cotangent, wrt)
}

// PullFrom is [Model.Pull] for another output of the graph, or an inner value, in place of the output that the codec
// reads.
func (m *Model) PullFrom(ctx context.Context, output string, in [][]Array, cotangent []Array, wrt []string) ([][]Array,
	error,
) {
	out := make([][]Array, len(in))
	if len(in) == 0 {
		return out, nil
	}
	if len(cotangent) != len(in) {
		return nil, fmt.Errorf("%s: %d samples and cotangents for %d", m.onnx.Name(), len(in), len(cotangent))
	}
	if groups := spans(in, len(in)); len(groups) > 1 { // a gradient's graph is made for one shape
		for _, s := range groups {
			got, err := m.PullFrom(ctx, output, in[s.lo:s.hi], cotangent[s.lo:s.hi], wrt)
			if err != nil {
				return nil, err
			}
			copy(out[s.lo:], got)
		}
		return out, nil
	}
	g, err := m.backward(ctx, output, in, cotangent, wrt)
	if err != nil {
		return nil, err
	}
	names := append(slices.Clone(wrt), output)
	if err := m.findPlans(ctx, names); err != nil {
		return nil, err
	}
	at := make([]int, len(wrt))
	for i := range out {
		out[i] = make([]Array, len(wrt))
	}
	for k := range wrt {
		at[k] = k
	}
	err = m.each(ctx, m.alike(in, names), func(ctx context.Context, s span) error {
		got, rows, err := m.differentiate(ctx, g, in[s.lo:s.hi], []string{output}, columns(cotangent[s.lo:s.hi]))
		if err != nil {
			return err
		}
		return m.scatter(out, got, wrt, at, s, rows)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PullParameters carries cotangents of the output back to stored tensors, summed over the samples. Rows that fill up a
// fixed batch do not count.
func (m *Model) PullParameters(ctx context.Context, in [][]Array, cotangent []Array, names []string) ([]Array, error) {
	if len(in) == 0 {
		return nil, fmt.Errorf("%s: no samples to take gradients at", m.onnx.Name())
	}
	g, err := m.backward(ctx, m.Output(), in, cotangent, names)
	if err != nil {
		return nil, err
	}
	if err := m.findPlans(ctx, []string{m.Output()}); err != nil {
		return nil, err
	}
	sum := make([]Array, len(names))
	for _, s := range m.alike(in, []string{m.Output()}) { // one after the other: sums depend on their order
		got, _, err := m.differentiate(ctx, g, in[s.lo:s.hi], []string{m.Output()}, columns(cotangent[s.lo:s.hi]))
		if err != nil {
			return nil, err
		}
		for k, t := range got {
			v, err := t.Float64s(nil)
			if err != nil {
				return nil, fmt.Errorf("%s: gradient of %q: %w", m.onnx.Name(), names[k], err)
			}
			if sum[k].Val == nil {
				sum[k] = Array{Shape: slices.Clone(t.Shape), Val: v}
				continue
			}
			for i, x := range v {
				sum[k].Val[i] += x
			}
		}
	}
	return sum, nil
}

// Parameters are the stored tensors of at least two floating-point numbers that the weighted operators read directly:
// what training changes, as far as a file tells it.
func (m *Model) Parameters() []string {
	stored := map[string]bool{}
	for _, t := range m.onnx.Proto().GetGraph().GetInitializer() {
		n := 1
		for _, d := range t.GetDims() {
			n *= int(d)
		}
		d := tensor.DType(t.GetDataType())
		if n > 1 && (d == tensor.Float32 || d == tensor.Float64 || d == tensor.Float16 || d == tensor.BFloat16) {
			stored[t.GetName()] = true
		}
	}
	var names []string
	wrapper := rewrite.Wrapped(m.onnx)
	for _, n := range m.onnx.Proto().GetGraph().GetNode() {
		if wrapper.Has(n.GetName()) { // nobody trained its numbers
			continue
		}
		at := n.GetInput()
		switch n.GetOpType() {
		case "Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Mul", "PRelu", "LayerNormalization",
			"InstanceNormalization":
		case "BatchNormalization":
			at = at[:min(3, len(at))] // mean and variance are statistics
		default:
			continue
		}
		for _, v := range at {
			if stored[v] && !slices.Contains(names, v) {
				names = append(names, v)
			}
		}
	}
	return names
}

// Push carries tangents forward: for every sample, the directional derivative of the output when the values at, inputs
// or inner ones, move along the tangents given per sample and value. Tangents at several values add up, as do those at
// an inner value and those that arrive there.
//
// The error holds a *[jvp.UnsupportedError] if an operator on the way has no derivative here.
func (m *Model) Push(ctx context.Context, in [][]Array, at []string, tangent [][]Array) ([]Array, error) {
	out, err := m.PushTo(ctx, []string{m.Output()}, in, at, tangent)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	flat := make([]Array, len(out))
	for i := range out {
		flat[i] = out[i][0]
	}
	return flat, nil
}

// PushTo is [Model.Push] for other outputs of the graph, or inner values, in place of the first output that the codec
// reads: per sample, per output.
func (m *Model) PushTo(ctx context.Context, outputs []string, in [][]Array, at []string, tangent [][]Array) ([][]Array,
	error,
) {
	if len(tangent) != len(in) {
		return nil, fmt.Errorf("%s: %d samples and tangents for %d", m.onnx.Name(), len(in), len(tangent))
	}
	out := make([][]Array, len(in))
	if len(in) == 0 {
		return nil, nil
	}
	for i := range out {
		if len(tangent[i]) != len(at) {
			return nil, fmt.Errorf("%s: sample %d has %d tangents for the %d values %q", m.onnx.Name(), i,
				len(tangent[i]), len(at), at)
		}
		out[i] = make([]Array, len(outputs))
	}
	m.remember(in)
	g, err := m.pool.graph("push\x00"+strings.Join(at, "\x00")+"\x01"+strings.Join(outputs, "\x00"),
		func() (*graph, error) {
			r, err := jvp.Build(m.onnx, jvp.Request{Tangents: at, Outputs: outputs})
			if err != nil {
				return nil, err
			}
			return derivative(r.Model, r.Inputs, r.Tangents), nil
		})
	if err != nil {
		return nil, err
	}
	names := append(slices.Clone(at), outputs...)
	if err := m.findPlans(ctx, names); err != nil {
		return nil, err
	}
	places := make([]int, len(outputs))
	for k := range places {
		places[k] = k
	}
	err = m.each(ctx, m.alike(in, names), func(ctx context.Context, s span) error {
		got, rows, err := m.differentiate(ctx, g, in[s.lo:s.hi], at, tangent[s.lo:s.hi])
		if err != nil {
			return err
		}
		return m.scatter(out, got, outputs, places, s, rows)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Gradient is Pull for values: the gradient of Σ cotangent·output by each value, in the unit of the value. Cotangents
// look like predictions; those of scores belong to the numbers that the model returns, before any softmax that the
// codec applies. The error wraps [decode.ErrNotLinear] if the output is labels, or the input is rounded to integers.
func (m *Model) Gradient(ctx context.Context, values, cotangents []space.Value) ([]space.Value, error) {
	if len(values) != len(cotangents) {
		return nil, fmt.Errorf("%s: %d values and cotangents for %d", m.onnx.Name(), len(values), len(cotangents))
	}
	if len(values) == 0 {
		return nil, nil
	}
	if err := m.differentiable(values[0]); err != nil {
		return nil, err
	}
	in, err := m.Arrays(ctx, values)
	if err != nil {
		return nil, err
	}
	grads, err := m.pullAll(ctx, in, cotangents)
	if err != nil {
		return nil, err
	}
	out := make([]space.Value, len(values))
	for i := range grads {
		named := make([]tensor.Named, len(m.moving))
		for k, name := range m.moving {
			at, _ := m.planOf(name)
			if named[k], err = at.stack(name, grads[i][k:k+1], 1, withLast, tensor.Float64); err != nil {
				return nil, err
			}
		}
		v, err := decode.Adjoint(m.codec, named, values[i:i+1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.onnx.Name(), err)
		}
		out[i] = space.Bare(v[0])
	}
	return out, nil
}

// pullAll sums what the cotangents of all outputs carry back to the inputs that move: per sample, per input. Outputs
// that do not depend on an input add nothing there; that none does is an error.
func (m *Model) pullAll(ctx context.Context, in [][]Array, cotangents []space.Value) ([][]Array, error) {
	cot, err := m.CotangentsOf(ctx, cotangents)
	if err != nil {
		return nil, err
	}
	outputs := m.Outputs()
	if len(outputs) == 1 && len(m.moving) == 1 {
		return m.PullFrom(ctx, outputs[0], in, columnOf(cot, 0), m.moving)
	}
	sum := make([][]Array, len(in))
	for i := range sum {
		for _, name := range m.moving {
			k := slices.Index(m.Inputs(), name)
			sum[i] = append(sum[i], zero(in[i][k]))
		}
	}
	var lost error
	found := false
	for o, output := range outputs {
		for k, name := range m.moving {
			got, err := m.PullFrom(ctx, output, in, columnOf(cot, o), []string{name})
			if errors.Is(err, vjp.ErrNoPath) {
				lost = err
				continue
			}
			if err != nil {
				return nil, err
			}
			found = true
			for i := range got {
				for j, x := range got[i][0].Val {
					sum[i][k].Val[j] += x
				}
			}
		}
	}
	if !found {
		return nil, lost
	}
	return sum, nil
}

// columnOf is the k-th array of every sample.
func columnOf(a [][]Array, k int) []Array {
	out := make([]Array, len(a))
	for i := range a {
		out[i] = a[i][k]
	}
	return out
}

// Cotangents lays values that look like predictions out as Pull takes them. Arrays must have been asked for samples
// before. Of answers with several fields these are the cotangents of the first; see [Model.CotangentsOf].
func (m *Model) Cotangents(ctx context.Context, cotangents []space.Value) ([]Array, error) {
	all, err := m.CotangentsOf(ctx, cotangents)
	if err != nil {
		return nil, err
	}
	return columnOf(all, 0), nil
}

// CotangentsOf lays values that look like predictions out as [Model.PullFrom] takes them for each of the outputs: per
// sample, per output.
func (m *Model) CotangentsOf(ctx context.Context, cotangents []space.Value) ([][]Array, error) {
	outputs := m.Outputs()
	if err := m.findPlans(ctx, outputs); err != nil {
		return nil, err
	}
	out := make([][]Array, len(cotangents))
	for i, c := range cotangents {
		all, err := decode.Raws(m.codec, []space.Value{c})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.onnx.Name(), err)
		}
		for k, t := range all {
			p, _ := m.planOf(outputs[k])
			a, err := p.split(t, 1, 1)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.onnx.Name(), err)
			}
			out[i] = append(out[i], a[0])
		}
	}
	return out, nil
}

// Read decodes the arrays of one sample's outputs, in the order of [Model.Outputs], to a prediction without softmax.
// like is the sample.
func (m *Model) Read(arrays []Array, like space.Value) (space.Value, error) {
	outputs := m.Outputs()
	if len(arrays) != len(outputs) {
		return nil, fmt.Errorf("%s: %d arrays for %d outputs", m.onnx.Name(), len(arrays), len(outputs))
	}
	plain, rows := decode.Plain(m.codec), m.rows(1)
	all := make([]tensor.Named, len(outputs))
	for k, name := range outputs {
		p, ok := m.planOf(name)
		if !ok {
			return nil, fmt.Errorf("%s: nothing is known of the value %q yet; ask for values of samples first",
				m.onnx.Name(), name)
		}
		var err error
		if all[k], err = p.stack(name, arrays[k:k+1], rows, withZeros, tensor.Float64); err != nil {
			return nil, err
		}
	}
	v, err := decode.DecodeFor(plain, all, []space.Value{like})
	if err != nil {
		return nil, fmt.Errorf("%s: output: %w", m.onnx.Name(), err)
	}
	return v[0], nil
}

// Tangents lays changes of values out as Push takes them at the inputs of [Model.Moving].
func (m *Model) Tangents(changes []space.Value) ([][]Array, error) {
	out := make([][]Array, len(changes))
	for i := range changes {
		named, err := decode.Linear(m.codec, changes[i:i+1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.onnx.Name(), err)
		}
		for _, t := range named {
			p, _ := m.planOf(t.Name)
			a, err := p.split(t, 1, 1)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.onnx.Name(), err)
			}
			out[i] = append(out[i], a[0])
		}
	}
	return out, nil
}

// Tangent is Push for values: how each output begins to change when its value moves along the change given, in the unit
// of the value. Scores are changes of the numbers that the model returns, before any softmax that the codec applies.
// Errors are those of [Model.Gradient].
func (m *Model) Tangent(ctx context.Context, values, changes []space.Value) ([]space.Value, error) {
	if len(values) != len(changes) {
		return nil, fmt.Errorf("%s: %d values and changes for %d", m.onnx.Name(), len(values), len(changes))
	}
	if len(values) == 0 {
		return nil, nil
	}
	if err := m.differentiable(values[0]); err != nil {
		return nil, err
	}
	in, err := m.Arrays(ctx, values)
	if err != nil {
		return nil, err
	}
	tan, err := m.Tangents(changes)
	if err != nil {
		return nil, err
	}
	moved, err := m.PushTo(ctx, m.Outputs(), in, m.moving, tan)
	if err != nil {
		return nil, err
	}
	out := make([]space.Value, len(values))
	for i := range moved {
		v, err := m.Read(moved[i], values[i])
		if err != nil {
			return nil, err
		}
		out[i] = space.Bare(v) // a change is no value of the type
	}
	return out, nil
}

// differentiable says whether derivatives of predictions by values make sense: pixels that are rounded to integers on
// the way in, and labels on the way out, have none. The error wraps [decode.ErrNotLinear].
func (m *Model) differentiable(v space.Value) error {
	out := m.codec.Out()
	for i, name := range m.Outputs() {
		k := out.Kind
		if i < len(out.Fields) {
			k = out.Fields[i].Kind
		}
		if k == space.KindMask {
			return fmt.Errorf("%s: output %q is decoded to labels: %w", m.onnx.Name(), name, decode.ErrNotLinear)
		}
		if k == space.KindBoxes {
			return fmt.Errorf("%s: output %q is decoded to a set of boxes: %w", m.onnx.Name(), name,
				decode.ErrNotLinear)
		}
	}
	if _, err := decode.Linear(m.codec, []space.Value{v}); err != nil {
		return fmt.Errorf("%s: %w", m.onnx.Name(), err)
	}
	return nil
}

// backward is the graph that carries cotangents back; it is made for the shape of the samples.
func (m *Model) backward(ctx context.Context, output string, in [][]Array, cotangent []Array, wrt []string) (*graph,
	error,
) {
	if len(cotangent) != len(in) {
		return nil, fmt.Errorf("%s: %d samples and cotangents for %d", m.onnx.Name(), len(in), len(cotangent))
	}
	for i := range in {
		if len(in[i]) != len(m.inputs) {
			return nil, fmt.Errorf("%s: sample %d has %d arrays for %d inputs", m.onnx.Name(), i, len(in[i]),
				len(m.inputs))
		}
		for k := range in[i] {
			if !slices.Equal(in[i][k].Shape, in[0][k].Shape) {
				return nil, fmt.Errorf(
					"%s: sample %d has the shape %v, the first %v; take gradients of samples of one shape at a time",
					m.onnx.Name(), i, in[i][k].Shape, in[0][k].Shape)
			}
		}
	}
	m.remember(in)
	form := make([][]int, len(m.inputs))
	for k := range form {
		form[k] = in[0][k].Shape
	}
	key := fmt.Sprintf("pull\x00%s\x00%v\x00%s", output, form, strings.Join(wrt, "\x00"))
	return m.pool.graph(key, func() (*graph, error) {
		model, shapes, err := m.shapes(ctx, in[0])
		if err != nil {
			return nil, err
		}
		r, err := vjp.Build(model, shapes, vjp.Request{Output: output, Wrt: wrt})
		if err != nil {
			return nil, err
		}
		return derivative(r.Model, []string{r.Cotangent}, r.Gradients), nil
	})
}

// shapes are those of all values for samples like the one given, as vjp takes them. A model of one input is taken as it
// is; of several, inputs without an axis of samples are fixed to the lengths that they have.
func (m *Model) shapes(ctx context.Context, sample []Array) (*onnx.Model, map[string][]int, error) {
	if batched, _ := m.planOf(m.inputs[0].Name); len(m.inputs) == 1 && !batched.whole {
		shapes, err := vjp.Shapes(ctx, m.onnx, sample[0].Shape, m.runOnce)
		return m.onnx, shapes, err
	}
	fixed := map[string][]int{}
	feeds := make([]tensor.Named, len(m.inputs))
	n := vjp.Samples
	if m.o.Fixed > 0 {
		n = m.o.Fixed
	}
	for k, p := range m.inputs {
		at, _ := m.planOf(p.Name)
		if at.whole || at.shared {
			fixed[p.Name] = sample[k].Shape
		}
		var err error
		if feeds[k], err = at.stack(p.Name, sample[k:k+1], n, withLast, m.dtype(p)); err != nil {
			return nil, nil, err
		}
	}
	model, err := m.onnx.WithShapes(fixed)
	if err != nil {
		return nil, nil, err
	}
	shapes, err := vjp.ShapesOf(ctx, model, feeds, m.runOnce)
	return model, shapes, err
}

// runOnce opens a model, runs it and closes it.
func (m *Model) runOnce(ctx context.Context, b []byte, in []tensor.Named) (out []tensor.Named, err error) {
	s, err := m.pool.open(ctx, b)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Run(ctx, in)
}

// derivative is a graph that reads tangents and returns derivatives.
func derivative(m *onnx.Model, extra, results []string) *graph {
	sig := m.Signature()
	return &graph{
		encode: m.Bytes, size: m.Size(), feeds: sig.Inputs, outputs: onnx.Names(sig.Outputs), extra: extra,
		results: results,
	}
}

// columns are tangents of one value per sample.
func columns(a []Array) [][]Array {
	out := make([][]Array, len(a))
	for i := range a {
		out[i] = a[i : i+1]
	}
	return out
}

// alike are the spans of samples that can go together when these values are read or returned.
func (m *Model) alike(in [][]Array, names []string) []span { return spans(in, m.size(names)) }

// differentiate runs a batch through a derivative's graph: the samples, and the tangents of the values at, which are
// zero in rows that hold no sample. It returns the graph's results and the length of the batch.
func (m *Model) differentiate(ctx context.Context, g *graph, in [][]Array, at []string,
	tangent [][]Array,
) ([]tensor.Named, int, error) {
	rows := m.rows(len(in))
	feeds := make([]tensor.Named, len(g.feeds))
	for i, port := range g.feeds {
		var err error
		if k := slices.Index(g.extra, port.Name); k >= 0 {
			value := port
			value.Name = at[k]
			feeds[i], err = m.column(value, tangent, k, rows, withZeros)
			feeds[i].Name = port.Name
		} else {
			feeds[i], err = m.column(port, in, slices.Index(m.Inputs(), port.Name), rows, withLast)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	out, err := m.run(ctx, g, feeds)
	if err != nil {
		return nil, 0, err
	}
	got := make([]tensor.Named, len(g.results))
	for k, name := range g.results {
		i := slices.IndexFunc(out, func(t tensor.Named) bool { return t.Name == name })
		if i < 0 {
			return nil, 0, fmt.Errorf("%s on %s returned no %q", m.onnx.Name(), m.o.Body, name)
		}
		got[k] = out[i]
	}
	return got, rows, nil
}
