package facts

import (
	"fmt"
	"maps"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Decide replaces every If of the main graph whose condition follows from stored tensors and shapes by the branch that
// is taken, as exporters write one where a length was not known to them. Input shapes are as for [Infer]; what follows
// from the length of a batch is not decided, nor what follows from data. It is m itself where there is nothing to
// replace. Inner values get names of their own, outputs keep theirs.
func Decide(m *onnx.Model, in map[string][]int) (*onnx.Model, error) {
	for {
		if !slices.ContainsFunc(m.Proto().GetGraph().GetNode(), conditional) {
			return m, nil
		}
		one, err := Infer(m, in, nil)
		if err != nil {
			return nil, err
		}
		longer := maps.Clone(in)
		for _, p := range m.Signature().Inputs {
			if s := in[p.Name]; len(s) > 0 && p.Ranked && len(p.Shape) > 0 && p.Shape[0].Free() {
				longer[p.Name] = append([]int{s[0] + 1}, s[1:]...)
			}
		}
		two, err := Infer(m, longer, nil)
		if err != nil {
			return nil, err
		}
		b := m.Edit()
		g := b.Graph()
		var nodes []*onnxpb.NodeProto
		found := false
		for _, n := range g.GetNode() {
			branch := taken(n, one, two)
			if branch == nil || len(branch.GetOutput()) < len(n.GetOutput()) {
				nodes = append(nodes, n)
				continue
			}
			found = true
			nodes = append(nodes, lifted(g, n, branch)...)
		}
		if !found {
			return m, nil
		}
		g.Node = nodes
		if m, err = b.Model(); err != nil {
			return nil, fmt.Errorf("with its conditions decided: %w", err)
		}
	}
}

func conditional(n *onnxpb.NodeProto) bool {
	return n.GetOpType() == "If" && (n.GetDomain() == "" || n.GetDomain() == "ai.onnx")
}

// taken is the branch of an If that both agree on; nil where that is not known.
func taken(n *onnxpb.NodeProto, one, two *Facts) *onnxpb.GraphProto {
	if !conditional(n) || len(n.GetInput()) != 1 {
		return nil
	}
	a, b := one.values[n.GetInput()[0]], two.values[n.GetInput()[0]]
	if a == nil || b == nil || len(a.ints) != 1 || len(b.ints) != 1 || (a.ints[0] != 0) != (b.ints[0] != 0) {
		return nil
	}
	if a.ints[0] != 0 {
		return onnx.Attr(n, "then_branch").GetG()
	}
	return onnx.Attr(n, "else_branch").GetG()
}

// lifted are the nodes of a branch as nodes of the graph around it, whose stored tensors g takes over.
func lifted(g *onnxpb.GraphProto, n *onnxpb.NodeProto, branch *onnxpb.GraphProto) []*onnxpb.NodeProto {
	names := map[string]string{}
	inner := func(v string) {
		if v != "" {
			names[v] = n.GetOutput()[0] + "/" + v
		}
	}
	made := map[string]bool{}
	for _, x := range branch.GetNode() {
		for _, o := range x.GetOutput() {
			inner(o)
			made[o] = true
		}
	}
	for _, t := range branch.GetInitializer() {
		inner(t.GetName())
	}
	out := slices.Clone(branch.GetNode())
	for i, o := range branch.GetOutput() {
		if i >= len(n.GetOutput()) || n.GetOutput()[i] == "" {
			continue
		}
		if made[o.GetName()] { // the first to ask for a value gives it its name
			names[o.GetName()], made[o.GetName()] = n.GetOutput()[i], false
			continue
		}
		out = append(out, &onnxpb.NodeProto{
			OpType: new("Identity"), Input: []string{o.GetName()}, Output: []string{n.GetOutput()[i]},
		})
	}
	called := func(v string) string {
		if to, ok := names[v]; ok {
			return to
		}
		return v
	}
	for _, t := range branch.GetInitializer() {
		t.Name = new(called(t.GetName()))
		g.Initializer = append(g.Initializer, t)
	}
	for i, x := range out {
		made := i < len(branch.GetNode())
		if x.GetName() != "" {
			x.Name = new(n.GetOutput()[0] + "/" + x.GetName())
		}
		captured(x, called)
		for k, o := range x.GetOutput() {
			if made {
				x.Output[k] = called(o)
			}
		}
	}
	return out
}

// captured renames what a node reads, also in graphs within it.
func captured(n *onnxpb.NodeProto, called func(string) string) {
	for k, v := range n.GetInput() {
		n.Input[k] = called(v)
	}
	for _, a := range n.GetAttribute() {
		for _, g := range append(slices.Clone(a.GetGraphs()), a.GetG()) {
			for _, x := range g.GetNode() {
				captured(x, called)
			}
			for _, o := range g.GetOutput() {
				o.Name = new(called(o.GetName()))
			}
		}
	}
}
