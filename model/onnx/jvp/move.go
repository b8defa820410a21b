package jvp

import (
	"slices"

	"nero/model/onnx"
)

// moveRules are the operators that move numbers or are linear in their first input: the tangent goes the same way.
func moveRules() map[string]rule {
	all := map[string]rule{}
	for op, attrs := range map[string]string{
		"Neg": "", "Identity": "", "Reshape": "allowzero", "Flatten": "axis", "Squeeze": "axes", "Unsqueeze": "axes",
		"Transpose": "perm",
		"Split":     "axis num_outputs", "Slice": "", "Expand": "", "Tile": "", "Gather": "axis",
		"GatherElements": "axis",
		"GatherND":       "batch_dims", "CumSum": "axis exclusive reverse", "DepthToSpace": "blocksize mode",
		"SpaceToDepth": "blocksize",
		"Trilu":        "upper", "Compress": "axis", "ReverseSequence": "batch_axis time_axis",
		"GlobalAveragePool": "",
		"AveragePool":       "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides",
		"GridSample":        "align_corners mode padding_mode",
	} {
		all[op] = rule{attrs: attrs, inputs: 1, push: linear}
	}
	for op, attrs := range map[string]string{
		"ReduceSum":  "keepdims noop_with_empty_axes",
		"ReduceMean": "axes keepdims noop_with_empty_axes",
	} {
		all[op] = rule{attrs: attrs, inputs: 1, push: linear}
	}
	all["Cast"] = rule{attrs: "to saturate round_mode", inputs: 1, push: linear}
	all["CastLike"] = rule{attrs: "saturate round_mode", inputs: 2, least: 2, push: func(c *call) ([]string, error) {
		if !c.has(0) { // of the other input only the type counts
			return one(c.zeros(c.out()))
		}
		return c.again(c.t[0], c.in[1]), nil
	}}
	all["Dropout"] = rule{attrs: "seed ratio", inputs: 1, push: dropout}
	all["Concat"] = rule{attrs: "axis", inputs: -1, push: func(c *call) ([]string, error) {
		in := make([]string, len(c.in))
		for i := range in {
			in[i] = c.tan(i)
		}
		return c.again(in...), nil
	}}
	all["Pad"] = rule{attrs: "mode", inputs: 3, push: pad}
	all["ScatterElements"] = rule{attrs: "axis reduction", inputs: 3, least: 3, push: scatter}
	all["ScatterND"] = rule{attrs: "reduction", inputs: 3, least: 3, push: scatter}
	all["TopK"] = rule{attrs: "axis largest sorted", inputs: 1, push: topK}
	all["Resize"] = rule{
		attrs: "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value " +
			"keep_aspect_ratio_policy mode nearest_mode", inputs: 1, push: resize,
	}
	return all
}

// linear runs the node once more, on the tangent.
func linear(c *call) ([]string, error) {
	in := slices.Clone(c.in)
	in[0] = c.t[0]
	return c.again(in...), nil
}

func dropout(c *call) ([]string, error) {
	if len(c.in) > 2 && c.in[2] != "" {
		training := c.constant(2)
		if training == nil {
			return nil, c.refuse("whether it is in training mode is decided only when it runs")
		}
		if v, err := onnx.Integers(training); err != nil || len(v) != 1 || v[0] != 0 {
			return nil, c.refuse(
				"it is in training mode, which drops values at random; export the model in evaluation mode")
		}
	}
	return one(c.t[0])
}

// pad pads with zeros where the value is padded with a constant that does not move.
func pad(c *call) ([]string, error) {
	in := slices.Clone(c.in)
	in[0] = c.tan(0)
	if len(in) > 2 {
		in[2] = c.t[2]
	}
	return c.again(in...), nil
}

func scatter(c *call) ([]string, error) {
	if r := onnx.String(c.n, "reduction", "none"); r != "none" && r != "add" {
		return nil, c.refuse("the reduction " + r)
	}
	return c.again(c.tan(0), c.in[1], c.tan(2)), nil
}

// topK gathers what was chosen.
func topK(c *call) ([]string, error) {
	return one(c.b.Op("GatherElements", []string{c.t[0], c.named(1)}, onnx.AttrInt("axis", onnx.Int(c.n, "axis", -1))))
}

// named is output i of the node, which is given a name if it has none.
func (c *call) named(i int) string {
	for len(c.n.GetOutput()) <= i {
		c.n.Output = append(c.n.Output, "")
	}
	if c.n.GetOutput()[i] == "" {
		c.n.Output[i] = c.unused("nero_" + c.out() + "_indices")
	}
	return c.n.GetOutput()[i]
}

// resize is linear but for the number that stands outside of the picture.
func resize(c *call) ([]string, error) {
	in := slices.Clone(c.in)
	in[0] = c.t[0]
	attrs := slices.Clone(c.n.GetAttribute())
	for i, a := range attrs {
		if a.GetName() == "extrapolation_value" {
			attrs[i] = onnx.AttrFloat("extrapolation_value", 0)
		}
	}
	return []string{c.b.Op("Resize", in, attrs...)}, nil
}
