package remote

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/model/engine/remote/oippb"
)

// whole wants tensors that agree with themselves.
func whole(t *testing.T, a *answer) {
	t.Helper()
	for _, x := range a.out {
		if err := x.Check(); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
	}
}

// Whatever a server answers to a text is one text, or numbers, or an error.
func FuzzTextAnswer(f *testing.F) {
	f.Add(false, []byte(`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1], "data": ["x"]}]}`))
	f.Add(false, []byte(`{"outputs": [{"name": "o", "datatype": "bytes", "shape": [1, 1], "data": [["x"]]}]}`))
	f.Add(true, []byte(`{"outputs": [{"name": "o", "datatype": "FP64", "shape": [2], "data": [1, NaN]}]}`))
	f.Add(true, []byte(`{"outputs": [{"name": "o", "datatype": "FP64", "shape": [999999999], "data": [1]}]}`))
	f.Add(true, []byte(`{"outputs": [{"name": "o", "datatype": "FP64", "shape": [0], "data": []}]}`))
	f.Fuzz(func(t *testing.T, numbers bool, body []byte) {
		kind := map[bool]string{false: "BYTES", true: "FP64"}[numbers]
		m := &Text{m: &Model{c: Config{MaxMessage: 1 << 20}}, out: portMeta{Name: "o", Datatype: kind}}
		got, err := m.m.c.answer(body, nil, []string{"o"})
		if err != nil {
			return
		}
		if said, err := m.read(got); err == nil && (said.Numbers != nil) != numbers {
			t.Fatalf("%+v", said)
		}
	})
}

// Whatever a server answers over HTTP is a whole answer or an error.
func FuzzHTTPAnswer(f *testing.F) {
	f.Add("", []byte(`{"outputs":[{"name":"y","datatype":"FP32","shape":[2],"data":[1,null]}]}`))
	f.Add("", []byte(`{"outputs":[{"name":"y","datatype":"FP64","shape":[1,2],"data":[[NaN,-Infinity]]}]}`))
	f.Add("", []byte(`{"model_version":"1","outputs":[{"name":"y","datatype":"INT64","shape":[1],"data":[9007199254740993]}]}`))
	f.Add("", []byte(`{"outputs":[{"name":"y","datatype":"UINT8","shape":[-1],"data":["a",{}]}]}`))
	f.Add("", []byte(`{"outputs":[{"name":"z","datatype":"BYTES","shape":[1],"data":["a"]}]}`))
	f.Add("84", []byte(`{"outputs":[{"name":"y","datatype":"FP16","shape":[1],"parameters":{"binary_data_size":2}}]}ab`))
	f.Add("9", []byte(`{}`))
	f.Add("-1", []byte(`{}`))
	h := &viaHTTP{c: Config{MaxMessage: 1 << 16}}
	f.Fuzz(func(t *testing.T, length string, body []byte) {
		if a, err := h.read(length, body, []string{"y"}); err == nil {
			whole(t, a)
		}
	})
}

// Whatever a server answers over gRPC is a whole answer or an error.
func FuzzGRPCAnswer(f *testing.F) {
	add := func(r *oippb.ModelInferResponse) {
		b, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	y := &oippb.ModelInferResponse_InferOutputTensor{Name: "y", Datatype: "FP32", Shape: []int64{1, 2}}
	add(&oippb.ModelInferResponse{
		ModelVersion: "1", Outputs: []*oippb.ModelInferResponse_InferOutputTensor{y},
		RawOutputContents: [][]byte{make([]byte, 8)},
	})
	for d := range dtypes {
		add(&oippb.ModelInferResponse{Outputs: []*oippb.ModelInferResponse_InferOutputTensor{{
			Name: "y", Datatype: d,
			Shape: []int64{1}, Contents: &oippb.InferTensorContents{
				BoolContents: []bool{true}, IntContents: []int32{-1}, Int64Contents: []int64{-1},
				UintContents: []uint32{300}, Uint64Contents: []uint64{1}, Fp32Contents: []float32{1},
				Fp64Contents: []float64{1},
			},
		}}})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, plain oippb.ModelInferResponse
		if (codec{}).Unmarshal(mem.BufferSlice{mem.SliceBuffer(b)}, &r) != nil {
			return
		}
		if err := proto.Unmarshal(b, &plain); err != nil || !proto.Equal(&r, &plain) {
			t.Fatalf("%x is %v, and %v without a look at its parts (%v)", b, &r, &plain, err)
		}
		if a, err := readGRPC(&r, []string{"y"}, 1<<16); err == nil {
			whole(t, a)
		}
	})
}

// What Parse takes it writes so that it reads the same again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"grpc://127.0.0.1:9000/m", "https://[::1]:8/a/v2/models/b%2Fc/infer", "http://h/%zz",
		"grpcs://h:0/é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(e.String()); err != nil || again != e {
			t.Errorf("%q gives %+v, written %q, which gives %+v (%v)", s, e, e.String(), again, err)
		}
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add("A: b\nC:d")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := Headers(s)
		if err != nil {
			return
		}
		for name := range h {
			if !isToken(name) {
				t.Errorf("%q gives the name %q", s, name)
			}
		}
	})
}

// Metadata of any kind is a signature or an error.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"inputs":[{"name":"x","datatype":"FP32","shape":[-1,3]}],"outputs":[{"name":"y","datatype":"fp64","shape":[]}]}`))
	f.Add([]byte(`{"inputs":[{"name":"x","datatype":"FP32","shape":[-2]}]}`))
	f.Add([]byte(`{"inputs":"[","outputs":[{"name":"\\"],[,","shape":[1,2]},{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d description
		if json.Unmarshal(b, &d) != nil {
			return
		}
		var m Model
		if m.sign(d) == nil && (len(m.in) == 0 || len(m.out) == 0 || len(m.sig.Inputs) != len(m.in)) {
			t.Errorf("%s gives %+v", b, m.sig)
		}
	})
}

// Numbers that travel as JSON come back as they were.
func TestJSONKeepsNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]tensor.DType{
			tensor.Float32, tensor.Float64, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8,
			tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Bool,
		}).Draw(t, "type")
		n := rapid.IntRange(0, 6).Draw(t, "n")
		x := tensor.New(d, n)
		for i := range x.Raw {
			x.Raw[i] = rapid.Byte().Draw(t, "byte")
			if d == tensor.Bool {
				x.Raw[i] &= 1
			}
		}
		v, err := x.Float64s(nil)
		if err != nil {
			t.Fatal(err)
		}
		finite := true
		for _, f := range v {
			finite = finite && !math.IsNaN(f) && !math.IsInf(f, 0)
		}
		text, err := writeJSON(x)
		if (err == nil) != finite {
			t.Fatalf("%v: %v", v, err)
		}
		if err != nil {
			return
		}
		y, err := readJSON(d, x.Shape, n, text)
		if err != nil || string(y.Raw) != string(x.Raw) {
			t.Errorf("%s %v travels as %s and comes back as %v (%v)", d, v, text, y, err)
		}
	})
}

// The words that JSON lacks are replaced where they stand for numbers, and nowhere else.
func TestStrictJSON(t *testing.T) {
	for in, want := range map[string]string{
		`[1,NaN]`:                        `[1,null]`,
		`[Infinity,-Infinity]`:           `[1e999,-1e999]`,
		`{"NaN":"a\"NaN\\","b":[NaN]}`:   `{"NaN":"a\"NaN\\","b":[null]}`,
		`{"error":"Infinity is a word"}`: `{"error":"Infinity is a word"}`,
		`[1]`:                            `[1]`,
	} {
		if got := string(strictJSON([]byte(in))); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	x, err := readJSON(tensor.Float64, []int{2, 2}, 4, json.RawMessage(`[[1e999,-1e999],[null,0.5]]`))
	if err != nil {
		t.Fatal(err)
	}
	v, err := x.Float64s(nil)
	if err != nil || !math.IsInf(v[0], 1) || !math.IsInf(v[1], -1) || !math.IsNaN(v[2]) || v[3] != 0.5 {
		t.Errorf("%v (%v)", v, err)
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for data, d := range map[string]tensor.DType{
		``: tensor.Float32, `[1]`: tensor.Float32, `[1,2,3]`: tensor.Float32, `["1",2]`: tensor.Float32,
		`[{},2]`: tensor.Float32, `[true,2]`: tensor.Float32,
		`[null,1]`: tensor.Int64, `[1.5,1]`: tensor.Int32, `[256,1]`: tensor.Uint8, `[-1,1]`: tensor.Uint64,
		`[2,1]`: tensor.Bool, `[1,1]`: tensor.Float16,
		`[9223372036854775808,1]`: tensor.Int64,
	} {
		if x, err := readJSON(d, []int{2}, 2, json.RawMessage(data)); err == nil {
			t.Errorf("%s as %s gives %v", data, d, x)
		}
	}
	big := strconv.FormatUint(math.MaxUint64, 10)
	if x, err := readJSON(tensor.Uint64, []int{1}, 1, json.RawMessage("["+big+"]")); err != nil ||
		string(x.Raw) != "\xff\xff\xff\xff\xff\xff\xff\xff" {
		t.Errorf("%s: %v (%v)", big, x, err)
	}
}
