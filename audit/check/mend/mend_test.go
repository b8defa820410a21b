package mend_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/layers"
	"nero/audit/check/mend"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// net builds networks whose nodes have names.
type net struct{ *onnx.Builder }

func (n *net) op(name, op string, in []string, attrs ...*onnxpb.AttributeProto) string {
	out := n.Op(op, in, attrs...)
	nodes := n.Graph().GetNode()
	nodes[len(nodes)-1].Name = &name
	return out
}

func (n *net) floats(v []float32, shape ...int) string {
	return n.Const(tensor.FromFloat32(v, shape...))
}

// random are numbers of a shape.
func (n *net) random(seed uint64, shape ...int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, tensor.Count(shape))
	for i := range v {
		v[i] = float32(r.NormFloat64() / 2)
	}
	return n.floats(v, shape...)
}

// rows is how many vectors a sample has.
const rows = 4

// lengths is a network of vectors of space that reads their inner products alone, and what breaks do to the vectors.
func lengths(t *testing.T, breaks ...func(n *net, v string) string) *onnx.Model {
	t.Helper()
	n := &net{onnx.NewBuilder(17)}
	v := n.Input("x", tensor.Float32, "N", rows, 3)
	for _, f := range breaks {
		v = f(n, v)
	}
	across := n.op("across", "Transpose", []string{v}, onnx.AttrInts("perm", 0, 2, 1))
	y := n.op("products", "MatMul", []string{v, across})
	y = n.op("bend", "Tanh", []string{n.op("scaled", "Mul", []string{y, n.floats([]float32{0.3})})})
	y = n.op("rows", "ReduceMean", []string{y}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0))
	y = n.op("dense", "MatMul", []string{y, n.random(3, rows, 3)})
	n.Output(y, tensor.Float32, "N", 3)
	m, err := n.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// vectors is a subject of vectors of space under rotations, with an invariant output.
func vectors(t *testing.T, name string, m *onnx.Model) *audit.Subject {
	t.Helper()
	spec := space.Spec{
		Name: "x", Kind: space.KindRows, Shape: []int{rows, 3}, Type: space.TypeVectors, Per: space.PerNode,
	}
	return subject(t, name, "SO(3)", m, spec, func(c decode.Codec, g group.Group) (in, out action.Action, err error) {
		if in, err = action.NewRows(g, spec, action.Options{}); err == nil {
			out, err = action.Rules().For(g, c.Out(), action.Options{Invariant: true})
		}
		return in, out, err
	}, func(r *rand.Rand) space.Value {
		v := space.NewRows(rows, 3)
		for k := range v.Val {
			v.Val[k] = r.NormFloat64()
		}
		return v
	})
}

func subject(t *testing.T, name, groupName string, m *onnx.Model, spec space.Spec,
	actions func(c decode.Codec, g group.Group) (in, out action.Action, err error),
	draw func(r *rand.Rand) space.Value,
) *audit.Subject {
	t.Helper()
	g, err := catalog.Parse(groupName)
	if err != nil {
		t.Fatal(err)
	}
	c, err := decode.NewRecord(m.Signature(), decode.RecordSpec{Sample: spec, Outputs: []decode.OutputField{{
		Name: "y", Port: m.Signature().Outputs[0].Name, Type: space.TypeUnchanged, Per: space.PerSample,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	in, out, err := actions(c, g)
	if err != nil {
		t.Fatal(err)
	}
	sampler, ok := g.(group.Sampler)
	if !ok {
		t.Fatalf("%s has no samples", groupName)
	}
	r := rand.New(rand.NewPCG(11, 3))
	var elements []group.Element
	for range 5 {
		elements = append(elements, sampler.Sample(r))
	}
	s := &audit.Subject{
		Name: name, Plan: audittest.Plan(t, in, out, elements...), N: 12, Seed: 1, InSpec: spec,
		Sample: func(i int) (dataset.Sample, error) {
			return dataset.Sample{ID: strconv.Itoa(i), Value: draw(rand.New(rand.NewPCG(3, uint64(i))))}, nil
		},
	}
	audittest.Graph(t, s, m, c)
	return s
}

// pictures is a subject of pictures under shifts around the border, whose output is a mean over the places of a
// function of the pixels that breaks change before.
func pictures(t *testing.T, name string, breaks ...func(n *net, v string) string) *audit.Subject {
	t.Helper()
	const side = 4
	n := &net{onnx.NewBuilder(17)}
	v := n.Input("x", tensor.Float32, "N", 1, side, side)
	for _, f := range breaks {
		v = f(n, v)
	}
	y := n.op("square", "Mul", []string{v, v})
	y = n.op("both", "Concat", []string{v, y}, onnx.AttrInt("axis", 1))
	y = n.op("mean", "ReduceMean", []string{y}, onnx.AttrInts("axes", 2, 3), onnx.AttrInt("keepdims", 0))
	y = n.op("dense", "MatMul", []string{y, n.random(4, 2, 3)})
	n.Output(y, tensor.Float32, "N", 3)
	m, err := n.Model()
	if err != nil {
		t.Fatal(err)
	}
	g, err := catalog.Parse("T(2,Z)")
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: name, N: 12, Seed: 1,
		InSpec: space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, side, side}},
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(5, uint64(i)))
			x := space.NewImage(1, side, side)
			for k := range x.Pix {
				x.Pix[k] = r.NormFloat64()
			}
			return dataset.Sample{ID: strconv.Itoa(i), Value: x}, nil
		},
	}
	in, err := action.NewImage(g, s.InSpec, action.Options{Border: action.Circular})
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = audittest.Plan(t, in, action.Trivial{G: g}, group.Element{1, 0}, group.Element{2, 1}, group.Element{0, 3})
	audittest.Graph(t, s, m, audittest.Images(t, m, 1, decode.OutputSpec{Space: space.KindScores}, 1, side, side))
	return s
}

func factors(n *net, v string) string {
	return n.op("factors", "Mul", []string{v, n.floats([]float32{1, 1, 1.3}, 1, 1, 3)})
}

func clipped(n *net, v string) string {
	low := n.op("low", "Max", []string{v, n.floats([]float32{-0.5})})
	return n.op("high", "Min", []string{low, n.floats([]float32{0.7})})
}

func tanh(n *net, v string) string { return n.op("componentwise", "Tanh", []string{v}) }

func bias(n *net, v string) string {
	return n.op("bias", "Add", []string{v, n.floats([]float32{0.2, 0, 0}, 1, 1, 3)})
}

func table(n *net, v string) string {
	return n.op("table", "Add", []string{v, n.random(9, 1, 1, 4, 4)})
}

// tokens adds a table to the places of a map that lie in one line, even a number that is the same at all of them.
func tokens(n *net, v string) string { return inLine(n, v, n.random(12, 1, 16, 1)) }

func even(n *net, v string) string { return inLine(n, v, n.floats([]float32{0.4}, 1, 1, 1)) }

func inLine(n *net, v, add string) string {
	line := n.op("line", "Reshape", []string{v, n.Ints(-1, 1, 16)})
	line = n.op("list", "Transpose", []string{line}, onnx.AttrInts("perm", 0, 2, 1))
	line = n.op("tokens", "Add", []string{line, add})
	line = n.op("unlisted", "Transpose", []string{line}, onnx.AttrInts("perm", 0, 2, 1))
	return n.op("map", "Reshape", []string{line, n.Ints(-1, 1, 4, 4)})
}

func gain(n *net, v string) string {
	return n.op("gain", "Mul", []string{v, n.floats([]float32{2}, 1, 1, 1, 1)})
}

// branch adds a number that a dense layer makes of the whole picture.
func branch(n *net, v string) string {
	flat := n.op("flat", "Flatten", []string{v})
	one := n.op("whole", "MatMul", []string{flat, n.random(8, 16, 1)})
	return n.op("join", "Add", []string{v, n.op("wide", "Unsqueeze", []string{one, n.Ints(2, 3)})})
}

// mended is what the check said; nil if it did not test.
func mended(t *testing.T, s *audit.Subject) (clues map[audit.ClueName]audit.Clue, status audit.Status) {
	t.Helper()
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, mend.Check)
	clues = map[audit.ClueName]audit.Clue{}
	for _, x := range r.Results {
		if x.Check == mend.Check {
			status = x.Status
			for _, c := range x.Clues {
				clues[c.Name] = c
			}
		}
	}
	return clues, status
}

func TestMend(t *testing.T) {
	type breaks = []func(n *net, v string) string
	for _, c := range []struct {
		name string
		s    *audit.Subject
		// at is the node that is named, clue what it is said to be; "" where nothing mends
		at   string
		clue audit.ClueName
	}{
		{"a factor for each component", vectors(t, "factors", lengths(t, factors)), "factors", audit.ClueOddLayer},
		{"a constant vector", vectors(t, "bias", lengths(t, bias)), "bias", audit.ClueOddLayer},
		{"a nonlinearity on components", vectors(t, "tanh", lengths(t, tanh)), "componentwise", audit.ClueNonlinearity},
		{"two nodes in a row", vectors(t, "clip", lengths(t, clipped)), "low", audit.ClueNonlinearity},
		{"two breaks apart", vectors(t, "two", lengths(t, breaks{factors, tanh, bias, tanh, factors}...)), "", ""},
		{"a table of positions", pictures(t, "table", gain, table), "table", audit.CluePositions},
		{"a dense layer over places", pictures(t, "branch", branch), "whole", audit.CluePositions},
		{"a table of tokens", pictures(t, "tokens", gain, tokens), "tokens", audit.CluePositions},
	} {
		t.Run(c.name, func(t *testing.T) {
			clues, status := mended(t, c.s)
			if status != audit.Tested {
				t.Fatalf("the check is %s", status)
			}
			m := clues[audit.ClueMends]
			if m.Holds != (c.at != "") || m.Location != c.at {
				t.Fatalf("mends: %+v", m)
			}
			for name, x := range clues {
				if name != audit.ClueMends && (name != c.clue || x.Location != c.at) {
					t.Errorf("said %s of %s: %s", name, x.Location, x.Text)
				}
			}
			if _, ok := clues[c.clue]; c.clue != "" && !ok {
				t.Errorf("did not say %s", c.clue)
			}
		})
	}
}

// A branch that is known to break is named where it begins to, not where it joins: the sum of sizes of components is no
// length, and what divides by it is not to blame.
func TestBranch(t *testing.T) {
	s := vectors(t, "sizes", lengths(t, func(n *net, v string) string {
		sizes := n.op("sizes", "Abs", []string{v})
		sum := n.op("sum", "ReduceSum", []string{sizes, n.Ints(-1)}, onnx.AttrInt("keepdims", 1))
		return n.op("over", "Div", []string{v, n.op("more", "Add", []string{sum, n.floats([]float32{0.5})})})
	}))
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, layers.Check, mend.Check)
	said := map[audit.ClueName]string{}
	for _, c := range r.Clues() {
		if c.Check == mend.Check.Name && c.Holds {
			said[c.Name] = c.Location
		}
	}
	if len(said) != 2 || said[audit.ClueMends] != "sizes" || said[audit.ClueNonlinearity] != "sizes" {
		t.Errorf("said %v", said)
	}
}

// Forms are not left out: a model that computes one has as many attempts as one that has it stored.
func TestForms(t *testing.T) {
	attempts := func(form func(n *net, v string) string) (count float64) {
		s := vectors(t, "form", lengths(t, factors, func(n *net, v string) string {
			return n.op("formed", "Reshape", []string{v, form(n, v)})
		}))
		r := audittest.Audit(t, audittest.Fixture{Subject: s}, mend.Check)
		for _, x := range r.Results {
			for _, e := range x.Measures {
				if e.Name == "attempts to leave nodes out" {
					count = e.Value
				}
			}
		}
		return count
	}
	stored := attempts(func(n *net, _ string) string { return n.Ints(-1, rows, 3) })
	computed := attempts(func(n *net, v string) string {
		form := n.op("form", "Shape", []string{v})
		twice := n.op("twice", "Mul", []string{form, n.Ints(2, 2, 2)})
		return n.op("half", "Div", []string{twice, n.Ints(2, 2, 2)})
	})
	if stored == 0 || computed != stored {
		t.Errorf("%g attempts with a stored form, %g with one that is computed", stored, computed)
	}
}

// Of a model that holds nothing is left out.
func TestCleanModels(t *testing.T) {
	for _, s := range []*audit.Subject{
		vectors(t, "clean", lengths(t)), pictures(t, "clean pictures", gain), pictures(t, "clean tokens", even),
	} {
		if clues, status := mended(t, s); status != audit.NotApplicable || len(clues) > 0 {
			t.Errorf("%s: %s, %v", s.Name, status, clues)
		}
	}
}

// What comes after a layer that breaks may forgive it: without its rectifier the network of a lopsided kernel is
// linear, and the mean over all places keeps every shift. The layer is named by the checks of layers, and nothing mends
// it.
func TestForgiving(t *testing.T) {
	s := pictures(t, "lopsided", func(n *net, v string) string {
		v = n.op("bad-factors", "Mul", []string{v, n.random(9, 1, 1, 4, 4)})
		return n.op("rectified", "Relu", []string{v})
	})
	clues, status := mended(t, s)
	if c := clues[audit.ClueMends]; status != audit.Tested || c.Location != "bad-factors" {
		t.Errorf("%s, mended at %q: %s", status, c.Location, c.Text)
	}
}

// A model whose outputs vary no more is not mended: what is constant keeps every symmetry.
func TestConstantIsNotMended(t *testing.T) {
	m := lengths(t, func(n *net, v string) string {
		// v - 0·(v) + the components one by one: without "whole" only zeros are left
		zero := n.op("none", "Mul", []string{v, n.floats([]float32{0})})
		return n.op("whole", "Add", []string{zero, n.op("odd", "Mul", []string{
			v, n.floats([]float32{1, 1, 1.5}, 1, 1, 3),
		})})
	})
	clues, _ := mended(t, vectors(t, "zeros", m))
	if c := clues[audit.ClueMends]; c.Location != "odd" && c.Location != "" {
		t.Errorf("mended by %q: %s", c.Location, c.Text)
	}
	if !slices.Contains([]string{"odd"}, clues[audit.ClueMends].Location) {
		t.Errorf("not mended by the factors: %+v", clues)
	}
}

// finder is a detector with one place in each pixel of a moving window. Its confidence and its sizes differ from place
// to place, where they are said to, and without its node "shrink" every box is larger than the window.
func finder(t *testing.T, name string, confidence, sizes bool) *audit.Subject {
	t.Helper()
	const side, around = 16, 24
	n := &net{onnx.NewBuilder(17)}
	x := n.Input("x", tensor.Float32, "N", 1, side, side)
	sure := n.op("bright", "Mul", []string{x, n.floats([]float32{4})})
	wide := n.op("wide", "Tanh", []string{x})
	if confidence {
		sure = n.op("uneven", "Mul", []string{sure, n.op("more", "Exp", []string{n.random(8, 1, 1, side, side)})})
	}
	if sizes {
		wide = n.op("broad", "Add", []string{wide, n.random(6, 1, 1, side, side)})
	}
	sure = n.op("low", "Sub", []string{sure, n.floats([]float32{1})})
	wide = n.op("grow", "Add", []string{wide, n.floats([]float32{3})})
	wide = n.op("shrink", "Sub", []string{wide, n.floats([]float32{3})})
	places := make([]float32, 2*side*side)
	for k := range side * side {
		places[k], places[side*side+k] = float32(k%side)+0.5, float32(k/side)+0.5
	}
	size := n.op("size", "Exp", []string{n.op("both", "Concat", []string{wide, wide}, onnx.AttrInt("axis", 1))})
	still := n.op("none", "Mul", []string{size, n.floats([]float32{0})})
	centre := n.op("centre", "Add", []string{still, n.floats(places, 1, 2, side, side)})
	box := n.op("box", "Concat", []string{centre, size}, onnx.AttrInt("axis", 1))
	list := func(v string, width int) string {
		flat := n.op("flat", "Reshape", []string{v, n.Ints(-1, int64(width), side*side)})
		return n.op("list", "Transpose", []string{flat}, onnx.AttrInts("perm", 0, 2, 1))
	}
	boxes, scores := list(box, 4), list(sure, 1)
	n.Output(boxes, tensor.Float32, "N", side*side, 4)
	n.Output(scores, tensor.Float32, "N", side*side, 1)
	m, err := n.Model()
	if err != nil {
		t.Fatal(err)
	}
	g, err := catalog.Parse("T(2,Z)")
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: name, N: 12, Seed: 1,
		InSpec: space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, around, around}},
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(5, uint64(i)))
			x := space.NewImage(1, around, around)
			for range 24 {
				x.Pix[r.IntN(len(x.Pix))] = 1 + r.Float64()
			}
			return dataset.Sample{ID: strconv.Itoa(i), Value: x}, nil
		},
	}
	in, err := action.NewImage(g, s.InSpec, action.Options{Window: []int{side, side}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := action.NewBoxes(g, space.Spec{Kind: space.KindBoxes}, action.Options{Window: []int{side, side}})
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = audittest.Plan(t, in, out, group.Element{1, 0}, group.Element{0, 2}, group.Element{-2, 1})
	audittest.Graph(t, s, m, audittest.Images(t, m, 1, decode.OutputSpec{
		Space: space.KindBoxes, Boxes: decode.BoxesSpec{
			Parts: []decode.BoxesPart{{Boxes: boxes, Scores: scores}}, Form: "cxcywh", Activation: "sigmoid",
			Limit: 0.5, Suppress: "none",
		},
	}, 1, side, side))
	return s
}

// A detector none of whose boxes can be compared keeps every shift, and is not mended.
func TestNoBoxesAreNoMend(t *testing.T) {
	for _, c := range []struct {
		name              string
		confidence, sizes bool
		at                string
	}{
		{"both uneven", true, true, ""},
		{"sizes uneven", false, true, "broad"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clues, status := mended(t, finder(t, c.name, c.confidence, c.sizes))
			if m := clues[audit.ClueMends]; status != audit.Tested || m.Location != c.at {
				t.Errorf("%s, mended at %q, want %q: %s", status, m.Location, c.at, m.Text)
			}
		})
	}
}
