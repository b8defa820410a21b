package decode_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
)

// model is a signature of named ports.
func model(inputs, outputs []onnx.Port) onnx.Signature {
	return onnx.Signature{Inputs: inputs, Outputs: outputs}
}

func ports(p ...onnx.Port) []onnx.Port { return p }

// counting makes rows of 0, 1, 2, ...
func counting(n, w int) *space.Rows {
	r := space.NewRows(n, w)
	for i := range r.Val {
		r.Val[i] = float64(i)
	}
	return r
}

func rowsSpec(name, typ string, n, w int) space.Spec {
	return space.Spec{Name: name, Kind: space.KindRows, Type: typ, Shape: []int{n, w}, Per: space.PerNode}
}

// molecule is the record of two molecules of three atoms: what the codec of a network of energies and forces is fed
// with.
func molecule(at float64) *space.Record {
	p := counting(3, 3)
	for i := range p.Val {
		p.Val[i] += at
	}
	return &space.Record{
		Names:  []string{"positions", "species"},
		Values: []space.Value{p, &space.Rows{N: 3, W: 1, Val: []float64{8, 1, 1}}},
	}
}

func moleculeSpec() space.Spec {
	return space.Spec{Kind: space.KindRecord, Fields: []space.Spec{
		rowsSpec("positions", space.TypePositions, -1, 3),
		rowsSpec("species", space.TypeUnchanged, -1, 1),
	}}
}

func moleculeModel(atoms int) onnx.Signature {
	return model(ports(out("positions", tensor.Float32, -1, atoms, 3), out("species", tensor.Int64, -1, atoms)),
		ports(out("energy", tensor.Float32, -1, 1), out("forces", tensor.Float32, -1, atoms, 3)))
}

func moleculeFields(pad int) decode.RecordSpec {
	return decode.RecordSpec{
		Sample: moleculeSpec(),
		Inputs: []decode.InputField{{Field: "positions", Pad: pad}, {Field: "species", Pad: pad}},
		Outputs: []decode.OutputField{
			{Name: "energy", Type: space.TypeUnchanged, Unit: "eV"},
			{Name: "forces", Type: space.TypeVectors},
		},
	}
}

func record(tb testing.TB, s onnx.Signature, spec decode.RecordSpec) decode.Codec {
	tb.Helper()
	c, err := decode.NewRecord(s, spec)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// as is v as the type that it must have, nil if it has another, whose use fails the test.
func as[T space.Value](v space.Value) T {
	x, _ := v.(T)
	return x
}

func TestRecordLayouts(t *testing.T) {
	y := ports(out("y", tensor.Float32, -1, 4))
	links := &space.Links{Nodes: 3, From: []int32{0, 1}, To: []int32{1, 2}}
	pairs := &space.Pairs{N: 2, W: 1, Val: []float64{0, 1, 2, 3}}
	signal := &space.Signal{C: 2, T: 3, Val: []float64{0, 1, 2, 3, 4, 5}}
	mono := &space.Signal{C: 1, T: 3, Val: []float64{0, 1, 2}}
	for name, c := range map[string]struct {
		x onnx.Port
		v space.Value
		// of rows in the spec, 0 for unknown
		w      int
		shape  []int
		want   []float64
		single bool
		note   string
	}{
		"points": {
			x: out("x", tensor.Float32, -1, 2, 3), v: counting(2, 3), w: 3, shape: []int{1, 2, 3},
			want: []float64{0, 1, 2, 3, 4, 5},
		},
		"points transposed": {
			x: out("x", tensor.Float32, -1, 3, 2), v: counting(2, 3), w: 3, shape: []int{1, 3, 2},
			want: []float64{0, 3, 1, 4, 2, 5}, note: "transposed",
		},
		"free transposed": {
			x: out("x", tensor.Float32, -1, 3, -1), v: counting(2, 3), w: 3, shape: []int{1, 3, 2},
			want: []float64{0, 3, 1, 4, 2, 5}, note: "transposed",
		},
		"flat": {
			x: out("x", tensor.Float32, -1, 6), v: counting(2, 3), w: 3, shape: []int{1, 6},
			want: []float64{0, 1, 2, 3, 4, 5}, note: "one after the other",
		},
		"without samples": {
			x: out("x", tensor.Float64, -1, 3), v: counting(2, 3), w: 3, shape: []int{2, 3},
			want: []float64{0, 1, 2, 3, 4, 5}, single: true, note: "one sample at a time",
		},
		"one number": {
			x: out("x", tensor.Int64, -1, 2), v: counting(2, 1), w: 1, shape: []int{1, 2},
			want: []float64{0, 1},
		},
		"one row": {
			x: out("x", tensor.Float16, -1, 3), v: counting(1, 3), w: 3, shape: []int{1, 3},
			want: []float64{0, 1, 2},
		},
		"squares": {
			x: out("x", tensor.Float32, -1, -1, 2, 2), v: counting(2, 4), w: 4,
			shape: []int{1, 2, 2, 2}, want: []float64{0, 1, 2, 3, 4, 5, 6, 7},
		},
		"fixed batch": {
			x: out("x", tensor.Float32, 2, 2, 3), v: counting(2, 3), w: 3, shape: []int{2, 2, 3},
			want: []float64{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
		},
		"links": {
			x: out("x", tensor.Int64, 2, -1), v: links, shape: []int{2, 2},
			want: []float64{0, 1, 1, 2}, single: true, note: "one sample at a time",
		},
		"links in rows": {
			x: out("x", tensor.Int32, -1, 2), v: links, shape: []int{2, 2},
			want: []float64{0, 1, 1, 2}, single: true, note: "transposed",
		},
		"long links in rows": {
			x: out("x", tensor.Int64, -1, 2), v: links, shape: []int{2, 2},
			want: []float64{0, 1, 1, 2}, single: true, note: "transposed",
		},
		"batched links": {
			x: out("x", tensor.Int64, -1, 2, -1), v: links, shape: []int{1, 2, 2},
			want: []float64{0, 1, 1, 2},
		},
		"pairs": {
			x: out("x", tensor.Float32, -1, 2, 2), v: pairs, shape: []int{1, 2, 2},
			want: []float64{0, 1, 2, 3},
		},
		"pairs with numbers": {
			x: out("x", tensor.Float32, -1, -1, -1, 1), v: pairs, shape: []int{1, 2, 2, 1},
			want: []float64{0, 1, 2, 3},
		},
		"signal": {
			x: out("x", tensor.Float32, -1, 2, -1), v: signal, shape: []int{1, 2, 3},
			want: []float64{0, 1, 2, 3, 4, 5},
		},
		"signal by time": {
			x: out("x", tensor.Float32, -1, -1, 2), v: signal, shape: []int{1, 3, 2},
			want: []float64{0, 3, 1, 4, 2, 5}, note: "transposed",
		},
		"mono": {
			x: out("x", tensor.Float32, -1, -1), v: mono, shape: []int{1, 3},
			want: []float64{0, 1, 2},
		},
		"tensor": {
			x: out("x", tensor.Float32, -1, 2, 2),
			v: &space.Tensor{Shape: []int{2, 2}, Val: []float64{0, 1, 2, 3}}, shape: []int{1, 2, 2},
			want: []float64{0, 1, 2, 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := space.Spec{Kind: c.v.Kind()}
			switch v := c.v.(type) {
			case *space.Rows:
				spec = rowsSpec("", space.TypePositions, v.N, c.w)
			case *space.Pairs:
				spec.Shape = []int{-1, -1, v.W}
			case *space.Signal:
				spec.Shape = []int{v.C, -1}
			}
			outputs := y
			if c.single {
				outputs = ports(out("y", tensor.Float32, 4))
			}
			k := record(t, model(ports(c.x), outputs), decode.RecordSpec{
				Sample: spec, Inputs: []decode.InputField{{}},
				Outputs: []decode.OutputField{{}},
			})
			got, err := k.Encode([]space.Value{c.v}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || got[0].Name != "x" || got[0].DType != c.x.DType ||
				!slices.Equal(got[0].Shape, c.shape) || !slices.Equal(floats(t, got[0]), c.want) {
				t.Fatalf("fed %s %v %v, want %v %v", got[0].DType, got[0].Shape, floats(t, got[0]), c.shape, c.want)
			}
			if decode.BatchAxis(k) == c.single || c.single && decode.BatchLimit(k) != 1 {
				t.Errorf("batch axis %v, limit %d", decode.BatchAxis(k), decode.BatchLimit(k))
			}
			notes := strings.Join(decode.Notes(k), "; ")
			if (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want one with %q", notes, c.note)
			}
			again, err := k.Encode([]space.Value{c.v}, got)
			if err != nil || &again[0].Raw[0] != &got[0].Raw[0] {
				t.Errorf("the buffer is not used again (%v)", err)
			}
		})
	}
}

func TestRecordOfMolecules(t *testing.T) {
	c := record(t, moleculeModel(-1), moleculeFields(0))
	if in := c.In(); in.Kind != space.KindRecord || len(in.Fields) != 2 || in.Fields[0].Name != "positions" ||
		!slices.Equal(in.Fields[0].Shape, []int{-1, 3}) ||
		!slices.Equal(in.Fields[1].Shape, []int{-1, 1}) {
		t.Errorf("in %+v", in)
	}
	o := c.Out()
	if o.Kind != space.KindRecord || len(o.Fields) != 2 || o.Fields[0].Unit != "eV" ||
		o.Fields[0].Per != space.PerSample || o.Fields[1].Per != space.PerNode ||
		o.Fields[1].Type != space.TypeVectors {
		t.Errorf("out %+v", o)
	}
	x, err := c.Encode([]space.Value{molecule(0), molecule(10)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x[0].Shape, []int{2, 3, 3}) || !slices.Equal(x[1].Shape, []int{2, 3}) ||
		x[1].DType != tensor.Int64 || !slices.Equal(floats(t, x[1]), []float64{8, 1, 1, 8, 1, 1}) {
		t.Fatalf("%v", x)
	}
	forces := counting(6, 3)
	y, err := c.Decode([]tensor.Named{named("forces", forces.Val, 2, 3, 3), named("energy", []float64{-1, -2}, 2, 1)},
		2)
	if err != nil {
		t.Fatal(err)
	}
	r := as[*space.Record](y[1])
	e, f := as[*space.Rows](r.Field("energy")), as[*space.Rows](r.Field("forces"))
	if e.N != 1 || e.W != 1 || e.Val[0] != -2 || f.N != 3 || f.W != 3 || !slices.Equal(f.Val, forces.Val[9:]) {
		t.Errorf("energy %+v, forces %+v", e, f)
	}
	if got := decode.Outputs(c); !slices.Equal(got, []string{"energy", "forces"}) {
		t.Errorf("outputs %v", got)
	}
	if got := decode.Moving(c, nil); !slices.Equal(got, []string{"positions"}) {
		t.Errorf("moving %v", got)
	}
	if got := decode.Whole(c); !slices.Equal(got, []string{"species"}) {
		t.Errorf("whole numbers in %v", got)
	}
	raws, err := decode.Raws(c, y)
	if err != nil || !slices.Equal(raws[1].Shape, []int{2, 3, 3}) || !slices.Equal(floats(t, raws[1]), forces.Val) ||
		!slices.Equal(raws[0].Shape, []int{2, 1}) {
		t.Errorf("raws %v, %v", raws, err)
	}
	if _, err := decode.Raw(c, y); err == nil {
		t.Error("one tensor for two outputs")
	}
	one, err := decode.Select(c, "forces")
	if err != nil {
		t.Fatal(err)
	}
	v, err := one.Decode([]tensor.Named{named("forces", forces.Val, 2, 3, 3)}, 2)
	if err != nil || as[*space.Rows](v[0]).W != 3 || one.Out().Kind != space.KindRows {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := decode.Select(c, "stress"); err == nil || !strings.Contains(err.Error(), "energy, forces") {
		t.Errorf("error %v", err)
	}
}

// Padding is zeros on the way in and is cut off on the way out, whatever the sizes in a batch.
func TestRecordPads(t *testing.T) {
	c := record(t, moleculeModel(5), moleculeFields(5))
	small := &space.Record{
		Names:  []string{"positions", "species"},
		Values: []space.Value{counting(2, 3), &space.Rows{N: 2, W: 1, Val: []float64{1, 1}}},
	}
	batch := []space.Value{molecule(0), small}
	if !decode.Together(c, batch[0], small) || decode.Together(c, small, &space.Record{}) {
		t.Error("padded molecules of different sizes are one batch, and nothing else is")
	}
	if free := record(t, moleculeModel(-1), moleculeFields(0)); decode.Together(free, batch[0], small) {
		t.Error("molecules of different sizes share a batch without padding")
	}
	x, err := c.Encode(batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x[1].Shape, []int{2, 5}) ||
		!slices.Equal(floats(t, x[1]), []float64{8, 1, 1, 0, 0, 1, 1, 0, 0, 0}) {
		t.Errorf("species %v %v", x[1].Shape, floats(t, x[1]))
	}
	outs := []tensor.Named{named("energy", []float64{1, 2}, 2, 1), named("forces", counting(10, 3).Val, 2, 5, 3)}
	if _, err := c.Decode(outs, 2); err == nil {
		t.Error("decoded padding without the samples")
	}
	y, err := decode.DecodeFor(c, outs, batch)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{3, 2} {
		f := as[*space.Rows](as[*space.Record](y[i]).Field("forces"))
		if f.N != n || len(f.Val) != 3*n || f.Val[0] != float64(15*i) {
			t.Errorf("sample %d: %+v", i, f)
		}
	}
	raws, err := decode.Raws(c, y[:1])
	if err != nil || !slices.Equal(raws[1].Shape, []int{1, 5, 3}) || floats(t, raws[1])[8] != 8 ||
		floats(t, raws[1])[9] != 0 {
		t.Errorf("raws %v, %v", raws, err)
	}
	big := &space.Record{Names: small.Names, Values: []space.Value{counting(6, 3), counting(6, 1)}}
	if _, err := c.Encode([]space.Value{big}, nil); err == nil || !strings.Contains(err.Error(), "pad is 5") {
		t.Errorf("error %v", err)
	}
	grads, err := decode.Adjoint(c, []tensor.Named{named("positions", counting(5, 3).Val, 1, 5, 3)}, batch[1:])
	if err != nil {
		t.Fatal(err)
	}
	g := as[*space.Record](grads[0])
	if p := as[*space.Rows](g.Field("positions")); !slices.Equal(p.Val, counting(2, 3).Val) ||
		as[*space.Rows](g.Field("species")).Val[0] != 0 {
		t.Errorf("gradient %v", p.Val)
	}
}

func TestRecordConstants(t *testing.T) {
	s := model(ports(out("points", tensor.Float32, -1, -1, 3), out("up", tensor.Float32, -1, 3),
		out("rate", tensor.Int64)), ports(out("y", tensor.Float32, -1, 4)))
	spec := decode.RecordSpec{
		Sample: rowsSpec("points", space.TypePositions, 2, 3),
		Inputs: []decode.InputField{
			{Port: "points"},
			{Port: "up", Value: []float64{0, 0, 1}},
			{Port: "rate", Value: []float64{16000}},
		},
	}
	c := record(t, s, spec)
	x, err := c.Encode([]space.Value{counting(2, 3), counting(2, 3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x[1].Shape, []int{2, 3}) || !slices.Equal(floats(t, x[1]), []float64{0, 0, 1, 0, 0, 1}) ||
		len(x[2].Shape) != 0 || floats(t, x[2])[0] != 16000 {
		t.Errorf("constants %v %v", x[1], x[2])
	}
	for _, c := range []struct {
		in   decode.InputField
		want string
	}{
		{decode.InputField{Port: "rate", Value: []float64{0.5}}, "no int64"},
		{decode.InputField{Port: "rate", Value: []float64{1, 2}}, "wants 1"},
		{decode.InputField{Port: "rate", Value: []float64{math.NaN()}}, "finite"},
	} {
		bad := spec
		bad.Inputs = append(slices.Clone(spec.Inputs[:2]), c.in)
		if _, err := decode.NewRecord(s, bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	two := model(ports(out("points", tensor.Float32, -1, -1, 3), out("gravity", tensor.Float32, -1, 3)),
		ports(out("y", tensor.Float32, -1, 4)))
	points := rowsSpec("points", space.TypePositions, 64, 3)
	both := space.Spec{
		Kind:   space.KindRecord,
		Fields: []space.Spec{points, rowsSpec("gravity", space.TypeVectors, 1, 3)},
	}
	cloud := func(shape ...int) onnx.Signature {
		return model(ports(out("x", tensor.Float32, shape...)), ports(out("y", tensor.Float32, -1, 4)))
	}
	for name, c := range map[string]struct {
		s    onnx.Signature
		spec decode.RecordSpec
		want []string
	}{
		"a port without a field": {
			two,
			decode.RecordSpec{Sample: both, Inputs: []decode.InputField{{Field: "points"}}},
			[]string{"gravity float32[", "input.fields", "{name: gravity", "points, gravity"},
		},
		"a plain cloud": {two, decode.RecordSpec{Sample: points}, []string{"points float32["}},
		"an unknown port": {
			two,
			decode.RecordSpec{Sample: both, Inputs: []decode.InputField{{Field: "points", Port: "xyz"}}},
			[]string{`"xyz"`, "points, gravity"},
		},
		"an unknown field": {
			two,
			decode.RecordSpec{
				Sample: both,
				Inputs: []decode.InputField{{Field: "points"}, {Field: "up", Port: "gravity"}},
			},
			[]string{`"up"`, "points, gravity"},
		},
		"a port twice": {
			two,
			decode.RecordSpec{
				Sample: both,
				Inputs: []decode.InputField{{Field: "points"}, {Field: "gravity", Port: "points"}},
			},
			[]string{"already"},
		},
		"another kind": {
			two,
			decode.RecordSpec{Sample: both, Inputs: []decode.InputField{
				{Field: "points", Kind: space.KindSignal},
				{Field: "gravity"},
			}},
			[]string{"rows in the data"},
		},
		"more points": {
			cloud(-1, 1024, 3),
			decode.RecordSpec{Sample: points},
			[]string{"64 rows of 3 numbers", "pad: 1024", "data.cloud.points: 1024"},
		},
		"more columns": {
			cloud(-1, 64, 6),
			decode.RecordSpec{Sample: points},
			[]string{"64 rows of 3 numbers"},
		},
		"five axes": {cloud(-1, 64, 3, 1, 1), decode.RecordSpec{Sample: points}, []string{"64 rows"}},
		"pad of a signal": {cloud(-1, 64), decode.RecordSpec{
			Sample: space.Spec{Kind: space.KindSignal},
			Inputs: []decode.InputField{{Pad: 3}},
		}, []string{"pad belongs to rows"}},
		"scores": {
			cloud(-1, 64),
			decode.RecordSpec{Sample: space.Spec{Kind: space.KindScores}},
			[]string{"are not fed"},
		},
		"no such output": {
			cloud(-1, 64, 3),
			decode.RecordSpec{Sample: points, Outputs: []decode.OutputField{{Port: "z"}}},
			[]string{`no output "z"`},
		},
		"boxes": {
			cloud(-1, 64, 3),
			decode.RecordSpec{Sample: points, Outputs: []decode.OutputField{{Kind: space.KindBoxes}}},
			[]string{"is not known"},
		},
		"pairs of four": {
			cloud(-1, 64, 3),
			decode.RecordSpec{Sample: points, Outputs: []decode.OutputField{{Kind: space.KindPairs}}},
			[]string{"no pairs"},
		},
		"per atom": {
			cloud(-1, 64, 3),
			decode.RecordSpec{Sample: points, Outputs: []decode.OutputField{{Per: "atom"}}},
			[]string{"node, edge or sample"},
		},
		"names twice": {
			cloud(-1, 64, 3),
			decode.RecordSpec{
				Sample:  points,
				Outputs: []decode.OutputField{{Name: "a", Port: "y"}, {Name: "a", Port: "y"}},
			},
			[]string{"twice"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode.NewRecord(c.s, c.spec)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%v: nothing of %q", err, w)
				}
			}
		})
	}
}

func TestRecordRefusesAtRunTime(t *testing.T) {
	c := record(t, moleculeModel(-1), moleculeFields(0))
	species := func(v ...float64) *space.Record {
		m := molecule(0)
		m.Values[1] = &space.Rows{N: 3, W: 1, Val: v}
		return m
	}
	short := molecule(0)
	short.Values[0] = counting(3, 2)
	for name, b := range map[string][]space.Value{
		"half an atom":    {species(8, 1.5, 1)},
		"not a number":    {species(8, math.NaN(), 1)},
		"an image":        {space.NewImage(1, 2, 2)},
		"nothing":         {nil},
		"a missing field": {&space.Record{Names: []string{"positions"}, Values: []space.Value{counting(3, 3)}}},
		"two columns":     {short},
		"two sizes": {
			molecule(0),
			&space.Record{
				Names:  []string{"positions", "species"},
				Values: []space.Value{counting(2, 3), counting(2, 1)},
			},
		},
		"wrong length":   {species(1, 2)},
		"an empty batch": {},
	} {
		if _, err := c.Encode(b, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	g := record(t, model(ports(out("edges", tensor.Int64, 2, -1)), ports(out("y", tensor.Float32, 1, 4))),
		decode.RecordSpec{Sample: space.Spec{Kind: space.KindLinks}})
	if _, err := g.Encode([]space.Value{&space.Links{Nodes: 2, From: []int32{0}, To: []int32{2}}}, nil); err == nil ||
		!strings.Contains(err.Error(), "node 2 of 2") {
		t.Errorf("error %v", err)
	}
	for name, o := range map[string][]tensor.Named{
		"no forces":     {named("energy", []float64{1}, 1, 1)},
		"another batch": {named("energy", []float64{1, 2}, 2, 1), named("forces", counting(3, 3).Val, 1, 3, 3)},
		"another shape": {named("energy", []float64{1}, 1, 1), named("forces", counting(3, 3).Val, 1, 9)},
	} {
		if _, err := c.Decode(o, 1); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRecordAnswers(t *testing.T) {
	x := ports(out("x", tensor.Float32, -1, -1, 3))
	data := rowsSpec("x", space.TypePositions, -1, 3)
	v := counting(6, 3).Val
	for name, c := range map[string]struct {
		y    onnx.Port
		o    decode.OutputField
		fed  []int
		want space.Value
		per  string
	}{
		"energy": {
			out("y", tensor.Float32, -1, 1),
			decode.OutputField{},
			[]int{1, 1},
			&space.Rows{N: 1, W: 1, Val: v[:1]}, space.PerSample,
		},
		"charges": {
			out("y", tensor.Float32, -1, -1),
			decode.OutputField{Per: space.PerNode},
			[]int{1, 4},
			&space.Rows{N: 4, W: 1, Val: v[:4]}, space.PerNode,
		},
		"forces": {
			out("y", tensor.Float32, -1, -1, 3),
			decode.OutputField{},
			[]int{1, 6, 3},
			&space.Rows{N: 6, W: 3, Val: v}, space.PerNode,
		},
		"dipoles": {
			out("y", tensor.Float32, -1, 2, 3),
			decode.OutputField{},
			[]int{1, 2, 3},
			&space.Rows{N: 2, W: 3, Val: v[:6]}, space.PerSample,
		},
		"stress": {
			out("y", tensor.Float32, -1, 3, 3),
			decode.OutputField{Type: space.TypeTensors},
			[]int{1, 3, 3},
			&space.Rows{N: 1, W: 9, Val: v[:9]}, space.PerSample,
		},
		"poses": {
			out("y", tensor.Float32, -1, -1, 3, 3),
			decode.OutputField{Type: space.TypePoses},
			[]int{1, 2, 3, 3},
			&space.Rows{N: 2, W: 9, Val: v}, space.PerNode,
		},
		"pairs": {
			out("y", tensor.Float32, -1, -1, -1),
			decode.OutputField{Kind: space.KindPairs},
			[]int{1, 3, 3},
			&space.Pairs{N: 3, W: 1, Val: v[:9]}, "",
		},
		"signal": {
			out("y", tensor.Float32, -1, -1),
			decode.OutputField{Kind: space.KindSignal, Rate: 10},
			[]int{1, 5},
			&space.Signal{C: 1, T: 5, Rate: 10, Val: v[:5]}, "",
		},
		"frames": {
			out("y", tensor.Float32, -1, -1, 2, 2),
			decode.OutputField{Kind: space.KindFrames},
			[]int{1, 2, 2, 2},
			&space.Frames{Images: []*space.Image{
				{C: 1, H: 2, W: 2, Pix: v[:4]},
				{C: 1, H: 2, W: 2, Pix: v[4:8]},
			}}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := record(t, model(x, ports(c.y)), decode.RecordSpec{Sample: data, Outputs: []decode.OutputField{c.o}})
			n := tensor.Count(c.fed)
			got, err := k.Decode([]tensor.Named{named("y", v[:n], c.fed...)}, 1)
			if err != nil {
				t.Fatal(err)
			}
			a, b := got[0].Parts(), c.want.Parts()
			if got[0].Kind() != c.want.Kind() || !slices.Equal(a[0].Shape, b[0].Shape) ||
				!slices.Equal(floats(t, a[0]), floats(t, b[0])) {
				t.Fatalf("%+v, want %+v", got[0], c.want)
			}
			if o := k.Out(); o.Name != "y" || o.Per != c.per {
				t.Errorf("out %+v", o)
			}
			back, err := decode.Raw(k, got)
			if err != nil || !slices.Equal(back.Shape, c.fed) || !slices.Equal(floats(t, back), v[:n]) {
				t.Errorf("raw %v %v", back.Shape, err)
			}
		})
	}
	// Scores have their softmax, and Plain the model's own numbers.
	k := record(t, model(x, ports(out("y", tensor.Float32, -1, 3))),
		decode.RecordSpec{Sample: data, Outputs: []decode.OutputField{{Kind: space.KindScores}}})
	for _, c := range []struct {
		k    decode.Codec
		want float64
	}{{k, 1 / (1 + math.E + math.E*math.E)}, {decode.Plain(k), 0}} {
		got, err := c.k.Decode([]tensor.Named{named("y", v[:3], 1, 3)}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if s := scores(t, got[0]); math.Abs(s.Val[0]-c.want) > 1e-12 {
			t.Errorf("score %g, want %g", s.Val[0], c.want)
		}
	}
}

// Laws of the derivative: Encode(x + v) - Encode(x) = Linear(v) in float64, <Linear(v), g> = <v, Adjoint(g)>, for every
// layout of rows and pairs.
func TestRecordLinearAndAdjoint(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		shape := rapid.SampledFrom([][]int{{-1, 4, 3}, {-1, 3, 4}, {-1, 12}, {5, 4, 3}, {4, 3}, {-1, 6, 3}}).Draw(t,
			"shape")
		pad := 0
		if shape[1] == 6 {
			pad = 6
		}
		pairs := out("pairs", tensor.Float32, append(slices.Clone(shape[:1]), max(4, pad), max(4, pad))...)
		y := out("y", tensor.Float32, -1, 2)
		if len(shape) == 2 && shape[1] == 3 {
			pairs, y = out("pairs", tensor.Float32, 4, 4), out("y", tensor.Float32, 2)
		}
		k, err := decode.NewRecord(model(ports(out("x", tensor.Float32, shape...), pairs), ports(y)), decode.RecordSpec{
			Sample: space.Spec{Kind: space.KindRecord, Fields: []space.Spec{
				rowsSpec("x", space.TypeVectors, 4, 3),
				{Name: "pairs", Kind: space.KindPairs, Shape: []int{4, 4, 1}},
			}},
			Inputs:  []decode.InputField{{Field: "x", Pad: pad}, {Field: "pairs", Pad: pad}},
			Outputs: []decode.OutputField{{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		n := 2
		if !decode.BatchAxis(k) {
			n = 1
		}
		draw := func(label string) (all []space.Value, flat []float64) {
			for range n {
				v := rapid.SliceOfN(rapid.Float64Range(-3, 3), 28, 28).Draw(t, label)
				flat = append(flat, v...)
				all = append(all, &space.Record{
					Names:  []string{"x", "pairs"},
					Values: []space.Value{&space.Rows{N: 4, W: 3, Val: v[:12]}, &space.Pairs{N: 4, W: 1, Val: v[12:]}},
				})
			}
			return all, flat
		}
		x, _ := draw("x")
		v, flat := draw("v")
		sum := make([]space.Value, n)
		for i := range sum {
			a, b := as[*space.Record](x[i]), as[*space.Record](v[i])
			r, p := space.NewRows(4, 3), space.NewPairs(4, 1)
			for j := range r.Val {
				r.Val[j] = as[*space.Rows](a.Values[0]).Val[j] + as[*space.Rows](b.Values[0]).Val[j]
			}
			for j := range p.Val {
				p.Val[j] = as[*space.Pairs](a.Values[1]).Val[j] + as[*space.Pairs](b.Values[1]).Val[j]
			}
			sum[i] = &space.Record{Names: a.Names, Values: []space.Value{r, p}}
		}
		double := decode.Double(k)
		at, err := double.Encode(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		moved, err := double.Encode(sum, nil)
		if err != nil {
			t.Fatal(err)
		}
		lin, err := decode.Linear(k, v)
		if err != nil {
			t.Fatal(err)
		}
		left := 0.0
		var grads []tensor.Named
		for i := range lin {
			l, va, vb := numbers(t, lin[i].Tensor), numbers(t, at[i].Tensor), numbers(t, moved[i].Tensor)
			for j := range l {
				if d := math.Abs(vb[j] - va[j] - l[j]); !(d < 1e-12) {
					t.Fatalf("number %d: encoding moves by %g, its linear part by %g", j, vb[j]-va[j], l[j])
				}
			}
			g := rapid.SliceOfN(rapid.Float64Range(-3, 3), len(l), len(l)).Draw(t, "g")
			left += dot(l, g)
			grads = append(grads, named(lin[i].Name, g, lin[i].Shape...))
		}
		back, err := decode.Adjoint(k, grads, x)
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for _, b := range back {
			r := as[*space.Record](b)
			all = append(append(all, as[*space.Rows](r.Values[0]).Val...), as[*space.Pairs](r.Values[1]).Val...)
		}
		if right := dot(all, flat); !(math.Abs(left-right) < 1e-9) {
			t.Fatalf("<Lv, g> = %g, <v, L'g> = %g", left, right)
		}
	})
}

func TestRecordNotLinear(t *testing.T) {
	c := record(t, model(ports(out("edges", tensor.Int64, 2, -1)), ports(out("y", tensor.Float32, 1, 4))),
		decode.RecordSpec{Sample: space.Spec{Kind: space.KindLinks}})
	if _, err := decode.Linear(c,
		[]space.Value{&space.Links{Nodes: 2, From: []int32{0}, To: []int32{1}}}); !errors.Is(err, decode.ErrNotLinear) {
		t.Errorf("error %v", err)
	}
}

// Frames go through the same encoder as those of pictures, and come back.
func TestRecordFrames(t *testing.T) {
	s := model(ports(out("frames", tensor.Float32, -1, 3, 1, 2, 2)),
		ports(out("fields", tensor.Float32, -1, 3, 1, 2, 2)))
	k := record(t, s, decode.RecordSpec{
		Sample:  space.Spec{Kind: space.KindFrames, Shape: []int{3, 1, 2, 2}},
		Outputs: []decode.OutputField{{Kind: space.KindFrames}}, Pixels: decode.InputSpec{Scale: 2},
	})
	f := pictures(3, 1, 2, 2)
	x, err := k.Encode([]space.Value{f, f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x[0].Shape, []int{2, 3, 1, 2, 2}) || floats(t, x[0])[5] != f.Images[1].Pix[1]/2 {
		t.Errorf("fed %v %v", x[0].Shape, floats(t, x[0]))
	}
	y, err := k.Decode([]tensor.Named{named("fields", floats(t, x[0]), 2, 3, 1, 2, 2)}, 2)
	if err != nil || as[*space.Frames](y[1]).Images[1].Pix[1] != f.Images[1].Pix[1]/2 {
		t.Errorf("%v, %v", y, err)
	}
	g, err := decode.Adjoint(k, []tensor.Named{named("frames", make([]float64, 12), 1, 3, 1, 2, 2)}, []space.Value{f})
	if err != nil || len(as[*space.Frames](g[0]).Images) != 3 {
		t.Errorf("%v, %v", g, err)
	}
}

// Models of pictures answer frames, rows and signals too.
func TestPlacedOutputs(t *testing.T) {
	v := counting(6, 3).Val
	for name, c := range map[string]struct {
		in   decode.InputSpec
		x, y onnx.Port
		kind space.Kind
		fed  []int
		want space.Value
	}{
		"frames": {
			decode.InputSpec{Frames: 3, Sample: []int{1, 2, 2}},
			out("x", tensor.Float32, -1, 3, 1, 2, 2), out("y", tensor.Float32, -1, 3, 1, 2, 2), space.KindFrames,
			[]int{1, 2, 1, 2, 2},
			&space.Frames{Images: []*space.Image{{C: 1, H: 2, W: 2, Pix: v[:4]}, {C: 1, H: 2, W: 2, Pix: v[4:8]}}},
		},
		"rows": {
			decode.InputSpec{Sample: []int{1, 2, 2}},
			out("x", tensor.Float32, -1, 1, 2, 2),
			out("y", tensor.Float32, -1, -1, 3), space.KindRows,
			[]int{1, 6, 3},
			counting(6, 3),
		},
		"signal": {
			decode.InputSpec{Sample: []int{1, 2, 2}},
			out("x", tensor.Float32, 1, 2, 2),
			out("y", tensor.Float32, -1), space.KindSignal,
			[]int{6},
			&space.Signal{C: 1, T: 6, Val: v[:6]},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "frames" {
				c.y = out("y", tensor.Float32, -1, -1, 1, 2, 2)
			}
			k, err := decode.New(model(ports(c.x), ports(c.y)), c.in, decode.OutputSpec{Space: c.kind})
			if err != nil {
				t.Fatal(err)
			}
			n := tensor.Count(c.fed)
			got, err := k.Decode([]tensor.Named{named("y", v[:n], c.fed...)}, 1)
			if err != nil {
				t.Fatal(err)
			}
			a, b := got[0].Parts(), c.want.Parts()
			if k.Out().Kind != c.kind || got[0].Kind() != c.kind || !slices.Equal(a[0].Shape, b[0].Shape) ||
				!slices.Equal(floats(t, a[0]), floats(t, b[0])) {
				t.Fatalf("%+v, want %+v", got[0], c.want)
			}
			if back, err := decode.Raw(k, got); err != nil || !slices.Equal(back.Shape, c.fed) {
				t.Errorf("raw %v, %v", back.Shape, err)
			}
		})
	}
}

// FuzzRecord checks that no signature and no value makes the codec panic, and that what it feeds has the model's shape.
func FuzzRecord(f *testing.F) {
	f.Add(int8(3), int8(-1), int8(4), int8(3), int8(4), int8(3), uint8(0))
	f.Add(int8(2), int8(2), int8(-1), int8(0), int8(4), int8(3), uint8(1))
	f.Fuzz(func(t *testing.T, rank, a, b, c, n, w int8, kind uint8) {
		shape := []int{int(a), int(b), int(c), 2}[:min(4, max(0, int(rank)))]
		for i := range shape {
			shape[i] = max(-1, shape[i])
		}
		k, r, q := space.Kind(""), int(min(8, max(0, n))), int(min(8, max(0, w)))
		var v space.Value
		switch kind % 4 {
		case 0:
			k, v = space.KindRows, space.NewRows(r, q)
		case 1:
			k, v = space.KindLinks, &space.Links{Nodes: 1, From: make([]int32, r), To: make([]int32, r)}
		case 2:
			k, v = space.KindPairs, space.NewPairs(r, q)
		default:
			k, v = space.KindSignal, space.NewSignal(q, r, 0)
		}
		codec, err := decode.NewRecord(model(ports(out("x", tensor.Float32, shape...)),
			ports(out("y", tensor.Float32, shape...))),
			decode.RecordSpec{Sample: space.Spec{Kind: k}, Outputs: []decode.OutputField{{Kind: k}}})
		if err != nil {
			return
		}
		x, err := codec.Encode([]space.Value{v}, nil)
		if err != nil {
			return
		}
		if err := x[0].Check(); err != nil || len(x[0].Shape) != len(shape) {
			t.Fatalf("fed %v for %v: %v", x[0].Shape, shape, err)
		}
		x[0].Name = "y"
		y, err := codec.Decode(x, 1)
		if err != nil {
			return
		}
		if back, err := decode.Raw(codec, y); err == nil && len(back.Raw) != 2*len(x[0].Raw) &&
			decode.BatchLimit(codec) < 2 {
			t.Fatalf("%d bytes became %d", len(x[0].Raw), len(back.Raw))
		}
	})
}
