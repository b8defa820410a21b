package lint

import (
	"fmt"
	"slices"
	"strings"

	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

type nodeProto = onnxpb.NodeProto

// cuts take pieces out of maps and put pieces together.
var cuts = map[string]bool{"Slice": true, "Split": true, "Gather": true, "Pad": true, "Concat": true}

// blame finds the nodes at which what the output lacks was lost: those that lack it while their inputs do not, with
// nothing in between that restores it. What only moves numbers about and lacks a motion of others that the output has,
// such as the slices of a circular padding, is made up for by what comes after, so that nothing is lost there.
func (l *linter) blame(r, others *run, level string) {
	nodes := l.f.Model().Proto().GetGraph().GetNode()
	maker := map[string]int{}
	for i, n := range nodes {
		for _, o := range n.GetOutput() {
			maker[o] = i
		}
	}
	restored := func(name string) bool {
		i, ok := maker[name]
		if !ok || !cuts[nodes[i].GetOpType()] {
			return false
		}
		s, end := others.status[name], others.status[l.res.Output]
		for k := range others.motions {
			if len(s.lost) > k && s.lost[k] && !end.lost[k] {
				return true
			}
		}
		return false
	}
	lostAt := map[int][]int{} // motions by node
	for k := range r.motions {
		if !r.status[l.res.Output].lost[k] {
			continue
		}
		seen := map[int]bool{}
		var back func(name string)
		back = func(name string) {
			i, ok := maker[name]
			if !ok || seen[i] {
				return
			}
			seen[i] = true
			deeper := false
			var through func(i int)
			through = func(i int) {
				for _, in := range nodes[i].GetInput() {
					switch s, ok := r.status[in]; {
					case !ok || !s.lost[k]:
					case restored(in):
						through(maker[in])
					default:
						deeper = true
						back(in)
					}
				}
			}
			if through(i); !deeper {
				lostAt[i] = append(lostAt[i], k)
			}
		}
		back(l.res.Output)
	}
	for i := range nodes {
		ks := lostAt[i]
		if len(ks) == 0 {
			continue
		}
		loss := Loss{Node: l.f.Nodes[i].Name, Op: l.f.Nodes[i].Op, Level: level}
		var lost Subgroup
		for _, k := range ks {
			loss.Elements = append(loss.Elements, r.motions[k].String())
			lost |= 1 << r.motions[k].e
		}
		if level == LevelRoll {
			loss.Reason, loss.Remedy = l.whyRoll(i)
		} else {
			loss.Reason, loss.Remedy = l.why(i, lost)
		}
		l.res.Losses = append(l.res.Losses, loss)
	}
}

// Slack is the law of a window under a mirror: the number of places by which its sampling grid, mirrored, misses
// itself, along axis i. It is size + 2*begin - extent - stride*(places-1), and for a transposed convolution
// stride*(size-1) + extent - 2*begin - places. A mirror keeps the grid if it is 0.
func Slack(w *facts.Window, i int) int {
	if w.Transposed {
		return w.Stride[i]*(w.In[i]-1) + w.Extent(i) - 2*w.Begin[i] - w.Out[i]
	}
	return w.In[i] + 2*w.Begin[i] - w.Extent(i) - w.Stride[i]*(w.Out[i]-1)
}

// why says why a node breaks elements of D4.
func (l *linter) why(i int, lost Subgroup) (reason, remedy string) {
	n, rec := l.f.Model().Proto().GetGraph().GetNode()[i], l.f.Nodes[i]
	if w, ok := rec.Window(); ok && len(w.In) == 2 {
		if j := l.table(i); j >= 0 && even(w) {
			return "reads a map that " + l.f.Nodes[j].Name + " joined with a stored table, which has a value of its " +
				"own for every place", "use relative positions, or a table that has the symmetry"
		}
		return whyWindow(w, lost)
	}
	switch op := n.GetOpType(); op {
	case "Pad":
		return l.whyPad(i)
	case "Slice":
		return l.whySlice(i)
	case "Split", "Gather":
		return "takes some places of the map and leaves others, not the same from both ends", "cut both sides alike"
	case "Resize", "Upsample":
		mode, coord := onnx.String(n, "mode", "nearest"), onnx.String(n, "coordinate_transformation_mode", "half_pixel")
		if op == "Upsample" || l.f.Model().Opset() < 11 {
			coord = "asymmetric"
		}
		text := fmt.Sprintf(
			"resizes %v to %v by %s with %s coordinates, which reads other places from the end than from the beginning",
			l.f.Shapes[n.GetInput()[0]], rec.Out[0], mode, coord)
		if mode == "nearest" {
			text += fmt.Sprintf(" (nearest_mode %s)", onnx.String(n, "nearest_mode", "round_prefer_floor"))
		}
		return text, "use half_pixel coordinates, and with nearest an odd or whole factor, or linear"
	case "Transpose":
		return "exchanges rows and columns: a motion of its input is another motion of its output",
			"exchange them back before the output, or average over both"
	case "Concat":
		if l.joins(i, l.makers()) {
			return "joins the map with a stored table, which has a value of its own for every place",
				"use relative positions, or a table that has the symmetry"
		}
		return "puts places of several maps into one, not the same from both ends",
			"join the maps along their channels, or join the same on both sides"
	case "CumSum":
		return "sums up from one end of the picture", "sum over the whole axis"
	case "ArgMax", "ArgMin":
		return "answers with a place of the picture, which a motion moves", "let the output's action move the answer"
	case "Gemm", "MatMul":
		return "sums over places of the picture with weights that would have to be the same for places of different " +
			"kinds", "pool over both axes of the picture before the dense layer"
	case "DepthToSpace", "SpaceToDepth":
		return "trades blocks of pixels for channels along a grid that the motion does not keep",
			"choose a size that is a multiple of the block"
	}
	for _, name := range n.GetInput() {
		if t, ok := l.f.Stored(name); ok && t.Len() > 1 {
			return fmt.Sprintf("combines the map with a stored table of %v that is not the same when it is moved "+
				"(position table)", t.Shape), "use relative positions, or a table that has the symmetry"
		}
	}
	var steps []string
	for _, name := range n.GetInput() {
		if l.f.Depends(name) {
			steps = append(steps, fmt.Sprint(l.f.Shapes[name]))
		}
	}
	if len(steps) > 1 {
		return "brings together values that move in different ways: " + strings.Join(steps, " and "),
			"sample and crop all branches alike"
	}
	return "treats places of the picture differently", ""
}

// even tells whether a window treats both ends and both axes alike.
func even(w *facts.Window) bool {
	return Slack(w, 0) == 0 && Slack(w, 1) == 0 && slices.Equal(w.Begin, w.End) && w.Kernel[0] == w.Kernel[1] &&
		w.Stride[0] == w.Stride[1] && w.Dilation[0] == w.Dilation[1]
}

// handsOn are operators that hand stored numbers on, some of them as often as there are samples.
var handsOn = map[string]bool{"Expand": true, "Tile": true, "Identity": true, "Cast": true, "Unsqueeze": true}

// makers are the nodes that make values, by name.
func (l *linter) makers() map[string]int {
	out := map[string]int{}
	for k, n := range l.f.Model().Proto().GetGraph().GetNode() {
		for _, o := range n.GetOutput() {
			out[o] = k
		}
	}
	return out
}

// joins tells whether node i joins maps with stored numbers.
func (l *linter) joins(i int, makers map[string]int) bool {
	nodes := l.f.Model().Proto().GetGraph().GetNode()
	return slices.ContainsFunc(nodes[i].GetInput(), func(name string) bool {
		for range nodes {
			if t, ok := l.f.Stored(name); ok {
				return t.Len() > 1
			}
			k, ok := makers[name]
			if !ok || !handsOn[nodes[k].GetOpType()] {
				return false
			}
			name = nodes[k].GetInput()[0]
		}
		return false
	})
}

// table is the nearest Concat before node i, if it joins maps with stored numbers; -1 if there is none.
func (l *linter) table(i int) int {
	nodes, makers := l.f.Model().Proto().GetGraph().GetNode(), l.makers()
	for range nodes {
		if len(nodes[i].GetInput()) == 0 {
			return -1
		}
		k, ok := makers[nodes[i].GetInput()[0]]
		switch {
		case !ok:
			return -1
		case nodes[k].GetOpType() != "Concat":
			i = k
		case l.joins(k, makers):
			return k
		default:
			return -1
		}
	}
	return -1
}

// whyWindow is the law with its numbers.
func whyWindow(w *facts.Window, lost Subgroup) (reason, remedy string) {
	var parts []string
	for i, name := range []string{"down", "across"} {
		d := Slack(w, i)
		if d == 0 {
			continue
		}
		law := fmt.Sprintf("%s: size %d + 2*pad %d - extent %d - stride %d * (%d places - 1) = %d, not 0", name,
			w.In[i], w.Begin[i], w.Extent(i), w.Stride[i], w.Out[i], d)
		if w.Transposed {
			law = fmt.Sprintf("%s: stride %d * (size %d - 1) + extent %d - 2*pad %d - %d places = %d, not 0", name,
				w.Stride[i], w.In[i], w.Extent(i), w.Begin[i], w.Out[i], d)
		}
		switch {
		case w.Transposed:
			law += " (output padding or pads on one side)"
		case w.Begin[i] != w.End[i]:
			law += fmt.Sprintf(" (pads %d before, %d after)", w.Begin[i], w.End[i])
		case d > 0:
			law += " (unread at the end, and not at the beginning)"
		default:
			law += " (windows reach beyond the end, and not beyond the beginning)"
		}
		parts = append(parts, law)
		remedy = windowRemedy(w, i)
	}
	if len(parts) == 2 && strings.TrimPrefix(parts[0], "down") == strings.TrimPrefix(parts[1], "across") {
		parts = []string{"down and across" + strings.TrimPrefix(parts[0], "down")}
	}
	if len(parts) > 0 {
		return "a mirror takes the grid of windows off itself, " + strings.Join(parts, "; "), remedy
	}
	same := w.Kernel[0] == w.Kernel[1] && w.Stride[0] == w.Stride[1] && w.Dilation[0] == w.Dilation[1]
	if !same && lost&^Rectangle == lost {
		return fmt.Sprintf("treats rows and columns differently: kernel %v, stride %v, dilation %v", w.Kernel, w.Stride,
			w.Dilation), "use the same kernel, stride and dilation for both axes"
	}
	return fmt.Sprintf("its windows are counted differently at the two ends: pads %v before, %v after", w.Begin, w.End),
		"pad both sides alike"
}

// windowRemedy proposes numbers that satisfy the law.
func windowRemedy(w *facts.Window, i int) string {
	if w.Transposed {
		return "choose pads with stride*(size-1) + kernel - 2*pad places and no output padding, or crop the result " +
			"on both sides"
	}
	s, e := w.Stride[i], w.Extent(i)
	var ways []string
	if (e-1)%2 == 0 {
		p := (e - 1) / 2
		r := ((w.In[i]+2*p-e)%s + s) % s
		switch {
		case r == 0:
			ways = append(ways, fmt.Sprintf("pad %d on both sides", p))
		case s > 1:
			ways = append(ways, fmt.Sprintf("a size of %d or %d with pad %d on both sides", w.In[i]-r, w.In[i]-r+s, p))
		}
	} else {
		ways = append(ways, "an odd kernel")
		for p := range e {
			if d := w.In[i] + 2*p - e; d >= 0 && d%s == 0 {
				ways = append(ways, fmt.Sprintf("pad %d on both sides", p))
				break
			}
		}
	}
	if s > 1 {
		ways = append(ways, "stride 1 followed by a blur pool on a centred grid")
	}
	return strings.Join(ways, ", or ")
}

func (l *linter) whyPad(i int) (reason, remedy string) {
	p, err := l.f.Padding(i)
	if err != nil {
		return "pads places", ""
	}
	var parts []string
	for a, q := range p {
		if q[0] != q[1] {
			parts = append(parts, fmt.Sprintf("axis %d: %d before, %d after", a, q[0], q[1]))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("pads rows and columns by different amounts: %v", p), "pad all sides alike"
	}
	return "pads one side more than the other, " + strings.Join(parts, "; "), "pad both sides alike"
}

func (l *linter) whySlice(i int) (reason, remedy string) {
	cuts, err := l.f.Cuts(i)
	if err != nil {
		return "cuts places off", ""
	}
	in := l.f.Shapes[l.f.Model().Proto().GetGraph().GetNode()[i].GetInput()[0]]
	var parts []string
	turned := false
	for _, c := range cuts {
		if c.Count == 0 || c.Axis >= len(in) {
			continue
		}
		first, last := c.Start, c.Start+(c.Count-1)*c.Step
		if c.Step < 0 {
			first, last = last, first
			turned = true
		}
		if after := in[c.Axis] - 1 - last; first != after {
			parts = append(parts, fmt.Sprintf("axis %d: %d before and %d after, in steps of %d", c.Axis, first, after,
				c.Step))
		}
	}
	switch {
	case len(parts) > 0:
		return "leaves out more on one side than on the other, " + strings.Join(parts, "; "),
			"cut both sides alike, with (size - 1) a multiple of the step"
	case turned:
		return "turns an axis around: a motion of its input is another motion of its output",
			"bring all turned copies together again (mean or maximum)"
	}
	return "cuts rows and columns differently", "cut all sides alike"
}

// step is the largest step of a cut, 1 for nodes that cut none.
func (l *linter) step(i int) int {
	k := 1
	if l.f.Model().Proto().GetGraph().GetNode()[i].GetOpType() != "Slice" {
		return k
	}
	cuts, err := l.f.Cuts(i)
	if err != nil {
		return k
	}
	for _, c := range cuts {
		k = max(k, c.Step, -c.Step)
	}
	return k
}

// whyRoll says why a node breaks cyclic shifts.
func (l *linter) whyRoll(i int) (reason, remedy string) {
	n, rec := l.f.Model().Proto().GetGraph().GetNode()[i], l.f.Nodes[i]
	const circular = "pad cyclically (padding_mode=\"circular\"), or audit shifts away from the border"
	if w, ok := rec.Window(); ok && len(w.In) == 2 {
		switch {
		case w.Begin[0]+w.End[0]+w.Begin[1]+w.End[1] > 0:
			return fmt.Sprintf("reads padding beyond the border (%v before, %v after), not what comes in on the "+
				"other side", w.Begin, w.End), circular
		case w.Transposed && (w.Extent(0) > w.Stride[0] || w.Extent(1) > w.Stride[1]):
			return fmt.Sprintf("what its kernel of %v spreads beyond the border does not come in on the other side",
				w.Kernel), circular
		case !w.Transposed && (w.In[0]%w.Stride[0] != 0 || w.In[1]%w.Stride[1] != 0) && w.Extent(0) <= w.Stride[0] &&
			w.Extent(1) <= w.Stride[1]:
			return fmt.Sprintf("the stride %v does not divide the size %v", w.Stride, w.In),
				"choose a size that is a multiple of the stride"
		case !w.Transposed && w.Stride[0] == 1 && w.Stride[1] == 1:
			return fmt.Sprintf("windows of %v on %v places do not go around the border", w.Kernel, w.In), circular
		}
		return fmt.Sprintf("the stride %v on %v places keeps shifts by its multiples only, and those if the windows "+
				"go around the border", w.Stride, w.In), "average before subsampling on a cyclic grid (blur pool), " +
				circular
	}
	switch n.GetOpType() {
	case "Gemm", "MatMul":
		return "a dense layer on a map: every place has weights of its own",
			"pool over the picture before the dense layer"
	case "Pad":
		return fmt.Sprintf("pads the border by %s, not with what comes in on the other side",
			onnx.String(n, "mode", "constant")), circular
	case "Slice", "Split", "Gather":
		if k := l.step(i); k > 1 {
			return fmt.Sprintf("the stride %d of its cut keeps shifts by its multiples only, and those if it goes "+
				"around the border", k), "average before subsampling on a cyclic grid (blur pool), " + circular
		}
		return "cuts a window out of the picture: what leaves it does not come in on the other side",
			"keep the whole picture"
	case "Resize", "Upsample":
		return "resamples: its grid and its border do not go around with the picture",
			"resize by a whole factor with half_pixel coordinates and cyclic borders"
	}
	if slices.ContainsFunc(n.GetInput(),
		func(name string) bool { t, ok := l.f.Stored(name); return ok && t.Len() > 1 }) ||
		n.GetOpType() == "Concat" && l.joins(i, l.makers()) {
		return "combines the map with a table that has a value of its own for every place", "use relative positions"
	}
	return "places of the picture do not go around its border here", ""
}
