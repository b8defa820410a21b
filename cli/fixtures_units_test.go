package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"google.golang.org/protobuf/proto"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/units/unitstest"
)

// writeUnits writes a network whose units are known.
func writeUnits(name string, o *options) error {
	seed := uint64(o.int("seed", 1))
	nets := map[string]func() *onnx.Model{
		"mlp":       func() *onnx.Model { return unitstest.MLP(seed, o.text("act", "Relu")) },
		"cnn":       func() *onnx.Model { return unitstest.CNN(seed) },
		"residual":  func() *onnx.Model { return unitstest.Residual(seed) },
		"attention": func() *onnx.Model { return unitstest.Attention(seed) },
		"groups":    func() *onnx.Model { return unitstest.Groups(seed) },
		"quantised": unitstest.Quantised,
		"bare":      unitstest.Bare,
		"free":      func() *onnx.Model { return unitstest.Free(seed) },
		"double":    func() *onnx.Model { return unitstest.Double(seed) },
		"shared":    func() *onnx.Model { return unitstest.Shared(seed) },
		"uneven":    func() *onnx.Model { return unitstest.Uneven(seed, float64(o.int("percent", 100))/100) },
	}
	net := o.text("net", "mlp")
	build, ok := nets[net]
	if !ok {
		return fmt.Errorf("no network %q", net)
	}
	m := build()
	if file := o.text("beside", ""); file != "" {
		return writeBeside(m, name, file, o.text("location", file))
	}
	b, err := m.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}

// writeBeside writes a model whose weights lie in another file, which it calls by some name.
func writeBeside(m *onnx.Model, name, file, location string) error {
	p := proto.CloneOf(m.Proto())
	var all []byte
	for _, t := range p.GetGraph().GetInitializer() {
		raw := t.GetRawData()
		entry := func(key, value string) {
			t.ExternalData = append(t.ExternalData, &onnxpb.StringStringEntryProto{Key: &key, Value: &value})
		}
		entry("location", location)
		entry("offset", strconv.Itoa(len(all)))
		entry("length", strconv.Itoa(len(raw)))
		t.RawData, t.DataLocation = nil, onnxpb.TensorProto_EXTERNAL.Enum()
		all = append(all, raw...)
	}
	b, err := proto.Marshal(p)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(name, b, 0o644), os.WriteFile(filepath.Join(filepath.Dir(name), file), all, 0o644))
}
