package repair

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// mostProbes is how many numbers a value may have, of one channel, whose motion is found out number by number.
const mostProbes = 1 << 13

// mostConstants is how many bytes the indices and weights of one element may take in a file.
const mostConstants = 8 << 20

// transport is how the numbers of one array of a model move under one element:
//
//	out[j] = shift[j] + Σ_k weight[j·taps+k] · in[index[j·taps+k]]
//
// It is found out by moving probes with the action itself, so that what stands in the file is what an audit applies.
type transport struct {
	taps   int
	index  []int32
	weight []float64
	// nil for zeros
	shift []float64
}

// identical tells a transport that leaves all as it is.
func (t *transport) identical() bool {
	if t.taps != 1 || t.shift != nil {
		return false
	}
	for j, i := range t.index {
		if int(i) != j || t.weight[j] != 1 {
			return false
		}
	}
	return true
}

// of applies it, for tests and to hold it against what it was learned from.
func (t *transport) of(x []float64) []float64 {
	out := make([]float64, len(t.index)/t.taps)
	for j := range out {
		if t.shift != nil {
			out[j] = t.shift[j]
		}
		for k := j * t.taps; k < (j+1)*t.taps; k++ {
			out[j] += float64(t.weight[k] * x[t.index[k]])
		}
	}
	return out
}

var errNotAffine = errors.New("the element does not move numbers by sums of others with fixed weights")

// learn finds out how move, an affine map, takes n numbers to as many. They consist of blocks that may move alike, such
// as the channels of a picture; 1 if they do not.
func learn(n, blocks int, move func([]float64) ([]float64, error)) (*transport, error) {
	shift, err := move(make([]float64, n))
	if err != nil {
		return nil, err
	}
	if len(shift) != n {
		return nil, fmt.Errorf("the element makes %d numbers of %d; only those that keep the size can stand in a file",
			len(shift), n)
	}
	linear := func(x []float64) ([]float64, error) {
		y, err := move(x)
		if err != nil {
			return nil, err
		}
		y = slices.Clone(y)
		for j := range y {
			y[j] -= shift[j]
		}
		return y, nil
	}
	t, err := single(n, linear)
	if err == nil && t == nil {
		t, err = impulses(n, blocks, linear)
	}
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(shift, func(x float64) bool { return x != 0 }) {
		t.shift = slices.Clone(shift)
	}
	return t, t.check(n, move)
}

// single finds a map that reads one number for each that it writes, nil if it is none.
func single(n int, linear func([]float64) ([]float64, error)) (*transport, error) {
	ones, ramp := make([]float64, n), make([]float64, n)
	for k := range n {
		ones[k], ramp[k] = 1, float64(k+1)
	}
	w, err := linear(ones)
	if err != nil {
		return nil, err
	}
	r, err := linear(ramp)
	if err != nil {
		return nil, err
	}
	t := &transport{taps: 1, index: make([]int32, n), weight: make([]float64, n)}
	for j := range n {
		if w[j] == 0 && r[j] == 0 {
			continue // comes from outside
		}
		at := r[j]/w[j] - 1
		i := math.Round(at)
		if !(math.Abs(at-i) < 1e-6) || i < 0 || i >= float64(n) {
			return nil, nil //nolint:nilnil // several numbers were read
		}
		t.index[j], t.weight[j] = int32(i), w[j]
	}
	if t.check(n, linear) != nil {
		return nil, nil //nolint:nilnil,nilerr // several numbers were read that look like one
	}
	return t, nil
}

// impulses moves one number after the other.
func impulses(n, blocks int, linear func([]float64) ([]float64, error)) (*transport, error) {
	if blocks < 1 || n%blocks != 0 {
		blocks = 1
	}
	for ; ; blocks = 1 { // alike, or each by itself
		size := n / blocks
		if size > mostProbes {
			return nil, fmt.Errorf("%d numbers move between their places, and at most %d of them are followed: take "+
				"elements that need no resampling, such as quarter turns", size, mostProbes)
		}
		t, err := block(n, size, linear)
		if err != nil {
			return nil, err
		}
		if t != nil && t.check(n, linear) == nil {
			return t, nil
		}
		if blocks == 1 {
			return nil, errNotAffine
		}
	}
}

// block moves the first numbers, one after the other, and takes the others to move alike; nil if they reach beyond.
func block(n, size int, linear func([]float64) ([]float64, error)) (*transport, error) {
	type tap struct {
		i int32
		w float64
	}
	rows := make([][]tap, size)
	x := make([]float64, n)
	most := 1
	for k := range size {
		x[k] = 1
		y, err := linear(x)
		x[k] = 0
		if err != nil {
			return nil, err
		}
		for j, w := range y {
			switch {
			case w == 0:
			case j >= size:
				return nil, nil //nolint:nilnil // blocks do not move by themselves
			default:
				rows[j] = append(rows[j], tap{int32(k), w})
				most = max(most, len(rows[j]))
			}
		}
	}
	if bytes := n * most * 8; bytes > mostConstants*8 {
		return nil, fmt.Errorf("the weights of one element take %d MB: take elements that need no resampling",
			bytes>>20)
	}
	t := &transport{taps: most, index: make([]int32, n*most), weight: make([]float64, n*most)}
	for b := 0; b < n; b += size {
		for j, row := range rows {
			for k, p := range row {
				at := (b+j)*most + k
				t.index[at], t.weight[at] = p.i+int32(b), p.w
			}
			for k := len(row); k < most; k++ { // read what is near, and weigh it with nothing
				t.index[(b+j)*most+k] = int32(b + j)
			}
		}
	}
	return t, nil
}

// check holds the transport against the map on numbers that it was not learned from.
func (t *transport) check(n int, move func([]float64) ([]float64, error)) error {
	draw := rand.New(rand.NewPCG(1, uint64(n)))
	for range 2 {
		x := make([]float64, n)
		for k := range x {
			x[k] = draw.NormFloat64()
		}
		want, err := move(x)
		if err != nil {
			return err
		}
		for j, y := range t.of(x) {
			if !(math.Abs(y-want[j]) <= 1e-9*(1+math.Abs(want[j]))) {
				return errNotAffine
			}
		}
	}
	return nil
}

// place is where a number of a sample lies in the arrays that a model reads.
type place struct {
	port, at int
	// the model reads scale·x + offset
	scale, offset float64
}

// layout finds out where a codec puts the numbers of a sample: it reorders them, and scales each by itself.
func layout(c decode.Codec, like space.Value) (places []place, ports []tensor.Named, err error) {
	n := len(like.Numbers())
	probe := func(f func(k int) float64) ([]tensor.Named, [][]float64, error) {
		x := make([]float64, n)
		for k := range x {
			x[k] = f(k)
		}
		v, err := like.With(x)
		if err != nil {
			return nil, nil, err
		}
		all, err := decode.Linear(c, []space.Value{v})
		if err != nil {
			return nil, nil, err
		}
		var out [][]float64
		for _, t := range all {
			f, err := t.Float64s(nil)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", t.Name, err)
			}
			out = append(out, f)
		}
		return all, out, nil
	}
	ports, ones, err := probe(func(int) float64 { return 1 })
	if errors.Is(err, decode.ErrNotLinear) {
		return wholeLayout(c, like)
	}
	if err != nil {
		return nil, nil, err
	}
	_, ramp, err := probe(func(k int) float64 { return float64(k + 1) })
	if err != nil {
		return nil, nil, err
	}
	zero, err := like.With(make([]float64, n))
	if err != nil {
		return nil, nil, err
	}
	base, err := decode.Double(c).Encode([]space.Value{zero}, nil)
	if err != nil {
		return nil, nil, err
	}
	places = make([]place, n)
	found := 0
	for p := range ones {
		offsets, err := base[p].Float64s(nil)
		if err != nil {
			return nil, nil, err
		}
		for at, w := range ones[p] {
			if w == 0 {
				continue
			}
			k := int(math.Round(ramp[p][at]/w)) - 1
			if k < 0 || k >= n || places[k].scale != 0 {
				return nil, nil, errMixtures
			}
			places[k] = place{p, at, w, offsets[at]}
			found++
		}
	}
	if found != n {
		return nil, nil, fmt.Errorf("the model reads %d of the %d numbers of a sample: what moves them cannot be "+
			"written "+
			"in terms of what it reads", found, n)
	}
	return places, ports, nil
}

// wholeLayout is the layout of a codec that rounds to integers: which number of a sample stands where is told by its
// digits in base two, each of which is asked for by itself with numbers that are far apart.
func wholeLayout(c decode.Codec, like space.Value) (places []place, ports []tensor.Named, err error) {
	const far = 128 // a byte of either kind holds 0 and this, as 127 where it is the end
	n := len(like.Numbers())
	ask := func(f func(k int) bool) ([][]float64, error) {
		x := make([]float64, n)
		for k := range x {
			if f(k) {
				x[k] = far
			}
		}
		v, err := like.With(x)
		if err != nil {
			return nil, err
		}
		all, err := c.Encode([]space.Value{v}, nil)
		if err != nil {
			return nil, err
		}
		ports = nil
		var out [][]float64
		for _, t := range all {
			f, err := t.Float64s(nil)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.Name, err)
			}
			shape := append([]int{1}, t.Shape[1:]...) // without copies that fill up a batch
			ports = append(ports, tensor.Named{Name: t.Name, Tensor: tensor.Tensor{DType: t.DType, Shape: shape}})
			out = append(out, f[:tensor.Count(shape)])
		}
		return out, nil
	}
	base, err := ask(func(int) bool { return false })
	if err != nil {
		return nil, nil, err
	}
	high, err := ask(func(int) bool { return true })
	if err != nil {
		return nil, nil, err
	}
	from := make([][]int, len(base))
	for p := range base {
		from[p] = make([]int, len(base[p]))
	}
	for bit := 1; bit < n; bit <<= 1 {
		got, err := ask(func(k int) bool { return k&bit != 0 })
		if err != nil {
			return nil, nil, err
		}
		for p := range got {
			for at, x := range got[p] {
				if x == high[p][at] && x != base[p][at] {
					from[p][at] |= bit
				} else if x != base[p][at] {
					return nil, nil, errMixtures
				}
			}
		}
	}
	places = make([]place, n)
	found := 0
	for p := range base {
		for at, k := range from[p] {
			scale := (high[p][at] - base[p][at]) / far
			if scale == 0 {
				continue
			}
			if k >= n || places[k].scale != 0 {
				return nil, nil, errMixtures
			}
			places[k] = place{p, at, scale, base[p][at]}
			found++
		}
	}
	if found != n {
		return nil, nil, fmt.Errorf("the model reads %d of the %d numbers of a sample as they are", found, n)
	}
	return places, ports, nil
}

var errMixtures = errors.New("the model reads mixtures of the numbers of a sample, such as grey of colors: what " +
	"moves them cannot be written in terms of what it reads")

// inputs are the transports of the arrays that a model reads, by name, as an action moves samples like one; without
// those that stay as they are.
func inputs(c decode.Codec, a action.Action, g group.Element, like space.Value) (map[string]*transport, error) {
	places, ports, err := layout(c, like)
	if err != nil {
		return nil, err
	}
	blocks := 1
	if d := like.Dims(); len(d) > 2 {
		blocks = d[0]
	}
	t, err := learn(len(places), blocks, func(x []float64) ([]float64, error) {
		v, err := like.With(slices.Clone(x))
		if err != nil {
			return nil, err
		}
		v, err = a.Apply(g, v)
		if err != nil {
			return nil, err
		}
		return v.Numbers(), nil
	})
	if err != nil {
		return nil, err
	}
	out := map[string]*transport{}
	each := make([]*transport, len(ports))
	for p := range ports {
		f := tensor.Count(ports[p].Shape)
		m := &transport{
			taps: t.taps, index: make([]int32, f*t.taps), weight: make([]float64, f*t.taps),
			shift: make([]float64, f),
		}
		for j := range f { // what no number of the sample stands in stays
			for k := range t.taps {
				m.index[j*t.taps+k] = int32(j)
			}
			m.weight[j*t.taps] = 1
		}
		each[p] = m
	}
	for j, to := range places {
		m := each[to.port]
		shift := to.offset
		if t.shift != nil {
			shift += float64(to.scale * t.shift[j])
		}
		for k := range t.taps {
			w := t.weight[j*t.taps+k]
			from := places[t.index[j*t.taps+k]]
			if w != 0 && from.port != to.port {
				return nil, fmt.Errorf("numbers move from the input %s to the input %s", ports[from.port].Name,
					ports[to.port].Name)
			}
			at := to.at*t.taps + k
			m.weight[at] = w * (to.scale / from.scale)
			if m.index[at] = int32(from.at); from.port != to.port {
				m.index[at] = int32(to.at)
			}
			shift -= float64(m.weight[at] * from.offset)
		}
		m.shift[to.at] = shift
	}
	for p, m := range each {
		if !slices.ContainsFunc(m.shift, func(x float64) bool { return x != 0 }) {
			m.shift = nil
		}
		if !m.identical() {
			out[ports[p].Name] = m
		}
	}
	return out, nil
}

// output is the transport of the array that a model answers, nil if it stays as it is; shape is that of one sample.
func output(c decode.Codec, name string, a action.Action, g group.Element, shape []int) (*transport, error) {
	plain := decode.Double(decode.Plain(c))
	n := tensor.Count(shape)
	blocks := 1
	if len(shape) > 2 {
		blocks = shape[0]
	}
	rows := max(1, decode.BatchLimit(c)) // a fixed batch is filled up
	t, err := learn(n, blocks, func(x []float64) ([]float64, error) {
		raw, err := decode.Rounded(tensor.Float64, slices.Repeat(x, rows), append([]int{rows}, shape...)...)
		if err != nil {
			return nil, err
		}
		v, err := plain.Decode([]tensor.Named{{Name: name, Tensor: raw}}, 1)
		if err != nil {
			return nil, err
		}
		moved, err := a.Apply(g, v[0])
		if err != nil {
			return nil, err
		}
		back, err := decode.Raw(plain, []space.Value{moved})
		if err != nil {
			return nil, err
		}
		return back.Float64s(nil)
	})
	if err != nil {
		return nil, err
	}
	if t.identical() {
		return nil, nil //nolint:nilnil // it stays as it is
	}
	return t, nil
}
