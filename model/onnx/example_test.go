package onnx_test

import (
	"fmt"

	"nero/model/onnx"
)

func ExampleModel_Expose() {
	m, err := onnx.Read("testdata/turns.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	edited, added, err := m.Expose("/f/f.1/Relu_output_0")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := onnx.Load(edited)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(added, onnx.Names(e.Signature().Outputs))
	// Output: [/f/f.1/Relu_output_0] [output /f/f.1/Relu_output_0]
}

func ExampleModel_Check() {
	b := onnx.NewBuilder(22)
	b.Output(b.Op("Relu", []string{b.Input("x", 1, "N", 3)}), 1, "N", 3)
	m, err := b.Model()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Check(onnx.Wasm()))
	// Output: model: wasm (ONNX Runtime 1.18.0) cannot run this model: it uses operator set 22, the newest taken is 21; the native engine with ONNX Runtime 1.21 or newer takes it: --engine native (see nero engine)
}
