package jvp

import (
	"slices"

	"nero/model/onnx"
)

// productRules are the operators that are linear in each of several inputs: the product rule.
func productRules() map[string]rule {
	conv := "auto_pad dilations group kernel_shape output_padding output_shape pads strides"
	return map[string]rule{
		"MatMul":        {inputs: 2, push: multilinear},
		"Einsum":        {attrs: "equation", inputs: -1, push: multilinear},
		"Gemm":          {attrs: "alpha beta transA transB", inputs: 3, least: 2, push: withBias},
		"Conv":          {attrs: conv, inputs: 3, least: 2, push: withBias},
		"ConvTranspose": {attrs: conv, inputs: 3, least: 2, push: withBias},
	}
}

// multilinear adds the node once for each input that moves.
func multilinear(c *call) ([]string, error) {
	t := ""
	for i := range c.in {
		if c.has(i) {
			in := slices.Clone(c.in)
			in[i] = c.t[i]
			t = c.sum(t, c.again(in...)[0])
		}
	}
	return one(t)
}

// withBias is a product of the first two inputs plus the third: the tangent of the bias rides on the first product.
func withBias(c *call) ([]string, error) {
	bias := c.tangentOf(2)
	var terms []string
	if c.has(0) {
		terms = append(terms, c.again(c.t[0], c.in[1], bias)[0])
		bias = ""
	}
	if c.has(1) {
		terms = append(terms, c.again(c.in[0], c.t[1], bias)[0])
		bias = ""
	}
	if bias != "" { // alone: the product with nothing gives the shape
		terms = append(terms, c.again(c.in[0], c.zeros(c.in[1]), bias)[0])
	}
	return one(c.sum(terms...))
}

// poolRules are the poolings that choose.
func poolRules() map[string]rule {
	return map[string]rule{
		"MaxPool": {
			attrs: "auto_pad ceil_mode dilations kernel_shape pads storage_order strides", inputs: 1,
			push: maxPool,
		},
		"GlobalMaxPool": {inputs: 1, push: func(c *call) ([]string, error) {
			first := c.b.Op("ArgMax", []string{c.channels(c.in[0])}, onnx.AttrInt("axis", 2),
				onnx.AttrInt("keepdims", 1))
			t := c.b.Op("GatherElements", []string{c.channels(c.t[0]), first}, onnx.AttrInt("axis", 2))
			return one(c.reshaped(t, c.shapeOf(c.out())))
		}},
	}
}

// maxPool gathers what was chosen: the second output counts the elements of the whole input, batch and channels
// included.
func maxPool(c *call) ([]string, error) {
	if onnx.Int(c.n, "storage_order", 0) != 0 {
		return nil, c.refuse("storage_order other than 0")
	}
	row := c.b.Ints(-1)
	t := c.op("GatherElements", c.reshaped(c.t[0], row), c.reshaped(c.named(1), row)) // of rows: faster than Gather
	return one(c.reshaped(t, c.shapeOf(c.out())))
}
