package facts

import (
	"fmt"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
)

// Model is the model that the facts are about.
func (f *Facts) Model() *onnx.Model { return f.model }

// Depends tells whether a value depends on an input of the graph. A value of that name that does not exist does not.
func (f *Facts) Depends(value string) bool {
	v := f.values[value]
	return v != nil && v.data
}

// Integers are the elements of a small constant of an integer type that is stored, or computed from shapes; ok is false
// if they are not known.
func (f *Facts) Integers(value string) (v []int64, ok bool) {
	x := f.values[value]
	if x == nil || x.ints == nil {
		return nil, false
	}
	return slices.Clone(x.ints), true
}

// Stored is the constant behind a value: an initializer, the tensor of a Constant node, or what passes one on
// unchanged. ok is false if there is none or if it cannot be decoded.
func (f *Facts) Stored(value string) (t tensor.Tensor, ok bool) {
	x := f.values[value]
	if x == nil || x.store == nil {
		return tensor.Tensor{}, false
	}
	t, err := onnx.Value(x.store)
	if err != nil {
		return tensor.Tensor{}, false
	}
	if x.known && tensor.Count(x.shape) == t.Len() {
		t.Shape = slices.Clone(x.shape)
	}
	return t, true
}

// Cut is what a Slice does to one axis: it takes Count places from Start on in steps of Step, which may be negative.
type Cut struct{ Axis, Start, Step, Count int }

// Cuts reads the Slice that is node i of the graph, in its own order of axes.
func (f *Facts) Cuts(i int) ([]Cut, error) {
	c, err := f.callOf(i)
	if err != nil {
		return nil, err
	}
	cuts, err := c.cuts()
	if err != nil {
		return nil, err
	}
	out := make([]Cut, len(cuts))
	for k, x := range cuts {
		out[k] = Cut{x.axis, x.start, x.step, x.count}
	}
	return out, nil
}

// Padding reads the Pad that is node i of the graph: places before and after, per axis; a negative number crops.
func (f *Facts) Padding(i int) ([][2]int, error) {
	c, err := f.callOf(i)
	if err != nil {
		return nil, err
	}
	return c.padding()
}

// ReducedAxes are the axes that the Reduce operator at node i of the graph runs over, sorted.
func (f *Facts) ReducedAxes(i int) ([]int, error) {
	c, err := f.callOf(i)
	if err != nil {
		return nil, err
	}
	return c.reducedAxes()
}

// callOf is node i with what is known of its inputs.
func (f *Facts) callOf(i int) (*call, error) {
	if i < 0 || i >= len(f.Nodes) {
		return nil, fmt.Errorf("node %d of %d", i, len(f.Nodes))
	}
	n := f.graph.GetNode()[i]
	c := &call{NodeProto: n, w: &walker{f: f, opset: f.model.Opset()}, rec: &f.Nodes[i]}
	for _, name := range n.GetInput() {
		c.in = append(c.in, f.values[name])
	}
	return c, nil
}
