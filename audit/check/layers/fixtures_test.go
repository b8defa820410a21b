package layers_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/layers"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// side is that of the pictures of the fixtures.
const side = 12

// net builds small networks layer by layer, whose kernels are symmetric under quarter turns and mirrors unless a layer
// is to break.
type net struct {
	b      *onnx.Builder
	r      *rand.Rand
	x      string
	c, h   int
	breaks map[string]bool
	// size of a break
	trouble float64
}

func newNet(seed uint64, breaks ...string) *net {
	n := &net{
		b: onnx.NewBuilder(17), r: rand.New(rand.NewPCG(seed, 0)), c: 1, h: side, breaks: map[string]bool{},
		trouble: 0.5,
	}
	for _, name := range breaks {
		n.breaks[name] = true
	}
	n.x = n.b.Input("x", tensor.Float32, "N", 1, side, side)
	return n
}

func (n *net) stored(shape []int, f func(i int) float64) string {
	v := make([]float32, tensor.Count(shape))
	for i := range v {
		v[i] = float32(f(i))
	}
	return n.b.Const(tensor.FromFloat32(v, shape...))
}

// name gives the node that was added last the name that it has in the fixture.
func (n *net) name(name, value string) string {
	nodes := n.b.Graph().GetNode()
	nodes[len(nodes)-1].Name = &name
	return value
}

// kernel is a 3×3 kernel with the symmetry of the square: centre, edges, corners.
func (n *net) kernel() []float64 {
	a, b, c := n.r.NormFloat64(), n.r.NormFloat64(), n.r.NormFloat64()
	return []float64{c, b, c, b, a, b, c, b, c}
}

// conv is a convolution with symmetric kernels; a break adds one lopsided kernel to every filter.
func (n *net) conv(name string, out int, attrs ...int64) *net {
	w := make([]float64, 0, out*n.c*9)
	for range out {
		for range n.c {
			k := n.kernel()
			if n.breaks[name] {
				k[5] += n.trouble
			}
			w = append(w, k...)
		}
	}
	s := math.Sqrt(2 / float64(9*n.c))
	stride := int64(1)
	if len(attrs) > 0 {
		stride = attrs[0]
	}
	n.x = n.name(name, n.b.Op("Conv", []string{
		n.x, n.stored([]int{out, n.c, 3, 3}, func(i int) float64 { return s * w[i] }),
		n.stored([]int{out}, func(int) float64 { return 0.1 }),
	}, onnx.AttrInts("pads", 1, 1, 1, 1), onnx.AttrInts("strides", stride, stride)))
	n.c, n.h = out, (n.h+1)/int(stride)
	if stride == 1 {
		n.h = side
	}
	return n
}

func (n *net) op(name, op string) *net {
	n.x = n.name(name, n.b.Op(op, []string{n.x}))
	return n
}

// positions adds a table to the map, symmetric or not.
func (n *net) positions(name string) *net {
	table := n.stored([]int{1, n.c, n.h, n.h}, func(i int) float64 {
		y, x := float64(i/n.h%n.h)-float64(n.h-1)/2, float64(i%n.h)-float64(n.h-1)/2
		if n.breaks[name] {
			return n.trouble * (0.1*x + 0.05*y*y)
		}
		return 0.02 * (x*x + y*y)
	})
	n.x = n.name(name, n.b.Op("Add", []string{n.x, table}))
	return n
}

// head is a mean over the places and a dense layer on the channels, or, to break, a dense layer on the places.
func (n *net) head(name string, out int) *net {
	size := n.c
	if n.breaks[name] {
		size = n.c * n.h * n.h
	} else {
		n.x = n.name("pool", n.b.Op("GlobalAveragePool", []string{n.x}))
	}
	n.x = n.b.Op("Flatten", []string{n.x})
	n.x = n.name(name, n.b.Op("Gemm",
		[]string{n.x, n.stored([]int{size, out},
			func(int) float64 { return n.r.NormFloat64() / math.Sqrt(float64(size)) })}))
	return n
}

func (n *net) model(tb testing.TB, shape ...any) *onnx.Model {
	tb.Helper()
	n.b.Output(n.x, tensor.Float32, append([]any{"N"}, shape...)...)
	m, err := n.b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// plain is conv, ReLU, conv, positions, ReLU, conv, pooling, dense.
func plain(seed uint64, breaks ...string) *net {
	return newNet(seed, breaks...).conv("conv1", 4).op("relu1", "Relu").conv("conv2", 6).positions("table").op("relu2",
		"Relu").conv("conv3", 5).op("relu3", "Relu").head("head", 3)
}

// subject of a graph whose values are taken in float32 with every node rounded, and in float64.
func subject(tb testing.TB, name string, g group.Group, m *onnx.Model, out decode.OutputSpec, act action.Action,
	elements ...group.Element,
) *audit.Subject {
	tb.Helper()
	plan := audittest.Plan(tb, pictures(tb, g, action.Options{}, 1, side, side), act, elements...)
	s := &audit.Subject{Name: name, Plan: plan, N: 16, Sample: audittest.Noise(16, side, side, 7), Seed: 1}
	audittest.Graph(tb, s, m, audittest.Images(tb, m, 255, out, 1, side, side))
	return s
}

// vector is the output of the fixtures: tensors as they are.
var vector = decode.OutputSpec{Space: space.KindTensor}

// One break at one layer: it is the first that breaks, it alone injects an error, its share is 1, and its kind is told.
// The clean twin is silent. In float64, and where only float32 is to be had.
func TestOneBreak(t *testing.T) {
	for _, groupName := range []string{"C4", "D4"} {
		g := parse(t, groupName)
		fixture := func(breaks ...string) audittest.Fixture {
			s := subject(t, "plain", g, plain(3, breaks...).model(t, 3), vector, action.Trivial{G: g})
			if groupName == "C4" {
				s.Reference = nil
			}
			return audittest.Fixture{Subject: s}
		}
		silent(t, fixture())
		for broken, clue := range map[string]audit.ClueName{
			"conv1": audit.ClueConvolution, "conv2": audit.ClueConvolution, "conv3": audit.ClueConvolution, "table": "",
			"head": audit.ClueDense,
		} {
			t.Run(broken+" "+groupName, func(t *testing.T) {
				found, r := look(t, fixture(broken))
				if r.First < 0 || r.Rows[r.First].Name != broken {
					show(t, r)
					t.Fatalf("the first layer that breaks is %d, want %s", r.First, broken)
				}
				if w := r.Rows[r.First]; !(math.Abs(w.Share.Value-1) <= 1e-4) ||
					!(math.Abs(r.Elements.Cancellation-1) <= 1e-4) {
					t.Errorf("share %g, cancellation %g, want 1", w.Share.Value, r.Elements.Cancellation)
				}
				for i, w := range r.Rows {
					if i != r.First && (w.Above || !(math.Abs(w.Share.Value) <= 1e-4)) {
						t.Errorf("%s: injected %g above its floor %g: %v, share %g", w.Name, w.Injected, w.Floor,
							w.Above, w.Share.Value)
					}
				}
				got := map[audit.ClueName]bool{}
				for _, q := range found.Clues {
					got[q.Name] = q.Holds
					if q.Holds && q.Location != broken {
						t.Errorf("clue %s is about %s", q.Name, q.Location)
					}
				}
				if !got[audit.ClueFirstLayer] || !got[audit.ClueSingleLayer] || got[audit.ClueGrows] || clue != "" &&
					!got[clue] {
					t.Errorf("clues %v, want %s among them", got, clue)
				}
				if len(found.Findings) != 1 || found.Findings[0].Category != audit.Layer ||
					found.Findings[0].Location != broken ||
					len(found.Findings[0].Remedies) == 0 || found.Findings[0].Worst.Index < 0 {
					t.Errorf("findings %+v", found.Findings)
				}
			})
		}
	}
}

// turned is a 3×3 kernel turned counter-clockwise k times.
func turned(k int, w []float64) []float64 {
	for range (k%4 + 4) % 4 {
		o := make([]float64, 9)
		for r := range 3 {
			for c := range 3 {
				o[r*3+c] = w[c*3+2-r]
			}
		}
		w = o
	}
	return w
}

// group convolutions over quarter turns (Cohen and Welling 2016): lifting, then one between fields; a break spoils one
// filter of the second.
func groupNet(tb testing.TB, seed uint64, breaks ...string) *net {
	tb.Helper()
	n := newNet(seed, breaks...)
	filters := func(k int) [][]float64 {
		out := make([][]float64, k)
		for i := range out {
			out[i] = make([]float64, 9)
			for j := range out[i] {
				out[i][j] = n.r.NormFloat64() / 3
			}
		}
		return out
	}
	const f1, f2 = 2, 3
	base := filters(f1)
	var w []float64
	for i := range f1 {
		for k := range 4 {
			w = append(w, turned(k, base[i])...)
		}
	}
	pads := onnx.AttrInts("pads", 1, 1, 1, 1)
	n.x = n.name("lift",
		n.b.Op("Conv", []string{n.x, n.stored([]int{4 * f1, 1, 3, 3}, func(i int) float64 { return w[i] })}, pads))
	n.x = n.name("relu1", n.b.Op("Relu", []string{n.x}))
	n.x = n.name("max", n.b.Op("MaxPool", []string{n.x}, onnx.AttrInts("kernel_shape", 2, 2),
		onnx.AttrInts("strides", 2, 2)))
	inner := make([][][]float64, f2)
	for o := range inner {
		inner[o] = filters(4 * f1)
	}
	w = nil
	for o := range f2 {
		for k := range 4 {
			for i := range f1 {
				for s := range 4 { // orientation k reads orientation s through the slice s - k, turned k times
					w = append(w, turned(k, inner[o][i*4+(s-k+4)%4])...)
				}
			}
		}
	}
	if n.breaks["group"] {
		for j := range 9 { // of the output channel 5, the input channel 2
			w[(5*4*f1+2)*9+j] += 0.3 * n.r.NormFloat64()
		}
	}
	n.x = n.name("group",
		n.b.Op("Conv", []string{n.x, n.stored([]int{4 * f2, 4 * f1, 3, 3}, func(i int) float64 { return w[i] })}, pads))
	n.x = n.name("relu2", n.b.Op("Relu", []string{n.x}))
	n.x = n.name("fields", n.b.Op("Reshape", []string{n.x, n.b.Ints(-1, f2, 4, side/2, side/2)}))
	n.x = n.name("orientations", n.b.Op("ReduceMax", []string{n.x}, onnx.AttrInts("axes", 2),
		onnx.AttrInt("keepdims", 0)))
	n.c, n.h = f2, side/2
	return n.head("head", 3)
}

// The channels of a group convolution are fields of four orientations; that is found in the values and kept by what
// follows. One spoiled filter leaves the representation of the others standing and is blamed alone.
func TestGroupConvolution(t *testing.T) {
	g := parse(t, "C4")
	f := audittest.Fixture{
		Subject: subject(t, "faulty", g, groupNet(t, 5, "group").model(t, 3), vector, action.Trivial{G: g}),
		Want:    []audittest.Want{{Category: audit.Layer, Message: "the symmetry is first lost in .*Conv"}},
	}
	clean := audittest.Fixture{Subject: subject(t, "clean", g, groupNet(t, 5).model(t, 3), vector,
		action.Trivial{G: g})}
	audittest.Run(t, layers.Check, f, clean) // the kit's own comparison; the other fixtures look closer
	for _, fixture := range []audittest.Fixture{f, clean} {
		_, r := look(t, fixture)
		for name, want := range map[string]string{
			"lift": "regular 8×12×12, 2 fields", "max": "regular 8×6×6, every 2 px, 2 fields",
			"group":  "regular 12×6×6, every 2 px, 3 fields",
			"fields": "regular 12×6×6, every 2 px, 3 fields", "orientations": "spatial 3×6×6, every 2 px",
			"pool": "trivial 3×1×1, every 12 px",
		} {
			if w := row(t, r, name); w.Rep != want {
				show(t, r)
				t.Fatalf("%s: %s moves as %q, want %q", fixture.Subject.Name, name, w.Rep, want)
			}
		}
		if fixture.Subject.Name == "faulty" {
			if w := r.Rows[r.First]; w.Name != "group" || !(math.Abs(w.Share.Value-1) < 1e-4) {
				t.Errorf("the first layer that breaks is %s with the share %g", w.Name, w.Share.Value)
			}
		}
	}
}

// residual is a network with a skip connection around the second and third convolution.
func residual(seed uint64, breaks ...string) *net {
	n := newNet(seed, breaks...).conv("conv1", 4).op("relu1", "Relu")
	skip := n.x
	n.conv("conv2", 4).op("relu2", "Relu").conv("conv3", 4)
	n.x = n.name("add", n.b.Op("Add", []string{n.x, skip}))
	return n.op("relu3", "Relu").conv("conv4", 4).op("relu4", "Relu").head("head", 3)
}

// Where values live side by side the shares still add to one, over elements and along the group, and a break inside a
// branch is found there.
func TestSkipConnection(t *testing.T) {
	g := parse(t, "C4")
	for _, broken := range []string{"conv2", "conv3"} {
		n := residual(2, broken)
		s := subject(t, "residual", g, n.model(t, 3), vector, action.Trivial{G: g})
		_, r := look(t, audittest.Fixture{Subject: s})
		if w := r.Rows[r.First]; w.Name != broken || !(math.Abs(w.Share.Value-1) < 1e-6) {
			show(t, r)
			t.Errorf("the first layer that breaks is %s with the share %g, want %s", w.Name, w.Share.Value, broken)
		}
		if len(r.Flows) != 1 || !(math.Abs(r.Flows[0].Sum-1) < 1e-9) || !(math.Abs(r.Elements.Sum-1) < 1e-9) {
			t.Errorf("shares add to %+v and %+v", r.Flows, r.Elements)
		}
	}
	s := subject(t, "clean", g, residual(2).model(t, 3), vector, action.Trivial{G: g})
	if _, r := look(t, audittest.Fixture{Subject: s}); r.First >= 0 {
		t.Errorf("the clean twin breaks at %s", r.Rows[r.First].Name)
	}
}

// Two breaks that undo each other in part: f is the mean of (x + p - p/2)² for a small table p. To first order in p the
// layer that adds p contributes v = 2 mean((p - gp)·gx) and the one that takes p/2 away contributes -v/2, whatever g
// and x: the shares are 2 and -1, and the cancellation index is (1 + 1/4)/(1/4) = 5.
func TestCancellation(t *testing.T) {
	g := parse(t, "C4")
	n := newNet(1)
	table := func(a float64) string {
		return n.stored([]int{1, 1, side, side},
			func(i int) float64 { return a * float64(i%side) * (1 + float64(i/side)) / side })
	}
	n.x = n.name("plus", n.b.Op("Add", []string{n.x, table(1e-4)}))
	n.x = n.name("minus", n.b.Op("Add", []string{n.x, table(-0.5e-4)}))
	n.x = n.name("square", n.b.Op("Mul", []string{n.x, n.x}))
	n.op("pool", "GlobalAveragePool").op("flatten", "Flatten")
	_, r := look(t, audittest.Fixture{Subject: subject(t, "cancel", g, n.model(t, 1), vector, action.Trivial{G: g})})
	for name, want := range map[string]float64{"plus": 2, "minus": -1, "square": 0, "pool": 0} {
		if got := row(t, r, name).Share.Value; !(math.Abs(got-want) <= 5e-3) {
			t.Errorf("the share of %s is %g, want %g", name, got, want)
		}
	}
	if !(math.Abs(r.Elements.Cancellation-5) <= 0.05) || !(math.Abs(r.Elements.Sum-1) <= 1e-9) {
		t.Errorf("cancellation %g, sum %g; want 5 and 1", r.Elements.Cancellation, r.Elements.Sum)
	}
}

// The user names layers: those between two of them are measured together. A layer that does not exist is an error that
// names the nearest.
func TestChosenLayers(t *testing.T) {
	g := parse(t, "C4")
	n := plain(3, "conv2")
	s := subject(t, "chosen", g, n.model(t, 3), vector, action.Trivial{G: g})
	s.Layers = []string{"relu1", "relu2"}
	_, r := look(t, audittest.Fixture{Subject: s})
	if len(r.Rows) != 3 || r.Rows[r.First].Name != "relu2" || !(math.Abs(r.Rows[r.First].Share.Value-1) < 1e-6) {
		show(t, r)
		t.Errorf("the chosen layers, and the output, are not those that were asked for")
	}
	s.Layers = []string{"relu1" + "x"}
	p, err := audit.NewPolicy("", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Run(t.Context(), s, p, []*audit.Check{layers.Check}, audit.Options{}); err == nil ||
		!strings.Contains(err.Error(), "the nearest is \""+"relu1"+"\"") {
		t.Errorf("a layer that does not exist: %v", err)
	}
}

// An output declared invariant that moves as a map: every layer holds but the last, and the representation that would
// fit is named.
func TestOutputLayer(t *testing.T) {
	g := parse(t, "C4")
	build := func() *onnx.Model {
		n := newNet(4).conv("conv1", 4).op("relu1", "Relu").conv("conv2", 2)
		return n.model(t, 2, side, side)
	}
	a, err := action.NewTensor(g, space.Spec{Kind: space.KindTensor, Shape: []int{2, side, side}}, action.Options{},
		action.Identical())
	if err != nil {
		t.Fatal(err)
	}
	f := audittest.Fixture{
		Subject: subject(t, "invariant", g, build(), vector, action.Trivial{G: g}),
		Want:    []audittest.Want{{Category: audit.Layer, Message: "the symmetry is first lost in"}},
	}
	audittest.Run(t, layers.Check, f, audittest.Fixture{Subject: subject(t, "map", g, build(), vector, a)})
	found, _ := look(t, f)
	if !slices.ContainsFunc(found.Clues, func(c audit.Clue) bool {
		return c.Name == audit.ClueOutputLayer && c.Holds && strings.Contains(c.Text, "spatial 2×12×12")
	}) {
		t.Errorf("clues %+v", found.Clues)
	}
	if !strings.Contains(found.Findings[0].Remedies[0], "spatial 2×12×12") {
		t.Errorf("remedies %v", found.Findings[0].Remedies)
	}
}
