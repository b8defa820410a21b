package interior_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"nero/data/space"
	"nero/model/decode"
	"nero/model/interior"
	"nero/model/onnx"
)

// ring is a graph whose nodes have neighbors on both sides.
func ring(r *rand.Rand, nodes, w int) *space.Record {
	l := &space.Links{Nodes: nodes}
	for i := range nodes {
		for _, step := range []int{1, nodes - 1} {
			l.From, l.To = append(l.From, int32(i)), append(l.To, int32((i+step)%nodes))
		}
	}
	return &space.Record{Names: []string{"nodes", "edges"}, Values: []space.Value{cloud(r, nodes, w), l}}
}

// atoms is a molecule of hydrogen, carbon, nitrogen and oxygen.
func atoms(r *rand.Rand, n int) *space.Record {
	s := space.NewRows(n, 1)
	for i := range s.Val {
		s.Val[i] = []float64{6, 1, 8, 7}[i%4]
	}
	p := cloud(r, n, 3)
	for i := range n { // far enough apart for chemistry
		p.Row(i)[0] += 1.3 * float64(i)
	}
	return &space.Record{Names: []string{"positions", "species"}, Values: []space.Value{p, s}}
}

// Every model of the studies of points, molecules, graphs and sequences is read by the codec, gives the same in float64
// as on the engine, and has derivatives that agree with each other and with differences.
func TestStudies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "studies", "*", "models", "*.onnx"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no models (%v)", err)
	}
	for _, file := range files {
		study, name := filepath.Base(filepath.Dir(filepath.Dir(file))), filepath.Base(file)
		switch study {
		case "clouds", "molecules", "graphs", "planted":
		default:
			continue
		}
		t.Run(study+"/"+name, func(t *testing.T) {
			t.Parallel()
			m, err := onnx.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(11, 12))
			sample, spec := specimen(t, m, r)
			double := inDouble(t, m, spec)
			c, err := decode.NewRecord(m.Signature(), spec)
			if err != nil {
				t.Fatal(err)
			}
			single, err := interior.New(m, c, opener(t), interior.Options{Batch: 4})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := single.Close(); err != nil {
					t.Error(err)
				}
			}()
			batch := []space.Value{sample(), sample(), sample()}
			want, err := double.Predict(t.Context(), batch)
			if err != nil {
				t.Fatal(err)
			}
			got, err := single.Predict(t.Context(), batch)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				agree(t, got[i], want[i])
			}
			d := copied(t, batch[0])
			for _, v := range numbersOf(d) {
				for i := range v {
					v[i] = r.NormFloat64()
				}
			}
			if rec, ok := d.(*space.Record); ok { // integers do not move
				for i, n := range rec.Names {
					if n == "species" {
						rec.Values[i] = space.NewRows(rec.Values[i].Dims()[0], 1)
					}
				}
			}
			g, err := double.Gradient(t.Context(), batch[:1], want[:1])
			if err != nil || len(g) != 1 {
				t.Fatal(err)
			}
			if _, ok := sample().(*space.Frames); ok {
				return
			}
			derivatives(t, double, batch[0], d, r)
		})
	}
}

// agree compares a prediction in float32 with one in float64.
func agree(t *testing.T, got, want space.Value) {
	t.Helper()
	a, b := flat(got), flat(want)
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%d numbers in float32, %d in float64", len(a), len(b))
	}
	scale := 0.0
	for _, x := range b {
		scale = max(scale, math.Abs(x))
	}
	for i := range a {
		if d := math.Abs(a[i] - b[i]); !(d <= 2e-3*scale) {
			t.Fatalf("number %d is %g in float32 and %g in float64", i, a[i], b[i])
		}
	}
}

// flat is all numbers of a prediction.
func flat(v space.Value) []float64 {
	switch v := v.(type) {
	case *space.Signal:
		return v.Val
	case *space.Frames:
		var all []float64
		for _, m := range v.Images {
			all = append(all, m.Pix...)
		}
		return all
	}
	var all []float64
	for _, x := range numbersOf(v) {
		all = append(all, x...)
	}
	return all
}

// specimen makes samples for a model by the names of its inputs, and says how they are fed.
func specimen(t *testing.T, m *onnx.Model, r *rand.Rand) (func() space.Value, decode.RecordSpec) {
	t.Helper()
	sig := m.Signature()
	var spec decode.RecordSpec
	for _, o := range sig.Outputs {
		f := decode.OutputField{Name: o.Name, Port: o.Name}
		switch o.Name {
		case "logits":
			f.Kind, f.Decode = space.KindScores, "raw"
		case "filtered":
			f.Kind = space.KindSignal
		case "fields":
			f.Kind = space.KindFrames
		}
		spec.Outputs = append(spec.Outputs, f)
	}
	record := func(f ...space.Spec) space.Spec { return space.Spec{Kind: space.KindRecord, Fields: f} }
	x := sig.Inputs[0]
	size := x.Sizes()
	switch x.Name {
	case "points":
		n := 64
		if size[1] > 0 {
			n = size[1]
		}
		if len(sig.Inputs) == 1 {
			spec.Sample = pointsField("points")
			return func() space.Value { return cloud(r, n, 3) }, spec
		}
		spec.Sample = record(pointsField("points"),
			space.Spec{
				Name: "gravity", Kind: space.KindRows, Type: space.TypeVectors, Per: space.PerSample,
				Shape: []int{1, 3},
			})
		return func() space.Value {
			return &space.Record{
				Names:  []string{"points", "gravity"},
				Values: []space.Value{cloud(r, n, 3), cloud(r, 1, 3)},
			}
		}, spec
	case "positions":
		n := 9
		spec.Sample = record(pointsField("positions"),
			space.Spec{Name: "species", Kind: space.KindRows, Type: space.TypeUnchanged, Shape: []int{-1, 1}})
		spec.Inputs = []decode.InputField{{Field: "positions"}, {Field: "species"}}
		if size[1] > 0 {
			spec.Inputs[0].Pad, spec.Inputs[1].Pad = size[1], size[1]
		}
		return func() space.Value { return atoms(r, n) }, spec
	case "nodes":
		if len(sig.Inputs) == 1 {
			spec.Sample = space.Spec{Kind: space.KindRows, Shape: []int{-1, size[2]}}
			n := size[1]
			if n < 0 {
				n = 7
			}
			return func() space.Value { return cloud(r, n, size[2]) }, spec
		}
		spec.Sample = record(space.Spec{Name: "nodes", Kind: space.KindRows, Shape: []int{-1, size[1]}},
			space.Spec{Name: "edges", Kind: space.KindLinks})
		n := 5
		return func() space.Value { n++; return ring(r, n, size[1]) }, spec
	case "matrix":
		spec.Sample = space.Spec{Kind: space.KindPairs, Shape: []int{12, 12, 1}}
		return func() space.Value { return &space.Pairs{N: 12, W: 1, Val: cloud(r, 12, 12).Val} }, spec
	case "signal":
		spec.Sample = space.Spec{Kind: space.KindSignal, Shape: []int{1, 128}}
		return func() space.Value { return &space.Signal{C: 1, T: 128, Val: cloud(r, 1, 128).Val} }, spec
	case "frames":
		spec.Sample = space.Spec{Kind: space.KindFrames, Shape: []int{8, 1, 16, 16}}
		return func() space.Value {
			f := &space.Frames{}
			for range 8 {
				f.Images = append(f.Images, &space.Image{C: 1, H: 16, W: 16, Pix: cloud(r, 16, 16).Val})
			}
			return f
		}, spec
	}
	t.Fatalf("nobody knows what to feed to %s", x)
	return nil, spec
}
