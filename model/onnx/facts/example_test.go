package facts_test

import (
	"fmt"

	"nero/model/onnx"
	"nero/model/onnx/facts"
)

func ExampleInfer() {
	m, err := onnx.Read("../testdata/cnn.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := facts.SampleShapes(m.Signature(), 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := facts.Infer(m, in, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Parameters, f.MACs, f.BytesPerSample(), facts.MicroBatch(1<<20, f.BytesPerSample(), 64))
	fmt.Println(f.Symmetry("").Group)
	// Output:
	// 3290 95392 38408 27
	// transpose
}
