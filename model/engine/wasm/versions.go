package wasm

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// checkVersions refuses files that ONNX Runtime 1.18.0 would abort on without a word: it reads the version numbers of a
// ModelProto (ir_version = field 1, opset_import = field 8 with domain = 1 and version = 2) and nothing else.
func checkVersions(model []byte) error {
	if len(model) == 0 {
		return errors.New("the model is empty")
	}
	var ir, opset uint64
	err := fields(model, func(num protowire.Number, v uint64, b []byte) error {
		switch int(num) {
		case 1:
			ir = v
		case 8:
			var version uint64
			domain := ""
			err := fields(b, func(num protowire.Number, v uint64, b []byte) error {
				switch int(num) {
				case 1:
					domain = string(b)
				case 2:
					version = v
				}
				return nil
			})
			if domain == "" || domain == "ai.onnx" {
				opset = max(opset, version)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("not an ONNX model: %w", err)
	}
	if ir == 0 {
		return errors.New("not an ONNX model: it has no ir_version")
	}
	if ir > MaxIR {
		return fmt.Errorf("the model has IR version %d; the wasm body (ONNX Runtime %s) takes up to %d: use the "+
			"native body or export for an older version", ir, Version, MaxIR)
	}
	if opset > MaxOpset {
		return fmt.Errorf("the model has opset %d; the wasm body (ONNX Runtime %s) takes up to %d: use the native "+
			"body or export for an older opset", opset, Version, MaxOpset)
	}
	return nil
}

// fields calls f with the number and the value of every field of a message: v of a number, b of bytes.
func fields(msg []byte, f func(num protowire.Number, v uint64, b []byte) error) error {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return protowire.ParseError(n)
		}
		msg = msg[n:]
		var v uint64
		var b []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(msg)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(msg)
		case protowire.Fixed32Type, protowire.Fixed64Type, protowire.StartGroupType, protowire.EndGroupType:
			n = protowire.ConsumeFieldValue(num, typ, msg)
		default:
			return fmt.Errorf("field %d has wire type %d", num, typ)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := f(num, v, b); err != nil {
			return err
		}
		msg = msg[n:]
	}
	return nil
}
