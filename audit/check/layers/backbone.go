package layers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/model/interior"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/feature"
)

// end is a map inside a model up to which the layers are followed where the answer does not move as arrays do: boxes
// are made of lists of candidates, and lists are chosen from.
type end struct {
	value string
	// that makes it
	node string
	// where the axes stop being those of a picture; "" if they never do
	limit string
}

// mostEnds bounds the maps that are followed, one after another.
const mostEnds = 4

// ends are the last maps that layers with weights make on their way to boxes, those with the longest way first: what
// comes after them reads boxes off the maps, and adds their places.
func ends(p *audit.Pass) ([]end, error) {
	s, err := p.Sample(0)
	if err != nil {
		return nil, err
	}
	plan := p.Subject.Plan
	x, err := plan.In.Apply(plan.Group.Identity(), s.Value)
	if err != nil {
		return nil, fmt.Errorf("sample %s: %w", s.ID, err)
	}
	untested := func(format string, args ...any) ([]end, error) {
		return nil, fmt.Errorf("%w: the layers of a detector are followed through its maps: %w", audit.ErrUntested,
			fmt.Errorf(format, args...))
	}
	img := space.Picture(x)
	if img == nil {
		return untested("the input is no picture")
	}
	m := p.Subject.Interior
	in, err := facts.SampleShapes(m.ONNX().Signature(), 1, x.Dims())
	if err != nil {
		return untested("%w", err)
	}
	known, err := facts.Infer(m.ONNX(), in, nil)
	if err != nil {
		return untested("%w", err)
	}
	nodes := m.ONNX().Proto().GetGraph().GetNode()
	last := func(n *onnxpb.NodeProto) string {
		if len(n.GetOutput()) == 0 {
			return ""
		}
		return n.GetOutput()[0]
	}
	picture := func(v string) bool { // rows and columns of the picture, or of a grid of the same form
		d := known.Shapes[v]
		if len(d) != 4 || d[2] < 2 || d[3] < 2 {
			return false
		}
		ratio := float64(d[2]) / float64(d[3]) * float64(img.W) / float64(img.H)
		return 0.8 < ratio && ratio < 1.25
	}
	leads, after := map[string]bool{}, map[string]bool{}
	for _, o := range m.Outputs() {
		leads[o] = true
	}
	for _, l := range slices.Backward(nodes) { // what leads to the answer, and what a later map is made of
		var on, more bool
		for _, o := range l.GetOutput() {
			on, more = on || leads[o], more || after[o]
		}
		for _, v := range reads(l) {
			leads[v] = leads[v] || on
			after[v] = after[v] || on && (more || convolutions[l.GetOpType()] && picture(last(l)))
		}
	}
	var out []end
	var depth []int
	way := map[string]int{}
	for _, n := range nodes {
		d := 0
		for _, v := range reads(n) {
			d = max(d, way[v])
		}
		for _, o := range n.GetOutput() {
			way[o] = d + 1
		}
		v := last(n)
		if !convolutions[n.GetOpType()] || !picture(v) || !leads[v] || after[v] {
			continue
		}
		at := len(out)
		for at > 0 && depth[at-1] < d {
			at--
		}
		out, depth = slices.Insert(out, at, end{v, named(n), stops(nodes, v, picture)}), slices.Insert(depth, at, d)
	}
	if len(out) == 0 {
		return untested("no layer with weights makes a map on the way to the boxes")
	}
	if x.Form() != s.Value.Form() {
		return untested("the window that the model sees moves over a larger picture, and what comes in at its border "+
			"is "+
			"made by no layer; of pictures that move as a whole, as under C4 or Roll, they are followed up to %s, "+
			"and at "+
			"%s the axes stop being those of a picture", out[0].node, out[0].limit)
	}
	return out[:min(len(out), mostEnds)], nil
}

// named is the name of a node, or of what it makes where it has none.
func named(n *onnxpb.NodeProto) string {
	if n.GetName() != "" || len(n.GetOutput()) == 0 {
		return n.GetName()
	}
	return n.GetOutput()[0]
}

// stops is the first node on the way from a map whose result is no map any more.
func stops(nodes []*onnxpb.NodeProto, from string, picture func(v string) bool) string {
	maps := map[string]bool{from: true}
	for _, n := range nodes {
		if !slices.ContainsFunc(reads(n), func(v string) bool { return maps[v] }) || len(n.GetOutput()) == 0 ||
			n.GetOpType() == "Shape" {
			continue
		}
		if !picture(n.GetOutput()[0]) {
			return named(n)
		}
		for _, o := range n.GetOutput() {
			maps[o] = true
		}
	}
	return ""
}

// holds tells that the sweep found no error, whatever the maps inside do: the boxes are what is claimed.
func holds(p *audit.Pass) bool {
	sw, ok := audit.ResultIf[*sweep.Result](p, sweep.Check)
	return ok && len(sw.Err) > 0 &&
		!slices.ContainsFunc(sw.Err, func(e float64) bool { return !(e <= p.Policy.Threshold*sw.Scale) })
}

// ending is the representation of the map at which the way ends: nobody declares it, so that it is found as those of
// the maps before it are, from what the layers make of exactly moved inputs. Where the values say nothing, channels
// stay.
func (l *look) ending(ctx context.Context, first *cut, shape []int) (*feature.Rep, error) {
	cur := &cut{layer: first.layer, live: first.live, reps: first.reps, x: first.x, rx: first.rx}
	for _, y := range l.layers[1:] {
		if cur.blind(y.Live) != "" {
			continue
		}
		next, moved, err := l.step(ctx, cur, y)
		if err != nil {
			return nil, err
		}
		why, _, err := l.represent(ctx, cur, next, moved)
		if err != nil {
			return nil, err
		}
		if why != "" || l.unknown(next) != "" {
			continue
		}
		if k := slices.Index(next.live, l.output); k >= 0 && len(next.live) == 1 {
			return next.reps[k], nil
		}
		if err := l.move(next, moved); err != nil {
			return nil, err
		}
		cur = next
	}
	for _, c := range l.frame.Candidates(shape, l.guess(shape)) {
		if c.Moves() {
			return c.As(feature.ByDefault, "a map of candidates; nothing explains the values"), nil
		}
	}
	return nil, fmt.Errorf("%w: nothing says how the map of %s %v moves", audit.ErrUntested, l.end.node, shape)
}

// step runs a layer on samples and on what they should become.
func (l *look) step(ctx context.Context, cur *cut, y interior.Layer) (next *cut, moved [][]interior.Array, err error) {
	part, err := l.m.Part(ctx, cur.live, y.Live)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	next = &cut{layer: y, live: y.Live}
	if next.x, err = part.Run(ctx, cur.x); err != nil {
		return nil, nil, err
	}
	moved, err = part.Run(ctx, cur.rx)
	return next, moved, err
}

// reaches says how far the layers of a model were followed whose answer is none that they could be followed to.
func (e end) reaches() string {
	if e.value == "" {
		return ""
	}
	t := "The layers are followed up to " + e.node
	if e.limit != "" {
		t += "; at " + e.limit + " the axes stop being those of a picture"
	}
	return t + "."
}
