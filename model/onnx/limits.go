package onnx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx/onnxpb"
)

// Limits say which files a body can run.
type Limits struct {
	// for messages: "wasm (ONNX Runtime 1.18.0)"
	Name string
	// of the standard operators
	MinOpset int
	// of the standard operators
	MaxOpset int
	// of the file format
	MaxIR int
	// newest version of each further set of operators; 0 for any
	Domains map[string]int
	// standard operators that have no float64 kernel
	NoFloat64 []string
}

// release is what a version of ONNX Runtime reads. The numbers are those of the ONNX release that it was built with;
// where a version is not listed, the one before it counts. 1.18.0 and 1.27.0 were measured with files of every version.
type release struct{ minor, opset, ir int }

var releases = []release{{17, 20, 9}, {18, 21, 10}, {21, 22, 10}, {23, 23, 11}, {27, 26, 13}}

// noFloat64 lists the operators without a float64 kernel on the processor in ONNX Runtime 1.18.0, 1.27.0 and 1.30.0.
var noFloat64 = []string{"Conv", "ConvTranspose", "AveragePool", "GlobalAveragePool", "Erf"}

func runtime(name string, r release) Limits {
	return Limits{
		Name: name, MinOpset: 7, MaxOpset: r.opset, MaxIR: r.ir, NoFloat64: noFloat64,
		Domains: map[string]int{
			"ai.onnx.ml": 5, "com.microsoft": 0, "com.microsoft.nchwc": 0,
			"com.microsoft.experimental": 0,
		},
	}
}

// Wasm are the limits of the embedded body, ONNX Runtime 1.18.0.
func Wasm() Limits { return runtime("wasm (ONNX Runtime 1.18.0)", releases[1]) }

// Native are the limits of a shared library of ONNX Runtime, by its version as in "1.27.0". A version newer than every
// one known here has the limits of the newest known. An error says that the version is older than 1.17 or not a
// version.
func Native(version string) (Limits, error) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return Limits{}, fmt.Errorf("ONNX Runtime version %q: want one as in 1.27.0", version)
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return Limits{}, fmt.Errorf("ONNX Runtime version %q: want one as in 1.27.0", version)
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return Limits{}, fmt.Errorf("ONNX Runtime version %q: want one as in 1.27.0", version)
	}
	if major > 1 {
		minor = 1 << 20
	}
	if major < 1 || minor < releases[0].minor {
		return Limits{}, fmt.Errorf("ONNX Runtime %s is too old: 1.%d or newer is needed", version, releases[0].minor)
	}
	r := releases[0]
	for _, x := range releases {
		if x.minor <= minor {
			r = x
		}
	}
	return runtime("native (ONNX Runtime "+version+")", r), nil
}

// LimitError says that a body cannot run a model, and which one could.
type LimitError struct {
	// file
	Model string
	// that refuses
	Body string
	// what the model asks for, and what the body takes
	Reason string
	// what to do
	Remedy string
}

// Error is all of it in one line.
func (e *LimitError) Error() string {
	return e.Model + ": " + e.Body + " cannot run this model: " + e.Reason + "; " + e.Remedy
}

// Check says whether a body can run the model, before it is opened: versions of file format and operators, domains,
// element types, operators without float64 kernels. The error is a [*LimitError] that names what would take the model.
func (m *Model) Check(l Limits) error {
	reason, remedy := m.refused(l)
	if reason == "" {
		return nil
	}
	if remedy == "" {
		remedy = m.taker(l)
	}
	return &LimitError{Model: m.name, Body: l.Name, Reason: reason, Remedy: remedy}
}

// refused is why a body does not take the model, "" if it does, and a remedy when another body would not help.
func (m *Model) refused(l Limits) (reason, remedy string) {
	s := m.sig
	if v := s.Opset(""); v > l.MaxOpset {
		return fmt.Sprintf("it uses operator set %d, the newest taken is %d", v, l.MaxOpset), ""
	} else if v != 0 && v < l.MinOpset {
		return fmt.Sprintf("it uses operator set %d, the oldest taken is %d", v, l.MinOpset),
			fmt.Sprintf("convert it (Python: onnx.version_converter.convert_version(model, %d)) or export it again",
				max(l.MinOpset, 13))
	}
	if s.IR > l.MaxIR {
		return fmt.Sprintf("its file format is IR %d, the newest taken is %d", s.IR, l.MaxIR), ""
	}
	for _, d := range s.Domains {
		if d == "" {
			continue
		}
		newest, ok := l.Domains[d]
		if !ok {
			return fmt.Sprintf("it uses operators of the domain %s (%s)", quote(d), m.firstOf(d)),
				"such operators need a runtime that was built with them: serve the model and use the remote engine, " +
					"or export it with standard operators"
		}
		if v := s.Opset(d); newest > 0 && v > newest {
			return fmt.Sprintf("it uses version %d of the operators of %s, the newest taken is %d", v, quote(d),
				newest), ""
		}
	}
	for _, p := range append(append([]Port{}, s.Inputs...), s.Outputs...) {
		if p.Kind != "tensor" && p.Kind != "" {
			return fmt.Sprintf("%s is a %s", quote(p.Name), p.Kind),
				"export the model so that every input and output is a tensor"
		}
		if p.DType.Size() == 0 && p.DType != tensor.Undefined {
			return fmt.Sprintf("%s has elements of %s", quote(p.Name), typeName(int32(p.DType))),
				"export the model with inputs and outputs of numbers of 8 to 64 bits"
		}
	}
	if where := m.float64Kernel(l.NoFloat64); where != "" {
		return where + " computes in float64, for which ONNX Runtime has no kernel", "export the model in float32"
	}
	return "", ""
}

// firstOf names an operator of a domain that is in use.
func (m *Model) firstOf(domain string) string {
	name := ""
	visitModel(m.proto, func(n *onnxpb.NodeProto) {
		if name == "" && standard(n.GetDomain()) == domain {
			name = n.GetOpType()
		}
	}, nil)
	return name
}

// float64Kernel names a node of one of the operators that surely reads float64: a stored weight of that type, or an
// input of the graph of that type in a graph that casts nothing.
func (m *Model) float64Kernel(ops []string) string {
	if len(ops) == 0 {
		return ""
	}
	none := map[string]bool{}
	for _, o := range ops {
		none[o] = true
	}
	double := map[string]bool{}
	for _, t := range m.proto.GetGraph().GetInitializer() {
		double[t.GetName()] = tensor.DType(t.GetDataType()) == tensor.Float64
	}
	follow := true
	for _, n := range m.proto.GetGraph().GetNode() {
		follow = follow && n.GetOpType() != "Cast" && n.GetOpType() != "CastLike"
	}
	for _, p := range m.sig.Inputs {
		double[p.Name] = follow && p.DType == tensor.Float64
	}
	for _, n := range m.proto.GetGraph().GetNode() {
		reads := false
		for _, in := range n.GetInput() {
			reads = reads || double[in]
		}
		if reads && standard(n.GetDomain()) == "" && none[n.GetOpType()] {
			return Describe(n)
		}
		for _, out := range n.GetOutput() {
			// The float64 value travels on only through operators whose output has the type of their input.
			double[out] = reads && follow && sameType[n.GetOpType()]
		}
	}
	return ""
}

// sameType lists operators whose output surely has the element type of their float64 input.
var sameType = map[string]bool{
	"Relu": true, "LeakyRelu": true, "Add": true, "Sub": true, "Mul": true, "Div": true, "MaxPool": true, "Gemm": true,
	"MatMul":  true,
	"Reshape": true, "Flatten": true, "Transpose": true, "Sigmoid": true, "Tanh": true, "BatchNormalization": true,
	"Identity": true,
	"Squeeze":  true, "Unsqueeze": true, "Concat": true, "Pad": true, "Softmax": true,
}

// taker says which other body takes the model.
func (m *Model) taker(l Limits) string {
	if w := Wasm(); w.Name != l.Name {
		if reason, _ := m.refused(w); reason == "" {
			return "the wasm engine takes it: --engine wasm"
		}
	}
	for _, r := range releases {
		if reason, _ := m.refused(runtime("", r)); reason == "" {
			return fmt.Sprintf("the native engine with ONNX Runtime 1.%d or newer takes it: --engine native (see "+
				"nero engine)", r.minor)
		}
	}
	return "no engine known here takes it; export it with an older operator set"
}

// ErrCannotRestamp is returned when a file really uses something of its newer format.
var ErrCannotRestamp = errors.New("the file uses its newer format")

// Restamp returns the bytes of the model for a body that reads only older file formats: the IR number is lowered to
// l.MaxIR, nothing else is touched. That is safe as long as no stored tensor, port or conversion has an element type
// that the older format lacks, which is checked. The operator set is never changed. note says what was done; a model
// that the body takes as it is comes back encoded anew with an empty note.
func (m *Model) Restamp(l Limits) (b []byte, note string, err error) {
	p := shallow(m.proto)
	if m.sig.IR > l.MaxIR {
		if t := m.newestType(); newSince(t) > l.MaxIR {
			return nil, "", fmt.Errorf("%s: %w: elements of %s need IR %d, %s reads IR %d", m.name, ErrCannotRestamp,
				typeName(t), newSince(t), l.Name, l.MaxIR)
		}
		p.IrVersion = new(int64(l.MaxIR))
		note = fmt.Sprintf("file format lowered from IR %d to %d, which %s reads; nothing of the newer one is in use",
			m.sig.IR, l.MaxIR, l.Name)
	}
	b, err = proto.Marshal(p)
	return b, note, err
}

// newSince is the IR version that brought an element type; 1 for the old ones.
func newSince(t int32) int {
	switch {
	case t >= 25: // 2-bit integers
		return 13
	case t == 24: // float8e8m0
		return 12
	case t == 23: // float4e2m1
		return 11
	case t >= 21: // 4-bit integers
		return 10
	case t >= 17: // 8-bit floats
		return 9
	}
	return 1
}

// newestType is the highest element type that the file names.
func (m *Model) newestType() int32 {
	var top int32
	visitModel(m.proto, func(n *onnxpb.NodeProto) {
		for _, a := range n.GetAttribute() {
			if a.GetName() == "to" || a.GetName() == "dtype" || a.GetName() == "output_dtype" {
				top = max(top, int32(min(a.GetI(), 1<<20)))
			}
		}
	}, func(_ string, t *onnxpb.TensorProto) { top = max(top, t.GetDataType()) })
	g := m.proto.GetGraph()
	for _, vs := range [][]*onnxpb.ValueInfoProto{g.GetInput(), g.GetOutput(), g.GetValueInfo()} {
		for _, v := range vs {
			top = max(top, v.GetType().GetTensorType().GetElemType())
		}
	}
	return top
}
