package mutation

import "slices"

// tuned are the breaks that rules and weights may be tuned on, in other members of the same families.
func tuned() map[string][]broken {
	field := []int{1, 2, 1, 1}
	return map[string][]broken{
		"labels": {
			{
				name: "kernels of one layer", doc: "a corner of every kernel is off",
				edits: edits{"conv1": every(9, 0, 0.2)}, causes: "kernel", at: "conv1",
			},
			{
				name: "position embedding", doc: "a number for every row is added",
				edits: edits{"maps": table(0.3, 1, 1, 13, 1)}, causes: "positions", at: "table",
			},
			{
				name: "even side", doc: "the grid of the pooling is off the centre", size: 14, causes: "striding",
				at: "pool",
			},
			{
				name: "pushed", doc: "the picture is pushed by a pixel first", edits: edits{"input": pushed(13)},
				causes: "wrong-centre",
			},
			{
				name: "float16 island", doc: "columns are summed in float16", edits: edits{"maps2": halfSums(2, 7)},
				causes: "reduced-precision", at: "half", least: -1,
			},
			{
				name: "branch", doc: "a dense layer of the picture enters the scores",
				edits: edits{"answer": branch(0.3, 2)}, causes: "positions", because: branchToo,
			},
		},
		"paint": {
			{
				name: "one weight", doc: "a weight of a kernel is off", edits: edits{"conv1": nudged(0.4, 9+3)},
				causes: "kernel", at: "conv1",
			},
			{
				name: "one channel", doc: "the second channel looks right",
				edits: edits{"conv2": nudged(0.3, 5*25+13, 7*25+13)}, causes: "channel kernel", because: channelToo,
			},
			{
				name: "mirrored", doc: "left and right of the answer are exchanged",
				edits: edits{"answer": reorder(3, down(15)...)}, causes: "convention output-action", because: frameToo,
			},
			{
				name: "mean pooling offset", doc: "windows of two that look right and down",
				edits: edits{"maps": pooled("AveragePool", 2, 1, 0, 0, 1, 1)}, causes: "one-sided striding", at: "pool",
				because: shiftToo,
			},
			{
				name: "one corner", doc: "a corner of the maps counts more",
				edits: edits{"maps": factors([]int{1, 1, 1, 15}, last(15, 3)...)}, causes: "positions layer-bug",
				at: "factors", because: "a number for every column",
			},
			{
				name: "training mode", doc: "the batch's own mean and deviation",
				edits: edits{"conv1 out": batchNorm(0, 2, 3)}, causes: "training-norm",
				at: "norm | norm-mean | norm-variance", least: -1,
			},
		},
		"torus": {
			{
				name: "zero padding", doc: "zeros enter at the second layer", edits: edits{"zeros at conv2": setTo(1)},
				causes: "padding", at: "conv2",
			},
			{
				name: "position embedding", doc: "a number for every pixel is added",
				edits: edits{"maps2": table(0.3, 1, 1, 16, 16)}, causes: "positions", at: "table",
			},
			{
				name: "pooling by two", doc: "the largest of every two pixels, repeated",
				edits: edits{"maps": coarse(2)},
				size:  12, causes: "striding", at: "pool | enlarge",
			},
			{
				name: "branch", doc: "a dense layer of the picture enters every pixel",
				edits: edits{"maps2": branch(0.1, 4)}, causes: "positions", because: branchToo,
			},
			{
				name: "dropout", doc: "a tenth of the values is dropped", edits: edits{"maps": dropout(0.1)},
				causes: "stochastic", least: -1,
			},
		},
		"regular": {
			{
				name: "one turn off", doc: "the kernel of one turn is off", edits: edits{"lift": nudged(0.4, 6*9+1)},
				causes: "kernel", at: "lift",
			},
			{
				name: "turns in another order", doc: "the turns of every field run backwards",
				edits:  edits{"answer": reorder(1, 0, 3, 2, 1, 4, 7, 6, 5)},
				causes: "convention output-action layer-bug", because: frameToo,
			},
			{
				name: "gain per turn", doc: "one turn of a field counts more",
				edits:  edits{"maps": factors([]int{1, 8, 1, 1}, 1, 1.3, 1, 1, 1, 1, 1, 1)},
				causes: "layer-bug kernel channel", at: "factors", because: channelToo,
			},
			{
				name: "position embedding", doc: "a number for every pixel is added",
				edits: edits{"maps": table(0.2, 1, 1, 13, 13)}, causes: "positions", at: "table",
			},
		},
		"quiver": {
			{
				name: "missing mirror of a component", doc: "down is up", edits: edits{"answer": factors(field, 1, -1)},
				causes: "convention output-action", because: frameToo,
			},
			{
				name: "componentwise ReLU", doc: "ReLU on the answer", edits: edits{"answer": pointwise("Relu")},
				causes: "nonlinearity output-action", at: "componentwise", because: pointToo,
			},
			{
				name: "clipped", doc: "components are cut", edits: edits{"slopes": clip(-0.1, 0.2)},
				causes: "nonlinearity", at: "clip | clip-low",
			},
			{
				name: "bias in a vector", doc: "a constant vector is added",
				edits:  edits{"slopes": plus(field, 0, 0.1)},
				causes: "layer-bug channel direction kernel", at: "bias", because: constantToo,
			},
			{
				name: "one component", doc: "down counts 1.2 times", edits: edits{"slopes": factors(field, 1, 1.2)},
				causes: "kernel layer-bug channel", at: "factors", because: weightsToo,
			},
			{
				name: "position embedding", doc: "a number for every pixel is added",
				edits: edits{"potential": table(0.2, 1, 1, 11, 11)}, causes: "positions", at: "table",
			},
		},
		"motion": {
			{
				name: "time reversal sign", doc: "the change in time is squared",
				edits:  edits{"gate": {value: func(s *sketch, v string) string { return s.mul("square", v, v) }}},
				causes: "convention output-action nonlinearity layer-bug", because: frameToo,
			},
			{
				name: "frames count unequally", doc: "the first frame counts 0.8 times",
				edits: edits{"first": scaled(0.8)}, causes: "layer-bug kernel", at: "scaled", because: weightsToo,
			},
			{
				name: "components exchanged", doc: "down comes before right", edits: edits{"answer": reorder(1, 1, 0)},
				causes: "convention output-action", because: frameToo,
			},
			{
				name: "lopsided kernel", doc: "one weight is off", edits: edits{"conv2": nudged(0.4, 2)},
				causes: "kernel",
				at:     "conv2",
			},
			{
				name: "pushed", doc: "the first frame is pushed by a pixel", edits: edits{"first": pushed(13)},
				causes: "wrong-centre layer-bug", because: "a frame that moves is a layer that breaks",
			},
		},
		"regions": {
			{
				name: "kernels of one layer", doc: "a corner of every kernel is off",
				edits: edits{"conv1": every(9, 2, 0.3)}, causes: "kernel", at: "conv1",
			},
			{
				name: "one class", doc: "kernels of the first class look right",
				edits: edits{"conv2": nudged(0.3, 13, 38, 63, 88)}, causes: "kernel channel", at: "conv2",
				because: channelToo,
			},
			{
				name: "position embedding", doc: "a number for every column is added",
				edits: edits{"maps": table(0.4, 1, 1, 1, 12)}, causes: "positions", at: "table",
			},
			{
				name: "mirrored", doc: "left and right of the answer are exchanged",
				edits: edits{"answer": reorder(3, down(12)...)}, causes: "convention output-action", because: frameToo,
			},
		},
		"finder": {
			{
				name: "height and width exchanged", doc: "the height comes first: still equivariant",
				edits: edits{"size": reorder(1, 1, 0)}, causes: "",
			},
			{
				name: "a sign", doc: "offsets to the left in place of right",
				edits: edits{"offsets": factors(field, -1, 1)}, causes: "output-action convention layer-bug kernel",
				because: frameToo,
			},
			{
				name: "wider boxes", doc: "widths count 1.2 times", edits: edits{"size": factors(field, 1.2, 1)},
				causes: "output-action layer-bug kernel", because: frameToo, at: "factors",
			},
			{
				// Over the right third: in the last column alone no input has a box.
				name: "one corner", doc: "boxes are wider at the right",
				edits: edits{"size": plus([]int{1, 1, 1, 13}, right(13, 5, 2)...)}, causes: "positions layer-bug",
				at: "bias", because: "a number for every column",
			},
			{
				name: "pushed", doc: "the picture is pushed by a pixel first", edits: edits{"input": pushed(13)},
				causes: "wrong-centre",
			},
			{
				name: "lopsided kernel", doc: "one weight of the sizes is off", edits: edits{"sizes": nudged(0.6, 1)},
				causes: "kernel", at: "sizes",
			},
		},
		"hue": {
			{
				name: "normalised by channel", doc: "gains of the channels differ",
				edits: edits{"input": factors([]int{1, 3, 1, 1}, 1, 1.2, 0.9)}, causes: "layer-bug kernel channel",
				at: "factors", because: weightsToo,
			},
			{
				name: "one color", doc: "blue is left out of grey", edits: edits{"greys": nudged(-0.2, 2)},
				causes: "kernel layer-bug", at: "grey", because: weightsToo,
			},
			{
				name: "bounded", doc: "distances from grey are bounded one by one",
				edits: edits{"chroma": {value: func(s *sketch, v string) string {
					return s.tanh("componentwise", s.times("steep", v, 8))
				}}}, causes: "nonlinearity finite-subgroup layer-bug componentwise", at: "componentwise",
				because: pointToo,
			},
			{
				name: "float16 island", doc: "distances from grey pass through float16", edits: edits{"chroma": half()},
				causes: "reduced-precision", at: "half", least: -1,
			},
		},
		"inks": {
			{
				name: "one ink", doc: "one channel counts 1.3 times",
				edits: edits{"input": factors([]int{1, 3, 1, 1}, 1, 1.3, 1)}, causes: "layer-bug kernel channel",
				at: "factors", because: weightsToo,
			},
			{
				name: "channels in order", doc: "a part of the channel before is added",
				edits: edits{"input": after(1, 3, 0.3, 4)}, causes: "layer-bug order kernel",
				at: "after-cut | after-pad | after", because: orderToo,
			},
			{
				name: "ink embedding", doc: "a number for each channel is added",
				edits:  edits{"means": plus([]int{1, 9}, 0, 0, 0, 0.2, 0.1, 0, 0, 0, 0)},
				causes: "layer-bug kernel positions order", at: "bias", because: orderToo,
			},
			{
				name: "constant", doc: "the answer is constant", edits: edits{"answer": dead(4)}, causes: "collapsed",
				least: -1,
			},
		},
		"shade": {
			{
				name: "no level", doc: "the level is not taken off", edits: edits{"level": scaled(0)},
				causes: "layer-bug unconstrained kernel", because: "nothing is left that makes the model symmetric",
			},
			{
				name: "clipped at the top", doc: "pixels above 0.6 are lowered", edits: edits{"input": clip(-1, 0.6)},
				causes: "layer-bug nonlinearity clipping", at: "clip | clip-low",
				because: "the layer that cuts is the one that breaks",
			},
			{
				name: "level of a corner", doc: "the level is that of a part of the picture",
				edits: edits{"level": {value: func(s *sketch,
					v string,
				) string {
					return s.mul("squared-level", v, v)
				}}}, causes: "layer-bug kernel nonlinearity", at: "squared-level", because: weightsToo,
			},
			{
				name: "place in the batch", doc: "a number that grows along the batch",
				edits:  edits{"answer": leak(0.02)},
				causes: "batch-leak", least: -1,
			},
		},

		"shells": {
			{
				name: "height", doc: "heights over a plane count a little", edits: edits{"answer": height(0.01, 2, 2)},
				causes: "direction centering", because: "heights over a fixed plane are places as well",
			},
			{
				name: "places", doc: "distances from the origin count a little",
				edits: edits{"answer": fromOrigin(0.01, 2)}, causes: "centering",
			},
			{
				name: "stretched axis", doc: "one axis counts more",
				edits: edits{"points": factors([]int{1, 1, 3}, 1.1, 1, 1)}, causes: "direction kernel layer-bug",
				because: axisToo, at: "factors",
			},
			{
				name: "clipped", doc: "coordinates are cut at 1", edits: edits{"points": clip(-1, 1)},
				causes: "nonlinearity componentwise centering layer-bug", at: "clip | clip-low", because: pointToo,
			},
			{
				name: "city blocks", doc: "differences without their signs",
				edits: edits{"apart": {value: func(s *sketch, v string) string {
					return s.op("roots", "Sqrt", []string{s.op("absolute", "Abs", []string{v})})
				}}}, causes: "nonlinearity componentwise", at: "roots | absolute", because: pointToo,
			},
			{
				name: "hard cut-off", doc: "pairs beyond a distance count nothing", edits: edits{"shells": cutoff(0.3)},
				causes: "neighbors ties", quiet: true, least: -1, because: "a jump where few inputs err",
			},
		},
		"pull": {
			{
				name: "componentwise tanh", doc: "components are bounded", edits: edits{"vectors": pointwise("Tanh")},
				causes: "nonlinearity componentwise", at: "componentwise", because: pointToo,
			},
			{
				name: "rounded forces", doc: "components are rounded to 0.05", edits: edits{"vectors": grid(0.05)},
				causes: "nonlinearity componentwise reduced-precision", at: "grid-round | grid", because: pointToo,
			},
			{
				name: "bias in a vector", doc: "a constant vector is added",
				edits: edits{"answer": plus([]int{1, 1, 3}, 0.05, 0, 0)}, causes: "direction layer-bug output-action",
				at: "bias", because: constantToo,
			},
			{
				name: "stretched axis", doc: "y counts more",
				edits:  edits{"vectors": factors([]int{1, 1, 3}, 1, 1.2, 1)},
				causes: "direction kernel layer-bug channel", because: axisToo, at: "factors",
			},
			{
				name: "axial part", doc: "a cross product is added", edits: edits{"vectors": chiral(0.3)},
				causes: "handedness",
			},
			{
				name: "quantised", doc: "components pass through bytes", edits: edits{"vectors": quantised(0.02)},
				causes: "reduced-precision nonlinearity componentwise", at: "quantise | dequantise", because: pointToo,
			},
			{
				name: "all signs", doc: "the answer has the other sign: still equivariant",
				edits: edits{"answer": scaled(-1)}, causes: "",
			},
		},
		"spin": {
			{
				name: "polar part", doc: "a part of the velocities is added",
				edits: edits{"momenta": {value: func(s *sketch, v string) string {
					return s.add("polar", v, s.times("polar-part", "velocities", 0.1))
				}}}, causes: "handedness irreps", because: "a polar vector among axial ones knows the hand",
			},
			{
				name: "polar", doc: "velocities in place of momenta",
				edits: edits{"momenta": {value: func(s *sketch, v string) string {
					return s.add("polar", s.times("no-momenta", v, 0), "velocities")
				}}}, causes: "irreps", because: "",
			},
			{
				name: "componentwise ReLU", doc: "ReLU on the velocities",
				edits:  edits{"velocities": pointwise("Relu")},
				causes: "nonlinearity", at: "componentwise",
			},
			{
				name: "stretched axis", doc: "z counts more",
				edits:  edits{"momenta": factors([]int{1, 1, 3}, 1, 1, 1.25)},
				causes: "direction kernel layer-bug", because: axisToo, at: "factors",
			},
			{
				name: "clipped", doc: "components are cut", edits: edits{"momenta": clip(-0.5, 0.5)},
				causes: "nonlinearity componentwise", at: "clip | clip-low", because: pointToo,
			},
		},
		"stress": {
			{
				name: "componentwise tanh", doc: "components are bounded", edits: edits{"tensor": pointwise("Tanh")},
				causes: "nonlinearity componentwise", at: "componentwise", because: pointToo,
			},
			{
				name: "a component", doc: "xy counts twice, yx once",
				edits:  edits{"tensor": factors([]int{1, 3, 3}, 1, 2, 1, 1, 1, 1, 1, 1, 1)},
				causes: "layer-bug output-action kernel channel", at: "factors", because: frameToo,
			},
			{
				name: "transposed", doc: "rows and columns exchanged: still equivariant",
				edits: edits{"tensor": turned(0, 2, 1)}, causes: "",
			},
			{
				name: "stretched axis", doc: "x counts more",
				edits:  edits{"centred": factors([]int{1, 1, 3}, 1.2, 1, 1)},
				causes: "direction kernel layer-bug", at: "factors", because: axisToo,
			},
		},
		"degrees": {
			{
				name: "polar axis z", doc: "degree 2 about another axis",
				edits:  edits{"centred": reorder(2, 1, 2, 0), "vector": reorder(1, 2, 0, 1)},
				causes: "irreps output-action convention layer-bug", because: frameToo,
			},
			{
				name: "irreps in another order", doc: "degree 1 before degree 0",
				edits:  edits{"answer": reorder(1, 1, 2, 3, 0, 4, 5, 6, 7, 8)},
				causes: "irreps output-action convention", because: frameToo,
			},
			{
				name: "componentwise ReLU", doc: "ReLU on the vector", edits: edits{"vector": pointwise("Relu")},
				causes: "nonlinearity", at: "componentwise",
			},
			{
				name: "componentwise tanh", doc: "all components are bounded",
				edits:  edits{"answer": pointwise("Tanh")},
				causes: "nonlinearity componentwise output-action", at: "componentwise", because: pointToo,
			},
			{
				name: "height", doc: "heights count in the scalar", edits: edits{"scalar": height(0.05, 1, 2)},
				causes: "direction channel", because: channelToo,
			},
		},
		"zoom": {
			{
				name: "exponent", doc: "the answer grows with the root", edits: edits{"power": setTo(-0.5)},
				causes: "output-action layer-bug convention", because: frameToo,
			},
			{
				name: "bias", doc: "a constant is added to the points",
				edits: edits{"points": plus([]int{1, 1, 3}, 0.2, 0, 0)}, causes: "layer-bug wrong-centre", at: "bias",
				because: constantToo,
			},
			{
				name: "epsilon", doc: "a number in the denominator", edits: edits{"scale": offset(0.1)},
				causes: "layer-bug", at: "offset",
			},
			{
				name: "rounded", doc: "coordinates are rounded to 0.1", edits: edits{"points": grid(0.1)},
				causes: "layer-bug reduced-precision nonlinearity", at: "grid-round | grid", because: pointToo,
			},
			{
				name: "componentwise ReLU", doc: "ReLU on the points, which magnifications leave as it is",
				edits: edits{"points": pointwise("Relu")}, causes: "",
			},
		},
		"ratio": {
			{
				name: "epsilon", doc: "a number in the denominator", edits: edits{"scale": offset(0.05)},
				causes: "layer-bug", at: "offset",
			},
			{
				name: "exponent", doc: "the scale is the distance, not its square",
				edits: edits{"scale": pointwise("Sqrt")}, causes: "layer-bug nonlinearity", at: "componentwise",
				because: pointToo,
			},
			{
				name: "hard cut-off", doc: "distances below a length count nothing",
				edits:  edits{"squares": cutoff(0.5)},
				causes: "neighbors layer-bug nonlinearity", at: "cutoff | cutoff-mask | cutoff-within",
				because: "a length of its own breaks magnifications at that layer",
			},
			{
				name: "rows count", doc: "rows are weighted by their place: still invariant",
				edits: edits{"points": factors([]int{1, 7, 1}, 1, 2, 1, 1, 1, 1, 3)}, causes: "",
			},
		},
		"headings": {
			{
				name: "orientation sign", doc: "angles run clockwise inside", edits: edits{"yaw": scaled(-1)},
				causes: "convention output-action layer-bug", because: frameToo,
			},
			{
				name: "sides exchanged", doc: "length and width are exchanged: still equivariant",
				edits: edits{"size": reorder(2, 1, 0, 2)}, causes: "",
			},
			{
				name: "a quarter turn", doc: "headings from another axis: still equivariant",
				edits: edits{"angle": offset(1.5707963)}, causes: "",
			},
			{
				name: "not wrapped", doc: "headings beyond half a turn: the same directions",
				edits: edits{"no wrap": setTo(1)}, causes: "", least: -1,
			},
			{
				name: "stretched axis", doc: "x counts more", edits: edits{"moved": factors([]int{1, 1, 2}, 1.1, 1)},
				causes: "kernel layer-bug output-action channel direction", at: "factors", because: axisToo,
			},
			{
				name: "sizes by angle", doc: "envelopes in place of sizes", edits: edits{"sizes": branch(0.1, 3)},
				causes: "layer-bug kernel unconstrained channel", because: branchToo,
			},
		},
		"areas": {
			{
				name: "a metric", doc: "a part of the inner product enters", edits: edits{"form": nudged(0.2, 3)},
				causes: "kernel layer-bug finite-subgroup", at: "form", because: weightsToo,
			},
			{
				name: "clipped", doc: "coordinates are cut at 1", edits: edits{"rows": clip(-1, 1)},
				causes: "nonlinearity finite-subgroup", at: "clip | clip-low",
				because: "what is odd keeps quarter turns",
			},
			{
				name: "epsilon", doc: "a constant is added to areas: still invariant",
				edits: edits{"products": offset(0.3)}, causes: "",
			},
			{
				name: "float16 island", doc: "coordinates pass through float16", edits: edits{"rows": half()},
				causes: "reduced-precision", at: "half", least: -1,
			},
		},
		"events": {
			{
				name: "no metric", doc: "the signs of the metric are lost",
				edits:  edits{"form": {weights: func(w []float32) { eye(w, 4) }}},
				causes: "kernel layer-bug finite-subgroup", at: "form",
				because: "turns hold and boosts do not, by the weights of a layer",
			},
			{
				name: "componentwise tanh", doc: "coordinates are bounded", edits: edits{"rows": pointwise("Tanh")},
				causes: "nonlinearity finite-subgroup", at: "componentwise", because: pointToo,
			},
			{
				name: "axis", doc: "z counts 1.2 times", edits: edits{"rows": factors([]int{1, 1, 4}, 1, 1, 1, 1.2)},
				causes: "kernel layer-bug finite-subgroup direction", at: "factors", because: axisToo,
			},
			{
				name: "NaN", doc: "a root that is negative for some", edits: edits{"answer": root(0.6, 2)},
				causes: "non-finite",
			},
		},
		"spinors": {
			{
				name: "componentwise tanh", doc: "components are bounded", edits: edits{"rows": pointwise("Tanh")},
				causes: "nonlinearity finite-subgroup", at: "componentwise", because: pointToo,
			},
			{
				name: "a sign", doc: "one component has the other sign",
				edits: edits{"answer": factors([]int{1, 4}, 1, -1, 1, 1)}, causes: "output-action convention layer-bug",
				because: frameToo,
			},
			{
				name: "bias", doc: "a constant is added", edits: edits{"rows": plus([]int{1, 1, 4}, 0.1, 0, 0, 0)},
				causes: "layer-bug wrong-centre", at: "bias", because: constantToo,
			},
		},
		"boosts": {
			{
				name: "speed of light", doc: "places count 0.9 times",
				edits: edits{"rows": factors([]int{1, 1, 2}, 1, 0.9)}, causes: "kernel layer-bug", at: "factors",
				because: weightsToo,
			},
			{
				name: "componentwise ReLU", doc: "ReLU on coordinates", edits: edits{"rows": pointwise("Relu")},
				causes: "nonlinearity layer-bug", at: "componentwise", because: pointToo,
			},
			{
				name: "branch", doc: "the coordinates enter the answer", edits: edits{"answer": branch(0.1, 2)},
				causes: "layer-bug kernel unconstrained", because: branchToo,
			},
		},
		"klein": {
			{
				name: "weights per copy", doc: "one copy counts more", edits: edits{"copy2": scaled(1.2)},
				causes: "kernel layer-bug", at: "scaled | copies", because: weightsToo,
			},
			{
				name: "gain per copy", doc: "copies count by a number of their own",
				edits: edits{"each": factors([]int{1, 4, 1}, 1, 1.2, 0.9, 1)}, causes: "layer-bug positions kernel",
				at: "factors", because: "a number for every copy",
			},
			{
				name: "first point", doc: "the first point counts more",
				edits: edits{"rows": factors([]int{1, 4, 1}, 1.3, 1, 1, 1)}, causes: "layer-bug kernel order",
				at: "factors", because: weightsToo,
			},
		},
		"triangle": {
			{
				name: "an element forgotten", doc: "one copy does not count", edits: edits{"one5": scaled(0)},
				causes: "kernel layer-bug output-action", because: weightsToo, at: "scaled",
			},
			{
				name: "a sign", doc: "z has the other sign: still equivariant",
				edits: edits{"answer": factors([]int{1, 3}, 1, 1, -1)}, causes: "",
			},
			{
				name: "stretched axis", doc: "y counts more", edits: edits{"answer": factors([]int{1, 3}, 1, 1.2, 1)},
				causes: "output-action kernel layer-bug channel direction", because: frameToo, at: "factors",
			},
		},
		"atoms": {
			{
				name: "places", doc: "distances from the origin enter the energy",
				edits: edits{"energy": fromOrigin(0.3, 2)}, causes: "centering",
			},
			{
				name: "direct forces", doc: "a head of its own", edits: edits{"head": setTo(-0.2)},
				causes: "direct-forces", quiet: true, least: -1,
			},
			{
				name: "a sign", doc: "forces along the gradient", edits: edits{"forces": scaled(-1)},
				causes: "force-factor", quiet: true, least: -1,
			},
			{
				name: "componentwise tanh", doc: "forces are bounded", edits: edits{"pulls": pointwise("Tanh")},
				causes: "nonlinearity componentwise", at: "componentwise", because: pointToo,
			},
			{
				name: "training mode", doc: "kinds are normalised by the batch", edits: edits{"kinds": batchNorm(0, 1)},
				causes: "training-norm", at: "norm | norm-mean | norm-variance", least: -1,
			},
			{
				name: "axial part", doc: "a cross product enters the forces",
				edits: edits{"pulls": {value: func(s *sketch, v string) string {
					return s.add("chiral", v,
						s.times("chiral-size",
							s.crossed(v, s.sub("chiral-about", s.first, s.wide("chiral-centre", s.first, 1))), 0.5))
				}}}, causes: "handedness",
			},
		},

		"sums": {
			{
				name: "position embedding", doc: "a number for every row is added",
				edits: edits{"rows": table(0.1, 1, 6, 3)}, causes: "order positions", because: orderToo, at: "table",
			},
			{
				name: "last row", doc: "the last row counts three times",
				edits: edits{"each": factors([]int{1, 6, 1}, last(6, 3)...)}, causes: "order positions",
				because: orderToo, at: "factors",
			},
			{
				name: "running sum", doc: "a part of a running sum is added", edits: edits{"hidden": running(1, 0.05)},
				causes: "order", at: "running-sum | running",
			},
			{
				name: "place in the batch", doc: "a number that grows along the batch",
				edits:  edits{"answer": leak(0.02)},
				causes: "batch-leak", least: -1,
			},
			{
				name: "float16 island", doc: "the sum passes through float16", edits: edits{"vector": half()},
				causes: "reduced-precision", at: "half", least: -1,
			},
		},
		"attention": {
			{
				name: "position embedding", doc: "a number for every row is added to the keys",
				edits: edits{"keys": table(0.3, 1, 7, 4)}, causes: "order positions", because: orderToo, at: "table",
			},
			{
				name: "causal mask", doc: "rows see the rows before them alone",
				edits: edits{"attention": factors([]int{1, 7, 7}, upper(7)...)}, causes: "order positions",
				because: orderToo, at: "factors",
			},
			{
				name: "what comes before", doc: "a part of the row before is added",
				edits: edits{"values": after(1, 7, 0.3, 3)}, causes: "order", at: "after-cut | after-pad | after",
			},
			{
				name: "company", doc: "a part of the batch's mean is taken off", edits: edits{"mixed": company(0.2)},
				causes: "batch-leak training-norm", because: batchToo, least: -1,
			},
		},
		"pairs": {
			{
				name: "edges in both directions", doc: "pairs are transposed: still equivariant",
				edits: edits{"pairs": turned(0, 2, 1)}, causes: "",
			},
			{
				name: "position embedding", doc: "a number for every pair is added",
				edits: edits{"pairs": table(0.1, 1, 7, 7)}, causes: "order positions", because: orderToo, at: "table",
			},
			{
				name: "order of aggregation", doc: "a running sum in place of a sum",
				edits: edits{"messages2": running(1, 0.1)}, causes: "order", at: "running-sum | running",
			},
			{
				name: "flattened", doc: "a dense layer of all nodes enters", edits: edits{"answer": branch(0.1, 3)},
				causes: "order positions", because: orderToo,
			},
		},
		"links": {
			{
				name: "edge direction swapped", doc: "messages run against the edges: still equivariant",
				edits: edits{"both directions swapped": setTo(1)}, causes: "",
			},
			{
				name: "order of the edges", doc: "edges are weighted by their place in the list, which stays",
				edits: edits{"sent1": factors([]int{14, 1}, hann(14)...)}, causes: "",
			},
			{
				name: "position embedding", doc: "a number for every node is added",
				edits: edits{"nodes": table(0.2, 7, 2)}, causes: "order positions", because: orderToo, at: "table",
			},
			{
				name: "order of aggregation", doc: "a running sum in place of a sum",
				edits: edits{"got2": running(0, 0.1)}, causes: "order", at: "running-sum | running",
			},
		},
		"loop": {
			{
				name: "zero padding", doc: "zeros enter at the last layer", edits: edits{"zeros at conv3": setTo(1)},
				causes: "padding", at: "conv3",
			},
			{
				name: "position embedding", doc: "a number for every moment is added",
				edits: edits{"maps2": table(0.3, 1, 1, 32)}, causes: "positions", at: "table",
			},
			{
				name: "pooling by two", doc: "the larger of every two, repeated", edits: edits{"maps": coarse(1)},
				causes: "striding", at: "pool | enlarge",
			},
			{
				name: "fade", doc: "features fade at their ends",
				edits: edits{"maps": factors([]int{1, 1, 32}, hann(32)...)}, causes: "positions layer-bug",
				because: "a number for every moment", at: "factors",
			},
			{
				name: "training mode", doc: "the batch's own mean and deviation",
				edits:  edits{"maps2": batchNorm(0, 2)},
				causes: "training-norm", at: "norm | norm-mean | norm-variance", least: -1,
			},
		},
		"causal": {
			{
				name: "position embedding", doc: "a number for every moment is added",
				edits: edits{"input": table(0.2, 1, 1, 40)}, causes: "positions", at: "table",
			},
			{
				name: "running sum", doc: "a part of a running sum is added", edits: edits{"maps": running(2, 0.05)},
				causes: "positions layer-bug padding", at: "running-sum | running",
				because: "a sum from the beginning knows where that is",
			},
			{
				name: "normalised by the stretch", doc: "the mean of the features is taken off",
				edits: edits{"maps": {value: func(s *sketch, v string) string {
					return s.sub("level", v, s.wide("level-mean", v, 2))
				}}}, causes: "layer-bug padding positions", at: "level-mean | level",
				because: "a mean over the stretch depends on where it is cut",
			},
		},
		"gaps": {
			{
				name: "zero padding", doc: "zeros enter at the first layer", edits: edits{"zeros at conv1": setTo(1)},
				causes: "padding", at: "conv1",
			},
			{
				name: "position embedding", doc: "a number for every moment is added",
				edits: edits{"input": table(0.3, 1, 1, 20)}, causes: "positions", at: "table",
			},
			{
				name: "pooling by two", doc: "the larger of every two",
				edits: edits{"maps2": pooled("MaxPool", 2, 2, 0, 0)}, causes: "striding", at: "pool",
			},
			{
				name: "some inputs", doc: "a branch that few inputs reach", edits: edits{"answer": rarely(0.8, 0.8, 2)},
				causes: "positions sensitive-inputs", because: someToo,
			},
		},
		"movie": {
			{
				name: "state that stays", doc: "much of the state is kept while pictures move",
				edits: edits{"keep": setTo(0.8)}, causes: "static-state",
			},
			{
				name: "position embedding", doc: "a number for every pixel is added to the last picture",
				edits: edits{"frame3": table(0.4, 1, 1, 7, 7)}, causes: "positions", at: "table",
			},
			{
				name: "one picture", doc: "the second picture counts twice: still equivariant",
				edits: edits{"frame2": scaled(2)}, causes: "",
			},
			{
				name: "branch", doc: "a dense layer of the film enters every pixel",
				edits: edits{"answer": branch(0.1, 5)}, causes: "positions", because: branchToo,
			},
		},
	}
}

// right is n ones, of which the last m are k.
func right(n, m int, k float32) []float32 {
	return append(slices.Repeat([]float32{1}, n-m), slices.Repeat([]float32{k}, m)...)
}
