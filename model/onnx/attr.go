package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx/onnxpb"
)

// Attr is the attribute of that name; nil if the node has none.
func Attr(n *onnxpb.NodeProto, name string) *onnxpb.AttributeProto {
	for _, a := range n.GetAttribute() {
		if a.GetName() == name {
			return a
		}
	}
	return nil
}

// Int is an integer attribute, def if the node has none.
func Int(n *onnxpb.NodeProto, name string, def int64) int64 {
	if a := Attr(n, name); a != nil {
		return a.GetI()
	}
	return def
}

// Float is a float attribute, def if the node has none.
func Float(n *onnxpb.NodeProto, name string, def float32) float32 {
	if a := Attr(n, name); a != nil {
		return a.GetF()
	}
	return def
}

// String is a string attribute, def if the node has none.
func String(n *onnxpb.NodeProto, name, def string) string {
	if a := Attr(n, name); a != nil {
		return string(a.GetS())
	}
	return def
}

// Ints is an attribute that lists integers, def if the node has none.
func Ints(n *onnxpb.NodeProto, name string, def []int64) []int64 {
	if a := Attr(n, name); a != nil {
		return a.GetInts()
	}
	return def
}

// AttrInt makes an integer attribute.
func AttrInt(name string, v int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_INT.Enum(), I: &v}
}

// AttrFloat makes a float attribute.
func AttrFloat(name string, v float32) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_FLOAT.Enum(), F: &v}
}

// AttrString makes a string attribute.
func AttrString(name, v string) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_STRING.Enum(), S: []byte(v)}
}

// AttrInts makes an attribute that lists integers.
func AttrInts(name string, v ...int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_INTS.Enum(), Ints: v}
}

// AttrTensor makes an attribute that holds a tensor.
func AttrTensor(name string, t *onnxpb.TensorProto) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_TENSOR.Enum(), T: t}
}

// Stored makes a stored tensor out of t, which is copied.
func Stored(name string, t tensor.Tensor) *onnxpb.TensorProto {
	dims := make([]int64, len(t.Shape))
	for i, d := range t.Shape {
		dims[i] = int64(d)
	}
	return &onnxpb.TensorProto{
		Name: &name, Dims: dims, DataType: new(int32(t.DType)),
		RawData: append([]byte{}, t.Raw...),
	}
}

// maxElements bounds the elements of one stored tensor: no file of [MaxSize] bytes holds more whole bytes.
const maxElements = MaxSize

// StoredShape is the shape of a stored tensor, checked against negative lengths and absurd sizes.
func StoredShape(t *onnxpb.TensorProto) ([]int, error) {
	shape := make([]int, len(t.GetDims()))
	for i, d := range t.GetDims() {
		if d < 0 || d > maxElements {
			return nil, fmt.Errorf("axis %d has the length %d", i, d)
		}
		shape[i] = int(d)
	}
	if _, err := tensor.CheckedCount(shape, maxElements); err != nil {
		return nil, err
	}
	return shape, nil
}

// fields of TensorProto that hold elements when raw_data does not, and how many entries one element takes.
func typedLen(t *onnxpb.TensorProto) (have, per int, known bool) {
	switch onnxpb.TensorProto_DataType(t.GetDataType()) {
	case onnxpb.TensorProto_FLOAT:
		return len(t.GetFloatData()), 1, true
	case onnxpb.TensorProto_COMPLEX64:
		return len(t.GetFloatData()), 2, true
	case onnxpb.TensorProto_DOUBLE:
		return len(t.GetDoubleData()), 1, true
	case onnxpb.TensorProto_COMPLEX128:
		return len(t.GetDoubleData()), 2, true
	case onnxpb.TensorProto_INT64:
		return len(t.GetInt64Data()), 1, true
	case onnxpb.TensorProto_UINT32, onnxpb.TensorProto_UINT64:
		return len(t.GetUint64Data()), 1, true
	case onnxpb.TensorProto_STRING:
		return len(t.GetStringData()), 1, true
	case onnxpb.TensorProto_INT32, onnxpb.TensorProto_INT16, onnxpb.TensorProto_INT8, onnxpb.TensorProto_UINT16,
		onnxpb.TensorProto_UINT8, onnxpb.TensorProto_BOOL, onnxpb.TensorProto_FLOAT16, onnxpb.TensorProto_BFLOAT16:
		return len(t.GetInt32Data()), 1, true
	case onnxpb.TensorProto_UNDEFINED:
	}
	return 0, 0, false
}

// checkStored says whether a stored tensor holds as many elements as its shape promises.
func checkStored(t *onnxpb.TensorProto) error {
	shape, err := StoredShape(t)
	if err != nil {
		return err
	}
	n := tensor.Count(shape)
	if len(t.GetRawData()) > 0 {
		if w := tensor.DType(t.GetDataType()).Size(); w > 0 && n*w != len(t.GetRawData()) {
			return fmt.Errorf("%s%v takes %d bytes, the file holds %d", typeName(t.GetDataType()), shape, n*w,
				len(t.GetRawData()))
		}
		return nil
	}
	if have, per, known := typedLen(t); known && have != n*per {
		return fmt.Errorf("%s%v takes %d elements, the file holds %d", typeName(t.GetDataType()), shape, n*per, have)
	}
	return nil
}

// Value decodes a stored tensor. Strings, complex numbers, 8-bit floats and packed integers are refused.
func Value(t *onnxpb.TensorProto) (tensor.Tensor, error) {
	if t.GetDataLocation() == onnxpb.TensorProto_EXTERNAL {
		return tensor.Tensor{}, fmt.Errorf("%s lies in another file", quote(t.GetName()))
	}
	d := tensor.DType(t.GetDataType())
	if d.Size() == 0 {
		return tensor.Tensor{}, fmt.Errorf("%s has elements of %s, which is not read here", quote(t.GetName()),
			typeName(t.GetDataType()))
	}
	if err := checkStored(t); err != nil {
		return tensor.Tensor{}, fmt.Errorf("%s: %w", quote(t.GetName()), err)
	}
	shape, err := StoredShape(t)
	if err != nil {
		return tensor.Tensor{}, err
	}
	out := tensor.New(d, shape...)
	if len(t.GetRawData()) > 0 {
		copy(out.Raw, t.GetRawData())
		return out, nil
	}
	le := binary.LittleEndian
	put := func(i int, bits uint64) {
		switch d.Size() {
		case 1:
			out.Raw[i] = byte(bits)
		case 2:
			le.PutUint16(out.Raw[2*i:], uint16(bits))
		case 4:
			le.PutUint32(out.Raw[4*i:], uint32(bits))
		default:
			le.PutUint64(out.Raw[8*i:], bits)
		}
	}
	switch d {
	case tensor.Float32:
		for i, v := range t.GetFloatData() {
			put(i, uint64(math.Float32bits(v)))
		}
	case tensor.Float64:
		for i, v := range t.GetDoubleData() {
			put(i, math.Float64bits(v))
		}
	case tensor.Int64:
		for i, v := range t.GetInt64Data() {
			put(i, uint64(v))
		}
	case tensor.Uint32, tensor.Uint64:
		for i, v := range t.GetUint64Data() {
			put(i, v)
		}
	case tensor.Undefined, tensor.String, tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32,
		tensor.Bool,
		tensor.Float16, tensor.BFloat16:
		for i, v := range t.GetInt32Data() {
			put(i, uint64(v))
		}
	}
	return out, nil
}

// Integers are the elements of a stored tensor of an integer or boolean type.
func Integers(t *onnxpb.TensorProto) ([]int64, error) {
	v, err := Value(t)
	if err != nil {
		return nil, err
	}
	out := make([]int64, v.Len())
	le := binary.LittleEndian
	for i := range out {
		b := v.Raw[i*v.DType.Size():]
		switch v.DType {
		case tensor.Int64, tensor.Uint64:
			out[i] = int64(le.Uint64(b))
		case tensor.Int32:
			out[i] = int64(int32(le.Uint32(b)))
		case tensor.Uint32:
			out[i] = int64(le.Uint32(b))
		case tensor.Int16:
			out[i] = int64(int16(le.Uint16(b)))
		case tensor.Uint16:
			out[i] = int64(le.Uint16(b))
		case tensor.Int8:
			out[i] = int64(int8(b[0]))
		case tensor.Uint8, tensor.Bool:
			out[i] = int64(b[0])
		case tensor.Undefined, tensor.String, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
			return nil, fmt.Errorf("%s holds %s, want integers", quote(t.GetName()), v.DType)
		}
	}
	return out, nil
}

// shallow copies a message without its parts: lists, submessages and unknown fields are shared with the original.
func shallow[M proto.Message](m M) M {
	src := m.ProtoReflect()
	dst := src.New()
	for fd, v := range src.Range {
		dst.Set(fd, v)
	}
	dst.SetUnknown(src.GetUnknown())
	out, ok := dst.Interface().(M)
	if !ok {
		panic("onnx: a copy of another type")
	}
	return out
}

// NodeLabel names a node for people: its name, else its first output, else its operator.
func NodeLabel(n *onnxpb.NodeProto) string {
	if n.GetName() != "" {
		return n.GetName()
	}
	for _, o := range n.GetOutput() {
		if o != "" {
			return o
		}
	}
	return n.GetOpType()
}

// OpLabel names an operator for people: its type, behind its domain unless that is ONNX's own.
func OpLabel(n *onnxpb.NodeProto) string {
	if d := n.GetDomain(); d != "" && d != "ai.onnx" {
		return d + "." + n.GetOpType()
	}
	return n.GetOpType()
}
