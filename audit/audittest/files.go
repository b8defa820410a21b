package audittest

import (
	"os"

	"nero/audit"
	"nero/data/dataset"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// Files is a subject that lies in files: a graph, samples, and what is claimed of them.
type Files struct {
	// path of the ONNX file
	Model string
	Data  dataset.Spec
	// of the fields of samples, by name; those that are not named keep their own
	Types   map[string]string
	Inputs  []decode.InputField
	Outputs []decode.OutputField
	Group   string
	Orbit   orbit.Spec
	// samples, from the first on; 0 for all
	N int
	// Circular moves pictures around the border, on both sides.
	Circular bool
}

// Open makes the subject, evaluated in float32 node by node.
func Open(t TB, f Files) *audit.Subject {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", f.Model, err)
		}
	}
	b, err := os.ReadFile(f.Model)
	fail(err)
	m, err := onnx.Load(b)
	fail(err)
	ds, err := dataset.Open(f.Data)
	fail(err)
	spec := ds.Info().Space
	if x, ok := f.Types[spec.Name]; ok {
		spec.Type = x
	}
	for i, x := range spec.Fields {
		if y, ok := f.Types[x.Name]; ok {
			spec.Fields[i].Type = y
		}
	}
	c, err := decode.NewRecord(m.Signature(), decode.RecordSpec{Sample: spec, Inputs: f.Inputs, Outputs: f.Outputs})
	fail(err)
	g, err := catalog.Parse(f.Group)
	fail(err)
	o := action.Options{}
	if f.Circular {
		o.Border = action.Circular
	}
	in, err := action.Rules().For(g, spec, o)
	fail(err)
	o.Invariant = true
	out, err := action.Rules().For(g, c.Out(), o)
	fail(err)
	plan, err := orbit.NewPlan(g, f.Orbit, in, out, 1)
	fail(err)
	n := ds.Len()
	if f.N > 0 {
		n = min(n, f.N)
	}
	s := &audit.Subject{Name: f.Model, Plan: plan, N: n, Seed: 3, InSpec: spec, OutSpec: c.Out()}
	s.Sample = func(i int) (dataset.Sample, error) { return ds.Sample(i) }
	Graph(t, s, m, c)
	return s
}
