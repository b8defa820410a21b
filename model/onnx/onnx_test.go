package onnx_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

func read(tb testing.TB, name string) *onnx.Model {
	tb.Helper()
	m, err := onnx.Read(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func raw(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestSignature(t *testing.T) {
	s := read(t, "cnn.onnx").Signature()
	want := onnx.Signature{
		Inputs: []onnx.Port{{
			Name: "input", Kind: "tensor", DType: tensor.Float32, Ranked: true,
			Shape: []onnx.Dim{{-1, "N"}, {1, ""}, {28, ""}, {28, ""}},
		}},
		Outputs: []onnx.Port{{
			Name: "output", Kind: "tensor", DType: tensor.Float32, Ranked: true,
			Shape: []onnx.Dim{{-1, "N"}, {10, ""}},
		}},
		IR: 8, Opsets: []onnx.Opset{{"", 16}}, Domains: []string{""}, Producer: "pytorch",
		ProducerVersion: "1.13.0", Graph: "torch_jit",
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	if s.Batch() != 0 {
		t.Errorf("batch %d, want a free one", s.Batch())
	}
	if got := s.Inputs[0].String(); got != "input float32[N 1 28 28]" {
		t.Error(got)
	}
	if b := read(t, "turns.onnx").Signature().Batch(); b != 1 {
		t.Errorf("fixed batch %d, want 1", b)
	}
}

// Files of IR 3 list their weights as inputs; the first graph input of this one is a weight.
func TestSignatureIR3(t *testing.T) {
	s := read(t, "ir3.onnx").Signature()
	if got := onnx.Names(s.Inputs); !slices.Equal(got, []string{"x"}) {
		t.Errorf("inputs %v, want x alone", got)
	}
	if got := onnx.Names(s.Defaults); !slices.Equal(got, []string{"w"}) {
		t.Errorf("defaults %v, want w alone", got)
	}
}

func TestSignatureFreeAxes(t *testing.T) {
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "batch", 0, -1, "")
	b.Output(b.Op("Relu", []string{x}), tensor.Float32)
	b.Graph().Output[0].Type = nil
	b.Header().MetadataProps = []*onnxpb.StringStringEntryProto{{Key: new("k"), Value: new("v")}}
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	s := m.Signature()
	if got := s.Inputs[0].Sizes(); !slices.Equal(got, []int{-1, -1, -1, -1}) {
		t.Errorf("sizes %v: names, nothing, 0 and -1 all mean a free axis", got)
	}
	if s.Inputs[0].ShapeString() != "[batch ? ? ?]" || s.Outputs[0].Ranked || s.Metadata["k"] != "v" {
		t.Errorf("%+v", s)
	}
}

func TestLoadRefuses(t *testing.T) {
	cnn := raw(t, "cnn.onnx")
	edit := func(f func(p *onnxpb.ModelProto)) []byte {
		p := &onnxpb.ModelProto{}
		if err := proto.Unmarshal(cnn, p); err != nil {
			t.Fatal(err)
		}
		f(p)
		b, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	pad := func(s string, n int) []byte { return append([]byte(s), bytes.Repeat([]byte{0xff, 0x03}, n)...) }
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "is empty"},
		{"png", pad("\x89PNG\r\n\x1a\n", 40), "PNG image"},
		{"jpeg", pad("\xff\xd8\xff\xe0", 40), "JPEG image"},
		{"text", []byte("hello, this is no model\n"), "text file"},
		{"html", []byte("\n<!DOCTYPE html><html><body>404</body></html>"), "HTML page"},
		{"json", []byte(`{"error": "not found"}`), "JSON"},
		{"lfs", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"), "git lfs pull"},
		{"checkpoint", raw(t, "bad_checkpoint.pt"), "torch.onnx.export"},
		{"old checkpoint", raw(t, "bad_old_checkpoint.pt"), "torch.onnx.export"},
		{"gzip", pad("\x1f\x8b\x08\x00", 40), "gzip"},
		{"hdf5", pad("\x89HDF\r\n\x1a\n", 40), "Keras"},
		{"npy", pad("\x93NUMPY\x01\x00", 40), "NumPy array"},
		{"tflite", pad("\x1c\x00\x00\x00TFL3", 40), "TensorFlow Lite"},
		{"ort", pad("\x18\x00\x00\x00ORTM", 40), ".ort"},
		{"safetensors", []byte("\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":{\"dtype\":\"F32\"}}"), "safetensors"},
		{"cut in the graph", cnn[:len(cnn)/2], "bytes of the graph are missing"},
		{"cut in the header", cnn[:6], "cut off"},
		{"cut after the graph", edit(func(p *onnxpb.ModelProto) { p.OpsetImport = nil }), "seems to be cut off"},
		{"other protobuf", []byte("\x08\x01\x12\x03abc"), "TensorFlow"},
		{"no nodes", edit(func(p *onnxpb.ModelProto) { p.Graph.Node = nil }), "no nodes"},
		{"no outputs", edit(func(p *onnxpb.ModelProto) { p.Graph.Output = nil }), "no outputs"},
		{
			"missing value", edit(func(p *onnxpb.ModelProto) { p.Graph.Node[1].Input[0] = "ghost" }),
			`"ghost", which nothing before it makes`,
		},
		{
			"value made twice", edit(
				func(p *onnxpb.ModelProto) { p.Graph.Node[1].Output[0] = p.Graph.Node[0].Output[0] }),
			"exists already",
		},
		{
			"output of nothing", edit(func(p *onnxpb.ModelProto) { p.Graph.Output[0].Name = new("ghost") }),
			`nothing makes the output "ghost"`,
		},
		{"no operator", edit(func(p *onnxpb.ModelProto) { p.Graph.Node[1].OpType = nil }), "has no operator"},
		{
			"short weights", edit(
				func(p *onnxpb.ModelProto) { p.Graph.Initializer[0].RawData = p.Graph.Initializer[0].RawData[4:] }),
			"bytes, the file holds",
		},
		{
			"negative axis", edit(func(p *onnxpb.ModelProto) { p.Graph.Initializer[0].Dims[0] = -1 }),
			"axis 0 has the length -1",
		},
		{"absurd weights", edit(func(p *onnxpb.ModelProto) {
			p.Graph.Initializer[0].Dims = []int64{
				1 << 30, 1 << 30,
				1 << 30,
			}
		}), "more than"},
		{"typed weights", edit(func(p *onnxpb.ModelProto) {
			p.Graph.Initializer[0].RawData, p.Graph.Initializer[0].FloatData = nil, []float32{1}
		}), "elements, the file holds 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := onnx.Load(c.b)
			if !errors.Is(err, onnx.ErrNotModel) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %q", err, c.want)
			}
		})
	}
	if _, err := onnx.Load(cnn); err != nil {
		t.Errorf("the model that the bad ones are made of: %v", err)
	}
}

// Every truncation is refused, and says so rather than blaming something else.
func TestLoadTruncated(t *testing.T) {
	b := raw(t, "turns.onnx")
	for n := 1; n < len(b); n++ {
		_, err := onnx.Load(b[:n])
		if err == nil {
			t.Fatalf("%d of %d bytes load", n, len(b))
		}
		if n > 30 && !strings.Contains(err.Error(), "cut off") {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
}

func TestLoadExternal(t *testing.T) {
	_, err := onnx.Load(raw(t, "external.onnx"))
	if !errors.Is(err, onnx.ErrExternalData) || !strings.Contains(err.Error(), "external.bin") {
		t.Errorf("%v, want the file's name and that it is not supported", err)
	}
}

func TestRead(t *testing.T) {
	if _, err := onnx.Read("testdata"); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := onnx.Read("testdata/none.onnx"); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "testdata/none.onnx") {
		t.Errorf("no file: %v", err)
	}
	if _, err := onnx.Read("testdata/bad_checkpoint.pt"); err == nil ||
		!strings.HasPrefix(err.Error(), "testdata/bad_checkpoint.pt: ") {
		t.Errorf("the message does not name the file: %v", err)
	}
}

func TestExpose(t *testing.T) {
	m := read(t, "cnn.onnx")
	before := m.Size()
	b, names, err := m.Expose()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 9 || !slices.Equal(names, m.Values()) {
		t.Errorf("exposed %v, want every inner value", names)
	}
	e, err := onnx.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := onnx.Names(e.Signature().Outputs), append([]string{"output"}, names...); !slices.Equal(got, want) {
		t.Errorf("outputs %v, want %v", got, want)
	}
	if len(m.Signature().Outputs) != 1 || len(m.Proto().GetGraph().GetOutput()) != 1 || m.Size() != before {
		t.Error("the original changed")
	}
	// Everything but the outputs is as it was.
	p := proto.CloneOf(e.Proto())
	p.Graph.Output = p.Graph.Output[:1]
	if !proto.Equal(p, m.Proto()) {
		t.Error("exposing changed more than the outputs")
	}

	again, names, err := e.Expose(m.Values()[1], "output")
	if err != nil || len(names) > 0 || &again[0] != &b[0] {
		t.Errorf("%v %v, want the same bytes of a model that answers the values already", names, err)
	}

	_, names, err = m.Expose(m.Values()[2], "output", m.Values()[0], m.Values()[2])
	if err != nil || !slices.Equal(names, []string{m.Values()[2], m.Values()[0]}) {
		t.Errorf("%v %v, want the two in the order asked for, each once", names, err)
	}
	if _, _, err := m.Expose("Relu"); !errors.Is(err, onnx.ErrNoValue) ||
		!strings.Contains(err.Error(), "Relu_output_0") {
		t.Errorf("an unknown value: %v, want the names that resemble it", err)
	}
	if _, _, err := m.Expose("input"); !errors.Is(err, onnx.ErrNoValue) ||
		!strings.Contains(err.Error(), "is an input") {
		t.Errorf("an input: %v", err)
	}
}

// Fields that the schema here does not know, as newer files have them, survive an edit.
func TestExposeKeepsUnknownFields(t *testing.T) {
	strange := []byte("\xfa\x3e\x03new") // field 1007, three bytes
	m, err := onnx.Load(append(raw(t, "cnn.onnx"), strange...))
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := m.Expose()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, strange) {
		t.Error("a field of a newer format was lost")
	}
}

func stamped(tb testing.TB, ir, opset int, edit func(*onnxpb.ModelProto)) *onnx.Model {
	tb.Helper()
	p := proto.CloneOf(read(tb, "cnn.onnx").Proto())
	p.IrVersion, p.OpsetImport[0].Version = new(int64(ir)), new(int64(opset))
	if edit != nil {
		edit(p)
	}
	b, err := proto.Marshal(p)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := onnx.Load(b)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestCheck(t *testing.T) {
	native, err := onnx.Native("1.27.0")
	if err != nil {
		t.Fatal(err)
	}
	old, err := onnx.Native("1.17.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		ir, opset int
		edit      func(*onnxpb.ModelProto)
		l         onnx.Limits
		// "" if it is taken
		want string
	}{
		{"newest for wasm", 10, 21, nil, onnx.Wasm(), ""},
		{
			"opset too new for wasm", 10, 22, nil, onnx.Wasm(),
			"operator set 22, the newest taken is 21; the native engine with ONNX Runtime 1.21 or newer takes it",
		},
		{
			"IR too new for wasm", 13, 21, nil, onnx.Wasm(),
			"IR 13, the newest taken is 10; the native engine with ONNX Runtime 1.27 or newer",
		},
		{"newest for native", 13, 26, nil, native, ""},
		{"opset too new for all", 13, 27, nil, native, "no engine known here takes it"},
		{"wasm helps an old library", 10, 21, nil, old, "the wasm engine takes it"},
		{"too old", 8, 6, nil, onnx.Wasm(), "operator set 6, the oldest taken is 7; convert it"},
		{
			"foreign operators", 8, 16, func(p *onnxpb.ModelProto) { p.Graph.Node[1].Domain = new("org.example") },
			onnx.Wasm(), `"org.example" (Relu)`,
		},
		{
			"contrib operators", 8, 16, func(p *onnxpb.ModelProto) { p.Graph.Node[1].Domain = new("com.microsoft") },
			onnx.Wasm(), "",
		},
		{"own function", 8, 16, func(p *onnxpb.ModelProto) {
			p.Graph.Node[1].Domain = new("org.example")
			p.Functions = []*onnxpb.FunctionProto{{Name: new("Relu"), Domain: new("org.example")}}
		}, onnx.Wasm(), ""},
		{"strings", 8, 16, func(p *onnxpb.ModelProto) {
			p.Graph.Output[0].GetType().GetTensorType().ElemType = new(
				int32(8))
		}, onnx.Wasm(), "elements of string"},
		{"sequence", 8, 16, func(p *onnxpb.ModelProto) {
			p.Graph.Output[0].Type = &onnxpb.TypeProto{
				Value: &onnxpb.TypeProto_SequenceType{SequenceType: &onnxpb.TypeProto_Sequence{}},
			}
		}, onnx.Wasm(), "is a sequence"},
		{"float64", 8, 16, func(p *onnxpb.ModelProto) {
			p.Graph.Input[0].GetType().GetTensorType().ElemType = new(int32(tensor.Float64))
		}, native, "computes in float64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := stamped(t, c.ir, c.opset, c.edit).Check(c.l)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, ok := errors.AsType[*onnx.LimitError](err); !ok || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), c.l.Name) {
				t.Errorf("%v\nwant %q", err, c.want)
			}
		})
	}
}

func TestNative(t *testing.T) {
	for version, opset := range map[string]int{"1.17.0": 20, "1.20.1": 21, "v1.27.0": 26, "1.99.0": 26, "2.0.0": 26} {
		if l, err := onnx.Native(version); err != nil || l.MaxOpset != opset {
			t.Errorf("%s: opset %d %v, want %d", version, l.MaxOpset, err, opset)
		}
	}
	for _, version := range []string{"1.16.3", "0.5.0", "x", "1", "1.x.0", ""} {
		if _, err := onnx.Native(version); err == nil {
			t.Errorf("%q is taken", version)
		}
	}
}

func TestRestamp(t *testing.T) {
	m := stamped(t, 13, 21, nil)
	b, note, err := m.Restamp(onnx.Wasm())
	if err != nil || !strings.Contains(note, "13 to 10") {
		t.Fatalf("%q %v", note, err)
	}
	r, err := onnx.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	if r.Signature().IR != 10 || r.Check(onnx.Wasm()) != nil {
		t.Errorf("IR %d: %v", r.Signature().IR, r.Check(onnx.Wasm()))
	}
	if m.Signature().IR != 13 || m.Proto().GetIrVersion() != 13 {
		t.Error("the original changed")
	}
	// A conversion to float4e2m1, which IR 11 brought.
	m = stamped(t, 13, 21, func(p *onnxpb.ModelProto) {
		p.Graph.Node[1].Attribute = append(p.Graph.Node[1].Attribute, onnx.AttrInt("to", 23))
	})
	if _, _, err := m.Restamp(onnx.Wasm()); !errors.Is(err, onnx.ErrCannotRestamp) {
		t.Errorf("%v, want a refusal: the newer format is in use", err)
	}
	if _, note, err := stamped(t, 8, 16, nil).Restamp(onnx.Wasm()); note != "" || err != nil {
		t.Errorf("%q %v, want nothing to do", note, err)
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		name string
		t    *onnxpb.TensorProto
		want []float64
	}{
		{"raw float32", onnx.Stored("w", tensor.FromFloat32([]float32{1, -2.5}, 2)), []float64{1, -2.5}},
		{
			"float_data", &onnxpb.TensorProto{DataType: new(int32(1)), Dims: []int64{2}, FloatData: []float32{1, -2.5}},
			[]float64{1, -2.5},
		},
		{
			"double_data", &onnxpb.TensorProto{
				DataType: new(int32(11)), Dims: []int64{2},
				DoubleData: []float64{1, -2.5},
			},
			[]float64{1, -2.5},
		},
		{
			"int64_data", &onnxpb.TensorProto{DataType: new(int32(7)), Dims: []int64{2}, Int64Data: []int64{1, -2}},
			[]float64{1, -2},
		},
		{
			"uint64_data", &onnxpb.TensorProto{
				DataType: new(int32(12)), Dims: []int64{1},
				Uint64Data: []uint64{1 << 31},
			},
			[]float64{1 << 31},
		},
		{"int8 in int32_data", &onnxpb.TensorProto{
			DataType: new(int32(3)), Dims: []int64{2},
			Int32Data: []int32{7, -8},
		}, []float64{7, -8}},
		{"float16 in int32_data", &onnxpb.TensorProto{
			DataType: new(int32(10)), Dims: []int64{1},
			Int32Data: []int32{0xC100},
		}, []float64{-2.5}},
		{"scalar", &onnxpb.TensorProto{DataType: new(int32(1)), FloatData: []float32{3}}, []float64{3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := onnx.Value(c.t)
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Float64s(nil)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v %v, want %v", got, err, c.want)
			}
		})
	}
	if _, err := onnx.Value(&onnxpb.TensorProto{
		DataType: new(int32(8)), Dims: []int64{1},
		StringData: [][]byte{{1}},
	}); err == nil {
		t.Error("strings are read")
	}
	if _, err := onnx.Integers(onnx.Stored("w", tensor.FromFloat32([]float32{1}, 1))); err == nil {
		t.Error("floats are read as integers")
	}
}

// FuzzLoad: any bytes load or are refused; what loads can be edited and loads again.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{
		"cnn.onnx", "turns.onnx", "ir3.onnx", "attention.onnx", "external.onnx",
		"bad_checkpoint.pt",
	} {
		f.Add(raw(f, name))
	}
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := onnx.Load(b)
		if err != nil {
			return
		}
		_ = m.Check(onnx.Wasm())
		e, _, err := m.Expose()
		if err != nil {
			return // names that are not UTF-8 decode, but do not encode
		}
		if _, err := onnx.Load(e); err != nil {
			t.Errorf("exposed: %v", err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	x := raw(b, "unet.onnx")
	b.SetBytes(int64(len(x)))
	for b.Loop() {
		if _, err := onnx.Load(x); err != nil {
			b.Fatal(err)
		}
	}
}
