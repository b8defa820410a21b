package lint_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
	"nero/model/oracle"
)

// cell is one combination of the grid.
type cell struct {
	op     string
	kernel int64
	stride int64
	// a number for both sides, "0,1", "1,0", "upper" or "lower"
	pad      string
	dilation int64
	ceil     bool
	// padding counts in averages
	include bool
	// a Pad that wraps around, in place of pads of the layer's own
	circular bool
}

func (c cell) String() string {
	words := []string{fmt.Sprintf("%s kernel %d stride %d pad %s dilation %d", c.op, c.kernel, c.stride, c.pad,
		c.dilation)}
	for _, x := range []struct {
		on   bool
		name string
	}{{c.ceil, "ceil"}, {c.include, "include"}, {c.circular, "circular"}} {
		if x.on {
			words = append(words, x.name)
		}
	}
	return strings.Join(words, " ")
}

// pads are those before and after; ok is false for automatic ones.
func (c cell) pads() (begin, end int64, ok bool) {
	switch c.pad {
	case "0", "1", "2":
		begin = int64(c.pad[0] - '0')
		return begin, begin, true
	case "0,1":
		return 0, 1, true
	case "1,0":
		return 1, 0, true
	case "2,1":
		return 2, 1, true
	}
	return 0, 0, false
}

// kernel makes weights of m x n channels, symmetric under all of D4 if asked for.
func kernel(r *rand.Rand, m, n, k int, symmetric bool) tensor.Tensor {
	w := make([]float32, m*n*k*k)
	for c := range m * n {
		seen := map[[2]int]float32{}
		for i := range k * k {
			a, b := 2*(i/k)-k+1, 2*(i%k)-k+1
			a, b = max(a, -a), max(b, -b)
			key := [2]int{min(a, b), max(a, b)}
			v, ok := seen[key]
			if !ok || !symmetric {
				v = float32(r.NormFloat64())
				seen[key] = v
			}
			w[c*k*k+i] = v
		}
	}
	return tensor.FromFloat32(w, m, n, k, k)
}

func vector(r *rand.Rand, n int) tensor.Tensor {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return tensor.FromFloat32(v, n)
}

// add puts the cell into a model; it returns the channels that come out.
func (c cell) add(b *onnx.Builder, r *rand.Rand, x string, channels int, symmetric bool) (y string, out int) {
	attrs := []*onnxpb.AttributeProto{onnx.AttrInts("strides", c.stride, c.stride)}
	begin, end, ok := c.pads()
	switch {
	case c.circular:
		x = b.Op("Pad", []string{x, b.Ints(0, 0, begin, begin, 0, 0, end, end)}, onnx.AttrString("mode", "wrap"))
	case ok:
		attrs = append(attrs, onnx.AttrInts("pads", begin, begin, end, end))
	default:
		attrs = append(attrs,
			onnx.AttrString("auto_pad", map[string]string{"upper": "SAME_UPPER", "lower": "SAME_LOWER"}[c.pad]))
	}
	if c.dilation != 1 {
		attrs = append(attrs, onnx.AttrInts("dilations", c.dilation, c.dilation))
	}
	out = channels
	switch c.op {
	case "Conv", "ConvTranspose":
		out = 3
		m, n := out, channels
		if c.op == "ConvTranspose" {
			m, n = n, m
		}
		return b.Op(c.op, []string{x, b.Const(kernel(r, m, n, int(c.kernel), symmetric)), b.Const(vector(r, out))},
			attrs...), out
	}
	attrs = append(attrs, onnx.AttrInts("kernel_shape", c.kernel, c.kernel))
	if c.ceil {
		attrs = append(attrs, onnx.AttrInt("ceil_mode", 1))
	}
	if c.include {
		attrs = append(attrs, onnx.AttrInt("count_include_pad", 1))
	}
	return b.Op(c.op, []string{x}, attrs...), out
}

// Heads of the models of the grid.
var heads = []string{"map", "mean", "nonlinear mean", "maximum"}

func head(b *onnx.Builder, kind, y string) string {
	switch kind {
	case "mean":
		return b.Op("GlobalAveragePool", []string{y})
	case "nonlinear mean":
		return b.Op("GlobalAveragePool", []string{b.Op("LeakyRelu", []string{y})})
	case "maximum":
		return b.Op("GlobalMaxPool", []string{y})
	}
	return y
}

// measure runs a model in float64 on a random picture and its moved copies, and says which motions its output follows.
// The copies run as one batch.
func measure(tb testing.TB, m *onnx.Model, channels, h, w, effort int, move []func(y, x int) (int, int),
	follow []func(y, x, h, w int) (int, int, bool),
) []bool {
	tb.Helper()
	g, err := oracle.Load(m)
	if err != nil {
		tb.Fatal(err)
	}
	n := len(move)
	kept := slices.Repeat([]bool{true}, n)
	r := rand.New(rand.NewPCG(5, 6))
	for i, bump := range bumps(r, m, h, w, effort) {
		level := float32(i%3-1) * 4 * float32(min(i, 1))
		in := make([]float32, n*channels*h*w)
		for c := range channels {
			for y := range h {
				for x := range w {
					v := level + float32(r.NormFloat64())
					if [2]int{y, x} == bump {
						v += 8 * float32(r.IntN(2)*2-1)
					}
					for k, f := range move {
						my, mx := f(y, x)
						in[((k*channels+c)*h+my)*w+mx] = v
					}
				}
			}
		}
		out, err := g.Run(tb.Context(),
			[]tensor.Named{{Name: m.Signature().Inputs[0].Name, Tensor: tensor.FromFloat32(in, n, channels, h, w)}},
			oracle.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		val, err := out[0].Float64s(nil)
		if err != nil {
			tb.Fatal(err)
		}
		oh, ow, s := 1, 1, out[0].Shape
		if len(s) == 4 {
			oh, ow = s[2], s[3]
		}
		per := len(val) / n
		scale := 0.0
		for _, v := range val {
			scale = max(scale, math.Abs(v))
		}
		for k := range kept {
			for i := range per {
				y, x, ok := follow[k](i/ow%oh, i%ow, oh, ow)
				if !ok || !(math.Abs(val[k*per+i/(oh*ow)*oh*ow+y*ow+x]-val[i]) <= 1e-9*scale) {
					kept[k] = false
					break
				}
			}
		}
	}
	return kept
}

// bumps are places at which one picture each is extreme. A maximum hides what differs everywhere else: models that take
// one are measured on pictures whose extreme stands in every row and every column at least once, above and below even
// grounds.
func bumps(r *rand.Rand, m *onnx.Model, h, w, effort int) [][2]int {
	out := [][2]int{{-1, -1}}
	if !slices.ContainsFunc(m.Proto().GetGraph().GetNode(), func(n *onnxpb.NodeProto) bool {
		return n.GetOpType() == "MaxPool" || n.GetOpType() == "GlobalMaxPool"
	}) {
		return out
	}
	for range effort {
		for y := range h {
			out = append(out, [2]int{y, r.IntN(w)}, [2]int{y, w / 2})
		}
		for x := range w {
			out = append(out, [2]int{r.IntN(h), x}, [2]int{h / 2, x})
		}
	}
	return out
}

// turn moves the place (y, x) of a square map as the element says, written out anew: a quarter turn is
// counter-clockwise.
func turn(e lint.Element, y, x, n int) (int, int) {
	if e >= lint.MirrorX {
		p := [][2]int{{y, n - 1 - x}, {n - 1 - y, x}, {x, y}, {n - 1 - x, n - 1 - y}}[e-lint.MirrorX]
		return p[0], p[1]
	}
	for range e {
		y, x = n-1-x, y
	}
	return y, x
}

// elements measures which elements of D4 the output keeps.
func elements(tb testing.TB, m *onnx.Model, channels, n, effort int) lint.Subgroup {
	tb.Helper()
	var move []func(y, x int) (int, int)
	var follow []func(y, x, h, w int) (int, int, bool)
	for _, e := range lint.Whole.Elements() {
		move = append(move, func(y, x int) (int, int) { return turn(e, y, x, n) })
		follow = append(follow, func(y, x, h, _ int) (int, int, bool) {
			y, x = turn(e, y, x, h)
			return y, x, true
		})
	}
	var g lint.Subgroup
	for k, ok := range measure(tb, m, channels, n, n, effort, move, follow) {
		if ok {
			g |= 1 << k
		}
	}
	return g
}

// grid lists the combinations of one layer.
func grid() []cell {
	var out []cell
	for k := int64(1); k <= 5; k++ {
		for s := int64(1); s <= 3; s++ {
			for _, pad := range []string{"0", "1", "2", "0,1", "1,0", "2,1", "upper", "lower"} {
				for d := int64(1); d <= 2; d++ {
					c := cell{op: "Conv", kernel: k, stride: s, pad: pad, dilation: d}
					_, end, ok := c.pads()
					out = append(out, c)
					if ok && d == 1 {
						t := c
						t.op = "ConvTranspose"
						out = append(out, t)
					}
					begin, _, _ := c.pads()
					if max(begin, end) >= k {
						continue // a window that reads padding alone is refused
					}
					for _, ceil := range []bool{false, true} {
						p := c
						p.op, p.ceil = "MaxPool", ceil && ok
						out = append(out, p)
						if d > 1 {
							continue
						}
						p.op = "AveragePool"
						out = append(out, p)
						p.include = true
						out = append(out, p)
					}
				}
			}
		}
	}
	return out
}

// check compares prediction and measurement for one model.
func check(tb testing.TB, layers []cell, size int, kind string, symmetric bool, seed uint64) (agree bool) {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	b := onnx.NewBuilder(19)
	x := b.Input("x", tensor.Float32, "N", 2, size, size)
	y, channels := x, 2
	for i, c := range layers {
		if i > 0 {
			y = b.Op("LeakyRelu", []string{y})
		}
		y, channels = c.add(b, r, y, channels, symmetric)
	}
	m := finish(tb, b, head(b, kind, y))
	p := predictModel(tb, m, lint.Options{})
	got := elements(tb, m, 2, size, 1)
	if !p.StructureKnown {
		tb.Errorf("%v on %d, %s: not followed: %v", layers, size, kind, p.Unknown)
		return false
	}
	want := p.Structure
	if got != want && got|want == got && symmetric { // more pictures can only take elements away
		got = elements(tb, m, 2, size, 20)
	}
	if !symmetric { // what the weights keep
		want = p.Weights
		for _, e := range p.Undecided {
			want |= 1 << e & got
		}
		if p.Structure|got != p.Structure {
			tb.Errorf("%v on %d, %s: measured %v, which structure (%v) denies", layers, size, kind, got.Names(),
				p.Structure.Names())
			return false
		}
	}
	if want != got {
		tb.Errorf("%v on %d, %s, symmetric %v: predicted %s %v, measured %v", layers, size, kind, symmetric, want,
			want.Names(), got.Names())
		return false
	}
	if symmetric {
		decided := p.Weights
		for _, e := range p.Undecided {
			decided |= 1 << e
		}
		if p.Weights|got != got || decided|got != decided {
			tb.Errorf("%v on %d, %s: the weights were said to keep %v, undecided %v; measured %v", layers, size, kind,
				p.Weights.Names(), p.Undecided, got.Names())
			return false
		}
	}
	if want != lint.Whole && len(p.Losses) == 0 {
		tb.Errorf("%v on %d, %s: no loss is named", layers, size, kind)
		return false
	}
	return true
}

// fits tells whether all windows find room.
func fits(layers []cell, n int) bool {
	for _, c := range layers {
		begin, end, ok := c.pads()
		ext := (int(c.kernel)-1)*int(c.dilation) + 1
		switch s := int(c.stride); {
		case c.op == "ConvTranspose":
			n = s*(n-1) + ext - int(begin+end)
		case !ok:
			n = (n + s - 1) / s
		default:
			span := n + int(begin+end) - ext
			if span < 0 || c.circular && int(max(begin, end)) > n {
				return false
			}
			n = span/s + 1
		}
		if n < 1 {
			return false
		}
	}
	return true
}

// The predicted subgroup is the measured one, for every kernel, stride, padding, dilation and size of the grid: single
// layers with kernels that are symmetric under D4, the output as a map or pooled. Without the tag slow, a random part
// of the grid.
func TestGrid(t *testing.T) {
	cells := grid()
	type point struct {
		c    cell
		size int
		kind string
	}
	var points []point
	for _, c := range cells {
		for size := 6; size <= 12; size++ {
			for _, kind := range heads {
				if fits([]cell{c}, size) {
					points = append(points, point{c, size, kind})
				}
			}
		}
	}
	pick(points, 100)
	agree := 0
	points = points[:limit(len(points), 100)]
	for i, p := range points {
		if check(t, []cell{p.c}, p.size, p.kind, true, uint64(i)) {
			agree++
		}
	}
	t.Logf("%d of %d combinations of one layer agree", agree, len(points))
}

// pick brings a random part of a list to its front.
func pick[T any](list []T, n int) {
	r := rand.New(rand.NewPCG(11, 12))
	for i := range min(n, len(list)) {
		j := i + r.IntN(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
}

// limit is the number of points that are run.
func limit(all, few int) int {
	if everything {
		return all
	}
	return min(all, few)
}

// Two layers with a nonlinearity between them.
func TestStacks(t *testing.T) {
	cells := grid()
	r := rand.New(rand.NewPCG(3, 4))
	agree, n := 0, 0
	for n < limit(2000, 40) {
		layers := []cell{cells[r.IntN(len(cells))], cells[r.IntN(len(cells))]}
		size, kind := 6+r.IntN(7), heads[r.IntN(len(heads))]
		if !fits(layers, size) {
			continue
		}
		if kind == "maximum" && layers[0].op == "MaxPool" && layers[1].op == "AveragePool" {
			continue // a mean of maxima is no larger than each of them, which random functions do not know
		}
		if check(t, layers, size, kind, true, uint64(n)) {
			agree++
		}
		n++
	}
	t.Logf("%d of %d stacks of two layers agree", agree, n)
}

// Kernels without any symmetry: what the weights are said to keep is what is measured.
func TestFreeWeights(t *testing.T) {
	cells := grid()
	r := rand.New(rand.NewPCG(7, 8))
	agree, n := 0, 0
	for n < limit(1000, 40) {
		layers := []cell{cells[r.IntN(len(cells))]}
		size, kind := 6+r.IntN(7), heads[r.IntN(len(heads))]
		if !fits(layers, size) {
			continue
		}
		if check(t, layers, size, kind, false, uint64(n)) {
			agree++
		}
		n++
	}
	t.Logf("%d of %d layers with kernels of no symmetry agree", agree, n)
}

// The predicted periods of cyclic shifts are the measured ones.
func TestPeriods(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	var cells []cell
	for _, c := range grid() {
		if _, _, ok := c.pads(); ok && c.op != "ConvTranspose" && !c.include && !c.ceil {
			cells = append(cells, c)
			c.circular = true
			cells = append(cells, c, c)
		}
	}
	agree, n, found := 0, 0, map[int]int{}
	for n < limit(1500, 60) {
		layers := []cell{cells[r.IntN(len(cells))]}
		if n%2 == 1 {
			layers = append(layers, cells[r.IntN(len(cells))])
		}
		size, kind := 6+r.IntN(7), heads[r.IntN(3)]
		if !fits(layers, size) {
			continue
		}
		n++
		b := onnx.NewBuilder(19)
		y, channels := b.Input("x", tensor.Float32, "N", 2, size, size), 2
		for _, c := range layers {
			y, channels = c.add(b, r, y, channels, false)
			y = b.Op("LeakyRelu", []string{y})
		}
		m := finish(t, b, head(b, kind, y))
		p := predictModel(t, m, lint.Options{})
		var move []func(y, x int) (int, int)
		var follow []func(y, x, h, w int) (int, int, bool)
		for axis := range 2 {
			for k := range size {
				k := [2]int{k * (1 - axis), k * axis}
				move = append(move, func(y, x int) (int, int) { return (y + k[0]) % size, (x + k[1]) % size })
				follow = append(follow, func(y, x, h, w int) (int, int, bool) {
					ok := (h == 1 || k[0]*h%size == 0) && (w == 1 || k[1]*w%size == 0)
					return (y + k[0]*h/size) % h, (x + k[1]*w/size) % w, ok
				})
			}
		}
		kept := measure(t, m, 2, size, size, 1, move, follow)
		var want [2]int
		for axis := range want {
			for k := 1; k < size; k++ {
				if kept[axis*size+k] {
					want[axis] = k
					break
				}
			}
		}
		found[want[0]]++
		if !p.Shifts.CyclicKnown || p.Shifts.Cyclic != want {
			t.Errorf("%v on %d, %s: predicted period %v, measured %v", layers, size, kind, p.Shifts.Cyclic, want)
			continue
		}
		if want != [2]int{1, 1} &&
			!slices.ContainsFunc(p.Losses,
				func(l lint.Loss) bool { return l.Level == lint.LevelRoll || l.Level == lint.LevelShift }) {
			t.Errorf("%v on %d, %s: period %v, and no loss is named", layers, size, kind, want)
			continue
		}
		agree++
	}
	t.Logf("%d of %d periods agree; how often each was measured: %v", agree, n, found)
	if len(found) < 3 {
		t.Errorf("only the periods %v occur", found)
	}
}

// The predicted periods of free shifts are the measured ones: something small in the middle of a large even picture
// moves down, and a mean over the output does not notice.
func TestFreeShifts(t *testing.T) {
	const size, most = 60, 9
	var cells []cell
	for _, c := range grid() {
		if c.kernel <= 3 && c.dilation == 1 && c.op != "ConvTranspose" && !c.include && !c.ceil {
			cells = append(cells, c)
		}
	}
	r := rand.New(rand.NewPCG(61, 62))
	agree, n, found := 0, 0, map[int]int{}
	for ; n < limit(300, 6); n++ {
		layers := []cell{cells[r.IntN(len(cells))], cells[r.IntN(len(cells))]}
		b := onnx.NewBuilder(19)
		y, channels := b.Input("x", tensor.Float32, "N", 1, size, size), 1
		for _, c := range layers {
			y, channels = c.add(b, r, y, channels, false)
			y = b.Op("Tanh", []string{y})
		}
		m := finish(t, b, head(b, "mean", y))
		p := predictModel(t, m, lint.Options{})
		g, err := oracle.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.Repeat([]bool{true}, most+1)
		for range 6 { // a maximum may stay in its window by chance
			in := make([]float32, (most+1)*size*size)
			for i := range 144 {
				v := float32(r.NormFloat64())
				for k := range most + 1 {
					in[k*size*size+(20+k+i/12)*size+22+i%12] = v
				}
			}
			out, err := g.Run(t.Context(),
				[]tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(in, most+1, 1, size, size)}}, oracle.Options{})
			if err != nil {
				t.Fatal(err)
			}
			val, err := out[0].Float64s(nil)
			if err != nil {
				t.Fatal(err)
			}
			per := len(val) / (most + 1)
			for i, v := range val {
				kept[i/per] = kept[i/per] && math.Abs(v-val[i%per]) <= 1e-9
			}
		}
		want := slices.Index(kept[1:], true) + 1
		found[want]++
		if !p.Shifts.FreeKnown || p.Shifts.Free != [2]int{want, want} {
			t.Errorf("%v: predicted period %v, measured %d", layers, p.Shifts.Free, want)
			continue
		}
		agree++
	}
	t.Logf("%d of %d periods of free shifts agree; how often each was measured: %v", agree, n, found)
}
