package facts

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// walker visits the nodes in order.
type walker struct {
	f        *Facts
	opset    int
	measured map[string][]int
}

// call is one node with what is known of its inputs.
type call struct {
	*onnxpb.NodeProto
	w *walker
	// nil for an input that is left out
	in  []*val
	out []*val
	rec *Node
}

// errUnread is the reason of nodes that read what is unknown.
var errUnread = errors.New("reads a value of unknown shape")

// visit infers one node.
func (x *walker) visit(n *onnxpb.NodeProto) {
	c := &call{NodeProto: n, w: x, rec: &Node{Name: onnx.NodeLabel(n), Op: onnx.OpLabel(n)}}
	data := false
	for _, name := range n.GetInput() {
		v := x.f.values[name]
		c.in = append(c.in, v)
		data = data || v != nil && v.data
	}
	for range n.GetOutput() {
		c.out = append(c.out, &val{})
	}
	err := c.infer()
	lost := false
	for i, v := range c.out {
		v.data = data || v.data
		if err != nil {
			v.known, v.ints = false, nil
		}
		if v.known {
			if _, e := tensor.CheckedCount(v.shape, maxElements); e != nil {
				err, v.known = e, false
			}
		}
		name := n.GetOutput()[i]
		if s, ok := x.measured[name]; ok && !v.known {
			v.known, v.shape = true, s
			if v.dtype == tensor.Undefined {
				v.dtype = tensor.Float32 // the usual case; shapes alone were measured
			}
		}
		lost = lost || !v.known && name != ""
		x.f.set(name, v)
		if v.known {
			c.rec.Out = append(c.rec.Out, v.shape)
			if b := mul(product(v.shape), int64(max(v.dtype.Size(), 1))); b > x.f.Largest.Bytes {
				x.f.Largest = Largest{c.rec.Name, c.rec.Op, v.shape, b}
			}
		} else {
			c.rec.Out = append(c.rec.Out, nil)
		}
	}
	if err != nil {
		c.cost() // may be known from measured shapes
	}
	if lost && err != nil && !errors.Is(err, errUnread) {
		x.f.Gaps = append(x.f.Gaps, Gap{c.rec.Name, c.rec.Op, err.Error()})
	}
	x.f.MACs = add(x.f.MACs, c.rec.MACs)
	x.f.Nodes = append(x.f.Nodes, *c.rec)
}

// infer runs the rule of the operator.
func (c *call) infer() error {
	if d := c.GetDomain(); d != "" && d != "ai.onnx" {
		return fmt.Errorf("the operator %s is not known here", c.rec.Op)
	}
	r, ok := rules[c.GetOpType()]
	if !ok {
		return fmt.Errorf("the operator %s is not known here", c.rec.Op)
	}
	for i, v := range c.in {
		if c.GetInput()[i] != "" && (v == nil || !v.known) {
			return errUnread
		}
	}
	if err := r(c); err != nil {
		return err
	}
	for i, v := range c.out {
		if !v.known && c.GetOutput()[i] != "" {
			return fmt.Errorf("output %d of %s is not followed", i, c.rec.Op)
		}
		if v.dtype == tensor.Undefined && len(c.in) > 0 && c.in[0] != nil {
			v.dtype = c.in[0].dtype
		}
	}
	c.cost()
	return nil
}

// arg is input i, or nil if it is left out.
func (c *call) arg(i int) *val {
	if i >= len(c.in) || c.GetInput()[i] == "" {
		return nil
	}
	return c.in[i]
}

// need is input i, which must be there.
func (c *call) need(i int) (*val, error) {
	if v := c.arg(i); v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("input %d is missing", i)
}

// ret sets output i.
func (c *call) ret(i int, shape []int) *val {
	if i >= len(c.out) {
		return &val{}
	}
	c.out[i].known, c.out[i].shape = true, shape
	return c.out[i]
}

// attrOrInput reads integers that are an attribute in old operator sets and input i in new ones. given is false if
// neither is there.
func (c *call) attrOrInput(name string, i int) (v []int64, given bool, err error) {
	if a := onnx.Attr(c.NodeProto, name); a != nil {
		if len(a.GetInts()) == 0 && a.I != nil {
			return []int64{a.GetI()}, true, nil
		}
		return a.GetInts(), true, nil
	}
	if x := c.arg(i); x != nil {
		if x.ints == nil {
			return nil, true, fmt.Errorf("its %s are computed while it runs", name)
		}
		return x.ints, true, nil
	}
	return nil, false, nil
}

// Axis maps a possibly negative axis into 0..rank-1.
func Axis(a int64, rank int) (int, error) {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		return 0, fmt.Errorf("axis %d of a value with %d axes", a, rank)
	}
	return int(a), nil
}

// axisSet maps axes and sorts them.
func axisSet(as []int64, rank int) ([]int, error) {
	out := make([]int, len(as))
	for i, a := range as {
		k, err := Axis(a, rank)
		if err != nil {
			return nil, err
		}
		out[i] = k
	}
	slices.Sort(out)
	if len(slices.Compact(slices.Clone(out))) != len(out) {
		return nil, fmt.Errorf("axes %v repeat", as)
	}
	return out, nil
}

// broadcast is the common shape of two.
func broadcast(a, b []int) ([]int, error) {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		x, y := 1, 1
		if k := i - len(out) + len(a); k >= 0 {
			x = a[k]
		}
		if k := i - len(out) + len(b); k >= 0 {
			y = b[k]
		}
		switch {
		case x == y || y == 1:
			out[i] = x
		case x == 1:
			out[i] = y
		default:
			return nil, fmt.Errorf("shapes %v and %v do not broadcast", a, b)
		}
	}
	return out, nil
}

// cost counts the multiply-adds of a node whose shapes are known.
func (c *call) cost() {
	if len(c.out) == 0 || !c.out[0].known {
		return
	}
	shape := func(i int) []int {
		if v := c.arg(i); v != nil && v.known {
			return v.shape
		}
		return nil
	}
	out, x, w := c.out[0].shape, shape(0), shape(1)
	switch c.GetOpType() {
	// every output reads one kernel over the channels of its group; w has the shape (M, C/group, kernel...)
	case "Conv":
		if len(w) > 2 {
			c.rec.MACs = mul(product(out), product(w[1:]))
		}
	case "ConvTranspose": // every input is spread over one kernel; w has the shape (C, M/group, kernel...)
		if len(w) > 2 {
			c.rec.MACs = mul(product(x), product(w[1:]))
		}
	case "Gemm":
		if len(x) == 2 {
			k := x[1]
			if onnx.Int(c.NodeProto, "transA", 0) != 0 {
				k = x[0]
			}
			c.rec.MACs = mul(product(out), int64(k))
		}
	case "MatMul", "MatMulInteger":
		if len(x) > 0 {
			c.rec.MACs = mul(product(out), int64(x[len(x)-1]))
		}
	case "RNN", "GRU", "LSTM": // per step, sample and direction: gates x hidden x (input + hidden)
		if r := shape(2); len(x) == 3 && len(w) == 3 && len(r) == 3 {
			c.rec.MACs = mul(mul(int64(x[0]), int64(x[1])), add(product(w), product(r)))
		}
	}
}
