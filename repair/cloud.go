package repair

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// claim is what a group does to space, as far as axes of a cloud know it.
type claim struct {
	shifts bool
	turns  bool
	// some elements mirror
	mirrors bool
	// fixed is the direction that all elements keep, if upright
	upright bool
	fixed   [3]float64
}

// claimed finds out what a group does to space by looking at some of its elements. The error says why axes of a cloud
// do not make a model symmetric under it.
func claimed(g group.Group) (claim, error) {
	var c claim
	factors := []group.Group{g}
	if f, ok := g.(group.Factored); ok {
		factors = f.Factors()
	}
	var all [][9]float64
	for _, f := range factors {
		s, ok := group.AsSpatial(f)
		if !ok {
			if _, ok := f.(group.Permuting); ok {
				continue // axes do not know in which order points stand
			}
			return c, fmt.Errorf("%s does more than to move space and to reorder points, and axes of a cloud know "+
				"nothing else", f.Name())
		}
		if s.Dim() != 3 {
			return c, fmt.Errorf("%s moves a space of %d dimensions, and axes are computed in three", f.Name(), s.Dim())
		}
		if t, ok := f.(group.Temporal); ok {
			return c, fmt.Errorf("%s runs time backwards as well, of which axes of a cloud know nothing", t.Name())
		}
		for _, e := range draws(s, 32) {
			a, t := s.Motion(e)
			m := [9]float64(a)
			if _, improper, ok := irreps.Split(&m, 1e-9); !ok {
				return c, fmt.Errorf("%s stretches space, which axes of a cloud cannot undo", f.Name())
			} else if improper {
				c.mirrors = true
			}
			c.shifts = c.shifts || slices.ContainsFunc(t, func(x float64) bool { return x != 0 })
			if m != [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1} {
				c.turns = true
				all = append(all, m)
			}
		}
	}
	if !c.turns && !c.shifts {
		return c, fmt.Errorf("%s does not move space", g.Name())
	}
	if c.turns {
		c.fixed, c.upright = kept(all)
	}
	return c, nil
}

// draws are some elements of a group.
func draws(g group.Group, n int) []group.Element {
	r := rand.New(rand.NewPCG(0x6672616d65, 1))
	var out []group.Element
	switch s := g.(type) {
	case group.Finite:
		out = s.Elements()
		if len(out) > 4*n {
			out = out[:4*n]
		}
	case group.Sampler:
		for range n {
			out = append(out, s.Sample(r))
		}
	case group.Lie:
		t := make([]float64, len(s.Generators()))
		for range n {
			for i := range t {
				t[i] = r.NormFloat64()
			}
			out = append(out, s.Exp(t))
		}
	}
	return out
}

// kept is the direction that all matrices keep, if there is just one: the mean of what becomes of an axis is kept by
// the group, and by a group of rotations about a direction it is along that.
func kept(all [][9]float64) (n [3]float64, ok bool) {
	// M = Σ (A - 1)ᵀ(A - 1), whose null space is what is kept
	var m [9]float64
	for _, a := range all {
		for i := range 3 {
			a[4*i]--
		}
		for i := range 3 {
			for j := range 3 {
				for k := range 3 {
					m[3*i+j] += float64(a[3*k+i] * a[3*k+j])
				}
			}
		}
	}
	// The adjugate of a matrix of rank two has its null vector in every column.
	best := 0.0
	for j := range 3 {
		var v [3]float64
		p, q := (j+1)%3, (j+2)%3
		for i := range 3 {
			k, l := (i+1)%3, (i+2)%3
			v[i] = float64(m[3*k+p]*m[3*l+q]) - float64(m[3*k+q]*m[3*l+p])
		}
		if s := math.Sqrt(float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2])); s > best {
			best = s
			n = [3]float64{v[0] / s, v[1] / s, v[2] / s}
		}
	}
	trace := m[0] + m[4] + m[8]
	if !(best > 1e-9*trace*trace) { // rank one, as of a single mirror: a plane is kept
		return n, false
	}
	for i := range 3 {
		sum := 0.0
		for j := range 3 {
			sum += float64(m[3*i+j] * n[j])
		}
		if !(math.Abs(sum) <= 1e-9*trace) {
			return n, false
		}
	}
	for i, x := range n { // axes of coordinates exactly
		if r := math.Round(x); math.Abs(x-r) < 1e-9 {
			n[i] = r + 0
		}
	}
	return n, true
}

// feed is an input whose numbers move.
type feed struct {
	field string
	t     *tensorial
	per   string
	port  onnx.Port
	// what the model reads of one sample
	shape []int
	// the numbers of a row stand along the first axis
	across bool
	// rows of the sample, and rows that the model reads
	rows, room int
	// others are further inputs that move
	others []string
}

// fields are the values of a sample with their actions.
func fields(v space.Value, a action.Action) (names []string, values []space.Value, acts []action.Action, err error) {
	if names, values = space.Fields(v); names == nil {
		names, values = []string{""}, []space.Value{v}
	}
	acts = []action.Action{a}
	if of, several := a.(*action.Record); several {
		acts = of.Fields()
	}
	if len(acts) != len(values) {
		return nil, nil, nil, fmt.Errorf("samples are %s, and their fields do not move one by one", v.Form())
	}
	return names, values, acts, nil
}

// typed is an action on rows, which knows what their numbers are.
type typed interface {
	Type() string
	Per() string
}

// moving are the inputs whose numbers move, in the order of the fields of a sample.
func moving(s Source) ([]feed, error) {
	if !decode.BatchAxis(s.Codec) {
		return nil, oneByOne(s)
	}
	names, values, acts, err := fields(s.Sample, s.In)
	if err != nil {
		return nil, err
	}
	codec := decode.Double(s.Codec)
	base, err := codec.Encode([]space.Value{s.Sample}, nil)
	if err != nil {
		return nil, err
	}
	base = cloned(base)
	var out []feed
	for i, v := range values {
		switch acts[i].(type) {
		case action.Trivial, *action.Links:
			continue
		}
		of, ok := acts[i].(typed)
		d := v.Dims()
		if !ok || len(d) != 2 {
			return nil, fmt.Errorf("%s are no rows of numbers, such as points, of which axes could be computed",
				strings.TrimSpace(names[i]+" "+v.Form()))
		}
		t, err := tensorials(of.Type(), d[1])
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		f := feed{field: names[i], t: t, per: of.Per(), rows: d[0]}
		ramp := make([]float64, d[0]*d[1])
		for k := range ramp {
			ramp[k] = float64(k + 1)
		}
		probe, err := v.With(ramp)
		if err != nil {
			return nil, err
		}
		sample := space.Replace(s.Sample, i, probe)
		read, err := codec.Encode([]space.Value{sample}, nil)
		if err != nil {
			return nil, err
		}
		if err := f.find(s, base, read); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func cloned(all []tensor.Named) []tensor.Named {
	out := slices.Clone(all)
	for i := range out {
		out[i].Raw = slices.Clone(out[i].Raw)
	}
	return out
}

// find is where an input reads the numbers 1, 2, … of the field, held against the input as it was.
func (f *feed) find(s Source, base, read []tensor.Named) error {
	found := false
	for p := range read {
		if slices.Equal(read[p].Raw, base[p].Raw) {
			continue
		}
		if found {
			return fmt.Errorf("two inputs read %s, %s and %s", f.name(), f.port.Name, read[p].Name)
		}
		found = true
		f.port, _ = s.Model.Signature().Input(read[p].Name)
		f.shape = slices.Clone(read[p].Shape[1:])
		all, err := read[p].Float64s(nil)
		if err != nil {
			return err
		}
		n := tensor.Count(f.shape)
		if f.room = n / f.t.width; f.room < f.rows {
			return fmt.Errorf("the input %s does not read all of %s", f.port.Name, f.name())
		}
		straight, across := true, true
		for i := range f.rows {
			for j := range f.t.width {
				want := float64(i*f.t.width + j + 1)
				straight = straight && all[i*f.t.width+j] == want
				across = across && all[j*f.room+i] == want
			}
		}
		if !straight && !across {
			return fmt.Errorf("the input %s reads %s in an order or a scale that is not known", f.port.Name, f.name())
		}
		f.across = !straight
	}
	if !found {
		return fmt.Errorf("no input reads %s", f.name())
	}
	return nil
}

func (f *feed) name() string {
	if f.field == "" {
		return "the sample"
	}
	return f.field
}

// rowsOf are rows [samples, rows, width] of what an input reads or an output says; shape is that of one sample.
func (w *wrapper) rowsOf(v string, shape []int, width int, across bool) string {
	switch {
	case across && len(shape) == 2:
		return w.Op("Transpose", []string{v}, onnx.AttrInts("perm", 0, 2, 1))
	case across:
		v = w.Op("Reshape", []string{v, w.Ints(0, int64(width), -1)})
		return w.Op("Transpose", []string{v}, onnx.AttrInts("perm", 0, 2, 1))
	case len(shape) == 2 && shape[1] == width:
		return v
	}
	return w.Op("Reshape", []string{v, w.Ints(0, -1, int64(width))})
}

// unrowed takes rows back to the shape that they had.
func (w *wrapper) unrowed(v string, shape []int, width int, across bool) string {
	if across {
		v = w.Op("Transpose", []string{v}, onnx.AttrInts("perm", 0, 2, 1))
		if len(shape) == 2 {
			return v
		}
	} else if len(shape) == 2 && shape[1] == width {
		return v
	}
	to := []int64{0}
	for i, n := range shape {
		if i == 0 && len(shape) != 2 { // the only axis, or that of the rows
			to = append(to, -1)
			continue
		}
		to = append(to, int64(n))
	}
	if len(shape) == 0 {
		to = []int64{-1}
	}
	return w.Op("Reshape", []string{v, w.Ints(to...)})
}

// cast changes the type of a value, if it is another.
func (w *wrapper) cast(v string, from, to tensor.DType) string {
	if from == to {
		return v
	}
	return w.Op("Cast", []string{v}, onnx.AttrInt("to", int64(to)))
}

// valid tells, as booleans [samples, rows, 1], which rows belong to a sample; "" where all do. mask is the input that
// says so, or auto.
func (w *wrapper) valid(s Source, points feed, mask string) (string, error) {
	var all []filled
	for _, v := range append([]space.Value{s.Sample}, s.Fit...) {
		x, err := filledBy(s, points, v)
		if err != nil {
			return "", err
		}
		all = append(all, x)
	}
	short := slices.ContainsFunc(all, func(x filled) bool { return x.room > x.rows })
	empty := slices.ContainsFunc(all, func(x filled) bool { return x.full < x.rows })
	var fit []string
	for _, t := range all[0].read {
		var good bool
		switch {
		case t.Name == points.port.Name || mask != auto && t.Name != mask:
			continue
		case mask != auto:
			good = !slices.ContainsFunc(all, func(x filled) bool { return !x.told(t.Name) })
		case slices.ContainsFunc(points.others, func(name string) bool { return name == t.Name }):
			continue // what moves is no mask: it may be 0 in all rows or in some
		case short:
			good = !slices.ContainsFunc(all, func(x filled) bool { return !x.tells(t.Name, x.rows) })
		default: // the data may fill up samples by themselves
			good = empty && !slices.ContainsFunc(all, func(x filled) bool { return !x.tells(t.Name, x.full) })
		}
		if good {
			fit = append(fit, t.Name)
		}
	}
	if mask != auto {
		if _, ok := s.Model.Signature().Input(mask); !ok {
			return "", fmt.Errorf("mask=%s: the model reads no such input; it reads %s", mask,
				strings.Join(onnx.Names(s.Model.Signature().Inputs), ", "))
		}
		if len(fit) == 0 {
			return "", fmt.Errorf("mask=%s: it is not a number for each row that is 0 for those that fill up a sample "+
				"and for no other", mask)
		}
		if !slices.ContainsFunc(all, func(x filled) bool { return !x.reversed(mask) }) {
			return "", fmt.Errorf("mask=%s: it is 0 in rows that hold points and not in those that fill up: feed one "+
				"that is 0 in rows that fill up", mask)
		}
	}
	switch {
	case len(fit) == 0 && !short:
		return "", nil
	case len(fit) == 0:
		return "", errors.New("samples have fewer rows than the model reads, and no input says which rows fill up: " +
			"such rows would be moved like points; feed a mask or species that are 0 there, and name it as mask=INPUT")
	case len(fit) > 1:
		return "", fmt.Errorf("several inputs tell which rows fill up a sample: say mask=%s", strings.Join(fit, " or "+
			"mask="))
	}
	port, _ := s.Model.Signature().Input(fit[0])
	v := port.Name
	if len(all[0].array(fit[0]).Shape) == 3 {
		if port.DType != tensor.Float32 && port.DType != tensor.Float64 {
			v = w.cast(v, port.DType, tensor.Float32)
		}
		v = w.reduce("ReduceMax", w.Op("Abs", []string{v}), 2, 1)
		return w.cast(v, tensor.Undefined, tensor.Bool), nil
	}
	v = w.cast(v, port.DType, tensor.Bool)
	return w.Op("Reshape", []string{v, w.Ints(0, -1, 1)}), nil
}

// filled is a sample with points that the model reads in rows of which some may fill it up.
type filled struct {
	read []tensor.Named
	// rows of the sample, and of the model
	rows, room int
	// holds tells which rows of the sample are not all 0; behind the first so many none is
	holds []bool
	full  int
}

func filledBy(s Source, points feed, v space.Value) (filled, error) {
	names, values, _, err := fields(v, s.In)
	if err != nil {
		return filled{}, err
	}
	of := values[max(slices.Index(names, points.field), 0)]
	d := of.Dims()
	if len(d) != 2 {
		return filled{}, fmt.Errorf("%s are %s", points.name(), of.Form())
	}
	read, err := s.Codec.Encode([]space.Value{v}, nil)
	if err != nil {
		return filled{}, err
	}
	x := filled{read: cloned(read), rows: d[0], holds: make([]bool, d[0])}
	x.room = tensor.Count(x.array(points.port.Name).Shape[1:]) / points.t.width
	for i, at := range of.Numbers() {
		if k := i / d[1]; at != 0 {
			x.holds[k], x.full = true, k+1
		}
	}
	return x, nil
}

// array is what an input reads.
func (x filled) array(name string) tensor.Tensor {
	i := slices.IndexFunc(x.read, func(t tensor.Named) bool { return t.Name == name })
	return x.read[i].Tensor
}

// marks are which rows an input is not 0 in; nil for one that has no number, or some, for each row.
func (x filled) marks(name string) []bool {
	t := x.array(name)
	n, err := t.Float64s(nil)
	if err != nil || len(t.Shape) != 2 && len(t.Shape) != 3 || t.Shape[1] != x.room {
		return nil
	}
	each := tensor.Count(t.Shape[2:])
	out := make([]bool, x.room)
	for i := range out {
		out[i] = slices.ContainsFunc(n[i*each:(i+1)*each], func(v float64) bool { return v != 0 })
	}
	return out
}

// tells is whether an input is 0 beyond the first so many rows and nowhere before.
func (x filled) tells(name string, rows int) bool {
	marks := x.marks(name)
	for i, m := range marks {
		if m != (i < rows) {
			return false
		}
	}
	return marks != nil
}

// told is whether an input may say which rows fill up: it is 0 beyond those of the sample, and not in all of these.
func (x filled) told(name string) bool {
	marks := x.marks(name)
	return marks != nil && slices.Contains(marks, true) && !slices.Contains(marks[x.rows:], true)
}

// reversed is whether an input is 0 in rows that hold points and in no row that holds none, and not 0 in others.
func (x filled) reversed(name string) bool {
	for i, m := range x.marks(name)[:x.rows] {
		if m == x.holds[i] {
			return false
		}
	}
	return true
}

// auto finds the mask among the inputs.
const auto = "auto"
