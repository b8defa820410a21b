package onnx

import (
	"maps"

	"nero/data/tensor"
	"nero/model/onnx/onnxpb"
)

// Element types as the format numbers them. noTensor marks values that are no tensors.
const (
	noTensor = -1
	float32T = int32(tensor.Float32)
	int64T   = int32(tensor.Int64)
	int32T   = int32(tensor.Int32)
	uint8T   = int32(tensor.Uint8)
	boolT    = int32(tensor.Bool)
	stringT  = 8
)

// fixedTypes are the element types of the outputs of operators that always make the same ones. 0 stands for the type of
// the first input.
var fixedTypes = map[string][]int32{
	"Equal": {boolT}, "Greater": {boolT}, "GreaterOrEqual": {boolT}, "Less": {boolT}, "LessOrEqual": {boolT},
	"And": {boolT}, "Or": {boolT},
	"Xor": {boolT}, "Not": {boolT}, "IsNaN": {boolT}, "IsInf": {boolT},
	"Shape": {int64T}, "Size": {int64T}, "NonZero": {int64T}, "ArgMax": {int64T}, "ArgMin": {int64T},
	"NonMaxSuppression": {int64T},
	"TopK":              {0, int64T}, "MaxPool": {0, int64T}, "Unique": {0, int64T, int64T, int64T},
	"Dropout":     {0, boolT},
	"ConvInteger": {int32T}, "MatMulInteger": {int32T}, "DynamicQuantizeLinear": {uint8T, float32T, uint8T},
	"StringNormalizer": {stringT}, "StringConcat": {stringT}, "StringSplit": {stringT, int64T},
	"TfIdfVectorizer": {float32T},
	"SequenceLength":  {int64T}, "OptionalHasElement": {boolT},
}

// typeFrom says which input has the type of the output where that is not the first.
var typeFrom = map[string]int{
	"Where": 1, "OneHot": 2, "CastLike": 1, "DequantizeLinear": 1, "QuantizeLinear": 2, "QLinearConv": 7,
	"QLinearMatMul": 7,
}

// typeAttr says which attribute holds the type of the output, and what holds without it; 0 stands for the type of the
// first input.
var typeAttr = map[string]struct {
	name string
	def  int32
}{
	"Cast": {"to", 0}, "RandomNormal": {"dtype", float32T}, "RandomUniform": {"dtype", float32T},
	"RandomNormalLike":  {"dtype", 0},
	"RandomUniformLike": {"dtype", 0}, "Bernoulli": {"dtype", 0}, "EyeLike": {"dtype", 0},
	"Multinomial": {"dtype", int32T},
	"HannWindow":  {"output_datatype", float32T}, "HammingWindow": {"output_datatype", float32T},
	"BlackmanWindow": {"output_datatype", float32T}, "MelWeightMatrix": {"output_datatype", float32T},
}

// elemTypes are the element types of the values of a graph: what the file declares, else what follows from the
// operators. outer are those of the graphs around it. Values of unknown type are 0, those that are no tensors noTensor.
func elemTypes(g *onnxpb.GraphProto, outer map[string]int32) map[string]int32 {
	types := make(map[string]int32, len(outer)+len(g.GetNode()))
	maps.Copy(types, outer)
	declared := map[string]bool{}
	for _, list := range [][]*onnxpb.ValueInfoProto{g.GetInput(), g.GetOutput(), g.GetValueInfo()} {
		for _, v := range list {
			switch p := port(v); {
			case p.Kind == "tensor" && p.DType != 0:
				types[v.GetName()], declared[v.GetName()] = int32(p.DType), true
			case p.Kind != "tensor" && p.Kind != "":
				types[v.GetName()], declared[v.GetName()] = noTensor, true
			}
		}
	}
	for _, t := range g.GetInitializer() {
		types[t.GetName()] = t.GetDataType()
	}
	for _, t := range g.GetSparseInitializer() {
		types[t.GetValues().GetName()] = t.GetValues().GetDataType()
	}
	for _, n := range g.GetNode() {
		made := outTypes(n, types)
		for i, o := range n.GetOutput() {
			if o != "" && !declared[o] && i < len(made) {
				types[o] = made[i]
			}
		}
	}
	return types
}

// outTypes are the element types of a node's outputs.
func outTypes(n *onnxpb.NodeProto, types map[string]int32) []int32 {
	out := make([]int32, len(n.GetOutput()))
	if d := standard(n.GetDomain()); d != "" && d != "com.microsoft" {
		return out
	}
	in := func(i int) int32 {
		if i < len(n.GetInput()) {
			return types[n.GetInput()[i]]
		}
		return 0
	}
	first := in(0)
	fill := func(t int32) []int32 {
		for i := range out {
			out[i] = t
		}
		return out
	}
	op := n.GetOpType()
	if notTensors[op] {
		return fill(noTensor)
	}
	switch op {
	case "Constant":
		return fill(constantType(n))
	case "ConstantOfShape":
		if t := Attr(n, "value").GetT(); t != nil {
			return fill(t.GetDataType())
		}
		return fill(float32T)
	case "If", "Loop", "Scan":
		return bodyTypes(n, types)
	case "SequenceAt", "ConcatFromSequence", "ReverseSequence":
		if first == noTensor {
			return fill(0) // the elements of a sequence: only a declaration would tell
		}
	case "QuantizeLinear":
		if in(2) == 0 {
			return fill(uint8T)
		}
	}
	if a, ok := typeAttr[op]; ok {
		if t := int32(Int(n, a.name, int64(a.def))); t != 0 {
			return fill(t)
		}
		return fill(first)
	}
	if i, ok := typeFrom[op]; ok {
		return fill(in(i))
	}
	fill(first)
	for i, t := range fixedTypes[op] {
		if i < len(out) && t != 0 {
			out[i] = t
		}
	}
	return out
}

// constantType is the element type of a Constant.
func constantType(n *onnxpb.NodeProto) int32 {
	for _, a := range n.GetAttribute() {
		switch a.GetName() {
		case "value":
			return a.GetT().GetDataType()
		case "sparse_value":
			return a.GetSparseTensor().GetValues().GetDataType()
		case "value_float", "value_floats":
			return float32T
		case "value_int", "value_ints":
			return int64T
		case "value_string", "value_strings":
			return stringT
		}
	}
	return 0
}

// bodyTypes are the element types that the body of a control-flow node makes.
func bodyTypes(n *onnxpb.NodeProto, types map[string]int32) []int32 {
	out := make([]int32, len(n.GetOutput()))
	name, skip := "body", 0
	switch n.GetOpType() {
	case "If":
		name = "then_branch"
	case "Loop":
		skip = 1 // the condition
	}
	g := Attr(n, name).GetG()
	inner := elemTypes(g, types)
	for i := range out {
		if k := i + skip; k < len(g.GetOutput()) {
			out[i] = inner[g.GetOutput()[k].GetName()]
		}
	}
	return out
}
