package dataset

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"
	"nero/data/tensor"
)

func recordOf(tb testing.TB, v space.Value, names ...string) *space.Record {
	tb.Helper()
	r, ok := v.(*space.Record)
	if !ok || !slices.Equal(r.Names, names) {
		tb.Fatalf("%T %+v, want a record of %v", v, v, names)
	}
	return r
}

func linksOf(tb testing.TB, v space.Value) *space.Links {
	tb.Helper()
	l, ok := v.(*space.Links)
	if !ok {
		tb.Fatalf("a %T, want links", v)
	}
	return l
}

// Two graphs of one and three nodes, in every way in which they can be written.
func TestGraphs(t *testing.T) {
	nodes := npyOf(arrayOf(tensor.Float64, []int{4, 2}, 1, 2, 3, 4, 5, 6, 7, 8))
	counts := func(v ...float64) []byte { return npyOf(arrayOf(tensor.Int64, []int{len(v)}, v...)) }
	y, q := npyOf(arrayOf(tensor.Float64, []int{2, 1}, 10, 20)), npyOf(arrayOf(tensor.Float64, []int{4}, 1, 2, 3, 4))
	fsys := fstest.MapFS{
		"down.npz": {Data: npzOf(t, map[string][]byte{
			"nodes": nodes, "node_count": counts(1, 3),
			"edges": npyOf(arrayOf(tensor.Int64, []int{3, 2}, 0, 1, 1, 2, 2, 0)), "edge_count": counts(0, 3), "y": y,
			"q": q, "weight": npyOf(arrayOf(tensor.Float64, []int{3}, .5, .25, .125)),
		})},
		"along.npz": {Data: npzOf(t, map[string][]byte{
			"nodes": nodes, "node_count": counts(1, 3),
			"edges": npyOf(arrayOf(tensor.Int64, []int{2, 3}, 0, 1, 2, 1, 2, 0)), "edge_count": counts(0, 3), "y": y,
			"q": q, "weight": npyOf(arrayOf(tensor.Float64, []int{3, 1}, .5, .25, .125)),
		})},
		"lines": {Data: []byte(`{"nodes": [[1, 2]], "edges": [], "y": 10, "q": [1], "weight": []}
{"weight": [[0.5], [0.25], [0.125]], "nodes": [[3, 4], [5, 6], [7, 8]], "edges": [[0, 1], [1, 2], [2, 0]], "y": 20, "q": [2, 3, 4]}
`)},
		"index.jsonl": {Data: []byte(`{"nodes": [[1, 2]], "edge_index": [], "y": [10], "q": [[1]], "weight": []}

{"weight": [[0.5], [0.25], [0.125]], "nodes": [[3, 4], [5, 6], [7, 8]], "edge_index": [[0, 1, 2], [1, 2, 0]], "y": [20], "q": [[2], [3], [4]]}`)},
	}
	for name := range fsys {
		ds, err := OpenFS(fsys, Spec{Format: "graphs", Images: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "lines" || name == "index.jsonl" {
			// An empty list has no rows to say what they belong to, so that these lines say less than the arrays.
			if f := ds.Info().Space.Fields; f[2].Per != space.PerEdge {
				t.Errorf("%s: %+v", name, f)
			}
		}
		s := sampleOf(t, ds, 1)
		r := recordOf(t, s.Value, "nodes", "edges", "weight")
		l := linksOf(t, r.Values[1])
		if got := rowsOf(t, r.Values[0]); got.N != 3 || got.W != 2 ||
			!slices.Equal(got.Val, []float64{3, 4, 5, 6, 7, 8}) {
			t.Errorf("%s: nodes %+v", name, got)
		}
		if l.Nodes != 3 || !slices.Equal(l.From, []int32{0, 1, 2}) || !slices.Equal(l.To, []int32{1, 2, 0}) {
			t.Errorf("%s: edges %+v", name, l)
		}
		if got := rowsOf(t, r.Values[2]); got.N != 3 || got.W != 1 || !slices.Equal(got.Val, []float64{.5, .25, .125}) {
			t.Errorf("%s: weights %+v", name, got)
		}
		target := recordOf(t, s.Target, "y", "q")
		if a, b := rowsOf(t, target.Values[0]), rowsOf(t, target.Values[1]); a.N != 1 || a.Val[0] != 20 || b.N != 3 ||
			!slices.Equal(b.Val, []float64{2, 3, 4}) {
			t.Errorf("%s: targets %+v %+v", name, a, b)
		}
		first := sampleOf(t, ds, 0)
		if l := linksOf(t, recordOf(t, first.Value, "nodes", "edges", "weight").Values[1]); l.Nodes != 1 ||
			len(l.From) != 0 {
			t.Errorf("%s: edges of the first %+v", name, l)
		}
		f := ds.Info().Target.Fields
		if len(f) != 2 || f[0].Per != space.PerSample || f[1].Per != space.PerNode || f[1].Shape[0] != -1 {
			t.Errorf("%s: %+v", name, f)
		}
		// Sets are plain rows, one target is too.
		set, err := OpenFS(fsys, Spec{Format: "graphs", Images: name, Fields: []string{"nodes"}, TargetKey: "q"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s := sampleOf(t, set, 1); rowsOf(t, s.Value).N != 3 || rowsOf(t, s.Target).N != 3 ||
			set.Info().Space.Kind != space.KindRows {
			t.Errorf("%s: %+v", name, s)
		}
		none, err := OpenFS(fsys, Spec{Format: "graphs", Images: name, Targets: "none"})
		if err != nil || sampleOf(t, none, 1).Target != nil || none.Info().Target.Kind != "" {
			t.Errorf("%s: there are targets, %v", name, err)
		}
	}
}

// Sets of one size that are filled up with zeros end where their count says.
func TestFilledSets(t *testing.T) {
	fsys := fstest.MapFS{"s.npz": {Data: npzOf(t, map[string][]byte{
		"nodes":      npyOf(arrayOf(tensor.Float64, []int{2, 2, 1}, 1, 0, 2, 3)),
		"node_count": npyOf(arrayOf(tensor.Int64, []int{2}, 1, 2)),
		"matrix":     npyOf(arrayOf(tensor.Float64, []int{2, 2, 2}, 1, 0, 0, 0, 1, 2, 3, 4)),
		"y":          npyOf(arrayOf(tensor.Int64, []int{2}, 1, 0)),
	})}}
	ds, err := OpenFS(fsys, Spec{Format: "graphs", Images: "s.npz"})
	if err != nil {
		t.Fatal(err)
	}
	r := recordOf(t, sampleOf(t, ds, 0).Value, "nodes", "matrix")
	p, ok := r.Values[1].(*space.Pairs)
	if !ok || rowsOf(t, r.Values[0]).N != 1 || p.N != 1 || p.Val[0] != 1 || ds.Info().Space.Fields[0].Shape[0] != -1 {
		t.Errorf("%+v %+v", r.Values[0], r.Values[1])
	}
	p, ok = recordOf(t, sampleOf(t, ds, 1).Value, "nodes", "matrix").Values[1].(*space.Pairs)
	if !ok || !slices.Equal(p.Val, []float64{1, 2, 3, 4}) {
		t.Errorf("%+v", p)
	}
	// Whole numbers y, one for each sample, are classes, and a note says so.
	if !slices.Equal(ds.Labels(), []int{1, 0}) || ds.Info().Target.Kind != "" ||
		!strings.Contains(notesOf(t, ds), "taken for classes") {
		t.Errorf("labels %v, notes %s", ds.Labels(), notesOf(t, ds))
	}
}

func TestBadGraphs(t *testing.T) {
	nodes := npyOf(arrayOf(tensor.Float64, []int{3, 1}, 1, 2, 3))
	ints := func(shape []int, v ...float64) []byte { return npyOf(arrayOf(tensor.Int64, shape, v...)) }
	npz := func(m map[string][]byte) []byte { return npzOf(t, m) }
	for _, c := range []struct {
		file []byte
		want []string
	}{
		{
			npz(map[string][]byte{"nodes": nodes, "node_count": ints([]int{2}, 1, 1)}),
			[]string{`array "nodes" has 3 rows, but node_count adds up to 2`},
		},
		{
			npz(map[string][]byte{"nodes": nodes, "node_count": ints([]int{2}, 4, -1)}),
			[]string{`array "node_count": sample 1 has -1`},
		},
		{
			npz(map[string][]byte{"nodes": nodes, "node_count": npyOf(arrayOf(tensor.Float64, []int{2}, 1, 2))}),
			[]string{"want one whole number for each sample"},
		},
		{
			npz(map[string][]byte{"nodes": nodes, "node_count": ints([]int{2}, 1, 2), "edge_count": ints([]int{1}, 0)}),
			[]string{"node_count has 2 numbers and edge_count 1"},
		},
		{npz(map[string][]byte{
			"nodes": nodes, "node_count": ints([]int{2}, 1, 2),
			"edges": ints([]int{2, 2}, 0, 0, 1, 1),
		}), []string{
			`array "edges" has shape [2 2], want (N, edges, 2)`,
			"edge_count",
		}},
		{
			npz(map[string][]byte{
				"nodes": nodes, "node_count": ints([]int{2}, 1, 2), "edge_count": ints([]int{2}, 1, 2),
				"edges": ints([]int{2, 2}, 0, 0, 1, 1),
			}),
			[]string{`array "edges" has shape [2 2], want (3, 2) or (2, 3), as edge_count says`},
		},
		{npz(map[string][]byte{
			"nodes": nodes, "node_count": ints([]int{2}, 1, 2), "edge_count": ints([]int{2}, 0, 0),
			"edges": npyOf(arrayOf(tensor.Float64, []int{1, 2}, 0, 0)),
		}), []string{"want whole numbers"}},
		{
			npz(map[string][]byte{
				"nodes": nodes, "node_count": ints([]int{2}, 1, 2), "odd": slices.Clip(nodes),
				"z": npyOf(arrayOf(tensor.Float64, []int{7}, counting(7)...)),
			}),
			[]string{`array "z" has shape [7], want 2 samples on its first axis, or 3 nodes`},
		},
		{npz(map[string][]byte{"nodes": nodes}), []string{
			`array "nodes" has shape [3 1], want (N, nodes, numbers)`,
			"node_count",
		}},
		{
			[]byte(`{"nodes": [[1]], "edges": [[0, 1]]}`),
			[]string{"line 1: edge 0 goes from 0 to 1, but the sample has the nodes 0 to 0"},
		},
		{[]byte(`{"nodes": [[1], [2, 3]]}`), []string{`line 1: "nodes": row 1 has 2 numbers, the first 1`}},
		{
			[]byte(`{"nodes": [[1]]}` + "\n" + `{"nodes": [[1, 2]]}`),
			[]string{`line 2: "nodes" has rows of 2 numbers, line 1 of 1`},
		},
		{[]byte(`{"nodes": [[1]], "y": 1}` + "\n" + `{"nodes": [[1]]}`), []string{`line 2: no "y"`}},
		{[]byte(`{"nodes": [["a"]]}`), []string{`line 1: "nodes": want a number`}},
		{[]byte(`{"nodes": [[NaN]]}`), []string{"line 1: JSON has no NaN", "not finite"}},
		{[]byte(`{"nodes": [[1e999]]}`), []string{"line 1"}},
		{[]byte(`{"nodes": [[1]]} x`), []string{"line 1: text after the object"}},
		{[]byte(`{"edges": []}`), []string{`line 1: no "nodes"`}},
		{[]byte(`[1]`), []string{"line 1: not JSON", "want an object such as"}},
		{
			[]byte("{\"nodes\": [[1], [2]], \"t\": [[1], [2], [3]]}\n{\"nodes\": [[1]], \"t\": [[1], [2]]}"),
			[]string{`"t" has rows neither for each node nor for each edge`},
		},
		{[]byte("\n"), []string{"is empty"}},
	} {
		_, err := OpenFS(fstest.MapFS{"g": {Data: c.file}}, Spec{Format: "graphs", Images: "g"})
		wantError(t, err, append(c.want, "g: ")...)
	}
	ds, err := OpenFS(fstest.MapFS{
		"g": {Data: npz(map[string][]byte{
			"nodes": nodes, "node_count": ints([]int{2}, 1, 2),
			"edge_count": ints([]int{2}, 0, 1), "edges": ints([]int{1, 2}, 1, 2),
		})},
	},
		Spec{Format: "graphs", Images: "g"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ds.Sample(1)
	wantError(t, err, `g: array "edges": sample "1": edge 0 goes from 1 to 2, but the sample has the nodes 0 to 1: number the nodes of each sample from 0`)
}

func FuzzGraphLines(f *testing.F) {
	f.Add(`{"nodes": [[1, 2]], "edges": [[0, 0]], "y": 10, "q": [1], "label": "a", "name": "b"}`)
	f.Add("{\"nodes\": [1, 2], \"edge_index\": [[0], [1]]}\n{\"nodes\": [1], \"edge_index\": []}")
	f.Fuzz(func(t *testing.T, text string) {
		if sniff([]byte(text)) != "" {
			return
		}
		ds, err := OpenFS(fstest.MapFS{"g": {Data: []byte(text)}}, Spec{Format: "graphs", Images: "g"})
		if err != nil {
			return
		}
		for i := range ds.Len() {
			s, err := ds.Sample(i)
			if err != nil {
				t.Fatalf("what was checked when it was opened cannot be read: %v", err)
			}
			fits(t, s.Value, ds.Info().Space)
			if s.Target != nil {
				fits(t, s.Target, ds.Info().Target)
			}
		}
	})
}

// fits holds a value against the spec that was announced.
func fits(t *testing.T, v space.Value, s space.Spec) {
	t.Helper()
	if v.Kind() != s.Kind {
		t.Fatalf("a %s, announced was %s", v.Kind(), s.Kind)
	}
	if r, ok := v.(*space.Record); ok {
		if len(r.Values) != len(s.Fields) {
			t.Fatalf("%d fields, announced were %d", len(r.Values), len(s.Fields))
		}
		for i, f := range s.Fields {
			if r.Names[i] != f.Name {
				t.Fatalf("field %s, announced was %s", r.Names[i], f.Name)
			}
			fits(t, r.Values[i], f)
		}
		return
	}
	shape := v.Dims()
	if len(shape) != len(s.Shape) {
		t.Fatalf("%s: shape %v, announced was %v", s.Name, shape, s.Shape)
	}
	for k, n := range s.Shape {
		if n >= 0 && shape[k] != n && shape[0] != 0 {
			t.Fatalf("%s: shape %v, announced was %v", s.Name, shape, s.Shape)
		}
	}
}

func TestMolecules(t *testing.T) {
	dir := t.TempDir()
	sdf, err := os.ReadFile("../chem/testdata/ions.sdf")
	if err != nil {
		t.Fatal(err)
	}
	putAt(t, filepath.Join(dir, "ions.sdf"), sdf)
	const xyz = "2\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-1 name=a config=b\nH 0 0 0 1 2 3\nF 0 0 1 -1 " +
		"-2 -3\n1\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-2 name=a\nHe 1 1 1 0 0 0\n"
	putAt(t, filepath.Join(dir, "two.xyz"), []byte(xyz))

	ds, err := Open(Spec{Format: "molecules", Images: filepath.Join(dir, "ions.sdf")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ds.IDs(), []string{"acetate", "methylammonium", "chlorobenzene"}) {
		t.Errorf("%q", ds.IDs())
	}
	s := sampleOf(t, ds, 1)
	r := recordOf(t, s.Value, "positions", "species", "charges", "edges", "orders")
	if rowsOf(t, r.Values[1]).Val[1] != 7 || rowsOf(t, r.Values[2]).Val[1] != 1 ||
		rowsOf(t, recordOf(t, s.Target, "energy").Values[0]).Val[0] != -3 ||
		!slices.Contains(s.Tags, "smiles=C[NH3+]") {
		t.Errorf("%+v", s)
	}
	l := linksOf(t, r.Values[3])
	if l.Nodes != 8 || len(l.From) != 14 || l.From[0] != 0 || l.To[0] != 1 || l.From[1] != 1 || l.To[1] != 0 ||
		rowsOf(t, r.Values[4]).N != 14 {
		t.Errorf("%+v", l)
	}
	fits(t, s.Value, ds.Info().Space)

	if ds, err = Open(Spec{Format: "molecules", Images: filepath.Join(dir, "two.xyz")}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ds.IDs(), []string{"a#1", "a#2"}) {
		t.Errorf("%q", ds.IDs())
	}
	s = sampleOf(t, ds, 0)
	r = recordOf(t, s.Value, "positions", "species")
	target := recordOf(t, s.Target, "energy", "forces")
	if !slices.Equal(rowsOf(t, r.Values[0]).Val, []float64{0, 0, 0, 0, 0, 1}) ||
		!slices.Equal(rowsOf(t, r.Values[1]).Val, []float64{1, 9}) ||
		!slices.Equal(rowsOf(t, target.Values[1]).Val, []float64{1, 2, 3, -1, -2, -3}) ||
		rowsOf(t, target.Values[0]).Val[0] != -1 || !slices.Equal(s.Tags, []string{"config=b"}) {
		t.Errorf("%+v", s)
	}
	spec := ds.Info().Target
	if spec.Fields[1].Type != space.TypeVectors || spec.Fields[1].Shape[0] != -1 ||
		spec.Fields[0].Per != space.PerSample || ds.Info().Space.Fields[0].Unit != "Å" {
		t.Errorf("%+v", spec)
	}
	// A value is a copy: what a group does to it must not reach the next who asks.
	rowsOf(t, r.Values[0]).Val[5] = 77
	if got := recordOf(t, sampleOf(t, ds, 0).Value, "positions", "species"); rowsOf(t, got.Values[0]).Val[5] != 1 {
		t.Error("samples share memory")
	}

	for _, c := range []struct {
		spec Spec
		text string
		want []string
	}{
		{
			Spec{Elements: []string{"H", "He"}},
			xyz,
			[]string{"line 4: atom 2 of molecule 0 is F, which the models do not know; data.elements has H, He"},
		},
		{Spec{Elements: []string{"Qx"}}, xyz, []string{`data.elements has "Qx", which is no element`}},
		{
			Spec{},
			strings.Replace(xyz, "energy=-2", "", 1),
			[]string{"line 5: molecule 1 (a): has no energy, which the first molecule has"},
		},
		{Spec{Fields: []string{"positions", "dipole"}}, xyz, []string{`need a field "dipole"`}},
		{Spec{TargetKey: "dipole"}, xyz, []string{"has no dipole: correct target_key"}},
		{Spec{}, strings.Replace(xyz, "0 0 1 -1", "0 0 inf -1", 1), []string{"line 4", "not finite"}},
		{Spec{Key: "x"}, xyz, []string{"key is for npz archives"}},
	} {
		c.spec.Format, c.spec.Images = "molecules", "m.xyz"
		_, err := OpenFS(fstest.MapFS{"m.xyz": {Data: []byte(c.text)}}, c.spec)
		wantError(t, err, append(c.want, "m.xyz")...)
	}
	// Forces of one field are plain rows; those asked for are no targets.
	ds, err = Open(Spec{Format: "molecules", Images: filepath.Join(dir, "two.xyz"), Fields: []string{"positions"}})
	if err != nil || rowsOf(t, sampleOf(t, ds, 1).Value).N != 1 {
		t.Errorf("%v", err)
	}
}

func TestMoleculeArrays(t *testing.T) {
	arrays := map[string][]byte{
		"R":      npyOf(arrayOf(tensor.Float64, []int{1, 2, 3}, 0, 0, 0, 0, 0, 1)),
		"z":      npyOf(arrayOf(tensor.Uint8, []int{1, 2}, 1, 8)),
		"energy": npyOf(arrayOf(tensor.Float64, []int{1}, -1)),
		"forces": npyOf(arrayOf(tensor.Float64, []int{1, 2, 3}, counting(6)...)),
		"cell":   npyOf(arrayOf(tensor.Float64, []int{1, 3, 3}, counting(9)...)),
	}
	ds, err := OpenFS(fstest.MapFS{"m.npz": {Data: npzOf(t, arrays)}},
		Spec{Format: "molecules", Images: "m.npz", Elements: []string{"H", "O"}})
	if err != nil {
		t.Fatal(err)
	}
	s := sampleOf(t, ds, 0)
	r := recordOf(t, s.Value, "positions", "species", "cell")
	if !slices.Equal(rowsOf(t, r.Values[1]).Val, []float64{1, 8}) || rowsOf(t, r.Values[2]).N != 3 ||
		rowsOf(t, recordOf(t, s.Target, "energy", "forces").Values[1]).N != 2 {
		t.Errorf("%+v", s)
	}
	fits(t, s.Value, ds.Info().Space)
	ds, err = OpenFS(fstest.MapFS{"m.npz": {Data: npzOf(t, arrays)}},
		Spec{Format: "molecules", Images: "m.npz", Elements: []string{"H"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ds.Sample(0)
	wantError(t, err, "m.npz", "atom 1 is O, which the models do not know")
	delete(arrays, "z")
	_, err = OpenFS(fstest.MapFS{"m.npz": {Data: npzOf(t, arrays)}}, Spec{Format: "molecules", Images: "m.npz"})
	wantError(t, err, "m.npz", "no atomic numbers: add an array species")
}

// wavOf is a WAV file of 16 bits.
func wavOf(rate, channels int, frames ...int16) []byte {
	var data []byte
	for _, v := range frames {
		data = binary.LittleEndian.AppendUint16(data, uint16(v))
	}
	le := binary.LittleEndian
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00")
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*channels*2))
	b = le.AppendUint16(b, uint16(channels*2))
	b = append(b, 16, 0)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

func signalOf(tb testing.TB, v space.Value) *space.Signal {
	tb.Helper()
	s, ok := v.(*space.Signal)
	if !ok {
		tb.Fatalf("a %T, want a signal", v)
	}
	return s
}

// One array has no further fields: it is refused by name, also under the ending of another format.
func TestLoneArrayOfSeveralFields(t *testing.T) {
	b := npyOf(arrayOf(tensor.Float64, []int{1, 2, 3}, counting(6)...))
	for _, name := range []string{"m.npy", "m.xyz"} {
		spec := Spec{Format: "molecules", Images: name, Fields: []string{"positions", "species"}}
		_, err := OpenFS(fstest.MapFS{name: {Data: b}}, spec)
		if err == nil || !strings.Contains(err.Error(), name+`: holds one array, which is read as "positions", and a `+
			`field "species" is asked for`) {
			t.Errorf("%s: %v", name, err)
		}
		// alone it is what it says
		if _, err := OpenFS(fstest.MapFS{name: {Data: b}}, Spec{
			Format: "clouds", Images: name, Fields: []string{"points"},
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSignals(t *testing.T) {
	const half = 1 << 14
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, "no", "a.wav"), wavOf(8000, 2, half, 0, 0, half, -half, half, 0, 0))
	putAt(t, filepath.Join(dir, "yes", "b.WAV"), wavOf(8000, 1, half, -half, half))
	for _, c := range []struct {
		sound Sound
		a, b  []float64
		shape []int
	}{
		{Sound{}, []float64{.25, .25, 0, 0}, []float64{.5, -.5, .5}, []int{1, -1}},
		{Sound{Mono: "left", Length: 2, Start: 1, Rate: 8000}, []float64{0, -.5}, []float64{-.5, .5}, []int{1, 2}},
	} {
		ds, err := Open(Spec{Format: "signals", Images: dir, Sound: c.sound})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ds.Labels(), []int{0, 1}) || !slices.Equal(ds.Info().Space.Shape, c.shape) {
			t.Errorf("%v, %+v", ds.Labels(), ds.Info().Space)
		}
		a, b := signalOf(t, sampleOf(t, ds, 0).Value), signalOf(t, sampleOf(t, ds, 1).Value)
		if !slices.Equal(a.Val, c.a) || !slices.Equal(b.Val, c.b) || a.Rate != 8000 || a.C != 1 || a.T != len(c.a) {
			t.Errorf("%+v: %+v %+v", c.sound, a, b)
		}
	}
	ds, err := Open(Spec{Format: "signals", Images: filepath.Join(dir, "no"), Sound: Sound{Mono: "keep"}})
	if err != nil {
		t.Fatal(err)
	}
	if s := signalOf(t, sampleOf(t, ds, 0).Value); s.C != 2 ||
		!slices.Equal(s.Val, []float64{.5, 0, -.5, 0, 0, .5, .5, 0}) {
		t.Errorf("%+v", s)
	}
	putAt(t, filepath.Join(dir, "yes", "c.wav"), wavOf(16000, 1, 0, 1, 2))
	for _, c := range []struct {
		path  string
		sound Sound
		want  []string
	}{
		{dir, Sound{}, []string{
			"c.wav: has 16000 numbers a second, the first file, no/a.wav, wants 8000: resample it, such as by: sox " +
				"IN.wav -r 8000 OUT.wav",
		}},
		{
			filepath.Join(dir, "no"),
			Sound{Rate: 16000},
			[]string{"a.wav: has 8000 numbers a second, sound.rate wants 16000"},
		},
		{
			filepath.Join(dir, "no"),
			Sound{Length: 5},
			[]string{"a.wav: has 4 numbers a channel, want 5 from number 0 on"},
		},
		{filepath.Join(dir, "no"), Sound{Start: 4}, []string{"sound.start is 4"}},
		{
			filepath.Join(dir, "no"),
			Sound{Mono: "loud"},
			[]string{"sound.mono is \"loud\", want mean, left, right, keep"},
		},
		{filepath.Join(dir, "yes", "b.WAV"), Sound{Mono: "right"}, []string{"has one channel"}},
	} {
		_, err := Open(Spec{Format: "signals", Images: c.path, Sound: c.sound})
		wantError(t, err, c.want...)
	}
	_, err = OpenFS(fstest.MapFS{"x.raw": {Data: []byte{1, 2, 3, 4}}}, Spec{Format: "signals", Images: "x.raw"})
	wantError(t, err, "x.raw", "nobody knows their rate and type", "sox -t raw")
	_, err = OpenFS(fstest.MapFS{"s/x.raw": {Data: []byte{1, 2, 3, 4}}}, Spec{Format: "signals", Images: "s"})
	wantError(t, err, "s/x.raw", "nobody knows their rate and type", "sox -t raw")
	ds, err = OpenFS(fstest.MapFS{"s/x.raw": {Data: []byte{1, 2, 3, 4}}, "s/y.wav": {Data: wavOf(8000, 1, 1)}},
		Spec{Format: "signals", Images: "s"})
	if err != nil || ds.Len() != 1 || !strings.Contains(notesOf(t, ds), "left out 1 files .raw") {
		t.Errorf("%v", err)
	}
	_, err = OpenFS(fstest.MapFS{"s/x.wav": {Data: wavOf(8000, 1, 1)}, "s/y.wav": {Data: wavOf(8000, 2, 1, 1)}},
		Spec{Format: "signals", Images: "s", Sound: Sound{Mono: "keep"}})
	wantError(t, err, "other numbers of channels")
	long := wavOf(8000, 1, 5, 6)
	remarks := append(append(slices.Clone(long[:36]), "LIST\x10\x27\x00\x00"...), make([]byte, 10000)...)
	remarks = append(remarks, long[36:]...)
	if ds, err = OpenFS(fstest.MapFS{"x.wav": {Data: remarks}}, Spec{Format: "signals", Images: "x.wav"}); err != nil ||
		signalOf(t, sampleOf(t, ds, 0).Value).Val[1] != 6./32768 {
		t.Errorf("behind long remarks: %v", err)
	}
}

func TestSignalArrays(t *testing.T) {
	fsys := fstest.MapFS{
		"s.npz": {Data: npzOf(t,
			map[string][]byte{
				"signal": npyOf(arrayOf(tensor.Float64, []int{1, 2, 3}, 1, 2, 3, 5, 6, 7)),
				"rate":   npyOf(arrayOf(tensor.Int64, []int{}, 8000)),
				"y":      npyOf(arrayOf(tensor.Float64, []int{1, 2}, 1, 2)),
			})},
		"s.npy": {Data: npyOf(arrayOf(tensor.Float64, []int{2, 2}, 1, 2, 3, math.Inf(1)))},
	}
	ds, err := OpenFS(fsys, Spec{Format: "signals", Images: "s.npz", Sound: Sound{Start: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := sampleOf(t, ds, 0)
	if x := signalOf(t, s.Value); !slices.Equal(x.Val, []float64{4, 5}) || x.Rate != 8000 ||
		rowsOf(t, s.Target).W != 2 || !slices.Equal(ds.Info().Space.Shape, []int{1, 2}) {
		t.Errorf("%+v %+v", x, s.Target)
	}
	if ds, err = OpenFS(fsys, Spec{Format: "signals", Images: "s.npy", Sound: Sound{Rate: 100}}); err != nil {
		t.Fatal(err)
	}
	if x := signalOf(t, sampleOf(t, ds, 0).Value); x.C != 1 || x.T != 2 || x.Rate != 100 {
		t.Errorf("%+v", x)
	}
	if _, err := ds.Sample(1); !errors.Is(err, ErrNotFinite) {
		t.Errorf("an infinity: %v", err)
	}
	_, err = OpenFS(fsys, Spec{Format: "signals", Images: "s.npz", Sound: Sound{Rate: 16000}})
	wantError(t, err, "s.npz", "the array rate says 8000 Hz, sound.rate 16000 Hz: resample")
	_, err = OpenFS(fsys, Spec{Format: "signals", Images: "s.npy", Sound: Sound{Mono: "right"}})
	wantError(t, err, "s.npy", "one channel")
	_, err = OpenFS(fsys, Spec{Format: "signals", Images: "s.npy", Sound: Sound{Length: 3}})
	wantError(t, err, "s.npy", "want 3 from number 0 on")
}
