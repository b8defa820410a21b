package oracle

import (
	"fmt"
	"math"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// attrs reads the attributes of a node and remembers which were read: one that nobody asked for changes the meaning in
// a way that is not known here.
type attrs struct {
	n     *onnxpb.NodeProto
	opset int
	// outputs in use
	outs  int
	used  map[string]bool
	err   error
	build *builder
	// bodies are the graphs that were read.
	bodies []*body
}

// fail records the first reason why the node cannot be evaluated.
func (a *attrs) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

func (a *attrs) get(name string, typ onnxpb.AttributeProto_AttributeType) *onnxpb.AttributeProto {
	a.used[name] = true
	p := onnx.Attr(a.n, name)
	if p == nil {
		return nil
	}
	if p.GetRefAttrName() != "" {
		a.fail("attribute %s refers to a function's attribute", name)
		return nil
	}
	if t := p.GetType(); t != typ && t != onnxpb.AttributeProto_UNDEFINED {
		a.fail("attribute %s is of type %s, want %s", name, t, typ)
		return nil
	}
	return p
}

func (a *attrs) has(name string) bool { return onnx.Attr(a.n, name) != nil }

// size is the largest magnitude of an integer attribute that is a length, an axis or the like.
const size = 1 << 40

func (a *attrs) int(name string, def int) int {
	p := a.get(name, onnxpb.AttributeProto_INT)
	if p == nil {
		return def
	}
	if v := p.GetI(); v < -size || v > size {
		a.fail("attribute %s is %d", name, v)
		return def
	}
	return int(p.GetI())
}

// flag is an integer that must be 0 or 1.
func (a *attrs) flag(name string, def bool) bool {
	d := 0
	if def {
		d = 1
	}
	switch v := a.int(name, d); v {
	case 0:
		return false
	case 1:
		return true
	default:
		a.fail("attribute %s is %d, want 0 or 1", name, v)
		return def
	}
}

// float is a float attribute. Defaults are given as the specification prints them and are float32 numbers, as stored
// ones.
func (a *attrs) float(name string, def float32) float64 {
	p := a.get(name, onnxpb.AttributeProto_FLOAT)
	if p == nil {
		return float64(def)
	}
	return float64(p.GetF())
}

// choice is a string that must be one of those given; the first is the default.
func (a *attrs) choice(name string, of ...string) string {
	p := a.get(name, onnxpb.AttributeProto_STRING)
	if p == nil {
		return of[0]
	}
	for _, s := range of {
		if s == string(p.GetS()) {
			return s
		}
	}
	a.fail("attribute %s is %.40q, known are %q", name, p.GetS(), of)
	return of[0]
}

func (a *attrs) str(name, def string) string {
	p := a.get(name, onnxpb.AttributeProto_STRING)
	if p == nil {
		return def
	}
	return string(p.GetS())
}

func (a *attrs) strs(name string) []string {
	p := a.get(name, onnxpb.AttributeProto_STRINGS)
	var out []string
	for _, s := range p.GetStrings() {
		out = append(out, string(s))
	}
	return out
}

func (a *attrs) floats(name string) []float64 {
	p := a.get(name, onnxpb.AttributeProto_FLOATS)
	var out []float64
	for _, f := range p.GetFloats() {
		out = append(out, float64(f))
	}
	return out
}

// ints is a list of lengths, axes or the like; nil if the node has none.
func (a *attrs) ints(name string) []int {
	p := a.get(name, onnxpb.AttributeProto_INTS)
	if p == nil {
		return nil
	}
	out := make([]int, len(p.GetInts()))
	for k, v := range p.GetInts() {
		if v < -size || v > size {
			// The end of a slice may be written as the largest integer.
			v = max(min(v, size), -size)
		}
		out[k] = int(v)
	}
	return out
}

// lengths are ints that must be at least least.
func (a *attrs) lengths(name string, least int) []int {
	out := a.ints(name)
	for _, v := range out {
		if v < least || v > math.MaxInt32 {
			a.fail("attribute %s is %v", name, out)
		}
	}
	return out
}

func (a *attrs) tensor(name string) *value {
	p := a.get(name, onnxpb.AttributeProto_TENSOR)
	if p == nil {
		return nil
	}
	t, err := onnx.Value(p.GetT())
	if err != nil {
		a.fail("attribute %s: %w", name, err)
		return nil
	}
	v, err := decode(t)
	if err != nil {
		a.fail("attribute %s: %w", name, err)
		return nil
	}
	return v
}

func (a *attrs) graph(name string) *body {
	p := a.get(name, onnxpb.AttributeProto_GRAPH)
	if p == nil || p.GetG() == nil {
		a.fail("attribute %s is missing", name)
		return nil
	}
	g := a.build.body(p.GetG(), false)
	a.bodies = append(a.bodies, g)
	return g
}

// ignore marks attributes that say nothing about the result.
func (a *attrs) ignore(names ...string) {
	for _, n := range names {
		a.used[n] = true
	}
}

// rest is the first attribute that nobody read; "" if there is none.
func (a *attrs) rest() string {
	for _, p := range a.n.GetAttribute() {
		if !a.used[p.GetName()] {
			return p.GetName()
		}
	}
	return ""
}
