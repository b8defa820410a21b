package layers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
)

// posed is a value of a model that a file asks in several poses: one behind the other in one array, or in an array for
// each copy of the model.
type posed struct {
	name, op string
	values   []string
}

// poses are the layers of a model inside a wrapper. How their values move nobody has to know: a model inside is asked
// in
// the same poses wherever the input begins, in another order at most, and so are they.
type poses struct {
	n    int
	rows []Row
	// off is the largest error of the poses themselves, floor what rounding makes of it.
	off, floor float64
}

// inside measures the layers of a model that a wrapper asks in poses: those of a moved input beside those of the input
// that are the same poses, as the arrays that the model reads there say.
func (l *look) inside(ctx context.Context, first *cut) error {
	w := rewrite.Wrapped(l.m.ONNX())
	if w == nil || w.Bodies == nil || len(l.elements) == 0 {
		return nil
	}
	nodes := l.m.ONNX().Proto().GetGraph().GetNode()
	asked := l.asked(w, nodes)
	if len(asked) == 0 {
		return nil
	}
	out := &poses{n: len(w.Bodies)}
	if n := l.maker(asked[0].values[0]); len(w.Bodies) == 1 && n != nil && n.GetOpType() == "Concat" &&
		onnx.Int(n, "axis", 1) == 0 && w.Has(n.GetName()) {
		out.n = len(n.GetInput())
	}
	list := append(slices.Clone(asked), l.bodies(w, nodes)...)
	few, m := min(len(first.x), mostFlowed), len(l.elements)
	shaken := l.shaken(first)
	in := slices.Concat(first.x[:few], first.gx[:few*m], shaken[:few])
	var order [][]int // of the poses of each of these, as those of the input that it was made of are ordered
	for lo := 0; lo < len(list); {
		hi, names, total := lo, []string(nil), 0
		for ; hi < len(list) && (hi < len(asked) || hi == lo || total < 1<<20); hi++ {
			names = append(names, list[hi].values...)
			total += size(l.shapes[list[hi].values[0]]) * len(list[hi].values)
		}
		got, err := l.through(ctx, first.live, names, in)
		if err != nil {
			return err
		}
		l.clear()
		of := func(i, k int) [][]float64 { // the poses of value k in row i of in
			at := 0
			for _, v := range list[lo:k] {
				at += len(v.values)
			}
			return blocks(got[i][at:at+len(list[k].values)], out.n)
		}
		if lo == 0 {
			for i := range in {
				var x, y [][][]float64
				for k := range asked {
					x, y = append(x, of(source(i, few, m), k)), append(y, of(i, k))
				}
				order = append(order, nearest(x, y, out.n))
			}
		}
		for k := lo; k < hi; k++ {
			if of(0, k) == nil { // it does not have as many parts as there are poses
				continue
			}
			apart := func(i int) float64 {
				var t float64
				x, y := of(source(i, few, m), k), of(i, k)
				for p := range y {
					d := distance(y[p], x[order[i][p]])
					t += float64(d * d)
				}
				return math.Sqrt(t)
			}
			out.row(list[k], k < len(asked), w.Name, scaleOf(of, few, k), few, m, apart)
		}
		lo = hi
	}
	l.p.Progress(few * (2 + m))
	l.posed = out
	return nil
}

// source is the input that a row of inputs, moved ones and shaken ones was made of.
func source(i, few, m int) int {
	switch {
	case i < few:
		return i
	case i < few+few*m:
		return (i - few) / m
	}
	return i - few - few*m
}

// row sums up a value.
func (o *poses) row(v posed, asked bool, wrapper string, scale float64, few, m int, apart func(i int) float64) {
	nan := math.NaN()
	r := Row{
		Index: len(o.rows) + 2, Name: rewrite.Inner(v.name), Op: v.op, Rep: "poses, in any order", Injected: nan,
		Share: audit.Interval{Value: nan, Lo: nan, Hi: nan}, Status: fmt.Sprintf("measured in %d poses", o.n),
	}
	if o.n == 1 {
		r.Rep, r.Status = "one pose", "measured in the moved pose"
	}
	for i := few; i < few+few*m; i++ {
		r.Prefix += apart(i) / float64(few*m)
	}
	for i := few + few*m; i < few+few*m+few; i++ {
		r.Floor += apart(i) / float64(few)
	}
	if r.Prefix, r.Floor = r.Prefix/scale, r.Floor/scale; asked {
		r.Name, r.Op = wrapper+", "+v.name, interior.WrapperOp
		if !(r.Prefix <= o.off) {
			o.off, o.floor = r.Prefix, r.Floor
		}
	}
	o.rows = append(o.rows, r)
}

// asked are the values that the copies of the model read.
func (l *look) asked(w *rewrite.Wrapper, nodes []*onnxpb.NodeProto) []posed {
	inner := map[string]bool{}
	for _, b := range w.Bodies {
		for _, i := range b {
			for _, v := range nodes[i].GetOutput() {
				inner[v] = true
			}
		}
	}
	fed := func(body []int) []string {
		var out []string
		for _, i := range body {
			for _, v := range reads(nodes[i]) {
				// What no element moves is read by all copies alike.
				if !inner[v] && (l.floats[v] || slices.Contains(l.layers[0].Floats, v)) && !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
		}
		return out
	}
	var out []posed
	for b, body := range w.Bodies {
		for k, v := range fed(body) {
			switch {
			case b == 0:
				out = append(out, posed{name: v, values: []string{v}})
			case k < len(out):
				out[k].values = append(out[k].values, v)
			}
		}
	}
	out = slices.DeleteFunc(out, func(v posed) bool { return len(v.values) != len(w.Bodies) })
	for k := range out {
		if out[k].name = "the poses"; len(out) > 1 {
			out[k].name += fmt.Sprintf(" of input %d", k+1)
		}
	}
	return out
}

// bodies are the values that the model makes in its copies.
func (l *look) bodies(w *rewrite.Wrapper, nodes []*onnxpb.NodeProto) []posed {
	var out []posed
	for k, i := range w.Bodies[0] {
		for j, v := range nodes[i].GetOutput() {
			if !l.floats[v] {
				continue
			}
			p := posed{name: nodes[i].GetName(), op: nodes[i].GetOpType()}
			for _, body := range w.Bodies {
				p.values = append(p.values, nodes[body[k]].GetOutput()[j])
			}
			out = append(out, p)
		}
	}
	return out
}

// blocks are n poses: an array each, or parts of one; nil where it is neither.
func blocks(arrays []interior.Array, n int) [][]float64 {
	var out [][]float64
	if len(arrays) == n {
		for _, a := range arrays {
			out = append(out, a.Val)
		}
		return out
	}
	x := arrays[0].Val
	if len(arrays) != 1 || len(x) == 0 || len(x)%n != 0 {
		return nil
	}
	for k := range n {
		out = append(out, x[k*len(x)/n:(k+1)*len(x)/n])
	}
	return out
}

// nearest are, for each pose of y, the pose of x that is the same: the nearest of those that are left.
func nearest(x, y [][][]float64, n int) []int {
	out, taken := make([]int, n), make([]bool, n)
	for p := range n {
		best, least := 0, math.Inf(1)
		for q := range n {
			if taken[q] {
				continue
			}
			var d float64
			for k := range y {
				if y[k] != nil && x[k] != nil {
					e := distance(y[k][p], x[k][q])
					d += float64(e * e)
				}
			}
			if !(d >= least) {
				best, least = q, d
			}
		}
		out[p], taken[best] = best, true
	}
	return out
}

// scaleOf is how far the poses of the inputs lie from their mean, over all inputs.
func scaleOf(of func(i, k int) [][]float64, few, k int) float64 {
	var mean []float64
	n := 0
	for i := range few {
		for _, b := range of(i, k) {
			if mean == nil {
				mean = make([]float64, len(b))
			}
			for j, v := range b {
				mean[j] += v
			}
			n++
		}
	}
	for j := range mean {
		mean[j] /= float64(n)
	}
	var t float64
	for i := range few {
		for _, b := range of(i, k) {
			d := distance(b, mean)
			t += float64(d * d)
		}
	}
	return math.Sqrt(t / float64(few))
}

// around is what is said of a layer that was put around the model, or before one of its nodes, where it breaks.
func (l *look) around() (what string, remedies []string) {
	again := "repair the model that the file was made of once more, by nero repair, and for the group that is claimed"
	switch o := l.posed; {
	case o == nil:
		return "what was put into the model", []string{again}
	case o.off > l.p.Policy.RoundingFactor*o.floor && o.off > leastError:
		what = fmt.Sprintf("what was put around the model, which is asked in other poses where the input moves (they "+
			"are off by %.2g)", o.off)
		return what, []string{
			"look whether the elements are among those that the file was repaired for; what it does between them is " +
				"for a larger group to mend",
			again,
		}
	}
	return "what was put around the model, which is asked in the same poses wherever the input begins: what is made " +
		"of its answers there breaks", []string{again}
}
