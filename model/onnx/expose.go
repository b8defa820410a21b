package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"nero/model/onnx/onnxpb"
)

// ErrNoValue is returned when a model has no inner value of the name asked for.
var ErrNoValue = errors.New("no such value")

// notTensors lists operators whose outputs an engine does not return as tensors.
var notTensors = map[string]bool{
	"SequenceConstruct": true, "SequenceEmpty": true, "SequenceInsert": true, "SequenceErase": true,
	"SplitToSequence": true,
	"SequenceMap":     true, "Optional": true, "OptionalGetElement": true, "ZipMap": true, "DictVectorizer": true,
}

// Values are the names of the model's inner values in the order in which they are made: what [Model.Expose] can expose.
// The model's own outputs, and values that are no tensors, are not among them.
func (m *Model) Values() []string {
	own := map[string]bool{}
	for _, v := range m.proto.GetGraph().GetOutput() {
		own[v.GetName()] = true
	}
	var names []string
	for _, n := range m.proto.GetGraph().GetNode() {
		if notTensors[n.GetOpType()] {
			continue
		}
		for _, o := range n.GetOutput() {
			if o != "" && !own[o] {
				names = append(names, o)
			}
		}
	}
	return names
}

// Expose returns the bytes of a copy of the model whose outputs include inner values, and the names of the outputs that
// it added, which follow the model's own ones in that order. Without names it exposes all of [Model.Values]; names of
// the model's own outputs are skipped.
//
// An engine fuses less when it has to return inner values, so that exposed and plain runs differ by rounding, up to
// about 1e-6 relative: compare like with like.
func (m *Model) Expose(names ...string) (b []byte, added []string, err error) {
	can := m.Values()
	if len(names) == 0 {
		added = can
	}
	own := m.proto.GetGraph().GetOutput()
	for _, name := range names {
		switch {
		case slices.ContainsFunc(own, func(v *onnxpb.ValueInfoProto) bool { return v.GetName() == name }),
			slices.Contains(added, name):
		case slices.Contains(can, name):
			added = append(added, name)
		default:
			return nil, nil, fmt.Errorf("%s: %w: %s%s", m.name, ErrNoValue, quote(name), m.suggest(name, can))
		}
	}
	if len(added) == 0 { // the model answers them already
		b, err = m.Bytes()
		return b, nil, err
	}
	b, err = m.withOutputs(added)
	return b, added, err
}

// suggest lists values whose names resemble the one asked for.
func (m *Model) suggest(name string, can []string) string {
	if slices.ContainsFunc(m.proto.GetGraph().GetInput(),
		func(v *onnxpb.ValueInfoProto) bool { return v.GetName() == name }) {
		return " is an input of the model"
	}
	if len(can) == 0 {
		return "; the model has no inner values"
	}
	var like []string
	for _, c := range can {
		if l := strings.ToLower(c); strings.Contains(l, strings.ToLower(name)) ||
			strings.Contains(strings.ToLower(name), l) {
			like = append(like, quote(c))
		}
	}
	if len(like) == 0 {
		for _, c := range can {
			like = append(like, quote(c))
		}
	}
	const most = 8
	if len(like) > most {
		return fmt.Sprintf("; there are %s and %d more", strings.Join(like[:most], ", "), len(like)-most)
	}
	return "; there are " + strings.Join(like, ", ")
}

// withOutputs encodes a copy of the model with further outputs. Their names are enough: runtimes infer type and shape.
// Weights are shared with the original until they are encoded.
func (m *Model) withOutputs(names []string) ([]byte, error) {
	p, g := shallow(m.proto), shallow(m.proto.GetGraph())
	g.Output = slices.Clone(g.GetOutput())
	for _, n := range names {
		g.Output = append(g.Output, &onnxpb.ValueInfoProto{Name: new(n)})
	}
	p.Graph = g
	return proto.Marshal(p)
}
