package layers_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/layers"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// sets is a subject of sets of two numbers each, of the given sizes in turn, and a network that adds up what it makes
// of them, the first of them more than once if it is faulty. With fields it answers with what it makes of each row as
// well, before that.
func sets(t *testing.T, faulty, fields bool, sizes ...int) *audit.Subject {
	t.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", "A", 2)
	name := func(name, value string) string {
		nodes := b.Graph().GetNode()
		nodes[len(nodes)-1].Name = &name
		return value
	}
	y := name("embed", b.Op("MatMul",
		[]string{x, b.Const(tensor.FromFloat32([]float32{1, -0.5, 0.3, 0.7, 0.2, -1}, 2, 3))}))
	y = name("act", b.Op("Tanh", []string{y}))
	rows := y
	if faulty { // a running sum depends on the order
		y = name("run", b.Op("CumSum", []string{y, b.Const(tensor.FromInt64([]int64{1}))}))
	}
	y = name("sum", b.Op("ReduceSum", []string{y, b.Ints(1)}, onnx.AttrInt("keepdims", 0)))
	if fields {
		b.Output(rows, tensor.Float32, "N", "A", 3)
	}
	b.Output(y, tensor.Float32, "N", 3)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, n := range sizes {
		most = max(most, n)
	}
	g, err := catalog.Symmetric(most)
	if err != nil {
		t.Fatal(err)
	}
	spec := space.Spec{Kind: space.KindRows, Shape: []int{-1, 2}, Type: space.TypeUnchanged, Per: space.PerNode}
	in, err := action.NewRows(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	outputs := []decode.OutputField{{Name: "sum", Port: y, Type: space.TypeUnchanged, Per: space.PerSample}}
	if fields {
		outputs = append([]decode.OutputField{{
			Name: "rows", Port: rows, Type: space.TypeUnchanged,
			Per: space.PerNode,
		}}, outputs...)
	}
	c, err := decode.NewRecord(m.Signature(), decode.RecordSpec{Sample: spec, Outputs: outputs})
	if err != nil {
		t.Fatal(err)
	}
	out, err := action.Rules().For(g, c.Out(), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	elements := []group.Element{g.Identity(), g.Identity(), g.Identity()}
	for k := range elements {
		elements[k][k], elements[k][k+1] = elements[k][k+1], elements[k][k]
	}
	s := &audit.Subject{
		Name: "sets", Plan: audittest.Plan(t, in, out, elements...), N: 24, Seed: 1,
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(3, uint64(i)))
			v := space.NewRows(sizes[i%len(sizes)], 2)
			for k := range v.Val {
				v.Val[k] = r.NormFloat64()
			}
			return dataset.Sample{ID: strconv.Itoa(i), Value: v}, nil
		},
	}
	audittest.Graph(t, s, m, c)
	return s
}

// TestRagged follows those of sets of different sizes that have one size; where no two have, it says so.
func TestRagged(t *testing.T) {
	for _, c := range []struct {
		faulty, fields bool
	}{{false, false}, {true, false}, {false, true}, {true, true}} {
		_, r := look(t, audittest.Fixture{Subject: sets(t, c.faulty, c.fields, 6, 4, 5, 4)}, sweep.Check)
		if c.faulty != (r.First >= 0) || c.faulty &&
			(r.Rows[r.First].Name != "run" || len(r.Rows[r.First].Together) > 0) ||
			(r.Field == "sum") != (c.fields && c.faulty) && c.faulty {
			show(t, r)
			t.Errorf("%+v: the first layer that breaks is %d, of field %q", c, r.First, r.Field)
		}
	}
	s := sets(t, false, false, 4, 5, 6)
	s.N = 3
	for _, c := range audittest.Audit(t, audittest.Fixture{Subject: s}, layers.Check).Results {
		if c.Check == layers.Check && (c.Status != audit.NotTested || !strings.Contains(c.Reason, "same form")) {
			t.Errorf("three sizes of three sets: %s: %s", c.Status, c.Reason)
		}
	}
}
