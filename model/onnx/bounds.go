package onnx

import (
	"fmt"
	"math"

	"nero/model/onnx/onnxpb"
)

const (
	// maxName is the length of the longest name that a file may give to a value, a node or an operator, in bytes.
	// Exporters join the names of nested modules, some hundred bytes at most; every message and table repeats them.
	maxName = 4096
	// maxInput is the memory of the largest input whose shape the file fixes, in bytes. A call fills all of it: a file
	// may ask for a batch of any length.
	maxInput = 1 << 30
	// maxNodes is how many nodes a graph may have once its own functions are written out where they are called, as
	// engines do when they open it.
	maxNodes = 1 << 18
)

// bounded refuses files that take a few bytes to ask for more than any machine has: what this package and engines would
// do with them grows with what they say and not with their size.
func bounded(p *onnxpb.ModelProto) error {
	if err := boundedNames(p); err != nil {
		return err
	}
	have := initializers(p.GetGraph())
	for _, v := range p.GetGraph().GetInput() {
		if have[v.GetName()] {
			continue
		}
		in := port(v)
		bytes := int64(max(in.DType.Size(), 1))
		for _, d := range in.Shape {
			if n := int64(d.Size); n > 0 && bytes > math.MaxInt64/n {
				bytes = math.MaxInt64
			} else if n > 0 {
				bytes *= n
			}
		}
		if bytes > maxInput {
			return fmt.Errorf("the input %s of %s takes %s in one call, and at most %s are given to a model; "+
				"export it with a smaller or a free batch axis", quote(in.Name), in.ShapeString(), words(bytes),
				words(maxInput))
		}
	}
	return boundedFunctions(p)
}

// boundedNames looks at the names of ports, stored tensors, nodes and what nodes make.
func boundedNames(p *onnxpb.ModelProto) error {
	var bad error
	look := func(what, name string) {
		if len(name) > maxName && bad == nil {
			bad = fmt.Errorf("%w: the name of %s, %s, has %d bytes, and at most %d are taken; give it a shorter one",
				ErrNotModel, what, quote(name), len(name), maxName)
		}
	}
	g := p.GetGraph()
	for _, v := range g.GetInput() {
		look("an input", v.GetName())
	}
	for _, v := range g.GetOutput() {
		look("an output", v.GetName())
	}
	for name := range initializers(g) {
		look("a stored tensor", name)
	}
	visitModel(p, func(n *onnxpb.NodeProto) {
		look("an operator", n.GetOpType())
		look("a domain", n.GetDomain())
		look("a node", n.GetName())
		for _, o := range n.GetOutput() {
			look("a value", o)
		}
		for _, a := range n.GetAttribute() {
			look("an attribute", a.GetName())
		}
	}, nil)
	return bad
}

// function is how often a function of the file itself is looked at, and what became of it.
type function struct {
	proto *onnxpb.FunctionProto
	// nodes once all it calls is written out
	nodes int64
	open  bool
	done  bool
}

// boundedFunctions counts the nodes that a graph has once the functions of the file are written out.
func boundedFunctions(p *onnxpb.ModelProto) error {
	if len(p.GetFunctions()) == 0 {
		return nil
	}
	known := map[[2]string]*function{}
	for _, f := range p.GetFunctions() {
		known[[2]string{standard(f.GetDomain()), f.GetName()}] = &function{proto: f}
	}
	var count func(n *onnxpb.NodeProto) (int64, error)
	var graph func(g *onnxpb.GraphProto) (int64, error)
	sum := func(ns []*onnxpb.NodeProto) (total int64, err error) {
		for _, n := range ns {
			k, err := count(n)
			if err != nil {
				return 0, err
			}
			total = min(total+k, math.MaxInt32)
		}
		return total, nil
	}
	graph = func(g *onnxpb.GraphProto) (int64, error) { return sum(g.GetNode()) }
	count = func(n *onnxpb.NodeProto) (int64, error) {
		total := int64(1)
		for _, a := range n.GetAttribute() {
			for _, g := range append(a.GetGraphs(), a.GetG()) {
				k, err := graph(g)
				if err != nil {
					return 0, err
				}
				total = min(total+k, math.MaxInt32)
			}
		}
		f := known[[2]string{standard(n.GetDomain()), n.GetOpType()}]
		switch {
		case f == nil:
			return total, nil
		case f.open:
			return 0, fmt.Errorf("%w: the function %s calls itself", ErrNotModel, quote(n.GetOpType()))
		case !f.done:
			f.open = true
			k, err := sum(f.proto.GetNode())
			if err != nil {
				return 0, err
			}
			f.nodes, f.open, f.done = k, false, true
		}
		return min(total+f.nodes, math.MaxInt32), nil
	}
	total, err := graph(p.GetGraph())
	if err != nil {
		return err
	}
	if total > maxNodes {
		return fmt.Errorf("its functions call each other so often that the graph has more than %d nodes once they are "+
			"written out, as an engine does to open it; export it without functions (Python: onnx.inliner, or "+
			"torch.onnx.export with dynamo=False)", maxNodes)
	}
	return nil
}

// words are bytes for messages.
func words(bytes int64) string {
	switch {
	case bytes == math.MaxInt64:
		return "more bytes than can be counted"
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
