package weights

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/units"
	"nero/model/onnx/units/unitstest"
	"nero/model/oracle"

	"google.golang.org/protobuf/proto"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the golden files")

// open looks at a model, and makes noise for it. Models run in float64.
func open(t *testing.T, m *onnx.Model) (*Network, *Body) {
	t.Helper()
	shapes, err := Shapes(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open("model.onnx", m, shapes)
	if err != nil {
		t.Fatal(err)
	}
	return n, inFloat64(m, shapes, 16)
}

// inFloat64 runs a model in float64 on noise.
func inFloat64(m *onnx.Model, shapes map[string][]int, probes int) *Body {
	e := oracle.Engine(oracle.Options{})
	return &Body{
		Probes: Noise(m, shapes, probes, 3), Open: func(ctx context.Context, b []byte) (engine.Session, error) {
			return e.Open(ctx, b, engine.Options{})
		},
	}
}

// fixtures are networks with planted symmetries of every kind.
func fixtures() map[string]func(seed uint64) *onnx.Model {
	return map[string]func(seed uint64) *onnx.Model{
		"mlp":       func(s uint64) *onnx.Model { return unitstest.MLP(s, "Relu") },
		"tanh":      func(s uint64) *onnx.Model { return unitstest.MLP(s, "Tanh") },
		"linear":    func(s uint64) *onnx.Model { return unitstest.MLP(s, "Identity") },
		"cnn":       unitstest.CNN,
		"residual":  unitstest.Residual,
		"attention": unitstest.Attention,
		"rms":       unitstest.RMS,
		"groups":    unitstest.Groups,
		"mobile":    unitstest.Mobile,
		"shared":    unitstest.Shared,
	}
}

// Whatever the graph promises holds: moves of every kind leave the answers where they are, to rounding in float64, and
// powers of two and signs leave every bit.
func TestWhatTheGraphPromisesHolds(t *testing.T) {
	for name, build := range fixtures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, b := open(t, build(1))
			r, err := Check(t.Context(), n, b, 7, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Conclude()
			if !r.Good() {
				t.Error(r.Sentence)
			}
			for _, s := range r.Symmetries {
				if (s.Kind == "rescaling" || s.Kind == "signs") && !s.Equal {
					t.Errorf("%s at %s: %v, want every bit", s.Kind, s.Where, s.Error)
				}
				// weights are rounded to float32 by rotations and matrices
				if s.Kind == "permutation" && !(s.Error <= 1e-12) || s.UpTo != "epsilon" && !(s.Error <= 1e-5) {
					t.Errorf("%s at %s: %v", s.Kind, s.Where, s.Error)
				}
			}
		})
	}
}

// Where numbers are so rough that rounding them once more moves the answers as far, a matrix is not refuted, and is not
// shown either: a bias of 30,000 that the next layer takes through weights that a matrix rounds.
func TestRoughNumbersRefuteNothing(t *testing.T) {
	net := unitstest.New(4)
	x := net.Input("x", tensor.Float32, "N", 4)
	h := net.Op("Gemm", []string{x, net.Random(0, 0.5, 5, 4), net.Random(3e4, 1, 5)}, onnx.AttrInt("transB", 1))
	n, b := open(t, net.Done(net.Dense(h, 5, 3), "N", 3))
	r, err := Check(t.Context(), n, b, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	rough := 0
	for _, s := range r.Symmetries {
		if s.State == Refuted {
			t.Errorf("%s at %s: %s", s.Kind, s.Where, s.Why)
		}
		if s.State == Untested && strings.Contains(s.Why, "too rough") {
			rough++
		}
	}
	if rough == 0 {
		t.Errorf("nothing is rough: %+v", r.Symmetries[0])
	}
}

// Numbers that are moved without those that go along change the answers: what is compared sees it.
func TestHalfAMoveIsRefuted(t *testing.T) {
	n, b := open(t, unitstest.MLP(1, "Relu"))
	c := &checker{Network: n, body: b, seed: 7, step: func(string) {}}
	of, err := b.run(t.Context(), n.Model)
	if err != nil {
		t.Fatal(err)
	}
	if c.first, err = answersOf(of); err != nil {
		t.Fatal(err)
	}
	m := *n.Units.Moves[0]
	m.On = m.On[:1] // the weights and not what reads them
	s, err := c.move(t.Context(), &m)
	if err != nil {
		t.Fatal(err)
	}
	if s.State != Refuted || !(s.Error > 0.01) {
		t.Errorf("%s, %v", s.State, s.Error)
	}
}

// norms finds the one question about a normaliser.
func normOf(t *testing.T, m *onnx.Model) *Symmetry {
	t.Helper()
	n, b := open(t, m)
	r, err := Check(t.Context(), n, b, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Symmetries {
		if strings.Contains(s.Kind, "scale") && s.Before != "" {
			return s
		}
	}
	t.Fatal("no layer before a normaliser")
	return nil
}

// Weights before a normaliser may be scaled up to what is added to the variance, and their gradient has no part along
// them. Before a batch norm with stored statistics they may not, unless the statistics go along.
// Units that all are in their places are not "0 units put into the order of the first".
func TestSentenceOfUnitsInPlace(t *testing.T) {
	a := &Aligned{Axes: []AlignedAxis{{Units: 8}}, Before: 2}
	if got := a.sentence(SameUpTo); !strings.HasPrefix(got, "Same up to symmetries: with units in their places, and ") {
		t.Error(got)
	}
	a.Axes[0].Moved = 1
	if got := a.sentence(SameUpTo); !strings.HasPrefix(got, "Same up to symmetries: with 1 unit put into the order") {
		t.Error(got)
	}
}

func TestScaleInvariance(t *testing.T) {
	for name, m := range map[string]*onnx.Model{
		"instance": unitstest.Normed(1, "InstanceNormalization", true),
		"groups":   unitstest.Groups(1),
		"length":   unitstest.Normed(1, "LpNormalization", false, onnx.AttrInt("axis", 1)),
	} {
		s := normOf(t, m)
		if s.Kind != "scale invariance" || s.State != Holds {
			t.Errorf("%s: %s %s: %s, %v", name, s.Kind, s.State, s.Why, s.Steps)
		}
		if name != "length" && s.UpTo != "epsilon" {
			t.Errorf("%s: exact up to %q, want epsilon", name, s.UpTo)
		}
		if s.Radial == nil || !(float64(*s.Radial) <= radial) {
			t.Errorf("%s: radial gradient %v (%s)", name, s.Radial, s.NoRadial)
		}
	}
	s := normOf(t, unitstest.Normed(1, "BatchNormalization", true))
	if s.Kind != "joint scale" || s.State != Holds {
		t.Errorf("batch norm: %s %s: %s, %v", s.Kind, s.State, s.Why, s.Steps)
	}
	if s.Alone == nil || !(s.Alone.Error > 0.5) {
		t.Errorf("batch norm whose statistics stay: %v, want a large change", s.Alone)
	}
}

// Exporters store equal tensors once, and copy them for the others: statistics that a node makes are not scaled, and
// two such files can be compared.
func TestStatisticsThatANodeMakes(t *testing.T) {
	copied := func(seed uint64) (*Network, *Body) {
		n := unitstest.New(seed)
		h := n.Conv(n.Input("x", tensor.Float32, "N", 2, 5, 5), 2, 8, 1)
		mean := n.Op("Identity", []string{n.Random(0, 0.2, 8)})
		h = n.Op("BatchNormalization", []string{
			h, n.Random(1, 0.2, 8), n.Random(0, 0.2, 8), mean, n.Random(2, 0.1, 8),
		})
		h = n.Op("Flatten", []string{n.Op("GlobalAveragePool", []string{n.Act("Relu", h)})})
		return open(t, n.Done(n.Dense(h, 8, 3), "N", 3))
	}
	a, body := copied(1)
	r, err := Check(t.Context(), a, body, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Symmetries, func(s *Symmetry) bool { return s.Before != "" })
	if i < 0 || r.Symmetries[i].State != Untested || !strings.Contains(r.Symmetries[i].Why, "a node makes it") {
		t.Errorf("%+v", r.Symmetries)
	}
	b, _ := copied(2)
	if _, err := Compare(t.Context(), a, b, body, CompareOptions{Seed: 7, Workers: 1}); err != nil {
		t.Error(err)
	}
}

// One channel of a group is no unit of scaling: it changes what the others are divided by.
func TestOneChannelOfAGroup(t *testing.T) {
	n, b := open(t, unitstest.Groups(1))
	norm := n.Units.Norms[0]
	c := &checker{Network: n, body: b, seed: 7}
	of, err := b.run(t.Context(), n.Model)
	if err != nil {
		t.Fatal(err)
	}
	if c.first, err = answersOf(of); err != nil {
		t.Fatal(err)
	}
	var channel []*units.Class
	for _, cl := range n.Units.Classes {
		if cl.Fixed == "" {
			channel = append(channel, cl)
		}
	}
	if len(channel) != 2 {
		t.Fatalf("%d classes of groups and channels", len(channel))
	}
	wrong := *norm
	wrong.Unit = channel
	s := &Symmetry{}
	var at []Apart
	for _, by := range scalesAsked {
		moved, err := c.scaled(&wrong, append([]bool{true}, make([]bool, 11)...), by, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.ask(t.Context(), moved)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, got)
	}
	if s.judge(at, false); s.State != Refuted {
		t.Errorf("%s up to %s: %v", s.State, s.UpTo, at)
	}
}

// planted moves all units of a network at random: into other places, and by powers of two and signs. With half, factors
// are no powers of two.
func planted(t *testing.T, n *Network, seed uint64, half bool) *onnx.Model {
	t.Helper()
	now := n.numbers
	r := rand.New(rand.NewPCG(seed, 2))
	apply := func(e *Element) {
		moved, err := e.Apply(now)
		if err != nil {
			t.Fatal(err)
		}
		now = moved.over(now)
	}
	for _, cl := range n.Units.Classes {
		if cl.Fixed == "" {
			e := newElement(n.Units)
			e.places[cl] = shuffled(cl, r)
			apply(e)
		}
	}
	for _, m := range n.Units.Moves {
		e := newElement(n.Units)
		k := *m
		if m.Kind == units.Matrix || m.Kind == units.Rotation { // a sign is part of either
			k.Kind = units.Sign
		}
		if e.draw(&k, r); half && m.Kind == units.Positive {
			for i := range e.scales[0].by {
				e.scales[0].by[i] = 0.3 + r.Float64()
			}
		}
		apply(e)
	}
	m, err := now.Into(n.Model)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Settled numbers are as they were, and large ones are in the bytes that an engine reads; numbers that are apart from
// others are not where those are.
func TestSettled(t *testing.T) {
	net := unitstest.New(1)
	const wide = 40 // 6,400 bytes, which are shared
	x := net.Act("Relu", net.Dense(net.Input("x", tensor.Float32, "N", 3), 3, wide))
	m := net.Done(net.Dense(net.Act("Relu", net.Dense(x, wide, wide)), wide, 3), "N", 3)
	n, b := open(t, m)
	twin, _ := open(t, planted(t, n, 5, false))
	freed := 0
	b.Free = func() { freed++ }
	c := &canoniser{Network: n, body: b, now: twin.numbers}
	m, err := c.settle([]request{{n.Units.Classes[0], n.seen(n.Units.Classes[0])[0]}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if !c.now.equal(twin.numbers) || len(c.now) != len(twin.numbers) || freed != 1 {
		t.Errorf("the numbers are others, or memory was given back %d times", freed)
	}
	own, large := c.now.apart(c.now), 0
	if !own.equal(c.now) {
		t.Error("a copy differs")
	}
	for name, x := range c.now {
		if len(x.Raw) < 4*wide*wide {
			continue
		}
		large++
		x.Raw[0] ^= 1 // seen in both, if it is one place
		if !bytes.Contains(raw, x.Raw) {
			t.Errorf("%q is not in the bytes of the model", name)
		}
		if bytes.Equal(own[name].Raw, x.Raw) {
			t.Errorf("the copy of %q is where it was", name)
		}
	}
	if large != 1 {
		t.Errorf("%d large tensors, want one", large)
	}
}

// A network and its planted twin have one canonical form, bit for bit; it is its own canonical form; and its answers
// are those of the network.
func TestCanonicalForm(t *testing.T) {
	for name, build := range fixtures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, b := open(t, build(1))
			first, c, err := Canonicalise(t.Context(), n, b)
			if err != nil {
				t.Fatal(err)
			}
			if !(c.Error <= 1e-12) {
				t.Errorf("the answers move by %v", c.Error)
			}
			twin, _ := open(t, planted(t, n, 5, false))
			second, _, err := Canonicalise(t.Context(), twin, b)
			if err != nil {
				t.Fatal(err)
			}
			for stored, x := range first {
				if !slices.Equal(x.Raw, second[stored].Raw) {
					t.Errorf("%s of the planted twin has another canonical form", stored)
				}
			}
			m, err := first.Into(n.Model)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := open(t, m)
			third, c, err := Canonicalise(t.Context(), again, b)
			if err != nil {
				t.Fatal(err)
			}
			if !c.Same || !third.equal(first) {
				t.Error("the canonical form has another one")
			}
		})
	}
}

// verdict compares two models.
func verdict(t *testing.T, a, b *onnx.Model) *Report {
	t.Helper()
	x, body := open(t, a)
	y, _ := open(t, b)
	r, err := Compare(t.Context(), x, y, body, CompareOptions{Seed: 7, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	r.Conclude()
	return r
}

// A planted twin is found to be the same, with each unit paired, whatever its factors are; the straight line to it as
// it is stored leads through other models, and that to it aligned does not.
func TestPlantedTwins(t *testing.T) {
	for name, build := range fixtures() {
		for _, half := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, half), func(t *testing.T) {
				t.Parallel()
				n, _ := open(t, build(1))
				r := verdict(t, n.Model, planted(t, n, 5, half))
				a := r.Aligned
				if r.Verdict != SameUpTo || !half && !a.Canonical || !(a.After <= 1e-6) || !(a.Before > 0.3) {
					t.Errorf("%s canonical %v, before %v, after %v", r.Sentence, a.Canonical, a.Before, a.After)
				}
				middle := a.Path[5]
				if !(middle.Aligned.ToFirst <= 1e-4) || !(middle.Stored.ToFirst > 0.01) {
					t.Errorf("half way: %v aligned, %v as stored", middle.Aligned.ToFirst, middle.Stored.ToFirst)
				}
				for _, x := range a.Axes {
					if x.Unmatched > 0 {
						t.Errorf("%s: %d unmatched, correlation %v", x.Name, x.Unmatched, x.Correlation)
					}
				}
			})
		}
	}
}

// Other weights are another model; the same weights are the same; one weight on which no answer to a probe depends
// tells nothing.
func TestVerdicts(t *testing.T) {
	a := unitstest.MLP(1, "Relu")
	if r := verdict(t, a, unitstest.MLP(2, "Relu")); r.Verdict != Different || r.Good() {
		t.Error(r.Sentence)
	}
	if r := verdict(t, a, a); r.Verdict != SameUpTo || !r.Aligned.Numbers || !r.Good() {
		t.Error(r.Sentence)
	}
	// a unit that is never above 0 is read by nobody
	n, _ := open(t, a)
	dead := Numbers{}
	for _, name := range n.Units.Stored() {
		if s := n.numbers[name].Shape; len(s) == 1 && s[0] == 7 {
			x, err := n.numbers[name].Float64s(nil)
			if err != nil {
				t.Fatal(err)
			}
			x[3] = -100
			if dead[name], err = rounded(tensor.Float32, x, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, err := dead.over(n.numbers).Into(a)
	if err != nil {
		t.Fatal(err)
	}
	for name := range dead {
		x, _ := dead[name].Float64s(nil)
		x[3] = -60
		var err error
		if dead[name], err = rounded(tensor.Float32, x, dead[name].Shape); err != nil {
			t.Fatal(err)
		}
	}
	other, err := dead.over(n.numbers).Into(a)
	if err != nil {
		t.Fatal(err)
	}
	if r := verdict(t, one, other); r.Verdict != NotTold || r.Good() || r.Aligned.Unreached.Numbers != 1 {
		t.Error(r.Sentence)
	}
}

// Of two equal units either may be the partner of either: that is said.
func TestTwoEqualUnits(t *testing.T) {
	n, b := open(t, unitstest.MLP(1, "Relu"))
	twin := Numbers{}
	for _, cl := range n.Units.Classes {
		if cl.Fixed != "" || cl.Units != 7 {
			continue
		}
		for _, p := range cl.Stored[:2] { // what goes into the units
			t0 := n.numbers[p.Value]
			x, err := t0.Float64s(nil)
			if err != nil {
				t.Fatal(err)
			}
			row := len(x) / 7
			copy(x[2*row:3*row], x[4*row:5*row])
			if twin[p.Value], err = rounded(t0.DType, x, t0.Shape); err != nil {
				t.Fatal(err)
			}
		}
	}
	m, err := twin.over(n.numbers).Into(n.Model)
	if err != nil {
		t.Fatal(err)
	}
	doubled, _ := open(t, m)
	if _, c, err := Canonicalise(t.Context(), doubled, b); err != nil || c.Axes[0].Ties != 1 {
		t.Errorf("%+v, %v: want one tie", c, err)
	}
	r := verdict(t, m, planted(t, doubled, 5, false))
	if r.Verdict != SameUpTo && r.Verdict != SameFunction {
		t.Error(r.Sentence)
	}
	if r.Aligned.Axes[0].Ties != 2 {
		t.Errorf("%+v: want two units that are as good as each other", r.Aligned.Axes[0])
	}
}

// Files of other architectures are refused, with the place where they part.
func TestOtherArchitectures(t *testing.T) {
	x, body := open(t, unitstest.MLP(1, "Relu"))
	for _, c := range []struct {
		m    *onnx.Model
		want string
	}{
		{unitstest.MLP(1, "Tanh"), "node 1 is Relu"},
		{unitstest.RMS(1), "nodes"},
		{unitstest.Attention(1), "nodes"},
	} {
		y, _ := open(t, c.m)
		_, err := Compare(t.Context(), x, y, body, CompareOptions{Workers: 1})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Models whose stored weights are the same may be others all the same: here the version of the operators is another
// one, before which Softmax looks at all axes from the first on.
func TestSameWeightsOfOtherModels(t *testing.T) {
	of := func(opset int64) *onnx.Model {
		net := unitstest.New(1)
		x := net.Input("x", tensor.Float32, "N", 3, 4)
		m := net.Done(net.Linear(net.Op("Softmax", []string{net.Linear(x, 4, 6)}), 6, 2), "N", 3, 2)
		p := proto.CloneOf(m.Proto())
		p.OpsetImport[0].Version = &opset
		b, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = onnx.Load(b); err != nil {
			t.Fatal(err)
		}
		return m
	}
	x, body := open(t, of(11))
	y, _ := open(t, of(13))
	if _, err := Compare(t.Context(), x, y, body, CompareOptions{Workers: 1}); err == nil ||
		!strings.Contains(err.Error(), "the stored weights are the same, and the answers are not") {
		t.Error(err)
	}
	if r := verdict(t, of(11), of(12)); r.Verdict != SameUpTo || !r.Aligned.Numbers {
		t.Error(r.Sentence)
	}
}

// What a file hides in its functions and branches is seen, whatever the answers say: a number that a branch reads, and
// a function. A note on a function is none of its matter.
func TestUnseen(t *testing.T) {
	of := func(inside, alpha float32, note string) *onnx.Model {
		net := unitstest.New(1)
		x := net.Input("x", tensor.Float32, "N", 4)
		c := net.Const(tensor.FromFloat32([]float32{inside}, 1))
		p := proto.CloneOf(net.Done(net.Act("Relu", net.Dense(x, 4, 3)), "N", 3).Proto())
		branch := func(name string) *onnxpb.GraphProto {
			return &onnxpb.GraphProto{
				Name: &name, Output: []*onnxpb.ValueInfoProto{{Name: new("t")}},
				Node: []*onnxpb.NodeProto{{OpType: new("Mul"), Input: []string{x, c}, Output: []string{"t"}}},
			}
		}
		p.Graph.Node = append(p.GetGraph().GetNode(), &onnxpb.NodeProto{
			OpType: new("If"), Input: []string{c}, Output: []string{"u"}, Attribute: []*onnxpb.AttributeProto{{
				Name: new("then_branch"), Type: onnxpb.AttributeProto_GRAPH.Enum(), G: branch("yes"),
			}},
		})
		p.Functions = []*onnxpb.FunctionProto{{
			Name: new("f"), Domain: new("local"), Input: []string{"a"}, Output: []string{"b"}, DocString: &note,
			OpsetImport: p.GetOpsetImport(), Node: []*onnxpb.NodeProto{{
				OpType: new("LeakyRelu"), Input: []string{"a"}, Output: []string{"b"},
				Attribute: []*onnxpb.AttributeProto{onnx.AttrFloat("alpha", alpha)},
			}},
		}}
		b, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		m, err := onnx.Load(b)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a := of(1, 0.1, "")
	for _, c := range []struct {
		b    *onnx.Model
		want string
	}{
		{of(1, 0.1, "a note"), ""},
		{of(2, 0.1, ""), "which a branch of If"},
		{of(1, 0.5, ""), "functions of their files"},
	} {
		if got := unseen(a, c.b); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Answers that do not depend on the input show nothing, and are not passed.
func TestNothingToShow(t *testing.T) {
	n := unitstest.New(1)
	x := n.Input("x", tensor.Float32, "N", 4)
	h := n.Act("Relu", n.Dense(x, 4, 6))
	zero := n.Op("Mul", []string{n.Dense(h, 6, 2), n.Const(tensor.FromFloat32([]float32{0}))})
	net, b := open(t, n.Done(zero, "N", 2))
	r, err := Check(t.Context(), net, b, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Good() || r.Symmetries[0].State != Untested {
		t.Errorf("%+v", r.Symmetries[0])
	}
}

// What is not finite is a result, and no small error.
func TestNotFinite(t *testing.T) {
	n := unitstest.New(1)
	x := n.Input("x", tensor.Float32, "N", 4)
	y := n.Op("Log", []string{n.Dense(n.Act("Relu", n.Dense(x, 4, 6)), 6, 2)})
	net, b := open(t, n.Done(y, "N", 2))
	r, err := Check(t.Context(), net, b, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Conclude()
	if r.Bad == "" || r.Good() || !strings.HasPrefix(r.Sentence, "Undefined") {
		t.Error(r.Sentence)
	}
	m, err := Numbers{}.Into(net.Model)
	if err != nil {
		t.Fatal(err)
	}
	bad := Numbers{}
	name := net.Units.Stored()[0]
	v, _ := net.numbers[name].Float64s(nil)
	v[2] = math.Inf(1)
	if bad[name], err = rounded(tensor.Float32, v, net.numbers[name].Shape); err != nil {
		t.Fatal(err)
	}
	if m, err = bad.Into(m); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("m.onnx", m, map[string][]int{"x": {1, 4}}); err == nil ||
		!strings.Contains(err.Error(), "not finite at number 2") {
		t.Errorf("%v", err)
	}
}

// What people and programs read is held against files, and JSON against its schema.
func TestForms(t *testing.T) {
	n, b := open(t, unitstest.Residual(1))
	one, err := Check(t.Context(), n, b, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	one.From, one.Models = "normal noise", []File{n.File("d1")}
	one.Conclude()
	two := verdict(t, n.Model, planted(t, n, 5, true))
	two.From, two.Engine = "normal noise", "wasm 1.18.0"
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := validator.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("weights.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("weights.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Report{"one": one, "two": two} {
		for _, f := range Forms() {
			var out bytes.Buffer
			if err := f.Write(&out, r); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+"."+f.Name)
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%s differs; -update writes it:\n%s", file, out.Bytes())
			}
			if f.Name != "json" {
				continue
			}
			doc, err := validator.UnmarshalJSON(&out)
			if err != nil {
				t.Fatal(err)
			}
			if err := compiled.Validate(doc); err != nil {
				t.Error(err)
			}
		}
	}
}

// An output that is 0 at every probe has no scale: zeros of another sign are no error of it, anything else is an
// endless one, and neither takes away what another output says.
func TestErrorOfZeros(t *testing.T) {
	of := func(x, y float32) (all [][]tensor.Named) {
		for _, v := range []float32{1, y} {
			all = append(all, []tensor.Named{
				{Name: "zero", Tensor: tensor.FromFloat32([]float32{x}, 1)},
				{Name: "y", Tensor: tensor.FromFloat32([]float32{v}, 1)},
			})
		}
		return all
	}
	a, err := answersOf(of(0, 3))
	if err != nil {
		t.Fatal(err)
	}
	minus := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		x, y float32
		want float64
	}{
		{minus, 3, 0},
		{minus, 5, 2}, // the scale of 1 and 3 is 1
		{1e-9, 3, math.Inf(1)},
	} {
		if got := float64(a.from(of(c.x, c.y)).Error); got != c.want {
			t.Errorf("%g and %g: %g, want %g", c.x, c.y, got, c.want)
		}
	}
}
