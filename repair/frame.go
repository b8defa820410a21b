package repair

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/rewrite"
	"nero/symmetry/action"
)

// doubleOption is of all methods that compute a pose.
func doubleOption() Option {
	return Option{
		Name: "double", Values: []string{"true", "false"},
		Doc: "whether the pose is computed in float64; false for bodies without",
	}
}

func maskOption() Option {
	return Option{
		Name: "mask", Values: []string{auto}, Other: "INPUT",
		Doc: "the input that is 0 in rows which fill up a sample; auto finds it",
	}
}

// mostTurns is how many turns near a crossing of axes may be averaged over.
const mostTurns = 64

// frame answers the mean over the poses in which the principal axes of a cloud are those of space: as many as there are
// ways to choose their signs (Puny and others 2022, Frame Averaging).
var frame = Method{
	Name: "frame",
	Doc:  "points: the mean over the poses in which their principal axes lie along those of space",
	Options: []Option{
		{
			Name: "smooth", Values: []string{"1"}, Other: "K",
			takes: func(s string) bool { k, err := strconv.Atoi(s); return err == nil && k >= 1 && k <= mostTurns },
			Doc: "turns, up to 64, that each pose is averaged over where two axes are nearly as long, so that " +
				"answers jump less there",
		},
		{
			Name: "poses", Values: []string{"1", "24"},
			Doc: "24: all rotations of the cube behind it, for a model that knows one of these poses",
		},
		{
			Name: "by", Values: []string{"average", "select"},
			Doc: "the mean over the poses, or the one that the model is surest of",
		},
		average.Options[0], selection.Options[0], maskOption(), doubleOption(),
	},
	near: nearCrossing, crossings: crossingAxes,
	forces: "averaged force heads are equivariant, but not the gradient of the averaged energy, even if they were " +
		"that of the energy: " +
		"poses move with the points",
	predicted: func(s Source, options map[string]string) float64 {
		c, err := claimed(s.Group)
		if err != nil {
			return math.NaN()
		}
		ends, turns := signs(c), 1
		if options["poses"] == "24" {
			ends = cube(c.mirrors)
		}
		if k, err := strconv.Atoi(options["smooth"]); err == nil && c.turns {
			turns = k
		}
		return float64(turns * len(ends))
	},
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		k, err := strconv.Atoi(options["smooth"])
		if err != nil {
			return nil, "", err
		}
		feeds, err := moving(s)
		if err != nil {
			return nil, "", err
		}
		c, err := claimed(s.Group)
		if err != nil {
			return nil, "", err
		}
		f := framing{s: s, claim: c, options: options, turns: k, ends: signs(c), feeds: feeds}
		switch {
		case options["poses"] == "24" && (!c.turns || c.upright):
			return nil, "", fmt.Errorf("poses=24 are the rotations of a cube, and %s does not turn everything "+
				"everywhere", s.Group.Name())
		case options["poses"] == "24":
			f.ends = cube(c.mirrors)
		case options["by"] == "select" && k > 1:
			return nil, "", errors.New("by=select takes one pose and smooth the mean of several: leave one of them out")
		}
		if !c.turns {
			f.turns = 1
		}
		w, err := f.write("frame")
		if err != nil {
			return nil, "", err
		}
		return w.Shell, fmt.Sprintf("%s, %d poses", s.Group.Name(), f.turns*len(f.ends)), nil
	},
}

// signs are the ways to choose the directions of axes.
func signs(c claim) [][9]float64 {
	var out [][9]float64
	for i := range 8 {
		m := [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
		det := 1
		for k := range 3 {
			if i>>k&1 != 0 {
				m[4*k], det = -1, -det
			}
		}
		if i == 0 || c.turns && (c.mirrors || det > 0) && (!c.upright || m[8] > 0) {
			out = append(out, m)
		}
	}
	return out
}

// cube are the 24 matrices of the rotations of a cube, or the 48 with mirrors, the identity first.
func cube(mirrors bool) [][9]float64 {
	out := [][9]float64{{1, 0, 0, 0, 1, 0, 0, 0, 1}}
	for _, p := range [][3]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}} {
		odd := p == [3]int{0, 2, 1} || p == [3]int{2, 1, 0} || p == [3]int{1, 0, 2}
		for i := range 8 {
			var m [9]float64
			flips := odd
			for k := range 3 {
				m[3*k+p[k]] = 1
				if i>>k&1 != 0 {
					m[3*k+p[k]], flips = -1, !flips
				}
			}
			if (mirrors || !flips) && m != out[0] {
				out = append(out, m)
			}
		}
	}
	return out
}

// framing is a cloud brought into poses, and the answers brought back.
type framing struct {
	s       Source
	claim   claim
	options map[string]string
	// turns of each pose in the plane of the closest axes
	turns int
	// matrices behind the axes: signs, or rotations of a cube
	ends [][9]float64
	// signs of the axes are those of the third moments: there is one pose
	moments bool

	w      *wrapper
	x      *island
	feeds  []feed
	points int // among the feeds
	mask   string
	mean   string // [samples, 1, 3]; "" if shifts are not claimed
	// axes of each turn as columns, nil if nothing turns
	axes [][3]string
	// weight of each turn, [samples, 1, 1]
	weights []string
	// sign of the determinant of the axes; "" for +1
	sign string
}

// said is an output that is moved back.
type said struct {
	port   onnx.Port
	t      *tensorial
	shape  []int
	across bool
	scored bool
}

func (f *framing) write(word string) (*wrapper, error) {
	s := f.s
	if n := f.turns * len(f.ends); s.Most > 0 && n > s.Most {
		return nil, fmt.Errorf("it runs the model in %d poses, so that the repaired one costs %d times as much: raise "+
			"the budget to %d", n, n, n)
	}
	if opset := s.Model.Opset(); opset < oldest {
		return nil, tooOld(s, opset)
	}
	if !decode.BatchAxis(s.Codec) {
		return nil, oneByOne(s)
	}
	w := &wrapper{Shell: rewrite.New(s.Model), opset: s.Model.Opset(), probabilities: s.Probabilities}
	w.Under(word)
	f.w = w
	outs, err := answered(s)
	if err != nil {
		return nil, err
	}
	if f.options["by"] == "select" && (len(outs) != 1 || !outs[0].scored) {
		return nil, errors.New("by=select: the model does not answer scores of classes alone, by which it could be " +
			"sure of a pose")
	}
	if f.options["of"] == "probabilities" && (len(outs) != 1 || !outs[0].scored || f.turns > 1) {
		return nil, errors.New("of=probabilities: the model does not answer scores of classes alone, or smooth is " +
			"asked for as well")
	}
	for _, o := range outs {
		if err := countable(o.port); err != nil && f.turns*len(f.ends) > 1 {
			return nil, err
		}
	}
	if err := f.read(); err != nil {
		return nil, err
	}
	feeds := f.posed()
	var names []string
	for _, o := range outs {
		names = append(names, o.port.Name)
	}
	ys, err := w.bodies(s, names, feeds)
	if err != nil {
		return nil, err
	}
	for _, o := range outs {
		each := make([]string, len(ys))
		for i := range ys {
			each[i] = ys[i][o.port.Name]
		}
		v, err := f.back(o, each)
		if err != nil {
			return nil, err
		}
		w.Answer(o.port.Name, v)
	}
	return w, nil
}

// read writes the mean and the axes of the points.
func (f *framing) read() error {
	s, w := f.s, f.w
	if !f.claim.shifts && !f.claim.turns { // poses are known, and each row is moved by itself
		d := tensor.Float64
		if n := len(f.feeds); n > 0 && !slices.ContainsFunc(f.feeds, func(x feed) bool {
			return x.port.DType != f.feeds[0].port.DType
		}) {
			d = f.feeds[0].port.DType
		}
		f.x = w.island(d)
		return nil
	}
	f.points = -1
	for i, x := range f.feeds {
		if !x.t.positions || x.per != space.PerNode {
			continue
		}
		if f.points >= 0 {
			return fmt.Errorf("%s and %s are both positions of points, and axes are those of one cloud",
				f.feeds[f.points].name(), x.name())
		}
		f.points = i
	}
	if f.points < 0 {
		return errors.New("samples have no positions of points, of which axes could be computed")
	}
	p := f.feeds[f.points]
	for _, x := range f.feeds {
		p.others = append(p.others, x.port.Name)
	}
	var err error
	if f.mask, err = w.valid(s, p, f.options["mask"]); err != nil {
		return err
	}
	wide := tensor.Float64
	if f.options["double"] == "false" && p.port.DType != tensor.Float64 {
		wide = tensor.Float32
	}
	f.x = w.island(wide)
	x := f.x
	rows := f.rows(p)
	var mean string
	if f.mask == "" {
		mean = w.reduce("ReduceMean", rows, 1, 1)
	} else {
		count := x.sum(w.cast(f.mask, tensor.Bool, wide))
		mean = x.div(x.sum(rows), x.Op("Max", []string{count, x.one}))
	}
	if f.claim.shifts {
		f.mean = mean
	}
	if !f.claim.turns {
		f.axes, f.weights = nil, nil
		return nil
	}
	centred := x.sub(rows, mean)
	if f.mask != "" {
		centred = x.where(f.mask, centred, x.zero)
	}
	// The size of the cloud does not turn it, and what is of size 1 has squares.
	size := w.reduce("ReduceMax", w.reduce("ReduceMax", x.Op("Abs", []string{centred}), 2, 1), 1, 1)
	centred = x.div(centred, x.Op("Max", []string{size, x.tiny}))
	basis, n := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 3
	if f.claim.upright {
		basis, n = basisOf(f.claim.fixed), 2
	}
	sweeps := 5
	if wide == tensor.Float32 {
		sweeps = 4
	}
	spread, axes := x.axes(centred, basis, n, sweeps)
	if n == 2 { // as many as there are samples
		axes[2] = x.add(axes[2], x.mul(axes[0], x.zero))
	}
	if f.moments {
		f.aim(centred, &axes, n)
	} else {
		f.hand(&axes, n)
	}
	f.axes, f.weights = [][3]string{axes}, []string{x.one}
	if f.turns > 1 {
		f.turn(spread, axes, n)
	}
	return nil
}

// hand makes a right-handed system of axes.
func (f *framing) hand(axes *[3]string, n int) {
	if n == 2 {
		axes[1] = f.x.cross(axes[2], axes[0])
		return
	}
	axes[2] = f.x.cross(axes[0], axes[1])
}

// turn adds turns in the plane of the two axes that are closest to equal, and weights that are even where they are
// equal and leave the first alone where they are far apart (weighted frames: Dym, Lawrence and Siegel 2024).
func (f *framing) turn(spread, axes [3]string, n int) {
	x := f.x
	const scale = 8 / 0.2
	largest := x.Op("Max", []string{spread[0], x.tiny})
	gap := x.div(x.sub(spread[0], spread[1]), largest)
	first := ""
	if n == 3 {
		other := x.div(x.sub(spread[1], spread[2]), largest)
		first = x.less(gap, other)
		gap = x.where(first, gap, other)
	}
	kappa := x.mul(gap, x.num(scale))
	f.axes, f.weights = nil, nil
	total := ""
	for k := range f.turns {
		sin, cos := elementary.Sincos(math.Pi * float64(k) / float64(f.turns))
		a := axes
		if k > 0 {
			s, c, m := x.num(sin), x.num(cos), x.num(-sin)
			spin := func(i, j int) (string, string) {
				return x.add(x.mul(c, axes[i]), x.mul(s, axes[j])), x.add(x.mul(m, axes[i]), x.mul(c, axes[j]))
			}
			u, v := spin(0, 1)
			if n == 3 {
				v2, v3 := spin(1, 2)
				u, v = x.where(first, u, axes[0]), x.where(first, v, v2)
				a[2] = x.where(first, axes[2], v3)
			}
			a[0], a[1] = u, v
		}
		f.axes = append(f.axes, a)
		weight := x.Op("Exp", []string{x.mul(kappa, x.num(-2*float64(sin*sin)))}) // cos 2φ - 1
		f.weights = append(f.weights, weight)
		if total == "" {
			total = weight
		} else {
			total = x.add(total, weight)
		}
	}
	for k, v := range f.weights {
		f.weights[k] = x.div(v, total)
	}
}

// rows are those of an input in the island; what fills up is 0.
func (f *framing) rows(p feed) string {
	v := f.w.rowsOf(p.port.Name, p.shape, p.t.width, p.across)
	v = f.w.cast(v, p.port.DType, f.x.d)
	if f.mask != "" && p.per == space.PerNode {
		v = f.x.where(f.mask, v, f.x.zero)
	}
	return v
}

// posed is what the model reads in each pose.
func (f *framing) posed() []map[string]string {
	w, x := f.w, f.x
	feeds := make([]map[string]string, f.turns*len(f.ends))
	for i := range feeds {
		feeds[i] = map[string]string{}
	}
	for _, p := range f.feeds {
		v := f.rows(p)
		if p.t.positions && f.mean != "" {
			v = x.sub(v, f.repeated(f.mean, p.t))
			if f.mask != "" && p.per == space.PerNode {
				v = x.where(f.mask, v, x.zero)
			}
		}
		for k := range f.turns {
			y := v
			if f.axes != nil {
				y = w.turn(v, p.t, x.rows(f.axes[k]), f.sign, x.d)
			}
			y = w.cast(y, x.d, p.port.DType)
			for i, end := range f.ends {
				z := w.fixed(y, p.t, transposed(end), p.port.DType)
				feeds[k*len(f.ends)+i][p.port.Name] = w.unrowed(z, p.shape, p.t.width, p.across)
			}
		}
	}
	return feeds
}

// repeated is a point as often as a row has points.
func (f *framing) repeated(point string, t *tensorial) string {
	n := t.width / 3
	if n == 1 {
		return point
	}
	return f.w.Op("Concat", slices.Repeat([]string{point}, n), onnx.AttrInt("axis", 2))
}

func transposed(m [9]float64) [9]float64 {
	return [9]float64{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}
}

// back is the answer of an output from what the model says in each pose.
func (f *framing) back(o said, each []string) (string, error) {
	w, x := f.w, f.x
	one := *w
	one.n, one.dtype, one.scores, one.shape = len(each), o.port.DType, o.scored, o.shape
	still := o.t == nil || f.axes == nil && len(f.ends) == 1 && (!o.t.positions || f.mean == "")
	if still && f.turns == 1 {
		if len(each) == 1 {
			return each[0], nil
		}
		all := make([]string, len(each))
		for i, y := range each {
			all[i] = w.unsqueezed(y)
		}
		v := w.Op("Concat", all, onnx.AttrInt("axis", 0))
		if f.options["by"] == "select" {
			return one.surest(v, f.options)
		}
		return one.mean(v, f.options)
	}
	width := 0
	if o.t != nil {
		width = o.t.width
	}
	total := ""
	for k := range f.turns {
		part := make([]string, len(f.ends))
		for i, end := range f.ends {
			y := each[k*len(f.ends)+i]
			if o.t != nil {
				y = w.rowsOf(y, o.shape, width, o.across)
				y = w.fixed(y, o.t, end, o.port.DType)
			}
			part[i] = w.unsqueezed(y)
		}
		v := w.Op("Concat", part, onnx.AttrInt("axis", 0))
		if f.options["exact"] == "true" {
			v = one.sorted(v)
		}
		v = w.reduce("ReduceMean", v, 0, 0)
		v = w.cast(v, o.port.DType, x.d)
		if o.t != nil && f.axes != nil {
			v = w.turn(v, o.t, x.back(f.axes[k]), f.sign, x.d)
		}
		if f.turns > 1 {
			weight := f.weights[k]
			if o.t == nil && len(o.shape) != 2 {
				weight = w.Op("Reshape", []string{weight, w.Ints(lengths(slices.Repeat([]int{1}, len(o.shape)))...)})
			}
			v = x.mul(v, weight)
		}
		if total == "" {
			total = v
		} else {
			total = x.add(total, v)
		}
	}
	if o.t != nil && o.t.positions && f.mean != "" {
		total = x.add(total, f.repeated(f.mean, o.t))
	}
	total = w.cast(total, x.d, o.port.DType)
	if o.t != nil {
		total = w.unrowed(total, o.shape, width, o.across)
	}
	return total, nil
}

// unsqueezed has an axis of length 1 more, the first.
func (w *wrapper) unsqueezed(v string) string {
	if w.opset >= 13 {
		return w.Op("Unsqueeze", []string{v, w.Ints(0)})
	}
	return w.Op("Unsqueeze", []string{v}, onnx.AttrInts("axes", 0))
}

// answered are the outputs that are read, with how they move.
func answered(s Source) ([]said, error) {
	names := decode.Outputs(s.Codec)
	plain := decode.Plain(s.Codec)
	raws, err := decode.Raws(plain, []space.Value{s.Answer})
	if errors.Is(err, decode.ErrNotLinear) {
		return nil, fmt.Errorf("%s answers with %s, which cannot be added up: %w", s.Model.Name(), s.Answer.Form(), err)
	}
	if err != nil {
		return nil, err
	}
	fieldNames, values, acts, err := fields(s.Answer, s.Out)
	if err != nil {
		return nil, err
	}
	if len(values) != len(names) || len(raws) != len(names) {
		return nil, fmt.Errorf("%s answers with %d outputs for %d values: they are not moved one by one",
			s.Model.Name(), len(names), len(values))
	}
	out := make([]said, len(names))
	for i, v := range values {
		o := said{shape: raws[i].Shape[1:]}
		o.port, _ = s.Model.Signature().Output(names[i])
		_, o.scored = v.(classed)
		if _, still := acts[i].(action.Trivial); !still {
			of, ok := acts[i].(typed)
			d := v.Dims()
			if !ok || len(d) != 2 {
				return nil, fmt.Errorf("the answer %s %s is no rows of numbers of a type, and axes of a cloud move "+
					"nothing else", fieldNames[i], v.Form())
			}
			if o.t, err = tensorials(of.Type(), d[1]); err != nil {
				return nil, fmt.Errorf("the answer %s: %w", o.port.Name, err)
			}
			if o.t != nil {
				if o.across, err = across(plain, s.Answer, i, o, v); err != nil {
					return nil, err
				}
			}
		}
		out[i] = o
	}
	return out, nil
}

// across tells whether the numbers of a row stand along the first axis of an output.
func across(c decode.Codec, answer space.Value, i int, o said, field space.Value) (bool, error) {
	rows, width := field.Dims()[0], field.Dims()[1]
	ramp := make([]float64, rows*width)
	for k := range ramp {
		ramp[k] = float64(k + 1)
	}
	probe, err := field.With(ramp)
	if err != nil {
		return false, err
	}
	raws, err := decode.Raws(c, []space.Value{space.Replace(answer, i, probe)})
	if err != nil {
		return false, err
	}
	x, err := raws[i].Float64s(nil)
	if err != nil {
		return false, err
	}
	room := len(x) / width
	straight, turned := true, true
	for k := range rows {
		for j := range width {
			want := float64(k*width + j + 1)
			straight = straight && x[k*width+j] == want
			turned = turned && x[j*room+k] == want
		}
	}
	if !straight && !turned {
		return false, fmt.Errorf("the output %s has its numbers in an order that is not known", o.port.Name)
	}
	return !straight, nil
}
