package cli

import (
	"fmt"
	"os"

	"nero/model/onnx"
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
	}
	net := o.text("net", "mlp")
	build, ok := nets[net]
	if !ok {
		return fmt.Errorf("no network %q", net)
	}
	b, err := build().Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}
