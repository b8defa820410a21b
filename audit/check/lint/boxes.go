package lint

import (
	"math"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// carries are the operators that may stand between the places of boxes and the output: they hand numbers on, or change
// the unit.
var carries = []string{
	"Identity", "Cast", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Concat", "Split", "Slice", "Gather",
	"Add", "Sub", "Mul", "Div",
}

// coordinates tells whether a node adds the coordinates of places to a map, as every detector does that turns offsets
// into places in the picture: a stored table that grows evenly along rows and columns, and nothing but changes of form
// and unit between the sum and the outputs. Such a table is part of what the output means, and moves as it does.
func coordinates(m *onnx.Model, node string) bool {
	nodes := m.Proto().GetGraph().GetNode()
	at := slices.IndexFunc(nodes,
		func(n *onnxpb.NodeProto) bool { return n.GetName() == node && len(n.GetOutput()) > 0 })
	if at < 0 || nodes[at].GetOpType() != "Add" {
		return false
	}
	if !slices.ContainsFunc(nodes[at].GetInput(), func(v string) bool { return even(m, v) }) {
		return false
	}
	from := map[string]bool{nodes[at].GetOutput()[0]: true}
	for _, n := range nodes[at+1:] {
		if !slices.ContainsFunc(n.GetInput(), func(v string) bool { return from[v] }) {
			continue
		}
		if !slices.Contains(carries, n.GetOpType()) {
			return false
		}
		for _, o := range n.GetOutput() {
			from[o] = true
		}
	}
	return true
}

// even tells whether a stored tensor of two axes of places and others before them grows evenly along both, channel by
// channel, and is no constant.
func even(m *onnx.Model, name string) bool {
	list := m.Proto().GetGraph().GetInitializer()
	i := slices.IndexFunc(list, func(t *onnxpb.TensorProto) bool { return t.GetName() == name })
	if i < 0 {
		return false
	}
	t, err := onnx.Value(list[i])
	if err != nil || len(t.Shape) < 3 {
		return false
	}
	x, err := t.Float64s(nil)
	if err != nil {
		return false
	}
	h, w := t.Shape[len(t.Shape)-2], t.Shape[len(t.Shape)-1]
	if h < 2 || w < 2 {
		return false
	}
	grows := false
	for at := 0; at+h*w <= len(x); at += h * w {
		p := x[at : at+h*w]
		down, right := p[w]-p[0], p[1]-p[0]
		grows = grows || down != 0 || right != 0
		near := 1e-5 * (math.Abs(p[0]) + float64(math.Abs(down)*float64(h)) + float64(math.Abs(right)*float64(w)))
		for k, v := range p {
			if !(math.Abs(p[0]+float64(down*float64(k/w))+float64(right*float64(k%w))-v) <= near) {
				return false
			}
		}
	}
	return grows
}
