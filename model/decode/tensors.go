package decode

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// NewTensors makes the codec of a model that reads one tensor per sample as it is: point sets, vectors, features. The
// first axis of the model's input counts samples. Errors say what the model wants.
func NewTensors(sig onnx.Signature, out OutputSpec) (Codec, error) {
	if len(sig.Inputs) != 1 {
		return nil, fmt.Errorf("the model has %d inputs; one is fed", len(sig.Inputs))
	}
	x := sig.Inputs[0]
	if x.Kind != "tensor" && x.Kind != "" {
		return nil, fmt.Errorf("input %q is a %s, want a tensor", x.Name, x.Kind)
	}
	t := &tensors{name: x.Name, dtype: x.DType}
	switch x.DType {
	case tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
	case tensor.Undefined:
		t.dtype = tensor.Float32
		t.notes = append(t.notes, fmt.Sprintf("input %q: the file does not say its element type; float32 is fed",
			x.Name))
	case tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Bool, tensor.Uint32,
		tensor.Uint64:
		return nil, fmt.Errorf("input %s: want floating-point numbers", x)
	default:
		return nil, fmt.Errorf("input %s: want floating-point numbers", x)
	}
	if x.Ranked {
		if len(x.Shape) < 1 {
			return nil, fmt.Errorf("input %s has no axis that counts samples", x)
		}
		t.shape = x.Sizes()[1:]
		t.batch = max(0, x.Sizes()[0])
	}
	if out.Space == space.KindBoxes || out.Space == space.KindField {
		return nil, fmt.Errorf("output.space: %s come from images or frames; the model is fed with tensors", out.Space)
	}
	d, err := readOutputs(sig, out, port{axes: axes{n: 0}}, [2]int{-1, -1})
	if err != nil {
		return nil, err
	}
	t.d = d
	return t, nil
}

// tensors is the codec of a model that reads tensors.
type tensors struct {
	name  string
	dtype tensor.DType
	// of one sample, -1 for free axes; nil if the file does not say
	shape []int
	// 0 for free
	batch int
	notes []string
	d     outputs
}

func (c *tensors) In() space.Spec {
	return space.Spec{Name: c.name, Kind: space.KindTensor, Shape: slices.Clone(c.shape)}
}

func (c *tensors) Out() space.Spec { return c.d.spec() }

func (c *tensors) Encode(batch []space.Value, _ []tensor.Named) ([]tensor.Named, error) {
	rows := len(batch)
	if c.batch > 0 {
		if rows > c.batch {
			return nil, fmt.Errorf("%d samples for input %q, whose batch axis is fixed at %d", rows, c.name, c.batch)
		}
		rows = c.batch
	}
	return c.encode(batch, rows, c.dtype)
}

func (c *tensors) encode(batch []space.Value, rows int, d tensor.DType) ([]tensor.Named, error) {
	if len(batch) == 0 {
		return nil, errors.New("an empty batch")
	}
	var all []float64
	var shape []int
	for i := range rows {
		v := batch[min(i, len(batch)-1)]
		x, ok := v.(*space.Tensor)
		if !ok {
			return nil, fmt.Errorf("sample %d of the batch is %s, want a tensor", i, kindOf(v))
		}
		if i == 0 {
			shape = x.Shape
		}
		if !slices.Equal(x.Shape, shape) || !c.admits(x.Shape) || tensor.Count(x.Shape) != len(x.Val) {
			return nil, fmt.Errorf(
				"sample %d of the batch has the shape %v with %d numbers; input %q wants %v, one shape in a batch",
				i, x.Shape, len(x.Val), c.name, c.shape)
		}
		all = append(all, x.Val...)
	}
	t, err := Rounded(d, all, append([]int{rows}, shape...)...)
	return []tensor.Named{{Name: c.name, Tensor: t}}, err
}

func (c *tensors) admits(shape []int) bool {
	return c.shape == nil ||
		slices.EqualFunc(c.shape, shape, func(want, have int) bool { return want < 0 || want == have })
}

func (c *tensors) Decode(out []tensor.Named, n int) ([]space.Value, error) {
	rows := n
	if c.batch > 0 {
		rows = c.batch
	}
	return c.d.decode(out, n, rows)
}

func (c *tensors) BatchLimit() int { return c.batch }

func (c *tensors) Notes() []string { return c.notes }

func (c *tensors) Linear(changes []space.Value) ([]tensor.Named, error) {
	return c.encode(changes, len(changes), tensor.Float64)
}

func (c *tensors) Adjoint(grads []tensor.Named, like []space.Value) ([]space.Value, error) {
	if len(grads) != 1 {
		return nil, fmt.Errorf("%d gradients for the one input %q", len(grads), c.name)
	}
	v, err := grads[0].Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("gradient of %q: %w", c.name, err)
	}
	out := make([]space.Value, len(like))
	for i, l := range like {
		x, ok := l.(*space.Tensor)
		if !ok || len(x.Val)*len(like) != len(v) {
			return nil, fmt.Errorf("a gradient of %d numbers for %d samples; sample %d is %s", len(v), len(like), i,
				kindOf(l))
		}
		n := len(x.Val)
		out[i] = &space.Tensor{Shape: slices.Clone(x.Shape), Val: slices.Clone(v[i*n : (i+1)*n])}
	}
	return out, nil
}

func (c *tensors) Raw(predictions []space.Value) (tensor.Named, error) { return c.d.raw(predictions) }

func (c *tensors) Double() Codec {
	d := *c
	d.dtype = tensor.Float64
	return &d
}

func (c *tensors) Plain() Codec {
	p := *c
	p.d = p.d.plain()
	return &p
}

func (c *tensors) BatchAxis() bool { return true }

var (
	_ Codec    = (*tensors)(nil)
	_ Tangents = (*tensors)(nil)
)
