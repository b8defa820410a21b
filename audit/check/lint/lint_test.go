package lint_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/lattice"
	"nero/audit/check/lint"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

const inputs = 20

// kernels of 3 x 3: one that has all symmetries of the square, and one
// without any.
var (
	symmetric = []float32{1, 2, 1, 2, -3, 2, 1, 2, 1}
	lopsided  = []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
)

// shape of a network: one convolution, optionally a table added to its result, and the mean over the picture.
type shape struct {
	kernel      []float32
	side        int
	stride, pad int64
	table       bool
	dense       bool
}

func network(t *testing.T, s shape) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, s.side, s.side)
	b.Op("Conv", []string{x, b.Const(tensor.FromFloat32(s.kernel, 1, 1, 3, 3))},
		onnx.AttrInts("strides", s.stride, s.stride), onnx.AttrInts("pads", s.pad, s.pad, s.pad, s.pad),
		onnx.AttrInts("kernel_shape", 3, 3))
	last := func(name string) string {
		n := b.Graph().GetNode()
		n[len(n)-1].Name = &name
		return n[len(n)-1].GetOutput()[0]
	}
	h := last("conv")
	side := (s.side+2*int(s.pad)-3)/int(s.stride) + 1
	if s.table {
		v := make([]float32, side*side)
		for i := range v {
			v[i] = float32(i * i % 7)
		}
		b.Op("Add", []string{h, b.Const(tensor.FromFloat32(v, 1, 1, side, side))})
		h = last("table")
	}
	b.Op("Relu", []string{h})
	h = last("relu")
	if s.dense {
		v := make([]float32, side*side*2)
		for i := range v {
			v[i] = float32(i*i%11) - 5
		}
		b.Op("Flatten", []string{h})
		b.Op("MatMul", []string{last("flatten"), b.Const(tensor.FromFloat32(v, side*side, 2))})
		last("dense")
	} else {
		b.Op("GlobalAveragePool", []string{h})
		last("pool")
	}
	n := b.Graph().GetNode()
	n[len(n)-1].Output[0] = "y"
	if s.dense {
		b.Output("y", tensor.Float32, "N", 2)
	} else {
		b.Output("y", tensor.Float32, "N", 1, 1, 1)
	}
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func audited(t *testing.T, s shape, g group.Group) *audit.Report {
	t.Helper()
	m := network(t, s)
	in, err := action.NewImage(g, space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, s.side, s.side}},
		action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	subject := &audit.Subject{
		Name: "net", Plan: audittest.Plan(t, in, action.Trivial{G: g}),
		N: inputs, Sample: audittest.Noise(inputs, s.side, s.side, 3), Seed: 1,
	}
	audittest.Graph(t, subject, m, audittest.Images(t, m, 255, decode.OutputSpec{Space: space.KindTensor}, 1, s.side,
		s.side))
	return audittest.Audit(t, audittest.Fixture{Subject: subject}, lattice.Check, lint.Check)
}

func TestLint(t *testing.T) {
	d4, err := catalog.Dihedral(4)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		shape
		verdict audit.Verdict
		// that holds; "" for none
		clue audit.ClueName
		at   string
	}{
		"clean":           {shape{symmetric, 9, 1, 1, false, false}, audit.Passed, "", ""},
		"clean, strided":  {shape{symmetric, 9, 2, 1, false, false}, audit.Passed, "", ""},
		"kernel":          {shape{lopsided, 9, 1, 1, false, false}, audit.Failed, audit.ClueKernelAsymmetry, "conv"},
		"off the center":  {shape{symmetric, 10, 2, 1, false, false}, audit.Failed, audit.ClueStrideParity, "conv"},
		"lopsided, off":   {shape{lopsided, 10, 2, 1, false, false}, audit.Failed, audit.ClueUntied, "conv"},
		"table":           {shape{symmetric, 9, 1, 1, true, false}, audit.Failed, audit.CluePositions, "table"},
		"dense on a map":  {shape{symmetric, 9, 1, 1, false, true}, audit.Failed, audit.CluePositions, "dense"},
		"table and dense": {shape{symmetric, 9, 1, 1, true, true}, audit.Failed, audit.CluePositions, ""},
	} {
		r := audited(t, c.shape, d4)
		undecided := c.verdict == audit.Passed && r.Verdict == audit.NeedsAttention // 20 inputs cannot decide
		if r.Verdict != c.verdict && !undecided {
			t.Errorf("%s: %s %q", name, r.Verdict, r.Reasons)
		}
		var held []string
		for _, x := range r.Clues() {
			if !x.Holds || x.Check != lint.Check.Name || x.Name == audit.ClueLintAllows {
				continue
			}
			held = append(held, string(x.Name)+" at "+x.Location)
			if x.Name == c.clue && c.at != "" && x.Location != c.at {
				t.Errorf("%s: %s at %q, want %q", name, x.Name, x.Location, c.at)
			}
		}
		switch {
		case c.clue != audit.ClueUntied && strings.Contains(strings.Join(held, "|"), string(audit.ClueUntied)):
			t.Errorf("%s: clues %q", name, held)
		case c.clue == "" && len(held) > 0:
			t.Errorf("%s: clues %q", name, held)
		case c.clue != "" && !strings.Contains(strings.Join(held, "|"), string(c.clue)+" at"):
			t.Errorf("%s: clues %q, want %s", name, held, c.clue)
		}
		for _, x := range r.Results {
			if x.Check == lint.Check && x.Status != audit.Tested {
				t.Errorf("%s: %s: %s", name, x.Status, x.Reason)
			}
		}
		for _, f := range r.Findings() {
			if strings.Contains(f.Message, "contradict") {
				t.Errorf("%s: %s", name, f.Message)
			}
		}
	}
}

// around is a network that brings the rows and columns from begin to end, and the first ones, to the other side before
// it convolves, and then takes every step-th place.
func around(t *testing.T, side int, begin, end, step int64) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(17)
	op := func(name, op string, in []string, attrs ...*onnxpb.AttributeProto) string {
		out := b.Op(op, in, attrs...)
		n := b.Graph().GetNode()
		n[len(n)-1].Name = &name
		return out
	}
	v := b.Input("x", tensor.Float32, "N", 1, side, side)
	for axis := int64(2); axis < 4; axis++ {
		last := op("last", "Slice", []string{v, b.Ints(begin), b.Ints(end), b.Ints(axis)})
		first := op("first", "Slice", []string{v, b.Ints(0), b.Ints(1), b.Ints(axis)})
		v = op("join", "Concat", []string{last, v, first}, onnx.AttrInt("axis", axis))
	}
	v = op("conv", "Conv", []string{v, b.Const(tensor.FromFloat32(symmetric, 1, 1, 3, 3))})
	if step > 1 {
		v = op("every", "Slice", []string{
			v, b.Ints(0, 0), b.Ints(int64(side), int64(side)), b.Ints(2, 3), b.Ints(step, step),
		})
	}
	v = op("relu", "Relu", []string{v})
	b.Output(op("pool", "GlobalAveragePool", []string{v}), tensor.Float32, "N", 1, 1, 1)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A border that brings in other rows than those of the other side is told from a stride, as exporters write both: by
// slices. Under turns it is one-sided, under shifts around the border it is padding.
func TestAround(t *testing.T) {
	const most = math.MaxInt64
	for name, c := range map[string]struct {
		group            string
		begin, end, step int64
		clue             audit.ClueName
		at               string
	}{
		"right, turned":        {"C4", -1, most, 1, "", ""},
		"right, shifted":       {"Roll(6,6)", -1, most, 1, "", ""},
		"off by one, turned":   {"C4", -2, -1, 1, audit.ClueCrop, "join"},
		"off by one, shifted":  {"Roll(6,6)", -2, -1, 1, audit.CluePaddingLayer, "last"},
		"every other, shifted": {"Roll(6,6)", -1, most, 2, audit.ClueStrideParity, "every"},
	} {
		g, err := catalog.Parse(c.group)
		if err != nil {
			t.Fatal(err)
		}
		const side = 6
		in, err := action.NewImage(g, space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, side, side}},
			action.Options{Border: action.Circular})
		if err != nil {
			t.Fatal(err)
		}
		subject := &audit.Subject{
			Name: "net", Plan: audittest.Plan(t, in, action.Trivial{G: g}),
			N: inputs, Sample: audittest.Noise(inputs, side, side, 3), Seed: 1,
		}
		audittest.Graph(t, subject, around(t, side, c.begin, c.end, c.step),
			audittest.Images(t, around(t, side, c.begin, c.end, c.step), 255,
				decode.OutputSpec{Space: space.KindTensor}, 1, side, side))
		r := audittest.Audit(t, audittest.Fixture{Subject: subject}, lattice.Check, lint.Check)
		var held []string
		for _, x := range r.Clues() {
			if x.Holds && x.Check == lint.Check.Name && x.Name != audit.ClueLintAllows {
				held = append(held, string(x.Name)+" at "+x.Location)
			}
		}
		want := ""
		if c.clue != "" {
			want = string(c.clue) + " at " + c.at
		}
		if got := strings.Join(held, "|"); got != want {
			t.Errorf("%s: clues %q, want %q; %s", name, got, want, r.Verdict)
		}
	}
}

// A channel of coordinates is a table of positions, which the join brings in: the windows that read it treat both ends
// alike, and have no stride to blame.
func TestCoordinates(t *testing.T) {
	const side = 6
	for name, group := range map[string]string{
		"coordinates": "C4", "distances": "C4", "coordinates, shifted": "Roll(6,6)",
	} {
		g, err := catalog.Parse(group)
		if err != nil {
			t.Fatal(err)
		}
		even := name == "distances"
		b := onnx.NewBuilder(17)
		x := b.Input("x", tensor.Float32, "N", 1, side, side)
		v := make([]float32, side*side)
		for i := range v {
			r, c := float32(i/side)-(side-1)/2.0, float32(i%side)-(side-1)/2.0
			if v[i] = r; even {
				v[i] = r*r + c*c
			}
		}
		one := b.Op("Slice", []string{b.Op("Shape", []string{x}), b.Ints(0), b.Ints(1)})
		form := b.Op("Concat", []string{one, b.Ints(1, side, side)}, onnx.AttrInt("axis", 0))
		table := b.Op("Expand", []string{b.Const(tensor.FromFloat32(v, 1, 1, side, side)), form})
		h := b.Op("Concat", []string{x, table}, onnx.AttrInt("axis", 1))
		join := "join"
		n := b.Graph().GetNode()
		n[len(n)-1].Name = &join
		h = b.Op("Conv", []string{h, b.Const(tensor.FromFloat32(slices.Concat(symmetric, symmetric), 1, 2, 3, 3))},
			onnx.AttrInts("pads", 1, 1, 1, 1))
		h = b.Op("GlobalAveragePool", []string{b.Op("Relu", []string{h})})
		b.Output(h, tensor.Float32, "N", 1, 1, 1)
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		in, err := action.NewImage(g, space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, side, side}},
			action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		subject := &audit.Subject{
			Name: "net", Plan: audittest.Plan(t, in, action.Trivial{G: g}),
			N: inputs, Sample: audittest.Noise(inputs, side, side, 3), Seed: 1,
		}
		audittest.Graph(t, subject, m, audittest.Images(t, m, 1, decode.OutputSpec{Space: space.KindTensor}, 1, side,
			side))
		r := audittest.Audit(t, audittest.Fixture{Subject: subject}, lattice.Check, lint.Check)
		var held []string
		for _, c := range r.Clues() {
			if c.Holds && c.Check == lint.Check.Name && c.Name != audit.ClueLintAllows {
				held = append(held, string(c.Name)+": "+c.Text)
			}
		}
		switch got := strings.Join(held, "|"); {
		case even && got != "":
			t.Errorf("%s: clues %q", name, got)
		case !even && (!strings.Contains(got, string(audit.CluePositions)) || !strings.Contains(got, "table")):
			t.Errorf("%s: clues %q", name, got)
		}
	}
}

// A model that answers against its graph is told: here the predictor turns the picture before the network sees it.
func TestContradiction(t *testing.T) {
	d4, err := catalog.Dihedral(4)
	if err != nil {
		t.Fatal(err)
	}
	s := shape{symmetric, 9, 1, 1, false, false}
	m := network(t, s)
	in, err := action.NewImage(d4, space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, 9, 9}},
		action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	subject := &audit.Subject{
		Name: "net", Plan: audittest.Plan(t, in, action.Trivial{G: d4}), N: inputs,
		Sample: audittest.Noise(inputs, 9, 9, 3), Seed: 1,
	}
	audittest.Graph(t, subject, m, audittest.Images(t, m, 255, decode.OutputSpec{Space: space.KindTensor}, 1, 9, 9))
	subject.Predictor = audittest.Linear(make([]float64, 81)...)
	w := make([]float64, 81)
	for i := range w {
		w[i] = float64(i * i % 13)
	}
	subject.Predictor = audittest.Linear(w...)
	r := audittest.Audit(t, audittest.Fixture{Subject: subject}, lattice.Check, lint.Check)
	found := false
	for _, f := range r.Findings() {
		found = found || f.Category == audit.Explanation &&
			strings.Contains(f.Message, "contradict each other at 7 elements")
	}
	if !found {
		t.Errorf("not told: %+v", r.Findings())
	}
}

// What is no picture, and what is no graph, is said.
func TestNotTested(t *testing.T) {
	g := catalog.SO2()
	s := &audit.Subject{
		Name: "v", Predictor: audittest.Radius(0), Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g},
			audittest.Angles(4)...),
		N: inputs, Sample: audittest.Vectors(inputs, 3), Seed: 1,
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, lint.Check)
	if last := r.Results[len(r.Results)-1]; last.Status != audit.NotTested || !strings.Contains(last.Reason, "graph") {
		t.Errorf("without a graph: %s %s", last.Status, last.Reason)
	}
}

// A reduction over the samples of a batch is named, one over the picture is not.
func TestBatchwise(t *testing.T) {
	for _, axis := range []int64{0, 2} {
		b := onnx.NewBuilder(17)
		x := b.Input("x", tensor.Float32, "N", 1, 9, 9)
		mean := b.Op("ReduceMean", []string{b.Op("Relu", []string{x})}, onnx.AttrInts("axes", axis, 3))
		name := "mean"
		b.Graph().GetNode()[1].Name = &name
		b.Op("Sub", []string{x, mean})
		b.Graph().GetNode()[2].Output[0] = "y"
		b.Output("y", tensor.Float32, "N", 1, 9, 9)
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		g := catalog.SO2()
		in, err := action.NewImage(g, space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, 9, 9}},
			action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := &audit.Subject{
			Name: "net", Plan: audittest.Plan(t, in, in, audittest.Angles(4)...), N: inputs,
			Sample: audittest.Noise(inputs, 9, 9, 3), Seed: 1,
		}
		audittest.Graph(t, s, m, audittest.Images(t, m, 255, decode.OutputSpec{Space: space.KindImage}, 1, 9, 9))
		r := audittest.Audit(t, audittest.Fixture{Subject: s}, lint.Check)
		found := false
		for _, c := range r.Clues() {
			found = found || c.Name == audit.ClueTrainingNorm && c.Holds && c.Location == "mean"
		}
		if found != (axis == 0) {
			t.Errorf("axis %d: named %v", axis, found)
		}
	}
}
