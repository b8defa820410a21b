package repair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/data/split"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
	"nero/present/words"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// moments takes away what a dense layer on a map knows of places: it reads how large the moments of the map are, which
// turns and mirrors about the centre leave alone, and its weights are learned anew. The file costs what the model did.
var moments = Method{
	Name: "moments",
	Doc: "pictures, under turns and mirrors: a dense layer that has weights for places reads how large the moments " +
		"of its map are instead, and is learned anew from samples (refitted)",
	Options: []Option{
		{
			Name: "degree", Values: []string{"8", "7", "6", "5", "4", "3", "2", "1", "0"},
			Doc: "of the moments, at most: 8 are 25 numbers of each channel, 6 are 16, 4 are 9; each needs 10 " +
				"samples to learn from",
		},
		{
			Name: "to", Values: []string{"answers", "labels"},
			Doc: "what is learned: what the layer answered before, or, where it is the last one, the labels",
		},
	},
	predicted: once,
	refits:    true,
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		if err := aboutCentre(s); err != nil {
			return nil, "", err
		}
		if v := s.Model.Opset(); v < oldest {
			return nil, "", tooOld(s, v)
		}
		degree, err := strconv.Atoi(options["degree"])
		if err != nil {
			return nil, "", err
		}
		f, err := s.facts(s.Model)
		if err != nil {
			return nil, "", err
		}
		layers, err := denseOnMaps(s, f)
		if err != nil {
			return nil, "", err
		}
		var said []string
		learned := map[int]*refit{}
		for _, d := range layers {
			if err := s.enough(d, degree); err != nil {
				return nil, "", err
			}
			if options["to"] == "labels" {
				if err := d.findLast(s); err != nil {
					return nil, "", err
				}
			}
			r, err := s.relearn(d, newZernike(d.side, degree))
			if err != nil {
				return nil, "", fmt.Errorf("%s (%s): %w", d.name, d.op, err)
			}
			learned[d.node] = r
			said = append(said, d.name+" ("+d.op+") "+r.says(options["to"])+s.earlier(f, d))
		}
		shell := rewrite.Keep(s.Model)
		shell.Under("moments")
		shell.Around(func(i int, n *onnxpb.NodeProto) {
			if r := learned[i]; r != nil && err == nil {
				err = r.put(shell, n)
			}
		})
		if err != nil {
			return nil, "", err
		}
		shell.Prune()
		return shell, s.Group.Name() + ", refitted: " + strings.Join(said, "; "), nil
	},
}

// aboutCentre sees to it that a group turns and mirrors pictures about their centre, and that answers stay.
func aboutCentre(s Source) error {
	none := fmt.Errorf("%s does more than to turn and mirror pictures about their centre, which is all that "+
		"magnitudes of moments do not see: claim a part of it that does no more, such as C4 or SO(2)", s.Group.Name())
	planar, ok := s.Group.(group.Planar)
	if _, h, _ := space.Grid(s.Sample); !ok || h == 0 {
		return none
	}
	for _, e := range draws(s.Group, 32) {
		a, t := planar.Affine(e)
		if t != [2]float64{} {
			return none
		}
		for i := range 2 {
			for j := range 2 {
				dot := float64(a[0][i]*a[0][j]) + float64(a[1][i]*a[1][j])
				if i == j {
					dot--
				}
				if !(math.Abs(dot) <= 1e-9) {
					return none
				}
			}
		}
	}
	if _, ok := s.Out.(action.Trivial); !ok {
		return errors.New("the answer moves with the picture, and magnitudes of moments have forgotten how it was " +
			"turned: answers have to stay as they are, such as scores")
	}
	return nil
}

// denseLayer is a layer that has a weight for each place of a map.
type denseLayer struct {
	node     int
	name, op string
	// the value that is the map and the one that the layer answers
	from, to string
	channels int
	side     int
	// where samples, channels, rows and columns of the map are
	axes    [4]int
	outputs int
	dtype   tensor.DType
	// last is the value that is the model's scores, to learn labels; "" to learn what the layer answers
	last string
}

// denseOnMaps finds the layers; the error is why there are none.
func denseOnMaps(s Source, f *facts.Facts) ([]*denseLayer, error) {
	nodes := s.Model.Proto().GetGraph().GetNode()
	makes := producers(nodes)
	var out []*denseLayer
	var single string
	for i, n := range nodes {
		if op := n.GetOpType(); op != "Gemm" && op != "MatMul" || len(n.GetInput()) < 2 ||
			!f.Depends(n.GetInput()[0]) || onnx.Int(n, "transA", 0) != 0 {
			continue
		}
		read := f.Shapes[n.GetInput()[0]]
		answer := f.Shapes[n.GetOutput()[0]]
		from, ok := flattened(nodes, makes, f, n.GetInput()[0])
		if !ok || len(read) != 2 || len(answer) != 2 {
			continue
		}
		shape := f.Shapes[from]
		if read[0] != shape[0] || read[1] != tensor.Count(shape[1:]) {
			continue
		}
		d := &denseLayer{
			node: i, name: f.Nodes[i].Name, op: n.GetOpType(), from: from, to: n.GetOutput()[0], outputs: answer[1],
		}
		axes, err := axesOf(s, nodes, makes, f, from)
		if err != nil {
			return nil, fmt.Errorf("%s (%s) reads a map: %w", d.name, d.op, err)
		}
		h, w := shape[axes[2]], shape[axes[3]]
		d.axes, d.channels, d.side = axes, shape[axes[1]], h
		if h == 1 && w == 1 {
			single = fmt.Sprintf("%s (%s) reads a map of 1 x 1 places, which has none to move to: what breaks the "+
				"symmetry is before it, so take average or select", d.name, d.op)
			continue
		}
		if h != w {
			return nil, fmt.Errorf("%s (%s) reads a map of %d x %d places, and the disc of the moments is that of a "+
				"square: crop or pad pictures to squares before the model, or take average or select", d.name, d.op, h,
				w)
		}
		stored, ok := f.Stored(n.GetInput()[1])
		if !ok {
			return nil, fmt.Errorf("%s (%s): its weights are computed while it runs, so that none can be stored in "+
				"their place", d.name, d.op)
		}
		d.dtype = stored.DType
		out = append(out, d)
	}
	switch {
	case len(out) > 0:
		return out, nil
	case single != "":
		return nil, errors.New(single)
	}
	return nil, errors.New("no dense layer reads a map that was flattened, so that there are no weights of places to " +
		"be replaced: take average or select")
}

// producers are the nodes that make values.
func producers(nodes []*onnxpb.NodeProto) map[string]int {
	out := map[string]int{}
	for i, n := range nodes {
		for _, o := range n.GetOutput() {
			out[o] = i
		}
	}
	return out
}

// flattening are operators that lay the numbers of a sample in a row, or leave them as they are.
var flattening = []string{"Flatten", "Reshape", "Squeeze", "Identity", "Dropout"}

// flattened is the map of four axes that a row of numbers was; false if it was none.
func flattened(nodes []*onnxpb.NodeProto, makes map[string]int, f *facts.Facts, v string) (string, bool) {
	for len(f.Shapes[v]) != 4 {
		i, ok := makes[v]
		if !ok || f.Shapes[v] == nil || !slices.Contains(flattening, nodes[i].GetOpType()) {
			return "", false
		}
		v = nodes[i].GetInput()[0]
	}
	return v, true
}

var (
	// channelsFirst are operators that answer maps whose axes are samples, channels, rows and columns.
	channelsFirst = []string{
		"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool",
		"GlobalLpPool", "BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN", "DepthToSpace",
		"SpaceToDepth",
	}
	// keepsAxes are operators that leave the axes of a map where they are.
	keepsAxes = []string{
		"Abs", "Add", "Cast", "Celu", "Clip", "Concat", "Div", "Dropout", "Elu", "Erf", "Exp", "Gelu", "HardSigmoid",
		"HardSwish", "Identity", "LeakyRelu", "Log", "Max", "Mean", "Min", "Mish", "Mul", "Neg", "PRelu", "Pad", "Pow",
		"Relu", "Resize", "Selu", "Sigmoid", "Slice", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Tanh",
		"ThresholdedRelu", "Upsample", "Where",
	}
)

// axesOf are those of samples, channels, rows and columns in a map.
func axesOf(s Source, nodes []*onnxpb.NodeProto, makes map[string]int, f *facts.Facts, v string) ([4]int, error) {
	// What a node transposes is undone on the way back to where axes are known: axis a of the map is at[a] there.
	at := [4]int{0, 1, 2, 3}
	found := func(known [4]int) [4]int {
		var out [4]int
		for k, a := range known {
			out[k] = slices.Index(at[:], a)
		}
		return out
	}
	for {
		i, ok := makes[v]
		if !ok {
			last, err := channelsLast(s)
			if last {
				return found([4]int{0, 3, 1, 2}), err
			}
			return found([4]int{0, 1, 2, 3}), err
		}
		n := nodes[i]
		switch op := n.GetOpType(); {
		case slices.Contains(channelsFirst, op):
			return found([4]int{0, 1, 2, 3}), nil
		case op == "Transpose":
			perm := onnx.Ints(n, "perm", []int64{3, 2, 1, 0})
			if len(perm) != len(at) {
				return at, fmt.Errorf("%s (%s) does not fit it", f.Nodes[i].Name, op)
			}
			for a := range at {
				at[a] = int(perm[at[a]])
			}
			v = n.GetInput()[0]
		case slices.Contains(keepsAxes, op):
			k := slices.IndexFunc(n.GetInput(), func(x string) bool { return f.Depends(x) && len(f.Shapes[x]) == 4 })
			if k < 0 {
				return at, fmt.Errorf("what %s (%s) reads is no map of four axes", f.Nodes[i].Name, op)
			}
			v = n.GetInput()[k]
		default:
			return at, fmt.Errorf("which of its axes are rows and columns is not known behind %s (%s): take average "+
				"or select", f.Nodes[i].Name, op)
		}
	}
}

// channelsLast tells how a model reads pictures.
func channelsLast(s Source) (bool, error) {
	places, ports, err := layout(s.Codec, s.Sample)
	if err != nil {
		return false, err
	}
	d := s.Sample.Dims()
	if len(ports) != 1 || len(d) != 3 || len(ports[0].Shape) != 4 {
		return false, errors.New("the model does not read one picture by one input of four axes")
	}
	return lastOf(places, d[0], d[1]*d[2])
}

// lastOf tells from the places of a picture's numbers whether channels come last.
func lastOf(places []place, channels, area int) (bool, error) {
	first, last := true, true
	for k, at := range places {
		first = first && at.at == k
		last = last && at.at == k%area*channels+k/area
	}
	if !first && !last {
		return false, errors.New("the model reads channels or pixels of a picture in an order that is not known")
	}
	return !first, nil
}

const (
	// learnedEach and usedEach are how many samples there have to be for each number that a layer reads, and how many
	// are used at most.
	learnedEach, usedEach = 10, 40
	// mostRead is how many numbers a layer may read: learning takes as many squares of it as there are samples.
	mostRead = 1024
	// mostChosen is on how many samples a penalty is chosen at most.
	mostChosen = 2000
	// highest degree of moments.
	highest = 8
)

// enough sees to it that the map can hold the moments, and that there are samples to learn from. The error names what
// would do.
func (s Source) enough(d *denseLayer, degree int) error {
	places, have := discOf(d.side), s.Sides[split.Fit]
	can, why := -1, ""
	for n := range highest + 1 {
		count, numbers := momentsUpTo(n)
		count *= d.channels
		reason := ""
		switch {
		case numbers > places:
			reason = fmt.Sprintf("the disc in its map of %d x %d places holds %d, and moments up to degree %d are %d "+
				"numbers", d.side, d.side, places, n, numbers)
		case count > mostRead:
			reason = fmt.Sprintf("moments up to degree %d of %s are %d numbers, and a layer is learned that reads at "+
				"most %d", n, words.Plural(d.channels, "channel", "channels"), count, mostRead)
		case learnedEach*count > have:
			reason = fmt.Sprintf("moments up to degree %d of %s are %d numbers, of which each needs %d samples to "+
				"learn from, %d in all, and there are %d (fit)", n, words.Plural(d.channels, "channel", "channels"),
				count, learnedEach, learnedEach*count, have)
		}
		if reason == "" {
			can = n
		}
		if n == degree {
			why = reason
		}
	}
	switch {
	case why == "":
		return nil
	case can >= 0:
		return fmt.Errorf("%s (%s): %s: ask for moments:degree=%d", d.name, d.op, why, can)
	case d.channels > mostRead:
		return fmt.Errorf("%s (%s): %s: take average or select", d.name, d.op, why)
	}
	return fmt.Errorf("%s (%s): %s: give at least %d samples to learn from, and ask for moments:degree=0", d.name, d.op,
		why, learnedEach*d.channels)
}

// findLast finds the scores that a layer makes, up to a bias and a softmax.
func (d *denseLayer) findLast(s Source) error {
	outs := decode.Outputs(s.Codec)
	nodes := s.Model.Proto().GetGraph().GetNode()
	if _, ok := s.Answer.(classed); !ok || len(outs) != 1 {
		return fmt.Errorf("labels are those of classes, and %s answers with %s: leave out to=labels", s.Model.Name(),
			s.Answer.Form())
	}
	at, normed := d.to, false
	d.last = at
	for at != outs[0] {
		var next []*onnxpb.NodeProto
		for _, n := range nodes {
			if slices.Contains(n.GetInput(), at) || slices.Contains(onnx.Captured(n), at) {
				next = append(next, n)
			}
		}
		op := ""
		if len(next) == 1 {
			op = next[0].GetOpType()
		}
		switch {
		case op == "Identity", op == "Add" && !normed:
		case (op == "Softmax" || op == "LogSoftmax") && !normed:
			normed = true
		default:
			return fmt.Errorf("labels are what the last layer says, and behind %s (%s) the model goes on: leave out "+
				"to=labels, and what it answered is learned", d.name, d.op)
		}
		if at = next[0].GetOutput()[0]; !normed {
			d.last = at
		}
	}
	return nil
}

// refit is a layer that was learned anew.
type refit struct {
	of      *denseLayer
	z       *zernike
	line    *line
	samples int
	penalty float64
	// open is the share of what was to be learned that varies and that it does not follow, on samples to choose by
	open   float64
	chosen int
}

// says is what was done to the layer.
func (r *refit) says(to string) string {
	what := map[string]string{"answers": "what it answered", "labels": "labels"}[to]
	channels := words.Plural(r.of.channels, "channel", "channels")
	return fmt.Sprintf("on %d magnitudes of moments of each of %s, to %s, of %s (fit), with the penalty %g, which "+
		"leaves %.2g of its variance open on %s (choose)", len(r.z.n), channels, what,
		words.Plural(r.samples, "sample", "samples"), r.penalty, r.open, words.Plural(r.chosen, "sample", "samples"))
}

// penalties are tried from the smallest on.
func penalties() []float64 { return []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10} }

// relearn learns a layer: its weights on the samples to learn from, the penalty on those to choose by.
func (s Source) relearn(d *denseLayer, z *zernike) (*refit, error) {
	if s.Inside == nil {
		return nil, errors.New("the model cannot be looked into, so that nothing is known to learn from")
	}
	count := d.channels * len(z.n)
	r := newRidge(count, d.outputs)
	var scores scale
	err := s.read(d, z, split.Fit, usedEach*count, func(x, y, offset []float64, label int) {
		if d.last != "" {
			scores.add(y, offset, label)
			y = oneOf(label, len(y))
		}
		r.add(x, y)
	})
	if err != nil {
		return nil, err
	}
	if r.n < learnedEach*count {
		return nil, fmt.Errorf("%d samples to learn from were read, want %d", r.n, learnedEach*count)
	}
	var xs, ys [][]float64
	err = s.read(d, z, split.Choose, mostChosen, func(x, y, _ []float64, label int) {
		if d.last != "" {
			y = oneOf(label, len(y))
		}
		xs, ys = append(xs, x), append(ys, y)
	})
	if err != nil {
		return nil, err
	}
	out := &refit{of: d, z: z, samples: r.n, open: math.Inf(1), chosen: len(xs)}
	for _, p := range penalties() {
		l, err := r.solve(p)
		if errors.Is(err, errSingular) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if open := l.open(xs, ys); open < out.open {
			out.line, out.penalty, out.open = l, p, open
		}
	}
	if out.line == nil {
		return nil, errSingular
	}
	if d.last != "" {
		scores.lay(out.line)
	}
	return out, nil
}

// oneOf is 1 for a class and 0 for the others.
func oneOf(label, classes int) []float64 {
	y := make([]float64, classes)
	y[label] = 1
	return y
}

// read hands on, for samples of a side, the magnitudes of a layer's map and what it answers; for labels the scores
// behind it, and by how much they differ from that.
func (s Source) read(d *denseLayer, z *zernike, side split.Side, most int,
	use func(x, y, offset []float64, label int),
) error {
	values, last := []string{d.from, d.to}, 1
	if d.last != "" && d.last != d.to {
		values, last = append(values, d.last), 2
	}
	area := d.side * d.side
	return s.Inside(side, most, values, func(id string, v [][]float64, label int) error {
		if len(v[0]) != d.channels*area || len(v[1]) != d.outputs {
			return fmt.Errorf("sample %s has %d numbers in the map and %d in the answer, want %d and %d", id, len(v[0]),
				len(v[1]), d.channels*area, d.outputs)
		}
		steps := d.strides()
		x := z.magnitudes(d.channels, func(c, p int) float64 {
			return v[0][c*steps[0]+p/d.side*steps[1]+p%d.side*steps[2]]
		})
		y := v[1]
		var offset []float64
		if d.last != "" {
			if label < 0 || label >= len(y) {
				return fmt.Errorf("sample %s has no label among %d classes: leave out to=labels", id, len(y))
			}
			y, offset = v[last], make([]float64, len(y))
			for k := range offset {
				offset[k] = v[last][k] - v[1][k]
			}
		}
		for _, all := range [][]float64{x, y} {
			if slices.ContainsFunc(all, func(a float64) bool { return math.IsNaN(a) || math.IsInf(a, 0) }) {
				return fmt.Errorf("its map or its answer is not finite for sample %s (%s)", id, side)
			}
		}
		use(x, y, offset, label)
		return nil
	})
}

// strides are by how many numbers channels, rows and columns of the map of one sample lie apart.
func (d *denseLayer) strides() [3]int {
	var size [4]int
	for k, n := range [4]int{1, d.channels, d.side, d.side} {
		size[d.axes[k]] = n
	}
	var out [3]int
	for k := range out {
		out[k] = tensor.Count(size[d.axes[k+1]+1:])
	}
	return out
}

// open is the share of the variance of ys that a line does not follow; infinite if nothing varies.
func (l *line) open(xs, ys [][]float64) float64 {
	mean := make([]float64, len(l.bias))
	for _, y := range ys {
		for k := range mean {
			mean[k] += y[k] / float64(len(ys))
		}
	}
	off, all := 0.0, 0.0
	for i, x := range xs {
		off, all = off+apart(l.at(x), ys[i]), all+apart(ys[i], mean)
	}
	if !(all > 0) {
		all = 1
	}
	return off / all
}

// scale is what a model says of right classes and of wrong ones, in the mean, and by how much that differs from what
// its last layer says: labels are learned in that unit.
type scale struct {
	n           float64
	classes     int
	right, most float64
	offset      []float64
}

func (a *scale) add(y, offset []float64, label int) {
	if a.offset == nil {
		a.offset = make([]float64, len(y))
	}
	a.n, a.classes = a.n+1, len(y)
	for k, v := range y {
		a.offset[k] += offset[k]
		if k == label {
			a.right += v
		} else {
			a.most += v
		}
	}
}

// lay brings a line that tells classes by 1 and 0 to the scores of the model.
func (a *scale) lay(l *line) {
	right, wrong := a.right/a.n, a.most/(a.n*float64(max(a.classes-1, 1)))
	by := right - wrong
	if !(by > 0) { // a model that is wrong more often than by chance has no scale to keep
		by = 1
	}
	for _, w := range l.weights {
		for k := range w {
			w[k] *= by
		}
	}
	for k := range l.bias {
		l.bias[k] = wrong + float64(by*l.bias[k]) - a.offset[k]/a.n
	}
}

// put writes what the layer reads now before it, and what it learned into it.
func (r *refit) put(b *rewrite.Shell, n *onnxpb.NodeProto) error {
	d, own := r.of, r.of.dtype
	if own != tensor.Float64 {
		own = tensor.Float32 // half a precision is too little for squares
	}
	cast := func(v string, from, to tensor.DType) string {
		if from == to {
			return v
		}
		return b.Op("Cast", []string{v}, onnx.AttrInt("to", int64(to)))
	}
	var err error
	store := func(as tensor.DType, x []float64, shape ...int) string {
		t, bad := decode.Rounded(as, x, shape...)
		if bad != nil {
			err = errors.Join(err, bad)
			return ""
		}
		return b.Const(t)
	}
	count, area := len(r.z.n), d.side*d.side
	v := cast(d.from, d.dtype, own)
	if d.axes != [4]int{0, 1, 2, 3} {
		v = b.Op("Transpose", []string{v}, onnx.AttrInts("perm", int64(d.axes[0]), int64(d.axes[1]), int64(d.axes[2]),
			int64(d.axes[3])))
	}
	v = b.Op("Reshape", []string{v, b.Ints(-1, int64(d.channels), int64(area))})
	square := func(m []float64) string {
		y := b.Op("MatMul", []string{v, store(own, m, area, count)})
		return b.Op("Mul", []string{y, y})
	}
	y := b.Op("Add", []string{square(r.z.re), square(r.z.im)})
	y = b.Op("Sqrt", []string{b.Op("Add", []string{y, store(own, []float64{leastMoment}, 1)})})
	y = b.Op("Reshape", []string{y, b.Ints(-1, int64(d.channels*count))})
	y = cast(y, own, d.dtype)
	n.OpType, n.Attribute = new("Gemm"), nil
	n.Input = []string{
		y, store(d.dtype, slices.Concat(r.line.weights...), d.channels*count, d.outputs),
		store(d.dtype, r.line.bias, d.outputs),
	}
	return err
}

// earlier says what loses the symmetry before the map already, as far as the graph tells; "" for nothing. The layer
// cannot bring back what is lost there.
func (s Source) earlier(f *facts.Facts, d *denseLayer) string {
	_, wanted, err := square(s)
	if _, inner := producers(s.Model.Proto().GetGraph().GetNode())[d.from]; err != nil || !inner {
		return ""
	}
	p, err := lint.Predict(context.Background(), f, lint.Options{Output: d.from})
	if err != nil || !p.Analyzed {
		return ""
	}
	for _, l := range p.Losses {
		if (l.Level == lint.LevelStructure || l.Level == lint.LevelWeights) &&
			slices.ContainsFunc(wanted.Names(), func(e string) bool { return slices.Contains(l.Elements, e) }) {
			return fmt.Sprintf("; before it, at %s (%s), the map loses the symmetry already, which moments do not "+
				"bring back", l.Node, l.Op)
		}
	}
	return ""
}
