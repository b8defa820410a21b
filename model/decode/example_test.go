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

// A detector with two outputs: raw offsets from two anchors per place of a 2 x 2 grid, and one raw score each.
func ExampleNew_boxes() {
	port := func(name string, shape ...int) onnx.Port {
		p := onnx.Port{Name: name, Kind: "tensor", DType: tensor.Float32, Ranked: true}
		for _, n := range shape {
			p.Shape = append(p.Shape, onnx.Dim{Size: n})
		}
		return p
	}
	sig := onnx.Signature{
		Inputs:  []onnx.Port{port("picture", 1, 3, 32, 32)},
		Outputs: []onnx.Port{port("offsets", 1, 8, 4), port("scores", 1, 8, 1)},
	}
	c, err := decode.New(sig, decode.InputSpec{Sample: []int{3, 32, 32}, Scale: 255},
		decode.OutputSpec{Space: space.KindBoxes, Boxes: decode.BoxesSpec{
			Anchors: []decode.Anchors{{Stride: 16, PerCell: 2}}, Scale: 32, Activation: "sigmoid",
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range decode.Notes(c) {
		fmt.Println(n)
	}
	// An engine would run the model here. The third anchor stands in the middle of the second place, at (24, 8).
	offsets, scores := make([]float32, 32), []float32{-9, -9, 2, -9, -9, -9, -9, -9}
	copy(offsets[8:], []float32{-2, 1, 10, 6})
	y, err := c.Decode([]tensor.Named{
		{Name: "offsets", Tensor: tensor.FromFloat32(offsets, 1, 8, 4)},
		{Name: "scores", Tensor: tensor.FromFloat32(scores, 1, 8, 1)},
	}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if b, ok := y[0].(*space.Boxes); ok {
		for _, x := range b.Items {
			fmt.Printf("(%g, %g)-(%g, %g) of class %d: %.2f\n", x.X1, x.Y1, x.X2, x.Y2, x.Label, x.Score)
		}
	}
	// Output:
	// boxes are read from output "offsets", scores from "scores", by their shapes; set output.boxes.parts to change it
	// offsets from anchors are read as cxcywh; set output.boxes.form to change it
	// (17, 6)-(27, 12) of class 0: 0.88
}
