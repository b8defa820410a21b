package lint_test

import (
	"context"
	"fmt"

	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
)

func ExamplePredict() {
	m, err := onnx.Read("../../../studies/digits/models/digits-c4.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	shapes, err := facts.SampleShapes(m.Signature(), 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := facts.Infer(m, shapes, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := lint.Predict(context.Background(), f, lint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Structure, p.Weights, p.Shifts)
	// Output: D4 C4 cyclic shifts: none; shifts away from the border: multiples of 4
}
