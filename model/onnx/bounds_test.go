package onnx

import (
	"fmt"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx/onnxpb"
)

// asking is a model that asks for something, as a file.
func asking(t *testing.T, name string, batch any, extra func(*Builder)) []byte {
	t.Helper()
	b := NewBuilder(17)
	x := b.Input(name, tensor.Float32, batch, 4)
	b.Output(b.Op("Relu", []string{x}), tensor.Float32, batch, 4)
	if extra != nil {
		extra(b)
	}
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// doubling adds functions of which each calls the one before it twice, and a call of the last.
func doubling(levels int) func(*Builder) {
	return func(b *Builder) {
		h := b.Header()
		h.OpsetImport = append(h.OpsetImport,
			&onnxpb.OperatorSetIdProto{Domain: new("local"), Version: new(int64(1))})
		for k := range levels {
			f := &onnxpb.FunctionProto{
				Name: new(fmt.Sprintf("F%d", k)), Domain: new("local"), Input: []string{"a"}, Output: []string{"c"},
			}
			for _, ports := range [][2]string{{"a", "b"}, {"b", "c"}} {
				n := &onnxpb.NodeProto{OpType: new("Sin"), Input: ports[:1], Output: ports[1:]}
				if k > 0 {
					n.OpType, n.Domain = new(fmt.Sprintf("F%d", k-1)), new("local")
				}
				f.Node = append(f.Node, n)
			}
			h.Functions = append(h.Functions, f)
		}
		h.Graph.Node = append(h.Graph.Node, &onnxpb.NodeProto{
			OpType: new(fmt.Sprintf("F%d", levels-1)), Domain: new("local"), Input: []string{"x"},
			Output: []string{"unused"},
		})
	}
}

// What a file asks for is counted before anything is allocated or opened; a twin that asks for a sound amount loads.
func TestLoadRefusesWhatNoMachineHas(t *testing.T) {
	noOutput := func(b *Builder) {
		b.Graph().Node = append(b.Graph().Node, &onnxpb.NodeProto{OpType: new("Relu"), Input: []string{"x"}})
	}
	self := func(b *Builder) {
		doubling(2)(b)
		b.Header().Functions[0].Node[0].OpType, b.Header().Functions[0].Node[0].Domain = new("F1"), new("local")
	}
	inside := func(b *Builder) {
		body := NewBuilder(17)
		body.Output(body.Op("Identity", []string{"x"}), tensor.Float32, "N", 4)
		doubling(30)(b)
		body.Graph().Node = append(body.Graph().Node, b.Graph().GetNode()[1])
		b.Graph().Node = append(b.Graph().Node[:1], &onnxpb.NodeProto{
			OpType: new("If"), Input: []string{"x"}, Output: []string{"z"},
			Attribute: []*onnxpb.AttributeProto{{Name: new("then_branch"), G: body.Graph()}},
		})
	}
	for _, c := range []struct {
		name    string
		file    []byte
		refused string
	}{
		{"a node without outputs", asking(t, "x", "N", noOutput), `the node Relu that reads "x" has no output`},
		{"a batch of 10^8", asking(t, "x", 100_000_000, nil), `the input "x" of [100000000 4] takes 1.6 GB in one call`},
		{"a batch beyond counting", asking(t, "x", 1<<62, nil), "more bytes than can be counted"},
		{"a batch of 1000", asking(t, "x", 1000, nil), ""},
		{"a name of 1 MB", asking(t, strings.Repeat("x", 1<<20), "N", nil), "has 1048576 bytes, and at most 4096"},
		{"a name of 4 kB", asking(t, strings.Repeat("x", 4096), "N", nil), ""},
		{"2^41 calls", asking(t, "x", "N", doubling(41)), "more than 262144 nodes once they are written out"},
		{"2^31 calls in a branch", asking(t, "x", "N", inside), "more than 262144 nodes once they are written out"},
		{"2^10 calls", asking(t, "x", "N", doubling(10)), ""},
		{"a function that calls itself", asking(t, "x", "N", self), `calls itself`},
	} {
		_, err := Load(c.file)
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %v, want %q", c.name, err, c.refused)
		case err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 500):
			t.Errorf("%s: the message is too long: %q", c.name, err)
		}
	}
}
