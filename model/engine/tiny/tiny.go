// Package tiny writes small ONNX models from a few Go literals. Engines are checked with such models when no files
// are at hand and below the package that knows the whole ONNX schema.
package tiny

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"nero/data/tensor"
)

// Free is the length of an axis that any run may choose.
const Free = -1

// Model is an ONNX ModelProto with one graph. The zero values of Opset and IR mean 16 and 8.
type Model struct {
	Opset, IR int
	Nodes     []Node
	Inputs    []Port
	Outputs   []Port
	// initializers
	Constants []tensor.Named
}

// Node is one operator.
type Node struct {
	Op string
	// "" for an optional one that is left out
	Inputs  []string
	Outputs []string
	Attrs   []Attr
	// "" for the standard operators
	Domain string
}

// Attr is an attribute whose value is an int, a float32, a string or an []int.
type Attr struct {
	Name  string
	Value any
}

// Port is an input or output. Shape may hold [Free]; free axes at the same position share one name.
type Port struct {
	Name  string
	DType tensor.DType
	Shape []int
}

// Bytes is the encoded file. It panics on an attribute of another type.
func (m Model) Bytes() []byte {
	opset, ir := m.Opset, m.IR
	if opset == 0 {
		opset = 16
	}
	if ir == 0 {
		ir = 8
	}
	var b []byte
	b = number(b, 1, ir)
	b = text(b, 2, "nero")
	b = message(b, 7, m.graph())
	b = message(b, 8, number(nil, 2, opset))
	seen := map[string]bool{"": true}
	for _, n := range m.Nodes {
		if !seen[n.Domain] {
			seen[n.Domain] = true
			b = message(b, 8, number(text(nil, 1, n.Domain), 2, 1))
		}
	}
	return b
}

func (m Model) graph() []byte {
	var g []byte
	for _, n := range m.Nodes {
		g = message(g, 1, n.bytes())
	}
	g = text(g, 2, "sketch")
	for _, c := range m.Constants {
		var t []byte
		for _, d := range c.Shape {
			t = number(t, 1, d)
		}
		t = number(t, 2, int(c.DType))
		t = text(t, 8, c.Name)
		t = message(t, 9, c.Raw)
		g = message(g, 5, t)
	}
	for _, p := range m.Inputs {
		g = message(g, 11, p.bytes())
	}
	for _, p := range m.Outputs {
		g = message(g, 12, p.bytes())
	}
	return g
}

func (n Node) bytes() []byte {
	var b []byte
	for _, s := range n.Inputs {
		b = text(b, 1, s)
	}
	for _, s := range n.Outputs {
		b = text(b, 2, s)
	}
	b = text(b, 4, n.Op)
	for _, a := range n.Attrs {
		b = message(b, 5, a.bytes())
	}
	if n.Domain != "" {
		b = text(b, 7, n.Domain)
	}
	return b
}

func (a Attr) bytes() []byte {
	const float, integer, str, ints = 1, 2, 3, 7 // AttributeProto.AttributeType
	b := text(nil, 1, a.Name)
	switch v := a.Value.(type) {
	case float32:
		b = protowire.AppendTag(b, 2, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, math.Float32bits(v))
		return number(b, 20, float)
	case int:
		return number(number(b, 3, v), 20, integer)
	case string:
		return number(text(b, 4, v), 20, str)
	case []int:
		for _, x := range v {
			b = number(b, 8, x)
		}
		return number(b, 20, ints)
	}
	panic("sketch: attribute " + a.Name + " has a value of an unknown type")
}

func (p Port) bytes() []byte {
	var shape []byte
	for i, d := range p.Shape {
		if d == Free {
			shape = message(shape, 1, text(nil, 2, "free"+string(rune('0'+i))))
		} else {
			shape = message(shape, 1, number(nil, 1, d))
		}
	}
	t := message(number(nil, 1, int(p.DType)), 2, shape)
	return message(text(nil, 1, p.Name), 2, message(nil, 1, t))
}

func number(b []byte, field protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

func text(b []byte, field protowire.Number, s string) []byte { return message(b, field, []byte(s)) }

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}
