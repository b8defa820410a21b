package lint

import (
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Coordinates of places that are added to offsets at the end are what boxes are made of; any other table, and one that
// a layer reads afterwards, tells places apart.
func TestCoordinates(t *testing.T) {
	const side = 4
	for _, c := range []struct {
		name string
		at   func(channel, row, column int) float32
		// operator between the sum and the output
		then string
		want bool
	}{
		{
			"centres of pixels", func(k, r, c int) float32 { return []float32{float32(c) + 0.5, float32(r) + 0.5}[k] },
			"",
			true,
		},
		{"centres of a grid of stride 8", func(k, r, c int) float32 { return float32(8*[]int{c, r}[k] + 4) }, "", true},
		{"centres, read by a layer", func(k, r, c int) float32 { return float32([]int{c, r}[k]) }, "Tanh", false},
		{"one corner", func(_, r, c int) float32 { return float32((r * c) / 9) }, "", false},
		{"one constant", func(int, int, int) float32 { return 2 }, "", false},
	} {
		b := onnx.NewBuilder(17)
		x := b.Input("x", tensor.Float32, "N", 2, side, side)
		var v []float32
		for k := range 2 * side * side {
			v = append(v, c.at(k/side/side, k/side%side, k%side))
		}
		name := "centres"
		y := b.Op("Add", []string{x, b.Const(tensor.FromFloat32(v, 1, 2, side, side))})
		nodes := b.Graph().GetNode()
		nodes[len(nodes)-1].Name = &name
		if c.then != "" {
			y = b.Op(c.then, []string{y})
		}
		y = b.Op("Reshape", []string{y, b.Ints(-1, 2, side*side)}, []*onnxpb.AttributeProto{}...)
		b.Output(y, tensor.Float32, "N", 2, side*side)
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		if got := coordinates(m, name); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
