package layers_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/sweep"
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

// atoms are the points of a cloud of the fixtures.
const atoms = 5

// cloudNet builds networks of points of space, whose nodes have names.
type cloudNet struct {
	b *onnx.Builder
	r *rand.Rand
	x string
}

func newCloud(seed uint64) *cloudNet {
	n := &cloudNet{b: onnx.NewBuilder(17), r: rand.New(rand.NewPCG(seed, 1))}
	n.x = n.b.Input("x", tensor.Float32, "N", atoms, 3)
	return n
}

func (n *cloudNet) op(name, op string, in []string, attrs ...*onnxpb.AttributeProto) string {
	out := n.b.Op(op, in, attrs...)
	nodes := n.b.Graph().GetNode()
	nodes[len(nodes)-1].Name = &name
	return out
}

func (n *cloudNet) floats(v []float32, shape ...int) string {
	return n.b.Const(tensor.FromFloat32(v, shape...))
}

// weights are random numbers.
func (n *cloudNet) weights(shape ...int) string {
	v := make([]float32, tensor.Count(shape))
	for i := range v {
		v[i] = float32(n.r.NormFloat64() / 2)
	}
	return n.floats(v, shape...)
}

// apart are the differences of all points, [P, P, 3], and functions of their distances, [P, P, c], which are named
// after id.
func (n *cloudNet) apart(c int) (d, f string) {
	d = n.op("apart", "Sub", []string{
		n.op("to", "Unsqueeze", []string{n.x, n.b.Ints(2)}), n.op("from", "Unsqueeze", []string{n.x, n.b.Ints(1)}),
	})
	sq := n.op("square", "Mul", []string{d, d})
	dist := n.op("distance", "ReduceSum", []string{sq, n.b.Ints(3)}, onnx.AttrInt("keepdims", 1))
	h := n.op("radial1", "MatMul", []string{
		n.op("falls", "Exp", []string{n.op("minus", "Neg", []string{dist})}),
		n.weights(1, 8),
	})
	h = n.op("silu", "Mul", []string{h, n.op("gate", "Sigmoid", []string{h})})
	return d, n.op("radial2", "MatMul", []string{h, n.weights(8, c)})
}

// pooled ends in numbers of the whole cloud: a dense layer and a sum over the points.
func (n *cloudNet) pooled(t *testing.T, y string, wide int) *onnx.Model {
	t.Helper()
	y = n.op("head1", "MatMul", []string{y, n.weights(wide, 6)})
	y = n.op("bend", "Tanh", []string{y})
	y = n.op("head2", "MatMul", []string{y, n.weights(6, 2)})
	y = n.op("sum", "ReduceSum", []string{y, n.b.Ints(1)}, onnx.AttrInt("keepdims", 0))
	n.b.Output(y, tensor.Float32, "N", 2)
	m, err := n.b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// clouds is a subject of points of space under a group, with elements drawn at random.
func clouds(t *testing.T, name, groupName string, m *onnx.Model) *audit.Subject {
	t.Helper()
	g, err := catalog.Parse(groupName)
	if err != nil {
		t.Fatal(err)
	}
	spec := space.Spec{
		Name: "x", Kind: space.KindRows, Shape: []int{atoms, 3}, Type: space.TypePositions, Per: space.PerNode,
	}
	in, err := action.NewRows(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := decode.NewRecord(m.Signature(), decode.RecordSpec{Sample: spec, Outputs: []decode.OutputField{{
		Name: "y", Port: m.Signature().Outputs[0].Name, Type: space.TypeUnchanged, Per: space.PerSample,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := action.Rules().For(g, c.Out(), action.Options{Invariant: true})
	if err != nil {
		t.Fatal(err)
	}
	sampler, ok := g.(group.Sampler)
	if !ok {
		t.Fatalf("%s has no samples", groupName)
	}
	r := rand.New(rand.NewPCG(11, 3))
	var elements []group.Element
	for range 6 {
		elements = append(elements, sampler.Sample(r))
	}
	s := &audit.Subject{
		Name: name, Plan: audittest.Plan(t, in, out, elements...), N: 16, Seed: 1, InSpec: spec,
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(3, uint64(i)))
			v := space.NewRows(atoms, 3)
			for k := range v.Val {
				v.Val[k] = r.NormFloat64()
			}
			return dataset.Sample{ID: strconv.Itoa(i), Value: v}, nil
		},
	}
	audittest.Graph(t, s, m, c)
	return s
}

// vectors is a plain network of points as people write them: differences weighted by functions of distances, summed
// over neighbors to a few vectors of each point, a nonlinearity on them, their squares and inner products, a dense
// network of those. Broken names what is wrong with it, "" for nothing.
func vectors(t *testing.T, broken string) *onnx.Model {
	t.Helper()
	n := newCloud(4)
	d, f := n.apart(4)
	messages := n.op("messages", "Mul", []string{
		n.op("wide", "Unsqueeze", []string{d, n.b.Ints(3)}), n.op("tall", "Unsqueeze", []string{f, n.b.Ints(4)}),
	}) // [P, P, 4, 3]
	v := n.op("gather", "ReduceSum", []string{messages, n.b.Ints(2)}, onnx.AttrInt("keepdims", 0)) // [P, 4, 3]
	switch broken {
	case "relu":
		v = n.op("bad-relu", "Relu", []string{v})
	case "abs":
		v = n.op("bad-abs", "Abs", []string{v})
	case "tanh":
		v = n.op("bad-tanh", "Tanh", []string{v})
	case "clip":
		v = n.op("bad-clip", "Clip", []string{
			v, n.b.Const(tensor.FromFloat32([]float32{-0.05})),
			n.b.Const(tensor.FromFloat32([]float32{0.05})),
		})
	case "metric":
		v = n.op("bad-metric", "MatMul", []string{v, n.floats([]float32{1, 0, 0, 0, 1, 0, 0, 0, 1.3}, 3, 3)})
	case "bias":
		v = n.op("bad-bias", "Add", []string{v, n.floats([]float32{0.1, 0, -0.2}, 3)})
	default:
		size := n.op("norm", "ReduceL2", []string{v}, onnx.AttrInts("axes", 3), onnx.AttrInt("keepdims", 1))
		v = n.op("gated", "Mul", []string{v, n.op("gates", "Sigmoid", []string{size})})
	}
	mixed := n.op("mixed", "MatMul", []string{n.weights(4, 4), v}) // of the vectors with each other
	squares := n.op("squares", "Mul", []string{mixed, mixed})
	if broken == "root" { // the sum of absolute components is no norm
		squares = n.op("bad-root", "Sqrt", []string{squares})
	}
	norms := n.op("norms", "ReduceSum", []string{squares, n.b.Ints(3)}, onnx.AttrInt("keepdims", 0))
	inner := n.op("inner", "Einsum", []string{v, mixed}, onnx.AttrString("equation", "npcx,npcx->npc"))
	return n.pooled(t, n.op("features", "Concat", []string{norms, inner}, onnx.AttrInt("axis", 2)), 8)
}

// irreps is a network that holds its features as e3nn does, in one row of four scalars and four vectors of each point:
// cut into irreps, mixed within each, gated, and joined again. Broken lets a nonlinearity see all of the row.
func irreps(t *testing.T, broken string) *onnx.Model {
	t.Helper()
	n := newCloud(5)
	d, f := n.apart(8)
	scalars := n.op("scalars", "ReduceSum", []string{
		n.op("weights0", "Slice", []string{f, n.b.Ints(0), n.b.Ints(4), n.b.Ints(3)}), n.b.Ints(2),
	}, onnx.AttrInt("keepdims", 0)) // [P, 4]
	weights := n.op("weights1", "Slice", []string{f, n.b.Ints(4), n.b.Ints(8), n.b.Ints(3)})
	v := n.op("gather", "ReduceSum", []string{n.op("messages", "Mul", []string{
		n.op("wide", "Unsqueeze", []string{d, n.b.Ints(3)}), n.op("tall", "Unsqueeze", []string{weights, n.b.Ints(4)}),
	}), n.b.Ints(2)}, onnx.AttrInt("keepdims", 0)) // [P, 4, 3]
	row := n.op("row", "Concat", []string{
		scalars, n.op("flat", "Reshape", []string{v, n.b.Ints(0, 0, 12)}),
	}, onnx.AttrInt("axis", 2)) // [P, 4x0e+4x1o]
	if broken == "row" {
		row = n.op("bad-tanh", "Tanh", []string{row})
	}
	s := n.op("cut0", "Slice", []string{row, n.b.Ints(0), n.b.Ints(4), n.b.Ints(2)})
	u := n.op("cut1", "Slice", []string{row, n.b.Ints(4), n.b.Ints(16), n.b.Ints(2)})
	u = n.op("vectors", "Reshape", []string{u, n.b.Ints(0, 0, 4, 3)})
	u = n.op("linear1", "MatMul", []string{n.weights(4, 4), u})
	u = n.op("gated", "Mul", []string{u, n.op("gates", "Unsqueeze", []string{n.op("sigmoid", "Sigmoid", []string{
		n.op("linear0", "MatMul", []string{s, n.weights(4, 4)}),
	}), n.b.Ints(3)})})
	row = n.op("joined", "Concat", []string{
		s, n.op("flat2", "Reshape", []string{u, n.b.Ints(0, 0, 12)}),
	}, onnx.AttrInt("axis", 2))
	if broken == "mix" { // a dense layer that takes scalars and components together
		row = n.op("bad-linear", "MatMul", []string{row, n.weights(16, 16)})
	}
	last := n.op("vectors2", "Reshape", []string{
		n.op("cut2", "Slice", []string{row, n.b.Ints(4), n.b.Ints(16), n.b.Ints(2)}), n.b.Ints(0, 0, 4, 3),
	})
	norms := n.op("norms", "ReduceSumSquare", []string{last}, onnx.AttrInts("axes", 3), onnx.AttrInt("keepdims", 0))
	return n.pooled(t, n.op("features", "Concat", []string{
		n.op("cut3", "Slice", []string{row, n.b.Ints(0), n.b.Ints(4), n.b.Ints(2)}), norms,
	}, onnx.AttrInt("axis", 2)), 8)
}

// products is a network after MACE: radial functions times spherical harmonics of degree 1 and 2, summed over neighbors
// to one basis, products of it that are coupled to scalars. Broken squares components where they should be coupled, or
// has a wrong number in a harmonic.
func products(t *testing.T, broken string) *onnx.Model {
	t.Helper()
	n := newCloud(6)
	d, f := n.apart(3)
	part := func(name string, k int64) string {
		return n.op(name, "Slice", []string{d, n.b.Ints(k), n.b.Ints(k + 1), n.b.Ints(3)})
	}
	x, y, z := part("dx", 0), part("dy", 1), part("dz", 2)
	mul := func(name, a, b string, by float64) string {
		p := n.op(name+"-product", "Mul", []string{a, b})
		return n.op(name, "Mul", []string{p, n.floats([]float32{float32(by)})})
	}
	const r3 = 1.7320508075688772
	by := 1.0
	if broken == "harmonic" {
		by = 1.4
	}
	// The harmonics of degree 2 in the order and basis of e3nn: xz, xy, y²-(x²+z²)/2, yz, (z²-x²)/2.
	xx, yy, zz := mul("xx", x, x, 1), mul("yy", y, y, 1), mul("zz", z, z, 1)
	sum := n.op("ring", "Mul", []string{n.op("around", "Add", []string{xx, zz}), n.floats([]float32{0.5})})
	two := []string{
		mul("xz", x, z, r3), mul("xy", x, y, r3*by), n.op("axial", "Sub", []string{yy, sum}), mul("yz", y, z, r3),
		n.op("planar", "Mul", []string{n.op("across", "Sub", []string{zz, xx}), n.floats([]float32{r3 / 2})}),
	}
	if broken == "foreign" { // nothing is broken by another order, which all layers have
		two[0], two[2], two[3] = two[2], two[3], two[0]
	}
	y2 := n.op("harmonics", "Concat", two, onnx.AttrInt("axis", 3))
	basis := n.op("edges", "Concat", []string{d, y2}, onnx.AttrInt("axis", 3)) // [P, P, 3+5]
	a := n.op("basis", "Einsum", []string{basis, f}, onnx.AttrString("equation", "npqm,npqc->npcm"))
	cut := func(name string, from, to int64) string {
		return n.op(name, "Slice", []string{a, n.b.Ints(from), n.b.Ints(to), n.b.Ints(3)})
	}
	a1, a2 := cut("a1", 0, 3), cut("a2", 3, 8)
	b1 := n.op("b1", "ReduceSum", []string{n.op("a1a1", "Mul", []string{a1, a1}), n.b.Ints(3)},
		onnx.AttrInt("keepdims", 0))
	sq := n.op("a2a2", "Pow", []string{a2, n.floats([]float32{2})})
	if broken == "product" {
		sq = n.op("bad-root", "Sqrt", []string{sq})
	}
	b2 := n.op("b2", "ReduceSum", []string{sq, n.b.Ints(3)}, onnx.AttrInt("keepdims", 0))
	if strings.HasPrefix(broken, "first") { // a2 as a matrix times a1, of which the coefficients take a1 in first
		const h = r3 / 2
		c := make([]float32, 3*15) // [i, j, k]: row i of the matrix of component j of a2
		for _, v := range [][4]float64{
			{0, 0, 2, h},
			{2, 0, 0, h},
			{0, 1, 1, h},
			{1, 1, 0, h},
			{0, 2, 0, -0.5},
			{1, 2, 1, 1},
			{2, 2, 2, -0.5},
			{1, 3, 2, h},
			{2, 3, 1, h},
			{0, 4, 0, -h},
			{2, 4, 2, h},
		} {
			c[int(v[0])*15+int(v[1])*3+int(v[2])] = float32(v[3])
		}
		if broken == "first-sign" {
			c[2] = -h
		}
		half := n.op("half", "MatMul", []string{a1, n.floats(c, 3, 15)})
		half = n.op("open", "Reshape", []string{half, n.b.Ints(0, 0, 0, 5, 3)})
		v := n.op("coupled", "ReduceSum", []string{n.op("terms", "Mul", []string{
			n.op("tall", "Unsqueeze", []string{a2, n.b.Ints(4)}), half,
		}), n.b.Ints(3)}, onnx.AttrInt("keepdims", 0))
		b1 = n.op("b12", "ReduceSum", []string{n.op("va1", "Mul", []string{v, a1}), n.b.Ints(3)},
			onnx.AttrInt("keepdims", 0))
	}
	return n.pooled(t, n.op("features", "Concat", []string{b1, b2}, onnx.AttrInt("axis", 2)), 6)
}

// Networks of points in the three styles that people write: what breaks is named by place, and squares, inner products,
// components that are taken apart and joined again are not.
func TestNetworksOfPoints(t *testing.T) {
	styles := map[string]struct {
		build  func(t *testing.T, broken string) *onnx.Model
		places map[string]string
	}{
		"plain": {vectors, map[string]string{
			"relu": "bad-relu", "abs": "bad-abs", "tanh": "bad-tanh", "clip": "bad-clip", "metric": "bad-metric",
			"bias": "bad-bias", "root": "bad-root",
		}},
		"e3nn": {irreps, map[string]string{"row": "bad-tanh", "mix": "bad-linear"}},
		"MACE": {products, map[string]string{"harmonic": "", "product": "bad-root"}},
	}
	for name, s := range styles {
		for _, g := range []string{"SO(3)", "E(3) x S(5)"} {
			t.Run(name+" "+g, func(t *testing.T) {
				found, clean := look(t, audittest.Fixture{Subject: clouds(t, name, g, s.build(t, ""))}, sweep.Check)
				if clean.First >= 0 || len(found.Findings) > 0 {
					show(t, clean)
					t.Errorf("the clean network: %+v", found.Findings)
				}
				for broken, place := range s.places {
					found, r := look(t, audittest.Fixture{Subject: clouds(t, name, g, s.build(t, broken))}, sweep.Check)
					if len(found.Findings) != 1 {
						show(t, r)
						t.Errorf("%s: findings %+v", broken, found.Findings)
						continue
					}
					if f := found.Findings[0]; place != "" && f.Location != place {
						show(t, r)
						t.Errorf("%s: %s", broken, f.Message)
					} else if place == "" && !strings.Contains(f.Message, "cannot be told apart") {
						t.Errorf("%s: %s", broken, f.Message)
					}
				}
			})
		}
	}
}

// A product is tested by its factors one by one: of a network that knows atoms by their number the permutations are
// what breaks, of one with a rectifier on components the motions, each at its place.
func TestFactors(t *testing.T) {
	numbered := func(broken bool) *onnx.Model {
		n := newCloud(7)
		_, f := n.apart(4)
		s := n.op("gather", "ReduceSum", []string{f, n.b.Ints(2)}, onnx.AttrInt("keepdims", 0)) // [P, 4]
		if broken {
			s = n.op("bad-number", "Mul", []string{s, n.weights(atoms, 1)})
		}
		return n.pooled(t, s, 4)
	}
	for _, c := range []struct {
		name, place, factor, other string
		model                      *onnx.Model
	}{
		{"numbered", "bad-number", "S(5)", "E(3)", numbered(true)},
		{"rectified", "bad-relu", "E(3)", "S(5)", vectors(t, "relu")},
		{"even", "", "", "", numbered(false)},
	} {
		found, r := look(t, audittest.Fixture{Subject: clouds(t, c.name, "E(3) x S(5)", c.model)}, sweep.Check)
		if c.place == "" {
			if len(found.Findings) > 0 || r.First >= 0 {
				show(t, r)
				t.Errorf("%s: findings %+v", c.name, found.Findings)
			}
			continue
		}
		if len(found.Findings) != 1 || found.Findings[0].Location != c.place ||
			!strings.Contains(found.Findings[0].Message, "under "+c.factor+" alone") {
			show(t, r)
			t.Errorf("%s: findings %+v", c.name, found.Findings)
		}
		if !strings.Contains(r.NoFlows, "6 generators") {
			t.Errorf("%s: derivatives: %s", c.name, r.NoFlows)
		}
		for _, x := range found.Exhibits {
			if x.Name == "layers" && (!strings.Contains(x.Note, "under "+c.factor+
				" alone the symmetry is first lost in "+c.place) ||
				!strings.Contains(x.Note, "under "+c.other+" alone no layer breaks")) {
				t.Errorf("%s: %s", c.name, x.Note)
			}
		}
	}
}

// Squared distances grow with magnifications, each by a factor of its own: they are followed, and a number that is
// added to one of them is named, not the sum over components that makes them.
func TestMagnified(t *testing.T) {
	ratio := func(broken bool) *onnx.Model {
		n := newCloud(5)
		d := n.op("apart", "Sub", []string{
			n.op("to", "Unsqueeze", []string{n.x, n.b.Ints(2)}), n.op("from", "Unsqueeze", []string{n.x, n.b.Ints(1)}),
		})
		far := n.op("far", "ReduceSum", []string{n.op("square", "Mul", []string{d, d}), n.b.Ints(3)},
			onnx.AttrInt("keepdims", 0))
		size := n.op("size", "ReduceMean", []string{far}, onnx.AttrInts("axes", 1, 2), onnx.AttrInt("keepdims", 1))
		if broken {
			size = n.op("bad-offset", "Add", []string{size, n.floats([]float32{0.5})})
		}
		return n.pooled(t, n.op("ratio", "Div", []string{far, size}), atoms)
	}
	for _, broken := range []bool{false, true} {
		found, r := look(t, audittest.Fixture{Subject: clouds(t, "ratio", "Scale(3)", ratio(broken))}, sweep.Check)
		for _, w := range r.Rows {
			if w.Name == "far" && !strings.Contains(w.Rep, "magnified") {
				t.Errorf("squared distances are taken for %q", w.Rep)
			}
		}
		if !broken && (r.First >= 0 || len(found.Findings) > 0) {
			show(t, r)
			t.Errorf("the clean network: %+v", found.Findings)
		}
		if broken && (len(found.Findings) != 1 || found.Findings[0].Location != "bad-offset") {
			show(t, r)
			t.Errorf("the broken network: %+v", found.Findings)
		}
	}
}
