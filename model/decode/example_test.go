package decode_test

import (
	"fmt"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
)

func ExampleNew() {
	m, err := onnx.Read("../onnx/testdata/cnn.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := decode.New(m.Signature(),
		decode.InputSpec{Sample: []int{1, 28, 28}, Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081}},
		decode.OutputSpec{Space: space.KindScores, Decode: "softmax"})
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := c.Encode([]space.Value{space.NewImage(1, 28, 28)}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(in[0].Name, in[0].Shape, c.Out().Shape, decode.BatchLimit(c))

	// An engine would run the model here; this is an output of zeros.
	y, err := c.Decode([]tensor.Named{{Name: "output", Tensor: tensor.New(tensor.Float32, 1, 10)}}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y[0].Kind(), len(y[0].Parts()))
	// Output:
	// input [1 1 28 28] [10] 0
	// scores 1
}
