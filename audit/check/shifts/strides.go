package shifts

import (
	"context"
	"slices"
	"sort"

	"nero/audit"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// mostMaps bounds the maps of a model whose strides are read from its graph.
const mostMaps = 8

// strides are how many pixels of the picture, down and across, one place of the last maps before the outputs stands
// for, read from the graph without running it, each once, the smallest first: a detector with heads of two resolutions
// has two. Nil where the graph is not at hand or does not tell.
func strides(ctx context.Context, p *audit.Pass, x space.Value) [][2]int {
	height, width, ok := stress.PictureSize(x)
	if !ok {
		return nil
	}
	in := p.Subject.Interior
	if in == nil {
		return nil
	}
	arrays, err := in.Arrays(ctx, []space.Value{x})
	if err != nil || len(arrays) == 0 {
		return nil
	}
	shapes := map[string][]int{}
	for i, port := range in.ONNX().Signature().Inputs {
		if i < len(arrays[0]) {
			n := 1
			if len(port.Shape) > 0 && !port.Shape[0].Free() {
				n = port.Shape[0].Size
			}
			shapes[port.Name] = append([]int{n}, arrays[0][i].Shape...)
		}
	}
	f, err := facts.Infer(in.ONNX(), shapes, nil)
	if err != nil {
		return nil
	}
	var out [][2]int
	for _, v := range lastMaps(in.ONNX().Proto().GetGraph()) {
		d := f.Shapes[v]
		if len(d) != 4 || d[2] < 2 || d[3] < 2 || height%d[2] != 0 || width%d[3] != 0 {
			continue // of a single place, or of no whole stride
		}
		if k := [2]int{height / d[2], width / d[3]}; !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i][0] < out[j][0] })
	return out
}

// lastMaps are the maps that the last convolutions before the outputs make: what lies behind them reads single places,
// or lists them.
func lastMaps(g *onnxpb.GraphProto) []string {
	made := map[string]*onnxpb.NodeProto{}
	for _, n := range g.GetNode() {
		for _, o := range n.GetOutput() {
			made[o] = n
		}
	}
	var out []string
	seen := map[string]bool{}
	var walk func(v string)
	walk = func(v string) {
		n := made[v]
		if n == nil || seen[v] || len(out) == mostMaps {
			return
		}
		seen[v] = true
		if n.GetOpType() == "Conv" {
			out = append(out, v)
			return
		}
		for _, i := range n.GetInput() {
			walk(i)
		}
	}
	for _, o := range g.GetOutput() {
		walk(o.GetName())
	}
	return out
}
