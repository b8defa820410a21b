package units_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/units"
	"nero/model/onnx/units/unitstest"
)

// graph looks at a model with one sample.
func graph(t *testing.T, m *onnx.Model) *units.Graph {
	t.Helper()
	shapes, err := facts.SampleShapes(m.Signature(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := facts.Infer(m, shapes, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := units.Of(f)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// summary lists the classes that may change places, as UNITS or UNITSxBLOCKS, and the moves as KIND:UNITS.
func summary(g *units.Graph) string {
	var parts []string
	for _, c := range g.Classes {
		if c.Fixed != "" {
			continue
		}
		text := strconv.Itoa(c.Units)
		if c.Blocks > 1 {
			text += fmt.Sprintf("x%d", c.Blocks)
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	var moves []string
	for _, m := range g.Moves {
		moves = append(moves, fmt.Sprintf("%s:%d", m.Kind, m.Class.Units))
	}
	slices.Sort(moves)
	return strings.Join(parts, " ") + " | " + strings.Join(moves, " ")
}

// Networks whose units are known: how many there are of each class, and what may be done to them.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *onnx.Model
		want string
	}{
		{"relu", unitstest.MLP(1, "Relu"), "5 7 | rescaling:5 rescaling:7"},
		{"tanh", unitstest.MLP(1, "Tanh"), "5 7 | signs:5 signs:7"},
		{"linear", unitstest.MLP(1, "Identity"), "5 7 | matrix:5 matrix:7"},
		{"sigmoid", unitstest.MLP(1, "Sigmoid"), "5 7 | "},
		// a batch norm has a scale on either side: two for its channels, with the convolution and after it
		{"cnn", unitstest.CNN(1), "6 8 | rescaling:6 rescaling:6 rescaling:8 signs:6"},
	} {
		if got := summary(graph(t, c.m)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A residual stream is one class wherever it is read; what is inside of blocks is not.
func TestResidual(t *testing.T) {
	g := graph(t, unitstest.Residual(1))
	if got, want := strings.Split(summary(g), " |")[0], "4 5 6"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	for _, c := range g.Classes {
		// the stem with its norm (6), two blocks with two convolutions and norms on either side (2·7), the dense layer
		if c.Fixed == "" && c.Units == 6 && len(c.Stored) != 6+2*7+1 {
			t.Errorf("the stream is in %d places: %v", len(c.Stored), c.Stored)
		}
	}
}

// Heads change places as blocks, and what is in them does in each head on its own: that of queries and keys together,
// that of values for itself. The stream, the tokens and the answer stay or move as they are tied.
func TestAttention(t *testing.T) {
	g := graph(t, unitstest.Attention(1))
	if got, want := strings.Split(summary(g), " |")[0], "12 3 4x3 4x3 7"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	matrices := 0
	for _, m := range g.Moves {
		if m.Kind == units.Matrix && m.Class.Units == 4 && m.Class.Blocks == 3 {
			matrices++
		}
	}
	if matrices != 2 {
		t.Errorf("%d places for matrices in heads, want those of queries and keys, and those of values: %s", matrices,
			summary(g))
	}
}

// A stream that passes norms without a scale alone may be turned; one with a scale for each number may not.
func TestRotation(t *testing.T) {
	if got, want := summary(graph(t, unitstest.RMS(1))), "5 5 6 | rescaling:5 rescaling:5 rotation:6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Layers before normalisers are found with the units that share a statistic, also through a reshape; a batch norm with
// stored statistics is marked.
func TestNorms(t *testing.T) {
	for _, c := range []struct {
		name   string
		m      *onnx.Model
		unit   []int
		stored bool
		on     int
	}{
		{"instance", unitstest.Normed(1, "InstanceNormalization", true), []int{8}, false, 2},
		{"length", unitstest.Normed(1, "LpNormalization", false, onnx.AttrInt("axis", 1)), nil, false, 2},
		{"batch", unitstest.Normed(1, "BatchNormalization", true), []int{8}, true, 2},
		{"groups", unitstest.Groups(1), []int{3}, false, 2},
	} {
		g := graph(t, c.m)
		if len(g.Norms) != 1 {
			t.Errorf("%s: %d norms, want one", c.name, len(g.Norms))
			continue
		}
		n := g.Norms[0]
		var unit []int
		for _, u := range n.Unit {
			unit = append(unit, u.Units)
		}
		if !slices.Equal(unit, c.unit) || n.Stored != c.stored || len(n.On) != c.on {
			t.Errorf("%s: units %v, stored %v, %d tensors; want %v, %v, %d", c.name, unit, n.Stored, len(n.On), c.unit,
				c.stored, c.on)
		}
	}
	if g := graph(t, unitstest.RMS(1)); len(g.Norms) != 0 {
		t.Errorf("weights whose answer something else reads, too: %d norms", len(g.Norms))
	}
}

// Weights that are used twice have one factor for both uses, one that a layer which follows itself has on either side;
// and what is in groups of a stream changes places in each of them by itself.
func TestUsedTwice(t *testing.T) {
	for _, c := range []struct {
		m    *onnx.Model
		want string
	}{
		{unitstest.Shared(1), "5 6 7 | rescaling:5 rescaling:6 rescaling:7"},
		// of the stream its three groups, and what is in each; and the eight of the wide block
		{unitstest.Mobile(1), "2x3 3 8 | "},
	} {
		if got := summary(graph(t, c.m)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// What nobody looked into stays, and is named.
func TestGap(t *testing.T) {
	n := unitstest.New(1)
	x := n.Input("x", tensor.Float32, "N", 4)
	h := n.Op("CumSum", []string{n.Dense(x, 4, 6), n.Const(tensor.FromInt64([]int64{1}))})
	g := graph(t, n.Done(n.Dense(h, 6, 2), "N", 2))
	if got := summary(g); got != " | " {
		t.Errorf("%s, want nothing", got)
	}
	if len(g.Gaps) != 1 || g.Gaps[0].Op != "CumSum" {
		t.Errorf("%v", g.Gaps)
	}
}

// Channels that are put one after another are two classes, and so are the parts that are cut out again.
func TestConcatAndSplit(t *testing.T) {
	n := unitstest.New(1)
	x := n.Input("x", tensor.Float32, "N", 4)
	a, b := n.Act("Relu", n.Dense(x, 4, 3)), n.Act("Tanh", n.Dense(x, 4, 5))
	both := n.Op("Concat", []string{a, b}, onnx.AttrInt("axis", 1))
	if got, want := summary(graph(t, n.Done(n.Dense(both, 8, 2), "N", 2))), "3 5 | rescaling:3 signs:5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	n = unitstest.New(1)
	x = n.Input("x", tensor.Float32, "N", 4)
	parts := n.Ops("Split", 2, []string{n.Dense(x, 4, 8), n.Ints(3, 5)}, onnx.AttrInt("axis", 1))
	y := n.Op("Add", []string{
		n.Dense(n.Act("Relu", parts[0]), 3, 2), n.Dense(n.Act("Tanh", parts[1]), 5, 2),
	})
	if got, want := summary(graph(t, n.Done(y, "N", 2))), "3 5 | rescaling:3 signs:5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Of a gated layer the gate stays as large as it is, and what passes it may be scaled.
func TestGate(t *testing.T) {
	n := unitstest.New(1)
	x := n.Input("x", tensor.Float32, "N", 4)
	gate, up := n.Act("Sigmoid", n.Dense(x, 4, 6)), n.Dense(x, 4, 6)
	h := n.Op("Mul", []string{gate, up})
	if got, want := summary(graph(t, n.Done(n.Dense(h, 6, 2), "N", 2))), "6 | rescaling:6 signs:6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A weight that is read twice is scaled in one way or not at all.
func TestSharedWeights(t *testing.T) {
	n := unitstest.New(1)
	x := n.Input("x", tensor.Float32, "N", 5)
	w := n.Random(0, 1, 5, 5)
	h := x
	for range 2 {
		h = n.Act("Relu", n.Op("MatMul", []string{h, w}))
	}
	if got := summary(graph(t, n.Done(n.Dense(h, 5, 2), "N", 2))); got != " | " {
		t.Errorf("%s: the weight reads the input, so that its units are those of the input", got)
	}
}

// Units that are chosen by their number have a factor that nothing takes out again.
func TestChosenUnits(t *testing.T) {
	n := unitstest.New(1)
	x := n.Input("x", tensor.Float32, "N", 4)
	h := n.Act("Tanh", n.Dense(x, 4, 6))
	y := n.Op("Gather", []string{h, n.Ints(0, 2)}, onnx.AttrInt("axis", 1))
	if got := summary(graph(t, n.Done(n.Dense(y, 2, 2), "N", 2))); got != " | " {
		t.Errorf("%s, want nothing", got)
	}
}
